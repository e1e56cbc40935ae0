//! A page of a log, drawn on a fresh terminal.

use std::io;

use super::LogHistory;
use super::log::LogBytes;
use crate::cell::Cell;
use crate::dialogue::Dialogue;
use crate::reach::Measure;
use crate::size::Size;
use crate::switch::last_switch;
use crate::terminal::{ByteOrigin, Terminal};

/// Number of lines read before the page, for the colours and modes they set.
const CONTEXT_LINES: u64 = 200;
/// Maximum number of bytes read before the page.
const CONTEXT_BYTES: u64 = 64 * 1024;
/// How far back, in bytes, to search for a switch to the alternate screen.
const ALTERNATE_BYTES: u64 = 1024 * 1024;
/// Maximum number of bytes and lines for one page; a program that redraws in place may need many for few
/// rows.
const PAGE_BYTES: u64 = 1024 * 1024;
const PAGE_LINES: u64 = 4000;
/// Spare rows below the page, so that the rest of a line does not scroll it.
const MARGIN: u16 = 64;

/// Consecutive rows of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The rows from top to bottom.
    pub rows: Vec<PageRow>,
    /// The log line at which the page starts.
    pub first_line: u64,
    /// The log line at which the next page starts.
    pub next_line: u64,
}

/// One row of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageRow {
    /// Its cells, without blank ones at the end.
    pub cells: Vec<Cell<'static>>,
    /// The log line it is part of.
    pub line: u64,
}

impl<L: LogBytes + ?Sized> LogHistory<'_, L> {
    /// Returns the rows from the beginning of a log line on, at most as many as `size` has. PTY output is as
    /// wide as the PTY was, unless reflowed; pipe output is as wide as `size`.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub fn page(&self, first_line: u64, size: Size) -> io::Result<Page> {
        let Some(start) = self.start_of(first_line)? else {
            return Ok(Page { rows: Vec::new(), first_line, next_line: first_line });
        };
        let bytes = self.log.read_range(start..(start + PAGE_BYTES).min(self.log.len()))?;
        let own = if self.origin == ByteOrigin::Tty { self.size_at(start).cols() } else { size.cols() };
        if self.reflows && own != size.cols() {
            let sheet = self.sheet(first_line, start, size)?;
            if let Some(page) = self.draw(sheet, (first_line, start), &bytes, true) {
                return Ok(page);
            }
        }
        let sheet = self.sheet(first_line, start, Size::nearest(own, size.rows()))?;
        let page = self.draw(sheet, (first_line, start), &bytes, false);
        Ok(page.unwrap_or(Page { rows: Vec::new(), first_line, next_line: first_line }))
    }

    /// Draws lines on a sheet until it is full; with `plain`, returns `None` if any line is not plain.
    fn draw(
        &self,
        mut sheet: PageTerminal,
        (first_line, start): (u64, u64),
        bytes: &[u8],
        plain: bool,
    ) -> Option<Page> {
        if plain && sheet.terminal.modes().alternate_screen {
            return None;
        }
        let cols = sheet.terminal.size().cols();
        let mut gaps = self.gaps(start, start + bytes.len() as u64).peekable();
        let mut dialogue = self.has_dialogue().then(Dialogue::default);
        let mut offset = start;
        let mut next_line = first_line;
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            if sheet.is_full() || next_line - first_line >= PAGE_LINES {
                break;
            }
            let mut measure = Measure::new(cols);
            if plain {
                measure.take(line);
            }
            if measure.leaves() || measure.is_redrawn() {
                return None;
            }
            if let Some(now_ms) = self.came(offset) {
                sheet.terminal.note_time(now_ms.into());
            }
            sheet.begin_line(next_line);
            let end = offset + line.len() as u64;
            let mut rest = line;
            while let Some((gap, dropped)) = gaps.next_if(|(gap, _)| *gap < end) {
                let (before, after) =
                    rest.split_at(usize::try_from(gap - offset).unwrap_or(0).min(rest.len()));
                self.draw_on(&mut sheet, &mut dialogue, offset, before);
                sheet.gap(dropped);
                (rest, offset) = (after, gap);
            }
            let all = self.draw_on(&mut sheet, &mut dialogue, offset, rest);
            offset = end;
            // A line that did not fit is repeated on the next page, unless that would be the same page again.
            if all || next_line == first_line {
                next_line += 1;
            }
        }
        if offset >= self.log.len() {
            sheet.terminal.show_open_string();
        }
        Some(Page { rows: sheet.into_rows(), first_line, next_line })
    }

    /// Draws a line or a part of it, starting at `offset`, with a mark in front of output from a terminal
    /// beside the command's streams; returns whether all of it fitted.
    fn draw_on(
        &self,
        sheet: &mut PageTerminal,
        dialogue: &mut Option<Dialogue>,
        offset: u64,
        bytes: &[u8],
    ) -> bool {
        let Some(dialogue) = dialogue else { return sheet.draw(bytes) };
        let (mut at, mut rest, mut all) = (offset, bytes, true);
        while !rest.is_empty() {
            let (aside, until) = self.is_aside_at(at);
            let length = usize::try_from(until - at).unwrap_or(usize::MAX).min(rest.len());
            let (part, after) = rest.split_at(length);
            all = sheet.draw(&dialogue.draw(aside, part));
            (at, rest) = (at + length as u64, after);
        }
        all
    }

    /// Returns an empty sheet whose terminal is in the state left by the output before `start`.
    fn sheet(&self, first_line: u64, start: u64, size: Size) -> io::Result<PageTerminal> {
        let mut terminal =
            Terminal::new(Size::nearest(size.cols(), size.rows().saturating_add(MARGIN)), self.origin);
        let context = self.start_of(first_line.saturating_sub(CONTEXT_LINES))?.unwrap_or(start);
        let context = context.max(start.saturating_sub(CONTEXT_BYTES));
        let context = self.open_string(context)?.unwrap_or(context);
        if self.is_alternate_at(context)? {
            terminal.feed_aside(b"\x1b[?1049h");
        }
        let mut from = context;
        let inside = self.marks.iter().filter(|mark| (context..start).contains(&mark.offset));
        for (until, now_ms) in inside.map(|mark| (mark.offset, mark.at_ms)) {
            terminal.feed(&self.log.read_range(from..until)?);
            terminal.note_time(now_ms.into());
            from = until;
        }
        terminal.feed(&self.log.read_range(from..start)?);
        let is_alternate = terminal.modes().alternate_screen;
        // Keep the colours, but do not paint the empty sheet with them.
        terminal.feed_aside(b"\x1b[?47l\x1b[?6l\x1b[r\x1b7\x1b[m\x1b[2J\x1b8");
        if is_alternate {
            terminal.feed_aside(b"\x1b[?1049h");
        }
        Ok(PageTerminal { terminal, rows: size.rows(), begun: Vec::new(), line: first_line })
    }

    /// Tells whether the program was on the alternate screen when it wrote the byte at `offset`.
    fn is_alternate_at(&self, offset: u64) -> io::Result<bool> {
        let before = self.log.read_range(offset.saturating_sub(ALTERNATE_BYTES)..offset)?;
        Ok(last_switch(&before).is_some_and(|(_, is_alternate)| is_alternate))
    }
}

/// A terminal on which a page is drawn.
struct PageTerminal {
    terminal: Terminal,
    /// The number of rows requested.
    rows: u16,
    /// For each row, the last line that began there.
    begun: Vec<Option<u64>>,
    line: u64,
}

impl PageTerminal {
    fn is_full(&self) -> bool {
        !self.terminal.modes().alternate_screen && self.terminal.cursor().row >= self.rows
    }

    fn begin_line(&mut self, line: u64) {
        self.line = line;
        if !self.terminal.modes().alternate_screen {
            self.begin_row();
        }
    }

    fn begin_row(&mut self) {
        let row = usize::from(self.terminal.cursor().row);
        if self.begun.len() <= row {
            self.begun.resize(row + 1, None);
        }
        self.begun[row] = Some(self.line);
    }

    /// Draws a line or a part of it; returns whether all of it fitted.
    fn draw(&mut self, bytes: &[u8]) -> bool {
        let mut pieces = bytes.chunks(usize::from(self.terminal.size().cols())).peekable();
        while let Some(piece) = pieces.next() {
            self.terminal.feed(piece);
            if pieces.peek().is_some() && self.is_full() {
                return false;
            }
        }
        true
    }

    /// Draws a note about missing bytes on a row of its own; the output before them may be cut off anywhere.
    fn gap(&mut self, dropped: u64) {
        self.terminal.feed_aside(b"\x1b[?47l\x1b[m\x1b(B\x0f");
        if self.terminal.cursor().col > 0 {
            self.terminal.feed_aside(b"\r\n");
        }
        self.begin_row();
        self.terminal.feed_aside(format!("[{dropped} bytes dropped (log limit)]\r\n").as_bytes());
    }

    fn into_rows(mut self) -> Vec<PageRow> {
        self.terminal.feed_aside(b"\x1b[?47l");
        let mut rows = Vec::new();
        let mut line = self.begun.first().copied().flatten().unwrap_or(self.line);
        for row in 0..self.rows {
            line = self.begun.get(usize::from(row)).copied().flatten().unwrap_or(line);
            rows.push(PageRow { cells: cells(&self.terminal, row), line });
        }
        let used = |(at, row): &(usize, &PageRow)| {
            !row.cells.is_empty() || self.begun.get(*at).is_some_and(Option::is_some)
        };
        let count = rows.iter().enumerate().rfind(used).map_or(0, |(at, _)| at + 1);
        rows.truncate(count);
        rows
    }
}

/// Returns the cells of a row, without blank ones at its end.
fn cells(terminal: &Terminal, row: u16) -> Vec<Cell<'static>> {
    let mut cells: Vec<_> = terminal.row(row).map(Cell::into_owned).collect();
    while cells.last().is_some_and(|cell| cell.text == " " && !cell.style.shows_on_blanks()) {
        cells.pop();
    }
    cells
}
