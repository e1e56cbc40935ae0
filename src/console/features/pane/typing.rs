//! What shows that keys go to a task: the border of its pane, and all the rest one step dimmer. Never the cells of the
//! pane, and never what waits for the person.

use ratatui::buffer::Cell;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};

use crate::console::state::{Layout, Mode, Pane, State};
use crate::console::theme::Role;
use crate::console::widgets::Painter;
use crate::console::widgets::painter::HeadRule;

/// Tells whether keys go to the task of a pane.
pub(in crate::console) fn is_typed_into(state: &State, pane: &Pane) -> bool {
    matches!(&state.focus.mode, Mode::Input(task) if *task == pane.task)
}

/// Returns how the title row of a pane is ruled.
pub(in crate::console) fn ruling(state: &State, pane: &Pane) -> HeadRule {
    if is_typed_into(state, pane) { HeadRule::Input } else { HeadRule::Usual }
}

/// Sets the pane that is typed into apart from everything else that has been drawn.
pub(in crate::console) fn draw(painter: &mut Painter<'_>, layout: &Layout) {
    let Some(pane) = layout.panes.iter().find(|pane| is_typed_into(painter.state, pane)) else { return };
    let whole = pane.title.union(pane.cells);
    let [faint, waiting] = [Role::Faint, Role::Waiting].map(|role| painter.style(role));
    for part in around(Rect { height: layout.notice.y, ..painter.buf.area }, whole) {
        painter.restyle(part, |cell| recede(cell, faint, waiting));
    }
    let (style, glyph) = (painter.style(Role::Input), painter.glyphs().heavy[1]);
    for rule in layout.rules.iter().filter(|rule| rule.right() == whole.x || rule.x == whole.right()) {
        let beside = rule.intersection(Rect { x: rule.x, width: rule.width, ..whole });
        for y in 0..beside.height {
            painter.text(beside, (0, y), glyph, style);
        }
    }
}

/// Returns what is left of an area without a part of it: above, below, left and right.
fn around(area: Rect, part: Rect) -> [Rect; 4] {
    let part = part.intersection(area);
    let beside = |x: u16, to: u16| Rect { x, width: to.saturating_sub(x), ..part };
    [
        Rect { height: part.y.saturating_sub(area.y), ..area },
        Rect { y: part.bottom(), height: area.bottom().saturating_sub(part.bottom()), ..area },
        beside(area.x, part.x),
        beside(part.right(), area.right()),
    ]
}

/// Dims a cell by one step: what has no colour becomes faint, what has one is no longer bold.
fn recede(cell: &mut Cell, faint: Style, waiting: Style) {
    let needs_you = Some(cell.fg) == waiting.fg.or(Some(Color::Reset))
        && !waiting.add_modifier.is_empty()
        && cell.modifier.contains(waiting.add_modifier);
    if needs_you {
        return;
    }
    cell.modifier.remove(Modifier::BOLD);
    if cell.fg == Color::Reset {
        cell.set_style(faint);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::theme::ThemeSet;

    #[test]
    fn typing_dims_all_roles_except_the_waiting_one() {
        for name in ["default", "dark", "light", "mono"] {
            let theme = ThemeSet::default().theme(name);
            let [faint, waiting] = [Role::Faint, Role::Waiting].map(|role| theme.style(role));
            let receded = |role: Role| {
                let mut cell = Cell::default();
                cell.set_style(theme.style(role));
                let before = cell.clone();
                recede(&mut cell, faint, waiting);
                (before, cell)
            };
            let (before, after) = receded(Role::Waiting);
            assert_eq!(before, after, "{name}");
            let (_, text) = receded(Role::Text);
            let mut expected = Cell::default();
            expected.set_style(faint);
            assert_eq!(text, expected, "{name}: text is faint");
            let (before, title) = receded(Role::Title);
            assert_ne!(before, title, "{name}");
            let (before, failed) = receded(Role::Failed);
            assert!(before.fg == Color::Reset || before.fg == failed.fg, "{name}: a colour stays");
        }
    }

    #[test]
    fn the_rectangles_around_a_part_cover_the_rest_of_the_area() {
        let area = Rect::new(0, 0, 10, 6);
        let part = Rect::new(3, 1, 4, 3);
        let cells: u32 = around(area, part).iter().map(|rest| rest.area()).sum();
        assert_eq!(cells + part.area(), area.area());
        assert!(around(area, part).iter().all(|rest| rest.intersection(part).is_empty()));
        assert!(around(area, area).iter().all(|rest| rest.is_empty()));
    }
}
