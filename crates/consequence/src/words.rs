//! Words: from what is written to the arguments of a command.

use std::rc::Rc;

use brush_parser::word::{self, WordPiece, WordPieceWithSource};

use crate::expansion::Expanded;
use crate::fields::{Argument, Field, FieldBuilder, KnownArgument, UnsetVariable};
use crate::interpreter::Interpreter;
use crate::names::{cut, shorten, text_of};
use crate::pattern::{self, PatternChar};
use crate::shell_state::{Dialect, Value};
use crate::{braces, guard};

/// The deepest nesting of words in words, lists and functions.
const MOST_DEEP: usize = 40;
/// The most arguments of one command.
pub(crate) const MOST_ARGUMENTS: usize = 20_000;

/// How a word is expanded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WordMode {
    /// Into any number of arguments.
    Arguments,
    /// Into one text: an assignment, a redirection's here string, what is tested.
    One,
    /// Into one text, in which a number that is not known is any number.
    Number,
}

impl Interpreter<'_> {
    /// Returns the arguments that words become. If they are too many, the shell ends here.
    pub(crate) fn arguments_of<'w>(&mut self, words: impl IntoIterator<Item = &'w str>) -> Vec<Argument> {
        let mut arguments = Vec::new();
        words.into_iter().for_each(|word| self.add_arguments(&mut arguments, word));
        arguments
    }

    pub(crate) fn add_arguments(&mut self, arguments: &mut Vec<Argument>, written: &str) {
        let Some(words) = braces::expand(written) else {
            self.visit(written);
            arguments.push(Argument::Unknown(format!("{}, which are too many words", shorten(written))));
            return;
        };
        if words.len() > 1 && self.state.dialect == Dialect::Sh {
            self.not_known(format!("whether this shell makes several words of {}", shorten(written)));
        }
        let written: Rc<str> = cut(written.to_owned()).into();
        for word in words {
            let built = self.build(&word, WordMode::Arguments);
            if let Some(from) = built.unknown {
                arguments.push(Argument::Unknown(from));
                continue;
            }
            let unset: Rc<[UnsetVariable]> = built.unset.into();
            for field in built.done {
                self.expand_field(&field, &written, &unset, arguments);
            }
            if arguments.len() > MOST_ARGUMENTS {
                self.stop();
                arguments.truncate(MOST_ARGUMENTS);
                return;
            }
        }
    }

    fn expand_field(
        &mut self,
        field: &Field,
        written: &Rc<str>,
        unset: &Rc<[UnsetVariable]>,
        arguments: &mut Vec<Argument>,
    ) {
        let known = |text: String| {
            Argument::Known(KnownArgument { text, written: Rc::clone(written), unset: Rc::clone(unset) })
        };
        if pattern::is_odd(field) {
            arguments.push(Argument::Unknown(format!("{written}, an extended pattern")));
            return;
        }
        if !pattern::is_pattern(field) || self.state.has("noglob") {
            arguments.push(known(pattern::text(field)));
            return;
        }
        match self.glob(field) {
            Err(from) => arguments.push(Argument::Unknown(from)),
            Ok(found) if !found.is_empty() => {
                let is_open =
                    |path: &String| self.full(path).is_some_and(|path| self.files.is_possible(&path));
                if found.iter().any(is_open) {
                    self.not_known(format!("which files {written} means by then"));
                }
                self.spend(found.iter().map(String::len).sum());
                arguments.extend(found.into_iter().map(known));
            }
            Ok(_) if self.state.has("nullglob") => {}
            Ok(_) if self.state.has("failglob") || self.state.dialect == Dialect::Zsh => {
                arguments.push(Argument::Unknown(format!("{written}, which matches nothing")));
            }
            Ok(_) => arguments.push(known(pattern::text(field))),
        }
    }

    /// Returns the one text that a word stands for, or what is not known of it.
    pub(crate) fn text_of_word(&mut self, written: &str) -> Result<String, Value> {
        let built = self.build(written, WordMode::One);
        match built.doubt() {
            Some(doubt) => Err(doubt),
            None => Ok(built.done.iter().map(|field| pattern::text(field)).collect()),
        }
    }

    /// Returns the text of an arithmetic expression, and whether it is exact: numbers that are not known are any number.
    pub(crate) fn text_of_arithmetic(&mut self, written: &str) -> Result<(String, bool), String> {
        let built = self.build(written, WordMode::Number);
        match built.unknown {
            Some(from) => Err(from),
            None => Ok((built.done.iter().map(|field| pattern::text(field)).collect(), !built.is_estimated)),
        }
    }

    /// Returns the pattern that a word stands for.
    pub(crate) fn pattern_of_word(&mut self, written: &str) -> Option<Vec<PatternChar>> {
        let built = self.build(written, WordMode::One);
        built.unknown.is_none().then(|| built.done.concat())
    }

    fn build(&mut self, written: &str, mode: WordMode) -> FieldBuilder {
        let mut build = FieldBuilder::default();
        // Each character is kept with what is known of it.
        self.add_word(&mut build, written, mode, false);
        build.end_field();
        self.spend(4 * build.bytes);
        build
    }

    fn add_word(&mut self, build: &mut FieldBuilder, written: &str, mode: WordMode, is_quoted: bool) {
        if self.deep >= MOST_DEEP {
            self.stop();
            return build.unknown(format!("`{}`, which is too deep", shorten(written)));
        }
        self.deep += 1;
        let pieces =
            guard::is_readable(written).then(|| word::parse(written, &Default::default()).ok()).flatten();
        match pieces {
            Some(pieces) => self.add_pieces(build, &pieces, mode, is_quoted),
            None => {
                self.not_known(format!(
                    "what `{}` runs: it cannot be read as a shell would",
                    shorten(written)
                ));
                build.unknown(format!("`{}`, which cannot be read", shorten(written)));
            }
        }
        self.deep -= 1;
    }

    fn add_pieces(
        &mut self,
        build: &mut FieldBuilder,
        pieces: &[WordPieceWithSource],
        mode: WordMode,
        is_quoted: bool,
    ) {
        for piece in pieces {
            match &piece.piece {
                WordPiece::Text(text) => build.literal(text, is_quoted),
                WordPiece::SingleQuotedText(text) => build.literal(text, true),
                WordPiece::AnsiCQuotedText(text) => match ansi_text(text) {
                    Some(text) => build.literal(&text, true),
                    None => build.unknown(format!("$'{text}'")),
                },
                WordPiece::EscapeSequence(text) => {
                    let rest = text.strip_prefix('\\').unwrap_or(text);
                    if rest != "\n" {
                        build.literal(rest, true);
                    }
                }
                WordPiece::DoubleQuotedSequence(pieces) | WordPiece::GettextDoubleQuotedSequence(pieces) => {
                    let is_list = matches!(&pieces[..], [one] if is_list(&one.piece));
                    if !is_list {
                        build.literal("", true);
                    }
                    self.add_pieces(build, pieces, mode, true);
                }
                WordPiece::TildePrefix(user) => self.add_home(build, user),
                WordPiece::ParameterExpansion(expression) => {
                    let expanded = self.expand_parameter(expression);
                    self.add_expanded(build, expanded, mode, is_quoted);
                }
                WordPiece::CommandSubstitution(text) | WordPiece::BackquotedCommandSubstitution(text) => {
                    let expanded = match self.substitute(text) {
                        Some(output) => Expanded::Text(output.trim_end_matches('\n').to_owned()),
                        None => Expanded::Unknown(format!("$({})", shorten(text.trim()))),
                    };
                    self.add_expanded(build, expanded, mode, is_quoted);
                }
                WordPiece::ArithmeticExpression(expression) => {
                    let expanded = match self.arithmetic(&expression.value) {
                        Some(number) => Expanded::Text(number.to_string()),
                        None => Expanded::Number(format!("$(({}))", shorten(expression.value.trim()))),
                    };
                    self.add_expanded(build, expanded, mode, true);
                }
            }
        }
    }

    fn add_expanded(
        &mut self,
        build: &mut FieldBuilder,
        expanded: Expanded,
        mode: WordMode,
        is_quoted: bool,
    ) {
        let separators = match self.state.get("IFS") {
            Some(Value::Text(separators)) => Some(separators),
            _ => None,
        };
        let splits = (mode == WordMode::Arguments && self.state.dialect != Dialect::Zsh).then_some(());
        match expanded {
            Expanded::Text(text) if splits.is_some() && !is_quoted => match separators {
                Some(separators) => build.value(&text, false, Some(&separators)),
                None => build.unknown("a word split by an $IFS that is not known"),
            },
            Expanded::Text(text) => build.value(&text, is_quoted, None),
            Expanded::List(list) => {
                for (at, text) in list.iter().enumerate() {
                    if at > 0 && mode == WordMode::Arguments {
                        build.end_field();
                    } else if at > 0 {
                        build.literal(" ", true);
                    }
                    if is_quoted {
                        build.literal(text, true);
                    } else {
                        build.value(text, false, splits.and(separators.as_deref()));
                    }
                }
            }
            Expanded::Word(word) if is_quoted && word.contains('\'') => {
                self.visit(&word);
                build.unknown(format!("{}, with quotes in quotes", shorten(&word)));
            }
            Expanded::Word(word) => self.add_word(build, &word, mode, is_quoted),
            Expanded::Number(_) if mode == WordMode::Number => {
                build.is_estimated = true;
                build.literal("1", true);
            }
            Expanded::Number(from) => build.number(from),
            Expanded::Unset(unset) => {
                if self.state.has("nounset") && !unset.is_empty {
                    self.exit_shell();
                    build.unknown(format!("${}, which is not set", unset.name));
                }
                build.unset.push(unset);
            }
            Expanded::Unknown(from) => build.unknown(from),
        }
    }

    fn add_home(&mut self, build: &mut FieldBuilder, user: &str) {
        let folder = match user {
            "" => self.state.get("HOME"),
            "+" => self.state.get("PWD"),
            "-" => self.state.get("OLDPWD"),
            _ => None,
        };
        match folder {
            Some(Value::Text(folder)) => build.literal(&folder, true),
            _ if user.is_empty() && self.state.doubt.is_none() => {
                build.literal(&text_of(&self.request.home), true);
            }
            _ => build.unknown(format!("~{user}")),
        }
    }
}

fn is_list(piece: &WordPiece) -> bool {
    use brush_parser::word::{Parameter, ParameterExpr, SpecialParameter};
    matches!(
        piece,
        WordPiece::ParameterExpansion(ParameterExpr::Parameter {
            parameter: Parameter::Special(SpecialParameter::AllPositionalParameters { concatenate: false })
                | Parameter::NamedWithAllIndices { concatenate: false, .. },
            ..
        })
    )
}

/// Returns the text of `$'…'`.
fn ansi_text(text: &str) -> Option<String> {
    let mut done = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\\' {
            done.push(c);
            continue;
        }
        done.push(match chars.next()? {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'a' => '\u{7}',
            'b' => '\u{8}',
            'e' | 'E' => '\u{1b}',
            c @ ('\\' | '\'' | '"' | '?') => c,
            kind @ ('x' | 'u' | '0'..='7') => {
                let (radix, most) = match kind {
                    'x' => (16, 2),
                    'u' => (16, 4),
                    _ => (8, 2),
                };
                let mut digits = if kind.is_ascii_digit() { kind.to_string() } else { String::new() };
                let most = digits.len() + most;
                while digits.len() < most && chars.peek().is_some_and(|c| c.is_digit(radix)) {
                    digits.extend(chars.next());
                }
                let code = u32::from_str_radix(&digits, radix).ok()?;
                char::from_u32(code).filter(|c| c.is_ascii() || kind == 'u')?
            }
            _ => return None,
        });
    }
    Some(done)
}
