//! Gates.

use super::{ParseFailure, Parsed, Parser};
use crate::ast::{GateStatement, OnReject, Quote, Text};
use crate::codes::RuleCode;
use crate::token::{Bracket, TokenKind};

/// The properties of a gate.
const GATE: [&str; 4] = ["prompt", "allow", "timeout", "on_reject"];

impl Parser<'_> {
    pub(super) fn gate(&mut self) -> Parsed<GateStatement> {
        let start = self.bump();
        if self.source.slice(start.span) == "approve" {
            self.old_form(start.span, "`approve` is the old word for `gate`", "write `gate`");
        }
        if self.kind() != TokenKind::Word {
            let message = "this gate has no name";
            self.reports.add(RuleCode::HPE007, start.span, message).hint("write `gate name:`");
            return Err(ParseFailure);
        }
        let name = self.name("a name")?;
        self.need(TokenKind::Colon, "`:` after the name of the gate")?;
        let (mut prompt, mut allow, mut timeout, mut on_reject) = (None, Vec::new(), None, None);
        let mut prompt_given = false;
        self.properties("a gate", &GATE, |parser, key, _| {
            match key {
                "prompt" => {
                    prompt_given = true;
                    prompt = Some(parser.gate_prompt()?);
                }
                "allow" => allow = parser.allow()?,
                "timeout" => {
                    timeout = parser.duration(RuleCode::HPE022, "the timeout of a gate must be a duration");
                }
                _ => on_reject = Some(parser.on_reject()?),
            }
            Ok(())
        });
        if !prompt_given {
            let span = start.span.to(name.span);
            self.reports.add(RuleCode::OPE002, span, format!("the gate `{}` has no prompt", name.text));
        }
        let nothing = Text { parts: Vec::new(), quote: Quote::Single, span: name.span };
        Ok(GateStatement { name, prompt: prompt.unwrap_or(nothing), allow, timeout, on_reject })
    }

    fn gate_prompt(&mut self) -> Parsed<Text> {
        let text = self.text_or_variable("a prompt between quotes")?;
        if text.is_blank() {
            self.reports.add(RuleCode::HPW012, text.span, "the prompt of this gate is empty");
        }
        Ok(text)
    }

    fn allow(&mut self) -> Parsed<Vec<Text>> {
        if self.kind() != TokenKind::Open(Bracket::Square) {
            return Err(self.mismatch("a list, as in `[\"user\"]`"));
        }
        let allow = self.texts_in_list(RuleCode::E004, "who may decide")?;
        for who in &allow {
            if who.as_literal() != Some("user") {
                let message = format!("Principal not recognized: {}", who.display_text());
                self.reports.add(RuleCode::HPW013, who.span, message);
            }
        }
        Ok(allow)
    }

    fn on_reject(&mut self) -> Parsed<OnReject> {
        match self.word() {
            "throw" => {
                self.bump();
                Ok(OnReject::Throw(self.throw_message()?))
            }
            "retry" => {
                self.bump();
                Ok(OnReject::Retry)
            }
            "continue" => {
                self.bump();
                Ok(OnReject::Continue)
            }
            "session" => self.session().map(|session| OnReject::Session(Box::new(session))),
            _ => Err(self.wrong(RuleCode::HPE023, |found| {
                format!("on_reject must be throw, retry, continue, or session, not {found}")
            })),
        }
    }
}
