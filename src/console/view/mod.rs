//! The screen, drawn from the state alone: same state, same time, same cells. No clock, no I/O.

mod attention;
mod bar;
mod batch;
mod brush;
mod chooser;
mod empty;
mod gauges;
mod held;
mod hints;
mod layers;
mod metrics;
mod pane;
mod photo;
mod program;
mod question;
mod reader;
mod receipts;
mod replay;
mod state;
mod status;
mod stream;
mod tasks;
mod timeline;
mod why;

use ratatui::buffer::Buffer;

use super::app::{App, View};
use super::looks::theme::Role;
use super::plan::{Class, Plan};
use super::text::document::piece;

pub use brush::Drawn;
pub(super) use chooser::page as chooser_page;
pub(super) use layers::help_rows;
pub use photo::photo;
pub(super) use question::rows as question_rows;
pub(super) use state::{evidence, how, need};

use brush::Brush;

/// Draws the console and tells where the cursor stands and when to draw again.
pub fn draw(app: &App, buf: &mut Buffer) -> Drawn {
    let plan = Plan::of(app);
    let mut brush = Brush { app, buf, drawn: Drawn::default() };
    if plan.class == Class::Sentence {
        sentence(&mut brush);
        return brush.drawn;
    }
    bar::draw(&mut brush, plan.bar);
    for rule in &plan.rules {
        let style = brush.style(Role::Rule);
        let glyph = brush.glyphs().rules[1];
        for y in 0..rule.height {
            brush.text(*rule, (0, y), glyph, style);
        }
    }
    match app.view {
        _ if app.reader.is_some() || app.replay.is_some() => {}
        View::Tasks | View::Focus if app.snapshot.tasks.is_empty() => empty::tasks(&mut brush, plan.stage),
        View::Receipts if app.snapshot.calls.is_empty() => empty::calls(&mut brush, plan.stage),
        View::Metrics => metrics::draw(&mut brush, plan.stage),
        View::Program => program::draw(&mut brush, &plan),
        View::Tasks | View::Focus => {
            tasks::draw(&mut brush, &plan);
            for pane in &plan.panes {
                pane::draw(&mut brush, &plan, pane);
            }
            timeline::draw(&mut brush, &plan);
            receipts::draw(&mut brush, &plan);
        }
        View::Receipts => receipts::draw(&mut brush, &plan),
    }
    if let Some(reader) = &app.reader {
        reader::draw(&mut brush, plan.stage, reader);
    } else if let Some(replay) = &app.replay {
        replay::draw(&mut brush, plan.stage, replay);
    }
    status::notice(&mut brush, plan.notice);
    status::draw(&mut brush, plan.status);
    layers::toasts(&mut brush, &plan);
    if !app.layers.is_empty() {
        // Only a dialog that is written in has a cursor.
        brush.drawn.cursor = None;
    }
    layers::draw(&mut brush, &plan);
    if brush.is_still() {
        brush.drawn.cursor = brush.drawn.cursor.map(|(at, shape)| (at, shape.to_steady()));
    }
    brush.drawn
}

fn sentence(brush: &mut Brush<'_>) {
    let area = brush.buf.area;
    let text = format!("pilothouse needs 40x8, this is {}x{}", area.width, area.height);
    let mut document = super::text::document::Document::new(vec![vec![piece(text, Role::Text)]]);
    document.wrap(usize::from(area.width.max(1)));
    for (y, row) in (0..area.height).zip(document.rows()) {
        brush.row(area, y, row);
    }
}
