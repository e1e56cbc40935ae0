//! What agents left running when they went: the dialog that lists it by name, and what was decided.

use std::sync::Arc;

use crate::console::effect::FeatureReply;
use crate::console::features::attention::list::MOST_COLUMNS;
use crate::console::keys::{Action, KeyContext, LeftDialogAction};
use crate::console::state::ports::ports;
use crate::console::state::waiting::left_by;
use crate::console::state::{alias, cut_bottom, over_screen, stop_of};
use crate::console::text::reading::move_by;
use crate::console::text::{column, piece, visible};
use crate::console::theme::Role;
use crate::console::widgets::Painter;
use crate::envelope::TaskId;
use crate::envelope::units::amount;
use crate::model::{Snapshot, TaskView};

/// A departure of an agent: its label, and how many times it had connected or disconnected by then.
pub(in crate::console) type Departure = (String, u64);

/// What an agent left running, and what of it is pointed at.
#[derive(Debug, Clone)]
pub struct LeftDialog {
    departure: Departure,
    /// One of the tasks; `None` for all of them.
    chosen: Option<TaskId>,
}

/// What a key in the dialog leads to.
#[derive(Debug)]
pub(in crate::console) enum LeftOutcome {
    /// The dialog stays.
    Open(Vec<FeatureReply>),
    /// All of it has been asked to end.
    Ended(Vec<FeatureReply>),
    /// It goes on, and this departure is not listed again.
    Kept(Departure),
    Look(TaskId),
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

    pub(in crate::console) fn act(&mut self, snapshot: &Snapshot, action: Action) -> LeftOutcome {
        let tasks = self.tasks(snapshot);
        let rows = tasks.len() + first_row(&tasks);
        let at = self.row(&tasks);
        let decline = |why: &str| LeftOutcome::Open(vec![FeatureReply::Decline(why.to_owned())]);
        match LeftDialogAction::of(action) {
            Some(LeftDialogAction::Dismiss) => return LeftOutcome::Kept(self.departure.clone()),
            Some(LeftDialogAction::Up | LeftDialogAction::Down) => {
                let to = action.motion().map_or(0, |motion| move_by(at.unwrap_or(0), motion, 1, rows - 1));
                let to = to.checked_sub(first_row(&tasks)).and_then(|to| tasks.get(to));
                self.chosen = to.map(|task| task.id.clone());
            }
            Some(LeftDialogAction::Stop | LeftDialogAction::Choose) if at.is_none() => {
                return decline("that task is no longer running: choose another");
            }
            Some(LeftDialogAction::Stop) => {
                let is_it =
                    |task: &&&Arc<TaskView>| self.chosen.as_ref().is_none_or(|chosen| *chosen == task.id);
                let ended = tasks.iter().filter(is_it).map(|task| FeatureReply::Do(stop_of(&task.id, false)));
                let ended = ended.collect();
                return match self.chosen {
                    None => LeftOutcome::Ended(ended),
                    Some(_) => LeftOutcome::Open(ended),
                };
            }
            Some(LeftDialogAction::Choose) => match self.chosen.as_ref().or(only(&tasks)) {
                Some(task) => return LeftOutcome::Look(task.clone()),
                None => return decline("look: choose one of them first"),
            },
            Some(LeftDialogAction::Back) => {}
            None => return decline(&format!("{}: end what is left, or keep it", action.hint())),
        }
        LeftOutcome::Open(Vec::new())
    }

    /// Returns the row that is pointed at; `None` if its task is no longer running. A second key then reaches no other
    /// task, nor all of them.
    fn row(&self, tasks: &[&Arc<TaskView>]) -> Option<usize> {
        let Some(chosen) = &self.chosen else { return Some(0) };
        tasks.iter().position(|task| task.id == *chosen).map(|at| at + first_row(tasks))
    }
}

/// Returns the row of the first task: above several, one stands for all of them.
fn first_row(tasks: &[&Arc<TaskView>]) -> usize {
    usize::from(tasks.len() > 1)
}

fn only<'a>(tasks: &[&'a Arc<TaskView>]) -> Option<&'a TaskId> {
    let [task] = tasks else { return None };
    Some(&task.id)
}

pub(in crate::console) fn draw(painter: &mut Painter<'_>, dialog: &LeftDialog) {
    let state = painter.state;
    let dots = painter.glyphs().cut;
    let tasks = dialog.tasks(&state.view.snapshot);
    let at = dialog.row(&tasks);
    let area = over_screen(painter.size(), MOST_COLUMNS, tasks.len() + first_row(&tasks) + 2, 1);
    let agent = visible::one_line(&dialog.departure.0).into_owned();
    let running = amount(tasks.len() as u64, "task");
    let inside = painter.draw_box(area, &format!("{agent} has gone, {running} still running"));
    let (list, foot) = cut_bottom(inside, 2);
    let names = state.alias_columns(5);
    let top = (at.unwrap_or(0) + 1).saturating_sub(usize::from(list.height));
    let all = (first_row(&tasks) > 0).then_some(None);
    let rows = all.into_iter().chain(tasks.iter().map(Some)).enumerate().skip(top);
    painter.list(list, rows, |painter, (number, task)| {
        let is_chosen = Some(number) == at;
        let mark = piece(format!("{} ", painter.marker(is_chosen)), Role::Accent);
        let row = match task {
            None => vec![mark, piece(format!("all {running}"), Role::Strong)],
            Some(task) => vec![
                mark,
                piece(column(&alias(task), names, dots), Role::Title),
                piece(column(&painter.age(task.started_at.unwrap_or(task.created_at)), 7, dots), Role::Faint),
                piece(ports(task).map(|ports| format!("{ports}  ")).unwrap_or_default(), Role::Accent),
                piece(visible::masked_line(&task.cmd), Role::Text),
            ],
        };
        (row, is_chosen)
    });
    let keys = [
        (Action::Stop, "stop"),
        (Action::Dismiss, "keep running, ask no more"),
        (Action::Choose, "look"),
        (Action::Back, "later"),
    ];
    let keys = painter.keys(KeyContext::Left, &keys);
    painter.row(foot, 1, &keys);
}
