//! Configuration files and edits of them, built from choices. A file is written piece by piece, so that it is known where
//! an edit leaves it well-formed.

use std::ops::Range;

use super::*;

const TABLES: &[&str] = &[
    "[mcp_servers.other]",
    "[features]",
    "[features.more]",
    "[[environments]]",
    "[mcp_servers]",
    "[ other ]",
];
const KEYS: [(&str, &[&str]); 3] = [
    (
        "features",
        &[
            "features.web = true",
            "features = {}",
            "features = { web = true }",
            "features = { a.b = 1, }",
            "features={ # x\n}",
        ],
    ),
    (
        "list",
        &[
            "list = []",
            "list = [ ]",
            "list = ['a', \"#b\"]",
            "list = [\n  'a', # ]\n  \"\"\"b\"\"\",\n]",
            "list = [\n  'a' # ]\n]",
            "list = [ # x\n]",
            "list=['''a''' ,]",
            "list = [\n]",
            "list = [\"\"\"a\\\"\", # ]\"\"\"\"\"]",
        ],
    ),
    ("environments", &["environments = [{ id = \"a\" }]", "environments = []"]),
];
const VALUES: &[&str] = &["1", "\"#\"", "'[x]'", "\"\"\"\n[a]\n\\\"\"\"\"\"", "{ a = [ 1 ] }", "2020-01-01"];

/// Choices that shrink.
pub(super) struct Choices {
    bytes: std::vec::IntoIter<u8>,
    names: usize,
}

/// A file, and the places where a person can edit it.
pub(super) struct Sample {
    format: Format,
    pub(super) text: String,
    /// Where blanks, line breaks and comments may stand.
    gaps: Vec<usize>,
    /// What may stand at a place: a comment at the end of a line, a line, a key before or after others.
    additions: Vec<(usize, String)>,
    /// Line breaks.
    breaks: Vec<Range<usize>>,
    /// Comments, and keys with their commas.
    removable: Vec<Range<usize>>,
    line_ends: usize,
}

/// A range of the text before, and what replaces it; at the place of ours, before or after that.
#[derive(Debug, Clone)]
pub(super) struct Change {
    pub(super) range: Range<usize>,
    pub(super) new: String,
    pub(super) is_after: bool,
}

impl Choices {
    pub(super) fn new(bytes: Vec<u8>) -> Self {
        Self { bytes: bytes.into_iter(), names: 0 }
    }

    /// Returns a number below `limit`.
    pub(super) fn below(&mut self, limit: usize) -> usize {
        usize::from(self.bytes.next().unwrap_or_default()) % limit
    }

    pub(super) fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    pub(super) fn name(&mut self) -> usize {
        self.names += 1;
        self.names
    }
}

impl Sample {
    fn line_break(&mut self, from: &mut Choices) {
        let start = self.text.len();
        let is_crlf = self.line_ends == 1 || self.line_ends == 2 && from.below(2) == 1;
        self.text += if is_crlf { "\r\n" } else { "\n" };
        self.breaks.push(start..self.text.len());
    }

    fn comment(&mut self, open: &str, close: &str, from: &mut Choices) {
        let start = self.text.len();
        self.text += &format!("{open} c{}, {{ \"{close}", from.name());
        self.removable.push(start..self.text.len());
    }

    /// Writes what may stand between two parts of a JSON text; in `lines`, a line break and an indentation.
    fn gap(&mut self, depth: usize, lines: bool, from: &mut Choices) {
        self.gaps.push(self.text.len());
        match from.below(12) {
            0 => self.text += from.of(&[" ", "  ", "\t"]),
            1 => self.comment(" /*", "*/", from),
            2 => {
                self.comment(" //", "", from);
                self.line_break(from);
            }
            3 => self.line_break(from),
            _ => {}
        }
        self.gaps.push(self.text.len());
        if lines {
            self.line_break(from);
            self.gaps.push(self.text.len());
            self.text += &"  ".repeat(depth);
            self.gaps.push(self.text.len());
        }
    }

    /// Writes a JSON value.
    fn json(&mut self, depth: usize, kind: usize, from: &mut Choices) {
        let ([open, close], is_object) = match kind {
            0 => (["{", "}"], true),
            1 => (["[", "]"], false),
            _ => {
                let words = ["true", "1.50", "\"//\"", "\"}\\\",\"", "\"\"", "[]", "{}", "\"\\u00e9 #\""];
                return self.text += from.of(&words);
            }
        };
        let lines = from.below(3) > 0;
        self.text += open;
        let count = from.below(4);
        let mut names = vec![String::new(); count];
        for name in &mut names {
            *name = format!("k{}", from.name());
        }
        if depth == 0 {
            let ours = ["mcpServers", "list"].into_iter().filter(|_| from.below(2) == 0);
            names.extend(ours.map(str::to_owned));
        }
        for (index, name) in names.iter().enumerate() {
            self.gap(depth + 1, lines, from);
            let (start, last) = (self.text.len(), index + 1 == names.len());
            let value = if is_object { ": 1" } else { "" };
            self.additions.push((start, format!("\"e{}\"{value}, ", from.name())));
            if is_object {
                self.text += &format!("\"{name}\"");
                self.text += from.of(&[":", ": ", " :  ", ": /* , */ "]);
            }
            let kind = match &**name {
                "mcpServers" => 0,
                "list" => 1,
                _ => from.below(if depth > 2 { 1 } else { 6 }) + if depth > 2 { 2 } else { 0 },
            };
            self.json(depth + 1, kind, from);
            self.additions.push((self.text.len(), format!(", \"e{}\"{value}", from.name())));
            if !last || from.below(4) == 0 {
                if from.below(6) == 0 {
                    self.gap(depth, false, from);
                }
                self.text += ",";
                if !last && !matches!(&**name, "mcpServers" | "list") {
                    self.removable.push(start..self.text.len());
                }
            }
        }
        self.gap(depth, lines && from.below(8) > 0, from);
        self.text += close;
    }

    /// Writes the rest of a TOML line.
    fn line(&mut self, from: &mut Choices, is_last: bool) {
        self.gaps.push(self.text.len());
        match from.below(6) {
            0 => self.comment(from.of(&[" #", "#"]), "", from),
            1 => self.text += from.of(&[" ", "\t"]),
            _ => self.additions.push((self.text.len(), format!(" # e{}", from.name()))),
        }
        if !is_last || from.below(4) > 0 {
            self.line_break(from);
            self.additions.push((self.text.len(), format!("# e{}\n", from.name())));
            self.additions.push((self.text.len(), "\n".to_owned()));
        }
    }

    fn toml(&mut self, from: &mut Choices) {
        let count = from.below(8);
        let (mut used, mut is_root) = (Vec::new(), true);
        self.additions.extend([(0, "# e0\n".to_owned()), (0, "\n".to_owned())]);
        for index in 0..count {
            self.additions.push((self.text.len(), format!("e{} = 1\n", from.name())));
            let key = from.name();
            match from.below(12) {
                0 => {}
                1 => self.comment("#", "", from),
                2 => {
                    self.text += &format!("k{key} = [ 1, # , ]");
                    self.line_break(from);
                    self.text += "\t2,]";
                }
                3 => {
                    let header = from.of(TABLES);
                    let is_free = |word: &&str| !header.contains(*word) || !used.contains(word);
                    if ["features", "environments"].iter().all(is_free) && !used.contains(&header) {
                        used.extend(Some(header).filter(|header| !header.starts_with("[[")));
                        is_root = false;
                        self.text += header;
                    }
                }
                kind @ 4..7 if is_root && !used.contains(&KEYS[kind - 4].0) => {
                    used.push(KEYS[kind - 4].0);
                    self.text += from.of(KEYS[kind - 4].1);
                }
                _ => {
                    self.text += from.of(&["", "", "  "]);
                    self.text += &format!("k{key}{}{}", from.of(&[" = ", "=", " =  "]), from.of(VALUES));
                }
            }
            self.line(from, index + 1 == count);
        }
    }

    pub(super) fn of(format: Format, from: &mut Choices) -> Self {
        let mut sample = Self {
            format,
            text: String::new(),
            gaps: Vec::new(),
            additions: Vec::new(),
            breaks: Vec::new(),
            removable: Vec::new(),
            line_ends: from.below(3),
        };
        match format {
            Format::Toml => sample.toml(from),
            Format::Jsonc => {
                sample.gap(0, false, from);
                if from.below(12) > 0 {
                    sample.json(0, 0, from);
                }
                sample.gap(0, from.below(3) > 0, from);
            }
        }
        sample
    }

    /// Returns edits that do not overlap, in their order.
    pub(super) fn changes(&self, from: &mut Choices) -> Vec<Change> {
        let mut changes = Vec::<Change>::new();
        for _ in 0..=from.below(4) {
            let kind = from.below(5);
            let is_after = from.below(2) == 1;
            let at = |from: &mut Choices, length: usize| (length > 0).then(|| from.below(length));
            let change = match kind {
                0 | 1 => at(from, self.gaps.len()).map(|index| {
                    let place = self.gaps[index];
                    let new = match self.format == Format::Toml {
                        true => from.of(&[" ", "\t"]).to_owned(),
                        false => match from.below(5) {
                            0 => from.of(&[" ", "\t"]).to_owned(),
                            1 => format!("/* e{} */", from.name()),
                            2 => format!("// e{}\n", from.name()),
                            3 => "\r\n".to_owned(),
                            _ => "\n".to_owned(),
                        },
                    };
                    (place..place, new)
                }),
                2 => at(from, self.additions.len()).map(|index| {
                    let (place, new) = self.additions[index].clone();
                    (place..place, new)
                }),
                3 => at(from, self.breaks.len()).map(|index| {
                    let range = self.breaks[index].clone();
                    let new = if range.len() == 1 { "\r\n" } else { "\n" };
                    (range, new.to_owned())
                }),
                _ => {
                    at(from, self.removable.len()).map(|index| (self.removable[index].clone(), String::new()))
                }
            };
            // A key is written once.
            let change =
                change.filter(|(_, new)| !new.contains('e') || changes.iter().all(|other| other.new != *new));
            changes.extend(change.map(|(range, new)| {
                // A key below a table of ours would be one of that table.
                let is_after = is_after && !(self.format == Format::Toml && new.contains(" = "));
                Change { range, new, is_after }
            }));
        }
        changes.sort_by_key(|change| (change.range.start, change.range.end, change.is_after));
        let mut end = 0;
        changes.retain(|change| {
            let is_free = change.range.start > end
                || change.range.start == end && (end == 0 || change.range.is_empty());
            if is_free {
                end = change.range.end;
            }
            is_free
        });
        changes
    }
}
