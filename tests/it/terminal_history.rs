//! Pages and search over raw logs.

use pilothouse::terminal::{ByteOrigin, ByteSource, LogBytes, LogHistory, Mark, MarkKind, Page, Size};
use proptest::prelude::*;

const SIZE: (u16, u16) = (20, 4);

fn size() -> Size {
    Size::nearest(SIZE.0, SIZE.1)
}

/// The marks that a runtime writes for a log: one every `every` bytes.
fn marks(log: &[u8], every: usize) -> Vec<Mark> {
    let feeds = |to: usize| log[..to].iter().filter(|byte| **byte == b'\n').count() as u64;
    (0..log.len())
        .step_by(every)
        .map(|at| Mark {
            offset: at as u64,
            line: feeds(at),
            at_ms: 0,
            kind: MarkKind::Chunk(ByteSource::Stdout),
        })
        .collect()
}

fn text(page: &Page) -> Vec<(String, u64)> {
    page.rows.iter().map(|row| (row.cells.iter().map(|cell| &*cell.text).collect(), row.line)).collect()
}

fn rows(expected: &[(&str, u64)]) -> Vec<(String, u64)> {
    expected.iter().map(|(text, line)| ((*text).to_owned(), *line)).collect()
}

#[test]
fn a_page_shows_lines_with_their_numbers() {
    let log = b"zero\r\n\x1b[31mone\r\n0123456789012345678901234\r\nthree\r\nfour";
    let marks = marks(log, 7);
    let history = LogHistory::new(&log[..], &marks, ByteOrigin::Tty, size());
    assert_eq!(history.lines(), 5);
    let first = history.page(0, size()).unwrap();
    assert_eq!(text(&first), rows(&[("zero", 0), ("one", 1), ("01234567890123456789", 2), ("01234", 2)]));
    assert_eq!(first.next_line, 3);
    let second = history.page(first.next_line, size()).unwrap();
    assert_eq!(text(&second), rows(&[("three", 3), ("four", 4)]));
    assert_eq!(second.next_line, 5);
    assert_eq!(
        second.rows[0].cells[0].style, first.rows[1].cells[0].style,
        "colours come from the lines before"
    );
    assert_eq!(text(&history.page(5, size()).unwrap()), []);
}

#[test]
fn a_page_is_as_wide_as_asked_for_where_no_line_moves_the_cursor_away() {
    let log = b"0123456789012345678901234\r\nshort\r\n\x1b[Aup\r\n012345678901\rbar\r\nend\r\n";
    let history = LogHistory::new(&log[..], &[], ByteOrigin::Tty, size());
    let at = |line, columns| text(&history.page(line, Size::nearest(columns, 2)).unwrap());
    assert_eq!(at(0, 30), rows(&[("01234567890123456789", 0), ("01234", 0)]), "as the terminal was");
    let history = history.with_reflow();
    let at = |line, columns| text(&history.page(line, Size::nearest(columns, 2)).unwrap());
    assert_eq!(at(0, 30), rows(&[("0123456789012345678901234", 0), ("short", 1)]));
    assert_eq!(at(0, 13), rows(&[("0123456789012", 0), ("345678901234", 0)]));
    assert_eq!(at(2, 30), at(2, 20), "it moves the cursor up");
    assert_eq!(at(3, 30), rows(&[("bar345678901", 3), ("end", 4)]));
    assert_eq!(at(3, 8), rows(&[("bar345678901", 3), ("end", 4)]), "it is written over");
}

#[test]
fn a_line_longer_than_the_page_does_not_stop_paging() {
    let log = [&b"x".repeat(500)[..], b"\r\nend\r\n"].concat();
    let history = LogHistory::new(&log[..], &[], ByteOrigin::Tty, size());
    let page = history.page(0, size()).unwrap();
    assert_eq!((page.rows.len(), page.next_line), (4, 1));
    assert_eq!(text(&history.page(1, size()).unwrap()), rows(&[("end", 1)]));
}

#[test]
fn a_page_of_a_pty_is_as_wide_as_the_pty_was() {
    let log = b"0123456789\r\n0123456789\r\n";
    let marks = [Mark { offset: 12, line: 1, at_ms: 0, kind: MarkKind::Resize(Size::nearest(5, 4)) }];
    let history = LogHistory::new(&log[..], &marks, ByteOrigin::Tty, size());
    assert_eq!(text(&history.page(0, size()).unwrap())[0].0, "0123456789");
    assert_eq!(text(&history.page(1, size()).unwrap()), rows(&[("01234", 1), ("56789", 1)]));
    let piped = LogHistory::new(&log[..], &[], ByteOrigin::Pipe, size());
    assert_eq!(
        text(&piped.page(1, Size::nearest(4, 9)).unwrap()),
        rows(&[("0123", 1), ("4567", 1), ("89", 1)])
    );
}

#[test]
fn bytes_not_kept_are_a_row() {
    let log = b"head\nhalf a li\x1b]0;ne tail\nlast\n";
    let marks = [Mark { offset: 14, line: 1, at_ms: 0, kind: MarkKind::Gap { dropped: 1234 } }];
    let history = LogHistory::new(&log[..], &marks, ByteOrigin::Pipe, Size::nearest(40, 9));
    let page = history.page(0, Size::nearest(40, 9)).unwrap();
    assert_eq!(
        text(&page),
        rows(&[
            ("head", 0),
            ("half a li", 1),
            ("[1234 bytes dropped (log limit)]", 1),
            ("0;ne tail", 2),
            ("last", 2)
        ])
    );
}

#[test]
fn the_alternate_screen_has_no_history() {
    let log = b"before\r\n\x1b[?1049h\x1b[Hsecret\r\nsecret\r\nsecret\x1b[?1049lafter\r\nend\r\n";
    let history = LogHistory::new(&log[..], &[], ByteOrigin::Tty, size());
    let all = text(&history.page(0, size()).unwrap());
    assert_eq!(all.iter().map(|(text, _)| text.as_str()).collect::<Vec<_>>(), ["before", "after", "end"]);
    let inside = text(&history.page(2, size()).unwrap());
    assert_eq!(inside.iter().map(|(text, _)| text.as_str()).collect::<Vec<_>>(), ["after", "end"]);
}

#[test]
fn a_progress_bar_shows_its_last_state() {
    let log = b"start\r\n 10%\r 50%\r100%\r\nend\r\n";
    let history = LogHistory::new(&log[..], &[], ByteOrigin::Tty, size());
    assert_eq!(text(&history.page(1, size()).unwrap()), rows(&[("100%", 1), ("end", 2)]));
}

#[test]
fn search_finds_what_was_shown() {
    let log = b"plain error\nan \x1b[1mer\x1b[mror in colours\nerr\rhidden\n\x1b]0;error\x07title\nbe\x08rror? no\nlast error";
    let history = LogHistory::new(&log[..], &[], ByteOrigin::Pipe, size());
    let found = |needle: &str, from, forward| history.search(needle, from, forward).unwrap();
    assert_eq!(found("error", 0, true), Some(0));
    assert_eq!(found("error", 1, true), Some(1));
    assert_eq!(found("error", 2, true), Some(5));
    assert_eq!(found("hidden", 0, true), Some(2));
    assert_eq!(found("err", 2, true), Some(5));
    assert_eq!(found("error", 5, false), Some(5));
    assert_eq!(found("error", 4, false), Some(1));
    assert_eq!(found("error", 0, false), Some(0));
    assert_eq!(found("error", 99, false), Some(5));
    assert_eq!(found("error", 99, true), None);
    assert_eq!(found("", 0, true), None);
    assert_eq!(found("no such thing", 3, false), None);
}

#[test]
fn a_log_in_a_file_is_paged_and_searched() {
    use std::io::Write;
    let mut file = tempfile::tempfile().unwrap();
    let log: Vec<u8> = (0..50_000).flat_map(|n| format!("line {n}\n").into_bytes()).collect();
    file.write_all(&log).unwrap();
    let marks = marks(&log, 64 * 1024);
    let file = pilothouse::runtime::OpenLog::from(file);
    let history = LogHistory::new(&file, &marks, ByteOrigin::Pipe, size());
    assert_eq!(LogBytes::len(&file), log.len() as u64);
    assert_eq!(history.lines(), 50_000);
    assert_eq!(
        text(&history.page(49_998, size()).unwrap()),
        rows(&[("line 49998", 49_998), ("line 49999", 49_999)])
    );
    assert_eq!(history.search("line 49999", 0, true).unwrap(), Some(49_999));
    assert_eq!(history.search("line 7\n", 0, true).unwrap(), None);
    assert_eq!(history.search("line 31234", 49_999, false).unwrap(), Some(31_234));
    assert_eq!(history.search(r"re:^line 4\d{2}5$", 49_999, false).unwrap(), Some(4_995));
    assert_eq!(history.search(r"re:LINE", 0, true).unwrap(), None);
    assert_eq!(history.search("re:(", 0, true).unwrap(), None, "no valid expression");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn paging_through_a_log_shows_every_line_once(
        lines in proptest::collection::vec("[a-z\u{1b}\\[m ]{0,30}", 0..60), every in 1_usize..200, ended: bool) {
        let mut log = lines.join("\n").into_bytes();
        if ended {
            log.push(b'\n');
        }
        let marks = marks(&log, every);
        let history = LogHistory::new(&log[..], &marks, ByteOrigin::Pipe, size());
        prop_assert_eq!(history.lines(), log.split_inclusive(|byte| *byte == b'\n').count() as u64);
        let mut line = 0;
        while line < history.lines() {
            let page = history.page(line, Size::nearest(40, 4)).unwrap();
            prop_assert_eq!(page.first_line, line);
            prop_assert!(page.next_line > line);
            line = page.next_line;
        }
        prop_assert_eq!(line, history.lines());
    }

    #[test]
    fn search_agrees_with_reading_each_line(
        lines in proptest::collection::vec("[ab\u{1b}\\[m]{0,6}", 0..40), from in 0_u64..45, forward: bool) {
        let log = lines.join("\n");
        let marks = marks(log.as_bytes(), 11);
        let history = LogHistory::new(log.as_bytes(), &marks, ByteOrigin::Pipe, size());
        let shown = |line: &str| pilothouse::terminal::clean(line.as_bytes(), ByteOrigin::Pipe, size());
        let mut hits = log.split_inclusive('\n').map(|line| line.trim_end_matches('\n')).enumerate()
            .filter(|(_, line)| shown(line).contains("ab")).map(|(at, _)| at as u64);
        let expected = if forward { hits.find(|at| *at >= from) } else { hits.filter(|at| *at <= from).last() };
        prop_assert_eq!(history.search("ab", from, forward).unwrap(), expected);
    }
}
