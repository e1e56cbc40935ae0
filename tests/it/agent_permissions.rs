//! What a person permits beyond one prompt of an agent: all of a turn, or what is alike for a while.

use std::collections::VecDeque;
use std::process::{Child, Stdio};

use pilothouse::agents::{HookEvent, PromptVerdict};
use pilothouse::clock::Clock;
use pilothouse::envelope::Actor;
use pilothouse::model::{AnswerInput, AnswerValue, READING};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::agent_prompts::{ALLOW, Desk, call, hook, opened, printed, read_card, report, told};
use crate::shell_door::Door;
use crate::support::{Agent, Console, Home, program_word, read_it, send, wait_until};

/// The rows of all recordings, as text.
fn record(home: &Home) -> String {
    let recordings = std::fs::read_dir(home.places().recordings()).into_iter().flatten().flatten();
    let rows = recordings.map(|recording| recording.path().join("journal-0001.jsonl"));
    rows.map(|rows| std::fs::read_to_string(rows).unwrap_or_default()).collect()
}

fn edit(session: &str) -> Value {
    let mut told = told("PermissionRequest", session, "");
    told["tool_name"] = json!("Edit");
    told["tool_input"] = json!({"file_path": "/w/a", "old_string": "a", "new_string": "b"});
    told
}

/// A prompt that is asked about, and answered with a key.
fn answered(home: &Home, console: &Console, cmd: &str, key: &[u8]) {
    let asked = hook(home, &told("PermissionRequest", "s1", cmd));
    read_card(console);
    console.keys(key);
    assert_eq!(printed(asked).trim_end(), ALLOW);
    console.shows("q01 answered");
}

#[test]
fn a_permission_for_a_turn_allows_its_prompts_until_the_turn_ends() {
    let home = Home::new();
    let console = opened(&home);
    answered(&home, &console, "touch x", b"t");
    console.shows("ALLOWED this turn");
    for permitted in [told("PermissionRequest", "s1", "rm x && ls"), edit("s1")] {
        assert_eq!(printed(hook(&home, &permitted)).trim_end(), ALLOW);
    }
    assert!(!console.text().contains("waits for you"), "{}", console.text());
    let rows = record(&home);
    assert!(rows.contains("\"approve_turn\"") && rows.contains("\"operator\""), "{rows}");
    assert_eq!(rows.matches("\"principal\":\"permission:1\"").count(), 2, "{rows}");
    // Neither another session, nor the next turn of this one.
    let other = hook(&home, &told("PermissionRequest", "s2", "touch x"));
    console.shows("asks: Bash");
    assert_eq!(printed(hook(&home, &told("SessionEnd", "s2", ""))), "");
    assert_eq!(printed(other), "");
    assert_eq!(printed(hook(&home, &told("Stop", "s1", ""))), "");
    console.wait_for("the turn is over", |screen| !screen.contents().contains("ALLOWED"));
    let asked = hook(&home, &edit("s1"));
    console.shows("asks: Edit");
    assert_eq!(printed(hook(&home, &told("SessionEnd", "s1", ""))), "");
    assert_eq!(printed(asked), "");
    assert!(record(&home).contains("\"why\":\"turn\""), "{}", record(&home));
}

#[test]
fn a_permission_for_alike_commands_holds_until_a_key_ends_it() {
    let home = Home::new();
    let console = opened(&home);
    let asked = hook(&home, &told("PermissionRequest", "s1", "ls a"));
    read_card(&console);
    console.shows("alike: commands that begin with: ls, in this directory");
    console.keys(b"l");
    assert_eq!(printed(asked).trim_end(), ALLOW);
    console.shows("ALLOWED 14m");
    let alike = told("PermissionRequest", "s1", "ls b");
    assert_eq!(printed(hook(&home, &alike)).trim_end(), ALLOW);
    for other in ["ls && touch x", "ls > x", "ls $(touch x)", "ls; ls", "stat a"] {
        let asked = hook(&home, &told("PermissionRequest", "s1", other));
        console.shows("claude-code asks: Bash");
        assert_eq!(printed(hook(&home, &told("PostToolUse", "s1", other))), "", "{other}");
        assert_eq!(printed(asked), "", "{other}");
        console.wait_for("it is gone", |screen| !screen.contents().contains("asks: Bash"));
    }
    console.keys(b"J");
    console.shows("asked about again: claude-code, commands that begin with: ls");
    console.wait_for("the permission is over", |screen| !screen.contents().contains("ALLOWED"));
    let asked = hook(&home, &alike);
    read_card(&console);
    console.shows("like it: allowed twice in this session");
    console.keys(b"y");
    assert_eq!(printed(asked).trim_end(), ALLOW);
    assert!(record(&home).contains("\"why\":\"revoked\""), "{}", record(&home));
}

#[test]
fn a_permission_ends_with_a_pause_and_has_no_effect_without_a_console() {
    let home = Home::new();
    let mut served = home.serve();
    let mut console = opened(&home);
    answered(&home, &console, "touch x", b"t");
    console.shows("ALLOWED this turn");
    console.kill(Signal::KILL);
    console.exit();
    let again = told("PermissionRequest", "s1", "touch x");
    assert_eq!(printed(hook(&home, &again)), "", "no console");
    let console = opened(&home);
    console.shows("ALLOWED this turn");
    assert_eq!(printed(hook(&home, &again)).trim_end(), ALLOW);
    console.keys(b"p");
    console.shows("PAUSED");
    console.wait_for("the permission is over", |screen| !screen.contents().contains("ALLOWED"));
    let asked = hook(&home, &again);
    read_card(&console);
    // None is given while agents are paused.
    console.keys(b"t");
    console.shows("agents are paused");
    console.keys(b"y");
    assert_eq!(printed(asked).trim_end(), ALLOW);
    assert!(!console.text().contains("ALLOWED"), "{}", console.text());
    drop(console);
    home.stop(&mut served);
}

#[test]
fn a_process_below_a_task_neither_uses_a_permission_nor_makes_one() {
    let home = Home::new();
    let console = opened(&home);
    answered(&home, &console, "touch x", b"t");
    console.shows("ALLOWED this turn");
    let agent = Agent::connect(&home, &[]);
    std::fs::write(home.workspace().join("asked"), told("PermissionRequest", "s1", "touch x").to_string())
        .expect("written");
    let attempt = format!("{} hook claude < asked; echo code $?", program_word());
    let ran = agent.call("ExecCommand", &json!({"cmd": attempt, "yield_time_ms": 60_000}));
    assert_eq!(ran.result("/stdout_preview"), "code 0\n");
    // The tool for answers takes none to a prompt, whatever it permits.
    let asked = hook(&home, &told("PermissionRequest", "s2", "touch y"));
    console.shows("asks: Bash");
    let rows = record(&home);
    let id = rows.rsplit("\"id\":\"question_").next().and_then(|rest| rest.get(..8)).expect("an id");
    for answer in ["turn", "alike", "approve"] {
        let input = json!({"question_id": format!("question_{id}"), "answer": answer});
        let refused = agent.call("QuestionAnswer", &input);
        assert_eq!(refused.envelope["status"], "error", "{}", refused.envelope);
    }
    assert_eq!(record(&home).matches("\"principal\":\"permission").count(), 0);
    assert_eq!(printed(hook(&home, &told("SessionEnd", "s2", ""))), "");
    assert_eq!(printed(asked), "");
    agent.leave();
}

#[test]
fn a_command_that_a_rule_holds_too_is_one_card_and_one_answer() {
    let door = Door::new();
    door.home.configure("config.toml", "[[approvals]]\nprefix = \"touch\"\n");
    let console = opened(&door.home);
    let asked = hook(&door.home, &told("PermissionRequest", "one", "touch ran"));
    read_card(&console);
    console.shows("an approval rule asks about it as well");
    // More than this one call is not allowed so.
    console.keys(b"t");
    console.shows("it is asked about each time");
    console.keys(b"y");
    assert_eq!(printed(asked).trim_end(), ALLOW);
    let command = || {
        let mut command = door.of_claude("one", "touch ran");
        command.env("CLAUDE_PID", std::process::id().to_string());
        command
    };
    assert!(command().output().expect("runs").status.success());
    assert!(door.home.workspace().join("ran").exists());
    assert!(door.record().contains("with the agent's prompt, question 1"), "{}", door.record());
    // The same command again has not been answered.
    // As an agent runs it: on no terminal.
    let mut again = command();
    let again = again.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut again = again.spawn().expect("starts");
    console.shows("1 held");
    console.keys(b"A");
    console.shows("wants to run a command");
    read_it();
    console.keys(b"n");
    console.keys(b"\r");
    assert_eq!(again.wait().expect("ends").code(), Some(77));
}

/// Answers prompts of several sessions one after another with one key each, and returns how long that took.
fn one_after_another(prompts: usize, sessions: usize) -> std::time::Duration {
    let home = Home::new();
    let console = opened(&home);
    let prompt = |number: usize| {
        told("PermissionRequest", &format!("s{}", number % sessions), &format!("touch x{number}"))
    };
    let mut asked: VecDeque<_> = (0..prompts).map(|number| hook(&home, &prompt(number))).collect();
    console.shows(&format!("{prompts} FOR YOU"));
    console.keys(b"a");
    console.shows(&format!("{prompts} things wait for you"));
    let clock = Clock::start();
    console.keys(b"\r");
    for number in 1..=prompts {
        console.shows(&format!("─ q{number:02}  claude-code asks: Bash"));
        let shown = clock.now().mono;
        wait_until("time to read", || clock.now().mono > shown + READING + READING / 4);
        console.asks_until(b"y", &format!("q{number:02} answered"));
    }
    let took = clock.now().mono;
    while let Some(hook) = asked.pop_front() {
        assert_eq!(printed(hook).trim_end(), ALLOW);
    }
    took
}

#[test]
fn concurrent_prompts_of_several_sessions_are_answered_with_one_key_each() {
    one_after_another(9, 3);
}

#[test]
#[ignore = "half a minute; .ci/long runs it"]
fn long_all_50_prompts_of_8_sessions_are_answered_within_a_minute() {
    let took = one_after_another(50, 8);
    eprintln!("50 prompts of 8 sessions: {:.1} s", took.as_secs_f64());
    assert!(took.as_secs() < 60, "{took:?}");
}

/// Prompts race with the end of the last console, with an answer that comes late, and with the end of a permission.
async fn ends(rounds: usize) {
    let desk = Desk::open();
    let given = |value| AnswerInput { value, note: None };
    for round in 0..rounds {
        let cmd = format!("touch {round}");
        let viewer = desk.runtime.viewer();
        let asked = desk.report(report(HookEvent::Prompt(call(&cmd))));
        let card = desk.asked(&cmd).await;
        let value = if round % 3 == 0 { AnswerValue::Reject } else { AnswerValue::ApproveAlike };
        let closes = async { drop(viewer) };
        let answer = async {
            desk.runtime.answer(&Actor::Operator, None, &card.id, given(value.clone())).await.is_ok()
        };
        let is_answered = match round % 2 {
            0 => tokio::join!(closes, answer).1,
            _ => tokio::join!(answer, closes).0,
        };
        let verdict = asked.await.expect("asked");
        let is_allowed = verdict == Some(PromptVerdict::Allow);
        assert!(!is_allowed || is_answered && value == AnswerValue::ApproveAlike, "{round}: {verdict:?}");
        // Nobody is there.
        let again = desk.report(report(HookEvent::Prompt(call(&cmd))));
        assert_eq!(again.await.expect("asked"), None, "{round}: without a console");
        // The permission ends at the moment at which it would be used.
        let _viewer = desk.runtime.viewer();
        let was_given = is_answered && value == AnswerValue::ApproveAlike;
        let again = desk.report(report(HookEvent::Prompt(call(&cmd))));
        desk.runtime.revoke_permissions(&pilothouse::process::own_console_process()).await;
        let used = desk.report(report(HookEvent::Ended)).await.expect("reported");
        assert_eq!(used, None);
        let ended = report(HookEvent::Ended);
        let late = async {
            // What was asked about after that is withdrawn with its session.
            while !again.is_finished() {
                drop(desk.report(ended.clone()).await);
            }
            again.await.expect("asked")
        };
        let verdict = late.await;
        assert!(
            verdict.is_none() || verdict == Some(PromptVerdict::Allow) && was_given,
            "{round}: {verdict:?}"
        );
        assert_eq!(desk.runtime.snapshot().borrow().permissions, [], "{round}");
    }
    desk.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_end_of_a_console_or_a_permission_allows_anything() {
    ends(40).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "minutes; .ci/long runs it"]
async fn long_none_of_1000_ends_of_a_console_or_a_permission_allows_anything() {
    ends(1_000).await;
}

/// Takes out the hooks that have ended by themselves: a runtime that is too busy to admit one in time leaves the prompt to its
/// agent.
fn ended_by_themselves(asked: &mut Vec<Child>) -> usize {
    let before = asked.len();
    for mut hook in std::mem::take(asked) {
        match hook.try_wait().expect("waited") {
            Some(_) => assert_eq!(printed(hook), ""),
            None => asked.push(hook),
        }
    }
    before - asked.len()
}

/// Prompts of so many sessions at once, whose hooks are ended, as their agents do when their time is over, or whose console or
/// runtime is killed. Of five rounds, three are of hooks, and one each of a console and of a runtime.
fn kills(cycles: usize, sessions: usize) {
    let (home, clock) = (Home::new(), Clock::start());
    let mut served = home.serve();
    let mut console = opened(&home);
    let wanted = cycles * (3 * sessions + 2);
    let [mut hooks, mut consoles, mut runtimes, mut prompts, mut unasked] = [0; 5];
    let mut round = 0;
    while hooks + consoles + runtimes < wanted {
        let prompt = |session: usize| {
            told("PermissionRequest", &format!("s{session}"), &format!("touch {round}.{session}"))
        };
        let mut asked: Vec<_> = (0..sessions).map(|session| hook(&home, &prompt(session))).collect();
        // Every third of the hooks is ended at whatever it does.
        if round % 5 != 2 {
            wait_until("each prompt has a card", || {
                unasked += ended_by_themselves(&mut asked);
                asked.is_empty() || console.text().contains(&format!(" {} FOR YOU", asked.len()))
            });
        }
        prompts += asked.len();
        if round % 5 < 3 {
            for (at, asked) in asked.into_iter().enumerate() {
                send(asked.id(), if at % 2 == 0 { Signal::TERM } else { Signal::KILL });
                assert_eq!(asked.wait_with_output().expect("ends").stdout, b"", "{round}");
                hooks += 1;
            }
            console.wait_for("the cards are gone", |screen| !screen.contents().contains("FOR YOU"));
        } else {
            let is_runtime = round % 5 == 4;
            match is_runtime {
                true => send(home.runtime_pid().unsigned_abs(), Signal::KILL),
                false => console.kill(Signal::KILL),
            }
            for asked in asked {
                assert_eq!(printed(asked), "", "{round}");
            }
            console.kill(Signal::KILL);
            console.exit();
            if is_runtime {
                runtimes += 1;
                served.wait().expect("ends");
                served = home.serve();
            } else {
                consoles += 1;
            }
            console = opened(&home);
        }
        round += 1;
        if round % 25 == 0 || hooks + consoles + runtimes >= wanted {
            let seconds = clock.now().mono.as_secs();
            eprintln!(
                "{prompts} prompts (and {unasked} left to their agents): {hooks} hooks, {consoles} consoles, {runtimes} \
                 runtimes killed, 0 allowed, {seconds} s"
            );
        }
    }
    assert!(!record(&home).contains("\"approve"), "{}", record(&home));
    drop(console);
    home.stop(&mut served);
}

#[test]
fn no_kill_of_a_hook_a_console_or_a_runtime_allows_anything() {
    kills(1, 2);
}

#[test]
#[ignore = "minutes; .ci/long runs it"]
fn long_none_of_1000_kills_allows_anything() {
    kills(50, 6);
}
