//! Everything a key can do, said once: name, hint, description and the same act elsewhere.
//!
//! The keymap binds keys to these names; help, hints and dialogs are made from this table. What an
//! action does is decided in `update`, never here.

impl Action {
    /// Tells whether it is reached by its name in the palette, also without a key.
    #[must_use]
    pub fn is_by_name(self) -> bool {
        matches!(self, Self::Messages | Self::Themes | Self::EditSettings | Self::ExportMetrics)
            || matches!(self, Self::ExportScreenHtml | Self::ExportScreenText | Self::ExportScreenAnsi)
    }

    /// Returns the action of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        name.parse().ok()
    }

    /// Tells whether it does something to a task or starts one: what a recording refuses.
    #[must_use]
    pub fn changes(self) -> bool {
        use Action::{AnswerQuestion, Approve, ApproveExact, ClearFinished, Deny, Pause, Rename, TellAgent};
        use Action::{Dismiss, Fit, Kill, Line, Release, Restart, Run, Signal, Start, Stop};
        matches!(self, Line | Start | Run | Restart | Stop | Kill | Signal | Release | Fit | Dismiss)
            || matches!(
                self,
                AnswerQuestion | Approve | ApproveExact | ClearFinished | Deny | Pause | Rename | TellAgent
            )
    }
}

macro_rules! actions {
    ($($name:ident $hint:literal $about:literal $same:literal)*) => {
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
            pub fn name(self) -> String {
                <&str>::from(self).to_owned()
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
        }
    };
}

actions! {
    Type "type" "Type into the task, every key" "TaskInput keys"
    Line "line" "Write one line and send it" "TaskInput input"
    Leave "leave" "Leave the task, back to observing" ""
    Send "send" "Send what is written" "TaskInput input"
    SendOn "send on" "Send it and write another line" "TaskInput input"
    Newline "newline" "Put a line break into it" ""
    Raw "raw" "Send each key as it is typed" "TaskInput keys"
    Pause "pause agents" "Hold new agent calls, or go on" ""
    TellAgent "tell agent" "Tell the agent, in its next answer" ""
    Approvals "approvals" "To the calls that wait for your word" ""
    Approve "run it" "Let this call run, once" ""
    ApproveExact "allow" "Run it, ask no more about the same" ""
    ApproveWider "allow more" "Run it, and what begins like it" ""
    Deny "deny" "Do not run it, and say why" ""
    NextHeld "next" "The next call that waits" ""
    Attend "attention" "What waits for you, oldest first" ""
    AnswerQuestion "answer" "Answer what the program asks" "QuestionAnswer"
    ApproveGate "approve" "Approve: the program goes on" ""
    RejectGate "reject" "Reject: the program does as it says" ""
    Yes "yes" "Yes" "QuestionAnswer"
    No "no" "No" "QuestionAnswer"
    Choose "choose" "Take the one pointed at" "QuestionAnswer"
    RunAgain "run again" "Run the command in doubt again" ""
    Skip "skip" "Go on after the command in doubt" ""
    Abort "end program" "End the program here" ""
    Note "note" "Write why, for the record" "QuestionAnswer comment"
    LetAgents "agents" "Let agents answer it, or not" ""
    Start "start" "Start a command here" "ExecCommand"
    Run "run" "Start it" "ExecCommand"
    Restart "restart" "Stop it if it runs, and run it again" "ExecCommand"
    Stop "stop" "Stop the task: TERM, then KILL" "TaskStop"
    Kill "kill" "Kill the task at once" "TaskStop force"
    Signal "signal" "Send it a signal" "TaskStop signal"
    Interrupt "INT" "Interrupt, as Ctrl-C would" "TaskStop signal"
    Terminate "TERM" "Ask it to end" "TaskStop signal"
    HangUp "HUP" "Hang up; many servers reload" "TaskStop signal"
    QuitSignal "QUIT" "Quit with a core dump or a trace" "TaskStop signal"
    User1 "USR1" "First user signal" "TaskStop signal"
    User2 "USR2" "Second user signal" "TaskStop signal"
    Release "give back" "Give the input back to the agent" ""
    Fit "fit" "Fit the task to its pane" "TaskInput resize"
    Dismiss "dismiss" "Take a finished task off the list" ""
    ClearFinished "clear" "Take all finished tasks off the list" ""
    Undo "undo" "Bring back what was just cleared" ""
    Filter "filter" "List some tasks: by state, by who" ""
    Rename "name" "Give the task a name" ""
    Watch "watch" "Ring for its end, silence or output" ""
    Replay "replay" "Play the task again, from its log" "task export --as cast"
    Play "play or stop" "Play on, or stand still" ""
    Faster "faster" "Play faster, up to 8 times" ""
    Slower "slower" "Play slower, down to as it was" ""
    StepForward "step" "To the next moment" ""
    StepBack "step back" "To the moment before" ""
    Why "why" "What is known of it, and from where" "TaskStatus"
    Timeline "timeline" "The timeline of the task, or of all" "audit show"
    CopyId "copy id" "Copy the task's id" ""
    Up "up" "One up" ""
    Down "down" "One down" ""
    PageUp "page up" "One page up" ""
    PageDown "page down" "One page down" ""
    First "first" "To the beginning" ""
    Last "newest" "To the end, and follow it" ""
    ScrollUp "back a line" "Scroll the pane back, a line" ""
    ScrollDown "on a line" "Scroll the pane on, a line" ""
    IntoPane "pane" "Keys to the pane, or to the list" ""
    PanLeft "left" "Pan the pane left" ""
    PanRight "right" "Pan the pane right" ""
    PreviousTask "previous" "Previous task" ""
    NextTask "next" "Next task" ""
    Pin "pin" "Let the task keep its pane, or not" ""
    WidenList "wider list" "A larger list" ""
    NarrowList "smaller list" "A smaller list" ""
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
    Find "find" "Find it" ""
    Compare "compare" "Mark the call, or compare with it" ""
    Seen "seen" "What of the output the agent saw" ""
    Fold "fold" "Fold or unfold; else next column" ""
    NextPart "next part" "To the next change or part" ""
    PreviousPart "part before" "To the change or part before" ""
    FindText "find" "Find in the text that is read" ""
    NextFound "next" "Next place it stands in" ""
    PreviousFound "previous" "Previous place it stands in" ""
    NextMatch "older" "Next match, further back" ""
    PreviousMatch "newer" "Previous match, back to the end" ""
    PreviousPrompt "prompt" "To the prompt before, further back" ""
    NextPrompt "next prompt" "To the next prompt, back to the end" ""
    NextColumn "column" "Next column" ""
    PreviousColumn "back" "Previous column" ""
    OpenTask "task" "Go to the call's task" "TaskStatus"
    LessRoom "less room" "Compact it: a smaller budget" "receipt compact --budget"
    MoreRoom "more room" "A larger budget, up to all of it" "receipt compact --budget"
    AllRoom "all of it" "The answer as it was sent" "receipt render"
    CopyText "copy" "Copy the receipt or envelope shown" ""
    Export "export" "Keep it as a file or a picture" "task export"
    ExportScreenSvg "picture" "Keep a picture of the screen" ""
    ExportScreenHtml "page" "Keep the screen as a page" ""
    ExportScreenText "text" "Keep the screen as text" ""
    ExportScreenAnsi "ansi" "Keep the screen as text with colours" ""
    Zoom "zoom" "The task alone, without the rest" ""
    ShowTasks "tasks" "All tasks and their panes" "TaskList"
    ShowFocus "focus" "The selected task, full size" "TaskOutput"
    ShowReceipts "receipts" "Every call: receipt and envelope" ""
    ShowMetrics "metrics" "The counters" "metrics show"
    ExportMetrics "metrics" "Keep the counters as JSON" "metrics show --output json"
    ShowProgram "program" "The program: source and values" ""
    NextPane "pane" "Next command of the program" ""
    PreviousProgram "previous" "Previous program" ""
    NextProgram "next" "Next program" ""
    Palette "all" "Everything there is, by name" ""
    Messages "messages" "What was said since it opened" ""
    Themes "themes" "Try themes and keep one" ""
    EditSettings "settings" "Edit the settings in your editor" "config edit"
    Mouse "mouse" "Mouse here, or the terminal's own" ""
    Help "help" "The keys that work here" ""
    Back "back" "Back, close, clear messages" ""
    Confirm "yes" "Yes, do it" ""
    Detach "detach" "Close the console; tasks go on" "serve"
    StopAll "stop all" "Stop all tasks and quit" "serve --stop"
    Quit "quit" "Quit the console" ""
}
