//! Questions as agents and attached consoles see them: what they are shown, and what they may answer.

use std::sync::Arc;
use std::time::Duration;

use pilothouse::clock::Clock;
use pilothouse::config::ConnectionLimits;
use pilothouse::envelope::{Actor, Envelope};
use pilothouse::link::{Act, Error, Operator, Server, Sockets, StopRequests, serve_operator};
use pilothouse::model::{
    AnswerInput, AnswerValue, BindingView, Comment, Evidence, LineRange, NewQuestion, Principal, Question,
    QuestionId, QuestionKind, QuestionOrigin, QuestionOutcome, READING, Subject,
};
use pilothouse::paths::Places;
use pilothouse::runtime::Handle;
use pilothouse::tools::{CallAnswer, Caller, call, question_answer, question_list, render};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::support::{must_be_an_envelope, start_runtime};

const LONG: Duration = crate::support::PATIENCE;

fn at(seconds: i64) -> jiff::Timestamp {
    "2026-11-20T12:00:00Z".parse::<jiff::Timestamp>().expect("a time")
        + jiff::SignedDuration::from_secs(seconds)
}

fn claude() -> Actor {
    Actor::Agent("claude".into())
}

/// A question as the runtime shows it.
pub(crate) fn question(number: u8, kind: QuestionKind, text: &str) -> Question {
    Question {
        expected: None,
        place: None,
        id: format!("question_0000000{number}").parse().expect("an id"),
        number: u32::from(number),
        origin: QuestionOrigin {
            run: Some("20261120-120000-k3f9x2".into()),
            program: Some("/w/deploy.prose".into()),
            lines: Some(LineRange { first: 7, last: 9 }),
            ..QuestionOrigin::default()
        },
        asked_by: Actor::Cli,
        agents: !kind.is_operators(),
        kind,
        text: text.into(),
        evidence: Evidence::default(),
        asked_at: at(0),
        deadline: None,
        comments: Vec::new(),
    }
}

fn binding(name: &str, preview: &str, exit_code: Option<i32>) -> BindingView {
    BindingView {
        name: name.into(),
        kind: "let".into(),
        preview: preview.into(),
        chars: preview.len(),
        exit_code,
        stderr: exit_code.filter(|code| *code != 0).map(|_| "error: 1 test failed\n".to_owned()),
        file: Some(format!("/w/.prose/runs/r/bindings/{name}.md").into()),
        ..BindingView::default()
    }
}

fn yes_no() -> QuestionKind {
    QuestionKind::YesNo { yes: String::new(), no: String::new() }
}

fn gate() -> QuestionKind {
    QuestionKind::Gate { allow: vec!["user".to_owned()] }
}

fn page(answers: &[(&str, Envelope)]) -> String {
    let one = |(title, envelope): &(&str, Envelope)| {
        must_be_an_envelope(&envelope.to_value());
        let json = serde_json::to_string_pretty(envelope).expect("JSON");
        format!("## {title}\n\n{json}\n\n{}\n\n", render(envelope))
    };
    answers.iter().map(one).collect()
}

#[test]
fn the_answers_of_question_list_match_their_snapshot() {
    // docs/prose-rules.md#rule-41: when no question is open, the tool says so.
    let mut judged = question(3, yes_no(), "the tests pass");
    judged.evidence.bindings =
        vec![binding("tests", "211 passed; 1 failed", Some(101)), binding("branch", "main", Some(0))];
    judged.evidence.pass = Some((2, Some(5)));
    judged.comments = vec![Comment { by: claude(), at: at(9), text: "one test is flaky".into() }];
    let mut gated = question(4, gate(), "Deploy 1.2.3\nto production?");
    gated.deadline = Some(at(1_800));
    let list = |questions: Vec<Question>, whole| {
        let questions = questions.into_iter().map(Arc::new).collect();
        question_list::project(&question_list::OpenQuestions {
            questions,
            actor: claude(),
            whole,
            now: at(42),
        })
    };
    let long = question(5, QuestionKind::Text { masked: false }, &"word ".repeat(200));
    let answers = [
        ("none", list(Vec::new(), false)),
        ("a judgement and a gate", list(vec![judged, gated.clone()], false)),
        ("a gate alone", list(vec![gated], true)),
        ("a long one in a list", list(vec![long], false)),
    ];
    insta::assert_snapshot!(page(&answers));
    // The list of tools must not change while a client is connected: these are always in it.
    for name in ["QuestionList", "QuestionAnswer"] {
        assert!(pilothouse::tools::TOOLS.iter().any(|tool| tool.name == name), "{name}");
    }
}

#[test]
fn the_answers_of_question_answer_match_their_snapshot() {
    let said = |question: Question, answer: Option<&str>| {
        let answer = answer.map(|text| (text.to_owned(), Principal::Actor(claude())));
        question_answer::project(&question_answer::AnswerDetails { question: Arc::new(question), answer })
    };
    let answers = [
        ("answered", said(question(3, yes_no(), "the tests pass"), Some("yes"))),
        ("commented", said(question(4, gate(), "Deploy?"), None)),
    ];
    insta::assert_snapshot!(page(&answers));
}

struct Bench {
    runtime: Handle,
    dir: tempfile::TempDir,
}

impl Bench {
    fn start() -> Self {
        let dir = tempfile::tempdir().expect("temp dir");
        let (runtime, _) = start_runtime(dir.path());
        Self { runtime, dir }
    }

    async fn ask(&self, kind: QuestionKind, agents: bool) -> (Waiting, String) {
        let asking = NewQuestion {
            expected: None,
            origin: QuestionOrigin::default(),
            asked_by: Actor::Cli,
            kind,
            text: "is it so?".into(),
            evidence: Evidence::default(),
            within: None,
            agents,
        };
        let (runtime, known) = (self.runtime.clone(), self.runtime.questions().len());
        let asked = tokio::spawn(async move { runtime.ask(asking).await.expect("settled") });
        let mut snapshot = self.runtime.snapshot();
        let seen = snapshot.wait_for(|snapshot| snapshot.questions.len() > known);
        let seen = tokio::time::timeout(LONG, seen).await.expect("in time").expect("lives").clone();
        (asked, seen.questions.last().expect("one").id.to_string())
    }

    async fn call_as(&self, actor: Actor, tool: &str, input: Value) -> CallAnswer {
        let caller = Caller::new(actor, self.dir.path().to_owned());
        let answer = call(&self.runtime, &caller, tool, input).await;
        must_be_an_envelope(&answer.envelope.to_value());
        answer
    }

    async fn call(&self, tool: &str, input: Value) -> CallAnswer {
        self.call_as(claude(), tool, input).await
    }
}

type Waiting = tokio::task::JoinHandle<QuestionOutcome>;

fn failure(answer: &CallAnswer) -> (String, String) {
    let value = answer.envelope.to_value();
    let text = |key: &str| value["error"][key].as_str().unwrap_or_default().to_owned();
    (text("kind"), text("message"))
}

async fn value(asked: Waiting) -> (AnswerValue, String, Option<String>) {
    match asked.await.expect("asked") {
        QuestionOutcome::Answered(answer) => (answer.value, answer.principal.to_string(), answer.note),
        QuestionOutcome::TimedOut { .. } => panic!("timed out"),
    }
}

#[tokio::test]
async fn an_agent_waits_until_a_question_is_open() {
    let bench = Bench::start();
    let none = bench.call("Question", json!({"block": true, "timeout_ms": 0})).await;
    assert_eq!(none.receipt, "No open questions");
    let waiting = json!({"block": true, "timeout_ms": 45_000});
    let (opened, (asked, id)) = tokio::join!(bench.call("Question", waiting), bench.ask(yes_no(), true));
    assert!(opened.receipt.contains(id.as_str()), "{}", opened.receipt);
    let both = bench.call("Question", json!({"block": true, "question_id": id})).await;
    assert_eq!(failure(&both).0, "invalid_tool_input", "{}", both.receipt);
    let taken = bench.call("Question", json!({"question_id": id, "answer": true})).await;
    assert!(taken.receipt.starts_with(&format!("Answered {id}")), "{}", taken.receipt);
    assert_eq!(value(asked).await.0, AnswerValue::Yes);
}

#[tokio::test]
async fn an_agent_answers_a_question_that_is_open_to_agents() {
    let bench = Bench::start();
    let none = bench.call("QuestionList", json!({})).await;
    assert_eq!(none.receipt, "No open questions");
    let (asked, id) = bench.ask(yes_no(), true).await;
    let odd = bench.call("QuestionAnswer", json!({"question_id": id, "answer": "probably"})).await;
    assert_eq!(failure(&odd).0, "invalid_tool_input", "{}", odd.receipt);
    let listed = bench.call("QuestionList", json!({"question_id": id})).await;
    assert!(
        listed.receipt.contains("agent:claude: answered probably, which does not fit"),
        "{}",
        listed.receipt
    );
    let input = json!({"question_id": id, "answer": "Yes", "comment": "it is"});
    let taken = bench.call("QuestionAnswer", input.clone()).await;
    assert!(taken.receipt.starts_with(&format!("Answered {id}: Yes")), "{}", taken.receipt);
    let expected = (AnswerValue::Yes, "agent:claude".to_owned(), Some("it is".to_owned()));
    assert_eq!(value(asked).await, expected);
    let late = bench.call("QuestionAnswer", input).await;
    assert_eq!(failure(&late).0, "question_settled");
    assert!(failure(&late).1.contains("answered by agent:claude"), "{late:?}");
    for id in ["question_00000000", "nonsense"] {
        let unknown = bench.call("QuestionAnswer", json!({"question_id": id, "answer": "yes"})).await;
        assert_eq!(failure(&unknown).0, "question_not_found");
    }
    let empty = bench.call("QuestionAnswer", json!({"question_id": "question_00000000"})).await;
    assert_eq!(failure(&empty).0, "invalid_tool_input");
}

#[tokio::test]
async fn neither_agent_nor_command_line_opens_a_gate() {
    let bench = Bench::start();
    let (asked, id) = bench.ask(gate(), true).await;
    for actor in [claude(), Actor::Cli] {
        let input = json!({"question_id": id, "answer": "approve", "comment": "go"});
        let refused = bench.call_as(actor, "QuestionAnswer", input).await;
        assert_eq!(failure(&refused).0, "operator_only", "{}", refused.receipt);
    }
    let said = bench.call("QuestionAnswer", json!({"question_id": id, "comment": "tests pass"})).await;
    assert!(said.receipt.contains("still open"), "{}", said.receipt);
    let open = bench.runtime.questions();
    assert_eq!((open.len(), open[0].comments.len(), open[0].agents), (1, 1, false));
    let shown = Clock::start();
    let operator = Operator::local(bench.runtime.clone(), bench.dir.path().to_owned());
    let given = AnswerInput { value: AnswerValue::Approve, note: None };
    let tool = json!({"question_id": id, "answer": "approve"});
    let by_tool = operator.call("QuestionAnswer", tool).await;
    assert!(matches!(by_tool, Err(Error::Declined { .. })), "the tool is no card: {by_tool:?}");
    let hasty = answer(&operator, &open[0].id, &given).await;
    // In this process too it was not read yet, unless the machine is that slow.
    match hasty {
        Ok(()) => assert!(shown.now().mono >= READING, "too soon"),
        Err(Error::Declined { .. }) => taken(&operator, &open[0].id, given).await,
        Err(error) => panic!("{error}"),
    }
    assert_eq!(value(asked).await.1, "operator");
}

/// Answers once there has been time to read the question.
async fn taken(operator: &Operator, question: &QuestionId, given: AnswerInput) {
    read(async || answer(operator, question, &given).await).await;
}

async fn answer(operator: &Operator, question: &QuestionId, given: &AnswerInput) -> Result<(), Error> {
    let request = Act::Answer { cost: 0, given: given.clone() }.on(Subject::Question(question.clone()));
    operator.ask(request).await.map(drop)
}

/// Retries an act that is refused for coming too soon, until it is accepted.
async fn read(act: impl AsyncFn() -> Result<(), Error>) {
    let counts = async {
        loop {
            match act().await {
                Ok(()) => return,
                Err(Error::Declined { message }) if message.contains("nothing was decided") => {
                    tokio::task::yield_now().await;
                }
                Err(error) => panic!("{error}"),
            }
        }
    };
    tokio::time::timeout(LONG, counts).await.expect("in time");
}

#[tokio::test]
async fn an_attached_console_sees_a_question_and_answers_it() {
    let bench = Bench::start();
    let root = bench.dir.path().canonicalize().expect("a folder");
    let places = Places::beneath(&root.join("work"), &root.join("state"), None).expect("places");
    let server = Server::new(
        Sockets::open(&places).expect("opens"),
        places.workspace.clone(),
        ConnectionLimits::default(),
    );
    let stop = CancellationToken::new();
    let (runtime, end) = (bench.runtime.clone(), stop.clone());
    let served = tokio::spawn(server.run(stop.clone(), stop.clone(), move |client| {
        let (runtime, end) = (runtime.clone(), end.clone());
        async move {
            // A console that hangs up is not a failure of this test.
            let _ = serve_operator(client, runtime, (end.clone(), StopRequests::default()), end).await;
        }
    }));
    let console = Operator::attach(&places.operator_socket(), root.join("work")).await.expect("attaches");
    let (asked, id) = bench.ask(QuestionKind::Choice { labels: vec!["a".into(), "b".into()] }, false).await;
    let mut snapshot = console.snapshot();
    let seen = snapshot.wait_for(|snapshot| !snapshot.questions.is_empty());
    let seen = tokio::time::timeout(LONG, seen).await.expect("in time").expect("told").questions[0].clone();
    assert_eq!(seen.id.as_str(), id);
    assert!(bench.runtime.is_watched());
    let given =
        |label: &str| AnswerInput { value: AnswerValue::Choice(label.into()), note: Some("why".into()) };
    let refused = answer(&console, &seen.id, &given("c")).await;
    assert!(matches!(refused, Err(Error::Declined { .. })), "{refused:?}");
    read(async || console.ask(Act::LetAgents(true).on(Subject::Question(seen.id.clone()))).await.map(drop))
        .await;
    let opened = snapshot.wait_for(|snapshot| snapshot.questions.iter().any(|question| question.agents));
    tokio::time::timeout(LONG, opened).await.expect("in time").expect("told");
    taken(&console, &seen.id, given("b")).await;
    let expected = (AnswerValue::Choice("b".into()), "operator".to_owned(), Some("why".to_owned()));
    assert_eq!(value(asked).await, expected);
    let gone = snapshot.wait_for(|snapshot| snapshot.questions.is_empty());
    tokio::time::timeout(LONG, gone).await.expect("in time").expect("told");
    drop(console);
    stop.cancel();
    served.await.expect("ends");
}
