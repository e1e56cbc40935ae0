//! The file of marks: each command that runs without a runtime appends a line, and the next runtime moves the whole
//! file away. Recorded marks stay in a second file until they have been shown to a person.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::{Mark, Marks};
use crate::files;

/// Beyond this file size, a command is only counted.
const DESCRIBED_BYTES: u64 = 64 << 10;
/// Beyond this file size, a command is not even counted.
const MOST_BYTES: u64 = 128 << 10;
/// The most bytes read at once: concurrent writers may each append one line beyond the limit.
const READ_BYTES: u64 = 2 * MOST_BYTES;
/// The extensions of a file that was taken away, and of one whose marks are recorded.
const TAKEN: &str = "taken";
const RECORDED: &str = "recorded";

/// Leaves a mark in the file at `path`.
///
/// # Errors
/// If the file cannot be written; nobody will learn of the command then.
pub fn leave_mark(path: &Path, mark: Mark) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        files::create_folder(folder)?;
    }
    let mut file = files::private().append(true).create(true).custom_flags(flags()).open(path)?;
    let facts = file.metadata()?;
    if !facts.is_file() || facts.len() >= MOST_BYTES {
        return Ok(());
    }
    let mut line = Vec::new();
    if facts.len() < DESCRIBED_BYTES {
        serde_json::to_writer(&mut line, &mark.kept())?;
    }
    line.push(b'\n');
    // A single write, so that lines of concurrent writers stay intact.
    file.write_all(&line)
}

/// Returns how many commands left a mark in the file at `path` that has not been shown to a person yet.
#[must_use]
pub fn untold(path: &Path) -> u64 {
    let read = |path: &Path| Taken { file: open(path).ok()?, path: path.to_owned() }.read().ok();
    let files = [path.to_owned(), aside(path, TAKEN), aside(path, RECORDED)];
    files.iter().filter_map(|path| read(path)).map(|marks| marks.count()).fold(0, u64::saturating_add)
}

/// Returns the recorded marks that have not been shown to a person yet, and forgets them.
///
/// # Errors
/// If they cannot be read or forgotten.
pub(in crate::runtime) fn tell(path: &Path) -> io::Result<Marks> {
    let marks = recorded(path)?;
    match fs::remove_file(aside(path, RECORDED)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(marks),
    }
}

/// Reads the recorded marks that have not been shown to a person yet.
fn recorded(path: &Path) -> io::Result<Marks> {
    let path = aside(path, RECORDED);
    match open(&path) {
        Ok(file) => Taken { file, path }.read(),
        // The file is not ours, or missing.
        Err(_) => Ok(Marks::default()),
    }
}

/// A file of marks that was moved away: new commands no longer append to it.
#[derive(Debug)]
pub(in crate::runtime) struct Taken {
    file: File,
    path: PathBuf,
}

impl Taken {
    /// Takes the file at `path` away, or first one that an earlier runtime took without finishing.
    ///
    /// # Errors
    /// If something else is in its place, or the file cannot be moved or read.
    pub(in crate::runtime) fn take(path: &Path) -> io::Result<Option<Self>> {
        let aside = aside(path, TAKEN);
        if aside.symlink_metadata().is_err() {
            match fs::rename(path, &aside) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                moved => moved?,
            }
        }
        match open(&aside) {
            Ok(file) => Ok(Some(Self { file, path: aside })),
            Err(error) => {
                // The file is not ours, and blocks the name.
                fs::remove_file(&aside)?;
                Err(error)
            }
        }
    }

    /// Reads the marks appended since the last read: a command that opened the file before it was taken may still
    /// write to it.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(in crate::runtime) fn read(&mut self) -> io::Result<Marks> {
        let mut bytes = Vec::new();
        (&self.file).take(READ_BYTES).read_to_end(&mut bytes)?;
        Ok(Marks::parse(&bytes))
    }

    /// Removes the file once its marks are recorded, and keeps the marks until they are shown to a person.
    ///
    /// # Errors
    /// If the marks cannot be kept or the file cannot be removed.
    pub(in crate::runtime) fn keep(self, marks: &Marks) -> io::Result<()> {
        let mut all = recorded(&self.path)?;
        marks.rows().for_each(|row| all.add(row));
        let lines = all.lines()?;
        files::replace(&aside(&self.path, RECORDED), |file| file.write_all(&lines))?;
        fs::remove_file(&self.path)
    }
}

fn aside(path: &Path, extension: &str) -> PathBuf {
    path.with_extension(extension)
}

fn open(path: &Path) -> io::Result<File> {
    let file = File::options().read(true).custom_flags(flags()).open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("it is not a file")) }
}

/// Open flags: neither follow a symbolic link nor wait for the other end of a FIFO.
fn flags() -> i32 {
    (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::runtime::outside::tests::mark;

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

        fn take(&self) -> Option<Taken> {
            Taken::take(&self.path).expect("taken")
        }
    }

    fn count(taken: &mut Taken) -> u64 {
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
        let of = |cmd| Marks::parse(&serde_json::to_vec(&mark("claude", cmd)).expect("JSON"));
        taken.keep(&of("one")).expect("kept");
        let mut taken = place.take().expect("the other file");
        assert_eq!(count(&mut taken), 1);
        taken.keep(&of("three")).expect("kept");
        assert!(place.take().is_none());
        assert_eq!(untold(&place.path), 2);
        assert_eq!([told(), told()], [2, 0]);
    }

    #[test]
    fn a_file_of_marks_does_not_grow_for_ever() {
        let place = Place::new();
        files::create_folder(place.path.parent().expect("a folder")).expect("created");
        let length = || place.path.metadata().expect("there").len();
        for (before, grown) in [(DESCRIBED_BYTES, 1), (MOST_BYTES, 0)] {
            File::create(&place.path).and_then(|file| file.set_len(before)).expect("written");
            place.leave("x");
            assert_eq!(length(), before + grown);
        }
    }

    #[test]
    fn what_is_no_file_is_removed_and_keeps_nobody_waiting() {
        let place = Place::new();
        let elsewhere = place.path.with_file_name("elsewhere");
        place.leave("one");
        fs::rename(&place.path, &elsewhere).expect("moved");
        std::os::unix::fs::symlink(&elsewhere, &place.path).expect("a link");
        let refused = || leave_mark(&place.path, mark("claude", "ls")).is_err() && untold(&place.path) == 0;
        assert!(refused());
        assert!(Taken::take(&place.path).is_err());
        assert!(place.take().is_none());
        let fifo = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(rustix::fs::CWD, &place.path, fifo, rustix::fs::Mode::RUSR, 0).expect("a FIFO");
        assert!(refused());
        assert!(Taken::take(&place.path).is_err());
        assert!(place.take().is_none());
        assert!(elsewhere.exists());
    }
}
