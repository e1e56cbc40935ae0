//! What commands would cost, computed in a process of its own: whatever a text, a folder or a mount does to that, whoever
//! asks waits for a bounded time, with bounded memory.

use std::ffi::OsString;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{ExitCode, Stdio};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout, timeout_at};

use super::disk_look::{self, DiskLook};
use super::first_look::FirstLook;
use crate::consequence::{self, Consequence, ConsequenceRequest, Look};
use crate::process;

/// The argument that makes a process of this program compute.
const COMPUTE: &str = "__consequence";
/// How long it may look. What was not optimised takes several times as long for the same.
const LOOKING: Duration = Duration::from_millis(if cfg!(debug_assertions) { 1_000 } else { 200 });
/// How long it then has to say what it has seen.
const TELLING: Duration = Duration::from_millis(100);
/// The most processes. One that hangs in a mount, and cannot be killed, stays until that answers.
const MOST_PROCESSES: usize = 4;
/// The most memory of one, with what it knows of the files of a repository, in bytes.
const MOST_MEMORY: u64 = 256 << 20;
/// The most bytes of all that it says.
const MOST_SAID: u64 = 4 << 20;
/// The most paths of a fact that it names.
const MOST_PATHS: usize = 20;

static PROCESSES: Semaphore = Semaphore::const_new(MOST_PROCESSES);

/// What a process is asked.
#[derive(Debug, Serialize, Deserialize)]
struct CostOrder {
    requests: Vec<ConsequenceRequest>,
    /// The folder that it may make for private ones of git.
    scratch: PathBuf,
    /// When it has to have looked, on the clock that all processes share.
    by: Duration,
}

/// What a process says about one request; what it says later replaces it.
#[derive(Debug, Serialize, Deserialize)]
struct CostReport {
    at: usize,
    cost: Consequence,
    /// Whether it has seen all of it.
    is_whole: bool,
}

/// Computes what each of several commands would cost if it ran alone, in at most 300 ms together. `program` is this
/// program.
pub async fn consequences(program: &Path, requests: Vec<ConsequenceRequest>) -> Vec<Consequence> {
    let (count, mut command) = (requests.len(), Command::new(program));
    command.arg(COMPUTE).env_clear().current_dir("/").stderr(Stdio::null());
    // Whoever asked may be gone before all is cleared away.
    let all = tokio::spawn(compute_in_process(command, requests));
    all.await
        .unwrap_or_else(|_| vec![Consequence::unknown("any of it: it could not be looked through"); count])
}

/// Has it computed by a process that this command starts.
async fn compute_in_process(mut command: Command, requests: Vec<ConsequenceRequest>) -> Vec<Consequence> {
    let count = requests.len();
    let unknown = |why: &str| vec![Consequence::unknown(format!("any of it: {why}")); count];
    if requests.is_empty() {
        return Vec::new();
    }
    let by = Instant::now() + LOOKING;
    let Ok(Ok(permit)) = timeout_at(by, PROCESSES.acquire()).await else {
        return unknown("earlier looks have not come back yet");
    };
    let Ok(scratch) = disk_look::scratch() else { return unknown("there is no room to look") };
    let order = CostOrder { requests, scratch: scratch.clone(), by: now() + (by - Instant::now()) };
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
    // A thread waits until the program is there: not one that starts commands.
    let Ok(Ok(mut child)) = tokio::task::spawn_blocking(move || command.spawn()).await else {
        return unknown("there is no process to look");
    };
    let mut found: Vec<Option<CostReport>> = (0..count).map(|_| None).collect();
    let is_over = timeout_at(by + TELLING, talk(&mut child, &order, &mut found)).await.is_ok();
    let why = if is_over { "it could not be looked through" } else { "looking took too long" };
    let clear = tokio::spawn(async move {
        // What hangs in a mount may not end before that answers.
        let _ = (child.start_kill(), child.wait().await);
        let _ = tokio::task::spawn_blocking(move || disk_look::remove(&scratch)).await;
        drop(permit);
    });
    let _ = timeout(TELLING, clear).await;
    let told = |report: Option<CostReport>| match report {
        None => Consequence::unknown(format!("any of it: {why}")),
        Some(CostReport { mut cost, is_whole, .. }) => {
            cost.unknown.extend((!is_whole).then(|| format!("the rest of it: {why}")));
            cost
        }
    };
    found.into_iter().map(told).collect()
}

/// Asks a process, and takes what it says, to its end.
async fn talk(child: &mut Child, order: &CostOrder, found: &mut [Option<CostReport>]) -> io::Result<()> {
    let (Some(mut stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else { return Ok(()) };
    let order = serde_json::to_vec(order)?;
    let write = async {
        // One that has failed reads no more.
        let _ = stdin.write_all(&order).await;
        drop(stdin);
    };
    let read = async {
        let mut lines = BufReader::new(stdout.take(MOST_SAID)).lines();
        while let Some(line) = lines.next_line().await? {
            let report: CostReport = serde_json::from_str(&line)?;
            if let Some(place) = found.get_mut(report.at) {
                *place = Some(report);
            }
        }
        io::Result::Ok(())
    };
    tokio::join!(write, read).1
}

fn now() -> Duration {
    Duration::try_from(clock_gettime(ClockId::Monotonic)).unwrap_or_default()
}

/// Runs `pilothouse __consequence` if the command line is that: answers the order on standard input, in lines.
pub fn cost_main(argument: Option<&OsString>) -> Option<ExitCode> {
    argument.filter(|word| *word == COMPUTE)?;
    process::bound_memory(MOST_MEMORY);
    Some(if answer().is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn answer() -> io::Result<()> {
    let mut order = Vec::new();
    io::stdin().lock().read_to_end(&mut order)?;
    let CostOrder { requests, scratch, by } = serde_json::from_slice(&order)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let by = Instant::now() + by.saturating_sub(now());
    let handle = runtime.handle().clone();
    let work = move || {
        let Some(first) = requests.first().filter(|_| Instant::now() < by) else { return Ok(()) };
        let look = DiskLook::new(handle, first, scratch, by);
        compute(&requests, &look, |report| {
            let mut line = serde_json::to_vec(&report)?;
            line.push(b'\n');
            io::stdout().lock().write_all(&line)
        })
    };
    let builder = std::thread::Builder::new().name("consequence".to_owned()).stack_size(consequence::STACK);
    builder.spawn(work)?.join().unwrap_or_else(|_| Err(io::ErrorKind::Other.into()))
}

/// Computes each of them, first with few looks, and tells each result.
fn compute(
    requests: &[ConsequenceRequest],
    look: &dyn Look,
    tell: impl Fn(CostReport) -> io::Result<()>,
) -> io::Result<()> {
    let tell = |at: usize, mut cost: Consequence, is_whole: bool| {
        cost.facts.iter_mut().for_each(|fact| fact.paths.truncate(MOST_PATHS));
        tell(CostReport { at, cost, is_whole })
    };
    let mut again = Vec::new();
    for (at, request) in requests.iter().enumerate() {
        let first = FirstLook::through(look);
        let cost = consequence::compute(request, &first);
        again.extend((!first.is_whole()).then_some((at, request)));
        tell(at, cost, first.is_whole())?;
    }
    for (at, request) in again {
        tell(at, consequence::compute(request, look), true)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;
    use std::process::Command as Program;

    use super::*;

    fn request(text: &str, folder: &Path) -> ConsequenceRequest {
        ConsequenceRequest {
            text: text.to_owned(),
            environment: Some(BTreeMap::new()),
            folder: folder.to_owned(),
            workspace: folder.to_owned(),
            home: folder.to_owned(),
            shell: "bash".to_owned(),
            is_login: false,
        }
    }

    /// A repository in which whatever git could start would leave a file behind.
    fn repository(top: &Path) {
        let git = |args: &[&str]| {
            let mut git = Program::new("git");
            git.args(args).current_dir(top).env("GIT_CONFIG_GLOBAL", "/dev/null");
            for name in ["AUTHOR", "COMMITTER"] {
                git.env(format!("GIT_{name}_NAME"), "a").env(format!("GIT_{name}_EMAIL"), "a@b");
            }
            assert!(git.output().expect("git runs").status.success(), "{args:?}");
        };
        let write = |name: &str, text: &str| std::fs::write(top.join(name), text).expect("written");
        git(&["init", "-q", "-b", "main"]);
        write("kept", "1");
        write("changed", "1");
        write(".gitignore", "out\n");
        git(&["add", "."]);
        git(&["commit", "-qm", "one"]);
        git(&["branch", "old"]);
        write("kept", "2");
        git(&["commit", "-qam", "two"]);
        write("changed", "2");
        write("new", "1");
        std::fs::create_dir(top.join("out")).expect("a folder");
        write("out/x", "1");
        let trap = format!("sh -c 'touch {0}/started; cat'", top.display());
        for name in ["core.fsmonitor", "filter.x.clean", "diff.x.textconv", "alias.status", "core.sshCommand"]
        {
            git(&["config", name, &trap]);
        }
        write(".gitattributes", "* filter=x diff=x\n");
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn the_git_state_of_lost_files_is_told_and_no_planted_program_is_started() {
        let temp = tempfile::tempdir().expect("temp dir");
        let top = temp.path().canonicalize().expect("a path");
        repository(&top);
        for (line, said) in [
            ("rm kept", "deletes kept (1 byte) (as committed)"),
            ("rm changed", "deletes changed (1 byte) (with uncommitted changes)"),
            ("rm new", "deletes new (1 byte) (not tracked by git)"),
            ("rm -r out", "deletes 1 file, 1 byte in out (ignored by git)"),
            ("git reset --hard", "discards the uncommitted changes of 1 file: changed"),
            ("git branch -D old", "deletes the branch old; its commits are on others"),
            ("git push -f", "replaces main at origin; it was never fetched, so what is lost is not known"),
        ] {
            let sentences = look(line, &top).await;
            assert!(sentences.contains(&said.to_owned()) || line.contains("push"), "{line}: {sentences:?}");
        }
        let sentences = look("git reset --hard HEAD~1", &top).await;
        assert!(sentences.iter().any(|text| text.starts_with("1 commit leaves main")), "{sentences:?}");
        assert!(!top.join("started").exists(), "something planted was started");
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_change_as_young_as_the_index_is_seen_also_later() {
        let temp = tempfile::tempdir().expect("temp dir");
        let top = temp.path().canonicalize().expect("a path");
        let past = std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        let is_from_then = |name: &str| {
            let file = std::fs::File::options().write(true).open(top.join(name)).expect("there");
            file.set_modified(past).expect("a time");
        };
        repository(&top);
        // Of the same size, and from the same second.
        let committed = std::fs::read(top.join("kept")).expect("read");
        std::fs::write(top.join("kept"), committed).expect("written");
        is_from_then("kept");
        let mut refresh = Program::new("git");
        refresh.args(["-c", "core.fsmonitor=false", "update-index", "-q", "--refresh"]).current_dir(&top);
        assert!(refresh.status().expect("git runs").code().is_some());
        std::fs::write(top.join("kept"), "3").expect("written");
        is_from_then("kept");
        is_from_then(".git/index");
        let sentences = look("rm kept", &top).await;
        assert_eq!(sentences, ["deletes kept (1 byte) (with uncommitted changes)"]);
    }

    /// Returns what is said about a line, computed here, in as much time as it takes on a busy machine.
    async fn look(line: &str, top: &Path) -> Vec<String> {
        let (request, handle) = (request(line, top), tokio::runtime::Handle::current());
        let work = move || {
            let scratch = disk_look::scratch().expect("a name");
            let look = DiskLook::new(handle, &request, scratch.clone(), Instant::now() + 100 * LOOKING);
            let reports = reports(&[request], &look);
            disk_look::remove(&scratch);
            assert!(!scratch.exists(), "its folder goes with it");
            reports.last().expect("one").cost.sentences()
        };
        tokio::task::spawn_blocking(work).await.expect("it ends")
    }

    fn reports(requests: &[ConsequenceRequest], look: &dyn Look) -> Vec<CostReport> {
        let reports = std::cell::RefCell::new(Vec::new());
        compute(requests, look, |report| {
            reports.borrow_mut().push(report);
            Ok(())
        })
        .expect("told");
        reports.into_inner()
    }

    /// Returns what is said about three lines by a script that computes nothing, and how long that took.
    async fn said_by(script: &str) -> (Vec<Vec<String>>, Duration) {
        let requests = ["true", "rm x", "true"].map(|line| request(line, Path::new("/"))).to_vec();
        let mut command = Command::new("sh");
        command.args(["-c", &format!("cat > /dev/null; {script}")]);
        let since = Instant::now();
        let found = compute_in_process(command, requests).await;
        (found.iter().map(Consequence::sentences).collect(), since.elapsed())
    }

    const FIRST: &str = r#"echo '{"at":0,"is_whole":true,"cost":{"facts":[],"unknown":[]}}'"#;

    #[tokio::test(flavor = "multi_thread")]
    async fn a_cost_process_that_hangs_is_killed_and_the_facts_known_by_then_are_told() {
        let (said, waited) = said_by(&format!("{FIRST}; exec sleep 100")).await;
        assert!(waited >= LOOKING + TELLING && waited < Duration::from_secs(5), "{waited:?}");
        let late = ["not known: any of it: looking took too long"];
        assert_eq!(said, [&["no cost computed"], &late, &late]);
        assert_eq!(PROCESSES.available_permits(), MOST_PROCESSES, "it was killed");
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_cost_process_that_dies_or_floods_leaves_the_cost_unknown() {
        let (said, _) = said_by(&format!("{FIRST}; kill -ABRT $$")).await;
        let dead = ["not known: any of it: it could not be looked through"];
        assert_eq!(said, [&["no cost computed"], &dead, &dead]);
        let (said, _) = said_by("exec head -c 9000000 /dev/zero").await;
        assert_eq!(said, [&dead, &dead, &dead]);
    }

    /// A view of git only, which says nothing.
    struct GitLook;

    impl Look for GitLook {
        fn stat(&self, _: &Path) -> Result<Option<consequence::FileStat>, consequence::Unseen> {
            Ok(Some(consequence::FileStat { kind: consequence::FileKind::File, bytes: 1 }))
        }

        fn list(
            &self,
            _: &Path,
            each: &mut dyn FnMut(&std::ffi::OsStr) -> bool,
        ) -> Result<(), consequence::Unseen> {
            each(std::ffi::OsStr::new("x"));
            Ok(())
        }

        fn read_link(&self, _: &Path) -> Option<PathBuf> {
            None
        }

        fn has_time(&self) -> bool {
            true
        }

        fn git_files(&self, _: &Path) -> Option<consequence::GitFiles> {
            None
        }

        fn git_refs(&self, _: &Path) -> Option<consequence::GitRefs> {
            None
        }

        fn git_count(&self, _: &Path, _: &[String], _: &[String]) -> Option<u64> {
            None
        }
    }

    #[test]
    fn the_quick_facts_of_a_cost_are_reported_before_the_whole() {
        let reports = reports(&[request("rm -rf \"$DIR/\"*", Path::new("/w"))], &GitLook);
        assert_eq!(reports.iter().map(|report| report.is_whole).collect::<Vec<_>>(), [false, true]);
        assert_eq!(reports[0].cost.sentences()[0], "$DIR is not set: \"$DIR/\"* means /*");
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_fifo_in_a_command_does_not_block_the_computation_of_its_cost() {
        let temp = tempfile::tempdir().expect("temp dir");
        let pipe = temp.path().join("pipe");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &pipe,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from_raw_mode(0o600),
            0,
        )
        .expect("a pipe");
        assert_ne!(look("rm pipe", temp.path()).await, ["no cost computed"]);
        assert_eq!(look("echo x > pipe", temp.path()).await, ["no cost computed"]);
    }
}
