//! Reading a task's log on disk: pages for a scrolled-back pane and for ended tasks, search matches, prompts,
//! transcripts, and the screens of a replay.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::SignedDuration;

use crate::envelope::TaskId;
use crate::model::TaskView;
use crate::runtime::{OpenLog, Playback, StoredLog, StoredOutput};
use crate::terminal::{ByteOrigin, Contents, LogBytes, LogHistory, Page, Size, Terminal, clean};

use super::driver::Driver;
use crate::console::effect::Effect;
use crate::console::msg::Msg;
use crate::console::plain::{OutputReading, Purpose};
use crate::console::state::{
    Anchor, CommandCoverage, CoveredCommand, CoveredStream, FoundLine, PageView, Picture, Reel, SearchQuery,
    StreamTranscript,
};
use crate::console::text::visible;

/// Maximum number of bytes of logs read for the coverage of an answer, in total.
const MOST_SEEN: u64 = 4 << 20;
/// Maximum size of a log, in bytes, whose matches are counted.
const MOST_COUNTED: u64 = 16 << 20;
/// Maximum number of matching lines per task in a search across all tasks, and of characters in each.
const MOST_PLACES: usize = 50;
const MOST_PLACE_CHARS: usize = 200;
/// Maximum number of bytes of output read at once for the plain-line console.
const MOST_READ: u64 = 256 << 10;
/// Maximum number of bytes of output copied.
const MOST_COPIED: u64 = 1 << 20;
/// The shell's marks for the beginning and the end of a command's output (OSC 133).
const OUTPUT_BEGINS: &[u8] = b"\x1b]133;C";
const OUTPUT_ENDS: &[u8] = b"\x1b]133;D";
/// The shell's mark for the beginning of a prompt.
const PROMPT_BEGINS: &[u8] = b"\x1b]133;A";

/// Reads a page of a task's log. Blocking: up to a few milliseconds.
///
/// # Errors
/// When the log cannot be read.
pub(in crate::console) fn read(task: &TaskView, anchor: Anchor, size: Size) -> io::Result<PageView> {
    let log = StoredLog::open(task)?;
    let history = log.history().with_reflow();
    let lines = history.lines();
    let page = page(&history, anchor, size)?;
    let picture = Picture::of_page(&page);
    let rows: Vec<u64> = page.rows.iter().map(|row| row.line).collect();
    let began = task.started_at.unwrap_or(task.created_at);
    let time = |ms: Option<u32>| began.checked_add(SignedDuration::from_millis(ms?.into())).ok();
    let times = history.times(&rows)?.into_iter().map(time).collect();
    Ok(PageView {
        anchor,
        picture,
        rows,
        times,
        first_line: page.first_line,
        next_line: page.next_line,
        lines,
    })
}

/// Searches a task's log. Blocking: takes as long as reading it.
///
/// # Errors
/// When the log cannot be read.
pub(in crate::console) fn search(task: &TaskView, query: &SearchQuery) -> io::Result<Found> {
    let log = StoredLog::open(task)?;
    let history = log.history();
    let line = history.search(&query.needle, query.from, query.forward)?;
    let is_short = task.output.bytes <= MOST_COUNTED;
    let counted = line.filter(|_| is_short).map(|line| history.count(&query.needle, line)).transpose()?;
    Ok((line, counted))
}

/// Searches the logs of some tasks, only the last part of long ones. Blocking: takes as long as reading them.
/// Unreadable logs yield no matches.
pub(in crate::console) fn search_all(tasks: &[Arc<TaskView>], needle: &str) -> Vec<FoundLine> {
    let mut places = Vec::new();
    for task in tasks {
        let found = StoredLog::open(task)
            .and_then(|log| log.history().last_holding(needle, MOST_PLACES, MOST_COUNTED))
            .unwrap_or_default();
        // The last lines of a task are what people most often look for.
        places.extend(found.into_iter().rev().map(|(line, text)| {
            let text = visible::masked_line(text.trim()).chars().take(MOST_PLACE_CHARS).collect();
            FoundLine { task: task.id.clone(), line, text }
        }));
    }
    places
}

/// The line of a match; its position among the matching lines and their number, if counted.
type Found = (Option<u64>, Option<(u64, u64)>);

/// Searches for a prompt marked by a task's shell. Blocking: takes as long as reading the log.
///
/// # Errors
/// When the log cannot be read.
pub(in crate::console) fn prompt(
    task: &TaskView,
    from: Option<u64>,
    forward: bool,
) -> io::Result<Option<u64>> {
    let log = StoredLog::open(task)?;
    let history = log.history();
    match from.or_else(|| history.lines().checked_sub(2)) {
        Some(from) => history.prompt(from, forward),
        None => Ok(None),
    }
}

/// Returns the output of a task's last command as text, and whether its shell marked where it begins (OSC
/// 133); without marks, all output counts. Reads at most the last mebibyte. Blocking.
///
/// # Errors
/// When the log cannot be read.
pub(in crate::console) fn last_output(task: &TaskView) -> io::Result<(String, bool)> {
    let log = StoredLog::open(task)?;
    let length = log.file.len();
    let begin = length.saturating_sub(MOST_COPIED);
    let begin = log.history().open_string(begin)?.unwrap_or(begin);
    let bytes = log.file.read_range(begin..length)?;
    let origin = ByteOrigin::of(task.tty);
    let part = last_part(&bytes);
    Ok((clean(part.unwrap_or(&bytes), origin, task.size), part.is_some()))
}

/// Returns the output of the last command according to the shell's marks: from the mark for the beginning of
/// output or, without one, between the line of its prompt and the next prompt.
fn last_part(bytes: &[u8]) -> Option<&[u8]> {
    if let Some(at) = memchr::memmem::rfind(bytes, OUTPUT_BEGINS) {
        let output = &bytes[at + OUTPUT_BEGINS.len()..];
        let part = &output[..memchr::memmem::find(output, OUTPUT_ENDS).unwrap_or(output.len())];
        // The mark ends with a terminator of its own, which is not output.
        return Some(part.strip_prefix(b"\x07").or_else(|| part.strip_prefix(b"\x1b\\")).unwrap_or(part));
    }
    let behind_line = |part: &'_ [u8]| memchr::memchr(b'\n', part).map(|at| at + 1);
    let last = memchr::memmem::rfind(bytes, PROMPT_BEGINS)?;
    if let Some(at) = behind_line(&bytes[last..]) {
        // The command is still running: its prompt is the last one.
        return Some(&bytes[last + at..]);
    }
    let before = memchr::memmem::rfind(&bytes[..last], PROMPT_BEGINS)?;
    let at = behind_line(&bytes[before..last])?;
    Some(&bytes[before + at..last])
}

/// Returns a task's output from an offset in its log: all of it, or only whole lines while following. Reads
/// at most the last 256 KiB. Blocking.
///
/// # Errors
/// When the log cannot be read.
pub(in crate::console) fn since(task: &TaskView, from: u64, purpose: Purpose) -> io::Result<OutputReading> {
    let log = StoredLog::open(task)?;
    let (length, history) = (log.file.len(), log.history());
    let begin = from.max(length.saturating_sub(MOST_READ)).min(length);
    // Never from the middle of a string, and up to its beginning while its end may still come.
    let begin = history.open_string(begin)?.unwrap_or(begin);
    let mut bytes = log.file.read_range(begin..length)?;
    let is_live = !task.status.is_terminal();
    if purpose == Purpose::Followed || purpose == Purpose::Watched && is_live {
        bytes.truncate(memchr::memrchr(b'\n', &bytes).map_or(0, |at| at + 1));
    }
    if let Some(open) = history.open_string(begin + bytes.len() as u64)?.filter(|_| is_live) {
        bytes.truncate(usize::try_from(open.saturating_sub(begin)).unwrap_or(0));
    }
    let next = begin + bytes.len() as u64;
    let text = clean(&bytes, ByteOrigin::of(task.tty), task.size);
    Ok(OutputReading { purpose, text, left_out: begin - from.min(begin), next })
}

/// Returns the last screen of a task, reconstructed from its log. Blocking: takes as long as reading all of
/// it.
///
/// # Errors
/// When the log cannot be read.
pub(in crate::console) fn last_screen(task: &TaskView) -> io::Result<String> {
    let mut playback = Playback::open(task)?;
    let marks = playback.marks().len();
    playback.seek(marks).map(Terminal::screen_text)
}

fn page(history: &LogHistory<'_, OpenLog>, anchor: Anchor, size: Size) -> io::Result<Page> {
    let lines = history.lines();
    match anchor {
        Anchor::From(line) => history.page(line.min(lines.saturating_sub(1)), size),
        Anchor::Before(line) => history.page_before(line, size),
        Anchor::Tail | Anchor::Stamped => history.page_before(lines, size),
        Anchor::AboveTail => {
            let last = history.page_before(lines, size)?;
            history.page_before(last.first_line + 1, size)
        }
        Anchor::LineAboveTail => history.page_before(lines.saturating_sub(1), size),
        Anchor::Around(line) => page_around(history, line, size),
        Anchor::Top(line) => page_with_on_top(history, line, size),
    }
}

/// Returns rows that include a line, placed a third of the way down if there are enough rows around it.
fn page_around(history: &LogHistory<'_, OpenLog>, line: u64, size: Size) -> io::Result<Page> {
    let last = history.page_before(history.lines(), size)?;
    if line >= last.first_line {
        return Ok(last);
    }
    let page = history.page(line.saturating_sub(u64::from(size.rows()) / 3), size)?;
    // Long lines before it may have filled the page.
    if page.rows.iter().any(|row| row.line == line) { Ok(page) } else { history.page(line, size) }
}

/// Returns rows starting with a line, or the last rows if they include it, so that the page is full.
fn page_with_on_top(history: &LogHistory<'_, OpenLog>, line: u64, size: Size) -> io::Result<Page> {
    let last = history.page_before(history.lines(), size)?;
    if line >= last.first_line { Ok(last) } else { history.page(line, size) }
}

/// Reads the streams that an answer shows. Blocking. If a command cannot be read, its result says why.
pub(in crate::console) fn read_coverage(
    shown: Vec<(CoveredCommand, Option<Arc<TaskView>>)>,
) -> Vec<CommandCoverage> {
    let mut room = MOST_SEEN;
    let told = shown.into_iter().map(|(CoveredCommand { name, task, streams }, known)| {
        let streams = match (&task, known) {
            (Ok(_), Some(task)) => transcripts(&task, streams, &mut room),
            (Ok(_), None) => Err("it is no longer on the list".to_owned()),
            (Err(why), _) => Err((*why).to_owned()),
        };
        CommandCoverage { name, streams }
    });
    told.collect()
}

fn transcripts(
    task: &TaskView,
    streams: Vec<CoveredStream>,
    room: &mut u64,
) -> Result<Vec<(CoveredStream, StreamTranscript)>, String> {
    let said = |error: crate::model::Error| error.to_string();
    let output = StoredOutput::from_log(task).map_err(said)?;
    let mut read = Vec::new();
    for stream_shown in streams {
        let text = |to, room| output.all_now(stream_shown.stream, to, room).map_err(said);
        let Some(all) = text(u64::MAX, *room)? else {
            return Err("there is more of it than the 4 MiB that are looked through".to_owned());
        };
        let before = match stream_shown.from {
            0 => String::new(),
            from => text(from, *room)?.unwrap_or_default(),
        };
        let until = stream_shown.to.map_or(Ok(None), |to| text(to, *room))?;
        *room = room.saturating_sub(all.len() as u64);
        read.push((stream_shown, StreamTranscript { all, before, until }));
    }
    Ok(read)
}

/// The log being replayed. Locked because each screen is drawn on another thread; the console requests one at
/// a time, so nobody ever waits long.
#[derive(Default)]
pub(in crate::console) struct Player(Mutex<Option<(TaskId, Playback)>>);

impl Player {
    /// Opens the log of a task. Blocking.
    pub(in crate::console) fn open(&self, task: &TaskView) -> Msg {
        match Playback::open(task) {
            Ok(playback) => {
                let reel = Reel::new(playback.marks(), &task.events, task.created_at);
                *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((task.id.clone(), playback));
                Msg::Reel(task.id.clone(), Arc::new(reel))
            }
            Err(error) => Msg::Failed(format!("play the task again: {error}")),
        }
    }

    /// Draws the screen after this many marks have been applied. Blocking: going back rereads the log from
    /// its beginning.
    pub(in crate::console) fn draw(&self, task: TaskId, place: usize, marks: usize) -> Option<Msg> {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Another task may be replayed by now.
        let (_, playback) = open.as_mut().filter(|(other, _)| *other == task)?;
        Some(match playback.seek(marks) {
            Ok(terminal) => {
                let mut picture = Picture::default();
                picture.take(&Contents::of(terminal), 1);
                Msg::Played(task, place, picture)
            }
            Err(error) => Msg::Failed(format!("play the task again: {error}")),
        })
    }
}

impl Driver {
    /// Looks something up alongside the loop. Does nothing for a task that is no longer known.
    pub(in crate::console) fn look_up(&mut self, effect: Effect) {
        if let Effect::Coverage { call, shown } = effect {
            let known = |shown: CoveredCommand| {
                let task =
                    shown.task.as_ref().ok().and_then(|id| self.app.state.view.task(id)).map(Arc::clone);
                (shown, task)
            };
            let shown = shown.into_iter().map(known).collect();
            return self.effects.read_coverage(call, shown);
        }
        if let Effect::SearchAll(ticket, needle, tasks) = effect {
            let known = tasks.iter().filter_map(|id| self.app.state.view.task(id)).map(Arc::clone).collect();
            return self.effects.search_all(ticket, needle, known);
        }
        let (Effect::Page { task: id, .. }
        | Effect::Search(id, _)
        | Effect::Prompt { task: id, .. }
        | Effect::Replay(id)
        | Effect::LastOutput(id)) = &effect
        else {
            return;
        };
        let Some(task) = self.app.state.view.task(id).map(Arc::clone) else { return };
        match effect {
            Effect::Page { anchor, size, .. } => self.effects.page(task, anchor, size),
            Effect::Search(_, query) => self.effects.search(task, query),
            Effect::Prompt { from, forward, .. } => self.effects.prompt(task, from, forward),
            Effect::Replay(_) => self.effects.replay(task),
            Effect::LastOutput(_) => self.effects.last_output(task),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn part(log: &str) -> Option<&str> {
        last_part(log.as_bytes()).map(|part| std::str::from_utf8(part).expect("text"))
    }

    /// Returns the first and last line of the page for an anchor, in a log with lines 0 to 99.
    fn shown(anchor: Anchor) -> (u64, u64) {
        shown_of("", anchor)
    }

    /// Does the same, with `filler` appended to each line.
    fn shown_of(filler: &str, anchor: Anchor) -> (u64, u64) {
        let mut log = tempfile::tempfile().expect("a file");
        for line in 0..100 {
            write!(log, "{line}{filler}\r\n").expect("is written");
        }
        let log = OpenLog::from(log);
        let history = LogHistory::new(&log, &[], ByteOrigin::Tty, Size::default());
        let page = page(&history, anchor, Size::nearest(80, 20)).expect("reads");
        (page.first_line, page.rows.last().expect("rows").line)
    }

    #[test]
    fn a_page_begins_or_ends_where_its_anchor_says() {
        assert_eq!(shown(Anchor::From(40)), (40, 59));
        assert_eq!(shown(Anchor::Before(40)), (20, 39));
        assert_eq!(shown(Anchor::Around(40)), (34, 53));
        assert_eq!(shown(Anchor::Top(40)), (40, 59));
        let (tail, last) = shown(Anchor::Tail);
        assert_eq!(last, 99);
        assert_eq!(shown(Anchor::LineAboveTail), (tail - 1, 98));
        assert_eq!(shown(Anchor::AboveTail), (tail - 19, tail));
        assert_eq!(shown(Anchor::Top(tail - 1)).0, tail - 1);
        for line in tail..=last {
            assert_eq!(shown(Anchor::Top(line)), (tail, last), "a page is full where it can be");
        }
        let wrapped = "x".repeat(200);
        let (tail, _) = shown_of(&wrapped, Anchor::Tail);
        assert_eq!(
            shown_of(&wrapped, Anchor::AboveTail).1,
            tail,
            "no line is passed over, however long they are"
        );
    }

    #[test]
    fn the_last_output_is_found_by_the_prompt_marks() {
        let a = "\x1b]133;A\x07";
        assert_eq!(part("no marks\r\n"), None);
        assert_eq!(part("\x1b]133;C\x07out\r\n\x1b]133;D;0\x07$ "), Some("out\r\n"));
        assert_eq!(part(&format!("{a}$ ls\r\none\r\ntwo\r\n{a}$ ")), Some("one\r\ntwo\r\n"));
        assert_eq!(part(&format!("{a}$ ls\r\none\r\n{a}$ sleep 9\r\nhalf")), Some("half"), "it still runs");
        assert_eq!(part(&format!("{a}$ ")), None, "nothing was run");
    }
}
