//! Starts a runtime as a separate process, which ends neither with the process that first needed it nor with that
//! process's children.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::Error;
use crate::files::{self, FileAccess, OWN};
use crate::paths::Places;
use crate::process::{Lineage, ancestry, keep_descriptors};

/// A runtime that was started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartedRuntime {
    /// Its process id. If another runtime is faster, this process exits by itself.
    pub pid: u32,
    /// The file it writes to if it cannot serve.
    pub log: PathBuf,
    /// Whether it runs below a task of another runtime and ends with that task: nothing escapes from a task's tree.
    pub ends_with_task: bool,
}

impl StartedRuntime {
    pub(super) fn is_alive(&self) -> bool {
        // A process that has exited but was not reaped (a zombie) has no executable link.
        std::fs::read_link(Path::new("/proc").join(self.pid.to_string()).join("exe")).is_ok()
    }

    /// Describes what was started, in one line for a person.
    pub fn notice(&self, places: &Places) -> String {
        let Self { pid, log, ends_with_task } = self;
        let workspace = places.workspace.display();
        let log = log.display();
        let end = if *ends_with_task {
            " It was started inside a task of another runtime, and ends with that task."
        } else {
            ""
        };
        format!(
            "started a runtime for {workspace} (pid {pid}, log {log}); `pilothouse` there opens its console.{end}"
        )
    }
}

/// Returns why the runtime exited that wrote this log; `None` if another runtime was faster, which leaves it empty.
pub(super) fn failure(log: &Path) -> Option<Error> {
    let said = files::read_text(log, OWN, LOG_BYTES).unwrap_or_default();
    // Of several lines the first says what is wrong, the next what to do.
    let last = said.lines().rfind(|line| !line.trim().is_empty() && !line.starts_with("fix: "))?;
    Some(Error::Failed { said: last.trim_start_matches("pilothouse: ").to_owned(), log: log.to_owned() })
}

/// Returns the file that a runtime in its own process writes to if it cannot serve.
pub(super) fn log_path(places: &Places) -> PathBuf {
    places.state_dir.join("logs").join(format!("serve-{}.log", places.id))
}

/// The longest log that is read.
const LOG_BYTES: u64 = 1 << 20;
/// What a runtime writes before it serves anyone fits into this many bytes.
const ROOM_BYTES: u64 = 1 << 20;

/// Checks that there is room for a runtime's record: a runtime that cannot create it could not even report why it
/// ended.
///
/// # Errors
/// [`Error::NoRoom`] if there is not enough room.
pub fn check_room(places: &Places) -> Result<(), Error> {
    let mut folders = places.state_dir.ancestors();
    // A file system that does not report its free space is written to until it refuses.
    let Some(disk) = folders.find_map(|folder| rustix::fs::statvfs(folder).ok()) else { return Ok(()) };
    if disk.f_bavail * disk.f_frsize < ROOM_BYTES {
        return Err(Error::NoRoom { path: places.state_dir.clone() });
    }
    Ok(())
}

/// Opens that log for appending.
pub(super) fn open_log(log: &Path) -> io::Result<File> {
    let folder = log.parent().unwrap_or(log);
    files::create_folder(folder)?;
    files::open_or_create(log, FileAccess::Append)
}

/// Starts the runtime of a workspace: `program __detach` leaves the caller's session and starts the server, which has
/// been reparented by the time this returns. If the runtime is to survive the user's last logout, it becomes a unit
/// of the user's systemd where there is one. Blocks until then.
///
/// # Errors
/// If the program cannot be started or its log cannot be written.
pub fn start(places: &Places, program: &Path, outlives_logout: bool) -> Result<StartedRuntime, Error> {
    let failed = |source| Error::Start { program: program.to_owned(), source };
    let log = log_path(places);
    let output = open_log(&log).and_then(|log| log.set_len(0).map(|()| log)).map_err(failed)?;
    // A pipe inherited from the caller's caller would never reach end-of-file while the runtime also held it.
    keep_descriptors().map_err(failed)?;
    let lineage = ancestry(std::process::id()).lineage;
    let ends_with_task = matches!(lineage, Some(Lineage::Host | Lineage::Adopted | Lineage::Limited));
    // Nothing may escape from a task's tree, not even through systemd.
    if outlives_logout
        && !ends_with_task
        && let Some(pid) = super::unit::start(places, program, &log)
    {
        return Ok(StartedRuntime { pid, log, ends_with_task });
    }
    let mut leaving = Command::new(program)
        .arg("__detach")
        .current_dir(&places.workspace)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(output)
        .spawn()
        .map_err(failed)?;
    let mut output = String::new();
    let read = leaving.stdout.take().map(|mut stdout| stdout.read_to_string(&mut output));
    leaving.wait().and(read.unwrap_or(Ok(0))).map_err(failed)?;
    let pid = output
        .trim()
        .parse()
        .map_err(|_| failed(io::Error::other(format!("the server did not start; see {}", log.display()))))?;
    Ok(StartedRuntime { pid, log, ends_with_task })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_runtime_that_could_not_serve_is_quoted_with_the_cause() {
        let folder = tempfile::tempdir().expect("a folder");
        let log = folder.path().join("log");
        std::fs::write(&log, "pilothouse: no such folder\nfix: make it\n").expect("written");
        let said = failure(&log).map(|error| error.to_string()).unwrap_or_default();
        assert!(said.contains("could not serve: no such folder"), "{said}");
    }
}
