//! The operator's view of a stream: sent to the workspace's runtime over a separate connection, infrequently enough
//! to cost nothing. A runtime that does not listen stops nothing.

use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use super::StreamOptions;
use super::line::{ParsedLine, StreamRequest};
use crate::dispatch::command::CommandKind;
use crate::dispatch::context::CommandContext;
use crate::dispatch::registry;
use crate::dispatch::response::{Failure, Response};
use crate::envelope::{mask, one_line};
use crate::link::Scripts;
use crate::model::{StreamLine, StreamView};

/// The number of lines shown.
const LINES: usize = 40;
/// The maximum length of a line's note, in characters.
const NOTE_CHARS: usize = 60;
/// The minimum interval between updates for lines that are not tool calls.
const PAUSE: Duration = Duration::from_millis(50);

/// The view of a stream, and the connection over which it is sent.
pub(super) struct StreamViewer {
    scripts: Option<Scripts>,
    view: StreamView,
    told: Option<Instant>,
}

impl StreamViewer {
    pub(super) async fn open(cx: &CommandContext, options: &StreamOptions) -> Self {
        let file = options.input.input_file.as_deref().filter(|file| *file != "-");
        let name = file.and_then(|file| Path::new(file).file_name()).map(|name| name.to_string_lossy());
        let view = StreamView {
            source: one_line(&name.unwrap_or("stdin".into()), NOTE_CHARS),
            dry_run: options.flags.dry_run,
            ..StreamView::default()
        };
        // A stream that is only validated runs nothing that could be watched.
        let scripts = if options.input.validate_only { None } else { cx.join().await };
        Self { scripts, view, told: None }
    }

    /// Shows that a line is about to run.
    pub(super) async fn begin(&mut self, number: u64, read: &ParsedLine) {
        if self.scripts.is_none() {
            return;
        }
        if self.view.lines.len() == LINES {
            self.view.lines.remove(0);
        }
        let (cmd, note) = match read {
            ParsedLine::Line(line) => (line.cmd.clone(), note(line)),
            _ => (read.cmd().unwrap_or_default().to_owned(), String::new()),
        };
        self.view.lines.push(StreamLine { line: number, cmd, note, state: None, duration_ms: None });
        let takes_time = matches!(read, ParsedLine::Line(line) if is_tool(line));
        if takes_time || self.told.is_none_or(|told| told.elapsed() >= PAUSE) {
            self.tell().await;
        }
    }

    /// Records a line's answer.
    pub(super) fn end(&mut self, response: &Response) {
        self.view.done += 1;
        self.view.failed += u64::from(response.outcome.is_err());
        if let Some(line) = self.view.lines.last_mut() {
            line.state = Some(response.outcome.as_ref().map_or_else(Failure::code, |_| "ok").to_owned());
            line.duration_ms = Some(response.meta.duration_ms);
        }
    }

    /// Shows that the stream has ended.
    pub(super) async fn close(&mut self) {
        self.view.is_over = true;
        self.tell().await;
    }

    async fn tell(&mut self) {
        let Some(scripts) = &mut self.scripts else { return };
        self.told = Some(Instant::now());
        if let Err(error) = scripts.show(self.view.clone()).await {
            tracing::info!(%error, "nobody is watching the stream any more");
            self.scripts = None;
        }
    }
}

fn is_tool(line: &StreamRequest) -> bool {
    registry::find(&line.cmd).is_some_and(|command| matches!(command.kind, CommandKind::Tool(_)))
}

/// Returns the part of an input that best distinguishes its line from others.
fn note(line: &StreamRequest) -> String {
    let field = ["cmd", "task_id"].into_iter().find_map(|key| line.payload.get(key).and_then(Value::as_str));
    let items =
        line.payload.get("items").and_then(Value::as_array).map(|items| format!("{} items", items.len()));
    one_line(&mask(items.as_deref().or(field).unwrap_or_default()), NOTE_CHARS)
}
