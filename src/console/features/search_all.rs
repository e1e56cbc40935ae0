//! Searching the output of all tasks: a list of matching lines, and stepping from one to the next. Logs are
//! read a few at a time, so that a new search or a key never waits for an old one. Pure.

use std::collections::VecDeque;

use crate::console::effect::{Effect, FeatureReply};
use crate::console::state::{
    FoundLine, ListChoice, LogSearch, SearchOutcome, SearchQuery, State, View, alias,
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
    pub(in crate::console) needle: String,
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
    /// Searches for a text, in the order of the list of all tasks.
    pub(in crate::console) fn search(&mut self, view: &View, needle: String) -> Option<Effect> {
        let ticket = self.ticket + 1;
        let rest = view.all_tasks().into_iter().filter(|task| task.output.bytes > 0);
        let rest = rest.map(|task| task.id.clone()).collect();
        *self = Self { needle, ticket, rest, ..Self::default() };
        self.search_on()
    }

    fn search_on(&mut self) -> Option<Effect> {
        let many = self.rest.len().min(TOGETHER);
        let next: Vec<TaskId> = self.rest.drain(..many).collect();
        let goes_on = !next.is_empty() && self.places.len() < MOST_PLACES;
        goes_on.then(|| Effect::SearchAll(self.ticket, self.needle.clone(), next))
    }

    /// Lists the results from some tasks, and starts searching the next ones. At the end, reports why some logs were not
    /// searched.
    pub(in crate::console) fn add(
        &mut self,
        view: &View,
        list: Option<&mut Chooser>,
        (ticket, mut places, unread): (u64, Vec<FoundLine>, Vec<String>),
    ) -> Vec<FeatureReply> {
        let mut replies = Vec::new();
        if ticket != self.ticket {
            return replies;
        }
        let first = self.places.len();
        places.truncate(MOST_PLACES.saturating_sub(first));
        let items = places.iter().zip(first..).map(|(place, at)| {
            let task = view.task(&place.task);
            let name = task.map(|task| alias(task)).unwrap_or_default();
            let cmd = task.map(|task| visible::masked_line(task.cmd.trim())).unwrap_or_default();
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
                replies.extend(self.search_on().map(FeatureReply::Do));
            }
            // If the user has closed the list, they have seen enough.
            None => self.rest.clear(),
        }
        if is_over && self.places.is_empty() {
            let whose = if self.unread.is_empty() { "no task" } else { "no task that could be searched" };
            replies
                .push(FeatureReply::Say(format!("{whose} has printed {}", visible::one_line(&self.needle))));
        }
        let unread = if is_over { std::mem::take(&mut self.unread) } else { Vec::new() };
        let told =
            |why: String| FeatureReply::Fail(format!("not all was searched: {}", visible::one_line(&why)));
        replies.extend(unread.into_iter().map(told));
        replies
    }

    /// Returns a result of the list.
    pub(in crate::console) fn place(&self, at: usize) -> Option<FoundLine> {
        self.places.get(at).cloned()
    }

    /// Notes that a result is shown, and returns the search that finds it in its pane.
    pub(in crate::console) fn show(&mut self, at: usize, place: &FoundLine) -> LogSearch {
        self.at = Some(at);
        let query = SearchQuery { needle: self.needle.clone(), from: place.line, forward: false };
        let outcome = SearchOutcome::At(place.line);
        LogSearch { task: place.task.clone(), query, last: None, outcome, counted: None }
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
