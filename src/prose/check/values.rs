//! Expressions and conditions: every name in them, and what they call.

use super::Checker;
use super::scope::candidates;
use crate::prose::ast::{
    Call, Condition, Count, Expr, Invocation, Loop, LoopTest, Name, Pipe, StageOperation, Try,
};
use crate::prose::codes::Code;
use crate::prose::nearest;

impl<'a> Checker<'a> {
    pub(super) fn value(&mut self, value: &'a Expr) {
        match value {
            Expr::Text(text) => self.text(text),
            Expr::Number(_) | Expr::Opaque(_) => {}
            Expr::Name(name) => self.used(name, "variable"),
            Expr::Property(property) => {
                self.used(&property.of, "variable");
                self.property(property);
            }
            Expr::List(list) => list.value.iter().for_each(|value| self.value(value)),
            Expr::Record(record) => {
                for entry in &record.value {
                    match &entry.value {
                        Some(value) => self.value(value),
                        None => self.used(&entry.key, "variable"),
                    }
                }
            }
            Expr::Session(session) => self.session(session),
            Expr::Resume(resume) => self.resume(resume),
            Expr::Exec(exec) => self.exec(exec),
            Expr::Do(body) => self.body(&body.value),
            Expr::Invoke(invocation) => self.invocation(invocation),
            Expr::Call(call) => self.call(call),
            Expr::Parallel(parallel) => self.branches(&parallel.branches),
            Expr::Repeat(repeat) => {
                self.count(&repeat.count);
                self.body_with(&named(repeat.index.as_ref(), "loop variable"), &repeat.body);
            }
            Expr::For(each) => {
                match &*each.collection {
                    Expr::Name(name) => self.used(name, "collection"),
                    other => self.value(other),
                }
                let mut names = vec![(&each.item, "loop variable")];
                names.extend(named(each.index.as_ref(), "loop variable"));
                self.body_with(&names, &each.body);
            }
            Expr::Loop(unbounded) => self.unbounded(unbounded),
            Expr::Try(attempt) => self.attempt(attempt),
            Expr::Choice(choice) => {
                self.text(&choice.criteria);
                for option in &choice.options {
                    self.text(&option.label);
                    self.body(&option.body);
                }
            }
            Expr::If(decision) => {
                for arm in &decision.arms {
                    self.condition(&arm.condition);
                    self.body(&arm.body);
                }
                if let Some(otherwise) = &decision.otherwise {
                    self.body(otherwise);
                }
            }
            Expr::Arrow(arrow) => arrow.steps.iter().for_each(|step| self.value(step)),
            Expr::Pipe(pipe) => self.pipe(pipe),
            Expr::Sum(sum) => {
                self.value(&sum.left);
                self.value(&sum.right);
            }
        }
    }

    pub(super) fn used(&mut self, name: &'a Name, what: &str) {
        if self.visible(name.as_str()).is_none() {
            let message = format!("the {what} `{}` is not defined", name.text);
            let advice = self.advice(name, Code::HPE002.row().fix);
            self.reports.add(Code::HPE002, name.span, message).hint(advice);
        }
    }

    fn count(&mut self, count: &'a Count) {
        if let Count::Variable(name) = count {
            self.used(name, "variable");
        }
    }

    fn condition(&mut self, condition: &'a Condition) {
        match condition {
            Condition::Judged(text) => self.text(text),
            Condition::Compare { left, right, .. } => {
                self.value(left);
                self.value(right);
            }
            Condition::Not(inner) => self.condition(inner),
            Condition::And(left, right) | Condition::Or(left, right) => {
                self.condition(left);
                self.condition(right);
            }
            Condition::Value(value) => self.value(value),
            Condition::Opaque(_) => {}
        }
    }

    fn unbounded(&mut self, unbounded: &'a Loop) {
        if let LoopTest::Until(condition) | LoopTest::While(condition) = &unbounded.test {
            self.condition(condition);
        }
        if let Some(max) = &unbounded.max {
            self.count(max);
        }
        self.body_with(&named(unbounded.index.as_ref(), "loop variable"), &unbounded.body);
    }

    fn attempt(&mut self, attempt: &'a Try) {
        self.body(&attempt.body);
        if let Some(catch) = &attempt.catch {
            self.catches += 1;
            self.body_with(&named(catch.error.as_ref(), "error variable"), &catch.body);
            self.catches -= 1;
        }
        if let Some(finally) = &attempt.finally {
            self.body(finally);
        }
    }

    fn pipe(&mut self, pipe: &'a Pipe) {
        match &*pipe.input {
            Expr::Name(name) => self.used(name, "collection"),
            other => self.value(other),
        }
        for stage in &pipe.stages {
            match &stage.operation {
                StageOperation::Reduce { accumulator, item } => {
                    let names = [(accumulator, "accumulator"), (item, "element")];
                    self.body_with(&names, &stage.body);
                }
                _ => {
                    let header = self.header(stage.span);
                    self.body_with_item(header, &stage.body);
                }
            }
        }
    }

    fn invocation(&mut self, invocation: &'a Invocation) {
        for argument in &invocation.arguments {
            self.value(argument);
        }
        let name = &invocation.block;
        let Some(block) = self.definitions.blocks.get(name.as_str()).copied() else {
            let names = candidates(self.definitions.blocks.keys().copied());
            let hint = match nearest(name.as_str(), names) {
                Some(near) => format!("did you mean `{near}`?"),
                None if self.definitions.uses.contains_key(name.as_str()) => {
                    format!("`{0}` is a program: write `{0}(input: value)` without `do`", name.text)
                }
                None => Code::HPE005.row().fix.to_owned(),
            };
            let message = format!("the block `{}` is not defined", name.text);
            self.reports.add(Code::HPE005, name.span, message).hint(hint);
            return;
        };
        let (takes, given) = (block.parameters.len(), invocation.arguments.len());
        if takes != given {
            let message = format!("Block expects {takes} parameters but got {given} arguments");
            self.reports.add(Code::HPW003, invocation.span, message).related(block.name.span, "the block");
        }
    }

    /// Looks for the program that is called.
    pub(super) fn called(&mut self, call: &'a Call) {
        let name = &call.program;
        if !self.definitions.uses.contains_key(name.as_str()) {
            let names = candidates(self.definitions.uses.keys().copied());
            let hint = match nearest(name.as_str(), names) {
                Some(near) => format!("did you mean `{near}`?"),
                None if self.definitions.blocks.contains_key(name.as_str()) => {
                    format!("`{0}` is a block: write `do {0}(value)`", name.text)
                }
                None => Code::E025.row().fix.to_owned(),
            };
            let message = format!("no program is used as `{}`", name.text);
            self.reports.add(Code::E025, name.span, message).hint(hint);
        }
    }
}

fn named<'a>(name: Option<&'a Name>, what: &'static str) -> Vec<(&'a Name, &'static str)> {
    name.map(|name| (name, what)).into_iter().collect()
}
