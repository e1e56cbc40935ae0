//! What a push takes from a remote repository, as it was when it was last fetched.

use crate::commands::git::GitPlace;
use crate::commands::git_history::commits;
use crate::commands::options::SortedArguments;
use crate::fields::Argument;
use crate::interpreter::Interpreter;
use crate::look::GitRefs;

/// Returns how long ago something was, in words.
fn ago(seconds: u64) -> String {
    match seconds {
        0..60 => "just now".to_owned(),
        60..3_600 => format!("{} min ago", seconds / 60),
        3_600..86_400 => format!("{} h ago", seconds / 3_600),
        _ => format!("{} days ago", seconds / 86_400),
    }
}

impl Interpreter<'_> {
    pub(super) fn git_push(&mut self, rest: &[Argument], place: &GitPlace, shown: &str) -> bool {
        let sorted = SortedArguments::of(rest, "o", &["push-option", "receive-pack", "exec", "repo"]);
        if sorted.has(&["n", "dry-run"]) {
            return true;
        }
        if sorted.has(&["mirror", "prune", "all", "branches"]) {
            self.elsewhere(format!("{shown}: replaces or deletes branches of the remote"), false);
            self.not_known("which commits the remote loses");
            return true;
        }
        let is_forced = sorted.has(&["f", "force", "force-with-lease", "force-if-includes"]);
        let deletes = sorted.has(&["d", "delete"]);
        let operands: Vec<&str> = sorted.operands.iter().filter_map(|operand| operand.known_text()).collect();
        let Some(refs) = self.files.look.git_refs(&place.top) else {
            self.elsewhere(format!("{shown}: replaces branches of the remote"), true);
            return true;
        };
        let remote = operands.first().copied().unwrap_or("origin");
        let mut specs: Vec<&str> = operands.iter().skip(1).copied().collect();
        if specs.is_empty() {
            specs.extend(refs.branch.as_deref());
        }
        for spec in specs {
            let forced = is_forced || spec.starts_with('+');
            let spec = spec.trim_start_matches('+');
            let (from, to) = match spec.split_once(':') {
                Some((from, to)) => (from, to),
                None if spec == "HEAD" => ("HEAD", refs.branch.as_deref().unwrap_or("HEAD")),
                None => (spec, spec),
            };
            let from = Some(from).filter(|from| !deletes && !from.is_empty());
            if from.is_none() || forced {
                let to = to.trim_start_matches("refs/heads/");
                let said = self.branch_loss(place, &refs, (from, to, remote));
                said.into_iter().for_each(|text| self.elsewhere(text, false));
            }
        }
        true
    }

    /// Returns what a branch of a remote loses that is replaced by another commit, or deleted if there is none; `None` if
    /// nothing is lost.
    fn branch_loss(
        &mut self,
        place: &GitPlace,
        refs: &GitRefs,
        (from, to, remote): (Option<&str>, &str, &str),
    ) -> Option<String> {
        let branches = format!("refs/remotes/{remote}/");
        let Some(there) = refs.all.get(&format!("{branches}{to}")) else {
            let what = if from.is_none() { "deletes" } else { "replaces" };
            return Some(format!(
                "{what} {to} at {remote}; it was never fetched, so what is lost is not known"
            ));
        };
        let mut kept: Vec<String> = refs
            .all
            .iter()
            .filter(|(name, _)| name.starts_with(&branches))
            .filter(|(name, _)| !name.ends_with(&format!("/{remote}/{to}")) && !name.ends_with("/HEAD"))
            .map(|(_, commit)| commit.clone())
            .collect();
        if let Some(from) = from {
            let Some(commit) = self.revision(place, from) else {
                return Some(format!("replaces {to} at {remote} by {from}, which is not known"));
            };
            kept.push(commit);
        }
        let age = refs.fetched.map_or("nobody knows when".to_owned(), ago);
        let lost = self.files.look.git_count(&place.top, std::slice::from_ref(there), &kept);
        Some(match (lost, from) {
            (Some(0), Some(_)) => return None,
            (Some(0), None) => {
                format!("deletes {to} at {remote}; its commits are on other branches there (fetched {age})")
            }
            (Some(lost), _) => {
                let what = if from.is_none() { format!("deletes {to}: ") } else { String::new() };
                format!("{what}{remote} loses {} of {to} (fetched {age})", commits(lost))
            }
            (None, _) => {
                format!("replaces or deletes {to} at {remote}; how many commits are lost is not known")
            }
        })
    }
}
