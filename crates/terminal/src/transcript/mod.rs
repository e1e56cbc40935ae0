//! The transcript: what was printed, as text. Carriage returns, backspaces, cursor motion and erasing are
//! resolved as a terminal would, and escape sequences are removed. Rows that would still be on screen can
//! change; all rows above are final. Text that was cleared had been printed, so it stays. Output on the
//! alternate screen is left out, unless that screen is still on at the end: then it follows, marked, as it was.
//! On a pipe, there is no alternate screen.

mod row;
mod rows;
mod sequences;

use unicode_width::UnicodeWidthChar;

use super::charset::Charsets;
use super::scanner::{Patience, Scanner};
use super::size::Size;
use super::terminal::ByteOrigin;
use rows::TextRows;

/// Builds the text of what a program printed.
#[derive(Debug)]
pub struct Transcript {
    scanner: Scanner,
    screen: TextScreen,
    patience: Patience,
}

/// The line before an alternate screen that was still on at the end.
const STILL_ON: &str = "[the alternate screen, still on at the end]\n";
/// The columns of a row on a pipe. A longer line continues in the next row, as on a terminal.
const PIPE_COLUMNS: usize = 1 << 18;
/// A control character that a terminal ignores, and its picture.
const DELETE: char = '\x7f';
const DELETE_PICTURE: char = '␡';

/// A screen without colours and attributes.
#[derive(Debug, Default)]
struct TextScreen {
    size: Size,
    origin: ByteOrigin,
    rows: TextRows,
    cursor: SavedCursor,
    saved: SavedCursor,
    /// The first and last row of the scroll region, unless it is the whole screen.
    region: Option<(usize, usize)>,
    /// Whether a change to 80 or 132 columns clears the screen.
    may_set_columns: bool,
    /// The alternate screen, while it is on.
    alternate: Option<Box<TextScreen>>,
    /// Whether this is that screen.
    is_alternate: bool,
    /// The character that REP repeats.
    last: Option<char>,
}

/// The cursor, with the character sets that are saved along with it.
#[derive(Debug, Clone, Copy, Default)]
struct SavedCursor {
    row: usize,
    /// Equal to the width if the next character wraps to the next row.
    col: usize,
    charsets: Charsets,
}

impl Transcript {
    /// Returns an empty transcript. `size` is that of the terminal; pipes have no width.
    pub fn new(origin: ByteOrigin, size: Size) -> Self {
        let screen = TextScreen { size, origin, ..TextScreen::default() };
        Self { scanner: Scanner::default(), screen, patience: Patience::default() }
    }

    /// Feeds output of the program. How it is split into pieces makes no difference.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.scanner.scan(bytes, &mut self.screen);
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

    /// Takes the text that can no longer change.
    pub fn take_final(&mut self) -> String {
        self.screen.rows.take_final()
    }

    /// Returns the remaining text of output that has ended; its only control characters are line feeds and tabs.
    pub fn finish(mut self) -> String {
        self.scanner.finish(&mut self.screen);
        let alternate = self.screen.alternate.take().map(|screen| screen.rows.into_text());
        let mut text = self.screen.rows.into_text();
        if let Some(alternate) = alternate.filter(|alternate| !alternate.trim().is_empty()) {
            if !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
            text.push_str(STILL_ON);
            text.push_str(&alternate);
        }
        text
    }

    /// Returns the remaining text of output that goes on: without a string that may still end, and without the
    /// alternate screen.
    pub fn so_far(self) -> String {
        self.screen.rows.into_text()
    }
}

/// Returns the text of what a program printed.
pub fn clean(bytes: &[u8], origin: ByteOrigin, size: Size) -> String {
    let mut transcript = Transcript::new(origin, size);
    transcript.feed(bytes);
    transcript.finish()
}

/// Returns the picture of a control character: ␀ for NUL.
fn picture_of(control: u8) -> char {
    char::from_u32(0x2400 + u32::from(control)).unwrap_or(char::REPLACEMENT_CHARACTER)
}

impl TextScreen {
    /// Returns the columns of a row.
    fn columns(&self) -> usize {
        self.width().unwrap_or(PIPE_COLUMNS)
    }

    /// Returns the number of columns of the terminal; a pipe has none.
    fn width(&self) -> Option<usize> {
        (self.origin == ByteOrigin::Tty).then_some(usize::from(self.size.cols()))
    }

    fn height(&self) -> usize {
        usize::from(self.size.rows())
    }

    fn resize(&mut self, size: Size) {
        if let Some(alternate) = &mut self.alternate {
            alternate.resize(size);
        }
        self.size = size;
        self.region = None;
        while self.rows.len() > self.height() {
            self.rows.finish_first();
            self.cursor.row = self.cursor.row.saturating_sub(1);
            self.saved.row = self.saved.row.saturating_sub(1);
        }
        let (last_row, width) = (self.height() - 1, self.width().unwrap_or(usize::MAX));
        for place in [&mut self.cursor, &mut self.saved] {
            place.row = place.row.min(last_row);
            place.col = place.col.min(width);
        }
    }

    /// Prints text without controls.
    fn print(&mut self, text: &str) {
        let shown = self.cursor.charsets.translate(text);
        if shown.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
            return self.print_ascii(&shown);
        }
        for c in shown.chars() {
            self.print_one(c);
        }
    }

    fn print_ascii(&mut self, text: &str) {
        let mut rest = text;
        while !rest.is_empty() {
            self.make_room(1);
            let col = self.cursor.col;
            let room = self.columns().saturating_sub(col).min(rest.len());
            let (piece, later) = rest.split_at(room);
            self.rows.at(self.cursor.row).put_ascii(col, piece);
            self.cursor.col += room;
            self.last = piece.chars().next_back();
            rest = later;
        }
    }

    fn print_one(&mut self, c: char) {
        let c = if c == DELETE && self.origin == ByteOrigin::Pipe { DELETE_PICTURE } else { c };
        let row = self.cursor.row;
        match c.width() {
            None => {}
            Some(0) => {
                if self.rows.at(row).is_heavy() {
                    self.wrap();
                }
                let SavedCursor { row, col, .. } = self.cursor;
                self.rows.at(row).mark(col, c);
            }
            Some(columns) => {
                self.make_room(columns);
                let SavedCursor { row, col, .. } = self.cursor;
                self.rows.at(row).put(col, c, columns);
                self.cursor.col += columns;
                self.last = Some(c);
            }
        }
    }

    /// Wraps if `columns` more columns do not fit.
    fn make_room(&mut self, columns: usize) {
        let SavedCursor { row, col, .. } = self.cursor;
        if col + columns > self.columns() {
            self.wrap();
        } else if !self.rows.at(row).can_edit(col) {
            self.line_feed();
            self.cursor.col = 0;
        }
    }

    /// Goes on in the next row.
    fn wrap(&mut self) {
        self.rows.at(self.cursor.row).wrapped = true;
        self.line_feed();
        self.cursor.col = 0;
    }

    fn control(&mut self, byte: u8) {
        match byte {
            0x08 => self.move_left(1),
            b'\t' => self.tab(),
            b'\n' | 0x0b | 0x0c => {
                if self.origin == ByteOrigin::Pipe {
                    self.cursor.col = 0;
                }
                self.line_feed();
            }
            b'\r' => self.cursor.col = 0,
            0x0e => self.cursor.charsets.shift(true),
            0x0f => self.cursor.charsets.shift(false),
            // It means nothing on a pipe, and is not to vanish.
            0 | 0x01..=0x06 | 0x10..=0x1f if self.origin == ByteOrigin::Pipe => {
                self.print_one(picture_of(byte))
            }
            _ => {}
        }
    }

    fn move_left(&mut self, count: usize) {
        let shown = self.width().map_or(self.cursor.col, |width| self.cursor.col.min(width - 1));
        self.cursor.col = shown.saturating_sub(count);
    }

    fn tab(&mut self) {
        let SavedCursor { row, col, .. } = self.cursor;
        let last = self.width().map_or(usize::MAX, |width| width - 1);
        if col < last {
            self.cursor.col = self.rows.at(row).tab(col).min(last);
        }
    }

    /// Returns the scroll region, or the whole screen.
    fn margins(&self) -> (usize, usize) {
        self.region.unwrap_or((0, self.height() - 1))
    }

    fn line_feed(&mut self) {
        let (top, bottom) = self.margins();
        if self.cursor.row == bottom {
            self.rows.scroll_up(top, bottom);
        } else if self.cursor.row + 1 < self.height() {
            self.cursor.row += 1;
        }
        self.rows.at(self.cursor.row);
    }
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
        assert_eq!(tty("a\x1b[?47hx\x1b[?47lb"), "ab");
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
