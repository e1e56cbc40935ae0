//! The tool commands, run in the workspace's runtime.

use crate::support::{Home, wait_until};

fn said(output: &std::process::Output) -> (Option<i32>, String) {
    (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn a_command_runs_without_a_runtime_and_its_exit_code_tells_the_end() {
    let home = Home::new();
    let plain = ["command", "run", "true", "--output", "plain"];
    assert_eq!(said(&home.call(&plain)), (Some(0), "Process exited with code 0\n".to_owned()));
    assert_eq!(said(&home.call(&["command", "run", "exit 3"])).0, Some(79));
    assert_eq!(said(&home.call(&["task", "status", "task_00000000"])).0, Some(5));
}

#[test]
fn commands_share_the_runtime_of_the_workspace() {
    let home = Home::new();
    let mut served = home.serve();
    home.run(&["command", "run", "sleep 60", "--yield-time-ms", "0"]);
    let (code, list) = said(&home.run(&["task", "list"]));
    assert_eq!(code, Some(0));
    assert!(list.contains("\"total\":1"), "{list}");
    // A second runtime is refused while the first one is running.
    assert_eq!(home.run(&["serve"]).status.code(), Some(6));
    assert_eq!(said(&home.run(&["serve", "--stop", "--output", "plain"])), (Some(0), "stopped\n".to_owned()));
    served.wait().expect("ends");
    assert_eq!(
        said(&home.run(&["serve", "--stop", "--output", "plain"])).1,
        "no runtime serves this workspace\n"
    );
}

/// What TaskOutput says about the only task after its runtime has ended and a new one is asked.
fn told_of_the_past(home: &Home) -> String {
    let recording = std::fs::read_dir(home.places().recordings()).expect("recordings").flatten();
    let tasks =
        recording.flat_map(|folder| std::fs::read_dir(folder.path().join("tasks")).into_iter().flatten());
    let ids: Vec<String> =
        tasks.flatten().map(|task| task.file_name().into_string().expect("an id")).collect();
    let id = ids.first().expect("a task");
    said(&home.run(&["task", "output", id, "--output", "plain"])).1
}

#[test]
fn the_cause_of_a_runtimes_end_is_told_to_a_waiting_caller_and_to_a_later_reader() {
    for (stop, why) in [
        (&["serve", "--stop"][..], "the operator ran `pilothouse serve --stop`"),
        (&[], "it received SIGTERM"),
    ] {
        let home = Home::new();
        let mut served = home.serve();
        let command = "touch begun; sleep 60";
        let args = ["command", "run", command, "--yield-time-ms", "30000", "--output", "plain"];
        let waits = home.command(&args).stdout(std::process::Stdio::piped()).spawn().expect("starts");
        wait_until("the command runs", || home.workspace().join("begun").exists());
        match stop {
            [] => {
                let pid = rustix::process::Pid::from_raw(home.runtime_pid()).expect("a pid");
                rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("sends");
            }
            args => drop(home.run(args)),
        }
        served.wait().expect("ends");
        let answer = waits.wait_with_output().expect("answers");
        let answer = String::from_utf8_lossy(&answer.stdout).into_owned();
        let said = format!("ended with the runtime: {why}");
        // On a busy machine, bash may not act on the first signal in time.
        let ends = ["SIGTERM", "SIGKILL"].map(|signal| format!("Process terminated by {signal} ({said})"));
        assert!(ends.iter().any(|end| answer.contains(end)), "{answer}");
        let later = told_of_the_past(&home);
        assert!(later.contains(&format!("was interrupted ({said}")), "{later}");
        // A signal that was the reason is not named once more as the end.
        assert!(!later.contains("SIGTERM, SIGTERM"), "{later}");
    }
}

#[test]
fn a_task_whose_output_was_removed_still_tells_how_it_ended() {
    let home = Home::new();
    home.serve_here();
    let started = said(&home.call(&["command", "run", "echo hi; exit 3", "--yield-time-ms", "0"])).1;
    let started: serde_json::Value = serde_json::from_str(&started).expect("JSON");
    let id = started["data"]["task_handle"]["task_id"].as_str().expect("a task").to_owned();
    let read = || said(&home.call(&["task", "output", &id, "--output", "json"])).1;
    wait_until("it has ended", || read().contains("\"status\":\"failed\""));
    let recordings = std::fs::read_dir(home.places().recordings()).expect("recordings").flatten();
    let logs = recordings.map(|folder| folder.path().join("tasks").join(&id).join("output.log"));
    logs.filter(|log| log.exists()).for_each(|log| std::fs::remove_file(log).expect("removed"));
    let answer: serde_json::Value = serde_json::from_str(&read()).expect("JSON");
    let task = &answer["data"]["task"];
    assert_eq!((answer["ok"] == true, task["exit_status"].as_i64()), (true, Some(3)), "{answer}");
    assert!(task["output_preview"].is_null() && task["output_lost"] == true, "{answer}");
}

#[test]
fn f38_a_runtime_that_was_suspended_takes_no_exit_in_time_for_a_timeout() {
    let home = Home::new();
    let mut served = home.serve();
    let command = "touch begun; while [ ! -e go ]; do sleep .02; done; touch over";
    let args = ["command", "run", command, "--timeout-ms", "8000", "--yield-time-ms", "30000"];
    let waits = home.command(&args).stdout(std::process::Stdio::piped()).spawn().expect("starts");
    let exists = |name: &str| home.workspace().join(name).exists();
    wait_until("the command runs", || exists("begun"));
    let begun = pilothouse::clock::Clock::start();
    let pid = rustix::process::Pid::from_raw(home.runtime_pid()).expect("a pid");
    rustix::process::kill_process(pid, rustix::process::Signal::STOP).expect("stopped");
    std::fs::write(home.workspace().join("go"), "").expect("written");
    wait_until("it is over, in time", || exists("over"));
    wait_until("its time is over", || begun.now().mono > std::time::Duration::from_secs(9));
    rustix::process::kill_process(pid, rustix::process::Signal::CONT).expect("goes on");
    let answer = waits.wait_with_output().expect("answers");
    let answer: serde_json::Value = serde_json::from_slice(&answer.stdout).expect("JSON");
    assert_eq!((answer["ok"] == true, answer["data"]["exit_status"].as_i64()), (true, Some(0)), "{answer}");
    home.run(&["serve", "--stop"]);
    served.wait().expect("ends");
}

#[test]
fn a_headless_runtime_ends_by_itself_when_nobody_needs_it() {
    let home = Home::new();
    let served = home.command(&["serve", "--idle-seconds", "0"]).output().expect("runs");
    assert!(served.status.success());
    assert!(!home.places().agent_socket().exists());
}

#[test]
fn a_status_line_shows_what_runs_and_waits_starts_nothing_and_leaves_no_call() {
    let home = Home::new();
    let none = home.run(&["status", "--short"]);
    assert_eq!((said(&none), none.stderr.is_empty()), ((Some(4), String::new()), true));
    let told = said(&home.run(&["status", "--output", "plain"]));
    assert!(told.0 == Some(4) && told.1.starts_with("No runtime serves "), "{told:?}");
    assert!(!home.places().recordings().exists(), "nothing was started");
    let mut served = home.serve();
    let short = || said(&home.run(&["status", "--short"]));
    assert_eq!(short(), (Some(0), "●0\n".to_owned()));
    for cmd in ["read name", "sleep 300"] {
        home.run(&["command", "run", cmd, "--tty", "--yield-time-ms", "0"]);
    }
    wait_until("one waits and one runs", || short().1 == "●1 ◐1\n");
    let data = said(&home.run(&["status", "--output", "json"])).1;
    let data: serde_json::Value = serde_json::from_str(&data).expect("JSON");
    assert_eq!((&data["data"]["waiting"], &data["data"]["short"]), (&1.into(), &"●1 ◐1".into()), "{data}");
    let calls = said(&home.run(&["receipt", "list", "--output", "plain"])).1;
    assert_eq!(calls.matches("ExecCommand").count(), 2, "{calls}");
    home.stop(&mut served);
}

#[test]
fn every_agents_snippet_is_printed() {
    let home = Home::new();
    for agent in pilothouse::agents::AgentProgram::ALL {
        let (code, text) = said(&home.call(&["mcp", "config", agent.as_str()]));
        let is_connected = !agent.profile().scopes.is_empty();
        assert_eq!(code, Some(if is_connected { 0 } else { 4 }), "{agent:?}: {text}");
        assert!(!is_connected || text.contains("pilothouse"), "{agent:?}: {text}");
    }
    assert_eq!(home.call(&["mcp", "config", "emacs"]).status.code(), Some(2));
}
