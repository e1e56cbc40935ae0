//! Command lines through every door, against plain `bash -c`: output, exit code and files are equal, or the difference
//! is a row of the table in `docs/command-lines.md`.

mod rows;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::io::Read;
use std::os::fd::AsFd;
use std::os::unix::fs::FileTypeExt as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use pilothouse::model::Exit;
use pilothouse::process::ExitRecord;
use pilothouse::runtime::{log_path, read_marks};
use pilothouse::terminal::{ByteSource, MarkKind};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Signal;
use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use serde_json::{Value, json};

use crate::support::{Agent, Console, Home, Tag, program, send, wait_until};
use rows::{Row, rows};

/// A repository with one commit, for rows about editors.
const REPOSITORY: &str = "git init -q . && git commit -q --allow-empty -m a";
/// Rows that would wait for somebody who types where their input is a terminal.
const NOT_ON_A_TERMINAL: [&str; 3] = ["standard input is empty", "a group with a time limit", "interactive"];
/// How many commands run at a time.
const HANDS: usize = 6;
/// The most commands of a batch.
const BATCH: usize = 12;

/// A way for a command to reach us.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Door {
    Shell,
    ExecCommand,
    Promoted,
    Tty,
    Batch,
    CommandRun,
}

impl Door {
    const ALL: [Self; 6] =
        [Self::Shell, Self::ExecCommand, Self::Promoted, Self::Tty, Self::Batch, Self::CommandRun];

    /// Its name in the table.
    fn name(self) -> &'static str {
        match self {
            Self::Shell => "shell",
            Self::ExecCommand => "ExecCommand",
            Self::Promoted => "promoted",
            Self::Tty => "tty",
            Self::Batch => "batch",
            Self::CommandRun => "command run",
        }
    }
}

/// What came of a command.
#[derive(PartialEq, Eq, Default)]
struct Seen {
    /// The output; on a terminal, all of it.
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    exit: String,
    files: BTreeMap<PathBuf, Vec<u8>>,
}

impl Seen {
    /// Says where two differ.
    fn difference(&self, plain: &Self) -> Option<String> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(&bytes[..bytes.len().min(120)]).into_owned();
        let of = |what: &str, ours: &[u8], theirs: &[u8]| {
            (ours != theirs).then(|| format!("{what} {:?}, plainly {:?}", text(ours), text(theirs)))
        };
        let names: BTreeSet<&PathBuf> = self.files.keys().chain(plain.files.keys()).collect();
        let file = |seen: &Self, name| seen.files.get(name).cloned().unwrap_or_else(|| b"(none)".to_vec());
        let files = names.into_iter().filter_map(|name| {
            of(&format!("file {}", name.display()), &file(self, name), &file(plain, name))
        });
        let streams = [
            of("exit", self.exit.as_bytes(), plain.exit.as_bytes()),
            of("stdout", &self.stdout, &plain.stdout),
            of("stderr", &self.stderr, &plain.stderr),
        ];
        let all: Vec<String> = streams.into_iter().flatten().chain(files).collect();
        (!all.is_empty()).then(|| all.join("; "))
    }
}

fn exit_of(status: ExitStatus) -> String {
    status.code().map_or_else(|| format!("signal {}", status.signal().unwrap_or(0)), |code| format!("{code}"))
}

/// The files below a folder, without those of git.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in next.read_dir().expect("a folder").flatten() {
            let (path, kind) = (entry.path(), entry.file_type().expect("a kind"));
            let name = path.strip_prefix(folder).expect("below").to_owned();
            if kind.is_dir() && entry.file_name() != ".git" {
                folders.push(path);
            } else if kind.is_file() {
                found.insert(name, fs::read(&path).expect("a file"));
            } else if kind.is_symlink() {
                found.insert(
                    name,
                    fs::read_link(&path).expect("a link").into_os_string().into_encoded_bytes(),
                );
            } else if kind.is_fifo() {
                found.insert(name, b"(a named pipe)".to_vec());
            }
        }
    }
    found
}

/// One comparison: a runtime, and a folder for each row and door.
struct Table {
    home: Home,
    rows: Vec<Row>,
    /// The path of bash, as the link named `bash` finds it.
    shell: String,
    /// What nobody waits for: of plain shells, and of ours.
    tags: [Tag; 2],
}

impl Table {
    fn new() -> Self {
        let home = Home::new();
        let settings = "[user]\nname = Ada\nemail = ada@example.org\n[init]\ndefaultBranch = main\n";
        fs::write(home.workspace().join("../.gitconfig"), settings).expect("written");
        let folders = std::env::var_os("PATH").expect("a path");
        let shells = std::env::split_paths(&folders).map(|folder| folder.join("bash"));
        let shell = shells.into_iter().find(|bash| bash.is_file()).expect("bash");
        let shell = shell.into_os_string().into_string().expect("text");
        Self { home, rows: rows(), shell, tags: [Tag::new(), Tag::new()] }
    }

    fn runs_at(&self, door: Door, row: usize) -> bool {
        let name = self.rows[row].0;
        match door {
            Door::Tty => !NOT_ON_A_TERMINAL.contains(&name),
            Door::Shell | Door::ExecCommand | Door::Promoted | Door::CommandRun | Door::Batch => true,
        }
    }

    /// The folder in which a row runs.
    fn folder(&self, door: &str, row: usize) -> PathBuf {
        self.home
            .workspace()
            .canonicalize()
            .expect("a folder")
            .join(door.replace(' ', "-"))
            .join(row.to_string())
    }

    fn cmd(&self, row: usize, tag: &Tag) -> String {
        self.rows[row].1.replace("TAG", &tag.0).replace("GIT", REPOSITORY)
    }

    /// Gives a program the environment in which all of them run.
    fn settle(&self, command: &mut Command) {
        self.home.settle(command);
        command.env("LANG", "C.UTF-8").env("TERM", "dumb").env("SHELL", &self.shell);
        for name in
            ["LC_ALL", "NO_COLOR", "FORCE_COLOR", "EDITOR", "VISUAL", "GIT_EDITOR", "PAGER", "CLAUDECODE"]
        {
            command.env_remove(name);
        }
    }

    /// Runs `work` for every number below `count`, several at a time.
    fn each(count: usize, work: impl Fn(usize) + Sync) {
        let next = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..HANDS {
                scope.spawn(|| {
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        if number >= count {
                            return;
                        }
                        work(number);
                    }
                });
            }
        });
    }

    /// What plain shells make of the rows: on pipes, and on a terminal.
    fn plain(&self) -> HashMap<(usize, bool), Seen> {
        let found = Mutex::new(HashMap::new());
        Self::each(self.rows.len() * 2, |number| {
            let (row, tty) = (number / 2, number % 2 == 1);
            if tty && !self.runs_at(Door::Tty, row) {
                return;
            }
            let folder = self.folder(if tty { "plain-tty" } else { "plain" }, row);
            fs::create_dir_all(&folder).expect("a folder");
            let cmd = self.cmd(row, &self.tags[0]);
            let seen =
                if tty { self.plain_on_terminal(&cmd, &folder) } else { self.plain_on_pipes(&cmd, &folder) };
            found.lock().expect("found").insert((row, tty), seen);
        });
        let mut found = found.into_inner().expect("found");
        // Nothing of a plain shell is ended: wait for everything that ends.
        let mark = format!("PLAIN={}", self.tags[0].0);
        let is_server = |pid: &u32| {
            let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            line.starts_with(b"sleep") && String::from_utf8_lossy(&line).contains(&self.tags[0].0)
        };
        wait_until("plain shells are done", || {
            let rest: Vec<u32> = pids().filter(|pid| carries(*pid, &mark)).collect();
            rest.iter().filter(|pid| is_server(pid)).for_each(|pid| send(*pid, Signal::KILL));
            rest.is_empty()
        });
        for ((row, tty), seen) in &mut found {
            seen.files = files(&self.folder(if *tty { "plain-tty" } else { "plain" }, *row));
        }
        found
    }

    fn plain_on_pipes(&self, cmd: &str, folder: &Path) -> Seen {
        let mut shell = with_usual_signals(Path::new(&self.shell));
        self.settle(&mut shell);
        shell.args(["-c", cmd]).current_dir(folder).env("PLAIN", &self.tags[0].0);
        on_pipes(shell)
    }

    fn plain_on_terminal(&self, cmd: &str, folder: &Path) -> Seen {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let master = openpt(flags).expect("a terminal");
        grantpt(&master).expect("granted");
        unlockpt(&master).expect("unlocked");
        let slave = ioctl_tiocgptpeer(&master, flags).expect("its other side");
        let size = Winsize { ws_row: 40, ws_col: 120, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&master, size).expect("sized");
        let mut command = Command::new("setsid");
        self.settle(&mut command);
        command
            .args(["--ctty", "env", "--default-signal", &self.shell, "-c", cmd])
            .current_dir(folder)
            .env("PLAIN", &self.tags[0].0);
        command.env("TERM", "xterm-256color");
        let stream = || Stdio::from(slave.try_clone().expect("a descriptor"));
        let mut shell = command.stdin(stream()).stdout(stream()).stderr(stream()).spawn().expect("starts");
        // They hold the terminal open.
        drop((command, slave));
        let mut master = fs::File::from(master);
        let mut stdout = Vec::new();
        let mut buffer = [0; 65_536];
        // Once nobody has it open any more, it fails: that is its end.
        while let Ok(read @ 1..) = master.read(&mut buffer) {
            stdout.extend_from_slice(&buffer[..read]);
        }
        Seen { stdout, exit: exit_of(shell.wait().expect("ends")), ..Seen::default() }
    }

    /// Runs all rows through all doors; returns what a caller of the shell door saw.
    fn run(&self) -> HashMap<usize, Seen> {
        let mut shim = self.home.command(&["mcp"]);
        self.settle(&mut shim);
        let agent = Agent::connect_by(&self.home, shim);
        let by_door = Mutex::new(HashMap::new());
        let count = self.rows.len();
        Self::each(count * 5 + count.div_ceil(BATCH), |number| {
            let (row, kind) = (number % count, number / count);
            let door =
                [Door::Shell, Door::ExecCommand, Door::Promoted, Door::Tty, Door::CommandRun].get(kind);
            if door.is_some_and(|door| !self.runs_at(*door, row)) {
                return;
            }
            match kind {
                0 => drop(by_door.lock().expect("seen").insert(row, self.by_shell(row))),
                1 => drop(agent.call("ExecCommand", &self.exec(Door::ExecCommand, row))),
                2 => drop(agent.call("ExecCommand", &self.exec(Door::Promoted, row))),
                3 => drop(agent.call("ExecCommand", &self.exec(Door::Tty, row))),
                4 => self.by_command_run(row),
                _ => {
                    let items = (row * BATCH..count.min((row + 1) * BATCH)).map(|row| self.item(row));
                    let items: Vec<Value> = items.collect();
                    drop(agent.call("ExecCommandBatch", &json!({ "items": items })));
                }
            }
        });
        agent.leave();
        by_door.into_inner().expect("seen")
    }

    /// The command line of a row at a door, in a folder of its own.
    fn ours(&self, door: Door, row: usize) -> (String, PathBuf) {
        let folder = self.folder(door.name(), row);
        fs::create_dir_all(&folder).expect("a folder");
        (self.cmd(row, &self.tags[1]), folder)
    }

    fn exec(&self, door: Door, row: usize) -> Value {
        let (cmd, folder) = self.ours(door, row);
        let wait = if door == Door::Promoted { 0 } else { 30_000 };
        json!({ "cmd": cmd, "workdir": folder, "shell": self.shell, "yield_time_ms": wait, "tty": door == Door::Tty })
    }

    fn item(&self, row: usize) -> Value {
        let (cmd, folder) = self.ours(Door::Batch, row);
        json!({ "cmd": cmd, "workdir": folder, "shell": self.shell })
    }

    fn by_command_run(&self, row: usize) {
        let (cmd, folder) = self.ours(Door::CommandRun, row);
        let mut run = self.home.command(&["command", "run", "--shell", &self.shell, "--workdir"]);
        self.settle(&mut run);
        run.arg(folder).args(["--", &cmd]).output().expect("runs");
    }

    fn by_shell(&self, row: usize) -> Seen {
        let (cmd, folder) = self.ours(Door::Shell, row);
        let link = self.home.workspace().join("../pilothouse-bash");
        let mut call = with_usual_signals(&link);
        self.settle(&mut call);
        call.args(["-c", &cmd]).current_dir(&folder);
        call.env_remove("PILOTHOUSE_TASK_KIND").env("PILOTHOUSE_SHELL_DOOR", self.home.workspace());
        on_pipes(call)
    }

    /// The folders of all tasks that have started, by the folders in which they run.
    fn started(&self) -> HashMap<PathBuf, PathBuf> {
        let recordings = self.home.workspace().join("../state/pilothouse/recordings");
        let recordings = recordings.read_dir().expect("recordings").flatten();
        let parts = recordings.flat_map(|folder| folder.path().read_dir().expect("a recording").flatten());
        let is_journal = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "jsonl");
        let mut found = HashMap::new();
        for part in parts.map(|part| part.path()).filter(is_journal) {
            // The last line may be incomplete.
            let text = fs::read_to_string(part).expect("text");
            for row in text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
                if row["kind"] == "start" {
                    let path =
                        |field: &str| PathBuf::from(row["data"]["task"][field].as_str().expect("a path"));
                    found.insert(path("workdir"), path("folder"));
                }
            }
        }
        found
    }
}

/// Starts a program with no signal ignored, however the tests were started (`nohup`, in the background of a script).
fn with_usual_signals(program: &Path) -> Command {
    let mut command = Command::new("env");
    command.arg("--default-signal").arg(program);
    command
}

/// Runs a command to its end and reads its output to the end, or until only a server could still write.
fn on_pipes(mut command: Command) -> Seen {
    let mut child =
        command.process_group(0).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
    let (stdout, stderr) = (child.stdout.take().expect("a pipe"), child.stderr.take().expect("a pipe"));
    let has_ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let stdout = scope.spawn(|| until_quiet(stdout, &has_ended));
        let stderr = scope.spawn(|| until_quiet(stderr, &has_ended));
        let exit = exit_of(child.wait().expect("ends"));
        has_ended.store(true, Ordering::Relaxed);
        let (stdout, stderr) = (stdout.join().expect("read"), stderr.join().expect("read"));
        Seen { stdout, stderr, exit, files: BTreeMap::new() }
    })
}

fn until_quiet(mut stream: impl Read + AsFd, has_ended: &AtomicBool) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 65_536];
    let mut quiet = 0;
    // No row is quiet for two seconds, except those that leave a server.
    while quiet < 20 {
        let wait = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
        if poll(&mut [PollFd::new(&stream, PollFlags::IN)], Some(&wait)).expect("polled") == 0 {
            quiet += u32::from(has_ended.load(Ordering::Relaxed));
            continue;
        }
        quiet = 0;
        match stream.read(&mut buffer).expect("read") {
            0 => break,
            read => bytes.extend_from_slice(&buffer[..read]),
        }
    }
    bytes
}

/// The processes on this machine.
fn pids() -> impl Iterator<Item = u32> {
    fs::read_dir("/proc")
        .expect("lists")
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

fn carries(pid: u32, variable: &str) -> bool {
    fs::read(format!("/proc/{pid}/environ"))
        .is_ok_and(|bytes| bytes.split(|byte| *byte == 0).any(|own| own == variable.as_bytes()))
}

/// What is on record of one command.
fn recorded(folder: &Path) -> Seen {
    let log = fs::read(log_path(folder)).unwrap_or_default();
    let marks = read_marks(folder).unwrap_or_default();
    let mut seen = Seen::default();
    let chunks: Vec<_> = marks
        .iter()
        .filter_map(|mark| match mark.kind {
            MarkKind::Chunk(stream) => Some((usize::try_from(mark.offset).expect("short"), stream)),
            MarkKind::Resize(_) | MarkKind::Gap { .. } | MarkKind::Input => None,
        })
        .collect();
    let is_terminal = !chunks.iter().any(|(_, stream)| *stream != ByteSource::Tty);
    let ends = chunks.iter().skip(1).map(|(at, _)| *at).chain([log.len()]);
    for ((at, stream), end) in chunks.iter().zip(ends) {
        match stream {
            ByteSource::Stderr => seen.stderr.extend_from_slice(&log[*at..end]),
            // The terminal beside the streams of a command is not part of its output.
            ByteSource::Tty if !is_terminal => {}
            ByteSource::Tty | ByteSource::Stdout => seen.stdout.extend_from_slice(&log[*at..end]),
        }
    }
    let ended = ExitRecord::read(folder).expect("readable").and_then(|record| record.exit);
    seen.exit = match ended {
        Some(Exit::Code(code)) => code.to_string(),
        Some(Exit::Signal(signal)) => format!("signal {}", signal.number()),
        None => "no end on record".to_owned(),
    };
    seen
}

/// The rows of the table of differences: names of a command line and of the doors where it differs.
fn documented() -> BTreeMap<String, BTreeSet<String>> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/command-lines.md");
    let text = fs::read_to_string(page).expect("the page");
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `")).map(|line| {
        let mut cells = line.split('|').map(|cell| cell.trim().trim_matches('`').to_owned());
        let (name, doors) = (cells.next().unwrap_or_default(), cells.next().unwrap_or_default());
        (name, doors.split(", ").map(str::to_owned).collect())
    });
    rows.collect()
}

fn compare(with_console: bool) {
    let table = Table::new();
    std::os::unix::fs::symlink(program(), table.home.workspace().join("../pilothouse-bash")).expect("a link");
    let mut served = table.home.serve();
    let console = with_console.then(|| {
        let console = Console::open(&table.home, &[], (120, 40));
        console.shows("OBSERVE");
        console
    });
    let plain = table.plain();
    let mut shell = table.run();
    // What an agent's own shell leaves running goes on.
    let shells = table.folder(Door::Shell.name(), 0).parent().expect("a folder").to_owned();
    let has_ended =
        |(at, task): (PathBuf, PathBuf)| at.starts_with(&shells) || task.join("exit.json").exists();
    wait_until("every command has ended", || table.started().into_iter().all(has_ended));
    drop(console);
    table.home.stop(&mut served);
    wait_until("no server outlives its runtime", || table.tags[1].holders().is_empty());
    let tasks = table.started();
    let documented = documented();
    let mut wrong = Vec::new();
    for (row, (name, cmd)) in table.rows.iter().enumerate() {
        for door in Door::ALL.into_iter().filter(|door| table.runs_at(*door, row)) {
            let folder = table.folder(door.name(), row);
            // What bash itself refuses to run is not a command of an agent's shell.
            let is_recorded = tasks.contains_key(&folder) || *name == "a leading dash";
            assert!(is_recorded, "{} | {name} is not on record", door.name());
            let seen = if door == Door::Shell {
                shell.remove(&row)
            } else {
                tasks.get(&folder).map(|task| recorded(task))
            };
            let seen = seen.map(|seen| Seen { files: files(&folder), ..seen });
            let difference = match seen {
                Some(seen) => seen.difference(&plain[&(row, door == Door::Tty)]),
                None => Some("nothing on record".to_owned()),
            };
            let is_told = documented.get(*name).is_some_and(|doors| doors.contains(door.name()));
            match difference {
                Some(difference) if !is_told => {
                    wrong.push(format!("{} | {name} | {cmd}\n    {difference}", door.name()))
                }
                _ => {}
            }
        }
    }
    let names: BTreeSet<&str> = table.rows.iter().map(|(name, _)| *name).collect();
    assert_eq!(names.len(), table.rows.len(), "names are unique");
    assert!(documented.keys().all(|name| names.contains(name.as_str())), "the table is about these rows");
    assert!(wrong.is_empty(), "{} differ from plain bash:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn f56_command_lines_do_what_they_do_in_plain_bash() {
    assert!(rows().len() >= 120);
    compare(false);
}

#[test]
fn f56_command_lines_do_what_they_do_in_plain_bash_while_a_console_is_open() {
    compare(true);
}
