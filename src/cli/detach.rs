//! `pilothouse __detach`: leaves the session of whoever started it, starts the server and ends at once, so that the
//! server is nobody's child: who ends the starter and everything below it does not end the server.

use std::io;
use std::process::{Command, ExitCode, Stdio};

use super::print;
use crate::process::environment::TASK_ID;

/// Starts the server and says its process id. Standard error is what the server writes to.
pub(super) fn run() -> ExitCode {
    match start() {
        Ok(pid) => {
            // Whoever asked for it may have gone; it serves all the same.
            let _ = print::data(&pid.to_string());
            ExitCode::SUCCESS
        }
        Err(error) => {
            let _ = print::say(format_args!("start the server: {error}"));
            ExitCode::FAILURE
        }
    }
}

fn start() -> io::Result<u32> {
    rustix::process::setsid()?;
    let server = Command::new(std::env::current_exe()?)
        .args(["serve", "--detached"])
        .env_remove(TASK_ID)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::inherit())
        .spawn()?;
    Ok(server.id())
}
