//! The layout at every size: nothing outside the screen, nothing overlapping, no panics.

use std::sync::Arc;

use pilothouse::console::app::App;
use pilothouse::console::msg::{Effect, Msg};
use pilothouse::console::state::arrangement::Arrangement;
use pilothouse::console::state::focus::Screen;
use pilothouse::console::state::layout::{Breakpoint, Layout};
use pilothouse::console::state::tiling::{ListPlace, Panes, Tiling};
use pilothouse::model::{OutputView, Snapshot, TaskStatus, TaskView};
use pilothouse::terminal::{KeyPress, MouseButton, MouseInput, MouseKind};
use proptest::prelude::*;
use ratatui::layout::Rect;

use crate::console_fixture::{console, draw, empty, ended, id, now, press, select, shown, snapshot, task};
use jiff::{SignedDuration, Timestamp};

fn areas(plan: &Layout) -> Vec<Rect> {
    let panes = plan.panes.iter().flat_map(|pane| [pane.title, pane.cells]);
    let fixed = [
        plan.bar,
        plan.list,
        plan.timeline,
        plan.asked,
        plan.receipt,
        plan.envelope,
        plan.notice,
        plan.status,
    ];
    let all = fixed.into_iter().chain(panes).chain(plan.rules.iter().copied());
    all.filter(|area| !area.is_empty()).collect()
}

fn arranged(size: (u16, u16), screen: Screen, zoom: bool, pins: &[u32], split: i16) -> App {
    let mut app = console(snapshot(), size);
    let pins = pins.iter().map(|number| id(*number)).collect();
    Arrangement { screen, zoom, pins, split, ..Arrangement::default() }.apply(&mut app.state);
    app
}

fn screen() -> impl Strategy<Value = Screen> {
    prop_oneof![Just(Screen::Tasks), Just(Screen::Focus), Just(Screen::Receipts), Just(Screen::Metrics),]
}

fn tiling() -> impl Strategy<Value = Option<Tiling>> {
    let panes = prop_oneof![
        Just(Panes::One),
        Just(Panes::TwoBeside),
        Just(Panes::TwoStacked),
        Just(Panes::FourGrid),
        Just(Panes::FourStacked)
    ];
    let list = prop_oneof![Just(ListPlace::Top), Just(ListPlace::Left)];
    prop::option::of((panes, list).prop_map(|(panes, list)| Tiling { panes, list }))
}

fn size() -> impl Strategy<Value = (u16, u16)> {
    prop_oneof![(1..=320_u16, 1..=110_u16), (1..=130_u16, 1..=50_u16), (1..=12_u16, 1..=12_u16)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn areas_stay_on_the_screen_and_off_each_other(
        size in size(), screen in screen(), zoom: bool, split in -20..20_i16,
        pins in prop::collection::vec(1..11_u32, 0..6), selected in 1..11_u32, tiling in tiling(),
    ) {
        let mut app = arranged(size, screen, zoom, &pins, split);
        app.state.division.tiling = tiling;
        (app.state.list.selected, app.state.list.is_held) = (Some(id(selected)), true);
        let plan = app.state.layout();
        let whole = Rect::new(0, 0, size.0, size.1);
        let areas = areas(&plan);
        for (at, area) in areas.iter().enumerate() {
            prop_assert_eq!(area.intersection(whole), *area, "{:?} leaves {:?}", area, size);
            for other in &areas[at + 1..] {
                prop_assert!(area.intersection(*other).is_empty(), "{:?} and {:?} at {:?}", area, other, size);
            }
        }
        let mut shown: Vec<_> = plan.panes.iter().map(|pane| pane.task.clone()).collect();
        let panes = shown.len();
        shown.sort();
        shown.dedup();
        prop_assert_eq!(shown.len(), panes, "no task has two panes");
        if plan.breakpoint != Breakpoint::Sentence && matches!(app.state.focus.screen, Screen::Tasks | Screen::Focus) {
            prop_assert!(shown.contains(&id(selected)), "the selected task is always on screen");
        }
        let _ = draw(&app);
    }
}

#[test]
fn pinned_tasks_have_panes_and_the_others_page() {
    let mut app = arranged((200, 60), Screen::Tasks, false, &[5, 3], 0);
    select(&mut app, 7);
    let before = panes(&app);
    assert!([5, 3, 7].iter().all(|number| before.contains(number)), "{before:?}");
    select(&mut app, 1);
    let after = panes(&app);
    assert!([5, 3, 7, 1].iter().all(|number| after.contains(number)), "{after:?}");
    let moved = before.iter().zip(&after).filter(|(old, new)| old != new).count();
    assert_eq!(moved, 1, "{before:?} {after:?}");
    insta::assert_snapshot!("pinned_200x60", shown(&app));
}

#[test]
fn the_automatic_layout_has_as_many_panes_as_the_size_allows() {
    let sizes = [
        ((80, 24), 1),
        ((100, 30), 2),
        ((120, 40), 2),
        ((80, 60), 2),
        ((160, 50), 4),
        ((200, 60), 4),
        ((240, 70), 6),
        ((59, 14), 1),
    ];
    for (size, many) in sizes {
        let app = console(snapshot(), size);
        let layout = app.state.layout();
        assert_eq!(layout.panes.len(), many, "{size:?}");
        assert!(panes(&app).contains(&7), "what waits is on the stage at {size:?}");
        assert!(layout.list.is_empty() || layout.list.width == size.0, "the list has the whole width");
        let rows = usize::from(layout.list.height);
        assert!(rows == 0 || rows == 12.min(9.max(usize::from(size.1 - 3) / 3)), "{rows} rows at {size:?}");
        if size.0 >= 160 {
            insta::assert_snapshot!(format!("automatic_{}x{}", size.0, size.1), shown(&app));
        }
    }
}

/// A few tasks of which one has printed nothing and one waits.
fn some(numbers: &[usize]) -> Snapshot {
    let all = snapshot();
    Snapshot { tasks: numbers.iter().map(|number| Arc::clone(&all.tasks[number - 1])).collect(), ..all }
}

#[test]
fn receipt_and_envelope_stand_beside_the_panes_where_no_pane_needs_their_room() {
    for (size, tasks, receipt, envelope) in [
        ((160, 50), &[6, 7][..], false, false),
        ((200, 60), &[6, 7], true, false),
        ((200, 60), &[3, 6, 7], false, false),
        ((240, 70), &[3, 6, 7], true, true),
        ((240, 70), &[3, 5, 6, 7, 8], false, false),
    ] {
        let app = console(some(tasks), size);
        let layout = app.state.layout();
        assert_eq!(layout.panes.len(), tasks.len(), "{size:?} {tasks:?}");
        let beside = (!layout.receipt.is_empty(), !layout.envelope.is_empty());
        assert_eq!(beside, (receipt, envelope), "{size:?} {tasks:?}");
        assert!(layout.panes.iter().all(|pane| pane.cells.width >= 71), "{size:?} {tasks:?}");
        if receipt {
            insta::assert_snapshot!(format!("beside_{}x{}", size.0, size.1), shown(&app));
        }
    }
}

#[test]
fn a_task_that_printed_nothing_has_no_pane_and_alone_it_says_what_is_known() {
    let silent = |number| TaskView { output: OutputView::default(), ..task(number, "sleep 300", 4, 4) };
    let mut both = some(&[6]);
    both.tasks.push(Arc::new(silent(11)));
    let mut app = console(both, (120, 40));
    assert_eq!(app.state.selected_task().map(|task| task.number), Some(11), "the newest live one");
    assert_eq!(panes(&app), [6]);
    let _ = press(&mut app, &["j", "k"]);
    assert_eq!(panes(&app), [6, 11], "but the one that was chosen");
    let alone = Snapshot { tasks: vec![Arc::new(silent(11))], ..snapshot() };
    let app = console(alone, (80, 24));
    assert!(shown(&app).contains(" runs 4s, nothing printed\n"), "{}", shown(&app));
}

#[test]
fn a_waiting_task_keeps_a_low_pane_beside_the_chosen_task_where_one_pane_fits() {
    let mut app = console(snapshot(), (80, 24));
    assert_eq!(panes(&app), [7]);
    let _ = press(&mut app, &["j"]);
    let chosen = app.state.selected_task().expect("one").number;
    assert_eq!(panes(&app), [7, chosen]);
    let heights: Vec<u16> = app.state.layout().panes.iter().map(|pane| pane.cells.height).collect();
    assert_eq!(heights, [4, 6]);
    assert!(shown(&app).contains("package name: (demo-repo)"), "{}", shown(&app));
    let _ = press(&mut app, &["Esc", "Esc"]);
    assert_eq!(panes(&app), [7], "left to itself, the selection is at what waits");
}

#[test]
fn a_pin_has_one_of_the_panes_where_two_fit_and_only_there() {
    for (size, panes) in [((120, 40), 2), ((80, 24), 1), ((200, 60), 4), ((59, 14), 1)] {
        let mut app = arranged(size, Screen::Tasks, false, &[3], 0);
        select(&mut app, 7);
        let layout = app.state.layout();
        assert_eq!(layout.panes.len(), panes, "{size:?}");
        assert!(layout.pane(&id(7)).is_some() && layout.pane(&id(3)).is_some() == (panes > 1), "{size:?}");
    }
}

#[test]
fn keys_pin_and_divide_and_what_they_did_can_be_kept() {
    let mut app = console(snapshot(), (200, 60));
    select(&mut app, 7);
    let before = app.state.layout().list.height;
    let _ = press(&mut app, &["P", ">", ">", "z"]);
    let kept = Arrangement::of(&app.state);
    assert_eq!((kept.pins.clone(), kept.zoom, kept.split), (vec![id(7)], true, 2));
    let mut other = console(snapshot(), (200, 60));
    kept.clone().apply(&mut other.state);
    assert_eq!(Arrangement::of(&other.state), kept);
    let _ = press(&mut other, &["z"]);
    assert_eq!(other.state.layout().list.height, before + 2);
    select(&mut other, 7);
    let _ = press(&mut other, &["P"]);
    assert_eq!(Arrangement::of(&other.state).pins, []);
}

#[test]
fn a_pin_of_a_task_that_is_gone_is_forgotten() {
    let mut app = arranged((200, 60), Screen::Tasks, false, &[3, 99], 0);
    let _ = app.update(pilothouse::console::msg::Msg::Snapshot(Arc::new(snapshot())));
    assert_eq!(Arrangement::of(&app.state).pins, [id(3)]);
    let _ = app.update(pilothouse::console::msg::Msg::Snapshot(Arc::new(empty())));
    assert_eq!(Arrangement::of(&app.state).pins, []);
}

fn panes(app: &App) -> Vec<u32> {
    let number = |id| app.state.view.task(id).map(|task| task.number);
    app.state.layout().panes.iter().filter_map(|pane| number(&pane.task)).collect()
}

fn changed(app: &mut App, change: impl FnOnce(&mut Snapshot)) {
    let mut next = Snapshot::clone(&app.state.view.snapshot);
    change(&mut next);
    let _ = app.update(Msg::Snapshot(Arc::new(next)));
}

/// Ends a task, as of `ago` seconds ago.
fn end(app: &mut App, number: usize, ago: i64) {
    changed(app, |next| {
        let over = ended(next.tasks[number - 1].as_ref().clone(), TaskStatus::Failed, Some(1), ago);
        next.tasks[number - 1] = Arc::new(over);
    });
}

/// Selects a task directly, without moving through the list.
fn pick(app: &mut App, number: u32) {
    app.state.list.selected = Some(id(number));
    app.state.list.is_held = true;
    let _ = app.update(Msg::Resize(app.state.outer.size.0, app.state.outer.size.1));
}

fn tiled(size: (u16, u16), panes: Panes, list: ListPlace) -> App {
    let mut app = console(snapshot(), size);
    let layout = Some(Tiling { panes, list });
    Arrangement { layout, ..Arrangement::default() }.apply(&mut app.state);
    let _ = app.update(Msg::Resize(size.0, size.1));
    app
}

#[test]
fn beside_the_selected_task_stand_those_that_wait_and_then_live_ones() {
    let mut app = tiled((200, 60), Panes::FourGrid, ListPlace::Left);
    select(&mut app, 10);
    let shown = panes(&app);
    assert_eq!(shown.len(), 4);
    assert!(shown.contains(&10) && shown.contains(&7), "the selected one, the one that waits: {shown:?}");
    assert!(shown.iter().all(|number| ![1, 2, 4].contains(number)), "nothing else that has ended: {shown:?}");
}

#[test]
fn panes_keep_their_places_until_the_selection_moves_to_another_task() {
    let mut app = tiled((200, 60), Panes::FourGrid, ListPlace::Left);
    pick(&mut app, 6);
    let before = panes(&app);
    let other = before.iter().copied().find(|number| *number != 6).expect("another pane");
    pick(&mut app, other);
    assert_eq!(panes(&app), before, "a task that has a pane is selected where it is");

    changed(&mut app, |next| next.tasks.push(Arc::new(task(11, "make", 0, 0))));
    assert_eq!(panes(&app), before, "a new task takes nobody's place");

    pick(&mut app, 4);
    let after = panes(&app);
    assert!(after.contains(&4) && after.contains(&7));
    let moved = before.iter().zip(&after).filter(|(old, new)| old != new).count();
    assert_eq!(moved, 1, "one place has changed: {before:?} {after:?}");
}

#[test]
fn a_task_that_ended_beside_keeps_its_pane_until_it_could_be_read() {
    let mut app = tiled((200, 60), Panes::TwoBeside, ListPlace::Top);
    select(&mut app, 7);
    let beside = *panes(&app).iter().find(|number| **number != 7).expect("another pane");
    let before = panes(&app);
    end(&mut app, beside as usize, 0);
    assert_eq!(panes(&app), before, "just ended");

    let _ = press(&mut app, &["i", "x"]);
    let _ = app.update(Msg::Tick(now() + SignedDuration::from_secs(60)));
    changed(&mut app, |_| {});
    assert_eq!(panes(&app), before, "not while a line is written");
    let _ = press(&mut app, &["Esc"]);
    let after = panes(&app);
    assert!(!after.contains(&beside) && after.contains(&7), "{after:?}");
    assert_eq!(
        before.iter().position(|number| *number == 7),
        after.iter().position(|number| *number == 7),
        "the selected one has not moved"
    );
}

/// No snapshot comes: the console itself knows when a place is to be had, and wakes up for it.
#[test]
fn the_pane_of_a_task_that_ended_goes_at_its_time_though_nothing_else_happens() {
    let mut app = tiled((200, 60), Panes::TwoBeside, ListPlace::Top);
    select(&mut app, 7);
    let beside = *panes(&app).iter().find(|number| **number != 7).expect("another pane");
    changed(&mut app, |next| {
        let task = &mut next.tasks[beside as usize - 1];
        *task = Arc::new(ended_between_seconds(TaskView::clone(task), 0));
    });
    let over = wakes_for_a_pane(&mut app, 4);
    assert!(panes(&app).contains(&beside));
    let _ = app.update(Msg::Tick(over));
    assert!(!panes(&app).contains(&beside), "another task has its place: {:?}", panes(&app));
}

#[test]
fn the_pane_of_a_task_whose_end_was_seen_goes_when_it_is_long_over() {
    let printed = |number, last| task(number, "cargo test", 90, last);
    let tasks = vec![printed(1, 40), ended_between_seconds(printed(2, 3), 2)];
    let mut app =
        console(Snapshot { tasks: tasks.into_iter().map(Arc::new).collect(), ..snapshot() }, (200, 60));
    changed(&mut app, |_| {});
    assert!(panes(&app).contains(&2), "{:?}", panes(&app));
    let _ = app.update(Msg::Tick(now() + SignedDuration::from_secs(1)));
    let _ = press(&mut app, &["k"]);
    let is_read = wakes_for_a_pane(&mut app, 2);
    let _ = app.update(Msg::Tick(is_read));
    let over = wakes_for_a_pane(&mut app, 27);
    assert!(panes(&app).contains(&2), "{:?}", panes(&app));
    let _ = app.update(Msg::Tick(over));
    assert_eq!(panes(&app), [1], "nothing but time has passed");
}

/// Ends a task when no age changes.
fn ended_between_seconds(task: TaskView, ago: i64) -> TaskView {
    let mut task = ended(task, TaskStatus::Completed, Some(0), ago);
    task.ended.iter_mut().for_each(|ended| ended.at -= SignedDuration::from_millis(500));
    task
}

/// Goes to just before so many seconds and a half; tells that the console wakes up for them. Returns that time.
fn wakes_for_a_pane(app: &mut App, seconds: i64) -> Timestamp {
    let at = now() + SignedDuration::from_millis(seconds * 1_000 + 500);
    let _ = app.update(Msg::Tick(at - SignedDuration::from_millis(1)));
    assert_eq!(draw(app).1.wake, Some(at));
    at
}

#[test]
fn a_chosen_layout_is_used_wherever_there_is_room() {
    for (size, wanted, list, count) in [
        ((80, 24), Panes::One, ListPlace::Top, 1),
        ((80, 24), Panes::TwoBeside, ListPlace::Top, 2),
        ((80, 24), Panes::TwoStacked, ListPlace::Left, 2),
        ((80, 24), Panes::FourGrid, ListPlace::Top, 4),
        ((120, 40), Panes::FourStacked, ListPlace::Left, 4),
        ((200, 60), Panes::One, ListPlace::Left, 1),
        ((200, 60), Panes::FourGrid, ListPlace::Top, 4),
        // Two side by side would be too narrow, four stacked too low.
        ((60, 24), Panes::TwoBeside, ListPlace::Left, 2),
        ((60, 20), Panes::FourGrid, ListPlace::Top, 2),
    ] {
        let mut app = tiled(size, wanted, list);
        select(&mut app, 7);
        let layout = app.state.layout();
        assert_eq!(layout.panes.len(), count, "{wanted:?} {list:?} at {size:?}");
        let is_left = layout.list.width < size.0;
        assert_eq!(is_left, list == ListPlace::Left && size.0 >= 80, "{wanted:?} {list:?} at {size:?}");
        assert!(layout.receipt.is_empty() && layout.timeline.is_empty(), "a list and panes, nothing else");
        insta::assert_snapshot!(format!("tiled_{wanted:?}_{list:?}_{}x{}", size.0, size.1), shown(&app));
    }
}

#[test]
fn a_key_goes_through_the_layouts_and_zoom_shows_one_of_any() {
    let mut app = console(snapshot(), (120, 40));
    select(&mut app, 7);
    let mut seen = vec![app.state.layout().panes.len()];
    for _ in 0..5 {
        let _ = press(&mut app, &["Z"]);
        seen.push(app.state.layout().panes.len());
        assert!(shown(&app).contains("layout: "), "it says which");
    }
    assert_eq!(seen, [2, 1, 2, 2, 4, 4]);
    let _ = press(&mut app, &["z"]);
    assert_eq!(app.state.layout().panes.len(), 1);
    let _ = press(&mut app, &["Z"]);
    assert_eq!(
        (app.state.division.tiling, app.state.division.is_zoomed),
        (None, false),
        "around to the automatic one"
    );
    // Layouts that there is no room for are skipped.
    let mut app = console(snapshot(), (60, 18));
    for _ in 0..4 {
        let _ = press(&mut app, &["Z"]);
        let wanted = app.state.division.tiling.map(|tiling| tiling.panes.count());
        assert!(wanted.is_none_or(|count| count == app.state.layout().panes.len()), "{wanted:?}");
    }
}

fn write(app: &mut App, text: &str) {
    for c in text.chars() {
        let name = if c == ' ' { "Space".to_owned() } else { c.to_string() };
        let _ = app.update(Msg::Key(KeyPress::parse(&name).expect("a key")));
    }
}

#[test]
fn a_layout_is_found_by_its_usual_names_and_kept() {
    for word in ["layout", "split", "grid", "tile"] {
        let mut app = console(snapshot(), (120, 40));
        let _ = press(&mut app, &[":"]);
        write(&mut app, word);
        assert!(shown(&app).contains("layout 4 grid"), "{word}\n{}", shown(&app));
    }
    let mut app = console(snapshot(), (120, 40));
    let _ = press(&mut app, &[":"]);
    write(&mut app, "layout 2 side left");
    let effects = press(&mut app, &["Enter"]);
    let is_kept = |effect: &Effect| matches!(effect, Effect::Arranged(kept) if kept.layout.is_some());
    assert!(effects.iter().any(is_kept), "written down at once");
    let tiling = Tiling { panes: Panes::TwoBeside, list: ListPlace::Left };
    assert_eq!(app.state.division.tiling, Some(tiling));
    let _ = press(&mut app, &[">"]);
    let kept = Arrangement::of(&app.state);

    let mut other = console(snapshot(), (120, 40));
    kept.apply(&mut other.state);
    assert_eq!(
        (other.state.division.tiling, other.state.division.split),
        (Some(tiling), 1),
        "as it was left"
    );
    let _ = press(&mut other, &["V"]);
    write(&mut other, "automatic");
    let _ = press(&mut other, &["Enter", "<", "V"]);
    insta::assert_snapshot!("layouts_120x40", shown(&other));
}

#[test]
fn the_border_of_the_list_follows_the_mouse_as_far_as_it_goes() {
    let beside = Tiling { panes: Panes::One, list: ListPlace::Left };
    for tiling in [None, Some(beside)] {
        let mut app = console(snapshot(), (160, 50));
        app.state.division.tiling = tiling;
        app.state.touch();
        let place = |app: &App| {
            let layout = app.state.layout();
            if tiling.is_none() { (80, layout.stage.y) } else { (layout.list.right(), 9) }
        };
        let mouse = |app: &mut App, kind, (col, row): (u16, u16)| {
            let event = MouseInput { kind, row, col, shift: false, alt: false, ctrl: false };
            let _ = app.update(Msg::Mouse(event));
        };
        let (x, y) = place(&app);
        mouse(&mut app, MouseKind::Press(MouseButton::Left), (x, y));
        for (by, expected) in [(4, Some(4)), (8, Some(8)), (0, Some(0)), (200, None), (4, Some(4))] {
            let to = if tiling.is_none() { (x, y + by) } else { (x + by, y) };
            mouse(&mut app, MouseKind::Drag(MouseButton::Left), to);
            let moved = place(&app);
            match expected {
                Some(by) if tiling.is_none() => assert_eq!(moved, (x, y + by)),
                Some(by) => assert_eq!(moved, (x + by, y)),
                None => assert!(moved != (x, y), "as far as it goes"),
            }
        }
        mouse(&mut app, MouseKind::Release(MouseButton::Left), (x, y));
        let held = place(&app);
        mouse(&mut app, MouseKind::Drag(MouseButton::Left), (x + 8, y + 8));
        assert_eq!(place(&app), held, "nothing is dragged any more");
    }
}
