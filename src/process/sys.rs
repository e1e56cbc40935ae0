//! The system calls that no safe interface covers. The only unsafe code of the program: each block says what makes it
//! sound, and nothing here makes decisions.
#![expect(
    unsafe_code,
    reason = "close_range, malloc_trim, turns of a thread, signal dispositions and handlers, signalfd, leases, fork, clone3, execve, TIOCNOTTY, TIOCPKT and foreign descriptors"
)]

use std::convert::Infallible;
use std::ffi::{CStr, CString, c_char};
use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd as _, OwnedFd};
use std::{io, ptr};

use portable_pty::MasterPty;
use rustix::process::Pid;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

mod handed_on;
mod lease;
mod memory;

pub(crate) use self::{lease::is_written, memory::return_memory};

use handed_on::{DEFAULT, dispose, disposition};
pub(super) use handed_on::{StartAttributes, at_start, copy_handed_on, ignore};

/// The first descriptor after the standard streams.
const FIRST: libc::c_uint = 3;

/// Closes every descriptor above the standard streams. Only for the first lines of a process, which then owns none of
/// them or never drops what it owned.
pub(super) fn close_inherited() -> io::Result<()> {
    close_range(0)
}

/// Sets close-on-exec on every descriptor above the standard streams.
pub(super) fn close_on_exec() -> io::Result<()> {
    close_range(libc::CLOSE_RANGE_CLOEXEC)
}

fn close_range(flags: libc::c_uint) -> io::Result<()> {
    // SAFETY: the call takes plain numbers. With CLOEXEC it invalidates nothing; without, it is made
    // by the fork server before that process owns any descriptor above 2.
    let done = unsafe { libc::syscall(libc::SYS_close_range, FIRST, libc::c_uint::MAX, flags) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Duplicates a descriptor to this number, so that it stays open on exec. A descriptor that had the number is closed.
pub(super) fn duplicate_as(fd: BorrowedFd<'_>, number: libc::c_int) -> io::Result<()> {
    let fd = fd.as_raw_fd();
    // SAFETY: the calls take numbers. They are made by the second stage, whose descriptors the exec that follows closes.
    let done = unsafe {
        // Duplicated to itself, it would stay close-on-exec.
        if fd == number { libc::fcntl(fd, libc::F_SETFD, 0) } else { libc::dup2(fd, number) }
    };
    if done < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Duplicates the standard streams to these numbers, so that they stay open on exec.
pub(super) fn duplicate_streams(numbers: [libc::c_int; 3]) -> io::Result<()> {
    for (stream, number) in (0..).zip(numbers) {
        // SAFETY: as above.
        if unsafe { libc::dup2(stream, number) } < 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

/// Makes the scheduler give the calling thread short time slices, so that programs with long ones do not keep it
/// waiting: it gets no more processor time, but gets it sooner. Child processes get normal slices. Ignored by kernels
/// before 6.12.
pub(crate) fn take_short_turns() {
    const SLICE_NANOSECONDS: u64 = 100_000;
    let size = u32::try_from(size_of::<libc::sched_attr>()).unwrap_or_default();
    // SAFETY: the calls take plain numbers; 0 is the calling thread.
    let (policy, nice) = unsafe { (libc::sched_getscheduler(0), libc::getpriority(libc::PRIO_PROCESS, 0)) };
    // Another policy was someone's choice, and a nice value below 0 would not be inherited.
    if policy != libc::SCHED_OTHER || nice < 0 {
        return;
    }
    let attributes = libc::sched_attr {
        size,
        sched_policy: libc::SCHED_OTHER.unsigned_abs(),
        sched_flags: u64::from(libc::SCHED_FLAG_RESET_ON_FORK.unsigned_abs()),
        sched_nice: nice,
        sched_priority: 0,
        sched_runtime: SLICE_NANOSECONDS,
        sched_deadline: 0,
        sched_period: 0,
    };
    // SAFETY: `attributes` is a complete sched_attr of the size it states and outlives the call. A refusal changes
    // nothing.
    unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) };
}

/// The highest signal number.
const SIGNALS: libc::c_int = 64;

/// Returns the signals whose disposition is not the default one.
pub(super) fn changed_signals() -> Vec<libc::c_int> {
    let is_changed = |signal: &libc::c_int| disposition(*signal).is_some_and(|now| now != DEFAULT);
    (1..=SIGNALS).filter(is_changed).collect()
}

/// Resets every signal to its default disposition and unblocks all of them.
pub(super) fn reset_signals() {
    reset(&changed_signals());
}

/// Resets `signals` to their default disposition and unblocks all signals.
pub(super) fn reset(signals: &[libc::c_int]) {
    signals.iter().for_each(|signal| dispose(*signal, DEFAULT));
    unblock(&Mask(signal_set(&[])));
}

/// Makes `act` run before this process dies of a fatal signal that no event loop sees. It runs inside a signal
/// handler, so it must not allocate, lock or wait. Only the first call has an effect.
#[cfg(feature = "console")]
pub(crate) fn before_death(act: fn()) {
    /// A stack overflow ends in the first of these.
    const FATAL: [libc::c_int; 5] = [libc::SIGABRT, libc::SIGILL, libc::SIGFPE, libc::SIGSYS, libc::SIGTRAP];
    static LAST_ACT: std::sync::OnceLock<fn()> = std::sync::OnceLock::new();

    extern "C" fn die(signal: libc::c_int) {
        if let Some(act) = LAST_ACT.get() {
            act();
        }
        // SAFETY: the call takes a number. SA_RESETHAND has made the disposition the default one.
        unsafe { libc::raise(signal) };
    }
    if LAST_ACT.set(act).is_err() {
        return;
    }
    let handler: extern "C" fn(libc::c_int) = die;
    let action = libc::sigaction {
        sa_sigaction: handler as libc::sighandler_t,
        sa_mask: signal_set(&[]),
        sa_flags: libc::SA_RESETHAND | libc::SA_NODEFER | libc::SA_ONSTACK,
        sa_restorer: None,
    };
    for signal in FATAL {
        // SAFETY: `action` is a complete sigaction that outlives the call; its handler has the type for use without
        // SA_SIGINFO and does only what a handler may, which `act` promises too.
        unsafe { libc::sigaction(signal, &raw const action, ptr::null_mut()) };
    }
}

/// Blocks SIGCHLD and returns a non-blocking descriptor that is readable while one is pending.
pub(super) fn child_signals() -> io::Result<OwnedFd> {
    block(&[libc::SIGCHLD]).map(|(fd, _)| fd)
}

/// A previous signal mask.
pub(super) struct Mask(libc::sigset_t);

/// Blocks `signals`; returns a non-blocking descriptor for reading pending ones, and the previous mask.
pub(super) fn block(signals: &[libc::c_int]) -> io::Result<(OwnedFd, Mask)> {
    let set = signal_set(signals);
    let mut before = signal_set(&[]);
    // SAFETY: both are initialised sets that outlive the call.
    if unsafe { libc::sigprocmask(libc::SIG_BLOCK, &raw const set, &raw mut before) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: as above; -1 asks for a new descriptor.
    let fd = unsafe { libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor was just created and has no other owner.
    Ok((unsafe { OwnedFd::from_raw_fd(fd) }, Mask(before)))
}

/// Restores the signal mask to the given one.
pub(super) fn unblock(mask: &Mask) {
    // SAFETY: the set is initialised and outlives the call; the old mask is not requested.
    unsafe { libc::sigprocmask(libc::SIG_SETMASK, &raw const mask.0, ptr::null_mut()) };
}

fn signal_set(signals: &[libc::c_int]) -> libc::sigset_t {
    let mut set = std::mem::MaybeUninit::uninit();
    // SAFETY: sigemptyset initialises the whole set.
    let mut set = unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        set.assume_init()
    };
    for signal in signals {
        // SAFETY: `set` is initialised.
        unsafe { libc::sigaddset(&raw mut set, *signal) };
    }
    set
}

/// The stack size, in bytes, of a process that shares this process's memory.
#[cfg(target_arch = "x86_64")]
const STACK: usize = 256 << 10;

/// Starts a process that runs `child` and ends when that returns. Where possible, the new process shares the memory
/// of this one, which is suspended until the other has executed a program or ended: no page has to be copied. Changes
/// that `child` makes to memory then happen here; its descriptors, signals, limits and directory are its own.
/// Elsewhere the new process is a copy.
///
/// Where the kernel supports it, the process is created directly in the control group with the given folder: moving
/// it there later would make the kernel wait for all processors (measured: 18 ms).
pub(super) fn spawn(group: Option<BorrowedFd<'_>>, child: impl FnOnce()) -> io::Result<libc::pid_t> {
    let mut child = Some(child);
    let lent = lend(group, &mut child).or_else(|| group.and_then(|_| lend(None, &mut child)));
    let pid = match lent.or_else(|| group.and_then(clone_into)) {
        Some(pid) => pid,
        // SAFETY: only the task host starts processes in this way, and it has one thread: no lock of the allocator or of
        // libc can be held by another one, so the copy may do whatever the host could.
        None => unsafe { libc::fork() },
    };
    match pid {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            // A panic must not unwind into the copy of the host.
            let _ =
                std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| child.take().map(|child| child())));
            exit(1)
        }
        pid => Ok(pid),
    }
}

/// `struct clone_args`: `flags`, `pidfd`, `child_tid`, `parent_tid`, `exit_signal`, stack and its size, `tls`,
/// `set_tid` and its size, `cgroup`.
type CloneArgs = [u64; 11];

fn clone_args(flags: u64, group: Option<BorrowedFd<'_>>, (stack, size): (u64, u64)) -> Option<CloneArgs> {
    const CLONE_INTO_CGROUP: u64 = 1 << 33;
    const SIGCHLD: u64 = 17;
    let Some(group) = group else { return Some([flags, 0, 0, 0, SIGCHLD, stack, size, 0, 0, 0, 0]) };
    let group = u64::try_from(group.as_raw_fd()).ok()?;
    Some([flags | CLONE_INTO_CGROUP, 0, 0, 0, SIGCHLD, stack, size, 0, 0, 0, group])
}

/// Starts a process that shares this one's memory and runs `child` on its own stack; returns once it has executed a
/// program or ended. `None` if that is not possible, in which case `child` is untouched.
#[cfg(target_arch = "x86_64")]
fn lend<F: FnOnce()>(group: Option<BorrowedFd<'_>>, child: &mut Option<F>) -> Option<libc::pid_t> {
    const CLONE_VM: u64 = 0x100;
    const CLONE_VFORK: u64 = 0x4000;

    /// The new process's entry point, on its own stack. Never returns.
    extern "C" fn run<F: FnOnce()>(child: *mut Option<F>) -> ! {
        let work = || {
            // SAFETY: `lend` was given this as an exclusive reference and is suspended until this process no longer
            // uses its memory.
            if let Some(child) = unsafe { (*child).take() } {
                child();
            }
        };
        // A panic must not unwind beyond this stack.
        let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
        exit(1)
    }

    let mut stack = Vec::<u128>::with_capacity(STACK / size_of::<u128>());
    let size = u64::try_from(stack.capacity() * size_of::<u128>()).ok()?;
    let args = clone_args(CLONE_VM | CLONE_VFORK, group, (stack.as_mut_ptr().addr() as u64, size))?;
    let mut pid = libc::SYS_clone3;
    // SAFETY: `args` is a complete `clone_args` of that size. The new process starts after `syscall` with these
    // registers and its own stack, aligned to 16 bytes, touches nothing on this one's, and never returns from `run`.
    // This process has one thread (see `spawn`), which the kernel resumes only when the other one no longer uses this
    // memory: the two never run at the same time, and `stack`, `args` and `child` outlive it. The two share libc's
    // state of the thread in turns, as with `posix_spawn`.
    unsafe {
        std::arch::asm!(
            "syscall",
            "test rax, rax",
            "jnz 2f",
            "xor ebp, ebp",
            "mov rdi, r8",
            "call r9",
            "ud2",
            "2:",
            inlateout("rax") pid,
            in("rdi") args.as_ptr(),
            in("rsi") size_of_val(&args),
            in("r8") std::ptr::from_mut(child),
            in("r9") run::<F> as extern "C" fn(*mut Option<F>) -> !,
            lateout("rcx") _,
            lateout("r11") _,
        );
    }
    libc::pid_t::try_from(pid).ok().filter(|pid| *pid > 0)
}

/// Not implemented for this architecture.
#[cfg(not(target_arch = "x86_64"))]
fn lend<F: FnOnce()>(_: Option<BorrowedFd<'_>>, _: &mut Option<F>) -> Option<libc::pid_t> {
    None
}

/// Copies this process into a control group; `None` if that is not possible.
fn clone_into(group: BorrowedFd<'_>) -> Option<libc::pid_t> {
    // Without a separate stack, as in a fork.
    let args = clone_args(0, Some(group), (0, 0))?;
    // SAFETY: `args` is a complete `clone_args` of that size and outlives the call. Memory is copied, not shared, and
    // this process has one thread (see `spawn`). In the copy, libc's state of the thread remains that of the host:
    // only the copy's exec or exit follows, and neither uses it.
    let pid = unsafe { libc::syscall(libc::SYS_clone3, args.as_ptr(), size_of_val(&args)) };
    libc::pid_t::try_from(pid).ok().filter(|pid| *pid >= 0)
}

/// Copies this process, the fork server, into a child of its own parent. Returns the pid of the copy here, and `None`
/// in the copy.
pub(super) fn fork_sibling() -> io::Result<Option<Pid>> {
    const NONE: libc::c_long = 0;
    let flags = libc::c_long::from(libc::CLONE_PARENT);
    // SAFETY: no memory is shared and no address is given, so this is a fork; the fork server has one thread, so that
    // no lock of the allocator or of libc is held, and the copy may do whatever the server could. libc's cached
    // thread id remains the fork server's; only a signal to itself would need it, and the copy sends none.
    let pid = unsafe { libc::syscall(libc::SYS_clone, flags, NONE, NONE, NONE, NONE) };
    match i32::try_from(pid) {
        Ok(0) => Ok(None),
        Ok(pid @ 1..) => Ok(Pid::from_raw(pid)),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Watches a descriptor on the current tokio runtime.
pub(crate) fn watch<Fd: AsFd + AsRawFd + 'static>(fd: Fd, interest: Interest) -> io::Result<AsyncFd<Fd>> {
    // SAFETY: what is returned keeps the descriptor open until it has stopped watching it.
    unsafe { AsyncFd::register_with_interest(fd, interest) }.map_err(io::Error::from)
}

/// Copies this process, which must be single-threaded. Returns the pid of the copy here, and `None` in the copy.
pub(super) fn split() -> io::Result<Option<Pid>> {
    if std::fs::read_dir("/proc/self/task")?.count() != 1 {
        return Err(io::Error::other("the process has several threads"));
    }
    // SAFETY: this is the only thread, as was just checked, and nothing else could start one: no lock of the
    // allocator or of libc is held, so the copy may do whatever this process could.
    let pid = unsafe { libc::fork() };
    if pid < 0 { Err(io::Error::last_os_error()) } else { Ok(Pid::from_raw(pid)) }
}

/// Detaches this process from its controlling terminal. Called by the leader of the terminal's session, it hangs up all
/// processes in the session, so a leader may only call it when it is alone there.
pub(super) fn give_up_terminal(terminal: &File) -> io::Result<()> {
    // SAFETY: the request takes no argument and touches no memory of this process.
    let done = unsafe { libc::ioctl(terminal.as_raw_fd(), libc::TIOCNOTTY) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Makes each read of our side of a terminal begin with a byte that says whether it is output (0) or a report.
pub(super) fn report_terminal(master: BorrowedFd<'_>) -> io::Result<()> {
    let is_on: libc::c_int = 1;
    // SAFETY: the request reads one number, which outlives the call.
    let done = unsafe { libc::ioctl(master.as_raw_fd(), libc::TIOCPKT, &raw const is_on) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Ends this process immediately: nothing is dropped, nothing is flushed.
pub(super) fn exit(code: libc::c_int) -> ! {
    // SAFETY: the call takes a number and does not return.
    unsafe { libc::_exit(code) }
}

/// The arguments or the environment of a program, in the form that the kernel takes.
pub(super) struct Texts {
    /// Ends in null.
    pointers: Vec<*const c_char>,
    /// What the pointers point into.
    _texts: Vec<CString>,
}

impl Texts {
    pub(super) fn of(texts: Vec<CString>) -> Self {
        let pointers = texts.iter().map(|text| text.as_ptr()).chain([ptr::null()]).collect();
        Self { pointers, _texts: texts }
    }
}

/// Replaces this process with `program`. Unlike `execvp`, it does not search `PATH` and does not run files that the
/// kernel refuses. It allocates nothing: if this process lives in another one's memory ([`spawn`]), nobody would free
/// that.
pub(super) fn execve(program: &CStr, args: &Texts, env: &Texts) -> Result<Infallible, io::Error> {
    // SAFETY: both arrays end in null and point into strings that belong to the same value, so they outlive the call.
    unsafe { libc::execve(program.as_ptr(), args.pointers.as_ptr(), env.pointers.as_ptr()) };
    Err(io::Error::last_os_error())
}

/// Borrows the descriptor of a PTY's master side.
pub(super) fn descriptor(master: &(dyn MasterPty + Send)) -> Option<BorrowedFd<'_>> {
    // SAFETY: the descriptor belongs to `master` and stays open for as long as it is borrowed.
    master.as_raw_fd().map(|fd| unsafe { BorrowedFd::borrow_raw(fd) })
}
