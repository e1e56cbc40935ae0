//! Agents that answer a program's questions (`--agent-answers`): a real client over `pilothouse mcp`, which may
//! answer what the program allows, and cannot approve a gate.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::prose_cases::run_folder;
use crate::support::{Agent, Home, wait_until};

/// Waits for an open question whose text contains `text`.
#[track_caller]
fn question(agent: &Agent, text: &str) -> Value {
    let mut found = None;
    wait_until(text, || {
        let listed = agent.call("QuestionList", &json!({}));
        let questions = listed.result("/questions").as_array().cloned().unwrap_or_default();
        found = questions
            .into_iter()
            .find(|question| question["text"].as_str().is_some_and(|asked| asked.contains(text)));
        found.is_some()
    });
    found.expect("found")
}

#[track_caller]
fn refused(agent: &Agent, question: &Value, answer: &str) {
    let said =
        agent.call("QuestionAnswer", &json!({"question_id": question["question_id"], "answer": answer}));
    assert_eq!(said.envelope["error"]["kind"], "operator_only", "{}", said.envelope);
}

#[track_caller]
fn answers(agent: &Agent, question: &Value, answer: &str) {
    assert_eq!(question["answerable"], true, "{question}");
    let said =
        agent.call("QuestionAnswer", &json!({"question_id": question["question_id"], "answer": answer}));
    assert_eq!(said.result("/effect"), "answered");
}

#[test]
fn an_agent_answers_what_it_may_and_opens_no_gate() {
    let home = Home::new();
    std::fs::write(
        home.workspace().join("p.prose"),
        "let log = exec \"echo two tests failed; exit 1\"\n  on-fail: \"continue\"\nif **the log tells of failures**:\n  \
         let why = session \"Say why, in three words\"\n    context: log\n  exec \"echo {why} > why\"\nchoice **what is wise**:\n  \
         option \"wait\":\n    exec \"touch waited\"\n  option \"ship\":\n    exec \"touch shipped\"\ngate g:\n  \
         prompt: \"Ship it?\"\n  timeout: \"12s\"\n  on_reject: continue\nexec \"touch end\"\n",
    )
    .expect("written");
    let mut served = home.serve();
    let agent = Agent::connect(&home, &["--label", "helper"]);
    let start = |args: &[&str]| {
        let mut command = home.command(&[&["run", "p.prose", "--plain"], args].concat());
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts")
    };
    // Without the flag agents may not answer, and nobody else is there.
    let alone = start(&[]).wait_with_output().expect("ends");
    assert_eq!(alone.status.code(), Some(3));
    assert!(!home.workspace().join(".prose").exists());
    let run = start(&["--agent-answers", "--attended"]);
    let asked = question(&agent, "tells of failures");
    assert_eq!(asked["evidence"][0]["exit_code"], 1, "{asked}");
    answers(&agent, &asked, "yes");
    answers(&agent, &question(&agent, "Say why"), "a flaky port");
    answers(&agent, &question(&agent, "what is wise"), "wait");
    let gate = question(&agent, "Ship it?");
    assert_eq!((&gate["kind"], &gate["answerable"]), (&json!("gate"), &json!(false)));
    refused(&agent, &gate, "approve");
    refused(&agent, &gate, "reject");
    let said =
        agent.call("QuestionAnswer", &json!({"question_id": gate["question_id"], "comment": "it is green"}));
    assert_eq!(said.result("/effect"), "commented");
    let output = run.wait_with_output().expect("ends");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{text}");
    let read = |name: &str| std::fs::read_to_string(home.workspace().join(name));
    assert_eq!(read("why").expect("written"), "a flaky port\n");
    assert!(read("waited").is_ok() && read("shipped").is_err() && read("end").is_ok());
    let journal = std::fs::read_to_string(run_folder(&home).join("journal.jsonl")).expect("a journal");
    assert_eq!(journal.matches("\"principal\":\"agent:helper\"").count(), 3, "{journal}");
    let state = std::fs::read_to_string(run_folder(&home).join("state.md")).expect("a state");
    assert!(state.contains("gate:g timeout") && !state.contains("approved"), "{state}");
    agent.leave();
    home.run(&["serve", "--stop"]);
    served.wait().expect("ends");
}
