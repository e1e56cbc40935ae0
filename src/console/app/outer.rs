//! The terminal around the console, and what programs in panes are told of it: its colours, its focus, and the mouse
//! passing over them.

use crate::config::Mouse;
use crate::console::effect::Effect;
use crate::console::state::{Mode, State, takes_input, wants_secret};
use crate::envelope::TaskId;
use crate::model::TypedInput;
use crate::terminal::{Modes, MouseMode};

const FOCUS_IN: &[u8] = b"\x1b[I";

const FOCUS_OUT: &[u8] = b"\x1b[O";

/// Tells whether a program wants to know whether it has the focus. One that asks for a secret may have been preceded
/// by one that did.
fn hears_of_focus(state: &State, task: &TaskId) -> bool {
    let can_hear = state.view.task(task).is_some_and(|task| takes_input(task) && !wants_secret(task));
    can_hear && modes_of(state, task).is_some_and(|modes| modes.focus_events)
}

fn wants_hover(state: &State) -> bool {
    let Mode::Input(task) = &state.focus.mode else { return false };
    let is_full = state.outer.has_mouse && state.setup.ui.console.mouse != Mouse::Wheel;
    let is_seen = is_full && state.reading.scroll.is_none();
    is_seen && modes_of(state, task).is_some_and(|modes| modes.mouse == MouseMode::AnyMotion)
}

fn modes_of(state: &State, task: &TaskId) -> Option<Modes> {
    state.view.pictures.get(task).map(|picture| picture.modes)
}

impl State {
    /// Tells programs that want to know it whether they have the focus, and has the mouse followed for one that wants
    /// that. Both concern the task that is typed into.
    pub(super) fn tell_programs(&mut self, has_dialog: bool) {
        let has_focus = !self.outer.is_elsewhere;
        let focused = self.typing_into().filter(|task| has_focus && hears_of_focus(self, task)).cloned();
        if focused != self.outer.focused {
            let last = std::mem::replace(&mut self.outer.focused, focused.clone());
            let last = last.filter(|task| hears_of_focus(self, task));
            let reports =
                last.map(|task| (task, FOCUS_OUT)).into_iter().chain(focused.map(|task| (task, FOCUS_IN)));
            self.effects.extend(
                reports.map(|(task, report)| Effect::send(task, TypedInput::Report(report.to_vec()))),
            );
        }
        let hovers = !has_dialog && wants_hover(self);
        if hovers != self.outer.hovers {
            self.outer.hovers = hovers;
            self.effects.push(Effect::Hover(hovers));
        }
    }
}
