//! The end of a program's output, kept so that it can be redrawn at another width exactly as on a terminal
//! that had that width from the beginning.
//!
//! This requires a starting line after which all output stays within its own line, so that nothing printed
//! earlier can show through once the screen is full. The position of output that moves the cursor up or
//! changes other rows is recorded.

use std::collections::VecDeque;

use super::cell::CellStyle;
use super::reach::{Measure, SequenceReach, reach};
use super::size::Size;

/// Maximum number of bytes kept: several screens of coloured text.
const KEPT: usize = 64 << 10;
/// Minimum number of bytes between two possible starting lines.
const APART: u64 = 1 << 10;

/// The end of the output. Offsets and line feeds are counted from the very beginning.
#[derive(Debug, Default)]
pub(super) struct Recent {
    bytes: Vec<u8>,
    /// The offset of the first byte kept.
    base: u64,
    /// The number of line feeds so far.
    feeds: u64,
    /// The possible starting lines, in order.
    starts: VecDeque<RedrawStart>,
    /// Where the next search for sequences that leave their line begins: before any incomplete sequence.
    looked: u64,
    left: Option<LastEffect>,
    /// The offset at which the terminal got its current width.
    resized: u64,
}

/// A line that redrawing can start with.
#[derive(Debug, Clone, Copy)]
struct RedrawStart {
    offset: u64,
    feeds: u64,
    style: CellStyle,
}

/// Where output last affected something beyond its own line.
#[derive(Debug, Clone, Copy)]
struct LastEffect {
    offset: u64,
    /// The number of line feeds before it.
    feeds: u64,
    /// Whether it cleared the screen.
    clears: bool,
}

/// The end of the output, from the beginning of a line on.
#[derive(Debug)]
pub(super) struct RecentOutput {
    pub(super) bytes: Vec<u8>,
    /// The style of its first character.
    pub(super) style: CellStyle,
    /// Whether it begins in the last row: each new row has been scrolled in, with the background colour set
    /// at the time.
    pub(super) scrolls: bool,
}

impl Recent {
    /// Takes output, in pieces of bounded length. `style` is that of the next character if redrawing could
    /// start with just that: outside of any sequence, on the primary screen, without special modes. `feed` is
    /// the sequence that ends a line and returns to the first column.
    pub(super) fn take(&mut self, bytes: &[u8], feed: &[u8], style: Option<CellStyle>) {
        let end = self.end();
        let is_apart = self.starts.back().is_none_or(|last| end >= last.offset + APART);
        if let Some(style) = style.filter(|_| is_apart && self.begins_line(feed)) {
            self.starts.push_back(RedrawStart { offset: end, feeds: self.feeds, style });
        }
        self.bytes.extend_from_slice(bytes);
        self.feeds += feeds(bytes);
        self.look();
        if self.bytes.len() > 2 * KEPT {
            self.forget(self.bytes.len() - KEPT);
        }
    }

    /// Skips lines that could never be seen, each of which stayed within itself; a new line begins after
    /// them.
    pub(super) fn skip(&mut self, bytes: &[u8], style: Option<CellStyle>) {
        self.feeds += feeds(bytes);
        self.pass(bytes.len());
        let (offset, feeds) = (self.base, self.feeds);
        self.starts.extend(style.map(|style| RedrawStart { offset, feeds, style }));
    }

    /// Skips output that went to the alternate screen.
    pub(super) fn leave(&mut self, bytes: &[u8]) {
        self.feeds += feeds(bytes);
        self.pass(bytes.len());
        self.left = Some(LastEffect { offset: self.base, feeds: self.feeds, clears: false });
    }

    /// Records that the terminal has another width from here on.
    pub(super) fn resize(&mut self) {
        self.resized = self.end();
    }

    /// Returns the tail that shows the end of the output on a terminal with a width other than its `own`.
    /// Returns `None` if the program's own screen should be shown instead: it has that width, or the program
    /// moves around on it, or overwrites lines that would not fit.
    pub(super) fn tail(&self, size: Size, own: u16) -> Option<RecentOutput> {
        let rows = u64::from(size.rows());
        let mut until = self.end();
        let mut from = None;
        let mut below = 0;
        for start in self.starts.iter().rev() {
            let is_first =
                self.left.map_or(start.offset == 0, |left| left.clears && start.offset <= left.offset);
            let scrolls = start.feeds >= self.left.map_or(0, |left| left.feeds) + rows;
            if !is_first && !scrolls && self.left.is_some_and(|left| !left.clears) {
                break;
            }
            let cleared = self.left.filter(|left| left.clears).map_or(0, |left| left.offset);
            let mut measure = Measure::new(size.cols());
            measure.take(self.part(start.offset.max(cleared), until));
            below += measure.rows();
            if measure.is_redrawn() {
                return None;
            }
            until = start.offset;
            if is_first || scrolls && below >= usize::from(size.rows()) {
                from = Some((*start, !is_first));
                break;
            }
        }
        let (start, scrolls) = from.filter(|(start, _)| size.cols() != own || start.offset < self.resized)?;
        Some(RecentOutput {
            bytes: self.part(start.offset, self.end()).to_vec(),
            style: start.style,
            scrolls,
        })
    }

    fn end(&self) -> u64 {
        self.base + self.bytes.len() as u64
    }

    fn part(&self, from: u64, to: u64) -> &[u8] {
        let at = |offset: u64| usize::try_from(offset.saturating_sub(self.base)).unwrap_or(usize::MAX);
        self.bytes.get(at(from)..at(to)).unwrap_or_default()
    }

    fn begins_line(&self, feed: &[u8]) -> bool {
        self.bytes.ends_with(feed) || self.end() == 0
    }

    /// Searches new output for the last sequence that leaves its line.
    fn look(&mut self) {
        let begin = usize::try_from(self.looked.saturating_sub(self.base)).unwrap_or(0).min(self.bytes.len());
        let new = &self.bytes[begin..];
        let mut looked = new.len();
        let fed = memchr::memrchr2(0x0b, 0x0c, new).map(|at| (at, false));
        let moved = memchr::memrchr_iter(0x1b, new).find_map(|at| match reach(&new[at..]) {
            SequenceReach::Line => None,
            SequenceReach::Unknown => {
                looked = looked.min(at);
                None
            }
            SequenceReach::Clears => Some((at, true)),
            // If the cursor was moved home right before it, include that in the sequence, since the search
            // runs backwards.
            SequenceReach::Screen if new[at..].starts_with(b"\x1b[2J") => {
                let home = [&b"\x1b[H"[..], b"\x1b[1;1H"].into_iter().find(|home| new[..at].ends_with(home));
                Some(home.map_or((at, false), |home| (at - home.len(), true)))
            }
            SequenceReach::Screen => Some((at, false)),
        });
        if let Some((at, clears)) = moved.max(fed) {
            let behind = feeds(&new[at..]);
            self.left = Some(LastEffect {
                offset: self.base + (begin + at) as u64,
                feeds: self.feeds - behind,
                clears,
            });
        }
        self.looked = self.base + (begin + looked) as u64;
    }

    /// Drops everything kept, and accounts for this many bytes of output.
    fn pass(&mut self, count: usize) {
        self.base = self.end() + count as u64;
        self.looked = self.base;
        self.bytes.clear();
        self.starts.clear();
    }

    fn forget(&mut self, count: usize) {
        self.bytes.drain(..count);
        self.base += count as u64;
        while self.starts.pop_front_if(|start| start.offset < self.base).is_some() {}
    }
}

fn feeds(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ByteOrigin, Contents, Terminal};
    use proptest::prelude::*;

    fn kept(columns: u16, rows: u16, pieces: &[&[u8]]) -> Terminal {
        let mut terminal = Terminal::with_recent(Size::nearest(columns, rows), ByteOrigin::Tty);
        pieces.iter().for_each(|piece| drop(terminal.feed(piece)));
        terminal
    }

    /// Returns what a terminal of that width shows when fed the same output from the beginning.
    fn of_that_width(columns: u16, rows: u16, bytes: &[u8], origin: ByteOrigin) -> Contents {
        let mut terminal = Terminal::new(Size::nearest(columns, rows), origin);
        let _ = terminal.feed(bytes);
        Contents::of(&terminal)
    }

    fn text(terminal: &Terminal, columns: u16) -> Option<String> {
        Some(terminal.excerpt(columns)?.draw().text())
    }

    fn piece() -> impl Strategy<Value = Vec<u8>> {
        let fixed = |text: &'static str| Just(text.as_bytes().to_vec());
        let lines = (1_usize..300, 1_usize..30).prop_map(|(count, length)| {
            (0..count).flat_map(|n| format!("{n:length$} of many\r\n").into_bytes()).collect::<Vec<u8>>()
        });
        prop_oneof![
            4 => lines,
            12 => "[ -~é好\t]{0,60}".prop_map(String::into_bytes),
            12 => fixed("\r\n"),
            2 => fixed("\n"),
            2 => (0..50_u8).prop_map(|n| format!("\x1b[{n}m").into_bytes()),
            1 => fixed("\x1b[m"),
            1 => fixed("\x1b[K"),
            1 => fixed("\rwritten over"),
            1 => fixed("\x1b[?25l\x1b[?2004h\x1b]0;title\x07"),
            1 => fixed("\x1b[J"),
            1 => fixed("\x1b[H\x1b[2J\x1b[3J"),
            1 => fixed("\x1b[H\x1b[J"),
            1 => fixed("\x1b[2J"),
            1 => fixed("\x1b[3A"),
            1 => fixed("\x1b[2;5H"),
            1 => fixed("\x0c"),
            1 => fixed("\x1b7\x1b8"),
            1 => fixed("\x1b[2;4r"),
            1 => fixed("\x1b[r"),
            1 => fixed("\x1b[?1049h"),
            1 => fixed("\x1b[?1049l"),
            1 => fixed("\x1b[4h"),
            1 => fixed("\x1b[4l"),
            1 => fixed("\x1b[?7l"),
            1 => fixed("\x1b[?7h"),
            1 => fixed("\x1b(0"),
            1 => fixed("\x1b(B"),
            1 => Just(b"\xff\xc3".to_vec()),
            1 => fixed("\x1bPq#0\n~~\n--\x1b\\"),
            1 => fixed("\x1b_Ga=T;AAAA\x1b\\"),
            1 => fixed("\x1b]1337;File=:AAAA\x07"),
            1 => fixed("\x1bPstray\n\n"),
        ]
    }

    fn cases(few: u32, many: u32) -> ProptestConfig {
        let cases = if std::env::var_os("PILOTHOUSE_LONG").is_some() { many } else { few };
        ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
    }

    proptest! {
        #![proptest_config(cases(600, 20_000))]

        #[test]
        fn output_redrawn_at_another_width_is_what_a_terminal_of_that_width_shows(
            pieces in proptest::collection::vec(piece(), 1..40),
            cuts in proptest::collection::vec(1_usize..9000, 1..5),
            (own, columns, rows) in (8_u16..60, 8_u16..60, 2_u16..14),
            pipe: bool,
        ) {
            let origin = if pipe { ByteOrigin::Pipe } else { ByteOrigin::Tty };
            let bytes = pieces.concat();
            let mut terminal = Terminal::with_recent(Size::nearest(own, rows), origin);
            let mut rest = bytes.as_slice();
            for cut in cuts.iter().cycle() {
                let (now, later) = rest.split_at((*cut).min(rest.len()));
                let _ = terminal.feed(now);
                rest = later;
                if rest.is_empty() {
                    break;
                }
            }
            if let Some(excerpt) = terminal.excerpt(columns) {
                prop_assert_eq!(excerpt.draw(), of_that_width(columns, rows, &bytes, origin));
            }
        }

        #[test]
        fn lines_without_cursor_movement_are_always_shown_at_another_width(
            lines in proptest::collection::vec("[ -~é好]{0,90}(\x1b\\[3[0-7]m[a-z]{1,9}\x1b\\[m)?", 1..200),
            (own, columns, rows) in (8_u16..60, 8_u16..60, 2_u16..14),
        ) {
            let bytes = lines.iter().map(|line| format!("{line}\r\n")).collect::<String>();
            let mut terminal = Terminal::with_recent(Size::nearest(own, rows), ByteOrigin::Tty);
            lines.iter().for_each(|line| drop(terminal.feed(format!("{line}\r\n").as_bytes())));
            let shown = terminal.excerpt(columns).map(|excerpt| excerpt.draw());
            let wanted = (own != columns).then(|| of_that_width(columns, rows, bytes.as_bytes(), ByteOrigin::Tty));
            prop_assert_eq!(shown, wanted);
        }
    }

    #[test]
    fn lines_are_wrapped_and_joined_again() {
        let terminal = kept(10, 4, &[b"0123456789abcdef\r\nnext\r\n"]);
        assert_eq!(text(&terminal, 20).as_deref(), Some("0123456789abcdef\nnext"));
        assert_eq!(text(&terminal, 8).as_deref(), Some("01234567\n89abcdef\nnext"));
        assert_eq!(text(&terminal, 10), None, "that is what the screen shows");
    }

    #[test]
    fn text_cut_off_by_a_narrower_screen_is_shown_wrapped() {
        let mut terminal = kept(16, 4, &[b"0123456789abcdef\r\nnext\r\n"]);
        terminal.resize(Size::nearest(8, 4));
        assert_eq!(terminal.screen_text(), "01234567\nnext");
        assert_eq!(text(&terminal, 8).as_deref(), Some("01234567\n89abcdef\nnext"));
        (0..300).for_each(|_| drop(terminal.feed(b"line\r\n")));
        assert_eq!(text(&terminal, 8), None, "all on screen was printed at this width");
    }

    #[test]
    fn a_program_that_moves_the_cursor_to_other_rows_keeps_its_own_width() {
        let lines = b"a line of output\r\n".repeat(3);
        for moves in ["\x1b[A", "\x1b[1;1H", "\x1b[?1049h", "\x1bM", "\x1b[2;3r", "\x1b[?1000h"] {
            let mut terminal = kept(20, 5, &[&lines, moves.as_bytes(), b"text\r\n"]);
            assert_eq!(text(&terminal, 9), None, "{moves:?}");
            let _ = terminal.feed(b"\x1b[?1049l\x1b[r\x1b[?1000l");
            (0..400).for_each(|_| drop(terminal.feed(&lines)));
            assert!(text(&terminal, 9).is_some(), "it has scrolled away: {moves:?}");
        }
    }

    #[test]
    fn a_line_that_is_written_over_and_would_not_fit_is_left_as_it_is() {
        let bar = b"\r[=======>      ] 50 %".as_slice();
        assert_eq!(text(&kept(40, 5, &[b"line\r\n", bar, bar]), 12), None);
        assert!(text(&kept(40, 5, &[b"line\r\n", bar, bar]), 30).is_some());
    }

    #[test]
    fn a_cleared_screen_is_a_new_beginning() {
        let terminal = kept(20, 5, &[b"before\r\n\x1b[4A", b"\x1b[H\x1b[2J\x1b[3Ja line of output\r\n"]);
        assert_eq!(text(&terminal, 10).as_deref(), Some("a line of\noutput"));
    }

    #[test]
    fn rows_that_scroll_in_have_the_background_of_their_time() {
        for colour in [0, 10] {
            let lines: Vec<u8> = (0..200)
                .flat_map(|n| {
                    if n == colour { b"\x1b[40m\r\n".to_vec() } else { format!("line {n}\r\n").into_bytes() }
                })
                .collect();
            for end in (100..lines.len()).step_by(100) {
                let lines = &lines[..end];
                let terminal = kept(20, 9, &lines.chunks(50).collect::<Vec<_>>());
                let drawn = terminal.excerpt(12).expect("is shown").draw();
                assert_eq!(drawn, of_that_width(12, 9, lines, ByteOrigin::Tty), "{colour} {end}");
            }
        }
    }

    #[test]
    fn cursor_and_modes_are_those_of_the_program() {
        let terminal = kept(20, 5, &[b"\x1b[?25l\x1b[4 q", b"\x1b[?2004h0123456789ab"]);
        let shown = terminal.excerpt(10).expect("is shown").draw();
        assert_eq!((shown.cursor.row, shown.cursor.col, shown.cursor.visible), (1, 2, false));
        assert_eq!((shown.cursor.shape, shown.modes), (terminal.cursor().shape, terminal.modes()));
    }

    #[test]
    fn the_kept_output_is_bounded() {
        let mut terminal = kept(80, 24, &[]);
        for _ in 0..200 {
            let _ = terminal.feed(&[b'x'; 5000]);
        }
        let recent = terminal.recent().expect("is kept");
        assert!(recent.bytes.len() <= 3 * KEPT && recent.starts.len() < 300);
        assert_eq!(text(&terminal, 40), None, "nobody knows where its line began");
    }

    #[test]
    fn output_in_pieces_that_cut_lines_is_drawn_at_another_width() {
        let line = |n| format!("{n:06} handled a request, and all of it went well, as this line says\r\n");
        let log: Vec<u8> = (0..2_000).flat_map(|n| line(n).into_bytes()).collect();
        let pieces: Vec<&[u8]> = log.chunks(4096).collect();
        assert!(text(&kept(200, 50, &pieces), 40).is_some());
    }
}
