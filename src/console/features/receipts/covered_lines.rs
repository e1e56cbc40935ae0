//! The output of commands, line by line, and which of the lines an answer showed: a line counts only if the
//! text that was sent is found in the transcript character by character.

use std::collections::HashSet;
use std::ops::Range;

use crate::console::features::receipts::native_parts;
use crate::console::state::{CommandCoverage, CoveredStream, StreamTranscript};
use crate::console::text::reading::{ReaderText, ReaderView};
use crate::console::text::{StyledPiece, WrappedText, count, piece, visible};
use crate::console::theme::{Glyphs, Role};
use crate::envelope::{MASKED, mask, preview};
use crate::runtime::OutputStream;

/// How many lines in a row that were not shown are left out of a folded text; fewer are kept.
const FEW: usize = 6;

/// The most lines of a folded text.
const MOST: usize = 2_000;

/// What a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineKind {
    /// The name of a command or a stream.
    Name,
    /// A remark about what follows.
    Note,
    Seen,
    Unseen,
}

/// The lines of one or several commands.
#[derive(Debug, Clone, Default)]
pub(super) struct CoveredLines {
    lines: Vec<(String, LineKind)>,
    /// The lines at which commands begin.
    heads: Vec<usize>,
    /// Whether some of it was sent in a form in which its lines cannot be found.
    is_unknown: bool,
    is_masked: bool,
}

impl CoveredLines {
    pub(super) fn of(commands: &[CommandCoverage]) -> Self {
        let mut lines = Self::default();
        lines.take(commands);
        lines
    }

    /// Returns the same with secrets masked, for others to read.
    pub(super) fn with_masking(commands: &[CommandCoverage]) -> Self {
        let mut lines = Self { is_masked: true, ..Self::default() };
        lines.take(commands);
        lines
    }

    fn take(&mut self, commands: &[CommandCoverage]) {
        for command in commands {
            if !command.name.is_empty() {
                if !self.lines.is_empty() {
                    self.say("", LineKind::Note);
                }
                self.heads.push(self.lines.len());
                let name = if self.is_masked { mask(&command.name) } else { command.name.as_str().into() };
                self.say(&name, LineKind::Name);
            }
            match &command.streams {
                Ok(streams) => streams.iter().for_each(|stream| self.stream(stream, streams.len() > 1)),
                Err(why) => self.say(why, LineKind::Note),
            }
        }
    }

    fn say(&mut self, text: &str, kind: LineKind) {
        self.lines.push((visible::in_text(text).into_owned(), kind));
    }

    fn stream(&mut self, (shown, transcript): &(CoveredStream, StreamTranscript), is_named: bool) {
        if is_named {
            if transcript.all.is_empty() {
                return;
            }
            let name = if shown.stream == OutputStream::Stderr { "stderr:" } else { "stdout:" };
            self.say(name, LineKind::Name);
        }
        let sent = parts(shown, transcript);
        self.is_unknown |= sent.is_none();
        let sent = sent.unwrap_or_default();
        // A secret may span lines: what the whole text hides is hidden in each of its lines.
        let masked = if self.is_masked { mask(&transcript.all) } else { transcript.all.as_str().into() };
        let kept: HashSet<&str> = if self.is_masked { masked.lines().collect() } else { HashSet::new() };
        let mut at = 0;
        for line in transcript.all.split_inclusive('\n') {
            let range = at..at + line.len();
            at = range.end;
            let is_seen = sent.iter().any(|part| part.start < range.end && range.start < part.end);
            let line = line.trim_end_matches('\n');
            let told = if self.is_masked { mask(line) } else { line.into() };
            let is_kept = !self.is_masked || kept.contains(told.trim_end_matches('\r'));
            self.say(
                if is_kept { &told } else { MASKED },
                if is_seen { LineKind::Seen } else { LineKind::Unseen },
            );
        }
    }

    /// Returns how many of the lines were shown, and how many were not.
    fn counts(&self) -> (String, String) {
        let many = |kind| count(self.lines.iter().filter(|line| line.1 == kind).count() as u64);
        let all = self.lines.iter().filter(|line| matches!(line.1, LineKind::Seen | LineKind::Unseen));
        let all = count(all.count() as u64);
        (format!("{} of {all} lines seen", many(LineKind::Seen)), format!("{} not", many(LineKind::Unseen)))
    }

    /// Returns the same in one text, or why it cannot be told.
    pub(super) fn facts(&self) -> String {
        if self.is_unknown {
            let some = if self.heads.is_empty() { "" } else { "some of " };
            return format!("{some}it was sent in another form: what of it cannot be told line by line");
        }
        self.counts().0
    }

    fn is_begin(&self, at: usize) -> bool {
        let is_seen = |at: usize| self.lines.get(at).is_some_and(|line| line.1 == LineKind::Seen);
        is_seen(at) && at.checked_sub(1).is_none_or(|before| !is_seen(before))
    }

    fn mark(kind: LineKind, glyphs: Glyphs) -> StyledPiece {
        match kind {
            LineKind::Seen => piece(format!("{} ", glyphs.rules[1]), Role::Accent),
            _ => piece("  ", Role::Faint),
        }
    }

    fn line((text, kind): &(String, LineKind)) -> Vec<StyledPiece> {
        let role = match kind {
            LineKind::Name => Role::Title,
            LineKind::Seen => Role::Text,
            _ => Role::Faint,
        };
        vec![piece(text.as_str(), role)]
    }

    /// Lays out all of it to be read, with a mark at each line that was shown.
    pub(super) fn reader(self, title: String, glyphs: Glyphs) -> ReaderView {
        let mut facts = vec![piece(self.facts(), Role::Strong)];
        facts.extend((!self.is_unknown).then(|| piece(self.counts().1, Role::Faint)));
        let mut document = WrappedText::new(self.lines.iter().map(Self::line).collect());
        document.set_gutter(self.lines.iter().map(|(_, kind)| Self::mark(*kind, glyphs)).collect());
        // With several commands, the keys go from command to command.
        let (parts, part) = match self.heads.is_empty() {
            true => ((0..self.lines.len()).filter(|at| self.is_begin(*at)).collect(), "part"),
            false => (self.heads, "command"),
        };
        ReaderView { title, facts, text: ReaderText::new(document), parts, begin: 0, part }
    }

    /// Returns what was shown with its marks; many lines in a row that were not are counted instead.
    pub(super) fn folded_text(&self, glyphs: Glyphs) -> WrappedText {
        let mut lines = Vec::new();
        for run in self.lines.chunk_by(|one, next| one.1 == next.1) {
            let is_counted = run.len() > FEW && run.first().is_some_and(|line| line.1 == LineKind::Unseen);
            if is_counted {
                let many = format!("{} {} lines it did not see", glyphs.cut, count(run.len() as u64));
                lines.push(vec![piece("  ", Role::Faint), piece(many, Role::Faint)]);
                continue;
            }
            lines
                .extend(run.iter().map(|line| [vec![Self::mark(line.1, glyphs)], Self::line(line)].concat()));
        }
        let more = lines.len().saturating_sub(MOST);
        lines.truncate(MOST);
        lines.extend(
            (more > 0).then(|| {
                vec![piece(format!("{} {} more lines", glyphs.cut, count(more as u64)), Role::Faint)]
            }),
        );
        WrappedText::new(lines)
    }
}

/// Returns the byte ranges of a transcript that were sent, or `None` if they cannot be determined with
/// certainty.
fn parts(stream_shown: &CoveredStream, transcript: &StreamTranscript) -> Option<Vec<Range<usize>>> {
    let all = &transcript.all;
    let Some(sent) = &stream_shown.sent else { return Some(Vec::new()) };
    if stream_shown.is_native {
        return native_parts::parts(all, sent);
    }
    // An overwritten line may have changed since: then search for the text that was sent instead.
    let from = all.starts_with(&transcript.before).then_some(transcript.before.len());
    let to = transcript.until.as_ref().filter(|until| all.starts_with(until.as_str())).map(String::len);
    let (head, tail) = match preview::ends(sent).filter(|_| stream_shown.is_cut) {
        Some(ends) => ends,
        None => (sent.as_str(), ""),
    };
    let from = from.filter(|from| all.get(*from..).is_some_and(|rest| rest.starts_with(head)));
    let head = from.or_else(|| only(all, head)).map(|at| at..at + head.len())?;
    if tail.is_empty() {
        return Some(vec![head]);
    }
    let ends_there = |to: &usize| all.get(head.end..*to).is_some_and(|rest| rest.ends_with(tail));
    let end = to.filter(ends_there);
    let start = end.map(|end| end - tail.len());
    let start = start.or_else(|| Some(head.end + only(all.get(head.end..)?, tail)?))?;
    Some(vec![head, start..start + tail.len()])
}

/// Returns where a text occurs, if it occurs exactly once.
fn only(text: &str, part: &str) -> Option<usize> {
    let mut found = text.match_indices(part);
    let (at, _) = found.next().filter(|_| !part.is_empty())?;
    found.next().is_none().then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::envelope::preview::StreamText;

    fn stream_shown(sent: &str, is_cut: bool) -> CoveredStream {
        CoveredStream {
            stream: OutputStream::Merged,
            sent: Some(sent.into()),
            is_cut,
            is_native: false,
            from: 0,
            to: None,
        }
    }

    fn told(
        stream_shown: &CoveredStream,
        all: &str,
        before: &str,
        until: Option<&str>,
    ) -> Option<Vec<String>> {
        let until = until.map(str::to_owned);
        let transcript = StreamTranscript { all: all.into(), before: before.into(), until };
        let parts = parts(stream_shown, &transcript)?;
        Some(parts.into_iter().map(|part| all[part].to_owned()).collect())
    }

    fn numbers(count: usize) -> String {
        (0..count).map(|n| format!("line {n}\n")).collect()
    }

    #[test]
    fn both_ends_of_a_preview_are_found_in_the_transcript() {
        let all = numbers(400);
        let cut = preview::cut(&StreamText::Whole(all.clone()), 600).expect("not blank");
        assert!(cut.truncated);
        let found = told(&stream_shown(&cut.text, true), &all, "", Some(&all)).expect("it can be told");
        assert!(all.starts_with(&found[0]) && all.ends_with(&found[1]), "{found:?}");
        let whole: String = found.concat();
        assert!(cut.text.chars().count() < whole.chars().count() + 100, "{found:?}");
    }

    #[test]
    fn output_read_between_two_cursors_is_marked_there() {
        let all = numbers(9);
        let (before, until) = (numbers(3), numbers(5));
        let sent = stream_shown("line 3\nline 4\n", false);
        assert_eq!(told(&sent, &all, &before, Some(&until)).expect("told"), ["line 3\nline 4\n"]);
    }

    #[test]
    fn an_ambiguous_or_missing_text_is_not_marked() {
        assert_eq!(told(&stream_shown("b\n", false), "a\nb\na\nb\n", "other", None), None, "twice");
        assert_eq!(
            told(&stream_shown("{\n  \"a\": 1\n}", false), "{\"a\":1}\n", "", None),
            None,
            "another form"
        );
        let nothing = CoveredStream { sent: None, ..stream_shown("", false) };
        assert_eq!(told(&nothing, "x\n", "", None), Some(Vec::new()));
    }

    fn shared(all: &str, sent: &str) -> Vec<String> {
        let shown = CoveredStream {
            stream: OutputStream::Merged,
            sent: Some(sent.into()),
            is_cut: false,
            is_native: false,
            from: 0,
            to: None,
        };
        let transcript = StreamTranscript { all: all.into(), ..StreamTranscript::default() };
        let command = CommandCoverage { name: String::new(), streams: Ok(vec![(shown, transcript)]) };
        CoveredLines::with_masking(&[command]).lines.into_iter().map(|(text, _)| text).collect()
    }

    #[test]
    fn a_secret_in_the_output_is_masked_even_over_several_lines() {
        assert_eq!(shared("API_TOKEN=hunter2\nok\n", "ok\n"), ["API_TOKEN=[masked]", "ok"]);
        let key = "PRIVATE_KEY='one\ntwo\nthree'\nok\n";
        let told = shared(key, "ok\n");
        assert!(told.iter().all(|line| !line.contains("two") && !line.contains("three")), "{told:?}");
        assert_eq!(told.last().map(String::as_str), Some("ok"));
    }

    #[test]
    fn lines_that_the_agent_did_not_see_are_counted() {
        let all: String = (0..20).map(|n| format!("line {n}\n")).collect();
        let shown = CoveredStream {
            stream: OutputStream::Merged,
            sent: Some("line 0\nline 1\n".into()),
            is_cut: false,
            is_native: false,
            from: 0,
            to: None,
        };
        let transcript = StreamTranscript { all, ..StreamTranscript::default() };
        let command = CommandCoverage { name: String::new(), streams: Ok(vec![(shown, transcript)]) };
        let lines = CoveredLines::of(&[command]);
        assert_eq!(lines.facts(), "2 of 20 lines seen");
        let mut text = lines.folded_text(
            crate::console::theme::Theme::built_in(crate::console::theme::Colours::Named, false).glyphs,
        );
        text.wrap(80);
        let rows: Vec<String> =
            text.rows().iter().map(|row| row.iter().map(|part| part.text.as_str()).collect()).collect();
        assert_eq!(rows, ["│ line 0", "│ line 1", "  … 18 lines it did not see"]);
    }
}
