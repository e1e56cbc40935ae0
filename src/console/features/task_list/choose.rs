//! The lists for choosing which tasks are listed, in which order and in which form.

use strum::VariantArray as _;

use crate::console::state::agents::split_label;
use crate::console::state::choice::ListForm;
use crate::console::state::listing::filter::AgentFilter;
use crate::console::state::listing::rows::{Grouping, Sort};
use crate::console::state::{Filter, Filters, ListChoice, ListColumn, State};
use crate::console::text::visible;
use crate::console::widgets::{Chooser, ListItem, ListKind};
use crate::envelope::Actor;
use crate::envelope::units::amount;
use crate::model::TaskView;

/// Maximum number of agents listed, counting their connections.
const MOST_AGENTS: usize = 64;

impl Sort {
    fn letter(self) -> char {
        let word: &str = self.into();
        word.chars().next().unwrap_or(' ')
    }

    fn about(self) -> &'static str {
        match self {
            Self::Newest => "what runs, then what has ended; the newest first",
            Self::Oldest => "the same, the oldest first",
            Self::State => "what waits for you, runs, failed, then the rest",
            Self::Idle => "what runs and has been idle longest",
            Self::Agent => "by who started it",
            Self::Duration => "what runs, or ran, longest",
        }
    }
}

impl Grouping {
    fn key(self) -> char {
        match self {
            Self::None => '0',
            Self::Agent => '1',
            Self::Session => '2',
        }
    }

    fn about(self) -> &'static str {
        match self {
            Self::None => "no groups",
            Self::Agent => "a group for each agent, for you and for scripts",
            Self::Session => "the same, each connection of an agent by itself",
        }
    }
}

/// Returns the list of filters, each with its letter and the number of matching tasks; then the agents of
/// the listed tasks.
pub(in crate::console) fn list_of_filters(state: &State) -> Chooser {
    let counted = |holds: &dyn Fn(&TaskView) -> bool| {
        amount(state.view.snapshot.tasks.iter().filter(|task| holds(task)).count() as u64, "task")
    };
    let mut items: Vec<ListItem> = Vec::new();
    for filter in Filter::VARIANTS {
        let about = counted(&|task| filter.holds(task));
        let key = filter.letter().to_string();
        items.push(ListItem { key, ..ListItem::new(filter.word(), about, ListChoice::Filter(*filter)) });
    }
    for (number, whose) in present(state).into_iter().enumerate() {
        let what = if matches!(whose, AgentFilter::Agent(_)) { ", all its connections" } else { "" };
        let about = format!("{}{what}", counted(&|task| whose.holds(task)));
        let key = if number < 9 { (number + 1).to_string() } else { String::new() };
        let name = visible::one_line(whose.name()).into_owned();
        items.push(ListItem { key, ..ListItem::new(name, about, ListChoice::Whose(whose)) });
    }
    let mut chooser = Chooser::new(ListKind::Filters, items);
    match &state.list.filters {
        Filters { state: Filter::All, whose: Some(whose), .. } => {
            chooser.select(&ListChoice::Whose(whose.clone()))
        }
        filters => chooser.select(&ListChoice::Filter(filters.state)),
    }
    chooser
}

/// Returns the agents that started a listed task: each connection, preceded by the agent as a whole if it
/// has several.
fn present(state: &State) -> Vec<AgentFilter> {
    let mut labels: Vec<&str> = Vec::new();
    for task in &state.view.snapshot.tasks {
        if let Actor::Agent(label) = &task.started_by
            && !labels.contains(&label.as_str())
            && labels.len() < MOST_AGENTS
        {
            labels.push(label);
        }
    }
    labels.sort_unstable();
    let mut present: Vec<AgentFilter> = Vec::new();
    for label in &labels {
        let own = split_label(label).0;
        let has_others = labels.iter().any(|other| other != label && split_label(other).0 == own);
        let agent = AgentFilter::Agent(own.to_owned());
        if has_others && !present.contains(&agent) {
            present.push(agent);
        }
        present.push(AgentFilter::Session((*label).to_owned()));
    }
    present
}

/// Opens the list of options for the form of the task list.
pub(in crate::console) fn arrangement_list(state: &State) -> Chooser {
    let listing = &state.list.listing;
    let chosen = |is_chosen: bool| if is_chosen { "now: " } else { "" };
    let mut items: Vec<ListItem> = Vec::new();
    for sort in Sort::VARIANTS {
        let word: &str = sort.into();
        let about = format!("{}{}", chosen(listing.sort == *sort), sort.about());
        let choice = ListChoice::Arranged(ListForm::Sort(*sort));
        items.push(ListItem {
            key: sort.letter().to_string(),
            ..ListItem::new(format!("sort {word}"), about, choice)
        });
    }
    for groups in Grouping::VARIANTS {
        let word: &str = groups.into();
        let about = format!("{}{}", chosen(listing.groups == *groups), groups.about());
        let choice = ListChoice::Arranged(ListForm::Groups(*groups));
        items.push(ListItem {
            key: groups.key().to_string(),
            ..ListItem::new(format!("group {word}"), about, choice)
        });
    }
    for one in ListColumn::VARIANTS {
        let word: &str = one.into();
        let is_shown = if listing.columns.contains(one) { "shown" } else { "not shown" };
        let about = format!("{is_shown}: {}", one.about());
        items.push(ListItem::new(
            format!("column {word}"),
            about,
            ListChoice::Arranged(ListForm::Column(*one)),
        ));
    }
    Chooser::new(ListKind::Listing, items)
}
