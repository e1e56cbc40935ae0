//! Commands of the program in the process of the test: parsed, run and answered by the program's own functions, where
//! a throw-away user is. What decides is the same; only no process is started for it, and the runtime, if none serves
//! the workspace, is in this process as well and stays until its user is gone.

use std::ffi::OsString;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{ExitStatus, Output};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pilothouse::agent::{Shim, ShimTarget};
use pilothouse::cli::{self, RuntimeServer};
use pilothouse::config::{Fault, Faults, LoadedSettings};
use pilothouse::dispatch::exec::StreamEnd;
use pilothouse::dispatch::run_program::{self, RunInput, refusal_response};
use pilothouse::dispatch::{self, CommandReach, Failure, Host, PrivateRuntime, Probe, Response, Shell};
use pilothouse::link::{Access, Act, ClientRole, Hello, Holder, Operator, RunningRuntime, Scripts};
use pilothouse::model::{CloseReason, Subject};
use pilothouse::paths::Places;
use pilothouse::process::environment::Environment;
use pilothouse::runtime::Handle;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use super::{PATIENCE, program_path, spawner};

/// How long a runtime may take to end its tasks.
const ENDING: Duration = Duration::from_secs(30);

/// What the commands of one user share: an async runtime, and the runtime of the workspace if this process has it.
pub(crate) struct InProcess {
    /// There until it is dropped.
    tokio: Option<Runtime>,
    kept: Arc<Mutex<Option<RuntimeServer>>>,
}

impl InProcess {
    pub(crate) fn new() -> Self {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        let tokio = builder.worker_threads(2).enable_all().build().expect("a runtime");
        Self { tokio: Some(tokio), kept: Arc::default() }
    }

    fn tokio(&self) -> &Runtime {
        self.tokio.as_ref().expect("it is there")
    }

    /// Runs a command of the registry.
    #[track_caller]
    pub(crate) fn run(&self, place: CallerPlace, args: &[&str]) -> Output {
        let argv = argv(args);
        let matches = match cli::parse(&argv) {
            Ok(matches) => matches,
            Err(refusal) => {
                let response = cli::refusal_response(&refusal.render().to_string());
                return output(&response, cli::Form::Json);
            }
        };
        let typed = cli::typed_command(&matches).expect("a command");
        if typed.command.path == "run" && !typed.is_private() && !args.contains(&"--dry-run") {
            return self.run_program(&self.host(place), typed);
        }
        let is_told_only = ["--schema", "--dry-run"].iter().any(|flag| args.contains(flag));
        let is_here = typed.command.reach == CommandReach::Anywhere || is_told_only;
        assert!(is_here && !typed.is_private(), "{args:?} needs a process of its own");
        let host = self.host(place);
        let answered = cli::run_command(host, typed, std::future::pending());
        output(&self.tokio().block_on(answered), cli::Form::of(typed, false))
    }

    /// Runs a program as `run` does without a terminal, line by line or with one answer at the end.
    #[track_caller]
    fn run_program(&self, host: &CallerHost, typed: cli::TypedCommand<'_>) -> Output {
        let form = match typed.args.get_one::<String>("output").map(String::as_str) {
            None | Some("plain") => cli::Form::Plain,
            Some("json") => cli::Form::Json,
            Some(other) => panic!("{other} needs a process of its own"),
        };
        let ran = self.tokio().block_on(async {
            let given = cli::read_input(typed)?;
            typed.command.check(given.clone())?;
            let input: RunInput = serde_json::from_value(given).map_err(|error| Failure::internal(&error))?;
            let settings = host.settings()?.settings.programs;
            let request = input.request(&host.place.cwd, false, settings)?;
            host.serve()?;
            let socket = host.place.places.agent_socket();
            let mut scripts = Scripts::dial(&socket, host.place.cwd.clone())
                .await
                .map_err(|error| dispatch::link_failure(&error))?;
            let (events, mut received) = tokio::sync::mpsc::channel(256);
            let going = scripts.run_program(request, events, CancellationToken::new());
            let printing = async {
                let mut lines = String::new();
                while let Some(event) = received.recv().await {
                    lines += &format!("{}\n", cli::event_line(&event));
                }
                lines
            };
            let (ended, lines) = tokio::join!(going, printing);
            let ended = ended.map_err(|error| dispatch::link_failure(&error))?;
            let response = ended.map_or_else(
                |refusal| refusal_response(refusal, false),
                |outcome| run_program::end_response(&outcome, None),
            );
            Ok((lines, response))
        });
        let (lines, response) =
            ran.unwrap_or_else(|failure: Failure| (String::new(), Response::failure(failure)));
        let mut output = output(&response, form);
        let to = if form == cli::Form::Plain { &mut output.stdout } else { &mut output.stderr };
        to.splice(0..0, lines.into_bytes());
        output
    }

    /// Runs a stream of commands.
    #[track_caller]
    pub(crate) fn exec(&self, place: CallerPlace, args: &[&str], input: &[u8]) -> Output {
        let argv = argv(&[&["exec"], args].concat());
        let matches = cli::parse(&argv).unwrap_or_else(|refusal| panic!("{refusal}"));
        let typed = cli::typed_command(&matches).expect("a command");
        assert!(!typed.is_private(), "{args:?} needs a process of its own");
        let host = self.host(place);
        let mut stdout = Vec::new();
        let ended = cli::stream(host, typed, Some(input), &mut stdout, std::future::pending());
        let StreamEnd { code, why } = self.tokio().block_on(ended).expect("written");
        let stderr = why.map(|why| format!("pilothouse: {why}\n")).unwrap_or_default();
        Output { status: exit(code), stdout, stderr: stderr.into_bytes() }
    }

    fn host(&self, place: CallerPlace) -> Arc<CallerHost> {
        Arc::new(CallerHost { place, kept: Arc::clone(&self.kept) })
    }

    /// Serves the workspace from this process, with the settings that are there now.
    #[track_caller]
    pub(crate) fn serve(&self, place: CallerPlace) {
        let _inside = self.tokio().enter();
        assert!(self.host(place).access().is_ok(), "it is served");
    }

    /// The runtime of the workspace, which is in this process.
    pub(crate) fn runtime(&self) -> Handle {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.as_ref().expect("it is here").runtime.clone()
    }

    /// Carries an agent's lines to the runtime as `mcp` does, until its input ends.
    pub(crate) fn carry(
        &self,
        place: CallerPlace,
        label: Option<&str>,
        input: UnixStream,
        output: UnixStream,
    ) {
        let limits = self.host(place.clone()).settings().expect("settings").settings.limits();
        let shim = Shim {
            hello: Hello {
                label: label.map(str::to_owned),
                environment: Some(Environment::new(place.variables, None)),
                ..Hello::new(ClientRole::Mcp, place.cwd)
            },
            target: ShimTarget::Workspace {
                places: place.places,
                program: "/nonexistent".into(),
                elsewhere: None,
            },
            limits: Some(limits),
        };
        // What it does stays on one thread, as in a process of its own.
        std::thread::spawn(move || {
            let tokio =
                tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            tokio.block_on(async {
                let [input, output] = [input, output].map(|stream| {
                    stream.set_nonblocking(true).expect("set");
                    tokio::net::UnixStream::from_std(stream).expect("watched")
                });
                drop(shim.run(input, output).await);
            });
        });
    }

    /// Ends the runtime of the workspace, in whatever process it is.
    pub(crate) fn end_runtime(&self, places: &Places) {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner).take();
        let tokio = self.tokio();
        let end = || {
            let ended = async {
                match kept {
                    Some(kept) => drop(kept.close(CloseReason::StopCommand).await),
                    None => stop(places).await,
                }
            };
            let _ = tokio.block_on(async { tokio::time::timeout(PATIENCE, ended).await });
        };
        // On a thread of its own: the test may be asynchronous itself.
        std::thread::scope(|scope| drop(scope.spawn(end).join()));
    }
}

impl Drop for InProcess {
    fn drop(&mut self) {
        let tokio = self.tokio.take();
        // On a thread of its own: the test may be asynchronous itself.
        let end = || tokio.map(|tokio| tokio.shutdown_timeout(ENDING));
        std::thread::scope(|scope| drop(scope.spawn(end).join()));
    }
}

/// Asks the runtime of a workspace to end, as `serve --stop` does.
async fn stop(places: &Places) {
    let holder = Holder::of(places);
    if holder == Holder::Nobody {
        return;
    }
    let socket = holder.places(places).operator_socket();
    if let Ok(operator) = Operator::attach(&socket, places.workspace.clone()).await {
        let _ = operator.ask(Act::Shutdown(CloseReason::StopCommand).on(Subject::Home)).await;
    }
}

/// Where a command is called from.
#[derive(Debug, Clone)]
pub(crate) struct CallerPlace {
    /// The working directory.
    pub(crate) cwd: PathBuf,
    pub(crate) places: Places,
    /// The whole environment.
    pub(crate) variables: Vec<(OsString, OsString)>,
}

struct CallerHost {
    place: CallerPlace,
    kept: Arc<Mutex<Option<RuntimeServer>>>,
}

impl CallerHost {
    fn settings(&self) -> Result<LoadedSettings, Failure> {
        let Places { config_dir, workspace, .. } = &self.place.places;
        LoadedSettings::read(config_dir, workspace)
            .map_err(|Faults(faults)| dispatch::invalid_settings(&faults))
    }

    /// Serves the workspace from this process, unless it is served already.
    fn serve(&self) -> Result<(), Failure> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if Holder::of(&self.place.places) == Holder::Nobody {
            let origin = (spawner(&self.settings()?.settings.limits()), self.place.variables.clone());
            let opened = RuntimeServer::open_with(&self.place.places, true, origin);
            *kept = opened.map_err(|error| match error.downcast_ref() {
                Some(error) => dispatch::link_failure(error),
                None => Failure::running(dispatch::Code::InternalError, format!("{error:#}")),
            })?;
        }
        Ok(())
    }
}

impl Host for CallerHost {
    fn variable(&self, name: &str) -> Option<OsString> {
        let found = self.place.variables.iter().rev().find(|(given, _)| given == name);
        found.map(|(_, value)| value.clone())
    }

    fn variables(&self) -> Vec<(String, OsString)> {
        let all = self.place.variables.iter().cloned();
        all.filter_map(|(name, value)| Some((name.into_string().ok()?, value))).collect()
    }

    fn places(&self) -> Result<Places, Failure> {
        Ok(Holder::of(&self.place.places).places(&self.place.places))
    }

    fn program(&self) -> Option<PathBuf> {
        Some(program_path())
    }

    fn cwd(&self) -> Result<PathBuf, Failure> {
        Ok(self.place.cwd.clone())
    }

    fn access(&self) -> Result<Access, Failure> {
        self.settings()?;
        self.serve()?;
        let places = self.place.places.clone();
        Ok(Access { places, program: "/nonexistent".into(), outlives_logout: false })
    }

    fn embed(&self) -> Result<PrivateRuntime, Failure> {
        panic!("with --private, the program is to be started")
    }

    fn runtimes(&self) -> Vec<RunningRuntime> {
        RunningRuntime::list(&self.place.places.locks())
    }

    fn check_console_files(&self) -> Result<(Vec<String>, Vec<Fault>), Failure> {
        Ok(pilothouse::console::theme::check(&self.place.places.config_dir))
    }

    fn probe_terminal(&self) -> Option<Probe> {
        None
    }

    fn note_promise(&self, _task: &str) {}

    /// Written by the program alone, as the manual.
    fn completions(&self, _shell: Shell) -> String {
        String::new()
    }

    fn man_pages(&self) -> Vec<(String, String)> {
        Vec::new()
    }

    fn standard_input(&self, _limit: u64) -> Result<Vec<u8>, Failure> {
        Ok(Vec::new())
    }
}

fn argv(args: &[&str]) -> Vec<OsString> {
    ["pilothouse"].iter().chain(args).map(OsString::from).collect()
}

fn exit(code: u8) -> ExitStatus {
    ExitStatus::from_raw(i32::from(code) << 8)
}

/// Returns what the program prints for an answer, to pipes.
fn output(response: &Response, form: cli::Form) -> Output {
    let cli::PrintedAnswer { data, out, err } =
        cli::PrintedAnswer::of(response, form, false).expect("an answer");
    let lines = |text: &str| {
        let text = text.trim_end_matches('\n');
        if text.is_empty() { String::new() } else { format!("{text}\n") }
    };
    let stderr: String = err.iter().map(|line| lines(line)).collect();
    Output {
        status: exit(response.exit_code()),
        stdout: (lines(data) + &lines(&out)).into_bytes(),
        stderr: stderr.into_bytes(),
    }
}
