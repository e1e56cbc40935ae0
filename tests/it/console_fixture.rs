//! A workspace in the middle of the day: the fixture of the console's tests.

use pilothouse::console::app::{App, draw};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use serde_json::{Value, json};

use pilothouse::console::keys::action::Action;
use pilothouse::console::keys::keymap::Keymap;
use pilothouse::console::msg::{Effect, Msg};
use pilothouse::console::state::picture::Picture;
use pilothouse::console::state::setup::Setup;
use pilothouse::console::theme::{Colours, Theme, ThemeSet, UiSettings};
use pilothouse::console::widgets::painter::FrameExtras;
use pilothouse::envelope::{Actor, Envelope, ErrorKind, SafeText, TaskId, ToolError};
use pilothouse::model::{
    AgentView, CallRecord, CallSummary, Gauge, Histogram, InputEvidence, InputNeed, InputWait, Lease,
    LimitKind, Metrics, Notice, OutputView, RecordView, RejectionReason, Snapshot, StopView, TaskEnd,
    TaskEvent, TaskFact, TaskStatus, TaskView,
};
use pilothouse::terminal::{ByteOrigin, Contents, KeyPress, Size, Terminal};
use pilothouse::tools::CallAnswer;

/// The sizes at which every screen and dialog is compared with its snapshot.
pub(crate) const SIZES: [(u16, u16); 2] = [(80, 24), (120, 40)];

/// The sizes at which something must hold whatever is drawn.
pub(crate) const ALL_SIZES: [(u16, u16); 5] = [(80, 24), (100, 30), (120, 40), (160, 50), (200, 60)];

/// The time at which every snapshot is taken.
pub(crate) fn now() -> Timestamp {
    "2026-11-21T12:04:31Z".parse().expect("a time")
}

pub(crate) fn ago(seconds: i64) -> Timestamp {
    now() - SignedDuration::from_secs(seconds)
}

pub(crate) fn id(number: u32) -> TaskId {
    format!("task_{number:08}").parse().expect("an id")
}

fn claude() -> Actor {
    Actor::Agent("claude".into())
}

/// A running task without a terminal, started by the agent.
pub(crate) fn task(number: u32, cmd: &str, age: i64, quiet: i64) -> TaskView {
    TaskView {
        id: id(number),
        number,
        status: TaskStatus::Running,
        cmd: cmd.into(),
        cmd_chars: None,
        description: None,
        name: None,
        workdir: PathBuf::from("/home/ana/demo-repo"),
        shell: "/bin/bash".into(),
        login: true,
        tty: false,
        size: Size::default(),
        size_asked: false,
        accepts_input: false,
        side_terminal: false,
        started_by: claude(),
        call: u64::from(number) + 300,
        from_task: None,
        promoted: true,
        item: None,
        held: None,
        queued: None,
        timeout_ms: None,
        lease: None,
        waiting: None,
        listening: Vec::new(),
        created_at: ago(age),
        started_at: Some(ago(age)),
        updated_at: ago(age),
        stop: None,
        ended: None,
        ceiling: None,
        peak_memory: None,
        changes: None,
        output: OutputView {
            bytes: 41_200,
            stderr_bytes: 0,
            lines: 512,
            dropped_bytes: 0,
            last_at: Some(ago(quiet)),
        },
        pid: Some(4_200 + number),
        folder: PathBuf::from("/nowhere"),
        events: vec![event(age, claude(), TaskFact::Start { pid: None })],
        earlier_events: 0,
        place: None,
    }
}

pub(crate) fn event(age: i64, actor: Actor, fact: TaskFact) -> TaskEvent {
    TaskEvent { at: ago(age), actor, fact }
}

/// The same task, ended `ago_seconds` ago.
pub(crate) fn ended(task: TaskView, status: TaskStatus, exit: Option<i32>, ago_seconds: i64) -> TaskView {
    let ended = TaskEnd {
        at: ago(ago_seconds),
        ran_ms: None,
        signalled_by: None,
        exit_status: exit,
        signal: None,
        timed_out: false,
        error: None,
        leftovers: Vec::new(),
        survivors: Vec::new(),
        taken_port: None,
    };
    TaskView { status, ended: Some(ended), pid: None, updated_at: ago(ago_seconds), ..task }
}

fn npm_init() -> TaskView {
    TaskView {
        tty: true,
        accepts_input: true,
        size: Size::nearest(80, 24),
        waiting: Some(InputWait {
            kind: InputNeed::Line,
            evidence: InputEvidence::TtyRead,
            since: ago(38),
            program: None,
            question: Some("package name: (demo-repo)".into()),
        }),
        description: Some("scaffold the package".into()),
        ceiling: None,
        peak_memory: None,
        changes: None,
        output: OutputView {
            bytes: 439,
            stderr_bytes: 0,
            lines: 11,
            dropped_bytes: 0,
            last_at: Some(ago(38)),
        },
        events: vec![
            event(42, claude(), TaskFact::Start { pid: None }),
            event(32, claude(), TaskFact::Promoted { kept: false }),
            event(30, Actor::Operator, TaskFact::Lease),
            event(29, Actor::Operator, TaskFact::Input(9)),
            event(20, claude(), TaskFact::Refused(RejectionReason::HeldByOperator)),
            event(12, Actor::Operator, TaskFact::Released),
        ],
        ..task(7, "npm init", 42, 38)
    }
}

fn cargo_test() -> TaskView {
    TaskView {
        tty: true,
        accepts_input: true,
        description: Some("whole suite before the refactoring".into()),
        ceiling: None,
        peak_memory: None,
        changes: None,
        output: OutputView {
            bytes: 1_310_201,
            stderr_bytes: 0,
            lines: 10_233,
            dropped_bytes: 0,
            last_at: Some(ago(0)),
        },
        ..task(6, "cargo test --workspace", 130, 0)
    }
}

fn python() -> TaskView {
    TaskView {
        tty: true,
        accepts_input: true,
        size: Size::nearest(80, 24),
        size_asked: true,
        started_by: Actor::Operator,
        lease: Some(Lease { holder: Actor::Operator, until: now() + SignedDuration::from_secs(8) }),
        ..task(5, "python3 -q", 895, 3)
    }
}

fn server() -> TaskView {
    TaskView {
        status: TaskStatus::Cancelling,
        stop: Some(StopView {
            by: Actor::Operator,
            at: ago(2),
            kill_at: Some(now() + SignedDuration::from_secs(3)),
            force: false,
            why: None,
        }),
        ..task(8, "./target/debug/server --port 8080 --log info", 301, 2)
    }
}

fn tail() -> TaskView {
    let stop = StopView { by: Actor::Operator, at: ago(541), kill_at: None, force: false, why: None };
    let task = TaskView { stop: Some(stop), ..task(2, "tail -f log/app.log", 741, 545) };
    ended(task, TaskStatus::Cancelled, None, 540)
}

fn find() -> TaskView {
    let mut task =
        ended(task(10, "find / -name '*.rs' -exec wc -l {} +", 71, 12), TaskStatus::Completed, Some(0), 12);
    task.output.dropped_bytes = 12 << 20;
    task
}

/// Ten tasks, covering every state.
pub(crate) fn tasks() -> Vec<TaskView> {
    vec![
        ended(task(1, "docker compose up db", 9_100, 7_400), TaskStatus::Interrupted, None, 7_399),
        tail(),
        TaskView { description: Some("the page under test".into()), ..task(3, "npm run dev", 1_862, 1) },
        ended(
            task(4, "cargo clippy --all-targets -- -D warnings", 312, 305),
            TaskStatus::Failed,
            Some(101),
            305,
        ),
        python(),
        cargo_test(),
        npm_init(),
        server(),
        TaskView {
            status: TaskStatus::Queued,
            started_at: None,
            pid: None,
            ceiling: None,
            peak_memory: None,
            changes: None,
            output: OutputView::default(),
            ..task(9, "git push --force-with-lease origin refactor/parser", 4, 4)
        },
        find(),
    ]
}

/// The calls that led to these tasks.
pub(crate) fn calls() -> Vec<CallSummary> {
    let call =
        |seq: u64, age, tool: &str, task: Option<u32>, status: Option<&str>, summary: &str, ms| CallSummary {
            seq,
            at: ago(age),
            actor: if tool == "TaskStop" { Actor::Operator } else { claude() },
            tool: tool.into(),
            status: status.map(Into::into),
            summary: summary.into(),
            asked: String::new(),
            task: task.map(id),
            end: None,
            duration_ms: ms,
            stream: None,
            native: None,
        };
    let ok = Some("success");
    vec![
        call(303, 1_862, "ExecCommand", Some(3), ok, "command promoted to managed task", Some(10_004)),
        call(304, 312, "ExecCommand", Some(4), ok, "command exited with status 101", Some(6_911)),
        call(305, 301, "ExecCommand", Some(8), ok, "command promoted to managed task", Some(10_002)),
        call(306, 130, "ExecCommand", Some(6), ok, "command promoted to managed task", Some(10_003)),
        call(307, 90, "TaskOutput", Some(6), ok, "task is still running", Some(30_000)),
        call(308, 71, "ExecCommand", Some(10), ok, "command exited with status 0", Some(58_210)),
        call(309, 60, "TaskInput", None, Some("error"), "no task task_zzzzzzzz", Some(1)),
        call(310, 42, "ExecCommand", Some(7), ok, "command promoted to managed task", Some(10_001)),
        call(311, 20, "TaskInput", Some(7), ok, "input refused: the operator is driving the task", Some(2)),
        call(312, 2, "TaskStop", Some(8), ok, "stop requested for the task", Some(3)),
        call(313, 1, "TaskOutput", Some(7), None, "block, 30000 ms", None),
    ]
}

fn gauges() -> Vec<Gauge> {
    let of = |limit, used, cap, number: Option<u32>| Gauge {
        limit,
        used,
        cap,
        task: number.map(|number| id(number).to_string()),
        number,
        since: None,
    };
    vec![
        of(LimitKind::Tasks, 6, 64, None),
        of(LimitKind::Kept, 12_400_000, 64 << 20, Some(6)),
        Gauge { since: Some(ago(130)), ..of(LimitKind::Wall, 0, 140_000, Some(6)) },
        of(LimitKind::Disk, 184 << 20, 2 << 30, None),
    ]
}

fn metrics() -> Metrics {
    let by = |success, error| BTreeMap::from([("success".to_owned(), success), ("error".to_owned(), error)]);
    let counts = |pairs: &[(&str, u64)]| pairs.iter().map(|(name, n)| ((*name).to_owned(), *n)).collect();
    let took = |count, ms| {
        let mut histogram = Histogram::default();
        (0..count).for_each(|_| histogram.add(ms));
        histogram
    };
    let mut metrics = Metrics {
        tool_calls: BTreeMap::from([
            ("ExecCommand".to_owned(), by(128, 0)),
            ("ExecCommandBatch".to_owned(), by(12, 1)),
            ("TaskInput".to_owned(), by(19, 1)),
            ("TaskOutput".to_owned(), by(402, 0)),
            ("TaskStop".to_owned(), by(4, 0)),
        ]),
        exec_command_items: 128,
        batched_exec_command_items: 46,
        tasks_live: counts(&[("cancelling", 1), ("queued", 1), ("running", 4)]),
        promotions: 41,
        tasks_started: 41,
        tasks_ended: counts(&[("completed", 31), ("failed", 5), ("cancelled", 2), ("interrupted", 1)]),
        tasks_peak: 9,
        output_bytes_in: 193_200_000,
        output_chars_sent: 3_201_455,
        output_bytes_sent: 3_250_881,
        task_ms: BTreeMap::from([
            ("completed".to_owned(), took(31, 800)),
            ("failed".to_owned(), took(5, 7_000)),
        ]),
        output_bytes_dropped: 12 << 20,
        wait_ms: BTreeMap::from([
            ("first_byte".to_owned(), took(120, 9)),
            ("stop".to_owned(), took(4, 3_000)),
        ]),
        gauges: gauges(),
        operator_actions: counts(&[("input", 57), ("start", 2), ("stop", 3)]),
        input_refused: counts(&[("held_by_operator", 1)]),
        call_ms: BTreeMap::from([
            ("ExecCommand".to_owned(), (128, 212, 10_003, 10_009)),
            ("TaskInput".to_owned(), (20, 1, 2, 9)),
            ("TaskOutput".to_owned(), (402, 4, 30_000, 30_000)),
            ("TaskStop".to_owned(), (4, 3, 4, 4)),
        ]),
        calls_per_second: (0..60).map(|at| [0, 0, 1, 0, 3, 2, 0, 5, 1, 0][at % 10]).collect(),
        bytes_per_second: (0..60).map(|at| (at as u64 * 7_919) % 40_000).collect(),
        ..Metrics::default()
    };
    metrics.by.entry("agent".to_owned()).or_default().commands = 174;
    metrics
}

/// The complete state.
pub(crate) fn snapshot() -> Snapshot {
    Snapshot {
        stop_grace_ms: 5_000,
        seq: 2_291,
        workspace: PathBuf::from("/home/ana/demo-repo"),
        recording: PathBuf::from("/home/ana/.local/state/pilothouse/recordings/1"),
        socket: PathBuf::from("/run/user/1000/pilothouse/3f9a0c41be77/agent.sock"),
        started_at: ago(8_047),
        headless: true,
        tasks: tasks().into_iter().map(Arc::new).collect(),
        calls: calls().into_iter().map(Arc::new).collect(),
        agents: vec![agent("claude", true, 1), agent("ci", false, 240)],
        notices: vec![Notice {
            seq: 1,
            at: ago(240),
            is_error: false,
            text: "agent ci disconnected".into(),
            from: None,
        }],
        metrics: metrics(),
        ..Snapshot::default()
    }
}

fn agent(label: &str, connected: bool, last_call: i64) -> AgentView {
    AgentView {
        label: label.into(),
        client: format!("{label} 1.0"),
        pid: 812,
        connected,
        turns: u64::from(connected),
        first_call: None,
        last_call: Some(ago(last_call)),
        calls: 553,
        ..AgentView::default()
    }
}

/// The state before anything happened.
pub(crate) fn empty() -> Snapshot {
    Snapshot {
        stop_grace_ms: 5_000,
        tasks: Vec::new(),
        calls: Vec::new(),
        agents: Vec::new(),
        notices: Vec::new(),
        metrics: Metrics::default(),
        record: RecordView::default(),
        ..snapshot()
    }
}

/// The complete record of call 311: an input that was refused.
pub(crate) fn refusal() -> CallRecord {
    let rejection = json!({
        "reason": "held_by_operator",
        "message": "the operator drives this task; try again 10 s after their last key"
    });
    let result = json!({
        "task": {"task_id": id(7), "kind": "command_task", "status": "running"},
        "accepted_input": false,
        "input_target": "tty",
        "bytes_written": 0,
        "rejection": rejection
    });
    CallRecord {
        seq: 311,
        at: ago(20),
        tool: "TaskInput".into(),
        input: json!({"task_id": id(7), "input": "demo-cli\r"}),
        envelope: Some(json!({
            "tool_name": "TaskInput",
            "status": "success",
            "summary_text": "input refused: the operator is driving the task",
            "result": result,
            "error": Value::Null
        })),
        receipt: Some(
            "Input refused: the operator is driving task_00000007\n\nNext: TaskOutput to see what they do; try again \
             10 s after their last key."
                .into(),
        ),
        duration_ms: Some(2),
        ..record()
    }
}

/// The complete record of call 310.
pub(crate) fn record() -> CallRecord {
    let result = json!({
        "disposition": "promoted_to_task",
        "task_handle": {"task_id": id(7), "kind": "command_task", "status": "running"},
        "initial_output_preview": "This utility will walk you through creating a package.json file.\npackage name: (demo-repo) ",
        "initial_output_truncated": false
    });
    CallRecord {
        seq: 310,
        notices: Vec::new(),
        at: ago(42),
        actor: claude(),
        tool: "ExecCommand".into(),
        input: json!({"cmd": "npm init", "tty": true, "cols": 80, "rows": 24, "description": "scaffold the package"}),
        envelope: Some(json!({
            "tool_name": "ExecCommand",
            "status": "success",
            "summary_text": "command promoted to managed task",
            "result": result,
            "error": Value::Null
        })),
        receipt: Some(
            "Command promoted to background task\nTask: task_00000007\n\nInitial output:\nThis utility will walk you \
             through creating a package.json file.\npackage name: (demo-repo) \n\nNext: TaskOutput to read on, \
             TaskInput to type, TaskStop to end it."
                .into(),
        ),
        duration_ms: Some(10_001),
        native: None,
    }
}

/// The complete record of call 308: a command with a lot of output.
pub(crate) fn build() -> CallRecord {
    let line = |n: usize| {
        format!("   Compiling widget-{n:02} v0.{n}.0 (/home/ana/demo-repo/crates/widget-{n:02})\n")
    };
    let stdout: String = (1..=40).map(line).collect();
    let stderr =
        "warning: unused variable: `left`\n  --> src/run.rs:212:9\n\nerror: could not compile `demo` (lib)\n";
    let result = json!({
        "disposition": "completed", "exit_status": 101, "signal": null, "stdout_preview": stdout,
        "stderr_preview": stderr, "truncated": true, "duration_ms": 58_201,
        "artifacts": [{"path": "/home/ana/.local/state/pilothouse/recordings/1/tasks/task_0000000a/stdout.log"}],
        "stdout_artifact": 0
    });
    let envelope = Envelope::success("ExecCommand", "command exited with status 101", &result);
    CallRecord {
        seq: 308,
        at: ago(71),
        input: json!({"cmd": "cargo build --workspace", "max_output_tokens": 1000}),
        receipt: Some(pilothouse::tools::render(&envelope).into()),
        envelope: Some(envelope.to_value()),
        duration_ms: Some(58_210),
        ..record()
    }
}

/// The answer to a call of the user's that has started a task, or that failed.
pub(crate) fn answer(seq: u64, text: &str, is_error: bool, started: &TaskId) -> Msg {
    let envelope = match is_error {
        true => Envelope::error("ExecCommand", ToolError::new(ErrorKind::InvalidToolInput, text)),
        false => Envelope::success("ExecCommand", text, &json!({"task_handle": {"task_id": started}})),
    };
    let receipt = SafeText::lines(text);
    Msg::Answered(Box::new(CallAnswer {
        seq,
        envelope,
        receipt,
        repeated: false,
        cut: None,
        is_unbegun: false,
        task: None,
    }))
}

pub(crate) fn setup(colours: Colours) -> Setup {
    Setup {
        is_fleet: false,
        theme: Theme::built_in(colours, false),
        keymap: Keymap::built_in(),
        theme_set: ThemeSet { colours, ..ThemeSet::default() },
        ui: UiSettings::default(),
        program: None,
        agents: vec!["claude", "codex", "gemini"],
        zone: TimeZone::UTC,
        is_root: false,
        is_remote: true,
        can_detach: false,
        shows_run: false,
        recording: None,
    }
}

/// A console showing a state, with its panes drawn.
pub(crate) fn console(snapshot: Snapshot, size: (u16, u16)) -> App {
    let mut app = App::new(setup(Colours::Named), Arc::new(snapshot), size, now());
    for (number, picture) in pictures() {
        let _ = app.update(Msg::Picture(id(*number), picture.clone()));
    }
    app.mark_drawn();
    app
}

/// The screens, parsed once for all tests.
fn pictures() -> &'static [(u32, Picture)] {
    static PICTURES: std::sync::OnceLock<Vec<(u32, Picture)>> = std::sync::OnceLock::new();
    PICTURES.get_or_init(|| {
        screens().into_iter().map(|(number, size, bytes)| (number, picture(size, &bytes))).collect()
    })
}

/// The screen of a task that wrote this text.
pub(crate) fn picture(size: Size, written: &str) -> Picture {
    let mut terminal = Terminal::new(size, ByteOrigin::Tty);
    let _ = terminal.feed(written.as_bytes());
    let mut picture = Picture::default();
    picture.take(&Contents::of(&terminal), 1);
    picture
}

fn screens() -> Vec<(u32, Size, String)> {
    let npm = "This utility will walk you through creating a package.json file.\r\n\
        It only covers the most common items, and tries to guess sensible defaults.\r\n\r\n\
        See `npm help init` for definitive documentation on these fields\r\nand exactly what they do.\r\n\r\n\
        Use `npm install <pkg>` afterwards to install a package and\r\nsave it as a dependency in the \
        package.json file.\r\n\r\nPress ^C at any time to quit.\r\npackage name: (demo-repo) ";
    let mut cargo = String::from("\x1b[1m\x1b[32m   Compiling\x1b[0m demo v0.1.0 (/home/ana/demo-repo)\r\n");
    for test in 0..60 {
        cargo.push_str(&format!("test parser::tests::case_{test:02} ... \x1b[32mok\x1b[0m\r\n"));
    }
    let python = ">>> import math\r\n>>> math.tau / 4\r\n1.5707963267948966\r\n>>> ";
    let dev = "  \x1b[32mVITE\x1b[0m v5.2.0  ready in 412 ms\r\n\r\n  Local:   http://localhost:5173/\r\n\
        12:03:58 [vite] hmr update /src/app.tsx, /src/components/receipt-with-a-very-long-name-that-goes-on.tsx (x3), and more\r\n";
    let server = "2026-11-21T12:04:29Z INFO server: shutting down, 3 requests in flight\r\n";
    vec![
        (7, Size::nearest(80, 24), npm.into()),
        (6, Size::default(), cargo),
        (5, Size::nearest(80, 24), python.into()),
        (3, Size::default(), dev.into()),
        (8, Size::default(), server.into()),
    ]
}

/// Presses keys by name, each with a frame after it, and collects the effects.
pub(crate) fn press(app: &mut App, keys: &[&str]) -> Vec<Effect> {
    let key = |name: &&str| {
        let effects = blindly(app, name);
        app.mark_drawn();
        effects
    };
    keys.iter().flat_map(key).collect()
}

/// Presses a key by name, with no frame after it.
pub(crate) fn blindly(app: &mut App, name: &str) -> Vec<Effect> {
    app.update(Msg::Key(KeyPress::parse(name).expect("a key")))
}

/// Selects a task with the list's keys.
pub(crate) fn select(app: &mut App, number: u32) {
    let _ = press(app, &["g"]);
    for _ in 0..app.state.view.snapshot.tasks.len() {
        if app.state.selected_task().is_some_and(|task| task.number == number) {
            return;
        }
        let _ = press(app, &["j"]);
    }
    panic!("no task {number} in the list");
}

/// Draws the console.
pub(crate) fn draw(app: &App) -> (Buffer, FrameExtras) {
    let mut buffer = Buffer::empty(Rect::new(0, 0, app.state.outer.size.0, app.state.outer.size.1));
    let drawn = draw::draw(app, &mut buffer);
    (buffer, drawn)
}

/// Returns the rows in the dialog on screen, of all of its pages.
pub(crate) fn read_through(app: &mut App) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let _ = press(app, &["g"]);
    loop {
        let page = boxed(app);
        let before = all.len();
        all.extend(page.iter().filter(|row| !all.contains(row)).cloned().collect::<Vec<_>>());
        let _ = press(app, &["Space"]);
        if all.len() == before && boxed(app) == page {
            return all;
        }
    }
}

/// Returns the rows in the dialog on screen, without its frame.
pub(crate) fn boxed(app: &App) -> Vec<String> {
    let screen = shown(app);
    let mut rows = screen.lines().map(|line| line.chars().collect::<Vec<char>>());
    let head = rows.find(|row| row.contains(&'┌')).expect("a dialog");
    let at = |corner: char| head.iter().position(|c| *c == corner).expect("a corner");
    let (from, to) = (at('┌'), at('┐'));
    let inside = rows.take_while(|row| row.get(from) != Some(&'└'));
    let text = |row: Vec<char>| row.get(from + 2..to - 1).unwrap_or_default().iter().collect::<String>();
    inside.map(|row| text(row).trim_end().to_owned()).collect()
}

/// Returns the text on screen, one line per row.
pub(crate) fn shown(app: &App) -> String {
    let (buffer, _) = draw(app);
    let mut out = String::new();
    for y in 0..buffer.area.height {
        let mut row = String::new();
        let mut x = 0;
        while x < buffer.area.width {
            let symbol = buffer[(x, y)].symbol();
            row.push_str(symbol);
            x += u16::try_from(unicode_width::UnicodeWidthStr::width(symbol)).unwrap_or(1).max(1);
        }
        out.push_str(row.trim_end());
        out.push('\n');
    }
    out
}

/// Why an action would do nothing now, in the palette's wording.
pub(crate) fn obstacle(app: &App, action: Action) -> Option<String> {
    app.availability(action).err().map(|why| why.to_string())
}
