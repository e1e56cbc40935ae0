//! Pages and search over raw logs.

use pilothouse::terminal::{
    ByteOrigin, ByteSource, CellDrawing, LogBytes, LogHistory, Mark, MarkKind, Page, PageRow, Size, Terminal,
    clean,
};
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
fn a_page_is_as_wide_as_asked_for_and_rows_that_were_written_over_are_what_became_of_them() {
    let log = b"0123456789012345678901234\r\nshort\r\n\x1b[Aup\r\n012345678901\rbar\r\nend\r\n";
    let history = LogHistory::new(&log[..], &[], ByteOrigin::Tty, size());
    let at = |line, columns| text(&history.page(line, Size::nearest(columns, 2)).unwrap());
    assert_eq!(at(0, 30), rows(&[("01234567890123456789", 0), ("01234", 0)]), "as the terminal was");
    let history = history.with_reflow();
    let at = |line, columns| text(&history.page(line, Size::nearest(columns, 2)).unwrap());
    assert_eq!(at(0, 30), rows(&[("0123456789012345678901234", 0), ("uport", 2)]));
    assert_eq!(at(0, 13), rows(&[("0123456789012", 0), ("345678901234", 0)]));
    assert_eq!(at(2, 30), rows(&[("uport", 2), ("bar345678901", 3)]));
    assert_eq!(at(3, 8), rows(&[("bar34567", 3), ("8901", 3)]), "wrapped, not cut off");
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

/// Returns the text that an export has.
fn exported(log: &str, origin: ByteOrigin, size: Size) -> String {
    let rows = LogHistory::new(log.as_bytes(), &[], origin, size).last_rows(10_000).expect("reads");
    CellDrawing { columns: size.cols(), rows }.text()
}

#[test]
fn output_that_moves_the_cursor_by_rows_is_exported_completely() {
    let lines = |from: u32, to: u32| (from..=to).map(|n| format!("{n}\r\n")).collect::<String>();
    let text = |from: u32, to: u32| (from..=to).map(|n| format!("{n}\n")).collect::<String>();
    let bottom: String = (1..=12).map(|n| format!("\x1b[6;1H{n}\n")).collect();
    let bar = |most: u32| -> String {
        let step = |n| format!("\x1b7\x1b[6;1H[{n}/{most}]\x1b8Setting up {n}\r\n");
        format!(
            "\n\x1b7\x1b[1;5r\x1b8\x1b[1A{}\x1b[r\x1b[6;1H\x1b[K",
            (1..=most).map(step).collect::<String>()
        )
    };
    let set_up = |most: u32| (1..=most).map(|n| format!("Setting up {n}\n")).collect::<String>();
    for (output, expected) in [
        ("one\r\n\x1b[999;1Hdone\r\n".to_owned(), "one\n\n\n\n\ndone\n".to_owned()),
        (format!("\x1b[1;5r{}", lines(1, 20)), text(1, 20)),
        (bottom, format!("\n\n\n\n\n{}", text(1, 12))),
        (format!("{}6\x1b[3S", lines(1, 5)), text(1, 6)),
        (format!("{}\x1b[HTOP", lines(1, 9)), format!("{}TOP\n{}", text(1, 4), text(6, 9))),
        (bar(60), set_up(60)),
        (bar(300), set_up(300)),
        (
            "1\r\n2\r\n\x1b[2;4r\x1b[4;1Ha\x1bDb\x1b[2;1H\x1bMc\x1b[r\x1b[5;1He".to_owned(),
            "1\nc\n\na\ne\n".to_owned(),
        ),
    ] {
        let size = Size::nearest(20, 6);
        let exported = exported(&output, ByteOrigin::Tty, size);
        assert_eq!(exported.trim_end(), expected.trim_end(), "{output:?}");
        let transcript = clean(output.as_bytes(), ByteOrigin::Tty, size);
        assert_eq!(transcript.trim_end(), expected.trim_end(), "{output:?}");
        let history = LogHistory::new(output.as_bytes(), &[], ByteOrigin::Tty, size);
        let (mut line, mut paged) = (0, String::new());
        while line < history.lines() {
            let page = history.page(line, Size::nearest(20, 50)).expect("reads");
            let row = |row: &PageRow| row.cells.iter().map(|cell| &*cell.text).collect::<String>();
            page.rows.iter().for_each(|shown| paged.extend([row(shown).trim_end(), "\n"]));
            line = page.next_line;
        }
        assert_eq!(paged.trim_end(), expected.trim_end(), "by pages: {output:?}");
    }
}

#[test]
fn a_tab_at_the_margin_loses_nothing() {
    let fields: String = (1..=20).map(|n| format!("{n:07}\t")).collect();
    let row = format!("{}\t2\n", "x".repeat(120));
    let size = Size::nearest(120, 6);
    for output in [fields.clone(), row.clone()] {
        assert_eq!(clean(output.replace('\n', "\r\n").as_bytes(), ByteOrigin::Tty, size), output);
        for origin in [ByteOrigin::Tty, ByteOrigin::Pipe] {
            let letters = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            assert_eq!(letters(&exported(&output, origin, size)), letters(&output));
            let mut screen = Terminal::new(size, origin);
            screen.feed(output.replace('\n', "\r\n").as_bytes());
            assert_eq!(letters(&screen.screen_text()), letters(&output));
        }
    }
}

#[test]
fn a_page_far_into_a_log_is_what_it_would_be_if_all_before_had_been_drawn() {
    let line = |n: u32| match n % 1_000 {
        0 => format!("\x1b[3A\x1b[1;31mup {n}\x1b[m\r\n\r\n\r\n"),
        1 => format!("\x1b[?1049h{n}\x1b[?1049l"),
        2 => "\x1b[2;3r\x1b[Hregion\x1b[r\x1b[6;1H".to_owned(),
        _ => format!("line {n} of a log that is long enough to be looked into from the middle\r\n"),
    };
    let log: String = (0..60_000).map(line).collect();
    let marks = marks(log.as_bytes(), 64 << 10);
    let history = LogHistory::new(log.as_bytes(), &marks, ByteOrigin::Tty, Size::nearest(100, 6));
    let all = history.page_before(u64::MAX, Size::nearest(100, Size::MAX)).expect("reads").rows;
    assert_eq!(all.len(), usize::from(Size::MAX), "{}", log.len());
    let lines = history.lines();
    for back in [0, 10, 500, 900] {
        let page = history.page_before(lines - back, Size::nearest(100, 40)).expect("reads");
        let end = all.partition_point(|row| row.line < lines - back);
        assert_eq!(page.rows, all[end - 40..end], "{back}");
    }
    // A screen that is cleared, or a region that scrolls, says nothing of the rows of the primary screen or outside.
    let redrawn: String = (0..40_000).map(|n| format!("\x1b[2A{n}\r\n\r\n")).collect();
    let full_screen = format!("\x1b[?1049h\x1b[H\x1b[2J{}\x1b[?1049l", "text\r\n".repeat(40));
    let region = format!("\x1b[10;14r\x1b[14;1H{}\x1b[r\x1b[24;1H", "in it\r\n".repeat(40));
    let end: String = (0..12).map(|n| format!("end {n}\r\n")).collect();
    for middle in [full_screen, region] {
        let log = format!("{log}{redrawn}{middle}{end}\x1b[3;1HTOP");
        let history = LogHistory::new(log.as_bytes(), &[], ByteOrigin::Tty, Size::nearest(100, 24));
        let all = history.last_rows(u64::MAX).expect("reads");
        let page = history.page_before(u64::MAX, Size::nearest(100, 14)).expect("reads");
        let cells: Vec<_> = page.rows.iter().map(|row| &row.cells).collect();
        assert_eq!(
            cells,
            all[all.len() - 14..].iter().map(|row| &row.cells).collect::<Vec<_>>(),
            "{middle:?}"
        );
    }
}

#[test]
fn a_page_far_into_frames_counts_all_of_them() {
    let frames: String = (0..100_000).map(|n| format!("\x1b[H\x1b[2Jframe {n}\r\n")).collect();
    let history = LogHistory::new(frames.as_bytes(), &[], ByteOrigin::Tty, size());
    let page = text(&history.page(history.lines() - 1, size()).expect("reads"));
    assert_eq!(page, rows(&[("[99999 earlier frames]", 99_999), ("frame 99999", 99_999)]));
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
