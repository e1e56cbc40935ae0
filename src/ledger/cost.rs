//! What commands would cost, computed on a thread of its own: whoever asks waits for a bounded time, whatever a folder or
//! a mount does to the thread.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::{Semaphore, SemaphorePermit, oneshot};
use tokio::time::{Instant, timeout, timeout_at};

use super::disk_look::DiskLook;
use super::first_look::FirstLook;
use crate::consequence::{self, Consequence, ConsequenceRequest, Look};

/// How long it may look.
const LOOKING: Duration = Duration::from_millis(200);
/// How long it then has to say what it has seen.
const TELLING: Duration = Duration::from_millis(100);
/// The most threads. One that hangs in a mount stays until that answers.
const MOST_THREADS: usize = 4;

static THREADS: Semaphore = Semaphore::const_new(MOST_THREADS);

/// Computes what a command would cost, in at most 300 ms.
pub async fn consequence(request: ConsequenceRequest) -> Consequence {
    consequences(vec![request]).await.pop().unwrap_or_default()
}

/// Computes what each of several commands would cost if it ran alone, in at most 300 ms together.
pub async fn consequences(requests: Vec<ConsequenceRequest>) -> Vec<Consequence> {
    let Some(first) = requests.first() else { return Vec::new() };
    let by = Instant::now() + LOOKING;
    let Ok(Ok(thread)) = timeout_at(by, THREADS.acquire()).await else {
        return vec![Consequence::unknown("any of it: earlier looks have not come back yet"); requests.len()];
    };
    let is_over = Arc::new(AtomicBool::new(false));
    let (home, workspace) = (first.home.clone(), first.workspace.clone());
    let look = DiskLook::new(Handle::current(), home, workspace, Arc::clone(&is_over), by);
    computed(requests, look, (thread, is_over), by).await
}

/// Computes it with this view, on a thread that may hang.
async fn computed(
    requests: Vec<ConsequenceRequest>,
    look: impl Look + Send + 'static,
    (thread, is_over): (SemaphorePermit<'static>, Arc<AtomicBool>),
    by: Instant,
) -> Vec<Consequence> {
    let count = requests.len();
    // A lock, not a message: what was found by then is taken when nobody waits any longer.
    let found = Arc::new(Mutex::new(Vec::new()));
    let (tell, mut told) = oneshot::channel();
    let finds = Arc::clone(&found);
    let compute = move || {
        let mut again = Vec::new();
        for (at, request) in requests.iter().enumerate() {
            let first = FirstLook::through(&look);
            let mut cost = consequence::compute(request, &first);
            if !first.is_whole() {
                cost.unknown.push("the rest of it: looking took too long".to_owned());
                again.push((at, request));
            }
            finds.lock().unwrap_or_else(PoisonError::into_inner).push(cost);
        }
        for (at, request) in again {
            let cost = consequence::compute(request, &look);
            // Once nobody waits any more, there is nothing to replace.
            if let Some(first) = finds.lock().unwrap_or_else(PoisonError::into_inner).get_mut(at) {
                *first = cost;
            }
        }
        // Its folders go first: a program that has its answer may end at once.
        drop((look, thread));
        // Nobody may be waiting any more.
        let _ = tell.send(());
    };
    let builder = std::thread::Builder::new().name("consequence".to_owned()).stack_size(consequence::STACK);
    if builder.spawn(compute).is_err() {
        return vec![Consequence::unknown("any of it: there is no thread to look"); count];
    }
    if timeout_at(by, &mut told).await.is_err() {
        is_over.store(true, Ordering::Relaxed);
        // What it has not told by then is not known.
        let _ = timeout(TELLING, told).await;
    }
    let mut found = std::mem::take(&mut *found.lock().unwrap_or_else(PoisonError::into_inner));
    found.resize(count, Consequence::unknown("any of it: looking took too long"));
    found
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;
    use std::process::Command;

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
            let mut git = Command::new("git");
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
    async fn what_git_has_is_told_and_nothing_planted_in_the_repository_is_started() {
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
            // On a busy machine a look may come too late; it says so.
            let mut sentences = Vec::new();
            for _ in 0..20 {
                sentences = consequence(request(line, &top)).await.sentences();
                if !sentences
                    .iter()
                    .any(|text| text.starts_with("not known") || text.contains("not known what git"))
                {
                    break;
                }
            }
            assert!(sentences.contains(&said.to_owned()) || line.contains("push"), "{line}: {sentences:?}");
        }
        let sentences = consequence(request("git reset --hard HEAD~1", &top)).await.sentences();
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
        let mut refresh = Command::new("git");
        refresh.args(["-c", "core.fsmonitor=false", "update-index", "-q", "--refresh"]).current_dir(&top);
        assert!(refresh.status().expect("git runs").code().is_some());
        std::fs::write(top.join("kept"), "3").expect("written");
        is_from_then("kept");
        is_from_then(".git/index");
        let mut sentences = Vec::new();
        for _ in 0..20 {
            sentences = consequence(request("rm kept", &top)).await.sentences();
            if sentences.iter().any(|text| text.starts_with("deletes kept (1 byte) (")) {
                break;
            }
        }
        assert_eq!(sentences, ["deletes kept (1 byte) (with uncommitted changes)"]);
    }

    /// A view in which every look at a file hangs, as in a mount whose server is gone, until the test is over; or only git.
    struct HangingLook {
        end: Mutex<std::sync::mpsc::Receiver<()>>,
        is_git_only: bool,
    }

    impl HangingLook {
        fn hang(&self) {
            // The sender is dropped at the end.
            let _ = self.end.lock().unwrap_or_else(PoisonError::into_inner).recv();
        }
    }

    impl Look for HangingLook {
        fn stat(&self, _: &Path) -> Result<Option<consequence::FileStat>, consequence::Unseen> {
            if self.is_git_only {
                return Ok(Some(consequence::FileStat { kind: consequence::FileKind::File, bytes: 1 }));
            }
            self.hang();
            Err(consequence::Unseen)
        }

        fn list(
            &self,
            _: &Path,
            each: &mut dyn FnMut(&std::ffi::OsStr) -> bool,
        ) -> Result<(), consequence::Unseen> {
            if self.is_git_only {
                each(std::ffi::OsStr::new("x"));
                return Ok(());
            }
            self.hang();
            Err(consequence::Unseen)
        }

        fn read_link(&self, _: &Path) -> Option<std::path::PathBuf> {
            self.hang();
            None
        }

        fn has_time(&self) -> bool {
            true
        }

        fn git_files(&self, _: &Path) -> Option<consequence::GitFiles> {
            self.hang();
            None
        }

        fn git_refs(&self, _: &Path) -> Option<consequence::GitRefs> {
            None
        }

        fn git_count(&self, _: &Path, _: &[String], _: &[String]) -> Option<u64> {
            None
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn who_asks_about_a_mount_that_hangs_waits_300_ms_and_is_told_so() {
        let (_end, hangs) = std::sync::mpsc::sync_channel(0);
        let temp = tempfile::tempdir().expect("temp dir");
        let requests = ["true", "rm x", "true"].map(|line| request(line, temp.path())).to_vec();
        let thread = THREADS.acquire().await.expect("a thread");
        let since = Instant::now();
        let over = Arc::new(AtomicBool::new(false));
        let look = HangingLook { end: Mutex::new(hangs), is_git_only: false };
        let found = computed(requests, look, (thread, Arc::clone(&over)), since + LOOKING).await;
        let waited = since.elapsed();
        assert!(waited >= LOOKING + TELLING && waited < Duration::from_secs(5), "{waited:?}");
        let said: Vec<_> = found.iter().map(Consequence::sentences).collect();
        let late = ["not known: any of it: looking took too long"];
        assert_eq!(said[0], ["no cost computed"], "what was known by then is told");
        assert_eq!(
            (&said[1][..], &said[2][..]),
            (&late.map(str::to_owned)[..], &late.map(str::to_owned)[..])
        );
        assert!(over.load(Ordering::Relaxed), "the thread is told that nobody waits");
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn what_a_first_look_tells_is_told_however_long_the_rest_takes() {
        let (_end, hangs) = std::sync::mpsc::sync_channel(0);
        let thread = THREADS.acquire().await.expect("a thread");
        let look = HangingLook { end: Mutex::new(hangs), is_git_only: true };
        let requests = vec![request("rm -rf \"$DIR/\"*", Path::new("/w"))];
        let over = (thread, Arc::new(AtomicBool::new(false)));
        let found = computed(requests, look, over, Instant::now() + LOOKING).await;
        let said = found[0].sentences();
        assert_eq!(said[0], "$DIR is not set: \"$DIR/\"* means /*", "{said:?}");
        assert_eq!(
            found[0].unknown.last().map(String::as_str),
            Some("the rest of it: looking took too long")
        );
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_pipe_does_not_hold_it() {
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
        let found = consequence(request("rm pipe", temp.path())).await;
        assert_eq!(found.facts.len(), 1, "{found:?}");
        let found = consequence(request("echo x > pipe", temp.path())).await;
        assert_eq!(found.facts.len(), 0, "{found:?}");
    }
}
