//! Patterns as bash matches them: characters that know whether they were quoted.

/// A character, and whether it stands for itself whatever it is.
pub(crate) type PatternChar = (char, bool);

/// Tells whether anything in a pattern could match more than itself.
pub(crate) fn is_pattern(pattern: &[PatternChar]) -> bool {
    pattern.iter().any(|(c, quoted)| !quoted && matches!(c, '*' | '?' | '['))
}

/// Tells whether a pattern has parts that are not computed: extended patterns, and classes that depend on the language.
pub(crate) fn is_odd(pattern: &[PatternChar]) -> bool {
    let text = text(pattern);
    pattern.windows(2).any(|two| {
        matches!(
            two,
            [('?' | '*' | '+' | '@' | '!', false), ('(', false)] | [('[', false), ('.' | '=', false)]
        )
    }) || text.split("[:").skip(1).any(|rest| !KINDS.contains(&rest.split(":]").next().unwrap_or_default()))
}

/// Returns the pattern that a piece of text is, with backslashes before quoted characters.
pub(crate) fn read(text: &str) -> Vec<PatternChar> {
    let mut pattern = Vec::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => pattern.extend(chars.next().map(|c| (c, true))),
            c => pattern.push((c, false)),
        }
    }
    pattern
}

/// Returns the text of a pattern without what quotes it.
pub(crate) fn text(pattern: &[PatternChar]) -> String {
    pattern.iter().map(|(c, _)| *c).collect()
}

/// Tells whether all of a name matches.
pub(crate) fn matches(pattern: &[PatternChar], name: &str) -> bool {
    let name: Vec<char> = name.chars().collect();
    let (mut at, mut of) = (0, 0);
    // Where to go on if the last `*` has to take one more.
    let mut star: Option<(usize, usize)> = None;
    while of < name.len() {
        let step = match pattern.get(at) {
            Some(('*', false)) => {
                star = Some((at + 1, of));
                at += 1;
                continue;
            }
            Some(('?', false)) => Some(at + 1),
            Some(('[', false)) => match class(&pattern[at..], name[of]) {
                Some((taken, true)) => Some(at + taken),
                Some((_, false)) => None,
                None => (name[of] == '[').then_some(at + 1),
            },
            Some((c, _)) if *c == name[of] => Some(at + 1),
            _ => None,
        };
        match (step, star) {
            (Some(next), _) => (at, of) = (next, of + 1),
            (None, Some((after, from))) => {
                star = Some((after, from + 1));
                (at, of) = (after, from + 1);
            }
            (None, None) => return false,
        }
    }
    pattern[at..].iter().all(|part| *part == ('*', false))
}

/// Returns how much of a pattern a class in brackets takes, and whether it has the character; `None` if it is no class.
fn class(pattern: &[PatternChar], c: char) -> Option<(usize, bool)> {
    let mut at = 1;
    let is_negated = matches!(pattern.get(at), Some(('!' | '^', false)));
    at += usize::from(is_negated);
    let first = at;
    let mut has = false;
    loop {
        let (low, quoted) = *pattern.get(at)?;
        if low == ']' && !quoted && at > first {
            return Some((at + 1, has != is_negated));
        }
        if low == '[' && matches!(pattern.get(at + 1), Some((':', false))) {
            let rest = &pattern[at + 2..];
            let end = rest.windows(2).position(|two| two[0].0 == ':' && two[1].0 == ']')?;
            has |= is_of(&text(&rest[..end]), c);
            at += end + 4;
            continue;
        }
        match (pattern.get(at + 1), pattern.get(at + 2)) {
            (Some(('-', false)), Some((high, is_high_quoted))) if *high != ']' || *is_high_quoted => {
                has |= (low..=*high).contains(&c);
                at += 3;
            }
            _ => {
                has |= low == c;
                at += 1;
            }
        }
    }
}

/// The kinds of characters that are computed.
const KINDS: [&str; 8] = ["alpha", "digit", "alnum", "lower", "upper", "space", "punct", "xdigit"];

fn is_of(name: &str, c: char) -> bool {
    match name {
        "alpha" => c.is_alphabetic(),
        "digit" => c.is_ascii_digit(),
        "alnum" => c.is_alphanumeric(),
        "lower" => c.is_lowercase(),
        "upper" => c.is_uppercase(),
        "space" => c.is_whitespace(),
        "punct" => c.is_ascii_punctuation(),
        "xdigit" => c.is_ascii_hexdigit(),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_match_as_in_bash() {
        for (pattern, name, fits) in [
            ("*", "", true),
            ("*.o", "a.o", true),
            ("*.o", "a.oo", false),
            ("a*b*c", "aXbYbZc", true),
            ("?", "ä", true),
            ("??", "a", false),
            ("[a-c]x", "bx", true),
            ("[!a-c]x", "bx", false),
            ("[]]", "]", true),
            ("[", "[", true),
            ("[[:digit:]]*", "7a", true),
            ("\\*", "*", true),
            ("\\*", "a", false),
            ("a[", "a[", true),
        ] {
            assert_eq!(matches(&read(pattern), name), fits, "{pattern} {name}");
        }
    }
}
