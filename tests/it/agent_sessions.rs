//! Agents at work in the console: a row for each session, by its events, and every list limited to one of them.

use std::io::Write as _;
use std::process::{Child, ChildStdin, Stdio};

use serde_json::{Value, json};

use crate::shell_door::Door;
use crate::support::{Console, program_word, wait_until};

/// A program that stands for an agent: it runs lines of a shell below itself, and ends with its input.
struct StandIn {
    child: Child,
    lines: Option<ChildStdin>,
    shell: String,
    session: &'static str,
}

impl StandIn {
    fn start(door: &Door, session: &'static str) -> Self {
        // Under a name of its own: a shell between an agent and its hook is not the agent.
        let own = door.home.workspace().join(format!("../agent-{session}"));
        std::os::unix::fs::symlink("/bin/bash", &own).expect("a link");
        let mut agent = std::process::Command::new(&own);
        door.home.settle(&mut agent);
        for variable in ["CLAUDE_PID", "PILOTHOUSE_AGENT_NAME", "PILOTHOUSE_SHELL", "PILOTHOUSE_TASK_KIND"] {
            agent.env_remove(variable);
        }
        agent.env("PILOTHOUSE_SHELL_DOOR", door.home.workspace());
        agent.args(["-c", "while read -r line; do eval \"$line\"; done; :"]);
        let mut child =
            agent.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("starts");
        let lines = child.stdin.take();
        Self { child, lines, shell: door.shell.display().to_string(), session }
    }

    fn line(&mut self, line: &str) {
        writeln!(self.lines.as_mut().expect("a pipe"), "{line}").expect("written");
    }

    /// Reports an event, in the background: a prompt waits.
    fn tells(&mut self, event: &str, cmd: &str) {
        let told = json!({
            "hook_event_name": event, "session_id": self.session, "permission_mode": "acceptEdits", "tool_name": "Bash",
            "tool_input": {"command": cmd},
        });
        let line = format!("{} hook claude <<< '{told}' &", program_word());
        self.line(&line);
    }

    /// Runs a command in its own shell.
    fn runs(&mut self, cmd: &str) {
        let marks = format!(
            "CLAUDECODE=1 CLAUDE_CODE_CHILD_SESSION=1 CLAUDE_CODE_SESSION_ID={} CLAUDE_PID=$$",
            self.session
        );
        let line = format!("{marks} '{}' -c '{cmd}' < /dev/null", self.shell);
        self.line(&line);
    }

    fn ends(&mut self) {
        self.lines = None;
        wait_until("the agent ends", || self.child.try_wait().expect("waited").is_some());
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        self.lines = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The row that has a text.
fn row(console: &Console, text: &str) -> String {
    console.text().lines().find(|line| line.contains(text)).unwrap_or_default().to_owned()
}

#[test]
fn each_session_is_a_row_by_its_events_and_a_key_limits_every_list_to_it() {
    let door = Door::new();
    let console = Console::open(&door.home, &[], (120, 40));
    console.shows(" OBSERVE ");
    let mut one = StandIn::start(&door, "one");
    one.tells("UserPromptSubmit", "");
    console.shows("claude-code working");
    one.runs("echo of the first");
    console.shows("of the first");
    let mut two = StandIn::start(&door, "two");
    two.tells("UserPromptSubmit", "");
    console.shows("claude-code#2  ● working");
    two.runs("echo of the second");
    console.shows("of the second");
    two.tells("PermissionRequest", "touch x");
    console.shows("asks: Bash touch x");
    assert!(row(&console, "asks: Bash").contains("claude-code#2  ◐ needs you"), "{}", console.text());
    assert!(row(&console, "asks: Bash").contains("turn 1  1 task ✓1  acceptEdits"), "{}", console.text());
    one.tells("Stop", "");
    console.shows("claude-code    ◌ idle");

    // The first row is the first agent's.
    console.keys(b"g");
    console.shows("Enter only this agent");
    console.keys(b"\r");
    console.wait_for("the others are gone", |screen| !screen.contents().contains("echo of the second"));
    console.shows("echo of the first");
    console.keys(b"a");
    console.shows("of claude-code alone: nothing waits for you");
    console.keys(b"\x1b");
    console.wait_for("the list is closed", |screen| !screen.contents().contains("of claude-code alone"));
    console.keys(b"3");
    console.shows("claude-code  1 of 2");
    assert!(!console.text().contains("of the second"), "{}", console.text());
    console.keys(b"1");
    console.shows("[1] tasks");
    console.keys(b"\x1b");
    console.shows("echo of the second");
    console.shows("asks: Bash touch x");

    // The same key takes the limit away.
    console.keys(b"g\r");
    console.wait_for("the others are gone", |screen| !screen.contents().contains("echo of the second"));
    console.keys(b"\r");
    console.shows("echo of the second");
    two.ends();
    console.shows("claude-code#2  ✓ ended");
    one.ends();
    console.shows("claude-code    ✓ ended");
}

#[test]
fn an_agent_without_hooks_has_a_row_by_the_commands_of_its_own_shell() {
    let door = Door::new();
    let console = Console::open(&door.home, &[], (120, 40));
    console.shows(" OBSERVE ");
    let go = door.home.fifo("go");
    let mut agent = StandIn::start(&door, "one");
    agent.runs("read x < go");
    console.shows("claude-code  ● working");
    std::fs::write(go, "x\n").expect("written");
    console.shows("claude-code  ◌ idle");
}

#[test]
fn a_filter_lists_unasked_calls_and_a_refused_call_can_be_run_by_the_person() {
    let door = Door::new();
    let console = Console::open(&door.home, &[], (120, 40));
    console.shows(" OBSERVE ");
    let mut agent = StandIn::start(&door, "one");
    let ran = |agent: &mut StandIn, cmd: &str| {
        agent.runs(cmd);
        let told: Value = json!({
            "hook_event_name": "PostToolUse", "session_id": "one", "permission_mode": "acceptEdits", "tool_name": "Bash",
            "tool_input": {"command": cmd}, "tool_response": {"stdout": "out", "stderr": ""},
        });
        let line = format!("{} hook claude <<< '{told}'", program_word());
        agent.line(&line);
    };
    ran(&mut agent, "echo unasked");
    agent.tells("PermissionRequest", "echo allowed");
    console.shows("claude-code asks: Bash");
    console.keys(b"a");
    console.shows("1 thing waits for you");
    console.keys(b"\r");
    console.shows("allow this call");
    crate::support::read_it();
    console.keys(b"y");
    console.shows("q01 answered");
    ran(&mut agent, "echo allowed");
    agent.tells("PermissionDenied", "touch made-by-hand");
    console.shows("refused this by itself, and asked nobody");
    console.keys(b"3");
    console.shows("agent denied");
    console.keys(b"fn");
    console.shows("nobody was asked  2 of 3");
    console.shows("its mode acceptEdits  echo unasked");
    console.keys(b"fy");
    console.shows("you were asked  1 of 3");
    console.shows("you allowed it here");
    console.keys(b"fr");
    console.shows("refused by its mode acceptEdits  touch");
    // The person may run it: the line is there already.
    console.keys(b"o");
    console.shows("▸ touch made-by-hand");
    console.keys(b"\r");
    let made = door.home.workspace().join("made-by-hand");
    wait_until("the person's command has run", || made.exists());
}
