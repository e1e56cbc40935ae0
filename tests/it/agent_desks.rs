//! What the hooks of further agents tell, in their own words, and what they are told: payloads of the real programs.

use std::collections::BTreeMap;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::agent_prompts::{ALLOW, hook_of, opened, printed};
use crate::shell_door::Door;
use crate::support::{Console, Home, read_it, send, wait_until};

/// The reports of a real session of an agent, by name.
fn reports(agent: &str) -> BTreeMap<String, Value> {
    let path = format!("{}/tests/corpus/hooks/{agent}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).expect("reports")).expect("JSON")
}

/// Opens the card of the one prompt, and reads it.
fn open_card(console: &Console, asks: &str) {
    console.shows(asks);
    console.keys(b"a");
    console.shows("Enter answer");
    console.keys(b"\r");
    console.shows("allow this call");
    console.shows("touch made");
    read_it();
}

/// opencode and Kilo: answered here, answered there, words.
fn plugin_answers(agent: &str) {
    let (home, reports) = (Home::new(), reports(agent));
    let console = opened(&home);
    let tell = |name: &str| hook_of(&home, agent, &reports[name]);
    let card = || open_card(&console, &format!("{agent} asks: bash"));
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

    write_words(&console, "as your words");
    let answer: Value = serde_json::from_str(&printed(tell("used"))).expect("JSON");
    assert_eq!(answer, json!({"words": SAID}));
    assert_eq!(printed(tell("idle")), "");
    console.shows(&format!("{agent} idle"));
}

#[test]
fn a_prompt_of_opencode_is_answered_in_the_console_or_in_the_agent() {
    plugin_answers("opencode");
}

#[test]
fn a_prompt_of_kilo_is_answered_in_the_console_or_in_the_agent() {
    plugin_answers("kilo");
}

const SAID: &str = "the operator says: use make";

/// What hands words over, where that is as in Claude Code.
fn words_with_use() -> Value {
    json!({"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": SAID}})
}

/// Writes words to the agent.
fn write_words(console: &Console, promise: &str) {
    console.keys(b"!");
    console.shows(promise);
    console.keys(b"use make\r");
    console.shows("1 unread");
}

/// Codex, Qwen Code and Copilot CLI: shown at once, and answered there.
fn shows_prompts(agent: &str, tool: &str, words: &Value) {
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
    // Qwen Code says as well that the call begins.
    assert_eq!(tell(if reports.contains_key("begun") { "begun" } else { "used" }), "");
    console.shows("It was answered in the agent.");
    console.keys(b"\x1b");
    console.shows(" OBSERVE ");

    write_words(&console, "as your words");
    let answer: Value = serde_json::from_str(&tell("used")).expect("JSON");
    assert_eq!(answer, *words);
    if reports.contains_key("idle") {
        assert_eq!(tell("idle"), "");
        console.shows(&format!("{agent} idle"));
    }
}

#[test]
fn codex_shows_its_prompts_in_the_console_and_takes_answers_in_the_agent() {
    shows_prompts("codex", "Bash", &words_with_use());
}

#[test]
fn qwen_shows_its_prompts_in_the_console_and_takes_answers_in_the_agent() {
    shows_prompts("qwen", "run_shell_command", &words_with_use());
}

#[test]
fn copilot_shows_its_prompts_in_the_console_and_takes_answers_in_the_agent() {
    shows_prompts("copilot", "Bash", &json!({"additionalContext": SAID}));
}

#[test]
fn a_prompt_of_copilot_goes_with_the_call_that_it_was_about() {
    let (home, reports) = (Home::new(), reports("copilot"));
    let console = opened(&home);
    let tell = |name: &str| printed(hook_of(&home, "copilot", &reports[name]));
    assert_eq!(tell("user"), "");
    for (call, asks, told) in [
        ("edit", "copilot asks: Edit file", "work space/new.txt"),
        ("server", "copilot asks: Use MCP tool", "pilothouse-ExecCommand"),
        // It has a session of its own, whose prompts are its parent's.
        ("child", "copilot asks: Bash", "touch kid"),
    ] {
        assert_eq!(tell(&format!("{call}_asked")), "");
        console.shows(asks);
        console.shows(told);
        assert_eq!(tell("used"), "", "another call");
        assert!(console.text().contains(asks), "{}", console.text());
        assert_eq!(tell(&format!("{call}_used")), "");
        console.wait_for("nothing waits", |screen| !screen.contents().contains("copilot asks"));
    }
    assert_eq!(tell("dialog"), "");
    console.shows("copilot needs you");
    assert_eq!(tell("child_user"), "");
    assert_eq!(tell("child_idle"), "");
    assert_eq!(tell("edit_used"), "");
    console.shows("copilot working");

    write_words(&console, "as your words");
    assert_eq!(tell("failed"), "", "it would not pass them on");
    let answer: Value = serde_json::from_str(&tell("edit_used")).expect("JSON");
    assert_eq!(answer, json!({"additionalContext": SAID}));
}

/// What a console shows of Codex and Qwen Code where their prompts are to wait for it.
fn holds_prompts(agent: &str, tool: &str) {
    let (home, reports) = (Home::new(), reports(agent));
    home.configure("config.toml", "[agents]\nhold_prompts = true\n");
    let console = opened(&home);
    let asked = || hook_of(&home, agent, &reports["asked"]);
    let card = || open_card(&console, &format!("{agent} asks: {tool}"));
    let allowed = asked();
    card();
    console.keys(b"y");
    assert_eq!(printed(allowed).trim_end(), ALLOW);
    console.shows("q01 answered");

    let refused = asked();
    card();
    console.keys(b"n");
    console.shows("refuse, with these words");
    console.keys(b"use make\r");
    let answer: Value = serde_json::from_str(&printed(refused)).expect("JSON");
    let decision = json!({"behavior": "deny", "message": "use make"});
    assert_eq!(answer["hookSpecificOutput"]["decision"], decision);
    console.wait_for("the card is gone", |screen| !screen.contents().contains("asks:"));

    // The agent ends a hook that takes too long, and shows its own prompt: the same call, but no key answers it.
    let mut ended = asked();
    card();
    send(ended.id(), Signal::TERM);
    wait_until("the hook ends", || ended.try_wait().expect("waited").is_some());
    console.shows("no longer open");
    console.keys(b"y");
    console.keys(b"\x1b");
    console.shows(" OBSERVE ");
    console.shows(&format!("{agent} asks: {tool}"));
    console.keys(b"a");
    console.shows("Enter answer");
    console.keys(b"\r");
    console.shows("Answer it in the agent's own window.");
    assert_eq!(printed(hook_of(&home, agent, &reports["used"])), "");
    console.shows("It was answered in the agent.");
}

#[test]
fn a_prompt_of_codex_waits_where_the_person_wants_that() {
    holds_prompts("codex", "Bash");
}

#[test]
fn a_prompt_of_qwen_waits_where_the_person_wants_that() {
    holds_prompts("qwen", "run_shell_command");
}

#[test]
fn a_prompt_that_waited_in_vain_is_answered_in_the_agent() {
    let (home, reports) = (Home::new(), reports("codex"));
    home.configure("config.toml", "[agents]\nhold_prompts = true\n");
    let console = opened(&home);
    let asked = hook_of(&home, "codex", &reports["asked"]);
    console.shows("codex asks: Bash");
    console.keys(b"a");
    console.shows("Enter answer");
    console.keys(b"\r");
    console.shows("allow this call");
    assert_eq!(printed(asked), "", "after 20 s");
    console.keys(b"\x1b");
    console.shows(" OBSERVE ");
    console.keys(b"a");
    console.shows("Enter answer");
    console.keys(b"\r");
    console.shows("Answer it in the agent's own window.");
}

#[test]
fn pi_has_a_row_receipts_and_words_and_asks_nothing() {
    let (door, reports) = (Door::new(), reports("pi"));
    let console = opened(&door.home);
    let tell = |name: &str| printed(hook_of(&door.home, "pi", &reports[name]));
    // What is on record of a command, once that has what its model read.
    let wait_for = |cmd: &str| {
        let mut shown = Value::Null;
        wait_until("what its model read", || {
            let listed = door.json(&["receipt", "list", "--output", "json"])["data"]["receipts"].clone();
            let ids =
                listed.as_array().expect("receipts").iter().map(|row| row["id"].as_str().expect("an id"));
            let all = ids.map(|id| door.json(&["receipt", "show", id, "--output", "json"])["data"].clone());
            shown = all.into_iter().find(|one| one["input"]["cmd"] == cmd).unwrap_or_default();
            shown["native"].is_object()
        });
        shown
    };
    assert_eq!(tell("began"), "");
    console.shows("pi idle");
    assert_eq!(tell("user"), "");
    console.shows("pi working");
    for name in ["used", "cut", "failed"] {
        let event = &reports[name]["event"];
        let cmd = event["input"]["command"].as_str().expect("a command");
        let session = reports[name]["session"].as_str().expect("a session");
        let mut call = door.call(true, cmd);
        call.env("PI_CODING_AGENT", "true").env("PI_SESSION_ID", session);
        assert_eq!(call.output().expect("runs").status.success(), name != "failed");
        assert_eq!(tell(name), "");
        let shown = wait_for(cmd);
        assert_eq!(shown["receipt"], event["text"], "{shown}");
        let native = &shown["native"];
        assert_eq!(
            (native["is_cut"] == true, native["is_failure"] == true),
            (name == "cut", name == "failed")
        );
    }
    write_words(&console, "With its next answer, or a command that fails");
    assert_eq!(
        printed(hook_of(&door.home, "pi", &reports["used"])).trim_end(),
        json!({"words": SAID}).to_string()
    );
    assert_eq!(tell("idle"), "");
    console.shows("pi idle");
    assert!(!console.text().contains("pi asks"), "{}", console.text());
}
