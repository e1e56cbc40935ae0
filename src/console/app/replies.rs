//! What features ask for is carried out here: only the app changes what all of them read.

use crate::console::app::App;
use crate::console::effect::FeatureReply;
use crate::console::state::State;
use crate::envelope::TaskId;

impl State {
    pub(super) fn reply(&mut self, replies: impl IntoIterator<Item = FeatureReply>) {
        for reply in replies {
            match reply {
                FeatureReply::Do(effect) => self.effects.push(effect),
                FeatureReply::Say(text) => self.say(text),
                FeatureReply::About(text, call) => self.toasts.say(text, Some(call), self.clock.now),
                FeatureReply::Decline(text) => self.decline(text),
                FeatureReply::Fail(text) => self.toasts.fail(text, None),
                FeatureReply::Read(reader) => {
                    self.toasts.pass();
                    self.reader = Some(*reader);
                }
            }
        }
    }
}

impl App {
    /// Rings for what has come to wait for the person.
    pub(super) fn ring(&mut self) {
        self.state.effects.extend(self.attention.ring(&self.state));
    }

    /// Rings for a task by a rule that the person has written.
    pub(super) fn watch_for(&mut self, task: &TaskId, text: &str) {
        let Some(view) = self.state.view.task(task) else { return };
        match self.attention.watch_for(view, text) {
            Ok(told) => self.state.say(told),
            Err(why) => return self.state.toasts.fail(why, None),
        }
        self.state.view.usage.renew();
        self.ring();
    }
}
