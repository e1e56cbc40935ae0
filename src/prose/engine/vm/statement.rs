//! Statements: bindings, assignments, outputs, returns, errors; everything else is an expression.

use std::sync::Arc;

use super::control_flow::{Evaluation, Flow, Halt, ThrownError, Walk};
use super::effects::Effects;
use super::file::NamedValue;
use super::frame::Site;
use super::scope::BindingKind;
use super::{Vm, VmFrame};
use crate::model::StepState;
use crate::prose::engine::record::state;
use crate::prose::engine::value::{RecordValue, Value};
use crate::prose::syntax::ast::{
    Assignment, BindingStatement, BindingTarget, Expr, InputPrompt, Mutability, OutputStatement, Statement,
    StatementKind, Text,
};

impl<E: Effects> Vm<E> {
    /// Executes a module's program: its statements in order, numbered from 1.
    pub fn program<'a>(&'a self, frame: &'a VmFrame) -> Walk<'a> {
        Box::pin(async move {
            let (mut number, mut last) = (0_u32, Evaluation::default());
            for statement in frame.module.library.program.body.iter() {
                number += u32::from(statement.is_executed());
                let mut own = frame.statement(statement);
                if frame.module.is_main {
                    own.number = number.to_string().into();
                }
                last = self.statement(&own, statement).await?;
            }
            Ok(last)
        })
    }

    /// Executes statements in order, in the scope of the frame; the value is that of the last one.
    pub(super) fn body<'a>(&'a self, frame: &'a VmFrame, body: &'a [Statement]) -> Walk<'a> {
        Box::pin(async move {
            let mut last = Evaluation::default();
            for statement in body {
                last = self.statement(&frame.statement(statement), statement).await?;
            }
            Ok(last)
        })
    }

    pub(super) async fn statement(&self, frame: &VmFrame, statement: &Statement) -> Flow {
        if frame.cancel.is_cancelled() {
            return Err(Halt::Cancelled);
        }
        self.show_step(frame, statement.span, StepState::Running);
        let ended = self.carry_out(frame, statement).await;
        self.show_step(frame, statement.span, step_state(&ended));
        if let Err(Halt::Thrown(thrown)) = &ended
            && is_leaf(&statement.kind)
        {
            self.mark(frame, thrown.line, state::failure(&frame.number, &thrown.message)).await?;
        }
        ended
    }

    async fn carry_out(&self, frame: &VmFrame, statement: &Statement) -> Flow {
        let site = frame.site(statement.span);
        match &statement.kind {
            StatementKind::Input(input) => self.input(frame, input, site).await,
            StatementKind::Bind(binding) => self.bind(frame, binding, site).await,
            StatementKind::Assign(assignment) => self.assign(frame, assignment, site).await,
            StatementKind::Output(output) => self.output(frame, output, site).await,
            StatementKind::Return(value) => {
                let value = match value {
                    Some(value) => self.value(frame, value).await?,
                    None => Evaluation::default(),
                };
                Err(Halt::Return(value))
            }
            StatementKind::Gate(gate) => self.gate(frame, gate, site).await,
            StatementKind::Throw(message) => Err(self.throw(frame, message.as_ref(), site)?.into()),
            StatementKind::Do(expr) => self.perform(frame, expr, site).await,
        }
    }

    /// Executes an expression as a statement.
    async fn perform(&self, frame: &VmFrame, expr: &Expr, site: Site) -> Flow {
        let done = self.value(frame, expr).await?;
        match expr {
            Expr::Session(_) | Expr::Resume(_) => {
                let number = self.journal.number("anon", &frame.key)?;
                let name = format!("anon_{number:03}");
                let named = NamedValue { name: &name, kind: BindingKind::Let, value: &done, site };
                self.write(frame, &named, self.file_id(frame, &name, BindingKind::Let)?)?;
                self.mark(frame, site.line, state::completion(&frame.number, None)).await?;
            }
            Expr::Exec(_) | Expr::Arrow(_) | Expr::Call(_) | Expr::Pipe(_) => {
                self.mark(frame, site.line, state::completion(&frame.number, None)).await?;
            }
            _ => {}
        }
        Ok(done)
    }

    async fn input(
        &self,
        frame: &VmFrame,
        input: &crate::prose::syntax::ast::InputStatement,
        site: Site,
    ) -> Flow {
        let name = input.name.as_str();
        let value = match frame.module.given.get(name) {
            Some(given) => given.clone(),
            None => {
                let may_agents = matches!(input.prompt, InputPrompt::Judged(_));
                let prompt = self.fill(frame, input.prompt.text())?;
                Value::text(self.ask_text(frame, site, Some(name), prompt, may_agents).await?)
            }
        };
        let value = Evaluation::from(value);
        self.bind_name(frame, NamedValue { name, kind: BindingKind::Input, value: &value, site }).await?;
        Ok(value)
    }

    async fn bind(&self, frame: &VmFrame, binding: &BindingStatement, site: Site) -> Flow {
        let kind = match binding.mutability {
            Mutability::Let => BindingKind::Let,
            Mutability::Const => BindingKind::Const,
        };
        let value = self.value(frame, &binding.value).await;
        let value = value.inspect_err(|_| {
            for name in binding.target.names() {
                frame.scope.record_failure(name.as_str(), site.line);
            }
        })?;
        match &binding.target {
            BindingTarget::Name(name) => {
                let named = NamedValue { name: name.as_str(), kind, value: &value, site };
                self.bind_name(frame, named).await?;
            }
            BindingTarget::Outputs(names) => {
                for name in names {
                    let part = value.value.field(name.as_str()).ok_or_else(|| {
                        ThrownError::new(site.line, format!("the value has no output {}", name.as_str()))
                    })?;
                    let named = NamedValue { name: name.as_str(), kind, value: &part.into(), site };
                    self.bind_name(frame, named).await?;
                }
            }
        }
        Ok(value)
    }

    async fn assign(&self, frame: &VmFrame, assignment: &Assignment, site: Site) -> Flow {
        let name = assignment.name.as_str();
        // If this throws, the old value is kept.
        let value = self.value(frame, &assignment.value).await?;
        let old = frame.scope.find(name).ok();
        let kind = old.as_ref().map_or(BindingKind::Let, |old| old.kind);
        let id = old.as_ref().and_then(|old| old.execution_id);
        let bound = self.write(frame, &NamedValue { name, kind, value: &value, site }, id)?;
        let value = Evaluation { value: bound.value.clone(), made: bound.made.clone() };
        frame.scope.assign(name, bound);
        self.show_binding(frame, name);
        self.mark(frame, site.line, state::completion(&frame.number, Some(name))).await?;
        Ok(value)
    }

    async fn output(&self, frame: &VmFrame, output: &OutputStatement, site: Site) -> Flow {
        let name = output.name.as_str();
        let value = self.value(frame, &output.value).await;
        let value = value.inspect_err(|_| frame.scope.record_failure(name, site.line))?;
        self.bind_name(frame, NamedValue { name, kind: BindingKind::Output, value: &value, site }).await?;
        // An output of a branch is an output of the enclosing block as well.
        if let Ok(bound) = frame.scope.find(name) {
            frame.scope.frame().bind(name, (*bound).clone());
        }
        Ok(value)
    }

    fn throw(&self, frame: &VmFrame, message: Option<&Text>, site: Site) -> Flow<Arc<ThrownError>> {
        match (message, &frame.caught) {
            (Some(message), _) => {
                let message = self.fill(frame, message)?;
                // Thrown because of another error, which may not recur on a retry.
                let place = frame.caught.as_ref().and_then(|caught| caught.place.clone());
                Ok(Arc::new(ThrownError { place, ..ThrownError::new(site.line, message) }))
            }
            (None, Some(caught)) => Ok(caught.clone()),
            (None, None) => Ok(Arc::new(ThrownError::new(site.line, "thrown without a message"))),
        }
    }

    /// Returns the outputs of a frame as one value: the only one, or a record of all.
    pub(super) fn outputs_of(frame: &VmFrame) -> Option<Value> {
        let outputs = frame.scope.outputs();
        match &*outputs {
            [] => None,
            [(_, only)] => Some(only.value.clone()),
            all => {
                let fields = all.iter().map(|(name, bound)| (name.clone(), bound.value.clone()));
                Some(Value::Record(RecordValue(fields.collect())))
            }
        }
    }
}

impl From<Arc<ThrownError>> for Halt {
    fn from(thrown: Arc<ThrownError>) -> Self {
        Self::Thrown(thrown)
    }
}

/// Returns whether a statement fails by itself rather than because of one inside it.
fn is_leaf(kind: &StatementKind) -> bool {
    match kind {
        StatementKind::Do(expr) => expr.is_leaf(),
        StatementKind::Bind(BindingStatement { value, .. })
        | StatementKind::Assign(Assignment { value, .. })
        | StatementKind::Output(OutputStatement { value, .. }) => value.is_leaf(),
        StatementKind::Return(_) => false,
        StatementKind::Input(_) | StatementKind::Gate(_) | StatementKind::Throw(_) => true,
    }
}

fn step_state(ended: &Flow) -> StepState {
    match ended {
        Ok(_) | Err(Halt::Return(_)) => StepState::Done,
        Err(Halt::Cancelled) => StepState::Cancelled,
        Err(_) => StepState::Failed,
    }
}
