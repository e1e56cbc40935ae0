//! A call of a script while it is under way, at the runtime's end.

use std::time::Duration;

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::time::Instant;

use super::Error;
use super::frame::{Frame, MAX_FRAME};
use super::protocol::{ClientMessage, ServerMessage};
use crate::tools::{Answer, Cut, CutShort};

/// A script is told the number of a call that takes longer than this.
const SLOW: Duration = Duration::from_millis(100);

/// What is heard and said while a call is under way.
pub(super) struct Talk<'a> {
    pub(super) id: u64,
    pub(super) reader: &'a mut BufReader<OwnedReadHalf>,
    pub(super) writer: &'a mut OwnedWriteHalf,
    pub(super) cut: &'a Cut,
    /// A request that came before its turn.
    pub(super) next: Option<ClientMessage>,
}

impl Talk<'_> {
    /// Waits for the answer of a call. Returns `None` when the other end hangs up: the call is dropped then, unless it is to be
    /// kept, when it is ended and waited for.
    pub(super) async fn until_answered(
        &mut self,
        call: impl Future<Output = Answer>,
        is_kept: bool,
    ) -> Result<Option<Answer>, Error> {
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
                        // Whoever has gone is noticed by the reader.
                        drop(Frame::json(&begun)?.write(self.writer).await);
                    }
                    None => slow.as_mut().reset(Instant::now() + SLOW),
                },
                // Nothing is read of a message that has not begun to come.
                seen = self.reader.fill_buf() => {
                    let is_over = seen.map_err(Error::Talk)?.is_empty();
                    if self.hears(is_over).await? {
                        if is_kept {
                            self.cut.ask(CutShort::HungUp);
                            call.await;
                        }
                        return Ok(None);
                    }
                }
            }
        }
        Ok(Some(call.await))
    }

    /// Takes in what came; returns whether the other end has hung up.
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
