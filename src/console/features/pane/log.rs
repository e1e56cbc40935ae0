//! Scrolling through a task's log, and the pages that are read for it.

use crate::console::features::pane::{copy, reflow, timestamps};
use crate::console::keys::Motion;
use crate::console::state::search::{matches, row_of};
use crate::console::state::{Anchor, PageView, Scroll, State};
use crate::envelope::TaskId;

/// Freezes the pane on a page of the log, or moves to another page.
pub(in crate::console) fn go_in_log(state: &mut State, motion: Motion) {
    let Some(task) = state.at_hand().cloned() else { return };
    let Some(rows) = state.layout().pane(&task.id).map(|pane| u64::from(pane.cells.height)) else {
        return;
    };
    let page = state.reading.scroll.as_ref().and_then(|scroll| scroll.page.as_ref());
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
        _ if state.reading.scroll.is_none() => return,
        (Motion::Down, Some((first, _))) if first + 1 < bottom => Anchor::From(first + 1),
        (Motion::PageDown, Some((first, next))) if next.saturating_sub(1) < bottom => {
            Anchor::From(next.saturating_sub(1).max(first + 1))
        }
        _ => {
            state.thaw();
            return;
        }
    };
    show_page(state, task.id.clone(), wanted)
}

/// Freezes the pane of a task; it shows the live screen until the requested page has been read.
pub(in crate::console) fn show_page(state: &mut State, task: TaskId, wanted: Anchor) {
    let layout = state.layout();
    let Some(pane) = layout.pane(&task) else { return };
    let (page, lines) = match state.reading.scroll.take().filter(|scroll| scroll.task == task) {
        Some(scroll) => (scroll.page, scroll.lines),
        None => (None, state.view.task(&task).map_or(0, |task| task.output.lines)),
    };
    reflow::ask_for_page(state, pane, wanted, pane.size().rows());
    let columns = reflow::columns(state, pane);
    state.reading.scroll =
        Some(Scroll { task, wanted, columns, page, lines, prompt: None, matches: Vec::new() });
    mark_matches(state);
}

/// Marks the search's matches on the current page.
pub(in crate::console) fn mark_matches(state: &mut State) {
    let Some(scroll) = &mut state.reading.scroll else { return };
    let search = state.reading.search.as_ref().filter(|search| search.task == scroll.task);
    let found = scroll.page.as_ref().zip(search);
    scroll.matches = found.map(|(page, search)| matches(page, &search.query.needle)).unwrap_or_default();
    if let Some((page, line)) = scroll.page.as_ref().zip(scroll.prompt) {
        scroll.matches.extend(row_of(page, line));
    }
}

pub(in crate::console) fn page(state: &mut State, task: TaskId, page: PageView) {
    if state.copying().is_some_and(|copying| copying.task == task)
        && copy::lengthen(state, page.anchor, &page)
    {
        return;
    }
    let is_better_live = is_better_live(state, &task, &page);
    match &mut state.reading.scroll {
        Some(scroll) if scroll.task == task && scroll.wanted == page.anchor => {
            // A program on the alternate screen leaves no lines behind, so its last screen stays.
            if scroll.page.is_none() && is_better_live {
                state.reading.scroll = None;
                return state.say("nothing above: the program had the whole screen");
            }
            scroll.page = Some(page);
            mark_matches(state);
        }
        _ if page.anchor == Anchor::Stamped => timestamps::take_stamped(state, task, page),
        // The last live picture is better than an empty log, or than the log of a program that used the
        // alternate screen.
        _ if page.anchor == Anchor::Tail && page.lines > 0 && !is_better_live => {
            state.view.pictures.insert(task, page.picture);
        }
        _ => {}
    }
}

fn is_better_live(state: &State, task: &TaskId, page: &PageView) -> bool {
    page.picture.is_blank() && state.view.pictures.get(task).is_some_and(|live| !live.is_blank())
}
