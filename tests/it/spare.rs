//! Spare hosts, ready for the next commands: when there is one, which command gets it, that hosts are used again, and
//! that none is kept for long.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use pilothouse::config::{Limits, SideTerminal};
use pilothouse::envelope::TaskId;
use pilothouse::model::{AgentPeer, Stop};
use pilothouse::process::environment::Environment;
use pilothouse::runtime::{Leftovers, OutputStream};
use rustix::process::Signal;
use serde_json::json;

use crate::runtime::Bench;
use crate::shell_door::Door;
use crate::support::{Agent, Family, Home, children, parent, send, state, wait_until};

const HALF_A_MINUTE: Duration = Duration::from_secs(30);
/// The number of commands within which one must have found a spare host.
const TRIES: usize = 100;

fn peer() -> AgentPeer {
    AgentPeer { client: "test 1".into(), pid: 1, uid: 0, profile: "receipt" }
}

/// Runs commands until one gets a host that existed before it; returns how many that took.
async fn runs_until_one_is_ready(bench: &Bench) -> Option<usize> {
    for run in 0..TRIES {
        let before = children(std::process::id());
        let task = bench.completed(bench.request("echo $PPID")).await;
        let host = bench.text(&task.id, OutputStream::Stdout).await.trim().parse::<u32>().expect("a pid");
        if before.contains(&host) {
            return Some(run);
        }
    }
    None
}

/// Returns the spare host; by then its id has been taken, so no command can get it.
async fn kept(bench: &Bench) -> Option<u32> {
    for _ in 0..TRIES {
        if let Some(host) = host_of(&bench.runtime.next_id()) {
            return Some(host);
        }
        bench.completed(bench.request("true")).await;
    }
    None
}

fn host_of(id: &TaskId) -> Option<u32> {
    let words = format!("pilothouse\0__host\0{id}\0");
    let is_its =
        |pid: &u32| std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default() == words;
    children(std::process::id()).into_iter().find(is_its)
}

fn is_gone(pid: u32) -> bool {
    matches!(state(pid), None | Some('Z'))
}

#[tokio::test]
async fn the_next_command_of_an_agent_finds_a_host_ready() {
    let bench = Bench::start();
    let label = bench.runtime.agent_connected("test", &peer());
    assert!(runs_until_one_is_ready(&bench).await.is_some());
    let host = kept(&bench).await.expect("a host");
    bench.runtime.agent_gone(&label, &peer());
    wait_until("it is let go with the last agent", || is_gone(host));
    bench.runtime.shutdown().await;
}

#[tokio::test]
async fn a_host_that_is_kept_is_let_go_half_a_minute_after_the_last_command() {
    let bench = Bench::start();
    bench.runtime.agent_connected("test", &peer());
    let host = kept(&bench).await.expect("a host");
    tokio::time::pause();
    // The time since the last command has passed as well.
    tokio::time::advance(HALF_A_MINUTE - Duration::from_secs(15)).await;
    assert!(!is_gone(host));
    tokio::time::advance(Duration::from_secs(16)).await;
    tokio::time::resume();
    // When it answers, the driver has had its turn.
    assert!(bench.runtime.stop(&crate::runtime::agent(), &TaskId::random(), Stop::default()).await.is_err());
    wait_until("it is let go", || is_gone(host));
    bench.runtime.shutdown().await;
}

/// Makes a program's runtime keep a spare host.
fn kept_by(runtime: u32, agent: &Agent) -> u32 {
    let is_host = |pid: &u32| {
        std::fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name == "pilothouse-host\n")
    };
    agent.call("ExecCommand", &json!({"cmd": "true"}));
    let mut kept = None;
    wait_until("a host is kept", || {
        kept = children(runtime).into_iter().find(|pid| is_host(pid) && state(*pid) == Some('S'));
        kept.is_some()
    });
    kept.expect("a host")
}

/// Runs a command that first prints `$PPID` until one has a host that another one had before; returns the words that
/// this one printed after it.
async fn runs_until_a_host_is_used_again(bench: &Bench, cmd: &str) -> Option<(TaskId, Vec<String>)> {
    let mut hosts = HashSet::new();
    for _ in 0..TRIES {
        let task = bench.completed(bench.request(&format!("echo $PPID; {cmd}"))).await;
        assert_eq!(task.ended.as_ref().and_then(|ended| ended.exit_status), Some(0));
        let printed = bench.text(&task.id, OutputStream::Stdout).await;
        let mut words = printed.split_whitespace().map(str::to_owned);
        if !hosts.insert(words.next().expect("a pid")) {
            return Some((task.id.clone(), words.collect()));
        }
    }
    None
}

#[tokio::test]
async fn a_host_that_is_used_again_is_known_as_that_of_its_new_task() {
    let bench = Bench::start();
    bench.runtime.agent_connected("test", &peer());
    let cmd = "echo $PILOTHOUSE_TASK_ID; tr '\\0' '\\n' < /proc/$PPID/environ | sed -n 's/^PILOTHOUSE_TASK_ID=//p'; \
               tr '\\0' '\\n' < /proc/$PPID/cmdline | tail -n 1; sed -n 's/^0::.*pilothouse-[0-9]*\\.//p' /proc/self/cgroup";
    let (id, words) = runs_until_a_host_is_used_again(&bench, cmd).await.expect("one is used again");
    assert!(words.len() >= 3 && words.iter().all(|word| *word == id.to_string()), "{id}: {words:?}");
    bench.runtime.shutdown().await;
}

#[tokio::test]
async fn the_memory_of_a_host_does_not_grow_with_its_commands() {
    /// Large enough that one copy for each command would be noticed: 32 KiB of pointers.
    const VARIABLES: usize = 4_000;
    const COMMANDS: usize = 120;
    const KIBIBYTES: u64 = 512;
    let variables = (0..VARIABLES).map(|number| (format!("V{number}").into(), "x".into())).collect();
    let bench = Bench::start().with_environment(Environment::new(variables, None));
    bench.runtime.agent_connected("test", &peer());
    let mut memory: HashMap<String, Vec<u64>> = HashMap::new();
    for _ in 0..COMMANDS {
        let cmd = "echo $PPID; /bin/sed -n 's/^RssAnon:[^0-9]*//p' /proc/$PPID/status";
        let task = bench.completed(bench.request(cmd)).await;
        let printed = bench.text(&task.id, OutputStream::Stdout).await;
        let mut words = printed.split_whitespace();
        let host = words.next().expect("a pid").to_owned();
        memory.entry(host).or_default().push(words.next().expect("a number").parse().expect("kibibytes"));
    }
    // The first commands of a host touch what it needs for each.
    let growth = |sizes: &Vec<u64>| sizes[sizes.len() - 1].saturating_sub(sizes[4]);
    let grown = memory.values().filter(|sizes| sizes.len() > 20).map(growth);
    let grown: Vec<u64> = grown.collect();
    assert!(!grown.is_empty() && grown.iter().all(|grown| *grown < KIBIBYTES), "KiB: {memory:?}");
    bench.runtime.shutdown().await;
}

#[tokio::test]
async fn each_command_of_a_host_has_a_terminal_of_its_own_beside_its_streams() {
    let bench = Bench::limited(Limits { side_terminal: SideTerminal::Always, ..Limits::default() });
    bench.runtime.agent_connected("test", &peer());
    let cmd = "stty size </dev/tty >/dev/null && echo seen >/dev/tty && trap 'echo over' HUP && echo fine";
    let (_, words) = runs_until_a_host_is_used_again(&bench, cmd).await.expect("one is used again");
    assert_eq!(words, ["fine"]);
    bench.runtime.shutdown().await;
}

#[tokio::test]
async fn a_host_that_has_something_left_of_its_command_is_not_used_again() {
    let bench = Bench::start();
    bench.runtime.agent_connected("test", &peer());
    let mut request = bench.request("sleep 1000 >/dev/null 2>&1 & echo $PPID");
    request.leftovers = Leftovers::Keep;
    let id = bench.promoted(request).await;
    let host = bench.text(&id, OutputStream::Stdout).await.trim().to_owned();
    for _ in 0..20 {
        let task = bench.completed(bench.request("echo $PPID")).await;
        assert_ne!(bench.text(&task.id, OutputStream::Stdout).await.trim(), host);
    }
    bench.runtime.stop(&crate::runtime::agent(), &id, Stop::default()).await.expect("stopped");
    bench.runtime.shutdown().await;
}

#[test]
fn a_host_that_was_killed_or_stopped_while_it_was_kept_is_not_used() {
    let home = Home::new();
    let mut served = home.serve();
    let runtime = Family::of(served.id()).program;
    let agent = Agent::connect(&home, &[]);
    for signal in [Signal::KILL, Signal::STOP] {
        let kept = kept_by(runtime, &agent);
        send(kept, signal);
        wait_until("it has the signal", || matches!(state(kept), None | Some('Z' | 'T')));
        let ended = agent.call("ExecCommand", &json!({"cmd": "echo $PPID"}));
        let host = ended.result("/stdout_preview").as_str().expect("a host").trim().to_owned();
        assert_ne!(host, kept.to_string());
        send(kept, Signal::CONT);
    }
    agent.leave();
    assert!(home.run(&["serve", "--stop"]).status.success());
    served.wait().expect("it has ended");
}

#[test]
fn no_host_that_is_kept_outlives_its_runtime() {
    let home = Home::new();
    for is_killed in [false, true] {
        let mut served = home.serve();
        let runtime = Family::of(served.id()).program;
        let agent = Agent::connect(&home, &[]);
        let kept = kept_by(runtime, &agent);
        assert_eq!(parent(kept), runtime);
        if is_killed {
            send(runtime, Signal::KILL);
        } else {
            assert!(home.run(&["serve", "--stop"]).status.success());
        }
        wait_until("it is gone", || state(kept).is_none());
        served.wait().expect("it has ended");
        agent.leave();
    }
}

#[test]
fn commands_of_an_agents_own_shell_find_a_host_ready_as_well() {
    let (door, mut served) = Door::served();
    let mut hosts = HashSet::new();
    let is_used_again = |_: usize| {
        let ran = door.of_claude("one", "echo $PPID").output().expect("run it");
        !hosts.insert(String::from_utf8(ran.stdout).expect("a pid"))
    };
    assert!((0..TRIES).any(is_used_again), "every command had a host of its own");
    door.home.stop(&mut served);
}
