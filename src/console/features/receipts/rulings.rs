//! Choosing the calls to list by who let them be made, and running oneself what an agent refused.

use strum::VariantArray as _;

use crate::console::state::calls::RulingFilter;
use crate::console::state::rulings::is_listed;
use crate::console::state::{ListChoice, Screen, State};
use crate::console::widgets::{Chooser, ListItem, ListKind};
use crate::model::CallRuling;

/// Returns the list of filters, each with its letter and the number of calls.
pub(in crate::console) fn list_of_rulings(state: &State) -> Chooser {
    let item = |filter: &RulingFilter| {
        let calls = state.newest_calls().filter(|call| is_listed(*filter, &state.view, call)).count();
        let about = if calls == 1 { "1 call".to_owned() } else { format!("{calls} calls") };
        let key = filter.word().chars().next().map(String::from).unwrap_or_default();
        ListItem { key, ..ListItem::new(filter.word(), about, ListChoice::Ruling(*filter)) }
    };
    let mut chooser = Chooser::new(ListKind::Filters, RulingFilter::VARIANTS.iter().map(item).collect());
    chooser.select(&ListChoice::Ruling(state.calls.ruling));
    chooser
}

/// Returns the command of the selected call, if its agent refused it and it fits into a line.
pub(in crate::console) fn refused_command(state: &State) -> Option<String> {
    let call = state.shown_call().filter(|_| state.focus.screen == Screen::Receipts)?;
    let Some(CallRuling::Refused { .. }) = call.native.as_ref()?.ruling else { return None };
    let record = state.view.records.get(&call.seq)?;
    record.input["cmd"].as_str().filter(|cmd| !cmd.contains('\n')).map(str::to_owned)
}
