//! Searching the output of all tasks: a list of matching lines, and stepping from one to the next. Logs are
//! read a few at a time, so that a new search or a key never waits for an old one. Pure.

use std::collections::VecDeque;

use super::chooser::{Choice, Chooser, Item, Kind};
use super::search::{Outcome, Query, Search};
use super::{App, Layer, Mode, Prompt, Screen, alias};
use crate::console::msg::{Anchor, Effect};
use crate::console::text::{count, visible};
use crate::envelope::TaskId;

/// Number of tasks whose logs are read in one batch.
const TOGETHER: usize = 8;
/// Maximum number of lines listed in total.
const MOST_PLACES: usize = 500;

/// A matching line of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The task.
    pub task: TaskId,
    /// The line in its log.
    pub line: u64,
    /// The text of the line.
    pub text: String,
}

/// The search across all tasks.
#[derive(Debug, Clone, Default)]
pub struct Everywhere {
    /// The text to find.
    needle: String,
    /// Distinguishes one search from the next.
    ticket: u64,
    /// Tasks that have not been searched yet.
    rest: VecDeque<TaskId>,
    places: Vec<Place>,
    /// Why some logs could not be read, each reason once.
    unread: Vec<String>,
    /// The index of the result last shown.
    at: Option<usize>,
}

impl App {
    /// Opens the input line for the text to find.
    pub(super) fn write_search_all(&mut self) {
        self.mode = Mode::Write(Prompt::SearchAll, self.everywhere.needle.clone().into());
    }

    /// Searches for the typed text, in the order of the list of all tasks, and lists the results.
    pub(super) fn search_all(&mut self) {
        let needle = self.take_written();
        if needle.is_empty() {
            return;
        }
        let ticket = self.everywhere.ticket + 1;
        let rest = self.view.all_tasks().into_iter().filter(|task| task.output.bytes > 0);
        let rest = rest.map(|task| task.id.clone()).collect();
        self.everywhere = Everywhere { needle, ticket, rest, ..Everywhere::default() };
        self.open(Layer::List(Box::new(Chooser::new(Kind::Places, Vec::new()))));
        self.search_on();
    }

    fn search_on(&mut self) {
        let many = self.everywhere.rest.len().min(TOGETHER);
        let next: Vec<TaskId> = self.everywhere.rest.drain(..many).collect();
        if !next.is_empty() && self.everywhere.places.len() < MOST_PLACES {
            let (ticket, needle) = (self.everywhere.ticket, self.everywhere.needle.clone());
            self.effects.push(Effect::SearchAll(ticket, needle, next));
        }
    }

    /// Lists the results from some tasks, and starts searching the next ones. At the end, reports why some logs were not
    /// searched.
    pub(super) fn found_everywhere(&mut self, ticket: u64, mut places: Vec<Place>, unread: Vec<String>) {
        if ticket != self.everywhere.ticket {
            return;
        }
        let first = self.everywhere.places.len();
        places.truncate(MOST_PLACES.saturating_sub(first));
        let items = places.iter().zip(first..).map(|(place, at)| {
            let task = self.view.task(&place.task);
            let name = task.map(|task| alias(task)).unwrap_or_default();
            let cmd = task.map(|task| visible::told(task.cmd.trim())).unwrap_or_default();
            Item {
                same: cmd,
                ..Item::new(
                    format!("{name}:{}", count(place.line + 1)),
                    place.text.clone(),
                    Choice::Place(at),
                )
            }
        });
        let items = items.collect();
        self.everywhere.places.extend(places);
        for why in unread {
            if !self.everywhere.unread.contains(&why) {
                self.everywhere.unread.push(why);
            }
        }
        // The tasks just searched were the last.
        let is_over = self.everywhere.rest.is_empty();
        match self.layers.last_mut() {
            Some(Layer::List(chooser)) if chooser.kind == Kind::Places => {
                chooser.add(items);
                self.search_on();
            }
            // If the user has closed the list, they have seen enough.
            _ => self.everywhere.rest.clear(),
        }
        if is_over && self.everywhere.places.is_empty() {
            let whose =
                if self.everywhere.unread.is_empty() { "no task" } else { "no task that could be searched" };
            self.say(format!("{whose} has printed {}", visible::one_line(&self.everywhere.needle)));
        }
        let unread = if is_over { std::mem::take(&mut self.everywhere.unread) } else { Vec::new() };
        for why in unread {
            self.toasts.fail(format!("not all was searched: {}", visible::one_line(&why)), None);
        }
    }

    /// Shows a result.
    pub(super) fn go_to_place(&mut self, at: usize) {
        let Some(place) = self.everywhere.places.get(at).cloned() else { return };
        if self.view.task(&place.task).is_none() {
            return self.say("that task is no longer on the list");
        }
        if !matches!(self.screen, Screen::Tasks | Screen::Focus) {
            self.show(Screen::Tasks);
        }
        self.select(place.task.clone());
        let needle = self.everywhere.needle.clone();
        let query = Query { needle, from: place.line, forward: false };
        let outcome = Outcome::At(place.line);
        let task = place.task.clone();
        self.search = Some(Search { task: task.clone(), query, last: None, outcome, counted: None });
        self.everywhere.at = Some(at);
        self.show_page(task, Anchor::Around(place.line));
    }

    /// Goes to the next or previous result while stepping through the results of all tasks; tells whether
    /// that is the case.
    pub(super) fn step_place(&mut self, back: bool) -> bool {
        let Some(at) = self.everywhere.at.filter(|_| self.is_at_place()) else { return false };
        let many = self.everywhere.places.len();
        match if back { at.checked_sub(1) } else { Some(at + 1).filter(|next| *next < many) } {
            Some(to) => self.go_to_place(to),
            None => self.say(if back { "this is the first place" } else { "this is the last place" }),
        }
        true
    }

    /// Tells whether the current match is the current result of the search across all tasks.
    fn is_at_place(&self) -> bool {
        let place = self.everywhere.at.and_then(|at| self.everywhere.places.get(at));
        place.zip(self.search.as_ref()).is_some_and(|(place, search)| {
            search.task == place.task
                && search.query.needle == self.everywhere.needle
                && search.line() == Some(place.line)
        })
    }

    /// Describes which result of the search across all tasks is shown.
    pub(super) fn found_at(&self) -> Option<String> {
        let at = self.everywhere.at.filter(|_| self.is_at_place())?;
        let needle = visible::one_line(&self.everywhere.needle);
        let many = self.everywhere.places.len();
        Some(format!("{} of {} in all tasks  {needle}", count(at as u64 + 1), count(many as u64)))
    }
}
