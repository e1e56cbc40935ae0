//! The parser: from tokens to the tree. Recovers after each error, so that all errors are reported at once; the
//! result is complete only if there are none. Accepts any tokens in linear time and bounded depth.

mod branching;
mod condition;
mod construct;
mod definition;
mod expression;
mod gate;
mod header;
mod names;
mod pipe;
mod property;
mod session;
mod statement;

use super::ast::{Name, Program, Quote, Statement, Statements, Text};
use super::codes::RuleCode;
use super::diagnostic::Reports;
use super::lexer::{LexedSource, read_text};
use super::source::{SourceText, Span, to_offset};
use super::token::{Token, TokenKind, is_spaced};
use names::Names;

/// The maximum nesting depth of blocks and brackets.
const DEPTH: usize = 64;

/// An error that has already been reported.
#[derive(Debug, Clone, Copy)]
struct ParseFailure;

type Parsed<T> = Result<T, ParseFailure>;

pub(super) fn parse(source: &SourceText, lexed: LexedSource, reports: &mut Reports) -> Program {
    let program = Program::default();
    let mut parser = Parser {
        source,
        tokens: lexed.tokens,
        names: Names::default(),
        reports,
        program,
        at: 0,
        end: 0,
        next_id: 0,
        depth: 0,
        branches_at: None,
    };
    let body = parser.everything();
    let mut program = parser.program;
    program.body = Statements::new(body);
    program
}

struct Parser<'a> {
    source: &'a SourceText,
    tokens: Vec<Token>,
    names: Names,
    reports: &'a mut Reports,
    /// What has been hoisted so far.
    program: Program,
    at: usize,
    /// The end of the last token with text.
    end: usize,
    next_id: u32,
    depth: usize,
    /// The depth at which an assignment names a branch of a parallel block.
    branches_at: Option<usize>,
}

impl<'a> Parser<'a> {
    fn everything(&mut self) -> Vec<Statement> {
        let mut body = self.statements();
        while self.kind() != TokenKind::End {
            // A block that ends without having begun: its error has been reported.
            self.bump();
            body.extend(self.statements());
        }
        body
    }

    fn token(&self) -> Token {
        self.token_at(0)
    }

    fn token_at(&self, ahead: usize) -> Token {
        let end = Token { kind: TokenKind::End, span: Span::default(), opens_line: false };
        self.tokens.get(self.at + ahead).or(self.tokens.last()).copied().unwrap_or(end)
    }

    fn kind(&self) -> TokenKind {
        self.token().kind
    }

    fn kind_at(&self, ahead: usize) -> TokenKind {
        self.token_at(ahead).kind
    }

    /// Returns the word at the cursor; empty for any other token.
    fn word(&self) -> &'a str {
        self.word_at(0)
    }

    fn word_at(&self, ahead: usize) -> &'a str {
        let token = self.token_at(ahead);
        if token.kind == TokenKind::Word { self.source.slice(token.span) } else { "" }
    }

    fn bump(&mut self) -> Token {
        let token = self.token();
        if token.kind != TokenKind::End {
            self.at += 1;
        }
        if !token.kind.is_layout() {
            self.end = token.span.end();
        }
        token
    }

    fn eat(&mut self, kind: TokenKind) -> bool {
        let here = self.kind() == kind;
        if here {
            self.bump();
        }
        here
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let here = self.word() == word;
        if here {
            self.bump();
        }
        here
    }

    /// Returns whether the token before this one closed a block or a line.
    fn after_layout(&self) -> bool {
        self.at.checked_sub(1).and_then(|at| self.tokens.get(at)).is_none_or(|token| token.kind.is_layout())
    }

    /// Returns the span from the start of a token to the last token with text.
    fn since(&self, start: Span) -> Span {
        let start = start.start();
        Span::new(to_offset(start), to_offset(self.end.max(start)))
    }

    /// Reports that something else was expected here.
    fn mismatch(&mut self, what: &str) -> ParseFailure {
        let token = self.token();
        let found = self.describe(token);
        let span = self.visible(token);
        let diagnostic = self.reports.add(RuleCode::E004, span, format!("expected {what}, found {found}"));
        if self.source.slice(token.span) == "'" {
            diagnostic.hint("strings stand between double quotes");
        } else {
            diagnostic.no_hint();
        }
        ParseFailure
    }

    /// Reports a form that is no longer part of the language.
    fn old_form(&mut self, span: Span, message: impl Into<String>, hint: impl Into<String>) {
        self.reports.add(RuleCode::HPW017, span, message).hint(hint);
    }

    /// Reports that the token here is wrong; `message` is given its description.
    fn wrong(&mut self, code: RuleCode, message: impl FnOnce(&str) -> String) -> ParseFailure {
        let token = self.token();
        let (found, span) = (self.describe(token), self.visible(token));
        self.reports.add(code, span, message(&found));
        ParseFailure
    }

    /// Takes a token of the given kind, or reports that it is missing.
    fn need(&mut self, kind: TokenKind, what: &str) -> Parsed<()> {
        if self.eat(kind) { Ok(()) } else { Err(self.mismatch(what)) }
    }

    /// Takes the given word, or reports that it is missing.
    fn need_word(&mut self, word: &str) -> Parsed<()> {
        if self.eat_word(word) { Ok(()) } else { Err(self.mismatch(&format!("`{word}`"))) }
    }

    /// Reports that a statement is not valid in the language.
    fn invalid(&mut self, span: Span, message: impl Into<String>, hint: impl Into<String>) -> ParseFailure {
        self.reports.add(RuleCode::E005, span, message).hint(hint);
        ParseFailure
    }

    /// Returns the span to point at for a token; layout is invisible, so another place is used for it.
    fn visible(&self, token: Token) -> Span {
        if token.kind.is_layout() {
            let end = to_offset(self.end.min(self.source.text().len()));
            return Span::new(end, end);
        }
        token.span
    }

    fn describe(&self, token: Token) -> String {
        match token.kind {
            TokenKind::Text if self.quote_of(token).is_discretion() => "discretion (`**…**`)".to_owned(),
            TokenKind::Text => "a string".to_owned(),
            TokenKind::Newline => "the end of the line".to_owned(),
            TokenKind::Indent => "a deeper line".to_owned(),
            TokenKind::Dedent => "the end of the block".to_owned(),
            TokenKind::End => "the end of the program".to_owned(),
            _ => format!("`{}`", self.source.slice(token.span).escape_debug()),
        }
    }

    fn name_of(&mut self, token: Token) -> Name {
        self.names.name(self.source.slice(token.span), token.span)
    }

    fn name(&mut self, what: &str) -> Parsed<Name> {
        if self.kind() != TokenKind::Word {
            return Err(self.mismatch(what));
        }
        let token = self.bump();
        Ok(self.name_of(token))
    }

    /// Takes the string at the cursor, if there is one; discretion does not count.
    fn string_here(&mut self) -> Option<Text> {
        self.is_string(0).then(|| self.text_here())
    }

    /// Takes the discretion at the cursor, if there is any.
    fn discretion_here(&mut self) -> Option<Text> {
        self.is_discretion(0).then(|| self.text_here())
    }

    fn text_here(&mut self) -> Text {
        let token = self.bump();
        self.text_of(token)
    }

    /// Parses the contents of a string or discretion.
    fn text_of(&mut self, token: Token) -> Text {
        read_text(self.source, token.span, |text, span| self.names.name(text, span))
    }

    fn is_string(&self, ahead: usize) -> bool {
        let token = self.token_at(ahead);
        token.kind == TokenKind::Text && !self.quote_of(token).is_discretion()
    }

    fn is_discretion(&self, ahead: usize) -> bool {
        let token = self.token_at(ahead);
        token.kind == TokenKind::Text && self.quote_of(token).is_discretion()
    }

    fn quote_of(&self, token: Token) -> Quote {
        Quote::at(self.source.text().as_bytes(), token.span.start())
    }

    fn string(&mut self, what: &str) -> Parsed<Text> {
        match self.string_here() {
            Some(text) => Ok(text),
            None => Err(self.mismatch(what)),
        }
    }

    /// Skips the rest of the line, but not its end.
    fn skip_to_line_end(&mut self) {
        while !self.kind().is_layout() {
            self.bump();
        }
    }

    /// Skips the rest of the line including its end, and the block below it.
    fn skip_line_and_block(&mut self) {
        self.skip_to_line_end();
        if self.eat(TokenKind::Newline) && self.kind() == TokenKind::Indent {
            self.skip_block(0);
        }
    }

    /// Skips to the end of a block of which `depth` levels are open.
    fn skip_block(&mut self, mut depth: usize) {
        loop {
            match self.bump().kind {
                TokenKind::Indent => depth += 1,
                TokenKind::Dedent => depth = depth.saturating_sub(1),
                TokenKind::End => return,
                _ => {}
            }
            if depth == 0 {
                return;
            }
        }
    }

    /// Parses one level deeper, or reports that the nesting is too deep.
    fn deeper<T>(&mut self, inner: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth == DEPTH {
            let span = self.visible(self.token());
            self.reports.add(RuleCode::HPE024, span, format!("this is nested more than {DEPTH} levels deep"));
            return Err(ParseFailure);
        }
        self.depth += 1;
        let read = inner(self);
        self.depth -= 1;
        read
    }

    /// Returns tokens as text, with the usual spaces between them.
    fn token_text(&self, from: usize, to: usize) -> String {
        let tokens = self.tokens.get(from..to).unwrap_or_default();
        let mut text = String::new();
        for (at, token) in tokens.iter().enumerate() {
            if let Some(left) = at.checked_sub(1).map(|left| tokens[left]) {
                let before = at.checked_sub(2).map_or(left, |before| tokens[before]);
                let spaced = token.opens_line || is_spaced(self.source, before, left, *token);
                text.push_str(if spaced { " " } else { "" });
            }
            text.push_str(self.source.slice(token.span));
        }
        if text.contains('\r') {
            text = text.replace("\r\n", "\n");
        }
        text
    }
}
