//! Who holds the port that a command could not listen on. Pure.

use std::sync::LazyLock;

use jiff::Timestamp;
use regex::Regex;
use serde::{Deserialize, Serialize};

use pilothouse_envelope::{Actor, TaskId};

/// The most holders that are named.
const MOST_HOLDERS: usize = 8;

/// What programs print when an address is in use, in the words of C, node, Rust, Python and vite.
static IN_USE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"EADDRINUSE|AddrInUse|ddress already in use|Errno 98|[Pp]ort \d+ is (?:already )?in use").ok()
});
/// A port in such a line: `:::3000`, `127.0.0.1:8080`, `port: 5173`. The line of a source file is none.
static PORT: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?:(?i:port)[ :=]+|(?:^|[\s\[\]*:]|\d|localhost):)(\d{1,5})\b").ok());

/// Why a command failed to listen: an address was in use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TakenPort {
    /// The port that it named, if that was held by somebody; `None` if it named none.
    pub port: Option<u16>,
    /// Whether its command names that port, and not what it printed: it may be another's.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_command: bool,
    /// The tasks of this runtime that held it or, if it named none, that held any port.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub holders: Vec<PortHolder>,
}

/// A task that listens on a port.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PortHolder {
    pub port: u16,
    pub task: TaskId,
    /// Its number in this recording.
    pub number: u32,
    /// Its command in one line, secrets masked.
    pub cmd: String,
    /// Who started it.
    pub by: Actor,
    /// When it started.
    pub since: Timestamp,
}

/// Returns the ports named in `output` by a command that could not listen, the last first; `None` if nothing in it says
/// that an address was in use.
pub fn named_ports(output: &str) -> Option<Vec<u16>> {
    let (in_use, port) = (IN_USE.as_ref()?, PORT.as_ref()?);
    let mut is_taken = false;
    let mut ports = Vec::new();
    for line in output.lines().rev().filter(|line| in_use.is_match(line)) {
        is_taken = true;
        let found = port.captures_iter(line).filter_map(|found| found.get(1)?.as_str().parse().ok());
        ports.extend(found.filter(|port: &u16| *port > 0));
    }
    is_taken.then_some(ports)
}

/// Returns the numbers in a command that may be ports, for a program that names none when it cannot have it.
pub fn ports_in_command(cmd: &str) -> Vec<u16> {
    let words = cmd.split(|c: char| !c.is_ascii_alphanumeric() && c != '.');
    let ports = words.filter(|word| word.len() >= 2).filter_map(|word| word.parse().ok());
    ports.filter(|port: &u16| *port > 0).collect()
}

impl TakenPort {
    /// Says who holds what. `held` are the ports that somebody on this machine listens on, `tasks` those of them that
    /// tasks do. `None` if what was named is not held: nobody knows by whom it was.
    pub fn find(named: &[u16], held: &[u16], tasks: Vec<PortHolder>) -> Option<Self> {
        let port = named.iter().copied().find(|port| held.contains(port));
        if port.is_none() && !named.is_empty() {
            return None;
        }
        let is_meant = |holder: &PortHolder| port.is_none_or(|port| holder.port == port);
        let holders = tasks.into_iter().filter(is_meant).take(MOST_HOLDERS).collect();
        Some(Self { port, in_command: false, holders })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_read_where_a_program_names_one_and_nowhere_else() {
        let cases: [(&str, Option<&[u16]>); 9] = [
            (
                "Error: listen EADDRINUSE: address already in use :::3000\n    at Server.setupListenHandle [as _listen2] (node:net:1940:16)",
                Some(&[3000]),
            ),
            ("listen tcp :8080: bind: address already in use", Some(&[8080])),
            ("Error: Port 5173 is already in use", Some(&[5173])),
            (
                "  File \"server.py\", line 22, in serve\nOSError: [Errno 98] Address already in use",
                Some(&[]),
            ),
            ("java.net.BindException: Address already in use", Some(&[])),
            ("server.rs:22: Os { code: 98, kind: AddrInUse }", Some(&[])),
            ("bind to 127.0.0.1:5432: Address already in use", Some(&[5432])),
            ("port 3000: connection refused", None),
            ("address already in use: port 99999", Some(&[])),
        ];
        for (output, expected) in cases {
            assert_eq!(named_ports(output).as_deref(), expected, "{output}");
        }
    }

    #[test]
    fn a_number_in_a_command_may_be_its_port() {
        for (cmd, ports) in [
            ("python3 -m http.server 8124", &[8124][..]),
            ("PORT=3000 npm start", &[3000]),
            ("serve -l tcp://0.0.0.0:80", &[80]),
            ("node server.js --retry 5 v1.20", &[]),
        ] {
            assert_eq!(ports_in_command(cmd), ports, "{cmd}");
        }
    }

    #[test]
    fn a_port_that_nobody_holds_is_no_hint_and_without_a_port_all_are_listed() {
        let holder = |port| PortHolder {
            port,
            task: TaskId::from_random([b'a'; 8]),
            number: 3,
            cmd: "npm run dev".into(),
            by: Actor::Agent("claude".into()),
            since: Timestamp::UNIX_EPOCH,
        };
        let tasks = || vec![holder(80), holder(5173)];
        let ports = |taken: Option<TakenPort>| {
            taken
                .map(|taken| (taken.port, taken.holders.iter().map(|holder| holder.port).collect::<Vec<_>>()))
        };
        let held = [22, 80, 5173];
        assert_eq!(ports(TakenPort::find(&[5173], &held, tasks())), Some((Some(5173), vec![5173])));
        assert_eq!(ports(TakenPort::find(&[22], &held, tasks())), Some((Some(22), vec![])));
        assert_eq!(ports(TakenPort::find(&[9], &held, tasks())), None);
        let said = |in_command| {
            let taken = TakenPort { in_command, ..TakenPort::find(&[22], &held, tasks()).expect("held") };
            format!("{}; {}", taken.sentence(|_| String::new(), |_| None), taken.advice(&Actor::Cli))
        };
        assert_eq!(said(false), "Port 22 is held, by no task of this workspace; use another port");
        assert_eq!(
            said(true),
            "An address was in use, and port 22, which the command names, is held, by no task of this workspace; see which \
             port it needs"
        );
        assert_eq!(ports(TakenPort::find(&[], &held, tasks())), Some((None, vec![80, 5173])));
    }
}
