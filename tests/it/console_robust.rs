//! The console survives anything: any size from 1x1, any messages in any order.

use std::sync::Arc;

use jiff::SignedDuration;
use proptest::prelude::*;

use pilothouse::console::app::App;
use pilothouse::console::keys::action::Action;
use pilothouse::console::msg::{Effect, Msg, PageView};
use pilothouse::console::state::picture::Picture;
use pilothouse::model::Snapshot;
use pilothouse::terminal::{
    ByteOrigin, Contents, KeyPress, MouseButton, MouseInput, MouseKind, Size, Terminal,
};

use crate::console_fixture::{answer, console, draw, empty, ended, id, now, record, shown, snapshot, task};

const KEYS: &[&str] = &[
    "Enter",
    "C-]",
    "Esc",
    "Tab",
    "BackTab",
    "Up",
    "Down",
    "PageUp",
    "PageDown",
    "Home",
    "End",
    "Left",
    "Right",
    "C-j",
    "C-c",
    "Backspace",
    "Delete",
    "C-u",
    "C-w",
    "1",
    "2",
    "3",
    "4",
    "j",
    "k",
    "g",
    "G",
    "i",
    "o",
    "s",
    "S",
    "x",
    "r",
    "u",
    "F",
    "z",
    "y",
    "m",
    "b",
    "D",
    "q",
    "?",
    "H",
    "L",
    "[",
    "]",
    "p",
    "a",
    "/",
    "n",
    "N",
    "é",
    "好",
    "5",
    "c",
    "y",
    "d",
    "Space",
];

#[derive(Debug, Clone)]
enum Step {
    Key(usize),
    Mouse(u8, u16, u16),
    Paste(String),
    Size(u16, u16),
    Tick(u16),
    Snapshot(u8),
    Picture(u8, u16, u16, String),
    Page(u64, u64),
    Found(Option<u64>),
    Answer(bool),
    Record,
    Fail(String),
    Lost,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        12 => (0..KEYS.len()).prop_map(Step::Key),
        3 => (0u8..6, 0u16..300, 0u16..100).prop_map(|(kind, x, y)| Step::Mouse(kind, x, y)),
        1 => ".{0,40}".prop_map(Step::Paste),
        3 => (1u16..=300, 1u16..=100).prop_map(|(columns, rows)| Step::Size(columns, rows)),
        1 => any::<u16>().prop_map(Step::Tick),
        3 => (0u8..9).prop_map(Step::Snapshot),
        2 => (1u8..12, 2u16..200, 2u16..80, "(\\PC|\\n|\u{1b}\\[[0-9;]{0,5}[A-Za-z]){0,60}")
            .prop_map(|(task, columns, rows, text)| Step::Picture(task, columns, rows, text)),
        1 => (any::<u64>(), any::<u64>()).prop_map(|(first, lines)| Step::Page(first, lines)),
        1 => any::<Option<u64>>().prop_map(Step::Found),
        1 => any::<bool>().prop_map(Step::Answer),
        1 => Just(Step::Record),
        1 => ".{0,300}".prop_map(Step::Fail),
        1 => Just(Step::Lost),
    ]
}

fn state(number: u8) -> Snapshot {
    let base = snapshot();
    match number {
        0 => empty(),
        1 => base,
        2 => Snapshot { tasks: base.tasks[..2].to_vec(), ..base },
        3 => Snapshot { calls: Vec::new(), ..base },
        4 => {
            let all = base.tasks.iter().map(|task| ended(task.as_ref().clone(), task.status, Some(0), 1));
            Snapshot { tasks: all.map(Arc::new).collect(), ..base }
        }
        6..=8 => crate::console_program::asking(number - 6),
        _ => {
            let long = "x\u{202e}\n".repeat(80);
            let many = (1..90).map(|number| Arc::new(task(number, &long, i64::from(number) * 37, 1)));
            Snapshot { tasks: many.collect(), ..base }
        }
    }
}

fn picture(columns: u16, rows: u16, text: &str) -> Picture {
    let mut terminal = Terminal::new(Size::nearest(columns, rows), ByteOrigin::Pipe);
    let _ = terminal.feed(text.as_bytes());
    let mut picture = Picture::default();
    picture.take(&Contents::of(&terminal), 2);
    picture
}

fn message(step: &Step, app: &App, asked: &[Effect]) -> Msg {
    match step {
        Step::Key(at) => Msg::Key(KeyPress::parse(KEYS[*at]).expect("a key")),
        Step::Mouse(kind, col, row) => {
            let left = MouseButton::Left;
            let kinds = [
                MouseKind::Press(left),
                MouseKind::Release(left),
                MouseKind::Drag(left),
                MouseKind::Move,
                MouseKind::ScrollUp,
                MouseKind::ScrollDown,
            ];
            let kind = kinds[usize::from(*kind)];
            Msg::Mouse(MouseInput { kind, row: *row, col: *col, shift: false, alt: false, ctrl: false })
        }
        Step::Paste(text) => Msg::Paste(text.clone()),
        Step::Size(columns, rows) => Msg::Resize(*columns, *rows),
        Step::Tick(seconds) => Msg::Tick(now() + SignedDuration::from_secs(i64::from(*seconds))),
        Step::Snapshot(number) => Msg::Snapshot(Arc::new(state(*number))),
        Step::Picture(task, columns, rows, text) => {
            Msg::Picture(id(u32::from(*task)), picture(*columns, *rows, text))
        }
        Step::Page(first, lines) => page(*first, *lines, app, asked),
        Step::Found(line) => {
            let asked = asked.iter().rev().find_map(|effect| match effect {
                Effect::Search(task, query) => Some((task.clone(), query.clone())),
                _ => None,
            });
            asked.map_or(Msg::Tick(app.state.clock.now), |(task, query)| Msg::Found(task, query, *line, None))
        }
        Step::Answer(is_error) => answer(400, &"x".repeat(300), *is_error, &id(3)),
        Step::Record => Msg::Record(Arc::new(record())),
        Step::Fail(text) => Msg::Failed(text.clone()),
        Step::Lost => Msg::LinkLost,
    }
}

/// Answers the last page requested, with arbitrary numbers.
fn page(first_line: u64, lines: u64, app: &App, asked: &[Effect]) -> Msg {
    let wanted = asked.iter().rev().find_map(|effect| match effect {
        Effect::Page { task, anchor, .. } => Some((task.clone(), *anchor)),
        _ => None,
    });
    let Some((task, anchor)) = wanted else { return Msg::Tick(app.state.clock.now) };
    let picture = picture(90, 30, "one\ntwo\nthree");
    let next_line = first_line.saturating_add(3);
    let rows = (first_line..next_line).collect();
    Msg::Page(task, PageView { anchor, picture, rows, times: Vec::new(), first_line, next_line, lines })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn no_size_and_no_message_makes_the_console_panic_or_draw_a_control_character(
        size in (1u16..=300, 1u16..=100),
        steps in prop::collection::vec(step(), 1..40),
    ) {
        let mut app = console(snapshot(), size);
        let mut asked = Vec::new();
        for step in &steps {
            let msg = message(step, &app, &asked);
            asked.extend(app.update(msg));
            let (buffer, drawn) = draw(&app);
            for cell in &buffer.content {
                prop_assert!(!cell.symbol().chars().any(char::is_control), "{:?}", cell.symbol());
            }
            if let Some((at, _)) = drawn.cursor {
                prop_assert!(at.x < app.state.outer.size.0 && at.y < app.state.outer.size.1, "cursor at {at} of {:?}", app.state.outer.size);
            }
        }
    }
}

#[test]
fn f29_every_size_from_1x1_draws() {
    let columns = (1..=130).step_by(13).chain([150, 200, 300]);
    let rows = [1, 2, 3, 5, 8, 11, 15, 20, 24, 30, 41, 60, 100];
    for (columns, rows) in columns.flat_map(|columns| rows.map(|rows| (columns, rows))) {
        let app = console(snapshot(), (columns, rows));
        let text = shown(&app);
        assert_eq!(text.lines().count(), usize::from(rows), "{columns}x{rows}");
    }
}

#[test]
fn every_action_says_what_it_does() {
    for action in Action::ALL {
        assert!(!action.hint().is_empty() && !action.about().is_empty(), "{action:?}");
        assert!(action.about().chars().count() <= 36, "{action:?}: {}", action.about());
    }
}
