//! The dialog of a question: its whole text, what to go by, the keys. Never cut: what does not fit scrolls.

use ratatui::layout::{Position, Rect};

use crate::runtime::QuestionKind;
use crate::terminal::CursorShape;

use super::Inquiry;
use crate::console::app::App;
use crate::console::app::layout::{cut_bottom, cut_top};
use crate::console::app::painter::{Painter, columns, cut, joined};
use crate::console::keys::action::Action;
use crate::console::looks::theme::Role;
use crate::console::text;
use crate::console::text::document::{Piece, piece};
use crate::console::text::visible;

const MOST_COLUMNS: u16 = 100;
/// Labels shown at once.
const MOST_LABELS: usize = 8;

/// Where the parts of a dialog stand: the box, what is read, what is chosen or written, the keys.
struct Room {
    whole: Rect,
    text: Rect,
    foot: Rect,
}

fn room(size: (u16, u16), rows: usize, foot: u16) -> Room {
    let (columns, lines) = size;
    let width = MOST_COLUMNS.min(columns.saturating_sub(2)).max(columns.min(4));
    let wanted = u16::try_from(rows).unwrap_or(u16::MAX).saturating_add(foot + 2);
    let height = wanted.min(lines.saturating_sub(2)).max(lines.min(3));
    let whole = Rect { x: (columns - width) / 2, y: (lines - height) / 2, width, height };
    let inside = Rect {
        x: whole.x + 2.min(width),
        y: whole.y + 1,
        width: width.saturating_sub(4),
        height: height.saturating_sub(2),
    };
    let (text, foot) = cut_bottom(inside, foot);
    Room { whole, text, foot }
}

fn width(size: (u16, u16)) -> usize {
    usize::from(room(size, 0, 0).text.width)
}

fn foot_rows(inquiry: &Inquiry) -> u16 {
    let labels = match &inquiry.question.kind {
        QuestionKind::Choice { labels } => labels.len().min(MOST_LABELS),
        QuestionKind::Text { .. } => 1,
        _ => 0,
    };
    let note = usize::from(inquiry.is_noting || !inquiry.note.value().is_empty());
    u16::try_from(labels + note + 2).unwrap_or(2)
}

/// Returns how many rows a question has, and how many of them are shown at once.
pub(crate) fn rows(app: &App, inquiry: &Inquiry) -> (usize, usize) {
    let all = inquiry.rows(width(app.size)).len();
    (all, usize::from(room(app.size, all, foot_rows(inquiry)).text.height))
}

pub(crate) fn draw(painter: &mut Painter<'_>, inquiry: &Inquiry) {
    let size = (painter.buf.area.width, painter.buf.area.height);
    let rows = inquiry.rows(width(size));
    let room = room(size, rows.len(), foot_rows(inquiry));
    painter.clear(Rect { x: room.whole.x.saturating_sub(1), width: room.whole.width + 2, ..room.whole });
    painter.boxed(room.whole, &inquiry.title());
    left(painter, inquiry, room.whole);
    let shown = usize::from(room.text.height);
    let top = inquiry.top.min(rows.len().saturating_sub(shown));
    for (y, row) in (0..room.text.height).zip(rows.iter().skip(top)) {
        painter.row(room.text, y, row);
    }
    more(painter, room.text, top, rows.len().saturating_sub(top + shown));
    foot(painter, inquiry, room.foot);
}

/// The time left, in the title.
fn left(painter: &mut Painter<'_>, inquiry: &Inquiry, area: Rect) {
    let said = match inquiry.question.deadline {
        _ if inquiry.is_over => return,
        Some(deadline) => format!(" {} ", painter.left(deadline)),
        None => format!(" asked {} ", painter.ago(inquiry.question.asked_at)),
    };
    let role = if inquiry.question.deadline.is_some() { Role::Waiting } else { Role::Faint };
    let head = Rect { width: area.width.saturating_sub(2), ..area };
    painter.row_right(head, 0, &[piece(said, role)]);
}

/// Says on the last row of the text what is above and below it.
fn more(painter: &mut Painter<'_>, area: Rect, above: usize, below: usize) {
    if above == 0 && below == 0 || area.height == 0 {
        return;
    }
    let scroll = if below > 0 { format!(" +{below} rows below ") } else { format!(" {above} rows above ") };
    painter.row_right(area, area.height - 1, &[piece(scroll, Role::Mode)]);
}

fn foot(painter: &mut Painter<'_>, inquiry: &Inquiry, area: Rect) {
    let mut at = 1;
    match &inquiry.question.kind {
        QuestionKind::Choice { labels } => {
            let chosen = inquiry.chosen.unwrap_or(0);
            let top = (chosen + 1).saturating_sub(MOST_LABELS);
            for (number, label) in labels.iter().enumerate().skip(top).take(MOST_LABELS) {
                let is_chosen = inquiry.chosen == Some(number);
                let mark = if is_chosen { painter.glyphs().selected } else { " " };
                let role = if is_chosen { Role::Strong } else { Role::Text };
                let row = [piece(format!("{mark} "), Role::Accent), piece(visible::one_line(label), role)];
                let row = cut(&row, usize::from(area.width), painter.glyphs().cut);
                painter.row(area, at, &row);
                at += 1;
            }
        }
        QuestionKind::Text { masked } => {
            let label = if *masked { "not recorded " } else { "" };
            let is_here = !inquiry.is_noting && !inquiry.is_over;
            write(painter, area, at, label, (&inquiry.answer, *masked, is_here));
            at += 1;
        }
        _ => {}
    }
    if inquiry.is_noting || !inquiry.note.value().is_empty() {
        write(painter, area, at, "note ", (&inquiry.note, false, inquiry.is_noting));
        at += 1;
    }
    let keys = keys(painter, inquiry);
    let keys = cut(&keys, usize::from(area.width), painter.glyphs().cut);
    painter.row(area, at, &keys);
}

fn keys(painter: &mut Painter<'_>, inquiry: &Inquiry) -> Vec<Piece> {
    use Action::{
        Abort, ApproveGate, Back, Choose, LetAgents, No, Note, RejectGate, RunAgain, Send, Skip, Yes,
    };
    let app = painter.app;
    if inquiry.is_sent && !inquiry.is_over {
        return vec![piece("on its way", Role::Faint)];
    }
    let context = inquiry.context();
    let mut said = Vec::new();
    let actions: &[(Action, &str)] = match (&inquiry.question.kind, inquiry.is_noting) {
        _ if inquiry.is_over => {
            said.push(vec![piece("This question is no longer open.", Role::Strong)]);
            &[(Back, "close")]
        }
        (_, true) => &[(Send, "done"), (Back, "back")],
        (QuestionKind::Gate { .. } | QuestionKind::Command, _) => {
            &[(ApproveGate, "approve"), (RejectGate, "reject"), (Note, "note"), (Back, "decide later")]
        }
        (QuestionKind::YesNo { .. }, _) => &[
            (Yes, "yes"),
            (No, "no"),
            (Note, "note"),
            (LetAgents, "agents"),
            (Abort, "end program"),
            (Back, "later"),
        ],
        (QuestionKind::Choice { .. }, _) => &[
            (Action::Down, "point"),
            (Choose, "choose"),
            (Note, "note"),
            (LetAgents, "agents"),
            (Abort, "end program"),
            (Back, "later"),
        ],
        (QuestionKind::Text { .. }, _) => &[(Send, "send"), (Abort, "end the program"), (Back, "later")],
        (QuestionKind::InFlight, _) => &[
            (RunAgain, "run it again"),
            (Skip, "go on after it"),
            (Abort, "end the program"),
            (Back, "later"),
        ],
    };
    for (action, word) in actions {
        if *action == LetAgents && inquiry.question.kind.is_operators() {
            continue;
        }
        let word = match *action {
            LetAgents if inquiry.question.agents => "no agents",
            LetAgents => "let agents",
            _ => word,
        };
        if let Some(key) = app.setup.keymap.key(context, *action) {
            said.push(vec![piece(key, Role::Key), piece(format!(" {word}"), Role::Text)]);
        }
    }
    joined(said, &piece("   ", Role::Text))
}

/// A line being written, its cursor in sight.
fn write(
    painter: &mut Painter<'_>,
    area: Rect,
    y: u16,
    label: &str,
    (editor, masked, is_here): (&tui_input::Input, bool, bool),
) {
    let mark = painter.glyphs().selected;
    let head = [piece(label, Role::Faint), piece(format!("{mark} "), Role::Accent)];
    let from = painter.row(area, y, &head);
    let shown = |text: String| match masked {
        true => "*".repeat(text.chars().count()),
        false => visible::one_line(&text).replace("⏎ ", "⏎"),
    };
    let before = shown(editor.value().chars().take(editor.cursor()).collect());
    let after = shown(editor.value().chars().skip(editor.cursor()).collect());
    let room = usize::from(area.width.saturating_sub(from + 1));
    let mut start = 0;
    while text::width(&before[start..]) > room {
        start += before[start..].chars().next().map_or(1, char::len_utf8);
    }
    let style = painter.style(Role::Text);
    let x = painter.text(area, (from, y), &before[start..], style);
    painter.text(area, (x, y), &after, style);
    if is_here && x < area.width && y < area.height {
        painter.drawn.cursor = Some((Position::new(area.x + x, area.y + y), CursorShape::Default));
    }
}

/// The row of the program screen that says what it waits for.
pub(crate) fn strip(painter: &mut Painter<'_>, area: Rect) {
    let Some(question) = painter.app.program_question().cloned() else { return };
    let glyph = painter.glyphs().states[2];
    let left = question.deadline.map(|deadline| format!("  {}", painter.left(deadline)));
    let key = painter.app.setup.keymap.key(painter.app.view_context(), Action::AnswerQuestion);
    let mut tail = vec![piece(left.unwrap_or_default(), Role::Waiting)];
    tail.extend(
        key.into_iter().flat_map(|key| [piece(format!("  {key}"), Role::Key), piece(" answer ", Role::Text)]),
    );
    let title = super::title(&question);
    let said = visible::told(question.text.trim());
    let head = vec![piece(format!(" {glyph} {title}  "), Role::Waiting), piece(said, Role::Strong)];
    let room = usize::from(area.width.saturating_sub(columns(&tail) + 1));
    let head = cut(&head, room, painter.glyphs().cut);
    let (row, _) = cut_top(area, 1);
    painter.row(row, 0, &head);
    painter.row_right(row, 0, &tail);
}
