//! Layouts of the tasks screen: the list of them, and switching to one.

use ratatui::layout::Rect;

use crate::console::state::tiles::{fit_panes, list_apart};
use crate::console::state::tiling::{ListPlace, Panes, Tiling};
use crate::console::state::{ListChoice, State};
use crate::console::widgets::{Chooser, ListItem, ListKind};

/// Other words by which a layout can be found.
const SYNONYMS: &str = "layout split grid tile tiling panes columns side by side stacked";

/// Opens the list of layouts, with the current one selected.
pub(in crate::console) fn layout_list(state: &State) -> Chooser {
    let mut chooser = Chooser::new(ListKind::Layouts, layout_items(state));
    chooser.select(&ListChoice::Layout(state.division.tiling));
    chooser
}

/// Returns all layouts as list items.
pub(in crate::console) fn layout_items(state: &State) -> Vec<ListItem> {
    let automatic = "As the size of the terminal suggests".to_owned();
    let automatic = std::iter::once(("automatic".to_owned(), automatic, None));
    let tiled = Tiling::variants().map(|tiling| (tiling.label(), tiling.about(), Some(tiling)));
    automatic
        .chain(tiled)
        .map(|(label, about, tiling)| {
            let obstacle = tiling.and_then(|tiling| layout_obstacle(state, tiling)).map(str::to_owned);
            ListItem { obstacle, also: SYNONYMS, ..ListItem::new(label, about, ListChoice::Layout(tiling)) }
        })
        .collect()
}

/// Returns why a layout would not look as its name says, if so.
fn layout_obstacle(state: &State, tiling: Tiling) -> Option<&'static str> {
    let body = Rect::new(0, 0, state.outer.size.0, state.outer.size.1.saturating_sub(3));
    let list = list_apart(body, tiling.list, 0);
    if tiling.list == ListPlace::Left && list.0.height < body.height {
        return Some("the window is too narrow");
    }
    match fit_panes(list.1, tiling.panes) {
        shown if shown == tiling.panes => None,
        Panes::TwoBeside | Panes::FourGrid => Some("the window is too low"),
        _ if matches!(tiling.panes, Panes::TwoBeside | Panes::FourGrid) => Some("the window is too narrow"),
        _ => Some("the window is too low"),
    }
}
