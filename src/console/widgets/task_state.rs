//! How a task's state is drawn everywhere: glyph, word, role and note.

use crate::console::state::listing::filter::Filter;
use crate::console::state::listing::heads::{FoldedTasks, StateCounts};
use crate::console::state::ports::{ports, taken_briefly};
use crate::console::state::{State, actor_name, alias, answers_no, last_sign};
use crate::console::text;
use crate::console::text::{StyledPiece, piece, visible};
use crate::console::theme::Role;
use crate::console::widgets::Painter;
use crate::model::phrases::unended_word;
use crate::model::{CeilingHit, InputWait, LaneWait, TaskFact, TaskStatus, TaskView};

/// A state as displayed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StateLabel {
    pub(crate) glyph: &'static str,
    pub(crate) word: String,
    pub(crate) role: Role,
}

impl Painter<'_> {
    pub(crate) fn state(&self, task: &TaskView) -> StateLabel {
        let states = self.glyphs().states;
        let (at, role) = match task.status {
            TaskStatus::Queued if task.held.is_some() => (0, Role::Waiting),
            TaskStatus::Queued => (0, Role::Queued),
            TaskStatus::Running => match &task.waiting {
                // Silence alone is weak evidence: shown, but without asking for attention.
                Some(waiting) if waiting.word() == InputWait::PROMPT => (2, Role::Faint),
                Some(_) => (2, Role::Waiting),
                None => (1, Role::Running),
            },
            TaskStatus::Cancelling => (3, Role::Cancelling),
            TaskStatus::Cancelled => (3, Role::Cancelled),
            TaskStatus::Completed => (4, Role::Completed),
            TaskStatus::Failed if answers_no(task) => (5, Role::Faint),
            TaskStatus::Failed => (5, Role::Failed),
            TaskStatus::Interrupted => (6, Role::Interrupted),
        };
        StateLabel { glyph: states[at], word: task.word().into_owned(), role }
    }

    /// Returns the state of a task; of a batch in one row that it failed, if an item did and none is shown that lives or
    /// failed.
    pub(crate) fn row_state(&self, task: &TaskView, batch: Option<&FoldedTasks>) -> StateLabel {
        let shown = self.state(task);
        let Some(counts) = batch.map(|batch| batch.counts).filter(|counts| counts.failed > 0) else {
            return shown;
        };
        if !task.status.is_terminal() || Filter::Failed.holds(task) {
            return shown;
        }
        let role = if counts.troubled > 0 { Role::Failed } else { Role::Faint };
        StateLabel { glyph: self.glyphs().states[5], word: format!("{} failed", counts.failed), role }
    }

    /// Returns the number of tasks by state.
    pub(crate) fn state_counts(&self, counts: StateCounts) -> Vec<StyledPiece> {
        let states = self.glyphs().states;
        let StateCounts { live, waiting, failed, completed, stopped, .. } = counts;
        let mut row = Vec::new();
        for (glyph, role, count) in [
            (states[1], Role::Running, live.saturating_sub(waiting)),
            (states[2], Role::Waiting, waiting),
            (states[5], if counts.troubled > 0 { Role::Failed } else { Role::Faint }, failed),
            (states[3], Role::Cancelled, stopped),
            (states[4], Role::Completed, completed),
        ] {
            row.extend((count > 0).then(|| piece(format!(" {glyph}{count}"), role)));
        }
        row
    }

    /// Returns what the user must know about a task besides its state, if anything.
    pub(crate) fn note(&mut self, task: &TaskView) -> Option<StyledPiece> {
        if let Some(reason) = &task.held {
            return Some(piece(reason.word(), Role::Waiting));
        }
        if let Some(wait) = &task.queued {
            return Some(piece(in_lane(self.state, wait, false), Role::Queued));
        }
        if let Some(ended) = &task.ended {
            if !ended.survivors.is_empty() {
                return Some(piece(unended_word(ended.survivors.len()), Role::Failed));
            }
            if let Some(peak) = task.ceiling.filter(CeilingHit::is_end).and_then(|hit| hit.peak_in_words()) {
                return Some(piece(peak, Role::Failed));
            }
            if let Some(words) = task.denial() {
                let words = visible::masked_line(words.trim());
                return (!words.is_empty()).then(|| piece(words, Role::Cancelled));
            }
            if let Some(word) = ended.error_word() {
                return Some(piece(visible::one_line(&word), Role::Failed));
            }
            if let Some(taken) = &ended.taken_port {
                return Some(piece(taken_briefly(self.state, taken), Role::Failed));
            }
            if !ended.leftovers.is_empty() {
                return Some(piece(format!("{} left over", ended.leftovers.len()), Role::Faint));
            }
        }
        if let Some(stop) = &task.stop {
            if let Some(kill_at) = stop.kill_at.filter(|_| task.status == TaskStatus::Cancelling) {
                return Some(piece(format!("KILL {}", self.due(kill_at)), Role::Cancelling));
            }
            return Some(match &stop.why {
                Some(why) => piece(visible::one_line(why), Role::Faint),
                None => piece(format!("by {}", actor_name(&stop.by)), Role::Faint),
            });
        }
        if let Some(by) = task.ended.as_ref().and_then(|ended| ended.signalled_by.as_ref()) {
            return Some(piece(format!("sent by {}", actor_name(by)), Role::Faint));
        }
        if let Some((by, signal)) = task.signal_before_end() {
            return Some(piece(format!("{} by {}", <&str>::from(signal), actor_name(by)), Role::Faint));
        }
        if let Some(ports) = ports(task) {
            return Some(piece(ports, Role::Strong));
        }
        if task.output.dropped_bytes > 0 {
            let capped = self.glyphs().states[7];
            let dropped = text::size(task.output.dropped_bytes);
            return Some(piece(format!("{capped} {dropped} dropped"), Role::Capped));
        }
        None
    }

    /// Returns how long a task ran, or has been running.
    pub(crate) fn ran(&mut self, task: &TaskView) -> String {
        match task.status.is_terminal() {
            true => text::millis(task.lived_ms()),
            false => self.age(task.started_at.unwrap_or(task.created_at)),
        }
    }

    /// Returns how long a task has been silent: since its last output, its start or its end.
    pub(crate) fn quiet(&mut self, task: &TaskView) -> String {
        self.silence(last_sign(task))
    }
}

/// Describes a place in the queue of a lane: `lane build, 2 of 2 running, behind t07`, and with `whole` what that one runs.
pub(in crate::console) fn in_lane(state: &State, wait: &LaneWait, whole: bool) -> String {
    let told = wait.describe(|id, number, cmd| {
        let name = state.view.task(id).map_or_else(|| format!("t{number:02}"), |task| alias(task));
        if whole { format!("{name} {cmd}") } else { name }
    });
    visible::one_line(&told).into_owned()
}

/// Returns how long the command of a running task usually takes, if known.
pub(in crate::console) fn usually(state: &State, task: &TaskView) -> Option<StyledPiece> {
    let usual = state.view.usual.of(task).filter(|_| task.status == TaskStatus::Running)?;
    Some(piece(format!("usually {}", text::millis(usual.ms)), Role::Faint))
}

/// Returns the role of an event; `usual` for ordinary ones.
pub(in crate::console) fn role(fact: &TaskFact, usual: Role) -> Role {
    match fact {
        TaskFact::Refused(_) | TaskFact::Timeout | TaskFact::OutputLimit(_) => Role::Failed,
        TaskFact::InputLost(_) => Role::Failed,
        TaskFact::ScreenReset | TaskFact::Denied(_) | TaskFact::Ceiling(_) => Role::Failed,
        TaskFact::Waiting(_) | TaskFact::Held(_) => Role::Waiting,
        TaskFact::Stop { .. } | TaskFact::Signal(_) => Role::Cancelling,
        _ => usual,
    }
}
