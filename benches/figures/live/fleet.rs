//! One console over eight runtimes of this machine with four hundred tasks: what it holds, and what it costs while
//! nothing happens.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use portable_pty::CommandBuilder;

use super::house::{CONSOLE, IDLE, environment, until};
use super::proc;
use super::report::{self, Target};
use super::tty::Tty;

const PROGRAM: &str = env!("CARGO_BIN_EXE_pilothouse");
const PLACES: usize = 8;
const TASKS: usize = 50;
const WINDOW: Duration = Duration::from_secs(10);

/// A runtime in a workspace of its own; ended with it.
struct Place {
    runtime: Child,
    workspace: PathBuf,
}

impl Drop for Place {
    fn drop(&mut self) {
        // Its guards end what it has started.
        let _ = self.runtime.kill();
        let _ = self.runtime.wait();
    }
}

pub(crate) fn run() {
    report::head("one console over 8 runtimes with 400 tasks");
    let dir = tempfile::tempdir().expect("make a folder");
    let places: Vec<Place> = (0..PLACES).map(|number| place(dir.path(), number)).collect();
    for place in &places {
        (0..TASKS).for_each(|_| start(dir.path(), &place.workspace));
    }
    let mut console = CommandBuilder::new(PROGRAM);
    console.arg("fleet");
    console.cwd(dir.path());
    console.env_clear();
    surroundings(dir.path()).into_iter().for_each(|(name, value)| console.env(name, value));
    let began = Instant::now();
    let tty = Tty::start(console, CONSOLE);
    let all = format!("{PLACES} places");
    tty.wait("all places", |seen| seen.shows(&all));
    report::line("to a frame with all of them", report::ms(began.elapsed()), "ms", Target::None);
    let mut program = vec![tty.pid()];
    program.extend(proc::children(tty.pid()));
    // Ages below a minute are shown in seconds.
    tty.rest(Duration::from_secs(61));
    report::line("memory of the console", proc::resident_all(&program), "MiB", Target::AtMost(200.0));
    // The clock on the screen shows minutes: that frame is no idle one.
    let second = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs() % 60);
    if !(5..45).contains(&second) {
        tty.rest(Duration::from_secs((65 - second) % 60));
    }
    let (started, frames, before) = (Instant::now(), tty.seen(|seen| seen.frames), proc::cpu_all(&program));
    tty.rest(WINDOW);
    let spent = proc::cpu_all(&program).saturating_sub(before).as_secs_f64();
    let share = spent / started.elapsed().as_secs_f64() * 100.0;
    report::line("processor, idle, 10 s", share, "%", Target::AtMost(0.5));
    let frames = tty.seen(|seen| seen.frames) - frames;
    report::line("frames in them", frames as f64, "", Target::AtMost(0.0));
}

fn surroundings(dir: &Path) -> Vec<(&'static str, String)> {
    let locks = dir.join("locks").to_string_lossy().into_owned();
    environment(dir).into_iter().chain([("PILOTHOUSE_LOCK_DIR", locks)]).collect()
}

fn command(dir: &Path, workspace: &Path) -> Command {
    let mut command = Command::new(PROGRAM);
    command.current_dir(workspace).env_clear().envs(surroundings(dir));
    command
}

fn place(dir: &Path, number: usize) -> Place {
    let workspace = dir.join(format!("place-{number}"));
    std::fs::create_dir_all(workspace.join(".git")).expect("make a workspace");
    std::fs::write(workspace.join(".git/HEAD"), "ref: refs/heads/main\n").expect("make it one");
    let mut serve = command(dir, &workspace);
    let runtime =
        serve.arg("serve").stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("start a runtime");
    until("the runtime", || {
        let asked = command(dir, &workspace).args(["task", "list"]).output();
        asked.is_ok_and(|output| output.status.success())
    });
    Place { runtime, workspace }
}

fn start(dir: &Path, workspace: &Path) {
    let started = command(dir, workspace).args(["command", "run", IDLE, "--yield-time-ms", "0"]).output();
    assert!(started.is_ok_and(|output| output.status.success()), "a task starts");
}
