//! The terminal as a whole: invariants that hold for any stream of bytes.

use pilothouse::terminal::{
    ByteOrigin, Cell, CellStyle, Contents, Cursor, Modes, Size, Terminal, Transcript, clean,
};
use proptest::prelude::*;
use proptest::strategy::ValueTree;

fn cases(few: u32, many: u32) -> ProptestConfig {
    let cases = if std::env::var_os("PILOTHOUSE_LONG").is_some() { many } else { few };
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

fn shown(terminal: &Terminal) -> (Vec<Vec<Cell<'static>>>, Cursor, Modes) {
    let size = terminal.size();
    let row = |row| (0..size.cols()).map(|col| terminal.cell(row, col).into_owned()).collect();
    ((0..size.rows()).map(row).collect(), terminal.cursor(), terminal.modes())
}

/// Text, sequences and garbage, in proportions that find bugs.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    let fixed = |text: &'static str| Just(text.as_bytes().to_vec());
    prop_oneof![
        8 => "[ -~]{1,20}".prop_map(String::into_bytes),
        4 => "[aé好e\u{301}❤\u{FE0F}\u{200D}👩\u{FFFD}\u{AD}\u{85}#1\u{20E3}]{1,8}".prop_map(String::into_bytes),
        4 => fixed("\r\n"),
        2 => "[\u{7}-\u{F}]".prop_map(String::into_bytes),
        8 => "\u{1b}\\[[?>!]?[0-9]{0,2}(;[0-9]{1,2}){0,2}[$ ]?[@-~]".prop_map(String::into_bytes),
        4 => "\u{1b}\\[[0-9]{0,2}[ABCDGHJKLMPSTXZ@bdfmr]".prop_map(String::into_bytes),
        2 => "\u{1b}\\[\\?(1|6|7|25|47|1004|1047|1048|1049|1000|1003|1006|2004|2026)[hl]".prop_map(String::into_bytes),
        1 => "\u{1b}\\[(4|20)[hl]".prop_map(String::into_bytes),
        2 => "\u{1b}[78DEHMc=>]".prop_map(String::into_bytes),
        1 => "\u{1b}[()][0B]".prop_map(String::into_bytes),
        1 => "\u{1b}\\](0|2|7|8|52|133);[a-z?]{0,5}(\u{7}|\u{1b}\\\\)?".prop_map(String::into_bytes),
        1 => fixed("\u{1b}#8"),
        1 => fixed("\u{1b}Pq#1\u{1b}\\"),
        1 => "\u{1b}\\[(4:[0-5]|38:2::1:2:3|48;5;9|58;5;1|21|7|4|38;2;1;2;3)m".prop_map(String::into_bytes),
        1 => proptest::collection::vec(any::<u8>(), 1..6),
    ]
}

fn stream(len: usize) -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(piece(), 0..len).prop_map(|pieces| pieces.concat())
}

fn cut<'a>(bytes: &'a [u8], cuts: &[usize]) -> Vec<&'a [u8]> {
    let mut rest = bytes;
    let mut pieces = Vec::new();
    for cut in cuts.iter().cycle() {
        let (now, later) = rest.split_at((*cut).min(rest.len()));
        pieces.push(now);
        rest = later;
        if rest.is_empty() {
            break;
        }
    }
    pieces
}

proptest! {
    #![proptest_config(cases(500, 20_000))]

    #[test]
    fn pieces_do_not_matter_to_the_screen(bytes in stream(40), cuts in proptest::collection::vec(1_usize..9, 1..5),
        cols in 2_u16..30, rows in 2_u16..10, pipe: bool) {
        let origin = if pipe { ByteOrigin::Pipe } else { ByteOrigin::Tty };
        let size = Size::nearest(cols, rows);
        let (mut whole, mut pieces) = (Terminal::new(size, origin), Terminal::new(size, origin));
        let mut fed = whole.feed(&bytes);
        let mut replies = Vec::new();
        for piece in cut(&bytes, &cuts) {
            let part = pieces.feed(piece);
            replies.extend(part.replies);
            fed.bells -= part.bells;
            prop_assert!(!part.reset);
        }
        prop_assert_eq!(shown(&whole), shown(&pieces));
        prop_assert_eq!(whole.properties(), pieces.properties());
        prop_assert_eq!(fed.bells, 0);
        prop_assert!(replies.starts_with(&fed.replies));
        prop_assert!(!pipe || replies.is_empty());
    }

    #[test]
    fn rows_of_runs_hold_the_same_screen(bytes in stream(40), cols in 2_u16..30, rows in 2_u16..10) {
        let size = Size::nearest(cols, rows);
        let mut terminal = Terminal::new(size, ByteOrigin::Tty);
        terminal.feed(&bytes);
        let contents = Contents::of(&terminal);
        let blank = || Cell::blank(CellStyle::default());
        let mut copy: Vec<Vec<Cell<'static>>> = vec![vec![blank(); cols.into()]; rows.into()];
        for (at, row) in contents.rows.iter().enumerate() {
            for (column, cell) in row.cells() {
                let column = usize::from(column);
                if cell.width == 2 {
                    copy[at][column + 1] = Cell::continuation();
                }
                copy[at][column] = cell.into_owned();
            }
        }
        prop_assert_eq!(shown(&terminal), (copy, contents.cursor, contents.modes));
    }

    #[test]
    fn pieces_do_not_matter_to_the_transcript(bytes in stream(40), cuts in proptest::collection::vec(1_usize..9, 1..5),
        cols in 2_u16..30, rows in 2_u16..10, pipe: bool) {
        let origin = if pipe { ByteOrigin::Pipe } else { ByteOrigin::Tty };
        let size = Size::nearest(cols, rows);
        let whole = clean(&bytes, origin, size);
        let mut pieces = Transcript::new(origin, size);
        for piece in cut(&bytes, &cuts) {
            pieces.feed(piece);
        }
        prop_assert_eq!(&whole, &pieces.finish());
        prop_assert!(!whole.chars().any(|c| c.is_control() && c != '\n' && c != '\t'), "{:?}", whole);
    }

    #[test]
    fn a_transcript_takes_any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = clean(&bytes, ByteOrigin::Tty, Size::nearest(5, 3));
    }
}

#[test]
fn any_output_and_any_resize_leave_the_terminal_standing() {
    let steps = if std::env::var_os("PILOTHOUSE_LONG").is_some() { 1_000_000 } else { 10_000 };
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut terminal = Terminal::new(Size::nearest(8, 4), ByteOrigin::Tty);
    let strategy = (stream(6), 2_u16..14, 2_u16..9, 0..4);
    for step in 0..steps {
        let (bytes, cols, rows, resize) = strategy.new_tree(&mut runner).unwrap().current();
        assert!(!terminal.feed(&bytes).reset, "step {step}: panic on {:?}", String::from_utf8_lossy(&bytes));
        if resize == 0 {
            let size = Size::nearest(cols, rows);
            terminal.resize(size);
            assert_eq!(terminal.size(), size);
        }
        let cursor = terminal.cursor();
        assert!(cursor.row < terminal.size().rows() && cursor.col < terminal.size().cols(), "step {step}");
    }
}

#[test]
fn an_emoji_in_the_corner_does_not_panic() {
    let mut terminal = Terminal::new(Size::nearest(80, 24), ByteOrigin::Tty);
    let fed = terminal.feed("\x1b[24;80H\u{2764}\u{FE0F}\x1b[23;80Hx".as_bytes());
    assert!(!fed.reset);
    assert_eq!(terminal.cell(23, 79).text, "\u{2764}");
}

#[test]
fn a_pipe_starts_each_line_at_the_margin() {
    let mut terminal = Terminal::new(Size::nearest(10, 4), ByteOrigin::Pipe);
    terminal.feed(b"a\nb\x1b[6n");
    assert_eq!(terminal.screen_text(), "a\nb");
    assert_eq!(terminal.feed(b"\x1b[c").replies, b"");
}

#[test]
fn terminal_queries_are_answered_with_constants_and_the_cursor() {
    let mut terminal = Terminal::new(Size::nearest(80, 24), ByteOrigin::Tty);
    for (question, answer) in [
        ("\x1b[c", "\x1b[?62;22c"),
        ("\x1b[0c", "\x1b[?62;22c"),
        ("\x1b[>c", "\x1b[>1;10;0c"),
        ("\x1b[>q", "\x1bP>|pilothouse\x1b\\"),
        ("\x1b[5n", "\x1b[0n"),
        ("\x1b[3;7H\x1b[6n", "\x1b[3;7R"),
        ("\x1b[5;10r\x1b[?6h\x1b[2;1H\x1b[6n\x1b[?6l\x1b[r", "\x1b[2;1R"),
        ("\x1b[?2026$p", "\x1b[?2026;2$y"),
        ("\x1b[?25$p", "\x1b[?25;1$y"),
        ("\x1b[4$p", "\x1b[4;2$y"),
        ("\x1b[?1007$p\x1b[?1007l\x1b[?1007$p", "\x1b[?1007;1$y\x1b[?1007;2$y"),
        ("\x1b]10;?\x07", "\x1b]10;rgb:d0d0/d0d0/d0d0\x07"),
        ("\x1b]11;?\x1b\\", "\x1b]11;rgb:1010/1010/1010\x1b\\"),
        ("\x1b[?996n", "\x1b[?997;1n"),
        ("\x1b]0;evil\x07\x1b[21t\x1b[>0c\x18", "\x1b[>1;10;0c"),
        ("\x1b[18t", "\x1b[8;24;80t"),
        ("\x1b[?7777$p\x1b[99$p", "\x1b[?7777;0$y\x1b[99;0$y"),
        ("\x1b[?u\x1b[>5u\x1b[?u\x1b[<u\x1b[?u", "\x1b[?0u\x1b[?1u\x1b[?0u"),
        ("\x05\x1b]4;1;?\x07\x1b]52;c;?\x07\x1bP$qm\x1b\\\x1bP+q544e\x1b\\\x1b[=c\x1b[?6n\x1bZ", ""),
    ] {
        let fed = terminal.feed(question.as_bytes());
        assert_eq!(String::from_utf8(fed.replies).unwrap(), answer, "{question:?}");
    }
    assert_eq!(terminal.feed(&b"\x1b[5n".repeat(100)).replies, b"\x1b[0n".repeat(100));
    assert_eq!(terminal.feed(&b"\x1b[5n".repeat(9_000)).replies.len(), Terminal::MAX_REPLIES);
}

#[test]
fn frames_are_held_between_the_marks_of_a_program() {
    let mut terminal = Terminal::new(Size::default(), ByteOrigin::Tty);
    assert!(terminal.feed(b"\x1b[?2026h").hold_frames);
    assert!(terminal.feed(b"text").hold_frames);
    assert!(!terminal.feed(b"\x1b[?2026l").hold_frames);
}

#[test]
fn bells_are_counted_and_never_passed_on() {
    let mut terminal = Terminal::new(Size::default(), ByteOrigin::Tty);
    assert_eq!(terminal.feed(b"\x07a\x07").bells, 2);
}

#[test]
fn f58_an_unterminated_title_hides_no_output() {
    let mut terminal = Terminal::with_recent(Size::default(), ByteOrigin::Tty);
    for (now, text) in [(0, "\x1b]0;stray\r\nseen"), (1_000, "\r\nmore"), (2_000, "\r\nlast")] {
        terminal.note_time(now);
        terminal.feed(text.as_bytes());
        terminal.note_time(now);
    }
    assert_eq!(
        terminal.screen_text(),
        "0;stray\nseen\nmore\nlast",
        "the program has written on for two seconds"
    );
    assert_eq!(terminal.title(), None);
    terminal.feed(b"\r\n\x1bPstray \x1b[1mand bold");
    assert!(terminal.screen_text().ends_with("stray and bold"));
    assert!(terminal.excerpt(40).is_none(), "its bytes would be an open string again");
}

#[test]
fn a_rebuilt_terminal_shows_the_tail() {
    let mut terminal = Terminal::new(Size::default(), ByteOrigin::Tty);
    terminal.feed(b"old");
    terminal.rebuild(b"one\r\ntwo\x1b[6n");
    assert_eq!(terminal.screen_text(), "one\ntwo");
    assert_eq!(terminal.feed(b"").replies, b"");
}

#[test]
fn sequences_other_emulators_lack_do_what_xterm_does() {
    for (sequence, text, place) in [
        ("a\x1b[?47hb\x1b[?47lc", "a c", (0, 3)),
        ("a\x1b[?1047hb\x1b[?1047lc", "a c", (0, 3)),
        ("a\x1b[?1047hb\x1b[?1047l\x1b[?47h", "", (0, 2)),
        ("a\x1b[?1048h\x1b[3;3Hb\x1b[?1048lc", "ac\n\n  b", (0, 2)),
        ("\x1b[2;4r\x1b[?1049h\x1b[4;1H\nx\x1b[?1049l\x1b[4;1H\ny", "\n\n\ny", (3, 1)),
        ("\x1b(0q\x1b[!pq", "─q", (0, 2)),
        ("\x1b[2;4r\x1b[4hab\x1b[!p\x1b[1;1Hc", "cb", (0, 1)),
        ("\x1b[20ha\nb\x1b[20lc\nd", "a\nbc\n  d", (2, 3)),
        ("abc\r\ndef\x1b[2;2H\x1b[?J", "abc\nd", (1, 1)),
        ("abc\r\ndef\x1b[2;2H\x1b[?K", "abc\nd", (1, 1)),
        ("0123456789ab\x1b[@x", "0123456789ax", (0, 11)),
        ("0123456789ab\x1b[Px", "0123456789ax", (0, 11)),
        ("0123456789ab\x1b[Xx", "0123456789ax", (0, 11)),
        ("\x1b[4;7mab\x1b[1G\x1b[Kx\x1b[m", "x", (0, 1)),
        ("\x1b[2;4r\x1b[?6h\x1b[2dx\x1b[9;9Hy", "\n\nx\n        y", (3, 9)),
        ("co\u{AD}op and more", "co\u{2010}op and mo\nre", (1, 2)),
    ] {
        let mut terminal = Terminal::new(Size::nearest(12, 5), ByteOrigin::Tty);
        terminal.feed(sequence.as_bytes());
        let cursor = terminal.cursor();
        assert_eq!(
            (terminal.screen_text().as_str(), (cursor.row, cursor.col)),
            (text, place),
            "{sequence:?}"
        );
    }
}

#[test]
fn erasing_paints_no_lines_and_no_blocks() {
    let mut terminal = Terminal::new(Size::nearest(6, 2), ByteOrigin::Tty);
    terminal.feed(b"\x1b[4;7;44mab\x1b[K\x1b[5Gc");
    let (blank, printed) = (terminal.cell(0, 2).style, terminal.cell(0, 4).style);
    assert!(!blank.underline && !blank.inverse && blank.bg == printed.bg);
    assert!(printed.underline && printed.inverse);
}

#[test]
fn a_change_of_columns_clears_the_screen_once_it_is_allowed() {
    let mut terminal = Terminal::new(Size::nearest(20, 5), ByteOrigin::Tty);
    terminal.feed(b"\x1b[2;4ra\x1b[?3h\x1b[?3$p");
    assert_eq!(terminal.screen_text(), "a", "as it is in the strings that reset terminals");
    let fed = terminal.feed(b"\x1b[?40h\x1b[3;3H\x1b[?3h\x1b[6n\x1b[?3$px");
    assert_eq!(String::from_utf8(fed.replies).unwrap(), "\x1b[1;1R\x1b[?3;1$y");
    assert_eq!((terminal.screen_text().as_str(), terminal.size()), ("x", Size::nearest(20, 5)));
}

#[test]
fn each_screen_has_a_saved_cursor_of_its_own() {
    let mut terminal = Terminal::new(Size::nearest(20, 5), ByteOrigin::Tty);
    let fed = terminal.feed(b"\x1b[2;3H\x1b7\x1b[?47h\x1b(0\x1b[4;5H\x1b7\x1b(B\x1b[1;1H\x1b8\x1b[6nq\x1b[?47l\x1b(B\x1b8\x1b[6nq");
    assert_eq!(String::from_utf8(fed.replies).unwrap(), "\x1b[4;5R\x1b[2;3R");
    assert_eq!(terminal.screen_text(), "\n  q", "with its character set");
}

#[test]
fn moving_to_other_lines_stops_at_the_margins() {
    for (moves, at) in
        [("3;4H\x1b[9E", "4;1"), ("3;4H\x1b[9F", "2;1"), ("5;4H\x1b[9E", "6;1"), ("1;4H\x1b[9F", "1;1")]
    {
        let mut terminal = Terminal::new(Size::nearest(20, 6), ByteOrigin::Tty);
        let fed = terminal.feed(format!("\x1b[2;4r\x1b[{moves}\x1b[6n").as_bytes());
        assert_eq!(String::from_utf8(fed.replies).unwrap(), format!("\x1b[{at}R"), "{moves:?}");
    }
}

#[test]
fn text_is_struck_through_wherever_it_scrolls_and_wraps() {
    let mut terminal = Terminal::with_recent(Size::nearest(4, 3), ByteOrigin::Tty);
    terminal.feed("\x1b[9mab 好cde\x1b[29mf\r\n".as_bytes());
    let row = |terminal: &Terminal, row: u16| -> String {
        let cells = (0..4).map(|col| terminal.cell(row, col));
        cells
            .map(|cell| if cell.style.struck { format!("-{}", cell.text) } else { cell.text.into_owned() })
            .collect()
    };
    assert_eq!(row(&terminal, 0), "-好-c-d".to_owned(), "the second half of a wide character has no style");
    assert_eq!(row(&terminal, 1), "-ef  ");
    assert_eq!(terminal.screen_text(), "好cd\nef");
    let wider = terminal.excerpt(8).expect("shown at another width").draw();
    let style = |text: &str| {
        wider
            .rows
            .iter()
            .flat_map(|row| &row.runs)
            .find(|run| run.text.contains(text))
            .map(|run| run.style.struck)
    };
    assert_eq!((style("e"), style("f")), (Some(true), Some(false)));
}
