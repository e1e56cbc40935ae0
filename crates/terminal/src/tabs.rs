//! Tab stops.

/// Columns between the stops that are there from the beginning.
const EVERY: u16 = 8;

/// The columns with tab stops.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Tabs {
    stops: Vec<bool>,
    /// Whether they are unchanged: one every eight columns.
    pub(super) are_default: bool,
}

impl Tabs {
    pub(super) fn new(cols: u16) -> Self {
        let mut tabs = Self { stops: Vec::new(), are_default: true };
        tabs.resize(cols);
        tabs
    }

    /// Changes the width; new columns have the default stops.
    pub(super) fn resize(&mut self, cols: u16) {
        let known = u16::try_from(self.stops.len()).unwrap_or(u16::MAX);
        self.stops.truncate(usize::from(cols));
        self.stops.extend((known..cols).map(|col| col % EVERY == 0));
    }

    /// Sets or clears the stop at a column.
    pub(super) fn set(&mut self, col: u16, stop: bool) {
        if let Some(place) = self.stops.get_mut(usize::from(col)) {
            *place = stop;
            self.are_default = false;
        }
    }

    /// Clears all stops.
    pub(super) fn clear(&mut self) {
        self.stops.fill(false);
        self.are_default = false;
    }

    /// Returns the column `count` stops to the right of `col`, at most the last one.
    pub(super) fn after(&self, col: u16, count: u16) -> u16 {
        if self.are_default && count == 1 {
            let last = self.stops.len().saturating_sub(1);
            return u16::try_from(next_stop(col.into()).min(last)).unwrap_or(col);
        }
        let last = self.stops.len().saturating_sub(1);
        let found =
            self.columns().filter(|stop| *stop > usize::from(col)).nth(usize::from(count).saturating_sub(1));
        u16::try_from(found.unwrap_or(last)).unwrap_or(col)
    }

    /// Returns the column `count` stops to the left of `col`, at least the first one.
    pub(super) fn before(&self, col: u16, count: u16) -> u16 {
        let found = self
            .columns()
            .filter(|stop| *stop < usize::from(col))
            .rev()
            .nth(usize::from(count).saturating_sub(1));
        u16::try_from(found.unwrap_or(0)).unwrap_or(col)
    }

    fn columns(&self) -> impl DoubleEndedIterator<Item = usize> {
        self.stops.iter().enumerate().filter(|(_, stop)| **stop).map(|(col, _)| col)
    }
}

/// Returns the next of the stops that are there from the beginning.
pub(super) fn next_stop(col: usize) -> usize {
    let every = usize::from(EVERY);
    (col / every).saturating_add(1).saturating_mul(every)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tab_stops_are_found_in_both_directions() {
        let mut tabs = Tabs::new(20);
        assert_eq!(
            (tabs.after(0, 1), tabs.after(8, 1), tabs.after(17, 1), tabs.after(0, 9)),
            (8, 16, 19, 19)
        );
        assert_eq!((tabs.before(19, 1), tabs.before(8, 1), tabs.before(3, 5)), (16, 0, 0));
        tabs.set(3, true);
        assert_eq!((tabs.after(0, 1), tabs.after(0, 2)), (3, 8));
        tabs.clear();
        assert_eq!((tabs.after(0, 1), tabs.before(10, 1)), (19, 0));
        tabs.resize(30);
        assert_eq!(tabs.after(0, 1), 24);
    }
}
