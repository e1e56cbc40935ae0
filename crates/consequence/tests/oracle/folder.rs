//! A folder that a line may destroy: bash runs it there, and what is lost is told by what was in each file.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use pilothouse_consequence::{Consequence, ConsequenceRequest, FactKind, compute};

use crate::disk_look::DiskLook;

/// The programs that a line may start.
const PROGRAMS: &str = "bash sh cat cp date dd echo env false find git grep head ln ls mkdir mv nice printf pwd rm rmdir \
    sed seq sleep sort split tail tee test timeout touch tr true truncate uniq unlink wc xargs";
/// The files, each of which holds something of its own.
const FILES: [&str; 8] =
    ["notes.txt", "todo.txt", "src/a.c", "data/x", ".hidden", "home/file", "with space.txt", "data/y"];

/// A folder that is thrown away, and the only programs of the lines that run in it.
pub(crate) struct Folder {
    folder: tempfile::TempDir,
    top: PathBuf,
}

/// What a line has cost, and what was said of it.
pub(crate) struct Outcome {
    pub(crate) lost: Vec<PathBuf>,
    pub(crate) said: Consequence,
}

impl Outcome {
    /// Returns the first file that is lost although everything was known, and nothing said of it.
    pub(crate) fn silent(&self) -> Option<&Path> {
        let costs = |kind| matches!(kind, FactKind::Deletes | FactKind::Overwrites);
        let facts = self.said.facts.iter().filter(|fact| costs(fact.kind));
        let said: Vec<&PathBuf> = facts.flat_map(|fact| &fact.paths).collect();
        let mut lost = self.lost.iter().filter(|path| !said.iter().any(|said| path.starts_with(said)));
        lost.next().map(PathBuf::as_path).filter(|_| self.said.unknown.is_empty())
    }
}

impl Folder {
    /// Makes a folder; `None` if bash or a program that ends it is missing.
    pub(crate) fn new() -> Option<Self> {
        let folder = tempfile::tempdir().expect("a folder");
        let top = folder.path().canonicalize().expect("a path");
        for name in ["programs", "work"] {
            fs::create_dir(top.join(name)).expect("a folder");
        }
        for name in PROGRAMS.split_whitespace() {
            let found = ["/usr/bin", "/bin"].map(|place| Path::new(place).join(name));
            match found.into_iter().find(|path| path.exists()) {
                Some(path) => symlink(path, top.join("programs").join(name)).expect("a link"),
                None if matches!(name, "bash" | "timeout") => return None,
                None => {}
            }
        }
        Some(Self { folder, top })
    }

    fn work(&self) -> PathBuf {
        self.top.join("work")
    }

    fn fill(&self) {
        let work = self.work();
        let _ = fs::remove_dir_all(&work);
        let write = |name: &str, text: &str| {
            let path = work.join(name);
            fs::create_dir_all(path.parent().expect("above")).expect("a folder");
            fs::write(path, text).expect("a file");
        };
        FILES.iter().for_each(|file| write(file, &format!("<{file}> lorem ipsum\n")));
        write("list", "notes.txt\n");
        write("script", "rm -f notes.txt todo.txt\n");
        write("tools/ls", "#!/bin/sh\n: > notes.txt\n");
        fs::create_dir(work.join("void")).expect("a folder");
        symlink("data", work.join("link")).expect("a link");
        use std::os::unix::fs::PermissionsExt as _;
        for name in ["script", "tools/ls"] {
            fs::set_permissions(work.join(name), fs::Permissions::from_mode(0o755)).expect("executable");
        }
    }

    /// Returns what is in each file.
    fn texts(&self) -> BTreeMap<PathBuf, String> {
        let mut texts = BTreeMap::new();
        let mut open = vec![self.work()];
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                let kind = entry.file_type().expect("a type");
                if kind.is_dir() {
                    open.push(entry.path());
                } else if kind.is_file() {
                    let text = fs::read(entry.path()).expect("a file");
                    texts.insert(entry.path(), String::from_utf8_lossy(&text).into_owned());
                }
            }
        }
        texts
    }

    fn variables(&self) -> BTreeMap<String, String> {
        let variables = [
            ("PATH", self.top.join("programs")),
            ("HOME", self.work().join("home")),
            ("LC_ALL", PathBuf::from("C")),
            ("GIT_CONFIG_NOSYSTEM", PathBuf::from("1")),
            ("GIT_CEILING_DIRECTORIES", self.top.clone()),
        ];
        variables.map(|(name, value)| (name.to_owned(), value.display().to_string())).into()
    }

    /// Says what a line would cost.
    pub(crate) fn consequence(&self, line: &str) -> Consequence {
        let work = self.work();
        let request = ConsequenceRequest {
            text: line.to_owned(),
            environment: Some(self.variables()),
            folder: work.clone(),
            workspace: work.clone(),
            home: work.join("home"),
            shell: "bash".to_owned(),
            is_login: false,
        };
        compute(&request, &DiskLook)
    }

    /// Says what a line would cost, runs it, and tells what it has cost.
    pub(crate) fn run(&self, line: &str) -> Outcome {
        self.fill();
        let said = self.consequence(line);
        let before = self.texts();
        let mut bash = Command::new("timeout");
        bash.args(["-k", "1", "5", "bash", "--norc", "--noprofile", "-c", line])
            .current_dir(self.work())
            .env_clear();
        bash.envs(self.variables()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        bash.status().expect("bash runs");
        let after = self.texts();
        let is_lost = |(path, text): &(&PathBuf, &String)| {
            // What was moved, copied or added to is still there.
            !text.is_empty()
                && after.get(*path) != Some(*text)
                && !after.values().any(|kept| kept.contains(text.as_str()))
        };
        let lost = before.iter().filter(is_lost).map(|(path, _)| path.clone()).collect();
        Outcome { lost, said }
    }

    /// Tells whether nothing but the two folders is in the one that is thrown away.
    pub(crate) fn is_closed(&self) -> bool {
        fs::read_dir(self.folder.path()).expect("a folder").count() == 2
    }
}
