//! `pilothouse mcp install`: agents' own files merged and restored; and `mcp config`, which prints what to paste.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::{Home, check_line, program_path};

const AGENTS: [&str; 9] =
    ["claude", "codex", "gemini", "opencode", "copilot", "qwen", "cursor", "vscode", "zed"];

fn home_of(home: &Home) -> PathBuf {
    home.workspace().parent().expect("a home").to_owned()
}

/// Runs a command; returns its answer and its exit code.
fn ask(home: &Home, args: &[&str]) -> (Value, i32) {
    let output = home.call(args);
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    check_line(&answer);
    (answer, output.status.code().expect("a code"))
}

fn install(home: &Home, args: &[&str]) -> Value {
    let args: Vec<&str> = ["mcp", "install"].iter().chain(args).copied().collect();
    let (answer, code) = ask(home, &args);
    assert_eq!(code, 0, "{answer:#}");
    answer["data"].clone()
}

fn put(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("made");
    fs::write(path, text).expect("written");
}

/// Every file below a folder with its text, except those in our own state folder.
fn files(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
        if entry.is_dir() && !entry.ends_with("state") {
            found.extend(files(&entry));
        } else if entry.is_file() {
            found.push((entry.clone(), fs::read_to_string(&entry).expect("text")));
        }
    }
    found.sort();
    found
}

#[test]
fn undoing_an_installation_restores_every_file_exactly() {
    for agent in AGENTS {
        let home = Home::new();
        let before = files(&home_of(&home));
        let installed = install(&home, &[agent]);
        assert_eq!(installed["effect"], "installed", "{agent}");
        for file in installed["files"].as_array().expect("files") {
            let text = fs::read_to_string(file["path"].as_str().expect("a path")).expect("made");
            assert!(text.contains("pilothouse") || text.contains("Bash"), "{agent}: {text}");
            assert_eq!(file["change"], "created", "{agent}");
            assert!(file["diff"].as_str().expect("a diff").contains("+++ "), "{agent}");
        }
        assert_eq!(install(&home, &[agent])["effect"], "unchanged", "{agent}: idempotent");
        assert_eq!(install(&home, &[agent, "--undo"])["effect"], "removed", "{agent}");
        assert_eq!(files(&home_of(&home)), before, "{agent}");
        let folders = fs::read_dir(home_of(&home)).expect("a folder").count();
        assert!(folders <= 3, "{agent}: only state is new beside workspace and run");
    }
}

#[test]
fn a_file_of_the_person_keeps_its_comments_its_mode_and_everything_else() {
    for (agent, path, text) in [
        ("claude", ".claude.json", "{\n  \"numStartups\": 3,\n  \"projects\": {}\n}"),
        (
            "codex",
            ".codex/config.toml",
            "# mine\nmodel = \"gpt-5.5\"   # best\n\n[features]\nweb = true\n# end\n",
        ),
        ("gemini", ".gemini/settings.json", "{\n\t// comment\n\t\"theme\": \"x\",\n}\n"),
        (
            "opencode",
            "config/opencode/opencode.jsonc",
            "{ /* a */ \"permission\": { \"edit\": \"ask\" }, }\n",
        ),
        ("zed", "config/zed/settings.json", "// Zed settings\n{\n  \"vim_mode\": true,\n}\n"),
    ] {
        let home = Home::new();
        let file = home_of(&home).join(path);
        put(&file, text);
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).expect("set");
        let before = files(&home_of(&home));
        install(&home, &[agent]);
        let after = fs::read_to_string(&file).expect("there");
        assert!(after.contains("pilothouse"), "{agent}: {after}");
        for comment in ["# mine", "# best", "// comment", "/* a */", "// Zed settings"] {
            assert_eq!(after.contains(comment), text.contains(comment), "{agent}: {after}");
        }
        assert_eq!(file.metadata().expect("there").permissions().mode() & 0o777, 0o640, "{agent}");
        install(&home, &[agent, "--undo"]);
        assert_eq!(files(&home_of(&home)), before, "{agent}");
    }
}

#[test]
fn undoing_an_installation_leaves_later_edits_in_place() {
    let home = Home::new();
    let file = home_of(&home).join(".codex/config.toml");
    put(&file, "model = \"a\"\n");
    install(&home, &["codex"]);
    let edited = fs::read_to_string(&file).expect("there").replace("\"a\"", "\"b\"");
    fs::write(&file, format!("{edited}\n[mcp_servers.other]\ncommand = \"x\"\n")).expect("edited");
    let undone = install(&home, &["codex", "--undo"]);
    assert_eq!(undone["effect"], "removed");
    let text = fs::read_to_string(&file).expect("there");
    assert_eq!(text, "model = \"b\"\n\n[mcp_servers.other]\ncommand = \"x\"\n");
    let (answer, code) = ask(&home, &["mcp", "install", "codex", "--undo"]);
    assert_eq!((code, &answer["error"]["code"]), (4, &json!("PRECONDITION")), "{answer:#}");
}

#[test]
fn a_rule_the_person_had_is_not_taken_back_and_a_value_that_differs_is_kept() {
    let home = Home::new();
    let settings = home.workspace().join(".claude/settings.json");
    put(&settings, "{\"permissions\": {\"deny\": [\"Bash\"]}}\n");
    install(&home, &["claude", "--scope", "project"]);
    assert!(home.workspace().join(".mcp.json").exists());
    fs::write(&settings, fs::read_to_string(&settings).expect("there") + "\n").expect("edited");
    install(&home, &["claude", "--undo"]);
    let left: Value = serde_json::from_str(&fs::read_to_string(&settings).expect("there")).expect("JSON");
    assert_eq!(left, json!({"permissions": {"deny": ["Bash"]}}));

    let config = home_of(&home).join("config/opencode/opencode.json");
    put(&config, "{\"permission\": {\"bash\": \"ask\"}}");
    let installed = install(&home, &["opencode"]);
    assert_eq!(installed["files"][0]["kept"], json!(["permission.bash"]));
}

#[test]
fn a_file_that_cannot_be_merged_is_refused_and_nothing_changes() {
    let link = |path: &Path| {
        put(&path.with_file_name("real"), "{}");
        std::os::unix::fs::symlink("real", path).expect("linked");
    };
    let broken = |path: &Path| put(path, "{ \"mcpServers\": ");
    let folder = |path: &Path| fs::create_dir_all(path).expect("made");
    let odd = [
        ("is a link", &link as &dyn Fn(&Path)),
        ("cannot be merged", &broken),
        ("not a regular file", &folder),
    ];
    for (reason, make) in odd {
        let home = Home::new();
        make(&home.workspace().join(".mcp.json"));
        let before = files(&home_of(&home));
        for args in [&["--dry-run"][..], &[]] {
            let args: Vec<&str> =
                ["mcp", "install", "claude", "--scope", "project"].iter().chain(args).copied().collect();
            let (answer, code) = ask(&home, &args);
            let message = answer["error"]["message"].as_str().expect("a message");
            assert!(
                code != 0 && message.contains(reason) && message.contains("nothing was changed"),
                "{answer:#}"
            );
        }
        assert_eq!(files(&home_of(&home)), before, "{reason}");
        assert!(!home.places().state_dir.join("mcp-install.json").exists(), "{reason}");
    }
    let home = Home::new();
    let (answer, code) = ask(&home, &["mcp", "install", "copilot", "--scope", "project"]);
    assert_eq!((code, &answer["error"]["fix_required"]), (2, &json!("pass one of: user")), "{answer:#}");
}

#[test]
fn a_dry_run_shows_the_exact_change_and_makes_none() {
    let home = Home::new();
    put(
        &home_of(&home).join(".cursor/mcp.json"),
        "{\n  \"mcpServers\": {\n    \"a\": { \"token\": \"s3cret\" }\n  }\n}\n",
    );
    let before = files(&home_of(&home));
    let told = install(&home, &["cursor", "--dry-run"]);
    assert_eq!(told["effect"], "would_install");
    assert_eq!(files(&home_of(&home)), before);
    let done = install(&home, &["cursor"]);
    let diff = done["files"][0]["diff"].as_str().expect("a diff");
    assert_eq!(told["files"][0]["diff"], diff);
    assert!(diff.contains("+    \"pilothouse\": {") && !diff.contains("s3cret "), "{diff}");
    let plain = home.call(&["mcp", "install", "cursor", "--undo", "--dry-run", "--output", "plain"]);
    let text = String::from_utf8(plain.stdout).expect("text");
    assert!(text.starts_with("--- ") && text.contains("\n-    \"pilothouse\": {"), "{text}");
}

#[test]
fn the_program_is_named_where_the_path_leads_to_it_and_else_by_its_path() {
    let home = Home::new();
    let config = |args: &[&str], path: &Path| {
        let path = path.display().to_string();
        let output = home.call_with(&[("PATH", &path)], &[&["mcp", "config"], args].concat());
        String::from_utf8(output.stdout).expect("text")
    };
    let bin = home_of(&home).join("bin");
    fs::create_dir(&bin).expect("made");
    let absolute = format!("\"command\": {}", json!(program_path()));
    assert!(config(&["claude"], &bin).contains(&absolute));
    std::os::unix::fs::symlink(program_path(), bin.join("pilothouse")).expect("linked");
    assert!(config(&["claude"], &bin).contains("\"command\": \"pilothouse\""));
    assert!(config(&["cursor"], &bin).contains(&absolute), "an editor has not the PATH of a shell");
    fs::remove_file(bin.join("pilothouse")).expect("removed");
    let shared = config(&["claude", "--scope", "project"], &bin);
    assert!(shared.contains("\"command\": \"pilothouse\""), "a shared file names it: {shared}");
}

#[test]
fn mcp_config_prints_the_file_itself_also_into_a_pipe() {
    let home = Home::new();
    for agent in AGENTS {
        let output = home.call(&["mcp", "config", agent]);
        let (text, notes) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        match agent {
            "codex" => drop(text.parse::<toml::Table>().expect(&text)),
            _ => drop(serde_json::from_str::<Value>(&text).expect(&text)),
        }
        assert!(
            notes.contains("what this takes away") && notes.contains("without a sandbox"),
            "{agent}: {notes}"
        );
        assert!(notes.contains("approval"), "{agent}: {notes}");
        let is_untested = ["cursor", "vscode", "zed"].contains(&agent);
        assert_eq!(notes.contains("not tested"), is_untested, "{agent}: {notes}");
    }
    let policy = home.call(&["mcp", "config", "gemini", "--part", "permissions"]);
    let policy: toml::Table = String::from_utf8_lossy(&policy.stdout).parse().expect("TOML");
    assert_eq!(policy["rule"].as_array().map(Vec::len), Some(2), "{policy:?}");
    let (envelope, _) = ask(&home, &["mcp", "config", "claude", "--output", "json"]);
    assert_eq!(envelope["data"]["agent"], "claude");
}
