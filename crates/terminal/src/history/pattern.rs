//! What somebody types to search for: a text, or after `re:` a regular expression.

/// Precedes a regular expression.
const EXPRESSION: &str = "re:";

/// A typed text as a regular expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchPattern {
    /// The expression, in the syntax of the crate `regex`; it may not be a valid one.
    pub expression: String,
    /// Whether upper-case letters match lower-case ones: there is none in it.
    pub ignores_case: bool,
}

impl SearchPattern {
    /// Reads what was typed; `None` if it is empty.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let expression = text.strip_prefix(EXPRESSION);
        // In an expression, `\S` and the like are no letters.
        let mut is_escaped = false;
        let has_capital = expression.unwrap_or(text).chars().any(|c| {
            let is_letter = !is_escaped && c.is_uppercase();
            is_escaped = expression.is_some() && c == '\\' && !is_escaped;
            is_letter
        });
        let expression = expression.map_or_else(|| regex::escape(text), str::to_owned);
        (!expression.is_empty()).then_some(Self { expression, ignores_case: !has_capital })
    }

    /// Tells whether a typed text is an expression that is not valid.
    #[must_use]
    pub fn is_invalid(text: &str) -> bool {
        text.strip_prefix(EXPRESSION).is_some_and(|expression| regex::Regex::new(expression).is_err())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_stands_for_itself_and_an_expression_for_what_it_matches() {
        let typed = |text| SearchPattern::parse(text).map(|typed| (typed.expression, typed.ignores_case));
        assert_eq!(typed("a.b"), Some((r"a\.b".to_owned(), true)));
        assert_eq!(typed("Error"), Some(("Error".to_owned(), false)));
        assert_eq!(typed(r"\S"), Some((r"\\S".to_owned(), false)), "as a text, the letter is one");
        assert_eq!(typed(r"re:err\S+ \d"), Some((r"err\S+ \d".to_owned(), true)));
        assert_eq!(typed("re:Err"), Some(("Err".to_owned(), false)));
        assert_eq!((typed(""), typed("re:")), (None, None));
        assert!(
            SearchPattern::is_invalid("re:(")
                && !SearchPattern::is_invalid("(")
                && !SearchPattern::is_invalid("re:a|b")
        );
    }
}
