//! Where the runtime lives: in a process of its own that belongs to no caller, one per workspace.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use pilothouse::link::{Holder, RuntimeAddress};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::support::{Agent, Console, Home, Tag, wait_until};

fn answer(command: &mut Command) -> Value {
    let output = command.output().expect("runs");
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)))
}

fn json(home: &Home, args: &[&str]) -> Value {
    answer(&mut home.command(args))
}

/// The same in this process.
fn told_here(home: &Home, args: &[&str]) -> Value {
    serde_json::from_slice(&home.call(args).stdout).expect("JSON")
}

fn start(home: &Home, args: &[&str]) -> Child {
    home.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts")
}

fn write(fifo: &Path) {
    let mut writer = std::fs::OpenOptions::new().write(true).open(fifo).expect("a reader");
    writeln!(writer, "go on").expect("written");
}

#[test]
fn what_one_shots_start_outlives_the_first_of_them_and_is_listed_and_stopped_by_others() {
    let home = Home::new();
    let (first_gate, second_gate) = (home.fifo("first"), home.fifo("second"));
    let first = start(&home, &["command", "run", "cat first"]);
    write(&first_gate);
    let second = start(&home, &["command", "run", "echo begun > f; cat second; echo finished >> f"]);
    let text = || std::fs::read_to_string(home.workspace().join("f")).unwrap_or_default();
    wait_until("the second command has begun", || text() == "begun\n");
    let output = first.wait_with_output().expect("ends");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && told.contains("started a runtime"), "{told}");
    write(&second_gate);
    let output = second.wait_with_output().expect("ends");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    assert_eq!(text(), "begun\nfinished\n");

    let tag = Tag::new();
    let cmd = format!("sleep {}", tag.0);
    assert!(home.run(&["command", "run", &cmd, "--yield-time-ms", "0"]).status.success());
    tag.asleep();
    let listed = told_here(&home, &["task", "list"]);
    assert_eq!(listed["data"]["total"], 1, "{listed}");
    let task = listed["data"]["tasks"][0]["task_id"].as_str().expect("an id").to_owned();
    let stopped = told_here(&home, &["task", "stop", &task]);
    assert_eq!(stopped["ok"], true, "{stopped}");
    wait_until("the task is gone", || tag.holders().is_empty());

    // So is a command in the foreground of another shell.
    let tag = Tag::new();
    let running = start(&home, &["command", "run", &format!("sleep {}", tag.0), "--yield-time-ms", "30000"]);
    tag.asleep();
    // The process exists a moment before the runtime knows of it.
    let id =
        || told_here(&home, &["task", "list"])["data"]["tasks"][0]["task_id"].as_str().map(str::to_owned);
    wait_until("it is listed", || id().is_some());
    let task = id().expect("an id");
    assert_eq!(told_here(&home, &["task", "stop", &task])["ok"], true);
    let output = running.wait_with_output().expect("ends");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("SIGTERM") && tag.holders().is_empty(), "{said}");
    // An agent waits for its own answers only: foreground commands of others are not listed for it.
    let agent = Agent::connect(&home, &[]);
    assert_eq!(agent.call("TaskList", &json!({})).result("/total"), 0);
    agent.leave();
    home.run(&["serve", "--stop"]);
}

/// Starts `calls` one-shots at once in a workspace without a runtime; returns what went wrong.
fn failures_of(calls: usize) -> Vec<String> {
    let home = Home::new();
    let all: Vec<Child> = (0..calls)
        .map(|number| start(&home, &["command", "run", &format!("echo number {number}")]))
        .collect();
    let ended = all.into_iter().enumerate().map(|(number, child)| {
        let output = child.wait_with_output().expect("ends");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let is_well = output.status.success() && said.contains(&format!("number {number}\\n"));
        (!is_well).then(|| format!("{number}: {said} {}", String::from_utf8_lossy(&output.stderr)))
    });
    ended.flatten().collect()
}

#[test]
fn one_shots_that_start_at_once_share_one_runtime() {
    let failures = failures_of(16);
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
#[ignore = "minutes: .ci/long calls"]
#[expect(clippy::print_stdout, reason = "the figures are what it is for")]
fn long_sixty_four_one_shots_at_once_share_one_runtime_twenty_times() {
    let failures: Vec<String> = (0..20).flat_map(|_| failures_of(64)).collect();
    println!("64 one-shots at once, 20 rounds: {} of 1280 failed", failures.len());
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn a_private_command_serves_nobody_else_and_takes_its_tasks_with_it() {
    let home = Home::new();
    let tag = Tag::new();
    let ran =
        home.run(&["command", "run", "--private", &format!("sleep {}", tag.0), "--yield-time-ms", "250"]);
    let told = String::from_utf8_lossy(&ran.stderr);
    assert!(told.contains("ends with this command") && told.contains("task_"), "{told}");
    assert!(tag.holders().is_empty());
    let places = home.places();
    assert!(!places.runtime_dir.exists() && !places.lock.exists());
    // Even next to a running runtime, `--private` stays separate.
    let _one = home.run(&["command", "run", "true"]);
    assert!(matches!(Holder::of(&places), Holder::Runtime(Some(_))));
    let ran = home.run(&["command", "run", "--private", "sleep 60", "--yield-time-ms", "0"]);
    assert!(ran.status.success());
    assert_eq!(json(&home, &["task", "list"])["data"]["total"], 0);
}

/// All descendants of a process.
fn below(pid: u32) -> Vec<u32> {
    let all = std::fs::read_dir("/proc").expect("lists").flatten();
    let pids = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let parent = |pid: u32| -> Option<u32> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(1)?.parse().ok()
    };
    let pairs: Vec<(u32, u32)> = pids.filter_map(|pid| Some((pid, parent(pid)?))).collect();
    let mut found = vec![pid];
    for at in 0.. {
        let Some(above) = found.get(at).copied() else { break };
        found.extend(pairs.iter().filter(|(_, parent)| *parent == above).map(|(pid, _)| *pid));
    }
    found
}

#[test]
fn ending_all_processes_below_an_agents_server_does_not_end_the_runtime() {
    let home = Home::new();
    let tag = Tag::new();
    let mut shim = home.command(&["mcp"]);
    let mut shim =
        shim.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("starts");
    let mut lines = BufReader::new(shim.stdout.take().expect("piped")).lines();
    let input = json!({"cmd": format!("sleep {}", tag.0), "yield_time_ms": 250});
    let client = json!({"protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "an-agent", "version": "1"}});
    let said = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call",
            "params": {"name": "ExecCommand", "arguments": input}}),
    ];
    let mut stdin = shim.stdin.take().expect("piped");
    for line in said {
        writeln!(stdin, "{line}").expect("said");
    }
    let is_answer = |line: &String| line.contains("\"id\":2");
    lines.by_ref().map(|line| line.expect("read")).find(is_answer).expect("an answer");
    tag.asleep();
    let runtime = home.runtime_pid().unsigned_abs();
    let ended = below(shim.id());
    assert!(!ended.contains(&runtime), "{runtime} is among {ended:?}");
    for pid in ended {
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).expect("a pid");
        // It may have exited before the signal.
        let _ = kill_process(pid, Signal::TERM);
    }
    shim.wait().expect("ends");
    assert_eq!(home.runtime_pid().unsigned_abs(), runtime);
    assert_eq!(json(&home, &["task", "list"])["data"]["total"], 1);
    assert!(!tag.holders().is_empty());
}

/// Removes a variable that some agents do not pass on to their servers.
fn bare(command: &mut Command) -> &mut Command {
    command.env_remove("XDG_RUNTIME_DIR")
}

#[test]
fn callers_with_other_variables_meet_in_one_runtime_that_keeps_none_of_them() {
    let home = Home::new();
    let tag = Tag::new();
    let elsewhere = home.workspace().join("../other-state");
    let said = |answer: &Value| answer["data"]["stdout_preview"].as_str().expect("output").to_owned();
    let echo = ["command", "run", "echo [$MARK]"];
    let mut first = home.command(&echo);
    let first = answer(bare(&mut first).env("XDG_STATE_HOME", &elsewhere).env("MARK", "first-hunter2"));
    assert_eq!(said(&first), "[first-hunter2]\n", "a command gets the environment of its caller");
    assert!(!home.places().agent_socket().exists(), "it has its sockets where its own variables say");
    let run = home.run(&["command", "run", &format!("sleep {}", tag.0), "--yield-time-ms", "0"]);
    assert!(run.status.success());
    tag.asleep();
    assert_eq!(json(&home, &["task", "list"])["data"]["total"], 1);
    assert_eq!(said(&answer(home.command(&echo).env("MARK", "second"))), "[second]\n");
    assert!(!home.places().recordings().exists(), "no second runtime recorded anything");
    let doctor = json(&home, &["doctor"]);
    let findings = doctor["data"]["findings"].as_array().expect("findings");
    assert!(findings.iter().all(|finding| finding["check"] != "runtimes"), "{doctor}");

    let own = std::fs::read(format!("/proc/{}/environ", home.runtime_pid())).expect("its environment");
    assert!(!String::from_utf8_lossy(&own).contains("hunter2"));
    let (mut open, mut rows) = (vec![elsewhere], 0);
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(path.read_dir().expect("lists").flatten().map(|entry| entry.path()));
        } else if path.extension().is_some_and(|end| end == "jsonl") {
            let text = std::fs::read_to_string(&path).expect("text");
            assert!(!text.contains("MARK=") && !text.contains("\"first-hunter2\""), "{text}");
            rows += text.lines().count();
        }
    }
    assert!(rows > 0, "they are on record");
}

#[test]
fn doctor_finds_two_runtimes_of_one_workspace() {
    let home = Home::new();
    let mut first = home.serve();
    let elsewhere = home.workspace().join("../other-run");
    let mut second = home.command(&["serve"]);
    let other = |command: &mut Command| {
        command.env("PILOTHOUSE_LOCK_DIR", &elsewhere).env_remove("XDG_RUNTIME_DIR");
    };
    other(&mut second);
    // Another lock folder, as a sandbox without /run/user would use.
    let mut second = second.stderr(Stdio::null()).spawn().expect("starts");
    let finding = || {
        let doctor = json(&home, &["doctor"]);
        let findings = doctor["data"]["findings"].as_array().expect("findings").clone();
        findings.into_iter().find(|finding| finding["check"] == "runtimes")
    };
    let mut found = None;
    wait_until("doctor tells of both", || {
        found = finding();
        found.is_some()
    });
    let told = found.expect("a finding").to_string();
    assert!(
        told.contains(&first.id().to_string()) || told.contains(&home.runtime_pid().to_string()),
        "{told}"
    );
    let mut stop = home.command(&["serve", "--stop"]);
    other(&mut stop);
    assert!(stop.output().expect("runs").status.success());
    second.wait().expect("ends");
    home.stop(&mut first);
}

#[test]
fn a_lock_whose_runtime_cannot_be_reached_is_said_and_no_second_one_starts() {
    let home = Home::new();
    let places = home.places();
    let folder = places.lock.parent().expect("a folder");
    std::fs::DirBuilder::new().create(folder).expect("made");
    std::fs::set_permissions(folder, PermissionsExt::from_mode(0o700)).expect("chmod");
    let address = RuntimeAddress {
        pid: std::process::id(),
        runtime: "/nowhere".into(),
        state: places.state_dir.clone(),
        config: places.config_dir.clone(),
        workspace: places.workspace.clone(),
    };
    let text = serde_json::to_vec(&address).expect("JSON");
    std::fs::write(&places.lock, text).expect("written");
    let held = std::fs::File::open(&places.lock).expect("open");
    rustix::fs::flock(&held, rustix::fs::FlockOperation::LockExclusive).expect("held");
    let refused = told_here(&home, &["command", "run", "touch ran"]);
    let message = refused["error"]["message"].as_str().expect("an error");
    assert!(message.contains("/nowhere") && message.contains("cannot be reached"), "{message}");
    assert!(!home.workspace().join("ran").exists() && !places.recordings().exists());
    // Closing the file is not enough: a process that another test is just forking may have a copy of it.
    rustix::fs::flock(&held, rustix::fs::FlockOperation::Unlock).expect("let go");
}

#[test]
fn a_console_hands_its_rules_to_a_runtime_with_other_settings() {
    let home = Home::new();
    home.configure("config.toml", "[[approvals]]\nprefix = \"touch\"\nactor = \"cli\"\n");
    let mut served = home.command(&["serve"]);
    let mut served = served
        .env("XDG_CONFIG_HOME", home.workspace().join("../other-config"))
        .stderr(Stdio::null())
        .spawn()
        .expect("starts");
    wait_until("it serves", || home.places().operator_socket().exists());
    assert_eq!(json(&home, &["command", "run", "touch before"])["data"]["disposition"], "completed");
    let mut console = Console::open(&home, &[], (120, 40));
    console.shows("1 approval rule of a console holds here too");
    let mut held = Value::Null;
    wait_until("the rule holds", || {
        held = json(&home, &["command", "run", "touch after", "--yield-time-ms", "250"]);
        held["data"]["disposition"] == "awaiting_operator"
    });
    let recordings: Vec<PathBuf> =
        home.places().recordings().read_dir().expect("lists").flatten().map(|entry| entry.path()).collect();
    let rows = || std::fs::read_to_string(recordings[0].join("journal-0001.jsonl")).expect("rows");
    wait_until("it is on record", || rows().contains("\"kind\":\"rules\""));
    console.kill(Signal::TERM);
    console.exit();
    home.stop(&mut served);
}

#[test]
fn sockets_and_lock_that_were_removed_are_put_back() {
    let home = Home::new();
    home.serve_here();
    let places = home.places();
    let runtime = Holder::of(&places);
    let is_heard = || std::os::unix::net::UnixStream::connect(places.agent_socket()).is_ok();
    std::fs::remove_file(places.agent_socket()).expect("removed");
    wait_until("its socket is back", is_heard);
    // As logind does at a user's last logout.
    std::fs::remove_dir_all(places.runtime_dir.parent().expect("a parent")).expect("removed");
    wait_until("its folder is back", || is_heard() && Holder::of(&places).address().is_some());
    assert_eq!(Holder::of(&places), runtime);
    let said = told_here(&home, &["command", "run", "echo the same one"]);
    assert_eq!(said["data"]["stdout_preview"], "the same one\n");
    assert_eq!(Holder::of(&places), runtime);
}

#[test]
fn f22_no_command_starts_after_the_state_folder_was_removed() {
    let home = Home::new();
    let mut served = home.serve();
    let mut console = Console::open(&home, &[], (120, 40));
    console.shows(" OBSERVE ");
    assert_eq!(json(&home, &["command", "run", "touch before"])["data"]["exit_status"], 0);
    // Runtime and console may just be creating a file in it.
    let state = home.places().state_dir;
    wait_until("it is removed", || std::fs::remove_dir_all(&state).is_ok() || !state.exists());
    console.shows("NOT ON RECORD");
    let refused = json(&home, &["command", "run", "touch after"]);
    assert_eq!(refused["ok"], false, "{refused}");
    assert!(refused["error"]["message"].as_str().is_some_and(|text| text.contains("record")), "{refused}");
    assert!(home.workspace().join("before").exists() && !home.workspace().join("after").exists());
    // Running tasks can still be inspected, and the runtime can be ended.
    assert_eq!(json(&home, &["task", "list"])["ok"], true);
    console.kill(Signal::TERM);
    console.exit();
    home.stop(&mut served);
}

fn refusal(home: &Home) -> String {
    let output = home.run(&["serve"]);
    assert_ne!(output.status.code(), Some(0));
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Why no runtime can serve, in this process.
fn refusal_here(home: &Home) -> String {
    told_here(home, &["command", "run", "true"])["error"].to_string()
}

#[test]
fn f34_a_folder_that_others_may_write_is_refused() {
    let home = Home::new();
    let folder = home.places().runtime_dir;
    std::fs::create_dir_all(&folder).expect("made");
    for path in [folder.parent().expect("a parent"), &folder] {
        std::fs::set_permissions(path, PermissionsExt::from_mode(0o777)).expect("chmod");
        assert!(refusal(&home).contains("open to other users"));
        // A one-shot reports why the runtime that it started could not serve.
        let said = json(&home, &["command", "run", "touch ran"]).to_string();
        assert!(said.contains("open to other users"), "{said}");
        std::fs::set_permissions(path, PermissionsExt::from_mode(0o700)).expect("chmod");
    }
    assert!(!home.workspace().join("ran").exists());
}

#[test]
fn f34_a_folder_that_is_a_symlink_or_another_users_is_refused() {
    let home = Home::new();
    let folder = home.places().runtime_dir;
    let parent = folder.parent().expect("a parent");
    let elsewhere = home.workspace().join("../elsewhere");
    for path in [parent, &elsewhere] {
        std::fs::create_dir(path).expect("made");
        std::fs::set_permissions(path, PermissionsExt::from_mode(0o700)).expect("chmod");
    }
    symlink(&elsewhere, &folder).expect("linked");
    assert!(refusal_here(&home).contains("is a symlink"));
    std::fs::remove_file(&folder).expect("removed");
    if rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(parent, Some(12_345), None).expect("given away");
        assert!(refusal_here(&home).contains("belongs to another user"));
        std::os::unix::fs::chown(parent, Some(0), None).expect("taken back");
    }
}

#[test]
fn the_record_is_not_worn_away_by_looking() {
    let home = Home::new();
    home.configure("config.toml", "[record]\nkeep_recordings = 2\n");
    assert_eq!(json(&home, &["command", "run", "--private", "echo kept"])["data"]["exit_status"], 0);
    let recordings = || {
        let entries = home.places().recordings().read_dir().expect("lists").flatten();
        entries.map(|entry| entry.file_name()).collect::<Vec<_>>()
    };
    let before = recordings();
    assert_eq!(before.len(), 1);
    for args in [&["task", "list"][..], &["question", "list"], &["task", "status", "task_00000000"]] {
        for _ in 0..3 {
            home.run(args);
        }
    }
    let plan = home.workspace().join("plan.jsonl");
    let lines = "{\"_cmd\":\"task.list\"}\n{\"_cmd\":\"command.run\",\"cmd\":\"true\"}\n";
    std::fs::write(&plan, lines).expect("written");
    for _ in 0..3 {
        assert!(home.run(&["exec", "--dry-run", "--input-file", "plan.jsonl"]).status.success());
    }
    assert_eq!(recordings(), before);
    // A task in it can still be found, by a command that leaves no recording either.
    let listed = json(&home, &["audit", "list"]);
    assert_eq!(listed["ok"], true, "{listed}");
    assert!(!home.places().agent_socket().exists(), "nor did any of it start a runtime");
}
