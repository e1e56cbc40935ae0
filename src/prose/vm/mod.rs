//! The engine: walks the tree of a program. What it decides is deterministic: two walks with the same
//! answers and the same command results are the same. Everything from outside comes through [`Effects`].

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
use crate::prose::answers::Answers;
use crate::prose::ast::Statement;
use crate::prose::run::journal::{Key, RunJournal};
use crate::prose::source::Span;
use crate::runtime::StepState;

/// Commands of one program that run at the same time; more wait for their turn.
const AT_ONCE: usize = 32;
/// How deep blocks may call each other where a block does not say.
const DEPTH: u32 = 100;

/// A walk that another walk waits for. Boxed, since statements hold statements.
type Walk<'a, T> = Pin<Box<dyn Future<Output = Result<T, Halt>> + Send + 'a>>;

/// How questions are routed.
#[derive(Debug, Default)]
pub struct AnswerPolicy {
    /// Answers that were given with the program.
    pub answers: Answers,
    /// They may open gates.
    pub gates_from_answers: bool,
    /// Agents may answer what is not a person's to answer.
    pub agents: bool,
    /// Which commands a person is asked about before they run.
    pub exec: ExecPolicy,
    /// Who answers sessions.
    pub sessions: SessionSettings,
    /// What sessions may take.
    pub budget: Budget,
}

/// A program being walked.
pub struct Vm<E> {
    /// What carries out its effects.
    pub effects: E,
    /// The journal of the run.
    pub journal: RunJournal,
    policy: AnswerPolicy,
    /// What others see of it.
    pub progress: Progress,
    permits: Semaphore,
    /// Commands that are asked about once.
    turns: Mutex<HashMap<Key, Turn>>,
    /// The own sessions of programs, by the memory of the agent and the program.
    own_sessions: Mutex<HashMap<(PathBuf, String), String>>,
    /// What session commands have cost.
    pub spent: Spent,
    home: Option<PathBuf>,
    run: String,
    /// When this walk was made ready.
    began: Timestamp,
}

/// What the session commands of a run have cost, those of earlier walks too.
#[derive(Debug, Default)]
pub struct Spent {
    /// How many have ended.
    pub sessions: AtomicU32,
    /// What they cost, in millionths of a dollar, as far as they say.
    pub cost: AtomicU64,
    /// Sessions that this walk has begun.
    begun: AtomicU32,
}

/// Where a walk stands: all that may differ from one statement to the next. Cheap to clone.
#[derive(Clone)]
pub struct Frame {
    module: Arc<Module>,
    /// The scope names are bound in.
    pub scope: Arc<Scope>,
    cwd: Cwd,
    key: Key,
    number: Arc<str>,
    cancel: CancellationToken,
    caught: Option<Arc<Thrown>>,
    /// Blocks being called, the innermost first.
    calls: Option<Arc<CallChain>>,
    /// The pass of the innermost loop, and how many there are at most.
    pass: Option<(u32, Option<u32>)>,
}

/// The blocks being called.
struct CallChain {
    block: Arc<str>,
    outer: Option<Arc<CallChain>>,
}

/// The current directory of a walk; shared by statements in a row, copied by a fork.
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
    /// Returns where the walk of a program begins.
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

    /// Returns the same place in a walk that `cancel` ends.
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

    /// The same place in a scope for names that only one body sees.
    fn inside(&self) -> Self {
        Self { scope: self.scope.inner(), ..self.clone() }
    }

    /// The frame of a branch or an iteration that runs beside others.
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

    /// Returns where something stands.
    fn site(&self, span: Span) -> Site {
        Site { span, line: self.line(span) }
    }
}

impl<E: Effects> Vm<E> {
    /// Makes an engine that has not begun.
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

    /// Writes a line to `state.md` and tells it, unless an earlier walk has.
    async fn mark(&self, frame: &Frame, line: u32, text: String) -> Result<(), Halt> {
        if self.journal.mark(&frame.key, &text, frame.module.folder.path())? {
            frame.module.folder.note(&text)?;
            self.tell(frame, "mark", line, text, None, None).await;
        }
        Ok(())
    }

    /// Tells what a check warns of, before anything runs.
    pub async fn warn(&self, frame: &Frame) {
        for (line, text) in &frame.module.library.warnings {
            self.tell(frame, "warn", *line, text.clone(), None, None).await;
        }
    }

    /// Shows how a step of the run's own program stands.
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
