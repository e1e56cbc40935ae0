//! The fork server (`__fork`): one thread, already running, of which every task host is a copy. A start so costs a fork
//! instead of loading this program.
//!
//! A host is not its child but its sibling, a child of the runtime (`CLONE_PARENT`): the tree is the same as if the
//! runtime had started the host itself, and no task hangs on this process. It leads a session of its own, so that a
//! keeper ends it as it ends what came out of a task, should it not end when its socket closes.

use std::fs;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::FileExt as _;
use std::os::unix::net::UnixStream;
use std::process::ExitCode;

use rustix::process::setsid;
use rustix::stdio::dup2_stdin;
use serde::{Deserialize, Serialize};

use super::environment::{OsText, TASK_ID};
use super::host::{self, HostTask};
use super::sys;
use super::wire::{self, Report};

/// The argument that makes a process of this program a fork server.
pub(super) const FORK: &str = "__fork";
/// The argument by which a host is recognised, of the same length: a copy writes it over the other.
pub(super) const HOST: &str = "__host";
/// What stands where a copy writes the id of its task, in the arguments and in the environment: as long as one.
pub(super) const PLACEHOLDER: &str = "task_--------";

/// Asks for a host. Its control socket comes beside it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct HostOrder<'a> {
    /// The id of the task; a later runtime recognises the host by it.
    pub(super) task_id: Option<String>,
    /// The folder of the control group to make for the command.
    pub(super) group: Option<OsText<'a>>,
}

/// Runs `pilothouse __fork PLACEHOLDER` with the socket for orders as standard input, until that closes.
#[must_use]
pub fn fork_server_main() -> ExitCode {
    match serve() {
        Ok(code) => code,
        // The runtime sees its socket close, and starts another one when it needs one.
        Err(_) => ExitCode::FAILURE,
    }
}

/// Takes orders. Returns in the copies as well, when they have ended as hosts.
fn serve() -> io::Result<ExitCode> {
    sys::close_inherited()?;
    setsid()?;
    // Hosts inherit all of this.
    sys::ignore(&host::IGNORED);
    rustix::process::chdir("/")?;
    rustix::thread::set_name(c"pilothouse-fork")?;
    let marks = Marks::find()?;
    let orders = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    while let Some((order, fds)) = wire::receive::<HostOrder<'_>>(&orders)? {
        let Some(control) = fds.into_iter().next() else { continue };
        let report = match sys::fork_sibling() {
            Ok(None) => return become_host(order, orders, control, &marks),
            Ok(Some(pid)) => Report::Forked { pid: pid.as_raw_nonzero().get().unsigned_abs() },
            Err(error) => Report::NotForked { errno: error.raw_os_error().unwrap_or(libc::EIO) },
        };
        // Nobody may wait for it any more.
        let _ = wire::send_now(&control, &[report]);
    }
    Ok(ExitCode::SUCCESS)
}

/// What a copy does: its socket becomes its standard input, as if it had been started with that.
fn become_host(
    order: HostOrder<'_>,
    orders: UnixStream,
    control: OwnedFd,
    marks: &Marks,
) -> io::Result<ExitCode> {
    dup2_stdin(&control)?;
    drop((control, orders));
    if let Some(task_id) = &order.task_id {
        marks.write(task_id)?;
    }
    Ok(host::host_main(HostTask { group: order.group.map(OsText::into_os) }))
}

/// Where arguments and environment of this process lie in its memory, as the kernel shows them to others.
#[derive(Debug)]
struct Marks {
    /// Of the first argument and the placeholder behind it.
    arguments: u64,
    /// Of the value of the variable with the task's id.
    variable: u64,
}

impl Marks {
    fn find() -> io::Result<Self> {
        let missing = || io::Error::from(io::ErrorKind::NotFound);
        let stat = fs::read_to_string("/proc/self/stat")?;
        // The name in parentheses may hold anything; what follows is the third field.
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

    /// Names this process, a copy, after its task: in its environment, by which it is recognised, and its arguments.
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
