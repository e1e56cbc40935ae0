//! Stops the command of a call that is dropped while it waits for that command.

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

    /// The runtime has answered: the command has ended, or goes on without its call.
    pub(super) fn disarm(self) {
        std::mem::forget(self);
    }
}

impl Drop for CancelGuard<'_> {
    fn drop(&mut self) {
        self.runtime.cancel_foreground(self.call, self.actor);
    }
}
