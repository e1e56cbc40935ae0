//! The menu: what can be entered when no question is open, by number or by word.

use self::MenuCommand::{Follow, Output, Screen, Shared};

use super::line::PlainLine;
use crate::console::keys::action::Action;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MenuCommand {
    /// An action of the console on the whole screen as well.
    Shared(Action),
    /// Show a task's output since it was last read.
    Output,
    /// Show the screen of a task as it looks now.
    Screen,
    /// Start or stop following a task's output.
    Follow,
}

/// A line of the menu.
struct MenuEntry {
    number: u8,
    verb: MenuCommand,
    word: &'static str,
    about: &'static str,
}

const fn entry(number: u8, verb: MenuCommand, word: &'static str, about: &'static str) -> MenuEntry {
    MenuEntry { number, verb, word, about }
}

const MENU: [MenuEntry; 19] = [
    entry(1, Shared(Action::ShowTasks), "tasks", "list them"),
    entry(2, Output, "output", "what a task wrote since you last asked: output t01"),
    entry(3, Shared(Action::SendLine), "line", "type a line into a task: line t01, or line t01 TEXT"),
    entry(4, Shared(Action::Stop), "stop", "stop a task: stop t01"),
    entry(5, Shared(Action::Attention), "attention", "what waits for you, oldest first; answer it"),
    entry(6, Shared(Action::Start), "start", "start a command: start COMMAND"),
    entry(7, Follow, "follow", "read a task's output as it comes, or no longer: follow t01"),
    entry(8, Screen, "screen", "a task's screen as it looks now: screen t01"),
    entry(9, Shared(Action::ShowReceipts), "receipts", "what agents were told: receipts, or receipts 12"),
    entry(10, Shared(Action::Pause), "pause", "pause agents: hold new calls; or resume"),
    entry(11, Shared(Action::Help), "help", "this menu; so does an empty line"),
    entry(12, Shared(Action::Signal), "signal", "send a signal to a task: signal t01, or signal t01 INT"),
    entry(13, Shared(Action::Rename), "name", "give a task a name: name t01, or name t01 NAME"),
    entry(
        14,
        Shared(Action::TellAgent),
        "tell",
        "write to an agent; without TEXT, how it will get it: tell claude-code TEXT",
    ),
    entry(
        15,
        Shared(Action::Watch),
        "watch",
        "say when a task fails, is silent or busy, or prints: watch t01 fail, 30 s, 90 % or PATTERN",
    ),
    entry(
        16,
        Shared(Action::Places),
        "places",
        "list them; with several, start in PLACE COMMAND starts a command there",
    ),
    entry(
        17,
        Shared(Action::LeftRunning),
        "left",
        "what agents that have gone left running; left end AGENT ends it",
    ),
    entry(18, Shared(Action::EndPermissions), "ask", "ask again about each of the agents' own prompts"),
    entry(0, Shared(Action::Quit), "quit", "quit the console"),
];

/// Returns the menu: all of it, or only what is possible in a recording.
#[must_use]
pub fn lines(of_recording: bool) -> Vec<PlainLine> {
    let line =
        |entry: &MenuEntry| PlainLine::reply(format!("{} {}: {}", entry.number, entry.word, entry.about));
    MENU.iter().filter(|entry| !of_recording || !entry.verb.needs_a_runtime()).map(line).collect()
}

/// Parses input: the command, and the rest of the line.
#[must_use]
pub fn read(line: &str) -> Option<(MenuCommand, &str)> {
    let line = line.trim();
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    if word.is_empty() {
        return Some((Shared(Action::Help), ""));
    }
    let is_meant = |entry: &&MenuEntry| {
        word.parse() == Ok(entry.number)
            || word.eq_ignore_ascii_case(entry.word)
            || matches!((entry.verb, word), (Shared(Action::Help), "?"))
    };
    MENU.iter().find(is_meant).map(|entry| (entry.verb, rest.trim_start()))
}

/// Tells whether a line begins with the word of a command, as opposed to its number.
#[must_use]
pub fn is_word(line: &str) -> bool {
    let word = line.split_whitespace().next().unwrap_or_default();
    MENU.iter().any(|entry| word.eq_ignore_ascii_case(entry.word))
}

impl MenuCommand {
    /// Tells whether it requires a running runtime; recordings refuse it.
    #[must_use]
    pub fn needs_a_runtime(self) -> bool {
        match self {
            Shared(Action::Attention | Action::Watch | Action::Places | Action::LeftRunning) | Follow => true,
            Shared(action) => action.changes(),
            Output | Screen => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_and_its_word_mean_the_same() {
        for entry in &MENU {
            let (number, word) = (entry.number.to_string(), entry.word.to_uppercase());
            assert_eq!(read(&number), Some((entry.verb, "")));
            assert_eq!(read(&format!(" {word}  t01 a b ")), Some((entry.verb, "t01 a b")));
        }
        assert_eq!(read(""), Some((Shared(Action::Help), "")));
        assert_eq!(read("nothing"), None);
        assert_eq!(read("99"), None);
    }

    #[test]
    fn words_are_those_of_the_console() {
        for entry in &MENU {
            if let Shared(action) = entry.verb {
                assert!(action.hint().contains(entry.word), "{} is {}", entry.word, action.hint());
            }
        }
    }
}
