//! `pilothouse demo`: what a newcomer sees first, played to its end by itself and with somebody at the keyboard.

use crate::support::{Console, Home};

#[test]
fn the_demo_tells_its_story_by_itself_and_leaves_a_working_console() {
    let home = Home::new();
    let mut console = Console::open(&home, &["demo", "--speed", "3"], (100, 30));
    console.shows("demo-agent");
    console.shows("the receipt: this is what the model was given");
    console.shows("rejected=unsupported_batch_command_field");
    console.shows("\"tool_name\": \"ExecCommandBatch\"");
    console.shows("Compiling");
    console.shows("exit 101");
    console.shows("demo-agent wants to run a command");
    console.shows("The operator denied");
    console.shows("[y/N]");
    let has_ended = |cmd: &str| {
        console.wait_for("a row of a command that has ended well", |screen| {
            screen.contents().lines().any(|row| row.contains(cmd) && row.contains("✓ exit 0"))
        });
    };
    has_ended("./deploy");
    console.shows("timeline  all tasks");
    console.shows("that was all. next: q, then pilothouse mcp install claude");
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
