//! Drawing primitives shared by all features: clipped text in roles, lists, titles, boxes, keys, and ages
//! that know when they change. Never draws outside the given area.

use std::ops::Range;

use jiff::Timestamp;
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::{Position, Rect};
use ratatui::style::{Modifier, Style};
use tui_input::Input as Editor;
use unicode_segmentation::UnicodeSegmentation;

use crate::console::keys::{Action, KeyContext};
use crate::console::state::{Availability, State, inside};
use crate::console::text::{self, StyledPiece, cell, piece, visible};
use crate::console::theme::{Glyphs, Role};
use crate::console::widgets::cells::ShownScreen;
use crate::console::widgets::pieces::cut;
use crate::console::widgets::{columns, join_groups};
use crate::envelope::SafeText;
use crate::model::AgentWork;
use crate::terminal::CursorShape;

/// Columns reserved for a title beside its facts.
const TITLE_COLUMNS: u16 = 22;

/// Columns that the rule and blanks around a title and its facts take.
pub(crate) const AROUND_HEAD: u16 = 10;

/// What a frame consists of besides its cells.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FrameExtras {
    /// Position and shape of the cursor; hidden if none.
    pub cursor: Option<(Position, CursorShape)>,
    /// When a text on this frame will change.
    pub wake: Option<Timestamp>,
    /// URLs on this frame that can be followed.
    pub links: Vec<String>,
    /// The live screen that is typed into, where nothing covers it.
    pub typed: Option<ShownScreen>,
}

/// How an area is ruled off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HeadRule {
    /// As everything is.
    Usual,
    /// Heavily, in the colour of input: keys go to what is below.
    Input,
}

/// Where the keys go while a frame is drawn.
#[derive(Clone, Copy)]
pub(crate) struct FrameFocus<'a> {
    /// The bindings that apply.
    pub(crate) context: KeyContext,
    /// Whether a dialog lies over the screen.
    pub(crate) has_dialog: bool,
    /// What the dialog is called, where its keys do not say it.
    pub(crate) word: Option<&'static str>,
    pub(crate) availability: Availability<'a>,
}

/// The state, the frame, and what is collected while drawing.
pub(crate) struct Painter<'a> {
    pub(crate) state: &'a State,
    pub(crate) focus: FrameFocus<'a>,
    pub(crate) buf: &'a mut Buffer,
    pub(crate) drawn: FrameExtras,
}

impl Painter<'_> {
    /// Tells whether an action is available now.
    pub(crate) fn can(&self, action: Action) -> bool {
        (self.focus.availability)(action).is_ok()
    }

    pub(crate) fn style(&self, role: Role) -> Style {
        self.state.setup.theme.style(role)
    }

    pub(crate) fn glyphs(&self) -> Glyphs {
        self.state.setup.theme.glyphs
    }

    /// Writes text into a row of `area` from column `x` on, sanitizing it if necessary; returns the column
    /// after it.
    pub(crate) fn text(&mut self, area: Rect, at: (u16, u16), text: &str, style: Style) -> u16 {
        let (mut x, y) = at;
        if y >= area.height {
            return x;
        }
        if !SafeText::is_line(text) {
            return self.text(area, at, &SafeText::line(text), style);
        }
        for cluster in text.graphemes(true) {
            let wide = u16::try_from(text::width(cluster)).unwrap_or(u16::MAX);
            if x.saturating_add(wide) > area.width {
                break;
            }
            if wide == 0 {
                continue;
            }
            if let Some(cell) = self.buf.cell_mut((area.x + x, area.y + y)) {
                cell.reset();
                cell.set_style(style);
                cell::fill(cell, cluster, wide);
            }
            for rest in 1..wide {
                if let Some(cell) = self.buf.cell_mut((area.x + x + rest, area.y + y)) {
                    cell.reset();
                }
            }
            x += wide;
        }
        x
    }

    /// Writes pieces into a row of `area`; returns the column after them.
    pub(crate) fn row(&mut self, area: Rect, y: u16, pieces: &[StyledPiece]) -> u16 {
        self.row_from(area, (0, y), pieces)
    }

    /// Does the same, starting at a column.
    pub(crate) fn row_from(&mut self, area: Rect, at: (u16, u16), pieces: &[StyledPiece]) -> u16 {
        let mut x = at.0;
        for part in pieces {
            x = self.text(area, (x, at.1), &part.text, self.style(part.role));
        }
        x
    }

    /// Writes pieces right-aligned in `area`.
    pub(crate) fn row_right(&mut self, area: Rect, y: u16, pieces: &[StyledPiece]) {
        let x = area.width.saturating_sub(columns(pieces));
        self.row_from(area, (x, y), pieces);
    }

    /// Writes a row that ends in a mark if it does not fit into `area`.
    pub(crate) fn line(&mut self, area: Rect, y: u16, pieces: &[StyledPiece]) {
        let shown = self.cut(pieces, area.width);
        self.row(area, y, &shown);
    }

    /// Writes rows from the top of `area` down, as many as fit.
    pub(crate) fn rows<'r>(&mut self, area: Rect, rows: impl IntoIterator<Item = &'r Vec<StyledPiece>>) {
        for (y, row) in (0..area.height).zip(rows) {
            self.row(area, y, row);
        }
    }

    /// Cuts a row of pieces to this many columns, with a mark if anything was cut.
    pub(crate) fn cut(&self, pieces: &[StyledPiece], room: impl Into<usize>) -> Vec<StyledPiece> {
        cut(pieces, room.into(), self.glyphs().cut)
    }

    /// Returns a key and the word for what it does; empty if no key is bound to it.
    pub(crate) fn key(&self, context: KeyContext, action: Action, word: &str) -> Vec<StyledPiece> {
        let key = self.state.setup.keymap.key(context, action);
        let pieces = |key| [piece(key, Role::Key), piece(format!(" {word}"), Role::Text)];
        key.into_iter().flat_map(pieces).collect()
    }

    /// Returns the same with a leading gap, to follow other text.
    pub(crate) fn hint(&self, context: KeyContext, action: Action, word: &str) -> Vec<StyledPiece> {
        let key = self.key(context, action, word);
        if key.is_empty() { key } else { [vec![piece("  ", Role::Key)], key].concat() }
    }

    /// Returns the keys of a dialog.
    pub(crate) fn keys(&self, context: KeyContext, actions: &[(Action, &str)]) -> Vec<StyledPiece> {
        let keys = actions.iter().map(|(action, word)| self.key(context, *action, word));
        join_groups(keys.collect(), &piece("   ", Role::Text))
    }

    /// Draws the header of an area: a rule with a title and, at its end, as many facts as fit.
    pub(crate) fn head(&mut self, area: Rect, title: &[StyledPiece], facts: &[StyledPiece]) {
        self.ruled_head(area, title, facts, HeadRule::Usual)
    }

    /// Does the same with a rule of this kind.
    pub(crate) fn ruled_head(
        &mut self,
        area: Rect,
        title: &[StyledPiece],
        facts: &[StyledPiece],
        ruling: HeadRule,
    ) {
        let (role, glyph) = match ruling {
            HeadRule::Usual => (Role::Rule, self.glyphs().rules[0]),
            HeadRule::Input => (Role::Input, self.glyphs().heavy[0]),
        };
        let rule = self.style(role);
        let line = glyph.repeat(usize::from(area.width));
        self.text(area, (0, 0), &line, rule);
        let mut facts_from = area.width;
        // The title has priority over the facts, but leaves room for the first one, a state.
        let kept = columns(title).min(TITLE_COLUMNS.max(area.width * 2 / 3));
        // One that is cut anyway leaves the first fact two columns more.
        let around = if kept < columns(title) { AROUND_HEAD - 2 } else { AROUND_HEAD };
        let room = area.width.saturating_sub(kept + around);
        // The last fact is the least important: drop facts from the end until the rest fits.
        let fits = (0..=facts.len()).rev().find(|many| columns(&joined_facts(&facts[..*many], self)) <= room);
        let shown = joined_facts(&facts[..fits.unwrap_or(0)], self);
        if !shown.is_empty() {
            facts_from = area.width - columns(&shown) - 4;
            let x = self.text(area, (facts_from, 0), " ", rule);
            let x = self.row_from(area, (x, 0), &shown);
            self.text(area, (x, 0), " ", rule);
        }
        let room = Rect { width: facts_from.saturating_sub(2), ..area };
        let x = self.text(room, (2, 0), " ", rule);
        let title = self.cut(title, room.width.saturating_sub(x + 1));
        let x = self.row_from(room, (x, 0), &title);
        self.text(room, (x, 0), " ", rule);
    }

    /// Highlights a row as selected, with one style across its whole width.
    pub(crate) fn select(&mut self, area: Rect) {
        let style = self.style(Role::Selected);
        self.restyle(area, |cell| {
            let bold = cell.modifier & Modifier::BOLD;
            cell.set_style(Style::reset()).set_style(style.add_modifier(bold));
        });
    }

    /// Modifies cells of the frame.
    pub(crate) fn restyle(&mut self, area: Rect, change: impl Fn(&mut Cell)) {
        for position in area.intersection(self.buf.area).positions() {
            self.buf.cell_mut(position).into_iter().for_each(&change);
        }
    }

    /// Modifies some columns of a row of `area`.
    pub(crate) fn restyle_row(
        &mut self,
        area: Rect,
        y: u16,
        columns: Range<u16>,
        change: impl Fn(&mut Cell),
    ) {
        let (x, width) = (area.x.saturating_add(columns.start), columns.end.saturating_sub(columns.start));
        let cells = Rect { x, y: area.y.saturating_add(y), width, height: 1 };
        self.restyle(cells.intersection(area), change);
    }

    /// Draws an empty box with a title; returns its inside, with one column of padding at either side.
    pub(crate) fn draw_box(&mut self, area: Rect, title: &str) -> Rect {
        // Clear a gap beside the box; if only little of a row would be left beyond it, clear that too, as it
        // would be noise.
        let screen = self.buf.area;
        let left = if area.x <= 2 { 0 } else { area.x - 1 };
        let right = if area.right() + 2 >= screen.right() { screen.right() } else { area.right() + 1 };
        let cleared = Rect { x: left, width: right.saturating_sub(left), ..area };
        self.restyle(cleared, Cell::reset);
        let Glyphs { corners, rules, .. } = self.glyphs();
        let (strong, last) = (self.style(Role::Strong), area.height.saturating_sub(1));
        let inner = usize::from(area.width.saturating_sub(2));
        for (y, [left, right]) in [(0, [corners[0], corners[1]]), (last, [corners[2], corners[3]])] {
            self.text(area, (0, y), &format!("{left}{}{right}", rules[0].repeat(inner)), strong);
        }
        for y in 1..last {
            self.text(area, (0, y), rules[1], strong);
            self.text(area, (area.width.saturating_sub(1), y), rules[1], strong);
        }
        let title = text::cut(title, inner.saturating_sub(3), self.glyphs().cut);
        self.text(area, (2, 0), &format!(" {title} "), strong);
        inside(area)
    }

    /// Returns the marker in front of an input line.
    pub(crate) fn prompt(&self) -> StyledPiece {
        piece(format!("{} ", self.glyphs().selected), Role::Accent)
    }

    /// Draws an input line, scrolled to keep the cursor visible if it has one: a long line loses its
    /// beginning first.
    pub(crate) fn editor(
        &mut self,
        area: Rect,
        y: u16,
        label: &[StyledPiece],
        editor: &Editor,
        is_masked: bool,
        has_cursor: bool,
    ) {
        let from = self.row(area, y, label);
        let room = usize::from(area.width.saturating_sub(from + 1));
        let shown = |text: String| match is_masked {
            true => "*".repeat(text.chars().count()),
            false => visible::one_line(&text).replace("⏎ ", "⏎"),
        };
        // Only what may be visible is looked at: a line can be long.
        let (value, near) = (editor.value(), 4 * room + 64);
        let cursor = value.char_indices().nth(editor.cursor()).map_or(value.len(), |(at, _)| at);
        let from_here = value[..cursor].char_indices().rev().take(near).last().map_or(cursor, |(at, _)| at);
        let before = shown(value[from_here..cursor].to_owned());
        let after = shown(value[cursor..].chars().take(near).collect());
        let mut start = before.len();
        for (at, _) in before.char_indices().rev() {
            if text::width(&before[at..]) > room {
                break;
            }
            start = at;
        }
        let style = self.style(Role::Text);
        let x = self.text(area, (from, y), &before[start..], style);
        self.text(area, (x, y), &after, style);
        if has_cursor && x < area.width && y < area.height {
            self.drawn.cursor = Some((Position::new(area.x + x, area.y + y), CursorShape::Default));
        }
    }

    /// Returns the size of the screen in columns and rows.
    pub(crate) fn size(&self) -> (u16, u16) {
        (self.buf.area.width, self.buf.area.height)
    }

    /// Tells whether motion is off: nothing may change on screen by itself, and times of day replace running
    /// ages.
    pub(crate) fn is_still(&self) -> bool {
        !self.state.setup.ui.console.motion
    }

    /// Returns the time since a moment, or with motion off the moment itself; schedules a redraw for when it changes.
    pub(crate) fn age(&mut self, since: Timestamp) -> String {
        if self.is_still() {
            self.minute(since)
        } else {
            self.waking(text::age(since, self.state.clock.known))
        }
    }

    /// Like [`age`](Self::age), of what nothing was heard of since: it changes less often.
    pub(crate) fn silence(&mut self, since: Timestamp) -> String {
        let age = text::silence(since, self.state.clock.known);
        if self.is_still() { self.minute(since) } else { self.waking(age) }
    }

    /// Formats since when an agent does what it does.
    pub(crate) fn doing(&mut self, work: AgentWork) -> String {
        if work.activity.is_still() { self.silence(work.since) } else { self.age(work.since) }
    }

    /// Formats how long ago something was, or when: `40s ago`, `at 12:03`.
    pub(crate) fn ago(&mut self, at: Timestamp) -> String {
        let age = self.silence(at);
        if self.is_still() { format!("at {age}") } else { format!("{age} ago") }
    }

    /// Formats how long something has lasted, or since when: `for 42s`, `since 12:03`.
    pub(crate) fn lasting(&mut self, since: Timestamp) -> String {
        let age = self.age(since);
        format!("{} {age}", if self.is_still() { "since" } else { "for" })
    }

    /// Formats when something will happen: `in 3s`, `at 12:04:34`.
    pub(crate) fn due(&mut self, at: Timestamp) -> String {
        match self.is_still() {
            true => format!("at {}", self.time(at)),
            false => format!("in {}", self.waking(text::countdown(at, self.state.clock.now))),
        }
    }

    /// Formats how much time is left: `29:10 left`, `until 12:34:00`.
    pub(crate) fn time_left(&mut self, end: Timestamp) -> String {
        match self.is_still() {
            true => format!("until {}", self.time(end)),
            false => format!("{} left", self.waking(text::countdown(end, self.state.clock.now))),
        }
    }

    fn waking(&mut self, age: text::Age) -> String {
        self.wake_at(age.until);
        age.text
    }

    pub(crate) fn wake_at(&mut self, at: Timestamp) {
        if !self.is_still() && !self.state.view.is_lost {
            self.drawn.wake = Some(self.drawn.wake.map_or(at, |other| other.min(at)));
        }
    }

    /// Formats a moment as local time without seconds, or as a date if it is not today.
    fn minute(&self, at: Timestamp) -> String {
        let [at, now] =
            [at, self.state.clock.now].map(|at| at.to_zoned_datetime(self.state.setup.zone.clone()));
        at.strftime(if at.date() == now.date() { "%H:%M" } else { "%m-%d" }).to_string()
    }

    /// Formats a moment as local time.
    pub(crate) fn time(&self, at: Timestamp) -> String {
        at.to_zoned_datetime(self.state.setup.zone.clone()).strftime("%H:%M:%S").to_string()
    }
}

fn joined_facts(facts: &[StyledPiece], painter: &Painter<'_>) -> Vec<StyledPiece> {
    let dot = piece(format!(" {} ", painter.glyphs().dot), Role::Rule);
    join_groups(facts.iter().map(|fact| vec![fact.clone()]).collect(), &dot)
}
