//! The role `launch`: a process announces that it is about to become an agent. It waits until this connection is closed.

use super::sessions::AgentSessions;
use crate::envelope::Actor;
use crate::link::Client;
use crate::process::EnclosingTask;
use crate::runtime::Handle;

/// Lists the process as an agent until it ends. One that a managed command starts is a part of that command, if it is not the
/// person's own.
pub fn serve(client: &Client, runtime: &Handle, sessions: &AgentSessions) {
    let is_persons = |enclosing: &EnclosingTask| {
        let task = enclosing.task.parse().ok().and_then(|id| runtime.task(&id));
        task.is_some_and(|task| task.started_by == Actor::Operator)
    };
    if client.task.as_ref().is_none_or(|task| task.is_agent || is_persons(task)) {
        sessions.add_launch(client, runtime);
    }
}
