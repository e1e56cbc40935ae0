//! A dry run promises what the run then does: every command that changes something is asked what it would do, and then
//! run, with the same random input.

use pilothouse::dispatch::{COMMANDS, Command, CommandReach, Danger};
use proptest::prelude::*;
use proptest::strategy::Union;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Map, Value, json};

use crate::support::{Home, Ran, exec_by, exec_command};

/// Runs a stream in a process of its own: some of these commands write where its own variables say.
fn by_program(home: &Home, args: &[&str], input: String) -> Ran {
    exec_by(&mut exec_command(home, args), input)
}

/// Codes of a command that was run, whatever became of it.
const DONE: [&str; 4] = ["ok", "CHILD_EXIT_NONZERO", "PARTIAL_FAILURE", "TIMEOUT"];

/// Every command that changes something and can be a line, with the schema of its input.
fn commands() -> Vec<(String, Value)> {
    let changes =
        |command: &&Command| command.danger != Danger::Safe && command.reach == CommandReach::Anywhere;
    let all = COMMANDS.iter().filter(changes);
    all.map(|command| (command.path.clone(), command.input_schema().clone())).collect()
}

fn one_of(values: &[Value]) -> BoxedStrategy<Value> {
    prop::sample::select(values.to_vec()).boxed()
}

fn item() -> BoxedStrategy<Value> {
    let fields = [
        ("cmd", json!(["true", "true", "echo x", " ", ""])),
        ("workdir", json!([".", "nowhere", "/", "a\u{0}"])),
        ("shell", json!(["/bin/sh", "sh", "/no/shell", "no-such-shell", "/", "/etc/passwd"])),
        ("tty", json!([true, false])),
        ("accepts_input", json!([true])),
    ];
    let fields = fields.map(|(name, values)| {
        let present = if name == "cmd" { 0.95 } else { 0.25 };
        let values = one_of(values.as_array().expect("values"));
        prop::option::weighted(present, values).prop_map(move |value| (name, value))
    });
    let object = |fields: [(&str, Option<Value>); 5]| {
        let there = fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        Value::Object(there.collect())
    };
    fields.prop_map(object).boxed()
}

/// Values for a field, most of them of its type.
fn value(name: &str, schema: &Value, tasks: &[Value]) -> BoxedStrategy<Value> {
    let texts = match name {
        "cmd" => json!(["true", "exit 3", "echo x", " ", ""]),
        "workdir" => json!([".", "nowhere", "/", "a\u{0}"]),
        "shell" => json!(["/bin/sh", "sh", "/no/shell", "no-such-shell", "/", "/etc/passwd"]),
        "task_id" => json!(tasks),
        "question_id" => json!(["question_00000000", "x"]),
        // Of the other names, some might be those of real machines.
        "host" | "name" => json!(["box"]),
        // Starting every agent takes too long here.
        "agents" => json!([false]),
        "file" | "path" | "files" => json!(["p.prose", "nowhere.prose"]),
        "yield_time_ms" => json!([250, 0, "x"]),
        "timeout_ms" => json!([2_000]),
        "folder" => json!(["x", "p.prose", "p.prose/x", "y/z"]),
        "input" => json!(["x\n", ""]),
        "keys" => json!([["Enter"], ["NoSuchKey"]]),
        _ => Value::Null,
    };
    let is = |kind: &str| {
        schema["type"] == kind || schema["type"].as_array().is_some_and(|all| all.contains(&json!(kind)))
    };
    match texts {
        Value::Array(texts) if is("array") && name != "keys" => {
            one_of(&texts).prop_map(|text| json!([text])).boxed()
        }
        Value::Array(texts) => one_of(&texts),
        _ if name == "items" => prop::collection::vec(item(), 0..4).prop_map(Value::Array).boxed(),
        _ => {
            let words = schema["enum"].as_array().cloned().unwrap_or_default();
            let mut pools = vec![one_of(&[json!("x")])];
            if !words.is_empty() {
                pools = vec![one_of(&words)];
            } else if is("boolean") {
                pools = vec![one_of(&[json!(true), json!(false)])];
            } else if is("integer") {
                pools = vec![one_of(&[json!(0), json!(1), json!(80), json!(5_000_000)])];
            } else if is("array") {
                pools = vec![one_of(&[json!([]), json!(["x"])])];
            }
            Union::new(pools).boxed()
        }
    }
}

fn line(path: &str, schema: &Value, tasks: &[Value]) -> BoxedStrategy<Value> {
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let mut fields = Just(Map::from_iter([("_cmd".to_owned(), json!(path))])).boxed();
    for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
        if name == "ok_exit_codes" {
            continue;
        }
        let present = if required.contains(&name.as_str()) { 0.95 } else { 0.2 };
        let value = prop::option::weighted(present, value(name, schema, tasks));
        let name = name.clone();
        fields = (fields, value)
            .prop_map(move |(mut fields, value)| {
                fields.extend(value.map(|value| (name.clone(), value)));
                fields
            })
            .boxed();
    }
    fields.prop_map(Value::Object).boxed()
}

fn code(answer: &Value) -> &str {
    answer["error"]["code"].as_str().unwrap_or("ok")
}

/// Checks what was promised about one line against what it did.
fn kept(line: &Value, told: &Value, done: &Value) -> Result<(), TestCaseError> {
    let both = format!("{line}\n{told}\n{done}");
    if code(told) != "ok" {
        prop_assert_eq!(code(told), code(done), "{}", both);
        return Ok(());
    }
    prop_assert!(DONE.contains(&code(done)), "{}", both);
    prop_assert!(
        told["data"]["effect"].as_str().is_some_and(|effect| effect.starts_with("would_")),
        "{}",
        both
    );
    let promised = told["data"]["would_affect"].as_array();
    for (would, item) in
        promised.into_iter().flatten().zip(done["data"]["items"].as_array().into_iter().flatten())
    {
        let refused = !would["refused"].is_null();
        prop_assert_eq!(refused, !item["error"].is_null(), "{} {} {}", would, item, both);
        prop_assert_eq!(&would["kind"], &item["error"]["kind"], "{} {} {}", would, item, both);
        prop_assert_eq!(
            !would["skipped"].is_null(),
            item["status"] == "skipped",
            "{} {} {}",
            would,
            item,
            both
        );
    }
    let changes_nothing = told["data"]["effect"] == "would_change_nothing";
    let effect = done["data"]["effect"].as_str().unwrap_or_default();
    let changed =
        !["noop", "unchanged", "shown"].contains(&effect) && done["data"]["accepted_input"] != false;
    prop_assert!(!(changes_nothing && changed), "{}", both);
    prop_assert!(changes_nothing || effect != "noop", "{}", both);
    Ok(())
}

#[test]
fn a_dry_run_promises_what_the_run_then_does() {
    let home = Home::new();
    home.configure("config.toml", "[hosts.box]\nvia = [\"false\"]\n");
    std::fs::write(home.workspace().join("p.prose"), "exec   \"true\"\n").expect("written");
    let mut served = home.serve();
    let start = |cmd: &str, wait: u64| {
        let ran = by_program(
            &home,
            &[],
            json!({"_cmd": "command.run", "cmd": cmd, "yield_time_ms": wait}).to_string(),
        );
        ran.of(1)["data"]["task_handle"]["task_id"].clone()
    };
    let (lives, over) = (start("sleep 600", 0), start("true", 0));
    by_program(&home, &[], json!({"_cmd": "task.output", "task_id": over}).to_string());
    let tasks = [lives, over, json!("task_00000000"), json!("x")];
    let commands = commands();
    assert!(commands.len() > 8, "{commands:?}");
    let lines: Vec<_> = commands.iter().map(|(path, schema)| line(path, schema, &tasks)).collect();
    let mut runner = TestRunner::new(Config {
        cases: 12,
        max_shrink_iters: 0,
        failure_persistence: None,
        ..Config::default()
    });
    let outcome = runner.run(&lines, |lines| {
        let dry = |line: &Value| {
            let mut line = line.clone();
            line["_opts"] = json!({"dry-run": true});
            line
        };
        let stream: String = lines.iter().map(|line| format!("{}\n{line}\n", dry(line))).collect();
        let ran = by_program(&home, &["--ignore-errors"], stream);
        for (line, answers) in lines.iter().zip(ran.lines.chunks(2)) {
            kept(line, &answers[0], &answers[1])?;
        }
        Ok(())
    });
    home.stop(&mut served);
    outcome.expect("kept");
}

#[test]
fn a_dry_run_of_a_program_is_refused_for_what_the_run_would_be_refused_for() {
    let home = Home::new();
    let write = |name: &str, text: &str| std::fs::write(home.workspace().join(name), text).expect("written");
    write("p.prose", "input place: \"Where?\"\nexec \"echo '{place}'\"\n");
    write("wrong.prose", "exec \"true\n");
    for args in [
        &["p.prose", "--set", "place=here"][..],
        &["p.prose", "--set", "place=here", "--set", "other=x"],
        &["p.prose", "--set", "place"],
        &["p.prose", "--set", "place=here", "--answers", "missing.toml"],
        &["nowhere.prose"],
        &["wrong.prose"],
        &["--resume", "20261122-043511-k3f9x2"],
    ] {
        let run = |more: &[&str]| {
            let ran = home.run(&[&["run", "--output", "json"], args, more].concat());
            let answer: Value = serde_json::from_slice(&ran.stdout).expect("JSON");
            (ran.status.code(), answer["error"]["code"].clone())
        };
        let told = run(&["--dry-run"]);
        assert_eq!(told, run(&[]), "{args:?}");
        assert_eq!(told.0 == Some(0), args.len() == 3 && args[2] == "place=here", "{args:?}");
    }
}
