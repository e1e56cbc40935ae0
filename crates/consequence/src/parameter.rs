//! Parameters: what an expansion names, its value, and what is written beside it.

use brush_parser::word::{Parameter, ParameterExpr, SpecialParameter};

use crate::expansion::Expanded;
use crate::fields::UnsetVariable;
use crate::interpreter::Interpreter;
use crate::shell_state::{Dialect, Value};

pub(crate) fn name_of(parameter: &Parameter) -> String {
    match parameter {
        Parameter::Positional(number) => number.to_string(),
        Parameter::Named(name)
        | Parameter::NamedWithIndex { name, .. }
        | Parameter::NamedWithAllIndices { name, .. } => name.clone(),
        Parameter::Special(special) => match special {
            SpecialParameter::AllPositionalParameters { .. } => "@",
            SpecialParameter::PositionalParameterCount => "#",
            SpecialParameter::LastExitStatus => "?",
            SpecialParameter::CurrentOptionFlags => "-",
            SpecialParameter::ProcessId => "$",
            SpecialParameter::LastBackgroundProcessId => "!",
            SpecialParameter::ShellName => "0",
        }
        .to_owned(),
    }
}

/// Returns what is written in an expansion and may be expanded in its turn.
pub(crate) fn written_in(expression: &ParameterExpr) -> [Option<&str>; 2] {
    use ParameterExpr as E;
    match expression {
        E::Parameter { .. } | E::ParameterLength { .. } | E::Transform { .. } => [None, None],
        E::VariableNames { .. } | E::MemberKeys { .. } => [None, None],
        E::UseDefaultValues { default_value: word, .. }
        | E::AssignDefaultValues { default_value: word, .. }
        | E::IndicateErrorIfNullOrUnset { error_message: word, .. }
        | E::UseAlternativeValue { alternative_value: word, .. }
        | E::RemoveSmallestSuffixPattern { pattern: word, .. }
        | E::RemoveLargestSuffixPattern { pattern: word, .. }
        | E::RemoveSmallestPrefixPattern { pattern: word, .. }
        | E::RemoveLargestPrefixPattern { pattern: word, .. }
        | E::UppercaseFirstChar { pattern: word, .. }
        | E::UppercasePattern { pattern: word, .. }
        | E::LowercaseFirstChar { pattern: word, .. }
        | E::LowercasePattern { pattern: word, .. } => [word.as_deref(), None],
        E::ReplaceSubstring { pattern, replacement, .. } => [Some(pattern), replacement.as_deref()],
        E::Substring { offset, length, .. } => {
            [Some(&offset.value), length.as_ref().map(|length| &*length.value)]
        }
    }
}

/// Returns the parameter of an expansion, and whether it only names another.
pub(crate) fn parameter_of(expression: &ParameterExpr) -> Option<(&Parameter, bool)> {
    use ParameterExpr as E;
    match expression {
        E::Parameter { parameter, indirect }
        | E::UseDefaultValues { parameter, indirect, .. }
        | E::AssignDefaultValues { parameter, indirect, .. }
        | E::IndicateErrorIfNullOrUnset { parameter, indirect, .. }
        | E::UseAlternativeValue { parameter, indirect, .. }
        | E::ParameterLength { parameter, indirect }
        | E::RemoveSmallestSuffixPattern { parameter, indirect, .. }
        | E::RemoveLargestSuffixPattern { parameter, indirect, .. }
        | E::RemoveSmallestPrefixPattern { parameter, indirect, .. }
        | E::RemoveLargestPrefixPattern { parameter, indirect, .. }
        | E::Substring { parameter, indirect, .. }
        | E::Transform { parameter, indirect, .. }
        | E::UppercaseFirstChar { parameter, indirect, .. }
        | E::UppercasePattern { parameter, indirect, .. }
        | E::LowercaseFirstChar { parameter, indirect, .. }
        | E::LowercasePattern { parameter, indirect, .. }
        | E::ReplaceSubstring { parameter, indirect, .. } => Some((parameter, *indirect)),
        E::VariableNames { .. } | E::MemberKeys { .. } => None,
    }
}

impl Interpreter<'_> {
    /// Returns the value of a parameter.
    pub(crate) fn parameter(&mut self, parameter: &Parameter) -> Expanded {
        let unset = || Expanded::Unset(UnsetVariable { name: name_of(parameter), is_empty: false });
        let list = |value: Value| match value {
            Value::Text(text) => vec![text],
            Value::List(list) => list,
            Value::Number(_) | Value::Unknown(_) => Vec::new(),
        };
        match parameter {
            Parameter::Positional(number) => match &self.state.parameters {
                None => Expanded::Unknown(format!("${number}")),
                Some(all) => usize::try_from(*number)
                    .ok()
                    .and_then(|number| all.get(number.checked_sub(1)?).cloned())
                    .map_or_else(unset, Expanded::Text),
            },
            Parameter::Special(SpecialParameter::AllPositionalParameters { concatenate }) => {
                match self.state.parameters.clone() {
                    None => Expanded::Unknown("$@".to_owned()),
                    Some(all) if *concatenate => self.joined_list(&all),
                    Some(all) => Expanded::List(all),
                }
            }
            Parameter::Special(SpecialParameter::PositionalParameterCount) => match &self.state.parameters {
                None => Expanded::Number("$#".to_owned()),
                Some(all) => Expanded::Text(all.len().to_string()),
            },
            Parameter::Special(
                SpecialParameter::LastExitStatus
                | SpecialParameter::ProcessId
                | SpecialParameter::LastBackgroundProcessId,
            ) => Expanded::Number(format!("${}", name_of(parameter))),
            Parameter::Special(_) => Expanded::Unknown(format!("${}", name_of(parameter))),
            Parameter::Named(name) => match self.state.get(name) {
                None => unset(),
                Some(Value::Unknown(from)) => Expanded::Unknown(from),
                Some(Value::Number(from)) => Expanded::Number(from),
                Some(value) => match list(value).into_iter().next() {
                    Some(text) => Expanded::Text(text),
                    None => unset(),
                },
            },
            Parameter::NamedWithIndex { name, index } => {
                let index = self.subscript(name, index).and_then(|index| usize::try_from(index).ok());
                match (self.state.get(name), index) {
                    (None, _) => unset(),
                    (Some(Value::Unknown(from)), _) => Expanded::Unknown(from),
                    (Some(value), Some(index))
                        if self.state.dialect != Dialect::Zsh && !value.is_number() =>
                    {
                        list(value).get(index).cloned().map_or_else(unset, Expanded::Text)
                    }
                    (Some(_), _) => Expanded::Unknown(format!("${{{name}[…]}}")),
                }
            }
            Parameter::NamedWithAllIndices { name, concatenate } => match self.state.get(name) {
                None => Expanded::List(Vec::new()),
                Some(Value::Unknown(from) | Value::Number(from)) => Expanded::Unknown(from),
                Some(value) if *concatenate => self.joined_list(&list(value)),
                Some(value) => Expanded::List(list(value)),
            },
        }
    }

    /// Returns a list as one text, as `$*` is.
    fn joined_list(&self, list: &[String]) -> Expanded {
        match self.state.get("IFS") {
            None => Expanded::Text(list.join(" ")),
            Some(Value::Text(separators)) if !separators.is_empty() => {
                Expanded::Text(list.join(&separators[..separators.chars().next().map_or(0, char::len_utf8)]))
            }
            _ => Expanded::Unknown("words joined by an $IFS that is not known".to_owned()),
        }
    }
}
