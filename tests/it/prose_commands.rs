//! `prose check`, `prose fmt` and `prose ast` from the command line.

use std::io::Write;
use std::process::{Output, Stdio};

use serde_json::Value;

use crate::support::Home;

fn home(programs: &[(&str, &str)]) -> Home {
    let home = Home::new();
    for (name, text) in programs {
        std::fs::write(home.workspace().join(name), text).expect("written");
    }
    home
}

fn code(ran: &Output) -> i32 {
    ran.status.code().expect("an exit code")
}

fn text(ran: &Output) -> String {
    String::from_utf8(ran.stdout.clone()).expect("UTF-8")
}

fn value(ran: &Output) -> Value {
    serde_json::from_slice(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {}", text(ran)))
}

fn piped(home: &Home, args: &[&str], input: &str) -> Output {
    let mut command = home.command(args);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(input.as_bytes()).expect("written");
    drop(stdin);
    child.wait_with_output().expect("ends")
}

#[test]
fn check_ends_with_0_without_errors_1_with_some_and_2_when_it_cannot_read() {
    // docs/prose-rules.md#rule-39.
    let home = home(&[
        ("good.prose", "exec \"true\"\n"),
        ("warned.prose", "exec \"true\"\n  retry: 3\n"),
        ("bad.prose", "exec \"\"\n"),
        ("binary.prose", "x"),
    ]);
    std::fs::write(home.workspace().join("binary.prose"), [0x66, 0xff, 0xfe]).expect("written");
    for (files, expected) in [
        (vec!["good.prose"], 0),
        (vec!["warned.prose"], 0),
        (vec!["bad.prose"], 1),
        (vec!["good.prose", "bad.prose"], 1),
        (vec!["gone.prose"], 2),
        (vec!["bad.prose", "gone.prose"], 2),
        (vec!["binary.prose"], 2),
    ] {
        let args: Vec<&str> = ["prose", "check"].into_iter().chain(files.iter().copied()).collect();
        assert_eq!(code(&home.call(&args)), expected, "{files:?}");
    }
    let told = value(&home.call(&["prose", "check", "bad.prose", "gone.prose"]));
    assert_eq!(told["error"]["code"], "INPUT_FILE_UNREADABLE");
    assert_eq!(told["data"]["files"][0]["diagnostics"][0]["code"], "E050");
    assert!(told["data"]["files"][1]["unreadable"].is_string(), "{told}");
}

#[test]
fn check_answers_for_people_for_programs_and_for_code_hosts() {
    let home = home(&[("bad.prose", "exec \"true\"\n\nexec \"\"\n")]);
    let said = text(&home.call(&["prose", "check", "bad.prose", "--format", "human"]));
    assert_eq!(
        said,
        "\
error[E050]: exec command cannot be empty
 --> bad.prose:3:6
  |
3 | exec \"\"
  |      ^^
  = hint: write the command between the quotes

1 program checked: 1 error, 0 warnings
"
    );
    assert_eq!(text(&home.call(&["prose", "check", "bad.prose", "--output", "plain"])), said);

    let told = value(&home.call(&["prose", "check", "bad.prose", "--format", "json"]));
    let found = &told["data"]["files"][0]["diagnostics"][0];
    assert_eq!((found["line"].as_u64(), found["column"].as_u64()), (Some(3), Some(6)), "{told}");
    assert_eq!(
        (told["ok"].as_bool(), told["error"]["code"].as_str()),
        (Some(false), Some("PROGRAM_INVALID"))
    );

    let sarif = value(&home.call(&["prose", "check", "bad.prose", "--format", "sarif"]));
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!((result["ruleId"].as_str(), result["level"].as_str()), (Some("E050"), Some("error")));
    assert_eq!(result["locations"][0]["physicalLocation"]["region"]["startLine"], 3);
    assert_eq!(sarif["runs"][0]["tool"]["driver"]["rules"][0]["id"], "E050");
}

#[test]
fn a_run_says_what_a_check_warns_of_once_before_the_first_statement() {
    let home = home(&[("w.prose", "let a = exec \"echo hi\"\nexec \"echo {a}\"\n  timeout: \"11m\"\n")]);
    let lines = text(&home.call(&["run", "w.prose", "--plain"]));
    let warned: Vec<&str> = lines.lines().take(2).map(str::trim).collect();
    assert!(warned[0].starts_with("line 2  ! W051: "), "{lines}");
    assert!(warned[1].starts_with("line 3  ! W050: "), "{lines}");
    assert_eq!(lines.matches(" ! ").count(), 2, "{lines}");
}

#[test]
fn check_looks_into_the_programs_that_are_used() {
    let home = home(&[("main.prose", "use \"parts/part.prose\" as part\nlet r = part(wrong: \"x\")\n")]);
    let told = value(&home.call(&["prose", "check", "main.prose"]));
    assert_eq!(told["data"]["files"][0]["diagnostics"][0]["code"], "HPE026", "{told}");
    std::fs::create_dir(home.workspace().join("parts")).expect("a folder");
    std::fs::write(home.workspace().join("parts/part.prose"), "input right: \"x\"\n").expect("written");
    let told = value(&home.call(&["prose", "check", "main.prose"]));
    let codes = |told: &Value| {
        let found = told["data"]["files"][0]["diagnostics"].as_array().cloned().unwrap_or_default();
        found.iter().filter_map(|one| one["code"].as_str().map(str::to_owned)).collect::<Vec<_>>()
    };
    assert_eq!(codes(&told), ["E026", "E027"], "{told}");
}

#[test]
fn check_reads_standard_input_and_both_profiles() {
    let home = home(&[]);
    let program = "exec \"true\"\ninput x: \"what\"\n";
    assert_eq!(code(&piped(&home, &["prose", "check", "-"], program)), 0);
    let strict = piped(&home, &["prose", "check", "-", "--profile", "strict"], program);
    assert_eq!(code(&strict), 1);
    assert_eq!(value(&strict)["data"]["files"][0]["diagnostics"][0]["code"], "E022");
}

#[test]
fn fmt_writes_files_prints_standard_input_and_only_looks_when_asked() {
    let home =
        home(&[("a.prose", "exec   \"true\"\n"), ("b.prose", "exec \"true\"\n"), ("c.prose", "if x\n")]);
    let a = home.workspace().join("a.prose");
    let checked = home.call(&["prose", "fmt", "--check", "a.prose", "b.prose", "--output", "plain"]);
    assert_eq!((code(&checked), text(&checked)), (1, "not formatted: a.prose\n".to_owned()));
    let would = value(&home.call(&["prose", "fmt", "a.prose", "--dry-run"]));
    assert_eq!(would["data"]["effect"], "would_format");
    assert_eq!(std::fs::read_to_string(&a).expect("read"), "exec   \"true\"\n");

    let done = home.call(&["prose", "fmt", "a.prose", "b.prose", "--output", "plain"]);
    assert_eq!((code(&done), text(&done)), (0, "formatted a.prose\n".to_owned()));
    assert_eq!(std::fs::read_to_string(&a).expect("read"), "exec \"true\"\n");
    assert_eq!(code(&home.call(&["prose", "fmt", "--check", "a.prose"])), 0);

    assert_eq!(code(&home.call(&["prose", "fmt", "c.prose"])), 1);
    assert_eq!(code(&home.call(&["prose", "fmt", "gone.prose"])), 2);
    let piped = piped(&home, &["prose", "fmt", "-", "--output", "plain"], "exec   \"true\"\n");
    assert_eq!((code(&piped), text(&piped)), (0, "exec \"true\"\n".to_owned()));
}

#[test]
fn ast_prints_the_tree() {
    let home = home(&[("a.prose", "let x = exec \"echo {y}\"\n"), ("b.prose", "let x = exec \"date\"\n")]);
    let tree = value(&home.call(&["prose", "ast", "b.prose"]));
    let bound = &tree["data"]["program"]["body"][0];
    assert_eq!(bound["statement"], "bind", "{tree}");
    assert_eq!(bound["of"]["value"]["expression"], "exec", "{tree}");
    let partly = home.call(&["prose", "ast", "a.prose"]);
    assert_eq!(code(&partly), 1);
    assert_eq!(value(&partly)["data"]["program"]["body"][0]["statement"], "bind");
}
