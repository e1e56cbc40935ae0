//! Detects dead links that a carrier program maintains: a dead link is silent, but so is a runtime that has nothing
//! to report. After a second of silence a small request is sent; after three, the link is considered lost. A request
//! is also sent now and then while data arrives, because the other end considers a silent console dead.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, ReadBuf};
use tokio::time::{Instant, sleep};

/// The silence after which a request is sent.
const ASKED: Duration = Duration::from_secs(1);
/// The silence after which the link is considered lost.
const LOST: Duration = Duration::from_secs(3);

/// The longest time without a request.
const AGAIN: Duration = Duration::from_secs(20);

/// Measures how long nothing has been received. Clones share their state.
#[derive(Debug, Clone)]
pub(super) struct Silence {
    start: Instant,
    /// Milliseconds from the start to the last byte received.
    heard: Arc<AtomicU64>,
}

/// A reader that records when bytes arrive.
#[derive(Debug)]
pub(super) struct Heard<R> {
    reader: R,
    silence: Silence,
}

impl<R> Heard<R> {
    pub(super) fn new(reader: R) -> Self {
        Self { reader, silence: Silence { start: Instant::now(), heard: Arc::default() } }
    }

    /// Returns the measurement of silence.
    pub(super) fn silence(&self) -> Silence {
        self.silence.clone()
    }
}

impl Silence {
    fn end(&self) {
        let now = u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.heard.store(now, Ordering::Relaxed);
    }

    fn length(&self) -> Duration {
        self.start.elapsed().saturating_sub(Duration::from_millis(self.heard.load(Ordering::Relaxed)))
    }

    /// Calls `ask` once per second of silence, and every 20 s otherwise; once the silence is too long, returns a
    /// description of it.
    pub(super) async fn too_long(&self, ask: impl Fn()) -> String {
        let mut asked = Instant::now();
        loop {
            let silence = self.length();
            if silence >= LOST {
                return format!("no answer for {} s", LOST.as_secs());
            }
            if silence >= ASKED || asked.elapsed() >= AGAIN {
                ask();
                asked = Instant::now();
            }
            sleep(match silence {
                long if long >= ASKED => ASKED.min(LOST.saturating_sub(long)),
                short => ASKED.saturating_sub(short),
            })
            .await;
        }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Heard<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        to: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let before = to.filled().len();
        let read = ready!(Pin::new(&mut self.reader).poll_read(cx, to));
        if to.filled().len() > before {
            self.silence.end();
        }
        Poll::Ready(read)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_link_that_says_nothing_is_asked_and_then_lost() {
        let (mut far, near) = tokio::io::duplex(64);
        let mut heard = Heard::new(near);
        let (silence, asked) = (heard.silence(), Cell::new(0));
        let began = Instant::now();
        let answers = async {
            // As long as each request is answered, the link is alive.
            for _ in 0..10 {
                sleep(Duration::from_millis(1500)).await;
                far.write_all(b"x").await.expect("writes");
                heard.read_u8().await.expect("reads");
            }
            std::future::pending::<()>().await;
        };
        let said = tokio::select! {
            said = silence.too_long(|| asked.set(asked.get() + 1)) => said,
            () = answers => unreachable!(),
        };
        assert_eq!(said, "no answer for 3 s");
        assert_eq!(began.elapsed().as_secs(), 18);
        assert!((10..=13).contains(&asked.get()), "{}", asked.get());
    }

    /// The other end considers a console dead after two minutes of silence.
    #[tokio::test(start_paused = true)]
    async fn a_link_that_is_never_silent_is_asked_now_and_then() {
        let (mut far, near) = tokio::io::duplex(64);
        let mut heard = Heard::new(near);
        let (silence, asked) = (heard.silence(), Cell::new(0));
        let talks = async {
            for _ in 0..240 {
                sleep(Duration::from_millis(500)).await;
                far.write_all(b"x").await.expect("writes");
                heard.read_u8().await.expect("reads");
            }
        };
        tokio::select! {
            said = silence.too_long(|| asked.set(asked.get() + 1)) => unreachable!("{said}"),
            () = talks => {}
        }
        assert!((3..=8).contains(&asked.get()), "{}", asked.get());
    }
}
