//! The guide's Python pattern, word for word, with the real program: ten operations through a pipe, ten thousand
//! through a file.

use std::process::Command;

use crate::support::{Home, program, skip};

fn drive(count: &str) {
    let home = Home::new();
    let mut python = Command::new("python3");
    home.settle(&mut python);
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/python/exec_batch.py");
    let driven = match python.arg(script).arg(program()).arg(count).output() {
        Ok(driven) => driven,
        Err(error) => return skip(&format!("no python3 ({error})")),
    };
    let said = String::from_utf8_lossy(&driven.stdout);
    let errors = String::from_utf8_lossy(&driven.stderr);
    assert!(driven.status.success() && said == format!("ok {count}\n"), "{said}{errors}");
}

#[test]
fn ten_operations_go_through_a_pipe() {
    drive("10");
}

#[test]
fn ten_thousand_operations_go_through_a_file() {
    drive("10000");
}
