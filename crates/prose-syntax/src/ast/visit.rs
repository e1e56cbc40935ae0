//! A visitor over a tree: each node passes on its children, in source order. An implementation overrides the methods
//! for the nodes it is interested in and leaves the others to the default walk.

use std::iter::once;

use super::{
    Branch, Catch, Condition, Count, ExecExpr, Expr, LoopTest, Mutability, Name, OnReject, Parallel,
    PipeStage, SessionExpr, SessionHead, SessionProperties, StageOperation, Statement, StatementKind,
    Statements, Text,
};

/// How a name is declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameKind {
    Input,
    /// `let` or `const`.
    Bound(Mutability),
    Output,
    /// The name of a branch of a parallel block.
    Branch,
    /// The name of a branch of a parallel block that may complete without it: `"first"`, `"any"`.
    Contender,
    /// A variable that was assigned without being declared.
    Assigned,
    /// A name that exists only in one body: of a loop, an error, an element.
    Local,
}

/// A name that exists only in one body, and what messages call it.
pub type Local<'a> = (&'a Name, &'static str);

/// Visits the nodes of a tree.
pub trait Visitor<'a>: Sized {
    fn statement(&mut self, statement: &'a Statement) {
        walk_statement(self, statement);
    }

    /// Statements in order.
    fn body(&mut self, body: &'a Statements) {
        body.iter().for_each(|statement| self.statement(statement));
    }

    /// Visits one of several bodies of which a run executes only one: of `if`, `choice`, `try` and its `catch`.
    fn alternative(&mut self, body: &'a Statements) {
        self.body(body);
    }

    /// A body with names of its own.
    fn scope(&mut self, locals: &[Local<'a>], body: &'a Statements) {
        locals.iter().for_each(|(name, _)| self.declaration(name, NameKind::Local));
        self.body(body);
    }

    /// A parallel block.
    fn parallel(&mut self, parallel: &'a Parallel) {
        for branch in &parallel.branches {
            match branch {
                Branch::Named { name, value } => {
                    self.declaration(name, NameKind::Branch);
                    self.value(value);
                }
                Branch::Statement(statement) => self.statement(statement),
            }
        }
    }

    /// The `catch` of a `try`.
    fn catch(&mut self, catch: &'a Catch) {
        walk_catch(self, catch);
    }

    /// A stage of a pipeline.
    fn stage(&mut self, stage: &'a PipeStage) {
        walk_stage(self, stage);
    }

    /// An expression.
    fn value(&mut self, value: &'a Expr) {
        walk_value(self, value);
    }

    /// Visits the collection that a loop or a pipeline iterates over.
    fn collection(&mut self, value: &'a Expr) {
        self.value(value);
    }

    /// Visits the context of a session.
    fn context(&mut self, context: &'a Expr) {
        self.value(context);
    }

    fn condition(&mut self, condition: &'a Condition) {
        walk_condition(self, condition);
    }

    fn session(&mut self, session: &'a SessionExpr) {
        walk_session(self, session);
    }

    fn text(&mut self, _text: &'a Text) {}

    /// Visits a name where it is declared.
    fn declaration(&mut self, _name: &'a Name, _as: NameKind) {}

    /// Visits a variable where it is used.
    fn variable(&mut self, _name: &'a Name) {}
}

/// Visits the children of a statement.
pub fn walk_statement<'a>(visitor: &mut impl Visitor<'a>, statement: &'a Statement) {
    match &statement.kind {
        StatementKind::Input(input) => {
            visitor.text(input.prompt.text());
            visitor.declaration(&input.name, NameKind::Input);
        }
        StatementKind::Bind(binding) => {
            let kind = NameKind::Bound(binding.mutability);
            binding.target.names().iter().for_each(|name| visitor.declaration(name, kind));
            visitor.value(&binding.value);
        }
        StatementKind::Assign(assigned) => {
            visitor.declaration(&assigned.name, NameKind::Assigned);
            visitor.value(&assigned.value);
        }
        StatementKind::Output(output) => {
            visitor.declaration(&output.name, NameKind::Output);
            visitor.value(&output.value);
        }
        StatementKind::Gate(gate) => {
            visitor.text(&gate.prompt);
            match &gate.on_reject {
                Some(OnReject::Throw(Some(message))) => visitor.text(message),
                Some(OnReject::Session(session)) => visitor.session(session),
                _ => {}
            }
        }
        StatementKind::Throw(message) => message.iter().for_each(|message| visitor.text(message)),
        StatementKind::Return(value) => value.iter().for_each(|value| visitor.value(value)),
        StatementKind::Do(value) => visitor.value(value),
    }
}

/// Visits the children of an expression.
pub fn walk_value<'a>(visitor: &mut impl Visitor<'a>, value: &'a Expr) {
    match value {
        Expr::Text(text) => visitor.text(text),
        Expr::Number(_) | Expr::Opaque(_) => {}
        Expr::Name(name) => visitor.variable(name),
        Expr::Property(property) => visitor.variable(&property.of),
        Expr::List(list) => list.value.iter().for_each(|part| visitor.value(part)),
        Expr::Record(record) => record.value.iter().for_each(|entry| match &entry.value {
            Some(value) => visitor.value(value),
            None => visitor.variable(&entry.key),
        }),
        Expr::Session(session) => visitor.session(session),
        Expr::Resume(resume) => walk_properties(visitor, &resume.properties),
        Expr::Exec(ExecExpr { command, cwd, .. }) => {
            once(command).chain(cwd.as_deref()).for_each(|text| visitor.text(text));
        }
        Expr::Do(body) => visitor.body(&body.value),
        Expr::Invoke(invocation) => invocation.arguments.iter().for_each(|value| visitor.value(value)),
        Expr::Call(call) => call.inputs.iter().for_each(|(_, value)| visitor.value(value)),
        Expr::Parallel(parallel) => visitor.parallel(parallel),
        Expr::Repeat(repeat) => {
            walk_count(visitor, Some(&repeat.count));
            visitor.scope(&locals(&repeat.index, "loop variable"), &repeat.body);
        }
        Expr::For(each) => {
            visitor.collection(&each.collection);
            visitor.scope(&locals(once(&each.item).chain(&each.index), "loop variable"), &each.body);
        }
        Expr::Loop(unbounded) => {
            if let LoopTest::Until(condition) | LoopTest::While(condition) = &unbounded.test {
                visitor.condition(condition);
            }
            walk_count(visitor, unbounded.max.as_ref());
            visitor.scope(&locals(&unbounded.index, "loop variable"), &unbounded.body);
        }
        Expr::Try(attempt) => {
            visitor.alternative(&attempt.body);
            attempt.catch.iter().for_each(|catch| visitor.catch(catch));
            attempt.finally.iter().for_each(|body| visitor.body(body));
        }
        Expr::Choice(choice) => {
            visitor.text(&choice.criteria);
            for option in &choice.options {
                visitor.text(&option.label);
                visitor.alternative(&option.body);
            }
        }
        Expr::If(decision) => {
            for arm in &decision.arms {
                visitor.condition(&arm.condition);
                visitor.alternative(&arm.body);
            }
            decision.otherwise.iter().for_each(|body| visitor.alternative(body));
        }
        Expr::Arrow(arrow) => arrow.steps.iter().for_each(|step| visitor.value(step)),
        Expr::Pipe(pipe) => {
            visitor.collection(&pipe.input);
            pipe.stages.iter().for_each(|stage| visitor.stage(stage));
        }
        Expr::Sum(sum) => [&sum.left, &sum.right].into_iter().for_each(|side| visitor.value(side)),
    }
}

/// Visits the children of a `catch`.
pub fn walk_catch<'a>(visitor: &mut impl Visitor<'a>, catch: &'a Catch) {
    visitor.scope(&locals(&catch.error, "error variable"), &catch.body);
}

/// Visits the children of a session.
pub fn walk_session<'a>(visitor: &mut impl Visitor<'a>, session: &'a SessionExpr) {
    if let SessionHead::Prompt(prompt) = &session.subject {
        visitor.text(prompt);
    }
    walk_properties(visitor, &session.properties);
}

/// Visits the children of a pipeline stage.
pub fn walk_stage<'a>(visitor: &mut impl Visitor<'a>, stage: &'a PipeStage) {
    match &stage.operation {
        StageOperation::Reduce { accumulator, item } => {
            visitor.scope(&[(accumulator, "accumulator"), (item, "element")], &stage.body);
        }
        _ => visitor.body(&stage.body),
    }
}

/// Visits the children of a condition.
pub fn walk_condition<'a>(visitor: &mut impl Visitor<'a>, condition: &'a Condition) {
    match condition {
        Condition::Judged(text) => visitor.text(text),
        Condition::Compare { left, right, .. } => [left, right].into_iter().for_each(|it| visitor.value(it)),
        Condition::Not(inner) => visitor.condition(inner),
        Condition::And(left, right) | Condition::Or(left, right) => {
            visitor.condition(left);
            visitor.condition(right);
        }
        Condition::Value(value) => visitor.value(value),
        Condition::Opaque(_) => {}
    }
}

/// Visits the properties of a session, without its subject.
pub fn walk_properties<'a>(visitor: &mut impl Visitor<'a>, properties: &'a SessionProperties) {
    properties.prompt.iter().for_each(|prompt| visitor.text(prompt));
    properties.context.iter().for_each(|context| visitor.context(context));
}

fn walk_count<'a>(visitor: &mut impl Visitor<'a>, count: Option<&'a Count>) {
    if let Some(Count::Variable(name)) = count {
        visitor.variable(name);
    }
}

fn locals<'a>(names: impl IntoIterator<Item = &'a Name>, what: &'static str) -> Vec<Local<'a>> {
    names.into_iter().map(|name| (name, what)).collect()
}

/// Calls `found` with every name that is declared anywhere in a body.
pub fn each_declared<'a>(body: &'a Statements, found: impl FnMut(&'a Name, NameKind)) {
    struct Finder<F>(F);
    impl<'a, F: FnMut(&'a Name, NameKind)> Visitor<'a> for Finder<F> {
        fn declaration(&mut self, name: &'a Name, kind: NameKind) {
            (self.0)(name, kind);
        }
    }
    Finder(found).body(body);
}
