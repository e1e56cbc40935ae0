//! The engine: executes the tree of a program ("walks" it). Its decisions are deterministic: two executions with the
//! same answers and the same command results are the same. All effects go through [`Effects`].

mod answerer;
mod block;
mod budget;
mod coerce;
mod control;
pub mod control_flow;
pub mod effects;
mod exec;
mod expression;
mod file;
mod gate;
mod join;
pub mod module;
mod parallel;
mod pipe;
mod policy;
pub mod progress;
mod question;
pub mod scope;
mod session;
mod session_command;
mod statement;
#[cfg(test)]
mod tests;
pub mod value;

pub use self::answerer::permissions;
pub use self::budget::Budget;

pub(super) use exec::failure;

use std::collections::HashMap;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use self::control_flow::{Halt, Thrown};
use self::effects::{Effects, Event};
use self::file::Site;
use self::module::Module;
use self::policy::Turn;
use self::progress::Progress;
use self::scope::Scope;
use crate::config::{ExecPolicy, SessionSettings};
use crate::model::StepState;
use crate::prose::engine::answers::Answers;
use crate::prose::engine::run::journal::{Key, RunJournal};
use crate::prose::syntax::Span;
use crate::prose::syntax::ast::Statement;

/// The maximum number of commands of one program that run at the same time; others wait.
const AT_ONCE: usize = 32;
/// The default limit on the depth of nested block calls.
const DEPTH: u32 = 100;

/// The execution of a node, awaited by that of its parent. Boxed, since statements contain statements.
type Walk<'a, T> = Pin<Box<dyn Future<Output = Result<T, Halt>> + Send + 'a>>;

/// How questions are routed.
#[derive(Debug, Default)]
pub struct AnswerPolicy {
    /// The answers supplied with the program.
    pub answers: Answers,
    /// Whether they may open gates.
    pub gates_from_answers: bool,
    /// Whether agents may answer questions that are not reserved for a person.
    pub agents: bool,
    /// Which commands need approval before they run.
    pub exec: ExecPolicy,
    /// Who answers sessions.
    pub sessions: SessionSettings,
    /// The budget for sessions.
    pub budget: Budget,
    /// What ended the run before is run again without asking.
    pub rerun: bool,
}

/// A program being executed.
pub struct Vm<E> {
    /// The implementation of its effects.
    pub effects: E,
    /// The journal of the run.
    pub journal: RunJournal,
    policy: AnswerPolicy,
    /// The view that others see of it.
    pub progress: Progress,
    permits: Semaphore,
    /// Decisions on commands that are asked about only once.
    turns: Mutex<HashMap<Key, Turn>>,
    /// The sessions of answering programs themselves, by the agent's memory and the program.
    own_sessions: Mutex<HashMap<(PathBuf, String), String>>,
    /// The cost of session commands.
    pub spent: Spent,
    home: Option<PathBuf>,
    run: String,
    /// When this execution was prepared.
    began: Timestamp,
}

/// The cost of a run's session commands, including those of earlier executions.
#[derive(Debug, Default)]
pub struct Spent {
    /// The number of sessions that have ended.
    pub sessions: AtomicU32,
    /// Their reported cost, in millionths of a dollar.
    pub cost: AtomicU64,
    /// The number of sessions that this execution has begun.
    begun: AtomicU32,
}

/// The position of an execution: everything that may differ from one statement to the next. Cheap to clone.
#[derive(Clone)]
pub struct Frame {
    module: Arc<Module>,
    /// The scope in which names are bound.
    pub scope: Arc<Scope>,
    cwd: Cwd,
    key: Key,
    number: Arc<str>,
    cancel: CancellationToken,
    caught: Option<Arc<Thrown>>,
    /// The chain of block calls, the innermost first.
    calls: Option<Arc<CallChain>>,
    /// The iteration of the innermost loop, and the maximum number of iterations.
    pass: Option<(u32, Option<u32>)>,
}

/// The chain of block calls.
struct CallChain {
    block: Arc<str>,
    outer: Option<Arc<CallChain>>,
}

/// The current directory of an execution; shared by consecutive statements, copied by a fork.
#[derive(Clone)]
struct Cwd(Arc<Mutex<PathBuf>>);

impl Cwd {
    fn new(path: PathBuf) -> Self {
        Self(Arc::new(Mutex::new(path)))
    }

    fn get(&self) -> PathBuf {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, path: PathBuf) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = path;
    }

    fn forked(&self) -> Self {
        Self::new(self.get())
    }
}

impl Frame {
    /// Returns the frame at the start of a program.
    pub fn root(module: Arc<Module>, cwd: PathBuf, cancel: CancellationToken) -> Self {
        Self {
            module,
            scope: Scope::root(),
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
    fn at(&self, step: impl std::fmt::Display) -> Self {
        let key = if self.key.is_empty() { step.to_string() } else { format!("{}/{step}", self.key) };
        Self { key: key.into(), ..self.clone() }
    }

    fn statement(&self, statement: &Statement) -> Self {
        self.at(statement.id)
    }

    /// Returns the same frame with a scope for names that only one body sees.
    fn inside(&self) -> Self {
        Self { scope: self.scope.inner(), ..self.clone() }
    }

    /// Returns the frame of a concurrent branch or iteration.
    fn fork(&self, step: impl std::fmt::Display, letter: Option<&str>, cancel: &CancellationToken) -> Self {
        let number =
            letter.map_or_else(|| self.number.clone(), |letter| format!("{}{letter}", self.number).into());
        Self {
            scope: self.scope.forked(),
            cwd: self.cwd.forked(),
            cancel: cancel.clone(),
            number,
            ..self.at(step)
        }
    }

    fn line(&self, span: Span) -> u32 {
        self.module.line(span)
    }

    /// Returns the position of a span.
    fn site(&self, span: Span) -> Site {
        Site { span, line: self.line(span) }
    }
}

impl<E: Effects> Vm<E> {
    /// Creates an engine that has not started.
    pub fn new(
        effects: E,
        journal: RunJournal,
        policy: AnswerPolicy,
        progress: Progress,
        run: String,
        home: Option<PathBuf>,
    ) -> Self {
        let permits = Semaphore::new(AT_ONCE);
        let (turns, own_sessions, spent) = (Mutex::default(), Mutex::default(), Spent::default());
        let began = effects.now();
        Self { effects, journal, policy, progress, permits, turns, own_sessions, spent, home, run, began }
    }

    fn own_sessions(&self) -> MutexGuard<'_, HashMap<(PathBuf, String), String>> {
        self.own_sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes a line to `state.md` and reports it, unless an earlier execution has.
    async fn mark(&self, frame: &Frame, line: u32, text: String) -> Result<(), Halt> {
        if self.journal.mark(&frame.key, &text, frame.module.folder.path())? {
            frame.module.folder.note(&text)?;
            self.tell(frame, "mark", line, text, None, None).await;
        }
        Ok(())
    }

    /// Reports the warnings of the checks, before anything runs.
    pub async fn warn(&self, frame: &Frame) {
        for (line, text) in &frame.module.library.warnings {
            self.tell(frame, "warn", *line, text.clone(), None, None).await;
        }
    }

    /// Updates the state of a step of the run's own program.
    fn show_step(&self, frame: &Frame, span: Span, state: StepState) {
        if frame.module.is_main {
            self.progress.step(frame.module.lines(span), state);
        }
    }

    async fn tell(
        &self,
        frame: &Frame,
        what: &str,
        line: u32,
        text: String,
        ok: Option<bool>,
        detail: Option<String>,
    ) {
        let number = frame.number.to_string();
        let event = Event { at: self.effects.now(), what: what.to_owned(), number, line, text, ok, detail };
        self.effects.tell(event).await;
    }
}
