//! The lexer: from text to tokens. Accepts any text; errors are reported, and still produce a token. Layout becomes
//! tokens: the end of a line, an indent, a dedent.

mod layout;
mod strings;
mod text;

use super::codes::RuleCode;
use super::diagnostic::Reports;
use super::source::{SourceText, Span, to_offset};
use super::token::{Bracket, Token, TokenKind};

pub(super) use text::{loose_names, read_text};

/// The tokens and comments of a text.
#[derive(Debug)]
pub(super) struct LexedSource {
    /// The tokens; there is at least the one at the end.
    pub(super) tokens: Vec<Token>,
    /// Comments, each from `#` to the end of its line.
    pub(super) comments: Vec<Span>,
}

/// How strings that span several lines are treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quoting {
    /// They are allowed.
    Open,
    /// A quote is missing somewhere: a string that continues with what looks like a statement ends on its first line.
    Guess,
    /// Each string ends on its line.
    Line,
}

pub(super) fn lex(source: &SourceText, reports: &mut Reports) -> LexedSource {
    let quoting = if reports.is_strict() { Quoting::Line } else { Quoting::Open };
    let mut trial = Reports::new(reports.profile());
    let mut lexer = Lexer::new(source, &mut trial, quoting);
    let ended = lexer.run();
    if ended == LexerEnd::InString && quoting == Quoting::Open {
        // The missing quote may be far above; a second pass finds its line.
        let mut lexer = Lexer::new(source, reports, Quoting::Guess);
        lexer.run();
        return lexer.lexed;
    }
    let lexed = lexer.lexed;
    reports.take_from(trial);
    lexed
}

/// Whether a text ended inside a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LexerEnd {
    Well,
    InString,
}

struct Lexer<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    quoting: Quoting,
    ended: LexerEnd,
    /// The indentation widths of the open blocks.
    levels: Vec<usize>,
    /// The indentation width of the line on which the statement started.
    width: usize,
    /// The number of open brackets.
    open: usize,
    opens_line: bool,
    tabs: usize,
    first_tab: Span,
    lexed: LexedSource,
    reports: &'a mut Reports,
}

impl<'a> Lexer<'a> {
    fn new(source: &'a SourceText, reports: &'a mut Reports, quoting: Quoting) -> Self {
        let text = source.text();
        let tokens = Vec::with_capacity(text.len() / 6);
        let lexed = LexedSource { tokens, comments: Vec::new() };
        Self {
            text,
            bytes: text.as_bytes(),
            at: 0,
            quoting,
            ended: LexerEnd::Well,
            levels: vec![0],
            width: 0,
            open: 0,
            opens_line: true,
            tabs: 0,
            first_tab: Span::default(),
            lexed,
            reports,
        }
    }

    fn run(&mut self) -> LexerEnd {
        if self.text.starts_with('\u{feff}') {
            self.at = '\u{feff}'.len_utf8();
        }
        self.line_start();
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\t' | b'\r' => self.at += 1,
                b'\n' => {
                    self.at += 1;
                    self.line_start();
                }
                b'#' => self.comment(),
                _ => self.token(byte),
            }
        }
        self.finish();
        self.ended
    }

    fn finish(&mut self) {
        self.end_statement();
        while self.levels.len() > 1 {
            self.levels.pop();
            self.mark(TokenKind::Dedent, self.bytes.len());
        }
        self.mark(TokenKind::End, self.bytes.len());
        if self.tabs > 0 {
            let more = match self.tabs {
                1 => String::new(),
                2 => ", and 1 more".to_owned(),
                lines => format!(", and {} more", lines - 1),
            };
            self.reports.add(
                RuleCode::OPE001,
                self.first_tab,
                format!("this line is indented with a tab{more}"),
            );
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn peek_at(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    fn span(start: usize, end: usize) -> Span {
        Span::new(to_offset(start), to_offset(end))
    }

    /// Adds a token that spans from `start` to the cursor.
    fn push(&mut self, kind: TokenKind, start: usize) {
        let opens_line = std::mem::take(&mut self.opens_line);
        self.lexed.tokens.push(Token { kind, span: Self::span(start, self.at), opens_line });
    }

    /// Adds a layout token at a position.
    fn mark(&mut self, kind: TokenKind, at: usize) {
        self.lexed.tokens.push(Token { kind, span: Self::span(at, at), opens_line: false });
    }

    fn comment(&mut self) {
        let start = self.at;
        let end = memchr::memchr(b'\n', &self.bytes[start..]).map_or(self.bytes.len(), |more| start + more);
        self.at = end;
        let end = if self.bytes[start..end].ends_with(b"\r") { end - 1 } else { end };
        self.lexed.comments.push(Self::span(start, end));
    }

    fn token(&mut self, byte: u8) {
        match byte {
            b'"' => self.string(),
            b'*' if self.peek_at(1) == Some(b'*') => self.discretion(),
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => self.word(),
            b'0'..=b'9' => self.number(),
            _ => self.sign(byte),
        }
    }

    fn word(&mut self) {
        let start = self.at;
        self.at = identifier_end(self.bytes, start);
        self.push(TokenKind::Word, start);
    }

    fn number(&mut self) {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        let digits = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            || self.peek() == Some(b'.') && self.peek_at(1).is_some_and(|byte| byte.is_ascii_digit())
        {
            self.at += 1;
        }
        self.push(if self.at == digits { TokenKind::Number } else { TokenKind::Quantity }, start);
    }

    fn sign(&mut self, byte: u8) {
        let start = self.at;
        let (kind, length) = match (byte, self.peek_at(1)) {
            (b'-', Some(b'>')) => (TokenKind::Arrow, 2),
            (b'=' | b'!' | b'<' | b'>', Some(b'=')) => (TokenKind::Comparison, 2),
            (b'<' | b'>', _) => (TokenKind::Comparison, 1),
            (b'=', _) => (TokenKind::Equal, 1),
            (b':', _) => (TokenKind::Colon, 1),
            (b',', _) => (TokenKind::Comma, 1),
            (b'.', _) => (TokenKind::Dot, 1),
            (b'|', _) => (TokenKind::Pipe, 1),
            (b'+', _) => (TokenKind::Plus, 1),
            (b'-', _) => (TokenKind::Minus, 1),
            (b'(', _) => (TokenKind::Open(Bracket::Round), 1),
            (b'[', _) => (TokenKind::Open(Bracket::Square), 1),
            (b'{', _) => (TokenKind::Open(Bracket::Curly), 1),
            (b')', _) => (TokenKind::Close(Bracket::Round), 1),
            (b']', _) => (TokenKind::Close(Bracket::Square), 1),
            (b'}', _) => (TokenKind::Close(Bracket::Curly), 1),
            _ => {
                let length = self.text[start..].chars().next().map_or(1, char::len_utf8);
                (TokenKind::Unknown, length)
            }
        };
        match kind {
            TokenKind::Open(_) => self.open += 1,
            // The parser reports mismatched brackets; here they are only counted.
            TokenKind::Close(_) => self.open = self.open.saturating_sub(1),
            _ => {}
        }
        self.at += length;
        self.push(kind, start);
    }
}

/// Returns where an identifier that starts at `start` ends, or `start` itself if there is none. A hyphen is part of
/// it unless it begins an arrow.
fn identifier_end(bytes: &[u8], start: usize) -> usize {
    if !bytes.get(start).is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_') {
        return start;
    }
    let mut end = start + 1;
    while let Some(byte) = bytes.get(end) {
        let goes_on = byte.is_ascii_alphanumeric()
            || *byte == b'_'
            || *byte == b'-' && bytes.get(end + 1) != Some(&b'>');
        if !goes_on {
            break;
        }
        end += 1;
    }
    end
}
