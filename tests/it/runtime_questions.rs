//! Questions in a real runtime: asked, seen, settled, withdrawn; and what is recorded of them.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use pilothouse::envelope::Actor;
use pilothouse::journal::{JournalItem, JournalReader};
use pilothouse::model::{
    AgentPrompt, AnswerInput, AnswerRefusal, AnswerValue, Error, Evidence, LineRange, NewQuestion,
    ProgramView, Question, QuestionKind, QuestionOrigin, QuestionOutcome, RunState, Snapshot,
};
use pilothouse::process::environment::Environment;
use pilothouse::runtime::{Handle, past};
use serde_json::Value;

use crate::support::start_runtime;

const LONG: Duration = crate::support::PATIENCE;

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

    /// Asks in the background and waits until the question is visible to everyone.
    async fn ask(
        &self,
        asking: NewQuestion,
    ) -> (tokio::task::JoinHandle<Result<QuestionOutcome, Error>>, Arc<Question>) {
        let runtime = self.runtime.clone();
        let known = self.runtime.questions().len();
        let asked = tokio::spawn(async move { runtime.ask(asking).await });
        let seen = self.published(|snapshot| snapshot.questions.len() > known).await;
        (asked, seen.questions.last().expect("a question").clone())
    }

    async fn published(&self, fact: impl FnMut(&Arc<Snapshot>) -> bool) -> Arc<Snapshot> {
        let mut snapshot = self.runtime.snapshot();
        let told = tokio::time::timeout(LONG, snapshot.wait_for(fact)).await;
        told.expect("in time").expect("the runtime lives").clone()
    }

    async fn shut_down(self) -> tempfile::TempDir {
        self.runtime.shutdown().await;
        self.dir
    }

    /// Ends the runtime and returns what was recorded about questions and programs.
    async fn record(self) -> Vec<(String, Value)> {
        rows(self.shut_down().await.path())
    }
}

fn rows(dir: &Path) -> Vec<(String, Value)> {
    let recordings = std::fs::read_dir(dir.join("recordings")).expect("recordings");
    let recording = recordings.flatten().next().expect("one").path();
    let items = JournalReader::open(&recording).expect("opens").filter_map(|item| match item {
        JournalItem::Record(record) => {
            Some((record.header.kind.clone(), record.data(&recording).expect("data")))
        }
        JournalItem::Problem(_) => None,
    });
    items.filter(|(kind, _)| kind == "question" || kind == "program").collect()
}

fn facts(rows: &[(String, Value)]) -> Vec<&str> {
    rows.iter().filter_map(|(_, data)| data["what"].as_str()).collect()
}

fn asking(kind: QuestionKind, within: Option<Duration>) -> NewQuestion {
    NewQuestion {
        origin: QuestionOrigin {
            run: Some("run-1".into()),
            lines: Some(LineRange::one(3)),
            ..QuestionOrigin::default()
        },
        asked_by: Actor::Cli,
        kind,
        text: "deploy with TOKEN=s3cr3tvalue12345?".to_owned(),
        evidence: Evidence::default(),
        within,
        agents: false,
        expected: None,
    }
}

fn gate() -> QuestionKind {
    QuestionKind::Gate { allow: vec!["user".to_owned()] }
}

fn approve() -> AnswerInput {
    AnswerInput { value: AnswerValue::Approve, note: Some("looks right".to_owned()) }
}

#[tokio::test]
async fn a_gate_is_opened_by_the_operator_and_on_record_before_it_is() {
    let bench = Bench::start();
    let (asked, question) = bench.ask(asking(gate(), Some(LONG))).await;
    assert!(question.deadline.is_some_and(|deadline| deadline > question.asked_at));
    let refused = bench.runtime.answer(&Actor::Agent("claude".into()), None, &question.id, approve()).await;
    assert!(matches!(refused, Err(Error::Question(AnswerRefusal::OperatorOnly { .. }))), "{refused:?}");
    let refused = bench.runtime.answer(&Actor::Cli, None, &question.id, approve()).await;
    assert!(matches!(refused, Err(Error::Question(AnswerRefusal::OperatorOnly { .. }))), "{refused:?}");
    let agent = Actor::Agent("claude".into());
    bench.runtime.comment(&agent, &question.id, "tests pass".into()).await.expect("a comment");
    bench.runtime.answer(&Actor::Operator, None, &question.id, approve()).await.expect("taken");
    let Ok(QuestionOutcome::Answered(answer)) = asked.await.expect("asked") else { panic!("settled") };
    assert_eq!((answer.value, answer.note.as_deref()), (AnswerValue::Approve, Some("looks right")));
    let late = bench.runtime.answer(&Actor::Operator, None, &question.id, approve()).await;
    assert!(matches!(late, Err(Error::Question(AnswerRefusal::Settled { .. }))), "{late:?}");
    let rows = bench.record().await;
    assert_eq!(facts(&rows), ["asked", "commented", "answered"]);
    assert_eq!(rows[2].1["answer"]["principal"], "operator");
}

#[tokio::test]
async fn an_unanswered_gate_times_out_and_cannot_be_approved_afterwards() {
    let bench = Bench::start();
    let (asked, question) = bench.ask(asking(gate(), Some(Duration::from_millis(50)))).await;
    assert!(matches!(asked.await.expect("asked"), Ok(QuestionOutcome::TimedOut { .. })));
    let late = bench.runtime.answer(&Actor::Operator, None, &question.id, approve()).await;
    assert!(matches!(late, Err(Error::Question(AnswerRefusal::Settled { .. }))), "never approved afterwards");
    assert_eq!(facts(&bench.record().await), ["asked", "timed_out"]);
}

#[tokio::test]
async fn a_question_whose_asker_has_gone_is_taken_back() {
    let bench = Bench::start();
    let (asked, question) = bench.ask(asking(gate(), None)).await;
    asked.abort();
    bench.published(|snapshot| snapshot.questions.is_empty()).await;
    let late = bench.runtime.answer(&Actor::Operator, None, &question.id, approve()).await;
    assert!(matches!(late, Err(Error::Question(AnswerRefusal::Settled { how, .. })) if how == "withdrawn"));
    assert_eq!(facts(&bench.record().await), ["asked", "withdrawn"]);
}

#[tokio::test]
async fn a_shutdown_takes_questions_back() {
    let bench = Bench::start();
    let (asked, _) = bench.ask(asking(gate(), None)).await;
    assert_eq!(facts(&bench.record().await), ["asked", "withdrawn"]);
    assert!(matches!(asked.await.expect("asked"), Err(Error::ShuttingDown)));
}

#[tokio::test]
async fn a_program_is_shown_as_it_goes_and_on_record_at_its_ends() {
    let bench = Bench::start();
    let view = |state, ended| {
        Arc::new(ProgramView {
            run: "run-1".into(),
            call: None,
            started_by: Actor::Cli,
            path: "/w/deploy.prose".into(),
            source: "exec \"true\"\n".into(),
            folder: "/w/.prose/runs/run-1".into(),
            state,
            steps: Vec::new(),
            events: Vec::new(),
            earlier_events: 0,
            branches: Vec::new(),
            loops: Vec::new(),
            bindings: Vec::new(),
            sessions: 0,
            cost: 0,
            error: None,
            started_at: jiff::Timestamp::UNIX_EPOCH,
            ended_at: ended,
        })
    };
    assert!(!bench.runtime.is_watched());
    let console = bench.runtime.viewer();
    assert!(bench.runtime.is_watched());
    drop(console);
    for state in [RunState::Running, RunState::Asking, RunState::Running] {
        bench.runtime.show_program(view(state, None));
    }
    bench.runtime.show_program(view(RunState::Completed, Some(jiff::Timestamp::UNIX_EPOCH)));
    bench.published(|snapshot| snapshot.programs.iter().any(|run| run.state == RunState::Completed)).await;
    let dir = bench.shut_down().await;
    let rows = rows(dir.path());
    let states: Vec<&str> = rows.iter().filter_map(|(_, data)| data["program"]["state"].as_str()).collect();
    assert_eq!(states, ["running", "completed"]);
    let recordings = std::fs::read_dir(dir.path().join("recordings")).expect("recordings");
    let recording = past::read(&recordings.flatten().next().expect("one").path()).expect("reads");
    let shown = recording.snapshot();
    assert_eq!(shown.programs.len(), 1, "a recording that is looked at shows its programs");
    assert_eq!(
        (shown.programs[0].state, &*shown.programs[0].source),
        (RunState::Completed, "exec \"true\"\n")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agents_prompt_is_told_with_what_its_command_would_cost_and_allowed_only_for_that() {
    let bench = Bench::start();
    let file = bench.dir.path().join("file");
    std::fs::write(&file, "1").expect("written");
    let prompt = AgentPrompt { command: Some("rm \"$OF_THE_AGENT\"".to_owned()), ..AgentPrompt::default() };
    let evidence = Evidence { workdir: Some(bench.dir.path().to_owned()), ..Evidence::default() };
    let asking = NewQuestion {
        asked_by: Actor::Agent("claude-code".to_owned()),
        evidence,
        ..asking(QuestionKind::AgentPrompt(prompt), None)
    };
    // As an agent's hook has it; it never leaves the runtime.
    let own = format!("OF_THE_AGENT={}\0", file.display());
    let runtime = bench.runtime.clone();
    let asked = tokio::spawn(async move {
        runtime.ask_about(asking, Some(Environment::parse(own.as_bytes(), None))).await
    });
    let is_told = |snapshot: &Arc<Snapshot>| {
        snapshot.questions.first().and_then(|open| open.kind.cost()).is_some_and(|cost| cost.revision == 1)
    };
    let snapshot = bench.published(is_told).await;
    let question = &snapshot.questions[0];
    let cost = question.kind.cost().expect("a cost");
    assert!(
        cost.commands[0].iter().any(|said| said.contains("deletes") && said.contains("file")),
        "{cost:?}"
    );
    assert!(!serde_json::to_string(&question).expect("JSON").contains("OF_THE_AGENT="));

    let console = pilothouse::process::own_console_process();
    let answer =
        |cost| bench.runtime.answer(&Actor::Operator, Some((&console, cost)), &question.id, approve());
    assert!(matches!(answer(0).await, Err(Error::CostChanged)), "given before it was told");
    assert_eq!(bench.runtime.questions().len(), 1, "it is still open");
    answer(1).await.expect("taken");
    assert!(matches!(asked.await.expect("joins"), Ok(QuestionOutcome::Answered(_))));
}
