//! What a push takes from a remote repository, as it was when it was last fetched.

use crate::commands::git::GitPlace;
use crate::commands::git_history::commits;
use crate::commands::options::SortedArguments;
use crate::fields::Argument;
use crate::interpreter::Interpreter;

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
        let here = refs.branch.clone();
        let mut specs: Vec<String> = operands.iter().skip(1).map(|spec| (*spec).to_owned()).collect();
        if specs.is_empty() {
            specs.extend(here.clone());
        }
        for spec in specs {
            let forced = is_forced || spec.starts_with('+');
            let spec = spec.trim_start_matches('+');
            let (from, to) = match spec.split_once(':') {
                Some((from, to)) => (from, to),
                None if spec == "HEAD" => ("HEAD", here.as_deref().unwrap_or("HEAD")),
                None => (spec, spec),
            };
            let is_gone = deletes || from.is_empty();
            if !is_gone && !forced {
                continue;
            }
            let to = to.trim_start_matches("refs/heads/");
            let there = refs.all.get(&format!("refs/remotes/{remote}/{to}"));
            let Some(there) = there else {
                let what = if is_gone { "deletes" } else { "replaces" };
                self.elsewhere(
                    format!("{what} {to} at {remote}; it was never fetched, so what is lost is not known"),
                    false,
                );
                continue;
            };
            let mut kept: Vec<String> = refs
                .all
                .iter()
                .filter(|(name, _)| name.starts_with(&format!("refs/remotes/{remote}/")))
                .filter(|(name, _)| !name.ends_with(&format!("/{remote}/{to}")) && !name.ends_with("/HEAD"))
                .map(|(_, commit)| commit.clone())
                .collect();
            if !is_gone {
                match self.revision(place, from) {
                    Some(commit) => kept.push(commit),
                    None => {
                        self.elsewhere(
                            format!("replaces {to} at {remote} by {from}, which is not known"),
                            false,
                        );
                        continue;
                    }
                }
            }
            let age = refs.fetched.map_or("nobody knows when".to_owned(), ago);
            let lost = self.files.look.git_count(&place.top, std::slice::from_ref(there), &kept);
            let text = match (lost, is_gone) {
                (Some(0), false) => continue,
                (Some(0), true) => format!(
                    "deletes {to} at {remote}; its commits are on other branches there (fetched {age})"
                ),
                (Some(lost), _) => {
                    let what = if is_gone { format!("deletes {to}: ") } else { String::new() };
                    format!("{what}{remote} loses {} of {to} (fetched {age})", commits(lost))
                }
                (None, _) => {
                    format!("replaces or deletes {to} at {remote}; how many commits are lost is not known")
                }
            };
            self.elsewhere(text, false);
        }
        true
    }
}
