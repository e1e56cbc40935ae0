//! The interpreter in a world without processes or people: a command's text says how it ends, and answers come from
//! a file or from a person who always gives the same one.

mod cases;
mod cut;
mod fused;
mod generated;
mod played;
mod policy;
mod resumed;
mod sessions;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use super::control_flow::{Flow, Halt};
use super::effects::{Audience, CommandSpec, Effects, NoEffect, RunEvent};
use super::module::{Library, Module};
use super::progress::Progress;
use super::{AnswerPolicy, SessionBudget, Vm, VmFrame};
use crate::config::{ExecPolicy, SessionSettings};
use crate::envelope::Actor;
use crate::model::{AnswerValue, NewQuestion, Principal, ProgramView, RecordedAnswer, StepState};
use crate::prose::engine::answers::Answers;
use crate::prose::engine::record::command_result::CommandResult;
use crate::prose::engine::record::decision::RecordedDecision;
use crate::prose::engine::record::error::RunError;
use crate::prose::engine::record::folder::{RunFolder, SharedDisk};
use crate::prose::engine::record::journal::{RunHeader, RunJournal, RunRow};
use crate::prose::engine::record::state;
use crate::prose::engine::survey::survey;
use crate::prose::engine::value::Value;
use crate::prose::syntax::{Profile, SourceText, check};

/// Simulates: `echo X` prints, `exit N` fails, `wait N` takes N seconds, `cd X` changes the directory, `hang` never
/// ends, `crash` interrupts the run, everything else just succeeds.
#[derive(Default)]
struct Play {
    ran: Mutex<Vec<String>>,
    asked: Mutex<Vec<String>>,
    /// The values shown beside the last question.
    shown: Mutex<Vec<String>>,
    events: Mutex<Vec<RunEvent>>,
    operator: Option<AnswerValue>,
}

impl Effects for Play {
    async fn exec(&self, order: CommandSpec, cancel: &CancellationToken) -> Result<CommandResult, NoEffect> {
        if order.begun.on_disk().await.is_err() {
            return Err(NoEffect::Cancelled);
        }
        let cwd = order.cwd.display().to_string();
        let command = order.command.trim_end_matches(" <\"$PILOTHOUSE_SESSION_TASK\"");
        self.ran.lock().expect("ran").push(command.to_owned());
        let mut ran = CommandResult::default();
        for part in command.split("; ") {
            let (word, rest) = part.split_once(' ').unwrap_or((part, ""));
            match word {
                "echo" => ran.stdout.push_str(&format!("{rest}\n")),
                "err" => ran.stderr.push_str(&format!("{rest}\n")),
                "pwd" => ran.stdout.push_str(&format!("{cwd}\n")),
                "exit" => ran.exit_code = rest.parse().expect("a code"),
                "cd" => ran.ended_in = Some(order.cwd.join(rest)),
                "crash" => return Err(NoEffect::Cancelled),
                "deny" => return Err(NoEffect::Refused("not today".into())),
                "wait" | "hang" => {
                    let seconds = rest.parse().unwrap_or(100_000);
                    tokio::select! {
                        () = tokio::time::sleep(Duration::from_secs(seconds)) => {}
                        () = cancel.cancelled() => return Err(NoEffect::Cancelled),
                    }
                }
                _ => {}
            }
        }
        Ok(ran)
    }

    async fn ask(&self, asking: NewQuestion) -> Result<RecordedDecision, NoEffect> {
        self.asked.lock().expect("asked").push(asking.text.clone());
        let names = asking.evidence.bindings.iter().map(|binding| binding.name.clone());
        *self.shown.lock().expect("shown") = names.collect();
        let value = self.operator.clone().ok_or(NoEffect::Cancelled)?;
        let principal = Principal::Actor(Actor::Operator);
        Ok(RecordedDecision::Answered(RecordedAnswer { value, principal, at: self.now(), note: None }))
    }

    fn present(&self) -> Audience {
        Audience { operator: self.operator.is_some(), agent: false }
    }

    async fn tell(&self, event: RunEvent) {
        self.events.lock().expect("events").push(event);
    }

    fn now(&self) -> Timestamp {
        Timestamp::UNIX_EPOCH
    }
}

/// What a program is run with, possibly several times in the same folder.
struct Bench {
    dir: tempfile::TempDir,
    source: SourceText,
    answers: String,
    operator: Option<AnswerValue>,
    exec: ExecPolicy,
    sessions: SessionSettings,
    budget: SessionBudget,
    given: HashMap<String, Value>,
    profile: Profile,
}

/// The result of a run.
struct Walked {
    ended: Result<String, String>,
    ran: Vec<String>,
    asked: Vec<String>,
    shown: Vec<String>,
    state: Vec<String>,
    /// The warnings, each after its line.
    warned: Vec<String>,
    outputs: Vec<(String, String)>,
    bindings: Vec<String>,
    /// The final state of each statement and branch, by its first line.
    steps: Vec<(u32, StepState)>,
    folder: PathBuf,
    #[expect(dead_code, reason = "its end removes the files")]
    keep: Option<tempfile::TempDir>,
}

impl Bench {
    fn new(program: &str) -> Self {
        let dir = tempfile::tempdir().expect("temp dir");
        let source = SourceText::new("t.prose", program).expect("short");
        Self {
            dir,
            source,
            answers: String::new(),
            operator: None,
            exec: ExecPolicy::Allow,
            sessions: SessionSettings::default(),
            budget: SessionBudget::default(),
            given: HashMap::new(),
            profile: Profile::Compat,
        }
    }

    fn answers(mut self, answers: &str) -> Self {
        self.answers = answers.to_owned();
        self
    }

    async fn walk(&self) -> Walked {
        let at = Timestamp::UNIX_EPOCH;
        let disk: SharedDisk = Arc::new(crate::journal::Os);
        let (folder, journal, id) = files(&disk, self.dir.path(), &self.source).expect("files");
        let answers = Answers::parse(&self.answers, false).expect("answers");
        let policy = AnswerPolicy {
            answers,
            gates_from_answers: true,
            agents: false,
            exec: self.exec,
            sessions: self.sessions.clone(),
            budget: self.budget,
            rerun: false,
        };
        let play = Play { operator: self.operator.clone(), ..Play::default() };
        let progress = progress(&id, &self.source, &folder);
        let vm = Vm::new(play, journal, policy, progress, id, Some(self.dir.path().join("home")));
        let folder = Arc::new(folder);
        let frame = root(&self.source, &folder, &self.given, self.profile);
        let ended = vm.program(&frame).await;
        if let Err(Halt::Thrown(thrown)) = &ended {
            let end = RunRow::End { at, how: "failed".into(), place: thrown.place.clone() };
            vm.journal.write(&end).expect("written");
        }
        let ended = in_words(ended);
        let state = folder.read(Path::new("state.md")).expect("a state");
        let mut bindings: Vec<String> = std::fs::read_dir(folder.path().join("bindings"))
            .expect("a folder")
            .map(|file| file.expect("a file").file_name().to_string_lossy().into_owned())
            .collect();
        bindings.sort();
        let outputs = frame.scope.outputs().into_iter();
        let warned = |events: &[RunEvent]| {
            let warnings = events.iter().filter(|event| event.what == "warn");
            warnings.map(|event| format!("{}: {}", event.line, event.text)).collect()
        };
        Walked {
            ended,
            ran: vm.effects.ran.lock().expect("ran").clone(),
            asked: vm.effects.asked.lock().expect("asked").clone(),
            shown: vm.effects.shown.lock().expect("shown").clone(),
            warned: warned(&vm.effects.events.lock().expect("events")),
            state: state.lines().skip(2).map(str::to_owned).collect(),
            outputs: outputs.map(|(name, bound)| (name.to_string(), bound.value.inline_text())).collect(),
            bindings,
            steps: vm.progress.view().steps.iter().map(|step| (step.lines.first, step.state)).collect(),
            folder: folder.path().to_owned(),
            keep: None,
        }
    }
}

/// The files of a run: of a new one, or of the one that was started here.
fn files(
    disk: &SharedDisk,
    workspace: &Path,
    source: &SourceText,
) -> Result<(RunFolder, RunJournal, String), RunError> {
    let at = Timestamp::UNIX_EPOCH;
    let runs = crate::prose::engine::record::folder::runs(workspace);
    let known = std::fs::read_dir(&runs).ok().and_then(|mut runs| {
        runs.find_map(|run| run.ok().filter(|run| run.path().is_dir()).map(|run| run.path()))
    });
    if let Some(path) = known {
        let id = path.file_name().expect("a name").to_string_lossy().into_owned();
        let (journal, _) = RunJournal::open(disk.clone(), &path, &id)?;
        let folder = RunFolder::reopen(disk, path, journal.last_line())?;
        journal.write(&RunRow::Resumed { at })?;
        folder.note(&state::resumption(at))?;
        return Ok((folder, journal, id));
    }
    let (folder, id) = RunFolder::create(disk, workspace, "t.prose", source.text(), at)?;
    let row = RunHeader {
        version: RunHeader::VERSION,
        run: id.clone(),
        program: "t.prose".into(),
        cwd: "/start".into(),
        shell: "/bin/sh".into(),
        inputs: Vec::new(),
        exec: ExecPolicy::default(),
        sessions: Vec::new(),
        allow_unenforced: false,
        at,
    };
    let journal = RunJournal::create(disk.clone(), folder.path(), row)?;
    Ok((folder, journal, id))
}

fn progress(run: &str, source: &SourceText, folder: &RunFolder) -> Progress {
    Progress::new(ProgramView {
        run: run.to_owned(),
        source: source.text().into(),
        folder: folder.path().to_owned(),
        ..super::progress::beginning()
    })
}

/// The frame in which a program starts.
fn root(
    source: &SourceText,
    folder: &Arc<RunFolder>,
    given: &HashMap<String, Value>,
    profile: Profile,
) -> VmFrame {
    let checked = check(source, profile);
    let errors: Vec<_> = checked.diagnostics.iter().filter(|it| it.is_error()).collect();
    assert!(errors.is_empty(), "{errors:?}\n{}", source.text());
    let library = Library {
        name: String::new(),
        source: source.clone(),
        survey: survey(source, &checked.program),
        program: checked.program,
        warnings: Vec::new(),
        profile,
        uses: HashMap::new(),
    };
    let (library, folder) = (Arc::new(library), folder.clone());
    let module = Module { library, folder, given: given.clone(), is_main: true };
    VmFrame::root(Arc::new(module), "/start".into(), CancellationToken::new())
}

/// Describes how a run ended.
fn in_words(ended: Flow) -> Result<String, String> {
    match ended {
        Ok(value) | Err(Halt::Return(value)) => Ok(value.value.inline_text()),
        Err(Halt::Thrown(thrown)) => Err(thrown.message.clone()),
        Err(Halt::Unanswered { line, .. }) => Err(format!("unanswered at {line}")),
        Err(Halt::OverBudget { line, .. }) => Err(format!("over budget at {line}")),
        Err(Halt::Aborted { line }) => Err(format!("aborted at {line}")),
        Err(Halt::Cancelled) => Err("cancelled".into()),
        Err(Halt::Broken(error)) => Err(error.to_string()),
    }
}

async fn walk(program: &str) -> Walked {
    once(Bench::new(program)).await
}

/// Runs once; the files are kept as long as the returned value.
async fn once(bench: Bench) -> Walked {
    let walked = bench.walk().await;
    Walked { keep: Some(bench.dir), ..walked }
}
