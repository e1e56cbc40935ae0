//! What a command would cost, in sentences, as cards show it. Pure.

use crate::consequence::Consequence;
use crate::console::text::{StyledPiece, piece, visible};
use crate::console::theme::Role;
use crate::console::widgets::CardLine;
use crate::model::CallCost;

/// Returns a line for each sentence about one command.
pub(in crate::console) fn lines(sentences: &[String]) -> Vec<Vec<StyledPiece>> {
    sentences.iter().map(|sentence| vec![sentence_piece(sentence)]).collect()
}

/// Returns the same as facts of a card.
pub(in crate::console) fn facts(sentences: &[String]) -> impl Iterator<Item = CardLine> {
    lines(sentences).into_iter().map(CardLine::fact)
}

/// Returns the sentences about one of several commands as one fact.
pub(in crate::console) fn line(sentences: &[String]) -> CardLine {
    let mut pieces = Vec::new();
    for (at, sentence) in sentences.iter().enumerate() {
        if at > 0 {
            pieces.push(piece("; ", Role::Faint));
        }
        pieces.push(sentence_piece(sentence));
    }
    CardLine::fact(pieces)
}

/// Returns what has changed since it was first shown, if anything has.
pub(in crate::console) fn change_lines(cost: &CallCost) -> Vec<CardLine> {
    if cost.revision < 2 {
        return Vec::new();
    }
    let gone = cost.gone.iter().map(|sentence| {
        vec![piece("no longer: ", Role::Faint), piece(visible::one_line(sentence), Role::Faint)]
    });
    let head = vec![piece("what it would cost has changed", Role::Waiting)];
    std::iter::once(head).chain(gone).chain([Vec::new()]).map(CardLine::fact).collect()
}

fn sentence_piece(sentence: &str) -> StyledPiece {
    let role = if Consequence::is_cost(sentence) { Role::Waiting } else { Role::Faint };
    piece(visible::one_line(sentence), role)
}
