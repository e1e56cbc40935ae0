//! `pilothouse serve`: the runtime without a console.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use color_eyre::eyre::Result;
use serde_json::json;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::answer::{self, Form};
use super::print;
use super::program_start::ProgramStart;
use super::reach::{ReachedRuntime, open_or_join};
use super::server::RuntimeServer;
use super::signals::EndSignals;
use crate::dispatch::cli_only::ServeInput;
use crate::dispatch::{Code, Failure, Response};
use crate::link::{Act, Error, Holder, Operator, Reply};
use crate::model::{CloseReason, Snapshot, Subject, UnendedProcesses};
use crate::paths::Places;
use crate::process::{has_lost_keeper, still_alive};

/// How long a stopped runtime may take to close its connections.
const HANG_UP: Duration = Duration::from_secs(8);
/// Interval for checking whether it is gone.
const LEAVING: Duration = Duration::from_millis(10);
/// A client that connects for less than this and calls nothing is only checking: a status line must not keep a
/// runtime alive.
const LOOK: Duration = Duration::from_secs(2);

/// Serves the workspace until nobody needs it, a signal arrives or a console ends it.
pub(super) async fn run(start: &ProgramStart, input: &ServeInput, form: Form) -> Result<ExitCode> {
    if input.stop {
        return stop(start, form).await;
    }
    let detached = input.detached;
    let mut ending = EndSignals::listen()?;
    // A detached runtime writes only why it could not serve, for the process that started it.
    let tell = |line: String| if detached { Ok(()) } else { print::say(line) };
    let workspace = start.places.workspace.display();
    let Some(server) = open(start, detached).await? else {
        tell(format!("a runtime already serves {workspace}"))?;
        return Ok(if detached { ExitCode::SUCCESS } else { ExitCode::from(6) });
    };
    tell(format!("serving {workspace} at {}", start.places.agent_socket().display()))?;
    let code = until_ended(server, &mut ending, Duration::from_secs(input.idle_seconds)).await?;
    Ok(ExitCode::from(code))
}

/// Serves until a signal arrives, a console ends it, or nobody has needed it for `patience`; returns the exit code.
pub(super) async fn until_ended(
    server: RuntimeServer,
    ending: &mut EndSignals,
    patience: Duration,
) -> Result<u8> {
    let unneeded = await_idle(server.clients(), server.runtime.snapshot(), patience);
    let (code, closing) = tokio::select! {
        signal = ending.wait() => {
            // The kernel sends one when the keeper is gone.
            let reason = if has_lost_keeper() { CloseReason::KeeperKilled } else { CloseReason::of_signal(signal) };
            (128 + signal, reason)
        }
        () = unneeded => (0, CloseReason::Unneeded),
        () = server.ended.cancelled() => (0, CloseReason::OperatorEnded),
    };
    server.close(closing).await?;
    Ok(code)
}

/// Opens the server; `None` if another runtime serves the workspace. A detached one was started because no runtime
/// answered: if the lock is held, its holder may be about to end, and this one waits to take over.
async fn open(start: &ProgramStart, detached: bool) -> Result<Option<RuntimeServer>> {
    if !detached {
        return RuntimeServer::open(&start.places, true);
    }
    let attach =
        |places: Places| async move { Operator::attach(&places.operator_socket(), start.cwd.clone()).await };
    Ok(match open_or_join(start, true, attach).await? {
        ReachedRuntime::Opened(server) => Some(server),
        ReachedRuntime::Joined(_) => None,
    })
}

/// Waits until nobody has needed the runtime for `patience`: no task was live, no agent was at work, nobody was
/// connected for longer than [`LOOK`], and there were no calls.
async fn await_idle(
    mut clients: watch::Receiver<usize>,
    mut snapshot: watch::Receiver<Arc<Snapshot>>,
    patience: Duration,
) {
    let (mut since, mut connected, mut called) = (None, None, None);
    loop {
        let now = Instant::now();
        connected = (*clients.borrow_and_update() > 0).then(|| connected.unwrap_or(now));
        let (is_live, last_call) = {
            let snapshot = snapshot.borrow_and_update();
            let is_live = snapshot.tasks.iter().any(|task| !task.status.is_terminal())
                || snapshot.agents.iter().any(|agent| agent.connected);
            (is_live, snapshot.calls.last().map(|call| call.seq))
        };
        let has_called = std::mem::replace(&mut called, last_call) != last_call;
        let stays = connected.is_some_and(|at| now >= at + LOOK);
        since = match since {
            _ if is_live || stays => None,
            Some(since) if !has_called => Some(since),
            _ => Some(now),
        };
        // A client that has just connected must not be disconnected.
        let end = since.filter(|_| connected.is_none()).map(|since| since + patience);
        if end.is_some_and(|end| end <= now) {
            return;
        }
        let look = connected.map(|at| at + LOOK).filter(|at| *at > now);
        let wake = async {
            match end.into_iter().chain(look).min() {
                Some(at) => sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = wake => {}
            changed = clients.changed() => if changed.is_err() { return },
            // While someone stays connected, tasks and calls change nothing.
            changed = snapshot.changed(), if !stays => if changed.is_err() { return },
        }
    }
}

/// Ends the runtime that serves the workspace.
async fn stop(start: &ProgramStart, form: Form) -> Result<ExitCode> {
    let said = |effect: &str, text: &str| {
        answer::print(&Response::success(json!({ "effect": effect }), text.to_owned()), form)
    };
    let operator = match Operator::attach(&start.served_places().operator_socket(), start.cwd.clone()).await {
        Ok(operator) => operator,
        Err(error) => match Holder::of(&start.places).explain(error) {
            Error::NoRuntime { .. } => return Ok(said("noop", "no runtime serves this workspace")),
            error => return Err(error.into()),
        },
    };
    let held = Holder::of(&start.places);
    let unended = match operator.ask(Act::Shutdown(CloseReason::StopCommand).on(Subject::Home)).await {
        Ok(Reply::Shutdown(unended)) => unended,
        // A console that ends with its runtime may hang up before the reply is written.
        Ok(_) | Err(Error::Gone) => {
            let last = operator.snapshot().borrow().clone();
            still_alive(last.survivors())
        }
        Err(error) => return Err(error.into()),
    };
    let mut connected = operator.link_state();
    // It has ended its tasks, but until its process exits it could still accept a call, and lose it: the next command
    // must reach another runtime.
    let gone = async {
        let _ = connected.wait_for(|connected| !connected).await;
        while held != Holder::Nobody && Holder::of(&start.places) == held {
            sleep(LEAVING).await;
        }
    };
    // This is only a courtesy, so the wait is short.
    let _ = timeout(HANG_UP, gone).await;
    let Some(phrase) = UnendedProcesses::phrase_for_operator(&unended) else {
        return Ok(said("stopped", "stopped"));
    };
    let (left, text) = (json!(UnendedProcesses::of(&unended)), format!("stopped, but {phrase}"));
    let failure = Failure::running(Code::PartialFailure, text.clone())
        .with("unended_processes", left)
        .with_data(json!({ "effect": "stopped" }))
        .with_text(text);
    Ok(answer::print(&Response::failure(failure), form))
}

#[cfg(test)]
mod tests {

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_runtime_nobody_needs_ends_after_its_patience_and_not_before() {
        let clients = watch::Sender::new(1);
        let snapshots = watch::Sender::new(Arc::new(Snapshot::default()));
        let patience = Duration::from_secs(600);
        let started = Instant::now();
        let ended = tokio::spawn(await_idle(clients.subscribe(), snapshots.subscribe(), patience));
        sleep(Duration::from_secs(3_000)).await;
        clients.send_replace(0);
        for _ in 0..10 {
            // Snapshots without changes do not count as use.
            sleep(Duration::from_secs(30)).await;
            snapshots.send_modify(|_| {});
        }
        ended.await.expect("ends");
        assert_eq!(started.elapsed().as_secs(), 3_600);
    }

    #[tokio::test(start_paused = true)]
    async fn short_connections_keep_no_runtime_alive_and_a_call_does() {
        let clients = watch::Sender::new(0);
        let snapshots = watch::Sender::new(Arc::new(Snapshot::default()));
        let started = Instant::now();
        let patience = Duration::from_secs(600);
        let ended = tokio::spawn(await_idle(clients.subscribe(), snapshots.subscribe(), patience));
        let look = async |seconds: u64| {
            clients.send_replace(1);
            sleep(Duration::from_secs(seconds)).await;
            clients.send_replace(0);
            sleep(Duration::from_secs(5)).await;
        };
        look(30).await;
        let called = json!({"seq": 1, "at": "2026-01-01T00:00:00Z", "actor": "cli", "tool": "TaskList", "summary": ""});
        let called = serde_json::from_value(called).expect("a call");
        snapshots.send_modify(|old| {
            *old = Arc::new(Snapshot { calls: vec![Arc::new(called)], ..Snapshot::default() })
        });
        while !ended.is_finished() {
            look(1).await;
        }
        // There was a call 35 s after the start; a connection of a second may be open when the time is up.
        assert!((635..645).contains(&started.elapsed().as_secs()), "{:?}", started.elapsed());
    }
}
