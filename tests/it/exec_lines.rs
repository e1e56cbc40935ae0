//! `pilothouse exec`, line by line: the answer to each kind of line.

use serde_json::{Value, json};

use crate::support::{Home, Tag, exec, exec_by, exec_command, exec_text, exec_with, wait_until};

const RUN: &str = r#"{"_cmd":"command.run","cmd":"true"}"#;
const FAIL: &str = r#"{"_cmd":"command.run","cmd":"false"}"#;
const LIST: &str = r#"{"_cmd":"task.list"}"#;
const VERSION: &str = r#"{"_cmd":"version"}"#;

fn lines(lines: &[&str]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn line(value: &Value) -> String {
    format!("{value}\n")
}

#[test]
fn each_line_is_answered_in_order() {
    let ran = exec(&Home::new(), &[], lines(&[RUN, LIST, VERSION]));
    assert_eq!(ran.code, Some(0));
    let told: Vec<_> =
        ran.lines.iter().map(|line| (line["meta"]["_line"].clone(), line["meta"]["_cmd"].clone())).collect();
    let expected = [(1, "command.run"), (2, "task.list"), (3, "version")];
    assert_eq!(told, expected.map(|(line, cmd)| (json!(line), json!(cmd))));
}

#[test]
fn the_stream_stops_at_the_first_line_that_fails() {
    let ran = exec(&Home::new(), &[], lines(&[FAIL, LIST]));
    assert_eq!((ran.code, ran.exits()), (Some(1), vec![79]));
    assert_eq!(ran.of(1)["data"]["exit_status"], 1);
    let ran = exec(&Home::new(), &[], lines(&[LIST, "not json", LIST]));
    assert_eq!((ran.code, ran.codes()), (Some(1), vec!["ok", "DISPATCH_PARSE_ERROR"]));
}

#[test]
fn f60_a_stream_that_stops_says_how_many_lines_were_not_read() {
    let home = Home::new();
    home.serve_here();
    let plan = home.path("plan.jsonl");
    for (stream, said) in [
        (lines(&[FAIL, LIST, "", LIST]), "Line 1 failed, and 2 lines after it were not read"),
        (lines(&[LIST, FAIL, LIST]), "Line 2 failed, and 1 line after it was not read"),
        (
            lines(&["not json", LIST]),
            "line 1: The line is not JSON. Line 1 failed, and 1 line after it was not",
        ),
    ] {
        let ran = exec(&home, &[], &stream);
        assert!(ran.stderr.contains(said) && ran.stderr.lines().count() == 1, "{said}: {}", ran.stderr);
        std::fs::write(&plan, &stream).expect("written");
        let from_file = exec(&home, &["--input-file", &plan], "");
        assert_eq!(from_file.stderr, ran.stderr);
        let from_pipe = exec_by(&mut exec_command(&home, &["--input-file", "/dev/stdin"]), &stream);
        assert!(from_pipe.stderr.contains("what may come after it was not read"), "{}", from_pipe.stderr);
    }
    for (args, stream) in [(&[][..], lines(&[LIST, FAIL, " "])), (&["--ignore-errors"], lines(&[FAIL, LIST]))]
    {
        assert!(!exec(&home, args, &stream).stderr.contains("not read"), "{stream}");
    }
}

#[test]
fn a_stream_that_ignores_errors_answers_every_line() {
    let ran = exec(
        &Home::new(),
        &["--ignore-errors"],
        lines(&[FAIL, "not json", r#"{"_cmd":"nope.nothing"}"#, LIST]),
    );
    assert_eq!(ran.code, Some(1));
    assert_eq!(ran.codes(), ["CHILD_EXIT_NONZERO", "DISPATCH_PARSE_ERROR", "UNKNOWN_COMMAND", "ok"]);
    let malformed = ran.of(2);
    assert_eq!(
        (&malformed["error"]["phase"], &malformed["meta"]["exit_code"]),
        (&json!("validation"), &json!(2))
    );
    assert!(malformed["meta"].get("_cmd").is_none());
    let first_bad = exec(&Home::new(), &["--ignore-errors"], lines(&["not json", LIST]));
    assert_eq!((first_bad.code, first_bad.codes()), (Some(1), vec!["DISPATCH_PARSE_ERROR", "ok"]));
}

#[test]
fn a_stream_of_nothing_but_malformed_lines_ends_with_2() {
    for bad in [
        vec!["{", "[]"],
        vec!["{}", r#"{"_cmd":5}"#, r#"{"_cmd":"account/create"}"#, r#"{"_cmd":"Task.List"}"#],
        vec![r#"{"_cmd":"version","_cmd":"version"}"#],
        vec![r#"{"_cmd":"version","x":NaN}"#],
    ] {
        let ran = exec(&Home::new(), &["--ignore-errors"], lines(&bad));
        assert_eq!((ran.code, ran.codes()), (Some(2), vec!["DISPATCH_PARSE_ERROR"; bad.len()]), "{bad:?}");
    }
}

#[test]
fn options_of_the_wrong_form_are_named() {
    for (opts, named) in [("[]", "_opts"), (r#"{"x":{}}"#, "x"), (r#"{"x":null}"#, "x")] {
        let ran = exec(&Home::new(), &[], format!(r#"{{"_cmd":"version","_opts":{opts}}}"#));
        assert_eq!((ran.code, ran.codes()), (Some(2), vec!["DISPATCH_PARSE_ERROR"]), "{opts}");
        assert_eq!(ran.lines[0]["error"]["context"]["opt"], named);
    }
    let ran = exec(&Home::new(), &[], r#"{"_cmd":"command.run","_opts":{"dry-run":"true"},"cmd":"true"}"#);
    assert_eq!((ran.code, ran.codes()), (Some(1), vec!["ARG_ERROR"]));
    let twice = r#"{"_cmd":"command.run","_opts":{"cmd":"true"},"cmd":"true"}"#;
    let ran = exec(&Home::new(), &[], twice);
    assert_eq!((ran.code, ran.codes()), (Some(1), vec!["ARG_CONFLICT"]));
}

#[test]
fn a_dry_run_touches_nothing_and_cannot_be_lifted() {
    let home = Home::new();
    let touch = |opts: Value| line(&json!({"_cmd": "command.run", "_opts": opts, "cmd": "touch made"}));
    let ran = exec(&home, &[], touch(json!({"dry-run": true})));
    assert_eq!((ran.code, &ran.of(1)["data"]["effect"]), (Some(0), &json!("would_run")));
    let ran = exec(&home, &["--dry-run"], format!("{}{LIST}\n", touch(json!({"dry-run": false}))));
    assert_eq!(ran.code, Some(0));
    assert_eq!(ran.of(1)["data"]["effect"], "would_run");
    assert!(ran.of(1)["warnings"][0].as_str().is_some_and(|text| text.contains("cannot turn it off")));
    assert_eq!(ran.of(2)["data"]["total"], 0);
    assert!(!home.workspace().join("made").exists());
    assert_eq!(exec(&home, &[], touch(json!({}))).code, Some(0));
    assert!(home.workspace().join("made").exists());
}

#[test]
fn a_dry_run_says_with_what_commands_would_run() {
    let home = Home::new();
    std::fs::create_dir(home.workspace().join("src")).expect("a folder");
    let run = json!({"_cmd": "command.run", "cmd": "TOKEN=hunter2 ls", "workdir": "src", "shell": "/bin/sh", "tty": true});
    let items = json!([{"cmd": "ls", "workdir": "nowhere"}, {"cmd": "ls"}]);
    let batch = json!({"_cmd": "command.batch", "items": items});
    let variables = [("API_TOKEN", "hunter2"), ("LD_PRELOAD_X", "x"), ("SHELL", "/bin/bash")];
    let ran = exec_with(&home, &variables, &["--dry-run"], line(&run) + &line(&batch));
    assert_eq!(ran.code, Some(0), "{}", ran.stdout);
    let would = &ran.of(1)["data"]["would_affect"][0];
    let src = home.workspace().canonicalize().expect("a folder").join("src");
    assert_eq!((&would["shell"], &would["workdir"]), (&json!("/bin/sh"), &json!(src)));
    let names = would["variables"].as_array().expect("names");
    for (name, is_there) in [
        ("API_TOKEN", true),
        ("TERM", true),
        ("PILOTHOUSE_TASK_ID", true),
        ("LD_PRELOAD_X", false),
        ("NO_COLOR", false),
    ] {
        assert_eq!(names.contains(&json!(name)), is_there, "{name} in {names:?}");
    }
    assert!(!would.to_string().contains("hunter2"), "{would}");
    let would = &ran.of(2)["data"]["would_affect"];
    assert!(would[0]["refused"].is_string(), "{would}");
    assert_eq!(would[1]["shell"], "/bin/bash");
}

#[test]
fn a_dry_run_finds_what_a_run_would_be_refused_for() {
    let ran = exec(
        &Home::new(),
        &["--dry-run", "--ignore-errors"],
        lines(&[
            r#"{"_cmd":"command.run","cmd":"true","workdir":"nowhere"}"#,
            r#"{"_cmd":"command.run","cmd":"true","workdir":"/"}"#,
            r#"{"_cmd":"command.run","cmd":" "}"#,
            r#"{"_cmd":"task.stop","task_id":"task_00000000"}"#,
            r#"{"_cmd":"command.run","bogus":1,"cmd":"true"}"#,
        ]),
    );
    let codes = [
        "WORKDIR_NOT_FOUND",
        "EXECUTION_ROOT_VIOLATION",
        "INVALID_TOOL_INPUT",
        "TASK_NOT_FOUND",
        "INVALID_TOOL_INPUT",
    ];
    assert_eq!((ran.code, ran.codes()), (Some(1), codes.to_vec()));
}

#[test]
fn wrong_input_names_its_fields() {
    let ran = exec(
        &Home::new(),
        &["--ignore-errors"],
        lines(&[
            r#"{"_cmd":"command.run","cmd":"true","yield_time_ms":"two"}"#,
            r#"{"_cmd":"command.run","cmd":"true","bogus":1}"#,
            r#"{"_cmd":"command.run"}"#,
            r#"{"_cmd":"command.run","cmd":5,"bogus":1}"#,
        ]),
    );
    assert_eq!((ran.code, ran.exits()), (Some(1), vec![2, 2, 2, 2]));
    let context = |line: u64| ran.of(line)["error"]["context"].clone();
    assert_eq!(context(1)["field"], "yield_time_ms");
    assert_eq!(context(2)["field"], "bogus");
    assert_eq!(context(3)["parse_error"], "missing field `cmd`");
    let both = context(4)["parse_error"].as_str().map(str::to_owned).expect("an error");
    assert!(both.contains("`cmd`") && both.contains("`bogus`"), "{both}");
}

#[test]
fn exec_and_commands_that_own_the_terminal_are_refused_as_lines_of_a_stream() {
    let ran = exec(&Home::new(), &[], r#"{"_cmd":"exec"}"#);
    assert_eq!((ran.code, ran.codes()), (Some(1), vec!["NOT_DISPATCHABLE"]));
    let owners = ["mcp", "serve", "demo"].map(|cmd| line(&json!({ "_cmd": cmd }))).concat();
    let ran = exec(&Home::new(), &["--ignore-errors"], owners);
    assert_eq!((ran.code, ran.codes()), (Some(1), vec!["NOT_DISPATCHABLE"; 3]));
    let ran = exec(&Home::new(), &[], r#"{"_cmd":"tasks.list"}"#);
    assert_eq!(ran.lines[0]["error"]["suggestion"], "task.list");
}

#[test]
fn returns_marks_and_a_missing_last_line_feed_do_no_harm() {
    let ran = exec(&Home::new(), &[], format!("\u{feff}{VERSION}\r\n\r\n  \n{VERSION}\r\n{VERSION}"));
    assert_eq!((ran.code, ran.lines.len()), (Some(0), 3));
    assert_eq!(ran.of(5)["meta"]["_cmd"], "version");
}

#[test]
fn hostile_lines_are_answered_one_by_one() {
    let deep = format!(r#"{{"_cmd":"version","x":{}{}}}"#, "[".repeat(5_000), "]".repeat(5_000));
    let long = format!(r#"{{"_cmd":"version","x":"{}"}}"#, "x".repeat(1 << 20));
    let mut stream = Vec::new();
    for line in
        [deep.as_bytes(), b"\xff\xfe{", b"\0", long.as_bytes(), b"{\"_cmd\":\"version\",\"x\":\"\x1b[2J\"}"]
    {
        stream.extend_from_slice(line);
        stream.push(b'\n');
    }
    stream.extend_from_slice(VERSION.as_bytes());
    let home = Home::new();
    let file = home.path("hostile.jsonl");
    std::fs::write(&file, stream).expect("written");
    let ran = exec(&home, &["--ignore-errors", "--input-file", &file], "");
    assert_eq!(ran.codes(), [&["DISPATCH_PARSE_ERROR"; 5][..], &["ok"]].concat());
    assert!(!ran.stdout.contains('\u{1b}'));
}

#[test]
fn no_escape_of_a_child_reaches_standard_output() {
    let cmd = r"printf '\033[31mred\033[0m\r\nover\rUNDER\n\033]0;title\007'";
    let ran = exec(&Home::new(), &[], line(&json!({"_cmd": "command.run", "cmd": cmd})));
    assert_eq!(ran.code, Some(0));
    assert!(!ran.stdout.contains('\u{1b}') && !ran.stdout.contains("\\u001b"), "{}", ran.stdout);
    assert_eq!(ran.of(1)["data"]["stdout_preview"], "red\nUNDER\n");
}

#[test]
fn five_megabytes_are_one_short_line_and_the_whole_is_named() {
    let home = Home::new();
    let cmd = "head -c 5000000 /dev/zero | tr '\\0' x | fold -w 99";
    let ran = exec(&home, &[], line(&json!({"_cmd": "command.run", "cmd": cmd})));
    assert_eq!((ran.code, ran.lines.len()), (Some(0), 1));
    assert!(ran.stdout.len() < 1 << 20, "{}", ran.stdout.len());
    let answer = ran.of(1);
    assert_eq!((&answer["data"]["truncated"], &answer["meta"]["truncated"]), (&json!(true), &json!(true)));
    let path = answer["data"]["artifacts"][0]["path"].as_str().expect("a path");
    assert!(answer["warnings"][0].as_str().is_some_and(|warning| warning.ends_with(path)), "{answer}");
    let whole = std::fs::metadata(path).expect("the hint works").len();
    assert_eq!(whole, 5_000_000 + 5_000_000 / 99);
}

#[test]
fn exit_codes_can_be_declared_a_success() {
    let run = |codes: Value| line(&json!({"_cmd": "command.run", "cmd": "exit 1", "ok_exit_codes": codes}));
    let ran = exec(&Home::new(), &[], run(json!([0, 1])));
    assert_eq!((ran.code, &ran.of(1)["data"]["exit_status"]), (Some(0), &json!(1)));
    let ran = exec(&Home::new(), &[], run(json!(["one"])));
    assert_eq!((ran.code, ran.codes()), (Some(1), vec!["ARG_ERROR"]));
}

#[test]
fn a_request_with_a_key_is_done_once() {
    let home = Home::new();
    let once = |cmd: &str, key: &str| {
        line(&json!({"_cmd": "command.run", "_opts": {"idempotency-key": key}, "cmd": cmd}))
    };
    let twice = once("echo done >> log", "k1").repeat(2);
    let ran =
        exec(&home, &["--ignore-errors"], twice + &once("echo other", "k1") + &once("echo other", "k2"));
    assert_eq!(ran.codes(), ["ok", "ok", "IDEMPOTENCY_CONFLICT", "ok"]);
    assert_eq!(ran.of(1)["data"], ran.of(2)["data"]);
    assert!(ran.of(1)["meta"].get("effect").is_none());
    assert_eq!(ran.of(2)["meta"]["effect"], "noop");
    assert_eq!(ran.of(3)["meta"]["exit_code"], 6);
    assert_eq!(std::fs::read_to_string(home.workspace().join("log")).expect("a log"), "done\n");
}

/// A user whose workspace has a runtime: a line's time limit counts from the line, and starting one takes time.
fn warm() -> Home {
    let home = Home::new();
    assert_eq!(exec(&home, &[], RUN).code, Some(0));
    home
}

#[test]
fn a_line_that_takes_too_long_is_given_up_and_its_command_ended() {
    let home = warm();
    let tag = Tag::new();
    let slow = line(&json!({"_cmd": "command.run", "cmd": format!("sleep {}", tag.0)}));
    let ran = exec(&home, &["--timeout", "5s"], slow + VERSION);
    assert_eq!((ran.code, ran.codes(), ran.exits()), (Some(1), vec!["TIMEOUT"], vec![10]));
    assert_eq!(ran.of(1)["error"]["retryable"], false);
    wait_until("the command is gone", || tag.holders().is_empty());
    // A line may have a timeout other than the stream's.
    let patient = line(&json!({"_cmd": "command.run", "_opts": {"timeout": "20s"}, "cmd": "sleep 0.3"}));
    assert_eq!(exec(&home, &["--timeout", "100ms"], patient).code, Some(0));
}

/// Checks what is known about a line that was ended early, apart from its error code.
#[track_caller]
fn assert_partial(answer: &Value, printed: &str) {
    let error = &answer["error"];
    assert_eq!((&error["retryable"], &error["side_effects"]), (&json!(false), &json!("partial")), "{answer}");
    assert_eq!(error["phase"], "execution", "{answer}");
    assert_eq!(answer["data"]["stdout_preview"], printed, "{answer}");
    assert!(answer["meta"]["call"].is_u64(), "{answer}");
}

#[test]
fn a_command_begun_under_a_key_is_not_run_again_after_its_timeout() {
    for private in [&["--ignore-errors", "--private"][..], &["--ignore-errors"]] {
        let home = warm();
        let cmd = "echo done >> log; echo begun; sleep 60";
        let once =
            json!({"_opts": {"idempotency-key": "k", "timeout": "5s"}, "_cmd": "command.run", "cmd": cmd});
        // The first line starts what a private stream runs in.
        let ran =
            exec_by(&mut exec_command(&home, private), lines(&[RUN, &once.to_string(), &once.to_string()]));
        assert_eq!((ran.codes(), ran.exits()), (vec!["ok", "TIMEOUT", "TIMEOUT"], vec![0, 10, 10]));
        assert_partial(ran.of(2), "begun\n");
        assert_partial(ran.of(3), "begun\n");
        assert_eq!(ran.of(2)["meta"]["call"], ran.of(3)["meta"]["call"]);
        assert!(ran.of(2)["meta"].get("effect").is_none());
        assert_eq!(ran.of(3)["meta"]["effect"], "noop");
        assert_eq!(std::fs::read_to_string(home.workspace().join("log")).expect("a log"), "done\n");
    }
}

/// Asserts that an error says that nothing was run and the line may be sent again.
fn assert_unbegun(error: &Value) {
    let found = (&error["phase"], &error["retryable"], error.get("side_effects"));
    assert_eq!(found, (&json!("validation"), &json!(true), None), "{error}");
    assert!(error["message"].as_str().is_some_and(|message| message.contains("nothing was run")), "{error}");
}

#[test]
fn a_line_that_yields_says_whether_anything_has_run_and_one_that_waits_in_vain_for_its_lane_fails() {
    let home = Home::new();
    home.configure("config.toml", "[[lanes]]\nname = \"one\"\nslots = 1\nprefix = [\"sleep\"]\n");
    home.serve_here();
    let yields = |cmd: &str, ms| json!({"_cmd": "command.run", "cmd": cmd, "yield_time_ms": ms});
    let waits = json!({"_cmd": "command.run", "_opts": {"timeout": "1s"}, "cmd": "sleep 0; touch ran"});
    let sent = [yields("sleep 600", 0), yields("sleep 1", 250), waits].map(|line| line.to_string());
    let ran = exec(&home, &["--ignore-errors"], lines(&sent.each_ref().map(String::as_str)));
    assert_eq!((ran.codes(), ran.exits()), (vec!["ok", "ok", "QUEUED"], vec![0, 0, 12]), "{ran:?}");
    let warned = |line| ran.of(line)["warnings"][0].clone();
    assert_eq!(warned(1), "Command has begun and has not ended; it goes on as a task");
    assert_eq!(warned(2), "Command waits for its turn; nothing has been run");
    assert_unbegun(&ran.of(3)["error"]);
    let list = exec(&home, &[], line(&json!({"_cmd": "task.list", "scope": "all"})));
    let states: Vec<_> =
        list.of(1)["data"]["tasks"].as_array().expect("tasks").iter().map(|task| &task["status"]).collect();
    assert_eq!(states, ["cancelled", "queued", "running"], "the last was withdrawn");
    assert!(!home.workspace().join("ran").exists());
}

/// What never began is not done: it may be sent again, also under its key.
#[test]
fn a_command_that_timed_out_before_it_began_is_retryable_and_its_key_is_free() {
    let home = Home::new();
    home.configure("config.toml", "[[approvals]]\nprefix = \"echo\"\nactor = \"cli\"\n");
    home.serve_here();
    let held = json!({"_cmd": "command.run", "_opts": {"idempotency-key": "k", "timeout": "1s"}, "cmd": "echo done >> log"});
    for _ in 0..2 {
        let ran = exec(&home, &[], line(&held));
        assert_eq!((ran.codes(), ran.exits()), (vec!["OPERATOR_PENDING"], vec![12]), "{ran:?}");
        assert_eq!(ran.of(1)["data"], Value::Null);
        assert_unbegun(&ran.of(1)["error"]);
        assert_eq!(ran.of(1)["meta"].get("effect"), None);
    }
    assert!(!home.workspace().join("log").exists());
}

#[test]
fn a_batch_that_is_out_of_time_keeps_what_was_done() {
    let home = warm();
    let items = json!([{"cmd": "echo one"}, {"cmd": "echo two; sleep 60", "yield_time_ms": 30_000}, {"cmd": "touch three"}]);
    let batch = line(&json!({"_cmd": "command.batch", "_opts": {"timeout": "5s"}, "items": items}));
    let ran = exec(&home, &[], batch);
    assert_eq!((ran.codes(), ran.exits()), (vec!["TIMEOUT"], vec![10]));
    let items = &ran.of(1)["data"]["items"];
    assert_eq!(
        (&items[0]["stdout_preview"], &items[1]["stdout_preview"]),
        (&json!("one\n"), &json!("two\n"))
    );
    assert_eq!(items[2]["status"], "skipped", "{items}");
    assert!(!home.workspace().join("three").exists());
}

#[test]
fn the_limit_of_the_input_answers_as_the_limit_of_the_line() {
    let slow = json!({"_cmd": "command.run", "cmd": "echo begun; sleep 60", "timeout_ms": 5_000});
    let ran = exec(&Home::new(), &[], line(&slow));
    assert_eq!((ran.code, ran.codes(), ran.exits()), (Some(1), vec!["TIMEOUT"], vec![10]));
    assert_partial(ran.of(1), "begun\n");
    assert_eq!(ran.of(1)["data"]["exit_status"], 124);
}

#[test]
fn a_timeout_of_a_reading_command_is_retryable() {
    let home = Home::new();
    let start = line(&json!({"_cmd": "command.run", "cmd": "sleep 60", "yield_time_ms": 0}));
    let task = exec(&home, &[], start).of(1)["data"]["task_handle"]["task_id"].clone();
    let wait = json!({"_cmd": "task.output", "_opts": {"timeout": "300ms"}, "task_id": task});
    let ran = exec(&home, &[], line(&wait));
    assert_eq!((ran.codes(), &ran.of(1)["error"]["retryable"]), (vec!["TIMEOUT"], &json!(true)));
    assert!(ran.of(1)["error"].get("side_effects").is_none());
}

#[test]
fn validating_finds_every_malformed_line_and_runs_nothing() {
    let home = Home::new();
    let touch = r#"{"_cmd":"command.run","cmd":"touch made"}"#;
    let bogus = r#"{"_cmd":"command.run","cmd":"touch made","bogus":1}"#;
    let ran = exec(&home, &["--validate-only"], lines(&[touch, "not json", bogus, LIST]));
    assert_eq!((ran.code, ran.exits()), (Some(2), vec![0, 2, 2, 0]));
    let ran = exec(&home, &["--validate-only"], lines(&[touch, LIST]));
    assert_eq!((ran.code, ran.codes()), (Some(0), vec!["ok", "ok"]));
    assert!(!home.workspace().join("made").exists() && !home.workspace().join("../state").exists());
}

#[test]
fn the_guides_form_repeats_command_and_line() {
    let home = Home::new();
    let text = exec_text(&home, &["--echo-top-level"], VERSION);
    assert!(text.starts_with(r#"{"_cmd":"version","_line":1,"ok":true,"data":{"#), "{text}");
}

#[test]
fn an_item_that_outstays_its_time_fails_its_line_and_not_the_next() {
    let batch = json!({
        "_cmd": "command.batch",
        "items": [{"cmd": "printf begun; sleep 60", "yield_time_ms": 5_000}, {"cmd": "printf next"}],
    });
    let ran = exec(&Home::new(), &["--ignore-errors"], format!("{VERSION}\n{batch}\n{VERSION}\n"));
    assert_eq!((ran.code, ran.codes()), (Some(1), vec!["ok", "CHILD_EXIT_NONZERO", "ok"]));
    let item = &ran.of(2)["data"]["items"][0];
    assert_eq!((&item["exit_status"], &item["timed_out"]), (&json!(124), &json!(true)));
    assert_eq!(item["stdout_preview"], "begun");
    assert_eq!(ran.of(2)["data"]["items"][1]["status"], "completed");
}
