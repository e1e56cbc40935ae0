//! Callers that ignore or block signals, which their programs inherit: window managers and daemons ignore the ends of their
//! children, `nohup` hang-ups, a script's `&` interrupts.

use std::process::{Command, Stdio};

use rustix::process::Signal;
use serde_json::json;

use crate::shell_door::Door;
use crate::support::{
    Agent, Console, Family, Home, Tag, exec_by, exec_command, run_by, send, state, wait_until,
};

/// What a caller does before it starts us, as options of `env`.
const CALLERS: [&[&str]; 3] =
    [&["--ignore-signal=CHLD"], &["--ignore-signal", "--default-signal=CHLD"], &["--block-signal"]];
/// Prints the signals that are blocked and ignored.
const SIGNALS: &str = "grep -E '^Sig(Blk|Ign)' /proc/self/status";
/// What a command prints that has the usual ones.
const USUAL: &str = "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n";

/// A program as such a caller starts it.
fn by(caller: &[&str], program: &Command) -> Command {
    run_by(&[&["env"], caller].concat(), program)
}

/// Tells whether a process has ended; its parent may not have been told yet.
fn is_over(pid: u32) -> bool {
    state(pid).is_none_or(|letter| letter == 'Z')
}

/// Waits until the runtime and its guards have ended.
fn are_over(what: &str, Family { guards, program }: &Family) {
    wait_until(what, || guards.iter().chain([program]).all(|pid| is_over(*pid)));
}

#[test]
fn f61_a_command_is_answered_and_has_the_usual_signals_whatever_its_caller_ignores_or_blocks() {
    for caller in CALLERS {
        let home = Home::new();
        let script = format!("{SIGNALS}; exit 3");
        let run = |more: &[&str]| {
            let words = ["command", "run", "--raw", "--exit-code=child"];
            home.command(&[&words, more, &[script.as_str()]].concat())
        };
        // The first starts a runtime, which is such a caller's as well; an ordinary one asks it too.
        let calls =
            [by(caller, &run(&[])), by(caller, &run(&[])), run(&[]), by(caller, &run(&["--private"]))];
        for mut call in calls {
            let output = call.output().expect("runs");
            let printed = String::from_utf8_lossy(&output.stdout);
            assert_eq!((output.status.code(), &*printed), (Some(3), USUAL), "{caller:?}: {output:?}");
        }
        let line = format!("{}\n", json!({ "_cmd": "command.run", "cmd": script }));
        let ran = exec_by(&mut by(caller, &exec_command(&home, &[])), line);
        assert_eq!(ran.of(1)["data"]["exit_status"], 3, "{caller:?}");
        let runtime = home.runtime_pid().unsigned_abs();
        assert!(by(caller, &home.command(&["serve", "--stop"])).output().expect("runs").status.success());
        wait_until("the runtime ends", || is_over(runtime));
    }
}

#[test]
fn f61_an_agent_is_answered_and_its_shim_ends_on_term_whatever_its_caller_ignores_or_blocks() {
    for caller in CALLERS {
        let home = Home::new();
        let agent = Agent::connect_by(&home, by(caller, &home.command(&["mcp"])));
        let answer = agent.call("ExecCommand", &json!({ "cmd": SIGNALS }));
        assert_eq!(answer.result("/stdout_preview"), USUAL, "{caller:?}");
        agent.leave();
        let mut shim = by(caller, &home.command(&["mcp"])).stdin(Stdio::piped()).spawn().expect("starts");
        wait_until("the shim ends on TERM", || {
            send(shim.id(), Signal::TERM);
            shim.try_wait().expect("asked").is_some()
        });
    }
}

#[test]
fn f61_a_runtime_and_its_guards_end_together_whatever_their_caller_ignores_or_blocks() {
    for caller in CALLERS {
        let (home, tag) = (Home::new(), Tag::new());
        for signal in [Signal::TERM, Signal::KILL] {
            let mut served = home.listening(&mut by(caller, &home.command(&["serve"])));
            let family = Family::of(served.id());
            let agent = Agent::connect(&home, &[]);
            agent.task(&format!("sleep {}", tag.0));
            tag.asleep();
            // TERM goes to whom the caller started.
            send(if signal == Signal::TERM { family.guards[0] } else { family.program }, signal);
            wait_until("the caller hears of the end", || served.try_wait().expect("asked").is_some());
            are_over("the guards end with it", &family);
            assert_eq!(tag.holders(), Vec::<u32>::new(), "{caller:?} {signal:?}");
            agent.leave();
        }
    }
}

#[test]
fn f61_a_console_shows_ends_and_ends_with_its_guards_whatever_its_caller_ignores_or_blocks() {
    for caller in CALLERS {
        let home = Home::new();
        let mut program = home.command(&[]);
        program.env("TERM", "xterm-256color").env("LANG", "C.UTF-8").env_remove("LC_ALL");
        let mut console = Console::of(&by(caller, &program), (80, 24));
        console.shows("no agent yet");
        let family = console.family();
        let agent = Agent::connect(&home, &[]);
        let task = agent.task("read line; exit 3");
        console.asks_until(b"\r", " INPUT t01");
        console.keys(b"now\r");
        let ended = agent.call("TaskOutput", &json!({ "task_id": task }));
        assert_eq!(ended.result("/task/exit_status"), 3, "{caller:?}");
        console.shows("exit 3");
        console.kill(Signal::TERM);
        assert_eq!(console.exit(), 143);
        console.is_as_it_was();
        are_over("the guards end with it", &family);
        agent.leave();
    }
}

#[test]
fn f61_a_command_of_an_agents_own_shell_has_the_signals_of_its_caller() {
    let (door, mut served) = Door::served();
    let script = format!("{SIGNALS}; sleep 0 & wait $!; echo $?; trap -p; exit 3");
    for caller in CALLERS {
        let seen = |call: &Command| by(caller, call).output().expect("runs");
        let plain = seen(&door.call(false, &script));
        assert_eq!(plain.status.code(), Some(3));
        assert_eq!(seen(&door.call(true, &script)), plain, "{caller:?}, as a task");
        let mut through = door.call(true, &script);
        through.env("PILOTHOUSE_SHELL", "off");
        assert_eq!(seen(&through), plain, "{caller:?}, without us");
    }
    assert_eq!(door.commands().len(), CALLERS.len());
    door.home.stop(&mut served);
}

#[test]
fn f61_a_signal_that_the_caller_ignores_does_not_end_a_runtime() {
    let home = Home::new();
    let caller = ["--ignore-signal=HUP", "--ignore-signal=INT"];
    let mut served = home.listening(&mut by(&caller, &home.command(&["serve"])));
    let family = Family::of(served.id());
    for signal in [Signal::HUP, Signal::INT] {
        family.guards.iter().chain([&family.program]).for_each(|pid| send(*pid, signal));
        assert!(home.run(&["command", "run", "true"]).status.success());
        assert_eq!(home.runtime_pid().unsigned_abs(), family.program, "{signal:?}");
    }
    send(family.guards[0], Signal::TERM);
    assert_eq!(served.wait().expect("ends").code(), Some(143));
}
