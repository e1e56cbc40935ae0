//! The single registry of commands.
//!
//! **To add a command**: a tool is a command as soon as it is in `tools::TOOLS`; give its `Verb` some `EXAMPLES`. For
//! anything else, write one file beside this one with a type that implements [`LocalCommand`](super::command::LocalCommand)
//! (`version.rs` is the shortest), and add `Command::of::<It>()` to the list below, in the order of help texts.
//! Everything else is derived: the command-line flags from the fields of its `Input` (required ones are positional),
//! help, `exec` routing, the manifest, completions, the manual page.
//! `pilothouse manifest --output plain > docs/reference/cli.md` updates the reference. A command that is not
//! `Danger::Safe` implements `dry_run`. One that only `cli` can run (because it needs the terminal) has a `REACH`, and
//! an arm in `cli/mod.rs` instead of `run`.

use std::sync::LazyLock;

use super::command::Command;
use super::exec::Exec;
use super::{
    approvals, audit, cli_only, completions, consequence, doctor, keys, manifest, mcp, metrics_show, prose,
    receipt, receipt_file, relay, run_program, settings, start_agent, status, task_export, task_undo,
    version,
};
use crate::config::nearest;
use crate::tools::TOOLS;

/// Every command, in the order of help texts.
pub static COMMANDS: LazyLock<Vec<Command>> = LazyLock::new(|| {
    let mut commands: Vec<Command> =
        TOOLS.iter().filter(|tool| !tool.cli.is_empty()).map(Command::of_tool).collect();
    commands.extend([
        Command::of::<task_export::TaskExport>(),
        Command::of::<task_undo::TaskUndo>(),
        Command::of::<receipt::ReceiptList>(),
        Command::of::<receipt::ReceiptShow>(),
        Command::of::<receipt_file::ReceiptRender>(),
        Command::of::<receipt_file::ReceiptCompact>(),
        Command::of::<status::Status>(),
        Command::of::<metrics_show::MetricsShow>(),
        Command::of::<audit::AuditList>(),
        Command::of::<audit::AuditShow>(),
        Command::of::<audit::AuditVerify>(),
        Command::of::<audit::AuditExport>(),
        Command::of::<consequence::ConsequenceCommand>(),
        Command::of::<settings::ConfigPath>(),
        Command::of::<settings::ConfigShow>(),
        Command::of::<settings::ConfigCheck>(),
        Command::of::<settings::ConfigEdit>(),
        Command::of::<approvals::ConfigApprovals>(),
        Command::of::<prose::ProseCheck>(),
        Command::of::<prose::ProseFmt>(),
        Command::of::<prose::ProseGates>(),
        Command::of::<prose::ProseGateDecide<true>>(),
        Command::of::<prose::ProseGateDecide<false>>(),
        Command::of::<prose::ProseGateLog>(),
        Command::of::<prose::ProseAst>(),
        Command::of::<run_program::RunProgram>(),
        Command::of::<keys::KeysList>(),
        Command::of::<keys::KeysCheck>(),
        Command::of::<keys::KeysDiff>(),
        Command::of::<Exec>(),
        Command::of::<manifest::Manifest>(),
    ]);
    commands.extend(start_agent::commands());
    commands.extend([
        Command::of::<start_agent::StartAny>(),
        Command::of::<mcp::Adopt>(),
        Command::of::<cli_only::HookCommand>(),
        Command::of::<cli_only::CodexExecutorCommand>(),
        Command::of::<cli_only::McpCommand>(),
        Command::of::<mcp::McpInstall>(),
        Command::of::<mcp::McpConfig>(),
        Command::of::<relay::RelayList>(),
        Command::of::<relay::RelayTo<false>>(),
        Command::of::<relay::RelayTo<true>>(),
        Command::of::<cli_only::ServeCommand>(),
        Command::of::<cli_only::FleetCommand>(),
        Command::of::<cli_only::OpenCommand>(),
        Command::of::<cli_only::DemoCommand>(),
        Command::of::<doctor::Doctor>(),
        Command::of::<completions::Completions>(),
        Command::of::<completions::Man>(),
        Command::of::<version::Version>(),
    ]);
    commands
});

/// Descriptions of the groups, by path.
pub const GROUPS: [(&str, &str); 11] = [
    ("command", "Run shell commands, one or several in a row"),
    ("task", "See, drive, stop and export tasks"),
    ("question", "See and answer the questions of programs"),
    ("receipt", "Reread answers as agents saw them"),
    ("metrics", "See the runtime's counters"),
    ("audit", "Read recordings, and check that they are intact"),
    ("config", "Find, show, check and edit the settings"),
    ("prose", "Check, format and read .prose programs; decide their gates"),
    ("prose.gate", "Decide a program's gate, or see its history"),
    ("relay", "List this user's runtimes, and connect to one from another machine"),
    ("keys", "See the keys, check a key file, compare it with the defaults"),
];

/// Finds a command by its path or one of its aliases.
#[must_use]
pub fn find(path: &str) -> Option<&'static Command> {
    COMMANDS.iter().find(|command| command.path == path || command.aliases.contains(&path))
}

/// Returns the data of an answer in a format that only its command has.
#[must_use]
pub fn own_form(path: &str, form: &str, data: &serde_json::Value) -> Option<String> {
    find(path).and_then(|command| (command.form)(form, data))
}

/// Returns whether a command's text output is data for a file or another program.
#[must_use]
pub fn is_data(path: &str) -> bool {
    find(path).is_some_and(|command| command.is_data)
}

/// Returns the path of the command for a tool's name in any spelling: `ExecCommand`, `exec_command`.
pub(super) fn path_of_tool(name: &str) -> Option<&'static str> {
    let plain = |name: &str| name.replace(['_', '-', '.', ' '], "").to_lowercase();
    let asked = plain(name);
    COMMANDS
        .iter()
        .find(|command| command.tool().is_some_and(|tool| plain(tool) == asked))
        .map(|command| command.path.as_str())
}

/// Returns the most similar path, if any is similar.
pub(super) fn nearest_path(path: &str) -> Option<&'static str> {
    nearest(path, COMMANDS.iter().map(|command| command.path.as_str()))
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::path::PathBuf;
    use std::sync::Arc;

    use serde_json::Value;

    use super::*;
    use crate::dispatch::command::{CommandReach, Danger};
    use crate::dispatch::context::CommandContext;
    use crate::dispatch::host::{Host, PrivateRuntime, Shell};
    use crate::dispatch::{Failure, RunFlags, code, run};
    use crate::paths::Places;

    /// A host without a runtime.
    pub(crate) struct Nowhere;

    impl Host for Nowhere {
        fn variable(&self, name: &str) -> Option<OsString> {
            (name == "HOME").then(|| std::env::temp_dir().join("pilothouse-nowhere").into())
        }
        fn places(&self) -> Result<Places, Failure> {
            let temp = std::env::temp_dir();
            let none = temp.join("pilothouse-nowhere");
            Ok(Places {
                workspace: temp,
                id: String::new(),
                runtime_dir: none.clone(),
                lock: none.clone(),
                state_dir: none.clone(),
                config_dir: none,
            })
        }
        fn cwd(&self) -> Result<PathBuf, Failure> {
            Ok(std::env::temp_dir())
        }
        fn access(&self) -> Result<crate::link::Access, Failure> {
            panic!("a runtime was asked for");
        }
        fn embed(&self) -> Result<PrivateRuntime, Failure> {
            panic!("a runtime was asked for");
        }
        fn probe_terminal(&self) -> Option<crate::dispatch::Probe> {
            None
        }
        fn note_promise(&self, _task: &str) {}
        fn completions(&self, _shell: Shell) -> String {
            String::new()
        }
        fn man_pages(&self) -> Vec<(String, String)> {
            Vec::new()
        }
    }

    #[test]
    fn paths_are_unique_and_of_the_form_that_a_line_may_have() {
        let mut seen = std::collections::BTreeSet::new();
        for command in COMMANDS.iter() {
            for path in std::iter::once(command.path.as_str()).chain(command.aliases.iter().copied()) {
                assert!(crate::dispatch::exec::is_path(path), "{path}");
                assert!(seen.insert(path.to_owned()), "{path} twice");
            }
        }
    }

    #[test]
    fn every_command_declares_what_readers_and_programs_need() {
        for command in COMMANDS.iter() {
            let path = &command.path;
            assert!(!command.about.is_empty() && !command.about.ends_with('.'), "{path}: about");
            assert!(!command.examples.is_empty(), "{path} has no example");
            assert!(command.exits().contains(&0) && command.exits().len() > 1, "{path}: exit codes");
            assert!(command.exits().iter().all(|code| code::exit_of(*code).is_some()), "{path}");
            assert_eq!(command.input_schema()["type"], "object", "{path}: input schema");
            assert!(command.output_schema().is_object(), "{path}: output schema");
            for example in &command.examples {
                let input: Value = serde_json::from_str(example.input).expect(example.input);
                let checked = command.check(input);
                assert!(checked.is_ok(), "{path}: {}: {checked:?}", example.input);
            }
        }
    }

    #[test]
    fn every_field_teaches_and_none_is_called_as_a_flag_of_all_commands() {
        for command in COMMANDS.iter() {
            for (field, schema) in command.input_schema()["properties"].as_object().into_iter().flatten() {
                assert!(schema["description"].is_string(), "{}.{field}", command.path);
                let taken = [
                    "output",
                    "format",
                    "dry_run",
                    "timeout",
                    "idempotency_key",
                    "schema",
                    "raw_payload",
                    "help",
                ];
                assert!(!taken.contains(&field.as_str()), "{}.{field}", command.path);
            }
        }
    }

    #[tokio::test]
    async fn a_command_that_is_not_safe_tells_what_it_would_do() {
        // A stream passes the flag on to each of its lines.
        let tells =
            |command: &&Command| command.danger != Danger::Safe && command.reach != CommandReach::Exec;
        for command in COMMANDS.iter().filter(tells) {
            let properties = &command.input_schema()["properties"];
            if ["task_id", "question_id"].iter().any(|id| properties.get(id).is_some()) {
                // The runtime that has the task decides: see tests/it/exec_dry_run.rs.
                continue;
            }
            let input = serde_json::from_str(command.examples[0].input).expect("an input");
            let flags = RunFlags { dry_run: true, ..RunFlags::default() };
            let told = run(
                &mut CommandContext::new(Arc::new(Nowhere)),
                command,
                input,
                &flags,
                std::future::pending(),
            )
            .await;
            // What depends on files fails as the run does: see tests/it/dry_run.rs.
            let effect = told.data()["effect"].as_str();
            let tells = effect.is_some_and(|effect| effect.starts_with("would_"));
            assert!(tells || !told.to_value()["error"].is_null(), "{}: {}", command.path, told.to_value());
        }
    }

    #[test]
    fn nothing_that_starts_an_agent_a_server_or_a_stream_is_safe() {
        for command in COMMANDS.iter().filter(|command| command.reach != CommandReach::Anywhere) {
            let only_shows = command.path == "open";
            assert_eq!(command.danger == Danger::Safe, only_shows, "{}", command.path);
        }
        assert_ne!(find("doctor").expect("a command").danger, Danger::Safe, "it starts agents with a flag");
    }

    #[test]
    fn a_command_that_owns_a_terminal_declares_it() {
        for (path, owns) in [("mcp", true), ("serve", true), ("demo", true), ("version", false)] {
            let command = find(path).expect(path);
            assert_eq!(matches!(command.reach, CommandReach::Alone(_)), owns, "{path}");
        }
    }
}
