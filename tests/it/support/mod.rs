//! Helpers that several integration tests share: waiting for conditions, the built program, throw-away folders.

mod agent;
mod console;
mod desk;
mod exec;
mod home;
mod in_process;
mod runtime;
mod schemas;
mod script;
mod skip;
mod speaking;
mod tag;
mod terminal;
mod time_limit;
mod tree;
mod wire;

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use pilothouse::clock::Clock;
use pilothouse::model::READING;

pub(crate) use agent::{Agent, Answer};
pub(crate) use console::Console;
pub(crate) use desk::{Desk, heard};
pub(crate) use exec::{
    Ran, check_line, command as exec_command, exec, exec_by, exec_text, exec_with, ran as exec_ran,
};
pub(crate) use home::{Another, Home};
pub(crate) use in_process::{CallerPlace, InProcess};
pub(crate) use runtime::{options, panes, spawner, start_limited, start_runtime};
pub(crate) use schemas::{judged, must_be_an_envelope, recorded_envelopes_are_valid};
pub(crate) use script::Script;
pub(crate) use skip::{note_start, skip};
pub(crate) use speaking::Speaking;
pub(crate) use tag::{HOLDERS, Tag};
pub(crate) use terminal::give_up_terminal;
pub(crate) use time_limit::TimeLimit;
pub(crate) use tree::{Family, below, children, has_terminal, name, parent, send, state, users};
pub(crate) use wire::Wire;

/// How long a test waits for a fact: longer than any machine needs.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// The program under test: as built, or a copy for a user who cannot read the original (`.ci/run`).
#[track_caller]
pub(crate) fn program() -> PathBuf {
    give_up_terminal();
    note_start();
    program_path()
}

/// Where the program is, for what only names it.
pub(crate) fn program_path() -> PathBuf {
    std::env::var_os("CARGO_BIN_EXE_pilothouse")
        .map_or_else(|| env!("CARGO_BIN_EXE_pilothouse").into(), PathBuf::from)
}

/// The program that agents call as their shell: the one beside that.
pub(crate) fn shell_program() -> PathBuf {
    program().with_file_name("pilothouse-shell")
}

/// The program's path escaped as one word of a shell command line, also inside single quotes: it may contain spaces.
pub(crate) fn program_word() -> String {
    let path = program().display().to_string();
    let is_plain = |letter: char| letter.is_alphanumeric() || "/._-".contains(letter);
    path.chars().flat_map(|letter| (!is_plain(letter)).then_some('\\').into_iter().chain([letter])).collect()
}

/// Has another program run `program`, with its arguments, environment and directory.
pub(crate) fn run_by(words: &[&str], program: &Command) -> Command {
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).arg(program.get_program()).args(program.get_args()).stdin(Stdio::null());
    for (name, value) in program.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    if let Some(dir) = program.get_current_dir() {
        command.current_dir(dir);
    }
    command
}

/// Waits until `fact` holds, at most `PATIENCE`; panics with `what` otherwise.
#[track_caller]
pub(crate) fn wait_until(what: &str, fact: impl FnMut() -> bool) {
    wait_until_or(|| what.to_owned(), fact);
}

/// Like `wait_until`; the message is built only when the wait has failed.
#[expect(clippy::disallowed_methods, reason = "the one place that polls")]
#[track_caller]
pub(crate) fn wait_until_or(what: impl Fn() -> String, mut fact: impl FnMut() -> bool) {
    let started = std::time::Instant::now();
    while !fact() {
        assert!(started.elapsed() < PATIENCE, "waited {} s for: {}", PATIENCE.as_secs(), what());
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Waits until an answer to what has just been shown counts: a person needs some time to read it. Twice that time, as
/// the program may begin to count a moment after the test has seen it.
#[track_caller]
pub(crate) fn read_it() {
    let shown = Clock::start();
    wait_until("time to read", || shown.now().mono > 2 * READING);
}

/// Writes a program that can be run at once. Another process writes it: if this one had the file open, a child that
/// another test is just forking would have it open too until its `exec`, and the kernel runs no file that somebody
/// may still write to ("Text file busy").
#[track_caller]
pub(crate) fn write_program(path: &Path, text: &str) {
    let written = Command::new("sh").args(["-c", "printf %s \"$1\" > \"$0\""]).arg(path).arg(text).status();
    assert!(written.expect("sh runs").success(), "{}", path.display());
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("set");
}
