//! Brace expansion, on the text of a word, before anything else of it is read.

/// The most words that one word may become.
const MOST: usize = 1_000;
/// The most bytes of all of them.
const MOST_BYTES: usize = 256 << 10;

/// Returns the words that the braces of a word stand for; `None` if they are too many.
pub(crate) fn expand(word: &str) -> Option<Vec<String>> {
    let mut done = Vec::new();
    let mut bytes = word.len();
    let mut todo = vec![(String::new(), word.to_owned())];
    // Each expression is replaced by its members, left to right; the rest of the word follows each of them.
    while let Some((before, rest)) = todo.pop() {
        if done.len() + todo.len() > MOST || bytes > MOST_BYTES {
            return None;
        }
        match first(&rest) {
            None => done.push(before + &rest),
            Some((start, end, members)) => {
                let head = format!("{before}{}", &rest[..start]);
                for member in members?.into_iter().rev() {
                    // A member may have braces of its own; a prefix that is done is not read again.
                    for part in expand(&member)?.into_iter().rev() {
                        bytes += head.len() + part.len() + rest.len() - end;
                        if bytes > MOST_BYTES {
                            return None;
                        }
                        todo.push((format!("{head}{part}"), rest[end..].to_owned()));
                    }
                }
            }
        }
    }
    Some(done)
}

/// The first expression of a text: its start, its end, and its members, unless they are too many.
type Expression = (usize, usize, Option<Vec<String>>);

fn first(text: &str) -> Option<Expression> {
    let mut at = 0;
    while at < text.len() {
        if text.as_bytes()[at] == b'{' && !text[..at].ends_with('$') {
            if let Some(found) = expression(text, at) {
                return Some(found);
            }
            at += 1;
        } else {
            at = skip(text, at);
        }
    }
    None
}

/// Returns where the character, quoted text or substitution at a place ends.
pub(crate) fn skip(text: &str, at: usize) -> usize {
    let rest = &text[at..];
    let close = |from: usize, ends: &str| rest[from..].find(ends).map_or(rest.len(), |end| from + end + 1);
    let len = match rest.as_bytes() {
        [b'\\', ..] => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
        [b'\'', ..] => close(1, "'"),
        [b'`', ..] => close(1, "`"),
        [b'"', ..] => {
            let mut end = 1;
            while end < rest.len() && rest.as_bytes()[end] != b'"' {
                end = if matches!(rest.as_bytes()[end], b'\\' | b'$' | b'`') {
                    skip(text, at + end) - at
                } else {
                    end + rest[end..].chars().next().map_or(1, char::len_utf8)
                };
            }
            end + 1
        }
        [b'$', open @ (b'{' | b'('), ..] => {
            let shut = if *open == b'{' { b'}' } else { b')' };
            let mut end = 2;
            while end < rest.len() && rest.as_bytes()[end] != shut {
                end = match rest.as_bytes()[end] {
                    b'(' if shut == b')' => bracket_end(text, at + end) - at,
                    _ => skip(text, at + end) - at,
                };
            }
            end + 1
        }
        _ => rest.chars().next().map_or(1, char::len_utf8),
    };
    (at + len).min(text.len())
}

/// Returns where the bracket at a place is closed.
fn bracket_end(text: &str, at: usize) -> usize {
    let mut end = at + 1;
    while end < text.len() && text.as_bytes()[end] != b')' {
        end = if text.as_bytes()[end] == b'(' { bracket_end(text, end) } else { skip(text, end) };
    }
    end + 1
}

fn expression(text: &str, start: usize) -> Option<Expression> {
    let (mut at, mut depth, mut from) = (start + 1, 0, start + 1);
    let mut members = Vec::new();
    while at < text.len() {
        match text.as_bytes()[at] {
            b'{' => depth += 1,
            b'}' if depth > 0 => depth -= 1,
            b'}' => {
                members.push(text[from..at].to_owned());
                if members.len() > 1 {
                    return Some((start, at + 1, Some(members)));
                }
                return sequence(&members[0]).map(|members| (start, at + 1, members));
            }
            b',' if depth == 0 => {
                members.push(text[from..at].to_owned());
                from = at + 1;
            }
            _ => {
                at = skip(text, at);
                continue;
            }
        }
        at += 1;
    }
    None
}

/// Returns the members of `1..9..2` or `a..c`.
fn sequence(text: &str) -> Option<Option<Vec<String>>> {
    let parts: Vec<&str> = text.split("..").collect();
    let (first, last, step) = match parts[..] {
        [first, last] => (first, last, "1"),
        [first, last, step] => (first, last, step),
        _ => return None,
    };
    let step = step.parse::<i64>().ok()?.unsigned_abs().max(1);
    if let (Ok(low), Ok(high)) = (first.parse::<i64>(), last.parse::<i64>()) {
        let is_padded = |text: &str| text.trim_start_matches('-').starts_with('0') && text.len() > 1;
        let width = if is_padded(first) || is_padded(last) { first.len().max(last.len()) } else { 0 };
        let count = low.abs_diff(high) / step;
        let steps = (count < MOST as u64).then_some(0..=count);
        let at = |n: u64| {
            let by = i64::try_from(n * step).unwrap_or_default();
            format!("{:0width$}", if low <= high { low.wrapping_add(by) } else { low.wrapping_sub(by) })
        };
        return Some(steps.map(|steps| steps.map(at).collect()));
    }
    let letter = |text: &str| match text.as_bytes() {
        [one] if one.is_ascii_alphabetic() => Some(*one),
        _ => None,
    };
    let (low, high) = (letter(first)?, letter(last)?);
    let step = usize::try_from(step).ok()?;
    let text = |byte: u8| char::from(byte).to_string();
    let members = if low <= high {
        (low..=high).step_by(step).map(text).collect()
    } else {
        (high..=low).rev().step_by(step).map(text).collect()
    };
    Some(Some(members))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_expand_as_in_bash() {
        for (word, expected) in [
            ("a{b,c}d", "abd acd"),
            ("{a,b{1,2}}", "a b1 b2"),
            ("{a,b}{c,d}", "ac ad bc bd"),
            ("{1..3}", "1 2 3"),
            ("{03..1}", "03 02 01"),
            ("{a..c}x", "ax bx cx"),
            ("{1..9..4}", "1 5 9"),
            ("{a}", "{a}"),
            ("{}", "{}"),
            ("${a,b}", "${a,b}"),
            ("'{a,b}'", "'{a,b}'"),
            ("\\{a,b}", "\\{a,b}"),
            ("{a,}", "a "),
            ("{a,b", "{a,b"),
            ("{{a,b}", "{a {b"),
            ("x{'a,b',c}", "x'a,b' xc"),
            ("$(echo {a,b})", "$(echo {a,b})"),
        ] {
            assert_eq!(expand(word).expect("few").join(" "), expected, "{word}");
        }
        assert_eq!(expand("{1..99999}"), None);
        assert_eq!(expand(&"{a,b}".repeat(20)), None);
        assert_eq!(expand("{1..99999999999999999999}").expect("as it is").len(), 1);
    }
}
