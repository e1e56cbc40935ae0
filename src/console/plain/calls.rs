//! Calls by their names: `web-fix/12`, with one runtime `12`. What they are called is what can be written.

use crate::console::msg;
use crate::console::plain::line::actor_name;
use crate::console::plain::places;
use crate::console::plain::session::{PlainEffect, PlainSession};
use crate::console::plain::steps::reply;
use crate::console::state::call_name;
use crate::console::text::visible;
use crate::link::Act;
use crate::model::{CallSummary, PlaceState, Slot, Snapshot, Subject};

/// Calls listed.
const MOST_CALLS: usize = 10;

impl PlainSession {
    /// Lists the last calls, or asks for what an agent was told in one.
    pub(super) fn receipts(&self, rest: &str) -> Vec<PlainEffect> {
        let calls = &self.snapshot.calls;
        if !rest.trim().is_empty() {
            return match find_call(&self.snapshot, calls.iter().map(|call| call.seq), rest) {
                Ok(seq) => vec![PlainEffect::Do(msg::Effect::Ask(Act::Record.on(Subject::Call(seq))))],
                Err(why) => vec![reply(why)],
            };
        }
        if calls.is_empty() {
            return vec![reply("no calls yet")];
        }
        calls.iter().rev().take(MOST_CALLS).map(|call| reply(self.told_of_call(call))).collect()
    }

    fn told_of_call(&self, call: &CallSummary) -> String {
        let name = call_name(&self.snapshot.places, call.seq);
        let status = call.status.as_deref().unwrap_or("not answered yet");
        let summary = visible::masked_line(&call.summary);
        format!("{name} {} {}, {status}: {summary}", actor_name(&call.actor), call.tool)
    }
}

/// Finds the call that somebody means: by its name, by its number where one place alone of these has it, or by its number among
/// those of all places. `call` may stand before it.
///
/// # Errors
/// What is wrong with it, as it is told.
pub(super) fn find_call(
    snapshot: &Snapshot,
    known: impl Iterator<Item = u64>,
    written: &str,
) -> Result<u64, String> {
    let word = written.trim();
    let word = word.strip_prefix("call ").unwrap_or(word).trim_start();
    let none = || format!("{word:?} is no call");
    let (place, own) = match word.split_once('/') {
        Some((place, own)) => (Some(place), own),
        None => (None, word),
    };
    let number: u64 = own.replace(',', "").parse().map_err(|_| none())?;
    let all = &snapshot.places;
    let at = |place: &PlaceState| place.slot.number(number).ok_or_else(none);
    match (place, Slot::of(number)) {
        (Some(name), _) => match all.iter().find(|place| place.name.name == name) {
            Some(place) => at(place),
            None => Err(format!("no place is called {name:?}; {}", places::names(snapshot))),
        },
        (None, (Slot(0), _)) => {
            let known: Vec<u64> = known.filter(|known| Slot::of(*known).1 == number).collect();
            match (&known[..], &all[..]) {
                (_, []) => Ok(number),
                ([only], _) => Ok(*only),
                (_, [only]) => at(only),
                (several, _) => {
                    let all = all.iter().filter_map(|place| place.slot.number(number));
                    let meant = if several.is_empty() { all.collect() } else { known };
                    let names: Vec<String> =
                        meant.into_iter().map(|number| call_name(&snapshot.places, number)).collect();
                    Err(format!("say of which place: {}", names.join(", ")))
                }
            }
        }
        (None, _) => Ok(number),
    }
}
