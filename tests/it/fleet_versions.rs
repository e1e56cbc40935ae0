//! Places that speak different versions of the link in one hold: what may be done where, what is shown of all, and a place
//! whose runtime is replaced by one of this version.

use std::sync::Arc;

use pilothouse::envelope::TaskId;
use pilothouse::link::{Error, Fleet, Operator, Reply, Request, VERSION};
use pilothouse::runtime::{Closing, Decision, Input, PlaceId, PlaceLink, Snapshot};
use serde_json::{Value, json};

use crate::e2e_fleet::go_to;
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

    /// Has each agent ask for a command; answers once both are told that they wait for the operator.
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

/// Asserts that a sentence names the place, its version and what to do.
#[track_caller]
fn is_whole(told: &str) {
    for part in ["older is read-only", &format!("version {}", VERSION - 1), "start this one"] {
        assert!(told.contains(part), "{part}: {told}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_place_one_version_older_is_looked_at_beside_one_that_is_driven() {
    let (here, there) = (Home::new(), Home::new());
    let mixed = tokio::task::block_in_place(|| Mixed::new(&here, &there));
    let end = mixed.speaking.speak(VERSION - 1);
    let fleet = Operator::Fleet(Fleet::of_this_machine(&here.places().locks(), None));
    // Beside it, as the person there would: nothing of this goes through the hold.
    let socket = mixed.older.places().operator_socket();
    let beside = Operator::attach(&socket, mixed.older.folder().to_owned()).await.expect("attaches");
    let first = published(&fleet, "both", |snapshot| {
        is_live(snapshot, "workspace") && is(snapshot, "older", |link| matches!(link, PlaceLink::ReadOnly(_)))
    })
    .await;
    let (new, old) = (id(&first, "workspace"), id(&first, "older"));
    let task = start(&fleet, &new, "new").await;
    let theirs = crate::hosts::start(&beside, "echo begun; read -r line; echo \"old <$line>\"; cat").await;

    // What spans places is done where it can be, and where it cannot is said.
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

    // One list of all.
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
            let is_its = |seq: u64| pilothouse::runtime::Slot::of(seq).0 == slot;
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

    // There nothing at all is done.
    let before = Arc::clone(&beside.snapshot().borrow());
    for act in acts(&all, &old, &theirs) {
        let asked = format!("{act:?}");
        let told = fleet.ask_at(Some(&old), act).await.expect_err(&asked).to_string();
        is_whole(&told);
    }
    let after = Arc::clone(&beside.snapshot().borrow());
    assert_eq!((after.tasks.len(), after.gate.held.len()), (before.tasks.len(), before.gate.held.len()));
    assert!(after.gate.paused.is_some() && !mixed.older.folder().join("ran").exists());

    // Here all of it is.
    fleet.ask(line(&task, "one")).await.expect("typed");
    shows(&fleet, &task, "new <one>").await;
    let slot = place(&all, "workspace").expect("a place").slot;
    let held = all.gate.held.iter().find(|held| pilothouse::runtime::Slot::of(held.ticket).0 == slot);
    approve(&fleet, held.expect("held").ticket, &held.expect("held").hash).await;
    fleet.call("TaskStop", json!({"task_id": task})).await.expect("stopped");
    published(&fleet, "that both are done", |snapshot| {
        let is_over =
            |view: &Arc<pilothouse::runtime::TaskView>| view.id != task || view.status.is_terminal();
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

/// Everything that may be done to a place with such a task and a held call.
fn acts(all: &Snapshot, old: &PlaceId, task: &TaskId) -> Vec<Request> {
    let slot = all.places.iter().find(|place| place.name.id == *old).expect("a place").slot;
    let held = all.gate.held.iter().find(|held| pilothouse::runtime::Slot::of(held.ticket).0 == slot);
    let (ticket, hash) = held.map(|held| (held.ticket, held.hash.clone())).expect("held");
    let of = |tool, input: Value| Request::call(tool, input);
    vec![
        line(task, "no"),
        Request::Send { task: task.clone(), input: Input::Eof },
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
        Request::Shutdown { closing: Closing::OperatorEnded },
    ]
}

/// Lets a held call run, once it can have been read.
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

    // The link alone breaks and comes back: the same, as it was.
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

    // Its runtime is replaced.
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
        // The one that has waited longest comes first.
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
