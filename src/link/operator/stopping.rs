//! `serve --stop` for a runtime that is embedded in a console: the person there is asked for a moment.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::timeout;

/// How long the person is asked; then the runtime ends.
pub const ASKED_FOR: Duration = Duration::from_secs(5);
/// How much longer the console may take to say so. A console that does not is not waited for.
const GRACE: Duration = Duration::from_secs(1);

/// A request to end the runtime that is embedded in a console.
#[derive(Debug)]
pub struct StopRequest {
    /// The process that asks, in words for the person.
    pub by: String,
    /// Whether the runtime ends, once that is known.
    ends: watch::Sender<Option<bool>>,
}

impl StopRequest {
    /// Answers whether the runtime ends.
    pub fn answer(&self, ends: bool) {
        self.ends.send_if_modified(|known| known.is_none() && known.replace(ends).is_none());
    }
}

/// The requests of one runtime. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct StopRequests(Arc<watch::Sender<Option<Arc<StopRequest>>>>);

impl StopRequests {
    /// Returns the receiving end, for the console that the runtime is embedded in.
    #[must_use]
    pub fn listen(&self) -> watch::Receiver<Option<Arc<StopRequest>>> {
        self.0.subscribe()
    }

    /// Asks the person at the console, and returns whether the runtime ends. It does if nobody listens or answers. If
    /// the person is being asked already, that answer counts for this request too.
    pub(super) async fn ask(&self, by: String) -> bool {
        if self.0.receiver_count() == 0 {
            return true;
        }
        let request = self.pending().unwrap_or_else(|| {
            let request = Arc::new(StopRequest { by, ends: watch::Sender::new(None) });
            self.0.send_replace(Some(Arc::clone(&request)));
            request
        });
        let mut ends = request.ends.subscribe();
        match timeout(ASKED_FOR + GRACE, ends.wait_for(Option::is_some)).await {
            Ok(Ok(ends)) => *ends != Some(false),
            _ => true,
        }
    }

    fn pending(&self) -> Option<Arc<StopRequest>> {
        self.0.borrow().clone().filter(|request| request.ends.borrow().is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_runtime_in_a_console_ends_on_request_unless_the_person_says_no() {
        let requests = StopRequests::default();
        assert!(requests.ask("a".into()).await, "nobody listens");
        let mut console = requests.listen();
        for says in [None, Some(true), Some(false)] {
            let asking = requests.clone();
            let both =
                tokio::spawn(async move { tokio::join!(asking.ask("a".into()), asking.ask("b".into())) });
            console.changed().await.expect("asks");
            let request = console.borrow_and_update().clone().expect("a request");
            assert_eq!(request.by, "a");
            tokio::task::yield_now().await;
            says.into_iter().for_each(|ends| request.answer(ends));
            // A second answer changes nothing.
            says.into_iter().for_each(|ends| request.answer(!ends));
            let ends = says.unwrap_or(true);
            assert_eq!(both.await.expect("joins"), (ends, ends), "{says:?}");
            request.answer(true);
        }
    }
}
