//! Conditions. The language has one form, `**…**`; comparisons in older programs are parsed too, and anything else is
//! kept as words.

use super::{Parsed, Parser};
use crate::ast::{Comparison, Condition, Expr, Property, Quote, Sign, Spanned, Sum, Text, TextPart};
use crate::codes::RuleCode;
use crate::token::{Bracket, TokenKind};

/// Text shorter than this, in characters, hardly says what is to be judged.
const SHORT: usize = 10;

impl Parser<'_> {
    /// Parses the condition of `word`, up to its colon or whatever else may follow it.
    pub(super) fn condition(&mut self, word: &str) -> Parsed<Condition> {
        if self.kind() == TokenKind::Colon || self.kind().is_layout() {
            return Err(self.mismatch(&format!("a condition after `{word}`, as in `{word} **…**:`")));
        }
        let from = self.at;
        let read = self.either(0).filter(|_| self.ends_condition(word));
        let condition = read.unwrap_or_else(|| self.opaque_condition(from));
        match &condition {
            Condition::Judged(_) => {}
            Condition::Opaque(words) => {
                let message =
                    "this condition is in no grammar; whoever is asked when the program runs decides";
                self.reports.add(RuleCode::HPW016, words.span, message);
            }
            evaluated => {
                let message = "the language has no comparisons; this condition is evaluated all the same";
                let span = evaluated.span();
                self.reports.add(RuleCode::HPW016, span, message);
            }
        }
        Ok(condition)
    }

    /// Checks the text of discretion.
    pub(super) fn check_judged(&mut self, text: &Text, what: &str) {
        if text.is_blank() {
            self.reports.add(RuleCode::HPE013, text.span, format!("{what} cannot be empty"));
        } else if text.display_text().trim().chars().count() < SHORT {
            self.reports.add(RuleCode::OPW002, text.span, format!("{what} is very short"));
        }
    }

    fn ends_condition(&self, word: &str) -> bool {
        let in_loop = matches!(word, "until" | "while");
        match self.kind() {
            TokenKind::Colon => self.kind_at(1).is_layout() || self.kind_at(1) == TokenKind::Word,
            TokenKind::Open(Bracket::Round) => in_loop,
            TokenKind::Word => in_loop && self.word() == "as",
            // The colon is missing: report that, rather than an odd condition.
            kind => kind.is_layout(),
        }
    }

    /// Takes the words up to the colon at the end of the line.
    fn opaque_condition(&mut self, from: usize) -> Condition {
        self.at = from;
        let ends_line = |parser: &Self| parser.kind() == TokenKind::Colon && parser.kind_at(1).is_layout();
        while !self.kind().is_layout() && !ends_line(self) {
            self.bump();
        }
        if self.kind().is_layout() {
            // No colon ends the line: use the first one, and treat what follows it as the body.
            self.at = from;
            while !self.kind().is_layout() && self.kind() != TokenKind::Colon {
                self.bump();
            }
            self.end = self.tokens[from..self.at].last().map_or(self.end, |token| token.span.end());
        }
        Condition::Opaque(self.words(from))
    }

    // If the condition cannot be parsed, report nothing about it: the words are kept instead.

    fn either(&mut self, depth: usize) -> Option<Condition> {
        self.chain(depth, "or", Self::conjunction, Condition::Or)
    }

    fn conjunction(&mut self, depth: usize) -> Option<Condition> {
        self.chain(depth, "and", Self::single, Condition::And)
    }

    fn chain(
        &mut self,
        depth: usize,
        word: &str,
        term: fn(&mut Self, usize) -> Option<Condition>,
        join: fn(Box<Condition>, Box<Condition>) -> Condition,
    ) -> Option<Condition> {
        let mut left = term(self, depth)?;
        let mut terms = depth;
        while self.eat_word(word) {
            terms += 1;
            if terms > super::DEPTH {
                return None;
            }
            left = join(Box::new(left), Box::new(term(self, depth + 1)?));
        }
        Some(left)
    }

    fn single(&mut self, depth: usize) -> Option<Condition> {
        if depth > super::DEPTH {
            return None;
        }
        if self.eat_word("not") {
            return self.single(depth + 1).map(|inner| Condition::Not(Box::new(inner)));
        }
        if self.eat(TokenKind::Open(Bracket::Round)) {
            let inner = self.either(depth + 1)?;
            return self.eat(TokenKind::Close(Bracket::Round)).then_some(inner);
        }
        if self.is_discretion(0) {
            let text = self.discretion_here()?;
            self.check_judged(&text, "this condition");
            return Some(Condition::Judged(text));
        }
        let left = self.term()?;
        if self.kind() != TokenKind::Comparison {
            return Some(Condition::Value(Box::new(left)));
        }
        let token = self.bump();
        let by = match self.source.slice(token.span) {
            "==" => Comparison::Equal,
            "!=" => Comparison::NotEqual,
            "<" => Comparison::Less,
            "<=" => Comparison::LessOrEqual,
            ">" => Comparison::Greater,
            _ => Comparison::GreaterOrEqual,
        };
        let right = self.term()?;
        Some(Condition::Compare { left: Box::new(left), by, right: Box::new(right) })
    }

    fn term(&mut self) -> Option<Expr> {
        let mut left = self.factor()?;
        let mut terms = 0;
        while let TokenKind::Plus | TokenKind::Minus = self.kind() {
            terms += 1;
            if terms > super::DEPTH {
                return None;
            }
            let sign = if self.bump().kind == TokenKind::Plus { Sign::Plus } else { Sign::Minus };
            let right = Box::new(self.factor()?);
            left = Expr::Sum(Sum { left: Box::new(left), sign, right });
        }
        Some(left)
    }

    fn factor(&mut self) -> Option<Expr> {
        match self.kind() {
            TokenKind::Text => self.string_here().map(Expr::Text),
            TokenKind::Number => {
                let token = self.bump();
                let value = self.source.slice(token.span).parse().ok()?;
                Some(Expr::Number(Spanned { value, span: token.span }))
            }
            TokenKind::Word => {
                let token = self.bump();
                let of = self.name_of(token);
                if matches!(of.as_str(), "true" | "false" | "null") {
                    let parts = vec![TextPart::Literal(of.as_str().to_owned())];
                    return Some(Expr::Text(Text { parts, quote: Quote::Single, span: token.span }));
                }
                let mut path = Vec::new();
                while self.eat(TokenKind::Dot) {
                    if self.kind() != TokenKind::Word {
                        return None;
                    }
                    let token = self.bump();
                    path.push(self.name_of(token));
                }
                Some(if path.is_empty() { Expr::Name(of) } else { Expr::Property(Property { of, path }) })
            }
            _ => None,
        }
    }

    /// Parses discretion; nothing else is accepted in its place.
    pub(super) fn criteria(&mut self, what: &str) -> Parsed<Text> {
        match self.discretion_here() {
            Some(text) => {
                self.check_judged(&text, what);
                Ok(text)
            }
            None => Err(self.mismatch("`**…**`")),
        }
    }
}
