//! The event loop of the plain-line console: reads lines, lets `Session` decide, and writes lines. Needs no
//! terminal.

use std::io::{self, Write as _};
use std::sync::Arc;
use std::time::Duration;

use jiff::tz::TimeZone;
use serde_json::json;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::clock::Clock;
use crate::config::OnHangup;
use crate::envelope::{SafeText, TaskId};
use crate::link::Operator;
use crate::runtime::{Snapshot, TaskView};

use super::pages;
use super::signals::{Asked, Signals};
use super::stdin::{self, Echo};
use super::{effects, notices};
use crate::console::Error;
use crate::console::msg::{self, Leave, Msg};
use crate::console::options::{Because, Exit, Left, Options};
use crate::console::plain::{Circumstances, Effect, Event, Purpose, Session};
use crate::console::theme::Preferences;

/// With nothing scheduled, the loop wakes up after this long.
const LONG: Duration = Duration::from_hours(24);
/// How long to wait for all tasks to stop before the console exits anyway.
const STOPPING: Duration = Duration::from_secs(15);
/// Exit code when the reader of our output is gone: what a shell reports for SIGPIPE.
const UNREAD: u8 = 141;

/// The state of the loop.
struct Teller {
    session: Session,
    operator: Operator,
    reading: JoinSet<Option<Event>>,
    lines: Option<stdin::Lines>,
    echo: Echo,
    signals: Signals,
    clock: Clock,
    give_up: Option<Duration>,
    on_hangup: OnHangup,
    /// The runtime in this process continues without this console.
    is_detached: bool,
}

/// Reports on the runtime until the user leaves, nothing is left to report, or a signal arrives.
///
/// # Errors
/// When signals cannot be listened to, or standard input cannot be read.
pub(in crate::console) async fn run(
    operator: Operator,
    because: Because,
    options: &Options,
) -> Result<Exit, Error> {
    let signals = Signals::listen().map_err(Error::Signals)?;
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
        watch: preferences.ui.watch.clone(),
    };
    let (lines, reading_lines) = stdin::lines(clock.clone()).map_err(Error::Terminal)?;
    let snapshot = notices::of_others(&operator.snapshot().borrow());
    let (session, effects) = Session::begin(about, snapshot, clock.now().wall);
    let mut teller = Teller {
        session,
        operator,
        reading: JoinSet::new(),
        lines: Some(lines),
        echo: Echo::default(),
        signals,
        clock,
        give_up: None,
        on_hangup: if options.can_detach { preferences.ui.on_hangup } else { OnHangup::End },
        is_detached: false,
    };
    let code = match teller.carry_out(effects) {
        Some(code) => code,
        None => tokio::task::unconstrained(teller.listen()).await,
    };
    let session = &teller.session;
    let runtime = match () {
        () if session.is_lost => Left::Lost,
        () if teller.is_detached => Left::Detached,
        () if teller.operator.recording().is_some() => Left::Read,
        () if teller.operator.is_remote() && !session.is_leaving => Left::GoesOn,
        () => Left::Ends,
    };
    let snapshot = teller.operator.snapshot();
    drop(teller);
    reading_lines.stop();
    let last = snapshot.borrow();
    Ok(Exit::new(code, &last, runtime))
}

impl Teller {
    /// Runs until something ends the loop; returns the exit code.
    async fn listen(&mut self) -> u8 {
        let mut snapshots = self.operator.snapshot();
        let mut connected = self.operator.connected();
        loop {
            let now = self.clock.now();
            if self.give_up.is_some_and(|at| at <= now.mono) {
                return 0;
            }
            let heard = match self.next(&mut snapshots, &mut connected).await {
                Next::Event(heard) => heard,
                Next::Signal(Asked::End(130)) => Event::Interrupted,
                Next::Signal(Asked::End(code)) => return code,
                Next::Signal(Asked::HangUp) => return self.gone(),
                Next::Signal(Asked::Suspend) => {
                    self.suspend();
                    continue;
                }
                Next::Signal(Asked::Resize | Asked::Continue) => continue,
            };
            let was_interrupted = matches!(heard, Event::Interrupted);
            let effects = self.session.update(heard, self.clock.now().wall);
            if let Some(code) = self.carry_out(effects) {
                return if was_interrupted { 130 } else { code };
            }
        }
    }

    /// Handles the loss of the terminal; returns the exit code.
    fn gone(&mut self) -> u8 {
        self.is_detached = self.on_hangup == OnHangup::Detach && !self.session.is_leaving;
        if self.is_detached { 0 } else { 129 }
    }

    async fn next(
        &mut self,
        snapshots: &mut watch::Receiver<Arc<Snapshot>>,
        connected: &mut watch::Receiver<bool>,
    ) -> Next {
        let wake = self.clock.instant(self.wake());
        let is_lost = self.session.is_lost;
        // Pending requests are carried out and reported before the next line is read, so that a `quit` right
        // behind them loses nothing.
        let takes_lines = self.reading.is_empty();
        let line = async {
            match &mut self.lines {
                Some(lines) if takes_lines => lines.recv().await,
                _ => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            asked = self.signals.next() => Next::Signal(asked),
            Some(read) = self.reading.join_next() => {
                Next::Event(read.ok().flatten().unwrap_or(Event::Time))
            }
            Ok(()) = snapshots.changed() => {
                Next::Event(Event::News(notices::of_others(&snapshots.borrow_and_update())))
            }
            Ok(()) = connected.changed(), if !is_lost => {
                Next::Event(if *connected.borrow() { Event::Time } else { Event::LinkLost })
            }
            line = line => Next::Event(match line {
                Some((entered, at)) => Event::Entered(entered, at),
                None => {
                    self.lines = None;
                    Event::InputEnded
                }
            }),
            () = tokio::time::sleep_until(wake) => Next::Event(Event::Time),
        }
    }

    /// Returns when the loop must wake up even if no event arrives.
    fn wake(&self) -> Duration {
        let now = self.clock.now();
        let by_itself = self.session.next_time().map(|at| {
            let left = at.as_millisecond().saturating_sub(now.wall.as_millisecond()).max(1);
            now.mono + Duration::from_millis(left.unsigned_abs())
        });
        by_itself.into_iter().chain(self.give_up).min().unwrap_or(now.mono + LONG)
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
    fn carry_out(&mut self, effects: Vec<Effect>) -> Option<u8> {
        let mut said = String::new();
        let mut end = None;
        for effect in effects {
            match effect {
                Effect::Say(line) => {
                    said.push_str(&line.shown());
                    said.push('\n');
                }
                Effect::Do(effect) => end = end.or(self.act(effect)),
                Effect::Read(task, from, purpose) => self.read(&task, from, purpose),
                Effect::Screen(task) => self.look(task),
                Effect::Hide(hide) => self.echo.hide(hide),
                Effect::Leave => end = Some(0),
            }
        }
        if said.is_empty() {
            return end;
        }
        let written = {
            let mut out = io::stdout().lock();
            out.write_all(SafeText::lines(&said).as_bytes()).and_then(|()| out.flush())
        };
        self.session.shown(self.clock.now().wall);
        // A failed write means that our reader is gone.
        written.err().map(|_| UNREAD).or(end)
    }

    fn act(&mut self, effect: msg::Effect) -> Option<u8> {
        match effect {
            msg::Effect::Quit(Leave::Detach) => {
                self.is_detached = !self.operator.is_remote();
                return Some(0);
            }
            msg::Effect::Quit(Leave::StopAll) => self.give_up = Some(self.clock.now().mono + STOPPING),
            _ => {}
        }
        let asked = effects::carry_out(self.operator.clone(), effect);
        self.reading.spawn(async move { asked.await.map(Event::Done) });
        None
    }

    fn read(&mut self, task: &TaskId, from: u64, purpose: Purpose) {
        let snapshot = self.operator.snapshot();
        let task = snapshot.borrow().tasks.iter().find(|known| known.id == *task).cloned();
        let Some(task) = task else { return };
        self.reading.spawn_blocking(move || match pages::since(&task, from, purpose) {
            Ok(reading) => Some(Event::Read(task.id.clone(), reading)),
            // A task that never started has no log.
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => Some(Event::Done(Msg::Failed(format!("read the log of the task: {error}")))),
        });
    }

    /// Reads the screen of a task; if the task has ended or the console shows a recording, reconstructs it
    /// from the log.
    fn look(&mut self, task: TaskId) {
        let operator = self.operator.clone();
        let known = operator.snapshot().borrow().tasks.iter().find(|known| known.id == task).cloned();
        let is_past = |known: &Arc<TaskView>| operator.recording().is_some() || known.status.is_terminal();
        if let Some(known) = known.filter(is_past) {
            self.reading.spawn_blocking(move || {
                let screen = pages::last_screen(&known).or_else(|error| match error.kind() {
                    // A task that never started has no log.
                    io::ErrorKind::NotFound => Ok(String::new()),
                    _ => Err(format!("read the log of the task: {error}")),
                });
                Some(Event::Screen(task, screen))
            });
            return;
        }
        self.reading.spawn(async move {
            let asked = json!({"task_id": task, "block": false, "view": "screen"});
            let screen = match operator.call("TaskOutput", asked).await {
                Ok(answer) => {
                    let result = answer.envelope.result();
                    let shown = result.and_then(|result| result.pointer("/task/output_preview"));
                    match result {
                        Some(_) => Ok(shown.and_then(|text| text.as_str()).unwrap_or_default().to_owned()),
                        None => Err(answer.envelope.summary_text().to_owned()),
                    }
                }
                Err(error) => Err(error.to_string()),
            };
            Some(Event::Screen(task, screen))
        });
    }
}

enum Next {
    Event(Event),
    Signal(Asked),
}
