//! Drawing the rows of agents at work: what each does and since when, its turn, its tasks, and what it asks.

use ratatui::layout::Rect;

use crate::console::state::listing::heads::StateCounts;
use crate::console::state::questions;
use crate::console::text::{StyledPiece, column, count, piece, visible, width};
use crate::console::theme::Role;
use crate::console::widgets::Painter;
use crate::envelope::Actor;
use crate::model::phrases::NO_COMMAND;
use crate::model::{AgentActivity, AgentView, AgentWork};

/// The width of a name, at least and at most, and of what an agent does.
const NAME: std::ops::RangeInclusive<usize> = 12..=20;
const STATE: usize = 17;

/// Draws the row of an agent; tells whether it is pointed at.
pub(super) fn draw(painter: &mut Painter<'_>, area: Rect, at: usize, work: Option<AgentWork>) -> bool {
    let state = painter.state;
    let Some(agent) = state.view.snapshot.agents.get(at) else { return false };
    let is_selected = state.agent_pointed_at().is_some_and(|pointed| pointed.label == agent.label);
    let mark = piece(format!(" {} ", painter.marker(is_selected)), Role::Accent);
    let names = painter.state.view.snapshot.agents.iter().map(|agent| width(&agent.label) + 2);
    let room = names.max().unwrap_or_default().clamp(*NAME.start(), *NAME.end());
    let name = column(&visible::one_line(&agent.label), room, painter.glyphs().cut);
    let colour = painter.state.role_of(&Actor::Agent(agent.label.clone()));
    let (state, role) = does(painter, agent, work);
    let first = vec![mark, piece(name, colour), piece(column(&state, STATE, painter.glyphs().cut), role)];
    let facts = facts(painter, agent);
    if area.height > 1 {
        painter.line(area, 0, &first);
        painter.line(area, 1, &[vec![piece("   ", Role::Text)], facts].concat());
    } else {
        painter.line(area, 0, &[first, facts].concat());
    }
    is_selected
}

/// Returns what an agent does and since when, as its events or its calls say.
fn does(painter: &mut Painter<'_>, agent: &AgentView, work: Option<AgentWork>) -> (String, Role) {
    let states = painter.glyphs().states;
    let Some(work) = work else {
        let [here, _] = painter.glyphs().link;
        // The shell that is not routed follows.
        let said = if agent.unrouted_phrase().is_some() { "" } else { NO_COMMAND };
        return (format!("{here} {said}"), Role::Faint);
    };
    let (glyph, role) = match work.activity {
        AgentActivity::NeedsYou => (states[2], Role::Waiting),
        AgentActivity::Working => (states[1], Role::Running),
        AgentActivity::Idle => (states[0], Role::Text),
        AgentActivity::Ended => (states[4], Role::Faint),
    };
    (format!("{glyph} {} {}", work.activity.word(), painter.doing(work)), role)
}

/// Returns its turn, its mode, its tasks by state, and what it asks.
fn facts(painter: &Painter<'_>, agent: &AgentView) -> Vec<StyledPiece> {
    let state = painter.state;
    let is_its = |actor: &Actor| actor.is_agent(&agent.label);
    let counts = StateCounts::of(
        state.view.snapshot.tasks.iter().map(|task| &**task).filter(|task| is_its(&task.started_by)),
    );
    let mut row = Vec::new();
    row.extend(
        agent.unrouted_phrase().map(|said| piece(format!("{}  ", visible::one_line(&said)), Role::Waiting)),
    );
    row.extend(
        (agent.session_turns > 0).then(|| piece(format!("turn {}  ", agent.session_turns), Role::Text)),
    );
    if counts.all > 0 {
        let noun = if counts.all == 1 { "task" } else { "tasks" };
        row.push(piece(format!("{} {noun}", count(counts.all as u64)), Role::Faint));
        row.extend(painter.state_counts(counts));
        row.push(piece("  ", Role::Text));
    }
    row.extend(agent.mode.as_ref().map(|mode| piece(format!("{}  ", visible::one_line(mode)), Role::Faint)));
    let questions = &state.view.snapshot.questions;
    let asked = questions.iter().find(|question| !question.is_of_program() && is_its(&question.asked_by));
    row.extend(asked.map(|question| {
        let tool = question.origin.name.as_deref().unwrap_or_default();
        piece(format!("asks: {} {}", visible::one_line(tool), questions::in_brief(question)), Role::Waiting)
    }));
    row
}
