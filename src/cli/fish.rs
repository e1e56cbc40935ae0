//! What clap's completion script for fish leaves out: the values of arguments without a flag, such as the agents of
//! `mcp install`.

use std::fmt::Write as _;

use crate::dispatch::COMMANDS;

/// Returns the lines to add to the script.
pub(super) fn values() -> String {
    let mut lines = String::new();
    for command in COMMANDS.iter() {
        let fields = &command.input_schema()["properties"];
        let values: Vec<&str> = command
            .positional()
            .filter_map(|field| fields[field]["enum"].as_array())
            .flatten()
            .filter_map(|word| word.as_str())
            .collect();
        let Some((first, rest)) = command.path.split_once('.').or(Some((&command.path, ""))) else {
            continue;
        };
        if values.is_empty() {
            continue;
        }
        let deeper = rest.split('.').filter(|word| !word.is_empty());
        let deeper: String = deeper.map(|word| format!("; and __fish_seen_subcommand_from {word}")).collect();
        let _ = writeln!(
            lines,
            "complete -c pilothouse -n \"__fish_pilothouse_using_subcommand {first}{deeper}\" -f -a \"{}\"",
            values.join(" ")
        );
    }
    lines
}

#[cfg(test)]
mod tests {
    #[test]
    fn agents_and_shells_are_completed() {
        let lines = super::values();
        let line = |of: &str| {
            lines.lines().find(|line| line.contains(of)).unwrap_or_else(|| panic!("{of}: {lines}"))
        };
        let install = line("using_subcommand mcp; and __fish_seen_subcommand_from install\"");
        assert!(install.ends_with(" vscode zed\"") && install.contains("-a \"claude codex "), "{install}");
        assert!(line("using_subcommand completions\"").ends_with("-f -a \"bash zsh fish\""));
    }
}
