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

/// The most bytes of a text that are read for a line of a list: a text may have half a megabyte, and each frame reads all.
const MOST_BRIEF: usize = 4_096;

/// Returns the beginning of its text on one line; of an agent's prompt, what it asks about without the rest of the call.
pub fn in_brief(question: &Question) -> String {
    let text = question.text.trim();
    let call = text.split("\n\n").next().filter(|_| !question.is_of_program()).unwrap_or(text);
    brief(call)
}

fn brief(text: &str) -> String {
    visible::masked_line(&text[..text.floor_char_boundary(MOST_BRIEF)])
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_a_long_text_is_its_beginning_and_what_is_secret_stays_so() {
        let long = format!("touch x; : {}", "wörd ".repeat(80_000));
        let line = brief(&long);
        assert!(line.starts_with("touch x; : wörd wörd ") && line.len() <= MOST_BRIEF, "{}", line.len());
        for secret in ["PRIVATE_KEY='", "deploy --token=", "curl -H 'Authorization: Bearer "] {
            let line = brief(&format!("{secret}{} end", "k".repeat(400_000)));
            assert!(!line.contains("kkk") && line.contains("[masked]"), "{line:.80}");
        }
    }
}
