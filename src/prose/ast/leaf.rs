//! Names, counts, and values that know where they stand.

use std::num::NonZeroU32;
use std::sync::Arc;

use serde::Serialize;

use crate::prose::source::Span;

/// A value that a program wrote, with its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Spanned<T> {
    /// The value.
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
    #[must_use]
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
    /// A number.
    Number(NonZeroU32),
    /// The value of a variable, read when it is needed. Only in `compat`.
    Variable(Name),
}
