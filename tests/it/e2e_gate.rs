//! A program's gate and a person: the real console in a real terminal, attached to a runtime that asks; a key that
//! comes too early, then a deliberate one.

use std::time::Duration;

use pilothouse::config::ConnectionLimits;
use pilothouse::envelope::Actor;
use pilothouse::link::{Server, Sockets, StopRequests, serve_operator};
use pilothouse::model::{
    AnswerValue, Error, Evidence, NewQuestion, QuestionKind, QuestionOrigin, QuestionOutcome,
};
use pilothouse::runtime::{Handle, Options};
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::support::{Console, Desk, Home, spawner};

const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (200, 60)];

/// A runtime in this process, with its sockets open as a headless one has them.
struct House {
    threads: Runtime,
    runtime: Handle,
    stop: CancellationToken,
    served: Option<JoinHandle<()>>,
    home: Home,
}

impl House {
    fn open() -> Self {
        let home = Home::new();
        let places = home.places();
        let threads = Runtime::new().expect("threads");
        let inside = threads.enter();
        let runtime = Handle::start(Options {
            workspace: places.workspace.clone(),
            recordings: places.recordings(),
            lanes: places.lanes(),
            socket: places.agent_socket(),
            headless: true,
            environment: std::env::vars_os().collect(),
            spawner: spawner(&pilothouse::config::Limits::default()),
            limits: pilothouse::config::Limits::default(),
            env: pilothouse::config::EnvSettings::default(),
        });
        let runtime = runtime.expect("a runtime");
        let server = Server::new(
            Sockets::open(&places).expect("opens"),
            places.workspace,
            ConnectionLimits::default(),
        );
        let stop = CancellationToken::new();
        let (own, end) = (runtime.clone(), stop.clone());
        let served = tokio::spawn(server.run(stop.clone(), stop.clone(), move |client| {
            let (own, end) = (own.clone(), end.clone());
            async move {
                // A console that hangs up is not a failure of this test.
                let _ = serve_operator(client, own, (end.clone(), StopRequests::default()), end).await;
            }
        }));
        drop(inside);
        Self { threads, runtime, stop, served: Some(served), home }
    }

    fn ask(&self, text: &str, within: Duration) -> JoinHandle<Result<QuestionOutcome, Error>> {
        let asking = NewQuestion {
            origin: QuestionOrigin { name: Some("deploy".into()), ..QuestionOrigin::default() },
            asked_by: Actor::Cli,
            kind: QuestionKind::Gate { allow: vec!["user".into()] },
            text: text.into(),
            evidence: Evidence::default(),
            within: Some(within),
            agents: true,
            expected: None,
        };
        let runtime = self.runtime.clone();
        self.threads.spawn(async move { runtime.ask(asking).await })
    }

    fn settled(&self, asked: JoinHandle<Result<QuestionOutcome, Error>>) -> QuestionOutcome {
        let settled =
            self.threads.block_on(async { tokio::time::timeout(crate::support::PATIENCE, asked).await });
        settled.expect("in time").expect("asked").expect("settled")
    }
}

impl Drop for House {
    fn drop(&mut self) {
        self.threads.block_on(self.runtime.shutdown());
        self.stop.cancel();
        if let Some(served) = self.served.take() {
            // The consoles of this test have already gone.
            let _ = self.threads.block_on(served);
        }
    }
}

#[test]
fn a_gate_is_approved_by_its_key_and_by_no_key_typed_before_it() {
    for size in SIZES {
        let house = House::open();
        let console = Console::open(&house.home, &[], size);
        console.shows(" OBSERVE ");
        // Typed before there is anything to approve: `a` opens the queue, and `y` finds nothing in it.
        console.keys(b"ay");
        console.shows("nothing waits for you");
        console.keys(b"\x1b");
        console.wait_for("the queue is closed", |screen| !screen.contents().contains("nothing waits"));
        let asked = house.ask("Deploy 1.2.3 to production?", Duration::from_mins(30));
        console.shows("gate deploy");
        console.shows("29m5");
        console.keys(b"a");
        console.shows("1 thing waits for you");
        // Both at once: Enter opens the dialog, and `y` comes before anybody could have read it.
        console.keys(b"\ry");
        console.shows("Deploy 1.2.3 to production?");
        console.shows("y approve");
        console.shows("too early");
        assert!(!asked.is_finished(), "a key typed ahead has approved nothing");
        assert_eq!(house.runtime.questions().len(), 1);
        // The message about the early key disappears after a few seconds; by then the dialog accepts keys.
        console.wait_for("time to read", |screen| !screen.contents().contains("too early"));
        console.keys(b"y");
        match house.settled(asked) {
            QuestionOutcome::Answered(answer) => {
                assert_eq!(
                    (answer.value, answer.principal.to_string()),
                    (AnswerValue::Approve, "operator".into())
                );
            }
            other => panic!("{other:?}"),
        }
        console.shows("q01 answered");
        console.wait_for("the dialog is closed", |screen| !screen.contents().contains("y approve"));
    }
}

#[test]
fn a_gate_that_runs_out_says_so_in_its_dialog() {
    let house = House::open();
    let mut desk = Desk::open(&house.home, SIZES[0]);
    desk.shows(" OBSERVE ");
    let asked = house.ask("Soon over?", Duration::from_secs(12));
    desk.shows("gate deploy");
    desk.keys(b"a");
    desk.shows("1 thing waits for you");
    desk.keys(b"\r");
    desk.shows("y approve");
    desk.shows("no longer open");
    desk.keys(b"y");
    assert!(matches!(house.settled(asked), QuestionOutcome::TimedOut { .. }));
    desk.keys(b"\x1b");
    desk.wait_for("the dialog is closed", |screen| !screen.contains("no longer open"));
}
