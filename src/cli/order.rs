//! The order of a command line: a flag of every command means the same before its words as after them.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};

use super::args::{OUTPUT, PRIVATE};
use super::fields::WHOLE;
use crate::dispatch::exec::LINE_FLAGS;
use crate::dispatch::{COMMANDS, find};

/// Returns the words with those flags of every command that stand before or between the words of a path moved behind
/// it. The program's name comes first.
pub(super) fn move_flags(argv: &[OsString]) -> Cow<'_, [OsString]> {
    let (mut before, mut moved) = (Vec::new(), Vec::new());
    let mut path = String::new();
    let mut at = 1;
    while let Some(word) = argv.get(at) {
        let text = word.to_str().unwrap_or_default();
        if let Some(takes) = common(text) {
            let after = (at + 1 + usize::from(takes)).min(argv.len());
            moved.extend_from_slice(&argv[at..after]);
            at = after;
            continue;
        }
        let deeper = if path.is_empty() { text.to_owned() } else { format!("{path}.{text}") };
        if leads_to_a_command(&deeper) {
            path = deeper;
        } else if text == "--" || find(&path).is_some() || !(path.is_empty() || text.starts_with('-')) {
            // From here on it is the command's.
            break;
        }
        before.push(word.clone());
        at += 1;
    }
    if moved.is_empty() || find(&path).is_none() {
        return Cow::Borrowed(argv);
    }
    let name = argv.first().cloned();
    Cow::Owned(name.into_iter().chain(before).chain(moved).chain(argv[at..].iter().cloned()).collect())
}

/// Returns whether a word is a flag of every command, and then whether the next word is its value.
fn common(word: &str) -> Option<bool> {
    let (flag, has_value) = match word.strip_prefix("--")?.split_once('=') {
        Some((flag, _)) => (flag, true),
        None => (word.strip_prefix("--")?, false),
    };
    let takes = match flag {
        PRIVATE => false,
        OUTPUT | WHOLE | "format" | "raw-payload" => true,
        _ => LINE_FLAGS.iter().find(|known| known.name == flag)?.kind != "boolean",
    };
    Some(takes && !has_value)
}

fn leads_to_a_command(path: &str) -> bool {
    let is_on_the_way =
        |whole: &str| whole.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    !path.is_empty()
        && COMMANDS.iter().any(|command| {
            is_on_the_way(&command.path) || command.aliases.iter().any(|alias| is_on_the_way(alias))
        })
}

/// Returns the value of the output format among these words, wherever it stands.
pub(super) fn form(argv: &[OsString]) -> Option<&str> {
    let words = || argv.iter().map(|word| word.to_str().unwrap_or_default());
    let joined = words().find_map(|word| {
        let (flag, form) = word.strip_prefix("--")?.split_once('=')?;
        [OUTPUT, "format"].contains(&flag).then_some(form)
    });
    let is_flag = |word: &OsStr| word == "--output" || word == "--format";
    let next = argv.iter().position(|word| is_flag(word)).and_then(|at| argv.get(at + 1)?.to_str());
    joined.or(next)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn flags_of_every_command_are_moved_behind_its_words() {
        for (typed, read) in [
            ("p --output json version", "p version --output json"),
            ("p --format=plain --dry-run command run ls", "p command run --format=plain --dry-run ls"),
            ("p task --timeout 2s list --scope all", "p task list --timeout 2s --scope all"),
            ("p --theme dark --output plain open", "p --theme dark open --output plain"),
            ("p --input {} mcp config zed", "p mcp config --input {} zed"),
            ("p mcp --output plain config zed", "p mcp config --output plain zed"),
            ("p --schema command run", "p command run --schema"),
            ("p --private exec --ignore-errors", "p exec --private --ignore-errors"),
        ] {
            assert_eq!(*move_flags(&words(typed)), *words(read), "{typed}");
        }
    }

    #[test]
    fn a_line_without_a_flag_to_move_stays_as_it_is() {
        for line in [
            "p",
            "p --output",
            "p --output json",
            "p --output json nothing",
            "p version --output json",
            "p mcp --label config",
            "p command run -- --output json",
            "p command run echo --output json",
            "p -- --output json version",
            "p help task list",
        ] {
            assert_eq!(*move_flags(&words(line)), *words(line), "{line}");
        }
    }

    #[test]
    fn the_format_is_found_wherever_it_stands() {
        assert_eq!(form(&words("p --output plain --help")), Some("plain"));
        assert_eq!(form(&words("p task --help --format=table")), Some("table"));
        assert_eq!(form(&words("p --help --output")), None);
    }
}
