//! `serve --stop` for the runtime in this process: the person is asked, and how long they may take.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use crate::link::{ASKED_FOR, StopRequest};

/// A terminal that has not taken a question after this long shows it to nobody.
const UNSHOWN: Duration = Duration::from_secs(1);

/// The requests to end the runtime, and until when the current one waits for the person.
#[derive(Debug)]
pub(in crate::console) struct PendingStop {
    requests: watch::Receiver<Option<Arc<StopRequest>>>,
    asked: Option<Deadlines>,
}

/// When a request gets its way, on the monotonic clock.
#[derive(Debug, Clone, Copy)]
struct Deadlines {
    /// If the question is not on the terminal by then.
    unshown: Duration,
    /// If it is not answered by then.
    unanswered: Duration,
}

impl PendingStop {
    pub(in crate::console) fn new(requests: watch::Receiver<Option<Arc<StopRequest>>>) -> Self {
        Self { requests, asked: None }
    }

    /// Waits for the next request; `None` if none can come any more. Cancellation-safe.
    pub(super) async fn next_request(&mut self) -> Option<()> {
        self.requests.changed().await.ok()
    }

    /// Begins to wait for the person; returns by whom the command was run, for the question.
    pub(super) fn ask(&mut self, now: Duration) -> Option<String> {
        let by = self.requests.borrow_and_update().as_ref()?.by.clone();
        self.asked = Some(Deadlines { unshown: now + UNSHOWN, unanswered: now + ASKED_FOR });
        Some(by)
    }

    /// Tells whether the request gets its way; `is_shown` is whether the terminal has the question.
    pub(super) fn is_due(&self, now: Duration, is_shown: bool) -> bool {
        let is_over = |asked: Deadlines| now >= asked.unanswered || now >= asked.unshown && !is_shown;
        self.asked.is_some_and(is_over)
    }

    /// Returns when to look at that again.
    pub(super) fn next_look(&self, now: Duration) -> Option<Duration> {
        let Deadlines { unshown, unanswered } = self.asked?;
        Some(if now < unshown { unshown } else { unanswered })
    }

    /// Answers whether the runtime ends.
    pub(super) fn answer(&mut self, ends: bool) {
        self.requests.borrow().iter().for_each(|request| request.answer(ends));
        self.asked = None;
    }
}
