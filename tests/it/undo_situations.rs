//! Situations in which somebody undoes a command: each has an exact result, or a refusal that names the file; nothing else
//! changes.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::{Path, PathBuf};

use pilothouse::ledger::{UndoMoment, plan};

use crate::ledger::{Ledger, by, has_git, write};
use crate::ledger_undo::{began, facts};

/// What is expected.
pub(crate) enum Expected {
    /// All is as before the command.
    Exact,
    /// Nothing is touched, and these words say why.
    Refused(&'static str),
}
pub(crate) use Expected::{Exact, Refused};

/// What keeps somebody busy with a file until the undo is over.
pub(crate) type Held = Box<dyn Any>;

/// A situation: the files, what the command does, what somebody else does then, and while the undo is under way.
pub(crate) struct Situation {
    pub(crate) what: &'static str,
    pub(crate) before: fn(&Path),
    pub(crate) command: fn(&Path),
    pub(crate) then: fn(&Path) -> Held,
    /// As soon as what is put back was begun.
    pub(crate) meanwhile: fn(&Path) -> Held,
    pub(crate) expected: Expected,
}

pub(crate) fn nothing(_: &Path) -> Held {
    Box::new(())
}

pub(crate) const fn situation(
    what: &'static str,
    before: fn(&Path),
    command: fn(&Path),
    then: fn(&Path) -> Held,
    expected: Expected,
) -> Situation {
    Situation { what, before, command, then, meanwhile: nothing, expected }
}

/// Everything in a tree: owner, permissions, attributes, and contents.
type Everything = BTreeMap<PathBuf, (u32, u32, u32, Vec<u8>)>;

fn everything(top: &Path) -> Everything {
    let (mut all, mut open) = (BTreeMap::new(), vec![top.to_owned()]);
    while let Some(path) = open.pop() {
        let facts = fs::symlink_metadata(&path).expect("facts");
        let mut held = match facts.file_type() {
            kind if kind.is_dir() => {
                open.extend(fs::read_dir(&path).expect("a folder").flatten().map(|entry| entry.path()));
                Vec::new()
            }
            kind if kind.is_symlink() => {
                fs::read_link(&path).expect("a link").into_os_string().into_encoded_bytes()
            }
            kind if kind.is_file() => fs::read(&path).expect("read"),
            _ => Vec::new(),
        };
        let mut names = vec![0; 4096];
        let length = rustix::fs::llistxattr(&path, &mut names[..]).unwrap_or(0);
        let names: BTreeSet<&[u8]> =
            names[..length].split(|byte| *byte == 0).filter(|name| !name.is_empty()).collect();
        for name in names {
            let mut value = vec![0; 4096];
            let length = rustix::fs::lgetxattr(&path, name, &mut value[..]).expect("a value");
            held.extend([name, &value[..length]].concat());
        }
        all.insert(path, (facts.mode(), facts.uid(), facts.gid(), held));
    }
    all
}

pub(crate) fn change(work: &Path) {
    write(&work.join("a"), "two\n");
}

pub(crate) fn one_file(work: &Path) {
    write(&work.join("a"), "one\n");
}

fn opened(path: &Path) -> File {
    File::options().read(true).write(true).open(path).expect("opened")
}

/// Maps a file for writing and closes it; the mapping stays until what is returned is dropped.
fn mapped(path: &Path) -> Held {
    let mut python = std::process::Command::new("python3");
    python
        .args(["-c", MAPS])
        .arg(path)
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped());
    let mut child = python.spawn().expect("python3 runs");
    let mut line = String::new();
    let stdout = child.stdout.take().expect("a pipe");
    std::io::BufRead::read_line(&mut std::io::BufReader::new(stdout), &mut line).expect("it is mapped");
    assert_eq!(line, "mapped\n");
    Box::new(Mapping(child))
}

const MAPS: &str = "import mmap, os, sys
fd = os.open(sys.argv[1], os.O_RDWR)
held = mmap.mmap(fd, 0)
os.close(fd)
print('mapped', flush=True)
sys.stdin.read()
held[0:1] = b'X'";

/// A process that has mapped a file, and writes to it when this is dropped.
struct Mapping(std::process::Child);

impl Drop for Mapping {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        self.0.wait().expect("it ends");
    }
}

/// A folder of somebody else, until this is dropped.
struct ForeignFolder(PathBuf);

impl Drop for ForeignFolder {
    fn drop(&mut self) {
        fs::remove_dir(&self.0).expect("it is still there");
    }
}

fn situations() -> Vec<Situation> {
    let mut all = vec![
        situation("a file was changed", one_file, change, nothing, Exact),
        situation(
            "a file was added, one removed, one renamed",
            |work| ["a", "b"].iter().for_each(|name| write(&work.join(name), name)),
            |work| {
                fs::remove_file(work.join("a")).expect("removed");
                fs::rename(work.join("b"), work.join("c")).expect("renamed");
                write(&work.join("new/d"), "d");
            },
            nothing,
            Exact,
        ),
        situation(
            "a file has another name in the tree",
            |work| {
                one_file(work);
                fs::hard_link(work.join("a"), work.join("b")).expect("linked");
            },
            change,
            nothing,
            Refused("a: it has 2 names"),
        ),
        situation(
            "a new file has another name outside",
            |_| (),
            |work| {
                one_file(work);
                fs::hard_link(work.join("a"), work.with_file_name("outside/linked")).expect("linked");
            },
            nothing,
            Refused("a: it has 2 names"),
        ),
        situation(
            "a program has the file open for writing",
            one_file,
            change,
            |work| Box::new(opened(&work.join("a"))),
            Refused("has it open for writing"),
        ),
        situation(
            "a server writes to its new log",
            |_| (),
            |work| write(&work.join("log"), "1\n"),
            |work| Box::new(File::options().append(true).open(work.join("log")).expect("opened")),
            Refused("log: "),
        ),
        situation(
            "a program only reads the file",
            one_file,
            change,
            |work| Box::new(File::open(work.join("a")).expect("opened")),
            Exact,
        ),
        situation(
            "a program has mapped the file and closed it",
            one_file,
            change,
            |work| mapped(&work.join("a")),
            Refused("has it open for writing, or mapped"),
        ),
        situation(
            "what was mapped was written to, with the times put back",
            one_file,
            change,
            |work| {
                let path = work.join("a");
                let time = fs::metadata(&path).and_then(|facts| facts.modified()).expect("a time");
                drop(mapped(&path));
                opened(&path).set_modified(time).expect("set");
                nothing(work)
            },
            Refused("a: it is no longer what the command left"),
        ),
        situation(
            "a link is in the file's place",
            one_file,
            change,
            |work| {
                fs::rename(work.join("a"), work.join("b")).expect("renamed");
                symlink("b", work.join("a")).expect("a link");
                nothing(work)
            },
            Refused("a: it is no longer what the command left"),
        ),
        situation(
            "a folder of a new file was moved, and a link leads to it",
            |_| (),
            |work| write(&work.join("d/new"), "1\n"),
            |work| {
                fs::rename(work.join("d"), work.join("e")).expect("renamed");
                symlink("e", work.join("d")).expect("a link");
                nothing(work)
            },
            Refused("d/new: a link is in its place"),
        ),
        situation(
            "a pipe is in the file's place",
            one_file,
            change,
            |work| {
                fs::remove_file(work.join("a")).expect("removed");
                let mode = rustix::fs::Mode::from_raw_mode(0o600);
                rustix::fs::mkfifoat(rustix::fs::CWD, work.join("a"), mode).expect("a pipe");
                nothing(work)
            },
            Refused("a: it is neither a file nor a link"),
        ),
        situation(
            "a folder is in the place of the removed file",
            one_file,
            |work| fs::remove_file(work.join("a")).expect("removed"),
            |work| {
                write(&work.join("a/b"), "1\n");
                nothing(work)
            },
            Refused("a: something else is in its place"),
        ),
        situation(
            "the command made a folder of a file",
            one_file,
            |work| {
                fs::remove_file(work.join("a")).expect("removed");
                write(&work.join("a/b/c"), "1\n");
            },
            nothing,
            Exact,
        ),
        situation(
            "the command made a file of a folder",
            |work| write(&work.join("a/b/c"), "1\n"),
            |work| {
                fs::remove_dir_all(work.join("a")).expect("removed");
                one_file(work);
            },
            nothing,
            Exact,
        ),
        situation(
            "the command made a link of a folder",
            |work| write(&work.join("a/b"), "1\n"),
            |work| {
                fs::remove_dir_all(work.join("a")).expect("removed");
                symlink("c", work.join("a")).expect("a link");
            },
            nothing,
            Exact,
        ),
        situation(
            "a link led elsewhere",
            |work| symlink("/etc/passwd", work.join("a")).expect("a link"),
            |work| {
                fs::remove_file(work.join("a")).expect("removed");
                symlink("/etc/shadow", work.join("a")).expect("a link");
            },
            nothing,
            Exact,
        ),
        situation(
            "a file was moved in from beside the workspace",
            |_| (),
            |work| {
                fs::rename(work.with_file_name("outside/old"), work.join("a")).expect("renamed");
            },
            nothing,
            Refused("a: it is older than the command"),
        ),
        situation(
            "a file was moved in from another file system",
            |_| (),
            |work| {
                fs::copy(work.with_file_name("outside/old"), work.join("a")).expect("copied");
            },
            nothing,
            Exact,
        ),
        situation(
            "somebody has put files where an undo keeps its own",
            one_file,
            change,
            |work| {
                write(&work.join(".pilothouse-undo/x"), "1\n");
                nothing(work)
            },
            Refused(".pilothouse-undo: somebody else has put it there"),
        ),
        situation(
            "a link is where an undo keeps its files",
            one_file,
            change,
            |work| {
                symlink(work.with_file_name("outside"), work.join(".pilothouse-undo")).expect("a link");
                nothing(work)
            },
            Refused("a link is in its place"),
        ),
    ];
    all.push(Situation {
        meanwhile: |work| Box::new(opened(&work.join("b"))),
        ..situation(
            "a program opens the file while the undo is under way",
            |work| ["a", "b", "c"].iter().for_each(|name| write(&work.join(name), "1")),
            |work| ["a", "b", "c"].iter().for_each(|name| write(&work.join(name), "2")),
            nothing,
            Refused("b: "),
        )
    });
    all.push(Situation {
        meanwhile: |work| {
            fs::create_dir(work.join("b")).expect("a folder");
            Box::new(ForeignFolder(work.join("b")))
        },
        ..situation(
            "a folder comes in the way while the undo is under way",
            |work| ["a", "b", "d/c"].iter().for_each(|name| write(&work.join(name), "1")),
            |work| {
                write(&work.join("a"), "2");
                write(&work.join("new/e"), "2");
                fs::remove_file(work.join("b")).expect("removed");
                fs::remove_dir_all(work.join("d")).expect("removed");
            },
            nothing,
            Refused("b: "),
        )
    });
    all
}

/// Does what a situation says; returns what was told.
fn go_through(situation: &Situation) -> Result<usize, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let ledger = Ledger::of(|work| {
        fs::create_dir(work.with_file_name("outside")).expect("a folder");
        write(&work.with_file_name("outside/old"), "old\n");
        (situation.before)(work);
    });
    let work = ledger.path("");
    let before = everything(&work);
    let first = runtime.block_on(ledger.take(None));
    let at = began();
    (situation.command)(&work);
    let second = runtime.block_on(ledger.take(Some(&first)));
    let held = (situation.then)(&work);
    let (left, outside) = (everything(&work), everything(&work.with_file_name("outside")));
    let facts = runtime.block_on(facts(&ledger, at, (&first, &second)));
    let planned = runtime.block_on(plan(&ledger.git, &facts, by())).map_err(|why| why.join("\n"));
    let mut also = None;
    let done = planned.and_then(|plan| {
        let come = &mut |_: &Path, moment| {
            if moment == UndoMoment::Begun && also.is_none() {
                also = Some((situation.meanwhile)(&work));
            }
        };
        plan.carry_out(come).map_err(|error| error.to_string())
    });
    drop(also);
    let expected = if done.is_ok() { before } else { left };
    assert_eq!(everything(&work), expected, "{}: {done:?}", situation.what);
    assert_eq!(everything(&work.with_file_name("outside")), outside, "{}", situation.what);
    drop(held);
    done
}

/// Goes through situations, each of which must have the result that it says.
pub(crate) fn go_through_all(situations: Vec<Situation>) {
    for situation in situations {
        let told = go_through(&situation);
        match (&situation.expected, &told) {
            (Exact, Ok(_)) => {}
            (Refused(words), Err(why)) if why.contains(words) => {}
            _ => panic!("{}: {told:?}", situation.what),
        }
    }
}

#[test]
fn each_situation_has_an_exact_result_or_a_named_refusal() {
    if has_git() {
        go_through_all(situations());
    }
}
