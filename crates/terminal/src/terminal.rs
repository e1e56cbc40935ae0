//! The terminal of one task: output goes in; a screen to draw and replies to the program come out.

use std::cell::Cell as Flag;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::cell::Cell;
use super::contents::{Contents, Excerpt};
use super::emulator::{PackedScreen, SCROLLBACK, Vt100};
use super::host_terminal::DefaultColours;
use super::modes::{Cursor, Modes, MouseMode};
use super::normaliser::Normaliser;
use super::osc::Properties;
use super::read_rows::{ReadRows, stays_in_row};
use super::recent::Recent;
use super::row::ScreenRow;
use super::scanner::Patience;
use super::size::Size;
use super::skimmer::{SkippedLines, skim};

/// The number of rows that must have left the scrollback before lines are skipped. vt100 counts them and uses
/// that count when filling a screen that grows; with this many, the count does not run out however many lines
/// are skipped.
const MIN_DEPTH: u64 = 4096;

/// The approximate number of bytes after which redrawing at another width can start.
const PIECE: usize = 1 << 10;

/// What the program's output goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ByteOrigin {
    /// A PTY, whose line discipline has already turned LF into CR LF.
    #[default]
    Tty,
    /// A pipe: LF means CR LF on the screen, and replies cannot be delivered.
    Pipe,
}

impl ByteOrigin {
    /// Returns the origin of a program with or without a PTY.
    pub fn of(tty: bool) -> Self {
        if tty { Self::Tty } else { Self::Pipe }
    }
}

/// The results of feeding bytes, besides the screen.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FeedResult {
    /// Bytes to write to the program, at most [`Terminal::MAX_REPLIES`].
    pub replies: Vec<u8>,
    /// Whether the parser panicked and the screen is blank: call [`Terminal::rebuild`].
    pub reset: bool,
    /// The number of times the bell rang.
    pub bells: u32,
    /// Whether the program is in the middle of a frame (?2026): do not draw for up to 150 ms.
    pub hold_frames: bool,
}

/// A screen that follows a program's output.
///
/// Feed output in large pieces: if a piece has more lines than fit in screen and scrollback, only the last
/// lines are drawn.
pub struct Terminal {
    origin: ByteOrigin,
    normaliser: Normaliser,
    emulator: Vt100,
    /// Lines may be skipped once [`Vt100::rows_dropped`] has reached this.
    skim_from: u64,
    /// Whether a resize panicked; the next [`FeedResult`] reports it.
    lost: bool,
    /// The end of the output, if the screen is shown at other widths too.
    recent: Option<Recent>,
    read: ReadRows,
    patience: Patience,
}

impl Terminal {
    /// The most bytes of replies from one call of [`Terminal::feed`], and that wait for a program to read them.
    pub const MAX_REPLIES: usize = 16 << 10;

    /// Returns an empty terminal.
    pub fn new(size: Size, origin: ByteOrigin) -> Self {
        Self {
            origin,
            normaliser: Normaliser::new(size, origin),
            emulator: Vt100::new(size),
            skim_from: MIN_DEPTH,
            lost: false,
            recent: None,
            read: ReadRows::default(),
            patience: Patience::default(),
        }
    }

    /// Returns an empty terminal that can be shown at other widths, because it keeps the end of its output.
    pub fn with_recent(size: Size, origin: ByteOrigin) -> Self {
        Self { recent: Some(Recent::default()), ..Self::new(size, origin) }
    }

    /// Feeds output of the program. Never panics. How the output is split into pieces makes no difference to
    /// the screen.
    pub fn feed(&mut self, bytes: &[u8]) -> FeedResult {
        self.forget_what_changes(bytes);
        let fed = catch_panic(|| {
            let mut fed = FeedResult { reset: std::mem::take(&mut self.lost), ..FeedResult::default() };
            let mut rest = self.skim(bytes, &mut fed);
            while !rest.is_empty() {
                let (piece, after) = rest.split_at(self.keep(rest));
                self.normaliser.feed(piece, &mut self.emulator, &mut fed);
                rest = after;
            }
            if self.normaliser.take_scrollback_cleared() {
                self.skim_from = self.emulator.rows_dropped() + MIN_DEPTH;
            }
            fed
        });
        fed.unwrap_or_else(|| {
            self.start_over(self.size());
            FeedResult { reset: true, ..FeedResult::default() }
        })
    }

    /// Notes the time, in milliseconds: to be called before and after output that has just come. If the program
    /// has written on for two seconds in a string (OSC, DCS, APC, SOS, PM), that is shown as text.
    pub fn note_time(&mut self, now_ms: u64) {
        if self.patience.is_over(self.normaliser.open_string(), now_ms) {
            self.show_open_string();
        }
    }

    /// Shows an open string as text: its terminator will not come.
    pub fn show_open_string(&mut self) {
        if self.normaliser.open_string().is_none() {
            return;
        }
        self.read.forget();
        let shown = catch_panic(|| self.normaliser.give_up_string(&mut self.emulator));
        if shown.is_none() {
            self.start_over(self.size());
            self.lost = true;
        } else if let Some(recent) = &mut self.recent {
            // Redrawn from its bytes, it would be an open string again.
            recent.leave(&[]);
        }
    }

    fn forget_what_changes(&mut self, bytes: &[u8]) {
        let Cursor { row, col, .. } = self.emulator.cursor();
        if self.normaliser.is_plain() && stays_in_row(bytes, col, self.size().cols()) {
            self.read.forget_row(row);
        } else {
            self.read.forget();
        }
    }

    /// Keeps the beginning of some output, and returns how much of it can then be fed.
    fn keep(&mut self, bytes: &[u8]) -> usize {
        let Some(recent) = &mut self.recent else { return bytes.len() };
        let feed = memchr::memchr(b'\n', bytes.get(PIECE..).unwrap_or_default());
        let length = feed.map_or(bytes.len(), |at| PIECE + at + 1);
        if self.emulator.is_alternate() || self.normaliser.open_string().is_some() {
            recent.leave(&bytes[..length]);
        } else {
            let style = self.normaliser.is_plain().then(|| self.normaliser.style(self.emulator.style()));
            let feed: &[u8] = if self.origin == ByteOrigin::Pipe { b"\n" } else { b"\r\n" };
            recent.take(&bytes[..length], feed, style);
        }
        length
    }

    #[cfg(test)]
    pub(super) fn recent(&self) -> Option<&Recent> {
        self.recent.as_ref()
    }

    /// Starts over with an empty screen, as if there had been no output.
    fn start_over(&mut self, size: Size) {
        let recent = self.recent.as_ref().map(|_| Recent::default());
        *self = Self { recent, ..Self::new(size, self.origin) };
    }

    /// Skips the beginning of `bytes` as far as drawing it would make no difference; returns the rest.
    fn skim<'b>(&mut self, bytes: &'b [u8], fed: &mut FeedResult) -> &'b [u8] {
        if self.emulator.rows_dropped() < self.skim_from || !self.normaliser.scrolls_whole_lines() {
            return bytes;
        }
        let lines = SkippedLines {
            rows: usize::from(self.size().rows()),
            scrollback: SCROLLBACK,
            feed_returns: self.origin == ByteOrigin::Pipe,
        };
        let Some(skim) = skim(bytes, lines) else { return bytes };
        self.normaliser.feed(&skim.kept, &mut self.emulator, fed);
        // Move the cursor to where the skipped lines would have left it.
        let bottom = format!("\x1b[{};1H", lines.rows);
        self.normaliser.feed(bottom.as_bytes(), &mut self.emulator, fed);
        fed.bells += u32::from(skim.bell);
        if let Some(recent) = &mut self.recent {
            let style = self.normaliser.is_plain().then(|| self.normaliser.style(self.emulator.style()));
            recent.skip(&bytes[..skim.resume], style);
        }
        bytes.get(skim.resume..).unwrap_or_default()
    }

    /// Starts over from the end of the raw log; queries in it are not answered again.
    pub fn rebuild(&mut self, log_tail: &[u8]) {
        self.start_over(self.size());
        let _ = self.feed(log_tail);
    }

    /// Changes the size. Rows are cut or padded; [`Self::excerpt`] shows what they were.
    pub fn resize(&mut self, size: Size) {
        self.read.forget();
        if let Some(recent) = self.recent.as_mut().filter(|_| size.cols() != self.emulator.size().cols()) {
            recent.resize();
        }
        // A taller screen pulls rows back out of the scrollback.
        self.skim_from += u64::from(size.rows().saturating_sub(self.size().rows()));
        let resized = catch_panic(|| {
            self.emulator.resize(size);
            self.normaliser.resize(size);
        });
        if resized.is_none() {
            self.start_over(size);
            self.lost = true;
        }
    }

    /// Returns an excerpt that shows the end of the output as a terminal of this width, with as many rows,
    /// would have shown it had it received all of the output. Returns `None` if the current screen already
    /// shows that, or if it cannot be shown: the program uses the alternate screen or mouse tracking, has
    /// moved around on the screen, or overwrites lines that would not fit.
    pub fn excerpt(&self, columns: u16) -> Option<Excerpt> {
        let modes = self.modes();
        if modes.alternate_screen || modes.mouse != MouseMode::Off {
            return None;
        }
        let size = Size::nearest(columns, self.size().rows());
        let tail = self.recent.as_ref()?.tail(size, self.size().cols())?;
        Some(Excerpt { tail, size, origin: self.origin, cursor: self.cursor(), modes })
    }

    /// Sets the colours that the program is told if it asks for them.
    pub fn set_colours(&mut self, colours: DefaultColours) {
        self.normaliser.set_colours(colours);
    }

    /// Returns the size.
    pub fn size(&self) -> Size {
        self.emulator.size()
    }

    /// Returns a cell in drawable form; a blank one outside the screen.
    pub fn cell(&self, row: u16, col: u16) -> Cell<'_> {
        self.emulator.cell(row, col)
    }

    /// Returns the cells of a row.
    pub(super) fn row(&self, row: u16) -> impl Iterator<Item = Cell<'_>> {
        (0..self.size().cols()).map(move |col| self.cell(row, col))
    }

    /// Returns a row as a value; one that has not changed is not read again.
    pub(super) fn whole_row(&self, row: u16) -> Arc<ScreenRow> {
        self.read.row(row, || ScreenRow::of(self.row(row), self.is_wrapped(row)))
    }

    /// Tells whether a row's text wraps into the next row.
    pub fn is_wrapped(&self, row: u16) -> bool {
        self.emulator.is_wrapped(row)
    }

    /// Returns the cursor.
    pub fn cursor(&self) -> Cursor {
        self.emulator.cursor()
    }

    /// Returns the modes the program has set.
    pub fn modes(&self) -> Modes {
        self.normaliser.modes(self.emulator.modes())
    }

    /// Returns the title set by the program, without hidden characters.
    pub fn title(&self) -> Option<&str> {
        self.properties().title.as_deref()
    }

    /// Returns the properties that the program has set.
    pub fn properties(&self) -> &Properties {
        self.normaliser.properties()
    }

    /// Packs the terminal. Takes milliseconds.
    ///
    /// # Errors
    /// The terminal, if it could not be unpacked exactly as it is.
    pub fn pack(mut self) -> Result<PackedTerminal, Box<Self>> {
        let screen = Some(&self.emulator).filter(|_| self.normaliser.has_no_margins() && !self.lost);
        let screen = screen.and_then(|emulator| catch_panic(|| PackedScreen::of(emulator)).flatten());
        let Some(screen) = screen else { return Err(Box::new(self)) };
        self.read.forget();
        self.emulator = Vt100::new(Size::nearest(1, 1));
        Ok(PackedTerminal { terminal: self, screen })
    }

    /// Returns the text of the screen, without trailing blanks and without blank rows at the bottom.
    pub fn screen_text(&self) -> String {
        Contents::of(self).text()
    }
}

/// A terminal that takes a fraction of the memory, as long as nobody looks at it and nothing is printed on it.
pub struct PackedTerminal {
    /// All but the screen.
    terminal: Terminal,
    screen: PackedScreen,
}

impl PackedTerminal {
    /// Returns the terminal as it was.
    pub fn unpack(self) -> Terminal {
        let Self { mut terminal, screen } = self;
        terminal.emulator = screen.unpack();
        // Fewer rows have gone through this emulator than through the one before.
        terminal.skim_from = terminal.skim_from.max(terminal.emulator.rows_dropped() + MIN_DEPTH);
        terminal
    }
}

thread_local! {
    static CONTAINED: Flag<bool> = const { Flag::new(false) };
}

/// Tells whether a panic on this thread would now be caught by a [`Terminal`] that recovers from it; a panic
/// hook should stay silent then.
pub fn is_contained() -> bool {
    CONTAINED.get()
}

/// Runs `work`; returns `None` if it panicked.
fn catch_panic<R>(work: impl FnOnce() -> R) -> Option<R> {
    let outer = CONTAINED.replace(true);
    // Whatever state a panic leaves behind in the emulator is discarded by the caller.
    let result = catch_unwind(AssertUnwindSafe(work));
    CONTAINED.set(outer);
    result.ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns everything a reader can see, and what a taller screen brings back.
    fn all_of(terminal: &mut Terminal) -> (Vec<Cell<'static>>, Cursor, Modes, Vec<Cell<'static>>) {
        let cells = |terminal: &Terminal| {
            let size = terminal.size();
            let places = (0..size.rows()).flat_map(|row| (0..size.cols()).map(move |col| (row, col)));
            places.map(|(row, col)| terminal.cell(row, col).into_owned()).collect()
        };
        let seen = (cells(terminal), terminal.cursor(), terminal.modes());
        terminal.feed(b"\x1b[3bX\x1b[4h");
        let more = u16::try_from(SCROLLBACK).expect("few") - 10;
        terminal.resize(Size::nearest(terminal.size().cols(), terminal.size().rows() + more));
        (seen.0, seen.1, seen.2, cells(terminal))
    }

    fn cases(few: u32, many: u32) -> ProptestConfig {
        let cases = if std::env::var_os("PILOTHOUSE_LONG").is_some() { many } else { few };
        ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
    }

    fn piece() -> impl Strategy<Value = Vec<u8>> {
        let fixed = |text: &'static str| Just(text.as_bytes().to_vec());
        prop_oneof![
            12 => (1_usize..400).prop_map(|count| (0..count).flat_map(|n| format!("l{n}\r\n").into_bytes()).collect()),
            6 => "[ -~é好]{0,12}".prop_map(String::into_bytes),
            4 => fixed("\r\n"),
            2 => fixed("\n"),
            2 => (0..110_u8).prop_map(|n| format!("\x1b[{n}m").into_bytes()),
            1 => fixed("\x1b[m"),
            1 => fixed("\x1b(0"),
            1 => fixed("\x1b(B"),
            1 => fixed("\x0e"),
            1 => fixed("\x1b]0;title\x07"),
            1 => fixed("\x1b]0;cut\r\n"),
            1 => fixed("\t\x08\x07"),
            1 => fixed("\x1b[K\x1b[3C\x1b[2D\x1b[2P\x1b[@"),
            1 => fixed("\x1b[2A"),
            1 => fixed("\x1b[H"),
            1 => fixed("\x1b[2;3r"),
            1 => fixed("\x1b[r"),
            1 => fixed("\x1b[?1049h"),
            1 => fixed("\x1b[?1049l"),
            1 => fixed("\x1b7"),
            1 => fixed("\x1b8"),
            1 => fixed("\x1b[4h"),
            1 => fixed("\x1b[4l"),
            1 => fixed("\x1b[?7l"),
            1 => fixed("\x1b[?7h"),
            1 => fixed("\x1b[?6h"),
            1 => Just(b"\xff\xef\xb8\x8f".to_vec()),
        ]
    }

    proptest! {
        #![proptest_config(cases(400, 10_000))]

        #[test]
        fn leaving_lines_out_changes_nothing(
            pieces in proptest::collection::vec(piece(), 1..12),
            cuts in proptest::collection::vec(1_usize..6000, 1..4),
            cols in 2_u16..20,
            rows in 2_u16..12,
            pipe: bool,
        ) {
            let origin = if pipe { ByteOrigin::Pipe } else { ByteOrigin::Tty };
            let mut skimming = Terminal::new(Size::nearest(cols, rows), origin);
            let mut drawing = Terminal::new(Size::nearest(cols, rows), origin);
            skimming.skim_from = 0;
            drawing.skim_from = u64::MAX;
            let bytes = pieces.concat();
            drawing.feed(&bytes);
            let mut rest = bytes.as_slice();
            for cut in cuts.iter().cycle() {
                let (now, later) = rest.split_at((*cut).min(rest.len()));
                skimming.feed(now);
                rest = later;
                if rest.is_empty() {
                    break;
                }
            }
            drawing.skim_from = 0;
            prop_assert_eq!(skimming.title(), drawing.title());
            prop_assert_eq!(all_of(&mut skimming), all_of(&mut drawing));
        }
    }

    proptest! {
        #![proptest_config(cases(400, 10_000))]

        #[test]
        fn rows_that_are_not_read_again_have_not_changed(
            pieces in proptest::collection::vec(
                prop_oneof![3 => piece(), 7 => "[ -~éжё好\u{301}\u{85}\r\u{8}]{0,4}".prop_map(String::into_bytes)],
                1..24,
            ),
            cut in 1_usize..9,
            cols in 2_u16..20,
        ) {
            let mut terminal = Terminal::new(Size::nearest(cols, 5), ByteOrigin::Tty);
            for piece in pieces.iter().flat_map(|piece| piece.chunks(cut)) {
                terminal.feed(piece);
                let read = Contents::of(&terminal);
                terminal.read.forget();
                prop_assert_eq!(read, Contents::of(&terminal));
            }
        }
    }

    /// Output that sets modes, or erases in a colour.
    fn moded() -> impl Strategy<Value = Vec<u8>> {
        prop::sample::select(vec![
            "\x1b[?25l",
            "\x1b[?1000h\x1b[?1006h",
            "\x1b[?2004h\x1b=\x1b[?1h",
            "\x1b[3 q",
            "\x1b[44m\x1b[2K",
            "\x1b[41m\x1b[J",
            "\x1b[?47h",
            "\x1b[?47l",
            "e\u{301}",
            "\x1b[3J",
            "\x1bM",
            "\x1b[9mstruck\x1b[m",
            "\x1b[8;1H好",
        ])
        .prop_map(|text| text.as_bytes().to_vec())
    }

    proptest! {
        #![proptest_config(cases(400, 10_000))]

        #[test]
        fn a_terminal_that_was_packed_is_the_same_terminal(
            before in proptest::collection::vec(prop_oneof![9 => piece(), 1 => moded()], 0..12),
            after in proptest::collection::vec(piece(), 0..6),
            cols in 2_u16..20,
            rows in 2_u16..12,
        ) {
            let both = [false, true].map(|is_packed| {
                let mut terminal = Terminal::new(Size::nearest(cols, rows), ByteOrigin::Tty);
                terminal.skim_from = u64::MAX / 2;
                terminal.feed(&before.concat());
                if is_packed {
                    terminal = match terminal.pack() {
                        Ok(packed) => packed.unpack(),
                        Err(terminal) => *terminal,
                    };
                    terminal.skim_from = u64::MAX / 2;
                }
                let seen = Contents::of(&terminal);
                terminal.feed(&after.concat());
                (seen, all_of(&mut terminal))
            });
            prop_assert_eq!(&both[0], &both[1]);
        }
    }

    #[test]
    fn usual_screens_are_packed_to_a_fraction() {
        let long = "0".repeat(199) + "7\r\n";
        let full = long.repeat(600) + "\x1b[?1049hfull";
        let rows: String = (0..600).map(|n| format!("\x1b[3{}mline {n}\x1b[m of a log\r\n", n % 8)).collect();
        let editor =
            "\x1b[?1049h\x1b[22;0;0t\x1b[?1h\x1b=\x1b[H\x1b[2J\x1b[7m status \x1b[m\x1b[5;3H好 text\x1b[?25l";
        let wraps = "x".repeat(450) + "\r\n$ " + &"y".repeat(198);
        for output in [full.as_str(), &rows, editor, &wraps, "", "$ "] {
            let mut terminal = Terminal::new(Size::nearest(200, 50), ByteOrigin::Tty);
            terminal.feed(output.as_bytes());
            let before = Contents::of(&terminal);
            let Ok(packed) = terminal.pack() else {
                panic!("not packed: {:?}", &output[..output.len().min(60)])
            };
            assert!(packed.screen.size_in_memory() < 64 << 10);
            assert_eq!(Contents::of(&packed.unpack()), before);
        }
    }

    #[test]
    fn most_of_a_flood_is_left_out() {
        let mut terminal = Terminal::new(Size::default(), ByteOrigin::Tty);
        let flood = b"a line of output\r\n".repeat(20_000);
        terminal.feed(&flood);
        let before = terminal.emulator.rows_dropped();
        terminal.feed(&flood);
        assert!(terminal.emulator.rows_dropped() - before < 300);
    }

    #[test]
    fn f27_a_panic_is_contained_and_tells_so() {
        assert!(!is_contained());
        assert_eq!(catch_panic(is_contained), Some(true));
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(|_| {}));
        assert_eq!(catch_panic(|| -> u8 { panic!("contained") }), None);
        std::panic::set_hook(hook);
        assert!(!is_contained());
    }
}
