//! The journal of a run (`journal.jsonl`): what was begun, what came of it. A run that was cut off is walked
//! again from its beginning, and whatever stands here is taken from here instead of being done again. What
//! was begun and did not end is told as that, and never done again silently.

mod memory;

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{Read as _, Seek as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use self::memory::{Memory, read};
use super::error::Error;
use crate::config::ExecPolicy;
use crate::prose::vm::effects::{Decided, Ran};

/// The file, in the folder of the run.
pub const JOURNAL: &str = "journal.jsonl";
/// The version of its rows.
const VERSION: u32 = 1;

/// Where a walk has come to: the way there, the same in each walk of the same program.
pub type Key = Arc<str>;

/// One row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "row", rename_all = "snake_case")]
pub enum Row {
    /// The first row.
    Run(RunRow),
    /// A command is about to start.
    Begun {
        /// Where.
        key: Key,
        /// Its line.
        line: u32,
        /// The command.
        cmd: String,
        /// When.
        at: Timestamp,
    },
    /// A command has ended.
    Ran {
        /// Where.
        key: Key,
        /// How.
        ran: Box<Ran>,
    },
    /// A question is settled.
    Decided {
        /// Where.
        key: Key,
        /// How.
        decided: Decided,
    },
    /// A number was given.
    Number {
        /// Where.
        key: Key,
        /// Of what.
        of: String,
        /// Which.
        number: u32,
    },
    /// A line was written to `state.md`.
    Mark {
        /// Where.
        key: Key,
        /// The line.
        text: String,
    },
    /// A binding was written.
    Bound {
        /// Where.
        key: Key,
        /// Its file, from the folder of the run.
        file: PathBuf,
    },
    /// A parallel block is over: its branches in the order of their ends, and whether they succeeded.
    Joined {
        /// Where.
        key: Key,
        /// Branch, success.
        ends: Vec<(usize, bool)>,
    },
    /// Another process goes on.
    Resumed {
        /// When.
        at: Timestamp,
    },
    /// It is over, or was cut off in order.
    End {
        /// When.
        at: Timestamp,
        /// How: `completed`, `failed`, `interrupted`.
        how: String,
        /// What ended it, where doing that again may end differently.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        place: Option<Key>,
    },
}

/// What a run was begun with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunRow {
    /// The version of the rows.
    pub version: u32,
    /// The run's id.
    pub run: String,
    /// The program's file.
    pub program: PathBuf,
    /// Where its commands start.
    pub cwd: PathBuf,
    /// The shell that runs them.
    pub shell: String,
    /// Inputs that were given.
    pub inputs: Vec<(String, String)>,
    /// Which commands a person is asked about.
    #[serde(default)]
    pub exec: ExecPolicy,
    /// When.
    pub at: Timestamp,
}

impl RunRow {
    /// Returns the first row of a new run.
    #[must_use]
    pub fn new(
        run: &str,
        program: &Path,
        cwd: &Path,
        shell: &Path,
        inputs: &[(String, String)],
        at: Timestamp,
    ) -> Self {
        Self {
            version: VERSION,
            run: run.to_owned(),
            program: program.to_owned(),
            cwd: cwd.to_owned(),
            shell: shell.display().to_string(),
            inputs: inputs.to_vec(),
            exec: ExecPolicy::default(),
            at,
        }
    }
}

/// What the journal knows of a command.
#[derive(Debug, Clone, PartialEq)]
pub enum Past {
    /// Nothing: it was not reached.
    New,
    /// It was begun, and nobody knows how it ended.
    Begun,
    /// It failed in this way, and that ended the run.
    Failed(Box<Ran>),
    /// How it ended.
    Ran(Box<Ran>),
}

/// The journal of a run, open for writing.
#[derive(Debug)]
pub struct Ledger {
    path: PathBuf,
    file: Mutex<File>,
    /// What earlier walks did; never changed.
    past: Memory,
    numbers: Mutex<HashMap<String, u32>>,
}

impl Ledger {
    /// Begins the journal of a new run.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn create(folder: &Path, first: RunRow) -> Result<Self, Error> {
        let path = folder.join(JOURNAL);
        let opened = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        let file = opened.map_err(Error::io("create", &path))?;
        lock(&file, &first.run)?;
        let ledger =
            Self { path, file: Mutex::new(file), past: Memory::default(), numbers: Mutex::default() };
        ledger.write(&Row::Run(first))?;
        Ok(ledger)
    }

    /// Opens the journal of a run that was cut off. What was half written at its end is taken off.
    ///
    /// # Errors
    /// When it cannot be used, another process uses it, or the run is over.
    pub fn open(folder: &Path, run: &str) -> Result<(Self, RunRow), Error> {
        let path = folder.join(JOURNAL);
        let mut file =
            OpenOptions::new().read(true).write(true).open(&path).map_err(Error::io("open", &path))?;
        lock(&file, run)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(Error::io("read", &path))?;
        let whole = memchr::memrchr(b'\n', &bytes).map_or(0, |at| at + 1);
        let (first, past) = read(&path, &bytes[..whole])?;
        if let Some((how, false)) = &past.end {
            return Err(Error::Over { run: run.to_owned(), how: how.clone() });
        }
        file.set_len(whole as u64)
            .and_then(|()| file.seek(std::io::SeekFrom::End(0)))
            .map_err(Error::io("repair", &path))?;
        let mut numbers: HashMap<String, u32> = HashMap::new();
        for ((_, of), number) in &past.numbers {
            let highest = numbers.entry(of.clone()).or_default();
            *highest = (*highest).max(*number);
        }
        Ok((Self { path, file: Mutex::new(file), past, numbers: Mutex::new(numbers) }, first))
    }

    /// Returns what is known of the command at a place.
    #[must_use]
    pub fn command(&self, key: &Key) -> Past {
        match self.past.ran.get(key) {
            Some(ran) => Past::Ran(ran.clone()),
            None if self.past.failed.contains_key(key) => Past::Failed(self.past.failed[key].clone()),
            None if self.past.begun.contains(key) => Past::Begun,
            None => Past::New,
        }
    }

    /// Notes that a command is about to start; it is on disk when this returns.
    ///
    /// # Errors
    /// When it is not, and then the command must not start.
    pub async fn begin(&self, key: &Key, line: u32, cmd: &str, at: Timestamp) -> Result<(), Error> {
        self.write(&Row::Begun { key: key.clone(), line, cmd: cmd.to_owned(), at })?;
        let file = self.file().try_clone().map_err(Error::io("sync", &self.path))?;
        let synced = tokio::task::spawn_blocking(move || file.sync_data()).await;
        synced.unwrap_or_else(|gone| Err(gone.into())).map_err(Error::io("sync", &self.path))
    }

    /// Returns how the question at a place was settled.
    #[must_use]
    pub fn decided(&self, key: &Key) -> Option<&Decided> {
        self.past.decided.get(key)
    }

    /// Returns how the branches of the block at a place ended, in order.
    #[must_use]
    pub fn joined(&self, key: &Key) -> Option<&[(usize, bool)]> {
        self.past.joined.get(key).map(Vec::as_slice)
    }

    /// Returns the number that something has at a place: the same in each walk, and never given twice.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn number(&self, of: &str, key: &Key) -> Result<u32, Error> {
        if let Some(known) = self.past.numbers.get(&(key.clone(), of.to_owned())) {
            return Ok(*known);
        }
        let number = {
            let mut numbers = self.numbers.lock().unwrap_or_else(PoisonError::into_inner);
            let next = numbers.entry(of.to_owned()).or_default();
            *next += 1;
            *next
        };
        self.write(&Row::Number { key: key.clone(), of: of.to_owned(), number })?;
        Ok(number)
    }

    /// Notes that a line goes into `state.md`; false when it did in an earlier walk.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn mark(&self, key: &Key, text: &str) -> Result<bool, Error> {
        if self.past.marks.contains(&(key.clone(), text.to_owned())) {
            return Ok(false);
        }
        self.write(&Row::Mark { key: key.clone(), text: text.to_owned() })?;
        Ok(true)
    }

    /// Tells whether an earlier walk has written the binding at a place, and whether nobody has since.
    #[must_use]
    pub fn was_bound(&self, key: &Key, file: &Path) -> (bool, bool) {
        (self.past.bound.contains(key), self.past.writer.get(file) == Some(key))
    }

    /// Tells whether earlier walks have left anything here.
    #[must_use]
    pub fn is_begun(&self, key: &Key) -> bool {
        self.past.ran.contains_key(key) || self.past.decided.contains_key(key)
    }

    /// Returns whether any command was begun and has no known end.
    #[must_use]
    pub fn has_doubts(&self) -> bool {
        !self.past.failed.is_empty() || self.past.begun.iter().any(|key| !self.past.ran.contains_key(key))
    }

    /// Appends a row.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, row: &Row) -> Result<(), Error> {
        let mut line =
            serde_json::to_vec(row).map_err(|error| Error::io("write", &self.path)(error.into()))?;
        line.push(b'\n');
        self.file().write_all(&line).map_err(Error::io("write", &self.path))
    }

    fn file(&self) -> MutexGuard<'_, File> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Two processes must not walk one run. The lock goes with the file, however the process ends.
fn lock(file: &File, run: &str) -> Result<(), Error> {
    flock(file, FlockOperation::NonBlockingLockExclusive).map_err(|_| Error::Busy { run: run.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first() -> RunRow {
        RunRow::new("r", Path::new("/p"), Path::new("/"), Path::new("/bin/sh"), &[], Timestamp::UNIX_EPOCH)
    }

    #[tokio::test]
    async fn what_was_done_is_known_and_what_was_begun_is_in_doubt() {
        let dir = tempfile::tempdir().expect("temp dir");
        let key = |text: &str| Key::from(text);
        {
            let ledger = Ledger::create(dir.path(), first()).expect("made");
            for name in ["a", "b"] {
                ledger.begin(&key(name), 1, "true", Timestamp::UNIX_EPOCH).await.expect("synced");
            }
            let ran = Box::new(Ran { stdout: "x\n".into(), ..Ran::default() });
            ledger.write(&Row::Ran { key: key("a"), ran }).expect("written");
            assert_eq!(ledger.number("call", &key("c")).expect("a number"), 1);
            assert_eq!(ledger.number("call", &key("d")).expect("a number"), 2);
            assert!(ledger.mark(&key("a"), "1→ ✓").expect("written"));
            ledger.write(&Row::Bound { key: key("a"), file: "bindings/x.md".into() }).expect("written");
            assert!(matches!(Ledger::open(dir.path(), "r"), Err(Error::Busy { .. })));
            ledger.file().write_all(b"{\"row\":\"ma").expect("half a row");
        }
        let (ledger, row) = Ledger::open(dir.path(), "r").expect("opens");
        assert_eq!(row, first());
        assert!(matches!(ledger.command(&key("a")), Past::Ran(ran) if ran.stdout == "x\n"));
        assert_eq!((ledger.command(&key("b")), ledger.command(&key("z"))), (Past::Begun, Past::New));
        assert!(ledger.has_doubts());
        assert_eq!(ledger.number("call", &key("d")).expect("known"), 2);
        assert_eq!(ledger.number("call", &key("e")).expect("a new one"), 3);
        assert!(!ledger.mark(&key("a"), "1→ ✓").expect("known"));
        assert_eq!(ledger.was_bound(&key("a"), Path::new("bindings/x.md")), (true, true));
        ledger
            .write(&Row::End { at: Timestamp::UNIX_EPOCH, how: "completed".into(), place: None })
            .expect("written");
        drop(ledger);
        assert!(matches!(Ledger::open(dir.path(), "r"), Err(Error::Over { .. })));
    }

    #[test]
    fn a_journal_that_makes_no_sense_is_refused_with_its_line() {
        let dir = tempfile::tempdir().expect("temp dir");
        drop(Ledger::create(dir.path(), first()).expect("made"));
        let path = dir.path().join(JOURNAL);
        let mut text = std::fs::read_to_string(&path).expect("readable");
        text.push_str("{\"row\":\"what\"}\n");
        std::fs::write(&path, text).expect("written");
        let refused = Ledger::open(dir.path(), "r").expect_err("refused").to_string();
        assert!(refused.contains("line 2"), "{refused}");
    }
}
