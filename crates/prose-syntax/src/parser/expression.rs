//! Expressions: literals, names, calls, and those that begin with a keyword.

use super::{Parsed, Parser};
use crate::ast::{
    CallExpr, Expr, Name, Opaque, Property, Quote, RecordEntry, Sign, Spanned, Sum, Text, TextPart,
};
use crate::codes::RuleCode;
use crate::source::Span;
use crate::token::{Bracket, Token, TokenKind};

impl Parser<'_> {
    /// Parses the value of a binding.
    pub(super) fn value(&mut self) -> Parsed<Expr> {
        let value = self.deeper(Self::expression)?;
        let message = match &value {
            Expr::Try(_) => "`try`",
            Expr::If(_) => "`if`",
            Expr::Choice(_) => "`choice`",
            Expr::Number(_) => "a number",
            _ => return Ok(value),
        };
        // Only the header: the whole value would underline a page.
        let span = self.source.first_line(value.span());
        self.old_form(
            span,
            format!("{message} as a value"),
            match value {
                Expr::Number(_) => "numbers are counts only: write it between quotes",
                _ => "bind a name inside it",
            },
        );
        Ok(value)
    }

    /// Parses an expression used as a statement.
    pub(super) fn statement_value(&mut self) -> Parsed<Expr> {
        self.deeper(Self::expression)
    }

    fn expression(&mut self) -> Parsed<Expr> {
        let from = self.at;
        let mut value = self.operand()?;
        if value.is_operand() {
            value = self.sum(value, from)?;
            if self.kind() == TokenKind::Pipe {
                return self.pipe(value);
            }
            if self.is_operator() {
                return Ok(Expr::Opaque(self.opaque(from)));
            }
        }
        if self.kind() == TokenKind::Arrow {
            return self.arrow(value);
        }
        Ok(value)
    }

    /// Parses what is added to or subtracted from a value.
    fn sum(&mut self, first: Expr, from: usize) -> Parsed<Expr> {
        let mut value = first;
        let mut terms = 0;
        while let TokenKind::Plus | TokenKind::Minus = self.kind() {
            let sign = if self.bump().kind == TokenKind::Plus { Sign::Plus } else { Sign::Minus };
            let right = self.operand()?;
            terms += 1;
            if !right.is_operand() {
                let message = "only names, strings, numbers and lists can be added";
                return Err(self.invalid(right.span(), message, "bind the value with `let` first"));
            }
            if terms > super::DEPTH {
                // A chain this long would make the tree as deep.
                return Ok(Expr::Opaque(self.opaque(from)));
            }
            value = Expr::Sum(Sum { left: Box::new(value), sign, right: Box::new(right) });
        }
        if terms > 0 && !self.is_operator() {
            let span = value.span();
            self.reports
                .add(
                    RuleCode::HPW016,
                    span,
                    "the language has no calculations; this one is done all the same",
                )
                .hint("let a command calculate it");
        }
        Ok(value)
    }

    /// Returns whether an operator known from other languages follows.
    fn is_operator(&self) -> bool {
        match self.kind() {
            TokenKind::Comparison | TokenKind::Plus | TokenKind::Minus => true,
            TokenKind::Open(Bracket::Square) => true,
            TokenKind::Unknown => {
                matches!(self.source.slice(self.token().span), "*" | "/" | "%" | "?" | "&" | "!" | "^")
            }
            TokenKind::Word => matches!(self.word(), "and" | "or" | "not" | "in" | "is" | "if"),
            _ => false,
        }
    }

    /// Takes the words from a token to the end of the expression as written.
    fn opaque(&mut self, from: usize) -> Opaque {
        let mut depth = 0_usize;
        loop {
            match self.kind() {
                TokenKind::Open(_) => depth += 1,
                TokenKind::Close(_) | TokenKind::Comma if depth == 0 => break,
                TokenKind::Close(_) => depth -= 1,
                kind if kind.is_layout() => break,
                _ => {}
            }
            self.bump();
        }
        let words = self.words(from);
        self.reports.add(
            RuleCode::HPW016,
            words.span,
            "this is in no grammar; whoever is asked when the program runs decides",
        );
        words
    }

    /// Returns the words from a token up to the cursor.
    pub(super) fn words(&self, from: usize) -> Opaque {
        let start = self.tokens.get(from).map_or(Span::default(), |token| token.span);
        Opaque { text: self.token_text(from, self.at), span: self.since(start) }
    }

    /// Parses an operand: what an arrow, a sum or a pipe may begin with.
    pub(super) fn operand(&mut self) -> Parsed<Expr> {
        match self.kind() {
            TokenKind::Text => match self.string_here() {
                Some(text) => Ok(Expr::Text(text)),
                None => Err(self.mismatch("a value")),
            },
            TokenKind::Number | TokenKind::Minus => self.number(),
            TokenKind::Open(Bracket::Square) => self.deeper(Self::list),
            TokenKind::Open(Bracket::Curly) => self.deeper(Self::record),
            TokenKind::Word => self.word_expression(),
            _ => Err(self.mismatch("a value")),
        }
    }

    fn number(&mut self) -> Parsed<Expr> {
        let start = self.token();
        self.eat(TokenKind::Minus);
        if self.kind() != TokenKind::Number {
            return Err(self.mismatch("a number"));
        }
        let token = self.bump();
        let span = start.span.to(token.span);
        let digits = self.source.slice(token.span);
        match digits.parse::<i64>() {
            Ok(number) => {
                let value = if start.kind == TokenKind::Minus { -number } else { number };
                Ok(Expr::Number(Spanned { value, span }))
            }
            Err(_) => Err(self.invalid(span, "this number is too large", "write it between quotes")),
        }
    }

    fn list(&mut self) -> Parsed<Expr> {
        let start = self.token();
        let mut values = Vec::new();
        self.between(Bracket::Square, |parser| {
            values.push(parser.value()?);
            Ok(())
        })?;
        values.shrink_to_fit();
        Ok(Expr::List(Spanned { value: values, span: self.since(start.span) }))
    }

    fn record(&mut self) -> Parsed<Expr> {
        let start = self.token();
        let mut entries = Vec::new();
        let mut valued = false;
        self.between(Bracket::Curly, |parser| {
            let key = parser.key()?;
            let value = if parser.eat(TokenKind::Colon) { Some(parser.value()?) } else { None };
            valued |= value.is_some();
            entries.push(RecordEntry { key, value });
            Ok(())
        })?;
        entries.shrink_to_fit();
        let span = self.since(start.span);
        if valued {
            self.old_form(
                span,
                "an object with values of its own",
                "bind them with `let`, and write `{ a, b }`",
            );
        }
        Ok(Expr::Record(Spanned { value: entries, span }))
    }

    /// Parses the key of an object: a name or, before a colon, also a string.
    fn key(&mut self) -> Parsed<Name> {
        if self.is_string(0) && self.kind_at(1) == TokenKind::Colon {
            let text = self.string("a key")?;
            return Ok(self.names.name(&text.display_text(), text.span));
        }
        self.name("the name of a variable")
    }

    /// Parses an expression that begins with a word: as a keyword if what follows fits, otherwise as a name.
    fn word_expression(&mut self) -> Parsed<Expr> {
        let next = self.kind_at(1);
        let follows = |words: &[&str]| words.contains(&self.word_at(1));
        let opens = |next| matches!(next, TokenKind::Colon | TokenKind::Open(Bracket::Round));
        match self.word() {
            "session" if !matches!(next, TokenKind::Dot | TokenKind::Pipe | TokenKind::Open(_)) => {
                self.session().map(Box::new).map(Expr::Session)
            }
            "resume" if next == TokenKind::Colon => self.resume().map(Box::new).map(Expr::Resume),
            "exec" if self.is_string(1) || self.opens_bad_exec() => self.exec().map(Expr::Exec),
            "do" if matches!(next, TokenKind::Colon | TokenKind::Word) || self.opens_block(1) => {
                self.parse_do()
            }
            "parallel" if follows(&["for"]) => self.parse_for(),
            "parallel" if opens(next) || self.opens_block(1) => self.parallel().map(Expr::Parallel),
            "repeat" if !is_end(next) && next != TokenKind::Dot => self.repeat().map(Expr::Repeat),
            "for" if next == TokenKind::Word => self.parse_for(),
            "loop" if follows(&["until", "while", "as"]) => self.parse_loop().map(Box::new).map(Expr::Loop),
            "loop" if opens(next) || self.opens_block(1) => self.parse_loop().map(Box::new).map(Expr::Loop),
            "try" if next == TokenKind::Colon || self.opens_block(1) => self.attempt().map(Expr::Try),
            "choice" if !is_end(next) => self.choice().map(Expr::Choice),
            "if" if !is_end(next) || next == TokenKind::Colon => self.decision().map(Expr::If),
            _ => self.name_expression(),
        }
    }

    /// Returns whether a line ends here and an indented one follows, as after a header whose colon is missing.
    pub(super) fn opens_block(&self, ahead: usize) -> bool {
        self.kind_at(ahead) == TokenKind::Newline && self.kind_at(ahead + 1) == TokenKind::Indent
    }

    /// Returns whether `exec` begins a statement here, although no command follows.
    fn opens_bad_exec(&self) -> bool {
        let next = self.kind_at(1);
        let is_first = self.at == 0
            || self
                .tokens
                .get(self.at - 1)
                .is_some_and(|before| before.kind.is_layout() || before.kind == TokenKind::Equal);
        match next {
            TokenKind::Word => is_first,
            TokenKind::Newline | TokenKind::End => self.token().opens_line,
            TokenKind::Open(_) | TokenKind::Text | TokenKind::Colon | TokenKind::Unknown => is_first,
            _ => false,
        }
    }

    /// Parses a name, an output of a name, or a call.
    fn name_expression(&mut self) -> Parsed<Expr> {
        let token = self.bump();
        if self.kind() == TokenKind::Open(Bracket::Round) {
            return self.call(token);
        }
        let word = self.source.slice(token.span);
        if matches!(word, "true" | "false" | "null") && self.kind() != TokenKind::Dot {
            let text = word.to_owned();
            self.old_form(
                token.span,
                format!("`{text}` as a value; it is the text \"{text}\""),
                "write it between quotes",
            );
            let parts = vec![TextPart::Literal(text)];
            return Ok(Expr::Text(Text { parts, quote: Quote::Single, span: token.span }));
        }
        let of = self.name_of(token);
        if self.kind() != TokenKind::Dot {
            return Ok(Expr::Name(of));
        }
        let mut path = Vec::with_capacity(1);
        while self.eat(TokenKind::Dot) {
            path.push(self.name("the name of an output")?);
        }
        let property = Property { of, path };
        if property.path.len() > 1 {
            self.old_form(property.span(), "an output of an output", "only `result.output` is known");
        }
        Ok(Expr::Property(property))
    }

    fn call(&mut self, token: Token) -> Parsed<Expr> {
        let program = self.name_of(token);
        let mut inputs = Vec::new();
        self.between(Bracket::Round, |parser| {
            if parser.kind() != TokenKind::Word || parser.kind_at(1) != TokenKind::Colon {
                let span = parser.visible(parser.token());
                let hint = format!(
                    "write `{0}(input: value)`; a block is called with `do {0}(value)`",
                    program.text
                );
                return Err(parser.invalid(span, "the inputs of a program are named", hint));
            }
            let name = parser.name("the name of an input")?;
            parser.bump();
            inputs.push((name, parser.value()?));
            Ok(())
        })?;
        let span = self.since(token.span);
        self.properties("a call", &["(none)"], |_, _, _| Ok(()));
        Ok(Expr::Call(CallExpr { program, inputs, span }))
    }

    /// Parses the context of a session: names, or values in their place.
    pub(super) fn context(&mut self) -> Parsed<Expr> {
        let value = match self.kind() {
            TokenKind::Word => {
                let value = self.name_expression()?;
                let from = self.at.saturating_sub(1);
                if self.is_operator() { Expr::Opaque(self.opaque(from)) } else { value }
            }
            TokenKind::Open(_) => self.operand()?,
            TokenKind::Text => {
                let text = self.string("the name of a variable")?;
                self.reports.add(RuleCode::HPW023, text.span, "a context is a variable, not a string");
                Expr::Text(text)
            }
            _ => return Err(self.mismatch("the name of a variable, a list, or `{ a, b }`")),
        };
        if let Expr::List(list) = &value {
            for element in &list.value {
                if !matches!(element, Expr::Name(_) | Expr::Property(_)) {
                    self.reports.add(
                        RuleCode::HPE004,
                        element.span(),
                        "an element of a context is a variable",
                    );
                }
            }
        }
        Ok(value)
    }
}

/// Returns whether a token ends an expression.
fn is_end(kind: TokenKind) -> bool {
    kind.is_layout()
        || matches!(kind, TokenKind::Close(_) | TokenKind::Comma | TokenKind::Colon | TokenKind::Pipe)
}
