//! Keys: what does nothing says so, help is found by typing, and what is typed into looks like another place.

use std::collections::BTreeSet;
use std::sync::Arc;

use pilothouse::console::app::App;
use pilothouse::console::app::layer::Layer;
use pilothouse::console::keys::KeyContext;
use pilothouse::console::msg::Msg;
use pilothouse::console::state::stand;
use pilothouse::console::theme::Role;
use pilothouse::console::widgets::{Chooser, ListKind};
use pilothouse::envelope::Actor;
use pilothouse::model::{Snapshot, TaskView};
use pilothouse::terminal::KeyPress;
use ratatui::style::Modifier;

use crate::console_fixture::{ALL_SIZES, console, draw, press, select, shown, snapshot, task};
use crate::console_looks::all;

fn said(app: &App) -> Vec<String> {
    app.state.toasts.list().iter().map(|toast| toast.text.clone()).collect()
}

fn write(app: &mut App, text: &str) {
    for letter in text.chars() {
        let name = if letter == ' ' { "Space".to_owned() } else { letter.to_string() };
        let _ = app.update(Msg::Key(KeyPress::parse(&name).expect("a key")));
    }
}

fn list(app: &App) -> Option<&Chooser> {
    match app.layers.last() {
        Some(Layer::List(chooser)) => Some(chooser),
        _ => None,
    }
}

fn labels(app: &App) -> Vec<String> {
    list(app).into_iter().flat_map(|list| list.matching_items().map(|(item, _)| item.label.clone())).collect()
}

/// The five screens, with a task selected.
fn screens(size: (u16, u16)) -> Vec<App> {
    let at = |key: &str| {
        let mut app = console(snapshot(), size);
        select(&mut app, 7);
        let _ = press(&mut app, &[key]);
        app
    };
    ["1", "2", "3", "4", "5"].map(at).into_iter().collect()
}

#[test]
fn every_key_of_an_action_that_is_not_available_says_why() {
    for size in [(80, 24), (120, 40), (200, 60)] {
        for app in screens(size) {
            let context = app.context();
            for (action, keys) in app.state.setup.keymap.list(context) {
                let Err(why) = app.availability(action) else { continue };
                for key in keys {
                    let Ok(key) = KeyPress::parse(&key.replace("Ctrl-", "C-").replace("Alt-", "M-")) else {
                        continue;
                    };
                    let mut app = app.clone();
                    let _ = app.update(Msg::Key(key));
                    let told = said(&app);
                    let is_told = told.iter().any(|text| text.contains(&why.to_string()));
                    assert!(is_told, "{size:?} {context:?} {}: {why}: {told:?}", action.name());
                }
            }
        }
    }
}

#[test]
fn a_key_without_a_meaning_says_so_wherever_keys_are_commands() {
    for app in screens((120, 40)) {
        let keymap = &app.state.setup.keymap;
        let letters = ('a'..='z').chain('A'..='Z').chain("#$%&*()_".chars());
        let unbound = letters.map(|letter| KeyPress::parse(&letter.to_string()).expect("a key"));
        let unbound = unbound.filter(|key| keymap.action(app.context(), *key).is_none());
        for key in unbound.collect::<Vec<_>>() {
            let mut app = app.clone();
            let _ = app.update(Msg::Key(key));
            let expected =
                format!("{} does nothing here; ? lists the keys", app.state.setup.keymap.key_name(key));
            assert_eq!(said(&app), [expected], "{:?}", app.context());
        }
    }
    // In dialogs and while selecting too: they stay as they are.
    for (keys, context) in [
        (&["s"][..], KeyContext::Stop),
        (&["x"], KeyContext::Signal),
        (&["q"], KeyContext::Quit),
        (&["w"], KeyContext::Settled),
        (&["v"], KeyContext::Copy),
    ] {
        let mut app = console(snapshot(), (120, 40));
        select(&mut app, 6);
        let _ = press(&mut app, keys);
        assert_eq!(app.context(), context);
        let _ = press(&mut app, &["#"]);
        assert_eq!((app.context(), said(&app).len()), (context, 1), "{:?}", said(&app));
    }
}

#[test]
fn the_timeline_does_not_open_where_it_has_no_room() {
    let mut app = console(snapshot(), (120, 40));
    select(&mut app, 7);
    let _ = press(&mut app, &["t"]);
    assert_eq!(said(&app), ["timeline: no room for it here: focus shows it"]);
    assert!(!app.state.division.is_overall);
    let _ = press(&mut app, &["2", "t"]);
    assert!(app.state.division.is_overall, "the task alone has room");
}

#[test]
fn help_begins_with_the_panel_at_hand_and_is_filtered_by_typing() {
    let mut app = console(snapshot(), (120, 40));
    select(&mut app, 7);
    let _ = press(&mut app, &["?"]);
    let groups: Vec<&str> = {
        let list = list(&app).expect("help");
        assert_eq!(list.kind, ListKind::Help("tasks"));
        let mut seen = BTreeSet::new();
        list.matching_items().filter_map(|(item, _)| item.group).filter(|group| seen.insert(*group)).collect()
    };
    assert_eq!(groups[..7], ["see", "answer", "stop, start", "read, keep", "arrange", "words", "one task"]);
    assert!(shown(&app).contains("HELP"), "{}", shown(&app));
    // What is typed is found at once, a word of the screen as well as a key.
    write(&mut app, "lease");
    assert!(shown(&app).contains("only who has it types"), "{}", shown(&app));
    let _ = press(&mut app, &["C-u"]);
    write(&mut app, "s");
    assert_eq!(labels(&app)[0], "s");
    let _ = press(&mut app, &["C-u"]);
    write(&mut app, "timeline");
    let first = list(&app).and_then(|list| list.selected_item()).expect("found");
    assert_eq!((first.label.as_str(), first.group), ("t", Some("see")));
    // What cannot be done now says so, and the list stays.
    let _ = press(&mut app, &["Enter"]);
    assert_eq!(said(&app), ["no room for it here: focus shows it"]);
    let _ = press(&mut app, &["C-u"]);
    write(&mut app, "details");
    let _ = press(&mut app, &["Enter"]);
    assert!(matches!(app.layers.last(), Some(Layer::Why(_))), "what is chosen is done");
}

#[test]
fn the_key_of_help_closes_it_again_until_something_is_written() {
    let mut app = console(snapshot(), (120, 40));
    let _ = press(&mut app, &["?", "?"]);
    assert!(app.layers.is_empty());
    let _ = press(&mut app, &["F1", "F1"]);
    assert!(app.layers.is_empty());
    let _ = press(&mut app, &["?", "z", "?"]);
    assert!(list(&app).is_some_and(|list| list.editor.value() == "z?"));
}

#[test]
fn typing_into_a_task_changes_the_look_of_the_status_line_and_of_its_pane() {
    for (columns, rows) in ALL_SIZES {
        let mut app = console(snapshot(), (columns, rows));
        select(&mut app, 7);
        let before = draw(&app).0;
        let _ = press(&mut app, &["Enter"]);
        let layout = app.state.layout();
        let (buffer, _) = draw(&app);
        let status = layout.status;
        let row: String = (0..columns).map(|x| buffer[(x, status.y)].symbol()).collect();
        assert!(row.starts_with(" INPUT t07   you type; claude reads"), "{row}");
        let input = app.state.setup.theme.style(Role::Input);
        let block = &buffer[(1, status.y)];
        assert_eq!(Some(block.fg), input.fg, "{columns}x{rows}");
        assert!(block.modifier.contains(Modifier::REVERSED));
        let pane = layout.pane(&crate::console_fixture::id(7)).expect("its pane");
        let corner = &buffer[(pane.title.x, pane.title.y)];
        assert_eq!((corner.symbol(), Some(corner.fg)), ("━", input.fg));
        // Nothing bold is left around it but what waits for the person.
        let waiting = app.state.setup.theme.style(Role::Waiting);
        let around = buffer
            .area
            .positions()
            .filter(|at| at.y < layout.notice.y && !pane.title.contains(*at) && !pane.cells.contains(*at));
        for at in around {
            let cell = &buffer[at];
            let is_waiting = Some(cell.fg) == waiting.fg || cell.symbol() == "┃";
            assert!(is_waiting || !cell.modifier.contains(Modifier::BOLD), "{columns}x{rows} {at}");
        }
        let _ = press(&mut app, &["C-]", "1"]);
        let (after, _) = draw(&app);
        assert_eq!(before[(1, 0)].modifier, after[(1, 0)].modifier, "and left, it is as before");
    }
}

#[test]
fn a_filter_that_nothing_matches_says_so() {
    let mut app = console(snapshot(), (80, 24));
    let _ = press(&mut app, &["/"]);
    write(&mut app, "npm");
    assert!(!shown(&app).contains("no match"));
    write(&mut app, "zzz");
    assert!(shown(&app).contains("no match"), "{}", shown(&app));
    let _ = press(&mut app, &["Esc", "3", "/"]);
    write(&mut app, "qqq");
    assert!(shown(&app).contains("no match"), "{}", shown(&app));
}

#[test]
fn a_script_of_the_person_is_shown_by_its_description_and_one_of_an_agent_by_its_commands() {
    let cmd = "# files\nrm -rf x\necho done";
    let script = |number, by: Actor| TaskView {
        description: Some("files changed since noon".into()),
        started_by: by,
        ..task(number, cmd, 5, 1)
    };
    let tasks = [script(1, Actor::Operator), script(2, Actor::Agent("claude".into()))];
    let tasks = tasks.into_iter().map(Arc::new).collect();
    let app = console(Snapshot { tasks, ..snapshot() }, (120, 40));
    let text = shown(&app);
    let row = |alias: &str| text.lines().find(|line| line.contains(alias)).unwrap_or_default().to_owned();
    assert!(row("t01").contains("files changed since noon") && !row("t01").contains("rm -rf"), "{text}");
    assert!(row("t02").contains("rm -rf"), "{text}");
}

#[test]
fn overlays_begin_at_the_same_row() {
    for size @ (_, rows) in ALL_SIZES {
        for (name, scene) in all() {
            let app = scene(size);
            if app.layers.is_empty() {
                continue;
            }
            let (buffer, _) = draw(&app);
            let is_top = |y: u16| (0..size.0).any(|x| buffer[(x, y)].symbol() == "┌");
            let top = (0..rows).find(|y| is_top(*y)).expect("a box");
            let bottom = (0..rows).rev().find(|y| (0..size.0).any(|x| buffer[(x, *y)].symbol() == "└"));
            let height = bottom.expect("a box") + 1 - top;
            assert!(
                top == stand(rows) || top < stand(rows) && height + 2 * top + 1 >= rows,
                "{name} at {size:?}: begins at {top}, {height} rows"
            );
        }
    }
}
