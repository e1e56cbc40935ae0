//! Commands that run without a runtime because none was available: each leaves a mark first, so that the person can be
//! told later. One that cannot leave a mark does not run.

use std::path::Path;

use super::command_text::CommandText;
use crate::agents::AgentProgram;
use crate::clock::Clock;
use crate::files::create_folder;
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
    let agent = request.agent.as_deref().and_then(AgentProgram::routed_as);
    let mark = UnrecordedCommand {
        at: Clock::start().now().wall,
        agent: request.agent.clone(),
        session: request.session.clone(),
        workdir: workdir.to_string_lossy().into_owned(),
        cmd: CommandText::of(agent, request).cmd,
        why: why.to_owned(),
    };
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
