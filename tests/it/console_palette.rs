//! Lists to choose from: the palette used by keyboard alone, themes previewed, messages read again.

use pilothouse::console::app::App;
use pilothouse::console::app::layer::Layer;
use pilothouse::console::keys::action::Action;
use pilothouse::console::msg::{Effect, Msg};
use pilothouse::console::state::State;
use pilothouse::console::state::choice::ListChoice;
use pilothouse::console::state::focus::{Focus, Screen};
use pilothouse::console::state::pane_reading::PaneReading;
use pilothouse::console::theme::{Colours, Role, Theme, ThemeSet};
use pilothouse::console::widgets::chooser::Chooser;
use pilothouse::terminal::KeyPress;

use crate::console_fixture::{SIZES, console, draw, empty, press, select, shown, snapshot};

fn write(app: &mut App, text: &str) -> Vec<Effect> {
    let named = |c: char| if c == ' ' { "Space".to_owned() } else { c.to_string() };
    let keys = text.chars().map(|c| KeyPress::parse(&named(c)).expect("a key"));
    keys.flat_map(|key| app.update(Msg::Key(key))).collect()
}

fn list(app: &App) -> Option<&Chooser> {
    match app.layers.last() {
        Some(Layer::List(chooser)) => Some(chooser),
        _ => None,
    }
}

fn with_recordings(app: &mut App) {
    let _ = press(app, &[":"]);
    let _ = app
        .update(Msg::Recordings(vec![("20261120T091500Z-812".into(), "2026-11-20T09:15:00Z".parse().ok())]));
}

#[test]
fn the_palette_and_the_list_of_themes_match_their_snapshots_at_each_size() {
    for (columns, rows) in SIZES {
        let mut app = console(snapshot(), (columns, rows));
        select(&mut app, 7);
        with_recordings(&mut app);
        insta::assert_snapshot!(format!("palette_{columns}x{rows}"), shown(&app));
        let _ = write(&mut app, "stop");
        insta::assert_snapshot!(format!("palette_stop_{columns}x{rows}"), shown(&app));
        let _ = press(&mut app, &["Esc", ":"]);
        let _ = write(&mut app, "themes");
        let _ = press(&mut app, &["Enter", "Down"]);
        insta::assert_snapshot!(format!("themes_{columns}x{rows}"), shown(&app));
    }
}

#[test]
fn a_past_recording_is_found_by_when_it_was() {
    for word in ["yesterday", "history", "earlier", "past", "20261120"] {
        let mut app = console(snapshot(), (80, 24));
        with_recordings(&mut app);
        let _ = write(&mut app, word);
        let found = list(&app).and_then(Chooser::selected_item).map(|item| item.label.clone());
        assert_eq!(found.as_deref(), Some("past 11-20 09:15"), "{word}");
    }
    let mut app = console(snapshot(), (80, 24));
    let _ = press(&mut app, &[":"]);
    let _ =
        app.update(Msg::Recordings(vec![("20261118T091500Z-1".into(), "2026-11-18T09:15:00Z".parse().ok())]));
    let _ = write(&mut app, "yesterday");
    assert_eq!(list(&app).and_then(Chooser::selected_item), None, "that was not yesterday");
}

#[test]
fn the_palette_is_drawn_in_ascii_and_without_colour() {
    let mut app = console(snapshot(), (80, 24));
    select(&mut app, 7);
    app.state.setup.theme_set = ThemeSet { ascii: true, ..ThemeSet::default() };
    app.state.setup.theme = Theme::built_in(Colours::Named, true);
    app.state.setup.keymap.spell_out(true);
    with_recordings(&mut app);
    let ascii = shown(&app);
    let tail = ascii.lines().skip(1).collect::<Vec<_>>().join("\n");
    let other: String = tail.chars().filter(|letter| !letter.is_ascii()).collect();
    assert_eq!(other, "", "{ascii}");
    insta::assert_snapshot!("palette_ascii_80x24", ascii);
    for name in ["light", "mono"] {
        let mut app = console(snapshot(), (80, 24));
        select(&mut app, 7);
        app.state.setup.theme = app.state.setup.theme_set.theme(name);
        with_recordings(&mut app);
        let (buffer, _) = draw(&app);
        insta::assert_snapshot!(format!("palette_styles_{name}"), format!("{buffer:?}"));
    }
}

/// Everything about a console that a person could notice, except the palette itself.
fn trace(app: &App) -> String {
    let State { list, calls, .. } = &app.state;
    let Focus { screen, mode, .. } = &app.state.focus;
    let PaneReading { scroll, search, pan, .. } = &app.state.reading;
    let (is_zoomed, has_mouse) = (app.state.division.is_zoomed, app.state.outer.has_mouse);
    let layers = &app.layers;
    let texts = app.receipts.sheet.as_ref().map(|sheet| [&sheet.receipt, &sheet.envelope]);
    let places = texts.map(|texts| texts.map(|text| (text.at, text.top)));
    let calls = (calls.selected, calls.column, places, calls.budget);
    let toasts = app.state.toasts.list();
    format!(
        "{screen:?} {mode:?} {layers:?} {list:?} {scroll:?} {search:?} {pan} {is_zoomed} {calls:?} {has_mouse} {toasts:?}"
    )
}

/// States in which a person may open the palette.
fn states() -> Vec<App> {
    let mut states = Vec::new();
    for (number, screen) in [(7, "1"), (6, "2"), (5, "1"), (4, "1"), (7, "3")] {
        let mut app = console(snapshot(), (120, 40));
        select(&mut app, number);
        let _ = press(&mut app, &[screen]);
        states.push(app);
    }
    let mut reading = console(snapshot(), (120, 40));
    let _ = press(&mut reading, &["3", "g", "j", "j", "j", "j", "j"]);
    let _ = reading.update(Msg::Record(std::sync::Arc::new(crate::console_fixture::build())));
    let _ = press(&mut reading, &["Tab", "-", "-"]);
    states.push(reading);
    let mut remote = console(snapshot(), (120, 40));
    remote.state.setup.is_remote = true;
    remote.state.setup.program = Some("/opt/pilothouse".into());
    remote.state.toasts.say("hello", None, remote.state.clock.now);
    states.push(remote);
    states.push(console(empty(), (80, 24)));
    states
}

#[test]
fn every_action_of_the_palette_does_something_or_says_why_not() {
    let mut idle = Vec::new();
    let states: Vec<_> = states().into_iter().map(|state| (trace(&state), shown(&state), state)).collect();
    for &action in Action::ALL {
        if matches!(action, Action::Palette | Action::Choose) {
            continue;
        }
        let (mut acted, mut reasons) = (false, 0);
        for (trace_before, shown_before, state) in &states {
            let mut app = state.clone();
            let _ = press(&mut app, &[":"]);
            let _ = app.update(Msg::Paste(action.name().into()));
            let item = list(&app).and_then(|list| list.selected_item()).cloned().expect("it is listed");
            assert_eq!(item.choice, ListChoice::Action(action), "{} is found by its name", action.name());
            let effects = press(&mut app, &["Enter"]);
            if let Some(why) = item.obstacle {
                assert!(list(&app).is_some() && !why.is_empty(), "{}", action.name());
                assert!(shown(&app).contains("not now: "), "{}\n{}", action.name(), shown(&app));
                reasons += 1;
                continue;
            }
            assert!(
                list(&app)
                    .is_none_or(|list| list.kind != pilothouse::console::widgets::chooser::ListKind::Palette)
            );
            let effects = effects.iter().filter(|effect| !matches!(effect, Effect::Remember(_))).count();
            acted |= effects > 0 || trace(&app) != *trace_before || shown(&app) != *shown_before;
            if acted {
                break;
            }
        }
        let by_nature = [
            Action::Leave,
            Action::Send,
            Action::SendOn,
            Action::Newline,
            Action::Raw,
            Action::Run,
            Action::Find,
            Action::Confirm,
            // What these need is set up in the tests of their own screens.
            Action::NextMatch,
            Action::PreviousMatch,
            Action::NextFound,
            Action::PreviousFound,
            Action::NextPart,
            Action::PreviousPart,
            Action::Play,
            Action::Faster,
            Action::Slower,
            Action::StepForward,
            Action::StepBack,
            Action::ScrollDown,
            Action::Undo,
            Action::PanLeft,
            Action::PanRight,
            Action::Approve,
            Action::ApproveExact,
            Action::ApproveWider,
            Action::Deny,
            Action::NextHeld,
            Action::Approvals,
            Action::SelectLines,
            Action::SelectBlock,
            Action::Yank,
            Action::Left,
            Action::Right,
            Action::LineStart,
            Action::LineEnd,
            Action::ApproveGate,
            Action::RejectGate,
            Action::Yes,
            Action::No,
            Action::RunAgain,
            Action::Skip,
            Action::Abort,
            Action::Note,
            Action::LetAgents,
            Action::ApproveTurn,
            Action::ApproveAlike,
            Action::EndPermissions,
            Action::AnswerQuestion,
            Action::NextPane,
            Action::NextProgram,
            Action::PreviousProgram,
            Action::WhileAway,
            Action::LeftRunning,
            Action::LetPass,
            Action::UndoChanges,
            Action::ToAgent,
        ];
        if !(acted || by_nature.contains(&action) && reasons > 0) {
            idle.push(action.name());
        }
    }
    assert!(idle.is_empty(), "neither do anything nor say why: {idle:?}");
}

#[test]
fn a_number_goes_to_a_call_and_a_name_to_a_task() {
    let mut app = console(snapshot(), (120, 40));
    let _ = press(&mut app, &[":"]);
    let _ = write(&mut app, "309");
    let _ = press(&mut app, &["Enter"]);
    assert_eq!((app.state.focus.screen, app.state.calls.selected), (Screen::Receipts, Some(309)));
    let _ = press(&mut app, &[":"]);
    let _ = write(&mut app, ":t03");
    let _ = press(&mut app, &["Enter"]);
    assert_eq!(app.state.selected_task().map(|task| task.number), Some(3));
}

#[test]
fn the_last_used_action_stands_first_and_is_remembered() {
    let mut app = console(snapshot(), (120, 40));
    let _ = press(&mut app, &[":"]);
    let _ = write(&mut app, "zoom");
    let effects = press(&mut app, &["Enter"]);
    assert!(app.state.division.is_zoomed);
    let is_kept = |effect: &Effect| matches!(effect, Effect::Remember(memory) if memory.recent == ["zoom"]);
    assert!(effects.iter().any(is_kept));
    let _ = press(&mut app, &[":"]);
    assert_eq!(
        list(&app).and_then(|list| list.selected_item()).map(|item| item.label.as_str()),
        Some("zoom")
    );
}

#[test]
fn a_theme_is_tried_on_kept_or_taken_off() {
    let mut app = console(snapshot(), (120, 40));
    let before = app.state.setup.theme.style(Role::Running);
    let _ = press(&mut app, &[":"]);
    let _ = write(&mut app, "themes");
    let _ = press(&mut app, &["Enter", "Down"]);
    assert_ne!(app.state.setup.theme.style(Role::Running), before, "dark is active");
    let _ = press(&mut app, &["Esc"]);
    assert_eq!(
        (app.state.setup.theme.style(Role::Running), app.state.setup.theme_set.active.as_str()),
        (before, "default")
    );
    let _ = press(&mut app, &[":"]);
    let _ = write(&mut app, "theme light");
    let effects = press(&mut app, &["Enter"]);
    assert!(matches!(&effects[..], [Effect::SaveTheme(name), ..] if name == "light"), "{effects:?}");
    assert_eq!(app.state.setup.theme_set.active, "light");
}

#[test]
fn messages_are_read_again() {
    let mut app = console(snapshot(), (120, 40));
    app.state.toasts.fail("no task is called t99", Some(309));
    let _ = press(&mut app, &["Esc", ":"]);
    let _ = write(&mut app, "messages");
    let _ = press(&mut app, &["Enter"]);
    insta::assert_snapshot!("messages_120x40", shown(&app));
    let _ = press(&mut app, &["Enter"]);
    assert_eq!((app.state.focus.screen, app.state.calls.selected), (Screen::Receipts, Some(309)));
}

#[test]
fn a_hint_is_shown_until_its_key_was_used() {
    let mut app = console(empty(), (80, 24));
    app.state.setup.ui.console.hints = true;
    assert!(shown(&app).contains("new here?  ? lists the keys"), "{}", shown(&app));
    let effects = press(&mut app, &["?", "Esc"]);
    assert!(effects.iter().any(|effect| matches!(effect, Effect::Remember(_))));
    assert!(shown(&app).contains("new here?  3 shows what the agent was told"), "{}", shown(&app));
    let _ = press(&mut app, &["3", "1", ":", "Esc"]);
    assert!(!shown(&app).contains("new here?"), "{}", shown(&app));
}

#[test]
fn settings_with_a_fault_leave_the_console_as_it_was() {
    use pilothouse::console::theme::{Capabilities, Preferences, UiFlags};
    let mut app = console(snapshot(), (120, 40));
    let flags = UiFlags { theme: Some("mono".into()), no_clock: true, ..UiFlags::default() };
    let (looks, _) = Preferences::read(None, &flags, &Capabilities::default());
    let _ = app.update(Msg::Preferences(Box::new(looks.clone()), vec!["config.toml:2: thme: no".into()]));
    assert_eq!(
        (app.state.setup.theme_set.active.as_str(), app.state.setup.ui.console.clock),
        ("default", true)
    );
    assert!(shown(&app).contains("config.toml:2: thme: no"), "{}", shown(&app));
    let _ = app.update(Msg::Preferences(Box::new(looks), Vec::new()));
    assert_eq!(
        (app.state.setup.theme_set.active.as_str(), app.state.setup.ui.console.clock),
        ("mono", false)
    );
    assert!(shown(&app).contains("settings: theme mono, clock off"), "{}", shown(&app));
}

#[test]
fn an_agent_is_started_from_the_palette() {
    let mut app = console(snapshot(), (120, 40));
    let _ = press(&mut app, &[":"]);
    let _ = write(&mut app, "start claude");
    assert!(shown(&app).contains("Claude Code in a pane"), "{}", shown(&app));
    let effects = format!("{:?}", press(&mut app, &["Enter"]));
    assert!(effects.contains("\"pilothouse claude\""), "{effects}");
}
