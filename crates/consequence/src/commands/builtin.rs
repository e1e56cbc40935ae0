//! The shell's own commands: its folder, its variables, its options, what it prints and when it ends.

use crate::command_end::{CommandEnd, Flow, Input, Outcome};
use crate::commands::options::SortedArguments;
use crate::fields::{Argument, shown_words};
use crate::interpreter::Interpreter;
use crate::names::{shorten, text_of};
use crate::shell_state::{Dialect, Value};

impl Interpreter<'_> {
    /// Goes through one of the shell's own commands; `None` if it is none.
    pub(crate) fn builtin(
        &mut self,
        name: &str,
        arguments: &[Argument],
        input: &Input,
    ) -> Option<CommandEnd> {
        let silent = CommandEnd::silent;
        Some(match name {
            "cd" => self.cd(arguments),
            "pushd" if matches!(arguments, [one] if one.known_text().is_some_and(|text| !text.starts_with(['-', '+']))) => {
                CommandEnd { output: None, ..self.cd(arguments) }
            }
            "pushd" | "popd" => self.lose_folder(),
            "pwd" => match &self.state.folder {
                Some(folder) => CommandEnd::with_output(Outcome::Likely, text_of(folder) + "\n"),
                None => CommandEnd::unknown(),
            },
            ":" | "true" => silent(Outcome::Success),
            "false" => silent(Outcome::Failure),
            // What prints fails where nobody reads it any more.
            "echo" => CommandEnd::with_output(Outcome::Likely, echo_output(arguments)),
            "printf" => self.printf(arguments),
            "test" => silent(self.plain_test(arguments)),
            "[" => match arguments.split_last() {
                Some((last, rest)) if last.known_text() == Some("]") => silent(self.plain_test(rest)),
                _ => silent(Outcome::Failure),
            },
            "export" | "declare" | "local" | "readonly" | "typeset" => self.declare_names(name, arguments),
            "unset" => self.unset(arguments),
            "set" => self.set_options(arguments),
            "shopt" => self.shopt(arguments),
            "shift" => self.shift(arguments),
            "wait" if !arguments.iter().any(|one| one.begins_with("-p")) => silent(Outcome::Unknown),
            "read" | "mapfile" | "readarray" | "getopts" | "wait" => self.read(name, arguments, input),
            "let" => self.run_let(arguments),
            "exit" => self.end(Flow::Exit),
            "return" => self.leave(Flow::Return, self.calls, arguments),
            "break" => self.leave(Flow::Break, self.loops, arguments),
            "continue" => self.leave(Flow::Continue, self.loops, arguments),
            "trap" => self.trap(arguments),
            "eval" => match arguments.iter().find(|one| one.known_text().is_none()) {
                Some(from) => self.run_unknown(format!("what eval runs: {}", from.display_text())),
                None => {
                    let words: Vec<&str> = arguments.iter().map(Argument::display_text).collect();
                    self.run_text(&words.join(" "))
                }
            },
            "source" | "." => {
                let file = arguments.first().map_or("source", Argument::display_text);
                self.run_unknown(format!("what {file} does"))
            }
            "alias" | "hash" | "jobs" | "history" | "fc" | "dirs" => self.show_or_change(name, arguments),
            "kill" => {
                if !self.at_exit.is_empty() {
                    self.may_exit();
                }
                CommandEnd::unknown()
            }
            "unalias" | "umask" | "ulimit" | "type" | "fg" | "bg" | "times" | "disown" | "help" => {
                CommandEnd::unknown()
            }
            _ => return None,
        })
    }

    /// Goes through `let`.
    fn run_let(&mut self, arguments: &[Argument]) -> CommandEnd {
        for argument in arguments {
            match argument.known_text() {
                Some(text) => {
                    self.arithmetic(text);
                }
                None => self.not_known(format!("what let computes: {}", argument.display_text())),
            }
        }
        CommandEnd::silent(Outcome::Unknown)
    }

    /// Goes through a command that shows what it is told nothing else about.
    fn show_or_change(&mut self, name: &str, arguments: &[Argument]) -> CommandEnd {
        let is_plain = |text: &str| !text.contains('=') && !matches!(text, "-p" | "-x" | "-s");
        let takes_plain = !matches!(name, "history" | "fc");
        if !arguments.iter().all(|one| takes_plain && one.known_text().is_some_and(is_plain)) {
            self.not_known(format!("what {name} {} changes", shown_words(arguments)));
        }
        CommandEnd::unknown()
    }

    fn declare_names(&mut self, name: &str, arguments: &[Argument]) -> CommandEnd {
        for argument in arguments {
            match argument.known_text() {
                Some(text) if name == "export" && !text.starts_with('-') => {
                    let text = text.split_once('=').map_or(text, |(name, _)| name);
                    if let Some(variable) = self.state.variables.get_mut(text) {
                        variable.is_exported = true;
                    }
                }
                Some(_) => {}
                None => self.not_known(format!("what {name} {} sets", argument.display_text())),
            }
        }
        CommandEnd { outcome: Outcome::Success, output: (name != "export").then(String::new) }
    }

    /// Goes through a text that is not known.
    fn run_unknown(&mut self, what: String) -> CommandEnd {
        self.not_known(what);
        self.forget_all();
        CommandEnd::unknown()
    }

    /// Goes to a folder that is not known.
    fn lose_folder(&mut self) -> CommandEnd {
        self.state.last_folder = self.state.folder.take();
        CommandEnd::silent(Outcome::Unknown)
    }

    /// Forgets what a text that is not known may have set.
    pub(crate) fn forget_all(&mut self) {
        self.state.doubt = Some("a text that is not known may set it".to_owned());
        self.state.variables.clear();
        self.state.folder = None;
        self.state.parameters = None;
        self.doubt_rest();
    }

    /// Goes through the end of a loop or function, of which `within` are around it.
    fn leave(&mut self, flow: Flow, within: usize, arguments: &[Argument]) -> CommandEnd {
        let levels = arguments.first().map_or(Some("1"), Argument::known_text);
        if flow != Flow::Return && levels != Some("1") {
            self.not_known(format!("which loops are left: {}", levels.unwrap_or("not known")));
        }
        if within > 0 {
            return self.end(flow);
        }
        // There bash goes on; others may not.
        if self.state.dialect != Dialect::Bash {
            self.may_exit();
        }
        CommandEnd::silent(Outcome::Unknown)
    }

    fn unset(&mut self, arguments: &[Argument]) -> CommandEnd {
        let has = |option: &str| arguments.iter().any(|one| one.known_text() == Some(option));
        let (only_functions, only_variables) = (has("-f"), has("-v"));
        for argument in arguments.iter().filter(|one| !one.begins_with("-")) {
            let Some(name) = self.variable_name("unset", argument) else { continue };
            if argument.known_text() != Some(&*name) {
                self.set(&name, Value::Unknown(format!("${name}")));
            } else if !only_functions
                && self.state.variables.contains_key(&name)
                && !self.state.fixed.contains(&name)
            {
                self.state.variables.remove(&name);
            } else if !only_variables {
                self.state.functions.remove(&name);
            }
        }
        CommandEnd::silent(Outcome::Success)
    }

    fn shift(&mut self, arguments: &[Argument]) -> CommandEnd {
        let count = arguments.first().map_or(Some(1), |one| one.known_text()?.parse::<usize>().ok());
        self.state.parameters = match (self.state.parameters.take(), count) {
            (Some(all), Some(count)) if count <= all.len() => Some(all.into_iter().skip(count).collect()),
            (Some(all), Some(_)) => Some(all),
            _ => None,
        };
        CommandEnd::silent(Outcome::Unknown)
    }

    fn read(&mut self, command: &str, arguments: &[Argument], input: &Input) -> CommandEnd {
        if arguments.iter().any(|one| one.begins_with("-C")) {
            self.not_known(format!("what {command} calls"));
        }
        let from = input.as_ref().err().map_or("its input", String::as_str);
        let given = arguments.iter().filter(|one| !one.begins_with("-"));
        let mut names: Vec<String> =
            given.filter_map(|argument| self.variable_name(command, argument)).collect();
        names.extend(["REPLY", "MAPFILE", "OPTARG"].map(str::to_owned));
        for name in names {
            if name.chars().all(|c| c.is_alphanumeric() || c == '_') {
                self.set(&name, Value::Unknown(format!("${name} (read from {from})")));
            }
        }
        CommandEnd::silent(Outcome::Unknown)
    }

    fn end(&mut self, flow: Flow) -> CommandEnd {
        self.flow = flow;
        CommandEnd::silent(Outcome::Unknown)
    }

    fn cd(&mut self, arguments: &[Argument]) -> CommandEnd {
        let sorted = SortedArguments::of(arguments, "", &[]);
        if sorted.has_other("LPe@") || sorted.operands.len() > 1 {
            // Not every shell refuses several folders.
            if self.state.dialect == Dialect::Bash {
                return CommandEnd::silent(Outcome::Failure);
            }
            return self.lose_folder();
        }
        let (is_physical, operands) = (sorted.has(&["P"]), sorted.operands);
        let home = self.state.get("HOME");
        let argument = match (operands.first(), home) {
            (Some(operand), _) => (*operand).clone(),
            (None, Some(Value::Text(home))) => Argument::text(home),
            (None, _) => Argument::Unknown("the home folder".to_owned()),
        };
        let Some(text) = argument.known_text() else {
            return self.lose_folder();
        };
        if text.is_empty() {
            return CommandEnd::silent(Outcome::Success);
        }
        let last = || self.state.last_folder.clone();
        let Some(path) = (if text == "-" { last() } else { self.full(text) }) else {
            return self.lose_folder();
        };
        if self.state.variables.contains_key("CDPATH") && !text.starts_with(['/', '.']) {
            return self.lose_folder();
        }
        let path = match is_physical {
            true => self.files.resolve(&path, true).unwrap_or(path),
            false => path,
        };
        // The shell takes `..` off the path as it names it.
        let mut named = std::path::PathBuf::from("/");
        for part in path.components() {
            match part {
                std::path::Component::ParentDir => {
                    named.pop();
                }
                std::path::Component::Normal(part) => named.push(part),
                _ => {}
            }
        }
        if !self.has_folder(&named) {
            self.state.missed = Some(text.to_owned());
            return CommandEnd::silent(Outcome::Failure);
        }
        if self.files.resolve(&named, true).is_some_and(|path| self.files.is_possible(&path)) {
            return self.lose_folder();
        }
        self.state.missed = None;
        self.state.last_folder = self.state.folder.replace(named);
        CommandEnd { outcome: Outcome::Likely, output: (text != "-").then(String::new) }
    }

    fn printf(&mut self, arguments: &[Argument]) -> CommandEnd {
        if let [flag, name, ..] = arguments
            && flag.known_text() == Some("-v")
        {
            if let Some(name) = self.variable_name("printf", name) {
                self.set(&name, Value::Unknown(format!("${name} (from printf)")));
            }
            return CommandEnd::silent(Outcome::Success);
        }
        let known: Option<Vec<&str>> = arguments.iter().map(Argument::known_text).collect();
        let output = known.and_then(|known| match known[..] {
            [format] if !format.contains(['%', '\\']) => Some(format.to_owned()),
            ["%s\\n", ref rest @ ..] => Some(rest.iter().map(|text| format!("{text}\n")).collect()),
            ["%s\\0", ref rest @ ..] => Some(rest.iter().map(|text| format!("{text}\0")).collect()),
            ["%s", ref rest @ ..] => Some(rest.concat()),
            [format]
                if !format.contains('%') && format.matches('\\').count() == format.matches("\\n").count() =>
            {
                Some(format.replace("\\n", "\n"))
            }
            _ => None,
        });
        CommandEnd::with_output(Outcome::Likely, output)
    }

    fn trap(&mut self, arguments: &[Argument]) -> CommandEnd {
        let arguments = match arguments.split_first() {
            Some((first, rest)) if first.known_text() == Some("--") => rest,
            _ => arguments,
        };
        match arguments.split_first() {
            Some((text, signals)) if !signals.is_empty() => match text.known_text() {
                Some("" | "-" | "-p" | "-l") => {}
                Some(text) => {
                    let text = text.to_owned();
                    let is_exit = |one: &Argument| matches!(one.known_text(), Some("EXIT" | "0" | "exit"));
                    if !signals.iter().all(is_exit) {
                        self.trap_any_time(&text);
                    }
                    self.at_exit.push(text);
                }
                None => self.not_known(format!("what a trap runs: {}", text.display_text())),
            },
            _ => {}
        }
        CommandEnd::silent(Outcome::Success)
    }

    /// Goes through what runs at any time: nothing is known then of the shell, which it must leave as it is.
    fn trap_any_time(&mut self, text: &str) {
        let (mut is_same, mut ends) = (true, false);
        self.in_subshell(|shell| {
            shell.forget_all();
            // Whatever leaves this folder changes this.
            shell.state.last_folder = Some("/".into());
            let before = shell.state.clone();
            let end = shell.run_text(text);
            (is_same, ends) = (shell.state.is_same(&before), shell.flow != Flow::On);
            end
        });
        if !is_same {
            self.not_known(format!("when a trap runs `{}`", shorten(text)));
        }
        if ends {
            self.may_exit();
        }
    }
}

/// Returns what `echo` prints.
fn echo_output(arguments: &[Argument]) -> Option<String> {
    let words: Option<Vec<&str>> = arguments.iter().map(Argument::known_text).collect();
    match words?.split_first() {
        None => Some("\n".to_owned()),
        Some((&"-n", rest)) if !rest.first().is_some_and(|text| text.starts_with('-')) => {
            let text = rest.join(" ");
            (!text.contains('\\')).then_some(text)
        }
        Some((first, _)) if first.starts_with('-') => None,
        Some((first, rest)) => {
            let text = std::iter::once(first).chain(rest).copied().collect::<Vec<_>>().join(" ");
            // Other shells' echo reads backslashes.
            (!text.contains('\\')).then_some(text + "\n")
        }
    }
}
