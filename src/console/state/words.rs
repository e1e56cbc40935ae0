//! Words for actors, tasks and what happened to them, the same wherever they are shown.

use jiff::Timestamp;

use crate::console::state::agents::short_name;
use crate::console::state::titles::title;
use crate::console::text::{StyledPiece, piece, visible};
use crate::console::theme::Role;
use crate::envelope::{Actor, ErrorKind};
use crate::model::{InputEvidence, InputNeed, InputWait, TaskEnd, TaskFact, TaskView};

/// Width of an agent's name in these texts, in columns.
const MOST_OF_AGENT: usize = 10;

/// Returns when a task last showed activity: its last output, its start or its end.
pub(crate) fn last_sign(task: &TaskView) -> Timestamp {
    ended_at(task).or(task.output.last_at).or(task.started_at).unwrap_or(task.created_at)
}

/// Returns the same in at most this many columns: an agent by the first word of its name, `claude`.
pub(crate) fn short(actor: &Actor, most: usize, dots: &str) -> String {
    short_name(&who(actor), most, dots)
}

/// Returns the name of an actor from the user's point of view.
pub(crate) fn who(actor: &Actor) -> String {
    match actor {
        Actor::Agent(label) => visible::one_line(label).into_owned(),
        Actor::Cli => "cli".to_owned(),
        Actor::Operator => "you".to_owned(),
        Actor::System => "pilothouse".to_owned(),
    }
}

/// Returns a task's command on one line, preceded by its position in its batch and its name, if it has them.
pub(crate) fn command(task: &TaskView) -> Vec<StyledPiece> {
    placed(task, "batch ")
}

/// Returns the same for use where there is little room.
pub(crate) fn short_command(task: &TaskView) -> Vec<StyledPiece> {
    placed(task, "")
}

fn placed(task: &TaskView, word: &str) -> Vec<StyledPiece> {
    let place = task.item.map(|item| piece(format!("{word}{}/{}  ", item.index, item.count), Role::Faint));
    let cmd = piece(visible::told(own_title(task).unwrap_or_else(|| title(task))), Role::Text);
    let named = match &task.name {
        Some(name) => vec![piece(format!("{}  ", visible::told(name)), Role::Strong), faint(cmd)],
        None => vec![cmd],
    };
    place.into_iter().chain(named).collect()
}

/// Returns what a script of this console's own does, in place of its lines. Only your own tasks are told by their
/// description: what an agent says of its command never stands for the command.
fn own_title(task: &TaskView) -> Option<&str> {
    let is_script = task.started_by == Actor::Operator && task.cmd.trim().contains('\n');
    task.description.as_deref().map(str::trim).filter(|what| is_script && !what.is_empty())
}

/// Returns the description of a task, as given by its initiator.
pub(crate) fn why(task: &TaskView) -> Vec<StyledPiece> {
    let why = task.description.as_deref().map(str::trim).filter(|why| !why.is_empty());
    let why = why.filter(|_| own_title(task).is_none());
    why.map(|why| piece(visible::told(why), Role::Faint)).into_iter().collect()
}

fn faint(part: StyledPiece) -> StyledPiece {
    StyledPiece { role: Role::Faint, ..part }
}

pub(in crate::console) fn ended_at(task: &TaskView) -> Option<Timestamp> {
    task.ended.as_ref().map(|ended| ended.at)
}

/// Returns the words in which the operator denied a task, if they did; empty if there were none.
pub(crate) fn denial(task: &TaskView) -> Option<&str> {
    task.events.iter().rev().find_map(|event| match &event.fact {
        TaskFact::Denied(note) => Some(note.as_str()),
        _ => None,
    })
}

/// Says that something was denied, and in which words.
pub(crate) fn denied(note: &str) -> String {
    match note.trim() {
        "" => "denied".to_owned(),
        note => format!("denied: {}", visible::told(note)),
    }
}

/// Describes in a word or two how a task ended.
pub(crate) fn how(ended: Option<&TaskEnd>) -> String {
    let Some(ended) = ended else { return "ended".to_owned() };
    match (&ended.signal, ended.exit_status) {
        _ if ended.timed_out => "timed out".to_owned(),
        (Some(signal), _) => visible::one_line(signal).into_owned(),
        (None, Some(status)) => format!("exit {status}"),
        (None, None) => match &ended.error {
            Some((kind, _)) if kind == ErrorKind::StartUnknown.as_str() => "unknown".to_owned(),
            Some((kind, _)) if kind == ErrorKind::InternalError.as_str() => "lost".to_owned(),
            _ => "not started".to_owned(),
        },
    }
}

/// Returns what a waiting task needs, in plain words.
pub(crate) fn need(need: InputNeed) -> &'static str {
    match need {
        InputNeed::Key => "waiting for a key",
        InputNeed::Secret => "waiting for password",
        InputNeed::Line => "waiting for input",
        InputNeed::Stopped => "stopped",
    }
}

/// Returns the same, with the program that asks if it does so at a terminal beside the command's streams.
pub(crate) fn needs(waiting: &InputWait) -> String {
    asked(waiting, "").unwrap_or_else(|| need(waiting.kind).to_owned())
}

/// Returns the same with the agent: `sudo of claude asks for a password`.
pub(crate) fn wants(task: &TaskView, waiting: &InputWait) -> String {
    let of = format!(" of {}", short(&task.started_by, MOST_OF_AGENT, ""));
    asked(waiting, &of).unwrap_or_else(|| needs(waiting))
}

fn asked(waiting: &InputWait, of: &str) -> Option<String> {
    let program = visible::one_line(waiting.program.as_deref()?);
    let what = match waiting.kind {
        InputNeed::Key => "asks for a key",
        InputNeed::Secret => "asks for a password",
        InputNeed::Line => "asks for input",
        InputNeed::Stopped if waiting.evidence == InputEvidence::OutOfTurn => {
            "waits for its turn at the terminal"
        }
        InputNeed::Stopped => "is stopped",
    };
    Some(format!("{program}{of} {what}"))
}

/// Returns the word for an event of a task, and its details, as shown on screen; the record uses its own.
pub(crate) fn told(fact: &TaskFact) -> (String, String) {
    let word = fact.word().replace('_', " ");
    match fact {
        TaskFact::Promoted { kept: false } => ("moved".to_owned(), "to background".to_owned()),
        TaskFact::Promoted { kept: true } => {
            ("moved".to_owned(), "to background, for the processes it left".to_owned())
        }
        TaskFact::Waiting(waiting) => {
            let needs = needs(waiting);
            let needs = needs.trim_start_matches("waiting ");
            (word, format!("{needs}, {}", evidence(waiting.evidence)))
        }
        TaskFact::Refused(reason) => (word, reason.as_str().replace('_', " ")),
        other => (word, other.note().into_owned()),
    }
}

/// Says that there is nothing more in the direction of a key that pans.
pub(in crate::console) fn edge(by: i16) -> &'static str {
    if by < 0 { "this is where the lines begin" } else { "the lines end here" }
}

/// Describes the evidence for it.
pub(crate) fn evidence(evidence: InputEvidence) -> &'static str {
    match evidence {
        InputEvidence::TtyRead => "reading the terminal",
        InputEvidence::TtyPoll => "polling the terminal",
        InputEvidence::EchoOff => "hidden input",
        InputEvidence::Quiet => "only idle",
        InputEvidence::Halted => "until SIGCONT",
        InputEvidence::OutOfTurn => "another process group has it",
    }
}
