//! What can be permitted beyond a single prompt of an agent: on its card, and how it ends. Pure.

use std::sync::Arc;

use crate::console::effect::Effect;
use crate::console::state::Obstacle;
use crate::console::text::visible;
use crate::link::Act;
use crate::model::{
    AgentPrompt, PlaceState, PromptPermission, Question, QuestionKind, Snapshot, Subject, alike_in_words,
};

/// What is said of a key that answers a prompt which only its agent can answer.
pub(super) const ANSWERED_THERE: &str = "this agent takes the answer only in its own window";

/// Checks whether more than the one call can be permitted with an answer.
pub(in crate::console) fn can_permit(question: &Question) -> Result<(), Obstacle> {
    match &question.kind {
        QuestionKind::AgentPrompt(prompt) if prompt.rule.is_some() => {
            Err(Obstacle::Missing("an approval rule holds this call: it is asked about each time"))
        }
        QuestionKind::AgentPrompt(prompt) if prompt.is_shown_only => Err(Obstacle::Missing(ANSWERED_THERE)),
        QuestionKind::AgentPrompt(_) => Ok(()),
        _ => Err(Obstacle::Missing("only more of an agent's own prompts can be allowed")),
    }
}

/// Returns what a card says of calls like that of a prompt: how they were answered, and which they are.
pub(super) fn lines(prompt: &AgentPrompt) -> Vec<String> {
    let mut lines = Vec::new();
    let counts = [(prompt.before.allowed, "allowed"), (prompt.before.refused, "refused")];
    let counts: Vec<String> = counts.into_iter().filter(|(count, _)| *count > 0).map(count_phrase).collect();
    if !counts.is_empty() {
        lines.push(format!("like it: {} in this session", counts.join(", ")));
    }
    lines.push(match &prompt.rule {
        Some(rule) => format!("an approval rule asks about it as well: {rule}; y answers both, once"),
        None => format!("alike: {}, in this directory", alike_in_words(&prompt.alike)),
    });
    lines
}

fn count_phrase((count, how): (u32, &str)) -> String {
    match count {
        1 => format!("{how} once"),
        2 => format!("{how} twice"),
        many => format!("{how} {many} times"),
    }
}

/// Returns what ends all that is permitted, wherever it is, and what to say of it.
pub(in crate::console) fn ends(snapshot: &Snapshot) -> (Vec<Effect>, String) {
    let told: Vec<String> = snapshot.permissions.iter().map(describe).collect();
    let request = || Act::EndPermissions.on(Subject::Runtime);
    let has_some = |place: &&Arc<PlaceState>| !place.snapshot.permissions.is_empty();
    let places = snapshot.places.iter().filter(has_some);
    let mut effects: Vec<Effect> =
        places.map(|place| Effect::AskAt(place.name.id.clone(), request())).collect();
    if snapshot.places.is_empty() {
        effects.push(Effect::Ask(request()));
    }
    (effects, format!("asked about again: {}", told.join("; ")))
}

/// Returns a permission in words: whose it is, and what it permits.
pub(in crate::console) fn describe(permission: &PromptPermission) -> String {
    visible::one_line(&format!("{}, {}", permission.agent, permission.describe())).into_owned()
}
