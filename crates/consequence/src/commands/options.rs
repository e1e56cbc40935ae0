//! The options and operands of a command, as GNU programs read them.

use crate::fields::Argument;

/// The arguments of a command, sorted out.
#[derive(Debug, Default)]
pub(crate) struct SortedArguments<'a> {
    /// Options by their letter or long name, without dashes, each with its value.
    options: Vec<(String, Option<&'a str>)>,
    pub(crate) operands: Vec<&'a Argument>,
}

impl<'a> SortedArguments<'a> {
    /// Sorts arguments. `letters` are the short options that take a value, `longs` the long ones whose value may be the
    /// next argument.
    pub(crate) fn of(arguments: &'a [Argument], letters: &str, longs: &[&str]) -> Self {
        let mut sorted = Self::default();
        let mut left = arguments.iter();
        while let Some(argument) = left.next() {
            let Some(text) = argument.known_text() else {
                sorted.operands.push(argument);
                continue;
            };
            if text == "--" {
                sorted.operands.extend(left);
                break;
            }
            if let Some(long) = text.strip_prefix("--") {
                let (name, value) = match long.split_once('=') {
                    Some((name, value)) => (name, Some(value)),
                    None => (long, None),
                };
                let value = match value {
                    None if longs.contains(&name) => left.next().and_then(Argument::known_text),
                    value => value,
                };
                sorted.options.push((name.to_owned(), value));
                continue;
            }
            let Some(short) = text.strip_prefix('-').filter(|short| !short.is_empty()) else {
                sorted.operands.push(argument);
                continue;
            };
            for (at, letter) in short.char_indices() {
                if letters.contains(letter) {
                    let rest = &short[at + letter.len_utf8()..];
                    let value =
                        if rest.is_empty() { left.next().and_then(Argument::known_text) } else { Some(rest) };
                    sorted.options.push((letter.to_string(), value));
                    break;
                }
                sorted.options.push((letter.to_string(), None));
            }
        }
        sorted
    }

    /// Tells whether one of these options is given; a long one may be shortened.
    pub(crate) fn has(&self, names: &[&str]) -> bool {
        self.find(names).is_some()
    }

    fn find(&self, names: &[&str]) -> Option<&(String, Option<&'a str>)> {
        let is_it = |given: &str, name: &str| {
            given == name || (given.len() > 2 && name.len() > given.len() && name.starts_with(given))
        };
        self.options.iter().find(|(given, _)| names.iter().any(|name| is_it(given, name)))
    }

    /// Returns the values of these options.
    pub(crate) fn values(&self, names: &[&str]) -> Vec<Option<&'a str>> {
        let given = self.options.iter().filter(|(given, _)| names.contains(&given.as_str()));
        given.map(|(_, value)| *value).collect()
    }

    /// Tells whether a short option is given that the command does not have.
    pub(crate) fn has_other(&self, letters: &str) -> bool {
        self.options.iter().any(|(given, _)| given.chars().count() == 1 && !letters.contains(given.as_str()))
    }

    /// Returns the value of one of these options.
    pub(crate) fn value(&self, names: &[&str]) -> Option<&'a str> {
        self.find(names).and_then(|(_, value)| *value)
    }
}
