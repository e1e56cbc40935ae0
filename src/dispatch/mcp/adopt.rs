//! `adopt`: redirects an agent's own shell here permanently, by merging settings into its configuration, and undoes
//! that.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::install::{InstallStep, McpInstallOutput, describe, install, undo, undoing};
use crate::agents::{
    AgentProgram, CODEX_ENVIRONMENTS, ConfigFile, HookEntry, HookSetup, InstallScope, ShellRedirect,
};
use crate::config::LoadedSettings;
use crate::dispatch::code::Code;
use crate::dispatch::command::{Danger, Example, LocalCommand};
use crate::dispatch::context::CommandContext;
use crate::dispatch::merge::SERVER_NAME;
use crate::dispatch::response::Failure;
use crate::process::{HookFiles, ShellLinks};

pub(in crate::dispatch) struct Adopt;

/// When it takes effect, and how to bypass it.
const LED_HERE: &str =
    "new sessions are routed through Pilothouse; set PILOTHOUSE_SHELL=off to bypass it at once";

/// The agent.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::dispatch) struct AdoptInput {
    /// The agent whose shell is routed through Pilothouse.
    agent: AgentProgram,
    /// Remove only the added configuration.
    #[serde(default)]
    undo: bool,
}

impl LocalCommand for Adopt {
    const PATH: &'static str = "adopt";
    const ABOUT: &'static str = "Route an agent's own shell through Pilothouse permanently: edit its \
        configuration, show the change; --undo reverts it";
    const DANGER: Danger = Danger::Mutating;
    const EXITS: &'static [u8] = &[4];
    const EXAMPLES: &'static [Example] = &[
        Example {
            about: "Route Claude Code's shell through Pilothouse, for you, everywhere",
            input: r#"{"agent":"claude"}"#,
        },
        Example { about: "Revert that", input: r#"{"agent":"claude","undo":true}"# },
    ];

    type Input = AdoptInput;
    type Output = McpInstallOutput;

    async fn run(cx: &mut CommandContext, input: AdoptInput) -> Result<McpInstallOutput, Failure> {
        let places = cx.host.places()?;
        if input.undo {
            let (steps, record) = undoing(&places, input.agent, None, true)?;
            undo(&steps, &record)?;
            return Ok(McpInstallOutput::of(input.agent, "removed", steps, Vec::new()));
        }
        let (steps, notes) = steps(cx, input.agent)?;
        let links = links()?;
        let program =
            cx.host.program().ok_or_else(|| precondition("this program's own path is not known."))?;
        links
            .make(&program)
            .map_err(|error| precondition(&format!("the links cannot be created: {error}")))?;
        let plugin = hook(cx, input.agent).and_then(|(_, setup)| setup.plugin);
        if let Some((files, text)) = HookFiles::of_user(input.agent.as_str()).zip(plugin) {
            files
                .write(&files.plugin(), &text)
                .map_err(|error| precondition(&format!("the plugin cannot be created: {error}")))?;
        }
        let backups = install(&steps, &places, InstallScope::User, input.agent, true)?;
        Ok(McpInstallOutput::of(input.agent, "installed", steps, notes).with_backups(backups))
    }

    async fn dry_run(cx: &mut CommandContext, input: AdoptInput) -> Result<Value, Failure> {
        let places = cx.host.places()?;
        let output = if input.undo {
            let (steps, _) = undoing(&places, input.agent, None, true)?;
            McpInstallOutput::of(input.agent, "would_remove", steps, Vec::new())
        } else {
            let (steps, notes) = steps(cx, input.agent)?;
            McpInstallOutput::of(input.agent, "would_install", steps, notes)
        };
        serde_json::to_value(output).map_err(|error| Failure::internal(&error))
    }

    fn text(output: &McpInstallOutput) -> String {
        serde_json::to_value(output).map(|data| describe(&data)).unwrap_or_default()
    }

    fn notes(output: &McpInstallOutput) -> Vec<String> {
        output.notes().to_vec()
    }

    fn form(name: &str, data: &Value) -> Option<String> {
        (name == "plain").then(|| describe(data))
    }
}

/// Returns the changes to the agent's files. Changes nothing itself.
fn steps(cx: &CommandContext, agent: AgentProgram) -> Result<(Vec<InstallStep>, Vec<String>), Failure> {
    let host = &*cx.host;
    let setting = agent.own_shell().and_then(|shell| shell.setting);
    let hook = hook(cx, agent).and_then(|(entry, setup)| Some((entry.file?, setup)));
    let (mut steps, mut notes) = match agent.own_shell().map(|shell| shell.redirect) {
        Some(ShellRedirect::OwnFile { .. }) => codex(cx)?,
        _ => (Vec::new(), Vec::new()),
    };
    let started = format!("start it with `pilothouse {}`", agent.as_str());
    match setting {
        _ if !steps.is_empty() => {}
        Some(setting) => {
            let own = host.variable("SHELL");
            let link = links()?.for_shell(own.as_deref().map(std::path::Path::new));
            let mut step = open_step(cx, agent, setting.file, setting.is_strict)?;
            step.add(setting.file.format(), &setting.naming(&link.to_string_lossy()))?;
            let is_kept = step.keeps_any();
            steps.push(step);
            notes.push(match is_kept {
                true => format!("its sessions keep that shell: {started}"),
                false => LED_HERE.to_owned(),
            });
        }
        None if hook.is_some() => notes.push(format!(
            "its sessions are shown here; it has no setting for its shell: to route that, {started}"
        )),
        None => {
            let message = format!("{} has no setting for its shell.", agent.profile().name);
            let fix = match agent.own_shell() {
                Some(_) => started,
                None => format!("connect it over MCP: `pilothouse mcp install {}`", agent.as_str()),
            };
            return Err(precondition(&message).fix(fix));
        }
    }
    if let Some((file, setup)) = hook {
        let path = file.path(host);
        let known = steps.iter().position(|step| Some(&step.path) == path.as_ref());
        let mut step = known.map_or_else(|| open_step(cx, agent, file, false), |at| Ok(steps.remove(at)))?;
        if setup.waits_otherwise(&step.settings(file.format())) {
            let message = format!("{} waits for our hook as it was told before.", agent.profile().name);
            return Err(precondition(&message)
                .fix(format!("`pilothouse adopt {} --undo`, then adopt it again", agent.as_str())));
        }
        step.add(file.format(), &setup.settings)?;
        steps.push(step);
    }
    notes.extend(agent.hook().map(|hook| hook.entry.next).filter(|next| !next.is_empty()).map(str::to_owned));
    Ok((steps, notes))
}

/// Reads a file of an agent that is to be changed.
fn open_step(
    cx: &CommandContext,
    agent: AgentProgram,
    place: ConfigFile,
    is_strict: bool,
) -> Result<InstallStep, Failure> {
    let path = place.path(&*cx.host).ok_or_else(|| precondition("HOME is not set."))?;
    let before = super::file::read(&path)?;
    let text = before.as_deref().filter(|text| is_strict && !text.trim().is_empty());
    if let Some(Err(error)) = text.map(serde_json::from_str::<Value>) {
        let message = format!("{} is nothing that {} reads: {error}.", path.display(), agent.profile().name);
        return Err(precondition(&message).fix("make it plain JSON: no comments, no comma before a bracket"));
    }
    Ok(InstallStep::new(place, path, before))
}

/// Returns how an agent runs our hook, and what leads it there.
fn hook(cx: &CommandContext, agent: AgentProgram) -> Option<(&'static HookEntry, HookSetup)> {
    let (entry, files) = (&agent.hook()?.entry, HookFiles::of_user(agent.as_str())?);
    // An agent that is configured only here may start its hooks with a PATH other than its own.
    let own = cx.host.program().filter(|_| entry.process.is_none() && entry.plugin.is_none());
    let own = own.map(|own| own.to_string_lossy().into_owned());
    let program = own.unwrap_or_else(|| agent.command(&*cx.host, InstallScope::User));
    let mut setup = agent.hook_setup(&program, &files.plugin())?;
    let places = cx.host.places().ok()?;
    let holds = LoadedSettings::read(&places.config_dir, &places.workspace)
        .is_ok_and(|loaded| loaded.settings.agents.hold_prompts);
    if let Some(answering) = agent.hook()?.answering.filter(|answering| holds && answering.is_on_request) {
        setup.hold(answering.patience);
    }
    Some((entry, setup))
}

/// Returns the changes that make Codex start our executor. With no local environment beside it, a dead executor is an
/// error; with one, Codex would silently run commands itself.
fn codex(cx: &CommandContext) -> Result<(Vec<InstallStep>, Vec<String>), Failure> {
    let host = &*cx.host;
    let program = AgentProgram::Codex.command(host, InstallScope::User);
    let own = json!({ "id": SERVER_NAME, "program": program, "args": ["codex-executor"] });
    let place = CODEX_ENVIRONMENTS;
    let path = place.path(host).ok_or_else(|| precondition("HOME is not set."))?;
    let mut step = InstallStep::new(place, path.clone(), super::file::read(&path)?);
    let there = step.settings(place.format());
    let named = there["environments"].as_array().into_iter().flatten();
    if named.clone().any(|environment| environment["id"] == SERVER_NAME && *environment != own) {
        let message = format!("{} already has a different environment `{SERVER_NAME}`.", path.display());
        return Err(precondition(&message).fix("remove it with `pilothouse adopt codex --undo`, or by hand"));
    }
    let mut notes = vec![
        LED_HERE.to_owned(),
        "what Codex runs in its sandbox is still run by its own server; it is shown as an observed task"
            .to_owned(),
        "Codex calls a login shell (`bash -lc`) for what it runs here: a profile that sets PATH, as Debian's does, leaves \
         out Codex's own `rg`"
            .to_owned(),
        "Codex 0.171 starts no MCP server that it would reach over standard input and output (\"requires a local \
         environment\"), this one included, while it is adopted"
            .to_owned(),
    ];
    let default = &there["default"];
    if !default.is_null() && default != SERVER_NAME {
        notes.push(format!(
            "`default` remains {default}: sessions in that environment are not routed through Pilothouse"
        ));
    }
    if path.starts_with(std::env::temp_dir()) {
        notes.push(
            "Codex does not start helpers from a CODEX_HOME below the temporary folder: move it".to_owned(),
        );
    }
    step.add(
        place.format(),
        &json!({ "default": SERVER_NAME, "include_local": false, "environments": [own] }),
    )?;
    Ok((vec![step], notes))
}

fn links() -> Result<ShellLinks, Failure> {
    ShellLinks::of_user().ok_or_else(|| precondition("neither HOME nor XDG_DATA_HOME is set."))
}

fn precondition(message: &str) -> Failure {
    Failure::new(Code::Precondition, message)
}
