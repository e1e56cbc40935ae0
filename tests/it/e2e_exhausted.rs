//! The system runs out of something that starting a command needs: terminals, descriptors, processes. The error names
//! it, the runtime survives, and starting works again once some is free. Each test limits a runtime of its own.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::support::{Family, Home, children, exec, name, program, skip, wait_until};

/// Starts a runtime with a shell line that ends in `exec "$0" serve`; `None` if the line fails before that.
fn served(home: &Home, by: &[&str], line: &str) -> Option<Child> {
    let mut command = Command::new(by[0]);
    home.settle(&mut command);
    let ready = home.workspace().join("ready");
    let line = format!("{line} && touch \"$1\" && exec \"$0\" serve");
    command.args(&by[1..]).args(["sh", "-c", &line]).arg(program()).arg(&ready);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("starts");
    let mut is_over = false;
    wait_until("the limits are set, or cannot be", || {
        is_over = child.try_wait().expect("waits").is_some();
        is_over || ready.exists()
    });
    if is_over {
        return None;
    }
    let socket = home.places().operator_socket();
    wait_until("the runtime listens", || std::os::unix::net::UnixStream::connect(&socket).is_ok());
    Some(child)
}

fn answer(home: &Home, args: &[&str]) -> Value {
    let output = home.run(&[args, &["--output", "json"][..]].concat());
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        panic!(
            "{error}: {} {}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        )
    })
}

/// Tells whether an answer says that `resource` is exhausted, and how to go on.
fn says_used_up(answer: &Value, resource: &str) -> bool {
    let error = &answer["error"];
    error["code"] == "RESOURCE_EXHAUSTED"
        && error["retryable"] == true
        && error["context"]["resource"] == resource
        && error["fix_required"].as_str().is_some_and(|hint| !hint.contains("shell"))
}

fn ends(home: &Home, mut served: Child) {
    home.run(&["serve", "--stop"]);
    served.wait().expect("ends");
}

#[test]
fn f17_terminals_used_up_are_said_and_none_is_lost() {
    let home = Home::new();
    // A devpts of its own, with room for two terminals.
    let own = "mount -t devpts -o newinstance,ptmxmode=0666,mode=0600,max=2 devpts /dev/pts \
               && mount --bind /dev/pts/ptmx /dev/ptmx";
    let Some(served) = served(&home, &["unshare", "--mount"], own) else {
        return skip("no mount namespace of its own can be made");
    };
    let start = || answer(&home, &["command", "run", "sleep 60", "--tty", "--yield-time-ms", "0"]);
    let mut tasks = Vec::new();
    let refused = loop {
        let started = start();
        match started["data"]["task_handle"]["task_id"].as_str() {
            Some(task) if tasks.len() < 2 => tasks.push(task.to_owned()),
            _ => break started,
        }
    };
    assert_eq!(tasks.len(), 2, "{refused}");
    assert!(says_used_up(&refused, "ptys"), "{refused}");
    assert_eq!(answer(&home, &["command", "run", "true"])["ok"], true, "pipes are no terminals");
    answer(&home, &["task", "stop", &tasks[0], "--force"]);
    wait_until("a terminal is free again", || start()["ok"] == true);
    ends(&home, served);
}

#[test]
fn f18_descriptors_used_up_are_said_and_come_back() {
    let home = Home::new();
    let Some(served) = served(&home, &["env"], "ulimit -n 64") else {
        return skip("the limit of descriptors cannot be lowered");
    };
    let line =
        |_| json!({"_cmd": "command.run", "cmd": "while [ ! -e go ]; do sleep .1; done", "yield_time_ms": 0});
    let lines: String = (0..40).map(|n| format!("{}\n", line(n))).collect();
    let ran = exec(&home, &["--ignore-errors"], lines);
    let refused: Vec<&Value> = ran.lines.iter().filter(|answer| answer["ok"] == false).collect();
    assert!(!refused.is_empty() && refused.len() < ran.lines.len(), "{:?}", ran.codes());
    for answer in refused {
        assert!(says_used_up(answer, "descriptors"), "{answer}");
    }
    std::fs::write(home.workspace().join("go"), "").expect("written");
    wait_until("descriptors are free again", || answer(&home, &["command", "run", "true"])["ok"] == true);
    ends(&home, served);
}

/// A control group of its own, with a limit on the number of processes.
struct Group(PathBuf);

impl Group {
    fn make() -> Option<Self> {
        let name = format!("pilothouse-test-{}", std::process::id());
        let roots = ["/sys/fs/cgroup/pids", "/sys/fs/cgroup"].map(Path::new);
        roots
            .into_iter()
            .map(|root| root.join(&name))
            .find(|path| {
                std::fs::create_dir(path).is_ok()
                    && (path.join("pids.max").exists() || std::fs::remove_dir(path).is_err())
            })
            .map(Self)
    }

    fn limit(&self, most: &str) {
        std::fs::write(self.0.join("pids.max"), most).expect("a limit");
    }

    fn count(&self) -> u32 {
        let text = std::fs::read_to_string(self.0.join("pids.current")).expect("a count");
        text.trim().parse().expect("a number")
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let path = &self.0;
        wait_until("the group is empty", || std::fs::remove_dir(path).is_ok());
    }
}

#[test]
fn f19_processes_used_up_are_said_and_come_back() {
    let Some(group) = Group::make() else { return skip("no group of processes can be made") };
    let home = Home::new();
    let enter = format!("echo $$ > {}/cgroup.procs", group.0.display());
    let Some(served) = served(&home, &["env"], &enter) else {
        return skip("the group of processes cannot be entered");
    };
    assert_eq!(answer(&home, &["command", "run", "true"])["ok"], true);
    let runtime = Family::of(served.id()).program;
    wait_until("the host of that command is gone", || {
        !children(runtime).iter().any(|child| name(*child) == "pilothouse-host\n")
    });
    // No process is left for a command's host. Threads count too: the runtime keeps those it has.
    group.limit(&group.count().to_string());
    let refused = answer(&home, &["command", "run", "true"]);
    assert!(says_used_up(&refused, "processes"), "{refused}");
    group.limit("max");
    assert_eq!(answer(&home, &["command", "run", "true"])["ok"], true);
    ends(&home, served);
}
