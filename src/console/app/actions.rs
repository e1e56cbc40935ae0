//! What the actions of a screen do: which feature takes each.

use crate::console::app::App;
use crate::console::app::draw::photo;
use crate::console::app::layer::Layer;
use crate::console::effect::Effect;
use crate::console::features::approval::decide;
use crate::console::features::arrangement::tilings;
use crate::console::features::pane::{log, search, timestamps};
use crate::console::features::receipts::coverage;
use crate::console::features::task_list::choose;
use crate::console::features::{
    arrangement, changes, export, next, palette, places, program, reader, receipts, replay, task_list,
};
use crate::console::keys::{Action, KeyContext};
use crate::console::state::{Column, ExportKind, Obstacle, Prompt, Screen, Shot};

impl App {
    /// Moves whatever the keys move on this screen: the selection, a text, or the pane's position in the log.
    pub(in crate::console) fn go(&mut self, action: Action) {
        if self.state.reader.is_some() {
            reader::go_in_reader(&mut self.state, action);
            return;
        }
        match (self.state.focus.screen, self.state.calls.column) {
            (Screen::Tasks, _) if self.state.focus.in_pane || is_page(action) => {
                log::go_in_log(&mut self.state, action)
            }
            (Screen::Tasks | Screen::Metrics, _) => task_list::go_in_tasks(&mut self.state, action),
            (Screen::Focus, _) => log::go_in_log(&mut self.state, action),
            (Screen::Program, _) if self.state.programs.in_pane => log::go_in_log(&mut self.state, action),
            (Screen::Program, _) => {
                program::go_in_source(&mut self.state, action);
            }
            (Screen::Receipts, Column::Calls) => receipts::go_in_calls(&mut self.state, action),
            (Screen::Receipts, column) => self.receipts.go_in_text(&self.state, column, action),
        }
    }

    /// Performs an action in the current context.
    pub(in crate::console) fn act(&mut self, action: Action) {
        if !self.layers.is_empty() {
            return self.act_in_dialog(action);
        }
        if self.state.setup.recording.is_some() && action.changes() {
            self.state.say("read-only recording");
            return;
        }
        if let Err(why) = self.availability(action) {
            // The place is unreachable: say so, because a key that silently does nothing would look like a typo.
            if why == Obstacle::Place {
                places::say_refusal(&mut self.state);
            } else if matches!(action, Action::Compare | Action::ModelSaw | Action::SendLine) {
                self.state.say(why.to_string());
            }
            return;
        }
        self.act_in_view(action)
    }

    pub(in crate::console) fn act_in_view(&mut self, action: Action) {
        match action {
            action if self.state.replay.is_some() && replay::act_on_replay(&mut self.state, action) => {}
            Action::Up | Action::Down | Action::PageUp | Action::PageDown | Action::Top | Action::Bottom => {
                self.go(action)
            }
            Action::ScrollUp => log::go_in_log(&mut self.state, Action::Up),
            Action::ScrollDown => log::go_in_log(&mut self.state, Action::Down),
            Action::IntoPane => self.state.focus.in_pane = !self.state.focus.in_pane,
            Action::NextFailed | Action::NextWaiting => next::go_to_next(&mut self.state, action),
            Action::PreviousTask => task_list::step_task(&mut self.state, -1),
            Action::NextTask => task_list::step_task(&mut self.state, 1),
            Action::NextColumn => receipts::cycle_column(&mut self.state, 1),
            Action::PreviousColumn => receipts::cycle_column(&mut self.state, 2),
            Action::PanLeft => self.pan(-1),
            Action::PanRight => self.pan(1),
            Action::ShowTasks => self.state.show(Screen::Tasks),
            Action::ShowFocus => self.state.show(Screen::Focus),
            Action::ShowReceipts => self.state.show(Screen::Receipts),
            Action::ShowMetrics => self.state.show(Screen::Metrics),
            Action::Timeline => self.state.division.is_overall = !self.state.division.is_overall,
            Action::ClearFinished => task_list::clear_finished(&mut self.state),
            Action::Undo => task_list::undo(&mut self.state),
            Action::Filter => self.open_list(choose::list_of_filters(&self.state)),
            Action::Changes => {
                let list = changes::show_changes(&mut self.state);
                self.open_list(list);
            }
            Action::Timestamps => timestamps::toggle_stamps(&mut self.state),
            Action::SearchAll => self.everywhere.write(&mut self.state),
            Action::ArrangeList => self.open_list(choose::arrangement_list(&self.state)),
            Action::Fold if self.state.focus.screen == Screen::Tasks => {
                task_list::fold_batch(&mut self.state)
            }
            Action::WidenList => arrangement::resize_list(&mut self.state, 1),
            Action::NarrowList => arrangement::resize_list(&mut self.state, -1),
            Action::Layouts => self.open_list(tilings::layout_list(&self.state)),
            Action::NextLayout => tilings::next_layout(&mut self.state),
            Action::SaveLayout => tilings::ask_for_layout_name(&mut self.state),
            Action::ForgetLayout => tilings::forget_layout(&mut self.state),
            Action::Zoom => self.state.division.is_zoomed = !self.state.division.is_zoomed,
            Action::Help => self.open(Layer::Help { about: self.state.view_context(), top: 0 }),
            Action::Back => self.back(),
            Action::Quit => self.ask_to_quit(),
            Action::Palette => self.open_palette(),
            Action::Places => {
                let list = places::list_of_places(&mut self.state);
                self.open_list(list);
            }
            Action::Themes => self.open_list(palette::themes(&self.state)),
            Action::Messages => self.open_list(palette::messages(&self.state)),
            Action::EditSettings => palette::beside(&mut self.state, "config edit"),
            Action::Start => places::write_command(&mut self.state),
            Action::Pause => {
                let card = decide::pause_or_resume(&mut self.state);
                self.open_card(card);
            }
            Action::TellAgent => self.open_tell(None),
            Action::Approvals => self.show_held(),
            Action::Attention => self.open_attention(),
            Action::ShowProgram => self.state.show(Screen::Program),
            Action::AnswerQuestion => self.answer_program(),
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
            Action::ModelSaw => coverage::ask_for_coverage(&mut self.state),
            Action::Fold => self.receipts.fold(&mut self.state),
            Action::NextPart | Action::PreviousPart => self.go(action),
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
}

/// On the tasks screen, these keys always move the pane.
fn is_page(action: Action) -> bool {
    matches!(action, Action::PageUp | Action::PageDown)
}
