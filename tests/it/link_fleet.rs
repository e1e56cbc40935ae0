//! A fleet of several runtimes: each request reaches the right one, and a link stalls, breaks and comes back.

use std::fs::File;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use pilothouse::envelope::TaskId;
use pilothouse::link::{Act, Fleet, Operator, Reply, Request, RunningRuntime, RuntimeAddress, Successors};
use pilothouse::model::{PlaceId, PlaceLink, PlaceState, Slot, Snapshot, TypedInput};
use pilothouse::paths::{Locks, Places};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::support::{self, Home};

const PATIENCE: Duration = crate::support::PATIENCE;

/// Waits until the fleet publishes a snapshot that satisfies `fact`.
pub(crate) async fn published(
    fleet: &Operator,
    what: &str,
    fact: impl Fn(&Snapshot) -> bool,
) -> Arc<Snapshot> {
    let mut snapshots = fleet.snapshot();
    let waited = tokio::time::timeout(PATIENCE, snapshots.wait_for(|snapshot| fact(snapshot))).await;
    match waited {
        Ok(found) => Arc::clone(&found.expect("it goes on")),
        Err(_) => panic!("waited for {what}: {:?}", fleet.snapshot().borrow().places),
    }
}

pub(crate) fn place<'a>(snapshot: &'a Snapshot, name: &str) -> Option<&'a PlaceState> {
    snapshot.places.iter().find(|place| place.name.name == name).map(|place| &**place)
}

pub(crate) fn is(snapshot: &Snapshot, name: &str, link: impl Fn(&PlaceLink) -> bool) -> bool {
    place(snapshot, name).is_some_and(|place| link(&place.link))
}

/// Starts a command at a place that answers each line it reads.
pub(crate) async fn start(fleet: &Operator, place: &PlaceId, says: &str) -> TaskId {
    let cmd = format!("while read -r line; do echo \"{says} <$line>\"; done");
    let input = json!({"cmd": cmd, "tty": true, "cols": 40, "rows": 6, "yield_time_ms": 0});
    let reply = fleet.ask_at(Some(place), Request::call("ExecCommand", input)).await.expect("an answer");
    let Reply::Answer(answer) = reply else { panic!("an answer") };
    let answer: pilothouse::tools::CallAnswer = answer;
    let id = answer.envelope.result().expect("success")["task_handle"]["task_id"].clone();
    id.as_str().expect("a task").parse().expect("an id")
}

pub(crate) fn line(task: &TaskId, text: &str) -> Request {
    Act::Send(TypedInput::Raw(format!("{text}\r").into_bytes())).on(task.clone())
}

pub(crate) async fn shows(fleet: &Operator, task: &TaskId, text: &str) {
    let changed = fleet.screens_changed();
    let seen = async {
        while !fleet.screen(task).is_some_and(|screen| screen.text().contains(text)) {
            changed.notified().await;
        }
    };
    assert!(tokio::time::timeout(PATIENCE, seen).await.is_ok(), "{task} never showed {text}");
}

#[tokio::test]
async fn two_runtimes_of_one_fleet_are_each_asked_about_their_own_tasks_and_calls() {
    let home = Home::new();
    let other = home.another("web-fix");
    let mut served = home.serve();
    assert!(other.run(&["command", "run", "true"]).status.success());
    let fleet = Operator::Fleet(Fleet::of_this_machine(&home.places().locks(), None));
    let is_live = |snapshot: &Snapshot, name| is(snapshot, name, |link| *link == PlaceLink::Live);
    let snapshot =
        published(&fleet, "both", |snapshot| is_live(snapshot, "workspace") && is_live(snapshot, "web-fix"))
            .await;
    let ids: Vec<PlaceId> = snapshot.places.iter().map(|place| place.name.id.clone()).collect();
    let [there, here] = &ids[..] else { panic!("two places: {ids:?}") };

    // Without a place, nothing is started anywhere.
    let nowhere = fleet.ask(Request::call("ExecCommand", json!({"cmd": "touch ran"}))).await;
    assert!(nowhere.is_err_and(|error| error.to_string().contains("choose a place first")));
    let (one, two) = (start(&fleet, here, "here").await, start(&fleet, there, "there").await);
    published(&fleet, "their tasks", |snapshot| {
        [&one, &two].iter().all(|id| snapshot.tasks.iter().any(|task| task.id == **id))
    })
    .await;
    fleet.show(support::panes(&[one.clone(), two.clone()], &one));
    for (task, says) in [(&one, "here <a>"), (&two, "there <a>")] {
        fleet.ask(line(task, "a")).await.expect("typed");
        shows(&fleet, task, says).await;
    }
    // Both places have calls with the same numbers, and each record is the one of its own place.
    let calls = published(&fleet, "their calls", |snapshot| {
        snapshot.calls.iter().filter(|call| call.tool == "ExecCommand").count() >= 3
    })
    .await;
    for call in &calls.calls {
        let record = fleet.record(call.seq).await.expect("a record");
        assert_eq!((record.seq, &record.actor), (call.seq, &call.actor));
        let (slot, _) = Slot::of(call.seq);
        let is_there = place(&calls, "web-fix").is_some_and(|place| place.slot == slot);
        // The other runtime was started by a command of its own.
        let cmd = record.input["cmd"].as_str().unwrap_or_default();
        assert_eq!(cmd.contains("there <") || cmd == "true", is_there, "{record:?}");
    }
    drop(fleet);
    home.stop(&mut served);
}

/// A runtime found by its lock, behind a proxy that can stall and break.
struct Carried {
    locks: Locks,
    socket: PathBuf,
    real: PathBuf,
    /// Whether bytes from the console are forwarded.
    passes: watch::Sender<bool>,
    _lock: File,
    _temp: tempfile::TempDir,
}

impl Carried {
    fn new(home: &Home) -> Self {
        let temp = tempfile::tempdir().expect("temp dir");
        let (folder, runtime) = (temp.path().join("locks"), temp.path().join("run"));
        for made in [&folder, &runtime] {
            std::fs::create_dir(made).expect("made");
            std::fs::set_permissions(made, std::fs::Permissions::from_mode(0o700)).expect("private");
        }
        let own = home.places();
        let places = Places { lock: folder.join(format!("{}.lock", own.id)), ..own.clone() };
        let address = RuntimeAddress {
            pid: std::process::id(),
            runtime: runtime.clone(),
            state: own.state_dir.clone(),
            config: own.config_dir.clone(),
            workspace: own.workspace.clone(),
        };
        std::fs::write(&places.lock, serde_json::to_vec(&address).expect("JSON")).expect("written");
        let lock = File::open(&places.lock).expect("open");
        rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).expect("held");
        Self {
            locks: places.locks(),
            socket: runtime.join("operator.sock"),
            real: own.operator_socket(),
            passes: watch::Sender::new(true),
            _lock: lock,
            _temp: temp,
        }
    }

    /// Carries connections until the token is cancelled; then all of them break, and nothing listens.
    fn carry(&self) -> CancellationToken {
        let _ = std::fs::remove_file(&self.socket);
        let listener = UnixListener::bind(&self.socket).expect("bound");
        let (end, real, passes) = (CancellationToken::new(), self.real.clone(), self.passes.subscribe());
        let socket = self.socket.clone();
        let ended = end.clone();
        tokio::spawn(async move {
            let all = async {
                loop {
                    let (near, _) = listener.accept().await.expect("accepted");
                    let far = UnixStream::connect(&real).await.expect("connected");
                    tokio::spawn(ended.clone().run_until_cancelled_owned(pass(near, far, passes.clone())));
                }
            };
            let _ = ended.run_until_cancelled(all).await;
            let _ = std::fs::remove_file(&socket);
        });
        end
    }
}

async fn pass(near: UnixStream, far: UnixStream, mut passes: watch::Receiver<bool>) {
    let ((mut from_near, mut to_near), (mut from_far, mut to_far)) = (near.into_split(), far.into_split());
    let up = async {
        let mut bytes = [0; 4_096];
        loop {
            let read = from_near.read(&mut bytes).await.unwrap_or(0);
            if read == 0 || passes.wait_for(|passes| *passes).await.is_err() {
                return;
            }
            if to_far.write_all(&bytes[..read]).await.is_err() {
                return;
            }
        }
    };
    tokio::select! {
        () = up => {}
        _ = tokio::io::copy(&mut from_far, &mut to_near) => {}
    }
}

#[tokio::test]
async fn a_link_that_breaks_is_said_to_be_lost_and_what_was_under_way_is_never_sent_again() {
    let home = Home::new();
    home.serve_here();
    let carried = Carried::new(&home);
    let carrier = carried.carry();
    let fleet = Operator::Fleet(Fleet::of_this_machine(&carried.locks, None));
    let is_live = |snapshot: &Snapshot| is(snapshot, "workspace", |link| *link == PlaceLink::Live);
    let first = published(&fleet, "the place", is_live).await;
    let id = first.places[0].name.id.clone();
    let task = start(&fleet, &id, "got").await;
    published(&fleet, "its task", |snapshot| snapshot.tasks.iter().any(|view| view.id == task)).await;
    fleet.show(support::panes(std::slice::from_ref(&task), &task));
    fleet.ask(line(&task, "one")).await.expect("typed");
    shows(&fleet, &task, "got <one>").await;
    let before = fleet.screen_generation(&task);

    // The link stalls while a line is on its way, and breaks.
    carried.passes.send_replace(false);
    let typed = tokio::spawn({
        let (fleet, request) = (fleet.clone(), line(&task, "lost"));
        async move { fleet.ask(request).await }
    });
    tokio::task::yield_now().await;
    carrier.cancel();
    let told = typed.await.expect("it ends").expect_err("nobody knows").to_string();
    let unknown = "the link to workspace broke: this is not known to have arrived, and is not sent again";
    assert_eq!(told, unknown);
    let lost = published(&fleet, "that it is lost", |snapshot| {
        is(snapshot, "workspace", |link| matches!(link, PlaceLink::Lost { .. }))
    })
    .await;
    assert!(lost.tasks.iter().any(|view| view.id == task), "what was known last stays");
    let refused = fleet.ask(line(&task, "no")).await.expect_err("refused").to_string();
    assert!(refused.starts_with("workspace is lost: "), "{refused}");

    carried.passes.send_replace(true);
    let carrier = carried.carry();
    let again = published(&fleet, "it again", is_live).await;
    assert_eq!(again.places[0].slot, lost.places[0].slot, "the same runtime has its numbers still");
    fleet.ask(line(&task, "two")).await.expect("typed");
    shows(&fleet, &task, "got <two>").await;
    assert!(fleet.screen_generation(&task) > before, "a screen that is counted anew is another one");
    let text = fleet.screen(&task).expect("a screen").text();
    assert!(!text.contains("<lost>") && !text.contains("<no>"), "{text}");
    drop(fleet);
    carrier.cancel();
    home.end_here();
}

#[tokio::test]
async fn another_runtime_of_a_place_has_numbers_of_its_own() {
    let home = Home::new();
    home.serve_here();
    let fleet = Operator::Fleet(Fleet::of_this_machine(&home.places().locks(), None));
    let is_live = |snapshot: &Snapshot| is(snapshot, "workspace", |link| *link == PlaceLink::Live);
    let first = published(&fleet, "the place", is_live).await;
    let id = first.places[0].name.id.clone();
    start(&fleet, &id, "one").await;
    let called = published(&fleet, "its call", |snapshot| !snapshot.calls.is_empty()).await.calls[0].seq;
    home.end_here();
    published(&fleet, "that it is gone", |snapshot| {
        is(snapshot, "workspace", |link| matches!(link, PlaceLink::Gone { .. }))
    })
    .await;
    home.serve_here();
    let again = published(&fleet, "the next one", is_live).await;
    assert_ne!(again.places[0].slot, first.places[0].slot);
    start(&fleet, &id, "two").await;
    published(&fleet, "its call", |snapshot| !snapshot.calls.is_empty()).await;
    assert_eq!(fleet.record(called).await, None, "a call of before is nobody's");
    drop(fleet);
    home.end_here();
}

#[tokio::test]
async fn the_runtime_that_a_console_was_opened_on_may_end_and_the_others_go_on() {
    let home = Home::new();
    let other = home.another("web-fix");
    let mut served = home.serve();
    assert!(other.run(&["command", "run", "true"]).status.success());
    let own = Operator::attach(&home.places().operator_socket(), home.workspace()).await.expect("attaches");
    let locks = home.places().locks();
    let successors =
        Successors { locks: locks.clone(), workspace: home.places().id, cwd: home.workspace(), config: None };
    let Operator::Runtime(own) = own else { panic!("one runtime") };
    let fleet = Fleet::around(own, successors);
    let first = Arc::clone(&Operator::Fleet(fleet.clone()).snapshot().borrow());
    assert_eq!(first.places.len(), 1, "what was on screen is there at once");
    assert_eq!(first.places[0].slot, Slot::default(), "its numbers are what they were");
    let beside = RunningRuntime::list(&locks).into_iter().find(|running| running.id != home.places().id);
    fleet.open(beside.expect("the other one"));
    let fleet = Operator::Fleet(fleet);
    published(&fleet, "both", |snapshot| {
        is(snapshot, "workspace", PlaceLink::is_live) && is(snapshot, "web-fix", PlaceLink::is_live)
    })
    .await;
    home.stop(&mut served);
    published(&fleet, "that it has ended", |snapshot| {
        is(snapshot, "workspace", |link| matches!(link, PlaceLink::Gone { .. }))
            && is(snapshot, "web-fix", PlaceLink::is_live)
    })
    .await;
    let mut next = home.serve();
    let last = published(&fleet, "the next runtime of its workspace", |snapshot| {
        is(snapshot, "workspace", PlaceLink::is_live) && is(snapshot, "web-fix", PlaceLink::is_live)
    })
    .await;
    assert!(last.notices.iter().any(|notice| notice.text.contains("attached to the next runtime")));
    home.stop(&mut next);
}
