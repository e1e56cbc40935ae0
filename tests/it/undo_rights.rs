//! Situations in which a file that is put back has rights, a name or a place that not every file has: an owner, a list of
//! who may use it, a name that is no text, a disk that is full.

use std::ffi::OsStr;
use std::fs::{self, File, Permissions};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, lchown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::fs::{IFlags, XattrFlags, ioctl_getflags, ioctl_setflags, lsetxattr};
use serde_json::json;

use crate::ledger::{git, has_git, write};
use crate::ledger_undo::{home_with_ledger, undo_later, undoable, written_facts};
use crate::support::skip;
use crate::undo_situations::{
    Exact, Held, Refused, Situation, change, go_through_all, nothing, one_file, situation,
};

/// A user and a group that nobody is.
const SOMEBODY: u32 = 54_321;

fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("a mode");
}

fn chown(path: &Path) {
    lchown(path, Some(SOMEBODY), Some(SOMEBODY)).expect("an owner");
}

fn set(path: &Path, name: &str, value: &[u8]) {
    lsetxattr(path, name, value, XattrFlags::empty()).expect("an attribute");
}

fn remove(path: PathBuf) {
    fs::remove_file(path).expect("removed");
}

/// A list of who may use a file: its owner, SOMEBODY, its group, at most what the mask says, others.
fn list_of_rights(owner: u16, somebody: u16, mask: u16) -> Vec<u8> {
    const NOBODY: u32 = u32::MAX;
    let entries =
        [(1, owner, NOBODY), (2, somebody, SOMEBODY), (4, 0, NOBODY), (16, mask, NOBODY), (32, 0, NOBODY)];
    let mut list = 2_u32.to_le_bytes().to_vec();
    for (tag, rights, who) in entries {
        list.extend(u16::to_le_bytes(tag));
        list.extend(rights.to_le_bytes());
        list.extend(who.to_le_bytes());
    }
    list
}

const LIST: &str = "system.posix_acl_access";
const LIST_OF_NEW: &str = "system.posix_acl_default";

/// Replaces a file as many editors do: the new one has none of its rights.
fn replace(work: &Path) {
    write(&work.join("new"), "two\n");
    fs::rename(work.join("new"), work.join("a")).expect("renamed");
}

fn remove_a(work: &Path) {
    remove(work.join("a"));
}

/// A file or folder that nobody can change or remove until this is dropped.
struct Immutable(PathBuf);

fn set_immutable(path: &Path, is_so: bool) -> rustix::io::Result<()> {
    let file = File::open(path).expect("opened");
    let mut flags = ioctl_getflags(&file)?;
    flags.set(IFlags::IMMUTABLE, is_so);
    ioctl_setflags(&file, flags)
}

impl Immutable {
    fn held(path: PathBuf) -> Held {
        set_immutable(&path, true).expect("a flag");
        Box::new(Self(path))
    }
}

impl Drop for Immutable {
    fn drop(&mut self) {
        set_immutable(&self.0, false).expect("a flag");
    }
}

fn with_modes() -> Vec<Situation> {
    vec![
        situation(
            "files with unusual permissions were removed",
            |work| {
                for mode in [0o400, 0o600, 0o640, 0o664, 0o700, 0o4711, 0o2755, 0o1644] {
                    write(&work.join(format!("{mode:o}")), "one\n");
                    chmod(&work.join(format!("{mode:o}")), mode);
                }
            },
            |work| fs::read_dir(work).expect("a folder").flatten().for_each(|entry| remove(entry.path())),
            nothing,
            Exact,
        ),
        situation(
            "private folders were removed",
            |work| {
                write(&work.join("d/e/f/a"), "one\n");
                write(&work.join("d/e/b"), "one\n");
                [("d/e/f", 0o711), ("d/e", 0o2750), ("d", 0o700)]
                    .iter()
                    .for_each(|(name, mode)| chmod(&work.join(name), *mode));
            },
            |work| fs::remove_dir_all(work.join("d")).expect("removed"),
            nothing,
            Exact,
        ),
        situation(
            "a private folder was removed and is there again for everybody",
            |work| {
                write(&work.join("d/a"), "one\n");
                chmod(&work.join("d"), 0o700);
            },
            |work| {
                fs::remove_dir_all(work.join("d")).expect("removed");
                write(&work.join("d/b"), "two\n");
            },
            nothing,
            Exact,
        ),
        situation(
            "a file in a private folder was changed",
            |work| {
                write(&work.join("d/a"), "one\n");
                chmod(&work.join("d"), 0o700);
            },
            |work| write(&work.join("d/a"), "two\n"),
            nothing,
            Exact,
        ),
    ]
}

fn with_attributes() -> Vec<Situation> {
    fn noted(work: &Path) {
        one_file(work);
        set(&work.join("a"), "user.note", b"one");
        let no_text = lsetxattr(work.join("a"), &b"user.\xfe"[..], b"", XattrFlags::empty());
        no_text.expect("an attribute");
    }
    vec![
        situation("a file with attributes was changed", noted, change, nothing, Exact),
        situation("a file with attributes was replaced", noted, replace, nothing, Exact),
        situation("a file with attributes was removed", noted, remove_a, nothing, Exact),
        situation(
            "somebody gave the file an attribute after the command",
            one_file,
            change,
            |work| {
                set(&work.join("a"), "user.note", b"two");
                nothing(work)
            },
            Refused("a: it is no longer what the command left"),
        ),
        situation(
            "a folder with attributes was removed",
            |work| {
                write(&work.join("d/a"), "one\n");
                set(&work.join("d"), "user.note", b"one");
            },
            |work| fs::remove_dir_all(work.join("d")).expect("removed"),
            nothing,
            Exact,
        ),
    ]
}

fn with_lists_of_rights() -> Vec<Situation> {
    fn listed(work: &Path) {
        one_file(work);
        set(&work.join("a"), LIST, &list_of_rights(6, 6, 4));
    }
    fn inherited(work: &Path) {
        one_file(work);
        chmod(&work.join("a"), 0o600);
        write(&work.join("d/b"), "one\n");
        chmod(&work.join("d"), 0o700);
        set(work, LIST_OF_NEW, &list_of_rights(7, 7, 7));
    }
    vec![
        situation("somebody else may use the changed file", listed, change, nothing, Exact),
        situation("somebody else might use the replaced file", listed, replace, nothing, Exact),
        situation("somebody else might use the removed file", listed, remove_a, nothing, Exact),
        situation(
            "whoever may use new files may not use one that is older",
            inherited,
            |work| {
                remove_a(work);
                fs::remove_dir_all(work.join("d")).expect("removed");
                write(&work.join("c"), "new\n");
            },
            nothing,
            Exact,
        ),
        situation(
            "a folder that says who may use its files was removed",
            |work| {
                fs::create_dir(work.join("d")).expect("a folder");
                set(&work.join("d"), LIST_OF_NEW, &list_of_rights(7, 5, 5));
                write(&work.join("d/e/a"), "one\n");
                set(&work.join("d"), LIST, &list_of_rights(7, 5, 5));
            },
            |work| fs::remove_dir_all(work.join("d")).expect("removed"),
            nothing,
            Exact,
        ),
    ]
}

fn with_owners() -> Vec<Situation> {
    fn owned(work: &Path) {
        one_file(work);
        chown(&work.join("a"));
    }
    fn setuid(work: &Path) {
        owned(work);
        chmod(&work.join("a"), 0o6755);
    }
    vec![
        situation("a file of somebody else was changed", owned, change, nothing, Exact),
        situation("a file of somebody else was replaced", owned, replace, nothing, Exact),
        situation("a file of somebody else was removed", owned, remove_a, nothing, Exact),
        situation("a setuid file of somebody else was changed", setuid, change, nothing, Exact),
        situation("a setuid file of somebody else was replaced", setuid, replace, nothing, Exact),
        situation("a setuid file of somebody else was removed", setuid, remove_a, nothing, Exact),
        situation("a new file was given away", |_| (), setuid, nothing, Exact),
        situation(
            "a file was given to somebody else after the command",
            one_file,
            change,
            |work| {
                chown(&work.join("a"));
                nothing(work)
            },
            Refused("a: it is no longer what the command left"),
        ),
        situation(
            "a folder and a link of somebody else were removed",
            |work| {
                write(&work.join("d/a"), "one\n");
                symlink("a", work.join("d/b")).expect("a link");
                ["d/b", "d"].iter().for_each(|name| chown(&work.join(name)));
                chmod(&work.join("d"), 0o3770);
            },
            |work| fs::remove_dir_all(work.join("d")).expect("removed"),
            nothing,
            Exact,
        ),
        situation(
            "all files belong to somebody else",
            |work| {
                write(&work.join("d/a"), "one\n");
                one_file(work);
                ["a", "d/a", "d", ""].iter().for_each(|name| chown(&work.join(name)));
            },
            |work| {
                replace(work);
                fs::remove_dir_all(work.join("d")).expect("removed");
            },
            nothing,
            Exact,
        ),
        situation(
            "a program with capabilities was replaced",
            |work| {
                owned(work);
                let net_raw = [0x0200_0001_u32, 1 << 13, 0, 0, 0].map(u32::to_le_bytes).concat();
                set(&work.join("a"), "security.capability", &net_raw);
            },
            replace,
            nothing,
            Exact,
        ),
    ]
}

fn path(work: &Path, name: &[u8]) -> PathBuf {
    work.join(OsStr::from_bytes(name))
}

/// Names that git refuses unless it is told otherwise, and some that are no text.
const NAMES: [&[u8]; 10] = [
    b"git~1",
    b"GIT~1/a",
    b".git.",
    b".git ",
    b".git::$INDEX_ALLOCATION",
    b"a\\.git\\b",
    b"\xe2\x80\x8c.git",
    b"n\xff\n\x1b[1m",
    b"d\xc3/\xfe/a",
    b"-z",
];

fn with_names() -> Vec<Situation> {
    vec![
        situation(
            "files with any names were changed",
            |work| NAMES.iter().for_each(|name| write(&path(work, name), "one\n")),
            |work| NAMES.iter().for_each(|name| write(&path(work, name), "two\n")),
            nothing,
            Exact,
        ),
        situation(
            "files with any names were removed",
            |work| NAMES.iter().for_each(|name| write(&path(work, name), "one\n")),
            |work| NAMES.iter().for_each(|name| remove(path(work, name))),
            nothing,
            Exact,
        ),
        situation(
            "files with any names were added",
            |_| (),
            |work| NAMES.iter().for_each(|name| write(&path(work, name), "two\n")),
            nothing,
            Exact,
        ),
        situation(
            "a file whose name is no text has another name",
            |work| {
                write(&path(work, b"n\xff"), "one\n");
                fs::hard_link(path(work, b"n\xff"), work.join("b")).expect("linked");
            },
            |work| write(&path(work, b"n\xff"), "two\n"),
            nothing,
            Refused("n\\xff: it has 2 names"),
        ),
        situation(
            "a name that git takes from nobody, and another file",
            |work| {
                one_file(work);
                write(&work.join(".GIT/x"), "one\n");
            },
            |work| {
                change(work);
                write(&work.join(".GIT/x"), "two\n");
            },
            nothing,
            Refused(".GIT/x: no copy of it is kept"),
        ),
        situation(
            "a new file with a name that git takes from nobody",
            |_| (),
            |work| write(&work.join("d/.Git"), "two\n"),
            nothing,
            Refused("d/.Git: no copy of it is kept"),
        ),
        situation(
            "a link with a name that git takes for a file only",
            |work| symlink("x", work.join(".gitmodules")).expect("a link"),
            |work| {
                remove(work.join(".gitmodules"));
                symlink("longer", work.join(".gitmodules")).expect("a link");
            },
            nothing,
            Refused(".gitmodules: no copy of it is kept"),
        ),
    ]
}

fn with_ignored_files() -> Vec<Situation> {
    fn tracked(work: &Path) {
        git(work, &["init", "-q"]);
        write(&work.join(".gitignore"), "a\nbuild/\n");
        one_file(work);
        write(&work.join("build/kept/x"), "one\n");
        write(&work.join("build/not"), "one\n");
        git(work, &["add", "-f", ".gitignore", "a", "build/kept/x"]);
    }
    vec![
        situation(
            "files that are tracked though ignored were changed",
            tracked,
            |work| {
                change(work);
                write(&work.join("build/kept/x"), "two\n");
            },
            nothing,
            Exact,
        ),
        situation(
            "files that are tracked though ignored were removed",
            tracked,
            |work| {
                remove_a(work);
                fs::remove_dir_all(work.join("build/kept")).expect("removed");
            },
            nothing,
            Exact,
        ),
    ]
}

fn with_immutable_files() -> Vec<Situation> {
    let mut all = vec![
        situation(
            "one of six files is immutable",
            |work| (0..6).for_each(|n| write(&work.join(n.to_string()), "one\n")),
            |work| (0..6).for_each(|n| write(&work.join(n.to_string()), "two\n")),
            |work| Immutable::held(work.join("3")),
            Refused("3: it is immutable"),
        ),
        situation(
            "the folder of a file is immutable",
            |work| write(&work.join("d/a"), "one\n"),
            |work| {
                write(&work.join("d/a"), "two\n");
                one_file(work);
            },
            |work| Immutable::held(work.join("d")),
            Refused("d/a: its folder is immutable"),
        ),
    ];
    all.push(Situation {
        meanwhile: |work| Immutable::held(work.join("3")),
        ..situation(
            "one of six files becomes immutable while the undo is under way",
            |work| (0..6).for_each(|n| write(&work.join(n.to_string()), "one\n")),
            |work| (0..6).for_each(|n| write(&work.join(n.to_string()), "two\n")),
            nothing,
            Refused("3: "),
        )
    });
    all
}

/// Runs a program that must succeed.
fn run(program: &str, args: &[&str], path: &Path) {
    let done = Command::new(program).args(args).arg(path).status().expect("runs");
    assert!(done.success(), "{program} {args:?}");
}

/// A file that fills a disk until this is dropped.
struct Hog(PathBuf);

fn filled(disk: &Path) -> Held {
    use std::io::Write as _;
    let hog = disk.join("hog");
    let mut file = File::create(&hog).expect("created");
    while file.write(&[1; 4096]).is_ok_and(|bytes| bytes > 0) {}
    Box::new(Hog(hog))
}

impl Drop for Hog {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Situations for which file systems are mounted, in a namespace that ends with the process.
fn with_mounts() -> Vec<Situation> {
    const SMALL: [&str; 5] = ["-t", "tmpfs", "-o", "size=256k", "tmpfs"];
    fn mounted(work: &Path) {
        one_file(work);
        fs::create_dir(work.join("disk")).expect("a folder");
        run("mount", &SMALL, &work.join("disk"));
        ["x", "y"].iter().for_each(|name| write(&work.join("disk").join(name), &"one\n".repeat(10_000)));
    }
    fn change_all(work: &Path) {
        change(work);
        ["x", "y"].iter().for_each(|name| write(&work.join("disk").join(name), "two\n"));
    }
    let mut all = vec![
        situation("another disk is mounted below", mounted, change_all, nothing, Exact),
        situation(
            "the disk below became one that is only read",
            mounted,
            change_all,
            |work| {
                run("mount", &["-o", "remount,ro"], &work.join("disk"));
                nothing(work)
            },
            Refused("disk/x: its folder cannot be written to: Read-only file system"),
        ),
        situation(
            "the disk below is full",
            mounted,
            change_all,
            |work| filled(&work.join("disk")),
            Refused("disk/x: the disk has no room for it"),
        ),
        situation(
            "a file is mounted in the place of itself",
            one_file,
            change,
            |work| {
                let file = work.join("a");
                run("mount", &["--bind", file.to_str().expect("text")], &file);
                nothing(work)
            },
            Refused("a: something is mounted there"),
        ),
    ];
    all.push(Situation {
        meanwhile: |work| filled(&work.join("disk")),
        ..situation(
            "the disk below fills up while the undo is under way",
            mounted,
            change_all,
            nothing,
            Refused("No space left on device"),
        )
    });
    all
}

#[test]
fn rights_come_back_exactly_and_are_never_wider() {
    if !has_git() {
        return;
    }
    go_through_all(with_modes());
    let probe = tempfile::NamedTempFile::new().expect("a file");
    let can = |name: &str, value: &[u8]| lsetxattr(probe.path(), name, value, XattrFlags::empty()).is_ok();
    match can("user.note", b"one") {
        true => go_through_all(with_attributes()),
        false => skip("the file system keeps no attributes"),
    }
    match can(LIST, &list_of_rights(6, 4, 4)) {
        true => go_through_all(with_lists_of_rights()),
        false => skip("the file system keeps no lists of rights"),
    }
    match lchown(probe.path(), Some(SOMEBODY), Some(SOMEBODY)) {
        Ok(()) => go_through_all(with_owners()),
        Err(error) => skip(&format!("no file can be given away here: {error}")),
    }
}

#[test]
fn names_are_bytes_and_none_is_left_out_in_silence() {
    if has_git() {
        go_through_all(with_names());
    }
}

#[test]
fn a_tracked_but_ignored_file_is_put_back() {
    if has_git() {
        go_through_all(with_ignored_files());
    }
}

#[test]
fn a_file_that_cannot_be_exchanged_leaves_all_files_as_they_are() {
    if !has_git() {
        return;
    }
    let probe = tempfile::NamedTempFile::new().expect("a file");
    match set_immutable(probe.path(), true).and_then(|()| set_immutable(probe.path(), false)) {
        Ok(()) => go_through_all(with_immutable_files()),
        Err(error) => skip(&format!("no file can be made immutable here: {error}")),
    }
    let mut command = Command::new("unshare");
    command.args(["--mount", "--propagation", "private"]);
    if !rustix::process::geteuid().is_root() {
        command.arg("--map-root-user");
    }
    command.args(["sh", "-c", "mount -t tmpfs tmpfs /mnt || exit 99; TMPDIR=/mnt \"$@\"", "sh"]);
    command.arg(std::env::current_exe().expect("this test"));
    command.args([
        "--ignored",
        "--exact",
        "undo_rights::an_undo_with_mounts_is_exact_or_refused",
        "--test-threads=1",
    ]);
    let Ok(ended) = command.env(IN_NAMESPACE, "1").output() else { return skip("unshare is not installed") };
    let said = String::from_utf8_lossy(&ended.stdout);
    if !said.contains("running 1 test") {
        return skip("nothing can be mounted here");
    }
    assert!(
        ended.status.success() && said.contains("1 passed"),
        "{said} {}",
        String::from_utf8_lossy(&ended.stderr)
    );
}

/// Tells the next test that what it mounts is seen by nobody else.
const IN_NAMESPACE: &str = "PILOTHOUSE_TEST_IN_NAMESPACE";

#[test]
#[ignore = "run by the test above, in a namespace of its own"]
fn an_undo_with_mounts_is_exact_or_refused() {
    if std::env::var_os(IN_NAMESPACE).is_some() {
        go_through_all(with_mounts());
    }
}

/// The folder in which the next test is to undo something.
const UNDONE_IN: &str = "PILOTHOUSE_TEST_UNDONE_IN";

#[test]
#[ignore = "run by the next test, as another user"]
fn an_ordinary_user_undoes() {
    let Some(dir) = std::env::var_os(UNDONE_IN) else { return };
    eprintln!("told: {:?}", undo_later(Path::new(&dir), &mut |_, _| ()));
}

/// What is done to a tree.
type Change = fn(&Path);

#[test]
fn an_ordinary_user_gives_nobody_anything_that_was_not_theirs() {
    if !has_git() {
        return;
    }
    if !rustix::process::geteuid().is_root() {
        return skip("only root can leave files of several users");
    }
    let cases: [(&str, Change, &str); 3] = [
        (
            "of root",
            |path| lchown(path, Some(0), Some(0)).expect("an owner"),
            "a: it belonged to another user (0)",
        ),
        ("of root, setuid", |path| chmod(path, 0o4755), "a: it belonged to another user (0)"),
        (
            "of another group",
            |path| lchown(path, Some(SOMEBODY), Some(0)).expect("a group"),
            "a: it cannot have the owner",
        ),
    ];
    for (what, make, why) in cases {
        let dir = written_facts(
            |work| {
                one_file(work);
                write(&work.join("b"), "one\n");
                chown(&work.join("b"));
                make(&work.join("a"));
            },
            |work| {
                replace(work);
                write(&work.join("b"), "two\n");
                ["a", "b", ""].iter().for_each(|name| chown(&work.join(name)));
            },
        );
        run("chown", &["-R", "54321:54321"], &dir.path().join("ledger"));
        chown(dir.path());
        let mut command = Command::new("setpriv");
        command.args(["--reuid=54321", "--regid=54321", "--clear-groups"]);
        command.arg(std::env::current_exe().expect("this test"));
        command.args(["--ignored", "--exact", "undo_rights::an_ordinary_user_undoes", "--nocapture"]);
        let Ok(ended) = command.env(UNDONE_IN, dir.path()).output() else {
            return skip("setpriv is not installed");
        };
        let told = String::from_utf8_lossy(&ended.stderr);
        if !told.contains("told: ") {
            return skip("an ordinary user cannot run this test");
        }
        assert!(told.contains(why), "{what}: {told}");
        for name in ["a", "b"] {
            assert_eq!(
                fs::read_to_string(dir.path().join("work").join(name)).expect("there"),
                "two\n",
                "{what}"
            );
        }
        assert!(!dir.path().join("work/.pilothouse-undo").exists(), "{what}");
    }
}

#[test]
fn a_command_with_names_that_are_no_text_and_ignored_files_is_listed_and_undone() {
    if !has_git() {
        return;
    }
    let home = home_with_ledger();
    let work = home.workspace();
    git(&work, &["init", "-q"]);
    write(&work.join(".gitignore"), "build/\n");
    write(&work.join("build/kept"), "one\n");
    git(&work, &["add", "-f", "build/kept"]);
    let mut served = home.serve();
    let name = "$(printf 'n\\377')";
    let task = undoable(&home, &format!("echo new > \"{name}\"; echo two > build/kept; echo new > 'git~1'"));
    let told = home.run(&["task", "undo", &task, "--dry-run", "--output", "json"]);
    let told: serde_json::Value = serde_json::from_slice(&told.stdout).expect("JSON");
    let files = json!(["remove n\\xff", "remove git~1", "put back build/kept"]);
    assert_eq!(told["data"]["files"], files, "{told}");
    let done = home.run(&["task", "undo", &task]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert_eq!(fs::read_to_string(work.join("build/kept")).expect("there"), "one\n");
    assert!(!path(&work, b"n\xff").exists() && !work.join("git~1").exists());
    home.stop(&mut served);
}
