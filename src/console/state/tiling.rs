//! User-chosen layouts of the tasks screen: how many panes, their arrangement, and where the list is.

use serde::{Deserialize, Serialize};
use strum::VariantArray as _;

use crate::console::state::grid::StageGrid;

/// The number of panes and their arrangement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, strum::VariantArray)]
#[serde(rename_all = "snake_case")]
pub enum Panes {
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
    pub panes: Panes,
    pub list: ListPlace,
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
    pub(in crate::console) fn variants() -> impl Iterator<Item = Self> {
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
