//! User-chosen layouts of the tasks screen: how many panes, their arrangement, and where the list is. A
//! layout can be saved under a name; the automatic one is the default.

use serde::{Deserialize, Serialize};
use strum::VariantArray as _;

use crate::console::state::grid::StageGrid;
use crate::console::text::visible;

/// Maximum number of saved layouts.
pub(in crate::console) const MOST_SAVED: usize = 16;

/// Maximum length of a layout's name, in characters.
const MOST_NAME: usize = 24;

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
pub struct SavedTiling {
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
    pub saved: Vec<SavedTiling>,
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
        self.grid().room()
    }

    /// Returns its places.
    pub(in crate::console) fn grid(self) -> StageGrid {
        let (columns, rows) = match self {
            Self::One => (1, 1),
            Self::TwoBeside => (2, 1),
            Self::TwoStacked => (1, 2),
            Self::FourGrid => (2, 2),
            Self::FourStacked => (1, 4),
        };
        StageGrid { columns, rows }
    }

    /// Returns its short name and a description.
    pub(in crate::console) fn words(self) -> (&'static str, &'static str) {
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
    pub(in crate::console) fn all() -> impl Iterator<Item = Self> {
        let places = [ListPlace::Top, ListPlace::Left].into_iter();
        places.flat_map(|list| Panes::VARIANTS.iter().map(move |panes| Self { panes: *panes, list }))
    }

    pub(in crate::console) fn label(self) -> String {
        let left = if self.list == ListPlace::Left { " left" } else { "" };
        format!("{}{left}", self.panes.words().0)
    }

    pub(in crate::console) fn about(self) -> String {
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

    pub(in crate::console) fn picked(&self) -> Pick {
        match (&self.name, self.now) {
            (Some(name), _) => Pick::Named(name.clone()),
            (None, Some(tiling)) => Pick::Tiled(tiling),
            (None, None) => Pick::Automatic,
        }
    }
}

pub(in crate::console) fn tidy(name: &str) -> String {
    visible::one_line(name.trim()).chars().take(MOST_NAME).collect()
}
