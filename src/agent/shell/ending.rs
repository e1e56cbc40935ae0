//! The outcome of a command as its caller sees it: how it ended, and one line about the ceiling that ended it, or what a
//! person did or wrote. Such a line is only added to a command that did not end as in a plain run anyway. Pure.

use crate::agents::AgentProgram;
use crate::link::ShellReply;
use crate::model::phrases::operator_words;
use crate::model::{CeilingHit, Exit};
use crate::runtime::Intervention;

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ShellCommandEnd {
    /// How its shell ended; `None` if unknown.
    pub(super) exit: Option<Exit>,
    /// Why the runtime ended, if the command was ended with it.
    pub(super) closing: Option<String>,
    /// Why some of its output could not be written.
    pub(super) unwritten: Option<String>,
    /// The ceiling that it met.
    pub(super) ceiling: Option<CeilingHit>,
    /// Which of its processes could not be ended, in words.
    pub(super) unended: Option<String>,
    /// What a person did to it.
    pub(super) by_operator: Intervention,
}

impl ShellCommandEnd {
    /// Tells whether a line may be added to what the command wrote.
    pub(super) fn takes_words(&self) -> bool {
        self.closing.is_none()
            && (self.by_operator != Intervention::Nothing || self.exit != Some(Exit::Code(0)))
    }

    /// Returns the reply to the caller. `words` are what a person wrote to the agent.
    pub(super) fn reply(self, agent: Option<AgentProgram>, words: &[String]) -> ShellReply {
        let is_stopped = self.by_operator == Intervention::Stopped;
        let said = if self.takes_words() { note(is_stopped, words) } else { None };
        let ceiling = self.ceiling.filter(|_| self.takes_words()).map(|hit| hit.to_string());
        let unended = self.unended.clone().filter(|_| self.takes_words());
        let note =
            ceiling.into_iter().chain(unended).chain(said).reduce(|all, more| format!("{all}; {more}"));
        let (code, signal) = match self.exit {
            Some(Exit::Code(code)) => (Some(code), None),
            Some(Exit::Signal(signal)) => (None, Some(signal.number())),
            None => (None, None),
        };
        let shell = agent.and_then(AgentProgram::own_shell);
        let is_stuck = is_stopped && shell.is_some_and(|shell| shell.misses_signals);
        let (code, signal) = match signal.filter(|_| is_stuck) {
            Some(signal) => (Some(128 + signal), None),
            None => (code, signal),
        };
        ShellReply::Ended { code, signal, closing: self.closing, unwritten: self.unwritten, note }
    }
}

/// Returns what a person did and said, on one line.
pub(super) fn note(is_stopped: bool, words: &[String]) -> Option<String> {
    match (is_stopped, words.join("; ")) {
        (true, words) if words.is_empty() => Some("the operator stopped this".to_owned()),
        (true, words) => Some(format!("the operator stopped this: {words}")),
        (false, words) if words.is_empty() => None,
        (false, words) => Some(operator_words(words)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::CeilingKind;
    use crate::model::Signal;

    fn ending(exit: Exit, by_operator: Intervention) -> ShellCommandEnd {
        let (closing, unwritten, ceiling, unended) = Default::default();
        ShellCommandEnd { exit: Some(exit), closing, unwritten, ceiling, unended, by_operator }
    }

    fn told(
        ending: ShellCommandEnd,
        agent: Option<AgentProgram>,
        words: &[String],
    ) -> (Option<i32>, Option<i32>, Option<String>) {
        match ending.reply(agent, words) {
            ShellReply::Ended { code, signal, note, .. } => (code, signal, note),
            reply => panic!("{reply:?}"),
        }
    }

    #[test]
    fn a_command_that_a_person_stopped_says_so_with_the_words() {
        let term = || Exit::Signal(Signal::TERM);
        let words = ["use make check".to_owned()];
        let stopped = Some("the operator stopped this: use make check".to_owned());
        assert_eq!(
            told(ending(term(), Intervention::Stopped), Some(AgentProgram::Claude), &words),
            (None, Some(15), stopped.clone())
        );
        assert_eq!(
            told(ending(term(), Intervention::Stopped), Some(AgentProgram::Opencode), &words),
            (Some(143), None, stopped.clone())
        );
        assert_eq!(
            told(ending(term(), Intervention::Nothing), Some(AgentProgram::Opencode), &[]),
            (None, Some(15), None)
        );
        // It caught the signal and ended as it liked.
        assert_eq!(
            told(ending(Exit::Code(0), Intervention::Stopped), None, &words),
            (Some(0), None, stopped)
        );
    }

    #[test]
    fn a_command_that_met_its_ceiling_says_so() {
        let hit =
            CeilingHit { kind: CeilingKind::MemoryLimit, limit: Some(64 << 20), soft: false, peak: None };
        let killed = ShellCommandEnd {
            ceiling: Some(hit),
            ..ending(Exit::Signal(Signal::KILL), Intervention::Nothing)
        };
        let said = "ended by the kernel at its memory ceiling (64 MiB)".to_owned();
        assert_eq!(told(killed.clone(), None, &[]), (None, Some(9), Some(said.clone())));
        let both = format!("{said}; the operator says: sort it on disk");
        assert_eq!(told(killed.clone(), None, &["sort it on disk".to_owned()]), (None, Some(9), Some(both)));
        let unended = "1 process could not be ended: sleep, which belongs to root";
        let left = ShellCommandEnd { unended: Some(unended.to_owned()), ..killed };
        assert_eq!(told(left, None, &[]), (None, Some(9), Some(format!("{said}; {unended}"))));
    }

    #[test]
    fn a_command_without_intervention_takes_words_only_if_it_failed() {
        assert!(!ending(Exit::Code(0), Intervention::Nothing).takes_words());
        assert!(ending(Exit::Code(1), Intervention::Nothing).takes_words());
        let said = Some("the operator says: look at main".to_owned());
        assert_eq!(
            told(ending(Exit::Code(1), Intervention::Nothing), None, &["look at main".to_owned()]),
            (Some(1), None, said)
        );
        assert_eq!(told(ending(Exit::Code(1), Intervention::Nothing), None, &[]), (Some(1), None, None));
        // A password that a person typed makes it another command than a plain run.
        let typed = ending(Exit::Code(0), Intervention::Typed);
        assert!(typed.takes_words());
        assert_eq!(told(typed.clone(), None, &[]), (Some(0), None, None));
        let said = Some("the operator says: use the other key".to_owned());
        assert_eq!(told(typed, None, &["use the other key".to_owned()]), (Some(0), None, said));
        let closing = ShellCommandEnd {
            closing: Some("it was shut down".into()),
            ..ending(Exit::Code(1), Intervention::Stopped)
        };
        assert!(!closing.takes_words());
    }
}
