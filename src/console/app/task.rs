//! Keys that act on the current task.

use crate::console::app::App;
use crate::console::app::layer::Layer;
use crate::console::effect::Effect;
use crate::console::features::pane::{copy, fit, log, reflow, search};
use crate::console::features::stop::restart::again;
use crate::console::features::{arrangement, program, replay, task_list};
use crate::console::keys::Action;
use crate::console::state::{Mode, Prompt, Screen, takes_input};
use crate::link::Request;
use crate::model::{TaskStatus, TaskView};

impl App {
    pub(in crate::console) fn act_on_task(&mut self, action: Action) {
        let Some(task) = self.state.at_hand().cloned() else { return };
        let id = task.id.clone();
        self.state.hold();
        if matches!(action, Action::Stop | Action::Kill | Action::Signal | Action::Restart) {
            self.stopping.guard.opens(&id, action, self.state.clock.now);
        }
        use Action::*;
        match action {
            Input => self.enter(&task),
            SendLine => {
                self.state.thaw();
                self.state.write(Prompt::Line(id));
            }
            Stop => self.open(Layer::Stop { task: id, kill: task.status == TaskStatus::Cancelling }),
            Kill => self.open(Layer::Stop { task: id, kill: true }),
            Signal => self.open(Layer::Signal(id)),
            Pin => arrangement::toggle_pin(&mut self.state),
            Rename => {
                let name = task.name.clone().unwrap_or_default();
                self.state.focus.mode = Mode::Write(Prompt::Rename(id), name.into());
            }
            Watch => self.state.write(Prompt::Watch(id)),
            Details => self.open(Layer::Why(id)),
            Replay => replay::open_replay(&mut self.state, id),
            Select => copy::start_copying(&mut self.state),
            YankOutput => self.state.effects.push(Effect::LastOutput(id)),
            PreviousPrompt => search::go_to_prompt(&mut self.state, false),
            NextPrompt => search::go_to_prompt(&mut self.state, true),
            Search => search::open_search(&mut self.state, id),
            NextMatch => self.find_next_match(false),
            PreviousMatch => self.find_next_match(true),
            Restart if task.status.is_terminal() => self.state.effects.push(again(&task)),
            Restart => self.open(Layer::Restart(id)),
            Release => self.state.effects.push(Effect::Ask(Request::Release { task: id })),
            Fit => self.state.effects.extend(fit::fit_call(&self.state, &task)),
            Dismiss => task_list::clear(&mut self.state, vec![id]),
            CopyId => {
                self.state.say(format!("copied {id}"));
                self.state.effects.push(Effect::Copy(id.to_string()));
            }
            // Done on a screen, or meant for what lies over one.
            Leave | Send | SendOn | Newline | Raw | Pause | TellAgent | Approvals | Approve
            | ApproveExact | ApproveWider | Deny | NextHeld | Attention | AnswerQuestion | ApproveGate
            | RejectGate | Yes | No | Choose | RunAgain | Skip | Abort | Note | LetAgents | Start | Run
            | Interrupt | Terminate | HangUp | QuitSignal | User1 | User2 | ClearFinished | Undo | Filter
            | ArrangeList | Play | Faster | Slower | StepForward | StepBack | Timeline | Up | Down
            | PageUp | PageDown | Top | Bottom | ScrollUp | ScrollDown | IntoPane | PanLeft | PanRight
            | PreviousTask | NextTask | NextFailed | NextWaiting | WidenList | NarrowList | SelectLines
            | SelectBlock | Yank | Left | Right | LineStart | LineEnd | SearchAll | Timestamps | Changes
            | Find | Compare | ModelSaw | Fold | NextPart | PreviousPart | FindText | NextFound
            | PreviousFound | NextColumn | PreviousColumn | OpenTask | SmallerBudget | LargerBudget
            | FullBudget | CopyText | Export | Screenshot | ScreenshotHtml | ScreenshotText
            | ScreenshotAnsi | Layouts | NextLayout | SaveLayout | ForgetLayout | Zoom | ShowTasks
            | ShowFocus | ShowReceipts | ShowMetrics | ExportMetrics | ShowProgram | NextPane
            | PreviousProgram | NextProgram | Places | Palette | Messages | Themes | EditSettings | Mouse
            | Help | Back | Confirm | Suspend | Detach | StopAll | Quit => {}
        }
    }

    /// Opens the task full size, or stays on the screen of the program it runs for, and enters input mode if
    /// it takes input.
    fn enter(&mut self, task: &TaskView) {
        let takes_input = takes_input(task) && !self.state.view.is_lost;
        self.entered_from = Some(self.state.focus.screen);
        if self.state.focus.screen == Screen::Program {
            self.state.take_up(task.id.clone());
            if let Err(why) = self.availability(Action::SendLine)
                && !takes_input
            {
                self.state.say(why.to_string());
            }
        } else {
            self.state.focus.screen = Screen::Focus;
        }
        self.state.thaw();
        if takes_input {
            self.state.focus.mode = Mode::Input(task.id.clone());
        } else if task.status == TaskStatus::Queued {
            self.to_enter = Some(task.id.clone());
        }
    }

    /// Enters input mode for a task started here or entered before it ran, once it takes input, unless the user has
    /// moved on to something else.
    pub(in crate::console) fn enter_started(&mut self) {
        let Some(task) = self.to_enter.as_ref().and_then(|id| self.state.view.task(id)).cloned() else {
            return;
        };
        if task.status == TaskStatus::Queued {
            return;
        }
        self.to_enter = None;
        self.own.retain(|id| self.state.view.task(id).is_some());
        let is_listed = matches!(self.state.focus.screen, Screen::Tasks | Screen::Focus);
        let is_free = self.layers.is_empty() && matches!(self.state.focus.mode, Mode::Observe) && is_listed;
        if is_free && takes_input(&task) && self.state.list.selected.as_ref() == Some(&task.id) {
            self.enter(&task);
        }
    }

    pub(in crate::console) fn pan(&mut self, by: i16) {
        const STEP: i16 = 16;
        if self.state.focus.screen == Screen::Program && !self.state.programs.in_pane {
            let most =
                program::source_columns(&self.state).saturating_sub(self.state.layout().source_columns());
            self.state.programs.pan = self.state.programs.pan.saturating_add_signed(by * STEP).min(most);
            return;
        }
        let Some(task) = self.state.at_hand().map(|task| task.id.clone()) else { return };
        let page = self
            .state
            .reading
            .scroll
            .as_ref()
            .and_then(|scroll| scroll.page.as_ref())
            .map(|page| &page.picture);
        let widest = page.or(self.state.view.pictures.get(&task)).map_or(0, |picture| picture.size().0);
        let shown = self.state.layout().pane(&task).map_or(0, |pane| pane.cells.width);
        // Wrapped lines fit the pane: panning to the right shows them as the program wrote them.
        let widest = if widest > shown { widest } else { reflow::own_columns(&self.state, &task) };
        self.state.reading.pan =
            self.state.reading.pan.saturating_add_signed(by * STEP).min(widest.saturating_sub(shown));
    }

    /// Goes to the next or previous match, of the search across all tasks or of the one in this task.
    fn find_next_match(&mut self, forward: bool) {
        match self.everywhere.next(&self.state, forward) {
            Some(Ok(at)) => self.go_to_place(at),
            Some(Err(none)) => self.state.say(none),
            None => search::find_next(&mut self.state, forward),
        }
    }

    /// Shows a result of the search across all tasks.
    pub(in crate::console) fn go_to_place(&mut self, at: usize) {
        if let Some((task, anchor)) = self.everywhere.go_to(&mut self.state, at) {
            log::show_page(&mut self.state, task, anchor);
        }
    }
}
