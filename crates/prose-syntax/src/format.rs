//! The canonical form of a program: two spaces per level, one space between words, at most one empty line, comments
//! kept. Strings are never changed, nor is the meaning of the program.

use std::borrow::Cow;

use super::diagnostic::{Diagnostic, Profile, Reports};
use super::source::{SourceText, Span};
use super::token::{Token, TokenKind, is_spaced};
use super::{lexer, parser};

/// The number of spaces per level of indentation.
const LEVEL: usize = 2;

/// Returns the program in canonical form.
///
/// # Errors
/// When the program's form is not valid: its diagnostics.
pub fn format(source: &SourceText) -> Result<String, Vec<Diagnostic>> {
    let as_it_is = TokenizedProgram::of(source, Profile::Compat);
    if as_it_is.diagnostics.iter().any(|one| one.is_error() && one.code.is_about_form()) {
        return Err(as_it_is.diagnostics.into_iter().filter(Diagnostic::is_error).collect());
    }
    let mut writer = ProgramWriter::new(source, as_it_is.comments.clone());
    for token in &as_it_is.tokens {
        writer.token(*token);
    }
    // Formatting must never change the program: if it would, the text is left as it is.
    let is_same = SourceText::new(source.name(), &writer.out).is_ok_and(|written| {
        let by_the_letter = |source| TokenizedProgram::of(source, Profile::Strict);
        as_it_is.is_same(&TokenizedProgram::of(&written, Profile::Compat))
            && by_the_letter(source).is_same(&by_the_letter(&written))
    });
    Ok(if is_same { writer.out } else { source.text().to_owned() })
}

/// A program with its tokens and diagnostics.
struct TokenizedProgram<'a> {
    source: &'a SourceText,
    tokens: Vec<Token>,
    comments: Vec<Span>,
    diagnostics: Vec<Diagnostic>,
}

impl<'a> TokenizedProgram<'a> {
    fn of(source: &'a SourceText, profile: Profile) -> Self {
        let mut reports = Reports::new(profile);
        let lexed = lexer::lex(source, &mut reports);
        let (tokens, comments) = (lexed.tokens.clone(), lexed.comments.clone());
        let _ = parser::parse(source, lexed, &mut reports);
        Self { source, tokens, comments, diagnostics: reports.into_parts().0 }
    }

    /// Returns whether another reading has the same words, comments and diagnostics.
    fn is_same(&self, other: &TokenizedProgram<'_>) -> bool {
        let codes = |reading: &TokenizedProgram<'_>| {
            reading.diagnostics.iter().map(|one| one.code).collect::<Vec<_>>()
        };
        codes(self) == codes(other) && self.words().eq(other.words()) && self.notes().eq(other.notes())
    }

    /// Returns the words, without the layout.
    fn words(&self) -> impl Iterator<Item = Cow<'_, str>> {
        let words =
            self.tokens.iter().filter(|token| !token.kind.is_layout() && token.kind != TokenKind::End);
        words.map(|token| with_line_feeds(self.source.slice(token.span)))
    }

    fn notes(&self) -> impl Iterator<Item = &str> {
        self.comments.iter().map(|span| self.source.slice(*span).trim_end())
    }
}

fn with_line_feeds(text: &str) -> Cow<'_, str> {
    if text.contains('\r') { Cow::Owned(text.replace("\r\n", "\n")) } else { Cow::Borrowed(text) }
}

/// An open block.
struct LineBlock {
    /// The indentation level of its lines.
    level: usize,
    /// The indentation of its lines in the source, in bytes.
    width: usize,
    /// Whether its last statement has a `|` on its first line: those on lines of their own are then indented like the
    /// statement, or they would belong to the body above them.
    pipes_inline: bool,
}

struct ProgramWriter<'a> {
    source: &'a SourceText,
    comments: std::iter::Peekable<std::vec::IntoIter<Span>>,
    out: String,
    blocks: Vec<LineBlock>,
    /// The level of the line above the block that has just been closed.
    closed: Option<usize>,
    /// The level of the current line.
    level: usize,
    /// The number of open brackets.
    brackets: usize,
    line_open: bool,
    /// Whether a block has just begun, where no empty line is kept.
    fresh: bool,
    /// The end in the source of what was written last.
    end: usize,
    /// The last two tokens with text.
    before: Option<Token>,
    last: Option<Token>,
    after_layout: bool,
}

impl<'a> ProgramWriter<'a> {
    fn new(source: &'a SourceText, comments: Vec<Span>) -> Self {
        Self {
            source,
            comments: comments.into_iter().peekable(),
            out: String::with_capacity(source.text().len()),
            blocks: vec![LineBlock { level: 0, width: 0, pipes_inline: false }],
            closed: None,
            level: 0,
            brackets: 0,
            line_open: false,
            fresh: true,
            end: 0,
            before: None,
            last: None,
            after_layout: true,
        }
    }

    fn token(&mut self, token: Token) {
        match token.kind {
            TokenKind::Newline => {
                self.trailing();
                self.close_line();
            }
            TokenKind::Indent => {
                let width = token.span.end() - token.span.start();
                self.blocks.push(LineBlock { level: self.level + 1, width, pipes_inline: false });
                self.fresh = true;
            }
            TokenKind::Dedent => self.dedent(token),
            TokenKind::End => self.comments_until(usize::MAX, 0, 0),
            _ => {
                self.text(token);
                self.closed = None;
            }
        }
        self.after_layout = token.kind.is_layout();
    }

    fn block(&self) -> (usize, bool) {
        self.blocks.last().map_or((0, false), |block| (block.level, block.pipes_inline))
    }

    fn dedent(&mut self, token: Token) {
        if self.blocks.len() > 1
            && let Some(LineBlock { level, width, .. }) = self.blocks.pop()
        {
            self.comments_until(token.span.start(), level, width);
            self.closed = level.checked_sub(1);
        }
        self.fresh = false;
    }

    fn text(&mut self, token: Token) {
        let is_pipe = token.kind == TokenKind::Pipe && self.brackets == 0;
        let goes_on = (is_pipe || token.kind == TokenKind::Arrow && self.brackets == 0) && token.opens_line;
        if self.after_layout && !goes_on {
            let (level, _) = self.block();
            if let Some(block) = self.blocks.last_mut() {
                block.pipes_inline = false;
            }
            self.comments_until(token.span.start(), level, 0);
            self.open_line(token.span.start(), level);
            self.level = level;
        } else if goes_on {
            let (level, inline) = self.block();
            // Indented further, an arrow would belong to the properties above it.
            let above = self.closed.filter(|_| !is_pipe);
            let level = above.unwrap_or(level + usize::from(!inline));
            self.trailing();
            self.close_line();
            self.comments_until(token.span.start(), level, 0);
            self.open_line(token.span.start(), level);
            self.level = level;
        } else if token.opens_line {
            self.inside_brackets(token);
        } else if let Some(last) = self.last
            && is_spaced(self.source, self.before.unwrap_or(last), last, token)
        {
            self.out.push(' ');
        }
        if is_pipe
            && !token.opens_line
            && let Some(block) = self.blocks.last_mut()
        {
            block.pipes_inline = true;
        }
        self.write(token);
    }

    fn inside_brackets(&mut self, token: Token) {
        let closes = matches!(token.kind, TokenKind::Close(_));
        let level = self.level + self.brackets - usize::from(closes && self.brackets > 0);
        self.trailing();
        self.close_line();
        self.fresh = true;
        self.comments_until(token.span.start(), self.level + self.brackets, 0);
        self.fresh = true;
        self.open_line(token.span.start(), level);
    }

    fn write(&mut self, token: Token) {
        match token.kind {
            TokenKind::Open(_) => self.brackets += 1,
            TokenKind::Close(_) => self.brackets = self.brackets.saturating_sub(1),
            _ => {}
        }
        let text = self.source.slice(token.span);
        self.out.push_str(&with_line_feeds(text));
        self.end = token.span.end();
        self.before = self.last.replace(token);
    }

    /// Starts a line, after an empty one if there was one in the source.
    fn open_line(&mut self, start: usize, level: usize) {
        let between = self.source.text().get(self.end..start).unwrap_or_default();
        let empty = between.bytes().filter(|byte| *byte == b'\n').count() > 1;
        if empty && !self.fresh && !self.out.is_empty() {
            self.out.push('\n');
        }
        self.fresh = false;
        self.out.extend(std::iter::repeat_n(' ', level * LEVEL));
        self.line_open = true;
    }

    fn close_line(&mut self) {
        if self.line_open {
            self.out.push('\n');
            self.line_open = false;
        }
    }

    /// Writes the comment that follows on the line of what was written last.
    fn trailing(&mut self) {
        let (end, text) = (self.end, self.source.text());
        let on_line = |comment: &Span| !text.get(end..comment.start()).unwrap_or("\n").contains('\n');
        if self.line_open
            && let Some(comment) = self.comments.next_if(on_line)
        {
            self.out.push_str("  ");
            self.comment(comment);
        }
    }

    /// Writes the comments before a position that are indented by at least `width` in the source.
    fn comments_until(&mut self, place: usize, level: usize, width: usize) {
        while let Some(comment) = self.comments.peek().copied() {
            let column = self.column(comment);
            if comment.start() >= place || column < width {
                return;
            }
            self.comments.next();
            self.close_line();
            self.open_line(comment.start(), level);
            self.comment(comment);
            self.close_line();
        }
    }

    fn column(&self, comment: Span) -> usize {
        let before = self.source.text().get(..comment.start()).unwrap_or_default();
        before.len() - before.rfind('\n').map_or(0, |at| at + 1)
    }

    fn comment(&mut self, comment: Span) {
        self.out.push_str(self.source.slice(comment).trim_end());
        self.end = comment.end();
    }
}
