//! Layouts of the tasks screen: the list of them, taking, saving and forgetting one.

use ratatui::layout::Rect;

use crate::console::effect::Effect;
use crate::console::state::State;
use crate::console::state::choice::Choice;
use crate::console::state::focus::Prompt;
use crate::console::state::tiles::{divided, list_apart};
use crate::console::state::tiling::{ListPlace, MOST_SAVED, Panes, Pick, Saved, Tiling, tidy};
use crate::console::widgets::chooser::{Chooser, Item, Kind};

/// Other words by which a layout can be found.
pub(in crate::console) const SYNONYMS: &str =
    "layout split grid tile tiling panes columns side by side stacked";

impl State {
    /// Opens the list of layouts, with the current one selected.
    pub(in crate::console) fn layout_list(&self) -> Chooser {
        let mut chooser = Chooser::new(Kind::Layouts, self.layout_items());
        chooser.select(&Choice::Layout(self.tilings.picked()));
        chooser
    }

    /// Returns all layouts as list items.
    pub(in crate::console) fn layout_items(&self) -> Vec<Item> {
        let automatic = "As the size of the terminal suggests".to_owned();
        let built_in = Tiling::all().map(|tiling| (tiling.label(), tiling.about(), Pick::Tiled(tiling)));
        let saved = self.tilings.saved.iter().map(|saved| {
            let about = saved.tiling.map_or("Automatic".to_owned(), Tiling::about);
            (saved.name.clone(), format!("Saved: {about}"), Pick::Named(saved.name.clone()))
        });
        let automatic = std::iter::once(("automatic".to_owned(), automatic, Pick::Automatic));
        let all = automatic.chain(saved).chain(built_in);
        all.map(|(label, about, pick)| {
            let obstacle = self.layout_obstacle(&pick).map(str::to_owned);
            Item { obstacle, also: SYNONYMS, ..Item::new(label, about, Choice::Layout(pick)) }
        })
        .collect()
    }

    /// Returns why a layout would not look as its name says, if so.
    fn layout_obstacle(&self, pick: &Pick) -> Option<&'static str> {
        let tiling = match pick {
            Pick::Automatic => None,
            Pick::Tiled(tiling) => Some(*tiling),
            Pick::Named(name) => self.saved(name)?.tiling,
        }?;
        let body = Rect::new(0, 0, self.size.0, self.size.1.saturating_sub(3));
        let list = list_apart(body, tiling.list, 0);
        if tiling.list == ListPlace::Left && list.0.height < body.height {
            return Some("the window is too narrow");
        }
        match divided(list.1, tiling.panes) {
            shown if shown == tiling.panes => None,
            Panes::TwoBeside | Panes::FourGrid => Some("the window is too low"),
            _ if matches!(tiling.panes, Panes::TwoBeside | Panes::FourGrid) => {
                Some("the window is too narrow")
            }
            _ => Some("the window is too low"),
        }
    }

    fn saved(&self, name: &str) -> Option<&Saved> {
        self.tilings.saved.iter().find(|saved| saved.name == name)
    }

    /// Switches to a layout.
    pub(in crate::console) fn pick_layout(&mut self, pick: &Pick) {
        (self.tilings.now, self.tilings.name) = match pick {
            Pick::Automatic => (None, None),
            Pick::Tiled(tiling) => (Some(*tiling), None),
            Pick::Named(name) => {
                let Some(saved) = self.saved(name).cloned() else { return };
                self.split = saved.split;
                (saved.tiling, Some(saved.name))
            }
        };
        self.is_zoomed = false;
        self.keep_arrangement();
    }

    /// Switches to the next layout that fits: automatic, the saved ones, then the others with the list at its
    /// current position.
    pub(in crate::console) fn next_layout(&mut self) {
        let list = self.tilings.now.map(|tiling| tiling.list).unwrap_or_default();
        let items = self.layout_items().into_iter().filter(|item| {
            let stays = |tiling: &Tiling| tiling.list == list;
            item.obstacle.is_none()
                && !matches!(&item.choice, Choice::Layout(Pick::Tiled(tiling)) if !stays(tiling))
        });
        let items: Vec<Item> = items.collect();
        let picked = Choice::Layout(self.tilings.picked());
        let at = items.iter().position(|item| item.choice == picked).map_or(0, |at| at + 1);
        let Some(item) = items.get(at).or(items.first()) else { return };
        if let Choice::Layout(pick) = &item.choice {
            self.pick_layout(pick);
            let said = if matches!(pick, Pick::Named(_)) { &item.label } else { &item.about };
            self.say(format!("layout: {said}"));
        }
    }

    /// Opens the input line for naming the current layout.
    pub(in crate::console) fn ask_for_layout_name(&mut self) {
        self.write(Prompt::Layout);
    }

    /// Saves the current layout under a name, replacing one of the same name.
    pub(in crate::console) fn save_layout(&mut self, name: &str) {
        let name = tidy(name);
        if name.is_empty() {
            return;
        }
        let saved = Saved { name: name.clone(), tiling: self.tilings.now, split: self.split };
        let is_full = self.tilings.saved.len() >= MOST_SAVED;
        match self.tilings.saved.iter_mut().find(|other| other.name == name) {
            Some(other) => *other = saved,
            None if !is_full => self.tilings.saved.push(saved),
            None => return self.say(format!("{MOST_SAVED} layouts are saved already: forget one first")),
        }
        self.say(format!("layout saved as {name}"));
        self.tilings.name = Some(name);
        self.keep_arrangement();
    }

    /// Deletes the saved layout in use; the screen keeps its layout.
    pub(in crate::console) fn forget_layout(&mut self) {
        let Some(name) = self.tilings.name.take() else { return };
        self.tilings.saved.retain(|saved| saved.name != name);
        self.say(format!("layout {name} forgotten"));
        self.keep_arrangement();
    }

    fn keep_arrangement(&mut self) {
        self.effects.push(Effect::Arranged(self.arrangement()));
    }
}
