//! Every name that a body declares, wherever in it.

use super::scope::Kind;
use crate::prose::ast::{Branch, Catch, Expr, Name, Statement, StatementKind};

/// What is told of each name.
pub(in crate::prose) type Found<'f, 'a> = dyn FnMut(&'a Name, Kind) + 'f;

/// Calls `found` for each name that statements declare, wherever in them.
pub(in crate::prose) fn each<'a>(body: &'a [Statement], found: &mut Found<'_, 'a>) {
    for statement in body {
        in_statement(statement, found);
    }
}

fn in_statement<'a>(statement: &'a Statement, found: &mut Found<'_, 'a>) {
    match &statement.kind {
        StatementKind::Input(input) => found(&input.name, Kind::Input),
        StatementKind::Bind(binding) => {
            for name in binding.target.names() {
                found(name, Kind::Bound(binding.mutability));
            }
            in_value(&binding.value, found);
        }
        StatementKind::Assign(assigned) => {
            found(&assigned.name, Kind::Assigned);
            in_value(&assigned.value, found);
        }
        StatementKind::Output(output) => {
            found(&output.name, Kind::Output);
            in_value(&output.value, found);
        }
        StatementKind::Do(value) | StatementKind::Return(Some(value)) => in_value(value, found),
        StatementKind::Gate(_) | StatementKind::Throw(_) | StatementKind::Return(None) => {}
    }
}

fn in_value<'a>(value: &'a Expr, found: &mut Found<'_, 'a>) {
    match value {
        Expr::Do(body) => each(&body.value, found),
        Expr::Parallel(parallel) => {
            for branch in &parallel.branches {
                match branch {
                    Branch::Named { name, value } => {
                        found(name, Kind::Branch);
                        in_value(value, found);
                    }
                    Branch::Statement(statement) => in_statement(statement, found),
                }
            }
        }
        Expr::Repeat(repeat) => each(&repeat.body, found),
        Expr::For(over) => each(&over.body, found),
        Expr::Loop(unbounded) => each(&unbounded.body, found),
        Expr::Try(attempt) => {
            each(&attempt.body, found);
            let catch = attempt.catch.as_ref().map(|Catch { body, .. }| body);
            for body in catch.into_iter().chain(&attempt.finally) {
                each(body, found);
            }
        }
        Expr::Choice(choice) => choice.options.iter().for_each(|option| each(&option.body, found)),
        Expr::If(decision) => {
            decision.arms.iter().for_each(|arm| each(&arm.body, found));
            decision.otherwise.iter().for_each(|body| each(body, found));
        }
        Expr::Pipe(pipe) => pipe.stages.iter().for_each(|stage| each(&stage.body, found)),
        _ => {}
    }
}
