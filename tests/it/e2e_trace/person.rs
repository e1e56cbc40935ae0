//! The person at the console: sees the screen, presses keys, and counts them.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use super::frames::named_above_the_keys;
use super::work::{may_go, passphrase, until};
use crate::support::Console;

/// What the console says to a key that may have been meant for another task.
const REFUSED: &str = "is another task than before: press again";

pub(super) struct Person<'a> {
    console: &'a Console,
    /// The keys without those of answers and notes.
    pub(super) served: usize,
    /// The letters of answers and notes, and the `Enter` after each.
    pub(super) written: usize,
}

impl<'a> Person<'a> {
    pub(super) fn new(console: &'a Console) -> Self {
        Self { console, served: 0, written: 0 }
    }

    fn press(&mut self, keys: &[u8]) {
        self.console.keys(keys);
        self.served += 1;
    }

    fn write(&mut self, text: &str) {
        self.console.keys(text.as_bytes());
        self.console.keys(b"\r");
        self.written += text.len() + 1;
    }

    /// Does what the screen asks for, if it asks for anything.
    pub(super) fn attend(&mut self) {
        let text = self.console.text();
        let bar = text.lines().next().unwrap_or_default();
        if !["◐", " held", "FOR YOU"].iter().any(|word| bar.contains(word)) {
            return;
        }
        match named_above_the_keys(&text).filter(|named| is_selected(&text, named)) {
            // What waits is on the stage and selected: one key.
            Some(_) => {
                self.enter();
                self.answer();
            }
            None => self.attend_by_list(),
        }
    }

    /// Types into the selected task. If the console says that another one has come in between, looks at it and presses
    /// again.
    fn enter(&mut self) {
        self.press(b"\r");
        let is_refused = self.console.shown_until("the keys in the task, or why not", |text| {
            if text.lines().last()?.contains("INPUT ") {
                Some(false)
            } else {
                text.contains(REFUSED).then_some(true)
            }
        });
        if is_refused {
            self.press(b"\r");
        }
    }

    /// Opens what has waited longest, and does what it asks for.
    fn attend_by_list(&mut self) {
        self.press(b"a");
        let shown = self.console.shown_until("a list of what waits", |text| {
            let row = text.lines().find(|row| row.contains("│ ▸ "))?;
            (text.contains("for you")).then(|| row.to_owned())
        });
        self.press(b"\r");
        if shown.contains(" decide ") { self.decide() } else { self.answer() }
    }

    /// Reads the prompt in the pane and types what it asks for. Another task than the one aimed at may have come first
    /// meanwhile: the screen says whose keys they are, and what it asks.
    fn answer(&mut self) {
        let word = self.console.shown_until("the prompt, with the keys in its task", |text| {
            let status = text.lines().last()?;
            status.contains("INPUT ").then_some(())?;
            text.lines().rev().find_map(wanted)
        });
        self.write(&word);
        self.console.wait_for("the end of it", |screen| {
            let text = screen.contents();
            !text.contains("INPUT ") || text.contains("press any key")
        });
        self.press(b"\x1d");
        self.console.shows(" OBSERVE ");
    }

    /// Reads the card; approves the removal of a build, denies everything else.
    fn decide(&mut self) {
        let folder = self.console.shown_until("the card of a call", |text| {
            let card = text.split_once("wants to run")?.1;
            let row = card.lines().find(|row| row.contains("rm -rf "))?;
            Some(row.split_once("rm -rf ")?.1.split_whitespace().next()?.to_owned())
        });
        // A key pressed before the card could be read decides nothing.
        until(Instant::now() + Duration::from_millis(700));
        if may_go(&folder) {
            self.press(b"y");
        } else {
            self.press(b"n");
            self.console.shows("why not?");
            self.write("keep the data");
        }
        self.console.wait_for("the decision counts", |screen| {
            // The list above still shows the command, and the card of another call may have appeared.
            let text = screen.contents();
            text.split_once("wants to run").is_none_or(|(_, card)| !card.contains(&folder))
        });
        if self.console.text().contains("wants to run") {
            self.press(b"\x1b");
        }
        self.console.shows(" OBSERVE ");
    }

    /// Steps through the failed tasks until the commands have been seen; gives up after a few keys for each.
    pub(super) fn finds_failed(&mut self, commands: &BTreeSet<String>) -> BTreeSet<String> {
        let selected = |text: &str| text.lines().find(|row| row.starts_with(" ▸ ")).map(str::to_owned);
        let mut found = BTreeSet::new();
        for _ in 0..4 * commands.len() {
            if found.len() == commands.len() {
                break;
            }
            let before = selected(&self.console.text());
            self.press(b"E");
            let row = self.console.shown_until("another failed task is selected", |text| {
                selected(text).filter(|row| row.contains('✗') && Some(row) != before.as_ref())
            });
            found.extend(commands.iter().find(|command| row.contains(*command)).cloned());
        }
        found
    }
}

/// Tells whether the selected row of the list is that of a task.
fn is_selected(text: &str, task: &str) -> bool {
    text.lines().any(|row| row.starts_with(" ▸ ") && row.split_whitespace().nth(1) == Some(task))
}

/// What a row of a pane asks for.
fn wanted(row: &str) -> Option<String> {
    if let Some((_, asked)) = row.split_once("Passphrase for ") {
        return asked.split_once(':').map(|(name, _)| passphrase(name));
    }
    let (_, word) = row.split_once(". Type ").filter(|_| row.contains("to go on:"))?;
    word.split_whitespace().next().map(str::to_owned)
}
