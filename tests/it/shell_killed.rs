//! An agent's own commands while the runtime or the agent is killed at any moment: none runs twice, each reports
//! what is known of its fate, and the record agrees.

use std::collections::BTreeMap;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use pilothouse::link::{Holder, Loss};
use pilothouse::process::ShellLinks;
use rustix::event::{Timespec, poll};
use rustix::process::Signal;
use serde_json::Value;

use crate::shell_door::Door;
use crate::support::{Console, Tag, children, program, send, wait_until};

/// The exit code of a round's scripts.
const CODE: i32 = 7;
/// The maximum number of concurrent commands.
const BESIDE: u64 = 5;
/// Upper limits of the random delay before the runtime is killed: from before the commands connect to after they are done.
const MOMENTS_MS: [u64; 4] = [2, 15, 60, 250];

/// What is said of a command whose host was lost before it reported the start.
const HOST_LOST: &str = "the task host was lost; whether this command had begun cannot be known";

/// Seeded random numbers: a failing round can be reproduced.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// A number below `limit` (splitmix64).
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }
}

/// Waits for a random time: the only thing here that waits for no condition.
pub(crate) fn let_pass(time: Duration) {
    let _ = poll(&mut [], Timespec::try_from(time).ok().as_ref());
}

/// How a command ended, as its caller saw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Task,
    Plainly,
    HadBegun,
    WasEnded,
    NotRun,
    Unknown,
}

/// How a command comes here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CallForm {
    /// From an agent that calls this program as its shell.
    OwnShell,
    /// From an agent whose bash reads a file of ours first. These tests are that agent.
    BashEnv,
}

impl CallForm {
    fn call(self, door: &Door, script: &str) -> Command {
        if self == Self::OwnShell {
            return door.of_claude("one", script);
        }
        let links = ShellLinks::within(door.home.workspace().join("../data/pilothouse/shells"));
        links.make(&program()).expect("made");
        let mut call = door.call(false, script);
        call.env("BASH_ENV", links.bash_env()).env("PILOTHOUSE_AGENT", "stand-in");
        call.env("PILOTHOUSE_AGENT_PID", std::process::id().to_string());
        call
    }
}

/// A command of a round, and the file in which it marks its start and its end.
struct Started {
    file: String,
    child: Child,
}

impl Started {
    fn new(door: &Door, form: CallForm, name: &str, script: &str) -> Self {
        let file = format!("marks-{name}");
        let script = format!("echo begun >> {file}; {script}; echo ended >> {file}; exit {CODE}");
        let mut call = form.call(door, &script);
        let child = call.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
        Self { file, child }
    }

    fn marks(&self, door: &Door) -> String {
        std::fs::read_to_string(door.home.workspace().join(&self.file)).unwrap_or_default()
    }
}

/// Tells how a command ended from what its caller saw; an ending that must not occur is an error.
fn outcome(output: &Output) -> Result<Outcome, String> {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let lines: Vec<&str> = said.lines().collect();
    let code = output.status.code();
    match (code, &lines[..]) {
        (Some(CODE), []) => Ok(Outcome::Task),
        (Some(CODE), [line]) if line.starts_with("pilothouse: this command runs without Pilothouse: ") => {
            Ok(Outcome::Plainly)
        }
        (Some(75), [line]) => match line.strip_prefix("pilothouse: ").unwrap_or_default() {
            line if line == Loss::Begun.to_string() => Ok(Outcome::HadBegun),
            line if line == Loss::Unknown.to_string() || line == HOST_LOST => Ok(Outcome::Unknown),
            line if line.starts_with(&Loss::Ended("ended with the runtime".into()).to_string()) => {
                Ok(Outcome::WasEnded)
            }
            // A runtime that ends in order may no longer say whether somebody is to be asked.
            line if line.starts_with("this command was not run: the runtime is shutting down; ") => {
                Ok(Outcome::NotRun)
            }
            line => Err(format!("exit 75 with {line}")),
        },
        _ => Err(format!("{:?} with {said}", output.status)),
    }
}

/// What the record says about a command.
#[derive(Debug, Default)]
struct OnRecord {
    was_asked: bool,
    has_started: bool,
}

impl OnRecord {
    fn of(rows: &[Value], file: &str) -> Self {
        let names_it = |value: &Value| value.as_str().is_some_and(|cmd| cmd.contains(file));
        let mut found = Self::default();
        for row in rows {
            let data = &row["data"];
            found.was_asked |= row["kind"] == "call" && names_it(&data["input"]["cmd"]);
            found.has_started |= row["kind"] == "start" && names_it(&data["task"]["cmd"]);
        }
        found
    }
}

/// The rows of all recordings; a killed runtime may leave half a row at the end.
fn rows(door: &Door) -> Vec<Value> {
    door.record().lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// Totals over all rounds.
#[derive(Debug, Default)]
struct Tally {
    commands: usize,
    /// How many runtimes were ended.
    ended: usize,
    outcomes: BTreeMap<Outcome, usize>,
    wrong: Vec<String>,
}

/// Starts up to five commands at once, ends the runtime at a moment that depends on the seed, and checks each outcome.
fn round(form: CallForm, seed: u64, tally: &mut Tally) {
    let mut random = Random(seed);
    let (door, tag) = (Door::new(), Tag::new());
    let place = door.home.places();
    // Either a runtime is running already, or the first command starts one.
    let mut served = (random.below(4) > 0).then(|| door.home.serve());
    let scripts = ["true", "sleep 0.03", "sleep 0.1"];
    let begun: Vec<Started> = (0..=random.below(BESIDE))
        .map(|at| {
            let script = scripts[usize::try_from(random.below(3)).expect("small")];
            Started::new(&door, form, &format!("{}-{at}", tag.0), script)
        })
        .collect();
    let first = &begun[0];
    match random.below(4) {
        0 => wait_until("one begins or cannot", || is_marked(first, &door, "begun")),
        1 => wait_until("one ends or cannot", || is_marked(first, &door, "ended")),
        _ => {}
    }
    let latest_ms = MOMENTS_MS[usize::try_from(random.below(4)).expect("small")];
    let_pass(Duration::from_micros(random.below(latest_ms * 1_000)));
    if let Some(address) = Holder::of(&place).address() {
        // Sometimes it is ended with SIGTERM instead: even then every command must report what happened to it.
        let signal = if random.below(8) > 0 { Signal::KILL } else { Signal::TERM };
        send(address.pid, signal);
        tally.ended += 1;
    }
    let ended: Vec<(String, Output)> = begun
        .into_iter()
        .map(|Started { file, child }| (file, child.wait_with_output().expect("ends")))
        .collect();
    wait_until("nothing of it runs on", || tag.holders().is_empty());
    if let Some(served) = &mut served {
        let _ = served.kill();
        let _ = served.wait();
    }
    let rows = rows(&door);
    for (file, output) in &ended {
        tally.commands += 1;
        let marks = std::fs::read_to_string(door.home.workspace().join(file)).unwrap_or_default();
        let on_record = OnRecord::of(&rows, file);
        match outcome(output).and_then(|outcome| agrees(outcome, &marks, &on_record).map(|()| outcome)) {
            Ok(outcome) => *tally.outcomes.entry(outcome).or_default() += 1,
            Err(why) => tally.wrong.push(format!("seed {seed}: {why}; {marks:?} {on_record:?}")),
        }
    }
}

/// Tells whether a command has written this mark, or never will because its caller has exited.
fn is_marked(started: &Started, door: &Door, mark: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", started.child.id())).unwrap_or_default();
    started.marks(door).contains(mark) || stat.contains(") Z")
}

/// Compares what a command's caller saw with what the command did and with the record.
fn agrees(outcome: Outcome, marks: &str, record: &OnRecord) -> Result<(), String> {
    let (begun, ended) = (marks.matches("begun").count(), marks.matches("ended").count());
    if begun > 1 {
        return Err(format!("{outcome:?}: it ran {begun} times"));
    }
    let is_so = match outcome {
        Outcome::Task => ended == 1 && record.was_asked && record.has_started,
        // It may have been requested and refused, but was never started by the runtime.
        Outcome::Plainly => ended == 1 && !record.has_started,
        Outcome::HadBegun | Outcome::WasEnded => record.was_asked && record.has_started,
        Outcome::NotRun => begun == 0 && !record.has_started,
        // Whatever ran had been recorded first.
        Outcome::Unknown => begun == 0 || record.was_asked,
    };
    if is_so { Ok(()) } else { Err(format!("{outcome:?} is not so")) }
}

/// Starts a command and kills its host: within 5 ms of the process that becomes the command, or at any moment before.
fn host_round(door: &Door, runtime: u32, seed: u64, tally: &mut Tally) {
    let mut random = Random(seed);
    let started = Started::new(door, CallForm::OwnShell, &format!("host-{seed}"), "sleep 0.02");
    if random.below(3) == 0 {
        let_pass(Duration::from_micros(random.below(20_000)));
    } else {
        let is_there = || hosts(runtime).into_iter().any(|host| !children(host).is_empty());
        while !is_there() && !is_marked(&started, door, "ended") {
            std::thread::yield_now();
        }
        let_pass(Duration::from_micros(random.below(5_000)));
    }
    hosts(runtime).into_iter().for_each(|host| send(host, Signal::KILL));
    let marks = door.home.workspace().join(&started.file);
    let output = started.child.wait_with_output().expect("ends");
    let marks = std::fs::read_to_string(marks).unwrap_or_default();
    let (begun, ended) = (marks.matches("begun").count(), marks.matches("ended").count());
    tally.commands += 1;
    match outcome(&output) {
        Ok(Outcome::Task | Outcome::Plainly) if (begun, ended) != (1, 1) => {
            tally.wrong.push(format!("seed {seed}: {marks:?} of a command that ran once"));
        }
        Ok(_) if begun > 1 => tally.wrong.push(format!("seed {seed}: it ran {begun} times")),
        Ok(Outcome::WasEnded) => tally.wrong.push(format!("seed {seed}: the runtime lives")),
        Ok(outcome) => *tally.outcomes.entry(outcome).or_default() += 1,
        Err(why) => tally.wrong.push(format!("seed {seed}: {why}; {marks:?}")),
    }
}

fn hosts(runtime: u32) -> Vec<u32> {
    let is_host = |pid: &u32| {
        std::fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name == "pilothouse-host\n")
    };
    children(runtime).into_iter().filter(is_host).collect()
}

fn kill_hosts(commands: usize) {
    let (door, mut served) = Door::served();
    let runtime = u32::try_from(door.home.runtime_pid()).expect("a pid");
    let mut tally = Tally::default();
    for seed in 0..commands as u64 {
        host_round(&door, runtime, seed, &mut tally);
    }
    let Tally { commands, outcomes, wrong, .. } = &tally;
    eprintln!("{commands} starts, their hosts killed: {outcomes:?}, {} not as promised", wrong.len());
    assert!(wrong.is_empty(), "{} of {commands}:\n{}", wrong.len(), wrong.join("\n"));
    door.home.stop(&mut served);
}

#[test]
fn f54_a_host_that_is_killed_in_its_first_moments_runs_nothing_twice_and_nothing_that_began_is_told_as_not_run()
 {
    kill_hosts(30);
}

#[test]
#[ignore = "minutes; .ci/long runs it"]
fn long_f54_hosts_killed_in_their_first_moments_run_nothing_twice() {
    let asked = std::env::var("PILOTHOUSE_ROUNDS").ok().and_then(|text| text.parse().ok());
    kill_hosts(asked.unwrap_or(1_000));
}

/// Runs rounds until there have been this many commands; fails if any guarantee was broken.
fn kill_runtimes(form: CallForm, commands: usize) {
    let mut tally = Tally::default();
    let mut seed = 0;
    while tally.commands < commands {
        round(form, seed, &mut tally);
        seed += 1;
    }
    let Tally { commands, ended, outcomes, wrong } = &tally;
    eprintln!("{commands} commands, {ended} runtimes ended: {outcomes:?}, {} not as promised", wrong.len());
    assert!(wrong.is_empty(), "{} of {commands}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_runtime_that_is_killed_at_any_moment_runs_no_command_twice_and_reports_each() {
    kill_runtimes(CallForm::OwnShell, 30);
}

#[test]
fn a_runtime_that_is_killed_runs_nothing_twice_of_what_bash_handed_over() {
    kill_runtimes(CallForm::BashEnv, 30);
}

#[test]
#[ignore = "minutes; .ci/long runs it"]
fn long_runtimes_killed_at_any_moment_run_nothing_twice() {
    let asked = std::env::var("PILOTHOUSE_ROUNDS").ok().and_then(|text| text.parse().ok());
    kill_runtimes(CallForm::OwnShell, asked.unwrap_or(1_000));
}

#[test]
#[ignore = "minutes; .ci/long runs it"]
fn long_runtimes_killed_at_any_moment_run_nothing_twice_of_what_bash_handed_over() {
    let asked = std::env::var("PILOTHOUSE_ROUNDS").ok().and_then(|text| text.parse().ok());
    kill_runtimes(CallForm::BashEnv, asked.unwrap_or(1_000));
}

/// A program that starts a command as Claude Code does, and waits for it.
fn agent(door: &Door, script: &str) -> Command {
    let call = door.of_claude("one", script);
    let mut agent = Command::new("sh");
    // Without `exec`: the shell stays the parent of its command.
    agent.args(["-c", "\"$0\" \"$@\"; :"]).arg(call.get_program()).args(call.get_args());
    for (name, value) in call.get_envs() {
        match value {
            Some(value) => agent.env(name, value),
            None => agent.env_remove(name),
        };
    }
    agent
        .current_dir(door.home.workspace())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    agent
}

#[test]
fn a_killed_agent_takes_its_command_along_though_the_shell_it_called_lives() {
    let (door, mut served) = Door::served();
    let tag = Tag::new();
    let mut agent = agent(&door, &format!("sleep {}", tag.0)).spawn().expect("starts");
    tag.asleep();
    send(agent.id(), Signal::KILL);
    agent.wait().expect("ends");
    // Its caller is waiting for it, and would go on waiting.
    wait_until("the command is gone with its agent", || tag.holders().is_empty());
    wait_until("it is on record who ended it", || door.record().contains("its caller was killed"));
    door.home.stop(&mut served);
}

#[test]
fn a_command_that_a_person_types_into_outlives_its_agent() {
    let door = Door::new();
    let console = Console::open(&door.home, &[], (100, 30));
    console.shows("no agent yet");
    let script = "printf 'Name? ' >/dev/tty; read -r name </dev/tty; echo $name > answer";
    let mut agent = agent(&door, script).spawn().expect("starts");
    console.shows("» Name?");
    console.shows("asks for");
    console.keys(b"\r");
    console.shows(" INPUT t01");
    console.keys(b"by ");
    // The echo: until it has come, nobody holds the command.
    console.shows("Name? by");
    send(agent.id(), Signal::KILL);
    agent.wait().expect("ends");
    wait_until("it is on record why it lives", || door.record().contains("and a person holds it"));
    console.keys(b"hand\r");
    let answer = door.home.workspace().join("answer");
    wait_until("it has the answer", || {
        std::fs::read_to_string(&answer).is_ok_and(|text| text == "by hand\n")
    });
}
