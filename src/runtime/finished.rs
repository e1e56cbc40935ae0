//! Tasks that have ended: the newest stay at hand, the record has all of them. Pure.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use super::view::TaskView;
use crate::envelope::TaskId;

/// Ended tasks kept at hand.
const KEPT: usize = 500;
/// And while the record cannot be written: their end may not be on it.
const KEPT_UNRECORDED: usize = 2_000;
/// Characters of a command in a snapshot.
const COMMAND_CHARS: usize = 1_000;
/// Bytes of long commands of ended tasks that are kept whole.
const WHOLE_BYTES: usize = 16 << 20;

/// The newest tasks that have ended, in the order of their ends, as snapshots show them.
#[derive(Debug, Default)]
pub(super) struct Finished {
    kept: VecDeque<Arc<TaskView>>,
    left: u64,
}

impl Finished {
    /// Takes in a task that has ended. The oldest leave, unless the record lacks what it should have.
    pub(super) fn push(&mut self, view: Arc<TaskView>, is_recorded: bool) {
        self.kept.push_back(view);
        let most = if is_recorded { KEPT } else { KEPT_UNRECORDED };
        while self.kept.len() > most {
            self.kept.pop_front();
            self.left += 1;
        }
    }

    pub(super) fn get(&self, id: &TaskId) -> Option<&Arc<TaskView>> {
        self.kept.iter().find(|view| view.id == *id)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Arc<TaskView>> {
        self.kept.iter()
    }

    /// Returns how many are no longer at hand.
    pub(super) fn left(&self) -> u64 {
        self.left
    }

    pub(super) fn rename(&mut self, id: &TaskId, name: Option<String>) {
        if let Some(view) = self.kept.iter_mut().find(|view| view.id == *id) {
            Arc::make_mut(view).name = name;
        }
    }

    pub(super) fn remove(&mut self, id: &TaskId) {
        self.kept.retain(|view| view.id != *id);
    }
}

/// Commands that snapshots show only the beginning of.
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

    /// Keeps the command of a task that begins, when a snapshot does not show all of it.
    pub(super) fn begin(&mut self, id: &TaskId, cmd: &str) {
        if cut(cmd).is_some() {
            self.whole.insert(id.clone(), cmd.into());
        }
    }

    /// A task has ended: its command stays for as long as there is room.
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

/// Returns the beginning of a command that is too long for a snapshot, and how many characters it has.
pub(super) fn cut(cmd: &str) -> Option<(String, u64)> {
    if cmd.len() <= COMMAND_CHARS {
        return None;
    }
    let (end, _) = cmd.char_indices().nth(COMMAND_CHARS)?;
    let chars = cmd.chars().count();
    let head = cmd.get(..end)?;
    Some((format!("{head} …(+{} characters)", chars - COMMAND_CHARS), chars as u64))
}

impl TaskView {
    /// Returns the task as a snapshot shows it.
    pub(super) fn shortened(self: Arc<Self>) -> Arc<Self> {
        match cut(&self.cmd) {
            None => self,
            Some((cmd, chars)) => {
                let mut short = Arc::unwrap_or_clone(self);
                (short.cmd, short.cmd_chars) = (cmd, Some(chars));
                Arc::new(short)
            }
        }
    }
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
