//! `pilothouse adopt`: an agent's own shell permanently replaced by Pilothouse, and restored exactly.

use serde_json::{Value, json};

use crate::support::{Home, check_line, shell_program};

fn ask(home: &Home, args: &[&str]) -> (Value, i32) {
    let mut command = home.command(args);
    command.env_remove("CLAUDE_CONFIG_DIR").env_remove("XDG_DATA_HOME").env("SHELL", "/bin/bash");
    let output = command.output().expect("runs");
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    check_line(&answer);
    (answer, output.status.code().expect("a code"))
}

#[test]
fn adopting_an_agent_redirects_its_shell_and_undoing_restores_the_file_exactly() {
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
    assert!(after.contains("/pilothouse/shells/told/bash\"") && after.contains("// mine"), "{after}");
    // Its hooks tell of its own prompts.
    let hooks = &serde_json::from_str::<Value>(&after.replace("// mine", "")).expect("JSON")["hooks"];
    let hook = &hooks["PermissionRequest"][0]["hooks"][0];
    assert!(hook["command"].as_str().is_some_and(|command| command.ends_with(" hook claude")), "{after}");
    assert_eq!(hook["timeout"], 3_600, "the agent's own limit would end it after a minute");
    let link = after.split('"').find(|word| word.ends_with("/told/bash")).expect("a link");
    let named = std::fs::canonicalize(link).expect("the link names something");
    assert_eq!(named, shell_program().canonicalize().expect("the program for shells"));
    let (again, _) = ask(&home, &["adopt", "claude"]);
    assert_eq!(again["data"]["effect"], "unchanged");

    // The agent's MCP entry is independent of it.
    ask(&home, &["mcp", "install", "claude", "--scope", "user"]);
    ask(&home, &["mcp", "install", "claude", "--undo"]);
    assert_eq!(read(), after);
    let (undone, code) = ask(&home, &["adopt", "claude", "--undo"]);
    assert_eq!((&undone["data"]["effect"], code), (&json!("removed"), 0), "{undone}");
    assert_eq!(read(), before);
    assert_eq!(ask(&home, &["adopt", "claude", "--undo"]).1, 4, "there is nothing left to take back");
}

#[test]
fn edits_of_a_person_after_the_adoption_stay_to_the_byte() {
    let home = Home::new();
    let user = home.workspace().join("..");
    let settings = user.join(".claude/settings.json");
    std::fs::create_dir_all(settings.parent().expect("a folder")).expect("made");
    std::fs::write(&settings, "\u{feff}{\r\n  // mine\r\n  \"theme\": \"dark\"\n}").expect("written");
    assert_eq!(ask(&home, &["adopt", "claude"]).1, 0);
    let adopted = std::fs::read_to_string(&settings).expect("text");
    assert!(adopted.contains("CLAUDE_CODE_SHELL"), "{adopted}");
    let edited = adopted.replace("// mine\r\n", "// mine\r\n\n\t/* more */ ").replace("dark", "light");
    std::fs::write(&settings, edited).expect("written");
    assert_eq!(ask(&home, &["adopt", "claude", "--undo"]).1, 0);
    let expected = "\u{feff}{\r\n  // mine\r\n\n\t/* more */   \"theme\": \"light\"\n}";
    assert_eq!(std::fs::read_to_string(&settings).expect("text"), expected);

    // Of a file that was not there before, nothing is left, whatever its line ends have become.
    ask(&home, &["adopt", "copilot"]);
    let hooks = user.join(".copilot/hooks/pilothouse.json");
    let text = std::fs::read_to_string(&hooks).expect("text").replace('\n', "\r\n");
    std::fs::write(&hooks, text).expect("written");
    assert_eq!(ask(&home, &["adopt", "copilot", "--undo"]).1, 0);
    assert!(!user.join(".copilot").exists());
}

#[test]
fn an_agent_without_a_setting_for_its_shell_says_what_to_do_instead() {
    let home = Home::new();
    for (agent, fix) in [("gemini", "pilothouse gemini"), ("cursor", "pilothouse mcp install")] {
        let (refused, code) = ask(&home, &["adopt", agent]);
        assert_eq!(code, 4, "{refused}");
        assert!(refused["error"].to_string().contains(fix), "{refused}");
    }
}

#[test]
fn adopting_pi_writes_only_settings_that_pi_reads() {
    let home = Home::new();
    let settings = home.workspace().join("../.pi/agent/settings.json");
    std::fs::create_dir_all(settings.parent().expect("a folder")).expect("made");
    let adopt = |before: &str| {
        std::fs::write(&settings, before).expect("written");
        let (answer, code) = ask(&home, &["adopt", "pi"]);
        (answer.to_string(), code, std::fs::read_to_string(&settings).expect("text"))
    };
    // pi 1.5.2 ignores all of a file that has a comment.
    let commented = "{\n  // mine\n  \"theme\": \"dark\"\n}\n";
    let (refused, code, after) = adopt(commented);
    assert_eq!((code, after.as_str()), (4, commented), "{refused}");
    assert!(refused.contains("plain JSON"), "{refused}");
    let own = "{\"shellPath\":\"/bin/bash\"}\n";
    let (kept, code, after) = adopt(own);
    assert!(code == 0 && after.contains("\"shellPath\":\"/bin/bash\""), "{kept} {after}");
    assert!(after.contains("/pilothouse/plugins/pi/plugin.js"), "{after}");
    assert!(kept.contains("keep that shell") && !kept.contains("new sessions are routed"), "{kept}");
    let before = "{\n    \"theme\":\"dark\",   \"unknown\": {\"a\":[1,2]}\n}";
    let (adopted, code, after) = adopt(before);
    assert!(code == 0 && after.starts_with(before.trim_end_matches("\n}")), "{adopted} {after}");
    assert!(after.contains("/pilothouse/shells/told/bash\""), "{after}");
    let (undone, code) = ask(&home, &["adopt", "pi", "--undo"]);
    assert_eq!(code, 0, "{undone}");
    assert_eq!(std::fs::read_to_string(&settings).expect("text"), before);
}

#[test]
fn adopting_codex_makes_our_environment_the_default_and_leaves_out_the_local_one() {
    let home = Home::new();
    let folder = home.workspace().join("../.codex");
    let file = folder.join("environments.toml");
    let ask = |args: &[&str]| {
        let output = home.command(args).env_remove("CODEX_HOME").output().expect("runs");
        let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        check_line(&answer);
        (answer, output.status.code().expect("a code"))
    };
    let started = home.command(&["codex"]).env_remove("CODEX_HOME").output().expect("runs");
    assert_eq!(started.status.code(), Some(4));
    assert!(String::from_utf8_lossy(&started.stderr).contains("pilothouse adopt codex"));

    let (told, _) = ask(&["adopt", "codex", "--dry-run"]);
    assert!(
        told["data"]["files"][0]["diff"].as_str().is_some_and(|diff| diff.contains("codex-executor")),
        "{told}"
    );
    assert!(!file.exists());
    ask(&["adopt", "codex"]);
    let own = std::fs::read_to_string(&file).expect("text");
    let settings: toml::Table = own.parse().expect("TOML");
    assert_eq!(settings["default"].as_str(), Some("pilothouse"));
    assert_eq!(settings["include_local"].as_bool(), Some(false));
    let environment = &settings["environments"][0];
    assert_eq!(environment["args"].as_array().expect("arguments")[0].as_str(), Some("codex-executor"));
    assert_eq!(ask(&["adopt", "codex"]).0["data"]["effect"], "unchanged");
    assert_eq!(ask(&["adopt", "codex", "--undo"]).0["data"]["effect"], "removed");
    assert!(!file.exists(), "it was not there before");

    let mine = "# mine\ndefault = \"box\"\n\n[[environments]]\nid = \"box\"\nurl = \"ws://127.0.0.1:1\"\n";
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(&file, mine).expect("written");
    let (adopted, _) = ask(&["adopt", "codex"]);
    assert_eq!(adopted["data"]["files"][0]["kept"], json!(["default"]), "{adopted}");
    assert!(adopted["data"]["notes"].to_string().contains("default"), "{adopted}");
    assert!(std::fs::read_to_string(&file).expect("text").starts_with("# mine\ndefault = \"box\"\n"));
    ask(&["adopt", "codex", "--undo"]);
    assert_eq!(std::fs::read_to_string(&file).expect("text"), mine);

    std::fs::write(&file, "[[environments]]\nid = \"pilothouse\"\nprogram = \"/old\"\n").expect("written");
    let (refused, code) = ask(&["adopt", "codex"]);
    assert_eq!(code, 4, "{refused}");
    assert!(refused["error"].to_string().contains("--undo"), "{refused}");
}

#[test]
fn a_plugin_is_installed_and_taken_back_to_the_letter() {
    let home = Home::new();
    let settings = home.workspace().join("../config/kilo/tui.json");
    std::fs::create_dir_all(settings.parent().expect("a folder")).expect("made");
    let before = "{\n  // mine\n  \"theme\": \"x\",\n  \"plugin\": [\"./own.js\"]\n}\n";
    std::fs::write(&settings, before).expect("written");
    let (adopted, code) = ask(&home, &["adopt", "kilo"]);
    assert_eq!(code, 0, "{adopted}");
    assert!(adopted.to_string().contains("start it with `pilothouse kilo`"), "{adopted}");
    let after = std::fs::read_to_string(&settings).expect("text");
    let plugin = after.split('"').find(|word| word.ends_with("/plugins/kilo/plugin.js")).expect("a plugin");
    let text = std::fs::read_to_string(plugin).expect("its text");
    assert!(text.contains(r#""hook","kilo"]"#), "it starts our hook");
    assert!(after.contains("./own.js") && after.contains("// mine"), "{after}");
    assert_eq!(ask(&home, &["adopt", "kilo"]).0["data"]["effect"], "unchanged");
    assert_eq!(ask(&home, &["adopt", "kilo", "--undo"]).1, 0);
    assert_eq!(std::fs::read_to_string(&settings).expect("text"), before);
}

#[test]
fn adopting_copilot_installs_a_hook_file_and_undoing_removes_it() {
    let home = Home::new();
    let folder = home.workspace().join("../.copilot");
    let (adopted, code) = ask(&home, &["adopt", "copilot"]);
    assert_eq!((&adopted["data"]["effect"], code), (&json!("installed"), 0), "{adopted}");
    assert!(adopted.to_string().contains("start it with `pilothouse copilot`"), "{adopted}");
    let text = std::fs::read_to_string(folder.join("hooks/pilothouse.json")).expect("text");
    let hooks = serde_json::from_str::<Value>(&text).expect("JSON")["hooks"].clone();
    let command = hooks["Notification"][0]["hooks"][0]["command"].as_str().expect("a command");
    assert!(command.ends_with(" hook copilot"), "{text}");
    // Both run before its own rules, and a late one lets the call be made.
    assert!(hooks["PreToolUse"].is_null() && hooks["PermissionRequest"].is_null(), "{text}");
    let (undone, code) = ask(&home, &["adopt", "copilot", "--undo"]);
    assert_eq!((&undone["data"]["effect"], code), (&json!("removed"), 0), "{undone}");
    assert!(!folder.exists());
}

#[test]
fn an_agent_waits_for_an_answer_here_only_where_its_user_wants_that() {
    let home = Home::new();
    for (agent, file) in [("codex", ".codex/hooks.json"), ("qwen", ".qwen/settings.json")] {
        let file = home.workspace().join("..").join(file);
        let waits = || {
            let text = std::fs::read_to_string(&file).expect("text");
            let settings: Value = serde_json::from_str(&text).expect("JSON");
            let prompts = settings["hooks"]["PermissionRequest"].as_array().expect("hooks").clone();
            prompts.iter().map(|entry| entry["hooks"][0]["timeout"].as_u64().expect("s")).collect::<Vec<_>>()
        };
        home.configure("config.toml", "");
        assert_eq!(ask(&home, &["adopt", agent]).1, 0);
        assert!(waits() <= vec![2], "{:?}", waits());
        home.configure("config.toml", "[agents]\nhold_prompts = true\n");
        let (refused, code) = ask(&home, &["adopt", agent]);
        assert_eq!(code, 4, "{refused}");
        assert!(refused["error"].to_string().contains("--undo"), "{refused}");
        assert_eq!(ask(&home, &["adopt", agent, "--undo"]).1, 0);
        assert_eq!(ask(&home, &["adopt", agent]).1, 0);
        assert_eq!(waits(), [25]);
    }
}
