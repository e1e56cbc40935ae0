//! A console over hosts that lie: its memory stays bounded, and it goes on with everything else.

use std::path::Path;

use pilothouse::link::VERSION;
use pilothouse::model::{AgentView, Snapshot};
use pilothouse::terminal::{Cursor, Modes};
use serde_json::{Value, json};

use crate::console_fixture::{calls, task};
use crate::console_held::{call, ruled};
use crate::hosts_pipe::has_python;
use crate::support::{Agent, Console, Home, skip};

/// The kinds of lies that `liar.py` knows.
const LIES: usize = 43;
/// Those that are told in a short time: each host tells two of its own.
const FEW: usize = 2 * HOSTS;
/// The hosts among which they are divided.
const HOSTS: usize = 8;
/// The most memory that the console may ever take, in KiB.
const MOST_KIB: u64 = 300 << 10;

/// Returns one of each thing that a runtime publishes, as JSON.
fn pieces() -> Value {
    let agent = AgentView {
        label: String::new(),
        client: String::new(),
        pid: 1,
        connected: true,
        ..AgentView::default()
    };
    json!({
        "link": VERSION,
        "rest": Snapshot { workspace: "/srv/liar".into(), ..Snapshot::default() },
        "task": task(1, "sleep 60", 60, 60),
        "held": call(1, &["git push"], ruled()),
        "agent": agent,
        "call": calls()[0],
        "screen": {"cursor": Cursor::default(), "modes": Modes::default()},
    })
}

fn configure(home: &Home, folder: &Path, lies: usize) -> Vec<String> {
    let liar = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/liar.py");
    let host = |at: usize| {
        let via = json!(["python3", liar, folder, at.to_string(), HOSTS.to_string(), lies.to_string()]);
        format!("[hosts.h{at}]\nvia = {via}\nprogram = \"pilothouse\"\n")
    };
    home.configure("config.toml", &(0..HOSTS).map(host).collect::<String>());
    (0..HOSTS).map(|at| format!("h{at}")).collect()
}

fn peak(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("it runs");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a peak");
    peak.trim().trim_end_matches(" kB").parse().expect("KiB")
}

#[test]
fn f57_lies_of_a_host_hurt_no_other_place() {
    tell(FEW);
}

#[test]
#[ignore = "half a minute; .ci/long runs it"]
fn long_f57_43_kinds_of_lies_of_a_host_hurt_no_other_place() {
    tell(LIES);
}

fn tell(lies: usize) {
    if !has_python() {
        return skip("there is no python3");
    }
    let (home, folder) = (Home::new(), tempfile::tempdir().expect("a folder"));
    std::fs::write(folder.path().join("pieces.json"), pieces().to_string()).expect("written");
    let hosts = configure(&home, folder.path(), lies);
    let agent = Agent::connect_first(&home, &[]);
    agent.task("while read -r line; do echo \"here <$line>\"; done");
    let args: Vec<&str> = std::iter::once("fleet").chain(hosts.iter().map(String::as_str)).collect();
    let mut console = Console::open(&home, &args, (120, 40));
    console.shows(" workspace  1 task");
    crate::e2e_fleet::go_to(&console, "workspace/t01");
    console.keys(b"\r");
    console.shows(" INPUT workspace/t01");
    let has_finished = |host| folder.path().join(format!("finished-{host}")).exists();
    // While they lie, each key reaches the task here, and its answer the screen.
    let typed = (1_u32..).find(|typed| {
        console.keys(format!("{typed}\r").as_bytes());
        console.shows(&format!("here <{typed}>"));
        (0..HOSTS).all(has_finished)
    });
    let typed = typed.expect("an end");
    let kib = peak(console.program());
    eprintln!(
        "{lies} kinds of lies of {HOSTS} hosts, {typed} lines typed meanwhile: the console took {kib} KiB at most"
    );
    assert!(kib <= MOST_KIB, "{kib} KiB");
    console.keys(b"\x1d");
    console.shows(" OBSERVE ");
    console.keys(b"q");
    console.shows("QUIT?");
    console.keys(b"d");
    assert_eq!(console.exit(), 0);
    agent.leave();
}
