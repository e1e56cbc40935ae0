//! Consoles over a connection that is slow, splits what it carries and dies at random: what was answered has
//! happened, what was not may have happened, and nothing happens twice.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};

use pilothouse::config::HostSettings;
use pilothouse::link::{Act, Error, Operator, RemoteHost, Reply, RuntimeRoute};
use pilothouse::model::TypedInput;
use serde_json::json;

use crate::hosts::{pilothouse_in, start};
use crate::support::{Home, skip, wait_until};

/// The delay of each piece, in milliseconds each way.
const DELAY: &str = "80";
/// The approximate lifetime of a connection, in milliseconds.
const LIFE: &str = "1500";

/// A host behind such a connection, which never dies if `life` is "0".
pub(crate) fn behind_bad_lines(there: &Home, life: &str) -> RemoteHost {
    let pipe = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/pipe.py").display().to_string();
    let via = ["python3", &pipe, DELAY, life].map(str::to_owned).to_vec();
    let program = Some(pilothouse_in(there).display().to_string());
    let hosts = [("box".to_owned(), HostSettings { via, program })].into();
    RemoteHost::from_name("box", &hosts, Path::new(""), "ada@laptop").expect("a host")
}

fn line(there: &Home) -> RuntimeRoute {
    RuntimeRoute::operator(behind_bad_lines(there, LIFE), there.places().id)
}

pub(crate) fn has_python() -> bool {
    let ran = Command::new("python3").arg("--version").stdout(Stdio::null()).status();
    ran.is_ok_and(|ran| ran.success())
}

/// What a console was told has happened.
#[derive(Default)]
struct Told {
    typed: Vec<u32>,
    ran: Vec<u32>,
}

/// Types numbers and runs commands over one connection after another, each until it dies, `deaths` times. On a slow
/// machine more often: a connection may die before anything was answered.
async fn drive(way: RuntimeRoute, number: usize, deaths: usize, home: std::path::PathBuf) -> Told {
    let steady = Operator::attach(&home.join("operator.sock"), "/".into()).await.expect("attaches");
    let task = start(&steady, &format!("while read -r line; do echo $line >> typed-{number}; done")).await;
    drop(steady);
    let (mut told, mut next, mut seen) = (Told::default(), 0, 0);
    for died in 0..10 * deaths {
        if died >= deaths && !told.ran.is_empty() {
            break;
        }
        let operator = match Operator::attach_by(&way, "/".into()).await {
            Ok(operator) => operator,
            Err(Error::Carried { .. } | Error::Handshake { .. } | Error::TooManyConnections { .. }) => {
                continue;
            }
            Err(error) => panic!("{error}"),
        };
        let seq = operator.snapshot().borrow().seq;
        assert!(seq >= seen, "a later console knows no less: {seq} after {seen}");
        seen = seq;
        loop {
            next += 1;
            let input = TypedInput::Raw(format!("{next}\r").into_bytes());
            match operator.ask(Act::Send(input).on(task.clone())).await {
                Ok(Reply::Sent(_)) => told.typed.push(next),
                Err(Error::Gone) => break,
                other => panic!("{other:?}"),
            }
            match operator.call("ExecCommand", json!({"cmd": format!("echo {next} >> ran-{number}")})).await {
                Ok(answer) => {
                    assert!(answer.envelope.result().is_some(), "{:?}", answer.envelope);
                    told.ran.push(next);
                }
                Err(Error::Gone) => break,
                Err(error) => panic!("{error}"),
            }
        }
        let mut connected = operator.link_state();
        connected.wait_for(|connected| !connected).await.expect("told");
        assert!(operator.why_lost().is_some(), "why it broke is known when it is known that it did");
    }
    told
}

async fn nothing_is_lost_and_nothing_happens_twice(consoles: usize, deaths: usize) {
    if !has_python() {
        return skip("there is no python3");
    }
    let there = Home::new();
    let mut served = there.serve();
    let driven: Vec<_> = (0..consoles)
        .map(|number| tokio::spawn(drive(line(&there), number, deaths, there.places().runtime_dir)))
        .collect();
    let mut all = Vec::new();
    for driven in driven {
        all.push(driven.await.expect("joins"));
    }
    let steady = Operator::attach(&there.places().operator_socket(), "/".into()).await.expect("attaches");
    let mut snapshot = steady.snapshot();
    let is_settled = |snapshot: &pilothouse::model::Snapshot| {
        snapshot.tasks.iter().all(|task| !task.cmd.contains(">> ran-") || task.status.is_terminal())
    };
    snapshot.wait_for(|snapshot| is_settled(snapshot)).await.expect("settled");
    for (number, told) in all.iter().enumerate() {
        assert!(!told.ran.is_empty(), "some of it got through");
        for (what, told) in [("typed", &told.typed), ("ran", &told.ran)] {
            let path = there.workspace().join(format!("{what}-{number}"));
            let lines = || -> Vec<u32> {
                let text = std::fs::read_to_string(&path).unwrap_or_default();
                text.lines().map(|line| line.parse().expect("a whole number")).collect()
            };
            tokio::task::block_in_place(|| {
                wait_until("what was answered has happened", || {
                    let done: BTreeSet<u32> = lines().into_iter().collect();
                    told.iter().all(|number| done.contains(number))
                });
            });
            let done = lines();
            let once: BTreeSet<u32> = done.iter().copied().collect();
            assert_eq!(once.len(), done.len(), "{what} twice: {done:?}");
        }
    }
    drop(steady);
    let whole = tokio::task::block_in_place(|| {
        there.stop(&mut served);
        there.run(&["audit", "verify", "latest"])
    });
    assert!(whole.status.success(), "{}", String::from_utf8_lossy(&whole.stdout));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn links_that_die_at_random_lose_no_result_and_type_nothing_twice() {
    nothing_is_lost_and_nothing_happens_twice(2, 5).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "minutes; .ci/long runs it"]
async fn long_a_thousand_link_deaths_lose_no_result_and_type_nothing_twice() {
    nothing_is_lost_and_nothing_happens_twice(5, 200).await;
}
