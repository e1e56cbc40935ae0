//! The table of tasks on the metrics screen: what each of them uses and, below the selected one, what each of its
//! processes uses.

use ratatui::layout::Rect;

use crate::console::features::metrics::bars;
use crate::console::state::usage::UsageSamples;
use crate::console::state::{State, alias, command, cut_top};
use crate::console::text::{StyledPiece, apart, column, count, piece, right, size, visible};
use crate::console::theme::Role;
use crate::console::widgets::Painter;
use crate::model::TaskView;
use crate::process::ProcessUsage;

/// Minimum width at which a task's row shows all of its facts, in columns.
const ROOMY: u16 = 110;

/// Width of a task's state, in columns.
const STATE: usize = 13;

/// Seconds of CPU history in a task's row.
const LONG_HISTORY: usize = 10;

/// The most levels of a process tree that are indented.
const DEEPEST: usize = 8;

/// A row of the table.
enum TableRow<'a> {
    Task(&'a TaskView),
    /// A process of the task above, and the percent of one CPU that it uses.
    Process(&'a ProcessUsage, Option<u64>),
    /// That many more processes of the task above.
    More(usize),
}

/// Draws the table of tasks and their usage.
pub(crate) fn draw(painter: &mut Painter<'_>, area: Rect) {
    if area.height < 2 {
        return;
    }
    let state = painter.state;
    let is_roomy = area.width >= ROOMY;
    let spark = if is_roomy { LONG_HISTORY } else { 0 };
    let output = if is_roomy { "     OUTPUT" } else { "" };
    let time = if painter.is_still() { "TIME" } else { " AGE" };
    let heading = format!(
        " {}{}{}       MEM{output}     OUT/s      IN  PROCS   {time}  COMMAND",
        column("BY TASK", 3 + state.alias_columns(6) + STATE, ""),
        column("CPU", spark, ""),
        right(if is_roomy { "%" } else { "CPU %" }, 5)
    );
    painter.row(area, 0, &[piece(heading, Role::Faint)]);
    let body = cut_top(area, 1).1;
    let shown = usize::from(body.height);
    let at = state.selected_at().unwrap_or(0);
    let processes = processes(state, shown.saturating_sub(1));
    let top = (at + 1 + processes.len()).saturating_sub(shown);
    let tasks = state.tasks();
    let (before, after) = tasks.split_at((at + 1).min(tasks.len()));
    let before = before.iter().map(|task| TableRow::Task(task));
    let rows = before.chain(processes).chain(after.iter().map(|task| TableRow::Task(task)));
    painter.list(body, rows.skip(top), |painter, row| match row {
        TableRow::Task(task) => {
            let is_selected = painter.state.list.selected.as_ref() == Some(&task.id);
            let row = task_row(painter, task, is_selected, (is_roomy, spark, STATE));
            (painter.cut(&row, body.width.saturating_sub(1)), is_selected)
        }
        TableRow::Process(process, cpu) => {
            let row = process_row(painter, process, cpu, spark);
            (painter.cut(&row, body.width.saturating_sub(1)), false)
        }
        TableRow::More(many) => {
            let indent = " ".repeat(3 + painter.state.alias_columns(6));
            (vec![piece(format!("{indent}{many} more"), Role::Faint)], false)
        }
    });
}

/// Returns rows for the processes of the selected task, as many as there is room for.
fn processes(state: &State, room: usize) -> Vec<TableRow<'_>> {
    let live = state.selected_task().filter(|task| !task.status.is_terminal());
    let Some(used) = live.and_then(|task| state.view.usage.of(&task.id)) else { return Vec::new() };
    let total = used.processes.and_then(|many| usize::try_from(many).ok()).unwrap_or(0).max(used.tree.len());
    let listed = if total > room { room.saturating_sub(1) } else { room };
    let mut rows: Vec<TableRow<'_>> =
        used.tree.iter().take(listed).map(|(process, cpu)| TableRow::Process(process, *cpu)).collect();
    let more = total - rows.len();
    rows.extend((more > 0 && !rows.is_empty()).then_some(TableRow::More(more)));
    rows
}

fn process_row(
    painter: &Painter<'_>,
    process: &ProcessUsage,
    cpu: Option<u64>,
    spark: usize,
) -> Vec<StyledPiece> {
    let glyphs = painter.glyphs();
    let start = 3 + painter.state.alias_columns(6);
    let known = cpu.map_or_else(|| glyphs.dot.to_owned(), |cpu| cpu.to_string());
    let indent = "  ".repeat(process.depth.min(DEEPEST));
    let corner = format!("{}{} ", glyphs.corners[2], glyphs.rules[0]);
    vec![
        piece(" ".repeat(start), Role::Text),
        piece(column(&process.pid.to_string(), STATE, ""), Role::Faint),
        piece(" ".repeat(spark + 1), Role::Text),
        piece(apart(&known, 5), Role::Text),
        piece(apart(&size(process.memory_bytes), 10), Role::Text),
        piece(format!("  {indent}{corner}"), Role::Faint),
        piece(visible::one_line(&process.command), Role::Text),
    ]
}

fn task_row(
    painter: &mut Painter<'_>,
    task: &TaskView,
    is_selected: bool,
    (is_roomy, spark, columns): (bool, usize, usize),
) -> Vec<StyledPiece> {
    let state = painter.state(task);
    let mark = painter.marker(is_selected);
    let word = format!("{} {}", state.glyph, state.word);
    let ran = painter.ran(task);
    let glyphs = painter.glyphs();
    let used = painter.state.view.usage.of(&task.id).filter(|_| !task.status.is_terminal());
    let known = |value: Option<String>| value.unwrap_or_else(|| glyphs.dot.to_owned());
    let fact = |value: fn(&UsageSamples) -> Option<String>| known(used.and_then(value));
    let mut row = vec![
        piece(format!(" {mark} "), Role::Accent),
        piece(column(&alias(task), painter.state.alias_columns(6), ""), Role::Text),
        piece(column(&word, columns, glyphs.cut), state.role),
        piece(format!(" {}", history(used, spark, glyphs.levels)), Role::Graph),
        piece(apart(&fact(|used| used.cpu.map(|cpu| cpu.to_string())), 5), Role::Strong),
        piece(apart(&fact(|used| used.memory.map(size)), 10), Role::Text),
    ];
    if is_roomy {
        row.push(piece(apart(&size(task.output.bytes), 11), Role::Text));
    }
    row.extend([
        piece(apart(&fact(|used| used.printed.map(size)), 10), Role::Text),
        piece(apart(&fact(|used| Some(count(used.typed))), 8), Role::Text),
        piece(apart(&fact(|used| used.processes.map(|many| many.to_string())), 7), Role::Text),
        piece(format!("{}  ", apart(&ran, 7)), Role::Faint),
    ]);
    row.extend(command(task));
    row
}

/// Draws the CPU usage per second as bars; 100 percent fills the cell.
fn history(used: Option<&UsageSamples>, seconds: usize, levels: [&str; 8]) -> String {
    let known: Vec<u64> = used.map(|used| used.history.iter().copied().collect()).unwrap_or_default();
    let shown = &known[known.len().saturating_sub(seconds)..];
    format!("{}{}", " ".repeat(seconds - shown.len()), bars(shown, 100, levels))
}
