//! Patterns against the files as the line has left them.

use std::path::{Path, PathBuf};

use crate::command_end::Flow;
use crate::fields::Field;
use crate::interpreter::Interpreter;
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
        self.matching_paths(field).map_err(|why| format!("{}{why}", pattern::text(field)))
    }

    fn matching_paths(&mut self, field: &Field) -> Result<Vec<String>, &'static str> {
        let is_star = |two: &[PatternChar]| two == [('*', false), ('*', false)];
        if (self.state.has("globstar") || self.state.dialect == Dialect::Zsh) && field.windows(2).any(is_star)
        {
            return Err(", with globstar");
        }
        if self.state.has("nocaseglob") {
            return Err(", with nocaseglob");
        }
        let is_absolute = field.first().is_some_and(|(c, _)| *c == '/');
        let base = match (&self.state.folder, is_absolute) {
            (_, true) => PathBuf::from("/"),
            (Some(folder), false) => folder.clone(),
            (None, false) => return Err(": in a folder that is not known"),
        };
        let full = |path: &str| base.join(path_of(if path.is_empty() { "." } else { path }));
        // Each is how the path is written so far.
        let mut found = vec![String::new()];
        let parts: Vec<&[PatternChar]> = field.split(|(c, _)| *c == '/').collect();
        for (at, part) in parts.iter().enumerate() {
            let is_last = at + 1 == parts.len();
            let is_pattern = pattern::is_pattern(part);
            let mut next = Vec::new();
            for before in found {
                if next.len() > MOST_OPEN {
                    return Err(", which matches too much");
                }
                let names = match is_pattern {
                    true => self.matching_names(part, &full(&before))?,
                    false => vec![pattern::text(part)],
                };
                for name in names {
                    let path = format!("{before}{name}");
                    let is_there = match is_last && !part.is_empty() {
                        true => is_pattern || self.files.find(&full(&path), false).is_some(),
                        false => self.has_folder(&full(&path)),
                    };
                    if is_there || path.is_empty() {
                        next.push(if is_last { path } else { path + "/" });
                    }
                }
            }
            found = next;
        }
        found.retain(|path| !path.is_empty());
        Ok(found)
    }

    /// Returns the names in a folder that match a part of a pattern.
    fn matching_names(&mut self, part: &[PatternChar], folder: &Path) -> Result<Vec<String>, &'static str> {
        let Some(folder) = self.files.resolve(folder, true) else { return Ok(Vec::new()) };
        let takes_hidden = self.state.has("dotglob") || part.first().is_some_and(|(c, _)| *c == '.');
        let mut names: Vec<_> = self.files.names(&folder).iter().map(text_of).collect();
        names.retain(|name| takes_hidden || !name.starts_with('.'));
        let mut found = Vec::new();
        for name in names {
            match self.fits(part, &name) {
                None if self.flow != Flow::On => return Err(", which takes too long to match"),
                None => return Err(", in a language that is not known"),
                Some(is_match) => found.extend(is_match.then_some(name)),
            }
        }
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

    pub(crate) fn has_folder(&self, path: &Path) -> bool {
        self.files.find(path, true).is_some_and(|file| file.is_folder())
    }
}
