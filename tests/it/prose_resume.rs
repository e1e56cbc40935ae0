//! Interrupted runs that are resumed, where they run, and who sees them.

use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::prose_cases::run_folder;
use crate::support::{Console, Family, Home, Tag, read_it, send, wait_until};

fn write(home: &Home, name: &str, text: &str) {
    std::fs::write(home.workspace().join(name), text).expect("written");
}

fn has(home: &Home, name: &str) -> bool {
    home.workspace().join(name).exists()
}

fn start(mut command: Command) -> Child {
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts")
}

fn signal(child: &Child, signal: Signal) {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).expect("a pid");
    kill_process(pid, signal).expect("signalled");
}

fn run_id(home: &Home) -> String {
    run_folder(home).file_name().expect("a name").to_string_lossy().into_owned()
}

fn text(output: &std::process::Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Asserts that the program wrote its end before the recording was closed: nothing had to be recovered.
#[track_caller]
fn is_closed(home: &Home) {
    let listed = home.run(&["audit", "list", "--output", "plain"]);
    let listed = String::from_utf8_lossy(&listed.stdout);
    let newest = listed.lines().last().expect("a recording");
    assert!(newest.contains(" closed "), "{listed}");
}

#[test]
fn a_killed_run_goes_on_and_does_nothing_twice() {
    // docs/prose-rules.md#rule-31.
    let (home, tag) = (Home::new(), Tag::new());
    let program = format!(
        "let a = exec \"echo one | tee -a log\"\nparallel:\n  x = exec \"echo x >> log\"\n  y = exec \"echo y\"\n\
         exec \"touch begun; test -e second && echo again >> log || sleep {}\"\nexec \"echo {{a}}{{y}} >> log\"\n",
        tag.0
    );
    write(&home, "p.prose", &program);
    let mut child = start(home.command(&["run", "p.prose", "--plain", "--private"]));
    wait_until("the command in flight", || has(&home, "begun"));
    tag.asleep();
    send(Family::of(child.id()).program, Signal::KILL);
    child.wait().expect("gone");
    wait_until("its commands have gone with it", || tag.holders().is_empty());
    let run = run_id(&home);
    // Nobody says what became of the command in flight: it is not run again.
    let refused = home.run(&["run", "p.prose", "--plain", "--resume", &run]);
    assert_eq!(refused.status.code(), Some(3), "{}", text(&refused));
    assert_eq!(std::fs::read_to_string(home.workspace().join("log")).expect("a log"), "one\nx\n");
    write(&home, "second", "");
    write(&home, "a.toml", "[[answer]]\nkind = \"in_flight\"\nanswer = \"rerun\"\n");
    let resumed = home.run(&["run", "p.prose", "--plain", "--resume", &run, "--answers", "a.toml"]);
    assert_eq!(resumed.status.code(), Some(0), "{}", text(&resumed));
    assert_eq!(
        std::fs::read_to_string(home.workspace().join("log")).expect("a log"),
        "one\nx\nagain\noney\n"
    );
    let state = std::fs::read_to_string(run_folder(&home).join("state.md")).expect("a state");
    assert_eq!(state.matches("1→ a ✓").count(), 1, "{state}");
    let over = home.run(&["run", "p.prose", "--plain", "--resume", &run]);
    assert_eq!(over.status.code(), Some(2), "{}", text(&over));
    write(&home, "p.prose", "exec \"true\"\n");
    let unknown = home.run(&["run", "p.prose", "--plain", "--resume", "nope"]);
    assert_eq!(unknown.status.code(), Some(2), "{}", text(&unknown));
}

#[test]
fn a_run_killed_after_any_row_of_its_journal_ends_like_one_that_was_not_killed() {
    // docs/prose-rules.md#rule-31. `src/prose/engine/vm/tests/cut.rs` tears any write; here the process is really killed.
    let program = "let a = exec \"echo one | tee -a log\"\na = \"{a}{a}\"\nfor x, n in a:\n  exec \"echo {x}-{n} >> log\"\n\
                   block f(p):\n  let m = exec \"echo {p} | tee -a log\"\n  exec \"echo {m}-again >> log\"\n\
                   try:\n  do f(\"two\")\n  exec \"echo three >> log; exit 3\"\ncatch as e:\n  exec \"echo four >> log\"\n\
                   finally:\n  exec \"echo five >> log\"\noutput o = exec \"echo {a} six >> log; echo done\"\n";
    let log = |home: &Home| std::fs::read_to_string(home.workspace().join("log")).unwrap_or_default();
    let whole = Home::new();
    write(&whole, "p.prose", program);
    let run = whole.run(&["run", "p.prose", "--plain"]);
    assert_eq!(run.status.code(), Some(0), "{}", text(&run));
    let rows = |home: &Home| {
        let runs = std::fs::read_dir(home.workspace().join(".prose/runs")).into_iter().flatten().flatten();
        let journals = runs.filter_map(|run| std::fs::read(run.path().join("journal.jsonl")).ok());
        journals.map(|journal| journal.iter().filter(|byte| **byte == b'\n').count()).sum::<usize>()
    };
    let all = rows(&whole);
    for after in (1..all).step_by(4) {
        let home = Home::new();
        write(&home, "p.prose", program);
        write(&home, "a.toml", "[[answer]]\nkind = \"in_flight\"\nanswer = \"rerun\"\n");
        let mut child = start(home.command(&["run", "p.prose", "--plain", "--private"]));
        wait_until("the row", || rows(&home) >= after);
        // It may have just ended by itself.
        if let Some(family) = Family::find(child.id()) {
            send(family.program, Signal::KILL);
        }
        child.wait().expect("gone");
        let before = rows(&home);
        let resumed =
            home.run(&["run", "p.prose", "--plain", "--resume", &run_id(&home), "--answers", "a.toml"]);
        let is_over = text(&resumed).contains("is over");
        assert!(resumed.status.code() == Some(0) || is_over, "{after}: {}", text(&resumed));
        assert!(!is_over || before >= all, "{after} of {all}: {before}\n{}", text(&resumed));
        let done = log(&home);
        let mut lines: Vec<&str> = done.lines().collect();
        let written = lines.len();
        lines.dedup();
        let expected = log(&whole);
        // `a` is printed over two lines, which are equal anyway.
        let mut once: Vec<&str> = expected.lines().collect();
        let least = once.len();
        once.dedup();
        assert_eq!(lines, once, "killed after {before} rows");
        assert!(written <= least + 2, "killed after {before} rows: {done}");
    }
}

#[test]
fn a_program_runs_in_the_runtime_that_is_there_and_ends_with_its_caller() {
    let (home, tag) = (Home::new(), Tag::new());
    let mut served = home.serve();
    write(&home, "p.prose", "output o = exec \"echo there; exit 0\"\n");
    let output = home.run(&["run", "p.prose", "--plain"]);
    assert!(output.status.success() && text(&output).contains("o:\nthere"), "{}", text(&output));
    let calls = home.run(&["receipt", "list"]);
    assert!(String::from_utf8_lossy(&calls.stdout).contains("\"run\""), "{}", text(&calls));
    let output = home.run(&["run", "p.prose", "--output", "jsonl"]);
    let lines = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(lines.lines().count() > 2 && lines.lines().all(|line| line.starts_with('{')), "{lines}");
    write(&home, "q.prose", "exec \"exit 9\"\n");
    assert_eq!(home.run(&["run", "q.prose", "--plain"]).status.code(), Some(1));
    write(&home, "r.prose", "if **x**:\n  exec \"true\"\n");
    assert_eq!(home.run(&["run", "r.prose", "--plain"]).status.code(), Some(3));
    let both =
        format!("parallel:\n  exec \"sleep {}\"\n  exec \"sleep {}\"\nexec \"touch on\"\n", tag.0, tag.0);
    write(&home, "s.prose", &both);
    for (number, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let child = start(home.command(&["run", "s.prose", "--plain"]));
        tag.asleep();
        signal(&child, number);
        let output = child.wait_with_output().expect("ends");
        assert_eq!(output.status.code(), Some(code), "{}", text(&output));
        assert!(text(&output).contains("interrupted"), "{}", text(&output));
        assert_eq!(tag.holders(), Vec::<u32>::new());
    }
    let mut child = start(home.command(&["run", "s.prose", "--plain"]));
    tag.asleep();
    // It hosts no runtime, so it has no guards.
    send(child.id(), Signal::KILL);
    child.wait().expect("gone");
    wait_until("its commands have gone with it", || tag.holders().is_empty());
    assert!(!has(&home, "on"));
    home.run(&["serve", "--stop"]);
    served.wait().expect("ends");
}

#[test]
fn the_answer_for_programs_has_the_five_keys() {
    let home = Home::new();
    write(&home, "p.prose", "output o = exec \"echo hi\"\n");
    let output = home.call(&["run", "p.prose", "--output", "json"]);
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&value["ok"], &value["data"]["outputs"]["o"]), (&true.into(), &"hi\n".into()), "{value}");
    let told = home.call(&["run", "p.prose", "--dry-run", "--output", "json"]);
    let value: serde_json::Value = serde_json::from_slice(&told.stdout).expect("JSON");
    assert_eq!(
        (&value["data"]["effect"], &value["data"]["commands"]),
        (&"would_run".into(), &1.into()),
        "{value}"
    );
}

#[test]
fn on_a_terminal_the_console_opens_and_its_end_ends_the_program() {
    let (home, tag) = (Home::new(), Tag::new());
    write(
        &home,
        "p.prose",
        &format!("exec \"echo hello-from-program; sleep {}\"\nexec \"touch on\"\n", tag.0),
    );
    let mut console = Console::open(&home, &["run", "p.prose"], (120, 40));
    console.shows("hello-from-program");
    tag.asleep();
    console.keys(b"q");
    console.shows("stop all and quit");
    console.keys(b"s");
    assert_eq!(console.exit(), 130);
    wait_until("its commands have gone with it", || tag.holders().is_empty());
    assert!(!has(&home, "on"));
    let state = std::fs::read_to_string(run_folder(&home).join("state.md")).expect("a state");
    assert!(state.contains("interrupted"), "{state}");
    is_closed(&home);
}

#[test]
fn a_run_that_failed_goes_on_at_the_command_that_failed() {
    let home = Home::new();
    write(
        &home,
        "p.prose",
        "exec \"echo one >> log\"\nexec \"echo try >> log; test -e fixed || { echo why >&2; exit 7; }\"\nexec \"echo two >> log\"\n",
    );
    let log = || std::fs::read_to_string(home.workspace().join("log")).expect("a log");
    let failed = home.run(&["run", "p.prose", "--plain"]);
    assert_eq!(failed.status.code(), Some(1), "{}", text(&failed));
    let run = run_id(&home);
    assert!(text(&failed).contains(&format!("--resume {run}")), "{}", text(&failed));
    // Nobody allows it to run again.
    let refused = home.run(&["run", "p.prose", "--plain", "--resume", &run]);
    assert_eq!(refused.status.code(), Some(2), "{}", text(&refused));
    assert!(text(&refused).contains("exit code 7: why"), "{}", text(&refused));
    assert_eq!(log(), "one\ntry\n");
    write(&home, "fixed", "");
    let mut console = Console::open(&home, &["run", "p.prose", "--resume", &run], (100, 30));
    console.shows("This command ended the run");
    console.shows("Enter answer");
    console.keys(b"\r");
    console.shows("run it again");
    read_it();
    console.keys(b"r");
    console.shows("completed");
    console.keys(b"q");
    assert_eq!(console.exit(), 0);
    assert_eq!(log(), "one\ntry\ntry\ntwo\n");
    // An error that the program throws itself stays an error, however often it is run.
    write(&home, "q.prose", "exec \"true\"\nthrow \"no\"\n");
    let thrown = home.run(&["run", "q.prose", "--output", "json"]);
    let value: serde_json::Value = serde_json::from_slice(&thrown.stdout).expect("JSON");
    assert_eq!(value["data"]["can_resume"], false, "{value}");
    let run = value["data"]["run"].as_str().expect("a run");
    let over = home.run(&["run", "q.prose", "--plain", "--resume", run]);
    assert_eq!(over.status.code(), Some(2), "{}", text(&over));
}

#[test]
fn quitting_a_console_whose_program_waits_asks_first() {
    let home = Home::new();
    write(&home, "p.prose", "gate g:\n  prompt: \"go?\"\nexec \"touch went\"\n");
    for is_joined in [true, false] {
        let served = is_joined.then(|| home.serve());
        let mut console = Console::open(&home, &["run", "p.prose"], (100, 30));
        console.shows("gate g");
        console.keys(b"q");
        console.shows("a program is not over");
        console.keys(b"\x1b");
        console.wait_for("it stays", |screen| !screen.contents().contains("not over"));
        console.keys(b"q");
        console.shows("a program is not over");
        console.keys(if is_joined { b"d" } else { b"s" });
        assert_eq!(console.exit(), 130);
        if let Some(mut served) = served {
            home.run(&["serve", "--stop"]);
            served.wait().expect("ends");
        }
        is_closed(&home);
    }
    assert!(!has(&home, "went"));
}

#[test]
fn a_limit_ends_a_run_which_goes_on_without_its_file() {
    let (home, tag) = (Home::new(), Tag::new());
    let program = format!(
        "exec \"echo one >> log\"\nlet x = exec \"echo begun; test -e second && echo two || sleep {}\"\nexec \"echo '{{x}}' >> log\"\n",
        tag.0
    );
    write(&home, "p.prose", &program);
    for private in [&["--private"][..], &[]] {
        let args = [&["run", "p.prose", "--timeout", "4s", "--output", "json"][..], private].concat();
        let late = home.run(&args);
        let answer: serde_json::Value = serde_json::from_slice(&late.stdout).expect("an answer");
        assert_eq!((late.status.code(), &answer["error"]["code"]), (Some(10), &serde_json::json!("TIMEOUT")));
        assert_eq!(answer["error"]["side_effects"], "partial");
        assert_eq!(
            (&answer["data"]["status"], &answer["data"]["can_resume"]),
            (&"interrupted".into(), &true.into())
        );
        wait_until("its command is gone", || tag.holders().is_empty());
        // The run keeps its own copy of the program: it does not matter what became of the file.
        std::fs::remove_file(home.workspace().join("p.prose")).expect("removed");
        write(&home, "second", "");
        write(&home, "a.toml", "[[answer]]\nkind = \"in_flight\"\nanswer = \"rerun\"\n");
        let run = answer["data"]["run"].as_str().expect("an id");
        let resumed = home.run(&["run", "--plain", "--private", "--resume", run, "--answers", "a.toml"]);
        assert_eq!(resumed.status.code(), Some(0), "{}", text(&resumed));
        let log = std::fs::read_to_string(home.workspace().join("log")).expect("a log");
        assert_eq!(log, "one\nbegun\ntwo\n");
        std::fs::remove_file(home.workspace().join("log")).expect("removed");
        std::fs::remove_file(home.workspace().join("second")).expect("removed");
        write(&home, "p.prose", &program);
    }
    let none = home.run(&["run", "--plain"]);
    assert_eq!(none.status.code(), Some(2), "{}", text(&none));
}

/// Everything in the files of a run and of the recordings.
fn all_files(home: &Home) -> String {
    let mut text = String::new();
    let mut folders = vec![home.workspace().join(".prose"), home.places().recordings()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
            match entry.path() {
                path if path.is_dir() => folders.push(path),
                path => text.push_str(&String::from_utf8_lossy(&std::fs::read(path).expect("readable"))),
            }
        }
    }
    text
}

#[test]
fn an_input_that_is_a_secret_is_used_and_stored_nowhere() {
    const SECRET: &str = "hunter2-a1b2c3";
    let home = Home::new();
    let program = "input password: \"Which?\"\ninput place: \"Where?\"\nexec \"PASSWORD={password}; printf '{place}%s' ${#PASSWORD} \
                   >> log\"\nexec \"test -e second\"\nexec \"echo curl -u me:{password} | head -c 4 >> log\"\n";
    write(&home, "p.prose", program);
    let log = || std::fs::read_to_string(home.workspace().join("log")).unwrap_or_default();
    let set = format!("password={SECRET}");
    let failed = home.call(&["run", "p.prose", "--plain", "--set", &set, "--set", "place=here"]);
    assert_eq!((failed.status.code(), log().as_str()), (Some(1), "here14"), "{}", text(&failed));
    assert!(!all_files(&home).contains(SECRET) && !text(&failed).contains(SECRET), "{}", text(&failed));
    // It is not on record, so it is given once more.
    write(&home, "second", "");
    let run = run_id(&home);
    write(&home, "a.toml", "[[answer]]\nkind = \"in_flight\"\nanswer = \"rerun\"\n");
    let rest = ["--answers", "a.toml", "--resume", &run];
    let asks = home.call(&[&["run", "p.prose", "--plain"], &rest[..]].concat());
    assert_eq!(asks.status.code(), Some(3), "{}", text(&asks));
    let resumed = home.call(&[&["run", "p.prose", "--plain", "--set", &set], &rest[..]].concat());
    assert_eq!(resumed.status.code(), Some(0), "{}", text(&resumed));
    assert!(log().starts_with("here14curl"), "{}", log());
    assert!(!all_files(&home).contains(SECRET), "stored");
}

#[test]
fn an_answer_that_is_a_secret_is_used_and_stored_nowhere() {
    const SECRET: &str = "hunter2-a1b2c3";
    let home = Home::new();
    // It keeps copies of the workspace's files, and the answers are one of them.
    home.configure("config.toml", "ledger = \"off\"\n");
    write(
        &home,
        "p.prose",
        "input api_token: \"Which?\"\nexec \"API_TOKEN='{api_token}'; printf ${#API_TOKEN} > log\"\n",
    );
    write(&home, "a.toml", &format!("[[answer]]\nname = \"api_token\"\nanswer = \"{SECRET}\"\n"));
    let ran = home.call(&["run", "p.prose", "--plain", "--answers", "a.toml"]);
    assert_eq!(ran.status.code(), Some(0), "{}", text(&ran));
    assert!(text(&ran).contains("hidden (file)"), "{}", text(&ran));
    assert_eq!(std::fs::read_to_string(home.workspace().join("log")).expect("a log").trim(), "14");
    assert!(!all_files(&home).contains(SECRET) && !text(&ran).contains(SECRET), "{}", text(&ran));
}

#[test]
fn a_known_failure_is_run_again_by_a_flag_and_not_asked_about() {
    let home = Home::new();
    write(
        &home,
        "p.prose",
        "exec \"echo one >> log\"\nexec \"test -e second || nosuchcmd\"\nexec \"echo two >> log\"\n",
    );
    let failed = home.call(&["run", "p.prose", "--plain"]);
    let said = text(&failed);
    assert_eq!(failed.status.code(), Some(1), "{said}");
    assert!(said.contains("exit code 127: bash: line 1: nosuchcmd: command not found"), "{said}");
    let run = run_id(&home);
    assert!(said.contains(&format!("--resume {run} --rerun")), "{said}");
    let resume = |more: &[&str]| home.call(&[&["run", "--plain", "--resume", &run], more].concat());
    for _ in 0..2 {
        let again = resume(&[]);
        let said = text(&again);
        assert_eq!(again.status.code(), Some(2), "{said}");
        assert!(
            said.contains("line 2 ended") && said.contains("nosuchcmd") && said.contains("--rerun"),
            "{said}"
        );
    }
    assert_eq!(resume(&["--rerun"]).status.code(), Some(1));
    write(&home, "second", "");
    let done = resume(&["--rerun"]);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done));
    assert_eq!(std::fs::read_to_string(home.workspace().join("log")).expect("a log"), "one\ntwo\n");
}

#[test]
fn a_missing_answers_file_starts_no_runtime_and_a_missing_directory_is_named() {
    let home = Home::new();
    write(&home, "p.prose", "exec \"true\"\n  cwd: \"nowhere\"\n");
    let refused = home.call(&["run", "p.prose", "--plain", "--answers", "missing.toml"]);
    let said = text(&refused);
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(said.contains("missing.toml") && said.contains("No such file"), "{said}");
    assert!(!home.places().agent_socket().exists(), "no runtime was started");
    let failed = home.call(&["run", "p.prose", "--plain"]);
    let said = text(&failed);
    assert_eq!(failed.status.code(), Some(1), "{said}");
    assert!(
        said.contains("the directory cannot be entered, it does not exist: /") && said.contains("/nowhere"),
        "{said}"
    );
}
