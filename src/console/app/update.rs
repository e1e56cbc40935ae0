//! The console's decisions: messages change the state and produce effects. No clock, no I/O.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use crate::config::Mouse;
use crate::console::app::App;
use crate::console::app::layer::Layer;
use crate::console::effect::Effect;
use crate::console::features::receipts::Receipts;
use crate::console::features::undo::{self, UndoCard};
use crate::console::features::{changes, cost, export, paste, places};
use crate::console::keys::{Action, KeyContext};
use crate::console::msg::Msg;
use crate::console::options::{DemoCue, DemoView};
use crate::console::state::calls::Calls;
use crate::console::state::places::links;
use crate::console::state::{Column, FoundLine, Mode, ProgramScreen, Screen, Shot, names};
use crate::console::text::visible;
use crate::console::theme::Preferences;
use crate::console::widgets::ListKind;
use crate::envelope::TaskId;
use crate::model::Snapshot;
use crate::terminal::{Key, KeyPress};
use crate::tools::CallAnswer;

/// For this long after a key press, a demonstration does not change the screen.
const HANDS_ON: SignedDuration = SignedDuration::from_secs(8);

impl App {
    /// Handles a message and returns the effects to carry out.
    #[must_use]
    pub fn update(&mut self, msg: Msg) -> Vec<Effect> {
        let is_key = matches!(msg, Msg::Key(_));
        let is_by_user = is_key || matches!(msg, Msg::Mouse(_));
        self.state.key_target.changes_by_user(is_by_user);
        let was_sent_on = is_key && self.sends_keys_on();
        self.take(msg);
        // A key that is sent to a task changes nothing here, and becomes visible when the task echoes it: whatever came
        // before would only delay that.
        let is_sent_on = was_sent_on && self.sends_keys_on();
        self.state.is_dirty |= is_key && !is_sent_on;
        if is_by_user {
            self.review_panes();
        }
        if !is_sent_on {
            self.derive();
        }
        let listed = self.listed_task();
        self.state.note_target(listed);
        self.state.refuse_lost();
        std::mem::take(&mut self.state.effects)
    }

    fn take(&mut self, msg: Msg) {
        use Msg::*;
        match msg {
            Tick(now) => return self.tick(now),
            Coverage(call, commands) => self.take_coverage(call, &commands),
            Reel(task, reel) => self.state.take_reel(&task, reel),
            Played(task, place, picture) => self.state.take_played(&task, place, picture),
            Picture(task, picture) => {
                self.state.view.pictures.insert(task, picture);
            }
            Snapshot(snapshot) => return self.snapshot(snapshot),
            Cue(cue) => self.cue(cue),
            Key(key) => {
                self.state.clock.touched = Some(self.state.clock.now);
                return self.key(key);
            }
            Mouse(event) => return self.mouse(event),
            Paste(text) => self.paste(text),
            PasteTrouble(trouble) => self.state.toasts.fail(paste::paste_failure(trouble), None),
            Resize(columns, rows) => self.state.outer.size = (columns, rows),
            UsageDue => {
                let due = self.state.view.usage.due(self.state.clock.now);
                return self.state.effects.extend(due.map(Effect::Ask));
            }
            Usage(seen) => {
                // Redraw only if the frame would change, and only if motion is allowed.
                self.state.is_dirty |= self.state.view.take_usage(self.state.clock.now, seen)
                    && self.state.setup.ui.console.motion;
                return self.state.effects.extend(self.attention.watch_usage(&self.state));
            }
            Focus(is_here) => {
                self.state.outer.is_elsewhere = !is_here;
                let away_since = self.absence.note_focus(is_here, self.state.clock.now);
                return away_since.into_iter().for_each(|since| self.come_back(since));
            }
            Colours(colours) => {
                self.state.outer.colours = colours;
                return;
            }
            AnswerTaken(question, refused) => self.answer_taken(&question, refused),
            Running(running) => {
                let items = places::running_items(&self.state, running);
                self.open_list_of(&ListKind::Fleet).into_iter().for_each(|list| list.add(items.clone()));
            }
            HolderFound(task, holder) => drop(self.state.view.holders.insert(task, holder)),
            AgentFound(place) => self.agent_found(place),
            Recordings(recordings) => self.list_recordings(recordings),
            Durations(earlier) => self.state.view.usual.take(earlier),
            Answered(answer) => self.handle_answer(&answer),
            Refused(task, reason) => self.report_refusal(&task, &reason),
            Record(record) => self.state.view.keep_record(record),
            Changes(since, report) => self.state.reply(changes::show(&self.state, &since, &report)),
            Cost(task, said) => self.state.reply([cost::reader(&self.state, &task, &said)]),
            Undo(asked, report) if report.is_done => self.state.say(undo::tell(&self.state, &asked, &report)),
            Undo(asked, report) => self.open(Layer::Undo(Box::new(UndoCard::new(asked, *report)))),
            Watched(task, text, next) => {
                let effects = self.attention.take_watched(&self.state, &task, (&text, next));
                self.state.effects.extend(effects);
            }
            WatchDue => self.ring(),
            Page(task, page) => self.state.take_page(task, page),
            Found(task, query, line, counted) => self.state.take_found(task, &query, line, counted),
            FoundAll(ticket, places, unread) => self.found_everywhere((ticket, places, unread)),
            Prompt { task, line, forward } => self.state.show_prompt(task, line, forward),
            LastOutput(text, is_marked) => self.state.copy_output(text, is_marked),
            Copied(what, ways) => self.state.say_copied(&what, &ways),
            FileWritten { folder, name } => {
                self.state.reply(export::replies_to_file(&visible::one_line(&folder), &name))
            }
            Failed(text) => {
                self.state.is_leaving = false;
                self.state.toasts.fail(visible::one_line(&text), None);
            }
            Preferences(preferences, faults) => self.reload(*preferences, faults),
            NextRuntime(snapshot) => self.take_next_runtime(snapshot),
            StopAsked(by) => self.ask_to_stop(by),
            LinkLost | Stopped => self.state.view.is_lost = !self.state.is_leaving,
        }
        self.state.is_dirty = true;
    }

    /// Applies what the user has done to the panes, and to what they have looked at.
    fn review_panes(&mut self) {
        self.state.division.stage.review();
        if self.state.is_dirty && !self.sends_keys_on() {
            self.ring();
        }
    }

    /// Updates the current time.
    pub(crate) fn tick(&mut self, now: Timestamp) {
        self.state.clock.now = now;
        if !self.state.view.is_lost {
            self.state.clock.known = now;
        }
        if self.state.setup.ui.console.title && self.attention.title.is_none() {
            self.ring();
        }
        self.state.toasts.tick(now);
        if self.state.view.clear_at.is_some_and(|at| at <= now) {
            self.state.clear_now();
            self.state.is_dirty = true;
        }
        // With motion off, a message stays until the next key.
        self.state.is_dirty |= self.state.setup.ui.console.motion && self.state.toasts.expire(now);
    }

    fn snapshot(&mut self, snapshot: Arc<Snapshot>) {
        let old = std::mem::replace(&mut self.state.view.snapshot, snapshot);
        let new = &self.state.view.snapshot;
        // Counters change every second but are shown in one view only. With motion off, they are redrawn only
        // when a task's state changes.
        let (counts, moves) =
            (self.state.focus.screen == Screen::Metrics, self.state.setup.ui.console.motion);
        let states = |snapshot: &Snapshot| -> Vec<_> {
            snapshot.tasks.iter().map(|task| (task.id.clone(), task.status)).collect()
        };
        self.state.is_dirty |= match counts && !moves {
            true => states(&old) != states(new),
            false => old.tasks != new.tasks || counts && old.metrics != new.metrics,
        };
        self.state.is_dirty |= old.notices != new.notices || old.calls != new.calls || old.gate != new.gate;
        self.state.is_dirty |= old.questions != new.questions || old.programs != new.programs;
        self.state.is_dirty |= old.agents != new.agents || links(&old) != links(new);
        let before = self.state.at_hand().map(|task| task.id.clone());
        let started = self.select_next.take_if(|task| new.tasks.iter().any(|other| other.id == *task));
        if let Some(task) = started.filter(|_| self.state.typing_into().is_none()) {
            self.state.select(task);
        }
        self.say_of_others(&old);
        self.state.keep_pins();
        self.state.division.stage.review();
        self.state.view.usual.note(&self.state.view.snapshot.tasks);
        self.state.effects.extend(self.stopping.restart_ended(&self.state));
        self.state.find_holders();
        // What is done in a dialog or list, or typed, may be about the selected task.
        self.follows_late = self.is_occupied() && self.state.selected_task().is_some();
        if !self.follows_late {
            self.state.follow();
        }
        if before.as_ref() != self.state.at_hand().map(|task| &task.id) {
            self.state.thaw();
            self.state.reading.pan = 0;
        }
        self.refresh_questions();
        if let Some(cue) = self.early_cue.take() {
            self.cue(cue);
        }
        self.ring()
    }

    fn key(&mut self, key: KeyPress) {
        if self.state.is_leaving {
            return;
        }
        let action = self.state.setup.keymap.action(self.context(), key);
        let is_observing = self.layers.is_empty() && matches!(self.state.focus.mode, Mode::Observe);
        if is_observing && self.state.key_target.swallows(key, action, self.state.clock.now) {
            return;
        }
        self.state.toasts.expire_on_key(self.state.clock.now);
        self.state.learn_hint(action);
        action.into_iter().for_each(|action| self.state.learn_terms(action));
        self.route_key(key, action);
    }

    fn route_key(&mut self, key: KeyPress, action: Option<Action>) {
        if action.is_none() && self.shoots(key) {
            return self.shoot(Shot::Svg);
        }
        match self.layers.last() {
            Some(Layer::List(_)) => return self.list_key(key, action),
            Some(Layer::Away(_)) => return self.leave_sheet(key),
            _ => {}
        }
        if self.type_key(key, action) {
            return;
        }
        match action {
            Some(action) => self.act(action),
            None => self.say_unbound(key),
        }
    }

    /// Tells whether a key takes a screenshot of the layers over the screen: not a letter, which may be text
    /// input, and not a key meant for a task.
    fn shoots(&self, key: KeyPress) -> bool {
        let is_letter = matches!(key.key, Key::Char(_)) && !key.ctrl && !key.alt;
        let is_for_task = matches!(self.state.focus.mode, Mode::Input(_)) && self.layers.is_empty();
        let shoots = self.state.setup.keymap.action(KeyContext::Observe, key) == Some(Action::Screenshot);
        shoots && !is_letter && !is_for_task
    }

    /// Tells whether keys go to a task without changing anything on screen themselves.
    fn sends_keys_on(&self) -> bool {
        matches!(self.state.focus.mode, Mode::Input(_))
            && self.layers.is_empty()
            && self.state.reading.scroll.is_none()
    }

    fn handle_answer(&mut self, answer: &CallAnswer) {
        let ((text, is_error), started) = (answer.summary(), answer.started_task());
        let text = visible::one_line(text).into_owned();
        if is_error {
            self.state.toasts.fail(text, Some(answer.seq));
        } else if started.is_some() {
            self.state.toasts.say("started", Some(answer.seq), self.state.clock.now);
        } else if answer.envelope.tool_name() != "TaskInput" {
            self.state.toasts.say(text, Some(answer.seq), self.state.clock.now);
        }
        if let Some(task) = started.as_ref().filter(|_| std::mem::take(&mut self.enters_next)) {
            self.own.insert(task.clone());
            self.to_enter = Some(task.clone());
        } else if is_error {
            self.enters_next = false;
        }
        // If the user has since started typing into another task, stay with that one.
        if let Some(task) = started.filter(|_| self.state.typing_into().is_none()) {
            if self.state.view.task(&task).is_some() {
                self.state.select(task);
            } else {
                self.select_next = Some(task);
            }
        }
    }

    fn report_refusal(&mut self, task: &TaskId, reason: &str) {
        let name = self.state.view.task(task).map_or_else(|| task.to_string(), |task| names::alias(task));
        self.state.toasts.fail(format!("{name} did not take the input: {}", visible::one_line(reason)), None);
    }

    fn found_everywhere(&mut self, found: (u64, Vec<FoundLine>, Vec<String>)) {
        let list = match self.layers.last_mut() {
            Some(Layer::List(chooser)) if chooser.kind == ListKind::Places => Some(&mut **chooser),
            _ => None,
        };
        self.state.reply(self.everywhere.add(&self.state.view, list, found));
    }

    pub(in crate::console) fn open(&mut self, layer: Layer) {
        self.layers.push(layer);
    }

    /// Shows the next runtime. Its calls and tasks are numbered from 1 again: nothing that was open, selected or written
    /// for the last one may reach it.
    pub(in crate::console) fn take_next_runtime(&mut self, snapshot: Arc<Snapshot>) {
        self.state.view.begin_again(snapshot);
        self.layers.clear();
        (self.state.focus.mode, self.state.focus.in_pane) = (Mode::Observe, false);
        (self.state.reading.scroll, self.state.reading.search, self.state.reader, self.state.replay) =
            (None, None, None, None);
        (self.state.calls, self.state.programs, self.receipts) =
            (Calls::default(), ProgramScreen::default(), Receipts::default());
        (self.state.list.selected, self.state.list.pointed, self.state.list.is_held) = (None, None, false);
        (self.select_next, self.to_enter, self.entered_from) = (None, None, None);
        (self.own, self.stopping.restarts, self.state.toasts.notices_seen) =
            (Default::default(), Vec::new(), 0);
        self.attention.begin_again(self.state.clock.now);
        self.state.view.usual.note(&self.state.view.snapshot.tasks);
        self.state.follow();
        self.state.toasts.keep("attached to the next runtime of this workspace", self.state.clock.now);
    }

    /// Says at once what others do with this runtime, whatever else is on screen.
    pub(in crate::console) fn say_of_others(&mut self, before: &Snapshot) {
        let seen = before.notices.last().map_or(0, |notice| notice.seq);
        let snapshot = Arc::clone(&self.state.view.snapshot);
        let new = snapshot.notices.iter().filter(|notice| notice.seq > seen && notice.from.is_some());
        new.for_each(|notice| self.state.toasts.keep(visible::one_line(&notice.text), self.state.clock.now));
    }

    /// Applies changed settings files.
    pub(in crate::console) fn reload(&mut self, preferences: Preferences, faults: Vec<String>) {
        if !faults.is_empty() {
            // The file may be half written or contain a mistake: the previous settings apply until it is
            // fixed.
            for fault in faults {
                self.state.toasts.fail(visible::one_line(&fault), None);
            }
            return;
        }
        let changes = preferences.changes(&self.state.setup.theme_set, &self.state.setup.ui);
        let mouse = preferences.ui.console.mouse;
        let mouse_changed = mouse != self.state.setup.ui.console.mouse;
        self.apply_preferences(preferences);
        self.ring();
        if !changes.is_empty() {
            self.state.say(format!("settings: {}", changes.join(", ")));
        }
        if !mouse_changed {
            return;
        }
        self.state.outer.has_mouse = mouse != Mouse::Off;
        self.state.effects.push(Effect::Mouse(self.state.outer.has_mouse));
    }

    /// Applies new preferences.
    pub(crate) fn apply_preferences(&mut self, preferences: Preferences) {
        self.state.setup.apply(preferences);
        // Texts that were laid out with the old glyphs must be laid out again.
        self.receipts.sheet = None;
        // The rules that decide which tasks are measured may have changed.
        self.state.view.usage.renew();
        self.state.touch();
    }

    /// Shows the next step of a demonstration, unless the user is using the keys: they decide what is on screen.
    pub(in crate::console) fn cue(&mut self, cue: DemoCue) {
        let is_early = cue.view == DemoView::Approvals && self.state.view.snapshot.gate.held.is_empty();
        self.early_cue = is_early.then(|| cue.clone());
        if is_early {
            return;
        }
        let is_busy =
            self.state.clock.touched.is_some_and(|at| self.state.clock.now.duration_since(at) < HANDS_ON);
        // The card of a call that the demonstration itself has decided: nobody is there to close it.
        if !is_busy && matches!(self.layers.last(), Some(Layer::Approval(_))) {
            self.layers.pop();
        }
        if is_busy || !matches!(self.state.focus.mode, Mode::Observe) || !self.layers.is_empty() {
            return;
        }
        self.state.division.is_overall = cue.view == DemoView::Timeline;
        if let Some(task) = cue.task {
            self.state.select_within(task);
        }
        match cue.view {
            DemoView::Tasks => self.state.show(Screen::Tasks),
            DemoView::Receipt => self.show_column(Column::Receipt),
            DemoView::Envelope => self.show_column(Column::Envelope),
            DemoView::Timeline => self.state.show(Screen::Focus),
            DemoView::Approvals => {
                self.state.show(Screen::Tasks);
                self.show_held();
            }
        }
    }

    /// Shows the newest call; where only one column fits, this one.
    fn show_column(&mut self, column: Column) {
        self.state.show(Screen::Receipts);
        (self.state.calls.selected, self.state.calls.column) = (None, column);
    }
}
