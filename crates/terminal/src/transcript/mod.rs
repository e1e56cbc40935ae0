//! What was printed, as text (the transcript) or as rows to draw. Carriage returns, backspaces, cursor motion and
//! erasing are resolved as a terminal would, and escape sequences are removed. Rows that would still be on screen can
//! change; all rows above are final. Text that was cleared had been printed, so it stays; of several screens that were
//! cleared one after the other, the last one. Output on the alternate screen is left out, unless that screen is still
//! on at the end: then it follows, marked, as it was. On a pipe, there is no alternate screen.
//!
//! It is one interpreter for both, beside the emulator behind a screen: that has no tabs, no text that was cleared, and
//! no line longer than 65,535 columns.

mod row;
mod rows;
mod screen;
mod sequences;
mod text_cell;

use super::history::PageRow;
use super::scanner::{Patience, Scanner};
use super::size::Size;
use super::terminal::ByteOrigin;
use rows::TextRows;
use screen::TextScreen;

/// Builds the text, or the rows, of what a program printed.
#[derive(Debug)]
pub struct Transcript {
    scanner: Scanner,
    screen: TextScreen,
    patience: Patience,
}

/// The line before an alternate screen that was still on at the end.
const STILL_ON: &str = "[the alternate screen, still on at the end]";

impl Transcript {
    /// Returns an empty transcript. `size` is that of the terminal; pipes have no width.
    pub fn new(origin: ByteOrigin, size: Size) -> Self {
        let screen = TextScreen::new(origin, size);
        Self { scanner: Scanner::default(), screen, patience: Patience::default() }
    }

    /// Returns one of rows instead of text.
    pub(super) fn of_rows(origin: ByteOrigin, size: Size) -> Self {
        let rows = TextRows::of_primary(true);
        let screen = TextScreen { rows, paints: true, ..TextScreen::new(origin, size) };
        Self { screen, ..Self::new(origin, size) }
    }

    /// Feeds output of the program. How it is split into pieces makes no difference.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.scanner.scan(bytes, &mut self.screen);
    }

    /// Notes which line of the log the following output belongs to.
    pub(super) fn begin_line(&mut self, line: u64) {
        self.screen.line = line;
        let row = self.screen.cursor.row;
        self.screen.rows.at(row).line = line;
    }

    /// Notes the time at which the following output came, in milliseconds. If the program has written on for two
    /// seconds in a string (OSC, DCS, APC, SOS, PM), that is text.
    pub fn note_time(&mut self, now_ms: u64) {
        if self.patience.is_over(self.scanner.open_string(), now_ms) {
            self.scanner.give_up_string(&mut self.screen);
        }
    }

    /// Changes the size from here on.
    pub fn resize(&mut self, size: Size) {
        self.screen.resize(size);
    }

    /// Notes in a row of its own that output is missing. What follows begins anew.
    pub(super) fn gap(&mut self, note: &str) {
        self.scanner.finish(&mut self.screen);
        let TextScreen { origin, size, line, .. } = self.screen;
        self.screen.leave_alternate(false);
        let mut rows = std::mem::take(&mut self.screen.rows);
        rows.finish_all();
        rows.note(note);
        let paints = self.screen.paints;
        self.screen = TextScreen { rows, paints, line, ..TextScreen::new(origin, size) };
    }

    /// Returns the rows of the primary screen.
    fn primary(&mut self) -> &mut TextRows {
        self.screen.primary.as_mut().unwrap_or(&mut self.screen.rows)
    }

    /// Takes the text that can no longer change.
    pub fn take_final(&mut self) -> String {
        self.primary().take_text()
    }

    /// Takes the rows that can no longer change.
    pub(super) fn take_rows(&mut self) -> Vec<PageRow> {
        self.primary().take_rows()
    }

    /// Returns the cells of the rows that would be on screen.
    #[cfg(test)]
    pub(super) fn screen_rows(self) -> Vec<Vec<super::cell::Cell<'static>>> {
        self.screen.rows.into_cells()
    }

    /// Returns the remaining text of output that has ended; its only control characters are line feeds and tabs.
    pub fn finish(mut self) -> String {
        self.end();
        self.screen.rows.take_text()
    }

    /// Ends the output: every row can be taken.
    pub(super) fn end(&mut self) {
        self.scanner.finish(&mut self.screen);
        let screen = &mut self.screen;
        match screen.primary.take() {
            Some(primary) => {
                std::mem::replace(&mut screen.rows, primary).finish_below(&mut screen.rows, STILL_ON)
            }
            None => screen.rows.finish_all(),
        }
    }

    /// Returns the remaining text of output that goes on: without a string that may still end, and without the
    /// alternate screen.
    pub fn so_far(mut self) -> String {
        let rows = self.primary();
        rows.finish_all();
        rows.take_text()
    }
}

/// Returns the text of what a program printed.
pub fn clean(bytes: &[u8], origin: ByteOrigin, size: Size) -> String {
    let mut transcript = Transcript::new(origin, size);
    transcript.feed(bytes);
    transcript.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tty(text: &str) -> String {
        clean(text.as_bytes(), ByteOrigin::Tty, Size::nearest(10, 4))
    }

    fn pipe(text: &str) -> String {
        clean(text.as_bytes(), ByteOrigin::Pipe, Size::nearest(10, 4))
    }

    #[test]
    fn plain_text_stays_as_it_is() {
        for text in ["", "a", "a\n", "\n\n", "a\n\nb\n", "tab\tbed\n\tx\n", "  spaces  \n", "e\u{301}好\n"] {
            assert_eq!(pipe(text), text);
            assert_eq!(tty(&text.replace('\n', "\r\n")), text);
        }
    }

    #[test]
    fn a_progress_bar_shows_its_last_state() {
        assert_eq!(pipe(" 10%\r 50%\r100%\ndone\n"), "100%\ndone\n");
        assert_eq!(tty("working\r\x1b[Kok\r\n"), "ok\n");
        assert_eq!(pipe("abc\x08\x08X\n"), "aXc\n");
    }

    #[test]
    fn cursor_motion_edits_what_is_still_on_the_screen() {
        assert_eq!(pipe("one\ntwo\n\x1b[2A\x1b[2KONE\n\x1b[Bend"), "ONE\ntwo\nend");
        assert_eq!(tty("1\r\n2\r\n3\r\n4\r\n5\r\n6\x1b[99A\rX"), "1\n2\nX\n4\n5\n6");
        assert_eq!(tty("a\x1b[3;3Hb"), "a\n\n  b");
    }

    #[test]
    fn a_pipe_has_no_width_and_wrapped_rows_of_a_tty_are_joined() {
        let long = "0123456789abcdefghijklmnopqrst";
        assert_eq!(pipe(long), long);
        assert_eq!(tty(long), long);
        assert_eq!(tty("012345678好x"), "012345678好x");
        assert_eq!(tty("0123456789\r\nx"), "0123456789\nx");
    }

    #[test]
    fn the_alternate_screen_leaves_nothing_behind() {
        assert_eq!(tty("a\r\n\x1b[?1049h\x1b[2Jsecret\x1b[5;5H\x1b[?1049lb\r\n"), "a\nb\n");
        assert_eq!(tty("a\x1b[?47hx\x1b[?47lb"), "a b", "the cursor is where that screen left it");
    }

    #[test]
    fn f58_an_alternate_screen_that_is_on_at_the_end_follows_as_it_was() {
        let end = |screen: &str| format!("a\n[the alternate screen, still on at the end]\n{screen}");
        assert_eq!(tty("a\r\n\x1b[?1049h\x1b[2J\x1b[Hboom\r\n"), end("boom\n"));
        assert_eq!(tty("a\x1b[?1049h\x1b[2J\x1b[Hone\x1b[2J\x1b[Htwo"), end("two"), "not what was cleared");
        let lines: String = (0..9).map(|line| format!("at {line}\r\n")).collect();
        assert_eq!(
            tty(&format!("a\x1b[?1049h\x1b[H{lines}")),
            end(&lines.replace('\r', "")),
            "more than a screen"
        );
        assert_eq!(tty("a\r\n\x1b[?1049h\x1b[2J\x1b[H"), "a\n", "an empty one");
        let mut going_on = Transcript::new(ByteOrigin::Tty, Size::nearest(10, 4));
        going_on.feed(b"a\x1b[?1049hboom");
        assert_eq!(going_on.so_far(), "a");
        // What a program prints without end takes no more room than it may.
        let flood = "0123456789".repeat(100_000);
        assert!(tty(&format!("\x1b[?1049h{flood}")).len() < 300_000);
    }

    #[test]
    fn f58_on_a_pipe_the_switch_to_the_alternate_screen_hides_nothing() {
        assert_eq!(pipe("a\n\x1b[?1049hb\nFAILED\n"), "a\nb\nFAILED\n");
        assert_eq!(pipe("a\n\x1b[?1049h\x1b[2J\x1b[Hb\n\x1b[?1049lc\n"), "a\nb\nc\n");
    }

    #[test]
    fn f58_a_string_in_which_the_program_writes_on_is_text() {
        let mut transcript = Transcript::new(ByteOrigin::Pipe, Size::default());
        for (now, text) in [(0, "a\x1bPstray\n"), (100, "one\n"), (1_500, "two\n"), (2_200, "three\n")] {
            transcript.note_time(now);
            transcript.feed(text.as_bytes());
        }
        assert_eq!(transcript.so_far(), "astray\none\ntwo\nthree\n");
        let mut open = Transcript::new(ByteOrigin::Pipe, Size::default());
        open.feed(b"a\x1b]1337;File=:AAAA");
        assert_eq!(open.so_far(), "a", "it may still end");
    }

    #[test]
    fn cleared_text_was_printed_and_stays() {
        assert_eq!(tty("result\r\n\x1b[H\x1b[2Jnext\r\n"), "result\nnext\n");
        assert_eq!(tty("result\r\n\x1b[H\x1b[Jnext\r\n"), "result\nnext\n");
    }

    #[test]
    fn of_screens_that_are_cleared_again_and_again_the_last_one_stays() {
        let frames = |clear: &str| (1..=42).map(|n| format!("{clear}frame {n}\r\nof it")).collect::<String>();
        let expected = "[41 earlier frames]\nframe 42\nof it";
        for clear in ["\x1b[H\x1b[2J", "\x1b[H\x1b[J", "\x1b[999D\x1b[A\x1b[J", "\x1b[2J\x1b[H"] {
            assert_eq!(tty(&frames(clear)), expected, "{clear:?}");
            assert_eq!(
                tty(&format!("{}\x1b[H\x1b[2J", frames(clear))),
                expected,
                "{clear:?}: nothing after it"
            );
        }
        let spinner: String = (1..=200).map(|n| format!("\x1b[999D\x1b[J{n} Wait")).collect();
        assert_eq!(tty(&spinner), "[199 earlier frames]\n200 Wait");
        assert_eq!(tty(&format!("make\r\n{}", spinner)), "make\n200 Wait");
        let screen = |text: &str| format!("\x1b[H\x1b[2J{text}\r\n");
        let lines: String = (1..=9).map(|n| format!("{n}\r\n")).collect();
        let kept = lines.replace('\r', "");
        assert_eq!(tty(&format!("{lines}{}", screen("done"))), format!("{kept}done\n"), "cleared once");
        assert_eq!(
            tty(&[screen("a"), screen("b"), screen(lines.trim_end()), screen("c")].concat()),
            format!("[2 earlier frames]\n{kept}c\n"),
            "what has scrolled is no frame"
        );
    }

    #[test]
    fn f58_an_unterminated_string_hides_nothing() {
        assert_eq!(tty("a\x1b]0;title\r\nseen"), "a0;title\nseen");
        assert_eq!(tty("a\x1bP\r\nan error\x1b[31m!"), "a\nan error!");
    }

    #[test]
    fn scroll_regions_move_rows() {
        assert_eq!(tty("1\r\n2\r\n3\r\n4\x1b[2;3r\x1b[3;1H\nx\x1b[r"), "1\n3\nx\n4");
        assert_eq!(tty("1\r\n2\r\n3\x1b[2;1H\x1b[Lnew"), "1\nnew\n2\n3");
        assert_eq!(tty("1\r\n2\r\n3\x1b[1;1H\x1b[M"), "2\n3");
    }

    #[test]
    fn invalid_bytes_are_replaced_and_line_drawing_is_drawn() {
        assert_eq!(clean(b"a\xffb\xe4\xbd", ByteOrigin::Pipe, Size::default()), "a\u{FFFD}b\u{FFFD}");
        assert_eq!(tty("\x1b(0lqk\x1b(Bq\x1b[3b"), "┌─┐qqqq");
    }

    #[test]
    fn control_characters_that_mean_nothing_on_a_pipe_are_shown() {
        assert_eq!(pipe("a\0b\x01\x1f\x7f\n"), "a␀b␁␟␡\n");
        assert_eq!(pipe("a\x07b\x0bc"), "ab\nc", "a bell and a line feed mean something");
        assert_eq!(tty("a\0b"), "ab", "on a terminal, it is padding");
    }

    #[test]
    fn a_line_of_any_length_is_edited_in_place() {
        let long = "x".repeat(100_000);
        assert_eq!(pipe(&format!("{long}\rab")), format!("ab{}", &long[2..]));
        let wide = "好".repeat(100_000);
        assert_eq!(pipe(&format!("{wide}\rab")), format!("{wide}\nab"));
    }
}
