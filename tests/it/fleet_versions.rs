//! Places that speak different versions of the link protocol in one fleet: what may be done where, what is shown of
//! all of them, and a place whose runtime is replaced by one of this version.

use std::process::{Child, Stdio};
use std::sync::Arc;

use pilothouse::envelope::TaskId;
use pilothouse::link::{Error, Fleet, Operator, Reply, Request, VERSION};
use pilothouse::model::{
    AnswerInput, AnswerValue, CloseReason, Decision, PlaceId, PlaceLink, QuestionId, Snapshot, TypedInput,
};
use serde_json::{Value, json};

use crate::e2e_fleet::go_to;
use crate::hosts::configured;
use crate::link_fleet::{is, line, place, published, shows, start};
use crate::support::{Agent, Another, Console, Home, Speaking, wait_until};

/// Two runtimes, each with an agent whose call is held: one of this version, and one called `older`.
struct Mixed<'a> {
    agents: [Agent; 2],
    older: Another<'a>,
    speaking: Speaking,
}

const HELD: &str = "touch ran; printf done";

impl<'a> Mixed<'a> {
    fn new(here: &Home, there: &'a Home) -> Self {
        let older = there.another("older");
        let agents = [
            Agent::connect_first(here, &["--label", "claude"]),
            Agent::connect_by(there, older.command(&["mcp", "--label", "claude"])),
        ];
        agents[1].call("TaskList", &json!({}));
        let speaking = Speaking::new(here, &older);
        Self { agents, older, speaking }
    }

    /// Has each agent request a command; returns once both have been told that the operator must decide.
    fn ask(&self) {
        for agent in &self.agents {
            let answer = agent.call("ExecCommand", &json!({"cmd": HELD, "yield_time_ms": 250}));
            assert_eq!(answer.result("/disposition"), "awaiting_operator", "{}", answer.receipt);
        }
    }
}

fn is_live(snapshot: &Snapshot, name: &str) -> bool {
    is(snapshot, name, |link| *link == PlaceLink::Live)
}

fn id(snapshot: &Snapshot, name: &str) -> PlaceId {
    place(snapshot, name).expect("a place").name.id.clone()
}

/// Asserts that a message names the place, its version and what to do.
#[track_caller]
fn is_whole(told: &str) {
    for part in ["older is read-only", &format!("version {}", VERSION - 1), "start this one"] {
        assert!(told.contains(part), "{part}: {told}");
    }
}

/// Attaches to a place directly, not through the fleet.
async fn attached(at: &Another<'_>) -> Operator {
    let socket = at.places().operator_socket();
    Operator::attach(&socket, at.folder().to_owned()).await.expect("attaches")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_place_one_version_older_is_looked_at_beside_one_that_is_driven() {
    let (here, there) = (Home::new(), Home::new());
    let mixed = tokio::task::block_in_place(|| Mixed::new(&here, &there));
    let end = mixed.speaking.speak(VERSION - 1);
    let fleet = Operator::Fleet(Fleet::of_this_machine(&here.places().locks(), None));
    let beside = attached(&mixed.older).await;
    let first = published(&fleet, "both", |snapshot| {
        is_live(snapshot, "workspace") && is(snapshot, "older", |link| matches!(link, PlaceLink::ReadOnly(_)))
    })
    .await;
    let (new, old) = (id(&first, "workspace"), id(&first, "older"));
    let task = start(&fleet, &new, "new").await;
    let theirs = crate::hosts::start(&beside, "echo begun; read -r line; echo \"old <$line>\"; cat").await;

    // A request that spans places is carried out where it can be; the error names the place where it cannot.
    let told =
        fleet.ask(Request::Pause { paused: true, nonce: None }).await.expect_err("in part").to_string();
    is_whole(&told);
    published(&fleet, "the pause", |snapshot| {
        place(snapshot, "workspace").is_some_and(|place| place.snapshot.gate.paused.is_some())
    })
    .await;
    assert_eq!(beside.snapshot().borrow().gate.paused, None, "nothing was done there");
    beside.ask(Request::Pause { paused: true, nonce: None }).await.expect("paused");
    tokio::task::block_in_place(|| mixed.ask());

    // One list of both.
    let all = published(&fleet, "what waits at both", |snapshot| {
        snapshot.gate.held.len() == 2 && [&task, &theirs].iter().all(|id| knows(snapshot, id))
    })
    .await;
    let started = |name| place(&all, name).expect("a place").snapshot.metrics.tasks_started;
    assert!(started("workspace") >= 1 && started("older") >= 1);
    assert_eq!(all.metrics.tasks_started, started("workspace") + started("older"));
    for tool in ["TaskList", "ExecCommand"] {
        for name in ["workspace", "older"] {
            let slot = place(&all, name).expect("a place").slot;
            let is_its = |seq: u64| pilothouse::model::Slot::of(seq).0 == slot;
            let call = all.calls.iter().find(|call| call.tool == tool && is_its(call.seq));
            let seq = call.unwrap_or_else(|| panic!("{tool} of {name}")).seq;
            assert_eq!(fleet.record(seq).await.map(|record| record.seq), Some(seq), "{tool} of {name}");
        }
    }
    fleet.show(&[task.clone(), theirs.clone()], Some(&theirs));
    shows(&fleet, &theirs, "begun").await;
    let usage = Request::Usage { tasks: vec![task.clone(), theirs.clone()] };
    let Ok(Reply::Usage(usage)) = fleet.ask(usage).await else { panic!("usage") };
    assert_eq!(usage.len(), 2, "{usage:?}");
    for id in [&task, &theirs] {
        let read = Request::call("TaskStatus", json!({"task_id": id}));
        assert!(matches!(fleet.ask(read).await, Ok(Reply::Answer(_))), "{id}");
    }

    // At that place nothing is carried out.
    let before = published(&beside, "the same there", |snapshot| {
        snapshot.gate.paused.is_some() && snapshot.gate.held.len() == 1 && knows(snapshot, &theirs)
    })
    .await;
    for act in acts(&all, &old, &theirs) {
        let asked = format!("{act:?}");
        let told = fleet.ask_at(Some(&old), act).await.expect_err(&asked).to_string();
        is_whole(&told);
    }
    let after = Arc::clone(&beside.snapshot().borrow());
    assert_eq!((after.tasks.len(), after.gate.held.len()), (before.tasks.len(), before.gate.held.len()));
    assert!(after.gate.paused.is_some() && !mixed.older.folder().join("ran").exists());

    // At this place everything is.
    fleet.ask(line(&task, "one")).await.expect("typed");
    shows(&fleet, &task, "new <one>").await;
    let slot = place(&all, "workspace").expect("a place").slot;
    let held = all.gate.held.iter().find(|held| pilothouse::model::Slot::of(held.ticket).0 == slot);
    approve(&fleet, held.expect("held").ticket, &held.expect("held").hash).await;
    fleet.call("TaskStop", json!({"task_id": task})).await.expect("stopped");
    published(&fleet, "that both are done", |snapshot| {
        let is_over = |view: &Arc<pilothouse::model::TaskView>| view.id != task || view.status.is_terminal();
        snapshot.gate.held.len() == 1 && snapshot.tasks.iter().all(is_over)
    })
    .await;
    drop((fleet, beside));
    end.cancel();
    tokio::task::block_in_place(|| drop(mixed));
}

fn knows(snapshot: &Snapshot, id: &TaskId) -> bool {
    snapshot.tasks.iter().any(|task| task.id == *id)
}

/// Everything that may be done at a place that has such a task and a held call.
fn acts(all: &Snapshot, old: &PlaceId, task: &TaskId) -> Vec<Request> {
    let slot = all.places.iter().find(|place| place.name.id == *old).expect("a place").slot;
    let held = all.gate.held.iter().find(|held| pilothouse::model::Slot::of(held.ticket).0 == slot);
    let (ticket, hash) = held.map(|held| (held.ticket, held.hash.clone())).expect("held");
    let of = |tool, input: Value| Request::call(tool, input);
    vec![
        line(task, "no"),
        Request::Send { task: task.clone(), input: TypedInput::Eof },
        of("TaskStop", json!({"task_id": task})),
        of("TaskStop", json!({"task_id": task, "force": true})),
        of("TaskInput", json!({"task_id": task, "input": "no"})),
        of("ExecCommand", json!({"cmd": "touch ran"})),
        Request::Decide { ticket, hash: hash.clone(), decision: Decision::Once, nonce: None },
        Request::Decide { ticket, hash, decision: Decision::Deny { note: "no".into() }, nonce: None },
        Request::Release { task: task.clone() },
        Request::Dismiss { task: task.clone() },
        Request::Rename { task: task.clone(), name: Some("no".into()) },
        Request::Tell { agent: "older/claude".into(), text: "no".into() },
        Request::Pause { paused: false, nonce: None },
        Request::Shutdown { closing: CloseReason::OperatorEnded },
    ]
}

/// Approves a held call, once there has been time to read it.
async fn approve(fleet: &Operator, ticket: u64, hash: &str) {
    loop {
        let request = Request::Decide { ticket, hash: hash.into(), decision: Decision::Once, nonce: None };
        match fleet.ask(request).await {
            Ok(Reply::Done) => return,
            Err(Error::Declined { message }) if message.contains("too soon") || message.contains("lacks") => {
            }
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_place_whose_runtime_is_replaced_by_one_of_this_version_can_be_driven_again() {
    let (here, there) = (Home::new(), Home::new());
    let older = there.another("older");
    let run = |words: &[&str]| assert!(older.run(words).status.success(), "{words:?}");
    tokio::task::block_in_place(|| {
        assert!(here.run(&["command", "run", "true"]).status.success());
        run(&["command", "run", "true"]);
    });
    let speaking = Speaking::new(&here, &older);
    let end = speaking.speak(VERSION - 1);
    let fleet = Operator::Fleet(Fleet::of_this_machine(&here.places().locks(), None));
    let is_looked_at =
        |snapshot: &Snapshot| is(snapshot, "older", |link| matches!(link, PlaceLink::ReadOnly(_)));
    let is_lost = |snapshot: &Snapshot| is(snapshot, "older", |link| matches!(link, PlaceLink::Lost { .. }));
    let first =
        published(&fleet, "both", |snapshot| is_live(snapshot, "workspace") && is_looked_at(snapshot));
    let first = first.await;
    let (new, old) = (id(&first, "workspace"), id(&first, "older"));
    let task = start(&fleet, &new, "new").await;
    let known: Vec<TaskId> =
        place(&first, "older").expect("a place").snapshot.tasks.iter().map(|task| task.id.clone()).collect();

    // Only the link breaks and comes back: everything is as it was.
    end.cancel();
    let lost = published(&fleet, "that it is lost", is_lost).await;
    assert!(known.iter().all(|id| knows(&lost, id)), "what was known last stays");
    let end = speaking.speak(VERSION - 1);
    let again = published(&fleet, "it again", is_looked_at).await;
    assert!(known.iter().all(|id| knows(&again, id)));
    assert_eq!(
        place(&again, "older").map(|place| place.slot),
        place(&first, "older").map(|place| place.slot)
    );

    // The runtime of the place is replaced.
    end.cancel();
    published(&fleet, "that it is lost", is_lost).await;
    tokio::task::block_in_place(|| {
        run(&["serve", "--stop"]);
        run(&["command", "run", "true"]);
    });
    let end = speaking.speak(VERSION);
    published(&fleet, "it as one of this version", |snapshot| is_live(snapshot, "older")).await;
    let theirs = start(&fleet, &old, "old").await;
    published(&fleet, "its task", |snapshot| knows(snapshot, &theirs)).await;
    fleet.show(&[task.clone(), theirs.clone()], Some(&theirs));
    for (id, says) in [(&theirs, "old <one>"), (&task, "new <one>")] {
        fleet.ask(line(id, "one")).await.expect("typed");
        shows(&fleet, id, says).await;
    }
    drop(fleet);
    end.cancel();
    tokio::task::block_in_place(|| drop(older));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_place_that_is_newer_is_not_attached_and_says_what_to_do() {
    let (here, there) = (Home::new(), Home::new());
    let newer = there.another("newer");
    let speaking = Speaking::new(&here, &newer);
    for (version, cure) in [(VERSION + 1, "use the newer pilothouse"), (VERSION - 2, "and start this one")] {
        let fleet = Operator::Fleet(Fleet::of_this_machine(&here.places().locks(), None));
        let end = speaking.speak(version);
        let numbers = format!("version {version}");
        let told = published(&fleet, cure, |snapshot| {
            is(snapshot, "newer", |link| {
                matches!(link, PlaceLink::Lost { why, .. } if why.contains(&numbers) && why.contains(cure))
            })
        })
        .await;
        let refused = Request::call("ExecCommand", json!({"cmd": "true"}));
        let refused =
            fleet.ask_at(Some(&id(&told, "newer")), refused).await.expect_err("refused").to_string();
        assert!(refused.starts_with("newer is lost: ") && refused.contains(cure), "{refused}");
        end.cancel();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_console_over_both_drives_one_and_looks_at_the_other_until_it_is_replaced() {
    let (here, there) = (Home::new(), Home::new());
    let mixed = tokio::task::block_in_place(|| Mixed::new(&here, &there));
    let end = mixed.speaking.speak(VERSION - 1);
    let socket = mixed.older.places().operator_socket();
    let console = tokio::task::block_in_place(|| {
        let console = Console::open(&here, &["fleet"], (160, 50));
        console.shows("2 places");
        console.shows(&format!(" older  read-only: that runtime speaks version {}", VERSION - 1));
        console.keys(b"p");
        console.shows("pause agent calls: older is read-only");
        console
    });
    let beside = Operator::attach(&socket, mixed.older.folder().to_owned()).await.expect("attaches");
    beside.ask(Request::Pause { paused: true, nonce: None }).await.expect("paused");
    drop(beside);
    tokio::task::block_in_place(|| {
        mixed.ask();
        console.shows("2 held");
        console.keys(b"A");
        // The call that has waited longest comes first.
        console.shows("workspace/claude wants to run a command");
        console.keys(b"\t");
        console.shows("older/claude wants to run a command");
        console.shows("its place may only be looked at");
        console.keys(b"y");
        console.shows("older is read-only");
        console.keys(b"\t");
        console.shows("workspace/claude wants to run a command");
        console.asks_until(b"y", "1 held");
        wait_until("it ran here", || here.workspace().join("ran").exists());
        assert!(!mixed.older.folder().join("ran").exists(), "and not there");
        console.keys(b"\x1b");
    });
    end.cancel();
    let run = |words: &[&str]| assert!(mixed.older.run(words).status.success(), "{words:?}");
    tokio::task::block_in_place(|| {
        console.shows("no runtime listens");
        run(&["serve", "--stop"]);
        let cmd = "while read -r line; do echo \"there <$line>\"; done";
        run(&["command", "run", cmd, "--tty", "--yield-time-ms", "0"]);
    });
    let end = mixed.speaking.speak(VERSION);
    tokio::task::block_in_place(|| {
        console.wait_for("the place is attached", |screen| {
            let text = screen.contents();
            text.contains(" older  1 task ◐1") && !text.contains("  lost ")
        });
        go_to(&console, "older/t01");
        console.keys(b"\r");
        console.shows(" INPUT older/t01");
        console.keys(b"one\r");
        console.shows("there <one>");
    });
    end.cancel();
    drop(console);
    tokio::task::block_in_place(|| drop(mixed));
}

/// Prints what its command does not contain: 11 bytes on a terminal.
const NEEDLE: &str = "echo needle-$((40 + 2)); exec sleep 1000";

/// Waits until the console knows that both tasks have printed; it shows the timeline of all from then on.
fn printed_by_both(console: &Console) {
    console.keys(b"t");
    console.shows("timeline  all tasks");
    console.shows("22 bytes out");
}

/// Has a program ask something at a place.
fn asks(at: &Another<'_>) -> Child {
    let program = "gate deploy:\n  prompt: \"Ship it?\"\nexec \"touch shipped\"\n";
    std::fs::write(at.folder().join("p.prose"), program).expect("written");
    let mut command = at.command(&["run", "p.prose", "--plain", "--attended"]);
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("starts")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_at_a_place_one_version_older_is_seen_and_answered_there_alone() {
    let (here, there) = (Home::new(), Home::new());
    let mixed = tokio::task::block_in_place(|| Mixed::new(&here, &there));
    let end = mixed.speaking.speak(VERSION - 1);
    let fleet = Operator::Fleet(Fleet::of_this_machine(&here.places().locks(), None));
    let beside = attached(&mixed.older).await;
    let mut program = asks(&mixed.older);
    let all = published(&fleet, "the question", |snapshot| !snapshot.questions.is_empty()).await;
    let question = &all.questions[0];
    assert_eq!(question.place.as_ref().map(|place| place.name.as_str()), Some("older"));
    assert_eq!((question.text.as_str(), question.needs_somebody()), ("Ship it?", true));
    assert_eq!(place(&all, "older").map(pilothouse::model::PlaceState::waiting), Some(1));
    assert_eq!(all.programs.len(), 1, "the program is seen as well");

    for (value, note) in [(AnswerValue::Approve, None), (AnswerValue::Reject, Some("no".to_owned()))] {
        let told = answer(&fleet, &question.id, value, note).await.expect_err("refused").to_string();
        is_whole(&told);
    }
    let let_agents = Request::LetAgents { question: question.id.clone(), may: true, nonce: None };
    is_whole(&fleet.ask(let_agents).await.expect_err("refused").to_string());
    for (tool, input) in [("QuestionAnswer", json!({"question_id": question.id, "answer": "approve"}))] {
        let told = fleet.ask_at(Some(&id(&all, "older")), Request::call(tool, input)).await.expect_err(tool);
        is_whole(&told.to_string());
    }
    let asked = published(&beside, "the question there", |snapshot| !snapshot.questions.is_empty()).await;
    let asked = &asked.questions;
    assert_eq!(asked.len(), 1, "nothing was decided there");
    assert_eq!((asked[0].agents, asked[0].comments.len()), (question.agents, 0));
    assert!(!mixed.older.folder().join("shipped").exists());
    assert_eq!(fleet.snapshot().borrow().questions.len(), 1, "it is still shown");

    // The person there answers.
    loop {
        match answer(&beside, &question.id, AnswerValue::Approve, None).await {
            Ok(()) => break,
            Err(Error::Declined { message }) if message.contains("nothing was decided") => {}
            Err(error) => panic!("{error}"),
        }
    }
    published(&fleet, "that it is settled", |snapshot| snapshot.questions.is_empty()).await;
    let ended = tokio::task::block_in_place(|| program.wait()).expect("ends");
    assert!(ended.success() && mixed.older.folder().join("shipped").exists());
    drop((fleet, beside));
    end.cancel();
    tokio::task::block_in_place(|| drop(mixed));
}

async fn answer(
    operator: &Operator,
    question: &QuestionId,
    value: AnswerValue,
    note: Option<String>,
) -> Result<(), Error> {
    let given = AnswerInput { value, note };
    operator.ask(Request::Answer { question: question.clone(), given, nonce: None }).await.map(drop)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_console_over_both_searches_all_output_tells_of_all_tasks_and_shows_what_the_older_one_asks() {
    let (here, there) = (Home::new(), Home::new());
    let mixed = tokio::task::block_in_place(|| Mixed::new(&here, &there));
    let end = mixed.speaking.speak(VERSION - 1);
    tokio::task::block_in_place(|| {
        mixed.agents[0].task(NEEDLE);
        mixed.agents[1].task(NEEDLE);
        let console = Console::open(&here, &["fleet"], (160, 50));
        console.shows(" older  1 task");
        console.shows("read-only: that runtime speaks");
        console.shows(" workspace  1 task");

        // One timeline of both.
        printed_by_both(&console);
        console.wait_for("the timeline of both", |screen| {
            let text = screen.contents();
            text.split_once("timeline  all tasks").is_some_and(|(_, rows)| {
                ["older/t01", "workspace/t01"].iter().all(|name| rows.contains(name))
            })
        });

        // What was printed at both is found, and gone to.
        console.keys(b"\\");
        console.shows("search all tasks");
        console.keys(b"needle-42\r");
        console.shows("workspace/t01:1");
        console.shows("older/t01:1");
        console.keys(b"older\r");
        console.shows("of 2 in all tasks  needle-42");
        console.keys(b"\x1b");
        console.shown_until("the end of the search", |text| (!text.contains("in all tasks")).then_some(()));

        // What is asked there is read here, and takes no answer.
        let mut program = asks(&mixed.older);
        console.shows("older/q01  gate deploy");
        console.keys(b"a");
        console.shows("older/q01");
        console.keys(b"\r");
        console.shows("Ship it?");
        console.shows("its place may only be looked at");
        console.keys(b"y");
        console.shows("older is read-only: that runtime speaks version");
        assert!(!mixed.older.folder().join("shipped").exists(), "and nothing was decided");
        program.kill().expect("ended");
        program.wait().expect("ended");
    });
    end.cancel();
    tokio::task::block_in_place(|| drop(mixed));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_logs_of_an_older_place_on_another_machine_are_said_not_to_be_searched() {
    let (here, there, third) = (Home::new(), Home::new(), Home::new());
    configured(&here, &there);
    let older = third.another("older");
    let speaking = Speaking::new(&there, &older);
    let end = speaking.speak(VERSION - 1);
    let (agent, far) = tokio::task::block_in_place(|| {
        let agent = Agent::connect_first(&here, &[]);
        agent.task(NEEDLE);
        let far = Agent::connect_by(&third, older.command(&["mcp"]));
        far.task(NEEDLE);
        let console = Console::open(&here, &["fleet", "box"], (200, 50));
        console.shows(" workspace  1 task");
        console.shows(" box:older  1 task");
        console.shows("read-only: that runtime speaks");
        printed_by_both(&console);
        console.keys(b"\\");
        console.shows("search all tasks");
        console.keys(b"needle-42\r");
        console.shows("workspace/t01:1");
        console.keys(b"\x1b");
        console.shows("not all was searched: box:older is read-only: that runtime speaks version");
        assert!(!console.text().contains("box:older/t01:1"));
        (agent, far)
    });
    end.cancel();
    tokio::task::block_in_place(|| drop((agent, far, older)));
}
