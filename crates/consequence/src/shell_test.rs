//! What `test`, `[` and `[[` find out, where it can be known.

use brush_parser::ast::{BinaryPredicate, ExtendedTestExpr, UnaryPredicate};

use crate::command_end::{CommandEnd, Outcome};
use crate::fields::Argument;
use crate::interpreter::Interpreter;
use crate::look::FileKind;
use crate::pattern;
use crate::shell_state::Value;

fn outcome(holds: Option<bool>) -> Outcome {
    match holds {
        Some(true) => Outcome::Success,
        Some(false) => Outcome::Failure,
        None => Outcome::Unknown,
    }
}

impl Interpreter<'_> {
    pub(crate) fn extended_test(&mut self, test: &ExtendedTestExpr) -> Outcome {
        match test {
            ExtendedTestExpr::And(first, second) => match self.extended_test(first) {
                Outcome::Success => self.extended_test(second),
                Outcome::Failure => Outcome::Failure,
                _ => not_success(self.perhaps_test(second)),
            },
            ExtendedTestExpr::Or(first, second) => match self.extended_test(first) {
                Outcome::Failure => self.extended_test(second),
                Outcome::Success => Outcome::Success,
                _ => not_failure(self.perhaps_test(second)),
            },
            ExtendedTestExpr::Not(inner) => self.extended_test(inner).negation(),
            ExtendedTestExpr::Parenthesized(inner) => self.extended_test(inner),
            ExtendedTestExpr::UnaryTest(test, word) => self.unary_test(test, &word.value),
            ExtendedTestExpr::BinaryTest(test, left, right) => {
                self.binary_test(test, &left.value, &right.value)
            }
        }
    }

    fn unary_test(&mut self, test: &UnaryPredicate, word: &str) -> Outcome {
        use UnaryPredicate as P;
        let text = self.text_of_word(word);
        let name = match test {
            P::ShellVariableIsSetAndAssigned | P::ShellVariableIsSetAndNameRef => {
                let name = text.map_or_else(|value| Argument::Unknown(value.said_text()), Argument::text);
                self.variable_name("[[", &name);
                return Outcome::Unknown;
            }
            P::FileExists => "-e",
            P::FileExistsAndIsDir => "-d",
            P::FileExistsAndIsRegularFile => "-f",
            P::FileExistsAndIsSymlink => "-L",
            P::FileExistsAndIsNotZeroLength => "-s",
            P::StringHasZeroLength => "-z",
            P::StringHasNonZeroLength => "-n",
            _ => return Outcome::Unknown,
        };
        outcome(text.ok().and_then(|text| self.holds(name, &text)))
    }

    fn binary_test(&mut self, test: &BinaryPredicate, left: &str, right: &str) -> Outcome {
        use BinaryPredicate as P;
        if let P::ArithmeticEqualTo
        | P::ArithmeticNotEqualTo
        | P::ArithmeticLessThan
        | P::ArithmeticLessThanOrEqualTo
        | P::ArithmeticGreaterThan
        | P::ArithmeticGreaterThanOrEqualTo = test
        {
            self.arithmetic(left);
            self.arithmetic(right);
            return Outcome::Unknown;
        }
        let (left, right) = (self.text_of_word(left), self.pattern_of_word(right));
        if let P::StringMatchesRegex | P::StringContainsSubstring = test {
            self.set("BASH_REMATCH", Value::Unknown("$BASH_REMATCH".to_owned()));
        }
        let (Ok(left), Some(right)) = (left, right) else { return Outcome::Unknown };
        let is_equal = pattern::text(&right) == left;
        outcome(match test {
            P::StringExactlyMatchesPattern => self.fits(&right, &left),
            P::StringDoesNotExactlyMatchPattern => self.fits(&right, &left).map(|fits| !fits),
            P::StringExactlyMatchesString => Some(is_equal),
            P::StringDoesNotExactlyMatchString => Some(!is_equal),
            _ => None,
        })
    }

    fn perhaps_test(&mut self, test: &ExtendedTestExpr) -> Outcome {
        let mut outcome = Outcome::Unknown;
        self.branch(|shell| {
            outcome = shell.extended_test(test);
            CommandEnd::unknown()
        });
        outcome
    }

    /// Returns how `test` ends with these arguments.
    pub(crate) fn plain_test(&mut self, arguments: &[Argument]) -> Outcome {
        for (at, argument) in arguments.iter().enumerate().skip(1) {
            if matches!(arguments[at - 1].known_text(), Some("-v" | "-R")) {
                self.variable_name("test", argument);
            }
        }
        let known: Option<Vec<&str>> = arguments.iter().map(Argument::known_text).collect();
        let Some(known) = known else { return Outcome::Unknown };
        match known[..] {
            [] => Outcome::Failure,
            [left, "=" | "==", right] => outcome(Some(left == right)),
            [left, "!=", right] => outcome(Some(left != right)),
            ["!", ref rest @ ..] if rest.len() < 4 && !rest.is_empty() => {
                let rest: Vec<Argument> = rest.iter().map(|text| Argument::text(*text)).collect();
                self.plain_test(&rest).negation()
            }
            [text] => outcome(Some(!text.is_empty())),
            [test, text] => outcome(self.holds(test, text)),
            _ => Outcome::Unknown,
        }
    }

    fn holds(&self, test: &str, text: &str) -> Option<bool> {
        match test {
            "-z" => return Some(text.is_empty()),
            "-n" => return Some(!text.is_empty()),
            _ => {}
        }
        if text.is_empty() {
            return matches!(test, "-e" | "-a" | "-d" | "-f" | "-L" | "-h" | "-s").then_some(false);
        }
        let path = self.full(text)?;
        let file = self.files.find(&path, !matches!(test, "-L" | "-h"));
        if self.files.resolve(&path, true).is_some_and(|path| self.files.is_possible(&path)) {
            return None;
        }
        let is = |kind: FileKind| file.as_ref().is_some_and(|file| file.stat.kind == kind);
        match test {
            "-e" | "-a" => Some(file.is_some()),
            "-d" => Some(is(FileKind::Folder)),
            "-f" => Some(is(FileKind::File)),
            "-L" | "-h" => Some(is(FileKind::Link)),
            "-s" => match file {
                None => Some(false),
                Some(file) => file.origin.is_some().then_some(file.stat.bytes > 0),
            },
            _ => None,
        }
    }
}

fn not_success(second: Outcome) -> Outcome {
    if second == Outcome::Failure { second } else { Outcome::Unknown }
}

fn not_failure(second: Outcome) -> Outcome {
    if second == Outcome::Success { second } else { Outcome::Unknown }
}
