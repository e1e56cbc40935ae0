//! The file of marks: each command that runs without a runtime appends a line, and the next runtime moves the whole
//! file away. Recorded marks stay in a second file until they have been shown to a person.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::event::{Timespec, poll};
use rustix::fs::{FlockOperation, flock};

use super::{UnrecordedCommand, UnrecordedCommands};
use crate::clock::Clock;
use crate::files::{self, FileAccess, OWN};

/// Beyond this file size, a command is only counted.
const DESCRIBED_BYTES: u64 = 64 << 10;
/// Beyond this file size, no command leaves a mark, and none runs.
const MOST_BYTES: u64 = 128 << 10;
/// The most bytes read at once: concurrent writers may each append one line beyond the limit.
const READ_BYTES: u64 = 2 * MOST_BYTES;
/// How often a mark is attempted while runtimes take the file away.
const ATTEMPTS: usize = 16;
/// How long a command that is just leaving its mark is waited for.
const LEAVING: Duration = Duration::from_secs(1);
const PAUSE: Duration = Duration::from_millis(1);
/// The extensions of a file that was taken away, and of one whose marks are recorded.
const TAKEN: &str = "taken";
const RECORDED: &str = "recorded";

/// Leaves a mark in the file at `path`, in the state folder, which must exist.
///
/// # Errors
/// If the mark cannot be left; nobody would learn of the command then.
pub fn leave_mark(path: &Path, mark: UnrecordedCommand) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        match DirBuilder::new().mode(0o700).create(folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
    }
    let mut line = serde_json::to_vec(&mark.mask_and_cut())?;
    line.push(b'\n');
    // The file may be taken away just before the line is written: then it goes into the next one.
    for _ in 0..ATTEMPTS {
        let file = files::open_or_create(path, FileAccess::Append)?;
        if flock(&file, FlockOperation::NonBlockingLockShared).is_ok() && append(file, &line)? {
            return Ok(());
        }
    }
    Err(io::Error::other("it is being read all the time"))
}

/// Appends a line to a file of marks; returns whether it is still the one that will be read.
fn append(mut file: File, line: &[u8]) -> io::Result<bool> {
    let facts = file.metadata()?;
    if facts.nlink() == 0 {
        return Ok(false);
    }
    if facts.len() >= MOST_BYTES {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    let is_described = facts.len() < DESCRIBED_BYTES;
    // A single write, so that lines of concurrent writers stay intact.
    file.write_all(if is_described { line } else { b"\n" }).map(|()| true)
}

/// Returns how many commands left a mark in the file at `path` that has not been shown to a person yet.
pub fn untold(path: &Path) -> u64 {
    let read = |path: &Path| TakenMarks::open(path).ok().flatten()?.read().ok();
    let files = [path.to_owned(), aside(path, TAKEN), aside(path, RECORDED)];
    files.iter().filter_map(|path| read(path)).map(|marks| marks.count()).fold(0, u64::saturating_add)
}

/// Returns the recorded marks that have not been shown to a person yet, and forgets them.
///
/// # Errors
/// If they cannot be read or forgotten.
pub(in crate::runtime) fn tell(path: &Path) -> io::Result<UnrecordedCommands> {
    let Some(mut recorded) = TakenMarks::open(&aside(path, RECORDED))? else {
        return Ok(UnrecordedCommands::default());
    };
    let marks = recorded.read()?;
    fs::remove_file(recorded.path)?;
    Ok(marks)
}

/// A file of marks that was moved away: new commands no longer append to it.
#[derive(Debug)]
pub(in crate::runtime) struct TakenMarks {
    file: File,
    path: PathBuf,
}

impl TakenMarks {
    /// Takes the file at `path` away, or first one that an earlier runtime took without finishing.
    ///
    /// # Errors
    /// If something else is in its place, or the file cannot be moved or read.
    pub(in crate::runtime) fn take(path: &Path) -> io::Result<Option<Self>> {
        let aside = aside(path, TAKEN);
        let taken = match Self::open(&aside)? {
            Some(taken) => Some(taken),
            None if Self::open(path)?.is_none() => None,
            None => {
                fs::rename(path, &aside)?;
                Self::open(&aside)?
            }
        };
        taken.iter().try_for_each(|taken| nobody_writes(&taken.file))?;
        Ok(taken)
    }

    /// Opens a file of marks; `None` if there is none.
    ///
    /// # Errors
    /// If something else is in its place: that stays there, and the marks of later commands where they are.
    fn open(path: &Path) -> io::Result<Option<Self>> {
        let file = match files::open(path, OWN, FileAccess::Read) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened?,
        };
        let is_mine = file.metadata()?.uid() == rustix::process::geteuid().as_raw();
        let mut begun = vec![0; usize::try_from(READ_BYTES).unwrap_or_default()];
        let read = file.read_at(&mut begun, 0)?;
        if !is_mine || !UnrecordedCommands::is_ours(begun.get(..read).unwrap_or_default()) {
            return Err(io::Error::other("it is not a file of such marks"));
        }
        Ok(Some(Self { file, path: path.to_owned() }))
    }

    /// Reads the marks appended since the last read.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(in crate::runtime) fn read(&mut self) -> io::Result<UnrecordedCommands> {
        let mut bytes = Vec::new();
        (&self.file).take(READ_BYTES).read_to_end(&mut bytes)?;
        Ok(UnrecordedCommands::parse(&bytes))
    }

    /// Removes the file once its marks are recorded, and keeps the marks until they are shown to a person.
    ///
    /// # Errors
    /// If the marks cannot be kept or the file cannot be removed.
    pub(in crate::runtime) fn keep(self, marks: &UnrecordedCommands) -> io::Result<()> {
        let mut all = match Self::open(&aside(&self.path, RECORDED))? {
            Some(mut recorded) => recorded.read()?,
            None => UnrecordedCommands::default(),
        };
        marks.rows().for_each(|row| all.add(row));
        let lines = all.lines()?;
        files::replace(&aside(&self.path, RECORDED), |file| file.write_all(&lines))?;
        fs::remove_file(&self.path)
    }
}

/// Waits until no command writes to a file that was taken away, and keeps others from it: they find the next file.
fn nobody_writes(file: &File) -> io::Result<()> {
    let clock = Clock::start();
    while flock(file, FlockOperation::NonBlockingLockExclusive).is_err() {
        if clock.now().mono > LEAVING {
            return Err(io::ErrorKind::ResourceBusy.into());
        }
        let _ = poll(&mut [], Timespec::try_from(PAUSE).ok().as_ref());
    }
    Ok(())
}

fn aside(path: &Path, extension: &str) -> PathBuf {
    path.with_extension(extension)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::runtime::unrecorded::tests::mark;

    struct Place {
        _folder: tempfile::TempDir,
        path: PathBuf,
    }

    impl Place {
        fn new() -> Self {
            let folder = tempfile::tempdir().expect("temp dir");
            Self { path: folder.path().join("outside/0123.jsonl"), _folder: folder }
        }

        fn leave(&self, cmd: &str) {
            leave_mark(&self.path, mark("claude", cmd)).expect("written");
        }

        fn take(&self) -> Option<TakenMarks> {
            TakenMarks::take(&self.path).expect("taken")
        }
    }

    fn count(taken: &mut TakenMarks) -> u64 {
        taken.read().expect("reads").count()
    }

    #[test]
    fn marks_are_told_of_once_and_one_that_comes_meanwhile_is_not_lost() {
        let place = Place::new();
        assert!(place.take().is_none());
        place.leave("one");
        place.leave("two");
        assert_eq!(place.path.metadata().expect("there").permissions().mode() & 0o777, 0o600);
        assert_eq!(untold(&place.path), 2);
        let mut late = File::options().append(true).open(&place.path).expect("opened before it is taken");
        let mut taken = place.take().expect("a file");
        assert_eq!(count(&mut taken), 2);
        late.write_all(b"\n").expect("written");
        place.leave("three");
        assert_eq!(untold(&place.path), 4);
        assert_eq!([count(&mut taken), count(&mut taken)], [1, 0]);
        // If a runtime dies before its marks were shown, the next one starts with them.
        drop(taken);
        let mut taken = place.take().expect("the same file");
        assert_eq!(count(&mut taken), 3);
        let told = || tell(&place.path).expect("reads").count();
        assert_eq!(told(), 0);
        let of = |cmd| UnrecordedCommands::parse(&serde_json::to_vec(&mark("claude", cmd)).expect("JSON"));
        taken.keep(&of("one")).expect("kept");
        let mut taken = place.take().expect("the other file");
        assert_eq!(count(&mut taken), 1);
        taken.keep(&of("three")).expect("kept");
        assert!(place.take().is_none());
        assert_eq!(untold(&place.path), 2);
        assert_eq!([told(), told()], [2, 0]);
    }

    #[test]
    fn f49_a_file_of_marks_does_not_grow_for_ever_and_one_that_is_full_takes_no_further_mark() {
        let place = Place::new();
        files::create_folder(place.path.parent().expect("a folder")).expect("created");
        let length = || place.path.metadata().expect("there").len();
        for (before, grown) in [(DESCRIBED_BYTES, 1), (MOST_BYTES, 0)] {
            File::create(&place.path).and_then(|file| file.set_len(before)).expect("written");
            let left = leave_mark(&place.path, mark("claude", "x"));
            assert_eq!((left.is_ok(), length()), (grown > 0, before + grown));
        }
    }

    #[test]
    fn f49_without_a_state_folder_no_mark_is_left_and_none_is_made() {
        let place = Place::new();
        let path = place.path.parent().expect("a folder").join("gone/0123.jsonl");
        let error = leave_mark(&path, mark("claude", "x")).expect_err("no folder");
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert!(place.path.parent().is_some_and(|folder| !folder.exists()));
    }

    #[test]
    fn f49_no_mark_is_lost_while_runtimes_take_the_file_away() {
        const WRITERS: u64 = 4;
        const EACH: u64 = 200;
        let place = Place::new();
        let found = std::thread::scope(|scope| {
            let writers: Vec<_> =
                (0..WRITERS).map(|_| scope.spawn(|| (0..EACH).for_each(|_| place.leave("ls")))).collect();
            let mut found = 0;
            loop {
                let are_done = writers.iter().all(std::thread::ScopedJoinHandle::is_finished);
                while let Some(mut taken) = place.take() {
                    while let more @ 1.. = count(&mut taken) {
                        found += more;
                    }
                    fs::remove_file(&taken.path).expect("removed");
                }
                if are_done {
                    return found;
                }
            }
        });
        assert_eq!(found, WRITERS * EACH);
    }

    #[test]
    fn f45_f47_a_foreign_file_in_place_of_the_marks_stays_and_delays_nobody() {
        let place = Place::new();
        let elsewhere = place.path.with_file_name("elsewhere");
        place.leave("one");
        fs::rename(&place.path, &elsewhere).expect("moved");
        std::os::unix::fs::symlink(&elsewhere, &place.path).expect("a link");
        let refused = || leave_mark(&place.path, mark("claude", "ls")).is_err() && untold(&place.path) == 0;
        assert!(refused());
        assert!(TakenMarks::take(&place.path).is_err());
        assert!(place.path.is_symlink());
        fs::remove_file(&place.path).expect("removed");
        let fifo = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(rustix::fs::CWD, &place.path, fifo, rustix::fs::Mode::RUSR, 0).expect("a FIFO");
        assert!(refused());
        assert!(TakenMarks::take(&place.path).is_err());
        assert!(elsewhere.exists() && place.path.exists());
        fs::remove_file(&place.path).expect("removed");
        // A file of somebody else's by our name, in each of the three places.
        for extension in ["jsonl", TAKEN, RECORDED] {
            let foreign = aside(&place.path, extension);
            fs::write(&foreign, "my notes\n\nare mine\n").expect("written");
            let taken = TakenMarks::take(&place.path);
            assert_eq!(taken.is_err(), extension != RECORDED, "{extension}");
            assert_eq!(tell(&place.path).is_err(), extension == RECORDED, "{extension}");
            assert_eq!(fs::read(&foreign).expect("it stays"), b"my notes\n\nare mine\n");
            fs::remove_file(&foreign).expect("removed");
        }
        place.leave("two");
        fs::write(aside(&place.path, RECORDED), "my notes\n").expect("written");
        let taken = place.take().expect("a file");
        assert!(taken.keep(&UnrecordedCommands::default()).is_err(), "nothing is replaced either");
        assert_eq!(fs::read(aside(&place.path, RECORDED)).expect("it stays"), b"my notes\n");
    }
}
