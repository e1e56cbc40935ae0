//! The terminal around the console, and what programs in panes are told of it: its colours, its focus, and the mouse
//! passing over them.

use crate::config::Mouse;
use crate::console::effect::Effect;
use crate::console::state::State;
use crate::console::state::focus::Mode;
use crate::console::state::input::{takes_input, wants_secret};
use crate::envelope::TaskId;
use crate::model::Input;
use crate::terminal::{Modes, MouseMode};

const FOCUS_IN: &[u8] = b"\x1b[I";

const FOCUS_OUT: &[u8] = b"\x1b[O";

impl State {
    /// Tells programs that want to know it whether they have the focus, and has the mouse followed for one that wants
    /// that. Both concern the task that is typed into.
    pub(in crate::console) fn tell_programs(&mut self, has_dialog: bool) {
        let has_focus = !self.outer.is_elsewhere;
        let focused = self.typing_into().filter(|task| has_focus && self.hears_of_focus(task)).cloned();
        if focused != self.outer.focused {
            let last = std::mem::replace(&mut self.outer.focused, focused.clone());
            let last = last.filter(|task| self.hears_of_focus(task));
            let reports =
                last.map(|task| (task, FOCUS_OUT)).into_iter().chain(focused.map(|task| (task, FOCUS_IN)));
            self.effects
                .extend(reports.map(|(task, report)| Effect::send(task, Input::Report(report.to_vec()))));
        }
        let hovers = !has_dialog && self.wants_hover();
        if hovers != self.outer.hovers {
            self.outer.hovers = hovers;
            self.effects.push(Effect::Hover(hovers));
        }
    }

    /// Tells whether a program wants to know whether it has the focus. One that asks for a secret may have been preceded
    /// by one that did.
    fn hears_of_focus(&self, task: &TaskId) -> bool {
        let can_hear = self.view.task(task).is_some_and(|task| takes_input(task) && !wants_secret(task));
        can_hear && self.modes_of(task).is_some_and(|modes| modes.focus_events)
    }

    fn wants_hover(&self) -> bool {
        let Mode::Input(task) = &self.mode else { return false };
        let is_full = self.has_mouse && self.setup.ui.mouse != Mouse::Wheel;
        let is_seen = is_full && self.scroll.is_none();
        is_seen && self.modes_of(task).is_some_and(|modes| modes.mouse == MouseMode::AnyMotion)
    }

    fn modes_of(&self, task: &TaskId) -> Option<Modes> {
        self.view.pictures.get(task).map(|picture| picture.modes)
    }
}
