//! Driving tasks from the console: names, clearing, recalled lines, why a task is in its state.

use std::sync::Arc;

use pilothouse::console::app::App;
use pilothouse::console::msg::{Effect, Msg};
use pilothouse::console::state::focus::Mode;
use pilothouse::link::{Act, Request};
use pilothouse::model::InputNeed;

use crate::console_fixture::{console, press, select, shown, snapshot};

fn opened(number: u32) -> App {
    let mut app = console(snapshot(), (120, 40));
    select(&mut app, number);
    app
}

fn write(app: &mut App, text: &str) {
    let keys: Vec<String> =
        text.chars().map(|c| if c == ' ' { "Space".to_owned() } else { c.to_string() }).collect();
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    let _ = press(app, &keys);
}

#[test]
fn a_task_is_given_a_name_and_loses_it() {
    let mut app = opened(3);
    let _ = press(&mut app, &[","]);
    write(&mut app, "web server");
    assert!(shown(&app).contains("name for t03 ▸ web server"), "{}", shown(&app));
    let effects = press(&mut app, &["Enter"]);
    assert!(
        effects.iter().any(
            |e| matches!(e, Effect::Ask(Request { act: Act::Rename(Some(name)), .. }) if name == "web server")
        ),
        "{effects:?}"
    );
    let _ = press(&mut app, &[","]);
    let effects = press(&mut app, &["Enter"]);
    assert!(
        effects.iter().any(|effect| matches!(effect, Effect::Ask(Request { act: Act::Rename(None), .. })))
    );
    let _ = press(&mut app, &[",", "x", "Esc"]);
    assert!(matches!(app.state.focus.mode, Mode::Observe));
}

#[test]
fn finished_tasks_are_cleared_and_live_ones_stay() {
    let mut app = opened(7);
    let ended = app.state.view.snapshot.tasks.iter().filter(|task| task.status.is_terminal()).count();
    let dismissed = |effects: &[Effect]| {
        effects
            .iter()
            .filter(|effect| matches!(effect, Effect::Ask(Request { act: Act::Dismiss, .. })))
            .count()
    };
    let later =
        |app: &App, seconds| Msg::Tick(app.state.clock.now + jiff::SignedDuration::from_secs(seconds));
    let all = app.state.tasks().len();
    assert_eq!(dismissed(&press(&mut app, &["C"])), 0, "it can be undone");
    assert_eq!(app.state.tasks().len(), all - ended);
    let _ = press(&mut app, &["U"]);
    let tick = later(&app, 11);
    assert_eq!((app.state.tasks().len(), dismissed(&app.update(tick))), (all, 0));
    let _ = press(&mut app, &["C"]);
    let tick = later(&app, 9);
    assert_eq!(dismissed(&app.update(tick)), 0);
    let tick = later(&app, 1);
    assert_eq!(dismissed(&app.update(tick)), ended);
}

#[test]
fn entered_lines_are_recalled_unless_a_secret_was_asked_for() {
    let mut app = opened(7);
    let _ = press(&mut app, &["i"]);
    write(&mut app, "first");
    let _ = press(&mut app, &["M-Enter"]);
    let mut secret = snapshot();
    for task in &mut secret.tasks {
        if let Some(waiting) = &mut Arc::make_mut(task).waiting {
            waiting.kind = InputNeed::Secret;
        }
    }
    let _ = app.update(Msg::Snapshot(Arc::new(secret)));
    write(&mut app, "hunter2");
    let _ = press(&mut app, &["Up"]);
    assert!(!shown(&app).contains("first"), "nothing is called back where a secret is asked for");
    let _ = press(&mut app, &["M-Enter"]);
    let _ = app.update(Msg::Snapshot(Arc::new(snapshot())));
    let _ = press(&mut app, &["Up"]);
    assert!(shown(&app).contains("line to t07 ▸ first"), "{}", shown(&app));
    let _ = press(&mut app, &["Up", "Down"]);
    assert!(!shown(&app).contains("hunter2"));
}

#[test]
fn the_reason_for_the_state_of_a_task_is_told_with_its_source() {
    for (number, name) in [(7, "waiting"), (8, "cancelling"), (4, "failed")] {
        let mut app = opened(number);
        let _ = press(&mut app, &["w"]);
        insta::assert_snapshot!(format!("why_{name}"), shown(&app));
        let _ = press(&mut app, &["Esc"]);
        assert!(app.layers.is_empty());
    }
}

#[test]
fn the_timeline_tells_of_one_task_or_of_all() {
    for size in [(160, 50), (200, 60)] {
        let mut app = console(snapshot(), size);
        select(&mut app, 7);
        let _ = press(&mut app, &["2", "t"]);
        if size == (160, 50) {
            // The smallest with a timeline beside the pane.
            insta::assert_snapshot!("timeline_all_160x50", shown(&app));
        }
        let _ = press(&mut app, &["t"]);
        assert!(shown(&app).contains("timeline  t07"));
        let _ = press(&mut app, &["1", "t"]);
        assert!(shown(&app).contains("timeline  all tasks"), "below the panes, on request");
        let _ = press(&mut app, &["t"]);
        assert!(!shown(&app).contains("timeline"));
    }
}
