//! The machine that the figures come from, and the programs that they are compared with.

use std::fs;
use std::process::Command;

use serde::Serialize;

const PROGRAM: &str = env!("CARGO_BIN_EXE_pilothouse");

/// A machine, as described by its kernel and its programs.
#[derive(Serialize)]
pub(crate) struct Machine {
    at: String,
    processor: String,
    cores: usize,
    memory_mib: u64,
    kernel: String,
    /// The load over the last minute when the run began: how busy the machine was otherwise.
    load: f64,
    program: String,
    program_bytes: u64,
    optimised: bool,
    compiler: String,
    /// The programs compared with, and their versions; missing ones are not measured.
    peers: Vec<String>,
}

impl Machine {
    /// Describes the machine that this runs on.
    pub(crate) fn look() -> Self {
        let memory = field("/proc/meminfo", "MemTotal:").trim_end_matches("kB").trim().parse().unwrap_or(0);
        let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
        let peers = [("tmux", "-V"), ("zellij", "--version"), ("mprocs", "--version")];
        Self {
            at: jiff::Timestamp::now().strftime("%Y-%m-%d %H:%M UTC").to_string(),
            processor: field("/proc/cpuinfo", "model name"),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            memory_mib: memory / 1024,
            kernel: fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default().trim().to_owned(),
            load: load.split(' ').next().and_then(|load| load.parse().ok()).unwrap_or(f64::NAN),
            program: said(PROGRAM, "--version").unwrap_or_default(),
            program_bytes: fs::metadata(PROGRAM).map_or(0, |file| file.len()),
            optimised: !cfg!(debug_assertions),
            compiler: said("rustc", "-V").unwrap_or_default(),
            peers: peers.iter().filter_map(|(name, flag)| said(name, flag)).collect(),
        }
    }

    /// Returns when the run began and which program it was about.
    pub(crate) fn in_short(&self) -> String {
        format!("Measured {}, load {:.1}, {}.", self.at, self.load, self.program_in_words())
    }

    /// Returns a one-line description for people.
    pub(crate) fn in_words(&self) -> String {
        let peers = if self.peers.is_empty() { "none".to_owned() } else { self.peers.join(", ") };
        format!(
            "{}; {} cores of {}, {} MiB, Linux {}, load {:.1}; {}, {}; beside it: {peers}",
            self.at,
            self.cores,
            self.processor,
            self.memory_mib,
            self.kernel,
            self.load,
            self.program_in_words(),
            self.compiler,
        )
    }

    fn program_in_words(&self) -> String {
        let size = self.program_bytes as f64 / f64::from(1 << 20);
        format!("{} ({size:.1} MiB{})", self.program, if self.optimised { "" } else { ", a debug build" })
    }
}

/// Returns the value on the first line of a file that begins with `name`.
fn field(file: &str, name: &str) -> String {
    let text = fs::read_to_string(file).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
    line.trim_start_matches(['\t', ' ', ':']).trim().to_owned()
}

/// Returns the first line of a program's output, if the program is installed.
fn said(program: &str, flag: &str) -> Option<String> {
    let output = Command::new(program).arg(flag).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).lines().next()?.trim().to_owned())
}
