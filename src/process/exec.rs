//! The second stage of a start: a fork of the task host that turns itself into the command. A failure is reported
//! through its control socket; success closes the socket.

use std::convert::Infallible;
use std::ffi::{CStr, CString, OsStr, OsString};
use std::io::{self, Write as _};
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, MemfdFlags, Mode, OFlags, fstat, memfd_create, openat};
use rustix::io::{Errno, FdFlags, fcntl_dupfd_cloexec, fcntl_setfd};
use rustix::process::{fchdir, ioctl_tiocsctty, setsid, umask};
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout};

use super::environment::{OsText, on_path};
use super::script::is_posix;
use super::wire::{self, Failure, Spec, Stage};
use super::{Profile, limits, sys};

/// The kernel's limit for one argument, its final NUL included.
const MAX_ARGUMENT: usize = 128 << 10;
/// dash supports only descriptors of one digit.
const MAX_SHELL_DESCRIPTOR: i32 = 9;

/// Becomes the command received through `control`. Returns only when it could not be started.
pub(super) fn second_stage(control: &UnixStream) {
    // Close everything that belongs to the host, above all its end of `control`, which would hide the host's death.
    let Ok(()) = dup2_stdin(control) else { return };
    let Ok(()) = sys::close_inherited() else { return };
    // A copy above the standard streams, which the command's streams replace. It closes on exec.
    let Ok(control) = fcntl_dupfd_cloexec(io::stdin(), 3) else { return };
    // Not the host's name: hosts are recognised by it.
    let _ = rustix::thread::set_name(c"pilothouse-exec");
    limits::apply();
    let Err(failure) = become_command(&control);
    // When nobody reads this, the host is gone, and this process is about to be.
    let _ = wire::send(&control, &failure, &[]);
}

fn become_command(control: &OwnedFd) -> Result<Infallible, Failure> {
    let prepare = |error: io::Error| Stage::Prepare.failed(error);
    let received = wire::receive::<Spec<'_>>(control).map_err(prepare)?;
    let (spec, fds) = received.ok_or(Stage::Prepare.failed(Errno::PIPE))?;
    setsid().map_err(|errno| Stage::Prepare.failed(errno))?;
    let workdir = take_streams(&spec, fds)?;
    match &spec.limits {
        Some(limits) => limits.apply(),
        None => limits::restore_descriptors(spec.descriptor_limit),
    }
    if let Some(mask) = spec.umask {
        umask(Mode::from_raw_mode(mask));
    }
    enter(&workdir).map_err(|errno| Stage::Workdir.failed(errno))?;
    drop(workdir);
    sys::close_on_exec().map_err(prepare)?;
    let text = match is_too_long(&spec.cmd) {
        true => Some(LongCommand::write(&spec.cmd).map_err(prepare)?),
        false => None,
    };
    sys::reset_signals();
    execute(spec, text.as_ref()).map_err(|error| Stage::Exec.failed(error))
}

/// Makes the received descriptors the standard streams; returns the workdir.
fn take_streams(spec: &Spec<'_>, fds: Vec<OwnedFd>) -> Result<OwnedFd, Failure> {
    let mut fds = fds.into_iter();
    let mut next = || fds.next().ok_or(Stage::Prepare.failed(Errno::BADF));
    let workdir = next()?;
    let streams = |stdin: &OwnedFd, stdout: &OwnedFd, stderr: &OwnedFd| {
        dup2_stdin(stdin).and_then(|()| dup2_stdout(stdout)).and_then(|()| dup2_stderr(stderr))
    };
    let taken = if spec.tty {
        let terminal = next()?;
        ioctl_tiocsctty(&terminal).map_err(|errno| Stage::Terminal.failed(errno))?;
        streams(&terminal, &terminal, &terminal)
    } else {
        let stdin =
            if spec.stdin { next()? } else { dev_null().map_err(|errno| Stage::Prepare.failed(errno))? };
        streams(&stdin, &next()?, &next()?)
    };
    taken.map_err(|errno| Stage::Prepare.failed(errno))?;
    Ok(workdir)
}

fn dev_null() -> rustix::io::Result<OwnedFd> {
    openat(CWD, c"/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
}

/// Enters the workdir. One that was deleted could still be entered, so that is checked.
fn enter(workdir: &OwnedFd) -> rustix::io::Result<()> {
    if fstat(workdir)?.st_nlink == 0 {
        return Err(Errno::NOENT);
    }
    fchdir(workdir)
}

fn is_too_long(cmd: &str) -> bool {
    cmd.len() >= MAX_ARGUMENT
}

/// The text of a command too long for an argument, in memory. The shell reads it as a file, which changes neither its
/// `$0` nor its standard input nor its exit status.
struct LongCommand {
    fd: OwnedFd,
}

impl LongCommand {
    fn write(cmd: &str) -> io::Result<Self> {
        let mut file = std::fs::File::from(memfd_create(c"command", MemfdFlags::CLOEXEC)?);
        let number = file.as_raw_fd();
        if number > MAX_SHELL_DESCRIPTOR {
            return Err(Errno::MFILE.into());
        }
        // On the first line, so that line numbers the shell reports stay correct; the shell reads on from a descriptor of
        // its own, which no child inherits.
        write!(file, "exec {number}<&-; {cmd}")?;
        Ok(Self { fd: file.into() })
    }

    fn shell_command(&self) -> String {
        format!(". /proc/self/fd/{}", self.fd.as_raw_fd())
    }
}

/// Executes the shell: the one of this path, or the first of this name in the command's `PATH`.
fn execute(spec: Spec<'_>, text: Option<&LongCommand>) -> io::Result<Infallible> {
    let shell = spec.shell.into_os();
    let args: Vec<CString> = match spec.args {
        Some(args) => args.into_iter().map(|arg| c_string(arg.into_os())).collect::<io::Result<_>>()?,
        None => {
            let cmd = text.map_or(spec.cmd, LongCommand::shell_command);
            let flags = flags(spec.profile, &shell).iter().chain(end_of_options(&shell, &cmd));
            let flags = flags.map(|flag| (*flag).to_owned());
            [c_string(shell.clone())?].into_iter().chain(flags).chain([c_string(cmd.into())?]).collect()
        }
    };
    let env = variables(spec.env)?;
    if let Some(text) = text {
        fcntl_setfd(text.fd.as_fd(), FdFlags::empty())?;
    }
    let mut refused = Errno::NOENT.into();
    for candidate in candidates(&shell, &env) {
        let Err(error) = sys::execve(&c_string(candidate.into())?, &args, &env);
        match Errno::from_io_error(&error) {
            Some(Errno::NOENT) => {}
            Some(Errno::ACCESS | Errno::NOTDIR) => refused = error,
            _ => return Err(error),
        }
    }
    Err(refused)
}

/// Returns the flags that limit what the shell reads before its command.
fn flags(profile: Profile, shell: &OsStr) -> &'static [&'static CStr] {
    let is_bash = Path::new(shell).file_name() == Some(OsStr::new("bash"));
    match profile {
        Profile::Login => &[c"-lc"],
        Profile::Nothing if is_bash => &[c"--noprofile", c"--norc", c"-c"],
        Profile::Usual | Profile::Nothing => &[c"-c"],
    }
}

/// Returns what keeps a command that begins like an option from being taken for one. Only these shells look for more
/// options between `-c` and the command; for others the command is the very next argument.
fn end_of_options(shell: &OsStr, cmd: &str) -> &'static [&'static CStr] {
    if is_posix(Path::new(shell)) && cmd.starts_with(['-', '+']) { &[c"--"] } else { &[] }
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
