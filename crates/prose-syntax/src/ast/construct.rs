//! Constructs with a body: branches, loops, decisions, attempts; and their conditions.

use std::num::NonZeroU32;

use serde::Serialize;

use super::{Count, Expr, Name, Opaque, Statement, Statements, Text};
use crate::source::Span;

/// `do name(a, b)`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Invocation {
    pub block: Name,
    /// What its parameters are.
    pub arguments: Vec<Expr>,
    /// The whole expression.
    pub span: Span,
}

/// `parallel (…):`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Parallel {
    /// When it is over.
    pub join: Join,
    /// What failures do.
    pub on_fail: ParallelOnFail,
    /// What runs at the same time.
    pub branches: Vec<Branch>,
    /// The whole block.
    pub span: Span,
}

impl Parallel {
    /// Returns whether it can complete, and the program continue, without some of its branches.
    pub fn goes_on_without_some(&self) -> bool {
        let needed = match self.join {
            Join::All => return false,
            Join::First => 1,
            Join::Any(count) => usize::try_from(count.get()).unwrap_or(usize::MAX),
        };
        needed < self.branches.len()
    }
}

/// When a parallel block is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Join {
    /// When all branches are.
    All,
    /// When the first branch is.
    First,
    /// When so many branches have succeeded.
    Any(NonZeroU32),
}

/// What failures of branches do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, strum::EnumString, strum::VariantNames)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "kebab-case")]
pub enum ParallelOnFail {
    /// The first one ends the other branches.
    FailFast,
    /// All branches continue, and failures are reported.
    Continue,
    /// Nothing.
    Ignore,
}

/// A branch of a parallel block.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Branch {
    /// `name = …`: the value is bound after the block.
    Named {
        /// The variable.
        name: Name,
        value: Box<Expr>,
    },
    Statement(Statement),
}

/// `repeat 3 as i:`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Repeat {
    /// How often.
    pub count: Count,
    /// The variable that counts from 0.
    pub index: Option<Name>,
    /// What is repeated.
    pub body: Statements,
    /// The whole block.
    pub span: Span,
}

/// `for x, i in xs:`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct For {
    /// One after the other, or all at once.
    pub mode: ForMode,
    /// What failures do if they run all at once; not in the language.
    pub on_fail: ParallelOnFail,
    /// The variable of the element.
    pub item: Name,
    /// The variable that counts from 0.
    pub index: Option<Name>,
    /// What it goes over.
    pub collection: Box<Expr>,
    /// What is done with each.
    pub body: Statements,
    /// The whole block.
    pub span: Span,
}

/// How the iterations of `for` run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ForMode {
    /// One after the other.
    Sequential,
    /// All at once.
    Parallel,
}

/// `loop until **…** (max: 5) as i:`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Loop {
    /// When it is over.
    pub test: LoopTest,
    /// How often at most.
    pub max: Option<Count>,
    /// The variable that counts from 0.
    pub index: Option<Name>,
    /// What is repeated.
    pub body: Statements,
    /// The whole block.
    pub span: Span,
}

/// When a loop is over. The condition is asked before each pass.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LoopTest {
    /// Never on its own.
    Forever,
    /// As soon as this holds.
    Until(Condition),
    /// As soon as this no longer holds.
    While(Condition),
}

/// `try:` with its `catch:` and `finally:`, of which there is at least one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Try {
    /// What is tried.
    pub body: Statements,
    /// What is done about an error.
    pub catch: Option<Catch>,
    /// What is done in any case.
    pub finally: Option<Statements>,
    /// The whole block.
    pub span: Span,
}

/// `catch as err:`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Catch {
    /// The variable of the error.
    pub error: Option<Name>,
    /// What is done about it.
    pub body: Statements,
    /// The whole clause.
    pub span: Span,
}

/// `choice **…**:`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChoiceExpr {
    /// What decides.
    pub criteria: Text,
    /// What there is to choose from, at least one.
    pub options: Vec<ChoiceOption>,
    /// The whole block.
    pub span: Span,
}

/// `option "…":`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChoiceOption {
    pub label: Text,
    /// What is done when it is chosen.
    pub body: Statements,
    /// The whole option.
    pub span: Span,
}

/// `if … elif … else`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct If {
    /// `if` and each `elif`, in order.
    pub arms: Vec<Arm>,
    /// `else`.
    pub otherwise: Option<Statements>,
    /// The whole statement.
    pub span: Span,
}

/// A condition and what is done when it holds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Arm {
    pub condition: Condition,
    /// What is done.
    pub body: Statements,
    /// The whole arm.
    pub span: Span,
}

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
    /// A value used as a condition.
    Value(Box<Expr>),
    /// Words nobody can evaluate: judged.
    Opaque(Opaque),
}

impl Condition {
    /// Returns its span.
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
