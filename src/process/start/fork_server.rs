//! The fork server (`__fork`): a single-threaded process, already running, of which every task host is a copy. A
//! start therefore costs a fork instead of loading this program.
//!
//! A host is not a child of the fork server but its sibling, a child of the runtime (`CLONE_PARENT`): the process
//! tree is the same as if the runtime had started the host itself, and no task depends on the fork server. The server
//! leads its own session, so that a keeper ends it like anything that came out of a task, should it not exit when its
//! socket closes.

use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::FileExt as _;
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::{fs, io};

use rustix::process::setsid;
use rustix::stdio::dup2_stdin;

use super::idle_host;
use crate::process::environment::TASK_ID;
use crate::process::task_mark::TaskMark;
use crate::process::wire::{self, HostReport, HostTask};
use crate::process::{host, sys};

/// The argument that makes a process of this program a fork server.
pub(in crate::process) const FORK: &str = "__fork";
/// The argument by which a host is recognised; of the same length, because a copy overwrites the other with it.
pub(in crate::process) const HOST: &str = "__host";
/// A placeholder, in the arguments and in the environment, that a copy overwrites with its task's id; as long as an
/// id.
pub(in crate::process) const PLACEHOLDER: &str = "task_--------";

/// Runs `pilothouse __fork PLACEHOLDER` with the socket for orders as standard input, until that closes.
pub fn fork_server_main() -> ExitCode {
    match serve() {
        Ok(code) => code,
        // The runtime sees the socket close, and starts another server when it needs one.
        Err(_) => ExitCode::FAILURE,
    }
}

/// Handles orders. Also returns in the copies, when they have ended as hosts.
fn serve() -> io::Result<ExitCode> {
    sys::close_inherited()?;
    setsid()?;
    // Hosts inherit all of this.
    sys::ignore(&host::IGNORED);
    TaskMark::set();
    rustix::process::chdir("/")?;
    rustix::thread::set_name(c"pilothouse-fork")?;
    let marks = NameAddresses::find()?;
    let orders = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    while let Some((task, fds)) = wire::receive::<HostTask>(&orders)? {
        let Some(control) = fds.into_iter().next() else { continue };
        let report = match sys::fork_sibling() {
            Ok(None) => return become_host(task, orders, control, &marks),
            Ok(Some(pid)) => HostReport::Forked { pid: pid.as_raw_nonzero().get().unsigned_abs() },
            Err(error) => HostReport::NotForked { errno: error.raw_os_error().unwrap_or(libc::EIO) },
        };
        // The runtime may no longer be waiting.
        let _ = wire::send_now(&control, &[report]);
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs in a copy: makes its socket its standard input, as if it had been started with that.
fn become_host(
    task: HostTask,
    orders: UnixStream,
    control: OwnedFd,
    marks: &NameAddresses,
) -> io::Result<ExitCode> {
    dup2_stdin(&control)?;
    drop((control, orders));
    idle_host::host_main(task, |id| marks.write(id))
}

/// The addresses of this process's arguments and environment in its memory, as the kernel shows them to others.
#[derive(Debug)]
struct NameAddresses {
    /// Of the first argument and the placeholder after it.
    arguments: u64,
    /// Of the value of the variable with the task's id.
    variable: u64,
}

impl NameAddresses {
    fn find() -> io::Result<Self> {
        let missing = || io::Error::from(io::ErrorKind::NotFound);
        let stat = fs::read_to_string("/proc/self/stat")?;
        // The name in parentheses may contain anything; what follows is the third field.
        let fields = stat.rsplit_once(')').map(|(_, rest)| rest.split_ascii_whitespace().collect::<Vec<_>>());
        let field = |number: usize| fields.as_ref()?.get(number - 3)?.parse::<u64>().ok();
        let at = |start: Option<u64>, file: &str, text: String| {
            let found = memchr::memmem::find(&fs::read(file)?, text.as_bytes()).ok_or_else(missing)?;
            Ok::<_, io::Error>(start.ok_or_else(missing)? + found as u64)
        };
        let variable = at(field(50), "/proc/self/environ", format!("{TASK_ID}={PLACEHOLDER}"))?;
        Ok(Self {
            arguments: at(field(48), "/proc/self/cmdline", format!("{FORK}\0{PLACEHOLDER}"))?,
            variable: variable + TASK_ID.len() as u64 + 1,
        })
    }

    /// Names this process, a copy, after a task: in its environment, by which it is recognised, and in its
    /// arguments.
    fn write(&self, task_id: &str) -> io::Result<()> {
        if task_id.len() > PLACEHOLDER.len() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let id = format!("{task_id:\0<width$}", width = PLACEHOLDER.len());
        let memory = fs::File::options().write(true).open("/proc/self/mem")?;
        memory.write_all_at(id.as_bytes(), self.variable)?;
        memory.write_all_at(format!("{HOST}\0{id}").as_bytes(), self.arguments)
    }
}
