//! Approval of commands before they run (docs/prose-rules.md#rule-35). A decision applies only to exactly that text
//! in that directory: its key contains the hash of both.

use std::path::Path;
use std::sync::PoisonError;

use super::control_flow::{Flow, Halt, ThrownError};
use super::effects::Effects;
use super::exec::FilledCommand;
use super::machine::ApprovalTurn;
use super::{Vm, VmFrame};
use crate::config::ExecPolicy;
use crate::files;
use crate::model::{AnswerValue, Evidence, Principal, QuestionKind, RecordedAnswer};
use crate::prose::engine::record::decision::RecordedDecision;
use crate::prose::engine::record::journal::ProgramKey;

impl<E: Effects> Vm<E> {
    /// Returns once a command may run, asking for approval if the policy requires it.
    pub(super) async fn require_approval(&self, frame: &VmFrame, command: &FilledCommand<'_>) -> Flow<()> {
        let asked = format!("allow:{}", hash(&command.text, &command.cwd));
        match self.policy.exec {
            ExecPolicy::Allow => Ok(()),
            ExecPolicy::Ask => {
                let own = frame.at(asked);
                let decided = self.ask_to_run(&own, command).await?;
                verdict(decided, command.site.line, &own.key)
            }
            ExecPolicy::Once => {
                // A branch that reaches the same command while the question is open waits for its answer.
                let turn = self.turn(&asked);
                let mut known = tokio::select! {
                    known = turn.lock() => known,
                    () = frame.cancel.cancelled() => return Err(Halt::Cancelled),
                };
                let own = VmFrame { key: asked.into(), ..frame.clone() };
                let decided = match known.take() {
                    Some(decided) => decided,
                    None => self.ask_to_run(&own, command).await?,
                };
                verdict(known.insert(decided).clone(), command.site.line, &own.key)
            }
        }
    }

    async fn ask_to_run(&self, frame: &VmFrame, command: &FilledCommand<'_>) -> Flow<RecordedDecision> {
        let text = command.text.clone();
        let mut query = self.operators_query(frame, command.site, QuestionKind::Command, text);
        query.asking.evidence = Evidence { workdir: Some(command.cwd.clone()), ..Evidence::default() };
        self.decide(frame, &query).await
    }

    fn turn(&self, asked: &str) -> ApprovalTurn {
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        turns.entry(ProgramKey::from(asked)).or_default().clone()
    }
}

fn verdict(decided: RecordedDecision, line: u32, key: &ProgramKey) -> Flow<()> {
    let no = |by: &Principal, note: Option<&str>| Err(ThrownError::denial(line, by, note).at(key).into());
    match decided {
        RecordedDecision::Answered(RecordedAnswer { value: AnswerValue::Approve, .. }) => Ok(()),
        RecordedDecision::Answered(RecordedAnswer { principal, note, .. }) => no(&principal, note.as_deref()),
        RecordedDecision::Failed(message) => no(&Principal::File, Some(&message)),
        RecordedDecision::TimedOut(_) => {
            Err(ThrownError::new(line, "nobody let the command run in time").at(key).into())
        }
    }
}

fn hash(command: &str, cwd: &Path) -> String {
    files::digest_of_parts([command.as_bytes(), cwd.as_os_str().as_encoded_bytes()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_told_from_every_other_and_from_itself_elsewhere() {
        let hashes = [("a b", "/w"), ("a", " b/w"), ("a b", "/v"), ("a b ", "/w")]
            .map(|(command, cwd)| hash(command, Path::new(cwd)));
        let distinct: std::collections::HashSet<_> = hashes.iter().collect();
        assert_eq!(distinct.len(), hashes.len());
        assert!(ExecPolicy::Allow < ExecPolicy::Once && ExecPolicy::Once < ExecPolicy::Ask);
    }
}
