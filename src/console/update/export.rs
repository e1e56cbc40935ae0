//! Keeping things as files: the list of what can be kept from where the person looks, and the making of it.
//! What needs a log is made outside.

use serde_json::Value;

use crate::runtime::{CallRecord, Form, MetricsReport};

use super::super::app::chooser::{Choice, Chooser, Item, Kind};
use super::super::app::export::{Export, FileName, Shot};
use super::super::app::{App, Layer, View, alias};
use super::super::msg::Effect;
use super::super::text;
use super::super::view;

impl App {
    /// Opens the list of what can be kept: first what is under the eyes, then the screen itself.
    pub(super) fn open_exports(&mut self) -> Vec<Effect> {
        let mut items = match self.view {
            View::Receipts => self.call_exports(),
            View::Tasks | View::Focus | View::Program => self.task_exports(),
            View::Metrics => vec![metrics_export()],
        };
        items.extend(Shot::ALL.map(|shot| {
            let about = match shot {
                Shot::Svg => "A picture of the whole console",
                Shot::Html => "The same as a page for a browser",
                Shot::Text => "The same as text",
                Shot::Ansi => "The same as text with its colours",
            };
            Item::new(format!("screen {}", shot.word()), about, Choice::Export(Export::Screen(shot)))
        }));
        self.open(Layer::List(Box::new(Chooser::new(Kind::Exports, items))))
    }

    fn task_exports(&self) -> Vec<Item> {
        let Some(task) = self.at_hand().cloned() else { return Vec::new() };
        let name = alias(&task);
        let item = |form: Form| {
            let (word, about) = told(form);
            let choice = Choice::Export(Export::Task(task.id.clone(), form));
            let item = Item::new(format!("{name} {word}"), about, choice);
            Item { same: format!("task export {} --as {word}", task.id), ..item }
        };
        Form::ALL.into_iter().map(item).collect()
    }

    fn call_exports(&self) -> Vec<Item> {
        let Some(seq) = self.shown_call().map(|call| call.seq) else { return Vec::new() };
        let number = text::count(seq);
        let record = self.calls.records.get(&seq);
        let unanswered = record.is_none_or(|record| record.envelope.is_none()).then_some("not answered yet");
        let no_batch = record.is_none_or(|record| items(record).is_none()).then_some("it is no batch");
        let rows = [
            ("receipt", "What the model read, byte for byte", Export::Receipt(seq), unanswered),
            ("envelope", "The canonical envelope, as JSON", Export::Envelope(seq), unanswered),
            ("items", "The items of the batch, a line each", Export::Items(seq), unanswered.or(no_batch)),
        ];
        let item = |(word, about, export, obstacle): (_, _, _, Option<&str>)| Item {
            obstacle: obstacle.map(str::to_owned),
            same: if word == "items" { String::new() } else { format!("receipt show {seq}") },
            ..Item::new(format!("{word} {number}"), about, Choice::Export(export))
        };
        rows.map(item).into_iter().collect()
    }

    /// Keeps something as a file.
    pub(super) fn export(&mut self, export: Export) -> Vec<Effect> {
        let made = match export {
            Export::Task(id, form) => {
                let Some(task) = self.task(&id).cloned() else { return Vec::new() };
                let file = FileName::of(&alias(&task), form.extension());
                let palette = self.setup.wardrobe.paper();
                return vec![Effect::KeepTask { task, form, palette, file }];
            }
            Export::Screen(shot) => {
                Some((FileName::of(self.view.word(), shot.extension()), self.shoot(shot)))
            }
            Export::Metrics => {
                let report = MetricsReport::from(self.snapshot.metrics.clone());
                let text = serde_json::to_string_pretty(&report).ok();
                text.map(|text| (FileName::of("metrics", "json"), text + "\n"))
            }
            Export::Receipt(seq) => {
                let receipt = self.answer(seq).and_then(|record| record.receipt.clone());
                receipt.map(|receipt| (FileName::of(&format!("call-{seq}"), "txt"), receipt))
            }
            Export::Envelope(seq) => {
                let envelope = self.answer(seq).and_then(|record| record.envelope.as_ref());
                envelope.map(|value| (FileName::of(&format!("call-{seq}"), "json"), format!("{value}\n")))
            }
            Export::Items(seq) => {
                let items = self.answer(seq).and_then(items);
                let lines =
                    |items: &[Value]| items.iter().map(|item| format!("{item}\n")).collect::<String>();
                items.map(|items| (FileName::of(&format!("call-{seq}"), "jsonl"), lines(items)))
            }
        };
        made.map(|(file, text)| Effect::Keep { file, text }).into_iter().collect()
    }

    fn answer(&self, seq: u64) -> Option<&CallRecord> {
        self.calls.records.get(&seq).map(|record| &**record)
    }

    fn shoot(&self, shot: Shot) -> String {
        let (drawing, palette) = (view::photo(self), self.setup.wardrobe.paper());
        let title = format!("pilothouse: {}", self.view.word());
        match shot {
            Shot::Svg => drawing.svg(&title, &palette),
            Shot::Html => drawing.html(&title, &palette),
            Shot::Text => drawing.text(),
            Shot::Ansi => drawing.ansi(),
        }
    }

    /// Says where a file was put; while that is read, the key that copies copies its path.
    pub(super) fn kept(&mut self, folder: &str, name: &str) {
        let path = format!("{}/{name}", folder.trim_end_matches('/'));
        self.toasts.offer(format!("{name} in {folder}"), path, self.now);
    }

    /// Copies the path of the file that was just kept, while its message is on screen.
    pub(super) fn copy_path(&mut self) -> Option<Vec<Effect>> {
        let text = self.toasts.take_path()?;
        Some(vec![Effect::Yank { text, what: "the path".to_owned() }])
    }
}

fn metrics_export() -> Item {
    let item =
        Item::new("metrics json", "The counters, as a script gets them", Choice::Export(Export::Metrics));
    Item { same: "metrics show --output json".to_owned(), ..item }
}

/// The items of a batch.
fn items(record: &CallRecord) -> Option<&[Value]> {
    let is_batch = record.tool == "ExecCommandBatch";
    let items = record.envelope.as_ref().filter(|_| is_batch)?.pointer("/result/items")?;
    items.as_array().map(Vec::as_slice)
}

/// The word for a form, as the command line has it, and what it is.
fn told(form: Form) -> (&'static str, &'static str) {
    match form {
        Form::Text => ("text", "What it printed, as text"),
        Form::Ansi => ("ansi", "The same with its colours"),
        Form::Html => ("html", "The same as a page for a browser"),
        Form::Svg => ("svg", "A picture of its screen"),
        Form::Cast => ("cast", "A recording that plays, asciicast 3"),
        Form::CastV2 => ("cast-v2", "The same, asciicast 2"),
    }
}
