//! Coverage: which parts of a task's output an answer showed. Displays the whole transcript, with a mark at
//! each line that was sent. A line is marked only if the text that was sent is found in the transcript
//! character by character.

use std::ops::Range;
use std::sync::Arc;

use serde_json::Value;

use crate::console::effect::Effect;
use crate::console::features::receipts::Receipts;
use crate::console::state::{
    CommandCoverage, CoveredCommand, CoveredStream, Screen, State, StreamTranscript, alias,
};
use crate::console::text::reading::{ReaderText, ReaderView};
use crate::console::text::{StyledPiece, WrappedText, count, piece, visible};
use crate::console::theme::{Glyphs, Role};
use crate::envelope::{TaskId, preview};
use crate::model::{CallRecord, TaskView};
use crate::runtime::OutputStream;
use crate::tools::OutputCursor;
use crate::tools::exec_command_batch::{SentItem, sent_of_batch};

/// Returns the byte ranges of a transcript that were sent, or `None` if they cannot be determined with
/// certainty.
pub fn parts(stream_shown: &CoveredStream, transcript: &StreamTranscript) -> Option<Vec<Range<usize>>> {
    let all = &transcript.all;
    let Some(sent) = &stream_shown.sent else { return Some(Vec::new()) };
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

/// Lays out the transcripts of commands, with a mark at each line that was sent in whole or in part.
pub fn reader(title: String, commands: &[CommandCoverage], glyphs: Glyphs) -> ReaderView {
    let mut page = CoveragePage::default();
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

/// The transcripts being laid out.
#[derive(Default)]
struct CoveragePage {
    lines: Vec<Vec<StyledPiece>>,
    marks: Vec<StyledPiece>,
    /// The lines at which commands begin.
    heads: Vec<usize>,
    /// The lines at which the parts that were sent begin.
    begins: Vec<usize>,
    seen: usize,
    all: usize,
    is_unknown: bool,
}

impl CoveragePage {
    fn say(&mut self, text: &str, role: Role) {
        self.marks.push(piece("  ", Role::Faint));
        self.lines.push(vec![piece(visible::in_text(text).into_owned(), role)]);
    }

    fn stream(
        &mut self,
        (stream_shown, transcript): &(CoveredStream, StreamTranscript),
        is_named: bool,
        glyphs: Glyphs,
    ) {
        if is_named {
            if transcript.all.is_empty() {
                return;
            }
            self.say(
                if stream_shown.stream == OutputStream::Stderr { "stderr:" } else { "stdout:" },
                Role::Title,
            );
        }
        let sent = parts(stream_shown, transcript);
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
            let mark = if is_seen { glyphs.rules[1] } else { " " };
            self.marks.push(piece(format!("{mark} "), if is_seen { Role::Accent } else { Role::Faint }));
            let text = visible::in_text(line.trim_end_matches('\n')).into_owned();
            self.lines.push(vec![piece(text, if is_seen { Role::Text } else { Role::Faint })]);
        }
    }

    fn reader(self, title: String) -> ReaderView {
        let [seen, all, unseen] = [self.seen, self.all, self.all - self.seen].map(|many| count(many as u64));
        let facts = if self.is_unknown {
            let some = if self.heads.is_empty() { "" } else { "some of " };
            let text = format!("{some}it was sent in another form: what of it cannot be told line by line");
            vec![piece(text, Role::Strong)]
        } else {
            let facts = (format!("{seen} of {all} lines seen"), format!("{unseen} not"));
            vec![piece(facts.0, Role::Strong), piece(facts.1, Role::Faint)]
        };
        let mut document = WrappedText::new(self.lines);
        document.set_gutter(self.marks);
        // With several commands, the keys go from command to command.
        let is_one = self.heads.is_empty();
        let (parts, part) = if is_one { (self.begins, "part") } else { (self.heads, "command") };
        ReaderView { title, facts, text: ReaderText::new(document), parts, begin: 0, part }
    }
}

/// Returns the parts of its command's output, or of its batch's outputs, that an answer shows.
///
/// # Errors
/// Why that is not known.
pub fn shown(
    record: &CallRecord,
    task: Option<&TaskId>,
    tasks: &[Arc<TaskView>],
) -> Result<Vec<CoveredCommand>, &'static str> {
    match (record.tool.as_str(), task) {
        ("ExecCommandBatch", _) => of_batch(record, tasks),
        (_, Some(task)) if tasks.iter().all(|known| known.id != *task) => {
            Err("that task is no longer on the list")
        }
        (_, Some(task)) => {
            let streams = streams(record)?;
            Ok(vec![CoveredCommand { name: String::new(), task: Ok(task.clone()), streams }])
        }
        (_, None) => Err("this answer shows no output of a task"),
    }
}

/// Does the same for a batch: what its receipt shows of each item.
fn of_batch(record: &CallRecord, tasks: &[Arc<TaskView>]) -> Result<Vec<CoveredCommand>, &'static str> {
    let result = record.envelope.as_ref().and_then(|envelope| envelope.get("result"));
    let result = result.ok_or("the call is not answered yet")?;
    let items = sent_of_batch(result).ok_or("this answer shows no output of a task")?;
    let shown = |item: SentItem| {
        let is_it = |task: &&Arc<TaskView>| {
            task.call == record.seq && task.item.is_some_and(|at| at.index == item.index)
        };
        let task = match tasks.iter().find(is_it) {
            Some(task) if task.started_at.is_some() => Ok(task.id.clone()),
            None if item.has_run => Err("it is no longer on the list"),
            _ => Err("it was not run"),
        };
        let stream_shown =
            |stream, sent| CoveredStream { stream, sent, is_cut: item.is_cut, from: 0, to: None };
        let streams = vec![
            stream_shown(OutputStream::Stdout, item.stdout.clone()),
            stream_shown(OutputStream::Stderr, item.stderr.clone()),
        ];
        CoveredCommand { name: format!("[{}] {}", item.index, item.cmd), task, streams }
    };
    Ok(items.into_iter().map(shown).collect())
}

/// Returns the streams that an answer about a single task shows parts of.
fn streams(record: &CallRecord) -> Result<Vec<CoveredStream>, &'static str> {
    let Some(result) = record.envelope.as_ref().and_then(|envelope| envelope.get("result")) else {
        return Err("the call is not answered yet");
    };
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let shown = |stream, sent: &Value, is_cut: &Value| CoveredStream {
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
        ("TaskOutput", _) if result["task"]["reading"].is_object() => {
            Err("it was shown single lines by their numbers: read the receipt")
        }
        ("TaskOutput", _) if result["task"].is_object() => {
            let task = &result["task"];
            let cursor = |value: &Value| value.as_str()?.parse().ok().map(OutputCursor::position);
            let from = cursor(&record.input["since"]).unwrap_or(0);
            let to = cursor(&task["next_cursor"]);
            let stream_shown =
                shown(OutputStream::Merged, &task["output_preview"], &task["output_truncated"]);
            Ok(vec![CoveredStream { from, to, ..stream_shown }])
        }
        ("ExecCommand", Some("promoted_to_task")) => Ok(vec![shown(
            OutputStream::Merged,
            &result["initial_output_preview"],
            &result["initial_output_truncated"],
        )]),
        ("ExecCommand", Some("completed")) => Ok(vec![
            shown(OutputStream::Stdout, &result["stdout_preview"], &result["truncated"]),
            shown(OutputStream::Stderr, &result["stderr_preview"], &result["truncated"]),
        ]),
        _ => Err("this answer shows no output of a task"),
    }
}

/// Requests the coverage of the current answer: for its task, or for the commands of its batch.
pub(in crate::console) fn ask_for_coverage(state: &mut State) {
    let Some(record) = state.shown_record() else { return };
    let task = state.shown_call().and_then(|call| call.task.clone());
    match shown(&record, task.as_ref(), &state.view.snapshot.tasks) {
        Ok(shown) => state.effects.push(Effect::Coverage { call: record.seq, shown }),
        Err(why) => {
            state.toasts.say(why, Some(record.seq), state.clock.now);
        }
    }
}

impl Receipts {
    /// Shows the coverage of an answer, unless the user has moved on.
    pub(in crate::console) fn show_coverage(
        &self,
        state: &mut State,
        call: u64,
        commands: &[CommandCoverage],
    ) {
        let shown =
            state.shown_call().filter(|shown| shown.seq == call && state.focus.screen == Screen::Receipts);
        let Some(shown) = shown else { return };
        let name = shown.task.as_ref().and_then(|id| state.view.task(id)).map(|task| alias(task));
        let call = state.call_name(call);
        let title = match name {
            Some(name) => format!("{name}: what the model saw in call {call}"),
            None => format!("what the model saw of its commands in call {call}"),
        };
        let at = self.item_read(state.calls.column).unwrap_or_default();
        state.calls.finding = None;
        let reader = reader(title, commands, state.setup.theme.glyphs);
        state.reader = Some(ReaderView { begin: at, ..reader });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::envelope::preview::StreamText;

    fn stream_shown(sent: &str, is_cut: bool) -> CoveredStream {
        CoveredStream { stream: OutputStream::Merged, sent: Some(sent.into()), is_cut, from: 0, to: None }
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
}
