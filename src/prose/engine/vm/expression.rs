//! Expressions: evaluates each to a value.

use super::control_flow::{Evaluation, Flow, ThrownError, Walk};
use super::effects::Effects;
use super::exec::absent;
use super::{Vm, VmFrame, coerce};
use crate::prose::engine::value::Value;
use crate::prose::syntax::Span;
use crate::prose::syntax::ast::{Arrow, Count, Expr, Name, Property, RecordEntry, Sum};

impl<E: Effects> Vm<E> {
    /// Evaluates an expression.
    pub(super) fn value<'a>(&'a self, frame: &'a VmFrame, expr: &'a Expr) -> Walk<'a> {
        Box::pin(async move {
            match expr {
                Expr::Text(text) => Ok(Value::text(self.fill(frame, text)?).into()),
                Expr::Number(number) => Ok(Value::Number(number.value).into()),
                Expr::Name(name) => self.look_up(frame, name),
                Expr::Property(property) => self.property(frame, property).await,
                Expr::List(list) => {
                    let mut values = Vec::with_capacity(list.value.len());
                    for (at, part) in list.value.iter().enumerate() {
                        values.push(self.value(&frame.at(at), part).await?.value);
                    }
                    Ok(Value::list(values).into())
                }
                Expr::Record(record) => self.fields(frame, &record.value).await,
                Expr::Session(session) => self.session(frame, session).await,
                Expr::Resume(resume) => self.resume(frame, resume).await,
                Expr::Exec(exec) => self.exec(frame, exec).await,
                Expr::Do(body) => self.body(frame, &body.value).await,
                Expr::Invoke(invocation) => self.invoke(frame, invocation).await,
                Expr::Call(call) => self.call(frame, call).await,
                Expr::Parallel(parallel) => self.parallel(frame, parallel).await,
                Expr::Repeat(repeat) => self.repeat(frame, repeat).await,
                Expr::For(each) => self.run_for(frame, each).await,
                Expr::Loop(unbounded) => self.run_loop(frame, unbounded).await,
                Expr::Try(attempt) => self.attempt_body(frame, attempt).await,
                Expr::Choice(choice) => self.choice(frame, choice).await,
                Expr::If(decision) => self.decision(frame, decision).await,
                Expr::Arrow(arrow) => self.arrow(frame, arrow).await,
                Expr::Pipe(pipe) => self.pipe(frame, pipe).await,
                Expr::Sum(sum) => self.sum(frame, sum).await,
                Expr::Opaque(opaque) => self.judged_value(frame, opaque.span, opaque.text.clone()).await,
            }
        })
    }

    fn look_up(&self, frame: &VmFrame, name: &Name) -> Flow {
        match frame.scope.find(name.as_str()) {
            // How a value was created is a property of the name bound to it.
            Ok(bound) => Ok(bound.value.clone().into()),
            Err(missing) => Err(absent(name.as_str(), missing, frame.line(name.span)).into()),
        }
    }

    async fn property(&self, frame: &VmFrame, property: &Property) -> Flow {
        let mut value = self.look_up(frame, &property.of)?.value;
        for name in &property.path {
            match value.field(name.as_str()) {
                Some(field) => value = field,
                // For a text, someone can say what is meant; for a record, nobody can.
                None if matches!(value, Value::Text(_)) => {
                    let words = frame.module.text(property.span()).to_owned();
                    return self.judged_value(frame, property.span(), words).await;
                }
                None => {
                    let message = format!("{} has no {}", property.of.as_str(), name.as_str());
                    return Err(ThrownError::new(frame.line(property.span()), message).into());
                }
            }
        }
        Ok(value.into())
    }

    async fn fields(&self, frame: &VmFrame, entries: &[RecordEntry]) -> Flow {
        let mut fields = Vec::with_capacity(entries.len());
        for (at, entry) in entries.iter().enumerate() {
            let value = match &entry.value {
                Some(value) => self.value(&frame.at(at), value).await?,
                None => self.look_up(frame, &entry.key)?,
            };
            fields.push((entry.key.text.clone(), value.value));
        }
        Ok(Value::record(fields).into())
    }

    async fn sum(&self, frame: &VmFrame, sum: &Sum) -> Flow {
        let left = self.value(&frame.at("left"), &sum.left).await?.value;
        let right = self.value(&frame.at("right"), &sum.right).await?.value;
        match coerce::sum(&left, sum.sign, &right) {
            Some(value) => Ok(value.into()),
            None => {
                let span = sum.left.span().to(sum.right.span());
                let words = frame.module.text(span).to_owned();
                self.judged_value(frame, span, words).await
            }
        }
    }

    /// Asks for the value of words that cannot be evaluated (docs/prose-rules.md#rule-36).
    async fn judged_value(&self, frame: &VmFrame, span: Span, words: String) -> Flow {
        let answer = self
            .ask_text(frame, frame.site(span), None, format!("What is the value of: {words}"), true)
            .await?;
        Ok(Value::text(answer).into())
    }

    async fn arrow(&self, frame: &VmFrame, arrow: &Arrow) -> Flow {
        let mut before: Option<Evaluation> = None;
        for (at, step) in arrow.steps.iter().enumerate() {
            let own = frame.at(format!("then{at}"));
            let done = match step {
                Expr::Session(session) => self.session_after(&own, session, before.as_ref()).await?,
                other => self.value(&own, other).await?,
            };
            before = Some(done);
        }
        Ok(before.unwrap_or_default())
    }

    /// Evaluates the number of repetitions.
    pub(super) fn count(&self, frame: &VmFrame, count: &Count) -> Flow<u32> {
        match count {
            Count::Number(number) => Ok(number.get()),
            Count::Variable(name) => {
                let value = self.look_up(frame, name)?.value;
                let number = value.number().and_then(|number| u32::try_from(number).ok());
                number.filter(|number| *number > 0).ok_or_else(|| {
                    let message = format!("{} is no positive number", name.as_str());
                    ThrownError::new(frame.line(name.span), message).into()
                })
            }
        }
    }
}
