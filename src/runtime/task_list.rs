//! The tasks shown in snapshots. The most recently ended tasks stay in memory; the record has all of them. Pure.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use crate::envelope::TaskId;
use crate::model::{TaskState, TaskUpdate, TaskView};

/// Ended tasks kept in memory.
const KEPT: usize = 500;
/// The same while the record cannot be written, because their end may not be in it.
const KEPT_UNRECORDED: usize = 2_000;
/// Length limit of a command in a snapshot, in characters.
const COMMAND_CHARS: usize = 1_000;
/// Bytes of long commands of ended tasks that are kept in full.
const WHOLE_BYTES: usize = 16 << 20;

/// All live tasks and the most recently ended ones, in order of creation. A task that has not changed keeps its place
/// and its allocation.
#[derive(Debug, Default)]
pub(super) struct RecentTasks {
    tasks: Vec<Arc<TaskView>>,
    /// Numbers of the ended tasks, in the order they ended.
    ended: VecDeque<u32>,
    left: u64,
    /// Numbers of the tasks that were changed and not published since.
    changed: Vec<u32>,
}

impl RecentTasks {
    /// Adds a task or updates its view.
    pub(super) fn show(&mut self, view: &Arc<TaskView>) {
        match self.find(view.number) {
            Ok(at) if Arc::ptr_eq(&self.tasks[at], view) => {}
            Ok(at) => {
                self.tasks[at] = view.clone();
                self.changed.push(view.number);
            }
            Err(at) => self.tasks.insert(at, view.clone()),
        }
    }

    /// Updates a task that has ended. The oldest ended tasks are dropped; more of them are kept while the record is
    /// incomplete.
    pub(super) fn end(&mut self, view: &Arc<TaskView>, is_recorded: bool) {
        self.show(view);
        self.ended.push_back(view.number);
        let most = if is_recorded { KEPT } else { KEPT_UNRECORDED };
        while self.ended.len() > most
            && let Some(oldest) = self.ended.pop_front()
        {
            self.tasks.retain(|task| task.number != oldest);
            self.left += 1;
        }
    }

    pub(super) fn get(&self, id: &TaskId) -> Option<&Arc<TaskView>> {
        self.tasks.iter().rfind(|view| view.id == *id)
    }

    pub(super) fn list(&self) -> Vec<Arc<TaskView>> {
        self.tasks.clone()
    }

    /// Takes the numbers of the tasks that were changed since the last time.
    pub(super) fn take_changed(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.changed)
    }

    /// Returns how many tasks are no longer in memory.
    pub(super) fn left_count(&self) -> u64 {
        self.left
    }

    /// Applies a change to a task that has ended.
    pub(super) fn apply(&mut self, id: &TaskId, update: TaskUpdate) {
        let ended = &self.ended;
        let is_it = |view: &&mut Arc<TaskView>| view.id == *id && ended.contains(&view.number);
        if let Some(view) = self.tasks.iter_mut().find(is_it) {
            let mut state = TaskState::new(TaskView::clone(view));
            state.apply(update);
            *view = Arc::clone(state.view());
            self.changed.push(view.number);
        }
    }

    /// Removes a task that has ended.
    pub(super) fn remove(&mut self, id: &TaskId) {
        let number = self.get(id).map(|view| view.number);
        if let Some(at) = self.ended.iter().position(|ended| Some(*ended) == number) {
            self.ended.remove(at);
            self.tasks.retain(|view| view.id != *id);
        }
    }

    fn find(&self, number: u32) -> Result<usize, usize> {
        self.tasks.binary_search_by_key(&number, |view| view.number)
    }
}

/// The full commands that snapshots truncate.
#[derive(Debug, Default)]
pub(super) struct Commands {
    whole: HashMap<TaskId, Arc<str>>,
    ended: VecDeque<(TaskId, usize)>,
    bytes: usize,
}

impl Commands {
    pub(super) fn get(&self, id: &TaskId) -> Option<Arc<str>> {
        self.whole.get(id).cloned()
    }

    /// Keeps the command of a new task, if a snapshot would truncate it.
    pub(super) fn begin(&mut self, id: &TaskId, cmd: &str) {
        if cut(cmd).is_some() {
            self.whole.insert(id.clone(), cmd.into());
        }
    }

    /// Marks a task as ended: its command is kept as long as there is room.
    pub(super) fn end(&mut self, id: &TaskId) {
        let Some(cmd) = self.whole.get(id) else { return };
        self.bytes += cmd.len();
        self.ended.push_back((id.clone(), cmd.len()));
        while self.bytes > WHOLE_BYTES
            && let Some((oldest, bytes)) = self.ended.pop_front()
        {
            self.whole.remove(&oldest);
            self.bytes -= bytes;
        }
    }
}

/// Returns the beginning of a command that is too long for a snapshot, and the number of characters in the whole
/// command.
pub(super) fn cut(cmd: &str) -> Option<(String, u64)> {
    if cmd.len() <= COMMAND_CHARS {
        return None;
    }
    let (end, _) = cmd.char_indices().nth(COMMAND_CHARS)?;
    let chars = cmd.chars().count();
    let head = cmd.get(..end)?;
    Some((format!("{head} …(+{} characters)", chars - COMMAND_CHARS), chars as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_cut_between_characters_and_says_by_how_much() {
        assert_eq!(cut(&"é".repeat(1_000)), None);
        let (text, chars) = cut(&"é".repeat(1_500)).expect("cut");
        assert_eq!((text, chars), (format!("{} …(+500 characters)", "é".repeat(1_000)), 1_500));
    }

    #[test]
    fn long_commands_of_ended_tasks_take_a_bounded_part_of_memory() {
        let mut commands = Commands::default();
        let ids: Vec<TaskId> = (0..32).map(|n| TaskId::from_random([n; 8])).collect();
        for id in &ids {
            commands.begin(id, &"x".repeat(1 << 20));
        }
        assert!(ids.iter().all(|id| commands.get(id).is_some()), "those of live tasks all stay");
        ids.iter().for_each(|id| commands.end(id));
        assert_eq!(commands.whole.len(), 16);
        assert!(commands.get(&ids[0]).is_none() && commands.get(&ids[31]).is_some());
    }
}
