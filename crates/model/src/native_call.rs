//! What an agent's hook says of a command that the agent ran in its own shell, and which command that is. Pure.

use serde::{Deserialize, Serialize};

use pilothouse_envelope::{Actor, TaskId, one_line};

/// The most characters of an agent's word for its mode, and of its reason.
const WORD_CHARS: usize = 20;
const REASON_CHARS: usize = 500;

/// The most characters of what a model was given of one command that are kept.
const MOST_GIVEN: usize = 160_000;

/// The text that a program gave its model of a command, as it reports it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelText {
    pub text: String,
    /// What is known of it.
    #[serde(flatten)]
    pub facts: ModelTextFacts,
}

/// What is known of a text that a model was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ModelTextFacts {
    /// Whether the model read it as a failure.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_failure: bool,
    /// Whether the program says that it cut it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_cut: bool,
    /// How many characters at its end were too many to be kept here.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub left_out: u64,
    /// Whether it is the very text, and not what it was made from.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_exact: bool,
}

impl ModelText {
    /// Returns what of a text is kept.
    #[must_use]
    pub fn of(mut text: String, facts: ModelTextFacts) -> Self {
        let kept = text.char_indices().nth(MOST_GIVEN).map_or(text.len(), |(at, _)| at);
        let left_out = text.get(kept..).map_or(0, |rest| rest.chars().count() as u64);
        text.truncate(kept);
        Self { text, facts: ModelTextFacts { left_out, ..facts } }
    }
}

fn is_nothing(count: &u64) -> bool {
    *count == 0
}

/// What a hook says of a command of the agent's own shell, beside the text that its model was given, which is the call's
/// receipt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NativeCall {
    /// The agent's own name for the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What is known of the text.
    #[serde(flatten)]
    pub facts: ModelTextFacts,
    /// Who let it run, or did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ruling: Option<CallRuling>,
}

/// Tells whether an agent's own name for a call is one that it gives to the calls of a script which its model wrote: Codex
/// (0.171) names them `exec-…`, pi (1.6) `call_0_0/1`.
#[must_use]
pub fn is_of_script(id: &str) -> bool {
    id.starts_with("exec-") || id.contains('/')
}

impl NativeCall {
    /// Tells whether a script that the model wrote made the call, and was given what the command wrote.
    #[must_use]
    pub fn is_of_script(&self) -> bool {
        self.id.as_deref().is_some_and(is_of_script)
    }
}

/// Who let a call of an agent's own tools be made, or did not, as its hook says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallRuling {
    /// The person, at a console.
    AtConsole,
    /// The person, in the agent.
    InAgent,
    /// Nobody was asked: by the agent's own rules, or its mode, in its own word.
    Unasked(String),
    /// Nobody was asked, and the agent refused it.
    Refused {
        /// The agent's mode, in its own word.
        mode: String,
        /// Why, in its own words.
        reason: String,
    },
}

impl NativeCall {
    /// Returns what is kept of a text and of what is said of it.
    pub fn of(id: Option<&str>, given: &ModelText, ruling: Option<CallRuling>) -> Self {
        Self { id: id.map(str::to_owned), facts: given.facts, ruling }
    }

    /// Returns what is known after a further report of the same call, and whether the text of that is the one to keep. Reports
    /// come in any order.
    pub fn then(before: Option<Self>, next: Self) -> (Self, bool) {
        let Some(before) = before else { return (next, true) };
        let is_failure = before.facts.is_failure || next.facts.is_failure;
        let (kept, other, is_next) = match before.facts.is_exact && !next.facts.is_exact {
            true => (before, next, false),
            false => (next, before, true),
        };
        let facts = ModelTextFacts { is_failure, ..kept.facts };
        (Self { facts, ruling: kept.ruling.or(other.ruling), ..kept }, is_next)
    }

    /// Returns what is known of a call that its agent refused.
    pub fn from_refusal(mode: &str, reason: &str) -> Self {
        let (mode, reason) = (one_line(mode, WORD_CHARS), one_line(reason, REASON_CHARS));
        let ruling = Some(CallRuling::Refused { mode, reason });
        let facts = ModelTextFacts { is_failure: true, is_exact: true, ..ModelTextFacts::default() };
        Self { id: None, facts, ruling }
    }
}

impl CallRuling {
    /// Returns that nobody was asked, by the mode that an agent names.
    pub fn from_mode(mode: &str) -> Self {
        Self::Unasked(one_line(mode, WORD_CHARS))
    }
}

/// What is known of the call that a hook tells of.
#[derive(Debug, Clone)]
pub struct SoughtCall {
    /// The agent.
    pub actor: Actor,
    /// The session, as the agent names it; none for a subagent's, which may have another name for the shell.
    pub session: Option<String>,
    /// The agent's own name for the call.
    pub id: Option<String>,
    /// The command as it is recorded.
    pub cmd: String,
}

/// A call that a hook may tell of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NativeCandidate {
    /// The call.
    pub seq: u64,
    /// Its task, once the call is over.
    pub task: Option<TaskId>,
}

/// Tells how well a text that a model was given fits what a command wrote: whether one begins and ends as the other. An agent
/// may put a line of its own before it, and after it.
pub fn fitness(given: &str, written: &str) -> usize {
    const OWN_LINES: usize = 4;
    let (given, written) = (lines(given), lines(written));
    if given.is_empty() || written.is_empty() {
        return usize::from(given.len() == written.len()) * 2;
    }
    let begins = given.iter().take(OWN_LINES).any(|line| Some(line) == written.first());
    let ends = given.iter().rev().take(OWN_LINES).any(|line| Some(line) == written.last());
    usize::from(begins) + usize::from(ends)
}

/// Returns the lines that are not blank.
fn lines(text: &str) -> Vec<&str> {
    text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calls::SHELL_CALL;
    use crate::phrases::receipt_reader;

    #[test]
    fn what_a_script_was_given_is_not_said_to_be_read_by_the_model() {
        let named =
            |id: &str| NativeCall { id: Some(id.to_owned()), facts: ModelTextFacts::default(), ruling: None };
        for (id, reader) in [
            ("exec-1b2c", "given to the model's script"),
            ("call_0_0/1", "given to the model's script"),
            ("call_7Yx", "what the model read"),
            ("toolu_01A", "what the model read"),
        ] {
            assert_eq!(receipt_reader(SHELL_CALL, Some(&named(id))), reader, "{id}");
        }
        assert_eq!(receipt_reader("ExecCommand", None), "what the agent was given");
        assert_eq!(receipt_reader(SHELL_CALL, None), "how it ended; what the model read is not reported");
    }

    #[test]
    fn a_text_fits_the_command_that_wrote_its_ends() {
        assert_eq!(fitness("a\nb", "a\nb\n"), 2);
        assert_eq!(fitness("Exit code 3\na", "a\n"), 2);
        assert_eq!(fitness("a\n\n... [9 lines truncated] ...\n\nz", "a\nb\nz\n"), 2);
        assert_eq!(fitness("a", "b\n"), 0);
        assert_eq!((fitness("", ""), fitness("", "a"), fitness("a", "")), (2, 0, 0));
    }

    #[test]
    fn the_very_text_is_kept_whichever_report_comes_first() {
        let of = |is_failure, is_exact, ruling| NativeCall {
            id: None,
            facts: ModelTextFacts { is_failure, is_exact, ..ModelTextFacts::default() },
            ruling,
        };
        let (made, very) = (of(true, false, Some(CallRuling::InAgent)), of(false, true, None));
        let both = of(true, true, Some(CallRuling::InAgent));
        assert_eq!(NativeCall::then(Some(made.clone()), very.clone()), (both.clone(), true));
        assert_eq!(NativeCall::then(Some(very), made), (both, false));
    }
}
