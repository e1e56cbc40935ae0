//! What a program may do, found without running it: the questions it can ask, the names it declares, the
//! commands it holds. Pure.

use std::collections::HashSet;

use super::ast::{
    Body, Branch, Choice, Condition, Exec, Expr, Gate, If, InputPrompt, LoopTest, OnReject, Pipe, Program,
    Session, StageOperation, Statement, StatementKind, Text,
};
use super::source::{Source, Span};
use crate::runtime::QuestionKind;

/// What a program may do.
#[derive(Debug, Default)]
pub struct Survey {
    /// The questions it can ask, in the order of its text.
    pub questions: Vec<Possible>,
    /// The commands it holds, as the questions that a policy makes of them.
    pub commands: Vec<Possible>,
    /// Names that anything in it declares.
    pub names: HashSet<String>,
    /// The calls of programs it uses.
    pub calls: Vec<CallSite>,
}

/// A call of a used program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallSite {
    /// What the program is called here.
    pub program: String,
    /// The inputs it is given.
    pub inputs: Vec<String>,
}

/// A question that a program can ask.
#[derive(Debug, Clone, PartialEq)]
pub struct Possible {
    /// Its line.
    pub line: u32,
    /// The construct: `input`, `gate`, `session`, `resume`, `if`, `loop`, `choice`, `filter`, `value`, `exec`.
    pub construct: &'static str,
    /// Its name, if it has one.
    pub name: Option<String>,
    /// What answer it wants.
    pub kind: QuestionKind,
    /// Its text, variables as they are written.
    pub text: String,
    /// An agent may answer it.
    pub agents: bool,
}

/// Looks a program over: what is reached from its body, not blocks that nothing calls.
#[must_use]
pub fn survey(source: &Source, program: &Program) -> Survey {
    let mut surveyor = Surveyor { source, program, found: Survey::default(), seen: HashSet::new() };
    surveyor.body(&program.body);
    for block in &program.blocks {
        surveyor.found.names.extend(block.parameters.iter().map(|name| name.as_str().to_owned()));
    }
    // Names count wherever they are declared; questions only where they can be reached.
    let (questions, commands) =
        (std::mem::take(&mut surveyor.found.questions), std::mem::take(&mut surveyor.found.commands));
    for block in &program.blocks {
        if surveyor.seen.insert(block.name.as_str().to_owned()) {
            surveyor.body(&block.body);
        }
    }
    surveyor.found.questions = questions;
    surveyor.found.commands = commands;
    surveyor.found.questions.sort_by_key(|question| question.line);
    surveyor.found
}

struct Surveyor<'a> {
    source: &'a Source,
    program: &'a Program,
    found: Survey,
    /// Blocks that were looked into.
    seen: HashSet<String>,
}

impl Surveyor<'_> {
    fn line(&self, span: Span) -> u32 {
        u32::try_from(self.source.line_of(span.start())).unwrap_or(u32::MAX)
    }

    fn body(&mut self, body: &Body) {
        body.iter().for_each(|statement| self.statement(statement));
    }

    fn declare(&mut self, name: &str) {
        self.found.names.insert(name.to_owned());
    }

    fn ask(
        &mut self,
        span: Span,
        construct: &'static str,
        kind: QuestionKind,
        text: impl Into<String>,
    ) -> &mut Possible {
        let possible =
            Possible { line: self.line(span), construct, name: None, kind, text: text.into(), agents: true };
        self.found.questions.push(possible);
        let last = self.found.questions.len() - 1;
        &mut self.found.questions[last]
    }

    fn statement(&mut self, statement: &Statement) {
        match &statement.kind {
            StatementKind::Input(input) => {
                self.declare(input.name.as_str());
                let may_agents = matches!(input.prompt, InputPrompt::Judged(_));
                let text = input.prompt.text().shown().into_owned();
                let asked = self.ask(statement.span, "input", text_kind(), text);
                (asked.name, asked.agents) = (Some(input.name.as_str().to_owned()), may_agents);
            }
            StatementKind::Bind(binding) => {
                binding.target.names().iter().for_each(|name| self.declare(name.as_str()));
                self.expr(&binding.value);
            }
            StatementKind::Assign(assignment) => self.expr(&assignment.value),
            StatementKind::Output(output) => {
                self.declare(output.name.as_str());
                self.expr(&output.value);
            }
            StatementKind::Return(value) => value.iter().for_each(|value| self.expr(value)),
            StatementKind::Gate(gate) => self.gate(statement.span, gate),
            StatementKind::Throw(_) => {}
            StatementKind::Do(expr) => self.expr(expr),
        }
    }

    fn gate(&mut self, span: Span, gate: &Gate) {
        let allow = gate.allow.iter().map(|who| who.shown().into_owned()).collect();
        let asked = self.ask(span, "gate", QuestionKind::Gate { allow }, gate.prompt.shown());
        (asked.name, asked.agents) = (Some(gate.name.as_str().to_owned()), false);
        if let Some(OnReject::Session(session)) = &gate.on_reject {
            self.session(session);
        }
    }

    fn session(&mut self, session: &Session) {
        let property = session.properties.prompt.as_ref();
        let text = match &session.subject {
            super::ast::Subject::Prompt(prompt) => Some(prompt),
            _ => property,
        };
        let text = text.map(Text::shown).unwrap_or_default().into_owned();
        let agent = session.subject.agent().map(|agent| agent.as_str().to_owned());
        self.ask(session.span, "session", text_kind(), text).name = agent;
        session.properties.context.iter().for_each(|context| self.expr(context));
    }

    fn exec(&mut self, exec: &Exec) {
        self.found.commands.push(Possible {
            line: self.line(exec.span),
            construct: "exec",
            name: None,
            kind: QuestionKind::Command,
            text: exec.command.shown().into_owned(),
            agents: false,
        });
    }

    fn expr(&mut self, expr: &Expr) {
        match expr {
            Expr::Text(_) | Expr::Number(_) | Expr::Name(_) | Expr::Property(_) => {}
            Expr::List(list) => list.value.iter().for_each(|part| self.expr(part)),
            Expr::Record(record) => {
                record
                    .value
                    .iter()
                    .filter_map(|entry| entry.value.as_ref())
                    .for_each(|value| self.expr(value));
            }
            Expr::Session(session) => self.session(session),
            Expr::Resume(resume) => {
                let text =
                    resume.properties.prompt.as_ref().map(Text::shown).unwrap_or_default().into_owned();
                self.ask(resume.span, "resume", text_kind(), text).name =
                    Some(resume.agent.as_str().to_owned());
            }
            Expr::Exec(exec) => self.exec(exec),
            Expr::Do(body) => self.body(&body.value),
            Expr::Invoke(invocation) => {
                invocation.arguments.iter().for_each(|argument| self.expr(argument));
                self.block(invocation.block.as_str());
            }
            Expr::Call(call) => {
                let inputs = call.inputs.iter().map(|(name, _)| name.as_str().to_owned()).collect();
                let program = call.program.as_str().to_owned();
                self.found.calls.push(CallSite { program, inputs });
                call.inputs.iter().for_each(|(_, value)| self.expr(value));
            }
            Expr::Parallel(parallel) => parallel.branches.iter().for_each(|branch| match branch {
                Branch::Named { name, value } => {
                    self.declare(name.as_str());
                    self.expr(value);
                }
                Branch::Statement(statement) => self.statement(statement),
            }),
            Expr::Repeat(repeat) => {
                repeat.index.iter().for_each(|name| self.declare(name.as_str()));
                self.body(&repeat.body);
            }
            Expr::For(each) => {
                self.declare(each.item.as_str());
                each.index.iter().for_each(|name| self.declare(name.as_str()));
                self.expr(&each.collection);
                self.body(&each.body);
            }
            Expr::Loop(unbounded) => {
                unbounded.index.iter().for_each(|name| self.declare(name.as_str()));
                if let LoopTest::Until(condition) | LoopTest::While(condition) = &unbounded.test {
                    self.condition(condition, "loop");
                }
                self.body(&unbounded.body);
            }
            Expr::Try(attempt) => {
                self.body(&attempt.body);
                if let Some(catch) = &attempt.catch {
                    catch.error.iter().for_each(|name| self.declare(name.as_str()));
                    self.body(&catch.body);
                }
                attempt.finally.iter().for_each(|body| self.body(body));
            }
            Expr::Choice(choice) => self.choice(choice),
            Expr::If(decision) => self.decision(decision),
            Expr::Arrow(arrow) => arrow.steps.iter().for_each(|step| self.expr(step)),
            Expr::Pipe(pipe) => self.pipe(pipe),
            Expr::Sum(sum) => {
                self.expr(&sum.left);
                self.expr(&sum.right);
            }
            Expr::Opaque(words) => {
                self.ask(words.span, "value", text_kind(), words.text.clone());
            }
        }
    }

    fn block(&mut self, name: &str) {
        if self.seen.insert(name.to_owned())
            && let Some(block) = self.program.block(name).cloned()
        {
            self.body(&block.body);
        }
    }

    fn choice(&mut self, choice: &Choice) {
        let labels = choice.options.iter().map(|option| option.label.shown().into_owned()).collect();
        self.ask(choice.span, "choice", QuestionKind::Choice { labels }, choice.criteria.shown());
        choice.options.iter().for_each(|option| self.body(&option.body));
    }

    fn decision(&mut self, decision: &If) {
        for arm in &decision.arms {
            self.condition(&arm.condition, "if");
            self.body(&arm.body);
        }
        decision.otherwise.iter().for_each(|body| self.body(body));
    }

    fn condition(&mut self, condition: &Condition, construct: &'static str) {
        match condition {
            Condition::Judged(text) => {
                self.ask(text.span, construct, yes_no(), text.shown());
            }
            Condition::Opaque(words) => {
                self.ask(words.span, construct, yes_no(), words.text.clone());
            }
            Condition::Not(inner) => self.condition(inner, construct),
            Condition::And(left, right) | Condition::Or(left, right) => {
                self.condition(left, construct);
                self.condition(right, construct);
            }
            Condition::Compare { left, right, .. } => {
                self.expr(left);
                self.expr(right);
            }
            Condition::Value(value) => self.expr(value),
        }
    }

    fn pipe(&mut self, pipe: &Pipe) {
        self.expr(&pipe.input);
        self.declare("item");
        for stage in &pipe.stages {
            if let StageOperation::Reduce { accumulator, item } = &stage.operation {
                self.declare(accumulator.as_str());
                self.declare(item.as_str());
            }
            self.body(&stage.body);
        }
    }
}

fn text_kind() -> QuestionKind {
    QuestionKind::Text { masked: false }
}

fn yes_no() -> QuestionKind {
    QuestionKind::YesNo { yes: String::new(), no: String::new() }
}
