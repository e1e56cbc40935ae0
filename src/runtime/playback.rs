//! Replays a task's log to show its screen at any moment of its life. Blocks.

use std::io;

use super::log::StoredLog;
use crate::model::TaskView;
use crate::terminal::{ByteOrigin, ByteSource, Dialogue, LogBytes, Mark, MarkKind, Terminal};

/// The replay of a log, up to where the log ended when it was opened.
pub struct Playback {
    log: StoredLog,
    end: u64,
    terminal: Terminal,
    dialogue: Dialogue,
    /// The number of marks played so far.
    done: usize,
}

impl Playback {
    /// Opens the log of a task at its beginning.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn open(task: &TaskView) -> io::Result<Self> {
        let log = StoredLog::open(task)?;
        Ok(Self {
            end: log.file.len(),
            terminal: Terminal::new(log.size, log.origin),
            dialogue: Dialogue::default(),
            log,
            done: 0,
        })
    }

    /// Returns the marks of the log, which are the positions of the playback.
    pub fn marks(&self) -> &[Mark] {
        &self.log.marks
    }

    /// Moves to the moment when `done` marks have been played, and returns the screen there. Moving back restarts the
    /// replay.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub fn seek(&mut self, done: usize) -> io::Result<&Terminal> {
        if done < self.done {
            (self.terminal, self.done) = (Terminal::new(self.log.size, self.log.origin), 0);
            self.dialogue = Dialogue::default();
        }
        while let Some(mark) = self.log.marks.get(self.done).copied().filter(|_| self.done < done) {
            match mark.kind {
                MarkKind::Resize(size) => self.terminal.resize(size),
                MarkKind::Gap { .. } | MarkKind::Input => {}
                MarkKind::Chunk(stream) => {
                    let aside = stream == ByteSource::Tty && self.log.origin == ByteOrigin::Pipe;
                    let next = self.log.marks.get(self.done + 1).map_or(self.end, |next| next.offset);
                    let (terminal, dialogue) = (&mut self.terminal, &mut self.dialogue);
                    self.log.file.for_each_block(mark.offset..next.min(self.end), |_, output| {
                        // Replies to terminal queries are dropped: the program is gone.
                        let _ = terminal.feed(&dialogue.draw(aside, output));
                        true
                    })?;
                }
            }
            self.done += 1;
        }
        Ok(&self.terminal)
    }
}
