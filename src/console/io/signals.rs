//! The signals of a program that owns a terminal.

use std::io;
use std::task::Poll;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// What a signal asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::console) enum SignalRequest {
    /// Exit with this code.
    End(u8),
    /// Exit; the terminal is gone.
    HangUp,
    /// The terminal was resized.
    Resize,
    /// Suspend until continued.
    Suspend,
    /// Continued after an unannounced stop.
    Continue,
}

/// Signals that would kill the program while it has the terminal taken over: they end it in an orderly way
/// instead.
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

/// Listens to all of these signals in a task of its own, so that a loop with many other events polls one channel instead
/// of each signal.
pub(in crate::console) struct Signals {
    requests: mpsc::Receiver<SignalRequest>,
    /// Ends the task when this is dropped.
    _listening: JoinSet<()>,
}

/// The signals, each as tokio reports it.
struct SignalSources {
    terminate: Signal,
    interrupt: Signal,
    quit: Signal,
    hang_up: Signal,
    resize: Signal,
    suspend: Signal,
    resume: Signal,
    /// Each with its exit code.
    stray: Vec<(Signal, u8)>,
}

impl Signals {
    /// Starts listening; none of these signals ends the process by itself any more.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub(in crate::console) fn listen() -> io::Result<Self> {
        let mut sources = SignalSources::open()?;
        // Room for one: signals of a kind that arrive before they are taken are reported once.
        let (requested, requests) = mpsc::channel(1);
        let mut listening = JoinSet::new();
        listening.spawn(async move { while requested.send(sources.next().await).await.is_ok() {} });
        Ok(Self { requests, _listening: listening })
    }

    /// Waits for the next signal. Cancellation-safe.
    pub(in crate::console) async fn next(&mut self) -> SignalRequest {
        match self.requests.recv().await {
            Some(request) => request,
            None => std::future::pending().await,
        }
    }
}

impl SignalSources {
    fn open() -> io::Result<Self> {
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

    async fn next(&mut self) -> SignalRequest {
        tokio::select! {
            // The kernel sends SIGCONT along with a hang-up: handle the hang-up first.
            biased;
            _ = self.hang_up.recv() => SignalRequest::HangUp,
            _ = self.terminate.recv() => SignalRequest::End(143),
            _ = self.interrupt.recv() => SignalRequest::End(130),
            _ = self.quit.recv() => SignalRequest::End(131),
            code = any(&mut self.stray) => SignalRequest::End(code),
            _ = self.resize.recv() => SignalRequest::Resize,
            _ = self.suspend.recv() => SignalRequest::Suspend,
            _ = self.resume.recv() => SignalRequest::Continue,
        }
    }
}

/// Waits for any of the given signals and returns its exit code.
async fn any(signals: &mut [(Signal, u8)]) -> u8 {
    std::future::poll_fn(|cx| {
        let come =
            signals.iter_mut().find_map(|(signal, code)| signal.poll_recv(cx).is_ready().then_some(*code));
        come.map_or(Poll::Pending, Poll::Ready)
    })
    .await
}
