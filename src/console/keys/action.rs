//! Everything a key can do, defined in one place: name, hint, description and equivalent.
//!
//! The keymap binds keys to these names; help, hints and dialogs are generated from this table. What an
//! action does is decided in `console/app/actions.rs`, never here.

use super::wish::Wish;

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
}

macro_rules! actions {
    ($($wish:ident: $name:ident $($changes:ident)? $hint:literal $about:literal $same:literal $($also:literal)?)*) => {
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

            /// Returns what somebody wants who presses its key.
            #[must_use]
            pub fn wish(self) -> Wish {
                match self { $(Self::$name => Wish::$wish,)* }
            }

            /// Tells whether it affects a task or starts one, which recordings do not allow.
            #[must_use]
            pub fn changes(self) -> bool {
                match self { $(Self::$name => !stringify!($($changes)?).is_empty(),)* }
            }
        }
    };
}

actions! {
    Answer: Input "input" "Type into the task, every key" "TaskInput keys" "type interactive attach"
    Answer: SendLine changes "send line" "Write one line and send it" "TaskInput input" "compose answer reply line"
    Answer: Leave "leave" "Leave the task, back to observing" ""
    Answer: Send "send" "Send what is written" "TaskInput input"
    Answer: SendOn "send on" "Send it and write another line" "TaskInput input"
    Answer: Newline "newline" "Put a line break into it" ""
    Answer: Raw "raw" "Send each key as it is typed" "TaskInput keys"
    Stop: Pause changes "pause agents" "Pause agents, or resume them" "" "hold freeze agents go on continue"
    Answer: TellAgent changes "tell agent" "Write to the agent" "" "message note words"
    See: ToAgent "to agent" "To the agent's own window or pane" "" "jump go show where tmux terminal"
    See: Approvals "approvals" "To the calls that need approval" "" "approve allow permission held gate"
    Answer: Approve changes "run" "Approve: let this call run, once" "" "approve allow run it"
    Answer: ApproveExact changes "allow" "Approve it, and the same from now on" ""
    Answer: ApproveWider "allow more" "Approve it, and what begins like it" ""
    Answer: Deny changes "deny" "Deny it, with a note" "" "reject refuse disallow"
    See: NextHeld "next" "The next call awaiting approval" ""
    See: Attention "attention" "What waits for you, oldest first" "" "attend inbox waiting needs"
    See: WhileAway "while away" "What happened while you were away" "" "missed summary since absent sheet"
    See: LeftRunning "left running" "What an agent left running" "TaskList"
        "leftovers orphans agent gone ended"
    Answer: AnswerQuestion changes "answer" "Answer what the program asks" "QuestionAnswer"
    Answer: ApproveGate "approve" "Approve: the program goes on" ""
    Answer: ApproveTurn "all this turn" "Allow an agent all of its turn" "" "allow session prompts everything"
    Answer: ApproveAlike "alike" "Allow what is like it for 15 minutes" "" "allow prefix same command prompts"
    Answer: EndPermissions changes "ask again" "Ask again about each agent's prompt" ""
        "revoke permission end take back turn alike 15 minutes"
    Answer: RejectGate "reject" "Reject: the program does as it says" ""
    Answer: Yes "yes" "Yes" "QuestionAnswer"
    Answer: No "no" "No" "QuestionAnswer"
    See: Choose "choose" "Take the one pointed at" "QuestionAnswer"
    Stop: RunAgain "run again" "Run the command in doubt again" ""
    Stop: Skip "skip" "Go on after the command in doubt" ""
    Stop: Abort "end program" "End the program here" ""
    Answer: Note "note" "Write why, for the record" "QuestionAnswer comment"
    Answer: LetAgents "agents" "Let agents answer it, or not" ""
    Stop: Start changes "start" "Start a command here" "ExecCommand" "run command new shell"
    Stop: Run changes "run" "Start it" "ExecCommand"
    Stop: Restart changes "restart" "Stop it if it runs, and run it again" "ExecCommand" "rerun repeat again"
    Stop: LetPass changes "let pass" "Let it pass the queue of its lane" "" "lane queue slot start now skip jump"
    Stop: Stop changes "stop" "Stop the task: TERM, then KILL" "TaskStop"
    Stop: Kill changes "kill" "Kill the task at once" "TaskStop force"
    Stop: Signal changes "signal" "Send it a signal" "TaskStop signal"
    Stop: Interrupt "INT" "Interrupt, as Ctrl-C would" "TaskStop signal"
    Stop: Terminate "TERM" "Ask it to end" "TaskStop signal"
    Stop: HangUp "HUP" "Hang up; many servers reload" "TaskStop signal"
    Stop: QuitSignal "QUIT" "Quit with a core dump or a trace" "TaskStop signal"
    Stop: User1 "USR1" "First user signal" "TaskStop signal"
    Stop: User2 "USR2" "Second user signal" "TaskStop signal"
    Answer: Release changes "give back" "Give the turn back to the agent" ""
    Arrange: Fit changes "fit" "Fit the task to its pane" "TaskInput resize"
    Arrange: Dismiss changes "clear" "Clear finished task" "" "dismiss remove take off the list"
    Arrange: ClearFinished changes "clear all" "Clear all finished tasks" "" "dismiss remove take off the list"
    Arrange: Undo "undo" "Bring back what was just cleared" ""
    Arrange: Filter "filter" "List some tasks: by state, by who" "" "failed agent session show only"
    Arrange: ArrangeList "order" "Order, groups, columns of the list" ""
        "sort group columns age idle duration exit directory agent session"
    Arrange: Rename changes "name" "Give the task a name" ""
    Stop: Watch "watch" "Ring for its end, silence or output" ""
    Read: Replay "replay" "Play the task again, from its log" "task export --as cast"
    Read: Play "play or stop" "Play on, or stand still" ""
    Read: Faster "faster" "Play faster, up to 8 times" ""
    Read: Slower "slower" "Play slower, down to as it was" ""
    Read: StepForward "step" "To the next moment" ""
    Read: StepBack "step back" "To the moment before" ""
    See: Details "details" "Details: state and its evidence" "TaskStatus" "why explain status known"
    See: Timeline "timeline" "The timeline of the task, or of all" "audit show"
    Read: CopyId "copy id" "Copy the task's id" ""
    See: Up "up" "Up" ""
    See: Down "down" "Down" ""
    Read: PageUp "page up" "Page up" ""
    Read: PageDown "page down" "Page down" ""
    See: Top "top" "To the top" "" "first begin oldest"
    See: Bottom "bottom" "To the bottom, and follow" "" "newest last end follow tail"
    Read: ScrollUp "back a line" "Scroll the pane back, a line" ""
    Read: ScrollDown "on a line" "Scroll the pane on, a line" ""
    See: IntoPane "pane" "Keys to the pane, or to the list" ""
    Read: PanLeft "left" "Pan the pane left" ""
    Read: PanRight "right" "Pan the pane right" ""
    See: PreviousTask "previous" "Previous task" ""
    See: NextTask "next" "Next task" ""
    See: NextFailed "next failed" "To the next that failed" ""
    See: NextWaiting "next waiting" "To the next that waits for you" ""
    Arrange: Pin "pin" "Let the task keep its pane, or not" "" "layout keep pane"
    Arrange: WidenList "wider list" "A larger list" "" "layout split resize"
    Arrange: NarrowList "smaller list" "A smaller list" "" "layout split resize"
    Read: Select "select" "Select text, to copy it" ""
    Read: SelectLines "rows" "Select whole rows" ""
    Read: SelectBlock "block" "Select a rectangle" ""
    Read: Yank "copy" "Copy what is selected" ""
    Read: YankOutput "copy output" "Copy the last command's output" "TaskOutput"
    Read: Left "left" "One column left" ""
    Read: Right "right" "One column right" ""
    Read: LineStart "start" "To the start of the row" ""
    Read: LineEnd "end" "To the end of the row" ""
    Read: Search "search" "Search the output, backwards" "TaskOutput"
    Read: SearchAll "search all" "Search the output of all tasks" "" "grep find everywhere across"
    Read: Timestamps "times" "The time beside each line, or not" "" "clock when date log"
    Read: Changes "changed files" "What differs in the tree since then" "TaskStatus"
        "git status diff modified files ledger"
    Read: Cost "cost" "What its command would cost, run now" "consequence"
        "consequence delete overwrite lose danger price before"
    Stop: UndoChanges "undo changes" "Put back the files that differ since" "task undo"
        "revert restore rollback ledger files"
    Read: Find "find" "Find it" ""
    Read: Compare "compare" "Mark the call, or compare with it" ""
    Read: ModelSaw "model saw" "What was given of the output" ""
    Read: Share "share" "Share the call: a page for others" "" "html page link picture export save send"
    Read: ShareSvg "share" "Share the call as a picture" "" "image svg export save send"
    Read: Fold "fold" "Fold, unfold a batch or an object" ""
    Read: NextPart "next part" "To the next change or part" ""
    Read: PreviousPart "part before" "To the change or part before" ""
    Read: FindText "find" "List what has a text, or find it" "" "filter search grep text list tasks calls"
    Read: NextFound "next" "Next match" ""
    Read: PreviousFound "previous" "Previous match" ""
    Read: NextMatch "older" "Next match, further back" ""
    Read: PreviousMatch "newer" "Previous match, back to the end" ""
    Read: PreviousPrompt "prompt" "To the prompt before, further back" ""
    Read: NextPrompt "next prompt" "To the next prompt, back to the end" ""
    See: NextColumn "column" "Next column" ""
    See: PreviousColumn "back" "Previous column" ""
    See: OpenTask "task" "Go to the call's task" "TaskStatus"
    Read: SmallerBudget "smaller budget" "Smaller budget: compact it" "receipt compact --budget" "less room"
    Read: LargerBudget "larger budget" "Larger budget" "receipt compact --budget"
    Read: FullBudget "full budget" "Full budget: as it was sent" "receipt render"
    Read: CopyText "copy" "Copy the receipt or envelope shown" ""
    Read: Export "export" "Export: a file or a picture" "task export" "save keep file download"
    Read: Screenshot "screenshot" "Screenshot" "" "picture image capture print"
    Read: ScreenshotHtml "screenshot" "Screenshot as a page (HTML)" ""
    Read: ScreenshotText "screenshot" "Screenshot as text" ""
    Read: ScreenshotAnsi "screenshot" "Screenshot as text with colours" ""
    Arrange: Layouts "layouts" "How many panes, and how they stand" "" "layout split grid tile tiling panes arrange"
    Arrange: NextLayout "layout" "The next layout" "" "layout split grid tile cycle panes"
    Arrange: Zoom "zoom" "The task alone, without the rest" "" "layout fullscreen maximize"
    See: ShowTasks "tasks" "All tasks and their panes" "TaskList"
    See: ShowFocus "focus" "The selected task, full size" "TaskOutput"
    See: ShowReceipts "receipts" "Every call: receipt and envelope" ""
    See: ShowMetrics "metrics" "The counters" "metrics show"
    Read: ExportMetrics "metrics" "Export the counters as JSON" "metrics show --output json"
    See: ShowProgram "program" "The program: source and values" ""
    See: NextPane "pane" "Next command of the program" ""
    See: PreviousProgram "previous" "Previous program" ""
    See: NextProgram "next" "Next program" ""
    See: Places "places" "The places: show one, open another" "fleet"
        "fleet runtimes workspaces worktrees hosts machines switch"
    See: Palette "all" "Everything there is, by name" "" "past yesterday history earlier recordings"
    See: Messages "messages" "What was said since it opened" ""
    Arrange: Themes "themes" "Try themes and keep one" ""
    Arrange: EditSettings "settings" "Edit the settings in your editor" "config edit"
    Arrange: Mouse "mouse" "Mouse here, or the terminal's own" ""
    See: Help "help" "The keys that work here" ""
    See: Back "back" "Back, close, clear messages" ""
    Answer: Confirm "yes" "Yes, do it" ""
    Stop: Suspend "suspend" "Back to the shell; fg returns" "" "stop background job shell ctrl-z fg"
    Stop: Detach "detach" "Close the console; tasks go on" "serve" "leave running background disconnect"
    Stop: StopAll "stop all" "Stop all tasks and quit" "serve --stop"
    Stop: Quit "quit" "Quit the console" ""
}
