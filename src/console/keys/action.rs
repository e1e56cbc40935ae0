//! Everything a key can do, defined in one place: name, hint, description and equivalent.
//!
//! The keymap binds keys to these names; help, hints and dialogs are generated from this table. What an
//! action does is decided in `update`, never here.

/// A movement in a list or a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Motion {
    Up,
    Down,
    PageUp,
    PageDown,
    Top,
    Bottom,
}

impl Action {
    /// Returns the movement that it asks for, if it asks for one.
    #[must_use]
    pub fn motion(self) -> Option<Motion> {
        match self {
            Self::Up => Some(Motion::Up),
            Self::Down => Some(Motion::Down),
            Self::PageUp => Some(Motion::PageUp),
            Self::PageDown => Some(Motion::PageDown),
            Self::Top => Some(Motion::Top),
            Self::Bottom => Some(Motion::Bottom),
            _ => None,
        }
    }

    /// Tells whether it affects a task or starts one, which recordings do not allow.
    #[must_use]
    pub fn changes(self) -> bool {
        use Action::{
            AnswerQuestion, Approve, ApproveExact, ClearFinished, Deny, EndPermissions, LetPass, Pause,
        };
        use Action::{
            Dismiss, Fit, Kill, Release, Rename, Restart, Run, SendLine, Signal, Start, Stop, TellAgent,
        };
        matches!(self, SendLine | Start | Run | Restart | Stop | Kill | Signal | Release | Fit | Dismiss)
            || matches!(
                self,
                AnswerQuestion
                    | Approve
                    | ApproveExact
                    | ClearFinished
                    | Deny
                    | EndPermissions
                    | LetPass
                    | Pause
                    | Rename
                    | TellAgent
            )
    }
}

macro_rules! actions {
    ($($name:ident $hint:literal $about:literal $same:literal $($also:literal)?)*) => {
        /// Something the person can ask for with a key.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[derive(strum::IntoStaticStr, strum::EnumString, strum::VariantArray)]
        #[strum(serialize_all = "kebab-case")]
        pub enum Action {
            $(#[doc = $about] $name,)*
        }

        impl Action {
            /// All actions, in the order help lists them.
            pub const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;

            /// Returns its name, the same in keymaps and in the palette: `page-up`.
            #[must_use]
            pub fn name(self) -> &'static str {
                self.into()
            }

            /// Returns the word or two that stand beside the key on the status line.
            #[must_use]
            pub fn hint(self) -> &'static str {
                match self { $(Self::$name => $hint,)* }
            }

            /// Returns what the action does, for help.
            #[must_use]
            pub fn about(self) -> &'static str {
                match self { $(Self::$name => $about,)* }
            }

            /// Returns the tool or command that does the same, or an empty text.
            #[must_use]
            pub fn equivalent(self) -> &'static str {
                match self { $(Self::$name => $same,)* }
            }

            /// Returns other words by which people look for it, or an empty text.
            #[must_use]
            pub fn synonyms(self) -> &'static str {
                match self { $(Self::$name => concat!($($also)?),)* }
            }
        }
    };
}

actions! {
    Input "input" "Type into the task, every key" "TaskInput keys" "type interactive attach"
    SendLine "send line" "Write one line and send it" "TaskInput input" "compose answer reply line"
    Leave "leave" "Leave the task, back to observing" ""
    Send "send" "Send what is written" "TaskInput input"
    SendOn "send on" "Send it and write another line" "TaskInput input"
    Newline "newline" "Put a line break into it" ""
    Raw "raw" "Send each key as it is typed" "TaskInput keys"
    Pause "pause agents" "Pause agents, or resume them" "" "hold freeze agents go on continue"
    TellAgent "tell agent" "Write to the agent" "" "message note words"
    ToAgent "to agent" "To the agent's own window or pane" "" "jump go show where tmux terminal"
    Approvals "approvals" "To the calls that need approval" "" "approve allow permission held gate"
    Approve "run" "Approve: let this call run, once" "" "approve allow run it"
    ApproveExact "allow" "Approve it, and the same from now on" ""
    ApproveWider "allow more" "Approve it, and what begins like it" ""
    Deny "deny" "Deny it, with a note" "" "reject refuse disallow"
    NextHeld "next" "The next call awaiting approval" ""
    Attention "attention" "What waits for you, oldest first" "" "attend inbox waiting needs"
    WhileAway "while away" "What happened while you were away" "" "missed summary since absent sheet"
    LeftRunning "left running" "What an agent left running" "TaskList"
        "leftovers orphans agent gone ended"
    AnswerQuestion "answer" "Answer what the program asks" "QuestionAnswer"
    ApproveGate "approve" "Approve: the program goes on" ""
    ApproveTurn "all this turn" "Allow an agent all of its turn" "" "allow session prompts everything"
    ApproveAlike "alike" "Allow what is like it for 15 minutes" "" "allow prefix same command prompts"
    EndPermissions "ask again" "Ask again about each agent's prompt" ""
        "revoke permission end take back turn alike 15 minutes"
    RejectGate "reject" "Reject: the program does as it says" ""
    Yes "yes" "Yes" "QuestionAnswer"
    No "no" "No" "QuestionAnswer"
    Choose "choose" "Take the one pointed at" "QuestionAnswer"
    RunAgain "run again" "Run the command in doubt again" ""
    Skip "skip" "Go on after the command in doubt" ""
    Abort "end program" "End the program here" ""
    Note "note" "Write why, for the record" "QuestionAnswer comment"
    LetAgents "agents" "Let agents answer it, or not" ""
    Start "start" "Start a command here" "ExecCommand" "run command new shell"
    Run "run" "Start it" "ExecCommand"
    Restart "restart" "Stop it if it runs, and run it again" "ExecCommand" "rerun repeat again"
    LetPass "let pass" "Let it pass the queue of its lane" "" "lane queue slot start now skip jump"
    Stop "stop" "Stop the task: TERM, then KILL" "TaskStop"
    Kill "kill" "Kill the task at once" "TaskStop force"
    Signal "signal" "Send it a signal" "TaskStop signal"
    Interrupt "INT" "Interrupt, as Ctrl-C would" "TaskStop signal"
    Terminate "TERM" "Ask it to end" "TaskStop signal"
    HangUp "HUP" "Hang up; many servers reload" "TaskStop signal"
    QuitSignal "QUIT" "Quit with a core dump or a trace" "TaskStop signal"
    User1 "USR1" "First user signal" "TaskStop signal"
    User2 "USR2" "Second user signal" "TaskStop signal"
    Release "give back" "Give the turn back to the agent" ""
    Fit "fit" "Fit the task to its pane" "TaskInput resize"
    Dismiss "clear" "Clear finished task" "" "dismiss remove take off the list"
    ClearFinished "clear all" "Clear all finished tasks" "" "dismiss remove take off the list"
    Undo "undo" "Bring back what was just cleared" ""
    Filter "filter" "List some tasks: by state, by who" "" "failed agent session show only"
    ArrangeList "order" "Order, groups, columns of the list" ""
        "sort group columns age idle duration exit directory agent session"
    Rename "name" "Give the task a name" ""
    Watch "watch" "Ring for its end, silence or output" ""
    Replay "replay" "Play the task again, from its log" "task export --as cast"
    Play "play or stop" "Play on, or stand still" ""
    Faster "faster" "Play faster, up to 8 times" ""
    Slower "slower" "Play slower, down to as it was" ""
    StepForward "step" "To the next moment" ""
    StepBack "step back" "To the moment before" ""
    Details "details" "Details: state and its evidence" "TaskStatus" "why explain status known"
    Timeline "timeline" "The timeline of the task, or of all" "audit show"
    CopyId "copy id" "Copy the task's id" ""
    Up "up" "Up" ""
    Down "down" "Down" ""
    PageUp "page up" "Page up" ""
    PageDown "page down" "Page down" ""
    Top "top" "To the top" "" "first begin oldest"
    Bottom "bottom" "To the bottom, and follow" "" "newest last end follow tail"
    ScrollUp "back a line" "Scroll the pane back, a line" ""
    ScrollDown "on a line" "Scroll the pane on, a line" ""
    IntoPane "pane" "Keys to the pane, or to the list" ""
    PanLeft "left" "Pan the pane left" ""
    PanRight "right" "Pan the pane right" ""
    PreviousTask "previous" "Previous task" ""
    NextTask "next" "Next task" ""
    NextFailed "next failed" "To the next that failed" ""
    NextWaiting "next waiting" "To the next that waits for you" ""
    Pin "pin" "Let the task keep its pane, or not" "" "layout keep pane"
    WidenList "wider list" "A larger list" "" "layout split resize"
    NarrowList "smaller list" "A smaller list" "" "layout split resize"
    Select "select" "Select text, to copy it" ""
    SelectLines "rows" "Select whole rows" ""
    SelectBlock "block" "Select a rectangle" ""
    Yank "copy" "Copy what is selected" ""
    YankOutput "copy output" "Copy the last command's output" "TaskOutput"
    Left "left" "One column left" ""
    Right "right" "One column right" ""
    LineStart "start" "To the start of the row" ""
    LineEnd "end" "To the end of the row" ""
    Search "search" "Search the output, backwards" "TaskOutput"
    SearchAll "search all" "Search the output of all tasks" "" "grep find everywhere across"
    Timestamps "times" "The time beside each line, or not" "" "clock when date log"
    Changes "changed files" "What differs in the tree since then" "TaskStatus"
        "git status diff modified files ledger"
    Cost "cost" "What its command would cost, run now" "consequence"
        "consequence delete overwrite lose danger price before"
    UndoChanges "undo changes" "Put back the files that differ since" "task undo"
        "revert restore rollback ledger files"
    Find "find" "Find it" ""
    Compare "compare" "Mark the call, or compare with it" ""
    ModelSaw "model saw" "What the model saw of the output" ""
    Share "share" "Share the call: a page for others" "" "html page link picture export save send"
    ShareSvg "share" "Share the call as a picture" "" "image svg export save send"
    Fold "fold" "Fold, unfold a batch or an object" ""
    NextPart "next part" "To the next change or part" ""
    PreviousPart "part before" "To the change or part before" ""
    FindText "find" "List what has a text, or find it" "" "filter search grep text list tasks calls"
    NextFound "next" "Next match" ""
    PreviousFound "previous" "Previous match" ""
    NextMatch "older" "Next match, further back" ""
    PreviousMatch "newer" "Previous match, back to the end" ""
    PreviousPrompt "prompt" "To the prompt before, further back" ""
    NextPrompt "next prompt" "To the next prompt, back to the end" ""
    NextColumn "column" "Next column" ""
    PreviousColumn "back" "Previous column" ""
    OpenTask "task" "Go to the call's task" "TaskStatus"
    SmallerBudget "smaller budget" "Smaller budget: compact it" "receipt compact --budget" "less room"
    LargerBudget "larger budget" "Larger budget" "receipt compact --budget"
    FullBudget "full budget" "Full budget: as it was sent" "receipt render"
    CopyText "copy" "Copy the receipt or envelope shown" ""
    Export "export" "Export: a file or a picture" "task export" "save keep file download"
    Screenshot "screenshot" "Screenshot" "" "picture image capture print"
    ScreenshotHtml "screenshot" "Screenshot as a page (HTML)" ""
    ScreenshotText "screenshot" "Screenshot as text" ""
    ScreenshotAnsi "screenshot" "Screenshot as text with colours" ""
    Layouts "layouts" "How many panes, and how they stand" "" "layout split grid tile tiling panes arrange"
    NextLayout "layout" "The next layout" "" "layout split grid tile cycle panes"
    Zoom "zoom" "The task alone, without the rest" "" "layout fullscreen maximize"
    ShowTasks "tasks" "All tasks and their panes" "TaskList"
    ShowFocus "focus" "The selected task, full size" "TaskOutput"
    ShowReceipts "receipts" "Every call: receipt and envelope" ""
    ShowMetrics "metrics" "The counters" "metrics show"
    ExportMetrics "metrics" "Export the counters as JSON" "metrics show --output json"
    ShowProgram "program" "The program: source and values" ""
    NextPane "pane" "Next command of the program" ""
    PreviousProgram "previous" "Previous program" ""
    NextProgram "next" "Next program" ""
    Places "places" "The places: show one, open another" "fleet"
        "fleet runtimes workspaces worktrees hosts machines switch"
    Palette "all" "Everything there is, by name" "" "past yesterday history earlier recordings"
    Messages "messages" "What was said since it opened" ""
    Themes "themes" "Try themes and keep one" ""
    EditSettings "settings" "Edit the settings in your editor" "config edit"
    Mouse "mouse" "Mouse here, or the terminal's own" ""
    Help "help" "The keys that work here" ""
    Back "back" "Back, close, clear messages" ""
    Confirm "yes" "Yes, do it" ""
    Suspend "suspend" "Back to the shell; fg returns" "" "stop background job shell ctrl-z fg"
    Detach "detach" "Close the console; tasks go on" "serve" "leave running background disconnect"
    StopAll "stop all" "Stop all tasks and quit" "serve --stop"
    Quit "quit" "Quit the console" ""
}
