//! Tickets: the files of one lane. A ticket's name is its number, its lock says that its command runs or waits, and it is
//! not empty once the command runs.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use super::turn::LivingTicket;
use crate::files::{self, FileAccess, OWN};

/// The file with the last number that was given out. Whoever holds its lock gives out the next.
const LAST: &str = "last";

/// A ticket of this runtime, returned when dropped.
#[derive(Debug)]
pub(super) struct Ticket {
    pub(super) number: u64,
    file: File,
    path: PathBuf,
}

impl Ticket {
    /// Draws the next ticket of the lane with this folder. Waits while another runtime draws one.
    ///
    /// # Errors
    /// If the folder or a file in it cannot be written.
    pub(super) fn draw(folder: &Path) -> io::Result<Self> {
        files::create_folder(folder)?;
        let last = files::open_or_create(&folder.join(LAST), FileAccess::Change)?;
        flock(&last, FlockOperation::LockExclusive)?;
        let mut number = [0; 8];
        // A new file has none.
        let given_out = last.read_exact_at(&mut number, 0).map_or(0, |()| u64::from_le_bytes(number));
        let highest = clear(folder)?;
        let number = given_out.max(highest).saturating_add(1);
        last.write_all_at(&number.to_le_bytes(), 0)?;
        let path = folder.join(number.to_string());
        let file = files::create_new(&path)?;
        flock(&file, FlockOperation::NonBlockingLockExclusive)?;
        let ticket = Self { number, file, path };
        flock(&last, FlockOperation::Unlock)?;
        Ok(ticket)
    }

    /// Notes that its command runs.
    pub(super) fn take_slot(&self) {
        // Only what others are told depends on it.
        let _ = (&self.file).write_all(b"1");
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
        // Closing the file is not enough: a process that another thread is just forking has a copy of it.
        let _ = flock(&self.file, FlockOperation::Unlock);
    }
}

/// Returns the tickets up to a number that are not returned, in order. `own` tells of those that are this runtime's
/// whether their command runs.
pub(super) fn living(folder: &Path, last: u64, own: impl Fn(u64) -> Option<bool>) -> Vec<LivingTicket> {
    let mut numbers = numbers(folder).unwrap_or_default();
    numbers.retain(|number| *number <= last);
    numbers.sort_unstable();
    let has_slot = |number| own(number).or_else(|| runs(&folder.join(number.to_string())));
    let living = numbers.into_iter();
    living.filter_map(|number| Some(LivingTicket { number, has_slot: has_slot(number)? })).collect()
}

/// Blocks until a ticket is returned.
pub(super) fn wait_for_return(folder: &Path, number: u64) {
    let Ok(file) = files::open(&folder.join(number.to_string()), OWN, FileAccess::Read) else { return };
    while flock(&file, FlockOperation::LockShared) == Err(Errno::INTR) {}
}

/// Tells whether the command of a ticket runs; `None` if the ticket was returned.
fn runs(path: &Path) -> Option<bool> {
    let file = files::open(path, OWN, FileAccess::Read).ok()?;
    // A shared lock, so that those who look do not take each other for a holder.
    match flock(&file, FlockOperation::NonBlockingLockShared) {
        Err(Errno::WOULDBLOCK) => Some(file.metadata().is_ok_and(|facts| facts.len() > 0)),
        _ => None,
    }
}

/// Removes the tickets of runtimes that were killed; returns the highest number.
fn clear(folder: &Path) -> io::Result<u64> {
    let numbers = numbers(folder)?;
    for number in &numbers {
        let path = folder.join(number.to_string());
        if runs(&path).is_none() {
            let _ = fs::remove_file(&path);
        }
    }
    Ok(numbers.into_iter().max().unwrap_or_default())
}

fn numbers(folder: &Path) -> io::Result<Vec<u64>> {
    let names = fs::read_dir(folder)?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    Ok(names.filter_map(|name| name.parse().ok()).collect())
}
