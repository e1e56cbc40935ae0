//! The program screen: the source with what is being carried out, its branches and values, the question
//! it waits for, the pane of the command it runs.

use ratatui::layout::Rect;

use crate::runtime::{BindingView, ProgramView, RunState, StepState};

use super::{mark, shown};
use crate::console::app::layout::{Layout, cut_top};
use crate::console::app::painter::{Painter, cut};
use crate::console::app::pane;
use crate::console::app::question::draw;
use crate::console::looks::theme::Role;
use crate::console::text;
use crate::console::text::document::{Piece, piece};
use crate::console::text::{column, visible};

/// Columns of a name.
const NAME: usize = 14;

pub(crate) fn draw(painter: &mut Painter<'_>, layout: &Layout) {
    let Some(program) = painter.app.program().cloned() else { return nothing(painter, layout.stage) };
    source(painter, layout.source, &program);
    values(painter, layout.values, &program);
    draw::strip(painter, layout.strip);
    for pane in &layout.panes {
        pane::draw(painter, layout, pane);
    }
}

fn nothing(painter: &mut Painter<'_>, area: Rect) {
    painter.row(area, 1, &[piece("  no program has run", Role::Strong)]);
    let hint = [
        piece("  run     ", Role::Faint),
        piece("pilothouse run PROGRAM.prose", Role::Text),
        piece("   in a shell, or here with ", Role::Faint),
        piece("o", Role::Key),
    ];
    painter.row(area, 3, &hint);
}

fn source(painter: &mut Painter<'_>, area: Rect, program: &ProgramView) {
    let (head, body) = cut_top(area, 1);
    let name = program.path.file_name().unwrap_or(program.path.as_os_str()).to_string_lossy();
    let (glyph, role, word) = run_state(painter, program);
    let has_keys = painter.app.program_task().is_some() && !painter.app.programs.in_pane;
    let mark = if has_keys { format!("{} ", painter.glyphs().selected) } else { String::new() };
    let title = [
        piece(mark, Role::Accent),
        piece(format!("{glyph} "), role),
        piece(visible::one_line(&name).into_owned(), Role::Title),
    ];
    let mut facts = vec![piece(word, role)];
    for turn in &program.loops {
        let most = turn.max.map(|most| format!(" of {most}")).unwrap_or_default();
        facts.push(piece(format!("pass {}{most}", turn.pass), Role::Text));
    }
    if program.state.is_terminal() {
        let ended = program.ended_at.unwrap_or(program.started_at);
        let ms = ended.as_millisecond().saturating_sub(program.started_at.as_millisecond());
        facts.push(piece(format!("ran {}", text::millis(u64::try_from(ms).unwrap_or(0))), Role::Faint));
    } else {
        facts.push(piece(painter.lasting(program.started_at), Role::Faint));
    }
    painter.head(head, &title, &facts);
    let top = painter.app.program_top(usize::from(body.height));
    let lines = program.source.lines().enumerate().skip(top);
    for (y, (at, line)) in (0..body.height).zip(lines) {
        let number = u32::try_from(at + 1).unwrap_or(u32::MAX);
        source_row(painter, Rect { y: body.y + y, height: 1, ..body }, program, (number, line));
    }
}

fn source_row(painter: &mut Painter<'_>, area: Rect, program: &ProgramView, (number, line): (u32, &str)) {
    let mark = mark(program, number);
    let (glyph, role) = mark.state.map_or((" ", Role::Text), |state| step_state(painter, state));
    let is_comment = line.trim_start().starts_with('#');
    let text_role = match mark.state {
        _ if mark.is_current => Role::Strong,
        Some(StepState::Failed) => Role::Failed,
        Some(StepState::Skipped | StepState::Cancelled) => Role::Faint,
        _ if is_comment => Role::Faint,
        _ => Role::Text,
    };
    let line = shown(line);
    let (before, line) = text::panned(&line, usize::from(painter.app.programs.pan));
    let more = if before.trim().is_empty() { " " } else { painter.glyphs().more[0] };
    let row = [
        piece(format!("{glyph} "), role),
        piece(format!("{number:>4} "), Role::Faint),
        piece(more, Role::Accent),
        piece(line, text_role),
    ];
    painter.row(area, 0, &cut(&row, usize::from(area.width.saturating_sub(1)), painter.glyphs().cut));
    if mark.is_current {
        painter.select(Rect { width: area.width.saturating_sub(1), ..area });
    }
}

fn values(painter: &mut Painter<'_>, area: Rect, program: &ProgramView) {
    if area.height < 2 {
        return;
    }
    let (head, body) = cut_top(area, 1);
    let count = program.bindings.len();
    painter.head(head, &[piece("values", Role::Title)], &[piece(count.to_string(), Role::Faint)]);
    let mut rows = Vec::new();
    if let Some(error) = &program.error {
        let said = format!("line {}: {}", error.line, visible::one_line(&error.message));
        rows.push(vec![
            piece(format!(" {} ", painter.glyphs().states[5]), Role::Failed),
            piece(said, Role::Failed),
        ]);
    }
    for branch in &program.branches {
        let (glyph, role) = step_state(painter, branch.state);
        let name = branch.name.as_deref().unwrap_or("");
        let task = branch.task.as_ref().and_then(|id| painter.app.task(id));
        let task = task.map(|task| crate::console::app::alias(task)).unwrap_or_default();
        rows.push(vec![
            piece(format!(" {glyph} "), role),
            piece(format!("{}  ", visible::one_line(&branch.letter)), Role::Title),
            piece(column(&visible::one_line(name), NAME, painter.glyphs().cut), Role::Name),
            piece(format!(" {}  {task}", step_word(branch.state)), role),
        ]);
    }
    let room = usize::from(body.height).saturating_sub(rows.len());
    rows.extend(
        program.bindings.iter().skip(count.saturating_sub(room)).map(|binding| value(painter, binding)),
    );
    for (y, row) in (0..body.height).zip(&rows) {
        painter.row(body, y, &cut(row, usize::from(body.width.saturating_sub(1)), painter.glyphs().cut));
    }
}

fn value(painter: &Painter<'_>, binding: &BindingView) -> Vec<Piece> {
    let states = painter.glyphs().states;
    let (glyph, role) = match binding.exit_code {
        Some(0) => (states[4], Role::Completed),
        Some(_) => (states[5], Role::Failed),
        None => (painter.glyphs().dot, Role::Faint),
    };
    let exit = match binding.exit_code {
        Some(code) if binding.timed_out => format!(" {code} timed out"),
        Some(code) => format!(" {code}"),
        None => String::new(),
    };
    let shown = visible::one_line(binding.preview.trim()).into_owned();
    let shown = if binding.is_cut { format!("{shown}{}", painter.glyphs().cut) } else { shown };
    vec![
        piece(format!(" {glyph}"), role),
        piece(column(&exit, 5, ""), role),
        piece(column(&visible::one_line(&binding.name), NAME, painter.glyphs().cut), Role::Name),
        piece(format!(" {shown}"), Role::Text),
    ]
}

fn run_state(painter: &Painter<'_>, program: &ProgramView) -> (&'static str, Role, &'static str) {
    let states = painter.glyphs().states;
    let word = program.state.as_str();
    match program.state {
        RunState::Running => (states[1], Role::Running, word),
        RunState::Asking => (states[2], Role::Waiting, "waits for an answer"),
        RunState::Completed => (states[4], Role::Completed, word),
        RunState::Failed => (states[5], Role::Failed, word),
        RunState::Cancelled => (states[3], Role::Cancelled, word),
        RunState::Interrupted => (states[6], Role::Interrupted, word),
    }
}

fn step_state(painter: &Painter<'_>, state: StepState) -> (&'static str, Role) {
    let states = painter.glyphs().states;
    match state {
        StepState::Waiting => (states[0], Role::Queued),
        StepState::Running => (states[1], Role::Running),
        StepState::Asking => (states[2], Role::Waiting),
        StepState::Done => (states[4], Role::Completed),
        StepState::Failed => (states[5], Role::Failed),
        StepState::Skipped => (painter.glyphs().dot, Role::Faint),
        StepState::Cancelled => (states[3], Role::Cancelled),
    }
}

fn step_word(state: StepState) -> &'static str {
    match state {
        StepState::Waiting => "not begun",
        StepState::Running => "running",
        StepState::Asking => "asking",
        StepState::Done => "done",
        StepState::Failed => "failed",
        StepState::Skipped => "skipped",
        StepState::Cancelled => "ended",
    }
}
