//! Rows of pieces: their width, cutting and joining them.

use crate::console::text::{self, StyledPiece, piece};

/// Returns the width of a row of pieces in columns.
pub(crate) fn columns(pieces: &[StyledPiece]) -> u16 {
    let sum = pieces.iter().map(|part| text::width(&part.text)).sum::<usize>();
    u16::try_from(sum).unwrap_or(u16::MAX)
}

/// Cuts a row of pieces to this many columns, ending in `mark` if anything was cut.
pub(crate) fn cut(pieces: &[StyledPiece], room: usize, mark: &str) -> Vec<StyledPiece> {
    if usize::from(columns(pieces)) <= room {
        return pieces.to_vec();
    }
    let mut left = room;
    let mut out = Vec::new();
    for part in pieces {
        let wide = text::width(&part.text);
        if wide < left {
            left -= wide;
            out.push(part.clone());
            continue;
        }
        // More follows, or this piece is itself too long: leave room for the mark.
        let kept = text::prefix(&part.text, left.saturating_sub(text::width(mark)));
        if left > 0 {
            out.push(piece(format!("{}{mark}", kept.trim_end()), part.role));
        }
        break;
    }
    out
}

/// Joins groups of pieces with a separator.
pub(crate) fn join_groups(groups: Vec<Vec<StyledPiece>>, separator: &StyledPiece) -> Vec<StyledPiece> {
    let mut out = Vec::new();
    for group in groups.into_iter().filter(|group| !group.is_empty()) {
        if !out.is_empty() {
            out.push(separator.clone());
        }
        out.extend(group);
    }
    out
}
