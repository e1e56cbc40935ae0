//! `pilothouse mcp` line by line, in ways that no client library would use: many requests ahead, half a line, or
//! never reading.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pilothouse::journal::{JournalItem, JournalReader};
use pilothouse::link::VERSION;
use pilothouse::runtime::past;
use serde_json::{Value, json};

use crate::support::{Agent, Console, Home, Wire, program_word, wait_until};

const MODERN: &str = "2026-07-28";

pub(crate) fn rows(home: &Home, kind: &str) -> Vec<Value> {
    let all = past::list(&home.places().recordings(), Some(&home.places().workspace));
    let of = |folder: &Path| -> Vec<Value> {
        let read = JournalReader::open(folder).expect("opens");
        let found = read.filter_map(|item| match item {
            JournalItem::Record(record) if record.header.kind == kind => Some(record),
            _ => None,
        });
        found.map(|record| record.data(folder).expect("data")).collect()
    };
    all.iter().flat_map(|listed| of(&listed.folder)).collect()
}

pub(crate) fn modern(mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientInfo": {"name": "codex-mcp-client", "version": "0.1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    params
}

#[test]
fn f62_an_agent_that_dies_with_an_answer_unread_has_left() {
    let home = Home::new();
    let (mut agent, theirs) = UnixStream::pair().expect("a pair");
    let theirs = std::os::fd::OwnedFd::from(theirs);
    let mut shim = home.command(&["mcp"]);
    shim.stdin(theirs.try_clone().expect("a descriptor")).stdout(theirs).stderr(std::process::Stdio::piped());
    let child = shim.spawn().expect("starts");
    drop(shim);
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    agent.write_all(format!("{ping}\n").as_bytes()).expect("sent");
    agent.read_exact(&mut [0]).expect("an answer");
    drop(agent);
    let output = child.wait_with_output().expect("ends");
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""));
}

#[test]
fn a_last_line_without_a_line_feed_is_answered() {
    let home = Home::new();
    let mut command = home.command(&["mcp"]);
    command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    let mut child = command.spawn().expect("starts");
    drop(command);
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}).to_string();
    child.stdin.take().expect("a pipe").write_all(ping.as_bytes()).expect("sent");
    let output = child.wait_with_output().expect("ends");
    let answer: Value = serde_json::from_slice(&output.stdout).expect("an answer");
    assert_eq!((&answer["id"], &answer["result"]), (&json!(1), &json!({})));
}

#[test]
fn a_server_outside_any_repository_works_where_its_client_says_or_where_it_is_told_to() {
    let home = Home::new();
    std::fs::create_dir_all(home.workspace().join(".git")).expect("a folder");
    std::fs::write(home.workspace().join(".git/HEAD"), "ref: refs/heads/main\n").expect("written");
    let outside = home.workspace().join("../outside");
    std::fs::create_dir(&outside).expect("a folder");
    let start = |args: &[&str]| {
        let mut command = home.command(&["mcp"]);
        command.args(args).current_dir(&outside);
        Wire::of(command)
    };
    let place = json!(home.workspace());
    let mut asked = start(&[]);
    let client = json!({"protocolVersion": "2025-11-25", "capabilities": {"roots": {}}, "clientInfo": {"name": "x", "version": "1"}});
    asked.ask(json!(1), "initialize", client);
    asked.write(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    // The call waits for the answer.
    asked.send(json!(2), "tools/call", json!({"name": "ExecCommand", "arguments": {"cmd": "pwd"}}));
    let question = asked.read();
    assert_eq!(question["method"], "roots/list");
    let roots = json!([{"uri": format!("file://{}", home.workspace().display())}]);
    asked.write(
        json!({"jsonrpc": "2.0", "id": question["id"], "result": {"roots": roots}}).to_string().as_bytes(),
    );
    let ran = asked.read();
    assert!(ran["result"]["content"][0]["text"].to_string().contains(place.as_str().expect("text")), "{ran}");
    drop(asked);
    let told = start(&["--workspace", place.as_str().expect("text")])
        .opened("y")
        .call("ExecCommand", json!({"cmd": "pwd"}));
    assert!(told.to_string().contains(place.as_str().expect("text")), "{told}");
}

#[test]
fn a_health_check_starts_no_runtime_and_the_first_call_does() {
    let home = Home::new();
    home.configure("config.toml", "[limits]\nstop_grace = \"30 s\"\n");
    let mut legacy = Wire::open(&home, "claude-code");
    assert_eq!(legacy.ask(json!(1), "ping", json!({}))["result"], json!({}));
    let listed = legacy.ask(json!(2), "tools/list", json!({}));
    assert_eq!(listed["result"]["tools"][0]["name"], "ExecCommand");
    assert!(
        listed.to_string().contains("killed after 30 s;"),
        "the limits are those of the settings: {listed}"
    );

    let mut inline = Wire::start(&home, &[]);
    let found = inline.ask(json!(1), "server/discover", modern(json!({})));
    assert!(found["result"]["supportedVersions"].to_string().contains(MODERN), "{found}");
    let modern_list = inline.ask(json!(2), "tools/list", modern(json!({})));
    assert_eq!(modern_list["result"]["tools"], listed["result"]["tools"]);
    assert!(!home.places().runtime_dir.exists(), "nothing was started");

    let params = modern(json!({"name": "ExecCommand", "arguments": {"cmd": "echo hello"}}));
    let ran = inline.ask(json!(3), "tools/call", params);
    assert!(ran["result"]["content"][0]["text"].to_string().contains("hello"), "{ran}");
    assert!(home.places().agent_socket().exists());
    let listed_by_the_other = legacy.call("TaskList", json!({}));
    assert_eq!(listed_by_the_other["status"], "success");
    // The runtime's answer is the same as the shim's own.
    assert_eq!(legacy.ask(json!(9), "tools/list", json!({}))["result"], listed["result"]);
}

#[test]
fn requests_sent_far_ahead_are_answered_once_the_agent_reads() {
    let home = Home::new();
    let mut wire = Wire::open_here(&home, "eager");
    let list = json!({"name": "TaskList", "arguments": {"scope": "all"}});
    for (count, method, params) in
        [(500, "tools/list", json!({})), (8_000, "ping", json!({})), (3_000, "tools/call", list)]
    {
        for id in 0..count {
            wire.send(json!(id), method, params.clone());
        }
        let mut answered = vec![false; count];
        for _ in 0..count {
            let answer = wire.read();
            let id = answer["id"].as_u64().and_then(|id| usize::try_from(id).ok()).expect("an id");
            assert!(answer["result"].is_object() && !std::mem::replace(&mut answered[id], true), "{answer}");
        }
    }
    assert_eq!(wire.call("ExecCommand", json!({"cmd": "echo still here"}))["status"], "success");
}

#[test]
fn a_malformed_line_is_refused_under_its_id_and_runs_nothing() {
    let home = Home::new();
    let mut wire = Wire::open_here(&home, "careless");
    let call = |arguments: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"ExecCommand","arguments":{arguments}}}}}"#
        )
    };
    let deep = call(&format!(r#"{{"cmd":{}{}}}"#, "[".repeat(100), "]".repeat(100)));
    let bytes = call(r#"{"cmd":"touch ran ?"}"#).replace('?', "\u{1}").into_bytes();
    let broken: Vec<u8> = bytes.into_iter().map(|byte| if byte == 1 { 0xff } else { byte }).collect();
    for (line, code) in [
        (deep.into_bytes(), -32_600),
        (broken, -32_700),
        (call(r#"{"cmd":"touch ran \ud800"}"#).into_bytes(), -32_700),
        (call(r#"{"cmd":"touch ran","cmd":"touch ran"}"#).into_bytes(), -32_602),
        (call(r#"{"cmd":"touch ran","\u0063md":"true"}"#).into_bytes(), -32_602),
        (call(r#"{"cmd":"touch ran"#).into_bytes(), -32_700),
    ] {
        wire.write(&line);
        let answer = wire.read();
        let shown = String::from_utf8_lossy(&line).into_owned();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(7), &json!(code)), "{shown}: {answer}");
    }
    let twice = wire.call("ExecCommand", json!({"cmd": "test ! -e ran"}));
    assert_eq!(twice["result"]["exit_status"], 0, "{twice}");
}

#[test]
fn a_call_of_a_tool_that_does_not_exist_is_refused_counted_and_on_record() {
    let home = Home::new();
    let mut agent = Wire::open_here(&home, "claude-code");
    let mut call = |name: &str| {
        agent.ask(json!(1), "tools/call", json!({"name": name, "arguments": {"command": "TOKEN=hunter2 ls"}}))
    };
    let refused = call("TaskStpo");
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    let said = refused["error"]["message"].as_str().expect("a message");
    assert_eq!(said, "unknown tool: TaskStpo; did you mean TaskStop?");
    call(&"Bash".repeat(10_000));
    let recorded = rows(&home, "call");
    let names: Vec<_> = recorded.iter().map(|row| row["tool"].as_str().expect("a name")).collect();
    assert!(names[0] == "TaskStpo" && names[1].starts_with("BashBash") && names[1].len() < 200, "{names:?}");
    assert_eq!(recorded[0]["input"]["command"], "TOKEN=[masked] ls");
    let metrics: Value =
        serde_json::from_slice(&home.call(&["metrics", "show", "--output", "json"]).stdout).expect("JSON");
    let calls = &metrics["data"]["tool_calls"];
    assert_eq!((&calls["TaskStpo"]["error"], &calls["other"]["error"]), (&json!(1), &json!(1)), "{metrics}");
}

#[test]
fn the_counters_tell_an_agent_from_a_script_and_from_a_program() {
    let home = Home::new();
    std::fs::write(home.workspace().join("p.prose"), "exec \"true\"\n".repeat(4)).expect("written");
    let mut agent = Wire::open_here(&home, "claude-code");
    agent.call("ExecCommand", json!({"cmd": "true"}));
    assert!(home.call(&["run", "p.prose", "--plain"]).status.success());
    home.call(&["command", "run", "true"]);
    let metrics: Value =
        serde_json::from_slice(&home.call(&["metrics", "show", "--output", "json"]).stdout).expect("JSON");
    let data = &metrics["data"];
    assert_eq!((&data["exec_command_items"], &data["shell_commands"]), (&json!(1), &json!(1)), "{data}");
    assert_eq!(data["tool_calls"], json!({"ExecCommand": {"success": 1}}));
    let by = |calls: u64, commands: u64| json!({"calls": calls, "commands": commands, "batched": 0});
    assert_eq!(data["by"], json!({"agent": by(1, 1), "cli": by(1, 1), "program": by(0, 4)}), "{data}");
}

#[test]
fn two_sessions_of_one_agent_are_two_actors() {
    let home = Home::new();
    let mut first = Wire::open_here(&home, "claude-code");
    let task = first.task("exec sleep 60");
    let mut second = Wire::open_here(&home, "claude-code");
    let own = second.task("exec sleep 61");

    let listed = second.call("TaskList", json!({}));
    assert_eq!(listed["result"]["total"], 1, "{listed}");
    assert_eq!(listed["result"]["tasks"][0]["task_id"], json!(own));
    for (tool, more) in [("TaskStop", json!({})), ("TaskInput", json!({"input": "x"}))] {
        let mut arguments = more;
        arguments["task_id"] = json!(task);
        let refused = second.call(tool, arguments);
        assert_eq!(refused["error"]["kind"], "not_task_owner", "{refused}");
    }
    let status = second.call("TaskStatus", json!({"task_id": own}));
    assert_eq!(status["result"]["task"]["started_by"], "agent:claude-code#2", "{status}");

    // The first one's label becomes free once it is gone, and the next one takes over its tasks.
    drop(first);
    let left = |row: &Value| row["label"] == "claude-code" && row["connected"] == false;
    wait_until("the first one is gone", || rows(&home, "agent").iter().any(left));
    let mut third = Wire::open_here(&home, "claude-code");
    let stopped = third.call("TaskStop", json!({"task_id": task}));
    assert_eq!(stopped["status"], "success", "{stopped}");
    assert_eq!(third.call("TaskStop", json!({"task_id": own}))["error"]["kind"], "not_task_owner");

    let came = rows(&home, "agent").into_iter().filter(|row| row["connected"] == true);
    let came: Vec<Value> = came.collect();
    let labels: Vec<&Value> = came.iter().map(|row| &row["label"]).collect();
    assert_eq!(labels, ["claude-code", "claude-code#2", "claude-code"]);
    for row in &came {
        assert_eq!(row["uid"], json!(rustix::process::geteuid().as_raw()), "{row}");
        assert_eq!((&row["profile"], &row["pid"]), (&json!("receipt"), &json!(std::process::id())), "{row}");
    }
}

#[test]
fn sessions_keep_their_labels_when_another_runtime_takes_over() {
    let home = Home::new();
    let mut first = Wire::open(&home, "claude-code");
    let mut second = Wire::open(&home, "claude-code");
    // Who started a command; null while a runtime is shutting down.
    let label = |wire: &mut Wire| {
        let started = wire.call("ExecCommand", json!({"cmd": "exec sleep 60", "yield_time_ms": 0}));
        let task = started["result"]["task_handle"]["task_id"].clone();
        wire.call("TaskStatus", json!({"task_id": task}))["result"]["task"]["started_by"].clone()
    };
    assert_eq!(label(&mut first), "agent:claude-code");
    assert_eq!(label(&mut second), "agent:claude-code#2");
    assert!(home.run(&["serve", "--stop"]).status.success());
    // This time the second one reconnects first.
    wait_until("another runtime serves the second", || label(&mut second) == "agent:claude-code#2");
    wait_until("another runtime serves the first", || label(&mut first) == "agent:claude-code");
}

#[test]
fn a_console_shows_agents_that_have_not_called_yet_by_their_labels_whatever_variables_they_lack() {
    let home = Home::new();
    // Two connect before there is a runtime, one after.
    let _first = Wire::open(&home, "claude-code");
    let _second = Wire::open(&home, "gemini-cli-mcp-client");
    let mut console = Console::open(&home, &[], (160, 40));
    console.shows("● gemini");
    console.shows("● claude-code");
    let _third = Wire::open(&home, "claude-code");
    console.shows("● claude-code#2");
    // With the environment in which Codex starts its servers.
    let mut command = home.command(&["mcp"]);
    command.env_remove("XDG_RUNTIME_DIR").env_remove("XDG_CONFIG_HOME").env_remove("XDG_STATE_HOME");
    let _codex = Wire::of(command).opened("codex-mcp-client");
    console.shows("● codex");
    console.keys(b"q");
    console.shows("4 agents are connected");
    console.keys(b"s");
    assert_eq!(console.exit(), 0);
}

#[test]
fn connections_of_a_task_keep_neither_a_person_nor_another_agent_out() {
    let home = Home::new();
    home.configure("config.toml", "[limits]\nconnections_per_task = 2\n");
    let agent = Agent::connect_first(&home, &["--label", "claude"]);
    let waiting = agent.task("exec sleep 60");
    let hold = format!("{} task output {waiting} --timeout-ms 45000", program_word());
    let list = format!("{} task list", program_word());
    let script = format!(
        "{hold} >/dev/null & {hold} >/dev/null & until {list} | grep TOO_MANY_CONNECTIONS > told.new; do :; done; \
         mv told.new told; wait"
    );
    agent.call("ExecCommand", &json!({"cmd": script, "yield_time_ms": 0}));
    let told = home.workspace().join("told");
    wait_until("the third connection of the task is refused", || told.exists());
    let told: Value = serde_json::from_str(&std::fs::read_to_string(told).expect("a file")).expect("JSON");
    assert_eq!(told["error"]["retryable"], json!(true), "{told}");

    assert!(home.run(&["task", "list"]).status.success(), "a script outside is served");
    let another = Agent::connect(&home, &["--label", "codex"]);
    assert_eq!(another.call("TaskList", &json!({})).envelope["status"], "success");
    let console = Console::open(&home, &[], (120, 40));
    console.shows("● codex");
    another.leave();
    agent.leave();
}

#[test]
fn idle_connections_of_one_process_are_limited_and_the_one_too_many_is_told_once() {
    let home = Home::new();
    home.configure("config.toml", "[limits]\nconnections = 66\n");
    let mut served = home.serve();
    let socket = home.places().agent_socket();
    let hello =
        format!("{{\"v\":{VERSION},\"role\":\"cli\",\"pid\":1,\"ppid\":1,\"cwd\":{:?}}}\n", home.workspace());
    let connect = || {
        let mut stream = UnixStream::connect(&socket).expect("connects");
        stream.write_all(hello.as_bytes()).expect("taken");
        let mut ack = String::new();
        BufReader::new(&stream).read_line(&mut ack).expect("an answer");
        (stream, serde_json::from_str::<Value>(&ack).expect("an ack"))
    };
    let held: Vec<UnixStream> = (0..64)
        .map(|_| {
            let (stream, ack) = connect();
            assert_eq!(ack["ok"], json!(true), "{ack}");
            stream
        })
        .collect();
    let (mut refused, ack) = connect();
    assert_eq!((&ack["ok"], &ack["connection_limit"]), (&json!(false), &json!(64)), "{ack}");
    // The runtime has not even read the hello: the client may see that as a reset.
    assert!(
        refused.read_to_end(&mut Vec::new()).is_ok_and(|more| more == 0) || refused.write_all(b"x").is_err()
    );

    // Others are served up to the overall limit; the call of one client too many is answered with that limit.
    let mut first = Wire::open(&home, "first");
    assert_eq!(first.call("TaskList", json!({}))["status"], "success");
    let mut second = Wire::open(&home, "second");
    assert_eq!(second.call("TaskList", json!({}))["status"], "success");
    let mut third = Wire::open(&home, "third");
    let answer = third.call("TaskList", json!({}));
    assert_eq!(answer["error"]["kind"], "too_many_connections", "{answer}");
    assert_eq!(answer["error"]["details"], json!({"limit": 66}));
    assert_eq!(answer["error"]["retryable"], json!(true));
    drop(held);
    wait_until("it is served once there is room", || {
        third.call("TaskList", json!({}))["status"] == "success"
    });
    home.stop(&mut served);
}

#[test]
fn f30_an_agent_that_goes_in_the_middle_of_a_call_or_batch_ends_nothing_and_the_record_is_complete() {
    let home = Home::new();
    home.configure("config.toml", "[[approvals]]\nprefix = \"touch\"\n");
    let fifos = ["call", "batch"].map(|name| home.fifo(name));
    let mut wire = Wire::open(&home, "claude-code");
    let call = json!({"cmd": "echo > one; read -r x < call; echo > two", "yield_time_ms": 30_000});
    let items =
        json!([{"cmd": "echo > three; read -r x < batch", "yield_time_ms": 30_000}, {"cmd": "echo > four"}]);
    wire.send(json!(1), "tools/call", json!({"name": "ExecCommand", "arguments": call}));
    wire.send(json!(2), "tools/call", json!({"name": "ExecCommandBatch", "arguments": {"items": items}}));
    let held = json!({"cmd": "touch held", "yield_time_ms": 30_000});
    wire.send(json!(3), "tools/call", json!({"name": "ExecCommand", "arguments": held}));
    let there = |name: &str| home.workspace().join(name).exists();
    wait_until("both run", || there("one") && there("three"));
    wait_until("all are on record", || rows(&home, "call").len() == 3);
    wire.kill();
    let left = |row: &Value| row["connected"] == false;
    wait_until("the runtime has seen it go", || rows(&home, "agent").iter().any(left));
    for fifo in fifos {
        std::fs::write(fifo, "on\n").expect("read");
    }
    wait_until("call and batch are carried through", || there("two") && there("four"));
    let answers = || rows(&home, "answer");
    wait_until("both answers are on record", || answers().len() >= 2);
    assert!(answers().iter().all(|row| row["envelope"]["status"] == "success"), "{:?}", answers());
    assert!(!there("held"), "what waits for a person still waits");
    assert!(rows(&home, "abandoned").is_empty());
}

#[test]
fn f31_an_agent_that_sends_and_never_reads_fills_a_bounded_queue() {
    let home = Home::new();
    let mut wire = Wire::open(&home, "deaf");
    let mut input = wire.input.take().expect("open");
    let padding = "x".repeat(100_000);
    let written = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&written);
    let writing = std::thread::spawn(move || {
        for id in 0..2_000 {
            let request =
                json!({"jsonrpc": "2.0", "id": id, "method": "tools/list", "params": {"cursor": padding}});
            if input.write_all(format!("{request}\n").as_bytes()).is_err() {
                return;
            }
            counted.fetch_add(1, Ordering::Relaxed);
        }
    });
    let (mut last, mut looks) = (0, 0);
    wait_until("it is not read any more", || {
        let now = written.load(Ordering::Relaxed);
        looks = if now == last { looks + 1 } else { 0 };
        last = now;
        now > 20 && looks > 100
    });
    assert!(last < 1_000, "{last} requests of 100 kB were taken in");
    let status = std::fs::read_to_string(format!("/proc/{}/status", wire.shim().id())).expect("status");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a peak");
    let peak: u64 = peak.trim().trim_end_matches(" kB").parse().expect("a number");
    assert!(peak < 100 << 10, "the peak of its memory is {peak} KiB");
    // Nothing is lost: a client that starts reading gets the answers in full.
    for _ in 0..20 {
        assert!(wire.read()["result"]["tools"].is_array());
    }
    wire.kill();
    writing.join().expect("the writer ends");
}

#[test]
fn f32_the_shim_ends_when_its_agent_closes_its_end_whatever_is_in_flight() {
    let home = Home::new();
    let mut served = home.serve();
    let mut idle = Wire::start(&home, &[]);
    idle.input = None;
    wait_until("a shim that was told nothing ends", || idle.shim().try_wait().expect("asked").is_some());

    let mut busy = Wire::open(&home, "busy");
    let task = busy.task("exec sleep 60");
    let wait = json!({"name": "TaskOutput", "arguments": {"task_id": task, "timeout_ms": 45_000}});
    busy.send(json!(1), "tools/call", wait);
    wait_until("it waits", || rows(&home, "call").len() == 2);
    busy.input = None;
    wait_until("the shim ends", || busy.shim().try_wait().expect("asked").is_some());
    assert!(rows(&home, "answer").len() == 1, "and not because its call was answered");

    // A client that never read a line ends as well.
    let mut deaf = Wire::open(&home, "deaf");
    (0..200).for_each(|id| deaf.send(json!(id), "tools/list", json!({})));
    deaf.input = None;
    wait_until("the shim ends", || deaf.shim().try_wait().expect("asked").is_some());

    assert!(served.try_wait().expect("asked").is_none(), "the runtime stays");
    home.stop(&mut served);
}

#[test]
fn a_receipt_is_no_longer_than_the_settings_say_for_its_agent() {
    let home = Home::new();
    home.configure("config.toml", "[agents]\nreceipt_chars = { codex = 9500 }\n");
    let length = |name: &str| {
        let mut agent = Wire::open_here(&home, name);
        let arguments = json!({"cmd": "seq 1 20000", "max_output_tokens": 64_000});
        let answer =
            agent.ask(json!("call"), "tools/call", json!({"name": "ExecCommand", "arguments": arguments}));
        answer["result"]["content"][0]["text"].as_str().expect("a receipt").chars().count()
    };
    let codex = length("codex-mcp-client");
    assert!((5_000..=9_500).contains(&codex), "{codex}");
    assert!(length("claude-code") > 20_000);
}

#[test]
fn tasks_that_an_agent_leaves_end_with_its_process_and_not_with_its_connection() {
    let home = Home::new();
    home.configure("config.toml", "[services]\non_agent_end = \"end\"\n");
    let mut served = home.serve();
    // The agent: it starts the shim, and lives on after that has ended.
    let wait = home.fifo("agent");
    let script = "exec 3<&0; \"$0\" mcp <&3 & exec 3<&- </dev/null; wait $!; read -r _ <\"$1\"";
    let program = home.command(&["mcp"]).get_program().to_owned();
    let mut agent = std::process::Command::new("sh");
    agent.args(["-c", script]).arg(program).arg(&wait);
    home.settle(&mut agent);
    let mut wire = Wire::of(agent).opened("claude-code");
    let task = wire.task("exec sleep 600");
    let state = || -> Value {
        let told = home.run(&["task", "status", &task]);
        serde_json::from_slice::<Value>(&told.stdout).expect("JSON")["data"]["task"].clone()
    };
    wire.input = None;
    wait_until("the connection has closed", || {
        rows(&home, "agent").iter().any(|row| row["connected"] == false)
    });
    assert_eq!(state()["status"], "running", "{}", state());
    std::fs::write(&wait, "\n").expect("the agent is told to end");
    wait_until("its task has been ended", || state()["status"] == "cancelled");
    assert!(state().to_string().contains("its agent has ended"), "{}", state());
    home.stop(&mut served);
}
