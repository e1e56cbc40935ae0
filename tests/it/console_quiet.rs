//! A list that is quiet by default: short commands in one row, answers that are no failures, times under headings that
//! say what they are, titles without what is known anyway, and a line above the keys that belongs to what waits.

use std::path::PathBuf;
use std::sync::Arc;

use pilothouse::console::app::App;
use pilothouse::console::keys::action::Action;
use pilothouse::console::msg::Msg;
use pilothouse::console::theme::Role;
use pilothouse::envelope::Actor;
use pilothouse::model::{
    HoldReason, InputEvidence, InputNeed, InputWait, Notice, OutputView, Snapshot, TaskEnd, TaskStatus,
    TaskView, UnendedProcess,
};

use crate::console_fixture::{
    SIZES, ago, console, draw, ended, now, obstacle, press, select, shown, snapshot, task,
};

/// A command that took 300 ms, some minutes ago.
fn short(number: u32, cmd: &str, status: TaskStatus, exit: i32) -> TaskView {
    let at = 400 - i64::from(number);
    let mut task = ended(task(number, cmd, at, at), status, Some(exit), at);
    task.ended.iter_mut().for_each(|ended| ended.ran_ms = Some(300));
    task
}

/// Two live tasks, a long one that failed, and 58 short commands, six of which say no.
fn many() -> Snapshot {
    let mut tasks: Vec<TaskView> = (1..=58)
        .map(|number| match number % 10 {
            9 => short(number, "grep -rn TODO src", TaskStatus::Failed, 1),
            _ => short(number, "git status --short", TaskStatus::Completed, 0),
        })
        .collect();
    tasks.push(short(59, "test -d target", TaskStatus::Failed, 1));
    tasks.remove(0);
    tasks.push(ended(task(60, "cargo test", 200, 100), TaskStatus::Failed, Some(101), 100));
    tasks.push(task(61, "npm run dev", 90, 1));
    tasks.push(task(62, "cd /home/ana/demo-repo && cargo watch", 80, 1));
    Snapshot { tasks: tasks.into_iter().map(Arc::new).collect(), notices: Vec::new(), ..snapshot() }
}

fn numbers(app: &App) -> Vec<u32> {
    app.state.tasks().iter().map(|task| task.number).collect()
}

fn row(app: &App, with: &str) -> String {
    let screen = shown(app);
    screen.lines().find(|row| row.contains(with)).unwrap_or_else(|| panic!("{with}\n{screen}")).to_owned()
}

/// Whether the row with this text has a cell in the colour of failures.
fn is_red(app: &App, with: &str) -> bool {
    let y = shown(app).lines().position(|row| row.contains(with)).expect("a row");
    let (buffer, _) = draw(app);
    let red = app.state.setup.theme.style(Role::Failed).fg;
    (0..buffer.area.width).any(|x| Some(buffer[(x, u16::try_from(y).expect("a row"))].fg) == red)
}

#[test]
fn short_commands_share_a_row_that_opens() {
    for size @ (columns, rows) in SIZES {
        let mut app = console(many(), size);
        assert_eq!(numbers(&app), [62, 61, 60, 59]);
        assert!(row(&app, "short commands").contains("58 short commands ✗6 ✓52"), "{}", shown(&app));
        assert!(!is_red(&app, "58 short commands"), "all of them only say no");
        insta::assert_snapshot!(format!("quiet_{columns}x{rows}"), shown(&app));
        let _ = press(&mut app, &["G"]);
        assert!(row(&app, "58 short").contains("t59"), "{}", shown(&app));
        assert_eq!(obstacle(&app, Action::Fold), None);
        let _ = press(&mut app, &["Space"]);
        assert_eq!(numbers(&app).len(), 61);
        let _ = press(&mut app, &["j", "Space"]);
        assert_eq!(numbers(&app), [62, 61, 60, 58], "the row shows the one looked at");
        let _ = press(&mut app, &["/", "g", "r", "e", "p", "Enter"]);
        assert_eq!(numbers(&app).len(), 5, "who looks for some of them finds them");
    }
}

#[test]
fn own_named_and_few_short_commands_keep_their_rows() {
    let mut tasks: Vec<TaskView> =
        (1..=2).map(|number| short(number, "ls", TaskStatus::Completed, 0)).collect();
    tasks.push(TaskView {
        started_by: Actor::Operator,
        tty: true,
        ..short(3, "ls", TaskStatus::Completed, 0)
    });
    tasks.push(TaskView { name: Some("list".into()), ..short(4, "ls", TaskStatus::Completed, 0) });
    let few = Snapshot { tasks: tasks.into_iter().map(Arc::new).collect(), ..snapshot() };
    assert_eq!(numbers(&console(few, (100, 30))), [4, 3, 2, 1]);
}

#[test]
fn only_failures_that_deserve_a_look_are_red() {
    let told = OutputView { bytes: 20, stderr_bytes: 20, lines: 1, dropped_bytes: 0, last_at: Some(ago(60)) };
    let failed = |number, cmd, exit| ended(task(number, cmd, 100, 60), TaskStatus::Failed, Some(exit), 60);
    let tasks = vec![
        failed(1, "grep -q x y", 1),
        failed(2, "grep -q x missing", 2),
        TaskView { output: told, ..failed(3, "grep -q x", 1) },
        failed(4, "cargo test", 1),
        task(5, "make", 9, 1),
    ];
    let mut app = console(
        Snapshot { tasks: tasks.into_iter().map(Arc::new).collect(), notices: Vec::new(), ..snapshot() },
        (100, 30),
    );
    let red: Vec<bool> = [" t01 ", " t02 ", " t03 ", " t04 "].iter().map(|name| is_red(&app, name)).collect();
    assert_eq!(red, [false, true, true, true]);
    // `E` takes those that deserve a look.
    let found: Vec<u32> = (0..4)
        .map(|_| {
            let _ = press(&mut app, &["E"]);
            app.state.selected_task().expect("one").number
        })
        .collect();
    assert_eq!(found, [4, 3, 2, 4]);
}

#[test]
fn times_stand_under_headings_that_say_what_they_are() {
    let mut app = console(many(), (100, 30));
    let screen = shown(&app);
    let rows: Vec<&str> = screen.lines().collect();
    assert!(rows[1].contains("AGE  IDLE") && rows[4].contains("TOOK ENDED"), "{screen}");
    assert!(!rows[4].contains("TASK"), "{screen}");
    let _ = press(&mut app, &["f", "f"]);
    assert!(shown(&app).lines().nth(1).expect("a head").contains("TOOK ENDED"), "{}", shown(&app));
    let _ = press(&mut app, &["Esc", "O", "a", "Esc"]);
    let _ = press(&mut app, &["O", "a"]);
    assert!(shown(&app).lines().nth(1).expect("a head").contains("TIME  LAST"), "{}", shown(&app));
}

#[test]
fn a_duration_below_ten_seconds_has_a_decimal_and_a_title_no_step_into_its_own_directory() {
    let cd = |dir: &str| format!("cd {dir} && cargo check");
    let mut quick = ended(task(1, &cd("/home/ana/demo-repo"), 60, 50), TaskStatus::Completed, Some(0), 50);
    quick.ended.iter_mut().for_each(|ended| ended.ran_ms = Some(4_420));
    let other =
        TaskView { workdir: PathBuf::from("/home/ana"), ..task(2, &cd("/home/ana/demo-repo"), 60, 50) };
    let tasks = vec![Arc::new(quick), Arc::new(other)];
    let app = console(Snapshot { tasks, notices: Vec::new(), ..snapshot() }, (120, 40));
    let row = |name: &str| row(&app, name);
    assert!(row(" t01 ").contains(" 4.4 s ") && row(" t01 ").contains("  cargo check"), "{}", row(" t01 "));
    assert!(!row(" t01 ").contains("cd "), "{}", row(" t01 "));
    assert!(row(" t02 ").contains("cd /home/ana/demo-repo && cargo check"), "another directory");
}

#[test]
fn a_name_has_room_where_the_list_is_wide() {
    let by = |label: &str| TaskView { started_by: Actor::Agent(label.into()), ..task(1, "make", 9, 1) };
    for (columns, label, shown_as) in [
        (80, "claude-code#2", "clau#2 "),
        (100, "claude-code#2", "claude#2 "),
        (120, "claude-code#2", "claude-code#2 "),
        (120, "release-engineer-of-the-night", "release "),
    ] {
        let tasks = vec![Arc::new(by(label))];
        let app = console(Snapshot { tasks, ..snapshot() }, (columns, 40));
        assert!(row(&app, " t01 ").contains(shown_as), "{columns}\n{}", row(&app, " t01 "));
    }
}

fn waiting(kind: InputNeed, evidence: InputEvidence, since: i64, task: TaskView) -> TaskView {
    let waiting = InputWait { kind, evidence, since: ago(since), program: None, question: None };
    TaskView { tty: true, accepts_input: true, waiting: Some(waiting), ..task }
}

/// A REPL that may be waiting, longest of all; a password and a line that are.
fn waiters() -> Snapshot {
    let tasks = vec![
        waiting(InputNeed::Line, InputEvidence::Quiet, 300, task(1, "python3", 400, 300)),
        task(2, "cargo watch", 300, 1),
        waiting(InputNeed::Secret, InputEvidence::EchoOff, 90, task(3, "gpg --sign x", 95, 90)),
        waiting(InputNeed::Line, InputEvidence::TtyRead, 200, task(4, "npm init", 210, 200)),
    ];
    Snapshot { tasks: tasks.into_iter().map(Arc::new).collect(), notices: Vec::new(), ..snapshot() }
}

#[test]
fn tasks_that_wait_by_evidence_come_before_those_that_may_wait() {
    let mut app = console(waiters(), (100, 30));
    select(&mut app, 2);
    let went: Vec<u32> = (0..4)
        .map(|_| {
            let _ = press(&mut app, &["I"]);
            app.state.selected_task().expect("one").number
        })
        .collect();
    assert_eq!(went, [4, 3, 1, 4]);
    let mut app = console(waiters(), (100, 30));
    let _ = press(&mut app, &["I", "I", "I"]);
    assert!(shown(&app).contains("t01 is only at a prompt"), "{}", shown(&app));
    let _ = press(&mut app, &["Esc", "a"]);
    let screen = shown(&app);
    assert!(screen.contains("2 things wait for you, 1 may"), "{screen}");
    let order: Vec<usize> = ["t04  ", "t03  ", "t01  "]
        .iter()
        .map(|name| screen.rfind(&format!(" {name}")).expect("a row"))
        .collect();
    assert!(order.is_sorted(), "{screen}");
    let _ = press(&mut app, &["G", "Enter"]);
    assert!(
        app.layers.is_empty() && app.state.typing_into().is_none(),
        "nobody types into what may not wait"
    );
    assert_eq!(app.state.selected_task().map(|task| task.number), Some(1));
}

fn notice(seq: u64, age: i64, is_error: bool, from: Option<u32>, text: &str) -> Notice {
    Notice { seq, at: ago(age), is_error, text: text.into(), from }
}

/// The line above the keys.
fn line(app: &App) -> String {
    let screen = shown(app);
    let rows: Vec<&str> = screen.lines().collect();
    rows[rows.len() - 2].to_owned()
}

#[test]
fn the_line_above_the_keys_belongs_to_what_waits() {
    let mut next = waiters();
    next.notices = vec![notice(1, 0, false, None, "agent ci has disconnected")];
    let mut app = console(next, (100, 30));
    select(&mut app, 2);
    assert_eq!(
        line(&app),
        " ◐ t04 waiting for input since 12:01:11  +1 more  a attention  12:04:31  agent ci has disconnected"
    );
    select(&mut app, 4);
    assert!(
        line(&app).contains("◐ t03 waiting for a password  +1 more"),
        "what is at hand is seen, and since when gives way: {}",
        line(&app)
    );
    let _ = app.update(Msg::Tick(now() + jiff::SignedDuration::from_secs(9)));
    assert!(!line(&app).contains("disconnected"), "{}", line(&app));
}

#[test]
fn a_notice_stays_for_a_while_on_the_console_it_concerns() {
    let quiet = |notices: Vec<Notice>| Snapshot {
        tasks: vec![Arc::new(task(1, "make", 9, 1))],
        notices,
        ..snapshot()
    };
    for (what, age, is_error, from, is_shown) in [
        ("it is new", 0, false, None, true),
        ("it was said long before this console was opened", 600, false, None, false),
        ("it is a failure", 3, true, None, true),
        ("another console did it before", 0, false, Some(7), false),
    ] {
        let app = console(quiet(vec![notice(1, age, is_error, from, "said")]), (100, 30));
        assert_eq!(line(&app).contains("said"), is_shown, "{what}: {}", line(&app));
    }
    let mut app = console(quiet(vec![notice(1, 0, false, None, "said")]), (100, 30));
    let _ = app.update(Msg::Tick(now() + jiff::SignedDuration::from_secs(8)));
    assert!(!line(&app).contains("said"), "{}", line(&app));
}

/// Where the command has to be cut, the words that say why it ended are not.
#[test]
fn the_reason_why_a_task_ended_is_not_cut_at_80_columns() {
    let cmd = "exec python3 -m http.server 8791 --bind 127.0.0.1 --directory /srv/www";
    let failed = |number| ended(task(number, cmd, 100, 60), TaskStatus::Failed, Some(1), 60);
    let of = |mut task: TaskView, change: fn(&mut TaskEnd)| {
        task.ended.iter_mut().for_each(change);
        task
    };
    let error =
        |kind: &str| Some((kind.to_owned(), "A whole sentence that no narrow row has room for.".to_owned()));
    let over = TaskView { held: Some(HoldReason::Paused), status: TaskStatus::Queued, ..task(5, cmd, 9, 9) };
    let mut limited = failed(1);
    limited.ended.iter_mut().for_each(|end| end.error = error("output_limit_exceeded"));
    let mut unknown = failed(2);
    unknown.ended.iter_mut().for_each(|end| end.error = error("start_unknown"));
    let left = of(failed(3), |end| end.leftovers = vec!["sleep".into()]);
    let alive = of(failed(4), |end| end.survivors = vec!["sleep".into(), "sh".into()]);
    let tasks = [limited, unknown, left, alive, over].map(Arc::new).into_iter().collect();
    let app = console(Snapshot { tasks, notices: Vec::new(), ..snapshot() }, (80, 24));
    let screen = shown(&app);
    for words in ["output limit", "may have run", "1 left over", "2 not ended", "agents paused"] {
        assert!(screen.lines().any(|row| row.ends_with(words)), "{words}\n{screen}");
    }
}

#[test]
fn f63_the_details_say_what_could_not_be_ended_and_the_command_that_ends_it() {
    let mut left = ended(task(1, "sudo make", 100, 60), TaskStatus::Cancelled, None, 60);
    let owner = Some("root".to_owned());
    let survivor = UnendedProcess { name: "sleep".to_owned(), pid: Some(4711), start: 7, owner };
    left.ended.iter_mut().for_each(|end| end.survivors = vec![survivor.clone()]);
    let tasks = vec![Arc::new(left)];
    let mut app = console(Snapshot { tasks, notices: Vec::new(), ..snapshot() }, (120, 40));
    assert!(shown(&app).contains("1 not ended"), "{}", shown(&app));
    let _ = press(&mut app, &["w"]);
    for said in ["1 process could not be ended: sleep, which", "belongs to root (sudo kill -KILL 4711)"] {
        assert!(shown(&app).contains(said), "{}", shown(&app));
    }
}
