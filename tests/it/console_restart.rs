//! Restarting a task, and commands recalled with `o`.

use std::sync::Arc;

use jiff::SignedDuration;
use pilothouse::console::app::App;
use pilothouse::console::msg::{Effect, Msg};
use pilothouse::console::state::focus::Mode;
use pilothouse::envelope::Actor;
use pilothouse::link::{Act, Request};
use pilothouse::model::{Snapshot, StopView, TaskStatus, TaskView};

use crate::console_fixture::{console, ended, id, now, press, select, shown, snapshot};

fn opened() -> App {
    console(snapshot(), (80, 24))
}

/// The tool calls among the effects, with their inputs.
fn calls(effects: &[Effect]) -> Vec<String> {
    let call = |effect: &Effect| match effect {
        Effect::Ask(Request { act: Act::Call { tool, input, .. }, .. }) => Some(format!("{tool} {input}")),
        _ => None,
    };
    effects.iter().filter_map(call).collect()
}

fn becomes(app: &mut App, number: u32, change: impl FnOnce(&mut TaskView)) -> Vec<Effect> {
    let mut next = Snapshot::clone(&app.state.view.snapshot);
    next.seq += 1;
    let task = next.tasks.iter_mut().find(|task| task.id == id(number)).expect("the task");
    change(Arc::make_mut(task));
    app.update(Msg::Snapshot(Arc::new(next)))
}

#[test]
fn a_running_task_is_asked_about_stopped_and_started_again_once_it_has_ended() {
    let mut app = opened();
    select(&mut app, 6);
    assert_eq!(calls(&press(&mut app, &["r"])), Vec::<String>::new());
    assert!(shown(&app).contains("restart t06?") && shown(&app).contains("RESTART?"), "{}", shown(&app));
    assert_eq!(calls(&press(&mut app, &["Enter", "Esc"])), Vec::<String>::new());
    assert_eq!(calls(&press(&mut app, &["r", "r"])), [r#"TaskStop {"task_id":"task_00000006"}"#]);
    // However long it takes: the task is being stopped.
    let stop = StopView { by: Actor::Operator, at: now(), kill_at: None, force: false, why: None };
    let cancelled = |task: &mut TaskView| (task.status, task.stop) = (TaskStatus::Cancelling, Some(stop));
    assert_eq!(calls(&becomes(&mut app, 6, cancelled)), Vec::<String>::new());
    let _ = app.update(Msg::Tick(now() + SignedDuration::from_mins(5)));
    assert_eq!(calls(&becomes(&mut app, 6, |task| task.updated_at = now())), Vec::<String>::new());
    let again =
        calls(&becomes(&mut app, 6, |task| *task = ended(task.clone(), TaskStatus::Cancelled, None, 0)));
    let before = app.state.view.task(&id(6)).expect("there").clone();
    let [again] = &again[..] else { panic!("{again:?}") };
    for kept in [
        format!("\"cmd\":{}", serde_json::json!(before.cmd)),
        format!("\"workdir\":{}", serde_json::json!(before.workdir)),
        format!("\"shell\":{}", serde_json::json!(before.shell)),
        format!("\"login\":{},", before.login),
        "\"description\":\"restart of t06\"".to_owned(),
    ] {
        assert!(again.starts_with("ExecCommand ") && again.contains(&kept), "{kept}\n{again}");
    }
    assert_eq!(calls(&becomes(&mut app, 6, |task| task.updated_at = now())), Vec::<String>::new(), "once");
}

#[test]
fn a_task_that_goes_on_is_not_restarted_by_an_end_of_its_own_much_later() {
    let mut app = opened();
    select(&mut app, 6);
    let _ = press(&mut app, &["r", "r"]);
    let _ = app.update(Msg::Tick(now() + SignedDuration::from_secs(11)));
    assert_eq!(
        calls(&becomes(&mut app, 6, |task| *task = ended(task.clone(), TaskStatus::Completed, Some(0), 0))),
        Vec::<String>::new()
    );
}

fn start(app: &mut App, cmd: &str) -> Vec<Effect> {
    let _ = press(app, &["o"]);
    let _ = app.update(Msg::Paste(cmd.to_owned()));
    press(app, &["Enter"])
}

fn kept(effects: &[Effect]) -> Vec<&str> {
    effects
        .iter()
        .filter_map(|effect| if let Effect::KeepCommand(cmd) = effect { Some(cmd.as_str()) } else { None })
        .collect()
}

#[test]
fn commands_started_in_the_console_are_recalled_and_lines_for_tasks_are_not_among_them() {
    let mut app = opened();
    app.state.composer.commands.keep("make from last time");
    assert_eq!(kept(&start(&mut app, "cargo build")), ["cargo build"]);
    select(&mut app, 7);
    let _ = press(&mut app, &["i", "s", "e", "c", "r", "e", "t", "Enter", "Esc", "o", "Up"]);
    assert!(shown(&app).contains("cargo build"), "{}", shown(&app));
    let _ = press(&mut app, &["Up"]);
    assert!(shown(&app).contains("make from last time"), "{}", shown(&app));
    let again = press(&mut app, &["Down", "Enter"]);
    assert!(calls(&again)[0].contains("cargo build"), "{again:?}");
}

#[test]
fn a_command_with_a_secret_or_a_space_in_front_is_not_written_down() {
    let mut app = opened();
    let secret = "curl -H 'Authorization: Bearer ghp_0123456789abcdefghijABCDEFGHIJ012345' x";
    assert_eq!(kept(&start(&mut app, secret)), Vec::<&str>::new());
    let spaced = start(&mut app, " make quietly");
    assert_eq!((kept(&spaced), calls(&spaced).len()), (Vec::<&str>::new(), 1));
    let _ = press(&mut app, &["o", "Up"]);
    let written = |app: &App| {
        if let Mode::Write(_, editor) = &app.state.focus.mode {
            editor.value().to_owned()
        } else {
            String::new()
        }
    };
    assert_eq!(written(&app), secret, "this session has it");
    let _ = press(&mut app, &["Up"]);
    assert_eq!(written(&app), secret, "and nothing before it");
}
