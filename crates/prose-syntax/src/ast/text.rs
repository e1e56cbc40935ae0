//! The leaves of a tree: names, counts, and texts with interpolated variables.

use std::borrow::Cow;
use std::num::NonZeroU32;
use std::sync::Arc;

use serde::Serialize;

use crate::source::Span;

/// A value that a program wrote, with its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Spanned<T> {
    pub value: T,
    /// Where it stands.
    pub span: Span,
}

/// An identifier. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Name {
    /// The identifier.
    pub text: Arc<str>,
    /// Where it stands.
    pub span: Span,
}

impl Name {
    /// Returns the identifier.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl PartialEq<str> for Name {
    fn eq(&self, other: &str) -> bool {
        &*self.text == other
    }
}

/// How often: `repeat 3`, `max: 5`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Count {
    Number(NonZeroU32),
    /// The value of a variable, read when it is needed. Only in `compat`.
    Variable(Name),
}

/// A string, or the text between discretion markers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Text {
    /// Literal text and interpolations, in order; two literals never follow each other.
    pub parts: Vec<TextPart>,
    /// How it is written.
    pub quote: Quote,
    /// From the first quote to the last one.
    pub span: Span,
}

/// A piece of a text.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TextPart {
    /// Text as it is meant, escapes resolved.
    Literal(String),
    /// `{name}`.
    Hole(Name),
}

/// How a text is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Quote {
    /// `"…"`.
    Single,
    /// `"""…"""`.
    Triple,
    /// `**…**`.
    Discretion,
    /// `***…***`.
    LongDiscretion,
}

impl Quote {
    /// Returns whether the text is to be judged by a person or a model.
    pub fn is_discretion(self) -> bool {
        matches!(self, Self::Discretion | Self::LongDiscretion)
    }
}

impl Text {
    /// Returns the variables it interpolates, in order, including repeated ones.
    pub fn holes(&self) -> impl Iterator<Item = &Name> {
        self.parts.iter().filter_map(|part| match part {
            TextPart::Hole(name) => Some(name),
            TextPart::Literal(_) => None,
        })
    }

    /// Returns whether it interpolates nothing and contains at most white space.
    pub fn is_blank(&self) -> bool {
        self.parts.iter().all(|part| matches!(part, TextPart::Literal(text) if text.trim().is_empty()))
    }

    /// Returns whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Returns the text if it interpolates nothing.
    pub fn as_literal(&self) -> Option<&str> {
        match &*self.parts {
            [] => Some(""),
            [TextPart::Literal(text)] => Some(text),
            _ => None,
        }
    }

    /// Returns the text with its interpolations as written, for display.
    pub fn display_text(&self) -> Cow<'_, str> {
        if let Some(text) = self.as_literal() {
            return Cow::Borrowed(text);
        }
        let piece = |part: &TextPart| match part {
            TextPart::Literal(text) => text.clone(),
            TextPart::Hole(name) => format!("{{{}}}", name.text),
        };
        Cow::Owned(self.parts.iter().map(piece).collect())
    }

    /// Returns the text with each interpolation replaced by the result of `value`. Inserted text is not interpolated
    /// again.
    ///
    /// # Errors
    /// The first error that `value` returns.
    pub fn fill<E>(&self, mut value: impl FnMut(&Name) -> Result<String, E>) -> Result<String, E> {
        let mut whole = String::new();
        for part in &self.parts {
            match part {
                TextPart::Literal(text) => whole.push_str(text),
                TextPart::Hole(name) => whole.push_str(&value(name)?),
            }
        }
        Ok(whole)
    }
}

/// Words that are in no grammar and are kept as they stand, for whoever judges them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Opaque {
    /// The words as written, without comments.
    pub text: String,
    /// Where they stand.
    pub span: Span,
}
