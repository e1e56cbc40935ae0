//! A queue of lines for one reader, who may be slow, so that those who send the lines never block.

use std::collections::VecDeque;

use rmcp::model::RequestId;
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;

/// The number of lines handed to the writer ahead of the one being written.
const AHEAD: usize = 4;

/// A line, and the id of the request in it, if it is one.
#[derive(Debug)]
pub(super) struct QueuedLine {
    pub(super) line: Vec<u8>,
    pub(super) request: Option<RequestId>,
}

impl QueuedLine {
    pub(super) fn line(line: impl Into<Vec<u8>>) -> Self {
        Self { line: line.into(), request: None }
    }
}

/// Lines for one reader, oldest first.
#[derive(Debug, Default)]
pub(super) struct LineQueue {
    waiting: VecDeque<QueuedLine>,
    bytes: usize,
    writer: Option<mpsc::Sender<Vec<u8>>>,
}

impl LineQueue {
    /// Connects a reader. The lines received from the returned channel are to be written to it.
    pub(super) fn connect(&mut self) -> mpsc::Receiver<Vec<u8>> {
        let (writer, lines) = mpsc::channel(AHEAD);
        self.writer = Some(writer);
        lines
    }

    /// Disconnects the reader; queued requests are kept for the next one.
    pub(super) fn disconnect(&mut self) {
        self.writer = None;
        self.retain(|line| line.request.is_some());
    }

    pub(super) fn push(&mut self, line: QueuedLine) {
        self.bytes += line.line.len();
        self.waiting.push_back(line);
    }

    /// Puts lines at the front of the queue.
    pub(super) fn push_first(&mut self, lines: Vec<QueuedLine>) {
        for line in lines.into_iter().rev() {
            self.bytes += line.line.len();
            self.waiting.push_front(line);
        }
    }

    /// Removes a request that has not been handed over.
    pub(super) fn withdraw(&mut self, request: &RequestId) {
        self.retain(|line| line.request.as_ref() != Some(request));
    }

    pub(super) fn clear(&mut self) {
        self.retain(|_| false);
    }

    fn retain(&mut self, keep: impl Fn(&QueuedLine) -> bool) {
        self.waiting.retain(keep);
        self.bytes = self.waiting.iter().map(|line| line.line.len()).sum();
    }

    /// Returns the number of queued bytes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Returns whether the next line is a request.
    pub(super) fn begins_with_request(&self) -> bool {
        self.waiting.front().is_some_and(|line| line.request.is_some())
    }

    /// Hands the oldest line to the writer and returns the id if it is a request; waits while there is no line, or no
    /// room for one. Pends forever once the reader is gone; its loss is detected where its lines are read. Cancel-safe.
    pub(super) async fn advance(&mut self) -> Option<RequestId> {
        if let (Some(writer), false) = (&self.writer, self.waiting.is_empty())
            && let Ok(place) = writer.reserve().await
            && let Some(line) = self.waiting.pop_front()
        {
            self.bytes -= line.line.len();
            place.send(line.line);
            return line.request;
        }
        std::future::pending().await
    }
}

/// Writes lines until the channel is closed.
///
/// # Errors
/// When the reader accepts no more.
pub(super) async fn write_lines(
    mut output: impl AsyncWrite + Unpin,
    mut lines: mpsc::Receiver<Vec<u8>>,
) -> std::io::Result<()> {
    while let Some(mut line) = lines.recv().await {
        line.push(b'\n');
        output.write_all(&line).await?;
        output.flush().await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(id: i64) -> QueuedLine {
        QueuedLine { line: vec![b'x'; 10], request: Some(RequestId::Number(id)) }
    }

    #[tokio::test]
    async fn lines_wait_for_a_reader_and_keep_their_order() {
        let mut outbox = LineQueue::default();
        outbox.push(request(1));
        outbox.push(request(2));
        outbox.push(request(3));
        outbox.withdraw(&RequestId::Number(2));
        outbox.push_first(vec![QueuedLine::line("first"), QueuedLine::line("second")]);
        assert_eq!(outbox.bytes(), 31);
        let mut lines = outbox.connect();
        let mut handed = Vec::new();
        for _ in 0..4 {
            handed.push(outbox.advance().await);
        }
        assert_eq!(handed, [None, None, Some(RequestId::Number(1)), Some(RequestId::Number(3))]);
        assert!(outbox.is_empty() && outbox.bytes() == 0);
        assert_eq!(lines.recv().await.as_deref(), Some(b"first".as_slice()));
        assert_eq!(lines.recv().await.as_deref(), Some(b"second".as_slice()));
    }

    #[tokio::test]
    async fn a_reader_that_reads_nothing_stops_nobody() {
        let mut outbox = LineQueue::default();
        let _unread = outbox.connect();
        (0..100).for_each(|id| outbox.push(request(id)));
        for _ in 0..AHEAD {
            assert!(outbox.advance().await.is_some());
        }
        tokio::select! {
            biased;
            handed = outbox.advance() => panic!("handed over {handed:?}"),
            () = std::future::ready(()) => {}
        }
        assert_eq!(outbox.bytes(), 10 * (100 - AHEAD));
    }
}
