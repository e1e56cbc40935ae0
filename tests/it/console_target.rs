//! Keys act only on a task that the user has seen selected, or has moved to: the selection that nobody made may change
//! between the look and the key.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use pilothouse::console::app::App;
use pilothouse::console::app::layer::Layer;
use pilothouse::console::msg::{Effect, Msg};
use pilothouse::console::state::focus::{Mode, Prompt};
use pilothouse::envelope::TaskId;
use pilothouse::link::Request;
use pilothouse::model::{InputEvidence, InputNeed, InputWait, Snapshot, TaskStatus, TaskView};
use proptest::prelude::*;

use crate::console_fixture::{console, empty, ended, id, now, press, shown, task};

/// A console with so many tasks that print, the newest of them selected by itself, and on screen.
fn running(count: u32) -> App {
    let tasks = (1..=count).map(|number| TaskView { tty: true, ..task(number, "sh ask", 40, 1) });
    let mut app = console(Snapshot { tasks: tasks.map(Arc::new).collect(), ..empty() }, (120, 40));
    let _ = app.update(Msg::Resize(120, 40));
    app.drawn();
    app
}

fn change(app: &mut App, number: u32, change: impl FnOnce(TaskView) -> TaskView) {
    let mut next = Snapshot::clone(&app.state.view.snapshot);
    next.seq += 1;
    match next.tasks.iter().position(|task| task.number == number) {
        Some(at) => next.tasks[at] = Arc::new(change(next.tasks[at].as_ref().clone())),
        None => next.tasks.push(Arc::new(change(task(number, "sh ask", 0, 0)))),
    }
    let _ = app.update(Msg::Snapshot(Arc::new(next)));
}

/// Lets a task wait for a password, as of this time.
fn asks(app: &mut App, number: u32, since: Timestamp) {
    let (kind, evidence) = (InputNeed::Secret, InputEvidence::TtyRead);
    change(app, number, |task| TaskView {
        waiting: Some(InputWait { kind, evidence, since, program: None }),
        ..task
    });
}

fn pass(app: &mut App, ms: i64) {
    let _ = app.update(Msg::Tick(app.state.clock.now + SignedDuration::from_millis(ms)));
}

/// The task that keys are typed into, or that a dialog or line is about.
fn acted_on(app: &App, effects: &[Effect]) -> Option<TaskId> {
    let calls = effects.iter().find_map(|effect| match effect {
        Effect::Ask(Request::Call { input, .. }) => input.get("task_id")?.as_str()?.parse().ok(),
        _ => None,
    });
    match (app.layers.last(), &app.state.focus.mode) {
        (Some(Layer::Stop { task, .. } | Layer::Signal(task) | Layer::Restart(task)), _)
        | (None, Mode::Input(task) | Mode::Write(Prompt::Line(task), _)) => Some(task.clone()),
        _ => calls,
    }
}

fn selected(app: &App) -> Option<TaskId> {
    app.state.selected().map(|task| task.id.clone())
}

#[test]
fn a_key_meant_for_the_task_before_does_not_reach_the_next_one() {
    for key in ["Enter", "i", "s", "S", "x"] {
        let mut app = running(3);
        assert_eq!(selected(&app), Some(id(3)));
        asks(&mut app, 1, now());
        app.drawn();
        pass(&mut app, 900);
        let effects = press(&mut app, &[key]);
        assert_eq!(acted_on(&app, &effects), None, "{key}");
        assert!(shown(&app).contains("t01 is another task than before: press again"), "{}", shown(&app));
        let effects = press(&mut app, &[key]);
        assert_eq!(acted_on(&app, &effects), Some(id(1)), "{key}: pressed again");
    }
}

#[test]
fn a_move_of_ones_own_counts_at_once() {
    for keys in [&["j", "Enter"][..], &["a", "Enter"], &["I", "Enter"]] {
        let mut app = running(3);
        asks(&mut app, 2, now());
        let _ = press(&mut app, keys);
        assert!(matches!(app.state.focus.mode, Mode::Input(_)), "{keys:?}\n{}", shown(&app));
    }
}

#[test]
fn an_answer_typed_blindly_after_a_refused_key_is_no_command() {
    let mut app = running(3);
    asks(&mut app, 1, now());
    let effects = press(&mut app, &["Enter", "s", "S", "x", "q", "j", "Enter"]);
    assert_eq!((acted_on(&app, &effects), app.layers.len(), selected(&app)), (None, 0, Some(id(1))));
    assert!(matches!(app.state.focus.mode, Mode::Observe));
    pass(&mut app, 700);
    app.drawn();
    pass(&mut app, 1_000);
    let effects = press(&mut app, &["Enter"]);
    assert_eq!(acted_on(&app, &effects), Some(id(1)));
}

#[test]
fn leaving_a_task_does_not_reach_the_one_that_waits_next() {
    let mut app = running(3);
    asks(&mut app, 1, now());
    let _ = press(&mut app, &["G", "k", "Enter"]);
    let entered = app.state.focus.mode.task().cloned();
    assert!(entered.is_some() && entered != Some(id(1)), "{entered:?}");
    for key in ["Enter", "C-]"] {
        let mut app = app.clone();
        let effects = press(&mut app, &["C-]", "1", key]);
        assert_eq!((selected(&app), acted_on(&app, &effects)), (Some(id(1)), None), "{key}");
    }
}

#[test]
fn the_selection_does_not_move_under_a_list() {
    let mut app = running(3);
    let _ = press(&mut app, &[":"]);
    asks(&mut app, 1, now());
    assert_eq!(selected(&app), Some(id(3)));
    let _ = press(&mut app, &["Esc"]);
    assert_eq!(selected(&app), Some(id(1)), "but follows once it is closed");
}

#[test]
fn the_selection_does_not_move_while_a_line_is_written() {
    let mut app = running(3);
    let _ = press(&mut app, &["o"]);
    asks(&mut app, 1, now());
    assert_eq!(selected(&app), Some(id(3)));
    let _ = press(&mut app, &["Esc"]);
    assert_eq!(selected(&app), Some(id(1)), "but follows once that is over, though nothing else happens");
}

#[derive(Debug, Clone)]
enum Happening {
    Asks(u32),
    Ends(u32),
    Starts,
    Passes(i64),
    Drawn,
    Pressed(&'static str),
}

fn happening() -> impl Strategy<Value = Happening> {
    let keys = ["Enter", "Enter", "i", "s", "S", "x", "j", "k", "Esc", "C-]"];
    prop_oneof![
        2 => (1_u32..6).prop_map(Happening::Asks),
        1 => (1_u32..6).prop_map(Happening::Ends),
        1 => Just(Happening::Starts),
        2 => (1_i64..700).prop_map(Happening::Passes),
        3 => Just(Happening::Drawn),
        4 => prop::sample::select(keys.to_vec()).prop_map(Happening::Pressed),
    ]
}

/// The key that does the same.
fn same(key: &'static str) -> &'static str {
    if key == "C-]" { "Enter" } else { key }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn no_key_acts_on_a_task_that_the_screen_did_not_show_selected(
        happenings in prop::collection::vec(happening(), 1..60),
    ) {
        let mut app = running(3);
        // The selected task in the frames so far and since when, and the one that the user is known to mean.
        let (mut frame, mut since) = (selected(&app), now());
        let mut meant = selected(&app);
        let mut refused: Option<(&'static str, Option<TaskId>)> = None;
        for happening in happenings {
            let before = selected(&app);
            match happening {
                Happening::Asks(number) if app.state.view.task(&id(number)).is_some_and(|task| task.ended.is_none()) => {
                    let since = app.state.clock.now;
                    asks(&mut app, number, since);
                }
                Happening::Ends(number) if app.state.view.task(&id(number)).is_some() => {
                    change(&mut app, number, |task| ended(task, TaskStatus::Completed, Some(0), 0));
                }
                Happening::Starts => {
                    let number = u32::try_from(app.state.view.snapshot.tasks.len()).expect("few") + 1;
                    change(&mut app, number, |task| TaskView { tty: true, ..task });
                }
                Happening::Passes(ms) => pass(&mut app, ms),
                Happening::Drawn => {
                    app.drawn();
                    if frame != selected(&app) {
                        (frame, since) = (selected(&app), app.state.clock.now);
                    }
                }
                Happening::Pressed(key) => {
                    let was_in = app.state.focus.mode.task().cloned();
                    let had_layers = !app.layers.is_empty();
                    let effects = press(&mut app, &[key]);
                    let acted = acted_on(&app, &effects).filter(|task| was_in.as_ref() != Some(task) && !had_layers);
                    if let Some(acted) = acted {
                        let is_seen = frame.as_ref() == Some(&acted)
                            && app.state.clock.now.duration_since(since) >= SignedDuration::from_secs(1);
                        let is_again = refused == Some((same(key), Some(acted.clone())));
                        prop_assert!(is_seen || is_again || meant.as_ref() == Some(&acted), "{key} acted on {acted}");
                        meant = Some(acted);
                    } else if ["j", "k"].contains(&key) && was_in.is_none() && !had_layers {
                        meant = selected(&app);
                    }
                    refused = Some((same(key), selected(&app)));
                    continue;
                }
                Happening::Asks(_) | Happening::Ends(_) => {}
            }
            if selected(&app) != before {
                meant = meant.filter(|task| selected(&app).as_ref() == Some(task));
            }
        }
    }
}
