//! Looks at what live tasks listen on, outside the driver's loop, and applies what was found.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use super::Driver;
use super::order::DriverOrder;
use crate::envelope::TaskId;
use crate::model::ListenAddress;
use crate::model::listening::url;
use crate::process::{HostHandle, ListenChange, ListeningWatch, WatchedTask};
use crate::runtime::bytes::TaskIo;
use crate::runtime::output::StoredOutput;
use crate::runtime::supervisor::SupervisorInput;

/// A URL is looked for in so many of the last bytes of a task's output.
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

impl ListeningLook {
    /// Looks. Blocks.
    fn look(&mut self, tasks: &[WatchedTask], ios: &HashMap<TaskId, Arc<TaskIo>>) -> Vec<ListenNews> {
        let changes = self.watch.look(tasks);
        let opened = changes.iter().filter(|change| change.is_open).cloned().collect();
        let again = std::mem::replace(&mut self.fresh, opened);
        let news = |change: ListenChange| {
            let printed = ios.get(&change.task).filter(|_| change.is_open).map(|io| printed(io, &change.at));
            ListenNews { url: printed.flatten(), change }
        };
        changes.into_iter().chain(again).map(news).collect()
    }
}

/// Returns the URL of an address of a task, as the task printed it or else as it follows from the address.
fn printed(io: &Arc<TaskIo>, at: &ListenAddress) -> Option<String> {
    let output = StoredOutput::new(io.folder.clone(), io.tty, Some(io.clone()));
    let end = output.and_then(|output| output.last_bytes(OUTPUT_BYTES)).unwrap_or_default();
    url(at, &end)
}

impl Driver {
    /// Checks outside the loop what live tasks listen on.
    pub(super) fn look_for_listeners(&mut self) {
        let watched = |(id, live): (&TaskId, &super::state::Live)| {
            let host = live.host.as_ref().and_then(HostHandle::pid)?;
            Some(WatchedTask { id: id.clone(), host })
        };
        let tasks: Vec<WatchedTask> = self.live.iter().filter_map(watched).collect();
        if tasks.is_empty() && !self.is_listening {
            return;
        }
        self.is_listening = !tasks.is_empty();
        let ios =
            tasks.iter().filter_map(|task| Some((task.id.clone(), self.live.get(&task.id)?.io.clone())));
        let ios: HashMap<TaskId, Arc<TaskIo>> = ios.collect();
        let (own, look): (_, Arc<Mutex<ListeningLook>>) = (self.own.clone(), self.listening.clone());
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

    /// Applies what was found.
    pub(super) fn heard(&mut self, news: Vec<ListenNews>) {
        for ListenNews { change: ListenChange { task: id, at, is_open }, url } in news {
            self.step(if is_open {
                SupervisorInput::Listening { id: id.clone(), at, url }
            } else {
                SupervisorInput::Closed { id: id.clone(), at }
            });
            let has_port = |task: &crate::runtime::supervisor::SupervisedTask| {
                task.listening.iter().any(|listener| listener.at.port().is_some())
            };
            let is_listening = self.supervisor.get(&id).is_some_and(has_port);
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
