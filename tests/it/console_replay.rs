//! Replaying a task: the keys, the timeline, one screen at a time.

use std::sync::Arc;

use jiff::SignedDuration;
use pilothouse::console::app::App;
use pilothouse::console::keys::action::Action;
use pilothouse::console::msg::{Effect, Msg};
use pilothouse::console::state::picture::Picture;
use pilothouse::console::state::replay::Reel;
use pilothouse::envelope::Actor;
use pilothouse::model::{RejectionReason, TaskEvent, TaskFact};
use pilothouse::terminal::{ByteOrigin, ByteSource, Contents, Mark, MarkKind, Size, Terminal};

use crate::console_fixture::{SIZES, console, draw, id, now, obstacle, press, select, shown, snapshot};

/// Output at 0, 0.4 and 1 s, nothing for a minute, then an input and its echo.
fn reel() -> Arc<Reel> {
    let mark = |at_ms, offset| Mark { offset, line: 0, at_ms, kind: MarkKind::Chunk(ByteSource::Tty) };
    let marks = [mark(0, 0), mark(400, 10), mark(1_000, 20), mark(61_300, 30)];
    let event = |ms, actor, fact| TaskEvent { at: now() + SignedDuration::from_millis(ms), actor, fact };
    let events = [
        event(61_200, Actor::Operator, TaskFact::Input(9)),
        event(61_250, Actor::Agent("claude".into()), TaskFact::Refused(RejectionReason::HeldByOperator)),
    ];
    Arc::new(Reel::new(&marks, &events, now()))
}

/// The screens requested.
fn asked(effects: &[Effect]) -> Vec<(usize, usize)> {
    let asked = effects.iter().filter_map(|effect| match effect {
        Effect::Play { place, marks, .. } => Some((*place, *marks)),
        _ => None,
    });
    asked.collect()
}

fn drawn(app: &mut App, place: usize, text: &str) -> Vec<Effect> {
    let mut terminal = Terminal::new(Size::nearest(80, 24), ByteOrigin::Tty);
    let _ = terminal.feed(text.as_bytes());
    let mut picture = Picture::default();
    picture.take(&Contents::of(&terminal), 1);
    app.update(Msg::Played(id(7), place, picture))
}

fn after(app: &mut App, ms: i64) -> Vec<Effect> {
    let at = app.state.clock.now + SignedDuration::from_millis(ms);
    app.update(Msg::Tick(at))
}

/// A replay of task 7 whose moments have been loaded.
fn opened(size: (u16, u16)) -> App {
    let mut app = console(snapshot(), size);
    select(&mut app, 7);
    let effects = press(&mut app, &["R"]);
    assert!(effects.iter().any(|effect| matches!(effect, Effect::Replay(task) if *task == id(7))));
    let effects = app.update(Msg::Reel(id(7), reel()));
    assert_eq!(asked(&effects), [(0, 1)]);
    app
}

#[test]
fn a_task_is_played_again_at_each_size() {
    for (columns, rows) in SIZES {
        let mut app = opened((columns, rows));
        let _ = drawn(&mut app, 0, "package name: (demo-repo) ");
        for _ in 0..3 {
            let _ = after(&mut app, 600);
        }
        insta::assert_snapshot!(format!("replay_silence_{columns}x{rows}"), shown(&app));
        let _ = press(&mut app, &["]", ">"]);
        insta::assert_snapshot!(format!("replay_input_{columns}x{rows}"), shown(&app));
    }
}

#[test]
fn a_replay_requests_one_screen_at_a_time_and_always_the_newest() {
    let mut app = opened((120, 40));
    assert_eq!(asked(&after(&mut app, 450)), [], "the first is still being drawn");
    assert_eq!(asked(&after(&mut app, 700)), []);
    assert_eq!(asked(&drawn(&mut app, 0, "one")), [(2, 3)], "the one between was never seen");
    assert!(shown(&app).contains("one"), "{}", shown(&app));
    let _ = drawn(&mut app, 2, "three");
    assert!(shown(&app).contains("three") && !shown(&app).contains("one\n"), "{}", shown(&app));
    assert_eq!(asked(&drawn(&mut app, 1, "two")), [], "what nobody waits for is not shown");
    assert!(shown(&app).contains("three"), "{}", shown(&app));
}

#[test]
fn a_replay_pauses_steps_and_plays_on() {
    let mut app = opened((120, 40));
    let _ = drawn(&mut app, 0, "");
    let _ = press(&mut app, &["Space"]);
    let _ = after(&mut app, 900);
    assert!(shown(&app).contains("standing still  0:00.0 of 0:02.6"), "{}", shown(&app));
    assert_eq!(asked(&after(&mut app, 5_000)), []);
    assert_eq!(asked(&press(&mut app, &["l"])), [(1, 2)]);
    let _ = press(&mut app, &["G"]);
    assert!(shown(&app).contains("at the end  0:02.6 of 0:02.6"), "{}", shown(&app));
    let _ = press(&mut app, &["[", "["]);
    assert!(shown(&app).contains("input by you  9 bytes"), "{}", shown(&app));
    let _ = press(&mut app, &["g", "Space"]);
    let (_, frame) = draw(&app);
    assert!(
        frame.wake.is_some_and(|at| at <= app.state.clock.now + SignedDuration::from_millis(100)),
        "{frame:?}"
    );
}

#[test]
fn a_replay_plays_with_motion_off() {
    let mut app = opened((120, 40));
    app.state.setup.ui.console.motion = false;
    let (_, frame) = draw(&app);
    assert!(
        frame.wake.is_some_and(|at| at <= app.state.clock.now + SignedDuration::from_millis(100)),
        "{frame:?}"
    );
}

#[test]
fn a_replay_ends_by_esc_by_another_screen_and_when_its_task_has_gone() {
    let mut app = opened((120, 40));
    assert!(shown(&app).contains("REPLAY t07"), "{}", shown(&app));
    let _ = press(&mut app, &["Esc"]);
    assert!(app.state.replay.is_none() && shown(&app).contains("OBSERVE"), "{}", shown(&app));
    let mut app = opened((120, 40));
    let _ = press(&mut app, &["3"]);
    assert!(app.state.replay.is_none());
    let mut app = opened((120, 40));
    let mut next = pilothouse::model::Snapshot::clone(&app.state.view.snapshot);
    next.tasks.retain(|task| task.id != id(7));
    let _ = app.update(Msg::Snapshot(Arc::new(next)));
    assert!(app.state.replay.is_none());
}

#[test]
fn a_recording_that_is_over_is_played_and_a_task_that_never_began_is_not() {
    let mut app = console(snapshot(), (120, 40));
    app.state.setup.recording = Some("20261121T1204".into());
    select(&mut app, 7);
    assert!(press(&mut app, &["R"]).iter().any(|effect| matches!(effect, Effect::Replay(_))));
    let mut app = console(snapshot(), (120, 40));
    select(&mut app, 9);
    let _ = press(&mut app, &["R"]);
    assert!(app.state.replay.is_none());
    assert_eq!(obstacle(&app, Action::Replay).as_deref(), Some("the task has not started"));
}
