//! The task list: found by words, by agent and by connection; sorted, grouped, with other columns; batches in one
//! row.

use std::sync::Arc;

use pilothouse::console::app::App;
use pilothouse::console::keys::action::Action;
use pilothouse::console::msg::{Anchor, Effect, Msg, PageView};
use pilothouse::console::state::arrangement::Arrangement;
use pilothouse::console::state::focus::Mode;
use pilothouse::console::state::listing::columns::ListColumn;
use pilothouse::console::state::listing::filter::{AgentFilter, Filter};
use pilothouse::console::state::listing::rows::{Grouping, Sort};
use pilothouse::console::state::search::FoundLine;
use pilothouse::console::theme::Role;
use pilothouse::envelope::Actor;
use pilothouse::link::{Act, Request};
use pilothouse::model::{
    AgentView, BatchItem, ChangedFile, ChangesReport, Snapshot, Subject, TaskStatus, TaskView, TreeChanges,
};
use pilothouse::terminal::Size;

use crate::console_fixture::{
    ALL_SIZES, SIZES, ago, console, draw, ended, id, obstacle, picture, press, select, shown, snapshot, task,
};

fn numbers(app: &App) -> Vec<u32> {
    app.state.tasks().iter().map(|task| task.number).collect()
}

/// The list as it is on screen, without its header.
fn listed(app: &App) -> Vec<String> {
    let rows = usize::from(app.state.layout().list.height);
    shown(app).lines().skip(2).take(rows - 1).map(|row| row.trim_end().to_owned()).collect()
}

fn by(label: &str, task: TaskView) -> TaskView {
    TaskView { started_by: Actor::Agent(label.into()), ..task }
}

fn connected(label: &str) -> AgentView {
    AgentView {
        label: label.into(),
        client: "claude-code 2".into(),
        pid: 7,
        connected: true,
        ..AgentView::default()
    }
}

/// Two connections of one agent, another agent and a person.
fn several() -> Snapshot {
    let tasks = vec![
        by("claude", task(1, "cargo test", 100, 40)),
        by("claude#2", ended(task(2, "cargo clippy", 90, 60), TaskStatus::Failed, Some(101), 60)),
        by("codex", task(3, "npm run dev", 80, 2)),
        TaskView { started_by: Actor::Operator, ..task(4, "htop", 70, 5) },
        by("claude#2", task(5, "make Docs", 60, 9)),
    ];
    Snapshot {
        tasks: tasks.into_iter().map(Arc::new).collect(),
        agents: vec![connected("claude"), connected("claude#2"), connected("codex")],
        ..snapshot()
    }
}

#[test]
fn words_list_some_tasks_as_they_are_written_and_esc_lists_all() {
    let mut app = console(several(), (100, 30));
    let _ = press(&mut app, &["/", "c", "a", "r"]);
    assert_eq!(numbers(&app), [1, 2]);
    assert!(shown(&app).contains("\"car\"  2 of 5"), "{}", shown(&app));
    assert_eq!(app.state.selected_task().map(|task| task.number), Some(1), "the first that matches");
    let _ = press(&mut app, &["Down"]);
    assert_eq!(app.state.selected_task().map(|task| task.number), Some(2), "arrows go on through the list");
    let _ = press(&mut app, &["Enter", "s"]);
    assert!(shown(&app).contains("\"car\"  2 of 5"), "{}", shown(&app));
    assert!(matches!(app.state.focus.mode, Mode::Observe));
    let _ = press(&mut app, &["Esc", "Esc"]);
    assert_eq!(numbers(&app).len(), 5);
    for (words, found) in [
        ("t04", vec![4]),
        ("claude cargo", vec![1, 2]),
        ("CARGO", vec![]),
        ("docs", vec![5]),
        ("Docs", vec![5]),
        ("exit 101", vec![2]),
        ("demo-repo running", vec![5, 4, 3, 1]),
        ("failed", vec![2]),
        ("you", vec![4]),
    ] {
        let mut app = console(several(), (100, 30));
        let keys: Vec<String> =
            words.chars().map(|c| if c == ' ' { "Space".to_owned() } else { c.to_string() }).collect();
        let keys: Vec<&str> = ["/"].into_iter().chain(keys.iter().map(String::as_str)).collect();
        let _ = press(&mut app, &keys);
        let says = format!("\"{words}\"  {} of 5", found.len());
        assert!(shown(&app).contains(&says), "{says}\n{}", shown(&app));
        if !found.is_empty() {
            assert_eq!(numbers(&app), found, "{words}");
        }
        let _ = press(&mut app, &["Esc"]);
        assert_eq!(numbers(&app).len(), 5, "{words}");
    }
}

#[test]
fn the_filter_key_searches_the_output_while_keys_go_to_the_pane() {
    let mut app = console(several(), (100, 30));
    let _ = press(&mut app, &["Tab"]);
    assert!(shown(&app).lines().last().is_some_and(|row| row.contains("/ search")), "{}", shown(&app));
    let _ = press(&mut app, &["/"]);
    assert!(shown(&app).contains(" search t05 "), "{}", shown(&app));
    let _ = press(&mut app, &["Esc", "Esc", "/"]);
    assert!(shown(&app).contains(" list tasks with "), "{}", shown(&app));
}

#[test]
fn connections_of_one_agent_are_told_apart_by_number_and_colour() {
    let app = console(several(), (100, 30));
    let rows = listed(&app);
    for (number, who) in [("t01", "claude "), ("t02", "claude#2 "), ("t03", "codex "), ("t05", "claude#2 ")] {
        let row = rows.iter().find(|row| row.contains(number)).expect("a row");
        assert!(row.contains(who), "{row}");
    }
    let (buffer, _) = draw(&app);
    let colour = |number: &str| {
        let y = shown(&app).lines().position(|row| row.contains(&format!(" {number} "))).expect("a row");
        buffer[(24, u16::try_from(y).expect("small"))].fg
    };
    let theme = &app.state.setup.theme;
    assert_eq!(colour("t01"), theme.style(Role::Agent1).fg.expect("a colour"));
    assert_eq!(colour("t02"), theme.style(Role::Agent2).fg.expect("a colour"));
    assert_eq!(colour("t03"), theme.style(Role::Agent3).fg.expect("a colour"));
}

#[test]
fn the_filters_offer_the_agents_there_are_and_each_connection() {
    let mut app = console(several(), (100, 30));
    let _ = press(&mut app, &["f"]);
    let screen = shown(&app);
    for row in ["claude      3 tasks, all its connections", "claude#2    2 tasks", "codex       1 task"] {
        assert!(screen.contains(row), "{row}\n{screen}");
    }
    let _ = press(&mut app, &["1"]);
    assert_eq!(app.state.list.filters.whose, Some(AgentFilter::Agent("claude".into())));
    assert_eq!(numbers(&app), [5, 1, 2]);
    assert!(shown(&app).contains("claude  3 of 5"), "{}", shown(&app));
    let _ = press(&mut app, &["f", "3"]);
    assert_eq!(numbers(&app), [5, 2]);
    let _ = press(&mut app, &["f", "f"]);
    assert_eq!(numbers(&app), [2], "failed, of that connection");
    assert!(shown(&app).contains("failed  claude#2  1 of 5"), "{}", shown(&app));
    let _ = press(&mut app, &["f", "a"]);
    assert_eq!((app.state.list.filters.state, numbers(&app).len()), (Filter::All, 5));
}

#[test]
fn the_list_is_sorted_as_chosen() {
    let mut app = console(several(), (100, 30));
    for (letter, sort, order) in [
        ("o", Sort::Oldest, [1, 3, 4, 5, 2]),
        ("s", Sort::State, [5, 4, 3, 1, 2]),
        ("i", Sort::Idle, [1, 5, 4, 3, 2]),
        ("a", Sort::Agent, [1, 5, 2, 3, 4]),
        ("d", Sort::Duration, [1, 3, 4, 5, 2]),
        ("n", Sort::Newest, [5, 4, 3, 1, 2]),
    ] {
        let _ = press(&mut app, &["O", letter]);
        assert_eq!(app.state.list.listing.sort, sort);
        assert_eq!(numbers(&app), order, "{sort:?}");
        assert_eq!(app.state.selected_task().map(|task| task.number), Some(5), "the selection stays");
    }
    let _ = press(&mut app, &["O", "o", "g"]);
    assert_eq!(app.state.selected_task().map(|task| task.number), Some(1));
    let _ = press(&mut app, &["j"]);
    assert_eq!(app.state.selected_task().map(|task| task.number), Some(3));
}

#[test]
fn groups_have_heads_with_counts_and_are_kept_for_the_workspace() {
    for size @ (columns, rows) in ALL_SIZES {
        let mut app = console(several(), size);
        let _ = press(&mut app, &["O", "2"]);
        assert_eq!(numbers(&app), [1, 5, 2, 3, 4], "{size:?}");
        if SIZES.contains(&size) {
            insta::assert_snapshot!(format!("grouped_{columns}x{rows}"), shown(&app));
        }
        let _ = press(&mut app, &["g", "j"]);
        assert_eq!(app.state.selected_task().map(|task| task.number), Some(5), "heads are passed over");
        let kept = serde_json::to_string(&Arrangement::of(&app.state)).expect("written");
        let mut again = console(several(), size);
        serde_json::from_str::<Arrangement>(&kept).expect("read").apply(&mut again.state);
        assert_eq!((again.state.list.listing.groups, numbers(&again)), (Grouping::Session, numbers(&app)));
        let _ = press(&mut app, &["O", "1"]);
        assert!(shown(&app).contains(" claude  3 tasks ●2 ✗1"), "{}", shown(&app));
    }
}

#[test]
fn the_selection_stays_in_sight_in_a_grouped_list_longer_than_the_screen() {
    let mut long = several();
    long.tasks.extend((11..=60).map(|number| {
        let label = ["claude", "claude#2", "codex"][number as usize % 3];
        Arc::new(by(label, task(number, &format!("make {number}"), 10, 1)))
    }));
    for size in [(80, 24), (100, 30), (160, 50)] {
        let mut app = console(long.clone(), size);
        let _ = press(&mut app, &["O", "2", "g"]);
        for _ in 0..app.state.tasks().len() {
            let number = app.state.selected_task().expect("one").number;
            let name = format!(" t{number:02} ");
            assert!(listed(&app).iter().any(|row| row.contains(&name)), "{size:?} {name}\n{}", shown(&app));
            let _ = press(&mut app, &["j"]);
        }
        let _ = press(&mut app, &["g"]);
        assert!(listed(&app)[0].starts_with(" claude  "), "{}", shown(&app));
    }
}

#[test]
fn columns_are_shown_as_chosen() {
    let mut app = console(several(), (120, 40));
    let _ = press(&mut app, &["O", "e", "x", "i", "t", "Enter"]);
    assert!(shown(&app).contains("shown: its exit code or signal"), "the list stays open\n{}", shown(&app));
    let _ = press(&mut app, &["Esc", "O", "c", "o", "l", "Space", "d", "i", "r", "Enter"]);
    let _ = press(&mut app, &["Esc", "O", "c", "p", "u", "Enter", "Esc"]);
    let head = shown(&app).lines().nth(1).expect("a head").to_owned();
    assert!(head.contains("EXIT") && head.contains("DIRECTORY") && !head.contains("CPU"), "{head}");
    let row = listed(&app).into_iter().find(|row| row.contains("t02")).expect("a row");
    assert!(row.contains("     101  .   "), "{row}");
    assert_eq!(app.state.list.listing.columns.len(), 5);
    assert!(app.state.list.listing.columns.contains(&ListColumn::Exit));
}

/// A batch of four whose third item failed and whose last one is running, and another task.
fn batch() -> Snapshot {
    let item = |index: usize, task: TaskView| TaskView {
        item: Some(BatchItem { index, count: 4 }),
        call: 311,
        ..task
    };
    let tasks = vec![
        task(1, "npm run dev", 100, 1),
        item(1, ended(task(2, "cargo fmt", 50, 49), TaskStatus::Completed, Some(0), 49)),
        item(2, ended(task(3, "cargo check", 48, 40), TaskStatus::Completed, Some(0), 40)),
        item(3, ended(task(4, "cargo clippy", 39, 30), TaskStatus::Failed, Some(101), 30)),
        item(4, task(5, "cargo test", 29, 1)),
    ];
    Snapshot { tasks: tasks.into_iter().map(Arc::new).collect(), ..snapshot() }
}

#[test]
fn a_batch_is_one_row_that_unfolds() {
    let mut app = console(batch(), (100, 30));
    assert_eq!(numbers(&app), [5, 1], "its row shows the one that runs");
    assert!(shown(&app).contains("+ ●1 ✗1 ✓2  4/4  cargo test"), "{}", shown(&app));
    assert_eq!(obstacle(&app, Action::Fold), None);
    let _ = press(&mut app, &["Space"]);
    assert_eq!(numbers(&app), [5, 1, 4, 3, 2]);
    let _ = press(&mut app, &["G", "Space"]);
    assert_eq!(numbers(&app), [2, 1], "folded, its row shows the one looked at");
    assert_eq!(app.state.selected_task().map(|task| task.number), Some(2));
    let _ = press(&mut app, &["E"]);
    assert_eq!(
        app.state.selected_task().map(|task| task.number),
        Some(4),
        "what failed is found in a folded batch"
    );
    assert_eq!(numbers(&app).len(), 2);
    let _ = press(&mut app, &["g"]);
    assert!(numbers(&app).contains(&1));
    select(&mut app, 1);
    assert_eq!(obstacle(&app, Action::Fold).as_deref(), Some("the task is of no batch"));
    let _ = press(&mut app, &["f", "f"]);
    assert_eq!(
        app.state.tasks().iter().filter(|task| task.id == id(4)).count(),
        1,
        "one that is left is no batch"
    );
}

#[test]
fn the_usual_duration_of_a_command_is_the_median_of_at_least_three_successful_runs() {
    let run = |number: u32, seconds: i64, status, exit| {
        ended(task(number, "make", seconds + 5, 5), status, Some(exit), 5)
    };
    let mut tasks = vec![
        run(1, 40, TaskStatus::Completed, 0),
        run(2, 41, TaskStatus::Completed, 0),
        run(3, 900, TaskStatus::Failed, 2),
        task(9, "make", 3, 1),
    ];
    let mut app = console(with(tasks.clone()), (120, 40));
    select(&mut app, 9);
    assert!(!shown(&app).contains("usually"), "two runs\n{}", shown(&app));
    tasks.push(run(4, 90, TaskStatus::Completed, 0));
    let _ = app.update(Msg::Snapshot(Arc::new(with(tasks.clone()))));
    let row = listed(&app).into_iter().find(|row| row.contains("t09")).expect("a row");
    assert!(row.ends_with("make  usually 41.0 s"), "{row}");
    let _ = press(&mut app, &["w"]);
    assert!(shown(&app).contains("usually   41.0 s: the median of 3 earlier runs that"), "{}", shown(&app));
    let _ = press(&mut app, &["Esc", "2"]);
    assert!(shown(&app).lines().any(|row| row.starts_with("── ") && row.contains("usually 41.0 s")));
    let earlier = [("make".to_owned(), [3_000, 3_000, 3_000, 3_000].into_iter().collect())].into();
    let _ = app.update(Msg::Durations(earlier));
    let _ = press(&mut app, &["w"]);
    assert!(shown(&app).contains("usually   3.0 s: the median of 7 earlier runs"), "{}", shown(&app));
    let _ = press(&mut app, &["Esc", "1"]);
    select(&mut app, 4);
    let _ = press(&mut app, &["w"]);
    assert!(shown(&app).contains("the median of 6 earlier runs"), "its own is none\n{}", shown(&app));
}

fn with(tasks: Vec<TaskView>) -> Snapshot {
    Snapshot { tasks: tasks.into_iter().map(Arc::new).collect(), ..snapshot() }
}

#[test]
fn a_text_is_looked_for_in_all_tasks_and_gone_through_from_task_to_task() {
    let mut app = console(snapshot(), (120, 40));
    let effects = press(&mut app, &["\\", "p", "a", "n", "i", "c", "Enter"]);
    let asked = |effects: &[Effect]| -> Vec<(u64, String, usize)> {
        let asked = effects.iter().filter_map(|effect| match effect {
            Effect::SearchAll(ticket, needle, tasks) => Some((*ticket, needle.clone(), tasks.len())),
            _ => None,
        });
        asked.collect()
    };
    assert_eq!(asked(&effects), [(1, "panic".to_owned(), 8)]);
    let place =
        |number: u32, line: u64| FoundLine { task: id(number), line, text: format!("panic in {line}") };
    assert_eq!(
        asked(&app.update(Msg::FoundAll(1, vec![place(6, 90), place(6, 12)], Vec::new()))),
        [(1, "panic".into(), 1)]
    );
    assert_eq!(asked(&app.update(Msg::FoundAll(1, vec![place(4, 7)], Vec::new()))), []);
    insta::assert_snapshot!("found_in_all_tasks_120x40", shown(&app));
    assert!(app.update(Msg::FoundAll(0, vec![place(3, 1)], Vec::new())).is_empty(), "of an older search");
    let pages = |effects: &[Effect]| -> Vec<(u32, Anchor)> {
        let pages = effects.iter().filter_map(|effect| match effect {
            Effect::Page { task, anchor, .. } => Some((app_number(task), *anchor)),
            _ => None,
        });
        pages.collect()
    };
    assert_eq!(pages(&press(&mut app, &["Down", "Enter"])), [(6, Anchor::Around(12))]);
    assert!(shown(&app).contains("2 of 3 in all tasks  panic"), "{}", shown(&app));
    assert!(pages(&press(&mut app, &["n"])).contains(&(4, Anchor::Around(7))));
    assert_eq!(app.state.selected_task().map(|task| task.number), Some(4));
    let _ = press(&mut app, &["n"]);
    assert!(shown(&app).contains("this is the last place"), "{}", shown(&app));
    let _ = press(&mut app, &["N", "N"]);
    assert_eq!(app.state.selected_task().map(|task| task.number), Some(6));
    assert!(shown(&app).contains("1 of 3 in all tasks"), "{}", shown(&app));
    let _ = press(&mut app, &["Esc", "Esc"]);
    assert!(app.state.reading.search.is_none() && app.state.reading.scroll.is_none());
}

fn app_number(task: &pilothouse::envelope::TaskId) -> u32 {
    task.as_str().trim_start_matches("task_").trim_start_matches('0').parse().expect("a number")
}

#[test]
fn the_time_stands_beside_each_line_of_the_pane() {
    let mut app = console(snapshot(), (100, 30));
    select(&mut app, 6);
    let _ = press(&mut app, &["z"]);
    let stamped = |effects: &[Effect]| {
        let is_it = |effect: &&Effect| matches!(effect, Effect::Page { anchor: Anchor::Stamped, .. });
        effects.iter().filter(is_it).count()
    };
    assert_eq!(stamped(&press(&mut app, &["T"])), 1);
    assert_eq!(stamped(&press(&mut app, &["F1", "F1"])), 0, "one read at a time");
    let page = |anchor| PageView {
        anchor,
        picture: picture(Size::nearest(100, 3), "first line\r\nsecond line\r\nthird"),
        rows: vec![7, 8, 8],
        times: vec![Some(ago(31)), Some(ago(2)), Some(ago(2))],
        first_line: 7,
        next_line: 9,
        lines: 9,
    };
    let _ = app.update(Msg::Page(id(6), page(Anchor::Stamped)));
    let has = |app: &App, row: &str| shown(app).lines().any(|shown| shown.trim_end() == row);
    assert!(has(&app, "12:04:00 first line") && has(&app, "12:04:29 second line"), "{}", shown(&app));
    assert!(has(&app, "         third"), "a line has one time\n{}", shown(&app));
    let effects = app.update(Msg::Snapshot(Arc::new({
        let mut next = snapshot();
        Arc::make_mut(&mut next.tasks[5]).output.bytes += 1;
        next
    })));
    assert_eq!(stamped(&effects), 1, "there is more to show");
    let _ = press(&mut app, &["C-y"]);
    let _ = app.update(Msg::Page(id(6), page(Anchor::LineAboveTail)));
    assert!(has(&app, "12:04:00 first line"), "scrolled back too\n{}", shown(&app));
    let _ = press(&mut app, &["Esc", "T"]);
    assert!(!shown(&app).contains("12:04:29"), "{}", shown(&app));
    let _ = press(&mut app, &["T"]);
    let vim = picture(Size::nearest(80, 20), "\x1b[?1049ha whole screen");
    let _ = app.update(Msg::Page(id(6), page(Anchor::Stamped)));
    let _ = app.update(Msg::Picture(id(6), vim));
    assert!(has(&app, "a whole screen"), "{}", shown(&app));
}

#[test]
fn changes_are_requested_since_a_task_began_or_since_the_first_command_of_an_agent() {
    let mut state = several();
    state.agents = vec![AgentView { first_call: Some(ago(60)), ..connected("claude") }];
    let asked = |effects: &[Effect]| -> Vec<Subject> {
        let since = effects.iter().filter_map(|effect| match effect {
            Effect::Ask(Request { subject: since, act: Act::Changes }) => Some(since.clone()),
            _ => None,
        });
        since.collect()
    };
    let mut app = console(state.clone(), (100, 30));
    select(&mut app, 1);
    assert_eq!(asked(&press(&mut app, &["M"])), []);
    assert!(shown(&app).contains("what differs in this tree since"), "{}", shown(&app));
    assert_eq!(asked(&press(&mut app, &["Enter"])), [Subject::Task(id(1))]);
    let _ = press(&mut app, &["M"]);
    let of_agent = asked(&press(&mut app, &["c", "l", "a", "u", "d", "e", "Enter"]));
    assert_eq!(of_agent, [Subject::Agent("claude".into())]);
    state.agents = Vec::new();
    let mut app = console(state, (100, 30));
    select(&mut app, 4);
    assert_eq!(asked(&press(&mut app, &["M"])), [Subject::Task(id(4))]);
    let none = console(Snapshot { agents: Vec::new(), tasks: Vec::new(), ..several() }, (100, 30));
    assert_eq!(obstacle(&none, Action::Changes).as_deref(), Some("no command has run yet"));
}

#[test]
fn in_a_recording_nothing_is_offered_that_only_a_runtime_answers() {
    let mut state = several();
    for task in &mut state.tasks {
        let task = Arc::make_mut(task);
        task.changes = Some(TreeChanges { added: 1, ..TreeChanges::default() });
    }
    let ended = state.tasks.iter().find(|task| task.ended.is_some()).expect("one").number;
    let mut app = console(state, (100, 30));
    select(&mut app, ended);
    for key in ["b", "M"] {
        assert!(!press(&mut app, &[key]).is_empty(), "{key} asks the runtime");
        let _ = press(&mut app, &["Esc"]);
    }
    app.state.setup.recording = Some("monday".into());
    for key in ["b", "M", "s", "D", "r", "o", "p"] {
        assert!(press(&mut app, &[key]).is_empty(), "{key}");
        assert!(shown(&app).contains("recording"), "{key}: {}", shown(&app));
    }
}

#[test]
fn changed_files_are_listed_and_each_is_shown_with_the_lines_around_its_changes() {
    let mut state = several();
    let changes = TreeChanges {
        added: 1,
        modified: 1,
        deleted: 1,
        by_git: 2,
        undone: false,
        shared_with: vec![id(2)],
        together: Vec::new(),
        incomplete: Some("ignore rules have changed".into()),
    };
    for task in &mut state.tasks {
        let task = std::sync::Arc::make_mut(task);
        task.changes = (task.id == id(4)).then(|| changes.clone());
    }
    let file = |path: &str, before: Option<&str>, after: Option<&str>| ChangedFile {
        path: path.to_owned(),
        was: before.is_some(),
        is: after.is_some(),
        before: before.map(str::to_owned),
        after: after.map(str::to_owned),
        note: None,
    };
    let before = (1..=40).map(|line| format!("line {line}\n")).collect::<String>();
    let secret =
        ChangedFile { note: Some("only a digest is kept".into()), was: true, ..file(".env", None, None) };
    let files = vec![
        secret,
        file("new.rs", None, Some("first\n")),
        file("src/ma\u{1b}[31min.rs", Some(&before), Some(&before.replace("line 20\n", "line twenty\n"))),
    ];
    for (columns, rows) in SIZES {
        let mut app = console(state.clone(), (columns, rows));
        assert!(shown(&app).contains("+1 ~1 -1"), "{}", shown(&app));
        let report = ChangesReport { changes: changes.clone(), files: files.clone(), left_out: 3 };
        let _ = app.update(Msg::Changes(Subject::Task(id(4)), Box::new(report)));
        insta::assert_snapshot!(format!("changes_{columns}x{rows}"), shown(&app));
        let _ = press(&mut app, &["Esc"]);
        assert!(app.state.reader.is_none());
    }
}
