//! Splits a shell line into commands, and each into words, as far as the text alone allows. Pure.

use std::iter::Peekable;
use std::str::Chars;

/// Reserved words after which a command begins.
const LEADING: [&str; 9] = ["if", "then", "elif", "else", "while", "until", "do", "!", "{"];
/// Characters that make a line more than its words: expansion, redirection, nesting, quoting of one character.
const UNTOLD: [char; 9] = ['$', '`', '<', '>', '(', ')', '\\', '\n', '\r'];
/// The quote of `$'...'`, in which a backslash escapes.
const ESCAPING: char = '$';

/// What stands before a command of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Joint {
    /// The beginning, `;`, `||`, `&` or a line break: what came before does not decide.
    #[default]
    Break,
    /// `&&`.
    And,
    /// `|`.
    Pipe,
}

/// Splits a line into its commands and each into words, as a shell would without expansion: quotes are removed;
/// comments, redirections, assignments and reserved words before a command are left out; the contents of `$( )`,
/// `<( )` or backquotes are commands too, and so is each line of a here-document.
pub fn commands(line: &str) -> Vec<Vec<String>> {
    scan(line, Scan::default()).found
}

/// Splits a line that is fully described by its words: nothing in it is expanded, redirected or nested, and every
/// word before a command counts. Returns `None` for any other line.
pub(super) fn plain_commands(line: &str) -> Option<Vec<Vec<String>>> {
    if line.contains(UNTOLD) {
        return None;
    }
    let scan = scan(line, Scan { keeps_all: true, ..Scan::default() });
    scan.quote.is_none().then_some(scan.found)
}

/// Splits a line into its commands, each with what stands before it; returns `None` if it is more than a list of plain
/// commands: something is nested or runs in the background, or standard error goes where standard output does.
pub fn joined_commands(line: &str) -> Option<Vec<(Joint, Vec<String>)>> {
    let scan = scan(line, Scan { keeps_all: true, ..Scan::default() });
    (scan.quote.is_none() && !scan.is_more).then(|| scan.joints.into_iter().zip(scan.found).collect())
}

/// Splits a line that is a single command of plain words; returns `None` for any other line.
pub fn plain_words(line: &str) -> Option<Vec<String>> {
    let [words] = <[Vec<String>; 1]>::try_from(plain_commands(line)?).ok()?;
    Some(words)
}

/// Quotes a word, if necessary, so that a shell reads it as one word.
pub fn quote(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

fn scan(line: &str, mut scan: Scan) -> Scan {
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        let next = chars.peek().copied();
        match (c, scan.quote) {
            ('\\', None | Some('"' | ESCAPING)) => match chars.next() {
                // A line continuation.
                Some('\n') => {}
                None => scan.is_more = true,
                Some(next) => scan.letter(next),
            },
            ('$', None | Some('"')) if next == Some('(') => {
                chars.next();
                scan.open(true);
            }
            ('`', None | Some('"')) => scan.backquote(),
            ('\'', Some(ESCAPING)) => scan.quote = None,
            (_, Some(quote)) if c == quote && quote != ESCAPING => scan.quote = None,
            (_, Some(_)) => scan.letter(c),
            (_, None) => scan.read_unquoted(c, &mut chars),
        }
    }
    while !scan.outside.is_empty() {
        scan.close();
    }
    scan.end_command();
    scan
}

/// The state of splitting a line.
#[derive(Default)]
struct Scan {
    found: Vec<Vec<String>>,
    /// What stands before each command that was found.
    joints: Vec<Joint>,
    /// What stands before the next one.
    joint: Joint,
    /// Whether the line is more than a list of plain commands.
    is_more: bool,
    words: Vec<String>,
    word: Option<String>,
    quote: Option<char>,
    /// What the next word is, if it is not part of the command.
    aside: Option<WordRole>,
    /// The delimiters of the here-documents that begin on the next line.
    documents: Vec<String>,
    /// The state to return to after each open bracket.
    outside: Vec<OuterWords>,
    is_backquoted: bool,
    /// Whether assignments and reserved words are treated like other words.
    keeps_all: bool,
}

/// A word that is not part of a command.
#[derive(Clone, Copy)]
enum WordRole {
    /// The target of a redirection, or the name of a function.
    Skipped,
    /// The delimiter of a here-document.
    Delimiter,
}

/// The state before a bracket was opened.
struct OuterWords {
    words: Vec<String>,
    word: Option<String>,
    quote: Option<char>,
    aside: Option<WordRole>,
}

impl Scan {
    fn letter(&mut self, c: char) {
        self.word.get_or_insert_default().push(c);
    }

    /// Reads a character that no quotes surround.
    fn read_unquoted(&mut self, c: char, chars: &mut Peekable<Chars<'_>>) {
        let next = chars.peek().copied();
        match c {
            '$' if next == Some('\'') => {
                chars.next();
                self.open_quote(ESCAPING);
            }
            '$' if next == Some('"') => {}
            '"' | '\'' => self.open_quote(c),
            ')' => {
                self.is_more = true;
                self.close();
            }
            '(' => self.open(self.word.as_ref().is_some_and(|word| word.ends_with('='))),
            '<' | '>' if next == Some('(') => {
                chars.next();
                self.open(true);
            }
            '<' | '>' => self.redirect(c, chars),
            '&' if next == Some('>') => {
                self.is_more = true;
                self.end_word();
            }
            ';' | '&' | '|' => {
                let is_double = c != ';' && chars.next_if_eq(&c).is_some();
                self.is_more |= c == '&' && !is_double;
                self.end_command();
                self.joint = match (c, is_double) {
                    ('&', true) => Joint::And,
                    ('|', false) => Joint::Pipe,
                    _ => Joint::Break,
                };
            }
            '\n' => {
                self.end_command();
                self.joint = Joint::Break;
                self.read_documents(chars);
            }
            '#' if self.word.is_none() && !self.keeps_all => while chars.next_if(|c| *c != '\n').is_some() {},
            // Only these two separate words; other white space is treated like a letter.
            ' ' | '\t' => self.end_word(),
            c => {
                self.is_more |= ['{', '}'].contains(&c);
                self.letter(c);
            }
        }
    }

    fn open_quote(&mut self, quote: char) {
        self.quote = Some(quote);
        self.word.get_or_insert_default();
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        match self.aside.take() {
            Some(WordRole::Skipped) => return,
            Some(WordRole::Delimiter) => return self.documents.push(word),
            None => {}
        }
        if self.keeps_all || !self.words.is_empty() {
            self.words.push(word);
        } else if word == "function" {
            self.aside = Some(WordRole::Skipped);
        } else if !LEADING.contains(&word.as_str()) && !is_assignment(&word) {
            self.words.push(word);
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        self.aside = None;
        if !self.words.is_empty() {
            self.found.push(std::mem::take(&mut self.words));
            self.joints.push(self.joint);
        }
    }

    /// Opens a bracket, whose contents are part of a word of the enclosing command, or separate commands.
    fn open(&mut self, is_part: bool) {
        self.is_more = true;
        if !is_part {
            self.end_command();
        }
        self.outside.push(OuterWords {
            words: std::mem::take(&mut self.words),
            word: self.word.take().or_else(|| is_part.then(String::new)),
            quote: self.quote.take(),
            aside: self.aside.take(),
        });
    }

    fn close(&mut self) {
        self.end_command();
        let Some(OuterWords { words, word, quote, aside }) = self.outside.pop() else { return };
        (self.words, self.word, self.quote, self.aside) = (words, word, quote, aside);
    }

    fn backquote(&mut self) {
        self.is_more = true;
        if self.is_backquoted {
            self.close()
        } else {
            self.open(true)
        }
        self.is_backquoted = !self.is_backquoted;
    }

    /// Skips a redirection: the descriptor before it, its operator, and the word after it.
    fn redirect(&mut self, first: char, chars: &mut Peekable<Chars<'_>>) {
        let is_descriptor = |word: &String| {
            word.chars().all(|c| c.is_ascii_digit()) || (word.starts_with('{') && word.ends_with('}'))
        };
        self.word = self.word.take().filter(|word| !is_descriptor(word));
        self.end_word();
        let mut operator = String::from(first);
        while let Some(c) = chars.next_if(|c| ['<', '>', '&', '|', '-'].contains(c)) {
            operator.push(c);
        }
        let is_document = matches!(operator.as_str(), "<<" | "<<-");
        self.is_more |= is_document || operator.contains('&');
        let closes = operator.len() > 2 && operator.ends_with("&-");
        self.aside = match (is_document, closes) {
            (true, _) => Some(WordRole::Delimiter),
            (false, true) => None,
            (false, false) => Some(WordRole::Skipped),
        };
    }

    /// Reads the here-documents that begin here. Their lines may be commands for the program that reads them.
    fn read_documents(&mut self, chars: &mut Peekable<Chars<'_>>) {
        for delimiter in std::mem::take(&mut self.documents) {
            while chars.peek().is_some() {
                let line: String = chars.by_ref().take_while(|c| *c != '\n').collect();
                if line.trim_start_matches('\t') == delimiter {
                    break;
                }
                self.found.extend(commands(&line));
            }
        }
    }
}

fn is_assignment(word: &str) -> bool {
    let is_name = |name: &str| {
        !name.starts_with(|c: char| c.is_ascii_digit())
            && !name.is_empty()
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    let Some((name, _)) = word.split_once('=') else { return false };
    let name = name.strip_suffix('+').unwrap_or(name);
    // An array element: `a[0]=1`.
    is_name(name.strip_suffix(']').and_then(|name| name.split_once('[')).map_or(name, |(name, _)| name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_its_commands_and_their_words() {
        for (line, told) in [
            ("A+=1 a[0]=1 b=(1 2) git push", "1 2|git push"),
            (">log 2>&1 &>>all git <in push 3>&- x >|y", "git push x"),
            ("{fd}<f git push", "git push"),
            ("function f { git push; }; g() { git pull; }", "git push|}|g|git pull|}"),
            ("git -C \"$(pwd)\" push", "pwd|git -C  push"),
            ("git -C `pwd` push", "pwd|git -C  push"),
            ("diff <(git push) >(ls) x", "git push|ls|diff   x"),
            ("# don't\ngit push # now", "git push"),
            ("$'it\\'s' x; git push", "it's x|git push"),
            ("cat <<'E' >f; ls\nit's\ngit push\nE\ngit pull", "cat|ls|its|git push|git pull"),
            (
                "git commit -m \"$(cat <<'EOF'\nIt's \"fixed\nEOF\n)\" && git push",
                "cat|Its \"fixed|git commit -m |git push",
            ),
            ("git\u{a0}push \u{2028}x", "git\u{a0}push \u{2028}x"),
        ] {
            let words: Vec<String> = commands(line).iter().map(|words| words.join(" ")).collect();
            assert_eq!(words.join("|"), told, "{line}");
        }
    }

    #[test]
    fn only_a_line_fully_described_by_its_words_is_plain() {
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
        fn any_line_is_split_and_none_of_its_words_is_invented(line in "(\\PC|[<>&|()`$'\"\\\\ \n#-])*") {
            for word in commands(&line).concat() {
                let mut rest = line.chars();
                proptest::prop_assert!(word.chars().all(|c| rest.any(|other| other == c)), "{line:?}");
            }
        }
    }
}
