//! What a console is started with, and what it leaves behind.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

use serde::Deserialize;
use tokio::sync::watch;

use crate::paths::Locks;
use crate::runtime::{Snapshot, TaskStatus};

use super::app::Screen;
use super::theme::colour::Level;
use super::theme::{Capabilities, Flags};

/// How a console is started.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The folder of settings; none: the defaults hold.
    pub config: Option<PathBuf>,
    /// The folder in which the console remembers things; none: it does not.
    pub state: Option<PathBuf>,
    /// This very program, to start beside a task.
    pub program: Option<PathBuf>,
    /// What was asked for on the command line.
    pub flags: Flags,
    /// What is known of the terminal.
    pub capabilities: Capabilities,
    /// It is told in plain lines instead of drawn, and why.
    pub spoken: Option<Because>,
    /// The screen it opens on, unless it is arranged as it was left.
    pub opens: Screen,
    /// Where the locks of this user's runtimes are; none: no other one can be opened.
    pub locks: Option<Locks>,
    /// Clipboard tools to hand copied text to, besides asking the terminal.
    pub clipboard: Vec<&'static [&'static str]>,
    /// Where files that are kept go; none: nowhere.
    pub exports: Option<PathBuf>,
    /// The runtime is of this process, which may go on as one without a console.
    pub can_detach: bool,
    /// Where commands that were started are kept for the next time, if anywhere.
    pub commands: Option<PathBuf>,
    /// Where the arrangement of screen and panes is kept, if anywhere.
    pub layout: Option<PathBuf>,
    /// What a demonstration shows, when it changes.
    pub cues: Option<watch::Receiver<Cue>>,
}

/// What a demonstration turns to, unless the person is at the keys.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cue {
    /// The tasks.
    #[default]
    Tasks,
    /// The receipt of the newest call.
    Receipt,
    /// The envelope of the newest call.
    Envelope,
    /// The first call that waits for the operator.
    Approvals,
    /// Who did what, over all tasks.
    Timeline,
}

/// Why a console is told in plain lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Because {
    /// The flag says so.
    Flag,
    /// The variable says so.
    Variable,
    /// The terminal cannot be drawn on.
    Dumb,
}

impl fmt::Display for Because {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Flag => "--accessible",
            Self::Variable => "ACCESSIBLE in the environment",
            Self::Dumb => "TERM=dumb",
        })
    }
}

impl Because {
    /// Returns why a console is to be told in plain lines, if it is: that somebody needs it cannot be found out, it
    /// has to be said.
    #[must_use]
    pub fn of(flag: bool, variable: impl Fn(&str) -> Option<OsString>) -> Option<Self> {
        let is_set = |name| variable(name).is_some_and(|value| !value.is_empty() && value != "0");
        let reasons = [
            (flag, Self::Flag),
            (is_set("ACCESSIBLE"), Self::Variable),
            (variable("TERM").is_some_and(|term| term == "dumb"), Self::Dumb),
        ];
        reasons.into_iter().find_map(|(holds, reason)| holds.then_some(reason))
    }
}

impl Capabilities {
    /// Returns what environment variables tell of the terminal: `NO_COLOR`, `CLICOLOR=0`, `TERM`, `COLORTERM`,
    /// and a locale in which the marks would be two columns wide.
    #[must_use]
    pub fn from_environment(variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let text = |name| variable(name).and_then(|value| value.into_string().ok()).filter(|v| !v.is_empty());
        let no_color = text("NO_COLOR").is_some() || text("CLICOLOR").as_deref() == Some("0");
        let locale = text("LC_ALL").or_else(|| text("LC_CTYPE")).or_else(|| text("LANG")).unwrap_or_default();
        let is_wide = ["zh", "ja", "ko"].iter().any(|language| locale.starts_with(language));
        let (term, colorterm) = (text("TERM").unwrap_or_default(), text("COLORTERM").unwrap_or_default());
        let level = Level::of_terminal(&term, &colorterm);
        // A terminal that knows no such questions would print them.
        let answers = level > Level::None && term != "linux";
        Self { no_color, level, is_wide, backdrop: None, is_light: None, answers }
    }
}

/// What becomes of the runtime when a console closes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Left {
    /// It ends too, as asked.
    Ends,
    /// It is another process and goes on.
    GoesOn,
    /// It goes on in this process.
    Detached,
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
    /// The runtime in this process goes on, without this terminal. It has been given back, and nothing reads it.
    pub is_detached: bool,
    /// A few lines: what ran, what failed, where it is recorded. Empty when nothing ran.
    pub farewell: String,
    runtime: Left,
}

impl Exit {
    /// Sums up what was last known. The runtime may have been lost, or go on without the console.
    pub(super) fn new(code: u8, last: &Snapshot, runtime: Left) -> Self {
        if runtime == Left::Read {
            return Self { code, is_detached: false, farewell: String::new(), runtime };
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
            Left::GoesOn if has_live && !last.places.is_empty() => {
                lines.push("They go on: pilothouse fleet shows them again.".into());
            }
            Left::GoesOn | Left::Detached if has_live => {
                lines.push(
                    "They go on: pilothouse shows them again, pilothouse serve --stop ends them.".into(),
                );
            }
            Left::Detached => lines.push("The runtime goes on: pilothouse serve --stop ends it.".into()),
            Left::GoesOn | Left::Ends | Left::Read => {}
        }
        let failed = last.calls.iter().filter(|call| call.status.as_deref() == Some("error")).count();
        if failed > 0 {
            lines.push(format!("Calls that failed: {failed}."));
        }
        if !lines.is_empty() && !last.recording.as_os_str().is_empty() {
            lines.push(format!("Recording: {}", last.recording.display()));
        }
        Self { code, is_detached: runtime == Left::Detached, farewell: lines.join("\n"), runtime }
    }

    /// Sums up again, from the last state of a runtime that has ended meanwhile.
    #[must_use]
    pub fn told(self, last: &Snapshot) -> Self {
        if self.runtime == Left::Ends { Self::new(self.code, last, self.runtime) } else { self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(pairs: &'static [(&str, &str)]) -> Capabilities {
        Capabilities::from_environment(|name| {
            pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value))
        })
    }

    #[test]
    fn plain_lines_are_asked_for_never_guessed() {
        let of = |flag, pairs: &'static [(&str, &str)]| {
            Because::of(flag, |name| {
                pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value))
            })
        };
        assert_eq!(of(false, &[("TERM", "xterm")]), None);
        assert_eq!(of(false, &[("ACCESSIBLE", "0")]), None);
        assert_eq!(of(false, &[("ACCESSIBLE", "1"), ("TERM", "dumb")]), Some(Because::Variable));
        assert_eq!(of(true, &[("ACCESSIBLE", "1")]), Some(Because::Flag));
        assert_eq!(of(false, &[("TERM", "dumb")]), Some(Because::Dumb));
    }

    #[test]
    fn the_environment_tells_of_colours_and_glyphs() {
        assert!(!with(&[]).no_color);
        assert!(!with(&[("NO_COLOR", "")]).no_color, "empty is not set");
        assert!(with(&[("NO_COLOR", "1")]).no_color);
        assert!(with(&[("CLICOLOR", "0")]).no_color);
        assert_eq!(with(&[("TERM", "xterm-256color"), ("COLORTERM", "24bit")]).level, Level::True);
        assert!(with(&[("LANG", "ja_JP.UTF-8")]).is_wide);
        assert!(!with(&[("LANG", "ja_JP.UTF-8"), ("LC_ALL", "C.UTF-8")]).is_wide);
    }
}
