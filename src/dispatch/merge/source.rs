//! Edits of the text of a configuration file. Every byte outside an edit stays as written: comments, spacing, and line
//! ends of either kind. What is a comment, a string or a bracket is the same in JSON and TOML that has been parsed.

use std::ops::Range;

/// A range of the text, and what replaces it.
pub(super) type Edit = (Range<usize>, String);

/// Edits that add something, and whether they put space around it that goes with it.
pub(super) type Additions = (Vec<Edit>, bool);

const BREAKS: [char; 2] = ['\n', '\r'];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LexemeKind {
    Blank,
    Break,
    Comment,
    Comma,
    Open,
    Close,
    Other,
}

struct Lexeme {
    kind: LexemeKind,
    span: Range<usize>,
}

/// A key with its value, or an item, and the comma after it.
#[derive(Clone)]
struct CommaListPart {
    span: Range<usize>,
    comma: Option<Range<usize>>,
}

/// An object or a list whose parts are separated by commas.
pub(super) struct CommaList<'a> {
    text: &'a str,
    inside: Range<usize>,
    parts: Vec<CommaListPart>,
}

impl<'a> CommaList<'a> {
    /// Reads the object or list at a range that begins and ends with its brackets.
    pub(super) fn of(text: &'a str, whole: Range<usize>) -> Self {
        let close = whole.end.saturating_sub(1);
        let inside = close.min(whole.start + 1)..close;
        let (mut depth, mut parts) = (0_usize, Vec::<CommaListPart>::new());
        for Lexeme { kind, span } in lexemes(text, inside.clone()) {
            match kind {
                LexemeKind::Blank | LexemeKind::Break | LexemeKind::Comment => continue,
                LexemeKind::Comma if depth == 0 => {
                    parts.iter_mut().last().into_iter().for_each(|part| part.comma = Some(span.clone()));
                    continue;
                }
                LexemeKind::Open => depth += 1,
                LexemeKind::Close => depth = depth.saturating_sub(1),
                LexemeKind::Comma | LexemeKind::Other => {}
            }
            match parts.last_mut() {
                Some(part) if part.comma.is_none() => part.span.end = span.end,
                _ => parts.push(CommaListPart { span, comma: None }),
            }
        }
        Self { text, inside, parts }
    }

    /// Returns the indentation of the first part that begins its line.
    pub(super) fn indent(&self) -> Option<&'a str> {
        self.parts
            .iter()
            .find_map(|part| indent(self.text, part.span.start))
            .filter(|indent| !indent.is_empty())
    }

    /// Returns the edits that append a part, and whether they put space around it that goes with it.
    ///
    /// `write` formats the part for a line break and, if it gets a line of its own, the indentation of that line. In
    /// brackets with nothing between them, the part gets `pad` on both sides, or else lines of its own, indented by
    /// one more `unit`.
    pub(super) fn append(
        &self,
        unit: &str,
        pad: Option<&str>,
        write: impl Fn(Option<&str>, &str) -> String,
    ) -> Additions {
        let text = self.text;
        let Some(last) = self.parts.last() else { return self.fill(unit, pad, write) };
        let place = last.comma.as_ref().map_or(last.span.end, |comma| comma.end);
        let comma = if last.comma.is_some() { "," } else { "" };
        let at = line_end(text, place);
        let mut edits = vec![match indent(text, last.span.start) {
            Some(indent) if text[at..].starts_with(BREAKS) => {
                let newline = newline(text, at);
                (at..at, format!("{newline}{indent}{}{comma}", write(Some(indent), newline)))
            }
            _ => (place..place, format!(" {}{comma}", write(None, newline(text, place)))),
        }];
        if last.comma.is_none() {
            edits.push((last.span.end..last.span.end, ",".to_owned()));
        }
        (edits, false)
    }

    /// Appends the first part.
    fn fill(&self, unit: &str, pad: Option<&str>, write: impl Fn(Option<&str>, &str) -> String) -> Additions {
        let (text, Range { start, end }) = (self.text, self.inside.clone());
        let comment = lexemes(text, start..end).filter(|lexeme| lexeme.kind == LexemeKind::Comment).last();
        let mut at = comment.map_or(start, |comment| comment.span.end);
        let rest = text[at..end].find(BREAKS);
        at += rest.unwrap_or_default();
        let newline = newline(text, at);
        let outer = indent_at(text, self.inside.start);
        let inner = format!("{outer}{unit}");
        let (part, has_frame) = match (rest, pad) {
            (Some(_), _) => (format!("{newline}{inner}{}", write(Some(&inner), newline)), false),
            (None, _) if start < end => (format!(" {}", write(None, newline)), false),
            (None, Some(pad)) => (format!("{pad}{}{pad}", write(None, newline)), !pad.is_empty()),
            (None, None) => {
                (format!("{newline}{inner}{}{newline}{outer}", write(Some(&inner), newline)), true)
            }
        };
        (vec![(at..at, part)], has_frame)
    }

    /// Returns the edits that remove the part around a position and its comma; if nothing remains in the brackets, with
    /// the space around it.
    pub(super) fn cut(&self, at: usize, has_frame: bool) -> Vec<Edit> {
        let text = self.text;
        let Some(index) = self.parts.iter().position(|part| part.span.contains(&at)) else {
            return Vec::new();
        };
        let CommaListPart { mut span, comma } = self.parts[index].clone();
        let is_empty = |range: Range<usize>| text[range].trim().is_empty();
        let previous = index.checked_sub(1).and_then(|index| self.parts[index].comma.clone());
        let mut edits = Vec::new();
        match (comma, previous) {
            (Some(comma), _) if comma.start == span.end || indent(text, span.start).is_some() => {
                span.end = comma.end
            }
            (_, Some(comma)) | (Some(comma), None) => edits.push((comma, String::new())),
            (None, None) => {}
        }
        let is_alone = is_empty(self.inside.start..span.start) && is_empty(span.end..self.inside.end);
        let (mut range, kept) = erase(text, span);
        if has_frame && is_alone && kept.is_empty() {
            let line = break_before(text, range.start).filter(|start| *start >= self.inside.start);
            let tail = if line.is_some() { indent_at(text, self.inside.start) } else { " " };
            range.start = line.unwrap_or(range.start);
            range.end += if text[range.end..].starts_with(tail) { tail.len() } else { 0 };
        }
        edits.push((range, kept));
        edits
    }
}

/// Applies edits, of which removals may overlap. Of those at one place, the last is written first.
pub(super) fn apply(text: &str, mut edits: Vec<Edit>) -> String {
    edits.reverse();
    edits.sort_by_key(|(range, _)| range.start);
    let mut whole = Vec::<Edit>::new();
    for (range, new) in edits {
        match whole.last_mut() {
            Some((last, text)) if range.start <= last.end => {
                last.end = last.end.max(range.end);
                text.push_str(&new);
            }
            _ => whole.push((range, new)),
        }
    }
    let mut all = text.to_owned();
    for (mut range, new) in whole.into_iter().rev() {
        // Where the last line has no line end, the line before it has none once it is removed.
        let is_end = new.is_empty() && text[range.end..].chars().all(is_blank);
        if is_end && !range.is_empty() && !text[..range.end].ends_with(BREAKS) {
            range.start = break_before(text, range.start).unwrap_or(range.start);
        }
        all.replace_range(range, &new);
    }
    all
}

/// Returns the edit that appends lines to a text, after an empty line if `has_gap`. A text whose last line has no line
/// end has none afterwards.
pub(super) fn append_lines(text: &str, lines: &str, has_gap: bool) -> Edit {
    let newline = newline(text, text.len());
    let gap = if has_gap { newline } else { "" };
    let new = match text.is_empty() || text.ends_with(BREAKS) {
        true => format!("{gap}{lines}{newline}"),
        false => format!("{newline}{gap}{lines}"),
    };
    (text.len()..text.len(), new)
}

/// Returns the edit that removes a range, except for comments in it, and its line if nothing else is on it.
pub(super) fn erase(text: &str, span: Range<usize>) -> Edit {
    let kept = comments(text, span.clone());
    let line = line_start(text, span.start);
    let next = lexemes(text, span.end..text.len()).find(|lexeme| lexeme.kind != LexemeKind::Blank);
    let range = match next.map(|next| (next.kind, next.span)) {
        // One space separates it from what is before it.
        _ if indent(text, span.start).is_none() => span.start - blank_before(text, span.start)..span.end,
        // Blanks after it stay, at the end of the line before.
        Some((LexemeKind::Break, next)) if next.start > span.end && kept.is_empty() && line > 0 => {
            break_before(text, line).unwrap_or(line)..span.end
        }
        Some((LexemeKind::Break, next)) if kept.is_empty() || kept.ends_with(BREAKS) => line..next.end,
        Some((LexemeKind::Break, next)) => line..next.start,
        Some((LexemeKind::Close, _)) => span.start - blank_before(text, span.start)..span.end,
        Some(_) => span,
        None => line..span.end,
    };
    (range, kept)
}

/// Returns the edit that removes the lines that a range ends, with an empty line above them.
pub(super) fn erase_lines(text: &str, span: Range<usize>, has_gap: bool) -> Edit {
    let line = line_start(text, span.start);
    let (mut range, kept) = erase(text, line + indent_at(text, span.start).len()..span.end);
    let above = break_before(text, line).filter(|above| *above == 0 || text[..*above].ends_with(BREAKS));
    if let Some(above) = above.filter(|_| has_gap && range.start == line) {
        range.start = above;
    }
    (range, kept)
}

/// Returns the comments in a range, each with the blanks before it and its line end.
fn comments(text: &str, range: Range<usize>) -> String {
    let (mut kept, mut end, mut is_comment) = (String::new(), range.start, false);
    for Lexeme { kind, span } in lexemes(text, range) {
        if kind == LexemeKind::Blank {
            continue;
        }
        if kind == LexemeKind::Comment || (kind == LexemeKind::Break && is_comment) {
            kept.push_str(&text[end..span.end]);
        }
        (end, is_comment) = (span.end, kind == LexemeKind::Comment);
    }
    kept
}

/// Returns the line break to write at a position: as the next one is, or else the one before.
pub(super) fn newline(text: &str, at: usize) -> &'static str {
    let next = text[at..].find(BREAKS).map(|start| at + start);
    match next.or_else(|| break_before(text, line_start(text, at))).map(|start| &text[start..]) {
        Some(there) if there.starts_with("\r\n") => "\r\n",
        Some(there) if there.starts_with('\r') => "\r",
        _ => "\n",
    }
}

/// Returns the end of the line of a position, or of the last comment there if something else follows.
pub(super) fn line_end(text: &str, at: usize) -> usize {
    let mut end = at;
    for Lexeme { kind, span } in lexemes(text, at..text.len()) {
        match kind {
            LexemeKind::Blank => {}
            LexemeKind::Comment => end = span.end,
            LexemeKind::Break => return span.start,
            _ => return end,
        }
    }
    text.len()
}

fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind(BREAKS).map_or(0, |start| start + 1)
}

/// Returns the indentation of the line of a position.
pub(super) fn indent_at(text: &str, at: usize) -> &str {
    let line = &text[line_start(text, at)..];
    &line[..line.len() - line.trim_start_matches(is_blank).len()]
}

/// Returns the blanks before a position if nothing else is before it in its line.
fn indent(text: &str, at: usize) -> Option<&str> {
    Some(&text[line_start(text, at)..at]).filter(|indent| indent.chars().all(is_blank))
}

/// Returns the start of the line break that ends at a position.
fn break_before(text: &str, at: usize) -> Option<usize> {
    let text = &text[..at];
    text.strip_suffix("\r\n").or_else(|| text.strip_suffix(BREAKS)).map(str::len)
}

/// Returns the length of the blank that ends at a position.
fn blank_before(text: &str, at: usize) -> usize {
    text[..at].chars().next_back().filter(|last| is_blank(*last)).map_or(0, char::len_utf8)
}

fn is_blank(c: char) -> bool {
    c.is_whitespace() && !BREAKS.contains(&c)
}

fn lexemes(text: &str, Range { start, end }: Range<usize>) -> impl Iterator<Item = Lexeme> {
    let (text, mut at) = (&text[..end], start);
    std::iter::from_fn(move || {
        let (kind, length) = lexeme(&text[at..])?;
        at += length;
        Some(Lexeme { kind, span: at - length..at })
    })
}

/// Returns the kind and the length of the first lexeme.
fn lexeme(text: &str) -> Option<(LexemeKind, usize)> {
    let first = text.chars().next()?;
    let to = |end: Option<usize>| end.unwrap_or(text.len());
    Some(match first {
        '\r' if text.starts_with("\r\n") => (LexemeKind::Break, 2),
        '\n' | '\r' => (LexemeKind::Break, 1),
        ',' => (LexemeKind::Comma, 1),
        '{' | '[' => (LexemeKind::Open, 1),
        '}' | ']' => (LexemeKind::Close, 1),
        '"' | '\'' => (LexemeKind::Other, string(text, first)),
        _ if text.starts_with("/*") => (LexemeKind::Comment, to(text[2..].find("*/").map(|end| end + 4))),
        _ if first == '#' || text.starts_with("//") => (LexemeKind::Comment, to(text.find(BREAKS))),
        _ if first.is_whitespace() => (LexemeKind::Blank, first.len_utf8()),
        _ => (LexemeKind::Other, first.len_utf8()),
    })
}

/// Returns the length of the string at the start of a text; one in three quotes may end with two more.
fn string(text: &str, quote: char) -> usize {
    let fence = if text.chars().take(3).filter(|c| *c == quote).count() == 3 { 3 } else { 1 };
    let mut rest = &text[fence..];
    while let Some(next) = rest.chars().next() {
        if rest.starts_with(&text[..fence]) {
            let after = &rest[fence..];
            let more = if fence == 3 { after.chars().take(2).take_while(|c| *c == quote).count() } else { 0 };
            return text.len() - after.len() + more;
        }
        rest = &rest[next.len_utf8()..];
        if next == '\\' && quote == '"' {
            rest = &rest[rest.chars().next().map_or(0, char::len_utf8)..];
        }
    }
    text.len()
}
