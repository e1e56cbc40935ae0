//! Drawing the sheet: how long it was, how much happened, and a line for each thing.

use crate::console::features::away::sheet::{AwayLine, AwayReason, AwaySheet, MOST_LINES};
use crate::console::state::over_screen;
use crate::console::text::{self, StyledPiece, column, piece};
use crate::console::theme::Role;
use crate::console::widgets::{Painter, join_groups};
use crate::model::millis_between;

const MOST_COLUMNS: u16 = 110;

/// The widest column that says what happened.
const MOST_WHAT: usize = 22;

pub(in crate::console) fn draw(painter: &mut Painter<'_>, sheet: &AwaySheet) {
    let room = usize::from(painter.size().1.saturating_sub(9));
    let shown = sheet.lines.len().min(MOST_LINES).min(room.max(1));
    let rest = sheet.lines.len() - shown;
    let area = over_screen(painter.size(), MOST_COLUMNS, shown + usize::from(rest > 0) + 4, 1);
    let passed = text::millis(millis_between(sheet.since, sheet.until));
    let inside = painter.draw_box(area, &format!("while you were away: {passed}"));
    let counts = sheet.counts().map(|(count, reason)| {
        let (glyph, role) = mark(painter, reason);
        vec![piece(format!("{glyph} {count} {}", reason.word()), role)]
    });
    let counts = join_groups(counts.collect(), &piece("   ", Role::Text));
    let mut rows = vec![counts, Vec::new()];
    let what =
        sheet.lines.iter().map(|line| text::width(&line.what)).max().unwrap_or_default().min(MOST_WHAT);
    rows.extend((1..).zip(&sheet.lines).take(shown).map(|(key, line)| row(painter, key, line, what)));
    rows.extend((rest > 0).then(|| vec![piece(format!("   and {rest} more"), Role::Faint)]));
    rows.push(Vec::new());
    let keys = if shown == 1 { "1".to_owned() } else { format!("1-{shown}") };
    rows.push(vec![
        piece(keys, Role::Key),
        piece(" goes there   ", Role::Text),
        piece("any other key", Role::Key),
        piece(" closes", Role::Text),
    ]);
    painter.list(inside, rows, |_, row| (row, false));
}

fn row(painter: &Painter<'_>, key: usize, line: &AwayLine, what: usize) -> Vec<StyledPiece> {
    let dots = painter.glyphs().cut;
    let (glyph, role) = mark(painter, line.reason);
    vec![
        piece(format!("{key}  "), Role::Key),
        piece(format!("{glyph} "), role),
        piece(column(&line.name, painter.state.alias_columns(5), dots), Role::Title),
        piece(format!("{}  ", column(&line.what, what, dots)), role),
        piece(format!("{}  ", painter.time(line.at)), Role::Faint),
        piece(line.said.clone(), Role::Text),
    ]
}

fn mark(painter: &Painter<'_>, reason: AwayReason) -> (&'static str, Role) {
    let states = painter.glyphs().states;
    match reason {
        AwayReason::Asked => (states[2], Role::Waiting),
        AwayReason::Failed => (states[5], Role::Failed),
        AwayReason::Denied => (states[3], Role::Cancelling),
        AwayReason::Ended => (states[4], Role::Completed),
    }
}
