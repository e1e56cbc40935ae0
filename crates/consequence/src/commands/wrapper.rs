//! Commands that run another command: `sudo`, `env`, `timeout`, `bash -c`, `xargs` and their like.

use super::table::KnownProgram;
use crate::command_end::{CommandEnd, Flow, Input, Outcome};
use crate::fields::Argument;
use crate::interpreter::Interpreter;
use crate::names::shorten;
use crate::shell_state::{Dialect, Value, Variable};
use crate::words::MOST_ARGUMENTS;

/// Programs that run what follows their options.
pub(super) const WRAPPERS: [&str; 14] = [
    "sudo", "doas", "env", "timeout", "nice", "ionice", "nohup", "time", "setsid", "stdbuf", "command",
    "builtin", "exec", "busybox",
];
/// The options with which a shell reads nothing but what it is given here.
const SHELL_OPTIONS: [&str; 2] = ["--norc", "--noprofile"];

impl Interpreter<'_> {
    /// Goes through a command that runs another one; `None` if it is none.
    pub(crate) fn wrapper(
        &mut self,
        name: &str,
        arguments: &[Argument],
        input: &Input,
    ) -> Option<CommandEnd> {
        match name {
            "bash" | "sh" | "dash" | "zsh" | "ksh" | "ash" => {
                return Some(self.inner_shell(name, arguments, input));
            }
            "xargs" => return Some(self.xargs(arguments, input)),
            _ => {}
        }
        let known = KnownProgram::of(name).filter(|_| WRAPPERS.contains(&name))?;
        let Some(mut at) = known.options_end(arguments) else {
            let words: Vec<&str> = arguments.iter().map(Argument::display_text).collect();
            self.not_known(format!("what {name} {} runs", shorten(&words.join(" "))));
            return Some(CommandEnd::unknown());
        };
        let given: Vec<&str> =
            arguments[..at.min(arguments.len())].iter().filter_map(Argument::known_text).collect();
        at += usize::from(name == "timeout");
        let has = |names: &[&str]| given.iter().any(|text| names.iter().any(|name| text.starts_with(name)));
        if name == "command" && has(&["-v", "-V"]) {
            return Some(CommandEnd::unknown());
        }
        let before = self.state.clone();
        if matches!(name, "sudo" | "doas") && !has(&["-E", "--preserve-env"]) {
            self.state.variables.clear();
            self.state.doubt = Some(format!("{name} may not pass it on"));
        }
        if name == "env" {
            if has(&["-i", "--ignore-environment"])
                || arguments.first().and_then(Argument::known_text) == Some("-")
            {
                at = at.max(1);
                self.state.variables.clear();
            }
            for (place, text) in arguments[..at.min(arguments.len())].iter().enumerate() {
                if matches!(text.known_text(), Some("-u" | "--unset"))
                    && let Some(name) = arguments.get(place + 1).and_then(Argument::known_text)
                {
                    self.state.variables.remove(name);
                }
            }
        }
        if matches!(name, "env" | "sudo" | "doas") {
            while let Some((name, value)) =
                arguments.get(at).and_then(Argument::known_text).and_then(|text| text.split_once('='))
            {
                let value = Value::Text(value.to_owned());
                self.set(name, value.clone());
                self.state.variables.insert(name.to_owned(), Variable { value, is_exported: true });
                at += 1;
            }
        }
        let rest = arguments.get(at..).unwrap_or_default();
        // What is no file's program is looked up as the shell would.
        let functions = std::mem::take(&mut self.state.functions);
        let end = if rest.is_empty() {
            CommandEnd { outcome: Outcome::Likely, output: None }
        } else if matches!(name, "command" | "builtin" | "exec") {
            self.dispatch(rest, input)
        } else {
            self.in_subshell(|shell| shell.dispatch(rest, input))
        };
        match name {
            "command" | "builtin" => self.state.functions = functions,
            "exec" => {
                self.state.functions = functions;
                if !rest.is_empty() {
                    self.exit_shell();
                }
            }
            _ => self.state = before,
        }
        Some(end)
    }

    /// Reads the options of a shell. Returns where its operands begin, whether the first is what it runs, and what it sets.
    fn shell_options(&mut self, name: &str, arguments: &[Argument]) -> (usize, bool, Vec<Argument>) {
        let (mut at, mut is_text, mut is_asking, mut options) = (0, false, false, Vec::new());
        while let Some(text) = arguments.get(at).and_then(Argument::known_text) {
            if !text.starts_with(['-', '+']) || text == "-" {
                break;
            }
            at += 1;
            if text == "--" {
                break;
            }
            if text.starts_with("--") || matches!(text, "-O" | "+O") {
                if !SHELL_OPTIONS.contains(&text) {
                    self.not_known(format!("what {name} {text} changes"));
                }
                continue;
            }
            is_text |= text.contains('c');
            is_asking |= text.contains('i');
            let rest = text.replace(['c', 's', 'i'], "");
            if rest.len() > 1 {
                options.push(Argument::text(rest.clone()));
            }
            if rest.ends_with('o') {
                options.extend(arguments.get(at).cloned());
                at += 1;
            }
        }
        if is_asking && !(is_text && arguments.iter().any(|one| one.known_text() == Some("--norc"))) {
            self.not_known(format!("what the startup files of {name} run"));
        }
        (at, is_text, options)
    }

    fn inner_shell(&mut self, name: &str, arguments: &[Argument], input: &Input) -> CommandEnd {
        let (at, is_text, options) = self.shell_options(name, arguments);
        let rest = arguments.get(at..).unwrap_or_default();
        let text = match (is_text, rest.first(), input) {
            (true, Some(text), _) => match text.known_text() {
                Some(text) => text.to_owned(),
                None => {
                    self.not_known(format!("what {name} -c runs: {}", text.display_text()));
                    return CommandEnd::unknown();
                }
            },
            (false, None, Ok(text)) => text.clone(),
            (false, None, Err(from)) => {
                self.not_known(format!("what {name} runs: what it reads from {from}"));
                return CommandEnd::unknown();
            }
            (_, Some(script), _) => {
                self.not_known(format!("what {} does", script.display_text()));
                return CommandEnd::unknown();
            }
            (true, None, _) => return CommandEnd::silent(Outcome::Failure),
        };
        let parameters: Option<Vec<String>> =
            rest.iter().skip(2).map(|one| one.known_text().map(str::to_owned)).collect();
        self.in_subshell(|shell| {
            shell.state = shell.state.child(Vec::new());
            shell.state.parameters = parameters;
            shell.state.dialect = Dialect::of(name);
            if !options.is_empty() {
                shell.set_options(&options);
            }
            let (calls, ignored) = (std::mem::take(&mut shell.calls), std::mem::take(&mut shell.ignored));
            let end = shell.run_text(&text);
            (shell.calls, shell.ignored) = (calls, ignored);
            end
        })
    }

    pub(crate) fn xargs(&mut self, arguments: &[Argument], input: &Input) -> CommandEnd {
        let mut at = 0;
        let (mut by_zero, mut by_line, mut replaced, mut skips_empty) = (false, false, None, false);
        let mut most = MOST_ARGUMENTS;
        while let Some(text) = arguments.get(at).and_then(Argument::known_text) {
            if !text.starts_with('-') {
                break;
            }
            at += 1;
            let mut value = |short: &str| match text.strip_prefix(short) {
                Some("") => {
                    at += 1;
                    arguments.get(at - 1).and_then(Argument::known_text).map(str::to_owned)
                }
                rest => rest.map(str::to_owned),
            };
            match text {
                "-0" | "--null" => by_zero = true,
                "-r" | "--no-run-if-empty" => skips_empty = true,
                "-0r" | "-r0" => (by_zero, skips_empty) = (true, true),
                "-t" | "-x" | "--verbose" | "--exit" => {}
                _ if text.starts_with("-I") => (replaced, by_line) = (value("-I"), true),
                _ if text.starts_with("-d") => match value("-d").as_deref() {
                    Some("\\n" | "\n") => by_line = true,
                    _ => return self.unread_xargs(arguments),
                },
                _ if text.starts_with("-P") => drop(value("-P")),
                _ if text.starts_with("-n") => match value("-n").and_then(|count| count.parse().ok()) {
                    Some(count) if count > 0 => most = count,
                    _ => return self.unread_xargs(arguments),
                },
                _ => return self.unread_xargs(arguments),
            }
        }
        let command = arguments.get(at..).unwrap_or_default();
        let echo = [Argument::text("echo")];
        let command = if command.is_empty() { &echo[..] } else { command };
        let (text, from) = match input {
            Ok(text) => (text.as_str(), None),
            Err(from) => ("", Some(format!("what it reads from {from}"))),
        };
        let items: Box<dyn Iterator<Item = &str>> = match (by_zero, by_line) {
            (true, _) => Box::new(text.split('\0').filter(|part| !part.is_empty())),
            (_, true) => Box::new(text.lines().map(str::trim_start).filter(|line| !line.is_empty())),
            _ => Box::new(text.split_whitespace()),
        };
        let items: Vec<Argument> = items.take(MOST_ARGUMENTS + 1).map(Argument::text).collect();
        let is_open = items.len() > MOST_ARGUMENTS || (!by_zero && text.contains(['\'', '"', '\\']));
        let open = is_open.then(|| format!("what it reads: `{}`", shorten(text)));
        let items = from.or(open).map_or(items, |from| vec![Argument::Unknown(from)]);
        if items.is_empty() && (skips_empty || replaced.is_some()) {
            return CommandEnd::silent(Outcome::Success);
        }
        let mut end = CommandEnd::silent(Outcome::Success);
        let is_open = items.iter().any(|item| item.known_text().is_none());
        let groups: Vec<&[Argument]> = match (&replaced, items.is_empty()) {
            (Some(_), _) => items.chunks(1).collect(),
            (None, true) => vec![&[]],
            (None, false) => items.chunks(most).collect(),
        };
        for group in groups {
            let run = match &replaced {
                Some(mark) => self.put_all(command, mark, &group[0]),
                None => [command, group].concat(),
            };
            if self.flow != Flow::On {
                return CommandEnd::unknown();
            }
            let go = |shell: &mut Self| {
                shell.in_subshell(|shell| {
                    shell.state.functions.clear();
                    shell.dispatch(&run, &Ok(String::new()))
                })
            };
            // It may have nothing to do.
            end = if is_open { self.branch(go) } else { go(self) };
        }
        CommandEnd { output: None, ..end }
    }

    /// Puts an item in the place of a mark in each part of a command. If that becomes too much, the shell ends here.
    pub(crate) fn put_all(&mut self, command: &[Argument], mark: &str, item: &Argument) -> Vec<Argument> {
        let bytes = |part: &Argument| part.display_text().matches(mark).count() * item.display_text().len();
        let fits = |shell: &mut Self, part: &Argument| shell.spend(part.display_text().len() + bytes(part));
        command.iter().map_while(|part| fits(self, part).then(|| put(part, mark, item))).collect()
    }

    fn unread_xargs(&mut self, arguments: &[Argument]) -> CommandEnd {
        let shown: Vec<&str> = arguments.iter().map(Argument::display_text).collect();
        self.not_known(format!("what xargs {} runs", shorten(&shown.join(" "))));
        CommandEnd::unknown()
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
