//! Commands that run another command: `sudo`, `env`, `timeout`, `bash -c`, `xargs` and their like.

use crate::command_end::{CommandEnd, Flow, Input, Outcome};
use crate::fields::Argument;
use crate::interpreter::Interpreter;
use crate::names::shortened;
use crate::shell_state::{Value, Variable};
use crate::words::MOST_ARGUMENTS;

/// Wrappers by name: their short options that take a value, their long ones, and how many operands come before the
/// command.
const WRAPPERS: [(&str, &str, &[&str], usize); 14] = [
    ("sudo", "ugpCDhrRtT", &["user", "group", "chdir", "host", "prompt", "role", "type"], 0),
    ("doas", "uC", &[], 0),
    ("env", "uCS", &["unset", "chdir", "split-string"], 0),
    ("timeout", "ks", &["kill-after", "signal"], 1),
    ("nice", "n", &["adjustment"], 0),
    ("ionice", "cnpPu", &["class", "classdata"], 0),
    ("nohup", "", &[], 0),
    ("time", "fo", &["format", "output"], 0),
    ("setsid", "", &[], 0),
    ("stdbuf", "ioe", &["input", "output", "error"], 0),
    ("command", "", &[], 0),
    ("builtin", "", &[], 0),
    ("exec", "a", &[], 0),
    ("busybox", "", &[], 0),
];

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
        let (_, letters, longs, before) = WRAPPERS.iter().find(|row| row.0 == name)?;
        let mut at = 0;
        let mut given = Vec::new();
        while let Some(text) = arguments.get(at).and_then(Argument::known) {
            if text == "--" {
                at += 1;
                break;
            }
            if !text.starts_with('-') || text == "-" {
                break;
            }
            let takes_next = match text.strip_prefix("--") {
                Some(long) => longs.contains(&long),
                None => text[1..]
                    .char_indices()
                    .find(|(_, letter)| letters.contains(*letter))
                    .is_some_and(|(place, letter)| 1 + place + letter.len_utf8() == text.len()),
            };
            given.push(text);
            at += 1 + usize::from(takes_next);
        }
        at += before;
        let has = |names: &[&str]| given.iter().any(|text| names.iter().any(|name| text.starts_with(name)));
        match name {
            "command" if has(&["-v", "-V"]) => {
                return Some(CommandEnd { outcome: Outcome::Unknown, output: None });
            }
            "env" if has(&["-S", "--split", "-C", "--chdir"]) => {
                self.not_known("what env runs");
                return Some(CommandEnd::unknown());
            }
            "sudo" if has(&["-D", "--chdir", "-i", "--login", "-s", "--shell", "-R"]) => {
                self.not_known(format!("what sudo {} runs", given.join(" ")));
                return Some(CommandEnd::unknown());
            }
            _ => {}
        }
        let before = self.state.clone();
        if matches!(name, "sudo" | "doas") && !has(&["-E", "--preserve-env"]) {
            self.state.variables.clear();
            self.state.doubt = Some(format!("{name} may not pass it on"));
        }
        if name == "env" {
            if has(&["-i", "--ignore-environment"])
                || arguments.first().and_then(Argument::known) == Some("-")
            {
                at = at.max(1);
                self.state.variables.clear();
            }
            for (place, text) in arguments[..at.min(arguments.len())].iter().enumerate() {
                if matches!(text.known(), Some("-u" | "--unset"))
                    && let Some(name) = arguments.get(place + 1).and_then(Argument::known)
                {
                    self.state.variables.remove(name);
                }
            }
        }
        if matches!(name, "env" | "sudo" | "doas") {
            while let Some((name, value)) =
                arguments.get(at).and_then(Argument::known).and_then(|text| text.split_once('='))
            {
                let value = Value::Text(value.to_owned());
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

    fn inner_shell(&mut self, name: &str, arguments: &[Argument], input: &Input) -> CommandEnd {
        let mut at = 0;
        let (mut is_text, mut options) = (false, Vec::new());
        while let Some(text) = arguments.get(at).and_then(Argument::known) {
            if !text.starts_with(['-', '+']) || text == "-" {
                break;
            }
            is_text |= !text.starts_with("--") && text.contains('c');
            let takes_next = matches!(text, "-o" | "+o" | "-O" | "+O" | "--rcfile" | "--init-file");
            options
                .extend(arguments.get(at..=at + usize::from(takes_next)).unwrap_or_default().iter().cloned());
            at += 1 + usize::from(takes_next);
        }
        let rest = arguments.get(at..).unwrap_or_default();
        let text = match (is_text, rest.first(), input) {
            (true, Some(text), _) => match text.known() {
                Some(text) => text.to_owned(),
                None => {
                    self.not_known(format!("what {name} -c runs: {}", text.shown()));
                    return CommandEnd::unknown();
                }
            },
            (false, None, Ok(text)) => text.clone(),
            (false, None, Err(from)) => {
                self.not_known(format!("what {name} runs: what it reads from {from}"));
                return CommandEnd::unknown();
            }
            (_, Some(script), _) => {
                self.not_known(format!("what {} does", script.shown()));
                return CommandEnd::unknown();
            }
            (true, None, _) => return CommandEnd::silent(Outcome::Failure),
        };
        let parameters: Option<Vec<String>> =
            rest.iter().skip(2).map(|one| one.known().map(str::to_owned)).collect();
        self.in_subshell(|shell| {
            shell.state = shell.state.child(Vec::new());
            shell.state.parameters = parameters;
            shell.state.splits = name != "zsh";
            let set: Vec<Argument> = options.into_iter().filter(|one| one.known() != Some("-c")).collect();
            shell.builtin("set", &set, input);
            shell.state.parameters = shell.state.parameters.take().or(None);
            shell.run_text(&text)
        })
    }

    pub(crate) fn xargs(&mut self, arguments: &[Argument], input: &Input) -> CommandEnd {
        let mut at = 0;
        let (mut by_zero, mut by_line, mut replaced, mut skips_empty) = (false, false, None, false);
        while let Some(text) = arguments.get(at).and_then(Argument::known) {
            if !text.starts_with('-') {
                break;
            }
            at += 1;
            let mut value = |short: &str| match text.strip_prefix(short) {
                Some("") => {
                    at += 1;
                    arguments.get(at - 1).and_then(Argument::known).map(str::to_owned)
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
                _ if ["-n", "-P", "-L", "-s"].iter().any(|short| text.starts_with(short)) => {
                    value(&text[..2]);
                }
                _ if text.starts_with("--max-") => {}
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
        let open = is_open.then(|| format!("what it reads: `{}`", shortened(text)));
        let items = from.or(open).map_or(items, |from| vec![Argument::Unknown(from)]);
        if items.is_empty() && (skips_empty || replaced.is_some()) {
            return CommandEnd::silent(Outcome::Success);
        }
        let mut end = CommandEnd::silent(Outcome::Success);
        let rounds = if replaced.is_some() { items.len() } else { 1 };
        for round in 0..rounds {
            let run = match &replaced {
                Some(mark) => self.put_all(command, mark, &items[round]),
                None => [command, &items].concat(),
            };
            if self.flow != Flow::On {
                return CommandEnd::unknown();
            }
            end = self.in_subshell(|shell| {
                shell.state.functions.clear();
                shell.dispatch(&run, &Ok(String::new()))
            });
        }
        CommandEnd { output: None, ..end }
    }

    /// Puts an item in the place of a mark in each part of a command. If that becomes too much, the shell ends here.
    pub(crate) fn put_all(&mut self, command: &[Argument], mark: &str, item: &Argument) -> Vec<Argument> {
        let bytes = |part: &Argument| part.shown().matches(mark).count() * item.shown().len();
        let fits = |shell: &mut Self, part: &Argument| shell.spend(part.shown().len() + bytes(part));
        command.iter().map_while(|part| fits(self, part).then(|| put(part, mark, item))).collect()
    }

    fn unread_xargs(&mut self, arguments: &[Argument]) -> CommandEnd {
        let shown: Vec<&str> = arguments.iter().map(Argument::shown).collect();
        self.not_known(format!("what xargs {} runs", shortened(&shown.join(" "))));
        CommandEnd::unknown()
    }
}

/// Puts an item in the place of a mark.
fn put(part: &Argument, mark: &str, item: &Argument) -> Argument {
    match (part.known(), item.known()) {
        (Some(text), Some(item)) if !mark.is_empty() => Argument::text(text.replace(mark, item)),
        (Some(text), None) if text.contains(mark) => item.clone(),
        _ => part.clone(),
    }
}
