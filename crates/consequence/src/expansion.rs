//! Expansion of a parsed parameter: its value, its default, what is cut off it.

use brush_parser::ast::UnexpandedArithmeticExpr;
use brush_parser::word::{
    Parameter, ParameterExpr, ParameterTestType, ParameterTransformOp, SpecialParameter, SubstringMatchKind,
};

use crate::arithmetic::in_quotes;
use crate::fields::{Argument, UnsetVariable};
use crate::glob::COMPARED;
use crate::interpreter::Interpreter;
use crate::parameter::{name_of, parameter_of, written_in};
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
    /// A number that is not known.
    Number(String),
    Unknown(String),
}

/// What is computed of an expansion that is not.
const NOT_COMPUTED: &str = "an expansion that is not computed";

impl Interpreter<'_> {
    /// Returns what a parameter expansion stands for. Whatever is written in it has been gone through by then.
    pub(crate) fn expand_parameter(&mut self, expression: &ParameterExpr) -> Expanded {
        let expanded = match parameter_of(expression) {
            Some((parameter, false)) => self.computed_expansion(expression, parameter),
            Some((parameter, true)) => self.indirect_expansion(expression, parameter),
            None => None,
        };
        expanded.unwrap_or_else(|| {
            written_in(expression).into_iter().flatten().for_each(|word| self.visit(&in_quotes(word)));
            Expanded::Unknown(NOT_COMPUTED.to_owned())
        })
    }

    fn indirect_expansion(&mut self, expression: &ParameterExpr, parameter: &Parameter) -> Option<Expanded> {
        let name = match self.parameter(parameter) {
            Expanded::Text(name) => name,
            Expanded::Unset(unset) if matches!(expression, ParameterExpr::Parameter { .. }) => {
                return Some(Expanded::Unset(unset));
            }
            Expanded::Unset(_) => return None,
            _ => {
                self.not_known(format!("which variable ${{!{}}} means", name_of(parameter)));
                return None;
            }
        };
        let is_plain = name.chars().all(|c| c.is_alphanumeric() || c == '_')
            && !name.starts_with(|c: char| c.is_ascii_digit());
        self.variable_name("${!…}", &Argument::text(&*name));
        match expression {
            ParameterExpr::Parameter { .. } if is_plain => Some(self.parameter(&Parameter::Named(name))),
            _ => None,
        }
    }

    /// Returns what an expansion stands for; `None` if that is not computed, nor what is written in it gone through.
    fn computed_expansion(&mut self, expression: &ParameterExpr, parameter: &Parameter) -> Option<Expanded> {
        use ParameterExpr as E;
        Some(match expression {
            E::Parameter { .. } => match self.parameter(parameter) {
                Expanded::Text(text) if text.is_empty() => {
                    Expanded::Unset(UnsetVariable { name: name_of(parameter), is_empty: true })
                }
                value => value,
            },
            E::UseDefaultValues { test_type, .. }
            | E::AssignDefaultValues { test_type, .. }
            | E::IndicateErrorIfNullOrUnset { test_type, .. }
            | E::UseAlternativeValue { test_type, .. } => {
                let value = self.value_if_set(parameter, test_type);
                let word = written_in(expression)[0].unwrap_or_default();
                self.tested_expansion(expression, parameter, value, word)
            }
            E::ParameterLength { .. } => self.length(parameter),
            E::RemoveSmallestSuffixPattern { pattern, .. } => {
                self.cut(parameter, pattern.as_deref(), false, false)
            }
            E::RemoveLargestSuffixPattern { pattern, .. } => {
                self.cut(parameter, pattern.as_deref(), false, true)
            }
            E::RemoveSmallestPrefixPattern { pattern, .. } => {
                self.cut(parameter, pattern.as_deref(), true, false)
            }
            E::RemoveLargestPrefixPattern { pattern, .. } => {
                self.cut(parameter, pattern.as_deref(), true, true)
            }
            E::Substring { offset, length, .. } => self.substring(parameter, offset, length.as_ref()),
            E::ReplaceSubstring { pattern, replacement, match_kind, .. } => {
                self.replacement(parameter, pattern, replacement.as_deref().unwrap_or_default(), match_kind)
            }
            E::UppercasePattern { pattern: Some(pattern), .. }
            | E::LowercasePattern { pattern: Some(pattern), .. }
                if !pattern.is_empty() =>
            {
                return None;
            }
            E::UppercasePattern { .. } | E::Transform { op: ParameterTransformOp::ToUpperCase, .. } => {
                self.change_case(parameter, str::to_ascii_uppercase)
            }
            E::LowercasePattern { .. } | E::Transform { op: ParameterTransformOp::ToLowerCase, .. } => {
                self.change_case(parameter, str::to_ascii_lowercase)
            }
            E::Transform { op: ParameterTransformOp::PromptExpand, .. } => match self.parameter(parameter) {
                Expanded::Unset(unset) => Expanded::Unset(unset),
                Expanded::Text(text) if !text.contains(['$', '`', '\\']) => Expanded::Text(text),
                _ => {
                    self.not_known(format!("what ${{{}@P}} runs", name_of(parameter)));
                    return None;
                }
            },
            _ => return None,
        })
    }

    fn substring(
        &mut self,
        parameter: &Parameter,
        offset: &UnexpandedArithmeticExpr,
        length: Option<&UnexpandedArithmeticExpr>,
    ) -> Expanded {
        let mut count = |written: &UnexpandedArithmeticExpr| {
            self.arithmetic(&written.value).and_then(|count| usize::try_from(count).ok())
        };
        let (from, length) = (count(offset), length.map_or(Some(usize::MAX), count));
        match (self.parameter(parameter), from, length) {
            (Expanded::Text(text), Some(from), Some(length)) if text.is_ascii() => {
                Expanded::Text(text.chars().skip(from).take(length).collect())
            }
            (unset @ Expanded::Unset(_), ..) => unset,
            _ => Expanded::Unknown(format!("${{{}:…}}", name_of(parameter))),
        }
    }

    fn length(&mut self, parameter: &Parameter) -> Expanded {
        let is_joined = matches!(
            parameter,
            Parameter::NamedWithAllIndices { concatenate: true, .. }
                | Parameter::Special(SpecialParameter::AllPositionalParameters { concatenate: true })
        );
        match self.parameter(parameter) {
            Expanded::Text(text) if text.is_ascii() && !is_joined => Expanded::Text(text.len().to_string()),
            Expanded::List(list) => Expanded::Text(list.len().to_string()),
            Expanded::Unset(_) => Expanded::Text("0".to_owned()),
            _ => Expanded::Number(format!("${{#{}}}", name_of(parameter))),
        }
    }

    /// Returns what an expansion with a default, another value or an error stands for. `value` has passed its test.
    fn tested_expansion(
        &mut self,
        expression: &ParameterExpr,
        parameter: &Parameter,
        value: Option<Expanded>,
        word: &str,
    ) -> Expanded {
        use ParameterExpr as E;
        let is_open = matches!(value, Some(Expanded::Unknown(_) | Expanded::Number(_)));
        if is_open {
            self.visit(&in_quotes(word));
        }
        match (expression, value) {
            (E::UseAlternativeValue { .. }, Some(Expanded::Number(from))) => Expanded::Unknown(from),
            (E::UseAlternativeValue { .. }, Some(_)) if !is_open => Expanded::Word(word.to_owned()),
            (E::UseAlternativeValue { .. }, None) => Expanded::Text(String::new()),
            (E::IndicateErrorIfNullOrUnset { .. }, Some(value)) => {
                if is_open {
                    self.may_exit();
                }
                value
            }
            (_, Some(value)) => value,
            (E::UseDefaultValues { .. }, None) => Expanded::Word(word.to_owned()),
            (E::AssignDefaultValues { .. }, None) => {
                let value = self.text_of_word(word).map_or_else(|doubt| doubt, Value::Text);
                let expanded = match &value {
                    Value::Text(text) => Expanded::Text(text.clone()),
                    doubt => Expanded::Unknown(doubt.said_text()),
                };
                let is_plain = matches!(parameter, Parameter::Named(_));
                let odd = || Value::Unknown(format!("${}", name_of(parameter)));
                self.set(&name_of(parameter), if is_plain { value } else { odd() });
                expanded
            }
            (_, None) => {
                let _ = self.text_of_word(word);
                self.exit_shell();
                Expanded::Unknown(format!("${{{}:?}}", name_of(parameter)))
            }
        }
    }

    fn replacement(
        &mut self,
        parameter: &Parameter,
        pattern: &str,
        replacement: &str,
        kind: &SubstringMatchKind,
    ) -> Expanded {
        let parts = (self.parameter(parameter), self.text_of_word(pattern), self.text_of_word(replacement));
        let (text, old, new) = match parts {
            (Expanded::Text(text), Ok(old), Ok(new))
                if !old.is_empty() && !old.contains(['*', '?', '[', '\\', '(']) && !new.contains('&') =>
            {
                (text, old, new)
            }
            (unset @ Expanded::Unset(_), ..) => return unset,
            _ => return Expanded::Unknown(format!("${{{}/…}}", name_of(parameter))),
        };
        if text.len() + text.matches(&old).count() * new.len() > MOST_VALUE {
            return Expanded::Unknown(format!("${{{}/…}}", name_of(parameter)));
        }
        let cut = match kind {
            SubstringMatchKind::Anywhere => return Expanded::Text(text.replace(&old, &new)),
            SubstringMatchKind::FirstOccurrence => return Expanded::Text(text.replacen(&old, &new, 1)),
            SubstringMatchKind::Prefix => text.strip_prefix(&old).map(|rest| format!("{new}{rest}")),
            SubstringMatchKind::Suffix => text.strip_suffix(&old).map(|rest| format!("{rest}{new}")),
        };
        Expanded::Text(cut.unwrap_or(text))
    }

    fn change_case(&mut self, parameter: &Parameter, change: fn(&str) -> String) -> Expanded {
        match self.parameter(parameter) {
            Expanded::Text(text) if text.is_ascii() => Expanded::Text(change(&text)),
            Expanded::Text(_) | Expanded::List(_) => Expanded::Unknown(format!("${}", name_of(parameter))),
            other => other,
        }
    }

    /// Returns the value of a parameter that passes the test for its default.
    fn value_if_set(&mut self, parameter: &Parameter, test: &ParameterTestType) -> Option<Expanded> {
        match self.parameter(parameter) {
            Expanded::Unset(_) => None,
            Expanded::Text(text) if text.is_empty() && matches!(test, ParameterTestType::UnsetOrNull) => None,
            Expanded::List(list) if list.is_empty() => None,
            Expanded::List(list) if list.iter().all(String::is_empty) => {
                Some(Expanded::Unknown(format!("${}", name_of(parameter))))
            }
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
            other => {
                self.visit(&in_quotes(pattern.unwrap_or_default()));
                return match other {
                    Expanded::List(_) | Expanded::Number(_) => {
                        Expanded::Unknown(format!("${}", name_of(parameter)))
                    }
                    other => other,
                };
            }
        };
        let Some(pattern) = self.pattern_of_word(pattern.unwrap_or_default()) else {
            return Expanded::Unknown(format!("${{{}}} cut by a pattern", name_of(parameter)));
        };
        // As often as there are characters, up to all of the text is compared.
        if pattern::is_odd(&pattern)
            || text.len() > 4_096
            || !self.spend(text.len() * text.len() * pattern.len() / COMPARED)
        {
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
