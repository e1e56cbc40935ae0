//! A console without motion: time alone changes no cell, and what would count up is shown as a clock time.

use std::sync::Arc;

use jiff::SignedDuration;
use pilothouse::console::app::App;
use pilothouse::console::msg::Msg;

use crate::console_fixture::{console, draw, press, select, shown, snapshot};
use crate::console_program::asking;

const SIZES: [(u16, u16); 4] = [(50, 10), (80, 24), (120, 40), (200, 60)];

/// A console without motion, in a state with questions of programs.
fn still(size: (u16, u16)) -> App {
    let mut app = console(asking(0), size);
    app.state.setup.ui.console.motion = false;
    app
}

#[test]
fn time_alone_changes_nothing_on_any_screen_or_dialog() {
    let places: [&[&str]; 13] = [
        &["1"],
        &["1", "t"],
        &["2"],
        &["3"],
        &["4"],
        &["5"],
        &["5", "Enter"],
        &["a"],
        &["?"],
        &["q"],
        &["s"],
        &["w"],
        &["i"],
    ];
    for size in SIZES {
        for keys in places {
            let mut app = still(size);
            select(&mut app, 8);
            let _ = press(&mut app, keys);
            app.mark_drawn();
            let before = shown(&app);
            assert_eq!(draw(&app).1.wake, None, "{size:?} {keys:?}");
            let _ = app.update(Msg::Tick(app.state.clock.now + SignedDuration::from_mins(50)));
            assert!(!app.state.is_dirty(), "{size:?} {keys:?}");
            if keys != ["4"] {
                assert_eq!(shown(&app), before, "{size:?} {keys:?}");
            }
        }
    }
}

#[test]
fn a_console_without_motion_shows_clock_times_instead_of_countdowns() {
    let mut app = still((120, 40));
    select(&mut app, 8);
    insta::assert_snapshot!("still_tasks_120x40", shown(&app));
    let mut app = still((80, 24));
    select(&mut app, 5);
    let screen = shown(&app);
    assert!(screen.contains("TIME  LAST") && screen.contains("turn: you  until 12:04:39"), "{screen}");
    assert!(screen.contains("KILL at 12:04:34"), "{screen}");
    let _ = press(&mut app, &["5"]);
    assert!(shown(&app).contains("until 12:33:42"), "{}", shown(&app));
}

#[test]
fn the_counters_stand_still_until_something_happens() {
    let mut app = still((120, 40));
    let _ = press(&mut app, &["4"]);
    app.mark_drawn();
    assert!(shown(&app).contains("as of 12:04:31"), "{}", shown(&app));
    let mut next = asking(0);
    next.metrics.tasks_started += 1;
    let task = Arc::make_mut(&mut next.tasks[5]);
    task.output.bytes += 1_000;
    let _ = app.update(Msg::Snapshot(Arc::new(next.clone())));
    assert!(!app.state.is_dirty(), "a counter alone");
    let _ = next.tasks.pop();
    let _ = app.update(Msg::Snapshot(Arc::new(next)));
    assert!(app.state.is_dirty(), "a task has gone");
}

#[test]
fn a_console_without_motion_wakes_when_finished_tasks_are_to_be_cleared() {
    let mut app = still((120, 40));
    let _ = press(&mut app, &["C"]);
    assert_eq!(draw(&app).1.wake, Some(app.state.view.clear_at.expect("a time")));
}

#[test]
fn a_message_stays_until_the_next_key() {
    let mut app = still((120, 40));
    let _ = press(&mut app, &["c"]);
    let _ = app.update(Msg::Tick(app.state.clock.now + SignedDuration::from_mins(2)));
    assert_eq!(app.state.toasts.list().len(), 1);
    let _ = press(&mut app, &["j"]);
    assert_eq!(app.state.toasts.list().len(), 0);
}

#[test]
fn a_console_with_motion_counts_down() {
    let mut app = console(snapshot(), (120, 40));
    select(&mut app, 8);
    assert!(draw(&app).1.wake.is_some() && shown(&app).contains("KILL in 3s"), "{}", shown(&app));
}
