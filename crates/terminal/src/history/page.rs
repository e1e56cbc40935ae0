//! Pages of a log, and all of its rows, as its terminal drew them.

use std::collections::VecDeque;
use std::io;
use std::ops::ControlFlow;

use super::LogHistory;
use super::log::LogBytes;
use crate::cell::Cell;
use crate::dialogue::Dialogue;
use crate::export::CellRow;
use crate::marks::MarkKind;
use crate::size::Size;
use crate::terminal::ByteOrigin;
use crate::transcript::Transcript;

/// Number of bytes read at once.
const BLOCK: u64 = 64 << 10;

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
    /// The log line that was printed on it last.
    pub line: u64,
    /// Whether its text continues in the next row.
    pub wrapped: bool,
}

impl<L: LogBytes + ?Sized> LogHistory<'_, L> {
    /// Returns the rows from a log line on, at most as many as `size` has. A line that does not fit is left to the
    /// next page, unless it would be the only one. PTY output is as wide as the PTY was, unless reflowed; pipe output
    /// is as wide as `size`.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub fn page(&self, first_line: u64, size: Size) -> io::Result<Page> {
        let most = usize::from(size.rows());
        let (mut rows, mut next_line) = (Vec::new(), None);
        self.rows_from(first_line, size.cols(), |row| {
            if row.line < first_line {
                return ControlFlow::Continue(());
            }
            if rows.len() == most {
                next_line = Some(row.line);
                return ControlFlow::Break(());
            }
            rows.push(row);
            ControlFlow::Continue(())
        })?;
        if let Some(next) = next_line {
            let is_next = |row: &PageRow| row.line == next;
            match rows.iter().position(is_next) {
                Some(0) => next_line = Some(next + 1),
                Some(at) => rows.truncate(at),
                None => {}
            }
        }
        let lines = self.lines();
        Ok(Page { rows, first_line, next_line: next_line.unwrap_or(lines).max(first_line.min(lines)) })
    }

    /// Returns the last rows before a log line, at most as many as `size` has.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub fn page_before(&self, line: u64, size: Size) -> io::Result<Page> {
        let rows = self.rows_before(line, size.rows().into(), size.cols())?;
        let first_line = rows.first().map_or(line, |row| row.line);
        Ok(Page { rows, first_line, next_line: line })
    }

    /// Returns the last rows of the log, at most `most` of them: PTY output as wide as the PTY was, lines of a pipe
    /// whole, up to 65,535 columns in a row.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub fn last_rows(&self, most: u64) -> io::Result<Vec<CellRow>> {
        let rows = self.rows_before(u64::MAX, usize::try_from(most).unwrap_or(usize::MAX), u16::MAX)?;
        Ok(rows.into_iter().map(|row| CellRow { cells: row.cells, wrapped: row.wrapped }).collect())
    }

    /// Returns the last rows before a log line, at most `most` of them. Begins further back until there are as many.
    fn rows_before(&self, line: u64, most: usize, columns: u16) -> io::Result<Vec<PageRow>> {
        let line = line.min(self.lines());
        let mut lines = most as u64;
        loop {
            let from = line.saturating_sub(lines);
            let mut rows = VecDeque::new();
            self.rows_from(from, columns, |row| {
                if row.line >= line {
                    return ControlFlow::Break(());
                }
                if row.line >= from {
                    if rows.len() == most {
                        rows.pop_front();
                    }
                    rows.push_back(row);
                }
                ControlFlow::Continue(())
            })?;
            if rows.len() == most || from == 0 {
                return Ok(rows.into());
            }
            lines = lines.saturating_mul(8);
        }
    }

    /// Passes the rows of the log in order to `take`, until it breaks, at least those from a log line on.
    fn rows_from(
        &self,
        first_line: u64,
        columns: u16,
        mut take: impl FnMut(PageRow) -> ControlFlow<()>,
    ) -> io::Result<()> {
        let Some(start) = self.start_of(first_line)? else { return Ok(()) };
        let (begin, line) = self.beginning_before(start)?;
        let mut folder = RowFolder::new((self.reflows || self.origin == ByteOrigin::Pipe).then_some(columns));
        let mut sheet = LogSheet::new(self, begin, line);
        let mut is_over = false;
        while !is_over {
            is_over = sheet.offset >= self.log.len();
            if is_over {
                sheet.transcript.end();
            } else {
                sheet.read()?;
            }
            for row in sheet.transcript.take_rows() {
                if folder.push(row, &mut take).is_break() {
                    return Ok(());
                }
            }
        }
        let _ = folder.end(&mut take);
        Ok(())
    }
}

/// A log that is being interpreted.
struct LogSheet<'a, L: ?Sized> {
    history: &'a LogHistory<'a, L>,
    transcript: Transcript,
    dialogue: Option<Dialogue>,
    offset: u64,
    line: u64,
    /// Whether bytes of that line were interpreted.
    is_begun: bool,
    /// The index of the next mark.
    mark: usize,
}

impl<'a, L: LogBytes + ?Sized> LogSheet<'a, L> {
    fn new(history: &'a LogHistory<'a, L>, offset: u64, line: u64) -> Self {
        let transcript = Transcript::of_rows(history.origin, history.size_at(offset));
        let dialogue = history.has_dialogue().then(Dialogue::default);
        let mark = history.marks.partition_point(|mark| mark.offset < offset);
        Self { history, transcript, dialogue, offset, line, is_begun: false, mark }
    }

    /// Interprets the next block.
    fn read(&mut self) -> io::Result<()> {
        let end = (self.offset + BLOCK).min(self.history.log.len());
        let bytes = self.history.log.read_range(self.offset..end)?;
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            self.apply_marks();
            let next = self.history.marks.get(self.mark).map_or(u64::MAX, |mark| mark.offset);
            let room = usize::try_from(next - self.offset).unwrap_or(usize::MAX).min(rest.len());
            let (piece, after) = rest.split_at(room);
            self.draw(piece);
            rest = after;
        }
        if bytes.is_empty() {
            self.offset = self.history.log.len();
        }
        Ok(())
    }

    /// Applies the marks at this position.
    fn apply_marks(&mut self) {
        while let Some(mark) = self.history.marks.get(self.mark).filter(|mark| mark.offset <= self.offset) {
            self.mark += 1;
            self.transcript.note_time(mark.at_ms.into());
            match mark.kind {
                MarkKind::Resize(size) => self.transcript.resize(size),
                MarkKind::Gap { dropped } => {
                    self.transcript.gap(&format!("[{dropped} bytes dropped (log limit)]"));
                }
                MarkKind::Chunk(_) | MarkKind::Input => {}
            }
        }
    }

    fn draw(&mut self, bytes: &[u8]) {
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            if !self.is_begun {
                self.transcript.begin_line(self.line);
            }
            match &mut self.dialogue {
                None => self.transcript.feed(line),
                Some(dialogue) => {
                    let aside = self.history.is_aside_at(self.offset);
                    self.transcript.feed(&dialogue.draw(aside, line));
                }
            }
            self.offset += line.len() as u64;
            self.is_begun = !line.ends_with(b"\n");
            self.line += u64::from(!self.is_begun);
        }
    }
}

/// Joins rows that were wrapped, and breaks them at another width.
struct RowFolder {
    columns: Option<usize>,
    /// The cells of the row that is not complete, and its line.
    open: Option<PageRow>,
}

impl RowFolder {
    fn new(columns: Option<u16>) -> Self {
        Self { columns: columns.map(|columns| usize::from(columns.max(1))), open: None }
    }

    fn push(&mut self, row: PageRow, take: &mut impl FnMut(PageRow) -> ControlFlow<()>) -> ControlFlow<()> {
        let Some(columns) = self.columns else { return take(row) };
        let wrapped = row.wrapped;
        let open = match self.open.as_mut() {
            None => self.open.insert(row),
            Some(open) => {
                open.line = open.line.max(row.line);
                open.cells.extend(row.cells);
                open
            }
        };
        while open.cells.len() > columns {
            let is_cut = open.cells.get(columns).is_some_and(|cell| cell.width == 0) && columns > 1;
            let rest = open.cells.split_off(columns - usize::from(is_cut));
            let cells = std::mem::replace(&mut open.cells, rest);
            take(PageRow { cells, line: open.line, wrapped: true })?;
        }
        if wrapped { ControlFlow::Continue(()) } else { self.end(take) }
    }

    fn end(&mut self, take: &mut impl FnMut(PageRow) -> ControlFlow<()>) -> ControlFlow<()> {
        match self.open.take() {
            None => ControlFlow::Continue(()),
            Some(open) => take(PageRow { wrapped: false, ..open }),
        }
    }
}
