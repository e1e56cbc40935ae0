//! quit.

use super::dialog::{dialog, key_row};
use crate::runtime::RunState;

use super::layout::Layout;
use super::painter::Painter;
use super::{App, Layer, alias};
use crate::console::keys::action::Action;
use crate::console::keys::keymap::Context;
use crate::console::looks::theme::Role;
use crate::console::msg::{Effect, Leave};
use crate::console::text::document::piece;
use crate::console::text::{column, visible};

impl App {
    /// With nothing running, and no program that waits, there is nothing to lose: no question.
    pub(super) fn ask_to_quit(&mut self) {
        let has_program = self.ending_programs().next().is_some();
        if self.is_lost || (self.live() == 0 && self.setup.is_remote && !has_program) {
            self.effects.push(Effect::Quit(Leave::LeaveRunning));
            return;
        }
        if self.live() == 0 && !has_program && !self.snapshot.agents.iter().any(|agent| agent.connected) {
            return self.stop_all();
        }
        self.open(Layer::Quit)
    }

    /// Ends the runtime and then the console: from now on, that the runtime goes away is no loss.
    pub(super) fn stop_all(&mut self) {
        self.is_leaving = true;
        self.effects.push(Effect::Quit(Leave::StopAll));
    }

    pub(super) fn quit(&mut self, action: Action) {
        match action {
            Action::StopAll if self.can(action) => self.stop_all(),
            Action::LeaveRunning if self.can(action) => self.effects.push(Effect::Quit(Leave::LeaveRunning)),
            _ => self.open(Layer::Quit),
        }
    }
}

pub(super) fn draw_quit(painter: &mut Painter<'_>, layout: &Layout) {
    let app = painter.app;
    let dots = painter.glyphs().cut;
    let live: Vec<_> = app.all_tasks().into_iter().filter(|task| !task.status.is_terminal()).collect();
    let mut rows = Vec::new();
    for task in live.iter().take(6) {
        let state = painter.state(task);
        rows.push(vec![
            piece(format!("{} ", state.glyph), state.role),
            piece(column(&alias(task), 6, dots), Role::Text),
            piece(visible::told(&task.cmd), Role::Text),
        ]);
    }
    if live.len() > 6 {
        rows.push(vec![piece(format!("and {} more", live.len() - 6), Role::Faint)]);
    }
    let programs: Vec<_> = app.ending_programs().cloned().collect();
    for program in &programs {
        let name = program.path.file_name().unwrap_or_default().to_string_lossy();
        let glyph = painter.glyphs().states[if program.state == RunState::Asking { 2 } else { 1 }];
        let what = match program.state {
            RunState::Asking => "  waits for an answer; it ends, and can be gone on with",
            _ => "  ends, and can be gone on with",
        };
        rows.push(vec![
            piece(format!("{glyph} "), Role::Waiting),
            piece(visible::one_line(&name).into_owned(), Role::Text),
            piece(what, Role::Faint),
        ]);
    }
    let connected = app.snapshot.agents.iter().filter(|agent| agent.connected).count();
    if connected > 0 {
        let agents = if connected == 1 { "1 agent is".to_owned() } else { format!("{connected} agents are") };
        rows.push(vec![piece(format!("{agents} connected"), Role::Faint)]);
    }
    let goes_on = match (app.setup.is_remote, live.is_empty()) {
        (true, false) => "The tasks go on when this console is left.",
        (true, true) => "The runtime goes on when this console is left.",
        (false, false) => "The runtime is in this console: its tasks end with it.",
        (false, true) => "The runtime is in this console and ends with it.",
    };
    rows.push(vec![piece(goes_on, Role::Text)]);
    rows.push(Vec::new());
    let stop = if live.is_empty() { "end it and quit" } else { "stop all and quit" };
    let leave = if programs.is_empty() { "leave running" } else { "end the program, leave the rest" };
    let ways = [(Action::LeaveRunning, leave), (Action::StopAll, stop)];
    let mut keys: Vec<_> = ways.into_iter().filter(|(action, _)| app.can(*action)).collect();
    keys.push((Action::Back, "stay"));
    rows.push(key_row(painter, Context::Quit, &keys));
    let title = match live.len() {
        0 if !programs.is_empty() => "quit? a program is not over".to_owned(),
        0 => "quit?".to_owned(),
        1 => "quit? 1 task runs".to_owned(),
        many => format!("quit? {many} tasks run"),
    };
    dialog(painter, layout, &title, &rows);
}
