//! Statements, and how parsing recovers after one that could not be parsed.

use super::{ParseFailure, Parsed, Parser};
use crate::ast::{
    Assignment, BindingStatement, BindingTarget, Expr, Mutability, Name, OutputStatement, Quote, Statement,
    StatementKind, Statements, Text, TextPart,
};
use crate::codes::RuleCode;
use crate::similar::did_you_mean;
use crate::token::{Bracket, STATEMENTS, Token, TokenKind};

impl Parser<'_> {
    /// Parses statements up to the end of the block.
    pub(super) fn statements(&mut self) -> Vec<Statement> {
        let mut list = Vec::new();
        loop {
            match self.kind() {
                TokenKind::End | TokenKind::Dedent => return list,
                TokenKind::Newline => {
                    self.bump();
                }
                TokenKind::Indent => self.unexpected_indent(&mut list),
                _ => {
                    let before = self.at;
                    match self.statement() {
                        Ok(statement) => list.extend(statement),
                        Err(ParseFailure) => self.recover(&mut list),
                    }
                    self.line_end(&mut list);
                    if self.at == before {
                        self.bump();
                    }
                }
            }
        }
    }

    fn unexpected_indent(&mut self, list: &mut Vec<Statement>) {
        let span = self.visible(self.token_at(1));
        self.invalid(
            span,
            "this line is deeper than the one above, which opens no block",
            "indent it like the line above",
        );
        self.bump();
        list.extend(self.rest_of_block());
    }

    /// Parses the statements of the block that has just been opened, to its end.
    fn rest_of_block(&mut self) -> Vec<Statement> {
        let read = self.deeper(|parser| {
            let statements = parser.statements();
            parser.eat(TokenKind::Dedent);
            Ok(statements)
        });
        read.unwrap_or_else(|ParseFailure| {
            self.skip_block(1);
            Vec::new()
        })
    }

    /// Recovers after a statement that could not be parsed: continues with the statements below it, if there are any.
    fn recover(&mut self, list: &mut Vec<Statement>) {
        if self.after_layout() && self.kind() != TokenKind::Indent && self.kind().is_layout() {
            return;
        }
        self.skip_to_line_end();
        if self.kind() != TokenKind::Newline || self.kind_at(1) != TokenKind::Indent {
            return;
        }
        self.bump();
        let block_word = matches!(self.word_at(1), "try" | "do" | "parallel" | "loop" | "session" | "resume");
        if self.kind_at(2) == TokenKind::Colon && !block_word {
            // Properties of something unknown: nothing can be reported about them.
            self.skip_block(0);
            return;
        }
        self.bump();
        list.extend(self.rest_of_block());
    }

    /// Expects the end of a statement.
    fn line_end(&mut self, list: &mut Vec<Statement>) {
        if self.eat(TokenKind::Newline) || self.after_layout() || self.kind() == TokenKind::End {
            return;
        }
        if matches!(self.kind(), TokenKind::Dedent | TokenKind::Indent) {
            return;
        }
        self.mismatch("the end of the line");
        self.recover(list);
        self.eat(TokenKind::Newline);
    }

    /// Parses the body of a header, from its colon on.
    pub(super) fn body(&mut self, of: &str, header: Token) -> Statements {
        if !self.eat(TokenKind::Colon) {
            self.mismatch(&format!("`:` after {of}"));
            self.skip_to_line_end();
        }
        if self.kind() == TokenKind::Newline && self.kind_at(1) == TokenKind::Indent {
            self.bump();
            self.bump();
            return Statements::new(self.rest_of_block());
        }
        if self.kind().is_layout() {
            self.reports.add(RuleCode::HPW011, header.span, format!("nothing stands below {of}"));
            return Statements::default();
        }
        let span = self.token().span;
        self.invalid(span, format!("what belongs to {of} starts on the next line"), "put it there, indented");
        match self.deeper(Self::statement) {
            Ok(statement) => Statements::new(statement.into_iter().collect()),
            Err(ParseFailure) => Statements::default(),
        }
    }

    /// Parses a statement; returns `None` for a definition, which is hoisted.
    pub(super) fn statement(&mut self) -> Parsed<Option<Statement>> {
        let id = self.next_id;
        let start = self.token();
        if let Some(defined) = self.definition() {
            return defined.map(|()| None);
        }
        self.next_id += 1;
        let kind = self.statement_kind()?;
        Ok(Some(Statement { id, span: self.since(start.span), kind }))
    }

    fn statement_kind(&mut self) -> Parsed<StatementKind> {
        if self.kind() == TokenKind::Word && self.kind_at(1) == TokenKind::Equal {
            return self.assignment();
        }
        match self.word() {
            "input" if self.opens_input() => self.input().map(StatementKind::Input),
            "let" => self.binding(Mutability::Let),
            "const" => self.binding(Mutability::Const),
            "output" => self.output(),
            "return" => self.parse_return(),
            "gate" | "approve" if self.kind_at(1) != TokenKind::Open(Bracket::Round) => {
                self.gate().map(|gate| StatementKind::Gate(Box::new(gate)))
            }
            "throw" => self.throw(),
            _ => self.effect(),
        }
    }

    fn assignment(&mut self) -> Parsed<StatementKind> {
        let token = self.bump();
        match self.source.slice(token.span) {
            "output" => {
                self.reports.add(RuleCode::E023, token.span, "this output has no name");
            }
            word @ ("let" | "const") => {
                return Err(self.mismatch(&format!("a name after `{word}`")));
            }
            _ => {}
        }
        let name = self.name_of(token);
        self.bump();
        // A branch may be any statement, even one that is not a value elsewhere.
        let is_branch = self.branches_at == Some(self.depth);
        let value = if is_branch { self.statement_value() } else { self.value() };
        let value = self.value_of(std::slice::from_ref(&name), value)?;
        Ok(StatementKind::Assign(Assignment { name, value }))
    }

    fn binding(&mut self, mutability: Mutability) -> Parsed<StatementKind> {
        let word = self.bump();
        let word = self.source.slice(word.span);
        let target = if self.kind() == TokenKind::Open(Bracket::Curly) {
            BindingTarget::Outputs(self.names_between(Bracket::Curly, "the name of an output")?)
        } else if self.kind() == TokenKind::Word {
            let token = self.bump();
            BindingTarget::Name(self.name_of(token))
        } else {
            return Err(self.mismatch(&format!("a name after `{word}`")));
        };
        let value = self.need(TokenKind::Equal, "`=`").and_then(|()| self.value());
        let value = self.value_of(target.names(), value)?;
        Ok(StatementKind::Bind(BindingStatement { mutability, target, value }))
    }

    /// Returns the value of a statement that binds names. The names count as bound even if the value could not be
    /// parsed.
    fn value_of(&mut self, names: &[Name], value: Parsed<Expr>) -> Parsed<Box<Expr>> {
        if value.is_err() {
            self.program.unread.extend_from_slice(names);
        }
        value.map(Box::new)
    }

    fn output(&mut self) -> Parsed<StatementKind> {
        let word = self.bump();
        if self.kind() == TokenKind::Word && self.kind_at(1) == TokenKind::Equal {
            let token = self.bump();
            let name = self.name_of(token);
            self.bump();
            let value = self.value();
            let value = self.value_of(std::slice::from_ref(&name), value)?;
            return Ok(StatementKind::Output(OutputStatement { name, value }));
        }
        if self.kind().is_layout() {
            self.reports.add(RuleCode::E023, word.span, "this output has no name");
            return Err(ParseFailure);
        }
        let value = self.value()?;
        let span = word.span;
        self.old_form(
            span,
            "an `output` without a name ends the block with this value",
            "write `output name = …`",
        );
        Ok(StatementKind::Return(Some(Box::new(value))))
    }

    fn parse_return(&mut self) -> Parsed<StatementKind> {
        let word = self.bump();
        self.old_form(word.span, "`return` ends the block with this value", "write `output name = …`");
        if self.kind().is_layout() {
            return Ok(StatementKind::Return(None));
        }
        let value = self.value()?;
        Ok(StatementKind::Return(Some(Box::new(value))))
    }

    fn throw(&mut self) -> Parsed<StatementKind> {
        self.bump();
        Ok(StatementKind::Throw(self.throw_message()?))
    }

    /// Parses the message of a `throw`, if there is one.
    pub(super) fn throw_message(&mut self) -> Parsed<Option<Text>> {
        if self.kind().is_layout() {
            return Ok(None);
        }
        let text = self.text_or_variable("a message")?;
        if text.is_blank() {
            self.reports.add(RuleCode::HPW007, text.span, "the message of this throw is empty");
        }
        Ok(Some(text))
    }

    /// Parses a string; the name of a variable in its place stands for its value.
    pub(super) fn text_or_variable(&mut self, what: &str) -> Parsed<Text> {
        if self.kind() != TokenKind::Word {
            return self.string(what);
        }
        let token = self.bump();
        let name = self.name_of(token);
        self.old_form(token.span, "a variable in place of a string", format!("write \"{{{}}}\"", name.text));
        Ok(Text { parts: vec![TextPart::Hole(name)], quote: Quote::Single, span: token.span })
    }

    /// Parses an expression used as a statement.
    fn effect(&mut self) -> Parsed<StatementKind> {
        if let "elif" | "else" | "catch" | "finally" | "option" = self.word() {
            return Err(self.stray_clause());
        }
        let start = self.token();
        let second = self.kind_at(1);
        let known = STATEMENTS.contains(&self.word());
        let may_be_name = matches!(
            second,
            TokenKind::Open(Bracket::Round) | TokenKind::Pipe | TokenKind::Newline | TokenKind::Dot
        );
        if start.kind == TokenKind::Word && !known && !may_be_name {
            return Err(self.unknown_statement(start));
        }
        let value = self.statement_value()?;
        if let Expr::Name(_)
        | Expr::Text(_)
        | Expr::Number(_)
        | Expr::Property(_)
        | Expr::Record(_)
        | Expr::Sum(_)
        | Expr::Opaque(_) = value
        {
            // The value of a block may be a name or a text on its last line: allowed if nothing follows.
            let is_last = self.kind() == TokenKind::Newline && self.kind_at(1) == TokenKind::Dedent;
            if !is_last || self.depth == 0 {
                let word = if start.kind == TokenKind::Word { self.source.slice(start.span) } else { "" };
                let usual = || "bind it with `let name = …`, or leave it out".to_owned();
                let hint = did_you_mean(word, STATEMENTS).unwrap_or_else(usual);
                return Err(self.invalid(value.span(), "a value by itself does nothing", hint));
            }
        }
        Ok(StatementKind::Do(Box::new(value)))
    }

    fn stray_clause(&mut self) -> ParseFailure {
        let token = self.token();
        let word = self.word().to_owned();
        let of = match &*word {
            "elif" | "else" => "if",
            "option" => "choice",
            _ => "try",
        };
        self.reports.add(RuleCode::HPE016, token.span, format!("this `{word}` belongs to no `{of}`"));
        ParseFailure
    }

    fn unknown_statement(&mut self, token: Token) -> ParseFailure {
        let word = self.source.slice(token.span).to_owned();
        let usual = match &*word {
            "assert" => "write `if **…**:` with a `throw`, or a `gate`",
            _ => "see what a statement begins with: session, exec, let, parallel, if, loop, …",
        };
        let message = format!("no statement begins with `{word}`");
        let diagnostic = self.reports.add(RuleCode::E004, token.span, message).hint(usual);
        diagnostic.hint_if(did_you_mean(&word, STATEMENTS));
        ParseFailure
    }
}
