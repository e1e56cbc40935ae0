//! A task's pane: its title and its cells. The task keeps its own size; a smaller pane shows the part around its cursor,
//! and marks where there is more.

use std::ops::Range;

use ratatui::buffer::Cell;
use ratatui::layout::Position;
use ratatui::style::Modifier;

use crate::console::features::pane::{empty, timestamps, typing};
use crate::console::state::{
    CopyMode, Layout, LogSearch, Pane, Picture, Screen, Scroll, State, alias, command, last_sign, words,
};
use crate::console::text::{self, StyledPiece, piece};
use crate::console::theme::Role;
use crate::console::widgets::cells::{ShownScreen, cells};
use crate::console::widgets::{Painter, columns, place_state, usually};
use crate::model::{TaskStatus, TaskView};
use crate::terminal::CursorShape;

pub(in crate::console) fn draw(painter: &mut Painter<'_>, layout: &Layout, pane: &Pane) {
    let state = painter.state;
    let Some(task) = state.view.task(&pane.task) else { return };
    let scroll = state.reading.scroll.as_ref().filter(|scroll| scroll.task == task.id);
    let copying = state.copying().filter(|copying| copying.task == task.id);
    title(painter, layout, pane, task, scroll);
    if let Some(copying) = copying {
        cells(painter, pane.cells, &copying.picture, (copying.top, state.first_column(pane)));
        return selection(painter, pane, copying);
    }
    let page = scroll.and_then(|scroll| scroll.page.as_ref());
    if let Some((page, scroll)) = page.zip(scroll) {
        let beside = timestamps::draw(painter, pane, page);
        cells(painter, beside.cells, &page.picture, (0, state.first_column(&beside)));
        return draw_matches(painter, &beside, scroll);
    }
    if let Some(page) = timestamps::stamped_page(state, pane) {
        let beside = timestamps::draw(painter, pane, page);
        return cells(painter, beside.cells, &page.picture, (0, state.first_column(&beside)));
    }
    let picture = state.view.pictures.get(&task.id);
    let is_empty = task.output.bytes == 0 && picture.is_none_or(Picture::is_blank);
    if is_empty {
        empty::draw(painter, pane.cells, task);
    }
    let Some(picture) = picture else { return };
    let from = (picture.top(pane.cells.height), state.first_column(pane));
    if !is_empty {
        cells(painter, pane.cells, picture, from);
    }
    if task.status.is_terminal() {
        return;
    }
    cursor(painter, pane, picture, from, task.tty);
    if !is_empty && typing::is_typed_into(state, pane) {
        painter.drawn.typed = Some(ShownScreen { pane: pane.clone(), size: picture.size(), from });
    }
}

/// Draws some rows of the screen that is typed into, and its cursor, where the last frame showed them; returns whether it
/// still shows the same part of the screen.
pub(in crate::console) fn answer(painter: &mut Painter<'_>, shown: &ShownScreen, rows: &Range<u16>) -> bool {
    let (state, pane, (top, _)) = (painter.state, &shown.pane, shown.from);
    let Some(picture) = state.view.pictures.get(&pane.task) else { return false };
    let from = (picture.top(pane.cells.height), state.first_column(pane));
    if (picture.size(), from) != (shown.size, shown.from) || !typing::is_typed_into(state, pane) {
        return false;
    }
    let place = shown.rows(rows);
    painter.restyle(place, Cell::reset);
    cells(painter, place, picture, (rows.start.max(top), shown.from.1));
    cursor(painter, pane, picture, shown.from, true);
    true
}

fn title(painter: &mut Painter<'_>, layout: &Layout, pane: &Pane, task: &TaskView, scroll: Option<&Scroll>) {
    let is_selected = is_at_hand(painter.state, pane);
    let stands_out = is_selected || layout.panes.len() == 1;
    let shown = painter.state(task);
    let is_program = painter.state.focus.screen == Screen::Program;
    let has_others =
        layout.panes.len() > 1 || painter.state.focus.in_pane || is_program && painter.state.programs.in_pane;
    let mark =
        (is_selected && has_others).then(|| piece(format!("{} ", painter.glyphs().selected), Role::Accent));
    let is_pinned = painter.state.division.pins.contains(&task.id);
    let name = if stands_out { Role::Title } else { Role::Text };
    let mut left: Vec<StyledPiece> = mark.into_iter().collect();
    let from = left.len();
    left.extend([piece(format!("{} ", shown.glyph), shown.role), piece(format!("{}  ", alias(task)), name)]);
    left.extend(is_pinned.then(|| piece("pinned  ", Role::Faint)));
    left.extend(command(task).into_iter().map(|part| if stands_out { part } else { faint(part) }));
    // The key that shows it full size, where it does and costs nothing of the command.
    if is_selected && !is_program && columns(&left) + 4 <= pane.title.width * 2 / 3 {
        left.insert(from, piece("[2] ", Role::Faint));
    }
    let mut facts = facts(painter, pane, task, scroll);
    // Shown here if no wide list row shows it: how long the task has been idle, and why it runs.
    if layout.item_rows > 1 || layout.list.is_empty() {
        if !task.status.is_terminal() && scroll.is_none() {
            facts.push(piece(format!("idle {}", painter.quiet(task)), Role::Faint));
        }
        let why = words::why(task);
        let all =
            columns(&left) + columns(&why) + columns(&facts) + u16::try_from(facts.len()).unwrap_or(0) * 3;
        if !why.is_empty() && all + 12 <= pane.title.width {
            left.push(piece("   ", Role::Text));
            left.extend(why);
        }
    }
    painter.ruled_head(pane.title, &left, &facts, typing::ruling(painter.state, pane));
}

/// Returns the facts beside the command in the title, most important first.
fn facts(
    painter: &mut Painter<'_>,
    pane: &Pane,
    task: &TaskView,
    scroll: Option<&Scroll>,
) -> Vec<StyledPiece> {
    let mut facts = place_state::stale(painter, task);
    if let Some(page) = scroll.and_then(|scroll| scroll.page.as_ref()) {
        let at = painter
            .state
            .reading
            .search
            .as_ref()
            .and_then(LogSearch::line)
            .filter(|line| page.rows.contains(line));
        let (what, line) = at.map_or(("line", page.first_line), |line| ("match in line", line));
        // An unfinished line does not count as output yet, but it is shown.
        let lines = task.output.lines.max(line + 1);
        let at = format!("{what} {} of {}", text::count(line + 1), text::count(lines));
        facts.push(piece(at, Role::Strong));
    } else if let Some(waiting) = &task.waiting {
        facts.push(piece(words::needs(waiting), painter.state(task).role));
        facts.push(piece(waiting.evidence.word(), Role::Faint));
    } else if task.status.is_terminal() {
        let shown = painter.state(task);
        facts.push(piece(shown.word, shown.role));
        facts.push(piece(
            if task.never_ran() { "never ran".to_owned() } else { format!("ran {}", painter.ran(task)) },
            Role::Faint,
        ));
        facts.push(piece(painter.ago(last_sign(task)), Role::Faint));
    } else if task.status == TaskStatus::Queued {
        let shown = painter.state(task);
        facts.push(piece(shown.word, shown.role));
    }
    if !task.status.is_terminal() && task.tty {
        let (columns, rows) = (task.size.cols(), task.size.rows());
        let is_cropped = columns > pane.cells.width || rows > pane.cells.height;
        facts.push(piece(format!("{columns}x{rows}"), if is_cropped { Role::Text } else { Role::Faint }));
    }
    // A pane that is still empty says it itself.
    facts.extend(usually(painter.state, task).filter(|_| task.output.bytes > 0));
    if let Some(pid) = task.pid.filter(|_| task.status == TaskStatus::Running) {
        facts.push(piece(format!("pid {pid}"), Role::Faint));
    }
    facts
}

fn faint(part: StyledPiece) -> StyledPiece {
    StyledPiece { role: Role::Faint, ..part }
}

fn is_at_hand(state: &State, pane: &Pane) -> bool {
    state.at_hand().is_some_and(|task| task.id == pane.task)
}

/// Shows search matches in reverse video, those on the current line in bold too.
fn draw_matches(painter: &mut Painter<'_>, pane: &Pane, scroll: &Scroll) {
    let pan = painter.state.first_column(pane);
    let at = painter.state.reading.search.as_ref().and_then(LogSearch::line);
    for found in &scroll.matches {
        let columns = found.columns.start.saturating_sub(pan)..found.columns.end.saturating_sub(pan);
        painter.restyle_row(pane.cells, found.row, columns, |cell| {
            cell.modifier.toggle(Modifier::REVERSED);
            cell.modifier.set(Modifier::BOLD, at == Some(found.line));
        });
    }
}

/// Shows the selection in reverse video and puts the terminal's cursor where the copy cursor is.
fn selection(painter: &mut Painter<'_>, pane: &Pane, copying: &CopyMode) {
    let (area, pan) = (pane.cells, painter.state.first_column(pane));
    for y in 0..area.height {
        let row = copying.top.saturating_add(y);
        let Some((from, to)) = copying.columns(row) else { continue };
        let columns = from.saturating_sub(pan)..to.saturating_sub(pan);
        painter.restyle_row(area, y, columns, |cell| cell.modifier.toggle(Modifier::REVERSED));
    }
    let (row, column) = copying.at;
    if let Some((x, y)) = column.checked_sub(pan).zip(row.checked_sub(copying.top))
        && x < area.width
        && y < area.height
    {
        painter.drawn.cursor = Some((Position::new(area.x + x, area.y + y), CursorShape::Default));
    }
}

/// Shows the cursor: the terminal's own in the pane being typed into, a reversed cell in others.
fn cursor(
    painter: &mut Painter<'_>,
    pane: &Pane,
    picture: &Picture,
    (top, pan): (u16, u16),
    has_terminal: bool,
) {
    let Some(cursor) = picture.cursor.filter(|cursor| cursor.visible) else { return };
    let Some((x, y)) = cursor.col.checked_sub(pan).zip(cursor.row.checked_sub(top)) else { return };
    if x >= pane.cells.width || y >= pane.cells.height {
        return;
    }
    let at = Position::new(pane.cells.x + x, pane.cells.y + y);
    if typing::is_typed_into(painter.state, pane) {
        painter.drawn.cursor = Some((at, cursor.shape));
    } else if has_terminal && let Some(cell) = painter.buf.cell_mut(at) {
        cell.modifier.toggle(Modifier::REVERSED);
    }
}
