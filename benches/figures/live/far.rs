//! One console over twenty places on another machine with a thousand tasks, behind a slow connection: from a key to
//! the frame that shows its echo, compared with the connection itself.

use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::echo::{ECHO, LETTERS};
use super::house::{CONSOLE, IDLE};
use super::places::{Place, console, surroundings};
use super::report::{self, Target, ms, percentile};
use super::tty::Tty;
use crate::folder::Folder;

const PLACES: usize = 20;
const TASKS: usize = 50;
const KEYS: usize = 200;
/// The delay of each piece, in milliseconds each way.
const DELAY: &str = "80";
/// Milliseconds allowed beyond the round trip.
const BEYOND: f64 = 20.0;

pub(crate) fn run() {
    report::head("key to frame, 20 places with 1,000 tasks behind a line that is 80 ms late each way");
    if Command::new("python3").arg("--version").stdout(Stdio::null()).status().is_err() {
        return println!("  not run: there is no python3");
    }
    let (here, there) = (Folder::make(), Folder::make());
    let places: Vec<Place> = (0..PLACES).map(|number| Place::begin(there.path(), number)).collect();
    for place in &places {
        (0..TASKS).for_each(|_| place.start(IDLE));
    }
    write_settings(here.path(), &program_of(there.path()));
    let mut tty = Tty::start(console(here.path(), &["box"]), CONSOLE);
    let all = format!("{PLACES} places");
    tty.wait("all places", |seen| seen.shows(&all));
    places[PLACES / 2].start(ECHO);
    tty.wait("the echo task", |seen| seen.shows("stty raw"));
    tty.type_in("/stty\r");
    tty.wait("its pane", |seen| seen.shows("ready"));
    tty.type_in("2z");
    tty.rest(Duration::from_secs(1));
    tty.type_in("\r");
    tty.wait("the input mode", |seen| seen.shows("INPUT"));
    let mut line = Line::open();
    let (mut bare, mut times) = (Vec::new(), Vec::new());
    for letter in LETTERS.chars().cycle().take(KEYS) {
        bare.push(ms(line.round_trip()));
        let key = letter.to_string();
        times.push(ms(tty.time_to(&key, &key)));
    }
    report::spread("the line alone, a byte there and back", &bare, "ms", (99, [Target::None; 2]));
    let limit = (percentile(&bare, 50) + BEYOND).round();
    report::spread("key to frame", &times, "ms", (99, [Target::None, Target::AtMost(limit)]));
}

fn late() -> [String; 4] {
    let pipe = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/pipe.py");
    ["python3", pipe, DELAY, "0"].map(str::to_owned)
}

/// Writes a script that stands for the program on another machine: it runs in that home.
fn program_of(there: &Path) -> PathBuf {
    let mut script = "#!/bin/sh\ncd /\n".to_owned();
    for (name, value) in surroundings(there) {
        writeln!(script, "export {name}='{value}'").expect("a text takes it");
    }
    writeln!(script, "exec '{}' \"$@\"", env!("CARGO_BIN_EXE_pilothouse")).expect("a text takes it");
    let path = there.join("program");
    std::fs::write(&path, script).expect("write the program");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("make it one");
    path
}

fn write_settings(here: &Path, program: &Path) {
    let folder = here.join("home/.config/pilothouse");
    std::fs::create_dir_all(&folder).expect("make a folder");
    let via = serde_json::to_string(&late()).expect("write the words");
    let settings = format!("[hosts.box]\nvia = {via}\nprogram = '{}'\n", program.display());
    std::fs::write(folder.join("config.toml"), settings).expect("write the settings");
}

/// The same connection with nothing behind it but an echo of each byte.
struct Line(std::process::Child);

impl Line {
    fn open() -> Self {
        let [program, args @ ..] = late();
        let mut command = Command::new(program);
        command.args(args).arg("cat").stdin(Stdio::piped()).stdout(Stdio::piped());
        Self(command.spawn().expect("start the line"))
    }

    fn round_trip(&mut self) -> Duration {
        let (Some(input), Some(output)) = (&mut self.0.stdin, &mut self.0.stdout) else {
            unreachable!("both are piped")
        };
        let began = Instant::now();
        input.write_all(b"a").expect("send a byte");
        output.read_exact(&mut [0]).expect("have it back");
        began.elapsed()
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
