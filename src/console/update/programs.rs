//! What keys do on the program screen.

use super::super::app::program::Programs;
use super::super::app::{App, View};
use super::super::keys::action::Action;
use super::super::msg::Effect;
use super::scroll::moved;

impl App {
    pub(super) fn act_on_program(&mut self, action: Action) -> Vec<Effect> {
        match action {
            Action::ShowProgram => self.show(View::Program),
            Action::AnswerQuestion => {
                let question = self.program_question().cloned();
                question.map(|question| self.open_question(question)).unwrap_or_default()
            }
            Action::NextPane => self.turn_pane(),
            Action::PreviousProgram => self.step_program(-1),
            Action::NextProgram => self.step_program(1),
            Action::OpenTask => {
                let Some(task) = self.program_task() else { return Vec::new() };
                self.select(task);
                self.show(View::Focus)
            }
            _ => Vec::new(),
        }
    }

    /// Scrolls the source; at the line that is carried out it follows again.
    pub(super) fn go_in_source(&mut self, action: Action) {
        let Some(program) = self.program() else { return };
        let rows = self.plan().source_rows();
        let last = program.source.lines().count().saturating_sub(rows);
        if action == Action::Last {
            self.programs.top = None;
        } else {
            let top = moved(self.program_top(rows), action, rows.max(2) - 1, last);
            self.programs.top = Some(top);
        }
    }

    /// From the source to the pane of the first command, on to the next one's, and back to the source.
    fn turn_pane(&mut self) -> Vec<Effect> {
        self.leave_copy();
        let at = if self.programs.in_pane { self.programs.task_at + 1 } else { 0 };
        let has_one = at < self.program_tasks().len();
        if has_one {
            self.programs.task_at = at;
        }
        self.leave_pane();
        self.programs.in_pane = has_one;
        Vec::new()
    }

    /// Lets keys move the source again; tells whether they moved the pane.
    pub(super) fn leave_pane(&mut self) -> bool {
        self.thaw();
        self.pan = 0;
        std::mem::take(&mut self.programs.in_pane)
    }

    fn step_program(&mut self, by: isize) -> Vec<Effect> {
        let programs = &self.snapshot.programs;
        let run = self.program().map(|program| program.run.clone());
        let at = programs.iter().position(|program| Some(&program.run) == run.as_ref()).unwrap_or(0);
        let to = at.saturating_add_signed(by).min(programs.len().saturating_sub(1));
        self.programs.run = programs.get(to).map(|program| program.run.clone());
        self.programs = Programs { run: self.programs.run.take(), ..Programs::default() };
        self.leave_pane();
        Vec::new()
    }
}
