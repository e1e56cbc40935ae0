//! What is looked up in the log of a task: pages, matches, prompts, the last output, what was seen of it.

use std::sync::Arc;

use super::driver::Driver;
use crate::console::app::coverage::ShownCommand;
use crate::console::msg::Effect;

impl Driver {
    /// Looks something up, beside the loop. Of a task that is known no longer there is nothing to look up.
    pub(in crate::console) fn look_up(&mut self, effect: Effect) {
        if let Effect::Coverage { call, shown } = effect {
            let known = |shown: ShownCommand| {
                let task = shown.task.as_ref().ok().and_then(|id| self.app.view.task(id)).map(Arc::clone);
                (shown, task)
            };
            let shown = shown.into_iter().map(known).collect();
            return self.effects.seen(call, shown);
        }
        let (Effect::Page { task: id, .. }
        | Effect::Search(id, _)
        | Effect::Prompt { task: id, .. }
        | Effect::Replay(id)
        | Effect::LastOutput(id)) = &effect
        else {
            return;
        };
        let Some(task) = self.app.view.task(id).map(Arc::clone) else { return };
        match effect {
            Effect::Page { anchor, size, .. } => self.effects.page(task, anchor, size),
            Effect::Search(_, query) => self.effects.search(task, query),
            Effect::Prompt { from, forward, .. } => self.effects.prompt(task, from, forward),
            Effect::Replay(_) => self.effects.replay(task),
            Effect::LastOutput(_) => self.effects.last_output(task),
            _ => {}
        }
    }
}
