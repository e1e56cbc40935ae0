//! Hands the streams of a started command to the pump.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use crate::process::{Io, Pty};
use crate::runtime::bytes::{TaskIo, Watched};
use crate::runtime::caller_command::Caller;
use crate::runtime::shared::Shared;
use crate::terminal::Stream;

/// Hands a started command's descriptors to the pump.
pub(super) fn watch(
    shared: &Shared,
    io: &Arc<TaskIo>,
    (streams, side): (Io, Option<Pty>),
    caller: Option<&mut Caller>,
) {
    let (sources, writer) = match streams {
        Io::Pipes { stdin, stdout, stderr } => {
            let stderr = stderr.map(|stderr| (Stream::Stderr, stderr));
            let (aside, typed) = side.and_then(|side| aside(io, side)).unzip();
            ([(Stream::Stdout, stdout)].into_iter().chain(stderr).chain(aside).collect(), stdin.or(typed))
        }
        Io::Pty(pty) => match (pty.duplicate(), pty.duplicate()) {
            (Ok(reader), Ok(writer)) => {
                let _ = io.pty.set(pty);
                (vec![(Stream::Tty, reader)], Some(writer))
            }
            (Err(error), _) | (_, Err(error)) => {
                return tracing::error!(%error, task = %io.id, "duplicate the terminal's descriptor");
            }
        },
    };
    let (io, outlets) = (io.clone(), caller.map(|caller| std::mem::take(&mut caller.outlets)));
    shared.pump.watch(Watched { io, sources, outlets: outlets.unwrap_or_default(), writer });
}

/// Takes over the terminal beside a command's streams; returns the source to read from it and the descriptor to type
/// into it.
fn aside(io: &TaskIo, side: Pty) -> Option<((Stream, OwnedFd), OwnedFd)> {
    let fds = side.duplicate().and_then(|reader| Ok(((Stream::Tty, reader), side.duplicate()?)));
    let _ = io.pty.set(side);
    fds.inspect_err(|error| tracing::error!(%error, task = %io.id, "duplicate the terminal's descriptor"))
        .ok()
}
