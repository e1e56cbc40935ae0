//! Several runtimes in one home, each in a workspace of its own, and a console over all of them.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use portable_pty::CommandBuilder;
use serde_json::json;

use super::house::{PANE, environment, until};

const PROGRAM: &str = env!("CARGO_BIN_EXE_pilothouse");

/// A runtime in a workspace of its own; dropping it ends the runtime.
pub(crate) struct Place {
    runtime: Child,
    home: PathBuf,
    workspace: PathBuf,
}

impl Place {
    pub(crate) fn begin(home: &Path, number: usize) -> Self {
        let workspace = home.join(format!("place-{number}"));
        std::fs::create_dir_all(workspace.join(".git")).expect("make a workspace");
        std::fs::write(workspace.join(".git/HEAD"), "ref: refs/heads/main\n").expect("make it one");
        let mut serve = command(home, &workspace);
        let runtime =
            serve.arg("serve").stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("start a runtime");
        until("the runtime", || {
            let asked = command(home, &workspace).args(["task", "list"]).output();
            asked.is_ok_and(|output| output.status.success())
        });
        Self { runtime, home: home.to_owned(), workspace }
    }

    /// Starts a task with a terminal.
    pub(crate) fn start(&self, cmd: &str) {
        let (cols, rows) = PANE;
        let input = json!({ "cmd": cmd, "tty": true, "cols": cols, "rows": rows, "login": false, "yield_time_ms": 0 });
        let mut run = command(&self.home, &self.workspace);
        run.args(["command", "run", "--input", &input.to_string()]);
        assert!(run.output().is_ok_and(|output| output.status.success()), "a task starts");
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // Its guards end everything that it has started.
        let _ = self.runtime.kill();
        let _ = self.runtime.wait();
    }
}

/// Returns the command that opens a console over the places of a home and of the given hosts.
pub(crate) fn console(home: &Path, hosts: &[&str]) -> CommandBuilder {
    let mut console = CommandBuilder::new(PROGRAM);
    console.arg("fleet");
    console.args(hosts);
    console.cwd(home);
    console.env_clear();
    surroundings(home).into_iter().for_each(|(name, value)| console.env(name, value));
    console
}

/// Returns the environment shared by everything in a home.
pub(crate) fn surroundings(home: &Path) -> Vec<(&'static str, String)> {
    let locks = home.join("locks").to_string_lossy().into_owned();
    environment(home).into_iter().chain([("PILOTHOUSE_LOCK_DIR", locks)]).collect()
}

fn command(home: &Path, workspace: &Path) -> Command {
    let mut command = Command::new(PROGRAM);
    command.current_dir(workspace).env_clear().envs(surroundings(home));
    command
}
