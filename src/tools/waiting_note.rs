//! The evidence that a task wants input, as shown in results.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::envelope::one_line;
use crate::envelope::units::millis;
use crate::model::{self, InputEvidence, InputNeed, millis_between};

/// The maximum length of a question, in characters.
const QUESTION_CHARS: usize = 120;

/// Evidence that a task wants input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(super) struct WaitingNote {
    /// Expected input: `line`, `key`, `secret`; `operator`: an answer that only the operator can give, at a terminal;
    /// `stopped`: none, one of its processes is stopped.
    pub(super) kind: String,
    /// Evidence: `tty_read`, `echo_off`, or weaker `tty_poll`, `quiet`; for a stopped process `halted`, or
    /// `out_of_turn` at a terminal that another process group has.
    pub(super) evidence: String,
    /// Duration of the wait in milliseconds.
    pub(super) for_ms: u64,
    /// What it asks, as far as its screen shows that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) question: Option<String>,
}

/// The kind of wait reported for a program that asks on a terminal other than its command's streams.
const OPERATOR: &str = "operator";

impl WaitingNote {
    pub(super) fn of(waiting: Option<&model::InputWait>, now: Timestamp) -> Option<Self> {
        waiting.map(|waiting| Self {
            // Only a person can answer there.
            kind: match &waiting.program {
                Some(_) if waiting.kind.is_input() => OPERATOR.to_owned(),
                _ => <&str>::from(waiting.kind).to_owned(),
            },
            evidence: <&str>::from(waiting.evidence).to_owned(),
            for_ms: millis_between(waiting.since, now),
            question: waiting.question.as_deref().map(|text| one_line(text, QUESTION_CHARS)),
        })
    }

    /// Tells whether an agent may be told to answer: what nobody else may read, the operator types.
    pub(super) fn may_be_answered(waiting: Option<&Self>) -> bool {
        waiting.is_none_or(|waiting| waiting.kind.parse() != Ok(InputNeed::Secret))
    }

    /// Returns the statement for a receipt. That a process is stopped the kernel says, and since when only a look at it.
    pub(super) fn statement(&self) -> String {
        if self.kind.parse() == Ok(InputNeed::Stopped) {
            let how = self.evidence.parse::<InputEvidence>().map(InputEvidence::word).unwrap_or_default();
            return format!("It has been stopped for at least {} ({how}).", millis(self.for_ms));
        }
        let question = self.question.as_ref().map(|question| format!(": `{question}`")).unwrap_or_default();
        let whose = if self.kind.parse() == Ok(InputNeed::Secret) { ". The operator types it" } else { "" };
        format!("It seems to be {}{question}{whose}.", self.sentence())
    }

    /// Returns how the task stands, and for how long.
    pub(super) fn sentence(&self) -> String {
        let evidence = self.evidence.parse::<InputEvidence>();
        let is_weak = evidence.is_ok_and(InputEvidence::is_weak);
        let what = match self.kind.parse::<InputNeed>() {
            Ok(need) => need.clause(!is_weak && need != InputNeed::Key),
            Err(_) => "waiting for the operator, who alone can answer".to_owned(),
        };
        let how = evidence.map(|evidence| format!(" ({})", evidence.word())).unwrap_or_default();
        format!("{what} for {}{how}", millis(self.for_ms))
    }
}
