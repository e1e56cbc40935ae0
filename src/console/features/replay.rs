//! Drawing a replay: its title, the screen as it was, and a time line with the events on it.

use jiff::{SignedDuration, Timestamp};
use ratatui::layout::Rect;

use crate::console::state::{
    Pane, Reel, Replay, actor_name, alias, command, cut_bottom, cut_top, fact_words,
};
use crate::console::text::{StyledPiece, grouped_amount, piece, visible};
use crate::console::theme::Role;
use crate::console::widgets::{Painter, cells, role};

/// Rows of the time line: the events, the actors, the line itself, and a description.
const LINE_ROWS: u16 = 3;

/// The longest time between two frames during playback, so that the position visibly moves.
const FRAME_MS: u32 = 100;

/// The shortest time between two frames.
const LEAST_MS: u32 = 16;

pub(crate) fn draw(painter: &mut Painter<'_>, area: Rect, replay: &Replay) {
    let Some(task) = painter.state.view.task(&replay.task).cloned() else { return };
    let (head, rest) = cut_top(area, 1);
    let (cells, line) = cut_bottom(rest, LINE_ROWS.min(rest.height / 2));
    let mut title = vec![piece(format!("{}  ", alias(&task)), Role::Title)];
    title.extend(command(&task));
    let Some(reel) = &replay.reel else {
        painter.head(head, &title, &[piece("reading its log", Role::Faint)]);
        return;
    };
    let mut facts = vec![piece(format!("{}x", replay.speed()), Role::Strong)];
    if !task.status.is_terminal() {
        facts.push(piece("as far as it had come", Role::Faint));
    }
    if reel.real_length() > reel.length() {
        facts.push(piece(
            format!("{} of silence left out", clock(reel.real_length() - reel.length())),
            Role::Faint,
        ));
    }
    painter.head(head, &title, &facts);
    if let Some((_, picture)) = &replay.screen {
        let pane = Pane { task: task.id.clone(), title: head, cells };
        let pan = painter.state.first_column(&pane);
        cells::cells(painter, pane.cells, picture, (picture.top(pane.cells.height), pan));
    }
    time_line(painter, line, replay, reel);
    wake(painter, replay);
}

/// Schedules the next frame, even with motion off: the user asked for the playback.
fn wake(painter: &mut Painter<'_>, replay: &Replay) {
    if !replay.is_playing() {
        return;
    }
    let wait = replay.until_next().unwrap_or(FRAME_MS).clamp(LEAST_MS, FRAME_MS);
    let at = painter
        .state
        .clock
        .now
        .checked_add(SignedDuration::from_millis(i64::from(wait)))
        .unwrap_or(Timestamp::MAX);
    painter.drawn.wake = Some(painter.drawn.wake.map_or(at, |other| other.min(at)));
}

fn time_line(painter: &mut Painter<'_>, area: Rect, replay: &Replay, reel: &Reel) {
    let times = [clock(replay.at), clock(reel.length())];
    let from = u16::try_from(times[0].len() + 2).unwrap_or(0);
    let room = area.width.saturating_sub(from + u16::try_from(times[1].len() + 2).unwrap_or(0));
    if room < 4 || area.height == 0 {
        return;
    }
    let y = area.height.min(2) - 1;
    let column = |at: u32| {
        let length = u64::from(reel.length().max(1));
        let column = u64::from(at) * u64::from(room - 1) / length;
        u16::try_from(column).unwrap_or(room - 1).min(room - 1)
    };
    let (rule, at) = (painter.glyphs().rules[0], column(replay.at));
    let style = painter.style(Role::Rule);
    painter.row(area, y, &[piece(format!(" {} ", times[0]), Role::Strong)]);
    painter.text(area, (from, y), &rule.repeat(usize::from(room)), style);
    painter.row_from(area, (from + room, y), &[piece(format!(" {}", times[1]), Role::Faint)]);
    for moment in &reel.moments {
        if let Some(note) = moment.note.as_ref().filter(|_| y > 0) {
            let x = from + column(moment.at);
            let sign = note.actor.short().chars().next().map(String::from).unwrap_or_default();
            painter.row_from(area, (x, 0), &[piece(sign, role(&note.fact, Role::Strong))]);
        }
    }
    let here = painter.glyphs().states[1];
    painter.row_from(area, (from + at, y), &[piece(here, Role::Accent)]);
    if area.height > 2 {
        let words = words(painter, replay, reel);
        let words = painter.cut(&words, area.width.saturating_sub(2));
        painter.row_from(area, (1, 2), &words);
    }
}

/// Describes the last event, or that a silence is being shortened.
fn words(painter: &Painter<'_>, replay: &Replay, reel: &Reel) -> Vec<StyledPiece> {
    let place = replay.place();
    if let Some(silence) = reel.silence_after(place).filter(|_| replay.is_playing()) {
        let text = format!("silent for {}: played in 0:01.5", clock(silence));
        return vec![piece(text, Role::Strong)];
    }
    let before = reel.moments.iter().take(place + 1).rev();
    let Some(note) = before.filter_map(|moment| moment.note.as_ref()).next() else {
        return vec![piece("y you, a agents, c scripts, s Pilothouse: what they did", Role::Faint)];
    };
    let (what, details) = fact_words(&note.fact);
    let bytes =
        note.fact.bytes().map(|bytes| format!("  {}", grouped_amount(bytes, "byte"))).unwrap_or_default();
    vec![
        piece(format!("{}  ", painter.time(note.at)), Role::Faint),
        piece(format!("{what} by {}", actor_name(&note.actor)), role(&note.fact, Role::Strong)),
        piece(format!("{bytes}  {}", visible::one_line(&details)), Role::Faint),
    ]
}

/// Describes whether it is playing, and the position.
pub(crate) fn describe_position(replay: &Replay) -> Vec<StyledPiece> {
    let Some(reel) = &replay.reel else { return Vec::new() };
    let word = match replay.is_playing() {
        true => "playing",
        false if replay.at == reel.length() => "at the end",
        false => "standing still",
    };
    vec![
        piece(word, Role::Strong),
        piece(format!("  {} of {}", clock(replay.at), clock(reel.length())), Role::Text),
    ]
}

/// Formats milliseconds as minutes, seconds and tenths.
fn clock(ms: u32) -> String {
    let tenths = ms / 100;
    let (minutes, seconds) = (tenths / 600, tenths % 600 / 10);
    format!("{minutes}:{seconds:02}.{}", tenths % 10)
}
