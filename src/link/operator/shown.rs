//! What a console shows: the runtime sends these screens, and tells their programs of the console's terminal.

use super::{Local, Operator, lock};
use crate::envelope::TaskId;
use crate::link::protocol::Shown;

impl Operator {
    /// Sets which tasks have a pane and which one has the focus. Each screen is shown at its program's own size.
    pub fn show(&self, visible: &[TaskId], focus: Option<&TaskId>) {
        let (visible, focus) = (visible.to_vec(), focus.cloned());
        self.show_at(Shown { visible, focus, ..Shown::default() });
    }

    /// Like [`Self::show`], with all that can be said of it.
    pub fn show_at(&self, shown: Shown) {
        match self {
            Self::Local(local) => {
                local.show(&shown);
                *lock(&local.columns) = shown.columns;
            }
            Self::Remote(remote) => remote.show(shown),
            Self::Fleet(fleet) => fleet.show(shown),
            Self::Recorded(_) => {}
        }
    }
}

impl Local {
    /// Notes what the console shows.
    pub(super) fn show(&self, shown: &Shown) {
        self.runtime.show(&self.viewer, &shown.visible, shown.focus.as_ref());
        self.viewer.set_colours(shown.colours);
    }
}
