//! A process start requested by Codex: whether it can be a task, and with which parameters. Pure.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::message::{OWN_ID, line};
use crate::agent::file_url::file_path;
use crate::agent::shell::script;
use crate::agents::AgentProgram;
use crate::consequence::rule_words::quote;
use crate::link::ShellInput;

/// The parameters of `process/start`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct StartParams {
    pub(super) process_id: String,
    pub(super) argv: Vec<String>,
    /// A `file:` URL.
    cwd: String,
    /// What of the server's own environment it gets; `None` for nothing.
    pub(super) env_policy: Option<Value>,
    /// What it gets beside that.
    #[serde(default)]
    pub(super) env: BTreeMap<String, String>,
    #[serde(default)]
    tty: bool,
    #[serde(default)]
    pipe_stdin: bool,
    /// The name it is called by, where that is not its program.
    pub(super) arg0: Option<String>,
    pub(super) metadata: Option<StartMetadata>,
    /// The fence that Codex wants around it, and whatever is not known here.
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// Whose process it is.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct StartMetadata {
    pub(super) thread_id: Option<String>,
    pub(super) tool_call_id: Option<String>,
}

impl StartParams {
    /// Returns whether the request uses only features known here. A sandbox, or an option of a newer Codex, is left
    /// to Codex's own server.
    pub(super) fn is_plain(&self) -> bool {
        let is_nothing = |value: &Value| match value {
            Value::Null | Value::Bool(false) => true,
            Value::Array(items) => items.is_empty(),
            Value::Object(fields) => fields.is_empty(),
            _ => false,
        };
        self.rest.values().all(is_nothing) && !self.argv.is_empty()
    }

    /// Returns the session that it belongs to. Its subagents are threads of their own in one session (0.171); an older version
    /// names only the thread.
    pub(super) fn session(&self) -> Option<String> {
        let thread = self.metadata.as_ref().and_then(|metadata| metadata.thread_id.as_ref());
        let variable = AgentProgram::Codex.own_shell().and_then(|shell| shell.marks.session);
        variable.and_then(|name| self.env.get(name)).or(thread).cloned()
    }

    /// Returns the thread that it belongs to, where that is a subagent of its session.
    pub(super) fn subagent(&self) -> Option<String> {
        let thread = self.metadata.as_ref().and_then(|metadata| metadata.thread_id.clone());
        thread
            .filter(|thread| self.session().as_ref() != Some(thread))
            .map(|thread| format!("subagent {thread}"))
    }

    /// Returns the command as shown to a person: what the model wrote.
    pub(super) fn display_command(&self) -> String {
        let args = self.args();
        let script =
            script(args.get(1..).unwrap_or_default()).map(|script| script.to_string_lossy().into_owned());
        script.unwrap_or_else(|| self.argv.iter().map(|word| quote(word)).collect::<Vec<_>>().join(" "))
    }

    /// Describes the sandbox that Codex puts around it.
    pub(super) fn fence(&self) -> String {
        let permissions = &self.rest.get("sandbox").unwrap_or(&Value::Null)["permissions"];
        if permissions.is_null() {
            return "run by Codex's own server".to_owned();
        }
        let entries = permissions["file_system"]["entries"].as_array().into_iter().flatten();
        let written = entries.filter(|entry| entry["access"] == "write").filter_map(|entry| {
            let path = &entry["path"];
            path["value"]["kind"].as_str().or(path["path"].as_str()).or(path["value"].as_str())
        });
        let written: Vec<_> = written.take(MOST_SHOWN).collect();
        let written = if written.is_empty() { "nothing".to_owned() } else { written.join(", ") };
        let network = permissions["network"].as_str().unwrap_or("not said");
        format!("in Codex's sandbox: writes {written}; network {network}")
    }

    /// Returns its working directory.
    pub(super) fn directory(&self) -> Option<PathBuf> {
        file_path(&self.cwd)
    }

    /// Returns where its input comes from.
    pub(super) fn input(&self) -> ShellInput {
        match (self.tty, self.pipe_stdin) {
            (true, _) => ShellInput::Terminal,
            (false, true) => ShellInput::Pipe,
            (false, false) => ShellInput::Descriptor,
        }
    }

    /// Returns its arguments, starting with the name it is invoked by (`argv[0]`).
    pub(super) fn args(&self) -> Vec<OsString> {
        let name = self.arg0.as_ref().or(self.argv.first());
        name.into_iter().chain(self.argv.iter().skip(1)).map(OsString::from).collect()
    }

    /// Returns the request that has Codex's own server print the environment its policy leaves: the same start with
    /// another program, and without the variables added to the policy.
    pub(super) fn probe(&self, params: &Value, id: &str) -> Vec<u8> {
        let mut params = params.clone();
        let own = json!({
            "processId": id, "argv": PRINT_ENVIRONMENT, "cwd": "file:///", "env": {}, "tty": false,
            "pipeStdin": false, "arg0": null,
        });
        if let (Some(params), Value::Object(own)) = (params.as_object_mut(), own) {
            params.extend(own);
        }
        line(&json!({ "id": id, "method": "process/start", "params": params }))
    }

    /// Returns its environment: what its policy leaves, plus the variables added to it.
    pub(super) fn environment(&self, left: &[u8]) -> Vec<(OsString, OsString)> {
        let variable = |pair: &[u8]| {
            let at = pair.iter().position(|byte| *byte == b'=').filter(|at| *at > 0)?;
            let (name, value) = (pair.get(..at)?.to_vec(), pair.get(at + 1..)?.to_vec());
            Some((OsString::from_vec(name), OsString::from_vec(value)))
        };
        let is_set = |name: &OsString| name.to_str().is_some_and(|name| self.env.contains_key(name));
        let left = left.split(|byte| *byte == 0).filter_map(variable).filter(|(name, _)| !is_set(name));
        left.chain(self.env.iter().map(|(name, value)| (name.into(), value.into()))).collect()
    }
}

/// The maximum number of writable locations of a sandbox that are listed.
const MOST_SHOWN: usize = 6;
/// Prints its environment, each variable terminated by NUL.
const PRINT_ENVIRONMENT: [&str; 2] = ["/usr/bin/env", "-0"];

/// Returns the id of a request of our own.
pub(super) fn own_id(number: u64) -> String {
    format!("{OWN_ID}{number}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(change: Value) -> StartParams {
        let mut params = json!({
            "processId": "p", "argv": ["/bin/bash", "-lc", "ls"], "cwd": "file:///w/a%20b", "env": { "A": "1" },
            "tty": false, "arg0": null, "sandbox": null, "enforceManagedNetwork": false,
        });
        let Value::Object(change) = change else { panic!("an object") };
        params.as_object_mut().expect("an object").extend(change);
        serde_json::from_value(params).expect("parameters")
    }

    #[test]
    fn a_start_with_a_sandbox_or_an_unknown_parameter_is_not_plain() {
        assert!(start(json!({})).is_plain());
        assert!(start(json!({ "managedNetwork": null, "new": [] })).is_plain());
        for other in [
            json!({ "sandbox": { "policy": "x" } }),
            json!({ "enforceManagedNetwork": true }),
            json!({ "nobodyKnows": "x" }),
            json!({ "size": { "rows": 3 } }),
            json!({ "argv": [] }),
        ] {
            assert!(!start(other.clone()).is_plain(), "{other}");
        }
    }

    #[test]
    fn a_subagent_is_a_thread_of_its_session_and_no_session_of_its_own() {
        let of = |env: Value| start(json!({ "env": env, "metadata": { "threadId": "t2" } }));
        let subagent = of(json!({ "CODEX_SESSION_ID": "t1", "CODEX_THREAD_ID": "t2" }));
        assert_eq!(
            (subagent.session().as_deref(), subagent.subagent().as_deref()),
            (Some("t1"), Some("subagent t2"))
        );
        let main = of(json!({ "CODEX_SESSION_ID": "t2" }));
        assert_eq!((main.session().as_deref(), main.subagent()), (Some("t2"), None));
        assert_eq!((of(json!({})).session().as_deref(), of(json!({})).subagent()), (Some("t2"), None));
    }

    #[test]
    fn a_directory_is_read_out_of_its_url() {
        assert_eq!(start(json!({})).directory(), Some("/w/a b".into()));
        assert_eq!(start(json!({ "cwd": "file://localhost/w" })).directory(), Some("/w".into()));
        for other in ["/w", "file://host/w", "file:///w%2", "file:///w%00", "file:///w%zz", "http:///w"] {
            assert_eq!(start(json!({ "cwd": other })).directory(), None, "{other}");
        }
    }

    #[test]
    fn a_variable_given_with_the_start_wins_over_an_inherited_one() {
        let read =
            start(json!({ "env": { "A": "1", "B": "" } })).environment(b"PATH=/bin\0A=0\0=odd\0C=x=y\0\0");
        let expected = [("PATH", "/bin"), ("C", "x=y"), ("A", "1"), ("B", "")];
        assert_eq!(read, expected.map(|(name, value)| (name.into(), value.into())));
    }

    #[test]
    fn a_codex_process_is_called_by_the_name_in_arg0() {
        assert_eq!(start(json!({ "arg0": "sh" })).args(), ["sh", "-lc", "ls"]);
        assert_eq!(start(json!({})).args(), ["/bin/bash", "-lc", "ls"]);
        assert_eq!(start(json!({ "tty": true, "pipeStdin": true })).input(), ShellInput::Terminal);
    }
}
