//! Words for actors, tasks and what happened to them, the same wherever they are shown.

use jiff::Timestamp;

use crate::console::state::agents::short_name;
use crate::console::state::titles::title;
use crate::console::text::{StyledPiece, piece, visible};
use crate::console::theme::Role;
use crate::envelope::Actor;
use crate::model::{InputWait, TaskFact, TaskView};

/// Width of an agent's name in these texts, in columns.
const MOST_OF_AGENT: usize = 10;

/// Returns when a task last showed activity: its last output, its start or its end.
pub(crate) fn last_sign(task: &TaskView) -> Timestamp {
    ended_at(task).or(task.output.last_at).or(task.started_at).unwrap_or(task.created_at)
}

/// Returns the same in at most this many columns: an agent by the first word of its name, `claude`.
pub(crate) fn short(actor: &Actor, most: usize, dots: &str) -> String {
    short_name(&actor_name(actor), most, dots)
}

/// Returns the name of an actor from the user's point of view.
pub(crate) fn actor_name(actor: &Actor) -> String {
    match actor {
        Actor::Agent(label) => visible::one_line(label).into_owned(),
        Actor::Cli => "cli".to_owned(),
        Actor::Operator => "you".to_owned(),
        Actor::System => "pilothouse".to_owned(),
    }
}

/// Returns a task's command on one line, preceded by its position in its batch and its name, if it has them.
pub(crate) fn command(task: &TaskView) -> Vec<StyledPiece> {
    placed_command(task, "batch ")
}

/// Returns the same for use where there is little room.
pub(crate) fn short_command(task: &TaskView) -> Vec<StyledPiece> {
    placed_command(task, "")
}

fn placed_command(task: &TaskView, word: &str) -> Vec<StyledPiece> {
    let place = task.item.map(|item| piece(format!("{word}{}/{}  ", item.index, item.count), Role::Faint));
    let cmd = piece(visible::masked_line(own_title(task).unwrap_or_else(|| title(task))), Role::Text);
    let named = match &task.name {
        Some(name) => vec![piece(format!("{}  ", visible::masked_line(name)), Role::Strong), faint(cmd)],
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
    why.map(|why| piece(visible::masked_line(why), Role::Faint)).into_iter().collect()
}

fn faint(part: StyledPiece) -> StyledPiece {
    StyledPiece { role: Role::Faint, ..part }
}

pub(in crate::console) fn ended_at(task: &TaskView) -> Option<Timestamp> {
    task.ended.as_ref().map(|ended| ended.at)
}

/// Returns what a waiting task needs.
pub(crate) fn needs(waiting: &InputWait) -> String {
    visible::one_line(&waiting.clause("")).into_owned()
}

/// Returns the same with the agent: `sudo of claude asks for a password`.
pub(crate) fn wants(task: &TaskView, waiting: &InputWait) -> String {
    let of = format!(" of {}", short(&task.started_by, MOST_OF_AGENT, ""));
    visible::one_line(&waiting.clause(&of)).into_owned()
}

/// Returns the word for an event of a task, and its details, as shown on screen; the record uses its own.
pub(crate) fn fact_words(fact: &TaskFact) -> (String, String) {
    let word = fact.word().replace('_', " ");
    match fact {
        TaskFact::Promoted { kept: false } => ("moved".to_owned(), "to background".to_owned()),
        TaskFact::Promoted { kept: true } => {
            ("moved".to_owned(), "to background, for the processes it left".to_owned())
        }
        TaskFact::Waiting(waiting) => {
            let needs = needs(waiting);
            let needs = needs.trim_start_matches("waiting ");
            (word, format!("{needs}, {}", waiting.evidence.word()))
        }
        TaskFact::Refused(reason) => (word, reason.clause().to_owned()),
        TaskFact::InputLost(lost) => (word, lost.clause()),
        other => (word, other.note().into_owned()),
    }
}

/// Says that there is nothing more in the direction of a key that pans.
pub(in crate::console) fn edge(by: i16) -> &'static str {
    if by < 0 { "this is where the lines begin" } else { "the lines end here" }
}
