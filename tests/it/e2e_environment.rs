//! Whose environment, umask and directory a command gets: those of the agent that asks for it, whoever started the runtime.

use std::path::Path;
use std::process::{Command, Stdio};

use pilothouse::link::Scripts;
use pilothouse::tools::CutHandle;
use rustix::process::Signal;
use serde_json::json;

use crate::support::{Agent, Console, Home, Tag, skip, wait_until, write_program};

/// An agent whose shim is started with these variables.
fn agent(home: &Home, variables: &[(&str, &str)]) -> Agent {
    let mut shim = home.command(&["mcp"]);
    shim.envs(variables.iter().copied());
    Agent::connect_by(home, shim)
}

/// The same, with shim and runtime in this process.
fn agent_here(home: &Home, variables: &[(&str, &str)]) -> Agent {
    Agent::here_with(home, variables, None)
}

fn output(agent: &Agent, cmd: &str) -> String {
    let answer = agent.call("ExecCommand", &json!({ "cmd": cmd }));
    answer.result("/stdout_preview").as_str().unwrap_or_default().to_owned()
}

fn environ(pid: impl std::fmt::Display) -> String {
    let bytes = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The environments of every process with the tag on its command line.
fn environs(tag: &Tag) -> Vec<String> {
    tag.holders().into_iter().map(environ).filter(|text| !text.is_empty()).collect()
}

/// Creates a virtual environment; returns its `bin` folder.
fn venv(home: &Home) -> String {
    let bin = home.workspace().join(".venv/bin");
    std::fs::create_dir_all(&bin).expect("folders");
    write_program(&bin.join("python"), "#!/bin/sh\necho the python of the venv\n");
    bin.display().to_string()
}

/// Starts an agent in an active virtual environment and checks that its commands run in it.
fn runs_in_its_venv(home: &Home, agent: impl Fn(&Home, &[(&str, &str)]) -> Agent) {
    // A login shell reads this; it sets another PATH, as /etc/profile does.
    std::fs::write(home.workspace().join("../.profile"), "PATH=/usr/bin:/bin; FROM_PROFILE=yes\n")
        .expect("written");
    let bin = venv(home);
    let path = format!("{bin}:/usr/bin:/bin");
    let agent = agent(home, &[("PATH", &path), ("VIRTUAL_ENV", "/the/venv"), ("SHELL", "/bin/sh")]);
    let cmd = "python; echo $VIRTUAL_ENV ${FROM_PROFILE-no}";
    assert_eq!(output(&agent, cmd), "the python of the venv\n/the/venv no\n");
    let login = agent.call("ExecCommand", &json!({"cmd": cmd, "login": true}));
    assert_eq!(login.result("/stdout_preview"), "the python of the venv\n/the/venv yes\n");
    let items = json!({"items": [{"cmd": cmd}, {"cmd": cmd, "login": true}]});
    let batch = agent.call("ExecCommandBatch", &items);
    for (index, from_profile) in [(0, "no"), (1, "yes")] {
        let told = batch.result(&format!("/items/{index}/stdout_preview"));
        assert_eq!(told, &format!("the python of the venv\n/the/venv {from_profile}\n"));
    }
    agent.leave();
}

#[test]
fn an_agents_virtual_environment_is_active_in_its_commands_when_it_comes_first() {
    runs_in_its_venv(&Home::new(), agent_here);
}

#[test]
fn an_agents_virtual_environment_is_active_in_its_commands_when_the_console_comes_first() {
    let home = Home::new();
    let mut program = home.command(&[]);
    program.env("TERM", "xterm-256color").env("CONSOLE_KEY", "hunter-three");
    let mut console = Console::of(&program, (120, 40));
    wait_until("it serves", || home.places().agent_socket().exists());
    runs_in_its_venv(&home, agent);
    let agent = agent(&home, &[]);
    let seen = output(&agent, "env; tr '\\0' '\\n' < /proc/$PPID/environ");
    assert!(seen.contains("PILOTHOUSE_TASK_ID=") && !seen.contains("hunter-three"), "{seen}");
    agent.leave();
    console.kill(Signal::TERM);
    console.exit();
}

#[test]
fn no_agent_sees_the_variables_of_another_nor_of_the_console() {
    let home = Home::new();
    let first = agent(&home, &[("FIRST_API_KEY", "hunter-one")]);
    let (one, two) = (Tag::new(), Tag::new());
    let stay = |tag: &Tag| json!({"cmd": format!("sleep {}; :", tag.0), "yield_time_ms": 0});
    first.call("ExecCommand", &stay(&one));
    one.asleep();
    let second = agent(&home, &[("SECOND_API_KEY", "hunter-two")]);
    second.call("ExecCommand", &stay(&two));
    two.asleep();
    for (agent, tag, own, other) in
        [(&first, &one, "hunter-one", "hunter-two"), (&second, &two, "hunter-two", "hunter-one")]
    {
        let seen = output(agent, "env; tr '\\0' '\\n' < /proc/$PPID/environ");
        assert!(seen.contains(own) && !seen.contains(other), "{seen}");
        let tasks = environs(tag);
        assert!(!tasks.is_empty() && tasks.iter().all(|task| task.contains(own) && !task.contains(other)));
    }
    let runtime = environ(home.runtime_pid());
    assert!(runtime.contains("HOME=") && !runtime.contains("hunter"), "{runtime}");
    // Nor does either of them see the variables of a console that is opened later.
    let mut program = home.command(&[]);
    program.env("TERM", "xterm-256color").env("CONSOLE_KEY", "hunter-three");
    let mut console = Console::of(&program, (120, 40));
    console.shows("sleep");
    assert!(!output(&first, "env").contains("hunter-three"));
    console.kill(Signal::TERM);
    console.exit();
    second.leave();
    first.leave();
}

#[test]
fn a_runtime_in_the_background_keeps_only_what_the_documentation_lists() {
    let home = Home::new();
    let agent =
        agent(&home, &[("API_TOKEN", "hunter2"), ("LC_TIME", "C"), ("TMUX", "/tmp/x"), ("EDITOR", "vi")]);
    agent.call("TaskList", &json!({}));
    let page =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/config.md")).expect("read");
    let (_, list) = page.split_once("A background runtime itself keeps only ").expect("the list");
    let (list, _) = list.split_once(".\n").expect("its end");
    let listed: Vec<&str> = list.split('`').skip(1).step_by(2).collect();
    let text = environ(home.runtime_pid());
    let names =
        text.split_terminator('\0').filter_map(|variable| variable.split_once('=')).map(|(name, _)| name);
    for name in names {
        let is_listed =
            |word: &&str| word.strip_suffix('*').map_or(*word == name, |start| name.starts_with(start));
        assert!(listed.iter().any(is_listed), "{name} is not among {listed:?}");
    }
    assert!(text.contains("LC_TIME=C\0"));
    agent.leave();
}

#[test]
fn variables_that_the_settings_drop_and_set_hold_for_an_agent() {
    let home = Home::new();
    home.configure("config.toml", "[env]\ndrop = [\"*_TOKEN\"]\nset = { GREETING = \"ahoy\" }\n");
    let agent = agent_here(
        &home,
        &[("API_TOKEN", "hunter2"), ("GREETING", "hello"), ("LD_BIND_NOW", "1"), ("KEPT", "yes")],
    );
    let cmd = "echo ${API_TOKEN-none} $GREETING ${LD_BIND_NOW-none} $KEPT $PAGER";
    assert_eq!(output(&agent, cmd), "none ahoy none yes cat\n");
    agent.leave();
}

#[test]
fn a_command_has_its_agents_umask_and_starts_in_its_agents_directory() {
    let home = Home::new();
    let below = home.workspace().join("below");
    std::fs::create_dir(&below).expect("a folder");
    let mut served = home.serve();
    // The shim inherits the umask and directory of this shell.
    let shim = |folder: &Path, umask: &str| {
        let mut shim = Command::new("/bin/sh");
        home.settle(&mut shim);
        let program = home.command(&[]).get_program().to_owned();
        shim.current_dir(folder).args(["-c", &format!("umask {umask}; exec \"$0\" mcp")]).arg(program);
        Agent::connect_by(&home, shim)
    };
    let root = home.workspace().canonicalize().expect("canonical");
    let careful = shim(&below, "077");
    let open = shim(&home.workspace(), "002");
    assert_eq!(output(&careful, "umask; pwd"), format!("0077\n{}/below\n", root.display()));
    assert_eq!(output(&open, "umask; pwd"), format!("0002\n{}\n", root.display()));
    // A relative directory is relative to the workspace, wherever the agent was started.
    for agent in [&careful, &open] {
        let answer = agent.call("ExecCommand", &json!({"cmd": "pwd", "workdir": "below"}));
        assert_eq!(answer.result("/stdout_preview"), &format!("{}/below\n", root.display()));
    }
    careful.leave();
    open.leave();
    home.stop(&mut served);
}

#[test]
fn an_environment_that_cannot_be_handed_over_is_said_and_nothing_runs_in_another() {
    let home = Home::new();
    let mut served = home.serve();
    // This much can only be inherited with a larger stack limit; each single variable is within the kernel's limit.
    let script = "ulimit -s unlimited || exit 9; x=$(head -c 120000 /dev/zero | tr '\\0' x); \
                  for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19; do export LARGE_$n=$x; done; \
                  exec \"$0\" command run 'touch ran'";
    let mut run = Command::new("/bin/sh");
    home.settle(&mut run);
    let ran = run.args(["-c", script]).arg(home.command(&[]).get_program()).output().expect("runs");
    home.stop(&mut served);
    if ran.status.code() == Some(9) {
        return skip("the stack limit cannot be raised");
    }
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(said.contains("at most 2097152 can be handed to a runtime"), "{said} {ran:?}");
    assert!(!home.workspace().join("ran").exists());
}

#[tokio::test]
async fn a_client_without_an_environment_gets_that_of_the_runtime() {
    let home = Home::new();
    let mut serve = home.command(&["serve"]);
    let mut served = serve.env("MARK", "of the runtime").stderr(Stdio::null()).spawn().expect("starts");
    wait_until("it listens", || home.places().operator_socket().exists());
    // This process has announced no environment: its hello is that of an older client.
    let mut script = Scripts::dial(&home.places().agent_socket(), home.workspace()).await.expect("comes in");
    let (input, cut) = (json!({"cmd": "echo $MARK"}), CutHandle::default());
    let answer = script.call("ExecCommand", input, None, &cut).await.expect("an answer");
    assert_eq!(answer.envelope.result().expect("success")["stdout_preview"], "of the runtime\n");
    drop(script);
    home.stop(&mut served);
}
