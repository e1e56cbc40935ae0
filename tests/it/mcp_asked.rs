//! A held call is also put to the person in the agent's own program, if that supports asking (elicitation).

use pilothouse::clock::Clock;
use pilothouse::model::READING;
use serde_json::{Value, json};

use crate::mcp_notices::call;
use crate::support::{Home, Wire, read_it, wait_until};

/// A shim, initialized by a client that declares that it can ask its user.
fn asking(home: &Home) -> Wire {
    declaring(home, "claude-code", &json!({}))
}

/// A shim, initialized by a client that declares which ways it can ask its user.
fn declaring(home: &Home, name: &str, ways: &Value) -> Wire {
    declared(Wire::here(home), name, ways)
}

fn declared(mut agent: Wire, name: &str, ways: &Value) -> Wire {
    let client = json!({"name": name, "version": "1.0"});
    let params = json!({
        "protocolVersion": "2025-11-25", "capabilities": {"elicitation": ways}, "clientInfo": client,
    });
    agent.ask(json!("open"), "initialize", params);
    agent.write(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    agent
}

/// Reads lines until one has this method or id.
fn read_until(agent: &mut Wire, wanted: &str) -> Value {
    loop {
        let line = agent.read();
        if line["method"] == wanted || line["id"] == wanted {
            return line;
        }
    }
}

fn hold(home: &Home) {
    home.configure("config.toml", "[[approvals]]\nprefix = \"touch\"\n");
}

fn send(agent: &mut Wire, cmd: &str, wait_ms: u64) {
    let arguments = json!({"cmd": cmd, "yield_time_ms": wait_ms});
    agent.send(json!("held"), "tools/call", json!({"name": "ExecCommand", "arguments": arguments}));
}

/// Answers what the agent's program was asked with the words that let the call run.
fn run_it(agent: &mut Wire, asked: &Value) {
    let run = &asked["params"]["requestedSchema"]["properties"]["decision"]["enum"][1];
    let result = json!({"action": "accept", "content": {"decision": run}});
    agent.write(json!({"jsonrpc": "2.0", "id": asked["id"], "result": result}).to_string().as_bytes());
}

#[test]
fn a_held_call_is_asked_about_in_the_agents_program_too_and_run_or_denied_there() {
    let home = Home::new();
    hold(&home);
    let mut agent = asking(&home);
    let made = home.workspace().join("made");
    send(&mut agent, "touch made; echo done", 30_000);
    let asked = read_until(&mut agent, "elicitation/create");
    let message = asked["params"]["message"].as_str().expect("a message");
    assert!(message.contains("touch made; echo done\nin ") && !made.exists(), "{message}");
    read_it();
    run_it(&mut agent, &asked);
    let answer = read_until(&mut agent, "held");
    let text = answer["result"]["content"][0]["text"].as_str().expect("a receipt");
    assert!(text.ends_with("done") && made.exists(), "{text}");
    std::fs::remove_file(&made).expect("removed");

    send(&mut agent, "touch made", 30_000);
    let asked = read_until(&mut agent, "elicitation/create");
    // An answer to something that was not asked is ignored.
    agent.write(
        br#"{"jsonrpc":"2.0","id":4711,"result":{"action":"accept","content":{"decision":"run it"}}}"#,
    );
    read_it();
    let result = json!({"action": "accept", "content": {"decision": "deny"}});
    agent.write(json!({"jsonrpc": "2.0", "id": asked["id"], "result": result}).to_string().as_bytes());
    let answer = read_until(&mut agent, "held");
    let text = answer["result"]["content"][0]["text"].as_str().expect("a receipt");
    assert!(text.contains("The operator denied this."), "{text}");
    loop {
        let sent = Clock::start();
        send(&mut agent, "touch made", 2_000);
        let asked = read_until(&mut agent, "elicitation/create");
        // Too soon for anybody to have read it.
        run_it(&mut agent, &asked);
        let answer = read_until(&mut agent, "held");
        if answer.to_string().contains("awaits the operator") {
            break;
        }
        // On a slow machine it was not too soon after all; then once more.
        assert!(sent.now().mono >= READING, "{answer}");
        wait_until("it runs", || made.exists());
        std::fs::remove_file(&made).expect("removed");
    }
    let (text, _) = call(&mut agent, "TaskList", json!({}));
    assert!(text.contains(" queued") && !made.exists(), "{text}");

    // A client is asked with a form if it declares forms, whatever else it declares.
    let mut agent = declaring(&home, "github-copilot", &json!({"form": {}, "url": {}}));
    send(&mut agent, "touch made", 30_000);
    let asked = read_until(&mut agent, "elicitation/create");
    let mode = asked["params"].get("mode");
    assert!(mode.is_none_or(|mode| mode == "form"), "{asked}");
    read_it();
    run_it(&mut agent, &asked);
    read_until(&mut agent, "held");
    assert!(made.exists());
    let mut agent = declaring(&home, "links-only", &json!({"url": {}}));
    send(&mut agent, "touch other", 2_000);
    let answer = agent.read();
    assert!(answer.to_string().contains("awaits the operator"), "not asked: {answer}");
}

#[test]
fn a_client_that_cannot_act_as_the_operator_is_not_asked() {
    let home = Home::new();
    hold(&home);
    let mut served = home.serve();
    let mut shim = home.command(&["mcp"]);
    shim.env("PILOTHOUSE_TASK_ID", "task_x");
    let mut agent = declared(Wire::of(shim), "claude-code", &json!({}));
    send(&mut agent, "touch made", 2_000);
    let answer = agent.read();
    assert!(answer.to_string().contains("awaits the operator"), "not asked: {answer}");
    drop(agent);
    home.stop(&mut served);
}

/// Sends a tool call as in protocol version 2026-07-28, with the parameters that the client adds.
fn send_modern(agent: &mut Wire, cmd: &str, wait_ms: u64, more: &Value) {
    let arguments = json!({"cmd": cmd, "yield_time_ms": wait_ms});
    let mut params = json!({"name": "ExecCommand", "arguments": arguments, "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "claude-code", "version": "2"},
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
    }});
    for (key, value) in more.as_object().into_iter().flatten() {
        params[key] = value.clone();
    }
    agent.send(json!("held"), "tools/call", params);
}

/// Sends the call again with this answer to its question, after the time it takes to read it.
fn answer_modern(agent: &mut Wire, cmd: &str, asked: &Value, decision: &Value) -> String {
    read_it();
    let response = json!({"action": "accept", "content": {"decision": decision}});
    let more =
        json!({"requestState": asked["result"]["requestState"], "inputResponses": {"approval": response}});
    send_modern(agent, cmd, 30_000, &more);
    let answer = read_until(agent, "held");
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

fn form(asked: &Value) -> &Value {
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
    &asked["result"]["inputRequests"]["approval"]["params"]
}

#[test]
fn a_client_of_2026_07_28_is_asked_by_the_result_and_sends_the_call_again_with_the_answer() {
    let home = Home::new();
    hold(&home);
    let mut agent = Wire::here(&home);
    // An approval after the call stopped waiting returns the result of the command.
    send_modern(&mut agent, "touch made; echo done", 250, &json!({}));
    let asked = read_until(&mut agent, "held");
    wait_until("the call has stopped waiting", || {
        let shown = home.call(&["receipt", "show", "1", "--output", "json"]);
        String::from_utf8_lossy(&shown.stdout).contains("awaits the operator")
    });
    let run = &form(&asked)["requestedSchema"]["properties"]["decision"]["enum"][1];
    let text = answer_modern(&mut agent, "touch made; echo done", &asked, run);
    assert!(text.contains("completed (exit 0)") && text.ends_with("done"), "{text}");
    std::fs::remove_file(home.workspace().join("made")).expect("it ran");

    let made = || std::fs::read_to_string(home.workspace().join("made")).unwrap_or_default();
    let cmd = "touch made; echo x >> made; echo done";
    send_modern(&mut agent, cmd, 30_000, &json!({}));
    let asked = read_until(&mut agent, "held");
    let message = form(&asked)["message"].as_str().expect("a message");
    assert!(message.contains(cmd) && made().is_empty(), "{message}");
    let run = &form(&asked)["requestedSchema"]["properties"]["decision"]["enum"][1];
    let text = answer_modern(&mut agent, cmd, &asked, run);
    assert!(text.ends_with("done"), "{text}");
    assert_eq!(made(), "x\n", "it ran once");
    // The same answer a second time refers to nothing.
    let more = json!({"requestState": asked["result"]["requestState"], "inputResponses": {}});
    send_modern(&mut agent, cmd, 30_000, &more);
    let answer = read_until(&mut agent, "held");
    assert!(answer["error"]["message"].to_string().contains("send the call again"), "{answer}");
    assert_eq!(made(), "x\n");

    // Denied, or the form put away: nothing runs.
    send_modern(&mut agent, "touch never", 30_000, &json!({}));
    let asked = read_until(&mut agent, "held");
    let text = answer_modern(&mut agent, "touch never", &asked, &json!("deny"));
    assert!(text.contains("The operator denied this."), "{text}");
    send_modern(&mut agent, "touch never", 6_000, &json!({}));
    let asked = read_until(&mut agent, "held");
    let state = asked["result"]["requestState"].clone();
    let more = json!({"requestState": state, "inputResponses": {"approval": {"action": "decline"}}});
    send_modern(&mut agent, "touch never", 6_000, &more);
    let answer = read_until(&mut agent, "held");
    assert!(answer.to_string().contains("awaits the operator"), "asked once: {answer}");
    assert!(!home.workspace().join("never").exists());
}
