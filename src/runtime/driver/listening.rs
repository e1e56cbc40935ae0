//! Looks at what live tasks listen on, outside the driver's loop, and applies what was found; and who holds the port
//! that a failed one could not have.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError};

use super::Driver;
use super::looks::Looks;
use super::order::DriverOrder;
use crate::envelope::TaskId;
use crate::model::listening::url;
use crate::model::taken_port::{named_ports, ports_in_command};
use crate::model::{ListenAddress, TakenPort, TaskStatus, TaskView};
use crate::process::{HostHandle, ListenChange, ListeningWatch, WatchedTask};
use crate::runtime::bytes::TaskIo;
use crate::runtime::output::StoredOutput;
use crate::runtime::supervisor::SupervisorInput;

/// A URL, or the reason of a failure, is looked for in so many of the last bytes of a task's output.
const OUTPUT_BYTES: u64 = 4 << 10;

/// What the last look has found.
#[derive(Debug, Default)]
pub(super) struct ListeningLook {
    watch: ListeningWatch,
    /// Addresses found then: a program usually prints its URL just after it has begun to listen.
    fresh: Vec<ListenChange>,
}

/// What one look has found of a task.
#[derive(Debug)]
pub(in crate::runtime) struct ListenNews {
    change: ListenChange,
    /// The URL of an address that was found.
    url: Option<String>,
}

/// What is known of the ports that a failed task named, because an address was in use.
#[derive(Debug)]
pub(in crate::runtime) struct PortConflict {
    named: Vec<u16>,
    /// Whether they stand in its command, and not in what it printed.
    in_command: bool,
    /// The ports that somebody on this machine listens on.
    held: Vec<u16>,
    news: Vec<ListenNews>,
}

impl ListeningLook {
    /// Looks. Blocks.
    fn look(&mut self, tasks: &[WatchedTask], ios: &HashMap<TaskId, Arc<TaskIo>>) -> Vec<ListenNews> {
        let changes = self.watch.look(tasks);
        let opened = changes.iter().filter(|change| change.is_open).cloned().collect();
        let again = std::mem::replace(&mut self.fresh, opened);
        let news = |change: ListenChange| {
            let printed = ios.get(&change.task).filter(|_| change.is_open).map(|io| task_url(io, &change.at));
            ListenNews { url: printed.flatten(), change }
        };
        changes.into_iter().chain(again).map(news).collect()
    }
}

/// Returns the URL of an address of a task, as the task printed it or else as it follows from the address.
fn task_url(io: &Arc<TaskIo>, at: &ListenAddress) -> Option<String> {
    url(at, &last_output(io))
}

/// Returns the end of a task's output, as text; empty if it cannot be read.
fn last_output(io: &Arc<TaskIo>) -> String {
    let output = StoredOutput::new(io.folder.clone(), io.tty, Some(io.clone()));
    output.and_then(|output| output.last_bytes(OUTPUT_BYTES)).unwrap_or_default()
}

impl Driver {
    /// Checks outside the loop what live tasks listen on: each second, but less often while all of them have been quiet
    /// for long and nobody waits for any.
    pub(super) fn look_for_listeners(&mut self) {
        let is_awaited = || self.live.values().any(|live| live.io.progress.receiver_count() > 0);
        if !Looks::are_ports_due(self.live.values().map(|live| &live.looks)) && !is_awaited() {
            return;
        }
        let (tasks, ios) = self.watched_tasks();
        if tasks.is_empty() && !self.is_listening {
            return;
        }
        self.is_listening = !tasks.is_empty();
        let (own, look) = (self.own.clone(), self.listening.clone());
        self.blocking_job(move || {
            // A look that takes longer than a second is not overtaken by the next.
            let Ok(mut look) = look.try_lock() else { return };
            let news = look.look(&tasks, &ios);
            if !news.is_empty() {
                // Once the driver is gone, nobody shows the result.
                let _ = own.blocking_send(DriverOrder::Listening { news });
            }
        });
    }

    /// Returns the tasks whose sockets are looked for, and their output.
    fn watched_tasks(&self) -> (Vec<WatchedTask>, HashMap<TaskId, Arc<TaskIo>>) {
        let watched = |(id, live): (&TaskId, &super::state::Live)| {
            let host = live.host.as_ref().and_then(HostHandle::pid)?;
            Some(WatchedTask { id: id.clone(), host })
        };
        let tasks: Vec<WatchedTask> = self.live.iter().filter_map(watched).collect();
        let ios =
            tasks.iter().filter_map(|task| Some((task.id.clone(), self.live.get(&task.id)?.io.clone())));
        let ios = ios.collect();
        (tasks, ios)
    }

    /// Tells whether it is still to be looked up why a task has failed.
    pub(super) fn is_to_explain(&self, task: &TaskView) -> bool {
        let has_failed =
            task.ended.as_ref().is_some_and(|ended| !ended.timed_out && ended.exit_status.is_some());
        let is_open = || self.live.get(&task.id).is_some_and(|live| !live.is_explained);
        // Who said nothing named no port: nothing has to be read before the answer.
        task.status == TaskStatus::Failed && has_failed && task.output.bytes > 0 && is_open()
    }

    /// Looks up outside the loop whether a task failed because an address was in use; it is settled after that.
    pub(super) fn explain(&mut self, id: &TaskId) {
        let (tasks, ios) = self.watched_tasks();
        let Some(live) = self.live.get_mut(id) else { return };
        live.is_explained = true;
        let (io, own, look) = (live.io.clone(), self.own.clone(), self.listening.clone());
        let cmd = self.view(id).map(|task| task.cmd.clone()).unwrap_or_default();
        let id = id.clone();
        self.blocking_job(move || {
            let conflict = named_ports(&last_output(&io)).map(|mut named| {
                let mut look = look.lock().unwrap_or_else(PoisonError::into_inner);
                let news = look.look(&tasks, &ios);
                let held = look.watch.ports();
                // A number in the command is its port only if somebody has that.
                let meant = ports_in_command(&cmd).into_iter().filter(|port| held.contains(port));
                let in_command = named.is_empty();
                named.extend(if in_command { meant.collect() } else { Vec::new() });
                PortConflict { named, in_command, held, news }
            });
            let _ = own.blocking_send(DriverOrder::Explained { id, conflict });
        });
    }

    /// Settles a task that failed, with what was found.
    pub(super) fn settle_failure(&mut self, id: &TaskId, conflict: Option<PortConflict>) {
        if let Some(PortConflict { named, in_command, held, news }) = conflict {
            self.apply_listening(news);
            let others = self.supervisor.live().filter(|task| task.id != *id);
            let holders = others.flat_map(|task| task.held_ports()).collect();
            if let Some(taken) = TakenPort::find(&named, &held, holders) {
                let taken = TakenPort { in_command: in_command && taken.port.is_some(), ..taken };
                self.step(SupervisorInput::PortTaken { id: id.clone(), taken });
            }
        }
        self.settle(id);
    }

    /// Applies what was found.
    pub(super) fn apply_listening(&mut self, news: Vec<ListenNews>) {
        for ListenNews { change: ListenChange { task: id, at, is_open }, url } in news {
            self.step(if is_open {
                SupervisorInput::Listening { id: id.clone(), at, url }
            } else {
                SupervisorInput::Closed { id: id.clone(), at }
            });
            let is_listening = self.supervisor.get(&id).is_some_and(|task| task.has_port());
            if let Some(live) = self.live.get(&id) {
                live.io.progress.send_if_modified(|progress| {
                    let changed = progress.listening != is_listening;
                    progress.listening = is_listening;
                    changed
                });
            }
        }
        // Whoever waits for a port looks at the snapshot.
        self.publish();
    }
}
