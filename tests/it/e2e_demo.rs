//! `pilothouse demo`: what a newcomer sees first, played through to the end.

use vt100::Screen;

use crate::support::{Console, Home};

#[test]
fn the_demo_asks_its_question_takes_the_answer_and_leaves_a_working_console() {
    let home = Home::new();
    let mut console = Console::open(&home, &["demo"], (120, 40));
    console.shows("demo-agent");
    console.shows("Compiling");
    console.shows("the agent waits for the build");
    console.shows("[y/N]");
    console.shows("Enter types into the task");
    console.keys(b"\r");
    console.shows(" INPUT t");
    console.keys(b"y\r");
    console.shows("done.");
    console.keys(b"\x1d");
    console.shows("the agent has read your answer");
    console.shows("the agent has left");
    console.keys(b"5");
    console.shows("ship.prose");
    console.shows("12 files are sound");
    console.shows("Enter answer");
    console.keys(b"\r");
    console.shows("Ship release 1.4.2?");
    console.shows("y approve");
    console.keys(b"y");
    // A key that comes before anybody could have read the question is told so, and does nothing.
    let is_early = |screen: &Screen| screen.contents().contains("too early");
    console.wait_for("the key to be taken in", |screen| {
        is_early(screen) || !screen.contents().contains("y approve")
    });
    if console.text().contains("too early") {
        console.wait_for("time to read", |screen| !is_early(screen));
        console.keys(b"y");
    }
    console.shows("✓ 0   shipped");
    console.shows("that was all");
    console.keys(b"1");
    console.keys(b"oecho it works\r");
    console.shows("it works");
    // It may have ended while it was typed into.
    console.keys(b"\x1d");
    console.stop_all_and_quit();
    console.is_as_it_was();
    let left = home.places().state_dir.join("demo").read_dir().map(Iterator::count).unwrap_or_default();
    assert_eq!(left, 0, "the demo's folder is gone");
    assert!(!home.places().recordings().exists());
}
