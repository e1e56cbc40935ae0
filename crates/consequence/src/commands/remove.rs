//! Commands that delete files: `rm`, `unlink`, `rmdir`, `shred`.

use crate::changes::PlacedFile;
use crate::command_end::{CommandEnd, Outcome};
use crate::commands::loss::{Loss, LossVerb};
use crate::commands::options::SortedArguments;
use crate::fields::Argument;
use crate::interpreter::Interpreter;
use crate::look::FileKind;

impl Interpreter<'_> {
    /// Returns what an operand leads to. Ends the search with a note if that is not known.
    pub(crate) fn operand(&mut self, name: &str, operand: &Argument, follows: bool) -> Option<PlacedFile> {
        let Argument::Known(known) = operand else {
            self.not_known(format!("what {name} does with {}", operand.display_text()));
            return None;
        };
        if known.text.is_empty() {
            return None;
        }
        let Some(path) = self.full(&known.text) else {
            self.not_known(format!("what {name} does with {}, in a folder that is not known", known.text));
            return None;
        };
        let found = self.files.find(&path, follows || known.text.ends_with('/'));
        found.filter(|file| !known.text.ends_with('/') || file.is_folder())
    }

    pub(crate) fn rm(&mut self, arguments: &[Argument]) -> CommandEnd {
        let sorted = SortedArguments::of(arguments, "", &[]);
        if sorted.has(&["help", "version"]) {
            return CommandEnd::unknown();
        }
        let asks = sorted.has(&["i", "I", "interactive", "one-file-system"]);
        let mut outcome = Outcome::Likely;
        let mut loss = Loss::new(LossVerb::Deletes, asks);
        let mut emptied = Loss::new(LossVerb::Empties, asks);
        for operand in &sorted.operands {
            let change = self.rm_operand(&sorted, operand, asks, (&mut loss, &mut emptied));
            outcome = change.unwrap_or(outcome);
        }
        self.report(loss);
        self.report(emptied);
        if asks {
            outcome = Outcome::Unknown;
        }
        CommandEnd { outcome, output: (!asks).then(String::new) }
    }

    /// Goes through an operand of `rm`. Returns how the command ends because of it, if that differs.
    fn rm_operand(
        &mut self,
        options: &SortedArguments<'_>,
        operand: &Argument,
        asks: bool,
        (loss, emptied): (&mut Loss, &mut Loss),
    ) -> Option<Outcome> {
        let is_recursive = options.has(&["r", "R", "recursive"]);
        let text = operand.known_text().unwrap_or_default();
        let plain = text.trim_end_matches('/');
        let is_root = !text.is_empty() && plain.is_empty();
        if plain.rsplit('/').next().is_some_and(|last| matches!(last, "." | ".."))
            || (is_root && !options.has(&["no-preserve-root"]))
        {
            if is_root && is_recursive {
                self.warn("rm refuses to delete / (another rm than GNU's may not)".to_owned());
            }
            return Some(Outcome::Failure);
        }
        let Some(file) = self.operand("rm", operand, false) else {
            let is_known = operand.known_text().is_some() && self.state.folder.is_some();
            return match (is_known, options.has(&["f", "force"])) {
                (true, true) => None,
                (true, false) => Some(Outcome::Failure),
                (false, _) => Some(Outcome::Unknown),
            };
        };
        let is_kept = file.is_folder() && !is_recursive;
        if is_kept && (!options.has(&["d", "dir"]) || !self.files.names(&file.path).is_empty()) {
            return Some(Outcome::Failure);
        }
        let is_certain = !asks && !self.files.is_possible(&file.path);
        // With a slash behind it, what a link points to loses what is in it, and stays.
        let path = self.full(plain).filter(|_| text.ends_with('/'));
        let link = path.and_then(|path| self.files.find(&path, false));
        if let Argument::Known(known) = operand {
            self.widen(loss, known);
        }
        if link.is_some_and(|link| link.stat.kind == FileKind::Link) {
            self.warn(format!("{text} with its slash empties what the link points to"));
            for name in self.files.names(&file.path) {
                if let Some(inner) = self.files.at(&file.path.join(name)) {
                    self.rm_file(emptied, &inner, is_certain);
                }
            }
            return Some(Outcome::Unknown);
        }
        self.rm_file(loss, &file, is_certain);
        (!is_certain).then_some(Outcome::Unknown)
    }

    fn rm_file(&mut self, loss: &mut Loss, file: &PlacedFile, is_certain: bool) {
        self.lose(loss, file);
        if is_certain {
            self.files.remove(&file.path);
        }
    }

    pub(crate) fn rmdir(&mut self, arguments: &[Argument]) -> CommandEnd {
        let sorted = SortedArguments::of(arguments, "", &[]);
        let mut outcome = Outcome::Likely;
        let with_parents = sorted.has(&["p", "parents"]);
        for operand in sorted.operands {
            let Some(mut file) = self.operand("rmdir", operand, false) else {
                outcome = Outcome::Unknown;
                continue;
            };
            let mut levels = if with_parents {
                operand.known_text().map_or(1, |text| text.split('/').filter(|part| !part.is_empty()).count())
            } else {
                1
            };
            while levels > 0 {
                if !file.is_folder() || !self.files.names(&file.path).is_empty() {
                    outcome = Outcome::Failure;
                    break;
                }
                let mut loss = Loss::new(LossVerb::Deletes, false);
                if let Argument::Known(known) = operand {
                    self.widen(&mut loss, known);
                }
                self.lose(&mut loss, &file);
                self.report(loss);
                self.files.remove(&file.path);
                let Some(above) = file.path.parent().and_then(|above| self.files.at(above)) else { break };
                file = above;
                levels -= 1;
            }
        }
        CommandEnd::silent(outcome)
    }

    pub(crate) fn unlink(&mut self, arguments: &[Argument]) -> CommandEnd {
        let operands = SortedArguments::of(arguments, "", &[]).operands;
        let [operand] = operands[..] else { return CommandEnd::silent(Outcome::Failure) };
        match self.operand("unlink", operand, false) {
            Some(file) if !file.is_folder() => {
                let mut loss = Loss::new(LossVerb::Deletes, false);
                self.lose(&mut loss, &file);
                self.report(loss);
                self.files.remove(&file.path);
                CommandEnd::silent(Outcome::Likely)
            }
            Some(_) => CommandEnd::silent(Outcome::Failure),
            None => CommandEnd::silent(Outcome::Unknown),
        }
    }

    pub(crate) fn shred(&mut self, arguments: &[Argument]) -> CommandEnd {
        let sorted = SortedArguments::of(arguments, "ns", &["iterations", "size", "random-source"]);
        let removes = sorted.has(&["u", "remove"]);
        let verb = if removes { LossVerb::Deletes } else { LossVerb::Overwrites };
        let mut loss = Loss::new(verb, false);
        for operand in sorted.operands {
            if let Some(file) = self.operand("shred", operand, true)
                && !file.is_folder()
            {
                if let Argument::Known(known) = operand {
                    self.widen(&mut loss, known);
                }
                self.device(&file);
                self.lose(&mut loss, &file);
                if removes {
                    self.files.remove(&file.path);
                }
            }
        }
        self.report(loss);
        CommandEnd::silent(Outcome::Unknown)
    }
}
