//! Commands and redirections that write to files: `>`, `tee`, `truncate`, `dd`, `sed -i`; and those that make new ones.

use std::collections::BTreeSet;
use std::path::Path;

use crate::changes::PlacedFile;
use crate::command_end::{CommandEnd, Outcome};
use crate::commands::loss::{Loss, LossVerb};
use crate::commands::options::SortedArguments;
use crate::consequence::{Class, Fact, FactKind};
use crate::fields::Argument;
use crate::interpreter::Interpreter;
use crate::look::FileKind;
use crate::names::shorten;
use crate::shell_state::Dialect;

/// How a redirection opens a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WriteMode {
    Replace,
    /// Also where existing files are protected.
    Force,
    Append,
    /// What is written replaces what is at its place.
    Inside,
}

impl Interpreter<'_> {
    /// Notes that a command writes to a device, and tells whether it does.
    pub(crate) fn device(&mut self, file: &PlacedFile) -> bool {
        let is_device = file.stat.kind == FileKind::Device;
        let name = file.path.to_string_lossy().into_owned();
        let harmless = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/ptmx"];
        let is_terminal = name.starts_with("/dev/tt") || name.starts_with("/dev/pts/");
        if is_device && !harmless.contains(&&*name) && !is_terminal {
            self.fact(Fact {
                kind: FactKind::Overwrites,
                is_possible: false,
                text: format!("writes to the device {name}"),
                classes: BTreeSet::from([Class::Outside]),
                files: 0,
                bytes: 0,
                paths: vec![file.path.clone()],
            });
        }
        is_device
    }

    /// Goes through writing to a file: what is in it is lost, unless the new is added. Tells whether it can be written.
    pub(crate) fn write_file(&mut self, path: &Path, appends: bool, is_possible: bool) -> bool {
        let Some(path) = self.files.resolve(path, true) else { return false };
        match self.files.at(&path) {
            Some(file) if file.is_folder() => false,
            Some(file) => {
                if !self.device(&file) && !appends && file.stat.kind == FileKind::File {
                    if file.stat.bytes > 0 {
                        let mut loss = Loss::new(LossVerb::Overwrites, is_possible);
                        self.lose(&mut loss, &file);
                        self.report(loss);
                    }
                    if !is_possible {
                        self.files.make(&path, FileKind::File, None, false);
                    }
                }
                true
            }
            None => {
                let is_there = path.parent().is_some_and(|above| self.has_folder(above));
                if is_there {
                    let is_possible = self.conditions > 0 && is_possible;
                    self.files.make(&path, FileKind::File, None, is_possible);
                }
                is_there
            }
        }
    }

    /// Goes through a redirection of output. Tells whether it can be made.
    pub(crate) fn write_to(&mut self, word: &str, mode: WriteMode) -> bool {
        let arguments = self.arguments_of([word]);
        let [argument] = &arguments[..] else {
            if self.state.dialect == Dialect::Zsh {
                self.not_known(format!("what is written to: {}", shorten(word)));
            }
            return self.state.dialect == Dialect::Zsh;
        };
        let Some(text) = argument.known_text() else {
            self.not_known(format!("what is written to: {}", argument.display_text()));
            return true;
        };
        if matches!(text, "/dev/stdout" | "/dev/stderr" | "/dev/null") || text.starts_with("/dev/fd/") {
            return true;
        }
        if text.starts_with("/dev/tcp/") || text.starts_with("/dev/udp/") || text.is_empty() {
            return !text.is_empty();
        }
        let Some(path) = self.full(text) else {
            self.not_known(format!("what is written to {text}, in a folder that is not known"));
            return true;
        };
        if self.state.has("noclobber")
            && mode == WriteMode::Replace
            && let Some(file) = self.files.find(&path, true).filter(|file| file.stat.kind == FileKind::File)
        {
            if self.files.is_possible(&file.path) {
                self.not_known(format!("whether {text} is there by then, and protected"));
            }
            return self.files.is_possible(&file.path);
        }
        self.write_file(&path, mode == WriteMode::Append, mode == WriteMode::Inside)
    }

    /// Goes through writing to each operand.
    pub(crate) fn write_operands(
        &mut self,
        name: &str,
        operands: &[&Argument],
        appends: bool,
        is_possible: bool,
    ) -> CommandEnd {
        let mut outcome = if operands.is_empty() { Outcome::Unknown } else { Outcome::Likely };
        for operand in operands {
            match (operand.known_text(), operand.known_text().and_then(|text| self.full(text))) {
                (Some(""), _) => outcome = Outcome::Failure,
                (Some(_), Some(path)) => {
                    if !self.write_file(&path, appends, is_possible) {
                        outcome = Outcome::Failure;
                    }
                }
                _ => self.not_known(format!("what {name} writes to: {}", operand.display_text())),
            }
        }
        CommandEnd { outcome, output: None }
    }

    pub(crate) fn tee(&mut self, arguments: &[Argument]) -> CommandEnd {
        let sorted = SortedArguments::of(arguments, "", &[]);
        let appends = sorted.has(&["a", "append"]);
        self.write_operands("tee", &sorted.operands, appends, false)
    }

    pub(crate) fn truncate(&mut self, arguments: &[Argument]) -> CommandEnd {
        let sorted = SortedArguments::of(arguments, "sr", &["size", "reference"]);
        let by_file = if sorted.has(&["r", "reference"]) { "as that of a file" } else { "?" };
        let size = sorted.value(&["s", "size"]).unwrap_or(by_file);
        let grows = size.starts_with(['+', '>', '%']);
        if size == "?" {
            return CommandEnd::unknown();
        }
        let is_empty = size.trim_start_matches('0').is_empty() && !sorted.has(&["r", "reference"]);
        let only_there = sorted.has(&["c", "no-create"]);
        let mut operands = sorted.operands;
        if only_there {
            let is_there = |operand: &&Argument| {
                operand
                    .known_text()
                    .and_then(|text| self.full(text))
                    .is_none_or(|path| self.files.find(&path, true).is_some())
            };
            operands.retain(is_there);
        }
        self.write_operands("truncate", &operands, grows, !is_empty)
    }

    pub(crate) fn dd(&mut self, arguments: &[Argument]) -> CommandEnd {
        for argument in arguments {
            match argument.known_text() {
                None => self.not_known(format!("what dd writes to: {}", argument.display_text())),
                Some(text) => {
                    if let Some(target) = text.strip_prefix("of=") {
                        let target = Argument::text(target);
                        self.write_operands("dd", &[&target], false, false);
                    }
                }
            }
        }
        CommandEnd { outcome: Outcome::Unknown, output: None }
    }

    pub(crate) fn make_files(&mut self, name: &str, arguments: &[Argument]) -> CommandEnd {
        let sorted = SortedArguments::of(arguments, "mdtr", &["mode", "date", "reference"]);
        let (kind, with_parents) = match name {
            "mkdir" => (FileKind::Folder, sorted.has(&["p", "parents"])),
            _ => (FileKind::File, false),
        };
        // A date or a mode that is wrong, or none at all, makes nothing.
        let may_fail =
            sorted.has(&["c", "d", "h", "m", "r", "t", "no-create", "no-dereference", "date", "mode"]);
        let may_fail = may_fail && !(name == "touch" && sorted.has(&["m"]));
        let mut outcome =
            if may_fail || sorted.operands.is_empty() { Outcome::Unknown } else { Outcome::Likely };
        for operand in &sorted.operands {
            if operand.known_text().is_none() {
                self.not_known(format!("what {name} makes: {}", operand.display_text()));
            }
            let path = operand.known_text().filter(|text| !text.is_empty()).and_then(|text| self.full(text));
            let follows = kind == FileKind::File;
            let Some(path) = path.and_then(|path| self.files.resolve(&path, follows)) else {
                outcome = Outcome::Unknown;
                continue;
            };
            if let Some(there) = self.files.find(&path, true).or_else(|| self.files.at(&path)) {
                if self.files.is_possible(&there.path) {
                    outcome = Outcome::Unknown;
                } else if kind == FileKind::Folder && !(with_parents && there.is_folder()) {
                    outcome = Outcome::Failure;
                }
                continue;
            }
            let mut missing: Vec<&Path> =
                path.ancestors().take_while(|above| self.files.at(above).is_none()).collect();
            let above = missing.last().and_then(|path| path.parent()).map(Path::to_owned);
            if (missing.len() > 1 && !with_parents) || !above.is_some_and(|above| self.has_folder(&above)) {
                outcome = Outcome::Failure;
                continue;
            }
            missing.reverse();
            for path in missing {
                self.files.make(path, kind, None, may_fail);
            }
        }
        CommandEnd::silent(outcome)
    }
}
