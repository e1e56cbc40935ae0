//! What the console in plain lines asks of the runtime. Each runs beside the loop, which takes no further line before
//! it is over: whatever stands before a `quit` is done, or refused aloud.

use std::time::Duration;

use crate::envelope::TaskId;
use crate::link::{Error, Operator};
use crate::runtime::Closing;

use super::carrier::{answered, ask, said};
use crate::console::msg::{Answered, Effect, Msg};

/// How long a task that was started may take to show up.
const LISTED: Duration = Duration::from_secs(5);

/// Does what was decided and returns what came of it, if anything is to be said. What belongs to screens is nothing
/// here.
pub(super) async fn carry_out(operator: Operator, effect: Effect) -> Option<Msg> {
    match effect {
        Effect::Call { tool, input } => Some(match operator.call(tool, input).await {
            Ok(answer) => {
                let answer = answered(tool, answer.seq, &answer.envelope);
                is_listed(&operator, &answer).await;
                Msg::Answered(answer)
            }
            Err(error) => Msg::Failed(said(tool, &error)),
        }),
        Effect::Send { task, input } => {
            let sent = operator.send(&task, input).await;
            refusal(&task, sent.map(|outcome| outcome.rejection.map(|rejection| rejection.message)))
        }
        Effect::Ask(request) => ask(&operator, request).await,
        Effect::Answer { question, given } => {
            let refused = operator.answer(&question, given).await.err();
            Some(Msg::AnswerTaken(question, refused.map(|error| error.to_string())))
        }
        Effect::Fetch(seq) => {
            let record = operator.record(seq).await.map(Msg::Record);
            Some(record.unwrap_or_else(|| Msg::Failed(format!("there is no call {seq}"))))
        }
        Effect::Quit(_) => Some(shut_down(&operator).await),
        _ => None,
    }
}

/// Stops all tasks and ends the runtime; the link goes with it.
pub(super) async fn shut_down(operator: &Operator) -> Msg {
    let closing = if operator.is_remote() { Closing::OperatorEnded } else { Closing::ConsoleClosed };
    match operator.shutdown(closing).await {
        Ok(()) => Msg::Stopped,
        Err(error) => Msg::Failed(error.to_string()),
    }
}

/// Waits until a task that was started is among those that are known: a `quit` right behind it counts it.
async fn is_listed(operator: &Operator, answer: &Answered) {
    let Some(task) = &answer.started else { return };
    let mut snapshots = operator.snapshot();
    let listed = snapshots.wait_for(|snapshot| snapshot.tasks.iter().any(|known| known.id == *task));
    // A runtime that has gone is told of elsewhere.
    let _ = tokio::time::timeout(LISTED, listed).await;
}

fn refusal(task: &TaskId, sent: Result<Option<String>, Error>) -> Option<Msg> {
    let why = sent.unwrap_or_else(|error| Some(error.to_string()))?;
    Some(Msg::Refused(task.clone(), why))
}
