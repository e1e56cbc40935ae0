//! What happened since a snapshot, as lines: the events of tasks and programs, the turns of agents and of the pause, and
//! what is new in the lists. All of them are counted, so nothing is missed between two snapshots. Pure.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use crate::console::features::question::permission;
use crate::console::plain::line::PlainLine;
use crate::console::plain::tasks::{after, command};
use crate::console::state::waiting::left_by;
use crate::console::state::{alias, call_name, questions, words};
use crate::console::text::{self, visible};
use crate::envelope::units::amount;
use crate::envelope::{Actor, TaskId};
use crate::model::phrases::NO_COMMAND;
use crate::model::{
    GateView, HeldCall, ProgramEvent, ProgramView, Snapshot, StepState, TaskEvent, TaskFact, TaskView,
    later_events,
};

/// Maximum length of a quoted statement, in characters.
const MOST: usize = 200;
/// The most turns of one kind that are reported at once, since the runtime of a place may claim any number.
const MOST_TURNS: u64 = 32;

/// Returns what is new in `after`, in the most understandable order, if all that `before` shows was told.
#[must_use]
pub fn events(before: &Snapshot, after: &Snapshot) -> Vec<PlainLine> {
    let mut lines = Vec::new();
    agents(before, after, &mut lines);
    notices(before, after, &mut lines);
    programs(before, after, &mut lines);
    gate(before, after, &mut lines);
    let known: HashMap<&TaskId, &Arc<TaskView>> = before.tasks.iter().map(|task| (&task.id, task)).collect();
    for task in &after.tasks {
        let known = known.get(&task.id).copied();
        if known.is_none_or(|known| !Arc::ptr_eq(known, task)) {
            task_events(known.map(|known| &**known), task, &mut lines);
        }
    }
    questions(before, after, &mut lines);
    permissions(before, after, &mut lines);
    calls(before, after, &mut lines);
    lines
}

/// Returns the numbers of the turns that were not reported yet: an even number goes one way, an odd one back. For a place
/// that has just been attached, only its present state is reported.
fn turns(told: Option<u64>, now: u64) -> Range<u64> {
    told.unwrap_or(now - now % 2).max(now.saturating_sub(MOST_TURNS))..now
}

/// Tells whether an agent's runtime was already there.
fn was_there(before: &Snapshot, after: &Snapshot, agent: &str) -> bool {
    after.places.is_empty() || before.place_in(agent).is_some_and(|place| place.snapshot.seq > 0)
}

fn agents(before: &Snapshot, after: &Snapshot, lines: &mut Vec<PlainLine>) {
    for agent in &after.agents {
        let known = before.agents.iter().find(|known| known.label == agent.label).map(|known| known.turns);
        let told = known.or(was_there(before, after, &agent.label).then_some(0));
        for turn in turns(told, agent.turns) {
            let text = match turn % 2 {
                0 if agent.routes.launch => format!("launched, {NO_COMMAND}"),
                0 => format!("connected, {}", agent.client),
                _ => {
                    let left: Vec<String> = left_by(after, agent).map(|task| alias(task)).collect();
                    let left = (!left.is_empty()).then(|| format!("; it left {} running", left.join(", ")));
                    format!("has gone{}", left.unwrap_or_default())
                }
            };
            lines.push(PlainLine::by(&Actor::Agent(agent.label.clone()), text));
        }
    }
}

fn notices(before: &Snapshot, after: &Snapshot, lines: &mut Vec<PlainLine>) {
    let seen = before.notices.last().map_or(0, |notice| notice.seq);
    for notice in after.notices.iter().filter(|notice| notice.seq > seen) {
        let error = if notice.is_error { "error: " } else { "" };
        lines.push(PlainLine::system(format!("{error}{}", notice.text)));
    }
}

/// Returns what holds the calls of a runtime, or those of each place.
fn gates(snapshot: &Snapshot) -> Vec<(Option<&str>, &GateView)> {
    if snapshot.places.is_empty() {
        return vec![(None, &snapshot.gate)];
    }
    let attached = snapshot.places.iter().filter(|place| place.snapshot.seq > 0);
    attached.map(|place| (Some(&*place.name.name), &place.snapshot.gate)).collect()
}

fn gate(before: &Snapshot, after: &Snapshot, lines: &mut Vec<PlainLine>) {
    for (place, gate) in gates(after) {
        let known = gates(before).into_iter().find(|(known, _)| *known == place);
        let of = place.map(|place| format!(" of {place}")).unwrap_or_default();
        for turn in turns(known.map(|(_, known)| known.turns), gate.turns) {
            let text = match turn % 2 {
                0 => format!("paused agents{of}: new commands wait"),
                _ => format!("resumed agents{of}"),
            };
            lines.push(PlainLine::by(&Actor::Operator, text));
        }
    }
    let is_new = |call: &&HeldCall| before.gate.held.iter().all(|known| known.ticket != call.ticket);
    for call in after.gate.held.iter().filter(is_new) {
        let more = match call.commands.len() {
            0 | 1 => String::new(),
            many => format!(" and {} more", many - 1),
        };
        let cmd = call.commands.first().map(|first| visible::masked_line(&first.cmd)).unwrap_or_default();
        let name = call_name(&after.places, call.call);
        let text = format!("wants to run: {cmd}{more}; call {name} needs approval");
        lines.push(PlainLine::by(&call.actor, text));
    }
}

fn task_events(before: Option<&TaskView>, task: &TaskView, lines: &mut Vec<PlainLine>) {
    let name = alias(task);
    let is_hold = |event: &TaskEvent| matches!(event.fact, TaskFact::Held(_) | TaskFact::Queued(_));
    let was_held = || task.events.iter().any(is_hold);
    if before.is_none() && task.held.is_none() && !was_held() {
        lines.push(PlainLine::by(&task.started_by, format!("started {name}: {}", command(task))));
    }
    if before.is_some_and(|before| before.name != task.name) {
        let text = match &task.name {
            Some(called) => format!("named {name} {}", visible::masked_line(called)),
            None => format!("took its name from {name}"),
        };
        lines.push(PlainLine::by(&Actor::Operator, text));
    }
    let told = before.map_or(0, TaskView::event_count);
    for event in later_events(&task.events, task.earlier_events, told) {
        task_event(&name, task, event, lines);
    }
}

fn task_event(name: &str, task: &TaskView, event: &TaskEvent, lines: &mut Vec<PlainLine>) {
    let note = event.fact.note();
    let note = if note.is_empty() { String::new() } else { format!(": {note}") };
    let mut says = |by: &Actor, text: String| lines.push(PlainLine::by(by, text));
    match &event.fact {
        TaskFact::Input(bytes) => {
            says(&event.actor, format!("typed into {name}, {}", amount(*bytes, "byte")))
        }
        TaskFact::Refused(reason) => {
            says(&event.actor, format!("could not type into {name}: it {}", reason.clause()));
        }
        TaskFact::InputLost(lost) => says(&event.actor, format!("input of {name} {}", lost.clause())),
        TaskFact::Signal(_) => says(&event.actor, format!("sent a signal to {name}{note}")),
        TaskFact::Timeout => says(&event.actor, format!("{name} timed out{note}")),
        TaskFact::OutputLimit(_) => says(&event.actor, format!("{name} wrote more than its limit{note}")),
        TaskFact::Ceiling(hit) if hit.soft => says(&event.actor, format!("{name} met a ceiling{note}")),
        TaskFact::Denied(_) => says(&event.actor, format!("denied {name}{note}")),
        TaskFact::Approved(_) => {
            says(&event.actor, format!("approved {name}{note}"));
            if task.queued.is_none() {
                says(&Actor::System, format!("{name} runs: {}", command(task)));
            }
        }
        TaskFact::Queued(_) => {
            says(&task.started_by, format!("queued {name}: {}{}", command(task), note.replacen(':', ";", 1)));
        }
        TaskFact::Admitted => {
            if event.actor == Actor::Operator {
                says(&event.actor, format!("let {name} pass"));
            }
            says(&Actor::System, format!("{name} runs: {}", command(task)));
        }
        TaskFact::Waiting(waiting) if waiting.is_certain() => {
            let text = format!("{name} {} ({})", words::needs(waiting), waiting.evidence.word());
            says(&Actor::System, text);
        }
        TaskFact::Listening(listener) => {
            let url = listener.url.as_ref().map(|url| format!(" ({url})")).unwrap_or_default();
            let address = visible::masked_line(&format!("{}{url}", listener.in_words()));
            says(&Actor::System, format!("{name} is listening on {address}"));
        }
        TaskFact::Closed(at) => {
            let address = visible::masked_line(&at.to_string()).to_string();
            says(&Actor::System, format!("{name} no longer listens on {address}"));
        }
        TaskFact::End { .. } => says(
            &Actor::System,
            format!("{name} ended: {}{}", task.end_clause().unwrap_or_default(), after(task)),
        ),
        _ => {}
    }
    let how = match &event.fact {
        TaskFact::Stop { force: true, .. } => "kills",
        TaskFact::Ceiling(hit) if hit.soft => "kills",
        TaskFact::Stop { .. } | TaskFact::Timeout | TaskFact::OutputLimit(_) => "stops",
        _ => return,
    };
    says(&event.actor, format!("{how} {name}: {}", command(task)));
}

fn questions(before: &Snapshot, after: &Snapshot, lines: &mut Vec<PlainLine>) {
    let knows = |snapshot: &Snapshot, id| snapshot.questions.iter().any(|question| question.id == id);
    let needed = |snapshot: &Snapshot| {
        snapshot.questions.iter().filter(|question| question.needs_somebody()).cloned().collect::<Vec<_>>()
    };
    for question in needed(after).iter().filter(|question| !knows(before, question.id.clone())) {
        let what = questions::title(question).replacen("  ", " ", 1);
        let text = visible::masked_line(question.text.trim());
        lines.push(PlainLine::by(&question.asked_by, format!("asks {what}: {text}")));
    }
    for question in needed(before).iter().filter(|question| !knows(after, question.id.clone())) {
        lines.push(PlainLine::system(format!("{} is settled", questions::alias(question))));
    }
}

/// Reports what is permitted of agents' further prompts, and what no longer is.
fn permissions(before: &Snapshot, after: &Snapshot, lines: &mut Vec<PlainLine>) {
    let knows = |snapshot: &Snapshot, id| snapshot.permissions.iter().any(|known| known.question == id);
    for given in after.permissions.iter().filter(|given| !knows(before, given.question.clone())) {
        lines.push(PlainLine::by(&Actor::Operator, format!("allowed {}", permission::describe(given))));
    }
    for over in before.permissions.iter().filter(|over| !knows(after, over.question.clone())) {
        lines.push(PlainLine::system(format!("asked about again: {}", permission::describe(over))));
    }
}

/// Reports failed calls and batches, which no task reports.
fn calls(before: &Snapshot, after: &Snapshot, lines: &mut Vec<PlainLine>) {
    let answered = before.calls.iter().filter(|call| call.status.is_some());
    let told: HashSet<u64> = answered.map(|call| call.seq).collect();
    for call in after.calls.iter().filter(|call| !told.contains(&call.seq)) {
        let Some(status) = call.status.as_deref() else { continue };
        let is_told = status == "error" || call.tool == "ExecCommandBatch" && status == "success";
        // The operator's own requests get their reply elsewhere.
        if is_told && call.actor != Actor::Operator {
            let summary = visible::masked_line(&call.summary);
            let name = call_name(&after.places, call.seq);
            lines.push(PlainLine::by(&call.actor, format!("call {name} {status}: {summary}")));
        }
    }
}

/// Reports what is new in the programs.
fn programs(before: &Snapshot, after: &Snapshot, lines: &mut Vec<PlainLine>) {
    for program in &after.programs {
        let known = before.programs.iter().find(|known| known.run == program.run).map(|known| &**known);
        if known.is_none() {
            lines.push(program_runs(program));
        }
        let told = known.map_or(0, ProgramView::event_count);
        for event in later_events(&program.events, program.earlier_events, told) {
            lines.push(PlainLine::system(program_event(program, *event)));
        }
        if program.state.is_terminal() && known.is_none_or(|known| !known.state.is_terminal()) {
            let why = program.error.as_ref().map(|error| format!(": line {}, {}", error.line, error.message));
            let state = program.state.as_str();
            let name = name(program);
            lines.push(PlainLine::system(format!("the program {name} {state}{}", why.unwrap_or_default())));
        }
    }
}

/// Reports that a program is running.
pub(super) fn program_runs(program: &ProgramView) -> PlainLine {
    PlainLine::by(&program.started_by, format!("runs the program {}, {}", name(program), program.run))
}

/// Says what a program has done. A statement that asks a question has no event: the question itself is reported.
fn program_event(program: &ProgramView, event: ProgramEvent) -> String {
    let name = name(program);
    let (line, state, exit_code) = match event {
        ProgramEvent::Pass { line, pass, max } => {
            let most = max.map(|most| format!(" of at most {most}")).unwrap_or_default();
            return format!("{name} line {line}: pass {pass}{most}");
        }
        ProgramEvent::Step { line, state, exit_code } => (line, state, exit_code),
    };
    let exit = |how: &str| exit_code.map(|code| format!("{how}: exit {code}"));
    let how = match state {
        StepState::Waiting | StepState::Running | StepState::Asking => {
            format!("begins: {}", source(program, line))
        }
        StepState::Skipped => format!("is passed over: {}", source(program, line)),
        StepState::Done => exit("ended").unwrap_or_else(|| "is done".to_owned()),
        StepState::Failed => exit("failed").unwrap_or_else(|| "failed".to_owned()),
        StepState::Cancelled => "was ended because of another one".to_owned(),
    };
    format!("{name} line {line} {how}")
}

fn source(program: &ProgramView, line: u32) -> String {
    let at = usize::try_from(line.saturating_sub(1)).unwrap_or(usize::MAX);
    let line = program.source.lines().nth(at).unwrap_or_default();
    text::cut(&visible::masked_line(line.trim()), MOST, "...")
}

fn name(program: &ProgramView) -> String {
    let name = program.path.file_name().unwrap_or(program.path.as_os_str());
    name.to_string_lossy().into_owned()
}
