//! Checks of names where they are used, and of the arguments of blocks and programs.

use super::Checker;
use super::scope::suggestion;
use crate::ast::{CallExpr, Invocation, Name};
use crate::codes::RuleCode;

impl<'a> Checker<'a> {
    /// Reports the use of a name that is not visible.
    pub(super) fn used_as(&mut self, name: &'a Name, what: &str) {
        if self.visible(name.as_str()).is_none() {
            let message = format!("the {what} `{}` is not defined", name.text);
            let advice = self.advice(name, RuleCode::HPE002.row().fix);
            self.reports.add(RuleCode::HPE002, name.span, message).hint(advice);
        }
        self.check_contender(name);
    }

    pub(super) fn invocation(&mut self, invocation: &'a Invocation) {
        let name = &invocation.block;
        let Some(block) = self.definitions.blocks.get(name.as_str()).copied() else {
            let is_program = self.definitions.uses.contains_key(name.as_str());
            let hint = suggestion(name, self.definitions.blocks.keys().copied());
            let other = format!("`{0}` is a program: write `{0}(input: value)` without `do`", name.text);
            let hint = hint.or(is_program.then_some(other));
            let message = format!("the block `{}` is not defined", name.text);
            self.reports.add(RuleCode::HPE005, name.span, message).hint_if(hint);
            return;
        };
        let (takes, given) = (block.parameters.len(), invocation.arguments.len());
        if takes != given {
            let message = format!("Block expects {takes} parameters but got {given} arguments");
            self.reports.add(RuleCode::HPW003, invocation.span, message).relate(block.name.span, "the block");
        }
    }

    /// Reports the call of a program that has not been imported.
    pub(super) fn check_call(&mut self, call: &'a CallExpr) {
        let name = &call.program;
        if !self.definitions.uses.contains_key(name.as_str()) {
            let is_block = self.definitions.blocks.contains_key(name.as_str());
            let hint = suggestion(name, self.definitions.uses.keys().copied());
            let other = format!("`{0}` is a block: write `do {0}(value)`", name.text);
            let hint = hint.or(is_block.then_some(other));
            let message = format!("no program is used as `{}`", name.text);
            self.reports.add(RuleCode::E025, name.span, message).hint_if(hint);
        }
    }
}
