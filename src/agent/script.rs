//! A scripted agent: plays a list of tool calls through the real socket and the real protocol.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::client::{self, Client};
use crate::envelope::Envelope;

/// How long one look at a task may block; then the agent looks again.
const LOOK_MS: u64 = 30_000;
/// Time for the runtime to tell the person that the agent has left, before the last word.
const PARTING: Duration = Duration::from_secs(2);

/// What a scripted agent does.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// Told to the person once the agent has left.
    farewell: String,
    step: Vec<Step>,
}

/// One thing it does.
#[derive(Debug, Deserialize)]
struct Step {
    /// Told to the person first.
    say: String,
    /// Time to read it before the step begins.
    #[serde(default)]
    pause_ms: u64,
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

/// Why a script could not be played.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The script is no script.
    #[error("read the script")]
    Script(#[from] toml::de::Error),
    /// The agent lost its connection.
    #[error(transparent)]
    Client(#[from] client::Error),
    /// A step names a task that no step before it has left behind.
    #[error("no task is called {0}")]
    UnknownTask(String),
}

impl Script {
    /// Reads a script.
    ///
    /// # Errors
    /// When the text is not TOML or has unknown keys.
    pub fn parse(text: &str) -> Result<Self, Error> {
        Ok(toml::from_str(text)?)
    }

    /// Plays the script as an agent called `name` whose commands start in `cwd`; `narrate` is told
    /// what comes next.
    ///
    /// # Errors
    /// When the runtime goes away or the script names an unknown task.
    pub async fn play(
        &self,
        socket: &Path,
        cwd: PathBuf,
        name: &str,
        narrate: impl Fn(&str),
    ) -> Result<(), Error> {
        let mut client = Client::connect(socket, cwd, name).await?;
        let mut tasks = BTreeMap::new();
        for step in &self.step {
            narrate(&step.say);
            tokio::time::sleep(Duration::from_millis(step.pause_ms)).await;
            if let Some(cmd) = &step.cmd {
                let mut input = step.options.clone();
                input.insert("cmd".to_owned(), json!(cmd.trim()));
                let envelope = client.call("ExecCommand", Value::Object(input)).await?;
                if let Some(name) = &step.name {
                    tasks.insert(name.as_str(), task_id(&envelope));
                }
            }
            if let Some(items) = &step.batch {
                client.call("ExecCommandBatch", json!({ "items": items })).await?;
            }
            if let Some(name) = &step.wait_for {
                let task = tasks.get(name.as_str()).ok_or_else(|| Error::UnknownTask(name.clone()))?;
                // A command that ended within its call left no task to wait for.
                if let Some(task) = task {
                    watch(&mut client, task).await?;
                }
            }
        }
        drop(client);
        tokio::time::sleep(PARTING).await;
        narrate(&self.farewell);
        Ok(())
    }
}

/// Reads a task until it has ended.
async fn watch(client: &mut Client, task: &str) -> Result<(), Error> {
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
        let script = Script::parse(DEMO).expect("parses");
        let mut known = Vec::new();
        for step in &script.step {
            if let Some(name) = &step.wait_for {
                assert!(known.contains(&name), "{name}");
            }
            known.extend(&step.name);
        }
        assert!(known.len() >= 2);
    }
}
