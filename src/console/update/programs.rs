//! What keys do on the program screen.

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
            Action::NextPane => {
                let count = self.program_tasks().len();
                self.programs.task_at = if count == 0 { 0 } else { (self.programs.task_at + 1) % count };
                Vec::new()
            }
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
    pub(super) fn go_in_source(&mut self, action: Action) -> Vec<Effect> {
        let Some(program) = self.program() else { return Vec::new() };
        let rows = self.plan().source_rows();
        let last = program.source.lines().count().saturating_sub(rows);
        if action == Action::Last {
            self.programs.top = None;
        } else {
            let top = moved(self.program_top(rows), action, rows.max(2) - 1, last);
            self.programs.top = Some(top);
        }
        Vec::new()
    }

    fn step_program(&mut self, by: isize) -> Vec<Effect> {
        let programs = &self.snapshot.programs;
        let run = self.program().map(|program| program.run.clone());
        let at = programs.iter().position(|program| Some(&program.run) == run.as_ref()).unwrap_or(0);
        let to = at.saturating_add_signed(by).min(programs.len().saturating_sub(1));
        self.programs.run = programs.get(to).map(|program| program.run.clone());
        (self.programs.top, self.programs.task_at) = (None, 0);
        Vec::new()
    }
}
