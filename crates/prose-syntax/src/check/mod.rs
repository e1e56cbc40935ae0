//! Semantic checks that do not require running a program: names, agents, blocks, commands. Accepts any tree,
//! including one with errors.

mod agents;
mod calls;
mod commands;
mod definitions;
mod scope;
mod values;

use std::cell::OnceCell;
use std::collections::HashMap;

use self::definitions::Definitions;
use self::scope::Declarations;
use super::ast::visit::{
    Local, NameKind, Visitor, walk_catch, walk_properties, walk_session, walk_stage, walk_statement,
    walk_value,
};
use super::ast::{
    AgentDefinition, Branch, Catch, Expr, For, ForMode, GateStatement, Name, OnReject, Parallel, PipeStage,
    Program, SessionExpr, StageOperation, Statement, StatementKind, Statements, Text,
};
use super::codes::RuleCode;
use super::contract::{Contract, Imports};
use super::diagnostic::Reports;
use super::source::{SourceText, Span};

pub(super) fn check(source: &SourceText, program: &Program, imports: &Imports, reports: &mut Reports) {
    let definitions = Definitions::collect(program, reports);
    let mut checker = Checker {
        source,
        program,
        imports,
        definitions,
        reports,
        root: Declarations::of(&program.body),
        frame: Declarations::of(&program.body),
        in_block: false,
        in_context: false,
        catches: 0,
        everywhere: HashMap::new(),
        started: HashMap::new(),
        results: HashMap::new(),
        block_names: OnceCell::new(),
    };
    checker.whole();
}

struct Checker<'a> {
    source: &'a SourceText,
    program: &'a Program,
    imports: &'a Imports,
    definitions: Definitions<'a>,
    reports: &'a mut Reports,
    /// The names at the top level; blocks see all of them.
    root: Declarations<'a>,
    /// The names of the part being checked: the top level, or a block.
    frame: Declarations<'a>,
    in_block: bool,
    /// Whether this is in the list of a context, in which branches that a parallel block completed without are simply
    /// omitted.
    in_context: bool,
    /// How many `catch` bodies are open.
    catches: usize,
    /// The first position of each name in the whole program.
    everywhere: HashMap<&'a str, Span>,
    /// The agents that have run in the current frame, and where.
    started: HashMap<&'a str, Span>,
    /// Variables that hold the outputs of a program.
    results: HashMap<&'a str, &'a Contract>,
    /// The names bound by blocks, each with one such block; computed when a hint needs them.
    block_names: OnceCell<HashMap<&'a str, &'a str>>,
}

impl<'a> Checker<'a> {
    fn whole(&mut self) {
        let program = self.program;
        self.check_agents();
        self.check_uses();
        self.inputs_first();
        self.body(&program.body);
        let fresh = Declarations::of(&program.body);
        self.root = std::mem::replace(&mut self.frame, fresh);
        self.in_block = true;
        for agent in &program.agents {
            walk_properties(self, &agent.properties);
        }
        for block in &program.blocks {
            self.frame = Declarations::of(&block.body);
            self.started.clear();
            for parameter in &block.parameters {
                self.local(parameter, "parameter");
            }
            self.body(&block.body);
        }
    }

    /// Reports inputs that come after an executed statement.
    fn inputs_first(&mut self) {
        let mut executed = None;
        for statement in self.program.body.iter() {
            match &statement.kind {
                StatementKind::Input(input) => {
                    if let Some(first) = executed {
                        let message =
                            format!("the input `{}` comes after something was executed", input.name.text);
                        self.reports
                            .add(RuleCode::OPW007, input.name.span, message)
                            .relate(first, "executed before it");
                    }
                }
                _ if executed.is_none() => executed = Some(self.source.first_line(statement.span)),
                _ => {}
            }
        }
    }

    /// Reports a gate that does not guard the command after it.
    fn guards(&mut self, gate: &GateStatement, next: Option<&Statement>) {
        if !matches!(gate.on_reject, Some(OnReject::Continue)) {
            return;
        }
        let value = match next.map(|next| &next.kind) {
            Some(StatementKind::Do(value)) => value,
            Some(StatementKind::Bind(binding)) => &binding.value,
            Some(StatementKind::Output(output)) => &output.value,
            _ => return,
        };
        if let Expr::Exec(exec) = &**value {
            let message = format!("this command runs even if the gate `{}` is rejected", gate.name.text);
            let span = exec.command.span;
            self.reports
                .add(RuleCode::HPW018, span, message)
                .relate(gate.name.span, "it goes on when rejected");
        }
    }

    fn agent(&self, name: &str) -> Option<&'a AgentDefinition> {
        self.definitions.agents.get(name).copied()
    }
}

impl<'a> Visitor<'a> for Checker<'a> {
    fn statement(&mut self, statement: &'a Statement) {
        match &statement.kind {
            // A name is not visible in its own value.
            StatementKind::Bind(binding) => {
                self.value(&binding.value);
                self.results(binding);
                for name in binding.target.names() {
                    self.declare(name, NameKind::Bound(binding.mutability));
                }
            }
            StatementKind::Assign(assigned) => {
                self.value(&assigned.value);
                self.results.remove(assigned.name.as_str());
                self.assign(&assigned.name);
            }
            StatementKind::Output(output) => {
                self.value(&output.value);
                self.declare(&output.name, NameKind::Output);
            }
            StatementKind::Throw(None) if self.catches == 0 && !self.in_block => {
                self.reports.add(RuleCode::HPW019, statement.span, "there is no error here to raise again");
            }
            _ => walk_statement(self, statement),
        }
    }

    fn alternative(&mut self, body: &'a Statements) {
        self.frame.open_alternative();
        self.body(body);
        self.frame.close();
    }

    fn body(&mut self, body: &'a Statements) {
        self.frame.open();
        for (at, statement) in body.iter().enumerate() {
            self.statement(statement);
            if let StatementKind::Gate(gate) = &statement.kind {
                self.guards(gate, body.get(at + 1));
            }
        }
        self.frame.close();
    }

    fn scope(&mut self, locals: &[Local<'a>], body: &'a Statements) {
        let outer = self.frame.local_count();
        for (name, what) in locals {
            self.local(name, what);
        }
        self.body(body);
        self.frame.forget_locals(outer);
    }

    fn parallel(&mut self, parallel: &'a Parallel) {
        self.frame.open();
        for branch in &parallel.branches {
            match branch {
                Branch::Named { value, .. } => self.value(value),
                Branch::Statement(statement) => {
                    self.frame.open();
                    self.statement(statement);
                    self.frame.close();
                }
            }
        }
        // The names of branches exist only once the block has completed.
        let may_be_lost = parallel.goes_on_without_some();
        let kind = if may_be_lost { NameKind::Contender } else { NameKind::Branch };
        for branch in &parallel.branches {
            if let Branch::Named { name, .. } = branch {
                self.declare(name, kind);
            }
        }
        self.frame.close();
    }

    fn catch(&mut self, catch: &'a Catch) {
        self.catches += 1;
        self.frame.open_alternative();
        walk_catch(self, catch);
        self.frame.close();
        self.catches -= 1;
    }

    fn stage(&mut self, stage: &'a PipeStage) {
        if let StageOperation::Reduce { .. } = stage.operation {
            return walk_stage(self, stage);
        }
        let outer = self.frame.local_count();
        self.local_text("item", self.source.first_line(stage.span), "element");
        let before = self.frame.mark();
        self.body(&stage.body);
        self.frame.forget_locals(outer);
        if stage.operation == StageOperation::ParallelMap {
            self.frame.leave_iterations(before, stage.span);
        }
    }

    fn value(&mut self, value: &'a Expr) {
        match value {
            // A command has its own checks for its texts.
            Expr::Exec(exec) => return self.exec(exec),
            Expr::Property(property) => self.property(property),
            Expr::Resume(resume) => self.resume(resume),
            Expr::Invoke(invocation) => self.invocation(invocation),
            Expr::Call(call) => self.call(call),
            _ => {}
        }
        let before = self.frame.mark();
        let group = self.frame.begin_alternatives();
        walk_value(self, value);
        self.frame.end_alternatives(group);
        if let Expr::For(For { mode: ForMode::Parallel, span, .. }) = value {
            self.frame.leave_iterations(before, *span);
        }
    }

    fn collection(&mut self, value: &'a Expr) {
        match value {
            Expr::Name(name) => self.used_as(name, "collection"),
            other => self.value(other),
        }
    }

    fn context(&mut self, context: &'a Expr) {
        self.in_context = matches!(context, Expr::List(_) | Expr::Record(_));
        self.value(context);
        self.in_context = false;
    }

    fn session(&mut self, session: &'a SessionExpr) {
        if let Some(agent) = session.subject.agent() {
            self.check_start(agent);
        }
        walk_session(self, session);
    }

    fn text(&mut self, text: &'a Text) {
        self.plain_text(text);
    }

    fn declaration(&mut self, name: &'a Name, kind: NameKind) {
        self.declare(name, kind);
    }

    fn variable(&mut self, name: &'a Name) {
        self.used_as(name, "variable");
    }
}
