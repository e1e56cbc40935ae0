//! What the sheet says: what the agents asked, what failed, what was denied, and what ended that the user watched. Pure.

use jiff::Timestamp;

use crate::console::state::titles::title;
use crate::console::state::{Filter, State, alias, answers_no};
use crate::console::text::visible;
use crate::envelope::TaskId;
use crate::model::{QuestionId, TaskView};

/// The number of lines that have a key.
pub(in crate::console) const MOST_LINES: usize = 9;

/// Why a line is on the sheet, in the order in which they stand there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AwayReason {
    /// It waits for an answer.
    Asked,
    /// It failed, and deserves a look.
    Failed,
    /// It was denied.
    Denied,
    /// It ended, and the user started, pinned or watched it.
    Ended,
}

impl AwayReason {
    /// Every reason, in the order of the lines.
    pub(super) const ALL: [Self; 4] = [Self::Asked, Self::Failed, Self::Denied, Self::Ended];

    /// Returns how the lines with this reason are counted.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Asked => "asked for you",
            Self::Failed => "failed",
            Self::Denied => "denied",
            Self::Ended => "ended that you watched",
        }
    }
}

/// Where a line leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AwayTarget {
    Task(TaskId),
    /// To the card of a held call, by its ticket.
    Held(u64),
    Question(QuestionId),
}

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AwayLine {
    /// Why it has a line.
    pub reason: AwayReason,
    /// When it happened.
    pub at: Timestamp,
    /// Its short name.
    pub name: String,
    /// What happened, in a few words.
    pub what: String,
    /// The command or the text of the question.
    pub said: String,
    /// Where it leads.
    pub target: AwayTarget,
}

/// What happened between two moments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AwaySheet {
    /// When the user left.
    pub since: Timestamp,
    /// When they came back.
    pub until: Timestamp,
    /// What happened: for each reason the latest first, but what waits longest for an answer.
    pub lines: Vec<AwayLine>,
}

impl AwaySheet {
    /// Returns what happened since then, beside what `asked` for the user; nothing if there is nothing to tell.
    /// `watches` tells whether the user has a rule for a task.
    pub(in crate::console) fn of(
        state: &State,
        since: Timestamp,
        asked: Vec<AwayLine>,
        watches: impl Fn(&TaskId) -> bool,
    ) -> Option<Self> {
        let tasks = state.view.snapshot.tasks.iter().filter(|task| !state.view.cleared.contains(&task.id));
        let is_watched = |task: &TaskView| {
            let pins = &state.division.pins;
            Filter::Yours.holds(task) || pins.contains(&task.id) || watches(&task.id)
        };
        let ended = tasks.filter_map(|task| line(task, since, is_watched(task)));
        let mut lines: Vec<AwayLine> = ended.collect();
        lines.sort_by_key(|line| (line.reason, std::cmp::Reverse(line.at)));
        lines.splice(0..0, asked);
        (!lines.is_empty()).then_some(Self { since, until: state.clock.now, lines })
    }

    /// Returns where the line with this key leads.
    pub(in crate::console) fn target(&self, key: char) -> Option<&AwayTarget> {
        let at = usize::try_from(key.to_digit(10)?).ok()?.checked_sub(1)?;
        self.lines.get(at).map(|line| &line.target)
    }

    /// Returns how many lines each reason has.
    pub(super) fn counts(&self) -> impl Iterator<Item = (usize, AwayReason)> {
        let count = |reason: AwayReason| self.lines.iter().filter(|line| line.reason == reason).count();
        AwayReason::ALL.into_iter().map(move |reason| (count(reason), reason)).filter(|(count, _)| *count > 0)
    }

    /// Returns the counts as a sentence: `3 failed, 1 denied`.
    pub(in crate::console) fn summary(&self) -> String {
        self.counts()
            .map(|(count, reason)| format!("{count} {}", reason.word()))
            .collect::<Vec<_>>()
            .join(", ")
    }
}

/// Returns the line of a task that ended since then, if it is worth one.
fn line(task: &TaskView, since: Timestamp, is_watched: bool) -> Option<AwayLine> {
    let ended = task.ended.as_ref().filter(|ended| ended.at >= since)?;
    let reason = if task.denial().is_some() {
        AwayReason::Denied
    } else if Filter::Failed.holds(task) && !answers_no(task) {
        AwayReason::Failed
    } else {
        is_watched.then_some(AwayReason::Ended)?
    };
    let said = visible::masked_line(title(task));
    Some(AwayLine {
        reason,
        at: ended.at,
        name: alias(task),
        what: task.word().into_owned(),
        said,
        target: AwayTarget::Task(task.id.clone()),
    })
}
