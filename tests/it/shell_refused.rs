//! A runtime that refuses an agent's own command: nothing runs past a rule or a pause, and what runs without a runtime
//! leaves a mark.

use std::fs::Permissions;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::process::{Child, Command, Stdio};

use pilothouse::link::Holder;
use serde_json::json;

use crate::shell_door::{Door, in_a_removed_directory};
use crate::support::{Console, Tag, shell_program, wait_until};

const SIZE: (u16, u16) = (100, 30);
/// Commands longer than this are few enough to wait for the operator.
const LONG: usize = 120_000;

/// What concerns the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Concern {
    Rule,
    Pause,
    Nothing,
}

/// Why the runtime does not run it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Refusal {
    /// A cloned repository allows one task, and one runs.
    TaskLimit,
    /// So much waits for the operator that nothing else can.
    HeldLimit,
    /// The environment is larger than a runtime takes.
    Environment,
    /// It begins where nothing is any more.
    RemovedDirectory,
    /// The state folder was removed.
    Unrecorded,
}

/// What became of it.
#[derive(Debug, PartialEq, Eq)]
enum Fate {
    Waits,
    /// It was not run, exit 75.
    NotRun,
    /// It ran without a runtime, and is on record or has left a mark.
    Marked,
    /// A task ran it.
    Task,
}

/// A runtime and the console that embeds it, with a rule or paused.
struct Attended {
    console: Console,
    door: Door,
}

impl Attended {
    fn new(concern: Concern, refusal: Refusal) -> Self {
        let door = Door::new();
        if concern == Concern::Rule {
            door.home.configure("config.toml", "[[approvals]]\nprefix = \"touch\"\n");
        }
        if refusal == Refusal::TaskLimit {
            let file = door.home.workspace().join(".pilothouse.toml");
            std::fs::write(file, "[limits]\ntasks = 1\n").expect("written");
        }
        let console = Console::open(&door.home, &[], SIZE);
        console.shows("no agent yet");
        // The first call makes the agent known, whom the pause then holds.
        assert!(door.of_claude("one", "true").output().expect("runs").status.success());
        if refusal == Refusal::TaskLimit {
            let sleep = format!("sleep {}", Tag::new().0);
            let output = door.home.run(&["command", "run", "--yield-time-ms", "0", &sleep]);
            assert!(output.status.success(), "{output:?}");
        }
        if concern == Concern::Pause {
            console.keys(b"p");
            console.shows("PAUSED");
        }
        Self { console, door }
    }

    /// The command, as the agent calls for it.
    fn call(&self, refusal: Refusal) -> Command {
        let mut call = self.door.of_claude("one", "touch ran");
        call.stdout(Stdio::null()).stderr(Stdio::piped());
        match refusal {
            Refusal::TaskLimit | Refusal::HeldLimit | Refusal::RemovedDirectory => {}
            Refusal::Environment => {
                // A process takes so much only with a larger stack.
                let mut shell = Command::new("bash");
                let large = "ulimit -s 65536; long=$(head -c 120000 /dev/zero | tr '\\0' x)
                    for at in {1..20}; do export \"LONG_$at=$long\"; done; exec \"$0\" \"$@\"";
                self.door.home.settle(&mut shell);
                shell.args(["-c", large]).arg(call.get_program()).args(call.get_args());
                shell.envs(call.get_envs().filter_map(|(name, value)| Some((name, value?))));
                shell.env_remove("PILOTHOUSE_TASK_KIND").stdout(Stdio::null()).stderr(Stdio::piped());
                return shell;
            }
            Refusal::Unrecorded => {
                // At once: while a folder is emptied, the runtime may write into it.
                let gone = self.door.home.workspace().join("../gone");
                std::fs::rename(self.door.home.places().state_dir, gone).expect("moved away");
                // It is noticed with the next row that must be on disk.
                let run = ["command", "run", "true"];
                wait_until("it is noticed", || !self.door.home.run(&run).status.success());
            }
        }
        call
    }

    fn fate(&self, refusal: Refusal, concern: Concern) -> Fate {
        let ran = self.door.home.workspace().join("ran");
        let mut held: Vec<Child> = Vec::new();
        if refusal == Refusal::HeldLimit {
            let long = format!("touch held; : {}", "x".repeat(LONG));
            held.extend((0..20).map(|_| {
                let mut call = self.door.of_claude("one", &long);
                call.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("starts")
            }));
            // 17 commands of this length are as much as can wait.
            let ending = if concern == Concern::Nothing { held.len() } else { held.len() - 17 };
            wait_until("no more can wait, or all have run", || {
                held.iter_mut().filter_map(|child| child.try_wait().expect("waited")).count() == ending
            });
            let has_run = self.door.home.workspace().join("held").exists();
            assert_eq!(has_run, concern == Concern::Nothing, "{concern:?}");
        }
        let fate = if refusal == Refusal::RemovedDirectory {
            let place = self.door.home.workspace().join("gone");
            let script = format!("touch {}", ran.display());
            let output = in_a_removed_directory(&self.door, &place, &self.door.home.workspace(), &script);
            self.ended(output.status.code(), &String::from_utf8_lossy(&output.stderr))
        } else if refusal == Refusal::HeldLimit && !held.is_empty() {
            // A long one, for which there is no room.
            let script = format!("touch ran; : {}", "x".repeat(LONG));
            let mut call = self.door.of_claude("one", &script);
            self.followed(call.stdout(Stdio::null()).stderr(Stdio::piped()))
        } else {
            self.followed(&mut self.call(refusal))
        };
        assert_eq!(ran.exists(), matches!(fate, Fate::Marked | Fate::Task), "{fate:?}");
        for mut child in held {
            let _ = child.kill();
            child.wait().expect("ends");
        }
        fate
    }

    /// Waits until a command has ended, or waits for the person.
    fn followed(&self, call: &mut Command) -> Fate {
        let held = self.console.text().contains("1 held");
        let mut child = call.spawn().expect("starts");
        let (mut status, mut waits) = (None, false);
        wait_until("it ends or waits", || {
            status = child.try_wait().expect("waited");
            waits = !held && self.console.text().contains("1 held");
            status.is_some() || waits
        });
        let Some(status) = status else {
            child.kill().expect("killed");
            child.wait().expect("ends");
            return Fate::Waits;
        };
        let mut said = String::new();
        child.stderr.take().expect("piped").read_to_string(&mut said).expect("reads");
        self.ended(status.code(), &said)
    }

    fn ended(&self, code: Option<i32>, said: &str) -> Fate {
        match code {
            Some(75) => {
                assert!(said.starts_with("pilothouse: this command was not run: "), "{said}");
                assert_eq!(said.lines().count(), 1, "{said}");
                Fate::NotRun
            }
            Some(0) if said.is_empty() => Fate::Task,
            Some(0) => {
                assert!(said.starts_with("pilothouse: this command runs without Pilothouse: "), "{said}");
                let marks = || std::fs::read_to_string(self.door.home.places().outside()).unwrap_or_default();
                let is_marked = || self.door.record().contains("\"kind\":\"outside\"") || !marks().is_empty();
                wait_until("it has left its mark", is_marked);
                Fate::Marked
            }
            _ => panic!("{code:?}: {said}"),
        }
    }
}

/// What must become of a command.
fn expected(refusal: Refusal, concern: Concern) -> Fate {
    match (refusal, concern) {
        // What waits does not count, and a repository's file does not lower that.
        (Refusal::TaskLimit, Concern::Rule | Concern::Pause) => Fate::Waits,
        (Refusal::TaskLimit | Refusal::Environment | Refusal::RemovedDirectory, Concern::Nothing) => {
            Fate::Marked
        }
        (Refusal::HeldLimit, Concern::Nothing) => Fate::Task,
        // No mark can be left where the state folder was removed.
        (
            Refusal::HeldLimit | Refusal::Environment | Refusal::RemovedDirectory,
            Concern::Rule | Concern::Pause,
        )
        | (Refusal::Unrecorded, _) => Fate::NotRun,
    }
}

#[track_caller]
fn refuse(refusal: Refusal) {
    for concern in [Concern::Rule, Concern::Pause, Concern::Nothing] {
        let attended = Attended::new(concern, refusal);
        assert_eq!(attended.fate(refusal, concern), expected(refusal, concern), "{refusal:?} {concern:?}");
    }
}

#[test]
fn f48_a_repository_that_allows_one_task_takes_no_command_past_a_rule_or_the_pause() {
    refuse(Refusal::TaskLimit);
}

#[test]
fn f48_more_than_can_wait_for_the_operator_runs_nothing_unasked() {
    refuse(Refusal::HeldLimit);
}

#[test]
fn f48_an_environment_too_large_for_the_runtime_runs_nothing_unasked() {
    refuse(Refusal::Environment);
}

#[test]
fn f48_a_removed_directory_runs_nothing_unasked() {
    refuse(Refusal::RemovedDirectory);
}

#[test]
fn f49_a_state_folder_that_was_removed_runs_nothing() {
    refuse(Refusal::Unrecorded);
}

/// Something that answers at the socket of the workspace's runtime.
fn answering(door: &Door, answer: String) -> impl Drop {
    let places = door.home.places();
    let mut starting = door.home.never_listening();
    let runtime = door.home.workspace().join("../other");
    std::fs::create_dir(&runtime).expect("a folder");
    let address = json!({
        "pid": std::process::id(), "runtime": runtime, "state": places.state_dir, "config": places.config_dir,
        "workspace": places.workspace,
    });
    writeln!(starting.0, "{address}").expect("written");
    let listener = UnixListener::bind(runtime.join("agent.sock")).expect("bound");
    std::thread::spawn(move || {
        for caller in listener.incoming().flatten() {
            let mut line = [0; 1];
            let _ = (&caller).read(&mut line);
            let _ = (&caller).write_all(answer.as_bytes());
        }
    });
    assert!(Holder::of(&places).address().is_some());
    starting
}

#[test]
fn f48_no_command_runs_when_the_answering_program_is_no_runtime_of_ours() {
    let other = json!({
        "v": 5, "ok": false, "reason": "the client speaks another version", "workspace": "/", "runtime_pid": 1,
    });
    for answer in [format!("{other}\n"), "HTTP/1.1 400 Bad Request\n".to_owned()] {
        let door = Door::new();
        let _answering = answering(&door, answer);
        let output = door.of_claude("one", "touch ran").output().expect("runs");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(75), "{said}");
        assert!(said.starts_with("pilothouse: this command was not run: "), "{said}");
        assert!(!door.home.workspace().join("ran").exists());
    }
}

#[test]
fn a_small_program_older_than_the_runtime_becomes_the_whole_one_beside_it() {
    let mut door = Door::new();
    let folder = door.home.workspace().join("../built");
    std::fs::create_dir(&folder).expect("a folder");
    let copied = Command::new("cp").arg(shell_program()).arg(&folder).status();
    assert!(copied.expect("runs").success());
    let whole = folder.join("pilothouse");
    std::fs::write(&whole, "#!/bin/sh\necho \"whole: $*\"; exit 7\n").expect("written");
    std::fs::set_permissions(&whole, Permissions::from_mode(0o755)).expect("set");
    door.shell = folder.join("pilothouse-bash");
    symlink("pilothouse-shell", &door.shell).expect("a link");
    let refused =
        json!({ "v": 5, "ok": false, "reason": "another version", "workspace": "/", "runtime_pid": 1 });
    let _answering = answering(&door, format!("{refused}\n"));
    let output = door.of_claude("one", "touch ran").output().expect("runs");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "whole: -c touch ran\n");
    assert_eq!((output.status.code(), output.stderr.len()), (Some(7), 0));
}

#[test]
fn f49_no_command_runs_where_no_runtime_can_start_and_no_mark_can_be_left() {
    let door = Door::new();
    let state = door.home.workspace().join("../state");
    std::fs::create_dir_all(&state).expect("a folder");
    // A file is in the way of the state folder, as where another user's home is named.
    std::fs::write(state.join("pilothouse"), "").expect("written");
    let output = door.of_claude("one", "touch ran").output().expect("runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(75), "{said}");
    assert!(
        said.contains("this command was not run: write the log ") && said.contains("could not be noted"),
        "{said}"
    );
    assert!(!door.home.workspace().join("ran").exists());
    std::fs::remove_file(state.join("pilothouse")).expect("removed");
}

/// The connections that a runtime has for agents.
const CONNECTIONS: usize = 512;

/// Numbers of calls: held at once, and in parallel.
fn flood(held: usize, parallel: usize) {
    let door = Door::new();
    door.home.configure("config.toml", "[[approvals]]\nprefix = \"touch\"\n");
    let mut served = door.home.serve();
    let spawn = |script: String| {
        let mut call = door.of_claude("one", &script);
        call.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("starts")
    };
    let mut waiting: Vec<Child> = (0..held).map(|at| spawn(format!("touch held-{at}"))).collect();
    // Without a free connection, nobody can ask: as many wait as may.
    let holds = || {
        let listed = door.json(&["task", "list", "--scope", "all"]);
        listed["data"]["total"].as_u64().map_or(CONNECTIONS, |total| usize::try_from(total).expect("small"))
    };
    // Those for which there is no connection wait for one, and end with 75.
    wait_until("each waits or has ended", || {
        let ended: Vec<_> =
            waiting.iter_mut().filter_map(|child| child.try_wait().expect("waited")).collect();
        assert!(ended.iter().all(|status| status.code() == Some(75)), "{ended:?}");
        holds() + ended.len() >= held
    });
    for child in &mut waiting {
        child.kill().expect("killed");
    }
    let codes: Vec<_> = waiting.iter_mut().map(|child| child.wait().expect("ends").code()).collect();
    assert!(codes.iter().all(|code| matches!(code, None | Some(75))), "{codes:?}");

    let running: Vec<Child> = (0..parallel).map(|at| spawn(format!("echo {at} >> ran-{at}"))).collect();
    let codes: Vec<_> = running.into_iter().map(|mut child| child.wait().expect("ends").code()).collect();
    let ran = |at: &usize| {
        let lines =
            std::fs::read_to_string(door.home.workspace().join(format!("ran-{at}"))).unwrap_or_default();
        assert!(lines.lines().count() <= 1, "{at} ran twice");
        !lines.is_empty()
    };
    let ran: Vec<usize> = (0..parallel).filter(ran).collect();
    let not_run = codes.iter().filter(|code| **code == Some(75)).count();
    assert_eq!(ran.len() + not_run, parallel, "{codes:?}");
    let marks = || std::fs::read_to_string(door.home.places().outside()).unwrap_or_default();
    let is_tracked = |at: &usize| {
        let (record, cmd) = (door.record() + &marks(), format!("echo {at} >> ran-{at}\""));
        record.contains(&cmd)
    };
    wait_until("each is on record or has left a mark", || ran.iter().all(is_tracked));
    let unasked = (0..held).filter(|at| door.home.workspace().join(format!("held-{at}")).exists()).count();
    eprintln!(
        "{held} held: {unasked} unasked; {parallel} in parallel: {} ran, {not_run} ended with 75",
        ran.len()
    );
    assert_eq!(unasked, 0);
    door.home.stop(&mut served);
}

#[test]
fn f48_none_of_many_waiting_or_running_calls_runs_unasked_or_untracked() {
    flood(40, 60);
}

#[test]
#[ignore = "minutes; .ci/long runs it"]
fn long_f48_of_1000_held_and_500_parallel_calls_none_runs_unasked_or_untracked() {
    flood(1_000, 500);
}
