//! Receipts: what a model reads. Outcome first, then facts, output, and the next step; rendered from the canonical
//! envelope alone and never longer than what a client passes on untruncated. Each line keeps track of the fields it
//! was made from.

use std::collections::HashMap;
use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::budget::{RECEIPT_CHARS, Room};
use crate::envelope::preview::{self, ReadOn};
use crate::envelope::{SafeText, ToolError, one_line};

/// Replaces output that an envelope no longer contains because it was compacted.
pub(super) const LEFT_OUT: &str = "(left out)";
/// What the line begins with that names the tool to call next.
pub(super) const NEXT: &str = "Next: ";
/// The size of a line ending, or of a blank line.
const LINE_END: Room = Room { chars: 1, bytes: 1, lines: 0 };
/// The maximum length of a line that is not output, in characters.
const LINE_CHARS: usize = 1_000;
/// The maximum length of error details that are shown, in characters.
const DETAILS_CHARS: usize = 1_000;
/// The maximum length of a path, in characters. Longer ones are omitted: a truncated path is useless.
pub(super) const PATH_CHARS: usize = 1_000;

/// A receipt, and the fields of the envelope that its lines were made from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RenderedReceipt {
    pub text: SafeText,
    /// The fields, in the order of the lines. Empty if the text had to be truncated.
    pub sources: Vec<ReceiptSource>,
}

/// A field of an envelope and the lines of its receipt that were made from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceiptSource {
    /// The JSON pointer of the field.
    pub pointer: String,
    /// The lines, counted from 0.
    pub lines: Range<usize>,
}

/// A file with an exact stream that a preview shortens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(super) struct Artifact {
    /// Absolute path on this machine.
    pub(super) path: String,
}

/// A line, and the fields it was made from: JSON pointers relative to that of its block, without the leading slash.
#[derive(Debug, Clone)]
pub(super) struct ReceiptLine {
    pub(super) text: String,
    fields: Vec<String>,
}

impl ReceiptLine {
    /// Makes a line; a long text is shortened.
    pub(super) fn new(text: impl AsRef<str>) -> Self {
        Self::exact(safe_line(text.as_ref(), LINE_CHARS))
    }

    /// Makes a line from text that is already a single, safe and short line.
    pub(super) fn exact(text: String) -> Self {
        Self { text, fields: Vec::new() }
    }

    /// Adds the fields it was made from.
    pub(super) fn from(mut self, fields: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.fields.extend(fields.into_iter().map(Into::into));
        self
    }
}

impl<T: AsRef<str>> From<T> for ReceiptLine {
    fn from(text: T) -> Self {
        Self::new(text)
    }
}

/// Lines and output that belong together.
#[derive(Debug)]
pub(super) struct ReceiptBlock {
    /// The JSON pointer of the block's subject.
    pointer: String,
    parts: Vec<BlockPart>,
}

#[derive(Debug)]
enum BlockPart {
    Line(ReceiptLine),
    /// Text that may be truncated to make the receipt fit.
    Output {
        title: &'static str,
        field: &'static str,
        text: String,
    },
}

impl ReceiptBlock {
    /// Starts a block about the value at a JSON pointer.
    pub(super) fn about(pointer: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), parts: Vec::new() }
    }

    pub(super) fn lines(mut self, lines: impl IntoIterator<Item = impl Into<ReceiptLine>>) -> Self {
        self.parts.extend(lines.into_iter().map(|line| BlockPart::Line(line.into())));
        self
    }

    /// Adds the output in a field under a title, unless it is blank.
    pub(super) fn output(mut self, title: &'static str, field: &'static str, text: Option<&str>) -> Self {
        let text = text.map(|text| text.trim_end_matches('\n')).filter(|text| !text.trim().is_empty());
        self.parts.extend(text.map(|text| BlockPart::Output { title, field, text: text.to_owned() }));
        self
    }

    /// Adds the files that contain what was left out, as listed in the field `artifacts` of `parent`.
    pub(super) fn artifacts(self, title: &str, parent: &str, artifacts: &[Artifact]) -> Self {
        let is_usable = |path: &str| path.chars().count() <= PATH_CHARS && !path.contains(char::is_control);
        let paths = artifacts.iter().enumerate().filter(|(_, artifact)| is_usable(&artifact.path));
        let line = |(at, artifact): (usize, &Artifact)| {
            ReceiptLine::exact(artifact.path.clone()).from([format!("{parent}artifacts/{at}")])
        };
        let paths: Vec<ReceiptLine> = paths.map(line).collect();
        let title = (!paths.is_empty()).then(|| ReceiptLine::new(title));
        self.lines(title).lines(paths)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Inserts a heading, unless the block is empty.
    pub(super) fn with_heading(mut self, head: ReceiptLine) -> Self {
        if !self.is_empty() {
            self.parts.insert(0, BlockPart::Line(head));
        }
        self
    }

    /// Returns the size without outputs, including the blank line after the block.
    fn fixed_size(&self) -> Room {
        let taken = |part: &BlockPart| match part {
            BlockPart::Line(line) => Room { lines: 1, ..Room::of(&line.text).plus(LINE_END) },
            // The title with its colon and line ending, and the line ending after the output's last line.
            BlockPart::Output { title, .. } => {
                Room { lines: 1, ..Room::of(title).plus(Room { chars: 3, bytes: 3, lines: 0 }) }
            }
        };
        self.parts.iter().map(taken).fold(Room { lines: 1, ..LINE_END }, Room::plus)
    }

    /// Returns the outputs, each with its pointer and size.
    fn outputs(&self) -> Vec<(String, Room)> {
        let output = |part: &BlockPart| match part {
            BlockPart::Line(_) => None,
            BlockPart::Output { field, text, .. } => Some((self.pointer_to(field), safe_size(text))),
        };
        self.parts.iter().filter_map(output).collect()
    }

    fn pointer_to(&self, field: &str) -> String {
        if field.is_empty() { self.pointer.clone() } else { format!("{}/{field}", self.pointer) }
    }
}

/// A receipt being built: blocks separated by blank lines.
#[derive(Debug)]
pub(super) struct Receipt {
    blocks: Vec<ReceiptBlock>,
}

impl Receipt {
    /// Starts with the outcome.
    pub(super) fn new(outcome: impl Into<ReceiptLine>) -> Self {
        Self { blocks: Vec::new() }.block([outcome])
    }

    /// Adds a line to the last block, or in a new block if that ends with output.
    pub(super) fn line(mut self, line: impl Into<ReceiptLine>) -> Self {
        match self.blocks.last_mut() {
            Some(ReceiptBlock { parts, .. }) if matches!(parts.last(), Some(BlockPart::Line(_))) => {
                parts.push(BlockPart::Line(line.into()));
                self
            }
            _ => self.block([line]),
        }
    }

    /// Adds several lines in the same way.
    pub(super) fn lines(self, lines: impl IntoIterator<Item = impl Into<ReceiptLine>>) -> Self {
        lines.into_iter().fold(self, Self::line)
    }

    /// Adds a block of lines about the result, unless there are none.
    pub(super) fn block(self, lines: impl IntoIterator<Item = impl Into<ReceiptLine>>) -> Self {
        self.push(ReceiptBlock::about("/result").lines(lines))
    }

    /// Adds a block, unless it is empty.
    pub(super) fn push(mut self, block: ReceiptBlock) -> Self {
        self.blocks.extend(Some(block).filter(|block| !block.is_empty()));
        self
    }

    /// Adds the output in a field of the result under a title, unless it is blank.
    pub(super) fn output(self, title: &'static str, field: &'static str, text: Option<&str>) -> Self {
        self.push(ReceiptBlock::about("/result").output(title, field, text))
    }

    /// Adds what to do next.
    pub(super) fn next(self, step: &str) -> Self {
        self.block([format!("{NEXT}{step}")])
    }

    /// Adds how to read what was left out of an output, unless the marker in the output says it.
    pub(super) fn next_to_read_on(self, step: &str) -> Self {
        let is_said = |part: &BlockPart| matches!(part, BlockPart::Output { text, .. } if preview::ends(text).is_some());
        if self.blocks.iter().flat_map(|block| &block.parts).any(is_said) { self } else { self.next(step) }
    }

    /// Leaves out what to do next: a person at a shell calls no tools.
    pub(super) fn without_next(mut self) -> Self {
        let is_next = |block: &ReceiptBlock| matches!(&block.parts[..], [BlockPart::Line(line)] if line.text.starts_with(NEXT));
        self.blocks.pop_if(|block| is_next(block));
        self
    }

    /// Divides the room for output in a receipt, first fairly among the blocks and then among each block's outputs.
    /// Returns the room of each output, by JSON pointer.
    pub(super) fn rooms(&self, receipt: Room) -> HashMap<String, Room> {
        let fixed = self.blocks.iter().map(ReceiptBlock::fixed_size).fold(Room::NONE, Room::plus);
        // No blank line follows the last block.
        let room = receipt.plus(Room { chars: 2, bytes: 2, lines: 1 }).minus(fixed);
        let outputs: Vec<_> = self.blocks.iter().map(ReceiptBlock::outputs).collect();
        let wanted =
            |of: &Vec<(String, Room)>| of.iter().map(|(_, taken)| *taken).fold(Room::NONE, Room::plus);
        let wanted: Vec<Room> = outputs.iter().map(wanted).collect();
        let split = |(outputs, share): (Vec<(String, Room)>, Room)| {
            let wanted = |at: usize| outputs.get(at).map_or(Room::NONE, |(_, taken)| *taken);
            let (first, second) = share.split(wanted(0), wanted(1));
            outputs.into_iter().map(|(pointer, _)| pointer).zip([first, second])
        };
        outputs.into_iter().zip(room.shares(&wanted)).flat_map(split).collect()
    }

    /// Joins the blocks, truncating output further if the whole would be too long.
    pub(super) fn render(self) -> RenderedReceipt {
        let rooms = self.rooms(Room::default());
        let (mut texts, mut sources, mut line) = (Vec::new(), Vec::new(), 0);
        for block in self.blocks {
            if line > 0 {
                texts.push(String::new());
                line += 1;
            }
            for part in &block.parts {
                let (text, fields) = match part {
                    BlockPart::Line(ReceiptLine { text, fields }) => (text.clone(), fields.clone()),
                    BlockPart::Output { title, field, text } => {
                        let room = rooms.get(&block.pointer_to(field)).copied().unwrap_or(Room::NONE);
                        let shown = SafeText::lines(&fit_output(text, room, &ReadOn::default()));
                        (format!("{title}:\n{}", shown.trim_end_matches('\n')), vec![(*field).to_owned()])
                    }
                };
                let lines = line..line + 1 + text.matches('\n').count();
                line = lines.end;
                let source =
                    |field: String| ReceiptSource { pointer: block.pointer_to(&field), lines: lines.clone() };
                sources.extend(fields.into_iter().map(source));
                texts.push(text);
            }
        }
        let whole = texts.join("\n");
        // What cannot be read is named in each output already, and a receipt is not laid out as a document.
        let text = preview::recut(&whole, RECEIPT_CHARS, &ReadOn::default());
        let sources = if text == whole { sources } else { Vec::new() };
        RenderedReceipt { text: SafeText::lines(&text), sources }
    }
}

/// Makes one line of at most `chars` characters without hidden characters.
pub(super) fn safe_line(text: &str, chars: usize) -> String {
    let end = text.char_indices().nth(chars.saturating_mul(8)).map_or(text.len(), |(at, _)| at);
    one_line(&SafeText::lines(text.get(..end).unwrap_or(text)), chars)
}

/// Returns the size of output as rendered in a receipt.
pub(super) fn safe_size(output: &str) -> Room {
    Room::of(&SafeText::lines(output))
}

/// Truncates output so that its rendering fits in a room. The original is truncated, so that the marker's counts are
/// correct; if the names of hidden characters, wide characters or many short lines make the result too long, less is
/// kept.
pub(super) fn fit_output(output: &str, room: Room, read_on: &ReadOn) -> String {
    let mut budget = room.chars;
    loop {
        let cut = preview::recut(output, budget, read_on);
        match room.excess(&SafeText::lines(&cut)) {
            None => return cut,
            Some((has, may)) => budget = budget.min(cut.chars().count()) * may / has,
        }
    }
}

/// Builds the receipt of an error.
pub(super) fn of_error(tool: &str, error: &ToolError) -> Receipt {
    // What the message says stands once.
    let is_said =
        |value: &Value| value.as_str().is_some_and(|value| value == tool || error.message.contains(value));
    let details = error.details.as_deref().cloned().map(|mut details| {
        if let Some(details) = details.as_object_mut() {
            details.retain(|_, value| !is_said(value));
        }
        details
    });
    let details = details.filter(|details| *details != json!({})).map(|details| {
        let text = details.to_string();
        let length = text.chars().count();
        if length > DETAILS_CHARS {
            format!("details: left out here, {length} characters")
        } else {
            format!("details: {}", one_line(&text, DETAILS_CHARS))
        }
    });
    let hint = error.recovery_hint.as_ref().map(|hint| format!("hint: {hint}"));
    // Next to "use `cmd`", "retryable=false" would keep a model from doing exactly that.
    let kind = if error.kind.is_about_input() && !error.retryable {
        ReceiptLine::new(format!("kind={}", error.kind)).from(["kind"])
    } else {
        ReceiptLine::new(format!("kind={} retryable={}", error.kind, error.retryable))
            .from(["kind", "retryable"])
    };
    let lines = [ReceiptLine::new(format!("{tool} failed: {}", error.message)).from(["message"]), kind];
    let block = ReceiptBlock::about("/error").lines(lines);
    let block = block.lines(hint.map(|hint| ReceiptLine::new(hint).from(["recovery_hint"]))).lines(details);
    Receipt { blocks: vec![block] }
}

/// Builds the receipt of a tool, or of a form of result, that this version does not know.
pub(super) fn of_unknown(summary: &str, result: &Value) -> Receipt {
    Receipt::new(summary).output(
        "Result in a form that is not known here, as JSON",
        "",
        Some(&format!("{result:#}")),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::envelope::{Envelope, ErrorKind};
    use crate::tools::table::render;

    #[test]
    fn blocks_are_set_apart_and_blank_ones_left_out() {
        let text = Receipt::new("Done")
            .line("at once")
            .output("stdout", "stdout_preview", Some("a\nb\n\n"))
            .output("stderr", "stderr_preview", Some(" \n"))
            .output("other", "other_preview", None)
            .push(ReceiptBlock::about("/result").artifacts("Artifacts:", "", &[]))
            .next("nothing.")
            .render()
            .text;
        assert_eq!(text, "Done\nat once\n\nstdout:\na\nb\n\nNext: nothing.");
    }

    #[test]
    fn a_receipt_is_never_too_long_and_keeps_what_is_not_output() {
        let long = |letter: &str| format!("{}\n", letter.repeat(99)).repeat(1_500);
        let text = Receipt::new("Done")
            .output("stdout", "stdout_preview", Some(&long("o")))
            .output("stderr", "stderr_preview", Some(&long("e")))
            .next("go on.");
        let text = text.render().text;
        let length = text.chars().count();
        assert!((39_000..=RECEIPT_CHARS).contains(&length), "{length}");
        assert!(text.starts_with("Done\n\nstdout:\nooo") && text.ends_with("eee\n\nNext: go on."));
        assert_eq!(text.matches("[output truncated: showing first ").count(), 2);
    }

    #[test]
    fn a_receipt_with_binary_output_says_so_of_the_output_alone() {
        let binary = format!("[binary output: 99 % of it is no text] {}", "\u{fffd}".repeat(300));
        let text = Receipt::new("Done").output("stdout", "stdout_preview", Some(&binary)).render().text;
        assert!(text.starts_with("Done\n\nstdout:\n[binary output: "), "{}", &*text);
        assert_eq!(text.matches("[binary output").count(), 1);
    }

    #[test]
    fn hidden_characters_are_named_and_the_receipt_is_not_too_long_for_it() {
        let text = Receipt::new("Done \u{202e}")
            .output("stdout", "stdout_preview", Some("a\u{200b}b\tc\n"))
            .render()
            .text;
        assert_eq!(text, "Done ⟨U+202E⟩\n\nstdout:\na⟨U+200B⟩b\tc");
        let long = "x\u{200b}\u{200b}y\n".repeat(9_000);
        let text = Receipt::new("Done")
            .output("stdout", "stdout_preview", Some(&long))
            .output("stderr", "stderr_preview", Some(&long))
            .render()
            .text;
        let length = text.chars().count();
        assert!((30_000..=RECEIPT_CHARS).contains(&length), "{length}");
        let marks = text.match_indices("[output truncated: showing first ").count();
        assert_eq!(marks, 2, "each says what it shows");
    }

    #[test]
    fn long_details_stay_out_of_the_receipt_and_in_the_record() {
        let error = ToolError::new(ErrorKind::InternalError, "It broke.")
            .with_details(json!({"x": "y".repeat(5000)}));
        let envelope = Envelope::error("ExecCommand", error);
        assert_eq!(
            render(&envelope),
            "ExecCommand failed: It broke.\nkind=internal_error retryable=false\ndetails: left out here, 5008 characters"
        );
        assert!(envelope.to_value().to_string().contains(&"y".repeat(5000)));
    }

    #[test]
    fn an_unknown_form_is_still_readable() {
        let envelope = Envelope::success("Other", "all well", &json!({"n": 1}));
        assert_eq!(
            render(&envelope),
            "all well\n\nResult in a form that is not known here, as JSON:\n{\n  \"n\": 1\n}"
        );
    }
}
