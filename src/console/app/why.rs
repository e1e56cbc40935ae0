//! What is known of a task's state, and from where: the evidence behind the word.

use crate::facts::InputEvidence;
use crate::runtime::{HoldReason, TaskView};

use super::alias;
use super::dialog::{DIALOG_COLUMNS, command_rows, dialog};
use super::painter::Painter;
use super::task_words::{need, who};
use crate::console::keys::{Action, Context};
use crate::console::text::{self, column, count, piece, visible, wrapped};
use crate::console::theme::Role;

const NAME: usize = 10;
const FACT: usize = DIALOG_COLUMNS as usize - 5 - NAME;
const COMMAND_ROWS: usize = 4;

pub(super) fn draw(painter: &mut Painter<'_>, task: &TaskView) {
    let mut rows = command_rows(painter, task, DIALOG_COLUMNS - 5, COMMAND_ROWS);
    rows.push(Vec::new());
    for (name, fact) in facts(painter, task) {
        let fact = wrapped(&[vec![piece(visible::one_line(&fact), Role::Text)]], FACT);
        let names = std::iter::once(name).chain(std::iter::repeat(""));
        let name = |name| piece(column(name, NAME, ""), Role::Faint);
        rows.extend(names.zip(fact).map(|(at, row)| [vec![name(at)], row].concat()));
    }
    rows.push(Vec::new());
    rows.push(painter.keys(Context::Help, &[(Action::Back, "close")]));
    let shown = painter.state(task);
    dialog(painter, &format!("{} {} {}", alias(task), shown.glyph, shown.word), rows);
}

fn facts(painter: &mut Painter<'_>, task: &TaskView) -> Vec<(&'static str, String)> {
    let mut facts = vec![("started", started(painter, task))];
    let mut add = |name, fact: Option<String>| facts.extend(fact.map(|fact| (name, fact)));
    add(
        "held",
        task.held.as_ref().map(|reason| match reason {
            HoldReason::Paused => "agent calls are paused; nothing of it has started".to_owned(),
            HoldReason::Rule(rule) => format!("by the rule: {rule}"),
        }),
    );
    add(
        "waits",
        task.waiting.as_ref().map(|waiting| {
            let seen = match waiting.evidence {
                InputEvidence::TtyRead => "the kernel shows it reading its terminal",
                InputEvidence::EchoOff => "its terminal has echo off",
                InputEvidence::Quiet => "only that it is quiet: weak",
            };
            format!("{} since {}: {seen}", need(waiting.kind), painter.time(waiting.since))
        }),
    );
    add(
        "input",
        task.lease
            .as_ref()
            .map(|lease| format!("held by {} until {}", who(&lease.holder), painter.time(lease.until))),
    );
    add(
        "stop",
        task.stop.as_ref().map(|stop| {
            let how = if stop.force { "KILL" } else { "TERM, then KILL" };
            let why =
                stop.why.as_deref().map(|why| format!("; {}", visible::one_line(why))).unwrap_or_default();
            format!("asked for by {} at {}: {how}{why}", who(&stop.by), painter.time(stop.at))
        }),
    );
    add(
        "ended",
        task.ended.as_ref().map(|ended| {
            let how = match (ended.exit_status, &ended.signal) {
                (Some(status), _) => format!("exit {status}, told by its task host"),
                (None, Some(signal)) => format!("{signal}, told by its task host"),
                (None, None) => "no exit was seen".to_owned(),
            };
            let late = if ended.timed_out { "; its time was over" } else { "" };
            let sent =
                ended.signalled_by.as_ref().map(|by| format!("; sent by {}", who(by))).unwrap_or_default();
            format!("{}: {how}{sent}{late}", painter.time(ended.at))
        }),
    );
    let ended = task.ended.as_ref();
    add("because", ended.and_then(|ended| ended.error.as_ref()).map(|(_, message)| message.clone()));
    let names = |names: &Vec<String>| (!names.is_empty()).then(|| names.join(" "));
    add("left over", ended.and_then(|ended| names(&ended.leftovers)));
    add("survived", ended.and_then(|ended| names(&ended.survivors)));
    add("output", Some(output(painter, task)));
    add("place", Some(task.workdir.display().to_string()));
    let pid = task.pid.map_or_else(String::new, |pid| format!(", pid {pid}"));
    let terminal = if task.tty {
        format!("terminal of {}x{}", task.size.cols(), task.size.rows())
    } else if task.accepts_input {
        "pipes, takes input".to_owned()
    } else {
        "pipes, no input".to_owned()
    };
    add("process", Some(format!("{terminal}, {}{pid}", task.shell)));
    facts
}

fn started(painter: &Painter<'_>, task: &TaskView) -> String {
    let why = task.description.as_deref().map(|why| format!(": {why}")).unwrap_or_default();
    let at = task.started_at.map_or_else(|| "not yet".to_owned(), |at| painter.time(at));
    let from = task.from_task.as_ref().map(|from| format!(" in {from}")).unwrap_or_default();
    format!("{at}, call {} of {}{from}{why}", task.call, who(&task.started_by))
}

fn output(painter: &Painter<'_>, task: &TaskView) -> String {
    let output = &task.output;
    let last = output.last_at.map(|at| format!(", the last at {}", painter.time(at))).unwrap_or_default();
    let dropped = match output.dropped_bytes {
        0 => String::new(),
        bytes => format!(", {} not kept", text::bytes(bytes)),
    };
    format!("{} bytes in {} lines{last}{dropped}", count(output.bytes), count(output.lines))
}
