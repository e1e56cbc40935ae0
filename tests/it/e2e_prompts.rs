//! Jumping from prompt to prompt in a real shell that marks where they begin (OSC 133).

use crate::support::{Agent, Console, Home, wait_until_or};

/// A shell without any user settings; its prompt marks itself.
const SHELL: &str =
    "PS1='\\[\\e]133;A\\a\\]at> ' HISTFILE= TERM=dumb exec bash --norc --noprofile --noediting -i";

fn told(console: &Console, shown: &str, hidden: &str) {
    wait_until_or(
        || format!("{shown:?} without {hidden:?}; the screen shows:\n{}", console.text()),
        || {
            let all = console.text();
            all.contains(shown) && !all.contains(hidden)
        },
    );
}

#[test]
fn keys_go_from_prompt_to_prompt_and_back_to_the_end() {
    let home = Home::new();
    let console = Console::open(&home, &[], (80, 24));
    console.shows("no agent yet");
    let agent = Agent::connect(&home, &[]);
    agent.task(SHELL);
    // The command contains it too, in the list and above the pane.
    console.shows("\nat>");
    console.keys(b"\r");
    console.shows("INPUT t01");
    for (typed, shown) in [
        ("seq 101 160\r", "\n160\nat>"),
        ("seq 201 260\r", "\n260\nat>"),
        ("echo two words\r", "\ntwo words\nat>"),
    ] {
        console.keys(typed.as_bytes());
        console.shows(shown);
    }
    console.keys(b"\x1d");
    console.shows(" OBSERVE ");
    console.keys(b"{");
    // That one is on the last page anyway: it is marked there.
    console.shows("scrolled back");
    console.keys(b"{");
    told(&console, "at> seq 201 260\n201\n202", "219\n220");
    console.keys(b"{");
    told(&console, "at> seq 101 160\n101\n102", "\n201");
    console.keys(b"{");
    console.shows("no earlier prompt");
    console.keys(b"}");
    told(&console, "at> seq 201 260\n201\n202", "160\n");
    console.keys(b"}");
    told(&console, "at> echo two words\ntwo words", "\n201");
    console.keys(b"G");
    console.shows("follow");
    console.keys(b"Y");
    console.shows("of the last command");
    drop(agent);
}
