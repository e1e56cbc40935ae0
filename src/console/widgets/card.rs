//! A card that asks for an answer: its lines, of which no row of somebody else's text looks like a fact of ours, and how far
//! it has been read.

use jiff::Timestamp;

use crate::console::keys::{Action, KeyContext, Motion};
use crate::console::text::{StyledPiece, piece, visible, width, wrap_lines};
use crate::console::theme::Role;
use crate::console::widgets::{Painter, has_been_read, scroll_by};

/// What stands before each further row of a fact: none begins where a fact does.
const FURTHER: &str = "  ";

/// A line of a card.
#[derive(Debug, Clone)]
pub(in crate::console) struct CardLine {
    /// The number of its command, if there are several.
    number: String,
    /// Whether it is somebody else's text, each row of which has a mark before it.
    is_marked: bool,
    text: Vec<StyledPiece>,
}

impl CardLine {
    /// Returns a fact.
    pub(in crate::console) fn fact(text: Vec<StyledPiece>) -> Self {
        Self { number: String::new(), is_marked: false, text }
    }

    /// Returns the lines of a command, complete and unmasked, with a sign at each line break.
    pub(in crate::console) fn command(cmd: &str) -> Vec<Self> {
        let lines: Vec<&str> = cmd.split('\n').collect();
        let last = lines.len() - 1;
        let line = |(at, line): (usize, &str)| {
            let end = if at < last { "⏎" } else { "" };
            vec![piece(visible::one_line(line), Role::Strong), piece(end, Role::Faint)]
        };
        lines.into_iter().enumerate().map(line).map(Self::marked_fact).collect()
    }

    /// Returns the lines of another text that is not ours.
    pub(in crate::console) fn foreign(text: &str, role: Role) -> Vec<Self> {
        let lines = text.trim_end().split('\n');
        lines.map(|line| Self::marked_fact(vec![piece(visible::in_text(line), role)])).collect()
    }

    fn marked_fact(text: Vec<StyledPiece>) -> Self {
        Self { is_marked: true, ..Self::fact(text) }
    }

    /// Returns the same behind the number of its command, or behind as many blanks.
    pub(in crate::console) fn with_number(self, number: String) -> Self {
        Self { number, ..self }
    }

    /// Returns it in one row of any length.
    pub(in crate::console) fn whole(self) -> Vec<StyledPiece> {
        let mark = if self.is_marked { FURTHER } else { "" };
        [vec![piece(format!("{}{mark}", self.number), Role::Faint)], self.text].concat()
    }

    /// Returns its rows, which are this wide at most.
    fn rows(&self, room: usize, mark: &str) -> Vec<Vec<StyledPiece>> {
        let indent = " ".repeat(width(&self.number));
        let mark = format!("{mark} ");
        let (first, further) = match self.is_marked {
            true => (format!("{}{mark}", self.number), format!("{indent}{mark}")),
            false => (self.number.clone(), format!("{indent}{FURTHER}")),
        };
        let text: usize = self.text.iter().map(|piece| width(&piece.text)).sum();
        let left = if text + width(&first) <= room { text } else { room.saturating_sub(width(&further)) };
        let rows = wrap_lines(std::slice::from_ref(&self.text), left.max(1)).into_iter().enumerate();
        let before = |at| piece(if at == 0 { first.as_str() } else { further.as_str() }, Role::Faint);
        rows.map(|(at, row)| [vec![before(at)], row].concat()).collect()
    }
}

/// Returns the rows of a card.
pub(in crate::console) fn card_rows(lines: &[CardLine], room: usize, mark: &str) -> Vec<Vec<StyledPiece>> {
    lines.iter().flat_map(|line| line.rows(room, mark)).collect()
}

/// How far a card has been read.
#[derive(Debug, Clone, Copy, Default)]
pub struct CardReading {
    /// First row shown.
    pub top: usize,
    /// Since when it has been on screen.
    pub shown_at: Option<Timestamp>,
    /// Whether its last row has been on screen.
    pub is_read: bool,
    /// Whether somebody wanted to let it happen before that.
    is_hasty: bool,
}

impl CardReading {
    /// Tells whether a key counts now as an answer to what is on screen.
    pub(in crate::console) fn has_settled(&self, now: Timestamp) -> bool {
        has_been_read(self.shown_at, now)
    }

    /// Tells whether a key that lets something happen comes before the last row has been on screen.
    pub(in crate::console) fn is_too_early(&mut self, now: Timestamp) -> bool {
        let is_early = self.has_settled(now) && !self.is_read;
        self.is_hasty |= is_early;
        is_early
    }

    /// Scrolls a text of so many rows, of which so many are shown.
    pub(in crate::console) fn scroll(&mut self, motion: Motion, size: (usize, usize)) {
        self.top = scroll_by(self.top, motion, size);
    }

    /// Tells whether the last row is among those shown.
    pub(in crate::console) fn is_at_end(&self, (rows, shown): (usize, usize)) -> bool {
        self.top + shown >= rows
    }

    /// Returns what stands in place of the keys that let something happen, while so many rows are still below.
    pub(in crate::console) fn unread(
        &self,
        painter: &Painter<'_>,
        context: KeyContext,
        (below, others): (usize, &[(Action, &str)]),
    ) -> Vec<StyledPiece> {
        let rows = if below == 1 { "1 more row".to_owned() } else { format!("{below} more rows") };
        if !self.is_hasty {
            let ways = [&[(Action::PageDown, "read on")][..], others].concat();
            return [vec![piece(format!("{rows}   "), Role::Waiting)], painter.keys(context, &ways)].concat();
        }
        let key = painter.state.setup.keymap.key(context, Action::PageDown);
        let first = piece(format!("read to the end first: {rows}, "), Role::Waiting);
        [first].into_iter().chain(key.map(|key| piece(key, Role::Key))).collect()
    }
}
