//! Any agent whose shell is bash (`pilothouse with`): its own calls become tasks, seen as without Pilothouse; whatever else
//! runs below it goes on as if Pilothouse were not there.

use std::path::PathBuf;
use std::process::{Child, Command};

use serde_json::{Value, json};

use crate::shell_door::Door;
use crate::support::{program, skip, wait_until};

/// An agent of a few lines, and a running runtime.
struct StandIn {
    door: Door,
    served: Child,
    python: PathBuf,
}

impl StandIn {
    fn new() -> Option<Self> {
        // The program itself, and not a script in PATH that leads to it.
        let asked = Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output();
        let python = asked.ok().and_then(|output| String::from_utf8(output.stdout).ok());
        let Some(python) = python.map(|path| PathBuf::from(path.trim())).filter(|path| path.is_file()) else {
            skip("there is no python3");
            return None;
        };
        let (door, served) = Door::served();
        let own = door.home.workspace().join("agent.py");
        std::fs::write(own, include_str!("stand_in.py")).expect("written");
        Some(Self { door, served, python })
    }

    /// The agent with its calls, started through Pilothouse or by itself.
    fn start(&self, before: &[&str], mode: &[&str], calls: &Value) -> Command {
        let list = self.door.home.workspace().join("calls.json");
        std::fs::write(&list, calls.to_string()).expect("written");
        let mut words: Vec<&str> = before.to_vec();
        let python = self.python.to_str().expect("UTF-8");
        words.extend([python, "agent.py"]);
        words.extend(mode);
        words.push("calls.json");
        let mut command = Command::new(words[0]);
        self.door.home.settle(&mut command);
        command.args(&words[1..]).env_remove("PILOTHOUSE_TASK_KIND").env_remove("XDG_DATA_HOME");
        command
    }

    fn ours(&self, mode: &[&str], calls: &Value) -> Command {
        let program = program().to_str().expect("UTF-8").to_owned();
        self.start(&[&program, "with", "--name", "stand-in", "--"], mode, calls)
    }

    fn plain(&self, calls: &Value) -> Command {
        self.start(&[], &[], calls)
    }

    /// How each command that became a task was written.
    fn tasks(&self) -> Vec<String> {
        let mut tasks = self.door.commands();
        tasks.reverse();
        tasks
    }

    fn end(mut self) {
        self.door.home.stop(&mut self.served);
    }
}

/// What an agent saw of each call.
fn seen(mut agent: Command) -> Vec<(i64, String, String)> {
    let output = agent.output().expect("runs");
    let seen: Vec<(i64, String, String)> =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    seen
}

#[test]
fn every_form_of_an_agents_own_call_is_a_task_and_read_as_without_us() {
    let Some(agent) = StandIn::new() else { return };
    std::fs::write(agent.door.home.workspace().join("../.profile"), "echo profile\nexport P=x$P\n")
        .expect("written");
    let long = format!("echo own-long; : {}", "x".repeat(100_000));
    let calls = json!([
        { "argv": ["bash", "-c", "echo own-0; exit 3"] },
        { "argv": ["/bin/bash", "-c", "echo own-1 $0 $BASH $-; echo err >&2"] },
        { "argv": ["bash", "--norc", "--noprofile", "-c", "echo own-2; kill -9 $$"] },
        { "argv": ["bash", "-eu", "-o", "pipefail", "-c", "false | true; echo own-3"] },
        { "argv": ["bash", "-c", "echo own-4 $0 $# \"$@\"", "a name", "one", "two  'three'\n"] },
        { "argv": ["bash", "-c", "--", "echo own-5 $_ $?; shopt extglob"] },
        { "argv": ["bash", "+O", "extglob", "-c", "echo own-6; shopt extglob"] },
        { "argv": ["bash", "-x", "-c", "echo own-7"] },
        { "argv": ["bash", "-fC", "-c", "echo own-8 *"], "session": false },
        { "argv": ["bash", "-c", "echo own-9; cat; echo $SHLVL"], "input": "pipe" },
        { "argv": ["bash", "-c", "echo own-10; cat; echo $SHLVL"], "input": "socket" },
        { "argv": ["bash", "-c", "echo own-11 \"$PWD\" $(ls -x /proc/self/fd); sleep 0.1 & echo 'é\u{1F600}'"] },
        { "argv": ["bash", "-c", "nosuchcommand own-12"] },
        { "argv": ["bash", "-c", long] },
    ]);
    let expected = seen(agent.plain(&calls));
    for mode in [&[][..], &["--in-place"]] {
        let found = seen(agent.ours(mode, &calls));
        for (at, (found, expected)) in found.iter().zip(&expected).enumerate() {
            assert_eq!(found, expected, "{mode:?} {}", calls[at]);
        }
    }
    let listed = agent.door.json(&["task", "list", "--scope", "all"]);
    assert_eq!(listed["data"]["total"], 2 * expected.len());
    assert!(agent.tasks().iter().all(|task| task.contains("own-")));
    let record = agent.door.record();
    // The second has begun after the first was gone, and so has its name.
    assert!(record.contains("\"agent:stand-in\"") && !record.contains("stand-in#2"), "{record}");
    assert!(!record.contains("\"agent:agent"), "none is called agent");
    agent.end();
}

#[test]
fn a_login_shell_becomes_a_task_too() {
    let Some(agent) = StandIn::new() else { return };
    let calls = json!([{ "argv": ["bash", "-l", "-c", "shopt login_shell"] }, { "argv": ["bash", "--login", "-c", "echo two"] }]);
    let found = seen(agent.ours(&[], &calls));
    assert_eq!(found, seen(agent.plain(&calls)));
    assert_eq!(agent.tasks().len(), 2);
    agent.end();
}

#[test]
fn hooks_scripts_servers_and_nested_shells_go_on_as_if_we_were_not_there() {
    let Some(agent) = StandIn::new() else { return };
    let place = agent.door.home.workspace();
    let script = |name: &str, text: &str| {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::write(place.join(name), text).expect("written");
        std::fs::set_permissions(place.join(name), std::fs::Permissions::from_mode(0o755)).expect("set");
    };
    // Without a pipe, whose two sides are traced in any order.
    let seen_by = "echo $_; grep -c '^BASH_ENV\\|^PILOTHOUSE_[BAS]' <<<\"$(env)\"; echo $?";
    script("own.sh", &format!("#!/bin/bash\n{seen_by}\nbash -c 'echo below a script'\n"));
    script("call.pl", "system('bash', '-c', $ARGV[0])");
    script("Makefile", "SHELL := /bin/bash\nall:\n\t@echo made; : $$$$\n");
    std::fs::create_dir_all(place.join("hooks")).expect("a folder");
    script("hooks/pre-commit", "#!/bin/bash\nbash -c 'echo hook' > hooked\n");
    let git =
        "git -c core.hooksPath=hooks -c user.name=a -c user.email=a@b commit --allow-empty -qm x; cat hooked";
    let python = agent.python.to_str().expect("UTF-8");
    let all = json!([
        { "argv": ["bash", "own.sh"] },
        { "argv": ["./own.sh"] },
        { "argv": ["bash", "-x", "own.sh"] },
        { "argv": ["sh", "-c", format!("bash -c '{}'", seen_by.replace('\'', "'\\''"))] },
        { "argv": ["sh", "-c", git] },
        { "argv": ["perl", "call.pl", "echo of another program"] },
        { "argv": ["make", "-s"] },
        { "argv": ["find", "own.sh", "-exec", "bash", "-c", "echo found $0", "{}", ";"] },
        { "argv": ["env", "-i", "bash", "-c", "echo bare"] },
        { "argv": ["bash", "--posix", "-c", "echo posix"] },
        { "argv": ["bash", "-p", "-c", "echo privileged"] },
        { "argv": ["bash", "-s", "x"], "input": "pipe" },
        { "argv": ["timeout", "60", "bash", "-c", "echo timed"] },
        { "argv": ["env", "PILOTHOUSE_SHELL=off", "bash", "-c", "echo off"] },
        { "argv": ["env", "PILOTHOUSE_TASK_KIND=command", "bash", "-c", "echo in a command"] },
        { "argv": [python, "agent.py", "--served", "echo of a server"] },
    ]);
    let found = seen(agent.ours(&[], &all));
    let expected = seen(agent.plain(&all));
    for (at, (found, expected)) in found.iter().zip(&expected).enumerate() {
        if expected.0 == 127 || expected.2.contains("not found") {
            skip(&format!("not installed: {}", all[at]));
        }
        assert_eq!(found, expected, "{}", all[at]);
    }
    assert_eq!(agent.tasks(), [""; 0]);
    // Nobody can tell a server that runs the agent's program from the agent: that is said, once.
    let mark = || {
        let text = agent.door.home.run(&["status", "--output", "plain"]).stdout;
        let text = String::from_utf8_lossy(&text).into_owned();
        text.contains("ran without a runtime   1\n")
            || agent.door.record().contains("not routed: started by ")
    };
    wait_until("it is said what was not routed", mark);
    agent.end();
}

#[test]
fn a_commands_environment_is_that_of_a_plain_run_but_for_two_variables() {
    let Some(agent) = StandIn::new() else { return };
    let own = agent.door.home.workspace().join("../my env");
    std::fs::write(&own, "echo read >> \"$HOME/reads\"\nmine() { echo mine; }\nexport FROM_MINE=1\n")
        .expect("written");
    let env = "env -0 | sort -z | tr '\\0' '\\n'";
    let calls = json!([
        { "argv": ["bash", "-c", env] },
        { "argv": ["bash", "-uec", format!("mine; {env}")] },
        { "argv": ["sh", "-c", format!("bash -c 'mine; {}'", env.replace('\'', "'\\''"))] },
        { "argv": ["bash", "-c", "bash -c mine"], "input": "socket" },
    ]);
    let reads =
        || std::fs::read_to_string(agent.door.home.workspace().join("../reads")).unwrap_or_default().len();
    for set in [
        &[("BASH_ENV", "$HOME/my env"), ("SHLVL", "3")][..],
        &[("BASH_ENV", "$HOME/my env"), ("SHLVL", "0")],
        &[],
    ] {
        let settled = |mut command: Command| {
            command.env_remove("BASH_ENV").env_remove("SHLVL").env_remove("_").envs(set.iter().copied());
            command
                .env("ODD", "a\nb=c\t'\"$x")
                .env("EMPTY", "")
                .env("A.B", "dot")
                .env("BASH_FUNC_f%%", "() {  echo f\n}");
            let before = reads();
            (seen(command), reads() - before)
        };
        let (found, expected) = (settled(agent.ours(&[], &calls)), settled(agent.plain(&calls)));
        assert_eq!(found.1, expected.1, "the user's own file is read as often");
        for (at, (found, expected)) in found.0.iter().zip(&expected.0).enumerate() {
            let is_named = |line: &&str| {
                !line.starts_with("PILOTHOUSE_TASK_ID=") && !line.starts_with("PILOTHOUSE_TASK_KIND=")
            };
            let kept: Vec<&str> = found.1.lines().filter(is_named).collect();
            // A shell that is not the agent's and one level deeper is started by the same process.
            assert_eq!(kept, expected.1.lines().collect::<Vec<_>>(), "{set:?} {}", calls[at]);
            assert_eq!((found.0, &found.2), (expected.0, &expected.2), "{set:?} {}", calls[at]);
        }
    }
    assert_eq!(agent.tasks().len(), 3 * 3);
    agent.end();
}

#[test]
fn a_script_that_starts_the_agent_leads_to_it() {
    let Some(agent) = StandIn::new() else { return };
    let python = agent.python.display();
    for (name, text) in [
        ("start.sh", format!("{python} agent.py \"$@\"; exit $?")),
        ("exec.sh", format!("exec {python} agent.py \"$@\"")),
    ] {
        std::fs::write(agent.door.home.workspace().join(name), text).expect("written");
        let list = agent.door.home.workspace().join("calls.json");
        std::fs::write(list, json!([{ "argv": ["bash", "-c", format!("echo by {name}")] }]).to_string())
            .expect("written");
        let mut command = agent.door.home.command(&["with", "--", "bash", name, "calls.json"]);
        command.env_remove("PILOTHOUSE_TASK_KIND").env_remove("XDG_DATA_HOME");
        assert_eq!(seen(command)[0].1, format!("by {name}\n"));
    }
    assert_eq!(agent.tasks(), ["echo by start.sh", "echo by exec.sh"]);
    agent.end();
}

#[test]
fn hooks_and_commands_of_a_process_in_the_place_of_the_started_one_are_one_agents() {
    let Some(agent) = StandIn::new() else { return };
    let programs = agent.door.home.workspace().join("programs");
    std::fs::create_dir(&programs).expect("created");
    let qwen = programs.join("qwen");
    std::fs::write(&qwen, "#!/bin/sh\nexec \"$@\"\n").expect("written");
    std::fs::set_permissions(&qwen, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("a program");
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").expect("a PATH"));
    let own = program().to_str().expect("UTF-8").to_owned();
    let told = json!({"hook_event_name": "UserPromptSubmit", "session_id": "s"});
    let hook = json!({ "argv": ["sh", "-c", format!("echo '{told}' | '{own}' hook qwen; :")] });
    let shell = json!({ "argv": ["bash", "-c", format!("'{own}' status")] });
    for (calls, last) in [(json!([hook, shell]), 1), (json!([shell, hook, shell]), 2)] {
        let mut command = agent.start(&[&own, "qwen"], &["--in-place"], &calls);
        command.env("PATH", &path).env("QWEN_CODE_SESSION_ID", "s");
        let status: Value = serde_json::from_str(&seen(command)[last].1).expect("JSON");
        assert_eq!(status["data"]["agents"], 1, "{status}");
    }
    agent.end();
}

#[test]
fn a_missing_agent_program_is_not_started_and_the_error_says_so() {
    let door = Door::new();
    for (words, said) in [
        (&["with", "--", "no-such-agent"][..], "no-such-agent is not in your PATH"),
        (&["with", "./no-such-agent"], "./no-such-agent is not a program"),
    ] {
        let output = door.home.run(words);
        assert_eq!(output.status.code(), Some(4), "{output:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains(said), "{output:?}");
    }
    assert_eq!(door.home.run(&["with"]).status.code(), Some(2));
}
