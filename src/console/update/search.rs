//! Searching a task's log: backwards from what is shown, then on from match to match.

use tui_input::Input as Editor;

use crate::envelope::TaskId;

use super::super::app::search::{Outcome, Query, Search};
use super::super::app::{App, Mode};
use super::super::msg::{Anchor, Effect};

impl App {
    /// Opens the line to search a task's output; it stays at hand.
    pub(super) fn open_search(&mut self, task: TaskId) -> Vec<Effect> {
        self.take_up(task.clone());
        self.mode = Mode::Search(task, Editor::default());
        Vec::new()
    }

    /// Searches for what is written, backwards from the last line shown.
    pub(super) fn find(&mut self) -> Vec<Effect> {
        let Mode::Search(task, editor) = &self.mode else { return Vec::new() };
        let (task, needle) = (task.clone(), editor.value().to_owned());
        self.observe();
        if self.task(&task).is_none() || needle.is_empty() {
            return Vec::new();
        }
        let page = self.scroll.as_ref().filter(|scroll| scroll.task == task).and_then(|s| s.page.as_ref());
        let from = page.map_or(Query::END, |page| page.next_line.saturating_sub(1));
        self.ask(task, Query { needle, from, forward: false }, None)
    }

    /// Goes on from the match shown.
    pub(super) fn find_on(&mut self, forward: bool) -> Vec<Effect> {
        let Some(search) = &self.search else { return Vec::new() };
        let Some(line) = search.line() else { return Vec::new() };
        let from = if forward { line.checked_add(1) } else { line.checked_sub(1) };
        let (task, query) = (search.task.clone(), search.query.clone());
        match from {
            Some(from) => self.ask(task, Query { from, forward, ..query }, Some(line)),
            None => {
                let query = Query { forward, ..query };
                self.search = Some(Search { task, query, last: None, outcome: Outcome::Nowhere(Some(line)) });
                Vec::new()
            }
        }
    }

    fn ask(&mut self, task: TaskId, query: Query, last: Option<u64>) -> Vec<Effect> {
        let effect = Effect::Search(task.clone(), query.clone());
        self.search = Some(Search { task, query, last, outcome: Outcome::Asked });
        vec![effect]
    }

    /// Shows what a search found, if it is still wanted.
    pub(super) fn found(&mut self, task: TaskId, query: &Query, line: Option<u64>) -> Vec<Effect> {
        let Some(search) = self.search.as_mut().filter(|s| s.task == task && s.query == *query) else {
            return Vec::new();
        };
        let Some(line) = line else {
            search.outcome = Outcome::Nowhere(search.last);
            return Vec::new();
        };
        search.outcome = Outcome::At(line);
        self.go_to_line(task, line)
    }

    fn go_to_line(&mut self, task: TaskId, line: u64) -> Vec<Effect> {
        let is_shown = self.scroll.as_ref().and_then(|scroll| scroll.page.as_ref());
        if is_shown.is_some_and(|page| page.rows.contains(&line)) {
            self.mark_matches();
            return Vec::new();
        }
        self.turn_to(task, Anchor::Around(line))
    }

    /// Lets the pane follow its task again; a search is over with it.
    pub(super) fn thaw(&mut self) -> bool {
        let was_frozen = self.scroll.take().is_some();
        self.search.take().is_some() || was_frozen
    }
}
