//! The state of one process that Codex has started: its output, whether it has ended, and the notifications about it.
//! Pure.
//!
//! One sequence number counts output chunks, the exit and the end of the output, so that a reader can detect what it
//! missed.

use std::collections::VecDeque;

use serde_json::{Value, json};

use super::message::{ReadParams, encode, line};

/// The amount of output kept for later reads, in bytes.
const KEPT: usize = 1 << 20;

/// The stream that output was written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub(super) enum ProcessStream {
    Stdout,
    Stderr,
    /// The terminal.
    Pty,
}

#[derive(Debug, Clone)]
struct Chunk {
    seq: u64,
    stream: ProcessStream,
    bytes: Vec<u8>,
}

#[derive(Debug)]
pub(super) struct CodexProcess {
    name: String,
    next: u64,
    chunks: VecDeque<Chunk>,
    kept: usize,
    exit: Option<i32>,
    is_closed: bool,
}

impl CodexProcess {
    pub(super) fn new(name: &str) -> Self {
        let (chunks, name) = (VecDeque::new(), name.to_owned());
        Self { name, next: 1, chunks, kept: 0, exit: None, is_closed: false }
    }

    /// Adds output; returns the notification for it.
    pub(super) fn output(&mut self, stream: ProcessStream, bytes: Vec<u8>) -> Vec<u8> {
        let seq = self.count();
        let name: &str = stream.into();
        let told = json!({ "processId": self.name, "seq": seq, "stream": name, "chunk": encode(&bytes) });
        self.kept += bytes.len();
        self.chunks.push_back(Chunk { seq, stream, bytes });
        while self.kept > KEPT
            && let Some(chunk) = self.chunks.pop_front()
        {
            self.kept -= chunk.bytes.len();
        }
        line(&json!({ "method": "process/output", "params": told }))
    }

    /// Records the exit; returns the notification for it.
    pub(super) fn record_exit(&mut self, code: i32) -> Vec<u8> {
        let seq = self.count();
        self.exit = Some(code);
        let told = json!({ "processId": self.name, "seq": seq, "exitCode": code, "sandboxDenied": false });
        line(&json!({ "method": "process/exited", "params": told }))
    }

    /// Records that the process has ended and all its output has been reported; returns the notification for it.
    pub(super) fn record_close(&mut self) -> Vec<u8> {
        let seq = self.count();
        self.is_closed = true;
        let told = json!({ "processId": self.name, "seq": seq });
        line(&json!({ "method": "process/closed", "params": told }))
    }

    pub(super) fn has_exited(&self) -> bool {
        self.exit.is_some()
    }

    fn count(&mut self) -> u64 {
        let seq = self.next;
        self.next += 1;
        seq
    }

    /// Answers a read; `None` if there is nothing new.
    pub(super) fn read(&self, asked: ReadParams) -> Option<Value> {
        let news = self.answer(asked);
        let seen = asked.after_seq.unwrap_or_default();
        let is_end_new = self.exit.is_some() && seen < self.next - 1;
        let has_chunks = news["chunks"].as_array().is_some_and(|chunks| !chunks.is_empty());
        (has_chunks || self.is_closed || is_end_new).then_some(news)
    }

    /// Answers a read with whatever there is.
    pub(super) fn answer(&self, asked: ReadParams) -> Value {
        let most = asked.max_bytes.unwrap_or(usize::MAX);
        let (mut chunks, mut bytes, mut next) = (Vec::new(), 0_usize, self.next);
        for chunk in self.chunks.iter().filter(|chunk| chunk.seq > asked.after_seq.unwrap_or_default()) {
            if !chunks.is_empty() && bytes + chunk.bytes.len() > most {
                break;
            }
            bytes += chunk.bytes.len();
            next = chunk.seq + 1;
            let stream: &str = chunk.stream.into();
            chunks.push(json!({ "seq": chunk.seq, "stream": stream, "chunk": encode(&chunk.bytes) }));
            if bytes >= most {
                break;
            }
        }
        json!({
            "chunks": chunks, "nextSeq": next, "exited": self.exit.is_some(), "exitCode": self.exit,
            "closed": self.is_closed, "failure": null, "sandboxDenied": false,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seqs(answer: &Value) -> Vec<u64> {
        answer["chunks"]
            .as_array()
            .expect("chunks")
            .iter()
            .map(|chunk| chunk["seq"].as_u64().expect("a number"))
            .collect()
    }

    #[test]
    fn one_sequence_number_counts_output_exit_and_end_and_no_event_is_read_twice() {
        let mut process = CodexProcess::new("p");
        assert_eq!(process.read(ReadParams::default()), None);
        let told = process.output(ProcessStream::Stdout, b"hi\n".to_vec());
        let expected = r#"{"method":"process/output","params":{"processId":"p","seq":1,"stream":"stdout","chunk":"aGkK"}}"#;
        assert_eq!(String::from_utf8(told).expect("text").trim_end(), expected);
        process.output(ProcessStream::Stderr, b"oh\n".to_vec());
        let all = process.read(ReadParams::default()).expect("news");
        assert_eq!((seqs(&all), &all["nextSeq"], &all["exited"]), (vec![1, 2], &json!(3), &json!(false)));
        let seen = ReadParams { after_seq: Some(2), ..ReadParams::default() };
        assert_eq!(process.read(seen), None);
        process.record_exit(3);
        let exit = process.read(seen).expect("the exit");
        assert_eq!(
            (&exit["exitCode"], &exit["nextSeq"], &exit["closed"]),
            (&json!(3), &json!(4), &json!(false))
        );
        assert_eq!(process.read(ReadParams { after_seq: Some(3), ..ReadParams::default() }), None);
        process.record_close();
        assert_eq!(
            process.read(ReadParams { after_seq: Some(4), ..ReadParams::default() }).expect("the end")["closed"],
            true
        );
    }

    #[test]
    fn a_read_is_as_long_as_asked_and_the_kept_output_is_bounded() {
        let mut process = CodexProcess::new("p");
        for _ in 0..40 {
            process.output(ProcessStream::Pty, vec![b'x'; 64 << 10]);
        }
        let all = process.answer(ReadParams::default());
        assert_eq!(seqs(&all), (25..=40).collect::<Vec<_>>());
        let some =
            process.answer(ReadParams { max_bytes: Some(100_000), after_seq: Some(30), wait_ms: None });
        assert_eq!((seqs(&some), &some["nextSeq"]), (vec![31], &json!(32)));
        let least = process.answer(ReadParams { max_bytes: Some(1), ..ReadParams::default() });
        assert_eq!(seqs(&least), [25]);
    }
}
