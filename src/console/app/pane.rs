//! A task's pane: its title and its cells. The task keeps its own size; a smaller pane shows the lower left
//! part and marks where there is more.

use ratatui::layout::{Position, Rect};
use ratatui::style::Modifier;

use crate::envelope::TaskId;
use crate::model::{TaskStatus, TaskView};
use crate::terminal::CursorShape;

use super::copy::Copying;
use super::picture::Picture;
use super::search::{Search, matches, row_of};
use super::stamps;
use super::task_words::{self, last_sign, usually};
use super::{App, Layout, Mode, Painter, Pane, Screen, Scroll, alias, columns, command, fleet};
use crate::console::keys::Action;
use crate::console::msg::{Anchor, PageView};
use crate::console::text::{self, Piece, piece};
use crate::console::theme::Role;

impl App {
    /// Freezes the pane on a page of the log, or moves to another page.
    pub(super) fn go_in_log(&mut self, action: Action) {
        let Some(task) = self.at_hand().cloned() else { return };
        let Some(rows) = self.layout().pane(&task.id).map(|pane| u64::from(pane.cells.height)) else {
            return;
        };
        let page = self.scroll.as_ref().and_then(|scroll| scroll.page.as_ref());
        // The top line of the pane when it follows the output.
        let bottom = task.output.lines.saturating_sub(rows.saturating_sub(1));
        let wanted = match (action, page.map(|page| (page.first_line, page.next_line))) {
            (Action::First, _) => Anchor::From(0),
            // The line count known here lags a little behind, so the code that reads the log resolves the
            // position.
            (Action::Up, None) => Anchor::LineAboveTail,
            (Action::PageUp, None) => Anchor::AboveTail,
            (Action::Up | Action::PageUp, Some((0, _))) => Anchor::From(0),
            // The page shows a single line: go to what precedes it.
            (Action::PageUp, Some((first, next))) if next == first + 1 => Anchor::Before(first),
            (Action::Up, Some((first, _))) => Anchor::From(first - 1),
            (Action::PageUp, Some((first, next))) => Anchor::Before((first + 1).min(next)),
            _ if self.scroll.is_none() => return,
            (Action::Down, Some((first, _))) if first + 1 < bottom => Anchor::From(first + 1),
            (Action::PageDown, Some((first, next))) if next.saturating_sub(1) < bottom => {
                Anchor::From(next.saturating_sub(1).max(first + 1))
            }
            _ => {
                self.thaw();
                return;
            }
        };
        self.show_page(task.id.clone(), wanted)
    }

    /// Freezes the pane of a task; it shows the live screen until the requested page has been read.
    pub(super) fn show_page(&mut self, task: TaskId, wanted: Anchor) {
        let layout = self.layout();
        let Some(pane) = layout.pane(&task) else { return };
        let (page, lines) = match self.scroll.take().filter(|scroll| scroll.task == task) {
            Some(scroll) => (scroll.page, scroll.lines),
            None => (None, self.view.task(&task).map_or(0, |task| task.output.lines)),
        };
        self.ask_for_page(pane, wanted, pane.size().rows());
        let columns = self.columns(pane);
        self.scroll = Some(Scroll { task, wanted, columns, page, lines, prompt: None, matches: Vec::new() });
        self.mark_matches();
    }

    /// Marks the search's matches on the current page.
    pub(super) fn mark_matches(&mut self) {
        let Some(scroll) = &mut self.scroll else { return };
        let search = self.search.as_ref().filter(|search| search.task == scroll.task);
        let found = scroll.page.as_ref().zip(search);
        scroll.matches = found.map(|(page, search)| matches(page, &search.query.needle)).unwrap_or_default();
        if let Some((page, line)) = scroll.page.as_ref().zip(scroll.prompt) {
            scroll.matches.extend(row_of(page, line));
        }
    }

    pub(super) fn page(&mut self, task: TaskId, page: PageView) {
        if self.copying().is_some_and(|copying| copying.task == task) && self.lengthen(page.anchor, &page) {
            return;
        }
        let is_better_live = self.is_better_live(&task, &page);
        match &mut self.scroll {
            Some(scroll) if scroll.task == task && scroll.wanted == page.anchor => {
                // A program on the alternate screen leaves no lines behind, so its last screen stays.
                if scroll.page.is_none() && is_better_live {
                    self.scroll = None;
                    return self.say("nothing above: the program had the whole screen");
                }
                scroll.page = Some(page);
                self.mark_matches();
            }
            _ if page.anchor == Anchor::Stamped => self.take_stamped(task, page),
            // The last live picture is better than an empty log, or than the log of a program that used the
            // alternate screen.
            _ if page.anchor == Anchor::Tail && page.lines > 0 && !is_better_live => {
                self.view.pictures.insert(task, page.picture);
            }
            _ => {}
        }
    }

    fn is_better_live(&self, task: &TaskId, page: &PageView) -> bool {
        page.picture.is_blank() && self.view.pictures.get(task).is_some_and(|live| !live.is_blank())
    }

    /// Unfreezes the pane: it follows its task again, and any search ends.
    pub(super) fn thaw(&mut self) -> bool {
        let was_frozen = self.scroll.take().is_some();
        self.search.take().is_some() || was_frozen
    }
}

impl App {
    /// Returns the first column that a pane shows: where it was panned to or, for a full-screen program, far
    /// enough to include the cursor.
    pub(super) fn panned(&self, pane: &Pane) -> u16 {
        let pan = if is_at_hand(self, pane) { self.pan } else { 0 };
        let is_still = self.scroll.as_ref().is_some_and(|scroll| scroll.task == pane.task)
            || self.copying().is_some_and(|copying| copying.task == pane.task);
        let Some(picture) = self.view.pictures.get(&pane.task).filter(|_| pan == 0 && !is_still) else {
            return pan;
        };
        picture.left(pane.cells.width)
    }
}

pub(super) fn draw(painter: &mut Painter<'_>, layout: &Layout, pane: &Pane) {
    let app = painter.app;
    let Some(task) = app.view.task(&pane.task) else { return };
    let scroll = app.scroll.as_ref().filter(|scroll| scroll.task == task.id);
    let copying = app.copying().filter(|copying| copying.task == task.id);
    title(painter, layout, pane, task, scroll);
    if let Some(copying) = copying {
        cells(painter, pane, &copying.picture, copying.top);
        return selection(painter, pane, copying);
    }
    let page = scroll.and_then(|scroll| scroll.page.as_ref());
    if let Some((page, scroll)) = page.zip(scroll) {
        let beside = stamps::draw(painter, pane, page);
        cells(painter, &beside, &page.picture, 0);
        return draw_matches(painter, &beside, scroll);
    }
    if let Some(page) = app.stamped(pane) {
        let beside = stamps::draw(painter, pane, page);
        return cells(painter, &beside, &page.picture, 0);
    }
    let Some(picture) = app.view.pictures.get(&task.id) else { return };
    let top = picture.top(pane.cells.height);
    cells(painter, pane, picture, top);
    if !task.status.is_terminal() {
        cursor(painter, pane, picture, top, task);
    }
}

fn title(painter: &mut Painter<'_>, layout: &Layout, pane: &Pane, task: &TaskView, scroll: Option<&Scroll>) {
    let is_selected = is_at_hand(painter.app, pane);
    let stands_out = is_selected || layout.panes.len() == 1;
    let shown = painter.state(task);
    let has_others = layout.panes.len() > 1
        || painter.app.in_pane
        || painter.app.screen == Screen::Program && painter.app.programs.in_pane;
    let mark =
        (is_selected && has_others).then(|| piece(format!("{} ", painter.glyphs().selected), Role::Accent));
    let is_pinned = painter.app.pins.contains(&task.id);
    let name = if stands_out { Role::Title } else { Role::Text };
    let mut left: Vec<Piece> = mark.into_iter().collect();
    left.extend([piece(format!("{} ", shown.glyph), shown.role), piece(format!("{}  ", alias(task)), name)]);
    left.extend(is_pinned.then(|| piece("pinned  ", Role::Faint)));
    left.extend(command(task).into_iter().map(|part| if stands_out { part } else { faint(part) }));
    let mut facts = facts(painter, pane, task, scroll);
    // Shown here if no wide list row shows it: how long the task has been idle, and why it runs.
    if layout.item_rows > 1 || layout.list.is_empty() {
        if !task.status.is_terminal() && scroll.is_none() {
            facts.push(piece(format!("idle {}", painter.quiet(task)), Role::Faint));
        }
        let why = task_words::why(task);
        let all =
            columns(&left) + columns(&why) + columns(&facts) + u16::try_from(facts.len()).unwrap_or(0) * 3;
        if !why.is_empty() && all + 12 <= pane.title.width {
            left.push(piece("   ", Role::Text));
            left.extend(why);
        }
    }
    painter.head(pane.title, &left, &facts);
}

/// Returns the facts beside the command in the title, most important first.
fn facts(painter: &mut Painter<'_>, pane: &Pane, task: &TaskView, scroll: Option<&Scroll>) -> Vec<Piece> {
    let mut facts = fleet::draw::stale(painter, task);
    if let Some(page) = scroll.and_then(|scroll| scroll.page.as_ref()) {
        let at = painter.app.search.as_ref().and_then(Search::line).filter(|line| page.rows.contains(line));
        let (what, line) = at.map_or(("line", page.first_line), |line| ("match in line", line));
        // An unfinished line does not count as output yet, but it is shown.
        let lines = task.output.lines.max(line + 1);
        let at = format!("{what} {} of {}", text::count(line + 1), text::count(lines));
        facts.push(piece(at, Role::Strong));
    } else if let Some(waiting) = &task.waiting {
        facts.push(piece(task_words::needs(waiting), painter.state(task).role));
        facts.push(piece(task_words::evidence(waiting.evidence), Role::Faint));
    } else if task.status.is_terminal() {
        let shown = painter.state(task);
        facts.push(piece(shown.word, shown.role));
        facts.push(piece(format!("ran {}", painter.ran(task)), Role::Faint));
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
    if let Some(usual) = usually(painter.app, task) {
        facts.push(usual);
    }
    if let Some(pid) = task.pid.filter(|_| task.status == TaskStatus::Running) {
        facts.push(piece(format!("pid {pid}"), Role::Faint));
    }
    facts
}

fn faint(part: Piece) -> Piece {
    Piece { role: Role::Faint, ..part }
}

pub(super) fn cells(painter: &mut Painter<'_>, pane: &Pane, picture: &Picture, top: u16) {
    let area = pane.cells.intersection(painter.buf.area);
    let pan = pan(painter.app, pane);
    for y in 0..area.height {
        let mut x = 0;
        while x < area.width {
            let Some(cell) = picture.cell(top + y, pan + x) else { break };
            let wide = u16::try_from(text::width(cell.symbol())).unwrap_or(1).clamp(1, 2);
            if let Some(slot) = painter.buf.cell_mut((area.x + x, area.y + y)) {
                *slot = cell.clone();
                if x + wide > area.width {
                    text::cell::fill(slot, " ", 1);
                }
            }
            x += wide;
        }
        marks(painter, area, picture, (top + y, y), pan);
    }
}

/// Marks a row that continues to the left or right of what is shown.
fn marks(painter: &mut Painter<'_>, area: Rect, picture: &Picture, (row, y): (u16, u16), pan: u16) {
    let (style, [left, right]) = (painter.style(Role::Accent), painter.glyphs().more);
    if area.width < 2 {
        return;
    }
    if pan > 0 && (0..pan).any(|column| picture.cell(row, column).is_some_and(|cell| cell.symbol() != " ")) {
        painter.text(area, (0, y), left, style);
    }
    if picture.goes_on(row, pan + area.width) {
        painter.text(area, (area.width - 1, y), right, style);
    }
}

fn pan(app: &App, pane: &Pane) -> u16 {
    app.panned(pane)
}

fn is_at_hand(app: &App, pane: &Pane) -> bool {
    app.at_hand().is_some_and(|task| task.id == pane.task)
}

impl Painter<'_> {
    /// Returns the screen row of the current task's cursor, if the pane follows the task.
    pub(super) fn cursor_row(&self, layout: &Layout) -> Option<u16> {
        // Nobody works in the pane while a dialog covers it.
        let task =
            self.app.at_hand().filter(|task| !task.status.is_terminal() && self.app.layers.is_empty())?;
        let pane = layout.pane(&task.id).filter(|_| self.app.scroll.is_none())?;
        let picture = self.app.view.pictures.get(&task.id)?;
        let row = picture.cursor?.row.checked_sub(picture.top(pane.cells.height))?;
        (row < pane.cells.height).then(|| pane.cells.y + row)
    }
}

/// Shows search matches in reverse video, those on the current line in bold too.
fn draw_matches(painter: &mut Painter<'_>, pane: &Pane, scroll: &Scroll) {
    let pan = pan(painter.app, pane);
    let at = painter.app.search.as_ref().and_then(Search::line);
    for found in &scroll.matches {
        let columns = found.columns.start.saturating_sub(pan)..found.columns.end.saturating_sub(pan);
        painter.restyle_row(pane.cells, found.row, columns, |cell| {
            cell.modifier.toggle(Modifier::REVERSED);
            cell.modifier.set(Modifier::BOLD, at == Some(found.line));
        });
    }
}

/// Shows the selection in reverse video and puts the terminal's cursor where the copy cursor is.
fn selection(painter: &mut Painter<'_>, pane: &Pane, copying: &Copying) {
    let (area, pan) = (pane.cells, pan(painter.app, pane));
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
fn cursor(painter: &mut Painter<'_>, pane: &Pane, picture: &Picture, top: u16, task: &TaskView) {
    let Some(cursor) = picture.cursor.filter(|cursor| cursor.visible) else { return };
    let pan = pan(painter.app, pane);
    let Some((x, y)) = cursor.col.checked_sub(pan).zip(cursor.row.checked_sub(top)) else { return };
    if x >= pane.cells.width || y >= pane.cells.height {
        return;
    }
    let at = Position::new(pane.cells.x + x, pane.cells.y + y);
    if matches!(&painter.app.mode, Mode::Input(typed) if *typed == task.id) {
        painter.drawn.cursor = Some((at, cursor.shape));
    } else if task.tty
        && let Some(cell) = painter.buf.cell_mut(at)
    {
        cell.modifier.toggle(Modifier::REVERSED);
    }
}
