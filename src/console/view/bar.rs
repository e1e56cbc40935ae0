//! The top row: program, workspace, agents, counts by state, what everyone must know, clock.

use ratatui::layout::Rect;

use crate::runtime::{AgentView, TaskStatus};

use super::super::app::attention;
use super::super::looks::theme::Role;
use super::super::text;
use super::super::text::document::{Piece, piece};
use super::super::text::visible;
use super::brush::{Brush, columns, joined};

pub(super) fn draw(brush: &mut Brush<'_>, area: Rect) {
    let right = right(brush, area.width);
    brush.row_right(area, 0, &right);
    let room = area.width.saturating_sub(columns(&right) + 2);
    let area = Rect { width: room, ..area };
    let workspace = &brush.app.snapshot.workspace;
    let name = workspace.file_name().unwrap_or(workspace.as_os_str()).to_string_lossy();
    let name = text::cut(&visible::one_line(&name), 20, brush.glyphs().cut);
    let left = [piece(" pilothouse ", Role::Title), piece(name, Role::Text)];
    let x = brush.row(area, 0, &left) + 3;
    let agents = agents(brush, area.width.saturating_sub(x));
    brush.row_from(area, (x, 0), &agents);
}

fn right(brush: &mut Brush<'_>, width: u16) -> Vec<Piece> {
    let gap = piece("  ", Role::Text);
    let mut groups = vec![counts(brush)];
    let waiting = attention::items(brush.app).len();
    if !brush.app.snapshot.questions.is_empty() {
        groups.push(vec![piece(format!("{waiting} FOR YOU"), Role::Waiting)]);
    }
    if brush.app.is_lost {
        groups.push(vec![piece("RUNTIME GONE", Role::Interrupted)]);
    }
    if brush.app.setup.recording.is_some() {
        groups.push(vec![piece("READ-ONLY RECORDING", Role::Strong)]);
    }
    if brush.app.snapshot.record.degraded.is_some() {
        groups.push(vec![piece("NOT ON RECORD", Role::Interrupted)]);
    }
    groups.extend(gate(brush));
    if brush.app.setup.is_root {
        groups.push(vec![piece("ROOT", Role::Strong)]);
    }
    groups.push(vec![piece("NO SANDBOX", Role::Faint)]);
    if width >= 100
        && let Some(call) = brush.app.newest_calls().next()
    {
        groups.push(vec![piece(format!("call {}", text::count(call.seq)), Role::Faint)]);
        // Noted elsewhere, it shows later whether the record still has this row.
        let head = &brush.app.snapshot.record.head;
        groups.extend((width >= 120 && !head.is_empty()).then(|| vec![piece(head.clone(), Role::Faint)]));
    }
    if brush.app.setup.taste.clock && !brush.is_still() {
        let clock = brush.app.now.to_zoned(brush.app.setup.zone.clone()).strftime("%H:%M ").to_string();
        brush.wake_at(text::next_minute(brush.app.now));
        groups.push(vec![piece(clock, Role::Text)]);
    } else {
        groups.push(vec![piece("", Role::Text)]);
    }
    joined(groups, &gap)
}

/// Whether agents are paused, and how many calls wait.
fn gate(brush: &Brush<'_>) -> Option<Vec<Piece>> {
    let gate = &brush.app.snapshot.gate;
    let held = (!gate.held.is_empty()).then(|| format!("{} held", gate.held.len()));
    let words: Vec<String> = gate.paused.map(|_| "PAUSED".to_owned()).into_iter().chain(held).collect();
    (!words.is_empty()).then(|| vec![piece(words.join(" "), Role::Waiting)])
}

fn counts(brush: &Brush<'_>) -> Vec<Piece> {
    let states = brush.glyphs().states;
    let tasks = &brush.app.snapshot.tasks;
    let count = |fact: fn(TaskStatus, bool) -> bool| {
        tasks.iter().filter(|task| fact(task.status, task.waiting.is_some())).count()
    };
    let groups = [
        (states[1], Role::Running, count(|status, waits| status == TaskStatus::Running && !waits)),
        (states[2], Role::Waiting, count(|status, waits| status == TaskStatus::Running && waits)),
        (
            states[3],
            Role::Cancelling,
            count(|status, _| matches!(status, TaskStatus::Cancelling | TaskStatus::Cancelled)),
        ),
        (states[5], Role::Failed, count(|status, _| status == TaskStatus::Failed)),
        (states[6], Role::Interrupted, count(|status, _| status == TaskStatus::Interrupted)),
        (states[4], Role::Completed, count(|status, _| status == TaskStatus::Completed)),
    ];
    let shown = groups
        .into_iter()
        .filter(|(.., count)| *count > 0)
        .map(|(glyph, role, count)| vec![piece(format!("{glyph}{count}"), role)]);
    joined(shown.collect(), &piece(" ", Role::Text))
}

/// As many agents as fit, else how many there are.
fn agents(brush: &mut Brush<'_>, room: u16) -> Vec<Piece> {
    let agents = brush.app.snapshot.agents.clone();
    if agents.is_empty() {
        let none = vec![piece("no agent yet", Role::Faint)];
        return if columns(&none) <= room { none } else { Vec::new() };
    }
    let everyone: fn(&AgentView) -> bool = |_| true;
    let kept = brush.drawn;
    for shown in [everyone, |agent| agent.connected] {
        let each: Vec<_> =
            agents.iter().filter(|agent| shown(agent)).map(|agent| one(brush, agent)).collect();
        let all = joined(each, &piece("  ", Role::Text));
        if columns(&all) > 0 && columns(&all) <= room {
            return all;
        }
        // Ages that are not shown after all must not wake the screen.
        brush.drawn = kept;
    }
    let connected = agents.iter().filter(|agent| agent.connected).count();
    let [here, gone] = brush.glyphs().link;
    let glyph = if connected > 0 { here } else { gone };
    let short = vec![piece(format!("{glyph} {connected} of {} agents", agents.len()), Role::Text)];
    if columns(&short) <= room { short } else { Vec::new() }
}

fn one(brush: &mut Brush<'_>, agent: &AgentView) -> Vec<Piece> {
    let [here, gone] = brush.glyphs().link;
    let label = text::cut(&visible::one_line(&agent.label), 16, brush.glyphs().cut);
    let (glyph, role) = if agent.connected { (here, Role::Accent) } else { (gone, Role::Faint) };
    let mut pieces = vec![piece(format!("{glyph} "), role), piece(label, Role::Text)];
    if let Some(last) = agent.last_call {
        pieces.push(piece(format!(" {}", brush.age(last)), Role::Faint));
    }
    pieces
}
