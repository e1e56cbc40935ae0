//! What happened between two snapshots, as lines. Pure: the same two snapshots give the same lines.

use crate::console::plain::line::PlainLine;
use crate::console::plain::tasks::{after, command, end};
use crate::console::state::{alias, call_name};
use crate::console::state::{questions, words};
use crate::console::text::{self, visible};
use std::sync::Arc;

use crate::envelope::Actor;
use crate::model::{
    CallSummary, HeldCall, ProgramView, Snapshot, StepState, StepView, TaskEvent, TaskFact, TaskStatus,
    TaskView,
};

/// Maximum length of a quoted statement, in characters.
const MOST: usize = 200;

/// Returns what is new in `after`, in the most understandable order.
#[must_use]
pub fn events(before: &Snapshot, after: &Snapshot) -> Vec<PlainLine> {
    let mut lines = Vec::new();
    agents(before, after, &mut lines);
    notices(before, after, &mut lines);
    programs(before, after, &mut lines);
    gate(before, after, &mut lines);
    for task in &after.tasks {
        let known = before.tasks.iter().find(|known| known.id == task.id);
        if known.is_none_or(|known| !Arc::ptr_eq(known, task)) {
            task_events(known.map(|known| &**known), task, &mut lines);
        }
    }
    questions(before, after, &mut lines);
    calls(before, after, &mut lines);
    record(before, after, &mut lines);
    lines
}

fn agents(before: &Snapshot, after: &Snapshot, lines: &mut Vec<PlainLine>) {
    for agent in &after.agents {
        let known = before.agents.iter().find(|known| known.label == agent.label);
        let was = known.is_some_and(|known| known.connected);
        let by = Actor::Agent(agent.label.clone());
        match (was, agent.connected) {
            (false, true) if agent.routes.launch => {
                lines.push(PlainLine::by(&by, "launched, no command yet"))
            }
            (false, true) => lines.push(PlainLine::by(&by, format!("connected, {}", agent.client))),
            (true, false) => lines.push(PlainLine::by(&by, "has gone")),
            _ => {}
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

fn gate(before: &Snapshot, after: &Snapshot, lines: &mut Vec<PlainLine>) {
    match (before.gate.paused, after.gate.paused) {
        (None, Some(_)) => lines.push(PlainLine::by(&Actor::Operator, "paused agents: new commands wait")),
        (Some(_), None) => lines.push(PlainLine::by(&Actor::Operator, "resumed agents")),
        _ => {}
    }
    let is_new = |call: &&HeldCall| before.gate.held.iter().all(|known| known.ticket != call.ticket);
    for call in after.gate.held.iter().filter(is_new) {
        let more = match call.commands.len() {
            0 | 1 => String::new(),
            many => format!(" and {} more", many - 1),
        };
        let cmd = call.commands.first().map(|first| visible::told(&first.cmd)).unwrap_or_default();
        let name = call_name(&after.places, call.call);
        let text = format!("wants to run: {cmd}{more}; call {name} needs approval");
        lines.push(PlainLine::by(&call.actor, text));
    }
}

fn task_events(before: Option<&TaskView>, task: &TaskView, lines: &mut Vec<PlainLine>) {
    let name = alias(task);
    let was = before.map(|before| before.status);
    let was_held = before.is_some_and(|before| before.held.is_some());
    if task.held.is_none() && was.is_none() {
        lines.push(PlainLine::by(&task.started_by, format!("started {name}: {}", command(task))));
    } else if was_held && task.held.is_none() && !task.status.is_terminal() {
        lines.push(PlainLine::system(format!("{name} runs: {}", command(task))));
    }
    if before.is_some_and(|before| before.name != task.name) {
        let text = match &task.name {
            Some(called) => format!("named {name} {}", visible::told(called)),
            None => format!("took its name from {name}"),
        };
        lines.push(PlainLine::by(&Actor::Operator, text));
    }
    let known = before.map(|before| before.events.as_slice()).unwrap_or_default();
    lines.extend(fresh(known, &task.events).iter().filter_map(|event| told(&name, event)));
    if let Some(waiting) = task.certain_wait() {
        let same = |known: &TaskView| {
            known
                .waiting
                .as_ref()
                .is_some_and(|known| known.since == waiting.since && known.kind == waiting.kind)
        };
        if !before.is_some_and(same) {
            let text = format!("{name} {} ({})", words::needs(waiting), words::evidence(waiting.evidence));
            lines.push(PlainLine::system(text));
        }
    }
    if task.status == TaskStatus::Cancelling && was != Some(TaskStatus::Cancelling) {
        let by = task.stop.as_ref().map_or(Actor::System, |stop| stop.by.clone());
        let how = if task.stop.as_ref().is_some_and(|stop| stop.force) { "kills" } else { "stops" };
        lines.push(PlainLine::by(&by, format!("{how} {name}: {}", command(task))));
    }
    if task.status.is_terminal() && was.is_none_or(|was| !was.is_terminal()) {
        lines.push(PlainLine::system(format!("{name} ended: {}{}", end(task), after(task))));
    }
}

/// Returns what was appended to a timeline, which is bounded and may therefore have lost its beginning too.
fn fresh<'a>(before: &[TaskEvent], after: &'a [TaskEvent]) -> &'a [TaskEvent] {
    let lost = (0..=before.len()).find(|&lost| after.starts_with(&before[lost..])).unwrap_or(before.len());
    &after[before.len() - lost..]
}

/// Describes a timeline event, unless the task's state already covers it.
fn told(name: &str, event: &TaskEvent) -> Option<PlainLine> {
    let note = event.fact.note();
    let note = if note.is_empty() { String::new() } else { format!(": {note}") };
    let text = match &event.fact {
        TaskFact::Input(bytes) => format!("typed into {name}, {bytes} bytes"),
        TaskFact::Refused(_) => format!("could not type into {name}{note}"),
        TaskFact::Signal(_) => format!("sent a signal to {name}{note}"),
        TaskFact::Timeout => format!("{name} ran out of time{note}"),
        TaskFact::OutputLimit(_) => format!("{name} wrote more than its limit{note}"),
        TaskFact::Approved(_) => format!("approved {name}{note}"),
        TaskFact::Denied(_) => format!("denied {name}{note}"),
        _ => return None,
    };
    Some(PlainLine::by(&event.actor, text))
}

fn questions(before: &Snapshot, after: &Snapshot, lines: &mut Vec<PlainLine>) {
    let knows = |snapshot: &Snapshot, id| snapshot.questions.iter().any(|question| question.id == id);
    let needed = |snapshot: &Snapshot| {
        snapshot.questions.iter().filter(|question| question.needs_somebody()).cloned().collect::<Vec<_>>()
    };
    for question in needed(after).iter().filter(|question| !knows(before, question.id.clone())) {
        let what = questions::title(question).replacen("  ", " ", 1);
        let text = visible::told(question.text.trim());
        lines.push(PlainLine::by(&question.asked_by, format!("asks {what}: {text}")));
    }
    for question in needed(before).iter().filter(|question| !knows(after, question.id.clone())) {
        lines.push(PlainLine::system(format!("{} is settled", questions::alias(question))));
    }
}

/// Reports failed calls and batches, which no task reports.
fn calls(before: &Snapshot, after: &Snapshot, lines: &mut Vec<PlainLine>) {
    let status = |known: &CallSummary| known.status.clone();
    for call in &after.calls {
        let known = before.calls.iter().find(|known| known.seq == call.seq).and_then(|known| status(known));
        let Some(status) = call.status.as_deref().filter(|status| known.as_deref() != Some(*status)) else {
            continue;
        };
        let is_told = status == "error" || call.tool == "ExecCommandBatch" && status == "success";
        // The operator's own requests get their reply elsewhere.
        if is_told && call.actor != Actor::Operator {
            let summary = visible::told(&call.summary);
            let name = call_name(&after.places, call.seq);
            lines.push(PlainLine::by(&call.actor, format!("call {name} {status}: {summary}")));
        }
    }
}

fn record(before: &Snapshot, after: &Snapshot, lines: &mut Vec<PlainLine>) {
    match (&before.record.degraded, &after.record.degraded) {
        (None, Some(why)) => {
            lines.push(PlainLine::system(format!(
                "the record cannot be written: {why}; no new command starts"
            )));
        }
        (Some(_), None) => lines.push(PlainLine::system("the record is whole again")),
        _ => {}
    }
}

/// Reports what is new in the programs.
fn programs(before: &Snapshot, after: &Snapshot, lines: &mut Vec<PlainLine>) {
    for program in &after.programs {
        let known = before.programs.iter().find(|known| known.run == program.run).map(|known| &**known);
        if known.is_none() {
            lines.push(program_runs(program));
        }
        loops(known, program, lines);
        for step in &program.steps {
            let known = known.and_then(|known| known.steps.iter().find(|known| known.lines == step.lines));
            if known != Some(step) {
                statement(program, known, step, lines);
            }
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

fn loops(known: Option<&ProgramView>, program: &ProgramView, lines: &mut Vec<PlainLine>) {
    for turn in program.loops.iter().filter(|turn| turn.pass > 1) {
        let known = known.and_then(|known| known.loops.iter().find(|known| known.lines == turn.lines));
        if known.is_none_or(|known| known.pass != turn.pass) {
            let most = turn.max.map(|most| format!(" of at most {most}")).unwrap_or_default();
            let (name, line) = (name(program), turn.lines.first);
            lines.push(PlainLine::system(format!("{name} line {line}: pass {}{most}", turn.pass)));
        }
    }
}

/// Reports the progress of a statement. If it asks a question, the question itself is reported instead.
fn statement(program: &ProgramView, known: Option<&StepView>, step: &StepView, lines: &mut Vec<PlainLine>) {
    let place = format!("{} line {}", name(program), step.lines.first);
    if step.state == StepState::Skipped {
        if known.is_none_or(|known| known.state != step.state) {
            lines.push(PlainLine::system(format!("{place} is passed over: {}", source(program, step))));
        }
        return;
    }
    let is_new = begins_anew(known, step);
    if is_new && !matches!(step.state, StepState::Waiting | StepState::Asking) {
        lines.push(PlainLine::system(format!("{place} begins: {}", source(program, step))));
    }
    if !is_new && known.is_some_and(|known| known.state == step.state && known.exit_code == step.exit_code) {
        return;
    }
    let exit = step.exit_code.map(|code| format!("exit {code}"));
    let how = match (step.state, exit) {
        (StepState::Done, Some(exit)) => format!("ended: {exit}"),
        (StepState::Done, None) => "is done".to_owned(),
        (StepState::Failed, Some(exit)) => format!("failed: {exit}"),
        (StepState::Failed, None) => "failed".to_owned(),
        (StepState::Cancelled, _) => "was ended because of another one".to_owned(),
        (StepState::Waiting | StepState::Running | StepState::Asking | StepState::Skipped, _) => return,
    };
    lines.push(PlainLine::system(format!("{place} {how}")));
}

/// Tells whether a statement is executing from its beginning: for the first time, or in another pass.
fn begins_anew(known: Option<&StepView>, step: &StepView) -> bool {
    let is_over = |state| matches!(state, StepState::Done | StepState::Failed | StepState::Cancelled);
    known.is_none_or(|known| {
        matches!(known.state, StepState::Waiting | StepState::Skipped)
            || is_over(known.state) && !is_over(step.state)
            || known.task.is_some() && known.task != step.task
    })
}

fn source(program: &ProgramView, step: &StepView) -> String {
    let at = usize::try_from(step.lines.first.saturating_sub(1)).unwrap_or(usize::MAX);
    let line = program.source.lines().nth(at).unwrap_or_default();
    text::cut(&visible::told(line.trim()), MOST, "...")
}

fn name(program: &ProgramView) -> String {
    let name = program.path.file_name().unwrap_or(program.path.as_os_str());
    name.to_string_lossy().into_owned()
}
