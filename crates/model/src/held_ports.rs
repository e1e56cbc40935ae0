//! The ports that a task listens on, and holds against others. Pure.

use crate::{PortHolder, TaskView};
use pilothouse_envelope::{mask, one_line};

/// The maximum length of a holder's command, in characters.
const CMD_CHARS: usize = 60;

impl TaskView {
    /// Tells whether it listens on a port, here or in a container.
    #[must_use]
    pub fn has_port(&self) -> bool {
        self.listening.iter().any(|listener| listener.at.port().is_some())
    }

    /// Returns the ports of this machine that it listens on.
    pub fn held_ports(&self) -> impl Iterator<Item = PortHolder> {
        let holder = |port| PortHolder {
            port,
            task: self.id.clone(),
            number: self.number,
            cmd: one_line(&mask(&self.cmd), CMD_CHARS),
            by: self.started_by.clone(),
            since: self.started_at.unwrap_or(self.created_at),
        };
        self.listening.iter().filter_map(|listener| listener.at.own_port()).map(holder)
    }
}
