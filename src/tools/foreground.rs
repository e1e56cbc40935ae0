//! A call in whose foreground something is about to run: dropped, the call takes it along.

use super::verb::Context;
use crate::envelope::Actor;
use crate::runtime::Handle;

/// While it lives, the command belongs to its call: a call that is dropped takes the command with it.
pub(super) struct Foreground<'a> {
    runtime: &'a Handle,
    actor: &'a Actor,
    call: u64,
}

impl<'a> Foreground<'a> {
    pub(super) fn of(cx: &Context<'a>) -> Self {
        Self { runtime: cx.runtime, actor: &cx.caller.actor, call: cx.call }
    }

    /// The runtime has answered: the command has ended, or stands on its own.
    pub(super) fn over(self) {
        std::mem::forget(self);
    }
}

impl Drop for Foreground<'_> {
    fn drop(&mut self) {
        self.runtime.cancel_foreground(self.call, self.actor);
    }
}
