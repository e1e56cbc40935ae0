//! Writing frames to the terminal: each is assembled in full, wrapped in synchronized output (mode 2026), and
//! written as the terminal takes it. The next frame is drawn when the last one has been taken: a terminal that takes
//! nothing holds up frames, and nothing else.

use crate::console::app::{App, draw};
use crate::console::io::output::BufferedSink;
use crate::console::io::{glyphs, links};
use crate::console::theme::colour::Level;
use crate::console::widgets::FrameExtras;
use crate::console::widgets::cells::ShownScreen;
use std::cell::RefCell;
use std::io::{self, Write};
use std::ops::Range;
use std::rc::Rc;
use std::time::Duration;

use base64::prelude::{BASE64_STANDARD as BASE64, Engine as _};
use crossterm::cursor::{Hide, MoveTo, Show};
use crossterm::queue;
use crossterm::style::Print;
use ratatui::backend::{Backend as _, CrosstermBackend};
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::{Position, Rect};
use ratatui::style::Color;

use crate::clock::Clock;
use crate::envelope::SafeText;
use crate::terminal::CursorShape;

/// Maximum length of a notification, in characters.
const RING_CHARS: usize = 200;
/// Bytes that may wait for a terminal that takes none; a sequence beyond that is dropped.
const MOST_WAITING: usize = 256 << 10;
/// Maximum length of a window title, in characters.
const TITLE_CHARS: usize = 100;
/// Suspends display updates until the frame is complete, then shows it.
const HOLD: &str = "\x1b[?2026h";
const SHOW: &str = "\x1b[?2026l";
/// Resets styles and clears the screen.
const WIPE: &str = "\x1b[0m\x1b[2J";
/// Minimum time between two frames when the terminal keeps up.
const FRAME: Duration = Duration::from_millis(16);
/// Upper limit for that time when it does not.
const SLOWEST: Duration = Duration::from_millis(66);

/// The last frame, the next one, and the connection to the terminal.
///
/// ratatui's own `Terminal` queries the cursor position when it clears, but the thread that reads keys would
/// swallow the answer. Two buffers and their difference are all we need from it.
pub(in crate::console) struct Display {
    backend: CrosstermBackend<FrameWriter>,
    bytes: Rc<RefCell<Vec<u8>>>,
    output: BufferedSink,
    clock: Clock,
    last: Buffer,
    next: Buffer,
    is_fresh: bool,
    /// The cursor as of the last frame.
    cursor: Option<(Position, CursorShape)>,
    shape: CursorShape,
    /// Where the last frame shows the screen that is typed into.
    typed: Option<ShownScreen>,
    /// Since when bytes wait for the terminal.
    waits_since: Option<Duration>,
    last_write: Duration,
}

/// The writer given to ratatui: collects the bytes of one frame, shared with the display, which writes them
/// in one piece.
struct FrameWriter(Rc<RefCell<Vec<u8>>>);

impl Write for FrameWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    /// Does nothing: only `Display::draw` knows when a frame is complete.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the rows of a frame from the first to the last that differs from the frame before. Most frames change few of
/// them, and this is much faster than to look for each change.
fn changed_rows(last: &Buffer, next: &Buffer) -> Range<usize> {
    let (columns, all) = (usize::from(next.area.width), usize::from(next.area.height));
    let cells = |row: &usize| row * columns..(row + 1) * columns;
    let is_same = |row: &usize| {
        last.content[cells(row)]
            .iter()
            .zip(&next.content[cells(row)])
            .all(|(last, next)| looks_same(last, next))
    };
    let Some(first) = (0..all).find(|row| !is_same(row)) else { return 0..0 };
    first..(first..all).rfind(|row| !is_same(row)).map_or(first, |row| row + 1)
}

fn looks_same(one: &Cell, other: &Cell) -> bool {
    let is_same_text = match (one.symbol().as_bytes(), other.symbol().as_bytes()) {
        ([one], [other]) => one == other,
        (one, other) => one == other,
    };
    let style = |cell: &Cell| (cell.fg, cell.bg, cell.modifier, cell.diff_option);
    is_same_text && style(one) == style(other)
}

/// Returns some rows of a frame as a frame of their own, in their place.
fn rows_of(frame: &Buffer, rows: Range<usize>) -> Buffer {
    let columns = usize::from(frame.area.width);
    let row = |row: usize| u16::try_from(row).unwrap_or(u16::MAX);
    let area = Rect { y: frame.area.y + row(rows.start), height: row(rows.len()), ..frame.area };
    Buffer { area, content: frame.content[rows.start * columns..rows.end * columns].to_vec() }
}

/// Replaces colours that the terminal does not have by the nearest ones it has.
fn map_colours(level: Level, frame: &mut Buffer) {
    if level == Level::True {
        return;
    }
    let coloured = |cell: &&mut Cell| cell.fg != Color::Reset || cell.bg != Color::Reset;
    for cell in frame.content.iter_mut().filter(coloured) {
        (cell.fg, cell.bg) = (level.map(cell.fg), level.map(cell.bg));
    }
}

impl Display {
    /// Creates a display that draws on a terminal.
    pub(in crate::console) fn new(output: BufferedSink, clock: Clock) -> Self {
        // Under NO_COLOR, crossterm writes an empty SGR for each colour, which is a reset; the theme omits
        // colours instead.
        crossterm::style::force_color_output(true);
        let bytes = Rc::default();
        Self {
            backend: CrosstermBackend::new(FrameWriter(Rc::clone(&bytes))),
            bytes,
            output,
            clock,
            last: Buffer::default(),
            next: Buffer::default(),
            is_fresh: true,
            cursor: None,
            shape: CursorShape::Default,
            typed: None,
            waits_since: None,
            last_write: Duration::ZERO,
        }
    }

    /// Returns the terminal, for its settings.
    pub(in crate::console) fn output(&mut self) -> &mut BufferedSink {
        &mut self.output
    }

    /// Tells whether the terminal has taken everything.
    pub(in crate::console) fn is_taken(&self) -> bool {
        self.output.is_empty()
    }

    /// Waits until the terminal has taken everything. Cancellation-safe.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub(in crate::console) async fn flush(&mut self) -> io::Result<()> {
        self.output.flush().await?;
        self.measure();
        Ok(())
    }

    /// Draws a frame, and sends it unless it would change nothing. Everything before must have been taken.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub(in crate::console) fn draw(&mut self, app: &App) -> io::Result<FrameExtras> {
        let area = Rect::new(0, 0, app.state.outer.size.0, app.state.outer.size.1);
        self.next.resize(area);
        self.next.reset();
        let drawn = draw::draw(app, &mut self.next);
        map_colours(app.state.setup.ui.level, &mut self.next);
        drawn.links.iter().for_each(|url| links::mark(&mut self.next, url));
        let is_whole = std::mem::take(&mut self.is_fresh) || self.last.area != area;
        if is_whole {
            self.last.resize(area);
            self.last.reset();
        }
        let (last, next) = (std::mem::take(&mut self.last), std::mem::take(&mut self.next));
        let rows = changed_rows(&last, &next);
        let few;
        let (before, after) = if rows.len() <= usize::from(area.height) / 4 {
            few = [&last, &next].map(|frame| rows_of(frame, rows.clone()));
            (&few[0], &few[1])
        } else {
            (&last, &next)
        };
        self.typed.clone_from(&drawn.typed);
        let is_sent = self.send_changes(before, after, drawn.cursor, is_whole)?;
        (self.last, self.next) = if is_sent { (next, last) } else { (last, next) };
        Ok(drawn)
    }

    /// Draws and sends only these rows of the screen that is typed into, where the last frame shows it. Returns whether it
    /// could: otherwise a whole frame is needed. Everything before must have been taken.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub(in crate::console) fn draw_answer(&mut self, app: &App, rows: &Range<u16>) -> io::Result<bool> {
        let size = self.last.area.as_size();
        let is_there = !self.is_fresh && app.state.outer.size == (size.width, size.height);
        let Some(shown) = self.typed.as_ref().filter(|_| is_there) else { return Ok(false) };
        let place = shown.rows(rows);
        let lines = usize::from(place.y)..usize::from(place.bottom());
        let before = rows_of(&self.last, lines.clone());
        let mut after = before.clone();
        let Some(drawn) = draw::draw_answer(app, &mut after, shown, rows) else { return Ok(false) };
        map_colours(app.state.setup.ui.level, &mut after);
        self.send_changes(&before, &after, drawn.cursor, false)?;
        let columns = usize::from(self.last.area.width);
        self.last.content[lines.start * columns..lines.end * columns].clone_from_slice(&after.content);
        Ok(true)
    }

    /// Sends what differs between two frames, or between the same rows of both, and the cursor; `is_whole` clears the screen
    /// first. Returns whether anything was sent: nothing is if nothing would change.
    fn send_changes(
        &mut self,
        before: &Buffer,
        after: &Buffer,
        cursor: Option<(Position, CursorShape)>,
        is_whole: bool,
    ) -> io::Result<bool> {
        let changes = glyphs::changes(before, after);
        if !is_whole && changes.is_empty() && cursor == self.cursor {
            return Ok(false);
        }
        queue!(self.backend, Print(HOLD), Hide, Print(if is_whole { WIPE } else { "" }))?;
        for piece in glyphs::pieces(&changes) {
            self.backend.draw(piece.iter().copied())?;
        }
        if let Some((at, shape)) = cursor {
            if shape != self.shape {
                queue!(self.backend, Print(format!("\x1b[{} q", shape.parameter())))?;
                self.shape = shape;
            }
            queue!(self.backend, MoveTo(at.x, at.y), Show)?;
        }
        queue!(self.backend, Print(SHOW))?;
        self.cursor = cursor;
        self.send()?;
        Ok(true)
    }

    /// Makes the next frame a full redraw.
    pub(in crate::console) fn clear(&mut self) {
        self.is_fresh = true;
        self.shape = CursorShape::Default;
    }

    /// Writes an escape sequence that is not part of a frame. A terminal that has taken nothing for long does not get
    /// it.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub(in crate::console) fn write(&mut self, sequence: &Sequence) -> io::Result<()> {
        if self.output.waiting() > MOST_WAITING {
            tracing::warn!("the terminal takes nothing: a sequence is dropped");
            return Ok(());
        }
        queue!(self.backend, Print(&sequence.0))?;
        self.send()
    }

    /// Returns the minimum time between two frames, which is longer if the terminal is slow.
    pub(in crate::console) fn pace(&self) -> Duration {
        (self.last_write * 2).clamp(FRAME, SLOWEST)
    }

    fn send(&mut self) -> io::Result<()> {
        self.waits_since.get_or_insert(self.clock.now().mono);
        let mut bytes = self.bytes.borrow_mut();
        self.output.send(&bytes)?;
        bytes.clear();
        drop(bytes);
        self.measure();
        Ok(())
    }

    /// If everything was taken, records how long that took.
    fn measure(&mut self) {
        if self.output.is_empty()
            && let Some(since) = self.waits_since.take()
        {
            self.last_write = self.clock.now().mono.saturating_sub(since);
        }
    }
}

/// An escape sequence for the user's terminal; only this file creates any.
pub(in crate::console) struct Sequence(String);

/// Returns the sequence that puts text on the clipboard of the user's own terminal (OSC 52).
pub(in crate::console) fn copy_sequence(text: &str) -> Sequence {
    Sequence(format!("\x1b]52;c;{}\x07", BASE64.encode(text)))
}

/// Returns the sequence that gets the user's attention: the bell, and a notification in the two forms
/// terminals understand (OSC 9, OSC 777). Characters that would end a sequence or separate its fields are
/// removed from the text.
pub(in crate::console) fn ring_sequence(text: &str) -> Sequence {
    let text: String = SafeText::line(text).chars().filter(|c| *c != ';').take(RING_CHARS).collect();
    Sequence(format!("\x07\x1b]9;{text}\x07\x1b]777;notify;pilothouse;{text}\x07"))
}

/// Returns the sequence that sets the title of the terminal's window (OSC 2).
pub(in crate::console) fn title_sequence(text: &str) -> Sequence {
    let text: String = SafeText::line(text).chars().take(TITLE_CHARS).collect();
    Sequence(format!("\x1b]2;{text}\x1b\\"))
}

#[cfg(test)]
mod tests {
    use ratatui::backend::{Backend as _, CrosstermBackend};
    use ratatui::buffer::Buffer;

    use ratatui::style::Modifier;

    use crate::console::io::display::{
        Sequence, changed_rows, copy_sequence, ring_sequence, rows_of, title_sequence,
    };
    use crate::console::io::glyphs;

    #[test]
    fn a_row_with_an_emoji_of_two_columns_stays_in_its_columns() {
        let before = Buffer::with_lines(["abcdef"]);
        let mut after = Buffer::with_lines(["❤\u{FE0F}|x  "]);
        after[(1, 0)].set_symbol(" ");
        let mut written = Vec::new();
        for piece in glyphs::pieces(&glyphs::changes(&before, &after)) {
            CrosstermBackend::new(&mut written).draw(piece.iter().copied()).expect("written");
        }
        let size = |count| std::num::NonZeroU16::new(count).expect("a size");
        let mut terminal = vt100::Parser::new(size(1), size(6), 0);
        terminal.process(&written);
        assert_eq!(terminal.screen().contents().trim_end(), "❤\u{FE0F}|x");
    }

    #[test]
    fn the_difference_of_the_changed_rows_is_the_difference_of_the_whole_frame() {
        let before = Buffer::with_lines(["abc", "漢d", "efg", "hij", "klm"]);
        let mut after = before.clone();
        assert!(changed_rows(&before, &after).is_empty());
        after[(1, 1)].set_symbol("x");
        after[(2, 3)].set_style(Modifier::BOLD);
        let rows = changed_rows(&before, &after);
        assert_eq!(rows, 1..4);
        let (old, new) = (rows_of(&before, rows.clone()), rows_of(&after, rows));
        assert_eq!(old.diff(&new), before.diff(&after));
        after[(2, 4)].set_style(Modifier::BOLD);
        assert_eq!(changed_rows(&before, &after), 1..5);
    }

    #[test]
    fn a_text_cannot_end_its_notification() {
        let Sequence(rung) = ring_sequence("q01 gate: \x1b]52;c;AA==\x07 done\u{9c}");
        assert_eq!(rung.matches('\x1b').count(), 2, "{rung:?}");
        assert_eq!(
            rung,
            "\x07\x1b]9;q01 gate: ⟨U+001B⟩]52cAA==⟨U+0007⟩ done⟨U+009C⟩\x07\
             \x1b]777;notify;pilothouse;q01 gate: ⟨U+001B⟩]52cAA==⟨U+0007⟩ done⟨U+009C⟩\x07"
        );
    }

    #[test]
    fn a_title_is_one_sequence_whatever_the_workspace_is_called() {
        let Sequence(named) = title_sequence("a\x1b\\\u{9c}\x07b");
        assert_eq!(named, "\x1b]2;a⟨U+001B⟩\\⟨U+009C⟩⟨U+0007⟩b\x1b\\");
    }

    #[test]
    fn base64_is_that_of_rfc_4648() {
        for (plain, coded) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            let Sequence(copied) = copy_sequence(plain);
            assert_eq!(copied, format!("\x1b]52;c;{coded}\x07"));
        }
    }
}
