//! What `test`, `[` and `[[` find out, where it can be known.

use brush_parser::ast::{BinaryPredicate, ExtendedTestExpr, UnaryPredicate};

use crate::command_end::Outcome;
use crate::fields::Argument;
use crate::interpreter::Interpreter;
use crate::look::FileKind;
use crate::pattern;

fn outcome(holds: Option<bool>) -> Outcome {
    match holds {
        Some(true) => Outcome::Success,
        Some(false) => Outcome::Failure,
        None => Outcome::Unknown,
    }
}

fn not(outcome: Outcome) -> Outcome {
    match outcome {
        Outcome::Success => Outcome::Failure,
        Outcome::Failure => Outcome::Success,
        Outcome::Likely | Outcome::Unknown => Outcome::Unknown,
    }
}

impl Interpreter<'_> {
    pub(crate) fn extended_test(&mut self, test: &ExtendedTestExpr) -> Outcome {
        match test {
            ExtendedTestExpr::And(first, second) => match self.extended_test(first) {
                Outcome::Success => self.extended_test(second),
                Outcome::Failure => Outcome::Failure,
                _ => not_success(self.extended_test(second)),
            },
            ExtendedTestExpr::Or(first, second) => match self.extended_test(first) {
                Outcome::Failure => self.extended_test(second),
                Outcome::Success => Outcome::Success,
                _ => not_failure(self.extended_test(second)),
            },
            ExtendedTestExpr::Not(inner) => not(self.extended_test(inner)),
            ExtendedTestExpr::Parenthesized(inner) => self.extended_test(inner),
            ExtendedTestExpr::UnaryTest(test, word) => {
                let text = self.text_of_word(&word.value).ok();
                let name = match test {
                    UnaryPredicate::FileExists => "-e",
                    UnaryPredicate::FileExistsAndIsDir => "-d",
                    UnaryPredicate::FileExistsAndIsRegularFile => "-f",
                    UnaryPredicate::FileExistsAndIsSymlink => "-L",
                    UnaryPredicate::FileExistsAndIsNotZeroLength => "-s",
                    UnaryPredicate::StringHasZeroLength => "-z",
                    UnaryPredicate::StringHasNonZeroLength => "-n",
                    _ => return Outcome::Unknown,
                };
                outcome(text.and_then(|text| self.holds(name, &text)))
            }
            ExtendedTestExpr::BinaryTest(test, left, right) => {
                let Ok(left) = self.text_of_word(&left.value) else { return Outcome::Unknown };
                let Some(right) = self.pattern_of_word(&right.value) else { return Outcome::Unknown };
                let is_equal = pattern::text(&right) == left;
                outcome(match test {
                    BinaryPredicate::StringExactlyMatchesPattern => self.fits(&right, &left),
                    BinaryPredicate::StringDoesNotExactlyMatchPattern => {
                        self.fits(&right, &left).map(|fits| !fits)
                    }
                    BinaryPredicate::StringExactlyMatchesString => Some(is_equal),
                    BinaryPredicate::StringDoesNotExactlyMatchString => Some(!is_equal),
                    _ => None,
                })
            }
        }
    }

    /// Returns how `test` ends with these arguments.
    pub(crate) fn plain_test(&self, arguments: &[Argument]) -> Outcome {
        let known: Option<Vec<&str>> = arguments.iter().map(Argument::known).collect();
        let Some(known) = known else { return Outcome::Unknown };
        match known[..] {
            [] => Outcome::Failure,
            ["!", ref rest @ ..] if rest.len() < 4 && !rest.is_empty() => {
                let rest: Vec<Argument> = rest.iter().map(|text| Argument::text(*text)).collect();
                not(self.plain_test(&rest))
            }
            [text] => outcome(Some(!text.is_empty())),
            [test, text] => outcome(self.holds(test, text)),
            [left, "=" | "==", right] => outcome(Some(left == right)),
            [left, "!=", right] => outcome(Some(left != right)),
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
