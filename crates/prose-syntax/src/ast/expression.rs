//! Expressions: commands, sessions, names, literals, calls.

use std::time::Duration;

use serde::Serialize;
use strum::{EnumString, IntoStaticStr, VariantNames};

use super::{
    ChoiceExpr, For, If, Invocation, Loop, Name, Opaque, Parallel, Repeat, Spanned, Statements, Text, Try,
};
use crate::source::Span;

/// An expression.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "expression", content = "of")]
pub enum Expr {
    /// `"…"`.
    Text(Text),
    /// A number. Only in `compat`.
    Number(Spanned<i64>),
    /// A variable.
    Name(Name),
    /// `result.output`.
    Property(Property),
    /// `[a, b]`.
    List(Spanned<Vec<Expr>>),
    /// `{ a, b }`; in `compat` also `{ a: … }`.
    Record(Spanned<Vec<RecordEntry>>),
    /// `session …`.
    Session(Box<SessionExpr>),
    /// `resume: agent`.
    Resume(Box<Resume>),
    /// `exec "…"`.
    Exec(ExecExpr),
    /// `do:`.
    Do(Spanned<Statements>),
    /// `do block(…)`.
    Invoke(Invocation),
    /// `program(input: …)`.
    Call(CallExpr),
    /// `parallel:`.
    Parallel(Parallel),
    /// `repeat 3:`.
    Repeat(Repeat),
    /// `for x in xs:` or `parallel for x in xs:`.
    For(For),
    /// `loop:`.
    Loop(Box<Loop>),
    /// `try:`.
    Try(Try),
    /// `choice **…**:`.
    Choice(ChoiceExpr),
    /// `if **…**:`.
    If(If),
    /// `a -> b`.
    Arrow(Arrow),
    /// `xs | map:`.
    Pipe(Pipe),
    /// `a + b`. Only in `compat`.
    Sum(Sum),
    /// Words nobody can evaluate: judged when they are reached. Only in `compat`.
    Opaque(Opaque),
}

impl Expr {
    /// Returns whether it can be part of a calculation.
    pub fn is_operand(&self) -> bool {
        matches!(
            self,
            Self::Text(_)
                | Self::Number(_)
                | Self::Name(_)
                | Self::Property(_)
                | Self::List(_)
                | Self::Record(_)
                | Self::Call(_)
                | Self::Sum(_)
        )
    }

    /// Returns whether it contains no statements, so that only it can fail.
    pub fn is_leaf(&self) -> bool {
        self.is_operand()
            || matches!(self, Self::Session(_) | Self::Resume(_) | Self::Exec(_) | Self::Opaque(_))
    }

    /// Returns its span.
    pub fn span(&self) -> Span {
        match self {
            Self::Text(text) => text.span,
            Self::Number(number) => number.span,
            Self::Name(name) => name.span,
            Self::Property(property) => property.span(),
            Self::List(list) => list.span,
            Self::Record(record) => record.span,
            Self::Session(session) => session.span,
            Self::Resume(resume) => resume.span,
            Self::Exec(exec) => exec.span,
            Self::Do(body) => body.span,
            Self::Invoke(invocation) => invocation.span,
            Self::Call(call) => call.span,
            Self::Parallel(parallel) => parallel.span,
            Self::Repeat(repeat) => repeat.span,
            Self::For(each) => each.span,
            Self::Loop(unbounded) => unbounded.span,
            Self::Try(attempt) => attempt.span,
            Self::Choice(choice) => choice.span,
            Self::If(decision) => decision.span,
            Self::Arrow(arrow) => arrow.span(),
            Self::Pipe(pipe) => pipe.span,
            Self::Sum(sum) => sum.left.span().to(sum.right.span()),
            Self::Opaque(words) => words.span,
        }
    }
}

/// `exec "command"` with its properties.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExecExpr {
    pub command: Text,
    /// How long it may run, where it says so.
    pub timeout: Option<Spanned<Duration>>,
    /// What a failure does, where it says so.
    pub on_fail: Option<Spanned<OnFail>>,
    /// Where it runs, where it says so.
    pub cwd: Option<Box<Text>>,
    /// The whole expression with its properties.
    pub span: Span,
}

impl ExecExpr {
    /// The default timeout of a command.
    pub const TIMEOUT: Duration = Duration::from_secs(120);

    /// Returns the command's timeout.
    pub fn timeout(&self) -> Duration {
        self.timeout.map_or(Self::TIMEOUT, |timeout| timeout.value)
    }

    /// Returns what happens if it fails.
    pub fn on_fail(&self) -> OnFail {
        self.on_fail.map_or(OnFail::Throw, |on_fail| on_fail.value)
    }
}

/// What the failure of a command does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, EnumString, VariantNames)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "kebab-case")]
pub enum OnFail {
    /// It is an error.
    Throw,
    /// The binding shows it, and the program continues.
    Continue,
    /// It is not reported at all.
    Ignore,
}

/// `session …` with its properties.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SessionExpr {
    /// What it is about.
    pub subject: SessionHead,
    /// What it says beside.
    pub properties: SessionProperties,
    /// The whole expression with its properties.
    pub span: Span,
}

/// What a session is about.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionHead {
    /// `session "…"`; a property `prompt` says more.
    Prompt(Text),
    /// `session: agent`.
    Agent(Name),
    /// `session name: agent`.
    Named {
        /// What this session is called.
        name: Name,
        agent: Name,
    },
}

impl SessionHead {
    /// Returns the agent it names.
    pub fn agent(&self) -> Option<&Name> {
        match self {
            Self::Prompt(_) => None,
            Self::Agent(agent) | Self::Named { agent, .. } => Some(agent),
        }
    }
}

/// `resume: agent` with its properties.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Resume {
    /// The agent whose memory it continues from.
    pub agent: Name,
    /// What it says beside.
    pub properties: SessionProperties,
    /// The whole expression with its properties.
    pub span: Span,
}

/// What sessions and agents say of themselves.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct SessionProperties {
    /// What to do.
    pub prompt: Option<Text>,
    pub model: Option<Spanned<SessionModel>>,
    /// What it gets to read: a name, a property, a list or a record.
    pub context: Option<Box<Expr>>,
    /// How often more it is tried after a failure.
    pub retry: Option<Spanned<u32>>,
    /// How long to wait between tries.
    pub backoff: Option<Spanned<Backoff>>,
    /// How long whoever answers may take.
    pub timeout: Option<Spanned<Duration>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, EnumString, VariantNames, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "kebab-case")]
pub enum SessionModel {
    /// `sonnet`.
    Sonnet,
    /// `opus`.
    Opus,
    /// `haiku`.
    Haiku,
}

/// How long to wait between tries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, EnumString, VariantNames)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "kebab-case")]
pub enum Backoff {
    /// Not at all.
    None,
    /// One second each.
    Linear,
    /// Twice as long each time, from one second.
    Exponential,
}

/// `result.output`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Property {
    /// The variable.
    pub of: Name,
    /// What is asked of it, at least one name. More than one only in `compat`.
    pub path: Vec<Name>,
}

impl Property {
    /// Returns its span.
    pub fn span(&self) -> Span {
        self.path.last().map_or(self.of.span, |last| self.of.span.to(last.span))
    }
}

/// An entry of a record.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RecordEntry {
    pub key: Name,
    /// Its value; without one, the variable of the key's name.
    pub value: Option<Expr>,
}

/// `program(input: …)`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CallExpr {
    /// The used program.
    pub program: Name,
    pub inputs: Vec<(Name, Expr)>,
    /// The whole call.
    pub span: Span,
}

/// `a -> b -> c`: at least two steps, each a session; in `compat` also an exec or the invocation of a block.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Arrow {
    pub steps: Vec<Expr>,
}

impl Arrow {
    /// Returns its span.
    pub fn span(&self) -> Span {
        self.steps.iter().map(Expr::span).reduce(Span::to).unwrap_or_default()
    }
}

/// `xs | filter: … | map: …`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pipe {
    /// The collection.
    pub input: Box<Expr>,
    /// What is done with it, in order.
    pub stages: Vec<PipeStage>,
    /// The whole expression.
    pub span: Span,
}

/// One operation of a pipeline.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PipeStage {
    pub operation: StageOperation,
    /// What it does with each element.
    pub body: Statements,
    /// The whole stage.
    pub span: Span,
}

/// What a stage does. `item` is the element, but in `reduce`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StageOperation {
    /// Each element becomes the value of the body.
    Map,
    /// As `map`, all at once.
    ParallelMap,
    /// Elements stay whose body says yes.
    Filter,
    /// Elements are gathered into one value; the first one is where it starts.
    Reduce {
        /// What has been gathered.
        accumulator: Name,
        /// The element.
        item: Name,
    },
}

/// `a + b` or `a - b`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Sum {
    /// The left side.
    pub left: Box<Expr>,
    /// Plus or minus.
    pub sign: Sign,
    /// The right side.
    pub right: Box<Expr>,
}

/// Plus or minus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Sign {
    /// `+`.
    Plus,
    /// `-`.
    Minus,
}
