//! A simple command: its assignments, its words and its redirections.

use brush_parser::ast::{
    Assignment, AssignmentName, AssignmentValue, CommandPrefixOrSuffixItem, CompoundList, IoFileRedirectKind,
    IoFileRedirectTarget, IoRedirect, SimpleCommand,
};

use crate::arithmetic::in_quotes;
use crate::command_end::{CommandEnd, Flow, Input, Outcome};
use crate::commands::WriteMode;
use crate::fields::Argument;
use crate::interpreter::Interpreter;
use crate::names::shorten;
use crate::shell_state::{Value, Variable};

/// The builtins that declare variables.
const DECLARING: [&str; 5] = ["export", "declare", "local", "readonly", "typeset"];

impl Interpreter<'_> {
    pub(crate) fn run_simple(&mut self, simple: &SimpleCommand, input: &Input) -> CommandEnd {
        let mut redirects = Vec::new();
        let mut assignments: Vec<&Assignment> = Vec::new();
        let mut arguments: Vec<Argument> = Vec::new();
        for item in simple.prefix.iter().flat_map(|prefix| &prefix.0) {
            match item {
                CommandPrefixOrSuffixItem::AssignmentWord(assignment, _) => assignments.push(assignment),
                item => self.add_item(item, &mut arguments, &mut redirects),
            }
        }
        if let Some(name) = &simple.word_or_name {
            self.add_arguments(&mut arguments, &name.value);
        }
        let declares =
            arguments.first().and_then(Argument::known_text).filter(|name| DECLARING.contains(name));
        let declares = declares.map(str::to_owned);
        // The words of a declaration are not split.
        let mut declared: Vec<&Assignment> = Vec::new();
        for item in simple.suffix.iter().flat_map(|suffix| &suffix.0) {
            match item {
                CommandPrefixOrSuffixItem::AssignmentWord(assignment, _) if declares.is_some() => {
                    declared.push(assignment)
                }
                item => self.add_item(item, &mut arguments, &mut redirects),
            }
        }
        if self.flow != Flow::On {
            return CommandEnd::unknown();
        }
        if arguments.is_empty() {
            return self.run_assignments(simple, &assignments, &redirects, input);
        }
        let mut saved: Vec<(String, Option<Variable>)> = Vec::new();
        for assignment in &assignments {
            if let AssignmentName::VariableName(name) = &assignment.name {
                saved.push((name.clone(), self.state.variables.get(name).cloned()));
            }
            self.assign(assignment, true);
        }
        if let Some(name) = &declares {
            self.declare(name, &arguments[1..], &declared);
        }
        let is_permanent = arguments.len() == 1 && arguments[0].known_text() == Some("exec");
        let mut end =
            self.apply_redirects(&redirects, input, |shell, input| shell.dispatch(&arguments, input));
        if is_permanent {
            // From here on, it prints elsewhere.
            end.output = None;
        }
        saved.into_iter().for_each(|(name, before)| self.state.restore(name, before));
        end
    }

    /// Adds a part of a command to its arguments, or to its redirections.
    fn add_item<'c>(
        &mut self,
        item: &'c CommandPrefixOrSuffixItem,
        arguments: &mut Vec<Argument>,
        redirects: &mut Vec<&'c IoRedirect>,
    ) {
        match item {
            CommandPrefixOrSuffixItem::IoRedirect(redirect) => redirects.push(redirect),
            CommandPrefixOrSuffixItem::AssignmentWord(_, word) | CommandPrefixOrSuffixItem::Word(word) => {
                self.add_arguments(arguments, &word.value);
            }
            CommandPrefixOrSuffixItem::ProcessSubstitution(_, list) => {
                arguments.push(self.process(&list.list))
            }
        }
    }

    /// Goes through the command of a process substitution.
    fn process(&mut self, list: &CompoundList) -> Argument {
        self.in_subshell(|shell| shell.run_list(list));
        Argument::Unknown("the output of a command".to_owned())
    }

    /// Goes through a command without a program.
    fn run_assignments(
        &mut self,
        simple: &SimpleCommand,
        assignments: &[&Assignment],
        redirects: &[&IoRedirect],
        input: &Input,
    ) -> CommandEnd {
        for assignment in assignments {
            self.assign(assignment, false);
        }
        let mut end = self.apply_redirects(redirects, input, |_, _| CommandEnd::silent(Outcome::Success));
        if simple.word_or_name.is_some() || assignments.iter().any(|one| one.to_string().contains(['$', '`']))
        {
            end.outcome = Outcome::Unknown;
        }
        // `$(<file)` is what is in the file.
        if redirects.iter().any(|one| matches!(one, IoRedirect::File(_, IoFileRedirectKind::Read, _))) {
            end.output = None;
        }
        end
    }

    /// Goes through what a declaration is told, and what it sets.
    fn declare(&mut self, command: &str, arguments: &[Argument], declared: &[&Assignment]) {
        let options: String = arguments
            .iter()
            .filter_map(Argument::known_text)
            .filter(|text| text.starts_with(['-', '+']))
            .collect();
        let odd = options.contains(['n', 'i', 'u', 'l', 'c', 't', 'I'])
            || (command == "export" && options.contains('f'));
        if odd {
            self.not_known(format!("what {command} {options} makes of variables"));
        }
        let is_local =
            self.calls > 0 && (command == "local" || (command != "export" && command != "readonly"));
        let is_local = is_local && !options.contains(['g', 'p', 'f', 'F']);
        let names = declared.iter().map(|one| match &one.name {
            AssignmentName::VariableName(name) | AssignmentName::ArrayElementName(name, _) => name.clone(),
        });
        let mut names: Vec<String> = names.collect();
        let set = names.clone();
        let words: Vec<&str> = arguments.iter().filter_map(Argument::known_text).collect();
        let words = words.into_iter().filter(|text| !text.starts_with(['-', '+']));
        // A word may be an assignment once it is expanded.
        let (with_value, plain): (Vec<&str>, Vec<&str>) = words.partition(|text| text.contains('='));
        names.extend(plain.iter().filter_map(|name| self.variable_name(command, &Argument::text(*name))));
        names.extend(with_value.iter().filter_map(|text| Some(text.split_once('=')?.0.to_owned())));
        for name in &names {
            if is_local {
                let outer = self.state.variables.get(name).cloned();
                self.locals.push((name.clone(), outer, self.conditions));
            }
            if options.contains('A') {
                self.state.maps.insert(name.clone());
                self.set(name, Value::Unknown(format!("${name}, an array")));
            }
        }
        let exports = command == "export" || options.contains('x');
        for assignment in declared {
            self.assign(assignment, exports);
        }
        with_value.into_iter().for_each(|text| self.declare_word(command, text));
        if is_local {
            for name in plain.into_iter().filter(|name| !set.iter().any(|set| set == name)) {
                self.state.variables.remove(name);
            }
        }
        if exports {
            self.state.exported.extend(names.iter().cloned());
        }
        if command == "readonly" || options.contains('r') {
            self.state.fixed.extend(names);
        }
    }

    /// Goes through a word that is an assignment once it is expanded.
    fn declare_word(&mut self, command: &str, text: &str) {
        let (name, value) = text.split_once('=').unwrap_or((text, ""));
        let is_whole = name.chars().all(|c| c.is_alphanumeric() || c == '_') && !value.starts_with('(');
        match self.variable_name(command, &Argument::text(name)) {
            Some(name) if is_whole => self.set(&name, Value::Text(value.to_owned())),
            Some(name) => {
                let name = name.trim_end_matches('+');
                self.not_known(format!("what {command} {} sets", shorten(text)));
                self.set(name, Value::Unknown(format!("${name}")));
            }
            None => {}
        }
    }

    fn assign(&mut self, assignment: &Assignment, exports: bool) {
        let value = match &assignment.value {
            AssignmentValue::Scalar(word) => match self.text_of_word(&word.value) {
                // A home folder may also be named behind a colon.
                Ok(text) if word.value.contains(":~") => Value::Unknown(text),
                Ok(text) => Value::Text(text),
                Err(doubt) => doubt,
            },
            AssignmentValue::Array(elements) => {
                let mut list = Some(Vec::new());
                for (index, word) in elements {
                    if let (Some(index), AssignmentName::VariableName(name)) = (index, &assignment.name) {
                        self.subscript(name, &index.value);
                    }
                    for argument in self.arguments_of([&*word.value]) {
                        match (argument.known_text(), &mut list) {
                            (Some(text), Some(list)) if index.is_none() => list.push(text.to_owned()),
                            _ => list = None,
                        }
                    }
                }
                list.map_or_else(|| Value::Unknown("an array".to_owned()), Value::List)
            }
        };
        let (name, value) = match &assignment.name {
            AssignmentName::VariableName(name) => (name, value),
            AssignmentName::ArrayElementName(name, index) => {
                self.subscript(name, index);
                (name, Value::Unknown(format!("${{{name}[…]}}")))
            }
        };
        let value = match (assignment.append, value) {
            (false, value) => value,
            (true, value) => match (self.state.get(name), value) {
                (None, value) => value,
                (Some(Value::Text(before)), Value::Text(text)) => Value::Text(before + &text),
                (Some(Value::List(before)), Value::List(more)) => Value::List([before, more].concat()),
                _ => Value::Unknown(format!("${name}")),
            },
        };
        self.set(name, value);
        if exports && let Some(variable) = self.state.variables.get_mut(name) {
            variable.is_exported = true;
        }
    }

    /// Goes through a command with its redirections.
    pub(crate) fn apply_redirects(
        &mut self,
        redirects: &[&IoRedirect],
        input: &Input,
        run: impl FnOnce(&mut Self, &Input) -> CommandEnd,
    ) -> CommandEnd {
        let mut input = input.clone();
        // What a command prints is not printed, or nobody knows where.
        let (mut is_hidden, mut is_open) = (false, false);
        for redirect in redirects {
            let fits = match redirect {
                IoRedirect::OutputAndError(word, appends) => {
                    is_hidden = true;
                    self.write_to(&word.value, if *appends { WriteMode::Append } else { WriteMode::Replace })
                }
                IoRedirect::HereDocument(fd, document) => {
                    let text = match document.requires_expansion {
                        true => self.text_of_word(&in_quotes(&document.doc.value)),
                        false => Ok(document.doc.value.clone()),
                    };
                    let text = text.map(|text| match document.remove_tabs {
                        true => {
                            text.split_inclusive('\n').map(|line| line.trim_start_matches('\t')).collect()
                        }
                        false => text,
                    });
                    if fd.unwrap_or(0) == 0 {
                        input = text.map_err(|doubt| doubt.said_text());
                    }
                    true
                }
                IoRedirect::HereString(fd, word) => {
                    let text = self.text_of_word(&word.value).map(|text| text + "\n");
                    if fd.unwrap_or(0) == 0 {
                        input = text.map_err(|doubt| doubt.said_text());
                    }
                    true
                }
                IoRedirect::File(fd, kind, target) => {
                    let reads = matches!(kind, IoFileRedirectKind::Read | IoFileRedirectKind::DuplicateInput);
                    let is_output = !reads && fd.unwrap_or(1) == 1;
                    if fd.unwrap_or(0) == 0 && (reads || matches!(kind, IoFileRedirectKind::ReadAndWrite)) {
                        input = Err(target.to_string());
                    }
                    let text = target.to_string();
                    let is_device = text.contains("/dev/") && !text.contains("/dev/null");
                    is_open |= !matches!(target, IoFileRedirectTarget::Filename(_)) || is_device;
                    is_hidden |= is_output;
                    self.redirect(kind, target, is_output)
                }
            };
            if !fits {
                return CommandEnd::silent(Outcome::Failure);
            }
        }
        if self.flow != Flow::On {
            return CommandEnd::unknown();
        }
        let mut end = run(self, &input);
        if is_open {
            end.output = None;
        } else if is_hidden {
            end.output = Some(String::new());
        }
        end
    }

    /// Goes through a redirection to or from a file. Tells whether it can be made.
    fn redirect(
        &mut self,
        kind: &IoFileRedirectKind,
        target: &IoFileRedirectTarget,
        is_output: bool,
    ) -> bool {
        let word = match target {
            IoFileRedirectTarget::Filename(word) => word,
            IoFileRedirectTarget::ProcessSubstitution(_, list) => {
                self.process(&list.list);
                return true;
            }
            IoFileRedirectTarget::Fd(_) => return true,
            IoFileRedirectTarget::Duplicate(word) => {
                let is_number = word.value.trim_end_matches('-').chars().all(|c| c.is_ascii_digit());
                let is_file = matches!(kind, IoFileRedirectKind::DuplicateOutput) && is_output && !is_number;
                return match self.text_of_word(&word.value) {
                    Ok(text) if text.trim_end_matches('-').chars().all(|c| c.is_ascii_digit()) => true,
                    _ if is_file => self.write_to(&word.value, WriteMode::Replace),
                    _ => true,
                };
            }
        };
        match kind {
            IoFileRedirectKind::Write => self.write_to(&word.value, WriteMode::Replace),
            IoFileRedirectKind::Clobber => self.write_to(&word.value, WriteMode::Force),
            IoFileRedirectKind::Append => self.write_to(&word.value, WriteMode::Append),
            IoFileRedirectKind::ReadAndWrite => self.write_to(&word.value, WriteMode::Inside),
            _ => match self.text_of_word(&word.value) {
                Ok(text) if text.starts_with("/dev/") || text.starts_with("/proc/") => true,
                Ok(text) => self.full(&text).is_none_or(|path| self.files.find(&path, true).is_some()),
                Err(_) => true,
            },
        }
    }
}
