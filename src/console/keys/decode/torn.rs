//! The beginning of a sequence that time has turned into keys, and whether later bytes are the rest of that sequence.
//!
//! A terminal sends a sequence at once, so its rest comes at once too; a person presses one key after another. Only
//! the beginning of a paste is recognized however it comes, because what follows it must not be taken for keys.

use super::pasting::{BEGIN, END};
use super::sequence::{DecodeStep, step};

/// A beginning: Escape, or Escape and one character, and perhaps what was typed since.
#[derive(Debug)]
pub(super) struct TornSequence {
    bytes: Vec<u8>,
    kind: TornKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TornKind {
    /// Delivered as one key.
    Key,
    /// Delivered as several keys, one after the other.
    Typed,
    /// The first half of the end of an answer, which was dropped.
    AnswerEnd,
    /// The Escape key that dropped a paste, unless it was the first byte of its end.
    PasteEnd,
}

/// Whether later bytes belong to it.
pub(super) enum Continuation {
    /// They do not.
    No,
    /// That depends on what follows soon.
    Perhaps,
    /// They do. `is_dropped`: a key that they complete must not be delivered.
    Yes { is_dropped: bool },
    /// This many of them do, and mean nothing.
    Ended(usize),
}

impl TornSequence {
    /// What was delivered as one key.
    pub(super) fn key(bytes: &[u8]) -> Self {
        Self { bytes: bytes.to_vec(), kind: TornKind::Key }
    }

    /// The first half of the end of an answer.
    pub(super) fn answer_end() -> Self {
        Self { bytes: vec![0x1b], kind: TornKind::AnswerEnd }
    }

    /// The first byte of the end of a paste.
    pub(super) fn paste_end() -> Self {
        Self { bytes: vec![0x1b], kind: TornKind::PasteEnd }
    }

    /// Returns the bytes so far.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Adds keys that were typed; returns what may still go on.
    pub(super) fn with_keys(self, keys: &[u8]) -> Option<Self> {
        let bytes = [&self.bytes, keys].concat();
        BEGIN.starts_with(&bytes).then_some(Self { bytes, kind: TornKind::Typed })
    }

    /// Returns what is left of it after `Continuation::Ended`.
    pub(super) fn rest(self) -> Option<Self> {
        (self.kind == TornKind::PasteEnd && self.bytes != END).then_some(self)
    }

    /// Tells whether the bytes, of which there is at least one, belong to it.
    pub(super) fn goes_on(&mut self, rest: &[u8]) -> Continuation {
        let all = [&self.bytes, rest].concat();
        match self.kind {
            TornKind::AnswerEnd if rest[0] == b'\\' => return Continuation::Ended(1),
            TornKind::PasteEnd if all.starts_with(END) => {
                let bytes = END.len() - self.bytes.len();
                self.bytes = END.to_vec();
                return Continuation::Ended(bytes);
            }
            TornKind::PasteEnd if END.starts_with(&all) => {
                self.bytes = all;
                return Continuation::Ended(rest.len());
            }
            TornKind::PasteEnd if self.bytes.len() > 1 => return Continuation::No,
            _ => {}
        }
        let is_single = rest.len() == 1;
        if all.starts_with(BEGIN) {
            return Continuation::Yes { is_dropped: false };
        }
        match BEGIN.starts_with(&all) {
            true if is_single || self.kind == TornKind::Typed => return Continuation::Perhaps,
            true => return Continuation::Yes { is_dropped: false },
            false if self.kind == TornKind::Typed => return Continuation::No,
            false => {}
        }
        match (&self.bytes[..], rest) {
            ([_], [b'[' | b'O' | b']' | b'P' | b'_']) => return Continuation::Perhaps,
            // A key that repeats.
            ([_], [b'[', b'[']) => return Continuation::No,
            ([_], [b'[' | b'O' | b']' | b'P' | b'_', ..]) | ([_, _], _) => {}
            _ => return Continuation::No,
        }
        let has_parameter = all[1] != b'[' || matches!(all.get(2), Some(b' '..=b'?'));
        match step(&all) {
            DecodeStep::Took(3.., Some(_)) => Continuation::Yes { is_dropped: is_single },
            DecodeStep::Took(3.., None) if has_parameter => Continuation::Yes { is_dropped: false },
            DecodeStep::Took(..) => Continuation::No,
            DecodeStep::More | DecodeStep::Unsure if is_single => Continuation::Perhaps,
            DecodeStep::More | DecodeStep::Unsure => Continuation::Yes { is_dropped: false },
        }
    }
}
