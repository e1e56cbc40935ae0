//! The runtime's end of a script's call in progress.

use std::time::Duration;

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::time::Instant;

use super::Error;
use super::frame::{Frame, MAX_FRAME};
use super::protocol::{ClientMessage, ServerMessage};
use crate::tools::{CallAnswer, CutHandle, CutReason};

/// For calls that take longer than this, the script is sent the call's number.
const SLOW: Duration = Duration::from_millis(100);

/// The exchange of messages while a call is in progress.
pub(super) struct CallSession<'a> {
    pub(super) id: u64,
    pub(super) reader: &'a mut BufReader<OwnedReadHalf>,
    pub(super) writer: &'a mut OwnedWriteHalf,
    pub(super) cut: &'a CutHandle,
    /// A request that arrived while the call was in progress.
    pub(super) next: Option<ClientMessage>,
}

impl CallSession<'_> {
    /// Waits for the answer of a call. Returns `None` if the other end disconnects: the call is then dropped, unless
    /// `is_kept` is set, in which case it is asked to end and awaited.
    pub(super) async fn until_answered(
        &mut self,
        call: impl Future<Output = CallAnswer>,
        is_kept: bool,
    ) -> Result<Option<CallAnswer>, Error> {
        tokio::pin!(call);
        let slow = tokio::time::sleep(SLOW);
        tokio::pin!(slow);
        let mut is_told = false;
        while self.next.is_none() {
            tokio::select! {
                answer = &mut call => return Ok(Some(answer)),
                () = &mut slow, if !is_told => match self.cut.begun().get() {
                    Some(seq) => {
                        is_told = true;
                        let begun = ServerMessage::Begun { id: self.id, seq: *seq };
                        // If the other end is gone, the reader notices.
                        drop(Frame::json(&begun)?.write(self.writer).await);
                    }
                    None => slow.as_mut().reset(Instant::now() + SLOW),
                },
                // Nothing is consumed of a message that has not started to arrive.
                seen = self.reader.fill_buf() => {
                    let is_over = seen.map_err(Error::Talk)?.is_empty();
                    if self.hears(is_over).await? {
                        if is_kept {
                            self.cut.ask(CutReason::HungUp);
                            call.await;
                        }
                        return Ok(None);
                    }
                }
            }
        }
        Ok(Some(call.await))
    }

    /// Handles received data; returns whether the other end has disconnected.
    async fn hears(&mut self, is_over: bool) -> Result<bool, Error> {
        let frame = if is_over { None } else { Frame::read(self.reader, MAX_FRAME).await? };
        let Some(frame) = frame else { return Ok(true) };
        match frame.parse()? {
            ClientMessage::Cut { id, reason } if id == self.id => self.cut.ask(reason),
            other => self.next = Some(other),
        }
        Ok(false)
    }
}
