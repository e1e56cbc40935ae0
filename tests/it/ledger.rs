//! The ledger: what differs in the tree is found, nothing that is planted in a repository is started, and nothing
//! that was ignored or looks like a secret is read.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use proptest::prelude::*;
use tempfile::TempDir;
use tokio::time::Instant;

use pilothouse::ledger::{
    ComingStarts, Found, PrivateGit, RepositoryFiles, SnapshotBounds, TrackedFiles, TreeSnapshot, TreeWatch,
    count, difference, find_git, report, take,
};
use pilothouse::model::TreeChanges;

use crate::support::{PATIENCE, skip, state, wait_until, write_program};

/// A tree with a ledger, outside of any runtime.
pub(crate) struct Ledger {
    dir: TempDir,
    pub(crate) git: PrivateGit,
}

pub(crate) fn by() -> Instant {
    Instant::now() + PATIENCE
}

/// Runs the user's own git.
pub(crate) fn git(folder: &Path, args: &[&str]) {
    let mut command = Command::new("git");
    command.current_dir(folder).args([
        "-c",
        "user.name=a",
        "-c",
        "user.email=a@b",
        "-c",
        "init.defaultBranch=main",
    ]);
    let ended = command.args(args).output().expect("git runs");
    assert!(ended.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&ended.stderr));
}

/// Returns whether git is installed; says so if it is not.
pub(crate) fn has_git() -> bool {
    let found = find_git(&std::env::var_os("PATH").unwrap_or_default(), Path::new("/nowhere")).is_some();
    if !found {
        skip("git is not installed");
    }
    found
}

impl Ledger {
    /// Opens a ledger of the folder `work`, which `make` makes.
    pub(crate) fn of(make: impl FnOnce(&Path)) -> Self {
        let dir = tempfile::tempdir().expect("temp dir");
        let work = dir.path().join("work");
        fs::create_dir(&work).expect("a folder");
        make(&work);
        Self::open(dir, &work)
    }

    fn open(dir: TempDir, work: &Path) -> Self {
        let program = find_git(&std::env::var_os("PATH").unwrap_or_default(), work).expect("git");
        let repository = RepositoryFiles::find(work);
        let folder = dir.path().join("ledger");
        let git = PrivateGit::create(program, folder, work.to_owned(), repository.as_ref(), b"*.global\n");
        Self { git: git.expect("created"), dir }
    }

    fn bounds(&self) -> SnapshotBounds {
        let without = self.dir.path().join("recordings");
        SnapshotBounds { without, plain: None, salt: [7; 16], tracked: Default::default() }
    }

    pub(crate) async fn take(&self, before: Option<&TreeSnapshot>) -> TreeSnapshot {
        let repository = RepositoryFiles::find(&self.path(""));
        let tracked = TrackedFiles::list(&self.git, repository.as_ref(), by()).await.paths;
        let bounds = SnapshotBounds { tracked, ..self.bounds() };
        take(&self.git, before, None, &bounds, by()).await.expect("a snapshot")
    }

    pub(crate) async fn between(&self, old: &TreeSnapshot, new: &TreeSnapshot) -> Found {
        difference(&self.git, old, new, by()).await.expect("a difference")
    }

    pub(crate) fn into_dir(self) -> TempDir {
        self.dir
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join("work").join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        write(&self.path(name), text);
    }

    /// Tells whether the ledger holds this text.
    async fn holds(&self, text: &str) -> bool {
        let id = self.git.run(&["hash-object", "--no-filters", "--stdin"], text.as_bytes(), by()).await;
        let id = String::from_utf8(id.expect("an id")).expect("text");
        self.git.run(&["cat-file", "-e", id.trim()], b"", by()).await.is_ok()
    }
}

pub(crate) fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
    fs::write(path, text).expect("written");
}

fn names(found: &Found) -> Vec<String> {
    let mark = |file: &pilothouse::ledger::FileDifference| match (&file.old, &file.new) {
        (None, _) => '+',
        (_, None) => '-',
        _ => '~',
    };
    found.iter().map(|(path, file)| format!("{}{}", mark(file), path.display())).collect()
}

/// Plants programs wherever a repository can name one; each writes to `started`.
pub(crate) fn plant(work: &Path, started: &Path) {
    let evil = work.join("evil.sh");
    write_program(&evil, &format!("#!/bin/sh\necho \"$0 $*\" >> {}\ncat\n", started.display()));
    let evil = evil.display();
    fs::create_dir_all(work.join("hooks")).expect("a folder");
    for hook in
        ["post-index-change", "pre-commit", "post-checkout", "reference-transaction", "fsmonitor-watchman"]
    {
        write_program(
            &work.join("hooks").join(hook),
            &format!("#!/bin/sh\necho {hook} >> {}\n", started.display()),
        );
    }
    write(&work.join("more.config"), &format!("[core]\n\tfsmonitor = {evil}\n[diff]\n\texternal = {evil}\n"));
    let config = format!(
        "[core]\n\tfsmonitor = {evil}\n\tsshCommand = {evil}\n\thooksPath = {hooks}\n\tpager = {evil}\n\teditor = {evil}\n\
         \taskPass = {evil}\n\tgitProxy = {evil}\n\talternateRefsCommand = {evil}\n\tworktree = /\n\
         [filter \"x\"]\n\tclean = {evil}\n\tsmudge = {evil}\n\tprocess = {evil}\n\trequired = true\n\
         [diff \"x\"]\n\ttextconv = {evil}\n\tcommand = {evil}\n[merge \"x\"]\n\tdriver = {evil}\n\
         [alias]\n\tls-files = !{evil}\n\tupdate-index = !{evil}\n\tdiff-files = !{evil}\n\twrite-tree = !{evil}\n\
         [include]\n\tpath = {more}\n[credential]\n\thelper = {evil}\n[submodule \"nested\"]\n\tupdate = !{evil}\n\
         [uploadpack]\n\tpackObjectsHook = {evil}\n[gpg]\n\tprogram = {evil}\n",
        hooks = work.join("hooks").display(),
        more = work.join("more.config").display(),
    );
    let own = fs::read_to_string(work.join(".git/config")).unwrap_or_default();
    write(&work.join(".git/config"), &format!("{own}{config}"));
    write(&work.join(".gitattributes"), "* filter=x diff=x merge=x\n");
    write(&work.join(".git/info/attributes"), "* filter=x diff=x\n");
}

/// The programs that git has started.
pub(crate) fn started(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

#[tokio::test]
async fn nothing_that_is_planted_in_a_repository_is_started() {
    if !has_git() {
        return;
    }
    let outside = tempfile::tempdir().expect("temp dir");
    let log = outside.path().join("started");
    let ledger = Ledger::of(|work| {
        git(work, &["init", "-q"]);
        write(&work.join("a"), "one\n");
        git(work, &["add", "-A"]);
        git(work, &["commit", "-qm", "first"]);
        let nested = work.join("nested");
        fs::create_dir(&nested).expect("a folder");
        git(&nested, &["init", "-q"]);
        write(&nested.join("b"), "two\n");
        git(&nested, &["add", "-A"]);
        git(&nested, &["commit", "-qm", "nested"]);
        plant(&nested, &log);
        plant(work, &log);
    });
    // That it was planted well: the user's own git does start it.
    let _ = Command::new("git").current_dir(ledger.path("")).args(["status", "--short"]).output();
    assert!(started(&log).contains("evil.sh"), "nothing was planted");
    fs::remove_file(&log).expect("removed");

    let first = ledger.take(None).await;
    ledger.write("a", "changed\n");
    ledger.write("new", "text\n");
    ledger.write("nested/b", "changed\n");
    // A nested repository takes the place of a file, and the other way round.
    fs::rename(ledger.path("nested"), ledger.path("moved")).expect("moved");
    ledger.write("nested", "now a file\n");
    let second = ledger.take(Some(&first)).await;
    fs::remove_file(ledger.path("nested")).expect("removed");
    fs::rename(ledger.path("moved"), ledger.path("nested")).expect("moved back");
    let third = ledger.take(Some(&second)).await;
    let found = ledger.between(&first, &third).await;
    assert_eq!(names(&found), ["~a", "+new"]);
    assert_eq!(names(&ledger.between(&first, &second).await), ["~a", "+nested", "+new"]);
    let told = report(&ledger.git, &found, TreeChanges::default(), by()).await.expect("a report");
    assert_eq!(told.files[0].before.as_deref(), Some("one\n"));
    assert_eq!(told.files[0].after.as_deref(), Some("changed\n"));
    // The commit that was moved to is read where it is.
    let head = RepositoryFiles::find(&ledger.path("")).and_then(|files| files.head()).expect("a commit");
    count(&ledger.git, &found, Some((&head, &head)), by()).await.expect("counted");
    assert_eq!(started(&log), "", "started by the ledger");
}

#[tokio::test]
async fn a_git_inside_the_workspace_is_never_run() {
    let dir = tempfile::tempdir().expect("temp dir");
    let work = dir.path().canonicalize().expect("a folder");
    write_program(&work.join("git"), "#!/bin/sh\n");
    let path = std::env::join_paths([Path::new("relative"), &work]).expect("a path");
    assert_eq!(find_git(&path, &work), None);
    symlink(work.join("git"), dir.path().join("link")).expect("a link");
    let outside = tempfile::tempdir().expect("temp dir");
    symlink(work.join("git"), outside.path().join("git")).expect("a link");
    assert_eq!(find_git(outside.path().as_os_str(), &work), None);
}

#[tokio::test]
async fn ignored_files_are_not_read_by_the_look_that_finds_emptied_ignore_rules() {
    if !has_git() {
        return;
    }
    let ledger = Ledger::of(|work| {
        git(work, &["init", "-q"]);
        write(&work.join(".gitignore"), "*.log\nbuild/\n");
        write(&work.join("kept"), "kept\n");
        write(&work.join("a.log"), "ignored log\n");
        write(&work.join("build/out"), "ignored build\n");
        write(&work.join("b.global"), "ignored everywhere\n");
        write(&work.join(".env"), "TOKEN=secret\n");
    });
    let first = ledger.take(None).await;
    ledger.write(".gitignore", "");
    ledger.write("kept", "other\n");
    ledger.write("new", "new\n");
    let second = ledger.take(Some(&first)).await;
    assert!(second.is_without_new);
    assert_eq!(names(&ledger.between(&first, &second).await), ["~.gitignore", "~kept"]);
    for text in ["ignored log\n", "ignored build\n", "ignored everywhere\n", "TOKEN=secret\n"] {
        assert!(!ledger.holds(text).await, "{text}");
    }
    // The new rules hold from the next snapshot on, but a secret is never read.
    let third = ledger.take(Some(&second)).await;
    assert!(!third.is_without_new && ledger.holds("ignored log\n").await);
    ledger.write(".env", "TOKEN=another\n");
    let fourth = ledger.take(Some(&third)).await;
    assert_eq!(names(&ledger.between(&third, &fourth).await), ["~.env"]);
    assert!(!ledger.holds("TOKEN=another\n").await && !ledger.holds("TOKEN=secret\n").await);
    // Nor is what a new file of rules lets in.
    ledger.write("deep/.gitignore", "!*\n");
    ledger.write("deep/new", "deep\n");
    let fifth = ledger.take(Some(&fourth)).await;
    assert_eq!(names(&ledger.between(&fourth, &fifth).await), ["+deep/.gitignore"]);
}

#[tokio::test]
async fn a_look_reads_only_files_that_have_moved_and_no_ignored_ones() {
    if !has_git() {
        return;
    }
    let ledger = Ledger::of(|work| {
        git(work, &["init", "-q"]);
        write(&work.join(".gitignore"), "*.log\n");
        write(&work.join(".env"), "TOKEN=1\n");
        write(&work.join("d/.env"), "TOKEN=1\n");
        write(&work.join("d/a"), "a\n");
        write(&work.join("unseen"), "one\n");
    });
    let first = ledger.take(None).await;
    let mut watch = TreeWatch::over(&ledger.path(""), &BTreeSet::new()).expect("a watch");
    assert!(!watch.has_moved());
    ledger.write("a.log", "ignored log\n");
    ledger.write(".env", "TOKEN=2\n");
    ledger.write("d/b c", "b\n");
    ledger.write("d/*", "star\n");
    fs::set_permissions(ledger.path("d/a"), fs::Permissions::from_mode(0o600)).expect("a mode");
    assert!(watch.has_moved());
    let moved = watch.take_moved().expect("known");
    assert!(!watch.has_moved() && !moved.contains(Path::new("unseen")), "{moved:?}");
    // A look at the whole tree would see it.
    ledger.write("unseen", "two\n");
    let look = async |before: &TreeSnapshot, moved| {
        take(&ledger.git, Some(before), moved, &ledger.bounds(), by()).await.expect("a look")
    };
    let second = look(&first, Some(moved.clone())).await;
    assert_eq!(names(&ledger.between(&first, &second).await), ["~.env", "+d/*", "+d/b c"]);
    assert_eq!(second.rights.unusual(Path::new("d/a")).map(|rights| rights.permissions), Some(0o600));
    assert!(!ledger.holds("ignored log\n").await && !ledger.holds("TOKEN=2\n").await);
    assert_eq!(second.unread.len(), 2, "what has not moved is known as before");
    let earlier = moved;
    let moved = watch.take_moved().expect("known");
    // A process that another test starts has the files that are open here until it executes its program: that they are
    // closed may be told twice.
    let new: Vec<&Path> = moved.difference(&earlier).map(|path| path.as_path()).collect();
    assert_eq!(new, [Path::new("unseen")]);
    let third = look(&second, Some(moved)).await;
    assert_eq!(names(&ledger.between(&second, &third).await), ["~unseen"]);
    fs::rename(ledger.path("d"), ledger.path("e")).expect("moved");
    let moved = watch.take_moved().expect("known");
    let fourth = look(&third, Some(moved)).await;
    let found = ledger.between(&third, &fourth).await;
    assert_eq!(names(&found), ["-d/*", "-d/.env", "-d/a", "-d/b c", "+e/*", "+e/.env", "+e/a", "+e/b c"]);
    // With other rules, all is looked at.
    ledger.write("unseen", "three\n");
    watch.take_moved();
    ledger.write(".gitignore", "");
    let fifth = look(&fourth, watch.take_moved()).await;
    assert!(fifth.is_without_new);
    assert_eq!(names(&ledger.between(&fourth, &fifth).await), ["~.gitignore", "~unseen"]);
    (0..1_000).for_each(|n| ledger.write(&format!("f{n}"), ""));
    assert!(watch.has_moved() && watch.take_moved().is_none(), "which of so many is not known");
    assert!(!watch.has_moved());
    watch.doubt();
    assert!(watch.has_moved() && watch.take_moved().is_none());
}

#[tokio::test]
async fn the_ledger_lists_links_folders_and_files_that_replace_each_other() {
    if !has_git() {
        return;
    }
    let ledger = Ledger::of(|work| {
        write(&work.join("d/x"), "x\n");
        write(&work.join("f"), "f\n");
        write(&work.join("t"), "t\n");
        symlink("f", work.join("l")).expect("a link");
        fs::create_dir(work.join("empty")).expect("a folder");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            work.join("fifo"),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
            0,
        )
        .expect("a FIFO");
    });
    let outside = tempfile::tempdir().expect("temp dir");
    write(&outside.path().join("x"), "outside\n");
    let first = ledger.take(None).await;
    fs::remove_dir_all(ledger.path("d")).expect("removed");
    symlink(outside.path(), ledger.path("d")).expect("a link");
    fs::remove_file(ledger.path("f")).expect("removed");
    ledger.write("f/inside", "inside\n");
    fs::remove_file(ledger.path("l")).expect("removed");
    ledger.write("l", "a file now\n");
    fs::set_permissions(ledger.path("t"), fs::Permissions::from_mode(0o755)).expect("a mode");
    let second = ledger.take(Some(&first)).await;
    let found = ledger.between(&first, &second).await;
    assert_eq!(names(&found), ["+d", "-d/x", "-f", "+f/inside", "~l", "~t"]);
    assert!(!ledger.holds("outside\n").await, "what a link leads to is not in the tree");
}

#[tokio::test]
async fn a_linked_worktree_and_a_plain_folder_have_a_ledger() {
    if !has_git() {
        return;
    }
    let dir = tempfile::tempdir().expect("temp dir");
    let main = dir.path().join("main");
    write(&main.join("a"), "one\n");
    git(&main, &["init", "-q"]);
    git(&main, &["add", "-A"]);
    git(&main, &["commit", "-qm", "first"]);
    git(&main, &["worktree", "add", "-q", "../linked"]);
    let linked = dir.path().join("linked");
    let ledger = Ledger::open(dir, &linked);
    let first = ledger.take(None).await;
    // What the repository has is not copied.
    let objects = fs::read_dir(ledger.git.folder().join("objects")).expect("a folder");
    assert!(ledger.holds("one\n").await && objects.flatten().all(|entry| entry.file_name() != "56"));
    write(&linked.join("a"), "two\n");
    let second = ledger.take(Some(&first)).await;
    assert_eq!(names(&ledger.between(&first, &second).await), ["~a"]);

    let plain = Ledger::of(|work| (0..1_000).for_each(|n| write(&work.join(format!("{}/{n}", n % 9)), "x")));
    let first = plain.take(None).await;
    fs::remove_file(plain.path("0/9")).expect("removed");
    let second = plain.take(Some(&first)).await;
    assert_eq!(names(&plain.between(&first, &second).await), ["-0/9"]);
    let large = Ledger::of(|work| (0..9).for_each(|n| write(&work.join(n.to_string()), "x")));
    let bounds = SnapshotBounds { plain: Some((8, u64::MAX)), ..large.bounds() };
    assert!(take(&large.git, None, None, &bounds, by()).await.is_err(), "a folder that is too large");
}

#[tokio::test]
async fn git_is_not_given_gigabytes_that_were_ignored_until_now() {
    if !has_git() {
        return;
    }
    let ledger = Ledger::of(|work| {
        write(&work.join(".gitignore"), "out/\n");
        write(&work.join("a"), "1");
        // Together more than is read at once, none of them large by itself.
        for n in 0..12 {
            write(&work.join(format!("out/{n}")), "");
            let file = fs::File::options().write(true).open(work.join(format!("out/{n}"))).expect("opened");
            file.set_len(49 << 20).expect("a sparse file");
        }
    });
    let first = ledger.take(None).await;
    ledger.write(".gitignore", "");
    let second = ledger.take(Some(&first)).await;
    let failed = take(&ledger.git, Some(&second), None, &ledger.bounds(), by()).await.expect_err("too much");
    assert!(failed.to_string().contains("a change of 12 files and 588 MiB"), "{failed}");
}

/// One step of a script.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    Write(u8, u8),
    Append(u8),
    Remove(u8),
    Rename(u8, u8),
    Mode(u8),
    Link(u8, u8),
}

pub(crate) fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (0..12_u8, 0..4_u8).prop_map(|(file, text)| Step::Write(file, text)),
        1 => (0..12_u8).prop_map(Step::Append),
        2 => (0..12_u8).prop_map(Step::Remove),
        2 => (0..12_u8, 0..12_u8).prop_map(|(from, to)| Step::Rename(from, to)),
        1 => (0..12_u8).prop_map(Step::Mode),
        1 => (0..12_u8, 0..12_u8).prop_map(|(file, to)| Step::Link(file, to)),
    ]
}

/// The path of a file by number: some in folders, which are files elsewhere.
fn file(number: u8) -> String {
    match number {
        0..=3 => format!("f{number}"),
        4..=6 => format!("d/f{number}"),
        7 | 8 => format!("d/e/f{number}"),
        9 => "d/e".to_owned(),
        10 => "new\nline".to_owned(),
        _ => "-x y".to_owned(),
    }
}

/// Does a step as well as it can be done.
pub(crate) fn perform(work: &Path, step: &Step) {
    let path = |number: u8| work.join(file(number));
    let make = |path: &Path| drop(fs::create_dir_all(path.parent().expect("a folder")));
    let _ = match step {
        Step::Write(name, text) => {
            make(&path(*name));
            fs::write(path(*name), format!("{text}\n"))
        }
        Step::Append(name) => {
            let text = fs::read_to_string(path(*name)).unwrap_or_default();
            fs::write(path(*name), text + "more\n")
        }
        Step::Remove(name) => match path(*name).is_dir() && !path(*name).is_symlink() {
            true => fs::remove_dir_all(path(*name)),
            false => fs::remove_file(path(*name)),
        },
        Step::Rename(from, to) => {
            make(&path(*to));
            fs::rename(path(*from), path(*to))
        }
        Step::Mode(name) => {
            let facts = fs::metadata(path(*name)).and_then(|facts| match facts.is_file() {
                true => Ok(facts),
                false => Err(std::io::ErrorKind::IsADirectory.into()),
            });
            let mode = facts.map(|facts| facts.permissions().mode() ^ 0o111);
            mode.and_then(|mode| fs::set_permissions(path(*name), fs::Permissions::from_mode(mode)))
        }
        Step::Link(name, to) => {
            make(&path(*name));
            symlink(file(*to), path(*name))
        }
    };
}

/// All files of a tree: whether they can be executed, and what they hold.
fn tree(folder: &Path, top: &Path, into: &mut BTreeMap<PathBuf, (u32, Vec<u8>)>) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let (path, kind) = (entry.path(), entry.file_type().expect("a type"));
        let name = path.strip_prefix(top).expect("inside").to_owned();
        if kind.is_dir() && name != Path::new(".git") {
            tree(&path, top, into);
        } else if kind.is_symlink() {
            use std::os::unix::ffi::OsStringExt as _;
            into.insert(name, (1, fs::read_link(&path).expect("a link").into_os_string().into_vec()));
        } else if kind.is_file() {
            let mode = entry.metadata().expect("facts").permissions().mode() & 0o100;
            into.insert(name, (mode, fs::read(&path).expect("read")));
        }
    }
}

pub(crate) fn whole(work: &Path) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let mut files = BTreeMap::new();
    tree(work, work, &mut files);
    files
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn the_list_is_the_difference_whatever_a_script_does(
        before in prop::collection::vec(step(), 0..12), scripts in prop::collection::vec(prop::collection::vec(step(), 0..8), 1..4)
    ) {
        if find_git(&std::env::var_os("PATH").unwrap_or_default(), Path::new("/nowhere")).is_none() {
            return Ok(());
        }
        let ledger = Ledger::of(|work| {
            git(work, &["init", "-q"]);
            before.iter().for_each(|step| perform(work, step));
        });
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let work = ledger.path("");
        let ignored = BTreeSet::new();
        let mut watch = TreeWatch::over(&work, &ignored).expect("a watch");
        let mut last = runtime.block_on(ledger.take(None));
        for script in scripts {
            let old = whole(&work);
            script.iter().for_each(|step| perform(&work, step));
            let new = whole(&work);
            let (moved, made) = (watch.take_moved(), watch.take_new());
            watch.follow(made, &ignored);
            prop_assert!(moved.is_some());
            let next = runtime.block_on(take(&ledger.git, Some(&last), moved, &ledger.bounds(), by())).expect("a look");
            // A look at the whole tree sees no more.
            let whole = runtime.block_on(ledger.take(Some(&next)));
            prop_assert_eq!((&whole.tree, &whole.rights, &whole.unread), (&next.tree, &next.rights, &next.unread));
            let found = runtime.block_on(ledger.between(&last, &next));
            let paths = old.keys().chain(new.keys());
            let differs: BTreeSet<PathBuf> =
                paths.filter(|path| old.get(*path) != new.get(*path)).cloned().collect();
            prop_assert_eq!(found.keys().cloned().collect::<BTreeSet<_>>(), differs);
            last = next;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn git_is_stopped_while_a_command_is_being_started() {
    let dir = tempfile::tempdir().expect("temp dir");
    let (begun, go) = (dir.path().join("begun"), dir.path().join("go"));
    let script = format!(
        "#!/bin/sh\necho $$ > {}\nuntil [ -e {} ]; do sleep 0.01; done\necho said\n",
        begun.display(),
        go.display()
    );
    let (program, work) = (dir.path().join("git"), dir.path().join("work"));
    write_program(&program, &script);
    fs::create_dir(&work).expect("a folder");
    let starts = ComingStarts::default();
    let git = PrivateGit::create(program, dir.path().join("ledger"), work, None, b"").expect("created");
    let git = git.yielding(&starts);
    let asked = tokio::spawn(async move { git.run(&["anything"], b"", by()).await });
    let mut pid = None;
    wait_until("git runs", || {
        pid = fs::read_to_string(&begun).ok().and_then(|text| text.trim().parse::<u32>().ok());
        pid.is_some()
    });
    let pid = pid.expect("a process");
    let (one, two) = (starts.begin(), starts.begin());
    wait_until("it is stopped", || state(pid) == Some('T'));
    fs::write(&go, "").expect("written");
    drop(one);
    assert!(!asked.is_finished() && state(pid) == Some('T'), "another is being started");
    let group = rustix::process::getpgid(rustix::process::Pid::from_raw(pid.cast_signed()));
    assert_eq!(
        group.expect("a group").as_raw_pid().unsigned_abs(),
        pid,
        "the kernel ends it if we are killed"
    );
    drop(two);
    assert_eq!(asked.await.expect("joins").expect("an answer"), b"said\n");
}
