//! Pilothouse as an agent's own shell: the same bytes, exit codes and signals; and each command is a recorded task.

use std::fs::File;
use std::io::Read as _;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::thread;

use pilothouse::link::Holder;
use serde_json::Value;

use crate::support::{Agent, Console, Home, Tag, send, shell_program, skip, wait_until};

/// A home with the links through which an agent calls Pilothouse as its shell.
pub(crate) struct Door {
    pub(crate) home: Home,
    pub(crate) shell: PathBuf,
}

/// What a caller saw of a command.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    ended: ExitStatus,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

impl Door {
    pub(crate) fn new() -> Self {
        let home = Home::new();
        let shell = home.workspace().join("../pilothouse-bash");
        std::os::unix::fs::symlink(shell_program(), &shell).expect("a link");
        Self { home, shell }
    }

    /// With a running runtime. A call starts one itself, but does without it if that takes too long: on a slow machine,
    /// only this makes sure that each command becomes a task.
    pub(crate) fn served() -> (Self, Child) {
        let door = Self::new();
        let served = door.home.serve();
        (door, served)
    }

    /// A call as an agent makes it, through Pilothouse or through the shell itself.
    pub(crate) fn call(&self, by_us: bool, script: &str) -> Command {
        let mut call = Command::new(if by_us { self.shell.clone() } else { PathBuf::from("/bin/bash") });
        self.home.settle(&mut call);
        // Agents give a command no terminal, wherever these tests run.
        call.args(["-c", script])
            .stdin(Stdio::null())
            .env("SHELL", "/bin/bash")
            .env_remove("PILOTHOUSE_TASK_KIND")
            .process_group(0);
        call.env("PILOTHOUSE_SHELL_DOOR", self.home.workspace());
        call
    }

    /// A call that Claude Code makes for its model.
    pub(crate) fn of_claude(&self, session: &str, script: &str) -> Command {
        let mut call = self.call(true, script);
        call.envs([("CLAUDECODE", "1"), ("CLAUDE_CODE_CHILD_SESSION", "1")]);
        call.env("CLAUDE_CODE_SESSION_ID", session);
        call
    }

    pub(crate) fn json(&self, args: &[&str]) -> Value {
        let output = self.home.run(args);
        serde_json::from_slice(&output.stdout).expect("JSON")
    }

    /// The commands of all tasks, the latest first.
    pub(crate) fn commands(&self) -> Vec<String> {
        let listed = self.json(&["task", "list", "--scope", "all"]);
        let tasks = listed["data"]["tasks"].as_array().expect("tasks").clone();
        tasks.iter().map(|task| task["cmd"].as_str().expect("a command").to_owned()).collect()
    }

    /// The rows of all recordings, as text.
    pub(crate) fn record(&self) -> String {
        let mut text = String::new();
        // A runtime that was killed early has made none.
        let recordings = std::fs::read_dir(self.home.places().recordings()).into_iter().flatten().flatten();
        for recording in recordings {
            for file in std::fs::read_dir(recording.path()).expect("a recording").flatten() {
                if file.path().extension().is_some_and(|own| own == "jsonl") {
                    text += &std::fs::read_to_string(file.path()).expect("rows");
                }
            }
        }
        text
    }
}

/// The kinds of stdout and stderr that agents give a command.
#[derive(Debug, Clone, Copy)]
enum Streams {
    TwoPipes,
    OneFile,
    TwoSockets,
}

fn see(mut call: Command, streams: Streams, file: &PathBuf) -> Seen {
    match streams {
        Streams::TwoPipes => {
            let output = call.output().expect("runs");
            Seen { ended: output.status, stdout: output.stdout, stderr: output.stderr }
        }
        Streams::OneFile => {
            std::fs::write(file, "before\n").expect("written");
            let out = File::options().append(true).open(file).expect("opens");
            call.stdout(out.try_clone().expect("a copy")).stderr(out);
            let ended = call.status().expect("runs");
            Seen { ended, stdout: std::fs::read(file).expect("reads"), stderr: Vec::new() }
        }
        Streams::TwoSockets => {
            let pairs = [0, 1].map(|_| UnixStream::pair().expect("a pair"));
            let [(mut out, theirs), (mut err, their_err)] = pairs;
            call.stdout(std::os::fd::OwnedFd::from(theirs)).stderr(std::os::fd::OwnedFd::from(their_err));
            let mut child = call.spawn().expect("starts");
            drop(call);
            let stderr = thread::spawn(move || {
                let mut all = Vec::new();
                err.read_to_end(&mut all).expect("reads");
                all
            });
            let mut stdout = Vec::new();
            out.read_to_end(&mut stdout).expect("reads");
            let ended = child.wait().expect("ends");
            Seen { ended, stdout, stderr: stderr.join().expect("reads") }
        }
    }
}

/// Scripts whose visible results do not depend on how fast they run.
const SCRIPTS: [&str; 21] = [
    "exit 3",
    "exit 255",
    "echo out; echo err >&2; echo out again",
    "head -c 10000000 /dev/zero | tr '\\0' x; echo end",
    "(sleep 0.1; echo late) & echo early",
    "cd /; pwd; cd -",
    "wc -c < big.txt",
    "cat <<'EOF'\na $HOME 'q'\nEOF",
    "printf 'h\\303\\251 \\360\\237\\230\\200 \\377\\0\\n'",
    "echo a; kill -9 $$",
    "kill -TERM $$",
    "kill -SEGV $$",
    "bash -c 'echo nested $0; exit 4'",
    "nosuchcommand",
    "if then",
    "cat; echo eof",
    "umask; ulimit -n; ulimit -c; ulimit -s",
    "env | grep -v '^PILOTHOUSE_\\|^_=' | sort",
    "seq 100000 | head -1; trap -p PIPE",
    "echo $SHELL $BASH $0 $-; exec echo x",
    "",
];

#[test]
fn every_byte_code_and_signal_is_what_it_would_be_without_us() {
    let (door, mut served) = Door::served();
    std::fs::write(door.home.workspace().join("big.txt"), "x".repeat(1234)).expect("written");
    let file = door.home.workspace().join("../out");
    for streams in [Streams::TwoPipes, Streams::OneFile, Streams::TwoSockets] {
        for script in SCRIPTS {
            if matches!(streams, Streams::OneFile) && script.contains("late") {
                // There is no way to wait for late output to a file.
                continue;
            }
            let plain = see(door.call(false, script), streams, &file);
            let ours = see(door.call(true, script), streams, &file);
            let short =
                |seen: &Seen| String::from_utf8_lossy(&seen.stdout).chars().take(300).collect::<String>();
            assert!(
                plain == ours,
                "{streams:?} {script}\n{}\n{}\n{:?}",
                short(&plain),
                short(&ours),
                ours.stderr
            );
        }
    }
    let listed = door.json(&["task", "list", "--scope", "all"]);
    assert_eq!(listed["data"]["total"], 3 * SCRIPTS.len() - 1, "each was a task");
    door.home.stop(&mut served);
}

/// What a caller hands on to its shell (`exec "$0" "$@"` becomes that shell), and what a command sees of it.
const HANDED_ON: [(&str, &str, &str); 18] = [
    ("niceness", "exec nice -n 5 \"$0\" \"$@\"", "nice"),
    ("processors", "exec taskset -c 0 \"$0\" \"$@\"", "grep Cpus_allowed_list /proc/self/status"),
    ("memory", "echo 321 > /proc/self/oom_score_adj; exec \"$0\" \"$@\"", "cat /proc/self/oom_score_adj"),
    (
        "nothing",
        "exec \"$0\" \"$@\"",
        "nice; cat /proc/self/oom_score_adj; grep Cpus_allowed_list /proc/self/status",
    ),
    ("nothing", "exec \"$0\" \"$@\"", "grep -E '^Sig(Ign|Blk)' /proc/self/status; ls /proc/self/fd"),
    ("ignored", "trap '' USR1 HUP ALRM; exec \"$0\" \"$@\"", "grep SigIgn /proc/self/status; trap -p"),
    ("a pipe", "trap '' PIPE; exec \"$0\" \"$@\"", "grep SigIgn /proc/self/status; trap -p PIPE"),
    (
        "blocked",
        "exec env --block-signal=USR2 --block-signal=TERM \"$0\" \"$@\"",
        "grep SigBlk /proc/self/status",
    ),
    (
        "descriptors",
        "exec 5< big.txt 12< big.txt; exec \"$0\" \"$@\"",
        "head -c 3 <&5; cat <&12 | wc -c; ls /proc/self/fd",
    ),
    ("a written one", "exec 3> written; exec \"$0\" \"$@\"", "echo three >&3; echo more >&3"),
    ("a pipe of one", "exec 3> >(cat >&2); exec \"$0\" \"$@\"", "echo through >&3"),
    ("closed output", "exec >&-; exec \"$0\" \"$@\"", "echo x; echo \"code $?\" >&2; exit 4"),
    ("closed output", "exec >&-; exec \"$0\" \"$@\"", "echo x"),
    ("closed error", "exec 2>&-; exec \"$0\" \"$@\"", "echo x >&2 || echo failed"),
    ("closed input", "exec <&-; exec \"$0\" \"$@\"", "cat; echo $?"),
    ("a full device", "exec > /dev/full; exec \"$0\" \"$@\"", "echo x; echo \"code $?\" >&2"),
    ("a full device", "exec > /dev/full; exec \"$0\" \"$@\"", "seq 100000"),
    ("full for both", "exec > /dev/full 2>&1; exec \"$0\" \"$@\"", "echo x || exit 9"),
];

#[test]
fn a_command_has_the_attributes_that_its_caller_hands_on() {
    let (door, mut served) = Door::served();
    std::fs::write(door.home.workspace().join("big.txt"), "x".repeat(1234)).expect("written");
    for (what, before, script) in HANDED_ON {
        let seen = |by_us| {
            let call = door.call(by_us, script);
            let mut shell = Command::new("bash");
            door.home.settle(&mut shell);
            shell
                .args(["-c", before])
                .arg(call.get_program())
                .args(call.get_args())
                .env_remove("PILOTHOUSE_TASK_KIND");
            shell.env("SHELL", "/bin/bash").env("PILOTHOUSE_SHELL_DOOR", door.home.workspace());
            let output = shell.output().expect("runs");
            let written = std::fs::read_to_string(door.home.workspace().join("written")).unwrap_or_default();
            (output.status, text(&output.stdout), text(&output.stderr), written)
        };
        let plain = seen(false);
        if plain.0.code() == Some(127) {
            skip(&format!("a program for {what} is not installed"));
            continue;
        }
        assert_eq!(seen(true), plain, "{what}: {script}");
    }
    let tasks = door.commands().len();
    assert!(tasks >= HANDED_ON.len() - 2, "they were tasks: {tasks}");
    door.home.stop(&mut served);
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn output_that_does_not_fit_on_a_disk_is_no_success() {
    let (door, mut served) = Door::served();
    // A file that may not grow stands for a disk that is full.
    let mut shell = Command::new("bash");
    let call = door.call(true, "seq 10000");
    door.home.settle(&mut shell);
    let full = "trap '' XFSZ; mkdir full && mount -t tmpfs -o size=8k tmpfs full || exit 99; \"$0\" \"$@\" > full/out";
    shell
        .args(["-c", full])
        .arg(call.get_program())
        .args(call.get_args())
        .env("PILOTHOUSE_SHELL_DOOR", door.home.workspace());
    let output = shell.env_remove("PILOTHOUSE_TASK_KIND").output().expect("runs");
    let _ = Command::new("umount").arg(door.home.workspace().join("full")).status();
    door.home.stop(&mut served);
    if output.status.code() == Some(99) {
        return skip("no file system can be mounted here");
    }
    assert_ne!(output.status.code(), Some(0), "{output:?}");
}

#[test]
fn other_signals_reach_the_shell_as_in_a_plain_run() {
    let (door, mut served) = Door::served();
    for (signal, name) in [
        (rustix::process::Signal::USR1, "USR1"),
        (rustix::process::Signal::ALARM, "ALRM"),
        (rustix::process::Signal::ABORT, "ABRT"),
    ] {
        for by_us in [false, true] {
            // The child would die of it.
            let script = format!(
                "rm -f go; trap 'echo got it; : > go' {name}; (until [ -e go ]; do sleep 0.02; done) & echo ready; wait $!; wait $!; echo \"child $?\"; exit 9"
            );
            let mut child = begun(door.call(by_us, &script));
            send(child.id(), signal);
            let mut rest = String::new();
            child.stdout.take().expect("piped").read_to_string(&mut rest).expect("reads");
            let seen = (rest.as_str(), child.wait().expect("ends").code());
            assert_eq!(seen, ("got it\nchild 0\n", Some(9)), "{name} {by_us}");
            let script = format!(
                "trap 'echo got it' {name}; bash -c 'trap \"echo too; x=1\" {name}; all=$(seq 300); echo ready; for i in $all; do sleep 0.1 & wait; [ -z $x ] || break; done; :' & wait; wait; exit 9"
            );
            let mut child = begun(door.call(by_us, &script));
            let group =
                rustix::process::Pid::from_raw(i32::try_from(child.id()).expect("a pid")).expect("not 0");
            rustix::process::kill_process_group(group, signal).expect("sent");
            let mut rest = String::new();
            child.stdout.take().expect("piped").read_to_string(&mut rest).expect("reads");
            assert!(rest.contains("got it") && rest.contains("too"), "{name} {by_us}: {rest}");
            child.wait().expect("ends");
            let mut child = begun(door.call(by_us, "ulimit -c 0; echo ready; exec sleep 300"));
            send(child.id(), signal);
            assert_eq!(child.wait().expect("ends").signal(), Some(signal.as_raw()), "{name} {by_us}");
        }
    }
    door.home.stop(&mut served);
}

#[test]
fn eight_commands_at_once_have_each_their_own_output_and_exit_code() {
    let door = Door::new();
    let running: Vec<Child> = (0..8)
        .map(|at| {
            door.call(true, &format!("echo {at}; exit {at}")).stdout(Stdio::piped()).spawn().expect("starts")
        })
        .collect();
    for (at, child) in running.into_iter().enumerate() {
        let output = child.wait_with_output().expect("ends");
        assert_eq!(output.stdout, format!("{at}\n").as_bytes());
        assert_eq!(output.status.code(), i32::try_from(at).ok());
    }
}

#[test]
fn a_signal_to_the_shell_reaches_the_command_and_a_killed_shell_takes_it_along() {
    let (door, mut served) = Door::served();
    let trapped = door.call(true, "trap 'echo got it; exit 9' TERM; echo ready; sleep 9 & wait");
    let mut child = begun(trapped);
    send(child.id(), rustix::process::Signal::TERM);
    let mut rest = String::new();
    child.stdout.take().expect("piped").read_to_string(&mut rest).expect("reads");
    assert_eq!((rest.as_str(), child.wait().expect("ends").code()), ("got it\n", Some(9)));

    let tag = Tag::new();
    let mut child = begun(door.call(true, &format!("echo ready; sleep {}", tag.0)));
    send(child.id(), rustix::process::Signal::KILL);
    assert_eq!(child.wait().expect("ends").signal(), Some(9));
    wait_until("the command is gone with its caller", || tag.holders().is_empty());
    wait_until("it is on record who ended it", || door.record().contains("its caller was killed"));
    door.home.stop(&mut served);
}

/// Starts a command and waits for its first line.
fn begun(mut call: Command) -> Child {
    let mut child = call.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
    let mut line = [0; 6];
    child.stdout.as_mut().expect("piped").read_exact(&mut line).expect("reads");
    assert_eq!(&line, b"ready\n");
    child
}

#[test]
fn a_call_that_is_no_command_of_a_model_goes_straight_to_the_real_shell() {
    let door = Door::new();
    let mut probe = door.of_claude("one", "env");
    probe.env_remove("CLAUDE_CODE_CHILD_SESSION");
    let mut off = door.call(true, "echo off");
    off.env("PILOTHOUSE_SHELL", "off");
    let mut nested = door.call(true, "echo nested");
    nested.env("PILOTHOUSE_TASK_KIND", "command");
    let mut file = door.call(true, "");
    std::fs::write(door.home.workspace().join("script"), "echo from a file").expect("written");
    file = {
        let mut call = Command::new(file.get_program());
        door.home.settle(&mut call);
        call.arg("script");
        call
    };
    for mut call in [probe, off, nested, file] {
        assert!(call.output().expect("runs").status.success(), "{call:?}");
    }
    assert!(!door.home.places().agent_socket().exists(), "not even a runtime was started");
}

#[test]
fn a_shell_that_a_command_starts_belongs_to_its_task_whatever_it_hides() {
    let (door, mut served) = Door::served();
    let shell = door.shell.display();
    let script = format!(
        "{shell} -c 'echo one'; env -i {shell} -c 'echo two'; PILOTHOUSE_TASK_KIND= {shell} -c 'echo three'"
    );
    let output = door.call(true, &script).output().expect("runs");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "one\ntwo\nthree\n", "{output:?}");
    let commands = door.commands();
    assert!(commands.len() == 1 && commands[0].starts_with(&script[..40]), "{commands:?}");
    door.home.stop(&mut served);
}

#[test]
fn two_sessions_are_two_actors_and_their_secrets_are_on_no_record() {
    let (door, mut served) = Door::served();
    let script =
        "source /h/s.sh 2>/dev/null || true && eval 'echo $API_TOKEN' < /dev/null && pwd -P >| /dev/null";
    for session in ["one", "two", "one"] {
        let output = door.of_claude(session, script).env("API_TOKEN", "hunter2-door").output().expect("runs");
        assert_eq!(output.stdout, b"hunter2-door\n");
    }
    assert_eq!(door.commands(), ["echo $API_TOKEN"; 3]);
    let record = door.record();
    let starts: Vec<Value> = record
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("a row"))
        .filter(|row| row["kind"] == "start")
        .collect();
    let actors: Vec<&str> =
        starts.iter().filter_map(|row| row["data"]["task"]["started_by"].as_str()).collect();
    assert_eq!(actors, ["agent:claude-code", "agent:claude-code#2", "agent:claude-code"], "{starts:?}");
    assert!(!record.contains("hunter2-door"), "a value of the environment went on record");
    assert!(record.contains("API_TOKEN") && record.contains("pwd -P"), "the whole script is on record");
    door.home.stop(&mut served);
}

#[test]
fn a_command_without_a_runtime_runs_plainly_and_says_so_or_is_refused_by_the_settings() {
    let door = Door::new();
    let _starting = door.home.never_listening();
    let output = door.call(true, "echo ran; exit 4").output().expect("runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.stdout.as_slice(), output.status.code()), (&b"ran\n"[..], Some(4)));
    assert!(
        said.starts_with("pilothouse: this command runs without Pilothouse: ") && said.lines().count() == 1,
        "{said}"
    );
    door.home.configure("config.toml", "[shell]\non_failure = \"refuse\"\n");
    let output = door.call(true, "echo ran").output().expect("runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.stdout.as_slice(), output.status.code()), (&b""[..], Some(69)));
    assert!(said.contains("setting shell.on_failure"), "{said}");
}

/// A call that begins in a directory that is removed before it does.
pub(crate) fn in_a_removed_directory(door: &Door, directory: &Path, agents: &Path, script: &str) -> Output {
    std::fs::create_dir_all(directory).expect("made");
    let call = door.of_claude("a", script);
    let mut shell = Command::new("/bin/sh");
    door.home.settle(&mut shell);
    shell.args(["-c", "rmdir \"$PWD\" && exec \"$0\" \"$@\""]).arg(call.get_program()).args(call.get_args());
    for (name, value) in call.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    shell.current_dir(directory).env("PILOTHOUSE_SHELL_DOOR", agents).output().expect("runs")
}

#[test]
fn a_command_in_a_directory_that_was_removed_runs_plainly_says_so_and_leaves_a_mark() {
    let (door, mut served) = Door::served();
    let workspace = door.home.workspace();
    let (gone, elsewhere) = (workspace.join("build/gone"), workspace.join("../elsewhere/gone"));
    // By the directory of its agent; where that was removed too, by the repository around it; by its own.
    for (directory, agents) in [(&elsewhere, &workspace), (&elsewhere, &gone), (&gone, &elsewhere)] {
        let output = in_a_removed_directory(&door, directory, agents, "echo \"ran $0\"; exit 4");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(4), "{said}");
        assert!(output.stdout.starts_with(b"ran "), "{output:?}");
        let line =
            "pilothouse: this command runs without Pilothouse: the directory it begins in was removed\n";
        assert!(said.starts_with(line), "{said}");
    }
    let status =
        || String::from_utf8_lossy(&door.home.run(&["status", "--output", "plain"]).stdout).into_owned();
    wait_until("it says how many ran without a runtime", || status().contains("ran without a runtime   3\n"));
    let marks = || door.record().matches("\"why\":\"the directory it begins in was removed\"").count();
    wait_until("they are on record", || marks() == 3);
    // Before that there are other files: one that was taken away, and for a moment a nameless one for those on record.
    let outside = door.home.places().outside();
    let names = || std::fs::read_dir(outside.parent().expect("a folder")).expect("there").flatten();
    let kept = outside.with_extension("recorded");
    wait_until("they are kept until a person is told", || names().map(|file| file.path()).eq([kept.clone()]));

    // Nothing says whose it is, so nobody could learn of it.
    let output = in_a_removed_directory(&door, &elsewhere, &elsewhere, "echo ran");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.stdout.as_slice(), output.status.code()), (&b""[..], Some(75)), "{said}");
    assert!(said.contains("nothing says of which workspace it is"), "{said}");
    let left = std::fs::read_dir(door.home.places().outside().parent().expect("a folder")).expect("there");
    assert!(left.flatten().all(|file| file.path().file_stem() == door.home.places().outside().file_stem()));

    door.home.configure("config.toml", "[shell]\non_failure = \"refuse\"\n");
    let output = in_a_removed_directory(&door, &elsewhere, &workspace, "echo ran");
    assert_eq!((output.stdout.as_slice(), output.status.code()), (&b""[..], Some(69)), "{output:?}");
    door.home.stop(&mut served);
}

#[test]
fn commands_that_ran_without_a_runtime_are_recorded_and_told_by_a_later_runtime() {
    let door = Door::new();
    let starting = door.home.never_listening();
    let script = "source /h/s.sh 2>/dev/null || true && eval 'API_TOKEN=hunter2-door echo \x1b[2J' < /dev/null && pwd -P >| /dev/null";
    for mut call in [door.call(true, "echo one; exit 4"), door.of_claude("a", script)] {
        let output = call.output().expect("runs");
        assert!(String::from_utf8_lossy(&output.stderr).contains("runs without Pilothouse: "), "{output:?}");
    }
    let told = |args: &[&str]| {
        let args = [args, &["--output", "plain"]].concat();
        String::from_utf8_lossy(&door.home.run(&args).stdout).into_owned()
    };
    let none = String::from_utf8_lossy(&door.home.run(&["status"]).stdout).into_owned();
    assert!(none.contains(" 2 commands ran without one."), "{none}");

    // It is recorded although no console is open, and waits for one.
    drop(starting);
    let mut served = door.home.serve();
    let shown = || told(&["audit", "show", "latest", "--kind", "outside"]);
    wait_until("both are on record", || shown().lines().count() == 2);
    assert!(shown().contains("echo one; exit 4") && shown().contains("claude API_TOKEN=[masked] echo "));
    assert!(!door.record().contains("hunter2-door"), "{}", door.record());
    door.home.stop(&mut served);
    let mut served = door.home.serve();
    let words = "2 commands of claude ran outside the record, because no runtime was available: `echo one; exit 4`, `API_";
    let mut console = Console::open(&door.home, &[], (160, 30));
    console.shows(words);
    wait_until("nobody is told again", || told(&["status"]).lines().count() == 6);

    // A command that could not reach a running runtime is reported as soon as another one reaches it.
    let mark = pilothouse::model::UnrecordedCommand {
        at: pilothouse::clock::Clock::start().now().wall,
        agent: None,
        session: None,
        workdir: String::new(),
        cmd: "make late".into(),
        why: String::new(),
        caller: None,
    };
    pilothouse::runtime::leave_mark(&door.home.places().outside(), mark).expect("written");
    assert!(door.call(true, "true").output().expect("runs").status.success());
    console.shows("1 command ran outside the record, because no runtime was available: `make late`");
    console.keys(b"q");
    assert_eq!(console.exit(), 0);
    door.home.stop(&mut served);
    // A replay of the recording reports it as well.
    let mut replay = Console::open(&door.home, &["open", "latest"], (160, 30));
    replay.shows("1 command ran outside the record, because no runtime was available: `make late`");
    replay.keys(b"q");
    assert_eq!(replay.exit(), 0);
}

#[test]
fn a_runtime_that_dies_takes_its_command_along_and_the_shell_says_what_is_known() {
    let door = Door::new();
    let mut served = door.home.serve();
    let tag = Tag::new();
    let mut child = begun(door.call(true, &format!("echo ready; sleep {}", tag.0)));
    served.kill().expect("killed");
    served.wait().expect("ends");
    assert_eq!(child.wait().expect("ends").code(), Some(75));
    wait_until("the command is gone", || tag.holders().is_empty());
    // It was the guard that was killed: the runtime itself ends in order, and another one may serve only after that.
    wait_until("the runtime is gone", || Holder::of(&door.home.places()) == Holder::Nobody);

    let mut served = door.home.serve();
    let mut child = begun(door.call(true, &format!("echo ready; sleep {}", tag.0)));
    door.home.stop(&mut served);
    let mut said = String::new();
    child.stderr.take().expect("piped").read_to_string(&mut said).expect("reads");
    assert_eq!(child.wait().expect("ends").code(), Some(75));
    assert!(
        said.contains("this command had begun; it was ended with the runtime: the operator ran"),
        "{said}"
    );
}

#[test]
fn a_command_in_an_agents_sandbox_runs_inside_that_sandbox_and_becomes_no_task() {
    let (door, mut served) = Door::served();
    assert!(door.call(true, "true").output().expect("runs").status.success(), "a runtime is there");
    let mut fenced = Command::new("setpriv");
    door.home.settle(&mut fenced);
    fenced
        .env("PILOTHOUSE_SHELL_DOOR", door.home.workspace())
        .args(["--no-new-privs", "--"])
        .arg(&door.shell)
        .args(["-c", "grep NoNewPrivs /proc/self/status; exit 5"]);
    let fenced = fenced.output();
    let commands = door.commands();
    door.home.stop(&mut served);
    let Ok(output) = fenced else { return skip("setpriv is not installed") };
    assert_eq!(String::from_utf8_lossy(&output.stdout), "NoNewPrivs:\t1\n", "{output:?}");
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(5), &b""[..]));
    assert_eq!(commands, ["true"]);
}

#[test]
fn a_rule_about_the_agent_holds_its_own_shell_by_what_the_model_wrote() {
    let door = Door::new();
    door.home.configure("config.toml", "[[approvals]]\nprefix = \"touch\"\nactor = \"agent:claude-code\"\n");
    let console = Console::open(&door.home, &[], (100, 30));
    console.shows("no agent yet");
    let script = |cmd: &str| {
        format!("source /h/s.sh 2>/dev/null || true && eval '{cmd}' < /dev/null && pwd -P >| /dev/null")
    };
    let mut child = begun_held(&door, &script("touch held"));
    console.shows("needs approval");
    assert!(!door.home.workspace().join("held").exists());
    console.keys(b"A");
    console.shows("wants to run a command");
    console.shows("touch held");
    wait_until("the call is let go", || {
        console.keys(b"y");
        door.home.workspace().join("held").exists()
    });
    assert_eq!(child.wait().expect("ends").code(), Some(0));
    let free = door.of_claude("one", &script("echo free")).output().expect("runs");
    assert_eq!(free.stdout, b"free\n");
    drop(console);
}

fn begun_held(door: &Door, script: &str) -> Child {
    door.of_claude("one", script).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts")
}

#[test]
fn an_agent_that_also_speaks_mcp_reads_the_output_of_its_shell() {
    let door = Door::new();
    let mut served = door.home.serve();
    let agent = Agent::connect(&door.home, &["--label", "other"]);
    assert!(door.of_claude("one", "echo for the record").output().expect("runs").status.success());
    let listed = door.json(&["task", "list", "--scope", "all"]);
    let id = listed["data"]["tasks"][0]["task_id"].as_str().expect("an id").to_owned();
    let read = agent.call("TaskOutput", &serde_json::json!({ "task_id": id }));
    assert_eq!(read.result("/task/output_preview"), "for the record\n");
    drop(agent);
    door.home.stop(&mut served);
}
