//! `mcp install`: connects an agent by merging settings into its configuration files, and undoes that.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::file;
use super::record::{InstallRecord, InstallRecordEntry};
use super::{losses, scope_of};
use crate::agents::{AgentProgram, ConfigFile, Connection, InstallScope};
use crate::dispatch::code::Code;
use crate::dispatch::command::{Danger, Example, LocalCommand};
use crate::dispatch::context::CommandContext;
use crate::dispatch::host::on_path;
use crate::dispatch::merge::{AddedSetting, Format, unified_diff};
use crate::dispatch::response::Failure;
use crate::files::digest;
use crate::paths::Places;

pub(in crate::dispatch) struct McpInstall;

/// The agent and the scope.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::dispatch) struct McpInstallInput {
    /// The agent to connect. Not tested with the program itself: cursor, vscode, zed. pi, Kilo and Cline are only
    /// started (`pilothouse pi`).
    agent: AgentProgram,
    /// The scope: `user` for you everywhere, `project` for everyone, in files that the workspace shares, `local` for
    /// you in this workspace.
    scope: Option<InstallScope>,
    /// Leave the agent's own shell enabled.
    #[serde(default)]
    keep_shell: bool,
    /// Remove only the added configuration.
    #[serde(default)]
    undo: bool,
}

/// The changes to the agent's files.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::dispatch) struct McpInstallOutput {
    /// `installed`, `removed` or `unchanged`; `would_…` in a dry run.
    effect: String,
    /// The agent.
    agent: AgentProgram,
    /// Its files, in the order in which they are changed.
    files: Vec<FileChange>,
    /// Additional notes.
    notes: Vec<String>,
}

/// One file.
#[derive(Debug, Serialize, JsonSchema)]
struct FileChange {
    /// Its path.
    path: String,
    /// The change to the file.
    change: FileEffect,
    /// The change, as `diff -u` shows it. Secrets in it are masked.
    diff: String,
    /// The backup of the file.
    backup: Option<String>,
    /// Keys whose value differs from the expected one, and is kept.
    kept: Vec<String>,
}

/// The change to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum FileEffect {
    Created,
    Changed,
    Removed,
    Unchanged,
}

/// A change to one file.
pub(super) struct InstallStep {
    pub(super) path: PathBuf,
    before: Option<String>,
    /// `None` if the file is to be removed.
    after: Option<String>,
    added: Vec<AddedSetting>,
    kept: Vec<String>,
    mode: u32,
    /// The backup that the file is restored from; it is no longer needed afterwards.
    used_backup: Option<PathBuf>,
    created_folder: Option<PathBuf>,
}

impl LocalCommand for McpInstall {
    const PATH: &'static str = "mcp.install";
    const ABOUT: &'static str =
        "Connect an agent: edit its configuration, show the change; --undo reverts it";
    const DANGER: Danger = Danger::Mutating;
    const EXITS: &'static [u8] = &[4];
    const EXAMPLES: &'static [Example] = &[
        Example { about: "Connect Claude Code in this workspace, for you", input: r#"{"agent":"claude"}"# },
        Example {
            about: "Connect it for everybody who works here (.mcp.json)",
            input: r#"{"agent":"claude","scope":"project"}"#,
        },
        Example { about: "Remove what was added", input: r#"{"agent":"claude","undo":true}"# },
    ];

    type Input = McpInstallInput;
    type Output = McpInstallOutput;

    async fn run(cx: &mut CommandContext, input: McpInstallInput) -> Result<McpInstallOutput, Failure> {
        let places = cx.host.places()?;
        if input.undo {
            let (steps, record) = undoing(&places, input.agent, input.scope, false)?;
            undo(&steps, &record)?;
            return Ok(McpInstallOutput::of(input.agent, "removed", steps, Vec::new()));
        }
        let scope = scope_of(input.agent, input.scope)?;
        let (steps, notes) = steps(cx, &places, scope, &input)?;
        let backups = install(&steps, &places, scope, input.agent, false)?;
        Ok(McpInstallOutput::of(input.agent, "installed", steps, notes).with_backups(backups))
    }

    async fn dry_run(cx: &mut CommandContext, input: McpInstallInput) -> Result<Value, Failure> {
        let places = cx.host.places()?;
        let output = if input.undo {
            McpInstallOutput::of(
                input.agent,
                "would_remove",
                undoing(&places, input.agent, input.scope, false)?.0,
                Vec::new(),
            )
        } else {
            let (steps, notes) = steps(cx, &places, scope_of(input.agent, input.scope)?, &input)?;
            McpInstallOutput::of(input.agent, "would_install", steps, notes)
        };
        serde_json::to_value(output).map_err(|error| Failure::internal(&error))
    }

    fn text(output: &McpInstallOutput) -> String {
        serde_json::to_value(output).map(|data| describe(&data)).unwrap_or_default()
    }

    fn notes(output: &McpInstallOutput) -> Vec<String> {
        output.notes.clone()
    }

    fn form(name: &str, data: &Value) -> Option<String> {
        (name == "plain").then(|| describe(data))
    }
}

/// Reads the agent's files and returns the changes to each. Changes nothing itself.
fn steps(
    cx: &CommandContext,
    places: &Places,
    scope: InstallScope,
    input: &McpInstallInput,
) -> Result<(Vec<InstallStep>, Vec<String>), Failure> {
    let (host, agent) = (&*cx.host, input.agent);
    let command = agent.command(host, scope);
    let mut steps = Vec::new();
    let to = Connection { scope, command: &command, workspace: &places.workspace };
    for target in agent.additions(to) {
        let path =
            target.file.path(host).ok_or_else(|| Failure::new(Code::Precondition, "HOME is not set."))?;
        let before = file::read(&path)?;
        let mut step = InstallStep::new(target.file, path, before);
        for settings in target.settings(input.keep_shell) {
            step.add(target.file.format(), settings)?;
        }
        steps.push(step);
    }
    let mut notes = vec![agent.profile().next.to_owned()];
    if !Path::new(&command).is_absolute() && on_path(host, &command).is_none() {
        notes.push(format!("`{command}` is not on the PATH: the agent does not find it until it is"));
    }
    notes.extend(losses(agent));
    Ok((steps, notes))
}

/// Records what is added, then changes the files. Returns the backups.
pub(super) fn install(
    steps: &[InstallStep],
    places: &Places,
    scope: InstallScope,
    agent: AgentProgram,
    leads_shell: bool,
) -> Result<Vec<Option<PathBuf>>, Failure> {
    let mut record = InstallRecord::read(&places.state_dir)?;
    let mut backups = Vec::new();
    for step in steps {
        let Some(after) = step.after.as_deref().filter(|_| step.is_change()) else {
            backups.push(None);
            continue;
        };
        let created_folder = file::make_folders(&step.path)?;
        let backup = step.before.as_deref().map(|before| file::back_up(&step.path, before)).transpose()?;
        record.entries.push(InstallRecordEntry {
            agent,
            scope,
            workspace: places.workspace.clone(),
            path: step.path.clone(),
            backup: backup.clone(),
            created_folder,
            before: digest(step.before.as_deref().unwrap_or_default()),
            after: digest(after),
            added: step.added.clone(),
            leads_shell,
        });
        record.write()?;
        file::write(&step.path, step.before.as_deref(), after, step.mode)?;
        backups.push(backup);
    }
    Ok(backups)
}

/// Returns the changes that undo ours, and the record that is left afterwards.
pub(super) fn undoing(
    places: &Places,
    agent: AgentProgram,
    scope: Option<InstallScope>,
    leads_shell: bool,
) -> Result<(Vec<InstallStep>, InstallRecord), Failure> {
    let mut record = InstallRecord::read(&places.state_dir)?;
    let is_meant = |entry: &InstallRecordEntry| {
        entry.agent == agent
            && entry.leads_shell == leads_shell
            && (entry.scope == InstallScope::User || entry.workspace == places.workspace)
            && scope.is_none_or(|scope| scope == entry.scope)
    };
    let (meant, others): (Vec<InstallRecordEntry>, Vec<InstallRecordEntry>) =
        record.entries.drain(..).partition(is_meant);
    record.entries = others;
    if meant.is_empty() {
        let message = {
            let command = if leads_shell { "adopt" } else { "mcp install" };
            format!("`{command} {}` added nothing here.", agent.as_str())
        };
        return Err(Failure::new(Code::Precondition, message));
    }
    let mut steps: Vec<InstallStep> = Vec::new();
    // Newest first: each is undone on top of what undoing the later ones has left.
    for entry in meant.iter().rev() {
        let known = steps.iter().position(|step| step.path == entry.path);
        let mut step = match known {
            Some(at) => steps.remove(at),
            None => InstallStep::of(entry.path.clone(), file::read(&entry.path)?),
        };
        step.take_back(entry)?;
        steps.push(step);
    }
    Ok((steps, record))
}

pub(super) fn undo(steps: &[InstallStep], record: &InstallRecord) -> Result<(), Failure> {
    for step in steps.iter().filter(|step| step.is_change()) {
        match &step.after {
            Some(after) => file::write(&step.path, step.before.as_deref(), after, step.mode)?,
            None => file::remove(&step.path, step.before.as_deref(), step.created_folder.as_deref())?,
        }
        if let Some(backup) = &step.used_backup {
            // Ignores a backup that is already gone.
            let _ = std::fs::remove_file(backup);
        }
    }
    record.write()
}

impl InstallStep {
    pub(super) fn new(place: ConfigFile, path: PathBuf, before: Option<String>) -> Self {
        let mode = if place.is_in_workspace() { 0o644 } else { 0o600 };
        Self { mode, ..Self::of(path, before) }
    }

    fn of(path: PathBuf, before: Option<String>) -> Self {
        let after = before.clone();
        Self {
            path,
            before,
            after,
            added: Vec::new(),
            kept: Vec::new(),
            mode: 0o600,
            used_backup: None,
            created_folder: None,
        }
    }

    /// Returns the settings that the file has; null if it has none that can be read.
    pub(super) fn settings(&self, format: Format) -> Value {
        self.before.as_deref().and_then(|text| format.read(text).ok()).unwrap_or_default()
    }

    fn is_change(&self) -> bool {
        self.before != self.after
    }

    /// Returns whether the file has a setting that differs from what it should be, and is kept.
    pub(super) fn keeps_any(&self) -> bool {
        !self.kept.is_empty()
    }

    pub(super) fn add(&mut self, format: Format, settings: &Value) -> Result<(), Failure> {
        let text = self.after.as_deref().unwrap_or_default();
        let merged = format.add(text, settings).map_err(|error| self.merge_failure(&error.to_string()))?;
        if !merged.added.is_empty() {
            self.after = Some(merged.text);
        }
        self.added.extend(merged.added);
        self.kept.extend(merged.kept);
        Ok(())
    }

    /// Undoes one change: restores the file exactly if it has not been modified since, otherwise removes whatever of
    /// our additions is still there.
    fn take_back(&mut self, entry: &InstallRecordEntry) -> Result<(), Failure> {
        let Some(text) = &self.after else { return Ok(()) };
        if digest(text) == entry.after {
            let Some(backup) = &entry.backup else {
                (self.after, self.created_folder) = (None, entry.created_folder.clone());
                return Ok(());
            };
            let old = file::read(backup).ok().flatten().filter(|old| digest(old) == entry.before);
            if let Some(old) = old {
                (self.after, self.used_backup) = (Some(old), Some(backup.clone()));
                return Ok(());
            }
        }
        let format = Format::of(&self.path);
        let removed =
            format.remove(text, &entry.added).map_err(|error| self.merge_failure(&error.to_string()))?;
        self.kept.extend(removed.left);
        // A file that was created has nothing else.
        if removed.text.is_empty() && entry.backup.is_none() {
            (self.after, self.created_folder) = (None, entry.created_folder.clone());
        } else {
            self.after = Some(removed.text);
        }
        Ok(())
    }

    fn merge_failure(&self, why: &str) -> Failure {
        let message = format!("{} cannot be merged: {why}; nothing was changed.", self.path.display());
        Failure::new(Code::Precondition, message)
            .with("file", self.path.display().to_string())
            .fix("mend that file, or add by hand what `pilothouse mcp config` prints for this agent")
    }

    fn into_change(self) -> FileChange {
        let (before, after) = (self.before.as_deref(), self.after.as_deref());
        let change = match (before, after) {
            (None, Some(_)) => FileEffect::Created,
            (Some(_), None) => FileEffect::Removed,
            (before, after) if before == after => FileEffect::Unchanged,
            _ => FileEffect::Changed,
        };
        let path = self.path.display().to_string();
        let diff = unified_diff(&path, before.unwrap_or_default(), after.unwrap_or_default());
        FileChange { path, change, diff, backup: None, kept: self.kept }
    }
}

impl McpInstallOutput {
    pub(super) fn of(agent: AgentProgram, effect: &str, steps: Vec<InstallStep>, notes: Vec<String>) -> Self {
        let is_change = steps.iter().any(InstallStep::is_change);
        let effect = if is_change || effect.starts_with("would_") { effect } else { "unchanged" };
        let files = steps.into_iter().map(InstallStep::into_change).collect();
        Self { effect: effect.to_owned(), agent, files, notes }
    }

    /// Returns additional notes.
    pub(super) fn notes(&self) -> &[String] {
        &self.notes
    }

    pub(super) fn with_backups(mut self, backups: Vec<Option<PathBuf>>) -> Self {
        for (file, backup) in self.files.iter_mut().zip(backups) {
            file.backup = backup.map(|path| path.display().to_string());
        }
        self
    }
}

/// Describes the change to each file for a person.
pub(super) fn describe(data: &Value) -> String {
    let mut lines = Vec::new();
    for file in data["files"].as_array().into_iter().flatten() {
        let (path, text) = (file["path"].as_str().unwrap_or_default(), |key: &str| file[key].as_str());
        match text("change") {
            Some("unchanged") => lines.push(format!("{path}: nothing to change")),
            _ => lines.push(text("diff").unwrap_or_default().trim_end().to_owned()),
        }
        let kept = file["kept"].as_array().into_iter().flatten().filter_map(Value::as_str);
        lines.extend(kept.map(|key| format!("{path}: `{key}` has a different value, which is kept")));
        lines.extend(text("backup").map(|backup| format!("backup of the file: {backup}")));
    }
    lines.join("\n")
}
