//! Processes of another user, which take no signal of ours: nobody is told that they have ended.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use rustix::process::Signal;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{
    Agent, Answer, Console, Family, Home, Tag, exec_by, parent, program, run_by, send, skip, wait_until,
};

/// The ordinary user who runs the program.
const UID: u32 = 65_533;
/// What is said of one process.
const PHRASE: &str = "1 process could not be ended: sleep, which belongs to root";

/// An ordinary user, with a helper that becomes root and starts a program.
struct OrdinaryUser {
    home: Home,
    programs: TempDir,
    tag: Tag,
}

impl OrdinaryUser {
    /// Makes the helper; `None` if that is not possible here.
    fn new() -> Option<Self> {
        let setpriv =
            ["/usr/bin/setpriv", "/bin/setpriv"].map(Path::new).into_iter().find(|path| path.exists());
        let (true, Some(setpriv)) = (rustix::process::geteuid().is_root(), setpriv) else {
            skip("only root can make a helper that becomes root, of setpriv");
            return None;
        };
        let user =
            Self { home: Home::new(), programs: tempfile::tempdir().expect("temp dir"), tag: Tag::new() };
        let mode =
            |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("set");
        mode(user.programs.path(), 0o755);
        // The folder of the program may be closed to others.
        let link = fs::hard_link(program(), user.program("pilothouse"));
        link.or_else(|_| fs::copy(program(), user.program("pilothouse")).map(drop)).expect("the program");
        fs::copy(setpriv, user.program("helper")).expect("a helper");
        mode(&user.program("helper"), 0o4755);
        let folder = user.home.workspace().join("..");
        let owned = Command::new("chown").arg("-R").arg(format!("{UID}:{UID}")).arg(folder).status();
        assert!(owned.expect("chown").success());
        let mut whoami = Command::new("sh");
        whoami.args(["-c", &user.helped("id -u")]);
        let is_root = user.by(whoami).output().is_ok_and(|ran| ran.stdout == b"0\n");
        if !is_root {
            skip("programs that become root do not here");
        }
        is_root.then_some(user)
    }

    fn program(&self, name: &str) -> PathBuf {
        self.programs.path().join(name)
    }

    /// A command line that runs another one as root.
    fn helped(&self, line: &str) -> String {
        format!("{} --reuid=0 --regid=0 --clear-groups {line}", self.program("helper").display())
    }

    /// A command line that sleeps as root.
    fn sleep(&self) -> String {
        self.helped(&format!("sleep {}", self.tag.0))
    }

    fn by(&self, mut command: Command) -> Command {
        self.home.settle(&mut command);
        command.uid(UID).gid(UID);
        command
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(self.program("pilothouse"));
        command.args(args);
        self.by(command)
    }

    /// The same, for a test that has to start it as root.
    fn by_root(&self, args: &[&str]) -> Command {
        let id = |name: &str| format!("--{name}={UID}");
        let words = ["setpriv", &id("reuid"), &id("regid"), "--clear-groups"];
        let mut command = run_by(&words, &self.command(args));
        command.env("TERM", "xterm-256color").env("LANG", "C.UTF-8").env_remove("LC_ALL");
        command
    }

    fn serve(&self) -> Child {
        self.home.listening(&mut self.command(&["serve"]))
    }

    fn agent(&self) -> Agent {
        Agent::connect_by(&self.home, self.command(&["mcp"]))
    }

    /// Starts a command as a task without a terminal, and waits until root sleeps.
    fn task(&self, agent: &Agent, cmd: &str) -> String {
        let task = agent.call("ExecCommand", &json!({"cmd": cmd, "yield_time_ms": 0})).task();
        wait_until("root sleeps", || !self.sleepers().is_empty());
        task
    }

    /// The processes that sleep as root.
    fn sleepers(&self) -> Vec<u32> {
        let is_roots = |pid: &u32| {
            let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
            status.contains("Name:\tsleep\n") && status.contains("Uid:\t0\t0\t0\t0\n")
        };
        self.tag.holders().into_iter().filter(is_roots).collect()
    }

    /// Ends the only process that sleeps as root; returns its id.
    #[track_caller]
    fn wake(&self) -> u32 {
        let [sleeper] = self.sleepers()[..] else { panic!("{:?} sleep", self.sleepers()) };
        send(sleeper, Signal::KILL);
        wait_until("it is gone", || self.tag.holders().is_empty());
        sleeper
    }

    /// Stops the runtime, of which everything has ended.
    fn stop(&self, served: &mut Child) {
        let stopped = self.command(&["serve", "--stop"]).output().expect("runs");
        assert!(stopped.status.success(), "{}", String::from_utf8_lossy(&stopped.stdout));
        served.wait().expect("ends");
    }
}

impl Drop for OrdinaryUser {
    fn drop(&mut self) {
        self.sleepers().into_iter().for_each(|pid| send(pid, Signal::KILL));
    }
}

/// Checks what a model reads of one process that could not be ended.
#[track_caller]
fn tells(answer: &Answer, pointer: &str) {
    let Answer { receipt, envelope } = answer;
    assert_eq!(receipt.matches(PHRASE).count(), 1, "{receipt}");
    assert!(!receipt.contains("Ended 1 leftover"), "{receipt}");
    assert!(!receipt.contains("sudo") && !envelope.to_string().contains("sudo"), "{receipt}");
    let unended = json!([{"count": 1, "names": ["sleep"], "owner": "root"}]);
    assert_eq!(answer.result(pointer), &unended);
    assert!(!envelope.to_string().contains("\"pid\""), "{envelope}");
}

#[test]
fn f63_no_answer_says_that_a_process_of_another_user_has_ended() {
    let Some(user) = OrdinaryUser::new() else { return };
    let (mut served, sleep) = (user.serve(), user.sleep());
    let agent = user.agent();
    // The shell becomes the helper in the first, and is its parent in the second.
    for cmd in [sleep.clone(), format!("{sleep}; true")] {
        let task = user.task(&agent, &cmd);
        agent.call("TaskStop", &json!({"task_id": task}));
        let ended = agent.call("TaskOutput", &json!({"task_id": task, "block": true}));
        assert_eq!(ended.result("/task/status"), "cancelled");
        tells(&ended, "/task/unended_processes");
        tells(&agent.call("TaskStatus", &json!({"task_id": task})), "/task/unended_processes");
        tells(&agent.call("TaskStop", &json!({"task_id": task})), "/task/unended_processes");
        let listed = agent.call("TaskList", &json!({"scope": "all"}));
        assert!(listed.receipt.contains(PHRASE), "{}", listed.receipt);
        user.wake();
    }

    let late = agent.call("ExecCommand", &json!({"cmd": format!("{sleep}; true"), "timeout_ms": 1_000}));
    assert_eq!(late.result("/exit_status"), 124, "{}", late.receipt);
    tells(&late, "/unended_processes");
    user.wake();

    let left = agent.call("ExecCommand", &json!({"cmd": format!("{sleep} & echo on")}));
    assert_eq!(left.result("/exit_status"), 0, "{}", left.receipt);
    tells(&left, "/unended_processes");
    assert!(left.envelope["result"]["leftover_processes"].is_null(), "{}", left.envelope);
    user.wake();

    let items = json!([{"cmd": format!("{sleep}; true"), "yield_time_ms": 1_000}, {"cmd": "echo on"}]);
    let batch = agent.call("ExecCommandBatch", &json!({"items": items}));
    assert_eq!(batch.result("/items/0/exit_status"), 124, "{}", batch.receipt);
    tells(&batch, "/items/0/unended_processes");
    assert_eq!(batch.result("/items/1/stdout_preview"), "on\n");
    user.wake();
    agent.leave();
    user.stop(&mut served);
}

#[test]
fn f63_a_leftover_that_ended_beside_an_unended_process_is_told_as_ended() {
    let Some(user) = OrdinaryUser::new() else { return };
    let mut served = user.serve();
    let agent = user.agent();
    let cmd = format!("{} & tail -f /dev/null & echo on", user.sleep());
    let left = agent.call("ExecCommand", &json!({ "cmd": cmd }));
    assert!(left.receipt.contains("Ended 1 leftover process: tail."), "{}", left.receipt);
    assert!(left.receipt.contains(PHRASE), "{}", left.receipt);
    user.wake();
    agent.leave();
    user.stop(&mut served);
}

#[test]
fn f63_a_lost_host_and_a_lost_runtime_hide_nothing() {
    let Some(user) = OrdinaryUser::new() else { return };
    let mut served = user.serve();
    let agent = user.agent();
    let task = user.task(&agent, &user.sleep());
    send(parent(user.sleepers()[0]), Signal::KILL);
    let ended = agent.call("TaskOutput", &json!({"task_id": task, "block": true}));
    tells(&ended, "/task/unended_processes");
    user.wake();

    let task = user.task(&agent, &user.sleep());
    send(Family::of(served.id()).program, Signal::KILL);
    served.wait().expect("killed");
    agent.leave();
    let mut served = user.serve();
    let agent = user.agent();
    tells(&agent.call("TaskStatus", &json!({"task_id": task})), "/task/unended_processes");
    user.wake();
    agent.leave();
    user.stop(&mut served);
}

#[test]
fn f63_the_operator_is_told_the_process_id_and_the_command_that_ends_the_process() {
    let Some(user) = OrdinaryUser::new() else { return };
    let mut served = user.serve();
    let agent = user.agent();
    user.task(&agent, &user.sleep());
    let pid = user.sleepers()[0];
    let stopped = user.command(&["serve", "--stop", "--output", "json"]).output().expect("runs");
    let answer: Value = serde_json::from_slice(&stopped.stdout).expect("an answer");
    assert_eq!(stopped.status.code(), Some(3), "{answer}");
    let message = format!("stopped, but {PHRASE} (sudo kill -KILL {pid})");
    assert_eq!(answer["error"]["message"], message.as_str(), "{answer}");
    assert_eq!(answer["data"]["effect"], "stopped");
    served.wait().expect("ends");
    assert_eq!(user.sleepers(), [pid], "it lives, and nobody waits for it");
    let rows = user.home.places().recordings();
    let rows = Command::new("grep").args(["-rhc", "\"owner\":\"root\""]).arg(rows).output().expect("runs");
    let counts = String::from_utf8_lossy(&rows.stdout).into_owned();
    assert!(counts.lines().any(|count| count != "0"), "the record has it");
    user.wake();
    // Else it connects to the next runtime.
    agent.leave();

    let mut console = Console::of(&user.by_root(&[]), (120, 40));
    console.shows("no agent yet");
    let agent = user.agent();
    // Else the end of its terminal ends it.
    let task = user.task(&agent, &format!("trap '' HUP; {}", user.sleep()));
    let pid = user.sleepers()[0];
    agent.call("TaskStop", &json!({"task_id": task}));
    agent.call("TaskOutput", &json!({"task_id": task, "block": true}));
    console.shows("1 not ended");
    agent.leave();
    // Nothing is left to be asked about then.
    console.shows("✓ ended");
    console.keys(b"q");
    console.exit();
    let said = String::from_utf8_lossy(&console.bytes()).into_owned();
    assert!(said.contains(&format!("{PHRASE} (sudo kill -KILL {pid})")), "{said}");
    user.wake();
}

#[test]
fn f63_scripts_and_raw_output_name_an_unended_process_too() {
    let Some(user) = OrdinaryUser::new() else { return };
    let mut served = user.serve();
    let cmd = format!("{} & echo on", user.sleep());
    let line = json!({"_cmd": "command.run", "cmd": cmd});
    let ran = exec_by(&mut user.command(&["exec"]), format!("{line}\n"));
    let data = &ran.of(1)["data"];
    assert_eq!(
        data["unended_processes"],
        json!([{"count": 1, "names": ["sleep"], "owner": "root"}]),
        "{data}"
    );
    user.wake();
    let ran = user.command(&["command", "run", "--raw", &cmd]).output().expect("runs");
    assert_eq!(String::from_utf8_lossy(&ran.stdout), "on\n");
    assert!(
        String::from_utf8_lossy(&ran.stderr).contains(PHRASE),
        "{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    user.wake();
    user.stop(&mut served);
}
