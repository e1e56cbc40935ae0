//! Branching: `if`, `choice`, `try`.

use super::{ParseFailure, Parsed, Parser};
use crate::ast::{Arm, Catch, ChoiceExpr, ChoiceOption, If, Text, Try};
use crate::codes::RuleCode;
use crate::source::Span;
use crate::token::{Token, TokenKind};

impl Parser<'_> {
    /// Advances to the clause with one of these words, if it comes next at this depth.
    fn at_clause(&mut self, words: &[&str]) -> bool {
        let on_next_line = self.kind() == TokenKind::Newline;
        let ahead = usize::from(on_next_line);
        let here = words.contains(&self.word_at(ahead)) && self.kind_at(ahead + 1) != TokenKind::Equal;
        if here && (on_next_line || self.after_layout()) {
            if on_next_line {
                self.bump();
            }
            return true;
        }
        false
    }

    fn only_once(&mut self, token: Token, first: Span, of: &str) {
        let word = self.source.slice(token.span).to_owned();
        let message = format!("this `{of}` has a second `{word}`");
        self.reports.add(RuleCode::HPE017, token.span, message).relate(first, "the first one");
    }

    pub(super) fn decision(&mut self) -> Parsed<If> {
        let start = self.token();
        let mut arms = vec![self.arm("if")?];
        let mut otherwise = None;
        let mut first_else: Option<Span> = None;
        while self.at_clause(&["elif", "else"]) {
            let token = self.token();
            if self.word() == "elif" {
                if let Some(first) = first_else {
                    self.reports
                        .add(RuleCode::HPE016, token.span, "an `elif` after the `else`")
                        .relate(first, "the `else`")
                        .hint("put it before the `else`");
                }
                arms.push(self.arm("elif")?);
                continue;
            }
            self.bump();
            if let Some(first) = first_else {
                self.only_once(token, first, "if");
            }
            if self.word() == "if" {
                let span = token.span.to(self.token().span);
                self.invalid(span, "there is no `else if`", "write `elif`");
                arms.push(self.arm("if")?);
                continue;
            }
            first_else.get_or_insert(token.span);
            otherwise = Some(self.body("`else`", token));
        }
        Ok(If { arms, otherwise, span: self.since(start.span) })
    }

    fn arm(&mut self, word: &str) -> Parsed<Arm> {
        let start = self.bump();
        let condition = self.condition(word)?;
        let body = self.body(&format!("`{word}`"), start);
        Ok(Arm { condition, body, span: self.since(start.span) })
    }

    pub(super) fn attempt(&mut self) -> Parsed<Try> {
        let start = self.bump();
        let body = self.body("`try`", start);
        let mut catch: Option<Catch> = None;
        let mut finally = None;
        let mut seen: [Option<Span>; 2] = [None, None];
        while self.at_clause(&["catch", "finally"]) {
            let token = self.bump();
            let is_catch = self.source.slice(token.span) == "catch";
            let place = &mut seen[usize::from(is_catch)];
            let first = place.replace(token.span);
            if let Some(first) = first {
                self.only_once(token, first, "try");
            }
            if is_catch {
                if let [Some(finally), _] = seen {
                    self.reports
                        .add(RuleCode::HPE016, token.span, "a `catch` after the `finally`")
                        .relate(finally, "the `finally`")
                        .hint("put it before the `finally`");
                }
                let error = self.as_name()?;
                let body = self.body("`catch`", token);
                catch = Some(Catch { error, body, span: self.since(token.span) });
            } else {
                finally = Some(self.body("`finally`", token));
            }
        }
        if seen == [None, None] {
            self.reports.add(RuleCode::HPE014, start.span, "this `try` has neither `catch` nor `finally`");
        }
        Ok(Try { body, catch, finally, span: self.since(start.span) })
    }

    pub(super) fn choice(&mut self) -> Parsed<ChoiceExpr> {
        let start = self.bump();
        let criteria = self.criteria("what this choice goes by")?;
        if !self.eat(TokenKind::Colon) {
            self.mismatch("`:` after the criteria");
            self.skip_to_line_end();
        }
        let mut options = Vec::new();
        self.entries(|parser| parser.option_into(&mut options));
        if options.is_empty() {
            self.reports.add(RuleCode::HPE015, start.span, "this choice has no options");
        }
        self.check_labels(&options);
        Ok(ChoiceExpr { criteria, options, span: self.since(start.span) })
    }

    fn option_into(&mut self, options: &mut Vec<ChoiceOption>) {
        if self.word() != "option" {
            let token = self.token();
            let found = self.describe(token);
            let message = format!("a choice has options, and {found} is none");
            self.invalid(token.span, message, "write `option \"label\":`, and this below it");
            self.skip_line_and_block();
            return;
        }
        match self.option() {
            Ok(option) => options.push(option),
            Err(ParseFailure) => self.skip_line_and_block(),
        }
    }

    fn option(&mut self) -> Parsed<ChoiceOption> {
        let start = self.bump();
        let label = self.string("a label between quotes")?;
        let body = self.body("this option", start);
        Ok(ChoiceOption { label, body, span: self.since(start.span) })
    }

    fn check_labels(&mut self, options: &[ChoiceOption]) {
        let mut seen: std::collections::HashMap<String, Span> = std::collections::HashMap::new();
        for ChoiceOption { label, .. } in options {
            let said: &Text = label;
            if let Some(first) = seen.insert(said.display_text().into_owned(), said.span) {
                let message = format!("a second option \"{}\"", said.display_text());
                self.reports.add(RuleCode::HPW010, said.span, message).relate(first, "the first one");
            }
        }
    }
}
