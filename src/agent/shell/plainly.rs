//! Commands that run without a runtime because none was available: each is logged, so that the person can be told
//! later.

use std::path::Path;

use super::serve::Shown;
use super::unwrap::Kind;
use crate::clock::Clock;
use crate::link::{Holder, ShellRequest};
use crate::paths::Places;
use crate::runtime::{Mark, leave_mark};

/// Logs that a command runs in `workdir` without a runtime, and why. A failure to write the log never keeps the
/// command from running, and is not reported.
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
    // A running runtime may keep its state elsewhere.
    let _ = leave_mark(&Holder::of(places).places(places).outside(), mark);
}
