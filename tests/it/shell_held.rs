//! Held calls: a pause and rules hold an agent's own commands, and each agent is told so in a form that it tolerates.

use std::process::{Child, Stdio};

use serde_json::json;

use crate::codex_executor::{Codex, text};
use crate::shell_door::Door;
use crate::support::{Console, Home, wait_until};

const SIZE: (u16, u16) = (100, 30);
const RULE: &str = "[[approvals]]\nprefix = \"touch\"\n";

fn begun(door: &Door, script: &str) -> Child {
    let mut call = door.of_claude("one", script);
    call.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts")
}

#[test]
fn an_agents_own_command_is_denied_in_one_line_with_77_or_held_by_the_pause_until_it_goes_on() {
    let door = Door::new();
    door.home.configure("config.toml", RULE);
    let console = Console::open(&door.home, &[], SIZE);
    console.shows("no agent yet");
    // The first call makes the agent known.
    let child = begun(&door, "touch denied");
    deny(&console, "touch denied");
    let output = child.wait_with_output().expect("ends");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(77), &b""[..]), "{said}");
    assert!(said.starts_with("pilothouse: ") && said.lines().count() == 1, "{said}");
    assert!(said.contains("not that"), "the person's words: {said}");
    assert!(!door.home.workspace().join("denied").exists());

    console.wait_for("nothing is held", |screen| !screen.contents().contains("1 held"));
    console.keys(b"p");
    console.shows("PAUSED");
    let child = begun(&door, "echo ran; : > ran; exit 3");
    console.shows("1 held");
    assert!(!door.home.workspace().join("ran").exists(), "it waits");
    wait_until("it is let go", || {
        console.keys(b"p");
        door.home.workspace().join("ran").exists()
    });
    let output = child.wait_with_output().expect("ends");
    assert_eq!((output.stdout.as_slice(), output.stderr.as_slice()), (&b"ran\n"[..], &b""[..]));
    assert_eq!(output.status.code(), Some(3));
}

/// Denies a held call, with a message.
fn deny(console: &Console, cmd: &str) {
    console.shows("needs approval");
    console.keys(b"A");
    console.shows("wants to run a command");
    console.shows(cmd);
    // A key that comes before there has been time to read the question decides nothing.
    console.asks_until(b"n", "why not");
    console.keys(b"not that\r");
}

#[test]
fn a_start_of_codex_that_is_held_is_answered_and_runs_or_not_as_the_person_says() {
    let home = Home::new();
    home.configure("config.toml", RULE);
    let console = Console::open(&home, &[], SIZE);
    console.shows("no agent yet");
    let mut codex = Codex::new(&home);
    // Answered at once: the model can poll it, or stop it.
    codex.start("approved", "touch approved; echo done", &json!({}));
    console.shows("needs approval");
    assert!(!home.workspace().join("approved").exists());
    let polled = codex.ask("process/read", &json!({ "processId": "approved", "waitMs": 0 }));
    assert_eq!(polled["result"]["exited"], false, "{polled}");
    console.keys(b"A");
    console.shows("wants to run a command");
    wait_until("it is let go", || {
        console.keys(b"y");
        home.workspace().join("approved").exists()
    });
    let told = codex.until("approved", |told| told.is_closed);
    assert_eq!((text(&told, "stdout").as_str(), told.exit), ("done\n", Some(0)));

    codex.start("denied", "touch denied", &json!({}));
    deny(&console, "touch denied");
    let told = codex.until("denied", |told| told.is_closed);
    let said = text(&told, "stderr");
    assert_eq!(told.exit, Some(77), "{said}");
    assert!(said.lines().count() == 1 && said.contains("not that"), "{said}");
    assert!(!home.workspace().join("denied").exists());

    // A command that Codex gives up on while it is held never runs.
    codex.start("given up", "touch given-up", &json!({}));
    console.shows("needs approval");
    codex.ask("process/terminate", &json!({ "processId": "given up" }));
    codex.until("given up", |told| told.is_closed);
    assert!(!home.workspace().join("given-up").exists());
    codex.leave();
}

#[test]
#[ignore = "two minutes; .ci/long runs it"]
fn long_opencode_is_told_before_its_own_limit_that_its_command_was_not_run() {
    let door = Door::new();
    door.home.configure("config.toml", RULE);
    let mut served = door.home.serve();
    let mut call = door.call(true, "touch late");
    call.env("OPENCODE", "1").stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut limited = std::process::Command::new("timeout");
    // The time limit that opencode has for a command.
    limited.arg("110").arg(call.get_program()).args(call.get_args()).current_dir(door.home.workspace());
    limited.envs(call.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = limited.output().expect("runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(75), "{said}");
    assert!(said.contains("it was not run") && said.lines().count() == 1, "{said}");
    assert!(!door.home.workspace().join("late").exists());
    let listed = door.json(&["task", "list", "--scope", "all"]);
    assert_ne!(listed["data"]["tasks"][0]["status"], "running", "{listed}");
    door.home.stop(&mut served);
}
