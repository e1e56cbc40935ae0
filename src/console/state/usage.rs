//! The resource usage of the visible tasks (CPU, memory, processes, bytes per second) and when to measure
//! again: idle tasks less and less often, tasks that are not on screen never. Also how fast the console
//! itself is. Pure.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use crate::console::state::listing::rows::ListRows;
use crate::console::state::load::LoadHistory;
use crate::envelope::TaskId;
use crate::link::{Act, Request};
use crate::model::millis_between;
use crate::model::{Subject, TaskView};
use crate::process::ProcessUsage;
use crate::runtime::TaskUsage;

/// Seconds of CPU history shown.
const HISTORY: usize = 10;

/// The longest interval between two measurements of an idle task, in seconds.
const LONGEST: u32 = 16;

/// The longest interval between two measurements of a task that prints but uses no CPU time, in seconds.
const CALM: u32 = 4;

/// Measurements due this close together are made at once.
const TOGETHER: SignedDuration = SignedDuration::from_millis(250);

/// A measurement request without any reply is given up after this long.
const PATIENCE: SignedDuration = SignedDuration::from_secs(10);

/// The measurements of all tasks.
#[derive(Debug, Clone, Default)]
pub struct Usages {
    of: BTreeMap<TaskId, UsageSamples>,
    /// The tasks on screen.
    wanted: Vec<TaskId>,
    /// The list and the range of it that they were taken from.
    basis: Option<(Arc<ListRows>, Range<usize>)>,
    /// The pending request: when it was made, and for which tasks.
    asked: Option<(Timestamp, Vec<TaskId>)>,
    /// The task whose processes are shown one by one.
    listed: Option<TaskId>,
    /// Whether the load is on screen.
    shows_load: bool,
    /// What all of them use together.
    pub load: LoadHistory,
}

/// The measurements of one task.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UsageSamples {
    /// Percent of one CPU; none before the second measurement, or where it cannot be determined.
    pub cpu: Option<u64>,
    /// Memory in use, in bytes.
    pub memory: Option<u64>,
    /// Number of processes.
    pub processes: Option<u32>,
    /// Number of bytes typed into it.
    pub typed: u64,
    /// Bytes printed per second.
    pub printed: Option<u64>,
    /// Percent of a CPU in each of the last seconds, oldest first.
    pub history: VecDeque<u64>,
    /// Its processes with the percent of one CPU that each uses, if they are shown one by one.
    pub tree: Vec<(ProcessUsage, Option<u64>)>,
    last: Look,
    rest: u32,
    due: Timestamp,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Look {
    at: Timestamp,
    cpu_ms: Option<u64>,
    bytes: u64,
}

impl Usages {
    /// Returns the measurements of a task.
    pub fn of(&self, task: &TaskId) -> Option<&UsageSamples> {
        self.of.get(task)
    }

    /// Tells whether this range of the list differs from the one last recorded, and records it.
    pub(crate) fn is_new(&mut self, listed: &Arc<ListRows>, places: Range<usize>) -> bool {
        let is_same =
            |(known, at): &(Arc<ListRows>, Range<usize>)| Arc::ptr_eq(known, listed) && *at == places;
        if self.basis.as_ref().is_some_and(is_same) {
            return false;
        }
        self.basis = Some((Arc::clone(listed), places));
        true
    }

    /// Forces the set of measured tasks to be determined again.
    pub(crate) fn renew(&mut self) {
        self.basis = None;
    }

    /// Records which tasks are on screen; those that have printed since are measured sooner.
    pub(crate) fn want<'a>(&mut self, tasks: impl Iterator<Item = &'a TaskView>) {
        self.wanted.clear();
        for task in tasks {
            self.wanted.push(task.id.clone());
            if let Some(used) = self.of.get_mut(&task.id)
                && used.last.bytes != task.output.bytes
            {
                used.rest = used.rest.min(CALM);
                used.due = used.due.min(after(used.last.at, used.rest));
            }
        }
    }

    /// Sets the task whose processes are shown one by one, and whether the load is shown. A new task is measured next.
    pub(crate) fn show(&mut self, task: Option<TaskId>, shows_load: bool) {
        self.shows_load = shows_load;
        if self.listed == task {
            return;
        }
        let used = task.as_ref().and_then(|task| self.of.get_mut(task));
        used.into_iter().for_each(|used| used.due = Timestamp::MIN);
        self.listed = task;
    }

    /// Drops tasks that are no longer listed.
    pub(crate) fn keep(&mut self, is_there: impl Fn(&TaskId) -> bool) {
        self.of.retain(|task, _| is_there(task));
    }

    /// Returns when to measure next: never while nothing is on screen; while a reply is pending, not before
    /// it times out.
    pub fn next(&self) -> Option<Timestamp> {
        let due = |task: &TaskId| self.of.get(task).map_or(Timestamp::MIN, |used| used.due);
        let next = self.wanted.iter().map(due).min()?;
        Some(self.asked.as_ref().map_or(next, |(asked, _)| *asked + PATIENCE))
    }

    /// Returns the request for what is to be measured now, if anything.
    pub(crate) fn due(&mut self, now: Timestamp) -> Option<Request> {
        if self.asked.as_ref().is_some_and(|(asked, _)| now < *asked + PATIENCE) {
            return None;
        }
        let is_due = |task: &&TaskId| self.of.get(*task).is_none_or(|used| used.due <= now + TOGETHER);
        let due: Vec<TaskId> = self.wanted.iter().filter(is_due).cloned().collect();
        self.asked = (!due.is_empty()).then(|| (now, due.clone()));
        (!due.is_empty()).then(|| Act::Usage(self.listed.clone()).on(Subject::Tasks(due)))
    }

    /// Takes new measurements; returns whether they change what is displayed.
    pub(crate) fn take(&mut self, now: Timestamp, seen: Vec<(TaskUsage, u64)>) -> bool {
        let asked = self.asked.take().map(|(_, tasks)| tasks).unwrap_or_default();
        let mut is_new = false;
        for (usage, bytes) in seen {
            let look = Look { at: now, cpu_ms: usage.tree.map(|tree| tree.cpu_ms), bytes };
            let before = self.of.remove(&usage.task);
            let shown = before.as_ref().map(UsageSamples::shown_values);
            let used = UsageSamples::next(before, &usage, look);
            is_new |= shown != Some(used.shown_values());
            self.of.insert(usage.task, used);
        }
        // A task missing from the reply has just ended and will leave the list of live tasks by itself.
        for task in asked {
            let used = self.of.entry(task).or_insert_with(|| UsageSamples::unseen(now));
            if used.due <= now {
                used.due = after(now, LONGEST);
                used.cpu = None;
            }
        }
        let used = self.of.values().filter_map(|used| Some((used.cpu?, used.memory?)));
        let is_other_load = self.load.add(now, used);
        is_new || self.shows_load && is_other_load
    }
}

type Shown = (Option<u64>, Option<u64>, Option<u32>, u64, Option<u64>, VecDeque<u64>, Vec<ShownProcess>);

type ShownProcess = (i32, String, Option<u64>, u64);

impl UsageSamples {
    fn next(before: Option<Self>, usage: &TaskUsage, look: Look) -> Self {
        let rate = |delta: u64, ms: u64| delta.saturating_mul(1_000) / ms.max(1);
        let last = before.as_ref().map(|used| used.last);
        let spent = last.and_then(|last| Some(look.cpu_ms?.saturating_sub(last.cpu_ms?)));
        let cpu = last.zip(spent).map(|(last, spent)| rate(spent, millis_between(last.at, look.at)) / 10);
        let grown = last.map(|last| look.bytes.saturating_sub(last.bytes));
        let printed = last.zip(grown).map(|(last, grown)| rate(grown, millis_between(last.at, look.at)));
        let tree = usage.processes.iter().map(|process| {
            let known = before.as_ref().and_then(|used| used.cpu_ms_of(process));
            let spent = known.map(|before| process.cpu_ms.saturating_sub(before));
            (
                process.clone(),
                last.zip(spent).map(|(last, spent)| rate(spent, millis_between(last.at, look.at)) / 10),
            )
        });
        let tree = tree.collect();
        let (mut history, rest) = before.map(|used| (used.history, used.rest)).unwrap_or_default();
        let seconds =
            last.map_or(0, |last| millis_between(last.at, look.at).div_ceil(1_100)).clamp(1, HISTORY as u64);
        for _ in 0..seconds {
            history.extend(cpu);
        }
        history.drain(..history.len().saturating_sub(HISTORY));
        let longest = if grown == Some(0) { LONGEST } else { CALM };
        let is_still = last.is_some() && spent.unwrap_or(0) == 0;
        let rest = if is_still { (rest * 2).clamp(2, longest) } else { 1 };
        Self {
            cpu,
            memory: usage.tree.map(|tree| tree.memory_bytes),
            processes: usage.tree.map(|tree| tree.processes),
            typed: usage.typed_bytes,
            printed,
            history,
            tree,
            last: look,
            rest,
            due: after(look.at, rest),
        }
    }

    /// Returns the processor time of a process at the last measurement, in milliseconds.
    fn cpu_ms_of(&self, process: &ProcessUsage) -> Option<u64> {
        self.tree.iter().find(|(before, _)| before.pid == process.pid).map(|(before, _)| before.cpu_ms)
    }

    fn unseen(at: Timestamp) -> Self {
        Self { last: Look { at, ..Look::default() }, rest: LONGEST, due: at, ..Self::default() }
    }

    /// Returns what is displayed of it, with memory rounded as on screen.
    fn shown_values(&self) -> Shown {
        let memory = self.memory.map(|bytes| bytes >> 16);
        let process = |(usage, cpu): &(ProcessUsage, Option<u64>)| {
            (usage.pid, usage.command.clone(), *cpu, usage.memory_bytes >> 16)
        };
        let tree = self.tree.iter().map(process).collect();
        (self.cpu, memory, self.processes, self.typed, self.printed, self.history.clone(), tree)
    }
}

fn after(at: Timestamp, seconds: u32) -> Timestamp {
    at + SignedDuration::from_secs(i64::from(seconds))
}

/// How many durations are kept; percentiles are exact over these.
const REMEMBERED: usize = 500;

/// The console's own latencies.
#[derive(Debug, Clone, Default)]
pub struct Pace {
    /// From reading a key to having written the frame that shows its echo.
    pub echo: Latencies,
    /// From starting to draw a frame to having written it.
    pub frame: Latencies,
}

/// The latest durations of one kind, in microseconds.
#[derive(Debug, Clone, Default)]
pub struct Latencies(VecDeque<u64>);

impl Latencies {
    pub fn add(&mut self, took: Duration) {
        if self.0.len() == REMEMBERED {
            self.0.pop_front();
        }
        self.0.push_back(u64::try_from(took.as_micros()).unwrap_or(u64::MAX));
    }

    /// Returns the 50th, 95th and 99th percentile in microseconds; none if there are no durations.
    pub fn shares(&self) -> Option<[u64; 3]> {
        let mut all: Vec<u64> = self.0.iter().copied().collect();
        all.sort_unstable();
        let share = |percent: usize| all.get((all.len() * percent).div_ceil(100).max(1) - 1).copied();
        Some([share(50)?, share(95)?, share(99)?])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::Usage;

    fn at(ms: i64) -> Timestamp {
        Timestamp::UNIX_EPOCH + SignedDuration::from_millis(ms)
    }

    fn id() -> TaskId {
        TaskId::from_random([1; 8])
    }

    fn seen(cpu_ms: u64, bytes: u64) -> Vec<(TaskUsage, u64)> {
        let tree = Some(Usage { cpu_ms, memory_bytes: 1 << 20, processes: 2 });
        vec![(TaskUsage { task: id(), tree, typed_bytes: 3, processes: Vec::new() }, bytes)]
    }

    /// Returns the tasks to measure now.
    fn due(usages: &mut Usages, now: Timestamp) -> Vec<TaskId> {
        usages.due(now).map_or_else(Vec::new, |request| match request.subject {
            Subject::Tasks(tasks) => tasks,
            other => panic!("{other:?}"),
        })
    }

    fn wanting() -> Usages {
        Usages { wanted: vec![id()], ..Usages::default() }
    }

    /// A task that was seen once.
    fn seen_once() -> Usages {
        let mut usages = wanting();
        let _ = usages.take(at(0), seen(10, 0));
        usages
    }

    /// Returns how long apart the next looks at a task are, in seconds; it prints the number of lines of each.
    fn gaps(usages: &mut Usages, lines: impl IntoIterator<Item = u64>) -> Vec<i64> {
        let mut now = at(0);
        let gap = |lines| {
            let next = usages.next().expect("a next look");
            let gap = next.duration_since(now).as_secs();
            now = next;
            let _ = due(usages, now);
            let _ = usages.take(now, seen(10, lines));
            gap
        };
        lines.into_iter().map(gap).collect()
    }

    #[test]
    fn usage_is_known_from_the_second_measurement() {
        let mut usages = wanting();
        assert_eq!(due(&mut usages, at(0)), [id()]);
        assert_eq!(due(&mut usages, at(1)), [], "one look at a time");
        assert!(usages.take(at(0), seen(500, 1_000)));
        let used = usages.of(&id()).expect("known");
        assert_eq!((used.cpu, used.printed, used.memory), (None, None, Some(1 << 20)));
        assert_eq!(due(&mut usages, at(700)), []);
        assert_eq!(due(&mut usages, at(1_000)), [id()]);
        assert!(usages.take(at(2_000), seen(1_500, 5_000)));
        let used = usages.of(&id()).expect("known");
        assert_eq!((used.cpu, used.printed, used.typed), (Some(50), Some(2_000), 3));
        assert_eq!(used.history, [50, 50]);
    }

    #[test]
    fn an_idle_task_is_measured_less_and_less_often_and_causes_no_frame() {
        let mut usages = seen_once();
        assert_eq!(gaps(&mut usages, [0; 7]), [1, 2, 4, 8, 16, 16, 16]);
        let next = usages.next().expect("a next look");
        assert!(!usages.take(next, seen(10, 0)), "nothing reads differently");
    }

    #[test]
    fn a_task_that_prints_but_uses_no_cpu_is_measured_every_few_seconds() {
        let mut usages = seen_once();
        assert_eq!(gaps(&mut usages, 1..=5), [1, 2, 4, 4, 4]);
    }

    #[test]
    fn nothing_is_measured_while_nothing_is_on_screen() {
        let mut usages = seen_once();
        usages.want(std::iter::empty());
        assert_eq!((usages.next(), due(&mut usages, at(99_000))), (None, Vec::new()));
    }

    #[test]
    fn a_task_without_an_answer_is_not_measured_over_and_over() {
        let mut usages = wanting();
        assert_eq!(due(&mut usages, at(0)), [id()]);
        let _ = usages.take(at(0), Vec::new());
        assert_eq!(due(&mut usages, at(5_000)), []);
    }

    #[test]
    fn usage_that_cannot_be_measured_is_not_zero() {
        let mut usages = wanting();
        let blind = || vec![(TaskUsage { task: id(), tree: None, typed_bytes: 0, processes: Vec::new() }, 0)];
        let _ = usages.take(at(0), blind());
        let _ = usages.take(at(1_000), blind());
        let used = usages.of(&id()).expect("known");
        assert_eq!((used.cpu, used.memory, used.processes, used.printed), (None, None, None, Some(0)));
    }

    #[test]
    fn percentiles_are_of_the_last_durations() {
        let mut lately = Latencies::default();
        assert_eq!(lately.shares(), None);
        (1..=100).for_each(|us| lately.add(Duration::from_micros(us)));
        assert_eq!(lately.shares(), Some([50, 95, 99]));
        (0..REMEMBERED).for_each(|_| lately.add(Duration::from_micros(7)));
        assert_eq!(lately.shares(), Some([7, 7, 7]));
    }

    #[test]
    fn the_task_whose_processes_are_shown_is_measured_next_and_so_is_each_of_them() {
        let mut usages = seen_once();
        let _ = usages.take(at(60_000), seen(10, 0));
        assert_eq!(due(&mut usages, at(60_500)), []);
        usages.show(Some(id()), false);
        let request = usages.due(at(60_500)).expect("at once");
        assert!(matches!(request.act, Act::Usage(Some(task)) if task == id()));
        let with = |cpu_ms: u64| {
            let mut seen = seen(10, 0);
            let process =
                |pid, cpu_ms| ProcessUsage { pid, depth: 0, command: "x".into(), cpu_ms, memory_bytes: 0 };
            seen[0].0.processes = vec![process(7, cpu_ms), process(8 + i32::try_from(cpu_ms).unwrap(), 5)];
            seen
        };
        let _ = usages.take(at(61_000), with(0));
        assert!(usages.take(at(63_000), with(500)), "reads differently");
        let used = usages.of(&id()).expect("known");
        let percents: Vec<_> = used.tree.iter().map(|(_, cpu)| *cpu).collect();
        assert_eq!(percents, [Some(25), None], "another process is not compared with it");
        usages.show(None, false);
        let _ = usages.take(at(65_000), seen(10, 0));
        assert_eq!(usages.of(&id()).expect("known").tree, []);
    }
}
