//! Which tasks have a pane on the stage, and at which place: one pure decision, taken when something has happened. A
//! task keeps its place while it lives; only a task that waits for the user, one they chose and one they pinned take
//! the place of another live one.

use std::cmp::Reverse;

use jiff::Timestamp;

use crate::envelope::TaskId;

/// The places on the stage.
#[derive(Debug, Clone, Default)]
pub struct Stage {
    /// The task at each place.
    pub(super) seats: Vec<Option<TaskId>>,
    /// What they were decided for.
    pub(super) decided: Option<SeatWishes>,
    /// Whether something has happened since that may change them.
    pub(super) is_due: bool,
    /// When time alone may change them.
    pub(in crate::console) until: Option<Timestamp>,
}

impl Stage {
    /// Records that tasks have changed or a key was pressed.
    pub(in crate::console) fn review(&mut self) {
        self.is_due = true;
    }
}

/// What the decision knows of a task.
#[derive(Debug, Clone)]
pub(in crate::console) struct StageTask<'a> {
    pub(in crate::console) id: &'a TaskId,
    /// Since when it has certainly waited for the user.
    pub(in crate::console) waits_since: Option<Timestamp>,
    /// When it last printed; none if it never did.
    pub(in crate::console) printed_at: Option<Timestamp>,
    /// When it was started.
    pub(in crate::console) begun_at: Timestamp,
    pub(in crate::console) stage: TaskStage,
    /// It has printed only lately, or has only lately ended.
    pub(in crate::console) is_fresh: bool,
    /// The list's filters let it pass.
    pub(in crate::console) is_listed: bool,
    /// When it loses its right to the place it may have.
    pub(in crate::console) until: Option<Timestamp>,
}

/// Where a task is in its life, as far as its pane is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::console) enum TaskStage {
    Live,
    /// It has ended too short a time ago to be replaced.
    JustEnded,
    Ended,
    /// It has ended, and a key was pressed some time after that.
    SeenToEnd,
}

/// What the places depend on besides the tasks: they are decided again when it changes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(in crate::console) struct SeatWishes {
    /// The number of places.
    pub(in crate::console) room: usize,
    /// Free places go to any live task that has printed, not only to those that printed lately.
    pub(in crate::console) fills: bool,
    pub(in crate::console) selected: Option<TaskId>,
    /// The user made the selection.
    pub(in crate::console) is_made: bool,
    pub(in crate::console) pins: Vec<TaskId>,
}

impl StageTask<'_> {
    fn is_live(&self) -> bool {
        self.stage == TaskStage::Live
    }

    /// Tells whether a place stays its own without being claimed.
    fn stays(&self) -> bool {
        self.printed_at.is_some() && (self.stage != TaskStage::SeenToEnd || self.is_fresh)
    }

    /// Tells whether another task that has printed may have its place.
    fn gives_way(&self) -> bool {
        matches!(self.stage, TaskStage::Ended | TaskStage::SeenToEnd)
    }
}

/// Returns the task at each place. While `is_still`, because the user reads or types, places change only for those that
/// claim one.
pub(in crate::console) fn assign_seats(
    before: &[Option<TaskId>],
    tasks: &[StageTask<'_>],
    wishes: &SeatWishes,
    is_still: bool,
) -> Vec<Option<TaskId>> {
    let find = |id: &TaskId| tasks.iter().find(|task| task.id == id);
    let claims = claims(tasks, wishes);
    let mut seats: Vec<Option<&StageTask<'_>>> = vec![None; wishes.room];
    for (seat, old) in seats.iter_mut().zip(before) {
        let old = old.as_ref().and_then(find);
        *seat = old.filter(|task| is_still || task.stays() || has(&claims, task));
    }
    for task in &claims {
        if !seats.iter().flatten().any(|seated| seated.id == task.id)
            && let Some(at) = free(&seats).or_else(|| least(&seats, &claims))
        {
            seats[at] = Some(task);
        }
    }
    if !is_still {
        for task in newcomers(tasks, wishes, &seats) {
            let Some(at) = free(&seats).or_else(|| yielded_seat(&seats, &claims, task)) else { continue };
            seats[at] = Some(task);
        }
    }
    if wishes.room > 0 && seats.iter().all(Option::is_none) {
        seats[0] = fallback(tasks, wishes);
    }
    seats.into_iter().map(|seat| seat.map(|task| task.id.clone())).collect()
}

fn has(tasks: &[&StageTask<'_>], task: &StageTask<'_>) -> bool {
    tasks.iter().any(|other| other.id == task.id)
}

fn free(seats: &[Option<&StageTask<'_>>]) -> Option<usize> {
    seats.iter().position(Option::is_none)
}

/// Returns the tasks that have a place whatever else is on the stage, as many as there are places: what the user chose,
/// what has waited longest, what they pinned, what else waits, and what is selected by itself if there is anything to
/// see of it.
fn claims<'t, 'a>(tasks: &'t [StageTask<'a>], wishes: &SeatWishes) -> Vec<&'t StageTask<'a>> {
    let find = |id: &TaskId| tasks.iter().find(|task| task.id == id);
    let selected = wishes.selected.as_ref().and_then(find);
    let mut waiters: Vec<_> = tasks.iter().filter(|task| task.waits_since.is_some()).collect();
    waiters.sort_by_key(|task| task.waits_since);
    let made = selected.filter(|_| wishes.is_made);
    let by_itself = selected.filter(|task| task.printed_at.is_some());
    let pins = wishes.pins.iter().filter_map(find);
    let all = made.into_iter().chain(waiters.first().copied()).chain(pins).chain(waiters).chain(by_itself);
    let mut claims: Vec<&StageTask<'_>> = Vec::new();
    for task in all {
        if claims.len() < wishes.room && !has(&claims, task) {
            claims.push(task);
        }
    }
    claims
}

/// Returns the place that is missed least of those nobody claims: of a task that printed nothing, of one that has ended,
/// of the live one that has been silent longest.
fn least(seats: &[Option<&StageTask<'_>>], claims: &[&StageTask<'_>]) -> Option<usize> {
    let seats = seats.iter().enumerate().filter_map(|(at, task)| Some((at, (*task)?)));
    let seats = seats.filter(|(_, task)| !has(claims, task));
    seats.min_by_key(|(_, task)| (task.is_live(), task.printed_at)).map(|(at, _)| at)
}

/// Returns the place that the longest ended task gives up for this one.
fn yielded_seat(
    seats: &[Option<&StageTask<'_>>],
    claims: &[&StageTask<'_>],
    task: &StageTask<'_>,
) -> Option<usize> {
    let at = least(seats, claims)?;
    let old = (*seats.get(at)?)?;
    (old.gives_way() && (task.is_live() || task.printed_at > old.printed_at)).then_some(at)
}

/// Returns the tasks without a place that have something to show: what printed last, then what runs longest.
fn newcomers<'t, 'a>(
    tasks: &'t [StageTask<'a>],
    wishes: &SeatWishes,
    seats: &[Option<&StageTask<'_>>],
) -> Vec<&'t StageTask<'a>> {
    let is_new = |task: &&StageTask<'_>| {
        task.printed_at.is_some()
            && task.is_listed
            && (task.is_fresh || wishes.fills && task.is_live())
            && !seats.iter().flatten().any(|seated| seated.id == task.id)
    };
    let mut new: Vec<_> = tasks.iter().filter(is_new).collect();
    new.sort_by_key(|task| Reverse(task.printed_at));
    if let Some((_, rest)) = new.split_first_mut() {
        rest.sort_by_key(|task| (!task.is_live(), task.begun_at));
    }
    new
}

/// Returns what stands alone on a stage that nobody has a place on: what printed last, or else the selected task.
fn fallback<'t, 'a>(tasks: &'t [StageTask<'a>], wishes: &SeatWishes) -> Option<&'t StageTask<'a>> {
    let printed = tasks.iter().filter(|task| task.printed_at.is_some());
    let last = printed.max_by_key(|task| (task.is_listed, task.is_live(), task.printed_at));
    last.or_else(|| tasks.iter().find(|task| Some(task.id) == wishes.selected.as_ref()))
        .or_else(|| tasks.iter().max_by_key(|task| (task.is_live(), task.begun_at)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What may happen to one of eight tasks, or to the selection.
    #[derive(Debug, Clone, Copy)]
    enum Happening {
        Starts(usize),
        Prints(usize),
        Waits(usize),
        IsAnswered(usize),
        Ends(usize),
        Ages(usize),
        IsSeen(usize),
        IsCleared(usize),
        IsChosen(usize),
        SelectionFollows(usize),
    }

    /// A task of the test: what `StageTask` borrows.
    #[derive(Debug, Clone)]
    struct Known {
        id: TaskId,
        is_there: bool,
        waits_since: Option<Timestamp>,
        printed_at: Option<Timestamp>,
        begun_at: Timestamp,
        stage: TaskStage,
        is_fresh: bool,
    }

    fn at(second: usize) -> Timestamp {
        Timestamp::from_second(i64::try_from(second).expect("a small number")).expect("a time")
    }

    fn known(number: usize) -> Known {
        let id = format!("task_{number:08}").parse().expect("an id");
        let (begun_at, stage) = (at(0), TaskStage::Live);
        Known { id, is_there: false, waits_since: None, printed_at: None, begun_at, stage, is_fresh: false }
    }

    fn apply(tasks: &mut [Known], wishes: &mut SeatWishes, now: Timestamp, happening: Happening) {
        use Happening::*;
        let (Starts(of) | Prints(of) | Waits(of) | IsAnswered(of) | Ends(of) | Ages(of) | IsSeen(of)
        | IsCleared(of) | IsChosen(of) | SelectionFollows(of)) = happening;
        let task = &mut tasks[of];
        match happening {
            Starts(_) if !task.is_there => {
                *task = Known { is_there: true, begun_at: now, ..known(of) };
            }
            Starts(_) => {}
            _ if !task.is_there => {}
            Prints(_) if task.stage == TaskStage::Live => {
                (task.printed_at, task.is_fresh) = (Some(now), true)
            }
            Waits(_) if task.stage == TaskStage::Live => task.waits_since = task.waits_since.or(Some(now)),
            IsAnswered(_) => task.waits_since = None,
            Ends(_) if task.stage == TaskStage::Live => {
                (task.stage, task.waits_since) = (TaskStage::JustEnded, None);
            }
            Ages(_) if task.stage == TaskStage::JustEnded => task.stage = TaskStage::Ended,
            Ages(_) => task.is_fresh = false,
            IsSeen(_) if task.stage == TaskStage::Ended => task.stage = TaskStage::SeenToEnd,
            IsCleared(_) if task.stage != TaskStage::Live => task.is_there = false,
            IsChosen(_) => (wishes.selected, wishes.is_made) = (Some(task.id.clone()), true),
            SelectionFollows(_) => (wishes.selected, wishes.is_made) = (Some(task.id.clone()), false),
            _ => {}
        }
        let is_there = |id: &TaskId| tasks.iter().any(|task| task.is_there && task.id == *id);
        wishes.selected.take_if(|id| !is_there(id));
        wishes.is_made &= wishes.selected.is_some();
    }

    fn stage_tasks(tasks: &[Known]) -> Vec<StageTask<'_>> {
        let there = tasks.iter().filter(|task| task.is_there);
        there
            .map(|task| StageTask {
                id: &task.id,
                waits_since: task.waits_since,
                printed_at: task.printed_at,
                begun_at: task.begun_at,
                stage: task.stage,
                is_fresh: task.is_fresh,
                is_listed: true,
                until: None,
            })
            .collect()
    }

    fn happening() -> impl Strategy<Value = Happening> {
        use Happening::*;
        (0..12_usize, 0..8_usize).prop_map(|(what, of)| match what {
            0 | 1 => Starts(of),
            2 | 3 => Prints(of),
            4 => Waits(of),
            5 => IsAnswered(of),
            6 => Ends(of),
            7 => Ages(of),
            8 => IsSeen(of),
            9 => IsCleared(of),
            10 => IsChosen(of),
            _ => SelectionFollows(of),
        })
    }

    proptest! {
        #[test]
        fn a_pane_keeps_its_place_and_what_needs_the_user_has_one(
            happenings in prop::collection::vec((happening(), any::<bool>()), 1..120),
            room in 1..=6_usize, fills: bool,
        ) {
            let mut tasks: Vec<Known> = (0..8).map(known).collect();
            let mut wishes = SeatWishes { room, fills, ..SeatWishes::default() };
            let mut before: Vec<Option<TaskId>> = Vec::new();
            for (second, (happening, is_still)) in happenings.into_iter().enumerate() {
                apply(&mut tasks, &mut wishes, at(second), happening);
                let there = stage_tasks(&tasks);
                let seats = assign_seats(&before, &there, &wishes, is_still);
                let find = |id: &TaskId| there.iter().find(|task| task.id == id);
                let taken: Vec<&StageTask<'_>> = seats.iter().flatten().filter_map(find).collect();
                let has_seat = |task: &StageTask<'_>| taken.iter().any(|other| other.id == task.id);

                prop_assert_eq!(seats.len(), room);
                prop_assert_eq!(taken.len(), seats.iter().flatten().count(), "a task that is gone has a pane");
                prop_assert_eq!(taken.is_empty(), there.is_empty(), "the stage is empty");
                let mut ids: Vec<_> = taken.iter().map(|task| task.id).collect();
                ids.sort();
                ids.dedup();
                prop_assert_eq!(ids.len(), taken.len(), "a task has two panes");

                let claims = claims(&there, &wishes);
                prop_assert!(claims.iter().all(|task| has_seat(task)), "one that claims a place has none");
                let oldest = there.iter().filter(|task| task.waits_since.is_some()).min_by_key(|task| task.waits_since);
                let chosen = there.iter().find(|task| wishes.is_made && wishes.selected.as_ref() == Some(task.id));
                if let Some(oldest) = oldest.filter(|_| room > 1 || chosen.is_none()) {
                    prop_assert!(has_seat(oldest), "what has waited longest is not on the stage");
                }
                prop_assert!(chosen.is_none_or(has_seat), "what the user chose is not on the stage");

                let is_silent = |task: &&&StageTask<'_>| task.printed_at.is_none() && !has(&claims, task);
                let silent = taken.iter().filter(is_silent).count();
                let has_printed = |task: &StageTask<'_>| task.printed_at.is_some() && task.is_live();
                if !is_still && there.iter().any(|task| has_printed(task) && !has_seat(task)) {
                    prop_assert_eq!(silent, 0, "an empty pane, while one that printed has none");
                }
                for (place, old) in before.iter().enumerate().filter_map(|(place, old)| Some((place, old.as_ref()?))) {
                    let Some(old) = find(old).filter(|task| has_printed(task)) else { continue };
                    match seats.iter().position(|seat| seat.as_ref() == Some(old.id)) {
                        Some(now) => prop_assert_eq!(now, place, "the pane of a live task has moved"),
                        None => {
                            let new = seats[place].as_ref().and_then(find).expect("its place is taken");
                            prop_assert!(has(&claims, new), "a live task lost its place to one that claims none");
                        }
                    }
                }
                before = seats;
            }
        }
    }
}
