//! A command of an agent's own shell, compared with the shell alone: through a runtime, switched off, and passed through.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use super::house::{environment, stop_runtime};
use super::report::{self, Target, median, ms, percentile};
use crate::folder::Folder;

const PROGRAM: &str = env!("CARGO_BIN_EXE_pilothouse");
const BASH: &str = "/bin/bash";
/// Commands of each kind, interleaved.
const ROUNDS: usize = 400;
/// Warm-up runs of each kind.
const WARM: usize = 10;

/// A way to run a command.
struct Way {
    shell: PathBuf,
    variables: &'static [(&'static str, &'static str)],
    times: Vec<f64>,
}

impl Way {
    fn new(shell: PathBuf, variables: &'static [(&'static str, &'static str)]) -> Self {
        Self { shell, variables, times: Vec::new() }
    }

    fn run(&mut self, dir: &Path) {
        let mut command = Command::new(&self.shell);
        command.args(["-c", "true"]).current_dir(dir).env_clear().envs(environment(dir));
        command.env("SHELL", BASH).envs(self.variables.iter().copied());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let started = Instant::now();
        let output = command.output().expect("run a shell");
        self.times.push(ms(started.elapsed()));
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    }
}

pub(crate) fn run() {
    report::head("an agent's own shell: `bash -c true`, added to bash alone");
    let dir = Folder::make();
    // The runtime is that of the directory of the program that calls the shell.
    let before = std::env::current_dir().expect("a directory");
    std::env::set_current_dir(dir.path()).expect("enter the folder");
    // Through the links by which agents call it.
    let links = dir.path().join("pilothouse/shells");
    let [told, gemini] = ["told", "gemini"].map(|folder| {
        let folder = links.join(folder);
        std::fs::create_dir_all(&folder).expect("make a folder");
        symlink(PROGRAM, folder.join("bash")).expect("make a link");
        folder.join("bash")
    });
    let mut ways = [
        Way::new(BASH.into(), &[]),
        Way::new(told.clone(), &[]),
        Way::new(told, &[("PILOTHOUSE_SHELL", "off")]),
        Way::new(gemini, &[("GEMINI_CLI", "1")]),
    ];
    for _ in 0..WARM + ROUNDS {
        ways.iter_mut().for_each(|way| way.run(dir.path()));
    }
    stop_runtime(dir.path());
    std::env::set_current_dir(before).expect("go back");
    let [plain, door, off, passed] = ways.map(|way| way.times[WARM..].to_vec());
    let bash = median(&plain);
    report::line("bash alone, median", bash, "ms", Target::None);
    report::line("through the runtime, added, median", median(&door) - bash, "ms", Target::AtMost(3.0));
    let slow = percentile(&door, 99) - bash;
    report::line("through the runtime, added, p99", slow, "ms", Target::AtMost(15.0));
    report::line("switched off, added, median", median(&off) - bash, "ms", Target::AtMost(1.0));
    report::line("passed through, added, median", median(&passed) - bash, "ms", Target::AtMost(1.0));
}
