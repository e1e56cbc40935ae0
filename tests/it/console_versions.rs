//! A console over places of different versions: one is read-only, and does not keep anybody from acting on the others.

use std::sync::Arc;

use jiff::SignedDuration;
use pilothouse::console::app::App;
use pilothouse::console::keys::action::Action;
use pilothouse::console::msg::{Effect, Msg};
use pilothouse::link::Request;
use pilothouse::runtime::{
    GateView, HeldCall, HoldReason, PlaceLink, PlaceState, Slot, Snapshot, TaskStatus, TaskView,
};

use crate::console_fixture::{ago, console, ended, obstacle, press, shown};
use crate::console_fleet::{at, fleet, id, place, select};
use crate::console_held::call;

const OLDER: &str = "that runtime speaks version 5 of the link, this console version 6; end it";

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

/// The first place has this version; the last one is older, paused, and has a finished task.
fn mixed(is_paused: bool, held: Vec<HeldCall>) -> Snapshot {
    let link = PlaceLink::ReadOnly(OLDER.into());
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
            place(1, PlaceLink::Live),
            paused(of(2, link), true),
        ],
        gate: GateView { paused: Some(ago(60)), held, allowed: 0 },
        ..whole
    }
}

fn pauses(effects: &[Effect]) -> Vec<bool> {
    let paused = |effect: &Effect| match effect {
        Effect::Ask(Request::Pause { paused, .. }) | Effect::AskAt(_, Request::Pause { paused, .. }) => {
            Some(*paused)
        }
        _ => None,
    };
    effects.iter().filter_map(paused).collect()
}

fn look(app: &mut App) {
    app.drawn();
    let _ = app.update(Msg::Tick(app.now + SignedDuration::from_millis(1_000)));
}

#[test]
fn places_of_two_versions() {
    for (columns, rows) in [(80, 24), (160, 50)] {
        let mut app = console(mixed(false, vec![held(2, 1), held(0, 2)]), (columns, rows));
        insta::assert_snapshot!(format!("versions_{columns}x{rows}"), shown(&app));
        let _ = press(&mut app, &["A"]);
        look(&mut app);
        insta::assert_snapshot!(format!("versions_card_{columns}x{rows}"), shown(&app));
    }
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
fn a_card_of_such_a_place_says_so_and_takes_no_answer() {
    let mut app = console(mixed(true, vec![held(2, 1), held(0, 2)]), (160, 50));
    let _ = press(&mut app, &["A"]);
    look(&mut app);
    assert!(shown(&app).contains("its place may only be looked at"), "{}", shown(&app));
    assert!(shown(&app).contains("call docs/311 "), "{}", shown(&app));
    for key in ["y", "e", "w", "n", "p"] {
        let effects = press(&mut app, &[key]);
        assert!(!effects.iter().any(|effect| matches!(effect, Effect::Ask(_) | Effect::AskAt(..))), "{key}");
        assert!(shown(&app).contains("docs is read-only: that runtime speaks version 5"), "{}", shown(&app));
        assert!(!shown(&app).contains("answered"), "{}", shown(&app));
    }
    let _ = press(&mut app, &["Tab"]);
    look(&mut app);
    let effects = press(&mut app, &["y"]);
    let ticket = effects.iter().find_map(|effect| match effect {
        Effect::Ask(Request::Decide { ticket, .. }) => Some(*ticket),
        _ => None,
    });
    assert_eq!(ticket, Some(held(0, 2).ticket), "{effects:?}");
}

#[test]
fn what_is_finished_there_is_not_cleared_and_that_is_said_once() {
    let mut app = console(mixed(false, Vec::new()), (160, 50));
    let _ = press(&mut app, &["C"]);
    let text = shown(&app);
    assert!(text.contains("1 finished task cleared") && text.contains("docs is read-only"), "{text}");
    let later = app.now + SignedDuration::from_secs(11);
    let effects = app.update(Msg::Tick(later));
    let dismissed: Vec<_> = effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::Ask(Request::Dismiss { task }) => Some(task.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(dismissed, [id(1, 2)]);
}

#[test]
fn once_its_runtime_is_replaced_it_can_be_driven() {
    let mut app = console(mixed(false, Vec::new()), (120, 40));
    select(&mut app, &id(2, 1));
    assert_eq!(obstacle(&app, Action::Stop).as_deref(), Some("its place may only be looked at"));
    let _ = app.update(Msg::Snapshot(Arc::new(fleet(PlaceLink::Live))));
    select(&mut app, &id(2, 1));
    assert_eq!(obstacle(&app, Action::Stop), None);
    assert!(!shown(&app).contains("read-only"), "{}", shown(&app));
}

#[test]
fn how_places_stand_is_told_also_where_none_has_a_task() {
    for size in [(80, 24), (120, 40), (160, 50), (200, 60)] {
        let app = console(Snapshot { tasks: Vec::new(), ..mixed(false, Vec::new()) }, size);
        assert!(shown(&app).contains(" docs  read-only: that runtime speaks"), "{}", shown(&app));
    }
}
