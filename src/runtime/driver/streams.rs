//! Hands the streams of a started command to the pump.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use crate::process::{CallerTerminal, Io, Pty};
use crate::runtime::bytes::{Inlet, TaskDescriptors, TaskIo};
use crate::runtime::caller_command::WaitingCaller;
use crate::runtime::shared::RuntimeShared;
use crate::terminal::ByteSource;

/// Hands a started command's descriptors to the pump.
pub(super) fn watch(
    shared: &RuntimeShared,
    io: &Arc<TaskIo>,
    (streams, side): (Io, Option<Pty>),
    caller: Option<&mut WaitingCaller>,
) {
    let (sources, writer) = match streams {
        Io::Pipes { stdin, stdout, stderr } => {
            let stderr = stderr.map(|stderr| (ByteSource::Stderr, stderr));
            let (aside, typed) = side.and_then(|side| aside(io, side)).unzip();
            let stdin = stdin.map(Arc::new);
            stdin.iter().for_each(|stdin| io.watch_pipe(stdin));
            let sources = [(ByteSource::Stdout, stdout)].into_iter().chain(stderr).chain(aside).collect();
            (sources, stdin.or(typed.map(Arc::new)))
        }
        Io::Pty(pty) => match (pty.report_flushes().and_then(|()| pty.duplicate()), pty.duplicate()) {
            (Ok(reader), Ok(writer)) => {
                let _ = io.pty.set(pty);
                (vec![(ByteSource::Tty, reader)], Some(Arc::new(writer)))
            }
            (Err(error), _) | (_, Err(error)) => {
                return tracing::error!(%error, task = %io.id, "duplicate the terminal's descriptor");
            }
        },
    };
    let (outlets, terminal) = caller
        .map(|caller| (std::mem::take(&mut caller.outlets), caller.terminal.as_ref()))
        .unwrap_or_default();
    let inlet = terminal.map(CallerTerminal::try_clone).transpose();
    let inlet =
        inlet.inspect_err(|error| tracing::error!(%error, task = %io.id, "duplicate a caller's terminal"));
    let inlet = inlet.ok().flatten().map(Inlet::new);
    shared.pump.watch(TaskDescriptors { io: io.clone(), sources, outlets, writer, inlet });
}

/// Takes over the terminal beside a command's streams; returns the source to read from it and the descriptor to type
/// into it.
fn aside(io: &TaskIo, side: Pty) -> Option<((ByteSource, OwnedFd), OwnedFd)> {
    let reader = side.report_flushes().and_then(|()| side.duplicate());
    let fds = reader.and_then(|reader| Ok(((ByteSource::Tty, reader), side.duplicate()?)));
    let _ = io.pty.set(side);
    fds.inspect_err(|error| tracing::error!(%error, task = %io.id, "duplicate the terminal's descriptor"))
        .ok()
}
