//! From prompt to prompt: where a shell has marked that one begins (OSC 133), and whole past commands with it.

use crate::envelope::TaskId;

use super::super::app::{App, Mode};
use super::super::msg::{Anchor, Effect};

impl App {
    /// Looks for the prompt before what is shown, or the one after it.
    pub(super) fn seek_prompt(&mut self, forward: bool) -> Vec<Effect> {
        let Some(task) = self.at_hand().cloned() else { return Vec::new() };
        let scroll = self.scroll.as_ref().filter(|scroll| scroll.task == task.id);
        let here = match scroll {
            Some(scroll) => scroll.prompt.or_else(|| scroll.page.as_ref().map(|page| page.first_line)),
            None if forward => {
                self.toasts.say("the end is shown already", None, self.now);
                return Vec::new();
            }
            None => None,
        };
        match here {
            Some(line) => self.look_for_prompt(task.id.clone(), line, forward),
            // At the end stands the prompt that waits for the next command: what is meant is the one before.
            None => vec![Effect::Prompt { task: task.id.clone(), from: None, forward: false }],
        }
    }

    /// The same from the row of the cursor while copying.
    pub(super) fn copy_to_prompt(&mut self, forward: bool) -> Vec<Effect> {
        let Mode::Copy(copying) = &self.mode else { return Vec::new() };
        let Some(line) = copying.lines.get(usize::from(copying.at.0)).copied() else {
            self.toasts.say("this picture has no lines to go by", None, self.now);
            return Vec::new();
        };
        let task = copying.task.clone();
        self.look_for_prompt(task, line, forward)
    }

    fn look_for_prompt(&mut self, task: TaskId, line: u64, forward: bool) -> Vec<Effect> {
        let from = if forward { line.checked_add(1) } else { line.checked_sub(1) };
        match from {
            Some(_) => vec![Effect::Prompt { task, from, forward }],
            None => self.no_prompt(forward),
        }
    }

    /// Shows the prompt that was found.
    pub(super) fn prompted(&mut self, task: TaskId, line: Option<u64>, forward: bool) -> Vec<Effect> {
        let Some(line) = line else { return self.no_prompt(forward) };
        let rows = self.plan().pane(&task).map_or(1, |pane| pane.cells.height);
        if let Mode::Copy(copying) = &mut self.mode {
            if copying.task != task {
                return Vec::new();
            }
            if let Some(row) = copying.row_of(line) {
                copying.go((row, 0), rows);
                return Vec::new();
            }
            if copying.anchor.is_some() {
                self.toasts.say("that prompt is further away than can be selected at once", None, self.now);
                return Vec::new();
            }
            return self.copy_from(Anchor::Top(line));
        }
        if self.at_hand().is_none_or(|shown| shown.id != task) {
            return Vec::new();
        }
        // Whether a whole page follows it is known to who reads the log; its length is told here a little later.
        let anchor = Anchor::Top(line);
        let effects = self.turn_to(task, anchor);
        if let Some(scroll) = self.scroll.as_mut().filter(|scroll| scroll.wanted == anchor) {
            scroll.prompt = Some(line);
        }
        self.mark_matches();
        effects
    }

    fn no_prompt(&mut self, forward: bool) -> Vec<Effect> {
        let text = if forward {
            "no later prompt that the shell has marked"
        } else {
            "no earlier prompt that the shell has marked (OSC 133)"
        };
        self.toasts.say(text, None, self.now);
        Vec::new()
    }
}
