//! A machine that runs out of resources, and tasks that reach for what is not theirs: processes, process ids,
//! memory, the person's terminal.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;

use crate::support::{Agent, Console, Family, Home, Tag, program, skip, wait_until};

/// A control group (v1) for one test; dropping it removes the group.
struct Group(PathBuf);

impl Group {
    /// Creates one with a limit; `None`, with a skip notice, if that is not possible.
    fn make(controller: &str, file: &str, limit: u64) -> Option<Self> {
        let name = format!("pilothouse-test-{}-{controller}", std::process::id());
        let group = Self(Path::new("/sys/fs/cgroup").join(controller).join(name));
        let made = fs::create_dir(&group.0).and_then(|()| fs::write(group.0.join(file), limit.to_string()));
        match made {
            Ok(()) => Some(group),
            Err(error) => {
                skip(&format!("no {controller} group can be made here: {error}"));
                None
            }
        }
    }

    /// Starts a runtime in it.
    fn serve(&self, home: &Home) -> Child {
        let mut command = Command::new("sh");
        home.settle(&mut command);
        let enter = format!("echo $$ > {}/cgroup.procs; exec \"$0\" serve", self.0.display());
        let served =
            command.args(["-c", &enter]).arg(program()).stderr(Stdio::null()).spawn().expect("starts");
        wait_until("the runtime listens", || {
            std::os::unix::net::UnixStream::connect(home.places().operator_socket()).is_ok()
        });
        served
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}

#[test]
fn f07_a_fork_bomb_ends_with_its_task() {
    let Some(group) = Group::make("pids", "pids.max", 200) else { return };
    let (home, tag) = (Home::new(), Tag::new());
    let mut served = group.serve(&home);
    let agent = Agent::connect(&home, &[]);
    let bomb = format!("bomb.{}", tag.0);
    // A shell that cannot fork gives up; the sleeping ones keep the group full.
    let text = format!("sleep {} & sh ./{bomb} & sh ./{bomb} & sh ./{bomb}; wait\n", tag.0);
    fs::write(home.workspace().join(&bomb), text).expect("written");
    let task = agent.call("ExecCommand", &json!({"cmd": format!("sh ./{bomb}"), "yield_time_ms": 0})).task();
    wait_until("it has filled the group", || tag.holders().len() > 100);
    // A new command cannot be started, and its caller is told so; running tasks can be inspected and stopped.
    let listed = agent.call("TaskList", &json!({}));
    assert!(listed.envelope.to_string().contains(&task), "{}", listed.envelope);
    let stopped = agent.call("TaskStop", &json!({"task_id": task}));
    assert_eq!(stopped.envelope["status"], "success", "{}", stopped.envelope);
    wait_until("nothing of it is left", || tag.holders().is_empty());
    // Zombies count until they are reaped.
    let mut next = None;
    wait_until("a command finds room again", || {
        let answer = agent.call("ExecCommand", &json!({"cmd": "echo on"}));
        let is_refused = answer.envelope["error"]["kind"] == "resource_exhausted";
        next = Some(answer).filter(|_| !is_refused);
        next.is_some()
    });
    assert_eq!(next.expect("an answer").result("/stdout_preview"), "on\n");
    agent.leave();
    home.stop(&mut served);
}

/// A script that runs with few process ids: a runtime with a task dies together with all its guards, their process
/// ids are reused by other processes, and the next runtime cleans up.
const FEW_NUMBERS: &str = r#"
echo 400 > /proc/sys/kernel/pid_max 2>/dev/null || { echo few numbers cannot be had; exit 77; }
# The lowest 300 are given once only.
: & while [ $! -lt 310 ]; do : & wait; done
"$PILOTHOUSE" serve 2>/dev/null &
until [ -S "$SOCKET" ]; do sleep .1; done
task=$("$PILOTHOUSE" command run --yield-time-ms 0 'echo $$ > shell; exec sleep 1000' | grep -o 'task_[0-9a-z]\{8\}' | head -n 1)
until [ -s shell ]; do sleep .1; done
shell=$(cat shell)
host=$(cut -d' ' -f4 /proc/$shell/stat)
runtime=$(cut -d' ' -f4 /proc/$host/stat)
keeper=$(cut -d' ' -f4 /proc/$runtime/stat)
for pid in $keeper $runtime $host; do kill -STOP $pid; done
for pid in $keeper $host $shell $runtime; do kill -KILL $pid; done
wait 2>/dev/null
victims=
for number in $shell $host $runtime; do
    while :; do
        sleep 1000 & 
        [ $! = $number ] && break
        kill -KILL $!; wait $! 2>/dev/null
    done
    victims="$victims $number"
done
"$PILOTHOUSE" serve 2>said &
until grep -q serving said; do sleep .1; done
until "$PILOTHOUSE" task status "$task" | grep -q interrupted; do sleep .1; done
for number in $victims; do kill -0 $number || echo "a stranger with the number $number was killed"; done
"$PILOTHOUSE" serve --stop >/dev/null
for number in $victims; do kill -0 $number || echo "a stranger with the number $number was killed at the end"; done
echo done
"#;

#[test]
fn f10_a_process_with_the_number_of_a_dead_one_is_left_alone() {
    let home = Home::new();
    let mut command = Command::new("timeout");
    command.args([
        "--signal=KILL",
        "100",
        "unshare",
        "--pid",
        "--fork",
        "--mount-proc",
        "--kill-child",
        "sh",
        "-c",
        FEW_NUMBERS,
    ]);
    home.settle(&mut command);
    command.env("PILOTHOUSE", program()).env("SOCKET", home.places().operator_socket());
    let ran = match command.output() {
        Ok(ran) if ran.status.success() => ran,
        other => return skip(&format!("no namespace with few process numbers: {other:?}")),
    };
    assert_eq!(String::from_utf8_lossy(&ran.stdout), "done\n", "{}", String::from_utf8_lossy(&ran.stderr));
}

/// Tries to type into a terminal, and to take it over; prints the errors.
const TYPES: &str = r#"
import errno, fcntl, os, sys, termios
try:
    fd = os.open(sys.argv[1], os.O_RDWR | os.O_NOCTTY)
except OSError as error:
    print('open', errno.errorcode[error.errno]); sys.exit()
for what, argument in ((termios.TIOCSTI, b'q'), (termios.TIOCSCTTY, 0), (termios.TIOCSTI, b's')):
    try:
        fcntl.ioctl(fd, what, argument); print('done')
    except OSError as error:
        print(errno.errorcode[error.errno])
"#;

#[test]
fn f36_a_command_types_nothing_into_the_persons_terminal() {
    let home = Home::new();
    let is_root = rustix::process::geteuid().is_root();
    // The kernel allows this for root, so the command drops that. Other users may still open the terminal.
    let drop = if is_root { "setpriv --reuid=65534 --regid=65534 --clear-groups " } else { "" };
    let found = |tool: &str| Command::new(tool).arg("--version").stdout(Stdio::null()).status().is_ok();
    if !found("python3") || is_root && !found("setpriv") {
        return skip("there is no python3 or setpriv");
    }
    let mut console = Console::open(&home, &[], (100, 30));
    console.shows("no agent yet");
    let terminal = fs::read_link(format!("/proc/{}/fd/0", console.family().program)).expect("a terminal");
    fs::set_permissions(&terminal, fs::Permissions::from_mode(0o666)).expect("for anybody");
    fs::set_permissions(home.workspace().parent().expect("a home"), fs::Permissions::from_mode(0o755))
        .expect("read");
    fs::write(home.workspace().join("types.py"), TYPES).expect("written");
    let python =
        Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output().expect("runs");
    let python = String::from_utf8_lossy(&python.stdout).trim().to_owned();
    let agent = Agent::connect(&home, &[]);
    for tty in [false, true] {
        let cmd = format!("{drop}{python} -c \"$(cat types.py)\" {}", terminal.display());
        let ran = agent.call("ExecCommand", &json!({"cmd": cmd, "tty": tty, "yield_time_ms": 30_000}));
        let said = ran.receipt.replace('\r', "");
        assert!(!said.contains("done"), "tty {tty}: {said}");
        if said.contains("Permission denied") || said.contains("not found") {
            skip("in part: python3 is not for everybody here");
            continue;
        }
        let refused = ["EPERM\nEPERM\nEPERM", "EIO\nEPERM\nEIO", "open EACCES"];
        assert!(refused.iter().any(|refused| said.contains(refused)), "tty {tty}: {said}");
    }
    agent.leave();
    console.shows("○ rmcp");
    console.shows(" OBSERVE ");
    console.keys(b"q");
    assert_eq!(console.exit(), 0);
    console.is_as_it_was();
}

/// The memory of these processes may contain what was typed or masked.
#[test]
fn no_process_of_the_program_dumps_its_memory() {
    let home = Home::new();
    let limit = getrlimit(Resource::Core);
    if limit.maximum == Some(0) {
        return skip("a core dump is not allowed here anyway");
    }
    setrlimit(Resource::Core, Rlimit { current: limit.maximum, ..limit }).expect("raised");
    let mut served = home.serve();
    let agent = Agent::connect(&home, &[]);
    agent.call("ExecCommand", &json!({"cmd": "true"}));
    let family = Family::of(served.id());
    setrlimit(Resource::Core, limit).expect("as before");
    for pid in family.guards.iter().chain([&family.program]) {
        let limits = fs::read_to_string(format!("/proc/{pid}/limits")).expect("limits");
        let core = limits.lines().find(|line| line.starts_with("Max core file size")).expect("a line");
        let soft = core.split_whitespace().nth(4);
        // With none, the kernel would still hand a dump to a program (core(5)).
        assert_eq!(soft, Some("1"), "{pid}: {core}");
    }
    agent.leave();
    home.stop(&mut served);
}

fn score(pid: u32) -> i32 {
    let text = fs::read_to_string(format!("/proc/{pid}/oom_score_adj")).expect("a score");
    text.trim().parse().expect("a number")
}

#[test]
fn f37_memory_that_runs_out_takes_the_command_and_not_what_runs_it() {
    let (home, tag) = (Home::new(), Tag::new());
    let group = Group::make("memory", "memory.limit_in_bytes", 512 << 20);
    let mut served = group.as_ref().map_or_else(|| home.serve(), |group| group.serve(&home));
    let agent = Agent::connect(&home, &[]);
    let task = agent.task(&format!("sleep {}", tag.0));
    tag.asleep();
    let family = Family::of(served.id());
    let task_score = tag.holders().into_iter().map(score).min().expect("a task");
    let own = family.guards.iter().chain([&family.program]).map(|pid| score(*pid)).max().expect("a program");
    assert!(task_score >= own + 500 || task_score == 1_000, "{task_score} against {own}");
    if group.is_some() {
        let hog = agent.call(
            "ExecCommand",
            &json!({"cmd": "head -c 4G /dev/zero | tail; echo over", "yield_time_ms": 30_000}),
        );
        assert!(hog.envelope.to_string().contains("over"), "the shell itself was small: {}", hog.envelope);
        let on = agent.call("ExecCommand", &json!({"cmd": "echo on"}));
        assert_eq!(on.result("/stdout_preview"), "on\n");
        assert_eq!(home.runtime_pid().unsigned_abs(), family.program, "it is the same runtime");
    }
    agent.call("TaskStop", &json!({"task_id": task}));
    agent.leave();
    home.stop(&mut served);
}
