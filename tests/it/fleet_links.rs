//! One fleet of many places behind links that are slow, split what they carry and die at random: no answered
//! request is lost, nothing is typed twice, and what is shown is up to date, or marked as not.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use pilothouse::envelope::TaskId;
use pilothouse::link::{Act, Fleet, Operator, Reply};
use pilothouse::model::{PlaceLink, Snapshot, TypedInput};

use crate::hosts::start;
use crate::hosts_pipe::{behind_bad_lines, has_python};
use crate::support::{Another, Home, skip, wait_until};

/// The approximate lifetime of a link, in milliseconds.
const LIFE: &str = "3000";
/// How long it may take until all links are attached again.
const PATIENCE: Duration = Duration::from_secs(120);

/// A runtime behind such links, with its tasks.
struct Far<'a> {
    workspace: Another<'a>,
    name: String,
    steady: Operator,
    tasks: Vec<TaskId>,
    /// The numbers typed into each task and accepted.
    taken: Vec<Vec<u32>>,
}

fn seqs(snapshot: &Snapshot) -> BTreeSet<u64> {
    snapshot.calls.iter().map(|call| call.seq).collect()
}

/// Counts how often a place is lost, until `is_over` is set.
async fn count_deaths(fleet: Operator, deaths: Arc<AtomicUsize>, is_over: Arc<AtomicBool>) {
    let mut snapshots = fleet.snapshot();
    let mut was_live: BTreeSet<String> = BTreeSet::new();
    while !is_over.load(Ordering::Relaxed) && snapshots.changed().await.is_ok() {
        let snapshot = Arc::clone(&snapshots.borrow_and_update());
        for place in &snapshot.places {
            let name = place.name.name.clone();
            if place.link == PlaceLink::Live {
                was_live.insert(name);
            } else if was_live.remove(&name) {
                deaths.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}

async fn nothing_is_lost(places: usize, tasks: usize, most_deaths: usize) {
    if !has_python() {
        return skip("there is no python3");
    }
    let (here, there) = (Home::new(), Home::new());
    let host = behind_bad_lines(&there, LIFE);
    let fleet = Fleet::of_this_machine(&here.places().locks(), None);
    let mut all = Vec::new();
    for number in 0..places {
        let other = there.another(&format!("place-{number}"));
        assert!(other.run(&["command", "run", "true"]).status.success());
        let socket = other.places().operator_socket();
        let steady = Operator::attach(&socket, other.folder().to_owned()).await.expect("attaches");
        let mut started = Vec::new();
        for task in 0..tasks {
            let cmd = format!("while read -r line; do echo $line >> typed-{task}; done");
            started.push(start(&steady, &cmd).await);
        }
        fleet.open_elsewhere(&host, &other.folder().display().to_string());
        all.push(Far {
            workspace: other,
            name: format!("box:place-{number}"),
            steady,
            taken: vec![Vec::new(); started.len()],
            tasks: started,
        });
    }
    let fleet = Operator::Fleet(fleet);
    let (deaths, is_over) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    let counting = tokio::spawn(count_deaths(fleet.clone(), Arc::clone(&deaths), Arc::clone(&is_over)));
    let (mut next, mut refused, mut unknown) = (0, 0, 0);
    let mut news = fleet.snapshot();
    while deaths.load(Ordering::Relaxed) < most_deaths {
        let before = unknown + all.iter().flat_map(|far| &far.taken).map(Vec::len).sum::<usize>();
        for far in &mut all {
            next += 1;
            let at = usize::try_from(next).expect("fits") % far.tasks.len();
            let input = TypedInput::Raw(format!("{next}\r").into_bytes());
            match fleet.ask(Act::Send(input).on(far.tasks[at].clone())).await {
                Ok(Reply::Sent(sent)) if sent.rejection.is_none() => far.taken[at].push(next),
                Ok(_) => refused += 1,
                Err(error) if error.to_string().contains("not known to have arrived") => unknown += 1,
                Err(_) => refused += 1,
            }
        }
        let after = unknown + all.iter().flat_map(|far| &far.taken).map(Vec::len).sum::<usize>();
        if before == after {
            // While every place is lost there is nothing to type into.
            news.changed().await.expect("it goes on");
        }
    }
    is_over.store(true, Ordering::Relaxed);
    for far in &all {
        // Once a place is attached again, the fleet knows everything that has happened there.
        let whole = seqs(&far.steady.snapshot().borrow());
        let mut snapshots = fleet.snapshot();
        let known = snapshots.wait_for(|snapshot| {
            let place = snapshot.places.iter().find(|place| place.name.name == far.name);
            place.is_some_and(|place| place.link == PlaceLink::Live && seqs(&place.snapshot) == whole)
        });
        let known = tokio::time::timeout(PATIENCE, known).await;
        assert!(known.is_ok_and(|known| known.is_ok()), "{} is as it is", far.name);
    }
    counting.abort();
    let taken: usize = all.iter().flat_map(|far| &far.taken).map(Vec::len).sum();
    for far in &all {
        let folder = far.workspace.folder();
        for (task, taken) in far.taken.iter().enumerate() {
            let lines = || -> Vec<u32> {
                let text = std::fs::read_to_string(folder.join(format!("typed-{task}"))).unwrap_or_default();
                text.lines().map(|line| line.parse().expect("a whole number")).collect()
            };
            tokio::task::block_in_place(|| {
                wait_until("what was taken has been read", || {
                    let read: BTreeSet<u32> = lines().into_iter().collect();
                    taken.iter().all(|number| read.contains(number))
                });
            });
            let read = lines();
            let once: BTreeSet<u32> = read.iter().copied().collect();
            assert_eq!(once.len(), read.len(), "typed twice: {read:?}");
        }
    }
    assert!(taken > 0, "some of it got through");
    let deaths = deaths.load(Ordering::Relaxed);
    eprintln!(
        "{places} places with {tasks} tasks each, {deaths} links died: {taken} inputs taken, each read once; {refused} refused, {unknown} said to be unknown"
    );
    drop(fleet);
    tokio::task::block_in_place(|| drop(all));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn places_whose_links_die_lose_nothing_and_are_typed_into_once() {
    nothing_is_lost(2, 2, 3).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "minutes; .ci/long runs it"]
async fn long_twenty_places_whose_links_die_lose_nothing() {
    nothing_is_lost(20, 50, 1_000).await;
}
