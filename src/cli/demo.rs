//! `pilothouse demo`: a temporary workspace, a console, and a scripted agent that connects to it through the real
//! socket. If nobody acts in the console, the demo does so after a while.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use color_eyre::eyre::{Result, WrapErr, eyre};
use serde::Deserialize;
use serde_json::json;
use tokio::sync::watch;

use super::console;
use super::program_start::ProgramStart;
use super::server::RuntimeServer;
use crate::agent::{AgentScript, OperatorAct, ScriptStage, ScriptWords};
use crate::config::FILE;
use crate::console::{ConsoleOptions, DemoCue, DemoView, FIRST_PLACE, FIRST_WAY, PlainReason};
use crate::dispatch::cli_only::DemoInput;
use crate::envelope::{Actor, TaskId};
use crate::files;
use crate::model::{Decision, Snapshot, Stop, TaskStatus, TypedInput};
use crate::paths::Places;
use crate::process::own_console_process;
use crate::runtime::Handle;

/// The agent's script.
const SCRIPT: &str = include_str!("../../assets/demo/script.toml");
/// The commands it runs: files in the demo's workspace.
const COMMANDS: [(&str, &str); 5] = [
    ("bash", include_str!("../../assets/demo/harbour/bash")),
    ("build", include_str!("../../assets/demo/harbour/build")),
    ("check", include_str!("../../assets/demo/harbour/check")),
    ("preview", include_str!("../../assets/demo/harbour/preview")),
    ("sign", include_str!("../../assets/demo/harbour/sign")),
];
/// The runtime's settings: what needs approval.
const SETTINGS: &str = "[[approvals]]\nconsequence = \"unset\"\n";
/// The name that the agent reports.
const AGENT: &str = "demo-agent";
/// The pause at the end before the demo starts over.
const REST: Duration = Duration::from_secs(5);
/// The maximum playback speed.
const MAX_SPEED: u32 = 10;

/// Plays the demo until the console is closed.
pub(super) async fn run(start: &ProgramStart, input: &DemoInput) -> Result<ExitCode> {
    let folder = Folder::make(&start.places.state_dir)?;
    let script = AgentScript::parse(SCRIPT)?;
    let places = Places::beneath(&folder.workspace, &folder.root.join("state"), None)?;
    files::create_folder(&places.config_dir)
        .and_then(|()| fs::write(places.config_dir.join(FILE), SETTINGS))
        .wrap_err("write the demo's settings")?;
    let server =
        RuntimeServer::open(&places, false)?.ok_or_else(|| eyre!("the demo's workspace is taken"))?;
    // The console's appearance still follows the person's own settings.
    let places = Places { config_dir: start.places.config_dir.clone(), ..places };
    let inside = ProgramStart {
        cwd: places.workspace.clone(),
        program: start.program.clone(),
        flags: start.flags.clone(),
        places,
    };
    let (cues, shown) = watch::channel(DemoCue::default());
    let speed = input.speed.unwrap_or(1).clamp(1, MAX_SPEED);
    let in_lines = PlainReason::of(start.flags.accessible, |name| std::env::var_os(name)).is_some();
    let demo = DemoStage { runtime: server.runtime.clone(), cues, in_lines, speed };
    let last = server.runtime.snapshot();
    let (socket, cwd, again) = (inside.places.agent_socket(), inside.cwd.clone(), input.auto);
    let agent = tokio::spawn(async move { demo.play(&script, socket, cwd, again).await });
    let cues = ConsoleOptions { cues: Some(shown), ..ConsoleOptions::default() };
    let shown = console::embed_with(&inside, server, cues).await;
    agent.abort();
    // Does not mention the recording: it is deleted with the demo's folder.
    let farewell = farewell(&last.borrow());
    let mut exit = shown?;
    exit.farewell = farewell;
    Ok(console::leave(exit))
}

/// Returns what is left on the terminal: what has happened, and what to do next.
fn farewell(last: &Snapshot) -> String {
    let agents = last.tasks.iter().filter(|task| matches!(task.started_by, Actor::Agent(_)));
    let [mut well, mut failed, mut stopped, mut denied] = [0_usize; 4];
    for task in agents {
        match task.status {
            TaskStatus::Completed => well += 1,
            TaskStatus::Cancelled if task.started_at.is_none() => denied += 1,
            TaskStatus::Cancelled => stopped += 1,
            _ => failed += 1,
        }
    }
    let parts = [
        (well, "ended well"),
        (failed, "failed"),
        (stopped, "stopped"),
        (denied, "denied: nothing of it ran"),
    ];
    let parts = parts.into_iter().filter(|(count, _)| *count > 0);
    let parts: Vec<_> = parts.map(|(count, what)| format!("{count} {what}")).collect();
    let next = format!("Next, in a project of yours: pilothouse here, and {FIRST_WAY} {FIRST_PLACE}.");
    if parts.is_empty() {
        return next;
    }
    let asked = well + failed + stopped + denied;
    format!("The demo's agent asked for {asked} commands: {}.\n{next}", parts.join(", "))
}

/// Plays the script and acts as the operator.
struct DemoStage {
    runtime: Handle,
    cues: watch::Sender<DemoCue>,
    /// Whether the console is one in plain lines.
    in_lines: bool,
    speed: u32,
}

impl DemoStage {
    async fn play(&self, script: &AgentScript, socket: PathBuf, cwd: PathBuf, again: bool) {
        loop {
            if let Err(error) = script.play(&socket, cwd.clone(), AGENT, self).await {
                // Reported, unless the person has left and the runtime has ended.
                return self.runtime.notice(format!("demo: the agent broke off: {error}"), true);
            }
            if !again {
                return;
            }
            self.pass(REST).await;
        }
    }

    /// Acts as the operator; does nothing if the action has already been taken or is not possible.
    async fn help(&self, act: &OperatorAct, task: Option<&str>) -> Option<()> {
        let id: Option<TaskId> = task.and_then(|task| task.parse().ok());
        let has_person = |id: &TaskId| self.runtime.task(id).is_some_and(|task| task.lease.is_some());
        match act {
            OperatorAct::Deny(note) => {
                let held = self.runtime.snapshot().borrow().gate.held.first().cloned()?;
                let deny = Decision::Deny { note: note.clone() };
                self.runtime.decide(held.shown_call(None), deny, None).await.ok()
            }
            OperatorAct::Type(text) => {
                let id = id.filter(|id| !has_person(id))?;
                self.runtime
                    .input(&Actor::Operator, &id, TypedInput::Raw(text.clone().into_bytes()))
                    .await
                    .ok()?;
                Some(())
            }
            OperatorAct::Stop(words) => {
                self.runtime.tell_agent(&own_console_process(), AGENT, words).await.ok()?;
                self.runtime.stop(&Actor::Operator, &id?, Stop::default()).await.ok()?;
                Some(())
            }
        }
    }
}

impl ScriptStage for DemoStage {
    fn say(&self, words: &ScriptWords, task: Option<&str>) {
        let task = task.and_then(|task| self.runtime.task(&task.parse().ok()?));
        let name = task.map(|task| format!("t{:02}", task.number)).unwrap_or_default();
        let line = words.line(self.in_lines).replace("{task}", &name);
        self.runtime.notice(format!("demo: {line}"), false);
    }

    fn show(&self, name: &str, task: Option<&str>) {
        if let Ok(view) = DemoView::deserialize(json!(name)) {
            let task = task.and_then(|task| task.parse().ok());
            self.cues.send_replace(DemoCue { view, task });
        }
    }

    async fn until_due(&self, act: &OperatorAct, task: Option<&str>) {
        let id: Option<TaskId> = task.and_then(|task| task.parse().ok());
        let is_due = |now: &Arc<Snapshot>| match act {
            OperatorAct::Deny(_) => !now.gate.held.is_empty(),
            OperatorAct::Type(_) => {
                now.tasks.iter().any(|task| Some(&task.id) == id.as_ref() && task.waiting.is_some())
            }
            OperatorAct::Stop(_) => true,
        };
        // Without a runtime there is nothing to do any more, and the script breaks off.
        let _ = self.runtime.snapshot().wait_for(is_due).await;
    }

    async fn act(&self, act: &OperatorAct, task: Option<&str>) {
        self.help(act, task).await;
    }

    async fn until_left(&self) {
        let has_left =
            |now: &Arc<Snapshot>| now.agents.iter().all(|agent| agent.label != AGENT || !agent.connected);
        let _ = self.runtime.snapshot().wait_for(has_left).await;
    }

    async fn pass(&self, time: Duration) {
        tokio::time::sleep(time / self.speed).await;
    }
}

/// The demo's folder, removed when dropped.
struct Folder {
    root: PathBuf,
    workspace: PathBuf,
}

impl Folder {
    fn make(state: &std::path::Path) -> Result<Self> {
        let demos = state.join("demo");
        let root = files::beside(&demos.join("demo"));
        // Whatever is in a folder that is new may be removed with it.
        files::create_folder(&demos)
            .and_then(|()| DirBuilder::new().mode(0o700).create(&root))
            .wrap_err_with(|| format!("create the folder of the demo {}", root.display()))?;
        let workspace = root.join("harbour");
        let folder = Self { root, workspace };
        let made = files::create_folder(&folder.workspace.join(".git"));
        // Anything git recognises as a repository is a workspace of its own, even inside another one.
        made.and_then(|()| fs::write(folder.workspace.join(".git/HEAD"), "ref: refs/heads/main\n"))
            .wrap_err_with(|| format!("create the demo's workspace {}", folder.workspace.display()))?;
        for (name, text) in COMMANDS {
            let path = folder.workspace.join(name);
            let written = fs::write(&path, text)
                .and_then(|()| fs::set_permissions(&path, fs::Permissions::from_mode(0o700)));
            written.wrap_err_with(|| format!("write the demo's command {}", path.display()))?;
        }
        Ok(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.root) {
            tracing::warn!(%error, folder = %self.root.display(), "remove the demo's folder");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_demo_gives_deletions_beyond_its_own_files_to_a_shell_that_runs_nothing() {
        let script: toml::Value = toml::from_str(SCRIPT).expect("TOML");
        let steps = script["step"].as_array().expect("steps");
        let mut others = 0;
        for step in steps {
            let Some(cmd) = step.get("cmd").and_then(toml::Value::as_str) else { continue };
            if !cmd.starts_with("./") && cmd != "rm -rf out" {
                assert_eq!(step.get("shell").and_then(toml::Value::as_str), Some("./bash"), "{cmd}");
                others += 1;
            }
        }
        assert_eq!(others, 1);
        let folder = tempfile::tempdir().expect("temp dir");
        let shell = folder.path().join("bash");
        fs::write(&shell, COMMANDS[0].1).expect("written");
        fs::set_permissions(&shell, fs::Permissions::from_mode(0o700)).expect("a program");
        let line = "touch made; echo $HOME";
        let ran = std::process::Command::new(&shell).args(["-c", line]).current_dir(folder.path()).output();
        let said = String::from_utf8(ran.expect("runs").stdout).expect("text");
        assert_eq!(said, format!("the demo has run nothing of: {line}\n"));
        assert!(!folder.path().join("made").exists());
    }

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
