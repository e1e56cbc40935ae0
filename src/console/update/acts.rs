//! What the keys of the screens do, and when they can.

use crate::envelope::Actor;
use crate::runtime::{CallSummary, HoldReason, TaskStatus, TaskView};

use super::super::app::calls::Column;
use super::super::app::compacted;
use super::super::app::export::{Export, Shot};
use super::super::app::filter::Filter;
use super::super::app::{App, Layer, Mode, View, takes_input};
use super::super::keys::action::Action;
use super::super::msg::{Effect, Leave};
use super::held::wider_for;

impl App {
    /// Tells whether an action makes sense now: hints and help show only such.
    #[must_use]
    pub fn can(&self, action: Action) -> bool {
        if self.setup.recording.is_some() && action.changes() {
            return false;
        }
        let task = self.at_hand();
        let is = |fact: fn(&TaskView) -> bool| task.is_some_and(|task| fact(task));
        match action {
            Action::Type | Action::Line => {
                !self.is_lost && is(takes_input) || action == Action::Type && is(|_| true)
            }
            Action::Stop | Action::Kill => !self.is_lost && is(|task| !task.status.is_terminal()),
            Action::Signal => !self.is_lost && is(|task| task.status == TaskStatus::Running),
            Action::Release => !self.is_lost && is(is_held_by_operator),
            Action::Fit => !self.is_lost && task.is_some_and(|task| self.fits_badly(task)),
            Action::Dismiss | Action::Rerun => !self.is_lost && is(|task| task.status.is_terminal()),
            Action::Start => !self.is_lost,
            Action::LeaveRunning => self.setup.is_remote,
            // A runtime inside another console is that one's to end.
            Action::StopAll => !self.setup.is_remote || self.snapshot.headless,
            Action::Pause => !self.is_lost,
            Action::Approvals => !self.is_lost && !self.snapshot.gate.held.is_empty(),
            Action::ApproveExact => {
                self.held_call().is_some_and(|call| matches!(call.reason, HoldReason::Rule(_)))
            }
            Action::ApproveWider => self.held_call().is_some_and(|call| wider_for(call).is_some()),
            Action::AnswerQuestion => !self.is_lost && self.program_question().is_some(),
            Action::NextPane => self.program_task().is_some(),
            Action::PreviousProgram | Action::NextProgram => self.snapshot.programs.len() > 1,
            Action::OpenTask if self.view == View::Program => self.program_task().is_some(),
            Action::Rename => !self.is_lost && is(|_| true),
            Action::ClearFinished => {
                !self.is_lost && self.snapshot.tasks.iter().any(|task| task.status.is_terminal())
            }
            Action::Filter => !self.snapshot.tasks.is_empty(),
            Action::Why | Action::Search | Action::Select | Action::YankOutput | Action::Pin => is(|_| true),
            Action::PreviousPrompt | Action::NextPrompt => is(|task| task.tty),
            Action::NextMatch | Action::PreviousMatch => {
                self.search.as_ref().is_some_and(|search| search.line().is_some())
            }
            Action::Seen => {
                let is_about = |call: &CallSummary| call.task.is_some() || call.tool == "ExecCommandBatch";
                self.shown_record().is_some() && self.shown_call().is_some_and(|call| is_about(call))
            }
            Action::Replay => is(|task| task.started_at.is_some()),
            Action::Play | Action::Faster | Action::Slower | Action::StepForward | Action::StepBack => {
                self.replay.as_ref().is_some_and(|replay| replay.reel.is_some())
            }
            Action::NextPart | Action::PreviousPart if self.replay.is_some() => true,
            Action::FindText => self.can_find(),
            Action::Compare => {
                self.view == View::Receipts && self.reader.is_none() && self.shown_record().is_some()
            }
            Action::NextPart | Action::PreviousPart => {
                self.reader.as_ref().is_some_and(|reader| !reader.parts.is_empty())
            }
            Action::NextFound | Action::PreviousFound => self.can_find() && self.calls.finding.is_some(),
            Action::CopyId | Action::CopyText if self.toasts.has_path() => true,
            Action::CopyId | Action::Zoom => task.is_some() || self.view == View::Receipts,
            Action::PreviousTask | Action::NextTask => self.snapshot.tasks.len() > 1,
            Action::OpenTask => self.shown_call().is_some_and(|call| call.task.is_some()),
            Action::CopyText => self.calls.column != Column::Calls && self.calls.sheet.is_some(),
            Action::NextColumn | Action::PreviousColumn | Action::Fold => !self.snapshot.calls.is_empty(),
            Action::LessRoom => self.calls.sheet.as_ref().is_some_and(|sheet| {
                sheet.is_answered && sheet.budget.is_none_or(|budget| sheet.envelope_chars <= budget)
            }),
            Action::MoreRoom | Action::AllRoom => self.calls.budget.is_some(),
            _ => true,
        }
    }

    pub(super) fn act_in_view(&mut self, action: Action) -> Vec<Effect> {
        if matches!(action, Action::CopyId | Action::CopyText)
            && let Some(effects) = self.copy_path()
        {
            return effects;
        }
        match action {
            action if self.replay.is_some() && self.act_on_replay(action) => Vec::new(),
            Action::Up | Action::Down | Action::PageUp | Action::PageDown | Action::First | Action::Last => {
                self.go(action)
            }
            Action::PreviousTask => self.step_task(-1),
            Action::NextTask => self.step_task(1),
            Action::NextColumn => self.turn_column(1),
            Action::PreviousColumn => self.turn_column(2),
            Action::PanLeft => self.pan(-1),
            Action::PanRight => self.pan(1),
            Action::ShowTasks => self.show(View::Tasks),
            Action::ShowFocus => self.show(View::Focus),
            Action::ShowReceipts => self.show(View::Receipts),
            Action::ShowMetrics => self.show(View::Metrics),
            Action::Timeline => {
                self.is_overall = !self.is_overall;
                Vec::new()
            }
            Action::ClearFinished => self.clear_finished(),
            Action::Filter => {
                self.thaw();
                self.next_filter();
                Vec::new()
            }
            Action::WidenList => self.split_by(1),
            Action::NarrowList => self.split_by(-1),
            Action::Zoom => {
                self.is_zoomed = !self.is_zoomed;
                Vec::new()
            }
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
                Vec::new()
            }
            Action::Pause => self.turn_pause(),
            Action::Approvals => self.show_held(),
            Action::Attend => self.open_attention(),
            Action::ShowProgram
            | Action::AnswerQuestion
            | Action::NextPane
            | Action::PreviousProgram
            | Action::NextProgram => self.act_on_program(action),
            Action::OpenTask if self.view == View::Program => self.act_on_program(action),
            Action::Mouse => {
                self.has_mouse = !self.has_mouse;
                vec![Effect::Mouse(self.has_mouse)]
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

    pub(super) fn show(&mut self, view: View) -> Vec<Effect> {
        self.view = view;
        self.thaw();
        (self.reader, self.replay, self.calls.finding) = (None, None, None);
        Vec::new()
    }

    fn turn_column(&mut self, by: usize) -> Vec<Effect> {
        const TURN: [Column; 3] = [Column::Calls, Column::Receipt, Column::Envelope];
        let at = TURN.iter().position(|column| *column == self.calls.column).unwrap_or(0);
        self.calls.column = TURN[(at + by) % TURN.len()];
        Vec::new()
    }

    /// Folds or unfolds what stands in the row read of the envelope; elsewhere goes on to the next column.
    fn fold(&mut self) -> Vec<Effect> {
        if self.calls.column != Column::Envelope {
            return self.turn_column(1);
        }
        let Some(sheet) = &mut self.calls.sheet else { return Vec::new() };
        self.calls.envelope.at = sheet.envelope.fold(self.calls.envelope.at);
        Vec::new()
    }

    fn split_by(&mut self, by: i16) -> Vec<Effect> {
        self.turn_split(by);
        Vec::new()
    }

    fn back(&mut self) -> Vec<Effect> {
        if self.toasts.clear() {
            return Vec::new();
        }
        if self.thaw()
            || self.calls.finding.take().is_some()
            || self.reader.take().is_some()
            || self.replay.take().is_some()
        {
            return Vec::new();
        }
        if self.view == View::Tasks && self.list.filter != Filter::All {
            self.set_filter(Filter::All);
            return Vec::new();
        }
        if let Some(notice) = self.snapshot.notices.last()
            && notice.seq > self.notices_seen
        {
            self.notices_seen = notice.seq;
            return Vec::new();
        }
        if self.is_zoomed {
            self.is_zoomed = false;
            return Vec::new();
        }
        if self.view == View::Program && self.leave_pane() {
            return Vec::new();
        }
        if self.view == View::Receipts && self.calls.column != Column::Calls {
            self.calls.column = Column::Calls;
            return Vec::new();
        }
        self.show(View::Tasks)
    }

    /// With nothing running, and no program that waits, there is nothing to lose: no question.
    fn ask_to_quit(&mut self) -> Vec<Effect> {
        let has_program = self.ending_programs().next().is_some();
        if self.is_lost || (self.live() == 0 && self.setup.is_remote && !has_program) {
            return vec![Effect::Quit(Leave::LeaveRunning)];
        }
        if self.live() == 0 && !has_program && !self.snapshot.agents.iter().any(|agent| agent.connected) {
            return self.stop_all();
        }
        self.open(Layer::Quit)
    }

    /// Ends the runtime and then the console: from now on, that the runtime goes away is no loss.
    pub(super) fn stop_all(&mut self) -> Vec<Effect> {
        self.is_leaving = true;
        vec![Effect::Quit(Leave::StopAll)]
    }

    fn copy_text(&mut self) -> Vec<Effect> {
        let Some(sheet) = self.calls.sheet.as_ref().filter(|sheet| sheet.is_answered) else {
            return Vec::new();
        };
        let text = match self.calls.column {
            Column::Envelope => sheet.envelope_text.clone(),
            _ => sheet.receipt_text.clone(),
        };
        self.toasts.say("copied", Some(sheet.seq), self.now);
        vec![Effect::Copy(text)]
    }

    /// Gives the texts less or more room, or all.
    fn turn_budget(&mut self, action: Action) -> Vec<Effect> {
        if self.can(action)
            && let Some(sheet) = &self.calls.sheet
        {
            let whole = sheet.whole_chars;
            let now = self.calls.budget.unwrap_or(whole).min(whole);
            self.calls.budget = match action {
                Action::LessRoom => Some(compacted::less(now)),
                Action::MoreRoom => compacted::more(now, whole),
                _ => None,
            };
        }
        Vec::new()
    }

    fn open_task_of_call(&mut self) -> Vec<Effect> {
        let Some(task) = self.shown_call().and_then(|call| call.task.clone()) else { return Vec::new() };
        if self.task(&task).is_none() {
            self.toasts.say("that task is no longer on the list", None, self.now);
            return Vec::new();
        }
        self.select(task);
        self.show(View::Focus)
    }
}

fn is_held_by_operator(task: &TaskView) -> bool {
    task.lease.as_ref().is_some_and(|lease| lease.holder == Actor::Operator)
}
