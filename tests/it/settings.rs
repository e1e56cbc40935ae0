//! `config.toml`: what it changes, what is reported when it is wrong, and that its reference is complete and true.

use std::path::Path;

use pilothouse::config::Settings;
use serde_json::Value;

use crate::support::Home;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn json(output: &std::process::Output) -> Value {
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// The keys of a schema, with their tables, joined by dots.
fn keys(schema: &Value, path: &str, found: &mut Vec<String>) {
    for (key, inner) in schema["properties"].as_object().into_iter().flatten() {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        if inner["properties"].is_object() { keys(inner, &path, found) } else { found.push(path) }
    }
}

#[test]
fn the_checked_in_schema_is_that_of_the_program() {
    let path = root().join("docs/reference/config.schema.json");
    let text = format!("{:#}\n", Settings::schema());
    if std::env::var_os("UPDATE_REFERENCE").is_some() {
        std::fs::write(&path, &text).expect("written");
    }
    let there = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        there == text,
        "run `UPDATE_REFERENCE=1 cargo test --test it settings` and look at the difference"
    );
}

#[test]
fn the_documented_table_of_settings_is_complete() {
    let page = std::fs::read_to_string(root().join("docs/config.md")).expect("docs/config.md");
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
    let told: Vec<String> = rows.map(|(key, _)| key.to_owned()).filter(|key| !key.contains(' ')).collect();
    let mut known = Vec::new();
    keys(&Settings::schema(), "", &mut known);
    let mut told_of_settings: Vec<_> = told.iter().filter(|key| known.contains(*key)).cloned().collect();
    told_of_settings.dedup();
    known.sort();
    told_of_settings.sort();
    assert_eq!(told_of_settings, known, "the tables of docs/config.md");
}

#[test]
fn a_setting_reaches_the_commands_of_a_runtime() {
    let home = Home::new();
    home.configure(
        "config.toml",
        "[env]\ndrop = [\"*_TOKEN\"]\nset = { PAGER = \"more\", GREETING = \"ahoy\" }\n",
    );
    let line = "printf '%s %s %s' \"$PAGER\" \"$GREETING\" \"${SECRET_TOKEN-none}\"";
    let run = ["command", "run", "--login=false", line];
    let told = json(&home.call_with(&[("SECRET_TOKEN", "x")], &run));
    assert_eq!(told["data"]["stdout_preview"], "more ahoy none", "{told}");
}

#[test]
fn settings_that_cannot_be_used_start_no_runtime_and_say_where() {
    let home = Home::new();
    let path = home.configure("config.toml", "[limits]\ntasks = 3\nleese = \"5 s\"\n");
    let told = json(&home.run(&["command", "run", "true"]));
    assert_eq!(told["error"]["code"], "CONFIG_INVALID", "{told}");
    let fault = &told["error"]["context"]["faults"][0];
    assert_eq!(
        (&fault["line"], &fault["key"], &fault["near"]),
        (&3.into(), &"limits.leese".into(), &"lease".into())
    );
    let said = format!("{}:3: limits.leese: there is no such key; did you mean `lease`?", path.display());
    for args in [&["config", "check", "--output", "plain"][..], &["serve"], &["mcp"]] {
        let output = home.run(args);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && stderr.contains(&said), "{args:?}: {stderr}");
    }
}

#[test]
fn show_says_where_each_value_comes_from() {
    let home = Home::new();
    let own = home.configure("config.toml", "[limits]\nlease = \"30 s\"\ntasks = 8\n");
    let workspace = home.workspace().join(".pilothouse.toml");
    std::fs::write(&workspace, "[limits]\ntasks = 2\n").expect("written");
    let told = json(&home.call(&["config", "show", "--changed"]));
    let rows: Vec<_> =
        told["data"]["settings"].as_array().expect("rows").iter().map(|row| row.to_string()).collect();
    let row = |key: &str, value: &str, from: &Path, line: usize| {
        format!(r#"{{"key":"{key}","value":"{value}","from":"{}:{line}"}}"#, from.display())
    };
    let workspace = workspace.canonicalize().expect("there");
    assert_eq!(rows, [row("limits.lease", "\\\"30 s\\\"", &own, 2), row("limits.tasks", "2", &workspace, 2)]);
    let all = home.call(&["config", "show", "--output", "plain"]);
    assert!(String::from_utf8_lossy(&all.stdout).contains("# default"));
}

#[test]
fn an_environment_in_the_settings_of_a_workspace_is_ignored_and_reported() {
    let home = Home::new();
    let path = home.workspace().join(".pilothouse.toml");
    std::fs::write(path, "[env]\nset = { PAGER = \"evil\" }\n").expect("written");
    let told = json(&home.call(&["command", "run", "--login=false", "printf %s \"$PAGER\""]));
    assert_eq!(told["data"]["stdout_preview"], "cat", "{told}");
    let checked = home.call(&["config", "check", "--output", "plain"]);
    assert!(
        String::from_utf8_lossy(&checked.stderr).contains(".pilothouse.toml:1: env: there is no such key")
    );
}

#[test]
fn keys_are_listed_checked_and_compared() {
    let home = Home::new();
    let plain = |args: &[&str]| {
        let output = home.run(&[args, &["--output", "plain"]].concat());
        (
            output.status.success(),
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr),
        )
    };
    assert_eq!(plain(&["keys", "diff"]), (true, "Nothing differs.\n".into()));
    home.configure("keys.toml", "[tasks]\nstop = [\"X\", \"F7\"]\n");
    let (_, diff) = plain(&["keys", "diff"]);
    assert_eq!(diff.split_whitespace().collect::<Vec<_>>(), ["tasks.stop", "X", "F7", "was", "s"]);
    let listed = json(&home.run(&["keys", "list", "--context", "tasks"]));
    let stop = listed["data"]["keys"].as_array().expect("rows").iter().find(|row| row["action"] == "stop");
    assert_eq!(stop.expect("there")["keys"], serde_json::json!(["X", "F7"]));
    let path = home.configure("keys.toml", "[tasks]\nstop = [\"x\"]\nflay = [\"y\"]\n");
    let (well, told) = plain(&["keys", "check"]);
    assert!(
        !well && told.contains(&format!("{}:3: tasks.flay: there is no such action", path.display())),
        "{told}"
    );
    home.configure("config.toml", "[console]\ntheme = \"drak\"\n");
    let (well, told) = plain(&["config", "check"]);
    assert!(!well && told.contains("there is no theme `drak`; did you mean `dark`?"), "{told}");
}
