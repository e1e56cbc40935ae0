//! Another machine behind a real OpenSSH: the distribution's `sshd` on a loopback port, as the current user, with
//! its own key, host key and configuration. When run as root, `.ci/run` also runs these tests as an ordinary user.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use pilothouse::config::HostSettings;
use pilothouse::link::{Act, Error, Operator, RemoteHost, Reply, RuntimeRoute};
use pilothouse::model::{Decision, Subject, TypedInput};
use serde_json::{Value, json};

use crate::hosts::{pilothouse_in, place, shows, start};
use crate::support::{Agent, Home, Wire, below, name, send, skip, users, wait_until};

/// A machine to log in to, and the OpenSSH configuration in which it is called `box`.
struct Machine {
    sshd: Child,
    config: PathBuf,
    there: Home,
}

impl Machine {
    /// Starts it; `None` if OpenSSH is not installed.
    fn start() -> Option<Self> {
        Self::start_with("")
    }

    /// Starts it with more lines in the configuration of its server.
    fn start_with(more: &str) -> Option<Self> {
        let sshd = ["/usr/sbin/sshd", "/usr/bin/sshd", "/usr/local/sbin/sshd"].map(Path::new);
        let sshd = sshd.into_iter().find(|path| path.exists());
        let has_client = Command::new("ssh").arg("-V").stderr(Stdio::null()).status().is_ok();
        let (Some(sshd), true) = (sshd, has_client) else {
            skip("OpenSSH (openssh-server, openssh-client) is not installed");
            return None;
        };
        if rustix::process::geteuid().is_root() {
            // The distribution's service creates this folder; an ordinary user's sshd needs none.
            let _ = fs::create_dir_all("/run/sshd");
        }
        let there = Home::new();
        let folder = there.workspace().join("../ssh");
        fs::create_dir(&folder).expect("a folder");
        let folder = folder.canonicalize().expect("a path");
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).expect("set");
        for name in ["host_key", "key"] {
            let mut keygen = Command::new("ssh-keygen");
            keygen.args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(folder.join(name));
            assert!(keygen.status().expect("ssh-keygen runs").success());
        }
        let port = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("its number").port();
        let at = folder.display();
        fs::copy(folder.join("key.pub"), folder.join("authorized")).expect("copied");
        let server = format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {at}/host_key\nAuthorizedKeysFile {at}/authorized\n\
             PidFile none\nUsePAM no\nStrictModes no\nPasswordAuthentication no\nPermitRootLogin prohibit-password\n\
             AcceptEnv *\nMaxSessions 50\nMaxStartups 50\n{more}"
        );
        fs::write(folder.join("sshd_config"), server).expect("written");
        let host_key = fs::read_to_string(folder.join("host_key.pub")).expect("a key");
        fs::write(folder.join("known_hosts"), format!("[127.0.0.1]:{port} {host_key}")).expect("written");
        let client = format!(
            "Host box\n HostName 127.0.0.1\n Port {port}\n IdentityFile {at}/key\n IdentitiesOnly yes\n \
             UserKnownHostsFile {at}/known_hosts\n GlobalKnownHostsFile /dev/null\n StrictHostKeyChecking yes\n \
             ForwardAgent yes\n"
        );
        fs::write(folder.join("ssh_config"), client).expect("written");
        let log = fs::File::create(folder.join("sshd.log")).expect("a log");
        let mut command = Command::new(sshd);
        command.args(["-D", "-e", "-f"]).arg(folder.join("sshd_config"));
        let sshd = command.stdin(Stdio::null()).stderr(log).spawn().expect("sshd starts");
        wait_until("sshd listens", || TcpStream::connect(("127.0.0.1", port)).is_ok());
        Some(Self { sshd, config: folder.join("ssh_config"), there })
    }

    /// Asserts that everything there runs as the current user: sshd, all processes below it, and the runtime.
    #[track_caller]
    fn is_all_of_this_user(&self) {
        let sshd = self.sshd.id();
        let runtime = u32::try_from(self.there.runtime_pid()).expect("a pid");
        let own = rustix::process::geteuid().as_raw();
        let mut names = Vec::new();
        for pid in [sshd, runtime].into_iter().chain(below(sshd)) {
            let (name, users) = (name(pid), users(pid));
            // A process that has exited meanwhile has no users.
            if !users.is_empty() {
                assert_eq!(users, [own; 4], "{name}");
                names.push(name.trim_end().to_owned());
            }
        }
        let count = |name: &str| names.iter().filter(|other| *other == name).count();
        assert!(
            count("sshd") >= 2 && count("pilothouse") >= 2,
            "a session and what it carries to: {names:?}"
        );
        // `.ci/run` looks for these words.
        eprintln!("all of uid {own}: {}", names.join(", "));
    }

    fn via(&self) -> Vec<String> {
        ["ssh", "-F", &self.config.display().to_string(), "box"].map(str::to_owned).to_vec()
    }

    /// Writes the settings of another home, in which `box` is this machine.
    fn configure(&self, here: &Home) {
        let via = serde_json::to_string(&self.via()).expect("JSON");
        let program = pilothouse_in(&self.there).display().to_string();
        here.configure("config.toml", &format!("[hosts.box]\nvia = {via}\nprogram = \"{program}\"\n"));
        fs::create_dir_all(masters(here)).expect("a folder");
        fs::set_permissions(masters(here), fs::Permissions::from_mode(0o700)).expect("set");
    }

    fn host(&self, here: &Home) -> RemoteHost {
        let program = Some(pilothouse_in(&self.there).display().to_string());
        let hosts = [("box".to_owned(), HostSettings { via: self.via(), program })].into();
        RemoteHost::from_name("box", &hosts, &masters(here), "ada@laptop").expect("a host")
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let _ = self.sshd.kill();
        let _ = self.sshd.wait();
    }
}

/// The folder of a home's OpenSSH control sockets.
fn masters(home: &Home) -> PathBuf {
    home.places().runtime_dir.parent().expect("a folder").to_owned()
}

/// The process ids of a home's OpenSSH masters.
fn master_pids(home: &Home) -> Vec<u32> {
    let folder = masters(home).display().to_string();
    let all = fs::read_dir("/proc").expect("/proc").flatten();
    let pids = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let is_master = |pid: &u32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line);
        line.starts_with("ssh: ") && line.contains(&folder) && line.contains("[mux]")
    };
    pids.filter(is_master).collect()
}

/// Ends the OpenSSH masters of a home, which would outlive the test by minutes.
fn end_masters(home: &Home) {
    master_pids(home).into_iter().for_each(|pid| send(pid, rustix::process::Signal::TERM));
}

fn json_of(output: &std::process::Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_console_lists_attaches_types_stops_holds_and_approves_over_ssh() {
    let Some(machine) = Machine::start() else { return };
    let here = Home::new();
    machine.configure(&here);
    let there = &machine.there;
    let mut served = there.serve();
    let listed = json_of(&here.run(&["relay", "list", "--host", "box", "--output", "json"]));
    assert_eq!(listed["data"]["runtimes"][0]["workspace"], place(there), "{listed}");

    let way = RuntimeRoute::operator(machine.host(&here), there.places().id);
    let operator = Operator::attach_by(&way, "/".into()).await.expect("attaches");
    let task = start(&operator, "while read -r line; do echo \"<$line>\"; done").await;
    let typed = Act::Send(TypedInput::Raw(b"over ssh\r".to_vec())).on(task.clone());
    operator.ask(typed).await.expect("typed");
    shows(&operator, &task, "<over ssh>").await;
    operator.call("TaskStop", json!({"task_id": task})).await.expect("stopped");

    // The agent runs here; its call is held there and approved from here.
    operator.ask(Act::Pause(true).on(Subject::Gate)).await.expect("paused");
    let to = format!("box:{}", place(there));
    let (agent_home, asked) = (here, tokio::task::spawn_blocking);
    let (agent, here) = asked(move || {
        let mut command = agent_home.command(&["mcp", "--host", &to, "--label", "far"]);
        command.env("SSH_AUTH_SOCK", "/of/here").env("LANG_OF_HERE", "x");
        (Agent::connect_by(&agent_home, command), agent_home)
    })
    .await
    .expect("connected");
    let held = agent.ask(
        "ExecCommand",
        &json!({"cmd": "echo agent=[$SSH_AUTH_SOCK] lang=[$LANG_OF_HERE]; pwd", "yield_time_ms": 60_000}),
    );
    let mut snapshots = operator.snapshot();
    let snapshot = snapshots.wait_for(|snapshot| !snapshot.gate.held.is_empty()).await.expect("held").clone();
    let call = snapshot.gate.held[0].clone();
    // Not accepted before there has been time to read it.
    loop {
        let decision = Decision::Once;
        let shown = operator.snapshot().borrow().gate.held.first().map(|held| held.cost.revision);
        let (ticket, hash, cost) = (call.ticket, call.hash.clone(), shown.unwrap_or_default());
        match operator.ask(Act::Decide { hash, cost, decision }.on(Subject::Held(ticket))).await {
            Ok(Reply::Done) => break,
            Err(Error::Declined { message })
                if ["too soon", "lacks", "has changed"].iter().any(|why| message.contains(why)) => {}
            other => panic!("{other:?}"),
        }
    }
    let (ran, agent) = tokio::task::spawn_blocking(move || (agent.answer(held), agent)).await.expect("joins");
    assert!(ran.receipt.contains("agent=[] lang=[]"), "{}", ran.receipt);
    assert!(ran.receipt.contains(&place(there)), "{}", ran.receipt);
    assert_eq!(master_pids(&here).len(), 1, "one connection for all");
    machine.is_all_of_this_user();
    tokio::task::spawn_blocking(move || drop(agent)).await.expect("joins");
    drop(operator);
    end_masters(&here);
    tokio::task::block_in_place(|| there.stop(&mut served));
}

#[test]
fn the_master_of_ssh_is_killed_in_the_middle_of_a_call() {
    let Some(machine) = Machine::start() else { return };
    let here = Home::new();
    machine.configure(&here);
    let there = &machine.there;
    let agent = Agent::connect(&here, &["--host", &format!("box:{}", place(there))]);
    let _fifo = there.fifo("go");
    let asked = agent.ask("ExecCommand", &json!({"cmd": "echo > begun; cat go", "yield_time_ms": 60_000}));
    wait_until("the command runs", || there.workspace().join("begun").exists());
    // Here the runtime was started through the login.
    machine.is_all_of_this_user();
    let masters = master_pids(&here);
    assert_eq!(masters.len(), 1, "{masters:?}");
    send(masters[0], rustix::process::Signal::KILL);
    let lost = agent.answer(asked);
    for said in ["broke during the call", "box", "not known", "TaskList"] {
        assert!(lost.receipt.contains(said), "{said}: {}", lost.receipt);
    }
    let again = agent.call("ExecCommand", &json!({"cmd": "echo again"}));
    assert!(again.receipt.contains("again"), "{}", again.receipt);
    end_masters(&here);
}

#[test]
fn f59_a_changed_host_key_is_reported_without_advice_to_forget_the_old_one() {
    let Some(machine) = Machine::start() else { return };
    let here = Home::new();
    machine.configure(&here);
    let folder = machine.config.parent().expect("a folder");
    let known = fs::read_to_string(folder.join("known_hosts")).expect("read");
    let (host, _) = known.split_once(' ').expect("a host and its key");
    let other = fs::read_to_string(folder.join("key.pub")).expect("another key");
    fs::write(folder.join("known_hosts"), format!("{host} {other}")).expect("written");

    let listed = json_of(&here.run(&["relay", "list", "--host", "box", "--output", "json"]));
    let mut agent = Wire::of(here.command(&["mcp", "--host", "box:/w"])).opened("claude-code");
    let call = json!({"name": "ExecCommand", "arguments": {"cmd": "true"}});
    let receipt = agent.ask(json!(1), "tools/call", call);
    for told in [listed, receipt] {
        let told = told.to_string();
        assert!(told.contains("the key of box is another than the one on record here"), "{told}");
        assert!(!told.contains("ssh-keygen") && !told.contains("known_hosts"), "{told}");
    }
}

#[test]
fn f59_text_that_a_server_prints_in_place_of_an_answer_is_the_reason_and_its_login_text_is_not() {
    let banner = Home::new();
    let file = banner.workspace().join("banner");
    fs::write(&file, "Authorised use only\n").expect("written");
    let forced = "ForceCommand echo This account is currently not available.; exit 1";
    let Some(machine) = Machine::start_with(&format!("Banner {}\n{forced}\n", file.display())) else {
        return;
    };
    let here = Home::new();
    machine.configure(&here);
    let listed = json_of(&here.run(&["relay", "list", "--host", "box", "--output", "json"]));
    let told = listed.to_string();
    assert!(told.contains("This account is currently not available"), "{told}");
    assert!(!told.contains("Authorised use only"), "{told}");
    end_masters(&here);
}
