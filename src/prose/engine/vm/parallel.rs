//! Concurrent branches. When the block completes, branches still running are ended before the program continues; the
//! result of the join is recorded, so that a later execution joins the block in the same way.

use std::collections::HashMap;

use futures_util::stream::{FuturesUnordered, StreamExt as _};
use tokio_util::sync::CancellationToken;

use super::control_flow::{Evaluation, Flow, Halt, ThrownError, Walk};
use super::effects::Effects;
use super::file::NamedValue;
use super::join::{BranchTally, JoinStanding};
use super::scope::BindingKind;
use super::{Vm, VmFrame};
use crate::model::{BranchView, StepState};
use crate::prose::engine::record::binding::CommandEnd;
use crate::prose::engine::record::journal::RunRow;
use crate::prose::engine::record::state;
use crate::prose::engine::value::Value;
use crate::prose::syntax::Span;
use crate::prose::syntax::ast::{Branch, Join, Parallel, ParallelOnFail, Statements};

/// A body for each element of a collection, all at once.
pub(super) struct Iterations<'a> {
    pub(super) span: Span,
    pub(super) body: &'a Statements,
    /// The name of the element.
    pub(super) item: &'a str,
    /// The name of its number, from 0.
    pub(super) index: Option<&'a str>,
    pub(super) on_fail: ParallelOnFail,
}

/// The results of branches that ended, by number.
struct JoinedBranches {
    tally: BranchTally,
    ends: HashMap<usize, Result<Evaluation, std::sync::Arc<ThrownError>>>,
}

impl<E: Effects> Vm<E> {
    pub(super) async fn parallel(&self, frame: &VmFrame, block: &Parallel) -> Flow {
        let line = frame.line(block.span);
        let letters: Vec<String> = (0..block.branches.len()).map(state::letter).collect();
        let name = |(branch, letter): (&Branch, &String)| branch_name(branch).unwrap_or(letter).to_owned();
        let names: Vec<String> = block.branches.iter().zip(&letters).map(name).collect();
        self.mark(frame, line, state::fork(&frame.number, &names)).await?;
        let cancel = frame.cancel.child_token();
        let fork = |(at, letter): (usize, &String)| frame.fork(format!("b{at}"), Some(letter), &cancel);
        let forks: Vec<VmFrame> = letters.iter().enumerate().map(fork).collect();
        let walk = |at: usize| -> Walk<'_> {
            let (own, branch) = (forks[at].clone(), &block.branches[at]);
            Box::pin(async move { self.branch(own, branch).await })
        };
        let tally = BranchTally::new(block.join, block.on_fail, block.branches.len());
        self.show_branches(frame, block, &letters);
        let joined = self.join(frame, tally, block.branches.len(), &cancel, walk).await;
        self.progress.record_join(frame.module.lines(block.span));
        let joined = joined?;
        let value = self.bind_branches(frame, block, &joined, &forks)?;
        conclude(&joined)?;
        self.mark(frame, line, state::join(&frame.number)).await?;
        Ok(value)
    }

    async fn branch(&self, own: VmFrame, branch: &Branch) -> Flow {
        let (span, name) = (span_of(branch), branch_name(branch));
        let ended = match branch {
            Branch::Named { value, .. } => self.value(&own, value).await,
            Branch::Statement(statement) => self.statement(&own.statement(statement), statement).await,
        };
        let state = match &ended {
            Ok(_) => StepState::Done,
            Err(Halt::Cancelled) => StepState::Cancelled,
            Err(_) => StepState::Failed,
        };
        if own.module.is_main {
            self.progress.branch_ended(&own.number, state);
        }
        let line = own.line(span);
        match &ended {
            Ok(_) if name.is_some() => self.mark(&own, line, state::completion(&own.number, name)).await?,
            Err(Halt::Thrown(thrown)) if name.is_some() => {
                self.mark(&own, line, state::failure(&own.number, &thrown.message)).await?;
            }
            _ => {}
        }
        ended
    }

    /// Executes a body for all elements concurrently; the value is the list of their values, of a failed one what its
    /// command printed.
    pub(super) async fn all_at_once(
        &self,
        frame: &VmFrame,
        each: Iterations<'_>,
        elements: Vec<Value>,
    ) -> Flow {
        let Iterations { span, body, item, index, on_fail } = each;
        let line = frame.line(span);
        let names: Vec<String> = (0..elements.len()).map(state::letter).collect();
        self.mark(frame, line, state::fork(&frame.number, &names)).await?;
        let cancel = frame.cancel.child_token();
        let elements_ref = &elements;
        let walk = |at: usize| -> Walk<'_> {
            let own = frame.fork(format!("b{at}"), Some(&names[at]), &cancel).inside();
            own.bind_local(item, elements_ref[at].clone(), line);
            if let Some(index) = index {
                own.bind_local(index, Value::Number(i64::try_from(at).unwrap_or(i64::MAX)), line);
            }
            Box::pin(async move {
                let done = self.body(&own, body).await?;
                self.mark(&own, line, state::completion(&own.number, None)).await?;
                Ok(done)
            })
        };
        let tally = BranchTally::new(Join::All, on_fail, elements.len());
        let mut joined = self.join(frame, tally, elements.len(), &cancel, walk).await?;
        conclude(&joined)?;
        self.mark(frame, line, state::join(&frame.number)).await?;
        let value = |at| match joined.ends.remove(&at) {
            Some(Ok(done)) => done.value,
            Some(Err(thrown)) => Value::text(thrown.stdout.clone()),
            None => Value::Nothing,
        };
        Ok(Value::list((0..elements.len()).map(value).collect()).into())
    }

    /// Executes branches until the tally is decided, ends the others, and returns the results of those that count.
    async fn join<'a>(
        &self,
        frame: &VmFrame,
        mut tally: BranchTally,
        count: usize,
        cancel: &CancellationToken,
        walk: impl Fn(usize) -> Walk<'a>,
    ) -> Flow<JoinedBranches> {
        let mut ends = HashMap::new();
        if let Some(known) = self.journal.branch_ends(&frame.key) {
            // Joined in an earlier execution: branches that did not count then are not started now.
            for &(at, _) in known {
                ends.insert(at, classify_end(walk(at).await)?);
            }
            for (at, has_succeeded) in known {
                tally.record_end(*at, *has_succeeded);
            }
            return Ok(JoinedBranches { tally, ends });
        }
        let numbered = |at: usize| {
            let walk = walk(at);
            async move { (at, walk.await) }
        };
        let mut running: FuturesUnordered<_> = (0..count).map(numbered).collect();
        let mut order = Vec::new();
        let mut broken = None;
        while let Some((at, result)) = running.next().await {
            if cancel.is_cancelled() {
                // It ended because of the others, or too late to count.
                continue;
            }
            match classify_end(result) {
                Ok(end) => {
                    order.push((at, end.is_ok()));
                    let standing = tally.record_end(at, end.is_ok());
                    ends.insert(at, end);
                    if standing != JoinStanding::Open {
                        cancel.cancel();
                    }
                }
                // Let running branches finish, so that none of their commands is left in doubt.
                Err(halt @ Halt::OverBudget { .. }) => broken = Some(halt),
                Err(halt) => {
                    broken = Some(halt);
                    cancel.cancel();
                }
            }
        }
        if let Some(halt) = broken {
            return Err(halt);
        }
        if frame.cancel.is_cancelled() {
            return Err(Halt::Cancelled);
        }
        self.journal.write(&RunRow::Joined { key: frame.key.clone(), ends: order })?;
        Ok(JoinedBranches { tally, ends })
    }

    /// Binds the names of the branches that count, adopts what those have bound, and returns the value of the block.
    /// If the block fails, the completed branches count (docs/prose-rules.md#rule-12).
    fn bind_branches(
        &self,
        frame: &VmFrame,
        block: &Parallel,
        joined: &JoinedBranches,
        forks: &[VmFrame],
    ) -> Flow {
        let winners = joined.tally.winners();
        let goes_on = !matches!(joined.tally.join_standing(), JoinStanding::Failed(_));
        let mut values = Vec::new();
        for (at, branch) in block.branches.iter().enumerate() {
            let (name, end) = (branch_name(branch), joined.ends.get(&at));
            let counts = block.join == Join::All || !goes_on || winners.contains(&at);
            if counts && end.is_some() {
                frame.scope.adopt(&forks[at].scope);
            }
            let end = match end {
                Some(Ok(done)) if winners.contains(&at) => done.clone(),
                Some(Err(thrown)) if block.join == Join::All && goes_on => {
                    failure_value(thrown, block.on_fail)
                }
                Some(Err(_)) if !goes_on => {
                    name.inspect(|name| frame.scope.record_failure(name, frame.line(span_of(branch))));
                    continue;
                }
                _ => {
                    name.inspect(|name| frame.scope.record_loss(name, frame.line(block.span)));
                    continue;
                }
            };
            if let Some(name) = name {
                let site = frame.site(span_of(branch));
                let named = NamedValue { name, kind: BindingKind::Let, value: &end, site };
                self.bind_quietly(&frame.at(format!("b{at}")), &named)?;
            }
            values.push(end.value);
        }
        match block.join {
            Join::First => Ok(values.into_iter().next().unwrap_or_default().into()),
            Join::All | Join::Any(_) => Ok(Value::list(values).into()),
        }
    }

    fn show_branches(&self, frame: &VmFrame, block: &Parallel, letters: &[String]) {
        if frame.module.is_main {
            let view = |(branch, letter): (&Branch, &String)| BranchView {
                letter: format!("{}{letter}", frame.number),
                name: branch_name(branch).map(str::to_owned),
                lines: frame.module.lines(span_of(branch)),
                state: StepState::Running,
                task: None,
            };
            self.progress.record_fork(block.branches.iter().zip(letters).map(view).collect());
        }
    }
}

/// Classifies the end of a branch: done, failed, or ending the whole block.
fn classify_end(result: Flow) -> Flow<Result<Evaluation, std::sync::Arc<ThrownError>>> {
    match result {
        Ok(done) => Ok(Ok(done)),
        Err(Halt::Thrown(thrown)) => Ok(Err(thrown)),
        Err(other) => Err(other),
    }
}

/// Returns the error of a block that has failed.
fn conclude(joined: &JoinedBranches) -> Flow<()> {
    match joined.tally.join_standing() {
        JoinStanding::Failed(at) => match joined.ends.get(&at) {
            Some(Err(thrown)) => Err(thrown.clone().into()),
            _ => Err(Halt::Cancelled),
        },
        JoinStanding::Succeeded | JoinStanding::Open => Ok(()),
    }
}

/// Returns the value of a failed branch if the block continues: its command's output, and how that ended unless
/// failures are ignored (docs/prose-rules.md#rule-9).
fn failure_value(thrown: &ThrownError, on_fail: ParallelOnFail) -> Evaluation {
    let made = thrown
        .made
        .clone()
        .unwrap_or_else(|| CommandEnd { stderr: thrown.message.clone(), ..CommandEnd::default() });
    let made = (on_fail != ParallelOnFail::Ignore).then_some(made);
    Evaluation { value: Value::text(thrown.stdout.clone()), made }
}

fn branch_name(branch: &Branch) -> Option<&str> {
    match branch {
        Branch::Named { name, .. } => Some(name.as_str()),
        Branch::Statement(_) => None,
    }
}

fn span_of(branch: &Branch) -> Span {
    match branch {
        Branch::Named { name, value } => name.span.to(value.span()),
        Branch::Statement(statement) => statement.span,
    }
}
