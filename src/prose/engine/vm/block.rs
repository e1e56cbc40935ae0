//! Calls: of blocks of the same program, and of other programs.

use std::collections::HashMap;
use std::sync::Arc;

use super::control_flow::{Flow, Halt, ThrownError};
use super::effects::Effects;
use super::frame::{CallChain, Cwd};
use super::module::Module;
use super::scope::NameScope;
use super::{Vm, VmFrame};
use crate::prose::engine::record::state;
use crate::prose::engine::value::Value;
use crate::prose::syntax::ast::{CallExpr, Invocation};

/// The default limit on the depth of block calls.
const DEPTH: u32 = 100;

impl<E: Effects> Vm<E> {
    /// Executes `do block(…)`.
    pub(super) async fn invoke(&self, frame: &VmFrame, invocation: &Invocation) -> Flow {
        let (name, line) = (invocation.block.as_str(), frame.line(invocation.span));
        let Some(block) = frame.module.library.program.block(name).cloned() else {
            return Err(ThrownError::new(line, format!("there is no block {name}")).into());
        };
        let depth = frame.depth_of(name);
        let most = block.max_depth.map_or(DEPTH, |most| most.value.get());
        if depth >= most {
            let message = format!("block {name} calls itself more than {most} deep");
            return Err(ThrownError::new(line, message).into());
        }
        let mut arguments = Vec::with_capacity(invocation.arguments.len());
        for (at, argument) in invocation.arguments.iter().enumerate() {
            arguments.push(self.value(&frame.at(format!("arg{at}")), argument).await?.value);
        }
        let id = self.journal.number("call", &frame.key)?;
        let own = VmFrame {
            scope: frame.scope.call(id),
            calls: Some(Arc::new(CallChain { block: name.into(), outer: frame.calls.clone() })),
            caught: None,
            pass: None,
            ..frame.at("call")
        };
        let missing = std::iter::repeat(Value::Nothing);
        for (parameter, argument) in block.parameters.iter().zip(arguments.into_iter().chain(missing)) {
            own.bind_local(parameter.as_str(), argument, line);
        }
        self.mark(frame, line, state::call(&frame.number, name, id)).await?;
        let value = match self.body(&own, &block.body).await {
            Ok(last) => match Self::outputs_of(&own) {
                Some(outputs) => outputs.into(),
                None => last,
            },
            Err(Halt::Return(value)) => value,
            Err(other) => return Err(other),
        };
        self.mark(frame, line, state::call_end(&frame.number, id)).await?;
        Ok(value)
    }

    /// Executes `program(…)`: another program, with its own folder and names. It starts in its caller's current
    /// directory, and does not change that of its caller (docs/prose-rules.md#rule-4).
    pub(super) async fn call(&self, frame: &VmFrame, call: &CallExpr) -> Flow {
        let (name, line) = (call.program.as_str(), frame.line(call.span));
        let Some(library) = frame.module.library.uses.get(name).cloned() else {
            return Err(ThrownError::new(line, format!("no used program is called {name}")).into());
        };
        if frame.depth_of(name) >= DEPTH {
            return Err(ThrownError::new(line, format!("{name} calls itself more than {DEPTH} deep")).into());
        }
        let mut given = HashMap::new();
        for (input, value) in &call.inputs {
            let value = self.value(&frame.at(format!("in-{}", input.as_str())), value).await?.value;
            given.insert(input.as_str().to_owned(), value);
        }
        let times = self.journal.number(&format!("import:{}", library.name), &frame.key)?;
        let folder = if times == 1 { library.name.clone() } else { format!("{}__{times}", library.name) };
        let folder = frame.module.folder.import(&folder, &self.run, library.source.text())?;
        let module = Arc::new(Module { library, folder: Arc::new(folder), given, is_main: false });
        let own = VmFrame {
            module,
            scope: NameScope::root(),
            cwd: Cwd::new(frame.cwd.get()),
            calls: Some(Arc::new(CallChain { block: name.into(), outer: frame.calls.clone() })),
            caught: None,
            pass: None,
            ..frame.at("program")
        };
        let ended = self.program(&own).await;
        let at = self.effects.now();
        let last = match ended {
            Ok(last) | Err(Halt::Return(last)) => {
                self.ending(&own, &state::end(at))?;
                last
            }
            Err(Halt::Thrown(thrown)) => {
                self.ending(&own, &state::error(at, &thrown.message))?;
                let message = format!("{name}, line {}: {}", thrown.line, thrown.message);
                return Err(ThrownError { message, line, ..(*thrown).clone() }.into());
            }
            Err(other) => return Err(other),
        };
        let outputs = own.scope.outputs();
        if outputs.is_empty() {
            return Ok(last);
        }
        let fields = outputs.into_iter().map(|(name, bound)| (name, bound.value.clone()));
        Ok(Value::record(fields.collect()).into())
    }
}

impl<E: Effects> Vm<E> {
    /// Writes the last line of a used program's `state.md`, once.
    fn ending(&self, frame: &VmFrame, line: &str) -> Flow<()> {
        let (key, folder) = (frame.at("end").key, &frame.module.folder);
        // The line has a timestamp, so it differs in each execution.
        if !self.journal.is_marked(&key) && self.journal.mark(&key, line, folder.path())? {
            folder.note(line)?;
        }
        Ok(())
    }
}

impl VmFrame {
    /// Returns how often a block or program occurs in the current chain of calls.
    fn depth_of(&self, name: &str) -> u32 {
        let calls = std::iter::successors(self.calls.as_deref(), |call| call.outer.as_deref());
        u32::try_from(calls.filter(|call| *call.block == *name).count()).unwrap_or(u32::MAX)
    }
}
