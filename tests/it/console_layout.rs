//! Where things stand, at every size: nothing outside the screen, nothing over anything else, nothing panics.

use std::sync::Arc;

use pilothouse::console::app::layout::{Breakpoint, Layout};
use pilothouse::console::app::setup::Arrangement;
use pilothouse::console::app::{App, Screen};
use proptest::prelude::*;
use ratatui::layout::Rect;

use crate::console_fixture::{console, draw, empty, id, press, select, shown, snapshot};

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
    app.arrange(Arrangement { screen, zoom, pins, split, ..Arrangement::default() });
    app
}

fn screen() -> impl Strategy<Value = Screen> {
    prop_oneof![Just(Screen::Tasks), Just(Screen::Focus), Just(Screen::Receipts), Just(Screen::Metrics),]
}

fn size() -> impl Strategy<Value = (u16, u16)> {
    prop_oneof![(1..=320_u16, 1..=110_u16), (1..=130_u16, 1..=50_u16), (1..=12_u16, 1..=12_u16)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn areas_stay_on_the_screen_and_off_each_other(
        size in size(), screen in screen(), zoom: bool, split in -20..20_i16,
        pins in prop::collection::vec(1..11_u32, 0..6), selected in 1..11_u32,
    ) {
        let mut app = arranged(size, screen, zoom, &pins, split);
        app.list.selected = Some(id(selected));
        let plan = app.layout();
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
        if plan.breakpoint != Breakpoint::Sentence && matches!(app.screen, Screen::Tasks | Screen::Focus) {
            prop_assert!(shown.contains(&id(selected)), "the selected task is always on screen");
        }
        let _ = draw(&app);
    }
}

#[test]
fn pinned_tasks_keep_their_panes_and_the_others_page() {
    let mut app = arranged((200, 60), Screen::Tasks, false, &[5, 3], 0);
    let panes = |app: &App| app.layout().panes.iter().map(|pane| pane.task.clone()).collect::<Vec<_>>();
    select(&mut app, 7);
    assert_eq!(panes(&app)[..2], [id(5), id(3)]);
    assert!(panes(&app).contains(&id(7)));
    select(&mut app, 1);
    assert_eq!(panes(&app)[..2], [id(5), id(3)]);
    assert_eq!(panes(&app), [id(5), id(3), id(1)]);
    insta::assert_snapshot!("pinned_200x60", shown(&app));
}

#[test]
fn a_pin_divides_the_stage_where_two_panes_fit_and_only_there() {
    for (size, panes) in [((120, 40), 2), ((80, 24), 1), ((200, 60), 2), ((320, 80), 4), ((59, 14), 1)] {
        let mut app = arranged(size, Screen::Tasks, false, &[3], 0);
        select(&mut app, 7);
        assert_eq!(app.layout().panes.len(), panes, "{size:?}");
        assert!(app.layout().pane(&id(7)).is_some());
    }
}

#[test]
fn keys_pin_and_divide_and_what_they_did_can_be_kept() {
    let mut app = console(snapshot(), (200, 60));
    select(&mut app, 7);
    let before = app.layout().list.width;
    let _ = press(&mut app, &["P", ">", ">", "z"]);
    let kept = app.arrangement();
    assert_eq!((kept.pins.clone(), kept.zoom, kept.split), (vec![id(7)], true, 2));
    let mut other = console(snapshot(), (200, 60));
    other.arrange(kept.clone());
    assert_eq!(other.arrangement(), kept);
    let _ = press(&mut other, &["z"]);
    assert_eq!(other.layout().list.width, before + 8);
    select(&mut other, 7);
    let _ = press(&mut other, &["P"]);
    assert_eq!(other.arrangement().pins, []);
}

#[test]
fn a_pin_of_a_task_that_is_gone_is_forgotten() {
    let mut app = arranged((200, 60), Screen::Tasks, false, &[3, 99], 0);
    let _ = app.update(pilothouse::console::msg::Msg::Snapshot(Arc::new(snapshot())));
    assert_eq!(app.arrangement().pins, [id(3)]);
    let _ = app.update(pilothouse::console::msg::Msg::Snapshot(Arc::new(empty())));
    assert_eq!(app.arrangement().pins, []);
}
