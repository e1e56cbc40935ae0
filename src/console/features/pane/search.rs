//! Searching a task's log: backwards from the current page, then from match to match; and jumping from prompt
//! to prompt where the shell marks its prompts (OSC 133).

use crate::console::effect::Effect;
use crate::console::features::pane::{copy, log};
use crate::console::state::{Anchor, LogSearch, Mode, Prompt, SearchOutcome, SearchQuery, State};
use crate::envelope::TaskId;

/// Jumps to the prompt before the current position, or to the next one.
pub(in crate::console) fn go_to_prompt(state: &mut State, forward: bool) {
    let Some(task) = state.at_hand().cloned() else { return };
    let scroll = state.reading.scroll.as_ref().filter(|scroll| scroll.task == task.id);
    let here = match scroll {
        Some(scroll) => scroll.prompt.or_else(|| scroll.page.as_ref().map(|page| page.first_line)),
        None if forward => {
            state.say("the end is shown already");
            return;
        }
        None => None,
    };
    match here {
        Some(line) => find_prompt(state, task.id.clone(), line, forward),
        // At the end is the prompt waiting for the next command; the one before it is wanted.
        None => state.effects.push(Effect::Prompt { task: task.id.clone(), from: None, forward: false }),
    }
}

/// Does the same in copy mode, from the cursor's row.
pub(in crate::console) fn copy_to_prompt(state: &mut State, forward: bool) {
    let Mode::Copy(copying) = &state.focus.mode else { return };
    let Some(line) = copying.lines.get(usize::from(copying.at.0)).copied() else {
        state.say("this picture has no lines to go by");
        return;
    };
    let task = copying.task.clone();
    find_prompt(state, task, line, forward)
}

fn find_prompt(state: &mut State, task: TaskId, line: u64, forward: bool) {
    let from = if forward { line.checked_add(1) } else { line.checked_sub(1) };
    match from {
        Some(_) => state.effects.push(Effect::Prompt { task, from, forward }),
        None => say_no_prompt(state, forward),
    }
}

/// Shows the prompt that was found.
pub(in crate::console) fn show_prompt(state: &mut State, task: TaskId, line: Option<u64>, forward: bool) {
    let Some(line) = line else { return say_no_prompt(state, forward) };
    let rows = state.layout().pane(&task).map_or(1, |pane| pane.cells.height);
    if let Mode::Copy(copying) = &mut state.focus.mode {
        if copying.task != task {
            return;
        }
        if let Some(row) = copying.row_of(line) {
            copying.go((row, 0), rows);
            return;
        }
        if copying.anchor.is_some() {
            state.say("that prompt is further away than can be selected at once");
            return;
        }
        return copy::copy_from(state, Anchor::Top(line));
    }
    if state.at_hand().is_none_or(|shown| shown.id != task) {
        return;
    }
    // Only the code that reads the log knows whether a full page follows; the length known here lags
    // behind.
    let anchor = Anchor::Top(line);
    log::show_page(state, task, anchor);
    if let Some(scroll) = state.reading.scroll.as_mut().filter(|scroll| scroll.wanted == anchor) {
        scroll.prompt = Some(line);
    }
    log::mark_matches(state);
}

fn say_no_prompt(state: &mut State, forward: bool) {
    let text = if forward {
        "no later prompt that the shell has marked"
    } else {
        "no earlier prompt that the shell has marked (OSC 133)"
    };
    state.say(text);
}

/// Opens the input line for searching a task's output; the task stays current.
pub(in crate::console) fn open_search(state: &mut State, task: TaskId) {
    state.take_up(task.clone());
    let page =
        state.reading.scroll.as_ref().filter(|scroll| scroll.task == task).and_then(|s| s.page.as_ref());
    state.reading.search_from = page.map_or(SearchQuery::END, |page| page.next_line.saturating_sub(1));
    state.write(Prompt::Search(task));
}

/// Searches for the typed text, backwards from the last line shown.
pub(in crate::console) fn find(state: &mut State, task: TaskId) {
    let needle = state.take_written();
    if state.view.task(&task).is_none() || needle.is_empty() {
        return;
    }
    // The incremental search has already run this query.
    if state
        .reading
        .search
        .as_ref()
        .is_some_and(|search| search.task == task && search.query.needle == needle)
    {
        return;
    }
    let from = state.reading.search_from;
    ask(state, task, SearchQuery { needle, from, forward: false }, None)
}

/// Searches incrementally as the text is typed, from where the search began; a long log is only searched
/// on request.
pub(in crate::console) fn find_as_written(state: &mut State) {
    const MOST: u64 = 4 << 20;
    let Mode::Write(Prompt::Search(task), editor) = &state.focus.mode else { return };
    let (task, needle) = (task.clone(), editor.value().to_owned());
    if needle.is_empty() || state.view.task(&task).is_none_or(|task| task.output.bytes > MOST) {
        return;
    }
    let from = state.reading.search_from;
    ask(state, task, SearchQuery { needle, from, forward: false }, None);
}

/// Continues the search from the current match.
pub(in crate::console) fn find_next(state: &mut State, forward: bool) {
    let Some(search) = &state.reading.search else { return };
    let Some(line) = search.line() else { return };
    let from = if forward { line.checked_add(1) } else { line.checked_sub(1) };
    let (task, query) = (search.task.clone(), search.query.clone());
    match from {
        Some(from) => ask(state, task, SearchQuery { from, forward, ..query }, Some(line)),
        None => {
            let query = SearchQuery { forward, ..query };
            state.reading.search = Some(LogSearch {
                task,
                query,
                last: None,
                outcome: SearchOutcome::Nowhere(Some(line)),
                counted: None,
            });
        }
    }
}

fn ask(state: &mut State, task: TaskId, query: SearchQuery, last: Option<u64>) {
    let effect = Effect::Search(task.clone(), query.clone());
    state.reading.search =
        Some(LogSearch { task, query, last, outcome: SearchOutcome::Asked, counted: None });
    state.effects.push(effect);
}

/// Shows the result of a search, if it is still wanted.
pub(in crate::console) fn found(
    state: &mut State,
    task: TaskId,
    query: &SearchQuery,
    line: Option<u64>,
    counted: Option<(u64, u64)>,
) {
    let Some(search) = state.reading.search.as_mut().filter(|s| s.task == task && s.query == *query) else {
        return;
    };
    let Some(line) = line else {
        search.outcome = SearchOutcome::Nowhere(search.last);
        return;
    };
    search.outcome = SearchOutcome::At(line);
    search.counted = counted;
    go_to_line(state, task, line)
}

fn go_to_line(state: &mut State, task: TaskId, line: u64) {
    let is_shown = state.reading.scroll.as_ref().and_then(|scroll| scroll.page.as_ref());
    if is_shown.is_some_and(|page| page.rows.contains(&line)) {
        log::mark_matches(state);
        return;
    }
    log::show_page(state, task, Anchor::Around(line))
}
