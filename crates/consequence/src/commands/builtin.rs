//! The shell's own commands: its folder, its variables, its options, what it prints and when it ends.

use crate::command_end::{CommandEnd, Flow, Input, Outcome};
use crate::commands::options::SortedArguments;
use crate::fields::Argument;
use crate::interpreter::Interpreter;
use crate::look::FileKind;
use crate::names::text_of;
use crate::shell_state::Value;

/// The options of `set` and `shopt` that change what is computed.
const OPTIONS: [(&str, &str); 11] = [
    ("e", "errexit"),
    ("u", "nounset"),
    ("f", "noglob"),
    ("C", "noclobber"),
    ("a", "allexport"),
    ("", "nullglob"),
    ("", "dotglob"),
    ("", "failglob"),
    ("", "globstar"),
    ("", "nocaseglob"),
    ("", "extglob"),
];

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
            "cd" | "pushd" => self.cd(arguments),
            "popd" => {
                self.state.folder = None;
                silent(Outcome::Unknown)
            }
            "pwd" => match &self.state.folder {
                Some(folder) => CommandEnd::printed(Outcome::Success, text_of(folder.as_os_str()) + "\n"),
                None => CommandEnd::unknown(),
            },
            ":" | "true" => silent(Outcome::Success),
            "false" => silent(Outcome::Failure),
            "echo" => CommandEnd::printed(Outcome::Success, echoed(arguments)),
            "printf" => self.printf(arguments),
            "test" => silent(self.plain_test(arguments)),
            "[" => match arguments.split_last() {
                Some((last, rest)) if last.known() == Some("]") => silent(self.plain_test(rest)),
                _ => silent(Outcome::Failure),
            },
            "export" | "declare" | "local" | "readonly" | "typeset" => {
                for argument in arguments {
                    match argument.known() {
                        Some(text) if name == "export" && !text.starts_with('-') => {
                            if let Some(variable) = self.state.variables.get_mut(text) {
                                variable.is_exported = true;
                            }
                        }
                        Some(_) => {}
                        None => self.not_known(format!("what {name} {} sets", argument.shown())),
                    }
                }
                silent(Outcome::Success)
            }
            "unset" => {
                for argument in arguments.iter().filter_map(Argument::known) {
                    self.state.variables.remove(argument);
                    self.state.functions.remove(argument);
                }
                silent(Outcome::Success)
            }
            "set" => self.set_options(arguments),
            "shopt" => {
                let is_on = arguments.iter().any(|argument| argument.known() == Some("-s"));
                for (_, option) in OPTIONS {
                    if arguments.iter().any(|argument| argument.known() == Some(option)) {
                        self.option(option, is_on);
                    }
                }
                silent(Outcome::Success)
            }
            "shift" => {
                let count = arguments.first().map_or(Some(1), |one| one.known()?.parse::<usize>().ok());
                self.state.parameters = match (self.state.parameters.take(), count) {
                    (Some(all), Some(count)) => Some(all.into_iter().skip(count).collect()),
                    _ => None,
                };
                silent(Outcome::Unknown)
            }
            "read" | "mapfile" | "readarray" | "getopts" | "wait" => {
                let from = input.as_ref().err().map_or("its input", String::as_str);
                let mut names: Vec<&str> = arguments
                    .iter()
                    .filter_map(Argument::known)
                    .filter(|name| !name.starts_with('-'))
                    .collect();
                names.extend(["REPLY", "MAPFILE", "OPTARG"]);
                for name in names {
                    if name.chars().all(|c| c.is_alphanumeric() || c == '_') {
                        self.state.set(name, Value::Unknown(format!("${name} (read from {from})")));
                    }
                }
                silent(Outcome::Unknown)
            }
            "let" => {
                for argument in arguments.iter().filter_map(Argument::known) {
                    self.forget_arithmetic(&format!("{argument}="));
                }
                silent(Outcome::Unknown)
            }
            "exit" => self.end(Flow::Exit),
            "return" => self.end(Flow::Return),
            "break" => self.end(Flow::Break),
            "continue" => self.end(Flow::Continue),
            "trap" => self.trap(arguments),
            "eval" => {
                let known: Option<Vec<&str>> = arguments.iter().map(Argument::known).collect();
                match known {
                    Some(words) => self.run_text(&words.join(" ")),
                    None => {
                        let from = arguments.iter().find(|one| one.known().is_none());
                        self.not_known(format!("what eval runs: {}", from.map_or("", Argument::shown)));
                        self.forget_all();
                        CommandEnd::unknown()
                    }
                }
            }
            "source" | "." => {
                self.not_known(format!("what {} does", arguments.first().map_or("source", Argument::shown)));
                self.forget_all();
                CommandEnd::unknown()
            }
            "alias" | "unalias" | "umask" | "ulimit" | "hash" | "type" | "jobs" | "fg" | "bg" | "times"
            | "dirs" | "disown" | "history" | "help" | "logout" => {
                CommandEnd { outcome: Outcome::Unknown, output: None }
            }
            _ => return None,
        })
    }

    /// Forgets what a text that is not known may have set.
    pub(crate) fn forget_all(&mut self) {
        self.state.doubt = Some("a text that is not known may set it".to_owned());
        self.state.variables.clear();
        self.state.folder = None;
        self.state.parameters = None;
        self.doubt_rest();
    }

    fn end(&mut self, flow: Flow) -> CommandEnd {
        self.flow = flow;
        CommandEnd { outcome: Outcome::Unknown, output: Some(String::new()) }
    }

    fn cd(&mut self, arguments: &[Argument]) -> CommandEnd {
        let sorted = SortedArguments::of(arguments, "", &[]);
        if sorted.has_other("LPe@") || sorted.operands.len() > 1 {
            // Not every shell refuses several folders.
            return CommandEnd::silent(if self.state.splits { Outcome::Failure } else { Outcome::Unknown });
        }
        let operands = sorted.operands;
        let home = self.state.get("HOME");
        let argument = match (operands.first(), home) {
            (Some(operand), _) => (*operand).clone(),
            (None, Some(Value::Text(home))) => Argument::text(home),
            (None, _) => Argument::Unknown("the home folder".to_owned()),
        };
        let Some(text) = argument.known() else {
            self.state.folder = None;
            return CommandEnd::silent(Outcome::Unknown);
        };
        if text.is_empty() {
            return CommandEnd::silent(Outcome::Success);
        }
        let last = || self.state.last_folder.clone();
        let Some(path) = (if text == "-" { last() } else { self.full(text) }) else {
            self.state.folder = None;
            return CommandEnd::silent(Outcome::Unknown);
        };
        if self.state.variables.contains_key("CDPATH") && !text.starts_with(['/', '.']) {
            self.state.folder = None;
            return CommandEnd::silent(Outcome::Unknown);
        }
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
        let is_there = self.files.find(&named, true).is_some_and(|file| file.stat.kind == FileKind::Folder);
        if !is_there {
            self.state.missed = Some(text.to_owned());
            return CommandEnd::silent(Outcome::Failure);
        }
        if self.files.resolve(&named, true).is_some_and(|path| self.files.is_possible(&path)) {
            self.state.folder = None;
            return CommandEnd::silent(Outcome::Unknown);
        }
        self.state.missed = None;
        self.state.last_folder = self.state.folder.replace(named);
        CommandEnd { outcome: Outcome::Likely, output: (text != "-").then(String::new) }
    }

    fn printf(&mut self, arguments: &[Argument]) -> CommandEnd {
        if let [flag, name, ..] = arguments
            && flag.known() == Some("-v")
        {
            if let Some(name) = name.known() {
                self.state.set(name, Value::Unknown(format!("${name} (from printf)")));
            }
            return CommandEnd::silent(Outcome::Success);
        }
        let known: Option<Vec<&str>> = arguments.iter().map(Argument::known).collect();
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
        CommandEnd::printed(Outcome::Success, output)
    }

    fn option(&mut self, name: &'static str, is_on: bool) {
        if is_on {
            self.state.options.insert(name);
        } else {
            self.state.options.remove(name);
        }
    }

    fn set_options(&mut self, arguments: &[Argument]) -> CommandEnd {
        let mut left = arguments.iter();
        while let Some(argument) = left.next() {
            let Some(text) = argument.known() else {
                self.state.parameters = None;
                break;
            };
            let is_on = text.starts_with('-');
            match text {
                "--" => {
                    self.state.parameters = left.map(|one| one.known().map(str::to_owned)).collect();
                    break;
                }
                _ if !text.starts_with(['-', '+']) => {
                    let all = std::iter::once(argument).chain(left);
                    self.state.parameters = all.map(|one| one.known().map(str::to_owned)).collect();
                    break;
                }
                _ => {}
            }
            for letter in text[1..].chars() {
                let name = if letter == 'o' { left.next().and_then(Argument::known) } else { None };
                for (short, option) in OPTIONS {
                    if name.map_or(!short.is_empty() && short.starts_with(letter), |name| name == option) {
                        self.option(option, is_on);
                    }
                }
            }
        }
        CommandEnd::silent(Outcome::Success)
    }

    fn trap(&mut self, arguments: &[Argument]) -> CommandEnd {
        match arguments.split_first() {
            Some((text, signals)) if !signals.is_empty() => match text.known() {
                Some("" | "-") => {}
                Some(text) => {
                    let text = text.to_owned();
                    self.at_exit.push(text);
                }
                None => self.not_known(format!("what a trap runs: {}", text.shown())),
            },
            _ => {}
        }
        CommandEnd::silent(Outcome::Success)
    }
}

/// Returns what `echo` prints.
fn echoed(arguments: &[Argument]) -> Option<String> {
    let words: Option<Vec<&str>> = arguments.iter().map(Argument::known).collect();
    match words?.split_first() {
        None => Some("\n".to_owned()),
        Some((&"-n", rest)) => Some(rest.join(" ")),
        Some((first, _)) if first.starts_with('-') => None,
        Some((first, rest)) => {
            let text = std::iter::once(first).chain(rest).copied().collect::<Vec<_>>().join(" ");
            // Other shells' echo reads backslashes.
            (!text.contains('\\')).then_some(text + "\n")
        }
    }
}
