//! When the other end of a connection is gone. One that closes it is seen by the end of what it sent. One that dies with
//! something unread resets it instead: after what it sent, one read fails. Both mean the same, and only a reader finds out
//! everything: a write that fails says nothing of what was sent before.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};

/// Tells whether a read or a write failed because the other end is gone.
pub fn is_gone(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionReset, NotConnected};
    matches!(error.kind(), BrokenPipe | ConnectionReset | NotConnected)
}

/// Reads what the other end sent, to its end, which is the same whether that end closed the connection or died.
#[derive(Debug)]
pub struct PeerReader<R>(R);

impl<R> PeerReader<R> {
    /// Creates a reader.
    pub fn new(reader: R) -> Self {
        Self(reader)
    }

    /// Returns the underlying reader.
    pub fn into_inner(self) -> R {
        self.0
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for PeerReader<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = ready!(Pin::new(&mut self.0).poll_read(cx, into));
        Poll::Ready(read.or_else(|error| if is_gone(&error) { Ok(()) } else { Err(error) }))
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::UnixStream;

    use super::*;

    #[tokio::test]
    async fn bytes_sent_before_a_reset_are_read_and_then_the_end_of_the_stream() {
        let (mut ours, mut theirs) = UnixStream::pair().expect("a pair");
        theirs.write_all(b"last words").await.expect("sent");
        ours.write_all(b"unread").await.expect("sent");
        drop(theirs);
        let mut heard = [0; 10];
        ours.read_exact(&mut heard).await.expect("read");
        let reset = ours.read(&mut [0]).await.expect_err("the kernel reports what was left unread");
        assert_eq!((&heard, reset.kind()), (b"last words", io::ErrorKind::ConnectionReset));

        let (ours, mut theirs) = UnixStream::pair().expect("a pair");
        let (reader, mut writer) = ours.into_split();
        theirs.write_all(b"last words").await.expect("sent");
        writer.write_all(b"unread").await.expect("sent");
        drop(theirs);
        let mut heard = String::new();
        PeerReader::new(reader).read_to_string(&mut heard).await.expect("the end");
        assert_eq!(heard, "last words");
        assert!(is_gone(&writer.write_all(b"more").await.expect_err("nobody there")));
    }
}
