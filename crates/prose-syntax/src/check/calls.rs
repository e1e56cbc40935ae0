//! Checks of calls to used programs, as far as their inputs and outputs are known.

use super::Checker;
use crate::Contract;
use crate::ast::{BindingStatement, BindingTarget, CallExpr, Expr, Property};
use crate::codes::RuleCode;
use crate::similar::did_you_mean;

impl<'a> Checker<'a> {
    /// Reports used programs that cannot be read.
    pub(super) fn check_uses(&mut self) {
        for used in &self.program.uses {
            if let Some(Err(why)) = self.imports.get(&used.path.value) {
                let message = format!("\"{}\" cannot be read: {why}", used.path.value);
                self.reports.add(RuleCode::HPE026, used.path.span, message);
            }
        }
    }

    fn contract(&self, call: &CallExpr) -> Option<&'a Contract> {
        let used = self.definitions.uses.get(call.program.as_str())?;
        self.imports.get(&used.path.value)?.as_ref().ok()
    }

    pub(super) fn call(&mut self, call: &'a CallExpr) {
        self.check_call(call);
        let Some(contract) = self.contract(call) else { return };
        let program = &call.program.text;
        for (name, _) in &call.inputs {
            if !contract.inputs.contains(&name.text) {
                let message = format!("the program `{program}` has no input `{}`", name.text);
                let hint = among(name.as_str(), &contract.inputs);
                self.reports.add(RuleCode::E027, name.span, message).hint(hint);
            }
        }
        let given = |wanted: &str| call.inputs.iter().any(|(name, _)| name == wanted);
        let missing: Vec<&str> =
            contract.required.iter().map(AsRef::as_ref).filter(|name| !given(name)).collect();
        if !missing.is_empty() {
            let message = format!("the program `{program}` needs `{}`", missing.join("`, `"));
            self.reports.add(RuleCode::E026, call.program.span, message);
        }
    }

    /// Records a variable that is bound to the outputs of a program.
    pub(super) fn results(&mut self, binding: &'a BindingStatement) {
        let contract = match &*binding.value {
            Expr::Call(call) => self.contract(call),
            _ => None,
        };
        match (&binding.target, contract) {
            (BindingTarget::Name(name), Some(contract)) => {
                self.results.insert(name.as_str(), contract);
            }
            (BindingTarget::Name(name), None) => {
                self.results.remove(name.as_str());
            }
            (BindingTarget::Outputs(names), Some(contract)) => {
                for name in names {
                    self.output_of(name.as_str(), name.span, contract);
                }
            }
            (BindingTarget::Outputs(_), None) => {}
        }
    }

    /// Checks `result.output`.
    pub(super) fn property(&mut self, property: &Property) {
        let contract = self.results.get(property.of.as_str()).copied();
        if let (Some(contract), Some(name)) = (contract, property.path.first()) {
            self.output_of(name.as_str(), name.span, contract);
        }
    }

    fn output_of(&mut self, name: &str, span: crate::Span, contract: &Contract) {
        if !contract.outputs.iter().any(|known| **known == *name) {
            let message = format!("the program has no output `{name}`");
            let hint = among(name, &contract.outputs);
            self.reports.add(RuleCode::E028, span, message).hint(hint);
        }
    }
}

/// Lists the known names, or suggests the one that was probably meant.
fn among(name: &str, known: &[std::sync::Arc<str>]) -> String {
    let all =
        if known.is_empty() { "it has none".to_owned() } else { format!("it has: {}", known.join(", ")) };
    did_you_mean(name, known.iter().map(AsRef::as_ref)).unwrap_or(all)
}
