//! What bash does: each line runs in a folder of its own, and what is gone afterwards is compared with what was foretold.
//! No line names anything outside of that folder.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::disk_look::DiskLook;
use crate::consequence::{Consequence, Fact, FactKind};
use crate::interpreter::compute;
use crate::request::ConsequenceRequest;

pub(super) const FILES: [&str; 20] = [
    "build/a.o",
    "build/b.o",
    "build/sub/c.o",
    "src/main.c",
    "src/lib.c",
    "src/lib.h",
    "notes.txt",
    "todo.txt",
    "with space.txt",
    "-r",
    ".hidden",
    ".config/x",
    "data/x.csv",
    "data/y.csv",
    "data/z.txt",
    "deep/a/b/c.txt",
    "deep/a/d.txt",
    "home/file",
    "home/cache/k",
    "[odd]",
];

/// A folder with files, each of which holds its own name.
pub(super) struct Jail {
    folder: tempfile::TempDir,
}

/// What is at each path: the contents of a file, where a link leads, or nothing for a folder.
type Tree = BTreeMap<PathBuf, Option<String>>;

impl Jail {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let top = folder.path();
        for file in FILES {
            let path = top.join(file);
            fs::create_dir_all(path.parent().expect("above")).expect("a folder");
            fs::write(path, format!("<{file}>\n")).expect("a file");
        }
        fs::write(top.join("empty"), "").expect("a file");
        fs::create_dir(top.join("void")).expect("a folder");
        std::os::unix::fs::symlink("data", top.join("link")).expect("a link");
        std::os::unix::fs::symlink("notes.txt", top.join("filelink")).expect("a link");
        std::os::unix::fs::symlink("nowhere", top.join("dangling")).expect("a link");
        Self { folder }
    }

    fn top(&self) -> PathBuf {
        self.folder.path().canonicalize().expect("a path")
    }

    fn environment(&self) -> BTreeMap<String, String> {
        let home = self.top().join("home").display().to_string();
        [
            ("PATH", "/usr/bin:/bin"),
            ("HOME", &home),
            ("OUT", "build"),
            ("TWO", "notes.txt todo.txt"),
            ("PAT", "*.txt"),
            ("EMPTY", ""),
            ("LC_ALL", "C"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into()
    }

    pub(super) fn consequence(&self, line: &str) -> Consequence {
        compute(&request(line, &self.top(), Some(self.environment())), &DiskLook)
    }

    fn run(&self, line: &str) {
        let mut bash = Command::new("bash");
        bash.args(["--norc", "--noprofile", "-c", line]).current_dir(self.top()).env_clear();
        bash.envs(self.environment()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        bash.status().expect("bash runs");
    }

    fn tree(&self) -> Tree {
        let mut tree = Tree::new();
        let mut open = vec![self.top()];
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(&folder).expect("a folder").flatten() {
                let (path, kind) = (entry.path(), entry.file_type().expect("a type"));
                let holds = if kind.is_dir() {
                    open.push(path.clone());
                    None
                } else if kind.is_symlink() {
                    Some(format!("-> {}", fs::read_link(&path).expect("a link").display()))
                } else {
                    Some(String::from_utf8_lossy(&fs::read(&path).expect("a file")).into_owned())
                };
                tree.insert(path, holds);
            }
        }
        tree
    }
}

pub(super) fn request(
    line: &str,
    folder: &Path,
    environment: Option<BTreeMap<String, String>>,
) -> ConsequenceRequest {
    ConsequenceRequest {
        text: line.to_owned(),
        environment,
        folder: folder.to_owned(),
        workspace: folder.to_owned(),
        home: folder.join("home"),
        shell: "bash".to_owned(),
        is_login: false,
    }
}

/// How well a line was foretold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Foretold {
    Exactly,
    Perhaps,
    NotKnown,
}

/// Runs a line, and tells how well it was foretold; fails if something is missing, or said that was not so.
pub(super) fn verdict(line: &str) -> Result<Foretold, String> {
    let jail = Jail::new();
    let foretold = jail.consequence(line);
    let before = jail.tree();
    jail.run(line);
    let after = jail.tree();
    let kept: Vec<&String> = after.values().flatten().collect();
    let costs = |fact: &&Fact| matches!(fact.kind, FactKind::Deletes | FactKind::Overwrites);
    let facts: Vec<&Fact> = foretold.facts.iter().filter(costs).collect();
    let said = format!("{line:?}\n{:#?}", foretold.sentences());
    for (path, holds) in &before {
        let is_link = holds.as_ref().is_some_and(|holds| holds.starts_with("-> "));
        let is_lost = match holds {
            None => !after.contains_key(path),
            Some(_) if is_link => after.get(path) != Some(holds),
            Some(text) => !text.is_empty() && !kept.iter().any(|kept| kept.contains(text)),
        };
        let is_said = facts.iter().any(|fact| fact.paths.iter().any(|said| path.starts_with(said)));
        // A folder or a link that was moved is not lost; that it is elsewhere now is not looked for.
        let counts = holds.is_some() && !is_link;
        if is_lost && counts && !is_said && foretold.unknown.is_empty() {
            return Err(format!("{} is lost, and was not foretold: {said}", path.display()));
        }
    }
    for fact in facts.iter().filter(|fact| !fact.is_possible && foretold.unknown.is_empty()) {
        for said_path in &fact.paths {
            for (path, holds) in before.iter().filter(|(path, _)| path.starts_with(said_path)) {
                let is_kept = holds.is_some() && after.get(path) == Some(holds);
                if is_kept && holds.as_deref() != Some("") {
                    return Err(format!("{} is still there: {said}", path.display()));
                }
            }
        }
    }
    Ok(match (&foretold.unknown[..], facts.iter().any(|fact| fact.is_possible)) {
        ([], false) => Foretold::Exactly,
        ([], true) => Foretold::Perhaps,
        _ => Foretold::NotKnown,
    })
}
