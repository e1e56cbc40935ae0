//! Everything derived from the registry: manifest, reference, completions and manual page, and the answers of
//! single commands.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Output;

use jsonschema::Validator;
use serde_json::{Value, json};

use crate::support::{Home, check_line, exec};

fn answer(home: &Home, args: &[&str]) -> Value {
    must_answer(&home.call(args), args)
}

/// The same by the whole program.
fn answer_of_program(home: &Home, args: &[&str]) -> Value {
    must_answer(&home.run(args), args)
}

fn must_answer(output: &Output, args: &[&str]) -> Value {
    let value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        panic!("{args:?}: {error} in {}", String::from_utf8_lossy(&output.stdout));
    });
    check_line(&value);
    let code = value["meta"]["exit_code"].as_i64();
    assert_eq!(output.status.code().map(i64::from), code, "{args:?}");
    value
}

/// The key of the program's own facts in `meta`.
const OWN: &str = "x-pilothouse";

/// Returns a validator for one of the public schemas, which refer to one another by their file names.
fn public_schema(name: &str) -> Validator {
    let read = |name: &str| -> Value {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/schemas").join(name);
        serde_json::from_str(&std::fs::read_to_string(&path).expect("a schema")).expect("JSON")
    };
    // The entry of an exit code is referred to by its file name.
    let whole = read(name).to_string().replace("\"exit-code-entry.json\"", "\"#/definitions/exit_code\"");
    let mut schema: Value = serde_json::from_str(&whole).expect("JSON");
    if whole.contains("#/definitions/exit_code") {
        let mut entry = read("exit-code-entry.json");
        entry.as_object_mut().expect("a schema").remove("$id");
        schema["definitions"]["exit_code"] = entry;
    }
    schema.as_object_mut().expect("a schema").remove("$id");
    jsonschema::validator_for(&schema).expect("a sound schema")
}

/// Asserts that a value has the shape of a public schema.
#[track_caller]
fn must_hold(schema: &Validator, value: &Value) {
    let wrong: Vec<String> =
        schema.iter_errors(value).map(|error| format!("{error} at {}", error.instance_path())).collect();
    assert!(wrong.is_empty(), "{} errors:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn f60_the_manifest_has_the_public_shape_and_our_own_facts_are_under_one_key() {
    let manifest = answer(&Home::new(), &["manifest"]);
    must_hold(&public_schema("response-envelope.json"), &manifest);
    let shape = public_schema("manifest-response.json");
    let data = &manifest["data"];
    must_hold(&shape, data);
    // The schema is closed, at its root, in a command, in a flag and in an exit code.
    for place in
        ["", "/commands/version", "/commands/command.run/flags/cmd", "/commands/version/exit_codes/0"]
    {
        let mut other = data.clone();
        other.pointer_mut(place).expect(place)["own"] = json!(true);
        assert!(!shape.is_valid(&other), "{place}");
    }
    let own = &manifest["meta"][OWN];
    assert_eq!(own["name"], "pilothouse");
    for (path, entry) in data["commands"].as_object().expect("commands") {
        assert!(entry["examples"].as_array().is_some_and(|examples| !examples.is_empty()), "{path}");
        for (code, exit) in entry["exit_codes"].as_object().expect("codes") {
            assert_eq!(exit, &own["exit_codes"][code], "{path}: {code}");
        }
        assert_eq!(entry["exit_codes"]["0"]["name"], "SUCCESS", "{path}");
        assert!(own["commands"][path]["dispatchable"].is_boolean(), "{path}");
    }
    let run = &data["commands"]["command.run"]["flags"];
    assert_eq!((&run["cmd"]["required"], &run["leftovers"]["type"]), (&json!(true), &json!("enum")));
    let waits = &data["commands"]["task.output"]["flags"]["timeout-ms"];
    assert_eq!((&waits["default"], &run["tty"]["default"]), (&json!(30_000), &json!(false)));
    assert!(run["workdir"].get("default").is_none(), "absent, not null");
    assert_eq!(data["commands"]["mcp"]["subcommands"], json!(["mcp.install", "mcp.config"]));
    assert_eq!(data["commands"]["exec"]["output_formats"], json!(["json", "jsonl"]));
    assert!(own["flags"]["dry-run"].is_object());
    assert_eq!(own["commands"]["command.run"]["positional"], json!(["cmd"]));
    assert_eq!(own["commands"]["exec"]["stdin_input"], 65_536);
    assert_eq!(own["commands"]["status"]["plain_by_default"], "--short");
    assert_eq!(own["commands"]["serve"]["dispatchable"], false);
    // The same as an answer to an input line, and the same every time.
    let home = Home::new();
    let ran = exec(&home, &[], "{\"_cmd\":\"manifest\"}\n{\"_cmd\":\"manifest\"}\n");
    assert_eq!((&ran.of(1)["data"], &ran.of(2)["data"]), (data, data));
    assert_eq!(&ran.of(1)["meta"][OWN], own);
}

#[test]
fn the_manifest_marks_destructive_commands_as_destructive() {
    let data = &answer(&Home::new(), &["manifest"])["data"]["commands"];
    for path in ["command.run", "command.batch", "run", "task.stop", "task.input", "serve", "exec"] {
        assert_eq!(data[path]["danger_level"], "destructive", "{path}");
    }
    assert_eq!(data["task.list"]["danger_level"], "safe");
}

#[test]
fn f60_every_answer_is_an_envelope_of_the_public_shape() {
    let home = Home::new();
    let shape = public_schema("response-envelope.json");
    for args in [
        &["--help"][..],
        &["help", "task"],
        &["task", "list", "--help"],
        &["task"],
        &["nothing"],
        &["status"],
        &["version"],
        &["version", "--schema"],
        &["command", "run", "echo x; exit 3"],
        &["task", "status", "task_00000000"],
    ] {
        must_hold(&shape, &answer_of_program(&home, args));
    }
    for (args, code) in [
        (&["exec", "--output", "table"][..], "ARG_ERROR"),
        (&["serve", "--stop", "--dry-run"], "ok"),
        (&["serve", "--stop"], "ok"),
    ] {
        let answer = answer_of_program(&home, args);
        assert_eq!(answer["error"]["code"].as_str().unwrap_or("ok"), code, "{args:?}: {answer}");
    }
    let help = answer_of_program(&home, &["task", "list", "--help"]);
    assert!(help["data"]["help"].as_str().is_some_and(|text| text.contains("Usage: pilothouse task list")));
    let plain = home.run(&["task", "list", "--help", "--output", "plain"]);
    let plain = String::from_utf8(plain.stdout).expect("text");
    assert_eq!(plain.trim_end(), help["data"]["help"], "for a person");
    // What is asked for as text for a status line is text.
    let short = home.run(&["status", "--short"]);
    assert!(!short.stdout.starts_with(b"{"), "{short:?}");
}

#[test]
fn f60_a_flag_of_every_command_means_the_same_before_its_words() {
    let home = Home::new();
    for (before, after) in [
        (&["--output", "plain", "version"][..], &["version", "--output", "plain"][..]),
        (&["--output=json", "version"], &["version", "--output=json"]),
        (&["--schema", "command", "run"], &["command", "run", "--schema"]),
        (&["task", "--format", "table", "list"], &["task", "list", "--format", "table"]),
        (&["--dry-run", "command", "run", "true"], &["command", "run", "true", "--dry-run"]),
    ] {
        let told = |args: &[&str]| {
            let output = home.call(args);
            let text = String::from_utf8(output.stdout).expect("text");
            // Only the time differs.
            let text = text.split("\"duration_ms\"").next().unwrap_or_default().to_owned();
            (output.status.code(), text)
        };
        assert_eq!(told(before), told(after), "{before:?}");
        assert_eq!(told(before).0, Some(0), "{before:?}");
    }
    let unknown = answer(&home, &["--output", "json", "nothing"]);
    assert_eq!(unknown["error"]["code"], "ARG_ERROR");
}

#[test]
fn f60_without_a_standard_output_nothing_is_done() {
    let home = Home::new();
    let program = crate::support::program_word();
    let line = r#"{"_cmd":"command.run","cmd":"touch ran"}"#;
    let says = |script: &str| {
        let mut sh = std::process::Command::new("sh");
        home.settle(&mut sh);
        let output = sh.args(["-c", script]).output().expect("sh runs");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, said) = says(&format!("echo '{line}' | {program} exec >&-"));
    assert!(code == Some(4) && said.contains("standard output is closed"), "{code:?}: {said}");
    assert!(!home.workspace().join("ran").exists());
    let (code, _) = says(&format!("{program} command run 'touch ran' >&-"));
    assert!(code == Some(4) && !home.workspace().join("ran").exists(), "{code:?}");
    let (code, said) = says(&format!("echo '{line}' | {program} exec >/dev/null"));
    assert!(code == Some(0) && home.workspace().join("ran").exists(), "{code:?}: {said}");
}

#[test]
fn a_manifest_that_the_caller_has_is_not_sent_again() {
    let home = Home::new();
    let etag = answer(&home, &["manifest"])["data"]["etag"].as_str().expect("an etag").to_owned();
    for given in [etag.clone(), format!("\"{etag}\"")] {
        let same = answer(&home, &["manifest", "--etag", &given]);
        assert_eq!((&same["meta"]["not_modified"], &same["data"]), (&json!(true), &Value::Null));
        assert!(same["meta"].get(OWN).is_none());
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
        let command = pilothouse::dispatch::find(&words.join(".")).expect("a command");
        assert_eq!(&told["data"]["input_schema"], command.input_schema(), "{words:?}");
        let entry = &manifest["data"]["commands"][words.join(".")];
        assert_eq!(told["data"]["output_schema"], entry["output_schema"], "{words:?}");
    }
    let line = json!({"_cmd": "command.run", "_opts": {"schema": true}}).to_string();
    let run = pilothouse::dispatch::find("command.run").expect("a command");
    assert_eq!(&exec(&home, &[], line).of(1)["data"]["input_schema"], run.input_schema());
    let raw = answer(&home, &["command", "run", "--raw-payload", r#"{"cmd":"echo raw"}"#]);
    assert_eq!(raw["data"]["stdout_preview"], "raw\n");
    // A flag that the manifest calls required may be written as one.
    let named = answer(&home, &["command", "run", "--cmd", "echo named"]);
    assert_eq!(named["data"]["stdout_preview"], "named\n");
}

#[test]
fn an_exit_code_of_2_comes_with_one_plain_line_on_standard_error() {
    let home = Home::new();
    for args in [
        &["command", "run"][..],
        &["command", "run", "--input", "{"],
        &["command", "run", " "],
        &["command", "run", "true", "--timeout", "soon"],
        &["nothing"],
    ] {
        let output = home.call(args);
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
    let not_dispatchable = |path: &str| manifest["meta"][OWN]["commands"][path]["dispatchable"] == false;
    for line in &ran.lines {
        let path = line["meta"]["_cmd"].as_str().expect("its path");
        let refused =
            ["UNKNOWN_COMMAND", "NOT_DISPATCHABLE"].iter().any(|code| line["error"]["code"] == *code);
        assert_eq!(refused, not_dispatchable(path), "{line}");
    }
}

#[test]
fn the_examples_of_the_manifest_can_be_pasted_into_a_shell_and_run() {
    let home = Home::new();
    home.configure("config.toml", "[hosts.box]\nvia = [\"false\"]\n");
    let manifest = answer(&home, &["manifest"]);
    for (path, entry) in manifest["data"]["commands"].as_object().expect("commands") {
        if manifest["meta"][OWN]["commands"][path]["dispatchable"] == false {
            continue;
        }
        for example in entry["examples"].as_array().expect("examples") {
            let line = example["command"].as_str().expect("a command line");
            let program = crate::support::program_word();
            let told = |more: &str| -> Value {
                let aliased = format!("pilothouse() {{ {program} \"$@\"; }}\n{line} {more}--output json");
                let mut sh = std::process::Command::new("sh");
                home.settle(&mut sh);
                let output = sh.args(["-c", &aliased]).output().expect("sh runs");
                serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{line}: {error}"))
            };
            // What an example refers to need not exist.
            let missing = [
                "TASK_NOT_FOUND",
                "QUESTION_NOT_FOUND",
                "NOT_FOUND",
                "PRECONDITION",
                "INPUT_FILE_UNREADABLE",
                "UNAVAILABLE",
            ];
            for answer in [told("--dry-run "), told("")] {
                let is_missing = missing.iter().any(|code| answer["error"]["code"] == *code);
                // A command may fail by itself where there is nothing to build or to test.
                let has_run = answer["error"]["code"] == "CHILD_EXIT_NONZERO";
                assert!(answer["ok"] == true || is_missing || has_run, "{path}: {line}: {answer}");
            }
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
            answer_of_program(&home, &["completions", shell, "--output", "json"])["data"]["script"],
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
    let would = answer_of_program(&home, &["man", "--folder", "man1", "--dry-run", "--output", "json"]);
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
    let text = |args: &[&str]| String::from_utf8(home.call(args).stdout).expect("text");
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(text(&["version", "--output", "plain"]), format!("pilothouse {version}\n"));
    assert!(text(&["version", "--format", "table"]).starts_with("name            pilothouse\nversion"));
    assert_eq!(text(&["version", "--output", "jsonl"]).lines().count(), 1);
    // Anything that is not data goes to standard error.
    let refused = home.call(&["task", "status", "task_00000000", "--output", "plain"]);
    assert_eq!((refused.stdout.len(), refused.status.code()), (0, Some(5)));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("fix: `pilothouse task list --scope all`"));
}

#[test]
fn the_whole_input_comes_from_standard_input_or_a_file_too() {
    let home = Home::new();
    std::fs::write(home.path("in.json"), r#"{"cmd":"echo from a file"}"#).expect("written");
    let answer = answer(&home, &["command", "run", "--input", &format!("@{}", home.path("in.json"))]);
    assert_eq!(answer["data"]["stdout_preview"], "from a file\n");
}
