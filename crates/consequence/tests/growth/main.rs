//! How much memory a computation takes, whatever its text makes of its values. Alone in its process, which is measured.

mod lines;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use pilothouse_consequence::{
    ConsequenceRequest, FileKind, FileStat, GitFiles, GitRefs, Look, STACK, Unseen, compute,
};

/// The most that one computation may take, in KiB, with the stack that it has and what the parser keeps.
const MOST: u64 = 48 << 10;

/// How long a computation may look.
const LOOKING: Duration = Duration::from_secs(2);

/// A few files, until it is too late.
struct FewFiles(SystemTime);

impl Look for FewFiles {
    fn stat(&self, path: &Path) -> Result<Option<FileStat>, Unseen> {
        let kind = if path.ends_with("file") { FileKind::File } else { FileKind::Folder };
        Ok((path.components().count() < 4).then_some(FileStat { kind, bytes: 1 }))
    }

    fn list(&self, _: &Path, each: &mut dyn FnMut(&OsStr) -> bool) -> Result<(), Unseen> {
        let _ = each(OsStr::new("ab")) && each(OsStr::new("file"));
        Ok(())
    }

    fn read_link(&self, _: &Path) -> Option<PathBuf> {
        None
    }

    fn has_time(&self) -> bool {
        self.0.elapsed().unwrap_or_default() < LOOKING
    }

    fn git_files(&self, _: &Path) -> Option<GitFiles> {
        None
    }

    fn git_refs(&self, _: &Path) -> Option<GitRefs> {
        None
    }

    fn git_count(&self, _: &Path, _: &[String], _: &[String]) -> Option<u64> {
        None
    }
}

fn memory(field: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("a status");
    let line = status.lines().find_map(|line| line.strip_prefix(field)).expect("a field");
    line.trim_matches(|c: char| !c.is_ascii_digit()).parse().expect("a number")
}

#[test]
fn a_computation_takes_bounded_memory_and_time_whatever_its_text_makes_of_its_values() {
    let count = std::env::var("PILOTHOUSE_LINES").ok().and_then(|count| count.parse().ok()).unwrap_or(300);
    let (mut most, mut longest) = ((0, String::new()), (Duration::ZERO, String::new()));
    for seed in 0..count {
        let text = lines::line(seed);
        let request = ConsequenceRequest {
            text: text.clone(),
            environment: Some(BTreeMap::new()),
            folder: "/w".into(),
            workspace: "/w".into(),
            home: "/w".into(),
            shell: "bash".to_owned(),
            is_login: false,
        };
        let before = memory("VmRSS:");
        // From here on the peak belongs to this line.
        fs::write("/proc/self/clear_refs", "5").expect("the peak is reset");
        let started = SystemTime::now();
        let run = std::thread::Builder::new().stack_size(STACK);
        run.spawn(move || compute(&request, &FewFiles(started))).expect("a thread").join().expect("it ends");
        let took = started.elapsed().unwrap_or_default();
        let grown = memory("VmHWM:").saturating_sub(before);
        most = most.max((grown, text.clone()));
        longest = longest.max((took, text));
    }
    eprintln!("{count} lines: at most {} KiB\n{}\n{:?}\n{}", most.0, most.1, longest.0, longest.1);
    assert!(most.0 < MOST, "{} KiB of {}", most.0, most.1);
}
