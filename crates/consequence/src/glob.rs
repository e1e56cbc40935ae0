//! Patterns against the files as the line has left them.

use std::path::PathBuf;

use crate::command_end::Flow;
use crate::fields::Field;
use crate::interpreter::Interpreter;
use crate::look::FileKind;
use crate::names::{path_of, text_of};
use crate::pattern::{self, PatternChar};
use crate::shell_state::Dialect;

/// How many comparisons of characters count as much as a byte that is made.
pub(crate) const COMPARED: usize = 16;
/// The most paths that one pattern is followed into.
const MOST_OPEN: usize = 20_000;

impl Interpreter<'_> {
    /// Returns the paths that match a pattern, as written in it, or what keeps them from being known.
    pub(crate) fn glob(&mut self, field: &Field) -> Result<Vec<String>, String> {
        let shown = pattern::text(field);
        let is_star = |two: &[PatternChar]| two == [('*', false), ('*', false)];
        if (self.state.has("globstar") || self.state.dialect == Dialect::Zsh) && field.windows(2).any(is_star)
        {
            return Err(format!("{shown}, with globstar"));
        }
        if self.state.has("nocaseglob") {
            return Err(format!("{shown}, with nocaseglob"));
        }
        let is_absolute = field.first().is_some_and(|(c, _)| *c == '/');
        let base = match (&self.state.folder, is_absolute) {
            (_, true) => PathBuf::from("/"),
            (Some(folder), false) => folder.clone(),
            (None, false) => return Err(format!("{shown}: in a folder that is not known")),
        };
        // Each is how the path is written so far.
        let mut found = vec![String::new()];
        let parts: Vec<&[PatternChar]> = field.split(|(c, _)| *c == '/').collect();
        for (at, part) in parts.iter().enumerate() {
            let is_last = at + 1 == parts.len();
            let mut next = Vec::new();
            for before in found {
                if next.len() > MOST_OPEN {
                    return Err(format!("{shown}, which matches too much"));
                }
                if !pattern::is_pattern(part) {
                    let path = format!("{before}{}", pattern::text(part));
                    let full = base.join(path_of(if path.is_empty() { "." } else { &path }));
                    let is_there = match is_last && !part.is_empty() {
                        true => self.files.find(&full, false).is_some(),
                        false => self.is_folder(&full),
                    };
                    if is_there || path.is_empty() {
                        next.push(if is_last { path } else { path + "/" });
                    }
                    continue;
                }
                let folder = base.join(path_of(if before.is_empty() { "." } else { &before }));
                let Some(folder) = self.files.resolve(&folder, true) else { continue };
                for name in self.files.names(&folder) {
                    let text = text_of(&name);
                    let is_hidden = text.starts_with('.')
                        && !self.state.has("dotglob")
                        && part.first().is_none_or(|(c, _)| *c != '.');
                    if is_hidden {
                        continue;
                    }
                    match self.fits(part, &text) {
                        None if self.flow != Flow::On => {
                            return Err(format!("{shown}, which takes too long to match"));
                        }
                        None => return Err(format!("{shown}, in a language that is not known")),
                        Some(false) => continue,
                        Some(true) => {}
                    }
                    let path = format!("{before}{text}");
                    if is_last {
                        next.push(path);
                    } else if self.is_folder(&base.join(path_of(&path))) {
                        next.push(path + "/");
                    }
                }
            }
            found = next;
        }
        found.retain(|path| !path.is_empty());
        Ok(found)
    }

    /// Tells whether all of a text matches a pattern; `None` if that takes too long, or is not computed.
    pub(crate) fn fits(&mut self, pattern: &[PatternChar], text: &str) -> Option<bool> {
        // In some languages, a character of several bytes is several characters.
        let is_open = pattern::is_odd(pattern)
            || (!text.is_ascii() && pattern.iter().any(|(c, quoted)| !quoted && matches!(c, '?' | '[')));
        (self.spend(text.len() * pattern.len() / COMPARED) && !is_open)
            .then(|| pattern::matches(pattern, text))
    }

    pub(crate) fn is_folder(&self, path: &std::path::Path) -> bool {
        self.files.find(path, true).is_some_and(|file| file.stat.kind == FileKind::Folder)
    }
}
