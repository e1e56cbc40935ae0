//! Pastes into the console: one edit of any line, refused whole when too long, and never a key or an answer.

use pilothouse::console::app::App;
use pilothouse::console::app::layer::Layer;
use pilothouse::console::msg::{Effect, Msg};
use pilothouse::link::{Act, Request};
use pilothouse::model::TypedInput;

use crate::console_fixture::{console, press, select, shown, snapshot};
use crate::console_held::{call, looked_at, ruled};

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
