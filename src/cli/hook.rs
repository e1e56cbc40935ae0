//! `pilothouse hook <agent>`: what an agent's program runs at its own events. Runs before the command line is parsed,
//! because an agent may wait for it. Whatever is in its way, it prints nothing and exits with 0: then the agent goes its own
//! way.

use std::ffi::OsString;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::Value;

use super::print;
use super::shell::handed_over::AGENT_NAME;
use super::shell::{DOOR, SWITCH};
use super::surroundings::surroundings;
use crate::agents::{AgentHook, AgentProgram, HookEvent, HookPassing, HookReport, spell_numbers};
use crate::clock::Clock;
use crate::link::{ClientName, ClientRole, Hello, Holder, HookCall, HookReply};
use crate::paths::Places;
use crate::process::{is_called_with, is_in_command, parent, program_name};

/// The longest report of a program that is read, in bytes.
const MOST_BYTES: u64 = 1 << 20;
/// Programs that may stand between an agent and its hook, to read the hook's line.
const LINE_READERS: [&str; 4] = ["sh", "bash", "dash", "zsh"];

/// Runs the hook if the command line is nothing but that.
pub(super) fn run(argv: &[OsString]) -> Option<ExitCode> {
    let [_, command, agent] = argv else { return None };
    let agent = agent.to_str()?.parse::<AgentProgram>().ok().filter(|_| command == "hook")?;
    Some(start(agent))
}

/// Runs the hook of an agent.
pub(super) fn start(agent: AgentProgram) -> ExitCode {
    if let Some(text) = agent.hook().and_then(|hook| answer(agent, hook)) {
        // An agent that no longer reads has its own prompt.
        let _ = print::bytes(text.as_bytes(), false);
    }
    ExitCode::SUCCESS
}

/// Returns what a person's answer or words print, if there are any.
fn answer(agent: AgentProgram, hook: &AgentHook) -> Option<String> {
    let at = Clock::start().now().wall;
    let mut told = Vec::new();
    std::io::stdin().lock().take(MOST_BYTES + 1).read_to_end(&mut told).ok()?;
    if told.len() as u64 > MOST_BYTES {
        return None;
    }
    let told: Value = serde_json::from_str(&spell_numbers(&String::from_utf8(told).ok()?)).ok()?;
    let report: HookReport = (hook.read)(&told)?;
    // Of a process that waits for a session, nothing is to be told yet.
    if report.event == HookEvent::Began
        && hook.spare.is_some_and(|word| is_called_with(agent_above(agent), word))
    {
        return None;
    }
    let is_off = std::env::var_os(SWITCH).is_some_and(|switch| switch == "off");
    if is_off || is_in_command(std::process::id()) {
        return None;
    }
    // A hook of a folder is started there, and told where its session is.
    let is_there = matches!(hook.entry.process, Some(HookPassing::Folder(_)));
    let cwd =
        if is_there { told["cwd"].as_str().map(PathBuf::from)? } else { std::env::current_dir().ok()? };
    let printed = match call(agent, &cwd)?.report(report, at).ok()?? {
        HookReply::Answered(answer) => (hook.answering?.print)(&answer.verdict),
        HookReply::Words(words) => (hook.words)(&words),
    };
    Some(format!("{printed}\n"))
}

/// Connects to the runtime of the agent's workspace. None is started.
fn call(agent: AgentProgram, cwd: &Path) -> Option<HookCall> {
    let door = std::env::var_os(DOOR).map(PathBuf::from).filter(|door| door.is_absolute());
    let places = Places::find(&door.unwrap_or_else(|| cwd.to_owned()), &surroundings()).ok()?;
    let holder = Holder::of(&places);
    let client = ClientName { name: agent.as_str().to_owned(), version: String::new() };
    let label = std::env::var_os(AGENT_NAME).and_then(|name| name.into_string().ok());
    let hello = Hello::new(ClientRole::Hook, cwd.to_owned()).without_environment();
    let hello = Hello { client: Some(client), label, ppid: agent_above(agent), ..hello };
    HookCall::dial(&holder.places(&places).agent_socket(), &hello).ok()
}

/// Returns the process of the agent that runs this hook: the one it names, or the nearest above that is no shell.
fn agent_above(agent: AgentProgram) -> u32 {
    let marks = agent.own_shell().map(|shell| shell.marks);
    let named = marks.and_then(|marks| std::env::var(marks.pid?).ok()?.parse().ok());
    let above = || {
        let above = parent(std::process::id())?;
        let is_shell = program_name(above).is_some_and(|name| LINE_READERS.contains(&name.as_str()));
        if is_shell { parent(above) } else { Some(above) }
    };
    named.or_else(above).unwrap_or_default()
}
