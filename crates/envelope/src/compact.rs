//! Compaction: the same envelope in fewer characters, for clients that store it (docs/contract.md#compaction).
//!
//! Everything a reader needs in order to continue is kept: names, status, summary, the error, ids, handles,
//! artifacts, flags. Output is shortened first, in steps that do not depend on the budget; the result is the first
//! step that fits. That makes compaction stable (an envelope that fits is not changed again) and monotone (a smaller
//! budget never yields more). The items of a batch come last: they are reduced to a few words, then left out and
//! counted.

mod items;

use std::io::{self, Write};

use serde_json::Value;

use super::canonical::{CallOutcome, Envelope, one_line};
use super::preview::{ReadOn, Recut};

/// The largest cap of the steps; no preview is longer.
const MOST: usize = 1 << 18;
/// The smallest cap before a preview is dropped altogether.
const LEAST: usize = 32;
/// A cap shrinks by one part in this many from one step to the next.
const FINENESS: usize = 16;
/// The length to which a command repeated in the answer is cut when nothing else is left to shorten, in characters.
const CMD_CHARS: usize = 120;

/// Returns the envelope in at most `budget_chars` characters of JSON, or in as few as possible.
pub fn compact(envelope: &Envelope, budget_chars: usize) -> Envelope {
    let whole = length(envelope);
    if whole <= budget_chars {
        return envelope.clone();
    }
    let previews = Previews::of(envelope);
    let beside = whole - previews.length(&CompactionStep::WHOLE);
    let fits = |step: &CompactionStep| beside + previews.length(step) <= budget_chars;
    match previews.steps().find(fits) {
        Some(step) => step.apply(envelope),
        None => {
            let is_enough = |shorter: &Envelope| length(shorter) <= budget_chars;
            let steps = [CompactionStep::WITHOUT_DETAILS, CompactionStep::BARE]
                .into_iter()
                .map(|step| step.apply(envelope));
            let bare = CompactionStep::BARE.apply(envelope);
            let mut all = steps.chain(items::fewer(&bare));
            all.find(is_enough).unwrap_or_else(|| items::fewest(&bare))
        }
    }
}

/// Returns the length of an envelope as JSON in characters, which is what a budget limits.
pub fn length(envelope: &Envelope) -> usize {
    let mut count = CharacterCount(0);
    // Counting cannot fail, and an envelope can always be serialised.
    let _ = serde_json::to_writer(&mut count, envelope);
    count.0
}

/// One step of compaction: what may be kept.
#[derive(Debug, Clone, Copy)]
struct CompactionStep {
    /// The maximum length of previews in the result itself, in characters; `None` drops them.
    previews: Option<usize>,
    /// The same for the previews of batch items.
    item_previews: Option<usize>,
    details: bool,
    long_commands: bool,
}

impl CompactionStep {
    const WHOLE: Self = Self {
        previews: Some(usize::MAX),
        item_previews: Some(usize::MAX),
        details: true,
        long_commands: true,
    };
    const WITHOUT_PREVIEWS: Self = Self { previews: None, ..Self::WHOLE };
    const WITHOUT_DETAILS: Self = Self { item_previews: None, details: false, ..Self::WITHOUT_PREVIEWS };
    const BARE: Self = Self { long_commands: false, ..Self::WITHOUT_DETAILS };
}

/// The previews of an envelope, for trying caps on them.
#[derive(Default)]
struct Previews<'a> {
    own: Vec<CompactedPreview<'a>>,
    of_items: Vec<CompactedPreview<'a>>,
}

struct CompactedPreview<'a> {
    recut: Recut<'a>,
    /// The length of the whole preview as JSON, in characters.
    length: usize,
}

impl<'a> Previews<'a> {
    fn of(envelope: &'a Envelope) -> Self {
        let mut previews = Self::default();
        if let Some(result) = envelope.result() {
            previews.collect(result, false);
        }
        previews
    }

    fn collect(&mut self, value: &'a Value, in_items: bool) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.collect(item, in_items)),
            Value::Object(fields) => {
                for (name, field) in fields {
                    match field {
                        Value::String(text) if is_preview(name) => {
                            let list = if in_items { &mut self.of_items } else { &mut self.own };
                            list.push(CompactedPreview { recut: Recut::of(text), length: length_of(text) });
                        }
                        _ => self.collect(field, in_items || name == "items"),
                    }
                }
            }
            _ => {}
        }
    }

    /// Returns the steps that shorten previews, in order.
    fn steps(&self) -> impl Iterator<Item = CompactionStep> {
        let own = caps(&self.own).map(|cap| CompactionStep { previews: cap, ..CompactionStep::WHOLE });
        let items = caps(&self.of_items)
            .map(|cap| CompactionStep { item_previews: cap, ..CompactionStep::WITHOUT_PREVIEWS });
        own.chain(items)
    }

    /// Returns the length of all previews at a step as JSON, in characters.
    fn length(&self, step: &CompactionStep) -> usize {
        let of = |previews: &[CompactedPreview<'_>], cap| {
            previews.iter().map(|each| each.length(cap)).sum::<usize>()
        };
        of(&self.own, step.previews) + of(&self.of_items, step.item_previews)
    }
}

impl CompactedPreview<'_> {
    fn length(&self, cap: Option<usize>) -> usize {
        match cap {
            None => self.length.min("null".len()),
            Some(cap) if self.recut.chars() <= cap => self.length,
            Some(cap) => length_of(&self.recut.to(cap, &ReadOn::default())),
        }
    }
}

/// Returns the caps that shorten these previews, largest first, followed by the one that drops them.
fn caps(previews: &[CompactedPreview<'_>]) -> impl Iterator<Item = Option<usize>> + use<> {
    let longest = previews.iter().map(|preview| preview.recut.chars()).max();
    let next = |cap: &usize| Some(cap - cap.div_ceil(FINENESS)).filter(|cap| *cap >= LEAST);
    let caps = std::iter::successors(longest.map(|_| MOST), next);
    let smaller = caps.filter(move |cap| longest.is_some_and(|longest| *cap < longest)).map(Some);
    smaller.chain(longest.map(|_| None))
}

impl CompactionStep {
    fn apply(&self, envelope: &Envelope) -> Envelope {
        let outcome = match envelope.outcome() {
            CallOutcome::Success(result) => {
                let mut result = result.clone();
                self.trim(&mut result, self.previews);
                CallOutcome::Success(result)
            }
            CallOutcome::Error(error) => {
                let mut error = error.clone();
                if !self.details {
                    error.details = None;
                }
                CallOutcome::Error(error)
            }
        };
        envelope.with_outcome(outcome)
    }

    fn trim(&self, value: &mut Value, cap: Option<usize>) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(|item| self.trim(item, cap)),
            Value::Object(fields) => {
                let mut is_cut = false;
                for (name, field) in fields.iter_mut() {
                    match name.as_str() {
                        name if is_preview(name) => is_cut |= trim_preview(field, cap),
                        "cmd" if !self.long_commands => trim_command(field),
                        "items" => self.trim(field, self.item_previews),
                        _ => self.trim(field, cap),
                    }
                }
                if is_cut {
                    let flags = fields
                        .iter_mut()
                        .filter(|(name, flag)| name.ends_with("truncated") && flag.is_boolean());
                    flags.for_each(|(_, flag)| *flag = true.into());
                }
            }
            _ => {}
        }
    }
}

/// Shortens a preview; returns whether that removed anything.
fn trim_preview(field: &mut Value, cap: Option<usize>) -> bool {
    let Value::String(text) = field else { return false };
    let shorter = match cap {
        // Such a text is no longer than its replacement.
        None if length_of(text) <= "null".len() => return false,
        None => Value::Null,
        Some(cap) if text.chars().nth(cap).is_none() => return false,
        Some(cap) => Recut::of(text).to(cap, &ReadOn::default()).into(),
    };
    *field = shorter;
    true
}

fn trim_command(field: &mut Value) {
    if let Value::String(cmd) = field
        && cmd.chars().nth(CMD_CHARS).is_some()
    {
        *cmd = one_line(cmd, CMD_CHARS);
    }
}

fn is_preview(name: &str) -> bool {
    name.ends_with("_preview")
}

fn length_of(text: &str) -> usize {
    let mut count = CharacterCount(0);
    // Counting cannot fail.
    let _ = serde_json::to_writer(&mut count, text);
    count.0
}

/// Counts the characters of UTF-8 written to it.
struct CharacterCount(usize);

impl Write for CharacterCount {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.iter().filter(|byte| **byte & 0xc0 != 0x80).count();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
