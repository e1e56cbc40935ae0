//! Commands of an agent that do not come here: each is marked, counted and said.

use pilothouse::agents::{HookEvent, HookReport, UsedTool};
use pilothouse::model::{ModelText, ModelTextFacts, Snapshot};
use serde_json::{Value, json};

use crate::agent_prompts::{Desk, call, report};
use crate::support::{Home, PATIENCE, write_program};

/// Returns the report of a command that has ended.
fn used(cmd: &str, text: &str, is_failure: bool) -> HookReport {
    let facts = ModelTextFacts { is_failure, ..ModelTextFacts::default() };
    let given = Some(ModelText::of(text.to_owned(), facts));
    report(HookEvent::Used(UsedTool { call: call(cmd), id: Some(format!("toolu_{cmd}")), given }))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_a_hook_reports_and_no_task_ran_is_counted_at_its_agent_and_told_once() {
    let desk = Desk::open();
    // Of what has not run, nothing is proved.
    let not_run = desk.report(used("rm", "Error: the directory is gone", true));
    not_run.await.expect("told");
    for (cmd, text, is_failure) in [("git push", "done", false), ("make", "Exit code 2", true)] {
        desk.report(used(cmd, text, is_failure)).await.expect("told");
    }
    let mut snapshots = desk.runtime.snapshot();
    let counted =
        |snapshot: &std::sync::Arc<Snapshot>| snapshot.agents.iter().any(|agent| agent.unrouted == 2);
    let told = tokio::time::timeout(PATIENCE, snapshots.wait_for(counted)).await.expect("in time");
    let snapshot = told.expect("a runtime").clone();
    assert_eq!(snapshot.agents[0].unrouted_phrase().as_deref(), Some("2 not routed"));
    let notices: Vec<_> = snapshot.notices.iter().filter(|notice| notice.text.contains("outside")).collect();
    let [notice] = &notices[..] else { panic!("one notice: {notices:?}") };
    let cmd = if notice.text.contains("make") { "make" } else { "git push" };
    assert_eq!(
        notice.text,
        format!(
            "1 command of claude-code ran outside the record, not routed: started by another shell: `{cmd}`; no approval rule holds what runs there"
        )
    );
    desk.close().await;
}

#[test]
fn the_shell_of_claude_code_is_led_here_by_its_settings_and_not_by_the_environment_of_its_service() {
    let home = Home::new();
    let bin = home.workspace().join("../bin");
    std::fs::create_dir(&bin).expect("a folder");
    let fake = "#!/bin/sh\nfor word; do printf '%s\\0' \"$word\"; done\nprintf 'shell=%s\\0' \"$CLAUDE_CODE_SHELL$PILOTHOUSE_SHELL_DOOR\"\n";
    write_program(&bin.join("claude"), fake);
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").expect("a path"));
    let start = |args: &[&str]| {
        let mut launch = home.command(&[&["claude"], args].concat());
        launch.env("PATH", &path).env("SHELL", "/bin/bash").env_remove("CLAUDE_CODE_SHELL");
        let output = launch.output().expect("runs");
        let words = String::from_utf8(output.stdout).expect("text");
        let words: Vec<String> = words.split_terminator('\0').map(str::to_owned).collect();
        (output.status.code(), words, String::from_utf8(output.stderr).expect("text"))
    };
    let (code, words, _) = start(&["--bg", "go"]);
    assert_eq!(
        (code, &*words[0], &*words[2], &*words[3], &*words[4]),
        (Some(0), "--settings", "--bg", "go", "shell=")
    );
    let settings: Value = serde_json::from_str(&words[1]).expect("JSON");
    let shell = settings["env"]["CLAUDE_CODE_SHELL"].as_str().expect("a shell");
    assert!(shell.ends_with("/pilothouse/shells/told/bash"), "{shell}");
    assert_eq!(settings["env"]["PILOTHOUSE_SHELL_DOOR"], json!(home.workspace()));
    assert!(settings["hooks"]["PostToolUse"].is_array());
    // Settings of the user's own are joined with them.
    let (code, words, _) = start(&["--settings", r#"{"model":"m"}"#, "--background", "go"]);
    assert_eq!((code, words.len()), (Some(0), 5));
    let settings: Value = serde_json::from_str(&words[1]).expect("JSON");
    assert_eq!((&settings["model"], &settings["env"]["CLAUDE_CODE_SHELL"]), (&json!("m"), &json!(shell)));
    // What cannot be joined leaves the environment, which a service would not have.
    let (code, words, _) = start(&["--settings", "/nonexistent", "go"]);
    assert_eq!(code, Some(0));
    assert!(words[3].contains("/told/bash"), "{words:?}");
    let (code, _, said) = start(&["--settings=/nonexistent", "--background", "go"]);
    assert_eq!(code, Some(4));
    assert!(said.contains("run `pilothouse adopt claude` first"), "{said}");
}
