//! What a console is started with, and what remains when it closes.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;
use tokio::sync::watch;

use crate::config::OnHangup;
use crate::envelope::TaskId;
use crate::link::{StopRequest, Successors};
use crate::model::{CloseReason, Snapshot, TaskStatus, UnendedProcesses};
use crate::paths::{Locks, workspace_id};
use crate::process::still_alive;

use crate::console::state::Screen;
use crate::console::theme::colour::Level;
use crate::console::theme::{Capabilities, UiFlags};

/// The first way to see an agent at work, as the empty screen, the demo's end, the README and the guide name it.
pub const FIRST_WAY: &str = "pilothouse claude";
/// Where that is typed, in the words that follow it.
pub const FIRST_PLACE: &str = "in another terminal";

/// The options a console is started with.
#[derive(Debug, Clone, Default)]
pub struct ConsoleOptions {
    /// The settings folder; if none, the defaults apply.
    pub config: Option<PathBuf>,
    /// The folder for remembered state; if none, nothing is remembered.
    pub state: Option<PathBuf>,
    /// The path of this executable, to be started beside a task.
    pub program: Option<PathBuf>,
    /// The agents found on this machine, by the word that starts each here, in the order of help texts.
    pub agents: Vec<&'static str>,
    /// Command-line flags.
    pub flags: UiFlags,
    /// The known capabilities of the terminal.
    pub capabilities: Capabilities,
    /// Why plain lines are used instead of a drawn screen, if they are.
    pub spoken: Option<PlainReason>,
    /// The screen it opens on, unless a saved arrangement overrides it.
    pub opens: Screen,
    /// Where the lock files of this user's runtimes are; if none, no other runtime can be opened.
    pub locks: Option<Locks>,
    /// Where commands start in a runtime that is attached later; if none, in its workspace.
    pub cwd: Option<PathBuf>,
    /// Clipboard tools that copied text is passed to, in addition to asking the terminal.
    pub clipboard: Vec<&'static [&'static str]>,
    /// The folder for exported files; if none, nothing can be exported.
    pub exports: Option<PathBuf>,
    /// Whether the runtime is in this process and can continue without a console.
    pub can_detach: bool,
    /// The runtime in this process, if there is one.
    pub embedded: Option<EmbeddedRuntime>,
    /// Where the history of started commands is saved, if anywhere.
    pub commands: Option<PathBuf>,
    /// Where the arrangement of screen and panes is saved, if anywhere.
    pub layout: Option<PathBuf>,
    /// What a demonstration shows, whenever that changes.
    pub cues: Option<watch::Receiver<DemoCue>>,
}

/// What a console needs to know about the runtime that is embedded in it.
#[derive(Debug, Clone)]
pub struct EmbeddedRuntime {
    /// Its state.
    pub snapshot: watch::Receiver<Arc<Snapshot>>,
    /// How many agents, scripts and other consoles are connected to it.
    pub clients: watch::Receiver<usize>,
    /// Requests to end it.
    pub stop_requests: watch::Receiver<Option<Arc<StopRequest>>>,
}

impl ConsoleOptions {
    /// Returns the requests to end the runtime in this process; if there is none, none ever arrives.
    pub(super) fn stop_requests(&self) -> watch::Receiver<Option<Arc<StopRequest>>> {
        let own = self.embedded.as_ref().map(|runtime| runtime.stop_requests.clone());
        own.unwrap_or_else(|| watch::channel(None).1)
    }

    /// Returns where the next runtime of a workspace is found; `None` if other runtimes cannot be opened.
    pub(super) fn successors(&self, workspace: &Path) -> Option<Successors> {
        Some(Successors {
            locks: self.locks.clone()?,
            workspace: workspace_id(workspace),
            cwd: self.cwd.clone().unwrap_or_else(|| workspace.to_owned()),
            config: self.config.clone(),
        })
    }

    /// Tells whether the runtime in this process continues when its terminal goes away: if the settings say so, and
    /// something runs or anybody is connected.
    pub(super) fn outlives_terminal(&self, on_hangup: OnHangup) -> bool {
        let is_missed = self.embedded.as_ref().is_some_and(EmbeddedRuntime::is_missed);
        self.can_detach && on_hangup == OnHangup::Detach && is_missed
    }
}

impl EmbeddedRuntime {
    /// Tells whether anybody is connected, or anything would be lost if it ended: a task, a held call, a program that is
    /// not over, a pause.
    fn is_missed(&self) -> bool {
        let Snapshot { tasks, programs, gate, .. } = &**self.snapshot.borrow();
        *self.clients.borrow() > 0
            || tasks.iter().any(|task| !task.status.is_terminal())
            || programs.iter().any(|program| !program.state.is_terminal())
            || gate.paused.is_some()
            || !gate.held.is_empty()
    }
}

/// What a demonstration switches to, unless the user is using the keys.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DemoCue {
    pub view: DemoView,
    /// The task to select in it.
    pub task: Option<TaskId>,
}

/// A view that a demonstration shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DemoView {
    #[default]
    Tasks,
    /// The receipt of the newest call.
    Receipt,
    /// The envelope of the newest call.
    Envelope,
    /// The first call that waits for the operator.
    Approvals,
    /// The timeline of all tasks.
    Timeline,
}

/// Why the console uses plain lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlainReason {
    /// A command-line flag was given.
    Flag,
    /// An environment variable is set.
    Variable,
    /// The terminal cannot be drawn on.
    Dumb,
}

impl fmt::Display for PlainReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Flag => "--accessible",
            Self::Variable => "ACCESSIBLE in the environment",
            Self::Dumb => "TERM=dumb",
        })
    }
}

impl PlainReason {
    /// Returns why to use plain lines, if there is a reason. Whether somebody needs them cannot be detected,
    /// so it has to be requested.
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
    /// Derives the terminal's capabilities from environment variables: `NO_COLOR`, `CLICOLOR=0`, `TERM`,
    /// `COLORTERM`, `COLUMNS` and `LINES`, and a locale in which the glyphs would be two columns wide.
    pub fn from_environment(variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let text = |name| variable(name).and_then(|value| value.into_string().ok()).filter(|v| !v.is_empty());
        let no_color = text("NO_COLOR").is_some() || text("CLICOLOR").as_deref() == Some("0");
        let locale = text("LC_ALL").or_else(|| text("LC_CTYPE")).or_else(|| text("LANG")).unwrap_or_default();
        let is_wide = ["zh", "ja", "ko"].iter().any(|language| locale.starts_with(language));
        let (term, colorterm) = (text("TERM").unwrap_or_default(), text("COLORTERM").unwrap_or_default());
        let level = Level::of_terminal(&term, &colorterm);
        // A terminal that does not understand such queries would print them.
        let answers = level > Level::None && term != "linux";
        let named = |name| text(name).and_then(|size| size.trim().parse().ok()).filter(|size| *size > 0);
        let (columns, rows) = Self::default().usual_size;
        let usual_size = (named("COLUMNS").unwrap_or(columns), named("LINES").unwrap_or(rows));
        Self { no_color, level, is_wide, backdrop: None, is_light: None, answers, usual_size }
    }
}

/// What happens to the runtime when a console closes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RuntimeFate {
    /// It ends too, as requested.
    Ends,
    /// It is another process and continues.
    GoesOn,
    /// It ends too, as `serve --stop` asked.
    Stopped,
    /// It continues in this process.
    Detached,
    /// It ended before the console did.
    Lost,
    /// There was none: the console showed a recording.
    Read,
}

/// What to print on the normal screen when a console has closed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsoleExit {
    /// The exit code of the program.
    pub code: u8,
    /// The runtime in this process continues without this terminal, which has been restored and is no longer
    /// read.
    pub is_detached: bool,
    /// A few lines: what ran, what failed, where it is recorded. Empty when nothing ran.
    pub farewell: String,
    runtime: RuntimeFate,
}

impl ConsoleExit {
    /// Summarizes the last known state. The runtime may have been lost, or may continue without the console.
    pub(super) fn new(code: u8, last: &Snapshot, runtime: RuntimeFate) -> Self {
        if runtime == RuntimeFate::Read {
            return Self { code, is_detached: false, farewell: String::new(), runtime };
        }
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
            .map(|status| (status, last.count(status)))
            .filter(|(_, count)| *count > 0)
            .map(|(status, count)| format!("{count} {}", status.as_str()))
            .collect();
        let mut lines = Vec::new();
        if !counts.is_empty() {
            lines.push(format!("Tasks: {}.", counts.join(", ")));
        }
        let has_live = last.tasks.iter().any(|task| !task.status.is_terminal());
        match runtime {
            RuntimeFate::Lost => {
                lines.push("The runtime went away before this console, and its tasks with it.".into())
            }
            RuntimeFate::GoesOn if has_live && !last.places.is_empty() => {
                lines.push("They go on: pilothouse fleet shows them again.".into());
            }
            RuntimeFate::GoesOn | RuntimeFate::Detached if has_live => {
                lines.push(
                    "They go on: pilothouse shows them again, pilothouse serve --stop ends them.".into(),
                );
            }
            RuntimeFate::Detached => {
                lines.push("The runtime goes on: pilothouse serve --stop ends it.".into())
            }
            RuntimeFate::GoesOn | RuntimeFate::Ends | RuntimeFate::Stopped | RuntimeFate::Read => {}
        }
        if matches!(runtime, RuntimeFate::Ends | RuntimeFate::Stopped) {
            let left: Vec<_> = still_alive(last.survivors());
            lines.extend(UnendedProcesses::phrase_for_operator(&left).map(|phrase| format!("{phrase}.")));
        }
        let listed = last.calls.iter().filter(|call| call.status.as_deref() == Some("error")).count() as u64;
        let counted = last.metrics.tool_calls.values().filter_map(|statuses| statuses.get("error"));
        let failed = counted.fold(0_u64, |sum, count| sum.saturating_add(*count)).max(listed);
        if failed > 0 {
            lines.push(format!("Calls that failed: {failed}."));
        }
        if !lines.is_empty() && !last.recording.as_os_str().is_empty() {
            lines.push(format!("Recording: {}", last.recording.display()));
        }
        Self { code, is_detached: runtime == RuntimeFate::Detached, farewell: lines.join("\n"), runtime }
    }

    /// Returns why the runtime that was embedded in the console ends.
    pub fn closing(&self) -> CloseReason {
        match self.runtime {
            RuntimeFate::Stopped => CloseReason::StopCommand,
            _ => CloseReason::of_exit(self.code, CloseReason::ConsoleClosed),
        }
    }

    /// Summarizes again, from the final state of a runtime that has since ended.
    #[must_use]
    pub fn with_summary(self, last: &Snapshot) -> Self {
        if matches!(self.runtime, RuntimeFate::Ends | RuntimeFate::Stopped) {
            Self::new(self.code, last, self.runtime)
        } else {
            self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(pairs: &'static [(&str, &str)]) -> impl Fn(&str) -> Option<OsString> {
        |name| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value))
    }

    fn with(pairs: &'static [(&str, &str)]) -> Capabilities {
        Capabilities::from_environment(named(pairs))
    }

    #[test]
    fn a_terminal_without_a_size_has_the_named_or_the_usual_one() {
        assert_eq!(with(&[]).usual_size, (80, 24));
        assert_eq!(with(&[("COLUMNS", "132"), ("LINES", "43")]).usual_size, (132, 43));
        assert_eq!(with(&[("COLUMNS", "0"), ("LINES", "x")]).usual_size, (80, 24));
    }

    #[test]
    fn plain_lines_are_asked_for_never_guessed() {
        let of = |flag, pairs| PlainReason::of(flag, named(pairs));
        assert_eq!(of(false, &[("TERM", "xterm")]), None);
        assert_eq!(of(false, &[("ACCESSIBLE", "0")]), None);
        assert_eq!(of(false, &[("ACCESSIBLE", "1"), ("TERM", "dumb")]), Some(PlainReason::Variable));
        assert_eq!(of(true, &[("ACCESSIBLE", "1")]), Some(PlainReason::Flag));
        assert_eq!(of(false, &[("TERM", "dumb")]), Some(PlainReason::Dumb));
    }

    #[test]
    fn the_farewell_counts_what_is_no_longer_listed() {
        let mut last = Snapshot { tasks_left: 700, ..Snapshot::default() };
        last.metrics.tasks_ended = [("completed".to_owned(), 1_190), ("failed".to_owned(), 10)].into();
        last.metrics.tool_calls = [("ExecCommand".to_owned(), [("error".to_owned(), 1_001)].into())].into();
        let told = ConsoleExit::new(0, &last, RuntimeFate::Ends).farewell;
        assert_eq!(told, "Tasks: 1190 completed, 10 failed.\nCalls that failed: 1001.");
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
