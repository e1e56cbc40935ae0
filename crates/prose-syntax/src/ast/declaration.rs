//! Declarations of a program: used programs, inputs, agents, blocks, gates.

use std::num::NonZeroU32;
use std::time::Duration;

use serde::Serialize;

use super::{Name, SessionExpr, SessionProperties, Spanned, Statements, Text};
use crate::source::Span;

/// `use "…" as x`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Use {
    /// The path as written.
    pub path: Spanned<String>,
    /// What it names.
    pub from: UsePath,
    /// The name after `as`.
    pub alias: Option<Name>,
    /// The whole statement.
    pub span: Span,
}

impl Use {
    /// Returns the name by which it is called: the alias, or else the last part of its path without `.prose`.
    pub fn name(&self) -> Option<&str> {
        if let Some(alias) = &self.alias {
            return Some(alias.as_str());
        }
        let path = match &self.from {
            UsePath::Registry { slug, .. } => slug,
            UsePath::Url(path) | UsePath::File(path) => path,
            UsePath::Unknown => return None,
        };
        let last = path.rsplit('/').next()?;
        Some(last.strip_suffix(".prose").unwrap_or(last))
    }
}

/// What the path of a used program names.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum UsePath {
    /// `@handle/slug` or `handle/slug`.
    Registry { handle: String, slug: String },
    /// `https://…`.
    Url(String),
    /// A file beside this one: `./x.prose`, `../x.prose`, `/x.prose`, `x.prose`.
    File(String),
    /// Something of no known form; never in a program without errors.
    Unknown,
}

/// `import "skill" from "source"`, the old way to name a skill.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SkillImport {
    pub skill: Text,
    /// Where it comes from.
    pub source: Text,
    /// The whole statement.
    pub span: Span,
}

/// `input x: …`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct InputStatement {
    /// The variable it binds.
    pub name: Name,
    /// What is asked.
    pub prompt: InputPrompt,
}

/// What an input asks, and whom.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum InputPrompt {
    /// `"…"`: the caller's or the operator's to answer.
    Verbatim(Text),
    /// `**…**`: an agent may answer as well.
    Judged(Text),
}

impl InputPrompt {
    /// Returns the text.
    pub fn text(&self) -> &Text {
        match self {
            Self::Verbatim(text) | Self::Judged(text) => text,
        }
    }
}

/// `agent x:`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AgentDefinition {
    pub name: Name,
    /// What sessions with it start from.
    pub properties: SessionProperties,
    /// Whether it remembers, and where.
    pub persist: Option<Spanned<Persist>>,
    /// Skills it has.
    pub skills: Vec<Text>,
    /// What it may do.
    pub permissions: Vec<Permission>,
    /// The whole definition.
    pub span: Span,
}

/// How long the memory of an agent lasts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Persist {
    /// `true`: until the run ends.
    Run,
    /// `project`: in the project's folder.
    Project,
    /// `user`: in the user's folder.
    User,
    Path(String),
}

/// One line of `permissions:`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Permission {
    /// What for: `read`, `write`, `execute`, `bash`, `network`, or something unknown.
    pub kind: Name,
    /// What is permitted.
    pub rule: Rule,
}

/// What a permission permits.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// `allow`, `deny`, `prompt`, or something unknown.
    Word(Name),
    Patterns(Vec<Text>),
}

/// `block x(a, b):`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BlockDefinition {
    pub name: Name,
    pub parameters: Vec<Name>,
    /// How deep it may call itself, where it says so.
    pub max_depth: Option<Spanned<NonZeroU32>>,
    /// What it does.
    pub body: Statements,
    /// The whole definition.
    pub span: Span,
}

/// `gate x:`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GateStatement {
    pub name: Name,
    /// What the person who decides reads.
    pub prompt: Text,
    /// Who may decide; `user` alone where nothing is said.
    pub allow: Vec<Text>,
    /// How long it waits, where it says so.
    pub timeout: Option<Spanned<Duration>>,
    /// What happens without approval, where it says so.
    pub on_reject: Option<OnReject>,
}

impl GateStatement {
    /// The default timeout of a gate.
    pub const TIMEOUT: Duration = Duration::from_secs(30 * 60);

    /// Returns its timeout.
    pub fn timeout(&self) -> Duration {
        self.timeout.map_or(Self::TIMEOUT, |timeout| timeout.value)
    }

    /// Returns what happens without approval.
    pub fn on_reject(&self) -> &OnReject {
        self.on_reject.as_ref().unwrap_or(&OnReject::Throw(None))
    }
}

/// What happens when a gate is rejected or nobody answers in time.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OnReject {
    /// An error, with or without a message.
    Throw(Option<Text>),
    /// It asks again.
    Retry,
    /// The program continues.
    Continue,
    /// A session handles it, then the program continues.
    Session(Box<SessionExpr>),
}
