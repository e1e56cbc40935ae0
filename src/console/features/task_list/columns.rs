//! The columns of wide list rows, as chosen by the user.

use crate::console::state::agents::short_name;
use crate::console::state::listing::headed::HeadedTasks;
use crate::console::state::{ListColumn, actor_name};
use crate::console::text;
use crate::console::text::{StyledPiece, column, cut_middle, millis, piece, right, visible};
use crate::console::theme::Role;
use crate::console::widgets::Painter;
use crate::envelope::Actor;
use crate::model::TaskView;

/// Width of the initiator's name where the list is this wide, in columns: its first word, or the whole of most names.
const WHO: [(u16, usize); 3] = [(120, 14), (100, 10), (0, 6)];

/// Width of a directory, in columns.
const DIRECTORY: usize = 18;

impl ListColumn {
    /// The columns shown by default.
    pub const USUAL: [Self; 4] = [Self::By, Self::Age, Self::Idle, Self::Cpu];

    /// Returns a description of what it shows.
    pub fn about(self) -> &'static str {
        match self {
            Self::By => "who started it",
            Self::Age => "how long it has been running, or ran",
            Self::Idle => "how long it has been idle",
            Self::Cpu => "percent of a processor",
            Self::Duration => "how long it ran, to the tenth of a second",
            Self::Exit => "its exit code or signal",
            Self::Directory => "the directory it runs in",
        }
    }

    /// Returns its label in a list of this width, as wide as its contents.
    pub(in crate::console) fn label(self, is_still: bool, of: HeadedTasks, width: u16) -> String {
        match self {
            Self::By => column("BY", by_columns(width) + 1, ""),
            Self::Age => right(age_label(is_still, of), 6),
            Self::Idle => right(idle_label(is_still, of), 6),
            Self::Cpu => right("CPU", 5),
            Self::Duration => right("RAN", 8),
            Self::Exit => right("EXIT", 8),
            Self::Directory => format!("  {}", column("DIRECTORY", DIRECTORY, "")),
        }
    }

    /// Returns its contents for a task in a list of this width.
    pub(in crate::console) fn cell(
        self,
        painter: &mut Painter<'_>,
        task: &TaskView,
        width: u16,
    ) -> StyledPiece {
        let dots = painter.glyphs().cut;
        match self {
            Self::By => by(painter, task, by_columns(width)),
            Self::Age => piece(right(&painter.ran(task), 6), Role::Text),
            Self::Idle => piece(right(&painter.quiet(task), 6), Role::Faint),
            Self::Cpu => piece(right(&cpu(painter, task), 5), Role::Text),
            Self::Duration => {
                let ran = match &task.ended {
                    Some(_) => millis(task.lived_ms()),
                    None => painter.ran(task),
                };
                piece(right(&ran, 8), Role::Text)
            }
            Self::Exit => {
                let ended = task.ended.as_ref().map(|ended| match ended.exit_status {
                    Some(status) if ended.signal.is_none() => status.to_string(),
                    _ => ended.word().into_owned(),
                });
                let ended = ended.unwrap_or_else(|| painter.glyphs().dot.to_owned());
                piece(right(&column(ended.trim(), ended.trim().chars().count().min(7), dots), 8), Role::Text)
            }
            Self::Directory => {
                let workspace = painter.state.workspace_of(task);
                let below = task.workdir.strip_prefix(workspace).ok();
                let text = match below.map(|below| below.to_string_lossy()) {
                    Some(below) if below.is_empty() => ".".to_owned(),
                    Some(below) => below.into_owned(),
                    None => task.workdir.to_string_lossy().into_owned(),
                };
                let text = visible::one_line(&text).into_owned();
                let text = cut_middle(&text, DIRECTORY, dots);
                piece(format!("  {}", column(&text, DIRECTORY, dots)), Role::Faint)
            }
        }
    }
}

/// Returns what heads the first of the two times.
pub(in crate::console) fn age_label(is_still: bool, of: HeadedTasks) -> &'static str {
    match of {
        HeadedTasks::Ended => "TOOK",
        HeadedTasks::Live if !is_still => "AGE",
        _ => "TIME",
    }
}

/// Returns what heads the second of them.
pub(in crate::console) fn idle_label(is_still: bool, of: HeadedTasks) -> &'static str {
    match of {
        HeadedTasks::Ended => "ENDED",
        HeadedTasks::Live if !is_still => "IDLE",
        _ => "LAST",
    }
}

/// Returns the width of the initiator's name in a list of this width, in columns.
pub(in crate::console) fn by_columns(width: u16) -> usize {
    WHO.iter().find(|(least, _)| width >= *least).map_or(0, |(_, columns)| *columns)
}

/// Returns the initiator of a task, in that actor's colour: the whole name where it fits.
pub(in crate::console) fn by(painter: &Painter<'_>, task: &TaskView, most: usize) -> StyledPiece {
    by_actor(painter, &task.started_by, most)
}

/// Returns an actor in its colour: the whole name where it fits.
pub(in crate::console) fn by_actor(painter: &Painter<'_>, actor: &Actor, most: usize) -> StyledPiece {
    let dots = painter.glyphs().cut;
    let name = actor_name(actor);
    let name = painter.state.own_label(&name);
    let name = if text::width(name) <= most { name.to_owned() } else { short_name(name, most, dots) };
    piece(column(&name, most + 1, dots), painter.state.role_of(actor))
}

/// Returns the percent of a CPU, or a dot if unknown, as opposed to zero.
fn cpu(painter: &Painter<'_>, task: &TaskView) -> String {
    let used = painter.state.view.usage.of(&task.id).filter(|_| !task.status.is_terminal());
    used.and_then(|used| used.cpu).map_or_else(|| painter.glyphs().dot.to_owned(), |cpu| cpu.to_string())
}
