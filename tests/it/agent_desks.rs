//! What the hooks of further agents tell, in their own words, and what they are told: payloads of the real programs.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::agent_prompts::{hook_of, opened, printed};
use crate::support::{Home, read_it};

/// The reports of a real session of an agent, by name.
fn reports(agent: &str) -> BTreeMap<String, Value> {
    let path = format!("{}/tests/corpus/hooks/{agent}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).expect("reports")).expect("JSON")
}

/// opencode and Kilo: answered here, answered there, words.
fn plugin_answers(agent: &str) {
    let (home, reports) = (Home::new(), reports(agent));
    let console = opened(&home);
    let tell = |name: &str| hook_of(&home, agent, &reports[name]);
    let card = || {
        console.shows(&format!("{agent} asks: bash"));
        console.keys(b"a");
        console.shows("Enter answer");
        console.keys(b"\r");
        console.shows("allow this call");
        console.shows("touch made");
        read_it();
    };
    assert_eq!(printed(tell("user")), "");
    console.shows(&format!("{agent} working"));
    let asked = tell("asked");
    card();
    console.keys(b"y");
    assert_eq!(printed(asked).trim_end(), r#"{"reply":"once"}"#);
    console.shows("q01 answered");

    let asked = tell("asked");
    card();
    console.keys(b"n");
    console.shows("refuse, with these words");
    console.keys(b"use make\r");
    let answer: Value = serde_json::from_str(&printed(asked)).expect("JSON");
    assert_eq!(answer, json!({"reply": "reject", "message": "use make"}));
    console.wait_for("the card is gone", |screen| !screen.contents().contains("asks: bash"));

    let asked = tell("asked");
    card();
    assert_eq!(printed(tell("replied")), "");
    console.shows("It was answered in the agent.");
    console.keys(b"y");
    assert_eq!(printed(asked), "");
    console.keys(b"\x1b");
    console.shows(" OBSERVE ");

    console.keys(b"!");
    console.shows("as your words");
    console.keys(b"use make\r");
    console.shows("1 unread");
    let answer: Value = serde_json::from_str(&printed(tell("used"))).expect("JSON");
    assert_eq!(answer, json!({"words": "the operator says: use make"}));
    assert_eq!(printed(tell("idle")), "");
    console.shows(&format!("{agent} idle"));
}

#[test]
fn opencode_is_answered_here_or_there() {
    plugin_answers("opencode");
}

#[test]
fn kilo_is_answered_here_or_there() {
    plugin_answers("kilo");
}

/// Codex and Qwen Code: shown at once, and answered there.
fn shows_prompts(agent: &str, tool: &str) {
    let (home, reports) = (Home::new(), reports(agent));
    let console = opened(&home);
    let tell = |name: &str| printed(hook_of(&home, agent, &reports[name]));
    assert_eq!(tell("user"), "");
    console.shows(&format!("{agent} working"));
    // The agent asks only once its hook has ended, which waits for nobody.
    assert_eq!(tell("asked"), "");
    console.shows(&format!("{agent} asks: {tool}"));
    console.keys(b"a");
    console.shows("Enter answer");
    console.keys(b"\r");
    console.shows("Answer it in the agent's own window.");
    console.shows("touch made");
    console.shows("no cost computed");
    read_it();
    console.keys(b"y");
    console.shows("only in its own window");
    assert_eq!(tell("used"), "");
    console.shows("It was answered in the agent.");
    console.keys(b"\x1b");
    console.shows(" OBSERVE ");

    console.keys(b"!");
    console.shows("as your words");
    console.keys(b"use make\r");
    console.shows("1 unread");
    let answer: Value = serde_json::from_str(&tell("used")).expect("JSON");
    let words = json!({"hookEventName": "PostToolUse", "additionalContext": "the operator says: use make"});
    assert_eq!(answer["hookSpecificOutput"], words);
}

#[test]
fn codex_shows_its_prompts_here_and_takes_answers_there() {
    shows_prompts("codex", "Bash");
}

#[test]
fn qwen_shows_its_prompts_here_and_takes_answers_there() {
    shows_prompts("qwen", "run_shell_command");
}
