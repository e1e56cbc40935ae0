//! The line above the keys: what waits for the user, the oldest first, and beside it or alone, for a while, what the runtime
//! has to say.

use jiff::{SignedDuration, Timestamp};

use crate::console::features::status::hints::hint;
use crate::console::keys::Action;
use crate::console::state::titles::title;
use crate::console::state::waiting::{WaitingItem, waiting};
use crate::console::state::{HINTED, Mode, Screen, State, Term, alias, needs, questions};
use crate::console::text::{StyledPiece, piece, visible};
use crate::console::theme::Role;
use crate::console::widgets::{Painter, columns};
use crate::envelope::TaskId;
use crate::model::Notice;

/// How long a notice stays.
const SHOWN: SignedDuration = SignedDuration::from_secs(8);

/// How long a failure and the words of a demonstration stay, unless a newer notice arrives or `Esc` clears it.
const KEPT: SignedDuration = SignedDuration::from_mins(3);

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
    let notice = notice.map(|(notice, _)| notice_line(painter, notice));
    let waiter = waiter(painter);
    match (waiter, notice) {
        (Some(waiter), notice) => {
            // The held calls are counted together.
            let told = match waiter.1 {
                WaitingItem::Held(_) => state.view.snapshot.gate.held.len(),
                _ => 1,
            };
            let (width, others) = (painter.buf.area.width, waiting.saturating_sub(told));
            let row = waits(painter, (waiter, true), others, notice.clone());
            // Since when it waits gives way to a notice that would be cut.
            match notice.is_some() && columns(&row) > width {
                true => waits(painter, (waiter, false), others, notice),
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
fn waiter<'a>(painter: &Painter<'a>) -> Option<(Timestamp, WaitingItem<'a>)> {
    let state = painter.state;
    let all =
        waiting(&state.view.snapshot, state.typing_into()).into_iter().filter(|(_, waits)| match waits {
            WaitingItem::Held(_) => !painter.focus.has_dialog,
            WaitingItem::Input(..) | WaitingItem::Question(_) => true,
            _ => false,
        });
    all.min_by_key(|(_, waits)| is_at_hand(state, waits))
        // The screen of a program shows its question itself.
        .filter(|(_, waits)| !matches!(waits, WaitingItem::Question(_)) || !is_at_hand(state, waits))
}

/// Tells whether the keys already concern it.
fn is_at_hand(state: &State, waits: &WaitingItem<'_>) -> bool {
    let has_pane = matches!(state.focus.screen, Screen::Tasks | Screen::Focus | Screen::Program);
    let is_shown = |id: &TaskId| has_pane && state.at_hand().is_some_and(|shown| shown.id == *id);
    match waits {
        WaitingItem::Input(task, _) => is_shown(&task.id),
        WaitingItem::Question(question) => {
            state.focus.screen == Screen::Program
                && state.program_question().is_some_and(|shown| shown.id == question.id)
        }
        WaitingItem::Held(held) => held.task.as_ref().is_some_and(is_shown),
        _ => false,
    }
}

/// Returns the row of what waits: what it needs and since when, how many others there are, the key that leads there, and
/// beside it the notice, or what it is.
fn waits(
    painter: &mut Painter<'_>,
    ((since, waiter), says_since): ((Timestamp, WaitingItem<'_>), bool),
    others: usize,
    notice: Option<Vec<StyledPiece>>,
) -> Vec<StyledPiece> {
    let (state, context) = (painter.state, painter.focus.context);
    let since = painter.time(since);
    let since = if says_since { format!(" since {since}") } else { String::new() };
    let (text, says, key) = match waiter {
        WaitingItem::Input(task, waiting) => {
            let text = format!("{} {}{since}", alias(task), needs(waiting));
            (text, visible::masked_line(title(task)), (Action::Attention, "attention"))
        }
        WaitingItem::Question(question) => {
            let says = visible::masked_line(question.text.trim());
            (questions::title(question), says, (Action::Attention, "answer"))
        }
        WaitingItem::Held(held) => {
            let count = match state.view.snapshot.gate.held.len() {
                1 => "1 call needs".to_owned(),
                many => format!("{many} calls need"),
            };
            let cmd = held.commands.first().map(|command| visible::masked_line(command.cmd.trim()));
            let text = format!("{count} approval{since}");
            (text, cmd.unwrap_or_default(), (Action::Approvals, "look"))
        }
        _ => return Vec::new(),
    };
    let glyph = painter.glyphs().states[if matches!(waiter, WaitingItem::Held(_)) { 0 } else { 2 }];
    let mut row = vec![piece(format!(" {glyph} {text}"), Role::Waiting)];
    if let WaitingItem::Question(question) = waiter
        && let Some(deadline) = question.deadline
    {
        row.push(piece(format!("  {}", painter.time_left(deadline)), Role::Text));
    }
    row.extend((others > 0).then(|| piece(format!("  +{others} more"), Role::Waiting)));
    // Only the card of a held call says how to decide it.
    if others > 0 || matches!(waiter, WaitingItem::Held(_)) || !is_at_hand(state, &waiter) {
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
        _ if matches!(state.focus.mode, Mode::Input(_)) => painter.explanation(Term::Input),
        Screen::Metrics => painter.explanation(Term::Trips),
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

fn notice_line(painter: &Painter<'_>, notice: &Notice) -> Vec<StyledPiece> {
    let text = visible::masked_line(&notice.text);
    // Instructions from a demonstration should catch the eye. Anything else was true when it was said: an agent that had
    // disconnected may be back.
    if is_demo(&text) {
        return vec![piece(format!(" {text}"), Role::Key)];
    }
    let role = if notice.is_error { Role::Failed } else { Role::Text };
    vec![piece(format!(" {}  ", painter.time(notice.at)), Role::Faint), piece(text, role)]
}
