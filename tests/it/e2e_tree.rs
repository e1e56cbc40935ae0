//! The guards of a program and what they are for: whatever is killed or stopped, nothing of a task survives, and
//! the terminal is restored.

use rustix::process::Signal;
use serde_json::json;

use crate::support::{Agent, Console, Family, HOLDERS, Home, Tag, children, parent, send, state, wait_until};

const SIZE: (u16, u16) = (100, 30);

/// Starts a command as a task without a terminal, so that no hangup ends it.
fn on_pipes(agent: &Agent, cmd: &str) -> String {
    agent.call("ExecCommand", &json!({"cmd": cmd, "yield_time_ms": 0})).task()
}

/// Ways of escaping from a task. `$H` is the task host, `$R` the runtime; whatever escapes sleeps for TAG seconds.
pub(crate) const ESCAPES: [(&str, &str); 8] = [
    (
        "its host is killed from a session without the mark",
        "setsid env -i sh -c \"sleep .2; kill -9 $H; exec sleep TAG\" & sleep 30",
    ),
    ("its host is killed from the shell itself", "kill -9 $H; exec sleep TAG"),
    (
        "its host is killed from a process that was orphaned twice",
        "setsid -f env -i setsid -f sh -c \"kill -9 $H; exec sleep TAG\"; sleep 30",
    ),
    (
        "its host is killed by a fault",
        "setsid -f env -i sleep TAG; kill -SEGV $H; sleep .1; kill -SEGV $H; sleep 30",
    ),
    ("its host is aborted", "nohup setsid -f env -i sleep TAG; kill -ABRT $H; sleep 30"),
    (
        "it moves on while its host is killed",
        "echo 'sleep .01; [ $1 -gt 0 ] && setsid -f env -i sh hop $(($1 - 1)) || exec sleep TAG' > hop; setsid -f env -i sh hop 30; kill -9 $H; sleep 30",
    ),
    (
        "its host is stopped and the runtime killed",
        "setsid -f env -i sleep TAG; kill -STOP $H; kill -9 $R; sleep 30",
    ),
    (
        "its host and the runtime are killed",
        "setsid -f env -i sh -c \"exec sleep TAG\"; kill -9 $R $H; sleep 30",
    ),
];

/// Tries one way of escaping; returns once nothing of it is left.
pub(crate) fn escape(way: &str, line: &str) {
    let (home, tag) = (Home::new(), Tag::new());
    let mut served = home.serve();
    let runtime = Family::of(served.id()).program;
    let agent = Agent::connect(&home, &[]);
    let cmd = format!("H=$PPID; R={runtime}; {}", line.replace("TAG", &tag.0));
    agent.call("ExecCommand", &json!({"cmd": cmd, "yield_time_ms": 60_000}));
    if line.contains("$R") {
        served.wait().expect("killed");
    }
    wait_until(&format!("{way}: nothing is left"), || tag.holders().is_empty());
    agent.leave();
    let _ = home.run(&["serve", "--stop"]);
    let _ = served.wait();
    assert_eq!(tag.holders(), Vec::<u32>::new(), "{way}");
}

/// The task hosts below a runtime.
fn hosts(runtime: u32) -> Vec<u32> {
    let is_host = |pid: &u32| {
        std::fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name == "pilothouse-host\n")
    };
    children(runtime).into_iter().filter(is_host).collect()
}

#[test]
fn f02_f05_no_way_out_of_a_task_outlives_it() {
    std::thread::scope(|scope| {
        for (way, line) in ESCAPES {
            scope.spawn(move || escape(way, line));
        }
    });
}

#[test]
fn f02_a_killed_host_ends_its_task_and_names_what_was_found() {
    let (home, tag) = (Home::new(), Tag::new());
    let mut served = home.serve();
    let agent = Agent::connect(&home, &[]);
    let task = on_pipes(&agent, &format!("exec env -i sleep {}", tag.0));
    tag.asleep();
    send(parent(tag.holders()[0]), Signal::KILL);
    let ended = agent.call("TaskOutput", &json!({"task_id": task}));
    assert_ne!(ended.result("/task/status"), "running", "{}", ended.envelope);
    wait_until("it is gone", || tag.holders().is_empty());
    assert_eq!(agent.call("ExecCommand", &json!({"cmd": "echo on"})).result("/stdout_preview"), "on\n");
    agent.leave();
    home.stop(&mut served);
}

#[test]
fn f03_a_host_that_is_stopped_is_given_up_with_its_task() {
    let (home, tag) = (Home::new(), Tag::new());
    let mut served = home.serve();
    let agent = Agent::connect(&home, &[]);
    let task = on_pipes(&agent, &format!("exec env -i sleep {}", tag.0));
    tag.asleep();
    let host = parent(tag.holders()[0]);
    send(host, Signal::STOP);
    wait_until("nothing is left of it", || tag.holders().is_empty() && state(host).is_none());
    let ended = agent.call("TaskOutput", &json!({"task_id": task}));
    assert_ne!(ended.result("/task/status"), "running", "{}", ended.envelope);
    agent.leave();
    home.stop(&mut served);
}

#[test]
fn f01_a_guard_that_is_killed_ends_the_console_its_tasks_and_gives_the_terminal_back() {
    for which in [0, 1] {
        let (home, tag) = (Home::new(), Tag::new());
        let mut console = Console::open(&home, &[], SIZE);
        console.shows("no agent yet");
        let agent = Agent::connect(&home, &[]);
        agent.task(&tag.hostile_tree());
        wait_until("the tree is there", || tag.holders().len() >= HOLDERS);
        let Family { guards, program } = console.family();
        assert_eq!(guards.len(), 2, "a launcher and a keeper");
        send(guards[which], Signal::KILL);
        let code = console.exit();
        assert_eq!(code, if which == 0 { 128 + 9 } else { 143 }, "guard {which}");
        wait_until("the program ends", || state(program).is_none());
        wait_until("nothing survives", || tag.holders().is_empty());
        wait_until("nor do the guards", || guards.iter().all(|guard| state(*guard).is_none()));
        console.is_as_it_was();
    }
}

#[test]
fn f01_a_keeper_without_a_terminal_takes_the_runtime_with_it() {
    let (home, tag) = (Home::new(), Tag::new());
    let mut served = home.serve();
    let agent = Agent::connect(&home, &[]);
    on_pipes(&agent, &tag.hostile_tree());
    wait_until("the tree is there", || tag.holders().len() >= HOLDERS);
    let family = Family::of(served.id());
    send(family.keeper(), Signal::KILL);
    wait_until("the runtime has ended", || state(family.program).is_none());
    wait_until("nothing survives", || tag.holders().is_empty());
    served.wait().expect("gone");
    agent.leave();
}

#[test]
fn a_keeper_that_is_stopped_is_continued() {
    let home = Home::new();
    let mut console = Console::open(&home, &[], SIZE);
    console.shows("no agent yet");
    let keeper = console.family().keeper();
    send(keeper, Signal::STOP);
    wait_until("it goes on", || state(keeper) == Some('S'));
    console.keys(b"q");
    assert_eq!(console.exit(), 0);
    console.is_as_it_was();
}

#[test]
fn a_program_that_is_stopped_from_outside_stops_and_goes_on_as_one() {
    let home = Home::new();
    let mut console = Console::open(&home, &[], SIZE);
    console.shows("no agent yet");
    let Family { guards, program } = console.family();
    send(program, Signal::STOP);
    wait_until("whom the shell waits for stands still", || state(guards[0]) == Some('T'));
    // It may just be at work, but it does not stand still.
    wait_until("the keeper keeps", || state(guards[1]) == Some('S'));
    send(guards[0], Signal::CONT);
    wait_until("all go on", || state(guards[0]) == Some('S') && state(program) == Some('S'));
    console.keys(b"?");
    console.shows("HELP");
    send(program, Signal::TERM);
    assert_eq!(console.exit(), 143);
    console.is_as_it_was();
}

#[test]
fn a_background_process_of_the_program_itself_is_left_alone() {
    let (home, tag) = (Home::new(), Tag::new());
    let tools = home.workspace().join("tools");
    std::fs::create_dir(&tools).expect("a folder");
    let script = format!("#!/bin/sh\nexec > /dev/null 2>&1 < /dev/null\nsleep {} &\n", tag.0);
    let hook = tools.join("hook");
    std::fs::write(&hook, script).expect("written");
    std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o700)).expect("executable");
    home.configure("config.toml", &format!("[console]\nnotify = [{:?}]\n", hook.display().to_string()));
    let mut console = Console::open(&home, &[], SIZE);
    console.shows("no agent yet");
    let agent = Agent::connect(&home, &[]);
    console.keys(b"\x1b[O");
    // A task that waits while the person is away triggers the hook; the keeper adopts its orphaned sleep.
    agent.task("printf 'Name? '; read -r name");
    tag.asleep();
    let keeper = console.family().keeper();
    wait_until("the keeper has adopted it", || parent(tag.holders()[0]) == keeper);
    // When a host is killed, the keeper's adopted processes are checked.
    let doomed = on_pipes(&agent, "exec sleep 600");
    send(*hosts(console.family().program).last().expect("a host"), Signal::KILL);
    agent.call("TaskOutput", &json!({"task_id": doomed}));
    assert_eq!(tag.holders().len(), 1, "it lives");
    agent.leave();
    console.stop_all_and_quit();
    assert_eq!(tag.holders().len(), 1, "it lives on");
    tag.holders().into_iter().for_each(|pid| send(pid, Signal::KILL));
    wait_until("it is gone", || tag.holders().is_empty());
}

/// The number of rounds of a long test: `usual`, or PILOTHOUSE_ROUNDS.
pub(crate) fn rounds(usual: usize) -> usize {
    std::env::var("PILOTHOUSE_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

#[test]
#[ignore = "minutes; .ci/long runs it"]
fn long_f01_killed_runtimes_leave_nothing_and_lose_nothing() {
    let rounds = rounds(500);
    let mut acknowledged = 0;
    for round in 0..rounds {
        let (home, tag) = (Home::new(), Tag::new());
        let mut served = home.serve();
        let agent = Agent::connect(&home, &[]);
        let tasks = [agent.task(&tag.hostile_tree()), on_pipes(&agent, &tag.hostile_tree())];
        send(Family::of(served.id()).program, Signal::KILL);
        served.wait().expect("gone");
        assert_eq!(tag.holders(), Vec::<u32>::new(), "round {round}: the keeper leaves when nothing is left");
        let mut served = home.serve();
        for task in &tasks {
            let status = home.run(&["task", "status", task, "--output", "json"]);
            let said = String::from_utf8_lossy(&status.stdout).into_owned();
            // The one on pipes may write its line only after the runtime was killed, and then really ends that way.
            let is_told = ["interrupted", "\"signal\":\"SIGPIPE\""].iter().any(|end| said.contains(end));
            assert!(is_told, "round {round}: {task} is not on record: {said}");
            acknowledged += 1;
        }
        agent.leave();
        home.stop(&mut served);
    }
    eprintln!("{rounds} runtimes killed: 0 survivors, {acknowledged} acknowledged tasks, 0 lost");
}

#[test]
#[ignore = "minutes; .ci/long runs it"]
fn long_f01_killed_consoles_leave_nothing() {
    let rounds = rounds(200);
    for round in 0..rounds {
        let (home, tag) = (Home::new(), Tag::new());
        let mut console = Console::open(&home, &[], SIZE);
        console.shows("no agent yet");
        let agent = Agent::connect(&home, &[]);
        agent.task(&tag.hostile_tree());
        on_pipes(&agent, &tag.hostile_tree());
        wait_until("the trees are there", || tag.holders().len() >= 2 * HOLDERS);
        let Family { guards, program } = console.family();
        // Kill the launcher, the keeper and the program in turn.
        let victim = guards.get(round % 3).copied().unwrap_or(program);
        send(victim, Signal::KILL);
        console.exit();
        wait_until(&format!("round {round}: nothing is left"), || {
            tag.holders().is_empty()
                && state(program).is_none()
                && guards.iter().all(|pid| state(*pid).is_none())
        });
        agent.leave();
    }
    eprintln!("{rounds} consoles killed by one of launcher, keeper and program: 0 survivors");
}

#[test]
#[ignore = "minutes; .ci/long runs it"]
fn long_f02_killed_hosts_leave_nothing() {
    let rounds = rounds(200);
    let (home, tag) = (Home::new(), Tag::new());
    let mut served = home.serve();
    let runtime = Family::of(served.id()).program;
    let agent = Agent::connect(&home, &[]);
    for round in 0..rounds {
        let task = on_pipes(&agent, &tag.hostile_tree());
        wait_until("the tree is there", || tag.holders().len() >= HOLDERS);
        hosts(runtime).into_iter().for_each(|host| send(host, Signal::KILL));
        agent.call("TaskOutput", &json!({"task_id": task}));
        assert_eq!(tag.holders(), Vec::<u32>::new(), "round {round}");
    }
    eprintln!("{rounds} task hosts killed: 0 survivors when their task had ended");
    agent.leave();
    home.stop(&mut served);
}

#[test]
#[ignore = "minutes; .ci/long runs it"]
fn long_f05_escapes_outlive_nothing() {
    let rounds = rounds(200);
    for (way, line) in ESCAPES.iter().cycle().take(rounds) {
        escape(way, line);
    }
    eprintln!("{rounds} escapes by {} methods: 0 survivors", ESCAPES.len());
}
