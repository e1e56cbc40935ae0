//! Approvals that commands try to give themselves: none counts, whichever of the ways that once reached the operator's
//! socket they take. Each attempt connects, waits as long as a person would, and answers with the nonce of the question.

use std::path::{Path, PathBuf};
use std::process::Command;

use pilothouse::clock::Clock;
use pilothouse::model::READING;
use serde_json::json;

use crate::support::{Agent, Home, Script, program_word, skip, wait_until, wait_until_or};

/// The file that the held call would create.
const FORGED: &str = "forged";

/// A workspace whose console runs in a multiplexer, with a call that waits for the operator.
struct Guarded {
    home: Home,
    mux: PathBuf,
}

impl Guarded {
    fn open() -> Option<Self> {
        let home = Home::new();
        let rule = "[[approvals]]\nprefix = \"touch\"\nactor = \"cli\"\n";
        // The runtime ends with the multiplexer that its console is in.
        home.configure("config.toml", &format!("{rule}[console]\non_hangup = \"end\"\n"));
        let guarded = Self { mux: home.workspace().join("../mux"), home };
        guarded.tmux(&["new-session", "-d", "-x", "100", "-y", "30", &program_word()])?;
        wait_until("the console is there", || guarded.home.places().agent_socket().exists());
        let touch = format!("touch {FORGED}");
        let held = guarded.home.run(&["command", "run", "--yield-time-ms", "250", &touch]);
        assert!(String::from_utf8_lossy(&held.stdout).contains("awaiting_operator"), "{held:?}");
        Some(guarded)
    }

    /// Runs tmux; `None` if it is not installed.
    fn tmux(&self, args: &[&str]) -> Option<String> {
        let mut command = Command::new("tmux");
        self.home.settle(&mut command);
        command.env("TERM", "xterm-256color").args(["-f", "/dev/null", "-S"]).arg(&self.mux).args(args);
        let ran = command.output().ok()?;
        Some(String::from_utf8_lossy(&ran.stdout).into_owned())
    }

    fn still_waits(&self) {
        assert!(!self.home.workspace().join(FORGED).exists(), "the held call ran");
        let screen = || self.tmux(&["capture-pane", "-p"]).expect("a screen");
        // The console may not have drawn the question yet.
        wait_until_or(
            || format!("the call waits; the screen shows:\n{}", screen()),
            || screen().contains("needs approval"),
        );
    }

    /// A shell line that runs the attempt below and writes its result to `file`.
    fn attempt(&self, file: &Path) -> String {
        let own = std::env::current_exe().expect("this program");
        let socket = self.home.places().operator_socket();
        format!(
            "FORGE_SOCKET='{}' FORGE_WORKSPACE='{}' FORGE_SAID='{}' '{}' --ignored --exact e2e_forged::a_command_attempts_to_approve_the_held_call",
            socket.display(),
            self.home.workspace().display(),
            file.display(),
            own.display(),
        )
    }

    fn close(&self) {
        let _ = self.tmux(&["kill-server"]);
        wait_until("the runtime has ended", || !self.home.places().agent_socket().exists());
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        let _ = self.tmux(&["kill-server"]);
    }
}

/// Run by commands of the test below: tries to approve the held call, and writes the result.
#[test]
#[ignore = "run by commands of another test"]
fn a_command_attempts_to_approve_the_held_call() {
    let path = |name| std::env::var_os(name).map(PathBuf::from);
    let (Some(socket), Some(workspace), Some(said)) =
        (path("FORGE_SOCKET"), path("FORGE_WORKSPACE"), path("FORGE_SAID"))
    else {
        return;
    };
    let came = match Script::dial(&socket, &workspace) {
        Err(refused) => format!("refused: {refused}"),
        Ok(mut script) => {
            let clock = Clock::start();
            wait_until("it can have been read", || clock.now().mono > READING);
            let nonce = script.nonce.clone();
            format!("heard: {:?}", script.approve(Some(&nonce)))
        }
    };
    let new = said.with_extension("new");
    std::fs::write(&new, came).and_then(|()| std::fs::rename(&new, &said)).expect("written");
}

/// By an escaped process of a task in the guarded runtime. It may be killed before it gets an answer.
fn by_escape(guarded: &Guarded, agent: &Agent) -> String {
    let said = guarded.home.workspace().join("said");
    let _ = std::fs::remove_file(&said);
    std::fs::write(
        guarded.home.workspace().join("escape"),
        format!("kill -9 $1\n{}\n", guarded.attempt(&said)),
    )
    .expect("written");
    let cmd = "setsid -f env -i PATH=\"$PATH\" setsid -f sh escape $PPID; sleep 30";
    let ran = agent.call("ExecCommand", &json!({"cmd": cmd, "yield_time_ms": 60_000}));
    // On a busy machine the host is killed before it has reported the start.
    let is_killed = ran.envelope.to_string().contains("the task host was killed");
    assert!(is_killed || ran.envelope["error"]["kind"] == "start_unknown", "{}", ran.envelope);
    std::fs::read_to_string(said).unwrap_or_else(|_| "refused: killed".to_owned())
}

/// By a command of another workspace's runtime.
fn by_neighbour(guarded: &Guarded, other: &Home, round: usize) -> String {
    let said = other.workspace().join("said");
    let _ = std::fs::remove_file(&said);
    std::fs::write(other.workspace().join("forge"), guarded.attempt(&said)).expect("written");
    let line = if round.is_multiple_of(2) { "sh forge" } else { "setsid -w env -i sh forge" };
    let ran = other.run(&["command", "run", line]);
    assert!(ran.status.success(), "{ran:?}");
    std::fs::read_to_string(said).expect("it has had its answer")
}

/// By keys sent through the multiplexer around the console, which the caller's `TMUX` leads to.
fn by_multiplexer(agent: &Agent) -> String {
    // Without `TMUX` the keys would go to any multiplexer that the tests are run in.
    let keys = "for k in a Enter a y; do [ -n \"$TMUX\" ] && tmux send-keys -t 0 $k && echo typed || echo refused; done";
    let ran = agent.call("ExecCommand", &json!({"cmd": keys, "yield_time_ms": 60_000}));
    let said = ran.result("/stdout_preview").as_str().unwrap_or_default().to_owned();
    if said.contains("typed") { said } else { format!("refused: {said}") }
}

fn forge(rounds: usize) {
    let Some(guarded) = Guarded::open() else { return skip("there is no tmux") };
    let other = Home::new();
    let mut served = other.serve();
    let mut shim = guarded.home.command(&["mcp"]);
    shim.env("TMUX", format!("{},1,0", guarded.mux.display()));
    shim.env("TMUX_TMPDIR", guarded.home.workspace());
    let agent = Agent::connect_by(&guarded.home, shim);
    for round in 0..rounds {
        let came =
            [by_escape(&guarded, &agent), by_neighbour(&guarded, &other, round), by_multiplexer(&agent)];
        assert!(came.iter().all(|said| said.starts_with("refused")), "{round}: {came:?}");
        guarded.still_waits();
    }
    agent.leave();
    assert!(other.run(&["serve", "--stop"]).status.success());
    served.wait().expect("ends");
    guarded.close();
}

#[test]
fn no_command_approves_what_waits_for_the_operator() {
    forge(2);
}

#[test]
#[ignore = "minutes; .ci/long runs it"]
fn long_none_of_200_forged_approvals_by_commands_counts() {
    forge(67);
}
