//! What waits for the user: the list of it, the bell that rings for it, and the watch rules that add to it.

pub mod bell;
pub mod item;
pub mod left;
pub mod list;
pub mod watch;

use jiff::Timestamp;

use crate::config::WatchRule;
use crate::console::effect::Effect;
use crate::console::features::attention::bell::Bell;
use crate::console::features::attention::item::{
    AttentionItem, AttentionSubject, Need, prompts, waiting_items,
};
use crate::console::features::attention::left::Departure;
use crate::console::features::attention::watch::{TaskWatches, WatchFinding, WatchInput};
use crate::console::state::{Screen, State, alias};
use crate::console::text::visible;
use crate::envelope::TaskId;
use crate::model::{TaskView, needs_you};

/// What waits for the user.
#[derive(Debug, Clone)]
pub struct Attention {
    /// What the bell has already rung for.
    bell: Bell,
    /// The watch rules and what they have found.
    pub watching: TaskWatches,
    /// The agents whose tasks are to go on although they are gone.
    pub(in crate::console) kept: Vec<Departure>,
    /// The window title we have set, if any.
    pub title: Option<String>,
}

impl Attention {
    /// Nothing has been rung for, and no rule has found anything, before `began`.
    pub fn since(began: Timestamp) -> Self {
        Self { bell: Bell::default(), watching: TaskWatches::since(began), kept: Vec::new(), title: None }
    }

    /// Forgets what another runtime asked for; the window title stays.
    pub(in crate::console) fn begin_again(&mut self, now: Timestamp) {
        *self = Self { title: self.title.take(), ..Self::since(now) };
    }

    /// Returns all that waits for the user: what waits for an answer, then what to look at, each the oldest first.
    pub fn items(&self, state: &State) -> Vec<AttentionItem> {
        let mut items = self.undecided_items(state);
        items.extend(self.watching.items(&state.view));
        sort(&mut items);
        items
    }

    /// Returns how many things wait for an answer.
    pub fn waiting(&self, state: &State) -> usize {
        self.undecided_items(state).iter().filter(|item| item.need() == Need::Answer).count()
    }

    /// Returns what the runtime's state says waits, without what is to go on.
    fn undecided_items(&self, state: &State) -> Vec<AttentionItem> {
        let mut items = waiting_items(state);
        items.retain(
            |item| !matches!(&item.subject, AttentionSubject::Left(left) if self.kept.contains(left)),
        );
        items
    }

    /// Returns the departure to decide about next, if an agent has left anything running.
    pub(in crate::console) fn departure(&self, state: &State) -> Option<Departure> {
        self.undecided_items(state).into_iter().rev().find_map(|item| match item.subject {
            AttentionSubject::Left(departure) => Some(departure),
            _ => None,
        })
    }

    /// Returns the same, and after it what may be waiting; of one agent, if the lists are limited to it.
    pub fn listed_items(&self, state: &State) -> Vec<AttentionItem> {
        let mut items = self.items(state);
        items.extend(prompts(state));
        if let Some(whose) = &state.list.filters.whose {
            items.retain(|item| item.subject.actor(state).is_some_and(|actor| whose.is_of(&actor)));
        }
        sort(&mut items);
        items
    }

    /// Rings for new items while the terminal does not have the focus, and shows the number of waiting items
    /// in the window title.
    pub(in crate::console) fn ring(&mut self, state: &State) -> Vec<Effect> {
        let mut effects = self.watch(state);
        let items = self.items(state);
        effects.extend(self.bell.ring(&items, state.outer.is_elsewhere, state.clock.now));
        let title = state.setup.ui.console.title.then(|| window_title(state, items.len()));
        if title != self.title {
            effects.push(Effect::Title(title.clone()));
            self.title = title;
        }
        effects
    }

    /// Sets the typed text as a watch rule for a task; an empty text removes the task's rules.
    pub(in crate::console) fn watch_for(&mut self, view: &TaskView, text: &str) -> Result<String, String> {
        let name = alias(view);
        if text.trim().is_empty() {
            self.watching.clear(&view.id);
            return Ok(format!("{name}: no rule of its own"));
        }
        let rule =
            WatchRule::parse(text).map_err(|why| format!("no pattern: {}", visible::one_line(&why)))?;
        let told = format!("rings when {name}: {}", visible::one_line(&rule.says()));
        self.watching.add(view, rule);
        Ok(told)
    }

    /// Applies the watch rules to the current state of the tasks.
    fn watch(&mut self, state: &State) -> Vec<Effect> {
        if state.setup.recording.is_some() {
            return Vec::new();
        }
        let reads = self.watching.look(watch_input(state));
        if state.focus.screen == Screen::Focus && !state.outer.is_elsewhere {
            let looked_at = state.at_hand().map(|task| task.id.clone());
            let is_looked_at = |seen: &&WatchFinding| Some(&seen.task) == looked_at.as_ref();
            let seen = self.watching.seen.iter().filter(|(_, seen)| is_looked_at(seen));
            let seen: Vec<String> = seen.map(|(id, _)| id.clone()).collect();
            seen.iter().for_each(|id| drop(self.watching.settle(id)));
        }
        reads.into_iter().map(|(task, from)| Effect::ReadWatched { task, from }).collect()
    }

    /// Applies the rules to newly read output, which consists of whole lines, and records where to continue.
    pub(in crate::console) fn take_watched(
        &mut self,
        state: &State,
        id: &TaskId,
        read: (&str, u64),
    ) -> Vec<Effect> {
        let Some(task) = state.view.task(id) else { return Vec::new() };
        self.watching.scan_output(watch_input(state), task, read);
        self.ring(state)
    }

    /// Records the usage of tasks that have CPU rules.
    pub(in crate::console) fn watch_usage(&mut self, state: &State) -> Vec<Effect> {
        let before = self.watching.busy.clone();
        self.watching
            .record_usage(watch_input(state), |task| state.view.usage.of(task).and_then(|used| used.cpu));
        if self.watching.busy != before { self.ring(state) } else { Vec::new() }
    }
}

fn watch_input(state: &State) -> WatchInput<'_> {
    WatchInput {
        rules: &state.setup.ui.console.watch,
        tasks: &state.view.snapshot.tasks,
        now: state.clock.now,
    }
}

fn sort(items: &mut [AttentionItem]) {
    items.sort_by(|a, b| (a.need(), a.since, &a.name).cmp(&(b.need(), b.since, &b.name)));
}

fn window_title(state: &State, waiting: usize) -> String {
    let name = state.workspace_name();
    let mark = state.setup.theme.glyphs.states[2];
    let count = if waiting > 0 { format!("{mark}{waiting} ") } else { String::new() };
    let needing: Vec<String> = state.view.snapshot.needing().map(|agent| agent.label.clone()).collect();
    let needs = needs_you(&needing).map(|text| format!("{}, ", visible::one_line(&text))).unwrap_or_default();
    format!("{count}{needs}pilothouse {}", visible::one_line(&name))
}
