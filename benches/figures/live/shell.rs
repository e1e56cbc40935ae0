//! A command of an agent's own shell, compared with the shell alone and with programs that do nothing but execute it:
//! through a runtime, switched off, passed through, and by the whole program.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use super::house::{environment, stop_runtime};
use super::report::{self, Target, median, ms, percentile};
use crate::folder::Folder;

const PROGRAM: &str = env!("CARGO_BIN_EXE_pilothouse-shell");
const WHOLE: &str = env!("CARGO_BIN_EXE_pilothouse");
const BASH: &str = "/bin/bash";
/// Commands of each kind, interleaved.
const ROUNDS: usize = 500;
/// Warm-up runs of each kind.
const WARM: usize = 10;
/// Programs that execute bash and do nothing else.
const EMPTY_RUST: &str = "use std::os::unix::process::CommandExt as _;
fn main() { let _ = std::process::Command::new(\"/bin/bash\").args(std::env::args_os().skip(1)).exec(); }";
const EMPTY_C: &str = "#include <unistd.h>
int main(int count, char **words, char **environment) { return execve(\"/bin/bash\", words, environment); }";

/// A way to run a command.
struct Way {
    shell: PathBuf,
    variables: &'static [(&'static str, &'static str)],
    times: Vec<f64>,
}

impl Way {
    fn new(shell: impl Into<PathBuf>, variables: &'static [(&'static str, &'static str)]) -> Self {
        Self { shell: shell.into(), variables, times: Vec::new() }
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

/// Builds a program from its text; where that is not possible, it is bash itself and adds nothing.
fn built(dir: &Path, compiler: &str, name: &str, text: &str) -> PathBuf {
    let (source, program) = (dir.join(name), dir.join(format!("{name}.out")));
    std::fs::write(&source, text).expect("write the text");
    let built = Command::new(compiler).arg("-O").arg(&source).arg("-o").arg(&program).status();
    if built.is_ok_and(|status| status.success()) { program } else { BASH.into() }
}

pub(crate) fn run() {
    report::head("an agent's own shell: `bash -c true`, added to bash alone");
    let dir = Folder::make();
    // The runtime is that of the directory of the program that calls the shell.
    let before = std::env::current_dir().expect("a directory");
    std::env::set_current_dir(dir.path()).expect("enter the folder");
    // Through the links by which agents call it.
    let links = dir.path().join("pilothouse/shells");
    let [told, whole] = [("told", PROGRAM), ("whole", WHOLE)].map(|(folder, program)| {
        let folder = links.join(folder);
        std::fs::create_dir_all(&folder).expect("make a folder");
        symlink(program, folder.join("bash")).expect("make a link");
        folder.join("bash")
    });
    let mut ways = [
        Way::new(BASH, &[]),
        Way::new(built(dir.path(), "rustc", "empty.rs", EMPTY_RUST), &[]),
        Way::new(built(dir.path(), "cc", "empty.c", EMPTY_C), &[]),
        Way::new(told.clone(), &[]),
        Way::new(told.clone(), &[("PILOTHOUSE_SHELL", "off")]),
        // What a task's command runs is part of that task.
        Way::new(told, &[("PILOTHOUSE_TASK_KIND", "command")]),
        Way::new(whole, &[("PILOTHOUSE_SHELL", "off")]),
    ];
    for _ in 0..WARM + ROUNDS {
        ways.iter_mut().for_each(|way| way.run(dir.path()));
    }
    stop_runtime(dir.path());
    std::env::set_current_dir(before).expect("go back");
    let times = ways.map(|way| way.times[WARM..].to_vec());
    let slow = percentile(&times[3], 99);
    let [bash, rust, c, door, off, passed, whole] = times.map(|times| median(&times));
    report::line("bash alone, median", bash, "ms", Target::None);
    report::line("an empty Rust program, added, median", rust - bash, "ms", Target::None);
    report::line("an empty C program, added, median", c - bash, "ms", Target::None);
    report::line("through the runtime, added, median", door - bash, "ms", Target::AtMost(3.0));
    report::line("through the runtime, added, p99", slow - bash, "ms", Target::AtMost(15.0));
    report::line("switched off, added, median", off - bash, "ms", Target::AtMost(1.0));
    report::line(
        "switched off, of an empty Rust program",
        (off - bash) / (rust - bash),
        "x",
        Target::AtMost(1.0),
    );
    report::line("passed through, added, median", passed - bash, "ms", Target::AtMost(1.0));
    report::line("the whole program, switched off, added, median", whole - bash, "ms", Target::None);
}
