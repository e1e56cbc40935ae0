//! Drawing of places: the state of each, what each has done, and rows whose state is not up to date.

use ratatui::layout::Rect;

use crate::console::text::{StyledPiece, piece, visible};
use crate::console::theme::Role;
use crate::console::widgets::Painter;
use crate::model::{PlaceId, PlaceLink, TaskView};

/// Describes the state of a place, unless it is the usual one.
pub(in crate::console) fn link_state(painter: &mut Painter<'_>, id: &PlaceId) -> Vec<StyledPiece> {
    let Some(place) = painter.state.place(id).cloned() else { return Vec::new() };
    let (told, role) = match &place.link {
        PlaceLink::Live => return Vec::new(),
        PlaceLink::Connecting => ("connecting".to_owned(), Role::Faint),
        PlaceLink::Lost { since, why } => {
            (format!("lost {}: {}", painter.ago(*since), visible::one_line(why)), Role::Interrupted)
        }
        PlaceLink::Gone { since } => {
            (format!("its runtime ended {}", painter.ago(*since)), Role::Interrupted)
        }
    };
    vec![piece(format!("  {told}"), role)]
}

/// Describes the state of a task's place, if what is shown of the task may be out of date.
pub(in crate::console) fn stale(painter: &mut Painter<'_>, task: &TaskView) -> Vec<StyledPiece> {
    match task.place.as_ref().filter(|_| painter.state.is_stale(task)) {
        Some(place) => link_state(painter, &place.id),
        None => Vec::new(),
    }
    .into_iter()
    .map(|told| StyledPiece { text: told.text.trim().to_owned(), ..told })
    .collect()
}

/// Greys out a row that may be out of date.
pub(in crate::console) fn grey(painter: &mut Painter<'_>, area: Rect) {
    let style = painter.style(Role::Faint);
    painter.restyle(area, |cell| {
        cell.set_style(ratatui::style::Style::reset()).set_style(style);
    });
}
