//! User-chosen layouts of the tasks screen: how many panes, their arrangement, and where the list is. A
//! layout can be saved under a name; the automatic one is the default.

use ratatui::layout::Rect;
use serde::{Deserialize, Serialize};
use strum::VariantArray as _;

use super::chooser::{Choice, Chooser, Item, Kind};
use super::tiles::{divided, list_apart};
use super::{App, Layer, Prompt};
use crate::console::msg::Effect;
use crate::console::text::visible;

/// Maximum number of saved layouts.
const MOST_SAVED: usize = 16;
/// Maximum length of a layout's name, in characters.
const MOST_NAME: usize = 24;
/// Other words by which a layout can be found.
const SYNONYMS: &str = "layout split grid tile tiling panes columns side by side stacked";

/// The number of panes and their arrangement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, strum::VariantArray)]
#[serde(rename_all = "snake_case")]
pub enum Panes {
    /// One.
    One,
    /// Two, side by side.
    TwoBeside,
    /// Two, one above the other.
    TwoStacked,
    /// Four, two by two.
    FourGrid,
    /// Four, one above the other.
    FourStacked,
}

/// The position of the task list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ListPlace {
    /// Above the panes.
    #[default]
    Top,
    /// To the left of the panes.
    Left,
}

/// A layout of the tasks screen: just the list and panes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tiling {
    /// The panes.
    pub panes: Panes,
    /// The list.
    pub list: ListPlace,
}

/// A layout saved under a name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Saved {
    /// Its name.
    pub name: String,
    /// The layout; if none, the automatic one.
    #[serde(default)]
    pub tiling: Option<Tiling>,
    /// How many steps larger than the default the list is.
    #[serde(default)]
    pub split: i16,
}

/// The current layout, and the saved ones.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Tilings {
    /// The current layout; if none, the automatic one.
    pub now: Option<Tiling>,
    /// The name it was chosen by, if any.
    pub name: Option<String>,
    /// The saved layouts, in the order they were saved.
    pub saved: Vec<Saved>,
}

/// A layout to choose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pick {
    /// Based on the size of the terminal.
    Automatic,
    /// This layout.
    Tiled(Tiling),
    /// The saved layout with this name.
    Named(String),
}

impl Panes {
    /// Returns the number of panes.
    pub fn count(self) -> usize {
        match self {
            Self::One => 1,
            Self::TwoBeside | Self::TwoStacked => 2,
            Self::FourGrid | Self::FourStacked => 4,
        }
    }

    /// Returns its short name and a description.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::One => ("1 pane", "One pane"),
            Self::TwoBeside => ("2 side", "Two panes side by side"),
            Self::TwoStacked => ("2 rows", "Two panes stacked"),
            Self::FourGrid => ("4 grid", "Four panes, two by two"),
            Self::FourStacked => ("4 rows", "Four panes stacked"),
        }
    }
}

impl Tiling {
    /// Returns all possible layouts.
    fn all() -> impl Iterator<Item = Self> {
        let places = [ListPlace::Top, ListPlace::Left].into_iter();
        places.flat_map(|list| Panes::VARIANTS.iter().map(move |panes| Self { panes: *panes, list }))
    }

    fn label(self) -> String {
        let left = if self.list == ListPlace::Left { " left" } else { "" };
        format!("{}{left}", self.panes.words().0)
    }

    fn about(self) -> String {
        let list = if self.list == ListPlace::Left { "left of them" } else { "above" };
        format!("{}, the list {list}", self.panes.words().1)
    }
}

impl Tilings {
    /// Removes what a file may contain but the console never saves: overlong names, and too many layouts.
    pub fn checked(mut self) -> Self {
        self.saved.retain_mut(|saved| {
            saved.name = tidy(&saved.name);
            !saved.name.is_empty()
        });
        self.saved.truncate(MOST_SAVED);
        self.name = self.name.filter(|name| self.saved.iter().any(|saved| saved.name == *name));
        self
    }

    fn picked(&self) -> Pick {
        match (&self.name, self.now) {
            (Some(name), _) => Pick::Named(name.clone()),
            (None, Some(tiling)) => Pick::Tiled(tiling),
            (None, None) => Pick::Automatic,
        }
    }
}

fn tidy(name: &str) -> String {
    visible::one_line(name.trim()).chars().take(MOST_NAME).collect()
}

impl App {
    /// Opens the list of layouts, with the current one selected.
    pub(super) fn open_layouts(&mut self) {
        let mut chooser = Chooser::new(Kind::Layouts, self.layout_items());
        chooser.select(&Choice::Layout(self.tilings.picked()));
        self.open(Layer::List(Box::new(chooser)));
    }

    /// Returns all layouts as list items.
    pub(super) fn layout_items(&self) -> Vec<Item> {
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
    pub(super) fn pick_layout(&mut self, pick: &Pick) {
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
    pub(super) fn next_layout(&mut self) {
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
    pub(super) fn ask_for_layout_name(&mut self) {
        self.write(Prompt::Layout);
    }

    /// Saves the current layout under a name, replacing one of the same name.
    pub(super) fn save_layout(&mut self, name: &str) {
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
    pub(super) fn forget_layout(&mut self) {
        let Some(name) = self.tilings.name.take() else { return };
        self.tilings.saved.retain(|saved| saved.name != name);
        self.say(format!("layout {name} forgotten"));
        self.keep_arrangement();
    }

    fn keep_arrangement(&mut self) {
        self.effects.push(Effect::Arranged(self.arrangement()));
    }
}
