//! Properties: `key: value` on lines of their own below what they belong to.

use std::str::FromStr;

use strum::VariantNames;

use super::{ParseFailure, Parsed, Parser};
use crate::ast::{SessionProperties, Spanned, Text};
use crate::codes::RuleCode;
use crate::similar::did_you_mean;
use crate::source::Span;
use crate::token::{STATEMENTS, Token, TokenKind};

/// The properties of a session.
const SESSION: [&str; 6] = ["model", "prompt", "context", "retry", "backoff", "timeout"];

impl<'a> Parser<'a> {
    /// Parses the properties below, if there are any. Unknown ones are skipped; if `known` is empty, all are parsed.
    pub(super) fn properties(
        &mut self,
        of: &str,
        known: &[&str],
        mut read: impl FnMut(&mut Self, &str, Token) -> Parsed<()>,
    ) {
        let mut seen = Vec::new();
        self.entries(|parser| parser.entry(of, known, &mut seen, &mut read));
    }

    /// Parses the properties of a session. A string without a key, behind an agent or on a line below, is its prompt.
    pub(super) fn session_properties(&mut self, has_prompt: bool) -> SessionProperties {
        let (mut properties, mut seen) = (SessionProperties::default(), Vec::new());
        if !has_prompt && self.is_string(0) {
            self.prompt_without_key(&mut properties, &mut seen);
        }
        self.entries(|parser| {
            if !has_prompt && parser.is_string(0) {
                parser.prompt_without_key(&mut properties, &mut seen);
            } else {
                parser.entry("a session", &SESSION, &mut seen, &mut |parser: &mut Self, key: &str, token| {
                    parser.session_property(key, token, &mut properties)
                });
            }
        });
        properties
    }

    fn prompt_without_key(&mut self, into: &mut SessionProperties, seen: &mut Vec<(&'a str, Span)>) {
        let span = self.token().span;
        self.given_once("prompt", span, seen);
        self.old_form(span, "a prompt without its key", "write `prompt:` before it, on a line below");
        into.prompt = self.prompt().ok();
    }

    /// Reports a property that has been given before.
    fn given_once(&mut self, key: &'a str, span: Span, seen: &mut Vec<(&'a str, Span)>) {
        if let Some((_, first)) = seen.iter().find(|(known, _)| *known == key) {
            let message = format!("`{key}` is given twice");
            self.reports.add(RuleCode::E009, span, message).relate(*first, "first given here");
        } else if seen.len() < 64 {
            seen.push((key, span));
        }
    }

    /// Parses a line of properties.
    fn entry(
        &mut self,
        of: &str,
        known: &[&str],
        seen: &mut Vec<(&'a str, Span)>,
        read: &mut impl FnMut(&mut Self, &str, Token) -> Parsed<()>,
    ) {
        let has_key = self.kind() == TokenKind::Word && self.kind_at(1) == TokenKind::Colon;
        if has_key && !STATEMENTS.contains(&self.word()) {
            self.property(of, known, seen, read);
        } else {
            self.no_property(of, known);
        }
    }

    /// Parses the lines of the block below, if there is one; deeper lines are reported and skipped.
    pub(super) fn entries(&mut self, mut read: impl FnMut(&mut Self)) {
        if self.kind() != TokenKind::Newline || self.kind_at(1) != TokenKind::Indent {
            return;
        }
        self.bump();
        self.bump();
        loop {
            match self.kind() {
                TokenKind::Dedent => {
                    self.bump();
                    return;
                }
                TokenKind::End => return,
                TokenKind::Newline => {
                    self.bump();
                }
                TokenKind::Indent => self.skip_block(0),
                _ => read(self),
            }
        }
    }

    fn property(
        &mut self,
        of: &str,
        known: &[&str],
        seen: &mut Vec<(&'a str, Span)>,
        read: &mut impl FnMut(&mut Self, &str, Token) -> Parsed<()>,
    ) {
        let token = self.bump();
        self.bump();
        let key = self.source.slice(token.span);
        self.given_once(key, token.span, seen);
        if !known.is_empty() && !known.contains(&key) {
            self.unknown_property(of, known, key, token.span);
            self.skip_line_and_block();
            return;
        }
        if read(self, key, token).is_err() {
            self.skip_line_and_block();
            return;
        }
        if !self.after_layout() && !self.kind().is_layout() {
            self.mismatch("the end of the line");
            self.skip_line_and_block();
        }
    }

    fn unknown_property(&mut self, of: &str, known: &[&str], key: &str, span: Span) {
        let list = known.join(", ");
        let usual = match key {
            "retry" | "backoff" if of == "an exec" => {
                "a command is not run again: write a `loop` around it, or `catch` its failure".to_owned()
            }
            _ => format!("{of} has: {list}"),
        };
        let message = format!("{of} has no property `{key}`; it is ignored");
        let near = did_you_mean(key, known.iter().copied());
        self.reports.add(RuleCode::W005, span, message).hint(near.unwrap_or(usual));
    }

    fn no_property(&mut self, of: &str, known: &[&str]) {
        let token = self.token();
        let found = self.describe(token);
        let hint = if known.is_empty() {
            "write `name: value`, or start the statement at the depth of the one above".to_owned()
        } else {
            format!("{of} has: {}; a statement starts at the depth of the one above", known.join(", "))
        };
        let span = self.visible(token);
        self.invalid(span, format!("{found} is no property of {of}"), hint);
        self.skip_line_and_block();
    }

    /// Parses a property that sessions and agents have.
    pub(super) fn session_property(
        &mut self,
        key: &str,
        token: Token,
        into: &mut SessionProperties,
    ) -> Parsed<()> {
        match key {
            "prompt" => into.prompt = Some(self.prompt()?),
            "model" => into.model = Some(self.one_of(RuleCode::E008, "a model")?),
            "context" => into.context = Some(Box::new(self.context()?)),
            "backoff" => into.backoff = Some(self.one_of(RuleCode::HPE019, "a backoff")?),
            "timeout" => {
                into.timeout =
                    self.duration(RuleCode::E051, "timeout must be a duration (e.g., \"30s\", \"5m\")");
            }
            _ => into.retry = self.retry(token),
        }
        Ok(())
    }

    fn prompt(&mut self) -> Parsed<Text> {
        let text = self.text_or_variable("a prompt between quotes")?;
        if text.is_blank() {
            self.reports.add(RuleCode::W004, text.span, "this prompt is empty");
        }
        Ok(text)
    }

    /// Returns the word or string at the cursor.
    fn choice_word(&mut self) -> String {
        let token = self.token();
        match token.kind {
            TokenKind::Text => self.text_of(token).as_literal().unwrap_or_default().to_owned(),
            _ => self.word().to_owned(),
        }
    }

    /// Parses one of the words of `T`, quoted or not.
    pub(super) fn one_of<T: FromStr + VariantNames>(
        &mut self,
        code: RuleCode,
        what: &str,
    ) -> Parsed<Spanned<T>> {
        let token = self.token();
        let word = self.choice_word();
        if let Ok(value) = word.parse() {
            self.bump();
            return Ok(Spanned { value, span: token.span });
        }
        let found = match token.kind {
            TokenKind::Text if !word.is_empty() => format!("\"{}\"", word.escape_debug()),
            _ => self.describe(token),
        };
        let span = self.visible(token);
        let message = format!("{what} is {}, not {found}", list_words(T::VARIANTS));
        let near = did_you_mean(&word, T::VARIANTS.iter().copied());
        self.reports.add(code, span, message).hint_if(near);
        Err(ParseFailure)
    }

    fn retry(&mut self, key: Token) -> Option<Spanned<u32>> {
        let span = self.token().span;
        let value = self.positive(RuleCode::HPE018, "the number of retries")?.get();
        if value > 10 {
            let message = format!("{value} retries are many");
            self.reports.add(RuleCode::HPW008, key.span.to(span), message);
        }
        Some(Spanned { value, span })
    }
}

/// Formats words as a list for people: `a`, `b` or `c`.
fn list_words(words: &[&str]) -> String {
    let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match words.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => words.concat(),
    }
}
