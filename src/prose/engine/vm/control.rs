//! Control flow: loops, conditions, choices, attempts.

use super::control_flow::{Evaluation, Flow, Halt, ThrownError, Walk};
use super::effects::Effects;
use super::file::NamedValue;
use super::frame::Site;
use super::parallel::Iterations;
use super::scope::BindingKind;
use super::{Vm, VmFrame, coerce};
use crate::prose::engine::record::state;
use crate::prose::engine::value::Value;
use crate::prose::syntax::Span;
use crate::prose::syntax::ast::{ChoiceExpr, Condition, For, ForMode, If, Loop, LoopTest, Name, Repeat, Try};

impl<E: Effects> Vm<E> {
    /// Executes `repeat`: a fixed number of iterations, one after another.
    pub(super) async fn repeat(&self, frame: &VmFrame, repeat: &Repeat) -> Flow {
        let (line, count) = (frame.line(repeat.span), self.count(frame, &repeat.count)?);
        let mut values = Vec::new();
        for pass in 0..count {
            let own = self.pass(frame, repeat.span, pass, Some(count));
            self.enter(&own, line, repeat.index.as_ref()).await?;
            values.push(self.body(&own, &repeat.body).await?.value);
        }
        self.progress.loop_over(frame.module.lines(repeat.span));
        Ok(Value::list(values).into())
    }

    /// Executes `for`: an iteration for each element.
    pub(super) async fn run_for(&self, frame: &VmFrame, each: &For) -> Flow {
        let line = frame.line(each.span);
        let collection = self.value(&frame.at("in"), &each.collection).await?.value;
        let elements = collection
            .elements()
            .ok_or_else(|| ThrownError::new(line, "a record is no collection to go over"))?;
        if each.mode == ForMode::Parallel {
            let For { span, body, item, index, on_fail, .. } = each;
            let (item, index) = (item.as_str(), index.as_ref().map(Name::as_str));
            let each = Iterations { span: *span, body, item, index, on_fail: *on_fail };
            return self.all_at_once(frame, each, elements).await;
        }
        let count = u32::try_from(elements.len()).unwrap_or(u32::MAX);
        let mut values = Vec::new();
        for (pass, element) in (0..).zip(elements) {
            let own = self.pass(frame, each.span, pass, Some(count));
            own.bind_local(each.item.as_str(), element, line);
            self.enter(&own, line, each.index.as_ref()).await?;
            values.push(self.body(&own, &each.body).await?.value);
        }
        self.progress.loop_over(frame.module.lines(each.span));
        Ok(Value::list(values).into())
    }

    /// Executes `loop`: evaluates the condition before each iteration (docs/prose-rules.md#rule-20), and never
    /// continues without an answer.
    pub(super) async fn run_loop(&self, frame: &VmFrame, unbounded: &Loop) -> Flow {
        let line = frame.line(unbounded.span);
        let max = unbounded.max.as_ref().map(|max| self.count(frame, max)).transpose()?;
        let mut last = Evaluation::default();
        let mut pass = 0;
        while max.is_none_or(|max| pass < max) {
            if frame.cancel.is_cancelled() {
                return Err(Halt::Cancelled);
            }
            let own = self.pass(frame, unbounded.span, pass, max);
            if let Some(reason) = self.leaves(&own, &unbounded.test).await? {
                self.mark(&own, line, state::pass(&frame.number, pass, max, Some(&reason))).await?;
                break;
            }
            self.enter(&own, line, unbounded.index.as_ref()).await?;
            last = self.body(&own, &unbounded.body).await?;
            pass += 1;
            // A body that never waits must not keep the process from noticing that it is to end.
            tokio::task::yield_now().await;
        }
        self.progress.loop_over(frame.module.lines(unbounded.span));
        Ok(last)
    }

    /// Returns why a loop ends before an iteration, if it does.
    async fn leaves(&self, frame: &VmFrame, test: &LoopTest) -> Flow<Option<String>> {
        let reason = |condition: &Condition| frame.module.text(condition.span()).trim().to_owned();
        match test {
            LoopTest::Forever => Ok(None),
            LoopTest::Until(condition) => {
                let is_over =
                    self.holds(&frame.at("until"), condition, ("leaves the loop", "goes on")).await?;
                Ok(is_over.then(|| reason(condition)))
            }
            LoopTest::While(condition) => {
                let goes_on =
                    self.holds(&frame.at("while"), condition, ("goes on", "leaves the loop")).await?;
                Ok((!goes_on).then(|| format!("not {}", reason(condition))))
            }
        }
    }

    /// Records the iteration that a frame is for, and binds its index.
    async fn enter(&self, own: &VmFrame, line: u32, index: Option<&Name>) -> Flow<()> {
        let Some((pass, max)) = own.pass else { return Ok(()) };
        if let Some(index) = index {
            own.bind_local(index.as_str(), Value::Number(i64::from(pass) - 1), line);
        }
        self.mark(own, line, state::pass(&own.number, pass, max, None)).await
    }

    fn pass(&self, frame: &VmFrame, span: Span, pass: u32, max: Option<u32>) -> VmFrame {
        if frame.module.is_main {
            self.progress.pass(frame.module.lines(span), pass + 1, max);
        }
        VmFrame { pass: Some((pass + 1, max)), ..frame.at(format!("pass{pass}")).inside() }
    }

    /// Executes `try`, with its `catch` and `finally`.
    pub(super) async fn attempt_body(&self, frame: &VmFrame, attempt: &Try) -> Flow {
        let mut ended = self.body(&frame.at("try"), &attempt.body).await;
        if let (Err(Halt::Thrown(thrown)), Some(catch)) = (&ended, &attempt.catch) {
            let own = VmFrame { caught: Some(thrown.clone()), ..frame.at("catch").inside() };
            if let Some(error) = &catch.error {
                let site = Site { span: catch.span, line: thrown.line };
                let named = NamedValue {
                    name: error.as_str(),
                    kind: BindingKind::Given,
                    value: &caught_value(thrown),
                    site,
                };
                self.bind_quietly(&own, &named)?;
            }
            ended = self.body(&own, &catch.body).await;
        }
        // A body that can be resumed has not ended: `finally` is executed when it does.
        let is_over = matches!(&ended, Ok(_) | Err(Halt::Thrown(_) | Halt::Return(_)));
        if let (true, Some(finally)) = (is_over, &attempt.finally) {
            // An error or return in `finally` replaces the earlier result.
            self.body(&frame.at("finally"), finally).await?;
        }
        ended
    }

    /// Returns whether a condition holds. `follows` describes the consequences of a yes and a no.
    pub(super) fn holds<'a>(
        &'a self,
        frame: &'a VmFrame,
        condition: &'a Condition,
        follows: (&'a str, &'a str),
    ) -> Walk<'a, bool> {
        Box::pin(async move {
            match condition {
                Condition::Judged(text) => {
                    let text_in_full = self.fill(frame, text)?.trim().to_owned();
                    self.ask_yes_no(frame, frame.site(text.span), text_in_full, follows).await
                }
                Condition::Opaque(words) => {
                    self.ask_yes_no(frame, frame.site(words.span), words.text.clone(), follows).await
                }
                Condition::Not(inner) => {
                    let (yes, no) = follows;
                    self.holds(&frame.at("not"), inner, (no, yes)).await.map(|holds| !holds)
                }
                Condition::And(left, right) => {
                    let holds = self.holds(&frame.at("left"), left, ("", follows.1)).await?;
                    if holds { self.holds(&frame.at("right"), right, follows).await } else { Ok(false) }
                }
                Condition::Or(left, right) => {
                    let holds = self.holds(&frame.at("left"), left, (follows.0, "")).await?;
                    if holds { Ok(true) } else { self.holds(&frame.at("right"), right, follows).await }
                }
                Condition::Compare { left, by, right } => {
                    let left = self.value(&frame.at("left"), left).await?.value;
                    let right = self.value(&frame.at("right"), right).await?.value;
                    let holds = coerce::compare(&left, *by, &right);
                    self.known_or_asked(frame, holds, condition.span(), follows).await
                }
                Condition::Value(value) => {
                    let value = self.value(&frame.at("value"), value).await?.value;
                    let holds = coerce::verdict(&value);
                    self.known_or_asked(frame, holds, condition.span(), follows).await
                }
            }
        })
    }

    /// Returns the known result of a condition, or asks about its words if it could not be decided.
    async fn known_or_asked(
        &self,
        frame: &VmFrame,
        known: Option<bool>,
        span: Span,
        follows: (&str, &str),
    ) -> Flow<bool> {
        let words = || frame.module.text(span).trim().to_owned();
        match known {
            Some(holds) => Ok(holds),
            None => self.ask_yes_no(frame, frame.site(span), words(), follows).await,
        }
    }

    /// Executes `if`, `elif`, `else`: the first arm whose condition holds.
    pub(super) async fn decision(&self, frame: &VmFrame, decision: &If) -> Flow {
        for (at, arm) in decision.arms.iter().enumerate() {
            let own = frame.at(format!("if{at}"));
            if self.holds(&own, &arm.condition, ("", "")).await? {
                return self.body(&own, &arm.body).await;
            }
        }
        match &decision.otherwise {
            Some(body) => self.body(&frame.at("else"), body).await,
            None => Ok(Evaluation::default()),
        }
    }

    /// Executes `choice`: the option that is picked.
    pub(super) async fn choice(&self, frame: &VmFrame, choice: &ChoiceExpr) -> Flow {
        let labels: Flow<Vec<String>> =
            choice.options.iter().map(|option| self.fill(frame, &option.label)).collect();
        let text = self.fill(frame, &choice.criteria)?.trim().to_owned();
        let chosen = self.ask_choice(frame, frame.site(choice.criteria.span), text, labels?).await?;
        match choice.options.get(chosen) {
            Some(option) => self.body(&frame.at(format!("option{chosen}")), &option.body).await,
            None => Ok(Evaluation::default()),
        }
    }
}

/// Returns the value of a caught error: its message, and how the failed command ended.
fn caught_value(thrown: &ThrownError) -> Evaluation {
    Evaluation { value: Value::text(thrown.message.clone()), made: thrown.made.clone() }
}
