//! Runs a call as a task: the runtime runs the command, and this process represents it until it ends. Without a runtime's
//! word it runs plainly only where nobody answers, and never without a mark.

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{CWD, Mode, OFlags, openat};

use super::handed_over::{AGENT_NAME, AGENT_PID};
use super::real::RealShell;
use super::terminal::KeptModes;
use super::unserved::{UnservedCall, UnservedCause};
use super::{DOOR, ShellInvocation, find};
use crate::agent::shell::{STARTED_AGENT, TerminalStreams};
use crate::agents::AgentProgram;
use crate::cli::print;
use crate::cli::surroundings::surroundings;
use crate::envelope::with_causes;
use crate::link::{
    ClientRole, Error, Hello, Loss, ShellCall, ShellFallback, ShellInput, ShellReply, ShellRequest,
    ask_at_once,
};
use crate::model::phrases::not_run_clause;
use crate::paths::Places;
use crate::process::environment::Environment;
use crate::process::{
    InheritedAttributes, MOST_DESCRIPTORS, RESIZED, SignalQueue, Witness, die_of, inherited_descriptors,
    is_confined, own_umask, parent, whole_program,
};

/// How long joining or starting a runtime may take.
const BUDGET: Duration = Duration::from_millis(300);
/// The exit code if the command was not run, ended with its runtime, or its outcome is unknown (`EX_TEMPFAIL`).
pub(super) const UNKNOWN: u8 = 75;
/// The exit code if the command was not run because no runtime was available (`EX_UNAVAILABLE`).
pub(super) const REFUSED: u8 = 69;
/// Why a command is not run on a terminal that would not be all of its standard streams.
const PARTLY: &str = "not all its standard streams are its terminal";
/// Why a runtime is not asked to run a command where nothing is any more.
const REMOVED: &str = "the directory it begins in was removed";

/// Runs a call as a task, or as `unserved` does if nobody answers.
pub(super) fn run(call: &ShellInvocation, real: &RealShell, unserved: UnservedCall) -> ExitCode {
    let mut asked = match RuntimeRequest::new(call, real) {
        Ok(asked) => asked,
        Err(error) => return not_run(&error),
    };
    match asked.connect() {
        Ok(connected) => match asked.carry(connected, real) {
            Ok(code) => code,
            Err(refused) => unserved(call, real, UnservedCause::Refused(&refused)),
        },
        Err(error) => match ShellFallback::by(&error) {
            // What the agent's sandbox keeps from asking stays in it, as one that a runtime recognises.
            ShellFallback::Forbidden if is_confined() => plainly(&with_causes(&error), real),
            ShellFallback::Silence | ShellFallback::Forbidden => {
                unserved(call, real, UnservedCause::Refused(&with_causes(&error)))
            }
            ShellFallback::Answer => unserved(call, real, UnservedCause::Answered(&with_causes(&error))),
            ShellFallback::Busy | ShellFallback::Oversized => not_run(&with_causes(&error)),
        },
    }
}

/// The request to the runtime.
pub(super) struct RuntimeRequest {
    pub(super) places: Places,
    pub(super) hello: Hello,
    pub(super) request: ShellRequest,
    workdir: OwnedFd,
    /// The descriptors above the standard streams that the request numbers.
    descriptors: Vec<OwnedFd>,
}

impl RuntimeRequest {
    /// Describes the command. One that begins where nothing can name its directory is described too: the runtime then
    /// says whether it may run.
    ///
    /// # Errors
    /// Why nobody can be asked about it.
    pub(super) fn new(call: &ShellInvocation, real: &RealShell) -> Result<Self, String> {
        let cwd = std::env::current_dir().map_err(|error| match error.kind() {
            ErrorKind::NotFound => REMOVED.to_owned(),
            _ => format!("its directory: {error}"),
        });
        let own = |path| openat(CWD, path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
        let described =
            cwd.and_then(|cwd| Ok((cwd, own(".").map_err(|error| format!("its directory: {error}"))?)));
        let (cwd, workdir, unfit) = match described {
            Ok((cwd, workdir)) => (cwd, workdir, None),
            Err(why) => {
                let root = own("/").map_err(|error| format!("{why}; /: {error}"))?;
                (own_directory().map(as_it_was).unwrap_or_else(|| "/".into()), root, Some(why))
            }
        };
        let places = match &unfit {
            None => Places::find(&workspace(call).unwrap_or_else(|| cwd.clone()), &surroundings())
                .map_err(|error| with_causes(&error))?,
            Some(why) => {
                left_of(call).ok_or_else(|| format!("{why}, and nothing says of which workspace it is"))?
            }
        };
        let (numbers, descriptors): (Vec<_>, Vec<_>) = inherited_descriptors().into_iter().unzip();
        let is_many = (numbers.len() > MOST_DESCRIPTORS).then(|| {
            format!("{} descriptors are open; at most {MOST_DESCRIPTORS} can be handed over", numbers.len())
        });
        let (numbers, descriptors) =
            if is_many.is_some() { Default::default() } else { (numbers, descriptors) };
        let is_partly = (call.terminal == TerminalStreams::Partly).then(|| PARTLY.to_owned());
        let unfit = unfit.or(is_many).or(is_partly);
        let request = ShellRequest { unfit, descriptors: numbers, ..request(call, real) };
        let environment = Environment::new(real.variables.clone(), own_umask());
        let label = find(&call.variables, AGENT_NAME).and_then(OsStr::to_str).map(str::to_owned);
        let hello = Hello { environment: Some(environment), label, ..Hello::new(ClientRole::Shell, cwd) };
        Ok(Self { places, hello, request, workdir, descriptors })
    }

    /// Connects to the runtime, starting one if there is none.
    fn connect(&mut self) -> Result<ShellCall, Error> {
        let program = std::env::current_exe().map_or_else(|_| "/proc/self/exe".into(), whole_program);
        ask_at_once(&self.places, &program, BUDGET, &mut self.hello, &mut self.request)
    }

    /// Requests the command and represents it until it has ended.
    ///
    /// # Errors
    /// Why the runtime does not run it, if no rule and no pause concerns it.
    fn carry(&self, mut line: ShellCall, real: &RealShell) -> Result<ExitCode, String> {
        let signals = match SignalQueue::watch() {
            Ok(signals) => signals,
            Err(error) => return Ok(not_run(&format!("its signals: {error}"))),
        };
        let is_on_terminal = self.request.input == ShellInput::CallersTerminal;
        let modes = is_on_terminal.then(KeptModes::of_input).flatten();
        let (stdin, stdout, stderr) = (std::io::stdin(), std::io::stdout(), std::io::stderr());
        let fds = [self.workdir.as_fd(), stdin.as_fd(), stdout.as_fd(), stderr.as_fd()];
        let more: Vec<_> = self.descriptors.iter().map(OwnedFd::as_fd).collect();
        // Before the command can run and have its caller send it a signal. Without one, a signal counts as sent to all.
        let mut witness = Witness::start().ok();
        match line.ask(&self.request, fds, &more) {
            Ok(()) => {}
            // Nothing was sent.
            Err(error @ Error::Frame { .. }) => return Ok(not_run(&with_causes(&error))),
            Err(_) => {
                drop(modes);
                return Ok(report_loss(&Loss::Unknown));
            }
        }
        let mut known = Loss::Unknown;
        let last = loop {
            match wait(&mut line, &signals, &mut witness) {
                Ok(Some(ShellReply::Started)) => known = Loss::Begun,
                Ok(Some(ShellReply::Held | ShellReply::Typed { .. }) | None) => {}
                Ok(Some(reply)) => break Some(reply),
                Err(_) => break None,
            }
        };
        drop(modes);
        Ok(match last {
            Some(ShellReply::Fenced) => {
                drop((signals, witness));
                real.become_it()
            }
            Some(ShellReply::Refused { message, code: None }) => return Err(message),
            Some(ShellReply::Refused { message, code: Some(code) }) => {
                let _ = print::say(&message);
                ExitCode::from(code)
            }
            Some(ShellReply::Ended { code: Some(0), unwritten: Some(why), closing: None, note, .. }) => {
                if let Some(note) = note {
                    let _ = print::say(note);
                }
                let _ = print::say(format_args!("its output could not be written: {why}"));
                ExitCode::FAILURE
            }
            Some(ShellReply::Ended { code, signal, closing, note, .. }) => {
                drop((signals, witness));
                if let Some(note) = note {
                    let _ = print::say(note);
                }
                end(code, signal, closing)
            }
            Some(ShellReply::Held | ShellReply::Started | ShellReply::Typed { .. }) | None => {
                report_loss(&known)
            }
        })
    }
}

/// Becomes the real shell, and says why.
pub(super) fn plainly(why: &str, real: &RealShell) -> ExitCode {
    let _ = print::say(format_args!("this command runs without Pilothouse: {why}"));
    real.become_it()
}

/// Says why a command does not run.
pub(super) fn not_run(why: &str) -> ExitCode {
    let _ = print::say(not_run_clause(why));
    ExitCode::from(UNKNOWN)
}

/// Describes the command itself.
fn request(call: &ShellInvocation, real: &RealShell) -> ShellRequest {
    let number = |name: &str| find(&call.variables, name)?.to_str()?.parse().ok();
    let text = |name: &str| Some(find(&call.variables, name)?.to_str()?.to_owned());
    let marks = call.marks.agent.and_then(AgentProgram::own_shell).map(|shell| shell.marks);
    let agent = || {
        let started = number(AGENT_PID)?;
        // A known one has one process, the started one or another in its place; that runs its hooks as well.
        Some(call.marks.agent.and_then(|_| parent(std::process::id())).unwrap_or(started))
    };
    ShellRequest {
        agent: call.marks.agent.map(|agent| agent.as_str().to_owned()).or_else(|| text(STARTED_AGENT)),
        session: marks.and_then(|marks| text(marks.session?)),
        agent_pid: marks.and_then(|marks| number(marks.pid?)).or_else(agent),
        shell: real.program.clone(),
        inherited: InheritedAttributes::own(),
        descriptors: Vec::new(),
        input: match call.terminal {
            TerminalStreams::Own => ShellInput::CallersTerminal,
            _ => ShellInput::Descriptor,
        },
        tool_call: None,
        shown: None,
        description: None,
        unfit: None,
        args: real.args.clone(),
    }
}

/// Returns the directory whose workspace's runtime to use: where the agent was started.
fn workspace(call: &ShellInvocation) -> Option<PathBuf> {
    if let Some(place) = find(&call.variables, DOOR) {
        return Some(place.into());
    }
    let agent = parent(std::process::id())?;
    std::fs::read_link(Path::new("/proc").join(agent.to_string()).join("cwd")).ok()
}

/// Returns the places of the workspace that a command belongs to, where the directories that would say so may be gone: that of the
/// agent, else its own; of one that was removed, the repository around it. Where none is left, nobody can say whose it is.
fn left_of(call: &ShellInvocation) -> Option<Places> {
    let of = |dir: PathBuf| {
        let left = dir.ancestors().find(|dir| dir.is_dir())?;
        let places = Places::find(left, &surroundings()).ok()?;
        (left == dir || places.workspace.join(".git").exists()).then_some(places)
    };
    [workspace(call), own_directory()].into_iter().flatten().map(as_it_was).find_map(of)
}

/// Returns the directory of this process; of one that was removed the kernel says so behind its path.
fn own_directory() -> Option<PathBuf> {
    std::fs::read_link("/proc/self/cwd").ok()
}

/// Returns the path that a directory had before it was removed.
fn as_it_was(dir: PathBuf) -> PathBuf {
    if dir.is_dir() {
        return dir;
    }
    let path = dir.as_os_str().as_bytes();
    OsStr::from_bytes(path.strip_suffix(b" (deleted)").unwrap_or(path)).into()
}

/// Waits for a reply, forwarding signals that arrive meanwhile.
fn wait(
    line: &mut ShellCall,
    signals: &SignalQueue,
    witness: &mut Option<Witness>,
) -> Result<Option<ShellReply>, Error> {
    if let Some(reply) = line.next_reply()? {
        return Ok(Some(reply));
    }
    let mut fds = [PollFd::new(&*line, PollFlags::IN), PollFd::new(signals, PollFlags::IN)];
    rustix::io::retry_on_intr(|| poll(&mut fds, None)).map_err(|errno| Error::Talk(errno.into()))?;
    let is_said = !fds[0].revents().is_empty();
    while let Some(number) = signals.next() {
        if number == RESIZED {
            line.report_resize()?;
            continue;
        }
        let to_group = witness.as_ref().is_none_or(|witness| witness.has(number));
        line.signal(number, to_group)?;
        if to_group && witness.is_some() {
            // The signal stays pending there.
            *witness = Witness::start().ok();
        }
    }
    if is_said { line.read() } else { Ok(None) }
}

/// Ends this process the way the command ended.
fn end(code: Option<i32>, signal: Option<i32>, closing: Option<String>) -> ExitCode {
    if let Some(why) = closing {
        return report_loss(&Loss::Ended(why));
    }
    match (code, signal) {
        (Some(code), _) => ExitCode::from(u8::try_from(code & 0xff).unwrap_or(UNKNOWN)),
        (None, Some(signal)) => {
            die_of(signal);
            ExitCode::from(u8::try_from(128 + signal).unwrap_or(UNKNOWN))
        }
        (None, None) => report_loss(&Loss::Begun),
    }
}

/// Reports what is known about a command whose end was not observed.
fn report_loss(known: &Loss) -> ExitCode {
    let _ = print::say(known);
    ExitCode::from(UNKNOWN)
}
