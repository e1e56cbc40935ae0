//! Questions in the form of protocol revision 2026-07-28 (SEP-2322): a call's result says what to ask, and the client
//! sends the call again with the answer. In between, the call continues here with nobody waiting for it.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rmcp::model::{ElicitResult, InputRequest, InputRequests, InputRequiredResult, InputResponses};
use serde_json::json;

use super::elicitation::question;
use crate::model::HeldCall;

/// The name of the single question in a result.
const QUESTION: &str = "approval";
/// The maximum number of open questions per client; beyond that, its calls wait for a console.
const MAX_OPEN: usize = 64;

/// A call whose question has been sent to the client.
pub(super) struct PendingQuestion<T> {
    /// The held call that the question is about.
    pub(super) held: HeldCall,
    /// When it was asked, on the runtime's clock.
    pub(super) at: Duration,
    /// The pending call.
    pub(super) call: T,
}

/// One client's calls with open questions, keyed by the state that the client sends back.
pub(super) struct PendingQuestions<T>(Mutex<HashMap<String, PendingQuestion<T>>>);

impl<T> Default for PendingQuestions<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> PendingQuestions<T> {
    /// Returns whether another question, about this call, can be sent.
    pub(super) fn has_room(&self, held: &HeldCall) -> bool {
        self.calls().len() < MAX_OPEN && request(held).is_some()
    }

    /// Returns the result that asks the question; the call is kept until the client sends it again.
    pub(super) fn ask(&self, asked: PendingQuestion<T>) -> InputRequiredResult {
        let state = format!("{}-{}", asked.held.ticket, asked.held.hash);
        let requests =
            request(&asked.held).map(|request| InputRequests::from([(QUESTION.to_owned(), request)]));
        self.calls().insert(state.clone(), asked);
        InputRequiredResult::new(requests, Some(state))
    }

    /// Returns the call that a client has sent again, and the answer to its question.
    pub(super) fn take_answer(
        &self,
        state: &str,
        responses: Option<InputResponses>,
    ) -> Option<(PendingQuestion<T>, Option<ElicitResult>)> {
        let asked = self.calls().remove(state)?;
        let answer = responses.and_then(|mut responses| responses.remove(QUESTION));
        Some((asked, answer.and_then(|answer| serde_json::from_value(answer).ok())))
    }

    fn calls(&self) -> std::sync::MutexGuard<'_, HashMap<String, PendingQuestion<T>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the question about a held call, if it fits in a form.
fn request(held: &HeldCall) -> Option<InputRequest> {
    let request = json!({"method": "elicitation/create", "params": question(held)?});
    serde_json::from_value(request).ok().map(InputRequest::Elicitation)
}
