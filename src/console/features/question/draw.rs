//! Drawing the dialog of a question: its full text, the evidence and the keys. Nothing is cut; what does not
//! fit scrolls.

use ratatui::layout::Rect;

use crate::console::features::question::{QuestionDialog, permission};
use crate::console::keys::{Action, KeyContext};
use crate::console::state::{State, Term};
use crate::console::text::{StyledPiece, piece};
use crate::console::theme::Role;
use crate::console::widgets::{Painter, join_groups, places, scrolled_rows};
use crate::model::QuestionKind;

/// Maximum number of labels shown at once.
const MOST_LABELS: usize = 8;

fn foot_rows(dialog: &QuestionDialog) -> u16 {
    let labels = match &dialog.question.kind {
        QuestionKind::Choice { labels } => labels.len().min(MOST_LABELS),
        QuestionKind::Text { .. } => 1,
        _ => 0,
    };
    let note = usize::from(dialog.is_noting || !dialog.note.value().is_empty());
    u16::try_from(labels + note + 2).unwrap_or(2)
}

/// Returns how many rows a question has, and how many of them fit on screen.
pub(crate) fn rows(state: &State, dialog: &QuestionDialog) -> (usize, usize) {
    let all = dialog.rows(state).len();
    (all, usize::from(places(state.outer.size, all, foot_rows(dialog)).1.height))
}

pub(crate) fn draw(painter: &mut Painter<'_>, dialog: &QuestionDialog) {
    let rows = dialog.rows(painter.state);
    let (whole, text, below) = places(painter.size(), rows.len(), foot_rows(dialog));
    painter.draw_box(whole, &dialog.title());
    draw_deadline(painter, dialog, whole);
    let unread = scrolled_rows(painter, (whole, text), &rows, dialog.reading.top);
    foot(painter, dialog, unread, below);
}

/// Draws the time left into the title.
pub(in crate::console) fn draw_deadline(painter: &mut Painter<'_>, dialog: &QuestionDialog, area: Rect) {
    let said = match dialog.question.deadline {
        _ if dialog.is_over => return,
        Some(deadline) => format!(" {} ", painter.time_left(deadline)),
        None => format!(" asked {} ", painter.ago(dialog.question.asked_at)),
    };
    let role = if dialog.question.deadline.is_some() { Role::Waiting } else { Role::Faint };
    let head = Rect { width: area.width.saturating_sub(2), ..area };
    painter.row_right(head, 0, &[piece(said, role)]);
}

fn foot(painter: &mut Painter<'_>, dialog: &QuestionDialog, unread: usize, area: Rect) {
    let gate = painter
        .explanation(Term::Gate)
        .filter(|_| dialog.context() == KeyContext::Gate && dialog.question.is_of_program());
    painter.row(area, 0, gate.as_slice());
    if permission::can_permit(&dialog.question).is_ok()
        && dialog.context() == KeyContext::Gate
        && !dialog.is_sent
        && (dialog.reading.is_read || unread == 0)
    {
        let keys = [
            (Action::ApproveTurn, "all of this turn"),
            (Action::ApproveAlike, "what is alike for 15 minutes"),
        ];
        let keys = painter.keys(KeyContext::Gate, &keys);
        painter.line(area, 0, &keys);
    }
    let mut at = 1;
    match &dialog.question.kind {
        QuestionKind::Choice { labels } => {
            for row in painter.choices(labels.iter().map(String::as_str), dialog.chosen, MOST_LABELS) {
                painter.line(area, at, &row);
                at += 1;
            }
        }
        QuestionKind::Text { masked } => {
            let label = if *masked { "not recorded " } else { "" };
            let is_here = !dialog.is_noting && !dialog.is_over;
            let label = [piece(label, Role::Faint), painter.prompt()];
            painter.editor(area, at, &label, &dialog.answer, *masked, is_here);
            at += 1;
        }
        _ => {}
    }
    if dialog.is_noting || !dialog.note.value().is_empty() {
        let label = [piece("note ", Role::Faint), painter.prompt()];
        painter.editor(area, at, &label, &dialog.note, false, dialog.is_noting);
        at += 1;
    }
    let keys = keys(painter, dialog, unread);
    painter.line(area, at, &keys);
}

/// Returns the keys that answer a question of this kind.
fn answer_keys(kind: &QuestionKind) -> &'static [(Action, &'static str)] {
    use Action::*;
    match kind {
        QuestionKind::AgentPrompt(_) => {
            &[(ApproveGate, "allow this call"), (RejectGate, "refuse, with words"), (Back, "decide later")]
        }
        QuestionKind::Gate { .. } | QuestionKind::Command => {
            &[(ApproveGate, "approve"), (RejectGate, "reject"), (Note, "note"), (Back, "decide later")]
        }
        QuestionKind::YesNo { .. } => &[(Yes, "yes"), (No, "no")],
        QuestionKind::Choice { .. } => &[(Down, "point"), (Choose, "choose")],
        QuestionKind::Text { .. } => &[(Send, "send"), (Abort, "end the program"), (Back, "later")],
        QuestionKind::InFlight => &[
            (RunAgain, "run it again"),
            (Skip, "go on after it"),
            (Abort, "end the program"),
            (Back, "later"),
        ],
    }
}

fn keys(painter: &Painter<'_>, dialog: &QuestionDialog, unread: usize) -> Vec<StyledPiece> {
    use Action::*;
    if dialog.is_sent && !dialog.is_over {
        return vec![piece("on its way", Role::Faint)];
    }
    let context = dialog.context();
    let mut said = Vec::new();
    if let Err(why) = painter.state.question_is_attached(&dialog.question)
        && !dialog.is_over
    {
        said.push(vec![piece(why.to_string(), Role::Waiting)]);
        said.push(painter.key(context, Back, "later"));
        return join_groups(said, &piece("   ", Role::Text));
    }
    let actions: &[(Action, &str)] = match (&dialog.question.kind, dialog.is_noting) {
        _ if dialog.is_over => {
            let how = if dialog.in_agent {
                "It was answered in the agent."
            } else {
                "This question is no longer open."
            };
            said.push(vec![piece(how, Role::Strong)]);
            &[(Back, "close")]
        }
        (_, true) if dialog.is_denying => &[(Send, "refuse, with these words"), (Back, "back")],
        (_, true) => &[(Send, "done"), (Back, "back")],
        (QuestionKind::AgentPrompt(prompt), _) if prompt.is_shown_only => {
            said.push(vec![piece("Answer it in the agent's own window.", Role::Strong)]);
            &[(ToAgent, "go there"), (Back, "close")]
        }
        _ if !dialog.reading.is_read && unread > 0 => {
            let refuse = match &dialog.question.kind {
                QuestionKind::AgentPrompt(_) => (RejectGate, "refuse, with words"),
                QuestionKind::Gate { .. } | QuestionKind::Command => (RejectGate, "reject"),
                _ => (Abort, "end program"),
            };
            return dialog.reading.unread(painter, context, (unread, &[refuse, (Back, "later")]));
        }
        (kind, _) => answer_keys(kind),
    };
    let agents = if dialog.question.agents { "no agents" } else { "let agents" };
    let rest = [(Note, "note"), (LetAgents, agents), (Abort, "end program"), (Back, "later")];
    // Questions that agents may answer have these keys too.
    let is_shared = matches!(context, KeyContext::YesNo | KeyContext::Choice);
    let rest = rest
        .iter()
        .filter(|(action, _)| is_shared && (*action != LetAgents || !dialog.question.kind.is_operators()));
    said.extend(actions.iter().chain(rest).map(|(action, word)| painter.key(context, *action, word)));
    join_groups(said, &piece("   ", Role::Text))
}
