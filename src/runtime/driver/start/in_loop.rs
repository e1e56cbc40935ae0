//! The part of a start that runs in the driver's loop.

use super::in_caller::{PreparedStart, StartKit};
use super::in_job::StartJob;
use crate::config::Ceilings;
use crate::envelope::TaskId;
use crate::model::{Error, ExecOutcome, ParentTask};
use crate::process::RunningCommand;
use crate::runtime::caller_command::CallerStage;
use crate::runtime::driver::order::{DriverOrder, Reply};
use crate::runtime::driver::{Driver, streams};
use crate::runtime::supervisor::SupervisorInput;
use crate::terminal::Size;

/// Accepts a command, or refuses it before anything has happened.
pub(in crate::runtime::driver) fn exec(
    driver: &mut Driver,
    prepared: PreparedStart,
    within: Option<&ParentTask>,
    reply: Reply<ExecOutcome>,
) {
    let mut prepared = prepared;
    let supervisor = &driver.supervisor;
    prepared.new.behind = within.and_then(|within| supervisor.behind(within));
    if let Some(refusal) = supervisor.refusal(&prepared.new) {
        // The caller may be gone by now; nothing was started.
        let _ = reply.send(Err(refusal));
        return driver.blocking_job(move || drop(prepared));
    }
    let PreparedStart { io, new, folder, kit, caller } = prepared;
    folder.keep();
    let id = new.id.clone();
    driver.shared.viewers.refresh(&io);
    driver.shared.commands().begin(&new.id, &new.request.cmd);
    driver.adopt(io, kit, caller, reply);
    let cost = new.cost.clone();
    driver.step(SupervisorInput::Start(new));
    driver.cost_task(&id, cost);
    // A command that is held gets another host when it is released.
    if let Some(kit) = driver.live.get_mut(&id).and_then(|live| live.kit.as_mut()) {
        (kit.host, kit.coming) = (None, None);
    }
}

/// Starts the process outside the loop, which reports back to the driver by an order.
pub(in crate::runtime::driver) fn spawn(driver: &mut Driver, id: &TaskId) {
    let Some((task, view)) = driver.supervisor.get(id).zip(driver.view(id)) else { return };
    driver.shared.ledger.began(id, &view.started_by, driver.now().wall);
    let Some(live) = driver.live.get_mut(id) else { return };
    let native = live.caller.as_mut().and_then(|caller| caller.start.take());
    let Some(StartKit { environment, host, write, coming }) = live.kit.take() else { return };
    live.ceilings = driver.shared.limits.ceilings(&task.request.cmd);
    let coming = coming.unwrap_or_else(|| driver.shared.ledger.coming());
    let (step, ceilings) = (task.request.step.clone(), live.ceilings);
    let job = StartJob { view, step, native, write, ceilings, environment };
    let (shared, spawner, own) = (driver.shared.clone(), driver.spawner.clone(), driver.own.clone());
    driver.job(async move {
        let id = job.view.id.clone();
        let size = job.view.side_terminal.then(Size::default);
        let host = host.unwrap_or_else(|| spawner.begin(Some(id.as_str()), size));
        let order = match job.start(&shared, &spawner, host).await {
            Ok(running) => DriverOrder::Started { id, running: Box::new(running) },
            Err(error) => DriverOrder::StartFailed { id, error },
        };
        // Now it runs.
        drop(coming);
        // The driver is gone only when the runtime has ended, and then the host ends the task.
        let _ = own.send(order).await;
    });
}

/// Takes over a command that its host was told to start: its descriptors, and the events of the host.
pub(in crate::runtime::driver) fn take_over(driver: &mut Driver, id: &TaskId, running: RunningCommand) {
    let RunningCommand { pid, polled, io: streams, side, host, mut events } = running;
    if let Some(live) = driver.live.get_mut(id) {
        live.host = Some(host);
        live.polled = Some(polled).filter(Ceilings::is_bound);
        streams::watch(&driver.shared, &live.io, (streams, side), live.caller.as_mut());
        if let (Some(caller), Some(_)) = (&live.caller, pid) {
            caller.tell(CallerStage::Started);
        }
    }
    let (own, name) = (driver.own.clone(), id.clone());
    driver.job(async move {
        while let Some(event) = events.recv().await {
            if own.send(DriverOrder::Host { id: name.clone(), event }).await.is_err() {
                return;
            }
        }
    });
    // Otherwise the only event says that the host is lost.
    if let Some(pid) = pid {
        driver.step(SupervisorInput::Started { id: id.clone(), pid });
        driver.expect_more(id);
    }
}

/// Ends a task whose command could not be started; the caller gets the error.
pub(in crate::runtime::driver) fn fail_start(driver: &mut Driver, id: &TaskId, error: Error) {
    let row = (error.start_kind().as_str().to_owned(), error.to_string());
    if let Some(live) = driver.live.get_mut(id) {
        live.start_error = Some(error);
    }
    driver.step(SupervisorInput::StartFailed { id: id.clone(), error: row });
}
