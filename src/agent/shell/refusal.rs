//! What follows for a command that a runtime was asked to run, and did not start. Pure.

use crate::envelope::with_causes;
use crate::model::Error;
use crate::model::phrases::not_run_clause;

/// The caller's exit code if a person denied its command (`EX_NOPERM`).
pub(super) const DENIED: u8 = 77;
/// The caller's exit code if its command was not run for another reason, or may have run (`EX_TEMPFAIL`).
pub(super) const NOT_RUN: u8 = 75;

/// Why a command was not started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StartRefusal {
    why: String,
    ruling: Ruling,
    /// What a person wrote to the agent with it; empty if nothing.
    pub(super) note: String,
}

/// Whether its caller may run it by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ruling {
    /// No: a person said so.
    Denied,
    /// No.
    NotRun,
    /// If no rule and no pause concerns it.
    IfFree,
    /// No: nobody can know whether it had begun.
    Unknown,
}

impl StartRefusal {
    pub(super) fn by(error: &Error) -> Self {
        let note = if let Error::Denied { note } = error { note.clone() } else { String::new() };
        Self { why: with_causes(error), ruling: Ruling::of(error), note }
    }

    /// Returns the line for the caller and its exit code; without a code, it runs the command by itself. `is_free` is
    /// the runtime's word that no rule and no pause concerns the command.
    pub(super) fn reply(self, is_free: bool) -> (String, Option<u8>) {
        let Self { why, ruling, .. } = self;
        match ruling {
            Ruling::Denied => (why, Some(DENIED)),
            Ruling::Unknown => (why, Some(NOT_RUN)),
            Ruling::IfFree if is_free => (why, None),
            Ruling::IfFree => {
                let rest = "an approval rule or the pause may concern it, and it was not run unasked";
                (not_run_clause(&format!("{why}; {rest}")), Some(NOT_RUN))
            }
            Ruling::NotRun => (not_run_clause(&why), Some(NOT_RUN)),
        }
    }
}

impl Ruling {
    fn of(error: &Error) -> Self {
        match error {
            Error::Denied { .. } => Self::Denied,
            Error::NotRun(task) if task.is_stopped_by_operator() => Self::Denied,
            Error::StartUnknown(_) => Self::Unknown,
            // The operator is to be asked, and cannot be.
            Error::HeldLimit { .. } | Error::Pending | Error::NotRun(_) => Self::NotRun,
            // It must not run without its ceilings.
            Error::NoHardCeiling { .. } => Self::NotRun,
            Error::TaskLimit { .. }
            | Error::LowDisk { .. }
            | Error::Unrecorded { .. }
            | Error::NotHandedOver { .. }
            | Error::NoLogin { .. }
            | Error::WorkdirNotFound { .. }
            | Error::OutsideRoot { .. }
            | Error::Spawn { .. }
            | Error::Exhausted { .. }
            | Error::Io { .. }
            | Error::ShuttingDown => Self::IfFree,
            // These are answers to other requests.
            Error::UnknownTask(_)
            | Error::NotOwner { .. }
            | Error::InputLineTooLong { .. }
            | Error::Question(_)
            | Error::QuestionTooLong { .. }
            | Error::NotHeld
            | Error::CostChanged
            | Error::NotSent { .. } => Self::NotRun,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::envelope::{Actor, TaskId};
    use crate::model::Resource;
    use crate::model::{AnswerRefusal, QuestionId};

    /// What every refusal must come to: the code without the runtime's word, and with it.
    fn expected(error: &Error) -> (u8, Option<u8>) {
        match error {
            Error::Denied { .. } => (77, Some(77)),
            Error::TaskLimit { .. }
            | Error::LowDisk { .. }
            | Error::Unrecorded { .. }
            | Error::NotHandedOver { .. }
            | Error::NoLogin { .. }
            | Error::WorkdirNotFound { .. }
            | Error::OutsideRoot { .. }
            | Error::Spawn { .. }
            | Error::Exhausted { .. }
            | Error::Io { .. }
            | Error::ShuttingDown => (75, None),
            Error::HeldLimit { .. }
            | Error::NoHardCeiling { .. }
            | Error::Pending
            | Error::NotRun(_)
            | Error::StartUnknown(_)
            | Error::UnknownTask(_)
            | Error::NotOwner { .. }
            | Error::InputLineTooLong { .. }
            | Error::Question(_)
            | Error::QuestionTooLong { .. }
            | Error::NotHeld
            | Error::CostChanged
            | Error::NotSent { .. } => (75, Some(75)),
        }
    }

    #[test]
    fn f48_every_refusal_ends_the_caller_unless_the_runtime_says_that_nobody_is_to_be_asked() {
        let (id, text) = (TaskId::from_random([1; 8]), String::new);
        let every = [
            Error::UnknownTask(id.clone()),
            Error::NotOwner { id, owner: Actor::Cli },
            Error::TaskLimit { limit: 1 },
            Error::HeldLimit { bytes: 1 },
            Error::NoHardCeiling { reason: text() },
            Error::OutsideRoot { workdir: text(), root: "/".into() },
            Error::WorkdirNotFound { workdir: text(), reason: text() },
            Error::NotHandedOver { reason: text() },
            Error::Spawn { shell: text(), workdir: "/".into(), message: text() },
            Error::Exhausted { resource: Resource::Descriptors, message: text() },
            Error::InputLineTooLong { length: 1, limit: 1, is_begun: false },
            Error::LowDisk { free_bytes: 1 },
            Error::Unrecorded { reason: text(), is_full: true },
            Error::Question(AnswerRefusal::Unknown(QuestionId::from_random([1; 8]))),
            Error::QuestionTooLong { bytes: 1, limit: 1 },
            Error::Denied { note: text() },
            Error::Pending,
            Error::NotHeld,
            Error::CostChanged,
            Error::NotSent { reason: text() },
            Error::ShuttingDown,
            Error::Io { what: "", path: "/".into(), source: std::io::ErrorKind::StorageFull.into() },
        ];
        for error in every {
            let code = |is_free| StartRefusal::by(&error).reply(is_free).1;
            let (asked, free) = expected(&error);
            assert_eq!((code(false), code(true)), (Some(asked), free), "{error:?}");
        }
    }
}
