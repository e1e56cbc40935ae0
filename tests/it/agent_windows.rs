//! The key that leads to an agent: to its pane of tmux, or to words about where it runs; and the row of an agent that only
//! calls tools.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::agent_prompts::{hook, opened, printed, told};
use crate::support::{Agent, Home, program, skip, wait_until};

/// A server of tmux, whose panes have the folders of a test; dropping this ends it.
struct Tmux<'a> {
    home: &'a Home,
    socket: PathBuf,
}

impl<'a> Tmux<'a> {
    /// Starts a session `agents`; `None` if there is no tmux.
    fn start(home: &'a Home) -> Option<Self> {
        Command::new("tmux").arg("-V").stdout(Stdio::null()).status().ok()?;
        let tmux = Self { home, socket: home.workspace().join("tmux.sock") };
        tmux.ask(&["new-session", "-d", "-s", "agents", "-x", "80", "-y", "24", "cat"]);
        Some(tmux)
    }

    fn ask(&self, args: &[&str]) -> String {
        let mut command = Command::new("tmux");
        self.home.settle(&mut command);
        command.env_remove("TMUX").env_remove("TMUX_PANE").env("SHELL", "/bin/sh");
        command.arg("-S").arg(&self.socket).args(["-f", "/dev/null"]).args(args);
        let answer = command.output().expect("tmux");
        assert!(answer.status.success(), "tmux {args:?}: {}", String::from_utf8_lossy(&answer.stderr));
        String::from_utf8(answer.stdout).expect("text")
    }
}

impl Drop for Tmux<'_> {
    fn drop(&mut self) {
        let _ = Command::new("tmux").arg("-S").arg(&self.socket).arg("kill-server").status();
    }
}

/// What stands in for Codex: it runs its hook for each of these reports, and stays.
fn codex(reports: &[&Value]) -> String {
    let reports: Vec<String> = reports.iter().map(|report| report.to_string()).collect();
    format!(
        "import subprocess, sys\nfor report in {}:\n    subprocess.run([{}, 'hook', 'codex'], input=report.encode())\n\
         sys.stdin.read()\n",
        serde_json::to_string(&reports).expect("JSON"),
        serde_json::to_string(&program()).expect("JSON"),
    )
}

#[test]
fn a_key_leads_to_the_pane_of_tmux_in_which_an_agent_asks() {
    let home = Home::new();
    let Some(tmux) = Tmux::start(&home) else { return skip("there is no tmux") };
    if Command::new("python3").args(["-c", ""]).status().is_err() {
        return skip("there is no python3");
    }
    let console = opened(&home);
    let mut begun = told("UserPromptSubmit", "s1", "");
    begun["model"] = json!("m");
    std::fs::write(
        home.workspace().join("codex.py"),
        codex(&[&begun, &told("PermissionRequest", "s1", "touch x")]),
    )
    .expect("written");
    tmux.ask(&["new-window", "-d", "-t", "agents:7", "python3", "codex.py"]);
    let shown = || tmux.ask(&["display-message", "-p", "-t", "agents", "#{window_index}"]);
    console.shows("codex asks: Bash");
    assert!(!console.text().contains("description"), "{}", console.text());
    assert_eq!(shown(), "0\n");
    console.keys(b"a");
    console.shows("Enter answer");
    console.keys(b"\r");
    console.shows("' go there");
    console.keys(b"'");
    console.shows("codex is in tmux: session agents, window 7; no terminal shows it: tmux attach");
    assert_eq!(shown(), "7\n");
    // From its row as well.
    tmux.ask(&["select-window", "-t", "agents:0"]);
    console.keys(b"\x1b");
    console.shows(" OBSERVE ");
    console.keys(b"g");
    console.shows("' to agent");
    console.keys(b"'");
    wait_until("its window is shown", || shown() == "7\n");
    tmux.ask(&["kill-window", "-t", "agents:7"]);
    console.shows("✓ ended");
    console.keys(b"'");
    console.shows("codex is no longer there");
}

#[test]
fn the_console_says_where_an_agent_in_another_terminal_runs() {
    let home = Home::new();
    let console = opened(&home);
    // This process is the agent.
    assert_eq!(printed(hook(&home, &told("UserPromptSubmit", "s1", ""))), "");
    console.shows("claude-code  ● working");
    console.keys(b"g");
    console.shows("' to agent");
    console.keys(b"'");
    console.shows("claude-code runs ");
    console.shows(&format!(": pid {}, in /", std::process::id()));
}

#[test]
fn an_agent_that_only_calls_tools_has_a_row_by_its_calls() {
    let home = Home::new();
    let console = opened(&home);
    let agent = Agent::connect(&home, &[]);
    console.shows("● no command seen");
    let begun = agent.call("ExecCommand", &json!({"cmd": "cat", "tty": true, "yield_time_ms": 10}));
    let task = begun.result("/task_handle/task_id").as_str().expect("a task").to_owned();
    // It reads its terminal: for the person.
    console.shows("◐ needs you");
    let short = home.run(&["status", "--short", "--output", "plain"]);
    assert!(String::from_utf8_lossy(&short.stdout).ends_with(" needs you\n"), "{short:?}");
    agent.call("TaskStop", &json!({"task_id": task}));
    console.shows("◌ idle");
    let go = home.fifo("go");
    std::thread::scope(|scope| {
        let called = scope
            .spawn(|| agent.call("ExecCommand", &json!({"cmd": "read x < go", "yield_time_ms": 60_000})));
        console.shows("● working");
        std::fs::write(go, "x\n").expect("written");
        called.join().expect("joins");
    });
    console.shows("◌ idle");
    agent.leave();
    console.shows("✓ ended");
}
