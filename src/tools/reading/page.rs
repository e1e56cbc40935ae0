//! A page of output: as many of the requested lines as fit, numbered, and where to continue.

use std::collections::VecDeque;
use std::ops::Range;

use regex::Regex;

use super::{LineRequest, LineSelection};
use crate::envelope::preview::LAID_OUT;
use crate::runtime::HeldLine;
use crate::tools::budget::Room;
use crate::tools::receipt::safe_size;

/// Characters shown of a long line around a match, and of a long context line.
const LINE_CHARS: usize = 1_000;
/// Characters that the parts in which a long line is searched have in common.
const OVERLAP: u64 = 1_000;
/// The most characters beside a part of a line: its number, and how to read on.
const BESIDE_CHARS: usize = 80;
/// The size of a line ending.
const LINE_END: Room = Room { chars: 1, bytes: 1, lines: 0 };

/// A page being filled, line by line.
#[derive(Debug)]
pub(in crate::tools) struct OutputPage {
    wanted: LineRequest,
    /// The room left for text.
    room: Room,
    /// Lines seen so far.
    seen: u64,
    shown: VecDeque<(PageText, String)>,
    /// Context lines that precede the next match, if there is one.
    before: VecDeque<(u64, String)>,
    /// The number of the last context line after a match.
    context_to: u64,
    matches: u64,
    /// The first requested line that does not fit.
    no_room: Option<u64>,
    /// What to request for the rest of the line that was shown in part.
    rest_of_line: Option<String>,
    partly_searched: u64,
    search_on: Option<String>,
    /// How many lines were not kept.
    not_kept: u64,
    is_stopped: bool,
    /// The lines are not those that were printed.
    is_laid_out: bool,
}

/// What a text of the page represents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PageText {
    Line(u64),
    /// Context, a separator between groups, or a note.
    Beside,
}

/// A completed page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::tools) struct FilledPage {
    /// The numbered lines.
    pub(in crate::tools) text: String,
    /// The first and the last requested line shown.
    pub(in crate::tools) shown: Option<(u64, u64)>,
    /// The number of lines in the stream; `None` if it was not read to its end.
    pub(in crate::tools) total: Option<u64>,
    /// The number of matching lines.
    pub(in crate::tools) matches: Option<u64>,
    /// The value of `lines` with which to request the rest.
    pub(in crate::tools) more: Option<String>,
    /// The number of lines of which the search did not see all.
    pub(in crate::tools) lines_partly_searched: u64,
    /// The value of `lines` with which to search on in the first of them.
    pub(in crate::tools) search_on: Option<String>,
    /// The number of lines that were not kept.
    pub(in crate::tools) lines_not_kept: u64,
}

impl OutputPage {
    /// Returns an empty page limited to a room.
    pub(in crate::tools) fn new(wanted: LineRequest, room: Room) -> Self {
        Self {
            wanted,
            room,
            seen: 0,
            shown: VecDeque::new(),
            before: VecDeque::new(),
            context_to: 0,
            matches: 0,
            no_room: None,
            rest_of_line: None,
            partly_searched: 0,
            search_on: None,
            not_kept: 0,
            is_stopped: false,
            is_laid_out: false,
        }
    }

    /// Notes that the lines are not those that were printed.
    pub(in crate::tools) fn begin_layout(&mut self) {
        self.is_laid_out = true;
        self.room = self.room.minus(Room { lines: 1, ..Room::of(LAID_OUT).plus(LINE_END) });
    }

    /// Processes the next line.
    pub(in crate::tools) fn line(&mut self, line: HeldLine<'_>) {
        self.seen += 1;
        let at = self.seen;
        let line = &line;
        match (self.wanted.lines, self.wanted.pattern.clone()) {
            (LineSelection::Part(wanted, _, last), None) => {
                if at == wanted {
                    self.part(at, line, last);
                }
            }
            (LineSelection::Part(wanted, ..), Some(pattern)) => {
                if at == wanted {
                    self.search(at, line, &pattern);
                }
            }
            (LineSelection::Range(first, last), None) => {
                if at >= first && last.is_none_or(|last| at <= last) && self.no_room.is_none() {
                    self.whole(at, line);
                }
            }
            (LineSelection::Range(first, last), Some(pattern)) => {
                let is_asked = at >= first && last.is_none_or(|last| at <= last);
                if is_asked { self.search(at, line, &pattern) } else { self.beside(at, line) }
            }
            (LineSelection::Last(count), _) => self.newest(at, line, count),
        }
    }

    /// Records a gap of missing bytes that contained this many lines.
    pub(in crate::tools) fn gap(&mut self, bytes: u64, lines: u64) {
        let is_in_range = match self.wanted.lines {
            LineSelection::Range(first, last) => {
                self.seen + lines.max(1) >= first && last.is_none_or(|last| self.seen < last)
            }
            LineSelection::Last(_) => true,
            LineSelection::Part(..) => false,
        };
        if is_in_range && self.wanted.pattern.is_none() && self.no_room.is_none() {
            self.push(PageText::Beside, format!("({bytes} bytes were not kept here)"));
        }
        self.seen += lines;
        self.not_kept += lines;
    }

    /// Stops before the end of the stream.
    pub(in crate::tools) fn stop(&mut self) {
        self.is_stopped = true;
    }

    /// Returns the number of lines processed.
    pub(in crate::tools) fn lines_seen(&self) -> u64 {
        self.seen
    }

    pub(in crate::tools) fn fill(self) -> FilledPage {
        let lines = || {
            self.shown.iter().filter_map(|(shown, _)| match shown {
                PageText::Line(number) => Some(*number),
                PageText::Beside => None,
            })
        };
        let shown = lines().min().zip(lines().max());
        let more = match self.wanted.lines {
            LineSelection::Range(_, last) => {
                let is_unread = self.is_stopped && last.is_none_or(|last| self.seen < last);
                let next = self.no_room.or(is_unread.then_some(self.seen + 1));
                next.map(|next| format!("{next}-{}", last.map(|last| last.to_string()).unwrap_or_default()))
            }
            // Those are the last lines that were read, and not of the output.
            LineSelection::Last(_) if self.is_stopped => Some(format!("{}-", self.seen + 1)),
            LineSelection::Last(count) => {
                let first = self.seen.saturating_sub(count) + 1;
                let end = shown.map_or(self.seen, |(begin, _)| begin - 1);
                (first <= end).then(|| format!("{first}-{end}"))
            }
            LineSelection::Part(..) => None,
        };
        let more = more.or(self.rest_of_line);
        let head = (self.is_laid_out && shown.is_some()).then_some(LAID_OUT);
        let texts = self.shown.iter().map(|(_, text)| text.as_str());
        let texts: Vec<&str> = head.into_iter().chain(texts).collect();
        FilledPage {
            text: texts.join("\n"),
            shown,
            total: (!self.is_stopped).then_some(self.seen),
            matches: self.wanted.pattern.is_some().then_some(self.matches),
            more,
            lines_partly_searched: self.partly_searched,
            search_on: self.search_on,
            lines_not_kept: self.not_kept,
        }
    }

    /// Searches what is held of a line.
    fn search(&mut self, at: u64, line: &HeldLine<'_>, pattern: &Regex) {
        if line.after > 0 {
            self.partly_searched += 1;
            let end = line.chars() - line.after;
            self.search_on.get_or_insert_with(|| format!("{at}:{}-", end.saturating_sub(OVERLAP).max(1)));
        }
        match pattern.find(line.text) {
            Some(found) => self.show_match(at, line, found.range()),
            None => self.beside(at, line),
        }
    }

    /// Shows a part of a line.
    fn part(&mut self, at: u64, line: &HeldLine<'_>, last: Option<u64>) {
        if line.text.is_empty() {
            return;
        }
        let most = last.map_or(u64::MAX, |last| last.saturating_sub(line.before));
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let chars = self.room.chars.min(self.room.bytes).saturating_sub(BESIDE_CHARS);
        for part in [1, 2, 4, 8] {
            let cut = LineSlice::of(line, 0, most.min(chars / part));
            if self.push(PageText::Line(at), format!("{at}:{}: {}", line.before + 1, cut.text)) {
                let is_all = cut.left == 0 || last.is_some_and(|last| cut.next > last);
                let to = last.map(|last| last.to_string()).unwrap_or_default();
                self.rest_of_line = (!is_all).then(|| format!("{at}:{}-{to}", cut.next));
                return;
            }
        }
    }

    /// Shows a line, or the start of a line too long for any page.
    fn whole(&mut self, at: u64, line: &HeldLine<'_>) {
        if line.after == 0 && self.push(PageText::Line(at), format!("{at}: {}", line.text)) {
            return;
        }
        if !self.shown.iter().any(|(shown, _)| *shown != PageText::Beside) {
            let chars = self.room.chars.min(self.room.bytes).saturating_sub(BESIDE_CHARS);
            // The visible name of a hidden character takes up to eight times its room.
            for part in [1, 2, 4, 8] {
                let cut = LineSlice::of(line, 0, chars / part);
                if self.push(PageText::Line(at), format!("{at}: {}", cut.text_with_rest(at))) {
                    self.rest_of_line = Some(format!("{at}:{}-", cut.next));
                    return;
                }
            }
        }
        self.no_room = Some(at);
    }

    /// Shows a line of the last `count` lines; the oldest lines are dropped to make room for it.
    fn newest(&mut self, at: u64, line: &HeldLine<'_>, count: u64) {
        let text = format!("{at}: {}", line.text);
        let needed = safe_size(&text).plus(LINE_END);
        let is_many = |page: &Self| page.shown.len() as u64 >= count;
        while is_many(self) || (!self.has_room(needed) && !self.shown.is_empty()) {
            let Some((_, oldest)) = self.shown.pop_front() else { break };
            self.room = self.room.plus(safe_size(&oldest).plus(LINE_END));
        }
        self.whole(at, line);
    }

    /// Shows a match with the context lines before it.
    fn show_match(&mut self, at: u64, line: &HeldLine<'_>, found: Range<usize>) {
        self.matches += 1;
        if self.no_room.is_some() {
            return;
        }
        let shown_to = self.context_to.min(at - 1);
        let before: Vec<_> = self.before.drain(..).filter(|(number, _)| *number > shown_to).collect();
        let first = before.first().map_or(at, |(number, _)| *number);
        let mut texts: Vec<_> = before.into_iter().map(|(_, text)| (PageText::Beside, text)).collect();
        if self.wanted.context > 0 && !self.shown.is_empty() && first > shown_to + 1 {
            texts.insert(0, (PageText::Beside, "--".to_owned()));
        }
        texts.push((PageText::Line(at), format!("{at}: {}", around(at, line, found))));
        let needed =
            texts.iter().map(|(_, text)| safe_size(text).plus(LINE_END)).fold(Room::NONE, Room::plus);
        if self.has_room(needed) {
            self.room = self.room.minus(needed);
            self.shown.extend(texts);
            self.context_to = at + self.wanted.context;
        } else if self.shown.is_empty() {
            self.whole(at, &HeldLine::whole(&around(at, line, 0..0)));
        } else {
            self.no_room = Some(at);
        }
    }

    /// Shows a context line after a match, or keeps it for the next match.
    fn beside(&mut self, at: u64, line: &HeldLine<'_>) {
        if self.wanted.context == 0 || self.no_room.is_some() {
            return;
        }
        let text = format!("{at}- {}", LineSlice::of(line, 0, LINE_CHARS).text_with_rest(at));
        if at <= self.context_to {
            if !self.push(PageText::Beside, text) {
                self.context_to = at - 1;
            }
            return;
        }
        if self.before.len() as u64 >= self.wanted.context {
            self.before.pop_front();
        }
        self.before.push_back((at, text));
    }

    fn push(&mut self, shown: PageText, text: String) -> bool {
        let needed = safe_size(&text).plus(LINE_END);
        let fits = self.has_room(needed);
        if fits {
            self.room = self.room.minus(needed);
            self.shown.push_back((shown, text));
        }
        fits
    }

    fn has_room(&self, needed: Room) -> bool {
        needed.chars <= self.room.chars && needed.bytes <= self.room.bytes && needed.lines <= self.room.lines
    }
}

/// A part of a line, and what follows it.
struct LineSlice<'a> {
    text: &'a str,
    /// The number of the first character after it, from 1.
    next: u64,
    /// Characters after it.
    left: u64,
}

impl<'a> LineSlice<'a> {
    /// Cuts at most `chars` characters out of what is held of a line, from a byte on.
    fn of(line: &HeldLine<'a>, start: usize, chars: usize) -> Self {
        let (passed, rest) = line.text.split_at(start);
        let end = rest.char_indices().nth(chars).map_or(rest.len(), |(at, _)| at);
        let (text, rest) = rest.split_at(end);
        let count = |text: &str| text.chars().count() as u64;
        let next = line.before + count(passed) + count(text) + 1;
        Self { text, next, left: count(rest) + line.after }
    }

    /// Returns it with how much follows, and what to request for that.
    fn text_with_rest(&self, at: u64) -> String {
        match self.left {
            0 => self.text.to_owned(),
            left => format!("{} …(+{left} characters, lines \"{at}:{}-\")", self.text, self.next),
        }
    }
}

/// Returns a line, or the part of a long line around a match.
fn around(at: u64, line: &HeldLine<'_>, found: Range<usize>) -> String {
    if line.text.chars().nth(LINE_CHARS).is_none() && line.before + line.after == 0 {
        return line.text.to_owned();
    }
    let before = line.text.get(..found.start).unwrap_or_default();
    let start = before.char_indices().nth_back(LINE_CHARS / 3).map_or(0, |(at, _)| at);
    let left_out = if start > 0 || line.before > 0 { "… " } else { "" };
    format!("{left_out}{}", LineSlice::of(line, start, LINE_CHARS).text_with_rest(at))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn page(lines: Option<&str>, pattern: Option<&str>, context: Option<u64>, chars: usize) -> OutputPage {
        let wanted = LineRequest::read("TaskOutput", lines, pattern, context, None).unwrap().unwrap();
        OutputPage::new(wanted, Room::chars(chars))
    }

    fn filled(mut page: OutputPage, text: &str) -> FilledPage {
        text.lines().for_each(|line| page.line(HeldLine::whole(line)));
        page.fill()
    }

    fn numbered(lines: u64) -> String {
        (1..=lines).map(|n| format!("line {n}\n")).collect()
    }

    #[test]
    fn lines_are_numbered_and_the_rest_is_named() {
        let read = |lines: &str, chars| filled(page(Some(lines), None, None, chars), &numbered(100));
        let all = read("98-", 1_000);
        assert_eq!(all.text, "98: line 98\n99: line 99\n100: line 100");
        assert_eq!((all.shown, all.total, all.more), (Some((98, 100)), Some(100), None));
        let cut = read("10-20", 40);
        assert_eq!((cut.text.as_str(), cut.shown), ("10: line 10\n11: line 11\n12: line 12", Some((10, 12))));
        assert_eq!(cut.more.as_deref(), Some("13-20"));
        assert_eq!(read("10-", 40).more.as_deref(), Some("13-"));
        assert_eq!(read("-2", 1_000).text, "99: line 99\n100: line 100");
        let last = read("-50", 40);
        assert_eq!((last.shown, last.more.as_deref()), (Some((98, 100)), Some("51-97")));
        // Of an output that was not read to its end, nobody knows the last lines.
        let mut stopped = page(Some("-2"), None, None, 1_000);
        numbered(100).lines().for_each(|line| stopped.line(HeldLine::whole(line)));
        stopped.stop();
        let stopped = stopped.fill();
        assert_eq!((stopped.total, stopped.more.as_deref()), (None, Some("101-")));
        let none = read("101-", 1_000);
        assert_eq!((none.text.as_str(), none.shown, none.more), ("", None, None));
    }

    #[test]
    fn matches_stand_in_groups_with_their_context() {
        let text = "a\nb\nX 1\nc\nd\ne\nf\nX 2\nX 3\ng\n";
        let read = |context, chars| filled(page(None, Some("X"), context, chars), text);
        assert_eq!(read(None, 1_000).text, "3: X 1\n8: X 2\n9: X 3");
        let groups = read(Some(1), 1_000);
        assert_eq!(groups.text, "2- b\n3: X 1\n4- c\n--\n7- f\n8: X 2\n9: X 3\n10- g");
        assert_eq!((groups.matches, groups.shown, groups.more), (Some(3), Some((3, 9)), None));
        assert_eq!(
            read(Some(2), 1_000).text,
            "1- a\n2- b\n3: X 1\n4- c\n5- d\n6- e\n7- f\n8: X 2\n9: X 3\n10- g"
        );
        let cut = read(None, 16);
        assert_eq!(
            (cut.text.as_str(), cut.matches, cut.more.as_deref()),
            ("3: X 1\n8: X 2", Some(3), Some("9-"))
        );
        let rest = filled(page(Some("9-"), Some("X"), None, 1_000), text);
        assert_eq!(rest.text, "9: X 3");
    }

    #[test]
    fn a_line_that_no_page_has_room_for_is_shown_in_part() {
        let text = format!("short\n{}needle{}\nshort\n", "é".repeat(50_000), "b".repeat(50_000));
        let long = filled(page(Some("2-3"), None, None, 2_000), &text);
        assert!(
            long.text.starts_with("2: éé") && long.text.contains(" characters, lines \"2:"),
            "{}",
            long.text
        );
        assert!(long.text.chars().count() <= 2_000 && long.shown.is_some_and(|(first, _)| first == 2));
        let found = filled(page(None, Some("needle"), None, 20_000), &text);
        assert!(found.text.starts_with("2: … éé") && found.text.contains("needlebb"), "{}", found.text);
        assert!(found.text.chars().count() < 1_200);
    }

    #[test]
    fn f58_the_numbers_of_a_long_line_are_those_of_all_of_it() {
        let held = "x".repeat(5_000);
        let line = HeldLine { text: &held, before: 0, after: 2_000_000, end: "NEEDLE" };
        let read = |lines, pattern, line| {
            let mut page = page(lines, pattern, None, 1_000);
            page.line(line);
            page.fill()
        };
        let shown = read(Some("1"), None, line);
        let rest = shown.more.clone().expect("a rest");
        assert!(shown.text.ends_with(&format!("(+2004080 characters, lines \"{rest}\")")), "{}", shown.text);
        assert_eq!((rest.as_str(), shown.shown), ("1:921-", Some((1, 1))));
        let searched = read(None, Some("NEEDLE"), line);
        assert_eq!((searched.matches, searched.lines_partly_searched), (Some(0), 1));
        assert_eq!(searched.search_on.as_deref(), Some("1:4000-"));
        let end = HeldLine { text: "xxNEEDLE", before: 2_004_992, after: 0, end: "" };
        let found = read(Some("1:2004993-"), Some("NEEDLE"), end);
        assert_eq!((found.text.as_str(), found.matches, found.search_on), ("1: … xxNEEDLE", Some(1), None));
        let part = read(Some("1:2004993-2004996"), None, end);
        assert_eq!((part.text.as_str(), part.more), ("1:2004993: xxNE", None));
    }

    #[test]
    fn f58_a_long_line_is_read_on_to_its_end() {
        let line: String =
            (0..9_000_u32).map(|n| char::from(b'a' + u8::try_from(n % 26).expect("a letter"))).collect();
        let (mut next, mut read, mut pages) = (Some("1:1-".to_owned()), String::new(), 0);
        while let Some(part) = next {
            let mut page = page(Some(&part), None, None, 1_000);
            let (first, _) = part.trim_start_matches("1:").split_once('-').expect("a range");
            let skipped = first.parse::<usize>().expect("a number") - 1;
            page.line(HeldLine { text: &line[skipped..], before: skipped as u64, after: 0, end: "" });
            let filled = page.fill();
            assert!(filled.text.chars().count() <= 1_000);
            read.push_str(filled.text.splitn(3, ':').nth(2).expect("text").trim_start());
            (next, pages) = (filled.more, pages + 1);
        }
        assert_eq!((read == line, pages), (true, 10));
    }

    #[test]
    fn a_page_tells_where_to_read_on_and_which_bytes_were_not_kept() {
        let mut stopped = page(None, Some("x"), None, 1_000);
        ["x", "y"].iter().for_each(|line| stopped.line(HeldLine::whole(line)));
        stopped.stop();
        let stopped = stopped.fill();
        assert_eq!((stopped.total, stopped.more.as_deref()), (None, Some("3-")));
        let mut past = page(Some("1-2"), None, None, 1_000);
        ["x", "y", "z"].iter().for_each(|line| past.line(HeldLine::whole(line)));
        past.stop();
        assert_eq!(past.fill().more, None, "all that was asked for is there");
        let mut gap = page(Some("1-"), None, None, 1_000);
        gap.line(HeldLine::whole("a"));
        gap.gap(77, 10);
        gap.line(HeldLine::whole("b"));
        assert_eq!(gap.fill().text, "1: a\n(77 bytes were not kept here)\n12: b");
    }

    proptest! {
        #[test]
        fn pages_read_one_after_the_other_are_the_whole(
            lines in prop::collection::vec("[a-zé\u{200b} ]{0,40}", 1..60), chars in 500_usize..900,
        ) {
            let text = lines.join("\n") + "\n";
            let (mut next, mut read) = (Some("1-".to_owned()), Vec::new());
            while let Some(range) = next {
                let filled = filled(page(Some(&range), None, None, chars), &text);
                prop_assert!(safe_size(&filled.text).chars <= chars);
                read.extend(filled.text.split('\n').map(str::to_owned));
                next = filled.more;
            }
            let numbered: Vec<String> = (1..).zip(&lines).map(|(n, line)| format!("{n}: {line}")).collect();
            prop_assert_eq!(read, numbered);
        }
    }
}
