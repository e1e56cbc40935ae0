//! Undo of one command: the files are exactly as before it, or nothing is touched.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;
use serde_json::json;
use tempfile::TempDir;

use pilothouse::clock::Clock;
use pilothouse::ledger::{PrivateGit, TreeSnapshot, UndoFacts, UndoMoment, UndoPlan, find_git, plan};
use rustix::process::Signal;

use crate::ledger::{Ledger, by, git, has_git, perform, plant, started, step, whole, write};
use crate::support::{Agent, Console, Home, exec, send, wait_until};

/// What an undo needs, as it is kept.
pub(crate) async fn facts(
    ledger: &Ledger,
    began: Timestamp,
    (before, after): (&TreeSnapshot, &TreeSnapshot),
) -> UndoFacts {
    let found = ledger.between(before, after).await;
    let text = serde_json::to_string(&UndoFacts::of(began, &found, before, after)).expect("written");
    serde_json::from_str(&text).expect("read")
}

/// What an undo has done, or why it was refused.
async fn undo(
    ledger: &Ledger,
    began: Timestamp,
    of: (&TreeSnapshot, &TreeSnapshot),
) -> Result<usize, Vec<String>> {
    done(plan(&ledger.git, &facts(ledger, began, of).await, by()).await, &mut |_, _| ())
}

fn done(
    plan: Result<UndoPlan, Vec<String>>,
    come: &mut dyn FnMut(&Path, UndoMoment),
) -> Result<usize, Vec<String>> {
    plan?.carry_out(come).map_err(|error| vec![error.to_string()])
}

/// Returns when a command begins. All that was written before this call is older, although times of files lag behind.
pub(crate) fn began() -> Timestamp {
    let tick = SignedDuration::from_millis(10);
    let clock = Clock::start();
    let written = clock.now().wall;
    wait_until("the files are older", || clock.now().wall - tick > written);
    clock.now().wall - tick
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn an_undo_is_exact_or_touches_nothing(
        before in prop::collection::vec(step(), 0..12),
        scripts in prop::collection::vec(prop::collection::vec(step(), 0..6), 5),
        which in 0..5_usize,
    ) {
        if !has_git() {
            return Ok(());
        }
        let ledger = Ledger::of(|work| {
            git(work, &["init", "-q"]);
            before.iter().for_each(|step| perform(work, step));
        });
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let work = ledger.path("");
        let mut snapshots = vec![runtime.block_on(ledger.take(None))];
        let mut trees = vec![whole(&work)];
        let mut times = Vec::new();
        for script in &scripts {
            times.push(began());
            script.iter().for_each(|step| perform(&work, step));
            let next = runtime.block_on(ledger.take(snapshots.last()));
            snapshots.push(next);
            trees.push(whole(&work));
        }
        let of = (&snapshots[which], &snapshots[which + 1]);
        let done = runtime.block_on(undo(&ledger, times[which], of));
        let now = whole(&work);
        let Ok(_) = done else {
            prop_assert_eq!(now, trees[5].clone(), "refused: {:?}", done);
            return Ok(());
        };
        let mut expected = trees[5].clone();
        let paths = trees[which].keys().chain(trees[which + 1].keys());
        for path in paths.filter(|path| trees[which].get(*path) != trees[which + 1].get(*path)) {
            match trees[which].get(path) {
                Some(held) => expected.insert(path.clone(), held.clone()),
                None => expected.remove(path),
            };
        }
        prop_assert_eq!(now, expected);
        if which == 4 {
            prop_assert_eq!(whole(&work), trees[4].clone());
        }
    }
}

/// What somebody else does to a tree.
type Meanwhile = fn(&Path);

#[tokio::test]
async fn a_file_that_changed_after_the_command_refuses_the_whole_undo() {
    if !has_git() {
        return;
    }
    let cases: [(&str, Meanwhile); 4] = [
        ("it was written again", |work| write(&work.join("a"), "three\n")),
        ("what it removed is there", |work| write(&work.join("d/gone"), "other\n")),
        ("a link is in the place of the folder", |work| {
            fs::rename(work.join("d"), work.join("e")).expect("moved");
            symlink("/etc", work.join("d")).expect("a link");
        }),
        ("another mode", |work| {
            fs::set_permissions(work.join("a"), fs::Permissions::from_mode(0o600)).expect("a mode");
        }),
    ];
    for (what, meanwhile) in cases {
        let ledger = Ledger::of(|work| {
            write(&work.join("a"), "one\n");
            write(&work.join("d/gone"), "gone\n");
            write(&work.join("d/stays"), "stays\n");
        });
        let before = ledger.take(None).await;
        let at = began();
        ledger.write("a", "two\n");
        ledger.write("new", "new\n");
        fs::remove_file(ledger.path("d/gone")).expect("removed");
        let after = ledger.take(Some(&before)).await;
        meanwhile(&ledger.path(""));
        let was = whole(&ledger.path(""));
        let refused = undo(&ledger, at, (&before, &after)).await.expect_err(what);
        assert_eq!(whole(&ledger.path("")), was, "{what}: {refused:?}");
    }
}

#[tokio::test]
async fn a_command_that_empties_the_ignore_rules_takes_nothing_along() {
    if !has_git() {
        return;
    }
    let ledger = Ledger::of(|work| {
        git(work, &["init", "-q"]);
        write(&work.join(".gitignore"), ".env\n*.log\n");
        write(&work.join(".env"), "TOKEN=1\n");
        write(&work.join("a.log"), "log\n");
    });
    let before = ledger.take(None).await;
    let at = began();
    ledger.write(".gitignore", "");
    let after = ledger.take(Some(&before)).await;
    // Nor does what is run after that, for which they are new.
    let next = ledger.take(Some(&after)).await;
    assert!(undo(&ledger, at, (&before, &after)).await.is_err());
    let later = began();
    ledger.write("b", "b\n");
    let last = ledger.take(Some(&next)).await;
    assert_eq!(undo(&ledger, later, (&next, &last)).await, Ok(1));
    assert!(!ledger.path("b").exists());
    for (name, text) in [(".env", "TOKEN=1\n"), ("a.log", "log\n"), (".gitignore", "")] {
        assert_eq!(fs::read_to_string(ledger.path(name)).expect("there"), text);
    }
    // What is older than a command is not removed, even if its list should say that it is new.
    assert!(undo(&ledger, later, (&after, &last)).await.is_err());
}

#[tokio::test]
async fn files_have_the_permissions_that_they_had_and_new_folders_go() {
    if !has_git() {
        return;
    }
    let ledger = Ledger::of(|work| {
        write(&work.join("private"), "one\n");
        fs::set_permissions(work.join("private"), fs::Permissions::from_mode(0o600)).expect("a mode");
        fs::create_dir(work.join("empty")).expect("a folder");
    });
    let before = ledger.take(None).await;
    let at = began();
    fs::remove_file(ledger.path("private")).expect("removed");
    ledger.write("empty/x", "x\n");
    ledger.write("made/deep/y", "y\n");
    let after = ledger.take(Some(&before)).await;
    assert_eq!(undo(&ledger, at, (&before, &after)).await, Ok(3));
    let mode = fs::metadata(ledger.path("private")).expect("there").permissions().mode();
    assert_eq!(mode & 0o7777, 0o600);
    assert!(ledger.path("empty").is_dir() && !ledger.path("made").exists());
}

/// A home whose settings turn the ledger on.
pub(crate) fn home_with_ledger() -> Home {
    let home = Home::new();
    home.configure("config.toml", "ledger = \"on\"\n");
    home
}

/// The files of a workspace of 300, of which a command changes each.
fn numbered(work: &Path, text: &str) -> bool {
    (0..300).all(|n| fs::read_to_string(work.join(format!("f{n}"))).is_ok_and(|held| held == text))
}

#[test]
fn an_undo_that_was_killed_is_completed_by_another_runtime() {
    if !has_git() {
        return;
    }
    let home = home_with_ledger();
    let work = home.workspace();
    git(&work, &["init", "-q"]);
    (0..300).for_each(|n| write(&work.join(format!("f{n}")), "old\n"));
    let mut served = home.serve();
    let task = undoable(&home, "for f in f*; do echo new > $f; done");
    assert!(numbered(&work, "new\n"));
    let mut undoing = home.command(&["task", "undo", &task]).spawn().expect("starts");
    wait_until("the undo has begun", || {
        (0..300).any(|n| fs::read_to_string(work.join(format!("f{n}"))).is_ok_and(|held| held == "old\n"))
    });
    served.kill().expect("killed");
    served.wait().expect("reaped");
    let _ = undoing.wait();
    let again = home.run(&["task", "undo", &task]);
    let told = String::from_utf8_lossy(&again.stdout);
    assert!(again.status.success(), "{told} {}", String::from_utf8_lossy(&again.stderr));
    assert!(numbered(&work, "old\n"));
    let left = fs::read_dir(&work).expect("a folder").flatten();
    let left: Vec<_> =
        left.filter(|entry| entry.file_name().to_string_lossy().starts_with(".pilothouse")).collect();
    assert!(left.is_empty(), "{left:?}");
}

/// Lets a command change a tree; returns the folder in which [`undo_later`] finds what it takes to undo that.
pub(crate) fn written_facts(before: impl FnOnce(&Path), command: impl FnOnce(&Path)) -> TempDir {
    let ledger = Ledger::of(before);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let first = runtime.block_on(ledger.take(None));
    let at = began();
    command(&ledger.path(""));
    let second = runtime.block_on(ledger.take(Some(&first)));
    let facts = runtime.block_on(facts(&ledger, at, (&first, &second)));
    let dir = ledger.into_dir();
    fs::write(dir.path().join("facts"), serde_json::to_string(&facts).expect("written")).expect("written");
    dir
}

/// Where an undo is to be done that kills itself, and at which of its moments.
const KILLED: &str = "PILOTHOUSE_TEST_KILLED_UNDO";

/// Undoes as a later runtime does: from what an earlier one has kept in this folder.
pub(crate) fn undo_later(dir: &Path, come: &mut dyn FnMut(&Path, UndoMoment)) -> Result<usize, Vec<String>> {
    let work = dir.join("work");
    let program = find_git(&std::env::var_os("PATH").unwrap_or_default(), &work).expect("git");
    let own = tempfile::tempdir().expect("temp dir");
    let git = PrivateGit::create(program, own.path().join("ledger"), work, None, b"").expect("created");
    let past = git.of_recording(dir.join("ledger"));
    let facts = fs::read_to_string(dir.join("facts")).expect("read");
    let facts: UndoFacts = serde_json::from_str(&facts).expect("facts");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    done(runtime.block_on(plan(&past, &facts, by())), come)
}

#[test]
#[ignore = "run by the next test, which lets it kill itself"]
fn an_undo_kills_itself_at_a_given_moment() {
    let Ok(told) = std::env::var(KILLED) else { return };
    let (at, dir) = told.split_once(':').expect("a number and a folder");
    let mut left: usize = at.parse().expect("a number");
    let mut come = |_: &Path, moment| {
        if left == 0 {
            eprintln!("killed at {moment:?}");
            send(std::process::id(), Signal::KILL);
        }
        left -= 1;
    };
    undo_later(Path::new(dir), &mut come).expect("undone");
    eprintln!("undone");
}

/// All that is in a tree: files, links and folders, with their permissions.
fn exact(top: &Path) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let (mut all, mut open) = (BTreeMap::new(), vec![top.to_owned()]);
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).expect("a folder").flatten() {
            let (path, facts) = (entry.path(), entry.metadata().expect("facts"));
            let held = match (facts.is_dir(), facts.is_symlink()) {
                (true, _) => Vec::new(),
                (_, true) => fs::read_link(&path).expect("a link").into_os_string().into_encoded_bytes(),
                _ => fs::read(&path).expect("read"),
            };
            open.extend(facts.is_dir().then(|| path.clone()));
            let name = path.strip_prefix(top).expect("inside").to_owned();
            all.insert(name, (facts.permissions().mode(), held));
        }
    }
    all
}

/// Lets an undo kill itself at this of its moments, and returns which that was; `None` if it was done by then.
fn killed_at(moment: usize, dir: &Path) -> Option<String> {
    let mut command = Command::new(std::env::current_exe().expect("this test"));
    let own = "ledger_undo::an_undo_kills_itself_at_a_given_moment";
    command.args(["--ignored", "--exact", own, "--nocapture", "--test-threads=1"]);
    let ended = command.env(KILLED, format!("{moment}:{}", dir.display())).output().expect("runs");
    let said = String::from_utf8_lossy(&ended.stderr);
    if ended.status.success() {
        assert!(said.contains("undone"), "it was not run");
        return None;
    }
    assert_eq!(ended.status.signal(), Some(Signal::KILL.as_raw()), "{said}");
    Some(said.lines().find_map(|line| line.strip_prefix("killed at ")).expect("a moment").to_owned())
}

#[test]
fn an_undo_killed_at_any_moment_is_completed_exactly() {
    if !has_git() {
        return;
    }
    let ledger = Ledger::of(|work| {
        write(&work.join("edited"), "one\n");
        write(&work.join("private"), "one\n");
        fs::set_permissions(work.join("private"), fs::Permissions::from_mode(0o600)).expect("a mode");
        write(&work.join("gone/deep/x"), "gone\n");
        write(&work.join("file"), "a file\n");
        symlink("edited", work.join("link")).expect("a link");
    });
    let work = ledger.path("");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let (first, before) = (runtime.block_on(ledger.take(None)), exact(&work));
    let at = began();
    ledger.write("edited", "two\n");
    ledger.write("made/deep/new", "new\n");
    fs::set_permissions(work.join("private"), fs::Permissions::from_mode(0o755)).expect("a mode");
    fs::remove_dir_all(work.join("gone")).expect("removed");
    fs::remove_file(work.join("file")).expect("removed");
    ledger.write("file/x", "in a folder\n");
    fs::remove_file(work.join("link")).expect("removed");
    symlink("private", work.join("link")).expect("a link");
    let second = runtime.block_on(ledger.take(Some(&first)));
    let (found, after) = (runtime.block_on(ledger.between(&first, &second)), exact(&work));
    let facts = UndoFacts::of(at, &found, &first, &second);
    let mut reached = BTreeSet::new();
    for moment in 0.. {
        let dir = tempfile::tempdir().expect("temp dir");
        let copied = Command::new("cp").arg("-a").args([&work, ledger.git.folder()]).arg(dir.path()).status();
        assert!(copied.expect("cp runs").success());
        let kept = serde_json::to_string(&facts).expect("written");
        fs::write(dir.path().join("facts"), kept).expect("written");
        let Some(at) = killed_at(moment, dir.path()) else {
            assert_eq!(exact(&dir.path().join("work")), before);
            break;
        };
        // What goes on with it is killed as well, and goes on.
        reached.extend(killed_at(moment % 3, dir.path()));
        undo_later(dir.path(), &mut |_, _| ()).unwrap_or_else(|why| panic!("{moment} {at}: {why:?}"));
        assert_eq!(exact(&dir.path().join("work")), before, "killed at {moment}: {at}");
        reached.insert(at);
        let back = serde_json::to_string(&facts.clone().reverse()).expect("written");
        fs::write(dir.path().join("facts"), back).expect("written");
        undo_later(dir.path(), &mut |_, _| ()).unwrap_or_else(|why| panic!("{moment}: {why:?}"));
        assert_eq!(exact(&dir.path().join("work")), after, "brought back after {moment}");
    }
    let all = ["Begun", "Cleared", "Exchanged", "FoldersMade", "FoldersRemoved", "Made", "Removed"];
    assert_eq!(reached.iter().map(String::as_str).collect::<Vec<_>>(), all);
}

/// Runs a command whose changes can be undone; returns its task.
pub(crate) fn undoable(home: &Home, cmd: &str) -> String {
    let line = |cmd: &str| json!({"_cmd": "command.run", "cmd": cmd}).to_string() + "\n";
    let first = exec(home, &[], line("true"));
    assert_eq!(first.code, Some(0), "{}", first.stdout);
    // Until then, the tree is read for the first time.
    wait_until("the ledger is open", || {
        let listed = home.call(&["task", "list", "--scope", "all", "--output", "json"]);
        let listed: serde_json::Value = serde_json::from_slice(&listed.stdout).unwrap_or_default();
        let id = listed["data"]["tasks"][0]["task_id"].as_str().unwrap_or_default().to_owned();
        let status = home.call(&["task", "status", &id, "--output", "json"]);
        String::from_utf8_lossy(&status.stdout).contains("\"changes\"")
    });
    let ran = exec(home, &[], line(cmd));
    assert_eq!(ran.code, Some(0), "{}", ran.stdout);
    let listed = home.call(&["task", "list", "--scope", "all", "--output", "json"]);
    let listed: serde_json::Value = serde_json::from_slice(&listed.stdout).expect("JSON");
    let tasks = listed["data"]["tasks"].as_array().expect("tasks");
    let own =
        tasks.iter().find(|task| task["cmd"].as_str().is_some_and(|shown| shown.starts_with(&cmd[..6])));
    let id = own.and_then(|task| task["task_id"].as_str()).expect("an id").to_owned();
    wait_until("what it changed is known", || {
        let status = home.call(&["task", "status", &id, "--output", "json"]);
        String::from_utf8_lossy(&status.stdout).contains("\"changes\"")
    });
    id
}

#[test]
fn a_dry_run_tells_an_undo_which_is_then_done_and_recorded() {
    if !has_git() {
        return;
    }
    let home = home_with_ledger();
    let work = home.workspace();
    write(&work.join("a"), "one\n");
    let mut served = home.serve();
    let task = undoable(&home, "echo two > a; echo new > b");
    let told = home.run(&["task", "undo", &task, "--dry-run", "--output", "json"]);
    let told = String::from_utf8_lossy(&told.stdout).into_owned();
    assert!(
        told.contains("put back a") && told.contains("remove b") && told.contains("Not covered"),
        "{told}"
    );
    assert_eq!(fs::read_to_string(work.join("a")).expect("there"), "two\n");
    let done = home.run(&["task", "undo", &task]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert!(fs::read_to_string(work.join("a")).expect("there") == "one\n" && !work.join("b").exists());
    let recordings = fs::read_dir(home.places().recordings()).expect("recordings").flatten();
    let rows = recordings.map(|recording| fs::read_to_string(recording.path().join("journal-0001.jsonl")));
    assert!(rows.flatten().any(|rows| rows.contains("\"kind\":\"undone\"")));
    // What runs in a task works on the files itself.
    let inside = format!("{} task undo {task}", crate::support::program_word());
    let refused = exec(&home, &[], json!({"_cmd": "command.run", "cmd": inside}).to_string() + "\n");
    assert!(refused.stdout.contains("does not undo"), "{}", refused.stdout);
    home.stop(&mut served);
}

#[test]
fn no_part_of_the_program_starts_what_is_planted_in_the_repository() {
    if !has_git() {
        return;
    }
    let home = Home::new();
    home.configure("config.toml", "ledger = \"on\"\n[[approvals]]\nconsequence = \"uncommitted\"\n");
    let work = home.workspace();
    git(&work, &["init", "-q"]);
    write(&work.join("a"), "one\n");
    git(&work, &["add", "-A"]);
    git(&work, &["commit", "-qm", "first"]);
    let outside = tempfile::tempdir().expect("temp dir");
    let log = outside.path().join("started");
    plant(&work, &log);
    let _ = std::process::Command::new("git").current_dir(&work).args(["status", "--short"]).output();
    assert!(started(&log).contains("evil.sh"), "nothing was planted");
    fs::remove_file(&log).expect("removed");

    let mut served = home.serve();
    let task = undoable(&home, "echo two > a; echo new > b");
    for command in [
        &["task", "status", &task][..],
        &["task", "undo", &task, "--dry-run"],
        &["task", "undo", &task],
        &["status"],
        &["doctor"],
        &["audit", "list"],
        &["relay", "list"],
        &["consequence", "rm a; git reset --hard; git checkout -- a; git clean -fd; git push -f"],
    ] {
        let _ = home.run(command);
    }
    assert_eq!(fs::read_to_string(work.join("a")).expect("there"), "one\n", "it was undone");
    // A held call is computed with what git has of its files, and shown.
    let console = Console::open(&home, &[], (120, 40));
    let agent = Agent::connect(&home, &["--label", "claude"]);
    let asked = agent.ask("ExecCommand", &json!({"cmd": "rm a && git clean -fd", "yield_time_ms": 30000}));
    console.shows("needs approval");
    console.keys(b"A");
    console.shows("deletes a (4 bytes)");
    drop((asked, agent, console));
    home.stop(&mut served);
    assert_eq!(started(&log), "");
}
