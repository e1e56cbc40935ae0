//! Pastes into the console: one edit of any line, refused whole when too long, and never a key or an answer.

use std::time::Duration;

use pilothouse::console::app::App;
use pilothouse::console::app::layer::Layer;
use pilothouse::console::keys::decode::{KeyDecoder, TerminalInput};
use pilothouse::console::msg::{Effect, Msg};
use pilothouse::link::{Act, Request};
use pilothouse::model::{Decision, TypedInput};

use crate::console_fixture::{console, press, select, shown, snapshot};
use crate::console_held::{call, looked_at, ruled};
use crate::support::{Agent, Desk, Home, heard};

/// The keys that open each line, after task 5 was selected.
const LINES: [(&str, &[&str]); 12] = [
    ("start", &["o"]),
    ("line for a task", &["i"]),
    ("filter of tasks", &["/"]),
    ("search", &["Tab", "/"]),
    ("search of all tasks", &["\\"]),
    ("name", &[","]),
    ("rule to watch", &["W"]),
    ("list of filters", &["f"]),
    ("places", &["@"]),
    ("palette", &[":"]),
    ("words for an agent", &["!"]),
    ("filter of calls", &["3", "/"]),
];

fn opened(keys: &[&str]) -> App {
    let mut app = console(snapshot(), (120, 40));
    select(&mut app, 5);
    let _ = press(&mut app, keys);
    app
}

fn paste(app: &mut App, text: impl Into<String>) -> Vec<Effect> {
    app.update(Msg::Paste(text.into()))
}

/// Whether anything was done that changes something.
fn acts(effects: &[Effect]) -> bool {
    effects.iter().any(|effect| match effect {
        Effect::Ask(request) => {
            !matches!(request, Request { act: Act::Record, .. } | Request { act: Act::Usage(_), .. })
        }
        effect => matches!(effect, Effect::AskAt(..) | Effect::Quit(_) | Effect::Rerun { .. }),
    })
}

#[test]
fn f51_a_paste_is_one_edit_of_any_line_or_refused_with_the_limit() {
    let huge = "a line of five megabytes; ".repeat(200_000);
    for (line, keys) in LINES {
        let mut app = opened(keys);
        let before = shown(&app);
        assert!(!acts(&paste(&mut app, huge.clone())), "{line}");
        let told = shown(&app);
        assert!(told.contains("was not taken: this line holds"), "{line}\n{told}");
        assert!(!told.contains("megabytes"), "{line}\n{told}");
        let _ = paste(&mut app, "so\rmuch\n");
        assert!(shown(&app).contains("so⏎much"), "{line}\n{}", shown(&app));
        let _ = press(&mut app, &["Home"]);
        let _ = paste(&mut app, "not ");
        assert!(shown(&app).contains("not so⏎much"), "{line}: where the cursor is\n{}", shown(&app));
        let _ = press(&mut app, &["Esc"]);
        assert!(!shown(&app).contains("so⏎much"), "{line}: left at once\n{before}");
    }
}

#[test]
fn f51_a_long_line_is_drawn_at_its_cursor_and_is_full_at_its_limit() {
    let mut app = opened(&["o"]);
    let _ = paste(&mut app, format!("begins {} ends", "é".repeat(30_000)));
    assert!(shown(&app).contains("éé ends"), "{}", shown(&app));
    let _ = press(&mut app, &["Home"]);
    assert!(shown(&app).contains("begins éé"), "{}", shown(&app));
    let _ = paste(&mut app, "x".repeat(64 << 10));
    assert!(shown(&app).contains("was not taken: this line holds"), "{}", shown(&app));
    let _ = paste(&mut app, "x".repeat((64 << 10) - 60_012));
    let _ = press(&mut app, &["y"]);
    assert!(shown(&app).contains("the line is full"), "{}", shown(&app));
    let ran = press(&mut app, &["Enter"]);
    assert!(acts(&ran), "it is a command like any other");
}

#[test]
fn f50_pasted_text_answers_no_dialog() {
    let dialogs: [(&str, &[&str]); 7] = [
        ("stop", &["s"]),
        ("kill", &["S"]),
        ("signal", &["x"]),
        ("restart", &["r"]),
        ("quit", &["q"]),
        ("attention", &["a"]),
        ("details", &["w"]),
    ];
    let answers = ["y", "yes\r", "s", "1", "d", "\r", "k\ry\r", "qq", "\x1b"];
    for (dialog, keys) in dialogs {
        let mut app = opened(keys);
        assert_eq!(app.layers.len(), 1, "{dialog} opens");
        for answer in answers {
            assert!(!acts(&paste(&mut app, answer)), "{dialog}: {answer:?}");
            assert_eq!(app.layers.len(), 1, "{dialog}: {answer:?}");
        }
        assert!(shown(&app).contains("a paste is no answer here"), "{dialog}\n{}", shown(&app));
    }
    for reason in [ruled(), pilothouse::model::HoldReason::Paused] {
        let mut app = looked_at(vec![call(1, &["git push"], reason)], (120, 40));
        for answer in answers.into_iter().chain(["e", "w", "n", "p"]) {
            assert!(!acts(&paste(&mut app, answer)), "{answer:?}");
            assert!(matches!(app.layers[..], [Layer::Approval(_)]), "{answer:?}");
        }
        assert!(acts(&press(&mut app, &["y"])), "a key answers");
    }
}

#[test]
fn f51_a_paste_for_a_task_is_sent_up_to_its_limit_and_asked_about_as_fast_as_a_short_one() {
    let mut app = opened(&["Enter"]);
    let sent = |effects: &[Effect], bytes: usize| matches!(effects, [Effect::Ask(Request { act: Act::Send(TypedInput::Paste(text)), .. })] if text.len() == bytes);
    assert!(sent(&paste(&mut app, "x".repeat(1 << 20)), 1 << 20));
    assert!(!acts(&paste(&mut app, "x".repeat((1 << 20) + 1))));
    assert!(shown(&app).contains("was not taken: a task takes 1.0 MiB at most"), "{}", shown(&app));
    assert!(!acts(&paste(&mut app, "several\rlines ".repeat(400_000))));
    assert!(app.layers.is_empty(), "nothing is asked about what cannot be sent");
    assert!(!acts(&paste(&mut app, "several\rlines ".repeat(70_000))));
    assert!(shown(&app).contains("paste 70,001 lines"), "{}", shown(&app));
    assert!(sent(&press(&mut app, &["y"]), 14 * 70_000));
}

/// A console, and what its terminal sends, and when.
struct Typed {
    app: App,
    decoder: KeyDecoder,
    at: Duration,
}

impl Typed {
    fn into(app: App) -> Self {
        Self { app, decoder: KeyDecoder::default(), at: Duration::ZERO }
    }

    fn sends(&mut self, bytes: &str) -> Vec<Effect> {
        let sent = self.decoder.feed(self.at, bytes.as_bytes());
        self.hear(sent)
    }

    /// Sends nothing for ten seconds.
    fn rests(&mut self) -> Vec<Effect> {
        let (mut effects, until) = (Vec::new(), self.at + Duration::from_secs(10));
        while let Some(due) = self.decoder.due().filter(|due| *due <= until) {
            let late = self.decoder.time_out(due);
            effects.extend(self.hear(late));
        }
        self.at = until;
        effects
    }

    fn hear(&mut self, sent: Vec<TerminalInput>) -> Vec<Effect> {
        let app = &mut self.app;
        let hear = |msg| {
            let effects = app.update(msg);
            app.mark_drawn();
            effects
        };
        sent.into_iter().filter_map(heard).flat_map(hear).collect()
    }

    /// Pastes two pieces; between them is a pause much longer than any key has.
    #[track_caller]
    fn pastes_torn(&mut self, first: &str, second: &str) {
        let mut done = self.sends(&format!("\x1b[200~{first}"));
        done.extend(self.rests());
        assert!(shown(&self.app).contains("a paste has not ended"), "{}", shown(&self.app));
        done.extend(self.sends(&format!("{second}\x1b[201~")));
        assert!(!acts(&done), "{done:?}");
    }

    #[track_caller]
    fn shows(&self, text: &str) {
        assert!(shown(&self.app).contains(text), "{text}\n{}", shown(&self.app));
    }
}

#[test]
fn f50_a_torn_paste_approves_nothing() {
    let mut typed = Typed::into(looked_at(vec![call(1, &["git push"], ruled())], (100, 30)));
    typed.pastes_torn("", "yes\r");
    typed.shows("a paste is no answer here");
    // Answered by a key, after all that was pasted.
    assert!(!acts(&typed.sends("n")));
    typed.shows("why not?");
    let denied = typed.sends("no\r");
    assert!(
        matches!(&denied[..], [Effect::Ask(Request { act: Act::Decide { decision: Decision::Deny { note }, .. }, .. })] if note == "no"),
        "{denied:?}"
    );
}

#[test]
fn f50_a_torn_paste_into_a_task_is_asked_about() {
    let mut typed = Typed::into(opened(&["Enter"]));
    typed.shows(" INPUT t05");
    typed.pastes_torn("touch one\r", "touch two\r");
    typed.shows("paste 2 lines");
    let left = [typed.sends("\x1b"), typed.rests()].concat();
    assert!(!acts(&left), "{left:?}");
    typed.shows(" INPUT t05");
    assert!(!shown(&typed.app).contains("paste 2 lines"));
    let sent = typed.sends("l\r");
    let is_keys =
        |effect: &Effect| matches!(effect, Effect::Ask(Request { act: Act::Send(TypedInput::Keys(_)), .. }));
    assert!(sent.len() == 2 && sent.iter().all(is_keys), "keys reach it as before: {sent:?}");
}

#[test]
fn f50_torn_reports_and_answers_are_no_keys() {
    let mut typed = Typed::into(opened(&[]));
    for (head, tail) in [
        ("\x1b[<0;10", ";12M"),
        ("\x1b[<0;10;1", "2m"),
        ("\x1b]11;rgb:00", "00/0000/0000q\x07"),
        ("\x1b[", "<35;10;12M"),
        ("\x1b", "[<35;10;12M"),
    ] {
        let torn = [typed.sends(head), typed.rests(), typed.sends(tail)].concat();
        assert!(!acts(&torn) && typed.app.layers.is_empty(), "{head}: {torn:?}");
        let _ = typed.sends("?");
        typed.shows("─ help: ");
        let _ = [typed.sends("\x1b"), typed.rests()];
        assert!(!shown(&typed.app).contains("─ help: "), "{head}");
    }
}

#[test]
fn f50_escape_leaves_a_paste_that_never_ends() {
    let mut typed = Typed::into(opened(&[]));
    let pasted = [typed.sends("\x1b[200~quit q"), typed.rests()].concat();
    typed.shows("a paste has not ended");
    let left = [typed.sends("\x1b"), typed.rests()].concat();
    assert!(!acts(&pasted) && !acts(&left), "{pasted:?} {left:?}");
    typed.shows("a paste without an end was dropped, 6 B");
    let _ = typed.sends("?");
    typed.shows("─ help: ");
}

#[test]
fn f51_a_long_paste_reaches_a_program_that_reads_it() {
    let home = Home::new();
    let agent = Agent::here(&home, None);
    agent.task(
        "stty raw -echo; echo ready; head -c 900000 | wc -c > size; stty sane; echo done; exec sleep 1000",
    );
    // Attached over a socket.
    let mut desk = Desk::open(&home, (100, 30));
    desk.shows("ready");
    desk.keys(b"\r");
    desk.shows(" INPUT t01");
    desk.keys(format!("\x1b[200~{}\x1b[201~", "\x01\"x".repeat(300_000)).as_bytes());
    desk.shows("done");
    assert_eq!(std::fs::read_to_string(home.workspace().join("size")).expect("a size").trim(), "900000");
    // More than a task takes is refused, and the console is still attached.
    desk.keys(format!("\x1b[200~{}\x1b[201~", "x".repeat(5 << 20)).as_bytes());
    desk.shows("was not taken: a task takes 1.0 MiB at most");
    desk.keys(b"\x1d");
    desk.shows(" OBSERVE ");
}
