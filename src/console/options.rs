//! What a console is started with, and what it leaves behind.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::runtime::{Snapshot, TaskStatus};

use super::app::View;
use super::clipboard;
use super::theme::Colours;

/// How a console looks and behaves.
#[derive(Debug, Clone)]
pub struct Options {
    /// Whether the chrome uses colour.
    pub colours: Colours,
    /// The chrome keeps to ASCII.
    pub ascii: bool,
    /// The console takes the mouse from the start.
    pub mouse: bool,
    /// The screen it opens on, unless it is arranged as it was left.
    pub opens: View,
    /// Clipboard tools to hand copied text to, besides asking the terminal.
    pub clipboard: Vec<&'static [&'static str]>,
    /// Where the arrangement of screen and panes is kept, if anywhere.
    pub layout: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            colours: Colours::Named,
            ascii: false,
            mouse: true,
            opens: View::Tasks,
            clipboard: Vec::new(),
            layout: None,
        }
    }
}

impl Options {
    /// Returns the options that environment variables ask for: `NO_COLOR`, `CLICOLOR=0`, and a locale in
    /// which the glyphs would be two columns wide.
    #[must_use]
    pub fn from_environment(variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let text = |name| variable(name).and_then(|value| value.into_string().ok()).filter(|v| !v.is_empty());
        let is_plain = text("NO_COLOR").is_some() || text("CLICOLOR").as_deref() == Some("0");
        let locale = text("LC_ALL").or_else(|| text("LC_CTYPE")).or_else(|| text("LANG")).unwrap_or_default();
        let is_wide = ["zh", "ja", "ko"].iter().any(|language| locale.starts_with(language));
        let colours = if is_plain { Colours::None } else { Colours::Named };
        let clipboard = clipboard::tools(&variable);
        Self { colours, ascii: is_wide, clipboard, ..Self::default() }
    }
}

/// What becomes of the runtime when a console closes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Left {
    /// It ends too, as asked.
    Ends,
    /// It is another process and goes on.
    GoesOn,
    /// It ended first.
    Lost,
    /// There was none: a recording was looked at.
    Read,
}

/// What to tell on the normal screen when a console has closed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exit {
    /// The exit code of the program.
    pub code: u8,
    /// A few lines: what ran, what failed, where it is recorded. Empty when nothing ran.
    pub farewell: String,
}

impl Exit {
    /// Sums up what was last known. The runtime may have been lost, or go on without the console.
    pub(super) fn new(code: u8, last: &Snapshot, runtime: Left) -> Self {
        if runtime == Left::Read {
            return Self { code, farewell: String::new() };
        }
        let count = |status| last.tasks.iter().filter(|task| task.status == status).count();
        let states = [
            TaskStatus::Running,
            TaskStatus::Cancelling,
            TaskStatus::Completed,
            TaskStatus::Failed,
            TaskStatus::Cancelled,
            TaskStatus::Interrupted,
        ];
        let counts: Vec<String> = states
            .into_iter()
            .filter(|status| count(*status) > 0)
            .map(|status| format!("{} {}", count(status), status.as_str()))
            .collect();
        let mut lines = Vec::new();
        if !counts.is_empty() {
            lines.push(format!("Tasks: {}.", counts.join(", ")));
        }
        let has_live = last.tasks.iter().any(|task| !task.status.is_terminal());
        match runtime {
            Left::Lost => {
                lines.push("The runtime went away before this console, and its tasks with it.".into())
            }
            Left::GoesOn if has_live => {
                lines.push(
                    "They go on: pilothouse shows them again, pilothouse serve --stop ends them.".into(),
                );
            }
            Left::GoesOn | Left::Ends | Left::Read => {}
        }
        let failed = last.calls.iter().filter(|call| call.status.as_deref() == Some("error")).count();
        if failed > 0 {
            lines.push(format!("Calls that failed: {failed}."));
        }
        if !lines.is_empty() {
            lines.push(format!("Recording: {}", last.recording.display()));
        }
        Self { code, farewell: lines.join("\n") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(pairs: &'static [(&str, &str)]) -> Options {
        Options::from_environment(|name| {
            pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value))
        })
    }

    #[test]
    fn the_environment_chooses_colours_and_glyphs() {
        assert_eq!(with(&[]).colours, Colours::Named);
        assert_eq!(with(&[("NO_COLOR", "")]).colours, Colours::Named, "empty is not set");
        assert_eq!(with(&[("NO_COLOR", "1")]).colours, Colours::None);
        assert_eq!(with(&[("CLICOLOR", "0")]).colours, Colours::None);
        assert!(with(&[("LANG", "ja_JP.UTF-8")]).ascii);
        assert!(!with(&[("LANG", "ja_JP.UTF-8"), ("LC_ALL", "C.UTF-8")]).ascii);
    }
}
