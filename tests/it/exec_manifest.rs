//! Everything derived from the registry: manifest, reference, completions and manual page, and the answers of
//! single commands.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::{Home, check_line, exec};

fn answer(home: &Home, args: &[&str]) -> Value {
    let output = home.run(args);
    let value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        panic!("{args:?}: {error} in {}", String::from_utf8_lossy(&output.stdout));
    });
    check_line(&value);
    let code = value["meta"]["exit_code"].as_i64();
    assert_eq!(output.status.code().map(i64::from), code, "{args:?}");
    value
}

#[test]
fn the_manifest_tells_all_about_every_command() {
    let manifest = answer(&Home::new(), &["manifest"]);
    let data = &manifest["data"];
    assert_eq!(data["schema_version"], "1.0");
    assert!(data["etag"].as_str().is_some_and(|etag| etag.len() == 16));
    for (path, entry) in data["commands"].as_object().expect("commands") {
        for key in
            ["description", "danger_level", "aliases", "flags", "exit_codes", "input_schema", "output_schema"]
        {
            assert!(!entry[key].is_null(), "{path} has no {key}");
        }
        assert!(entry["examples"].as_array().is_some_and(|examples| !examples.is_empty()), "{path}");
        for (code, exit) in entry["exit_codes"].as_object().expect("codes") {
            assert_eq!(exit, &data["exit_codes"][code], "{path}: {code}");
            assert!(exit["retryable"] == false || exit["side_effects"] == "none", "{path}: {code}");
        }
        assert_eq!(entry["exit_codes"]["0"]["name"], "SUCCESS", "{path}");
        for (flag, of) in entry["flags"].as_object().expect("flags") {
            assert!(of["required"].is_boolean() && of.get("default").is_some(), "{path}: {flag}");
        }
    }
    let run = &data["commands"]["command.run"]["flags"];
    assert_eq!((&run["cmd"]["required"], &run["cmd"]["positional"]), (&json!(true), &json!(true)));
    assert_eq!((&run["yield-time-ms"]["default"], &run["tty"]["default"]), (&json!(10_000), &json!(false)));
    assert!(data["flags"]["dry-run"].is_object());
    let entry = &data["commands"]["exec"];
    assert_eq!((&entry["danger_level"], &entry["stdin_input"]), (&json!("destructive"), &json!(65_536)));
    assert_eq!(data["commands"]["command.run"]["danger_level"], "destructive");
    assert_eq!(data["commands"]["task.list"]["danger_level"], "safe");
    assert_eq!(data["commands"]["serve"]["dispatchable"], false);
    // The same as an answer to an input line, and the same every time.
    let home = Home::new();
    let ran = exec(&home, &[], "{\"_cmd\":\"manifest\"}\n{\"_cmd\":\"manifest\"}\n");
    assert_eq!((&ran.of(1)["data"], &ran.of(2)["data"]), (data, data));
}

#[test]
fn a_manifest_that_the_caller_has_is_not_sent_again() {
    let home = Home::new();
    let etag = answer(&home, &["manifest"])["data"]["etag"].as_str().expect("an etag").to_owned();
    for given in [etag.clone(), format!("\"{etag}\"")] {
        let same = answer(&home, &["manifest", "--etag", &given]);
        assert_eq!((&same["meta"]["not_modified"], &same["data"]["etag"]), (&json!(true), &json!(etag)));
        assert!(same["data"].get("commands").is_none());
    }
    let other = answer(&home, &["manifest", "--etag", "0000000000000000"]);
    assert!(other["meta"].get("not_modified").is_none() && other["data"]["commands"].is_object());
}

#[test]
fn the_schemas_of_a_command_are_asked_for_without_an_input() {
    let home = Home::new();
    let manifest = answer(&home, &["manifest"]);
    for words in [["command", "run"], ["task", "stop"], ["config", "edit"]] {
        let told = answer(&home, &[&words[..], &["--schema"]].concat());
        let entry = &manifest["data"]["commands"][words.join(".")];
        assert_eq!(told["data"]["input_schema"], entry["input_schema"], "{words:?}");
        assert_eq!(told["data"]["output_schema"], entry["output_schema"], "{words:?}");
    }
    let line = json!({"_cmd": "command.run", "_opts": {"schema": true}}).to_string();
    let of = &manifest["data"]["commands"]["command.run"];
    assert_eq!(exec(&home, &[], line).of(1)["data"]["input_schema"], of["input_schema"]);
    let raw = answer(&home, &["command", "run", "--raw-payload", r#"{"cmd":"echo raw"}"#]);
    assert_eq!(raw["data"]["stdout_preview"], "raw\n");
}

#[test]
fn whoever_sees_exit_code_2_reads_one_plain_line_about_it() {
    let home = Home::new();
    for args in [
        &["command", "run"][..],
        &["command", "run", "--input", "{"],
        &["command", "run", " "],
        &["command", "run", "true", "--timeout", "soon"],
        &["nothing"],
    ] {
        let output = home.run(args);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), said.lines().count()), (Some(2), 1), "{args:?}: {said}");
        assert!(!said.trim().is_empty() && said.starts_with("pilothouse: "), "{args:?}: {said}");
    }
    for (lines, why) in
        [("not json\n", "line 1: The line is not JSON."), ("", "The stream contains no lines.")]
    {
        let ran = exec(&home, &[], lines);
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(2), &*format!("pilothouse: {why}\n")));
    }
    assert_eq!(exec(&home, &[], r#"{"_cmd":"nothing"}"#).stderr, "");
}

#[test]
fn every_path_of_the_manifest_is_known_to_exec() {
    let home = Home::new();
    let manifest = answer(&home, &["manifest"]);
    let paths: Vec<&String> = manifest["data"]["commands"].as_object().expect("commands").keys().collect();
    let lines: String = paths.iter().map(|path| format!("{}\n", json!({ "_cmd": path }))).collect();
    let ran = exec(&home, &["--dry-run", "--ignore-errors"], lines);
    assert_eq!(ran.lines.len(), paths.len());
    let unknown: BTreeSet<_> = ran
        .lines
        .iter()
        .filter(|line| line["error"]["code"] == "UNKNOWN_COMMAND")
        .map(|line| line["meta"]["_cmd"].as_str().expect("its path"))
        .collect();
    assert_eq!(unknown, BTreeSet::new());
    let not_dispatchable = |path: &str| manifest["data"]["commands"][path]["dispatchable"] == false;
    for line in &ran.lines {
        let path = line["meta"]["_cmd"].as_str().expect("its path");
        let refused =
            ["UNKNOWN_COMMAND", "NOT_DISPATCHABLE"].iter().any(|code| line["error"]["code"] == *code);
        assert_eq!(refused, not_dispatchable(path), "{line}");
    }
}

#[test]
fn the_examples_of_the_manifest_can_be_pasted_into_a_shell() {
    let home = Home::new();
    home.configure("config.toml", "[hosts.box]\nvia = [\"false\"]\n");
    let manifest = answer(&home, &["manifest"]);
    for (path, entry) in manifest["data"]["commands"].as_object().expect("commands") {
        if entry["dispatchable"] == false {
            continue;
        }
        for example in entry["examples"].as_array().expect("examples") {
            let line = example["cli"].as_str().expect("a command line");
            let mut sh = std::process::Command::new("sh");
            home.settle(&mut sh);
            let program = crate::support::program_word();
            let aliased = format!("pilothouse() {{ {program} \"$@\"; }}\n{line} --dry-run --output json");
            let output = sh.args(["-c", &aliased]).output().expect("sh runs");
            let answer: Value = serde_json::from_slice(&output.stdout).expect("an answer");
            // What an example refers to need not exist.
            let missing = [
                "TASK_NOT_FOUND",
                "QUESTION_NOT_FOUND",
                "NOT_FOUND",
                "PRECONDITION",
                "INPUT_FILE_UNREADABLE",
                "UNAVAILABLE",
            ];
            let is_missing = missing.iter().any(|code| answer["error"]["code"] == *code);
            assert!(answer["ok"] == true || is_missing, "{path}: {line}: {answer}");
        }
    }
}

#[test]
fn the_reference_is_written_from_the_registry() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("docs/reference/cli.md");
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    let now = format!("{}\n", pilothouse::dispatch::reference().trim_end());
    assert!(written == now, "renew it: cargo run -- manifest --output plain > docs/reference/cli.md");
}

#[test]
fn completions_and_the_manual_page_are_written_from_the_registry() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish"] {
        let output = home.run(&["completions", shell]);
        let script = String::from_utf8(output.stdout).expect("text");
        assert!(output.status.success() && script.contains("validate-only"), "{shell}: {script}");
        assert_eq!(
            answer(&home, &["completions", shell, "--output", "json"])["data"]["script"],
            script,
            "{shell}"
        );
    }
    let script = home.run(&["completions", "bash", "--output", "plain"]).stdout;
    let file = home.workspace().join("completions.bash");
    std::fs::write(&file, script).expect("written");
    let checked = std::process::Command::new("bash").arg("-n").arg(&file).status();
    assert!(checked.is_ok_and(|status| status.success()), "bash reads the script");
    let page = String::from_utf8(home.run(&["man"]).stdout).expect("text");
    assert!(page.contains(".TH pilothouse 1") && page.contains("manifest"), "{page}");
    let folder = home.workspace().join("man1");
    let would = answer(&home, &["man", "--folder", "man1", "--dry-run", "--output", "json"]);
    assert!(!folder.exists(), "{would}");
    assert!(home.run(&["man", "--folder", "man1"]).status.success());
    // Pages refer only to pages that exist.
    for file in folder.read_dir().expect("the folder").flatten() {
        let page = std::fs::read_to_string(file.path()).expect("text").replace('\\', "");
        for named in page.lines().filter_map(|line| line.strip_suffix("(1)")) {
            assert!(folder.join(format!("{named}.1")).exists(), "{named} of {:?}", file.path());
        }
    }
    let list = std::fs::read_to_string(folder.join("pilothouse-task-list.1")).expect("a page");
    assert!(list.contains("pilothouse task list") && list.contains("Examples"), "{list}");
}

#[test]
fn a_single_command_answers_with_five_keys_and_its_exit_code() {
    let home = Home::new();
    for (args, code) in [
        (vec!["version"], "ok"),
        (vec!["command", "run", "exit 3"], "CHILD_EXIT_NONZERO"),
        (vec!["command", "run", "exit 3", "--ok-exit-codes", "3"], "ok"),
        (vec!["command", "run", "touch made", "--dry-run"], "ok"),
        (vec!["command", "run", "--input", "{"], "ARG_ERROR"),
        (vec!["command", "run", "--input", r#"{"cmd":"true","bogus":1}"#], "INVALID_TOOL_INPUT"),
        (vec!["command", "run", "sleep 30", "--timeout", "600ms"], "TIMEOUT"),
        (vec!["command", "run", "true", "--timeout", "soon"], "ARG_ERROR"),
        (vec!["task", "status", "task_00000000"], "TASK_NOT_FOUND"),
        (vec!["task", "nothing"], "ARG_ERROR"),
        (vec!["nothing"], "ARG_ERROR"),
        (vec!["exec", "--output", "table"], "ARG_ERROR"),
        (vec!["serve", "--stop", "--dry-run"], "ok"),
        (vec!["serve", "--stop"], "ok"),
        (vec!["mcp", "config", "claude", "--output", "json"], "ok"),
    ] {
        let answer = answer(&home, &args);
        assert_eq!(answer["error"]["code"].as_str().unwrap_or("ok"), code, "{args:?}: {answer}");
    }
    assert!(!home.workspace().join("made").exists());
}

#[test]
fn the_forms_of_an_answer_are_chosen_by_a_flag() {
    let home = Home::new();
    let text = |args: &[&str]| String::from_utf8(home.run(args).stdout).expect("text");
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(text(&["version", "--output", "plain"]), format!("pilothouse {version}\n"));
    assert!(text(&["version", "--format", "table"]).starts_with("name            pilothouse\nversion"));
    assert_eq!(text(&["version", "--output", "jsonl"]).lines().count(), 1);
    // Anything that is not data goes to standard error.
    let refused = home.run(&["task", "status", "task_00000000", "--output", "plain"]);
    assert_eq!((refused.stdout.len(), refused.status.code()), (0, Some(5)));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("fix: call TaskList"));
}

#[test]
fn the_whole_input_comes_from_standard_input_or_a_file_too() {
    let home = Home::new();
    std::fs::write(home.workspace().join("in.json"), r#"{"cmd":"echo from a file"}"#).expect("written");
    let answer = answer(&home, &["command", "run", "--input", "@in.json"]);
    assert_eq!(answer["data"]["stdout_preview"], "from a file\n");
}
