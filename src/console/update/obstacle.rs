//! Why an action cannot be done now, in words for the person.

use super::super::app::{App, View, takes_input};
use super::super::keys::action::Action;

impl App {
    /// Returns why an action would do nothing now; none when it would.
    #[must_use]
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
        let is_listed = matches!(self.view, View::Tasks | View::Focus);
        let has_pane = is_listed || self.view == View::Program;
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
            Action::Filter if self.view != View::Tasks => Some("on the screen of all tasks only"),
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
            Action::AnswerQuestion | Action::NextPane if self.view != View::Program => {
                Some("on the program's screen")
            }
            Action::Approve
            | Action::ApproveExact
            | Action::ApproveWider
            | Action::Deny
            | Action::NextHeld => Some("on the card of a call: approvals"),
            Interrupt | Terminate | HangUp | QuitSignal | User1 | User2 => self.obstacle(Action::Signal),
            OpenTask if matches!(self.view, View::Receipts | View::Program) => None,
            Action::FindText
            | Action::NextFound
            | Action::PreviousFound
            | Action::Compare
            | Action::Fold
            | Action::Seen
                if self.view != View::Receipts =>
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
                if self.view != View::Receipts =>
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
