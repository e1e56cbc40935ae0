//! Files that are lost: counted, weighed by what git has of them, and put into a sentence.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::changes::PlacedFile;
use crate::consequence::{Class, Fact, FactKind};
use crate::fields::KnownArgument;
use crate::interpreter::Interpreter;
use crate::look::{FileKind, GitFiles};

/// More files than this are many.
const MANY: u64 = 1_000;
/// The most names in a sentence.
const NAMED: usize = 3;

/// How files are lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum LossVerb {
    #[default]
    Deletes,
    Overwrites,
    /// What is in a folder goes, the folder stays.
    Empties,
}

/// What git has of the lost files.
#[derive(Debug, Default)]
struct GitTally {
    changed: u64,
    untracked: u64,
    ignored: u64,
    committed: u64,
    /// Files of a repository of which nothing is known.
    open: u64,
    has_repository: bool,
}

/// Files that are lost by one command.
#[derive(Debug, Default)]
pub(crate) struct Loss {
    verb: LossVerb,
    is_possible: bool,
    roots: Vec<(PathBuf, FileKind)>,
    paths: Vec<PathBuf>,
    files: u64,
    bytes: u64,
    is_cut: bool,
    tally: GitTally,
    /// What the deletion turns out to be, because variables are not set.
    widened: BTreeSet<String>,
}

impl Loss {
    pub(crate) fn new(verb: LossVerb, is_possible: bool) -> Self {
        Self { verb, is_possible, ..Self::default() }
    }

    /// Returns the reasons to look twice at it.
    fn reasons(&self, is_outside: bool) -> BTreeSet<Class> {
        let tally = &self.tally;
        let marks = [
            (is_outside, Class::Outside),
            (!self.widened.is_empty(), Class::Unset),
            (tally.changed + tally.untracked > 0 || tally.has_repository, Class::Uncommitted),
            (self.files > MANY || self.is_cut, Class::Many),
        ];
        marks.into_iter().filter(|(is_so, _)| *is_so).map(|(_, class)| class).collect()
    }
}

/// Returns a fact that costs nothing by itself.
fn warning(text: String) -> Fact {
    Fact {
        kind: FactKind::Warns,
        is_possible: false,
        text,
        classes: BTreeSet::new(),
        files: 0,
        bytes: 0,
        paths: Vec::new(),
    }
}

/// Returns how a list of names ends that leaves some out.
pub(super) fn more_phrase(left_out: usize) -> String {
    if left_out > 0 { format!(" and {left_out} more") } else { String::new() }
}

impl Interpreter<'_> {
    /// Adds a file to what is lost, with all that is in it.
    pub(crate) fn lose(&mut self, loss: &mut Loss, file: &PlacedFile) {
        let before = self.files.unlooked.get();
        loss.is_possible |= self.files.is_possible(&file.path);
        let tree = match loss.verb {
            LossVerb::Overwrites => vec![file.clone()],
            LossVerb::Deletes | LossVerb::Empties => self.files.tree(file),
        };
        let after = self.files.unlooked.get();
        loss.is_cut |= after != before || after.is_too_many || after.is_late;
        let mut has_any = false;
        for lost in &tree {
            let Some(origin) = &lost.origin else { continue };
            has_any = true;
            if !loss.paths.last().is_some_and(|last| origin.starts_with(last)) {
                loss.paths.push(origin.clone());
            }
            if lost.is_folder() {
                continue;
            }
            loss.files += 1;
            loss.bytes += if lost.stat.kind == FileKind::File { lost.stat.bytes } else { 0 };
            self.tally(&mut loss.tally, origin);
        }
        if let Some(origin) = file.origin.as_ref().filter(|_| has_any) {
            loss.roots.push((origin.clone(), file.stat.kind));
            // A folder stands for what is in it.
            if file.is_folder() {
                loss.paths.retain(|path| !path.starts_with(origin));
                loss.paths.push(origin.clone());
            }
        }
        let path = file.path.clone();
        loss.tally.has_repository |= path.file_name().is_some_and(|name| name == ".git")
            || (file.is_folder()
                && tree.iter().any(|lost| lost.path.file_name().is_some_and(|name| name == ".git")));
    }

    /// Notes that an argument is wider than it looks, if a variable in it stands for nothing.
    pub(crate) fn widen(&mut self, loss: &mut Loss, argument: &KnownArgument) {
        for unset in argument.unset.iter() {
            let why = if unset.is_empty { "is empty" } else { "is not set" };
            let (name, written) = (&unset.name, &argument.written);
            let pattern = written.contains(['*', '?', '[']);
            let means = match pattern {
                true => self.without_variables(written).unwrap_or_else(|| argument.text.clone()),
                false => argument.text.clone(),
            };
            loss.widened.insert(format!("${name} {why}: {written} means {means}"));
            if self.request.is_login && !unset.is_empty {
                self.not_known(format!("whether the login shell's own files set ${name}"));
            }
        }
    }

    /// Returns a pattern as it stands, its variables replaced.
    fn without_variables(&mut self, written: &str) -> Option<String> {
        let pattern = self.pattern_of_word(written)?;
        Some(crate::pattern::text(&pattern))
    }

    fn tally(&mut self, tally: &mut GitTally, path: &Path) {
        let Some(top) = self.top_of(path) else { return };
        let Some(git) = self.git_files(&top) else {
            tally.open += 1;
            return;
        };
        let Ok(path) = path.strip_prefix(&top) else { return };
        if path.starts_with(".git") {
            tally.has_repository = true;
        } else if git.changed.contains(path) {
            tally.changed += 1;
        } else if git.tracked.contains(path) {
            tally.committed += 1;
        } else if path.ancestors().any(|above| git.ignored.contains(above)) {
            tally.ignored += 1;
        } else {
            tally.untracked += 1;
        }
    }

    /// Returns the top of the repository that a path is in.
    pub(crate) fn top_of(&mut self, path: &Path) -> Option<PathBuf> {
        let folder = path.parent()?;
        if let Some(known) = self.tops.get(folder) {
            return known.clone();
        }
        let is_top =
            |above: &&Path| self.files.look.stat(&above.join(".git")).is_ok_and(|file| file.is_some());
        let top = folder.ancestors().find(is_top).map(Path::to_owned);
        self.tops.insert(folder.to_owned(), top.clone());
        top
    }

    pub(crate) fn git_files(&mut self, top: &Path) -> Option<Rc<GitFiles>> {
        if let Some(known) = self.git.get(top) {
            return known.clone();
        }
        let files = self.files.look.git_files(top).map(Rc::new);
        self.git.insert(top.to_owned(), files.clone());
        files
    }

    /// Tells whether a path is outside the workspace, and nothing that swallows what is written to it.
    pub(crate) fn is_outside(&self, path: &Path) -> bool {
        !path.starts_with(&self.request.workspace)
    }

    /// Notes what was lost, if anything was.
    pub(crate) fn report(&mut self, mut loss: Loss) {
        if loss.paths.is_empty() {
            return;
        }
        loss.is_possible |= self.conditions > 0;
        for text in &loss.widened {
            let (is_possible, classes) = (loss.is_possible, BTreeSet::from([Class::Unset]));
            self.fact(Fact { is_possible, classes, ..warning(text.clone()) });
        }
        if let Some(missed) = self.state.missed.clone() {
            self.warn(format!("cd {missed} fails, and what follows runs in {}", self.folder_shown()));
        }
        let outside: Vec<&PathBuf> = loss.paths.iter().filter(|path| self.is_outside(path)).collect();
        let classes = loss.reasons(!outside.is_empty());
        let mut text = self.loss_sentence(&loss);
        if let Some(first) = outside.first() {
            let more = more_phrase(outside.len() - 1);
            text += &format!("; outside the workspace: {}{more}", self.display_path(first));
        }
        let kind = match loss.verb {
            LossVerb::Overwrites => FactKind::Overwrites,
            LossVerb::Deletes | LossVerb::Empties => FactKind::Deletes,
        };
        let Loss { is_possible, files, bytes, paths, .. } = loss;
        self.fact(Fact { kind, is_possible, text, classes, files, bytes, paths });
    }

    /// Returns what is lost, as a sentence.
    fn loss_sentence(&self, loss: &Loss) -> String {
        let verb = match (loss.verb, loss.is_possible) {
            (LossVerb::Deletes, false) => "deletes",
            (LossVerb::Deletes, true) => "may delete",
            (LossVerb::Overwrites, false) => "overwrites",
            (LossVerb::Overwrites, true) => "may overwrite",
            (LossVerb::Empties, false) => "empties a folder:",
            (LossVerb::Empties, true) => "may empty a folder:",
        };
        let names: Vec<String> =
            loss.roots.iter().take(NAMED).map(|(path, _)| self.display_path(path)).collect();
        let names = names.join(", ") + &more_phrase(loss.roots.len().saturating_sub(NAMED));
        let count = match (loss.is_cut, loss.files) {
            // How far a look came depends on the moment; the sentence should not.
            (true, files) => {
                format!("more than {} files, {}", thousands(floor(files)), size(floor(loss.bytes)))
            }
            (false, 1) => format!("1 file, {}", size(loss.bytes)),
            (false, files) => format!("{} files, {}", thousands(files), size(loss.bytes)),
        };
        let what = match &loss.roots[..] {
            [(_, FileKind::Folder)] if loss.files == 0 && !loss.is_cut => format!("the empty folder {names}"),
            [(_, FileKind::Folder)] => format!("{count} in {names}"),
            [(_, FileKind::Link)] => format!("the link {names}"),
            [_] => format!("{names} ({})", size(loss.bytes)),
            _ => format!("{count}: {names}"),
        };
        format!("{verb} {what}{}", git_phrase(&loss.tally, loss.files))
    }

    /// Notes how the line is read.
    pub(crate) fn warn(&mut self, text: String) {
        self.fact(warning(text));
    }

    fn folder_shown(&self) -> String {
        match &self.state.folder {
            Some(folder) => crate::names::text_of(folder),
            None => "another folder".to_owned(),
        }
    }
}

/// Returns a number with all digits but its first made zero.
fn floor(number: u64) -> u64 {
    let unit = 10_u64.pow(number.checked_ilog10().unwrap_or_default());
    number / unit * unit
}

/// Returns what a sentence says about git.
fn git_phrase(tally: &GitTally, files: u64) -> String {
    let mut parts = Vec::new();
    let mut add = |count: u64, what: &str| {
        if count > 0 && count == files {
            parts.push(what.to_owned());
        } else if count > 0 {
            parts.push(format!("{} {what}", thousands(count)));
        }
    };
    add(tally.changed, "with uncommitted changes");
    add(tally.untracked, "not tracked by git");
    add(tally.ignored, "ignored by git");
    if tally.changed + tally.untracked + tally.ignored == 0 {
        add(tally.committed, "as committed");
    }
    add(tally.open, "of which it is not known what git has");
    if tally.has_repository {
        parts.push("with the repository itself".to_owned());
    }
    if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
}

/// Returns a number with its thousands set apart.
pub(crate) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns a number of bytes in the unit that fits.
fn size(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["KB", "MB", "GB", "TB", "PB"];
    if bytes == 1 {
        return "1 byte".to_owned();
    }
    if bytes < 1_000 {
        return format!("{bytes} bytes");
    }
    let (mut value, mut unit) = (bytes / 100, 0);
    while value >= 10_000 && unit + 1 < UNITS.len() {
        (value, unit) = (value / 1_000, unit + 1);
    }
    match value / 10 {
        whole @ 0..10 => format!("{whole}.{} {}", value % 10, UNITS[unit]),
        whole => format!("{whole} {}", UNITS[unit]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_told_as_a_person_reads_them() {
        assert_eq!(
            (thousands(7), thousands(1_204), thousands(20_000_001)),
            ("7".into(), "1,204".into(), "20,000,001".into())
        );
        for (bytes, told) in [
            (0, "0 bytes"),
            (999, "999 bytes"),
            (1_500, "1.5 KB"),
            (38_000_000, "38 MB"),
            (600_000_000_000, "600 GB"),
        ] {
            assert_eq!(size(bytes), told);
        }
    }
}
