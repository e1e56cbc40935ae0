//! Simulated effects: the text of a command says what it does, and every question is answered.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use crate::envelope::Actor;
use crate::model::{AnswerValue, NewQuestion, Principal, QuestionKind, RecordedAnswer};
use crate::prose::engine::record::command_result::CommandResult;
use crate::prose::engine::record::decision::RecordedDecision;
use crate::prose::engine::vm::effects::{Audience, CommandSpec, Effects, NoEffect, RunEvent};

/// What survives when a process is killed: what its commands did, and what its operator remembers.
#[derive(Debug, Default)]
pub(super) struct Outside {
    /// The commands that took effect, in order.
    pub(super) done: Vec<String>,
    pub(super) asked: Vec<String>,
    /// How often a command that was in flight should have been done in the end, according to the answers.
    pub(super) due: HashMap<String, usize>,
    pub(super) reruns: HashMap<String, usize>,
    /// The operator's answers about commands in flight, taken from the end; after that always `Rerun`.
    pub(super) says: Vec<AnswerValue>,
    pub(super) has_aborted: bool,
}

impl Outside {
    fn times(&self, cmd: &str) -> usize {
        self.done.iter().filter(|done| *done == cmd).count()
    }
}

/// Simulates `WORD EXIT LINES SECONDS [cd] [:: …]`.
pub(super) struct Played {
    pub(super) outside: Arc<Mutex<Outside>>,
}

impl Effects for Played {
    async fn exec(&self, order: CommandSpec, cancel: &CancellationToken) -> Result<CommandResult, NoEffect> {
        if order.begun.on_disk().await.is_err() {
            return Err(NoEffect::Cancelled);
        }
        self.outside.lock().expect("outside").done.push(order.command.clone());
        let mut words = order.command.split([' ', '\n']);
        let word = words.next().unwrap_or_default();
        let mut number = || words.next().and_then(|word| word.parse::<u8>().ok()).expect("a number");
        let (exit_code, lines, seconds) = (number(), number(), number());
        tokio::select! {
            () = tokio::time::sleep(Duration::from_secs(seconds.into())) => {}
            () = cancel.cancelled() => return Err(NoEffect::Cancelled),
        }
        let stdout = (0..lines).map(|line| format!("{word}.{line} in {}\n", order.cwd.display())).collect();
        let ended_in = (words.next() == Some("cd")).then(|| order.cwd.join(word));
        Ok(CommandResult { exit_code: exit_code.into(), stdout, ended_in, ..CommandResult::default() })
    }

    async fn ask(&self, asking: NewQuestion) -> Result<RecordedDecision, NoEffect> {
        let mut outside = self.outside.lock().expect("outside");
        let text = format!("{} {:?}", asking.text, asking.evidence.pass);
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        let one = hasher.finish().is_multiple_of(2);
        let value = match &asking.kind {
            QuestionKind::InFlight => {
                let cmd = asking.evidence.command.clone().expect("the command");
                let times = outside.times(&cmd);
                let says = outside.says.pop().unwrap_or(AnswerValue::Rerun);
                match says {
                    AnswerValue::Rerun => {
                        *outside.reruns.entry(cmd.clone()).or_default() += 1;
                        outside.due.insert(cmd, times + 1);
                    }
                    AnswerValue::Skip => drop(outside.due.insert(cmd, times)),
                    _ => outside.has_aborted = true,
                }
                says
            }
            QuestionKind::YesNo { .. } => {
                if one {
                    AnswerValue::Yes
                } else {
                    AnswerValue::No
                }
            }
            QuestionKind::Choice { labels } => AnswerValue::Choice(labels[usize::from(one)].clone()),
            QuestionKind::Text { .. } => AnswerValue::Text(format!("answer to {}", asking.text)),
            QuestionKind::Gate { .. } => {
                if one {
                    AnswerValue::Approve
                } else {
                    AnswerValue::Reject
                }
            }
            QuestionKind::Command | QuestionKind::AgentPrompt(_) => AnswerValue::Approve,
        };
        if asking.kind != QuestionKind::InFlight {
            outside.asked.push(text);
        }
        let principal = Principal::Actor(Actor::Operator);
        Ok(RecordedDecision::Answered(RecordedAnswer { value, principal, at: self.now(), note: None }))
    }

    fn present(&self) -> Audience {
        Audience { operator: true, agent: false }
    }

    async fn tell(&self, _event: RunEvent) {}

    fn now(&self) -> Timestamp {
        Timestamp::UNIX_EPOCH
    }
}
