//! The program screen: the source with its progress, branches and values, the question the program is waiting
//! on, and which of its commands has the pane.

use ratatui::layout::Rect;

use crate::console::keys::{Action, KeyContext};
use crate::console::state::{Layout, State, Term, cut_top, names, questions};
use crate::console::text;
use crate::console::text::{StyledPiece, column, piece, visible};
use crate::console::theme::Role;
use crate::console::widgets::{Painter, columns};
use crate::envelope::mask;
use crate::model::millis_between;
use crate::model::{BindingView, LineRange, ProgramView, RunState, StepState, StepView};

/// The mark beside a source line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineMark {
    /// The state of the statement that begins on this line.
    pub state: Option<StepState>,
    /// Whether it is executing now.
    pub is_current: bool,
}

/// Returns the width of the longest source line in columns.
pub fn source_columns(state: &State) -> u16 {
    let lines = state.program().into_iter().flat_map(|program| program.source.lines());
    let longest = lines.map(|line| text::width(&visible_line(line))).max().unwrap_or(0);
    u16::try_from(longest).unwrap_or(u16::MAX)
}

/// Returns the first line shown in this many rows.
pub fn program_top(state: &State, rows: usize) -> usize {
    let Some(program) = state.program() else { return 0 };
    let count = program.source.lines().count();
    let last_top = count.saturating_sub(rows);
    let line = program
        .current()
        .map_or_else(|| program.error.as_ref().map_or(1, |error| error.line), |lines| lines.first);
    let centred = usize::try_from(line).unwrap_or(1).saturating_sub(1).saturating_sub(rows / 3);
    state.programs.top.unwrap_or(centred).min(last_top)
}

/// Returns a source line as displayed.
pub fn visible_line(line: &str) -> String {
    visible::in_text(&mask(line)).into_owned()
}

/// Returns the mark beside a source line.
pub fn mark(program: &ProgramView, line: u32) -> LineMark {
    let holds = program.steps.iter().filter(|step| step.lines.holds(line));
    let inner = holds.min_by_key(|step| length(step.lines));
    let begins = program.steps.iter().find(|step| step.lines.first == line);
    let is_current = inner.is_some_and(|step| is_live(step) && !has_inner(program, step));
    // The head of a block whose body is being executed is not marked as current itself.
    let is_head = begins.is_some_and(|step| is_live(step) && has_inner(program, step));
    LineMark { state: begins.map(|step| step.state), is_current: is_current && !is_head }
}

fn length(lines: LineRange) -> u32 {
    lines.last.saturating_sub(lines.first)
}

fn is_live(step: &StepView) -> bool {
    matches!(step.state, StepState::Running | StepState::Asking)
}

/// Tells whether this statement contains another one.
fn has_inner(program: &ProgramView, step: &StepView) -> bool {
    let inside = |other: &&StepView| {
        other.lines != step.lines && step.lines.holds(other.lines.first) && step.lines.holds(other.lines.last)
    };
    program.steps.iter().any(|other| inside(&other))
}

/// Width of a name in columns.
const NAME: usize = 14;

pub(crate) fn draw(painter: &mut Painter<'_>, layout: &Layout) {
    let Some(program) = painter.state.program().cloned() else { return nothing(painter, layout.stage) };
    source(painter, layout.source, &program);
    values(painter, layout.values, &program);
    strip(painter, layout.strip);
}

fn nothing(painter: &mut Painter<'_>, area: Rect) {
    painter.row(area, 1, &[piece("  no program has run", Role::Strong)]);
    let hint = [
        piece("  ", Role::Text),
        piece(
            painter.state.setup.keymap.key(KeyContext::Program, Action::Start).unwrap_or_default(),
            Role::Key,
        ),
        piece(" FILE.prose", Role::Text),
        piece("   runs one here; in a shell:  ", Role::Faint),
        piece("pilothouse run FILE.prose", Role::Text),
    ];
    painter.row(area, 3, &hint);
}

fn source(painter: &mut Painter<'_>, area: Rect, program: &ProgramView) {
    let (head, body) = cut_top(area, 1);
    let name = program.path.file_name().unwrap_or(program.path.as_os_str()).to_string_lossy();
    let (glyph, role, word) = run_state(painter, program);
    let has_keys = painter.state.program_task().is_some() && !painter.state.programs.in_pane;
    let mark = if has_keys { format!("{} ", painter.glyphs().selected) } else { String::new() };
    let title = [
        piece(mark, Role::Accent),
        piece("[5] ", Role::Faint),
        piece(format!("{glyph} "), role),
        piece(visible::one_line(&name), Role::Title),
    ];
    let mut facts = vec![piece(word, role)];
    for turn in &program.loops {
        let most = turn.max.map(|most| format!(" of {most}")).unwrap_or_default();
        facts.push(piece(format!("pass {}{most}", turn.pass), Role::Text));
    }
    if program.state.is_terminal() {
        let ended = program.ended_at.unwrap_or(program.started_at);
        let ran = text::millis(millis_between(program.started_at, ended));
        facts.push(piece(format!("ran {ran}"), Role::Faint));
    } else {
        facts.push(piece(painter.lasting(program.started_at), Role::Faint));
    }
    facts.extend(spent(program).map(|spent| piece(spent, Role::Faint)));
    painter.head(head, &title, &facts);
    let top = program_top(painter.state, usize::from(body.height));
    let lines = program.source.lines().enumerate().skip(top);
    let body = Rect { width: body.width.saturating_sub(1), ..body };
    painter.list(body, lines, |painter, (at, line)| {
        source_row(painter, program, u32::try_from(at + 1).unwrap_or(u32::MAX), line)
    });
}

/// Describes how many session commands have ended and what they cost.
fn spent(program: &ProgramView) -> Option<String> {
    let sessions = match program.sessions {
        0 => return None,
        1 => "1 session".to_owned(),
        many => format!("{many} sessions"),
    };
    let cost = (program.cost > 0).then(|| format!(" {}", crate::model::dollars(program.cost)));
    Some(format!("  {sessions}{}", cost.unwrap_or_default()))
}

/// Returns a source line, and whether it is executing now.
fn source_row(
    painter: &Painter<'_>,
    program: &ProgramView,
    number: u32,
    line: &str,
) -> (Vec<StyledPiece>, bool) {
    let mark = mark(program, number);
    let (glyph, role) = mark.state.map_or((" ", Role::Text), |state| step_state(painter, state));
    let is_comment = line.trim_start().starts_with('#');
    let text_role = match mark.state {
        _ if mark.is_current => Role::Strong,
        Some(StepState::Failed) => Role::Failed,
        Some(StepState::Skipped | StepState::Cancelled) => Role::Faint,
        _ if is_comment => Role::Faint,
        _ => Role::Text,
    };
    let line = visible_line(line);
    let (before, line) = text::split_at_column(&line, usize::from(painter.state.programs.pan));
    let more = if before.trim().is_empty() { " " } else { painter.glyphs().more[0] };
    let row = vec![
        piece(format!("{glyph} "), role),
        piece(format!("{number:>4} "), Role::Faint),
        piece(more, Role::Accent),
        piece(line, text_role),
    ];
    (row, mark.is_current)
}

fn values(painter: &mut Painter<'_>, area: Rect, program: &ProgramView) {
    if area.height < 2 {
        return;
    }
    let (head, body) = cut_top(area, 1);
    let count = program.bindings.len();
    let mut title = vec![piece("values", Role::Title)];
    title.extend(
        painter.explanation(Term::Values).into_iter().flat_map(|line| [piece("  ", Role::Text), line]),
    );
    painter.head(head, &title, &[piece(count.to_string(), Role::Faint)]);
    let mut rows = Vec::new();
    if let Some(error) = &program.error {
        let said = format!("line {}: {}", error.line, visible::one_line(&error.message));
        rows.push(vec![
            piece(format!(" {} ", painter.glyphs().states[5]), Role::Failed),
            piece(said, Role::Failed),
        ]);
    }
    for branch in &program.branches {
        let (glyph, role) = step_state(painter, branch.state);
        let name = branch.name.as_deref().unwrap_or("");
        let task = branch.task.as_ref().and_then(|id| painter.state.view.task(id));
        let task = task.map(|task| names::alias(task)).unwrap_or_default();
        rows.push(vec![
            piece(format!(" {glyph} "), role),
            piece(column(&visible::one_line(&branch.letter), 4, ""), Role::Title),
            piece(column(&visible::one_line(name), NAME, painter.glyphs().cut), Role::Name),
            piece(format!(" {}  {task}", step_word(branch.state)), role),
        ]);
    }
    let room = usize::from(body.height).saturating_sub(rows.len());
    rows.extend(
        program.bindings.iter().skip(count.saturating_sub(room)).map(|binding| value(painter, binding)),
    );
    let body = Rect { width: body.width.saturating_sub(1), ..body };
    painter.list(body, rows, |_, row| (row, false));
}

fn value(painter: &Painter<'_>, binding: &BindingView) -> Vec<StyledPiece> {
    let states = painter.glyphs().states;
    let (glyph, role) = match binding.exit_code {
        Some(0) => (states[4], Role::Completed),
        Some(_) => (states[5], Role::Failed),
        None => (painter.glyphs().dot, Role::Faint),
    };
    let exit = match binding.exit_code {
        Some(code) if binding.timed_out => format!(" {code} timed out"),
        Some(code) => format!(" {code}"),
        None => String::new(),
    };
    let shown = visible::one_line(binding.preview.trim()).into_owned();
    let shown = if binding.is_cut { format!("{shown}{}", painter.glyphs().cut) } else { shown };
    vec![
        piece(format!(" {glyph}"), role),
        piece(column(&exit, 5, ""), role),
        piece(column(&visible::one_line(&binding.name), NAME, painter.glyphs().cut), Role::Name),
        piece(format!(" {shown}"), Role::Text),
    ]
}

fn run_state(painter: &Painter<'_>, program: &ProgramView) -> (&'static str, Role, &'static str) {
    let states = painter.glyphs().states;
    let word = program.state.as_str();
    match program.state {
        RunState::Running => (states[1], Role::Running, word),
        RunState::Asking => (states[2], Role::Waiting, "waits for an answer"),
        RunState::Completed => (states[4], Role::Completed, word),
        RunState::Failed => (states[5], Role::Failed, word),
        RunState::Cancelled => (states[3], Role::Cancelled, word),
        RunState::Interrupted => (states[6], Role::Interrupted, word),
    }
}

fn step_state(painter: &Painter<'_>, state: StepState) -> (&'static str, Role) {
    let states = painter.glyphs().states;
    match state {
        StepState::Waiting => (states[0], Role::Queued),
        StepState::Running => (states[1], Role::Running),
        StepState::Asking => (states[2], Role::Waiting),
        StepState::Done => (states[4], Role::Completed),
        StepState::Failed => (states[5], Role::Failed),
        StepState::Skipped => (painter.glyphs().dot, Role::Faint),
        StepState::Cancelled => (states[3], Role::Cancelled),
    }
}

fn step_word(state: StepState) -> &'static str {
    match state {
        StepState::Waiting => "not begun",
        StepState::Running => "running",
        StepState::Asking => "asking",
        StepState::Done => "done",
        StepState::Failed => "failed",
        StepState::Skipped => "skipped",
        StepState::Cancelled => "ended",
    }
}

/// Draws the row of the program screen that shows the question it is waiting on.
pub(in crate::console) fn strip(painter: &mut Painter<'_>, area: Rect) {
    let Some(question) = painter.state.program_question().cloned() else { return };
    let at_work = question.expected.as_ref().filter(|_| !question.needs_somebody());
    let (role, word) =
        if at_work.is_some() { (Role::Running, "answer it yourself ") } else { (Role::Waiting, "answer ") };
    let glyph = painter.glyphs().states[if at_work.is_some() { 1 } else { 2 }];
    let left = question.deadline.map(|deadline| format!("  {}", painter.time_left(deadline)));
    let mut tail = vec![piece(left.unwrap_or_default(), Role::Waiting)];
    tail.extend(painter.hint(painter.state.view_context(), Action::AnswerQuestion, word));
    let title = match at_work {
        Some(expected) => format!("{} is at work", visible::one_line(&expected.by)),
        None => questions::title(&question),
    };
    let said = visible::masked_line(question.text.trim());
    let head = vec![piece(format!(" {glyph} {title}  "), role), piece(said, Role::Strong)];
    let room = usize::from(area.width.saturating_sub(columns(&tail) + 1));
    let head = painter.cut(&head, room);
    painter.row(area, 0, &head);
    painter.row_right(area, 0, &tail);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::envelope::Actor;
    use crate::model::RunState;

    #[test]
    fn a_program_is_named_by_its_file_alone_or_as_the_command_line_has_it() {
        for (written, file) in [
            ("ship.prose", Some("ship.prose")),
            ("pilothouse run ../a/ship.prose", Some("../a/ship.prose")),
            ("pilothouse run ship.prose --set a=b", None),
            ("cat ship.prose", None),
            ("'ship.prose", None),
            ("ship.txt", None),
        ] {
            assert_eq!(crate::console::state::programs::program_file(written), file, "{written}");
        }
    }

    fn step(first: u32, last: u32, state: StepState) -> StepView {
        StepView { lines: LineRange { first, last }, state, task: None, exit_code: None }
    }

    #[test]
    fn the_innermost_statement_is_the_current_one() {
        let program = ProgramView {
            run: "r".into(),
            call: None,
            started_by: Actor::Cli,
            path: "/p".into(),
            source: "".into(),
            folder: "/f".into(),
            state: RunState::Running,
            steps: vec![
                step(1, 1, StepState::Done),
                step(2, 6, StepState::Running),
                step(3, 4, StepState::Running),
                step(5, 5, StepState::Failed),
            ],
            events: Vec::new(),
            earlier_events: 0,
            branches: Vec::new(),
            loops: Vec::new(),
            bindings: Vec::new(),
            sessions: 0,
            cost: 0,
            error: None,
            started_at: jiff::Timestamp::UNIX_EPOCH,
            ended_at: None,
        };
        let marks: Vec<(Option<StepState>, bool)> =
            (1..=7).map(|line| mark(&program, line)).map(|mark| (mark.state, mark.is_current)).collect();
        let (done, running, failed) =
            (Some(StepState::Done), Some(StepState::Running), Some(StepState::Failed));
        let expected = [
            (done, false),
            (running, false),
            (running, true),
            (None, true),
            (failed, false),
            (None, false),
            (None, false),
        ];
        assert_eq!(marks, expected);
    }
}
