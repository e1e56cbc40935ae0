//! Pilothouse as Codex's executor: its processes are tasks; everything else is passed to Codex's own server, byte for byte.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::{Home, Tag, send, wait_until, write_program};

/// A stand-in for Codex's server: it logs each line and echoes it, except for process "fenced", which it plays, and
/// our own request for the environment that a policy leaves.
const SERVER: &str = r#"#!/bin/bash
trap 'echo "$1" > ended' EXIT
while IFS= read -r line; do
  printf '%s\n' "$line" >> lines
  case $line in
    *'"method":"process/'*'"processId":"fenced"'*)
      id=${line#*\"id\":}; id=${id%%,*}; of='"params":{"processId":"fenced"'
      method=${line#*\"method\":\"}; method=${method%%\"*}; chunk=${line#*\"chunk\":\"}; chunk=${chunk%%\"*}
      case $method in
        process/start)
          printf '{"id":%s,"result":{"processId":"fenced","sandboxType":"linuxSeccomp"}}\n' "$id"
          printf '{"method":"process/output",%s,"seq":1,"stream":"stdout","chunk":"%s"}}\n' "$of" "$(echo behind a fence | base64)" ;;
        process/write)
          printf '{"id":%s,"result":{"status":"accepted"}}\n' "$id"
          printf '{"method":"process/output",%s,"seq":2,"stream":"pty","chunk":"%s"}}\n' "$of" "$chunk" ;;
        process/terminate)
          printf '{"id":%s,"result":{"running":true}}\n' "$id"
          printf '{"method":"process/exited",%s,"seq":3,"exitCode":137}}\n{"method":"process/closed",%s,"seq":4}}\n' "$of" "$of" ;;
      esac ;;
    '{"id":"pilothouse-'*)
      id=${line#*\"id\":\"}; id=${id%%\"*}
      of='"params":{"processId":"'$id'"'
      printf '{"id":"%s","result":{}}\n' "$id"
      printf '{"method":"process/output",%s,"seq":1,"stream":"stdout","chunk":"%s"}}\n' "$of" "$(FROM_POLICY=1 BOTH=policy env -0 | base64 -w0)"
      printf '{"method":"process/exited",%s,"seq":2,"exitCode":0}}\n{"method":"process/closed",%s,"seq":3}}\n' "$of" "$of" ;;
    *) printf '%s\n' "$line" ;;
  esac
done
"#;

/// A conversation from Codex's side.
pub(crate) struct Codex<'a> {
    home: &'a Home,
    executor: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
    /// What was reported of each process: its output by stream, and its exit.
    told: HashMap<String, Told>,
    asked: u64,
}

#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) struct Told {
    seq: u64,
    output: HashMap<String, Vec<u8>>,
    pub(crate) exit: Option<i64>,
    pub(crate) is_closed: bool,
}

impl<'a> Codex<'a> {
    pub(crate) fn new(home: &'a Home) -> Self {
        Self::with(home, &[])
    }

    fn with(home: &'a Home, variables: &[(&str, &str)]) -> Self {
        let server = server(home);
        let mut command = home.command(&["codex-executor", "--codex", server.to_str().expect("text")]);
        command.env_remove("PILOTHOUSE_TASK_KIND").envs(variables.iter().copied());
        let mut executor = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("starts");
        let (to, from) = (executor.stdin.take(), executor.stdout.take().expect("a stream"));
        Self { home, executor, to, from: BufReader::new(from), told: HashMap::new(), asked: 0 }
    }

    fn send(&mut self, line: &[u8]) {
        self.to.as_mut().expect("open").write_all(line).expect("takes");
    }

    fn line(&mut self) -> Vec<u8> {
        let mut line = Vec::new();
        self.from.read_until(b'\n', &mut line).expect("reads");
        line
    }

    /// Reads a message; notes whatever it reports of a process.
    fn message(&mut self) -> Value {
        let line = self.line();
        let message: Value =
            serde_json::from_slice(&line).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&line)));
        let (method, params) = (message["method"].as_str().unwrap_or_default(), &message["params"]);
        if let (Some(name), Some(seq)) = (params["processId"].as_str(), params["seq"].as_u64()) {
            let told = self.told.entry(name.to_owned()).or_default();
            told.seq += 1;
            assert_eq!(seq, told.seq, "{message}");
            match method {
                "process/output" => {
                    let stream = params["stream"].as_str().expect("a stream").to_owned();
                    let chunk = STANDARD.decode(params["chunk"].as_str().expect("bytes")).expect("base64");
                    told.output.entry(stream).or_default().extend(chunk);
                }
                "process/exited" => told.exit = params["exitCode"].as_i64(),
                _ => told.is_closed = true,
            }
        }
        message
    }

    /// Sends a request and returns the answer.
    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.asked += 1;
        let id = self.asked;
        self.send(format!("{}\n", json!({ "id": id, "method": method, "params": params })).as_bytes());
        loop {
            let message = self.message();
            if message["id"] == id {
                return message;
            }
        }
    }

    pub(crate) fn start(&mut self, name: &str, script: &str, change: &Value) -> Value {
        let answer = self.ask("process/start", &start(self.home, name, script, change));
        assert_eq!(answer["result"], json!({ "processId": name, "sandboxType": "none" }), "{answer}");
        answer
    }

    /// Reads on until `fact` holds for what was reported of a process.
    pub(crate) fn until(&mut self, name: &str, fact: impl Fn(&Told) -> bool) -> Told {
        while !self.told.get(name).is_some_and(&fact) {
            self.message();
        }
        self.told[name].clone()
    }

    fn write(&mut self, name: &str, text: &str) -> Value {
        self.ask(
            "process/write",
            &json!({ "processId": name, "chunk": STANDARD.encode(text), "writeId": "1" }),
        )
    }

    /// Disconnects, as if killed, and waits for the executor to exit.
    pub(crate) fn leave(mut self) -> String {
        self.to = None;
        let mut rest = self.executor.stderr.take().expect("a stream");
        let mut said = String::new();
        std::io::Read::read_to_string(&mut rest, &mut said).expect("reads");
        self.executor.wait().expect("ends");
        said
    }
}

/// With a running runtime: the executor starts one itself, but gives it two seconds only.
fn served() -> (Home, Child) {
    let home = Home::new();
    let served = home.serve();
    (home, served)
}

fn server(home: &Home) -> PathBuf {
    let path = home.workspace().join("../codex");
    write_program(&path, SERVER);
    path
}

/// The parameters of a process start, as Codex sends them.
fn start(home: &Home, name: &str, script: &str, change: &Value) -> Value {
    let cwd = format!("file://{}", home.workspace().display());
    let mut params = json!({
        "processId": name, "metadata": { "threadId": "thread-1", "toolCallId": "call-1" },
        "argv": ["/bin/bash", "-c", script], "cwd": cwd,
        "envPolicy": { "inherit": "all", "ignoreDefaultExcludes": true, "exclude": [], "set": {}, "includeOnly": [] },
        "env": { "GIVEN": "secret-of-mine", "BOTH": "given" }, "tty": false, "pipeStdin": false, "arg0": null,
        "sandbox": null, "enforceManagedNetwork": false, "managedNetwork": null,
    });
    params.as_object_mut().expect("an object").extend(change.as_object().expect("an object").clone());
    params
}

pub(crate) fn text(told: &Told, stream: &str) -> String {
    String::from_utf8_lossy(told.output.get(stream).map_or(&[], Vec::as_slice)).into_owned()
}

fn json(home: &Home, args: &[&str]) -> Value {
    serde_json::from_slice(&home.run(args).stdout).expect("JSON")
}

/// The rows of all recordings, as text.
fn record(home: &Home) -> String {
    let mut rows = String::new();
    for recording in std::fs::read_dir(home.places().recordings()).expect("recordings").flatten() {
        for file in std::fs::read_dir(recording.path()).expect("a recording").flatten() {
            rows += &std::fs::read_to_string(file.path()).unwrap_or_default();
        }
    }
    rows
}

fn tasks(home: &Home) -> Vec<Value> {
    json(home, &["task", "list", "--scope", "all"])["data"]["tasks"].as_array().expect("tasks").clone()
}

#[test]
fn messages_about_anything_but_a_task_are_forwarded_byte_for_byte_both_ways() {
    let home = Home::new();
    let mut codex = Codex::new(&home);
    let long = format!("{{\"id\":4,\"method\":\"fs/writeFile\",\"params\":\"{}\"}}", "x".repeat(5 << 20));
    for line in [
        r#"{"id":1,"method":"initialize","params":{"clientName":"c"},"new":[1,2.50,1e3,"\u00e9"]}"#,
        r#"{ "method" : "nobody/knows" ,"id":"a" }"#,
        r#"{"method":"initialized"}"#,
        r#"{"id":2,"method":"process/read","params":{"processId":"none","more":1}}"#,
        r#"{"id":2,"method":"process/new","params":{"processId":"none"}}"#,
        r#"{"id":3,"method":"process/start","params":{"processId":"p","argv":[],"cwd":"/"}}"#,
        r#"[{"id":1}]"#,
        "process/ no JSON \u{1}",
        "",
        &long,
    ] {
        codex.send(format!("{line}\n").as_bytes());
        assert!(codex.line() == format!("{line}\n").as_bytes(), "{:.80}", line);
    }
    codex.send(b"the end without a line feed");
    codex.leave();
    let ended = std::fs::read_to_string(home.workspace().join("ended")).expect("the server has ended");
    assert_eq!(ended, "exec-server\n");
    assert!(tasks(&home).is_empty());
}

#[test]
fn a_process_of_codex_is_a_task_and_is_reported_as_its_server_would_report_it() {
    let (home, _served) = served();
    let mut codex = Codex::new(&home);
    codex.start("a", "echo out; echo err >&2; echo $GIVEN $BOTH $FROM_POLICY; pwd; exit 3", &json!({}));
    let told = codex.until("a", |told| told.is_closed);
    let out = format!("out\nsecret-of-mine given 1\n{}\n", home.workspace().display());
    assert_eq!((text(&told, "stdout"), text(&told, "stderr"), told.exit), (out, "err\n".into(), Some(3)));
    let read =
        codex.ask("process/read", &json!({ "processId": "a", "afterSeq": told.seq - 2, "waitMs": 9000 }));
    assert_eq!(
        read["result"],
        json!({ "chunks": [], "nextSeq": told.seq + 1, "exited": true, "exitCode": 3, "closed": true,
                "failure": null, "sandboxDenied": false })
    );

    codex.start("b", "kill -9 $$", &json!({}));
    assert_eq!(codex.until("b", |told| told.is_closed).exit, Some(137));
    codex.start("c", "head -c 3000000 /dev/zero | tr '\\0' x; (sleep 0.2; echo late) & exit 0", &json!({}));
    let told = codex.until("c", |told| told.is_closed);
    assert_eq!((told.output["stdout"].len(), told.exit), (3_000_005, Some(0)));

    codex.start("d", "echo on; exec sleep 500", &json!({ "arg0": "named" }));
    codex.until("d", |told| text(told, "stdout") == "on\n");
    let wait = codex.ask("process/read", &json!({ "processId": "d", "afterSeq": 0, "waitMs": 9000 }));
    assert_eq!(wait["result"]["chunks"][0]["chunk"], STANDARD.encode("on\n"));
    assert_eq!(codex.write("d", "x")["result"], json!({ "status": "stdinClosed" }));
    let again = codex.ask("process/start", &start(&home, "d", "x", &json!({})));
    assert_eq!(again["error"], json!({ "code": -32600, "message": "process d already exists" }));
    assert_eq!(
        codex.ask("process/terminate", &json!({ "processId": "d" }))["result"],
        json!({ "running": true })
    );
    assert_eq!(codex.until("d", |told| told.is_closed).exit, Some(137));
    assert_eq!(
        codex.ask("process/terminate", &json!({ "processId": "d" }))["result"],
        json!({ "running": false })
    );

    codex.start("e", "cat; echo end", &json!({ "pipeStdin": true }));
    assert_eq!(codex.write("e", "typed\n")["result"], json!({ "status": "accepted" }));
    codex.until("e", |told| text(told, "stdout") == "typed\n");
    assert_eq!(
        codex.ask("process/signal", &json!({ "processId": "e", "signal": "interrupt" }))["result"],
        json!({})
    );
    assert_eq!(codex.until("e", |told| told.is_closed).exit, Some(130));
    assert_eq!(codex.leave(), "");

    assert_eq!(tasks(&home).len(), 5);
    let asked = std::fs::read_to_string(home.workspace().join("lines")).expect("lines");
    assert_eq!(asked.lines().count(), 1, "one policy is asked about once: {asked}");
    let record = record(&home);
    assert!(["agent:codex", "thread-1", "call-1"].iter().all(|word| record.contains(word)));
    assert!(!record.contains("secret-of-mine\"") && record.contains("GIVEN"), "names alone go on record");
}

#[test]
fn a_runtime_is_started_for_a_process_that_needs_one() {
    let home = Home::new();
    let mut codex = Codex::new(&home);
    let mut tries = 0;
    // A process waits two seconds for a runtime; if that is not enough, its server gets it, and a later one is a task.
    wait_until("a process is a task", || {
        tries += 1;
        let params = start(&home, &format!("process {tries}"), "echo out", &json!({}));
        codex.ask("process/start", &params)["result"]["sandboxType"] == "none"
    });
    let told = codex.until(&format!("process {tries}"), |told| told.is_closed);
    assert_eq!((text(&told, "stdout").as_str(), told.exit), ("out\n", Some(0)));
    codex.leave();
    assert_eq!(tasks(&home).len(), 1);
}

#[test]
fn a_process_on_a_terminal_is_a_pane_and_lives_on_when_codex_is_killed() {
    let (home, _served) = served();
    let mut codex = Codex::new(&home);
    let tty = json!({ "tty": true });
    codex.start("a", "stty size; read -r x; echo got $x; kill -9 $$", &tty);
    codex.until("a", |told| text(told, "pty") == "24 80\r\n");
    assert_eq!(codex.write("a", "hello\n")["result"], json!({ "status": "accepted" }));
    let told = codex.until("a", |told| told.is_closed);
    assert_eq!((text(&told, "pty").as_str(), told.exit), ("24 80\r\nhello\r\ngot hello\r\n", Some(1)));
    assert_eq!(codex.write("a", "x")["error"]["message"], "failed to write to process stdin");

    codex.start("pane", "echo ready; read -r x; echo got $x > answer", &tty);
    codex.start("plain", "echo ready; sleep 600", &json!({}));
    codex.until("pane", |told| text(told, "pty") == "ready\r\n");
    codex.until("plain", |told| text(told, "stdout") == "ready\n");
    codex.leave();
    let state = |cmd: &str| {
        let task =
            tasks(&home).into_iter().find(|task| task["cmd"].as_str().is_some_and(|own| own.contains(cmd)));
        task.expect("a task")
    };
    wait_until("what has no terminal ends with Codex", || state("sleep 600")["status"] == "cancelled");
    let pane = state("answer");
    assert_eq!(pane["status"], "running", "{pane}");
}

#[test]
fn a_command_without_a_runtime_goes_to_the_server_of_codex_and_a_line_says_so() {
    let home = Home::new();
    let _starting = home.never_listening();
    for switch in ["off", "on"] {
        let mut codex = Codex::with(&home, &[("PILOTHOUSE_SHELL", switch)]);
        let request =
            json!({ "id": 1, "method": "process/start", "params": start(&home, "a", "echo a", &json!({})) });
        codex.send(format!("{request}\n").as_bytes());
        assert_eq!(codex.line(), format!("{request}\n").as_bytes());
        let said = codex.leave();
        assert_eq!(said.contains("this command runs without Pilothouse: "), switch == "on", "{said}");
        let mark = std::fs::read_to_string(home.places().outside()).unwrap_or_default();
        assert_eq!(
            mark.contains("\"agent\":\"codex\"") && mark.contains("\"cmd\":\"echo a\""),
            switch == "on",
            "{mark}"
        );
    }
    home.configure("config.toml", "[shell]\non_failure = \"refuse\"\n");
    let mut codex = Codex::new(&home);
    let refused = codex.ask("process/start", &start(&home, "a", "echo a", &json!({})));
    assert!(
        refused["error"]["message"].as_str().is_some_and(|why| why.contains("shell.on_failure")),
        "{refused}"
    );
    codex.leave();
}

/// A sandbox as Codex asks for it.
fn sandbox() -> Value {
    json!({ "permissions": { "type": "managed", "network": "restricted", "file_system": { "entries": [
        { "path": { "type": "special", "value": { "kind": "root" } }, "access": "read" },
        { "path": { "type": "special", "value": { "kind": "project_roots" } }, "access": "write" },
    ] } } })
}

#[test]
fn a_sandboxed_command_of_codex_runs_in_its_server_and_a_task_stands_for_it() {
    let (home, _served) = served();
    let mut codex = Codex::new(&home);
    let sandbox = sandbox();
    let fenced = json!({ "sandbox": sandbox, "tty": true });
    let answer = codex.ask("process/start", &start(&home, "fenced", "touch out", &fenced));
    assert_eq!(answer["result"]["sandboxType"], "linuxSeccomp", "{answer}");
    // The task is requested before the server gets the request; it is listed and running a moment later.
    let task = || tasks(&home).into_iter().next().unwrap_or_default();
    wait_until("its task runs", || task()["status"] == "running");
    assert_eq!(task()["cmd"], "touch out");
    let id = task()["task_id"].as_str().expect("an id").to_owned();
    let shown = || json(&home, &["task", "output", "--block=false", &id])["data"].to_string();
    wait_until("its output is shown", || shown().contains("behind a fence"));
    assert!(!home.workspace().join("out").exists(), "nothing of it runs here");
    home.run(&["task", "input", &id, "by hand\n"]);
    codex.until("fenced", |told| text(told, "pty") == "by hand\n");
    home.run(&["task", "stop", &id]);
    assert_eq!(codex.until("fenced", |told| told.is_closed).exit, Some(137));
    wait_until("it has ended", || task()["status"] == "cancelled");
    // Now one that Codex terminates itself.
    codex.told.clear();
    codex.ask("process/start", &start(&home, "fenced", "touch out", &json!({ "sandbox": sandbox })));
    wait_until("another task stands for it", || tasks(&home).len() == 2);
    codex.ask("process/terminate", &json!({ "processId": "fenced" }));
    wait_until("it ends as the process ended", || {
        task()["ended"].as_str().is_some_and(|end| end.contains("exit 137"))
    });
    codex.leave();
    assert!(record(&home).contains("in Codex's sandbox: writes project_roots; network restricted"));
}

#[test]
fn a_task_that_takes_no_more_output_can_be_stopped_and_ends_what_codex_fences() {
    let (home, _served) = served();
    let mut codex = Codex::new(&home);
    let fenced = json!({ "sandbox": sandbox(), "tty": true });
    codex.ask("process/start", &start(&home, "fenced", "touch out", &fenced));
    let shown = || json(&home, &["task", "list"])["data"].to_string();
    wait_until("its task runs", || shown().contains("running"));
    let id = tasks(&home)[0]["task_id"].as_str().expect("an id").to_owned();
    let output = || json(&home, &["task", "output", "--block=false", &id])["data"].to_string();
    wait_until("its output is shown", || output().contains("behind a fence"));
    let stand_in = Tag(format!("/proc/{}/fd/", codex.executor.id()));
    stand_in.holders().into_iter().for_each(|pid| send(pid, Signal::STOP));
    // More than a pipe holds.
    codex.write("fenced", &"x".repeat(200_000));
    home.run(&["task", "stop", "--force", &id]);
    let lines = || std::fs::read_to_string(home.workspace().join("lines")).unwrap_or_default();
    wait_until("its server is asked to end it", || lines().contains("process/terminate"));
    assert_eq!(codex.until("fenced", |told| told.is_closed).exit, Some(137));
    codex.leave();
}

/// A conversation of the real Codex (0.169.0) with its own server: `>` before its lines, `<` before the server's.
const CONVERSATION: &str = include_str!("../corpus/codex/conversation.txt");

#[test]
fn a_recorded_conversation_of_codex_goes_as_it_went_with_its_own_server() {
    let (home, _served) = served();
    let mut codex = Codex::new(&home);
    let place = home.workspace().display().to_string();
    // What its server had said by then: about processes, and in answer to requests about them.
    let (mut said, mut answers) = (HashMap::<String, Told>::new(), HashMap::<u64, Value>::new());
    let (mut passed, mut of_processes) = (0, 0);
    for line in CONVERSATION.lines() {
        let (side, line) = line.split_at(1);
        let line = line.replace("WORKSPACE", &place);
        let message: Value = serde_json::from_str(&line).expect("JSON");
        let is_of_process = message["method"].as_str().is_some_and(|method| method.starts_with("process/"));
        let params = &message["params"];
        match side {
            ">" if is_of_process => {
                for (name, told) in &said {
                    codex.until(name, |now| now.output == told.output && now.exit == told.exit);
                }
                codex.asked = message["id"].as_u64().expect("a number") - 1;
                let answer = codex.ask(message["method"].as_str().expect("a method"), params);
                answers.insert(codex.asked, answer);
                of_processes += 1;
            }
            ">" => {
                codex.send(format!("{line}\n").as_bytes());
                assert_eq!(codex.line(), format!("{line}\n").as_bytes());
                passed += 1;
            }
            _ if is_of_process => {
                let told = said.entry(params["processId"].as_str().expect("a name").to_owned()).or_default();
                if let Some(chunk) = params["chunk"].as_str() {
                    let bytes = STANDARD.decode(chunk).expect("base64");
                    let bytes = String::from_utf8(bytes).expect("text").replace("WORKSPACE", &place);
                    told.output
                        .entry(params["stream"].as_str().expect("a stream").to_owned())
                        .or_default()
                        .extend(bytes.into_bytes());
                }
                told.exit = told.exit.or(params["exitCode"].as_i64());
            }
            _ => {
                if let Some(answer) = message["id"].as_u64().and_then(|id| answers.remove(&id)) {
                    assert_eq!(answer, message);
                }
            }
        }
    }
    assert!(passed > 20 && of_processes > 10 && answers.is_empty(), "{passed} {of_processes} {answers:?}");
    codex.leave();
    assert_eq!(tasks(&home).len(), said.len());
}
