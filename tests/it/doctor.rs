//! `pilothouse doctor`: what it finds, and that each fix resolves its finding.

use serde_json::Value;
use std::os::unix::fs::PermissionsExt as _;

use crate::support::{Console, Home, check_line, write_program};

fn doctor(home: &Home) -> Value {
    let output = home.call_with(&[("PATH", &home.path("../bin"))], &["doctor"]);
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
    write_program(&bin.join(name), "#!/bin/sh\n");
}

#[test]
fn an_agent_that_does_not_know_us_is_named_until_it_does() {
    let home = Home::new();
    assert_eq!(finding(&doctor(&home), "agents")["state"], "note");
    install(&home, "cursor");
    install(&home, "pilothouse");
    let found = finding(&doctor(&home), "cursor");
    assert_eq!(found["state"], "problem");
    assert_eq!(found["fix"], "pilothouse mcp install cursor");
    let config = r#"{"mcpServers":{"pilothouse":{"command":"pilothouse","args":["mcp"]}}}"#;
    let folder = home.workspace().join(".cursor");
    std::fs::create_dir(&folder).expect("made");
    std::fs::write(folder.join("mcp.json"), config).expect("written");
    let data = doctor(&home);
    assert_eq!(finding(&data, "cursor")["state"], "ok");
    assert_eq!(finding(&data, "pilothouse")["state"], "ok");
}

#[test]
fn a_folder_open_to_others_and_a_runtime_that_serves_are_seen() {
    let home = Home::new();
    home.serve_here();
    assert!(
        finding(&doctor(&home), "runtime")["found"].as_str().is_some_and(|found| found.starts_with("serves"))
    );
    let state = home.places().state_dir;
    std::fs::set_permissions(&state, std::fs::Permissions::from_mode(0o755)).expect("opened");
    let found = finding(&doctor(&home), "state folder");
    let fix = format!("chmod 700 {}", state.display());
    assert_eq!((found["state"].as_str(), found["fix"].as_str()), (Some("problem"), Some(fix.as_str())));
    let path = home.configure("config.toml", "[limits]\ntaks = 3\n");
    let found = finding(&doctor(&home), "settings");
    assert!(
        found["found"].as_str().is_some_and(|found| found.contains("config.toml:2: limits.taks")),
        "{found}"
    );
    assert!(found["fix"].as_str().is_some_and(|fix| fix.starts_with("correct that line")), "{found}");
    std::fs::remove_file(path).expect("removed");
    // No command except `doctor` uses a state folder that others may enter.
    std::fs::set_permissions(&state, std::fs::Permissions::from_mode(0o700)).expect("closed");
}

#[test]
fn doctor_leaves_no_state_or_runtime_folder_behind() {
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

#[test]
fn an_agents_server_is_started_as_that_agent_does() {
    let home = Home::new();
    let mut served = home.serve();
    let ask = || -> Value {
        let mut command = home.command(&["doctor", "--agents"]);
        command.env("AA_API", "x").env_remove("CODEX_HOME");
        let answer: Value = serde_json::from_slice(&command.output().expect("runs").stdout).expect("JSON");
        check_line(&answer);
        answer["data"].clone()
    };
    let none = ask();
    assert_eq!(
        (&none["problems"], finding(&none, "agents")["state"].as_str()),
        (&0.into(), Some("note")),
        "{none:#}"
    );
    assert!(home.run(&["mcp", "install", "codex"]).status.success());
    let data = ask();
    let server = finding(&data, "codex server");
    assert!(server["found"].as_str().is_some_and(|found| found.contains(" tools, ")), "{data:#}");
    let runtime = finding(&data, "codex runtime");
    assert!(
        runtime["found"].as_str().is_some_and(|found| found.contains("the one of this workspace: serves")),
        "{data:#}"
    );
    let variables = finding(&data, "codex variables")["found"].to_string();
    assert!(variables.contains("AA_API") && !variables.contains("XDG_STATE_HOME"), "{variables}");
    let permissions = finding(&data, "codex permissions")["found"].to_string();
    assert!(permissions.contains("without asking") && permissions.contains("shell is off"), "{permissions}");
    // A configuration entry that passes on fewer variables leads to another runtime, and doctor reports that.
    let config = home.workspace().join("../.codex/config.toml");
    let text = std::fs::read_to_string(&config).expect("there").replace("\"XDG_STATE_HOME\", ", "");
    std::fs::write(&config, text).expect("written");
    let data = ask();
    let runtime = finding(&data, "codex runtime");
    assert_eq!(runtime["state"], "problem", "{data:#}");
    std::fs::write(&config, "[mcp_servers.pilothouse]\ncommand = \"/nowhere/pilothouse\"\n")
        .expect("written");
    let server = finding(&ask(), "codex server");
    assert!(server["found"].as_str().is_some_and(|found| found.contains("does not start")), "{server:#}");
    home.stop(&mut served);
}

/// Asks for the finding about Claude Code's own shell, with a fake agent that uses it as Claude Code does.
fn shell_of_claude(home: &Home, variables: &[(&str, &str)]) -> Value {
    let mut command = home.command(&["doctor", "--agents"]);
    let path = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{}:{path}", home.workspace().join("../bin").display()));
    command.env_remove("PILOTHOUSE_SHELL").envs(variables.iter().copied());
    let output = command.output().expect("runs");
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let found = finding(&answer["data"], "claude shell");
    assert!(!found.is_null(), "{answer:#}");
    found
}

#[test]
fn doctor_proves_by_a_command_where_an_agents_own_shell_leads() {
    let home = Home::new();
    install(&home, "claude");
    let agent = home.workspace().join("../bin/claude");
    std::fs::write(agent, include_str!("fake_claude.sh")).expect("written");
    let mut served = home.serve();
    let led = shell_of_claude(&home, &[]);
    assert_eq!(led["state"], "ok", "{led:#}");
    assert!(
        led["found"]
            .as_str()
            .is_some_and(|found| found.starts_with("`pilothouse claude`, in its screen: a command"))
    );
    let off = shell_of_claude(&home, &[("PILOTHOUSE_SHELL", "off")]);
    assert!(off["found"].as_str().is_some_and(|found| found.contains("PILOTHOUSE_SHELL is off")), "{off:#}");
    assert!(home.run(&["adopt", "claude"]).status.success());
    let adopted = shell_of_claude(&home, &[]);
    assert!(
        adopted["found"]
            .as_str()
            .is_some_and(|found| found.starts_with("`claude`, in its screen: a command")),
        "{adopted:#}"
    );
    let settings = home.workspace().join("../.claude/settings.json");
    let text = std::fs::read_to_string(&settings).expect("adopted");
    std::fs::write(&settings, text.replace("told/bash", "told/gone-bash")).expect("written");
    let gone = shell_of_claude(&home, &[]);
    assert!(
        gone["found"].as_str().is_some_and(|found| found.contains("gone-bash does not exist")),
        "{gone:#}"
    );
    assert_eq!(gone["fix"], "pilothouse adopt claude");
    home.stop(&mut served);
}
