//! `pilothouse demo`: what a newcomer sees first, played to its end by itself and with somebody at the keyboard.

use std::num::NonZeroU16;

use memchr::memmem;
use vt100::Parser;

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
    frames.show("the receipt: this is what the model was given");
    frames.show("rejected=unsupported_batch_command_field");
    frames.show("\"tool_name\": \"ExecCommandBatch\"");
    frames.show("Compiling");
    frames.show("exit 101");
    frames.show("demo-agent wants to run a command");
    frames.show("The operator denied");
    frames.show("[y/N]");
    frames.until("a row of a command that has ended well", |shown| {
        shown.lines().any(|row| row.contains("./deploy") && row.contains("✓ exit 0"))
    });
    frames.show("timeline  all tasks");
    frames.show("that was all. next: q, then pilothouse claude");
    console.keys(b"oecho it works\r");
    console.wait_for("the command's end", |screen| {
        screen.contents().lines().any(|row| row.contains("echo it works") && row.contains("exit 0"))
    });
    // A task started here gets the keys.
    console.keys(b"\x1d");
    console.shows("OBSERVE");
    console.keys(b"q");
    assert_eq!(console.exit(), 0);
    console.is_as_it_was();
    let left = home.places().state_dir.join("demo").read_dir().map(Iterator::count).unwrap_or_default();
    assert_eq!(left, 0, "the demo's folder is gone");
    assert!(!home.places().recordings().exists());
}

#[test]
fn whoever_is_at_the_keys_comes_first() {
    let home = Home::new();
    let mut console = Console::open(&home, &["demo", "--speed", "2"], (120, 40));
    console.shows("wants to run a command");
    // The question is drawn before its task becomes the one that gets the keys.
    console.wait_for("a task that may be typed into", |screen| {
        let text = screen.contents();
        text.contains("[y/N]") && text.contains("Enter input")
    });
    console.keys(b"\r");
    console.shows(" INPUT t");
    // Not the answer that the demo would have typed.
    console.keys(b"n\r");
    console.shows("Not deployed.");
    console.keys(b"\x1d");
    console.shows("or I do in 6 s");
    console.keys(b"3");
    console.shows("that was all");
    assert!(!console.text().contains("timeline  all tasks"), "{}", console.text());
    console.keys(b"q");
    assert_eq!(console.exit(), 0);
}
