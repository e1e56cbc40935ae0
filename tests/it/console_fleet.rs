//! A console over three places, one of them lost: what it shows, and what may be done where.

use std::sync::Arc;

use pilothouse::console::app::App;
use pilothouse::console::keys::action::Action;
use pilothouse::console::msg::{Effect, Msg};
use pilothouse::envelope::{Actor, TaskId};
use pilothouse::link::{Act, Request, RunningRuntime, RuntimeAddress};
use pilothouse::model::{
    AgentView, CallRecord, CallSummary, InputEvidence, InputNeed, InputWait, Metrics, PlaceId, PlaceLink,
    PlaceName, PlaceState, Slot, Snapshot, Subject, TaskStatus, TaskView,
};

use crate::console_fixture::{SIZES, ago, console, ended, now, obstacle, press, record, shown, task};

const NAMES: [&str; 3] = ["web-fix", "api", "docs"];

pub(crate) fn name(at: usize) -> Arc<PlaceName> {
    Arc::new(PlaceName { id: PlaceId::from(NAMES[at]), name: NAMES[at].to_owned() })
}

pub(crate) fn id(at: usize, number: u32) -> TaskId {
    format!("task_{at}{number:07}").parse().expect("an id")
}

/// A task at a place; the numbers repeat from place to place.
pub(crate) fn at(place: usize, number: u32, cmd: &str, age: i64) -> TaskView {
    TaskView {
        id: id(place, number),
        number,
        started_by: Actor::Agent(format!("{}/claude", NAMES[place])),
        call: Slot(u16::try_from(place).expect("few") + 1).number(u64::from(number)).expect("room"),
        place: Some(name(place)),
        ..task(number, cmd, age, 1)
    }
}

fn tasks() -> Vec<TaskView> {
    let waiting = InputWait {
        kind: InputNeed::Line,
        evidence: InputEvidence::TtyRead,
        since: ago(38),
        program: None,
        question: None,
    };
    vec![
        at(0, 1, "npm run dev", 1_862),
        TaskView { tty: true, accepts_input: true, waiting: Some(waiting), ..at(0, 2, "npm init", 42) },
        at(1, 1, "cargo test --workspace", 130),
        ended(at(1, 2, "cargo clippy --all-targets", 312), TaskStatus::Failed, Some(101), 305),
        TaskView { tty: true, accepts_input: true, ..at(2, 1, "python3 -q", 895) },
    ]
}

fn call(place: usize, number: u64, age: i64) -> CallSummary {
    CallSummary {
        seq: Slot(u16::try_from(place).expect("few") + 1).number(number).expect("room"),
        at: ago(age),
        actor: Actor::Agent(format!("{}/claude", NAMES[place])),
        tool: "ExecCommand".into(),
        status: Some("success".into()),
        summary: "command promoted to managed task".into(),
        asked: String::new(),
        task: Some(id(place, 1)),
        end: None,
        duration_ms: Some(10_004),
        stream: None,
        native: None,
    }
}

pub(crate) fn place(at: usize, link: PlaceLink) -> Arc<PlaceState> {
    let own = tasks().into_iter().filter(|task| task.place == Some(name(at)));
    let metrics = Metrics {
        exec_command_items: 40 + at as u64,
        tasks_ended: [("failed".to_owned(), at as u64)].into(),
        output_bytes_in: 1 << (20 + at),
        ..Metrics::default()
    };
    let tasks = own.map(Arc::new).collect();
    let snapshot = Snapshot { seq: 1, tasks, metrics, stop_grace_ms: 5_000, ..Snapshot::default() };
    Arc::new(PlaceState {
        name: name(at),
        slot: Slot(u16::try_from(at).expect("few") + 1),
        host: None,
        workspace: format!("/home/ana/{}", NAMES[at]).into(),
        link,
        snapshot: Arc::new(snapshot),
    })
}

pub(crate) fn lost() -> PlaceLink {
    PlaceLink::Lost { since: ago(12), why: "the link broke".into() }
}

pub(crate) fn fleet(last: PlaceLink) -> Snapshot {
    let agent = |place: usize| AgentView {
        label: format!("{}/claude", NAMES[place]),
        client: "claude-code 2.1".into(),
        pid: 7,
        connected: true,
        first_call: Some(ago(2_000)),
        last_call: Some(ago(2)),
        calls: 7,
        ..AgentView::default()
    };
    Snapshot {
        seq: 9,
        tasks: tasks().into_iter().map(Arc::new).collect(),
        calls: vec![Arc::new(call(0, 1, 1_862)), Arc::new(call(1, 1, 130)), Arc::new(call(2, 1, 895))],
        agents: (0..3).map(agent).collect(),
        places: vec![place(0, PlaceLink::Live), place(1, PlaceLink::Live), place(2, last)],
        ..Snapshot::default()
    }
}

fn opened(size: (u16, u16)) -> App {
    let mut app = console(fleet(lost()), size);
    app.state.setup.is_fleet = true;
    app
}

pub(crate) fn select(app: &mut App, wanted: &TaskId) {
    let _ = press(app, &["g"]);
    for _ in 0..9 {
        if app.state.selected_task().is_some_and(|task| task.id == *wanted) {
            return;
        }
        let _ = press(app, &["j"]);
    }
    panic!("no task {wanted} in the list");
}

#[test]
fn a_fleet_with_a_lost_place_is_shown_at_each_size() {
    for (columns, rows) in SIZES {
        let mut app = opened((columns, rows));
        insta::assert_snapshot!(format!("fleet_{columns}x{rows}"), shown(&app));
        let _ = press(&mut app, &["4"]);
        insta::assert_snapshot!(format!("fleet_metrics_{columns}x{rows}"), shown(&app));
        let _ = press(&mut app, &["1", "@"]);
        let running = |id: &str| RunningRuntime {
            id: id.into(),
            address: RuntimeAddress {
                pid: 1,
                runtime: "/r".into(),
                state: "/s".into(),
                config: "/c".into(),
                workspace: "/home/ana/another".into(),
            },
        };
        let _ = app.update(Msg::Running(vec![running("api"), running("0123456789ab")]));
        insta::assert_snapshot!(format!("fleet_places_{columns}x{rows}"), shown(&app));
    }
}

#[test]
fn the_attention_list_names_the_place_of_a_waiting_task() {
    let mut app = opened((120, 40));
    let _ = press(&mut app, &["a"]);
    assert!(shown(&app).contains("web-fix/t02"), "{}", shown(&app));
    let effects = press(&mut app, &["Enter", "x"]);
    let to = effects.iter().find_map(|effect| match effect {
        Effect::Ask(Request { subject: Subject::Task(task), act: Act::Send(_) }) => Some(task.clone()),
        _ => None,
    });
    assert_eq!(to, Some(id(0, 2)));
}

#[test]
fn a_lost_place_refuses_keys_and_actions_and_says_why() {
    let mut app = opened((120, 40));
    select(&mut app, &id(2, 1));
    for action in [Action::Stop, Action::SendLine, Action::Input, Action::Restart, Action::Start] {
        assert_eq!(obstacle(&app, action).as_deref(), Some("its place is not attached now"), "{action:?}");
    }
    let effects = press(&mut app, &["s", "i", "Enter"]);
    assert!(!effects.iter().any(|effect| matches!(effect, Effect::Ask(_))), "{effects:?}");
    assert!(shown(&app).contains("docs is lost: the link broke"), "{}", shown(&app));
    // What is on screen can still be copied.
    assert_eq!(obstacle(&app, Action::CopyId), None);
    select(&mut app, &id(1, 1));
    assert_eq!(obstacle(&app, Action::Stop), None);
}

#[test]
fn a_place_whose_runtime_has_ended_says_so_in_one_sentence() {
    let mut app = console(fleet(PlaceLink::Gone { since: ago(3) }), (120, 40));
    select(&mut app, &id(2, 1));
    let _ = press(&mut app, &["s"]);
    assert!(shown(&app).contains("docs: its runtime has ended"), "{}", shown(&app));
    assert!(!shown(&app).contains("is its runtime"), "{}", shown(&app));
}

#[test]
fn places_without_any_task_are_listed_and_say_how_they_stand() {
    for size in [(60, 15), (80, 24), (120, 40), (200, 60)] {
        let mut app = opened(size);
        let empty = Snapshot { tasks: Vec::new(), calls: Vec::new(), ..fleet(lost()) };
        let _ = app.update(Msg::Snapshot(Arc::new(empty)));
        let text = shown(&app);
        assert!(text.contains("web-fix  0 tasks"), "{text}");
        assert!(text.contains("docs  lost 10s ago: the link broke"), "{text}");
    }
}

#[test]
fn keys_typed_as_the_link_breaks_go_nowhere() {
    let mut app = console(fleet(PlaceLink::Live), (120, 40));
    select(&mut app, &id(2, 1));
    let _ = press(&mut app, &["Enter"]);
    let sent = |effects: Vec<Effect>| {
        effects.iter().any(|effect| matches!(effect, Effect::Ask(Request { act: Act::Send(_), .. })))
    };
    assert!(sent(press(&mut app, &["x"])));
    let _ = app.update(Msg::Snapshot(Arc::new(fleet(lost()))));
    assert!(!sent(press(&mut app, &["y"])));
    assert!(shown(&app).contains("docs/t01: docs is lost"), "{}", shown(&app));
}

#[test]
fn a_command_starts_where_the_line_says_whatever_happens_meanwhile() {
    let mut app = opened((120, 40));
    select(&mut app, &id(1, 1));
    let _ = press(&mut app, &["o", "l", "s"]);
    assert!(shown(&app).contains("run in api"), "{}", shown(&app));
    let mut next = fleet(lost());
    next.tasks.push(Arc::new(at(0, 3, "a newer one", 0)));
    app.state.list.is_held = false;
    let _ = app.update(Msg::Snapshot(Arc::new(next)));
    let effects = press(&mut app, &["Enter"]);
    let starts = |effect: &Effect| match effect {
        Effect::AskAt(place, Request { act: Act::Call { tool, .. }, .. }) if tool == "ExecCommand" => {
            Some(place.clone())
        }
        _ => None,
    };
    assert_eq!(effects.iter().find_map(starts), Some(PlaceId::from("api")));
}

#[test]
fn the_tasks_of_one_place_are_shown_alone_and_then_all_again() {
    let mut app = opened((120, 40));
    let _ = press(&mut app, &["@", "a", "p", "i", "Enter"]);
    assert!(app.state.tasks().iter().all(|task| task.place == Some(name(1))) && app.state.tasks().len() == 2);
    assert!(shown(&app).contains("pilothouse api"), "{}", shown(&app));
    assert!(!shown(&app).contains("npm run dev"), "{}", shown(&app));
    let _ = press(&mut app, &["Esc"]);
    assert_eq!(app.state.tasks().len(), 5);
}

#[test]
fn a_name_leads_to_the_workspace_of_its_place() {
    let fleet = fleet(lost());
    let workspace = |name: &str| fleet.place_in(name).map(|place| place.workspace.display().to_string());
    assert_eq!(workspace("api/t01").as_deref(), Some("/home/ana/api"));
    assert_eq!(workspace("web-fix/claude").as_deref(), Some("/home/ana/web-fix"));
    assert_eq!([workspace("t01"), workspace("nowhere/t01")], [None, None]);
}

#[test]
fn the_calls_of_one_place_are_shown_alone_and_then_all_again() {
    let mut app = opened((200, 60));
    let _ = press(&mut app, &["3"]);
    let all = app.state.call_rows().len();
    let _ = press(&mut app, &["@", "a", "p", "i", "Enter"]);
    assert!(shown(&app).contains(" api  1 of 3  Esc all"), "{}", shown(&app));
    assert!(app.state.call_rows().iter().all(|row| Slot::of(row.call.seq).0 == Slot(2)));
    assert_eq!(app.state.shown_call().map(|call| Slot::of(call.seq).0), Some(Slot(2)));
    let _ = press(&mut app, &["Esc"]);
    assert_eq!(app.state.call_rows().len(), all);
}

#[test]
fn the_time_since_a_place_was_lost_goes_on() {
    let mut app = opened((120, 40));
    assert!(shown(&app).contains("lost 10s ago"), "{}", shown(&app));
    let later = now() + jiff::SignedDuration::from_secs(8);
    let _ = app.update(Msg::Tick(later));
    assert!(shown(&app).contains("lost 20s ago"), "{}", shown(&app));
}

#[test]
fn agents_of_all_places_pause_together_and_go_on_at_the_place_of_a_card() {
    let mut app = opened((120, 40));
    let effects = press(&mut app, &["p"]);
    assert!(
        effects.iter().any(|effect| matches!(effect, Effect::Ask(Request { act: Act::Pause(true), .. })))
    );
}

#[test]
fn a_pause_of_one_place_is_not_shown_as_one_of_all_and_the_key_pauses_the_rest() {
    let mut app = opened((120, 40));
    let pauses = |effects: &[Effect]| {
        effects.iter().find_map(|effect| match effect {
            Effect::Ask(Request { act: Act::Pause(paused), .. }) => Some(*paused),
            _ => None,
        })
    };
    for (places, words, key) in [(1, "PAUSED 1/2", true), (2, "PAUSED ", false)] {
        let mut snapshot = fleet(lost());
        snapshot.gate.paused = Some(ago(5));
        for state in &mut snapshot.places[..places] {
            let state = Arc::make_mut(state);
            Arc::make_mut(&mut state.snapshot).gate.paused = Some(ago(5));
        }
        let _ = app.update(Msg::Snapshot(Arc::new(snapshot)));
        assert!(shown(&app).contains(words), "{}", shown(&app));
        assert_eq!(shown(&app).contains("1/2"), places == 1, "{}", shown(&app));
        assert_eq!(pauses(&press(&mut app, &["p"])), Some(key), "{places} of 2");
    }
}

#[test]
fn every_screen_is_drawn_at_any_size() {
    let gone = || PlaceLink::Gone { since: ago(3) };
    for (columns, rows) in [(1, 1), (20, 5), (40, 8), (60, 15), (79, 23), (300, 90)] {
        let mut app = opened((columns, rows));
        for key in ["1", "2", "3", "4", "5", "t", "a", "Esc", "@", "Esc", ":", "Esc", "?", "Esc", "q", "Esc"]
        {
            let _ = press(&mut app, &[key]);
            let _ = shown(&app);
        }
        for link in [PlaceLink::Connecting, gone()] {
            let _ = app.update(Msg::Snapshot(Arc::new(fleet(link))));
            let _ = shown(&app);
        }
        let _ = app.update(Msg::Snapshot(Arc::new(Snapshot::default())));
        let _ = shown(&app);
    }
}

#[test]
fn a_call_is_named_with_its_place_everywhere() {
    let mut app = opened((160, 50));
    let whole = |app: &App, name: &str| {
        let text = shown(app);
        assert!(text.contains(name), "{name}: {text}");
        assert!(!text.contains("281,474") && !text.contains("281474"), "{text}");
    };
    select(&mut app, &id(0, 1));
    let _ = press(&mut app, &["w"]);
    whole(&app, "call web-fix/1 of web-fix/claude");
    let _ = press(&mut app, &["Esc", "3", "g"]);
    let mut calls: Vec<u64> = app.state.view.snapshot.calls.iter().map(|call| call.seq).collect();
    calls.reverse();
    for seq in &calls {
        let _ = app.update(Msg::Record(Arc::new(CallRecord { seq: *seq, ..record() })));
    }
    let _ = press(&mut app, &["=", "j", "="]);
    whole(&app, "of calls - api/1 and + docs/1");
    let _ = press(&mut app, &["Esc"]);
    let _ = app.update(Msg::Coverage(calls[1], Vec::new()));
    whole(&app, "api/t01: what was given of it in call api/1");
}
