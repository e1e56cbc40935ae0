//! The role `launch`: a process announces that it is about to become an agent. It waits until this connection is closed.

use super::sessions::AgentSessions;
use crate::link::Client;
use crate::runtime::Handle;

/// Lists the process as an agent until it ends. One that a managed command starts is a part of that command.
pub fn serve(client: &Client, runtime: &Handle, sessions: &AgentSessions) {
    if client.task.as_ref().is_none_or(|task| task.is_agent) {
        sessions.launched(client, runtime);
    }
}
