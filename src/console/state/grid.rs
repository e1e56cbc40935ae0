//! How an area is divided into places for panes, by columns: a pane without neighbours takes their room, and always
//! covers its own place.

use ratatui::layout::Rect;

use crate::console::state::areas::{cut_left, cut_top};

/// Rows of a pane that shows only what a waiting task asks, with its title.
const STRIP_ROWS: u16 = 5;

/// Places side by side and one above the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::console) struct StageGrid {
    pub(in crate::console) columns: u16,
    pub(in crate::console) rows: u16,
}

/// The areas of a divided stage.
#[derive(Debug, Clone, Default)]
pub(in crate::console) struct DividedStage {
    /// The area of each taken place, with the number of the place.
    pub(in crate::console) areas: Vec<(usize, Rect)>,
    /// Vertical rules between columns.
    pub(in crate::console) rules: Vec<Rect>,
}

impl StageGrid {
    /// Returns the number of places.
    pub(in crate::console) fn room(self) -> usize {
        usize::from(self.columns) * usize::from(self.rows)
    }

    /// Returns the column and row of a place. Places keep theirs when the grid gets a third column.
    fn cell(self, place: usize) -> (u16, u16) {
        let (place, rows) = (u16::try_from(place).unwrap_or(u16::MAX), self.rows.max(1));
        let paired = self.columns.clamp(1, 2);
        match place.checked_sub(paired * rows) {
            None => (place % paired, place / paired),
            Some(beyond) => (paired + beyond / rows, beyond % rows),
        }
    }

    /// Divides an area among the taken places. The one in `low`, if any, has only as many rows as a question needs.
    pub(in crate::console) fn divide(self, area: Rect, taken: &[bool], low: Option<usize>) -> DividedStage {
        let cells: Vec<(usize, (u16, u16))> = (0..self.room())
            .filter(|at| taken.get(*at) == Some(&true))
            .map(|at| (at, self.cell(at)))
            .collect();
        let mut divided = DividedStage::default();
        let columns: Vec<u16> =
            (0..self.columns).filter(|column| cells.iter().any(|(_, cell)| cell.0 == *column)).collect();
        let mut rest = area;
        for (at, column) in columns.iter().enumerate() {
            let mut inside = rest;
            if let Some(next) = columns.get(at + 1) {
                let to = area.x + start(area.width, self.columns, *next);
                let (left, more) = cut_left(rest, to.saturating_sub(rest.x + 1));
                let (rule, right) = cut_left(more, 1);
                divided.rules.push(rule);
                (inside, rest) = (left, right);
            }
            let its = cells.iter().filter(|(_, cell)| cell.0 == *column);
            self.stack(
                inside,
                &its.map(|(place, cell)| (*place, cell.1)).collect::<Vec<_>>(),
                low,
                &mut divided,
            );
        }
        divided.areas.sort_by_key(|(place, _)| *place);
        divided
    }

    /// Divides a column among the places in it, each with its row.
    fn stack(self, area: Rect, places: &[(usize, u16)], low: Option<usize>, divided: &mut DividedStage) {
        let mut rest = area;
        let mut ordered = places.to_vec();
        ordered.sort_by_key(|(_, row)| *row);
        for (at, (place, _)) in ordered.iter().enumerate() {
            let height = match ordered.get(at + 1) {
                None => rest.height,
                Some(_) if low == Some(*place) => STRIP_ROWS.min(rest.height / 2),
                Some((next, _)) if low == Some(*next) => rest.height.saturating_sub(STRIP_ROWS),
                Some((_, row)) => (area.y + row * (area.height / self.rows.max(1))).saturating_sub(rest.y),
            };
            let (above, below) = cut_top(rest, height);
            divided.areas.push((*place, above));
            rest = below;
        }
    }
}

/// Returns where a column begins, relative to the first, with a rule before each but that one.
fn start(width: u16, columns: u16, column: u16) -> u16 {
    column * ((width.saturating_sub(columns - 1)) / columns + 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_taken_places_cover_the_area_and_each_its_own_cell(
            columns in 1..=3_u16, rows in 1..=4_u16, width in 40..320_u16, height in 16..100_u16,
            taken in prop::collection::vec(any::<bool>(), 12), low in prop::option::of(0..12_usize),
        ) {
            let grid = StageGrid { columns, rows };
            let area = Rect::new(3, 2, width, height);
            let all = grid.divide(area, &[true; 12], None).areas;
            let divided = grid.divide(area, &taken, None);
            let wanted: Vec<usize> = (0..grid.room()).filter(|place| taken[*place]).collect();
            let places: Vec<usize> = divided.areas.iter().map(|(place, _)| *place).collect();
            prop_assert_eq!(&places, &wanted);
            for (place, inside) in &divided.areas {
                let own = all.iter().find(|(other, _)| other == place).expect("its own cell").1;
                prop_assert_eq!(inside.intersection(own), own, "place {} leaves its cell", place);
            }
            for divided in [&divided, &grid.divide(area, &taken, low)] {
                let areas: Vec<Rect> = divided.areas.iter().map(|(_, area)| *area).chain(divided.rules.clone()).collect();
                let covered: u32 = areas.iter().map(|area| area.area()).sum();
                prop_assert_eq!(covered, if wanted.is_empty() { 0 } else { area.area() });
                for (at, one) in areas.iter().enumerate() {
                    prop_assert_eq!(one.intersection(area), *one);
                    prop_assert!(areas[at + 1..].iter().all(|other| one.intersection(*other).is_empty()));
                }
            }
        }
    }
}
