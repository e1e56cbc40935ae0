//! Copying from a pane, by keyboard and by mouse.

use pilothouse::console::app::App;
use pilothouse::console::msg::{Anchor, Effect, Msg, PageView};
use pilothouse::console::state::focus::Mode;
use pilothouse::console::state::picture::Picture;
use pilothouse::terminal::{ByteOrigin, LogHistory, MouseButton, MouseInput, MouseKind, Size};

use crate::console_fixture::{console, id, press, select, shown, snapshot};

fn opened() -> App {
    let mut app = console(snapshot(), (80, 24));
    select(&mut app, 7);
    app
}

fn yanked(effects: &[Effect]) -> Vec<String> {
    let text = |effect: &Effect| match effect {
        Effect::Yank { text, .. } => Some(text.clone()),
        _ => None,
    };
    effects.iter().filter_map(text).collect()
}

fn pane_rows(app: &App) -> Vec<String> {
    let top = usize::from(app.state.layout().panes[0].cells.y);
    shown(app).lines().skip(top).map(|row| row.trim_end().to_owned()).collect()
}

fn mouse(app: &mut App, kind: MouseKind, (col, row): (u16, u16)) -> Vec<Effect> {
    app.update(Msg::Mouse(MouseInput { kind, row, col, shift: false, alt: false, ctrl: false }))
}

#[test]
fn keys_select_and_copy_rows_and_go_back() {
    let mut app = opened();
    let before = pane_rows(&app);
    let effects = press(&mut app, &["v"]);
    assert!(effects.iter().any(|effect| matches!(effect, Effect::Page { anchor: Anchor::Tail, .. })));
    assert!(shown(&app).contains(" COPY "));
    assert_eq!(pane_rows(&app)[..8], before[..8], "the pane stands still");
    let text = yanked(&press(&mut app, &["g", "V", "j", "y"]));
    assert_eq!(text.len(), 1);
    assert_eq!(text[0].lines().next().map(str::trim_end), before.first().map(String::as_str));
    assert!(matches!(app.state.focus.mode, Mode::Observe));
}

#[test]
fn nothing_but_copying_happens_while_copying() {
    let mut app = opened();
    let _ = press(&mut app, &["v"]);
    assert!(press(&mut app, &["s", "q", "v"]).iter().all(|effect| matches!(effect, Effect::Page { .. })));
    assert!(app.layers.is_empty());
    let _ = press(&mut app, &["Esc"]);
    assert!(matches!(app.state.focus.mode, Mode::Observe));
}

#[test]
fn a_drag_copies_what_it_goes_over_and_gives_the_keys_back() {
    for enter in [false, true] {
        let mut app = opened();
        if enter {
            let _ = press(&mut app, &["Enter"]);
        }
        let cells = app.state.layout().panes[0].cells;
        let row = pane_rows(&app)[0].clone();
        let _ = mouse(&mut app, MouseKind::Press(MouseButton::Left), (cells.x, cells.y));
        let _ = mouse(&mut app, MouseKind::Drag(MouseButton::Left), (cells.x + 3, cells.y));
        let effects = mouse(&mut app, MouseKind::Release(MouseButton::Left), (cells.x + 3, cells.y));
        let expected: String = row.chars().take(4).collect();
        assert_eq!(yanked(&effects), [expected.trim_end()]);
        assert_eq!(matches!(app.state.focus.mode, Mode::Input(_)), enter);
    }
}

#[test]
fn a_click_copies_nothing() {
    let mut app = opened();
    let cells = app.state.layout().panes[0].cells;
    let _ = mouse(&mut app, MouseKind::Press(MouseButton::Left), (cells.x, cells.y));
    let effects = mouse(&mut app, MouseKind::Release(MouseButton::Left), (cells.x, cells.y));
    assert_eq!(yanked(&effects), Vec::<String>::new());
}

#[test]
fn the_output_of_the_last_command_is_copied_and_the_copy_is_confirmed() {
    let mut app = opened();
    assert!(press(&mut app, &["Y"]).iter().any(|effect| matches!(effect, Effect::LastOutput(_))));
    let effects = app.update(Msg::LastOutput("one\ntwo\n".into(), true));
    assert_eq!(yanked(&effects), ["one\ntwo"]);
    let _ = app.update(Msg::Copied("2 lines of the last command".into(), vec!["OSC 52", "tmux"]));
    assert!(shown(&app).contains("copied 2 lines of the last command (OSC 52, tmux)"), "{}", shown(&app));
}

#[test]
fn while_copying_the_cursor_goes_to_the_prompt_that_was_found() {
    let mut app = opened();
    let _ = press(&mut app, &["v"]);
    let log: String = (0..60).map(|line| format!("line {line}\r\n")).collect();
    let size = Size::nearest(80, 250);
    let page = LogHistory::new(log.as_bytes(), &[], ByteOrigin::Tty, size).page(0, size).expect("a page");
    let rows = page.rows.iter().map(|row| row.line).collect();
    let picture = Picture::of_page(&page);
    let view = PageView {
        anchor: Anchor::Tail,
        picture,
        rows,
        times: Vec::new(),
        first_line: 0,
        next_line: 60,
        lines: 60,
    };
    let _ = app.update(Msg::Page(id(7), view));
    let effects = press(&mut app, &["{"]);
    let [Effect::Prompt { task, from: Some(58), forward: false }] = &effects[..] else {
        panic!("{effects:?}")
    };
    let found = |line| Msg::Prompt { task: task.clone(), line, forward: false };
    let _ = app.update(found(Some(31)));
    let at = |app: &App| app.state.copying().map(|copying| copying.at);
    assert_eq!(at(&app), Some((31, 0)));
    let text = yanked(&press(&mut app.clone(), &["y"]));
    assert_eq!(text, ["line 31"]);
    let _ = app.update(found(None));
    assert_eq!(at(&app), Some((31, 0)), "what is not there is said, and nothing moves");
}

#[test]
fn a_prompt_beyond_what_is_copied_from_is_read_on_to() {
    let mut app = opened();
    let _ = press(&mut app, &["v"]);
    let found = || Msg::Prompt { task: id(7), line: Some(40), forward: false };
    let mut selecting = app.clone();
    let _ = press(&mut selecting, &["v"]);
    assert!(selecting.update(found()).is_empty(), "what is selected is kept");
    assert!(shown(&selecting).contains("further away than can be selected"), "{}", shown(&selecting));
    let effects = app.update(found());
    let [Effect::Page { task, anchor: Anchor::Top(40), size }] = &effects[..] else { panic!("{effects:?}") };
    assert_eq!((task.clone(), size.rows()), (id(7), 250));
    let log: String = (0..60).map(|line| format!("line {line}\r\n")).collect();
    let page = LogHistory::new(log.as_bytes(), &[], ByteOrigin::Tty, *size).page(30, *size).expect("a page");
    let rows: Vec<u64> = page.rows.iter().map(|row| row.line).collect();
    let picture = Picture::of_page(&page);
    let view = PageView {
        anchor: Anchor::Top(40),
        picture,
        rows,
        times: Vec::new(),
        first_line: 30,
        next_line: 60,
        lines: 60,
    };
    let _ = app.update(Msg::Page(id(7), view));
    assert_eq!(yanked(&press(&mut app, &["y"])), ["line 40"]);
}
