//! Conditions and choices: judged by somebody, unless comparing decides them for certain.

use super::control_flow::{Evaluated, Halt};
use super::effects::Effects;
use super::{Frame, Vm, Walk, coerce};
use crate::prose::ast::{Choice, Condition, If};
use crate::prose::source::Span;

impl<E: Effects> Vm<E> {
    /// Tells whether a condition holds. `follows` says what a yes and a no lead to.
    pub(super) fn holds<'a>(
        &'a self,
        frame: &'a Frame,
        condition: &'a Condition,
        follows: (&'a str, &'a str),
    ) -> Walk<'a, bool> {
        Box::pin(async move {
            match condition {
                Condition::Judged(text) => {
                    let text_in_full = self.filled(frame, text)?.trim().to_owned();
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
                    match coerce::compare(&left, *by, &right) {
                        Some(holds) => Ok(holds),
                        None => self.words(frame, condition.span(), follows).await,
                    }
                }
                Condition::Value(value) => {
                    let value = self.value(&frame.at("value"), value).await?.value;
                    match coerce::verdict(&value) {
                        Some(holds) => Ok(holds),
                        None => self.words(frame, condition.span(), follows).await,
                    }
                }
            }
        })
    }

    async fn words(&self, frame: &Frame, span: Span, follows: (&str, &str)) -> Result<bool, Halt> {
        let words = frame.module.text(span).trim().to_owned();
        self.ask_yes_no(frame, frame.site(span), words, follows).await
    }

    /// `if`, `elif`, `else`: the first arm whose condition holds.
    pub(super) async fn decision(&self, frame: &Frame, decision: &If) -> Result<Evaluated, Halt> {
        for (at, arm) in decision.arms.iter().enumerate() {
            let own = frame.at(format!("if{at}"));
            if self.holds(&own, &arm.condition, ("", "")).await? {
                return self.body(&own.inside(), &arm.body).await;
            }
        }
        match &decision.otherwise {
            Some(body) => self.body(&frame.at("else").inside(), body).await,
            None => Ok(Evaluated::default()),
        }
    }

    /// `choice`: the option somebody picks.
    pub(super) async fn choice(&self, frame: &Frame, choice: &Choice) -> Result<Evaluated, Halt> {
        let labels: Result<Vec<String>, Halt> =
            choice.options.iter().map(|option| self.filled(frame, &option.label)).collect();
        let text = self.filled(frame, &choice.criteria)?.trim().to_owned();
        let chosen = self.ask_choice(frame, frame.site(choice.criteria.span), text, labels?).await?;
        match choice.options.get(chosen) {
            Some(option) => self.body(&frame.at(format!("option{chosen}")).inside(), &option.body).await,
            None => Ok(Evaluated::default()),
        }
    }
}
