//! `pilothouse adopt`: an agent's own shell led here for good, and taken back to the letter.

use serde_json::{Value, json};

use crate::support::{Home, check_line, program};

fn ask(home: &Home, args: &[&str]) -> (Value, i32) {
    let mut command = home.command(args);
    command.env_remove("CLAUDE_CONFIG_DIR").env_remove("XDG_DATA_HOME").env("SHELL", "/bin/bash");
    let output = command.output().expect("runs");
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    check_line(&answer);
    (answer, output.status.code().expect("a code"))
}

#[test]
fn a_shell_is_led_here_and_back_to_the_letter_and_nothing_else_is_touched() {
    let home = Home::new();
    let user = home.workspace().join("..");
    let settings = user.join(".claude/settings.json");
    let before = "{\n  // mine\n  \"env\": { \"MINE\": \"1\" }\n}\n";
    std::fs::create_dir_all(settings.parent().expect("a folder")).expect("made");
    std::fs::write(&settings, before).expect("written");
    let read = || std::fs::read_to_string(&settings).expect("text");

    let (told, _) = ask(&home, &["adopt", "claude", "--dry-run"]);
    assert!(
        told["data"]["files"][0]["diff"].as_str().is_some_and(|diff| diff.contains("CLAUDE_CODE_SHELL")),
        "{told}"
    );
    assert_eq!(read(), before);

    let (adopted, code) = ask(&home, &["adopt", "claude"]);
    assert_eq!((&adopted["data"]["effect"], code), (&json!("installed"), 0), "{adopted}");
    let after = read();
    assert!(after.contains("/pilothouse/shells/pilothouse-bash\"") && after.contains("// mine"), "{after}");
    let link = after.split('"').find(|word| word.ends_with("/pilothouse-bash")).expect("a link");
    let named = std::fs::canonicalize(link).expect("the link names something");
    assert_eq!(named, program().canonicalize().expect("this program"));
    let (again, _) = ask(&home, &["adopt", "claude"]);
    assert_eq!(again["data"]["effect"], "unchanged");

    // What connects the agent is another matter.
    ask(&home, &["mcp", "install", "claude", "--scope", "user"]);
    ask(&home, &["mcp", "install", "claude", "--undo"]);
    assert_eq!(read(), after);
    let (undone, code) = ask(&home, &["adopt", "claude", "--undo"]);
    assert_eq!((&undone["data"]["effect"], code), (&json!("removed"), 0), "{undone}");
    assert_eq!(read(), before);
    assert_eq!(ask(&home, &["adopt", "claude", "--undo"]).1, 4, "there is nothing left to take back");
}

#[test]
fn an_agent_without_a_setting_for_its_shell_says_what_to_do_instead() {
    let home = Home::new();
    for (agent, fix) in [("gemini", "pilothouse gemini"), ("codex", "pilothouse mcp install")] {
        let (refused, code) = ask(&home, &["adopt", agent]);
        assert_eq!(code, 4, "{refused}");
        assert!(refused["error"].to_string().contains(fix), "{refused}");
    }
}
