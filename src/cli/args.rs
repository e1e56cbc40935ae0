//! Command-line parsing: the clap tree, derived from the command registry.

use std::ffi::OsString;
use std::iter;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Command as Clap};

use super::{child_flags, fields, order};
use crate::consequence::rule_words::quote;
use crate::dispatch::exec::LINE_FLAGS;
use crate::dispatch::{COMMANDS, Command, Failure, GROUPS, PlainDefault, RunFlags, find, parse_timeout};

/// The flag for the output format.
pub(super) const OUTPUT: &str = "output";
/// The flag that runs a command in this process.
pub(super) const PRIVATE: &str = "private";

/// A command as it was typed.
#[derive(Debug, Clone, Copy)]
pub struct TypedCommand<'a> {
    pub command: &'static Command,
    /// Its arguments.
    pub args: &'a ArgMatches,
}

/// How much of a command a tree contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Detail {
    /// Nothing.
    None,
    /// Its name and description.
    Name,
    /// Its arguments, without what is only needed for help.
    Arguments,
    /// Everything.
    Whole,
}

/// Parses a command line. A correct one needs only the command that it names; anything else, help or a mistake, is
/// parsed again with all commands in the tree.
///
/// # Errors
/// When there is nothing to run: help was asked for, or the line is wrong.
pub fn parse(argv: &[OsString]) -> Result<ArgMatches, clap::Error> {
    let argv = &*order::move_flags(argv);
    let alone = grown(|command| if may_be_named(command, argv) { Detail::Arguments } else { Detail::None });
    alone.try_get_matches_from(argv).or_else(|_| tree_for(argv).try_get_matches_from(argv))
}

/// Returns the complete tree.
pub(super) fn tree() -> Clap {
    grown(|_| Detail::Whole)
}

/// Returns the tree with the arguments of the commands that these words may name. The others have only their name and
/// description, because declaring all arguments takes a few milliseconds.
fn tree_for(argv: &[OsString]) -> Clap {
    grown(|command| if may_be_named(command, argv) { Detail::Whole } else { Detail::Name })
}

/// Returns whether all words of a command's path are among those typed.
fn may_be_named(command: &Command, argv: &[OsString]) -> bool {
    let typed = |word: &str| argv.iter().any(|given| given == word);
    let mut paths = iter::once(command.path.as_str()).chain(command.aliases.iter().copied());
    paths.any(|path| path.split('.').all(typed))
}

/// Returns the tree with the requested amount of detail for each command.
fn grown(detail: impl Fn(&Command) -> Detail) -> Clap {
    let root = Clap::new("pilothouse")
        .version(env!("CARGO_PKG_VERSION"))
        .about("The operator's console for coding agents")
        .long_about(
            "Opens the console of this workspace, with a runtime of its own or attached to the one already \
             running. Agents connect with `pilothouse mcp`, scripts with `pilothouse exec`.",
        );
    let root = looks(root);
    COMMANDS.iter().fold(root, |root, command| {
        let detail = detail(command);
        if detail == Detail::None {
            return root;
        }
        let words: Vec<&str> = command.words().collect();
        let declare = |clap| {
            let clap = name(command, clap);
            match detail {
                Detail::None | Detail::Name => clap,
                Detail::Arguments => declare(command, clap),
                Detail::Whole => declare(command, clap).after_help(examples(command)),
            }
        };
        grow(root, &declare, "", &words)
    })
}

/// Adds a command below the groups in its path.
fn grow(parent: Clap, declare: &dyn Fn(Clap) -> Clap, above: &str, words: &[&str]) -> Clap {
    let Some((word, rest)) = words.split_first() else {
        return declare(parent);
    };
    if parent.get_subcommands().any(|known| known.get_name() == *word) {
        return parent.mut_subcommand(*word, |known| grow(known, declare, &format!("{above}{word}."), rest));
    }
    let fresh = Clap::new((*word).to_owned());
    let path = format!("{above}{word}.");
    let fresh = if rest.is_empty() { fresh } else { group(fresh, &path) };
    parent.subcommand(grow(fresh, declare, &path, rest))
}

/// Sets a command's description and aliases.
fn name(command: &Command, clap: Clap) -> Clap {
    let aliases = command.aliases.iter().filter_map(|alias| alias.rsplit('.').next());
    clap.about(command.about).visible_aliases(aliases.map(str::to_owned).collect::<Vec<_>>())
}

fn group(clap: Clap, path: &str) -> Clap {
    let mut verbs: Vec<&str> =
        COMMANDS.iter().filter_map(|command| command.path.strip_prefix(path)?.split('.').next()).collect();
    verbs.dedup();
    let about = GROUPS.iter().find(|(group, _)| path.strip_suffix('.') == Some(*group));
    let about = about.map_or(path, |(_, about)| *about);
    clap.about(format!("{about} [{}]", verbs.join(", "))).subcommand_required(true)
}

fn declare(command: &'static Command, clap: Clap) -> Clap {
    let output = Arg::new(OUTPUT)
        .long(OUTPUT)
        .visible_alias("format")
        .value_name("FORM")
        .value_parser(PossibleValuesParser::new(command.output_forms()))
        .help(match command.pasted {
            PlainDefault::Always => "Output format. Default: plain".to_owned(),
            PlainDefault::With(flag) => {
                format!("Output format. Default: plain on a terminal and with --{flag}, json otherwise")
            }
            PlainDefault::Never => "Output format. Default: plain on a terminal, json otherwise".to_owned(),
        });
    let clap = fields::declare(command.input_schema(), clap).arg(output);
    let clap = if command.runs_commands() { clap.arg(private()) } else { clap };
    let clap = if command.path == "command.run" { clap.args(child_flags::flags()) } else { clap };
    let opens_console = matches!(command.path.as_str(), "open" | "demo" | "run" | "fleet");
    let clap = if opens_console { looks(clap) } else { clap };
    let rest = LINE_FLAGS.iter().filter(|flag| flag.name != fields::SCHEMA);
    rest.fold(clap, |clap, flag| {
        let arg = Arg::new(flag.name).long(flag.name).help(flag.about);
        clap.arg(match flag.kind {
            "boolean" => arg.action(ArgAction::SetTrue),
            _ => arg.value_name(flag.name.to_uppercase()),
        })
    })
}

/// Returns the examples of a command as command lines.
fn examples(command: &Command) -> String {
    let schema = command.input_schema();
    let typed = command.examples.iter().filter_map(|example| {
        let given = serde_json::from_str(example.input).ok()?;
        let words = command.words().map(str::to_owned).chain(fields::words(schema, &given));
        let words: Vec<String> = words.map(|word| quote(&word)).collect();
        Some(format!("\n  # {}\n  pilothouse {}", example.about, words.join(" ")))
    });
    let typed = typed.collect::<String>();
    if typed.is_empty() { typed } else { format!("Examples:{typed}") }
}

fn private() -> Arg {
    Arg::new(PRIVATE)
        .long(PRIVATE)
        .action(ArgAction::SetTrue)
        .help("Run in this process, without sockets; all processes that it starts end with it")
}

#[cfg(feature = "console")]
fn looks(clap: Clap) -> Clap {
    super::console_flags::declare(clap)
}

#[cfg(not(feature = "console"))]
fn looks(clap: Clap) -> Clap {
    clap
}

/// Returns the command that was typed, or `None` if there was none.
pub fn typed_command(matches: &ArgMatches) -> Option<TypedCommand<'_>> {
    let mut path = String::new();
    let mut at = matches;
    while let Some((word, deeper)) = at.subcommand() {
        path = if path.is_empty() { word.to_owned() } else { format!("{path}.{word}") };
        at = deeper;
    }
    find(&path).map(|command| TypedCommand { command, args: at })
}

impl TypedCommand<'_> {
    /// Returns whether the command runs in this process.
    pub fn is_private(&self) -> bool {
        self.args.try_get_one::<bool>(PRIVATE).ok().flatten().copied().unwrap_or_default()
    }

    /// Returns whether its answer is to be pasted: plain is then the default format, even in a pipe.
    pub(super) fn is_pasted(&self) -> bool {
        match self.command.pasted {
            PlainDefault::Never => false,
            PlainDefault::Always => true,
            PlainDefault::With(flag) => self.args.try_get_one::<bool>(flag).ok().flatten() == Some(&true),
        }
    }

    /// Returns the values of the flags that every command has.
    ///
    /// # Errors
    /// When one is not of its form.
    pub fn flags(&self) -> Result<RunFlags, Failure> {
        let text = |name: &str| self.args.get_one::<String>(name).cloned();
        let timeout = text("timeout").map(|given| {
            parse_timeout(&given).ok_or_else(|| {
                let message = format!("--timeout {given} is not a time.");
                Failure::new(crate::dispatch::Code::ArgError, message)
                    .with("opt", "timeout")
                    .fix("write 500ms, 30s, 2m, or seconds as a number")
            })
        });
        Ok(RunFlags {
            dry_run: self.args.get_flag("dry-run"),
            timeout: timeout.transpose()?,
            once: text("idempotency-key"),
            schema: self.args.get_flag(fields::SCHEMA),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn every_group_says_what_it_is_for() {
        let mut groups: Vec<&str> =
            COMMANDS.iter().flat_map(|command| above(command.path.as_str())).collect();
        groups.sort_unstable();
        groups.dedup();
        // `mcp` is a command as well as a group.
        groups.retain(|group| find(group).is_none());
        let mut told: Vec<&str> = GROUPS.iter().map(|(group, _)| *group).collect();
        told.sort_unstable();
        assert_eq!(told, groups);
    }

    /// Returns the groups that contain a path.
    fn above(path: &str) -> impl Iterator<Item = &str> {
        path.match_indices('.').map(|(at, _)| &path[..at])
    }

    fn leaves(clap: &Clap, path: &str, found: &mut BTreeMap<String, Clap>) {
        for inner in clap.get_subcommands() {
            let name = inner.get_name();
            let path = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
            found.insert(path.clone(), inner.clone());
            leaves(inner, &path, found);
        }
    }

    #[test]
    fn the_tree_is_sound_and_every_command_is_in_it() {
        tree().debug_assert();
        let mut found = BTreeMap::new();
        leaves(&tree(), "", &mut found);
        for command in COMMANDS.iter() {
            let clap =
                found.get(&command.path).unwrap_or_else(|| panic!("{} is not in the tree", command.path));
            for flag in ["input", OUTPUT, "dry-run", "timeout"] {
                assert!(
                    clap.get_arguments().any(|arg| arg.get_long() == Some(flag)),
                    "{} {flag}",
                    command.path
                );
            }
        }
    }

    #[test]
    fn the_partial_command_tree_of_a_line_gives_the_same_help_as_the_whole_tree() {
        let help = |tree: Clap, argv: &[OsString]| tree.try_get_matches_from(argv).unwrap_err().to_string();
        for command in COMMANDS.iter() {
            let words = iter::once("pilothouse").chain(command.words()).chain(["--help"]);
            let argv: Vec<OsString> = words.map(OsString::from).collect();
            assert_eq!(help(tree_for(&argv), &argv), help(tree(), &argv), "{}", command.path);
        }
        for line in [&["pilothouse", "--help"][..], &["pilothouse", "task"], &["pilothouse", "taks"]] {
            let argv: Vec<OsString> = line.iter().map(OsString::from).collect();
            assert_eq!(help(tree_for(&argv), &argv), help(tree(), &argv), "{line:?}");
        }
    }

    #[test]
    fn every_command_that_a_fix_names_can_be_typed() {
        let mut files = vec![std::path::PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src")];
        let fix = regex::Regex::new(r#"\.(?:fix|with_hint)\(\s*(?:format!\(\s*)?"((?:[^"\\]|\\.)*)""#)
            .expect("a pattern");
        let named = regex::Regex::new(r"pilothouse((?: (?:--)?[a-z{][a-z_{}-]*)+)").expect("a pattern");
        let mut count = 0;
        while let Some(path) = files.pop() {
            if let Ok(folder) = std::fs::read_dir(&path) {
                files.extend(folder.map(|entry| entry.expect("an entry").path()));
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            for words in fix.captures_iter(&text).flat_map(|fix| {
                let fix = fix.get(1).map_or("", |fix| fix.as_str()).to_owned();
                named.captures_iter(&fix).map(|named| named[1].to_owned()).collect::<Vec<_>>()
            }) {
                // A placeholder stands for an agent or a machine.
                let typed =
                    words.split_whitespace().map(|word| if word.starts_with('{') { "claude" } else { word });
                // What follows the command in a sentence is no part of it.
                let typed: Vec<&str> = std::iter::once("pilothouse").chain(typed).collect();
                let is_command = |end: usize| match tree().try_get_matches_from(&typed[..end]) {
                    Ok(_) => true,
                    Err(error) => error.kind() == clap::error::ErrorKind::DisplayHelp,
                };
                let is_typed = (2..=typed.len()).rev().any(is_command);
                assert!(is_typed, "{}: {words}", path.display());
                count += 1;
            }
        }
        assert!(count > 10, "{count}");
    }

    /// Returns what was typed at each level.
    fn given(matches: &ArgMatches) -> String {
        let words = |id: &clap::Id| format!("{id} {:?} ", matches.get_raw(id.as_str()));
        let own: String = matches.ids().map(words).collect();
        let inner = matches.subcommand().map(|(name, inner)| format!("{name}: {}", given(inner)));
        own + &inner.unwrap_or_default()
    }

    #[test]
    fn a_line_is_read_alone_as_it_is_read_beside_all_others() {
        let lines: [&[&str]; 14] = [
            &[],
            &["version"],
            &["task", "list", "--format", "table"],
            &["ls"],
            &["task"],
            &["taks", "list"],
            &["task", "lst"],
            &["help", "task", "list"],
            &["mcp", "--label", "config"],
            &["mcp", "config", "zed", "--output", "plain"],
            &["command", "run", "version", "--raw"],
            &["command", "run"],
            &["--theme", "dark", "open"],
            &["version", "--bogus"],
        ];
        let as_typed = |line: &[&str]| {
            let argv: Vec<OsString> =
                iter::once("pilothouse").chain(line.iter().copied()).map(OsString::from).collect();
            parse(&argv).map(|matches| given(&matches)).map_err(|refusal| refusal.to_string())
        };
        assert_eq!(as_typed(&["--output", "json", "version"]), as_typed(&["version", "--output", "json"]));
        let told = |read: Result<ArgMatches, clap::Error>| {
            read.map(|matches| given(&matches)).map_err(|refusal| refusal.to_string())
        };
        for line in lines {
            let argv: Vec<OsString> =
                iter::once("pilothouse").chain(line.iter().copied()).map(OsString::from).collect();
            assert_eq!(told(parse(&argv)), told(tree().try_get_matches_from(&argv)), "{line:?}");
        }
    }

    #[test]
    fn a_typed_command_is_found_with_its_flags() {
        let line = ["pilothouse", "task", "list", "--format", "table", "--timeout", "2s"];
        let matches = tree().try_get_matches_from(line).expect("parses");
        let typed = typed_command(&matches).expect("a command");
        assert_eq!(typed.command.path, "task.list");
        assert_eq!(typed.args.get_one::<String>(OUTPUT).map(String::as_str), Some("table"));
        assert_eq!(typed.flags().expect("flags").timeout, Some(std::time::Duration::from_secs(2)));
    }

    #[test]
    fn a_command_may_be_a_group_as_well() {
        let path = |line: &[&str]| {
            let matches = tree().try_get_matches_from(line).map_err(|error| error.to_string())?;
            Ok::<_, String>(typed_command(&matches).map(|typed| typed.command.path.clone()))
        };
        assert_eq!(path(&["pilothouse", "mcp", "--label", "x"]), Ok(Some("mcp".into())));
        assert_eq!(path(&["pilothouse", "mcp", "config", "zed"]), Ok(Some("mcp.config".into())));
        assert_eq!(path(&["pilothouse"]), Ok(None));
        assert!(path(&["pilothouse", "mcp", "config", "emacs"]).is_err());
        assert!(path(&["pilothouse", "task"]).is_err());
    }

    /// Splits a shell command line into words, ignoring everything after a comment, a pipe or a redirection.
    fn words(line: &str) -> Vec<String> {
        let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
        for letter in line.chars() {
            match (quote, letter) {
                (Some(open), letter) if letter == open => quote = None,
                (None, '\'' | '"') => {
                    quote = Some(letter);
                    word.get_or_insert_default();
                }
                (None, '#' | '|' | '>' | '<') if word.is_none() => return words,
                (None, letter) if letter.is_whitespace() => words.extend(word.take()),
                (_, letter) => word.get_or_insert_default().push(letter),
            }
        }
        words.extend(word);
        words
    }

    #[test]
    fn every_command_that_the_guide_shows_can_be_typed() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        let pages = std::fs::read_dir(root.join("docs")).expect("the guide");
        let pages = pages.map(|page| page.expect("a page").path());
        let mut shown = 0;
        for page in
            pages.chain([root.join("README.md")]).filter(|page| page.extension() == Some("md".as_ref()))
        {
            let text = std::fs::read_to_string(&page).expect("text");
            for line in text.lines().filter_map(|line| line.trim_start().strip_prefix("$ pilothouse")) {
                let mut words = words(&format!("pilothouse{line}"));
                if words.get(1).is_some_and(|word| crate::agents::AgentProgram::routed_as(word).is_some()) {
                    // What follows is for the agent and is never parsed here.
                    words.truncate(2);
                }
                let typed = tree().try_get_matches_from(&words);
                assert!(typed.is_ok(), "{}: {words:?}: {}", page.display(), typed.unwrap_err());
                shown += 1;
            }
        }
        assert!(shown >= 30, "{shown}");
    }
}
