//! The timeline of the selected task or of all tasks: who did what, when, and how many bytes. Also the dialog
//! that shows the evidence for a task's state.

use ratatui::layout::Rect;

use crate::console::keys::{Action, KeyContext};
use crate::console::state::rulings::ruling;
use crate::console::state::{Layout, Term, actor_name, alias, cut_top, fact_words, needs, ports, short};
use crate::console::text;
use crate::console::text::{StyledPiece, column, count, grouped_amount, piece, right, visible, wrap_lines};
use crate::console::theme::Role;
use crate::console::widgets::{DIALOG_COLUMNS, Painter, command_rows, dialog, in_lane, role};
use crate::model::phrases::exit_word;
use crate::model::{HoldReason, StopView, TaskEnd, TaskEvent, TaskView, TreeChanges, UnendedProcesses};

pub(in crate::console) fn draw(painter: &mut Painter<'_>, layout: &Layout) {
    let state = painter.state;
    if layout.timeline.is_empty() {
        return;
    }
    let Some(task) = state.selected_task() else { return };
    let (head, body) = cut_top(layout.timeline, 1);
    let whose = state.list.filters.whose.as_ref().filter(|_| state.division.is_overall);
    let tasks =
        if state.division.is_overall { &state.view.snapshot.tasks[..] } else { std::slice::from_ref(task) };
    let tasks = || tasks.iter().filter(|task| whose.is_none_or(|whose| whose.holds(task)));
    let name = match whose {
        Some(whose) => format!("all of {}", visible::one_line(whose.name())),
        None if state.division.is_overall => "all tasks".to_owned(),
        None => alias(task),
    };
    let out = format!("{} bytes out", count(tasks().map(|task| task.output.bytes).sum()));
    let mut title = vec![piece("timeline", Role::Title), piece(format!("  {name}"), Role::Text)];
    let lease = painter.explanation(Term::Lease).filter(|_| state.has_lease_event());
    title.extend(lease.into_iter().flat_map(|line| [piece("  lease: ", Role::Faint), line]));
    let key = state.setup.keymap.key(state.view_context(), Action::Timeline).unwrap_or_default();
    let mut facts = vec![piece(out, Role::Faint)];
    facts.extend(state.division.is_overall.then(|| piece(format!("{key} this task"), Role::Faint)));
    painter.head(head, &title, &facts);
    let events = tasks().flat_map(|task| task.events.iter().map(move |event| (&**task, event)));
    let mut events: Vec<(&TaskView, &TaskEvent)> = events.collect();
    events.sort_by_key(|(_, event)| event.at);
    let skipped = events.len().saturating_sub(usize::from(body.height));
    let text = Rect { width: body.width.saturating_sub(1), ..body };
    painter.list(text, events.into_iter().skip(skipped), |painter, (task, event)| {
        (row(painter, task, event, body.width < 80), false)
    });
}

fn row(painter: &Painter<'_>, task: &TaskView, event: &TaskEvent, is_narrow: bool) -> Vec<StyledPiece> {
    let dots = painter.glyphs().cut;
    let role = role(&event.fact, Role::Text);
    let (what, note) = fact_words(&event.fact);
    let by = if is_narrow {
        column(&short(&event.actor, 6, dots), 7, dots)
    } else {
        column(&actor_name(&event.actor), 12, dots)
    };
    let bytes = event.fact.bytes().map(count).unwrap_or_default();
    let mut row = vec![piece(format!(" {}  ", painter.time(event.at)), Role::Faint)];
    row.extend(
        painter
            .state
            .division
            .is_overall
            .then(|| piece(column(&alias(task), painter.state.alias_columns(5), dots), Role::Text)),
    );
    row.extend([
        piece(column(&what, if is_narrow { 9 } else { 13 }, dots), role),
        piece(by, Role::Text),
        piece(format!("{}  ", right(&bytes, if is_narrow { 5 } else { 8 })), Role::Text),
        piece(visible::one_line(&note), Role::Faint),
    ]);
    row
}

const NAME: usize = 10;

const FACT: usize = DIALOG_COLUMNS as usize - 5 - NAME;

const COMMAND_ROWS: usize = 4;

const MOST_ADDRESSES: usize = 6;

pub(in crate::console) fn draw_why(painter: &mut Painter<'_>, task: &TaskView) {
    let mut rows = command_rows(painter, task, DIALOG_COLUMNS - 5, COMMAND_ROWS);
    rows.push(Vec::new());
    for (name, fact) in facts(painter, task) {
        let fact = wrap_lines(&[vec![piece(visible::one_line(&fact), Role::Text)]], FACT);
        let names = std::iter::once(name).chain(std::iter::repeat(""));
        let name = |name| piece(column(name, NAME, ""), Role::Faint);
        rows.extend(names.zip(fact).map(|(at, row)| [vec![name(at)], row].concat()));
    }
    let shown = painter.state(task);
    let title = format!("{} {} {}", alias(task), shown.glyph, shown.word);
    dialog(painter, &title, rows, KeyContext::Settled, &[(Action::Back, "close")]);
    painter.drawn.links.extend(task.listening.iter().filter_map(|listener| listener.url.clone()));
}

fn facts(painter: &mut Painter<'_>, task: &TaskView) -> Vec<(&'static str, String)> {
    let mut facts = vec![("started", start_fact(painter, task))];
    let mut add = |name, fact: Option<String>| facts.extend(fact.map(|fact| (name, fact)));
    let call = painter.state.view.snapshot.calls.iter().find(|call| call.seq == task.call);
    add("allowed", call.and_then(|call| ruling(&painter.state.view, call)));
    add("waits", task.held.as_ref().map(HoldReason::clause));
    add("queued", task.queued.as_ref().map(|wait| in_lane(painter.state, wait, true)));
    add(
        "waits",
        task.waiting.as_ref().map(|waiting| {
            let seen = waiting.evidence.clause();
            format!("{} since {}: {seen}", needs(waiting), painter.time(waiting.since))
        }),
    );
    for listener in task.listening.iter().take(MOST_ADDRESSES) {
        add("listens", Some(ports::listening(listener)));
    }
    let more = task.listening.len().saturating_sub(MOST_ADDRESSES);
    add("", (more > 0).then(|| format!("and on {more} more")));
    add(
        "turn",
        task.lease
            .as_ref()
            .map(|lease| format!("{} until {}", actor_name(&lease.holder), painter.time(lease.until))),
    );
    add("stop", task.stop.as_ref().map(|stop| stop_fact(painter, stop)));
    add("ceiling", task.ceiling.map(|hit| hit.to_string()));
    add("tree", task.changes.as_ref().map(|changes| changes_told(painter, changes)));
    add("memory", task.peak_memory.map(|peak| format!("at most {} together", text::size(peak))));
    let ended = task.ended.as_ref();
    add("ended", ended.map(|ended| end_fact(painter, ended)));
    add("port", ports::taken_port(painter.state, task));
    add("because", ended.and_then(|ended| ended.error.as_ref()).map(|(_, message)| message.clone()));
    let names = |names: &Vec<String>| (!names.is_empty()).then(|| names.join(" "));
    add("left over", ended.and_then(|ended| names(&ended.leftovers)));
    add("survived", ended.and_then(|ended| UnendedProcesses::phrase_for_operator(&ended.survivors)));
    let usual = painter.state.view.usual.of(task);
    add(
        "usually",
        usual.map(|usual| {
            format!("{}: the median of {} earlier runs that succeeded", text::millis(usual.ms), usual.runs)
        }),
    );
    add("output", Some(output(painter, task)));
    add("directory", Some(task.workdir.display().to_string()));
    add("process", Some(process_fact(task)));
    facts
}

fn stop_fact(painter: &Painter<'_>, stop: &StopView) -> String {
    let how = if stop.force { "KILL" } else { "TERM, then KILL" };
    let why = stop.why.as_deref().map(|why| format!("; {}", visible::one_line(why))).unwrap_or_default();
    format!("asked for by {} at {}: {how}{why}", actor_name(&stop.by), painter.time(stop.at))
}

fn end_fact(painter: &Painter<'_>, ended: &TaskEnd) -> String {
    let exit = exit_word(ended.exit_status, ended.signal.as_deref());
    let how = exit.map_or("no exit was seen".to_owned(), |exit| format!("{exit}, told by its task host"));
    let late = if ended.timed_out { "; its time was over" } else { "" };
    let by = ended.signalled_by.as_ref();
    let sent = by.map(|by| format!("; sent by {}", actor_name(by))).unwrap_or_default();
    format!("{}: {how}{sent}{late}", painter.time(ended.at))
}

fn process_fact(task: &TaskView) -> String {
    let pid = task.pid.map_or_else(String::new, |pid| format!(", pid {pid}"));
    let terminal = if task.tty {
        &format!("terminal of {}x{}", task.size.cols(), task.size.rows())
    } else if task.accepts_input {
        "pipes, takes input"
    } else if task.side_terminal {
        "pipes, a terminal for what is asked"
    } else {
        "pipes, no input"
    };
    format!("{terminal}, {}{pid}", task.shell)
}

/// Says what differs in the tree since a task began.
fn changes_told(painter: &Painter<'_>, changes: &TreeChanges) -> String {
    let mut parts = vec![format!("{changes} differs since it began")];
    if changes.total() == 0 {
        let known = if changes.is_unknown() { "not known what" } else { "nothing" };
        parts = vec![format!("{known} differs since it began")];
    }
    parts.extend(painter.state.together(&changes.together));
    parts.extend(changes.undone.then(|| "undone since".to_owned()));
    parts.extend((changes.by_git > 0).then(|| format!("by git: {}", count(changes.by_git))));
    parts.extend(painter.state.shared_with(&changes.shared_with));
    parts.extend(changes.incomplete.as_ref().map(|why| visible::one_line(why).into_owned()));
    parts.join("; ")
}

fn start_fact(painter: &Painter<'_>, task: &TaskView) -> String {
    let why = task.description.as_deref().map(|why| format!(": {why}")).unwrap_or_default();
    let at = task.started_at.map_or_else(|| "not yet".to_owned(), |at| painter.time(at));
    let from = task.from_task.as_ref().map(|from| format!(" in {from}")).unwrap_or_default();
    let call = painter.state.call_name(task.call);
    format!("{at}, call {call} of {}{from}{why}", actor_name(&task.started_by))
}

fn output(painter: &Painter<'_>, task: &TaskView) -> String {
    let output = &task.output;
    let last = output.last_at.map(|at| format!(", the last at {}", painter.time(at))).unwrap_or_default();
    let dropped = match output.dropped_bytes {
        0 => String::new(),
        bytes => format!(", {} dropped (log limit)", text::size(bytes)),
    };
    let (bytes, lines) = (grouped_amount(output.bytes, "byte"), grouped_amount(output.line_count(), "line"));
    format!("{bytes} in {lines}{last}{dropped}")
}
