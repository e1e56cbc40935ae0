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
use crate::process::Identity;
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
        format!("this command was not run: {why}; and that it ran could not be noted in {place}: {error}; `pilothouse doctor` says what to do")
    })
}

/// How the names of the files begin that say of which agents somebody was told; the process follows, and when it started.
const UNROUTED: &str = "unrouted-";

/// Leaves a mark, once for each agent, of a command that `caller` has run in `workdir`, of which nobody can tell whether it
/// is the agent's own. It runs in any case: nothing depends on the mark.
pub fn runs_unrouted(places: &Places, request: &ShellRequest, workdir: &Path, caller: &str) {
    let holder = Holder::of(places);
    let places = holder.places(places);
    let Identity { pid, start, .. } = Identity::of(request.agent_pid.unwrap_or_default());
    let is_first = || create_new(&places.runtime_dir.join(format!("{UNROUTED}{pid}-{start}"))).is_ok();
    let folders = [&places.runtime_dir, &places.state_dir];
    if folders.into_iter().all(|folder| create_folder(folder).is_ok()) && is_first() {
        let mark = mark(request, workdir, format!("not routed: started by {caller}"));
        let _ = leave_mark(&places.outside(), UnrecordedCommand { caller: Some(caller.to_owned()), ..mark });
    }
}

/// Forgets of which agents such a mark was left: a new runtime tells its person again.
pub fn forget_unrouted(places: &Places) {
    let files = std::fs::read_dir(&places.runtime_dir).into_iter().flatten().flatten();
    for file in files.filter(|file| file.file_name().as_encoded_bytes().starts_with(UNROUTED.as_bytes())) {
        let _ = std::fs::remove_file(file.path());
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::ShellInput;
    use crate::process::InheritedAttributes;
    use crate::runtime::untold;

    #[test]
    fn an_unrouted_command_is_marked_once_for_each_agent_and_runtime() {
        let dir = tempfile::tempdir().expect("temp dir");
        let places = Places::beneath(dir.path(), &dir.path().join("state"), None).expect("places");
        let by = |agent_pid| ShellRequest {
            agent: Some("pi".into()),
            session: None,
            agent_pid: Some(agent_pid),
            shell: "/bin/bash".into(),
            inherited: InheritedAttributes::own(),
            descriptors: Vec::new(),
            input: ShellInput::Descriptor,
            tool_call: None,
            shown: None,
            description: None,
            unfit: None,
            args: ["bash", "-c", "ls"].map(Into::into).into(),
        };
        let own = by(std::process::id());
        for expected in [1, 1] {
            runs_unrouted(&places, &own, dir.path(), "node");
            assert_eq!(untold(&places.outside()), expected);
        }
        runs_unrouted(&places, &by(1), dir.path(), "node");
        assert_eq!(untold(&places.outside()), 2, "another agent");
        forget_unrouted(&places);
        runs_unrouted(&places, &own, dir.path(), "node");
        assert_eq!(untold(&places.outside()), 3, "another runtime");
        let left = std::fs::read_dir(&places.runtime_dir).expect("a folder").count();
        assert_eq!(left, 1);
    }
}
