//! A run of a program: prepared, executed, reported.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::task_tracker::TaskTrackerToken;

use super::answerable::{answerable, answerers};
use super::aside::aside;
use super::fetch;
use super::load::load;
use super::outcome::{Conclusion, RunEnd, RunOutcome, conclude};
use super::preflight::{again, check_inputs, preflight};
use super::request::RunRequest;
use super::resumed::ResumedRun;
use super::runtime_effects::RuntimeEffects;
use crate::clock::{Clock, millis};
use crate::envelope::{Actor, Envelope, MASKED, names_secret};
use crate::journal::{Durability, Os};
use crate::model::{PROGRAM_CALL, ProgramError, ProgramView, RunState};
use crate::prose::engine::answers::Answers;
use crate::prose::engine::record::error::RunError;
use crate::prose::engine::record::folder::{RunFolder, SharedDisk};
use crate::prose::engine::record::journal::{ProgramKey, RunHeader, RunJournal, RunRow};
use crate::prose::engine::record::state;
use crate::prose::engine::value::Value;
use crate::prose::engine::vm::effects::{Effects, RunEvent};
use crate::prose::engine::vm::module::Module;
use crate::prose::engine::vm::progress::Progress;
use crate::prose::engine::vm::{AnswerPolicy, Vm, VmFrame};
use crate::prose::syntax::Profile;
use crate::runtime::Handle;

/// The minimum interval between publications of a run's view.
const PUBLISH_EVERY: Duration = Duration::from_millis(50);

/// A run that is ready to be executed.
pub struct ProgramRun {
    vm: Vm<RuntimeEffects>,
    frame: VmFrame,
    id: String,
    runtime: Handle,
    folder: Arc<RunFolder>,
    call: u64,
    is_resumed: bool,
    is_over: bool,
    /// The last field, so that it is dropped after everything has been reported.
    _under_way: TaskTrackerToken,
}

impl ProgramRun {
    /// Prepares a run: loads and checks everything, and verifies that all its questions can be answered. If this
    /// fails, nothing has been executed. The run and its commands are `by` whoever started it.
    ///
    /// # Errors
    /// When it cannot be run.
    pub async fn open(
        runtime: &Handle,
        request: RunRequest,
        by: Actor,
        events: mpsc::Sender<RunEvent>,
    ) -> Result<Self, RunError> {
        let at = Clock::start().now().wall;
        let disk: SharedDisk = Arc::new(Os);
        let profile = if request.strict { Profile::Strict } else { Profile::Compat };
        let (asked, workspace, on) = (request.clone(), runtime.workspace().to_owned(), disk.clone());
        let (answers, resumed) = aside(move || {
            let answers = asked.answers.as_deref().map(Answers::read).transpose()?.unwrap_or_default();
            let open = |run: &str| ResumedRun::open(&on, &workspace, run, asked.program.as_deref());
            Ok((answers, asked.resume.as_deref().map(open).transpose()?))
        })
        .await?;
        let begun_with = resumed.as_ref().map(|resumed| resumed.first.program.clone());
        let program = request.program.clone().or(begun_with).unwrap_or_default();
        let text = resumed.as_ref().map(|resumed| resumed.text.clone());
        let main = program.clone();
        let library = fetch::with_used(runtime, &by, &request, move |registry| {
            load(&main, text.clone(), profile, registry)
        })
        .await?;
        let inputs = match &resumed {
            // A secret is not on record: it is given once more, or asked for.
            Some(resumed) => {
                let on_record = resumed.first.inputs.iter().filter(|(_, value)| value != MASKED);
                on_record.chain(&request.inputs).cloned().collect()
            }
            None => request.inputs.clone(),
        };
        check_inputs(&library, &inputs)?;
        let begun = resumed.as_ref().map(|resumed| resumed.first.exec).unwrap_or_default();
        let (typed, allow_unenforced) = match &resumed {
            Some(ResumedRun { first, .. }) if request.session.is_empty() => {
                (first.sessions.clone(), request.allow_unenforced || first.allow_unenforced)
            }
            _ => (request.session.clone(), request.allow_unenforced),
        };
        let sessions = answerers(&request.sessions, &typed)?;
        let policy = AnswerPolicy {
            answers,
            gates_from_answers: request.gates_from_answers,
            agents: request.agent_answers,
            exec: request.exec.max(begun),
            sessions,
            budget: request.budget,
            rerun: request.rerun,
        };
        answerable(runtime, &request, &library, &policy, allow_unenforced)?;
        if let Some(resumed) = &resumed {
            again(runtime, &request, &resumed.journal, &policy)?;
        }
        if !request.lazy && resumed.is_none() {
            preflight(runtime, &request, &library, &inputs, &policy)?;
        }
        let is_resumed = resumed.is_some();
        let input = json!({ "program": program, "resume": request.resume });
        let shell = runtime.step_shell();
        let first = RunHeader {
            version: RunHeader::VERSION,
            run: String::new(),
            program: program.clone(),
            cwd: request.cwd.clone(),
            shell: shell.clone(),
            inputs: inputs.iter().map(|(name, value)| (name.clone(), recorded_value(name, value))).collect(),
            exec: policy.exec,
            sessions: typed,
            allow_unenforced,
            at,
        };
        let (workspace, source) = (runtime.workspace().to_owned(), library.source.text().to_owned());
        let (journal, folder, RunHeader { run: id, cwd, .. }) = aside(move || {
            if let Some(ResumedRun { journal, folder, first, .. }) = resumed {
                journal.write(&RunRow::Resumed { at })?;
                folder.note(&state::resumption(at))?;
                return Ok((journal, folder, first));
            }
            let name = first.program.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let (folder, run) = RunFolder::create(&disk, &workspace, &name, &source, at)?;
            let first = RunHeader { run, ..first };
            Ok((RunJournal::create(disk, folder.path(), first.clone())?, folder, first))
        })
        .await?;
        let under_way = runtime.program_under_way();
        let call = runtime.begin_call(&by, PROGRAM_CALL, Durability::Written, &input).await;
        let progress = Progress::new(ProgramView {
            run: id.clone(),
            call: Some(call),
            started_by: by.clone(),
            path: program,
            source: library.source.text().into(),
            folder: folder.path().to_owned(),
            state: RunState::Running,
            steps: Vec::new(),
            events: Vec::new(),
            earlier_events: 0,
            branches: Vec::new(),
            loops: Vec::new(),
            bindings: Vec::new(),
            sessions: 0,
            cost: 0,
            error: None,
            started_at: at,
            ended_at: None,
        });
        let has_operator = request.has_operator;
        let world = RuntimeEffects {
            runtime: runtime.clone(),
            by,
            call,
            shell,
            has_operator,
            events,
            kept: Mutex::default(),
        };
        let home = runtime.inherited_variable("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
        let vm = Vm::new(world, journal, policy, progress, id.clone(), home);
        let folder = Arc::new(folder);
        let given = inputs.iter().map(|(name, value)| (name.clone(), Value::text(value.as_str()))).collect();
        let module = Module { library: Arc::new(library), folder: folder.clone(), given, is_main: true };
        let frame = VmFrame::root(Arc::new(module), cwd, CancellationToken::new());
        Ok(Self {
            vm,
            frame,
            id,
            runtime: runtime.clone(),
            folder,
            call,
            is_resumed,
            is_over: false,
            _under_way: under_way,
        })
    }

    /// Returns the run's folder.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Executes it to its end. `cancel` interrupts it: its commands are ended, and it can be resumed. Its commands
    /// are also ended if the future is dropped.
    pub async fn go(mut self, cancel: CancellationToken) -> RunOutcome {
        let clock = Clock::start();
        let frame = self.frame.clone().ended_by(cancel);
        self.runtime.show_program(self.vm.progress.view());
        let ended = {
            let walk = async {
                if !self.is_resumed {
                    self.vm.warn(&frame).await;
                }
                self.vm.program(&frame).await
            };
            tokio::pin!(walk);
            loop {
                tokio::select! {
                    biased;
                    ended = &mut walk => break ended,
                    () = self.publish() => {}
                }
            }
        };
        let left_behind = self.vm.effects.clear().await;
        self.runtime.catch_up().await;
        let Conclusion { how, line, message, place } = conclude(ended);
        let outputs = frame.scope.outputs().into_iter();
        let mut outcome = RunOutcome {
            run: self.id.clone(),
            folder: self.folder().to_owned(),
            how,
            line,
            message,
            sessions: self.vm.spent.sessions.load(Ordering::Relaxed),
            cost: self.vm.spent.cost.load(Ordering::Relaxed),
            can_resume: !matches!(how, RunEnd::Completed | RunEnd::Failed) || place.is_some(),
            outputs: outputs.map(|(name, bound)| (name.to_string(), bound.value.clone())).collect(),
            left_behind,
            duration_ms: millis(clock.now().mono),
        };
        if let Err(error) = self.close(&outcome, place) {
            (outcome.how, outcome.message) = (RunEnd::Failed, Some(error.to_string()));
        }
        self.report(&outcome);
        self.is_over = true;
        outcome
    }

    /// Waits for a change of the view and publishes it, then waits for the minimum interval.
    async fn publish(&self) {
        self.vm.progress.wait_for_change().await;
        self.runtime.show_program(self.vm.progress.view());
        tokio::time::sleep(PUBLISH_EVERY).await;
    }

    /// Writes the last lines of the run's files.
    fn close(&self, outcome: &RunOutcome, place: Option<ProgramKey>) -> Result<(), RunError> {
        let at = self.vm.effects.now();
        let how = match outcome.how {
            RunEnd::Completed | RunEnd::Failed => outcome.how,
            RunEnd::Unanswered | RunEnd::OverBudget | RunEnd::Aborted | RunEnd::Interrupted => {
                RunEnd::Interrupted
            }
        };
        self.vm.journal.write(&RunRow::End { at, how: how.to_string(), place })?;
        let line = match (&outcome.message, outcome.how) {
            (_, RunEnd::Completed) => state::end(at),
            (Some(message), _) => state::error(at, message),
            (None, how) => state::error(at, &how.to_string()),
        };
        self.folder.note(&line)
    }

    /// Reports to the runtime how it ended.
    fn report(&self, outcome: &RunOutcome) {
        let at = self.vm.effects.now();
        let state = match outcome.how {
            RunEnd::Completed => RunState::Completed,
            RunEnd::Failed | RunEnd::Unanswered => RunState::Failed,
            RunEnd::Aborted => RunState::Cancelled,
            RunEnd::Interrupted | RunEnd::OverBudget => RunState::Interrupted,
        };
        let message = outcome.message.clone().filter(|_| outcome.how != RunEnd::Completed);
        let error = message.map(|message| ProgramError { line: outcome.line.unwrap_or(1), message });
        self.vm.progress.record_end(state, error, at);
        self.runtime.show_program(self.vm.progress.view());
        let envelope = Envelope::success(PROGRAM_CALL, &outcome.summary(), outcome);
        self.runtime.end_stream(self.call, &envelope, &outcome.text());
    }
}

impl Drop for ProgramRun {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        // Nobody waits for it any more. Its journal has no end row, so it can be resumed.
        self.vm.progress.record_end(RunState::Interrupted, None, self.vm.effects.now());
        self.runtime.show_program(self.vm.progress.view());
        self.runtime.abandon_call(self.call);
    }
}

/// Returns the value of an input as it is recorded: none of it if its name says that it is a secret.
fn recorded_value(name: &str, value: &str) -> String {
    if names_secret(name) { MASKED.to_owned() } else { value.to_owned() }
}
