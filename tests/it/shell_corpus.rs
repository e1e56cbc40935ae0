//! What the real agents execute, captured in tests/corpus/shell: which calls become a task, and what is shown of each.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;

use pilothouse::agent::shell::{AgentMarks, Route, RouteFacts, TerminalStreams, decide, script};
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
    /// What the model wrote; `None` for calls that the agent makes on its own account.
    command: Option<String>,
}

fn captured() -> Vec<Captured> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/shell");
    let read = |agent: &str| {
        let text = std::fs::read_to_string(folder.join(format!("{agent}.json"))).expect("a corpus");
        serde_json::from_str(&text).expect("calls")
    };
    ["claude", "opencode", "gemini"].map(read).into()
}

#[test]
fn each_call_of_a_model_becomes_a_task_shown_as_it_was_written_and_the_agents_own_go_through() {
    let mut seen = 0;
    for Captured { agent, calls } in captured() {
        let name = if agent == "gemini" { "bash" } else { "/d/pilothouse/shells/told/bash" };
        for Call { args, marks, command } in calls {
            let args: Vec<OsString> = args.into_iter().map(OsString::from).collect();
            let marks = AgentMarks(|name: &str| marks.get(name).map(OsStr::new)).read();
            let agent_word = marks.agent.map(AgentProgram::as_str);
            assert_eq!(agent_word, Some(agent.as_str()));
            let facts = RouteFacts {
                name: OsStr::new(name),
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
fn a_script_that_differs_by_one_character_around_the_command_is_shown_whole() {
    for Captured { agent, calls } in captured().into_iter().filter(|captured| captured.agent != "opencode") {
        for Call { args, marks, command } in calls {
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
