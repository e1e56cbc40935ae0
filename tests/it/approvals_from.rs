//! `pilothouse config approvals`: agents' own rules as approval rules, first shown and then written.

use std::fs;

use serde_json::{Value, json};

use crate::support::{Home, check_line};

fn ask(home: &Home, args: &[&str]) -> Value {
    let mut command = home.command(&[&["config", "approvals"], args].concat());
    for variable in ["CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME"] {
        command.env_remove(variable);
    }
    let answer: Value = serde_json::from_slice(&command.output().expect("runs").stdout).expect("JSON");
    check_line(&answer);
    answer
}

fn put(home: &Home, path: &str, text: &str) {
    let path = home.workspace().join("..").join(path);
    fs::create_dir_all(path.parent().expect("a folder")).expect("made");
    fs::write(path, text).expect("written");
}

#[test]
fn rules_are_shown_first_and_written_beside_those_that_are_there() {
    let home = Home::new();
    put(&home, ".claude/settings.json", r#"{"permissions": {"ask": ["Bash(git push:*)", "Bash(git * x)"]}}"#);
    put(
        &home,
        "workspace/.claude/settings.local.json",
        r#"{"permissions": {"deny": ["Bash(curl:*)", "Bash"]}}"#,
    );
    let own = "# mine\n[[approvals]]\nprefix = \"sudo\" # always\n";
    let config = home.configure("config.toml", own);
    for args in [&["--from", "claude"][..], &["--from", "claude", "--write", "--dry-run"]] {
        let shown = ask(&home, args);
        let diff = shown["data"]["diff"].as_str().expect("a diff");
        assert!(diff.contains("+prefix = \"git push\"\n") && diff.contains("+prefix = \"curl\"\n"), "{diff}");
        assert!(
            shown["data"]["untranslated"][0].as_str().expect("one").contains("Bash(git * x)"),
            "{shown:#}"
        );
        assert_eq!(fs::read_to_string(&config).expect("there"), own);
    }
    assert_eq!(ask(&home, &["--from", "claude", "--write"])["data"]["effect"], "written");
    let text = fs::read_to_string(&config).expect("there");
    assert!(text.starts_with(own) && text.matches("[[approvals]]").count() == 3, "{text}");
    let checked = home.run(&["config", "check"]);
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stdout));
    assert_eq!(ask(&home, &["--from", "claude", "--write"])["data"]["effect"], "unchanged");
}

#[test]
fn each_agent_is_read_in_its_own_places_and_a_file_that_cannot_be_read_is_named() {
    let home = Home::new();
    put(
        &home,
        ".codex/rules/default.rules",
        "prefix_rule(pattern=[\"git\", \"push\"], decision=\"prompt\")\n",
    );
    put(&home, ".codex/rules/odd.rules", "for x in y: z()\n");
    put(
        &home,
        ".gemini/policies/mine.toml",
        "[[rule]]\ncommandPrefix = \"rm -rf\"\ndecision = \"deny\"\npriority = 1\n",
    );
    let codex = ask(&home, &["--from", "codex"]);
    assert_eq!(codex["data"]["rules"][0]["rule"], json!({"prefix": "git push"}), "{codex:#}");
    let left = codex["data"]["untranslated"].to_string();
    assert!(left.contains("odd.rules") && left.contains("cannot be read"), "{left}");
    let gemini = ask(&home, &["--from", "gemini"]);
    assert_eq!(gemini["data"]["rules"][0]["rule"], json!({"prefix": "rm -rf"}), "{gemini:#}");
    assert_eq!(ask(&home, &["--from", "claude"])["data"]["effect"], "unchanged");
    assert_eq!(ask(&home, &[])["error"]["code"], "ARG_ERROR");
    assert!(!home.workspace().join("../config/pilothouse/config.toml").exists());
}
