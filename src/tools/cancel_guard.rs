//! A guard that stops a call's command if the call is dropped while waiting for it.

use super::early_end::{CutHandle, CutReason};
use super::verb::ToolContext;
use crate::envelope::Actor;
use crate::model::phrases::CALL_CANCELLED;
use crate::runtime::Handle;

/// Stops the command of its call when dropped.
pub(super) struct CancelGuard<'a> {
    runtime: &'a Handle,
    actor: &'a Actor,
    call: u64,
}

impl<'a> CancelGuard<'a> {
    pub(super) fn new(cx: &ToolContext<'a>) -> Self {
        Self { runtime: cx.runtime, actor: &cx.caller.actor, call: cx.call }
    }

    /// Waits for the runtime's answer; ends the command if the caller asks for the call to end.
    pub(super) async fn ends<T>(self, cut: &CutHandle, answer: impl Future<Output = T>) -> T {
        tokio::pin!(answer);
        let answer = tokio::select! {
            biased;
            answer = &mut answer => answer,
            reason = cut.wait_for_cut() => {
                self.runtime.cancel_foreground(self.call, self.actor, &reason.why());
                answer.await
            }
        };
        self.disarm();
        answer
    }

    /// Disarms the guard once the runtime has answered: the command has ended, or continues without its call.
    fn disarm(self) {
        std::mem::forget(self);
    }
}

impl Drop for CancelGuard<'_> {
    fn drop(&mut self) {
        self.runtime.cancel_foreground(self.call, self.actor, &withdrawn(self.actor));
    }
}

/// Returns why a command is stopped when its script is gone or its agent has cancelled the call.
pub(super) fn withdrawn(by: &Actor) -> String {
    if *by == Actor::Cli { CutReason::HungUp.why() } else { CALL_CANCELLED.to_owned() }
}
