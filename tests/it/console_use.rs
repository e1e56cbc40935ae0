//! Lessons from a day of use: what a person meets first, at common terminal sizes.

use std::sync::Arc;

use jiff::SignedDuration;
use pilothouse::console::app::App;
use pilothouse::console::msg::{Anchor, Effect, Msg, PageView};
use pilothouse::console::state::focus::{Mode, Screen};
use pilothouse::console::state::picture::Picture;
use pilothouse::link::{Act, Request};
use pilothouse::model::{Snapshot, TaskStatus, TaskView};
use pilothouse::terminal::Size;

use crate::console_fixture::{
    answer, build, console, empty, ended, id, now, picture, press, select, shown, snapshot, task,
};

fn changed(app: &mut App, change: impl FnOnce(&mut Snapshot)) -> Vec<Effect> {
    let mut next = Snapshot::clone(&app.state.view.snapshot);
    next.seq += 1;
    change(&mut next);
    app.update(Msg::Snapshot(Arc::new(next)))
}

fn started(task: u32) -> Msg {
    answer(400, "started", false, &id(task))
}

#[test]
fn at_120_columns_the_list_has_wide_rows_with_labels_and_reasons() {
    let app = console(snapshot(), (120, 40));
    let screen = shown(&app);
    let head = screen.lines().find(|line| line.contains("[1] tasks  STATE")).expect("a head");
    for label in ["BY", "AGE", "COMMAND"] {
        assert!(head.contains(label), "{label}\n{screen}");
    }
    let row = screen.lines().find(|line| line.contains(" t07 ")).expect("a row");
    assert!(row.contains("npm init") && row.contains("scaffold the package"), "{screen}");
}

#[test]
fn the_list_says_which_part_of_it_is_in_sight() {
    for size in [(80, 24), (100, 30), (120, 40), (160, 50), (200, 60)] {
        let mut long = snapshot();
        long.tasks.extend((11..=60).map(|number| Arc::new(task(number, "make", 10, 1))));
        let mut app = console(long, size);
        let screen = shown(&app);
        assert!(screen.contains(" of 60"), "{size:?}\n{screen}");
        let _ = press(&mut app, &["G"]);
        assert!(shown(&app).contains("60 of 60"), "{size:?}\n{}", shown(&app));
    }
}

#[test]
fn panes_beside_each_other_are_never_too_narrow_for_a_program() {
    for (size, panes) in [((80, 24), 1), ((160, 50), 4), ((200, 60), 4), ((320, 80), 6)] {
        let app = console(snapshot(), size);
        let layout = app.state.layout();
        assert_eq!(layout.panes.len(), panes, "{size:?}");
        assert!(layout.panes.iter().all(|pane| pane.cells.width >= 79), "{size:?} {:?}", layout.panes);
    }
}

#[test]
fn a_command_started_in_the_console_has_the_size_of_its_pane_and_is_typed_into() {
    let mut app = console(empty(), (80, 24));
    let effects = press(&mut app, &["o", "v", "i", "Enter"]);
    let asked = effects.iter().find_map(|effect| match effect {
        Effect::Ask(Request { act: Act::Call { input, .. }, .. }) => Some(input.clone()),
        _ => None,
    });
    let asked = asked.expect("it is started");
    assert_eq!((asked["cols"].as_u64(), asked["rows"].as_u64()), (Some(80), Some(20)));
    let _ = app.update(started(11));
    let _ = changed(&mut app, |next| {
        let vi = TaskView { tty: true, accepts_input: true, size_asked: true, ..task(11, "vi", 0, 0) };
        next.tasks.push(Arc::new(vi));
    });
    assert!(matches!(&app.state.focus.mode, Mode::Input(task) if *task == id(11)));
    assert_eq!(app.state.focus.screen, Screen::Focus);
}

#[test]
fn a_started_command_takes_no_keys_after_the_person_has_moved_on() {
    for key in ["?", "3", ":"] {
        let mut app = console(snapshot(), (80, 24));
        let _ = press(&mut app, &["o", "v", "i", "Enter", key]);
        let _ = app.update(started(11));
        let _ = changed(&mut app, |next| {
            next.tasks.push(Arc::new(TaskView { tty: true, accepts_input: true, ..task(11, "vi", 0, 0) }));
        });
        assert!(matches!(app.state.focus.mode, Mode::Observe), "{key}");
    }
}

#[test]
fn a_search_goes_on_as_it_is_written_and_says_which_match_of_how_many() {
    let mut app = console(snapshot(), (80, 24));
    select(&mut app, 6);
    let effects = press(&mut app, &["C-s", "o", "k"]);
    let queries: Vec<_> = effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::Search(_, query) => Some(query.needle.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(queries, ["o", "ok"]);
    let search = app.state.reading.search.clone().expect("a search");
    let _ = app.update(Msg::Found(search.task, search.query, Some(7), Some((3, 17))));
    assert!(press(&mut app, &["Enter"]).iter().all(|effect| !matches!(effect, Effect::Search(..))));
    assert!(shown(&app).contains("3 of 17 ok"), "{}", shown(&app));
    let _ = press(&mut app, &["C-s", "x", "Esc"]);
    assert!(app.state.reading.search.is_none() && app.state.reading.scroll.is_none());
}

#[test]
fn scrolling_back_where_there_is_nothing_leaves_the_last_screen() {
    let mut app = console(snapshot(), (80, 24));
    select(&mut app, 4);
    let _ = app.update(Msg::Picture(id(4), picture(Size::nearest(80, 20), "\x1b[?1049hthe last screen")));
    let _ = press(&mut app, &["PageUp"]);
    let page = PageView {
        anchor: Anchor::AboveTail,
        picture: Picture::default(),
        rows: Vec::new(),
        times: Vec::new(),
        first_line: 0,
        next_line: 0,
        lines: 1,
    };
    let _ = app.update(Msg::Page(id(4), page));
    assert!(app.state.reading.scroll.is_none());
    assert!(shown(&app).contains("the last screen"), "{}", shown(&app));
}

#[test]
fn a_program_killed_on_its_full_screen_leaves_that_screen() {
    let mut app = console(snapshot(), (80, 24));
    select(&mut app, 4);
    let _ = app.update(Msg::Picture(id(4), picture(Size::nearest(80, 20), "\x1b[?1049hthe last screen")));
    let page = PageView {
        anchor: Anchor::Tail,
        picture: Picture::default(),
        rows: Vec::new(),
        first_line: 0,
        next_line: 0,
        lines: 1,
        times: Vec::new(),
    };
    let _ = app.update(Msg::Page(id(4), page));
    assert!(shown(&app).contains("the last screen"), "{}", shown(&app));
}

#[test]
fn a_message_never_covers_the_row_that_is_worked_on() {
    let mut app = console(snapshot(), (80, 24));
    select(&mut app, 7);
    let _ = app.update(Msg::Picture(
        id(7),
        picture(Size::nearest(80, 24), &"\r\n".repeat(20).replace("\r\n", "x\r\n")),
    ));
    app.state.toasts.say("hello there", None, now());
    let screen = shown(&app);
    let row = screen.lines().position(|line| line.contains("hello there")).expect("it is shown");
    assert!(row < 18, "{row}\n{screen}");
    let mut app = console(snapshot(), (80, 24));
    select(&mut app, 4);
    app.state.toasts.say("hello there", None, now());
    let screen = shown(&app);
    assert_eq!(screen.lines().position(|line| line.contains("hello there")), Some(21), "{screen}");
}

#[test]
fn a_title_keeps_the_command_before_what_is_known_of_it() {
    let mut app = console(snapshot(), (80, 24));
    select(&mut app, 4);
    let screen = shown(&app);
    let title = screen.lines().find(|line| line.starts_with("── ▸")).expect("a title");
    assert!(title.contains("cargo clippy --all-targets -- -D warnings"), "{title}");
    assert!(title.contains("exit 101"), "{title}");
}

#[test]
fn the_agents_stay_in_the_bar_while_they_are_paused() {
    let mut paused = snapshot();
    paused.gate.paused = Some(now());
    let app = console(paused, (80, 24));
    let screen = shown(&app);
    let bar = screen.lines().next().expect("a bar");
    assert!(bar.contains("PAUSED") && bar.contains("claude"), "{bar}");
}

#[test]
fn a_smaller_budget_never_makes_a_text_longer() {
    let mut app = console(snapshot(), (160, 50));
    let _ = press(&mut app, &["3", "g", "j", "j", "j", "j", "j"]);
    let _ = app.update(Msg::Record(Arc::new(build())));
    let _ = press(&mut app, &["Tab"]);
    let sizes =
        |app: &App| app.receipts.sheet.as_ref().map(|sheet| (sheet.receipt_chars, sheet.envelope_chars));
    let whole = sizes(&app).expect("a sheet");
    for _ in 0..12 {
        let _ = press(&mut app, &["-"]);
        let now = sizes(&app).expect("a sheet");
        assert!(now.0 <= whole.0 && now.1 <= whole.1, "{now:?} of {whole:?}");
    }
    // A short answer has nothing to omit.
    let mut app = console(snapshot(), (160, 50));
    let _ = press(&mut app, &["3", "g", "j", "j"]);
    let _ = app.update(Msg::Record(Arc::new(crate::console_fixture::refusal())));
    let _ = press(&mut app, &["Tab", "-"]);
    let short = sizes(&app).expect("a sheet");
    let _ = press(&mut app, &["0"]);
    let whole = sizes(&app).expect("a sheet");
    assert!(short.0 <= whole.0 && short.1 <= whole.1, "{short:?} of {whole:?}");
}

#[test]
fn two_answers_are_compared_line_by_line() {
    let mut app = console(snapshot(), (200, 60));
    let _ = press(&mut app, &["3", "g", "j", "j", "j", "j", "j"]);
    let _ = app.update(Msg::Record(Arc::new(build())));
    let _ = press(&mut app, &["Tab", "Tab"]);
    let _ = press(&mut app, &["="]);
    let mut other = build();
    other.seq = 306;
    let text = other.envelope.as_mut().and_then(|envelope| envelope.pointer_mut("/result/stderr_preview"));
    *text.expect("a preview") = "warning: unused variable: `right`\n  --> src/run.rs:212:9\n".into();
    let _ = press(&mut app, &["BackTab", "BackTab", "j", "j"]);
    let _ = app.update(Msg::Record(Arc::new(other)));
    let _ = press(&mut app, &["="]);
    let screen = shown(&app);
    assert!(!screen.contains("\\n"), "{screen}");
    assert!(
        screen.lines().any(|line| line.trim().ends_with("-       warning: unused variable: `right`")),
        "{screen}"
    );
}

#[test]
fn a_program_is_run_here_by_its_file() {
    for keys in [&["o"][..], &[":"]] {
        let mut app = console(snapshot(), (80, 24));
        let _ = press(&mut app, keys);
        let _ = app.update(Msg::Paste("ship.prose".into()));
        let effects = press(&mut app, &["Enter"]);
        let run = effects
            .iter()
            .any(|effect| matches!(effect, Effect::RunProgram { file, .. } if file == "ship.prose"));
        assert!(run, "{keys:?} {effects:?}");
        assert_eq!(app.state.focus.screen, Screen::Program);
    }
}

#[test]
fn a_key_after_a_pause_leaves_input_mode_of_an_ended_task() {
    let mut app = console(snapshot(), (80, 24));
    select(&mut app, 5);
    let _ = press(&mut app, &["Enter"]);
    let _ = changed(&mut app, |next| {
        next.tasks[4] = Arc::new(ended(next.tasks[4].as_ref().clone(), TaskStatus::Completed, Some(0), 0));
    });
    let _ = app.update(Msg::Tick(now() + SignedDuration::from_millis(5_000)));
    let _ = press(&mut app, &["q"]);
    assert!(matches!(app.state.focus.mode, Mode::Observe) && app.layers.is_empty(), "read, not typed on");
}

/// The 142 polls of one task take up one row, and failed calls are marked as such.
#[test]
fn the_list_of_calls_tells_commands_and_how_they_ended_and_folds_polls() {
    for size in [(80, 24), (120, 40), (200, 60)] {
        let mut polled = snapshot();
        let poll = polled.calls[4].clone();
        polled.calls.extend(
            (400..542).map(|seq| Arc::new(pilothouse::model::CallSummary { seq, ..poll.as_ref().clone() })),
        );
        let mut app = console(polled, size);
        let _ = press(&mut app, &["3", "g"]);
        let screen = shown(&app);
        assert_eq!(screen.lines().filter(|line| line.contains("142")).count(), 1, "{size:?}\n{screen}");
        let _ = press(&mut app, &["Enter"]);
        assert_eq!(app.state.call_rows().len(), 142 + 11, "unfolded");
        let _ = press(&mut app, &["j", "j"]);
        assert_eq!(app.state.shown_call().map(|call| call.seq), Some(539));
        let _ = press(&mut app, &["G"]);
        let screen = shown(&app);
        let failed = screen.lines().find(|line| line.contains("cargo cl")).unwrap_or_default();
        assert!(failed.contains("✗ exit 101"), "{screen}");
    }
}

#[test]
fn calls_are_listed_by_a_text_of_theirs() {
    let mut app = console(snapshot(), (80, 24));
    let _ = press(&mut app, &["3", "/", "c", "l", "i", "p", "Enter"]);
    assert_eq!(app.state.call_rows().len(), 1);
    assert_eq!(app.state.shown_call().map(|call| call.seq), Some(304));
    assert!(shown(&app).contains("/clip  1 of 11"), "{}", shown(&app));
    let _ = press(&mut app, &["Esc"]);
    assert_eq!(app.state.call_rows().len(), 11);
    let _ = press(&mut app, &["/", "1", "0", "1", "Enter"]);
    assert_eq!(app.state.call_rows().len(), 1, "by how it ended");
}

/// One Esc too many, or a key meant for another screen, does nothing that cannot be undone.
#[test]
fn a_letter_with_a_risk_means_one_thing_wherever_it_is_pressed() {
    use pilothouse::console::keys::action::Action::{self, *};
    use pilothouse::console::keys::keymap::{KeyContext, Keymap};
    let meanings: [(&str, &[Action]); 6] = [
        ("s", &[Stop, StopAll]),
        ("S", &[Kill]),
        ("x", &[Signal]),
        ("X", &[Abort]),
        ("y", &[Approve, ApproveGate, Yes, Confirm, Yank]),
        ("p", &[Pause]),
    ];
    for preset in ["default", "vim", "emacs", "plain"] {
        let keymap = Keymap::of(preset, None).expect("a preset");
        for context in KeyContext::ALL {
            for (action, keys) in keymap.list(*context) {
                for (letter, allowed) in meanings {
                    let is_one = !keys.iter().any(|key| key == letter) || allowed.contains(&action);
                    assert!(is_one, "{preset} {}: {letter} is {action:?}", context.name());
                }
            }
        }
    }
}

#[test]
fn newcomers_are_helped_for_two_minutes() {
    let mut app = console(empty(), (80, 24));
    app.state.setup.ui.console.hints = true;
    assert!(shown(&app).contains("new here?"));
    let _ = app.update(Msg::Tick(now() + SignedDuration::from_secs(120)));
    assert!(!shown(&app).contains("new here?"), "{}", shown(&app));
}

#[test]
fn the_mouse_given_away_shows_in_the_status_line() {
    let mut app = console(snapshot(), (80, 24));
    assert!(!shown(&app).contains("MOUSE"));
    let _ = press(&mut app, &["m"]);
    assert!(shown(&app).contains("MOUSE OFF"), "{}", shown(&app));
}

#[test]
fn states_have_words_beside_the_counters_too() {
    let mut app = console(snapshot(), (80, 24));
    let _ = press(&mut app, &["4"]);
    let screen = shown(&app);
    for word in ["queued", "cancelling", "waiting", "running"] {
        assert!(screen.lines().any(|line| line.contains(" t0") && line.contains(word)), "{word}\n{screen}");
    }
}

/// Words that no screen uses any more: the snapshots cover every screen and dialog.
#[test]
fn the_old_words_are_on_no_screen() {
    const OLD: [&str; 28] = [
        "needs a line",
        "needs a secret",
        "for your word",
        "tty read",
        "echo off",
        "let go on",
        "not kept",
        "nothing fits",
        "QUIET",
        " agt ",
        " sys ",
        "claude drives",
        "you drive",
        "frozen",
        "less room",
        "more room",
        "all of it",
        "keys go nowhere",
        "the task goes on",
        "run it  ",
        "say why",
        "leave running",
        "1 task runs",
        "Keep it as",
        "off the list",
        "rounds saved",
        "screens healed",
        "the usual shell",
    ];
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/snapshots");
    let mut read = 0;
    for file in std::fs::read_dir(folder).expect("snapshots").flatten() {
        if !file.file_name().to_string_lossy().starts_with("it__console_") {
            continue;
        }
        let text = std::fs::read_to_string(file.path()).expect("a snapshot");
        read += 1;
        for old in OLD {
            let said = text.lines().find(|line| line.contains(old));
            assert!(said.is_none(), "{old:?} in {:?}: {}", file.file_name(), said.unwrap_or_default());
        }
    }
    assert!(read > 100, "{read}");
}

#[test]
fn the_palette_is_searched_by_the_usual_words() {
    use pilothouse::console::keys::action::Action;
    for (written, action) in [
        ("restart", Action::Restart),
        ("screenshot", Action::Screenshot),
        ("picture", Action::Screenshot),
        ("layout", Action::Layouts),
        ("fullscreen", Action::Zoom),
        ("approve", Action::Approvals),
        ("deny", Action::Deny),
        ("detach", Action::Detach),
        ("leave running", Action::Detach),
        ("export", Action::Export),
        ("save", Action::Export),
        ("filter", Action::Filter),
        ("failed", Action::Filter),
        ("attend", Action::Attention),
        ("line", Action::SendLine),
        ("why", Action::Details),
        ("less room", Action::SmallerBudget),
    ] {
        let mut app = console(snapshot(), (120, 40));
        let _ = press(&mut app, &[":"]);
        let _ = app.update(Msg::Paste(written.into()));
        let Some(pilothouse::console::app::layer::Layer::List(list)) = app.layers.last() else {
            panic!("the palette is a list")
        };
        let wanted = pilothouse::console::state::choice::ListChoice::Action(action);
        let found = list.matching_items().take(12).any(|(item, _)| item.choice == wanted);
        assert!(found, "{written} does not find {action:?}");
    }
    for action in Action::ALL {
        assert_eq!(action.name().parse(), Ok(*action));
    }
}

#[test]
fn the_next_that_failed_or_waits_is_a_key_away_in_both_lists() {
    let mut app = console(snapshot(), (80, 24));
    let at = |app: &App| app.state.selected_task().map(|task| task.number);
    select(&mut app, 9);
    let mut seen = Vec::new();
    for key in ["E", "E", "E", "I", "I"] {
        let _ = press(&mut app, &[key]);
        seen.push(at(&app).unwrap_or(0));
    }
    assert_eq!(seen, [4, 1, 4, 7, 7], "around the end");
    let _ = press(&mut app, &["3", "E"]);
    assert_eq!(app.state.shown_call().map(|call| call.seq), Some(309), "an answer that is an error");
    let _ = press(&mut app, &["E"]);
    assert_eq!(app.state.shown_call().map(|call| call.seq), Some(304), "a command that failed");
    let _ = press(&mut app, &["I"]);
    assert_eq!(app.state.shown_call().map(|call| call.seq), Some(313), "about the task that waits");
}
