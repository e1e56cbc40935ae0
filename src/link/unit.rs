//! Runs a runtime as a unit of the user's systemd, which keeps it running after the session it was started from, and
//! with lingering enabled even after the user's last logout. Without lingering, and if logouts do not kill processes,
//! a plain process lives longer.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::paths::Places;
use crate::process::environment::Environment;

/// Environment variables that the runtime keeps; its commands get those of their callers.
const KEPT: [&str; 10] = [
    "HOME",
    "PATH",
    "SHELL",
    "LANG",
    "TZ",
    "XDG_RUNTIME_DIR",
    "XDG_STATE_HOME",
    "XDG_CONFIG_HOME",
    "PILOTHOUSE_LOCK_DIR",
    "PILOTHOUSE_LOG",
];

/// Returns the name of the unit that serves a workspace.
pub fn unit_name(id: &str) -> String {
    format!("pilothouse-{id}")
}

/// Tells whether a plain process lives longer than a unit: without lingering, a unit is stopped ten seconds after the
/// user's last logout, while a process continues if logouts do not kill processes.
fn process_lives_longer() -> bool {
    let user = rustix::process::getuid().to_string();
    let is_no = |words: &[&str]| {
        let mut asked = Command::new("loginctl");
        asked.args(words).arg("--value").stdin(Stdio::null()).stderr(Stdio::null());
        asked.output().is_ok_and(|output| output.stdout.trim_ascii() == b"no")
    };
    is_no(&["show-user", &user, "--property=Linger"])
        && is_no(&["show-session", "--property=KillUserProcesses"])
}

/// Starts the runtime of a workspace as a unit and returns its process id; `None` if the user has no systemd, systemd
/// refuses, or a plain process lives longer.
pub(super) fn start(places: &Places, program: &Path, log: &Path) -> Option<u32> {
    if process_lives_longer() {
        return None;
    }
    let unit = unit_name(&places.id);
    let mut command = Command::new("systemd-run");
    command.args(["--user", "--quiet", "--collect", "--service-type=exec"]);
    // Allows each task to have a control group of its own.
    command.arg("--property=Delegate=yes");
    command.arg(format!("--property=StandardError=append:{}", log.display()));
    command.arg(format!("--unit={unit}")).arg("--working-directory").arg(&places.workspace);
    let own = Environment::own();
    for name in KEPT {
        // systemd-run takes the value from this process's environment, so it does not appear on a command line.
        if own.as_ref().is_some_and(|own| own.get(name).is_some()) {
            command.arg(format!("--setenv={name}"));
        }
    }
    command.arg("--").arg(program).args(["serve", "--detached"]);
    let started = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    started.ok().filter(std::process::ExitStatus::success)?;
    let mut asked = Command::new("systemctl");
    asked.args(["--user", "show", "--property=MainPID", "--value", &unit]);
    let output = asked.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    String::from_utf8_lossy(&output.stdout).trim().parse().ok().filter(|pid| *pid > 0)
}
