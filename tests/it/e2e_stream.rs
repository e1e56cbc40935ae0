//! A person watches a stream of commands, line by line, and afterwards reads the results.

use std::fs::OpenOptions;
use std::io::Write;
use std::process::Stdio;

use serde_json::json;

use crate::support::{Console, Home, exec_command, exec_ran};

#[test]
fn the_operator_sees_each_line_and_the_one_in_flight() {
    let home = Home::new();
    let console = Console::open(&home, &[], (200, 60));
    console.shows("OBSERVE");
    console.keys(b"3");
    let (path, go) = (home.fifo("plan"), home.fifo("go"));
    let child = exec_command(&home, &["--input-file", "plan", "--ignore-errors"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts");
    let mut lines = OpenOptions::new().write(true).open(&path).expect("its writer");
    let mut say = |line: serde_json::Value| writeln!(lines, "{line}").expect("written");
    say(json!({"_cmd": "version"}));
    say(json!({"_cmd": "nope.nothing"}));
    say(json!({"_cmd": "command.run", "cmd": "read x < go; echo went"}));
    // The stream is the older of the two calls: the command on its third line came after it.
    console.shows("call 2  ExecCommand");
    console.keys(b"j");
    console.shows("plan  2 done, 1 failed");
    console.shows("UNKNOWN_COMMAND");
    console.shows("command.run  read x < go");
    drop(lines);
    std::fs::write(go, "on\n").expect("written");
    let ran = exec_ran(child.wait_with_output().expect("ends"));
    assert_eq!((ran.code, ran.codes()), (Some(1), vec!["ok", "UNKNOWN_COMMAND", "ok"]), "{}", ran.stderr);
    console.shows("The last 3 lines:");
    console.shows("plan: 3 done, 1 failed");
}
