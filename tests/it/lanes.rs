//! Lanes: of the commands of one kind so many run at the same time, in all runtimes together; the others wait in the order
//! they came, and are told so.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime};

use pilothouse::config::{Lane, Limits};
use pilothouse::envelope::Actor;
use pilothouse::link::Holder;
use pilothouse::model::{ParentTask, Snapshot, Stop, TaskFact};
use pilothouse::paths::Places;
use pilothouse::runtime::Handle;
use pilothouse::tools::{CallAnswer, Caller, call};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::shell_door::Door;
use crate::support::{Home, PATIENCE, start_limited, wait_until};

fn lane(slots: usize) -> Limits {
    let lane = Lane { name: "build".into(), slots, prefix: vec!["./build".into(), "sleep".into()] };
    Limits { lanes: vec![lane], ..Limits::default() }
}

async fn ask(runtime: &Handle, workspace: &Path, tool: &str, input: Value) -> CallAnswer {
    let caller = Caller::new(Actor::Agent("claude".into()), workspace.to_owned());
    call(runtime, &caller, tool, input).await
}

async fn exec(runtime: &Handle, workspace: &Path, cmd: &str, input: Value) -> CallAnswer {
    let mut whole = json!({"cmd": cmd, "shell": "/bin/sh", "yield_time_ms": 0});
    let fields = whole.as_object_mut().expect("an object");
    fields.extend(input.as_object().cloned().unwrap_or_default());
    ask(runtime, workspace, "ExecCommand", whole).await
}

fn task_of(answer: &CallAnswer) -> Value {
    answer.envelope.result().expect("a result")["task_handle"]["task_id"].clone()
}

async fn status(runtime: &Handle, workspace: &Path, task: &Value) -> Value {
    let answer = ask(runtime, workspace, "TaskStatus", json!({"task_id": task})).await;
    answer.envelope.result().expect("a result")["task"].clone()
}

fn until_running(runtime: &Handle, task: &Value) {
    let id = task.as_str().expect("an id").parse().expect("an id");
    wait_until("it runs", || runtime.task(&id).is_some_and(|task| task.started_at.is_some()));
}

/// Starts a runtime, and a command that takes the only slot of its lane.
async fn start_with_busy_lane(dir: &Path, limits: Limits) -> (Handle, PathBuf, Value) {
    let (runtime, workspace) = start_limited(dir, limits);
    let first = task_of(&exec(&runtime, &workspace, "sleep 300", json!({})).await);
    until_running(&runtime, &first);
    (runtime, workspace, first)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_stopped_before_its_turn_was_not_run_whoever_stops_it() {
    let dir = tempfile::tempdir().expect("temp dir");
    let (runtime, workspace, _) = start_with_busy_lane(dir.path(), lane(1)).await;
    let items = json!({"items": [{"cmd": "echo one"}, {"cmd": "sleep 0"}, {"cmd": "touch ran"}]});
    let command = json!({"cmd": "sleep 0; touch ran", "yield_time_ms": 30_000});
    for (by, kind, is_batch) in [
        (Actor::Operator, "operator_denied", false),
        (Actor::Cli, "withdrawn", false),
        (Actor::Operator, "operator_denied", true),
    ] {
        let (tool, input) =
            if is_batch { ("ExecCommandBatch", items.clone()) } else { ("ExecCommand", command.clone()) };
        let asking = ask(&runtime, &workspace, tool, input);
        let stopping = async {
            let mut snapshots = runtime.snapshot();
            let waits = |now: &Snapshot| now.tasks.iter().find(|task| task.queued.is_some()).cloned();
            let seen = snapshots.wait_for(|now| waits(now).is_some());
            let now = tokio::time::timeout(PATIENCE, seen).await.expect("queued").expect("lives").clone();
            let id = waits(&now).expect("it waits").id.clone();
            runtime.stop(&by, &id, Stop::default()).await.expect("stopped");
        };
        let (answer, ()) = tokio::join!(asking, stopping);
        let said = format!("stopped by {by} before it ran");
        assert!(answer.receipt.contains(&said), "{}", answer.receipt);
        assert!(!answer.receipt.contains("without a status"), "{}", answer.receipt);
        match answer.envelope.result() {
            Some(result) => {
                let [_, second, third] = [0, 1, 2].map(|at| &result["items"][at]);
                assert_eq!((&second["error"]["kind"], &third["status"]), (&json!(kind), &json!("skipped")));
            }
            None => assert_eq!(answer.envelope.to_value()["error"]["kind"], kind),
        }
    }
    assert!(!workspace.join("ran").exists());
    assert_eq!(runtime.metrics().tasks_started, 2, "the first one and one item");
    runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_second_command_of_a_lane_waits_is_told_so_and_starts_by_itself() {
    let dir = tempfile::tempdir().expect("temp dir");
    let (runtime, workspace, first) = start_with_busy_lane(dir.path(), lane(1)).await;
    let other = exec(&runtime, &workspace, "echo other", json!({"yield_time_ms": 30_000})).await;
    assert_eq!(other.envelope.result().expect("a result")["exit_status"], 0, "it is in no lane");

    let answer = exec(&runtime, &workspace, "touch ran; sleep 0", json!({"yield_time_ms": 250})).await;
    let result = answer.envelope.result().expect("a result").clone();
    let place = format!("lane build, 1 of 1 running, behind {} sleep 300", first.as_str().expect("an id"));
    assert_eq!((&result["disposition"], &result["queued"]), (&json!("queued"), &json!(place)), "{result}");
    assert_eq!(
        answer.receipt,
        format!(
            "Command waits for its turn; nothing has been run\nTask: {}\nPlace: {place}. It starts by itself; do not \
             send it again.\n\nNext: TaskOutput to wait for it, TaskStop to withdraw it.",
            result["task_handle"]["task_id"].as_str().expect("an id")
        )
    );
    let second = task_of(&answer);
    let told = status(&runtime, &workspace, &second).await;
    assert_eq!((&told["status"], &told["queued"]), (&json!("queued"), &json!(place)), "{told}");
    assert_eq!(told["summary"], json!(format!("queued ({place})")));
    let listed = ask(&runtime, &workspace, "TaskList", json!({})).await;
    assert_eq!(listed.envelope.result().expect("a result")["tasks"][0]["queued"], json!(place));
    assert!(!workspace.join("ran").exists());

    ask(&runtime, &workspace, "TaskStop", json!({"task_id": first})).await;
    let id = second.as_str().expect("an id").parse().expect("an id");
    wait_until("it has ended", || runtime.task(&id).is_some_and(|task| task.status.is_terminal()));
    let told = status(&runtime, &workspace, &second).await;
    assert_eq!((&told["status"], &told["queued"]), (&json!("completed"), &Value::Null), "{told}");
    assert!(workspace.join("ran").exists());
    runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_stopped_while_it_waits_in_a_lane_never_runs_and_says_so() {
    let dir = tempfile::tempdir().expect("temp dir");
    let (runtime, workspace, first) = start_with_busy_lane(dir.path(), lane(1)).await;
    let second = task_of(&exec(&runtime, &workspace, "touch ran; sleep 0", json!({})).await);
    let third = task_of(&exec(&runtime, &workspace, "touch third; sleep 0", json!({})).await);
    let answer = ask(&runtime, &workspace, "TaskStop", json!({"task_id": second})).await;
    assert!(answer.receipt.contains("stopped by agent:claude before it ran"), "{}", answer.receipt);
    let told = status(&runtime, &workspace, &second).await;
    assert_eq!((&told["status"], &told["exit_status"]), (&json!("cancelled"), &Value::Null), "{told}");
    // It does not hold up those behind it.
    let id = third.as_str().expect("an id").parse().expect("an id");
    let behind = |number| {
        wait_until("it moves up", || {
            let task = runtime.task(&id).expect("the third");
            task.queued.as_ref().is_some_and(|wait| wait.to_string().contains(number))
        });
    };
    behind("behind t01");
    ask(&runtime, &workspace, "TaskStop", json!({"task_id": first})).await;
    wait_until("the third has ended", || workspace.join("third").exists());
    assert!(!workspace.join("ran").exists());
    runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kept_leftover_process_takes_no_slot_of_a_lane() {
    let dir = tempfile::tempdir().expect("temp dir");
    let (runtime, workspace) = start_limited(dir.path(), lane(1));
    let daemon =
        "setsid sh -c 'exec sh -c \"while :; do read x; done\" < /dev/zero' > /dev/null 2>&1 & sleep 0";
    let kept = task_of(&exec(&runtime, &workspace, daemon, json!({"leftovers": "keep"})).await);
    let next = exec(&runtime, &workspace, "sleep 0", json!({"yield_time_ms": 30_000})).await;
    assert_eq!(next.envelope.result().expect("a result")["exit_status"], 0, "{}", next.receipt);
    assert_eq!(status(&runtime, &workspace, &kept).await["status"], "running");
    // Nothing that a runtime starts has a ticket: neither the command nor its host.
    let look = "sleep 0; ls -l /proc/self/fd /proc/$PPID/fd";
    let looked = exec(&runtime, &workspace, look, json!({"yield_time_ms": 30_000})).await;
    let seen = looked.envelope.result().expect("a result")["stdout_preview"].clone();
    assert!(
        seen.as_str().is_some_and(|seen| seen.contains("/dev/null") && !seen.contains("lanes")),
        "{seen}"
    );
    runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_waits_for_its_items_no_longer_than_its_own_time() {
    let dir = tempfile::tempdir().expect("temp dir");
    let limits = Limits { batch_deadline: Duration::from_secs(2), ..lane(1) };
    let (runtime, workspace, first) = start_with_busy_lane(dir.path(), limits).await;
    let items = json!([{"cmd": "echo free"}, {"cmd": "touch ran; sleep 0"}]);
    let answer = ask(&runtime, &workspace, "ExecCommandBatch", json!({"items": items})).await;
    let result = answer.envelope.result().expect("a result");
    assert_eq!(result["items"][0]["status"], "completed", "{result}");
    assert_eq!(
        (&result["items"][1]["status"], &result["items"][1]["reason"]),
        (&json!("skipped"), &json!("batch_deadline")),
        "{result}"
    );
    let waited =
        format!("it waited: lane build, 1 of 1 running, behind {} sleep 300", first.as_str().expect("an id"));
    assert!(
        answer.receipt.contains(&format!("skipped=batch_deadline (limit 2 s; {waited})")),
        "{}",
        answer.receipt
    );
    assert!(!workspace.join("ran").exists());
    let slow = json!([{"cmd": "tail -f /dev/null", "yield_time_ms": 30_000}]);
    let answer = ask(&runtime, &workspace, "ExecCommandBatch", json!({"items": slow})).await;
    assert!(answer.receipt.contains("ended by the batch's deadline (2 s)"), "{}", answer.receipt);
    assert!(!answer.receipt.contains("timed out after"), "{}", answer.receipt);
    ask(&runtime, &workspace, "TaskStop", json!({"task_id": first})).await;
    let items = json!([{"cmd": "sleep 0"}, {"cmd": "sleep 0; echo two"}]);
    let answer = ask(&runtime, &workspace, "ExecCommandBatch", json!({"items": items})).await;
    assert_eq!(answer.envelope.result().expect("a result")["completed_count"], 2, "{}", answer.receipt);
    runtime.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_runtime_without_lanes_makes_no_lane_folder() {
    let dir = tempfile::tempdir().expect("temp dir");
    let (runtime, workspace) = start_limited(dir.path(), Limits::default());
    exec(&runtime, &workspace, "sleep 0", json!({"yield_time_ms": 30_000})).await;
    assert!(!dir.path().join("lanes").exists());
    runtime.shutdown().await;
}

const TWO: &str = "[[lanes]]\nname = \"build\"\nslots = 1\nprefix = [\"./build\"]\n";
/// Says when it has begun, and runs until it is ended.
const BUILD: &str = "#!/bin/sh\ndate +%s%N > \"began.$1\"\nmv \"began.$1\" \"$1\"\nexec sleep 300\n";

fn place_build(folder: &Path) {
    let path = folder.join("build");
    std::fs::write(&path, BUILD).expect("written");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("set");
}

/// Makes a command of the program with arguments.
type ProgramCommand<'a> = Box<dyn Fn(&[&str]) -> Command + 'a>;

/// A workspace in which builds are started, and killed with their runtime.
struct Site<'a> {
    folder: PathBuf,
    command: ProgramCommand<'a>,
    places: Places,
}

impl<'a> Site<'a> {
    fn new(folder: PathBuf, places: Places, command: impl Fn(&[&str]) -> Command + 'a) -> Self {
        place_build(&folder);
        Self { folder, command: Box::new(command), places }
    }

    /// Starts a runtime and waits until it listens.
    fn serve(&self) -> Child {
        let served = (self.command)(&["serve"]).stderr(Stdio::null()).spawn().expect("serve starts");
        let socket = self.places.operator_socket();
        wait_until("the runtime listens", || std::os::unix::net::UnixStream::connect(&socket).is_ok());
        served
    }

    fn build(&self, name: &str) {
        let build = format!("./build {name}");
        let output =
            (self.command)(&["command", "run", "--yield-time-ms", "0", &build]).output().expect("runs");
        assert!(output.status.success(), "{output:?}");
    }

    /// Kills its runtime at once, and returns when.
    fn kill(&self, served: &mut Child) -> SystemTime {
        let pid = Holder::of(&self.places).address().expect("a runtime").pid;
        let pid = Pid::from_raw(i32::try_from(pid).expect("a pid")).expect("a pid");
        let at = SystemTime::now();
        kill_process(pid, Signal::KILL).expect("killed");
        let _ = served.wait();
        at
    }

    fn began(&self, name: &str) -> Option<SystemTime> {
        let text = std::fs::read_to_string(self.folder.join(name)).ok()?;
        Some(SystemTime::UNIX_EPOCH + Duration::from_nanos(text.trim().parse().ok()?))
    }
}

/// Kills the runtime whose command has the only slot, as often as asked, in turn; returns how long it took until the
/// command of the other one had begun.
fn kill_holders(rounds: usize) -> Vec<Duration> {
    let home = Home::new();
    home.configure("config.toml", TWO);
    let another = home.another("other");
    let one = Site::new(home.workspace(), home.places(), |args| home.command(args));
    let other = Site::new(another.folder().to_owned(), another.places(), |args| another.command(args));
    let sites = [one, other];
    let mut served = [sites[0].serve(), sites[1].serve()];
    sites[0].build("round0");
    wait_until("the first runs", || sites[0].began("round0").is_some());
    let mut took = Vec::new();
    for round in 1..=rounds {
        let (holder, waiting) = ((round + 1) % 2, round % 2);
        let name = format!("round{round}");
        sites[waiting].build(&name);
        assert!(sites[waiting].began(&name).is_none(), "one at a time");
        let killed = sites[holder].kill(&mut served[holder]);
        wait_until("the other starts", || sites[waiting].began(&name).is_some());
        let began = sites[waiting].began(&name).expect("it has begun");
        took.push(began.duration_since(killed).unwrap_or_default());
        served[holder] = sites[holder].serve();
    }
    for (site, served) in sites.iter().zip(&mut served) {
        site.kill(served);
    }
    took
}

#[test]
fn a_runtime_that_is_killed_frees_its_slot() {
    assert_eq!(kill_holders(2).len(), 2);
}

#[test]
#[ignore = "a long form of another test: `.ci/long lanes`"]
fn long_a_runtime_that_is_killed_frees_its_slot_a_thousand_times() {
    let rounds = std::env::var("PILOTHOUSE_ROUNDS").map_or(1_000, |rounds| rounds.parse().expect("a number"));
    let mut took = kill_holders(rounds);
    took.sort_unstable();
    let at = |share: usize| took[(took.len() - 1) * share / 100];
    eprintln!(
        "{rounds} runtimes killed: until the next command ran, median {:?}, 99 % {:?}, worst {:?}",
        at(50),
        at(99),
        at(100)
    );
    assert_eq!(took.len(), rounds);
}

#[test]
fn a_command_of_an_agents_own_shell_waits_and_its_output_is_what_it_would_be() {
    let door = Door::new();
    door.home.configure("config.toml", TWO);
    place_build(&door.home.workspace());
    let mut served = door.home.serve();
    let first = door.home.run(&["command", "run", "--yield-time-ms", "0", "./build first"]);
    assert!(first.status.success(), "{first:?}");
    wait_until("it runs", || door.home.workspace().join("first").exists());
    let child = door
        .of_claude("one", "./build x || true; echo two")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let child = child.expect("runs");
    let listed = || door.json(&["task", "list"])["data"]["tasks"].clone();
    wait_until("it is queued", || listed()[0]["status"] == "queued");
    let place = listed()[0]["queued"].clone();
    assert!(
        place.as_str().is_some_and(|place| place.starts_with("lane build, 1 of 1 running, behind task_")),
        "{place}"
    );
    let first = listed()[1]["task_id"].as_str().expect("an id").to_owned();
    assert!(!door.home.workspace().join("x").exists());
    assert!(door.home.run(&["task", "stop", &first]).status.success());
    wait_until("its turn has come", || door.home.workspace().join("x").exists());
    let second = listed()[0]["task_id"].as_str().expect("an id").to_owned();
    assert!(door.home.run(&["task", "stop", "--signal", "TERM", &second]).status.success());
    drop(child.wait_with_output().expect("ends"));
    door.home.stop(&mut served);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_waiting_command_is_let_pass_and_what_comes_out_of_it_needs_no_slot() {
    let dir = tempfile::tempdir().expect("temp dir");
    let (runtime, workspace, _) = start_with_busy_lane(dir.path(), lane(1)).await;
    let second = task_of(&exec(&runtime, &workspace, "sleep 301", json!({})).await);
    let third = task_of(&exec(&runtime, &workspace, "sleep 302", json!({})).await);
    let id = |task: &Value| task.as_str().expect("an id").parse().expect("an id");
    wait_until("it waits", || runtime.task(&id(&third)).is_some_and(|task| task.queued.is_some()));
    runtime.let_pass(&id(&third)).await;
    until_running(&runtime, &third);
    let task = runtime.task(&id(&third)).expect("the third");
    let by = |fact: &TaskFact| task.events.iter().find(|event| event.fact == *fact).map(|event| &event.actor);
    assert_eq!(by(&TaskFact::Admitted), Some(&Actor::Operator));
    assert_eq!(status(&runtime, &workspace, &second).await["status"], "queued");
    let inside = runtime.within(Some(ParentTask { task: id(&third), is_agent: false }));
    let nested = exec(&inside, &workspace, "sleep 0", json!({"yield_time_ms": 30_000})).await;
    assert_eq!(nested.envelope.result().expect("a result")["exit_status"], 0, "its parent may wait for it");
    runtime.shutdown().await;
}
