//! A command that runs plainly, because no runtime could be had: it leaves a mark, so that the person hears of it later.

use std::path::Path;

use super::serve::Shown;
use super::unwrap::Kind;
use crate::clock::Clock;
use crate::link::{Holder, ShellRequest};
use crate::paths::Places;
use crate::runtime::{Mark, leave_mark};

/// Leaves a mark of a command that runs without a runtime, in `workdir`, and why. Nothing keeps the command from running:
/// where the mark cannot be left, nobody hears of it here.
pub fn runs_plainly(places: &Places, request: &ShellRequest, workdir: &Path, why: &str) {
    let agent = request.agent.as_deref().and_then(|agent| agent.parse::<Kind>().ok());
    let mark = Mark {
        at: Clock::start().now().wall,
        agent: request.agent.clone(),
        session: request.session.clone(),
        workdir: workdir.to_string_lossy().into_owned(),
        cmd: Shown::of(agent, request).cmd,
        why: why.to_owned(),
    };
    // A runtime that is there may keep its state elsewhere.
    let _ = leave_mark(&Holder::of(places).places(places).outside(), mark);
}
