//! `pilothouse doctor`: what it finds, and that each fix mends its finding.

use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use crate::support::{Console, Home, check_line};

fn doctor(home: &Home) -> Value {
    let mut command = home.command(&["doctor"]);
    command.env("PATH", home.workspace().join("../bin"));
    let output = command.env_remove("TMUX").output().expect("runs");
    assert!(output.status.success());
    let answer: Value = serde_json::from_slice(&output.stdout).expect("five keys");
    check_line(&answer);
    answer["data"].clone()
}

fn finding(data: &Value, check: &str) -> Value {
    let findings = data["findings"].as_array().expect("findings");
    findings.iter().find(|finding| finding["check"] == check).cloned().unwrap_or_default()
}

fn install(home: &Home, name: &str) {
    let bin = home.workspace().join("../bin");
    std::fs::create_dir_all(&bin).expect("a folder");
    std::fs::write(bin.join(name), "#!/bin/sh\n").expect("written");
    std::fs::set_permissions(bin.join(name), std::fs::Permissions::from_mode(0o755)).expect("executable");
}

#[test]
fn an_agent_that_does_not_know_us_is_named_until_it_does() {
    let home = Home::new();
    assert_eq!(finding(&doctor(&home), "agents")["state"], "note");
    install(&home, "claude");
    install(&home, "pilothouse");
    let found = finding(&doctor(&home), "claude");
    assert_eq!(found["state"], "problem");
    assert_eq!(found["fix"], "pilothouse mcp install claude");
    let config = r#"{"mcpServers":{"pilothouse":{"command":"pilothouse","args":["mcp"]}}}"#;
    std::fs::write(home.workspace().join(".mcp.json"), config).expect("written");
    let data = doctor(&home);
    assert_eq!(finding(&data, "claude")["state"], "ok");
    assert_eq!(finding(&data, "pilothouse")["state"], "ok");
}

#[test]
fn a_folder_open_to_others_and_a_runtime_that_serves_are_seen() {
    let home = Home::new();
    let mut served = home.serve();
    assert!(
        finding(&doctor(&home), "runtime")["found"].as_str().is_some_and(|found| found.starts_with("serves"))
    );
    let state = home.places().state_dir;
    std::fs::set_permissions(&state, std::fs::Permissions::from_mode(0o755)).expect("opened");
    let found = finding(&doctor(&home), "state folder");
    let fix = format!("chmod 700 {}", state.display());
    assert_eq!((found["state"].as_str(), found["fix"].as_str()), (Some("problem"), Some(fix.as_str())));
    // No command but `doctor` uses a state folder that others may enter.
    std::fs::set_permissions(&state, std::fs::Permissions::from_mode(0o700)).expect("closed");
    home.stop(&mut served);
}

#[test]
fn it_looks_without_leaving_anything_behind() {
    let home = Home::new();
    doctor(&home);
    assert!(!home.places().state_dir.exists() && !home.places().runtime_dir.exists());
}

#[test]
fn a_terminal_that_does_not_answer_holds_nothing_up() {
    let home = Home::new();
    let mut console = Console::open(&home, &["doctor"], (100, 60));
    console.wait_for("the findings", |screen| {
        let text = screen.contents();
        text.contains("size               100x60") && text.contains("problem")
    });
    assert_eq!(console.exit(), 0);
}
