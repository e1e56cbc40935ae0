//! The table of programs whose cost is known: what each may be told, so that nothing it is told goes unread.

use crate::fields::Argument;

/// The table: its form is in its first lines.
const TABLE: &str = include_str!("known.txt");

/// A program whose cost is known, and what it may be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KnownProgram {
    letters: &'static str,
    words: &'static str,
    operands: &'static str,
}

impl KnownProgram {
    /// Returns the program of this name; for git, with the name of its command.
    pub(crate) fn of(name: &str) -> Option<Self> {
        let mut rows = TABLE.lines().filter(|line| !line.starts_with('#'));
        rows.find_map(|row| {
            let mut columns = row.split('|').map(str::trim);
            let is_it = columns.next()?.split(',').any(|known| known.trim() == name);
            let (letters, words, operands) = (columns.next()?, columns.next()?, columns.next()?);
            is_it.then_some(Self { letters, words, operands })
        })
    }

    /// Tells whether it loses nothing, whatever it is told.
    pub(crate) fn takes_all(self) -> bool {
        self.letters == "*"
    }

    /// Tells whether it may be told all this. What is not known might be an option, unless `is_computed`: whoever computes
    /// what a program does says which of its operands are not known.
    pub(crate) fn takes(self, arguments: &[Argument], is_computed: bool) -> bool {
        if self.takes_all() {
            return true;
        }
        let (mut at, mut operands) = (0, 0);
        let mut is_over = false;
        while let Some(argument) = arguments.get(at) {
            at += 1;
            match argument.known_text() {
                None if is_computed || is_over => operands += 1,
                None => return false,
                Some("--") if !is_over => is_over = true,
                Some(text) if is_over || !text.starts_with('-') || text == "-" => {
                    if self.operands == "plain" && text.contains(['+', ':']) {
                        return false;
                    }
                    operands += 1;
                }
                Some(text) => match self.option(text) {
                    None => return false,
                    Some(has_value)
                        if has_value && arguments.get(at).is_none_or(|next| next.known_text().is_none()) =>
                    {
                        return false;
                    }
                    Some(has_value) => at += usize::from(has_value),
                },
            }
        }
        self.operands.parse::<usize>().map_or(true, |most| operands <= most)
    }

    /// Returns where the first operand is, if it may be told all options before that.
    pub(crate) fn options_end(self, arguments: &[Argument]) -> Option<usize> {
        let mut at = 0;
        while let Some(text) = arguments.get(at).and_then(Argument::known_text) {
            if text == "--" {
                return Some(at + 1);
            }
            if !text.starts_with('-') || (text == "-" && self.option(text).is_none()) {
                break;
            }
            at += 1 + usize::from(self.option(text)?);
        }
        Some(at)
    }

    /// Tells whether an option takes the next argument as its value; `None` if it is not in the table.
    fn option(self, text: &str) -> Option<bool> {
        let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
        for word in self.words.split_whitespace() {
            let (known, takes) = word.split_once('=').map_or((word, None), |(known, how)| (known, Some(how)));
            if known == name {
                return match (takes, value) {
                    (None, Some(_)) => None,
                    (Some(""), None) => Some(true),
                    _ => Some(false),
                };
            }
        }
        if text.starts_with("--") || text == "-" {
            return None;
        }
        for (at, letter) in text.char_indices().skip(1) {
            let place = self.letters.find(letter).filter(|_| letter.is_ascii_alphanumeric())?;
            let takes = self.letters[place + letter.len_utf8()..].chars().next();
            if takes == Some('?') {
                return Some(false);
            }
            if takes == Some(':') {
                return Some(at + letter.len_utf8() == text.len());
            }
        }
        Some(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_told_only_what_its_row_names() {
        for (name, told, fits) in [
            ("uniq", "-c a", true),
            ("uniq", "a b", false),
            ("uniq", "-f 1 a", true),
            ("uniq", "--skip-fields 1 a", true),
            ("uniq", "-f1 -- -a", true),
            ("uniq", "-f", false),
            ("xxd", "-ps a", true),
            ("xxd", "-ps a b", false),
            ("xxd", "-l 4 a", true),
            ("xxd", "-l4 a", false),
            ("tree", "-o a", false),
            ("tree", "-aL 2", true),
            ("less", "+!x a", false),
            ("git fetch", "--force", false),
            ("git fetch", "origin +a", false),
            ("git notes", "remove a", false),
            ("git log", "-5 --format=%s", true),
            ("git log", "--output=a", false),
            ("git grep", "-O", false),
            ("date", "--utc=x", false),
            ("sed", "-i.bak p a", true),
            ("ls", "--whatever", true),
        ] {
            let arguments: Vec<Argument> = told.split(' ').map(Argument::text).collect();
            assert_eq!(
                KnownProgram::of(name).expect("a row").takes(&arguments, false),
                fits,
                "{name} {told}"
            );
        }
        assert_eq!(KnownProgram::of("sort"), None);
    }

    #[test]
    fn each_row_has_its_columns() {
        for row in TABLE.lines().filter(|line| !line.starts_with('#')) {
            let columns: Vec<&str> = row.split('|').map(str::trim).collect();
            assert_eq!(columns.len(), 4, "{row}");
            assert!(matches!(columns[3], "*" | "plain") || columns[3].parse::<usize>().is_ok(), "{row}");
            assert!(columns[2].split_whitespace().all(|word| word.starts_with('-')), "{row}");
        }
    }
}
