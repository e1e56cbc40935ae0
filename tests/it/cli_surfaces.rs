//! Receipts, compaction and counters from the command line.

use std::io::Write;
use std::process::{Command, Stdio};

use pilothouse::envelope::{Envelope, length};
use pilothouse::tools::render;
use serde_json::{Value, json};

use crate::support::{Home, program};
use crate::tools_receipts::gallery;

/// Runs the program; returns the single JSON object that it prints, and its exit code.
fn answer(home: &Home, args: &[&str]) -> (Value, i32) {
    let ran = home.call(args);
    let text = String::from_utf8_lossy(&ran.stdout).into_owned();
    let value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{args:?}: {error}: {text}"));
    (value, ran.status.code().expect("an exit code"))
}

fn plain(home: &Home, args: &[&str]) -> String {
    let ran = home.call(args);
    assert!(ran.status.success(), "{args:?}: {}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).expect("UTF-8")
}

/// An answer with a lot of output, in a file in the workspace.
fn large(home: &Home) -> Envelope {
    let lines: String = (1..=400).map(|n| format!("line {n}\n")).collect();
    let (_, first) = gallery().into_iter().next().expect("an answer");
    let mut value = first.to_value();
    value["result"]["stdout_preview"] = json!(lines);
    std::fs::write(home.workspace().join("answer.json"), value.to_string()).expect("written");
    serde_json::from_value(value).expect("an envelope")
}

#[test]
fn a_receipt_is_rendered_from_a_file_or_from_standard_input() {
    let home = Home::new();
    let envelope = large(&home);
    assert_eq!(
        plain(&home, &["receipt", "render", "answer.json", "--output", "plain"]),
        format!("{}\n", render(&envelope))
    );
    let (told, code) = answer(&home, &["receipt", "render", "answer.json", "--budget", "500"]);
    assert_eq!((code, &told["ok"]), (0, &json!(true)), "{told}");
    let receipt = told["data"]["receipt"].as_str().expect("a receipt");
    assert!(receipt.contains("line 1\n") && receipt.contains("line 400") && receipt.len() < 600, "{receipt}");

    let mut command = home.command(&["receipt", "render", "-", "--output", "plain"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(envelope.to_value().to_string().as_bytes()).expect("written");
    drop(stdin);
    let piped = child.wait_with_output().expect("ends");
    assert_eq!(String::from_utf8(piped.stdout).expect("UTF-8"), format!("{}\n", render(&envelope)));
}

#[test]
fn an_envelope_is_compacted_and_the_result_can_be_compacted_again() {
    let home = Home::new();
    let envelope = large(&home);
    let (told, _) = answer(&home, &["receipt", "compact", "answer.json", "--budget", "700"]);
    let data = &told["data"];
    let shorter: Envelope = serde_json::from_value(data["envelope"].clone()).expect("an envelope");
    assert_eq!(data["chars_before"], length(&envelope));
    assert_eq!(data["chars"], length(&shorter));
    assert!(length(&shorter) <= 700, "{data}");
    let text = plain(&home, &["receipt", "compact", "answer.json", "--budget", "700", "--output", "plain"]);
    std::fs::write(home.workspace().join("shorter.json"), &text).expect("written");
    let again = plain(&home, &["receipt", "compact", "shorter.json", "--budget", "700", "--output", "plain"]);
    assert_eq!(again, text);
}

#[test]
fn an_unreadable_receipt_file_is_refused_with_advice() {
    let home = Home::new();
    std::fs::write(home.workspace().join("list.json"), "[1]").expect("written");
    let huge = std::fs::File::create(home.workspace().join("huge.json")).expect("a file");
    huge.set_len(40 << 20).expect("a sparse file");
    for (file, code, exit) in [
        ("nothing.json", "NOT_FOUND", 5),
        ("list.json", "ARG_ERROR", 2),
        ("huge.json", "ARG_ERROR", 2),
        (".", "INPUT_FILE_UNREADABLE", 2),
    ] {
        for command in ["render", "compact"] {
            let (told, ended) = answer(&home, &["receipt", command, file]);
            assert_eq!((&told["error"]["code"], ended), (&json!(code), exit), "{file}: {told}");
            let does =
                told["error"]["fix_required"].is_string() || told["error"]["context"]["limit_bytes"].is_u64();
            assert!(
                does && told["error"]["message"].as_str().is_some_and(|text| text.ends_with('.')),
                "{told}"
            );
        }
    }
}

#[test]
fn a_line_of_exec_leaves_standard_input_to_the_stream() {
    let home = Home::new();
    std::fs::write(home.workspace().join("plan.jsonl"), "{\"_cmd\":\"receipt.render\",\"file\":\"-\"}\n")
        .expect("written");
    let ran = home.run(&["exec", "--input-file", "plan.jsonl"]);
    let told: Value = serde_json::from_slice(&ran.stdout).expect("JSON");
    let code = ran.status.code().expect("an exit code");
    assert_eq!((&told["error"]["code"], code), (&json!("ARG_ERROR"), 1), "{told}");
}

#[test]
fn the_counters_of_a_running_runtime_are_shown_in_three_forms() {
    let home = Home::new();
    let (told, code) = answer(&home, &["metrics", "show"]);
    assert_eq!((&told["error"]["code"], code), (&json!("PRECONDITION"), 4), "{told}");
    assert!(
        told["error"]["fix_required"].as_str().is_some_and(|fix| fix.contains("pilothouse serve")),
        "{told}"
    );

    home.serve_here();
    for cmd in ["printf abc", "exit 3"] {
        let _ = home.call(&["command", "run", "--login=false", cmd]);
    }
    let _ = home.call(&["task", "status", "task_00000000"]);
    let (told, _) = answer(&home, &["metrics", "show"]);
    let data = &told["data"];
    // Scripts are no model: what they do is counted as theirs.
    assert_eq!((&data["exec_command_items"], &data["tool_calls"]), (&json!(0), &json!({})), "{data}");
    assert_eq!(data["by"], json!({"cli": {"calls": 3, "commands": 2, "batched": 0}}), "{data}");
    assert_eq!(data["tasks_ended"], json!({"completed": 1, "failed": 1}));
    assert_eq!((&data["output_bytes_in"], &data["model_rounds_saved"]), (&json!(3), &json!(0)));
    assert_eq!((&data["call_ms"], &data["tool_ms"]), (&json!({}), &json!({})), "{data}");

    let table = plain(&home, &["metrics", "show", "--format", "table"]);
    assert!(table.lines().any(|line| line.split_whitespace().eq(["commands", "cli", "2"])), "{table}");
    let page = plain(&home, &["metrics", "show", "--format", "prometheus"]);
    for line in [
        "pilothouse_commands_total{by=\"cli\"} 2",
        "pilothouse_tasks_ended_total{status=\"failed\"} 1",
        "pilothouse_task_duration_seconds_count{status=\"completed\"} 1",
    ] {
        assert!(page.lines().any(|own| own == line), "{line} is not in\n{page}");
    }
    assert!(page.ends_with('\n') && !page.ends_with("\n\n"));
}

#[test]
fn a_console_without_a_terminal_names_the_plain_line_mode() {
    let home = Home::new();
    let mut command = Command::new("setsid");
    command.arg("-w").arg(program());
    home.settle(&mut command);
    let said = command.stdin(Stdio::null()).output().expect("runs");
    let text = String::from_utf8_lossy(&said.stderr);
    assert!(
        !said.status.success() && text.contains("there is no terminal to draw on: `pilothouse --accessible`"),
        "{text}"
    );
}
