//! `pilothouse demo`: what a newcomer sees first, played through to the end.

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
    console.keys(b"oecho it works\r");
    console.shows("it works");
    console.stop_all_and_quit();
    console.is_as_it_was();
    let left = home.places().state_dir.join("demo").read_dir().map(Iterator::count).unwrap_or_default();
    assert_eq!(left, 0, "the demo's folder is gone");
    assert!(!home.places().recordings().exists());
}
