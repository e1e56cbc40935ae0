//! `pilothouse demo`: a throw-away workspace, a console, and a scripted agent that connects to it
//! through the real socket.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use color_eyre::eyre::{Result, WrapErr, eyre};
use serde_json::json;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::server::RuntimeServer;
use super::{Start, console};
use crate::agent::Script;
use crate::config::ExecPolicy;
use crate::dispatch::run_program::RunInput;
use crate::envelope::Actor;
use crate::files;
use crate::paths::Places;
use crate::prose::run::Run;
use crate::runtime::Handle;

/// What the agent does.
const SCRIPT: &str = include_str!("../../assets/demo/script.toml");
/// The commands it runs: files of the demo's workspace.
const COMMANDS: [(&str, &str); 5] = [
    ("build", include_str!("../../assets/demo/harbour/build")),
    ("check", include_str!("../../assets/demo/harbour/check")),
    ("deploy", include_str!("../../assets/demo/harbour/deploy")),
    ("preview", include_str!("../../assets/demo/harbour/preview")),
    (PROGRAM, include_str!("../../assets/demo/harbour/ship.prose")),
];
/// The program it runs at the end.
const PROGRAM: &str = "ship.prose";
/// The closing notice.
const LAST: &str = "that was all: o start  : everything  ? help  q quit. what runs is yours";
/// Events of the program that may wait; nobody reads them, the console shows the program itself.
const EVENTS: usize = 1;
/// What the agent calls itself.
const AGENT: &str = "demo-agent";

/// Plays the demo until the console is closed.
pub(super) async fn run(start: &Start) -> Result<ExitCode> {
    let stage = Stage::set(&start.places.state_dir)?;
    let script = Script::parse(SCRIPT)?;
    let places = Places::beneath(&stage.workspace, &stage.folder.join("state"), None)?;
    let server =
        RuntimeServer::open(&places, false)?.ok_or_else(|| eyre!("the demo's workspace is taken"))?;
    // Its runtime has the defaults; how the console looks is the person's all the same.
    let places = Places { config_dir: start.places.config_dir.clone(), ..places };
    let inside = Start {
        cwd: places.workspace.clone(),
        program: start.program.clone(),
        flags: start.flags.clone(),
        places,
    };
    let agent =
        tokio::spawn(play(script, inside.places.agent_socket(), inside.cwd.clone(), server.runtime.clone()));
    let shown = console::embed(&inside, server, false).await;
    agent.abort();
    // No word of the recording: it goes with the demo's folder.
    Ok(ExitCode::from(shown?.code))
}

async fn play(script: Script, socket: PathBuf, cwd: PathBuf, runtime: Handle) {
    let narrate = |line: &str| runtime.notice(format!("demo: {line}"), false);
    if let Err(error) = script.play(&socket, cwd.clone(), AGENT, narrate).await {
        // Said, unless the person has left and the runtime with them.
        return runtime.notice(format!("demo: the agent broke off: {error}"), true);
    }
    match ship(&runtime, &cwd).await {
        Ok(()) => narrate(LAST),
        Err(error) => runtime.notice(format!("demo: the program broke off: {error}"), true),
    }
}

/// Runs the program until it ends, at its last line or at a gate that is not opened.
async fn ship(runtime: &Handle, cwd: &Path) -> Result<()> {
    let input: RunInput = serde_json::from_value(json!({ "file": PROGRAM }))?;
    let request = input.request(cwd, true, ExecPolicy::Allow).map_err(|failure| eyre!("{failure:?}"))?;
    let (events, told) = mpsc::channel(EVENTS);
    drop(told);
    let run = Run::open(runtime, request, Actor::Operator, events).await?;
    run.go(CancellationToken::new()).await;
    Ok(())
}

/// The demo's folder, removed at the end.
struct Stage {
    folder: PathBuf,
    workspace: PathBuf,
}

impl Stage {
    fn set(state: &Path) -> Result<Self> {
        let folder = state.join("demo").join(std::process::id().to_string());
        let workspace = folder.join("harbour");
        let stage = Self { folder, workspace };
        let made = files::create_folder(&stage.workspace.join(".git"));
        // What git takes for a repository is a workspace of its own, even beneath another one.
        made.and_then(|()| fs::write(stage.workspace.join(".git/HEAD"), "ref: refs/heads/main\n"))
            .wrap_err_with(|| format!("create the demo's workspace {}", stage.workspace.display()))?;
        for (name, text) in COMMANDS {
            let path = stage.workspace.join(name);
            let written = fs::write(&path, text)
                .and_then(|()| fs::set_permissions(&path, fs::Permissions::from_mode(0o700)));
            written.wrap_err_with(|| format!("write the demo's command {}", path.display()))?;
        }
        Ok(stage)
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.folder) {
            tracing::warn!(%error, folder = %self.folder.display(), "remove the demo's folder");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_demos_commands_are_posix_sh_and_the_script_runs_no_others() {
        for (name, text) in COMMANDS {
            let checked =
                std::process::Command::new("sh").args(["-n", "-c", text]).output().expect("sh runs");
            assert!(checked.status.success(), "{name}\n{}", String::from_utf8_lossy(&checked.stderr));
        }
        let started: Vec<&str> =
            SCRIPT.split("cmd = \"./").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        assert!(started.len() == 4, "{started:?}");
        assert!(started.iter().all(|name| COMMANDS.iter().any(|(known, _)| known == name)), "{started:?}");
    }
}
