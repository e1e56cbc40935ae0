//! The runtime's sockets: closed to other users, one runtime behind them, and robust against bad clients.

use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Stdio};

use rustix::process::Signal;

use pilothouse::link::VERSION;

use crate::support::{Family, Home, send, wait_until};

fn mode(path: &Path) -> u32 {
    path.symlink_metadata().expect("exists").permissions().mode() & 0o7777
}

#[test]
fn folders_are_0700_and_files_0600() {
    let home = Home::new();
    home.serve_here();
    let places = home.places();
    home.call(&["command", "run", "echo something"]);
    for socket in [places.agent_socket(), places.operator_socket()] {
        assert_eq!(mode(&socket), 0o600, "{}", socket.display());
    }
    assert_eq!(mode(&places.runtime_dir), 0o700);
    let mut open = vec![places.state_dir];
    while let Some(path) = open.pop() {
        let is_dir = path.is_dir();
        // What git has written, it does not change any more.
        let is_final = path.components().any(|part| part.as_os_str() == "objects") && mode(&path) == 0o400;
        assert!(is_final || mode(&path) == if is_dir { 0o700 } else { 0o600 }, "{}", path.display());
        if is_dir {
            open.extend(path.read_dir().expect("lists").flatten().map(|entry| entry.path()));
        }
    }
}

#[test]
fn f33_of_twenty_runtimes_started_at_once_one_wins() {
    let home = Home::new();
    let start = || home.command(&["serve"]).stderr(Stdio::null()).spawn().expect("starts");
    let mut started: Vec<Child> = (0..20).map(|_| start()).collect();
    let mut codes = Vec::new();
    while started.len() > 1 {
        let before = started.len();
        wait_until("another one gives up", || {
            started.retain_mut(|child| match child.try_wait().expect("asked") {
                Some(status) => {
                    codes.push(status.code());
                    false
                }
                None => true,
            });
            started.len() < before
        });
    }
    assert_eq!(codes, vec![Some(6); 19]);
    let said = home.run(&["command", "run", "echo it serves"]);
    assert!(String::from_utf8_lossy(&said.stdout).contains("it serves"));
    assert_eq!(home.runtime_pid().unsigned_abs(), Family::of(started[0].id()).program);
    assert!(home.run(&["serve", "--stop"]).status.success());
    assert!(started[0].wait().expect("ends").success());
}

#[test]
fn f33_a_dead_runtimes_socket_is_replaced() {
    let home = Home::new();
    let mut first = home.serve();
    send(Family::of(first.id()).program, Signal::KILL);
    first.wait().expect("reaped");
    assert!(home.places().agent_socket().exists(), "it could not tidy up");
    let mut second = home.serve();
    home.stop(&mut second);
}

#[test]
fn garbage_on_the_sockets_does_not_harm_the_runtime() {
    let home = Home::new();
    let mut served = home.serve();
    let places = home.places();
    let hello = format!(
        "{{\"v\":{VERSION},\"role\":\"mcp\",\"pid\":1,\"ppid\":1,\"cwd\":{:?},\"profile\":\"receipt\",\"label\":null}}\n",
        home.workspace()
    );
    let nested = format!("{}{}\n", "[".repeat(100_000), "]".repeat(100_000));
    let long = format!("{}\n", "x".repeat(10 << 20));
    let garbage: [&[u8]; 6] = [
        b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"\x00\xff\xfe\x80{\"v\":\n\n\n",
        b"{\"v\":99,\"role\":\"god\"}\n",
        b"{}\n[]\nnull\n\"\\ud800\"\n",
        nested.as_bytes(),
        long.as_bytes(),
    ];
    for socket in [places.agent_socket(), places.operator_socket()] {
        for opening in ["", hello.as_str()] {
            for bytes in garbage {
                knock(&socket, opening.as_bytes(), bytes);
            }
        }
    }
    assert!(served.try_wait().expect("asked").is_none(), "the runtime lives");
    let said = home.run(&["command", "run", "echo it serves"]);
    assert!(String::from_utf8_lossy(&said.stdout).contains("it serves"));
    let status =
        std::fs::read_to_string(format!("/proc/{}/status", Family::of(served.id()).program)).expect("status");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a peak");
    let peak: u64 = peak.trim().trim_end_matches(" kB").parse().expect("a number");
    assert!(peak < 200 << 10, "the peak of its memory is {peak} KiB");
    home.stop(&mut served);
}

/// Sends bytes, closes its side, and reads until the other end hangs up.
fn knock(socket: &Path, opening: &[u8], bytes: &[u8]) {
    let mut stream = UnixStream::connect(socket).expect("connects");
    // The other end may hang up in the middle.
    let _ = stream.write_all(opening).and_then(|()| stream.write_all(bytes));
    let _ = stream.shutdown(std::net::Shutdown::Write);
    let _ = stream.read_to_end(&mut Vec::new());
}
