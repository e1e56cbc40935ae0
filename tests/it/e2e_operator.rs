//! Who may act as the operator: no command, whatever way it tries; a person, from wherever they come.

use std::process::{Command, Stdio};

use serde_json::json;

use crate::support::{Agent, Home, program_word, skip, wait_until};

/// A shell line that stops a home's runtime, which only the operator may do; its result goes to `file`.
fn stop(home: &Home, file: &str) -> String {
    let at = |path: &str| home.workspace().parent().expect("a parent").join(path).display().to_string();
    format!(
        "(cd {}; XDG_RUNTIME_DIR={} XDG_STATE_HOME={} XDG_CONFIG_HOME={} HOME={} {} serve --stop) > {file}.new 2>&1; \
         mv {file}.new {file}",
        home.workspace().display(),
        at("run"),
        at("state"),
        at("config"),
        at(""),
        program_word(),
    )
}

fn said(home: &Home, file: &str) -> String {
    std::fs::read_to_string(home.workspace().join(file)).unwrap_or_default()
}

#[test]
fn a_command_of_another_workspaces_runtime_is_not_the_operator() {
    let (guarded, other) = (Home::new(), Home::new());
    let (mut served, mut foreign) = (guarded.serve(), other.serve());
    std::fs::write(other.workspace().join("stop"), stop(&guarded, "said")).expect("written");
    for (line, why) in [
        ("sh stop", "PILOTHOUSE_TASK_ID in its environment"),
        ("setsid -w env -i sh stop", "it was started by a managed task"),
    ] {
        let ran = other.run(&["command", "run", line]);
        assert!(ran.status.success(), "{ran:?}");
        let said = said(&other, "said");
        assert!(said.contains("cannot act as the operator") && said.contains(why), "{line}: {said}");
    }
    assert!(served.try_wait().expect("asked").is_none(), "the runtime still serves");
    for (home, child) in [(&guarded, &mut served), (&other, &mut foreign)] {
        assert!(home.run(&["serve", "--stop"]).status.success());
        child.wait().expect("ends");
    }
}

#[test]
fn an_escaped_command_is_not_the_operator() {
    let home = Home::new();
    let mut served = home.serve();
    let agent = Agent::connect(&home, &[]);
    let attempt = stop(&home, "said");
    std::fs::write(home.workspace().join("attempt"), format!("kill -9 $1\nwhile :; do {attempt}; done\n"))
        .expect("written");
    for _ in 0..5 {
        let escape = "setsid -f env -i PATH=\"$PATH\" setsid -f sh attempt $PPID; sleep 30";
        let ran = agent.call("ExecCommand", &json!({"cmd": escape, "yield_time_ms": 30_000}));
        // The host may die before it could say that the command had begun.
        let whole = ran.envelope.to_string();
        assert!(
            ["the task host was killed", "The task host was lost"].iter().any(|end| whole.contains(end)),
            "{whole}"
        );
        let said = said(&home, "said");
        assert!(!said.contains("stopped"), "{said}");
    }
    assert!(served.try_wait().expect("asked").is_none(), "the runtime still serves");
    agent.leave();
    home.stop(&mut served);
}

#[test]
fn a_process_that_carries_the_task_mark_is_not_the_operator() {
    let home = Home::new();
    let mut served = home.serve();
    let own = program_word();
    let inherited = format!("PILOTHOUSE_TASK_ID=task_x {own} serve --stop");
    let above = format!(
        "PILOTHOUSE_TASK_ID=task_x setsid -w sh -c 'env -u PILOTHOUSE_TASK_ID {own} serve --stop; exit $?'"
    );
    for line in [inherited, above] {
        let mut command = Command::new("sh");
        home.settle(&mut command);
        let ran = command.args(["-c", &line]).output().expect("runs");
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert!(said.contains("PILOTHOUSE_TASK_ID in its environment"), "{line}: {said}");
    }
    assert!(served.try_wait().expect("asked").is_none(), "the runtime still serves");
    home.stop(&mut served);
}

#[test]
fn a_persons_own_processes_are_the_operator_wherever_they_hang() {
    let home = Home::new();
    // Abandoned by its parent, in a session of its own; and below a multiplexer server that was started outside.
    let orphaned = "setsid -f sh -c 'LINE'".to_owned();
    let socket = home.workspace().join("mux").display().to_string();
    let multiplexed = format!("tmux -f /dev/null -S {socket} new-session -d 'LINE'");
    let mut ways = vec![orphaned];
    match Command::new("tmux").arg("-V").output() {
        Ok(_) => ways.push(multiplexed),
        Err(_) => skip("in part: there is no tmux"),
    }
    for (number, way) in ways.iter().enumerate() {
        let mut served = home.serve();
        let file = format!("said{number}");
        std::fs::write(home.workspace().join("stop"), stop(&home, &file)).expect("written");
        let mut command = Command::new("sh");
        home.settle(&mut command);
        command.env("TERM", "xterm-256color");
        let line = way.replace("LINE", "sh stop");
        assert!(command.args(["-c", &line]).status().expect("runs").success(), "{line}");
        wait_until("it has had its answer", || home.workspace().join(&file).exists());
        assert!(said(&home, &file).contains("stopped"), "{way}: {}", said(&home, &file));
        served.wait().expect("ends");
    }
    let _ = Command::new("tmux").args(["-S", &socket, "kill-server"]).stderr(Stdio::null()).status();
}

#[test]
fn a_command_cannot_type_through_the_multiplexer_around_the_console() {
    let home = Home::new();
    let socket = home.workspace().join("mux");
    let tmux = |args: &[&str]| {
        let mut command = Command::new("tmux");
        home.settle(&mut command);
        command.env("TERM", "xterm-256color").arg("-f").arg("/dev/null").arg("-S").arg(&socket).args(args);
        command.stderr(Stdio::null()).output()
    };
    let own = program_word();
    match tmux(&["new-session", "-d", "-x", "100", "-y", "30", &own]) {
        Ok(opened) => assert!(opened.status.success(), "{opened:?}"),
        Err(_) => return skip("there is no tmux"),
    }
    wait_until("the console is there", || home.places().agent_socket().exists());
    let agent = Agent::connect(&home, &[]);
    let cmd = "env | grep -c -e ^TMUX; tmux send-keys -t 0 q; tmux send-keys -t 0 s; echo tried";
    let mut command = json!({"cmd": cmd});
    command["yield_time_ms"] = json!(20_000);
    let ran = agent.call("ExecCommand", &command);
    assert!(ran.receipt.contains("0\n") && ran.receipt.contains("tried"), "{}", ran.receipt);
    let on = agent.call("ExecCommand", &json!({"cmd": "echo still here"}));
    assert_eq!(on.result("/stdout_preview"), "still here\n");
    agent.leave();
    let _ = home.run(&["serve", "--stop"]);
    let _ = tmux(&["kill-server"]);
}

#[test]
fn a_setting_gives_commands_the_multiplexer_back() {
    let home = Home::new();
    home.configure("config.toml", "[env]\nkeep = [\"TMUX\"]\n");
    let mut served = home.serve();
    let mut shim = home.command(&["mcp"]);
    shim.env("TMUX", "/tmp/x,1,0").env("TMUX_PANE", "%0").env("STY", "1.x");
    let agent = Agent::connect_by(&home, shim);
    let ran = agent.call("ExecCommand", &json!({"cmd": "env | grep -e ^TMUX -e ^STY= | sort"}));
    assert_eq!(ran.result("/stdout_preview"), "TMUX=/tmp/x,1,0\n");
    agent.leave();
    home.stop(&mut served);
}
