//! What is said about files and repositories that are only told of.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::jail::request;
use crate::consequence::{Class, Consequence};
use crate::interpreter::compute;
use crate::look::{FileKind, FileStat, GitFiles, GitRefs, Look, Unseen};
use crate::request::ConsequenceRequest;

/// Files as they are told: paths that end with `/` are folders.
struct ToldLook {
    files: BTreeMap<PathBuf, FileStat>,
    has_time: bool,
    git: Option<(GitFiles, GitRefs)>,
    /// A folder with this many files more.
    many: Option<(PathBuf, u64)>,
}

impl ToldLook {
    fn of(paths: &[&str]) -> Self {
        let mut files = BTreeMap::new();
        for path in paths {
            let kind = if path.ends_with('/') { FileKind::Folder } else { FileKind::File };
            for above in Path::new(path).ancestors().skip(1) {
                files.insert(above.to_owned(), FileStat { kind: FileKind::Folder, bytes: 0 });
            }
            files.insert(PathBuf::from(path.trim_end_matches('/')), FileStat { kind, bytes: 100 });
        }
        Self { files, has_time: true, git: None, many: None }
    }

    fn consequence(&self, line: &str) -> Consequence {
        let request = request(line, Path::new("/home/me/w"), Some(BTreeMap::new()));
        compute(&ConsequenceRequest { home: "/home/me".into(), ..request }, self)
    }

    fn say(&self, line: &str) -> Vec<String> {
        self.consequence(line).sentences()
    }
}

impl Look for ToldLook {
    fn stat(&self, path: &Path) -> Result<Option<FileStat>, Unseen> {
        if self.many.as_ref().is_some_and(|(folder, _)| path.parent() == Some(folder)) {
            return Ok(Some(FileStat { kind: FileKind::File, bytes: 1 }));
        }
        Ok(self.files.get(path).copied())
    }

    fn list(&self, path: &Path, each: &mut dyn FnMut(&OsStr) -> bool) -> Result<(), Unseen> {
        if let Some((_, count)) = self.many.as_ref().filter(|(folder, _)| folder == path) {
            for number in 0..*count {
                if !each(OsStr::new(&number.to_string())) {
                    return Ok(());
                }
            }
        }
        for known in self.files.keys().filter(|known| known.parent() == Some(path)) {
            if !each(known.file_name().unwrap_or_default()) {
                break;
            }
        }
        Ok(())
    }

    fn read_link(&self, _: &Path) -> Option<PathBuf> {
        None
    }

    fn has_time(&self) -> bool {
        self.has_time
    }

    fn git_files(&self, _: &Path) -> Option<GitFiles> {
        self.git.as_ref().map(|(files, _)| files.clone())
    }

    fn git_refs(&self, _: &Path) -> Option<GitRefs> {
        self.git.as_ref().map(|(_, refs)| refs.clone())
    }

    fn git_count(&self, _: &Path, from: &[String], without: &[String]) -> Option<u64> {
        Some(if without.iter().any(|commit| from.contains(commit)) { 0 } else { 3 })
    }
}

#[test]
fn a_variable_that_is_not_set_is_named_with_what_it_makes_of_the_pattern() {
    let look = ToldLook::of(&["/home/me/w/a", "/etc/passwd", "/usr/x"]);
    let found = look.consequence("rm -rf \"$DIR/\"*");
    assert_eq!(found.classes(), [Class::Unset, Class::Outside].into());
    assert_eq!(
        found.sentences(),
        [
            "$DIR is not set: \"$DIR/\"* means /*",
            "deletes 3 files, 300 bytes: /etc, /home, /usr; outside the workspace: /etc and 2 more",
        ]
    );
    let unset = compute(&request("rm -rf $DIR/*", Path::new("/home/me/w"), None), &look);
    assert_eq!(unset.sentences(), ["not known: what rm does with $DIR (the environment is not known here)"]);
}

#[test]
fn the_loss_by_a_command_is_told_in_a_sentence() {
    let look =
        ToldLook::of(&["/home/me/w/build/a", "/home/me/w/build/b", "/home/me/w/notes", "/home/me/data/x"]);
    assert_eq!(look.say("rm -rf build"), ["deletes 2 files, 200 bytes in build"]);
    assert_eq!(look.say("rm notes"), ["deletes notes (100 bytes)"]);
    assert_eq!(
        look.say("rm -r ~/data"),
        ["deletes 1 file, 100 bytes in ~/data; outside the workspace: ~/data"]
    );
    assert_eq!(look.say("ls && rm notes"), ["may delete notes (100 bytes)"]);
    assert_eq!(
        look.say("cd x; rm notes"),
        ["cd x fails, and what follows runs in /home/me/w", "deletes notes (100 bytes)"]
    );
    assert_eq!(look.say("make clean"), ["not known: what make clean does"]);
    assert_eq!(look.say("ls"), ["no cost computed"]);
    assert_eq!(
        look.say("curl x | sh"),
        ["not known: what curl x does", "not known: what sh runs: what it reads from curl x"]
    );
    assert_eq!(
        look.say("psql -c 'DROP TABLE users'"),
        ["psql -c DROP TABLE users: drops the table users; cannot be taken back"]
    );
}

#[test]
fn a_cost_says_that_a_folder_has_too_many_files_or_that_looking_took_too_long() {
    let mut look = ToldLook::of(&["/home/me/w/many/"]);
    look.many = Some((PathBuf::from("/home/me/w/many"), 1_000_000));
    let said = look.say("rm -rf many");
    assert!(said[0].starts_with("deletes more than 2"), "{said:?}");
    assert!(said.contains(&"not known: the rest: more than 20,000 paths to look at".to_owned()), "{said:?}");
    let said = look.say("rm many/*");
    assert!(said.contains(&"not known: the rest: more than 20,000 paths to look at".to_owned()), "{said:?}");
    look.has_time = false;
    let said = look.say("rm -rf many");
    assert!(said.contains(&"not known: the rest: looking took too long".to_owned()), "{said:?}");
}

#[test]
fn a_cost_says_that_text_is_too_long_and_nesting_up_to_the_limit_is_looked_through() {
    for open in ["(", "{", "$(", "`", "if ", "rm $("] {
        let said = ToldLook::of(&[]).say(&open.repeat((1 << 20) / open.len()));
        assert!(said[0].ends_with("it is too long to look through"), "{said:?}");
    }
    // As deep as it may be, in each of the forms that nest.
    let nest = |open: &str, close: &str| format!("{}rm x{}", open.repeat(90), close.repeat(90));
    for (open, close) in [
        ("( ", ")"),
        ("{ ", ";}"),
        ("echo $(", ")"),
        ("if ", ";then a;fi"),
        ("while ", ";do a;done"),
        ("f() { ", ";}"),
        ("eval ", ""),
        ("a=(", ")"),
        ("echo ${a:-", "}"),
        ("echo \"$(", ")\""),
        ("case a in a) ", ";;esac"),
    ] {
        let line = nest(open, close);
        let run = std::thread::Builder::new().stack_size(crate::STACK);
        run.spawn(move || ToldLook::of(&[]).say(&line)).expect("a thread").join().expect("it comes back");
    }
}

#[test]
fn values_that_grow_too_long_are_not_known() {
    let look = ToldLook::of(&["/home/me/w/a"]);
    let doubled = |times: usize, then: &str| look.say(&format!("v=a; {}{then}", "v=$v$v; ".repeat(times)));
    assert_eq!(doubled(16, "[ -n \"$v\" ] && rm a"), ["deletes a (100 bytes)"]);
    assert_eq!(doubled(17, "rm $v"), ["not known: what rm does with a text that is too long"]);
    assert_eq!(doubled(9, "v=${v//a/$v}; rm $v"), ["not known: what rm does with ${v/…}"]);
    // Whatever follows what is too deep is not reached.
    for calls in ["f() { f \"$1$1\"; }; f ab; rm a", "f() { f; }; f; rm a", "f() { f || rm a; }; f"] {
        assert_eq!(look.say(calls), ["not known: the rest: too much to look through"], "{calls}");
    }
    assert_eq!(look.say("echo {1..9}{1..9}{1..9}{1..9} | xargs rm")[0].get(..10), Some("not known:"));
}

fn repository() -> ToldLook {
    let mut look = ToldLook::of(&[
        "/home/me/w/.git/HEAD",
        "/home/me/w/a",
        "/home/me/w/b",
        "/home/me/w/new",
        "/home/me/w/out/x",
    ]);
    let paths = |names: &[&str]| names.iter().map(PathBuf::from).collect::<BTreeSet<_>>();
    let files = GitFiles { tracked: paths(&["a", "b"]), changed: paths(&["a"]), ignored: paths(&["out"]) };
    let all = [("refs/heads/main", "1"), ("refs/heads/old", "2"), ("refs/remotes/origin/main", "3")];
    let refs = GitRefs {
        branch: Some("main".into()),
        head: Some("1".into()),
        all: all.map(|(name, commit)| (name.to_owned(), commit.to_owned())).into(),
        fetched: Some(7_300),
        stashes: Some(2),
    };
    look.git = Some((files, refs));
    look
}

#[test]
fn a_cost_tells_the_git_state_of_files_and_the_commits_that_are_lost() {
    let look = repository();
    for (line, said) in [
        ("rm a", "deletes a (100 bytes) (with uncommitted changes)"),
        ("rm b", "deletes b (100 bytes) (as committed)"),
        ("rm new", "deletes new (100 bytes) (not tracked by git)"),
        ("rm -r out", "deletes 1 file, 100 bytes in out (ignored by git)"),
        (
            "rm a new b",
            "deletes 3 files, 300 bytes: a, new, b (1 with uncommitted changes, 1 not tracked by git)",
        ),
        ("rm -rf .git", "deletes 1 file, 100 bytes in .git (with the repository itself)"),
        (
            "rm -r \"$(git rev-parse --show-toplevel)\"/out",
            "deletes 1 file, 100 bytes in out (ignored by git)",
        ),
        ("git ls-files | xargs rm", "deletes 2 files, 200 bytes: a, b (1 with uncommitted changes)"),
        ("git reset --hard", "discards the uncommitted changes of 1 file: a"),
        ("git checkout -- .", "discards the uncommitted changes of 1 file: a"),
        ("git checkout b", "no cost computed"),
        ("git restore a", "discards the uncommitted changes of 1 file: a"),
        ("git restore --staged a", "no cost computed"),
        ("git rm b", "may delete b (100 bytes) (as committed)"),
        ("git clean -fd", "deletes new (100 bytes) (not tracked by git)"),
        ("git clean -fdx", "deletes 2 files, 200 bytes: new, out (1 not tracked by git, 1 ignored by git)"),
        ("git clean -n", "no cost computed"),
        ("git stash drop", "discards the newest stash"),
        ("git stash clear", "discards all 2 stashes"),
        ("git branch -D old", "deletes the branch old: 3 commits nowhere else"),
        ("git branch -d old", "no cost computed"),
        ("git push", "no cost computed"),
        ("git push -f", "origin loses 3 commits of main (fetched 2 h ago)"),
        ("git push origin +main", "origin loses 3 commits of main (fetched 2 h ago)"),
        ("git push origin :main", "deletes main: origin loses 3 commits of main (fetched 2 h ago)"),
        ("git push origin --delete main", "deletes main: origin loses 3 commits of main (fetched 2 h ago)"),
        ("git push -f other", "replaces main at other; it was never fetched, so what is lost is not known"),
        ("git status", "no cost computed"),
        ("git pull", "not known: what git pull does"),
    ] {
        assert_eq!(look.say(line), [said], "{line}");
    }
    assert_eq!(look.say("git reset --hard old")[1], "3 commits leave main, 3 of them nowhere else");
}

#[test]
fn a_git_command_with_an_option_outside_the_table_has_an_unknown_cost() {
    let look = repository();
    for line in [
        "git log -3 --oneline -- a",
        "git diff --stat HEAD~1",
        "git status -sb",
        "git fetch origin main",
        "git branch -vv",
        "git branch -m old new",
        "git stash list",
        "git stash show -p",
        "git tag -l",
        "git remote -v",
        "git config --get user.name",
        "git -c user.name=x commit -qm y",
        "EDITOR=true git commit --amend",
        "git checkout -b other",
        "git push -u origin main",
    ] {
        assert_eq!(look.say(line), ["no cost computed"], "{line}");
    }
    for line in [
        "git log --output=a",
        "git rev-list --output=a HEAD",
        "git stash show --output=a",
        "git grep -Orm x",
        "git branch -C main old",
        "git branch -f main old",
        "git fetch origin +main",
        "git fetch --force origin",
        "git fetch origin main:old",
        "git fetch --upload-pack=x origin",
        "git push --receive-pack=x",
        "git -c core.pager=x log",
        "git -c core.hooksPath=. commit -m x",
        "git -c alias.log='!x' log",
        "git --exec-path=. status",
        "git config alias.x '!rm a'",
        "git remote remove origin",
        "git notes remove",
        "git symbolic-ref HEAD refs/heads/x",
        "git tag -f x",
        "git clean -f new",
        "git clean -ffdx",
        "git checkout other -- new",
        "git restore --source=other new",
        "git switch old",
        "git init --template=x",
        "GIT_SSH_COMMAND=x git fetch",
        "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.sshCommand GIT_CONFIG_VALUE_0=x git fetch",
        "EDITOR='make it' git commit",
        "X=$(x); export EDITOR=$X; git commit",
    ] {
        assert!(
            look.say(line).iter().any(|said| said.starts_with("not known")),
            "{line}: {:?}",
            look.say(line)
        );
    }
    assert_eq!(look.say("EDITOR='rm b' git commit"), ["may delete b (100 bytes) (as committed)"]);
}

#[test]
fn other_shells_are_not_read_as_bash() {
    let look = ToldLook::of(&["/home/me/w/a", "/home/me/w/b", "/home/me/w/c/x.o"]);
    let say = |shell: &str, line: &str| {
        let request = request(line, Path::new("/home/me/w"), Some(BTreeMap::new()));
        compute(&ConsequenceRequest { home: "/home/me".into(), shell: shell.to_owned(), ..request }, &look)
            .sentences()
    };
    assert_eq!(
        say("zsh", "v=b; echo a | read v; rm $v"),
        ["not known: what rm does with $v (read from its input)"]
    );
    assert_eq!(say("zsh", "v=(a b); rm ${v[1]}"), ["not known: what rm does with ${v[…]}"]);
    assert_eq!(say("zsh", "rm **/*.o"), ["not known: what rm does with **/*.o, with globstar"]);
    assert_eq!(say("dash", "rm {a,b}")[0], "deletes 2 files, 200 bytes: a, b");
    assert_eq!(say("dash", "rm {a,b}")[1], "not known: whether this shell makes several words of {a,b}");
    assert_eq!(say("dash", "return; rm a"), ["may delete a (100 bytes)"]);
    assert_eq!(say("bash", "return; rm a"), ["deletes a (100 bytes)"]);
}
