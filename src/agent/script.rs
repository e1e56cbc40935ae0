//! A scripted agent: plays a list of tool calls through the real socket and protocol, and does what a person would if
//! nobody does.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::client::{self, ToolClient};
use crate::envelope::Envelope;

/// The timeout of one blocking read of a task, after which the agent reads again.
const LOOK_MS: u64 = 30_000;

/// What a scripted agent does.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentScript {
    /// Told to the person once the agent has left.
    farewell: ScriptWords,
    step: Vec<ScriptStep>,
}

/// One thing it does.
#[derive(Debug, Deserialize)]
struct ScriptStep {
    /// Told to the person first.
    say: Option<ScriptWords>,
    /// Time to read it before the step begins.
    #[serde(default)]
    pause_ms: u64,
    /// What the console turns to at the step's end, by its name.
    show: Option<String>,
    /// What the operator does while the step goes on, where nobody else does it.
    then: Option<DelayedAct>,
    /// The name of the task the command becomes.
    #[serde(rename = "as")]
    name: Option<String>,
    /// Reads this task until it ends.
    wait_for: Option<String>,
    /// Runs this command.
    cmd: Option<String>,
    /// Runs these in one call.
    batch: Option<Vec<Value>>,
    /// The rest of the command's input.
    #[serde(flatten)]
    options: Map<String, Value>,
}

/// What the operator does if nobody has done it after a while.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct DelayedAct {
    /// What the console turns to once there is something to do.
    show: Option<String>,
    /// Told to the person then: how it is done.
    hint: ScriptWords,
    /// Time for somebody to do it.
    after_ms: u64,
    #[serde(flatten)]
    act: OperatorAct,
}

/// An act of the operator.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OperatorAct {
    /// Denies the call that waits, with these words.
    Deny(String),
    /// Types this into the task.
    Type(String),
    /// Stops the task, with these words for its agent.
    Stop(String),
}

/// A line for the person, `{task}` in it standing for the task it is about.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub enum ScriptWords {
    /// The same in every console.
    Same(String),
    /// One that names keys, and one that names the words of the console in plain lines.
    Each {
        /// For a console that is drawn.
        keys: String,
        /// For a console in plain lines.
        lines: String,
    },
}

impl ScriptWords {
    /// Returns the line for a console that is drawn, or for one in plain lines.
    #[must_use]
    pub fn line(&self, in_lines: bool) -> &str {
        match self {
            Self::Same(line) | Self::Each { lines: line, .. } if in_lines => line,
            Self::Same(line) | Self::Each { keys: line, .. } => line,
        }
    }
}

/// The environment in which a script is played: output, display and help. `task` is the one a step is about.
pub trait ScriptStage: Sync {
    /// Tells the person what comes next, or what to do.
    fn say(&self, words: &ScriptWords, task: Option<&str>);
    /// Makes the console show the item with this name.
    fn show(&self, name: &str, task: Option<&str>);
    /// Waits until this action can be performed.
    fn until_due(&self, act: &OperatorAct, task: Option<&str>) -> impl Future<Output = ()> + Send;
    /// Performs an action that no person has performed.
    fn act(&self, act: &OperatorAct, task: Option<&str>) -> impl Future<Output = ()> + Send;
    /// Waits until the runtime shows that the agent has left: before, it asks whoever quits.
    fn until_left(&self) -> impl Future<Output = ()> + Send;
    /// Waits for this much of the script's time.
    fn pass(&self, time: Duration) -> impl Future<Output = ()> + Send;
}

/// Why a script could not be played.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    /// The script cannot be parsed.
    #[error("read the script")]
    Script(#[from] toml::de::Error),
    /// The agent lost its connection.
    #[error(transparent)]
    Client(#[from] client::ClientError),
    /// A step names a task that no earlier step created.
    #[error("no task is called {0}")]
    UnknownTask(String),
}

impl AgentScript {
    /// Parses a script.
    ///
    /// # Errors
    /// When the text is not TOML or has unknown keys.
    pub fn parse(text: &str) -> Result<Self, ScriptError> {
        Ok(toml::from_str(text)?)
    }

    /// Plays the script as an agent called `name` whose commands start in `cwd`.
    ///
    /// # Errors
    /// When the runtime goes away or the script names an unknown task.
    pub async fn play(
        &self,
        socket: &Path,
        cwd: PathBuf,
        name: &str,
        stage: &impl ScriptStage,
    ) -> Result<(), ScriptError> {
        let mut client = ToolClient::connect(socket, cwd, name).await?;
        let mut tasks: BTreeMap<&str, Option<String>> = BTreeMap::new();
        for step in &self.step {
            step.say.iter().for_each(|words| stage.say(words, None));
            stage.pass(Duration::from_millis(step.pause_ms)).await;
            let about = step.wait_for.as_ref().map(|name| tasks.get(name.as_str()));
            let about = match about {
                Some(None) => {
                    return Err(ScriptError::UnknownTask(step.wait_for.clone().unwrap_or_default()));
                }
                // A command that ended within its call left no task to wait for.
                Some(Some(task)) => task.clone(),
                None => None,
            };
            let started = tokio::select! {
                started = step.run(&mut client, about.as_deref()) => started?,
                never = step.help(stage, about.as_deref()) => match never {},
            };
            if let Some(name) = &step.name {
                tasks.insert(name.as_str(), started);
            }
            if let Some(show) = &step.show {
                stage.show(show, None);
            }
        }
        drop(client);
        stage.until_left().await;
        stage.say(&self.farewell, None);
        Ok(())
    }
}

impl ScriptStep {
    /// Makes the step's calls; returns the id of the task that its command became.
    async fn run(&self, client: &mut ToolClient, about: Option<&str>) -> Result<Option<String>, ScriptError> {
        let mut started = None;
        if let Some(cmd) = &self.cmd {
            let mut input = self.options.clone();
            input.insert("cmd".to_owned(), json!(cmd.trim()));
            started = task_id(&client.call("ExecCommand", Value::Object(input)).await?);
        }
        if let Some(items) = &self.batch {
            client.call("ExecCommandBatch", json!({ "items": items })).await?;
        }
        if let Some(task) = about {
            watch(client, task).await?;
        }
        Ok(started)
    }

    /// Does what the operator would do, after giving a person time to do it.
    async fn help(&self, stage: &impl ScriptStage, about: Option<&str>) -> std::convert::Infallible {
        if let Some(then) = &self.then {
            stage.until_due(&then.act, about).await;
            then.show.iter().for_each(|name| stage.show(name, about));
            stage.say(&then.hint, about);
            stage.pass(Duration::from_millis(then.after_ms)).await;
            stage.act(&then.act, about).await;
        }
        std::future::pending().await
    }
}

/// Reads a task until it has ended.
async fn watch(client: &mut ToolClient, task: &str) -> Result<(), ScriptError> {
    loop {
        let look = json!({"task_id": task, "block": true, "timeout_ms": LOOK_MS});
        let envelope = client.call("TaskOutput", look).await?;
        let status = envelope.result().and_then(|result| result.get("retrieval_status"));
        if envelope.is_error() || status == Some(&json!("success")) {
            return Ok(());
        }
    }
}

fn task_id(envelope: &Envelope) -> Option<String> {
    let id = envelope.result()?.pointer("/task_handle/task_id")?;
    id.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEMO: &str = include_str!("../../assets/demo/script.toml");

    #[test]
    fn the_demo_is_a_script_whose_names_are_known_before_they_are_used() {
        let script = AgentScript::parse(DEMO).expect("parses");
        let mut known = Vec::new();
        for step in &script.step {
            if let Some(name) = &step.wait_for {
                assert!(known.contains(&name), "{name}");
            }
            let told = step.say.iter().chain(step.then.as_ref().map(|then| &then.hint));
            for line in told.chain([&script.farewell]).flat_map(|told| [told.line(false), told.line(true)]) {
                // Must fit the narrowest supported screen, after its prefix.
                assert!(line.chars().count() <= 72, "{line}");
            }
            known.extend(&step.name);
        }
        assert!(known.len() >= 2);
    }
}
