//! The streams of a command: pipes or a terminal, opened before its process exists.

use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};

use rustix::fs::{CWD, Mode, OFlags, fcntl_getfl, fcntl_setfl, openat};
use rustix::pipe::{PipeFlags, pipe_with};

use super::descriptor_lock::spawning;
use super::spawner::{PIPE, SpawnError, TERMINAL};
use crate::process::running::Io;
use crate::process::{HostedCommand, Pty, Stdio};

/// Both ends of a command's streams.
#[derive(Debug)]
pub(in crate::process) struct CommandStreams {
    pub(in crate::process) io: Io,
    pub(in crate::process) theirs: Vec<OwnedFd>,
}

impl CommandStreams {
    pub(in crate::process) async fn open(command: &mut HostedCommand) -> Result<Self, SpawnError> {
        let one_output = command.exact.as_ref().is_some_and(|exact| exact.one_output);
        let unread =
            command.exact.as_mut().map_or_else(Default::default, |exact| std::mem::take(&mut exact.unread));
        match command.stdio {
            Stdio::Pty { size } => {
                let caller = command.exact.as_mut().and_then(|exact| exact.terminal.take());
                let open = move || {
                    let _spawning = spawning();
                    let opened = caller.as_ref().map_or_else(|| Pty::open(size), Pty::open_for);
                    opened.map_err(|source| SpawnError::opening(TERMINAL, source))
                };
                let (pty, slave) = blocking(open).await?;
                Ok(Self { io: Io::Pty(pty), theirs: vec![slave] })
            }
            Stdio::Pipes { stdin } => {
                let mut streams = Self::pipes(stdin, one_output);
                if let Ok(Self { theirs, .. }) = &mut streams {
                    // The last two are for output.
                    let outputs = theirs.iter_mut().rev().take(2);
                    for (theirs, unread) in outputs.zip(unread.into_iter().rev()) {
                        unread.into_iter().for_each(|fd| *theirs = fd);
                    }
                }
                streams.map_err(|source| SpawnError::opening(PIPE, source))
            }
        }
    }

    fn pipes(with_stdin: bool, one_output: bool) -> io::Result<Self> {
        let mut theirs = Vec::new();
        let mut stdin = None;
        if with_stdin {
            let (read, write) = pipe_with(PipeFlags::CLOEXEC)?;
            theirs.push(read);
            stdin = Some(non_blocking(write)?);
        }
        let (stdout, write) = pipe_with(PipeFlags::CLOEXEC)?;
        let mut stderr = None;
        if one_output {
            theirs.push(write.try_clone()?);
            theirs.push(write);
        } else {
            theirs.push(write);
            let (read, write) = pipe_with(PipeFlags::CLOEXEC)?;
            theirs.push(write);
            stderr = Some(non_blocking(read)?);
        }
        let io = Io::Pipes { stdin, stdout: non_blocking(stdout)?, stderr };
        Ok(Self { io, theirs })
    }
}

/// Opens the end of a pipe that is read, by the one that is written to.
///
/// # Errors
/// If no descriptors are left.
pub fn read_end(pipe: &OwnedFd) -> io::Result<OwnedFd> {
    let path = format!("/proc/self/fd/{}", pipe.as_raw_fd());
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(openat(CWD, path, flags, Mode::empty())?)
}

/// Makes our end non-blocking; the command's end is another open file description and stays blocking.
fn non_blocking(fd: OwnedFd) -> io::Result<OwnedFd> {
    fcntl_setfl(&fd, fcntl_getfl(&fd)? | OFlags::NONBLOCK)?;
    Ok(fd)
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, SpawnError> + Send + 'static,
) -> Result<T, SpawnError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| SpawnError::Host { action: "start", source: error.into() })?
}
