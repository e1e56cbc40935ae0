//! What the console looks like: every screen at each of the sizes, as a person sees it.

use std::sync::Arc;

use jiff::SignedDuration;
use pilothouse::console::app::App;
use pilothouse::console::msg::{Effect, Msg};
use pilothouse::console::theme::Colours;
use pilothouse::envelope::Actor;
use pilothouse::link::{Act, Request};
use pilothouse::model::{CallSummary, StreamLine, StreamView, Subject};
use pilothouse::process::{ProcessUsage, Usage};
use pilothouse::runtime::TaskUsage;

use crate::console_fixture::{
    ALL_SIZES, SIZES, build, console, draw, empty, id, now, press, record, refusal, select, setup, shown,
    snapshot,
};

fn at_each_size(name: &str, prepare: impl Fn(&mut App)) {
    for (columns, rows) in SIZES {
        let mut app = console(snapshot(), (columns, rows));
        prepare(&mut app);
        insta::assert_snapshot!(format!("{name}_{columns}x{rows}"), shown(&app));
    }
}

#[test]
fn the_task_list_matches_its_snapshots() {
    at_each_size("tasks", |app| {
        let _ = app.update(Msg::Record(Arc::new(refusal())));
        select(app, 7);
    });
}

#[test]
fn the_focus_screen_matches_its_snapshots() {
    at_each_size("focus", |app| {
        select(app, 6);
        let _ = press(app, &["2"]);
    });
}

#[test]
fn typing_into_a_task_matches_its_snapshots() {
    at_each_size("typing", |app| {
        select(app, 7);
        let _ = press(app, &["Enter"]);
    });
}

#[test]
fn the_screen_of_calls_matches_its_snapshots() {
    at_each_size("receipts", |app| {
        let _ = press(app, &["3", "g", "j", "j", "j"]);
        let _ = app.update(Msg::Record(Arc::new(record())));
    });
}

#[test]
fn a_call_compacted_to_a_budget_matches_its_snapshots() {
    at_each_size("budget", |app| {
        let _ = press(app, &["3", "g", "j", "j", "j", "j", "j"]);
        let _ = app.update(Msg::Record(Arc::new(build())));
        let _ = press(app, &["Tab", "-", "-", "-", "-", "-", "-"]);
    });
    let mut app = console(snapshot(), (80, 24));
    let _ = press(&mut app, &["3", "g", "j", "j", "j", "j", "j"]);
    let _ = app.update(Msg::Record(Arc::new(build())));
    let _ = press(&mut app, &["Tab", "Tab", "-", "-", "-", "-", "-", "-", "-", "-", "-"]);
    insta::assert_snapshot!("budget_envelope_80x24", shown(&app));
}

#[test]
fn a_budget_turns_down_and_up_and_off() {
    let mut app = console(snapshot(), (120, 40));
    let _ = press(&mut app, &["3", "g", "j", "j", "j", "j", "j"]);
    let _ = app.update(Msg::Record(Arc::new(build())));
    let whole = shown(&app);
    let sizes =
        |app: &App| app.receipts.sheet.as_ref().map(|sheet| (sheet.receipt_chars, sheet.envelope_chars));
    let mut before = sizes(&app).expect("a sheet");
    for _ in 0..30 {
        let _ = press(&mut app, &["-"]);
        let now = sizes(&app).expect("a sheet");
        assert!(now.0 <= before.0 + 20 && now.1 <= before.1, "{before:?} then {now:?}");
        before = now;
    }
    let least = shown(&app);
    assert!(least.contains("✗") && least.contains("✓"), "{least}");
    for _ in 0..60 {
        let _ = press(&mut app, &["+"]);
    }
    assert_eq!(app.state.calls.budget, None, "turned up to all of it");
    assert!(shown(&app).contains("larger-budget: all of it is shown"), "and it says so");
    app.state.toasts.clear();
    assert_eq!(shown(&app), whole);
    let _ = press(&mut app, &["-", "0"]);
    assert_eq!(shown(&app), whole);
}

#[test]
fn a_secret_in_a_command_is_on_no_screen() {
    let mut state = snapshot();
    for task in &mut state.tasks {
        Arc::make_mut(task).cmd = "API_TOKEN=hunter2 run --password hunter2 https://me:hunter2@host".into();
    }
    for (columns, rows) in ALL_SIZES {
        let mut app = console(state.clone(), (columns, rows));
        for keys in [&["1"][..], &["2"], &["s"], &["Esc"], &["q"], &["Esc"], &["4"], &["3"]] {
            let _ = press(&mut app, keys);
            let screen = shown(&app);
            assert!(!screen.contains("hunter2"), "{keys:?} at {columns}x{rows}\n{screen}");
        }
    }
}

#[test]
fn a_running_stream_of_commands_matches_its_snapshot() {
    let line = |line, cmd: &str, note: &str, state: Option<&str>, duration_ms| StreamLine {
        line,
        cmd: cmd.into(),
        note: note.into(),
        state: state.map(Into::into),
        duration_ms,
    };
    let stream = StreamView {
        source: "plan.jsonl".into(),
        done: 3,
        failed: 1,
        lines: vec![
            line(1, "task.list", "", Some("ok"), Some(2)),
            line(3, "command.run", "cargo fmt --check", Some("CHILD_EXIT_NONZERO"), Some(812)),
            line(4, "", "", Some("DISPATCH_PARSE_ERROR"), Some(0)),
            line(5, "command.run", "cargo test", None, None),
        ],
        ..StreamView::default()
    };
    let mut state = snapshot();
    let last = state.calls.last().expect("a call").as_ref().clone();
    state.calls.push(Arc::new(CallSummary {
        seq: last.seq + 1,
        actor: Actor::Cli,
        tool: "exec".into(),
        task: None,
        summary: stream.progress_line(),
        asked: String::new(),
        stream: Some(stream),
        ..last
    }));
    let mut app = console(state, (120, 40));
    let _ = press(&mut app, &["3"]);
    insta::assert_snapshot!("stream_120x40", shown(&app));
}

#[test]
fn a_narrow_screen_shows_receipt_and_envelope_one_at_a_time() {
    let mut app = console(snapshot(), (80, 24));
    let _ = press(&mut app, &["3", "g", "j", "j", "j", "Tab"]);
    let _ = app.update(Msg::Record(Arc::new(record())));
    insta::assert_snapshot!("receipt_80x24", shown(&app));
    let _ = press(&mut app, &["Tab"]);
    insta::assert_snapshot!("envelope_80x24", shown(&app));
}

#[test]
fn the_metrics_screen_matches_its_snapshots() {
    at_each_size("metrics", |app| drop(press(app, &["4"])));
}

#[test]
fn the_help_screen_matches_its_snapshots() {
    at_each_size("help", |app| drop(press(app, &["?"])));
}

#[test]
fn the_stop_dialog_matches_its_snapshots() {
    at_each_size("stop", |app| {
        select(app, 6);
        let _ = press(app, &["s"]);
    });
}

#[test]
fn a_message_to_an_agent_with_a_stop_matches_its_snapshots() {
    at_each_size("tell", |app| {
        select(app, 6);
        let _ = press(app, &["s", "!", "u", "s", "e", "Space", "u", "v"]);
    });
}

#[test]
fn the_quit_dialog_matches_its_snapshots() {
    at_each_size("quit", |app| drop(press(app, &["q"])));
}

#[test]
fn a_console_without_tasks_matches_its_snapshots() {
    for (columns, rows) in SIZES {
        let app = console(empty(), (columns, rows));
        insta::assert_snapshot!(format!("empty_{columns}x{rows}"), shown(&app));
    }
}

#[test]
fn the_line_and_command_composers_match_their_snapshots() {
    let mut app = console(snapshot(), (80, 24));
    select(&mut app, 7);
    let _ = press(&mut app, &["i", "d", "e", "m", "o"]);
    insta::assert_snapshot!("line_80x24", shown(&app));
    let _ = press(&mut app, &["Esc", "o", "m", "a", "k", "e", "Space", "a", "l", "l"]);
    insta::assert_snapshot!("start_80x24", shown(&app));
}

#[test]
fn a_search_in_the_output_matches_its_snapshots() {
    at_each_size("search", |app| {
        select(app, 6);
        let _ = press(app, &["2", "/", "c", "a", "s", "e", "_"]);
    });
}

#[test]
fn small_screens_match_their_snapshots() {
    for (columns, rows) in [(59, 14), (40, 8), (39, 8), (9, 3), (1, 1)] {
        let mut app = console(snapshot(), (columns, rows));
        select(&mut app, 7);
        insta::assert_snapshot!(format!("small_{columns}x{rows}"), shown(&app));
    }
}

#[test]
fn the_default_theme_matches_its_snapshot() {
    let mut app = console(snapshot(), (80, 24));
    select(&mut app, 7);
    insta::assert_snapshot!("style_colour_80x24", format!("{:?}", draw(&app).0));
}

#[test]
fn a_screen_without_colour_matches_its_snapshot() {
    let mut app = App::new(setup(Colours::None), Arc::new(snapshot()), (80, 24), now());
    select(&mut app, 7);
    insta::assert_snapshot!("style_plain_80x24", format!("{:?}", draw(&app).0));
}

#[test]
fn the_heads_of_the_calls_stand_over_their_columns() {
    for columns in [80, 100, 120, 200] {
        let mut app = console(snapshot(), (columns, 60));
        let _ = press(&mut app, &["3", "G"]);
        let text = shown(&app);
        let rows: Vec<Vec<char>> = text.lines().map(|line| line.chars().collect()).collect();
        let at = |row: &[char], word: &str| {
            let word: Vec<char> = word.chars().collect();
            row.windows(word.len()).position(|part| *part == word[..])
        };
        let row = rows.iter().skip(2).find(|row| at(row, "303").is_some()).expect("the oldest call");
        let by = "claude";
        for (head, cell) in [("TIME", "11:33:29"), ("BY", by), ("TOOL", "ExecCommand"), ("TASK", "t03")] {
            let there = at(&rows[1], head);
            assert!(there.is_none() || there == at(row, cell), "{head} at {columns} columns\n{text}");
        }
        assert_eq!(at(&rows[1], "CALL").map(|at| at + 4), at(row, "303").map(|at| at + 3), "CALL ends there");
    }
}

/// The processes of a task, one of them with control characters in its command line.
fn processes(cpu_ms: u64) -> Vec<ProcessUsage> {
    let process = |pid, depth, command: &str, share: u64| ProcessUsage {
        pid,
        depth,
        command: command.to_owned(),
        cpu_ms: cpu_ms * share,
        memory_bytes: share << 24,
    };
    vec![
        process(4242, 0, "npm init", 1),
        process(4250, 1, "node /usr/lib/node_modules/npm/bin/npm-cli.js init", 5),
        process(4251, 2, "sh -c \u{1b}[31mred", 0),
    ]
}

/// A console that has measured its tasks twice, a second apart.
fn measured(app: &mut App) {
    let seen = |app: &mut App, cpu_ms: u64| {
        let tree = |number: u64| Usage { cpu_ms: cpu_ms * number, memory_bytes: number << 26, processes: 2 };
        let usage = |number: u32| TaskUsage {
            task: id(number),
            tree: (number != 5).then(|| tree(u64::from(number))),
            typed_bytes: u64::from(number) * 10,
            processes: if number == 7 { processes(cpu_ms) } else { Vec::new() },
        };
        let _ = app.update(Msg::Usage([3, 5, 6, 7, 8].map(usage).into()));
    };
    seen(app, 0);
    let later = app.state.clock.now + SignedDuration::from_secs(1);
    let _ = app.update(Msg::Tick(later));
    seen(app, 130);
}

#[test]
fn the_resource_use_of_tasks_is_shown_and_an_unknown_value_is_a_dot() {
    for (view, key) in [("tasks", "1"), ("metrics", "4")] {
        at_each_size(&format!("used_{view}"), |app| {
            let _ = press(app, &[key]);
            measured(app);
        });
    }
}

#[test]
fn tasks_are_looked_at_while_they_are_on_screen_and_nothing_new_draws_nothing() {
    let mut app = console(snapshot(), (80, 24));
    let looked_at = |effects: Vec<Effect>| {
        let look = effects.into_iter().find_map(|effect| {
            if let Effect::Ask(Request { subject: Subject::Tasks(tasks), act: Act::Usage(_) }) = effect {
                Some(tasks)
            } else {
                None
            }
        });
        look.unwrap_or_default().len()
    };
    let _ = press(&mut app, &["3"]);
    assert_eq!(
        (app.state.view.usage.next(), looked_at(app.update(Msg::UsageDue))),
        (None, 0),
        "receipts show none of it"
    );
    let _ = press(&mut app, &["1"]);
    assert!(looked_at(app.update(Msg::UsageDue)) > 0);
    measured(&mut app);
    app.mark_drawn();
    let later = app.state.clock.now + SignedDuration::from_secs(1);
    let _ = app.update(Msg::Tick(later));
    let blind = TaskUsage { task: id(5), tree: None, typed_bytes: 50, processes: Vec::new() };
    let _ = app.update(Msg::Usage(vec![blind]));
    assert!(!app.state.is_dirty());
}
