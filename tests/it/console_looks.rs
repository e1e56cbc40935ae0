//! Every screen and every overlay, at each size and in each look: the same text in any colours, nothing lost
//! without colour, nothing but ASCII in ASCII. Snapshots here are of overlays; screens have their own tests.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;

use pilothouse::console::app::App;
use pilothouse::console::app::layer::Layer;
use pilothouse::console::msg::Msg;
use pilothouse::console::state::focus::Mode;
use pilothouse::console::widgets::chooser::ListKind;
use pilothouse::model::{InputEvidence, InputNeed, InputWait};
use pilothouse::terminal::KeyPress;
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::{Position, Rect};
use ratatui::style::{Color, Modifier};

use crate::console_fixture::{SIZES, ago, console, draw, press, record, select, snapshot};
use crate::console_held::{call, looked_at, ruled};
use crate::console_program::{asking, choice, command, gate, in_dialog, in_flight, text, yes_no};

pub(crate) type Size = (u16, u16);
/// A name, and how to get the console there.
pub(crate) type Scene = (&'static str, fn(Size) -> App);

/// The sizes at which the looks are compared, and the looks.
const COMPARED: [Size; 3] = [(80, 24), (120, 40), (200, 60)];
const LOOKS: [&str; 3] = ["default", "light", "mono"];

fn write(app: &mut App, text: &str) {
    for c in text.chars() {
        let name = if c == ' ' { "Space".to_owned() } else { c.to_string() };
        let _ = app.update(Msg::Key(KeyPress::parse(&name).expect("a key")));
    }
}

fn pressed(number: u32, keys: &[&str], size: Size) -> App {
    let mut app = console(snapshot(), size);
    select(&mut app, number);
    let _ = press(&mut app, keys);
    app
}

fn named(name: &str, size: Size) -> App {
    let mut app = pressed(7, &[":"], size);
    write(&mut app, name);
    let _ = press(&mut app, &["Enter"]);
    app
}

fn secret(size: Size) -> App {
    let mut state = snapshot();
    for task in state.tasks.iter_mut().filter(|task| task.number == 7) {
        let waiting = InputWait {
            kind: InputNeed::Secret,
            evidence: InputEvidence::EchoOff,
            since: ago(5),
            program: None,
            question: None,
        };
        Arc::make_mut(task).waiting = Some(waiting);
    }
    let mut app = console(state, size);
    select(&mut app, 7);
    let _ = press(&mut app, &["i"]);
    write(&mut app, "hunter2");
    app
}

fn pasted(size: Size) -> App {
    let mut app = pressed(7, &["Enter"], size);
    let _ = app.update(Msg::Paste("first line\nsecond line\nthird\n".into()));
    app
}

fn receipts(size: Size) -> App {
    let mut app = pressed(7, &["3", "g", "j", "j", "j"], size);
    let _ = app.update(Msg::Record(Arc::new(record())));
    app
}

fn programs(size: Size) -> App {
    let mut app = console(asking(0), size);
    let _ = press(&mut app, &["5"]);
    app
}

const SCREENS: [Scene; 5] = [
    ("tasks", |size| pressed(7, &[], size)),
    ("focus", |size| pressed(6, &["2"], size)),
    ("receipts", receipts),
    ("metrics", |size| pressed(7, &["4"], size)),
    ("program", programs),
];

/// Everything that covers part of a screen, or takes its keys.
const OVER: [Scene; 33] = [
    ("stop", |size| pressed(6, &["s"], size)),
    ("kill", |size| pressed(8, &["S"], size)),
    ("signal", |size| pressed(6, &["x"], size)),
    ("quit", |size| pressed(6, &["q"], size)),
    ("why", |size| pressed(7, &["w"], size)),
    ("paste", pasted),
    ("help", |size| pressed(7, &["?"], size)),
    ("palette", |size| pressed(7, &[":"], size)),
    ("themes", |size| named("themes", size)),
    ("messages", |size| {
        let mut app = pressed(7, &["c", ":"], size);
        write(&mut app, "messages");
        let _ = press(&mut app, &["Enter"]);
        app
    }),
    ("held", |size| looked_at(vec![call(7, &["git push origin main"], ruled())], size)),
    ("held_batch", |size| looked_at(vec![call(8, &["make", "make install"], ruled())], size)),
    ("attention", |size| {
        let mut app = console(asking(0), size);
        let _ = press(&mut app, &["a"]);
        app
    }),
    ("gate", |size| in_dialog(gate(), size)),
    ("yes_no", |size| in_dialog(yes_no(), size)),
    ("choice", |size| in_dialog(choice(), size)),
    ("text", |size| in_dialog(text(false), size)),
    ("text_masked", |size| in_dialog(text(true), size)),
    ("in_flight", |size| in_dialog(in_flight(), size)),
    ("command", |size| in_dialog(command(), size)),
    ("line", |size| {
        let mut app = pressed(7, &["i"], size);
        write(&mut app, "demo-cli");
        app
    }),
    ("line_masked", secret),
    ("rename", |size| pressed(7, &[","], size)),
    ("start", |size| pressed(7, &["o"], size)),
    ("search", |size| {
        let mut app = pressed(7, &["C-s"], size);
        write(&mut app, "npm");
        app
    }),
    ("copy", |size| pressed(7, &["v", "k", "k", "v", "j"], size)),
    ("input", |size| pressed(7, &["Enter"], size)),
    ("restart", |size| pressed(6, &["r"], size)),
    ("tell", |size| pressed(6, &["!", "u", "s", "e", "Space", "u", "v"], size)),
    ("layouts", |size| pressed(7, &["V"], size)),
    ("filters", |size| pressed(7, &["f"], size)),
    ("exports", |size| pressed(7, &["e"], size)),
    ("watch", |size| pressed(7, &["W", "3", "0", "Space", "s"], size)),
];

/// Their snapshots at each size are in the tests of what they do.
const ELSEWHERE: [&str; 7] = ["help", "palette", "themes", "held", "attention", "gate", "yes_no"];

pub(crate) fn all() -> impl Iterator<Item = Scene> {
    SCREENS.into_iter().chain(OVER)
}

fn dressed(mut app: App, look: &str) -> App {
    app.state.setup.theme = app.state.setup.theme_set.theme(look);
    app
}

fn in_ascii(mut app: App) -> App {
    app.state.setup.theme_set.ascii = true;
    app.state.setup.theme = app.state.setup.theme_set.theme("default");
    app.state.setup.keymap.spell_out(true);
    // Help has spelled its keys already.
    let is_help =
        |layer: &Layer| matches!(layer, Layer::List(list) if matches!(list.kind, ListKind::Help(_)));
    if app.layers.last().is_some_and(is_help) {
        let _ = press(&mut app, &["F1", "F1"]);
    }
    app
}

fn symbols(buffer: &Buffer) -> Vec<&str> {
    buffer.content.iter().map(Cell::symbol).collect()
}

/// The smallest rectangle around the cells that differ from the screen below, ignoring the last two rows (notice
/// and status).
fn over(app: &App) -> (Buffer, Rect) {
    let (shown, _) = draw(app);
    let mut below = app.clone();
    below.layers.clear();
    below.state.focus.mode = Mode::Observe;
    let (below, _) = draw(&below);
    let lasts = shown.area.height.saturating_sub(2);
    let differs = |at: &Position| at.y < lasts && shown[*at].symbol() != below[*at].symbol();
    let mut places = shown.area.positions().filter(differs).peekable();
    let Some(first) = places.peek().copied() else {
        return (shown, Rect::ZERO);
    };
    let (mut left, mut right, mut bottom) = (first.x, first.x, first.y);
    for at in places {
        (left, right, bottom) = (left.min(at.x), right.max(at.x), bottom.max(at.y));
    }
    let area = Rect { x: left, y: first.y, width: right - left + 1, height: bottom - first.y + 1 };
    (shown, area)
}

fn picture((buffer, area): &(Buffer, Rect)) -> String {
    let row = |y| {
        let cells: String = (area.left()..area.right()).map(|x| buffer[(x, y)].symbol()).collect();
        format!("{}\n", cells.trim_end())
    };
    (area.top()..area.bottom()).map(row).collect()
}

/// What covers the screen, and where, and the two rows at the bottom.
fn with_lasts(app: &App) -> String {
    let (buffer, area) = over(app);
    let lasts = Rect { y: buffer.area.height.saturating_sub(2), height: 2, ..buffer.area };
    let place = if area.is_empty() { String::new() } else { format!(" at {},{}", area.x, area.y) };
    let shown = (buffer, area);
    let over = picture(&shown);
    format!("{place}\n{over}{}\n", picture(&(shown.0, lasts)))
}

/// The style of each cell as a letter, and what the letters mean. A dot is the terminal's own style.
fn styles((buffer, area): &(Buffer, Rect)) -> String {
    let mut known: Vec<(Color, Color, Modifier)> = Vec::new();
    let mut out = String::new();
    for y in area.top()..area.bottom() {
        let letter = |x| {
            let cell = &buffer[(x, y)];
            let style = (cell.fg, cell.bg, cell.modifier);
            if style == (Color::Reset, Color::Reset, Modifier::empty()) {
                return '.';
            }
            let at = known.iter().position(|other| *other == style).unwrap_or_else(|| {
                known.push(style);
                known.len() - 1
            });
            char::from(b'a' + u8::try_from(at).expect("few styles"))
        };
        let row: String = (area.left()..area.right()).map(letter).collect();
        let _ = writeln!(out, "{}", row.trim_end_matches('.'));
    }
    for (letter, (fg, bg, modifier)) in ('a'..).zip(known) {
        let _ = writeln!(out, "{letter}: {fg:?} on {bg:?} {modifier:?}");
    }
    out
}

#[test]
fn colours_change_no_text_and_mono_has_none() {
    for (name, scene) in all() {
        for size in COMPARED {
            let app = scene(size);
            let panes: Vec<Rect> = app.state.layout().panes.iter().map(|pane| pane.cells).collect();
            let (plain, _) = draw(&dressed(app.clone(), "default"));
            for look in LOOKS {
                let (buffer, _) = draw(&dressed(app.clone(), look));
                assert_eq!(symbols(&buffer), symbols(&plain), "{name} at {size:?} in {look}");
                let foreign = |at: &_| app.layers.is_empty() && panes.iter().any(|pane| pane.contains(*at));
                let is_coloured = |at: &_| {
                    // Panes keep the colours of their programs.
                    let cell: &Cell = &buffer[*at];
                    (cell.fg, cell.bg) != (Color::Reset, Color::Reset)
                };
                let coloured = buffer.area.positions().filter(|at| !foreign(at)).filter(is_coloured).count();
                let below: usize =
                    panes.iter().map(|pane| usize::from(pane.width) * usize::from(pane.height)).sum();
                match look {
                    "mono" if app.layers.is_empty() => assert_eq!(coloured, 0, "{name} at {size:?}"),
                    "mono" => assert!(coloured <= below, "{name} at {size:?}: only panes have colours"),
                    _ => assert!(coloured > 0, "{name} at {size:?} in {look}"),
                }
            }
        }
    }
}

#[test]
fn every_screen_in_ascii_draws_only_ascii_characters() {
    for (name, scene) in all() {
        for size in COMPARED {
            let app = in_ascii(scene(size));
            let (buffer, _) = draw(&app);
            // A line break in foreign text has the same symbol in every look.
            let is_other = |symbol: &&str| !symbol.is_ascii() && *symbol != "⏎";
            let other: BTreeSet<&str> = symbols(&buffer).into_iter().filter(is_other).collect();
            assert!(other.is_empty(), "{name} at {size:?}: {other:?}");
        }
    }
}

#[test]
fn without_colour_selection_states_and_modes_are_told_apart() {
    for ascii in [false, true] {
        let reload = |app: App| dressed(if ascii { in_ascii(app) } else { app }, "mono");
        let app = reload(pressed(7, &[], (80, 24)));
        let (buffer, _) = draw(&app);
        let list = app.state.layout().list_body();
        let rows: Vec<String> = (list.top()..list.bottom())
            .map(|y| picture(&(buffer.clone(), Rect { y, height: 1, ..list })))
            .collect();
        let is_marked = |row: &&String| row.starts_with(if ascii { " >" } else { " ▸" });
        assert_eq!(rows.iter().filter(is_marked).count(), 1, "{rows:?}");
        let style = |row: usize| buffer[(list.x + 4, list.y + u16::try_from(row).expect("a row"))].modifier;
        let at = rows.iter().position(|row| is_marked(&row)).expect("the selected row");
        let others = (0..rows.len()).filter(|row| *row != at).map(style);
        assert!(
            others.into_iter().all(|other| other != style(at)),
            "the selected row looks different as well"
        );

        // In a list tall enough for all of them, no two states read the same.
        let app = reload(pressed(7, &[], (200, 60)));
        let (buffer, _) = draw(&app);
        let list = app.state.layout().list;
        let text = picture(&(buffer, list));
        for word in
            ["waiting", "running", "cancelling", "queued", "exit 0", "exit 101", "cancelled", "interrupted"]
        {
            assert!(text.contains(word), "{word}\n{text}");
        }

        let mut words = BTreeSet::new();
        for keys in [&[][..], &["Enter"], &["i"], &["v"], &["/"], &["o"], &[","]] {
            let app = reload(pressed(7, keys, (80, 24)));
            let (buffer, _) = draw(&app);
            let status = app.state.layout().status;
            let word: String = (0..14)
                .map(|x| &buffer[(x, status.y)])
                .take_while(|cell| cell.modifier.contains(Modifier::REVERSED))
                .map(Cell::symbol)
                .collect();
            assert!(
                !word.trim().is_empty() && words.insert(word.trim().to_owned()),
                "{keys:?} {word:?} {words:?}"
            );
        }
    }
}

#[test]
fn overlays_match_their_snapshots_at_each_size() {
    // Lists of all actions change with every new action: each has one snapshot, in the tests of what it does.
    for (name, scene) in OVER.into_iter().filter(|(name, _)| !matches!(*name, "palette" | "help")) {
        let mut out = String::new();
        for size @ (columns, rows) in SIZES.into_iter().filter(|_| !ELSEWHERE.contains(&name)) {
            let _ = write!(out, "{columns}x{rows}{}", with_lasts(&scene(size)));
        }
        let _ = write!(out, "80x24 in ASCII{}", with_lasts(&in_ascii(scene((80, 24)))));
        insta::assert_snapshot!(format!("over_{name}"), out);
    }
}

#[test]
fn screens_in_ascii_match_their_snapshots() {
    for (name, scene) in SCREENS {
        let app = in_ascii(scene((80, 24)));
        let (buffer, _) = draw(&app);
        let area = buffer.area;
        insta::assert_snapshot!(format!("ascii_{name}"), picture(&(buffer, area)));
    }
}

#[test]
fn a_very_small_screen_still_shows_its_essentials() {
    let mut out = String::new();
    for size @ (columns, rows) in [(59, 14), (39, 7)] {
        for ascii in [false, true] {
            let app = pressed(7, &[], size);
            let app = if ascii { in_ascii(app) } else { app };
            let (buffer, _) = draw(&app);
            let area = buffer.area;
            let look = if ascii { " in ASCII" } else { "" };
            let _ = write!(out, "{columns}x{rows}{look}\n{}\n", picture(&(buffer, area)));
        }
    }
    insta::assert_snapshot!("little_room", out);
    for (name, scene) in OVER {
        // A dialog that does not fit is not shown, or shows at least how to leave it.
        let app = scene((39, 7));
        let _ = draw(&app);
        assert!(
            !matches!(app.layers.last(), Some(Layer::Approval(_))),
            "{name}: nobody can read what they would answer"
        );
    }
}

#[test]
fn the_styles_of_the_main_parts_match_their_snapshots() {
    for (name, scene) in
        [("tasks", SCREENS[0].1), ("stop", OVER[0].1), ("themes", OVER[8].1), ("copy", OVER[25].1)]
    {
        let mut out = String::new();
        for look in LOOKS {
            let app = dressed(scene((80, 24)), look);
            let (buffer, _) = draw(&app);
            let area = match name {
                "tasks" => app.state.layout().list,
                "copy" => app.state.layout().panes[0].cells,
                _ => over(&app).1,
            };
            let _ = write!(out, "{look}\n{}\n", styles(&(buffer, area)));
        }
        insta::assert_snapshot!(format!("styles_{name}"), out);
    }
}
