//! The screen of calls: from a task to its call, the list above its texts, batches, and calls that were refused or wait.

use std::sync::Arc;

use pilothouse::console::app::App;
use pilothouse::console::msg::Msg;
use pilothouse::console::state::calls::Column;
use pilothouse::model::{
    BatchItem, CallEnd, CallSummary, GateView, HoldReason, Snapshot, TaskFact, TaskStatus, TaskView,
};

use crate::console_fixture::{
    ago, build, calls, console, draw, empty, ended, event, press, record, select, shown, snapshot, task,
};
use crate::console_held;
use pilothouse::envelope::{Actor, ErrorKind};
use pilothouse::terminal::{MouseButton, MouseInput, MouseKind};

const EVERY_SIZE: [(u16, u16); 6] = [(80, 24), (100, 30), (120, 40), (160, 50), (200, 60), (240, 70)];

#[test]
fn a_task_leads_to_its_own_call_and_back() {
    for size in EVERY_SIZE {
        let mut app = console(snapshot(), size);
        for (number, call) in [(7, 310), (4, 304), (8, 305)] {
            select(&mut app, number);
            let _ = press(&mut app, &["3"]);
            assert_eq!(app.state.shown_call().map(|call| call.seq), Some(call), "{size:?}");
            let _ = press(&mut app, &["b", "1"]);
            assert_eq!(app.state.selected_task().map(|task| task.number), Some(number), "{size:?}");
        }
    }
}

#[test]
fn a_filter_that_hides_the_call_of_a_task_goes_and_a_task_without_a_call_says_so() {
    let mut app = console(snapshot(), (80, 24));
    let _ = press(&mut app, &["3", "/", "c", "l", "i", "p", "Enter", "1"]);
    select(&mut app, 7);
    let _ = press(&mut app, &["3"]);
    assert_eq!(app.state.shown_call().map(|call| call.seq), Some(310));
    let _ = press(&mut app, &["1"]);
    select(&mut app, 5);
    let _ = press(&mut app, &["3"]);
    assert!(shown(&app).contains("no call on the list is about t05"), "{}", shown(&app));
}

/// Both titles are in sight, and the list is above them in full width, wherever the keys go.
#[test]
fn receipt_and_envelope_are_in_sight_at_each_size() {
    for (columns, rows) in EVERY_SIZE {
        let mut app = console(snapshot(), (columns, rows));
        let _ = press(&mut app, &["3", "g", "j", "j", "j"]);
        let _ = app.update(Msg::Record(Arc::new(record())));
        for column in [Column::Calls, Column::Receipt, Column::Envelope] {
            assert_eq!(app.state.calls.column, column);
            let (layout, screen) = (app.state.layout(), shown(&app));
            let line = |word: &str| screen.lines().position(|line| line.contains(word)).expect(word);
            assert_eq!(layout.list.width, columns);
            assert!(screen.contains("Command promoted") && screen.contains("\"result\""), "{screen}");
            assert_eq!(line("receipt ──") == line("envelope ──"), columns >= 100, "{screen}");
            assert!(layout.receipt.height >= 4 && layout.envelope.height >= 4, "{layout:?}");
            assert!(layout.list.height <= rows / 3, "a third at most");
            let _ = press(&mut app, &["Tab"]);
        }
        let _ = press(&mut app, &["Tab", "z"]);
        assert!(app.state.layout().list.is_empty() && app.state.layout().envelope.is_empty(), "zoomed");
    }
}

#[test]
fn the_list_has_its_columns_at_each_width() {
    let wide = ["CALL", "BY", "TOOL", "TASK", "TIME", "TOOK", "RESULT", "COMMAND"];
    for (columns, rows) in EVERY_SIZE {
        let mut app = console(snapshot(), (columns, rows));
        let _ = press(&mut app, &["3", "g"]);
        let screen = shown(&app);
        let head = screen.lines().nth(1).expect("a heading");
        let names: Vec<&str> = wide.into_iter().filter(|name| columns >= 100 || *name != "TIME").collect();
        let at: Vec<_> = names.iter().map(|name| head.find(name).expect(name)).collect();
        assert!(at.is_sorted(), "{head}");
        let _ = press(&mut app, &["G"]);
        let screen = shown(&app);
        let cmd = "cargo clippy --all-targets -- -D warnings";
        assert!(columns < 120 || screen.contains(cmd), "the whole command\n{screen}");
        assert!(screen.contains("✗ exit 101"), "{screen}");
    }
}

/// A batch of three, of which two failed; one of twelve that waits for approval; a call that was refused.
fn batches() -> Snapshot {
    let item = |index: usize, cmd: &str, status, exit| TaskView {
        item: Some(BatchItem { index, count: 3 }),
        call: 320,
        promoted: false,
        ..ended(task(20 + u32::try_from(index).expect("small"), cmd, 30, 30), status, Some(exit), 9)
    };
    let items = [
        item(1, "npm ci", TaskStatus::Completed, 0),
        item(2, "npm test", TaskStatus::Failed, 1),
        item(3, "npm publish", TaskStatus::Failed, 1),
    ];
    let of = |seq, tool: &str, status: Option<&str>, asked: &str, summary: &str, end| CallSummary {
        seq,
        at: ago(30),
        actor: record().actor,
        tool: tool.into(),
        status: status.map(Into::into),
        summary: summary.into(),
        asked: asked.into(),
        task: None,
        end,
        duration_ms: status.map(|_| 21),
        stream: None,
        native: None,
    };
    let cmds: Vec<String> = (1..=12).map(|at| format!("rm -r build/part-{at:02}")).collect();
    let cmds: Vec<&str> = cmds.iter().map(String::as_str).collect();
    let mut held = console_held::call(13, &cmds, HoldReason::Paused);
    held.call = 322;
    let calls = [
        of(
            320,
            "ExecCommandBatch",
            Some("success"),
            "npm ci; npm test; npm publish",
            "ExecCommandBatch completed 1/3 items",
            Some(CallEnd::Items { completed: 1, all: 3 }),
        ),
        of(
            321,
            "ExecCommand",
            Some("error"),
            "rm -r /",
            "The operator denied this: not on a Friday",
            Some(CallEnd::Denied("not on a Friday".into())),
        ),
        of(322, "ExecCommandBatch", None, &cmds.join("; "), &cmds.join("; "), None),
        of(
            323,
            "ExecCommand",
            Some("error"),
            "make all",
            "The working directory /nowhere cannot be entered.",
            Some(CallEnd::Refused(ErrorKind::WorkdirNotFound)),
        ),
        of(
            324,
            "ExecCommandBatch",
            Some("success"),
            "true; false",
            "ExecCommandBatch completed 1/2 items",
            Some(CallEnd::Items { completed: 1, all: 2 }),
        ),
    ];
    Snapshot {
        tasks: items.into_iter().map(Arc::new).collect(),
        calls: calls.into_iter().map(Arc::new).collect(),
        gate: GateView { paused: Some(ago(60)), held: vec![held], allowed: 0, turns: 0, rules: 0 },
        ..empty()
    }
}

fn row(app: &App, words: &str) -> String {
    let screen = shown(app);
    screen
        .lines()
        .find(|line| line.contains(words))
        .unwrap_or_else(|| panic!("no {words}:\n{screen}"))
        .to_owned()
}

#[test]
fn the_rows_of_batches_held_calls_and_refused_calls_show_their_state() {
    for size in EVERY_SIZE {
        let mut app = console(batches(), size);
        let _ = press(&mut app, &["3"]);
        let batch = row(&app, "   320 ");
        assert!(batch.contains("✗2 ✓1") && batch.contains("2/3") && batch.contains("npm test"), "{batch}");
        let held = row(&app, "   322 ");
        assert!(held.contains("◌ to approve") && held.contains("12 commands"), "{held}");
        let refused = row(&app, "   323 ");
        assert!(refused.contains("✗ workdir not found") && refused.contains("make all"), "{refused}");
        let denied = row(&app, "   321 ");
        assert!(denied.contains("■ denied: not on a Friday") && denied.contains("rm -r"), "{denied}");
        assert!(!denied.contains("The operator"), "said once: {denied}");
        let unlisted = row(&app, "   324 ");
        assert!(unlisted.contains("✗ 1/2") && unlisted.contains("true; false"), "{unlisted}");
    }
}

#[test]
fn a_batch_that_waits_has_a_row_among_the_tasks_which_leads_to_its_card() {
    for size in EVERY_SIZE {
        let mut app = console(batches(), size);
        let held = row(&app, " batch ");
        assert!(held.contains("◌ to approve") && held.contains("12 commands"), "{held}");
        assert!(held.contains("A decides"), "{held}");
        // It is selected as tasks are, takes no key of theirs, and Enter shows its card.
        let _ = press(&mut app, &["j", "k", "k", "k", "k"]);
        assert_eq!(app.state.batch_at_hand().map(|held| held.call), Some(322), "{}", shown(&app));
        let held = row(&app, " batch ");
        assert!(held.contains("▸ batch") && !held.contains(" decides"), "{held}");
        assert!(shown(&app).contains("Enter decide"), "{}", shown(&app));
        assert!(app.state.selected_task().is_none() && press(&mut app, &["s"]).is_empty());
        assert!(shown(&app).contains("before it is approved"), "{}", shown(&app));
        let _ = press(&mut app, &["3"]);
        assert_eq!(app.state.shown_call().map(|call| call.seq), Some(322));
        let _ = press(&mut app, &["1", "Enter"]);
        assert_eq!(app.held_call().map(|held| held.call), Some(322), "{}", shown(&app));
        let _ = press(&mut app, &["Esc", "j"]);
        assert!(
            app.state.selected_task().is_some() && app.state.batch_at_hand().is_none(),
            "{}",
            shown(&app)
        );
        let y = shown(&app).lines().position(|line| line.contains(" batch ")).expect("a row");
        let press = MouseKind::Press(MouseButton::Left);
        let at = MouseInput {
            kind: press,
            row: u16::try_from(y).expect("small"),
            col: 20,
            shift: false,
            alt: false,
            ctrl: false,
        };
        let _ = app.update(Msg::Mouse(at));
        assert_eq!(app.held_call().map(|held| held.call), Some(322), "{}", shown(&app));
    }
    let mut app = console(batches(), (80, 24));
    for (words, is_listed) in [("part-07", true), ("publish", false)] {
        let keys: Vec<String> = words.chars().map(String::from).collect();
        let _ = press(&mut app, &["Esc", "/"]);
        let _ = press(&mut app, &keys.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(shown(&app).contains("12 commands"), is_listed, "{words}\n{}", shown(&app));
        let _ = press(&mut app, &["Esc"]);
    }
}

/// Which task comes to hand by itself, takes no key before it has been seen.
#[test]
fn once_a_batch_is_decided_the_selection_follows_again() {
    let mut app = console(batches(), (100, 30));
    let _ = press(&mut app, &["j", "k", "k", "k", "k"]);
    assert!(app.state.batch_at_hand().is_some());
    let decided = Snapshot { gate: GateView::default(), ..batches() };
    let _ = app.update(Msg::Snapshot(Arc::new(decided)));
    assert!(app.state.batch_at_hand().is_none() && app.state.selected_task().is_some());
    assert!(!app.state.list.is_held);
    let _ = press(&mut app, &["r"]);
    assert!(shown(&app).contains("press again"), "{}", shown(&app));
}

#[test]
fn task_queries_of_a_script_are_listed_only_when_searched_for() {
    let mut state = snapshot();
    let last = state.calls.last().expect("a call").as_ref().clone();
    let poll = |seq, tool: &str| CallSummary {
        seq,
        actor: Actor::Cli,
        tool: tool.into(),
        status: Some("success".into()),
        ..last.clone()
    };
    state
        .calls
        .extend([poll(400, "TaskStatus"), poll(401, "TaskList"), poll(402, "ExecCommand")].map(Arc::new));
    state.calls.extend([poll(403, "TaskOutput")].map(Arc::new));
    let mut app = console(state, (120, 40));
    let _ = press(&mut app, &["3", "g"]);
    assert_eq!(app.state.shown_call().map(|call| call.seq), Some(402), "{}", shown(&app));
    assert!(!shown(&app).contains(" 401 "), "{}", shown(&app));
    let _ = press(&mut app, &["/", "T", "a", "s", "k", "L", "i", "s", "t", "Enter"]);
    assert_eq!(app.state.shown_call().map(|call| call.seq), Some(401), "{}", shown(&app));
}

#[test]
fn a_batch_is_found_by_each_of_its_commands_and_is_one_of_those_that_failed() {
    for (words, call) in [("publish", 320), ("part-07", 322), ("make", 323)] {
        let mut app = console(batches(), (80, 24));
        let keys: Vec<String> = words.chars().map(String::from).collect();
        let _ = press(&mut app, &["3", "/"]);
        let _ = press(&mut app, &keys.iter().map(String::as_str).collect::<Vec<_>>());
        let _ = press(&mut app, &["Enter"]);
        assert_eq!(app.state.shown_call().map(|call| call.seq), Some(call), "{words}");
    }
    let mut app = console(batches(), (80, 24));
    let _ = press(&mut app, &["3", "g", "E", "E"]);
    assert_eq!(app.state.shown_call().map(|call| call.seq), Some(320));
}

#[test]
fn an_item_of_a_batch_leads_to_its_batch() {
    let mut app = console(batches(), (80, 24));
    let _ = press(&mut app, &["g", "j"]);
    assert_eq!(app.state.selected_task().and_then(|task| task.item).map(|item| item.count), Some(3));
    let _ = press(&mut app, &["3"]);
    assert_eq!(app.state.shown_call().map(|call| call.seq), Some(320));
}

#[test]
fn an_old_call_stays_in_sight_above_its_texts() {
    for size in EVERY_SIZE {
        let mut app = console(snapshot(), size);
        let _ = press(&mut app, &["3", "G"]);
        let _ = app.update(Msg::Record(Arc::new(build())));
        let last = calls().first().expect("a call").seq;
        assert_eq!(app.state.shown_call().map(|call| call.seq), Some(last));
        assert!(row(&app, &format!("▸   {last}")).contains("npm run dev"), "{}", shown(&app));
        let (buffer, _) = draw(&app);
        assert_eq!(buffer.area.height, size.1);
    }
}

/// The call had been answered by then; the list says the words all the same.
#[test]
fn a_command_denied_after_its_call_was_answered_says_the_denial() {
    let mut denied = ended(task(19, "git push --force", 60, 5), TaskStatus::Cancelled, None, 5);
    denied.events.push(event(5, Actor::Operator, TaskFact::Denied("not now".into())));
    let mut state = snapshot();
    let mut call = state.calls.last().expect("a call").as_ref().clone();
    call.seq = 400;
    call.tool = "ExecCommand".into();
    (call.task, call.status) = (Some(denied.id.clone()), Some("success".into()));
    state.tasks.push(Arc::new(denied));
    state.calls.push(Arc::new(call));
    let mut app = console(state, (80, 24));
    let _ = press(&mut app, &["3", "g"]);
    assert!(row(&app, "   400 ").contains("■ denied: not now"), "{}", shown(&app));
}
