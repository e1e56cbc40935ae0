//! The frame as something that can be kept: the cells of a drawn console as a drawing of the terminal's.

use std::borrow::Cow;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color as Ink, Modifier};

use crate::terminal::{Cell, CellStyle, Color, Drawing};

use super::super::app::App;
use super::super::text::width;

/// Draws the console as it stands, its cursor as a reversed cell.
#[must_use]
pub fn photo(app: &App) -> Drawing {
    let mut buffer = Buffer::empty(Rect::new(0, 0, app.size.0, app.size.1));
    let drawn = super::draw(app, &mut buffer);
    if let Some((at, _)) = drawn.cursor
        && let Some(cell) = buffer.cell_mut(at)
    {
        cell.modifier.toggle(Modifier::REVERSED);
    }
    drawing(&buffer)
}

/// Turns a frame into a drawing.
fn drawing(buffer: &Buffer) -> Drawing {
    let area = buffer.area;
    let rows = (area.top()..area.bottom()).map(|y| row(buffer, y)).collect();
    Drawing { columns: area.width, rows }
}

fn row(buffer: &Buffer, y: u16) -> Vec<Cell<'static>> {
    let area = buffer.area;
    let mut cells = Vec::with_capacity(usize::from(area.width));
    // The second half of a wide character has a cell of its own in the frame, which is not shown.
    let mut is_covered = false;
    for x in area.left()..area.right() {
        if std::mem::take(&mut is_covered) {
            cells.push(Cell::continuation());
            continue;
        }
        let Some(cell) = buffer.cell((x, y)) else { continue };
        is_covered = width(cell.symbol()) > 1 && x + 1 < area.right();
        let width = if is_covered { 2 } else { 1 };
        cells.push(Cell { text: Cow::Owned(cell.symbol().to_owned()), width, style: style(cell) });
    }
    cells
}

fn style(cell: &ratatui::buffer::Cell) -> CellStyle {
    let has = |flag| cell.modifier.contains(flag);
    CellStyle {
        fg: colour(cell.fg),
        bg: colour(cell.bg),
        bold: has(Modifier::BOLD),
        dim: has(Modifier::DIM) && !has(Modifier::BOLD),
        italic: has(Modifier::ITALIC),
        underline: has(Modifier::UNDERLINED),
        inverse: has(Modifier::REVERSED),
    }
}

fn colour(ink: Ink) -> Color {
    Color::Indexed(match ink {
        Ink::Reset => return Color::Default,
        Ink::Rgb(red, green, blue) => return Color::Rgb(red, green, blue),
        Ink::Indexed(index) => index,
        Ink::Black => 0,
        Ink::Red => 1,
        Ink::Green => 2,
        Ink::Yellow => 3,
        Ink::Blue => 4,
        Ink::Magenta => 5,
        Ink::Cyan => 6,
        Ink::Gray => 7,
        Ink::DarkGray => 8,
        Ink::LightRed => 9,
        Ink::LightGreen => 10,
        Ink::LightYellow => 11,
        Ink::LightBlue => 12,
        Ink::LightMagenta => 13,
        Ink::LightCyan => 14,
        Ink::White => 15,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::style::Style;

    #[test]
    fn a_frame_keeps_its_text_its_colours_and_its_columns() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 8, 2));
        buffer.set_string(
            0,
            0,
            "a大b",
            Style::new().fg(Ink::Cyan).add_modifier(Modifier::BOLD | Modifier::DIM),
        );
        buffer.set_string(0, 1, "ok", Style::new().bg(Ink::Rgb(1, 2, 3)).add_modifier(Modifier::REVERSED));
        let drawn = drawing(&buffer);
        assert_eq!(drawn.text(), "a大b\nok\n");
        assert_eq!(drawn.rows.iter().map(Vec::len).collect::<Vec<_>>(), [8, 8]);
        assert_eq!(drawn.ansi(), "\x1b[0;1;36ma大b\x1b[0m\n\x1b[0;7;48;2;1;2;3mok\x1b[0m\n");
    }
}
