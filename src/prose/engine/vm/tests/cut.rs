//! Wherever a run is interrupted, in the middle of any write, it ends like an uninterrupted one: nothing is done
//! twice except what was in flight, and that only with permission.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestRunner};

use super::fused::Fused;
use super::generated::{Generated, Written, programs};
use super::played::{Outside, Played};
use super::{files, in_words, progress, root};
use crate::config::ExecPolicy;
use crate::model::AnswerValue;
use crate::prose::engine::answers::Answers;
use crate::prose::engine::record::binding::BindingFile;
use crate::prose::engine::record::folder::SharedDisk;
use crate::prose::engine::vm::{AnswerPolicy, Vm};
use crate::prose::syntax::{Profile, SourceText};

/// Where a run is interrupted.
#[derive(Debug, Clone)]
struct Cut {
    /// After this share of all the writes of an uninterrupted run, in units of 1/65,536.
    after: u16,
    torn: u8,
    /// Whether the process dies at once; otherwise it finds out that writing fails.
    kills: bool,
}

/// Everything that is left of a run that has reached its end.
#[derive(Debug, PartialEq)]
struct Left {
    ended: Result<String, String>,
    outputs: Vec<(String, String)>,
    /// Name, kind and value of each binding.
    bindings: Vec<(String, String, String)>,
    state: Vec<String>,
    gates: Vec<(String, String)>,
}

/// Runs a program as far as the disk allows; returns what is left of it if it reached its end.
async fn walk(
    source: &SourceText,
    workspace: &Path,
    disk: &Arc<Fused>,
    kills: bool,
    outside: &Arc<Mutex<Outside>>,
) -> Option<Left> {
    let shared: SharedDisk = disk.clone();
    let (folder, journal, id) = match files(&shared, workspace, source) {
        Ok(files) => files,
        Err(_) if disk.is_gone() => return None,
        Err(error) => panic!("{error}"),
    };
    let policy =
        AnswerPolicy { answers: Answers::default(), exec: ExecPolicy::Allow, ..AnswerPolicy::default() };
    let progress = progress(&id, source, &folder);
    let vm = Vm::new(Played { outside: outside.clone() }, journal, policy, progress, id, None);
    let folder = Arc::new(folder);
    let frame = root(source, &folder, &HashMap::new(), Profile::Compat);
    let ended = tokio::select! {
        biased;
        () = disk.gone(), if kills => return None,
        ended = vm.program(&frame) => ended,
    };
    if disk.is_gone() {
        return None;
    }
    let outputs = frame.scope.outputs().into_iter();
    let outputs = outputs.map(|(name, bound)| (name.to_string(), bound.value.body())).collect();
    let state = folder.read(Path::new("state.md")).expect("a state");
    let state = state.lines().skip(2).filter(|line| !line.starts_with("---resumed")).map(str::to_owned);
    let bindings = listed(&folder.path().join("bindings")).into_iter().map(|(_, text)| {
        let file = BindingFile::parse(&text).expect("a binding");
        (file.name, file.kind, file.value.body())
    });
    Some(Left {
        ended: in_words(ended),
        outputs,
        bindings: bindings.collect(),
        state: state.collect(),
        gates: listed(&folder.path().join("gates")),
    })
}

/// The files in a folder: name and text.
fn listed(folder: &Path) -> Vec<(String, String)> {
    let files = std::fs::read_dir(folder).into_iter().flatten().map(|file| file.expect("a file"));
    let read = |file: std::fs::DirEntry| {
        let text = std::fs::read_to_string(file.path()).expect("readable");
        (file.file_name().to_string_lossy().into_owned(), text)
    };
    // A leftover of an interrupted replacement is not a file of the run.
    let mut files: Vec<_> = files.map(read).filter(|(name, _)| !name.starts_with('.')).collect();
    files.sort();
    files
}

impl Left {
    /// The same without what depends on the order of concurrent steps: calls, unnamed sessions and gates reached
    /// more than once are numbered in the order in which they happen.
    fn in_any_order(mut self) -> Self {
        let unnumbered = |line: &String| {
            let (before, after) = line.split_once('#').unwrap_or((line, ""));
            let line = format!("{before}#{}", after.trim_start_matches(|c: char| c.is_ascii_digit()));
            let Some((before, gate)) = line.split_once("gate:") else { return line };
            let (gate, what) = gate.split_once(' ').unwrap_or((gate, ""));
            format!("{before}gate:{} {what}", gate.split('-').next().unwrap_or_default())
        };
        self.state = self.state.iter().map(unnumbered).collect();
        self.state.sort();
        for (name, _, _) in &mut self.bindings {
            if name.starts_with("anon_") {
                name.truncate("anon_".len());
            }
        }
        self.bindings.sort();
        for (name, facts) in &mut self.gates {
            name.clear();
            *facts = facts.lines().filter(|line| !line.contains("gate_id")).collect();
        }
        self.gates.sort();
        self
    }
}

/// How a run ends that the operator aborts, at any line.
fn aborted(left: &Left) -> Result<String, String> {
    let line = left.ended.as_ref().err().and_then(|why| why.rsplit(' ').next()).unwrap_or_default();
    Err(format!("aborted at {line}"))
}

fn cuts() -> impl Strategy<Value = Vec<Cut>> {
    let cut = (any::<u16>(), any::<u8>(), any::<bool>());
    prop::collection::vec(cut.prop_map(|(after, torn, kills)| Cut { after, torn, kills }), 1..4)
}

/// A run that is interrupted and resumed until it ends, and one that is not interrupted.
struct Compared {
    whole: Left,
    whole_outside: Outside,
    cut: Left,
    cut_outside: Outside,
}

async fn compared(written: &Written, cuts: &[Cut], says: Vec<AnswerValue>) -> Compared {
    let source = SourceText::new("t.prose", &written.text).expect("short");
    let uncut = Arc::new(Mutex::new(Outside::default()));
    let dir = tempfile::tempdir().expect("temp dir");
    let disk = Fused::after(None, 0);
    let whole = walk(&source, dir.path(), &disk, false, &uncut).await.expect("it ends");
    let writes = disk.taken();
    let outside = Arc::new(Mutex::new(Outside { says, ..Outside::default() }));
    let dir = tempfile::tempdir().expect("temp dir");
    let mut cuts = cuts.iter();
    let cut = loop {
        let cut = cuts.next();
        // The first four writes create the run: if interrupted there, no run exists.
        let left = cut.map(|cut| 4 + (writes - 4) * usize::from(cut.after) / 65_536);
        let disk = Fused::after(left, cut.map_or(0, |cut| cut.torn));
        let done = outside.lock().expect("outside").done.len();
        let left = walk(&source, dir.path(), &disk, cut.is_some_and(|cut| cut.kills), &outside).await;
        let has_aborted = std::mem::take(&mut outside.lock().expect("outside").has_aborted);
        match left {
            // Said about the loser of a race whose winner was already known: the question was withdrawn.
            Some(left) if has_aborted && !(written.races && left.ended != aborted(&left)) => {
                assert_eq!(left.ended, aborted(&left));
                let after = outside.lock().expect("outside").done.len();
                assert!(written.forks || after == done, "something was done after the end");
            }
            Some(left) => break left,
            None => {}
        }
    };
    let taken = |outside: Arc<Mutex<Outside>>| {
        Arc::try_unwrap(outside).expect("alone").into_inner().expect("outside")
    };
    Compared { whole, whole_outside: taken(uncut), cut, cut_outside: taken(outside) }
}

#[test]
fn cut_off_in_each_of_its_writes_a_run_comes_to_the_same_end() {
    // A value built from itself, a gate, a loop over a list whose length it decides, and a `finally`.
    let text = "let a = \"é\"\na = \"{a}{a}\"\ngate g:\n  prompt: \"go\"\n  on_reject: continue\n\
                try:\n  for x, n in a:\n    exec \"s1-{n} 0 1 0 cd :: {a}\"\n  throw \"on\"\ncatch as e:\n  exec \"s2 3 1 0 :: {e}\"\n    on-fail: \"continue\"\n\
                finally:\n  exec \"s3 0 1 0\"\noutput o = exec \"s4 0 2 0 :: {a}\"\n";
    let written = Written { text: text.into(), forks: false, races: false };
    let whole = |at: usize| u16::try_from(at).expect("few");
    for at in 0..64 {
        let says = if at % 2 == 0 { AnswerValue::Rerun } else { AnswerValue::Abort };
        for (torn, kills) in [(0, true), (200, false)] {
            let cut = Cut { after: whole(at) << 10, torn, kills };
            let says = vec![says.clone()];
            let Compared { whole, whole_outside, cut, cut_outside } =
                paused().block_on(compared(&written, &[cut], says));
            assert_eq!(cut, whole, "cut at {at} of 64");
            let mut done = cut_outside.done;
            done.dedup();
            assert_eq!(done, whole_outside.done, "cut at {at} of 64");
        }
    }
}

fn counted(done: &[String]) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    for one in done {
        *counts.entry(one.as_str()).or_default() += 1;
    }
    counts
}

/// The same programs and interruptions each time: an old bug does not show up in an unrelated change.
fn few() -> TestRunner {
    config(150, RngSeed::Fixed(31))
}

/// New ones each time.
fn many() -> TestRunner {
    config(20_000, RngSeed::Random)
}

fn config(cases: u32, rng_seed: RngSeed) -> TestRunner {
    let usual =
        ProptestConfig { failure_persistence: None, max_shrink_iters: 2_000, ..ProptestConfig::default() };
    TestRunner::new(ProptestConfig { cases, rng_seed, ..usual })
}

fn paused() -> tokio::runtime::Runtime {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_time().start_paused(true).build().expect("a loop")
}

/// docs/prose-rules.md#rule-31, with `rerun` and `abort`: the same end, files and effects; commands in flight ran
/// as often as they were allowed to.
fn comes_to_the_same_end(program: &Generated, cuts: &[Cut], aborts: &[bool]) -> Result<(), TestCaseError> {
    let written = program.written();
    let says = aborts.iter().map(|aborts| if *aborts { AnswerValue::Abort } else { AnswerValue::Rerun });
    let Compared { whole, whole_outside, cut, cut_outside } =
        paused().block_on(compared(&written, cuts, says.collect()));
    let once = counted(&whole_outside.done);
    prop_assert!(
        once.values().all(|times| *times == 1),
        "the program does something twice: {once:?}\n{}",
        written.text
    );
    if written.races {
        for (cmd, times) in counted(&cut_outside.done) {
            let most = 1 + cut_outside.reruns.get(cmd).copied().unwrap_or_default();
            prop_assert!(times <= most, "{cmd} was done {times} times\n{}", written.text);
        }
        return Ok(());
    }
    let expected: BTreeMap<&str, usize> =
        once.keys().map(|cmd| (*cmd, cut_outside.due.get(*cmd).copied().unwrap_or(1))).collect();
    prop_assert_eq!(counted(&cut_outside.done), expected, "\n{}", &written.text);
    let most_asked = counted(&cut_outside.asked).values().map(|times| times - 1).sum::<usize>();
    prop_assert!(written.forks || most_asked <= cuts.len(), "{:?}\n{}", &cut_outside.asked, &written.text);
    if written.forks {
        prop_assert_eq!(cut.in_any_order(), whole.in_any_order(), "\n{}", &written.text);
    } else {
        prop_assert_eq!(cut, whole, "\n{}", &written.text);
        let mut done = cut_outside.done.clone();
        done.dedup();
        prop_assert_eq!(done, whole_outside.done, "\n{}", &written.text);
    }
    Ok(())
}

/// docs/prose-rules.md#rule-31, with `skip`: the run ends, and nothing was done twice.
fn does_nothing_twice(program: &Generated, cuts: &[Cut]) -> Result<(), TestCaseError> {
    let written = program.written();
    let compared = paused().block_on(compared(&written, cuts, vec![AnswerValue::Skip; 100]));
    for (cmd, times) in counted(&compared.cut_outside.done) {
        prop_assert!(times == 1, "{cmd} was done {times} times\n{}", written.text);
    }
    Ok(())
}

#[track_caller]
fn cut_off_anywhere(mut runner: TestRunner) {
    let aborts = prop::collection::vec(any::<bool>(), 0..3);
    let run = runner.run(&(programs(), cuts(), aborts), |(program, cuts, aborts)| {
        comes_to_the_same_end(&program, &cuts, &aborts)
    });
    run.unwrap_or_else(|error| panic!("{error}\n{runner}"));
}

#[track_caller]
fn skipped(mut runner: TestRunner) {
    let run = runner.run(&(programs(), cuts()), |(program, cuts)| does_nothing_twice(&program, &cuts));
    run.unwrap_or_else(|error| panic!("{error}\n{runner}"));
}

#[test]
fn a_run_interrupted_anywhere_ends_like_an_uninterrupted_one() {
    cut_off_anywhere(few());
}

#[test]
fn a_skipped_command_is_never_run_again() {
    skipped(few());
}

#[test]
#[ignore = "minutes; .ci/long runs it"]
fn long_a_run_interrupted_anywhere_ends_like_an_uninterrupted_one() {
    cut_off_anywhere(many());
}

#[test]
#[ignore = "minutes; .ci/long runs it"]
fn long_a_skipped_command_is_never_run_again() {
    skipped(many());
}
