//! The journal of a run (`journal.jsonl`): what was begun, and with what outcome. To resume, the program is executed
//! again from its beginning, and whatever has been recorded is replayed from here rather than repeated. Anything that
//! was begun but has no recorded end is reported as such, and never silently repeated.

mod history;
mod row;

use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use rustix::fs::{FlockOperation, flock};

pub use self::history::WrittenBinding;
use self::history::{KeyHistory, RunHistory, digest};
pub use self::row::{ProgramKey, RunHeader, RunRow};
use super::command_result::CommandResult;
use super::decision::RecordedDecision;
use super::error::RunError;
use super::folder::{SharedDisk, hold};
use super::state::StateLine;
use crate::envelope::mask;
use crate::journal::LineFile;
use crate::runtime::PendingWrite;

/// The name of the file in the run's folder.
pub const JOURNAL: &str = "journal.jsonl";

/// What the journal contains about a command.
#[derive(Debug, Clone, PartialEq)]
pub enum CommandRecord {
    /// Nothing: it was not reached.
    New,
    /// It was begun, and its outcome is unknown; or it failed in this way, and that ended the run.
    InDoubt(Option<Box<CommandResult>>),
    /// Its outcome.
    Ran(Box<CommandResult>),
}

/// What the journal contains about a binding at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BindingRecord {
    /// It was not written.
    New,
    /// Another place has written the same file since.
    Overwritten,
    /// This place was the last one to write the file, or was about to.
    Last(WrittenBinding),
}

/// The journal of a run, open for writing.
#[derive(Debug)]
pub struct RunJournal {
    path: PathBuf,
    rows: Mutex<LineFile>,
    disk: SharedDisk,
    /// What earlier executions did; never changed.
    history: RunHistory,
    numbers: Mutex<HashMap<String, u32>>,
}

impl RunJournal {
    /// Creates the journal of a new run.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn create(disk: SharedDisk, folder: &Path, first: RunHeader) -> Result<Self, RunError> {
        let path = folder.join(JOURNAL);
        let created = hold(folder).and_then(|held| disk.create(&held.path(Path::new(JOURNAL))));
        let file = created.map_err(RunError::io("create", &path))?;
        lock(&file, &first.run)?;
        let rows = Mutex::new(LineFile::new(file, 0));
        let journal = Self { path, rows, disk, history: RunHistory::default(), numbers: Mutex::default() };
        journal.write(&RunRow::Run(first))?;
        Ok(journal)
    }

    /// Opens the journal of a run to resume it. A partly written last row is cut off.
    ///
    /// # Errors
    /// When it cannot be used, another process uses it, or the run has ended.
    pub fn open(disk: SharedDisk, folder: &Path, run: &str) -> Result<(Self, RunHeader), RunError> {
        let path = folder.join(JOURNAL);
        let held = hold(folder).map_err(RunError::io("open", &path))?;
        let at = held.path(Path::new(JOURNAL));
        let file = disk.open(&at).map_err(RunError::io("open", &path))?;
        lock(&file, run)?;
        let (rows, bytes) = LineFile::repair(&*disk, file, &at).map_err(RunError::io("read", &path))?;
        let (first, history) = RunHistory::read(&path, &bytes)?;
        if let Some((how, false)) = &history.end {
            return Err(RunError::Over { run: run.to_owned(), how: how.clone() });
        }
        let mut numbers: HashMap<String, u32> = HashMap::new();
        for ((_, of), number) in &history.numbers {
            let highest = numbers.entry(of.clone()).or_default();
            *highest = (*highest).max(*number);
        }
        Ok((Self { path, rows: Mutex::new(rows), disk, history, numbers: Mutex::new(numbers) }, first))
    }

    fn key_history(&self, key: &ProgramKey) -> Option<&KeyHistory> {
        self.history.places.get(key)
    }

    /// Returns what is known about the command at a place.
    pub fn command(&self, key: &ProgramKey) -> CommandRecord {
        match self.key_history(key) {
            Some(KeyHistory { ran: Some(ran), .. }) => CommandRecord::Ran(ran.clone()),
            Some(KeyHistory { failed: Some(ran), .. }) => CommandRecord::InDoubt(Some(ran.clone())),
            Some(KeyHistory { is_begun: true, .. }) => CommandRecord::InDoubt(None),
            _ => CommandRecord::New,
        }
    }

    /// Returns what ended the run, if that is known and can be run again, and its line.
    pub fn known_failure(&self) -> Option<(u32, &CommandResult)> {
        let mut places = self.history.places.values();
        // One of which nobody knows whether it ran is in doubt.
        let known = |ran: &&CommandResult| ran.unknown.is_none();
        places.find_map(|place| Some((place.line, place.failed.as_deref().filter(known)?)))
    }

    /// Records that a command is about to start. On return, the row is written but not necessarily on disk: the
    /// command must do nothing before it is.
    ///
    /// # Errors
    /// When it cannot be written, in which case the command must not start.
    pub fn begin(
        &self,
        key: &ProgramKey,
        line: u32,
        cmd: &str,
        at: Timestamp,
    ) -> Result<PendingWrite, RunError> {
        self.write(&RunRow::Begun { key: key.clone(), line, cmd: mask(cmd).into_owned(), at })?;
        let file = self.rows().file().try_clone().map_err(RunError::io("sync", &self.path))?;
        let disk = self.disk.clone();
        Ok(PendingWrite::by(move || disk.sync(&file)))
    }

    /// Waits until a row is on disk.
    ///
    /// # Errors
    /// When it could not be synced: the run cannot continue.
    pub async fn wait_for_sync(&self, marked: &PendingWrite) -> Result<(), RunError> {
        let failed = |why: String| RunError::io("sync", &self.path)(std::io::Error::other(why));
        marked.on_disk().await.map_err(failed)
    }

    /// Returns how the question at a place was decided.
    pub fn decision(&self, key: &ProgramKey) -> Option<&RecordedDecision> {
        self.key_history(key)?.decided.as_ref()
    }

    /// Returns how the branches of the block at a place ended, in order.
    pub fn branch_ends(&self, key: &ProgramKey) -> Option<&[(usize, bool)]> {
        self.key_history(key)?.joined.as_deref()
    }

    /// Returns the number of something at a place: the same in each execution, and never reused.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn number(&self, of: &str, key: &ProgramKey) -> Result<u32, RunError> {
        if let Some(known) = self.history.numbers.get(&(key.clone(), of.to_owned())) {
            return Ok(*known);
        }
        let number = {
            let mut numbers = self.numbers.lock().unwrap_or_else(PoisonError::into_inner);
            let next = numbers.entry(of.to_owned()).or_default();
            *next += 1;
            *next
        };
        self.write(&RunRow::Number { key: key.clone(), of: of.to_owned(), number })?;
        Ok(number)
    }

    /// Records that a line is added to the `state.md` of a folder; returns false if an earlier execution has recorded
    /// it.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn mark(&self, key: &ProgramKey, text: &str, folder: &Path) -> Result<bool, RunError> {
        if self.key_history(key).is_some_and(|place| place.marks.iter().any(|line| line == text)) {
            return Ok(false);
        }
        let of = (self.path.parent() != Some(folder)).then(|| folder.to_owned());
        self.write(&RunRow::Mark { key: key.clone(), text: text.to_owned(), of })?;
        Ok(true)
    }

    /// Returns the line that may be missing from its file: the run was interrupted right after recording it.
    pub fn last_line(&self) -> Option<&StateLine> {
        self.history.last_line.as_ref()
    }

    /// Returns whether an earlier execution has recorded any line at a place.
    pub fn is_marked(&self, key: &ProgramKey) -> bool {
        self.key_history(key).is_some_and(|place| !place.marks.is_empty())
    }

    /// Returns what earlier executions did with the binding at a place.
    pub fn binding(&self, key: &ProgramKey, file: &Path) -> BindingRecord {
        match self.history.writers.get(file) {
            Some((writer, written)) if writer == key => BindingRecord::Last(written.clone()),
            _ if self.key_history(key).is_some_and(|place| place.is_bound) => BindingRecord::Overwritten,
            _ => BindingRecord::New,
        }
    }

    /// Records that a binding's file is about to be replaced, so that later changes by a person can be told from what
    /// the run wrote.
    ///
    /// # Errors
    /// When it cannot be written, in which case the file must not be changed.
    pub fn bind(&self, key: ProgramKey, file: PathBuf, text: &str) -> Result<(), RunError> {
        self.write(&RunRow::Bound { key, file, digest: digest(text) })
    }

    /// Returns whether earlier executions have recorded an outcome here.
    pub fn is_begun(&self, key: &ProgramKey) -> bool {
        self.key_history(key).is_some_and(|place| place.ran.is_some() || place.decided.is_some())
    }

    /// Appends a row.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, row: &RunRow) -> Result<(), RunError> {
        let mut line =
            serde_json::to_vec(row).map_err(|error| RunError::io("write", &self.path)(error.into()))?;
        line.push(b'\n');
        self.rows().append(&*self.disk, &line).map_err(RunError::io("write", &self.path))
    }

    fn rows(&self) -> MutexGuard<'_, LineFile> {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for RunJournal {
    fn drop(&mut self) {
        // A process that is being forked has the file too, until it executes its program.
        let _ = flock(self.rows().file(), FlockOperation::Unlock);
    }
}

/// Locks the file: two processes must not execute the same run. The lock is released with the journal, however the
/// process ends.
fn lock(file: &File, run: &str) -> Result<(), RunError> {
    flock(file, FlockOperation::NonBlockingLockExclusive).map_err(|_| RunError::Busy { run: run.to_owned() })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn first() -> RunHeader {
        RunHeader {
            version: RunHeader::VERSION,
            run: "r".into(),
            program: "/p".into(),
            cwd: "/".into(),
            shell: "/bin/sh".into(),
            inputs: Vec::new(),
            exec: crate::config::ExecPolicy::default(),
            sessions: Vec::new(),
            allow_unenforced: false,
            at: Timestamp::UNIX_EPOCH,
        }
    }

    fn os() -> SharedDisk {
        Arc::new(crate::journal::Os)
    }

    #[tokio::test]
    async fn a_reopened_journal_knows_finished_commands_and_doubts_begun_ones() {
        let dir = tempfile::tempdir().expect("temp dir");
        let key = |text: &str| ProgramKey::from(text);
        {
            let journal = RunJournal::create(os(), dir.path(), first()).expect("made");
            for name in ["a", "b"] {
                let marked = journal.begin(&key(name), 1, "true", Timestamp::UNIX_EPOCH).expect("written");
                journal.wait_for_sync(&marked).await.expect("synced");
            }
            let ran = Box::new(CommandResult { stdout: "x\n".into(), ..CommandResult::default() });
            journal.write(&RunRow::Ran { key: key("a"), ran }).expect("written");
            assert_eq!(journal.number("call", &key("c")).expect("a number"), 1);
            assert_eq!(journal.number("call", &key("d")).expect("a number"), 2);
            assert!(journal.mark(&key("a"), "1→ ✓", dir.path()).expect("written"));
            journal.bind(key("a"), "bindings/x.md".into(), "text").expect("written");
            assert!(matches!(RunJournal::open(os(), dir.path(), "r"), Err(RunError::Busy { .. })));
            journal.disk.write(journal.rows().file(), b"{\"row\":\"ma").expect("half a row");
        }
        let (journal, row) = RunJournal::open(os(), dir.path(), "r").expect("opens");
        assert_eq!(row, first());
        assert!(matches!(journal.command(&key("a")), CommandRecord::Ran(ran) if ran.stdout == "x\n"));
        assert_eq!(
            (journal.command(&key("b")), journal.command(&key("z"))),
            (CommandRecord::InDoubt(None), CommandRecord::New)
        );
        assert_eq!(journal.command(&key("b")), CommandRecord::InDoubt(None));
        assert_eq!(journal.number("call", &key("d")).expect("known"), 2);
        assert_eq!(journal.number("call", &key("e")).expect("a new one"), 3);
        assert!(!journal.mark(&key("a"), "1→ ✓", dir.path()).expect("known"));
        let file = Path::new("bindings/x.md");
        assert!(
            matches!(journal.binding(&key("a"), file), BindingRecord::Last(it) if !it.is_stale("another"))
        );
        assert_eq!(journal.binding(&key("b"), file), BindingRecord::New);
        journal
            .write(&RunRow::End { at: Timestamp::UNIX_EPOCH, how: "completed".into(), place: None })
            .expect("written");
        drop(journal);
        assert!(matches!(RunJournal::open(os(), dir.path(), "r"), Err(RunError::Over { .. })));
    }

    #[test]
    fn a_journal_that_makes_no_sense_is_refused_with_its_line() {
        let dir = tempfile::tempdir().expect("temp dir");
        drop(RunJournal::create(os(), dir.path(), first()).expect("made"));
        let path = dir.path().join(JOURNAL);
        let mut text = std::fs::read_to_string(&path).expect("readable");
        text.push_str("{\"row\":\"what\"}\n");
        std::fs::write(&path, text).expect("written");
        let refused = RunJournal::open(os(), dir.path(), "r").expect_err("refused").to_string();
        assert!(refused.contains("line 2"), "{refused}");
    }
}
