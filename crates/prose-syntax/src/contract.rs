//! The inputs and outputs of a program: enough to check the programs that call it.

use std::collections::HashMap;
use std::sync::Arc;

use super::ast::visit::{NameKind, each_declared};
use super::ast::{Program, StatementKind};

/// The inputs and outputs of a program.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Contract {
    /// Its inputs, in source order.
    pub inputs: Vec<Arc<str>>,
    /// The inputs that a caller must provide: those before the first executed statement. The program may ask for
    /// others later.
    pub required: Vec<Arc<str>>,
    /// Its outputs, in source order.
    pub outputs: Vec<Arc<str>>,
}

/// What is known about the programs that another one uses, by the path as written there; or why one of them cannot be
/// read. Nothing is reported about a path that is not in it.
pub type Imports = HashMap<String, Result<Contract, String>>;

impl Contract {
    /// Returns the inputs and outputs of a program.
    pub fn of(program: &Program) -> Self {
        let is_input = |kind: &StatementKind| matches!(kind, StatementKind::Input(_));
        let first = program.body.iter().take_while(|statement| is_input(&statement.kind)).count();
        let inputs: Vec<Arc<str>> = program.inputs().map(|input| input.name.text.clone()).collect();
        let required = inputs.iter().take(first).cloned().collect();
        let mut outputs: Vec<Arc<str>> = Vec::new();
        each_declared(&program.body, |name, kind| {
            if kind == NameKind::Output && !outputs.contains(&name.text) {
                outputs.push(name.text.clone());
            }
        });
        Self { inputs, required, outputs }
    }
}
