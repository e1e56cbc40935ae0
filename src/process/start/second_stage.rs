//! The second stage of a start: a process sharing the task host's memory that turns itself into the command. A
//! failure is reported over its control socket; success closes the socket.

use std::convert::Infallible;
use std::ffi::{CStr, CString, OsStr, OsString};
use std::io::{self, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rustix::fs::{CWD, MemfdFlags, Mode, OFlags, fstat, memfd_create, openat};
use rustix::io::{Errno, fcntl_dupfd_cloexec};
use rustix::process::{fchdir, getpid, ioctl_tiocsctty, setpgid, setsid, umask};
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout};
use rustix::termios::tcsetpgrp;

use crate::process::environment::{OsText, on_path};
use crate::process::script::{STREAM_COPIES, TEXT_DESCRIPTOR, text_path};
use crate::process::sys::Texts;
use crate::process::wire::{self, Spec, StartFailure, StartStage};
use crate::process::{InheritedAttributes, ShellProfile, inherited, limits, sys};

/// The kernel's size limit for one argument, including its final NUL.
const MAX_ARGUMENT: usize = 128 << 10;

/// The signals whose disposition this host has changed; they are the same for all of its commands.
static CHANGED_SIGNALS: OnceLock<Vec<libc::c_int>> = OnceLock::new();

/// Everything the second stage needs to start a command, worked out in advance.
pub(in crate::process) struct Launch {
    tty: bool,
    stdin: bool,
    inherited: Option<InheritedAttributes>,
    /// The numbers of its descriptors above the standard streams.
    descriptors: Vec<i32>,
    descriptor_limit: Option<u64>,
    umask: Option<u32>,
    /// The candidate paths of the shell.
    programs: Vec<CString>,
    args: Texts,
    env: Texts,
    /// Whether its streams are there twice: a profile may redirect them.
    is_login: bool,
    /// The text that the command finds as a file, in memory: its own, or that of a command too long for an argument. The
    /// shell reads it as a file, which changes neither its `$0` nor its standard input nor its exit status.
    text: Option<OwnedFd>,
    /// The signals whose disposition the host has changed; the command starts with the default ones.
    signals: &'static [libc::c_int],
    /// Whether the command will be a preferred victim anyway.
    is_victim: bool,
}

impl Launch {
    /// Works out everything a command is started with.
    pub(in crate::process) fn of(spec: Spec<'_>) -> Result<Self, StartFailure> {
        let prepare = |error: io::Error| StartStage::Prepare.failure(error);
        let is_long = spec.text.is_none() && spec.cmd.len() >= MAX_ARGUMENT;
        let text = if is_long { Some(&spec.cmd) } else { spec.text.as_ref() };
        let text = text.map(|text| in_memory(text)).transpose().map_err(prepare)?;
        let exec = |error: io::Error| StartStage::Exec.failure(error);
        let shell = spec.shell.into_os();
        let args = match spec.args {
            Some(args) => args.into_iter().map(|arg| c_string(arg.into_os())).collect::<io::Result<_>>(),
            None => {
                let cmd = if is_long { format!(". {}", text_path()) } else { spec.cmd };
                shell_args(&shell, spec.profile, cmd)
            }
        };
        let env = variables(spec.env).map_err(exec)?;
        let programs = candidates(&shell, &env).into_iter().map(|program| c_string(program.into()));
        Ok(Self {
            tty: spec.tty,
            stdin: spec.stdin,
            inherited: spec.inherited,
            descriptors: spec.descriptors,
            descriptor_limit: spec.descriptor_limit,
            umask: spec.umask,
            programs: programs.collect::<io::Result<_>>().map_err(exec)?,
            args: Texts::of(args.map_err(exec)?),
            env: Texts::of(env),
            is_login: spec.profile == ShellProfile::Login,
            text,
            signals: CHANGED_SIGNALS.get_or_init(sys::changed_signals),
            is_victim: limits::is_victim(),
        })
    }

    /// Turns this process, the second stage, into the command. Returns only if the command could not be started,
    /// after reporting that over `control`.
    ///
    /// It runs in the memory of the task host, which is suspended meanwhile ([`sys::spawn`]). With a `terminal`
    /// beside its streams it stays in the session of its host, whose controlling terminal that is: if the shell led
    /// the session, its end would hang up the processes it leaves behind.
    pub(in crate::process) fn carry_out(
        &self,
        fds: &[OwnedFd],
        terminal: Option<&OwnedFd>,
        control: &UnixStream,
    ) {
        // Must differ from the host's name, by which hosts are recognised.
        let _ = rustix::thread::set_name(c"pilothouse-exec");
        // Move the socket away from the descriptors of the text and of the command. It closes on exec.
        let above = inherited::first_above(&self.descriptors).max(TEXT_DESCRIPTOR + 1);
        let Ok(control) = fcntl_dupfd_cloexec(control, above) else { return };
        let Err(failure) = self.become_command(fds, terminal);
        // If nobody reads this, the host is gone, and this process will be soon.
        let _ = wire::send(&control, &failure, &[]);
    }

    fn become_command(
        &self,
        fds: &[OwnedFd],
        terminal: Option<&OwnedFd>,
    ) -> Result<Infallible, StartFailure> {
        let prepare = |error: io::Error| StartStage::Prepare.failure(error);
        match terminal.filter(|_| !self.tty) {
            Some(terminal) => come_forward(terminal).map_err(|errno| StartStage::Terminal.failure(errno))?,
            None => setsid().map(drop).map_err(|errno| StartStage::Prepare.failure(errno))?,
        }
        let (streams, more) = fds.split_at(fds.len().saturating_sub(self.descriptors.len()));
        let workdir = self.take_streams(streams)?;
        if let Some(mask) = self.umask {
            umask(Mode::from_raw_mode(mask));
        }
        enter(workdir).map_err(|errno| StartStage::Workdir.failure(errno))?;
        let more = inherited::moved_above(more, &self.descriptors);
        let more = more.map_err(|errno| StartStage::Prepare.failure(errno))?;
        sys::close_on_exec().map_err(prepare)?;
        for (fd, number) in more.iter().zip(&self.descriptors) {
            sys::duplicate_as(fd.as_fd(), *number).map_err(prepare)?;
        }
        if let Some(text) = &self.text {
            sys::duplicate_as(text.as_fd(), TEXT_DESCRIPTOR).map_err(prepare)?;
        }
        if self.is_login {
            sys::duplicate_streams(STREAM_COPIES).map_err(prepare)?;
        }
        limits::apply(self.is_victim || self.inherited.is_some());
        match &self.inherited {
            Some(inherited) => inherited.apply(),
            None => limits::restore_descriptors(self.descriptor_limit),
        }
        match &self.inherited {
            Some(inherited) => inherited.close_and_ignore(),
            None => sys::reset(self.signals),
        }
        self.execute().map_err(|error| StartStage::Exec.failure(error))
    }

    /// Makes the received descriptors the standard streams; returns the workdir.
    fn take_streams<'a>(&self, fds: &'a [OwnedFd]) -> Result<&'a OwnedFd, StartFailure> {
        let mut fds = fds.iter();
        let mut next = || fds.next().ok_or(StartStage::Prepare.failure(Errno::BADF));
        let workdir = next()?;
        let streams = |stdin: &OwnedFd, stdout: &OwnedFd, stderr: &OwnedFd| {
            dup2_stdin(stdin).and_then(|()| dup2_stdout(stdout)).and_then(|()| dup2_stderr(stderr))
        };
        let taken = if self.tty {
            let terminal = next()?;
            ioctl_tiocsctty(terminal).map_err(|errno| StartStage::Terminal.failure(errno))?;
            streams(terminal, terminal, terminal)
        } else if self.stdin {
            streams(next()?, next()?, next()?)
        } else {
            let null = dev_null().map_err(|errno| StartStage::Prepare.failure(errno))?;
            streams(&null, next()?, next()?)
        };
        taken.map_err(|errno| StartStage::Prepare.failure(errno))?;
        Ok(workdir)
    }

    /// Executes the shell: the one at this path, or the first of this name in the command's `PATH`.
    fn execute(&self) -> io::Result<Infallible> {
        let mut refused = Errno::NOENT.into();
        for program in &self.programs {
            let Err(error) = sys::execve(program, &self.args, &self.env);
            match Errno::from_io_error(&error) {
                Some(Errno::NOENT) => {}
                Some(Errno::ACCESS | Errno::NOTDIR) => refused = error,
                _ => return Err(error),
            }
        }
        Err(refused)
    }
}

/// Moves this process into its own process group and makes that the terminal's foreground group.
fn come_forward(terminal: &OwnedFd) -> rustix::io::Result<()> {
    setpgid(None, None)?;
    // This stops no process: a host ignores SIGTTOU.
    tcsetpgrp(terminal, getpid())
}

fn dev_null() -> rustix::io::Result<OwnedFd> {
    openat(CWD, c"/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
}

/// Enters the workdir. A deleted directory could still be entered, so that is checked first.
fn enter(workdir: &OwnedFd) -> rustix::io::Result<()> {
    if fstat(workdir)?.st_nlink == 0 {
        return Err(Errno::NOENT);
    }
    fchdir(workdir)
}

/// Puts a command's text into a memory file. The prefix is on the first line, so that line numbers reported by the
/// shell remain correct; the shell reads the rest from a descriptor of its own, which no child inherits.
fn in_memory(cmd: &str) -> io::Result<OwnedFd> {
    let mut file = std::fs::File::from(memfd_create(c"command", MemfdFlags::CLOEXEC)?);
    write!(file, "exec {TEXT_DESCRIPTOR}<&-; {cmd}")?;
    Ok(file.into())
}

fn shell_args(shell: &OsStr, profile: ShellProfile, cmd: String) -> io::Result<Vec<CString>> {
    let flags: Vec<CString> = flags(profile, shell).iter().map(|flag| (*flag).to_owned()).collect();
    // What begins like an option must not be parsed as one.
    let cmd = if cmd.starts_with(['-', '+']) { format!(" {cmd}") } else { cmd };
    // In messages about a step the shell has its name alone.
    let name = Path::new(shell).file_name().filter(|_| profile == ShellProfile::Nothing);
    let name = name.map(|name| c_string(name.to_owned())).transpose()?;
    let args = [c_string(shell.to_owned())?].into_iter().chain(flags).chain([c_string(cmd.into())?]);
    Ok(args.chain(name).collect())
}

/// Returns the flags that limit what the shell reads before its command.
fn flags(profile: ShellProfile, shell: &OsStr) -> &'static [&'static CStr] {
    let is_bash = Path::new(shell).file_name() == Some(OsStr::new("bash"));
    match profile {
        ShellProfile::Login => &[c"-lc"],
        ShellProfile::Nothing if is_bash => &[c"--noprofile", c"--norc", c"-c"],
        ShellProfile::Usual | ShellProfile::Nothing => &[c"-c"],
    }
}

fn variables(env: Vec<(OsText<'_>, OsText<'_>)>) -> io::Result<Vec<CString>> {
    let variable = |(name, value): (OsText<'_>, OsText<'_>)| {
        let mut text = name.into_os();
        text.push("=");
        text.push(value.into_os());
        c_string(text)
    };
    env.into_iter().map(variable).collect()
}

/// Returns whether a shell can be started in `workdir` with the `path` of its environment; otherwise why not.
///
/// # Errors
/// Why the last place where it may be has no program.
pub fn find_shell(shell: &Path, path: Option<&OsStr>, workdir: &Path) -> io::Result<()> {
    let mut variable = OsString::from("PATH=");
    variable.push(path.unwrap_or_default());
    let env: Vec<CString> = path.and_then(|_| c_string(variable).ok()).into_iter().collect();
    let mut last = Err(Errno::NOENT);
    for candidate in candidates(shell.as_os_str(), &env) {
        let candidate = workdir.join(candidate);
        last = match rustix::fs::access(&candidate, rustix::fs::Access::EXEC_OK) {
            Ok(()) if candidate.is_dir() => Err(Errno::ACCESS),
            found => found,
        };
        if last.is_ok() {
            break;
        }
    }
    last.map_err(io::Error::from)
}

fn candidates(shell: &OsStr, env: &[CString]) -> Vec<PathBuf> {
    let path = Path::new(shell);
    if path.components().count() != 1 || path.is_absolute() {
        return vec![path.to_owned()];
    }
    let search = env.iter().find_map(|variable| variable.to_bytes().strip_prefix(b"PATH="));
    on_path(shell, search.map(OsStr::from_bytes)).collect()
}

fn c_string(text: OsString) -> io::Result<CString> {
    CString::new(text.into_vec()).map_err(|_| Errno::INVAL.into())
}
