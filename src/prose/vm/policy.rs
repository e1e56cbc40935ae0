//! Whether a person is asked before a command runs (docs/prose-rules.md#rule-35). What they say holds for that very text in that
//! very directory; a no is thrown whatever `on-fail` says.

use std::path::Path;
use std::sync::{Arc, PoisonError};

use sha2::{Digest as _, Sha256};

use super::control_flow::{Halt, Thrown};
use super::effects::{Decided, Effects};
use super::file::Site;
use super::question::Query;
use super::{Frame, Vm};
use crate::config::ExecPolicy;
use crate::prose::run::journal::Key;
use crate::runtime::{Answer, AnswerValue, Evidence, Principal, QuestionKind};

/// What was said about a command that is asked about once; held while somebody is asked.
pub(super) type Turn = Arc<tokio::sync::Mutex<Option<Decided>>>;

impl<E: Effects> Vm<E> {
    /// Comes back when a command may run. Its time has not begun meanwhile.
    pub(super) async fn allowed(
        &self,
        frame: &Frame,
        command: &str,
        cwd: &Path,
        site: Site,
    ) -> Result<(), Halt> {
        let asked = format!("allow:{}", hash(command, cwd));
        match self.judge.exec {
            ExecPolicy::Allow => Ok(()),
            ExecPolicy::Ask => {
                let own = frame.at(asked);
                let decided = self.ask_to_run(&own, command, cwd, site).await?;
                verdict(decided, site.line, &own.key)
            }
            ExecPolicy::Once => {
                // Who comes while somebody is asked waits for that answer.
                let turn = self.turn(&asked);
                let mut known = tokio::select! {
                    known = turn.lock() => known,
                    () = frame.cancel.cancelled() => return Err(Halt::Cancelled),
                };
                let own = Frame { key: asked.into(), ..frame.clone() };
                let decided = match known.take() {
                    Some(decided) => decided,
                    None => self.ask_to_run(&own, command, cwd, site).await?,
                };
                verdict(known.insert(decided).clone(), site.line, &own.key)
            }
        }
    }

    async fn ask_to_run(
        &self,
        frame: &Frame,
        command: &str,
        cwd: &Path,
        site: Site,
    ) -> Result<Decided, Halt> {
        let query = Query {
            site,
            name: None,
            gate: None,
            kind: QuestionKind::Command,
            text: command.to_owned(),
            evidence: Evidence { workdir: Some(cwd.to_owned()), ..Evidence::default() },
            within: None,
            agents: false,
        };
        self.decide(frame, &query).await
    }

    fn turn(&self, asked: &str) -> Turn {
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        turns.entry(Key::from(asked)).or_default().clone()
    }
}

fn verdict(decided: Decided, line: u32, key: &Key) -> Result<(), Halt> {
    let no = |by: &Principal, note: Option<&str>| Err(denied(line, by, note).at(key).into());
    match decided {
        Decided::Answered(Answer { value: AnswerValue::Approve, .. }) => Ok(()),
        Decided::Answered(Answer { principal, note, .. }) => no(&principal, note.as_deref()),
        Decided::Failed(message) => no(&Principal::File, Some(&message)),
        Decided::TimedOut(_) => Err(Thrown::new(line, "nobody let the command run in time").at(key).into()),
    }
}

/// The error of a command that was not let run.
pub(super) fn denied(line: u32, by: &Principal, note: Option<&str>) -> Thrown {
    let who = match by {
        Principal::File => "the answers file".to_owned(),
        Principal::Actor(actor) => format!("the {actor}"),
    };
    let note = note.filter(|note| !note.is_empty()).map(|note| format!(": {note}")).unwrap_or_default();
    Thrown::new(line, format!("{who} did not let the command run{note}"))
}

/// Each part is led by its length: no two commands run into one another.
fn hash(command: &str, cwd: &Path) -> String {
    let mut digest = Sha256::new();
    for part in [command.as_bytes(), cwd.as_os_str().as_encoded_bytes()] {
        digest.update((part.len() as u64).to_be_bytes());
        digest.update(part);
    }
    digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
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
