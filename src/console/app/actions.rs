//! What the actions of a screen do: which feature takes each.

use crate::console::app::App;
use crate::console::app::draw::photo;
use crate::console::app::layer::Layer;
use crate::console::effect::Effect;
use crate::console::features::approval::decide;
use crate::console::keys::{Action, Context};
use crate::console::state::availability::Why;
use crate::console::state::calls::Column;
use crate::console::state::export::{Export, Shot};
use crate::console::state::focus::{Prompt, Screen};

impl App {
    /// Moves whatever the keys move on this screen: the selection, a text, or the pane's position in the log.
    pub(in crate::console) fn go(&mut self, action: Action) {
        if self.state.reader.is_some() {
            self.state.go_in_reader(action);
            return;
        }
        match (self.state.screen, self.state.calls.column) {
            (Screen::Tasks, _) if self.state.in_pane || is_page(action) => self.state.go_in_log(action),
            (Screen::Tasks | Screen::Metrics, _) => self.state.go_in_tasks(action),
            (Screen::Focus, _) => self.state.go_in_log(action),
            (Screen::Program, _) if self.state.programs.in_pane => self.state.go_in_log(action),
            (Screen::Program, _) => {
                self.state.go_in_source(action);
            }
            (Screen::Receipts, Column::Calls) => self.state.go_in_calls(action),
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
            // The place is unreachable or read-only: say so, because a key that silently does nothing would
            // look like a typo.
            if matches!(why, Why::Place | Why::ReadOnly) {
                self.state.say_refusal();
            } else if matches!(action, Action::Compare | Action::Seen | Action::Line) {
                self.state.say(why.to_string());
            }
            return;
        }
        self.act_in_view(action)
    }

    pub(in crate::console) fn act_in_view(&mut self, action: Action) {
        match action {
            action if self.state.replay.is_some() && self.state.act_on_replay(action) => {}
            Action::Up | Action::Down | Action::PageUp | Action::PageDown | Action::First | Action::Last => {
                self.go(action)
            }
            Action::ScrollUp => self.state.go_in_log(Action::Up),
            Action::ScrollDown => self.state.go_in_log(Action::Down),
            Action::IntoPane => self.state.in_pane = !self.state.in_pane,
            Action::NextFailed | Action::NextWaiting => self.state.go_to_next(action),
            Action::PreviousTask => self.state.step_task(-1),
            Action::NextTask => self.state.step_task(1),
            Action::NextColumn => self.state.cycle_column(1),
            Action::PreviousColumn => self.state.cycle_column(2),
            Action::PanLeft => self.pan(-1),
            Action::PanRight => self.pan(1),
            Action::ShowTasks => self.state.show(Screen::Tasks),
            Action::ShowFocus => self.state.show(Screen::Focus),
            Action::ShowReceipts => self.state.show(Screen::Receipts),
            Action::ShowMetrics => self.state.show(Screen::Metrics),
            Action::Timeline => self.state.is_overall = !self.state.is_overall,
            Action::ClearFinished => self.state.clear_finished(),
            Action::Undo => self.state.undo(),
            Action::Filter => self.open_list(self.state.list_of_filters()),
            Action::Changes => {
                let list = self.state.show_changes();
                list.into_iter().for_each(|list| self.open_list(list));
            }
            Action::Timestamps => self.state.toggle_stamps(),
            Action::SearchAll => self.everywhere.write(&mut self.state),
            Action::ArrangeList => self.open_list(self.state.arrangement_list()),
            Action::Fold if self.state.screen == Screen::Tasks => self.state.fold_batch(),
            Action::WidenList => self.state.resize_list(1),
            Action::NarrowList => self.state.resize_list(-1),
            Action::Layouts => self.open_list(self.state.layout_list()),
            Action::NextLayout => self.state.next_layout(),
            Action::SaveLayout => self.state.ask_for_layout_name(),
            Action::ForgetLayout => self.state.forget_layout(),
            Action::Zoom => self.state.is_zoomed = !self.state.is_zoomed,
            Action::Help => self.open(Layer::Help { about: self.state.view_context(), top: 0 }),
            Action::Back => self.back(),
            Action::Quit => self.ask_to_quit(),
            Action::Palette => self.open_palette(),
            Action::Places => {
                let list = self.state.list_of_places();
                self.open_list(list);
            }
            Action::Themes => self.open_list(self.state.themes()),
            Action::Messages => self.open_list(self.state.messages()),
            Action::EditSettings => self.state.beside("config edit"),
            Action::Start => self.state.write_command(),
            Action::Pause => {
                let card = decide::pause_or_resume(&mut self.state);
                self.open_card(card);
            }
            Action::TellAgent => self.open_tell(None),
            Action::Approvals => self.show_held(),
            Action::Attend => self.open_attention(),
            Action::ShowProgram => self.state.show(Screen::Program),
            Action::AnswerQuestion => self.answer_program(),
            Action::NextPane => self.state.cycle_pane(),
            Action::PreviousProgram => self.state.step_program(-1),
            Action::NextProgram => self.state.step_program(1),
            Action::Mouse => {
                self.state.has_mouse = !self.state.has_mouse;
                self.state.effects.push(Effect::Mouse(self.state.has_mouse));
            }
            Action::Suspend => self.state.effects.push(Effect::Suspend),
            Action::FindText | Action::NextFound | Action::PreviousFound => self.find_in_text(action),
            Action::Compare => self.receipts.compare(&mut self.state),
            Action::Seen => self.state.ask_for_coverage(),
            Action::Fold => self.receipts.fold(&mut self.state),
            Action::NextPart | Action::PreviousPart => self.go(action),
            Action::Export => self.open_list(self.state.export_list()),
            Action::ExportMetrics => self.state.export(Export::Metrics),
            Action::ExportScreenSvg => self.shoot(Shot::Svg),
            Action::ExportScreenHtml => self.shoot(Shot::Html),
            Action::ExportScreenText => self.shoot(Shot::Text),
            Action::ExportScreenAnsi => self.shoot(Shot::Ansi),
            Action::CopyText => self.receipts.copy_text(&mut self.state),
            Action::LessRoom | Action::MoreRoom | Action::AllRoom => {
                self.receipts.change_budget(&mut self.state, action)
            }
            Action::OpenTask => self.state.open_task(),
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
        if std::mem::take(&mut self.state.in_pane) {
            return;
        }
        if self.state.screen == Screen::Receipts && self.state.unfilter_calls() {
            return;
        }
        if self.state.unfilter() {
            return;
        }
        if let Some(notice) = self.state.view.snapshot.notices.last()
            && notice.seq > self.state.notices_seen
        {
            self.state.notices_seen = notice.seq;
            return;
        }
        if self.state.is_zoomed {
            self.state.is_zoomed = false;
            return;
        }
        if self.state.screen == Screen::Program && self.state.leave_pane() {
            return;
        }
        if self.state.screen == Screen::Receipts && self.state.calls.column != Column::Calls {
            self.state.calls.column = Column::Calls;
            return;
        }
        self.state.show(Screen::Tasks)
    }

    fn find_in_text(&mut self, action: Action) {
        let state = &mut self.state;
        match action {
            // On the tasks screen, this filters the tasks, or searches the output once keys go to the pane.
            Action::FindText if state.view_context() == Context::Tasks => match state.selected().cloned() {
                Some(task) if state.in_pane => state.open_search(task.id.clone()),
                _ => state.write_task_filter(),
            },
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
        self.state.export_screen(shot, &drawing);
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
