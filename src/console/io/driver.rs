//! The console's event loop: waits for whatever comes first, with keys ahead of everything else, lets `App`
//! decide, carries out the effects, and draws when there is anything new. Makes no decisions of its own.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Notify, mpsc, watch};
use tokio::task::JoinSet;

use crate::clock::Clock;
use crate::link::Operator;
use crate::model::Snapshot;
use crate::process::is_gone;

use super::display::{self, Display};
use super::effects::Effects;
use super::files::Made;
use super::frames::Frames;
use super::keyboard::Heard;
use super::settings::Source;
use super::signals::{SignalRequest, Signals};
use super::stop_request::PendingStop;
use super::tty;
use crate::console::app::App;
use crate::console::effect::{Effect, Leave};
use crate::console::msg::Msg;
use crate::console::{ConsoleError, DemoCue};

/// While keys are queued, the minimum time between two frames.
pub(super) const KEYS_PACE: Duration = Duration::from_millis(100);
/// File changes that follow each other this closely are handled as one.
const SETTLING: Duration = Duration::from_millis(100);
/// With nothing scheduled, the loop wakes up after this long.
const LONG: Duration = Duration::from_hours(24);
/// How long to wait for all tasks to stop before the console exits anyway.
const STOPPING: Duration = Duration::from_secs(15);

/// The state of the loop.
pub(in crate::console) struct Driver {
    pub(in crate::console) app: App,
    pub(in crate::console) display: Display,
    pub(in crate::console) clock: Clock,
    pub(in crate::console) operator: Operator,
    pub(in crate::console) effects: Effects,
    pub(in crate::console) keys: mpsc::Receiver<Heard>,
    pub(in crate::console) cues: watch::Receiver<DemoCue>,
    pub(in crate::console) signals: Signals,
    pub(in crate::console) stop: PendingStop,
    /// Waits for the next runtime of the workspace, once this one is gone.
    pub(in crate::console) next_runtime: JoinSet<Operator>,
    pub(in crate::console) source: Source,
    pub(in crate::console) times: Times,
    pub(in crate::console) frames: Frames,
}

/// Points in time that the loop keeps track of, on the monotonic clock.
#[derive(Debug, Default)]
pub(in crate::console) struct Times {
    pub(super) last_frame: Duration,
    /// When a key arrived whose echo has not been drawn yet.
    pub(super) last_key: Option<Duration>,
    /// When the key arrived whose echo the next frame shows.
    pub(super) echoes: Option<Duration>,
    /// Draw the next frame at once, without waiting for its turn.
    pub(super) is_urgent: bool,
    /// When a text on the last frame will change.
    pub(super) wake: Option<Duration>,
    pub(super) resize: Option<Duration>,
    /// When to reread the settings.
    reload: Option<Duration>,
    give_up: Option<Duration>,
    /// Whether a screen on display has changed.
    pub(super) screens_changed: bool,
    /// The operator handle was replaced, so the news sources must be replaced too.
    pub(super) has_other_hold: bool,
}

/// Why the loop ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::console) enum LoopEnd {
    /// The user left, or everything was stopped.
    Left,
    /// The runtime in this process continues without this terminal.
    Detached,
    /// `serve --stop` requested the end.
    Stopped,
    /// A signal requested the end.
    Signal(u8),
    /// The terminal is gone.
    Gone,
}

/// The notifications of an operator handle.
struct OperatorNews {
    snapshots: watch::Receiver<Arc<Snapshot>>,
    connected: watch::Receiver<bool>,
    changed: Arc<Notify>,
}

impl OperatorNews {
    fn of(operator: &Operator) -> Self {
        let (mut snapshots, mut connected) = (operator.snapshot(), operator.link_state());
        // Both may have changed before anybody listened.
        snapshots.mark_changed();
        connected.mark_changed();
        Self { snapshots, connected, changed: operator.screens_changed() }
    }
}

enum DriverEvent {
    Heard(Heard),
    Signal(SignalRequest),
    StopRequest,
    /// The terminal has taken everything, or is gone.
    Taken(std::io::Result<()>),
    Msg(Msg),
    Screens,
    Snapshot,
    Link,
    NextRuntime(Operator),
    Files,
    Time,
}

impl Driver {
    /// Runs the console until something ends it.
    ///
    /// # Errors
    /// When the terminal fails for any reason other than having gone away.
    pub(in crate::console) async fn run(&mut self) -> Result<LoopEnd, ConsoleError> {
        match self.run_while_there().await {
            // The terminal was written to after it went away but before we were notified: also a hang-up.
            Err(ConsoleError::Terminal(error)) if has_gone(&error) => Ok(self.hangup_end()),
            ended => ended,
        }
    }

    async fn run_while_there(&mut self) -> Result<LoopEnd, ConsoleError> {
        let mut news = OperatorNews::of(&self.operator);
        let effects = self.app.update(Msg::Tick(self.clock.now().wall));
        if let Some(ending) = self.carry_out(effects)? {
            return Ok(ending);
        }
        let snapshot = &self.app.state.view.snapshot;
        self.effects.durations(snapshot.recording.clone(), snapshot.workspace.clone());
        loop {
            // Checked on every iteration: a steady stream of news would keep the select from ever reaching
            // the timer.
            if let Some(ending) = self.on_time()? {
                return Ok(ending);
            }
            if let Some(ending) = self.draw_if_due()? {
                return Ok(ending);
            }
            let event = self.next(&mut news).await;
            self.app.tick(self.clock.now().wall);
            if let Some(ending) = self.take(event, &news)? {
                return Ok(ending);
            }
            if std::mem::take(&mut self.times.has_other_hold) {
                news = OperatorNews::of(&self.operator);
            }
        }
    }

    /// Waits for the next event. Priority: signals, keys, answers, the terminal, news, time.
    async fn next(&mut self, news: &mut OperatorNews) -> DriverEvent {
        let OperatorNews { snapshots, connected, changed } = news;
        let wake = self.next_time().unwrap_or_else(|| self.clock.now().mono + LONG);
        let wake = self.clock.instant(wake);
        let is_lost = self.app.state.view.is_lost;
        // Under a flood of output every frame has something new: once that is known, only an echo matters.
        let is_open = !self.times.screens_changed || self.times.last_key.is_some();
        let is_taken = self.display.is_taken();
        tokio::select! {
            biased;
            asked = self.signals.next() => DriverEvent::Signal(asked),
            heard = self.keys.recv() => DriverEvent::Heard(heard.unwrap_or(Heard::Gone)),
            msg = self.effects.next() => DriverEvent::Msg(msg),
            taken = self.display.flush(), if !is_taken => DriverEvent::Taken(taken),
            Ok(()) = snapshots.changed() => DriverEvent::Snapshot,
            Ok(()) = connected.changed(), if !is_lost => DriverEvent::Link,
            Some(Ok(next)) = self.next_runtime.join_next() => DriverEvent::NextRuntime(next),
            Some(()) = self.stop.next_request() => DriverEvent::StopRequest,
            Ok(()) = self.cues.changed() => DriverEvent::Msg(Msg::Cue(self.cues.borrow_and_update().clone())),
            () = changed.notified(), if is_open => DriverEvent::Screens,
            () = self.source.watch.wait_for_change() => DriverEvent::Files,
            () = tokio::time::sleep_until(wake) => DriverEvent::Time,
        }
    }

    fn take(&mut self, event: DriverEvent, news: &OperatorNews) -> Result<Option<LoopEnd>, ConsoleError> {
        let OperatorNews { snapshots, connected, .. } = news;
        let is_heard = matches!(event, DriverEvent::Heard(_));
        let msg = match event {
            DriverEvent::Heard(Heard::Gone) => return Ok(Some(self.hangup_end())),
            DriverEvent::Heard(Heard::Outer(outer)) => {
                self.learn(&outer)?;
                Msg::Colours(outer.default_colours())
            }
            DriverEvent::Heard(Heard::Msg(msg)) => {
                self.times.last_key = Some(self.clock.now().mono);
                msg
            }
            DriverEvent::Signal(asked) => return self.handle_signal(asked),
            DriverEvent::StopRequest => match self.stop.ask(self.clock.now().mono) {
                Some(by) => Msg::StopAsked(by),
                None => return Ok(None),
            },
            DriverEvent::Taken(taken) => {
                taken.map_err(ConsoleError::Terminal)?;
                self.app.mark_taken();
                return Ok(None);
            }
            DriverEvent::Msg(Msg::Stopped) => return Ok(Some(LoopEnd::Left)),
            DriverEvent::Msg(msg) => {
                // What a key asked for is drawn at once, as what a task answers to one is.
                let is_asked = matches!(msg, Msg::Page(..) | Msg::Record(_)) && !self.is_typing();
                self.times.is_urgent |= is_asked && self.times.last_key.take().is_some();
                msg
            }
            DriverEvent::Screens => {
                self.times.screens_changed = true;
                if self.is_echo() {
                    self.times.echoes = self.times.last_key.take();
                }
                return Ok(None);
            }
            DriverEvent::Snapshot => Msg::Snapshot(self.operator.of_others(&snapshots.borrow())),
            DriverEvent::Link if *connected.borrow() => return Ok(None),
            DriverEvent::Link if self.app.state.is_leaving => return Ok(Some(LoopEnd::Left)),
            DriverEvent::Link => {
                self.await_next_runtime();
                Msg::LinkLost
            }
            DriverEvent::NextRuntime(next) => self.attach_next(next),
            DriverEvent::Files => {
                // Editors write a file in several steps.
                self.times.reload = Some(self.clock.now().mono + SETTLING);
                return Ok(None);
            }
            DriverEvent::Time => return Ok(None),
        };
        let effects = self.app.update(msg);
        self.times.is_urgent |= is_heard && self.app.state.is_dirty();
        self.carry_out(effects)
    }

    fn on_time(&mut self) -> Result<Option<LoopEnd>, ConsoleError> {
        let now = self.clock.now().mono;
        if self.times.give_up.is_some_and(|at| at <= now) {
            return Ok(Some(LoopEnd::Left));
        }
        if self.is_stop_due(now) {
            return Ok(Some(self.stop_as_asked()));
        }
        if self.times.wake.take_if(|at| *at <= now).is_some() {
            self.app.state.touch();
            let effects = self.app.update(Msg::Tick(self.clock.now().wall));
            return self.carry_out(effects);
        }
        if self.times.reload.take_if(|at| *at <= now).is_some() {
            let effects = self.reload();
            return self.carry_out(effects);
        }
        if self.app.state.view.usage.next().is_some_and(|at| at <= self.app.state.clock.now) {
            let effects = self.app.update(Msg::UsageDue);
            return self.carry_out(effects);
        }
        if self.app.attention.watching.next.is_some_and(|at| at <= self.app.state.clock.now) {
            let effects = self.app.update(Msg::WatchDue);
            return self.carry_out(effects);
        }
        if self.times.resize.take_if(|at| *at <= now).is_some() {
            let (columns, rows) =
                tty::size(self.source.capabilities.usual_size).map_err(ConsoleError::Terminal)?;
            let effects = self.app.update(Msg::Resize(columns, rows));
            return self.carry_out(effects);
        }
        Ok(None)
    }

    pub(super) fn carry_out(&mut self, effects: Vec<Effect>) -> Result<Option<LoopEnd>, ConsoleError> {
        use Effect::*;
        for effect in effects {
            match effect {
                Rerun { task, input } => self.effects.rerun(task, input),
                RunProgram { file, place } => self.run_program(&file, place.as_ref()),
                Ask(request) => {
                    if let Some(refused) = self.effects.ask(None, request) {
                        // A refusal only produces a message on screen, so there is nothing to carry out.
                        let _ = self.app.update(refused);
                    }
                }
                AskAt(place, request) => drop(self.effects.ask(Some(place), request)),
                ListRunning => self.effects.list_running(self.source.options.locks.clone()),
                FindHolder { task, port } => self.find_holder(task, port),
                GoToAgent { label, pid, tasks } => self.effects.go_to_agent(label, pid, tasks),
                OpenPlace(running) => self.open_place(running),
                Ring(text) => self.ring_terminal(&text)?,
                ReadWatched { task, from } => self.effects.read_watched(task, from),
                KeepCommand(cmd) => self.keep_command(&cmd),
                Title(title) => self.title(title.as_deref())?,
                Notify(news) => self.effects.notify(&self.app.state.setup.ui.console.notify, news),
                Withdraw(id) => self.effects.withdraw(&id),
                Show(shown) => {
                    self.operator.show(shown);
                    self.times.screens_changed = true;
                }
                Play { task, place, marks } => self.effects.play(task, place, marks),
                effect @ (Page { .. }
                | Replay(_)
                | LastOutput(_)
                | Search(..)
                | SearchAll(..)
                | Prompt { .. }
                | Coverage { .. }) => self.look_up(effect),
                Copy(text) => self.write_sequence(&display::copy_sequence(&text))?,
                Yank { text, what } => self.copy_and_report(text, what)?,
                WriteFile { file, text } => self.effects.keep(file, text),
                WriteExport { task, form, palette, file } => {
                    let inputs = self.app.state.view.inputs_of(&task.id);
                    self.effects.keep_task(Made { task, form, palette, file, inputs });
                }
                Recordings => self.read_recordings(),
                SaveTheme(name) => self.save_theme(&name),
                Remember(memory) => self.remember(&memory),
                Arranged(arrangement) => self.keep_arrangement(&arrangement),
                Suspend => self.suspend_for_shell()?,
                Mouse(_) => self.set_mouse()?,
                Hover(is_wanted) => {
                    tty::hover(self.display.output(), is_wanted).map_err(ConsoleError::Terminal)?;
                }
                Quit(how) => {
                    if let Some(ending) = self.begin_leaving(how) {
                        return Ok(Some(ending));
                    }
                }
                Stay => self.stop.answer(false),
            }
        }
        Ok(None)
    }

    /// Begins to leave; returns how the loop ends, unless the tasks are stopped first.
    fn begin_leaving(&mut self, how: Leave) -> Option<LoopEnd> {
        match how {
            Leave::Detach if self.app.state.setup.can_detach => Some(LoopEnd::Detached),
            Leave::Detach => Some(LoopEnd::Left),
            Leave::AsAsked => Some(self.stop_as_asked()),
            Leave::StopAll => {
                self.effects.shut_down();
                self.times.give_up = Some(self.clock.now().mono + STOPPING);
                None
            }
        }
    }

    fn read_recordings(&mut self) {
        let state = &self.app.state;
        let snapshot = state.published_by(state.place_at_hand().as_ref());
        self.effects.recordings(snapshot.recording.clone(), snapshot.workspace.clone());
    }

    /// Returns when the loop must wake up even if no event arrives.
    fn next_time(&self) -> Option<Duration> {
        let times = &self.times;
        // A terminal that has not taken the last frame gets no other one, and says when it has.
        let is_new = self.display.is_taken() && (self.app.state.is_dirty() || times.screens_changed);
        let pace = if times.is_due_now() { Duration::ZERO } else { self.display.pace() };
        let frame = is_new.then(|| self.frame_due(pace));
        let now = self.clock.now();
        let due = self.app.state.view.usage.next().into_iter().chain(self.app.attention.watching.next).min();
        let look = due.map(|at| now.mono + until(now.wall, at));
        let stop = self.stop.next_look(now.mono);
        [frame, look, times.wake, times.resize, times.reload, times.give_up, stop].into_iter().flatten().min()
    }
}

/// Returns the time left until a moment, or zero if it has passed.
pub(super) fn until(now: jiff::Timestamp, at: jiff::Timestamp) -> Duration {
    Duration::try_from(at.duration_since(now)).unwrap_or(Duration::ZERO)
}

/// Tells whether a terminal is gone.
fn has_gone(error: &std::io::Error) -> bool {
    error.raw_os_error() == Some(libc::EIO) || is_gone(error)
}
