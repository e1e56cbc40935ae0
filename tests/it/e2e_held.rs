//! A person decides what an agent may run: asked by rules, in a real terminal. What else a person decides is in
//! `console_joined`.

use serde_json::json;

use crate::support::{Agent, Console, Home, wait_until};

/// Presses a key on the card until it counts, which it does only after the card has been on screen for a moment.
fn answer(console: &Console, key: &[u8], what: &str, told: &str) {
    wait_until(what, || {
        if !console.text().contains(told) {
            console.keys(key);
        }
        console.text().contains(told)
    });
}

#[test]
fn a_rule_in_the_settings_asks_as_soon_as_it_is_written() {
    let home = Home::new();
    home.configure("config.toml", "[[approvals]]\nprefix = \"touch\"\nactor = \"agent:claude\"\n");
    let ran = home.workspace().join("ran");
    let mut console = Console::open(&home, &[], (100, 30));
    console.shows("no agent yet");
    let agent = Agent::connect(&home, &["--label", "claude"]);
    let asked = agent.ask("ExecCommand", &json!({"cmd": "cd . && touch ran", "yield_time_ms": 30000}));
    console.shows("needs approval");
    assert!(!ran.exists());
    console.keys(b"A");
    console.shows("held by the rule: prefix \"touch\", actor \"agent:claude\"");
    answer(&console, b"y", "the call is let go", "exit 0");
    assert_eq!(agent.answer(asked).result("/disposition"), "completed");
    assert!(ran.exists());

    home.configure("config.toml", "[[approvals]]\nprefix = \"printf\"\n");
    console.shows("settings changed: 1 removed, 1 approval rule holds for new calls");
    assert!(
        !agent.call("ExecCommand", &json!({"cmd": "touch ran"})).envelope.to_string().contains("awaiting")
    );
    let asked = agent.call("ExecCommand", &json!({"cmd": "printf hello", "yield_time_ms": 250}));
    assert_eq!(asked.result("/disposition"), "awaiting_operator");

    home.configure("config.toml", "[[approvals]]\nprefx = \"printf\"\n");
    console.shows("approvals.prefx");
    let asked = agent.call("ExecCommand", &json!({"cmd": "printf more", "yield_time_ms": 250}));
    assert_eq!(asked.result("/disposition"), "awaiting_operator", "a file with a fault takes no rule away");
    agent.leave();
    console.keys(b"q");
    console.shows("stop");
    console.keys(b"s");
    assert_eq!(console.exit(), 0);
}

/// A deletion of everything, if a variable is not set. Even if it ran, it would delete nothing; but that is known only to who
/// runs it.
const WIDER: &str = "[ -n \"$(uname --no-such-option)\" ] && rm -rf \"$DIR/\"*";

#[test]
fn the_card_of_a_deletion_that_is_wider_than_it_looks_says_so_and_it_is_denied_with_words() {
    let home = Home::new();
    home.configure("config.toml", "[[approvals]]\nprefix = \"rm -rf\"\n");
    let mut console = Console::open(&home, &[], (120, 40));
    console.shows("no agent yet");
    let agent = Agent::connect(&home, &["--label", "claude"]);
    let asked = loop {
        let asked = agent.ask("ExecCommand", &json!({"cmd": WIDER, "yield_time_ms": 60000}));
        console.shows("needs approval");
        console.keys(b"A");
        console.wait_for("it is said what it would cost", |screen| {
            let text = screen.contents();
            text.contains("means /*") || text.contains("took too long")
        });
        if console.text().contains("$DIR is not set: \"$DIR/\"* means /*") {
            break asked;
        }
        // On a busy machine, the time was over before it could be seen.
        answer(&console, b"n", "a note is asked for", "why not?");
        console.keys(b"\x15again\r");
        agent.answer(asked);
        console.wait_for("that card is gone", |screen| {
            let text = screen.contents();
            !text.contains("took too long") && !text.contains("needs approval")
        });
    };
    answer(&console, b"n", "a note is asked for", "why not?");
    console.keys(b"\x15set DIR first\r");
    let denied = agent.answer(asked);
    assert_eq!(denied.envelope["error"]["kind"], "operator_denied", "{}", denied.envelope);
    assert_eq!(denied.envelope["error"]["details"]["note"], "set DIR first");

    // On the row, as it would be run now. A task that came to hand by itself takes no key in its first second.
    console.shown_until("a second has passed", |text| {
        let age = text.split_once("never ran · ")?.1.split_once("s ago")?.0;
        (age.parse::<u32>().ok()? >= 1).then_some(())
    });
    console.keys(b"1$");
    console.shows("would cost, run now");
    console.shows("nothing was run");
    agent.leave();
    console.keys(b"\x1b");
    console.shows("○ claude");
    console.wait_for("the text is closed", |screen| !screen.contents().contains("run now"));
    console.keys(b"q");
    assert_eq!(console.exit(), 0);
}
