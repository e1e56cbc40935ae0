//! A task that is replayed: its moments on a time line with long silences shortened, and the position. Pure; the
//! screen of a moment is produced outside.

use std::sync::Arc;

use jiff::Timestamp;

use crate::console::state::picture::Picture;
use crate::envelope::TaskId;
use crate::model::{TaskEvent, TaskFact};
use crate::terminal::{Mark, MarkKind};

/// Longer silences are shortened to this, in milliseconds.
const LONGEST_SILENCE: u32 = 1_500;

/// The playback speeds, as multiples of real time.
const SPEEDS: [u32; 4] = [1, 2, 4, 8];

/// A gap between frames longer than this was not intended, as when a laptop slept; in milliseconds.
const LONGEST_FRAME: u32 = 1_000;

/// A moment in a task's life at which its screen changed or something happened to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplayMoment {
    /// The position on the time line, in milliseconds.
    pub at: u32,
    /// The actual time, in milliseconds since the task was created.
    pub really_at: u32,
    /// The number of log marks to apply for its screen.
    pub marks: usize,
    /// The event, if it was more than output.
    pub note: Option<TaskEvent>,
}

/// The moments of a task in order, starting with its beginning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reel {
    /// In order.
    pub moments: Vec<ReplayMoment>,
}

impl Reel {
    /// Lays out the moments of a task on a time line.
    pub fn new(marks: &[Mark], events: &[TaskEvent], created_at: Timestamp) -> Self {
        let mut moments = vec![ReplayMoment { at: 0, really_at: 0, marks: 0, note: None }];
        for (done, mark) in (1..).zip(marks) {
            if matches!(mark.kind, MarkKind::Gap { .. } | MarkKind::Input) {
                continue;
            }
            match moments.last_mut().filter(|last| last.really_at >= mark.at_ms) {
                Some(last) => last.marks = done,
                None => moments.push(ReplayMoment { at: 0, really_at: mark.at_ms, marks: done, note: None }),
            }
        }
        for event in events.iter().filter(|event| is_told(event)) {
            let after = event.at.duration_since(created_at).as_millis().max(0);
            let really_at = u32::try_from(after).unwrap_or(u32::MAX);
            let place = moments.partition_point(|moment| moment.really_at <= really_at);
            let marks = place.checked_sub(1).and_then(|before| moments.get(before)).map_or(0, |m| m.marks);
            let note = Some(event.clone());
            moments.insert(place, ReplayMoment { at: 0, really_at, marks, note });
        }
        let (mut at, mut before) = (0_u32, 0);
        for moment in &mut moments {
            at = at.saturating_add((moment.really_at - before).min(LONGEST_SILENCE));
            before = moment.really_at;
            moment.at = at;
        }
        Self { moments }
    }

    /// Returns the length of the replay, in milliseconds.
    pub fn length(&self) -> u32 {
        self.moments.last().map_or(0, |last| last.at)
    }

    /// Returns the actual duration, in milliseconds.
    pub fn real_length(&self) -> u32 {
        self.moments.last().map_or(0, |last| last.really_at)
    }

    /// Returns the index of the moment at a position on the time line.
    pub fn place(&self, at: u32) -> usize {
        self.moments.partition_point(|moment| moment.at <= at).saturating_sub(1)
    }

    /// Returns the actual length of the silence after a moment, if it is shortened.
    pub fn silence_after(&self, place: usize) -> Option<u32> {
        let silence = self.moments.get(place + 1)?.really_at - self.moments.get(place)?.really_at;
        (silence > LONGEST_SILENCE).then_some(silence)
    }
}

/// Tells whether an event is shown on the time line; output and its effects are visible anyway.
fn is_told(event: &TaskEvent) -> bool {
    match event.fact {
        TaskFact::Input(_) | TaskFact::Refused(_) | TaskFact::InputLost(_) | TaskFact::Lease => true,
        TaskFact::Approved(_) | TaskFact::Denied(_) | TaskFact::Outlived(_) => true,
        TaskFact::Stop { .. } | TaskFact::Signal(_) | TaskFact::Exit(_) => true,
        TaskFact::Timeout | TaskFact::OutputLimit(_) | TaskFact::Ceiling(_) | TaskFact::Unanswered => true,
        TaskFact::Listening(_) | TaskFact::Closed(_) => true,
        TaskFact::Queued(_) | TaskFact::Admitted => false,
        TaskFact::Held(_) | TaskFact::Start { .. } | TaskFact::Waiting(_) | TaskFact::Promoted { .. } => {
            false
        }
        TaskFact::Released | TaskFact::Resize(_) | TaskFact::ScreenReset => false,
        TaskFact::AtWork(_) | TaskFact::Kept(_) | TaskFact::Leftovers(_) | TaskFact::End { .. } => false,
    }
}

/// The state of a replay.
#[derive(Debug, Clone)]
pub struct Replay {
    pub task: TaskId,
    /// Its moments, once they are read.
    pub reel: Option<Arc<Reel>>,
    /// The screen of a moment: the moment's index, and the picture.
    pub screen: Option<(usize, Picture)>,
    /// The moment whose screen has been requested.
    pub asked: Option<usize>,
    /// The position on the time line, in milliseconds.
    pub at: u32,
    speed: usize,
    /// Since when it has been playing, while it is playing.
    since: Option<Timestamp>,
}

impl Replay {
    /// Starts the replay of a task, which plays once its moments have been read.
    pub fn new(task: TaskId, now: Timestamp) -> Self {
        Self { task, reel: None, screen: None, asked: None, at: 0, speed: 0, since: Some(now) }
    }

    /// Takes the moments that were read; playback starts now.
    pub fn load(&mut self, reel: Arc<Reel>, now: Timestamp) {
        self.reel = Some(reel);
        self.since = self.since.map(|_| now);
    }

    /// Returns the speed as a multiple of real time.
    pub fn speed(&self) -> u32 {
        SPEEDS[self.speed]
    }

    /// Tells whether it is playing.
    pub fn is_playing(&self) -> bool {
        self.since.is_some()
    }

    /// Returns the index of the current moment.
    pub fn place(&self) -> usize {
        self.reel.as_ref().map_or(0, |reel| reel.place(self.at))
    }

    /// Advances to the current time; pauses at the end.
    pub fn advance(&mut self, now: Timestamp) {
        let (Some(reel), Some(since)) = (&self.reel, self.since) else { return };
        let passed = now.duration_since(since).as_millis().clamp(0, i128::from(LONGEST_FRAME));
        let passed = u32::try_from(passed).unwrap_or(0).saturating_mul(self.speed());
        let end = reel.length();
        self.at = self.at.saturating_add(passed).min(end);
        self.since = (self.at < end).then_some(now);
    }

    /// Toggles between pause and playback; restarts from the beginning at the end.
    pub fn turn(&mut self, now: Timestamp) {
        if self.since.take().is_some() {
            return;
        }
        if self.reel.as_ref().is_some_and(|reel| self.at >= reel.length()) {
            self.at = 0;
        }
        self.since = Some(now);
    }

    /// Increases or decreases the speed.
    pub fn change_speed(&mut self, faster: bool) {
        let to = if faster { self.speed + 1 } else { self.speed.saturating_sub(1) };
        self.speed = to.min(SPEEDS.len() - 1);
    }

    /// Pauses at the next or previous moment; with `told`, at one with an event.
    pub fn step(&mut self, forward: bool, told: bool) {
        self.since = None;
        let Some(reel) = &self.reel else { return };
        let at = self.at;
        let mut places = reel.moments.iter().filter(|moment| !told || moment.note.is_some()).map(|m| m.at);
        let to = if forward { places.find(|to| *to > at) } else { places.rfind(|to| *to < at) };
        self.at = to.unwrap_or(if forward { reel.length() } else { 0 });
    }

    /// Jumps to the beginning or the end, and pauses.
    pub fn go_to_end(&mut self, end: bool) {
        self.since = None;
        self.at = self.reel.as_ref().filter(|_| end).map_or(0, |reel| reel.length());
    }

    /// Returns the number of milliseconds until the next moment, while playing.
    pub fn until_next(&self) -> Option<u32> {
        let reel = self.reel.as_ref().filter(|_| self.is_playing())?;
        let next = reel.moments.get(self.place() + 1)?;
        Some((next.at - self.at).div_ceil(self.speed()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::envelope::Actor;
    use crate::model::{Exit, InputEvidence, InputNeed, InputWait};
    use crate::terminal::ByteSource;
    use proptest::prelude::*;

    fn reel(times: &[u32]) -> Reel {
        let mut moments = vec![ReplayMoment { at: 0, really_at: 0, marks: 0, note: None }];
        let (mut at, mut before) = (0, 0);
        for (marks, really_at) in (1..).zip(times) {
            at += (really_at - before).min(LONGEST_SILENCE);
            before = *really_at;
            moments.push(ReplayMoment { at, really_at: *really_at, marks, note: None });
        }
        Reel { moments }
    }

    fn replay(times: &[u32]) -> Replay {
        let mut replay = Replay::new(TaskId::from_random([1; 8]), Timestamp::UNIX_EPOCH);
        replay.load(Arc::new(reel(times)), Timestamp::UNIX_EPOCH);
        replay
    }

    fn ms(ms: i64) -> Timestamp {
        Timestamp::from_millisecond(ms).expect("a time")
    }

    #[test]
    fn long_silences_are_shortened_and_reported() {
        let reel = reel(&[100, 60_100, 60_200]);
        assert_eq!((reel.length(), reel.real_length()), (1_700, 60_200));
        assert_eq!((reel.silence_after(0), reel.silence_after(1)), (None, Some(60_000)));
    }

    #[test]
    fn a_replay_runs_at_its_speed_and_pauses_at_the_end() {
        let mut replay = replay(&[400, 800, 1_600]);
        replay.advance(ms(500));
        assert_eq!((replay.at, replay.place(), replay.until_next()), (500, 1, Some(300)));
        replay.change_speed(true);
        replay.advance(ms(700));
        assert_eq!((replay.at, replay.place()), (900, 2));
        replay.advance(ms(1_700));
        assert_eq!((replay.at, replay.is_playing(), replay.until_next()), (1_600, false, None));
        replay.turn(ms(2_000));
        assert_eq!((replay.at, replay.is_playing()), (0, true), "again from the beginning");
    }

    #[test]
    fn a_step_goes_to_the_next_moment_and_pauses() {
        let mut replay = replay(&[400, 800]);
        replay.advance(ms(500));
        replay.step(true, false);
        assert_eq!((replay.at, replay.is_playing()), (800, false));
        replay.step(false, false);
        assert_eq!(replay.at, 400);
        replay.step(false, true);
        assert_eq!(replay.at, 0, "nothing happened before: to the beginning");
    }

    #[test]
    fn output_and_events_share_one_time_line() {
        let mark = |at_ms, offset, kind| Mark { offset, line: 0, at_ms, kind };
        let chunk = MarkKind::Chunk(ByteSource::Tty);
        let marks = [
            mark(0, 0, chunk),
            mark(7, 3, chunk),
            mark(7, 9, chunk),
            mark(90, 9, MarkKind::Gap { dropped: 1 }),
        ];
        let event = |at, fact| TaskEvent { at: ms(at), actor: Actor::Operator, fact };
        let events = [
            event(1_005, TaskFact::Input(1)),
            event(
                1_006,
                TaskFact::Waiting(InputWait {
                    kind: InputNeed::Line,
                    evidence: InputEvidence::TtyRead,
                    since: ms(1_006),
                    program: None,
                    question: None,
                }),
            ),
            event(1_050, TaskFact::Exit(Exit::Code(0))),
        ];
        let reel = Reel::new(&marks, &events, ms(1_000));
        let seen = reel.moments.iter().map(|moment| {
            (moment.at, moment.marks, moment.note.as_ref().map_or("", |note| note.fact.word()))
        });
        assert_eq!(seen.collect::<Vec<_>>(), [(0, 1, ""), (5, 1, "input"), (7, 3, ""), (50, 3, "exit")]);
    }

    proptest! {
        #[test]
        fn a_replay_stays_on_its_time_line_and_plays_only_forward(
            gaps in prop::collection::vec(0u32..5_000, 0..20),
            acts in prop::collection::vec((0u8..8, 0i64..3_000), 0..60),
        ) {
            let times: Vec<u32> = gaps.iter().scan(0, |at, gap| { *at += gap; Some(*at) }).collect();
            let mut replay = replay(&times);
            let (end, mut now) = (reel(&times).length(), 0);
            for (act, passed) in acts {
                now += passed;
                let before = replay.at;
                match act {
                    0 => replay.turn(ms(now)),
                    1 => replay.change_speed(true),
                    2 => replay.change_speed(false),
                    3 => replay.step(true, false),
                    4 => replay.step(false, false),
                    5 => replay.go_to_end(passed > 1_500),
                    6 => replay.step(passed > 1_500, true),
                    _ => {
                        replay.advance(ms(now));
                        prop_assert!(replay.at >= before);
                    }
                }
                prop_assert!(replay.at <= end);
                prop_assert!(replay.place() < reel(&times).moments.len());
                prop_assert!(replay.until_next().is_none_or(|next| replay.is_playing() && next <= end));
            }
        }
    }
}
