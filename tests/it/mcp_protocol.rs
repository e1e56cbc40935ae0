//! MCP to the letter: codes and sentences of refusals, revisions, and lines that are not quite the protocol.

use serde_json::{Value, json};

use crate::mcp_stdio::{modern, rows};
use crate::support::{Home, Wire};

const SERVER_KEY: &str = "io.modelcontextprotocol/serverInfo";

fn initialize(revision: &str) -> Value {
    json!({"protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "claude-code", "version": "1"}})
}

/// Asserts that a request is refused; returns the sentence.
fn refused(wire: &mut Wire, method: &str, params: Value, code: i64) -> String {
    let answer = wire.ask(json!("bad"), method, params);
    assert_eq!(answer["error"]["code"], code, "{method}: {answer}");
    answer["error"]["message"].as_str().expect("a message").to_owned()
}

#[test]
fn f59_parameters_that_a_method_does_not_take_are_refused_by_a_sentence_and_start_no_runtime() {
    let home = Home::new();
    let mut wire = Wire::start(&home, &[]);
    let early = refused(&mut wire, "tools/list", json!({}), -32_602);
    assert!(early.contains("send `initialize` first"), "{early}");
    let empty = refused(&mut wire, "initialize", json!({}), -32_602);
    assert!(empty.contains("missing field `protocolVersion`"), "{empty}");
    let opened = wire.ask(json!(0), "initialize", initialize("2025-11-25"));
    assert_eq!(opened["result"]["protocolVersion"], "2025-11-25", "{opened}");
    for (method, params, part) in [
        ("tools/call", json!({}), "missing field `name`"),
        ("tools/call", json!({"name": 5}), "it takes `name`, a string"),
        ("completion/complete", json!({}), "missing field `ref`"),
        ("tools/list", json!([]), "`params` must be an object"),
        ("tools/list", json!({"_meta": 5}), "`_meta` must be an object"),
        ("initialize", initialize("2025-11-25"), "sent once"),
    ] {
        let said = refused(&mut wire, method, params, -32_602);
        assert!(said.contains(part) && said.contains(' '), "{method}: {said}");
    }
    assert_eq!(refused(&mut wire, "no/such", json!({}), -32_601), "there is no method no/such here");
    assert!(!home.places().runtime_dir.exists(), "nothing was started");

    for arguments in [json!("ls"), json!(["ls"]), json!("{\"cmd\":\"ls\",\"cmd\":\"ls\"}")] {
        let params = json!({"name": "ExecCommand", "arguments": arguments});
        let said = refused(&mut wire, "tools/call", params, -32_602);
        assert!(said.starts_with("tools/call: ") && said.contains("object"), "{said}");
    }
    // The second opening, which was refused, did not replace the first one.
    assert_eq!(wire.call("ExecCommand", json!({"cmd": "true"}))["status"], "success");
    assert_eq!(rows(&home, "call").len(), 1, "what was refused ran nothing");
}

#[test]
fn f59_arguments_that_are_an_object_in_a_string_run_with_a_note() {
    let home = Home::new();
    let mut wire = Wire::open_here(&home, "claude-code");
    let params = json!({"name": "ExecCommand", "arguments": "{\"cmd\":\"echo ran\"}"});
    let answer = wire.ask(json!(1), "tools/call", params);
    let receipt = answer["result"]["content"][0]["text"].as_str().expect("a receipt");
    let note = "`arguments` was a string and was taken as the JSON object in it";
    assert!(receipt.contains("ran") && receipt.contains(&format!("Note: {note}")), "{receipt}");
    assert_eq!(answer["result"]["_meta"]["dev.pilothouse/notices"], json!([note]));
    assert_eq!(rows(&home, "call")[0]["input"], json!({"cmd": "echo ran"}));
    let plain =
        wire.ask(json!(2), "tools/call", json!({"name": "ExecCommand", "arguments": {"cmd": "true"}}));
    assert!(!plain.to_string().contains(note), "{plain}");
}

#[test]
fn f59_the_revision_with_batches_is_answered_with_the_next_one() {
    let home = Home::new();
    for (offered, answered) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-06-18"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        ("2099-01-01", "2025-11-25"),
    ] {
        let mut wire = Wire::here(&home);
        let opened = wire.ask(json!(0), "initialize", initialize(offered));
        assert_eq!(opened["result"]["protocolVersion"], answered, "{offered}: {opened}");
        assert!(wire.ask(json!(1), "tools/list", json!({}))["result"]["tools"].is_array());
    }
    let found = Wire::here(&home).ask(json!(1), "server/discover", modern(json!({})));
    let supported = found["result"]["supportedVersions"].to_string();
    assert!(supported.contains("2025-06-18") && !supported.contains("2025-03-26"), "{supported}");
}

#[test]
fn f59_each_result_of_the_modern_revision_names_the_server_and_none_of_an_older_one() {
    let home = Home::new();
    let complete =
        json!({"ref": {"type": "ref/prompt", "name": "x"}, "argument": {"name": "a", "value": "b"}});
    let requests = [
        ("server/discover", json!({})),
        ("tools/list", json!({})),
        ("completion/complete", complete),
        ("tools/call", json!({"name": "ExecCommand", "arguments": {"cmd": "true"}})),
        ("tools/call", json!({"name": "TaskStatus", "arguments": {"task_id": "task_00000000"}})),
    ];
    let mut wire = Wire::here(&home);
    for (id, (method, params)) in requests.iter().enumerate() {
        let answer = wire.ask(json!(id), method, modern(params.clone()));
        let server = &answer["result"]["_meta"][SERVER_KEY];
        assert_eq!(server["name"], "pilothouse", "{method}: {answer}");
        assert!(server["version"].is_string(), "{method}: {answer}");
    }
    let mut wire = Wire::open_here(&home, "claude-code");
    for (id, (method, params)) in requests.iter().enumerate().skip(1) {
        let answer = wire.ask(json!(id), method, params.clone());
        assert!(
            answer["result"].is_object() && !answer.to_string().contains(SERVER_KEY),
            "{method}: {answer}"
        );
    }
}

#[test]
fn f59_a_byte_order_mark_is_skipped_and_content_length_headers_are_named() {
    let home = Home::new();
    let mut wire = Wire::here(&home);
    let request =
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize("2025-11-25")});
    wire.write(format!("\u{feff}{request}\r").as_bytes());
    let opened = wire.read();
    assert_eq!((&opened["id"], &opened["result"]["serverInfo"]["name"]), (&json!(1), &json!("pilothouse")));
    // An empty line, as some programs end theirs, is no message.
    wire.write(b"\r");
    assert_eq!(wire.ask(json!(2), "ping", json!({}))["result"], json!({}));

    let mut wire = Wire::here(&home);
    wire.write(format!("Content-Length: {}\r", request.to_string().len()).as_bytes());
    let framed = wire.read();
    assert_eq!(framed["error"]["code"], -32_700, "{framed}");
    let said = framed["error"]["message"].as_str().expect("a message");
    assert!(said.contains("no Content-Length headers; send each message as one line"), "{said}");
    // Without a line feed after it, the message runs into the next header: its sender is told by its id.
    wire.write(format!("\r\n{request}Content-Length: 40\r").as_bytes());
    let framed = wire.read();
    assert_eq!((&framed["id"], &framed["error"]["code"]), (&json!(1), &json!(-32_700)), "{framed}");
}
