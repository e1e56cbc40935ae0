//! A runtime for one test: in a throw-away folder, with the built program as task host.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use pilothouse::config::{EnvSettings, Limits};
use pilothouse::envelope::TaskId;
use pilothouse::link::ConsoleView;
use pilothouse::process::Spawner;
use pilothouse::runtime::{Handle, Options};

use super::{note_start, program};

/// Starts a runtime whose workspace and recordings are in `dir`; returns it and the workspace.
pub(crate) fn start_runtime(dir: &Path) -> (Handle, PathBuf) {
    start_limited(dir, Limits::default())
}

/// Like `start_runtime`, with limits other than the defaults.
pub(crate) fn start_limited(dir: &Path, limits: Limits) -> (Handle, PathBuf) {
    let options = options(dir, limits);
    let workspace = options.workspace.clone();
    (Handle::start(options).expect("runtime"), workspace)
}

/// Returns what such a runtime is started with.
pub(crate) fn options(dir: &Path, limits: Limits) -> Options {
    let workspace = dir.canonicalize().expect("a folder").join("work");
    std::fs::create_dir_all(&workspace).expect("workspace");
    Options {
        workspace,
        recordings: dir.join("recordings"),
        lanes: dir.join("lanes"),
        socket: dir.join("agent.sock"),
        headless: true,
        environment: std::env::vars_os().collect(),
        env: EnvSettings::default(),
        spawner: spawner(&limits),
        limits,
    }
}

/// Returns a spawner for a runtime in this process. All of these have one fork server, which the first starts. Where a
/// rule may hold a command, the program is started once more, to look at what that would cost.
pub(crate) fn spawner(limits: &Limits) -> Spawner {
    static FIRST: OnceLock<Spawner> = OnceLock::new();
    if !limits.approvals.is_empty() {
        note_start();
    }
    FIRST.get_or_init(|| Spawner::with_program(program())).another()
}

/// What a console says that shows these tasks, with the focus on one.
pub(crate) fn panes(visible: &[TaskId], focus: &TaskId) -> ConsoleView {
    ConsoleView { visible: visible.to_vec(), focus: Some(focus.clone()), ..ConsoleView::default() }
}
