//! What agents left running when they went: the dialog that lists it by name, and what was decided.

use std::sync::Arc;

use crate::console::features::attention::list::MOST_COLUMNS;
use crate::console::keys::{Action, KeyContext, LeftDialogAction};
use crate::console::state::ports::ports;
use crate::console::state::{State, alias, cut_bottom, over_screen, stop_of};
use crate::console::text::reading::moved;
use crate::console::text::{column, piece, visible};
use crate::console::theme::Role;
use crate::console::widgets::{Painter, joined};
use crate::envelope::TaskId;
use crate::model::{AgentView, Snapshot, TaskStatus, TaskView};

/// A departure of an agent: its label, and how many times it had connected or disconnected by then.
pub(in crate::console) type Departure = (String, u64);

/// What an agent left running, with the task pointed at.
#[derive(Debug, Clone)]
pub struct LeftDialog {
    departure: Departure,
    chosen: Option<TaskId>,
}

/// What a key in the dialog leads to.
#[derive(Debug)]
pub(in crate::console) enum LeftOutcome {
    /// The dialog stays.
    Open(LeftDialog),
    /// What is left has been ended.
    Ended,
    /// It goes on, and this departure is not listed again.
    Kept(Departure),
    /// To this task.
    Look(TaskId),
}

/// Returns the tasks that an agent that is gone left running, the oldest first.
pub(in crate::console) fn left_by<'a>(
    snapshot: &'a Snapshot,
    agent: &'a AgentView,
) -> impl Iterator<Item = &'a Arc<TaskView>> {
    let is_left = |task: &&Arc<TaskView>| task.started_by.is_agent(&agent.label);
    let tasks = snapshot.tasks.iter().filter(|_| !agent.connected).filter(is_left);
    tasks.filter(|task| task.status == TaskStatus::Running)
}

impl LeftDialog {
    pub(in crate::console) fn of(departure: Departure) -> Self {
        Self { departure, chosen: None }
    }

    /// Returns what is still running; nothing if the agent has come back.
    pub(in crate::console) fn tasks<'a>(&self, snapshot: &'a Snapshot) -> Vec<&'a Arc<TaskView>> {
        let (label, turns) = &self.departure;
        let mut agents = snapshot.agents.iter();
        let agent = agents.find(|agent| agent.label == *label && agent.turns == *turns);
        agent.map(|agent| left_by(snapshot, agent).collect()).unwrap_or_default()
    }

    pub(in crate::console) fn act(mut self, state: &mut State, action: Action) -> LeftOutcome {
        let snapshot = state.view.snapshot.clone();
        let tasks = self.tasks(&snapshot);
        let at = self.place(&tasks);
        match LeftDialogAction::of(action) {
            Some(LeftDialogAction::EndLeft) => {
                state.effects.extend(tasks.iter().map(|task| stop_of(&task.id, false)));
                return LeftOutcome::Ended;
            }
            Some(LeftDialogAction::KeepLeft) => return LeftOutcome::Kept(self.departure),
            Some(LeftDialogAction::Choose) => {
                if let Some(task) = tasks.get(at) {
                    return LeftOutcome::Look(task.id.clone());
                }
            }
            Some(LeftDialogAction::Stop) => {
                state.effects.extend(tasks.get(at).map(|task| stop_of(&task.id, false)));
            }
            Some(LeftDialogAction::Up | LeftDialogAction::Down) => {
                let to =
                    action.motion().map_or(at, |motion| moved(at, motion, 1, tasks.len().saturating_sub(1)));
                self.chosen = tasks.get(to).map(|task| task.id.clone());
            }
            Some(LeftDialogAction::Back) => {}
            None => state.decline(format!("{}: end what is left, or keep it", action.hint())),
        }
        LeftOutcome::Open(self)
    }

    fn place(&self, tasks: &[&Arc<TaskView>]) -> usize {
        tasks.iter().position(|task| Some(&task.id) == self.chosen.as_ref()).unwrap_or_default()
    }
}

pub(in crate::console) fn draw(painter: &mut Painter<'_>, dialog: &LeftDialog) {
    let state = painter.state;
    let dots = painter.glyphs().cut;
    let tasks = dialog.tasks(&state.view.snapshot);
    let at = dialog.place(&tasks);
    let area = over_screen(painter.size(), MOST_COLUMNS, tasks.len() + 2, 1);
    let agent = visible::one_line(&dialog.departure.0).into_owned();
    let noun = if tasks.len() == 1 { "1 task".to_owned() } else { format!("{} tasks", tasks.len()) };
    let inside = painter.boxed(area, &format!("{agent} has gone, {noun} still running"));
    let (list, foot) = cut_bottom(inside, 2);
    let names = state.alias_columns(5);
    let top = (at + 1).saturating_sub(usize::from(list.height));
    painter.list(list, tasks.iter().enumerate().skip(top), |painter, (number, task)| {
        let row = vec![
            piece(format!("{} ", painter.marker(number == at)), Role::Accent),
            piece(column(&alias(task), names, dots), Role::Title),
            piece(column(&painter.age(task.started_at.unwrap_or(task.created_at)), 7, dots), Role::Faint),
            piece(ports(task).map(|ports| format!("{ports}  ")).unwrap_or_default(), Role::Accent),
            piece(visible::told(&task.cmd), Role::Text),
        ];
        (row, number == at)
    });
    let keys = [
        (Action::EndLeft, "end all"),
        (Action::KeepLeft, "keep all"),
        (Action::Stop, "end this"),
        (Action::Choose, "look"),
        (Action::Back, "later"),
    ];
    let keys = keys.map(|(action, hint)| painter.key(KeyContext::Left, action, hint));
    painter.row(foot, 1, &joined(keys.into(), &piece("   ", Role::Text)));
}
