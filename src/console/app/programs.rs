//! The screen of a program: running one, and going through its source and its panes.

use crate::console::effect::Effect;
use crate::console::features::program::{program_top, source_columns};
use crate::console::keys::Motion;
use crate::console::state::{ProgramScreen, Screen, State, words};
use crate::console::text::reading::move_by;

impl State {
    /// Runs a program in this runtime and shows it.
    pub(super) fn run_program(&mut self, file: &str) {
        let place = self.composer.start_at.take().or_else(|| self.place_at_hand());
        self.effects.push(Effect::RunProgram { file: file.to_owned(), place });
        self.programs = ProgramScreen::default();
        // The program ends with this console, whichever process the runtime is in.
        self.setup.shows_run = true;
        self.show(Screen::Program);
    }

    /// Scrolls the source; going to the end makes it follow the current line again.
    pub(super) fn go_in_source(&mut self, motion: Motion) {
        let Some(program) = self.program() else { return };
        let rows = self.layout().source_rows();
        let last = program.source.lines().count().saturating_sub(rows);
        if motion == Motion::Bottom {
            self.programs.top = None;
        } else {
            let top = move_by(program_top(self, rows), motion, rows.max(2) - 1, last);
            self.programs.top = Some(top);
        }
    }

    /// Pans the source by columns, as far as its longest line.
    pub(super) fn pan_source(&mut self, by: i16) {
        let most = source_columns(self).saturating_sub(self.layout().source_columns());
        let before = self.programs.pan;
        self.programs.pan = before.saturating_add_signed(by).min(most);
        if before == self.programs.pan {
            self.decline(words::edge(by));
        }
    }

    /// Cycles from the source through the panes of the commands and back to the source.
    pub(super) fn cycle_pane(&mut self) {
        self.leave_copy();
        let at = if self.programs.in_pane { self.programs.task_at + 1 } else { 0 };
        let has_one = at < self.program_tasks().len();
        if has_one {
            self.programs.task_at = at;
        }
        self.leave_pane();
        self.programs.in_pane = has_one;
    }

    pub(super) fn step_program(&mut self, by: isize) {
        let programs = &self.view.snapshot.programs;
        let run = self.program().map(|program| program.run.clone());
        let at = programs.iter().position(|program| Some(&program.run) == run.as_ref()).unwrap_or(0);
        let to = at.saturating_add_signed(by).min(programs.len().saturating_sub(1));
        self.programs.run = programs.get(to).map(|program| program.run.clone());
        self.programs = ProgramScreen { run: self.programs.run.take(), ..ProgramScreen::default() };
        self.leave_pane();
    }
}
