//! What a person writes to an agent that reads nothing but what its own commands write: it is read on their standard
//! error, or visibly not at all. And from when to when such an agent is listed.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::json;

use crate::mcp_notices::call;
use crate::shell_door::Door;
use crate::support::{Console, Home, Tag, Wire, program_word, wait_until, wait_until_or, write_program};

const SIZE: (u16, u16) = (120, 30);

fn begun(door: &Door, script: &str) -> Child {
    let mut call = door.of_claude("one", script);
    call.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts")
}

fn stderr_of(mut child: Child, console: &Console) -> String {
    let what = || format!("the command ends; the screen shows:\n{}\n", console.text());
    wait_until_or(what, || child.try_wait().expect("waited").is_some());
    String::from_utf8_lossy(&child.wait_with_output().expect("ends").stderr).into_owned()
}

#[test]
fn a_command_that_a_person_stops_ends_with_a_line_that_says_so_and_why() {
    let door = Door::new();
    let console = Console::open(&door.home, &[], SIZE);
    console.shows("no agent yet");
    let tag = Tag::new();
    let child = begun(&door, &format!("sleep {}", tag.0));
    tag.asleep();
    console.shows("t01");
    console.keys(b"s");
    console.shows("stop t01");
    console.keys(b"!");
    console.shows("It is the last line of the command's standard error");
    console.keys(b"use make check\r");
    assert_eq!(stderr_of(child, &console), "pilothouse: the operator stopped this: use make check\n");

    let tag = Tag::new();
    let child = begun(&door, &format!("sleep {}", tag.0));
    tag.asleep();
    console.shows("t02");
    console.keys(b"k");
    console.shows("▸ t02");
    // A key acts on a task only once the console knows that the terminal shows it selected.
    console.asks_until(b"s", "stop t02");
    console.keys(b"S");
    assert_eq!(stderr_of(child, &console), "pilothouse: the operator stopped this\n");
}

#[test]
fn words_wait_visibly_for_a_command_that_fails() {
    let door = Door::new();
    let console = Console::open(&door.home, &[], SIZE);
    console.shows("no agent yet");
    assert_eq!(stderr_of(begun(&door, "true"), &console), "");
    console.shows("t01");
    console.keys(b"!");
    console.shows("Its next command that fails, is stopped or denied says it.");
    console.keys(b"use uv\r");
    console.shows("kept for");
    console.shows("1 unread");
    // What succeeds is to the byte what it would be without us.
    assert_eq!(stderr_of(begun(&door, "echo it-succeeds >&2"), &console), "it-succeeds\n");
    assert!(console.text().contains("1 unread"), "{}", console.text());
    assert_eq!(
        stderr_of(begun(&door, "echo it-fails >&2; exit 3"), &console),
        "it-fails\npilothouse: the operator says: use uv\n"
    );
    console.wait_for("it is read", |screen| !screen.contents().contains("unread"));
    assert_eq!(stderr_of(begun(&door, "exit 3"), &console), "");
}

/// An agent in a process of its own, which runs one command and stays until its input ends.
fn agent(door: &Door) -> Child {
    let mut agent = Command::new("/bin/sh");
    door.home.settle(&mut agent);
    let script = r#"export CLAUDE_PID=$$; "$1" -c true </dev/null; read line"#;
    agent.args(["-c", script, "agent"]).arg(&door.shell);
    agent.envs([("CLAUDECODE", "1"), ("CLAUDE_CODE_CHILD_SESSION", "1"), ("SHELL", "/bin/bash")]);
    agent.env("PILOTHOUSE_SHELL_DOOR", door.home.workspace()).env_remove("PILOTHOUSE_TASK_KIND");
    agent.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("starts")
}

#[test]
fn words_that_nobody_read_are_said_when_the_agent_leaves() {
    let door = Door::new();
    let console = Console::open(&door.home, &[], SIZE);
    console.shows("no agent yet");
    let mut agent = agent(&door);
    console.shows("t01");
    console.keys(b"!");
    console.shows("Its next command that fails, is stopped or denied says it.");
    console.keys(b"use uv\r");
    console.shows("1 unread");
    drop(agent.stdin.take());
    console.shows("has not read what it was told: \"use uv\"");
    agent.wait().expect("ends");
}

#[test]
fn words_go_to_whichever_of_an_agents_connections_answers_first_and_once() {
    let door = Door::new();
    let console = Console::open(&door.home, &[], SIZE);
    console.shows("no agent yet");
    // Both have this process above them: it is the agent.
    let mut tools = Wire::open(&door.home, "claude-code");
    console.shows("claude-code");
    assert_eq!(stderr_of(begun(&door, "true"), &console), "");
    console.shows("t01");
    assert!(!console.text().contains("claude-code#2"), "{}", console.text());
    let tell = |words: &str| {
        console.keys(b"!");
        console.shows("With its next answer, or a command that fails: once.");
        console.keys(format!("{words}\r").as_bytes());
        console.shows("1 unread");
    };
    tell("use uv");
    let (_, notices) = call(&mut tools, "TaskList", json!({}));
    assert!(notices.iter().any(|notice| notice == "the operator says: \"use uv\""), "{notices:?}");
    console.wait_for("it is read", |screen| !screen.contents().contains("unread"));
    assert_eq!(stderr_of(begun(&door, "exit 3"), &console), "", "once");
    tell("use pip");
    assert_eq!(stderr_of(begun(&door, "exit 3"), &console), "pilothouse: the operator says: use pip\n");
    console.wait_for("it is read", |screen| !screen.contents().contains("unread"));
    let (_, notices) = call(&mut tools, "TaskList", json!({}));
    assert!(!notices.iter().any(|notice| notice.contains("use pip")), "{notices:?}");
}

/// Launches a program called `claude` that does nothing until its input ends.
fn launched(home: &Home, bin: &Path) -> Child {
    let mut launch = home.command(&["claude", "--anything"]);
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").expect("a path"));
    launch.env("PATH", path).env("SHELL", "/bin/bash").stdin(Stdio::piped()).stdout(Stdio::null());
    launch.spawn().expect("starts")
}

fn bin(home: &Home) -> std::path::PathBuf {
    let bin = home.workspace().join("../bin");
    std::fs::create_dir(&bin).expect("a folder");
    write_program(&bin.join("claude"), "#!/bin/sh\nread line\n");
    bin
}

#[test]
fn an_agent_is_listed_from_its_launch_until_its_process_ends_and_two_are_two() {
    let home = Home::new();
    let bin = bin(&home);
    let console = Console::open(&home, &[], SIZE);
    console.shows("no agent yet");
    let mut first = launched(&home, &bin);
    console.shows("claude-code no command seen");
    let mut second = launched(&home, &bin);
    console.shows("claude-code#2 no command seen");
    drop(first.stdin.take());
    console.shows("agent claude-code has disconnected");
    assert!(console.text().contains("claude-code#2 no command seen"), "{}", console.text());
    first.wait().expect("ends");
    drop(second.stdin.take());
    console.shows("agent claude-code#2 has disconnected");
    second.wait().expect("ends");
    // `timeout` stands for an agent: it starts its shell as its child. This shell cannot lead here.
    let mut mini =
        home.command(&["with", "--name", "mini", "--", "timeout", "100", "/bin/sh", "-c", "read x"]);
    let mut mini = mini.stdin(Stdio::piped()).spawn().expect("starts");
    console.shows("not routed: /bin/sh");
    assert!(!console.text().contains("no command seen"), "{}", console.text());
    drop(mini.stdin.take());
    mini.wait().expect("ends");
    // Of one that ends with its command, the launch and the shell are told of in either order.
    for name in ["one", "two", "three"] {
        let mut agent =
            home.command(&["with", "--name", name, "--", "timeout", "100", "bash", "-c", "echo hi"]);
        assert!(agent.status().expect("runs").success());
        console.wait_for("it has ended", |screen| {
            screen.contents().lines().any(|row| row.contains(name) && row.contains("ended"))
        });
    }
}

#[test]
fn an_agent_that_the_person_starts_as_a_task_is_listed_and_a_key_leads_to_the_task() {
    let home = Home::new();
    let bin = bin(&home);
    let console = Console::open(&home, &[], SIZE);
    console.shows("no agent yet");
    console.keys(b"o");
    console.shows("run here");
    let line = format!("PATH={}:$PATH SHELL=/bin/bash {} claude\r", bin.display(), program_word());
    console.keys(line.as_bytes());
    console.shows("claude-code no command seen");
    console.keys(b"\x1d");
    console.shows(" OBSERVE ");
    console.keys(b"1g");
    console.shows("' to agent");
    console.keys(b"'");
    console.wait_for("its task is shown", |screen| !screen.contents().contains("[1] tasks"));
    console.shows("turn: you");
}

#[test]
fn a_launch_starts_a_runtime_that_lists_the_agent_and_nothing_of_ours_stays_in_it() {
    let door = Door::new();
    let mut launched = launched(&door.home, &bin(&door.home));
    let is_there = |record: &str, connected: bool| {
        let rows = record.lines().filter(|row| row.contains("\"launch\"") && row.contains("claude-code"));
        rows.into_iter().any(|row| row.contains(&format!("\"connected\":{connected}")))
    };
    wait_until("it is listed", || is_there(&door.record(), true));
    wait_until("it has become the agent", || crate::support::name(launched.id()) == "claude\n");
    let open = std::fs::read_dir(format!("/proc/{}/fd", launched.id())).expect("descriptors");
    let open: Vec<_> = open.flatten().filter_map(|fd| std::fs::read_link(fd.path()).ok()).collect();
    assert!(!open.iter().any(|path| path.to_string_lossy().starts_with("socket:")), "{open:?}");
    drop(launched.stdin.take());
    launched.wait().expect("ends");
    wait_until("its end is noted", || is_there(&door.record(), false));
}
