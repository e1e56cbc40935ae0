//! Undoing what differs since a task began, from its row: the files first, then a key, then what was done.

use jiff::SignedDuration;

use pilothouse::console::app::App;
use pilothouse::console::app::layer::Layer;
use pilothouse::console::keys::action::Action;
use pilothouse::console::msg::{Effect, Msg};
use pilothouse::link::{Act, Request};
use pilothouse::model::{Snapshot, Subject, TaskStatus, TreeChanges, UndoReport, UndoRequest};

use crate::console_fixture::{ALL_SIZES, console, ended, id, obstacle, press, select, shown, snapshot, task};

/// A task that has ended and changed three files, one that changed nothing, and one that runs.
fn changed() -> Snapshot {
    let ended = |number, changes| {
        let mut task = ended(task(number, "make", 60, 50), TaskStatus::Completed, Some(0), 50);
        task.changes = Some(changes);
        task
    };
    let three = TreeChanges { added: 1, modified: 2, ..TreeChanges::default() };
    let tasks = [ended(1, three), ended(2, TreeChanges::default()), task(3, "npm run dev", 60, 3)];
    Snapshot { tasks: tasks.map(Into::into).into(), notices: Vec::new(), ..snapshot() }
}

fn undo_requests(effects: &[Effect]) -> Vec<bool> {
    let is_dry = |effect: &Effect| match effect {
        Effect::Ask(Request { subject: Subject::Task(task), act: Act::Undo { is_dry, .. } })
            if *task == id(1) =>
        {
            Some(*is_dry)
        }
        _ => None,
    };
    effects.iter().filter_map(is_dry).collect()
}

fn steps() -> Vec<String> {
    ["put back src/a.rs", "put back src/b\u{1b}[31m.rs", "remove notes"].map(str::to_owned).into()
}

fn answer(app: &mut App, report: UndoReport) {
    let request = UndoRequest { task: id(1), is_redo: false, is_dry: true };
    let _ = app.update(Msg::Undo(request, Box::new(report)));
}

/// A console with the card of task 1, not drawn yet.
fn with_card(size: (u16, u16)) -> App {
    let mut app = console(changed(), size);
    select(&mut app, 1);
    assert_eq!(undo_requests(&press(&mut app, &["b"])), [true], "first, only to know");
    answer(&mut app, UndoReport { steps: steps(), ..UndoReport::default() });
    app
}

#[test]
fn the_files_and_the_limits_are_shown_before_anything_is_undone() {
    for size @ (columns, rows) in ALL_SIZES {
        let mut app = with_card(size);
        let screen = shown(&app);
        for words in ["3 files?", "put back src/a.rs", "remove notes", "Not covered: ignored files"] {
            assert!(screen.contains(words), "{size:?} {words}\n{screen}");
        }
        assert!(!screen.contains('\u{1b}'));
        assert_eq!(undo_requests(&press(&mut app, &["y"])), [] as [bool; 0], "nobody has read it yet");
        app.mark_drawn();
        let _ = app.update(Msg::Tick(app.state.clock.now + SignedDuration::from_secs(1)));
        assert_eq!(undo_requests(&press(&mut app, &["y", "y"])), [false]);
        assert!(app.layers.is_empty());
        answer(&mut app, UndoReport { steps: steps(), is_done: true, ..UndoReport::default() });
        assert!(shown(&app).contains("undone: 3 files"), "{columns}x{rows}\n{}", shown(&app));
    }
}

#[test]
fn an_undo_longer_than_the_screen_counts_only_once_its_end_was_on_it() {
    let mut app = console(changed(), (80, 24));
    select(&mut app, 1);
    let _ = press(&mut app, &["b"]);
    let steps = (1..=31).map(|number| format!("remove src/f{number}")).collect();
    answer(&mut app, UndoReport { steps, ..UndoReport::default() });
    let wait = |app: &mut App| {
        let _ = shown(app);
        app.mark_drawn();
        let _ = app.update(Msg::Tick(app.state.clock.now + SignedDuration::from_secs(2)));
    };
    wait(&mut app);
    assert!(!shown(&app).contains("Not covered"), "{}", shown(&app));
    assert_eq!(undo_requests(&press(&mut app, &["y"])), [] as [bool; 0]);
    assert!(matches!(app.layers.last(), Some(Layer::Undo(_))));
    for _ in 0..4 {
        let _ = press(&mut app, &["PageDown"]);
        wait(&mut app);
    }
    assert!(shown(&app).contains("Not covered"), "{}", shown(&app));
    assert_eq!(undo_requests(&press(&mut app, &["y"])), [false]);
}

#[test]
fn an_impossible_undo_says_why_and_takes_no_yes() {
    let mut app = console(changed(), (80, 24));
    select(&mut app, 1);
    let _ = press(&mut app, &["b"]);
    let refused = vec!["src/a.rs is no longer what the command left".to_owned()];
    answer(&mut app, UndoReport { refused, ..UndoReport::default() });
    let screen = shown(&app);
    assert!(screen.contains("cannot be undone; nothing was touched"), "{screen}");
    assert!(screen.contains("src/a.rs is no longer what the command left"), "{screen}");
    app.mark_drawn();
    let _ = app.update(Msg::Tick(app.state.clock.now + SignedDuration::from_secs(1)));
    assert_eq!(undo_requests(&press(&mut app, &["y"])), [] as [bool; 0]);
    assert!(matches!(app.layers.last(), Some(Layer::Undo(_))));
    let _ = press(&mut app, &["Esc"]);
    assert!(app.layers.is_empty());
}

#[test]
fn a_task_that_runs_or_changed_nothing_has_no_undo_and_one_that_was_undone_comes_back() {
    let mut app = console(changed(), (80, 24));
    for (number, why) in [(3, "has not ended"), (2, "nothing is known to differ")] {
        select(&mut app, number);
        assert!(obstacle(&app, Action::UndoChanges).is_some_and(|said| said.contains(why)), "{number}");
        assert_eq!(undo_requests(&press(&mut app, &["b"])), [] as [bool; 0]);
    }
    let mut undone = changed();
    let first = std::sync::Arc::make_mut(&mut undone.tasks[0]);
    first.changes.iter_mut().for_each(|changes| changes.undone = true);
    let mut app = console(undone, (80, 24));
    select(&mut app, 1);
    let asked = press(&mut app, &["b"]);
    let redo = UndoRequest { task: id(1), is_redo: true, is_dry: true };
    let is_redo = |effect: &Effect| matches!(effect, Effect::Ask(Request { subject: Subject::Task(task), act: Act::Undo { is_redo: true, is_dry: true } }) if *task == id(1));
    assert!(asked.iter().any(is_redo));
    let report = UndoReport { steps: steps(), ..UndoReport::default() };
    let _ = app.update(Msg::Undo(redo, Box::new(report)));
    assert!(shown(&app).contains("bring back t01: 3 files?"), "{}", shown(&app));
}
