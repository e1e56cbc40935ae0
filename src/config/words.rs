//! A line of the shell as its commands, and each as its words, as far as text alone tells. Pure.

/// Words of the shell after which a command begins.
const LEADING: [&str; 10] = ["if", "then", "elif", "else", "while", "until", "do", "!", "{", "time"];
/// What makes a line more than its words: expansion, redirection, nesting, quoting of one character.
const UNTOLD: [char; 9] = ['$', '`', '<', '>', '(', ')', '\\', '\n', '\r'];

/// Splits a line into its commands and each into words, as a shell would where nothing is expanded: quotes are
/// taken off, assignments and the shell's own words before a command are left out, and what stands in
/// `$( )` or backquotes is a command too.
pub(super) fn commands(line: &str) -> Vec<Vec<String>> {
    scan(line, Scan::default()).found
}

/// Splits a line all of which is told by its words: nothing in it is expanded, redirected or nested, and every
/// word before a command counts. None for any other line.
pub(super) fn plain_commands(line: &str) -> Option<Vec<Vec<String>>> {
    if line.contains(UNTOLD) {
        return None;
    }
    let scan = scan(line, Scan { keeps_all: true, ..Scan::default() });
    scan.quote.is_none().then_some(scan.found)
}

fn scan(line: &str, mut scan: Scan) -> Scan {
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, scan.quote) {
            ('\\', None | Some('"')) => match chars.next() {
                // A line goes on.
                Some('\n') | None => {}
                Some(next) => scan.letter(next),
            },
            ('$', None | Some('"')) if chars.peek() == Some(&'(') => {
                chars.next();
                scan.open();
            }
            ('`', None | Some('"')) => scan.backquote(),
            (_, Some(quote)) if c == quote => scan.quote = None,
            (_, Some(_)) => scan.letter(c),
            ('"' | '\'', None) => {
                scan.quote = Some(c);
                scan.word.get_or_insert_default();
            }
            (')', None) => scan.close(),
            ('(', None) => scan.open(),
            (';' | '&' | '|' | '\n', None) => scan.end_command(),
            ('<' | '>', None) => scan.end_word(),
            (c, None) if c.is_whitespace() => scan.end_word(),
            (c, None) => scan.letter(c),
        }
    }
    scan.end_command();
    scan
}

/// Where the splitting of a line has come to.
#[derive(Default)]
struct Scan {
    found: Vec<Vec<String>>,
    words: Vec<String>,
    word: Option<String>,
    quote: Option<char>,
    /// The quotes outside of each open bracket.
    outside: Vec<Option<char>>,
    is_backquoted: bool,
    /// Assignments and the shell's own words are words like the others.
    keeps_all: bool,
}

impl Scan {
    fn letter(&mut self, c: char) {
        self.word.get_or_insert_default().push(c);
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        let is_first = self.words.is_empty();
        if self.keeps_all || !(is_first && (LEADING.contains(&word.as_str()) || is_assignment(&word))) {
            self.words.push(word);
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        if !self.words.is_empty() {
            self.found.push(std::mem::take(&mut self.words));
        }
    }

    fn open(&mut self) {
        self.end_command();
        self.outside.push(self.quote.take());
    }

    fn close(&mut self) {
        self.end_command();
        self.quote = self.outside.pop().flatten();
    }

    fn backquote(&mut self) {
        if self.is_backquoted {
            self.close()
        } else {
            self.open()
        }
        self.is_backquoted = !self.is_backquoted;
    }
}

fn is_assignment(word: &str) -> bool {
    let is_name = |name: &str| {
        !name.starts_with(|c: char| c.is_ascii_digit())
            && !name.is_empty()
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    word.split_once('=').is_some_and(|(name, _)| is_name(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_line_that_its_words_tell_is_plain() {
        for (line, told) in [
            ("git push", Some("git push")),
            ("A=1 git push; ! ls", Some("A=1 git push|! ls")),
            ("git 'pu'sh", Some("git push")),
            ("git push $(ls)", None),
            ("git push > log", None),
            ("git push 'it", None),
            (r#""x' "'"#, None),
            ("git push\nls", None),
            ("{ git push; }", Some("{ git push|}")),
        ] {
            let words = plain_commands(line);
            let words =
                words.map(|all| all.iter().map(|words| words.join(" ")).collect::<Vec<_>>().join("|"));
            assert_eq!(words.as_deref(), told, "{line}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_line_is_split_and_none_of_its_words_is_invented(line in "\\PC*") {
            let letters: String = commands(&line).concat().concat();
            let mut rest = line.chars();
            proptest::prop_assert!(letters.chars().all(|c| rest.any(|other| other == c)), "{line:?}");
        }
    }
}
