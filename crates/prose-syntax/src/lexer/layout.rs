//! Lines and indentation: where statements end, and where blocks begin and end.

use super::{Lexer, identifier_end};
use crate::codes::RuleCode;
use crate::token::{STATEMENTS, TokenKind};

/// The tab width. A tab is an error; this keeps what follows readable.
const TAB: usize = 8;

impl Lexer<'_> {
    /// Determines, at the beginning of a line, which block it belongs to.
    pub(super) fn line_start(&mut self) {
        self.opens_line = true;
        let start = self.at;
        let (width, tabs) = self.indentation();
        match self.peek() {
            None | Some(b'\n' | b'#') => return,
            Some(b'\r') if self.peek_at(1) == Some(b'\n') => return,
            _ => {}
        }
        if tabs {
            self.tabs += 1;
            if self.tabs == 1 {
                self.first_tab = Self::span(start, self.at);
            }
        }
        if self.open > 0 {
            if !self.is_lost_bracket(width) {
                return;
            }
            self.open = 0;
        }
        if self.goes_on() {
            self.close_above(width);
            return;
        }
        self.end_statement();
        self.width = width;
        self.turn(width, start);
    }

    /// Skips white space; returns its width and whether it contains tabs.
    fn indentation(&mut self) -> (usize, bool) {
        let (mut width, mut tabs) = (0, false);
        loop {
            match self.peek() {
                Some(b' ') => width += 1,
                Some(b'\t') => {
                    width = (width / TAB + 1) * TAB;
                    tabs = true;
                }
                _ => return (width, tabs),
            }
            self.at += 1;
        }
    }

    /// Returns whether a bracket above was probably never closed: a statement starts here, indented no further than
    /// the one that contains the bracket.
    fn is_lost_bracket(&self, width: usize) -> bool {
        width <= self.width && self.is_statement(self.at)
    }

    /// Returns whether the line that starts here begins with a word that opens a statement.
    pub(super) fn is_statement(&self, at: usize) -> bool {
        let end = identifier_end(self.bytes, at);
        self.text.get(at..end).is_some_and(|word| STATEMENTS.contains(&word))
    }

    /// Returns whether this line continues the expression of the one above.
    fn goes_on(&self) -> bool {
        self.peek() == Some(b'|') || self.peek() == Some(b'-') && self.peek_at(1) == Some(b'>')
    }

    /// Closes the blocks above a line that continues an expression.
    fn close_above(&mut self, width: usize) {
        if self.levels.last().is_some_and(|level| *level > width) {
            self.end_statement();
        }
        while self.levels.len() > 1 && self.levels.last().is_some_and(|level| *level > width) {
            self.levels.pop();
            self.mark(TokenKind::Dedent, self.at);
        }
    }

    /// Ends the statement above, if there is one.
    pub(super) fn end_statement(&mut self) {
        if let Some(last) = self.lexed.tokens.last()
            && !last.kind.is_layout()
        {
            let end = last.span.end();
            self.mark(TokenKind::Newline, end);
        }
    }

    /// Opens or closes blocks for a line of this width.
    fn turn(&mut self, width: usize, start: usize) {
        let level = |levels: &[usize]| levels.last().copied().unwrap_or(0);
        if width > level(&self.levels) {
            self.levels.push(width);
            let opens_line = std::mem::replace(&mut self.opens_line, false);
            self.push(TokenKind::Indent, start);
            self.opens_line = opens_line;
            return;
        }
        while width < level(&self.levels) {
            let below = self.levels.len().checked_sub(2).and_then(|at| self.levels.get(at).copied());
            if below.is_some_and(|below| below < width) {
                // Between two levels: treat it as part of the inner block, and report it once.
                self.reports
                    .add(RuleCode::E005, Self::span(start, self.at), "this indentation fits no block above")
                    .hint("indent the line like the statements it belongs to");
                if let Some(top) = self.levels.last_mut() {
                    *top = width;
                }
                return;
            }
            self.levels.pop();
            self.mark(TokenKind::Dedent, self.at);
        }
    }
}
