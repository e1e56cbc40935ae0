//! Commits and stashes that git gives up: `reset`, `branch -D`, `stash drop`.

use std::collections::BTreeSet;

use crate::commands::git::GitPlace;
use crate::commands::loss::thousands;
use crate::commands::options::SortedArguments;
use crate::consequence::{Class, Fact, FactKind};
use crate::fields::Argument;
use crate::interpreter::Interpreter;
use crate::look::GitRefs;

/// Returns a number of commits in words.
pub(super) fn commits(count: u64) -> String {
    if count == 1 { "1 commit".to_owned() } else { format!("{} commits", thousands(count)) }
}

impl Interpreter<'_> {
    fn git_refs(&self, place: &GitPlace) -> Option<GitRefs> {
        self.files.look.git_refs(&place.top)
    }

    /// Returns a revision with its name replaced by its commit, as `1234…~2`.
    pub(super) fn revision(&self, place: &GitPlace, text: &str) -> Option<String> {
        let refs = self.git_refs(place)?;
        let end = text.find(['~', '^']).unwrap_or(text.len());
        let (name, steps) = text.split_at(end);
        if !steps.chars().all(|c| c.is_ascii_digit() || matches!(c, '~' | '^')) {
            return None;
        }
        let commit = match name {
            "HEAD" | "@" => refs.head.clone(),
            _ => ["", "refs/", "refs/tags/", "refs/heads/", "refs/remotes/"]
                .iter()
                .find_map(|before| refs.all.get(&format!("{before}{name}")).cloned()),
        };
        let is_hash = name.len() == 40 && name.chars().all(|c| c.is_ascii_hexdigit());
        let commit = commit.or_else(|| is_hash.then(|| name.to_owned()))?;
        Some(commit + steps)
    }

    /// Notes a loss that is not one of files.
    pub(super) fn discard(&mut self, text: String, class: Option<Class>) {
        let is_possible = self.conditions > 0;
        let text = if is_possible { format!("may happen: {text}") } else { text };
        let kind = FactKind::Discards;
        let classes: BTreeSet<Class> = class.into_iter().collect();
        self.fact(Fact { kind, is_possible, text, classes, files: 0, bytes: 0, paths: Vec::new() });
    }

    pub(super) fn git_reset(&mut self, rest: &[Argument], place: &GitPlace) -> bool {
        let sorted = SortedArguments::of(rest, "", &[]);
        let is_hard = sorted.has(&["hard"]);
        if sorted.has(&["merge", "keep", "p", "patch"]) {
            return false;
        }
        if is_hard {
            self.discard_changes(place, &[], false);
        }
        let target = sorted.operands.first().and_then(|operand| operand.known_text()).unwrap_or("HEAD");
        if target == "HEAD" || (!is_hard && sorted.operands.len() > 1) {
            return true;
        }
        let refs = self.git_refs(place);
        let (Some(to), Some(refs)) = (self.revision(place, target), refs) else {
            if is_hard {
                self.not_known(format!("which commits leave the branch: {target}"));
            }
            return true;
        };
        let Some(head) = refs.head.clone() else { return true };
        let Some(left) =
            self.files.look.git_count(&place.top, std::slice::from_ref(&head), std::slice::from_ref(&to))
        else {
            self.not_known(format!("which commits leave the branch: {target}"));
            return true;
        };
        if left == 0 {
            return true;
        }
        let branch = refs.branch.clone().unwrap_or_else(|| "HEAD".to_owned());
        let own = format!("refs/heads/{branch}");
        let mut others: Vec<String> =
            refs.all.iter().filter(|(name, _)| **name != own).map(|(_, commit)| commit.clone()).collect();
        others.push(to);
        let only = self.files.look.git_count(&place.top, &[head], &others);
        let (text, class) = match only {
            Some(0) => ("all of them on other branches".to_owned(), None),
            Some(only) => (format!("{} of them nowhere else", thousands(only)), Some(Class::Uncommitted)),
            None => ("it is not known whether they are anywhere else".to_owned(), Some(Class::Uncommitted)),
        };
        self.discard(
            format!("{} {} {branch}, {text}", commits(left), if left == 1 { "leaves" } else { "leave" }),
            class,
        );
        true
    }

    pub(super) fn git_branch(&mut self, rest: &[Argument], place: &GitPlace) -> bool {
        let sorted = SortedArguments::of(rest, "ut", &["set-upstream-to"]);
        if sorted.has(&["M", "C", "f", "force"]) && !sorted.has(&["d", "delete", "D"]) {
            return false;
        }
        let is_forced = sorted.has(&["D"]) || (sorted.has(&["d", "delete"]) && sorted.has(&["f", "force"]));
        if !is_forced {
            return true;
        }
        let Some(refs) = self.git_refs(place) else { return false };
        let space = if sorted.has(&["r", "remotes"]) { "refs/remotes/" } else { "refs/heads/" };
        for name in sorted.operands.iter().filter_map(|operand| operand.known_text()) {
            let full = format!("{space}{name}");
            let Some(commit) = refs.all.get(&full) else {
                self.not_known(format!("what is on the branch {name}"));
                continue;
            };
            let mut others: Vec<String> = refs
                .all
                .iter()
                .filter(|(other, _)| **other != full)
                .map(|(_, commit)| commit.clone())
                .collect();
            others.extend(refs.head.clone());
            match self.files.look.git_count(&place.top, std::slice::from_ref(commit), &others) {
                Some(0) => {
                    self.discard(format!("deletes the branch {name}; its commits are on others"), None)
                }
                Some(only) => {
                    let text = format!("deletes the branch {name}: {} nowhere else", commits(only));
                    self.discard(text, Some(Class::Uncommitted));
                }
                None => {
                    self.discard(format!("deletes the branch {name}"), Some(Class::Uncommitted));
                    self.not_known(format!("whether the commits of {name} are on other branches"));
                }
            }
        }
        true
    }

    pub(super) fn git_stash(&mut self, rest: &[Argument], place: &GitPlace) -> bool {
        let stashes = self.git_refs(place).and_then(|refs| refs.stashes);
        match rest.first().and_then(Argument::known_text) {
            Some("list" | "show") => true,
            Some("clear") if stashes == Some(0) => true,
            Some("clear") => {
                let what = match stashes {
                    Some(1) => "the only stash".to_owned(),
                    Some(count) => format!("all {} stashes", thousands(count)),
                    None => "all stashes".to_owned(),
                };
                self.discard(format!("discards {what}"), Some(Class::Uncommitted));
                true
            }
            Some("drop") if stashes == Some(0) => true,
            Some("drop") => {
                let which = rest
                    .get(1)
                    .map_or("the newest stash".to_owned(), |one| format!("the stash {}", one.display_text()));
                self.discard(format!("discards {which}"), Some(Class::Uncommitted));
                true
            }
            _ => false,
        }
    }
}
