//! Everything that the guide says to type is run: each line after a `$`, exactly as written, page by page, in order.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::{Home, program, write_program};

/// Lines that this suite cannot run, by their beginnings, and why. Each must occur in the guide.
const NOT_RUN: [(&str, &str); 12] = [
    ("cargo ", "builds the program"),
    ("claude ", "the agent itself: .ci/long agents"),
    ("codex ", "the agent itself: .ci/long agents"),
    ("gemini ", "the agent itself: .ci/long agents"),
    ("opencode ", "the agent itself: .ci/long agents"),
    ("pilothouse claude", "the agent itself: tests/agents"),
    ("pilothouse codex ", "the agent itself: tests/agents/executor.py"),
    ("pilothouse demo", "a console: e2e_demo"),
    ("pilothouse fleet", "a console: e2e_fleet"),
    ("pilothouse open", "a console: e2e_past"),
    ("pilothouse with ", "an agent: shell_bash_env"),
    ("pilothouse --accessible", "a console: e2e_spoken"),
];

/// The task id that stands for any task in the guide.
const TASK: &str = "task_4k2m9x7q";

/// A line to type, and what the guide shows after it.
struct Shown {
    line: String,
    after: Vec<String>,
}

/// The lines of a page's `console` blocks.
fn shown(text: &str) -> Vec<Shown> {
    let mut found: Vec<Shown> = Vec::new();
    for block in text.split("```console\n").skip(1).filter_map(|rest| rest.split("```").next()) {
        for line in block.lines() {
            match (line.trim_start().strip_prefix("$ "), found.last_mut()) {
                (Some(line), _) => found.push(Shown { line: line.to_owned(), after: Vec::new() }),
                (None, Some(last)) => last.after.push(line.to_owned()),
                (None, None) => {}
            }
        }
    }
    found
}

fn why_not(line: &str) -> Option<&'static str> {
    // The bare program name opens the console.
    if line.split('#').next().is_some_and(|command| command.trim() == "pilothouse") {
        return Some("a console: e2e_leaving");
    }
    NOT_RUN.iter().find(|(start, _)| line.starts_with(start)).map(|(_, why)| *why)
}

/// Creates the files in the workspace that the guide's commands need, and returns a running task.
fn prepare(home: &Home) -> String {
    let at = home.workspace();
    let write = |name: &str, text: &str| std::fs::write(at.join(name), text).expect("written");
    for folder in ["src", "docs"] {
        std::fs::create_dir(at.join(folder)).expect("a folder");
    }
    write("Makefile", "test:\n\t@echo tested\n");
    write("src/main.rs", "fn main() {}\n");
    write_program(&at.join("deploy"), "#!/bin/sh\necho deployed\n");
    write("deploy.prose", "let built = exec \"echo built\"\nexec \"echo {built}\"\n");
    let started = home.run(&["command", "run", "--yield-time-ms", "0", "echo ready; exec sleep 600"]);
    let started: Value = serde_json::from_slice(&started.stdout).expect("JSON");
    let receipt = home.run(&["receipt", "show", "1"]);
    let receipt: Value = serde_json::from_slice(&receipt.stdout).expect("JSON");
    write("envelope.json", &receipt["data"]["envelope"].to_string());
    started["data"]["task_handle"]["task_id"].as_str().expect("a task").to_owned()
}

/// Runs the lines of a page; returns how many there were, and adds what went wrong.
fn walk(page: &Path, wrong: &mut Vec<String>) -> usize {
    let text = std::fs::read_to_string(page).expect("text");
    let lines = shown(&text);
    if lines.iter().all(|shown| why_not(&shown.line).is_some()) {
        return 0;
    }
    let home = Home::new();
    let task = prepare(&home);
    let bin = program().parent().expect("a folder").to_owned();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
    let mut run = 0;
    for Shown { line, after } in lines.iter().filter(|shown| why_not(&shown.line).is_none()) {
        if let Some(file) = line.strip_prefix("cat ") {
            // What the guide shows is the content of the file.
            std::fs::write(home.workspace().join(file), format!("{}\n", after.join("\n"))).expect("written");
        }
        let mut shell = Command::new("bash");
        home.settle(&mut shell);
        shell.env("PATH", &path).args(["-o", "pipefail", "-c", &line.replace(TASK, &task)]);
        let done = shell.stdin(Stdio::null()).output().expect("a shell");
        let said = [done.stdout, done.stderr].concat();
        let said = String::from_utf8_lossy(&said).into_owned();
        if !done.status.success() {
            wrong.push(format!("{}: {line}: {}\n{said}", page.display(), done.status));
        }
        run += 1;
    }
    assert!(home.run(&["serve", "--stop"]).status.success());
    run
}

#[test]
fn every_command_of_the_guide_does_what_it_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let pages = root.join("docs").read_dir().expect("the guide").map(|page| page.expect("a page").path());
    let pages: Vec<_> = pages
        .chain([root.join("README.md")])
        .filter(|page| page.extension() == Some("md".as_ref()))
        .collect();
    let mut wrong = Vec::new();
    let run: usize = pages.iter().map(|page| walk(page, &mut wrong)).sum();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(run >= 30, "{run}");
    let all: String = pages.iter().map(|page| std::fs::read_to_string(page).expect("text")).collect();
    for (start, why) in NOT_RUN {
        assert!(all.contains(&format!("$ {start}")), "{start} ({why}) stands nowhere");
    }
}
