//! `gate`: continues only if a person approves. A timeout is a rejection, never an approval.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::control_flow::{Evaluation, Flow, ThrownError};
use super::effects::Effects;
use super::frame::Site;
use super::{Vm, VmFrame};
use crate::model::{AnswerValue, QuestionKind, RecordedAnswer};
use crate::prose::engine::record::decision::RecordedDecision;
use crate::prose::engine::record::state;
use crate::prose::engine::value::Value;
use crate::prose::syntax::ast::{GateStatement, OnReject};

/// How a gate was decided.
enum Verdict {
    Approved,
    Rejected,
    TimedOut,
}

impl<E: Effects> Vm<E> {
    /// Waits at a gate.
    pub(super) async fn gate(&self, frame: &VmFrame, gate: &GateStatement, site: Site) -> Flow {
        let name = gate.name.as_str();
        for attempt in 1.. {
            let own = frame.at(format!("ask{attempt}"));
            let verdict = self.ask_gate(&own, gate, site).await?;
            let why = match verdict {
                Verdict::Approved => return Ok(Value::text("approved").into()),
                Verdict::Rejected => "was rejected",
                Verdict::TimedOut => "was not approved in time",
            };
            match gate.on_reject() {
                OnReject::Throw(message) => {
                    let message = match message {
                        Some(message) => self.fill(frame, message)?,
                        None => format!("gate {name} {why}"),
                    };
                    return Err(ThrownError::new(site.line, message).at(&own.key).into());
                }
                // Nobody is present to ask again (docs/prose-rules.md#rule-27).
                OnReject::Retry
                    if matches!(verdict, Verdict::TimedOut) && !self.effects.present().operator =>
                {
                    let message = format!("gate {name} {why}, and nobody is there");
                    return Err(ThrownError::new(site.line, message).at(&own.key).into());
                }
                OnReject::Retry => {}
                OnReject::Continue => {
                    self.mark(&own, site.line, state::gate(&frame.number, name, "skipped")).await?;
                    return Ok(Evaluation::default());
                }
                OnReject::Session(session) => return self.session(frame, session).await,
            }
        }
        Ok(Evaluation::default())
    }

    async fn ask_gate(&self, frame: &VmFrame, gate: &GateStatement, site: Site) -> Flow<Verdict> {
        let name = gate.name.as_str();
        let ordinal = self.journal.number(&format!("gate:{name}"), &frame.key)?;
        let id = if ordinal == 1 { name.to_owned() } else { format!("{name}-{ordinal}") };
        let prompt = self.fill(frame, &gate.prompt)?;
        let allow: Flow<Vec<String>> = gate.allow.iter().map(|who| self.fill(frame, who)).collect();
        let mut allow = allow?;
        if allow.is_empty() {
            allow.push("user".to_owned());
        }
        let kind = QuestionKind::Gate { allow: allow.clone() };
        let mut query = self.query(frame, site, kind, prompt.clone());
        (query.asking.within, query.asking.agents) = (Some(gate.timeout()), false);
        (query.asking.origin.name, query.asking.origin.gate) = (Some(name.to_owned()), Some(id.clone()));
        let created = self.effects.now();
        let is_new = self.journal.decision(&frame.key).is_none();
        let (pending, resolved) = (file(&id, "pending"), file(&id, "resolved"));
        if is_new {
            let facts = json!({
                "gate_id": id, "prompt": prompt, "allow": allow, "timeout_s": gate.timeout().as_secs(),
                "line": site.line, "status": "pending", "created_at": created,
            });
            frame.module.folder.write(&pending, &format!("{facts:#}\n"))?;
            self.mark(frame, site.line, state::gate(&frame.number, &id, "pending")).await?;
        }
        let decided = self.decide(frame, &query).await?;
        let (word, who, note) = match &decided {
            RecordedDecision::Answered(RecordedAnswer {
                value: AnswerValue::Approve,
                principal,
                note,
                ..
            }) => ("approved", principal.to_string(), note.clone()),
            RecordedDecision::Answered(RecordedAnswer { principal, note, .. }) => {
                ("rejected", principal.to_string(), note.clone())
            }
            RecordedDecision::TimedOut(_) => ("timeout", "system".to_owned(), None),
            RecordedDecision::Failed(message) => ("rejected", "file".to_owned(), Some(message.clone())),
        };
        // A gate that was decided just before an interruption must not look as if it were still waiting.
        if is_new || frame.module.folder.has(&pending) {
            let facts = json!({
                "gate_id": id, "prompt": prompt, "created_at": created, "decision": word, "principal": who,
                "timestamp": self.effects.now(), "comment": note,
            });
            frame.module.folder.write(&resolved, &format!("{facts:#}\n"))?;
            frame.module.folder.remove(&pending);
        }
        let told = if word == "approved" { format!("approved({who})") } else { word.to_owned() };
        self.mark(frame, site.line, state::gate(&frame.number, &id, &told)).await?;
        Ok(match word {
            "approved" => Verdict::Approved,
            "timeout" => Verdict::TimedOut,
            _ => Verdict::Rejected,
        })
    }
}

fn file(id: &str, what: &str) -> PathBuf {
    Path::new("gates").join(format!("{id}.{what}.json"))
}
