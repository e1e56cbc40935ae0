//! The runtime's end of a script's call in progress.

use std::time::Duration;

use tokio::io::AsyncBufReadExt;
use tokio::net::unix::OwnedWriteHalf;
use tokio::time::Instant;

use super::Error;
use super::frame::{Frame, MAX_FRAME};
use super::lines::ConnectionReader;
use super::protocol::{ClientMessage, ServerMessage};
use crate::tools::{CallAnswer, CutHandle, CutReason};

/// For calls that take longer than this, the script is sent the call's number.
const SLOW: Duration = Duration::from_millis(100);

/// The exchange of messages while a call is in progress.
pub(super) struct CallSession<'a> {
    pub(super) id: u64,
    pub(super) reader: &'a mut ConnectionReader,
    pub(super) writer: &'a mut OwnedWriteHalf,
    pub(super) cut: &'a CutHandle,
    /// A request that arrived while the call was in progress.
    pub(super) next: Option<ClientMessage>,
}

impl CallSession<'_> {
    /// Waits for the answer of a call. Returns `None` if the other end disconnects: the call is then dropped, unless
    /// `is_kept` is set, in which case it is asked to end and awaited, also if the other end breaks the protocol.
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
                () = &mut slow, if !is_told => match self.cut.call_number().get() {
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
                    let is_over = seen.is_ok_and(<[u8]>::is_empty);
                    let is_there = if is_over { Ok(false) } else { self.hear().await };
                    if !matches!(is_there, Ok(true)) {
                        if is_kept {
                            self.cut.ask(CutReason::HungUp);
                            call.await;
                        }
                        return is_there.map(|_| None);
                    }
                }
            }
        }
        Ok(Some(call.await))
    }

    /// Handles a message that arrives; returns whether the other end is still there.
    async fn hear(&mut self) -> Result<bool, Error> {
        let Some(frame) = Frame::read(self.reader, MAX_FRAME).await? else { return Ok(false) };
        match frame.parse()? {
            ClientMessage::Cut { id, reason } if id == self.id => self.cut.ask(reason),
            other => self.next = Some(other),
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use serde_json::Value;
    use tokio::io::AsyncWriteExt as _;
    use tokio::net::UnixStream;

    use super::*;
    use crate::envelope::{Envelope, SafeText};
    use crate::link::LineReader;

    fn answer(cut: CutReason) -> CallAnswer {
        CallAnswer {
            seq: 1,
            envelope: Envelope::success("ExecCommand", "ended", &Value::Null),
            receipt: SafeText::default(),
            repeated: false,
            cut: Some(cut),
            is_unbegun: false,
            task: None,
        }
    }

    /// Whoever goes may have left something unread, or be in the middle of a message, or send what none is.
    #[tokio::test]
    async fn a_call_that_is_kept_is_asked_to_end_and_awaited_however_its_caller_goes() {
        let junk = [&9_u32.to_be_bytes()[..], b"no json{}"].concat();
        for (unread, last, stays, breaks) in [
            (false, &b""[..], false, false),
            (true, b"", false, false),
            (false, b"\0\0", false, true),
            (true, b"\0\0\0\x09half", false, true),
            (false, &junk, true, true),
        ] {
            let (mut ours, mut theirs) = UnixStream::pair().expect("a pair");
            if unread {
                ours.write_all(b"x").await.expect("sent");
            }
            theirs.write_all(last).await.expect("sent");
            let _there = stays.then_some(theirs);
            let (reader, mut writer) = ours.into_split();
            let mut reader = LineReader::new(reader, MAX_FRAME).into_reader();
            let (cut, is_over) = (CutHandle::default(), Cell::new(false));
            let call = async {
                let reason = cut.wait_for_cut().await;
                tokio::task::yield_now().await;
                is_over.set(true);
                answer(reason)
            };
            let mut talk =
                CallSession { id: 1, reader: &mut reader, writer: &mut writer, cut: &cut, next: None };
            let answered = talk.until_answered(call, true).await;
            assert_eq!((answered.is_err(), is_over.get()), (breaks, true), "{unread} {last:?}: {answered:?}");
            assert!(!matches!(answered, Ok(Some(_))), "nobody is there to be answered");
            assert_eq!(cut.reason(), Some(CutReason::HungUp));
        }
    }
}
