//! The position of an execution, which each statement passes on to those inside it.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use tokio_util::sync::CancellationToken;

use super::control_flow::ThrownError;
use super::module::Module;
use super::scope::{BoundValue, NameScope};
use crate::prose::engine::record::journal::ProgramKey;
use crate::prose::engine::value::Value;
use crate::prose::syntax::Span;
use crate::prose::syntax::ast::Statement;

/// The position of a statement.
#[derive(Debug, Clone, Copy)]
pub(super) struct Site {
    pub(super) span: Span,
    pub(super) line: u32,
}

/// The position of an execution: everything that may differ from one statement to the next. Cheap to clone.
#[derive(Clone)]
pub struct VmFrame {
    pub(super) module: Arc<Module>,
    /// The scope in which names are bound.
    pub scope: Arc<NameScope>,
    pub(super) cwd: Cwd,
    pub(super) key: ProgramKey,
    pub(super) number: Arc<str>,
    pub(super) cancel: CancellationToken,
    pub(super) caught: Option<Arc<ThrownError>>,
    /// The chain of block calls, the innermost first.
    pub(super) calls: Option<Arc<CallChain>>,
    /// The iteration of the innermost loop, and the maximum number of iterations.
    pub(super) pass: Option<(u32, Option<u32>)>,
}

pub(super) struct CallChain {
    pub(super) block: Arc<str>,
    pub(super) outer: Option<Arc<CallChain>>,
}

/// The current directory of an execution; shared by consecutive statements, copied by a fork.
#[derive(Clone)]
pub(super) struct Cwd(Arc<Mutex<PathBuf>>);

impl Cwd {
    pub(super) fn new(path: PathBuf) -> Self {
        Self(Arc::new(Mutex::new(path)))
    }

    pub(super) fn get(&self) -> PathBuf {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn set(&self, path: PathBuf) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = path;
    }

    fn fork(&self) -> Self {
        Self::new(self.get())
    }
}

impl VmFrame {
    /// Returns the frame at the start of a program.
    pub fn root(module: Arc<Module>, cwd: PathBuf, cancel: CancellationToken) -> Self {
        Self {
            module,
            scope: NameScope::root(),
            cwd: Cwd::new(cwd),
            key: "".into(),
            number: "0".into(),
            cancel,
            caught: None,
            calls: None,
            pass: None,
        }
    }

    /// Returns the same frame, ended by `cancel`.
    #[must_use]
    pub fn ended_by(self, cancel: CancellationToken) -> Self {
        Self { cancel, ..self }
    }

    /// Returns the frame of the step `step` below this one.
    pub(super) fn at(&self, step: impl std::fmt::Display) -> Self {
        let key = if self.key.is_empty() { step.to_string() } else { format!("{}/{step}", self.key) };
        Self { key: key.into(), ..self.clone() }
    }

    pub(super) fn statement(&self, statement: &Statement) -> Self {
        self.at(statement.id)
    }

    /// Returns the same frame with a scope for names that only one body sees.
    pub(super) fn inside(&self) -> Self {
        Self { scope: self.scope.inner(), ..self.clone() }
    }

    /// Returns the frame of a concurrent branch or iteration.
    pub(super) fn fork(
        &self,
        step: impl std::fmt::Display,
        letter: Option<&str>,
        cancel: &CancellationToken,
    ) -> Self {
        let number =
            letter.map_or_else(|| self.number.clone(), |letter| format!("{}{letter}", self.number).into());
        Self {
            scope: self.scope.fork(),
            cwd: self.cwd.fork(),
            cancel: cancel.clone(),
            number,
            ..self.at(step)
        }
    }

    pub(super) fn line(&self, span: Span) -> u32 {
        self.module.line(span)
    }

    /// Returns the position of a span.
    pub(super) fn site(&self, span: Span) -> Site {
        Site { span, line: self.line(span) }
    }

    /// Binds a name for an iteration or a call; such names have no file.
    pub(super) fn bind_local(&self, name: &str, value: Value, line: u32) {
        self.scope.bind(name, BoundValue::local(value, line));
    }
}
