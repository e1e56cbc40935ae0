//! Searching the output of a task, and going from prompt to prompt.

use crate::console::effect::Effect;
use crate::console::state::{Anchor, LogSearch, Mode, Prompt, SearchOutcome, SearchQuery, State};
use crate::envelope::TaskId;

impl State {
    /// Jumps to the prompt before the current position, or to the next one.
    pub(super) fn go_to_prompt(&mut self, forward: bool) {
        let Some(task) = self.at_hand().cloned() else { return };
        let scroll = self.reading.scroll.as_ref().filter(|scroll| scroll.task == task.id);
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
        let Mode::Copy(copying) = &self.focus.mode else { return };
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
        if let Mode::Copy(copying) = &mut self.focus.mode {
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
        if let Some(scroll) = self.reading.scroll.as_mut().filter(|scroll| scroll.wanted == anchor) {
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
        let page =
            self.reading.scroll.as_ref().filter(|scroll| scroll.task == task).and_then(|s| s.page.as_ref());
        self.reading.search_from = page.map_or(SearchQuery::END, |page| page.next_line.saturating_sub(1));
        self.write(Prompt::Search(task));
    }

    /// Searches for the typed text, backwards from the last line shown.
    pub(super) fn find_in_pane(&mut self, task: TaskId) {
        let needle = self.take_written();
        if self.view.task(&task).is_none() || needle.is_empty() {
            return;
        }
        // The incremental search has already run this query.
        if self
            .reading
            .search
            .as_ref()
            .is_some_and(|search| search.task == task && search.query.needle == needle)
        {
            return;
        }
        let from = self.reading.search_from;
        self.ask_search(task, SearchQuery { needle, from, forward: false }, None)
    }

    /// Searches incrementally as the text is typed, from where the search began; a long log is only searched
    /// on request.
    pub(super) fn find_as_written(&mut self) {
        const MOST: u64 = 4 << 20;
        let Mode::Write(Prompt::Search(task), editor) = &self.focus.mode else { return };
        let (task, needle) = (task.clone(), editor.value().to_owned());
        if needle.is_empty() || self.view.task(&task).is_none_or(|task| task.output.bytes > MOST) {
            return;
        }
        let from = self.reading.search_from;
        self.ask_search(task, SearchQuery { needle, from, forward: false }, None);
    }

    /// Continues the search from the current match.
    pub(super) fn find_next(&mut self, forward: bool) {
        let Some(search) = &self.reading.search else { return };
        let Some(line) = search.line() else { return };
        let from = if forward { line.checked_add(1) } else { line.checked_sub(1) };
        let (task, query) = (search.task.clone(), search.query.clone());
        match from {
            Some(from) => self.ask_search(task, SearchQuery { from, forward, ..query }, Some(line)),
            None => {
                let query = SearchQuery { forward, ..query };
                self.reading.search = Some(LogSearch {
                    task,
                    query,
                    last: None,
                    outcome: SearchOutcome::Nowhere(Some(line)),
                    counted: None,
                });
            }
        }
    }

    fn ask_search(&mut self, task: TaskId, query: SearchQuery, last: Option<u64>) {
        let effect = Effect::Search(task.clone(), query.clone());
        self.reading.search =
            Some(LogSearch { task, query, last, outcome: SearchOutcome::Asked, counted: None });
        self.effects.push(effect);
    }

    /// Shows the result of a search, if it is still wanted.
    pub(super) fn take_found(
        &mut self,
        task: TaskId,
        query: &SearchQuery,
        line: Option<u64>,
        counted: Option<(u64, u64)>,
    ) {
        let Some(search) = self.reading.search.as_mut().filter(|s| s.task == task && s.query == *query)
        else {
            return;
        };
        let Some(line) = line else {
            search.outcome = SearchOutcome::Nowhere(search.last);
            return;
        };
        search.outcome = SearchOutcome::At(line);
        search.counted = counted;
        self.go_to_line(task, line)
    }

    fn go_to_line(&mut self, task: TaskId, line: u64) {
        let is_shown = self.reading.page();
        if is_shown.is_some_and(|page| page.rows.contains(&line)) {
            self.mark_matches();
            return;
        }
        self.show_page(task, Anchor::Around(line))
    }
}
