//! What of a task's output an answer showed: the whole transcript, and marks at the lines that were in it. A mark is
//! set only where the text that was sent stands in the transcript letter by letter.

use std::ops::Range;

use super::super::looks::theme::{Glyphs, Role};
use super::super::text::count;
use super::super::text::document::{Document, Piece, piece};
use super::super::text::visible;
use super::calls::Place;
use super::reader::Reader;
use super::showing::Showing;
use crate::envelope::preview;
use crate::runtime::Stream;

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

/// A command with what an answer showed of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// What it is called among others: `[2] wc -l src/run.rs`. Nothing when it is the only one.
    pub name: String,
    /// Its streams, or why there is nothing to show of them.
    pub streams: Result<Vec<(Showing, Transcript)>, String>,
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

/// Lays out the transcripts of commands, with a mark at each line of which something was sent.
#[must_use]
pub fn reader(title: String, commands: &[Told], glyphs: Glyphs) -> Reader {
    let mut page = Page::default();
    for command in commands {
        if !command.name.is_empty() {
            if !page.lines.is_empty() {
                page.say("", Role::Text);
            }
            page.heads.push(page.lines.len());
            page.say(&command.name, Role::Title);
        }
        match &command.streams {
            Ok(streams) => streams.iter().for_each(|stream| page.stream(stream, streams.len() > 1, glyphs)),
            Err(why) => page.say(why, Role::Faint),
        }
    }
    page.reader(title)
}

/// Transcripts being laid out.
#[derive(Default)]
struct Page {
    lines: Vec<Vec<Piece>>,
    marks: Vec<Piece>,
    /// The lines at which commands begin.
    heads: Vec<usize>,
    /// The lines at which something that was sent begins.
    begins: Vec<usize>,
    seen: usize,
    all: usize,
    is_unknown: bool,
}

impl Page {
    fn say(&mut self, text: &str, role: Role) {
        self.marks.push(piece("  ", Role::Faint));
        self.lines.push(vec![piece(visible::in_text(text).into_owned(), role)]);
    }

    fn stream(&mut self, (showing, transcript): &(Showing, Transcript), is_named: bool, glyphs: Glyphs) {
        if is_named {
            if transcript.all.is_empty() {
                return;
            }
            self.say(if showing.stream == Stream::Stderr { "stderr:" } else { "stdout:" }, Role::Title);
        }
        let sent = parts(showing, transcript);
        self.is_unknown |= sent.is_none();
        let sent = sent.unwrap_or_default();
        let mut at = 0;
        for line in transcript.all.split_inclusive('\n') {
            let range = at..at + line.len();
            at = range.end;
            let is_seen = sent.iter().any(|part| part.start < range.end && range.start < part.end);
            let was_seen = self.marks.last().is_some_and(|last| last.role == Role::Accent);
            if is_seen && !was_seen {
                self.begins.push(self.lines.len());
            }
            self.all += 1;
            self.seen += usize::from(is_seen);
            let (mark, role) = match is_seen {
                true => (format!("{} ", glyphs.rules[1]), Role::Accent),
                false => ("  ".to_owned(), Role::Faint),
            };
            self.marks.push(piece(mark, role));
            let text = visible::in_text(line.trim_end_matches('\n')).into_owned();
            self.lines.push(vec![piece(text, if is_seen { Role::Text } else { Role::Faint })]);
        }
    }

    fn reader(self, title: String) -> Reader {
        let lines_of = |many: usize| count(many as u64);
        let facts = match self.is_unknown {
            true => {
                let said = if self.heads.is_empty() { "" } else { "some of " };
                let text =
                    format!("{said}it was sent in another form: what of it cannot be told line by line");
                vec![piece(text, Role::Strong)]
            }
            false => vec![
                piece(format!("{} of {} lines seen", lines_of(self.seen), lines_of(self.all)), Role::Strong),
                piece(format!("{} not", lines_of(self.all - self.seen)), Role::Faint),
            ],
        };
        let mut document = Document::new(self.lines);
        document.set_gutter(self.marks);
        // Of several commands the keys go from one to the next.
        let (parts, part) = match self.heads.is_empty() {
            true => (self.begins, "part"),
            false => (self.heads, "command"),
        };
        Reader { title, facts, document, place: Place::default(), parts, begin: 0, part }
    }
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
