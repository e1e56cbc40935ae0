//! A text to read: pieces with roles, wrapped once per width, scrolled by rows.

use std::collections::BTreeSet;

use serde_json::Value;
use unicode_segmentation::UnicodeSegmentation;

use super::finding::{RowText, SearchText, Span};
use super::json::{Group, JsonLayout};
use super::visible;
use super::width;
use crate::console::theme::Role;

/// A run of text in one role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StyledPiece {
    /// The text, safe to display.
    pub text: String,
    pub role: Role,
}

/// Lines of pieces, and the rows they are wrapped into at the current width.
#[derive(Debug, Clone, Default)]
pub struct WrappedText {
    lines: Vec<Vec<StyledPiece>>,
    rows: Vec<Vec<StyledPiece>>,
    /// The first row of each line.
    starts: Vec<usize>,
    columns: usize,
    /// The number of header lines before the text itself.
    heads: usize,
    /// The foldable groups, in lines of the text.
    groups: Vec<Group>,
    /// The first lines of folded groups.
    folded: BTreeSet<usize>,
    /// The mark in front of each line of the text, repeated in all of its rows.
    gutter: Vec<StyledPiece>,
}

impl WrappedText {
    /// Creates a document from lines.
    pub fn new(lines: Vec<Vec<StyledPiece>>) -> Self {
        Self { lines, ..Self::default() }
    }

    /// Creates a document from plain text.
    pub fn plain(text: &str) -> Self {
        Self::with_roles(text, |_| Role::Text)
    }

    /// Creates a document from plain text whose lines have these roles, counted from 0.
    pub fn with_roles(text: &str, role: impl Fn(usize) -> Role) -> Self {
        let line = |(at, line): (usize, &str)| vec![piece(visible::in_text(line), role(at))];
        Self::new(text.split('\n').enumerate().map(line).collect())
    }

    /// Creates a document from a JSON value, indented, with its keys highlighted.
    pub fn json(value: &Value) -> Self {
        let JsonLayout { lines, groups } = JsonLayout::of(value);
        Self { lines, groups, ..Self::default() }
    }

    /// Creates a document from a shortened JSON value, with a mark at each field that says what happened to
    /// it.
    pub fn marked_json(value: &Value, marks: &ValueMarks<'_>) -> Self {
        let JsonLayout { lines, groups } = JsonLayout::of(value);
        let mut fates = Vec::new();
        tell_fates(&mut fates, value, Some(marks.whole));
        let gutter = |fate: &Option<FieldFate>| match fate {
            None => piece("  ", Role::Text),
            Some(FieldFate::Kept) => piece(format!("{} ", marks.kept), Role::Faint),
            Some(FieldFate::Cut) => piece(format!("{} ", marks.cut), Role::Capped),
            Some(FieldFate::Gone) => piece(format!("{} ", marks.gone), Role::Failed),
        };
        let marked = lines.into_iter().zip(&fates).map(|(line, fate)| [vec![gutter(fate)], line].concat());
        Self { lines: marked.collect(), groups, ..Self::default() }
    }

    /// Inserts header lines before all others.
    pub fn head(&mut self, lines: Vec<Vec<StyledPiece>>) {
        self.heads += lines.len();
        self.lines.splice(0..0, lines);
        self.columns = 0;
    }

    /// Wraps the text to `columns`.
    pub fn wrap(&mut self, columns: usize) {
        if self.columns != columns {
            self.columns = columns;
            self.lay_out();
        }
    }

    fn lay_out(&mut self) {
        (self.rows, self.starts) = (Vec::new(), Vec::new());
        let mut line = 0;
        while let Some(pieces) = self.lines.get(line) {
            let text = line.checked_sub(self.heads);
            let group = text.filter(|text| self.folded.contains(text)).and_then(|text| self.opening(text));
            let close = group.map_or(line, |group| group.lines.end() + self.heads);
            let folded =
                group.zip(self.lines.get(close)).map(|(group, close)| group.folded_line(pieces, close));
            let gutter = text.and_then(|text| self.gutter.get(text));
            let room = self.columns.saturating_sub(gutter.map_or(0, |gutter| width(&gutter.text))).max(1);
            let rows = wrap(folded.as_ref().unwrap_or(pieces), room).into_iter();
            let rows = rows.map(|row| gutter.cloned().into_iter().chain(row).collect());
            self.starts.extend(std::iter::repeat_n(self.rows.len(), close + 1 - line));
            self.rows.extend(rows);
            line = close + 1;
        }
    }

    /// Sets the mark in front of each line of the text.
    pub fn set_gutter(&mut self, marks: Vec<StyledPiece>) {
        (self.gutter, self.columns) = (marks, 0);
    }

    /// Folds the smallest group that contains a row, or unfolds the one folded there; returns the row at
    /// which it begins afterwards.
    pub fn fold(&mut self, row: usize) -> usize {
        let Some(line) = self.line_of(row) else { return row };
        let mut first = line;
        if !self.folded.remove(&line) {
            let around = self.groups.iter().filter(|group| group.lines.contains(&line));
            let Some(group) = around.min_by_key(|group| group.lines.end() - group.lines.start()) else {
                return row;
            };
            first = *group.lines.start();
            self.folded.insert(first);
        }
        self.lay_out();
        self.row_of(first).unwrap_or(row)
    }

    /// Unfolds everything; returns the new row of the line that was at `row`.
    pub fn unfold(&mut self, row: usize) -> usize {
        let line = self.line_of(row);
        if self.folded.is_empty() {
            return row;
        }
        self.folded.clear();
        self.lay_out();
        line.and_then(|line| self.row_of(line)).unwrap_or(row)
    }

    fn opening(&self, line: usize) -> Option<&Group> {
        self.groups.iter().find(|group| *group.lines.start() == line)
    }

    /// Returns the rows, once the text is wrapped.
    pub fn rows(&self) -> &[Vec<StyledPiece>] {
        &self.rows
    }

    /// Returns the width it was wrapped to.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Returns where a needle occurs in the rows; each occurrence is a list of spans by row.
    pub fn find(&self, needle: &SearchText) -> Vec<Vec<Span>> {
        let mut found = Vec::new();
        for (at, first) in self.starts.iter().enumerate() {
            let next = self.starts.get(at + 1).copied().unwrap_or(self.rows.len());
            let mut line = RowText::new(needle);
            for (row, pieces) in (*first..next).zip(&self.rows[*first..next]) {
                let mut column = 0;
                for cluster in pieces.iter().flat_map(|part| part.text.graphemes(true)) {
                    line.push(cluster, row, column);
                    column += u16::try_from(width(cluster)).unwrap_or(1);
                }
            }
            found.extend(line.places());
        }
        found
    }

    /// Returns the line of the text that a row belongs to; none for header lines.
    pub fn line_of(&self, row: usize) -> Option<usize> {
        self.spot(row).0.checked_sub(self.heads)
    }

    /// Returns the first row of a line of the text.
    pub fn row_of(&self, line: usize) -> Option<usize> {
        self.starts.get(line + self.heads).copied()
    }

    /// Wraps the text to `columns` and returns the new position of row `at`, which stays on its line.
    pub fn wrap_at(&mut self, columns: usize, at: usize) -> usize {
        if self.columns == columns {
            return at;
        }
        let (line, further) = self.spot(at);
        self.wrap(columns);
        let first = self.starts.get(line).copied().unwrap_or(0);
        let next = self.starts.get(line + 1).copied().unwrap_or(self.rows.len());
        (first + further).min(next.saturating_sub(1)).max(first)
    }

    /// Returns the line a row belongs to, counting header lines, and the number of that line's rows before
    /// it.
    fn spot(&self, row: usize) -> (usize, usize) {
        let last = self.starts.partition_point(|start| *start <= row).saturating_sub(1);
        let start = self.starts.get(last).copied().unwrap_or(0);
        // Lines hidden in a fold start at the same row as the line they are folded into.
        let line = self.starts.partition_point(|other| *other < start);
        (line, row - start.min(row))
    }
}

/// The glyphs for marking a shortened value, and the original value.
#[derive(Debug, Clone, Copy)]
pub struct ValueMarks<'a> {
    /// A field that was kept unchanged.
    pub kept: &'static str,
    /// A text that was shortened.
    pub cut: &'static str,
    /// A field that was removed.
    pub gone: &'static str,
    /// The original value.
    pub whole: &'a Value,
}

/// What happened to a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FieldFate {
    Kept,
    Cut,
    Gone,
}

/// Appends, for each line of the layout, what happened to the field on it; lines with just a bracket have
/// none.
fn tell_fates(fates: &mut Vec<Option<FieldFate>>, value: &Value, whole: Option<&Value>) {
    tell_fate(fates, value, whole);
    let below = value.as_str().map_or(0, super::json::lines_below);
    fates.extend(std::iter::repeat_n(None, below));
}

fn tell_fate(fates: &mut Vec<Option<FieldFate>>, value: &Value, whole: Option<&Value>) {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            fates.push(None);
            fields.iter().for_each(|(key, field)| tell_fates(fates, field, whole.and_then(|w| w.get(key))));
            fates.push(None);
        }
        Value::Array(items) if !items.is_empty() => {
            fates.push(None);
            items
                .iter()
                .enumerate()
                .for_each(|(at, item)| tell_fates(fates, item, whole.and_then(|w| w.get(at))));
            fates.push(None);
        }
        Value::Null if whole.is_some_and(|whole| !whole.is_null()) => fates.push(Some(FieldFate::Gone)),
        Value::String(text) if whole.and_then(Value::as_str).is_some_and(|whole| whole != text) => {
            fates.push(Some(FieldFate::Cut));
        }
        _ => fates.push(Some(FieldFate::Kept)),
    }
}

/// Creates a piece.
pub fn piece(text: impl Into<String>, role: Role) -> StyledPiece {
    StyledPiece { text: text.into(), role }
}

/// Returns lines wrapped to `columns`.
pub fn wrap_lines(lines: &[Vec<StyledPiece>], columns: usize) -> Vec<Vec<StyledPiece>> {
    lines.iter().flat_map(|line| wrap(line, columns.max(1))).collect()
}

/// Wraps a line: after a blank in the second half of the row, or else where the row is full.
fn wrap(line: &[StyledPiece], columns: usize) -> Vec<Vec<StyledPiece>> {
    let clusters: Vec<(&str, Role)> =
        line.iter().flat_map(|part| part.text.graphemes(true).map(|cluster| (cluster, part.role))).collect();
    let mut rows = Vec::new();
    let (mut start, mut used, mut blank) = (0, 0, None);
    for (at, (cluster, _)) in clusters.iter().enumerate() {
        let wide = width(cluster);
        if used + wide > columns && at > start {
            let end = blank.filter(|_| *cluster != " ").unwrap_or(at);
            rows.push(row(&clusters[start..end]));
            start = end;
            used = clusters[start..at].iter().map(|(cluster, _)| width(cluster)).sum();
            blank = None;
        }
        used += wide;
        if *cluster == " " && used * 2 > columns {
            blank = Some(at + 1);
        }
    }
    rows.push(row(&clusters[start..]));
    rows
}

fn row(clusters: &[(&str, Role)]) -> Vec<StyledPiece> {
    let mut row: Vec<StyledPiece> = Vec::new();
    for (cluster, role) in clusters {
        match row.last_mut().filter(|last| last.role == *role) {
            Some(last) => last.text.push_str(cluster),
            None => row.push(piece(*cluster, *role)),
        }
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(document: &WrappedText) -> Vec<String> {
        let row = |row: &Vec<StyledPiece>| row.iter().map(|piece| piece.text.as_str()).collect();
        document.rows().iter().map(row).collect()
    }

    #[test]
    fn json_is_laid_out_as_serde_lays_it_out() {
        let value = serde_json::json!({"a":[1,true,null,"x\n"],"b":{},"c":[],"d":{"e":"\u{202e}"}});
        let mut document = WrappedText::json(&value);
        document.wrap(200);
        let expected = serde_json::to_string_pretty(&value).expect("json").replace('\u{202e}', "⟨U+202E⟩");
        assert_eq!(shown(&document).join("\n"), expected);
    }

    #[test]
    fn a_text_of_several_lines_is_read_line_by_line() {
        let value = serde_json::json!({"a": {"b": "x\n  y\n", "c": "x\n\ny"}, "d": 1});
        let mut document = WrappedText::json(&value);
        document.wrap(40);
        let lines = [
            "{",
            "  \"a\": {",
            "    \"b\": |",
            "      x",
            "        y",
            "    \"c\": |-",
            "      x",
            "      ",
            "      y",
            "  },",
            "  \"d\": 1",
            "}",
        ];
        assert_eq!(shown(&document), lines);
    }

    #[test]
    fn a_group_is_folded_to_one_line_and_unfolded_where_it_was() {
        let value = serde_json::json!({"a": {"b": [1, 2], "c": "x"}, "d": [{}], "e": null});
        let mut document = WrappedText::json(&value);
        document.wrap(40);
        let whole = shown(&document);
        assert_eq!(document.fold(4), 2, "a line folds what it stands in");
        assert_eq!(
            shown(&document)[..4],
            ["{", "  \"a\": {", "    \"b\": [...],  2 items", "    \"c\": \"x\""]
        );
        assert_eq!(document.fold(3), 1);
        let lines = ["{", "  \"a\": {...},  2 keys", "  \"d\": [", "    {}", "  ],", "  \"e\": null", "}"];
        assert_eq!(shown(&document), lines);
        assert_eq!(
            (document.line_of(1), document.line_of(2)),
            (Some(1), Some(8)),
            "other lines keep their number"
        );
        assert_eq!(
            (document.row_of(3), document.row_of(8)),
            (Some(1), Some(2)),
            "a folded one is where it is folded"
        );
        assert_eq!(document.fold(1), 1, "what is folded is unfolded");
        assert_eq!(shown(&document)[2], "    \"b\": [...],  2 items", "what was folded in it stays so");
        assert_eq!((document.unfold(2), shown(&document)), (2, whole));
    }

    #[test]
    fn the_gutter_of_a_line_stands_before_each_of_its_rows() {
        let mut document = WrappedText::plain("abcdef\ng");
        document.set_gutter(vec![piece("+ ", Role::Running), piece("  ", Role::Text)]);
        document.wrap(6);
        assert_eq!(shown(&document), ["+ abcd", "+ ef", "  g"]);
    }

    #[test]
    fn a_shortened_value_says_what_became_of_each_field() {
        let whole = serde_json::json!({"a": "long text", "b": {"c": [1], "d": "x"}, "e": null, "f": false});
        let short = serde_json::json!({"a": "lo", "b": {"c": [1], "d": null}, "e": null, "f": true});
        let marks = ValueMarks { kept: "+", cut: "^", gone: "x", whole: &whole };
        let mut document = WrappedText::marked_json(&short, &marks);
        document.wrap(80);
        let gutter: Vec<String> = shown(&document).iter().map(|row| row.chars().take(1).collect()).collect();
        assert_eq!(gutter.concat(), " ^  + x ++ ");
        let rows = shown(&document);
        assert!(rows.iter().any(|row| row.starts_with("^   \"a\": \"lo\"")), "{rows:?}");
        assert!(rows.iter().any(|row| row.starts_with("x     \"d\": null")), "{rows:?}");
    }

    #[test]
    fn a_line_wraps_after_a_blank_where_that_wastes_little() {
        let mut document = WrappedText::plain("one two three");
        document.wrap(8);
        assert_eq!(shown(&document), ["one two ", "three"]);
        let mut document = WrappedText::plain("a bcdefghijk");
        document.wrap(8);
        assert_eq!(shown(&document), ["a bcdefg", "hijk"]);
    }

    #[test]
    fn a_text_is_found_across_the_rows_of_a_line_and_not_across_lines() {
        let mut document = WrappedText::plain("0123456needle\nnee\ndle");
        document.wrap(10);
        assert_eq!(document.find(&SearchText::smart("needle")), [[(0, 7..10), (1, 0..3)]]);
    }

    #[test]
    fn a_long_line_wraps_by_columns_and_keeps_every_character() {
        let mut document = WrappedText::plain("abc你好def\n\nx");
        document.wrap(4);
        assert_eq!(shown(&document), ["abc", "你好", "def", "", "x"]);
    }
}
