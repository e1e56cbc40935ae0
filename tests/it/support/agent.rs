//! An agent: the official Rust MCP client talking to the real `pilothouse mcp`.

use std::fs::File;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::Stdio;

use rmcp::model::{CallToolRequestParams, CallToolResult};
use rmcp::service::RunningService;
use rmcp::transport::TokioChildProcess;
use rmcp::{RoleClient, ServiceExt};
use serde_json::Value;
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

use super::{Home, must_be_an_envelope};

/// A connected agent. `call` blocks the test; calls started with `ask` run in the background.
pub(crate) struct Agent {
    service: RunningService<RoleClient, ()>,
    runtime: Runtime,
    errors: PathBuf,
}

/// An answer: the text that the model gets, and the canonical envelope.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) receipt: String,
    pub(crate) envelope: Value,
}

impl Agent {
    /// Connects with arguments for `pilothouse mcp`.
    #[track_caller]
    pub(crate) fn connect(home: &Home, args: &[&str]) -> Self {
        let mut command = home.command(&["mcp"]);
        command.args(args);
        Self::connect_by(home, command)
    }

    /// Connects with a command that the test has prepared: another environment, another working directory.
    #[track_caller]
    pub(crate) fn connect_by(home: &Home, mut command: std::process::Command) -> Self {
        let errors = home.workspace().join("../shim.stderr");
        let stderr = File::create(&errors).expect("a file");
        command.stdin(Stdio::piped());
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.expect("a runtime");
        let service = runtime.block_on(async {
            let (shim, _) = TokioChildProcess::builder(tokio::process::Command::from(command))
                .stderr(Stdio::from(stderr))
                .spawn()
                .expect("the shim starts");
            ().serve(shim).await.expect("the conversation opens")
        });
        Self { service, runtime, errors }
    }

    /// Connects by a shim in this process to a runtime in it.
    #[track_caller]
    pub(crate) fn here(home: &Home, label: Option<&str>) -> Self {
        Self::here_with(home, &[], label)
    }

    /// Like `here`, with variables of its own.
    #[track_caller]
    pub(crate) fn here_with(home: &Home, variables: &[(&str, &str)], label: Option<&str>) -> Self {
        home.serve_here();
        let [(input, its_input), (output, its_output)] =
            [(); 2].map(|()| UnixStream::pair().expect("a pair"));
        home.in_process().carry(home.caller(variables), label, its_input, its_output);
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.expect("a runtime");
        let service = runtime.block_on(async {
            let [input, output] = [input, output].map(|stream| {
                stream.set_nonblocking(true).expect("set");
                tokio::net::UnixStream::from_std(stream).expect("watched")
            });
            ().serve((output, input)).await.expect("the conversation opens")
        });
        Self { service, runtime, errors: home.workspace().join("../shim.stderr") }
    }

    /// Connects and calls a tool: after that a runtime is running (started if necessary) and knows the agent.
    #[track_caller]
    pub(crate) fn connect_first(home: &Home, args: &[&str]) -> Self {
        let agent = Self::connect(home, args);
        agent.call("TaskList", &serde_json::json!({}));
        agent
    }

    /// Calls a tool and waits for the answer.
    #[track_caller]
    pub(crate) fn call(&self, tool: &'static str, arguments: &Value) -> Answer {
        self.runtime.block_on(self.ask(tool, arguments)).expect("joins")
    }

    /// Calls a tool without waiting; the handle yields the answer.
    pub(crate) fn ask(&self, tool: &'static str, arguments: &Value) -> JoinHandle<Answer> {
        let arguments = arguments.as_object().cloned().unwrap_or_default();
        let peer = self.service.peer().clone();
        self.runtime.spawn(async move {
            let asked = CallToolRequestParams::new(tool).with_arguments(arguments);
            Answer::of(&peer.call_tool(asked).await.expect("an answer"))
        })
    }

    /// Waits for the answer to a call started with `ask`.
    #[track_caller]
    pub(crate) fn answer(&self, asked: JoinHandle<Answer>) -> Answer {
        self.runtime.block_on(asked).expect("joins")
    }

    /// Starts a command on a terminal that outlives its call; returns the task id.
    #[track_caller]
    pub(crate) fn task(&self, cmd: &str) -> String {
        let answer =
            self.call("ExecCommand", &serde_json::json!({"cmd": cmd, "tty": true, "yield_time_ms": 0}));
        answer.task()
    }

    /// What the shim has written to standard error.
    pub(crate) fn errors(&self) -> String {
        std::fs::read_to_string(&self.errors).expect("readable")
    }

    /// Disconnects.
    pub(crate) fn leave(self) {
        self.runtime.block_on(self.service.cancel()).expect("leaves");
    }
}

impl Answer {
    fn of(result: &CallToolResult) -> Self {
        let meta = result.meta.as_ref().expect("meta");
        let content = serde_json::to_value(&result.content).expect("content");
        let receipt = content[0]["text"].as_str().expect("a receipt").to_owned();
        let envelope = meta["dev.pilothouse/envelope"].clone();
        must_be_an_envelope(&envelope);
        Self { receipt, envelope }
    }

    /// The result at a JSON pointer.
    #[track_caller]
    pub(crate) fn result(&self, pointer: &str) -> &Value {
        let result = &self.envelope["result"];
        result.pointer(pointer).unwrap_or_else(|| panic!("no {pointer} in {}", self.envelope))
    }

    /// The id of the task that a command was promoted to.
    #[track_caller]
    pub(crate) fn task(&self) -> String {
        self.result("/task_handle/task_id").as_str().expect("an id").to_owned()
    }
}
