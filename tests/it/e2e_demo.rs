//! `pilothouse demo`: what a newcomer sees first, played to its end by itself and with somebody at the keyboard.

use std::num::NonZeroU16;

use memchr::memmem;
use vt100::Parser;

use pilothouse::console::{FIRST_PLACE, FIRST_WAY};

use crate::support::{Console, Home, wait_until_or};

/// The end of a frame: what was drawn is shown.
const SHOW: &[u8] = b"\x1b[?2026l";

/// The frames of a console, looked at one after the other: each is seen, however late the test gets to it and however
/// soon the next one follows.
struct Frames<'a> {
    console: &'a Console,
    parser: Parser,
    read: usize,
}

impl<'a> Frames<'a> {
    fn of(console: &'a Console, (columns, rows): (u16, u16)) -> Self {
        let cells = |count| NonZeroU16::new(count).expect("a size");
        Self { console, parser: Parser::new(cells(rows), cells(columns), 0), read: 0 }
    }

    /// Waits until a frame, this one or a later one, satisfies `fact`.
    #[track_caller]
    fn until(&mut self, what: &str, fact: impl Fn(&str) -> bool) {
        let Self { console, parser, read } = self;
        wait_until_or(
            || format!("{what}; the screen shows:\n{}\n", console.text()),
            || {
                let bytes = console.bytes();
                while !fact(&parser.screen().contents()) {
                    let Some(length) = memmem::find(&bytes[*read..], SHOW) else { return false };
                    let end = *read + length + SHOW.len();
                    parser.process(&bytes[*read..end]);
                    *read = end;
                }
                true
            },
        );
    }

    #[track_caller]
    fn show(&mut self, text: &str) {
        self.until(text, |shown| shown.contains(text));
    }
}

#[test]
fn the_demo_tells_its_story_by_itself_and_leaves_a_working_console() {
    const SIZE: (u16, u16) = (100, 30);
    let home = Home::new();
    let mut console = Console::open(&home, &["demo", "--speed", "3"], SIZE);
    // Some of it is on screen for little more than a second.
    let mut frames = Frames::of(&console, SIZE);
    frames.show("demo-agent");
    frames.show("Compiling");
    frames.show("exit 101");
    frames.show("Password of the release key");
    frames.show("demo: Enter, any word, Enter");
    frames.until("what the model read of it", |shown| {
        shown.contains("signed: harbour-1.4.2.tar.sig") && !shown.contains("Password of the release key")
    });
    frames.show("demo-agent wants to run a command");
    frames.show("see what it means. y runs it");
    frames.show("$DIR is not set: \"$DIR/\"* means /*");
    frames.show("■ denied");
    frames.until("the agent obeys", |shown| {
        shown.lines().any(|row| row.contains("rm -rf out") && row.contains("exit 0"))
    });
    frames.show("grep -c unsafe build");
    frames.show("\"tool_name\": \"ExecCommandBatch\"");
    frames.show("s stops t02, the server");
    frames.show("5173 is mine");
    frames.show("timeline  all tasks");
    frames.show(&format!("that was all. q leaves; next: {FIRST_WAY} {FIRST_PLACE}"));
    console.keys(b"oecho it works\r");
    console.wait_for("the command's end", |screen| {
        screen.contents().lines().any(|row| row.contains("echo it works") && row.contains("exit 0"))
    });
    // A task started here gets the keys.
    console.keys(b"\x1d");
    console.shows("OBSERVE");
    console.keys(b"q");
    assert_eq!(console.exit(), 0);
    let told = console.text();
    assert!(
        told.contains("The demo's agent asked for 9 commands: 5 ended well, 2 failed, 1 stopped, 1 denied"),
        "{told}"
    );
    assert!(told.contains(&format!("{FIRST_WAY} {FIRST_PLACE}")), "{told}");
    console.is_as_it_was();
    let left = home.places().state_dir.join("demo").read_dir().map(Iterator::count).unwrap_or_default();
    assert_eq!(left, 0, "the demo's folder is gone");
    assert!(!home.places().recordings().exists());
}

#[test]
fn the_demo_gives_way_to_a_person_at_the_keyboard() {
    let home = Home::new();
    let mut console = Console::open(&home, &["demo", "--speed", "2"], (120, 40));
    console.shows("demo: Enter, any word, Enter");
    console.keys(b"\r");
    // The task has just come under the selection: a key may have been meant for the one before.
    console.wait_for("it is typed into, or the key is asked for again", |screen| {
        [" INPUT t", "press again"].iter().any(|text| screen.contents().contains(text))
    });
    if !console.text().contains(" INPUT t") {
        console.keys(b"\r");
        console.shows(" INPUT t");
    }
    // Not what the demo would have typed.
    console.keys(b"\r");
    console.shows("exit 2");
    console.keys(b"\x1d");
    console.shows("OBSERVE");
    console.shows("s stops t02, the server");
    console.keys(b"3");
    console.shows("that was all");
    assert!(!console.text().contains("timeline  all tasks"), "{}", console.text());
    console.keys(b"q");
    assert_eq!(console.exit(), 0);
}

#[test]
fn the_demo_in_plain_lines_names_the_words_to_type() {
    let home = Home::new();
    let mut console = Console::open(&home, &["demo", "--speed", "4", "--accessible"], (80, 24));
    let told = |console: &Console, text: &str| {
        let what = || format!("{text}; told so far:\n{}\n", String::from_utf8_lossy(&console.bytes()));
        wait_until_or(what, || memmem::find(&console.bytes(), text.as_bytes()).is_some());
    };
    told(&console, "line t04, then any word");
    told(&console, "attention 1 asks you");
    told(&console, "stop t02 stops the server");
    console.keys(b"stop t02\r");
    told(&console, "that was all. quit leaves");
    console.keys(b"quit\r");
    assert_eq!(console.exit(), 0);
    let all = String::from_utf8_lossy(&console.bytes()).into_owned();
    for keys in ["any word, Enter", "y runs it", "s stops", "q leaves"] {
        assert!(!all.contains(keys), "{keys}\n{all}");
    }
}
