//! The mouse: selecting, scrolling, opening; while the user types into a task, events go to a program that
//! asked for them.

use jiff::SignedDuration;
use ratatui::layout::Position;

use crate::console::app::App;
use crate::console::app::border::ListBorder;
use crate::console::effect::Effect;
use crate::console::features::approval::card::Card;
use crate::console::features::pane::timestamps;
use crate::console::keys::{Action, Motion};
use crate::console::state::{Column, Layout, ListRow, Mode, Pane, PointedRow, Screen};
use crate::envelope::TaskId;
use crate::model::TypedInput;
use crate::terminal::{Key, KeyPress, MouseButton, MouseInput, MouseKind, MouseMode};

const DOUBLE: SignedDuration = SignedDuration::from_millis(400);

const WHEEL_ROWS: usize = 3;

impl App {
    pub(in crate::console) fn mouse(&mut self, event: MouseInput) {
        if !self.layers.is_empty() || self.state.is_leaving {
            return;
        }
        let layout = self.state.layout();
        let at = Position::new(event.col, event.row);
        if let Mode::Input(task) = self.state.focus.mode.clone() {
            match layout.pane(&task).filter(|pane| pane.cells.contains(at)) {
                Some(pane) if self.forward(&task, pane, event) => return,
                Some(_) => {}
                None if matches!(event.kind, MouseKind::Press(_)) => self.state.observe(),
                None => {}
            }
        }
        match event.kind {
            MouseKind::Press(MouseButton::Left) => {
                self.state.is_dirty = true;
                self.state.leave_copy();
                self.border = ListBorder::at(&self.state, &layout, at);
                self.click(&layout, at);
                self.state.reading.pressed = self.spot(at);
            }
            MouseKind::Drag(MouseButton::Left) if self.border.is_some() => {
                self.border.into_iter().for_each(|border| border.drag(&mut self.state, at));
                self.state.is_dirty = true;
            }
            MouseKind::Drag(MouseButton::Left) => {
                let spot = self.spot(at);
                self.state.is_dirty |= spot.is_some_and(|spot| self.state.drag_selection(spot));
            }
            MouseKind::Release(MouseButton::Left) => {
                self.state.is_dirty = true;
                self.border = None;
                self.state.drop_drag()
            }
            MouseKind::ScrollUp => self.wheel(&layout, at, Motion::Up),
            MouseKind::ScrollDown => self.wheel(&layout, at, Motion::Down),
            MouseKind::Press(_) | MouseKind::Release(_) | MouseKind::Drag(_) => {}
            MouseKind::Move | MouseKind::ScrollLeft | MouseKind::ScrollRight => {}
        }
    }

    /// Returns the row and column in the current pane's picture for a screen position; during a drag outside
    /// the pane, the nearest one.
    fn spot(&self, at: Position) -> Option<(u16, u16)> {
        let task = self.state.at_hand()?.id.clone();
        let layout = self.state.layout();
        let pane = layout.pane(&task)?;
        let cells = pane.cells;
        if cells.is_empty() || self.state.reading.pressed.is_none() && !cells.contains(at) {
            return None;
        }
        let row = at.y.clamp(cells.y, cells.bottom() - 1) - cells.y;
        let column = at.x.clamp(cells.x, cells.right() - 1) - cells.x;
        let gutter = if self.state.reading.pressed.is_none() {
            timestamps::stamp_columns(&self.state, pane)
        } else {
            0
        };
        Some((row, column.saturating_sub(gutter) + self.state.first_column(pane)))
    }

    /// Passes an event on to the task: as it requested, or the wheel as arrow keys on the alternate screen.
    fn forward(&mut self, task: &TaskId, pane: &Pane, event: MouseInput) -> bool {
        let Some(picture) =
            self.state.view.pictures.get(task).filter(|_| self.state.reading.scroll.is_none())
        else {
            return false;
        };
        let inside = MouseInput {
            row: event.row - pane.cells.y + picture.top(pane.cells.height),
            col: event.col - pane.cells.x + self.state.first_column(pane),
            ..event
        };
        let input = if picture.modes.mouse != MouseMode::Off {
            let typed = if event.kind == MouseKind::Move { TypedInput::Report } else { TypedInput::Raw };
            inside.encode(picture.modes).map(typed)
        } else {
            let has_arrows = picture.modes.alternate_screen && !picture.modes.no_wheel_arrows;
            let arrow = match event.kind {
                MouseKind::ScrollUp if has_arrows => Key::Up,
                MouseKind::ScrollDown if has_arrows => Key::Down,
                _ => return false,
            };
            Some(TypedInput::Keys(vec![KeyPress::from(arrow); WHEEL_ROWS]))
        };
        self.state.effects.extend(input.map(|input| Effect::send(task.clone(), input)));
        true
    }

    fn click(&mut self, layout: &Layout, at: Position) {
        let is_double = self.last_click.is_some_and(|(when, x, y)| {
            (x, y) == (at.x, at.y) && self.state.clock.now.duration_since(when) <= DOUBLE
        });
        self.last_click = Some((self.state.clock.now, at.x, at.y));
        if let Some(pane) = layout.pane_at(at) {
            self.state.take_up(pane.task.clone());
            if is_double && matches!(self.state.focus.mode, Mode::Observe) {
                self.act(Action::Input);
            }
            return;
        }
        if let Some(item) = layout.item_at(at) {
            return self.click_item(item, is_double);
        }
        if layout.source.contains(at) {
            self.state.leave_pane();
        }
        if self.state.focus.screen == Screen::Receipts {
            let texts = [Column::Receipt, Column::Envelope].into_iter();
            for column in texts.filter(|column| layout.text(*column).contains(at)) {
                self.state.calls.column = column;
                let row = (at.y - layout.text(column).y).checked_sub(1);
                if let (Some(row), Some(sheet)) = (row, &mut self.receipts.sheet) {
                    let text = sheet.text_mut(column);
                    text.at = text.top + usize::from(row);
                }
            }
        }
    }

    fn click_item(&mut self, item: usize, is_double: bool) {
        if self.state.focus.screen == Screen::Receipts {
            let at = self.state.calls.top + item;
            let seq = self.state.call_rows().get(at).map(|row| row.call.seq);
            if let Some(seq) = seq {
                self.state.calls.selected = if at == 0 { None } else { Some(seq) };
                self.state.calls.column = Column::Calls;
            }
            return;
        }
        let at = self.state.list.top + item;
        if let Some(ListRow::Held(held)) = self.state.list_rows().rows.get(at) {
            let ticket = self.state.view.snapshot.gate.held.get(*held).map(|held| held.ticket);
            return self.open_card(ticket.map(Card::of));
        }
        if let Some(ListRow::Agent(agent)) = self.state.list_rows().rows.get(at) {
            let label = self.state.view.snapshot.agents.get(*agent).map(|agent| agent.label.clone());
            label.into_iter().for_each(|label| self.state.point_at(PointedRow::Agent(label)));
            if is_double {
                self.act(Action::Input);
            }
            return;
        }
        let task = self
            .state
            .list_rows()
            .rows
            .get(at)
            .and_then(|row| self.state.task_in(row))
            .map(|task| task.id.clone());
        let Some(task) = task else { return };
        self.state.select(task);
        if is_double && matches!(self.state.focus.mode, Mode::Observe) {
            self.act(Action::Input);
        }
    }

    fn wheel(&mut self, layout: &Layout, at: Position, motion: Motion) {
        self.state.is_dirty = true;
        if self.state.reader.is_some() {
            (0..WHEEL_ROWS).for_each(|_| self.state.go_in_reader(motion));
            return;
        }
        let over_list = layout.list.contains(at);
        match self.state.focus.screen {
            Screen::Tasks if over_list => self.state.step_task(if motion == Motion::Up { -1 } else { 1 }),
            Screen::Tasks => {
                if let Some(task) = layout.pane_at(at).map(|pane| pane.task.clone()) {
                    self.state.select(task);
                    self.state.go_in_log(motion)
                }
            }
            Screen::Focus => self.state.go_in_log(motion),
            Screen::Receipts if over_list => {
                let kept = std::mem::replace(&mut self.state.calls.column, Column::Calls);
                self.go(motion);
                self.state.calls.column = kept;
            }
            Screen::Receipts => {
                let column = if layout.envelope.contains(at) { Column::Envelope } else { Column::Receipt };
                (0..WHEEL_ROWS).for_each(|_| self.receipts.roll_text(&self.state, column, motion));
            }
            Screen::Program => match layout.pane_at(at).map(|pane| pane.task.clone()) {
                Some(task) => {
                    self.state.take_up(task);
                    self.state.go_in_log(motion)
                }
                None => {
                    (0..WHEEL_ROWS).for_each(|_| self.state.go_in_source(motion));
                }
            },
            Screen::Metrics => {}
        }
    }
}
