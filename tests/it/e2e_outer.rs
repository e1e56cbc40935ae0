//! Answers of the terminal around the console: used if they come in time, and never mistaken for keys.

use std::time::{Duration, Instant};

use crate::support::{Console, Home, wait_until};

const SIZE: (u16, u16) = (100, 30);

fn open(home: &Home, args: &[&str], size: (u16, u16)) -> Console {
    let mut program = home.command(args);
    program.env("TERM", "xterm-256color").env("COLORTERM", "truecolor").env("LANG", "C.UTF-8");
    program.env_remove("LC_ALL").env_remove("NO_COLOR").env_remove("CLICOLOR").env_remove("ACCESSIBLE");
    Console::of(&program, size)
}

fn holds(bytes: &[u8], part: &str) -> bool {
    bytes.windows(part.len()).any(|window| window == part.as_bytes())
}

/// Waits until the last query has been sent.
fn asked(console: &Console) {
    wait_until("the terminal is asked", || holds(&console.bytes(), "\x1b[c"));
}

/// The answers of a terminal with a light background on which a test character takes this many columns.
fn light(columns: u16) -> Vec<u8> {
    let mut all = String::from("\x1b]10;rgb:6565/7b7b/8383\x1b\\\x1b]11;rgb:fdfd/f6f6/e3e3\x1b\\");
    for index in 0..16 {
        all.push_str(&format!("\x1b]4;{index};rgb:{index:02x}/10/10\x07"));
    }
    all.push_str(&format!("\x1b[2;{}R\x1b[?62;22c", columns + 1));
    all.into_bytes()
}

/// Exits the console with its keys: they work as usual.
fn leaves(console: &mut Console) {
    console.keys(b"q");
    assert_eq!(console.exit(), 0);
    console.is_as_it_was();
}

#[test]
fn a_light_background_and_wide_marks_change_what_is_drawn() {
    let home = Home::new();
    let mut console = open(&home, &[], SIZE);
    // At once: answers that come a second later are not used any more.
    asked(&console);
    console.keys(&light(2));
    console.wait_for("only ASCII", |screen| {
        screen.contents().contains("no agent") && screen.contents().is_ascii()
    });
    wait_until("the light theme", || holds(&console.bytes(), "38;2;"));
    leaves(&mut console);
}

#[test]
fn a_terminal_that_never_answers_is_not_waited_for() {
    let home = Home::new();
    let mut console = open(&home, &[], SIZE);
    console.shows("no agent yet");
    assert!(!holds(&console.bytes(), "38;2;"), "the sixteen colours of the terminal");
    console.keys(b"o");
    console.shows(" START ");
    console.keys(b"\x1b");
    console.shows(" OBSERVE ");
    leaves(&mut console);
}

#[test]
#[expect(clippy::disallowed_methods, reason = "an answer is late in real time")]
fn an_answer_that_is_late_broken_or_cut_is_no_key() {
    let home = Home::new();
    let mut console = open(&home, &[], SIZE);
    asked(&console);
    console.shows("no agent yet");
    let begun = Instant::now();
    wait_until("nobody waits for answers any more", || begun.elapsed() > Duration::from_millis(1_300));
    let typed = |console: &Console, text: &str| {
        console.wait_for(&format!("{text:?} and nothing else"), |screen| {
            let all = screen.contents();
            all.contains(text) && !all.contains("rgb") && !all.contains("11;")
        });
    };
    console.keys(b"oecho a");
    console.keys(&light(2));
    console.keys(b"b");
    typed(&console, "echo ab");
    assert!(!console.text().is_ascii(), "what comes late changes nothing");
    console.keys(b"\x1b]11;no colour at all\x07\x1b]4;300;rgb:1/2/3\x1b\\\x1b]10;rgb:\x1b[?1;2c");
    console.keys(b"c");
    typed(&console, "echo abc");
    let answers = light(1);
    let mut rest = &answers[..];
    while !rest.is_empty() {
        // Without its third byte, the beginning of an answer soon counts as a key that was pressed.
        let begins = matches!(rest, [0x1b, b']' | b'[', ..]);
        let (next, later) = rest.split_at(if begins { 3 } else { 1 });
        console.keys(next);
        rest = later;
    }
    console.keys(b"d\x1b[2;2Re");
    typed(&console, "echo abcde");
    console.keys(b"\x1b");
    console.shows(" OBSERVE ");
    leaves(&mut console);
}

#[test]
fn answers_between_keys_leave_the_keys_alone() {
    let home = Home::new();
    let mut console = open(&home, &[], SIZE);
    asked(&console);
    let mut bytes = b"o".to_vec();
    bytes.extend(light(1));
    bytes.extend(b"echo \xc3\xa9");
    console.keys(&bytes);
    console.shows("echo é");
    console.keys(b"\x1b");
    console.shows(" OBSERVE ");
    leaves(&mut console);
}

/// Shows what its terminal sends, having asked for all there is to ask for.
const LISTENS: &str = "ostty raw -echo; printf '\\033[?1004h\\033[?1003h\\033[?1006h\\033[>1u\\033]11;?\\033\\\\listens '; exec cat -v\r";

#[test]
fn a_program_in_a_pane_is_served_from_the_terminal_around_it() {
    let home = Home::new();
    let mut console = open(&home, &[], SIZE);
    asked(&console);
    let answers = String::from_utf8(light(1)).expect("text").replace("\x1b[?62", "\x1b[?0u\x1b[?62");
    console.keys(answers.as_bytes());
    wait_until("keys are told apart", || holds(&console.bytes(), "\x1b[>1u"));
    console.keys(LISTENS.as_bytes());
    console.shows("listens");
    console.shows("]11;rgb:fdfd/f6f6/e3e3");
    console.shows("^[[I");
    wait_until("the mouse is followed", || holds(&console.bytes(), "\x1b[?1003h"));
    // A terminal whose keys have codes of their own sends these.
    console.keys(b"\x1b[13;2u\x1b[13;5u\x1b[9;5u\x1b[27u\x1b[57414u");
    console.shows("^[[13;2u^[[13;5u^[[9;5u^[[27u^M");
    console.keys(b"\x1b[<35;30;12M");
    console.shows("^[[<35;");
    console.keys(b"\x1b[O");
    console.shows("^[[O");
    console.keys(b"\x1b[93;5u");
    console.shows(" OBSERVE ");
    wait_until("the mouse is left alone", || holds(&console.bytes(), "\x1b[?1003l"));
    console.stop_all_and_quit();
    console.is_as_it_was();
    let bytes = String::from_utf8_lossy(&console.bytes()).into_owned();
    let (keys, screen) = (bytes.rfind("\x1b[<u"), bytes.rfind("\x1b[?1049l"));
    assert!(
        keys.is_some() && keys < screen,
        "its keys are as they were, on the screen on which they were changed"
    );
}

#[test]
fn the_doctor_says_what_the_terminal_answered() {
    let home = Home::new();
    let console = open(&home, &["doctor", "--output", "plain"], (120, 80));
    asked(&console);
    let mut answers = b"\x1b[1;3R".to_vec();
    answers.extend(String::from_utf8_lossy(&light(2)).replace("\x1b[2;3R", "\x1b[1;3R").into_bytes());
    console.keys(&answers);
    console.wait_for("what it found", |screen| {
        let all = screen.contents();
        all.contains("16 of 16 colours reported") && all.contains("draws with ASCII")
    });
}
