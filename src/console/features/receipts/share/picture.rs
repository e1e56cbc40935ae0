//! A shared call as a drawing, for a picture: receipt and envelope side by side, and below them what was given of the output.

use unicode_segmentation::UnicodeSegmentation;

use crate::console::features::receipts::share::contents::SharedCall;
use crate::console::text::{StyledPiece, WrappedText, column, cut, piece, width, wrap_lines};
use crate::console::theme::Role;
use crate::terminal::{Cell, CellDrawing, CellStyle, Color};

/// The width of one of the texts that stand side by side, and of the picture.
const TEXT: u16 = 78;

const WHOLE: u16 = 2 * TEXT + 3;

/// The most rows of texts side by side, and of output.
const MOST_ROWS: usize = 200;

pub(super) fn drawing(call: &SharedCall) -> CellDrawing {
    let commands: Vec<_> = call.commands.iter().map(|cmd| vec![piece(cmd.as_str(), Role::Strong)]).collect();
    let mut rows = wrap_lines(&commands, WHOLE.into());
    let facts = call.facts.iter().flat_map(|(name, value)| {
        [piece(format!("{name} "), Role::Faint), piece(format!("{value}   "), Role::Text)]
    });
    rows.extend(wrap_lines(&[facts.collect()], WHOLE.into()));
    rows.push(Vec::new());
    let heads = [("receipt", &call.receipt_size), ("envelope", &call.envelope_size)];
    let [receipt, envelope] = heads.map(|(name, size)| title(name, size, TEXT));
    rows.push(beside(&receipt, &envelope));
    let (receipt, envelope) = (rows_of(&call.receipt, TEXT), rows_of(&call.envelope, TEXT));
    for at in 0..receipt.len().max(envelope.len()) {
        let row = |rows: &[Vec<StyledPiece>]| rows.get(at).cloned().unwrap_or_default();
        rows.push(beside(&row(&receipt), &row(&envelope)));
    }
    rows.push(Vec::new());
    rows.push(title("what was given", &call.seen_size, WHOLE));
    rows.extend(rows_of(&call.seen, WHOLE));
    let version = format!("pilothouse {}; secrets are masked", env!("CARGO_PKG_VERSION"));
    rows.extend([Vec::new(), vec![piece(version, Role::Faint)]]);
    CellDrawing { columns: WHOLE, rows: rows.iter().map(|row| cells(row).into()).collect() }
}

fn title(name: &str, size: &str, columns: u16) -> Vec<StyledPiece> {
    let size = cut(size, usize::from(columns).saturating_sub(width(name) + 2), "…");
    vec![piece(format!("{name}  "), Role::Title), piece(size, Role::Faint)]
}

/// Returns the rows of a text at a width, the first of many.
fn rows_of(text: &WrappedText, columns: u16) -> Vec<Vec<StyledPiece>> {
    let mut text = text.clone();
    text.wrap(columns.into());
    let mut rows: Vec<_> = text.rows().iter().take(MOST_ROWS).cloned().collect();
    let more = text.rows().len() - rows.len();
    rows.extend((more > 0).then(|| vec![piece(format!("… {more} more rows"), Role::Faint)]));
    rows
}

fn beside(left: &[StyledPiece], right: &[StyledPiece]) -> Vec<StyledPiece> {
    let taken: usize = left.iter().map(|part| width(&part.text)).sum();
    let gap = piece(column("", usize::from(TEXT).saturating_sub(taken), ""), Role::Text);
    [left, &[gap, piece(" │ ", Role::Faint)], right].concat()
}

fn cells(row: &[StyledPiece]) -> Vec<Cell<'static>> {
    let mut cells = Vec::new();
    for part in row {
        for cluster in part.text.graphemes(true) {
            let is_wide = width(cluster) > 1;
            cells.push(Cell::from_raw(cluster, is_wide, style(part.role)).into_owned());
            cells.extend(is_wide.then(Cell::continuation));
        }
    }
    cells
}

fn style(role: Role) -> CellStyle {
    let fg = match role {
        Role::Faint => Color::Indexed(8),
        Role::Name | Role::Accent => Color::Indexed(6),
        Role::Literal => Color::Indexed(2),
        Role::Failed => Color::Indexed(1),
        _ => Color::Default,
    };
    CellStyle { fg, bold: matches!(role, Role::Strong | Role::Title), ..CellStyle::default() }
}
