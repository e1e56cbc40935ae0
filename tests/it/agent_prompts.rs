//! An agent's own prompts in the console, by its hook: answered there or in the agent, and by nothing else.

use std::io::Write as _;
use std::process::{Child, Stdio};
use std::sync::Arc;

use pilothouse::agent::{AgentSessions, serve_hook};
use pilothouse::agents::{HookEvent, HookReport, PromptVerdict, ToolUse, UsedTool};
use pilothouse::clock::Clock;
use pilothouse::config::ConnectionLimits;
use pilothouse::envelope::Actor;
use pilothouse::link::{ClientName, ClientRole, Hello, HookCall, HookReply, Server, Sockets};
use pilothouse::model::{AnswerInput, AnswerValue, Question, Snapshot};
use pilothouse::paths::Places;
use pilothouse::runtime::{Handle, Options};
use rustix::process::Signal;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::support::{Agent, Console, Home, PATIENCE, program_word, read_it, send, spawner, wait_until};

const SIZE: (u16, u16) = (120, 30);
pub(crate) const ALLOW: &str =
    r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}"#;

pub(crate) fn told(event: &str, session: &str, cmd: &str) -> Value {
    json!({
        "hook_event_name": event, "session_id": session, "transcript_path": "/t", "cwd": "/", "permission_mode": "default",
        "tool_name": "Bash", "tool_input": {"command": cmd, "description": "Create a file"},
    })
}

/// A hook as Claude Code starts it: this process is the agent.
pub(crate) fn hook(home: &Home, told: &Value) -> Child {
    hook_of(home, "claude", told)
}

/// A hook as an agent or its plugin starts it: this process is the agent.
pub(crate) fn hook_of(home: &Home, agent: &str, told: &Value) -> Child {
    let mut hook = home.command(&["hook", agent]);
    let own = ["CLAUDE_PID", "OPENCODE_PID", "KILO_PID", "COPILOT_LOADER_PID"];
    let ours = ["PILOTHOUSE_SHELL_DOOR", "PILOTHOUSE_AGENT_NAME", "PILOTHOUSE_SHELL"];
    for variable in own.into_iter().chain(ours) {
        hook.env_remove(variable);
    }
    let mut hook = hook.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("starts");
    let mut told = told.clone();
    if told["cwd"].is_string() {
        told["cwd"] = home.workspace().to_string_lossy().into();
    }
    hook.stdin.take().expect("a pipe").write_all(told.to_string().as_bytes()).expect("told");
    hook
}

/// What a hook printed. It never fails.
pub(crate) fn printed(mut hook: Child) -> String {
    wait_until("the hook ends", || hook.try_wait().expect("waited").is_some());
    let output = hook.wait_with_output().expect("ends");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("text")
}

pub(crate) fn opened(home: &Home) -> Console {
    let console = Console::open(home, &[], SIZE);
    console.shows(" OBSERVE ");
    console
}

/// Opens the card of a prompt, and reads it.
pub(crate) fn read_card(console: &Console) {
    console.shows("claude-code asks: Bash");
    console.keys(b"a");
    console.shows("1 thing waits for you");
    console.keys(b"\r");
    console.shows("allow this call");
    read_it();
}

#[test]
fn a_prompt_is_allowed_by_a_key_and_refused_with_words() {
    let home = Home::new();
    let console = opened(&home);
    let asked = hook(&home, &told("PermissionRequest", "s1", "touch x"));
    read_card(&console);
    let short = home.run(&["status", "--short", "--output", "plain"]);
    assert_eq!(String::from_utf8_lossy(&short.stdout), "⚑1 claude-code needs you\n");
    console.shows("the agent's own prompt");
    console.shows("description: Create a file");
    console.keys(b"y");
    assert_eq!(printed(asked).trim_end(), ALLOW);
    console.shows("q01 answered");
    console.shows("claude-code working");

    let asked = hook(&home, &told("PermissionRequest", "s1", "touch x"));
    read_card(&console);
    console.keys(b"n");
    console.shows("refuse, with these words");
    console.keys(b"use make\r");
    let answer: Value = serde_json::from_str(&printed(asked)).expect("JSON");
    let decision = json!({"behavior": "deny", "message": "use make"});
    assert_eq!(answer["hookSpecificOutput"]["decision"], decision);
}

#[test]
fn a_prompt_answered_in_the_agent_leaves_the_console_and_takes_no_key() {
    let home = Home::new();
    let console = opened(&home);
    let asked = hook(&home, &told("PermissionRequest", "s1", "touch x"));
    read_card(&console);
    // Neither another call of the session nor the same one of another session is it.
    assert_eq!(printed(hook(&home, &told("PostToolUse", "s1", "touch y"))), "");
    assert_eq!(printed(hook(&home, &told("PostToolUse", "s2", "touch x"))), "");
    assert!(console.text().contains("allow this call"), "{}", console.text());
    assert_eq!(printed(hook(&home, &told("PostToolUse", "s1", "touch x"))), "");
    console.shows("It was answered in the agent.");
    console.keys(b"y");
    assert_eq!(printed(asked), "", "the agent has its answer");
    console.keys(b"\x1b");
    let of_turn = hook(&home, &told("PermissionRequest", "s1", "touch z"));
    console.shows("touch z");
    assert_eq!(printed(hook(&home, &told("Stop", "s1", ""))), "");
    assert_eq!(printed(of_turn), "");
    console.wait_for("nothing waits", |screen| !screen.contents().contains("asks: Bash"));
}

#[test]
fn a_command_that_runs_has_had_its_answer() {
    let door = crate::shell_door::Door::new();
    let console = opened(&door.home);
    let asked = hook(&door.home, &told("PermissionRequest", "one", "true"));
    console.shows("claude-code asks: Bash");
    let mut call = door.of_claude("one", "true");
    call.env("CLAUDE_PID", std::process::id().to_string());
    assert!(call.output().expect("runs").status.success());
    assert_eq!(printed(asked), "");
}

#[test]
fn a_hook_prints_nothing_without_a_console_or_with_invalid_input() {
    let home = Home::new();
    let prompt = told("PermissionRequest", "s1", "touch x");
    assert_eq!(printed(hook(&home, &prompt)), "", "no runtime");
    assert!(!home.places().agent_socket().exists(), "and none is started");
    let mut served = home.serve();
    assert_eq!(printed(hook(&home, &prompt)), "", "no console");
    for wrong in [json!([]), json!({}), json!({"hook_event_name": "PermissionRequest", "session_id": 7})] {
        assert_eq!(printed(hook(&home, &wrong)), "", "{wrong}");
    }
    home.stop(&mut served);
    let silent = home.never_listening();
    assert_eq!(printed(hook(&home, &prompt)), "", "a runtime that cannot be reached");
    drop(silent);
    assert_eq!(String::from_utf8_lossy(&home.run(&["hook", "cursor"]).stdout), "", "an agent without hooks");
}

#[test]
fn neither_a_killed_console_nor_an_ended_hook_allows_anything() {
    let home = Home::new();
    let mut served = home.serve();
    let mut console = opened(&home);
    let mut asked = hook(&home, &told("PermissionRequest", "s1", "touch x"));
    read_card(&console);
    // The agent ends a hook whose time is over.
    send(asked.id(), Signal::TERM);
    assert!(!asked.wait().expect("ends").success());
    console.shows("no longer open");
    console.keys(b"\x1b");
    let asked = hook(&home, &told("PermissionRequest", "s1", "touch y"));
    console.shows("touch y");
    console.kill(Signal::KILL);
    assert_eq!(printed(asked), "", "the agent's own prompt remains");
    console.exit();
    home.stop(&mut served);
}

#[test]
fn a_process_below_a_task_neither_answers_nor_takes_a_card_away() {
    let home = Home::new();
    let console = opened(&home);
    let asked = hook(&home, &told("PermissionRequest", "s1", "touch x"));
    console.shows("claude-code asks: Bash");
    let agent = Agent::connect(&home, &[]);
    for (name, event) in [("used", "PostToolUse"), ("asked", "PermissionRequest"), ("ended", "SessionEnd")] {
        std::fs::write(home.workspace().join(name), told(event, "s1", "touch x").to_string())
            .expect("written");
        let attempt = format!("{} hook claude < {name}; echo code $?", program_word());
        let ran = agent.call("ExecCommand", &json!({"cmd": attempt, "yield_time_ms": 60_000}));
        assert_eq!(ran.result("/stdout_preview"), "code 0\n", "{name}");
    }
    // Nor by the tool for questions, which does not show it.
    let listed = agent.call("Question", &json!({}));
    assert_eq!(listed.result("/total"), 0, "{}", listed.envelope);
    assert!(console.text().contains("claude-code asks: Bash"), "{}", console.text());
    read_card(&console);
    console.keys(b"y");
    assert_eq!(printed(asked).trim_end(), ALLOW);
    agent.leave();
}

#[test]
fn words_go_with_the_end_of_the_models_calls() {
    let home = Home::new();
    let console = opened(&home);
    assert_eq!(printed(hook(&home, &told("UserPromptSubmit", "s1", ""))), "");
    console.shows("claude-code working");
    console.keys(b"!");
    console.shows("It goes with the next answer to a call, as your words.");
    console.keys(b"use make\r");
    console.shows("1 unread");
    let mut ended = told("PostToolBatch", "s1", "");
    ended["tool_calls"] = json!([{"tool_name": "Bash", "tool_input": {"command": "true"}}]);
    let answer: Value = serde_json::from_str(&printed(hook(&home, &ended))).expect("JSON");
    let words = json!({"hookEventName": "PostToolBatch", "additionalContext": "the operator says: use make"});
    assert_eq!(answer["hookSpecificOutput"], words);
    console.wait_for("they are read", |screen| !screen.contents().contains("unread"));
    assert_eq!(printed(hook(&home, &ended)), "", "once");
}

/// A runtime in this process whose socket admits hooks, with somebody there.
pub(crate) struct Desk {
    pub(crate) runtime: Handle,
    places: Places,
    stop: CancellationToken,
    _dir: tempfile::TempDir,
}

impl Desk {
    pub(crate) fn open() -> Self {
        let dir = tempfile::tempdir().expect("temp dir");
        let places = Places::beneath(dir.path(), &dir.path().join("state"), None).expect("places");
        let runtime = Handle::start(Options {
            workspace: places.workspace.clone(),
            recordings: places.recordings(),
            lanes: places.lanes(),
            socket: places.agent_socket(),
            headless: true,
            environment: Vec::new(),
            spawner: spawner(&pilothouse::config::Limits::default()),
            limits: pilothouse::config::Limits::default(),
            env: pilothouse::config::EnvSettings::default(),
        });
        let (runtime, stop) = (runtime.expect("a runtime"), CancellationToken::new());
        let sockets = Sockets::open(&places).expect("opens");
        let server = Server::new(sockets, places.workspace.clone(), ConnectionLimits::default());
        let (own, sessions) = (runtime.clone(), AgentSessions::default());
        tokio::spawn(server.run(stop.clone(), stop.clone(), move |client| {
            let (own, sessions) = (own.clone(), sessions.clone());
            async move { drop(serve_hook(client, own, sessions).await) }
        }));
        Self { runtime, places, stop, _dir: dir }
    }

    /// Reports in the background.
    pub(crate) fn report(&self, report: HookReport) -> tokio::task::JoinHandle<Option<PromptVerdict>> {
        let socket = self.places.agent_socket();
        tokio::task::spawn_blocking(move || {
            let client = ClientName { name: "claude".into(), version: String::new() };
            let hello = Hello::new(ClientRole::Hook, "/".into()).without_environment();
            let hello = Hello { client: Some(client), ..hello };
            HookCall::dial(&socket, &hello)
                .expect("admitted")
                .report(report, Clock::start().now().wall)
                .ok()
                .flatten()
                .and_then(|reply| match reply {
                    HookReply::Answered(answer) => Some(answer.verdict),
                    HookReply::Words(_) => None,
                })
        })
    }

    pub(crate) async fn close(self) {
        self.stop.cancel();
        self.runtime.shutdown().await;
    }

    pub(crate) async fn gone(&self, card: &Question) {
        let mut snapshots = self.runtime.snapshot();
        let is_gone = |snapshot: &Arc<Snapshot>| snapshot.questions.iter().all(|open| open.id != card.id);
        let told = tokio::time::timeout(PATIENCE, snapshots.wait_for(is_gone)).await.expect("in time");
        told.expect("a runtime");
    }

    pub(crate) async fn asked(&self, text: &str) -> Arc<Question> {
        let mut snapshots = self.runtime.snapshot();
        let is_it = |question: &&Arc<Question>| question.text == text;
        let has = |snapshot: &Arc<Snapshot>| snapshot.questions.iter().any(|question| is_it(&question));
        let told = tokio::time::timeout(PATIENCE, snapshots.wait_for(has)).await.expect("in time");
        told.expect("a runtime").questions.iter().find(is_it).expect("there").clone()
    }
}

pub(crate) fn call(cmd: &str) -> ToolUse {
    ToolUse { tool: "Bash".into(), input: json!({"command": cmd}) }
}

pub(crate) fn report(event: HookEvent) -> HookReport {
    HookReport { session: "s".into(), subagent: None, mode: None, event }
}

/// Answers to a prompt race with its being answered in the agent and asked again with another command.
async fn race(rounds: usize) {
    let desk = Desk::open();
    let _viewer = desk.runtime.viewer();
    let mut answered = 0;
    for round in 0..rounds {
        let [old, new] = ["old", "new"].map(|name| format!("{name} {round}"));
        let first = desk.report(report(HookEvent::Prompt(call(&old))));
        let card = desk.asked(&old).await;
        let yes = AnswerInput { value: AnswerValue::Approve, note: None };
        let used = desk.report(report(HookEvent::Used(UsedTool { call: call(&old), id: None, given: None })));
        let second = desk.report(report(HookEvent::Prompt(call(&new))));
        let answering = || desk.runtime.answer(&Actor::Operator, None, &card.id, yes.clone());
        // One first, or the other, or both at once.
        let (used, is_answered) = match round % 3 {
            0 => {
                let used = used.await;
                desk.gone(&card).await;
                (used, answering().await.is_ok())
            }
            1 => {
                let is_answered = answering().await.is_ok();
                (used.await, is_answered)
            }
            _ => {
                let (used, answer) = tokio::join!(used, answering());
                (used, answer.is_ok())
            }
        };
        answered += usize::from(is_answered);
        assert_eq!(used.expect("reported"), None);
        let verdict = first.await.expect("asked");
        assert_eq!(verdict, is_answered.then_some(PromptVerdict::Allow), "{round}");
        let next = desk.asked(&new).await;
        assert!(
            desk.runtime.answer(&Actor::Operator, None, &card.id, yes).await.is_err(),
            "{round}: the old key"
        );
        let no = AnswerInput { value: AnswerValue::Reject, note: None };
        desk.runtime.answer(&Actor::Operator, None, &next.id, no).await.expect("taken");
        let refused = PromptVerdict::Deny { note: String::new() };
        assert_eq!(second.await.expect("asked"), Some(refused), "{round}");
    }
    assert!(rounds < 100 || (1..rounds).contains(&answered), "both came first: {answered} of {rounds}");
    desk.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_never_reaches_a_changed_request() {
    race(100).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "minutes; .ci/long runs it"]
async fn long_no_answer_reaches_a_changed_request_in_1000_races() {
    race(1_000).await;
}
