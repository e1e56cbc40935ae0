//! `pilothouse run`: runs a program, in the workspace's runtime or, on request, in one in this process; shows it in
//! the console on a terminal, otherwise line by line.

use std::io::{self, IsTerminal};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use color_eyre::eyre::{Result, eyre};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::answer::{self, Form};
use super::print;
use super::program_start::ProgramStart;
use super::server::RuntimeServer;
use super::signals::EndSignals;
use crate::clock::millis;
use crate::config::{Faults, LoadedSettings};
use crate::dispatch::run_program::{RunInput, end_response, refusal_response};
use crate::dispatch::{Response, exec::OUTPUT_CLOSED, invalid_settings};
use crate::envelope::{Actor, SafeText, mask, one_line};
use crate::link::Scripts;
use crate::model::CloseReason;
use crate::paths::Places;
use crate::prose::engine::run::{ProgramRun, RunEnd, RunOutcome, RunRefusal, RunRequest};
use crate::prose::engine::vm::effects::RunEvent;
use crate::tools::CutReason;

/// Events that may be queued for printing; beyond that, the program waits.
const EVENTS: usize = 256;
/// The maximum length of a command on a line, in characters.
const COMMAND_CHARS: usize = 100;

/// How a run is reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RunStyle {
    /// Lines for people, then the result.
    Lines,
    /// One response at the end; lines go to standard error.
    Whole,
    /// Events as JSON lines, then the response.
    JsonLines,
}

/// Runs a program. `form` is the format of the answer, if one was requested; the run is ended after `limit`;
/// `is_private` means that it runs in this process.
pub(super) async fn run(
    start: &ProgramStart,
    input: &RunInput,
    form: Option<Form>,
    limit: Option<Duration>,
    is_private: bool,
) -> Result<ExitCode> {
    let style = match form {
        None | Some(Form::Plain) => RunStyle::Lines,
        Some(Form::Jsonl) => RunStyle::JsonLines,
        Some(_) => RunStyle::Whole,
    };
    let is_seen = form.is_none() && !input.plain && is_seen(start);
    // Plain lines may be written where nobody reads them; a gate needs a person.
    let has_operator = is_seen && io::stdin().is_terminal();
    let settings = match LoadedSettings::read(&start.places.config_dir, &start.places.workspace) {
        Ok(loaded) => loaded.settings.programs,
        Err(Faults(faults)) => {
            let response = Response::failure(invalid_settings(&faults));
            return Ok(answer::print(&response, form.unwrap_or(Form::Plain)));
        }
    };
    let request = match input.request(&start.cwd, has_operator, settings) {
        Ok(request) => request,
        Err(failure) => return Ok(answer::print(&Response::failure(failure), form.unwrap_or(Form::Plain))),
    };
    let view = RunView { start, style, is_seen, limit };
    if is_private {
        return view.run_embedded(RuntimeServer::private(&start.places)?, request).await;
    }
    let dial = |places: Places| async move { Scripts::dial(&places.agent_socket(), start.cwd.clone()).await };
    let (scripts, started) = start.access().join(true, dial).await?;
    if let Some(started) = started.filter(|_| !is_seen) {
        print::say(started.notice(&start.places))?;
    }
    view.run_joined(scripts, request).await
}

/// Returns whether the console opens to show it: on a terminal, or if the console's plain lines are requested.
#[cfg(feature = "console")]
fn is_seen(start: &ProgramStart) -> bool {
    start.flags.accessible || io::stdin().is_terminal() && print::is_terminal()
}

#[cfg(not(feature = "console"))]
fn is_seen(_start: &ProgramStart) -> bool {
    false
}

/// How a run is shown.
struct RunView<'a> {
    start: &'a ProgramStart,
    style: RunStyle,
    /// Whether the console opens to show it.
    is_seen: bool,
    /// The time limit.
    limit: Option<Duration>,
}

/// The outcome of a run, and what ended it early, if anything.
type Done = (Result<RunOutcome, RunRefusal>, Option<CutReason>);

impl RunView<'_> {
    /// Runs it in a runtime in this process.
    async fn run_embedded(self, server: RuntimeServer, request: RunRequest) -> Result<ExitCode> {
        let (events, received) = mpsc::channel(EVENTS);
        let cancel = CancellationToken::new();
        let run = match ProgramRun::open(&server.runtime, request, Actor::Cli, events).await {
            Ok(run) => run,
            Err(error) => {
                server.close(CloseReason::CommandOver).await?;
                return Ok(finish(&refusal_response(error.into(), io::stdin().is_terminal()), self.style));
            }
        };
        let going = run.go(cancel.clone());
        let done = self.attend(Some(&server), async { Ok(Ok(going.await)) }, received, &cancel).await;
        // Closing the console ends the program: it runs in this process, and can be resumed.
        server
            .close(if self.is_seen { CloseReason::ConsoleClosed } else { CloseReason::CommandOver })
            .await?;
        Ok(conclude(done?, self.style))
    }

    /// Runs it in the workspace's runtime.
    async fn run_joined(self, mut scripts: Scripts, request: RunRequest) -> Result<ExitCode> {
        let (events, received) = mpsc::channel(EVENTS);
        let cancel = CancellationToken::new();
        let stop = cancel.clone();
        let going =
            async move { scripts.run_program(request, events, stop).await.map_err(|error| eyre!(error)) };
        let done = self.attend(None, going, received, &cancel).await?;
        Ok(conclude(done, self.style))
    }

    /// Shows a run until it has ended: in the console, or line by line.
    async fn attend(
        &self,
        server: Option<&RuntimeServer>,
        going: impl Future<Output = Result<Result<RunOutcome, RunRefusal>>> + Send + 'static,
        received: mpsc::Receiver<RunEvent>,
        cancel: &CancellationToken,
    ) -> Result<Done> {
        let is_late = Arc::new(AtomicBool::new(false));
        let timer = self.limit.map(|limit| tokio::spawn(ended_after(limit, is_late.clone(), cancel.clone())));
        let done = self.show(server, going, received, cancel).await;
        if let Some(timer) = timer {
            timer.abort();
        }
        let (done, cut) = done?;
        let late = self.limit.filter(|_| is_late.load(Ordering::Relaxed));
        let late = late.map(|limit| CutReason::Timeout(millis(limit)));
        Ok((done, late.or(cut)))
    }

    async fn show(
        &self,
        server: Option<&RuntimeServer>,
        going: impl Future<Output = Result<Result<RunOutcome, RunRefusal>>> + Send + 'static,
        mut received: mpsc::Receiver<RunEvent>,
        cancel: &CancellationToken,
    ) -> Result<Done> {
        if !self.is_seen {
            return Reporter { style: self.style, received, is_closed: false }.follow(going, cancel).await;
        }
        let going = tokio::spawn(going);
        if !io::stdin().is_terminal() {
            // A console that reads from a pipe cannot decide gates. It connects only once the program has begun or
            // was refused, so that it is not mistaken for a person who can.
            received.recv().await;
        }
        // The console shows the events; printed lines would overwrite its screen.
        drop(received);
        let shown = look(self.start, server).await;
        cancel.cancel();
        let done = going.await;
        shown?;
        Ok((done??, None))
    }
}

#[cfg(feature = "console")]
async fn look(start: &ProgramStart, server: Option<&RuntimeServer>) -> Result<()> {
    use crate::link::Operator;
    let operator = match server {
        Some(server) => Operator::local(server.runtime.clone(), start.cwd.clone()),
        None => Operator::attach(&start.served_places().operator_socket(), start.cwd.clone()).await?,
    };
    super::console::show_program(start, operator).await.map(drop)
}

#[cfg(not(feature = "console"))]
async fn look(_start: &ProgramStart, _house: Option<&RuntimeServer>) -> Result<()> {
    Ok(())
}

/// Ends a run once its time limit is reached.
async fn ended_after(limit: Duration, is_late: Arc<AtomicBool>, cancel: CancellationToken) {
    tokio::time::sleep(limit).await;
    is_late.store(true, Ordering::Relaxed);
    cancel.cancel();
}

fn conclude((done, cut): Done, style: RunStyle) -> ExitCode {
    match done {
        Ok(outcome) => {
            let code = finish(&end_response(&outcome, cut), style);
            // For any other signal, use the shell's convention.
            match (outcome.how, cut) {
                (RunEnd::Interrupted, Some(CutReason::Signal(signal))) => ExitCode::from(128 + signal),
                _ => code,
            }
        }
        Err(refusal) => finish(&refusal_response(refusal, io::stdin().is_terminal()), style),
    }
}

fn finish(response: &Response, style: RunStyle) -> ExitCode {
    answer::print(
        response,
        match style {
            RunStyle::Lines => Form::Plain,
            RunStyle::Whole => Form::Json,
            RunStyle::JsonLines => Form::Jsonl,
        },
    )
}

/// Prints the events of a run.
struct Reporter {
    style: RunStyle,
    received: mpsc::Receiver<RunEvent>,
    /// Whether the reader is gone.
    is_closed: bool,
}

impl Reporter {
    /// Prints events until the run has ended. The first signal ends the run; a second one stops waiting for it.
    async fn follow(
        &mut self,
        going: impl Future<Output = Result<Result<RunOutcome, RunRefusal>>>,
        cancel: &CancellationToken,
    ) -> Result<Done> {
        let mut ending = EndSignals::listen()?;
        let mut signal = None;
        tokio::pin!(going);
        let done = loop {
            tokio::select! {
                biased;
                Some(event) = self.received.recv() => self.print(&event, cancel),
                done = &mut going => break done?,
                number = ending.wait() => {
                    if signal.is_some() {
                        return Err(eyre!("ended without waiting for its commands"));
                    }
                    signal = Some(number);
                    cancel.cancel();
                }
            }
        };
        while let Ok(event) = self.received.try_recv() {
            self.print(&event, cancel);
        }
        if self.is_closed {
            return Ok((done, Some(CutReason::Signal(OUTPUT_CLOSED - 128))));
        }
        Ok((done, signal.map(CutReason::Signal)))
    }

    fn print(&mut self, event: &RunEvent, cancel: &CancellationToken) {
        let written = match self.style {
            RunStyle::Lines => print::out(&event_line(event)),
            RunStyle::Whole => print::err(&event_line(event)),
            RunStyle::JsonLines => SafeText::json(&serde_json::json!({ "event": event }))
                .map_err(Into::into)
                .and_then(|event| print::out(&event)),
        };
        if written.is_err() && !self.is_closed {
            // The reader is gone, and with it whoever wanted the program run.
            self.is_closed = true;
            cancel.cancel();
        }
    }
}

/// Formats an event as a line, with its details below.
pub fn event_line(event: &RunEvent) -> SafeText {
    let RunEvent { what, number, line, text, detail, .. } = event;
    let text = one_line(&mask(text), COMMAND_CHARS);
    let head = match what.as_str() {
        "exec" => format!("{number:>3}  line {line}  $ {text}"),
        "ran" => format!("     {text}"),
        "warn" => format!("     line {line}  ! {text}"),
        "ask" => format!("{number:>3}  line {line}  ? {text}"),
        "answer" => format!("     {text}"),
        _ => format!("     {text}"),
    };
    let detail = detail.iter().flat_map(|detail| detail.lines()).map(|line| format!("\n     | {line}"));
    SafeText::lines(&(head + &detail.collect::<String>()))
}
