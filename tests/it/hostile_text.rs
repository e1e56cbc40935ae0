//! Hostile text on its way to a terminal or a model: one corpus, put into every field that others can write, and
//! checked at every output.

use std::fs;
use std::io::BufRead as _;
use std::process::Output;

use std::sync::Arc;

use pilothouse::console::plain::PlainLine;
use pilothouse::envelope::{Actor, is_hidden};
use pilothouse::model::TaskFact;
use serde_json::{Value, json};

use crate::console_fixture::{console, press, shown, snapshot};
use crate::support::{Agent, Home, Wire};

/// Things that a terminal acts on, or that a reader does not see.
const HOSTILE: &[(&str, &str)] = &[
    ("a sequence", "\x1b[2J\x1b[31m"),
    ("the clipboard, ended by BEL", "\x1b]52;c;AA==\x07"),
    ("the clipboard, ended by ST", "\x1b]52;c;AA==\x1b\\"),
    ("the clipboard, never ended", "\x1b]52;c;AA=="),
    ("a device string", "\x1bP$q\"p\x1b\\"),
    ("one of the 8-bit controls", "\u{9b}31m\u{9d}0;t\u{9c}"),
    ("text that turns around", "\u{202e}txt.exe\u{202c}"),
    ("an isolate", "\u{2066}x\u{2069}\u{200f}"),
    ("no width", "a\u{200b}b\u{2060}\u{feff}"),
    ("tags", "\u{e0041}\u{e0042}\u{e007f}"),
    ("a selector without an emoji", "a\u{fe0f}\u{e0100}"),
    ("separators of lines", "\u{2028}\u{2029}\u{85}"),
    ("text written over", "good\rbad\x08\x08"),
];

/// All of it as one text, without characters that a file name cannot contain.
fn corpus() -> String {
    let parts: String = HOSTILE.iter().map(|(_, text)| format!("<{text}>")).collect();
    format!("{parts}e{}", "\u{301}".repeat(300))
}

/// Ordinary text, which must come out unchanged.
const ORDINARY: &str = "naïve e\u{301} 你好 👩\u{200d}💻 ❤\u{fe0f} 1\u{fe0f}\u{20e3} می\u{200c}خواهم";

/// Asserts that a text is safe for a terminal.
#[track_caller]
fn is_safe(place: &str, bytes: &[u8]) {
    let text = std::str::from_utf8(bytes).unwrap_or_else(|error| panic!("{place}: {error}"));
    let text = text.replace(ORDINARY, "");
    let odd: Vec<char> = text.chars().filter(|c| is_hidden(*c) && !matches!(c, '\n' | '\t')).collect();
    assert!(odd.is_empty(), "{place} has {odd:?} in {text:?}");
    let mut marks = 0;
    for c in text.chars() {
        marks = if c == '\u{301}' { marks + 1 } else { 0 };
        let is_json = text.starts_with('{');
        assert!(marks <= 4 || is_json, "{place} has a tower of marks");
    }
}

/// Runs the program with each output format and checks both of its streams.
#[track_caller]
fn walk(home: &Home, args: &[&str]) -> Output {
    let mut last = None;
    for form in ["json", "table", "plain"] {
        let ran = home.call(&[args, &["--output", form]].concat());
        let place = format!("{:?} as {form}", args.first().zip(args.get(1)));
        is_safe(&place, &ran.stdout);
        is_safe(&format!("{place}, standard error"), &ran.stderr);
        last = Some(ran);
    }
    last.expect("one form")
}

#[test]
fn nothing_an_agent_or_a_command_writes_reaches_a_terminal_as_it_is() {
    let home = Home::new();
    let agent = Agent::here(&home, Some(&corpus()));
    fs::write(home.workspace().join("hostile"), corpus()).expect("written");
    let cmd = format!("cat hostile; exit 3 # {}", corpus());
    let input = json!({"cmd": cmd, "description": corpus(), "login": false, "shell": "/bin/sh"});
    let mut receipts = vec![agent.call("ExecCommand", &input)];
    let promoted = json!({"cmd": format!("cat hostile; read x # {}", corpus()), "description": corpus(), "tty": true,
        "login": false, "shell": "/bin/sh", "yield_time_ms": 0});
    receipts.push(agent.call("ExecCommand", &promoted));
    let task = receipts[1].task();
    let items = json!([{"cmd": format!("cat hostile # {}", corpus())}, {"cmd": "true", "workdir": corpus()}]);
    for (tool, input) in [
        ("TaskInput", json!({"task_id": task, "input": format!("{}\n", corpus())})),
        ("TaskOutput", json!({"task_id": task})),
        ("TaskStatus", json!({"task_id": task})),
        ("TaskList", json!({"scope": "all"})),
        ("ExecCommand", json!({"cmd": "true", "workdir": corpus()})),
        ("ExecCommand", json!({"cmd": "true", "shell": corpus()})),
        ("TaskStatus", json!({"task_id": corpus()})),
        ("TaskOutput", json!({"task_id": task, (corpus()): 1})),
        ("ExecCommandBatch", json!({"items": items, "login": false})),
        ("QuestionAnswer", json!({"question_id": corpus(), "answer": corpus()})),
    ] {
        receipts.push(agent.call(tool, &input));
    }
    for answer in &receipts {
        is_safe("a receipt", answer.receipt.as_bytes());
    }
    assert!(receipts[0].receipt.contains("⟨U+202E⟩txt.exe⟨U+202C⟩"), "it is shown: {}", receipts[0].receipt);
    let envelope = &receipts[0].envelope["result"]["stdout_preview"];
    assert!(
        envelope.as_str().is_some_and(|text| text.contains("\u{202e}txt.exe")),
        "the record has it: {envelope}"
    );
    for args in [
        &["task", "list", "--scope", "all"][..],
        &["task", "status", &task],
        &["task", "output", &task],
        &["receipt", "list", "--limit", "100"],
        &["audit", "show", "latest"],
        &["audit", "list"],
        &["metrics", "show"],
        &["command", "run", "--login=false", &cmd],
        &["command", "run", "--dry-run", &cmd],
        &["question", "list"],
    ] {
        walk(&home, args);
    }
    for seq in 1..=receipts.len() {
        walk(&home, &["receipt", "show", &seq.to_string()]);
    }
    let ran =
        home.call(&["command", "run", "--login=false", &format!("echo '{ORDINARY}'"), "--output", "plain"]);
    let text = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(text.contains(ORDINARY), "{text}");
}

#[test]
fn a_line_to_an_agent_hides_nothing() {
    let home = Home::new();
    let client = json!({"name": corpus(), "version": corpus()});
    let hello = json!({"jsonrpc": "2.0", "id": "\u{202e}\u{9b}1", "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}});
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let call = |id: u64, tool: &str, input: Value| json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": tool, "arguments": input}});
    let calls = [
        call(1, &corpus(), json!({})),
        call(2, "TaskStatus", json!({"task_id": corpus()})),
        call(
            3,
            "ExecCommand",
            json!({"cmd": format!("printf '%s' '{}'", corpus().replace('\'', "")), "login": false}),
        ),
    ];
    let mut agent = Wire::here(&home);
    for line in [hello, ready].iter().chain(&calls) {
        agent.write(line.to_string().as_bytes());
    }
    for _ in 0..=calls.len() {
        let mut line = String::new();
        agent.output.read_line(&mut line).expect("an answer");
        is_safe("a line to an agent", line.as_bytes());
    }
}

#[test]
fn hostile_text_in_files_and_arguments_reaches_no_output_unescaped() {
    let home = Home::new();
    let name = corpus().replace('/', "");
    let short: String = name.chars().take(60).collect();
    fs::write(home.workspace().join(&short), format!("let x = exec \"{}\"\nlet x = {}", corpus(), corpus()))
        .expect("a file");
    for args in [
        &["prose", "check", &short][..],
        &["prose", "ast", &short],
        &["receipt", "render", &short],
        &["receipt", "show", &corpus()],
        &["task", "export", &corpus()],
        &["task", "status", &corpus()],
        &["command", "run", "--workdir", &corpus(), "true"],
        &["audit", "show", &corpus()],
    ] {
        walk(&home, args);
    }
    home.configure(
        "config.toml",
        &format!("[runtime]\n\"{}\" = 1\n[console]\ntheme = '''{}'''\n", short, corpus()),
    );
    for args in [&["config", "check"][..], &["config", "show"], &["task", "list"], &["doctor"]] {
        walk(&home, args);
    }
    for args in
        [&["task", &corpus()][..], &["--bogus", &corpus()], &["command", "run", "--cols", &corpus(), "x"]]
    {
        let refused = home.call(args);
        assert!(!refused.status.success());
        is_safe("a refused argument", &refused.stdout);
        is_safe("a refused argument, standard error", &refused.stderr);
    }
}

#[test]
fn json_keeps_its_value_and_data_its_bytes() {
    let home = Home::new();
    fs::write(home.workspace().join("hostile"), corpus()).expect("written");
    let ran = home.run(&["command", "run", "--login=false", "printf '\\342\\200\\256x\\302\\233y'"]);
    is_safe("JSON", &ran.stdout);
    let answer: Value = serde_json::from_slice(&ran.stdout).expect("JSON");
    assert_eq!(answer["data"]["stdout_preview"], "\u{202e}xy", "the value is what was printed: {answer}");
    let program = "session \"look at \u{202e}this\"\n";
    fs::write(home.workspace().join("a.prose"), program).expect("written");
    let mut command = home.command(&["prose", "fmt", "-", "--output", "plain"]);
    command.stdin(fs::File::open(home.workspace().join("a.prose")).expect("opens"));
    let formatted = command.output().expect("runs");
    assert_eq!(String::from_utf8_lossy(&formatted.stdout), program, "data for another program is as it is");
}

#[test]
fn nothing_hostile_is_drawn_or_said_by_the_console() {
    let mut state = snapshot();
    for task in &mut state.tasks {
        let task = Arc::make_mut(task);
        (task.cmd, task.name, task.description) = (corpus(), Some(corpus()), Some(corpus()));
        task.started_by = Actor::Agent(corpus());
        task.workdir = corpus().into();
        for event in &mut task.events {
            (event.actor, event.fact) = (Actor::Agent(corpus()), TaskFact::Denied(corpus()));
        }
    }
    for agent in &mut state.agents {
        (agent.label, agent.client) = (corpus(), corpus());
    }
    for notice in &mut state.notices {
        notice.text = corpus();
    }
    state.workspace = corpus().into();
    for size in [(80, 24), (120, 40), (200, 60)] {
        let mut app = console(state.clone(), size);
        for keys in
            [&["1"][..], &["w"], &["Esc"], &["t"], &["2"], &["s"], &["Esc"], &["q"], &["Esc"], &["4"], &["3"]]
        {
            let _ = press(&mut app, keys);
            is_safe(&format!("the screen after {keys:?}"), shown(&app).as_bytes());
        }
    }
    for line in [
        PlainLine::by(&Actor::Agent(corpus()), corpus()),
        PlainLine::Output { task: corpus(), text: corpus() },
        PlainLine::reply(corpus()),
    ] {
        is_safe("a plain line", line.safe_text().as_bytes());
    }
}

#[test]
fn a_state_folder_that_others_may_enter_is_not_used() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let home = Home::new();
    let state = home.places().state_dir;
    fs::create_dir_all(&state).expect("a folder");
    fs::set_permissions(&state, fs::Permissions::from_mode(0o755)).expect("chmod");
    let refused = home.run(&["serve"]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        !refused.status.success() && said.contains("is open to other users (chmod it to 0700)"),
        "{said}"
    );
    fs::remove_dir(&state).expect("removed");
    let elsewhere = home.workspace().join("elsewhere");
    fs::create_dir(&elsewhere).expect("a folder");
    symlink(&elsewhere, &state).expect("a link");
    let refused = home.run(&["serve"]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && said.contains("is a symlink"), "{said}");
    assert_eq!(fs::read_dir(&elsewhere).expect("read").count(), 0, "nothing is written through it");
    fs::remove_file(&state).expect("removed");
}
