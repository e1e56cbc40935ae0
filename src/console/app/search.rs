//! Searching a task's log: backwards from the current page, then from match to match; and jumping from prompt
//! to prompt where the shell marks its prompts (OSC 133).

use std::ops::Range;

use unicode_width::UnicodeWidthStr;

use crate::envelope::TaskId;

use super::{App, Mode, Prompt};
use crate::console::msg::{Anchor, Effect, PageView};
use crate::console::text::finding::{Line, Needle};

/// A search query: what to look for in a log, from which line and in which direction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// The text to find, as it appears on screen; matches case-insensitively unless it contains a capital
    /// letter.
    pub needle: String,
    /// The first line searched.
    pub from: u64,
    /// Search towards the end instead of the beginning.
    pub forward: bool,
}

impl Query {
    /// Search from the end of the log, wherever that is when it is read.
    pub const END: u64 = u64::MAX;
}

/// The state of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The log is being read.
    Asked,
    /// Found in this line.
    At(u64),
    /// Not found in that direction; holds the line of the last match.
    Nowhere(Option<u64>),
}

/// A search in one task's log.
#[derive(Debug, Clone)]
pub struct Search {
    /// The task.
    pub task: TaskId,
    /// The latest query.
    pub query: Query,
    /// The line of the previous match.
    pub last: Option<u64>,
    /// The result of the latest query.
    pub outcome: Outcome,
    /// The position of the current line among the matching lines and their number, once counted.
    pub counted: Option<(u64, u64)>,
}

impl Search {
    /// Returns the line of the current match.
    pub fn line(&self) -> Option<u64> {
        match self.outcome {
            Outcome::At(line) => Some(line),
            Outcome::Asked => self.last,
            Outcome::Nowhere(line) => line,
        }
    }
}

/// The cells of one row of a page that match a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Match {
    /// The row of the page.
    pub row: u16,
    /// Its columns.
    pub columns: Range<u16>,
    /// The log line.
    pub line: u64,
}

/// Returns where a page shows `needle`; the rows of a wrapped log line are treated as one text.
pub fn matches(page: &PageView, needle: &str) -> Vec<Match> {
    let needle = Needle::smart(needle);
    let mut found = Vec::new();
    let mut row = 0;
    for rows in page.rows.chunk_by(|one, next| one == next) {
        let line = read(page, row..row + rows.len(), &needle);
        for (row, columns) in line.places().into_iter().flatten() {
            found.push(Match { row: u16::try_from(row).unwrap_or(u16::MAX), columns, line: rows[0] });
        }
        row += rows.len();
    }
    found
}

/// Returns the text on the first row of a log line on a page.
pub fn row_of(page: &PageView, line: u64) -> Option<Match> {
    let row = page.rows.iter().position(|shown| *shown == line)?;
    let row = u16::try_from(row).ok()?;
    Some(Match { row, columns: 0..page.picture.text_columns(row), line })
}

fn read<'a>(page: &PageView, rows: Range<usize>, needle: &'a Needle) -> Line<'a> {
    let mut line = Line::new(needle);
    for row in rows {
        let mut column = 0;
        while let Some(cell) = page.picture.cell(u16::try_from(row).unwrap_or(u16::MAX), column) {
            line.push(cell.symbol(), row, column);
            column += u16::try_from(cell.symbol().width()).unwrap_or(1).max(1);
        }
    }
    line
}

impl App {
    /// Jumps to the prompt before the current position, or to the next one.
    pub(super) fn go_to_prompt(&mut self, forward: bool) {
        let Some(task) = self.at_hand().cloned() else { return };
        let scroll = self.scroll.as_ref().filter(|scroll| scroll.task == task.id);
        let here = match scroll {
            Some(scroll) => scroll.prompt.or_else(|| scroll.page.as_ref().map(|page| page.first_line)),
            None if forward => {
                self.say("the end is shown already");
                return;
            }
            None => None,
        };
        match here {
            Some(line) => self.find_prompt(task.id.clone(), line, forward),
            // At the end is the prompt waiting for the next command; the one before it is wanted.
            None => self.effects.push(Effect::Prompt { task: task.id.clone(), from: None, forward: false }),
        }
    }

    /// Does the same in copy mode, from the cursor's row.
    pub(super) fn copy_to_prompt(&mut self, forward: bool) {
        let Mode::Copy(copying) = &self.mode else { return };
        let Some(line) = copying.lines.get(usize::from(copying.at.0)).copied() else {
            self.say("this picture has no lines to go by");
            return;
        };
        let task = copying.task.clone();
        self.find_prompt(task, line, forward)
    }

    fn find_prompt(&mut self, task: TaskId, line: u64, forward: bool) {
        let from = if forward { line.checked_add(1) } else { line.checked_sub(1) };
        match from {
            Some(_) => self.effects.push(Effect::Prompt { task, from, forward }),
            None => self.say_no_prompt(forward),
        }
    }

    /// Shows the prompt that was found.
    pub(super) fn show_prompt(&mut self, task: TaskId, line: Option<u64>, forward: bool) {
        let Some(line) = line else { return self.say_no_prompt(forward) };
        let rows = self.layout().pane(&task).map_or(1, |pane| pane.cells.height);
        if let Mode::Copy(copying) = &mut self.mode {
            if copying.task != task {
                return;
            }
            if let Some(row) = copying.row_of(line) {
                copying.go((row, 0), rows);
                return;
            }
            if copying.anchor.is_some() {
                self.say("that prompt is further away than can be selected at once");
                return;
            }
            return self.copy_from(Anchor::Top(line));
        }
        if self.at_hand().is_none_or(|shown| shown.id != task) {
            return;
        }
        // Only the code that reads the log knows whether a full page follows; the length known here lags
        // behind.
        let anchor = Anchor::Top(line);
        self.show_page(task, anchor);
        if let Some(scroll) = self.scroll.as_mut().filter(|scroll| scroll.wanted == anchor) {
            scroll.prompt = Some(line);
        }
        self.mark_matches();
    }

    fn say_no_prompt(&mut self, forward: bool) {
        let text = if forward {
            "no later prompt that the shell has marked"
        } else {
            "no earlier prompt that the shell has marked (OSC 133)"
        };
        self.say(text);
    }

    /// Opens the input line for searching a task's output; the task stays current.
    pub(super) fn open_search(&mut self, task: TaskId) {
        self.take_up(task.clone());
        let page = self.scroll.as_ref().filter(|scroll| scroll.task == task).and_then(|s| s.page.as_ref());
        self.search_from = page.map_or(Query::END, |page| page.next_line.saturating_sub(1));
        self.write(Prompt::Search(task));
    }

    /// Searches for the typed text, backwards from the last line shown.
    pub(super) fn find(&mut self, task: TaskId) {
        let needle = self.take_written();
        if self.view.task(&task).is_none() || needle.is_empty() {
            return;
        }
        // The incremental search has already run this query.
        if self.search.as_ref().is_some_and(|search| search.task == task && search.query.needle == needle) {
            return;
        }
        let from = self.search_from;
        self.ask(task, Query { needle, from, forward: false }, None)
    }

    /// Searches incrementally as the text is typed, from where the search began; a long log is only searched
    /// on request.
    pub(super) fn find_as_written(&mut self) {
        const MOST: u64 = 4 << 20;
        let Mode::Write(Prompt::Search(task), editor) = &self.mode else { return };
        let (task, needle) = (task.clone(), editor.value().to_owned());
        if needle.is_empty() || self.view.task(&task).is_none_or(|task| task.output.bytes > MOST) {
            return;
        }
        let from = self.search_from;
        self.ask(task, Query { needle, from, forward: false }, None);
    }

    /// Continues the search from the current match.
    pub(super) fn find_next(&mut self, forward: bool) {
        if self.step_place(forward) {
            return;
        }
        let Some(search) = &self.search else { return };
        let Some(line) = search.line() else { return };
        let from = if forward { line.checked_add(1) } else { line.checked_sub(1) };
        let (task, query) = (search.task.clone(), search.query.clone());
        match from {
            Some(from) => self.ask(task, Query { from, forward, ..query }, Some(line)),
            None => {
                let query = Query { forward, ..query };
                self.search = Some(Search {
                    task,
                    query,
                    last: None,
                    outcome: Outcome::Nowhere(Some(line)),
                    counted: None,
                });
            }
        }
    }

    fn ask(&mut self, task: TaskId, query: Query, last: Option<u64>) {
        let effect = Effect::Search(task.clone(), query.clone());
        self.search = Some(Search { task, query, last, outcome: Outcome::Asked, counted: None });
        self.effects.push(effect);
    }

    /// Shows the result of a search, if it is still wanted.
    pub(super) fn found(
        &mut self,
        task: TaskId,
        query: &Query,
        line: Option<u64>,
        counted: Option<(u64, u64)>,
    ) {
        let Some(search) = self.search.as_mut().filter(|s| s.task == task && s.query == *query) else {
            return;
        };
        let Some(line) = line else {
            search.outcome = Outcome::Nowhere(search.last);
            return;
        };
        search.outcome = Outcome::At(line);
        search.counted = counted;
        self.go_to_line(task, line)
    }

    fn go_to_line(&mut self, task: TaskId, line: u64) {
        let is_shown = self.scroll.as_ref().and_then(|scroll| scroll.page.as_ref());
        if is_shown.is_some_and(|page| page.rows.contains(&line)) {
            self.mark_matches();
            return;
        }
        self.show_page(task, Anchor::Around(line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::app::picture::Picture;
    use crate::console::msg::Anchor;
    use crate::terminal::{History, Origin, Size};

    fn found(log: &str, needle: &str) -> Vec<(u16, Range<u16>)> {
        let size = Size::clamped(10, 8);
        let page = History::new(log.as_bytes(), &[], Origin::Tty, size).page(0, size).expect("a page");
        let rows = page.rows.iter().map(|row| row.line).collect();
        let picture = Picture::of_page(&page);
        let view = PageView {
            anchor: Anchor::Tail,
            picture,
            rows,
            times: Vec::new(),
            first_line: 0,
            next_line: 9,
            lines: 9,
        };
        matches(&view, needle).into_iter().map(|found| (found.row, found.columns)).collect()
    }

    #[test]
    fn a_match_is_found_where_it_is_seen() {
        assert_eq!(found("one two\r\n\x1b[31mtwo\x1b[0m two\r\n", "two"), [(0, 4..7), (1, 0..3), (1, 4..7)]);
        assert_eq!(found("one\r\n", "One"), []);
        assert_eq!(found("One\r\n", "one"), [(0, 0..3)]);
        assert_eq!(found("one\r\ntwo\r\n", ""), []);
    }

    #[test]
    fn a_match_that_is_wrapped_is_found_on_both_rows() {
        assert_eq!(found("0123456needle\r\n", "needle"), [(0, 7..10), (1, 0..3)]);
        assert_eq!(found("nee\r\ndle\r\n", "needle"), [], "two lines are two texts");
    }

    #[test]
    fn wide_characters_take_their_columns() {
        assert_eq!(found("日本語 ok\r\n", "語 o"), [(0, 4..8)]);
    }
}
