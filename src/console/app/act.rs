//! What the keys of the screens do, and when they can.

use super::export::{Export, Shot};
use super::receipts::Column;
use super::task_list::Filter;
use super::{App, Layer, Mode, Screen};
use crate::console::keys::action::Action;
use crate::console::msg::Effect;

impl App {
    pub(super) fn act_in_view(&mut self, action: Action) {
        if matches!(action, Action::CopyId | Action::CopyText) && self.copy_path() {
            return;
        }
        match action {
            action if self.replay.is_some() && self.act_on_replay(action) => {}
            Action::Up | Action::Down | Action::PageUp | Action::PageDown | Action::First | Action::Last => {
                self.go(action)
            }
            Action::PreviousTask => self.step_task(-1),
            Action::NextTask => self.step_task(1),
            Action::NextColumn => self.turn_column(1),
            Action::PreviousColumn => self.turn_column(2),
            Action::PanLeft => self.pan(-1),
            Action::PanRight => self.pan(1),
            Action::ShowTasks => self.show(Screen::Tasks),
            Action::ShowFocus => self.show(Screen::Focus),
            Action::ShowReceipts => self.show(Screen::Receipts),
            Action::ShowMetrics => self.show(Screen::Metrics),
            Action::Timeline => self.is_overall = !self.is_overall,
            Action::ClearFinished => self.clear_finished(),
            Action::Filter => {
                self.thaw();
                self.next_filter();
            }
            Action::WidenList => self.turn_split(1),
            Action::NarrowList => self.turn_split(-1),
            Action::Zoom => self.is_zoomed = !self.is_zoomed,
            Action::Help => self.open(Layer::Help { about: self.view_context(), top: 0 }),
            Action::Back => self.back(),
            Action::Quit => self.ask_to_quit(),
            Action::Palette => self.open_palette(),
            Action::Themes => self.open_themes(),
            Action::Messages => self.open_messages(),
            Action::EditSettings => self.beside("config edit"),
            Action::Start => {
                self.lines.rest();
                self.mode = Mode::Start(tui_input::Input::default());
            }
            Action::Pause => self.turn_pause(),
            Action::Approvals => self.show_held(),
            Action::Attend => self.open_attention(),
            Action::ShowProgram
            | Action::AnswerQuestion
            | Action::NextPane
            | Action::PreviousProgram
            | Action::NextProgram => self.act_on_program(action),
            Action::OpenTask if self.screen == Screen::Program => self.act_on_program(action),
            Action::Mouse => {
                self.has_mouse = !self.has_mouse;
                self.effects.push(Effect::Mouse(self.has_mouse));
            }
            Action::FindText | Action::NextFound | Action::PreviousFound => self.find_in_text(action),
            Action::Compare => self.compare(),
            Action::Seen => self.ask_seen(),
            Action::Fold => self.fold(),
            Action::NextPart | Action::PreviousPart => self.go(action),
            Action::Export => self.open_exports(),
            Action::ExportMetrics => self.export(Export::Metrics),
            Action::ExportScreenSvg => self.export(Export::Screen(Shot::Svg)),
            Action::ExportScreenHtml => self.export(Export::Screen(Shot::Html)),
            Action::ExportScreenText => self.export(Export::Screen(Shot::Text)),
            Action::ExportScreenAnsi => self.export(Export::Screen(Shot::Ansi)),
            Action::CopyText => self.copy_text(),
            Action::LessRoom | Action::MoreRoom | Action::AllRoom => self.turn_budget(action),
            Action::OpenTask => self.open_task_of_call(),
            other => self.act_on_task(other),
        }
    }

    pub(super) fn show(&mut self, screen: Screen) {
        self.screen = screen;
        self.thaw();
        (self.reader, self.replay, self.calls.finding) = (None, None, None);
    }

    fn back(&mut self) {
        if self.toasts.clear()
            || self.thaw()
            || self.calls.finding.take().is_some()
            || self.reader.take().is_some()
            || self.replay.take().is_some()
        {
            return;
        }
        if self.screen == Screen::Tasks && self.list.filter != Filter::All {
            self.set_filter(Filter::All);
            return;
        }
        if let Some(notice) = self.snapshot.notices.last()
            && notice.seq > self.notices_seen
        {
            self.notices_seen = notice.seq;
            return;
        }
        if self.is_zoomed {
            self.is_zoomed = false;
            return;
        }
        if self.screen == Screen::Program && self.leave_pane() {
            return;
        }
        if self.screen == Screen::Receipts && self.calls.column != Column::Calls {
            self.calls.column = Column::Calls;
            return;
        }
        self.show(Screen::Tasks)
    }
}
