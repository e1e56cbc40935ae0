//! The expression of `find`: what it tests, and what it does with what it finds.

use std::rc::Rc;

use crate::fields::Argument;
use crate::look::FileKind;
use crate::pattern::{self, PatternChar};

/// Whether something holds, as far as that is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holds {
    Yes,
    No,
    Maybe,
}

impl Holds {
    pub(super) fn opposite(self) -> Self {
        match self {
            Self::Yes => Self::No,
            Self::No => Self::Yes,
            Self::Maybe => Self::Maybe,
        }
    }
}

impl From<Option<bool>> for Holds {
    fn from(known: Option<bool>) -> Self {
        known.map_or(Self::Maybe, |is_so| if is_so { Self::Yes } else { Self::No })
    }
}

/// Tests that are not computed.
const OPEN: &str = "-executable -readable -writable -nouser -nogroup -quit";
/// Those of them that have a value.
const OPEN_WITH_VALUE: &str = "-mtime -mmin -atime -amin -ctime -cmin -newer -size -perm -user -group -uid -gid -links \
    -inum -regex -iregex -newermt -ipath -anewer -cnewer -used -lname -samefile -fstype -regextype";

/// A part of the expression.
#[derive(Debug, Clone)]
pub(super) enum FindTerm {
    And(Vec<FindTerm>),
    Or(Vec<FindTerm>),
    Not(Box<FindTerm>),
    Name(Vec<PatternChar>, bool),
    Path(Vec<PatternChar>),
    Kind(Vec<FileKind>),
    Empty,
    True,
    /// A test that is not computed.
    Open,
    Prune,
    Delete,
    Print(char),
    /// A command, and whether it gets all files at once.
    Run(Vec<Argument>, bool),
}

/// The whole of what `find` is told.
#[derive(Debug)]
pub(super) struct FindOrder {
    pub(super) starts: Vec<Argument>,
    pub(super) term: Rc<FindTerm>,
    pub(super) follows: bool,
    pub(super) follows_starts: bool,
    pub(super) deepest: usize,
    pub(super) least: usize,
    /// What is in a folder comes before the folder.
    pub(super) is_deep_first: bool,
}

/// What is left to read of the expression.
struct FindWords<'a> {
    words: &'a [Argument],
    at: usize,
    order: FindOrder,
    acts: bool,
}

/// Reads the arguments of `find`; `None` if they cannot be understood.
pub(super) fn read(arguments: &[Argument]) -> Option<FindOrder> {
    let mut at = 0;
    let (mut follows, mut follows_starts) = (false, false);
    while let Some(text @ ("-H" | "-L" | "-P")) = arguments.get(at).and_then(Argument::known_text) {
        (follows, follows_starts) = (text == "-L", text != "-P");
        at += 1;
    }
    let begins = |argument: &Argument| {
        argument.known_text().is_some_and(|text| text.starts_with('-') || matches!(text, "(" | "!" | ","))
    };
    let count = arguments[at..].iter().take_while(|argument| !begins(argument)).count();
    let mut starts = arguments[at..at + count].to_vec();
    if starts.is_empty() {
        starts.push(Argument::text("."));
    }
    let order = FindOrder {
        starts,
        term: Rc::new(FindTerm::True),
        follows,
        follows_starts,
        deepest: usize::MAX,
        least: 0,
        is_deep_first: false,
    };
    let mut words = FindWords { words: arguments, at: at + count, order, acts: false };
    let term = if words.is_over() { FindTerm::True } else { words.alternatives()? };
    if !words.is_over() {
        return None;
    }
    let mut order = words.order;
    order.term = Rc::new(if words.acts { term } else { FindTerm::And(vec![term, FindTerm::Print('\n')]) });
    Some(order)
}

impl FindWords<'_> {
    fn is_over(&self) -> bool {
        self.at >= self.words.len()
    }

    fn peek(&self) -> Option<&str> {
        self.words.get(self.at).and_then(Argument::known_text)
    }

    fn next(&mut self) -> Option<String> {
        self.at += 1;
        self.words.get(self.at - 1).and_then(Argument::known_text).map(str::to_owned)
    }

    fn alternatives(&mut self) -> Option<FindTerm> {
        let mut all = vec![self.sequence()?];
        while matches!(self.peek(), Some("-o" | "-or")) {
            self.at += 1;
            all.push(self.sequence()?);
        }
        Some(FindTerm::Or(all))
    }

    fn sequence(&mut self) -> Option<FindTerm> {
        let mut all = Vec::new();
        while !self.is_over() && !matches!(self.peek(), Some("-o" | "-or" | ")")) {
            if matches!(self.peek(), Some("-a" | "-and")) {
                self.at += 1;
                continue;
            }
            all.push(self.term()?);
        }
        (!all.is_empty()).then_some(FindTerm::And(all))
    }

    fn term(&mut self) -> Option<FindTerm> {
        let word = self.next()?;
        Some(match word.as_str() {
            "!" | "-not" => FindTerm::Not(Box::new(self.term()?)),
            "(" => {
                let inner = self.alternatives()?;
                (self.next()? == ")").then_some(inner)?
            }
            "-name" => FindTerm::Name(pattern::read(&self.next()?), false),
            "-iname" => FindTerm::Name(pattern::read(&self.next()?.to_lowercase()), true),
            "-path" | "-wholename" => FindTerm::Path(pattern::read(&self.next()?)),
            "-type" => FindTerm::Kind(self.next()?.split(',').map(file_kind).collect::<Option<_>>()?),
            "-empty" => FindTerm::Empty,
            "-true" => FindTerm::True,
            "-maxdepth" => {
                self.order.deepest = self.next()?.parse().ok()?;
                FindTerm::True
            }
            "-mindepth" => {
                self.order.least = self.next()?.parse().ok()?;
                FindTerm::True
            }
            "-depth" | "-d" => {
                self.order.is_deep_first = true;
                FindTerm::True
            }
            "-xdev" | "-mount" | "-daystart" | "-noleaf" | "-ignore_readdir_race" => FindTerm::True,
            test if OPEN.split(' ').any(|open| open == test) => FindTerm::Open,
            test if OPEN_WITH_VALUE.split(' ').any(|open| open == test) => {
                self.at += 1;
                FindTerm::Open
            }
            "-prune" => FindTerm::Prune,
            "-print" => self.act(FindTerm::Print('\n')),
            "-print0" => self.act(FindTerm::Print('\0')),
            "-ls" => self.act(FindTerm::Open),
            "-printf" => {
                self.at += 1;
                self.act(FindTerm::Open)
            }
            "-delete" => {
                self.order.is_deep_first = true;
                self.act(FindTerm::Delete)
            }
            "-exec" => {
                let run = self.command()?;
                self.act(run)
            }
            "-ok" => {
                let run = self.command()?;
                self.act(FindTerm::And(vec![FindTerm::Open, run]))
            }
            _ => return None,
        })
    }

    /// Reads a command, up to the sign that ends it.
    fn command(&mut self) -> Option<FindTerm> {
        let rest = &self.words[self.at..];
        let end = rest.iter().position(|word| matches!(word.known_text(), Some(";" | "+")))?;
        self.at += end + 1;
        Some(FindTerm::Run(rest[..end].to_vec(), rest[end].known_text() == Some("+")))
    }

    fn act(&mut self, term: FindTerm) -> FindTerm {
        self.acts = true;
        term
    }
}

fn file_kind(letter: &str) -> Option<FileKind> {
    match letter {
        "f" => Some(FileKind::File),
        "d" => Some(FileKind::Folder),
        "l" => Some(FileKind::Link),
        _ => None,
    }
}
