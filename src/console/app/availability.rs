//! Why an action cannot be done now, in words for the person.

use crate::envelope::Actor;
use crate::runtime::{CallSummary, HoldReason, TaskStatus, TaskView};

use super::approval::scope::wider_for;
use super::receipts::Column;
use super::{App, Screen, takes_input};
use crate::console::keys::action::Action;

impl App {
    /// Tells whether an action makes sense now: hints and help show only such.
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
            Action::OpenTask if self.screen == Screen::Program => self.program_task().is_some(),
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
                self.screen == Screen::Receipts && self.reader.is_none() && self.shown_record().is_some()
            }
            Action::NextPart | Action::PreviousPart => {
                self.reader.as_ref().is_some_and(|reader| !reader.parts.is_empty())
            }
            Action::NextFound | Action::PreviousFound => self.can_find() && self.calls.finding.is_some(),
            Action::CopyId | Action::CopyText if self.toasts.has_path() => true,
            Action::CopyId | Action::Zoom => task.is_some() || self.screen == Screen::Receipts,
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

    /// Returns why an action would do nothing now; none when it would.
    pub fn obstacle(&self, action: Action) -> Option<&'static str> {
        let out_of_place = self.out_of_place(action);
        if out_of_place.is_some() || self.can(action) {
            return out_of_place;
        }
        let task = self.at_hand();
        Some(match action {
            _ if self.setup.recording.is_some() && action.changes() => "a recording is only looked at",
            _ if self.is_lost => "the runtime went away",
            Action::Type | Action::Line | Action::Stop | Action::Kill | Action::Signal if task.is_none() => {
                "no task is selected"
            }
            Action::Release => "its input is not held by you",
            Action::Fit => "no task that has another size than its pane",
            Action::Dismiss | Action::Rerun if task.is_some() => "the task has not ended",
            Action::Line if task.is_some_and(|task| !task.status.is_terminal() && !takes_input(task)) => {
                "the task takes no input"
            }
            Action::Type | Action::Line | Action::Stop | Action::Kill | Action::Signal => {
                "the task has ended"
            }
            Action::LeaveRunning => "the runtime is in this console",
            Action::StopAll => "the runtime belongs to another console",
            Action::AnswerQuestion => "the program asks nothing",
            Action::NextPane => "the program has run no command",
            Action::PreviousProgram | Action::NextProgram => "there is no other program",
            Action::Attend => "nothing waits for you",
            Action::Filter => "there are no tasks",
            Action::Approvals => "no call waits for your word",
            Action::NextMatch | Action::PreviousMatch => "nothing was found",
            Action::NextFound | Action::PreviousFound => "nothing was looked for",
            Action::Seen => "there is no answer about a task here",
            Action::Replay if task.is_some() => "the task has not started",
            Action::Compare if self.reader.is_some() => "leave this text first",
            Action::NextPart | Action::PreviousPart => "there is no other part",
            Action::Compare => "there is no answer to compare yet",
            Action::FindText => "there is no answer to read yet",
            Action::PreviousPrompt | Action::NextPrompt if task.is_some() => {
                "the task has no terminal, so no prompts"
            }
            Action::PreviousTask | Action::NextTask => "there is no other task",
            Action::OpenTask => "the call has no task",
            Action::CopyText => "go to the receipt or the envelope first",
            Action::NextColumn | Action::PreviousColumn | Action::Fold => "there is no call yet",
            Action::LessRoom => "it is as small as it gets",
            Action::MoreRoom | Action::AllRoom => "all of it is shown",
            _ if task.is_none() => "no task is selected",
            _ => "there is nothing to do it to",
        })
    }

    /// Why an action belongs to another place than the one the person is in.
    fn out_of_place(&self, action: Action) -> Option<&'static str> {
        use Action::{
            AllRoom, Confirm, CopyText, Find, Fit, HangUp, Interrupt, Leave, LessRoom, MoreRoom, Newline,
            NextColumn, NextMatch, OpenTask, PanLeft, PanRight, PreviousColumn, PreviousMatch, QuitSignal,
            Raw, Run, Search, Send, Terminate, User1, User2,
        };
        let is_listed = matches!(self.screen, Screen::Tasks | Screen::Focus);
        let has_pane = is_listed || self.screen == Screen::Program;
        match action {
            Leave => Some("nothing is typed into"),
            Send | Newline | Raw => Some("while writing a line"),
            Run => Some("while writing a command"),
            Find => Some("while writing a search"),
            Confirm => Some("when something is asked"),
            Action::SelectLines
            | Action::SelectBlock
            | Action::Yank
            | Action::Left
            | Action::Right
            | Action::LineStart
            | Action::LineEnd => Some("while selecting text: select"),
            Action::Filter if self.screen != Screen::Tasks => Some("on the screen of all tasks only"),
            Action::ClearFinished | Action::Rename | Action::Timeline | Action::Pin if !is_listed => {
                Some("beside the list of tasks only")
            }
            Action::Why
            | Action::Select
            | Action::YankOutput
            | Action::PreviousPrompt
            | Action::NextPrompt
                if !has_pane =>
            {
                Some("beside panes only")
            }
            Action::ApproveGate
            | Action::RejectGate
            | Action::Yes
            | Action::No
            | Action::Choose
            | Action::RunAgain
            | Action::Skip
            | Action::Abort
            | Action::Note
            | Action::LetAgents => Some("in the dialog of a question"),
            Action::AnswerQuestion | Action::NextPane if self.screen != Screen::Program => {
                Some("on the program's screen")
            }
            Action::Approve
            | Action::ApproveExact
            | Action::ApproveWider
            | Action::Deny
            | Action::NextHeld => Some("on the card of a call: approvals"),
            Interrupt | Terminate | HangUp | QuitSignal | User1 | User2 => self.obstacle(Action::Signal),
            OpenTask if matches!(self.screen, Screen::Receipts | Screen::Program) => None,
            Action::FindText
            | Action::NextFound
            | Action::PreviousFound
            | Action::Compare
            | Action::Fold
            | Action::Seen
                if self.screen != Screen::Receipts =>
            {
                Some("in receipts only")
            }
            Action::Play | Action::Faster | Action::Slower | Action::StepForward | Action::StepBack
                if self.replay.is_none() =>
            {
                Some("while a task is played again: replay")
            }
            Action::Replay if !has_pane => Some("beside panes only"),
            Action::NextPart | Action::PreviousPart if self.reader.is_none() && self.replay.is_none() => {
                Some("in a text that has parts")
            }
            NextColumn | PreviousColumn | LessRoom | MoreRoom | AllRoom | CopyText | OpenTask
                if self.screen != Screen::Receipts =>
            {
                Some("in receipts only")
            }
            PanLeft | PanRight | Search | NextMatch | PreviousMatch | Fit if !has_pane => {
                Some("beside panes only")
            }
            Action::EditSettings if self.setup.program.is_none() => Some("this console cannot start itself"),
            Action::EditSettings if self.setup.recording.is_some() => Some("a recording is only looked at"),
            Action::EditSettings if self.is_lost => Some("the runtime went away"),
            Action::Messages if self.toasts.said().is_empty() => Some("nothing was said yet"),
            _ => None,
        }
    }
}

fn is_held_by_operator(task: &TaskView) -> bool {
    task.lease.as_ref().is_some_and(|lease| lease.holder == Actor::Operator)
}
