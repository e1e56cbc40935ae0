//! Pages out of a task's log on disk, for a pane scrolled back and for tasks that have ended.

use std::fs::File;
use std::io;

use crate::runtime::{TaskView, log_path, read_marks};
use crate::terminal::{History, Origin, Page, Size};

use super::msg::{Anchor, PageView};
use super::picture::Picture;
use super::search::Query;

/// Reads a page of a task's log. Blocking: up to a few milliseconds.
///
/// # Errors
/// When the log cannot be read.
pub(super) fn read(task: &TaskView, anchor: Anchor, size: Size) -> io::Result<PageView> {
    let log = File::open(log_path(&task.folder))?;
    let marks = read_marks(&task.folder).map_err(io::Error::other)?;
    let origin = if task.tty { Origin::Tty } else { Origin::Pipe };
    let history = History::new(&log, &marks, origin, task.size);
    let lines = history.lines();
    let page = match anchor {
        Anchor::From(line) => history.page(line.min(lines.saturating_sub(1)), size)?,
        Anchor::Before(line) => page_before(&history, line, size)?,
        Anchor::Tail => page_before(&history, lines, size)?,
        Anchor::Around(line) => page_around(&history, line, size)?,
    };
    let picture = Picture::of_page(&page);
    let rows = page.rows.iter().map(|row| row.line).collect();
    Ok(PageView { anchor, picture, rows, first_line: page.first_line, next_line: page.next_line, lines })
}

/// Searches a task's log. Blocking: as long as it takes to read it.
///
/// # Errors
/// When the log cannot be read.
pub(super) fn search(task: &TaskView, query: &Query) -> io::Result<Option<u64>> {
    let log = File::open(log_path(&task.folder))?;
    let marks = read_marks(&task.folder).map_err(io::Error::other)?;
    let origin = if task.tty { Origin::Tty } else { Origin::Pipe };
    let history = History::new(&log, &marks, origin, task.size);
    let hit = history.search(&query.needle, query.from, query.forward)?;
    Ok(hit.map(|hit| hit.line))
}

/// Returns rows with a line among them, a third down where there are enough before and after it.
fn page_around(history: &History<'_, File>, line: u64, size: Size) -> io::Result<Page> {
    let last = page_before(history, history.lines(), size)?;
    if line >= last.first_line {
        return Ok(last);
    }
    let page = history.page(line.saturating_sub(u64::from(size.rows()) / 3), size)?;
    // Long lines before it may have filled the page.
    if page.rows.iter().any(|row| row.line == line) { Ok(page) } else { history.page(line, size) }
}

/// Returns the rows that stand right before a line. Long lines take several rows: as many lines as
/// there are rows are laid out, and the last rows are kept.
fn page_before(history: &History<'_, File>, line: u64, size: Size) -> io::Result<Page> {
    let first = line.saturating_sub(u64::from(size.rows()));
    let tall = Size::clamped(size.cols(), size.rows().saturating_mul(4));
    let mut page = history.page(first, tall)?;
    let mut rows: Vec<_> = page.rows.into_iter().filter(|row| row.line < line).collect();
    let dropped = rows.len().saturating_sub(usize::from(size.rows()));
    rows.drain(..dropped);
    page.first_line = rows.first().map_or(first, |row| row.line);
    Ok(Page { rows, first_line: page.first_line, next_line: line })
}
