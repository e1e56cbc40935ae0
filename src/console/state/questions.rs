//! How questions are named.

use crate::console::state::{agents, names};
use crate::console::text::visible;
use crate::model::{Question, QuestionKind};

/// Returns the title of a question: its kind and name.
pub fn title(question: &Question) -> String {
    let name = question.origin.name.as_deref().map(visible::one_line);
    let name = name.map(|name| format!(" {name}")).unwrap_or_default();
    let what = match &question.kind {
        QuestionKind::AgentPrompt(_) => {
            return format!("{}  {} asks:{name}", alias(question), asker(question));
        }
        QuestionKind::Gate { .. } => "gate",
        QuestionKind::YesNo { .. } => "yes or no",
        QuestionKind::Choice { .. } => "choice",
        QuestionKind::Text { masked: true } => "secret",
        QuestionKind::Text { masked: false } => "answer",
        QuestionKind::InFlight => "run it again?",
        QuestionKind::Command => "run this command?",
    };
    format!("{}  {what}{name}", alias(question))
}

/// Returns its text on one line; of an agent's prompt, what it asks about without the rest of the call.
pub fn in_brief(question: &Question) -> String {
    let text = question.text.trim();
    let call = text.split("\n\n").next().filter(|_| !question.is_of_program());
    visible::told(call.unwrap_or(text))
}

/// Returns the name of whoever asks.
pub fn asker(question: &Question) -> String {
    agents::owner(&question.asked_by)
        .map_or_else(|| "a script".to_owned(), |label| visible::one_line(&label).into_owned())
}

/// Returns the short name of a question: `q03`.
pub fn alias(question: &Question) -> String {
    names::at_place(question.place.as_deref(), format!("q{:02}", question.number))
}
