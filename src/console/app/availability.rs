//! Which actions are available now, and why others are not. Used by hints, help, the palette and every key.

use crate::console::app::App;
use crate::console::app::layer::Layer;
use crate::console::features::approval::wider_for;
use crate::console::features::pane::fit;
use crate::console::features::question::permission;
use crate::console::features::{changes, next, task_list, undo};
use crate::console::keys::{Action, KeyContext};
use crate::console::state::{Breakpoint, Column, Mode, Obstacle, Prompt, Screen, takes_input};
use crate::envelope::Actor;
use crate::model::phrases::{NO_HELD_CALL, NOTHING_WAITS, TASK_GOES_ON};
use crate::model::{HoldReason, TaskStatus};
use crate::terminal::KeyPress;

fn place(is_here: bool, place: &'static str) -> Result<(), Obstacle> {
    if is_here { Ok(()) } else { Err(Obstacle::Elsewhere(place)) }
}

fn need(is_there: bool, missing: &'static str) -> Result<(), Obstacle> {
    if is_there { Ok(()) } else { Err(Obstacle::Missing(missing)) }
}

impl App {
    /// Tells whether an action is available now.
    pub fn can(&self, action: Action) -> bool {
        self.availability(action).is_ok()
    }

    /// Checks whether an action is available now.
    ///
    /// # Errors
    /// Why it would do nothing. Being in the wrong part of the console takes precedence over being in a
    /// recording or without a runtime.
    pub fn availability(&self, action: Action) -> Result<(), Obstacle> {
        match self.requirements(action) {
            Err(Obstacle::Elsewhere(place)) => Err(Obstacle::Elsewhere(place)),
            _ if self.state.setup.recording.is_some() && action.changes() => Err(Obstacle::Recording),
            Err(_) if self.state.view.is_lost => Err(Obstacle::Lost),
            other => other,
        }
    }

    /// Says why an action does nothing now: a key that does so silently looks like a typo.
    pub(in crate::console) fn refuse(&mut self, action: Action, why: Obstacle) {
        match why {
            Obstacle::Place => {
                let told = self.state.refusal_at_hand();
                told.into_iter().for_each(|told| self.state.toasts.fail(told, None));
            }
            why => self.state.decline(format!("{}: {why}", action.name())),
        }
    }

    /// Says that a key means nothing where it was pressed.
    pub(in crate::console) fn say_unbound(&mut self, key: KeyPress) {
        let keymap = &self.state.setup.keymap;
        let help = keymap.key(self.context(), Action::Help).map(|help| format!("; {help} lists the keys"));
        let text = format!("{} does nothing here{}", keymap.key_name(key), help.unwrap_or_default());
        self.state.decline(text)
    }

    /// Checks the preconditions of an action. Every action must be named here: there is no wildcard arm.
    fn requirements(&self, action: Action) -> Result<(), Obstacle> {
        use Action::*;
        let state = &self.state;
        let snapshot = &state.view.snapshot;
        let is_on = |screen| state.focus.screen == screen;
        let task = state.at_hand();
        let batch = state.batch_at_hand();
        let missing = if batch.is_some() {
            "a batch has no tasks before it is approved"
        } else {
            "no task is selected"
        };
        let selected = need(task.is_some(), missing);
        let anywhere = if state.view.is_lost { Err(Obstacle::Lost) } else { Ok(()) };
        let live = if state.setup.recording.is_some() { Err(Obstacle::Recording) } else { Ok(()) };
        // Actions on the current task require its place to be attached; for other actions, each place reports
        // this itself.
        let runtime = anywhere.and(live).and(state.place_is_attached());
        let is_listed = matches!(state.focus.screen, Screen::Tasks | Screen::Focus);
        let tasks = place(is_on(Screen::Tasks), "on the screen of all tasks only");
        let list = place(is_listed, "beside the list of tasks only");
        let pane = place(is_listed || is_on(Screen::Program), "beside panes only");
        let receipts = place(is_on(Screen::Receipts), "in receipts only");
        let program = place(is_on(Screen::Program), "on the program's screen");
        let held = self.held_call();
        let card = place(held.is_some(), "on the card of a call: approvals");
        let answerable = held.map_or(Ok(()), |held| state.number_is_attached(held.ticket));
        let prompt = if let Mode::Write(prompt, _) = &state.focus.mode { Some(prompt) } else { None };
        let has_ended = task.is_some_and(|task| task.status.is_terminal());
        let unended = need(!has_ended, "the task has ended");
        match action {
            Up | Down | PageUp | PageDown | Top | Bottom | ShowTasks | ShowFocus | ShowReceipts
            | ShowMetrics | ShowProgram | Attention | Export | ExportMetrics | Screenshot
            | ScreenshotHtml | ScreenshotText | ScreenshotAnsi | Palette | Themes | Mouse | Suspend
            | Help | Back | Quit => Ok(()),
            Places => live,
            Messages => place(!state.toasts.history().is_empty(), "nothing was said yet"),
            EditSettings => {
                place(state.setup.program.is_some(), "this console cannot start itself")?;
                runtime
            }
            Detach => {
                let may_go_on = state.setup.is_remote || state.setup.can_detach;
                need(may_go_on, "the runtime cannot go on without this console")
            }
            // A runtime inside another console can only be ended there.
            StopAll => {
                let is_ours = !state.setup.is_remote || snapshot.headless;
                need(is_ours || !state.is_fleet(), "each place is ended by itself: pilothouse serve --stop")?;
                need(is_ours, "the runtime belongs to another console")
            }

            // Typing and selecting.
            Leave => {
                let is_typing = !matches!(state.focus.mode, Mode::Observe | Mode::Copy(_));
                place(is_typing, "nothing is typed into")
            }
            Send => place(
                matches!(prompt, Some(Prompt::Line(_) | Prompt::Rename(_) | Prompt::Watch(_))),
                "while writing a line",
            ),
            SendOn | Newline | Raw => place(matches!(prompt, Some(Prompt::Line(_))), "while writing a line"),
            Run => place(matches!(prompt, Some(Prompt::Start)), "while writing a command"),
            Find => place(
                prompt.is_some_and(|prompt| prompt.context() == KeyContext::Search),
                "while writing a search",
            ),
            Confirm => place(
                matches!(self.layers.last(), Some(Layer::Paste(..) | Layer::Undo(_))),
                "when something is asked",
            ),
            SelectLines | SelectBlock | Yank | Left | Right | LineStart | LineEnd => {
                place(state.copying().is_some(), "while selecting text: select")
            }

            // Tasks.
            Input if batch.is_some() => anywhere,
            Input if state.agent_pointed_at().is_some() => Ok(()),
            Input => selected.and(state.place_is_attached()),
            SendLine => {
                runtime.and(selected).and(unended)?;
                need(task.is_some_and(|task| takes_input(task)), "the task takes no input")
            }
            Stop | Kill => runtime.and(selected).and(unended),
            Signal | Interrupt | Terminate | HangUp | QuitSignal | User1 | User2 => {
                let is_running = task.is_some_and(|task| task.status == TaskStatus::Running);
                runtime.and(selected).and(need(is_running, "the task has ended"))
            }
            Release => {
                let lease = task.and_then(|task| task.lease.as_ref());
                let is_ours = lease.is_some_and(|lease| lease.holder == Actor::Operator);
                runtime.and(need(is_ours, "it is not your turn there"))
            }
            LetPass => {
                let is_queued = task.is_some_and(|task| task.queued.is_some());
                runtime.and(need(is_queued, "the task waits in no lane"))
            }
            Fit => {
                let fits_badly = task.is_some_and(|task| fit::fits_badly(state, task));
                pane.and(runtime).and(need(fits_badly, "no task that has another size than its pane"))
            }
            Restart => runtime.and(selected),
            Dismiss => runtime.and(selected).and(need(has_ended, TASK_GOES_ON)),
            Start => runtime,
            Pause => anywhere,
            LeftRunning => {
                need(self.attention.departure(state).is_some(), "no agent has gone and left anything running")
            }
            WhileAway => need(self.absence.sheet.is_some(), "you have not been away"),
            Undo => need(!state.view.cleared.is_empty(), "nothing was cleared just now"),
            ToAgent => need(self.agent_to_show().is_some(), "no agent and nothing of one is selected"),
            TellAgent => anywhere.and(need(state.has_agent(), "no agent is connected")),
            Rename => list.and(runtime).and(selected),
            Watch => list.and(selected).and(unended),
            ClearFinished => {
                let has_finished = snapshot.tasks.iter().any(|task| task.status.is_terminal());
                list.and(anywhere).and(need(has_finished, "there is nothing to do it to"))
            }
            Timeline => {
                let layout = state.layout();
                let room = layout.breakpoint;
                let has_room = !state.division.is_zoomed
                    && match state.focus.screen {
                        Screen::Focus => room != Breakpoint::Small,
                        Screen::Tasks => room == Breakpoint::Full && state.division.tiling.is_none(),
                        _ => false,
                    };
                let is_shown = !layout.timeline.is_empty();
                list.and(selected).and(need(has_room || is_shown, "no room for it here: focus shows it"))
            }
            Pin => list.and(selected),
            Filter if is_on(Screen::Receipts) => Ok(()),
            Filter | ArrangeList => tasks.and(need(!snapshot.tasks.is_empty(), "there are no tasks")),
            Layouts | NextLayout | WidenList | NarrowList => tasks,
            NextFailed | NextWaiting => {
                let is_here = is_listed || is_on(Screen::Receipts);
                place(is_here, "in the list of tasks, and of calls")?;
                let what = if action == NextFailed { "nothing has failed" } else { NOTHING_WAITS };
                need(next::next_of(state, action).is_some(), what)
            }
            Changes => runtime.and(need(changes::has_choice(state), "no command has run yet")),
            Cost => runtime.and(selected),
            UndoChanges => runtime.and(undo::obstacle(state).map_or(Ok(()), |why| need(false, why))),
            Timestamps => pane.and(selected),
            SearchAll => need(!snapshot.tasks.is_empty(), "there are no tasks"),
            PreviousTask | NextTask => need(snapshot.tasks.len() > 1, "there is no other task"),
            Zoom | CopyId if is_on(Screen::Receipts) => Ok(()),
            Zoom | CopyId => selected,

            // Panes.
            PanLeft | PanRight => pane,
            ScrollUp | ScrollDown => list.and(selected),
            IntoPane => tasks.and(selected),
            Details | Select | YankOutput | Search => pane.and(selected),
            PreviousPrompt | NextPrompt => {
                let has_terminal = task.is_some_and(|task| task.tty);
                pane.and(selected).and(need(has_terminal, "the task has no terminal, so no prompts"))
            }
            NextMatch | PreviousMatch => {
                let is_found = state.reading.search.as_ref().is_some_and(|search| search.line().is_some());
                pane.and(need(is_found, "nothing was found"))
            }
            Replay => {
                let has_started = task.is_some_and(|task| task.started_at.is_some());
                pane.and(selected).and(need(has_started, "the task has not started"))
            }
            Play | Faster | Slower | StepForward | StepBack => {
                place(state.replay.is_some(), "while a task is played again: replay")?;
                let is_read = state.replay.as_ref().is_some_and(|replay| replay.reel.is_some());
                need(is_read, "there is nothing to do it to")
            }
            NextPart | PreviousPart => {
                place(state.reader.is_some() || state.replay.is_some(), "in a text that has parts")?;
                let has_parts = state.reader.as_ref().is_some_and(|reader| !reader.parts.is_empty());
                need(state.replay.is_some() || has_parts, "there is no other part")
            }

            // Calls.
            Approvals => anywhere.and(need(!snapshot.gate.held.is_empty(), NO_HELD_CALL)),
            NextHeld => card,
            Approve | Deny => card.and(answerable),
            ApproveExact => {
                let is_ruled = held.is_some_and(|call| matches!(call.reason, HoldReason::Rule(_)));
                card.and(answerable).and(need(is_ruled, "there is nothing to do it to"))
            }
            ApproveWider => {
                let is_plain = held.is_some_and(|call| wider_for(call).is_some());
                card.and(answerable).and(need(is_plain, "there is nothing to do it to"))
            }
            Fold if is_on(Screen::Tasks) => need(task_list::can_fold(state), "the task is of no batch"),
            NextColumn | PreviousColumn | Fold => {
                receipts.and(need(!snapshot.calls.is_empty(), "there is no call yet"))
            }
            OpenTask if is_on(Screen::Program) => {
                need(state.program_task().is_some(), "the call has no task")
            }
            OpenTask => {
                let has_task = state.shown_call().is_some_and(|call| call.task.is_some());
                receipts.and(need(has_task, "the call has no task"))
            }
            CopyText => {
                let is_read = state.calls.column != Column::Calls && self.receipts.sheet.is_some();
                receipts.and(need(is_read, "go to the receipt or the envelope first"))
            }
            SmallerBudget => {
                let is_larger = self.receipts.sheet.as_ref().is_some_and(|sheet| {
                    sheet.is_answered && sheet.budget.is_none_or(|budget| sheet.envelope_chars <= budget)
                });
                receipts.and(need(is_larger, "it is as small as it gets"))
            }
            LargerBudget | FullBudget => {
                receipts.and(need(state.calls.budget.is_some(), "all of it is shown"))
            }
            ModelSaw => {
                let is_about = state
                    .shown_call()
                    .is_some_and(|call| call.task.is_some() || call.tool == "ExecCommandBatch");
                let is_there = is_about && state.shown_record().is_some();
                receipts.and(need(is_there, "there is no answer about a task here"))
            }
            Share | ShareSvg | Compare => {
                receipts.and(need(state.reader.is_none(), "leave this text first"))?;
                let what = match action {
                    Compare => "there is no answer to compare yet",
                    _ => "there is no answer to share yet",
                };
                need(state.shown_record().is_some(), what)
            }
            FindText if is_on(Screen::Tasks) => need(self.can_find(), "there are no tasks"),
            FindText => receipts.and(need(self.can_find(), "there is no answer to read yet")),
            NextFound | PreviousFound => {
                let is_found = self.can_find() && state.calls.finding.is_some();
                receipts.and(need(is_found, "nothing was looked for"))
            }

            // Programs and their questions.
            PreviousProgram | NextProgram => need(snapshot.programs.len() > 1, "there is no other program"),
            NextPane => program.and(need(state.program_task().is_some(), "the program has run no command")),
            AnswerQuestion => {
                let asks = state.program_question().is_some();
                // Read it can be wherever it was asked; its dialog says where it cannot be answered.
                program.and(anywhere).and(need(asks, "the program asks nothing"))
            }
            ApproveTurn | ApproveAlike => {
                let Some(Layer::Question(dialog)) = self.layers.last() else {
                    return Err(Obstacle::Elsewhere("on the card of an agent's prompt"));
                };
                permission::can_permit(&dialog.question)?;
                state.question_is_attached(&dialog.question)
            }
            EndPermissions => {
                anywhere.and(need(!snapshot.permissions.is_empty(), "each prompt is asked about already"))
            }
            ApproveGate | RejectGate | Yes | No | Choose | RunAgain | Skip | Abort | Note | LetAgents => {
                let Some(Layer::Question(dialog)) = self.layers.last() else {
                    return Err(Obstacle::Elsewhere("in the dialog of a question"));
                };
                state.question_is_attached(&dialog.question)
            }
        }
    }
}
