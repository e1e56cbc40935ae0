//! The handle's part for calls that wait for the operator.

use super::Handle;
use crate::config::ApprovalRule;
use crate::runtime::Error;
use crate::runtime::gate::{BatchRequest, Decision};
use crate::runtime::order::Order;

impl Handle {
    /// Holds new calls of agents from now on, or lets those go that only the pause holds.
    pub async fn pause(&self, paused: bool) {
        self.tell(Order::Pause { paused }).await;
    }

    /// Asks about new calls by these rules from now on.
    pub async fn ask_by(&self, rules: Vec<ApprovalRule>) {
        self.tell(Order::Rules { rules }).await;
    }

    /// Says the operator's word to a held call; `hash` is that of the request they were shown.
    ///
    /// # Errors
    /// When that very request is not held any more.
    pub async fn decide(&self, ticket: u64, hash: String, decision: Decision) -> Result<(), Error> {
        self.order(|reply| Order::Decide { ticket, hash, decision, reply }).await
    }

    /// Waits until a batch may begin. To stop waiting, cancel the foreground of its call.
    ///
    /// # Errors
    /// When the operator denied it or did not decide in time.
    pub async fn admit(&self, batch: BatchRequest) -> Result<(), Error> {
        let within = self.within.clone();
        self.order(|reply| Order::Admit { batch: Box::new(batch), within, reply }).await
    }
}
