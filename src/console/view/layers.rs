//! What lies over the screen: dialogs, help, toasts. Dialogs are the only full boxes.

use ratatui::layout::Rect;

use crate::runtime::{RunState, TaskView};

use super::super::app::{App, Layer, alias};
use super::super::keys::action::Action;
use super::super::keys::keymap::Context;
use super::super::looks::theme::Role;
use super::super::plan::{Plan, cut_top};
use super::super::text::document::{Piece, piece};
use super::super::text::visible;
use super::super::text::{self, column};
use super::brush::{Brush, cut};
use super::state::who;

pub(super) const DIALOG_COLUMNS: u16 = 62;

pub(super) fn draw(brush: &mut Brush<'_>, plan: &Plan) {
    let app = brush.app;
    match app.layers.last() {
        None => {}
        Some(Layer::Help { about, top }) => help(brush, *about, *top),
        Some(Layer::Quit) => quit(brush, plan),
        Some(Layer::Why(task)) => {
            if let Some(task) = app.task(task) {
                super::why::draw(brush, plan, task);
            }
        }
        Some(Layer::List(chooser)) => super::chooser::draw(brush, chooser),
        Some(Layer::Held(card)) => super::held::draw(brush, card),
        Some(Layer::Question(inquiry)) => super::question::draw(brush, inquiry),
        Some(Layer::Attention(queue)) => super::attention::draw(brush, queue),
        Some(Layer::Stop { task, kill }) => {
            if let Some(task) = app.task(task) {
                stop(brush, plan, task, *kill);
            }
        }
        Some(Layer::Signal(task)) => {
            if let Some(task) = app.task(task) {
                signal(brush, plan, task);
            }
        }
        Some(Layer::Paste(task, text)) => {
            if let Some(task) = app.task(task) {
                paste(brush, plan, task, text);
            }
        }
    }
}

/// Draws a dialog in the middle of the screen, as high as its rows.
pub(super) fn dialog(brush: &mut Brush<'_>, plan: &Plan, title: &str, rows: &[Vec<Piece>]) {
    let screen = brush.buf.area;
    let width = DIALOG_COLUMNS.min(screen.width.saturating_sub(2)).max(screen.width.min(4));
    let height = u16::try_from(rows.len() + 2).unwrap_or(u16::MAX).min(screen.height.saturating_sub(1));
    let area = Rect {
        x: (screen.width - width) / 2,
        y: screen.height.saturating_sub(height) / 2,
        width,
        height: height.max(screen.height.min(2)),
    };
    let room = Rect { x: area.x.saturating_sub(1), width: area.width + 2, ..area };
    brush.clear(room);
    let inside = brush.boxed(area, title);
    let dots = brush.glyphs().cut;
    for (y, row) in (0..inside.height).zip(rows) {
        brush.row(inside, y, &cut(row, usize::from(inside.width), dots));
    }
    let _ = plan;
}

/// The command in full, wrapped, at most so many rows.
pub(super) fn command_rows(brush: &Brush<'_>, task: &TaskView, width: u16, most: usize) -> Vec<Vec<Piece>> {
    let (shown, dots) = (visible::told(task.cmd.trim()), brush.glyphs().cut);
    let mut document = super::super::text::document::Document::new(vec![vec![piece(shown, Role::Strong)]]);
    document.wrap(usize::from(width));
    let mut rows: Vec<_> = document.rows().iter().take(most).cloned().collect();
    if let Some(last) = rows.last_mut().filter(|_| document.rows().len() > most) {
        last.push(piece(dots, Role::Faint));
    }
    if visible::has_hidden(&task.cmd) {
        rows.push(vec![piece("contains hidden characters", Role::Waiting)]);
    }
    rows
}

pub(super) fn key_row(brush: &Brush<'_>, context: Context, actions: &[(Action, &str)]) -> Vec<Piece> {
    let mut row = Vec::new();
    for (action, word) in actions {
        let Some(key) = brush.app.setup.keymap.key(context, *action) else { continue };
        if !row.is_empty() {
            row.push(piece("    ", Role::Text));
        }
        row.push(piece(key, Role::Key));
        row.push(piece(format!(" {word}"), Role::Text));
    }
    row
}

fn stop(brush: &mut Brush<'_>, plan: &Plan, task: &TaskView, kill: bool) {
    let mut rows = command_rows(brush, task, DIALOG_COLUMNS - 5, 3);
    let running = brush.lasting(task.started_at.unwrap_or(task.created_at));
    rows.push(vec![piece(format!("running {running}"), Role::Faint)]);
    rows.push(Vec::new());
    if kill {
        rows.push(vec![piece("KILL to every process it started, at once.", Role::Text)]);
    } else {
        rows.push(vec![piece("1  TERM to every process it started", Role::Text)]);
        rows.push(vec![piece("2  KILL after 5 s to what is still alive", Role::Text)]);
    }
    rows.push(vec![piece(told(task), Role::Faint)]);
    rows.push(Vec::new());
    let keys: &[(Action, &str)] = if kill {
        &[(Action::Kill, "kill now"), (Action::Back, "keep")]
    } else {
        &[
            (Action::Stop, "stop"),
            (Action::Kill, "kill now"),
            (Action::Signal, "signal"),
            (Action::Back, "keep"),
        ]
    };
    rows.push(key_row(brush, Context::Stop, keys));
    let title = format!("{} {}?", if kill { "kill" } else { "stop" }, alias(task));
    dialog(brush, plan, &title, &rows);
}

fn told(task: &TaskView) -> String {
    use crate::envelope::Actor;
    match &task.started_by {
        Actor::Operator => "You started it.".to_owned(),
        Actor::Cli => "A script started it.".to_owned(),
        other => format!("{} started it and will be told.", who(other)),
    }
}

fn signal(brush: &mut Brush<'_>, plan: &Plan, task: &TaskView) {
    let mut rows = command_rows(brush, task, DIALOG_COLUMNS - 5, 2);
    rows.push(Vec::new());
    let signals = [
        Action::Interrupt,
        Action::Terminate,
        Action::HangUp,
        Action::QuitSignal,
        Action::User1,
        Action::User2,
    ];
    for action in signals {
        let key = brush.app.setup.keymap.key(Context::Signal, action).unwrap_or_default();
        rows.push(vec![
            piece(column(&key, 4, ""), Role::Key),
            piece(column(action.hint(), 6, ""), Role::Text),
            piece(action.about(), Role::Faint),
        ]);
    }
    rows.push(Vec::new());
    rows.push(key_row(brush, Context::Signal, &[(Action::Back, "none")]));
    dialog(brush, plan, &format!("signal to {}", alias(task)), &rows);
}

fn quit(brush: &mut Brush<'_>, plan: &Plan) {
    let app = brush.app;
    let dots = brush.glyphs().cut;
    let live: Vec<_> = app.all_tasks().into_iter().filter(|task| !task.status.is_terminal()).collect();
    let mut rows = Vec::new();
    for task in live.iter().take(6) {
        let state = brush.state(task);
        rows.push(vec![
            piece(format!("{} ", state.glyph), state.role),
            piece(column(&alias(task), 6, dots), Role::Text),
            piece(visible::told(&task.cmd), Role::Text),
        ]);
    }
    if live.len() > 6 {
        rows.push(vec![piece(format!("and {} more", live.len() - 6), Role::Faint)]);
    }
    let programs: Vec<_> = app.ending_programs().cloned().collect();
    for program in &programs {
        let name = program.path.file_name().unwrap_or_default().to_string_lossy();
        let glyph = brush.glyphs().states[if program.state == RunState::Asking { 2 } else { 1 }];
        let what = match program.state {
            RunState::Asking => "  waits for an answer; it ends, and can be gone on with",
            _ => "  ends, and can be gone on with",
        };
        rows.push(vec![
            piece(format!("{glyph} "), Role::Waiting),
            piece(visible::one_line(&name).into_owned(), Role::Text),
            piece(what, Role::Faint),
        ]);
    }
    let connected = app.snapshot.agents.iter().filter(|agent| agent.connected).count();
    if connected > 0 {
        let agents = if connected == 1 { "1 agent is".to_owned() } else { format!("{connected} agents are") };
        rows.push(vec![piece(format!("{agents} connected"), Role::Faint)]);
    }
    let goes_on = match (app.setup.is_remote, live.is_empty()) {
        (true, false) => "The tasks go on when this console is left.",
        (true, true) => "The runtime goes on when this console is left.",
        (false, false) => "The runtime is in this console: its tasks end with it.",
        (false, true) => "The runtime is in this console and ends with it.",
    };
    rows.push(vec![piece(goes_on, Role::Text)]);
    rows.push(Vec::new());
    let stop = if live.is_empty() { "end it and quit" } else { "stop all and quit" };
    let leave = if programs.is_empty() { "leave running" } else { "end the program, leave the rest" };
    let ways = [(Action::LeaveRunning, leave), (Action::StopAll, stop)];
    let mut keys: Vec<_> = ways.into_iter().filter(|(action, _)| app.can(*action)).collect();
    keys.push((Action::Back, "stay"));
    rows.push(key_row(brush, Context::Quit, &keys));
    let title = match live.len() {
        0 if !programs.is_empty() => "quit? a program is not over".to_owned(),
        0 => "quit?".to_owned(),
        1 => "quit? 1 task runs".to_owned(),
        many => format!("quit? {many} tasks run"),
    };
    dialog(brush, plan, &title, &rows);
}

fn paste(brush: &mut Brush<'_>, plan: &Plan, task: &TaskView, pasted: &str) {
    // As the task gets it: CR ends a line as LF does.
    let sent = pasted.replace("\r\n", "\n").replace('\r', "\n");
    let lines: Vec<&str> = sent.lines().collect();
    let mut rows: Vec<Vec<Piece>> = Vec::new();
    for line in lines.iter().take(5) {
        rows.push(vec![piece(visible::one_line(line), Role::Text)]);
    }
    if lines.len() > 5 {
        rows.push(vec![piece(format!("and {} more", many(lines.len() - 5, "line")), Role::Faint)]);
    }
    rows.push(Vec::new());
    rows.push(key_row(brush, Context::Paste, &[(Action::Confirm, "paste"), (Action::Back, "do not")]));
    let (lines, chars) = (many(lines.len(), "line"), many(pasted.chars().count(), "char"));
    dialog(brush, plan, &format!("paste {lines}, {chars} into {}?", alias(task)), &rows);
}

fn many(count: usize, word: &str) -> String {
    format!("{} {word}{}", text::count(count as u64), if count == 1 { "" } else { "s" })
}

/// The rows of help: the keys of a context, then those of typing.
fn help_lines(app: &App, about: Context) -> Vec<Vec<Piece>> {
    let mut rows = Vec::new();
    let dots = app.setup.theme.glyphs.cut;
    let sections = [
        (name(about), about),
        ("while typing into a task", Context::Input),
        ("while writing a line", Context::Line),
        ("while searching", Context::Search),
        ("while copying", Context::Copy),
    ];
    for (title, context) in sections {
        if !rows.is_empty() {
            rows.push(Vec::new());
        }
        rows.push(vec![piece(title, Role::Title)]);
        for (action, keys) in app.setup.keymap.list(context) {
            let can = context != about || app.can(action);
            let role = if can { Role::Text } else { Role::Faint };
            rows.push(vec![
                piece(column(&keys.join(" "), 19, dots), if can { Role::Key } else { Role::Faint }),
                piece(column(action.about(), 36, dots), role),
                piece(action.equivalent(), Role::Faint),
            ]);
        }
    }
    rows
}

fn name(context: Context) -> &'static str {
    match context {
        Context::Focus => "one task",
        Context::Receipts => "receipts",
        Context::Text => "a text",
        Context::Replay => "replay",
        Context::Metrics => "metrics",
        Context::Program => "a program",
        _ => "tasks",
    }
}

/// Returns the number of rows that help has.
#[must_use]
pub(in super::super) fn help_rows(app: &App, about: Context) -> usize {
    help_lines(app, about).len()
}

fn help(brush: &mut Brush<'_>, about: Context, top: usize) {
    let screen = brush.buf.area;
    let area = Rect { y: screen.y + 1, height: screen.height.saturating_sub(2), ..screen };
    let width = area.width.min(84);
    let area = Rect { x: (area.width - width) / 2, width, ..area };
    brush.clear(Rect { x: area.x.saturating_sub(1), width: area.width + 2, ..area });
    let rows = help_lines(brush.app, about);
    let shown = usize::from(area.height.saturating_sub(2));
    let inside = brush.boxed(area, "help");
    for (y, row) in (0..inside.height).zip(rows.iter().skip(top)) {
        brush.row(inside, y, row);
    }
    let below = rows.len().saturating_sub(top + shown);
    if below > 0 {
        let foot = cut_top(area, area.height.saturating_sub(1)).1;
        let foot = Rect { width: foot.width.saturating_sub(2), ..foot };
        brush.row_right(foot, 0, &[piece(format!(" +{below} rows "), Role::Strong)]);
    }
}

/// Passing messages, bottom right of the stage, newest last.
pub(super) fn toasts(brush: &mut Brush<'_>, plan: &Plan) {
    let app = brush.app;
    let stage =
        if plan.stage.is_empty() { Rect { height: plan.notice.y, ..brush.buf.area } } else { plan.stage };
    let toasts = app.toasts.list();
    if let Some(next) = app.toasts.next() {
        brush.wake_at(next);
    }
    let [done, failed] = [brush.glyphs().states[4], brush.glyphs().states[5]];
    let dots = brush.glyphs().cut;
    let from = stage.height.saturating_sub(u16::try_from(toasts.len()).unwrap_or(u16::MAX));
    for (y, toast) in (from..stage.height).zip(toasts) {
        let call = toast.call.map(|seq| format!("  call {}", text::count(seq))).unwrap_or_default();
        let copy =
            [Action::CopyId, Action::CopyText].map(|action| app.setup.keymap.key(app.context(), action));
        let copy = toast.path.as_ref().and_then(|_| copy.into_iter().flatten().next());
        let keep = match copy {
            Some(key) => format!("  {key} copies the path"),
            None => if toast.is_error { "  Esc" } else { "" }.to_owned(),
        };
        let glyph = if toast.is_error { failed } else { done };
        let tail = text::width(&call) + text::width(&keep) + 5;
        let shown = text::cut(&toast.text, usize::from(stage.width).saturating_sub(tail), dots);
        let whole = format!(" {glyph} {shown}{call}{keep} ");
        let style = brush.style(Role::Mode);
        let style = if toast.is_error { brush.style(Role::Failed).patch(style) } else { style };
        let x = stage.width.saturating_sub(u16::try_from(text::width(&whole)).unwrap_or(u16::MAX));
        brush.text(stage, (x, y), &whole, style);
    }
}
