//! Lays a JSON document out over lines. Rewrites blanks only: numbers, strings, key order and
//! repeated keys stay exactly as they were printed.

use std::ops::ControlFlow;

use serde::de::IgnoredAny;

const INDENT: &str = "  ";
/// A document nested deeper is left as it was printed: each level indents all that stands in it.
const MAX_DEPTH: usize = 64;
/// So is one that would take more than this many times its own bytes.
const MAX_GROWTH: usize = 4;

/// A JSON object or array and how it looks laid out. Only the part that is asked for is ever built.
#[derive(Debug)]
pub(super) struct Document<'a> {
    text: &'a str,
    ends_line: bool,
    chars: usize,
}

impl<'a> Document<'a> {
    /// Returns the document, when the text is one JSON object or array and nothing else, and laying it out stays
    /// within bounds: [`MAX_DEPTH`] levels, [`MAX_GROWTH`] times its bytes.
    pub(super) fn of(text: &'a str) -> Option<Self> {
        let document = text.trim();
        let opens = document.starts_with(['{', '[']);
        if !opens || serde_json::from_str::<IgnoredAny>(document).is_err() {
            return None;
        }
        let most = document.len().saturating_mul(MAX_GROWTH);
        let (mut bytes, mut chars) = (0, 0);
        let within = walk(document, |piece| {
            bytes += piece.bytes();
            chars += piece.chars();
            match piece {
                Piece::Line(depth) if depth > MAX_DEPTH => ControlFlow::Break(()),
                _ if bytes > most => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            }
        });
        let ends_line = text.ends_with('\n');
        within.is_continue().then_some(Self {
            text: document,
            ends_line,
            chars: chars + usize::from(ends_line),
        })
    }

    /// Returns how many characters it takes laid out.
    pub(super) fn chars(&self) -> usize {
        self.chars
    }

    /// Returns its first characters, laid out.
    pub(super) fn first(&self, chars: usize) -> String {
        self.part(0, chars.min(self.chars))
    }

    /// Returns its last characters, laid out.
    pub(super) fn last(&self, chars: usize) -> String {
        self.part(self.chars.saturating_sub(chars), self.chars)
    }

    fn part(&self, from: usize, to: usize) -> String {
        let mut out = String::with_capacity(to - from);
        let mut at = 0;
        let whole = walk(self.text, |piece| {
            let (start, end) = (at, at + piece.chars());
            at = end;
            if end > from {
                piece.write(&mut out, from.saturating_sub(start), to - start);
            }
            if end >= to { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        if whole.is_continue() && self.ends_line && (from..to).contains(&at) {
            out.push('\n');
        }
        out
    }
}

/// What a laid out document is put together from.
#[derive(Clone, Copy)]
enum Piece<'a> {
    /// A stretch of it as it was printed.
    Text(&'a str),
    /// The blank after a key.
    Blank,
    /// A new line, indented for this depth.
    Line(usize),
}

impl Piece<'_> {
    fn bytes(self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Blank => 1,
            Self::Line(depth) => 1 + depth * INDENT.len(),
        }
    }

    fn chars(self) -> usize {
        match self {
            Self::Text(text) => text.chars().count(),
            Self::Blank | Self::Line(_) => self.bytes(),
        }
    }

    /// Writes its characters from `from` up to `to`.
    fn write(self, out: &mut String, from: usize, to: usize) {
        let (skip, take) = (from, to.saturating_sub(from));
        match self {
            Self::Text(text) if skip == 0 && take >= text.len() => out.push_str(text),
            Self::Text(text) => out.extend(text.chars().skip(skip).take(take)),
            Self::Blank => out.extend(" ".chars().skip(skip).take(take)),
            Self::Line(depth) => {
                let indent = std::iter::repeat_n(INDENT, depth).flat_map(str::chars);
                out.extend(std::iter::once('\n').chain(indent).skip(skip).take(take));
            }
        }
    }
}

/// Hands over the pieces of a laid out document in order, until `take` has enough.
fn walk<'a>(document: &'a str, mut take: impl FnMut(Piece<'a>) -> ControlFlow<()>) -> ControlFlow<()> {
    let mut rest = document;
    let mut depth = 0_usize;
    while let Some(c) = rest.bytes().next() {
        let length = match c {
            b' ' | b'\t' | b'\n' | b'\r' => {
                rest = rest.trim_ascii_start();
                continue;
            }
            b'"' => string_length(rest),
            b'{' | b'[' | b'}' | b']' | b',' | b':' => 1,
            _ => rest.find([' ', '\t', '\n', '\r', '"', '{', '[', '}', ']', ',', ':']).unwrap_or(rest.len()),
        };
        let (token, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
        rest = after;
        match c {
            b'{' | b'[' => {
                take(Piece::Text(token))?;
                rest = rest.trim_ascii_start();
                if rest.starts_with(['}', ']']) {
                    let (close, after) = rest.split_at(1);
                    rest = after;
                    take(Piece::Text(close))?;
                } else {
                    depth += 1;
                    take(Piece::Line(depth))?;
                }
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                take(Piece::Line(depth))?;
                take(Piece::Text(token))?;
            }
            b',' => {
                take(Piece::Text(token))?;
                take(Piece::Line(depth))?;
            }
            b':' => {
                take(Piece::Text(token))?;
                take(Piece::Blank)?;
            }
            _ => take(Piece::Text(token))?,
        }
    }
    ControlFlow::Continue(())
}

/// Returns the bytes of the string that a text begins with, quotes included.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.bytes().enumerate().skip(1) {
        match c {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    fn document(text: &str) -> Option<String> {
        Document::of(text).map(|document| document.first(usize::MAX))
    }

    #[test]
    fn only_blanks_change() {
        let printed =
            r#" {"a":[1,2.50,{}],"b":"x, \"{y\\","a":[ ],"big":12345678901234567890123,"e":1e400} "#;
        let shown = "{\n  \"a\": [\n    1,\n    2.50,\n    {}\n  ],\n  \"b\": \"x, \\\"{y\\\\\",\n  \"a\": [],\n  \"big\": 12345678901234567890123,\n  \"e\": 1e400\n}";
        assert_eq!(document(printed).as_deref(), Some(shown));
        assert_eq!(document(shown).as_deref(), Some(shown));
    }

    #[test]
    fn what_is_not_one_document_is_left_alone() {
        for text in ["", "12", "\"a\"", "{\"a\":1}\n{\"a\":2}", "[1,", "[ok] done", "{}x"] {
            assert_eq!(document(text), None, "{text}");
        }
    }

    #[test]
    fn a_document_nested_too_deep_or_grown_too_large_is_left_alone() {
        let nested =
            |depth: usize| format!("{}{}{}", "[".repeat(depth), " ".repeat(9_000), "]".repeat(depth));
        let padded =
            |depth: usize| nested(depth).replace(&" ".repeat(9_000), &format!("\"{}\"", "x".repeat(9_000)));
        assert!(document(&padded(64)).is_some_and(|laid_out| laid_out.lines().count() == 129));
        assert_eq!(document(&padded(65)), None);
        assert_eq!(document(&nested(60_000)), None);
        // Within the depth, and yet each level adds to every line: 40 bytes for two of its own.
        let many = format!("{}{}{}", "[".repeat(20), vec!["1"; 900].join(","), "]".repeat(20));
        assert_eq!(document(&many), None);
    }

    fn json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            ".{0,12}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::vec((".{0,6}", inner), 0..6)
                    .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn agrees_with_the_usual_layout(value in json()) {
            prop_assume!(value.is_object() || value.is_array());
            let (printed, usual) = (value.to_string(), serde_json::to_string_pretty(&value).unwrap());
            let fits = usual.len() <= 4 * printed.len();
            prop_assert_eq!(document(&printed), fits.then_some(usual));
        }

        #[test]
        fn a_part_is_that_of_the_whole(value in json(), first in 0..300_usize, last in 0..300_usize) {
            let printed = format!("{value} \n");
            if let (Some(document), Some(whole)) = (Document::of(&printed), document(&printed)) {
                let count = whole.chars().count();
                prop_assert_eq!(document.chars(), count);
                let start: String = whole.chars().take(first).collect();
                let end: String = whole.chars().skip(count.saturating_sub(last)).collect();
                prop_assert_eq!((document.first(first), document.last(last)), (start, end));
            }
        }
    }
}
