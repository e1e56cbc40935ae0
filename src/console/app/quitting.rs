//! Quitting: what is asked before, and what follows from the answer.

use crate::console::app::App;
use crate::console::app::layer::Layer;
use crate::console::effect::{Effect, Leave};
use crate::console::features::stop::StopQuestion;
use crate::console::keys::{Action, QuitDialogAction};
use crate::console::widgets::has_been_read;
use crate::model::phrases::READ_FIRST;

impl App {
    /// If nothing is running and no program is waiting, there is nothing to lose, so no confirmation is
    /// needed.
    pub(in crate::console) fn ask_to_quit(&mut self) {
        let has_program = self.state.ending_programs().next().is_some();
        if self.state.view.is_lost
            || (self.state.view.live() == 0 && self.state.setup.is_remote && !has_program)
        {
            self.state.effects.push(Effect::Quit(Leave::Detach));
            return;
        }
        if self.state.view.live() == 0
            && !has_program
            && !self.state.view.snapshot.agents.iter().any(|agent| agent.connected)
        {
            return self.stop_all();
        }
        self.open(Layer::Quit)
    }

    /// Asks what `serve --stop` asks, over everything else: the runtime ends in a moment.
    pub(in crate::console) fn ask_to_stop(&mut self, by: String) {
        self.stopping.question = Some(StopQuestion { by, shown_at: None });
        self.layers.retain(|layer| !matches!(layer, Layer::Quit));
        self.open(Layer::Quit);
    }

    /// Answers it; a key pressed before it could be read, and any other key, leaves it open.
    pub(in crate::console) fn answer_stop_question(&mut self, action: QuitDialogAction) {
        let shown_at = self.stopping.question.as_ref().and_then(|question| question.shown_at);
        let answer = match action {
            QuitDialogAction::StopAll => Effect::Quit(Leave::AsAsked),
            QuitDialogAction::Back => Effect::Stay,
            QuitDialogAction::Detach => {
                self.state.decline("detach: the question is whether the runtime ends");
                return self.open(Layer::Quit);
            }
        };
        if !has_been_read(shown_at, self.state.clock.now) {
            self.state.decline(READ_FIRST);
            return self.open(Layer::Quit);
        }
        self.stopping.question = None;
        self.state.effects.push(answer);
    }

    /// Ends the runtime and then the console: from now on, losing the connection to the runtime is expected.
    pub(in crate::console) fn stop_all(&mut self) {
        self.state.is_leaving = true;
        self.state.effects.push(Effect::Quit(Leave::StopAll));
    }

    pub(in crate::console) fn quit(&mut self, action: QuitDialogAction) {
        let (wanted, effect) = match action {
            QuitDialogAction::StopAll => (Action::StopAll, None),
            QuitDialogAction::Detach => (Action::Detach, Some(Effect::Quit(Leave::Detach))),
            QuitDialogAction::Back => return,
        };
        if let Err(why) = self.availability(wanted) {
            self.refuse(wanted, why);
            return self.open(Layer::Quit);
        }
        match effect {
            Some(effect) => self.state.effects.push(effect),
            None => self.stop_all(),
        }
    }
}
