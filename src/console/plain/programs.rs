//! What programs do, as lines: their beginning, each statement from its beginning to its end, their end.

use crate::runtime::{ProgramView, Snapshot, StepState, StepView};

use super::super::text;
use super::super::text::visible;
use super::line::Line;

/// Characters told of a statement.
const MOST: usize = 200;

/// Says what is new of the programs.
pub(super) fn programs(before: &Snapshot, after: &Snapshot, lines: &mut Vec<Line>) {
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
            lines.push(Line::system(format!("the program {name} {state}{}", why.unwrap_or_default())));
        }
    }
}

/// Says that a program runs.
pub(super) fn program_runs(program: &ProgramView) -> Line {
    Line::by(&program.started_by, format!("runs the program {}, {}", name(program), program.run))
}

fn loops(known: Option<&ProgramView>, program: &ProgramView, lines: &mut Vec<Line>) {
    for turn in program.loops.iter().filter(|turn| turn.pass > 1) {
        let known = known.and_then(|known| known.loops.iter().find(|known| known.lines == turn.lines));
        if known.is_none_or(|known| known.pass != turn.pass) {
            let most = turn.max.map(|most| format!(" of at most {most}")).unwrap_or_default();
            let (name, line) = (name(program), turn.lines.first);
            lines.push(Line::system(format!("{name} line {line}: pass {}{most}", turn.pass)));
        }
    }
}

/// Says how far a statement has come. That it asks is told by what it asks.
fn statement(program: &ProgramView, known: Option<&StepView>, step: &StepView, lines: &mut Vec<Line>) {
    let place = format!("{} line {}", name(program), step.lines.first);
    if step.state == StepState::Skipped {
        if known.is_none_or(|known| known.state != step.state) {
            lines.push(Line::system(format!("{place} is passed over: {}", source(program, step))));
        }
        return;
    }
    let is_new = begins_anew(known, step);
    if is_new && !matches!(step.state, StepState::Waiting | StepState::Asking) {
        lines.push(Line::system(format!("{place} begins: {}", source(program, step))));
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
    lines.push(Line::system(format!("{place} {how}")));
}

/// Tells whether a statement is carried out from its beginning: for the first time, or in another pass.
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
