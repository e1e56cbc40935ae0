//! Expansion of a parsed parameter: its value, its default, what is cut off it.

use brush_parser::word::{
    Parameter, ParameterExpr, ParameterTestType, ParameterTransformOp, SpecialParameter, SubstringMatchKind,
};

use crate::fields::UnsetVariable;
use crate::glob::COMPARED;
use crate::interpreter::Interpreter;
use crate::pattern::{self, PatternChar};
use crate::shell_state::{MOST_VALUE, Value};

/// What an expansion stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Expanded {
    Text(String),
    /// A list, each element a field of its own within quotes.
    List(Vec<String>),
    /// A word that is expanded in its place, as written.
    Word(String),
    /// Nothing is there.
    Unset(UnsetVariable),
    Unknown(String),
}

fn name_of(parameter: &Parameter) -> String {
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

impl Interpreter<'_> {
    /// Returns the value of a parameter.
    fn parameter(&self, parameter: &Parameter) -> Expanded {
        let unset = || Expanded::Unset(UnsetVariable { name: name_of(parameter), is_empty: false });
        let parameters = || self.state.parameters.clone();
        let list = |value: Value| match value {
            Value::Text(text) => vec![text],
            Value::List(list) => list,
            Value::Unknown(_) => Vec::new(),
        };
        match parameter {
            Parameter::Positional(number) => match parameters() {
                None => Expanded::Unknown(format!("${number}")),
                Some(all) => usize::try_from(*number)
                    .ok()
                    .and_then(|number| all.get(number.checked_sub(1)?).cloned())
                    .map_or_else(unset, Expanded::Text),
            },
            Parameter::Special(SpecialParameter::AllPositionalParameters { concatenate }) => {
                match parameters() {
                    None => Expanded::Unknown("$@".to_owned()),
                    Some(all) if *concatenate => Expanded::Text(all.join(" ")),
                    Some(all) => Expanded::List(all),
                }
            }
            Parameter::Special(SpecialParameter::PositionalParameterCount) => match parameters() {
                None => Expanded::Unknown("$#".to_owned()),
                Some(all) => Expanded::Text(all.len().to_string()),
            },
            Parameter::Special(_) => Expanded::Unknown(format!("${}", name_of(parameter))),
            Parameter::Named(name) => match self.state.get(name) {
                None => unset(),
                Some(Value::Unknown(from)) => Expanded::Unknown(from),
                Some(value) => match list(value).into_iter().next() {
                    Some(text) => Expanded::Text(text),
                    None => unset(),
                },
            },
            Parameter::NamedWithIndex { name, index } => match (self.state.get(name), index.parse::<usize>())
            {
                (None, _) => unset(),
                (Some(Value::Unknown(from)), _) => Expanded::Unknown(from),
                (Some(value), Ok(index)) => {
                    list(value).get(index).cloned().map_or_else(unset, Expanded::Text)
                }
                (Some(_), Err(_)) => Expanded::Unknown(format!("${{{name}[{index}]}}")),
            },
            Parameter::NamedWithAllIndices { name, concatenate } => match self.state.get(name) {
                None => Expanded::List(Vec::new()),
                Some(Value::Unknown(from)) => Expanded::Unknown(from),
                Some(value) if *concatenate => Expanded::Text(list(value).join(" ")),
                Some(value) => Expanded::List(list(value)),
            },
        }
    }

    /// Returns what a parameter expansion stands for.
    pub(crate) fn expand_parameter(&mut self, expression: &ParameterExpr) -> Expanded {
        use ParameterExpr as E;
        match expression {
            E::Parameter { parameter, indirect: false } => match self.parameter(parameter) {
                Expanded::Text(text) if text.is_empty() => {
                    Expanded::Unset(UnsetVariable { name: name_of(parameter), is_empty: true })
                }
                value => value,
            },
            E::Parameter { parameter, indirect: true } => match self.parameter(parameter) {
                Expanded::Text(name) => self.parameter(&Parameter::Named(name)),
                other => other,
            },
            E::UseDefaultValues { parameter, indirect: false, test_type, default_value } => {
                match self.tested(parameter, test_type) {
                    Some(value) => value,
                    None => Expanded::Word(default_value.clone().unwrap_or_default()),
                }
            }
            E::AssignDefaultValues { parameter, indirect: false, test_type, default_value } => {
                match self.tested(parameter, test_type) {
                    Some(value) => value,
                    None => {
                        let word = default_value.clone().unwrap_or_default();
                        let value = self.text_of_word(&word).map_or_else(Value::Unknown, Value::Text);
                        self.state.set(&name_of(parameter), value);
                        Expanded::Word(word)
                    }
                }
            }
            E::IndicateErrorIfNullOrUnset { parameter, indirect: false, test_type, .. } => {
                match self.tested(parameter, test_type) {
                    Some(Expanded::Unknown(from)) => {
                        self.doubt_rest();
                        Expanded::Unknown(from)
                    }
                    Some(value) => value,
                    None => {
                        self.exit_shell();
                        Expanded::Unknown(format!("${{{}:?}}", name_of(parameter)))
                    }
                }
            }
            E::UseAlternativeValue { parameter, indirect: false, test_type, alternative_value } => {
                match self.tested(parameter, test_type) {
                    Some(Expanded::Unknown(from)) => Expanded::Unknown(from),
                    Some(_) => Expanded::Word(alternative_value.clone().unwrap_or_default()),
                    None => Expanded::Text(String::new()),
                }
            }
            E::ParameterLength { parameter, indirect: false } => match self.parameter(parameter) {
                Expanded::Text(text) => Expanded::Text(text.chars().count().to_string()),
                Expanded::List(list) => Expanded::Text(list.len().to_string()),
                Expanded::Unset(_) => Expanded::Text("0".to_owned()),
                other => other,
            },
            E::RemoveSmallestSuffixPattern { parameter, indirect: false, pattern } => {
                self.cut(parameter, pattern.as_deref(), false, false)
            }
            E::RemoveLargestSuffixPattern { parameter, indirect: false, pattern } => {
                self.cut(parameter, pattern.as_deref(), false, true)
            }
            E::RemoveSmallestPrefixPattern { parameter, indirect: false, pattern } => {
                self.cut(parameter, pattern.as_deref(), true, false)
            }
            E::RemoveLargestPrefixPattern { parameter, indirect: false, pattern } => {
                self.cut(parameter, pattern.as_deref(), true, true)
            }
            E::Substring { parameter, indirect: false, offset, length } => {
                let number = |text: &str| text.trim().parse::<usize>().ok();
                let length = length.as_ref().map(|length| number(&length.value));
                match (self.parameter(parameter), number(&offset.value), length) {
                    (Expanded::Text(text), Some(from), None) => {
                        Expanded::Text(text.chars().skip(from).collect())
                    }
                    (Expanded::Text(text), Some(from), Some(Some(length))) => {
                        Expanded::Text(text.chars().skip(from).take(length).collect())
                    }
                    (unset @ Expanded::Unset(_), ..) => unset,
                    _ => Expanded::Unknown(format!("${{{}:…}}", name_of(parameter))),
                }
            }
            E::ReplaceSubstring { parameter, indirect: false, pattern, replacement, match_kind } => {
                let parts = (self.parameter(parameter), self.text_of_word(pattern));
                let new = self.text_of_word(replacement.as_deref().unwrap_or_default());
                match (parts, new) {
                    ((Expanded::Text(text), Ok(old)), Ok(new))
                        if !old.is_empty() && !old.contains(['*', '?', '[', '\\']) && !new.contains('&') =>
                    {
                        if text.len() + text.matches(&old).count() * new.len() > MOST_VALUE {
                            return Expanded::Unknown(format!("${{{}/…}}", name_of(parameter)));
                        }
                        Expanded::Text(match match_kind {
                            SubstringMatchKind::Anywhere => text.replace(&old, &new),
                            SubstringMatchKind::FirstOccurrence => text.replacen(&old, &new, 1),
                            SubstringMatchKind::Prefix => {
                                text.strip_prefix(&old).map_or(text.clone(), |rest| format!("{new}{rest}"))
                            }
                            SubstringMatchKind::Suffix => {
                                text.strip_suffix(&old).map_or(text.clone(), |rest| format!("{rest}{new}"))
                            }
                        })
                    }
                    ((unset @ Expanded::Unset(_), _), _) => unset,
                    _ => Expanded::Unknown(format!("${{{}/…}}", name_of(parameter))),
                }
            }
            E::UppercasePattern { parameter, indirect: false, pattern }
                if pattern.as_ref().is_none_or(String::is_empty) =>
            {
                self.changed(parameter, str::to_uppercase)
            }
            E::LowercasePattern { parameter, indirect: false, pattern }
                if pattern.as_ref().is_none_or(String::is_empty) =>
            {
                self.changed(parameter, str::to_lowercase)
            }
            E::Transform { parameter, indirect: false, op: ParameterTransformOp::ToUpperCase } => {
                self.changed(parameter, str::to_uppercase)
            }
            E::Transform { parameter, indirect: false, op: ParameterTransformOp::ToLowerCase } => {
                self.changed(parameter, str::to_lowercase)
            }
            _ => Expanded::Unknown("an expansion that is not computed".to_owned()),
        }
    }

    fn changed(&self, parameter: &Parameter, change: fn(&str) -> String) -> Expanded {
        match self.parameter(parameter) {
            Expanded::Text(text) => Expanded::Text(change(&text)),
            Expanded::List(_) => Expanded::Unknown(format!("${}", name_of(parameter))),
            other => other,
        }
    }

    /// Returns the value of a parameter that passes the test for its default.
    fn tested(&self, parameter: &Parameter, test: &ParameterTestType) -> Option<Expanded> {
        match self.parameter(parameter) {
            Expanded::Unset(_) => None,
            Expanded::Text(text) if text.is_empty() && matches!(test, ParameterTestType::UnsetOrNull) => None,
            Expanded::List(list) if list.is_empty() => None,
            value => Some(value),
        }
    }

    fn cut(
        &mut self,
        parameter: &Parameter,
        pattern: Option<&str>,
        is_front: bool,
        is_long: bool,
    ) -> Expanded {
        let text = match self.parameter(parameter) {
            Expanded::Text(text) => text,
            Expanded::List(_) => return Expanded::Unknown(format!("${}", name_of(parameter))),
            other => return other,
        };
        let Some(pattern) = self.pattern_of_word(pattern.unwrap_or_default()) else {
            return Expanded::Unknown(format!("${{{}}} cut by a pattern", name_of(parameter)));
        };
        // As often as there are characters, up to all of the text is compared.
        if text.len() > 4_096 || !self.spend(text.len() * text.len() * pattern.len() / COMPARED) {
            return Expanded::Unknown(format!("${}", name_of(parameter)));
        }
        Expanded::Text(cut_text(&text, &pattern, is_front, is_long))
    }
}

/// Cuts the shortest or longest match off an end of a text.
fn cut_text(text: &str, pattern: &[PatternChar], is_front: bool, is_long: bool) -> String {
    let mut ends: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    // The shortest match comes first: of the front at the beginning, of the back at the end.
    if is_front == is_long {
        ends.reverse();
    }
    let fits = |at: &&usize| {
        let part = if is_front { &text[..**at] } else { &text[**at..] };
        pattern::matches(pattern, part)
    };
    match ends.iter().find(fits) {
        Some(at) if is_front => text[*at..].to_owned(),
        Some(at) => text[..*at].to_owned(),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_cut_off_as_in_bash() {
        for (text, pattern, is_front, is_long, left) in [
            ("a/b/c", "*/", true, false, "b/c"),
            ("a/b/c", "*/", true, true, "c"),
            ("a/b/c", "/*", false, false, "a/b"),
            ("a/b/c", "/*", false, true, "a"),
            ("a.tar.gz", ".zip", false, true, "a.tar.gz"),
            ("", "*", false, true, ""),
        ] {
            assert_eq!(cut_text(text, &pattern::read(pattern), is_front, is_long), left);
        }
    }
}
