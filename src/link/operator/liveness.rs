//! Detects dead links that a carrier program maintains: a dead link is silent, but so is a runtime that has nothing
//! to report. After a second of silence a small request is sent; after three, the link is considered lost. A request
//! is also sent now and then while data arrives, because the other end considers a silent console dead.
//!
//! What ends a silence is a whole frame, or a good part of one: a place that only drips bytes shows nothing new.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::time::{Instant, sleep};

use crate::clock::millis;
use crate::link::Error;
use crate::link::frame::Frame;

/// The silence after which a request is sent.
const ASKED: Duration = Duration::from_secs(1);
/// The silence after which the link is considered lost.
const LOST: Duration = Duration::from_secs(3);

/// The longest time without a request.
const AGAIN: Duration = Duration::from_secs(20);

/// How much of a longer frame ends a silence.
const PART: usize = 16 << 10;
/// The longest time from the beginning of a frame to its end.
const WHOLE: Duration = Duration::from_secs(60);

/// Measures how long nothing has been received. Clones share their state.
#[derive(Debug, Clone)]
pub(super) struct Silence {
    start: Instant,
    /// Milliseconds from the start to the last sign of life.
    heard: Arc<AtomicU64>,
}

/// A reader of frames that records when they arrive.
#[derive(Debug)]
pub(super) struct WatchedReader<R> {
    reader: R,
    silence: Silence,
}

impl<R: AsyncRead + Unpin> WatchedReader<R> {
    pub(super) fn new(reader: R) -> Self {
        Self { reader, silence: Silence { start: Instant::now(), heard: Arc::default() } }
    }

    /// Returns the measurement of silence.
    pub(super) fn silence(&self) -> Silence {
        self.silence.clone()
    }

    /// Reads one frame of at most `limit` bytes; `None` if the stream ended between frames.
    ///
    /// # Errors
    /// If the stream fails, the frame is too long, or it takes too long to arrive.
    pub(super) async fn frame(&mut self, limit: usize) -> Result<Option<Frame>, Error> {
        let Some(length) = Frame::read_length(&mut self.reader, limit).await? else { return Ok(None) };
        let began = Instant::now();
        let mut payload = Vec::new();
        while payload.len() < length {
            let end = length.min(payload.len() + PART);
            let mut part = (&mut self.reader).take((end - payload.len()) as u64);
            while payload.len() < end {
                if part.read_buf(&mut payload).await.map_err(Error::Talk)? == 0 {
                    return Err(Error::Talk(std::io::ErrorKind::UnexpectedEof.into()));
                }
            }
            if began.elapsed() > WHOLE {
                return Err(Error::frame(format!("it took longer than {} s", WHOLE.as_secs())));
            }
            self.silence.end();
        }
        self.silence.end();
        Ok(Some(Frame::of(payload)))
    }
}

impl Silence {
    fn end(&self) {
        let now = millis(self.start.elapsed());
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

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use tokio::io::AsyncWriteExt;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_link_that_says_nothing_is_asked_and_then_lost() {
        let (mut far, near) = tokio::io::duplex(64);
        let mut heard = WatchedReader::new(near);
        let (silence, asked) = (heard.silence(), Cell::new(0));
        let began = Instant::now();
        let answers = async {
            // As long as each request is answered, the link is alive.
            for _ in 0..10 {
                sleep(Duration::from_millis(1500)).await;
                far.write_all(b"\0\0\0\x01x").await.expect("writes");
                assert!(heard.frame(9).await.expect("reads").is_some());
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

    /// A host announced a frame and sent a byte of it each second: the place was shown as live for as long as it liked.
    #[tokio::test(start_paused = true)]
    async fn f57_a_link_that_only_drips_bytes_is_lost() {
        let (mut far, near) = tokio::io::duplex(64);
        let mut heard = WatchedReader::new(near);
        let silence = heard.silence();
        let drips = async {
            far.write_all(b"\0\0\x10\0").await.expect("writes");
            loop {
                sleep(Duration::from_millis(500)).await;
                far.write_all(b"x").await.expect("writes");
            }
        };
        let began = Instant::now();
        let said = tokio::select! {
            said = silence.too_long(|| {}) => said,
            () = drips => unreachable!(),
            _ = heard.frame(1 << 20) => unreachable!("a frame"),
        };
        assert_eq!((said.as_str(), began.elapsed().as_secs()), ("no answer for 3 s", 3));
    }

    #[tokio::test(start_paused = true)]
    async fn f57_a_long_frame_on_a_slow_line_is_live_and_an_endless_one_is_not() {
        for (rate, is_whole) in [(64_usize << 10, true), (16 << 10, false)] {
            let (mut far, near) = tokio::io::duplex(1 << 20);
            let mut heard = WatchedReader::new(near);
            let silence = heard.silence();
            let slow = async {
                far.write_all(&(2_u32 << 20).to_be_bytes()).await.expect("writes");
                loop {
                    sleep(Duration::from_secs(1)).await;
                    if far.write_all(&vec![b' '; rate]).await.is_err() {
                        std::future::pending::<()>().await;
                    }
                }
            };
            let read = tokio::select! {
                said = silence.too_long(|| {}) => panic!("{said}"),
                () = slow => unreachable!(),
                read = heard.frame(4 << 20) => read,
            };
            assert_eq!(read.is_ok(), is_whole, "{rate}");
        }
    }

    /// The other end considers a console dead after two minutes of silence.
    #[tokio::test(start_paused = true)]
    async fn a_link_that_is_never_silent_is_asked_now_and_then() {
        let (mut far, near) = tokio::io::duplex(64);
        let mut heard = WatchedReader::new(near);
        let (silence, asked) = (heard.silence(), Cell::new(0));
        let talks = async {
            for _ in 0..240 {
                sleep(Duration::from_millis(500)).await;
                far.write_all(b"\0\0\0\x01x").await.expect("writes");
                assert!(heard.frame(9).await.expect("reads").is_some());
            }
        };
        tokio::select! {
            said = silence.too_long(|| asked.set(asked.get() + 1)) => unreachable!("{said}"),
            () = talks => {}
        }
        assert!((3..=8).contains(&asked.get()), "{}", asked.get());
    }
}
