//! `run`: runs a `.prose` program; declared here like all commands, but run by `cli`, which has the terminal.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::code::Code;
use super::command::{CommandReach, Danger, Example, LocalCommand};
use super::context::CommandContext;
use super::response::{Failure, Response};
use crate::config::{ExecPolicy, ProgramSettings};
use crate::envelope::units::exact;
use crate::prose::Profile;
use crate::prose::engine::answers::Answers;
use crate::prose::engine::record::error::RunError;
use crate::prose::engine::run::{self, RunEnd, RunOutcome, RunRefusal, RunRequest, load};
use crate::prose::engine::vm::SessionBudget;
use crate::tools::CutReason;

/// `run`: runs a program.
pub struct RunProgram;

/// The program, and the answerers of its questions.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunInput {
    /// The program's file. Not needed to resume a run.
    pub file: Option<String>,
    /// Resume this run, which was cut off; completed work is not repeated.
    pub resume: Option<String>,
    /// With `resume`: rerun the step that ended that run, without asking.
    #[serde(default)]
    pub rerun: bool,
    /// Set inputs of the program, each as NAME=VALUE, instead of being asked for them.
    #[serde(default)]
    pub set: Vec<String>,
    /// A file with answers to the program's questions (TOML, or JSON if its name says so).
    pub answers: Option<String>,
    /// Let those answers open gates. For tests and CI.
    #[serde(default)]
    pub gates_from_answers: bool,
    /// Let agents answer questions that are not reserved for a person.
    #[serde(default)]
    pub agent_answers: bool,
    /// Expect an operator: questions wait until a console opens, or for `prose gate`.
    #[serde(default)]
    pub attended: bool,
    /// Start even if nobody may be available to answer.
    #[serde(default)]
    pub lazy_judgement: bool,
    /// Commands that need your approval before they run: none (`allow`), each once (`once`), or each every time
    /// (`ask`). Default: `programs.exec` in the settings.
    pub exec: Option<ExecPolicy>,
    /// The answerer of sessions: `ask` (a person), `mcp` (a connected agent), or a command: `claude`, `codex`,
    /// `gemini`, `opencode`, any program. For some sessions: `AGENT=WHO`, `model:opus=WHO`, `label:NAME=WHO`,
    /// `conditions=WHO`. Default: `programs.sessions` in the settings.
    #[serde(default)]
    pub session: Vec<String>,
    /// Run the program even if an answerer cannot enforce all `permissions:` of its agents.
    #[serde(default)]
    pub allow_unenforced: bool,
    /// Stop before the next session once this many have begun (`5`) or this much time has passed (`30m`); `--resume`
    /// continues the run.
    #[serde(default)]
    pub budget: Vec<String>,
    /// Fetch programs that `use` names by address over https if they are not here. Each is kept, and locked by its
    /// digest in `prose.lock`.
    #[serde(default)]
    pub allow_fetch: bool,
    /// Write lines even on a terminal, where the console would otherwise open.
    #[serde(default)]
    pub plain: bool,
    /// Parsing profile: `compat` accepts deviations that real programs use, `strict` only the defined language.
    #[serde(default)]
    pub profile: Profile,
    /// Same as `profile` `strict`.
    #[serde(default)]
    pub strict: bool,
}

/// The outcome of a run.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RunOutput {
    /// Id of the run, for `--resume`.
    run: String,
    /// The outcome.
    status: RunEnd,
    /// The folder with its state, its bindings and its journal.
    folder: PathBuf,
    /// The line at which the run ended.
    line: Option<u32>,
    /// The reason why the run ended.
    message: Option<String>,
    /// Whether `--resume` can continue the run.
    can_resume: bool,
    /// Number of session commands that have ended.
    sessions: u32,
    /// Their cost in dollars, as far as they report it.
    cost_usd: f64,
    /// The outputs of the program.
    outputs: Map<String, Value>,
    /// Processes its commands left behind; they were ended.
    left_behind: Vec<String>,
    /// Duration in milliseconds.
    duration_ms: u64,
}

impl RunInput {
    /// Builds the request for a caller in `cwd`; `has_operator` means that a console opens with it, and `settings`
    /// apply where the caller specifies nothing.
    ///
    /// # Errors
    /// When an input does not have the form NAME=VALUE, or no program is specified.
    pub fn request(
        &self,
        cwd: &Path,
        has_operator: bool,
        settings: ProgramSettings,
    ) -> Result<RunRequest, Failure> {
        let inputs = run::parse_inputs(&self.set).map_err(|pair| {
            Failure::new(Code::ArgError, format!("--set {pair} is not NAME=VALUE, or a name is given twice."))
                .with("opt", "set")
                .fix("write for instance --set topic=ships")
        })?;
        let program = match (&self.file, &self.resume) {
            (Some(file), _) => Some(cwd.join(file)),
            (None, Some(_)) => None,
            (None, None) => {
                return Err(Failure::new(Code::ArgError, "No program to run was given.")
                    .with("field", "file")
                    .fix("give its file, or --resume with the id of a run"));
            }
        };
        let budget = SessionBudget::read(&self.budget).map_err(|one| {
            Failure::new(
                Code::ArgError,
                format!("--budget {one} is neither a number of sessions nor a time, or is given twice."),
            )
            .with("opt", "budget")
            .fix("write for instance --budget 5 --budget 30m")
        })?;
        let answers = self.answers.as_ref().map(|answers| cwd.join(answers));
        // Before a runtime is started: it would read the same file.
        if let Some(path) = &answers
            && let Err(error) = Answers::read(path)
        {
            let text = format!("{error}.");
            return Err(Failure::new(Code::ProgramRefused, text).with("opt", "answers"));
        }
        Ok(RunRequest {
            budget,
            path: settings.path.iter().map(|folder| cwd.join(folder)).collect(),
            allow_fetch: self.allow_fetch,
            program,
            cwd: cwd.to_owned(),
            inputs,
            answers,
            gates_from_answers: self.gates_from_answers,
            agent_answers: self.agent_answers,
            lazy: self.lazy_judgement,
            resume: self.resume.clone(),
            rerun: self.rerun,
            has_operator: has_operator || self.attended,
            exec: self.exec.unwrap_or(settings.exec),
            strict: self.profile.or_strict(self.strict) == Profile::Strict,
            sessions: settings.sessions,
            session: self.session.clone(),
            allow_unenforced: self.allow_unenforced,
        })
    }
}

/// Returns the response to a run that was refused before any of it ran; `at_terminal` means that a person is present.
pub fn refusal_response(refusal: RunRefusal, at_terminal: bool) -> Response {
    let code = match refusal.exit_code {
        3 => Code::NobodyAnswers,
        2 => Code::ProgramRefused,
        _ => Code::InternalError,
    };
    let failure = Failure::new(code, refusal.message);
    Response::failure(match code {
        Code::NobodyAnswers => {
            let there = if at_terminal {
                "drop the flags that keep the console from opening (--plain, --output)"
            } else {
                "run it in a terminal"
            };
            failure.fix(format!(
                "{there}, pass --attended to wait for an operator, give --answers FILE, or pass \
                 --lazy-judgement"
            ))
        }
        _ => failure,
    })
}

/// Returns the response to a run that has ended; `cut` is what ended it early, if anything.
pub fn end_response(outcome: &RunOutcome, cut: Option<CutReason>) -> Response {
    let text = outcome.text();
    let outputs = outcome.outputs.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
    let ran = RunOutput {
        run: outcome.run.clone(),
        status: outcome.how,
        folder: outcome.folder.clone(),
        line: outcome.line,
        message: outcome.message.clone(),
        can_resume: outcome.can_resume,
        sessions: outcome.sessions,
        #[expect(clippy::cast_precision_loss, reason = "no run costs that much")]
        cost_usd: outcome.cost as f64 / 1e6,
        outputs,
        left_behind: outcome.left_behind.clone(),
        duration_ms: outcome.duration_ms,
    };
    let data = json!(ran);
    let code = match (outcome.how, cut) {
        (RunEnd::Completed, _) => return Response::success(data, text),
        (RunEnd::Failed, _) => Code::ProgramFailed,
        (RunEnd::Unanswered, _) => Code::NobodyAnswers,
        (RunEnd::OverBudget, _) => Code::BudgetSpent,
        (RunEnd::Aborted | RunEnd::Interrupted, Some(CutReason::Timeout(_))) => Code::Timeout,
        (RunEnd::Aborted | RunEnd::Interrupted, Some(CutReason::Signal(signal))) if signal != 2 => {
            Code::Terminated
        }
        (RunEnd::Aborted | RunEnd::Interrupted, _) => Code::Interrupted,
    };
    let message = match (code, cut) {
        (Code::Timeout, Some(CutReason::Timeout(ms))) => format!("The run was ended after {}.", exact(ms)),
        _ => outcome.summary(),
    };
    let failure = Failure::running(code, message).partial().with_data(data);
    let failure = match outcome.line {
        Some(line) => {
            failure.detail(format!("line {line} of {}", outcome.folder.join("program.prose").display()))
        }
        None => failure,
    };
    let failure = match outcome.can_resume {
        true => failure.fix(outcome.advice()),
        false => failure,
    };
    Response { text, ..Response::failure(failure) }
}

impl LocalCommand for RunProgram {
    const PATH: &'static str = "run";
    const ABOUT: &'static str = "Run a .prose program: in the console on a terminal, else line by line";
    const DANGER: Danger = Danger::Destructive;
    const EXITS: &'static [u8] = &[3];
    const EXAMPLES: &'static [Example] = &[
        Example { about: "Run a program", input: r#"{"file":"deploy.prose"}"# },
        Example {
            about: "Run it in CI, with all answers given",
            input: r#"{"file":"deploy.prose","answers":"answers.toml","set":["target=staging"],"plain":true}"#,
        },
        Example {
            about: "Have Claude Code do its sessions, and Codex those of the agent critic",
            input: r#"{"file":"review.prose","session":["claude","critic=codex"]}"#,
        },
        Example {
            about: "Be asked about each command before it runs",
            input: r#"{"file":"deploy.prose","exec":"ask"}"#,
        },
        Example { about: "Continue a run that was cut off", input: r#"{"resume":"20261122-043511-k3f9x2"}"# },
    ];
    const REACH: CommandReach = CommandReach::Alone("the terminal");

    type Input = RunInput;
    type Output = RunOutput;

    async fn dry_run(cx: &mut CommandContext, input: RunInput) -> Result<Value, Failure> {
        let request = input.request(&cx.host.cwd()?, false, ProgramSettings::default())?;
        let refused = |error: RunError| Failure::new(Code::ProgramRefused, error.to_string());
        if let Some(run) = &input.resume {
            run::find(&cx.host.places()?.workspace, run).map_err(refused)?;
        }
        let Some(path) = request.program else {
            return Ok(json!({ "effect": "would_run", "resume": input.resume }));
        };
        let profile = input.profile.or_strict(input.strict);
        let mut told = json!({ "effect": "would_run", "file": path });
        let loaded =
            load::load(&path, None, profile, &run::registry::Registry::default()).map_err(refused)?;
        run::check_inputs(&loaded, &request.inputs).map_err(refused)?;
        let asks = loaded.survey.questions.iter().map(|possible| {
            json!({ "line": possible.line, "construct": possible.construct, "name": possible.name, "text": possible.text })
        });
        told["commands"] = json!(loaded.survey.commands.len());
        told["asks"] = asks.collect();
        Ok(told)
    }
}
