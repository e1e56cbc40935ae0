//! The card of a held call: which call it shows, how far it has been read, when an answer counts, and how it
//! is drawn: in a fixed frame that no task's cells can reach.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use ratatui::layout::Rect;
use tui_input::Input as Editor;

use crate::console::features::approval::{preview, title};
use crate::console::keys::{Action, KeyContext};
use crate::console::state::{State, Term};
use crate::console::text::{StyledPiece, piece, right, visible};
use crate::console::theme::Role;
use crate::console::widgets::{CardLine, CardReading, Painter, card_rows, dialog, places, sentences};
use crate::model::{CallCost, HeldCall, HeldCommand};

/// Rows below the text: a blank row and two rows of keys, or the input line.
const FOOT: u16 = 3;

const SHORT_HASH: usize = 12;

/// A card on screen.
#[derive(Debug, Clone, Default)]
pub struct Card {
    /// The call it shows.
    pub ticket: u64,
    /// The revision of what it says that the call would cost.
    pub cost: u32,
    /// How far it has been read.
    pub reading: CardReading,
    /// Whether an answer has been sent.
    pub is_answered: bool,
    /// Whether its call no longer waits, and this console has not answered it.
    pub is_over: bool,
    /// The text being typed on it, if any.
    pub writing: Option<CardText>,
}

/// The text being typed on a card.
#[derive(Debug, Clone)]
pub enum CardText {
    /// A note that goes with a denial.
    Note(Editor),
    /// A rule: the beginning of commands that may run without asking.
    Rule(Editor),
}

impl CardText {
    /// Returns the editor of the text.
    pub fn editor(&mut self) -> &mut Editor {
        match self {
            Self::Note(editor) | Self::Rule(editor) => editor,
        }
    }
}

impl Card {
    /// Returns the call it shows, while that is held.
    pub(in crate::console) fn call<'a>(&self, state: &'a State) -> Option<&'a HeldCall> {
        state.view.snapshot.gate.held.iter().find(|held| held.ticket == self.ticket)
    }

    pub(crate) fn of(ticket: u64) -> Self {
        Self { ticket, ..Self::default() }
    }

    /// Returns what keys mean on it.
    pub(crate) fn context(&self) -> KeyContext {
        match self.writing {
            Some(_) => KeyContext::Note,
            None if self.is_over => KeyContext::Settled,
            None => KeyContext::Held,
        }
    }

    /// Returns the rule being typed on it, if any.
    pub fn rule(&self) -> Option<&str> {
        match &self.writing {
            Some(CardText::Rule(editor)) => Some(editor.value()),
            _ => None,
        }
    }

    /// Tells whether a key pressed now counts as an answer to what the card shows.
    pub(crate) fn has_settled(&self, now: Timestamp) -> bool {
        !self.is_answered && self.reading.has_settled(now)
    }
}

/// Returns the areas of the card, its text and its keys.
pub(crate) fn place(size: (u16, u16), text_rows: usize) -> (Rect, Rect, Rect) {
    places(size, text_rows, FOOT)
}

/// Returns the rows of a call's card: everything that would run, complete and unmasked because it must be
/// seen before answering; or, while a rule is being typed, what the rule would allow.
pub(crate) fn rows(state: &State, call: &HeldCall, card: &Card) -> Vec<Vec<StyledPiece>> {
    let room = usize::from(place(state.outer.size, usize::MAX).1.width);
    if let Some(rule) = card.rule() {
        let preview = preview(&state.view.snapshot, call, rule);
        let preview = preview.map(|preview| preview.rows(call, room, state.setup.theme.glyphs.cut));
        return preview.unwrap_or_else(|unfit| vec![vec![piece(unfit.to_string(), Role::Failed)]]);
    }
    let mark = state.setup.theme.glyphs.rules[1];
    card_rows(&lines(call, &state.call_name(call.call), &state.setup.zone), room, mark)
}

/// Returns the same as unwrapped lines: what is known of the call, and below it what it would run. `name` is the displayed
/// name of the call.
pub(in crate::console) fn lines(call: &HeldCall, name: &str, zone: &TimeZone) -> Vec<CardLine> {
    let fact = |text: &str, role| CardLine::fact(vec![piece(visible::one_line(text), role)]);
    let mut lines = sentences::change_lines(&call.cost);
    if call.commands.iter().any(|command| visible::has_hidden(&command.cmd)) {
        lines.push(fact("contains hidden characters", Role::Waiting));
    }
    if let Some(why) = call.description.as_deref().filter(|why| !why.trim().is_empty()) {
        let why = vec![piece("reason: ", Role::Faint), piece(visible::one_line(why), Role::Text)];
        lines.push(CardLine::fact(why));
    }
    lines.push(fact(&call.reason.clause(), Role::Faint));
    let at = call.since.to_zoned_datetime(zone.clone()).strftime("%H:%M:%S").to_string();
    let hash: String = call.hash.chars().take(SHORT_HASH).collect();
    lines.push(fact(&format!("since {at}   call {name}   request {hash}"), Role::Faint));
    match &call.commands[..] {
        [first, rest @ ..] if !rest.is_empty() && rest.iter().all(|other| runs_alike(first, other)) => {
            lines.extend(list(first, &call.commands, &call.cost));
        }
        commands => lines.extend(one_by_one(commands, &call.cost)),
    }
    lines
}

/// Tells whether two commands would run in the same directory and in the same way.
fn runs_alike(one: &HeldCommand, other: &HeldCommand) -> bool {
    (&one.workdir, &one.shell, one.login, one.tty) == (&other.workdir, &other.shell, other.login, other.tty)
}

/// Returns where and how several commands would run that run alike, and below it each with what it would cost.
fn list(first: &HeldCommand, commands: &[HeldCommand], cost: &CallCost) -> Vec<CardLine> {
    let [place, how] = ways(first);
    let ways = vec![piece(place, Role::Text), piece(format!("   {how}"), Role::Faint)];
    let mut lines = vec![CardLine::fact(ways), CardLine::fact(Vec::new())];
    let digits = commands.len().to_string().len();
    for (at, command) in (1..).zip(commands) {
        let cost = cost.commands.get(at - 1).map(|all| sentences::line(all));
        let its = cost.into_iter().chain(CardLine::command(&command.cmd));
        lines.extend(its.enumerate().map(|(row, line)| {
            let number = if row == 0 { at.to_string() } else { String::new() };
            line.with_number(format!("{}  ", right(&number, digits)))
        }));
    }
    lines
}

/// Returns where and how each command would run, what it would cost, and the command.
fn one_by_one(commands: &[HeldCommand], cost: &CallCost) -> Vec<CardLine> {
    let mut lines = Vec::new();
    for (at, command) in (1..).zip(commands) {
        if commands.len() > 1 {
            lines.push(CardLine::fact(Vec::new()));
            let place = format!("{at} of {}", commands.len());
            lines.push(CardLine::fact(vec![piece(place, Role::Faint)]));
        }
        let [place, how] = ways(command);
        lines
            .extend([piece(place, Role::Text), piece(how, Role::Faint)].map(|way| CardLine::fact(vec![way])));
        lines.extend(cost.commands.get(at - 1).into_iter().flat_map(|all| sentences::facts(all)));
        lines.push(CardLine::fact(Vec::new()));
        lines.extend(CardLine::command(&command.cmd));
    }
    lines
}

/// Returns in which directory and in what shell a command would run.
fn ways(command: &HeldCommand) -> [String; 2] {
    let login = if command.login { ", login shell" } else { "" };
    let tty = if command.tty { ", on a terminal" } else { "" };
    let shell = command.shell.as_deref().unwrap_or("default shell");
    let texts = [format!("in {}", command.workdir.display()), format!("{shell}{login}{tty}")];
    texts.map(|text| visible::one_line(&text).into_owned())
}

pub(crate) fn draw(painter: &mut Painter<'_>, card: &Card) {
    let state = painter.state;
    let Some(call) = card.call(state) else { return draw_ended(painter, card) };
    let all = &state.view.snapshot.gate.held;
    let at = all.iter().position(|held| held.ticket == call.ticket).map_or(1, |at| at + 1);
    let rows = rows(state, call, card);
    let (area, text, foot) = place(painter.size(), rows.len());
    painter.draw_box(area, &title(call, at, all.len(), painter.glyphs().cut));
    painter.rows(text, rows.iter().skip(card.reading.top));
    let held = painter.explanation(Term::Held);
    painter.row(foot, 0, held.as_slice());
    let mark = piece("> ", Role::Accent);
    match &card.writing {
        Some(CardText::Note(note)) => {
            painter.editor(foot, 1, &[piece("why not? ", Role::Faint), mark], note, false, true);
        }
        Some(CardText::Rule(rule)) => {
            painter.editor(foot, 1, &[piece("what begins with ", Role::Faint), mark], rule, false, true);
            let ways = [(Action::Send, "run it, ask no more about these"), (Action::Leave, "back")];
            let keys = painter.keys(KeyContext::Note, &ways);
            painter.row(foot, 2, &keys);
        }
        None => {
            let below = rows.len().saturating_sub(card.reading.top + usize::from(text.height));
            let [first, second] = keys(painter, card, below);
            painter.row(foot, 1, &first);
            painter.row(foot, 2, &second);
        }
    }
}

/// Draws the card of a call that no longer waits.
fn draw_ended(painter: &mut Painter<'_>, card: &Card) {
    let close = if card.writing.is_some() { Action::Leave } else { Action::Back };
    let rows = vec![vec![piece("It was withdrawn, or decided elsewhere.", Role::Text)]];
    dialog(painter, "this call no longer waits", rows, card.context(), &[(close, "close")]);
}

/// Returns the keys for answering, and below them the other keys.
fn keys(painter: &Painter<'_>, card: &Card, below: usize) -> [Vec<StyledPiece>; 2] {
    if card.is_answered {
        return [vec![piece("answered", Role::Faint)], Vec::new()];
    }
    if let Err(why) = (painter.focus.availability)(Action::Approve) {
        return [vec![piece(why.to_string(), Role::Waiting)], other_keys(painter)];
    }
    if !card.reading.is_read && below > 0 {
        let unread = (below, &[(Action::Deny, "deny")][..]);
        return [card.reading.unread(painter, KeyContext::Held, unread), other_keys(painter)];
    }
    let (exact, wider) =
        ((Action::ApproveExact, "ask no more about it"), (Action::ApproveWider, "about more"));
    let mut ways = vec![(Action::Approve, "run"), exact, wider, (Action::Deny, "deny with note")];
    ways.retain(|(action, _)| painter.can(*action));
    [painter.keys(KeyContext::Held, &ways), other_keys(painter)]
}

fn other_keys(painter: &Painter<'_>) -> Vec<StyledPiece> {
    let gate = &painter.state.view.snapshot.gate;
    let next = (gate.held.len() > 1).then_some((Action::NextHeld, "next"));
    let may = painter.can(Action::Approve);
    let go_on = gate.paused.filter(|_| may).map(|_| (Action::Pause, "resume agents"));
    let ways = [next, go_on, Some((Action::TellAgent, "tell agent")), Some((Action::Back, "later"))];
    painter.keys(KeyContext::Held, &ways.into_iter().flatten().collect::<Vec<_>>())
}
