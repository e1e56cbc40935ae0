//! What a paste of megabytes costs the console: from the bytes of the terminal to the frame after it, beside checking the
//! same bytes for UTF-8 in the same run. Keys wait that long.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use pilothouse::console::app::{App, draw};
use pilothouse::console::keys::Keymap;
use pilothouse::console::keys::decode::{KeyDecoder, TerminalInput};
use pilothouse::console::msg::Msg;
use pilothouse::console::state::setup::Setup;
use pilothouse::console::theme::{Colours, Theme, ThemeSet, UiSettings};
use pilothouse::model::{Snapshot, TaskStatus, TaskView};
use pilothouse::terminal::KeyPress;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::thread_time;
use crate::report::{self, Target, median};

const RUNS: usize = 9;
const MEGABYTE: usize = 1_000_000;
/// What one read of a terminal returns at most.
const READ: usize = 4_095;
const SIZE: (u16, u16) = (120, 40);
/// Where a paste goes: the name and the keys before it.
const PLACES: [(&str, &[&str]); 9] = [
    ("no line", &[]),
    ("a command", &["o"]),
    ("a filter", &["/"]),
    ("a search", &["Tab", "/"]),
    ("a search of all", &["\\"]),
    ("a name", &[","]),
    ("the palette", &[":"]),
    ("a dialog", &["s"]),
    ("a task", &["Enter"]),
];

pub(crate) fn run() {
    report::head("a paste of 5 MB, in reads of 4 KiB: multiples of its UTF-8 check, and milliseconds");
    let bytes = pasted(5 * MEGABYTE);
    let check = median_of(|| {
        thread_time(|| {
            let _ = black_box(std::str::from_utf8(black_box(&bytes)));
        })
    });
    let decode = |bytes: &[u8]| thread_time(|| drop(black_box(decoded(bytes))));
    let whole = median_of(|| decode(&bytes));
    report::line("decode", whole / check, "x", Target::AtMost(20.0));
    let fifth = pasted(MEGABYTE);
    let fifth = median_of(|| decode(&fifth));
    report::line("5 MB beside 1 MB, a byte", whole / fifth / 5.0, "x", Target::AtMost(3.0));
    for (place, keys) in PLACES {
        let taken = median_of(|| {
            let mut app = app(keys);
            thread_time(|| {
                for decoded in decoded(&bytes) {
                    if let TerminalInput::Paste(text) = decoded {
                        drop(app.update(Msg::Paste(text)));
                    }
                }
                frame(&app);
            })
        });
        report::line(&format!("into {place}"), taken * 1e3, "ms", Target::AtMost(200.0));
    }
    report::head("a line of 64 KiB: a key and its frame, beside the same in an empty line");
    let key = |length: usize| {
        let mut app = app(&["o"]);
        drop(app.update(Msg::Paste("words of a line ".repeat(length / 16))));
        median_of(|| {
            thread_time(|| {
                drop(app.update(Msg::Key(KeyPress::parse("Left").expect("a key"))));
                frame(&app);
            })
        })
    };
    report::line("a key", key(64 << 10) / key(0), "x", Target::AtMost(10.0));
}

fn median_of(mut work: impl FnMut() -> f64) -> f64 {
    median(&(0..RUNS).map(|_| work()).collect::<Vec<_>>())
}

fn pasted(length: usize) -> Vec<u8> {
    let line = "a line of the paste, as long as lines are\r";
    [b"\x1b[200~", line.repeat(length / line.len()).as_bytes(), b"\x1b[201~"].concat()
}

fn decoded(bytes: &[u8]) -> Vec<TerminalInput> {
    let mut decoder = KeyDecoder::default();
    bytes.chunks(READ).flat_map(|read| decoder.feed(Duration::ZERO, read)).collect()
}

fn app(keys: &[&str]) -> App {
    let setup = Setup {
        is_fleet: false,
        theme: Theme::built_in(Colours::Named, false),
        keymap: Keymap::built_in(),
        theme_set: ThemeSet { colours: Colours::Named, ..ThemeSet::default() },
        ui: UiSettings::default(),
        program: None,
        agents: Vec::new(),
        zone: jiff::tz::TimeZone::UTC,
        is_root: false,
        is_remote: true,
        can_detach: false,
        shows_run: false,
        recording: None,
    };
    let task = TaskView { status: TaskStatus::Running, ended: None, tty: true, ..super::envelope::task() };
    let snapshot = Snapshot { tasks: vec![Arc::new(task)], ..Snapshot::default() };
    let mut app = App::new(setup, Arc::new(snapshot), SIZE, jiff::Timestamp::UNIX_EPOCH);
    for key in keys {
        drop(app.update(Msg::Key(KeyPress::parse(key).expect("a key"))));
    }
    app
}

fn frame(app: &App) {
    let mut buffer = Buffer::empty(Rect::new(0, 0, SIZE.0, SIZE.1));
    let _ = black_box(draw::draw(app, &mut buffer));
}
