//! Conditions: what somebody judges, and what old programs compare.

use serde::Serialize;

use super::{Expr, Opaque, Text};
use crate::prose::source::Span;

/// What `if`, `elif` and `loop` ask.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// `**…**`: judged. The only form of the language; all others are accepted in `compat` alone.
    Judged(Text),
    /// `a == b`.
    Compare {
        /// The left side.
        left: Box<Expr>,
        /// What is asked.
        by: Comparison,
        /// The right side.
        right: Box<Expr>,
    },
    /// `not c`.
    Not(Box<Condition>),
    /// `a and b`.
    And(Box<Condition>, Box<Condition>),
    /// `a or b`.
    Or(Box<Condition>, Box<Condition>),
    /// A value that is to be true by itself.
    Value(Box<Expr>),
    /// Words nobody can evaluate: judged.
    Opaque(Opaque),
}

impl Condition {
    /// Returns where it stands.
    #[must_use]
    pub fn span(&self) -> Span {
        match self {
            Self::Judged(text) => text.span,
            Self::Compare { left, right, .. } => left.span().to(right.span()),
            Self::Not(inner) => inner.span(),
            Self::And(left, right) | Self::Or(left, right) => left.span().to(right.span()),
            Self::Value(value) => value.span(),
            Self::Opaque(words) => words.span,
        }
    }
}

/// What a comparison asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Comparison {
    /// `==`.
    Equal,
    /// `!=`.
    NotEqual,
    /// `<`.
    Less,
    /// `<=`.
    LessOrEqual,
    /// `>`.
    Greater,
    /// `>=`.
    GreaterOrEqual,
}
