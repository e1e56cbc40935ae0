//! What the console tells programs of the terminal around it.

use pilothouse::console::app::App;
use pilothouse::console::msg::{Effect, Msg};
use pilothouse::console::state::focus::Mode;
use pilothouse::link::{Act, Request};
use pilothouse::model::TypedInput;
use pilothouse::terminal::host_terminal::DefaultColours;
use pilothouse::terminal::{KeyPress, MouseInput, MouseKind, Size};

use crate::console_fixture::{console, id, now, picture, press, select, snapshot};

/// Returns the reports that were sent, as text.
fn reports(effects: &[Effect]) -> Vec<String> {
    let report = |effect: &Effect| match effect {
        Effect::Ask(Request { act: Act::Send(TypedInput::Report(bytes)), .. }) => {
            String::from_utf8(bytes.clone()).ok()
        }
        _ => None,
    };
    effects.iter().filter_map(report).collect()
}

fn hovers(effects: &[Effect]) -> Option<bool> {
    effects.iter().find_map(|effect| match effect {
        Effect::Hover(on) => Some(*on),
        _ => None,
    })
}

/// A console on the task of a program that has written this.
fn on_program(written: &str) -> App {
    let mut app = console(snapshot(), (120, 40));
    select(&mut app, 6);
    let _ = app.update(Msg::Picture(id(6), picture(Size::nearest(80, 24), written)));
    app
}

/// Types into the task from now on, key by key.
fn enter(app: &mut App) -> Vec<Effect> {
    app.state.focus.mode = Mode::Input(id(6));
    app.update(Msg::Tick(now()))
}

#[test]
fn a_program_is_told_when_its_pane_gets_and_loses_the_focus() {
    let mut app = on_program("\x1b[?1004h");
    assert_eq!(reports(&app.update(Msg::Focus(true))), [""; 0], "nobody types into it");
    assert_eq!(reports(&enter(&mut app)), ["\x1b[I"]);
    assert_eq!(reports(&press(&mut app, &["x"])), [""; 0], "once");
    assert_eq!(reports(&app.update(Msg::Focus(false))), ["\x1b[O"]);
    assert_eq!(reports(&app.update(Msg::Focus(true))), ["\x1b[I"]);
    let off = Msg::Picture(id(6), picture(Size::nearest(80, 24), ""));
    assert_eq!(reports(&app.update(off)), [""; 0], "it does not want to know any more");
    let on = Msg::Picture(id(6), picture(Size::nearest(80, 24), "\x1b[?1004h"));
    assert_eq!(reports(&app.update(on)), ["\x1b[I"]);
    assert_eq!(reports(&press(&mut app, &["C-]"])), ["\x1b[O"]);
}

#[test]
fn the_mouse_is_followed_for_a_program_that_wants_it_and_is_typed_into() {
    let mut app = on_program("\x1b[?1003h\x1b[?1006h");
    let moved = |app: &mut App| {
        let (row, col) = (20, 60);
        app.update(Msg::Mouse(MouseInput {
            kind: MouseKind::Move,
            row,
            col,
            shift: false,
            alt: false,
            ctrl: false,
        }))
    };
    assert_eq!(reports(&moved(&mut app)), [""; 0]);
    assert_eq!(hovers(&enter(&mut app)), Some(true));
    let told = reports(&moved(&mut app));
    assert!(matches!(&told[..], [one] if one.starts_with("\x1b[<35;")), "{told:?}");
    assert_eq!(hovers(&press(&mut app, &["C-]"])), Some(false));
    let mut still = on_program("\x1b[?1002h\x1b[?1006h");
    assert_eq!(hovers(&enter(&mut still)), None, "it only wants to know of dragging");
}

#[test]
fn the_colours_of_the_terminal_go_with_what_is_shown() {
    let mut app = on_program("");
    let colours = Some(DefaultColours { foreground: (0, 0, 0), background: (255, 255, 255) });
    let effects = app.update(Msg::Colours(colours));
    let shown = effects.iter().find_map(|effect| match effect {
        Effect::Show(shown) => Some(shown),
        _ => None,
    });
    assert_eq!(shown.expect("told").colours, colours);
}

#[test]
fn keys_that_most_terminals_cannot_tell_apart_mean_the_same_to_the_console() {
    let mut app = on_program("");
    let _ = press(&mut app, &["o", "x"]);
    let effects = press(&mut app, &["C-Enter"]);
    assert!(
        effects.iter().any(|effect| matches!(
            effect,
            Effect::Ask(Request { act: Act::Call { .. }, .. }) | Effect::AskAt(..)
        )),
        "{effects:?}"
    );
    let _ = press(&mut app, &["?", "C-["]);
    assert!(app.layers.is_empty());
    let _ = enter(&mut app);
    let sent = press(&mut app, &["C-Enter"]);
    let key = KeyPress::parse("C-Enter").expect("a key");
    let is_it = |effect: &Effect| matches!(effect, Effect::Ask(Request { act: Act::Send(TypedInput::Keys(keys)), .. }) if keys == &[key]);
    assert!(sent.iter().any(is_it), "a program gets the key itself: {sent:?}");
}
