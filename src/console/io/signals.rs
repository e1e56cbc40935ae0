//! The signals of a program that owns a terminal.

use std::io;
use std::task::Poll;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// What a signal asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::console) enum Asked {
    /// The end, with this exit code.
    End(u8),
    /// The end; the terminal is gone.
    HangUp,
    /// The terminal has another size.
    Resize,
    /// Stop until continued.
    Suspend,
    /// Continued after a stop nobody announced.
    Continue,
}

/// Signals that would end the program where it stands, with its terminal taken: they end it in order.
const STRAY: [libc::c_int; 10] = [
    libc::SIGUSR1,
    libc::SIGUSR2,
    libc::SIGALRM,
    libc::SIGVTALRM,
    libc::SIGPROF,
    libc::SIGIO,
    libc::SIGPWR,
    libc::SIGSTKFLT,
    libc::SIGXCPU,
    libc::SIGXFSZ,
];

/// Listens to all of them.
pub(in crate::console) struct Signals {
    terminate: Signal,
    interrupt: Signal,
    quit: Signal,
    hang_up: Signal,
    resize: Signal,
    suspend: Signal,
    resume: Signal,
    /// With the exit code of each.
    stray: Vec<(Signal, u8)>,
}

impl Signals {
    /// Listens from now on; none of them ends the process by itself any more.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub(in crate::console) fn listen() -> io::Result<Self> {
        let stray = |number: libc::c_int| {
            let code = 128 + u8::try_from(number).unwrap_or_default();
            signal(SignalKind::from_raw(number)).map(|signal| (signal, code))
        };
        Ok(Self {
            stray: STRAY.into_iter().map(stray).collect::<io::Result<_>>()?,
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            quit: signal(SignalKind::quit())?,
            hang_up: signal(SignalKind::hangup())?,
            resize: signal(SignalKind::window_change())?,
            suspend: signal(SignalKind::from_raw(libc::SIGTSTP))?,
            resume: signal(SignalKind::from_raw(libc::SIGCONT))?,
        })
    }

    /// Waits for the next one.
    pub(in crate::console) async fn next(&mut self) -> Asked {
        tokio::select! {
            // The kernel continues whom it tells of a hang-up: the hang-up came first and comes first.
            biased;
            _ = self.hang_up.recv() => Asked::HangUp,
            _ = self.terminate.recv() => Asked::End(143),
            _ = self.interrupt.recv() => Asked::End(130),
            _ = self.quit.recv() => Asked::End(131),
            code = any(&mut self.stray) => Asked::End(code),
            _ = self.resize.recv() => Asked::Resize,
            _ = self.suspend.recv() => Asked::Suspend,
            _ = self.resume.recv() => Asked::Continue,
        }
    }
}

/// Waits for any of some signals and returns its exit code.
async fn any(signals: &mut [(Signal, u8)]) -> u8 {
    std::future::poll_fn(|cx| {
        let come =
            signals.iter_mut().find_map(|(signal, code)| signal.poll_recv(cx).is_ready().then_some(*code));
        come.map_or(Poll::Pending, Poll::Ready)
    })
    .await
}
