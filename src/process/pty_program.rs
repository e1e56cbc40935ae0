//! A program on a PTY of its own, as a terminal starts one: a child of this process, without a task host.

use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::time::Duration;
use std::{fmt, io};

use portable_pty::{Child, CommandBuilder};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::pty::{Pty, read_output};
use crate::terminal::Size;

/// How long a program that was hung up on may take to end.
const GRACE: Duration = Duration::from_secs(2);

/// What to start.
#[derive(Debug, Clone)]
pub struct PtyCommand {
    /// The program, its path or a name in the PATH.
    pub program: OsString,
    /// Its arguments, without its name.
    pub args: Vec<OsString>,
    /// Its whole environment.
    pub variables: Vec<(OsString, OsString)>,
    /// Its working directory.
    pub cwd: PathBuf,
}

/// A program that leads the session of a PTY of its own. To be ended with [`PtyProgram::end`].
pub struct PtyProgram {
    master: AsyncFd<OwnedFd>,
    child: Box<dyn Child + Send + Sync>,
}

impl PtyProgram {
    /// Starts a program.
    ///
    /// # Errors
    /// If there is no such program, no PTY is left, or the system refuses.
    pub fn start(command: PtyCommand, size: Size) -> io::Result<Self> {
        let PtyCommand { program, args, variables, cwd } = command;
        let mut builder = CommandBuilder::new(program);
        builder.args(args);
        builder.env_clear();
        for (name, value) in variables {
            builder.env(name, value);
        }
        builder.cwd(cwd);
        let (pty, child) = Pty::start(builder, size)?;
        let master = super::sys::watch(pty.duplicate()?, Interest::READABLE)?;
        Ok(Self { master, child })
    }

    /// Reads some of its output, once there is some; 0 bytes once every process has closed the terminal.
    ///
    /// # Errors
    /// If the terminal cannot be read.
    pub async fn read(&self, bytes: &mut [u8]) -> io::Result<usize> {
        loop {
            let mut ready = self.master.readable().await?;
            if let Ok(read) = ready.try_io(|master| Ok(read_output(master, &mut *bytes)?)) {
                return read;
            }
        }
    }

    /// Types bytes, as far as the terminal takes them at once.
    pub fn write(&self, bytes: &[u8]) {
        // A program that reads nothing gets nothing: its terminal holds a few thousand bytes.
        let _ = rustix::io::write(&self.master, bytes);
    }

    /// Hangs up the terminal, waits for the program to end, and kills what is left of its process group.
    pub async fn end(self) {
        let Self { master, mut child } = self;
        let group = child.process_id().and_then(|pid| Pid::from_raw(i32::try_from(pid).ok()?));
        drop(master);
        if let Some(group) = group {
            let _ = kill_process_group(group, Signal::HUP);
            // It is not reaped before the group is killed, so the number of the group is still its own.
            let is_over =
                move || waitid(WaitId::Pid(group), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT).is_ok();
            let _ = timeout(GRACE, spawn_blocking(is_over)).await;
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = spawn_blocking(move || child.wait()).await;
    }
}

impl fmt::Debug for PtyProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PtyProgram").field("pid", &self.child.process_id()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_program_has_a_terminal_of_its_own_and_is_ended_with_it() {
        let command = PtyCommand {
            program: "/bin/sh".into(),
            args: ["-c", "stty size; read -r line; echo \"got $line $ONLY\"; exec sleep 600"]
                .map(Into::into)
                .into(),
            variables: vec![("PATH".into(), "/usr/bin:/bin".into()), ("ONLY".into(), "this".into())],
            cwd: "/".into(),
        };
        let program = PtyProgram::start(command, Size::nearest(91, 33)).expect("starts");
        program.write(b"word\n");
        let (mut printed, mut bytes) = (Vec::new(), [0; 256]);
        while !String::from_utf8_lossy(&printed).contains("got word this") {
            let read = program.read(&mut bytes).await.expect("output");
            assert!(read > 0, "{}", String::from_utf8_lossy(&printed));
            printed.extend_from_slice(&bytes[..read]);
        }
        assert!(String::from_utf8_lossy(&printed).contains("33 91"));
        let pid = program.child.process_id().expect("a number");
        program.end().await;
        assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists());
    }
}
