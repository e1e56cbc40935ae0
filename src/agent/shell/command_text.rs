//! A command of an agent's shell as a person and the record see it. Pure.

use std::os::unix::ffi::OsStrExt as _;

use serde_json::{Value, json};

use super::route;
use crate::agents::{AgentProgram, unwrap};
use crate::consequence::rule_words::quote;
use crate::link::ShellRequest;

/// A command as shown to a person.
pub(super) struct CommandText {
    pub(super) cmd: String,
    is_unwrapped: bool,
}

impl CommandText {
    pub(super) fn of(agent: Option<AgentProgram>, request: &ShellRequest) -> Self {
        if let Some(shown) = &request.shown {
            return Self { cmd: shown.clone(), is_unwrapped: false };
        }
        let args = request.args.get(1..).unwrap_or_default();
        let Some(script) = route::script(args) else {
            // As it would be typed.
            let words = request.args.iter().map(|word| quote(&word.to_string_lossy()));
            return Self { cmd: words.collect::<Vec<_>>().join(" "), is_unwrapped: false };
        };
        let script = String::from_utf8_lossy(script.as_bytes());
        match unwrap(agent, &script) {
            Some(cmd) => Self { is_unwrapped: cmd != script, cmd: cmd.into_owned() },
            None => Self { cmd: script.into_owned(), is_unwrapped: false },
        }
    }

    /// Returns the input to record for the call: includes the whole script if the command is only a part of it.
    pub(super) fn on_record(&self, request: &ShellRequest) -> Value {
        let text = |arg: &std::ffi::OsString| arg.to_string_lossy().into_owned();
        let mut input = json!({ "cmd": self.cmd });
        if request.shown.is_none() && (self.is_unwrapped || request.args.len() != 3) {
            input["args"] = request.args.iter().map(text).collect();
        }
        let named = [
            ("agent", &request.agent),
            ("session", &request.session),
            ("tool_call", &request.tool_call),
            ("description", &request.description),
        ];
        for (name, value) in named {
            if let Some(value) = value {
                input[name] = value.as_str().into();
            }
        }
        input
    }
}
