//! Properties: the transcript, the rows of exports, the screen and another interpreter agree on what a program printed.

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::cell::{Cell, CellStyle, Color};
    use crate::{ByteOrigin, CellDrawing, CellRow, LogHistory, Size, Terminal, Transcript, clean};

    const SIZE: (u16, u16) = (20, 6);

    fn size() -> Size {
        Size::nearest(SIZE.0, SIZE.1)
    }

    /// Returns the rows that the interpreter of asciinema 3.2 makes of output.
    fn by_avt(output: &str) -> Vec<String> {
        let mut terminal = avt::Vt::builder().size(SIZE.0.into(), SIZE.1.into()).scrollback_limit(0).build();
        let scrolled: Vec<_> = terminal.feed_str(output).scrollback.map(|line| line.text()).collect();
        let rows = scrolled.into_iter().chain(terminal.view().map(|line| line.text()));
        without_blank_ends(rows)
    }

    fn without_blank_ends(rows: impl Iterator<Item = String>) -> Vec<String> {
        let mut rows: Vec<_> = rows.map(|row| row.trim_end().to_owned()).collect();
        rows.truncate(rows.iter().rposition(|row| !row.is_empty()).map_or(0, |last| last + 1));
        rows
    }

    /// Returns the rows that an export of a log has.
    fn exported(output: &str) -> Vec<CellRow> {
        let history = LogHistory::new(output.as_bytes(), &[], ByteOrigin::Tty, size());
        history.last_rows(10_000).expect("reads")
    }

    /// What moves and changes rows; clearing is apart, because cleared text stays here.
    fn sequence() -> impl Strategy<Value = String> {
        let counted = |letters: &'static str| {
            let letter = prop::sample::select(letters.chars().collect::<Vec<_>>());
            (0_u16..9, letter).prop_map(|(count, letter)| format!("\x1b[{count}{letter}"))
        };
        prop_oneof![
            8 => "[a-z]{1,12}",
            2 => "[a-z]{25,50}",
            8 => Just("\r\n".to_owned()),
            2 => Just("\x1b[4Ga\n".to_owned()),
            2 => Just("\r".to_owned()),
            1 => Just("\x1b[5G\x08".to_owned()),
            3 => (1_u16..20).prop_map(|column| format!("\x1b[{column}Ga\t")),
            6 => counted("ABCDEFG`ade"),
            // Behind the last column, terminals differ in what ends the waiting.
            3 => (1_u16..21, counted("ST@PX")).prop_map(|(column, change)| format!("\x1b[{column}G{change}")),
            // Asciinema's interpreter inserts and deletes lines outside of a region, too, and keeps a first row that is deleted.
            1 => (2_u16..7, counted("LM")).prop_map(|(row, change)| format!("\x1b[r\x1b[{row}H{change}")),
            2 => (0_u16..9, 0_u16..25).prop_map(|(row, column)| format!("\x1b[{row};{column}H")),
            2 => (1_u16..5, 1_u16..6).prop_map(|(top, more)| format!("\x1b[{top};{}r", (top + more).min(SIZE.1))),
            1 => Just("\x1b[r".to_owned()),
            2 => prop::sample::select(vec!["\x1b[4G\x1bM", "\x1b[4G\x1bD", "\x1bE", "\x1b[4G\x1b7", "\x1b8", "\x1b[4G\x1b[s", "\x1b[u"]).prop_map(str::to_owned),
            2 => (0_u16..3).prop_map(|what| format!("\x1b[{what}K")),
            1 => Just("\x1b[9Gx\x1b[J".to_owned()),
            1 => Just("\x1b[9Gx\x1b[1J".to_owned()),
        ]
    }

    /// The same, with a character that is repeated.
    fn of_rows() -> impl Strategy<Value = String> {
        prop_oneof![30 => sequence(), 1 => (0_u16..9).prop_map(|count| format!("a\x1b[{count}b"))]
    }

    /// What else a screen shows, but for colours and wide characters.
    fn of_screens() -> impl Strategy<Value = String> {
        prop_oneof![
            10 => sequence(),
            1 => Just("\t".to_owned()),
            1 => prop::sample::select(vec![
                "\x1b[2J", "\x1b[H\x1b[J", "\x1b[J", "\x1b[4h", "\x1b[4l", "\x1b[?6h", "\x1b[?6l", "\x1b[20h", "\x1b[20l",
                "e\u{301}", "é", "\u{AD}", "\x1b(0", "\x1b(B", "\x1b[!p", "\x1bc", "\x1bH", "\x1b[g", "\x1b[3g", "\x1b[2I", "\x1b[Z",
            ]).prop_map(str::to_owned),
            1 => "\x1b\\[\\?1049h[a-z]{1,30}\x1b\\[\\?1049l",
        ]
    }

    fn with_colours() -> impl Strategy<Value = String> {
        prop_oneof![
            12 => of_screens(),
            3 => prop::sample::select([0, 1, 2, 3, 4, 7, 22, 23, 24, 27, 31, 39, 45, 49, 92, 107].to_vec()).prop_map(|n| format!("\x1b[{n}m")),
            1 => prop::sample::select(vec!["\x1b[48;5;9m", "\x1b[38:2::1:2:3m", "\x1b[4:3m", "\x1b[1;31;44m", "\x1b[m"]).prop_map(str::to_owned),
        ]
    }

    fn with_wide_characters() -> impl Strategy<Value = String> {
        // Columns inserted inside a wide character: the emulator inserts them behind it, xterm breaks it.
        let other = of_screens().prop_filter("inserts", |piece| !piece.ends_with('@'));
        prop_oneof![12 => other, 3 => prop::sample::select(vec!["好", "好好", "❤\u{FE0F}"]).prop_map(str::to_owned)]
    }

    /// Returns the cells of the screen that a transcript of rows ends with.
    fn rows(output: &str) -> Vec<Vec<Cell<'static>>> {
        let mut transcript = Transcript::of_rows(ByteOrigin::Tty, size());
        transcript.feed(output.as_bytes());
        let mut rows = transcript.screen_rows();
        rows.resize(SIZE.1.into(), Vec::new());
        rows
    }

    /// Returns the cells of a screen, without blank ones at the end of rows.
    fn screen(output: &str) -> Vec<Vec<Cell<'static>>> {
        let mut terminal = Terminal::new(size(), ByteOrigin::Tty);
        terminal.feed(output.as_bytes());
        let row = |row| {
            let mut cells: Vec<_> = terminal.row(row).map(Cell::into_owned).collect();
            while cells.last().is_some_and(|cell| cell.text == " " && !cell.style.shows_on_blanks()) {
                cells.pop();
            }
            cells
        };
        (0..SIZE.1).map(row).collect()
    }

    /// Returns cells as they look: attributes that do not show on blanks make no difference.
    fn looks(rows: Vec<Vec<Cell<'static>>>) -> Vec<Vec<(String, CellStyle)>> {
        let look = |cell: Cell<'static>| {
            let hidden =
                CellStyle { fg: Color::Default, bold: false, dim: false, italic: false, ..cell.style };
            let style = match (&*cell.text, cell.width) {
                (_, 0) => CellStyle::default(),
                (" ", _) => hidden,
                _ => cell.style,
            };
            (cell.text.into_owned(), style)
        };
        rows.into_iter().map(|row| row.into_iter().map(look).collect()).collect()
    }

    fn cases(few: u32, many: u32) -> ProptestConfig {
        let cases = if std::env::var_os("PILOTHOUSE_LONG").is_some() { many } else { few };
        ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
    }

    proptest! {
        #![proptest_config(cases(1_000, 20_000))]

        #[test]
        fn transcript_and_export_are_the_text_that_asciinema_makes_of_it(pieces in prop::collection::vec(of_rows(), 0..40)) {
            let output = pieces.concat();
            let rows = exported(&output);
            let text = |row: &CellRow| row.cells.iter().map(|cell| &*cell.text).collect();
            prop_assert_eq!(without_blank_ends(rows.iter().map(text)), by_avt(&output));
            let text = CellDrawing { columns: SIZE.0, rows }.text();
            let transcript = clean(output.as_bytes(), ByteOrigin::Tty, size());
            if !transcript.contains('\t') {
                let lines = |text: &str| without_blank_ends(text.lines().map(str::to_owned));
                prop_assert_eq!(lines(&text), lines(&transcript));
            }
        }

        #[test]
        fn the_rows_of_a_transcript_end_with_those_of_the_screen(
            pieces in prop_oneof![prop::collection::vec(with_colours(), 0..40), prop::collection::vec(with_wide_characters(), 0..40)],
        ) {
            let output = pieces.concat();
            for (row, (of_transcript, of_screen)) in looks(rows(&output)).into_iter().zip(looks(screen(&output))).enumerate() {
                prop_assert_eq!(of_transcript, of_screen, "row {}", row);
            }
        }
    }
}
