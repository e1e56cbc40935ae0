//! What an agent's hook says that its model was given of a command of its own shell is the receipt of that command's call.

use std::io::Write as _;
use std::process::{Child, Output, Stdio};

use serde_json::{Value, json};

use crate::shell_door::Door;
use crate::support::{Console, wait_until};

/// How many characters of one output Claude Code hands to its hooks, and to its model whole; of more, its model gets 2,000.
const MOST: usize = 30_000;

/// A command and what Claude Code reports of it.
struct Reported {
    /// The command as it is on record.
    recorded: String,
    /// The report of the call, and that of the end of the calls of one answer.
    told: [Value; 2],
    /// What its model was given.
    text: String,
    is_cut: bool,
}

/// Returns one of the commands of a run.
fn command(number: usize) -> String {
    match number % 7 {
        0 => format!("echo out {number}; echo more"),
        1 => format!("seq -f 'line %.0f of {number}' 1 4000"),
        2 => format!("true {number}"),
        3 => format!("echo bad {number}; exit 3"),
        4 => format!("printf '\\033[31mred {number}\\033[0m\\n\\ta\\tb\\r\\nh\\303\\251 \"q\"\\n'"),
        5 => format!("API_TOKEN=hunter2{number} echo kept"),
        // The same command again and again, with another output each time.
        _ => "date +%s.%N".to_owned(),
    }
}

/// Returns what Claude Code reports of a command that has ended.
fn reported(number: usize, cmd: &str, output: &Output) -> Reported {
    let wrote = String::from_utf8(output.stdout.clone()).expect("text");
    let wrote = wrote.trim_end();
    let is_cut = wrote.chars().count() > MOST;
    let code = output.status.code().expect("a code");
    let text = match (code, wrote) {
        (0, "") => "(Bash completed with no output)".to_owned(),
        (0, _) if is_cut => {
            let preview = &wrote[..wrote[..2_000].rfind('\n').expect("a line")];
            let size = wrote.len() / 1024;
            format!(
                "<persisted-output>\nOutput too large ({size}KB). Full output saved to: /x\n\nPreview (first 2KB):\n{preview}\n...\n</persisted-output>"
            )
        }
        (0, wrote) => wrote.to_owned(),
        (code, wrote) => format!("Exit code {code}\n{wrote}"),
    };
    let mut used = json!({
        "hook_event_name": "PostToolUse", "session_id": "s1", "cwd": "/", "permission_mode": "auto", "tool_name": "Bash",
        "tool_use_id": format!("toolu_{number}"), "tool_input": {"command": cmd, "description": "A command"},
    });
    let mut call = used.clone();
    call["tool_response"] = json!(text);
    let batch = json!({
        "hook_event_name": "PostToolBatch", "session_id": "s1", "cwd": "/", "permission_mode": "auto", "tool_calls": [call],
    });
    if code == 0 {
        used["tool_response"] =
            json!({"stdout": &wrote[..wrote.len().min(MOST)], "stderr": "", "interrupted": false});
    } else {
        used["hook_event_name"] = json!("PostToolUseFailure");
        used["error"] = json!(text);
    }
    let told = [used, batch];
    let recorded = cmd.replace(&format!("hunter2{number}"), "[masked]");
    Reported { recorded, told, text, is_cut }
}

/// Starts a hook as the agent does: this process is the agent.
fn hook(door: &Door, told: &Value) -> Child {
    let mut hook = door.home.command(&["hook", "claude"]);
    for variable in ["CLAUDE_PID", "PILOTHOUSE_AGENT_NAME", "PILOTHOUSE_SHELL"] {
        hook.env_remove(variable);
    }
    let mut hook = hook.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("starts");
    hook.stdin.take().expect("a pipe").write_all(told.to_string().as_bytes()).expect("told");
    hook
}

/// Runs so many commands through the agent's own shell, four at once, each reported by a hook; then compares the record with
/// what was reported.
fn run(door: &Door, count: usize) {
    let mut reports = Vec::new();
    for group in (0..count).collect::<Vec<_>>().chunks(4) {
        let running: Vec<(usize, String, Child)> = group
            .iter()
            .map(|number| {
                let cmd = command(*number);
                let mut call = door.of_claude("s1", &cmd);
                call.env("CLAUDE_PID", std::process::id().to_string());
                let child = call.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
                (*number, cmd, child)
            })
            .collect();
        let ended: Vec<Reported> = running
            .into_iter()
            .map(|(number, cmd, child)| reported(number, &cmd, &child.wait_with_output().expect("ends")))
            .collect();
        // Reports of calls that were made at once come in any order.
        let told = ended.iter().rev().flat_map(|reported| &reported.told);
        let hooks: Vec<Child> = told.map(|told| hook(door, told)).collect();
        for hook in hooks {
            let output = hook.wait_with_output().expect("ends");
            assert!(output.status.success() && output.stdout.is_empty(), "{output:?}");
        }
        reports.extend(ended);
        let told = reports.len() * 2;
        wait_until("every report is on record", || door.record().matches(r#""kind":"told""#).count() >= told);
    }
    assert_eq!(compared(door, reports), count);
}

/// Compares each call with what was reported of it; returns how many are the same.
fn compared(door: &Door, mut reports: Vec<Reported>) -> usize {
    let (limit, all) = (reports.len().to_string(), reports.len());
    let listed = door.json(&["receipt", "list", "--limit", &limit, "--output", "json"]);
    for row in listed["data"]["receipts"].as_array().expect("receipts") {
        let shown = door.json(&["receipt", "show", row["id"].as_str().expect("an id"), "--output", "json"]);
        let data = &shown["data"];
        let (cmd, receipt) = (data["input"]["cmd"].as_str().expect("a command"), data["receipt"].as_str());
        let is_it = |reported: &Reported| reported.recorded == cmd && Some(&*reported.text) == receipt;
        let reported = reports.iter().position(is_it).map(|at| reports.swap_remove(at));
        let Some(reported) = reported else { panic!("nobody reported this: {data}") };
        assert_eq!(data["native"]["is_cut"] == true, reported.is_cut, "{cmd}");
        assert_eq!(data["native"]["is_failure"] == true, reported.text.starts_with("Exit code"), "{cmd}");
        if cmd.starts_with("date") {
            // What this very command wrote.
            let task = data["task_id"].as_str().expect("a task");
            let output = door.home.run(&["task", "output", task, "--output", "json"]);
            let output = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(output.contains(&reported.text), "{}: {output}", reported.text);
        }
    }
    all - reports.len()
}

#[test]
fn a_commands_receipt_is_what_its_model_was_given() {
    let (door, mut served) = Door::served();
    run(&door, 14);
    door.home.stop(&mut served);
}

#[test]
#[ignore = "minutes; .ci/long runs it"]
fn long_of_100_native_calls_each_receipt_is_what_its_model_was_given() {
    let (door, mut served) = Door::served();
    run(&door, 100);
    door.home.stop(&mut served);
}

#[test]
fn a_subagents_command_has_its_receipt_whatever_session_its_shell_names() {
    let (door, mut served) = Door::served();
    for (cmd, subagent) in [("echo of the agent", None), ("echo of its subagent", Some("a1"))] {
        let mut call = door.of_claude("another", cmd);
        let output = call.env("CLAUDE_PID", std::process::id().to_string()).output().expect("runs");
        let mut told = reported(1, cmd, &output).told[0].clone();
        told["agent_id"] = json!(subagent);
        assert!(hook(&door, &told).wait_with_output().expect("ends").status.success());
    }
    let listed = door.json(&["receipt", "list", "--output", "json"]);
    let receipt =
        |row: &Value| door.json(&["receipt", "show", row["id"].as_str().expect("an id")])["data"].clone();
    let rows: Vec<_> = listed["data"]["receipts"].as_array().expect("receipts").iter().map(receipt).collect();
    let is_native = |row: &Value| row["native"].is_object();
    assert_eq!(rows.iter().map(is_native).collect::<Vec<_>>(), [true, false], "{rows:?}");
    door.home.stop(&mut served);
}

#[test]
fn the_console_shows_what_was_given_beside_what_was_written() {
    let door = Door::new();
    let console = Console::open(&door.home, &[], (120, 40));
    console.shows(" OBSERVE ");
    let cmd = command(1);
    let mut call = door.of_claude("s1", &cmd);
    call.env("CLAUDE_PID", std::process::id().to_string());
    let output = call.output().expect("runs");
    for told in reported(1, &cmd, &output).told {
        assert!(hook(&door, &told).wait_with_output().expect("ends").status.success());
    }
    console.keys(b"3");
    console.shows("its model read ~");
    console.shows("of ~14,724 tokens");
    console.shows("line 1 of 1");
    console.keys(b"v");
    console.shows("what was given");
    console.shows("of 4,000 lines seen");
    console.shows("│ line 1 of 1");
}
