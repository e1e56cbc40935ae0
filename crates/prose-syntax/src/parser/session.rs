//! Sessions and commands: the statements that do the work.

use std::time::Duration;

use super::{ParseFailure, Parsed, Parser};
use crate::ast::{ExecExpr, OnFail, Resume, SessionExpr, SessionHead, Spanned, Text};
use crate::codes::RuleCode;
use crate::token::{Token, TokenKind};
use pilothouse_envelope::units::timeout;

/// The properties of an `exec`.
const EXEC: [&str; 3] = ["timeout", "on-fail", "cwd"];
/// The timeout from which a warning is given.
const LONG: Duration = Duration::from_secs(600);
/// The length of a prompt above which a warning is given, in characters.
const LONG_PROMPT: usize = 10_000;

impl Parser<'_> {
    pub(super) fn session(&mut self) -> Parsed<SessionExpr> {
        let start = self.bump();
        let subject = self.subject(start)?;
        let mut properties = self.session_properties(matches!(subject, Some(SessionHead::Prompt(_))));
        let subject = match subject {
            Some(subject) => subject,
            // The old form: only the prompt follows below.
            None => match properties.prompt.take() {
                Some(prompt) => {
                    self.reports.add(
                        RuleCode::OPW005,
                        start.span,
                        "the prompt of this session stands below it alone",
                    );
                    SessionHead::Prompt(prompt)
                }
                None => {
                    self.reports.add(RuleCode::E003, start.span, "this session has neither prompt nor agent");
                    return Err(ParseFailure);
                }
            },
        };
        if let SessionHead::Prompt(prompt) = &subject {
            self.check_prompt(prompt);
        }
        let has_own_prompt = matches!(subject, SessionHead::Prompt(_));
        if let Some(prompt) = properties.prompt.as_ref().filter(|_| !has_own_prompt) {
            self.check_length(prompt);
        }
        Ok(SessionExpr { subject, properties, span: self.since(start.span) })
    }

    /// Parses the subject of a session; `None` if it follows on the lines below.
    fn subject(&mut self, word: Token) -> Parsed<Option<SessionHead>> {
        if let Some(prompt) = self.string_here() {
            if self.kind() == TokenKind::Colon {
                let colon = self.bump();
                self.reports.add(RuleCode::OPW004, colon.span, "a colon after the prompt of a session");
            }
            return Ok(Some(SessionHead::Prompt(prompt)));
        }
        if self.eat(TokenKind::Colon) {
            if self.kind().is_layout() {
                return Ok(None);
            }
            return self.name("the name of an agent").map(|agent| Some(SessionHead::Agent(agent)));
        }
        if self.kind() == TokenKind::Word {
            let name = self.name("a name")?;
            self.need(TokenKind::Colon, "`:` and an agent after the name of the session")?;
            if self.kind().is_layout() {
                return Ok(None);
            }
            let agent = self.name("the name of an agent")?;
            return Ok(Some(SessionHead::Named { name, agent }));
        }
        if self.kind().is_layout() {
            return Ok(None);
        }
        let token = self.token();
        let message = format!("this session has neither prompt nor agent, but {}", self.describe(token));
        self.reports.add(RuleCode::E003, word.span.to(token.span), message);
        Err(ParseFailure)
    }

    fn check_prompt(&mut self, prompt: &Text) {
        if prompt.is_empty() {
            self.reports.add(RuleCode::W001, prompt.span, "the prompt of this session is empty");
        } else if prompt.is_blank() {
            self.reports.add(RuleCode::W002, prompt.span, "the prompt of this session is only white space");
        }
        self.check_length(prompt);
    }

    fn check_length(&mut self, prompt: &Text) {
        let length = prompt.display_text().chars().count();
        if length > LONG_PROMPT {
            let message = format!("this prompt has {length} characters");
            self.reports.add(RuleCode::W003, prompt.span, message);
        }
    }

    pub(super) fn resume(&mut self) -> Parsed<Resume> {
        let start = self.bump();
        self.need(TokenKind::Colon, "`:` and an agent after `resume`")?;
        let agent = self.name("the name of an agent")?;
        let properties = self.session_properties(false);
        Ok(Resume { agent, properties, span: self.since(start.span) })
    }

    pub(super) fn exec(&mut self) -> Parsed<ExecExpr> {
        let start = self.bump();
        let Some(command) = self.string_here() else {
            let token = self.token();
            let found = self.describe(token);
            let span = start.span.to(self.visible(token));
            let message = format!("the command of an exec is a string, not {found}");
            let hint = if self.source.slice(token.span) == "'" {
                "strings stand between double quotes: exec \"command\""
            } else {
                "write exec \"command\"; a variable goes in as \"{name}\""
            };
            return Err(self.invalid(span, message, hint));
        };
        if command.is_blank() {
            self.reports.add(RuleCode::E050, command.span, "exec command cannot be empty");
        }
        let (mut timeout, mut on_fail, mut cwd) = (None, None, None);
        self.properties("an exec", &EXEC, |parser, key, _| {
            match key {
                "timeout" => {
                    timeout =
                        parser.duration(RuleCode::E051, "timeout must be a duration (e.g., \"30s\", \"5m\")");
                    if let Some(long) = timeout.filter(|timeout| timeout.value > LONG) {
                        parser.reports.add(RuleCode::W050, long.span, "exec timeout exceeds 10 minutes");
                    }
                }
                "on-fail" => on_fail = parser.on_fail(),
                _ => cwd = Some(Box::new(parser.string("a folder between quotes")?)),
            }
            Ok(())
        });
        Ok(ExecExpr { command, timeout, on_fail, cwd, span: self.since(start.span) })
    }

    /// Parses a quoted duration; reports `code` for anything else.
    pub(super) fn duration(&mut self, code: RuleCode, message: &str) -> Option<Spanned<Duration>> {
        let token = self.token();
        if let Some(text) = self.string_here() {
            let read = text.as_literal().and_then(timeout);
            if read.is_none() {
                self.reports.add(code, text.span, message);
            }
            return read.map(|value| Spanned { value, span: text.span });
        }
        let (written, span) = (self.source.slice(token.span), self.visible(token));
        let quoted = timeout(written).map(|_| format!("put it between quotes: \"{written}\""));
        self.reports.add(code, span, message).hint_if(quoted);
        self.skip_to_line_end();
        None
    }

    fn on_fail(&mut self) -> Option<Spanned<OnFail>> {
        let token = self.token();
        let message = "on-fail must be \"throw\", \"continue\", or \"ignore\"";
        let text = self.string_here();
        let value = text.as_ref().and_then(Text::as_literal).and_then(|word| word.parse().ok());
        if value.is_none() {
            let (span, word) = (self.visible(token), self.source.slice(token.span));
            let quoted = word.parse::<OnFail>().is_ok().then(|| format!("put it between quotes: \"{word}\""));
            self.reports.add(RuleCode::E052, span, message).hint_if(quoted);
            self.skip_to_line_end();
        }
        value.map(|value| Spanned { value, span: token.span })
    }
}
