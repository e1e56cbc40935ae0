//! The top bar: the workspace, the agents, what runs and what waits.

use std::sync::Arc;

use ratatui::layout::Rect;

use crate::console::state::answers_no;
use crate::console::text::{self, StyledPiece, piece, visible};
use crate::console::theme::Role;
use crate::console::widgets::{Painter, columns, join_groups};
use crate::envelope::Actor;
use crate::model::phrases::NO_COMMAND;
use crate::model::{AgentActivity, AgentView, AgentWork, InputWait, TaskStatus, TaskView};

pub(in crate::console) fn draw(painter: &mut Painter<'_>, area: Rect, waiting: usize) {
    let whole = area;
    let name = painter.state.workspace_name();
    let name = text::cut(&visible::one_line(&name), 20, painter.glyphs().cut);
    let left = [piece(" pilothouse ", Role::Title), piece(name, Role::Text)];
    let x = columns(&left) + 3;
    // Agents take precedence over the clock and static information.
    for is_short in [false, true] {
        let right = right(painter, whole.width, (is_short, waiting));
        let area = Rect { width: whole.width.saturating_sub(columns(&right) + 2), ..whole };
        let agents = agents(painter, area.width.saturating_sub(x));
        if agents.is_empty() && !is_short {
            continue;
        }
        painter.row_right(whole, 0, &right);
        painter.row(area, 0, &left);
        painter.row_from(area, (x, 0), &agents);
        return;
    }
}

pub(in crate::console) fn right(
    painter: &mut Painter<'_>,
    width: u16,
    (is_short, waiting): (bool, usize),
) -> Vec<StyledPiece> {
    let gap = piece("  ", Role::Text);
    let mut groups = vec![counts(painter)];
    if painter.state.view.snapshot.questions.iter().any(|question| question.needs_somebody()) {
        groups.push(vec![piece(format!("{waiting} FOR YOU"), Role::Waiting)]);
    }
    if painter.state.view.is_lost {
        groups.push(vec![piece("RUNTIME GONE", Role::Interrupted)]);
    }
    if painter.state.setup.recording.is_some() {
        groups.push(vec![piece("READ-ONLY RECORDING", Role::Strong)]);
    }
    if painter.state.view.snapshot.record.degraded.is_some() {
        groups.push(vec![piece("NOT ON RECORD", Role::Interrupted)]);
    }
    groups.extend(gate(painter));
    groups.extend(permissions(painter));
    if painter.state.setup.is_root {
        groups.push(vec![piece("ROOT", Role::Strong)]);
    }
    if is_short {
        groups.push(vec![piece("", Role::Text)]);
        return join_groups(groups, &gap);
    }
    groups.push(vec![piece("NO SANDBOX", Role::Faint)]);
    if width >= 100
        && let Some(call) = painter.state.view.newest_calls().next()
    {
        groups.push(vec![piece(format!("call {}", painter.state.call_name(call.seq)), Role::Faint)]);
        // Noted down elsewhere, it can later show whether the record still contains this row.
        let head = &painter.state.view.snapshot.record.head;
        groups.extend((width >= 120 && !head.is_empty()).then(|| vec![piece(head.clone(), Role::Faint)]));
    }
    if painter.state.setup.ui.console.clock && !painter.is_still() {
        let clock = painter
            .state
            .clock
            .now
            .to_zoned_datetime(painter.state.setup.zone.clone())
            .strftime("%H:%M ")
            .to_string();
        painter.wake_at(text::next_minute(painter.state.clock.now));
        groups.push(vec![piece(clock, Role::Text)]);
    } else {
        groups.push(vec![piece("", Role::Text)]);
    }
    join_groups(groups, &gap)
}

/// Returns whether agents are paused, with the number of places unless it is everywhere, and how many calls are held.
pub(in crate::console) fn gate(painter: &Painter<'_>) -> Option<Vec<StyledPiece>> {
    let gate = &painter.state.view.snapshot.gate;
    let held = (!gate.held.is_empty()).then(|| format!("{} held", gate.held.len()));
    let paused = match painter.state.view.snapshot.paused_places() {
        (0, _) => None,
        (paused, all) if paused < all => Some(format!("PAUSED {paused}/{all}")),
        _ => Some("PAUSED".to_owned()),
    };
    let words: Vec<String> = paused.into_iter().chain(held).collect();
    (!words.is_empty()).then(|| vec![piece(words.join(" "), Role::Waiting)])
}

/// Returns what is permitted of agents' further prompts: how many permissions, and for how long the last of them.
fn permissions(painter: &mut Painter<'_>) -> Option<Vec<StyledPiece>> {
    let state = painter.state;
    let permissions = &state.view.snapshot.permissions[..];
    let what = match permissions {
        [] => return None,
        [_] => "ALLOWED".to_owned(),
        many => format!("{} ALLOWED", many.len()),
    };
    let is_turn = permissions.iter().any(|permission| permission.until.is_none());
    let last = permissions.iter().filter_map(|permission| permission.until).max().filter(|_| !is_turn);
    let time = last.map_or_else(|| "this turn".to_owned(), |last| painter.time_left(last));
    Some(vec![piece(format!("{what} {time}"), Role::Waiting)])
}

pub(in crate::console) fn counts(painter: &Painter<'_>) -> Vec<StyledPiece> {
    let states = painter.glyphs().states;
    let snapshot = &painter.state.view.snapshot;
    let count = |status| snapshot.count(status);
    let waits = |task: &&Arc<TaskView>| {
        task.status == TaskStatus::Running && task.waiting.as_ref().is_some_and(InputWait::is_certain)
    };
    let waiting = snapshot.tasks.iter().filter(waits).count() as u64;
    let failed = count(TaskStatus::Failed);
    let only_no = snapshot.tasks.iter().filter(|task| answers_no(task)).count() as u64;
    let failed_role = if failed > only_no { Role::Failed } else { Role::Faint };
    let groups = [
        (states[1], Role::Running, count(TaskStatus::Running).saturating_sub(waiting)),
        (states[2], Role::Waiting, waiting),
        (states[3], Role::Cancelling, count(TaskStatus::Cancelling) + count(TaskStatus::Cancelled)),
        (states[5], failed_role, failed),
        (states[6], Role::Interrupted, count(TaskStatus::Interrupted)),
        (states[4], Role::Completed, count(TaskStatus::Completed)),
    ];
    let shown = groups
        .into_iter()
        .filter(|(.., count)| *count > 0)
        .map(|(glyph, role, count)| vec![piece(format!("{glyph}{count}"), role)]);
    join_groups(shown.collect(), &piece(" ", Role::Text))
}

/// Returns as many agents as fit, or else only their number.
pub(in crate::console) fn agents(painter: &mut Painter<'_>, room: u16) -> Vec<StyledPiece> {
    let (agents, listed) = (&painter.state.view.snapshot.agents, painter.state.list_rows());
    if agents.is_empty() {
        let none = vec![piece("no agent yet", Role::Faint)];
        return if columns(&none) <= room { none } else { Vec::new() };
    }
    let everyone: fn(&AgentView) -> bool = |_| true;
    let kept = painter.drawn.wake;
    for shown in [everyone, |agent| agent.connected] {
        let each = agents.iter().zip(&listed.works).filter(|(agent, _)| shown(agent));
        let each: Vec<_> = each.map(|(agent, work)| one(painter, agent, *work)).collect();
        let all = join_groups(each, &piece("  ", Role::Text));
        if columns(&all) > 0 && columns(&all) <= room {
            return all;
        }
        // Ages that end up not being shown must not schedule a redraw.
        painter.drawn.wake = kept;
    }
    let connected = agents.iter().filter(|agent| agent.connected).count();
    let [here, gone] = painter.glyphs().link;
    let glyph = if connected > 0 { here } else { gone };
    let mut short = vec![piece(format!("{glyph} {connected} of {} agents", agents.len()), Role::Text)];
    let unread: usize = agents.iter().map(|agent| agent.unread.len()).sum();
    if unread > 0 {
        short.push(piece(format!(" {unread} unread"), Role::Waiting));
    }
    if columns(&short) <= room { short } else { Vec::new() }
}

fn one(painter: &mut Painter<'_>, agent: &AgentView, work: Option<AgentWork>) -> Vec<StyledPiece> {
    let [here, gone] = painter.glyphs().link;
    let label = text::cut(&visible::one_line(&agent.label), 16, painter.glyphs().cut);
    let (glyph, role) = if agent.connected { (here, Role::Accent) } else { (gone, Role::Faint) };
    let colour = painter.state.role_of(&Actor::Agent(agent.label.clone()));
    let mut pieces = vec![piece(format!("{glyph} "), role), piece(label, colour)];
    match (work.filter(|_| agent.connected), agent.last_call) {
        (Some(AgentWork { activity: AgentActivity::NeedsYou, .. }), _) => {
            pieces.push(piece(" needs you", Role::Waiting));
        }
        (Some(work), _) => {
            let said = format!(" {} {}", work.activity.word(), painter.doing(work));
            pieces.push(piece(said, Role::Faint));
        }
        (None, Some(last)) => pieces.push(piece(format!(" {}", painter.silence(last)), Role::Faint)),
        (None, None) if agent.connected && agent.routes.launch && agent.unrouted_phrase().is_none() => {
            pieces.push(piece(format!(" {NO_COMMAND}"), Role::Faint));
        }
        (None, None) => {}
    }
    pieces.extend(
        agent.unrouted_phrase().map(|said| piece(format!(" {}", visible::one_line(&said)), Role::Waiting)),
    );
    if !agent.unread.is_empty() {
        pieces.push(piece(format!(" {} unread", agent.unread.len()), Role::Waiting));
    }
    pieces
}
