//! `host install` and `doctor --host`: the program is copied to another machine and checked there, and whatever is
//! missing is reported with its fix.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::{Home, program};

/// A home, and the host `box`: a user with an empty home of its own.
struct Empty {
    here: Home,
    there: PathBuf,
}

impl Empty {
    fn new(before: &[&str]) -> Self {
        let here = Home::new();
        let there = here.workspace().join("../there");
        fs::create_dir(&there).expect("a folder");
        let there = there.canonicalize().expect("a path");
        let empty = Self { here, there };
        empty.by(before);
        empty
    }

    /// Sets the command that leads there: `before`, then `env`.
    fn by(&self, before: &[&str]) {
        let home = format!("HOME={}", self.there.display());
        let path = "PATH=/usr/bin:/bin";
        let via: Vec<&str> =
            before.iter().copied().chain(["env", "-u", "XDG_DATA_HOME", &home, path]).collect();
        self.here.configure("config.toml", &format!("[hosts.box]\nvia = {}\n", json!(via)));
    }

    fn run(&self, args: &[&str]) -> Value {
        let output = self.here.run(&[args, &["--output", "json"]].concat());
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
    }

    fn installed(&self) -> PathBuf {
        self.there.join(format!(".local/share/pilothouse/{}/pilothouse", env!("CARGO_PKG_VERSION")))
    }

    fn finding(&self, check: &str) -> Value {
        let told = self.run(&["doctor", "--host", "box"]);
        let all = told["data"]["findings"].as_array().unwrap_or_else(|| panic!("{told}"));
        all.iter()
            .find(|finding| finding["check"] == check)
            .unwrap_or_else(|| panic!("{check}: {told}"))
            .clone()
    }
}

#[test]
fn the_program_is_put_on_a_machine_that_has_none() {
    let empty = Empty::new(&[]);
    assert_eq!(empty.finding("login")["state"], "ok");
    let missing = empty.finding("pilothouse");
    assert_eq!(
        (&missing["state"], &missing["fix"]),
        (&json!("problem"), &json!("pilothouse host install box"))
    );
    let listed = empty.run(&["relay", "list", "--host", "box"]);
    let said = listed["error"]["message"].as_str().expect("a message");
    assert!(said.contains("`pilothouse host install box`"), "{said}");

    let file = program().display().to_string();
    let unasked = empty.run(&["host", "install", "box", "--from", &file]);
    assert_eq!(unasked["error"]["fix_required"], "add --yes", "{unasked}");
    assert!(!empty.installed().exists());
    let told = empty.run(&["host", "install", "box", "--from", &file, "--yes"]);
    assert_eq!(told["data"]["effect"], "installed", "{told}");
    assert_eq!(told["data"]["answers"], env!("CARGO_PKG_VERSION"), "{told}");
    assert_eq!(told["data"]["path"], empty.installed().display().to_string(), "{told}");
    assert_eq!(empty.installed().metadata().expect("there").permissions().mode() & 0o777, 0o755);
    let installed = fs::read_dir(empty.installed().parent().expect("a folder")).expect("read").flatten();
    let mut installed: Vec<_> = installed.map(|file| file.file_name()).collect();
    installed.sort();
    assert_eq!(installed, ["pilothouse", "pilothouse-shell"]);
    let sent = program().with_file_name("pilothouse-shell");
    let arrived = fs::read(empty.installed().with_file_name("pilothouse-shell")).expect("there");
    assert!(arrived == fs::read(sent).expect("the program"), "the shell's arrived as it was sent");

    assert_eq!(empty.run(&["relay", "list", "--host", "box"])["ok"], true);
    assert_eq!(empty.finding("pilothouse")["state"], "ok");
    let again = empty.run(&["host", "install", "box", "--from", &file]);
    assert_eq!(again["data"]["effect"], "noop", "nobody need be asked: {again}");
}

#[test]
fn a_program_for_another_machine_or_one_that_needs_libraries_is_refused_with_the_command_that_makes_it() {
    let empty = Empty::new(&[]);
    let mut foreign = fs::read(program()).expect("the program");
    foreign.truncate(4_096);
    foreign[18] = if foreign[18] == 183 { 62 } else { 183 };
    let path = empty.here.workspace().join("foreign");
    for (bytes, said) in [(&foreign[..], "is not built for"), (b"#!/bin/sh\n", "not a Linux program")] {
        fs::write(&path, bytes).expect("written");
        let told = empty.run(&["host", "install", "box", "--yes", "--from", &path.display().to_string()]);
        assert!(told["error"]["message"].as_str().expect("a message").contains(said), "{told}");
    }
    let own = empty.run(&["host", "install", "box", "--yes"]);
    if own["ok"] != true {
        let fix = own["error"]["fix_required"].as_str().expect("a cure");
        assert!(fix.contains(".ci/release") && fix.contains("-unknown-linux-musl"), "{own}");
        assert!(!empty.installed().exists());
    }
}

#[test]
fn what_does_not_arrive_whole_is_not_installed() {
    let empty = Empty::new(&["sh", "-c", "head -c 1000 | \"$@\"", "torn"]);
    let told = empty.run(&["host", "install", "box", "--yes", "--from", &program().display().to_string()]);
    let said = told["error"]["message"].as_str().expect("a message");
    assert!(said.contains("what has arrived is not what was sent"), "{said}");
    let folder = empty.installed().parent().expect("a folder").to_owned();
    assert_eq!(fs::read_dir(folder).expect("read").count(), 0, "nothing is left behind");
}

#[test]
fn a_program_that_cannot_be_put_there_is_said_with_what_was_in_the_way() {
    let mut empty = Empty::new(&[]);
    empty.there = PathBuf::from("/proc");
    empty.by(&[]);
    let told = empty.run(&["host", "install", "box", "--yes", "--from", &program().display().to_string()]);
    let said = told["error"]["message"].as_str().expect("a message");
    assert!(said.contains("could not be installed") && said.contains("mkdir"), "{said}");
    assert!(!said.contains("log in") && !said.contains("connection"), "{said}");
}

#[test]
fn a_carrier_that_does_not_carry_what_is_sent_is_a_problem() {
    let empty = Empty::new(&[]);
    assert_eq!(empty.finding("input")["state"], "ok");
    // As with `docker exec` without `-i`.
    empty.by(&["sh", "-c", "exec \"$@\" < /dev/null", "deaf"]);
    let input = empty.finding("input");
    assert_eq!(input["state"], "problem", "{input}");
    assert!(input["fix"].as_str().expect("a cure").contains("`-i`"), "{input}");
}

#[test]
fn a_machine_that_cannot_be_reached_is_told_with_what_to_mend() {
    let empty = Empty::new(&["sh", "-c", "echo 'no route to box' >&2; exit 255", "x"]);
    let login = empty.finding("login");
    assert_eq!((&login["state"], &login["found"]), (&json!("problem"), &json!("no route to box")));
    assert!(login["fix"].as_str().expect("a cure").contains("[hosts.box]"), "{login}");
    let refused = empty.run(&["doctor", "--host", "-oProxyCommand=true"]);
    assert_eq!(refused["error"]["code"], "ARG_ERROR", "{refused}");
}

#[test]
fn f59_a_program_that_cannot_be_executed_there_is_neither_installed_nor_missing() {
    let empty = Empty::new(&[]);
    // As on a file system mounted noexec: the file is there, and its mode does not make it a program.
    let tools = empty.there.join("tools");
    fs::create_dir(&tools).expect("a folder");
    fs::write(tools.join("chmod"), "#!/bin/sh\n").expect("written");
    fs::set_permissions(tools.join("chmod"), fs::Permissions::from_mode(0o755)).expect("set");
    let home = format!("HOME={}", empty.there.display());
    let path = format!("PATH={}:/usr/bin:/bin", tools.display());
    let via = json!(["env", "-u", "XDG_DATA_HOME", home, path]);
    empty.here.configure("config.toml", &format!("[hosts.box]\nvia = {via}\n"));

    let file = program().display().to_string();
    for _ in 0..2 {
        let told = empty.run(&["host", "install", "box", "--from", &file, "--yes"]);
        assert_eq!(told["ok"], false, "{told}");
        let said = told["error"]["message"].as_str().expect("a message");
        assert!(said.contains("cannot be executed") && said.contains("noexec"), "{said}");
        assert!(told["error"]["fix_required"].to_string().contains("`program` in [hosts.box]"), "{told}");
    }
    assert!(empty.installed().exists());
    let listed = empty.run(&["relay", "list", "--host", "box"]);
    let said = listed["error"]["message"].as_str().expect("a message");
    assert!(said.contains("cannot be executed there") && said.contains("`program` in [hosts.box]"), "{said}");
    assert!(!said.contains("not installed"), "{said}");
    let finding = empty.finding("pilothouse");
    assert!(finding["state"] == "problem" && finding.to_string().contains("noexec"), "{finding}");
}

#[test]
fn f59_an_empty_answer_is_no_answer() {
    let empty = Empty::new(&[]);
    for (script, told) in [("exit 0", "answers nothing"), ("echo hello; exit 0", "answers nothing: hello")] {
        let via = json!(["sh", "-c", script]);
        empty.here.configure("config.toml", &format!("[hosts.box]\nvia = {via}\n"));
        let login = empty.finding("login");
        assert!(login["state"] == "problem" && login.to_string().contains(told), "{login}");
    }
    let via = json!(["sh", "-c", "exit 0"]);
    empty.here.configure("config.toml", &format!("[hosts.box]\nvia = {via}\n"));
    let file = program().display().to_string();
    for args in
        [&["relay", "list", "--host", "box"][..], &["host", "install", "box", "--yes", "--from", &file]]
    {
        let told = empty.run(args);
        assert!(told["error"]["message"].to_string().contains("answers nothing"), "{args:?}: {told}");
    }
}
