//! Pipelines and arrows.

use super::{Lost, Parsed, Parser};
use crate::prose::ast::{Arrow, Expr, Pipe, Stage, StageOperation};
use crate::prose::codes::Code;
use crate::prose::nearest;
use crate::prose::token::{Bracket, Token, TokenKind};

impl Parser<'_> {
    /// Reads the stages of a pipeline; stands at the first `|`.
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

    fn stage(&mut self) -> Parsed<Stage> {
        let start = self.bump();
        let word = self.token();
        let operation = match self.word() {
            "map" => StageOperation::Map,
            "pmap" => StageOperation::ParallelMap,
            "filter" => StageOperation::Filter,
            "reduce" => {
                self.bump();
                let operation = self.reduce(word)?;
                return Ok(self.staged(start, word, operation));
            }
            other => {
                let near = nearest(other, ["map", "pmap", "filter", "reduce"]);
                let found = self.described(word);
                let span = self.visible(word);
                let message = format!("expected a pipe operation (map, filter, reduce, pmap), found {found}");
                let diagnostic = self.reports.add(Code::HPE021, span, message);
                if let Some(near) = near {
                    diagnostic.hint(format!("did you mean `{near}`?"));
                }
                return Err(Lost);
            }
        };
        self.bump();
        Ok(self.staged(start, word, operation))
    }

    fn staged(&mut self, start: Token, word: Token, operation: StageOperation) -> Stage {
        let what = format!("`{}`", self.source.slice(word.span));
        let body = self.body(&what, word);
        Stage { operation, body, span: self.since(start.span) }
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
                self.reports.add(Code::HPE020, word.span, message);
                Err(Lost)
            }
        }
    }

    /// Reads the other steps of an arrow; stands at the first `->`.
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
                self.reports
                    .add(Code::HPW017, span, "an arrow connects sessions; this is done all the same")
                    .hint("write the steps on lines of their own");
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
