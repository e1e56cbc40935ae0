//! What is asked of the state by many: the selected task, the program and the call on screen.

use std::sync::Arc;

use crate::console::keys::KeyContext;
use crate::console::state::agents::owner;
use crate::console::state::call_rows::is_script_poll;
use crate::console::state::calls::RulingFilter;
use crate::console::state::copying::CopyMode;
use crate::console::state::focus::{Mode, Prompt, Screen};
use crate::console::state::layout::Pane;
use crate::console::state::listing::PointedRow;
use crate::console::state::listing::rows::{ListRow, ListRows, SelectableRow};
use crate::console::state::{State, names};
use crate::console::theme::Role;
use crate::envelope::{Actor, TaskId};
use crate::model::{AgentView, CallRecord, CallSummary, HeldCall, ProgramView, Question, TaskFact, TaskView};

/// The colours of agents, in the order in which they connected.
pub(in crate::console) const COLOURS: [Role; 4] = [Role::Agent1, Role::Agent2, Role::Agent3, Role::Agent4];

/// The most tasks that are named as having run at the same time.
const MOST_SHARED: usize = 4;

impl State {
    /// Returns the role an actor is drawn in: an agent keeps its colour as long as the runtime runs.
    pub(crate) fn role_of(&self, actor: &Actor) -> Role {
        let Actor::Agent(label) = actor else { return Role::Faint };
        let agents = &self.view.snapshot.agents;
        let place = agents.iter().position(|agent| agent.label == *label);
        // An unlisted agent, as in an old recording, gets a colour derived from its name.
        let place = place.unwrap_or_else(|| label.bytes().map(usize::from).sum());
        COLOURS.get(place % COLOURS.len()).copied().unwrap_or(Role::Faint)
    }

    /// Returns the copy mode state, while it is active.
    pub fn copying(&self) -> Option<&CopyMode> {
        if let Mode::Copy(copying) = &self.focus.mode { Some(copying) } else { None }
    }

    /// Returns the context of the current screen, ignoring any layers over it.
    pub fn view_context(&self) -> KeyContext {
        match self.focus.screen {
            _ if self.reader.is_some() => KeyContext::Text,
            _ if self.replay.is_some() => KeyContext::Replay,
            Screen::Tasks => KeyContext::Tasks,
            Screen::Focus => KeyContext::Focus,
            Screen::Receipts => KeyContext::Receipts,
            Screen::Metrics => KeyContext::Metrics,
            Screen::Program => KeyContext::Program,
        }
    }

    /// Returns the program on screen.
    pub fn program(&self) -> Option<&Arc<ProgramView>> {
        let programs = &self.view.snapshot.programs;
        let chosen = programs.iter().find(|program| self.programs.run.as_ref() == Some(&program.run));
        chosen
            .or_else(|| programs.iter().rev().find(|program| !program.state.is_terminal()))
            .or(programs.last())
    }

    /// Returns the oldest open question of the program on screen; one that a command is working on only if
    /// there is no other.
    pub fn program_question(&self) -> Option<&Arc<Question>> {
        let run = &self.program()?.run;
        let own = || {
            self.view.snapshot.questions.iter().filter(|question| question.origin.run.as_ref() == Some(run))
        };
        own().find(|question| question.needs_somebody()).or_else(|| own().next())
    }

    /// Returns the program's commands that may have the pane: the running ones, or else the last one.
    pub fn program_tasks(&self) -> Vec<TaskId> {
        let Some(program) = self.program() else { return Vec::new() };
        let known = |id: &&TaskId| self.view.task(id).is_some();
        let mut live: Vec<TaskId> = program.live_tasks().filter(known).cloned().collect();
        live.dedup();
        if !live.is_empty() {
            return live;
        }
        let all = program.steps.iter().filter_map(|step| step.task.as_ref()).filter(known);
        let last = all.max_by_key(|id| self.view.task(id).map(|task| names::born(task)));
        last.cloned().into_iter().collect()
    }

    /// Returns the command that has the pane: one that is typed into, copied from or scrolled back keeps it.
    pub fn program_task(&self) -> Option<TaskId> {
        let frozen = self.reading.scroll.as_ref().map(|scroll| &scroll.task);
        let kept = self.focus.mode.task().or(frozen).filter(|id| self.view.task(id).is_some());
        if let Some(kept) = kept.filter(|_| self.focus.screen == Screen::Program) {
            return Some(kept.clone());
        }
        let tasks = self.program_tasks();
        let at = self.programs.task_at.min(tasks.len().saturating_sub(1));
        tasks.get(at).cloned()
    }

    /// Returns the possible recipients: `nearest` or the current agent, followed by the other connected
    /// agents.
    pub(in crate::console) fn agents_to_tell(&self, nearest: Option<String>) -> Vec<String> {
        let agents = &self.view.snapshot.agents;
        let nearest = nearest.or_else(|| self.agent_at_hand());
        let nearest = nearest.filter(|label| agents.iter().any(|agent| agent.label == *label));
        let connected = agents.iter().filter(|agent| agent.connected).map(|agent| agent.label.clone());
        let others: Vec<String> = connected.filter(|label| Some(label) != nearest.as_ref()).collect();
        nearest.into_iter().chain(others).collect()
    }

    /// Tells whether there is any recipient.
    pub(in crate::console) fn has_agent(&self) -> bool {
        !self.agents_to_tell(None).is_empty()
    }

    /// Returns the agent whose task or call is selected.
    pub(in crate::console) fn agent_at_hand(&self) -> Option<String> {
        if self.focus.screen == Screen::Receipts {
            return self.shown_call().and_then(|call| owner(&call.actor));
        }
        let pointed = self.agent_pointed_at().map(|agent| agent.label.clone());
        pointed.or_else(|| self.at_hand().and_then(|task| owner(&task.started_by)))
    }

    /// Returns the call shown on the receipts screen or at the side of the tasks screen.
    pub fn shown_call(&self) -> Option<&Arc<CallSummary>> {
        if self.focus.screen == Screen::Receipts {
            return match self.calls.selected {
                Some(seq) => self.view.newest_calls().find(|call| call.seq == seq),
                None if self.calls.filter.is_empty() && self.calls.ruling == RulingFilter::All => {
                    self.newest_calls().find(|call| !is_script_poll(call))
                }
                None => self.call_rows().first().map(|row| row.call),
            };
        }
        // Beside a task: what its agent was last told.
        let task = self.selected_task()?;
        // A batch answers for all its items at once, and shows its progress until then.
        if task.item.is_some() {
            return self.view.newest_calls().find(|call| call.seq == task.call);
        }
        let mut about = self.view.newest_calls().filter(|call| call.task.as_ref() == Some(&task.id));
        about.find(|call| call.actor != Actor::Operator && call.status.is_some())
    }

    /// Returns the record of the current call, once it has been answered and fetched.
    pub fn shown_record(&self) -> Option<Arc<CallRecord>> {
        let record = self.view.records.get(&self.shown_call()?.seq)?;
        record.envelope.is_some().then(|| Arc::clone(record))
    }

    /// Returns the tasks in screen order, one for each row of the list. Includes the selected task even if
    /// the filter no longer matches it: what the user is looking at never vanishes by itself.
    pub fn tasks(&self) -> Vec<&Arc<TaskView>> {
        let listed = self.list_rows();
        listed.rows.iter().filter_map(|row| self.task_in(row)).collect()
    }

    /// Returns the rows of the list that can be selected, in screen order.
    pub(crate) fn selectable(&self) -> Vec<SelectableRow<'_>> {
        let listed = self.list_rows();
        let of = |row: &ListRow| match row {
            ListRow::Held(at) => self.view.snapshot.gate.held.get(*at).map(SelectableRow::Batch),
            ListRow::Agent(at) => self.view.snapshot.agents.get(*at).map(SelectableRow::Agent),
            row => self.task_in(row).map(SelectableRow::Task),
        };
        listed.rows.iter().filter_map(of).collect()
    }

    /// Returns the selected task; none while a row is pointed at that is no task's, or if it has been cleared.
    pub fn selected_task(&self) -> Option<&Arc<TaskView>> {
        let is_listed = |id: &&TaskId| self.pointed_row().is_none() && !self.view.cleared.contains(*id);
        self.list.selected.as_ref().filter(is_listed).and_then(|id| self.view.task(id))
    }

    /// Returns the short name of a task, or its id if it is no longer listed.
    pub(in crate::console) fn name_of(&self, id: &TaskId) -> String {
        self.view.task(id).map_or_else(|| id.to_string(), |task| names::short_alias(task))
    }

    /// Returns the row that is pointed at instead of a task.
    fn pointed_row(&self) -> Option<&PointedRow> {
        self.list.pointed.as_ref().filter(|_| self.focus.screen == Screen::Tasks)
    }

    /// Says which tasks ran at the same time, a few by name; nothing if none did.
    pub(in crate::console) fn shared_with(&self, tasks: &[TaskId]) -> Option<String> {
        let mut named: Vec<String> = tasks.iter().take(MOST_SHARED).map(|id| self.name_of(id)).collect();
        named.extend((tasks.len() > MOST_SHARED).then(|| "others".to_owned()));
        (!named.is_empty()).then(|| format!("shared with {}", named.join(" ")))
    }

    /// Says which tasks are one entry: `t03 to t10, together`.
    pub(in crate::console) fn together(&self, tasks: &[TaskId]) -> Option<String> {
        let (first, last) = (tasks.first()?, tasks.last()?);
        Some(format!("{} to {}, together", self.name_of(first), self.name_of(last)))
    }

    /// Returns the batch to approve that is pointed at in the list.
    pub fn batch_at_hand(&self) -> Option<&HeldCall> {
        let PointedRow::Batch(ticket) = self.pointed_row()? else { return None };
        self.view.snapshot.gate.held.iter().find(|held| held.ticket == *ticket)
    }

    /// Returns the agent that is pointed at in the list, as long as it has a row there.
    pub fn agent_pointed_at(&self) -> Option<&AgentView> {
        let PointedRow::Agent(label) = self.pointed_row()? else { return None };
        let agents = &self.view.snapshot.agents;
        let at = agents.iter().position(|agent| agent.label == *label)?;
        agents.get(at).filter(|_| self.list_rows().rows.contains(&ListRow::Agent(at)))
    }

    /// Tells whether the row that is pointed at instead of a task is gone.
    pub(in crate::console) fn pointed_is_gone(&self) -> bool {
        self.pointed_row().is_some_and(|row| *row != PointedRow::Nothing)
            && self.batch_at_hand().is_none()
            && self.agent_pointed_at().is_none()
    }

    /// Returns the current task, which keys act on: the command of the program on screen, or else the
    /// selected task.
    pub fn at_hand(&self) -> Option<&Arc<TaskView>> {
        match self.focus.screen {
            Screen::Program => self.program_task().and_then(|id| self.view.task(&id)),
            _ => self.selected_task(),
        }
    }

    /// Returns the index of the selected row among those that can be selected.
    pub fn selected_at(&self) -> Option<usize> {
        self.selectable().iter().position(|row| self.is_selected(row))
    }

    fn is_selected(&self, row: &SelectableRow<'_>) -> bool {
        match row {
            SelectableRow::Batch(held) => {
                self.batch_at_hand().is_some_and(|batch| batch.ticket == held.ticket)
            }
            SelectableRow::Agent(agent) => {
                self.agent_pointed_at().is_some_and(|pointed| pointed.label == agent.label)
            }
            SelectableRow::Task(task) => self.selected_task().is_some_and(|selected| selected.id == task.id),
        }
    }

    /// Returns the programs that would end with this console; most of them are waiting for somebody.
    pub fn ending_programs(&self) -> impl Iterator<Item = &Arc<ProgramView>> {
        let ends = !self.setup.is_remote || self.setup.shows_run;
        self.view.snapshot.programs.iter().filter(move |program| ends && !program.state.is_terminal())
    }

    /// Returns the task that has waited longest for the user, on stronger evidence than silence, unless the
    /// user is typing into it.
    pub fn waiter(&self) -> Option<&Arc<TaskView>> {
        self.waiter_of(|_| true)
    }

    /// Returns the one of certain tasks that has waited longest.
    pub(in crate::console) fn waiter_of(
        &self,
        is_of_those: impl Fn(&TaskView) -> bool,
    ) -> Option<&Arc<TaskView>> {
        let since = |task: &&Arc<TaskView>| {
            let waiting = task.certain_wait()?;
            (self.typing_into() != Some(&task.id)).then_some(waiting.since)
        };
        let those = self.view.snapshot.tasks.iter().filter(|task| is_of_those(task));
        let waiting = those.filter(|task| since(task).is_some());
        waiting.min_by_key(since)
    }

    /// Returns the task that keystrokes are sent to.
    pub fn typing_into(&self) -> Option<&TaskId> {
        match &self.focus.mode {
            Mode::Input(task) | Mode::Write(Prompt::Line(task), _) => Some(task),
            Mode::Copy(copying) if copying.was_input => Some(&copying.task),
            Mode::Observe | Mode::Copy(_) | Mode::Write(..) => None,
        }
    }

    /// Tells whether somebody has held the input of the selected task.
    pub(in crate::console) fn has_lease_event(&self) -> bool {
        let is_lease = |fact: &TaskFact| matches!(fact, TaskFact::Lease);
        self.selected_task().is_some_and(|task| task.events.iter().any(|event| is_lease(&event.fact)))
    }

    /// Returns the first column that a pane shows: where it was panned to or, for a program that is on the alternate screen
    /// or typed into, far enough to include the cursor.
    pub(in crate::console) fn first_column(&self, pane: &Pane) -> u16 {
        let pan = if self.at_hand().is_some_and(|task| task.id == pane.task) { self.reading.pan } else { 0 };
        let is_still = self.reading.scroll.as_ref().is_some_and(|scroll| scroll.task == pane.task)
            || self.copying().is_some_and(|copying| copying.task == pane.task);
        let Some(picture) = self.view.pictures.get(&pane.task).filter(|_| pan == 0 && !is_still) else {
            return pan;
        };
        picture.first_column(pane.cells.width, self.typing_into() == Some(&pane.task))
    }

    /// Returns the contents of the list. On screens other than the tasks screen, this is every task, newest
    /// first.
    pub(crate) fn list_rows(&self) -> Arc<ListRows> {
        self.list.list_rows(
            (&self.view.snapshot, &self.view.cleared),
            self.focus.screen == Screen::Tasks,
            self.clock.now,
        )
    }

    /// Returns the task in a row of the list.
    pub(crate) fn task_in(&self, row: &ListRow) -> Option<&Arc<TaskView>> {
        match row {
            ListRow::Task { at, .. } => self.view.snapshot.tasks.get(*at),
            ListRow::Agent(_) | ListRow::Head(_) | ListRow::Held(_) | ListRow::Ended => None,
        }
    }

    /// Returns the index of the selected row.
    pub(in crate::console) fn selected_row(&self) -> Option<usize> {
        let (task, batch) = (self.selected_task(), self.batch_at_hand().map(|held| held.ticket));
        let held = &self.view.snapshot.gate.held;
        let agent = self.agent_pointed_at().map(|agent| agent.label.as_str());
        let agents = &self.view.snapshot.agents;
        self.list_rows().rows.iter().position(|row| match row {
            ListRow::Held(at) => batch.is_some() && held.get(*at).map(|held| held.ticket) == batch,
            ListRow::Agent(at) => agent.is_some() && agents.get(*at).map(|agent| &*agent.label) == agent,
            row => self.task_in(row).zip(task).is_some_and(|(one, task)| one.id == task.id),
        })
    }
}
