//! A task's pane: its title, then its cells alone. The task keeps its size; a smaller pane shows its
//! lower left part and marks what goes on beyond.

use ratatui::layout::{Position, Rect};
use ratatui::style::Modifier;

use crate::runtime::{TaskStatus, TaskView};
use crate::terminal::CursorShape;

use super::super::app::copy::Copying;
use super::super::app::picture::Picture;
use super::super::app::search::Search;
use super::super::app::{App, Mode, Scroll, View, alias};
use super::super::looks::theme::Role;
use super::super::plan::{Pane, Plan};
use super::super::text;
use super::super::text::document::{Piece, piece};
use super::brush::Brush;
use super::state::{self, command, last_sign};

pub(super) fn draw(brush: &mut Brush<'_>, plan: &Plan, pane: &Pane) {
    let app = brush.app;
    let Some(task) = app.task(&pane.task) else { return };
    let scroll = app.scroll.as_ref().filter(|scroll| scroll.task == task.id);
    let copying = app.copying().filter(|copying| copying.task == task.id);
    title(brush, plan, pane, task, scroll);
    if let Some(copying) = copying {
        cells(brush, pane, &copying.picture, copying.top);
        return selection(brush, pane, copying);
    }
    let page = scroll.and_then(|scroll| scroll.page.as_ref());
    if let Some((page, scroll)) = page.zip(scroll) {
        cells(brush, pane, &page.picture, 0);
        return matches(brush, pane, scroll);
    }
    let Some(picture) = app.pictures.get(&task.id) else { return };
    let top = picture.top(pane.cells.height);
    cells(brush, pane, picture, top);
    if !task.status.is_terminal() {
        cursor(brush, pane, picture, top, task);
    }
}

fn title(brush: &mut Brush<'_>, plan: &Plan, pane: &Pane, task: &TaskView, scroll: Option<&Scroll>) {
    let is_selected = is_at_hand(brush.app, pane);
    let stands_out = is_selected || plan.panes.len() == 1;
    let shown = brush.state(task);
    let has_others = plan.panes.len() > 1 || brush.app.view == View::Program && brush.app.programs.in_pane;
    let mark = if is_selected && has_others { brush.glyphs().selected } else { "" };
    let is_pinned = brush.app.pins.contains(&task.id);
    let name = if stands_out { Role::Title } else { Role::Text };
    let mut left = vec![
        piece(if mark.is_empty() { String::new() } else { format!("{mark} ") }, Role::Accent),
        piece(format!("{} ", shown.glyph), shown.role),
        piece(format!("{}  ", alias(task)), name),
    ];
    left.extend(is_pinned.then(|| piece("pinned  ", Role::Faint)));
    left.extend(command(task).into_iter().map(|part| if stands_out { part } else { faint(part) }));
    let facts = facts(brush, pane, task, scroll);
    brush.head(pane.title, &left, &facts);
}

/// What the title says besides the command, most important first.
fn facts(brush: &mut Brush<'_>, pane: &Pane, task: &TaskView, scroll: Option<&Scroll>) -> Vec<Piece> {
    let mut facts = Vec::new();
    if let Some(page) = scroll.and_then(|scroll| scroll.page.as_ref()) {
        let at = brush.app.search.as_ref().and_then(Search::line).filter(|line| page.rows.contains(line));
        let (what, line) = at.map_or(("line", page.first_line), |line| ("match in line", line));
        let at = format!("{what} {} of {}", text::count(line + 1), text::count(task.output.lines));
        facts.push(piece(at, Role::Strong));
    } else if let Some(waiting) = &task.waiting {
        facts.push(piece(state::need(&waiting.kind), brush.state(task).role));
        facts.push(piece(state::evidence(&waiting.evidence), Role::Faint));
    } else if task.status.is_terminal() {
        let shown = brush.state(task);
        facts.push(piece(shown.word, shown.role));
        facts.push(piece(format!("ran {}", brush.ran(task)), Role::Faint));
        facts.push(piece(brush.ago(last_sign(task)), Role::Faint));
    }
    if !task.status.is_terminal() && task.tty {
        let (columns, rows) = (task.size.cols(), task.size.rows());
        let is_cropped = columns > pane.cells.width || rows > pane.cells.height;
        facts.push(piece(format!("{columns}x{rows}"), if is_cropped { Role::Text } else { Role::Faint }));
    }
    if let Some(pid) = task.pid.filter(|_| task.status == TaskStatus::Running) {
        facts.push(piece(format!("pid {pid}"), Role::Faint));
    }
    facts
}

fn faint(part: Piece) -> Piece {
    Piece { role: Role::Faint, ..part }
}

pub(super) fn cells(brush: &mut Brush<'_>, pane: &Pane, picture: &Picture, top: u16) {
    let area = pane.cells.intersection(brush.buf.area);
    let pan = pan(brush.app, pane);
    for y in 0..area.height {
        let mut x = 0;
        while x < area.width {
            let Some(cell) = picture.cell(top + y, pan + x) else { break };
            let wide = u16::try_from(text::width(cell.symbol())).unwrap_or(1).clamp(1, 2);
            if let Some(slot) = brush.buf.cell_mut((area.x + x, area.y + y)) {
                *slot = cell.clone();
                if x + wide > area.width {
                    text::slot::fill(slot, " ", 1);
                }
            }
            x += wide;
        }
        marks(brush, area, picture, (top + y, y), pan);
    }
}

/// Marks a row that has more to the left or right of what is shown.
fn marks(brush: &mut Brush<'_>, area: Rect, picture: &Picture, (row, y): (u16, u16), pan: u16) {
    let (style, [left, right]) = (brush.style(Role::Accent), brush.glyphs().more);
    if area.width < 2 {
        return;
    }
    if pan > 0 && (0..pan).any(|column| picture.cell(row, column).is_some_and(|cell| cell.symbol() != " ")) {
        brush.text(area, (0, y), left, style);
    }
    if picture.goes_on(row, pan + area.width) {
        brush.text(area, (area.width - 1, y), right, style);
    }
}

fn pan(app: &App, pane: &Pane) -> u16 {
    if is_at_hand(app, pane) { app.pan } else { 0 }
}

fn is_at_hand(app: &App, pane: &Pane) -> bool {
    app.at_hand().is_some_and(|task| task.id == pane.task)
}

/// What a search found stands out in reverse, the line it is at in bold too.
fn matches(brush: &mut Brush<'_>, pane: &Pane, scroll: &Scroll) {
    let pan = pan(brush.app, pane);
    let at = brush.app.search.as_ref().and_then(Search::line);
    for found in scroll.matches.iter().filter(|found| found.row < pane.cells.height) {
        let columns = found.columns.start.saturating_sub(pan)..found.columns.end.saturating_sub(pan);
        for x in columns.take_while(|x| *x < pane.cells.width) {
            if let Some(cell) = brush.buf.cell_mut((pane.cells.x + x, pane.cells.y + found.row)) {
                cell.modifier.toggle(Modifier::REVERSED);
                cell.modifier.set(Modifier::BOLD, at == Some(found.line));
            }
        }
    }
}

/// What is selected stands out in reverse; the terminal's cursor is where copying stands.
fn selection(brush: &mut Brush<'_>, pane: &Pane, copying: &Copying) {
    let (area, pan) = (pane.cells, pan(brush.app, pane));
    for y in 0..area.height {
        let row = copying.top.saturating_add(y);
        let Some((from, to)) = copying.columns(row) else { continue };
        for column in from.max(pan)..to.min(pan.saturating_add(area.width)) {
            if let Some(cell) = brush.buf.cell_mut((area.x + column - pan, area.y + y)) {
                cell.modifier.toggle(Modifier::REVERSED);
            }
        }
    }
    let (row, column) = copying.at;
    if let Some((x, y)) = column.checked_sub(pan).zip(row.checked_sub(copying.top))
        && x < area.width
        && y < area.height
    {
        brush.drawn.cursor = Some((Position::new(area.x + x, area.y + y), CursorShape::Default));
    }
}

/// The terminal's own cursor stands in the pane typed into; elsewhere a reversed cell shows it.
fn cursor(brush: &mut Brush<'_>, pane: &Pane, picture: &Picture, top: u16, task: &TaskView) {
    let Some(cursor) = picture.cursor.filter(|cursor| cursor.visible) else { return };
    let pan = pan(brush.app, pane);
    let Some((x, y)) = cursor.col.checked_sub(pan).zip(cursor.row.checked_sub(top)) else { return };
    if x >= pane.cells.width || y >= pane.cells.height {
        return;
    }
    let at = Position::new(pane.cells.x + x, pane.cells.y + y);
    if matches!(&brush.app.mode, Mode::Input(typed) if *typed == task.id) {
        brush.drawn.cursor = Some((at, cursor.shape));
    } else if task.tty
        && let Some(cell) = brush.buf.cell_mut(at)
    {
        cell.modifier.toggle(Modifier::REVERSED);
    }
}
