//! Searching the output of all tasks: a list of matching lines, and stepping from one to the next. Logs are
//! read a few at a time, so that a new search or a key never waits for an old one. Pure.

use std::collections::VecDeque;

use crate::console::effect::Effect;
use crate::console::state::{
    Anchor, FoundLine, ListChoice, LogSearch, Mode, Prompt, Screen, SearchOutcome, SearchQuery, State, alias,
};
use crate::console::text::{count, visible};
use crate::console::widgets::{Chooser, ListItem};
use crate::envelope::TaskId;

/// Number of tasks whose logs are read in one batch.
const TOGETHER: usize = 8;

/// Maximum number of lines listed in total.
const MOST_PLACES: usize = 500;

/// The search across all tasks.
#[derive(Debug, Clone, Default)]
pub struct AllTasksSearch {
    /// The text to find.
    needle: String,
    /// Distinguishes one search from the next.
    ticket: u64,
    /// Tasks that have not been searched yet.
    rest: VecDeque<TaskId>,
    places: Vec<FoundLine>,
    /// Why some logs could not be read, each reason once.
    unread: Vec<String>,
    /// The index of the result last shown.
    at: Option<usize>,
}

impl AllTasksSearch {
    /// Opens the input line for the text to find.
    pub(in crate::console) fn write(&self, state: &mut State) {
        state.focus.mode = Mode::Write(Prompt::SearchAll, self.needle.clone().into());
    }

    /// Searches for the typed text, in the order of the list of all tasks; tells whether there is any.
    pub(in crate::console) fn search(&mut self, state: &mut State) -> bool {
        let needle = state.take_written();
        if needle.is_empty() {
            return false;
        }
        let ticket = self.ticket + 1;
        let rest = state.view.all_tasks().into_iter().filter(|task| task.output.bytes > 0);
        let rest = rest.map(|task| task.id.clone()).collect();
        *self = Self { needle, ticket, rest, ..Self::default() };
        self.search_on(state);
        true
    }

    fn search_on(&mut self, state: &mut State) {
        let many = self.rest.len().min(TOGETHER);
        let next: Vec<TaskId> = self.rest.drain(..many).collect();
        if !next.is_empty() && self.places.len() < MOST_PLACES {
            let (ticket, needle) = (self.ticket, self.needle.clone());
            state.effects.push(Effect::SearchAll(ticket, needle, next));
        }
    }

    /// Lists the results from some tasks, and starts searching the next ones. At the end, reports why some logs were not
    /// searched.
    pub(in crate::console) fn found(
        &mut self,
        state: &mut State,
        list: Option<&mut Chooser>,
        (ticket, mut places, unread): (u64, Vec<FoundLine>, Vec<String>),
    ) {
        if ticket != self.ticket {
            return;
        }
        let first = self.places.len();
        places.truncate(MOST_PLACES.saturating_sub(first));
        let items = places.iter().zip(first..).map(|(place, at)| {
            let task = state.view.task(&place.task);
            let name = task.map(|task| alias(task)).unwrap_or_default();
            let cmd = task.map(|task| visible::told(task.cmd.trim())).unwrap_or_default();
            ListItem {
                same: cmd,
                ..ListItem::new(
                    format!("{name}:{}", count(place.line + 1)),
                    place.text.clone(),
                    ListChoice::Place(at),
                )
            }
        });
        let items = items.collect();
        self.places.extend(places);
        for why in unread {
            if !self.unread.contains(&why) {
                self.unread.push(why);
            }
        }
        // The tasks just searched were the last.
        let is_over = self.rest.is_empty();
        match list {
            Some(list) => {
                list.add(items);
                self.search_on(state);
            }
            // If the user has closed the list, they have seen enough.
            None => self.rest.clear(),
        }
        if is_over && self.places.is_empty() {
            let whose = if self.unread.is_empty() { "no task" } else { "no task that could be searched" };
            state.say(format!("{whose} has printed {}", visible::one_line(&self.needle)));
        }
        let unread = if is_over { std::mem::take(&mut self.unread) } else { Vec::new() };
        for why in unread {
            state.toasts.fail(format!("not all was searched: {}", visible::one_line(&why)), None);
        }
    }

    /// Goes to a result; returns what its pane is to show.
    pub(in crate::console) fn go_to(&mut self, state: &mut State, at: usize) -> Option<(TaskId, Anchor)> {
        let place = self.places.get(at).cloned()?;
        if state.view.task(&place.task).is_none() {
            state.say("that task is no longer on the list");
            return None;
        }
        if !matches!(state.focus.screen, Screen::Tasks | Screen::Focus) {
            state.show(Screen::Tasks);
        }
        state.select(place.task.clone());
        let needle = self.needle.clone();
        let query = SearchQuery { needle, from: place.line, forward: false };
        let outcome = SearchOutcome::At(place.line);
        let task = place.task.clone();
        state.reading.search =
            Some(LogSearch { task: task.clone(), query, last: None, outcome, counted: None });
        self.at = Some(at);
        Some((task, Anchor::Around(place.line)))
    }

    /// Returns the next or previous result while stepping through the results of all tasks, or that there is none;
    /// `None` if that is not the case.
    pub(in crate::console) fn next(&self, state: &State, back: bool) -> Option<Result<usize, &'static str>> {
        let at = self.at.filter(|_| self.is_shown(state))?;
        let next =
            if back { at.checked_sub(1) } else { Some(at + 1).filter(|next| *next < self.places.len()) };
        Some(next.ok_or(if back { "this is the first place" } else { "this is the last place" }))
    }

    /// Tells whether the current match is the current result of the search across all tasks.
    fn is_shown(&self, state: &State) -> bool {
        let place = self.at.and_then(|at| self.places.get(at));
        place.zip(state.reading.search.as_ref()).is_some_and(|(place, search)| {
            search.task == place.task
                && search.query.needle == self.needle
                && search.line() == Some(place.line)
        })
    }

    /// Describes which result of the search across all tasks is shown.
    pub(in crate::console) fn found_at(&self, state: &State) -> Option<String> {
        let at = self.at.filter(|_| self.is_shown(state))?;
        let needle = visible::one_line(&self.needle);
        let many = self.places.len();
        Some(format!("{} of {} in all tasks  {needle}", count(at as u64 + 1), count(many as u64)))
    }
}
