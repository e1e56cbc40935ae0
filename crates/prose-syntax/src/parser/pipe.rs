//! Pipelines and arrows.

use super::{ParseFailure, Parsed, Parser};
use crate::ast::{Arrow, Expr, Pipe, PipeStage, StageOperation};
use crate::codes::RuleCode;
use crate::similar::did_you_mean;
use crate::token::{Bracket, Token, TokenKind};

/// The operations of a pipeline stage.
const OPERATIONS: [&str; 4] = ["map", "pmap", "filter", "reduce"];

impl Parser<'_> {
    /// Parses the stages of a pipeline; the cursor is at the first `|`.
    pub(super) fn pipe(&mut self, input: Expr) -> Parsed<Expr> {
        if !matches!(input, Expr::Name(_) | Expr::List(_) | Expr::Property(_)) {
            let span = input.span();
            return Err(self.invalid(
                span,
                "a pipeline begins with a variable or a list",
                "bind the value with `let` first",
            ));
        }
        let mut stages = Vec::new();
        while self.kind() == TokenKind::Pipe {
            stages.push(self.stage()?);
        }
        let span = self.since(input.span());
        Ok(Expr::Pipe(Pipe { input: Box::new(input), stages, span }))
    }

    /// Parses a stage: `| map:` and the like.
    fn stage(&mut self) -> Parsed<PipeStage> {
        let start = self.bump();
        let (word, name) = (self.token(), self.word().to_owned());
        if !OPERATIONS.contains(&&*name) {
            let found = self.describe(word);
            let message = format!("expected a pipe operation (map, filter, reduce, pmap), found {found}");
            let span = self.visible(word);
            let diagnostic = self.reports.add(RuleCode::HPE021, span, message);
            diagnostic.hint_if(did_you_mean(&name, OPERATIONS));
            return Err(ParseFailure);
        }
        self.bump();
        let operation = match &*name {
            "map" => StageOperation::Map,
            "pmap" => StageOperation::ParallelMap,
            "filter" => StageOperation::Filter,
            _ => self.reduce(word)?,
        };
        let body = self.body(&format!("`{name}`"), word);
        Ok(PipeStage { operation, body, span: self.since(start.span) })
    }

    fn reduce(&mut self, word: Token) -> Parsed<StageOperation> {
        let names = if self.kind() == TokenKind::Open(Bracket::Round) {
            self.names_between(Bracket::Round, "a name")?
        } else {
            Vec::new()
        };
        match <[_; 2]>::try_from(names) {
            Ok([accumulator, item]) => Ok(StageOperation::Reduce { accumulator, item }),
            Err(names) => {
                let message = format!("`reduce` has two names, not {}", names.len());
                self.reports.add(RuleCode::HPE020, word.span, message);
                Err(ParseFailure)
            }
        }
    }

    /// Parses the remaining steps of an arrow; the cursor is at the first `->`.
    pub(super) fn arrow(&mut self, first: Expr) -> Parsed<Expr> {
        let mut steps = vec![self.step(first)?];
        while self.eat(TokenKind::Arrow) {
            let next = self.operand()?;
            steps.push(self.step(next)?);
        }
        Ok(Expr::Arrow(Arrow { steps }))
    }

    fn step(&mut self, step: Expr) -> Parsed<Expr> {
        match step {
            Expr::Session(_) => Ok(step),
            Expr::Exec(_) | Expr::Invoke(_) | Expr::Resume(_) | Expr::Call(_) => {
                let span = step.span();
                self.old_form(
                    span,
                    "an arrow connects sessions; this is done all the same",
                    "write the steps on lines of their own",
                );
                Ok(step)
            }
            other => Err(self.invalid(
                other.span(),
                "an arrow connects sessions",
                "write the steps on lines of their own",
            )),
        }
    }
}
