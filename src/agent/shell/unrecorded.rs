//! Commands that run without a runtime because none was available: each leaves a mark first, so that the person can be
//! told later. One that cannot leave a mark does not run.

use std::path::Path;

use super::command_text::CommandText;
use crate::agents::AgentProgram;
use crate::clock::Clock;
use crate::files::{create_folder, create_new};
use crate::link::{Holder, ShellRequest};
use crate::model::UnrecordedCommand;
use crate::paths::Places;
use crate::runtime::leave_mark;

/// Leaves the mark of a command that is about to run in `workdir` without a runtime, and says why it does.
///
/// # Errors
/// If no mark can be left: the command must not run then. The error says that.
pub fn runs_plainly(
    places: &Places,
    request: &ShellRequest,
    workdir: &Path,
    why: &str,
) -> Result<(), String> {
    let mark = mark(request, workdir, why.to_owned());
    // A running runtime may keep its state elsewhere; where that was removed, nobody would look for the mark.
    let holder = Holder::of(places);
    let places = holder.places(places);
    let made = match holder.address() {
        Some(_) => Ok(()),
        None => create_folder(&places.state_dir),
    };
    let path = places.outside();
    made.and_then(|()| leave_mark(&path, mark)).map_err(|error| {
        let place = path.display();
        format!("this command was not run: {why}; and that it ran could not be noted in {place}: {error}")
    })
}

/// Leaves a mark, once for each agent, of a command that `caller` has run in `workdir`, of which nobody can tell whether it
/// is the agent's own. It runs in any case: nothing depends on the mark.
pub fn runs_unrouted(places: &Places, request: &ShellRequest, workdir: &Path, caller: &str) {
    let holder = Holder::of(places);
    let places = holder.places(places);
    let agent = request.agent_pid.unwrap_or_default();
    let is_first = || create_new(&places.runtime_dir.join(format!("unrouted-{agent}"))).is_ok();
    let folders = [&places.runtime_dir, &places.state_dir];
    if folders.into_iter().all(|folder| create_folder(folder).is_ok()) && is_first() {
        let mark = mark(request, workdir, format!("not routed: started by {caller}"));
        let _ = leave_mark(&places.outside(), UnrecordedCommand { caller: Some(caller.to_owned()), ..mark });
    }
}

fn mark(request: &ShellRequest, workdir: &Path, why: String) -> UnrecordedCommand {
    let agent = request.agent.as_deref().and_then(AgentProgram::routed_as);
    UnrecordedCommand {
        at: Clock::start().now().wall,
        agent: request.agent.clone(),
        session: request.session.clone(),
        workdir: workdir.to_string_lossy().into_owned(),
        cmd: CommandText::of(agent, request).cmd,
        why,
        caller: None,
    }
}
