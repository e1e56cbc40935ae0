//! Command prefixes: the first words of commands that the operator allows to run without further approval. Pure.
//!
//! A rule that requires approval matches its words anywhere in a line. A prefix that waives approval is strict the
//! other way: every command in the line must begin with exactly these words, and the line must do nothing that its
//! words do not show.

use serde::{Deserialize, Serialize};

use super::shell_words::{plain_commands, plain_words};

/// Programs that start nothing, change nothing and open no file, whatever arguments follow. `docs/agents.md` has the reason
/// for each.
pub const ALIKE: [&str; 14] = [
    "basename", "df", "dirname", "echo", "id", "ls", "nproc", "pwd", "readlink", "realpath", "sleep", "stat",
    "uname", "whoami",
];
/// What separates commands.
const SEPARATORS: [char; 3] = [';', '&', '|'];

/// Words that one command begins with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Prefix {
    text: String,
    words: Vec<String>,
}

/// The error for text that is not the first words of one command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it must be the first words of one command, without expansion or redirection")]
pub struct NoPrefix;

impl Prefix {
    /// Parses a text as a prefix.
    ///
    /// # Errors
    /// When the text is not the plain first words of one command.
    pub fn new(text: &str) -> Result<Self, NoPrefix> {
        let text = text.trim_matches([' ', '\t']);
        let mut commands = plain_commands(text).ok_or(NoPrefix)?;
        match (commands.pop(), commands.is_empty()) {
            (Some(words), true) => Ok(Self { text: text.to_owned(), words }),
            _ => Err(NoPrefix),
        }
    }

    /// Returns the prefix to suggest for a command: its program, and a subcommand if one follows.
    pub fn of(line: &str) -> Option<Self> {
        let commands = plain_commands(line)?;
        let words = commands.first()?;
        let is_name = |word: &&String| word.starts_with(|c: char| c.is_ascii_alphanumeric());
        let many = if words.get(1).filter(is_name).is_some() { 2 } else { 1 };
        let prefix = Self::new(&words[..many.min(words.len())].join(" ")).ok()?;
        prefix.covers(line).then_some(prefix)
    }

    /// Returns the first word by which a command is like others, where nobody looks at each of them: a program of the table,
    /// if the line is that one command and nothing else.
    pub fn of_alike(line: &str) -> Option<Self> {
        let words = plain_words(line)?;
        let bare = line.trim_matches([' ', '\t']);
        let is_one = !bare.starts_with(SEPARATORS) && !bare.ends_with(SEPARATORS);
        let program = words.first().filter(|word| is_one && ALIKE.contains(&word.as_str()))?;
        Self::new(program).ok()
    }

    /// Returns the words as they were written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the first word.
    pub fn program(&self) -> &str {
        self.words.first().map_or("", String::as_str)
    }

    /// Returns whether every command in a line begins with this prefix.
    pub fn covers(&self, line: &str) -> bool {
        plain_commands(line).is_some_and(|commands| {
            !commands.is_empty() && commands.iter().all(|words| words.starts_with(&self.words))
        })
    }
}

impl TryFrom<String> for Prefix {
    type Error = NoPrefix;

    fn try_from(text: String) -> Result<Self, NoPrefix> {
        Self::new(&text)
    }
}

impl From<Prefix> for String {
    fn from(prefix: Prefix) -> Self {
        prefix.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_covers_only_lines_whose_commands_all_begin_with_it() {
        let prefix = Prefix::new(" git push ").expect("a prefix");
        for line in ["git push", "git push -f origin", "git 'push' x", "git push a && git push b; git push c"]
        {
            assert!(prefix.covers(line), "{line}");
        }
        for line in [
            "git pushd",
            "git",
            "",
            "git push && ls",
            "git push | tee log",
            "git push & ls",
            "git push > log",
            "git push $(ls)",
            "git push `ls`",
            "git push \"$HOME\"",
            "git push\nls",
            "(git push)",
            "{ git push; }",
            "if git push; then git push; fi",
            "A=1 git push",
            "./git push",
            "/usr/bin/git push",
            "git push <(ls)",
            "git push 'open",
            "git\u{a0}push",
            "git push\u{a0}x",
            "git push\u{2028}ls",
            "git push\u{b}ls",
            "git push\u{c}ls",
            "git push\u{85}ls",
        ] {
            assert!(!prefix.covers(line), "{line}");
        }
    }

    #[test]
    fn the_prefix_offered_for_a_line_is_the_program_and_its_subcommand() {
        for (line, offered) in [
            ("git push -f", Some("git push")),
            ("ls -la", Some("ls")),
            ("make", Some("make")),
            ("cargo test -- --nocapture", Some("cargo test")),
            ("git push && ls", None),
            ("echo $HOME", None),
            ("", None),
        ] {
            assert_eq!(Prefix::of(line).as_ref().map(Prefix::text), offered, "{line}");
        }
    }

    #[test]
    fn only_a_plain_command_of_a_program_in_the_table_is_alike_to_others() {
        for (line, alike) in [
            ("ls -la /tmp", Some("ls")),
            (" stat x", Some("stat")),
            ("'ls' x", Some("ls")),
            ("pwd", Some("pwd")),
            ("echo '; touch x'", Some("echo")),
            ("ls;", None),
            ("ls &", None),
            ("ls a && ls b", None),
            ("ls; ls", None),
            ("ls | ls", None),
            ("ls || ls", None),
            ("; ls", None),
            ("ls > log", None),
            ("ls < log", None),
            ("ls $(touch x)", None),
            ("ls `touch x`", None),
            ("ls $HOME", None),
            ("ls \"$X\"", None),
            ("ls <(touch x)", None),
            ("ls *(e:'touch x':)", None),
            ("ls\ntouch x", None),
            ("ls\\\n", None),
            ("ls 'open", None),
            ("A=1 ls", None),
            ("./ls", None),
            ("/tmp/ls", None),
            ("sudo ls", None),
            ("command ls", None),
            ("lsof", None),
            ("cat a", None),
            ("", None),
        ] {
            assert_eq!(Prefix::of_alike(line).as_ref().map(Prefix::text), alike, "{line:?}");
        }
    }

    #[test]
    fn no_program_that_can_run_another_is_alike_to_its_next_call() {
        for line in [
            "git status",
            "git push a",
            "git log -1",
            "git bisect run ./x",
            "git grep -O./x y",
            "git fetch --upload-pack=./x a",
            "git rebase --exec ./x a",
            "git difftool -x ./x",
            "go test",
            "go vet -vettool=./x",
            "go build -toolexec ./x",
            "make all",
            "make all SHELL=./x",
            "docker compose up",
            "docker build .",
            "cargo test",
            "npm test",
            "kubectl get pods",
            "find . -exec ./x",
            "xargs ls",
            "env ls",
            "sort -o a b",
            "uniq a b",
            "sed -n p a",
            "awk 1 a",
            "tree -o a",
            "date -s x",
        ] {
            assert_eq!(Prefix::of_alike(line), None, "{line}");
        }
    }

    #[test]
    fn text_that_is_no_beginning_of_one_command_is_refused_as_a_prefix_also_from_a_file() {
        for text in ["", " ", "git push; ls", "echo $X", "a > b", "'open"] {
            assert_eq!(Prefix::new(text), Err(NoPrefix), "{text:?}");
            assert!(serde_json::from_value::<Prefix>(text.into()).is_err());
        }
        let prefix = Prefix::new("git push").expect("a prefix");
        assert_eq!(serde_json::to_string(&prefix).ok().as_deref(), Some("\"git push\""));
    }

    proptest::proptest! {
        #[test]
        fn a_prefix_never_covers_a_command_that_begins_otherwise(line in "[a-c ;&|'\"=$>(]{0,12}") {
            let prefix = Prefix::new("a b").expect("a prefix");
            if prefix.covers(&line) {
                let bare = line.replace(['\'', '"'], "");
                let mut commands = bare.split([';', '&', '|']).map(str::trim).filter(|one| !one.is_empty());
                proptest::prop_assert!(commands.all(|one| one.starts_with('a')) && !line.contains(['$', '>', '(']));
            }
        }
    }
}
