//! Forwards lines from one side to the other. Lines that are not intercepted pass through byte for byte, in bounded
//! memory whatever is sent.

use std::io;
use std::sync::Arc;

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{Mutex, OwnedMutexGuard};

/// The longest line that is inspected, in bytes. Longer ones are forwarded as they arrive.
pub(super) const MAX_LINE: usize = 4 << 20;

type Writer = Box<dyn AsyncWrite + Send + Unpin>;

/// The writing half of one side: writes whole lines, one after the other. Cheap to clone.
#[derive(Clone)]
pub(super) struct SideWriter(Arc<Mutex<Writer>>);

impl SideWriter {
    pub(super) fn new(writer: impl AsyncWrite + Send + Unpin + 'static) -> Self {
        Self(Arc::new(Mutex::new(Box::new(writer))))
    }

    /// Writes a line, which must end with a line feed.
    pub(super) async fn line(&self, line: &[u8]) -> io::Result<()> {
        write(&mut *self.0.lock().await, line).await
    }

    /// Closes the writing half.
    pub(super) async fn end(&self) {
        let _ = self.0.lock().await.shutdown().await;
        *self.0.lock().await = Box::new(tokio::io::sink());
    }
}

impl std::fmt::Debug for SideWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SideWriter")
    }
}

async fn write(writer: &mut Writer, bytes: &[u8]) -> io::Result<()> {
    writer.write_all(bytes).await?;
    writer.flush().await
}

/// Forwards lines from `reader` to `to` until end of file, except those that `is_taken` takes. No other writer can
/// insert anything into the middle of a line.
///
/// # Errors
/// When one of the two fails.
pub(super) async fn forward(
    reader: impl AsyncRead + Unpin,
    to: &SideWriter,
    cap: usize,
    mut is_taken: impl AsyncFnMut(&[u8]) -> bool,
) -> io::Result<()> {
    let mut reader = BufReader::with_capacity(64 << 10, reader);
    let mut line = Vec::new();
    // Holds the lock while the rest of a line too long to inspect is forwarded.
    let mut long: Option<OwnedMutexGuard<Writer>> = None;
    loop {
        let seen = reader.fill_buf().await?;
        if seen.is_empty() {
            break;
        }
        let feed = memchr::memchr(b'\n', seen);
        let taken = feed.map_or(seen.len(), |at| at + 1);
        line.extend_from_slice(seen.get(..taken).unwrap_or_default());
        reader.consume(taken);
        let is_long = long.is_some() || line.len() > cap;
        if feed.is_none() && !is_long {
            continue;
        }
        if is_long {
            let mut writer = match long.take() {
                Some(writer) => writer,
                None => to.0.clone().lock_owned().await,
            };
            write(&mut writer, &line).await?;
            long = feed.is_none().then_some(writer);
        } else if !is_taken(&line).await {
            to.line(&line).await?;
        }
        line.clear();
        line.shrink_to(64 << 10);
    }
    if !line.is_empty() {
        to.line(&line).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tokio::io::AsyncReadExt as _;

    use super::*;

    /// Returns what arrives of `sent`, which is sent in pieces of `step` bytes.
    fn arrived(sent: &[u8], step: usize, cap: usize, is_taken: fn(&[u8]) -> bool) -> Vec<u8> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(async {
            let (mut from, reader) = tokio::io::duplex(step);
            let (writer, mut to) = tokio::io::duplex(1 << 20);
            let side = SideWriter::new(writer);
            let feeding = async {
                from.write_all(sent).await.expect("takes");
                drop(from);
            };
            let forwarding = async {
                forward(reader, &side, cap, async |line| is_taken(line)).await.expect("forwards");
                drop(side);
            };
            let mut got = Vec::new();
            let (_, (), read) = tokio::join!(feeding, forwarding, to.read_to_end(&mut got));
            read.expect("reads");
            got
        })
    }

    proptest! {
        #[test]
        fn lines_that_are_not_taken_are_forwarded_byte_for_byte(
            sent in proptest::collection::vec(prop_oneof![Just(b'\n'), any::<u8>()], 0..400),
            step in 1_usize..40,
            cap in 0_usize..40,
        ) {
            prop_assert_eq!(arrived(&sent, step, cap, |_| false), sent);
        }
    }

    #[test]
    fn a_line_that_is_taken_is_gone_whole_and_one_that_is_too_long_is_not_looked_at() {
        let sent = b"keep 1\ntake 1\ntake 2 is too long\nkeep";
        let got = arrived(sent, 5, 10, |line| line.starts_with(b"take"));
        assert_eq!(got, b"keep 1\ntake 2 is too long\nkeep");
    }
}
