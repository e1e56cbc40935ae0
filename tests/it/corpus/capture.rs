//! Parses the output of `tmux capture-pane -e`: text with the attributes that change, one line per row.

use std::collections::BTreeSet;

use pilothouse::terminal::{CellStyle, Color};
use unicode_width::UnicodeWidthChar;

use super::picture::Seen;

const JOINER: char = '\u{200D}';
const EMOJI_PRESENTATION: char = '\u{FE0F}';

/// The line drawing character set, from 0x60 on.
const DRAWING: &str = "◆▒␉␌␍␊°±␤␋┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·";

/// How many columns tmux gives to a character made of several code points; this differs between versions.
#[derive(Debug, Clone, Copy)]
pub(super) enum Widths {
    /// As many as its first code point has.
    OfTheFirst,
    /// Two for every emoji.
    OfEmoji,
}

/// The current attributes and character set.
#[derive(Debug, Clone, Default)]
struct Pen {
    style: CellStyle,
    beyond: BTreeSet<&'static str>,
    is_drawing: bool,
}

/// Parses all rows.
pub(super) fn rows(capture: &str, widths: Widths) -> Vec<Vec<Seen>> {
    let mut pen = Pen::default();
    capture.lines().map(|line| row(line, &mut pen, widths)).collect()
}

/// The width of a row in columns.
pub(super) fn columns(row: &[Seen]) -> usize {
    row.iter().map(|seen| seen.columns).sum()
}

fn row(line: &str, pen: &mut Pen, widths: Widths) -> Vec<Seen> {
    let mut row: Vec<Seen> = Vec::new();
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        if let Some(body) = rest.strip_prefix("\x1b[") {
            let end = body.find(|c: char| c.is_ascii_alphabetic()).expect("a whole sequence");
            assert_eq!(&body[end..=end], "m", "only attributes: {line:?}");
            pen.take(&body[..end]);
            rest = &body[end + 1..];
            continue;
        }
        if let Some(body) = rest.strip_prefix("\x1b]") {
            let end = body.find("\x1b\\").expect("a whole sequence");
            rest = &body[end + 2..];
            continue;
        }
        rest = &rest[c.len_utf8()..];
        match c {
            '\x0e' | '\x0f' => pen.is_drawing = c == '\x0e',
            '\t' => {
                let until = (columns(&row) / 8 + 1) * 8;
                row.resize_with(row.len() + until - columns(&row), Seen::blank);
            }
            _ => put(&mut row, pen, c, widths),
        }
    }
    row
}

/// Adds a character to a row, or joins it to the previous one.
fn put(row: &mut Vec<Seen>, pen: &Pen, c: char, widths: Widths) {
    // The C library gives the soft hyphen one column.
    let columns = if c == '\u{AD}' { 1 } else { c.width().unwrap_or(0) };
    if let Some(last) = row.last_mut()
        && (columns == 0 || last.text.ends_with(JOINER) || widths.joins(&last.text, c))
    {
        last.text.push(c);
        if matches!(widths, Widths::OfEmoji) && (c == EMOJI_PRESENTATION || is_flag(c)) {
            last.columns = 2;
        }
        return;
    }
    row.push(Seen { text: pen.drawn(c), columns, style: pen.style, beyond: pen.beyond.clone() });
}

impl Widths {
    /// Tells whether a character that has columns of its own is part of the previous one.
    fn joins(self, before: &str, c: char) -> bool {
        let is_lone_flag = before.chars().count() == 1 && before.chars().all(is_flag);
        matches!(self, Self::OfEmoji)
            && (('\u{1F3FB}'..='\u{1F3FF}').contains(&c) || is_flag(c) && is_lone_flag)
    }
}

fn is_flag(c: char) -> bool {
    ('\u{1F1E6}'..='\u{1F1FF}').contains(&c)
}

impl Pen {
    fn drawn(&self, c: char) -> String {
        let at = u32::from(c).checked_sub(0x60).and_then(|at| usize::try_from(at).ok());
        let drawn = at.filter(|_| self.is_drawing).and_then(|at| DRAWING.chars().nth(at));
        drawn.unwrap_or(c).to_string()
    }

    /// Applies the parameters of one sequence.
    fn take(&mut self, parameters: &str) {
        let mut parameters = parameters.split(';');
        while let Some(parameter) = parameters.next() {
            let mut parts = parameter.split(':').map(number);
            let (value, form) = (parts.next().unwrap_or(0), parts.next());
            match (value, form) {
                (38 | 48 | 58, None) => {
                    let mut next = || number(parameters.next().expect("a colour"));
                    let colour = match next() {
                        5 => Color::Indexed(byte(next())),
                        2 => Color::Rgb(byte(next()), byte(next()), byte(next())),
                        form => panic!("a colour of form {form}"),
                    };
                    self.colour(value, colour);
                }
                (58, Some(_)) => drop(self.beyond.insert("colour of the underline")),
                // tmux writes 53 as `5:3`.
                (5, Some(3)) => drop(self.beyond.insert("overline")),
                (4, Some(form)) => self.underline(form),
                _ => self.one(value),
            }
        }
    }

    fn one(&mut self, value: u16) {
        let style = &mut self.style;
        match value {
            0 => (self.style, self.beyond) = (CellStyle::default(), BTreeSet::new()),
            1 => style.bold = true,
            2 => style.dim = true,
            3 => style.italic = true,
            4 => style.underline = true,
            5 => drop(self.beyond.insert("blink")),
            7 => style.inverse = true,
            8 => drop(self.beyond.insert("hidden")),
            9 => style.struck = true,
            29 => style.struck = false,
            53 => drop(self.beyond.insert("overline")),
            22 => (style.bold, style.dim) = (false, false),
            23 => style.italic = false,
            24 => style.underline = false,
            27 => style.inverse = false,
            30..=37 => style.fg = Color::Indexed(byte(value - 30)),
            39 => style.fg = Color::Default,
            40..=47 => style.bg = Color::Indexed(byte(value - 40)),
            49 => style.bg = Color::Default,
            59 => drop(self.beyond.remove("colour of the underline")),
            90..=97 => style.fg = Color::Indexed(byte(value - 90 + 8)),
            100..=107 => style.bg = Color::Indexed(byte(value - 100 + 8)),
            _ => panic!("attribute {value}"),
        }
    }

    fn underline(&mut self, form: u16) {
        self.style.underline = form > 0;
        if form > 1 {
            self.beyond.insert("form of the underline");
        }
    }

    fn colour(&mut self, which: u16, colour: Color) {
        match which {
            38 => self.style.fg = colour,
            48 => self.style.bg = colour,
            _ => drop(self.beyond.insert("colour of the underline")),
        }
    }
}

fn number(text: &str) -> u16 {
    if text.is_empty() { 0 } else { text.parse().expect("a number") }
}

fn byte(value: u16) -> u8 {
    u8::try_from(value).expect("a byte")
}

#[test]
fn a_capture_is_read_as_cells() {
    let capture = "a\x1b[1;4:3;38;5;9;48;2;1;2;3mb\n\x0eq\x0f\x1b[0;53m好e\u{301}";
    let rows = rows(capture, Widths::OfTheFirst);
    assert_eq!(rows[0][0], Seen::blank().showing("a"));
    let style = CellStyle {
        fg: Color::Indexed(9),
        bg: Color::Rgb(1, 2, 3),
        bold: true,
        underline: true,
        ..CellStyle::default()
    };
    let beyond = BTreeSet::from(["form of the underline"]);
    assert_eq!(rows[0][1], Seen { style, beyond, ..Seen::blank().showing("b") });
    assert_eq!(rows[1].iter().map(|seen| seen.text.as_str()).collect::<Vec<_>>(), ["─", "好", "e\u{301}"]);
    assert_eq!(columns(&rows[1]), 4);
    assert_eq!(rows[1][2].beyond, BTreeSet::from(["overline"]));
}

#[test]
fn emoji_of_several_characters_are_read_in_two_ways() {
    let read = |text, widths| rows(text, widths)[0].iter().map(|seen| seen.columns).collect::<Vec<_>>();
    for (text, of_first, of_emoji) in [
        ("❤\u{FE0F}", vec![1], vec![2]),
        ("👩\u{200D}👧", vec![2], vec![2]),
        ("🇩🇪", vec![1, 1], vec![2]),
        ("👍🏽", vec![2, 2], vec![2]),
    ] {
        assert_eq!(read(text, Widths::OfTheFirst), of_first, "{text}");
        assert_eq!(read(text, Widths::OfEmoji), of_emoji, "{text}");
    }
}
