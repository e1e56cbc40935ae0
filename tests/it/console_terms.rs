//! Hints: unusual words are explained in one line until they have been used, or visible for two minutes; then never again.

use std::sync::Arc;

use jiff::SignedDuration;
use pilothouse::console::app::App;
use pilothouse::console::msg::{Effect, Msg};
use pilothouse::console::state::memory::ConsoleMemory;
use pilothouse::model::Snapshot;

use crate::console_fixture::{console, now, press, record, select, shown, snapshot};
use crate::console_held::{call, looked_at, ruled};
use crate::console_program::{gate, in_dialog};

const RECEIPT: &str = "receipt  what the agent was given";
const ENVELOPE: &str = "envelope  the whole answer";

/// A console with hints turned on.
fn hinting(mut app: App) -> App {
    app.state.setup.ui.console.hints = true;
    let _ = app.update(Msg::Tick(app.state.clock.now));
    app
}

fn reading(memory: ConsoleMemory) -> App {
    let mut app = hinting(console(snapshot(), (160, 50)));
    app.state.memory = memory;
    let _ = press(&mut app, &["3", "g", "j", "j", "j"]);
    let _ = app.update(Msg::Record(Arc::new(record())));
    app
}

/// Lets `seconds` pass; returns what is remembered as a result.
fn after(app: &mut App, seconds: i64) -> Option<ConsoleMemory> {
    let effects = app.update(Msg::Tick(now() + SignedDuration::from_secs(seconds)));
    remembered(effects)
}

fn remembered(effects: Vec<Effect>) -> Option<ConsoleMemory> {
    let memories = effects.into_iter().filter_map(|effect| match effect {
        Effect::Remember(memory) => Some(memory),
        _ => None,
    });
    memories.last()
}

/// A workspace in which nothing is waiting and there are no notices, so that the notice row is free.
fn calm() -> Snapshot {
    let mut state = snapshot();
    state.notices.clear();
    for task in &mut state.tasks {
        Arc::make_mut(task).waiting = None;
    }
    state
}

#[test]
fn receipt_and_envelope_are_explained_over_their_texts_for_two_minutes() {
    let mut app = reading(ConsoleMemory::default());
    let text = shown(&app);
    assert!(text.contains(RECEIPT) && text.contains(ENVELOPE), "{text}");
    assert_eq!(after(&mut app, 119), None);
    assert!(shown(&app).contains(RECEIPT));
    let memory = after(&mut app, 121).expect("remembered");
    assert!(!shown(&app).contains(RECEIPT) && !shown(&app).contains(ENVELOPE));
    let text = shown(&reading(memory));
    assert!(!text.contains(RECEIPT) && !text.contains(ENVELOPE), "nor the next time\n{text}");
}

#[test]
fn a_text_that_was_used_is_no_longer_explained() {
    let mut app = reading(ConsoleMemory::default());
    let memory = remembered(press(&mut app, &["Tab", "c"])).expect("remembered");
    let text = shown(&app);
    assert!(!text.contains(RECEIPT) && text.contains(ENVELOPE), "{text}");
    let text = shown(&reading(memory));
    assert!(!text.contains(RECEIPT) && text.contains(ENVELOPE), "{text}");
}

#[test]
fn the_turn_to_type_is_explained_over_the_status_line_until_the_task_is_left() {
    const INPUT: &str = "agents only read while you type";
    let mut app = hinting(console(calm(), (120, 40)));
    select(&mut app, 5);
    assert!(!shown(&app).contains(INPUT));
    let _ = press(&mut app, &["Enter"]);
    assert!(shown(&app).contains(INPUT), "{}", shown(&app));
    let _ = press(&mut app, &["C-]", "Enter"]);
    assert!(!shown(&app).contains(INPUT), "{}", shown(&app));
}

#[test]
fn lease_is_explained_over_the_timeline() {
    let mut app = hinting(console(snapshot(), (160, 50)));
    select(&mut app, 7);
    let _ = press(&mut app, &["2"]);
    assert!(shown(&app).contains("lease: only who has it types"), "{}", shown(&app));
    let _ = press(&mut app, &["1"]);
    select(&mut app, 6);
    let _ = press(&mut app, &["2"]);
    assert!(!shown(&app).contains("lease: only who has it types"), "its timeline has no lease");
}

#[test]
fn counters_values_held_and_gate_are_explained() {
    let mut app = hinting(console(calm(), (120, 40)));
    let _ = press(&mut app, &["4"]);
    assert!(shown(&app).contains(" trips saved: answers not waited for"), "{}", shown(&app));

    for size in [(80, 24), (120, 40)] {
        let mut app = hinting(looked_at(vec![call(7, &["git push origin main"], ruled())], size));
        assert!(shown(&app).contains("held: it runs only if you approve"), "{}", shown(&app));
        let effects = press(&mut app, &["y"]);
        assert!(remembered(effects).is_some(), "whoever has approved one knows it");
        let app = hinting(in_dialog(gate(), size));
        assert!(shown(&app).contains("gate: the program waits here"), "{}", shown(&app));
    }
    let app = hinting(in_dialog(gate(), (120, 40)));
    assert!(shown(&app).contains("values  what its steps gave"), "{}", shown(&app));
}

#[test]
fn without_hints_nothing_is_explained() {
    let mut app = console(snapshot(), (160, 50));
    assert!(!app.state.setup.ui.console.hints);
    let _ = press(&mut app, &["3", "g", "j", "j", "j"]);
    let _ = app.update(Msg::Record(Arc::new(record())));
    assert!(!shown(&app).contains("what the agent was given"), "{}", shown(&app));
}

#[test]
fn the_explanations_match_their_snapshot() {
    let mut out = String::new();
    for size in [(80, 24), (120, 40)] {
        let app = hinting(looked_at(vec![call(7, &["git push origin main"], ruled())], size));
        out.push_str(&shown(&app));
        let mut app = hinting(console(snapshot(), size));
        let _ = press(&mut app, &["3", "g", "j", "j", "j", "Tab"]);
        let _ = app.update(Msg::Record(Arc::new(record())));
        out.push_str(&shown(&app));
    }
    insta::assert_snapshot!("explained", out);
}
