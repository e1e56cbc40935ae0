//! Stops the command of a call that is dropped while it waits for that command.

use super::cut::{Cut, CutShort};
use super::verb::Context;
use crate::envelope::Actor;
use crate::runtime::Handle;

/// While it lives, a call that is dropped takes its command with it.
pub(super) struct CancelGuard<'a> {
    runtime: &'a Handle,
    actor: &'a Actor,
    call: u64,
}

impl<'a> CancelGuard<'a> {
    pub(super) fn new(cx: &Context<'a>) -> Self {
        Self { runtime: cx.runtime, actor: &cx.caller.actor, call: cx.call }
    }

    /// Waits for the answer of the runtime; ends the command when the caller wants the call to end.
    pub(super) async fn ends<T>(self, cut: &Cut, answer: impl Future<Output = T>) -> T {
        tokio::pin!(answer);
        let answer = tokio::select! {
            biased;
            answer = &mut answer => answer,
            reason = cut.asked() => {
                self.runtime.cancel_foreground(self.call, self.actor, &reason.why());
                answer.await
            }
        };
        self.disarm();
        answer
    }

    /// The runtime has answered: the command has ended, or goes on without its call.
    fn disarm(self) {
        std::mem::forget(self);
    }
}

impl Drop for CancelGuard<'_> {
    fn drop(&mut self) {
        self.runtime.cancel_foreground(self.call, self.actor, &withdrawn(self.actor));
    }
}

/// Says why a command is stopped whose script has gone, and one whose agent has cancelled the call.
pub(super) fn withdrawn(by: &Actor) -> String {
    if *by == Actor::Cli { CutShort::HungUp.why() } else { "the call was cancelled".to_owned() }
}
