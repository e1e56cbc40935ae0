//! Exporting to files: what can be exported from the current screen, in which format and under which name.
//! Exports that need a log are produced outside this module.

use std::borrow::Cow;

use ratatui::buffer::Buffer;
use ratatui::style::{Color as Ink, Modifier};
use serde_json::Value;
use strum::VariantArray as _;

use crate::console::effect::{Effect, FeatureReply};
use crate::console::state::{ExportKind, FileName, ListChoice, Screen, ShareForm, Shot, State, alias};
use crate::console::text::{visible, width};
use crate::console::theme::colour::sixteen;
use crate::console::widgets::{Chooser, ListItem, ListKind};
use crate::model::phrases::receipt_reader;
use crate::model::{CallRecord, MetricsReport, Slot};
use crate::runtime::ExportForm;
use crate::terminal::{Cell, CellDrawing, CellStyle, Color};

/// Returns the list of exports: those of the current view first, then the screen itself.
pub(in crate::console) fn export_list(state: &State) -> Chooser {
    let mut items = match state.focus.screen {
        Screen::Receipts => call_exports(state),
        Screen::Tasks | Screen::Focus | Screen::Program => task_exports(state),
        Screen::Metrics => vec![metrics_export()],
    };
    items.extend(Shot::VARIANTS.iter().map(|shot| {
        let about = match shot {
            Shot::Svg => "A picture of the whole console",
            Shot::Html => "The same as a page for a browser",
            Shot::Text => "The same as text",
            Shot::Ansi => "The same as text with its colours",
        };
        ListItem::new(format!("screen {}", shot.word()), about, ListChoice::Export(ExportKind::Screen(*shot)))
    }));
    Chooser::new(ListKind::Exports, items)
}

fn task_exports(state: &State) -> Vec<ListItem> {
    let Some(task) = state.at_hand().cloned() else { return Vec::new() };
    let name = alias(&task);
    let item = |form: ExportForm| {
        let (word, about) = describe_form(form);
        let choice = ListChoice::Export(ExportKind::Task(task.id.clone(), form));
        let item = ListItem::new(format!("{name} {word}"), about, choice);
        ListItem { same: format!("task export {} --as {word}", task.id), ..item }
    };
    ExportForm::ALL.into_iter().map(item).collect()
}

fn call_exports(state: &State) -> Vec<ListItem> {
    let Some(seq) = state.shown_call().map(|call| call.seq) else { return Vec::new() };
    let number = state.call_name(seq);
    let record = state.view.records.get(&seq);
    let unanswered = record.is_none_or(|record| record.envelope.is_none()).then_some("not answered yet");
    let no_batch = record.is_none_or(|record| items(record).is_none()).then_some("it is no batch");
    let receipt = format!(
        "The receipt, byte for byte: {}",
        record.map_or("", |record| receipt_reader(&record.tool, record.native.as_ref()))
    );
    let rows = [
        ("share", "A page for others: all of the call", ExportKind::Share(ShareForm::Html), unanswered),
        ("share-svg", "The same as a picture", ExportKind::Share(ShareForm::Svg), unanswered),
        ("receipt", &*receipt, ExportKind::Receipt(seq), unanswered),
        ("envelope", "The canonical envelope, as JSON", ExportKind::Envelope(seq), unanswered),
        ("items", "The items of the batch, a line each", ExportKind::Items(seq), unanswered.or(no_batch)),
    ];
    let item = |(word, about, export, obstacle): (_, _, _, Option<&str>)| ListItem {
        obstacle: obstacle.map(str::to_owned),
        same: if !matches!(word, "receipt" | "envelope") {
            String::new()
        } else {
            format!("receipt show {}", Slot::of(seq).1)
        },
        ..ListItem::new(format!("{word} {number}"), about, ListChoice::Export(export))
    };
    rows.map(item).into_iter().collect()
}

/// Exports something other than the screen to a file.
pub(in crate::console) fn export(state: &State, export: ExportKind) -> Option<Effect> {
    let made = match export {
        ExportKind::Task(id, form) => {
            let task = state.view.task(&id)?.clone();
            let file = FileName::of(&alias(&task), form.extension());
            let palette = state.setup.theme_set.paper();
            return Some(Effect::WriteExport { task, form, palette, file });
        }
        ExportKind::Screen(_) | ExportKind::Share(_) => None,
        ExportKind::Metrics => {
            let report = MetricsReport::from(state.metrics().clone().up_to(state.clock.now));
            let text = serde_json::to_string_pretty(&report).ok();
            text.map(|text| (FileName::of("metrics", "json"), text + "\n"))
        }
        ExportKind::Receipt(seq) => {
            let receipt = answer(state, seq).and_then(|record| record.receipt.clone());
            receipt.map(|receipt| (FileName::of(&state.call_file(seq), "txt"), receipt))
        }
        ExportKind::Envelope(seq) => {
            let envelope = answer(state, seq).and_then(|record| record.envelope.as_ref());
            envelope.map(|value| (FileName::of(&state.call_file(seq), "json"), format!("{value}\n")))
        }
        ExportKind::Items(seq) => {
            let items = answer(state, seq).and_then(items);
            let lines = |items: &[Value]| items.iter().map(|item| format!("{item}\n")).collect::<String>();
            items.map(|items| (FileName::of(&state.call_file(seq), "jsonl"), lines(items)))
        }
    };
    made.map(|(file, text)| Effect::WriteFile { file, text })
}

/// Exports the screen, as it was drawn.
pub(in crate::console) fn export_screen(state: &State, shot: Shot, drawing: &CellDrawing) -> Effect {
    let (file, palette) =
        (FileName::of(state.focus.screen.word(), shot.extension()), state.setup.theme_set.paper());
    let title = format!("pilothouse: {}", state.focus.screen.word());
    let captioned = || {
        let (what, facts) = caption(state);
        drawing.clone().with_caption(&what, &facts)
    };
    let text = match shot {
        Shot::Svg => captioned().svg(&title, &palette),
        Shot::Html => captioned().html(&title, &palette),
        Shot::Text => drawing.text(),
        Shot::Ansi => drawing.ansi(),
    };
    Effect::WriteFile { file, text }
}

/// Returns what a picture of the screen is about: the command at hand, and how it ended and the date.
fn caption(state: &State) -> (String, String) {
    let at = state.clock.now.to_zoned_datetime(state.setup.zone.clone()).strftime("%Y-%m-%d %H:%M:%S %Z");
    let call = state.shown_call().filter(|_| state.focus.screen == Screen::Receipts);
    let task = match call {
        Some(call) => call.task.as_ref().and_then(|id| state.view.task(id)),
        None => state.at_hand().filter(|_| state.focus.screen != Screen::Metrics),
    };
    match (task, call) {
        (Some(task), _) => (visible::masked_line(task.cmd.trim()), format!("{}, {at}", task.word())),
        (None, Some(call)) => {
            (visible::masked_line(&call.asked), format!("{}, {at}", visible::one_line(&call.tool)))
        }
        (None, None) => (format!("pilothouse: {}", state.focus.screen.word()), at.to_string()),
    }
}

fn answer(state: &State, seq: u64) -> Option<&CallRecord> {
    state.view.records.get(&seq).map(|record| &**record)
}

/// Reports where a file was saved, and copies its path.
pub(in crate::console) fn replies_to_file(folder: &str, name: &str) -> [FeatureReply; 2] {
    let path = format!("{}/{name}", folder.trim_end_matches('/'));
    let copy = Effect::Yank { text: path, what: "the path".to_owned() };
    [FeatureReply::Say(format!("{name} in {folder}")), FeatureReply::Do(copy)]
}

fn metrics_export() -> ListItem {
    let item = ListItem::new(
        "metrics json",
        "The counters, as a script gets them",
        ListChoice::Export(ExportKind::Metrics),
    );
    ListItem { same: "metrics show --output json".to_owned(), ..item }
}

/// Returns the items of a batch.
fn items(record: &CallRecord) -> Option<&[Value]> {
    let is_batch = record.tool == "ExecCommandBatch";
    let items = record.envelope.as_ref().filter(|_| is_batch)?.pointer("/result/items")?;
    items.as_array().map(Vec::as_slice)
}

/// Returns the name of a format, as on the command line, and a description.
fn describe_form(form: ExportForm) -> (&'static str, &'static str) {
    match form {
        ExportForm::Text => ("text", "What it printed, as text"),
        ExportForm::Ansi => ("ansi", "The same with its colours"),
        ExportForm::Html => ("html", "The same as a page for a browser"),
        ExportForm::Svg => ("svg", "A picture of its screen"),
        ExportForm::Cast => ("cast", "A recording that plays, asciicast 3"),
        ExportForm::CastV2 => ("cast-v2", "The same, asciicast 2"),
    }
}

/// Turns a frame into a drawing.
pub(in crate::console) fn drawing(buffer: &Buffer) -> CellDrawing {
    let area = buffer.area;
    let rows = (area.top()..area.bottom()).map(|y| row(buffer, y).into()).collect();
    CellDrawing { columns: area.width, rows }
}

fn row(buffer: &Buffer, y: u16) -> Vec<Cell<'static>> {
    let area = buffer.area;
    let mut cells = Vec::with_capacity(usize::from(area.width));
    // In the frame, the second half of a wide character has a cell of its own that is not shown.
    let mut is_covered = false;
    for x in area.left()..area.right() {
        if std::mem::take(&mut is_covered) {
            cells.push(Cell::continuation());
            continue;
        }
        let Some(cell) = buffer.cell((x, y)) else { continue };
        is_covered = width(cell.symbol()) > 1 && x + 1 < area.right();
        let width = if is_covered { 2 } else { 1 };
        cells.push(Cell { text: Cow::Owned(cell.symbol().to_owned()), width, style: style(cell) });
    }
    cells
}

fn style(cell: &ratatui::buffer::Cell) -> CellStyle {
    let has = |flag| cell.modifier.contains(flag);
    CellStyle {
        fg: colour(cell.fg),
        bg: colour(cell.bg),
        bold: has(Modifier::BOLD),
        dim: has(Modifier::DIM) && !has(Modifier::BOLD),
        italic: has(Modifier::ITALIC),
        underline: has(Modifier::UNDERLINED),
        inverse: has(Modifier::REVERSED),
        struck: has(Modifier::CROSSED_OUT),
    }
}

fn colour(ink: Ink) -> Color {
    match ink {
        Ink::Reset => Color::Default,
        Ink::Rgb(red, green, blue) => Color::Rgb(red, green, blue),
        Ink::Indexed(index) => Color::Indexed(index),
        named => (0..16).find(|index| sixteen(*index) == named).map_or(Color::Default, Color::Indexed),
    }
}

#[cfg(test)]
mod tests {
    use ratatui::layout::Rect;

    use super::*;
    use ratatui::style::Style;

    #[test]
    fn a_name_that_is_taken_gets_a_number() {
        let name = FileName::of("t07", "v2.cast");
        assert_eq!(name.attempt(0), "pilothouse-t07.v2.cast");
        assert_eq!(name.attempt(1), "pilothouse-t07-2.v2.cast");
    }

    #[test]
    fn a_frame_keeps_its_text_its_colours_and_its_columns() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 8, 2));
        buffer.set_string(
            0,
            0,
            "a大b",
            Style::new().fg(Ink::Cyan).add_modifier(Modifier::BOLD | Modifier::DIM),
        );
        buffer.set_string(0, 1, "ok", Style::new().bg(Ink::Rgb(1, 2, 3)).add_modifier(Modifier::REVERSED));
        let drawn = drawing(&buffer);
        assert_eq!(drawn.text(), "a大b\nok\n");
        assert_eq!(drawn.rows.iter().map(|row| row.cells.len()).collect::<Vec<_>>(), [8, 8]);
        assert_eq!(drawn.ansi(), "\x1b[0;1;36ma大b\x1b[0m\n\x1b[0;7;48;2;1;2;3mok\x1b[0m\n");
    }
}
