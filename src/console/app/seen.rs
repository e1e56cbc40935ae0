//! What of a task's output an answer showed: the whole transcript, and marks at the lines that were in it. A mark is
//! set only where the text that was sent stands in the transcript letter by letter.

use std::ops::Range;

use serde_json::Value;

use super::super::looks::theme::{Glyphs, Role};
use super::super::text::count;
use super::super::text::document::{Document, Piece, piece};
use super::super::text::visible;
use super::calls::Place;
use super::reader::Reader;
use crate::envelope::preview;
use crate::runtime::{CallRecord, Stream};
use crate::tools::Cursor;

/// A stream that an answer shows a part of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Showing {
    /// The stream.
    pub stream: Stream,
    /// What of it was sent; nothing when it was blank.
    pub sent: Option<String>,
    /// Something in the middle was left out.
    pub is_cut: bool,
    /// Where the reading began in the log.
    pub from: u64,
    /// Where it ended, if that is on record.
    pub to: Option<u64>,
}

/// A stream as it is in the log now.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Transcript {
    /// All of it.
    pub all: String,
    /// Up to where the reading began.
    pub before: String,
    /// Up to where it ended, if that is on record.
    pub until: Option<String>,
}

/// Returns what an answer shows of its task's output.
///
/// # Errors
/// Why nothing can be told of it.
pub fn showings(record: &CallRecord) -> Result<Vec<Showing>, &'static str> {
    let Some(result) = record.envelope.as_ref().and_then(|envelope| envelope.get("result")) else {
        return Err("the call is not answered yet");
    };
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let shown = |stream, sent: &Value, is_cut: &Value| Showing {
        stream,
        sent: text(sent),
        is_cut: is_cut == true,
        from: 0,
        to: None,
    };
    match (record.tool.as_str(), result["disposition"].as_str()) {
        ("TaskOutput", _) if result["task"]["view"] == "screen" => {
            Err("it was shown the screen, not the transcript: read the receipt")
        }
        ("TaskOutput", _) if result["task"].is_object() => {
            let task = &result["task"];
            let cursor = |value: &Value| value.as_str()?.parse().ok().map(Cursor::position);
            let from = cursor(&record.input["since"]).unwrap_or(0);
            let to = cursor(&task["next_cursor"]);
            let showing = shown(Stream::Merged, &task["output_preview"], &task["output_truncated"]);
            Ok(vec![Showing { from, to, ..showing }])
        }
        ("ExecCommand", Some("promoted_to_task")) => Ok(vec![shown(
            Stream::Merged,
            &result["initial_output_preview"],
            &result["initial_output_truncated"],
        )]),
        ("ExecCommand", Some("completed")) => Ok(vec![
            shown(Stream::Stdout, &result["stdout_preview"], &result["truncated"]),
            shown(Stream::Stderr, &result["stderr_preview"], &result["truncated"]),
        ]),
        _ => Err("this answer shows no output of a task"),
    }
}

/// Returns the parts of a transcript that were sent, in bytes; none when that cannot be told for certain.
#[must_use]
pub fn parts(showing: &Showing, transcript: &Transcript) -> Option<Vec<Range<usize>>> {
    let all = &transcript.all;
    let Some(sent) = &showing.sent else { return Some(Vec::new()) };
    // An overwritten line may read differently by now: then the reading is looked for instead.
    let from = all.starts_with(&transcript.before).then_some(transcript.before.len());
    let to = transcript.until.as_ref().filter(|until| all.starts_with(until.as_str())).map(String::len);
    let (head, tail) = match preview::ends(sent).filter(|_| showing.is_cut) {
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

/// Where a text stands, if it stands in one place only.
fn only(text: &str, part: &str) -> Option<usize> {
    let mut found = text.match_indices(part);
    let (at, _) = found.next().filter(|_| !part.is_empty())?;
    found.next().is_none().then_some(at)
}

/// Lays out the transcripts of the streams of an answer, with a mark at each line of which something was sent.
#[must_use]
pub fn reader(title: String, streams: &[(Showing, Transcript)], glyphs: Glyphs) -> Reader {
    let (mut lines, mut marks, mut begins) = (Vec::new(), Vec::new(), Vec::new());
    let (mut seen, mut all, mut unknown) = (0, 0, false);
    for (showing, transcript) in streams {
        if streams.len() > 1 {
            if transcript.all.is_empty() {
                continue;
            }
            marks.push(piece("  ", Role::Faint));
            let name = if showing.stream == Stream::Stderr { "stderr" } else { "stdout" };
            lines.push(vec![piece(format!("{name}:"), Role::Title)]);
        }
        let sent = parts(showing, transcript);
        unknown |= sent.is_none();
        let sent = sent.unwrap_or_default();
        let mut at = 0;
        for line in transcript.all.split_inclusive('\n') {
            let range = at..at + line.len();
            at = range.end;
            let is_seen = sent.iter().any(|part| part.start < range.end && range.start < part.end);
            let was_seen = marks.last().is_some_and(|last: &Piece| last.role == Role::Accent);
            if is_seen && !was_seen {
                begins.push(lines.len());
            }
            all += 1;
            seen += usize::from(is_seen);
            let (mark, role) = match is_seen {
                true => (format!("{} ", glyphs.rules[1]), Role::Accent),
                false => ("  ".to_owned(), Role::Faint),
            };
            marks.push(piece(mark, role));
            let text = visible::in_text(line.trim_end_matches('\n')).into_owned();
            lines.push(vec![piece(text, if is_seen { Role::Text } else { Role::Faint })]);
        }
    }
    let lines_of = |many: usize| count(many as u64);
    let facts = match unknown {
        true => {
            vec![piece("it was sent in another form: what of it cannot be told line by line", Role::Strong)]
        }
        false => vec![
            piece(format!("{} of {} lines seen", lines_of(seen), lines_of(all)), Role::Strong),
            piece(format!("{} not", lines_of(all - seen)), Role::Faint),
        ],
    };
    let mut document = Document::new(lines);
    document.set_gutter(marks);
    Reader { title, facts, document, place: Place::default(), parts: begins, part: "part" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::envelope::preview::Text;

    fn showing(sent: &str, is_cut: bool) -> Showing {
        Showing { stream: Stream::Merged, sent: Some(sent.into()), is_cut, from: 0, to: None }
    }

    fn told(showing: &Showing, all: &str, before: &str, until: Option<&str>) -> Option<Vec<String>> {
        let until = until.map(str::to_owned);
        let transcript = Transcript { all: all.into(), before: before.into(), until };
        let parts = parts(showing, &transcript)?;
        Some(parts.into_iter().map(|part| all[part].to_owned()).collect())
    }

    fn numbers(count: usize) -> String {
        (0..count).map(|n| format!("line {n}\n")).collect()
    }

    #[test]
    fn what_a_preview_kept_is_found_in_the_transcript() {
        let all = numbers(400);
        let cut = preview::cut(&Text::Whole(all.clone()), 600).expect("not blank");
        assert!(cut.truncated);
        let found = told(&showing(&cut.text, true), &all, "", Some(&all)).expect("it can be told");
        assert!(all.starts_with(&found[0]) && all.ends_with(&found[1]), "{found:?}");
        let whole: String = found.concat();
        assert!(cut.text.chars().count() < whole.chars().count() + 100, "{found:?}");
    }

    #[test]
    fn a_reading_that_began_and_ended_in_between_is_marked_there() {
        let all = numbers(9);
        let (before, until) = (numbers(3), numbers(5));
        let sent = showing("line 3\nline 4\n", false);
        assert_eq!(told(&sent, &all, &before, Some(&until)).expect("told"), ["line 3\nline 4\n"]);
    }

    #[test]
    fn what_stands_twice_or_nowhere_is_not_marked() {
        assert_eq!(told(&showing("b\n", false), "a\nb\na\nb\n", "other", None), None, "twice");
        assert_eq!(told(&showing("{\n  \"a\": 1\n}", false), "{\"a\":1}\n", "", None), None, "another form");
        let nothing = Showing { sent: None, ..showing("", false) };
        assert_eq!(told(&nothing, "x\n", "", None), Some(Vec::new()));
    }
}
