//! What the real agents execute, captured in tests/corpus/shell from their single prompts and, for the five whose bash reads
//! `BASH_ENV`, from their screens: which calls become a task, and what is shown of each. Codex, the ninth, has an executor
//! instead (tests/corpus/codex).

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;

use pilothouse::agent::shell::{AgentMarks, MarkedAgent, Route, RouteFacts, TerminalStreams, decide, script};
use pilothouse::agents::{AgentProgram, unwrap};
use serde::Deserialize;

#[derive(Deserialize)]
struct Captured {
    agent: String,
    calls: Vec<Call>,
}

/// One call of an agent's shell.
#[derive(Deserialize)]
struct Call {
    args: Vec<String>,
    marks: BTreeMap<String, String>,
    /// Whether it was made in the agent's screen.
    #[serde(default)]
    screen: bool,
    descriptors: BTreeMap<String, Descriptor>,
    leads_session: bool,
    /// The programs above it that belong to the agent, where they were captured.
    #[serde(default)]
    parents: Vec<String>,
    /// What the model wrote; `None` for calls that the agent makes on its own account.
    command: Option<String>,
}

/// A standard stream.
#[derive(Deserialize)]
struct Descriptor {
    kind: String,
}

fn read(agents: &[&str]) -> Vec<Captured> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/shell");
    let read = |agent: &str| {
        let text = std::fs::read_to_string(folder.join(format!("{agent}.json"))).expect("a corpus");
        serde_json::from_str(&text).expect("calls")
    };
    agents.iter().copied().map(read).collect()
}

fn captured() -> Vec<Captured> {
    read(&["claude", "opencode", "gemini"])
}

#[test]
fn each_call_of_a_model_becomes_a_task_shown_as_it_was_written_and_the_agents_own_go_through() {
    let mut seen = 0;
    for Captured { agent, calls } in captured() {
        for Call { args, marks, command, .. } in calls {
            let args: Vec<OsString> = args.into_iter().map(OsString::from).collect();
            let marks = AgentMarks(|name: &str| marks.get(name).map(OsStr::new)).read();
            let agent_word = marks.agent.map(AgentProgram::as_str);
            assert_eq!(agent_word, Some(agent.as_str()));
            let facts = RouteFacts {
                args: &args,
                terminal: TerminalStreams::None,
                task_kind: Some(OsStr::new("agent")),
                switch: None,
                marks,
            };
            let expected = if command.is_some() { Route::Task } else { Route::Through };
            assert_eq!(decide(facts), expected, "{agent} {args:?}");
            if let Some(command) = command {
                let script = script(&args).and_then(OsStr::to_str).expect("a script");
                assert_eq!(unwrap(marks.agent, script).as_deref(), Some(command.as_str()), "{agent}");
            }
            seen += 1;
        }
    }
    assert!(seen > 45, "{seen}");
}

#[test]
fn the_agents_that_read_bash_env_hand_over_exactly_the_command_of_the_model() {
    let mut screens = 0;
    for Captured { agent, calls } in read(&["copilot", "pi", "qwen", "kilo", "cline"]) {
        let program: AgentProgram = agent.parse().expect("an agent");
        for Call { args, marks, screen, descriptors, leads_session, parents, command } in calls {
            let args: Vec<OsString> = args.into_iter().map(OsString::from).collect();
            let marks = AgentMarks(|name: &str| marks.get(name).map(OsStr::new)).read();
            // Cline sets no variable of its own.
            assert_eq!(marks.agent, Some(program).filter(|_| agent != "cline"));
            let is_of_agent = !parents.iter().any(|parent| parent == "sh" || parent == "bash");
            assert!(leads_session && is_of_agent && !parents.is_empty(), "{agent} {args:?}");
            let is_on_terminal = descriptors.values().any(|descriptor| descriptor.kind == "terminal");
            assert_eq!(is_on_terminal, agent == "qwen" && screen, "{agent} {args:?}");
            // What a command starts is part of its task.
            let kind = if command.is_some() { "agent" } else { "command" };
            let facts = RouteFacts {
                args: &args,
                terminal: if is_on_terminal { TerminalStreams::Own } else { TerminalStreams::None },
                task_kind: Some(OsStr::new(kind)),
                switch: None,
                marks: MarkedAgent { agent: Some(program), is_started: true, for_model: true },
            };
            let expected = if command.is_some() { Route::Task } else { Route::Through };
            assert_eq!(decide(facts), expected, "{agent} {args:?}");
            let Some(command) = command else { continue };
            assert_eq!(args.last().map(OsString::as_os_str), Some(OsStr::new(&command)), "{agent}");
            assert_eq!(unwrap(Some(program), &command).as_deref(), Some(command.as_str()), "{agent}");
            screens += usize::from(screen);
        }
    }
    assert_eq!(screens, 20);
}

#[test]
fn a_script_that_differs_by_one_character_around_the_command_is_shown_whole() {
    for Captured { agent, calls } in captured().into_iter().filter(|captured| captured.agent != "opencode") {
        for Call { args, marks, command, .. } in calls {
            let args: Vec<OsString> = args.into_iter().map(OsString::from).collect();
            let marks = AgentMarks(|name: &str| marks.get(name).map(OsStr::new)).read();
            let (Some(command), Some(script)) = (command, script(&args).and_then(OsStr::to_str)) else {
                continue;
            };
            for changed in [
                format!("{script}; rm -rf x"),
                format!("rm -rf x; {script}"),
                script.replace("2>/dev/null || true && ", ""),
            ] {
                if changed != script {
                    assert_eq!(unwrap(marks.agent, &changed), None, "{agent} {command}");
                }
            }
        }
    }
}
