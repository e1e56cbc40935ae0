//! The list of what waits for the user, over the screen.

use crate::console::features::attention::item::{AttentionItem, AttentionSubject, Need};
use crate::console::keys::{Action, KeyContext};
use crate::console::state::{cut_bottom, over_screen};
use crate::console::text::reading::move_by;
use crate::console::text::{column, piece, visible, width};
use crate::console::theme::Role;
use crate::console::widgets::Painter;
use crate::envelope::TaskId;
use crate::model::phrases::NOTHING_WAITS;

pub(in crate::console) const MOST_COLUMNS: u16 = 110;

/// The width of the column that says what is needed.
pub(in crate::console) const WHAT_COLUMNS: std::ops::RangeInclusive<usize> = 21..=38;

/// The selection in the attention list, identified by subject because rows come and go.
#[derive(Debug, Clone)]
pub struct AttentionSelection {
    /// `None` if the list was empty.
    subject: Option<AttentionSubject>,
    /// The index it had.
    at: usize,
}

impl AttentionSelection {
    /// Returns what is selected after a key, or what was chosen with it. If the selected item has been settled, the item
    /// that took its position is selected, which needs another key press.
    pub(in crate::console) fn after(
        &self,
        items: &[AttentionItem],
        action: Action,
    ) -> Result<Self, AttentionSubject> {
        let at = self.place(items);
        match (action, &self.subject) {
            (Action::Choose, Some(subject)) if items.iter().any(|item| item.subject == *subject) => {
                Err(subject.clone())
            }
            (Action::Choose, _) => Ok(Self::of(items, at)),
            (action, _) => {
                let moved = |motion| move_by(at, motion, 10, items.len().saturating_sub(1));
                Ok(Self::of(items, action.motion().map_or(at, moved)))
            }
        }
    }

    pub(in crate::console) fn of(items: &[AttentionItem], at: usize) -> Self {
        Self { subject: items.get(at).map(|item| item.subject.clone()), at }
    }

    /// Returns the task that is typed into when it is chosen, if it is one.
    pub(in crate::console) fn task(&self) -> Option<&TaskId> {
        match &self.subject {
            Some(AttentionSubject::Input(task)) => Some(task),
            _ => None,
        }
    }

    /// Returns its current index; if it is gone, the index of the item that took its position.
    fn place(&self, items: &[AttentionItem]) -> usize {
        let is_it = |item: &AttentionItem| Some(&item.subject) == self.subject.as_ref();
        items.iter().position(is_it).unwrap_or(self.at).min(items.len().saturating_sub(1))
    }
}

pub(in crate::console) fn draw(
    painter: &mut Painter<'_>,
    items: &[AttentionItem],
    chosen: &AttentionSelection,
) {
    let state = painter.state;
    let area = over_screen(painter.size(), MOST_COLUMNS, items.len().max(1) + 2, 2);
    let certain = items.iter().filter(|item| item.need() != Need::Maybe).count();
    let title = match certain {
        0 => NOTHING_WAITS.to_owned(),
        1 => "1 thing waits for you".to_owned(),
        many => format!("{many} things wait for you"),
    };
    let title = match items.len() - certain {
        0 => title,
        weak => format!("{title}, {weak} may"),
    };
    let whose = state.list.filters.whose.as_ref();
    let title = match whose.map(|whose| visible::one_line(whose.name()).into_owned()) {
        Some(whose) => format!("of {whose} alone: {title}"),
        None => title,
    };
    let inside = painter.draw_box(area, &title);
    let dots = painter.glyphs().cut;
    let (list, foot) = cut_bottom(inside, 2);
    let longest = items.iter().map(|item| width(&item.what) + 1).max().unwrap_or_default();
    let what = longest.clamp(*WHAT_COLUMNS.start(), *WHAT_COLUMNS.end());
    let names = state.alias_columns(5);
    let at = chosen.place(items);
    let top = (at + 1).saturating_sub(usize::from(list.height));
    painter.list(list, items.iter().enumerate().skip(top), |painter, (number, item)| {
        let age = painter.age(item.since);
        let role = if item.need() == Need::Maybe { Role::Faint } else { Role::Waiting };
        let row = vec![
            piece(format!("{} ", painter.marker(number == at)), Role::Accent),
            piece(column(&item.name, names, dots), Role::Title),
            piece(column(&age, 7, dots), Role::Faint),
            piece(column(&item.what, what, dots), role),
            piece(column(item.key, 8, dots), Role::Key),
            piece(item.said.clone(), Role::Text),
        ];
        (row, number == at)
    });
    let choose = items.get(at).map(|item| (Action::Choose, item.key));
    let ways: Vec<_> = choose.into_iter().chain([(Action::Back, "close")]).collect();
    let keys = painter.keys(KeyContext::Attention, &ways);
    painter.row(foot, 1, &keys);
}
