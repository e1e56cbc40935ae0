//! `git`: which of its commands discard changes in the files.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::command_end::{CommandEnd, Outcome};
use crate::commands::loss::{Loss, LossVerb, more_phrase, thousands};
use crate::commands::options::SortedArguments;
use crate::commands::table::KnownProgram;
use crate::consequence::{Class, Fact, FactKind};
use crate::fields::Argument;
use crate::interpreter::{EDITORS, Interpreter};
use crate::names::{path_of, shorten, text_of};
use crate::shell_state::Value;

/// Commands of git that discard nothing, told what the table allows.
const KEEPING: &str = " status log diff show add commit fetch remote rev-parse describe blame grep ls-tree ls-remote \
    cat-file shortlog config init clone version rev-list merge-base name-rev symbolic-ref check-ignore notes ";
/// Settings that start nothing.
const SETTINGS: [&str; 8] = [
    "user.",
    "color.",
    "advice.",
    "init.defaultbranch",
    "core.quotepath",
    "commit.gpgsign",
    "core.autocrlf",
    "log.",
];
/// Where a command of git works.
#[derive(Debug, Clone)]
pub(super) struct GitPlace {
    pub(super) folder: PathBuf,
    pub(super) top: PathBuf,
}

impl Interpreter<'_> {
    /// Goes through the options of git itself. Returns where its command is, and the folder it works in, if that is known.
    fn git_options(&mut self, arguments: &[Argument]) -> (usize, Option<PathBuf>) {
        let mut at = 0;
        let mut folder = self.state.folder.clone();
        let known = |at: usize| arguments.get(at).and_then(Argument::known_text);
        while let Some(text) = known(at).filter(|text| text.starts_with('-')) {
            at += 1;
            match text {
                "-C" => {
                    folder = folder.zip(known(at)).map(|(folder, to)| folder.join(path_of(to)));
                    at += 1;
                }
                "-c" => {
                    let setting = known(at).and_then(|text| text.split_once('='));
                    let (key, value) = setting.unwrap_or(("that is not known", ""));
                    self.git_setting(key, value);
                    at += 1;
                }
                "--no-pager" | "--no-optional-locks" | "-p" | "--paginate" | "--version" => {}
                _ => {
                    self.not_known(format!("what git does with {text}"));
                    folder = None;
                }
            }
        }
        (at, folder)
    }

    pub(crate) fn run_git(&mut self, arguments: &[Argument]) -> CommandEnd {
        let (at, folder) = self.git_options(arguments);
        self.git_editors();
        let rest = arguments.get(at..).unwrap_or_default();
        let Some((command, rest)) = rest.split_first() else { return CommandEnd::unknown() };
        let words: Vec<&str> = arguments.iter().map(Argument::display_text).take(6).collect();
        let shown = shorten(&format!("git {}", words.join(" ")));
        let name = command.known_text().unwrap_or_default().to_owned();
        let is_moved = ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"]
            .iter()
            .any(|name| self.state.variables.contains_key(*name));
        let folder = folder.filter(|_| !is_moved).and_then(|folder| self.files.resolve(&folder, true));
        let place = folder.and_then(|folder| {
            let top = self.top_of(&folder.join(".git"))?;
            Some(GitPlace { folder, top })
        });
        let both = format!("git {name} {}", rest.first().map_or("", Argument::display_text));
        let (known, told) = match KnownProgram::of(&both) {
            Some(known) => (Some(known), &rest[1..]),
            None => (KnownProgram::of(&format!("git {name}")), rest),
        };
        let is_keeping = KEEPING.contains(&format!(" {name} "));
        if known.is_some_and(|known| !known.takes(told, false)) || (is_keeping && known.is_none()) {
            return self.note_unknown(format!("what {shown} does"));
        }
        if is_keeping {
            return self.ask_git(&name, rest, place.as_ref());
        }
        let Some(place) = place else {
            return self.note_unknown(format!("what {shown} does"));
        };
        let is_known = rest.iter().all(|argument| argument.known_text().is_some());
        let done = match name.as_str() {
            _ if !is_known => false,
            "ls-files" => return self.git_ls_files(rest, &place),
            "reset" => self.git_reset(rest, &place),
            "checkout" | "switch" => self.git_checkout(&name, rest, &place),
            "restore" => self.git_restore(rest, &place),
            "rm" => self.git_rm(rest, &place),
            "clean" => self.git_clean(rest, &place),
            "push" => self.git_push(rest, &place, &shown),
            "branch" => self.git_branch(rest, &place),
            "stash" => self.git_stash(rest, &place),
            "tag" => {
                let deletes = SortedArguments::of(rest, "mF", &["message", "file"]).has(&["d", "delete"]);
                if deletes {
                    self.warn(format!("{shown}: the tag is gone"));
                }
                true
            }
            _ => false,
        };
        if !done {
            self.not_known(format!("what {shown} does"));
        }
        CommandEnd::unknown()
    }

    /// Goes through the editors that the line gives git, as if they were started for a message of its own.
    fn git_editors(&mut self) {
        let text = |shell: &Self, name: &str| match shell.state.get(name) {
            Some(Value::Text(text)) => text,
            _ => "that is not known".to_owned(),
        };
        for editor in self.editors.clone() {
            match editor {
                Some(editor) => self.git_setting(EDITORS[0], &editor),
                None => self.not_known("which editor git starts"),
            }
        }
        if self.is_by_line("GIT_CONFIG_COUNT") {
            let count = text(self, "GIT_CONFIG_COUNT").parse::<usize>().unwrap_or(usize::MAX);
            if count > 20 {
                self.not_known("which settings git is given");
            }
            for number in 0..count.min(20) {
                let (key, value) = (format!("GIT_CONFIG_KEY_{number}"), format!("GIT_CONFIG_VALUE_{number}"));
                let (key, value) = (text(self, &key), text(self, &value));
                self.git_setting(&key, &value);
            }
        }
    }

    /// Goes through what a setting of git starts.
    fn git_setting(&mut self, key: &str, value: &str) {
        if EDITORS.contains(&key) {
            self.branch(|shell| shell.in_subshell(|shell| shell.run_text(&format!("{value} /dev/null"))));
        } else if !SETTINGS.iter().any(|known| key.to_lowercase().starts_with(known)) {
            self.not_known(format!("what git does with {}", shorten(&format!("{key}={value}"))));
        }
    }

    fn ask_git(&mut self, name: &str, rest: &[Argument], place: Option<&GitPlace>) -> CommandEnd {
        let words: Option<Vec<&str>> = rest.iter().map(Argument::known_text).collect();
        match (name, words.as_deref(), place) {
            ("rev-parse", Some(["--show-toplevel"]), Some(place)) => {
                CommandEnd::with_output(Outcome::Success, text_of(&place.top) + "\n")
            }
            _ => CommandEnd::unknown(),
        }
    }

    fn git_ls_files(&mut self, rest: &[Argument], place: &GitPlace) -> CommandEnd {
        let is_plain =
            rest.iter().all(|argument| matches!(argument.known_text(), Some("-z" | "-c" | "--cached")));
        let end = if rest.iter().any(|argument| argument.known_text() == Some("-z")) { '\0' } else { '\n' };
        let Some(files) = self.git_files(&place.top).filter(|_| is_plain) else {
            return CommandEnd::unknown();
        };
        let below = place.folder.strip_prefix(&place.top).unwrap_or(Path::new(""));
        let names = files.tracked.iter().filter_map(|path| path.strip_prefix(below).ok());
        let text: String = names.map(|path| format!("{}{end}", text_of(path))).collect();
        CommandEnd::with_output(Outcome::Success, text)
    }

    /// Notes that files lose their uncommitted changes. `below` are the paths it is about, absolute; all if there are
    /// none.
    pub(super) fn discard_changes(&mut self, place: &GitPlace, below: &[PathBuf], is_possible: bool) {
        let Some(files) = self.git_files(&place.top) else {
            self.not_known("which uncommitted changes git discards");
            return;
        };
        let is_meant = |path: &PathBuf| below.is_empty() || below.iter().any(|below| path.starts_with(below));
        let changed: Vec<PathBuf> =
            files.changed.iter().map(|path| place.top.join(path)).filter(is_meant).collect();
        if changed.is_empty() {
            return;
        }
        let is_possible = is_possible || self.conditions > 0;
        let names: Vec<String> = changed.iter().take(3).map(|path| self.display_path(path)).collect();
        let more = more_phrase(changed.len().saturating_sub(3));
        let count = changed.len() as u64;
        let what = if count == 1 { "1 file".to_owned() } else { format!("{} files", thousands(count)) };
        let verb = if is_possible { "may discard" } else { "discards" };
        self.fact(Fact {
            kind: FactKind::Discards,
            is_possible,
            text: format!("{verb} the uncommitted changes of {what}: {}{more}", names.join(", ")),
            classes: BTreeSet::from([Class::Uncommitted]),
            files: count,
            bytes: 0,
            paths: changed,
        });
    }

    /// Returns the absolute paths of operands.
    pub(super) fn git_paths(&self, place: &GitPlace, operands: &[&Argument]) -> Vec<PathBuf> {
        let texts = operands.iter().filter_map(|operand| operand.known_text());
        let full = texts.filter_map(|text| {
            if text.starts_with(':') {
                return Some(place.top.clone());
            }
            // A pattern is widened to the folder it begins in.
            let plain = text.split(['*', '?', '[', ':']).next().unwrap_or_default();
            let plain = if plain.len() < text.len() {
                plain.rsplit_once('/').map_or("", |(above, _)| above)
            } else {
                text
            };
            self.files.resolve(&place.folder.join(path_of(plain)), false)
        });
        full.collect()
    }

    fn git_checkout(&mut self, name: &str, rest: &[Argument], place: &GitPlace) -> bool {
        let dashes = rest.iter().position(|argument| argument.known_text() == Some("--"));
        let sorted = SortedArguments::of(rest, "bBcC", &["orphan", "conflict"]);
        if sorted.has(&["p", "patch"]) {
            return false;
        }
        let force: &[&str] =
            if name == "switch" { &["f", "force", "discard-changes"] } else { &["f", "force"] };
        let paths: Vec<&Argument> = match dashes {
            Some(at) => rest[at + 1..].iter().collect(),
            None if name == "checkout" => sorted
                .operands
                .iter()
                .copied()
                .filter(|operand| {
                    let text = operand.known_text().unwrap_or_default();
                    self.revision(place, text).is_none()
                        && self.files.find(&place.folder.join(path_of(text)), false).is_some()
                })
                .collect(),
            None => Vec::new(),
        };
        let is_other =
            |operand: &&&Argument| operand.known_text().is_some_and(|text| !matches!(text, "HEAD" | "@"));
        let others = sorted.operands.iter().filter(is_other).count();
        if !paths.is_empty() {
            if dashes.map_or(others > paths.len(), |at| at > 0 && others > paths.len()) {
                self.not_known("which untracked files another commit replaces");
            }
            let paths = self.git_paths(place, &paths);
            self.discard_changes(place, &paths, false);
        } else if sorted.has(force) {
            self.discard_changes(place, &[], false);
            self.not_known("which untracked files another commit replaces");
        } else if sorted.has(&["B", "C", "orphan", "create", "ours", "theirs", "m", "p"]) {
            return sorted.has(&["orphan", "create"]);
        } else if others > 0 && !sorted.has(&["b", "c"]) {
            let head = self.revision(place, "HEAD");
            let is_here =
                |operand: &&Argument| head.is_some() && self.revision(place, operand.display_text()) == head;
            let stays = sorted.operands.iter().all(is_here);
            let has_ignored = self.git_files(&place.top).is_none_or(|files| !files.ignored.is_empty());
            if has_ignored && !stays {
                self.not_known("which ignored files another commit replaces");
            }
        }
        true
    }

    fn git_restore(&mut self, rest: &[Argument], place: &GitPlace) -> bool {
        let sorted = SortedArguments::of(rest, "s", &["source", "pathspec-from-file"]);
        if sorted.has(&["p", "patch", "pathspec-from-file"]) {
            return false;
        }
        let only_index = sorted.has(&["S", "staged"]) && !sorted.has(&["W", "worktree"]);
        if !only_index {
            if sorted.has(&["s", "source"]) {
                self.not_known("which untracked files another commit replaces");
            }
            let paths = self.git_paths(place, &sorted.operands);
            self.discard_changes(place, &paths, false);
        }
        true
    }

    fn git_rm(&mut self, rest: &[Argument], place: &GitPlace) -> bool {
        let sorted = SortedArguments::of(rest, "", &[]);
        if sorted.has(&["cached", "n", "dry-run"]) {
            return true;
        }
        let Some(files) = self.git_files(&place.top) else { return false };
        let below = self.git_paths(place, &sorted.operands);
        // What has changes is refused without -f.
        let mut loss = Loss::new(LossVerb::Deletes, !sorted.has(&["f", "force"]));
        for path in files.tracked.iter().map(|path| place.top.join(path)) {
            if below.iter().any(|below| path.starts_with(below))
                && let Some(file) = self.files.at(&path)
            {
                self.lose(&mut loss, &file);
            }
        }
        self.report(loss);
        true
    }

    fn git_clean(&mut self, rest: &[Argument], place: &GitPlace) -> bool {
        let sorted = SortedArguments::of(rest, "e", &["exclude"]);
        if sorted.has(&["n", "dry-run"]) {
            return true;
        }
        let is_twice = sorted.values(&["f", "force"]).len() > 1;
        if sorted.has(&["i", "interactive", "e", "exclude"]) || is_twice || !sorted.operands.is_empty() {
            return false;
        }
        let Some(files) = self.git_files(&place.top) else { return false };
        let (only_ignored, with_ignored) = (sorted.has(&["X"]), sorted.has(&["x", "X"]));
        let with_folders = sorted.has(&["d"]);
        // Without -f it does nothing, unless the user's settings say otherwise.
        let mut loss = Loss::new(LossVerb::Deletes, !sorted.has(&["f", "force"]));
        let mut open = vec![place.folder.clone()];
        while let Some(folder) = open.pop() {
            for name in self.files.names(&folder) {
                let path = folder.join(&name);
                let Ok(relative) = path.strip_prefix(&place.top).map(Path::to_owned) else { continue };
                if name == ".git" || files.tracked.contains(&relative) {
                    continue;
                }
                let Some(file) = self.files.at(&path) else { continue };
                let is_folder = file.is_folder();
                let has_tracked = is_folder
                    && files
                        .tracked
                        .range(relative.clone()..)
                        .next()
                        .is_some_and(|next| next.starts_with(&relative));
                let is_ignored = relative.ancestors().any(|above| files.ignored.contains(above));
                let has_ignored = is_folder
                    && files
                        .ignored
                        .range(relative.clone()..)
                        .next()
                        .is_some_and(|next| next.starts_with(&relative));
                if has_tracked || (is_folder && !is_ignored && has_ignored) {
                    open.push(path);
                    continue;
                }
                let is_kept = (is_ignored && !with_ignored)
                    || (!is_ignored && only_ignored)
                    || (is_folder && !with_folders && !is_ignored)
                    || (is_folder && self.files.at(&path.join(".git")).is_some());
                if !is_kept {
                    self.lose(&mut loss, &file);
                }
            }
        }
        self.report(loss);
        true
    }
}
