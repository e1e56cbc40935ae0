//! Ten minutes of two agents' work: three hundred commands, and a person at the console who answers prompts,
//! approves, denies and finds what failed, using only what the screen shows.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a trace is played in real time; its figures are printed"
)]

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::json;

use crate::support::{Agent, Console, Home, skip};

/// What the agents run, and when: one row per command, with the seconds since the start.
const TRACE: &str = include_str!("../corpus/traces/two_agents.jsonl");

/// The programs that the trace's commands call; `$pause` is the delay between two lines of their output.
const PROGRAMS: [(&str, &str); 4] = [
    (
        "ask",
        "word=$(printf %s \"$1\" | tr a-z n-za-m)\n\
         printf 'About to run %s. Type %s to go on: ' \"$1\" \"$word\"\n\
         read -r answer\nprintf %s \"$answer\" > \"answers/$1\"\n[ \"$answer\" = \"$word\" ]\n",
    ),
    (
        "build",
        "for n in $(seq \"$2\"); do echo \"   Compiling $1-$n v0.1.$n\"; sleep $pause; done; echo '    Finished'\n",
    ),
    (
        "suite",
        "for n in $(seq 60); do echo \"test $1::case_$n ... ok\"; sleep $pause; done\n\
         echo \"test $1::case_61 ... FAILED\"; exit 101\n",
    ),
    ("serve", "for n in $(seq \"$1\"); do echo \"GET /$n 200\"; sleep $pause; done\n"),
];

/// One command of the trace.
#[derive(Debug, Clone, Deserialize)]
struct Row {
    /// Seconds since the start.
    at: f64,
    agent: String,
    cmd: String,
    #[serde(default)]
    tty: bool,
}

/// What the person has to do in these rows.
struct Work {
    rows: Vec<Row>,
    /// The words that are asked for; each becomes a file once its prompt has been answered.
    asked: Vec<String>,
    /// The folders that may be removed, and those that must stay.
    held: Vec<String>,
    failing: BTreeSet<String>,
}

impl Work {
    fn of(rows: Vec<Row>) -> Self {
        let after = |prefix: &str| -> Vec<String> {
            rows.iter().filter_map(|row| row.cmd.strip_prefix(prefix)).map(str::to_owned).collect()
        };
        let failing = after("sh bin/suite ").iter().map(|name| format!("sh bin/suite {name}")).collect();
        Self { asked: after("sh bin/ask "), held: after("rm -rf "), failing, rows }
    }

    /// A workspace in which all the rows can run.
    fn home(&self, pause: f64) -> Home {
        let home = Home::new();
        home.configure("config.toml", "[[approvals]]\nprefix = \"rm -rf\"\n");
        let write = |path: String, text: &str| {
            let path = home.workspace().join(path);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            std::fs::write(path, text).expect("written");
        };
        for (name, text) in PROGRAMS {
            write(format!("bin/{name}"), &format!("pause={pause}\n{text}"));
        }
        for name in ["lib", "parser"] {
            write(format!("src/{name}.rs"), "// TODO nested\nfn main() {}\n");
        }
        self.held.iter().for_each(|folder| write(format!("{folder}/file"), "kept\n"));
        write("tests/parser.rs".to_owned(), "#[test]\n");
        write("answers/.none".to_owned(), "");
        write("README.md".to_owned(), "a workspace\n");
        write("Cargo.toml".to_owned(), "[package]\n");
        commit(&home);
        home
    }

    /// Lets two agents run the rows, each at its time; the flag becomes true once all of them have ended.
    fn begin(&self, home: &Home) -> (Arc<AtomicBool>, JoinHandle<()>) {
        let ended = Arc::new(AtomicBool::new(false));
        let names: BTreeSet<&str> = self.rows.iter().map(|row| &*row.agent).collect();
        let agents: Vec<(String, Agent)> = names
            .into_iter()
            .map(|name| (name.to_owned(), Agent::connect(home, &["--label", name])))
            .collect();
        let (rows, told) = (self.rows.clone(), Arc::clone(&ended));
        let playing = std::thread::spawn(move || {
            let started = Instant::now();
            std::thread::scope(|scope| {
                for row in &rows {
                    until(started + Duration::from_secs_f64(row.at));
                    let (_, agent) = agents.iter().find(|(name, _)| *name == row.agent).expect("an agent");
                    scope.spawn(move || run(agent, row));
                }
            });
            told.store(true, Ordering::Relaxed);
        });
        (ended, playing)
    }
}

/// Makes the workspace a repository with one commit: the trace needs one.
fn commit(home: &Home) {
    for args in [
        &["init", "-q"][..],
        &["add", "-A"],
        &["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "first"],
    ] {
        let mut git = std::process::Command::new("git");
        home.settle(&mut git);
        assert!(git.args(args).status().is_ok_and(|status| status.success()), "git {args:?}");
    }
}

fn until(time: Instant) {
    std::thread::sleep(time.saturating_duration_since(Instant::now()));
}

/// Runs a command as an agent does: a task that outlives the call is polled until it has ended.
fn run(agent: &Agent, row: &Row) {
    let asked = json!({"cmd": row.cmd, "tty": row.tty, "yield_time_ms": 2000});
    let answer = agent.call("ExecCommand", &asked);
    let Some(task) = answer.envelope.pointer("/result/task_handle/task_id").cloned() else { return };
    loop {
        let read = agent.call("TaskOutput", &json!({"task_id": task, "block": true, "timeout_ms": 15_000}));
        let status = read.envelope.pointer("/result/task/status").and_then(|status| status.as_str());
        if !matches!(status, Some("running" | "queued" | "cancelling")) {
            return;
        }
    }
}

/// The person at the console: sees the screen, presses keys, and counts them.
struct Person<'a> {
    console: &'a Console,
    /// All keys, including those of answers and notes.
    pressed: usize,
    /// The letters of answers and notes, and the `Enter` after each.
    written: usize,
}

impl Person<'_> {
    fn press(&mut self, keys: &[u8]) {
        self.console.keys(keys);
        self.pressed += 1;
    }

    fn write(&mut self, text: &str) {
        self.console.keys(text.as_bytes());
        self.console.keys(b"\r");
        self.pressed += text.len() + 1;
        self.written += text.len() + 1;
    }

    /// Tells whether the bar shows that something is waiting.
    fn is_needed(&self) -> bool {
        let text = self.console.text();
        let bar = text.lines().next().unwrap_or_default();
        ["◐", " held", "FOR YOU"].iter().any(|word| bar.contains(word))
    }

    /// Opens what has waited longest, and does what it asks for.
    fn attend(&mut self) {
        self.press(b"a");
        let shown = self.console.shown_until("a list of what waits", |text| {
            let row = text.lines().find(|row| row.contains("│ ▸ "))?;
            (text.contains("for you")).then(|| row.to_owned())
        });
        let target = shown.split_whitespace().nth(2).expect("an id").to_owned();
        self.press(b"\r");
        if shown.contains(" decide ") { self.decide() } else { self.answer(&target) }
    }

    /// Reads the prompt in the pane and types what it asks for.
    fn answer(&mut self, target: &str) {
        let word = self.console.shown_until("the prompt, with the keys in its task", |text| {
            let status = text.lines().last()?;
            let row = text.lines().rev().find(|row| row.contains("to go on:"))?;
            let word = row.split_once(". Type ")?.1.split_whitespace().next()?;
            status.contains(&format!("INPUT {target}")).then(|| word.to_owned())
        });
        self.write(&word);
        self.console.wait_for("the end of it", |screen| {
            let text = screen.contents();
            !text.contains("INPUT ") || text.contains("press any key")
        });
        self.press(b"\x1d");
        self.console.shows(" OBSERVE ");
    }

    /// Reads the card; approves the removal of a build, denies everything else.
    fn decide(&mut self) {
        let folder = self.console.shown_until("the card of a call", |text| {
            let card = text.split_once("wants to run a command")?.1;
            let row = card.lines().find(|row| row.contains("rm -rf "))?;
            Some(row.split_once("rm -rf ")?.1.split_whitespace().next()?.to_owned())
        });
        // A key pressed before the card could be read decides nothing.
        until(Instant::now() + Duration::from_millis(700));
        if folder.starts_with("build/") {
            self.press(b"y");
        } else {
            self.press(b"n");
            self.console.shows("why not?");
            self.write("keep the data");
        }
        self.console.wait_for("the decision counts", |screen| {
            // The list above still shows the command, and the card of another call may have appeared.
            let text = screen.contents();
            text.split_once("wants to run a command").is_none_or(|(_, card)| !card.contains(&folder))
        });
        if self.console.text().contains("wants to run a command") {
            self.press(b"\x1b");
        }
        self.console.shows(" OBSERVE ");
    }

    /// Steps through the failed tasks and returns their commands.
    fn find_failed(&mut self, count: usize) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        for _ in 0..count {
            self.press(b"E");
            let command = self.console.shown_until("another failed task is selected", |text| {
                let row = text.lines().find(|row| row.starts_with(" ▸ "))?;
                let (_, command) = row.split_once("sh bin/suite ")?;
                let command = format!("sh bin/suite {}", command.split_whitespace().next()?);
                (row.contains('✗') && !found.contains(&command)).then_some(command)
            });
            found.insert(command);
        }
        found
    }
}

/// Plays some rows to their end and checks that every answer reached its prompt.
fn supervise(rows: Vec<Row>, pause: f64) {
    if std::process::Command::new("git").arg("--version").output().is_err() {
        return skip("there is no git");
    }
    let work = Work::of(rows);
    let home = work.home(pause);
    let mut console = Console::open(&home, &[], (120, 40));
    console.shows("no agent yet");
    let (ended, playing) = work.begin(&home);
    let mut person = Person { console: &console, pressed: 0, written: 0 };
    while !ended.load(Ordering::Relaxed) {
        if person.is_needed() {
            person.attend();
        }
        until(Instant::now() + Duration::from_millis(50));
    }
    playing.join().expect("all of it has ended");
    let served = person.pressed - person.written;
    let found = person.find_failed(work.failing.len());
    let finding = person.pressed - person.written - served;

    assert_eq!(found, work.failing);
    for name in &work.asked {
        let answer = std::fs::read_to_string(home.workspace().join("answers").join(name)).expect("answered");
        assert_eq!(rot13(&answer), *name, "an answer went to another prompt");
    }
    for folder in &work.held {
        let stays = !folder.starts_with("build/");
        assert_eq!(home.workspace().join(folder).exists(), stays, "{folder}");
    }
    println!(
        "{} commands: {} prompts answered and {} calls decided with {served} keys, {} failures found with {finding}; \
         {} keys of the answers and notes themselves",
        work.rows.len(),
        work.asked.len(),
        work.held.len(),
        found.len(),
        person.written
    );
    console.shows("○ claude");
    console.shows("○ codex");
    console.keys(b"q");
    assert_eq!(console.exit(), 0);
}

fn rot13(text: &str) -> String {
    let turned = |letter: char| match letter {
        'a'..='m' => char::from(letter as u8 + 13),
        'n'..='z' => char::from(letter as u8 - 13),
        _ => letter,
    };
    text.chars().map(turned).collect()
}

fn rows() -> Vec<Row> {
    TRACE.lines().map(|row| serde_json::from_str(row).expect("a row")).collect()
}

#[test]
fn a_person_serves_two_agents_without_one_wrong_target() {
    let mut rows = rows();
    rows.truncate(24);
    rows.iter_mut().for_each(|row| row.at /= 10.0);
    supervise(rows, 0.01);
}

#[test]
#[ignore = "minutes; .ci/long runs it"]
fn long_three_hundred_commands_of_two_agents() {
    supervise(rows(), 0.2);
}
