//! Layouts of the tasks screen: the list of them, taking, saving and forgetting one.

use ratatui::layout::Rect;

use crate::console::effect::Effect;
use crate::console::state::tiles::{divided, list_apart};
use crate::console::state::tiling::{ListPlace, MOST_SAVED, Panes, Pick, SavedTiling, Tiling, tidy};
use crate::console::state::{Arrangement, ListChoice, Prompt, State};
use crate::console::widgets::{Chooser, ListItem, ListKind};

/// Other words by which a layout can be found.
pub(in crate::console) const SYNONYMS: &str =
    "layout split grid tile tiling panes columns side by side stacked";

/// Opens the list of layouts, with the current one selected.
pub(in crate::console) fn layout_list(state: &State) -> Chooser {
    let mut chooser = Chooser::new(ListKind::Layouts, layout_items(state));
    chooser.select(&ListChoice::Layout(state.division.tilings.picked()));
    chooser
}

/// Returns all layouts as list items.
pub(in crate::console) fn layout_items(state: &State) -> Vec<ListItem> {
    let automatic = "As the size of the terminal suggests".to_owned();
    let built_in = Tiling::all().map(|tiling| (tiling.label(), tiling.about(), Pick::Tiled(tiling)));
    let saved = state.division.tilings.saved.iter().map(|saved| {
        let about = saved.tiling.map_or("Automatic".to_owned(), Tiling::about);
        (saved.name.clone(), format!("Saved: {about}"), Pick::Named(saved.name.clone()))
    });
    let automatic = std::iter::once(("automatic".to_owned(), automatic, Pick::Automatic));
    let all = automatic.chain(saved).chain(built_in);
    all.map(|(label, about, pick)| {
        let obstacle = layout_obstacle(state, &pick).map(str::to_owned);
        ListItem { obstacle, also: SYNONYMS, ..ListItem::new(label, about, ListChoice::Layout(pick)) }
    })
    .collect()
}

/// Returns why a layout would not look as its name says, if so.
fn layout_obstacle(state: &State, pick: &Pick) -> Option<&'static str> {
    let tiling = match pick {
        Pick::Automatic => None,
        Pick::Tiled(tiling) => Some(*tiling),
        Pick::Named(name) => saved(state, name)?.tiling,
    }?;
    let body = Rect::new(0, 0, state.outer.size.0, state.outer.size.1.saturating_sub(3));
    let list = list_apart(body, tiling.list, 0);
    if tiling.list == ListPlace::Left && list.0.height < body.height {
        return Some("the window is too narrow");
    }
    match divided(list.1, tiling.panes) {
        shown if shown == tiling.panes => None,
        Panes::TwoBeside | Panes::FourGrid => Some("the window is too low"),
        _ if matches!(tiling.panes, Panes::TwoBeside | Panes::FourGrid) => Some("the window is too narrow"),
        _ => Some("the window is too low"),
    }
}

fn saved<'a>(state: &'a State, name: &str) -> Option<&'a SavedTiling> {
    state.division.tilings.saved.iter().find(|saved| saved.name == name)
}

/// Switches to a layout.
pub(in crate::console) fn pick_layout(state: &mut State, pick: &Pick) {
    (state.division.tilings.now, state.division.tilings.name) = match pick {
        Pick::Automatic => (None, None),
        Pick::Tiled(tiling) => (Some(*tiling), None),
        Pick::Named(name) => {
            let Some(saved) = saved(state, name).cloned() else { return };
            state.division.split = saved.split;
            (saved.tiling, Some(saved.name))
        }
    };
    state.division.is_zoomed = false;
    keep_arrangement(state);
}

/// Switches to the next layout that fits: automatic, the saved ones, then the others with the list at its
/// current position.
pub(in crate::console) fn next_layout(state: &mut State) {
    let list = state.division.tilings.now.map(|tiling| tiling.list).unwrap_or_default();
    let items = layout_items(state).into_iter().filter(|item| {
        let stays = |tiling: &Tiling| tiling.list == list;
        item.obstacle.is_none()
            && !matches!(&item.choice, ListChoice::Layout(Pick::Tiled(tiling)) if !stays(tiling))
    });
    let items: Vec<ListItem> = items.collect();
    let picked = ListChoice::Layout(state.division.tilings.picked());
    let at = items.iter().position(|item| item.choice == picked).map_or(0, |at| at + 1);
    let Some(item) = items.get(at).or(items.first()) else { return };
    if let ListChoice::Layout(pick) = &item.choice {
        pick_layout(state, pick);
        let said = if matches!(pick, Pick::Named(_)) { &item.label } else { &item.about };
        state.say(format!("layout: {said}"));
    }
}

/// Opens the input line for naming the current layout.
pub(in crate::console) fn ask_for_layout_name(state: &mut State) {
    state.write(Prompt::Layout);
}

/// Saves the current layout under a name, replacing one of the same name.
pub(in crate::console) fn save_layout(state: &mut State, name: &str) {
    let name = tidy(name);
    if name.is_empty() {
        return;
    }
    let saved =
        SavedTiling { name: name.clone(), tiling: state.division.tilings.now, split: state.division.split };
    let is_full = state.division.tilings.saved.len() >= MOST_SAVED;
    match state.division.tilings.saved.iter_mut().find(|other| other.name == name) {
        Some(other) => *other = saved,
        None if !is_full => state.division.tilings.saved.push(saved),
        None => return state.say(format!("{MOST_SAVED} layouts are saved already: forget one first")),
    }
    state.say(format!("layout saved as {name}"));
    state.division.tilings.name = Some(name);
    keep_arrangement(state);
}

/// Deletes the saved layout in use; the screen keeps its layout.
pub(in crate::console) fn forget_layout(state: &mut State) {
    let Some(name) = state.division.tilings.name.take() else { return };
    state.division.tilings.saved.retain(|saved| saved.name != name);
    state.say(format!("layout {name} forgotten"));
    keep_arrangement(state);
}

fn keep_arrangement(state: &mut State) {
    state.effects.push(Effect::Arranged(Arrangement::of(state)));
}
