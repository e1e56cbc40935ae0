//! The console's decisions: messages change the state and produce effects. No clock, no I/O.

use std::sync::Arc;

use jiff::Timestamp;

use crate::link::Request;
use crate::model::Snapshot;
use crate::terminal::{Key, KeyPress};

use super::availability::Why;
use super::export::{Export, Shot};
use super::fleet;
use super::{App, Column, Layer, Mode, Screen};
use crate::console::keys::{Action, Context};
use crate::console::msg::{Answered, Effect, Msg};
use crate::console::text::visible;

impl App {
    /// Handles a message and returns the effects to carry out.
    #[must_use]
    pub fn update(&mut self, msg: Msg) -> Vec<Effect> {
        self.take(msg);
        self.derive();
        self.refuse_lost();
        std::mem::take(&mut self.effects)
    }

    fn take(&mut self, msg: Msg) {
        match msg {
            Msg::Tick(now) => return self.tick(now),
            Msg::Coverage(call, commands) => self.show_coverage(call, &commands),
            Msg::Reel(task, reel) => self.reel(&task, reel),
            Msg::Played(task, place, picture) => self.played(&task, place, picture),
            Msg::Picture(task, picture) => {
                self.view.pictures.insert(task, picture);
            }
            Msg::Snapshot(snapshot) => return self.snapshot(snapshot),
            Msg::Cue(cue) => self.cue(cue),
            Msg::Key(key) => {
                self.touched = Some(self.now);
                let was_sent_on = self.sends_keys_on();
                self.key(key);
                self.places.review();
                // A key sent to a task becomes visible when the task echoes it; drawing a frame first would
                // only delay the echo.
                self.is_dirty |= !(was_sent_on && self.sends_keys_on());
                return;
            }
            Msg::Mouse(event) => return self.mouse(event),
            Msg::Paste(text) => self.paste(text),
            Msg::PasteTrouble(trouble) => self.paste_failed(trouble),
            Msg::Resize(columns, rows) => self.size = (columns, rows),
            Msg::UsageDue => {
                let due = self.view.usage.due(self.now);
                return self
                    .effects
                    .extend((!due.is_empty()).then_some(Effect::Ask(Request::Usage { tasks: due })));
            }
            Msg::Usage(seen) => {
                // Redraw only if the frame would change, and only if motion is allowed.
                self.is_dirty |= self.view.take_usage(self.now, seen) && self.setup.ui.motion;
                self.watch_usage();
                return;
            }
            Msg::Focus(is_here) => {
                self.outer.is_elsewhere = !is_here;
                return;
            }
            Msg::Colours(colours) => {
                self.outer.colours = colours;
                return;
            }
            Msg::AnswerTaken(question, refused) => self.answer_taken(&question, refused),
            Msg::Running(running) => self.list_running(running),
            Msg::Recordings(names) => self.list_recordings(names),
            Msg::Durations(earlier) => self.take_durations(earlier),
            Msg::Answered(answer) => self.answered(answer),
            Msg::Refused(task, reason) => self.refused(&task, &reason),
            Msg::Record(record) => self.view.keep_record(record),
            Msg::Watched(task, text, next) => self.watched(&task, &text, next),
            Msg::WatchDue => self.ring(),
            Msg::Page(task, page) => self.page(task, page),
            Msg::Found(task, query, line, counted) => self.found(task, &query, line, counted),
            Msg::FoundAll(ticket, places, unread) => self.found_everywhere(ticket, places, unread),
            Msg::Prompt { task, line, forward } => self.show_prompt(task, line, forward),
            Msg::LastOutput(text, is_marked) => self.copy_output(text, is_marked),
            Msg::Copied(what, ways) => self.copied(&what, &ways),
            Msg::FileWritten { folder, name } => self.kept(&visible::one_line(&folder), &name),
            Msg::Failed(text) => {
                self.is_leaving = false;
                self.toasts.fail(visible::one_line(&text), None);
            }
            Msg::Preferences(preferences, faults) => self.reload(*preferences, faults),
            Msg::NextRuntime(snapshot) => self.take_next_runtime(snapshot),
            Msg::StopAsked(by) => self.ask_to_stop(by),
            Msg::LinkLost | Msg::Stopped => self.view.is_lost = !self.is_leaving,
        }
        self.is_dirty = true;
    }

    /// Updates the current time.
    pub(crate) fn tick(&mut self, now: Timestamp) {
        self.now = now;
        if self.setup.ui.title && self.title.is_none() {
            self.ring();
        }
        self.toasts.tick(now);
        if self.clear_at.is_some_and(|at| at <= now) {
            self.clear_now();
            self.is_dirty = true;
        }
        // With motion off, a message stays until the next key.
        self.is_dirty |= self.setup.ui.motion && self.toasts.expire(now);
    }

    fn snapshot(&mut self, snapshot: Arc<Snapshot>) {
        let old = std::mem::replace(&mut self.view.snapshot, snapshot);
        let new = &self.view.snapshot;
        // Counters change every second but are shown in one view only. With motion off, they are redrawn only
        // when a task's state changes.
        let (counts, moves) = (self.screen == Screen::Metrics, self.setup.ui.motion);
        let states = |snapshot: &Snapshot| -> Vec<_> {
            snapshot.tasks.iter().map(|task| (task.id.clone(), task.status)).collect()
        };
        self.is_dirty |= match counts && !moves {
            true => states(&old) != states(new),
            false => old.tasks != new.tasks || counts && old.metrics != new.metrics,
        };
        self.is_dirty |= old.notices != new.notices || old.calls != new.calls || old.gate != new.gate;
        self.is_dirty |= old.questions != new.questions || old.programs != new.programs;
        self.is_dirty |= old.agents != new.agents || fleet::links(&old) != fleet::links(new);
        let before = self.at_hand().map(|task| task.id.clone());
        let started = self.select_next.take_if(|task| new.tasks.iter().any(|other| other.id == *task));
        if let Some(task) = started.filter(|_| self.typing_into().is_none()) {
            self.list.selected = Some(task);
            self.list.is_held = true;
        }
        self.say_of_others(&old);
        self.keep_pins();
        self.places.review();
        self.note_durations();
        self.restart_ended();
        self.follow();
        if before.as_ref() != self.at_hand().map(|task| &task.id) {
            self.thaw();
            self.pan = 0;
        }
        self.refresh_questions();
        self.ring()
    }

    fn key(&mut self, key: KeyPress) {
        if self.is_leaving {
            return;
        }
        self.toasts.pressed(self.now);
        let action = self.setup.keymap.action(self.context(), key);
        self.learn(action);
        action.into_iter().for_each(|action| self.learn_terms(action));
        self.pressed(key, action);
    }

    fn pressed(&mut self, key: KeyPress, action: Option<Action>) {
        if action.is_none() && self.shoots(key) {
            return self.export(Export::Screen(Shot::Svg));
        }
        if let Some(Layer::List(_)) = self.layers.last() {
            return self.list_key(key, action);
        }
        if !self.type_key(key, action)
            && let Some(action) = action
        {
            self.act(action);
        }
    }

    /// Tells whether a key takes a screenshot of the layers over the screen: not a letter, which may be text
    /// input, and not a key meant for a task.
    fn shoots(&self, key: KeyPress) -> bool {
        let is_letter = matches!(key.key, Key::Char(_)) && !key.ctrl && !key.alt;
        let is_for_task = matches!(self.mode, Mode::Input(_)) && self.layers.is_empty();
        let shoots = self.setup.keymap.action(Context::Observe, key) == Some(Action::ExportScreenSvg);
        shoots && !is_letter && !is_for_task
    }

    /// Tells whether keys go to a task without changing anything on screen themselves.
    fn sends_keys_on(&self) -> bool {
        matches!(self.mode, Mode::Input(_)) && self.layers.is_empty() && self.scroll.is_none()
    }

    /// Performs an action in the current context.
    pub(super) fn act(&mut self, action: Action) {
        if !self.layers.is_empty() {
            return self.act_in_dialog(action);
        }
        if self.setup.recording.is_some() && action.changes() {
            self.say("read-only recording");
            return;
        }
        if let Err(why) = self.availability(action) {
            // The place is unreachable or read-only: say so, because a key that silently does nothing would
            // look like a typo.
            if matches!(why, Why::Place | Why::ReadOnly) {
                self.say_refusal();
            } else if matches!(action, Action::Compare | Action::Seen | Action::Line) {
                self.say(why.to_string());
            }
            return;
        }
        self.act_in_view(action)
    }

    fn answered(&mut self, answer: Answered) {
        let text = visible::one_line(&answer.text).into_owned();
        if answer.is_error {
            self.toasts.fail(text, Some(answer.seq));
        } else if answer.started.is_some() {
            self.toasts.say("started", Some(answer.seq), self.now);
        } else if answer.tool != "TaskInput" {
            self.toasts.say(text, Some(answer.seq), self.now);
        }
        if let Some(task) = answer.started.as_ref().filter(|_| std::mem::take(&mut self.enters_next)) {
            self.own.insert(task.clone());
            self.to_enter = Some(task.clone());
        } else if answer.is_error {
            self.enters_next = false;
        }
        // If the user has since started typing into another task, stay with that one.
        if let Some(task) = answer.started.filter(|_| self.typing_into().is_none()) {
            if self.view.task(&task).is_some() {
                self.select(task);
            } else {
                self.select_next = Some(task);
            }
        }
    }

    fn refused(&mut self, task: &crate::envelope::TaskId, reason: &str) {
        let name = self.view.task(task).map_or_else(|| task.to_string(), |task| super::alias(task));
        self.toasts.fail(format!("{name} did not take the input: {}", visible::one_line(reason)), None);
    }

    pub(super) fn open(&mut self, layer: Layer) {
        self.layers.push(layer);
    }

    pub(super) fn observe(&mut self) {
        self.mode = Mode::Observe;
    }

    pub(super) fn act_in_view(&mut self, action: Action) {
        match action {
            action if self.replay.is_some() && self.act_on_replay(action) => {}
            Action::Up | Action::Down | Action::PageUp | Action::PageDown | Action::First | Action::Last => {
                self.go(action)
            }
            Action::ScrollUp => self.go_in_log(Action::Up),
            Action::ScrollDown => self.go_in_log(Action::Down),
            Action::IntoPane => self.in_pane = !self.in_pane,
            Action::NextFailed | Action::NextWaiting => self.go_to_next(action),
            Action::PreviousTask => self.step_task(-1),
            Action::NextTask => self.step_task(1),
            Action::NextColumn => self.cycle_column(1),
            Action::PreviousColumn => self.cycle_column(2),
            Action::PanLeft => self.pan(-1),
            Action::PanRight => self.pan(1),
            Action::ShowTasks => self.show(Screen::Tasks),
            Action::ShowFocus => self.show(Screen::Focus),
            Action::ShowReceipts => self.show(Screen::Receipts),
            Action::ShowMetrics => self.show(Screen::Metrics),
            Action::Timeline => self.is_overall = !self.is_overall,
            Action::ClearFinished => self.clear_finished(),
            Action::Undo => self.undo(),
            Action::Filter => self.open_filters(),
            Action::Changes => self.show_changes(),
            Action::Timestamps => self.toggle_stamps(),
            Action::SearchAll => self.write_search_all(),
            Action::ArrangeList => self.open_arrangement(),
            Action::Fold if self.screen == Screen::Tasks => self.fold_batch(),
            Action::WidenList => self.resize_list(1),
            Action::NarrowList => self.resize_list(-1),
            Action::Layouts => self.open_layouts(),
            Action::NextLayout => self.next_layout(),
            Action::SaveLayout => self.ask_for_layout_name(),
            Action::ForgetLayout => self.forget_layout(),
            Action::Zoom => self.is_zoomed = !self.is_zoomed,
            Action::Help => self.open(Layer::Help { about: self.view_context(), top: 0 }),
            Action::Back => self.back(),
            Action::Quit => self.ask_to_quit(),
            Action::Palette => self.open_palette(),
            Action::Places => self.open_places(),
            Action::Themes => self.open_themes(),
            Action::Messages => self.open_messages(),
            Action::EditSettings => self.beside("config edit"),
            Action::Start => self.write_command(),
            Action::Pause => self.toggle_pause(),
            Action::TellAgent => self.open_tell(None, None),
            Action::Approvals => self.show_held(),
            Action::Attend => self.open_attention(),
            Action::ShowProgram => self.show(Screen::Program),
            Action::AnswerQuestion => self.answer_program(),
            Action::NextPane => self.cycle_pane(),
            Action::PreviousProgram => self.step_program(-1),
            Action::NextProgram => self.step_program(1),
            Action::Mouse => {
                self.has_mouse = !self.has_mouse;
                self.effects.push(Effect::Mouse(self.has_mouse));
            }
            Action::Suspend => self.effects.push(Effect::Suspend),
            Action::FindText | Action::NextFound | Action::PreviousFound => self.find_in_text(action),
            Action::Compare => self.compare(),
            Action::Seen => self.ask_for_coverage(),
            Action::Fold => self.fold(),
            Action::NextPart | Action::PreviousPart => self.go(action),
            Action::Export => self.open_exports(),
            Action::ExportMetrics => self.export(Export::Metrics),
            Action::ExportScreenSvg => self.export(Export::Screen(Shot::Svg)),
            Action::ExportScreenHtml => self.export(Export::Screen(Shot::Html)),
            Action::ExportScreenText => self.export(Export::Screen(Shot::Text)),
            Action::ExportScreenAnsi => self.export(Export::Screen(Shot::Ansi)),
            Action::CopyText => self.copy_text(),
            Action::LessRoom | Action::MoreRoom | Action::AllRoom => self.change_budget(action),
            Action::OpenTask => self.open_task(),
            other => self.act_on_task(other),
        }
    }

    pub(super) fn show(&mut self, screen: Screen) {
        self.screen = screen;
        self.in_pane = false;
        self.thaw();
        (self.reader, self.replay, self.calls.finding) = (None, None, None);
    }

    fn back(&mut self) {
        self.to_enter = None;
        if self.toasts.clear()
            || self.thaw()
            || self.calls.finding.take().is_some()
            || self.reader.take().is_some()
            || self.replay.take().is_some()
        {
            return;
        }
        if std::mem::take(&mut self.in_pane) {
            return;
        }
        if self.screen == Screen::Receipts && self.unfilter_calls() {
            return;
        }
        if self.unfilter() {
            return;
        }
        if let Some(notice) = self.view.snapshot.notices.last()
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
