//! A trace of two agents' commands, the workspace in which it runs, and the agents that run it.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::json;

use crate::support::{Agent, Home};

/// The programs that the commands of a trace call. `$pause` is the delay between two lines of their output.
const PROGRAMS: [(&str, &str); 7] = [
    (
        "ask",
        "word=$(printf %s \"$1\" | tr a-z n-za-m)\n\
         printf 'About to run %s. Type %s to go on: ' \"$1\" \"$word\"\n\
         read -r answer\nprintf %s \"$answer\" > \"answers/$1\"\n[ \"$answer\" = \"$word\" ]\n",
    ),
    (
        "unlock",
        "stty -echo\nprintf 'Passphrase for %s: ' \"$1\"\nread -r answer\nstty echo\necho\n\
         printf %s \"$answer\" > \"answers/$1\"\n",
    ),
    (
        // Nobody is asked anything here: what is typed into it belonged somewhere else.
        "repl",
        "exec timeout --foreground $hold bash -c \
         'read -e -p \"> \" line && printf %s \"$line\" > answers/astray-'\"$1\"\n",
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
    ("think", "for n in $(seq \"$1\"); do sleep $pause; done\n"),
];

/// One call of the trace.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Row {
    /// Seconds since the start.
    pub(super) at: f64,
    agent: String,
    #[serde(flatten)]
    asked: Asked,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
enum Asked {
    One {
        cmd: String,
        #[serde(default)]
        tty: bool,
    },
    Several {
        batch: Vec<String>,
    },
}

impl Row {
    /// The rows of a trace: one JSON object a line.
    pub(super) fn all(trace: &str) -> Vec<Self> {
        trace.lines().map(|row| serde_json::from_str(row).expect("a row")).collect()
    }

    fn commands(&self) -> &[String] {
        match &self.asked {
            Asked::One { cmd, .. } => std::slice::from_ref(cmd),
            Asked::Several { batch } => batch,
        }
    }
}

/// What the person has to do in these rows.
pub(super) struct Work {
    pub(super) rows: Vec<Row>,
    /// The words that are asked for, in clear and hidden; each becomes a file once its prompt has been answered.
    asked: Vec<String>,
    hidden: Vec<String>,
    /// The folders that may be removed, and those that must stay.
    pub(super) held: Vec<String>,
    pub(super) failing: BTreeSet<String>,
}

impl Work {
    pub(super) fn of(rows: Vec<Row>) -> Self {
        let after = |prefix: &str| -> Vec<String> {
            let commands = rows.iter().flat_map(Row::commands);
            commands.filter_map(|command| command.strip_prefix(prefix)).map(str::to_owned).collect()
        };
        let failing = after("sh bin/suite ").iter().map(|name| format!("sh bin/suite {name}")).collect();
        Self {
            asked: after("sh bin/ask "),
            hidden: after("sh bin/unlock "),
            held: after("rm -rf "),
            failing,
            rows,
        }
    }

    /// How many prompts are to be answered.
    pub(super) fn prompts(&self) -> usize {
        self.asked.len() + self.hidden.len()
    }

    /// A workspace in which all the rows can run.
    pub(super) fn home(&self, pause: f64) -> Home {
        let home = Home::new();
        home.configure("config.toml", "[[approvals]]\nprefix = \"rm -rf\"\n");
        let write = |path: String, text: &str| {
            let path = home.workspace().join(path);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            std::fs::write(path, text).expect("written");
        };
        let hold = pause * 300.0;
        for (name, text) in PROGRAMS {
            write(format!("bin/{name}"), &format!("pause={pause}\nhold={hold}\n{text}"));
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
    pub(super) fn begin(&self, home: &Home) -> (Arc<AtomicBool>, JoinHandle<()>) {
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

    /// Asserts that every answer reached its prompt and no other, and that every decision was carried out.
    #[track_caller]
    pub(super) fn is_done_in(&self, workspace: &Path) {
        let answers = workspace.join("answers");
        let answer = |name: &String| std::fs::read_to_string(answers.join(name)).expect("answered");
        for name in &self.asked {
            assert_eq!(rot13(&answer(name)), *name, "an answer went to another prompt");
        }
        for name in &self.hidden {
            assert_eq!(answer(name), passphrase(name), "a passphrase went to another prompt");
        }
        let astray = std::fs::read_dir(answers).expect("a folder").flatten().map(|file| file.file_name());
        let astray: Vec<_> =
            astray.filter(|name| name.to_str().is_some_and(|name| name.contains("astray"))).collect();
        assert!(astray.is_empty(), "typed where nothing was asked: {astray:?}");
        for folder in &self.held {
            assert_eq!(workspace.join(folder).exists(), !may_go(folder), "{folder}");
        }
    }

    /// The passphrases, which no screen may ever show.
    pub(super) fn passphrases(&self) -> impl Iterator<Item = String> {
        self.hidden.iter().map(|name| passphrase(name))
    }
}

/// Tells whether a folder may be removed.
pub(super) fn may_go(folder: &str) -> bool {
    folder.starts_with("build/")
}

/// The passphrase that the person knows for a name.
pub(super) fn passphrase(name: &str) -> String {
    format!("{}-{}", rot13(name), name.len())
}

fn rot13(text: &str) -> String {
    let turned = |letter: char| match letter {
        'a'..='m' => char::from(letter as u8 + 13),
        'n'..='z' => char::from(letter as u8 - 13),
        _ => letter,
    };
    text.chars().map(turned).collect()
}

/// Makes the workspace a repository with one commit: the commands need one.
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

pub(super) fn until(time: Instant) {
    std::thread::sleep(time.saturating_duration_since(Instant::now()));
}

/// Makes a call as an agent does: a task that outlives it is polled until it has ended.
fn run(agent: &Agent, row: &Row) {
    let answer = match &row.asked {
        Asked::One { cmd, tty } => {
            agent.call("ExecCommand", &json!({"cmd": cmd, "tty": tty, "yield_time_ms": 2000}))
        }
        Asked::Several { batch } => {
            let items: Vec<_> = batch.iter().map(|cmd| json!({"cmd": cmd})).collect();
            agent.call("ExecCommandBatch", &json!({"items": items}))
        }
    };
    let Some(task) = answer.envelope.pointer("/result/task_handle/task_id").cloned() else { return };
    loop {
        let read = agent.call("TaskOutput", &json!({"task_id": task, "block": true, "timeout_ms": 15_000}));
        let status = read.envelope.pointer("/result/task/status").and_then(|status| status.as_str());
        if !matches!(status, Some("running" | "queued" | "cancelling")) {
            return;
        }
    }
}
