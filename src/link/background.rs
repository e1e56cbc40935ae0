//! Starting a runtime as a process of its own, which ends neither with whoever needed it first nor with the processes
//! that one has started.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::Error;
use crate::files;
use crate::paths::Places;
use crate::process::{Lineage, ancestry, keep_descriptors};

/// A runtime that was started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Started {
    /// Its process. Should another one be quicker, this one ends by itself.
    pub pid: u32,
    /// What it writes when it cannot serve.
    pub log: PathBuf,
    /// It lives below a task of another runtime, and ends with that task: nothing gets out of a task's tree.
    pub ends_with_task: bool,
}

impl Started {
    pub(super) fn is_alive(&self) -> bool {
        // One that has ended and that nobody has waited for has no program any more.
        std::fs::read_link(Path::new("/proc").join(self.pid.to_string()).join("exe")).is_ok()
    }

    /// Tells why it has ended; nothing when another one was quicker, which leaves its log empty.
    pub(super) fn failure(&self) -> Option<Error> {
        let said = std::fs::read_to_string(&self.log).unwrap_or_default();
        let last = said.lines().rfind(|line| !line.trim().is_empty())?;
        Some(Error::Failed {
            said: last.trim_start_matches("pilothouse: ").to_owned(),
            log: self.log.clone(),
        })
    }

    /// Says what was started, in one line for a person.
    #[must_use]
    pub fn notice(&self, places: &Places) -> String {
        let Self { pid, log, ends_with_task } = self;
        let workspace = places.workspace.display();
        let log = log.display();
        let end = if *ends_with_task {
            " It was started below a task of another runtime, and ends with that task."
        } else {
            ""
        };
        format!(
            "started a runtime for {workspace} (pid {pid}, log {log}); `pilothouse` there opens its console.{end}"
        )
    }
}

/// Returns the file that a runtime of its own process writes to when it cannot serve.
pub(super) fn log_path(places: &Places) -> PathBuf {
    places.state_dir.join("logs").join(format!("serve-{}.log", places.id))
}

/// What a runtime writes before it serves anybody fits into so much.
const ROOM_BYTES: u64 = 1 << 20;

/// Tells whether there is room for the record of a runtime: one that cannot begin it could not even say why it ended.
///
/// # Errors
/// [`Error::NoRoom`] where there is none.
pub fn check_room(places: &Places) -> Result<(), Error> {
    let mut folders = places.state_dir.ancestors();
    // A file system that cannot be asked is written to until it refuses.
    let Some(disk) = folders.find_map(|folder| rustix::fs::statvfs(folder).ok()) else { return Ok(()) };
    if disk.f_bavail * disk.f_frsize < ROOM_BYTES {
        return Err(Error::NoRoom { path: places.state_dir.clone() });
    }
    Ok(())
}

/// Opens that file to append to.
pub(super) fn open_log(log: &Path) -> io::Result<File> {
    let folder = log.parent().unwrap_or(log);
    files::create_folder(folder)?;
    files::private().create(true).append(true).open(log)
}

/// Starts the runtime of a workspace: `program __detach` leaves the caller's session and starts the server, which is
/// nobody's child any more when this returns. One that is to outlive the last logout of its user becomes a unit of the user's
/// systemd, where there is one. Blocks for as long as that takes.
///
/// # Errors
/// When the program cannot be started or has nowhere to write.
pub fn start(places: &Places, program: &Path, outlives_logout: bool) -> Result<Started, Error> {
    let failed = |source| Error::Start { program: program.to_owned(), source };
    let log = log_path(places);
    let output = open_log(&log).and_then(|log| log.set_len(0).map(|()| log)).map_err(failed)?;
    // A pipe that the caller's caller left open to us would never end as long as the runtime held it, too.
    keep_descriptors().map_err(failed)?;
    let ends_with_task =
        matches!(ancestry(std::process::id()).lineage, Some(Lineage::Host | Lineage::Adopted));
    // Nothing gets out of a task's tree, not by way of systemd either.
    if outlives_logout
        && !ends_with_task
        && let Some(pid) = super::unit::start(places, program, &log)
    {
        return Ok(Started { pid, log, ends_with_task });
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
    Ok(Started { pid, log, ends_with_task })
}
