//! Keys that act on the current task.

use serde_json::json;

use crate::envelope::TaskId;
use crate::link::Request;
use crate::model::{TaskStatus, TaskView};
use crate::terminal::Size;

use super::{App, Layer, Mode, Prompt, Screen, takes_input};
use crate::console::keys::Action;
use crate::console::msg::Effect;

impl App {
    pub(super) fn act_on_task(&mut self, action: Action) {
        let Some(task) = self.at_hand().cloned() else { return };
        let id = task.id.clone();
        self.hold();
        if matches!(action, Action::Stop | Action::Kill | Action::Signal | Action::Restart) {
            self.guard.opens(&id, action, self.now);
        }
        match action {
            Action::Type => self.enter(&task),
            Action::Line => {
                self.thaw();
                self.write(Prompt::Line(id));
            }
            Action::Stop => self.open(Layer::Stop { task: id, kill: task.status == TaskStatus::Cancelling }),
            Action::Kill => self.open(Layer::Stop { task: id, kill: true }),
            Action::Signal => self.open(Layer::Signal(id)),
            Action::Pin => self.toggle_pin(),
            Action::Rename => {
                let name = task.name.clone().unwrap_or_default();
                self.mode = Mode::Write(Prompt::Rename(id), name.into());
            }
            Action::Watch => self.write(Prompt::Watch(id)),
            Action::Why => self.open(Layer::Why(id)),
            Action::Replay => self.open_replay(id),
            Action::Select => self.start_copying(),
            Action::YankOutput => self.effects.push(Effect::LastOutput(id)),
            Action::PreviousPrompt => self.go_to_prompt(false),
            Action::NextPrompt => self.go_to_prompt(true),
            Action::Search => self.open_search(id),
            Action::NextMatch => self.find_next(false),
            Action::PreviousMatch => self.find_next(true),
            Action::Restart => self.ask_to_restart(&task),
            Action::Release => self.effects.push(Effect::Ask(Request::Release { task: id })),
            Action::Fit => self.effects.extend(self.fit_call(&task)),
            Action::Dismiss => self.clear(vec![id]),
            Action::CopyId => {
                self.say(format!("copied {id}"));
                self.effects.push(Effect::Copy(id.to_string()));
            }
            _ => {}
        }
    }

    /// Opens the task full size, or stays on the screen of the program it runs for, and enters input mode if
    /// it takes input.
    fn enter(&mut self, task: &TaskView) {
        let takes_input = takes_input(task) && !self.view.is_lost;
        self.entered_from = Some(self.screen);
        if self.screen == Screen::Program {
            self.take_up(task.id.clone());
            if let Err(why) = self.availability(Action::Line)
                && !takes_input
            {
                self.say(why.to_string());
            }
        } else {
            self.screen = Screen::Focus;
        }
        self.thaw();
        if takes_input {
            self.mode = Mode::Input(task.id.clone());
        } else if task.status == TaskStatus::Queued {
            self.to_enter = Some(task.id.clone());
        }
    }

    /// Enters input mode for a task started here or entered before it ran, once it takes input, unless the user has
    /// moved on to something else.
    pub(super) fn enter_started(&mut self) {
        let Some(task) = self.to_enter.as_ref().and_then(|id| self.view.task(id)).cloned() else { return };
        if task.status == TaskStatus::Queued {
            return;
        }
        self.to_enter = None;
        self.own.retain(|id| self.view.task(id).is_some());
        let is_listed = matches!(self.screen, Screen::Tasks | Screen::Focus);
        let is_free = self.layers.is_empty() && matches!(self.mode, Mode::Observe) && is_listed;
        if is_free && takes_input(&task) && self.list.selected.as_ref() == Some(&task.id) {
            self.enter(&task);
        }
    }

    /// Makes the task of the chosen pane the current one.
    pub(super) fn take_up(&mut self, task: TaskId) {
        match self.screen {
            Screen::Program => self.programs.in_pane = true,
            _ => self.select(task),
        }
    }

    pub(super) fn pan(&mut self, by: i16) {
        const STEP: i16 = 16;
        if self.screen == Screen::Program && !self.programs.in_pane {
            let most = self.source_columns().saturating_sub(self.layout().source_columns());
            self.programs.pan = self.programs.pan.saturating_add_signed(by * STEP).min(most);
            return;
        }
        let Some(task) = self.at_hand().map(|task| task.id.clone()) else { return };
        let page = self.scroll.as_ref().and_then(|scroll| scroll.page.as_ref()).map(|page| &page.picture);
        let widest = page.or(self.view.pictures.get(&task)).map_or(0, |picture| picture.size().0);
        let shown = self.layout().pane(&task).map_or(0, |pane| pane.cells.width);
        // Wrapped lines fit the pane: panning to the right shows them as the program wrote them.
        let widest = if widest > shown { widest } else { self.own_columns(&task) };
        self.pan = self.pan.saturating_add_signed(by * STEP).min(widest.saturating_sub(shown));
    }

    pub(super) fn fits_badly(&self, task: &TaskView) -> bool {
        let has_pty = task.tty && task.status == TaskStatus::Running;
        let wanted = self.layout().pane(&task.id).map(super::layout::Pane::size);
        has_pty && wanted.is_some_and(|wanted| wanted != task.size)
    }

    fn fit_call(&self, task: &TaskView) -> Option<Effect> {
        let size: Size = self.layout().pane(&task.id)?.size();
        let resize = json!({"cols": size.cols(), "rows": size.rows()});
        let input = json!({"task_id": task.id, "resize": resize});
        Some(Effect::call("TaskInput", input))
    }
}
