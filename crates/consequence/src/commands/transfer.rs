//! Commands that put files in the place of others: `mv`, `cp`, `install`, `ln`.

use std::path::{Path, PathBuf};

use crate::changes::PlacedFile;
use crate::command_end::{CommandEnd, Outcome};
use crate::commands::loss::{Loss, LossVerb};
use crate::commands::options::SortedArguments;
use crate::fields::Argument;
use crate::interpreter::Interpreter;
use crate::look::FileKind;
use crate::names::path_of;

impl Interpreter<'_> {
    /// Returns where each source of `mv`, `cp`, `ln` or `install` goes.
    fn targets(&mut self, name: &str, sorted: &SortedArguments<'_>) -> Vec<(PathBuf, PathBuf)> {
        let mut operands = sorted.operands.clone();
        let given = sorted.value(&["t", "target-directory"]).map(Argument::text);
        let target = match &given {
            Some(target) => Some(target),
            None if name == "ln" && operands.len() == 1 => None,
            None => operands.pop(),
        };
        let here = Argument::text(".");
        let target = target.unwrap_or(&here);
        if target.known_text() == Some("") {
            return Vec::new();
        }
        let full = target.known_text().and_then(|text| self.full(text));
        let Some(to) = full else {
            self.not_known(format!("what {name} replaces: {}", target.display_text()));
            return Vec::new();
        };
        let into = !sorted.has(&["T", "no-target-directory"])
            && self.has_folder(&to)
            && !(name == "ln"
                && sorted.has(&["n", "no-dereference"])
                && !self.files.find(&to, false).is_some_and(|file| file.is_folder()));
        let mut pairs = Vec::new();
        for source in operands.iter().filter(|source| source.known_text() != Some("")) {
            let from = source.known_text().and_then(|text| Some((text, self.full(text)?)));
            let is_link = |path: &Path| {
                self.files.find(path, false).is_some_and(|file| file.stat.kind == FileKind::Link)
            };
            let from = from.filter(|(text, from)| !(text.ends_with('/') && is_link(from)));
            let Some((text, from)) = from else {
                let more = format!("what {name} does with {}", source.display_text());
                self.not_known(more);
                continue;
            };
            let last = path_of(text.trim_end_matches('/').rsplit('/').next().unwrap_or_default());
            let to = if into { to.join(last) } else { to.clone() };
            pairs.push((from, to));
        }
        if !into && operands.len() > 1 {
            pairs.clear();
        }
        if !into && target.known_text().is_some_and(|text| text.ends_with('/')) {
            // Only a folder can be put there.
            pairs.retain(|(from, _)| self.has_folder(from));
        }
        pairs
    }

    pub(crate) fn mv(&mut self, arguments: &[Argument]) -> CommandEnd {
        let sorted = SortedArguments::of(arguments, "t", &["target-directory"]);
        let keeps = sorted.has(&["n", "no-clobber"]);
        let is_possible = sorted.has(&["i", "interactive", "u", "update"]);
        let pairs = self.targets("mv", &sorted);
        let mut outcome = if pairs.is_empty() { Outcome::Unknown } else { Outcome::Likely };
        for (from, to) in pairs {
            let (Some(file), Some(target)) = (self.files.find(&from, false), self.files.resolve(&to, false))
            else {
                outcome = Outcome::Failure;
                continue;
            };
            let is_possible = is_possible || self.files.is_possible(&file.path);
            if is_possible || self.files.is_possible(&target) {
                outcome = Outcome::Unknown;
            }
            if !target.parent().is_some_and(|above| self.has_folder(above)) || target.starts_with(&file.path)
            {
                outcome = Outcome::Failure;
                continue;
            }
            if let Some(old) = self.files.at(&target) {
                let is_full = old.is_folder() && !self.files.names(&old.path).is_empty();
                if keeps || file.is_folder() != old.is_folder() || is_full {
                    outcome = Outcome::Unknown;
                    continue;
                }
                if !self.device(&old) {
                    let mut loss = Loss::new(LossVerb::Overwrites, is_possible);
                    self.lose(&mut loss, &old);
                    self.report(loss);
                }
            }
            if !is_possible {
                self.note_moved(&file, &target);
            }
            self.files.rename(&file, &target, is_possible);
        }
        CommandEnd { outcome, output: None }
    }

    /// Notes that something leaves the workspace.
    fn note_moved(&mut self, file: &PlacedFile, target: &Path) {
        if self.is_outside(target) && !self.is_outside(&file.path) {
            self.warn(format!(
                "moves {} out of the workspace: {}",
                self.display_path(&file.path),
                self.display_path(target)
            ));
        }
    }

    pub(crate) fn cp(&mut self, name: &str, arguments: &[Argument]) -> CommandEnd {
        let values = if name == "install" { "tgmo" } else { "t" };
        let longs = ["target-directory", "mode", "owner", "group", "no-preserve", "sparse"];
        let sorted = SortedArguments::of(arguments, values, &longs);
        if name == "install" && sorted.has(&["d", "directory"]) {
            let folders = sorted.operands.iter().map(|operand| (*operand).clone());
            let told: Vec<Argument> = std::iter::once(Argument::text("-p")).chain(folders).collect();
            return self.make_files("mkdir", &told);
        }
        let keeps = sorted.has(&["n", "no-clobber"]);
        let is_possible = sorted.has(&["i", "interactive", "u", "update"]);
        let is_recursive = sorted.has(&["r", "R", "a", "recursive", "archive"]);
        let replaces = sorted.has(&["remove-destination"]) || name == "install";
        let pairs = self.targets(name, &sorted);
        let mut outcome = if pairs.is_empty() { Outcome::Unknown } else { Outcome::Likely };
        for (from, to) in pairs {
            let follows = !sorted.has(&["a", "archive", "d", "P", "no-dereference"]) && !is_recursive;
            let (Some(file), Some(target)) = (self.files.find(&from, follows), self.files.resolve(&to, true))
            else {
                outcome = Outcome::Failure;
                continue;
            };
            if file.path == target {
                outcome = Outcome::Unknown;
                continue;
            }
            if self.files.is_possible(&file.path) {
                outcome = Outcome::Unknown;
            }
            if file.is_folder() && !is_recursive {
                outcome = Outcome::Failure;
                continue;
            }
            if replaces && self.files.find(&to, false).is_some_and(|old| old.stat.kind == FileKind::Link) {
                self.not_known(format!("what {name} does with the link {}", self.display_path(&to)));
                continue;
            }
            let mut loss = Loss::new(LossVerb::Overwrites, is_possible);
            self.copy_over(&mut loss, &file, &target, keeps, is_possible);
            if keeps {
                outcome = Outcome::Unknown;
            } else {
                self.report(loss);
            }
        }
        CommandEnd { outcome, output: None }
    }

    /// Copies a file or a folder: files of the same name are overwritten, folders of the same name are merged.
    fn copy_over(&mut self, loss: &mut Loss, file: &PlacedFile, to: &Path, keeps: bool, is_possible: bool) {
        let old = self.files.find(to, true);
        match (file.stat.kind, old) {
            (FileKind::Folder, Some(old)) if old.is_folder() => {
                if to.starts_with(&file.path) {
                    return;
                }
                for name in self.files.names(&file.path) {
                    if let Some(inner) = self.files.at(&file.path.join(&name)) {
                        self.copy_over(loss, &inner, &old.path.join(&name), keeps, is_possible);
                    }
                }
            }
            (_, Some(old)) if !file.is_folder() && old.stat.kind == FileKind::File => {
                if !keeps {
                    if old.stat.bytes > 0 {
                        self.lose(loss, &old);
                    }
                    if !is_possible {
                        self.files.make(&old.path, FileKind::File, None, false);
                    }
                }
            }
            (_, Some(old)) => {
                self.device(&old);
            }
            (_, None) => {
                if to.parent().is_some_and(|above| self.has_folder(above)) {
                    self.files.copy(file, to, is_possible);
                }
            }
        }
    }

    pub(crate) fn ln(&mut self, arguments: &[Argument]) -> CommandEnd {
        let sorted = SortedArguments::of(arguments, "t", &["target-directory"]);
        let is_forced = sorted.has(&["f", "force"]);
        let is_link = sorted.has(&["s", "symbolic"]);
        let is_possible = sorted.has(&["i", "interactive"]);
        let sources: Vec<Option<String>> =
            sorted.operands.iter().map(|operand| operand.known_text().map(str::to_owned)).collect();
        let pairs = self.targets("ln", &sorted);
        let mut outcome = if pairs.is_empty() { Outcome::Unknown } else { Outcome::Likely };
        for (at, (from, to)) in pairs.into_iter().enumerate() {
            let Some(target) = self.files.resolve(&to, false) else { continue };
            if let Some(old) = self.files.at(&target) {
                if !(is_forced || is_possible) || old.is_folder() {
                    outcome = Outcome::Failure;
                    continue;
                }
                if old.path == from || self.files.resolve(&from, true).as_ref() == Some(&target) {
                    self.not_known(format!("what ln makes of {}", self.display_path(&to)));
                    outcome = Outcome::Unknown;
                    continue;
                }
                let mut loss = Loss::new(LossVerb::Overwrites, is_possible);
                self.lose(&mut loss, &old);
                self.report(loss);
            }
            match (is_link, self.files.find(&from, true)) {
                (true, _) => {
                    let written = sources.get(at).cloned().flatten().map(|text| path_of(&text));
                    self.files.make(&target, FileKind::Link, written.or(Some(from)), is_possible);
                }
                (false, Some(file)) => {
                    let names = (self.display_path(&file.path), self.display_path(&to));
                    self.not_known(format!("what is written to {} by its other name {}", names.0, names.1));
                    self.files.copy(&file, &target, is_possible);
                }
                (false, None) => outcome = Outcome::Failure,
            }
        }
        CommandEnd::silent(outcome)
    }
}
