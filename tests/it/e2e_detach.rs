//! Detaching: a console's runtime continues without the terminal, in the same process, and the shell gets its prompt back.

use std::fs;
use std::path::Path;
use std::process::Command;

use rustix::process::Signal;

use crate::support::{
    Agent, Console, Family, Home, Tag, children, has_terminal, program_word, send, state, wait_until,
};

const SIZE: (u16, u16) = (100, 30);

/// An interactive shell in a terminal of its own.
fn shell(home: &Home) -> Console {
    let mut bash = Command::new("bash");
    home.settle(&mut bash);
    bash.args(["--norc", "--noprofile", "-i"]);
    bash.env("PS1", "prompt> ").env("TERM", "xterm-256color").env("LANG", "C.UTF-8").env_remove("LC_ALL");
    let shell = Console::of(&bash, SIZE);
    shell.shows("prompt>");
    shell
}

/// The keeper and the program that serve a home's workspace.
fn served(home: &Home) -> (u32, u32) {
    let program = u32::try_from(home.runtime_pid()).expect("a pid");
    (crate::support::parent(program), program)
}

/// An agent's task that carries a tag and prints that it runs.
fn tagged_task(agent: &Agent, tag: &Tag) -> String {
    agent.task(&format!("echo it-runs; exec sleep {}", tag.0))
}

/// All processes at or below `pid` that have a file open.
fn holders_of(file: &Path, pid: u32) -> Vec<u32> {
    let fds = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    let holds = fds.filter_map(|fd| fs::read_link(fd.path()).ok()).any(|open| open == file);
    let below = children(pid).into_iter().flat_map(|child| holders_of(file, child));
    holds.then_some(pid).into_iter().chain(below).collect()
}

/// Asserts that a runtime continues with no trace of the terminal that it was started in.
#[track_caller]
fn goes_on_without(terminal: &Path, (keeper, program): (u32, u32)) {
    for pid in [keeper, program] {
        assert!(state(pid).is_some() && !has_terminal(pid), "{pid}");
    }
    assert_eq!(holders_of(terminal, keeper), Vec::<u32>::new(), "who holds {}", terminal.display());
}

/// Asserts that nothing of a runtime and its task is left.
#[track_caller]
fn is_all_gone(tag: &Tag, (keeper, program): (u32, u32)) {
    wait_until("the program ends", || state(program).is_none_or(|state| state == 'Z'));
    wait_until("so does its keeper", || state(keeper).is_none_or(|state| state == 'Z'));
    assert_eq!(tag.holders(), Vec::<u32>::new());
}

#[test]
fn detaching_gives_the_shell_its_prompt_and_a_new_console_finds_the_tasks() {
    let (home, tag) = (Home::new(), Tag::new());
    let mut shell = shell(&home);
    shell.keys(format!("{}\r", program_word()).as_bytes());
    shell.shows("no agent yet");
    let agent = Agent::connect(&home, &[]);
    tagged_task(&agent, &tag);
    shell.shows("it-runs");
    let runtime = served(&home);
    shell.keys(b"q");
    shell.shows("d detach   s stop all and quit");
    shell.keys(b"d");
    shell.shows("They go on: pilothouse shows them again");
    shell.keys(b"echo \"back-$((20+1)) jobs:$(jobs | wc -l)\"\r");
    shell.shows("back-21 jobs:0");
    assert_eq!(served(&home), runtime, "nothing was started again");
    goes_on_without(&shell.terminal(), runtime);
    // The agent still has the same connection.
    assert_eq!(
        agent.call("ExecCommand", &serde_json::json!({"cmd": "echo on"})).result("/stdout_preview"),
        "on\n"
    );

    shell.keys(format!("clear; {}\r", program_word()).as_bytes());
    shell.shows("it-runs");
    assert_eq!(tag.holders().len(), 1);
    shell.keys(b"q");
    shell.shows("d detach   s stop all and quit");
    shell.keys(b"s");
    shell.shows("prompt>");
    is_all_gone(&tag, runtime);
    shell.keys(b"exit\r");
    assert_eq!(shell.exit(), 0);
    agent.leave();
}

#[test]
fn a_detached_runtime_outlives_its_window_and_is_ended_from_outside() {
    let (home, tag) = (Home::new(), Tag::new());
    // The launcher is this terminal's session leader: the session gets a hangup when it exits.
    let mut console = Console::open(&home, &[], SIZE);
    console.shows("no agent yet");
    let agent = Agent::connect(&home, &[]);
    tagged_task(&agent, &tag);
    console.shows("it-runs");
    let runtime = served(&home);
    console.keys(b":");
    console.keys(b"detach\r");
    assert_eq!(console.exit(), 0);
    console.is_as_it_was();
    goes_on_without(&console.terminal(), runtime);
    console.hang_up();
    send(runtime.1, Signal::HUP);
    let second = Console::open(&home, &[], SIZE);
    second.shows("it-runs");
    assert!(home.run(&["serve", "--stop"]).status.success());
    second.shows("RUNTIME GONE");
    is_all_gone(&tag, runtime);
    agent.leave();
}

#[test]
fn f53_a_console_whose_terminal_goes_away_detaches_while_anything_runs() {
    for is_closed in [true, false] {
        let (home, tag) = (Home::new(), Tag::new());
        let mut console = Console::open(&home, &[], SIZE);
        console.shows("no agent yet");
        let agent = Agent::connect(&home, &[]);
        tagged_task(&agent, &tag);
        console.asks_until(b"\r", " INPUT t01");
        let (runtime, terminal) = (served(&home), console.terminal());
        match is_closed {
            true => console.hang_up(),
            false => console.kill(Signal::HUP),
        }
        assert_eq!(console.exit(), 0);
        if !is_closed {
            console.is_as_it_was();
        }
        goes_on_without(&terminal, runtime);
        assert_eq!(tag.holders().len(), 1);
        let mut second = Console::open(&home, &[], SIZE);
        second.shows("it-runs");
        second.stop_all_and_quit();
        is_all_gone(&tag, runtime);
        agent.leave();
    }
}

#[test]
fn a_terminal_that_goes_away_in_the_middle_of_a_frame_is_a_hangup_as_well() {
    for _ in 0..4 {
        let home = Home::new();
        let mut console = Console::open(&home, &[], SIZE);
        console.shows("no agent yet");
        let agent = Agent::connect(&home, &[]);
        agent.task("while :; do seq 1000; done");
        console.asks_until(b"\r", " INPUT t01");
        console.shows("1000");
        let (runtime, terminal) = (served(&home), console.terminal());
        console.hang_up();
        assert_eq!(console.exit(), 0);
        goes_on_without(&terminal, runtime);
        assert!(home.run(&["serve", "--stop"]).status.success());
        agent.leave();
    }
}

#[test]
fn a_detached_runtime_ends_with_its_keeper_and_by_a_signal() {
    for is_keeper in [true, false] {
        let (home, tag) = (Home::new(), Tag::new());
        let mut console = Console::open(&home, &[], SIZE);
        console.shows("no agent yet");
        let agent = Agent::connect(&home, &[]);
        agent.task(&tag.hostile_tree());
        console.shows("ready");
        let Family { guards, program } = console.family();
        console.keys(b"qd");
        assert_eq!(console.exit(), 0);
        wait_until("the launcher is gone", || state(guards[0]).is_none());
        if is_keeper {
            send(guards[1], Signal::KILL)
        } else {
            send(guards[1], Signal::TERM)
        }
        wait_until("nothing survives", || tag.holders().is_empty());
        is_all_gone(&tag, (guards[1], program));
        agent.leave();
    }
}

#[test]
fn the_console_in_plain_lines_detaches_as_well() {
    let (home, tag) = (Home::new(), Tag::new());
    let mut shell = shell(&home);
    shell.keys(format!("{} --accessible\r", program_word()).as_bytes());
    shell.shows("the runtime is in this console");
    let agent = Agent::connect(&home, &[]);
    tagged_task(&agent, &tag);
    shell.shows("it-runs");
    let runtime = served(&home);
    shell.keys(b"quit\r");
    shell.shows("2: detach");
    shell.keys(b"2\r");
    shell.shows("They go on: pilothouse shows them again");
    shell.keys(b"echo back-$((20+1))\r");
    shell.shows("back-21");
    goes_on_without(&shell.terminal(), runtime);
    assert_eq!(tag.holders().len(), 1);
    shell.keys(format!("{} serve --stop\r", program_word()).as_bytes());
    shell.shows("stopped");
    is_all_gone(&tag, runtime);
    shell.keys(b"exit\r");
    assert_eq!(shell.exit(), 0);
    agent.leave();
}
