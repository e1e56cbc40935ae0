//! The one list widget: what is written, the items that fit it, and why one cannot be chosen.

use ratatui::layout::Rect;
use ratatui::style::Modifier;

use super::super::app::chooser::{Chooser, Item, Kind};
use super::super::looks::theme::Role;
use super::super::plan::cut_top;
use super::super::text::document::{Piece, piece};
use super::super::text::visible;
use super::super::text::{self, column};
use super::brush::{Brush, columns, cut};
use super::status::write_line;

/// The most columns of the name of an action.
const MOST_NAME: usize = 18;
/// From so many columns on, the same act as a tool or command is shown.
const WITH_SAME: u16 = 90;
/// The widest list.
const MOST_COLUMNS: u16 = 112;

/// Returns the rows of items that a list shows on a screen of so many rows.
pub(in super::super) fn page(rows: u16) -> usize {
    usize::from(rows.saturating_sub(6)).max(1)
}

pub(super) fn draw(brush: &mut Brush<'_>, chooser: &Chooser) {
    let screen = brush.buf.area;
    let width = screen.width.saturating_sub(4).min(MOST_COLUMNS);
    let rows = chooser.shown().len().clamp(1, page(screen.height));
    let height = u16::try_from(rows + 4).unwrap_or(u16::MAX).min(screen.height.saturating_sub(2));
    // Themes are tried on: what they change stays in sight above and beside them.
    let (width, x) = match chooser.kind {
        Kind::Themes(_) => (width.min(64), screen.width.saturating_sub(width.min(64) + 2)),
        _ => (width, (screen.width - width) / 2),
    };
    let area = Rect { x, y: screen.height.saturating_sub(height + 2), width, height };
    let area = if matches!(chooser.kind, Kind::Palette) { Rect { y: 1, ..area } } else { area };
    brush.clear(Rect { x: area.x.saturating_sub(1), width: area.width + 2, ..area });
    let inside = brush.boxed(area, &title(chooser));
    let (line, list) = cut_top(inside, 1);
    let mark = [piece(format!("{} ", brush.glyphs().selected), Role::Accent)];
    write_line(brush, line, &mark, &chooser.editor, false);
    let list = cut_top(list, 1).1;
    let shown = usize::from(list.height);
    let keys = chooser.shown().map(|(item, _)| text::width(&item.key)).max().unwrap_or(0);
    // In the list of everything tasks and calls stand too: their long names do not push what actions do away.
    let most = if matches!(chooser.kind, Kind::Palette) { MOST_NAME } else { usize::from(list.width) / 2 };
    let names = chooser.name_columns().min(most);
    let top = chooser.at.saturating_sub(shown.saturating_sub(1));
    for (y, (at, (item, hit))) in (0..list.height).zip(chooser.shown().enumerate().skip(top)) {
        let row = Rect { y: list.y + y, height: 1, ..list };
        let from = draw_item(brush, row, item, (at == chooser.at, keys, names));
        for letter in &hit.letters {
            let x = row.x + from + u16::try_from(*letter).unwrap_or(u16::MAX);
            if let Some(cell) = brush.buf.cell_mut((x, row.y)).filter(|_| usize::from(x - row.x) < names + 2)
            {
                cell.modifier.insert(Modifier::UNDERLINED);
            }
        }
    }
    if chooser.shown().len() == 0 {
        brush.row(list, 0, &[piece("  nothing fits", Role::Faint)]);
    }
}

fn title(chooser: &Chooser) -> String {
    let (shown, all) = (chooser.shown().len(), chooser.len());
    let name = match chooser.kind {
        Kind::Palette => "all",
        Kind::Themes(_) => "theme",
        Kind::Messages => "messages",
        Kind::Exports => "export",
    };
    if shown == all { format!("{name}  {all}") } else { format!("{name}  {shown} of {all}") }
}

/// Draws a row; returns the column its name begins in.
fn draw_item(
    brush: &mut Brush<'_>,
    row: Rect,
    item: &Item,
    (is_selected, keys, names): (bool, usize, usize),
) -> u16 {
    let dots = brush.glyphs().cut;
    let mark = if is_selected { brush.glyphs().selected } else { " " };
    let role = |role| if item.obstacle.is_some() { Role::Faint } else { role };
    let is_wide = row.width >= WITH_SAME;
    let mut tail: Vec<Piece> = Vec::new();
    if is_wide && !item.same.is_empty() {
        tail.push(piece(format!("  {}", item.same), Role::Faint));
    }
    if keys > 0 {
        tail.push(piece(format!("  {}", text::right(&item.key, keys)), role(Role::Key)));
    }
    // A long name takes the room of a description that is not there.
    let name_columns = match (item.about.is_empty(), item.key.is_empty()) {
        (false, _) => names,
        (true, false) => names.max(usize::from(row.width) / 2),
        (true, true) => usize::from(row.width),
    };
    let label = visible::one_line(&item.label);
    let mut left = vec![piece(format!("{mark} "), Role::Accent)];
    left.push(piece(column(&label, name_columns, dots), role(Role::Text)));
    left.push(piece("  ", Role::Text));
    match &item.obstacle {
        Some(why) => left.push(piece(format!("not now: {why}"), Role::Faint)),
        None => left.push(piece(visible::one_line(&item.about), Role::Faint)),
    }
    let room = row.width.saturating_sub(columns(&tail));
    let shown = cut(&left, usize::from(room), dots);
    brush.row(row, 0, &shown);
    brush.row_right(row, 0, &tail);
    if is_selected {
        brush.select(row);
    }
    u16::try_from(text::width(mark) + 1).unwrap_or(2)
}
