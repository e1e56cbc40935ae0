//! A task's screen at any moment of its life, drawn anew from its log. Blocks.

use std::fs::File;
use std::io;

use super::log::{log_path, read_marks};
use super::view::TaskView;
use crate::terminal::{LogBytes, Mark, MarkKind, Origin, Size, Terminal};

/// Bytes taken at a time; as much as a parser takes at once.
const FEED_BYTES: usize = 256 << 10;

/// A log that is played, as far as it had come when it was opened.
pub struct Playback {
    log: File,
    end: u64,
    marks: Vec<Mark>,
    origin: Origin,
    size: Size,
    terminal: Terminal,
    /// Marks carried out.
    done: usize,
}

impl Playback {
    /// Opens the log of a task at its beginning.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn open(task: &TaskView) -> io::Result<Self> {
        let log = File::open(log_path(&task.folder))?;
        let marks = read_marks(&task.folder).map_err(io::Error::other)?;
        let sizes = marks.iter().find_map(|mark| match mark.kind {
            MarkKind::Resize(size) => Some(size),
            _ => None,
        });
        let (size, origin) = (sizes.unwrap_or(task.size), Origin::of(task.tty));
        Ok(Self { end: log.len(), log, marks, origin, size, terminal: Terminal::new(size, origin), done: 0 })
    }

    /// Returns the marks of the log: what happens one after the other.
    #[must_use]
    pub fn marks(&self) -> &[Mark] {
        &self.marks
    }

    /// Goes to where so many marks have been carried out, and returns the screen there. Going back begins anew.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub fn seek(&mut self, done: usize) -> io::Result<&Terminal> {
        if done < self.done {
            (self.terminal, self.done) = (Terminal::new(self.size, self.origin), 0);
        }
        while let Some(mark) = self.marks.get(self.done).copied().filter(|_| self.done < done) {
            match mark.kind {
                MarkKind::Resize(size) => self.terminal.resize(size),
                MarkKind::Gap { .. } => {}
                MarkKind::Chunk(_) => {
                    let next = self.marks.get(self.done + 1).map_or(self.end, |next| next.offset);
                    self.feed(mark.offset, next.min(self.end))?;
                }
            }
            self.done += 1;
        }
        Ok(&self.terminal)
    }

    fn feed(&mut self, from: u64, to: u64) -> io::Result<()> {
        let (mut offset, mut piece) = (from, vec![0; FEED_BYTES]);
        while offset < to {
            let wanted = usize::try_from(to - offset).unwrap_or(FEED_BYTES).min(FEED_BYTES);
            match self.log.read_at(offset, &mut piece[..wanted])? {
                0 => break,
                count => {
                    // What a terminal would answer goes nowhere: the program is not there any more.
                    let _ = self.terminal.feed(&piece[..count]);
                    offset += count as u64;
                }
            }
        }
        Ok(())
    }
}
