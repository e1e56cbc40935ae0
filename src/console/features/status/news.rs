//! The line above the keys: what waits for the user, the oldest first, and beside it or alone, for a while, what the runtime
//! has to say.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use crate::console::features::status::hints::hint;
use crate::console::keys::Action;
use crate::console::state::titles::title;
use crate::console::state::{HINTED, Mode, Screen, State, Term, alias, needs, questions};
use crate::console::text::{StyledPiece, piece, visible};
use crate::console::theme::Role;
use crate::console::widgets::{Painter, columns};
use crate::envelope::TaskId;
use crate::model::{HeldCall, InputWait, Notice, Question, TaskView};

/// How long a notice stays.
const SHOWN: SignedDuration = SignedDuration::from_secs(8);

/// How long a failure and the words of a demonstration stay, unless a newer notice arrives or `Esc` clears it.
const KEPT: SignedDuration = SignedDuration::from_mins(3);

/// Something that waits for an answer.
#[derive(Debug, Clone)]
enum Waiter {
    Input(Arc<TaskView>, InputWait),
    Question(Arc<Question>),
    Held(Box<HeldCall>),
}

impl Waiter {
    fn since(&self) -> Timestamp {
        match self {
            Self::Input(_, waiting) => waiting.since,
            Self::Question(question) => question.asked_at,
            Self::Held(held) => held.since,
        }
    }
}

/// Returns what the line says; `waiting` things wait for an answer.
pub(super) fn news(painter: &mut Painter<'_>, waiting: usize) -> Vec<StyledPiece> {
    let state = painter.state;
    if state.view.is_lost {
        let text = piece(" the runtime went away; this console waits for the next one.", Role::Failed);
        let way = match state.focus.mode {
            Mode::Input(_) => painter.hint(painter.focus.context, Action::Leave, "leaves"),
            _ => painter.hint(painter.focus.context, Action::Quit, "quits"),
        };
        return [vec![text], way].concat();
    }
    if let Mode::Input(task) = &state.focus.mode
        && let Some(task) = state.view.task(task).filter(|task| task.status.is_terminal())
    {
        return vec![piece(format!(" {} exited; press any key", alias(task)), Role::Strong)];
    }
    let notice = current(state);
    if let Some((_, until)) = notice {
        painter.wake_at(until);
    }
    let notice = notice.map(|(notice, _)| told(painter, notice));
    let waiter = waiter(painter);
    match (waiter, notice) {
        (Some(waiter), notice) => {
            // The held calls are counted together.
            let told = match &waiter {
                Waiter::Held(_) => painter.state.view.snapshot.gate.held.len(),
                Waiter::Input(..) | Waiter::Question(_) => 1,
            };
            let (width, others) = (painter.buf.area.width, waiting.saturating_sub(told));
            let row = waits(painter, (&waiter, true), others, notice.clone());
            // Since when it waits gives way to a notice that would be cut.
            match notice.is_some() && columns(&row) > width {
                true => waits(painter, (&waiter, false), others, notice),
                false => row,
            }
        }
        (None, Some(notice)) => notice,
        (None, None) => quiet(painter),
    }
}

/// Returns the notice that is to be seen now, and until when: one that concerns this console, which has not been cleared.
/// What another console did is said as a message, to those it concerns.
fn current(state: &State) -> Option<(&Notice, Timestamp)> {
    let opened = state.clock.opened;
    let is_ours = |notice: &&Notice| {
        let is_recent = opened.duration_since(notice.at) < KEPT || notice.is_error;
        notice.seq > state.toasts.notices_seen && notice.from.is_none() && is_recent
    };
    let notice = state.view.snapshot.notices.iter().rev().find(is_ours)?;
    let shown = if notice.is_error || is_demo(&notice.text) { KEPT } else { SHOWN };
    let until = notice.at.max(opened).checked_add(shown).ok()?;
    (until > state.clock.now).then_some((notice, until))
}

/// Returns what has waited longest for an answer; what is already at hand or on a card only if there is nothing else.
fn waiter(painter: &Painter<'_>) -> Option<Waiter> {
    let state = painter.state;
    let snapshot = &state.view.snapshot;
    let tasks = snapshot.tasks.iter().filter(|task| state.typing_into() != Some(&task.id));
    let tasks = tasks.filter_map(|task| Some(Waiter::Input(Arc::clone(task), task.certain_wait()?.clone())));
    let questions = snapshot.questions.iter().filter(|question| question.needs_somebody());
    let questions = questions.map(|question| Waiter::Question(Arc::clone(question)));
    let held = snapshot.gate.held.iter().filter(|_| !painter.focus.has_dialog);
    let all = tasks.chain(questions).chain(held.map(|held| Waiter::Held(Box::new(held.clone()))));
    all.min_by_key(|waiter| (is_at_hand(state, waiter), waiter.since()))
        // The screen of a program shows its question itself.
        .filter(|waiter| !matches!(waiter, Waiter::Question(_)) || !is_at_hand(state, waiter))
}

/// Tells whether the keys already concern it.
fn is_at_hand(state: &State, waiter: &Waiter) -> bool {
    let has_pane = matches!(state.focus.screen, Screen::Tasks | Screen::Focus | Screen::Program);
    let is_shown = |id: &TaskId| has_pane && state.at_hand().is_some_and(|shown| shown.id == *id);
    match waiter {
        Waiter::Input(task, _) => is_shown(&task.id),
        Waiter::Question(question) => {
            state.focus.screen == Screen::Program
                && state.program_question().is_some_and(|shown| shown.id == question.id)
        }
        Waiter::Held(held) => held.task.as_ref().is_some_and(is_shown),
    }
}

/// Returns the row of what waits: what it needs and since when, how many others there are, the key that leads there, and
/// beside it the notice, or what it is.
fn waits(
    painter: &mut Painter<'_>,
    (waiter, says_since): (&Waiter, bool),
    others: usize,
    notice: Option<Vec<StyledPiece>>,
) -> Vec<StyledPiece> {
    let (state, context) = (painter.state, painter.focus.context);
    let since = painter.time(waiter.since());
    let since = if says_since { format!(" since {since}") } else { String::new() };
    let (text, says, key) = match waiter {
        Waiter::Input(task, waiting) => {
            let text = format!("{} {}{since}", alias(task), needs(waiting));
            (text, visible::told(title(task)), (Action::Attention, "attention"))
        }
        Waiter::Question(question) => {
            let says = visible::told(question.text.trim());
            (questions::title(question), says, (Action::Attention, "answer"))
        }
        Waiter::Held(held) => {
            let count = match state.view.snapshot.gate.held.len() {
                1 => "1 call needs".to_owned(),
                many => format!("{many} calls need"),
            };
            let cmd = held.commands.first().map(|command| visible::told(command.cmd.trim()));
            let text = format!("{count} approval{since}");
            (text, cmd.unwrap_or_default(), (Action::Approvals, "look"))
        }
    };
    let glyph = painter.glyphs().states[if matches!(waiter, Waiter::Held(_)) { 0 } else { 2 }];
    let mut row = vec![piece(format!(" {glyph} {text}"), Role::Waiting)];
    if let Waiter::Question(question) = waiter
        && let Some(deadline) = question.deadline
    {
        row.push(piece(format!("  {}", painter.left(deadline)), Role::Text));
    }
    row.extend((others > 0).then(|| piece(format!("  +{others} more"), Role::Waiting)));
    // Only the card of a held call says how to decide it.
    if others > 0 || matches!(waiter, Waiter::Held(_)) || !is_at_hand(state, waiter) {
        row.extend(painter.hint(context, key.0, key.1));
    }
    match notice {
        Some(notice) => row.extend([piece(" ", Role::Text)].into_iter().chain(notice)),
        None => row.push(piece(format!("  {says}"), Role::Faint)),
    }
    row
}

/// Returns the row while nothing waits: an explanation, or a hint for newcomers.
fn quiet(painter: &mut Painter<'_>) -> Vec<StyledPiece> {
    let state = painter.state;
    let term = match state.focus.screen {
        _ if matches!(state.focus.mode, Mode::Input(_)) => painter.explained(Term::Input),
        Screen::Metrics => painter.explained(Term::Trips),
        _ => None,
    };
    if let Some(line) = term {
        return vec![piece(" ", Role::Text), line];
    }
    let hint = hint(painter);
    if let Some(over) = state.clock.opened.checked_add(HINTED).ok().filter(|_| !hint.is_empty()) {
        painter.wake_at(over);
    }
    hint
}

fn is_demo(text: &str) -> bool {
    text.starts_with("demo: ")
}

fn told(painter: &Painter<'_>, notice: &Notice) -> Vec<StyledPiece> {
    let text = visible::told(&notice.text);
    // Instructions from a demonstration should catch the eye. Anything else was true when it was said: an agent that had
    // disconnected may be back.
    if is_demo(&text) {
        return vec![piece(format!(" {text}"), Role::Key)];
    }
    let role = if notice.is_error { Role::Failed } else { Role::Text };
    vec![piece(format!(" {}  ", painter.time(notice.at)), Role::Faint), piece(text, role)]
}
