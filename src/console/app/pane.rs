//! Reading a pane: its pages, how far it is scrolled and panned, and the times beside its lines.

use crate::console::effect::Effect;
use crate::console::features::pane::{reflow, timestamps};
use crate::console::keys::Motion;
use crate::console::state::search::{matches, row_of};
use crate::console::state::timestamps::Timestamps;
use crate::console::state::{Anchor, Layout, PageView, Pane, Scroll, State, cut_top, words};
use crate::envelope::TaskId;
use crate::terminal::Size;

impl State {
    /// Freezes the pane on a page of the log, or moves to another page.
    pub(super) fn go_in_log(&mut self, motion: Motion) {
        let Some(task) = self.at_hand().cloned() else { return };
        let Some(rows) = self.layout().pane(&task.id).map(|pane| u64::from(pane.cells.height)) else {
            return;
        };
        let page = self.reading.page();
        // The top line of the pane when it follows the output.
        let bottom = task.output.lines.saturating_sub(rows.saturating_sub(1));
        let wanted = match (motion, page.map(|page| (page.first_line, page.next_line))) {
            (Motion::Top, _) => Anchor::From(0),
            // The line count known here lags a little behind, so the code that reads the log resolves the
            // position.
            (Motion::Up, None) => Anchor::LineAboveTail,
            (Motion::PageUp, None) => Anchor::AboveTail,
            (Motion::Up | Motion::PageUp, Some((0, _))) => Anchor::From(0),
            // The page shows a single line: go to what precedes it.
            (Motion::PageUp, Some((first, next))) if next == first + 1 => Anchor::Before(first),
            (Motion::Up, Some((first, _))) => Anchor::From(first - 1),
            (Motion::PageUp, Some((first, next))) => Anchor::Before((first + 1).min(next)),
            _ if self.reading.scroll.is_none() => return,
            (Motion::Down, Some((first, _))) if first + 1 < bottom => Anchor::From(first + 1),
            (Motion::PageDown, Some((first, next))) if next.saturating_sub(1) < bottom => {
                Anchor::From(next.saturating_sub(1).max(first + 1))
            }
            _ => {
                self.thaw();
                return;
            }
        };
        self.show_page(task.id.clone(), wanted)
    }

    /// Freezes the pane of a task; it shows the live screen until the requested page has been read.
    pub(super) fn show_page(&mut self, task: TaskId, wanted: Anchor) {
        let layout = self.layout();
        let Some(pane) = layout.pane(&task) else { return };
        let (page, lines) = match self.reading.scroll.take().filter(|scroll| scroll.task == task) {
            Some(scroll) => (scroll.page, scroll.lines),
            None => (None, self.view.task(&task).map_or(0, |task| task.output.lines)),
        };
        self.ask_for_page(pane, wanted, pane.size().rows());
        let columns = reflow::columns(self, pane);
        self.reading.scroll =
            Some(Scroll { task, wanted, columns, page, lines, prompt: None, matches: Vec::new() });
        self.mark_matches();
    }

    /// Marks the search's matches on the current page.
    pub(super) fn mark_matches(&mut self) {
        let Some(scroll) = &mut self.reading.scroll else { return };
        let search = self.reading.search.as_ref().filter(|search| search.task == scroll.task);
        let found = scroll.page.as_ref().zip(search);
        scroll.matches = found.map(|(page, search)| matches(page, &search.query.needle)).unwrap_or_default();
        if let Some((page, line)) = scroll.page.as_ref().zip(scroll.prompt) {
            scroll.matches.extend(row_of(page, line));
        }
    }

    pub(super) fn take_page(&mut self, task: TaskId, page: PageView) {
        if self.copying().is_some_and(|copying| copying.task == task)
            && self.lengthen_copy(page.anchor, &page)
        {
            return;
        }
        let is_better_live = self.is_better_live(&task, &page);
        match &mut self.reading.scroll {
            Some(scroll) if scroll.task == task && scroll.wanted == page.anchor => {
                // A program on the alternate screen leaves no lines behind, so its last screen stays.
                if scroll.page.is_none() && is_better_live {
                    self.reading.scroll = None;
                    return self.say("nothing above: the program had the whole screen");
                }
                scroll.page = Some(page);
                self.mark_matches();
            }
            _ if page.anchor == Anchor::Stamped => self.take_stamped(task, page),
            // The last live picture is better than an empty log, or than the log of a program that used the
            // alternate screen.
            _ if page.anchor == Anchor::Tail && page.lines > 0 && !is_better_live => {
                self.view.pictures.insert(task, page.picture);
            }
            _ => {}
        }
    }

    fn is_better_live(&self, task: &TaskId, page: &PageView) -> bool {
        page.picture.is_blank() && self.view.pictures.get(task).is_some_and(|live| !live.is_blank())
    }

    /// Requests a page of the log of a pane's task, with at most this many rows.
    pub(super) fn ask_for_page(&mut self, pane: &Pane, anchor: Anchor, rows: u16) {
        let size = Size::nearest(reflow::columns(self, pane), rows);
        self.effects.push(Effect::Page { task: pane.task.clone(), anchor, size });
    }

    /// Rereads the page of a scrolled-back pane whose width has changed.
    pub(super) fn read_at_width(&mut self, layout: &Layout) {
        let Some(scroll) = &self.reading.scroll else { return };
        let Some(pane) = layout.pane(&scroll.task) else { return };
        let columns = reflow::columns(self, pane);
        let is_other = scroll.columns != columns;
        let Some(page) = scroll.page.as_ref().filter(|_| is_other) else { return };
        let anchor = Anchor::From(page.first_line);
        if let Some(scroll) = &mut self.reading.scroll {
            (scroll.wanted, scroll.columns) = (anchor, columns);
        }
        self.ask_for_page(pane, anchor, pane.size().rows());
    }

    /// Pans the current pane by columns, as far as what it shows or, where lines are wrapped, the task's own terminal.
    pub(super) fn pan_pane(&mut self, by: i16) {
        let Some(task) = self.at_hand().map(|task| task.id.clone()) else { return };
        let page = self.reading.page().map(|page| &page.picture);
        let widest = page.or(self.view.pictures.get(&task)).map_or(0, |picture| picture.size().0);
        let shown = self.layout().pane(&task).map_or(0, |pane| pane.cells.width);
        // Wrapped lines fit the pane: panning to the right shows them as the program wrote them.
        let widest = if widest > shown { widest } else { reflow::own_columns(self, &task) };
        let before = self.reading.pan;
        self.reading.pan = before.saturating_add_signed(by).min(widest.saturating_sub(shown));
        if before == self.reading.pan {
            self.decline(words::edge(by));
        }
    }

    /// Turns timestamps on or off.
    pub(super) fn toggle_stamps(&mut self) {
        self.reading.timestamps =
            Timestamps { are_shown: !self.reading.timestamps.are_shown, ..Timestamps::default() };
    }

    /// Rereads the end of the log when it has grown, one read at a time.
    pub(super) fn read_stamped(&mut self, layout: &Layout) {
        let pane = self
            .at_hand()
            .and_then(|task| layout.pane(&task.id))
            .filter(|pane| timestamps::shows_log(self, pane));
        let Some(pane) = pane.filter(|_| self.reading.timestamps.are_shown && self.reading.scroll.is_none())
        else {
            return;
        };
        let (task, size) =
            (pane.task.clone(), Size::nearest(reflow::columns(self, pane), pane.size().rows()));
        let written = self.view.task(&task).map_or(0, |task| task.output.bytes);
        let wanted = (task.clone(), written, size);
        if let Some((asked, is_under_way)) = &self.reading.timestamps.asked
            && (*asked == wanted || *is_under_way && asked.0 == task)
        {
            return;
        }
        self.reading.timestamps.asked = Some((wanted, true));
        self.ask_for_page(pane, Anchor::Stamped, size.rows());
    }

    /// Takes a page that was read for this.
    pub(super) fn take_stamped(&mut self, task: TaskId, page: PageView) {
        if let Some((asked, is_under_way)) = &mut self.reading.timestamps.asked
            && asked.0 == task
        {
            *is_under_way = false;
            self.reading.timestamps.page = Some((task, page));
        }
    }

    /// Moves in the reader's text.
    pub(super) fn go_in_reader(&mut self, motion: Motion) {
        let shown = usize::from(cut_top(self.layout().stage, 1).1.height);
        self.reader.iter_mut().for_each(|reader| reader.text.go(motion, shown));
    }
}
