//! `xargs`: the commands that it makes of what it reads.

use crate::command_end::{CommandEnd, Flow, Input, Outcome};
use crate::fields::{Argument, shown_words};
use crate::interpreter::Interpreter;
use crate::names::shorten;
use crate::words::MOST_ARGUMENTS;

/// What `xargs` is told.
#[derive(Default)]
struct XargsOrder<'a> {
    by_zero: bool,
    by_line: bool,
    skips_empty: bool,
    /// In whose place in the command an item is put.
    mark: Option<&'a str>,
    /// The most items of one command.
    most: usize,
    command: &'a [Argument],
}

impl<'a> XargsOrder<'a> {
    /// Reads the arguments of `xargs`; `None` if they cannot be understood.
    fn read(arguments: &'a [Argument]) -> Option<Self> {
        let mut order = Self { most: MOST_ARGUMENTS, command: arguments, ..Self::default() };
        while let Some((option, mut left)) =
            order.command.split_first().filter(|(one, _)| one.begins_with("-"))
        {
            let text = option.known_text().unwrap_or_default();
            let mut value = |short: &str| match text.strip_prefix(short) {
                Some("") => left.split_off_first().and_then(Argument::known_text),
                attached => attached,
            };
            match text {
                "-0" | "--null" => order.by_zero = true,
                "-r" | "--no-run-if-empty" => order.skips_empty = true,
                "-0r" | "-r0" => (order.by_zero, order.skips_empty) = (true, true),
                "-t" | "-x" | "--verbose" | "--exit" => {}
                _ if text.starts_with("-I") => (order.mark, order.by_line) = (value("-I"), true),
                _ if matches!(value("-d"), Some("\\n" | "\n")) => order.by_line = true,
                _ if text.starts_with("-P") => drop(value("-P")),
                _ if text.starts_with("-n") => {
                    order.most = value("-n")?.parse().ok().filter(|count| *count > 0)?;
                }
                _ => return None,
            }
            order.command = left;
        }
        Some(order)
    }

    /// Returns the items in what it reads; one that is not known if they are not.
    fn items(&self, input: &Input) -> Vec<Argument> {
        let text = match input {
            Ok(text) => text.as_str(),
            Err(from) => return vec![Argument::Unknown(format!("what it reads from {from}"))],
        };
        let items: Box<dyn Iterator<Item = &str>> = match (self.by_zero, self.by_line) {
            (true, _) => Box::new(text.split('\0').filter(|part| !part.is_empty())),
            (_, true) => Box::new(text.lines().map(str::trim_start).filter(|line| !line.is_empty())),
            _ => Box::new(text.split_whitespace()),
        };
        let items: Vec<Argument> = items.take(MOST_ARGUMENTS + 1).map(Argument::text).collect();
        if items.len() > MOST_ARGUMENTS || (!self.by_zero && text.contains(['\'', '"', '\\'])) {
            return vec![Argument::Unknown(format!("what it reads: `{}`", shorten(text)))];
        }
        items
    }
}

impl Interpreter<'_> {
    pub(crate) fn xargs(&mut self, arguments: &[Argument], input: &Input) -> CommandEnd {
        let Some(order) = XargsOrder::read(arguments) else {
            return self.note_unknown(format!("what xargs {} runs", shown_words(arguments)));
        };
        let echo = [Argument::text("echo")];
        let command = if order.command.is_empty() { &echo[..] } else { order.command };
        let items = order.items(input);
        let mut end = CommandEnd::silent(Outcome::Success);
        if items.is_empty() && (order.skips_empty || order.mark.is_some()) {
            return end;
        }
        let is_open = items.iter().any(|item| item.known_text().is_none());
        let groups: Vec<&[Argument]> = match (order.mark, items.is_empty()) {
            (Some(_), _) => items.chunks(1).collect(),
            (None, true) => vec![&[]],
            (None, false) => items.chunks(order.most).collect(),
        };
        for group in groups {
            let run = match order.mark {
                Some(mark) => self.put_all(command, mark, &group[0]),
                None => [command, group].concat(),
            };
            if self.flow != Flow::On {
                return CommandEnd::unknown();
            }
            // It may have nothing to do.
            end = self.start_command(&run, is_open);
        }
        CommandEnd { output: None, ..end }
    }

    /// Goes through a command that another program starts: in a shell of its own, which has no functions. `may` is whether
    /// it is not known that it comes to this.
    pub(crate) fn start_command(&mut self, command: &[Argument], may: bool) -> CommandEnd {
        let start = |shell: &mut Self| {
            shell.in_subshell(|shell| {
                shell.state.functions.clear();
                shell.dispatch(command, &Ok(String::new()))
            })
        };
        if may { self.branch(start) } else { start(self) }
    }

    /// Puts an item in the place of a mark in each part of a command. If that becomes too much, the shell ends here.
    pub(crate) fn put_all(&mut self, command: &[Argument], mark: &str, item: &Argument) -> Vec<Argument> {
        let bytes = |part: &Argument| part.display_text().matches(mark).count() * item.display_text().len();
        let fits = |shell: &mut Self, part: &Argument| shell.spend(part.display_text().len() + bytes(part));
        command.iter().map_while(|part| fits(self, part).then(|| put(part, mark, item))).collect()
    }
}

/// Puts an item in the place of a mark.
fn put(part: &Argument, mark: &str, item: &Argument) -> Argument {
    match (part.known_text(), item.known_text()) {
        (Some(text), Some(item)) if !mark.is_empty() => Argument::text(text.replace(mark, item)),
        (Some(text), None) if text.contains(mark) => item.clone(),
        _ => part.clone(),
    }
}
