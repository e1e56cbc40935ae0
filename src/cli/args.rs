//! What can be typed after `pilothouse`. The commands of the tools derive from the tool table.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};

use super::tools::{TOOLS, Tool, cli_args};
use crate::agent::AGENTS;

/// The flag that prints the canonical envelope in place of the receipt.
pub(super) const JSON: &str = "json";

/// Returns the whole command tree.
pub(super) fn command() -> Command {
    let root = Command::new("pilothouse")
        .version(env!("CARGO_PKG_VERSION"))
        .about("The operator's console for coding agents")
        .long_about(
            "Opens the console of this workspace: with the runtime inside, or attached to the one that \
             already runs. Agents connect with `pilothouse mcp`.",
        )
        .subcommand(mcp())
        .subcommand(serve())
        .subcommand(Command::new("version").about("Print the version"));
    #[cfg(feature = "console")]
    let root = root.subcommand(
        Command::new("demo")
            .about("Open the console in a throw-away workspace and watch a scripted agent at work"),
    );
    TOOLS.iter().fold(root, with_tool)
}

fn mcp() -> Command {
    let config = Command::new("config").about("Print what an agent needs in its configuration").arg(
        Arg::new("agent").required(true).value_name("AGENT").value_parser(PossibleValuesParser::new(AGENTS)),
    );
    Command::new("mcp")
        .about("Serve an agent over standard input and output (its configuration starts this)")
        .arg(
            Arg::new("label")
                .long("label")
                .help("The agent's name; under the same name it regains its tasks"),
        )
        .arg(
            Arg::new("profile")
                .long("profile")
                .value_parser(PossibleValuesParser::new(["receipt", "structured"]))
                .default_value("receipt")
                .help("What results carry: the receipt alone, or structured content as well"),
        )
        .arg(
            Arg::new("socket")
                .long("socket")
                .value_name("PATH")
                .value_parser(value_parser!(PathBuf))
                .help("The runtime's socket, in place of the workspace's [env: PILOTHOUSE_SOCKET]"),
        )
        .subcommand(config)
}

fn serve() -> Command {
    Command::new("serve")
        .about("Run without a console, until nobody has needed it for 10 minutes")
        .arg(
            Arg::new("stop")
                .long("stop")
                .action(ArgAction::SetTrue)
                .help("Stop all tasks and end the runtime that serves this workspace"),
        )
        .arg(Arg::new("detached").long("detached").action(ArgAction::SetTrue).hide(true))
        .arg(
            Arg::new("idle")
                .long("idle-seconds")
                .value_name("SECONDS")
                .value_parser(value_parser!(u64))
                .default_value("600")
                .help("How long nobody may need it before it ends"),
        )
}

/// Adds a tool's command to the tree, beneath a group that it may share.
fn with_tool(root: Command, tool: &'static Tool) -> Command {
    let Some((group, verb)) = path(tool) else { return root };
    let about = tool.title;
    let json =
        Arg::new(JSON).long(JSON).action(ArgAction::SetTrue).help("Print the canonical envelope as JSON");
    let leaf = cli_args::declare(tool, Command::new(verb).about(about)).arg(json);
    if root.get_subcommands().any(|known| known.get_name() == group) {
        return root.mut_subcommand(group, |known| known.subcommand(leaf));
    }
    root.subcommand(
        Command::new(group).about(format!("Tools: {group}")).subcommand_required(true).subcommand(leaf),
    )
}

/// Finds the tool of a parsed command.
pub(super) fn tool<'a>(group: &str, matches: &'a ArgMatches) -> Option<(&'static Tool, &'a ArgMatches)> {
    let (verb, args) = matches.subcommand()?;
    let tool = TOOLS.iter().find(|tool| path(tool) == Some((group, verb)))?;
    Some((tool, args))
}

fn path(tool: &Tool) -> Option<(&'static str, &'static str)> {
    match tool.cli {
        [group, verb] => Some((group, verb)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_is_sound_and_every_tool_is_in_it() {
        command().debug_assert();
        for tool in &TOOLS {
            let (group, verb) = path(tool).expect("a group and a verb");
            let group = command().find_subcommand(group).cloned().expect(group);
            assert!(group.find_subcommand(verb).is_some(), "{}", tool.name);
        }
    }

    #[test]
    fn a_typed_command_finds_its_tool() {
        let matches =
            command().try_get_matches_from(["pilothouse", "task", "list", "--json"]).expect("parses");
        let (group, rest) = matches.subcommand().expect("a group");
        let (found, args) = tool(group, rest).expect("a tool");
        assert_eq!((found.name, args.get_flag(JSON)), ("TaskList", true));
    }

    #[test]
    fn only_known_agents_have_a_configuration() {
        let typed = |agent| command().try_get_matches_from(["pilothouse", "mcp", "config", agent]);
        assert!(AGENTS.iter().all(|agent| typed(agent).is_ok()));
        assert!(typed("emacs").is_err());
    }
}
