//! Checks of what is interpolated into commands.

use super::Checker;
use crate::ast::{ExecExpr, Name, Text, TextPart};
use crate::codes::RuleCode;
use crate::lexer::loose_names;

impl<'a> Checker<'a> {
    pub(super) fn exec(&mut self, exec: &'a ExecExpr) {
        self.command_text(&exec.command);
        if let Some(cwd) = &exec.cwd {
            self.command_text(cwd);
        }
        if let Some(first) = exec.command.holes().next() {
            let others = exec.command.holes().skip(1).any(|other| other.text != first.text);
            let what = format!("{{{}}}{}", first.text, if others { " and others are" } else { " is" });
            self.reports.add(
                RuleCode::W051,
                exec.command.span,
                format!(
                    "Interpolated exec commands may have injection risk: {what} put into the shell's text"
                ),
            );
        }
    }

    fn command_text(&mut self, text: &'a Text) {
        for hole in text.holes() {
            if self.visible(hole.as_str()).is_none() {
                let message = format!("Variable {{{}}} is not defined", hole.text);
                let advice = self.brace_advice(hole);
                self.reports.add(RuleCode::E053, braces(hole), message).hint(advice);
            }
            self.check_contender(hole);
        }
        self.loose_braces(text);
    }

    /// Checks a text that is not passed to a shell.
    pub(super) fn plain_text(&mut self, text: &'a Text) {
        if let Some(TextPart::Hole(name)) = text.parts.first()
            && name.span == text.span
        {
            // A variable instead of a string: there is no text to preserve.
            self.used_as(name, "variable");
            return;
        }
        for hole in text.holes() {
            if self.visible(hole.as_str()).is_none() {
                let message = if self.reports.is_strict() {
                    format!("Variable {{{}}} is not defined", hole.text)
                } else {
                    format!("Variable {{{}}} is not defined; it stays as it is written", hole.text)
                };
                let advice = self.brace_advice(hole);
                self.reports.add(RuleCode::HPW001, braces(hole), message).hint(advice);
            }
            self.check_contender(hole);
        }
        self.loose_braces(text);
    }

    /// Warns about braces that look like an interpolation and are text: before a variable, before a part of one, or
    /// never closed.
    fn loose_braces(&mut self, text: &'a Text) {
        if !text.parts.iter().any(|part| matches!(part, TextPart::Literal(text) if text.contains('{'))) {
            return;
        }
        let whole = self.source.text();
        for name in loose_names(self.source, text.span) {
            let after = whole.get(name.end()..text.span.end()).unwrap_or_default();
            let inside = after.split_once('}').map(|(inside, _)| inside);
            let is_path =
                |path: &str| path.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
            let part = inside.filter(|inside| inside.starts_with('.') && is_path(inside));
            let word = self.source.slice(name);
            if inside.is_some() && part.is_none() && self.visible(word).is_none() {
                continue;
            }
            let message = match part {
                Some(part) => {
                    format!("only whole variables are inserted: `{{{word}{part}}}` stays as it is written")
                }
                None => format!("`{{{word}` is not closed after the name and stays as it is written"),
            };
            self.reports.add(RuleCode::HPW025, name, message);
        }
    }

    /// Suggests what to do about braces that may not have been meant as interpolation.
    fn brace_advice(&self, hole: &Name) -> String {
        let name = &hole.text;
        let before = self.source.text().get(..hole.span.start() - 1).unwrap_or_default();
        let usual = match before.chars().next_back() {
            Some('$') => {
                format!("if it is the shell's variable, write `$\\{{{name}}}`, or `${name}` without braces")
            }
            Some('@') => format!("if it is for git, write `@\\{{{name}}}`"),
            _ => format!("if it is plain text, write `\\{{{name}}}`; else define it before this line"),
        };
        self.advice(hole, &usual)
    }
}

/// Returns the span of an interpolation with its braces.
fn braces(hole: &Name) -> crate::source::Span {
    use crate::source::{Span, to_offset};
    Span::new(to_offset(hole.span.start() - 1), to_offset(hole.span.end() + 1))
}
