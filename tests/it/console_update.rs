//! How the console's state changes: keys, mouse events and news in; effects and a new state out.

use std::sync::Arc;

use pilothouse::console::app::App;
use pilothouse::console::app::layer::Layer;
use pilothouse::console::msg::{Anchor, Effect, Leave, Msg, PageView};
use pilothouse::console::state::focus::{Mode, Screen};
use pilothouse::console::state::picture::Picture;
use pilothouse::console::state::search::SearchQuery;
use pilothouse::envelope::Actor;
use pilothouse::link::{Act, Request};
use pilothouse::model::{
    InputEvidence, InputNeed, InputWait, Notice, Snapshot, StopSignal, Subject, TakenPort, TaskEnd, TaskFact,
    TaskStatus, TypedInput,
};
use pilothouse::terminal::{
    ByteOrigin, Contents, KeyPress, MouseButton, MouseInput, MouseKind, Size, Terminal,
};

use crate::console_fixture::{
    ago, answer, console, draw, empty, ended, event, id, now, press, select, shown, snapshot, task,
};

fn opened() -> App {
    console(snapshot(), (80, 24))
}

/// Describes the effects, except which panes are shown, what is fetched for them, and what is remembered for the
/// next start.
fn acts(effects: &[Effect]) -> Vec<String> {
    let is_act = |effect: &&Effect| {
        let is_fetched =
            matches!(effect, Effect::Ask(Request { act: Act::Record, .. }) | Effect::Page { .. });
        !is_fetched && !matches!(effect, Effect::Show(_) | Effect::KeepCommand(_))
    };
    effects.iter().filter(is_act).map(say).collect()
}

fn say(effect: &Effect) -> String {
    match effect {
        Effect::Ask(Request { act: Act::Call { tool, input, .. }, .. }) => format!("{tool} {input}"),
        Effect::Ask(Request { subject: Subject::Task(task), act: Act::Send(TypedInput::Keys(keys)) }) => {
            format!("keys {} to {task}", keys.len())
        }
        Effect::Ask(Request { subject: Subject::Task(task), act: Act::Send(input) }) => {
            format!("{input:?} to {task}")
        }
        other => format!("{other:?}"),
    }
}

fn changed(app: &mut App, change: impl FnOnce(&mut pilothouse::model::Snapshot)) -> Vec<Effect> {
    let mut next = pilothouse::model::Snapshot::clone(&app.state.view.snapshot);
    next.seq += 1;
    change(&mut next);
    app.update(Msg::Snapshot(Arc::new(next)))
}

#[test]
fn each_key_of_a_task_does_what_help_says() {
    let stop = r#"TaskStop {"task_id":"task_00000006"}"#;
    let kill = r#"TaskStop {"task_id":"task_00000006","force":true}"#;
    let usr1 = r#"TaskStop {"task_id":"task_00000006","signal":"USR1"}"#;
    let table: &[(&[&str], &[&str])] = &[
        (&["s", "s"], &[stop]),
        (&["s", "S"], &[kill]),
        (&["S", "S"], &[kill]),
        (&["S", "s", "S"], &[kill]),
        (&["s", "Esc"], &[]),
        (&["s", "y"], &[]),
        (&["S", "y", "Enter"], &[]),
        (&["x", "1"], &[usr1]),
        (&["s", "x", "1"], &[usr1]),
        (&["x", "Esc"], &[]),
        (&["c"], &["Copy(\"task_00000006\")"]),
        (&["m"], &["Mouse(false)"]),
        (&["u"], &[]),
        (&["r"], &[]),
    ];
    for (keys, expected) in table {
        let mut app = opened();
        select(&mut app, 6);
        assert_eq!(acts(&press(&mut app, keys)), *expected, "{keys:?}");
    }
}

#[test]
fn the_stop_key_pressed_again_and_again_stops_no_other_task() {
    for (keys, expected) in [
        (&["s"; 6][..], r#"TaskStop {"task_id":"task_00000007"}"#),
        (&["S"; 6], r#"TaskStop {"task_id":"task_00000007","force":true}"#),
        (&["x", "t", "x", "t", "x", "t"], r#"TaskStop {"task_id":"task_00000007","signal":"TERM"}"#),
    ] {
        let mut app = opened();
        // The newest live task is selected automatically, not by hand; it starts to end as soon as it is told to.
        let _ = changed(&mut app, |next| next.tasks.truncate(7));
        assert_eq!(app.state.selected_task().map(|task| task.number), Some(7));
        let mut done = Vec::new();
        for key in keys {
            done.extend(acts(&press(&mut app, &[key])));
            let stopped = done.len();
            let _ = changed(&mut app, |next| {
                if stopped > 0 && !next.tasks[6].status.is_terminal() {
                    let over = ended(next.tasks[6].as_ref().clone(), TaskStatus::Cancelled, None, 0);
                    next.tasks[6] = Arc::new(over);
                }
            });
        }
        assert_eq!(done, [expected], "{keys:?}");
        assert_eq!(
            app.state.selected_task().map(|task| task.number),
            Some(7),
            "what was acted on stays in sight"
        );
        assert!(shown(&app).contains("t07"), "{}", shown(&app));
    }
}

#[test]
fn every_key_but_the_chord_goes_to_the_task_in_input() {
    let mut app = opened();
    select(&mut app, 5);
    assert_eq!(
        acts(&press(&mut app, &["Enter"])),
        Vec::<String>::new(),
        "its size was asked for: not fitted"
    );
    assert!(matches!(&app.state.focus.mode, Mode::Input(task) if *task == id(5)));
    for key in ["q", "s", "Esc", "C-c", "Tab", "?", "1", "PageUp"] {
        assert_eq!(acts(&press(&mut app, &[key])), ["keys 1 to task_00000005"], "{key}");
    }
    assert_eq!(acts(&press(&mut app, &["C-]"])), Vec::<String>::new());
    assert!(matches!(app.state.focus.mode, Mode::Observe));
    assert_eq!(app.state.focus.screen, Screen::Focus);
}

#[test]
fn a_task_entered_before_it_runs_is_typed_into_once_it_does() {
    for (keys, is_typed_into) in [(&["Enter"][..], true), (&["Enter", "Esc"], false)] {
        let mut app = opened();
        let running = Arc::clone(&app.state.view.snapshot);
        let mut queued = (*running).clone();
        let task = queued.tasks.iter_mut().find(|task| task.number == 5).expect("the task");
        Arc::make_mut(task).status = TaskStatus::Queued;
        let _ = app.update(Msg::Snapshot(Arc::new(queued)));
        select(&mut app, 5);
        let _ = press(&mut app, keys);
        assert!(matches!(app.state.focus.mode, Mode::Observe));
        let _ = app.update(Msg::Snapshot(running));
        assert_eq!(matches!(&app.state.focus.mode, Mode::Input(task) if *task == id(5)), is_typed_into);
    }
}

#[test]
fn the_chord_pressed_again_is_typed_into_the_task() {
    let mut app = opened();
    select(&mut app, 5);
    let effects = press(&mut app, &["Enter", "C-]", "C-]"]);
    let chord = KeyPress::parse("C-]").expect("a key");
    assert!(
        matches!(effects.last(), Some(Effect::Ask(Request { act: Act::Send(TypedInput::Keys(keys)), .. })) if *keys == [chord])
    );
    assert!(matches!(app.state.focus.mode, Mode::Input(_)));
}

#[test]
fn a_task_that_ends_under_the_fingers_swallows_keys_until_they_have_rested() {
    let mut app = opened();
    select(&mut app, 5);
    let _ = press(&mut app, &["Enter"]);
    let _ = changed(&mut app, |next| {
        let done = ended(next.tasks[4].as_ref().clone(), TaskStatus::Completed, Some(0), 0);
        next.tasks[4] = Arc::new(done);
    });
    assert_eq!(acts(&press(&mut app, &["q", "s", "s"])), Vec::<String>::new());
    assert!(shown(&app).contains("t05 exited; press any key"));
    let at = |ms: i64| Msg::Tick(now() + jiff::SignedDuration::from_millis(ms));
    for (ms, key) in [(500, "u"), (1_100, "i"), (1_700, "t")] {
        let _ = app.update(at(ms));
        assert_eq!(acts(&press(&mut app, &[key])), Vec::<String>::new());
        assert!(matches!(app.state.focus.mode, Mode::Input(_)), "still typing at {ms} ms");
    }
    let _ = app.update(at(2_500));
    assert_eq!(acts(&press(&mut app, &["s"])), Vec::<String>::new(), "the key that leaves does nothing else");
    assert!(matches!(app.state.focus.mode, Mode::Observe) && app.layers.is_empty());
    assert_eq!(app.state.focus.screen, Screen::Tasks, "back where the task was entered from");
    let _ = press(&mut app, &["2", "Enter", "C-]"]);
    assert_eq!(app.state.focus.screen, Screen::Focus);
}

#[test]
fn page_keys_scroll_the_pane_beside_the_list_and_all_keys_do_once_they_are_in_it() {
    let pages = |effects: &[Effect]| -> Vec<Anchor> {
        let anchor = |effect: &Effect| match effect {
            Effect::Page { anchor, .. } => Some(*anchor),
            _ => None,
        };
        effects.iter().filter_map(anchor).collect()
    };
    for (key, anchor) in [
        ("PageUp", Anchor::AboveTail),
        ("C-u", Anchor::AboveTail),
        ("C-y", Anchor::LineAboveTail),
        ("k", Anchor::LineAboveTail),
        ("g", Anchor::From(0)),
    ] {
        let mut app = opened();
        select(&mut app, 6);
        if matches!(key, "k" | "g") {
            let _ = press(&mut app, &["Tab"]);
            assert!(shown(&app).contains(" PANE t06 "), "{}", shown(&app));
        }
        assert_eq!(pages(&press(&mut app, &[key])), [anchor], "{key}");
        assert_eq!(app.state.selected_task().map(|task| task.number), Some(6), "{key} moves no selection");
        let _ = press(&mut app, &["Esc"]);
        assert!(app.state.reading.scroll.is_none(), "{key}");
    }
    let mut app = opened();
    select(&mut app, 6);
    let _ = press(&mut app, &["Tab", "Esc", "j"]);
    assert_eq!(app.state.selected_task().map(|task| task.number), Some(5), "the list again");
}

#[test]
fn a_line_sent_closes_its_composer_unless_another_one_is_to_follow() {
    let mut app = opened();
    select(&mut app, 7);
    assert_eq!(
        acts(&press(&mut app, &["i", "a", "M-Enter", "b", "Enter"])),
        [
            r#"TaskInput {"task_id":"task_00000007","input":"a\r"}"#,
            r#"TaskInput {"task_id":"task_00000007","input":"b\r"}"#
        ]
    );
    assert!(matches!(app.state.focus.mode, Mode::Observe));
}

#[test]
fn the_stage_stays_on_the_task_typed_into_though_it_ended_and_others_start() {
    for (view, enter) in [(Screen::Focus, "Enter"), (Screen::Tasks, "i")] {
        let mut app = opened();
        answered(&mut app);
        let _ = changed(&mut app, |next| {
            let asks = pilothouse::model::TaskView { tty: true, accepts_input: true, ..task(11, "sh", 1, 1) };
            next.tasks.push(Arc::new(asks));
        });
        assert_eq!(
            app.state.selected_task().map(|task| task.number),
            Some(11),
            "followed, not selected by hand"
        );
        // The first may have been meant for the task before.
        let _ = press(&mut app, &[enter, enter]);
        let _ = app.update(answer(315, "command promoted to managed task", false, &id(12)));
        let _ = changed(&mut app, |next| {
            let done = ended(next.tasks[10].as_ref().clone(), TaskStatus::Completed, Some(0), 0);
            next.tasks[10] = Arc::new(done);
            next.tasks.push(Arc::new(task(12, "make", 0, 0)));
        });
        assert_eq!(
            (app.state.focus.screen, app.state.selected_task().map(|task| task.number)),
            (view, Some(11)),
            "{enter}"
        );
    }
}

#[test]
fn the_task_on_the_focus_screen_stays_selected_after_its_end_while_others_start() {
    let mut app = opened();
    answered(&mut app);
    let _ = press(&mut app, &["2"]);
    let _ = changed(&mut app, |next| {
        let done = ended(next.tasks[8].as_ref().clone(), TaskStatus::Completed, Some(0), 0);
        next.tasks[8] = Arc::new(done);
        next.tasks.push(Arc::new(task(11, "make", 0, 0)));
    });
    assert_eq!(app.state.selected_task().map(|task| task.number), Some(9));
    let _ = press(&mut app, &["1"]);
    let _ = changed(&mut app, |next| next.tasks.push(Arc::new(task(12, "make", 0, 0))));
    assert_eq!(app.state.selected_task().map(|task| task.number), Some(12), "the list follows again");
}

#[test]
fn a_task_keeps_its_size_when_it_is_looked_at_or_typed_into() {
    let mut app = opened();
    select(&mut app, 6);
    assert_eq!(acts(&press(&mut app, &["2", "[", "]", "Enter", "C-]"])), Vec::<String>::new());
    let fit = r#"TaskInput {"task_id":"task_00000006","resize":{"cols":80,"rows":20}}"#;
    assert_eq!(acts(&press(&mut app, &["F"])), [fit], "but by key it is resized, on record");
}

#[test]
fn a_line_is_one_call_and_a_secret_is_on_no_record() {
    let mut app = opened();
    select(&mut app, 7);
    let line = press(&mut app, &["i", "o", "k", "M-Enter"]);
    assert_eq!(acts(&line), [r#"TaskInput {"task_id":"task_00000007","input":"ok\r"}"#]);
    let _ = changed(&mut app, |next| {
        let mut asks = next.tasks[6].as_ref().clone();
        asks.waiting = Some(InputWait {
            kind: InputNeed::Secret,
            evidence: InputEvidence::EchoOff,
            since: ago(1),
            program: None,
            question: None,
        });
        next.tasks[6] = Arc::new(asks);
    });
    let _ = press(&mut app, &["p", "w"]);
    assert!(shown(&app).contains("secret, not recorded to t07 ▸ **"));
    assert_eq!(acts(&press(&mut app, &["Enter"])), [r#"Text("pw\r") to task_00000007"#]);
    assert_eq!(acts(&press(&mut app, &["Esc"])), Vec::<String>::new());
}

#[test]
fn a_program_that_asks_beside_the_streams_is_named_and_the_answer_is_in_no_history() {
    let mut app = opened();
    let _ = changed(&mut app, |next| {
        let mut asks = next.tasks[6].as_ref().clone();
        (asks.tty, asks.accepts_input, asks.side_terminal) = (false, false, true);
        let program = Some("sudo".to_owned());
        asks.waiting = Some(InputWait {
            kind: InputNeed::Secret,
            evidence: InputEvidence::EchoOff,
            since: ago(1),
            program,
            question: None,
        });
        next.tasks[6] = Arc::new(asks);
    });
    select(&mut app, 7);
    assert!(shown(&app).contains("sudo asks for a password"));
    let _ = press(&mut app, &["a"]);
    assert!(shown(&app).contains("sudo of claude asks for a password"), "{}", shown(&app));
    let _ = press(&mut app, &["Esc"]);
    // By the time the line is sent, the task may be asking for a password.
    let _ = changed(&mut app, |next| {
        let mut asks = next.tasks[6].as_ref().clone();
        asks.waiting = None;
        next.tasks[6] = Arc::new(asks);
    });
    assert_eq!(acts(&press(&mut app, &["i", "o", "k", "Enter"])), [r#"Text("ok\r") to task_00000007"#]);
    let recalled = press(&mut app, &["i", "Up", "Enter"]);
    assert!(!acts(&recalled).concat().contains("ok"), "it is in no history");
}

#[test]
fn a_command_started_here_is_selected_once_it_is_there() {
    let mut app = opened();
    let effects = press(&mut app, &["o", "l", "s", "Enter"]);
    assert_eq!(
        acts(&effects),
        [r#"ExecCommand {"cmd":"ls","tty":true,"yield_time_ms":0,"cols":80,"rows":20}"#]
    );
    let _ = app.update(answer(314, "command promoted to managed task", false, &id(11)));
    let _ = changed(&mut app, |next| next.tasks.push(Arc::new(task(11, "ls", 0, 0))));
    assert_eq!(app.state.selected_task().map(|task| task.number), Some(11));
}

#[test]
fn several_pasted_lines_ask_once_and_one_line_does_not() {
    let mut app = opened();
    select(&mut app, 5);
    let _ = press(&mut app, &["Enter"]);
    assert_eq!(acts(&app.update(Msg::Paste("x = 1\n".into()))), [r#"Paste("x = 1\n") to task_00000005"#]);
    assert_eq!(acts(&app.update(Msg::Paste("x = 1\ny = 2".into()))), Vec::<String>::new());
    assert!(matches!(app.layers.last(), Some(Layer::Paste(..))));
    assert_eq!(acts(&press(&mut app, &["y"])), [r#"Paste("x = 1\ny = 2") to task_00000005"#]);
    let _ = app.update(Msg::Paste("a\nb".into()));
    assert_eq!(acts(&press(&mut app, &["Esc"])), Vec::<String>::new());
}

#[test]
fn a_paste_is_counted_in_the_lines_that_are_sent() {
    for (pasted, title) in [
        ("a\rb\rc", "paste 3 lines, 5 chars into t05?"),
        ("a\r\nb\n\nc\n", "paste 4 lines, 8 chars into t05?"),
        ("\rx", "paste 2 lines, 2 chars into t05?"),
        ("1\r2\r3\r4\r5\r6", "and 1 line more"),
    ] {
        let mut app = opened();
        select(&mut app, 5);
        let _ = press(&mut app, &["Enter"]);
        let _ = app.update(Msg::Paste(pasted.into()));
        let screen = shown(&app);
        assert!(screen.contains(title) && !screen.contains("1 lines"), "{pasted:?}\n{screen}");
    }
}

#[test]
fn the_narrow_list_never_draws_one_text_over_another() {
    for narrower in 0..4 {
        let mut app = console(snapshot(), (200, 60));
        let _ = press(&mut app, &["<"; 4][..narrower]);
        let _ = changed(&mut app, |next| {
            let failed = ended(task(11, "make", 60, 47), TaskStatus::Failed, Some(127), 47);
            next.tasks.push(Arc::new(failed));
            next.tasks.push(Arc::new(task(12, "npm run dev", 741, 1)));
        });
        let screen = shown(&app);
        let row = |name: &str| {
            let mut rows = screen.lines().filter_map(|line| line.split('│').next());
            let row = rows.find(|row| row.contains(name));
            row.unwrap_or_else(|| panic!("{name}\n{screen}")).trim_end().to_owned()
        };
        let (failed, running) = (row("t11 "), row("t12 "));
        let ends = |row: &str, state: &str| row.ends_with(state) || row.contains(&format!("{state} "));
        assert!(ends(&failed, "exit 127") && ends(&running, "running"), "{failed}\n{running}\n{screen}");
    }
}

#[test]
fn quitting_asks_while_tasks_run_and_ctrl_c_never_kills() {
    let mut app = opened();
    assert_eq!(acts(&press(&mut app, &["C-c", "C-c", "C-c"])), Vec::<String>::new());
    assert!(matches!(app.layers[..], [Layer::Quit]));
    assert_eq!(acts(&press(&mut app, &["Esc", "q", "d"])), ["Quit(Detach)"]);
    assert_eq!(acts(&press(&mut app, &["q", "s"])), ["Quit(StopAll)"]);
    let mut app = console(empty(), (80, 24));
    assert!(matches!(press(&mut app, &["q"])[..], [Effect::Quit(Leave::Detach)]));
}

#[test]
fn a_runtime_ended_by_quitting_is_not_one_that_was_lost() {
    let mut app = console(empty(), (120, 40));
    app.state.setup.is_remote = false;
    assert_eq!(acts(&press(&mut app, &["q"])), ["Quit(StopAll)"]);
    assert!(app.update(Msg::LinkLost).is_empty());
    assert!(app.state.is_leaving && !app.state.view.is_lost);
}

#[test]
fn an_embedded_runtime_is_detached_where_it_can_go_on_without_its_terminal() {
    let mut app = opened();
    app.state.setup.is_remote = false;
    assert_eq!(acts(&press(&mut app, &["q", "d"])), Vec::<String>::new());
    let dialog = shown(&app);
    assert!(!dialog.contains("d detach"), "as in the demo");
    assert!(dialog.contains("detach: the runtime cannot go on without this console"), "{dialog}");
    app.state.setup.can_detach = true;
    let dialog = shown(&app);
    assert!(dialog.contains("d detach   s stop all and quit"), "the first choice\n{dialog}");
    assert!(dialog.contains("Detached, the tasks go on"), "{dialog}");
    assert_eq!(acts(&press(&mut app, &["d"])), ["Quit(Detach)"]);
    // With nothing running, detaching is the second choice, and the dialog only appears if an agent is connected.
    let mut idle =
        console(Snapshot { agents: opened().state.view.snapshot.agents.clone(), ..empty() }, (80, 24));
    (idle.state.setup.is_remote, idle.state.setup.can_detach) = (false, true);
    let _ = press(&mut idle, &["q"]);
    assert!(shown(&idle).contains("s end it and quit   d detach"), "{}", shown(&idle));
}

#[test]
fn the_selection_follows_waiting_tasks_else_the_newest_live_task_until_a_person_moves_it() {
    let mut app = opened();
    assert_eq!(app.state.selected_task().map(|task| task.number), Some(7), "it waits");
    let _ = changed(&mut app, |next| next.tasks.push(Arc::new(task(14, "ls", 0, 0))));
    assert_eq!(app.state.selected_task().map(|task| task.number), Some(7));
    let _ = press(&mut app, &["Enter", "F12"]);
    answered(&mut app);
    assert_eq!(app.state.selected_task().map(|task| task.number), Some(7), "full size it stays");
    let _ = press(&mut app, &["1"]);
    assert_eq!(app.state.selected_task().map(|task| task.number), Some(14), "answered and left");

    let mut app = opened();
    answered(&mut app);
    assert_eq!(app.state.selected_task().map(|task| task.number), Some(9));
    let _ = changed(&mut app, |next| next.tasks.push(Arc::new(task(11, "ls", 0, 0))));
    assert_eq!(app.state.selected_task().map(|task| task.number), Some(11));
    let _ = press(&mut app, &["j"]);
    let _ = changed(&mut app, |next| next.tasks.push(Arc::new(task(12, "ls", 0, 0))));
    assert_eq!(app.state.selected_task().map(|task| task.number), Some(9));
    let _ = press(&mut app, &["Esc", "Esc"]);
    let _ = changed(&mut app, |next| next.tasks.push(Arc::new(task(13, "ls", 0, 0))));
    assert_eq!(app.state.selected_task().map(|task| task.number), Some(13));
}

/// Answers the task that waits.
fn answered(app: &mut App) {
    let _ = changed(app, |next| {
        next.tasks[6] =
            Arc::new(pilothouse::model::TaskView { waiting: None, ..next.tasks[6].as_ref().clone() });
    });
}

#[test]
fn scrolling_back_freezes_the_pane_and_the_end_thaws_it() {
    let mut app = opened();
    select(&mut app, 6);
    let _ = press(&mut app, &["2"]);
    let effects = press(&mut app, &["PageUp"]);
    let wanted = effects.iter().find_map(|effect| match effect {
        Effect::Page { anchor, .. } => Some(*anchor),
        _ => None,
    });
    assert_eq!(wanted, Some(Anchor::AboveTail));
    let _ = changed(&mut app, |next| {
        let mut busy = next.tasks[5].as_ref().clone();
        busy.output.lines += 1_280;
        next.tasks[5] = Arc::new(busy);
    });
    assert!(shown(&app).contains("scrolled back, +1,280 new  G to follow"), "{}", shown(&app));
    let _ = press(&mut app, &["G"]);
    assert!(app.state.reading.scroll.is_none() && shown(&app).contains("follow"));
}

#[test]
fn a_pane_that_comes_back_into_sight_takes_a_new_picture() {
    let mut app = opened();
    select(&mut app, 6);
    assert_eq!(app.state.view.pictures[&id(6)].generation, 0);
    let mut picture = app.state.view.pictures[&id(6)].clone();
    picture.generation = 1;
    let _ = app.update(Msg::Picture(id(6), picture));
    let _ = press(&mut app, &["j"]);
    assert_eq!(app.state.view.pictures[&id(6)].generation, 1, "kept while it is out of sight");
    let _ = press(&mut app, &["k"]);
    assert_eq!(app.state.view.pictures[&id(6)].generation, 0, "a screen sent anew begins at 1 again");
}

#[test]
fn the_queue_goes_to_the_task_that_waits_longest() {
    let mut app = opened();
    select(&mut app, 9);
    assert_eq!(app.state.waiter().map(|task| task.number), Some(7));
    assert!(shown(&app).contains("t07 waiting for input since 12:03:53  a attention"), "{}", shown(&app));
    let _ = press(&mut app, &["3", "a"]);
    assert!(shown(&app).contains("1 thing waits for you"), "{}", shown(&app));
    let _ = press(&mut app, &["Enter"]);
    assert_eq!(
        (app.state.focus.screen, app.state.selected_task().map(|task| task.number)),
        (Screen::Focus, Some(7))
    );
    assert!(matches!(&app.state.focus.mode, Mode::Input(task) if *task == id(7)));
    assert!(app.state.waiter().is_none(), "somebody is there");
}

#[test]
fn a_notice_stands_beside_what_waits_for_the_person() {
    let mut app = opened();
    select(&mut app, 9);
    let _ = changed(&mut app, |next| {
        next.notices.push(Notice {
            seq: 2,
            at: ago(0),
            is_error: true,
            text: "it is news".into(),
            from: None,
        });
    });
    let line = shown(&app).lines().find(|line| line.contains("waiting for input since")).map(str::to_owned);
    let line = line.expect("what waits is still told");
    assert!(line.contains("a attention") && line.contains("it is news"), "{line}");
    let _ = changed(&mut app, |next| next.tasks.retain(|task| task.waiting.is_none()));
    assert!(shown(&app).contains("it is news"), "{}", shown(&app));
}

#[test]
fn a_command_that_caught_a_signal_and_failed_names_who_sent_it() {
    let mut app = opened();
    let _ = changed(&mut app, |next| {
        let task = Arc::make_mut(&mut next.tasks[6]);
        task.status = TaskStatus::Failed;
        task.waiting = None;
        task.stop = None;
        task.events.push(event(3, Actor::Agent("opencode".into()), TaskFact::Signal(StopSignal::Term)));
        task.ended = Some(TaskEnd {
            at: ago(2),
            ran_ms: Some(40_000),
            exit_status: Some(9),
            signal: None,
            signalled_by: None,
            timed_out: false,
            error: None,
            leftovers: Vec::new(),
            survivors: Vec::new(),
            taken_port: None,
        });
    });
    assert!(shown(&app).contains("TERM by "), "{}", shown(&app));
}

#[test]
fn the_holder_of_a_port_is_looked_up_once_after_a_command_failed() {
    let failed = |number: u32, seconds: i64| {
        let mut view =
            ended(task(number, "npm run dev", seconds + 60, seconds), TaskStatus::Failed, Some(1), seconds);
        let taken = TakenPort { port: Some(5173), in_command: false, holders: Vec::new() };
        view.ended.as_mut().expect("ended").taken_port = Some(taken);
        Arc::new(view)
    };
    let asked = |effects: Vec<Effect>| {
        let task = |effect| if let Effect::FindHolder { task, .. } = effect { Some(task) } else { None };
        effects.into_iter().filter_map(task).collect::<Vec<_>>()
    };
    let mut app = opened();
    let effects = changed(&mut app, |next| next.tasks.extend([failed(41, 86_400), failed(42, 2)]));
    assert_eq!(asked(effects), [id(42)]);
    assert_eq!(asked(changed(&mut app, |next| next.tasks.push(failed(43, 3_600)))), []);
}

#[test]
fn the_mouse_selects_enters_and_leaves() {
    let mouse =
        |kind, col, row| Msg::Mouse(MouseInput { kind, row, col, shift: false, alt: false, ctrl: false });
    let click = |col, row| mouse(MouseKind::Press(MouseButton::Left), col, row);
    let mut app = opened();
    let _ = app.update(click(10, 4));
    assert_eq!(app.state.selected_task().map(|task| task.number), Some(7), "third row of the list");
    let _ = app.update(click(10, 14));
    let _ = app.update(click(10, 14));
    assert!(
        matches!(&app.state.focus.mode, Mode::Input(task) if *task == id(7)),
        "a double click on the pane enters"
    );
    let _ = app.update(click(10, 0));
    assert!(matches!(app.state.focus.mode, Mode::Observe), "a click outside leaves");
    let _ = press(&mut app, &["1"]);
    let _ = app.update(mouse(MouseKind::ScrollDown, 10, 4));
    assert_eq!(app.state.selected_task().map(|task| task.number), Some(6));
}

#[test]
fn nothing_is_drawn_anew_when_nothing_shown_changed() {
    let mut app = opened();
    app.mark_drawn();
    let _ = app.update(Msg::Tick(now()));
    let _ = changed(&mut app, |next| next.metrics.calls_per_second.push(7));
    let _ = app.update(Msg::Focus(false));
    assert!(!app.state.is_dirty());
    let _ = press(&mut app, &["4"]);
    app.mark_drawn();
    let _ = changed(&mut app, |next| next.metrics.calls_per_second.push(7));
    assert!(app.state.is_dirty(), "but the counters are, where they are on screen");
}

#[test]
fn an_idle_console_wakes_when_a_text_changes_and_not_before() {
    let mut app = console(empty(), (80, 24));
    let next_minute: jiff::Timestamp = "2026-11-21T12:05:00Z".parse().expect("a time");
    assert_eq!(draw(&app).1.wake, Some(next_minute), "the clock alone");
    let _ = changed(&mut app, |next| next.tasks.push(Arc::new(task(1, "sleep 9", 125, 125))));
    assert_eq!(draw(&app).1.wake, Some(next_minute.min(ago(125) + jiff::SignedDuration::from_secs(180))));
}

#[test]
fn hostile_names_are_named_and_never_drawn() {
    let mut app = console(empty(), (80, 24));
    let cmd = "echo \x1b]52;c;aGk=\x07\u{202e}txt.exe\nrm -rf ~";
    let _ = changed(&mut app, |next| next.tasks.push(Arc::new(task(1, cmd, 1, 1))));
    let text = shown(&app);
    assert!(text.contains("⟨U+001B⟩") && text.contains("⟨U+202E⟩"), "{text}");
    assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{text}");
}

/// What an untrusted repository may contain: line breaks, tabs, escape sequences, reversed text, one endless word.
const FOREIGN: [&str; 4] = [
    "printf x # a\tb \x1b[31m\x1b]0;root\x07 \u{202e}txt.exe\r\n\nrm -rf ~\u{9b}2J",
    "./averyveryverylongwordwithoutanyblankaveryveryverylongwordwithoutanyblankaveryveryverylongwordwithoutanyblank",
    "日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語 ✔ 👩\u{200d}💻",
    "e\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}   \u{feff}\u{2066}z",
];

#[test]
fn foreign_commands_stay_in_their_rows_on_every_screen_and_in_every_dialog() {
    for size in [(60, 15), (80, 24), (120, 40), (200, 60)] {
        for (cmd, keys) in FOREIGN.into_iter().flat_map(|cmd| {
            let ways: [&[&str]; 8] = [&[], &["2"], &["3"], &["4"], &["s"], &["x"], &["q"], &["i"]];
            ways.map(|keys| (cmd, keys))
        }) {
            let mut app = console(empty(), size);
            let foreign = pilothouse::model::TaskView {
                tty: true,
                accepts_input: true,
                name: Some(cmd.into()),
                description: Some(cmd.into()),
                waiting: Some(InputWait {
                    kind: InputNeed::Line,
                    evidence: InputEvidence::TtyRead,
                    since: ago(9),
                    program: None,
                    question: None,
                }),
                ..task(1, cmd, 1, 1)
            };
            let _ = changed(&mut app, |next| {
                next.tasks.push(Arc::new(foreign));
                next.workspace = cmd.into();
            });
            let _ = press(&mut app, keys);
            let text = shown(&app);
            for line in text.lines() {
                let columns = unicode_width::UnicodeWidthStr::width(line);
                assert!(columns <= usize::from(size.0), "{columns} columns at {size:?} {keys:?}\n{text}");
                let is_unsafe = |c: char| c.is_control() || "\u{202e}\u{200d}\u{feff}\u{2066}".contains(c);
                assert!(!line.contains(is_unsafe), "{line:?} at {size:?} {keys:?}");
            }
            let is_dialog = !app.layers.is_empty();
            let corners = text.matches(['┌', '┐', '└', '┘']).count();
            assert_eq!(corners, if is_dialog { 4 } else { 0 }, "{size:?} {keys:?}\n{text}");
            let sides: Vec<usize> = text
                .lines()
                .filter(|line| is_dialog && (line.contains('┌') || line.contains('└')))
                .map(|line| {
                    unicode_width::UnicodeWidthStr::width(line.split(['┌', '└']).next().unwrap_or(""))
                })
                .collect();
            assert!(sides.windows(2).all(|pair| pair[0] == pair[1]), "{text}");
        }
    }
}

#[test]
fn a_lost_runtime_names_the_key_that_works() {
    let mut app = opened();
    select(&mut app, 5);
    let _ = press(&mut app, &["Enter"]);
    let _ = app.update(Msg::LinkLost);
    assert!(shown(&app).contains("waits for the next one.  Ctrl-] leaves"), "{}", shown(&app));
    let _ = press(&mut app, &["C-]"]);
    assert!(shown(&app).contains("waits for the next one.  q quits"), "{}", shown(&app));
    assert!(!shown(&app).contains("turn: you"), "nobody drives it now");
}

#[test]
fn the_quit_dialog_says_what_becomes_of_the_tasks() {
    let mut app = opened();
    let _ = press(&mut app, &["q"]);
    assert!(shown(&app).contains("Detached, the tasks go on without this console."));
    let mut app = opened();
    app.state.setup.is_remote = false;
    let _ = press(&mut app, &["q"]);
    assert!(shown(&app).contains("its tasks end with it."));
    let mut app = opened();
    let _ = changed(&mut app, |next| next.headless = false);
    assert_eq!(acts(&press(&mut app, &["q", "s"])), Vec::<String>::new(), "that console's to end");
    assert!(!shown(&app).contains("stop all"));
}

#[test]
fn a_lost_runtime_is_said_and_starts_nothing() {
    let mut app = opened();
    let _ = app.update(Msg::LinkLost);
    select(&mut app, 6);
    assert_eq!(acts(&press(&mut app, &["s", "s", "o", "l", "Enter", "Esc", "1"])), Vec::<String>::new());
    assert!(shown(&app).contains("the runtime went away"));
    assert_eq!(acts(&press(&mut app, &["q"])), ["Quit(Detach)"]);
}

/// A page of t06's log as it is fetched for a search, starting a few lines before the match; one test per line.
fn page_around(app: &App, line: u64) -> PageView {
    let first = line - 6;
    let text: Vec<String> = (first..first + 20).map(|at| format!("test case_{at} ... ok")).collect();
    let mut terminal = Terminal::new(Size::default(), ByteOrigin::Pipe);
    let _ = terminal.feed(text.join("\n").as_bytes());
    let mut picture = Picture::default();
    picture.take(&Contents::of(&terminal), 1);
    let wanted = app.state.reading.scroll.as_ref().map(|scroll| scroll.wanted);
    let anchor = wanted.expect("frozen");
    let rows = (first..first + 20).collect();
    PageView {
        anchor,
        picture,
        rows,
        times: Vec::new(),
        first_line: first,
        next_line: first + 20,
        lines: 10_233,
    }
}

/// Returns the searches requested: text, start line and direction.
fn searches(effects: &[Effect]) -> Vec<(String, u64, bool)> {
    let search = |effect: &Effect| match effect {
        Effect::Search(_, query) => Some((query.needle.clone(), query.from, query.forward)),
        _ => None,
    };
    effects.iter().filter_map(search).collect()
}

fn found(app: &mut App, line: Option<u64>) -> Vec<Effect> {
    let search = app.state.reading.search.clone().expect("searched");
    app.update(Msg::Found(search.task, search.query, line, line.map(|_| (3, 17))))
}

#[test]
fn a_match_in_a_line_that_has_not_ended_is_within_the_lines_counted() {
    let mut app = opened();
    select(&mut app, 6);
    let _ = press(&mut app, &["2", "/", "c", "a", "s", "e", "Enter"]);
    let _ = found(&mut app, Some(10_233));
    let page = page_around(&app, 10_233);
    let _ = app.update(Msg::Page(id(6), page));
    let text = shown(&app);
    assert!(text.contains("match in line 10,234 of 10,234"), "{text}");
}

#[test]
fn a_search_goes_backwards_from_the_view_and_freezes_it_on_a_match() {
    let mut app = opened();
    select(&mut app, 6);
    let effects = press(&mut app, &["2", "/", "c", "a", "s", "e", "_", "4", "2", "Enter"]);
    assert_eq!(searches(&effects).last(), Some(&("case_42".to_owned(), SearchQuery::END, false)));
    assert!(app.state.reading.scroll.is_none(), "the pane follows until there is something to show");
    let effects = found(&mut app, Some(4_200));
    let is_around = |effect: &&Effect| matches!(effect, Effect::Page { anchor: Anchor::Around(4_200), .. });
    assert_eq!(effects.iter().filter(is_around).count(), 1);
    let page = page_around(&app, 4_200);
    let _ = app.update(Msg::Page(id(6), page));
    let text = shown(&app);
    assert!(text.contains("match in line 4,201 of 10,233") && text.contains("scrolled back"), "{text}");
    assert!(text.contains(" SEARCH   3 of 17 case_42   n older"), "{text}");
    let reversed = ratatui::style::Modifier::REVERSED;
    let (buffer, _) = draw(&app);
    let marked: String = (2..22)
        .flat_map(|y| (0..80).map(move |x| (x, y)))
        .filter(|at| buffer[*at].modifier.contains(reversed))
        .map(|at| buffer[at].symbol().to_owned())
        .collect();
    assert_eq!(marked, "case_42".repeat(14), "case_4200 to case_4213, all on the page");

    let effects = press(&mut app, &["n"]);
    assert_eq!(searches(&effects), [("case_42".to_owned(), 4_199, false)]);
    let _ = found(&mut app, None);
    assert!(shown(&app).contains(" SEARCH   no older match case_42"), "{}", shown(&app));
    assert_eq!(searches(&press(&mut app, &["N"])), [("case_42".to_owned(), 4_201, true)]);
    let effects = found(&mut app, Some(4_201));
    assert!(!effects.iter().any(|effect| matches!(effect, Effect::Page { .. })), "it is on the page");
    let _ = press(&mut app, &["Esc"]);
    assert!(app.state.reading.scroll.is_none() && app.state.reading.search.is_none());
    assert!(shown(&app).contains("OBSERVE") && shown(&app).contains("follow"));
}

#[test]
fn a_search_without_a_match_says_so_and_leaves_the_pane() {
    let mut app = opened();
    select(&mut app, 6);
    let _ = press(&mut app, &["C-s", "m", "o", "o", "n", "Enter"]);
    let _ = found(&mut app, None);
    assert!(app.state.reading.scroll.is_none());
    assert!(shown(&app).contains(" SEARCH   no match moon"), "{}", shown(&app));
    assert_eq!(searches(&press(&mut app, &["n", "N"])), [], "nowhere to go on from");
    let _ = press(&mut app, &["Esc"]);
    assert!(shown(&app).contains("OBSERVE"));
}

#[test]
fn a_search_left_or_outdated_changes_nothing() {
    let mut app = opened();
    assert_eq!(
        searches(&press(&mut app, &["C-s", "x", "Esc", "C-s", "Enter"])).len(),
        1,
        "as it was written"
    );
    assert!(matches!(app.state.focus.mode, Mode::Observe) && app.state.reading.search.is_none());
    let _ = press(&mut app, &["C-s", "x", "Enter"]);
    let old = app.state.reading.search.clone().expect("searched");
    let _ = press(&mut app, &["C-s", "y", "Enter"]);
    let _ = app.update(Msg::Found(old.task, old.query, Some(3), None));
    assert!(app.state.reading.scroll.is_none(), "the answer to an older question");
}

#[test]
fn words_go_to_the_agent_whose_task_is_selected() {
    let mut app = opened();
    select(&mut app, 6);
    assert_eq!(
        acts(&press(&mut app, &["!", "u", "s", "e", "Space", "u", "v", "Enter"])),
        [r#"Ask(Request { subject: Agent("claude"), act: Tell("use uv") })"#]
    );
    assert!(app.layers.is_empty());
    assert_eq!(acts(&press(&mut app, &["!", "Enter"])), [""; 0], "nothing is written: it stays open");
    assert_eq!(acts(&press(&mut app, &["x", "Esc"])), [""; 0]);
    assert!(app.layers.is_empty());
}

#[test]
fn words_with_a_stop_are_sent_before_it_and_too_many_stay_to_be_shortened() {
    let mut app = opened();
    select(&mut app, 6);
    press(&mut app, &["s", "!"]);
    let _ = app.update(Msg::Paste("x".repeat(501)));
    assert_eq!(acts(&press(&mut app, &["Enter"])), [""; 0]);
    let sent = acts(&press(&mut app, &["Backspace", "Enter"]));
    let words = format!(r#"Ask(Request {{ subject: Agent("claude"), act: Tell("{}") }})"#, "x".repeat(500));
    assert_eq!(sent, [words.as_str(), r#"TaskStop {"task_id":"task_00000006"}"#]);
}

#[test]
fn several_agents_can_be_told_one_by_one_or_all() {
    let mut app = opened();
    changed(&mut app, |snapshot| snapshot.agents[1].connected = true);
    select(&mut app, 6);
    assert_eq!(
        acts(&press(&mut app, &["!", "Down", "a", "Enter"])),
        [r#"Ask(Request { subject: Agent("ci"), act: Tell("a") })"#]
    );
    let all = acts(&press(&mut app, &["!", "Up", "a", "Enter"]));
    assert_eq!(all.len(), 2, "{all:?}");
    changed(&mut app, |snapshot| snapshot.agents.clear());
    assert_eq!(acts(&press(&mut app, &["!"])), [""; 0]);
    assert!(app.layers.is_empty());
}

#[test]
fn the_window_says_how_much_waits_and_only_when_that_changes() {
    let mut app = opened();
    app.state.setup.ui.console.title = true;
    let titles = |effects: Vec<Effect>| -> Vec<Option<String>> {
        let titles = effects.into_iter().filter_map(|effect| match effect {
            Effect::Title(title) => Some(title),
            _ => None,
        });
        titles.collect()
    };
    let first = titles(changed(&mut app, |_| {}));
    let waiting = app.attention.items(&app.state).len();
    assert!(waiting > 0);
    assert_eq!(first, [Some(format!("◐{waiting} pilothouse demo-repo"))]);
    assert_eq!(titles(changed(&mut app, |next| next.notices.clear())), []);
    let quiet = |next: &mut Snapshot| (next.tasks, next.questions) = (Vec::new(), Vec::new());
    assert_eq!(titles(changed(&mut app, quiet)), [Some("pilothouse demo-repo".to_owned())]);
    app.state.setup.ui.console.title = false;
    assert_eq!(titles(changed(&mut app, |next| next.seq += 1)), [None]);
}
