//! Parts of headers: names in brackets, counts, `as name`.

use std::num::NonZeroU32;

use super::{Parsed, Parser};
use crate::ast::{Count, Name};
use crate::codes::RuleCode;
use crate::token::{Bracket, Token, TokenKind};

impl Parser<'_> {
    /// Parses `as name`, if present.
    pub(super) fn as_name(&mut self) -> Parsed<Option<Name>> {
        if !self.eat_word("as") {
            return Ok(None);
        }
        self.name("a name after `as`").map(Some)
    }

    /// Parses names in brackets.
    pub(super) fn names_between(&mut self, bracket: Bracket, what: &str) -> Parsed<Vec<Name>> {
        let mut names = Vec::new();
        self.between(bracket, |parser| {
            names.push(parser.name(what)?);
            Ok(())
        })?;
        Ok(names)
    }

    /// Parses a comma-separated list in brackets.
    pub(super) fn between(
        &mut self,
        bracket: Bracket,
        mut read: impl FnMut(&mut Self) -> Parsed<()>,
    ) -> Parsed<()> {
        let open = self.bump();
        while self.kind() != TokenKind::Close(bracket) && !self.kind().is_layout() {
            read(self)?;
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        self.close(bracket, open)
    }

    /// Expects the bracket that closes `open`.
    pub(super) fn close(&mut self, bracket: Bracket, open: Token) -> Parsed<()> {
        if self.eat(TokenKind::Close(bracket)) {
            return Ok(());
        }
        if self.kind().is_layout() {
            let sign = self.source.slice(open.span);
            let message = format!("this `{sign}` is never closed");
            return Err(self.invalid(
                open.span,
                message,
                "close it, or begin the next statement on a line of its own",
            ));
        }
        let sign = match bracket {
            Bracket::Round => "`)`",
            Bracket::Square => "`]`",
            Bracket::Curly => "`}`",
        };
        Err(self.mismatch(sign))
    }

    /// Parses a number of at least 1, or the name of a variable; reports `code` and returns `None` for anything else.
    pub(super) fn count(&mut self, code: RuleCode, what: &str) -> Option<Count> {
        if self.kind() == TokenKind::Word && !matches!(self.word(), "as") {
            let token = self.bump();
            self.old_form(token.span, format!("a variable as {what}"), "write a number");
            return Some(Count::Variable(self.name_of(token)));
        }
        self.whole(code, what).map(Count::Number)
    }

    /// Parses an integer of at least 1; reports `code` and returns `None` for anything else.
    pub(super) fn positive(&mut self, code: RuleCode, what: &str) -> Option<NonZeroU32> {
        self.whole(code, what)
    }

    fn whole(&mut self, code: RuleCode, what: &str) -> Option<NonZeroU32> {
        let start = self.token();
        if start.kind.is_layout()
            || matches!(start.kind, TokenKind::Close(_) | TokenKind::Colon | TokenKind::Comma)
        {
            let span = self.visible(start);
            self.reports.add(code, span, format!("{what} is missing"));
            return None;
        }
        self.eat(TokenKind::Minus);
        let token = self.bump();
        let span = start.span.to(token.span);
        let number = self.source.slice(span).parse().ok();
        if number.is_none() {
            let written = self.source.slice(span).escape_debug().to_string();
            self.reports.add(code, span, format!("{what} is `{written}`, not a whole number from 1"));
        }
        number
    }
}
