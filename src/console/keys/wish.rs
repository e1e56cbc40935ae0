//! What somebody wants when they look for a key: the groups of help.

use super::action::Action;

/// A wish that keys fulfil.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, strum::VariantArray)]
pub enum Wish {
    /// To see what there is, and to get there.
    See,
    /// To answer what waits, and to type.
    Answer,
    /// To stop something, or to start it.
    Stop,
    /// To read what was printed and answered, and to keep it.
    Read,
    /// To arrange the screen.
    Arrange,
}

impl Wish {
    /// All wishes, in the order of help.
    pub const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;

    /// Returns its heading.
    pub fn title(self) -> &'static str {
        match self {
            Self::See => "see",
            Self::Answer => "answer",
            Self::Stop => "stop, start",
            Self::Read => "read, keep",
            Self::Arrange => "arrange",
        }
    }
}

impl Action {
    /// Returns what somebody wants who presses its key.
    pub fn wish(self) -> Wish {
        use Action::*;
        match self {
            Attention | LeftRunning | WhileAway | NextWaiting | NextFailed | Approvals | Details
            | Timeline | ShowTasks | ShowFocus | ShowReceipts | ShowMetrics | ShowProgram | Up | Down
            | Top | Bottom | PreviousTask | NextTask | IntoPane | OpenTask | NextColumn | PreviousColumn
            | NextPane | PreviousProgram | NextProgram | NextHeld | Choose | Palette | Places | Messages
            | Help | Back | ToAgent => Wish::See,
            Input | SendLine | Leave | Send | SendOn | Newline | Raw | TellAgent | Approve | ApproveExact
            | ApproveWider | Deny | AnswerQuestion | ApproveGate | ApproveTurn | ApproveAlike
            | EndPermissions | RejectGate | Yes | No | Note | LetAgents | Release | Confirm => Wish::Answer,
            LetPass | Stop | Kill | Signal | Interrupt | Terminate | HangUp | QuitSignal | User1 | User2
            | Pause | Abort | Start | Run | Restart | RunAgain | Skip | Watch | Suspend | Detach
            | StopAll | Quit | UndoChanges => Wish::Stop,
            PageUp | PageDown | ScrollUp | ScrollDown | PanLeft | PanRight | Search | SearchAll | Find
            | FindText | NextFound | PreviousFound | NextMatch | PreviousMatch | PreviousPrompt
            | NextPrompt | Timestamps | Changes | Cost | Compare | ModelSaw | Share | ShareSvg | Fold
            | NextPart | PreviousPart | SmallerBudget | LargerBudget | FullBudget | Replay | Play
            | Faster | Slower | StepForward | StepBack | Select | SelectLines | SelectBlock | Yank
            | YankOutput | Left | Right | LineStart | LineEnd | CopyText | CopyId | Export
            | ExportMetrics | Screenshot | ScreenshotHtml | ScreenshotText | ScreenshotAnsi => Wish::Read,
            Fit | Dismiss | ClearFinished | Undo | Filter | ArrangeList | Rename | Pin | WidenList
            | NarrowList | Layouts | NextLayout | Zoom | Themes | EditSettings | Mouse => Wish::Arrange,
        }
    }
}
