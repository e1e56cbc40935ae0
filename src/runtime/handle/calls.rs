//! `Handle` methods for calls and streams: recording and counting them.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::Handle;
use crate::agents::UsedTool;
use crate::envelope::{Actor, Envelope, ErrorKind, TaskId, ToolError, mask_strings};
use crate::journal::Durability;
use crate::model::native_call::{NativeCandidate, SoughtCall, fitness};
use crate::model::{
    CallRecord, CallRuling, InputNeed, Metrics, NativeCall, PortHolder, StatusCounts, StreamView,
};
use crate::process::{InputMode, Pty};
use crate::runtime::agent_notices::AgentNotices;
use crate::runtime::record_row::{AbandonedCall, AnsweredCall, Fact};
use crate::runtime::shared::{QueuedFact, RuntimeShared};
use crate::runtime::{OutputStream, StoredOutput, past};
use crate::terminal::{ByteOrigin, Size, clean};

/// The most calls whose output is compared with what a model was given, and the most bytes of each.
const MOST_CANDIDATES: usize = 16;
const MOST_COMPARED: u64 = 4 << 20;

/// The fields of an input that name its task, and those that are typed into it.
const TASK: [&str; 3] = ["task_id", "id", "session_id"];
const TYPED: [&str; 4] = ["input", "text", "chars", "keys"];

/// The row of an answer on its way to the record, while the answer is brought into its form.
#[derive(Debug)]
#[must_use]
pub struct AnswerRow {
    shared: Arc<RuntimeShared>,
    row: Option<QueuedFact>,
}

impl AnswerRow {
    /// Waits until the answer may be received: a kill right afterwards loses nothing that was answered.
    pub async fn wait(self) {
        if let Some(row) = self.row {
            // The action was carried out, so it is answered all the same; the console shows that the answer is not
            // recorded.
            let _ = self.shared.wait_for_row(row).await;
        }
    }
}

impl Handle {
    /// Records a call before it takes effect and returns its number. `durability` says when its row counts as
    /// written: only a row that no later row would bring to disk in time needs a sync of its own, and only that is
    /// waited for.
    pub async fn begin_call(&self, actor: &Actor, tool: &str, durability: Durability, input: &Value) -> u64 {
        let now = self.shared.clock.now();
        let input = self.as_recorded(actor, input);
        let record = {
            let mut session = self.shared.session();
            if let Actor::Agent(label) = actor {
                session.agent_called(label, now.wall);
            }
            session.calls.begin(now, actor, tool, input)
        };
        self.shared.nudge.notify_one();
        // Whatever must not happen unrecorded checks for itself with `check`.
        match durability {
            Durability::Synced => {
                drop(self.shared.write(&Fact::Call(Cow::Borrowed(&record)), durability).await)
            }
            _ => self.shared.enqueue(&Fact::Call(Cow::Borrowed(&record)), durability).await,
        }
        self.shared.session().calls.admit(self.shared.clock.now(), record.seq);
        record.seq
    }

    /// Queues the answer of a call for the record; nobody may receive it before [`AnswerRow::wait`]. `notices` are the
    /// lines that the receipt ends with, after the part made from the envelope.
    pub async fn end_call(
        &self,
        seq: u64,
        task: Option<&TaskId>,
        envelope: &Envelope,
        receipt: &str,
        notices: Vec<String>,
    ) -> AnswerRow {
        let now = self.shared.clock.now();
        let ended = self.shared.session().call(seq).end(now, seq, task, envelope, (receipt, notices));
        self.shared.nudge.notify_one();
        let mut row = None;
        if let Some((record, latency_ms)) = ended {
            let answer = Fact::Answer(AnsweredCall {
                record: Cow::Borrowed(&record),
                latency_ms,
                task: task.map(Cow::Borrowed),
            });
            row = Some(self.shared.begin_write(&answer, Durability::Written).await);
        }
        AnswerRow { shared: self.shared.clone(), row }
    }

    /// Keeps what an agent's hook says that its model was given of a command of its own shell: with the call of that
    /// command. If several ran the same, what they wrote decides. Returns false if the agent has run no command here that it
    /// can be. `is_given` tells whether the model has been given it by now.
    pub async fn told_of_command(
        &self,
        label: &str,
        session: Option<String>,
        (used, ruling): (&UsedTool, Option<CallRuling>),
        is_given: bool,
    ) -> bool {
        let (Some(cmd), Some(given)) = (used.call.input["command"].as_str(), &used.given) else {
            return true;
        };
        let actor = Actor::Agent(label.to_owned());
        let input = self.as_recorded(&actor, &json!({ "cmd": cmd }));
        let cmd = input["cmd"].as_str().unwrap_or_default().to_owned();
        let sought = SoughtCall { actor, session, id: used.id.clone(), cmd };
        let candidates = self.shared.session().calls.sought(&sought);
        let seq = match &candidates[..] {
            [] => return self.shared.session().calls.has_untold(&sought),
            [only] => only.seq,
            several => self.likeliest(several, &given.text).await,
        };
        let native = NativeCall::of(used.id.as_deref(), given, ruling);
        let is_read = !native.is_of_script() && (given.facts.is_exact || !given.facts.is_cut);
        if is_given {
            let text = if is_read { &*given.text } else { "" };
            self.shared.session().compare_with_given(label, seq, text);
        }
        self.put_receipt(seq, &given.text, native);
        true
    }

    fn put_receipt(&self, seq: u64, receipt: &str, native: NativeCall) {
        self.shared.session().call(seq).tell(seq, receipt.to_owned(), native.clone());
        self.shared.nudge.notify_one();
        let (receipt, native) = (Cow::Borrowed(receipt), Cow::Borrowed(&native));
        self.shared.note(&Fact::Told { seq, receipt, native });
    }

    /// Puts on record a call that an agent refused by itself, and says so to the person. `input` is the call as it is
    /// recorded.
    pub async fn refused_by_agent(
        &self,
        label: &str,
        (tool, input): (&str, &Value),
        mode: &str,
        reason: &str,
    ) {
        let actor = Actor::Agent(label.to_owned());
        let seq = self.begin_call(&actor, tool, Durability::Written, input).await;
        let native = NativeCall::from_refusal(mode, reason);
        let said = match &native.ruling {
            Some(CallRuling::Refused { reason, .. }) if !reason.is_empty() => format!(": {reason}"),
            _ => ".".to_owned(),
        };
        let message = format!("{label} refused this by itself, and asked nobody{said}");
        let error = ToolError::new(ErrorKind::AgentDenied, message.clone())
            .with_hint("nothing was run; the person may run it");
        self.end_call(seq, None, &Envelope::error(tool, error), &message, Vec::new()).await.wait().await;
        self.put_receipt(seq, &message, native);
        self.shared.session().notice(self.shared.clock.now().wall, message, false);
    }

    /// Returns the call whose command wrote what a model was given; where that is the same, the first.
    async fn likeliest(&self, candidates: &[NativeCandidate], given: &str) -> u64 {
        let outputs: Vec<_> = candidates
            .iter()
            .take(MOST_CANDIDATES)
            .map(|candidate| (candidate.seq, candidate.task.as_ref().and_then(|task| self.output(task).ok())))
            .collect();
        let given = clean(given.as_bytes(), ByteOrigin::Pipe, Size::default());
        let first = candidates.first().map_or(0, |candidate| candidate.seq);
        let read = tokio::task::spawn_blocking(move || {
            let written =
                |output: &StoredOutput| output.all_now(OutputStream::Merged, u64::MAX, MOST_COMPARED);
            let fits = |output: Option<StoredOutput>| {
                output.and_then(|output| written(&output).ok()?).map_or(0, |text| fitness(&given, &text))
            };
            let fits = outputs.into_iter().map(|(seq, output)| (seq, fits(output)));
            fits.rev().max_by_key(|(_, fit)| *fit).map(|(seq, _)| seq)
        });
        read.await.ok().flatten().unwrap_or(first)
    }

    /// Notes the result of a call that is being abandoned; the result is not sent to anyone.
    pub fn leave_behind(&self, seq: u64, envelope: &Envelope, receipt: &str) {
        self.shared.session().call(seq).leave_behind(seq, envelope, receipt);
    }

    /// Shows the progress of a call that is a stream of commands.
    pub fn progress(&self, seq: u64, stream: StreamView) {
        self.shared.session().call(seq).progress(seq, stream);
        self.shared.nudge.notify_one();
    }

    /// Records the end of a stream of commands. A stream is not a tool call: its lines are counted, not the stream
    /// itself.
    pub fn end_stream(&self, seq: u64, envelope: &Envelope, receipt: &str) {
        let now = self.shared.clock.now();
        let ended = self.shared.session().call(seq).end(now, seq, None, envelope, (receipt, Vec::new()));
        self.shared.nudge.notify_one();
        if let Some((record, latency_ms)) = ended {
            self.shared.note(&Fact::Answer(AnsweredCall {
                record: Cow::Borrowed(&record),
                latency_ms,
                task: None,
            }));
        }
    }

    /// Records that nobody waits for a call's answer any more.
    pub fn abandon_call(&self, seq: u64) {
        let now = self.shared.clock.now();
        let record = {
            let mut session = self.shared.session();
            let record = session.call(seq).abandon(now, seq);
            if let Some(record) = &record {
                tell_of_withdrawal(&mut session.agent_notices, record);
            }
            record
        };
        if let Some(record) = record {
            self.shared.nudge.notify_one();
            self.shared.note(&Fact::Abandoned(AbandonedCall::of(&record)));
        }
    }

    /// Returns a call, as long as it is in the record.
    pub async fn call(&self, seq: u64) -> Option<Arc<CallRecord>> {
        if let Some(recent) = self.shared.session().calls.get(seq) {
            return Some(recent);
        }
        let own = self.shared.recording.clone();
        let found = tokio::task::spawn_blocking(move || past::read_call(&own, seq)).await.ok()?;
        found.ok().flatten().map(Arc::new)
    }

    /// Returns how much is running and waiting.
    pub fn status_counts(&self) -> StatusCounts {
        StatusCounts::of(&self.shared.snapshot.borrow())
    }

    /// Returns the task that holds a port of this machine.
    pub fn holder_of(&self, port: u16) -> Option<PortHolder> {
        let snapshot = self.shared.snapshot.borrow().clone();
        snapshot.tasks.iter().flat_map(|task| task.held_ports()).find(|holder| holder.port == port)
    }

    /// Returns the current metrics.
    pub fn metrics(&self) -> Metrics {
        let mut metrics = self.shared.session().counters.metrics().up_to(self.shared.clock.now().wall);
        let snapshot = self.shared.snapshot.borrow().clone();
        metrics.gauges = self.shared.gauges(&snapshot.tasks, metrics.output_bytes_in);
        metrics
    }

    /// Returns an input as it is recorded: with secrets masked (docs/contract.md#masking), and with what is typed at a hidden
    /// prompt replaced by its length (docs/contract.md#actors-and-the-lease).
    fn as_recorded(&self, actor: &Actor, input: &Value) -> Value {
        let mut input = input.clone();
        if self.hides_input(actor, &input) {
            for field in TYPED {
                let length = match input.get(field) {
                    Some(Value::String(text)) => json!({ "bytes": text.len(), "recorded": false }),
                    Some(Value::Array(keys)) => json!({ "keys": keys.len(), "recorded": false }),
                    _ => continue,
                };
                input[field] = length;
            }
        }
        mask_strings(&mut input);
        input
    }

    /// Tells whether the task that an input is for hides what is typed. What an agent types into a full-screen program, which
    /// echoes nothing either, is recorded.
    fn hides_input(&self, actor: &Actor, input: &Value) -> bool {
        let id = TASK.iter().find_map(|name| input.get(*name)?.as_str()?.parse::<TaskId>().ok());
        let Some(id) = id else { return false };
        let is_secret = self.task(&id).is_some_and(|task| {
            task.waiting.as_ref().is_some_and(|waiting| waiting.kind == InputNeed::Secret)
        });
        let io = self.shared.io(&id);
        let mode = io.as_ref().and_then(|io| io.pty.get()).map(Pty::input_mode);
        let is_hidden = |mode: InputMode| !mode.echo && (mode.canonical || *actor == Actor::Operator);
        // A terminal that cannot be queried counts as hiding its input, to be safe.
        is_secret || mode.is_some_and(|mode| mode.map_or(true, is_hidden))
    }
}

/// Notifies an agent of the outcome of a call it cancelled, if the call had started a command. For a read-only call
/// there is nothing to report.
fn tell_of_withdrawal(notices: &mut AgentNotices, record: &CallRecord) {
    let Actor::Agent(label) = &record.actor else { return };
    let Some(what) = record.input.get("cmd").and_then(Value::as_str).map(str::to_owned).or_else(|| {
        let items = record.input.get("items")?.as_array()?;
        Some(format!("{} of {} items", record.tool, items.len()))
    }) else {
        return;
    };
    let finished = record.envelope.as_ref().and_then(|envelope| envelope["summary_text"].as_str());
    let after = Duration::from_millis(record.duration_ms.unwrap_or_default());
    notices.withdrawn(label, record.seq, &what, after, finished.map(str::to_owned));
}
