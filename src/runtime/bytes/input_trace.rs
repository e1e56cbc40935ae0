//! How far what was typed into a terminal has been read, as far as that is known. Pure.

use crate::model::{InputLoss, LostInput, UnreadInput};
use crate::process::{InputLine, InputLook, LineChange};

/// The most bytes of input that a terminal counts: what was written beyond that lies before it.
const MOST_COUNTED: u64 = 4_095;

/// What is known of a terminal's input. Places are counted from the first byte that was queued for it.
#[derive(Debug, Default)]
pub(super) struct InputTrace {
    /// How many bytes were queued.
    queued: u64,
    /// Where the last reply to a query ends: what a program does with replies is not told.
    reply_end: u64,
    /// How far it had been read at the last look.
    read: u64,
    /// Where the first of the lines ends that had not been read then.
    line_end: Option<u64>,
    /// Whether there were such lines.
    has_lines: bool,
    /// Whether a signal character was typed, at which the kernel throws away input.
    expects_flush: bool,
    /// The line that has begun.
    line: InputLine,
}

impl InputTrace {
    /// Returns the line that has begun.
    pub(super) fn line(&self) -> &InputLine {
        &self.line
    }

    /// Tells whether a look at the terminal could find that a line was read.
    pub(super) fn has_lines(&self) -> bool {
        self.has_lines
    }

    /// Notes that so many bytes were queued, which change the line.
    pub(super) fn add(&mut self, length: usize, change: LineChange) {
        let start = self.queued;
        let place = |offset: usize| start + offset as u64;
        self.queued = place(length);
        if let Some(end) = change.signal_end {
            (self.read, self.line_end, self.has_lines) = (place(end), None, false);
            self.expects_flush = true;
        }
        self.line_end = self.line_end.or(change.first_end.map(place));
        self.has_lines |= change.first_end.is_some();
        self.line = change.line;
    }

    /// Notes that so many bytes were queued of which nothing will be told.
    pub(super) fn add_untold(&mut self, length: usize) {
        self.queued += length as u64;
        self.reply_end = self.queued;
    }

    /// Applies a look at the terminal, for which `waiting` bytes are queued; returns what has not been read.
    pub(super) fn look(&mut self, look: &InputLook, waiting: usize) -> UnreadInput {
        // A begun line is handed over to nobody: it was read if the terminal had other modes meanwhile.
        if !look.has_lines || look.was_read && !self.has_lines {
            self.line = InputLine::default();
        }
        let unread = self.count(look, waiting);
        self.read = self.queued - unread;
        self.line_end = self.line_end.filter(|end| *end > self.read);
        self.has_lines = look.has_lines && look.bytes > 0;
        UnreadInput { bytes: self.without_replies(unread), has_open_line: self.line.length() > 0 }
    }

    /// Applies a report that input was thrown away, and a look after it; returns what the program has thrown away.
    pub(super) fn flush(&mut self, look: &InputLook, waiting: usize) -> Option<LostInput> {
        if std::mem::take(&mut self.expects_flush) {
            return None;
        }
        let written = self.queued - waiting as u64;
        let begun = if look.was_read && !self.has_lines { 0 } else { self.begun_length(waiting) };
        let gone = match self.line_end {
            _ if !look.was_read => written.saturating_sub(self.read),
            // One line was read at least.
            Some(end) => written.saturating_sub(end).max(begun),
            None => begun,
        };
        let bytes = self.without_replies(gone.saturating_sub(look.bytes));
        (self.read, self.line_end, self.has_lines) = (written, None, look.bytes > 0);
        self.line = InputLine::default();
        let at_most = look.was_read && bytes > begun;
        (bytes > 0).then_some(LostInput { bytes, at_most, cause: InputLoss::ThrownAway })
    }

    /// Counts what has not been read.
    fn count(&self, look: &InputLook, waiting: usize) -> u64 {
        let waiting_bytes = waiting as u64;
        let written = self.queued - waiting_bytes.min(self.queued);
        let since = written.saturating_sub(self.read);
        let is_full = !look.was_read && since > MOST_COUNTED;
        let in_terminal = if is_full { since } else { look.bytes + self.begun_length(waiting) };
        (in_terminal + waiting_bytes).min(self.queued)
    }

    /// Returns how much of the begun line is in the terminal.
    fn begun_length(&self, waiting: usize) -> u64 {
        self.line.length().saturating_sub(waiting) as u64
    }

    /// Returns how many of the last so many bytes are certainly no replies.
    fn without_replies(&self, last: u64) -> u64 {
        last.min(self.queued - self.reply_end)
    }
}

#[cfg(test)]
mod tests {
    use rustix::pty::{OpenptFlags, openpt};
    use rustix::termios::tcgetattr;

    use super::*;

    const UNREAD: InputLook = InputLook { bytes: 0, was_read: false, has_lines: true };

    /// Types a text after a look that finds so many bytes, or as many as there were if nothing was read.
    fn type_in(trace: &mut InputTrace, look: InputLook, text: &str) {
        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        let modes = tcgetattr(&terminal).expect("modes");
        trace.look(&look, 0);
        trace.add(text.len(), trace.line().after(text.as_bytes(), &modes));
    }

    fn typed_text(text: &str) -> InputTrace {
        let mut trace = InputTrace::default();
        type_in(&mut trace, InputLook { was_read: true, ..UNREAD }, text);
        trace
    }

    fn thrown(trace: &mut InputTrace, was_read: bool) -> Option<(u64, bool)> {
        let lost = trace.flush(&InputLook { was_read, ..UNREAD }, 0)?;
        assert_eq!(lost.cause, InputLoss::ThrownAway);
        Some((lost.bytes, lost.at_most))
    }

    #[test]
    fn what_was_typed_ahead_and_read_by_nobody_was_thrown_away() {
        assert_eq!(thrown(&mut typed_text("secret"), false), Some((6, false)));
        assert_eq!(thrown(&mut typed_text("secret\n"), false), Some((7, false)));
        let mut twice = typed_text("one\n");
        type_in(&mut twice, InputLook { bytes: 4, ..UNREAD }, "two");
        assert_eq!(thrown(&mut twice, false), Some((7, false)));
        assert_eq!(thrown(&mut twice, false), None, "told once");
    }

    #[test]
    fn what_a_program_may_have_read_is_not_said_to_be_thrown_away() {
        assert_eq!(thrown(&mut typed_text("name\n"), true), None, "one line, and somebody has read");
        assert_eq!(
            thrown(&mut typed_text("name\nsecret"), true),
            Some((6, false)),
            "no line, so nobody could"
        );
        assert_eq!(
            thrown(&mut typed_text("name\nsecret\n"), true),
            Some((7, true)),
            "all but the first line"
        );
        assert_eq!(thrown(&mut typed_text(""), false), None);
        let mut answered = typed_text("name\nmail\n");
        answered.look(&InputLook { was_read: true, ..UNREAD }, 0);
        assert_eq!(thrown(&mut answered, false), None, "a look has found nothing");
        let mut between = typed_text("name\nmail\nsecret\n");
        between.look(&InputLook { bytes: 12, was_read: true, ..UNREAD }, 0);
        assert_eq!(thrown(&mut between, false), Some((12, false)));
    }

    #[test]
    fn what_a_signal_character_or_a_reply_is_to_blame_for_is_no_act_of_the_program() {
        let mut interrupted = typed_text("abc\x03def\n");
        assert_eq!(thrown(&mut interrupted, false), None);
        assert_eq!(thrown(&mut interrupted, false), Some((4, false)));
        let mut asked = typed_text("abc\n");
        asked.add_untold(6);
        assert_eq!(thrown(&mut asked, false), None);
    }

    #[test]
    fn a_begun_line_is_not_read_unless_the_terminal_was_read_without_a_whole_line() {
        let mut trace = typed_text("abc");
        let open = UnreadInput { bytes: 3, has_open_line: true };
        assert_eq!(trace.look(&UNREAD, 0), open);
        assert_eq!(trace.look(&UNREAD, 2), open, "part of it is still queued");
        assert_eq!(trace.look(&InputLook { was_read: true, ..UNREAD }, 0), UnreadInput::default());
        let mut trace = typed_text("a\nbc");
        assert_eq!(trace.look(&InputLook { was_read: true, ..UNREAD }, 0).bytes, 2, "the line was read");
        let raw = InputLook { bytes: 2, was_read: false, has_lines: false };
        assert_eq!(trace.look(&raw, 0), UnreadInput { bytes: 2, has_open_line: false });
    }

    #[test]
    fn a_full_terminal_holds_all_that_was_written_if_nobody_has_read() {
        let line = format!("{}\n", "x".repeat(99));
        let mut trace = typed_text(&line.repeat(100));
        let full = InputLook { bytes: 4_000, ..UNREAD };
        assert_eq!(trace.look(&full, 1_000).bytes, 10_000);
        assert_eq!(trace.look(&InputLook { was_read: true, ..full }, 1_000).bytes, 5_000, "at least");
    }
}
