//! Tokens: the words and symbols of a program, and the spacing between them.

use super::source::{SourceText, Span};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) span: Span,
    /// Whether it is the first token on its line.
    pub(super) opens_line: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// A name or a keyword; keywords are recognized by their position.
    Word,
    /// Digits.
    Number,
    /// Digits followed by something else: `5m`, `1.5`.
    Quantity,
    /// A string or discretion.
    Text,
    Colon,
    Comma,
    Dot,
    Equal,
    Arrow,
    Pipe,
    Plus,
    Minus,
    /// `==`, `!=`, `<`, `<=`, `>`, `>=`.
    Comparison,
    Open(Bracket),
    Close(Bracket),
    /// A character that is not part of the language.
    Unknown,
    /// The end of a statement's line.
    Newline,
    /// An indented line follows. The span is the white space of that line.
    Indent,
    /// A less indented line follows.
    Dedent,
    End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bracket {
    Round,
    Square,
    Curly,
}

impl TokenKind {
    /// Returns whether it marks the layout of lines rather than text.
    pub(super) fn is_layout(self) -> bool {
        matches!(self, Self::Newline | Self::Indent | Self::Dedent | Self::End)
    }
}

/// Words that begin a statement.
pub(super) const STATEMENTS: [&str; 26] = [
    "use", "import", "input", "output", "agent", "block", "session", "resume", "exec", "gate", "approve",
    "let", "const", "parallel", "repeat", "for", "loop", "try", "catch", "finally", "choice", "if", "elif",
    "else", "do", "throw",
];

/// Returns whether a space belongs between two adjacent tokens on a line.
pub(super) fn is_spaced(source: &SourceText, before: Token, left: Token, right: Token) -> bool {
    use Bracket::{Curly, Round, Square};
    use TokenKind::{Close, Colon, Comma, Dot, Minus, Number, Open, Unknown, Word};
    let apart = left.span.end() < right.span.start();
    let word = || source.slice(left.span);
    match (left.kind, right.kind) {
        (Unknown, _) | (_, Unknown) => apart,
        (Open(Curly), Close(Curly)) => false,
        (Open(Curly), _) | (_, Close(Curly)) => true,
        (Open(Round | Square), _) | (_, Close(Round | Square) | Comma | Colon) => false,
        (Word, Dot) | (Dot, Word) => false,
        (Dot, _) | (_, Dot) => apart,
        (Word, Open(Round)) => matches!(word(), "parallel" | "loop"),
        (Word, Open(Square)) => matches!(word(), "in" | "and" | "or" | "not") || apart,
        (Close(_), Open(Square)) => apart,
        // A sign, not a subtraction.
        (Minus, Number) => matches!(before.kind, Word | Number | Close(_) | TokenKind::Text),
        _ => true,
    }
}
