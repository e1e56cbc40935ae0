//! Renders diagnostics for people: the source line, a caret below it, the hint. Plain text without colour; nothing
//! that a program contains can control a terminal.

use std::fmt::Write as _;

use unicode_width::UnicodeWidthChar;

use super::syntax::{Diagnostic, Position, Severity, SourceText, Span};
use crate::envelope::is_hidden;

/// The number of columns shown of a source line; of a longer one, those around the position.
const COLUMNS: usize = 110;
/// The number of columns shown before the position in a longer line.
const BEFORE: usize = 40;

/// Renders a diagnostic on several lines, without a trailing line feed.
pub fn render(source: &SourceText, diagnostic: &Diagnostic) -> String {
    let word = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let place = source.position(diagnostic.span.start());
    let mut marks = vec![SourceMark::of(source, diagnostic.span, '^', "")];
    if let Some(related) = &diagnostic.related {
        marks.push(SourceMark::of(source, related.span, '-', &related.message));
    }
    marks.sort_by_key(|mark| mark.place);
    let gutter = marks.last().map_or(1, |mark| mark.place.line.to_string().len());
    let mut text = format!("{word}[{}]: {}\n", diagnostic.code, printable_text(&diagnostic.message));
    let _ = writeln!(text, "{:gutter$}--> {}:{place}", "", printable_text(source.name()));
    let _ = writeln!(text, "{:gutter$} |", "");
    let mut last = None;
    for mark in &marks {
        mark.write(&mut text, source, gutter, last);
        last = Some(mark.place.line);
    }
    if let Some(hint) = &diagnostic.hint {
        let _ = writeln!(text, "{:gutter$} = hint: {}", "", printable_text(hint));
    }
    text.trim_end_matches('\n').to_owned()
}

/// A marked position on a line.
struct SourceMark<'a> {
    place: Position,
    /// The range of bytes of the line that it marks.
    from: usize,
    to: usize,
    sign: char,
    label: &'a str,
}

impl<'a> SourceMark<'a> {
    fn of(source: &SourceText, span: Span, sign: char, label: &'a str) -> Self {
        let place = source.position(span.start());
        let line = source.line(place.line);
        let from = line.char_indices().nth(place.column - 1).map_or(line.len(), |(at, _)| at);
        // A span over several lines is marked up to the end of its first one.
        let to = line.len().min(from + (span.end() - span.start()));
        Self { place, from, to: line.floor_char_boundary(to).max(from), sign, label }
    }

    fn write(&self, text: &mut String, source: &SourceText, gutter: usize, last: Option<usize>) {
        let line = source.line(self.place.line);
        let number = self.place.line;
        match last {
            Some(last) if last == number => {}
            Some(last) if last + 1 < number => {
                let _ = writeln!(text, "{:gutter$} :", "");
                self.write_line(text, line, gutter);
            }
            _ => self.write_line(text, line, gutter),
        }
        let window = Window::of(line, self.from, self.to);
        let before = width(&line[window.start..self.from]) + usize::from(window.start > 0);
        let marked = width(&line[self.from..self.to.min(window.end).max(self.from)]).max(1);
        let signs: String = std::iter::repeat_n(self.sign, marked).collect();
        let label =
            if self.label.is_empty() { String::new() } else { format!(" {}", printable_text(self.label)) };
        let _ = writeln!(text, "{:gutter$} | {:before$}{signs}{label}", "", "");
    }

    fn write_line(&self, text: &mut String, line: &str, gutter: usize) {
        let window = Window::of(line, self.from, self.to);
        let head = if window.start > 0 { "…" } else { "" };
        let tail = if window.end < line.len() { "…" } else { "" };
        let seen = printable_text(&line[window.start..window.end]);
        let whole = format!("{:>gutter$} | {head}{seen}{tail}", self.place.line);
        let _ = writeln!(text, "{}", whole.trim_end());
    }
}

/// The part of a line that is shown.
struct Window {
    start: usize,
    end: usize,
}

impl Window {
    fn of(line: &str, from: usize, to: usize) -> Self {
        if width(line) <= COLUMNS {
            return Self { start: 0, end: line.len() };
        }
        let mut start = from;
        let mut room = BEFORE;
        for (at, letter) in line[..from].char_indices().rev() {
            let columns = column_width(letter);
            if columns > room {
                break;
            }
            room -= columns;
            start = at;
        }
        let mut room = COLUMNS - (BEFORE - room);
        let mut end = start;
        for (at, letter) in line[start..].char_indices() {
            let columns = column_width(letter);
            if columns > room && start + at >= to.min(from + COLUMNS) {
                break;
            }
            room = room.saturating_sub(columns);
            end = start + at + letter.len_utf8();
            if room == 0 {
                break;
            }
        }
        Self { start, end: end.max(from) }
    }
}

fn width(text: &str) -> usize {
    text.chars().map(column_width).sum()
}

/// Returns the number of columns of a character as rendered by [`printable_text`].
fn column_width(letter: char) -> usize {
    if is_harmless(letter) { letter.width().unwrap_or(0) } else { 1 }
}

/// Returns whether a character can be printed as it is: neither a control character nor an invisible one.
fn is_harmless(letter: char) -> bool {
    !is_hidden(letter)
}

/// Returns text in printable form.
fn printable_text(text: &str) -> String {
    let print = |letter: char| match letter {
        '\t' => ' ',
        letter if is_harmless(letter) => letter,
        _ => '\u{fffd}',
    };
    text.chars().map(print).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prose::syntax::{Profile, check};

    fn first(text: &str) -> String {
        let source = SourceText::new("deploy.prose", text).expect("short");
        let checked = check(&source, Profile::Compat);
        render(&source, checked.diagnostics.first().expect("a diagnostic"))
    }

    #[test]
    fn a_diagnostic_underlines_its_place_and_has_a_hint() {
        let text = first("let name = exec \"date\"\nexec \"echo {nmae}\"\n");
        assert_eq!(
            text,
            "\
warning[W051]: Interpolated exec commands may have injection risk: {nmae} is put into the shell's text
 --> deploy.prose:2:6
  |
2 | exec \"echo {nmae}\"
  |      ^^^^^^^^^^^^^
  = hint: use values you trust: the shell reads them as part of the command"
        );
    }

    #[test]
    fn another_place_is_shown_in_the_order_of_lines() {
        let text = first("let x = exec \"true\"\n\n\nlet x = exec \"true\"\n");
        assert_eq!(
            text,
            "\
error[E019]: the variable `x` is already defined
 --> deploy.prose:4:5
  |
1 | let x = exec \"true\"
  |     - first defined here
  :
4 | let x = exec \"true\"
  |     ^
  = hint: choose another name, or assign without `let`"
        );
    }

    #[test]
    fn a_long_line_is_cut_around_the_place_and_controls_are_not_printed() {
        let long = format!("exec \"echo {} {{nope}} \u{1b}[31m {}\"", "a".repeat(300), "b".repeat(300));
        let source = SourceText::new("x", &long).expect("short");
        let checked = check(&source, Profile::Compat);
        let error = checked.diagnostics.iter().find(|one| one.is_error()).expect("an error");
        let text = render(&source, error);
        assert!(text.contains("…aaa") && text.contains("{nope} \u{fffd}[31m bbb"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() < 130), "{text}");
        let lines: Vec<&str> = text.lines().collect();
        let at = lines[3].chars().position(|c| c == '{');
        assert_eq!(at, lines[4].chars().position(|c| c == '^'), "{text}");
    }
}
