//! The answer to a key: the part of a frame that is drawn before all the rest.

use pilothouse::console::app::{App, draw as frames};
use pilothouse::console::msg::Msg;
use pilothouse::console::state::focus::Mode;
use pilothouse::terminal::{ByteOrigin, Contents, Size, Terminal};
use proptest::prelude::*;

use crate::console_fixture::{console, draw, id, now, press, select, snapshot};

/// A console in which keys go to task 6, whose terminal is this one.
fn typing(size: (u16, u16), is_full: bool, terminal: &Terminal) -> App {
    let mut app = console(snapshot(), size);
    select(&mut app, 6);
    if is_full {
        let _ = press(&mut app, &["2"]);
    }
    app.state.focus.mode = Mode::Input(id(6));
    take(&mut app, terminal, 1);
    let _ = app.update(Msg::Tick(now()));
    app
}

fn take(app: &mut App, terminal: &Terminal, generation: u64) -> std::ops::Range<u16> {
    app.state.view.pictures.entry(id(6)).or_default().take(&Contents::of(terminal), generation)
}

fn written() -> impl Strategy<Value = String> {
    let parts = prop_oneof![
        "[a-z ]{0,12}",
        Just("\r\n".to_owned()),
        Just("漢字".to_owned()),
        Just("\x1b[31m\x1b[44m".to_owned()),
        Just("\x1b[0m".to_owned()),
        Just("\x1b[2J".to_owned()),
        Just("\x1b[K".to_owned()),
        Just("\x1b[?25l".to_owned()),
        Just("\x1b[?1049h".to_owned()),
        (1..40_u16, 1..120_u16).prop_map(|(row, column)| format!("\x1b[{row};{column}H")),
    ];
    prop::collection::vec(parts, 0..12).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn a_fast_answer_to_a_key_draws_the_pane_as_a_whole_frame_would(
        size in prop_oneof![Just((80, 24)), Just((120, 40)), Just((200, 60))],
        is_full: bool,
        (columns, rows) in (20..140_u16, 5..50_u16),
        (before, after) in (written(), written()),
        resized in prop::option::of((20..140_u16, 5..50_u16)),
    ) {
        let mut terminal = Terminal::new(Size::nearest(columns, rows), ByteOrigin::Tty);
        let _ = terminal.feed(format!("$ {before}").as_bytes());
        let mut app = typing(size, is_full, &terminal);
        let (mut frame, extras) = draw(&app);
        let typed = extras.typed.expect("nothing lies over the pane");
        if let Some((columns, rows)) = resized {
            terminal.resize(Size::nearest(columns, rows));
        }
        let _ = terminal.feed(after.as_bytes());
        let changed = take(&mut app, &terminal, 2);
        let place = typed.rows(&changed);
        let answer = frames::draw_answer(&app, &mut frame, &typed, &changed);
        let (whole, extras) = draw(&app);
        let is_same_part = extras.typed.as_ref() == Some(&typed);
        prop_assert_eq!(answer.is_some(), is_same_part, "it is drawn where the same part of the screen is shown");
        if let Some(answer) = answer {
            prop_assert_eq!(answer.cursor, extras.cursor);
            for at in place.positions() {
                prop_assert_eq!(&frame[at], &whole[at], "at {:?}", at);
            }
            // The rest of the screen has not changed.
            let pane = typed.rows(&(0..u16::MAX));
            for at in pane.positions() {
                prop_assert_eq!(&frame[at], &whole[at], "at {:?}", at);
            }
        }
    }
}

#[test]
fn a_pane_that_something_covers_gets_whole_frames() {
    let mut terminal = Terminal::new(Size::default(), ByteOrigin::Tty);
    let _ = terminal.feed(b"$ ");
    let mut app = typing((120, 40), false, &terminal);
    assert!(draw(&app).1.typed.is_some());
    app.state.toasts.fail("something went wrong".to_owned(), None);
    assert!(draw(&app).1.typed.is_none(), "a message");
    let mut app = typing((120, 40), false, &terminal);
    let _ = press(&mut app, &["C-]", ":"]);
    assert!(draw(&app).1.typed.is_none(), "the palette");
    let app = console(snapshot(), (120, 40));
    assert!(draw(&app).1.typed.is_none(), "keys go to the console");
}
