//! The palette: its items, and those of the lists of themes and messages.

use jiff::Timestamp;

use crate::agents::AgentProgram;
use crate::console::keys::{Action, KeyContext};
use crate::console::state::{Availability, ListChoice, State, alias};
use crate::console::text::visible;
use crate::console::widgets::{Chooser, ListItem, ListKind};

/// Maximum number of calls listed, newest first.
const MOST_CALLS: usize = 200;

pub(in crate::console) fn palette_items(
    state: &State,
    layouts: Vec<ListItem>,
    availability: Availability<'_>,
) -> Vec<ListItem> {
    let actions = Action::ALL.iter().filter(|action| !matches!(action, Action::Palette | Action::Choose));
    let mut items: Vec<ListItem> = actions.map(|action| action_item(state, *action, availability)).collect();
    items.extend(state.view.all_tasks().into_iter().map(|task| {
        let what = visible::masked_line(task.cmd.trim());
        let item = ListItem::new(
            alias(task),
            format!("{}  {what}", task.status.as_str()),
            ListChoice::Task(task.id.clone()),
        );
        let short = task.place.is_none().then(|| format!("t{}", task.number));
        ListItem { aliases: [alias(task)].into_iter().chain(short).collect(), ..item }
    }));
    items.extend(
        theme_items(state)
            .into_iter()
            .map(|item| ListItem { label: format!("theme {}", item.label), ..item }),
    );
    items
        .extend(layouts.into_iter().map(|item| ListItem { label: format!("layout {}", item.label), ..item }));
    items.extend(agent_items(availability));
    items.extend(state.view.newest_calls().take(MOST_CALLS).map(|call| {
        let label = format!("call {}", state.call_name(call.seq));
        let about = format!("{}  {}", call.tool, visible::one_line(&call.summary));
        ListItem {
            aliases: vec![state.call_name(call.seq), call.seq.to_string()],
            ..ListItem::new(label, about, ListChoice::Call(call.seq))
        }
    }));
    items
}

/// Returns the items of finished recordings, named by when they began.
pub(in crate::console) fn recording_items(
    state: &State,
    recordings: Vec<(String, Option<Timestamp>)>,
) -> Vec<ListItem> {
    let local = |at: Timestamp| at.to_zoned_datetime(state.setup.zone.clone());
    let yesterday = local(state.clock.now).yesterday().ok().map(|day| day.date());
    let item = |(name, began): (String, Option<Timestamp>)| {
        let began = began.map(local);
        let label =
            began.as_ref().map_or("past".to_owned(), |at| at.strftime("past %m-%d %H:%M").to_string());
        let is_of_yesterday = began.is_some_and(|at| Some(at.date()) == yesterday);
        let also =
            if is_of_yesterday { "yesterday history earlier before" } else { "history earlier before" };
        let about = format!("Recording {name}, read-only");
        ListItem { also, ..ListItem::new(label, about, ListChoice::Recording(name)) }
    };
    recordings.into_iter().map(item).collect()
}

fn action_item(state: &State, action: Action, availability: Availability<'_>) -> ListItem {
    let keymap = &state.setup.keymap;
    let here = keymap.key(state.view_context(), action);
    let anywhere = || KeyContext::ALL.iter().find_map(|context| keymap.key(*context, action));
    ListItem {
        key: here.or_else(anywhere).unwrap_or_default(),
        same: action.equivalent().to_owned(),
        also: action.synonyms(),
        obstacle: availability(action).err().map(|why| why.to_string()),
        ..ListItem::new(action.name(), action.about(), ListChoice::Action(action))
    }
}

pub(in crate::console) fn theme_items(state: &State) -> Vec<ListItem> {
    let themes = state.setup.theme_set.themes.list().iter();
    let items = themes.map(|listed| {
        ListItem::new(listed.name.clone(), listed.file.about.clone(), ListChoice::Theme(listed.name.clone()))
    });
    items.collect()
}

/// Returns the list of themes, which previews the selected theme.
pub(in crate::console) fn themes(state: &State) -> Chooser {
    let active = state.setup.theme_set.active.clone();
    let mut chooser = Chooser::new(ListKind::Themes(active.clone()), theme_items(state));
    chooser.select(&ListChoice::Theme(active));
    chooser
}

/// Returns the list of messages, newest first.
pub(in crate::console) fn messages(state: &State) -> Chooser {
    let zone = state.setup.zone.clone();
    let items = state.toasts.history().iter().rev().map(|said| {
        let choice = said.call.map_or(ListChoice::Nothing, ListChoice::Call);
        let call = said.call.map(|seq| format!("  call {}", state.call_name(seq))).unwrap_or_default();
        let what = if said.is_error { "error" } else { "" };
        let key = said.at.map(|at| at.to_zoned_datetime(zone.clone()).strftime("%H:%M:%S").to_string());
        ListItem {
            key: key.unwrap_or_default(),
            ..ListItem::new(said.text.clone(), format!("{what}{call}"), choice)
        }
    });
    Chooser::new(ListKind::Messages, items.collect())
}

/// Returns the command line of this program with these arguments, to be run in a pane.
pub(in crate::console) fn beside(state: &State, args: &str) -> Option<String> {
    let quoted = state.setup.program.as_ref()?.display().to_string().replace('\'', "'\\''");
    Some(format!("'{quoted}' {args}"))
}

/// Returns the agents that can be started in a pane, with the commands of their own shell redirected
/// here.
fn agent_items(availability: Availability<'_>) -> impl Iterator<Item = ListItem> {
    let obstacle = availability(Action::Start).err().map(|why| why.to_string());
    AgentProgram::routed_programs().map(move |(agent, _)| {
        let (word, name) = (agent.as_str(), agent.profile().name);
        let about = format!("{name} in a pane, the commands of its own shell as tasks");
        let cmd = format!("pilothouse {word}");
        let item = ListItem::new(format!("start {word}"), about, ListChoice::Run(cmd.clone()));
        ListItem { obstacle: obstacle.clone(), same: cmd, also: "agent run", ..item }
    })
}
