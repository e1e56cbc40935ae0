//! Surveys what a program may do without running it: the questions it may ask, its commands, the names it declares.
//! Pure.

use std::collections::HashSet;

use crate::envelope::names_secret;
use crate::model::QuestionKind;
use crate::prose::syntax::ast::visit::{
    NameKind, Visitor, walk_condition, walk_stage, walk_statement, walk_value,
};
use crate::prose::syntax::ast::{
    Condition, Expr, InputPrompt, Name, PipeStage, Program, SessionExpr, SessionHead, SessionProperties,
    Statement, StatementKind, Text,
};
use crate::prose::syntax::{SourceText, Span};

/// What a program may do.
#[derive(Debug, Default)]
pub struct ProgramSurvey {
    /// The questions it may ask, in source order.
    pub questions: Vec<PossibleQuestion>,
    /// Its commands, as the questions that a policy turns them into.
    pub commands: Vec<PossibleQuestion>,
    /// All names declared anywhere in it.
    pub names: HashSet<String>,
    /// Its calls of used programs.
    pub calls: Vec<CallSite>,
}

/// A call of a used program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallSite {
    /// The name of the program in the calling program.
    pub program: String,
    /// The names of the inputs provided.
    pub inputs: Vec<String>,
}

/// A question that a program may ask.
#[derive(Debug, Clone, PartialEq)]
pub struct PossibleQuestion {
    pub line: u32,
    /// The construct: `input`, `gate`, `session`, `resume`, `if`, `loop`, `choice`, `filter`, `value`, `exec`.
    pub construct: &'static str,
    /// Its name, if it has one.
    pub name: Option<String>,
    /// The kind of answer it expects.
    pub kind: QuestionKind,
    /// Its text, with variables as written.
    pub text: String,
    /// Whether an agent may answer it.
    pub agents: bool,
    /// The model of a session.
    pub model: Option<&'static str>,
    /// The name of a session.
    pub label: Option<String>,
}

/// Surveys a program: questions and commands that its body can reach, and all names and calls.
pub fn survey(source: &SourceText, program: &Program) -> ProgramSurvey {
    let seen = HashSet::new();
    let mut surveyor = Surveyor { source, program, found: ProgramSurvey::default(), construct: "if", seen };
    surveyor.body(&program.body);
    let (questions, commands) = (surveyor.found.questions.len(), surveyor.found.commands.len());
    for block in &program.blocks {
        block.parameters.iter().for_each(|name| surveyor.declaration(name, NameKind::Local));
        surveyor.block(block.name.as_str());
    }
    let mut found = surveyor.found;
    found.questions.truncate(questions);
    found.commands.truncate(commands);
    found.questions.sort_by_key(|question| question.line);
    found
}

struct Surveyor<'a> {
    source: &'a SourceText,
    program: &'a Program,
    found: ProgramSurvey,
    /// The construct that the current conditions belong to.
    construct: &'static str,
    /// Blocks already visited.
    seen: HashSet<String>,
}

impl<'a> Surveyor<'a> {
    /// Returns a question without a name that agents may answer.
    fn possible(
        &self,
        span: Span,
        construct: &'static str,
        kind: QuestionKind,
        text: impl Into<String>,
    ) -> PossibleQuestion {
        let line = u32::try_from(self.source.line_of(span.start())).unwrap_or(u32::MAX);
        PossibleQuestion {
            line,
            construct,
            name: None,
            kind,
            text: text.into(),
            agents: true,
            model: None,
            label: None,
        }
    }

    fn ask(&mut self, possible: PossibleQuestion, name: Option<&Name>, agents: bool) {
        let name = name.map(|name| name.as_str().to_owned());
        self.found.questions.push(PossibleQuestion { name, agents, ..possible });
    }

    /// Returns the model of a session: its own, or else that of its agent.
    fn model(&self, own: &SessionProperties, agent: Option<&Name>) -> Option<&'static str> {
        let agent = agent.and_then(|agent| self.program.agent(agent.as_str()));
        let model = own.model.or(agent.and_then(|agent| agent.properties.model));
        model.map(|model| model.value.into())
    }

    fn block(&mut self, name: &str) {
        if self.seen.insert(name.to_owned())
            && let Some(block) = self.program.block(name)
        {
            self.body(&block.body);
        }
    }
}

impl<'a> Visitor<'a> for Surveyor<'a> {
    fn statement(&mut self, statement: &'a Statement) {
        match &statement.kind {
            StatementKind::Input(input) => {
                let is_judged = matches!(input.prompt, InputPrompt::Judged(_));
                let agents = is_judged && !names_secret(input.name.as_str());
                let text = input.prompt.text().display_text();
                let possible = self.possible(statement.span, "input", text_kind(), text);
                self.ask(possible, Some(&input.name), agents);
            }
            StatementKind::Gate(gate) => {
                let allow = gate.allow.iter().map(|who| who.display_text().into_owned()).collect();
                let kind = QuestionKind::Gate { allow };
                let possible = self.possible(statement.span, "gate", kind, gate.prompt.display_text());
                self.ask(possible, Some(&gate.name), false);
            }
            _ => {}
        }
        walk_statement(self, statement);
    }

    fn session(&mut self, session: &'a SessionExpr) {
        let text = match &session.subject {
            SessionHead::Prompt(prompt) => Some(prompt),
            _ => session.properties.prompt.as_ref(),
        };
        let text = text.map(Text::display_text).unwrap_or_default();
        let agent = session.subject.agent();
        let label = match &session.subject {
            SessionHead::Named { name, .. } => Some(name.as_str().to_owned()),
            _ => None,
        };
        let model = self.model(&session.properties, agent);
        let possible = self.possible(session.span, "session", text_kind(), text);
        self.ask(PossibleQuestion { model, label, ..possible }, agent, true);
        session.properties.context.iter().for_each(|context| self.value(context));
    }

    fn value(&mut self, value: &'a Expr) {
        let outer = self.construct;
        match value {
            Expr::Resume(resume) => {
                let text = resume.properties.prompt.as_ref().map(Text::display_text).unwrap_or_default();
                let model = self.model(&resume.properties, Some(&resume.agent));
                let possible = self.possible(resume.span, "resume", text_kind(), text);
                return self.ask(PossibleQuestion { model, ..possible }, Some(&resume.agent), true);
            }
            Expr::Exec(exec) => {
                let possible =
                    self.possible(exec.span, "exec", QuestionKind::Command, exec.command.display_text());
                self.found.commands.push(PossibleQuestion { agents: false, ..possible });
            }
            Expr::Call(call) => {
                let inputs = call.inputs.iter().map(|(name, _)| name.as_str().to_owned()).collect();
                let program = call.program.as_str().to_owned();
                self.found.calls.push(CallSite { program, inputs });
            }
            Expr::Choice(choice) => {
                let labels =
                    choice.options.iter().map(|option| option.label.display_text().into_owned()).collect();
                let (kind, text) = (QuestionKind::Choice { labels }, choice.criteria.display_text());
                self.ask(self.possible(choice.span, "choice", kind, text), None, true);
            }
            Expr::Opaque(words) => {
                self.ask(self.possible(words.span, "value", text_kind(), words.text.as_str()), None, true);
            }
            Expr::If(_) => self.construct = "if",
            Expr::Loop(_) => self.construct = "loop",
            _ => {}
        }
        walk_value(self, value);
        if let Expr::Invoke(invocation) = value {
            self.block(invocation.block.as_str());
        }
        self.construct = outer;
    }

    fn condition(&mut self, condition: &'a Condition) {
        let text = match condition {
            Condition::Judged(text) => text.display_text(),
            Condition::Opaque(words) => words.text.as_str().into(),
            _ => return walk_condition(self, condition),
        };
        self.ask(self.possible(condition.span(), self.construct, yes_no(), text), None, true);
    }

    fn stage(&mut self, stage: &'a PipeStage) {
        self.found.names.insert("item".to_owned());
        walk_stage(self, stage);
    }

    fn declaration(&mut self, name: &'a Name, kind: NameKind) {
        if kind != NameKind::Assigned {
            self.found.names.insert(name.as_str().to_owned());
        }
    }
}

fn text_kind() -> QuestionKind {
    QuestionKind::Text { masked: false }
}

fn yes_no() -> QuestionKind {
    QuestionKind::YesNo { yes: String::new(), no: String::new() }
}
