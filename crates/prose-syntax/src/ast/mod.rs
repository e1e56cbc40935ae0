//! The syntax tree of a program. Every node knows its position; values are typed, so that a program without errors
//! can be run without consulting its text again. Contains no grammar and no checks.
//!
//! A tree is plain data: bodies are shared (`Arc`), names are cheap to clone, and a branch that runs by itself can
//! own what it runs.

mod construct;
mod declaration;
mod expression;
mod text;
pub mod visit;

use std::sync::Arc;

use serde::Serialize;

pub use construct::{
    Arm, Branch, Catch, ChoiceExpr, ChoiceOption, Comparison, Condition, For, ForMode, If, Invocation, Join,
    Loop, LoopTest, Parallel, ParallelOnFail, Repeat, Try,
};
pub use declaration::{
    AgentDefinition, BlockDefinition, GateStatement, InputPrompt, InputStatement, OnReject, Permission,
    Persist, Rule, SkillImport, Use, UsePath,
};
pub use expression::{
    Arrow, Backoff, CallExpr, ExecExpr, Expr, OnFail, Pipe, PipeStage, Property, RecordEntry, Resume,
    SessionExpr, SessionHead, SessionModel, SessionProperties, Sign, StageOperation, Sum,
};
pub use text::{Count, Name, Opaque, Quote, Spanned, Text, TextPart};

use super::source::Span;

/// A whole program. Definitions are hoisted; the rest is in source order.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Program {
    /// Other programs it uses, in source order; processed before anything else.
    pub uses: Vec<Use>,
    /// Skills it imports in the old way; nothing runs because of them.
    pub skills: Vec<SkillImport>,
    /// Agents, in source order.
    pub agents: Vec<Arc<AgentDefinition>>,
    /// Named blocks, in source order.
    pub blocks: Vec<Arc<BlockDefinition>>,
    /// Names of statements whose values could not be read; never in a program without errors.
    #[serde(skip)]
    pub unread: Vec<Name>,
    /// What is done, in order. Inputs stand here as well, since an old program may ask late.
    pub body: Statements,
}

impl Program {
    /// Returns the block with a name.
    pub fn block(&self, name: &str) -> Option<&Arc<BlockDefinition>> {
        self.blocks.iter().find(|block| block.name == *name)
    }

    /// Returns the agent with a name.
    pub fn agent(&self, name: &str) -> Option<&Arc<AgentDefinition>> {
        self.agents.iter().find(|agent| agent.name == *name)
    }

    /// Returns the inputs at the top level, in source order.
    pub fn inputs(&self) -> impl Iterator<Item = &InputStatement> {
        self.body.iter().filter_map(|statement| match &statement.kind {
            StatementKind::Input(input) => Some(input),
            _ => None,
        })
    }
}

/// Statements in order. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[serde(transparent)]
pub struct Statements(Arc<[Statement]>);

impl Statements {
    /// Creates a body from statements.
    pub fn new(statements: Vec<Statement>) -> Self {
        Self(statements.into())
    }
}

impl std::ops::Deref for Statements {
    type Target = [Statement];

    fn deref(&self) -> &[Statement] {
        &self.0
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Statement {
    /// Its number in the whole program, from 0 in source order: a name that stays the same from run to run.
    pub id: u32,
    /// From its first character to the last one of what belongs to it.
    pub span: Span,
    /// What it does.
    #[serde(flatten)]
    pub kind: StatementKind,
}

impl Statement {
    /// Returns whether it is executed, and therefore has a number in a run's record.
    pub fn is_executed(&self) -> bool {
        !matches!(self.kind, StatementKind::Input(_))
    }
}

/// What a statement does.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "statement", content = "of")]
pub enum StatementKind {
    /// `input name: "…"`.
    Input(InputStatement),
    /// `let x = …` or `const x = …`.
    Bind(BindingStatement),
    /// `x = …`.
    Assign(Assignment),
    /// `output x = …`: binds the name, and hands the value to the caller.
    Output(OutputStatement),
    /// `return …`, or the old `output …` without a name: ends the block with this value. Only in `compat`.
    Return(Option<Box<Expr>>),
    /// `gate x:`.
    Gate(Box<GateStatement>),
    /// `throw`, with or without a message. Without one it raises the caught error again.
    Throw(Option<Text>),
    /// An expression for what it does: a session, an exec, a loop. Its value is that of the body, if last.
    Do(Box<Expr>),
}

/// `let` or `const`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BindingStatement {
    /// Whether it may be assigned again.
    pub mutability: Mutability,
    /// What is bound.
    pub target: BindingTarget,
    /// To what.
    pub value: Box<Expr>,
}

/// Whether a binding may be assigned again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Mutability {
    /// `let`.
    Let,
    /// `const`.
    Const,
}

/// What a binding binds.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BindingTarget {
    Name(Name),
    /// `{ a, b }`: the outputs of these names of a program call.
    Outputs(Vec<Name>),
}

impl BindingTarget {
    /// Returns the names it binds.
    pub fn names(&self) -> &[Name] {
        match self {
            Self::Name(name) => std::slice::from_ref(name),
            Self::Outputs(names) => names,
        }
    }
}

/// `x = …`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Assignment {
    /// The variable.
    pub name: Name,
    /// Its new value.
    pub value: Box<Expr>,
}

/// `output x = …`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OutputStatement {
    /// The output, and the variable of the same name.
    pub name: Name,
    pub value: Box<Expr>,
}
