//! The bounds of what is parsed: the parser is recursive, and would overflow the stack on text nested deeply enough. And
//! what it is known to misread.

use brush_parser::uncached_tokenize_str;

/// The longest text that is looked through.
const MOST_TEXT: usize = 64 << 10;
/// The most openings of a level, brackets and compound commands together: as if all of them were nested.
const MOST_OPEN: usize = 200;
/// The words that open a compound command.
const OPENING: [&str; 6] = ["if", "for", "while", "until", "case", "select"];

/// Tells whether a text may be given to the parser. Whatever could open a level is counted, quoted or not, and nothing
/// is taken to close one: which bracket closes what, only a parser knows.
pub(crate) fn is_readable(text: &str) -> bool {
    if text.len() > MOST_TEXT || text.contains('\0') {
        return false;
    }
    let brackets = text.bytes().filter(|byte| matches!(byte, b'(' | b'{' | b'`')).count();
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    brackets + words.filter(|word| OPENING.contains(word)).count() < MOST_OPEN
}

/// Tells whether the parser may read a text unlike a shell. It takes `\$'` and `$$'` for the beginning of `$'…\'…'`, and
/// `( (` for arithmetic; and a substitution beside or around a here-document loses what is in it.
pub(crate) fn is_misread(text: &str) -> bool {
    let spaced = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let squeezed = |text: &str| text.split_whitespace().collect::<String>();
    let written = squeezed(text);
    let tokens = uncached_tokenize_str(text, &Default::default()).unwrap_or_default();
    let read: Vec<String> = tokens.iter().map(|token| squeezed(token.to_str())).collect();
    let is_changed = |word: &String| word.contains('$') && !written.contains(word);
    let count = |text: &str| text.matches('$').count();
    let has = |forms: [&str; 2]| forms.iter().any(|odd| spaced.contains(odd));
    has(["\\$'", "$$'"]) && text.contains("\\'")
        || has(["( (", ") )"])
        || text.contains("<<") && (count(&read.concat()) < count(text) || read.iter().any(is_changed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_is_too_long_or_nested_too_deep_is_not_parsed() {
        for open in ["(", "{", "$(", "`", "((", "${", "if ", "for x in ", "while ", "case ", "$((", "<("] {
            assert!(!is_readable(&open.repeat((1 << 20) / open.len())), "1 MB of {open}");
            assert!(!is_readable(&open.repeat(200)), "200 of {open}");
        }
        assert!(is_readable(&"a; ".repeat(20_000)));
        assert!(!is_readable(&"a; ".repeat(30_000)));
        assert!(is_readable("if a; then b; fi; case x in a) b;; esac"));
        assert!(!is_readable("a\0b"));
    }

    #[test]
    fn quoted_closing_brackets_do_not_reduce_the_nesting_depth() {
        assert!(is_readable(&"$(echo ')' ".repeat(50)));
        assert!(!is_readable(&"$(echo ')' ".repeat(200)));
    }
}
