//! Which parts of what a command wrote an agent gave to its model in its own way: whole, or its beginning and its end, with
//! lines of the agent's own before, between and after. Pure.

use std::ops::Range;

/// The most lines of its own that an agent puts before, or after, what a command wrote.
const OWN_LINES: usize = 6;

/// A line without its end, and where it stands.
type Line<'a> = (Range<usize>, &'a str);

/// Returns the byte ranges of what a command wrote that are in the text its model was given; `None` if that cannot be told.
pub(super) fn parts(written: &str, given: &str) -> Option<Vec<Range<usize>>> {
    let (all, given) = (lines(written), lines(given));
    if all.is_empty() {
        return Some(Vec::new());
    }
    let begin = (0..given.len().min(OWN_LINES + 1)).find(|own| begins(&all[0], &given[*own]));
    let head = begin.map_or(0, |own| common(all.iter().zip(given.get(own..).unwrap_or_default())));
    let rest = given.get(begin.unwrap_or(0) + head..).unwrap_or_default();
    let mut parts: Vec<Range<usize>> = Vec::new();
    if head > 0 {
        parts.push(all[0].0.start..all[head - 1].0.end);
    }
    let mut rest = rest;
    // A line that is cut in the middle.
    if let (Some(line), [cut, after @ ..]) = (all.get(head), rest)
        && begin.is_some()
        && begins(line, cut)
    {
        let end = line.0.start + cut.1.len();
        match parts.last_mut() {
            Some(part) => part.end = end,
            None => parts.push(line.0.start..end),
        }
        rest = after;
    }
    let below = all.get(head..).unwrap_or_default();
    if let (Some(last), false) = (below.last(), rest.is_empty()) {
        let end = (0..rest.len().min(OWN_LINES + 1)).find(|own| ends(last, &rest[rest.len() - 1 - own]));
        let tail = end.map_or(0, |own| {
            let given = rest.get(..rest.len() - own).unwrap_or_default();
            common(below.iter().rev().zip(given.iter().rev()))
        });
        let own = rest.len() - tail - end.unwrap_or(0);
        if tail > 0 {
            let first = &below[below.len() - tail];
            let mut start = first.0.start;
            // The line before it may be cut as well.
            if let (Some(line), Some(cut)) = (
                (below.len() - tail).checked_sub(1).and_then(|at| below.get(at)),
                own.checked_sub(1).and_then(|at| rest.get(at)),
            ) && ends(line, cut)
            {
                start = line.0.start + line.1.len() - cut.1.len();
            }
            parts.push(start..last.0.end);
        } else if let Some(own) = end {
            // Only the end of its last line.
            let cut = rest[rest.len() - 1 - own].1;
            parts.push(last.0.start + last.1.len() - cut.len()..last.0.end);
        } else if own > OWN_LINES {
            return None;
        }
    }
    (!parts.is_empty()).then_some(parts)
}

fn begins(written: &Line<'_>, given: &Line<'_>) -> bool {
    !given.1.trim().is_empty() && written.1.starts_with(given.1)
}

fn ends(written: &Line<'_>, given: &Line<'_>) -> bool {
    !given.1.trim().is_empty() && written.1.ends_with(given.1)
}

/// Returns how many lines at the beginning are equal.
fn common<'a>(mut pairs: impl Iterator<Item = (&'a Line<'a>, &'a Line<'a>)>) -> usize {
    let mut count = 0;
    while pairs.next().is_some_and(|(one, other)| one.1 == other.1) {
        count += 1;
    }
    count
}

/// Returns the lines from the first to the last that is not blank.
fn lines(text: &str) -> Vec<Line<'_>> {
    let mut at = 0;
    let mut lines: Vec<Line<'_>> = Vec::new();
    for line in text.split_inclusive('\n') {
        let range = at..at + line.len();
        at = range.end;
        lines.push((range, line.trim_end()));
    }
    let first = lines.iter().position(|line| !line.1.trim().is_empty()).unwrap_or(lines.len());
    lines.drain(..first);
    while lines.last().is_some_and(|line| line.1.is_empty()) {
        lines.pop();
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(written: &str, given: &str) -> Option<Vec<String>> {
        parts(written, given).map(|parts| parts.into_iter().map(|part| written[part].to_owned()).collect())
    }

    fn numbers(range: Range<usize>) -> String {
        range.map(|n| format!("line {n}\n")).collect()
    }

    #[test]
    fn output_given_whole_is_found_although_blanks_were_trimmed_or_lines_added() {
        for (written, given) in [
            ("a\nb\n", "a\nb"),
            ("\n\na\nb\n\n", "a\nb"),
            ("a\nb\n", "Exit code 3\na\nb"),
            ("a\nb\n", "a\nb\nwarning"),
        ] {
            assert_eq!(
                told(written, given).map(|parts| parts.concat()).as_deref(),
                Some("a\nb\n"),
                "{given}"
            );
        }
        assert_eq!(told("", "(no output)"), Some(vec![]));
    }

    #[test]
    fn the_ends_of_what_was_cut_are_found_also_within_a_line() {
        let written = numbers(0..300);
        let both =
            format!("{}li\n\n... [200 lines truncated] ...\n\n99\n{}", numbers(0..50), numbers(200..300));
        let expected = vec![format!("{}li", numbers(0..50)), format!("99\n{}", numbers(200..300))];
        assert_eq!(told(&written, &both), Some(expected));
        let head = format!(
            "<persisted-output>\nOutput too large\n\nPreview:\n{}\n...\n</persisted-output>",
            numbers(0..20).trim_end()
        );
        assert_eq!(told(&written, &head), Some(vec![numbers(0..20)]));
        let long = "x".repeat(90);
        assert_eq!(told(&long, &long[..50]), Some(vec![long[..50].to_owned()]));
    }

    #[test]
    fn text_that_the_command_did_not_write_is_not_marked() {
        assert_eq!(told("a\nb\n", "c\nd"), None);
        assert_eq!(told(&numbers(0..9), &format!("line 0\n{}", "other\n".repeat(20))), None);
    }
}
