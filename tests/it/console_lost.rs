//! A console over places of which one is lost: what is known of it stays readable, and it does not keep anybody from
//! acting on the others.

use std::sync::Arc;

use jiff::SignedDuration;
use pilothouse::console::app::App;
use pilothouse::console::keys::action::Action;
use pilothouse::console::msg::{Effect, Msg};
use pilothouse::console::state::search::FoundLine;
use pilothouse::envelope::Actor;
use pilothouse::link::{Act, Request};
use pilothouse::model::{
    GateView, HeldCall, HoldReason, PlaceLink, PlaceState, Question, QuestionKind, Slot, Snapshot, Subject,
    TaskEvent, TaskFact, TaskStatus, TaskView,
};

use crate::console_fixture::{ago, console, ended, obstacle, press, shown};
use crate::console_fleet::{at, fleet, id, place, select};
use crate::console_held::call;
use crate::console_program::{choice, gate, text, yes_no};

const WHY: &str = "no answer for 3 s";

/// A call held at a place, only because of a pause.
fn held(place: usize, ticket: u64) -> HeldCall {
    let number = |own| Slot(u16::try_from(place).expect("few") + 1).number(own).expect("room");
    HeldCall {
        ticket: number(ticket),
        call: number(311),
        task: None,
        ..call(ticket, &["git push"], HoldReason::Paused)
    }
}

/// The first two places are attached; the last one is lost, paused, and has a finished task.
fn mixed(is_paused: bool, held: Vec<HeldCall>) -> Snapshot {
    let link = PlaceLink::Lost { since: ago(12), why: WHY.into() };
    let whole = fleet(link.clone());
    let paused = |mut state: PlaceState, is_paused: bool| {
        let mut own = Snapshot::clone(&state.snapshot);
        own.gate.paused = is_paused.then(|| ago(60));
        state.snapshot = Arc::new(own);
        Arc::new(state)
    };
    let of = |at, link| PlaceState::clone(&place(at, link));
    let mut tasks = whole.tasks.clone();
    let done = ended(at(2, 2, "make", 90), TaskStatus::Completed, Some(0), 30);
    tasks.push(Arc::new(TaskView { place: Some(crate::console_fleet::name(2)), ..done }));
    Snapshot {
        tasks,
        places: vec![
            paused(of(0, PlaceLink::Live), is_paused),
            paused(of(1, PlaceLink::Live), is_paused),
            paused(of(2, link), true),
        ],
        gate: GateView { paused: Some(ago(60)), held, allowed: 0, turns: 0, rules: 0 },
        ..whole
    }
}

fn pauses(effects: &[Effect]) -> Vec<bool> {
    let paused = |effect: &Effect| match effect {
        Effect::Ask(Request { act: Act::Pause(paused), .. })
        | Effect::AskAt(_, Request { act: Act::Pause(paused), .. }) => Some(*paused),
        _ => None,
    };
    effects.iter().filter_map(paused).collect()
}

fn look(app: &mut App) {
    app.mark_drawn();
    let _ = app.update(Msg::Tick(app.state.clock.now + SignedDuration::from_millis(1_000)));
}

#[test]
fn a_place_where_nothing_can_be_done_keeps_no_other_from_being_paused_or_let_go_on() {
    let mut app = console(mixed(false, vec![held(2, 1)]), (120, 40));
    assert_eq!(pauses(&press(&mut app, &["p"])), [true], "the others are not paused");
    let mut app = console(mixed(true, vec![held(2, 1)]), (120, 40));
    assert_eq!(pauses(&press(&mut app, &["p"])), [false], "none of them has a call to be looked at first");
    let mut app = console(mixed(true, vec![held(2, 1), held(0, 2)]), (120, 40));
    assert!(pauses(&press(&mut app, &["p"])).is_empty());
    look(&mut app);
    assert_eq!(pauses(&press(&mut app, &["p"])), [false], "on the card of a call that can be let go");
}

#[test]
fn a_card_of_a_lost_place_says_so_and_takes_no_answer() {
    let mut app = console(mixed(true, vec![held(2, 1), held(0, 2)]), (160, 50));
    let _ = press(&mut app, &["A"]);
    look(&mut app);
    assert!(shown(&app).contains("its place is not attached now"), "{}", shown(&app));
    assert!(shown(&app).contains("call docs/311 "), "{}", shown(&app));
    for key in ["y", "e", "w", "n", "p"] {
        let effects = press(&mut app, &[key]);
        assert!(!effects.iter().any(|effect| matches!(effect, Effect::Ask(_) | Effect::AskAt(..))), "{key}");
        assert!(shown(&app).contains("docs is lost: no answer for 3 s"), "{}", shown(&app));
        assert!(!shown(&app).contains("answered"), "{}", shown(&app));
    }
    let _ = press(&mut app, &["Tab"]);
    look(&mut app);
    let effects = press(&mut app, &["y"]);
    let ticket = effects.iter().find_map(|effect| match effect {
        Effect::Ask(Request { subject: Subject::Held(ticket), act: Act::Decide { .. } }) => Some(*ticket),
        _ => None,
    });
    assert_eq!(ticket, Some(held(0, 2).ticket), "{effects:?}");
}

#[test]
fn finished_tasks_of_a_lost_place_are_not_cleared_and_a_message_says_so() {
    let mut app = console(mixed(false, Vec::new()), (160, 50));
    let _ = press(&mut app, &["C"]);
    let text = shown(&app);
    assert!(text.contains("1 finished task cleared") && text.contains("docs is lost"), "{text}");
    let later = app.state.clock.now + SignedDuration::from_secs(11);
    let effects = app.update(Msg::Tick(later));
    let dismissed: Vec<_> = effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::Ask(Request { subject: Subject::Task(task), act: Act::Dismiss }) => Some(task.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(dismissed, [id(1, 2)]);
}

#[test]
fn a_place_that_is_attached_again_can_be_driven() {
    let mut app = console(mixed(false, Vec::new()), (120, 40));
    select(&mut app, &id(2, 1));
    assert_eq!(obstacle(&app, Action::Stop).as_deref(), Some("its place is not attached now"));
    let _ = app.update(Msg::Snapshot(Arc::new(fleet(PlaceLink::Live))));
    select(&mut app, &id(2, 1));
    assert_eq!(obstacle(&app, Action::Stop), None);
    assert!(!shown(&app).contains("docs is lost"), "{}", shown(&app));
}

/// The console with questions of the lost place, and one of a place that can be driven.
fn asked(question: Question, size: (u16, u16)) -> App {
    let of = |at: usize, question: Question| {
        Arc::new(Question { place: Some(crate::console_fleet::name(at)), ..question })
    };
    let live = Question { asked_at: ago(5), id: "question_00000077".parse().expect("an id"), ..yes_no() };
    let questions = vec![of(2, question), of(0, live)];
    let mut snapshot = Snapshot { questions, ..mixed(false, Vec::new()) };
    for task in &mut snapshot.tasks {
        // Nothing else waits.
        Arc::make_mut(task).waiting = None;
    }
    console(snapshot, size)
}

fn answers(effects: &[Effect]) -> usize {
    let is_answer = |effect: &&Effect| {
        matches!(
            effect,
            Effect::Ask(Request { act: Act::Answer { .. }, .. } | Request { act: Act::LetAgents(_), .. })
                | Effect::AskAt(..)
        )
    };
    effects.iter().filter(is_answer).count()
}

#[test]
fn a_question_of_a_lost_place_is_shown_whole_and_takes_no_answer() {
    for question in [gate(), yes_no(), choice(), text(false), text(true)] {
        let (says, kind) = (question.text.clone(), question.kind.clone());
        let mut app = asked(question, (160, 50));
        let _ = press(&mut app, &["a"]);
        assert!(shown(&app).contains("docs/q0"), "it is on the list: {}", shown(&app));
        let _ = press(&mut app, &["Enter"]);
        look(&mut app);
        for line in says.lines() {
            assert!(shown(&app).contains(line), "{line}: {}", shown(&app));
        }
        assert!(shown(&app).contains("its place is not attached now"), "{}", shown(&app));
        let keys = if matches!(kind, QuestionKind::Choice { .. }) { &["j", "Enter"][..] } else { &[] };
        for key in keys.iter().chain(&["y", "n", "a", "r", "x", "l", "Enter", "M-Enter"]) {
            assert_eq!(answers(&press(&mut app, &[key])), 0, "{key}: {kind:?}");
            assert!(!shown(&app).contains("on its way"), "{key}: {}", shown(&app));
        }
        let told = "docs is lost: no answer for 3 s";
        assert!(shown(&app).contains(told), "{kind:?}: {}", shown(&app));
        if let QuestionKind::Text { .. } = kind {
            assert!(!shown(&app).contains("ynarx"), "nothing is written in vain: {}", shown(&app));
        }
        let _ = press(&mut app, &["Esc"]);
        assert!(app.layers.is_empty(), "it is left open");
    }
    // The one of a place that can be driven is answered.
    let mut app = asked(gate(), (160, 50));
    let _ = press(&mut app, &["a", "j", "Enter"]);
    look(&mut app);
    assert_eq!(answers(&press(&mut app, &["y"])), 1, "{}", shown(&app));
}

#[test]
fn a_question_of_a_program_at_a_lost_place_opens_from_the_program_screen() {
    let mut app = asked(gate(), (160, 50));
    let snapshot = Snapshot {
        programs: vec![Arc::new(crate::console_program::at_gate())],
        ..Snapshot::clone(&app.state.view.snapshot)
    };
    let _ = app.update(Msg::Snapshot(Arc::new(snapshot)));
    let _ = press(&mut app, &["5", "Enter"]);
    look(&mut app);
    assert!(shown(&app).contains("The migration runs first and cannot be undone."), "{}", shown(&app));
    assert!(shown(&app).contains("its place is not attached now"), "{}", shown(&app));
}

#[test]
fn the_timeline_of_all_tells_of_all_places_in_the_order_of_time() {
    let mut snapshot = mixed(false, Vec::new());
    let happened = |seconds, actor: &str, bytes| TaskEvent {
        at: ago(seconds),
        actor: Actor::Agent(actor.into()),
        fact: TaskFact::Input(bytes),
    };
    for task in &mut snapshot.tasks {
        let task = Arc::make_mut(task);
        let place = task.place.as_ref().map(|place| place.name.clone()).unwrap_or_default();
        task.events = match (place.as_str(), task.number) {
            ("web-fix", 1) => vec![happened(50, "web-fix/claude", 111), happened(10, "web-fix/claude", 333)],
            ("docs", 1) => vec![happened(30, "docs/claude", 222)],
            _ => Vec::new(),
        };
    }
    let mut app = console(snapshot, (160, 50));
    let _ = press(&mut app, &["t"]);
    let text = shown(&app);
    let (_, rows) = text.split_once("timeline  all tasks").expect("the timeline");
    let at = |name: &str, bytes: &str| {
        let is_it = |row: &str| row.contains(name) && row.contains(bytes);
        rows.lines().position(is_it).unwrap_or_else(|| panic!("{name} {bytes}: {text}"))
    };
    let order = [at("web-fix/t01", "111"), at("docs/t01", "222"), at("web-fix/t01", "333")];
    assert!(order.is_sorted(), "{order:?}: {text}");
}

#[test]
fn a_search_of_all_tasks_looks_at_all_places_and_says_what_it_could_not_read() {
    let mut app = console(mixed(false, Vec::new()), (160, 50));
    let searched = |effects: &[Effect]| -> Vec<pilothouse::envelope::TaskId> {
        let tasks = effects.iter().filter_map(|effect| match effect {
            Effect::SearchAll(_, _, tasks) => Some(tasks.clone()),
            _ => None,
        });
        tasks.flatten().collect()
    };
    let keys = ["\\", "p", "a", "n", "i", "c", "Enter"];
    let tasks = searched(&press(&mut app, &keys));
    for wanted in [id(0, 1), id(1, 1), id(2, 1), id(2, 2)] {
        assert!(tasks.contains(&wanted), "{wanted}: {tasks:?}");
    }
    let found = |place: usize| FoundLine { task: id(place, 1), line: 6, text: format!("panic {place}") };
    let why = format!("docs is lost: {WHY}");
    let _ = app.update(Msg::FoundAll(1, vec![found(0), found(2)], Vec::new()));
    let text = shown(&app);
    assert!(text.contains("web-fix/t01:7") && text.contains("docs/t01:7"), "{text}");
    let _ = press(&mut app, &["Esc"]);
    let _ = press(&mut app, &keys);
    let _ = app.update(Msg::FoundAll(2, Vec::new(), vec![why.clone(), why]));
    let text = shown(&app);
    assert!(text.contains("not all was searched: docs is lost: no answer for 3 s"), "{text}");
    assert!(!text.contains("no task has printed"), "{text}");
    let said = app
        .state
        .toasts
        .history()
        .iter()
        .filter(|toast| toast.text.starts_with("not all was searched"))
        .count();
    assert_eq!(said, 1, "each reason once");
}
