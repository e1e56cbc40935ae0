//! Progress notifications of a call, for clients that request them: elapsed time, maximum duration, and the last line
//! of output.

use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::ProgressNotificationParam;
use rmcp::service::RequestContext;
use serde_json::Value;
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use crate::clock;
use crate::envelope::one_line;
use crate::envelope::units::millis;
use crate::model::TaskView;
use crate::runtime::Handle;
use crate::tools::{CallNumber, Tool};

/// Interval between progress notifications.
const HEARTBEAT: Duration = Duration::from_secs(5);
/// The maximum length of the last line, in characters.
const LINE_CHARS: usize = 120;

pub(super) struct CallProgress {
    runtime: Handle,
    pub(super) tool: &'static Tool,
    /// Its number, once it is recorded.
    pub(super) begun: CallNumber,
    /// The task it refers to.
    pub(super) task: Option<String>,
    /// The longest time it waits.
    pub(super) total: Option<Duration>,
}

impl CallProgress {
    pub(super) fn new(runtime: Handle, tool: &'static Tool, begun: CallNumber, input: &Value) -> Self {
        let task = input.get("task_id").and_then(Value::as_str).map(str::to_owned);
        let deadline = (tool.name == "ExecCommandBatch").then(|| runtime.limits().batch_deadline);
        let total = tool.longest_wait(input).or(deadline);
        Self { runtime, tool, begun, task, total }
    }

    /// Sends the client progress notifications every 5 s if it requested them.
    pub(super) async fn tell(&self, context: &RequestContext<RoleServer>) -> std::convert::Infallible {
        let Some(token) = context.meta.get_progress_token() else { return std::future::pending().await };
        let started = Instant::now();
        let mut beats = interval_at(started + HEARTBEAT, HEARTBEAT);
        beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let elapsed = beats.tick().await.duration_since(started);
            let message = self.message(elapsed);
            let sign = ProgressNotificationParam::new(token.clone(), elapsed.as_secs_f64().floor());
            let sign = match self.total.filter(|total| *total >= elapsed) {
                Some(total) => sign.with_total(total.as_secs_f64()),
                None => sign,
            };
            // If the client cannot be reached, the transport will notice.
            let _ = context.peer.notify_progress(sign.with_message(message)).await;
        }
    }

    fn message(&self, elapsed: Duration) -> String {
        let task = self.subject();
        let screen = task.as_ref().and_then(|task| self.runtime.screen_text(&task.id));
        message(self.tool.name, elapsed, task.as_deref(), screen.as_ref().map(|(text, _)| text.as_str()))
    }

    /// Returns the task that the call refers to, or the newest one that it started.
    fn subject(&self) -> Option<Arc<TaskView>> {
        if let Some(task) = &self.task {
            return self.runtime.task(&task.parse().ok()?);
        }
        let seq = *self.begun.get()?;
        let (_, newest) = self.runtime.newest(1, |task| task.call == seq);
        newest.into_iter().next()
    }
}

/// Describes the progress of a call.
fn message(tool: &str, elapsed: Duration, task: Option<&TaskView>, screen: Option<&str>) -> String {
    let item =
        task.and_then(|task| task.item).map(|item| format!(", command {} of {}", item.index, item.count));
    let held = task.filter(|task| task.held.is_some()).map(|_| "; it waits for the operator".to_owned());
    let queued = task.and_then(|task| task.queued.as_ref());
    let queued = queued.map(|wait| format!("; it waits for its turn: {wait}"));
    let line = screen.and_then(|text| text.lines().rev().find(|line| !line.trim().is_empty()));
    let line = line.map(|line| format!("; last line: {}", one_line(line.trim(), LINE_CHARS)));
    let more = [item, held, queued, line].into_iter().flatten().collect::<String>();
    format!("{tool}: {}{more}", millis(clock::millis(elapsed)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_progress_message_tells_the_elapsed_time_and_the_last_line() {
        let told = |screen| message("ExecCommand", Duration::from_millis(10_400), None, screen);
        assert_eq!(told(None), "ExecCommand: 10.4 s");
        assert_eq!(told(Some("one\n two \n\n   \n")), "ExecCommand: 10.4 s; last line: two");
        assert!(told(Some(&"x".repeat(500))).chars().count() < 160);
    }
}
