//! A runtime of its own for a test: in a throw-away folder, with the built program as task host.

use std::path::{Path, PathBuf};

use pilothouse::config::{Env, Limits};
use pilothouse::process::Spawner;
use pilothouse::runtime::{Handle, Options};

use super::program;

/// Starts a runtime whose workspace and recordings lie in `dir`; returns it with the workspace.
pub(crate) fn start_runtime(dir: &Path) -> (Handle, PathBuf) {
    start_limited(dir, Limits::default())
}

/// The same with other limits than the usual ones.
pub(crate) fn start_limited(dir: &Path, limits: Limits) -> (Handle, PathBuf) {
    let workspace = dir.canonicalize().expect("a folder").join("work");
    std::fs::create_dir_all(&workspace).expect("workspace");
    let runtime = Handle::start(Options {
        workspace: workspace.clone(),
        recordings: dir.join("recordings"),
        socket: dir.join("agent.sock"),
        headless: true,
        environment: std::env::vars_os().collect(),
        env: Env::default(),
        spawner: Spawner::with_program(program()),
        limits,
    });
    (runtime.expect("runtime"), workspace)
}
