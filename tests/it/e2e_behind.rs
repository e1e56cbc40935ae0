//! Commands that a managed task starts through the command line: a pause treats them as calls of that task's agent.

use pilothouse::envelope::Actor;
use pilothouse::link::{Act, Operator};
use pilothouse::model::Subject;
use serde_json::json;

use crate::support::{Agent, Home, program_word, wait_until};

#[test]
fn a_pause_holds_what_an_agents_task_starts_through_the_command_line() {
    let home = Home::new();
    let mut served = home.serve();
    let agent = Agent::connect(&home, &["--label", "claude"]);
    let inner = format!("{} command run 'touch escaped'", program_word());
    let cmd = format!(
        "touch begun; while [ ! -e go ]; do sleep .05; done; env -i HOME=\"$HOME\" \
        XDG_RUNTIME_DIR=\"$XDG_RUNTIME_DIR\" XDG_STATE_HOME=\"$XDG_STATE_HOME\" XDG_CONFIG_HOME=\"$XDG_CONFIG_HOME\" \
        PATH=\"$PATH\" {inner}; touch over"
    );
    agent.call("ExecCommand", &json!({"cmd": cmd, "yield_time_ms": 0}));
    let exists = |name: &str| home.workspace().join(name).exists();
    wait_until("the task runs", || exists("begun"));
    let threads = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let threads = threads.expect("threads");
    let operator = threads
        .block_on(Operator::attach(&home.places().operator_socket(), home.workspace()))
        .expect("attaches");
    threads.block_on(operator.ask(Act::Pause(true).on(Subject::Gate))).expect("paused");
    std::fs::write(home.workspace().join("go"), "").expect("written");
    let snapshot = operator.snapshot();
    let held = || snapshot.borrow().gate.held.first().cloned();
    wait_until("the call is held", || held().is_some() || exists("over"));
    let held = held().expect("held, not run");
    assert_eq!(held.behind, Some(Actor::Agent("claude".into())), "the card says whose script it is");
    assert_eq!((held.actor, exists("escaped")), (Actor::Cli, false), "as who it is, and nothing has run");
    // A person's own script continues.
    assert!(home.run(&["command", "run", "true"]).status.success());
    // Not accepted before there has been time to read the question.
    wait_until("it is let go", || {
        threads.block_on(operator.ask(Act::Pause(false).on(Subject::Gate))).is_ok()
    });
    wait_until("it runs then", || exists("escaped") && exists("over"));
    let escaped = || snapshot.borrow().tasks.iter().find(|task| task.cmd == "touch escaped").cloned();
    // A snapshot follows what it tells of.
    wait_until("the task is told of", || escaped().is_some());
    let task = escaped().expect("the task");
    assert!(task.from_task.is_some() && task.started_by == Actor::Cli, "{task:?}");
    agent.leave();
    home.run(&["serve", "--stop"]);
    served.wait().expect("ends");
}
