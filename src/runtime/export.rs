//! Exports a task's output to a file, read from its log, also while the task runs. Blocks.

use std::io;

use serde::{Deserialize, Serialize};

use super::log::StoredLog;
use super::playback::Playback;
use crate::envelope::{Actor, mask};
use crate::model::{TaskEvent, TaskFact, TaskView};
use crate::terminal::{Cast, CastEvent, CastVersion, CellDrawing, LogBytes, MarkKind, Palette};

/// How far the clocks of events and of the log may differ, in milliseconds.
const CLOCKS_DIFFER_MS: u32 = 500;
/// How many bytes of output after an input are searched for its echo.
const ECHO_BYTES: u64 = 8 << 10;

/// The format of an exported output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ExportForm {
    /// The text, as it was shown.
    #[default]
    Text,
    /// The text with its colours as escape sequences, and no other sequences.
    Ansi,
    /// A page for a browser.
    Html,
    /// A picture of the screen as it is now or was at the end.
    Svg,
    /// A recording that plays: asciicast, version 3.
    Cast,
    /// The same, version 2.
    CastV2,
}

impl ExportForm {
    /// All forms, in menu order.
    pub const ALL: [Self; 6] = [Self::Text, Self::Ansi, Self::Html, Self::Svg, Self::Cast, Self::CastV2];

    /// Returns the file name extension for this form.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Text => "txt",
            Self::Ansi => "ansi",
            Self::Html => "html",
            Self::Svg => "svg",
            Self::Cast => "cast",
            Self::CastV2 => "v2.cast",
        }
    }
}

/// An export of a task's output.
#[derive(Debug, Clone)]
pub struct OutputExport<'a> {
    pub task: &'a TaskView,
    /// The task's events in order, for the input track of a recording.
    pub events: &'a [TaskEvent],
    /// Texts that agents typed, in order. Only those that the terminal echoed are written.
    pub typed: Vec<String>,
    /// How many of the last rows to include in text and pages.
    pub rows: u64,
    /// The colours of pages and pictures.
    pub palette: Palette,
}

impl OutputExport<'_> {
    /// Default number of rows of text and pages.
    pub const ROWS: u64 = 10_000;

    /// Creates the export.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub fn make(&self, form: ExportForm) -> io::Result<String> {
        let log = StoredLog::open(self.task)?;
        let title = mask(self.task.name.as_deref().unwrap_or(&self.task.cmd)).into_owned();
        Ok(match form {
            ExportForm::Text => self.history(&log)?.text(),
            ExportForm::Ansi => self.history(&log)?.ansi(),
            ExportForm::Html => self.add_caption(self.history(&log)?).html(&title, &self.palette),
            ExportForm::Svg => {
                let mut playback = Playback::open(self.task)?;
                let end = playback.marks().len();
                self.add_caption(CellDrawing::of(playback.seek(end)?)).svg(&title, &self.palette)
            }
            ExportForm::Cast => self.cast(CastVersion::V3, &title, &log)?,
            ExportForm::CastV2 => self.cast(CastVersion::V2, &title, &log)?,
        })
    }

    /// Adds to a page or picture the command, how it ended, and when.
    fn add_caption(&self, drawing: CellDrawing) -> CellDrawing {
        let TaskView { cmd, ended, created_at, .. } = self.task;
        let at = ended.as_ref().map_or(*created_at, |end| end.at);
        drawing.with_caption(
            &mask(cmd.trim()),
            &format!("{}, {}", self.task.word(), at.strftime("%Y-%m-%d %H:%M UTC")),
        )
    }

    /// Returns the last rows of the log.
    fn history(&self, log: &StoredLog) -> io::Result<CellDrawing> {
        Ok(CellDrawing { columns: log.size.cols(), rows: log.history().last_rows(self.rows)? })
    }

    fn cast(&self, version: CastVersion, title: &str, log: &StoredLog) -> io::Result<String> {
        let cast = Cast {
            version,
            size: log.size,
            origin: log.origin,
            started_at: self.task.created_at.as_second(),
            command: title,
        };
        cast.text(&log.file, &log.marks, &self.track(log))
    }

    /// Returns the events besides the output.
    fn track(&self, log: &StoredLog) -> Vec<(u32, CastEvent)> {
        // The oldest events and calls are dropped first, so the two lists are aligned at their ends.
        let is_typed =
            |event: &&TaskEvent| matches!(event.fact, TaskFact::Input(_)) && event.actor != Actor::Operator;
        let events = self.events.iter().filter(is_typed).count();
        let unknown = events.saturating_sub(self.typed.len());
        let known = self.typed.iter().skip(self.typed.len().saturating_sub(events)).map(Some);
        let mut typed = std::iter::repeat_n(None, unknown).chain(known);
        let inputs = log.marks.iter().filter(|mark| mark.kind == MarkKind::Input);
        let sent: Vec<u32> = inputs.map(|mark| mark.at_ms).collect();
        let happened = self.events.iter().filter_map(|event| {
            let after = event.at.duration_since(self.task.created_at).as_millis();
            let at_ms = u32::try_from(after.max(0)).unwrap_or(u32::MAX);
            let (at_ms, made) = match &event.fact {
                TaskFact::Input(bytes) => {
                    let text = if event.actor == Actor::Operator { None } else { typed.next().flatten() };
                    let at_ms = sent_ms(at_ms, &sent).unwrap_or(at_ms);
                    let echoed = text.filter(|text| is_echoed(text, at_ms, log));
                    let made = match echoed {
                        Some(text) => CastEvent::Input(text.clone()),
                        None => CastEvent::Marker(format!("{} typed {bytes} bytes", event.actor)),
                    };
                    (at_ms, made)
                }
                fact @ (TaskFact::Stop { .. } | TaskFact::Signal(_)) => {
                    (at_ms, CastEvent::Marker(format!("{} by {}: {}", fact.word(), event.actor, fact.note())))
                }
                TaskFact::Exit(exit) => (at_ms, CastEvent::Exit(exit.shell_status())),
                _ => return None,
            };
            Some((at_ms, made))
        });
        happened.collect()
    }
}

/// Returns when input was sent by the clock of the log, which began to run a few milliseconds later than that of events.
fn sent_ms(at_ms: u32, sent: &[u32]) -> Option<u32> {
    let nearest = sent.iter().copied().min_by_key(|sent| sent.abs_diff(at_ms));
    nearest.filter(|sent| sent.abs_diff(at_ms) < CLOCKS_DIFFER_MS)
}

/// Tells whether the terminal echoed a text right after it was typed: hidden input must stay hidden.
fn is_echoed(text: &str, at_ms: u32, log: &StoredLog) -> bool {
    let Some(line) = text.lines().next().filter(|line| !line.trim().is_empty()) else { return false };
    let before = log.marks.partition_point(|mark| mark.at_ms < at_ms).saturating_sub(1);
    let from = log.marks.get(before).map_or(0, |mark| mark.offset);
    let output = log.file.read_range(from..from + ECHO_BYTES).unwrap_or_default();
    memchr::memmem::find(&output, line.as_bytes()).is_some()
}
