//! `pilothouse mcp` with the official Rust client: starting, surviving and sharing a runtime.

use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};

use pilothouse::envelope::Envelope;
use rmcp::model::{CallToolRequest, CallToolRequestParams, CallToolResult, ClientRequest};
use rmcp::service::{PeerRequestOptions, RunningService};
use rmcp::transport::TokioChildProcess;
use rmcp::{RoleClient, ServiceExt};
use serde_json::{Value, json};

use crate::mcp_stdio::rows;
use crate::support::{Home, wait_until};

type Agent = RunningService<RoleClient, ()>;

async fn agent(home: &Home, args: &[&str]) -> Agent {
    let mut command = home.command(&["mcp"]);
    command.args(args).stdin(Stdio::piped());
    let (shim, _) = TokioChildProcess::builder(tokio::process::Command::from(command))
        .stderr(Stdio::null())
        .spawn()
        .expect("the shim starts");
    ().serve(shim).await.expect("the conversation opens")
}

/// An agent whose shim and runtime are in this process.
async fn agent_here(home: &Home, label: Option<&str>) -> Agent {
    home.serve_here();
    let [(input, its_input), (output, its_output)] = [(); 2].map(|()| UnixStream::pair().expect("a pair"));
    home.in_process().carry(home.caller(&[]), label, its_input, its_output);
    let [input, output] = [input, output].map(|stream| {
        stream.set_nonblocking(true).expect("set");
        tokio::net::UnixStream::from_std(stream).expect("watched")
    });
    ().serve((output, input)).await.expect("the conversation opens")
}

fn ask(tool: &'static str, arguments: &Value) -> CallToolRequestParams {
    CallToolRequestParams::new(tool).with_arguments(arguments.as_object().cloned().unwrap_or_default())
}

fn envelope(result: &CallToolResult) -> Envelope {
    let meta = result.meta.as_ref().expect("meta");
    serde_json::from_value(meta["dev.pilothouse/envelope"].clone()).expect("an envelope")
}

async fn call(agent: &Agent, tool: &'static str, arguments: Value) -> Value {
    let result = agent.call_tool(ask(tool, &arguments)).await.expect("an answer");
    envelope(&result).to_value()
}

async fn task(agent: &Agent, cmd: &str) -> String {
    let answer = call(agent, "ExecCommand", json!({"cmd": cmd, "yield_time_ms": 250})).await;
    answer["result"]["task_handle"]["task_id"].as_str().expect("a task").to_owned()
}

fn status(home: &Home, task: &str) -> Value {
    // On a thread of its own: the test is asynchronous.
    let shown = std::thread::scope(|scope| scope.spawn(|| home.call(&["task", "status", task])).join());
    let shown = shown.expect("an answer");
    let envelope: Value = serde_json::from_slice(&shown.stdout).expect("a response");
    envelope["data"]["task"].clone()
}

fn kill(pid: i32) {
    let killed = Command::new("kill").args(["-9", &pid.to_string()]).status().expect("kill runs");
    assert!(killed.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_comes_first_gets_a_headless_runtime() {
    let home = Home::new();
    let agent = agent(&home, &[]).await;
    let tools = agent.list_all_tools().await.expect("tools");
    assert_eq!(tools.first().map(|tool| tool.name.as_ref()), Some("ExecCommand"));
    let result = agent.call_tool(ask("ExecCommand", &json!({"cmd": "pwd"}))).await.expect("an answer");
    let text = serde_json::to_value(&result.content).expect("content")[0]["text"].clone();
    assert!(text.as_str().is_some_and(|text| text.starts_with("Process exited with code 0")), "{text}");
    let workspace = home.workspace().canonicalize().expect("exists");
    assert_eq!(
        envelope(&result).result().expect("success")["stdout_preview"],
        format!("{}\n", workspace.display())
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_in_flight_is_answered_when_the_runtime_dies_and_the_next_one_gets_another_runtime() {
    let home = Home::new();
    let agent = agent(&home, &[]).await;
    let task = task(&agent, "sleep 60").await;
    let first = home.runtime_pid();
    let waiting = agent.peer().clone();
    let blocked = tokio::spawn(async move {
        waiting.call_tool(ask("TaskOutput", &json!({"task_id": task, "timeout_ms": 45_000}))).await
    });
    wait_until("the second call is in flight", || rows(&home, "call").len() == 2);
    kill(first);
    let answer = blocked.await.expect("joins").expect("an answer, not silence");
    assert_eq!(answer.is_error, Some(true));
    assert_eq!(envelope(&answer).to_value()["error"]["kind"], "runtime_shutting_down");

    let answer = call(&agent, "ExecCommand", json!({"cmd": "echo again"})).await;
    assert_eq!(answer["result"]["stdout_preview"], "again\n");
    assert_ne!(home.runtime_pid(), first);
}

#[tokio::test(flavor = "multi_thread")]
async fn tasks_outlive_their_agent_which_regains_them_under_its_label() {
    let home = Home::new();
    let first = agent_here(&home, Some("builder")).await;
    let task = task(&first, "sleep 60").await;
    first.cancel().await.expect("leaves");
    let left = |row: &Value| row["connected"] == false;
    wait_until("its label is free", || rows(&home, "agent").iter().any(left));
    assert_eq!(status(&home, &task)["status"], "running");

    let other = agent_here(&home, Some("reviewer")).await;
    let refused = call(&other, "TaskStop", json!({"task_id": task})).await;
    assert_eq!(refused["error"]["kind"], "not_task_owner");

    let again = agent_here(&home, Some("builder")).await;
    let stopped = call(&again, "TaskStop", json!({"task_id": task})).await;
    assert_eq!(stopped["status"], "success");
}

#[tokio::test(flavor = "multi_thread")]
async fn cancelling_a_foreground_command_ends_it_and_hanging_up_does_not() {
    let home = Home::new();
    let agent = agent_here(&home, None).await;
    let note = |name: &str| std::fs::read_to_string(home.workspace().join(name)).unwrap_or_default();
    let run = |cmd: &str| {
        let input = json!({"cmd": cmd, "yield_time_ms": 30_000});
        ClientRequest::CallToolRequest(CallToolRequest::new(ask("ExecCommand", &input)))
    };
    let options = PeerRequestOptions::no_options;
    let first = run("echo $$ > pid; exec sleep 60");
    let cancelled = agent.send_cancellable_request(first, options()).await.expect("sent");
    wait_until("the first command runs", || note("pid").ends_with('\n'));
    let process = std::path::Path::new("/proc").join(note("pid").trim());
    assert!(process.exists());
    cancelled.cancel(None).await.expect("cancelled");
    wait_until("the first command has ended", || !process.exists());

    // Longer than the 5 s for which answers are still accepted after a client has hung up.
    let second = run("echo > started; sleep 6; echo > ended");
    let abandoned = agent.send_cancellable_request(second, options()).await.expect("sent");
    wait_until("the second command runs", || !note("started").is_empty());
    agent.cancel().await.expect("leaves");
    wait_until("the second command ends by itself", || !note("ended").is_empty());
    drop(abandoned);
}
