//! A `/proc` that hides processes (`hidepid`, `subset=pid`): a person's console attaches all the same, and no command
//! acts as the operator by hiding what it comes from. Each program gets an instance of `/proc` of its own: a remount would
//! change that of the machine.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;

use crate::support::{Console, Home, program, program_word, run_by, skip, write_program};

/// The ordinary user that everything runs as.
const USER: u32 = 65_533;
const MODES: [&str; 4] = ["hidepid=1", "hidepid=2", "hidepid=4", "subset=pid"];

/// The folders of an ordinary user, and a mode in which `/proc` is mounted.
struct HiddenHome {
    home: Home,
    mode: &'static str,
}

impl HiddenHome {
    /// Creates the folders; skips and returns `None` if such a `/proc` cannot be mounted here, or the user not run the
    /// program.
    #[track_caller]
    fn new(mode: &'static str) -> Option<Self> {
        let hidden = Self { home: Home::new(), mode };
        let mut check = Command::new("sh");
        check.args(["-c", "test -r \"$0\" && grep -q \" /proc proc .*$1\" /proc/self/mounts"]);
        check.arg(program()).arg(mode.split('=').next().expect("a name"));
        if !hidden.below(&check).output().is_ok_and(|output| output.status.success()) {
            skip(&format!("in part: no /proc with {mode} for an ordinary user"));
            return None;
        }
        let mut give = Command::new("chown");
        give.args(["-R", &format!("{USER}:{USER}")]).arg(hidden.home.workspace().parent().expect("a home"));
        assert!(give.status().expect("chown runs").success());
        Some(hidden)
    }

    /// Has the user run `command` where `/proc` is mounted in this mode.
    fn below(&self, command: &Command) -> Command {
        let mount = format!(
            "mount -t proc -o {} proc /proc && exec setpriv --reuid={USER} --regid={USER} --clear-groups \"$0\" \"$@\"",
            self.mode
        );
        run_by(&["unshare", "-m", "--propagation", "private", "sh", "-c", &mount], command)
    }

    fn run(&self, args: &[&str]) -> Output {
        self.below(&self.home.command(args)).output().expect("runs")
    }

    fn serve(&self) -> Child {
        self.home.listening(&mut self.below(&self.home.command(&["serve"])))
    }

    /// What `doctor` finds about `/proc`.
    fn finding(&self) -> Value {
        let answer: Value = serde_json::from_slice(&self.run(&["doctor"]).stdout).expect("JSON");
        let findings = answer["data"]["findings"].as_array().expect("findings");
        findings.iter().find(|finding| finding["check"] == "/proc").expect("about /proc").clone()
    }
}

impl Drop for HiddenHome {
    fn drop(&mut self) {
        // The home's own way out is another user's.
        let _ = self.run(&["serve", "--stop"]);
    }
}

#[test]
fn f64_a_console_attaches_and_a_runtime_is_stopped_though_processes_are_hidden() {
    for mode in MODES {
        let Some(hidden) = HiddenHome::new(mode) else { continue };
        // Starts the runtime.
        let ran = hidden.run(&["command", "run", "--raw", "echo hi"]);
        assert_eq!(String::from_utf8_lossy(&ran.stdout), "hi\n", "{mode}: {ran:?}");
        let found = hidden.finding();
        assert_eq!(found["state"], "note", "{mode}: {found}");
        assert!(found["found"].as_str().is_some_and(|found| found.starts_with(mode)), "{mode}: {found}");

        let mut program = hidden.home.command(&[]);
        program.env("TERM", "xterm-256color").env("LANG", "C.UTF-8").env_remove("LC_ALL");
        let mut console = Console::of(&hidden.below(&program), (100, 30));
        console.shows("echo hi");
        let stopped = hidden.run(&["serve", "--stop"]);
        let said = String::from_utf8_lossy(&stopped.stdout);
        assert!(stopped.status.success() && said.contains("stopped"), "{mode}: {stopped:?}");
        console.shows("RUNTIME GONE");
        console.keys(b"q");
        console.exit();
    }
}

/// Each way by which a command tries to stop its runtime, in a process that hides what it comes from; prints the answers.
const WAYS: &str = r#"
import ctypes, os, pty, resource, subprocess, sys, time
libc = ctypes.CDLL(None)
names = ("HOME", "PATH", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "PILOTHOUSE_LOCK_DIR")
clean = {name: os.environ[name] for name in names if name in os.environ}
stop = [sys.argv[1], "serve", "--stop"]
RLIMIT_LOCKS = 10

def hide():
    libc.prctl(4, 0, 0, 0, 0)  # PR_SET_DUMPABLE

def attempt():
    try:
        resource.setrlimit(RLIMIT_LOCKS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    except ValueError:
        pass
    done = subprocess.run(stop, env=clean, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.stdout

def forked(work):
    """The output of work in a child."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(ours)
        try:
            os.write(theirs, work())
        finally:
            os._exit(0)
    os.close(theirs)
    with open(ours, "rb") as said:
        text = said.read()
    os.waitpid(child, 0)
    return text

def undumpable():
    hide()
    return attempt()

def session():
    os.setsid()
    hide()
    return attempt()

def double_fork():
    os.setsid()
    return forked(session)

def unreadable():
    # A shell that may be executed and not read, which stays as the parent.
    line = "setsid -w \"$@\" 2>&1; :"
    done = subprocess.run(["./unreadable", "-c", line, "sh", *stop], env=clean, stdout=subprocess.PIPE)
    return done.stdout

def terminal():
    hide()
    child, master = pty.fork()
    if child == 0:
        os.execve("./unreadable", ["sh", "-c", "\"$@\"; :", "sh", *stop], clean)
    said = b""
    try:
        while part := os.read(master, 4096):
            said += part
    except OSError:
        pass
    os.waitpid(child, 0)
    return said

def orphaned():
    # The parent exits; who adopts is hidden.
    libc.prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
    hide()
    ours, theirs = os.pipe()
    if os.fork() == 0:
        adopting = os.getppid()
        middle = os.getpid()
        if os.fork() == 0:
            os.setsid()
            while os.getppid() == middle:
                time.sleep(0.001)
            assert os.getppid() == adopting
            os.write(theirs, attempt())
        os._exit(0)
    os.close(theirs)
    with open(ours, "rb") as said:
        return said.read()

def namespace():
    # Root of a namespace of its own.
    os.setsid()
    hide()
    libc.unshare(0x10000000)  # CLONE_NEWUSER
    return attempt()

for way in (attempt, undumpable, session, double_fork, unreadable, terminal, orphaned, namespace):
    text = forked(way).decode(errors="replace")
    print(way.__name__ + ":", " ".join(text.split()), flush=True)
"#;
/// How many there are, and how many of them show no other sign of a task than its mark.
const WAYS_COUNT: usize = 8;
const HIDDEN_COUNT: usize = 6;

#[test]
fn f64_a_command_that_hides_what_it_comes_from_is_not_the_operator() {
    if !Command::new("python3").arg("--version").stdout(Stdio::null()).status().is_ok_and(|ran| ran.success())
    {
        return skip("there is no python3");
    }
    for mode in &MODES[..3] {
        let Some(hidden) = HiddenHome::new(mode) else { continue };
        let workspace = hidden.home.workspace();
        write_program(&workspace.join("ways.py"), WAYS);
        let unreadable = workspace.join("unreadable");
        std::fs::copy("/bin/sh", &unreadable).expect("copied");
        std::fs::set_permissions(&unreadable, Permissions::from_mode(0o111)).expect("set");
        let mut served = hidden.serve();
        let line = format!("PATH=/usr/local/bin:/usr/bin:/bin python3 ways.py {}", program_word());
        let ran = hidden.run(&["command", "run", "--raw", &line]);
        let said = String::from_utf8_lossy(&ran.stdout);
        let refused = |why: &str| said.lines().filter(|line| line.contains(why)).count();
        assert_eq!(refused("cannot act as the operator"), WAYS_COUNT, "{mode}: {ran:?}");
        assert_eq!(refused("/proc hides what started it"), HIDDEN_COUNT, "{mode}: {said}");
        assert!(served.try_wait().expect("asked").is_none(), "the runtime still serves");
        assert!(hidden.run(&["serve", "--stop"]).status.success());
        served.wait().expect("ends");
    }
}
