//! What the actions of a screen and of its task do: which feature takes each.

use crate::console::app::App;
use crate::console::app::draw::photo;
use crate::console::app::layer::Layer;
use crate::console::effect::Effect;
use crate::console::features::approval::card::Card;
use crate::console::features::approval::decide;
use crate::console::features::arrangement::tilings;
use crate::console::features::pane::{copy, fit, log, reflow, search, timestamps};
use crate::console::features::question::permission;
use crate::console::features::stop::restart::again;
use crate::console::features::task_list::choose;
use crate::console::features::{
    arrangement, changes, cost, export, help, next, palette, places, program, reader, receipts, replay,
    task_list, undo,
};
use crate::console::keys::{Action, KeyContext, Motion};
use crate::console::state::{Column, ExportKind, Mode, Prompt, Screen, ShareForm, Shot, takes_input};
use crate::link::Act;
use crate::model::{TaskStatus, TaskView};

/// How far a key pans, in columns.
const PAN_COLUMNS: i16 = 16;

impl App {
    /// Moves whatever the keys move on this screen: the selection, a text, or the pane's position in the log.
    pub(in crate::console) fn go(&mut self, motion: Motion) {
        if self.state.reader.is_some() {
            reader::go_in_reader(&mut self.state, motion);
            return;
        }
        match (self.state.focus.screen, self.state.calls.column) {
            (Screen::Tasks, _)
                if self.state.focus.in_pane || matches!(motion, Motion::PageUp | Motion::PageDown) =>
            {
                log::go_in_log(&mut self.state, motion)
            }
            (Screen::Tasks | Screen::Metrics, _) => task_list::go_in_tasks(&mut self.state, motion),
            (Screen::Focus, _) => log::go_in_log(&mut self.state, motion),
            (Screen::Program, _) if self.state.programs.in_pane => log::go_in_log(&mut self.state, motion),
            (Screen::Program, _) => {
                program::go_in_source(&mut self.state, motion);
            }
            (Screen::Receipts, Column::Calls) => receipts::go_in_calls(&mut self.state, motion),
            (Screen::Receipts, column) => self.receipts.go_in_text(&self.state, column, motion),
        }
    }

    /// Performs an action in the current context.
    pub(in crate::console) fn act(&mut self, action: Action) {
        if !self.layers.is_empty() {
            return self.act_in_dialog(action);
        }
        match self.availability(action) {
            Ok(()) => self.act_in_view(action),
            Err(why) => self.refuse(action, why),
        }
    }

    pub(in crate::console) fn act_in_view(&mut self, action: Action) {
        if self.state.replay.is_some() && replay::act_on_replay(&mut self.state, action) {
            return;
        }
        if let Some(motion) = action.motion() {
            return self.go(motion);
        }
        match action {
            Action::Input if self.state.batch_at_hand().is_some() => {
                let card = self.state.batch_at_hand().map(|batch| Card::of(batch.ticket));
                self.open_card(card);
            }
            Action::Input if self.state.agent_pointed_at().is_some() => {
                choose::filter_by_pointed(&mut self.state);
            }
            Action::ScrollUp => log::go_in_log(&mut self.state, Motion::Up),
            Action::ScrollDown => log::go_in_log(&mut self.state, Motion::Down),
            Action::IntoPane => self.state.focus.in_pane = !self.state.focus.in_pane,
            Action::NextFailed | Action::NextWaiting => next::go_to_next(&mut self.state, action),
            Action::PreviousTask => task_list::step_task(&mut self.state, -1),
            Action::NextTask => task_list::step_task(&mut self.state, 1),
            Action::NextColumn => receipts::cycle_column(&mut self.state, 1),
            Action::PreviousColumn => receipts::cycle_column(&mut self.state, 2),
            Action::PanLeft | Action::PanRight => {
                let by = if action == Action::PanLeft { -PAN_COLUMNS } else { PAN_COLUMNS };
                match self.state.focus.screen == Screen::Program && !self.state.programs.in_pane {
                    true => program::pan_source(&mut self.state, by),
                    false => reflow::pan(&mut self.state, by),
                }
            }
            Action::ShowTasks => self.state.show(Screen::Tasks),
            Action::ShowFocus => self.state.show(Screen::Focus),
            Action::ShowReceipts => receipts::show_calls(&mut self.state),
            Action::ShowMetrics => self.state.show(Screen::Metrics),
            Action::Timeline => self.state.division.is_overall = !self.state.division.is_overall,
            Action::ClearFinished => task_list::clear_finished(&mut self.state),
            Action::Undo => task_list::undo(&mut self.state),
            Action::Filter if self.state.focus.screen == Screen::Receipts => {
                self.open_list(receipts::rulings::list_of_rulings(&self.state));
            }
            Action::Filter => self.open_list(choose::list_of_filters(&self.state)),
            Action::Changes => {
                let list = changes::show_changes(&mut self.state);
                self.open_list(list);
            }
            Action::Cost => cost::ask(&mut self.state),
            Action::UndoChanges => undo::ask(&mut self.state),
            Action::Timestamps => timestamps::toggle_stamps(&mut self.state),
            Action::SearchAll => self.everywhere.write(&mut self.state),
            Action::ArrangeList => self.open_list(choose::arrangement_list(&self.state)),
            Action::Fold if self.state.focus.screen == Screen::Tasks => task_list::fold(&mut self.state),
            Action::WidenList => arrangement::resize_list(&mut self.state, 1),
            Action::NarrowList => arrangement::resize_list(&mut self.state, -1),
            Action::Layouts => self.open_list(tilings::layout_list(&self.state)),
            Action::NextLayout => tilings::next_layout(&mut self.state),
            Action::Zoom => self.state.division.is_zoomed = !self.state.division.is_zoomed,
            Action::Help => {
                let list = help::help(&self.state, &|action| self.availability(action));
                self.open_list(list);
            }
            Action::Back => self.back(),
            Action::Quit => self.ask_to_quit(),
            Action::Palette => self.open_palette(),
            Action::Places => {
                let list = places::list_of_places(&mut self.state);
                self.open_list(list);
            }
            Action::Themes => self.open_list(palette::themes(&self.state)),
            Action::Messages => self.open_list(palette::messages(&self.state)),
            Action::EditSettings => self.run_beside("config edit"),
            Action::Start => {
                let refused = receipts::rulings::refused_command(&self.state);
                places::write_command(&mut self.state, refused);
            }
            Action::Pause => {
                let card = decide::pause_or_resume(&mut self.state);
                self.open_card(card);
            }
            Action::TellAgent => self.open_tell(None),
            Action::ToAgent => self.go_to_agent(),
            Action::Approvals => self.show_held(),
            Action::Attention => self.open_attention(),
            Action::LeftRunning => self.open_left(),
            Action::WhileAway => {
                let sheet = self.absence.sheet.clone();
                self.layers.extend(sheet.map(|sheet| Layer::Away(Box::new(sheet))));
            }
            Action::ShowProgram => self.state.show(Screen::Program),
            Action::AnswerQuestion => self.answer_program(),
            Action::EndPermissions => permission::end_permissions(&mut self.state),
            Action::NextPane => program::cycle_pane(&mut self.state),
            Action::PreviousProgram => program::step_program(&mut self.state, -1),
            Action::NextProgram => program::step_program(&mut self.state, 1),
            Action::Mouse => {
                self.state.outer.has_mouse = !self.state.outer.has_mouse;
                self.state.effects.push(Effect::Mouse(self.state.outer.has_mouse));
            }
            Action::Suspend => self.state.effects.push(Effect::Suspend),
            Action::FindText | Action::NextFound | Action::PreviousFound => self.find_in_text(action),
            Action::Compare => self.receipts.compare(&mut self.state),
            Action::ModelSaw => self.receipts.ask_for_coverage(&mut self.state),
            Action::Share => self.receipts.share(&mut self.state, ShareForm::Html),
            Action::ShareSvg => self.receipts.share(&mut self.state, ShareForm::Svg),
            Action::Fold => self.receipts.fold(&mut self.state),
            Action::NextPart | Action::PreviousPart => {
                self.state.reader.iter_mut().for_each(|reader| reader.jump(action == Action::NextPart));
            }
            Action::Export => self.open_list(export::export_list(&self.state)),
            Action::ExportMetrics => export::export(&mut self.state, ExportKind::Metrics),
            Action::Screenshot => self.shoot(Shot::Svg),
            Action::ScreenshotHtml => self.shoot(Shot::Html),
            Action::ScreenshotText => self.shoot(Shot::Text),
            Action::ScreenshotAnsi => self.shoot(Shot::Ansi),
            Action::CopyText => self.receipts.copy_text(&mut self.state),
            Action::SmallerBudget | Action::LargerBudget | Action::FullBudget => {
                self.receipts.change_budget(&mut self.state, action)
            }
            Action::OpenTask => receipts::open_task(&mut self.state),
            other => self.act_on_task(other),
        }
    }

    fn back(&mut self) {
        self.to_enter = None;
        if self.state.toasts.clear()
            || self.state.thaw()
            || self.state.calls.finding.take().is_some()
            || self.state.reader.take().is_some()
            || self.state.replay.take().is_some()
        {
            return;
        }
        if std::mem::take(&mut self.state.focus.in_pane) {
            return;
        }
        if self.state.focus.screen == Screen::Receipts && receipts::unfilter_calls(&mut self.state) {
            return;
        }
        if task_list::unfilter(&mut self.state) {
            return;
        }
        if let Some(notice) = self.state.view.snapshot.notices.last()
            && notice.seq > self.state.toasts.notices_seen
        {
            self.state.toasts.notices_seen = notice.seq;
            return;
        }
        if self.state.division.is_zoomed {
            self.state.division.is_zoomed = false;
            return;
        }
        if self.state.focus.screen == Screen::Program && self.state.leave_pane() {
            return;
        }
        if self.state.focus.screen == Screen::Receipts && self.state.calls.column != Column::Calls {
            self.state.calls.column = Column::Calls;
            return;
        }
        if self.state.focus.screen == Screen::Tasks {
            self.state.let_go();
        }
        self.state.show(Screen::Tasks)
    }

    fn find_in_text(&mut self, action: Action) {
        let state = &mut self.state;
        match action {
            // On the tasks screen, this filters the tasks, or searches the output once keys go to the pane.
            Action::FindText if state.view_context() == KeyContext::Tasks => {
                match state.selected().cloned() {
                    Some(task) if state.focus.in_pane => search::open_search(state, task.id.clone()),
                    _ => task_list::write_task_filter(state),
                }
            }
            Action::FindText => {
                // In the list of calls, this filters the calls.
                let is_list = state.reader.is_none() && state.calls.column == Column::Calls;
                state.write(if is_list { Prompt::FilterCalls } else { Prompt::Find });
            }
            _ => self.receipts.go_to_found(state, action == Action::NextFound),
        }
    }

    /// Exports a picture of the screen.
    pub(in crate::console) fn shoot(&mut self, shot: Shot) {
        let drawing = photo(self);
        export::export_screen(&mut self.state, shot, &drawing);
    }

    /// Shows the call that has waited longest.
    pub(in crate::console) fn show_held(&mut self) {
        let card = decide::oldest(&mut self.state);
        self.open_card(card);
    }

    pub(in crate::console) fn act_on_task(&mut self, action: Action) {
        let Some(task) = self.state.at_hand().cloned() else { return };
        if !self.state.reaches_target(action) {
            return;
        }
        let id = task.id.clone();
        self.state.hold();
        use Action::*;
        match action {
            Input => match decide::card_of(&self.state, &id) {
                Some(card) => self.open_card(Some(card)),
                None => self.enter(&task),
            },
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
            Release => self.state.effects.push(Effect::Ask(Act::Release.on(id))),
            LetPass => self.state.effects.push(Effect::Ask(Act::LetPass.on(id))),
            Fit => self.state.effects.extend(fit::fit_call(&self.state, &task)),
            Dismiss => task_list::clear(&mut self.state, vec![id]),
            CopyId => {
                self.state.say(format!("copied {id}"));
                self.state.effects.push(Effect::Copy(id.to_string()));
            }
            // Done on a screen, or meant for what lies over one.
            Leave | Send | SendOn | Newline | Raw | Pause | TellAgent | Approvals | Approve
            | ApproveExact | ApproveWider | Deny | NextHeld | Attention | LeftRunning | WhileAway
            | AnswerQuestion | ApproveGate | ApproveTurn | ApproveAlike | EndPermissions | RejectGate
            | Yes | No | Choose | RunAgain | Skip | Abort | Note | LetAgents | Start | Run | Interrupt
            | Terminate | HangUp | QuitSignal | User1 | User2 | ClearFinished | Undo | Filter
            | ArrangeList | Play | Faster | Slower | StepForward | StepBack | Timeline | Up | Down
            | PageUp | PageDown | Top | Bottom | ScrollUp | ScrollDown | IntoPane | PanLeft | PanRight
            | PreviousTask | NextTask | NextFailed | NextWaiting | WidenList | NarrowList | SelectLines
            | SelectBlock | Yank | Left | Right | LineStart | LineEnd | SearchAll | Timestamps | Changes
            | Cost | UndoChanges | Find | Compare | ModelSaw | Share | ShareSvg | Fold | NextPart
            | PreviousPart | FindText | NextFound | PreviousFound | NextColumn | PreviousColumn
            | OpenTask | SmallerBudget | LargerBudget | FullBudget | CopyText | Export | Screenshot
            | ScreenshotHtml | ScreenshotText | ScreenshotAnsi | Layouts | NextLayout | Zoom | ShowTasks
            | ShowFocus | ShowReceipts | ShowMetrics | ExportMetrics | ShowProgram | NextPane
            | PreviousProgram | NextProgram | Places | Palette | Messages | Themes | EditSettings | Mouse
            | Help | Back | Confirm | Suspend | Detach | StopAll | Quit | ToAgent => {}
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
