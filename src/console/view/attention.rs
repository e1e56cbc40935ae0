//! The queue of what waits for the person, over the screen.

use ratatui::layout::Rect;

use super::super::app::attention::{Queue, items};
use super::super::keys::action::Action;
use super::super::keys::keymap::Context;
use super::super::looks::theme::Role;
use super::super::text::column;
use super::super::text::document::piece;
use super::brush::{Brush, cut};

const MOST_COLUMNS: u16 = 110;

pub(super) fn draw(brush: &mut Brush<'_>, queue: &Queue) {
    let app = brush.app;
    let items = items(app);
    let screen = brush.buf.area;
    let width = MOST_COLUMNS.min(screen.width.saturating_sub(2)).max(screen.width.min(4));
    let wanted = u16::try_from(items.len().max(1)).unwrap_or(u16::MAX).saturating_add(4);
    let height = wanted.min(screen.height.saturating_sub(2)).max(screen.height.min(3));
    let area = Rect { x: (screen.width - width) / 2, y: (screen.height - height) / 2, width, height };
    brush.clear(Rect { x: area.x.saturating_sub(1), width: area.width + 2, ..area });
    let title = match items.len() {
        0 => "nothing waits for you".to_owned(),
        1 => "1 thing waits for you".to_owned(),
        many => format!("{many} things wait for you"),
    };
    let inside = brush.boxed(area, &title);
    let dots = brush.glyphs().cut;
    let shown = usize::from(inside.height.saturating_sub(2));
    let at = queue.at.min(items.len().saturating_sub(1));
    let top = (at + 1).saturating_sub(shown);
    for (y, (number, item)) in (0..inside.height.saturating_sub(2)).zip(items.iter().enumerate().skip(top)) {
        let is_here = number == at;
        let mark = if is_here { brush.glyphs().selected } else { " " };
        let age = brush.age(item.since);
        let row = [
            piece(format!("{mark} "), Role::Accent),
            piece(column(&item.name, 5, dots), Role::Title),
            piece(column(&age, 7, dots), Role::Faint),
            piece(column(&item.what, 21, dots), Role::Waiting),
            piece(column(item.key, 8, dots), Role::Key),
            piece(item.said.clone(), Role::Text),
        ];
        brush.row(inside, y, &cut(&row, usize::from(inside.width), dots));
        if is_here {
            brush.select(Rect { y: inside.y + y, height: 1, ..inside });
        }
    }
    let mut keys = Vec::new();
    let key = |action| app.setup.keymap.key(Context::Attention, action);
    if let (Some(item), Some(name)) = (items.get(at), key(Action::Choose)) {
        keys.extend([piece(name, Role::Key), piece(format!(" {}   ", item.key), Role::Text)]);
    }
    if let Some(name) = key(Action::Back) {
        keys.extend([piece(name, Role::Key), piece(" close", Role::Text)]);
    }
    brush.row(inside, inside.height.saturating_sub(1), &keys);
}
