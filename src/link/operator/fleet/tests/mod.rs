//! Properties of merging places and of routing requests to them: whatever places publish, and however they come and
//! go, a request about a row goes to the place that published it, with that place's own numbers.

mod world;

pub(in crate::link::operator) use world::running;

use std::sync::Arc;

use jiff::Timestamp;
use proptest::prelude::*;

use super::*;
use crate::model::{CallSummary, Notice, PlaceLink, Slot, TaskView};
use world::{Event, Published, World, event, place_id};

proptest! {
    #[test]
    fn a_request_about_a_row_goes_to_the_place_that_published_it(
        events in prop::collection::vec(event(), 1..24),
    ) {
        let mut world = World::default();
        for event in events {
            world.happen(event);
            world.check()?;
        }
    }
}

#[test]
fn unchanged_rows_are_not_translated_again() {
    let mut world = World::default();
    let one = Published { tasks: vec![1, 2], calls: vec![1], ..Published::default() };
    world.happen(Event::Publishes(0, one.clone()));
    let before = world.merged();
    let (place, owners, _) = world.state.by_id(&place_id(0)).expect("it is there");
    let mut next = Snapshot::clone(&place.snapshot);
    next.tasks[1] = Arc::new(TaskView { cmd: "another".into(), ..TaskView::clone(&next.tasks[1]) });
    place.take(Arc::new(next), owners);
    let after = world.merged();
    assert!(Arc::ptr_eq(&before.tasks[0], &after.tasks[0]) && Arc::ptr_eq(&before.calls[0], &after.calls[0]));
    assert_eq!(after.tasks[1].cmd, "another");
}

#[test]
fn an_id_stays_with_the_place_that_had_it_first() {
    let mut world = World::default();
    let own = Published { tasks: vec![1], ..Published::default() };
    world.happen(Event::Publishes(1, own.clone()));
    world.happen(Event::Publishes(0, own.clone()));
    let shown = |world: &World| world.merged().tasks.iter().map(|task| task.cmd.clone()).collect::<Vec<_>>();
    assert_eq!(shown(&world), ["p1 runtime 1"], "though the other place stands before it");
    world.happen(Event::Publishes(1, Published::default()));
    world.happen(Event::Publishes(0, own));
    assert_eq!(shown(&world), ["p0 runtime 1"]);
}

#[test]
fn held_calls_of_all_places_are_ordered_by_how_long_they_have_waited() {
    let mut world = World::default();
    for (at, since) in [(2, 20), (0, 10), (1, 30)] {
        world.happen(Event::Publishes(at, Published { held: vec![1], ..Published::default() }));
        let (place, owners, _) = world.state.by_id(&place_id(at)).expect("it is there");
        let mut next = Snapshot::clone(&place.snapshot);
        next.gate.held[0].since = Timestamp::from_second(since).expect("a time");
        place.take(Arc::new(next), owners);
    }
    let since: Vec<i64> = world.merged().gate.held.iter().map(|held| held.since.as_second()).collect();
    assert_eq!(since, [10, 20, 30]);
}

#[test]
fn a_place_that_is_not_attached_refuses_with_the_reason_and_keeps_what_it_showed() {
    let mut world = World::default();
    world.happen(Event::Publishes(2, Published { tasks: vec![1], ..Published::default() }));
    world.happen(Event::Lost(2));
    assert_eq!(world.merged().tasks.len(), 1);
    let target = world.state.places[0].target();
    let Err(error) = target else { panic!("refused") };
    assert_eq!(error.to_string(), "api is lost: a test");
}

#[test]
fn earlier_notices_of_a_place_are_no_news_and_later_ones_name_the_place() {
    let mut world = World::default();
    world.ensure(2);
    let say = |world: &mut World, seqs: &[u64]| {
        let notice = |seq: &u64| Notice {
            seq: *seq,
            at: Timestamp::UNIX_EPOCH,
            is_error: false,
            text: format!("said {seq}"),
            from: None,
        };
        let notices = seqs.iter().map(notice).collect();
        let (place, owners, notices_of_all) = world.state.by_id(&place_id(2)).expect("it is there");
        place.take(Arc::new(Snapshot { notices, ..Snapshot::default() }), owners);
        notices_of_all.take(place);
    };
    say(&mut world, &[1, 2]);
    say(&mut world, &[2, 3, 4]);
    let told: Vec<(u64, String)> =
        world.merged().notices.into_iter().map(|notice| (notice.seq, notice.text)).collect();
    assert_eq!(told, [(1, "api: said 3".to_owned()), (2, "api: said 4".to_owned())]);
}

#[test]
fn f57_one_place_cannot_push_out_the_notices_and_calls_of_the_others() {
    let mut world = World::default();
    (0..2).for_each(|at| world.ensure(at));
    let publish = |world: &mut World, at: usize, notices: u64, calls: u64| {
        let (place, owners, of_all) = world.state.by_id(&place_id(at)).expect("it is there");
        place.noticed = Some(0);
        let notice = |seq| Notice {
            seq,
            at: Timestamp::UNIX_EPOCH,
            is_error: false,
            text: "x".repeat(1 << 20),
            from: None,
        };
        let mut snapshot = Published { calls: vec![1], ..Published::default() }.snapshot("someone");
        let call = snapshot.calls[0].clone();
        snapshot.calls =
            (0..calls).map(|seq| Arc::new(CallSummary { seq, ..CallSummary::clone(&call) })).collect();
        snapshot.notices = (1..=notices).map(notice).collect();
        place.link = PlaceLink::Live;
        place.take(Arc::new(snapshot), owners);
        of_all.take(place);
    };
    publish(&mut world, 0, 3, 5);
    publish(&mut world, 1, 300, 9_000);
    let merged = world.merged();
    let of = |name: &str| merged.notices.iter().filter(|notice| notice.text.starts_with(name)).count();
    assert_eq!((of("web: "), of("web-2: ")), (3, 97));
    assert!(merged.notices.iter().all(|notice| notice.text.len() < 3_000), "each is short");
    let slots = |slot: Slot| merged.calls.iter().filter(|call| Slot::of(call.seq).0 == slot).count();
    let [one, other] = [0, 1].map(|at| world.state.places[at].slot());
    assert_eq!((slots(one), slots(other)), (5, 1_000));
}
