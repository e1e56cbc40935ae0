//! A simple command: its assignments, its words and its redirections.

use brush_parser::ast::{
    Assignment, AssignmentName, AssignmentValue, CommandPrefixOrSuffixItem, IoFileRedirectKind,
    IoFileRedirectTarget, IoRedirect, SimpleCommand,
};

use crate::command_end::{CommandEnd, Flow, Input, Outcome};
use crate::fields::Argument;
use crate::interpreter::Interpreter;
use crate::shell_state::{Value, Variable};

impl Interpreter<'_> {
    pub(crate) fn run_simple(&mut self, simple: &SimpleCommand, input: &Input) -> CommandEnd {
        let before = simple.prefix.iter().flat_map(|prefix| &prefix.0);
        let after = simple.suffix.iter().flat_map(|suffix| &suffix.0);
        let mut redirects = Vec::new();
        let mut assignments: Vec<&Assignment> = Vec::new();
        for item in before {
            match item {
                CommandPrefixOrSuffixItem::IoRedirect(redirect) => redirects.push(redirect),
                CommandPrefixOrSuffixItem::AssignmentWord(assignment, _) => assignments.push(assignment),
                _ => {}
            }
        }
        let mut arguments: Vec<Argument> = Vec::new();
        // The words of a declaration are not split.
        let mut declared: Vec<&Assignment> = Vec::new();
        if let Some(name) = &simple.word_or_name {
            self.add_arguments(&mut arguments, &name.value);
        }
        let declares = matches!(
            arguments.first().and_then(Argument::known),
            Some("export" | "declare" | "local" | "readonly" | "typeset")
        );
        for item in after {
            match item {
                CommandPrefixOrSuffixItem::IoRedirect(redirect) => redirects.push(redirect),
                CommandPrefixOrSuffixItem::AssignmentWord(assignment, _) if declares => {
                    declared.push(assignment)
                }
                CommandPrefixOrSuffixItem::AssignmentWord(_, word)
                | CommandPrefixOrSuffixItem::Word(word) => {
                    self.add_arguments(&mut arguments, &word.value);
                }
                CommandPrefixOrSuffixItem::ProcessSubstitution(_, list) => {
                    self.in_subshell(|shell| shell.run_list(&list.list));
                    arguments.push(Argument::Unknown("the output of a command".to_owned()));
                }
            }
        }
        if self.flow != Flow::On {
            return CommandEnd::unknown();
        }
        if arguments.is_empty() {
            for assignment in &assignments {
                self.assign(assignment, false);
            }
            let mut end = self.redirected(&redirects, input, |_, _| CommandEnd::silent(Outcome::Success));
            if simple.word_or_name.is_some()
                || assignments.iter().any(|one| one.to_string().contains(['$', '`']))
            {
                end.outcome = Outcome::Unknown;
            }
            return end;
        }
        let saved: Vec<(String, Option<Variable>)> = assignments
            .iter()
            .filter_map(|assignment| match &assignment.name {
                AssignmentName::VariableName(name) => {
                    Some((name.clone(), self.state.variables.get(name).cloned()))
                }
                AssignmentName::ArrayElementName(..) => None,
            })
            .collect();
        for assignment in &assignments {
            self.assign(assignment, true);
        }
        let exports = arguments.first().and_then(Argument::known).is_some_and(|name| name == "export")
            || arguments.iter().any(|argument| argument.known() == Some("-x"));
        for assignment in declared {
            self.assign(assignment, exports);
        }
        let end = self.redirected(&redirects, input, |shell, input| shell.dispatch(&arguments, input));
        for (name, value) in saved {
            match value {
                Some(value) => self.state.variables.insert(name, value),
                None => self.state.variables.remove(&name),
            };
        }
        end
    }

    fn assign(&mut self, assignment: &Assignment, exports: bool) {
        let value = match &assignment.value {
            AssignmentValue::Scalar(word) => match self.text_of_word(&word.value) {
                Ok(text) => Value::Text(text),
                Err(from) => Value::Unknown(from),
            },
            AssignmentValue::Array(elements) => {
                let mut list = Some(Vec::new());
                for (index, word) in elements {
                    for argument in self.arguments_of([&*word.value]) {
                        match (argument.known(), &mut list) {
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
            AssignmentName::ArrayElementName(name, _) => (name, Value::Unknown(format!("${{{name}[…]}}"))),
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
        self.state.set(name, value);
        if exports && let Some(variable) = self.state.variables.get_mut(name) {
            variable.is_exported = true;
        }
    }

    /// Goes through a command with its redirections.
    pub(crate) fn redirected(
        &mut self,
        redirects: &[&IoRedirect],
        input: &Input,
        run: impl FnOnce(&mut Self, &Input) -> CommandEnd,
    ) -> CommandEnd {
        let mut input = input.clone();
        let mut is_printed = true;
        for redirect in redirects {
            let fits = match redirect {
                IoRedirect::OutputAndError(word, appends) => {
                    is_printed = false;
                    self.write_to(&word.value, *appends)
                }
                IoRedirect::HereDocument(_, document) => {
                    input = match document.requires_expansion {
                        true => {
                            self.text_of_word(&format!("\"{}\"", document.doc.value.replace('"', "\\\"")))
                        }
                        false => Ok(document.doc.value.clone()),
                    };
                    true
                }
                IoRedirect::HereString(_, word) => {
                    input = self.text_of_word(&word.value).map(|text| text + "\n");
                    true
                }
                IoRedirect::File(fd, kind, target) => {
                    let is_output =
                        !matches!(kind, IoFileRedirectKind::Read | IoFileRedirectKind::DuplicateInput);
                    is_printed &= !(is_output && fd.unwrap_or(1) == 1);
                    match target {
                        IoFileRedirectTarget::Filename(word) => match kind {
                            IoFileRedirectKind::Write | IoFileRedirectKind::Clobber => {
                                self.write_to(&word.value, false)
                            }
                            IoFileRedirectKind::Append | IoFileRedirectKind::ReadAndWrite => {
                                self.write_to(&word.value, true)
                            }
                            _ => {
                                input = Err(word.value.clone());
                                self.text_of_word(&word.value).is_ok_and(|text| {
                                    self.full(&text)
                                        .is_some_and(|path| self.files.find(&path, true).is_some())
                                }) || self.text_of_word(&word.value).is_err()
                            }
                        },
                        IoFileRedirectTarget::ProcessSubstitution(_, list) => {
                            self.in_subshell(|shell| shell.run_list(&list.list));
                            true
                        }
                        IoFileRedirectTarget::Duplicate(word)
                            if matches!(kind, IoFileRedirectKind::DuplicateOutput) =>
                        {
                            word.value.parse::<i32>().is_ok()
                                || word.value == "-"
                                || self.write_to(&word.value, false)
                        }
                        _ => true,
                    }
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
        if !is_printed {
            end.output = Some(String::new());
        }
        end
    }
}
