//! Pipelines: `map`, `filter`, `pmap`, `reduce`.

use super::control_flow::{Flow, ThrownError};
use super::effects::Effects;
use super::parallel::Iterations;
use super::{Vm, VmFrame, coerce};
use crate::prose::engine::value::Value;
use crate::prose::syntax::ast::{ParallelOnFail, Pipe, PipeStage, StageOperation};

/// The name of the element.
const ITEM: &str = "item";

impl<E: Effects> Vm<E> {
    /// Executes `xs | … | …`.
    pub(super) async fn pipe(&self, frame: &VmFrame, pipe: &Pipe) -> Flow {
        let mut value = self.value(&frame.at("in"), &pipe.input).await?.value;
        for (at, stage) in pipe.stages.iter().enumerate() {
            let line = frame.line(stage.span);
            let elements = value.elements();
            let elements =
                elements.ok_or_else(|| ThrownError::new(line, "a record is no collection to go over"))?;
            value = self.stage(&frame.at(format!("stage{at}")), stage, elements, line).await?;
        }
        Ok(value.into())
    }

    async fn stage(
        &self,
        frame: &VmFrame,
        stage: &PipeStage,
        elements: Vec<Value>,
        line: u32,
    ) -> Flow<Value> {
        if stage.operation == StageOperation::ParallelMap {
            let (span, body, on_fail) = (stage.span, &stage.body, ParallelOnFail::FailFast);
            let each = Iterations { span, body, item: ITEM, index: None, on_fail };
            return Ok(self.all_at_once(frame, each, elements).await?.value);
        }
        let mut elements = elements.into_iter().enumerate();
        let (mut values, mut gathered) = (Vec::new(), Value::Nothing);
        if let StageOperation::Reduce { .. } = stage.operation {
            gathered = elements.next().map(|(_, first)| first).unwrap_or_default();
        }
        for (at, element) in elements {
            let own = frame.at(at).inside();
            let mut item = ITEM;
            if let StageOperation::Reduce { accumulator, item: name } = &stage.operation {
                own.bind_local(accumulator.as_str(), std::mem::take(&mut gathered), line);
                item = name.as_str();
            }
            own.bind_local(item, element.clone(), line);
            let said = self.body(&own, &stage.body).await?.value;
            match &stage.operation {
                StageOperation::Reduce { .. } => gathered = said,
                StageOperation::Filter if self.stays(&own, stage, &said).await? => values.push(element),
                StageOperation::Filter => {}
                StageOperation::Map | StageOperation::ParallelMap => values.push(said),
            }
        }
        Ok(if let StageOperation::Reduce { .. } = stage.operation { gathered } else { Value::list(values) })
    }

    /// Returns whether an element is kept: a plain yes or no decides, anything else is judged
    /// (docs/prose-rules.md#rule-24).
    async fn stays(&self, frame: &VmFrame, stage: &PipeStage, said: &Value) -> Flow<bool> {
        if let Some(verdict) = coerce::verdict(said) {
            return Ok(verdict);
        }
        let text = format!("Does this say that the item stays?\n\n{}", said.inline_text());
        self.ask_yes_no(&frame.at("stays"), frame.site(stage.span), text, ("the item stays", "the item goes"))
            .await
    }
}
