//! The table of modes in the guide, checked against the terminal.

use std::path::Path;

use pilothouse::terminal::{ByteOrigin, Size, Terminal};

/// The modes of the table, each with what the table says of it.
fn table() -> Vec<(String, String)> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reference/panes.md");
    let page = std::fs::read_to_string(page).expect("docs/reference/panes.md");
    let rows = page
        .lines()
        .skip_while(|line| *line != "## Modes")
        .take_while(|line| *line != "## A pane of another width");
    let mut modes = Vec::new();
    for row in rows.filter(|row| row.starts_with("| `")) {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [names, _, said] = cells[..] else { panic!("{row}") };
        modes.extend(
            names
                .split('`')
                .filter(|name| !name.trim().is_empty())
                .map(|name| (name.to_owned(), said.to_owned())),
        );
    }
    modes
}

/// What the terminal answers when it is asked for a mode after a sequence.
fn reported(terminal: &mut Terminal, sequence: &str, mode: &str) -> String {
    let fed = terminal.feed(format!("{sequence}\x1b[{mode}$p").as_bytes());
    let answer = String::from_utf8(fed.replies).expect("text");
    answer.strip_prefix(&format!("\x1b[{mode};")).expect("an answer").trim_end_matches("$y").to_owned()
}

#[test]
fn each_terminal_mode_is_reported_as_the_table_in_the_guide_says() {
    let modes = table();
    assert!(modes.len() > 20, "{modes:?}");
    for (mode, said) in modes {
        let mut terminal = Terminal::new(Size::nearest(80, 24), ByteOrigin::Tty);
        let on = reported(&mut terminal, &format!("\x1b[{mode}h"), &mode);
        let off = reported(&mut terminal, &format!("\x1b[{mode}l"), &mode);
        let expected = match said.as_str() {
            "served" => ["1", "2"],
            "refused" => ["4", "4"],
            "unknown" => ["0", "0"],
            other => panic!("{other}"),
        };
        assert_eq!([on.as_str(), off.as_str()], expected, "{mode} is {said}");
    }
}
