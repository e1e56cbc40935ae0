//! Commands that run another command: `sudo`, `env`, `timeout`, `bash -c` and their like.

use super::table::KnownProgram;
use crate::command_end::{CommandEnd, Input, Outcome};
use crate::fields::{Argument, shown_words};
use crate::interpreter::Interpreter;
use crate::shell_state::{Dialect, Value, Variable};

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
            return Some(self.note_unknown(format!("what {name} {} runs", shown_words(arguments))));
        };
        if name == "command" && gives_option(&arguments[..at.min(arguments.len())], &["-v", "-V"]) {
            return Some(CommandEnd::unknown());
        }
        let before = self.state.clone();
        match name {
            "timeout" => at += 1,
            "env" | "sudo" | "doas" => at = self.give_environment(name, arguments, at),
            _ => {}
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

    /// Sets what `env`, `sudo` or `doas`, whose options end at `at`, change for the command they run. Returns where that begins.
    fn give_environment(&mut self, name: &str, arguments: &[Argument], mut at: usize) -> usize {
        let given = &arguments[..at.min(arguments.len())];
        if name == "env" {
            let is_dash = arguments.first().and_then(Argument::known_text) == Some("-");
            at = at.max(usize::from(is_dash));
            if is_dash || gives_option(given, &["-i", "--ignore-environment"]) {
                self.state.variables.clear();
            }
            for (place, option) in given.iter().enumerate() {
                if matches!(option.known_text(), Some("-u" | "--unset"))
                    && let Some(name) = arguments.get(place + 1).and_then(Argument::known_text)
                {
                    self.state.variables.remove(name);
                }
            }
        } else if !gives_option(given, &["-E", "--preserve-env"]) {
            self.state.variables.clear();
            self.state.doubt = Some(format!("{name} may not pass it on"));
        }
        while let Some((name, value)) =
            arguments.get(at).and_then(Argument::known_text).and_then(|text| text.split_once('='))
        {
            let value = Value::Text(value.to_owned());
            self.set(name, value.clone());
            self.state.variables.insert(name.to_owned(), Variable { value, is_exported: true });
            at += 1;
        }
        at
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
                None => return self.note_unknown(format!("what {name} -c runs: {}", text.display_text())),
            },
            (false, None, Ok(text)) => text.clone(),
            (false, None, Err(from)) => {
                return self.note_unknown(format!("what {name} runs: what it reads from {from}"));
            }
            (_, Some(script), _) => return self.note_unknown(format!("what {} does", script.display_text())),
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
}

/// Tells whether one of these options is given.
fn gives_option(given: &[Argument], names: &[&str]) -> bool {
    given.iter().any(|one| names.iter().any(|name| one.begins_with(name)))
}
