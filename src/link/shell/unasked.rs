//! What follows for a command when no runtime could be asked to run it. Only silence leads to a run without one: a
//! runtime that answers may be paused, or have rules about the command. Pure.

use std::io::{self, ErrorKind};

use crate::link::Error;

/// Why a command was not requested from a runtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShellFallback {
    /// Nobody answered: the command may run without a runtime, if it leaves a mark.
    Silence,
    /// This process may not ask, or start a runtime: its sandbox may keep it from that.
    Forbidden,
    /// A runtime is there, and has no room for a further connection yet: it is asked again.
    Busy,
    /// What goes with the command is too large to be sent: without it, the runtime is asked only whether the command
    /// may run.
    Oversized,
    /// Something answered, or will not have the command: it must not run.
    Answer,
}

impl ShellFallback {
    /// Returns what an error means that occurred before a command was requested.
    pub fn by(error: &Error) -> Self {
        match error {
            Error::Io { source, .. } | Error::Start { source, .. } if is_forbidden(source) => Self::Forbidden,
            Error::NoRuntime { .. }
            | Error::Silent { .. }
            | Error::Gone
            | Error::Talk(_)
            | Error::Io { .. }
            | Error::Unreachable { .. }
            | Error::Start { .. }
            | Error::Failed { .. }
            | Error::NoRoom { .. }
            | Error::Folder { .. } => Self::Silence,
            Error::TooManyConnections { .. } => Self::Busy,
            Error::LargeEnvironment { .. } => Self::Oversized,
            // Whatever is not known to be silence keeps the command from running.
            _ => Self::Answer,
        }
    }
}

fn is_forbidden(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::{ConnectionKind, TransportError};

    #[test]
    fn f48_only_silence_leads_to_a_run_without_a_runtime() {
        let (text, path) = (String::new, || std::path::PathBuf::from("/"));
        let io = |kind: ErrorKind| Error::Io { verb: "", path: path(), source: kind.into() };
        for (meant, errors) in [
            (
                ShellFallback::Silence,
                vec![
                    Error::NoRuntime { path: path() },
                    Error::Silent { log: path() },
                    Error::Gone,
                    Error::Talk(ErrorKind::WouldBlock.into()),
                    io(ErrorKind::StorageFull),
                    Error::Unreachable { pid: 1, path: path() },
                    Error::Start { program: path(), source: ErrorKind::NotFound.into() },
                    Error::Failed { said: text(), log: path() },
                    Error::NoRoom { path: path() },
                    Error::Folder { path: path(), problem: "" },
                ],
            ),
            (
                ShellFallback::Forbidden,
                vec![io(ErrorKind::PermissionDenied), io(ErrorKind::ReadOnlyFilesystem)],
            ),
            (ShellFallback::Busy, vec![Error::TooManyConnections { limit: 1, of: ConnectionKind::All }]),
            (ShellFallback::Oversized, vec![Error::LargeEnvironment { bytes: 1 }]),
            (
                ShellFallback::Answer,
                vec![
                    Error::Refused { reason: text() },
                    Error::OtherVersion { theirs: 1, reason: text() },
                    Error::Taken { pid: None },
                    Error::Foreign { path: path(), uid: 1 },
                    Error::handshake(""),
                    Error::frame(""),
                    Error::Declined { message: text() },
                    Error::Carried { host: text(), why: TransportError::NoRuntime { place: text() } },
                    Error::Terminal,
                    Error::NoHostName { name: text() },
                    Error::ReadOnly,
                ],
            ),
        ] {
            for error in errors {
                assert_eq!(ShellFallback::by(&error), meant, "{error:?}");
            }
        }
    }
}
