//! Receipts: what a model reads. Outcome first, then facts, output, and the next step; made from
//! the canonical envelope alone and never longer than a client passes on whole.

use serde_json::Value;

use super::reading::Artifact;
use super::table;
use crate::envelope::{Envelope, Outcome, SafeText, ToolError, one_line, preview};

/// Longest receipt, in characters: what agents hand to their model without cutting it themselves.
pub const RECEIPT_CHARS: usize = 40_000;
/// Output that surely fits into a receipt beside everything else.
pub(super) const OUTPUT_ROOM: usize = 36_000;
/// Stands for output that an envelope no longer holds: it was compacted.
pub(super) const LEFT_OUT: &str = "(left out)";
/// Longest line that is not output.
const LINE_CHARS: usize = 1_000;
/// Longest error details that are shown.
const DETAILS_CHARS: usize = 1_000;
/// Most artifacts that are named.
const MOST_PATHS: usize = 20;

/// Makes the receipt of an envelope: what a reader would not see is named in it.
#[must_use]
pub fn render(envelope: &Envelope) -> SafeText {
    match envelope.outcome() {
        Outcome::Error(error) => of_error(envelope.tool_name(), error),
        Outcome::Success(result) => table::find(envelope.tool_name())
            .and_then(|tool| (tool.receipt)(result))
            .unwrap_or_else(|| unknown_form(envelope.summary_text(), result))
            .into_text(),
    }
}

/// A receipt being made: blocks, set apart by blank lines.
#[derive(Debug, Default)]
pub(super) struct Receipt {
    blocks: Vec<Block>,
}

#[derive(Debug)]
enum Block {
    Lines(Vec<String>),
    /// Text that may be cut to make the receipt fit.
    Output {
        title: &'static str,
        text: String,
    },
    /// Lines and output that fit already.
    Fitted(String),
}

impl Receipt {
    /// Starts with the outcome.
    pub(super) fn new(outcome: impl AsRef<str>) -> Self {
        Self::default().block([outcome.as_ref().to_owned()])
    }

    /// Adds a line to the block at the end.
    pub(super) fn line(mut self, line: impl AsRef<str>) -> Self {
        let line = safe_line(line.as_ref(), LINE_CHARS);
        match self.blocks.last_mut() {
            Some(Block::Lines(lines)) => lines.push(line),
            _ => self.blocks.push(Block::Lines(vec![line])),
        }
        self
    }

    /// Adds lines to the block at the end.
    pub(super) fn lines(self, lines: impl IntoIterator<Item = String>) -> Self {
        lines.into_iter().fold(self, Self::line)
    }

    /// Adds a block of lines, unless there are none.
    pub(super) fn block(mut self, lines: impl IntoIterator<Item = String>) -> Self {
        let lines: Vec<String> = lines.into_iter().map(|line| safe_line(&line, LINE_CHARS)).collect();
        if !lines.is_empty() {
            self.blocks.push(Block::Lines(lines));
        }
        self
    }

    /// Adds output under a title, unless it is blank.
    pub(super) fn output(mut self, title: &'static str, text: Option<&str>) -> Self {
        if let Some(text) = text.filter(|text| !text.trim().is_empty()) {
            self.blocks.push(Block::Output { title, text: text.to_owned() });
        }
        self
    }

    /// Adds a block whose maker sees to it that the receipt is not too long.
    pub(super) fn fitted(mut self, block: String) -> Self {
        self.blocks.push(Block::Fitted(block));
        self
    }

    /// Adds the files that hold what was cut.
    pub(super) fn artifacts(self, artifacts: &[Artifact]) -> Self {
        if artifacts.is_empty() {
            return self;
        }
        let paths = artifacts.iter().take(MOST_PATHS).map(|artifact| artifact.path.clone());
        self.block(std::iter::once("Artifacts:".to_owned()).chain(paths))
    }

    /// Adds what to do next.
    pub(super) fn next(self, step: &str) -> Self {
        self.block([format!("Next: {step}")])
    }

    /// Joins the blocks, cutting output again where the whole would be too long.
    pub(super) fn into_text(mut self) -> SafeText {
        self.fit();
        let blocks = self.blocks.iter().map(|block| match block {
            Block::Lines(lines) => lines.join("\n"),
            Block::Fitted(text) => text.clone(),
            Block::Output { title, text } => format!("{title}:\n{}", text.trim_end_matches('\n')),
        });
        let text = blocks.collect::<Vec<_>>().join("\n\n");
        let whole = preview::cut(&preview::Text::Whole(text), RECEIPT_CHARS);
        whole.map(|whole| SafeText::lines(&whole.text)).unwrap_or_default()
    }

    fn fit(&mut self) {
        let mut fixed = 0;
        let mut outputs = Vec::new();
        for block in &mut self.blocks {
            match block {
                Block::Lines(lines) => {
                    fixed += lines.iter().map(|line| line.chars().count() + 1).sum::<usize>() + 1
                }
                Block::Fitted(text) => fixed += text.chars().count() + 2,
                Block::Output { title, text } => {
                    fixed += title.len() + 4;
                    outputs.push(text);
                }
            }
        }
        let room = RECEIPT_CHARS.saturating_sub(fixed);
        let mut lengths = outputs.iter().map(|text| safe_chars(text));
        let shares = preview::split_budget(lengths.next().unwrap_or(0), lengths.next().unwrap_or(0), room);
        for (text, share) in outputs.into_iter().zip([shares.0, shares.1]) {
            *text = safe_output(text, share).to_string();
        }
    }
}

/// Makes one line of at most so many characters, with nothing hidden in it.
pub(super) fn safe_line(text: &str, chars: usize) -> String {
    let end = text.char_indices().nth(chars.saturating_mul(8)).map_or(text.len(), |(at, _)| at);
    one_line(&SafeText::lines(text.get(..end).unwrap_or(text)), chars)
}

/// Returns how many characters output takes as a receipt shows it.
pub(super) fn safe_chars(output: &str) -> usize {
    SafeText::lines(output).chars().count()
}

/// Cuts output to at most so many characters as a receipt shows it. It is cut as it is, so that what its marker counts
/// stays true, and then shown; where names of hidden characters make that too long, it is cut to less.
pub(super) fn safe_output(output: &str, chars: usize) -> SafeText {
    SafeText::lines(&fit_output(output, chars))
}

/// Cuts output so that a receipt shows it in at most so many characters; names of hidden characters come later.
pub(super) fn fit_output(output: &str, chars: usize) -> String {
    let mut budget = chars;
    loop {
        let cut = preview::recut(output, budget);
        let length = safe_chars(&cut);
        if length <= chars {
            return cut;
        }
        budget = budget * chars / length;
    }
}

fn of_error(tool: &str, error: &ToolError) -> SafeText {
    let mut receipt = Receipt::new(format!("{tool} failed: {}", error.message))
        .line(format!("kind={} retryable={}", error.kind, error.retryable));
    if let Some(hint) = &error.recovery_hint {
        receipt = receipt.line(format!("hint: {hint}"));
    }
    if let Some(details) = &error.details {
        let text = details.to_string();
        let length = text.chars().count();
        receipt = receipt.line(if length > DETAILS_CHARS {
            format!("details: left out here, {length} characters")
        } else {
            format!("details: {}", one_line(&text, DETAILS_CHARS))
        });
    }
    receipt.into_text()
}

/// An envelope of a tool, or a form of its result, that this version does not know.
fn unknown_form(summary: &str, result: &Value) -> Receipt {
    Receipt::new(summary).output("result", Some(&format!("{result:#}")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::envelope::ErrorKind;

    #[test]
    fn blocks_are_set_apart_and_blank_ones_left_out() {
        let text = Receipt::new("Done")
            .line("at once")
            .output("stdout", Some("a\nb\n\n"))
            .output("stderr", Some(" \n"))
            .output("other", None)
            .artifacts(&[])
            .next("nothing.")
            .into_text();
        assert_eq!(text, "Done\nat once\n\nstdout:\na\nb\n\nNext: nothing.");
    }

    #[test]
    fn a_receipt_is_never_too_long_and_keeps_what_is_not_output() {
        let long = |letter: &str| format!("{}\n", letter.repeat(99)).repeat(1_500);
        let text = Receipt::new("Done")
            .output("stdout", Some(&long("o")))
            .output("stderr", Some(&long("e")))
            .next("go on.");
        let text = text.into_text();
        let length = text.chars().count();
        assert!((39_000..=RECEIPT_CHARS).contains(&length), "{length}");
        assert!(text.starts_with("Done\n\nstdout:\nooo") && text.ends_with("eee\n\nNext: go on."));
        assert_eq!(text.matches("[output truncated: showing first ").count(), 2);
    }

    #[test]
    fn hidden_characters_are_named_and_the_receipt_is_not_too_long_for_it() {
        let text = Receipt::new("Done \u{202e}").output("stdout", Some("a\u{200b}b\tc\n")).into_text();
        assert_eq!(text, "Done ⟨U+202E⟩\n\nstdout:\na⟨U+200B⟩b\tc");
        let long = "x\u{200b}\u{200b}y\n".repeat(9_000);
        let text =
            Receipt::new("Done").output("stdout", Some(&long)).output("stderr", Some(&long)).into_text();
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
        assert_eq!(render(&envelope), "all well\n\nresult:\n{\n  \"n\": 1\n}");
    }
}
