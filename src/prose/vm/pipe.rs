//! Pipelines: `map`, `filter`, `pmap`, `reduce`.

use super::control::given;
use super::control_flow::{Evaluated, Halt, Thrown};
use super::effects::Effects;
use super::value::Value;
use super::{Frame, Vm, coerce};
use crate::prose::ast::{Pipe, Stage, StageOperation};

/// The name of the element.
const ITEM: &str = "item";

impl<E: Effects> Vm<E> {
    /// `xs | … | …`.
    pub(super) async fn pipe(&self, frame: &Frame, pipe: &Pipe) -> Result<Evaluated, Halt> {
        let mut value = self.value(&frame.at("in"), &pipe.input).await?.value;
        for (at, stage) in pipe.stages.iter().enumerate() {
            let line = frame.line(stage.span);
            let elements = value.elements();
            let elements =
                elements.ok_or_else(|| Thrown::new(line, "a record is no collection to go over"))?;
            value = self.stage(&frame.at(format!("stage{at}")), stage, elements, line).await?;
        }
        Ok(value.into())
    }

    async fn stage(
        &self,
        frame: &Frame,
        stage: &Stage,
        elements: Vec<Value>,
        line: u32,
    ) -> Result<Value, Halt> {
        match &stage.operation {
            StageOperation::ParallelMap => {
                let all = self.all_at_once(frame, stage.span, &stage.body, ITEM, None, elements).await?;
                Ok(all.value)
            }
            StageOperation::Map => {
                let mut values = Vec::with_capacity(elements.len());
                for (at, element) in elements.into_iter().enumerate() {
                    let own = frame.at(at).inside();
                    given(&own, ITEM, element, line);
                    values.push(self.body(&own, &stage.body).await?.value);
                }
                Ok(Value::list(values))
            }
            StageOperation::Filter => {
                let mut kept = Vec::new();
                for (at, element) in elements.into_iter().enumerate() {
                    let own = frame.at(at).inside();
                    given(&own, ITEM, element.clone(), line);
                    let said = self.body(&own, &stage.body).await?.value;
                    if self.stays(&own, stage, &said).await? {
                        kept.push(element);
                    }
                }
                Ok(Value::list(kept))
            }
            StageOperation::Reduce { accumulator, item } => {
                let mut elements = elements.into_iter().enumerate();
                let mut gathered = elements.next().map(|(_, first)| first).unwrap_or_default();
                for (at, element) in elements {
                    let own = frame.at(at).inside();
                    given(&own, accumulator.as_str(), gathered, line);
                    given(&own, item.as_str(), element, line);
                    gathered = self.body(&own, &stage.body).await?.value;
                }
                Ok(gathered)
            }
        }
    }

    /// Returns whether an element stays: a plain yes or no decides, anything else is judged (docs/prose-rules.md#rule-24).
    async fn stays(&self, frame: &Frame, stage: &Stage, said: &Value) -> Result<bool, Halt> {
        if let Some(verdict) = coerce::verdict(said) {
            return Ok(verdict);
        }
        let text = format!("Does this say that the item stays?\n\n{}", said.inserted());
        self.ask_yes_no(&frame.at("stays"), frame.site(stage.span), text, ("the item stays", "the item goes"))
            .await
    }
}
