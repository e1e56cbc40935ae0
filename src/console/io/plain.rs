//! The event loop of the plain-line console: reads lines, lets `PlainSession` decide, and writes lines. Needs no
//! terminal. A terminal that takes nothing (Control-S) holds up the printing alone; a pipe that takes nothing also
//! holds up what would be printed.

use std::io::{self, IsTerminal as _};
use std::sync::Arc;
use std::time::Duration;

use jiff::tz::TimeZone;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::clock::Clock;
use crate::config::OnHangup;
use crate::envelope::SafeText;
use crate::link::Operator;
use crate::model::Snapshot;

use super::leaving::{GIVING_BACK, LEAVING};
use super::output::{BufferedSink, ByteSink};
use super::signals::{SignalRequest, Signals};
use super::stdin::{self, Echo, StdinText};
use super::stop_request::PendingStop;
use super::{effects, reads};
use crate::console::effect::Leave;
use crate::console::options::{ConsoleExit, ConsoleOptions, PlainReason, RuntimeFate};
use crate::console::plain::{Circumstances, PlainEffect, PlainEvent, PlainSession};
use crate::console::theme::Preferences;
use crate::console::{ConsoleError, msg};

/// With nothing scheduled, the loop wakes up after this long.
const LONG: Duration = Duration::from_hours(24);
/// How long to wait for all tasks to stop before the console exits anyway.
const STOPPING: Duration = Duration::from_secs(15);
/// Bytes that may wait for a terminal that takes none; lines beyond that are counted, not printed.
const MOST_WAITING: usize = 1 << 20;
/// Exit code when the reader of our output is gone: what a shell reports for SIGPIPE.
const UNREAD: u8 = 141;

/// The state of the loop.
struct Teller {
    session: PlainSession,
    operator: Operator,
    /// What the last line asked for.
    reading: JoinSet<Option<PlainEvent>>,
    /// What is read unasked, of a task that is followed or waits: a flood of it holds up no line.
    following: JoinSet<Option<PlainEvent>>,
    /// Whether the event being handled is a line.
    is_line: bool,
    lines: Option<stdin::Lines>,
    echo: Echo,
    signals: Signals,
    clock: Clock,
    output: BufferedSink,
    /// Whether that is a terminal: only then lines may be left out.
    is_terminal: bool,
    /// Lines that were left out.
    left_out: usize,
    give_up: Option<Duration>,
    options: ConsoleOptions,
    on_hangup: OnHangup,
    stop: PendingStop,
    /// Waits for the next runtime of the workspace, once this one is gone.
    next_runtime: JoinSet<Operator>,
    /// What becomes of the runtime in this process, unless it just ends with the console.
    fate: Option<RuntimeFate>,
}

/// Reports on the runtime until the user leaves, nothing is left to report, or a signal arrives.
///
/// # Errors
/// When signals cannot be listened to, or standard input cannot be read.
pub(in crate::console) async fn run(
    operator: Operator,
    because: PlainReason,
    options: &ConsoleOptions,
) -> Result<ConsoleExit, ConsoleError> {
    let signals = Signals::listen().map_err(ConsoleError::Signals)?;
    let clock = Clock::start();
    let (preferences, _) =
        Preferences::read(options.config.as_deref(), &options.flags, &options.capabilities);
    let about = Circumstances {
        because: because.to_string(),
        zone: TimeZone::system(),
        is_remote: operator.is_remote(),
        can_detach: options.can_detach,
        recording: operator.recording().map(str::to_owned),
        is_person: stdin::is_person(),
        watch: preferences.ui.console.watch.clone(),
    };
    let (lines, reading_lines) = stdin::lines(clock.clone()).map_err(ConsoleError::Terminal)?;
    let mut snapshots = operator.snapshot();
    let snapshot = operator.of_others(&snapshots.borrow_and_update());
    let (session, effects) = PlainSession::begin(about, snapshot, clock.now().wall);
    let mut teller = Teller {
        session,
        operator,
        reading: JoinSet::new(),
        following: JoinSet::new(),
        is_line: true,
        lines: Some(lines),
        echo: Echo::default(),
        signals,
        clock,
        output: ByteSink::of_stdout().and_then(BufferedSink::new).map_err(ConsoleError::Terminal)?,
        is_terminal: io::stdout().is_terminal(),
        left_out: 0,
        give_up: None,
        options: options.clone(),
        on_hangup: preferences.ui.console.on_hangup,
        stop: PendingStop::new(options.stop_requests()),
        next_runtime: JoinSet::new(),
        fate: None,
    };
    let code = match teller.carry_out(effects) {
        Some(code) => code,
        None => tokio::task::unconstrained(teller.listen(snapshots)).await,
    };
    teller.finish(code).await;
    let session = &teller.session;
    let runtime = match () {
        () if session.is_lost => RuntimeFate::Lost,
        () if teller.fate.is_some() => teller.fate.unwrap_or(RuntimeFate::Ends),
        () if teller.operator.recording().is_some() => RuntimeFate::Read,
        () if teller.operator.is_remote() && !session.is_leaving => RuntimeFate::GoesOn,
        () => RuntimeFate::Ends,
    };
    let snapshot = teller.operator.snapshot();
    drop(teller);
    reading_lines.stop();
    let last = snapshot.borrow();
    Ok(ConsoleExit::new(code, &last, runtime))
}

impl Teller {
    /// Runs until something ends the loop; returns the exit code.
    async fn listen(&mut self, mut snapshots: watch::Receiver<Arc<Snapshot>>) -> u8 {
        let mut connected = self.operator.link_state();
        connected.mark_changed();
        loop {
            let now = self.clock.now();
            if self.give_up.is_some_and(|at| at <= now.mono) {
                return 0;
            }
            if self.stop.is_due(now.mono, self.output.is_empty()) {
                return self.stop_as_asked();
            }
            let heard = match self.next(&mut snapshots, &mut connected).await {
                PlainInput::Event(heard) => heard,
                PlainInput::Signal(SignalRequest::End(130)) => PlainEvent::Interrupted,
                PlainInput::Signal(SignalRequest::End(code)) => return code,
                PlainInput::Signal(SignalRequest::HangUp) | PlainInput::Gone => return self.handle_hangup(),
                PlainInput::Taken(Ok(())) => {
                    if let Some(code) = self.mark_printed() {
                        return code;
                    }
                    continue;
                }
                PlainInput::Taken(Err(_)) => return self.unread(),
                PlainInput::Runtime(operator) => {
                    (snapshots, connected) = (operator.snapshot(), operator.link_state());
                    connected.mark_changed();
                    self.operator = operator;
                    PlainEvent::NextRuntime(self.operator.of_others(&snapshots.borrow_and_update()))
                }
                PlainInput::StopRequest => match self.stop.ask(now.mono) {
                    Some(by) => PlainEvent::StopAsked(by),
                    None => continue,
                },
                PlainInput::Signal(SignalRequest::Suspend) => {
                    self.suspend();
                    continue;
                }
                PlainInput::Signal(SignalRequest::Resize | SignalRequest::Continue) => continue,
            };
            let was_interrupted = matches!(heard, PlainEvent::Interrupted);
            self.is_line = matches!(heard, PlainEvent::Entered(..));
            if matches!(heard, PlainEvent::LinkLost) {
                let workspace = snapshots.borrow().workspace.clone();
                let successors = self.options.successors(&workspace);
                successors.into_iter().for_each(|next| drop(self.next_runtime.spawn(next.next())));
            }
            let effects = self.session.update(heard, self.clock.now().wall);
            if let Some(code) = self.carry_out(effects) {
                return if was_interrupted { 130 } else { code };
            }
        }
    }

    /// Handles the loss of the terminal; returns the exit code.
    fn handle_hangup(&mut self) -> u8 {
        if !self.options.outlives_terminal(self.on_hangup) || self.session.is_leaving {
            return 129;
        }
        self.fate = Some(RuntimeFate::Detached);
        0
    }

    /// Handles the loss of whoever reads standard output; returns the exit code.
    fn unread(&mut self) -> u8 {
        if self.is_terminal { self.handle_hangup() } else { UNREAD }
    }

    /// Waits until what was printed last has been taken: not for long by a terminal or after a signal, otherwise until a
    /// signal arrives.
    async fn finish(&mut self, code: u8) {
        if code >= 128 || self.fate.is_some() {
            return self.output.finish(GIVING_BACK);
        }
        let patience = if self.is_terminal { LEAVING } else { LONG };
        tokio::select! {
            // A reader that is gone misses nothing.
            _ = tokio::time::timeout(patience, self.output.flush()) => {}
            _ = self.signals.next() => {}
        }
    }

    async fn next(
        &mut self,
        snapshots: &mut watch::Receiver<Arc<Snapshot>>,
        connected: &mut watch::Receiver<bool>,
    ) -> PlainInput {
        let wake = self.clock.instant(self.wake());
        let is_lost = self.session.is_lost;
        // Pending requests are carried out and reported before the next line is read, so that a `quit` right
        // behind them loses nothing.
        let takes_lines = self.reading.is_empty();
        let has_printed = self.output.is_empty();
        // A pipe that does not take what was printed gets nothing to print.
        let goes_on = has_printed || self.is_terminal;
        let line = async {
            match &mut self.lines {
                Some(lines) if takes_lines && goes_on => lines.recv().await,
                _ => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            asked = self.signals.next() => PlainInput::Signal(asked),
            taken = self.output.flush(), if !has_printed => PlainInput::Taken(taken),
            Some(()) = self.stop.next_request() => PlainInput::StopRequest,
            Some(read) = self.reading.join_next(), if goes_on => {
                PlainInput::Event(read.ok().flatten().unwrap_or(PlainEvent::Time))
            }
            Ok(()) = snapshots.changed(), if goes_on => {
                PlainInput::Event(PlainEvent::News(self.operator.of_others(&snapshots.borrow_and_update())))
            }
            Ok(()) = connected.changed(), if !is_lost => {
                PlainInput::Event(if *connected.borrow() { PlainEvent::Time } else { PlainEvent::LinkLost })
            }
            Some(Ok(next)) = self.next_runtime.join_next() => PlainInput::Runtime(next),
            line = line => match line {
                Some(StdinText::Entered(entered, at)) => PlainInput::Event(PlainEvent::Entered(entered, at)),
                Some(StdinText::EndKey) => PlainInput::Event(PlainEvent::EndKey),
                Some(StdinText::Gone) => PlainInput::Gone,
                None => {
                    self.lines = None;
                    PlainInput::Event(PlainEvent::InputEnded)
                }
            },
            Some(read) = self.following.join_next(), if goes_on => {
                PlainInput::Event(read.ok().flatten().unwrap_or(PlainEvent::Time))
            }
            () = tokio::time::sleep_until(wake) => PlainInput::Event(PlainEvent::Time),
        }
    }

    /// Returns when the loop must wake up even if no event arrives.
    fn wake(&self) -> Duration {
        let now = self.clock.now();
        let by_itself = self.session.next_time().map(|at| {
            let left = at.as_millisecond().saturating_sub(now.wall.as_millisecond()).max(1);
            now.mono + Duration::from_millis(left.unsigned_abs())
        });
        let stop = self.stop.next_look(now.mono);
        by_itself.into_iter().chain(self.give_up).chain(stop).min().unwrap_or(now.mono + LONG)
    }

    fn stop_as_asked(&mut self) -> u8 {
        self.stop.answer(true);
        self.fate = Some(RuntimeFate::Stopped);
        0
    }

    /// Suspends the process: it stays stopped inside this call until it is continued.
    fn suspend(&mut self) {
        let was_off = self.echo.is_off();
        self.echo.hide(false);
        let stopped = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::STOP);
        if let Err(error) = stopped {
            tracing::warn!(%error, "stop as asked");
        }
        self.echo.hide(was_off);
    }

    /// Prints and carries out the effects; returns the exit code if they end the console.
    fn carry_out(&mut self, effects: Vec<PlainEffect>) -> Option<u8> {
        let mut said = String::new();
        let mut end = None;
        for effect in effects {
            match effect {
                PlainEffect::Say(line) => {
                    said.push_str(&line.safe_text());
                    said.push('\n');
                }
                PlainEffect::Do(effect) => end = end.or(self.act(effect)),
                PlainEffect::Read(task, from, purpose) => {
                    let reads = if self.is_line { &mut self.reading } else { &mut self.following };
                    reads::output(reads, &self.operator, &task, from, purpose)
                }
                PlainEffect::Screen(task) => reads::screen(&mut self.reading, self.operator.clone(), task),
                PlainEffect::Hide(hide) => self.echo.hide(hide),
                PlainEffect::Leave => end = Some(0),
            }
        }
        if said.is_empty() {
            return end;
        }
        if self.is_terminal && self.output.waiting() > MOST_WAITING {
            self.left_out += said.lines().count();
            return end;
        }
        match self.output.send(SafeText::lines(&said).as_bytes()) {
            Ok(()) if self.output.is_empty() => end.or(self.mark_printed()),
            Ok(()) => end,
            Err(_) => Some(self.unread()),
        }
    }

    /// Records that everything has been printed, or how many lines have not; returns the exit code if that ends the
    /// console.
    fn mark_printed(&mut self) -> Option<u8> {
        match std::mem::take(&mut self.left_out) {
            0 => self.session.mark_printed(self.clock.now().wall),
            lines => {
                let effects = self.session.update(PlainEvent::LeftOut(lines), self.clock.now().wall);
                return self.carry_out(effects);
            }
        }
        None
    }

    fn act(&mut self, effect: msg::Effect) -> Option<u8> {
        match effect {
            msg::Effect::Quit(Leave::Detach) => {
                self.fate = (!self.operator.is_remote()).then_some(RuntimeFate::Detached);
                return Some(0);
            }
            msg::Effect::Quit(Leave::AsAsked) => return Some(self.stop_as_asked()),
            msg::Effect::Stay => {
                self.stop.answer(false);
                return None;
            }
            msg::Effect::Quit(Leave::StopAll) => self.give_up = Some(self.clock.now().mono + STOPPING),
            _ => {}
        }
        let asked = effects::carry_out(self.operator.clone(), effect);
        self.reading.spawn(async move { asked.await.map(PlainEvent::Done) });
        None
    }
}

enum PlainInput {
    Event(PlainEvent),
    Signal(SignalRequest),
    StopRequest,
    /// The next runtime of the workspace.
    Runtime(Operator),
    /// Everything has been printed, or nobody reads it any more.
    Taken(io::Result<()>),
    /// The terminal is gone.
    Gone,
}
