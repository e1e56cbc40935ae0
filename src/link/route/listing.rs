//! Lists the runtimes of another machine, as printed there by `relay list`. The list is untrusted input: its size is
//! limited before it is parsed, and it is parsed as far as it is understood.

use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{RemoteHost, TransportError};
use crate::link::Error;

/// The time limit for a login and the list.
const PATIENCE: Duration = Duration::from_secs(30);
/// The most runtimes taken from a list.
const MOST: usize = 256;
/// The longest id, and the longest path of a workspace, in bytes; a runtime with longer ones is left out.
const ID_BYTES: usize = 64;
const PATH_BYTES: usize = 4 << 10;

/// The runtimes of a machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostListing {
    /// The machine's own name.
    pub machine: String,
    /// The version of pilothouse there.
    pub version: String,
    /// The version of the link it speaks.
    pub link: u32,
    /// The load of the machine over the last minute; null if not reported.
    pub load: Option<f64>,
    /// This user's runtimes, by their ids.
    pub runtimes: Vec<ListedRuntime>,
}

/// One runtime of a machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ListedRuntime {
    /// The id of its workspace.
    pub id: String,
    /// Its workspace; empty if it is too old to report it and does not answer.
    pub workspace: PathBuf,
    /// Its process id.
    pub pid: u32,
    /// Its version of pilothouse; null if it is too old to report it.
    pub version: Option<String>,
    /// The version of the link it speaks; null if it does not answer.
    pub link: Option<u32>,
    /// Number of its tasks that run or wait for input; null if it does not answer, or speaks another version.
    pub tasks: Option<usize>,
    /// Number of held calls and questions that wait for an answer.
    pub needs: Option<usize>,
}

impl RemoteHost {
    /// Lists the runtimes there.
    ///
    /// # Errors
    /// [`Error::Carried`] if the carrier program does not reach it or finds no pilothouse.
    pub async fn runtimes(&self) -> Result<HostListing, Error> {
        let output = self.run(&["relay", "list", "--output", "jsonl"], PATIENCE).await?;
        if output.code != Some(0) {
            return Err(output.error(self));
        }
        if output.stdout.trim_ascii().is_empty() {
            return Err(output.error(self));
        }
        parse(&output.stdout).ok_or_else(|| {
            let why = TransportError::Exited {
                code: output.code,
                said: "the list of runtimes is not understood".to_owned(),
            };
            Error::Carried { host: self.name.clone(), why }
        })
    }
}

/// Parses a list. A login may have printed a greeting before it.
fn parse(output: &[u8]) -> Option<HostListing> {
    let text = String::from_utf8_lossy(output);
    let mut answer: Value = text.lines().rev().find_map(|line| serde_json::from_str(line).ok())?;
    let data = answer.get_mut("data")?;
    let runtimes = data.get_mut("runtimes")?.as_array_mut()?;
    runtimes.truncate(MOST);
    runtimes.retain(|runtime| {
        let listed = serde_json::from_value::<ListedRuntime>(runtime.clone());
        listed.is_ok_and(|listed| {
            listed.id.len() <= ID_BYTES && listed.workspace.as_os_str().len() <= PATH_BYTES
        })
    });
    serde_json::from_value(data.take()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_read_behind_a_greeting_and_as_far_as_it_is_understood() {
        let runtime = r#"{"id":"0123456789ab","workspace":"/w","pid":7,"version":"9.9","link":7,"tasks":2,"needs":0,"more":1}"#;
        let list = format!(
            r#"{{"status":"ok","data":{{"machine":"m","version":"9.9","link":7,"load":null,"runtimes":[{runtime},{{"id":3}}]}}}}"#
        );
        let listing = parse(format!("Welcome!\n{list}\n").as_bytes()).expect("a list");
        assert_eq!((listing.machine.as_str(), listing.runtimes.len()), ("m", 1));
        assert_eq!(listing.runtimes[0].tasks, Some(2));
        assert_eq!(parse(b"Welcome!\n{\"data\":7}\n"), None);
    }
}
