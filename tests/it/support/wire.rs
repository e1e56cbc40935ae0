//! `pilothouse mcp` line by line, in ways that no client library would use.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use super::Home;

/// A shim, and the agent's ends of its pipes.
pub(crate) struct Wire {
    /// Its process, unless it is in that of the test.
    shim: Option<Child>,
    pub(crate) input: Option<Box<dyn Write + Send>>,
    pub(crate) output: BufReader<Box<dyn Read + Send>>,
}

impl Wire {
    pub(crate) fn start(home: &Home, args: &[&str]) -> Self {
        let mut command = home.command(&["mcp"]);
        command.args(args);
        Self::of(command)
    }

    pub(crate) fn of(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut shim = command.spawn().expect("the shim starts");
        let (input, output) = (shim.stdin.take().expect("piped"), shim.stdout.take().expect("piped"));
        Self::with(Some(shim), input, output)
    }

    fn with(
        shim: Option<Child>,
        input: impl Write + Send + 'static,
        output: impl Read + Send + 'static,
    ) -> Self {
        Self { shim, input: Some(Box::new(input)), output: BufReader::new(Box::new(output)) }
    }

    /// A shim in this process, joined to a runtime in it.
    pub(crate) fn here(home: &Home) -> Self {
        home.serve_here();
        let [(input, its_input), (output, its_output)] =
            [(); 2].map(|()| UnixStream::pair().expect("a pair"));
        home.in_process().carry(home.caller(&[]), None, its_input, its_output);
        Self::with(None, input, output)
    }

    /// The same, initialized as the client `name`.
    pub(crate) fn open_here(home: &Home, name: &str) -> Self {
        Self::here(home).opened(name)
    }

    /// Its process.
    pub(crate) fn shim(&mut self) -> &mut Child {
        self.shim.as_mut().expect("a process of its own")
    }

    /// Starts a shim and initializes the session as the client `name`.
    pub(crate) fn open(home: &Home, name: &str) -> Self {
        Self::start(home, &[]).opened(name)
    }

    pub(crate) fn opened(mut self, name: &str) -> Self {
        let client = json!({"name": name, "version": "1.0"});
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
        let opened = self.ask(json!("open"), "initialize", params);
        assert_eq!(opened["result"]["serverInfo"]["name"], "pilothouse", "{opened}");
        self.write(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        self
    }

    pub(crate) fn write(&mut self, line: &[u8]) {
        let input = self.input.as_mut().expect("open");
        input.write_all(&[line, b"\n"].concat()).expect("taken");
    }

    pub(crate) fn read(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("a line");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    pub(crate) fn send(&mut self, id: Value, method: &str, params: Value) {
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.write(request.to_string().as_bytes());
    }

    pub(crate) fn ask(&mut self, id: Value, method: &str, params: Value) -> Value {
        self.send(id.clone(), method, params);
        let answer = self.read();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// Calls a tool; returns its envelope.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.ask(json!("call"), "tools/call", json!({"name": tool, "arguments": arguments}));
        let envelope = answer["result"]["_meta"]["dev.pilothouse/envelope"].clone();
        assert!(envelope.is_object(), "{answer}");
        envelope
    }

    /// Starts a command that keeps running; returns its task id.
    pub(crate) fn task(&mut self, cmd: &str) -> String {
        let envelope = self.call("ExecCommand", json!({"cmd": cmd, "yield_time_ms": 0}));
        envelope["result"]["task_handle"]["task_id"].as_str().expect("a task").to_owned()
    }

    pub(crate) fn kill(&mut self) {
        self.shim().kill().expect("killed");
        self.shim().wait().expect("reaped");
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        if let Some(shim) = &mut self.shim {
            let _ = shim.kill();
            let _ = shim.wait();
        }
    }
}
