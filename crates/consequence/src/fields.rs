//! The arguments that a word becomes: split into fields, with what is known of each.

use std::rc::Rc;

use crate::names::{cut, shorten};
use crate::pattern::PatternChar;
use crate::shell_state::{MOST_VALUE, Value};

/// One argument of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Argument {
    /// Its text, and how the word was written.
    Known(KnownArgument),
    /// What it comes from.
    Unknown(String),
}

/// An argument whose text is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KnownArgument {
    pub(crate) text: String,
    /// The word as written.
    pub(crate) written: Rc<str>,
    /// The variables in it that are not set, or empty.
    pub(crate) unset: Rc<[UnsetVariable]>,
}

/// A variable that stands for nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UnsetVariable {
    pub(crate) name: String,
    /// Whether it is set, to nothing.
    pub(crate) is_empty: bool,
}

impl Argument {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        let text = text.into();
        Self::Known(KnownArgument { written: text.as_str().into(), text, unset: [].into() })
    }

    /// Returns its text, if that is known.
    pub(crate) fn known_text(&self) -> Option<&str> {
        match self {
            Self::Known(known) => Some(&known.text),
            Self::Unknown(_) => None,
        }
    }

    /// Tells whether it is known to begin with a text.
    pub(crate) fn begins_with(&self, text: &str) -> bool {
        self.known_text().is_some_and(|own| own.starts_with(text))
    }

    /// Returns how it can be shown.
    pub(crate) fn display_text(&self) -> &str {
        match self {
            Self::Known(known) => &known.text,
            Self::Unknown(from) => from,
        }
    }
}

/// Returns the words of a command as a sentence shows them.
pub(crate) fn shown_words(arguments: &[Argument]) -> String {
    shorten(&arguments.iter().map(Argument::display_text).collect::<Vec<_>>().join(" "))
}

/// A field before its pattern is expanded.
pub(crate) type Field = Vec<PatternChar>;

/// The fields of a word, piece by piece.
#[derive(Debug, Default)]
pub(crate) struct FieldBuilder {
    pub(crate) done: Vec<Field>,
    current: Field,
    /// How many bytes have been added.
    pub(crate) bytes: usize,
    /// Whether the current field exists though nothing is in it.
    is_open: bool,
    pub(crate) unset: Vec<UnsetVariable>,
    pub(crate) unknown: Option<String>,
    /// Whether all that is not known are numbers.
    is_number: bool,
    /// Whether a number in it is any number.
    pub(crate) is_estimated: bool,
}

impl FieldBuilder {
    /// Adds text that is written in the word.
    pub(crate) fn literal(&mut self, text: &str, is_quoted: bool) {
        self.is_open |= is_quoted || !text.is_empty();
        if !self.takes(text) {
            return;
        }
        self.current.extend(text.chars().map(|c| (c, is_quoted)));
    }

    /// Adds the value of an expansion, which is split unless it is quoted.
    pub(crate) fn value(&mut self, text: &str, is_quoted: bool, splits: Option<&str>) {
        let Some(separators) = splits.filter(|_| !is_quoted) else {
            return self.literal(text, is_quoted);
        };
        if !self.takes(text) {
            return;
        }
        for c in text.chars() {
            if separators.contains(c) {
                if !self.is_open && !c.is_whitespace() {
                    self.unknown("a word with an empty part");
                }
                self.end_field();
            } else {
                self.is_open = true;
                self.current.push((c, c == '\\'));
            }
        }
    }

    /// Counts text that is added; returns whether there is room for it.
    fn takes(&mut self, text: &str) -> bool {
        self.bytes += text.len();
        let fits = self.bytes <= MOST_VALUE;
        if !fits {
            (self.done, self.current) = (Vec::new(), Vec::new());
            self.unknown("a text that is too long");
        }
        fits
    }

    /// Ends a field, if one has begun.
    pub(crate) fn end_field(&mut self) {
        if std::mem::take(&mut self.is_open) {
            self.done.push(std::mem::take(&mut self.current));
        }
    }

    /// Notes that nothing is known about the word.
    pub(crate) fn unknown(&mut self, from: impl Into<String>) {
        self.is_number = false;
        self.unknown.get_or_insert_with(|| cut(from.into()));
    }

    /// Adds a number that is not known.
    pub(crate) fn number(&mut self, from: impl Into<String>) {
        self.is_number |= self.unknown.is_none();
        self.unknown.get_or_insert_with(|| cut(from.into()));
    }

    /// Returns what is not known, if anything.
    pub(crate) fn doubt(&self) -> Option<Value> {
        let from = self.unknown.clone()?;
        let mut written = self.done.iter().flatten();
        let is_number = self.is_number && written.all(|(c, _)| c.is_ascii_digit() || *c == '-');
        Some(if is_number { Value::Number(from) } else { Value::Unknown(from) })
    }
}
