//! The command line: the only reader of argv and the environment; wires together the layers below.

mod announce;
mod answer;
mod args;
mod child;
mod child_flags;
mod codex;
mod codex_mirror;
#[cfg(feature = "console")]
mod console;
#[cfg(feature = "console")]
mod console_flags;
#[cfg(feature = "console")]
mod demo;
mod detach;
mod edit;
mod env;
mod exec;
mod fields;
mod fish;
#[cfg(feature = "console")]
mod fleet;
mod gate;
mod hook;
mod launch;
mod launch_environment;
mod launch_settings;
mod log;
mod mcp;
#[cfg(feature = "console")]
mod open;
mod order;
mod print;
mod probe;
mod program;
mod program_start;
mod reach;
mod relay;
mod remote;
mod rules;
mod run;
mod serve;
mod server;
mod shell;
mod signals;
mod stdin;
mod stdout;
mod surroundings;

use std::ffi::OsString;
use std::io;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::ArgMatches;
use color_eyre::eyre::{Report, Result, WrapErr, eyre};
use serde_json::json;

pub use self::answer::{Form, PrintedAnswer};
pub use self::args::{TypedCommand, parse, typed_command};
use self::env::ProcessHost;
pub use self::exec::stream;
pub use self::program::event_line;
use self::program_start::ProgramStart;
pub use self::run::{answer as run_command, input as read_input};
pub use self::server::RuntimeServer;
use crate::agent::codex::MIRROR;
use crate::config::Faults;
#[cfg(feature = "console")]
use crate::console::ConsoleError;
use crate::dispatch::cli_only::HookInput;
use crate::dispatch::{self, Code, CommandReach, Danger, Failure, Response};
use crate::envelope::SafeText;
use crate::ledger;
use crate::link::{self, Door};
use crate::model::AnswerValue;
use crate::process::{self, environment::Environment};

/// How long blocking work (a read of standard input) may delay the end of the program.
const LINGER: Duration = Duration::from_millis(100);

/// Runs this program as the shell of an agent, which `argv` (program name first) must name; returns its exit code.
pub fn run_as_shell(argv: impl IntoIterator<Item = OsString>) -> ExitCode {
    shell::run_small(&argv.into_iter().collect::<Vec<_>>()).unwrap_or_else(|| {
        let _ =
            print::say("agents call this as their shell, by links named bash and zsh; see `pilothouse help`");
        ExitCode::from(Code::ArgError.exit_code())
    })
}

/// Runs the program with `argv` (program name first) and returns its exit code.
pub fn run(argv: impl IntoIterator<Item = OsString>) -> ExitCode {
    let argv: Vec<OsString> = argv.into_iter().collect();
    // The agent's shell comes first: it adds latency to every command of the agent.
    if let Some(code) = shell::run_whole(&argv) {
        return code;
    }
    // Then an agent: everything after its name belongs to it.
    if let Some(code) = launch::run(&argv) {
        return code;
    }
    // Whatever this process becomes from here on is Pilothouse's own.
    process::forgo_core_dump();
    process::heed_signals();
    // Then an agent's hook, which the agent may wait for.
    if let Some(code) = hook::run(&argv) {
        return code;
    }
    // Then the fork server: each of its forks is a task host and inherits whatever is allocated here.
    if argv.get(1).is_some_and(|word| word == "__fork") {
        return process::fork_server_main();
    }
    // Then what computes for a runtime, which waits for it.
    if let Some(code) = ledger::cost_main(argv.get(1)) {
        return code;
    }
    // Then the stand-in for a process of Codex's own server: it takes its input only from the process that started
    // it.
    if argv.get(1).is_some_and(|word| word == MIRROR) {
        return codex_mirror::run(argv.get(2..).unwrap_or_default());
    }
    // Then detaching: what is started here must be nobody's child.
    if argv.get(1).is_some_and(|word| word == "__detach") {
        return detach::run();
    }
    let matches = match args::parse(&argv) {
        Ok(matches) => matches,
        Err(refusal) => return refuse(&refusal, order::form(&argv)),
    };
    if has_nowhere_to_answer(&matches) {
        let _ = print::say(
            "standard output is closed, so nothing was done; open it, or redirect it to /dev/null",
        );
        return ExitCode::from(Code::Precondition.exit_code());
    }
    // The hooks first: an error made before them would keep them out.
    match install_hooks().and_then(|()| install_guards(&matches)).and_then(|()| run_async(&matches)) {
        Ok(code) => code,
        Err(error) => {
            let (text, code) = match known_failure(&error) {
                Some(failure) => (failure.text(), failure.exit_code()),
                None => (format!("{error:#}"), 1),
            };
            let _ = print::say(text);
            ExitCode::from(code)
        }
    }
}

/// Returns an error of a command that answers with no response as the failure that other commands answer with.
fn known_failure(error: &Report) -> Option<Failure> {
    if let Some(error) = error.downcast_ref::<link::Error>() {
        return Some(dispatch::link_failure(error));
    }
    if let Some(Faults(faults)) = error.downcast_ref::<Faults>() {
        return Some(dispatch::invalid_settings(faults));
    }
    #[cfg(feature = "console")]
    if let Some(error @ ConsoleError::NoTerminal(_)) = error.downcast_ref::<ConsoleError>() {
        return Some(Failure::new(Code::Precondition, error.to_string()));
    }
    let mut causes = error.chain().filter_map(|cause| cause.downcast_ref::<io::Error>());
    causes.any(dispatch::is_unwritable).then(|| dispatch::folder_failure(format!("{error:#}")))
}

/// Handles a command line that runs nothing: prints help, or the parse error. A program gets either as an answer, except
/// that the version is one line anyway.
fn refuse(refusal: &clap::Error, form: Option<&str>) -> ExitCode {
    let code = u8::try_from(refusal.exit_code()).unwrap_or(1);
    let text = refusal.render().to_string();
    let is_plain = match form {
        Some(form) if code == 0 => ["plain", "table"].contains(&form),
        _ => print::is_terminal(),
    };
    if is_plain || refusal.kind() == clap::error::ErrorKind::DisplayVersion {
        // If this cannot be printed, there is nobody to report to.
        let _ = match SafeText::lines(&text) {
            // It contains what was typed: if that has anything hidden in it, it is printed without colours.
            safe if safe.as_str() != text => print::err(&safe),
            _ => refusal.print(),
        };
        return ExitCode::from(code);
    }
    if code == 0 {
        return answer::print(&Response::success(json!({ "help": text.trim_end() }), text), Form::Json);
    }
    answer::print(&refusal_response(&text), Form::Json)
}

/// Returns the answer to a command line that cannot be parsed; `text` says why.
pub fn refusal_response(text: &str) -> Response {
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default().trim_start_matches("error: ");
    // A list of arguments follows on lines of its own.
    let listed = lines.take_while(|line| first.ends_with(':') && !line.is_empty()).map(str::trim);
    let message = [first].into_iter().chain(listed).collect::<Vec<_>>().join(" ");
    let failure = Failure::new(Code::ArgError, message)
        .detail(text.trim_end())
        .fix("see the command's own `--help`, or `pilothouse manifest` for all commands as JSON");
    Response::failure(failure)
}

/// Returns whether a command would print an answer, and standard output was closed before the program started. A
/// wrapper's command may print nothing.
fn has_nowhere_to_answer(matches: &ArgMatches) -> bool {
    let answers = |typed: TypedCommand<'_>| {
        let is_raw = matches!(typed.args.try_get_one::<bool>(child_flags::RAW), Ok(Some(true)));
        !is_raw && !matches!(typed.command.reach, CommandReach::Alone(_))
    };
    process::has_no_output() && args::typed_command(matches).is_some_and(answers)
}

/// Installs guard processes in any process that may host a runtime, before any thread is started.
fn install_guards(matches: &ArgMatches) -> Result<()> {
    let is_set = |name: &str, args: &ArgMatches| matches!(args.try_get_one::<bool>(name), Ok(Some(true)));
    let hosts = match args::typed_command(matches) {
        // A console attached to a background runtime hosts none.
        None => !is_background(),
        Some(TypedCommand { command, args }) => match command.path.as_str() {
            "serve" if is_set("detached", args) => {
                // The process that started it may end, and its terminal with it. Done before the guards, so that they
                // and the program share a session.
                let _ = rustix::process::setsid();
                true
            }
            "serve" => !is_set("stop", args),
            "demo" => true,
            _ => is_set("private", args),
        },
    };
    if !hosts {
        return Ok(());
    }
    let terminal = std::fs::File::open("/dev/tty").is_ok();
    process::install_guards(terminal).wrap_err("put guards over this program")
}

#[cfg(feature = "console")]
fn is_background() -> bool {
    ProgramStart::find().is_ok_and(|start| console::is_background(&start))
}

#[cfg(not(feature = "console"))]
fn is_background() -> bool {
    false
}

/// Runs the command on an async runtime.
fn run_async(matches: &ArgMatches) -> Result<ExitCode> {
    Environment::new(std::env::vars_os().collect(), process::own_umask()).announce();
    process::take_short_turns();
    let mut builder = if has_many_jobs(matches) {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        builder.worker_threads(2).on_thread_start(process::take_short_turns);
        builder
    } else {
        tokio::runtime::Builder::new_current_thread()
    };
    let runtime = builder.enable_all().build().wrap_err("start the async runtime")?;
    let ended = runtime.block_on(dispatch(matches));
    runtime.shutdown_timeout(LINGER);
    ended
}

/// Reports errors and panics. A panic that cannot be reported, because standard error is full or closed, ends no more than
/// any other.
fn install_hooks() -> Result<()> {
    let (panic_hook, error_hook) = color_eyre::config::HookBuilder::default().try_into_hooks()?;
    error_hook.install()?;
    std::panic::set_hook(Box::new(move |panic| {
        let _ = print::bytes(format!("{}\n", panic_hook.panic_report(panic)).as_bytes(), true);
    }));
    Ok(())
}

/// Returns whether a command does several things at once and therefore needs threads, as a runtime in this process
/// does. One that sends a request and waits, or forwards lines, is faster without.
fn has_many_jobs(matches: &ArgMatches) -> bool {
    args::typed_command(matches).is_none_or(|typed| match typed.command.reach {
        CommandReach::Anywhere => typed.is_private(),
        CommandReach::Exec => true,
        CommandReach::Alone(_) => {
            !["mcp", "codex-executor", "relay.operator", "relay.agent"].contains(&typed.command.path.as_str())
        }
    })
}

async fn dispatch(matches: &ArgMatches) -> Result<ExitCode> {
    let typed = args::typed_command(matches);
    let is_stream = typed.is_some_and(|typed| typed.command.reach == CommandReach::Exec);
    let is_private = typed.is_some_and(|typed| typed.is_private());
    let env = Arc::new(ProcessHost::new(is_stream, is_private));
    let Some(typed) = typed else { return open(&prepare_start(matches)?).await };
    let told_only = typed.args.get_flag(fields::SCHEMA)
        || typed.args.get_flag("dry-run") && typed.command.danger != Danger::Safe && !is_stream;
    match typed.command.reach {
        CommandReach::Anywhere => run::run(env, typed).await,
        _ if told_only => run::run(env, typed).await,
        CommandReach::Exec => exec::run(env, typed).await,
        CommandReach::Alone(_) => alone(matches, typed).await,
    }
}

/// Runs a command that uses standard input or the terminal itself.
async fn alone(matches: &ArgMatches, typed: TypedCommand<'_>) -> Result<ExitCode> {
    let form = Form::of(typed, print::is_terminal());
    let asked = run::input(typed).and_then(|input| {
        typed.command.check(input.clone())?;
        Ok(input)
    });
    let input = match asked {
        Ok(input) => input,
        Err(failure) => return Ok(answer::print(&Response::failure(failure), form)),
    };
    if typed.command.path == "codex-executor" {
        // Even if our own folders are unusable, Codex still has its own server.
        return codex::run(serde_json::from_value(input)?).await;
    }
    match typed.command.path.as_str() {
        "hook" => {
            let HookInput { agent } = serde_json::from_value(input)?;
            return Ok(hook::start(agent));
        }
        "relay.operator" => return relay::run(serde_json::from_value(input)?, Door::Operator).await,
        "relay.agent" => return relay::run(serde_json::from_value(input)?, Door::Agent).await,
        "with" => {
            let refused = Failure::new(Code::ArgError, "No program is named.").with("opt", "command");
            let ended = launch::start(serde_json::from_value(input)?);
            return Ok(ended.unwrap_or_else(|| answer::print(&Response::failure(refused), form)));
        }
        _ => {}
    }
    let start = prepare_start(matches)?;
    match typed.command.path.as_str() {
        "mcp" => mcp::run(&start, serde_json::from_value(input)?).await,
        "config.edit" => edit::run(&start),
        "run" => {
            let form = typed.args.get_one::<String>(args::OUTPUT).map(|_| form);
            let limit = match typed.flags() {
                Ok(flags) => flags.timeout,
                Err(failure) => {
                    return Ok(answer::print(&Response::failure(failure), form.unwrap_or(Form::Plain)));
                }
            };
            program::run(&start, &serde_json::from_value(input)?, form, limit, typed.is_private()).await
        }
        "prose.gate.approve" => {
            gate::run(&start, serde_json::from_value(input)?, AnswerValue::Approve, form).await
        }
        "prose.gate.reject" => {
            gate::run(&start, serde_json::from_value(input)?, AnswerValue::Reject, form).await
        }
        "serve" => serve::run(&start, &serde_json::from_value(input)?, form).await,
        #[cfg(feature = "console")]
        "fleet" => fleet::run(&start, &serde_json::from_value(input)?).await,
        #[cfg(feature = "console")]
        "open" => open::run(&start, &serde_json::from_value(input)?).await,
        #[cfg(feature = "console")]
        "demo" => demo::run(&start, &serde_json::from_value(input)?).await,
        other => Err(eyre!("this program was built without what {other} needs")),
    }
}

/// Finds the workspace of a long-running command and opens its log.
#[cfg_attr(not(feature = "console"), expect(unused_variables, unused_mut, reason = "for the console alone"))]
fn prepare_start(matches: &ArgMatches) -> Result<ProgramStart> {
    let mut start = ProgramStart::find()?;
    log::start(&start.places.state_dir)?;
    #[cfg(feature = "console")]
    {
        start.flags = console_flags::flags(matches);
    }
    Ok(start)
}

#[cfg(feature = "console")]
async fn open(start: &ProgramStart) -> Result<ExitCode> {
    console::run(start).await
}

#[cfg(not(feature = "console"))]
async fn open(_start: &ProgramStart) -> Result<ExitCode> {
    Err(eyre!("this program was built without the console; see `pilothouse help`"))
}
