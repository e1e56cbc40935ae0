//! Runtimes reached through a program that carries bytes: attached to, driven, called by agents, listed. Most tests
//! need no ssh: `env` runs its arguments, as `docker exec` does in a container.

use std::path::{Path, PathBuf};

use pilothouse::config::HostSettings;
use pilothouse::envelope::TaskId;
use pilothouse::link::{Act, Error, Operator, RemoteHost, RuntimeRoute, VERSION};
use pilothouse::model::{Snapshot, Subject, TypedInput};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixListener;

use crate::support::{Agent, Home, panes, program, wait_until, write_program};

/// Writes a script that runs pilothouse in another home: what PATH leads to on another machine.
pub(crate) fn pilothouse_in(there: &Home) -> PathBuf {
    let mut settled = std::process::Command::new("x");
    there.settle(&mut settled);
    let exports: String = settled
        .get_envs()
        .map(|(name, value)| match value {
            Some(value) => format!("export {}='{}'\n", name.display(), value.display()),
            None => format!("unset {}\n", name.display()),
        })
        .collect();
    let path = there.workspace().join("../pilothouse-there");
    let script = format!("#!/bin/sh\ncd /\n{exports}exec '{}' \"$@\"\n", program().display());
    write_program(&path, &script);
    path.canonicalize().expect("a path")
}

fn host_by(via: &[&str], program: Option<&Path>, run: &Path) -> RemoteHost {
    let via = via.iter().map(|word| (*word).to_owned()).collect();
    let program = program.map(|path| path.display().to_string());
    RemoteHost::from_name(
        "box",
        &[("box".to_owned(), HostSettings { via, program })].into(),
        run,
        "ada@laptop",
    )
    .expect("a host")
}

/// The other home, reached through `env`.
fn host(there: &Home) -> RemoteHost {
    host_by(&["env"], Some(&pilothouse_in(there)), Path::new(""))
}

pub(crate) fn place(there: &Home) -> String {
    there.places().workspace.display().to_string()
}

/// Makes the other home the host `box` in this home's settings.
pub(crate) fn configured(here: &Home, there: &Home) {
    let program = pilothouse_in(there).display().to_string();
    let text = format!("[hosts.box]\nvia = [\"env\", \"FROM_HERE=1\"]\nprogram = \"{program}\"\n");
    here.configure("config.toml", &text);
}

fn answer(output: &std::process::Output) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

pub(crate) async fn start(operator: &Operator, cmd: &str) -> TaskId {
    let input = json!({"cmd": cmd, "tty": true, "yield_time_ms": 0});
    let answer = operator.call("ExecCommand", input).await.expect("an answer");
    let id = answer.envelope.result().expect("success")["task_handle"]["task_id"].clone();
    id.as_str().expect("a task").parse().expect("an id")
}

pub(crate) async fn shows(operator: &Operator, task: &TaskId, text: &str) {
    operator.show(panes(std::slice::from_ref(task), task));
    let changed = operator.screens_changed();
    let seen = async {
        while !operator.screen(task).is_some_and(|screen| screen.text().contains(text)) {
            changed.notified().await;
        }
    };
    let waited = tokio::time::timeout(crate::support::PATIENCE, seen).await;
    assert!(waited.is_ok(), "{task} never showed {text}");
}

#[tokio::test]
async fn a_console_attaches_through_a_carrier_and_drives_what_runs_there() {
    let there = Home::new();
    let mut served = there.serve();
    let beside = Operator::attach(&there.places().operator_socket(), "/".into()).await.expect("attaches");
    let way = RuntimeRoute::operator(host(&there), there.places().id);
    let operator = Operator::attach_by(&way, "/nowhere/here".into()).await.expect("attaches");
    // The notice names who connected, as the other machine reports it, and through which carrier.
    let is_told = |snapshot: &Snapshot| {
        snapshot.notices.iter().any(|notice| notice.text.contains("connected: ada@laptop via env (pid"))
    };
    beside.snapshot().wait_for(|snapshot| is_told(snapshot)).await.expect("told");
    operator.ask(Act::Pause(true).on(Subject::Gate)).await.expect("paused");
    beside.snapshot().wait_for(|snapshot| snapshot.gate.paused.is_some()).await.expect("paused");
    operator.ask(Act::Pause(false).on(Subject::Gate)).await.expect("went on");
    assert_eq!(operator.why_lost(), None);
    let task = start(&operator, "pwd; while read -r line; do echo \"<$line>\"; done").await;
    // A path of this machine means nothing there: the command runs in the workspace there.
    shows(&operator, &task, &place(&there)).await;
    let typed = Act::Send(TypedInput::Raw(b"hello\r".to_vec())).on(task.clone());
    operator.ask(typed).await.expect("typed");
    shows(&operator, &task, "<hello>").await;
    operator.call("TaskStop", json!({"task_id": task})).await.expect("stopped");
    let mut connected = operator.link_state();
    there.stop(&mut served);
    connected.wait_for(|connected| !connected).await.expect("told");
    assert!(matches!(operator.call("TaskList", json!({})).await, Err(Error::Gone)));
    let paused = rows(&there).into_iter().find(|row| row.contains("\"paused\"")).expect("a row");
    assert!(paused.contains("ada@laptop via env"), "{paused}");
}

/// Every row of a home's recordings.
fn rows(home: &Home) -> Vec<String> {
    let recordings = std::fs::read_dir(home.places().recordings()).expect("recordings").flatten();
    let texts = recordings
        .filter_map(|folder| std::fs::read_to_string(folder.path().join("journal-0001.jsonl")).ok());
    texts.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>()).collect()
}

/// A runtime of another version refuses every hello with its own version and the reason.
async fn other_version(listener: UnixListener, version: u32) {
    let (mut stream, _) = listener.accept().await.expect("a console");
    let reason = format!("the client speaks version {VERSION}, this runtime version {version}");
    let ack = json!({"v": version, "ok": false, "reason": reason, "workspace": "/w", "runtime_pid": 1});
    stream.write_all(format!("{ack}\n").as_bytes()).await.expect("sent");
    // Until the console hangs up.
    let _ = stream.read_to_end(&mut Vec::new()).await;
}

#[tokio::test]
async fn a_runtime_of_another_version_is_refused_with_both_versions_and_what_to_do() {
    let temp = tempfile::tempdir().expect("temp dir");
    let end = format!("end it with the pilothouse that started it, or with `kill {}`", std::process::id());
    for (version, cure) in [(VERSION - 1, end.as_str()), (VERSION + 1, "use the newer pilothouse")] {
        let path = temp.path().join(version.to_string());
        tokio::spawn(other_version(UnixListener::bind(&path).expect("binds"), version));
        let Err(refused) = Operator::attach(&path, "/".into()).await else { panic!("attached") };
        assert!(matches!(refused, Error::OtherVersion { theirs, .. } if theirs == version), "{refused:?}");
        let versions = format!("the client speaks version {VERSION}, this runtime version {version}; ");
        assert!(refused.to_string().contains(&format!("{versions}{cure}")), "{refused}");
    }
}

#[tokio::test]
async fn each_failure_to_attach_to_a_host_is_told_with_its_cause_or_cure() {
    let there = Home::new();
    let attach = async |host: RemoteHost, place: &str| {
        let refused = Operator::attach_by(&RuntimeRoute::operator(host, place), "/".into()).await;
        refused.err().expect("refused").to_string()
    };
    let missing = host_by(&["/nowhere/ssh"], None, Path::new(""));
    let said = attach(missing, "/").await;
    assert!(said.contains("/nowhere/ssh") || said.contains("ssh cannot be started here"), "{said}");
    let bare = host_by(&["env", "HOME=/nowhere", "PATH=/usr/bin:/bin"], None, Path::new(""));
    let said = attach(bare, "/").await;
    assert!(said.contains("`program` in [hosts.box]"), "{said}");
    let angry = host_by(
        &["sh", "-c", "echo '\u{1b}[31mPermission denied (publickey).' >&2; exit 255"],
        None,
        Path::new(""),
    );
    let said = attach(angry, "/").await;
    assert!(
        said.contains("exit 255") && said.contains("Permission denied") && !said.contains('\u{1b}'),
        "{said}"
    );
    assert!(said.contains("`pilothouse fleet box`"), "{said}");
    let said = attach(host(&there), "0123456789ab").await;
    assert!(said.contains("no runtime serves 0123456789ab there"), "{said}");
    let said = attach(host(&there), "/nowhere/at/all").await;
    assert!(said.contains("/nowhere/at/all"), "{said}");
}

#[test]
fn a_local_agent_runs_its_commands_on_the_remote_host() {
    let (here, there) = (Home::new(), Home::new());
    configured(&here, &there);
    let to = format!("box:{}", place(&there));
    let mut command = here.command(&["mcp", "--host", &to, "--label", "far"]);
    command.env("SECRET_OF_HERE", "x");
    let agent = Agent::connect_by(&here, command);
    let ran = agent.call("ExecCommand", &json!({"cmd": "pwd; echo secret=[$SECRET_OF_HERE]"}));
    assert!(ran.receipt.contains(&place(&there)) && ran.receipt.contains("secret=[]"), "{}", ran.receipt);
    assert!(!here.places().runtime_dir.join("agent.sock").exists(), "no runtime here");
    assert!(there.places().agent_socket().exists(), "one was started there");

    let agents = rows(&there).into_iter().filter(|row| row.contains("\"agent\"")).collect::<String>();
    assert!(agents.contains("via env)"), "{agents}");

    let listed = answer(&here.run(&["relay", "list", "--host", "box", "--output", "json"]));
    let runtime = &listed["data"]["runtimes"][0];
    assert_eq!(runtime["workspace"], place(&there), "{listed}");
    assert_eq!((&runtime["id"], &runtime["tasks"]), (&json!(there.places().id), &json!(0)), "{listed}");
    assert_eq!(runtime["version"], env!("CARGO_PKG_VERSION"), "{listed}");
    let own = answer(&here.run(&["relay", "list", "--output", "json"]));
    assert_eq!(own["data"]["runtimes"], json!([]), "{own}");
}

#[test]
fn an_agent_whose_link_dies_in_a_call_is_told_that_it_is_not_known() {
    let (here, there) = (Home::new(), Home::new());
    configured(&here, &there);
    let agent = Agent::connect(&here, &["--host", &format!("box:{}", place(&there))]);
    let fifo = there.fifo("go");
    let asked =
        agent.ask("ExecCommand", &json!({"cmd": "echo begun > begun; cat go", "yield_time_ms": 60_000}));
    wait_until("the command runs", || there.workspace().join("begun").exists());
    let relay = relays(&there);
    assert_eq!(relay.len(), 1, "{relay:?}");
    crate::support::send(relay[0], rustix::process::Signal::KILL);
    let lost = agent.answer(asked);
    assert_eq!(lost.envelope["error"]["kind"], "runtime_shutting_down", "{}", lost.receipt);
    assert_eq!(lost.envelope["error"]["retryable"], false, "{}", lost.receipt);
    for said in ["broke during the call", "box", "not known", "TaskList"] {
        assert!(lost.receipt.contains(said), "{said}: {}", lost.receipt);
    }
    drop(fifo);
    let again = agent.call("ExecCommand", &json!({"cmd": "echo again"}));
    assert!(again.receipt.contains("again"), "{}", again.receipt);
}

#[test]
fn f59_a_link_that_ends_after_it_was_answered_is_no_missing_answer() {
    let (here, there) = (Home::new(), Home::new());
    configured(&here, &there);
    let agent = Agent::connect(&here, &["--host", &format!("box:{}", place(&there))]);
    let asked = agent.ask("ExecCommand", &json!({"cmd": "echo > begun; sleep 60", "yield_time_ms": 60_000}));
    wait_until("the command runs", || there.workspace().join("begun").exists());
    let runtime = u32::try_from(there.runtime_pid()).expect("a pid");
    crate::support::send(runtime, rustix::process::Signal::KILL);
    // The relay had nothing to complain of, and exits with 0.
    let lost = agent.answer(asked);
    assert!(lost.receipt.contains("during the call"), "{}", lost.receipt);
    assert!(!lost.receipt.contains("answers nothing"), "{}", lost.receipt);
}

#[test]
fn an_agent_is_not_told_to_retry_what_only_a_person_can_mend() {
    let (here, there) = (Home::new(), Home::new());
    configured(&here, &there);
    let retryable = |to: &str| {
        let agent = Agent::connect(&here, &["--host", to]);
        let refused = agent.call("ExecCommand", &json!({"cmd": "true"}));
        (refused.envelope["error"]["retryable"].clone(), refused.receipt)
    };
    let (nowhere, receipt) = retryable("box:/does/not/exist");
    assert!(nowhere == false && receipt.contains("/does/not/exist"), "{receipt}");
    for (says, code, may_pass) in [
        ("Host key verification failed.", 255, false),
        ("pilothouse: not found", 127, false),
        ("ssh: connect to host box port 22: Connection refused", 255, true),
    ] {
        let via = format!("[hosts.box]\nvia = [\"sh\", \"-c\", \"echo '{says}' >&2; exit {code}\"]\n");
        here.configure("config.toml", &via);
        let (retryable, receipt) = retryable("box:/w");
        assert_eq!(retryable, may_pass, "{receipt}");
    }
    let listed = answer(&here.run(&["relay", "list", "--host", "box", "--output", "json"]));
    assert_eq!(listed["error"]["retryable"], true, "{listed}");
}

/// Puts a fake systemd there that logs what it is asked to run, and a logind with these answers; returns their folder.
fn systemd_there(there: &Home, lingers: &str, kills_at_logout: &str) -> PathBuf {
    let bin = there.workspace().join("../bin");
    std::fs::create_dir(&bin).expect("a folder");
    let bin = bin.canonicalize().expect("a path");
    let asked = bin.join("asked").display().to_string();
    let run = "while [ \"$1\" != -- ]; do [ \"$1\" = --working-directory ] && cd \"$2\"; shift; done; shift";
    for (name, script) in [
        (
            "systemd-run",
            format!(
                "echo \"$@\" > {asked}; {run}\nsetsid \"$@\" < /dev/null > /dev/null 2>&1 &\necho $! > {asked}.pid"
            ),
        ),
        ("systemctl", format!("cat {asked}.pid")),
        (
            "loginctl",
            format!(
                "case \"$*\" in *Linger*) echo {lingers};; *KillUserProcesses*) echo {kills_at_logout};; esac"
            ),
        ),
    ] {
        write_program(&bin.join(name), &format!("#!/bin/sh\n{script}\n"));
    }
    bin
}

/// Has an agent elsewhere start a runtime there; returns what systemd was asked to run, if anything, and the fake's folder.
fn started_from_elsewhere(there: &Home, lingers: &str, kills_at_logout: &str) -> (Option<String>, PathBuf) {
    let here = Home::new();
    configured(&here, there);
    let bin = systemd_there(there, lingers, kills_at_logout);
    let mut command = here.command(&["mcp", "--host", &format!("box:{}", place(there))]);
    command.env("PATH", format!("{}:/usr/bin:/bin", bin.display()));
    let agent = Agent::connect_by(&here, command);
    agent.call("TaskList", &json!({}));
    (std::fs::read_to_string(bin.join("asked")).ok(), bin)
}

#[test]
fn a_runtime_that_is_started_from_elsewhere_is_a_unit_of_the_users_systemd() {
    for (lingers, kills_at_logout) in [("yes", "no"), ("no", "yes"), ("''", "''")] {
        let there = Home::new();
        let (words, bin) = started_from_elsewhere(&there, lingers, kills_at_logout);
        let words = words.expect("asked");
        let unit = format!("--unit=pilothouse-{}", there.places().id);
        for word in ["--user", &unit, "--setenv=HOME", "serve --detached"] {
            assert!(words.contains(word), "{word}: {words}");
        }
        let pid = std::fs::read_to_string(bin.join("asked.pid")).expect("its process");
        // The unit's first process is the one that guards the runtime.
        let runtime = u32::try_from(there.runtime_pid()).expect("a pid");
        assert_eq!(pid.trim(), crate::support::parent(runtime).to_string());
    }
}

/// A unit of a user without lingering ends ten seconds after the last logout; a separate process survives where
/// logout kills no processes, which is the default of most distributions.
#[test]
fn a_runtime_is_no_unit_where_a_process_of_its_own_lives_longer() {
    let there = Home::new();
    let (words, _) = started_from_elsewhere(&there, "no", "no");
    assert_eq!(words, None);
    assert!(there.runtime_pid() > 0);
}

/// `docker exec -t` gives the relay a terminal: it never closes, so the connection would never end, and it changes bytes.
#[test]
fn a_relay_on_a_terminal_says_what_is_wrong_and_connects_to_nothing() {
    let home = Home::new();
    let mut served = home.serve();
    let place = place(&home);
    let mut console = crate::support::Console::open(&home, &["relay", "agent", &place], (120, 40));
    console.shows("is a terminal");
    console.exit();
    home.stop(&mut served);
}

/// The relay processes that lead to runtimes of this home.
fn relays(home: &Home) -> Vec<u32> {
    let workspace = place(home);
    let all = std::fs::read_dir("/proc").expect("/proc").flatten();
    let pids = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let is_relay = |pid: &u32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let words: Vec<&[u8]> = line.split(|byte| *byte == 0).collect();
        words.first() == Some(&program().as_os_str().as_encoded_bytes())
            && words.contains(&&b"relay"[..])
            && words.contains(&workspace.as_bytes())
    };
    pids.filter(is_relay).collect()
}

#[test]
fn a_task_cannot_act_as_the_operator_by_way_of_a_relay() {
    let home = Home::new();
    let mut served = home.serve();
    let program = crate::support::program_word();
    let hello =
        format!(r#"{{"v":{},"role":"operator","pid":1,"ppid":1,"cwd":"/"}}"#, pilothouse::link::VERSION);
    let cmd = format!("echo '{hello}' | {program} relay operator {}", home.places().id);
    let ran = home.run(&["command", "run", &cmd]);
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(said.contains("cannot act as the operator"), "{said}");
    home.stop(&mut served);
}

#[test]
fn a_host_that_settings_might_name_is_said_to_be_taken_from_openssh_if_they_cannot_be_read() {
    let home = Home::new();
    home.configure("config.toml", "broken = [\n");
    let output = home.run(&["relay", "list", "--host", "nowhere.invalid"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let told = "nowhere.invalid is taken as an OpenSSH host, since the settings cannot be read: ";
    assert!(said.contains(told) && said.contains("config.toml:1"), "{said}");
    assert!(!output.status.success());
}
