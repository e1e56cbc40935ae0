//! What a person writes to an agent that reads nothing but what its own commands write: it is read on their standard
//! error, or visibly not at all.

use std::process::{Child, Stdio};

use crate::shell_door::Door;
use crate::support::{Console, Tag, wait_until_or};

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
    console.shows("It ends the command's standard error");
    console.keys(b"use make check\r");
    assert_eq!(stderr_of(child, &console), "pilothouse: the operator stopped this: use make check\n");

    let tag = Tag::new();
    let child = begun(&door, &format!("sleep {}", tag.0));
    tag.asleep();
    console.shows("t02");
    console.keys(b"k");
    console.keys(b"s");
    console.shows("stop t02");
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
