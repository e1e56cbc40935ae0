//! What the user is shown when they come back: what asked for them, failed, was denied and ended meanwhile.

use std::sync::Arc;

use jiff::SignedDuration;

use pilothouse::console::app::App;
use pilothouse::console::app::layer::Layer;
use pilothouse::console::keys::action::Action;
use pilothouse::console::msg::{Effect, Msg};
use pilothouse::console::state::focus::{Mode, Screen};
use pilothouse::envelope::Actor;
use pilothouse::model::{
    InputEvidence, InputNeed, InputWait, OutputView, Snapshot, TaskFact, TaskStatus, TaskView,
};
use pilothouse::terminal::{KeyPress, Size};

use crate::console_fixture::{
    ALL_SIZES, SIZES, ago, console, draw, ended, event, now, obstacle, press, select, shown, snapshot, task,
};

fn waiting(kind: InputNeed, since: i64, task: TaskView) -> TaskView {
    let waiting = InputWait {
        kind,
        evidence: InputEvidence::TtyRead,
        since: ago(since),
        program: None,
        question: None,
    };
    TaskView { tty: true, accepts_input: true, size: Size::nearest(80, 24), waiting: Some(waiting), ..task }
}

/// What two agents did in 40 minutes: some of it needs the user, most of it does not.
fn busy() -> Snapshot {
    let denied = TaskView {
        events: vec![event(900, Actor::Operator, TaskFact::Denied(String::new()))],
        ..ended(task(5, "git push --force", 960, 900), TaskStatus::Cancelled, None, 900)
    };
    let yours = |task: TaskView| TaskView { started_by: Actor::Operator, ..task };
    let tasks = vec![
        ended(task(1, "cargo test --workspace", 3_000, 2_800), TaskStatus::Failed, Some(101), 2_800),
        ended(task(2, "npm run build", 1_300, 1_200), TaskStatus::Failed, Some(2), 1_200),
        ended(task(3, "grep -rn TODO src", 1_100, 1_099), TaskStatus::Failed, Some(1), 1_099),
        ended(task(4, "cargo build --release", 1_000, 700), TaskStatus::Completed, Some(0), 700),
        denied,
        yours(ended(task(6, "make world", 2_000, 400), TaskStatus::Completed, Some(0), 400)),
        waiting(InputNeed::Secret, 300, task(7, "sudo apt-get install jq", 305, 300)),
        TaskView { output: OutputView::default(), ..task(8, "npm run dev", 2_900, 3) },
    ];
    Snapshot { tasks: tasks.into_iter().map(Arc::new).collect(), notices: Vec::new(), ..snapshot() }
}

/// Loses the focus, and gets it back after this long.
fn leave_for(app: &mut App, seconds: i64) {
    let _ = app.update(Msg::Tick(now() - SignedDuration::from_secs(seconds)));
    let _ = app.update(Msg::Focus(false));
    let _ = app.update(Msg::Tick(now()));
    let _ = app.update(Msg::Focus(true));
}

fn is_told(app: &App) -> bool {
    matches!(app.layers.last(), Some(Layer::Away(_)))
}

#[test]
fn a_returning_person_is_told_what_they_missed() {
    for size @ (columns, rows) in ALL_SIZES {
        let mut app = console(busy(), size);
        leave_for(&mut app, 2_400);
        assert!(is_told(&app));
        let screen = shown(&app);
        for row in [
            "while you were away: 40m00s",
            "1 asked for you",
            "1 failed",
            "1 denied",
            "1 ended that you watched",
        ] {
            assert!(screen.contains(row), "{size:?} {row}\n{screen}");
        }
        assert!(!screen.contains("3  ✗ t01"), "it failed before\n{screen}");
        if SIZES.contains(&size) {
            insta::assert_snapshot!(format!("away_{columns}x{rows}"), screen);
        }
    }
}

#[test]
fn a_number_on_the_away_sheet_leads_to_its_line_and_any_other_key_closes_the_sheet() {
    for (key, screen, number) in
        [("1", Screen::Tasks, 7), ("2", Screen::Focus, 2), ("3", Screen::Focus, 5), ("4", Screen::Focus, 6)]
    {
        let mut app = console(busy(), (100, 30));
        leave_for(&mut app, 2_400);
        let done = press(&mut app, &[key]);
        assert!(!done.iter().any(|effect| matches!(effect, Effect::Ask(_))), "nothing is done to it");
        assert!(app.layers.is_empty() && matches!(app.state.focus.mode, Mode::Observe));
        assert_eq!(
            (app.state.focus.screen, app.state.selected_task().map(|task| task.number)),
            (screen, Some(number))
        );
    }
    for key in ["Esc", "Enter", "q", "s", "9", "Ctrl-c"] {
        let mut app = console(busy(), (100, 30));
        leave_for(&mut app, 2_400);
        let selected = app.state.list.selected.clone();
        let _ = press(&mut app, &[key]);
        assert!(app.layers.is_empty(), "{key} only closes");
        assert_eq!((app.state.focus.screen, &app.state.list.selected), (Screen::Tasks, &selected), "{key}");
    }
}

#[test]
fn a_person_who_was_not_away_or_missed_nothing_is_shown_no_away_sheet() {
    let mut app = console(busy(), (100, 30));
    assert_eq!(obstacle(&app, Action::WhileAway).as_deref(), Some("you have not been away"));
    leave_for(&mut app, 299);
    assert!(!is_told(&app));
    let quiet = Snapshot { tasks: busy().tasks.split_off(7), ..busy() };
    let mut app = console(quiet, (100, 30));
    leave_for(&mut app, 4_000);
    assert!(!is_told(&app));
}

#[test]
fn a_sheet_never_takes_the_keys_of_a_task_and_can_be_looked_at_again() {
    let mut app = console(busy(), (100, 30));
    select(&mut app, 7);
    let _ = press(&mut app, &["Enter"]);
    assert!(matches!(app.state.focus.mode, Mode::Input(_)), "{}", shown(&app));
    leave_for(&mut app, 2_400);
    assert!(app.layers.is_empty() && matches!(app.state.focus.mode, Mode::Input(_)));
    assert!(shown(&app).contains("while you were away: "), "{}", shown(&app));
    let _ = press(&mut app, &["Ctrl-]", ":", "w", "h", "i", "l", "e", "-", "a", "Enter"]);
    assert!(is_told(&app), "{}", shown(&app));
}

#[test]
fn lines_that_do_not_fit_on_the_away_sheet_are_counted() {
    let failed = |number| Arc::new(ended(task(number, "make", 90, 60), TaskStatus::Failed, Some(2), 60));
    let many = Snapshot { tasks: (1..=40).map(failed).collect(), notices: Vec::new(), ..snapshot() };
    for size in [(40, 8), (60, 15), (80, 24), (200, 60)] {
        let mut app = console(many.clone(), size);
        leave_for(&mut app, 2_400);
        assert!(is_told(&app), "{size:?}");
        let (buffer, _) = draw(&app);
        assert_eq!((buffer.area.width, buffer.area.height), size);
        if size.1 >= 24 {
            assert!(
                shown(&app).contains("and 31 more") && shown(&app).contains("1-9 goes there"),
                "{}",
                shown(&app)
            );
        }
    }
    let mut app = console(many, (80, 24));
    leave_for(&mut app, 2_400);
    let _ = app.update(Msg::Key(KeyPress::parse("F9").expect("a key")));
    assert!(is_told(&app), "a picture of it can be taken");
}
