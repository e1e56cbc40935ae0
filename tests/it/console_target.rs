//! Keys act only on a task that the user has seen selected, or has moved to: the selection that nobody made may change
//! between the look and the key.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use pilothouse::console::app::App;
use pilothouse::console::app::layer::Layer;
use pilothouse::console::msg::{Effect, Msg};
use pilothouse::console::state::focus::{Mode, Prompt, Screen};
use pilothouse::envelope::TaskId;
use pilothouse::link::{Act, Request};
use pilothouse::model::{InputEvidence, InputNeed, InputWait, Snapshot, Subject, TaskStatus, TaskView};
use proptest::prelude::*;

use crate::console_fixture::{blindly, console, empty, ended, id, now, press, shown, task};

/// A console with so many tasks that print, the newest of them selected by itself, and on screen.
fn running(count: u32) -> App {
    let tasks = (1..=count).map(|number| TaskView { tty: true, ..task(number, "sh ask", 40, 1) });
    let mut app = console(Snapshot { tasks: tasks.map(Arc::new).collect(), ..empty() }, (120, 40));
    let _ = app.update(Msg::Resize(120, 40));
    app.mark_drawn();
    app
}

fn change(app: &mut App, number: u32, change: impl FnOnce(TaskView) -> TaskView) {
    let mut next = Snapshot::clone(&app.state.view.snapshot);
    next.seq += 1;
    match next.tasks.iter().position(|task| task.number == number) {
        Some(at) => next.tasks[at] = Arc::new(change(next.tasks[at].as_ref().clone())),
        None => next.tasks.push(Arc::new(change(task(number, "sh ask", 0, 0)))),
    }
    let _ = app.update(Msg::Snapshot(Arc::new(next)));
}

/// Lets a task wait for a password, as of this time.
fn asks(app: &mut App, number: u32, since: Timestamp) {
    let (kind, evidence) = (InputNeed::Secret, InputEvidence::TtyRead);
    change(app, number, |task| TaskView {
        waiting: Some(InputWait { kind, evidence, since, program: None, question: None }),
        ..task
    });
}

fn pass(app: &mut App, ms: i64) {
    let _ = app.update(Msg::Tick(app.state.clock.now + SignedDuration::from_millis(ms)));
}

/// The task that keys are typed into, or that a dialog or line is about.
fn acted_on(app: &App, effects: &[Effect]) -> Option<TaskId> {
    let calls = effects.iter().find_map(|effect| match effect {
        Effect::Ask(Request { act: Act::Call { input, .. }, .. }) => {
            input.get("task_id")?.as_str()?.parse().ok()
        }
        _ => None,
    });
    match (app.layers.last(), &app.state.focus.mode) {
        (Some(Layer::Stop { task, .. } | Layer::Signal(task) | Layer::Restart(task)), _)
        | (None, Mode::Input(task) | Mode::Write(Prompt::Line(task), _)) => Some(task.clone()),
        _ => calls,
    }
}

fn selected(app: &App) -> Option<TaskId> {
    app.state.selected_task().map(|task| task.id.clone())
}

/// The task that the screen shows selected: in the list over it, if there is one.
fn marked(app: &App) -> Option<TaskId> {
    app.listed_task().or_else(|| selected(app))
}

#[test]
fn a_key_meant_for_the_task_before_does_not_reach_the_next_one() {
    for key in ["Enter", "i", "s", "S", "x"] {
        let mut app = running(3);
        assert_eq!(selected(&app), Some(id(3)));
        asks(&mut app, 1, now());
        app.mark_drawn();
        pass(&mut app, 900);
        let effects = press(&mut app, &[key]);
        assert_eq!(acted_on(&app, &effects), None, "{key}");
        assert!(shown(&app).contains("t01 is another task than before: press again"), "{}", shown(&app));
        let effects = press(&mut app, &[key]);
        assert_eq!(acted_on(&app, &effects), Some(id(1)), "{key}: pressed again");
    }
}

#[test]
fn a_selection_made_by_the_person_takes_keys_as_soon_as_it_is_on_screen() {
    for keys in [&["j", "Enter"][..], &["a", "Enter"], &["I", "Enter"]] {
        let mut app = running(3);
        asks(&mut app, 2, now());
        let _ = press(&mut app, keys);
        assert!(matches!(app.state.focus.mode, Mode::Input(_)), "{keys:?}\n{}", shown(&app));
    }
    for keys in [["j", "Enter"], ["a", "Enter"]] {
        let mut app = running(3);
        let _ = press(&mut app, &["G", "k"]);
        asks(&mut app, 1, now());
        app.mark_drawn();
        let effects = keys.map(|key| blindly(&mut app, key)).concat();
        assert_eq!(acted_on(&app, &effects), None, "{keys:?}");
        assert!(shown(&app).contains("press again"), "{keys:?}\n{}", shown(&app));
    }
}

#[test]
fn an_answer_typed_blindly_after_a_refused_key_is_no_command() {
    let mut app = running(3);
    asks(&mut app, 1, now());
    let effects = press(&mut app, &["Enter", "s", "S", "x", "q", "j", "Enter"]);
    assert_eq!((acted_on(&app, &effects), app.layers.len(), selected(&app)), (None, 0, Some(id(1))));
    assert!(matches!(app.state.focus.mode, Mode::Observe));
    pass(&mut app, 700);
    app.mark_drawn();
    pass(&mut app, 1_000);
    let effects = press(&mut app, &["Enter"]);
    assert_eq!(acted_on(&app, &effects), Some(id(1)));
}

#[test]
fn leaving_a_task_does_not_reach_the_one_that_waits_next() {
    let mut app = running(3);
    asks(&mut app, 1, now());
    let _ = press(&mut app, &["G", "k", "Enter"]);
    let entered = app.state.focus.mode.task().cloned();
    assert!(entered.is_some() && entered != Some(id(1)), "{entered:?}");
    for key in ["Enter", "C-]"] {
        let mut app = app.clone();
        let effects = press(&mut app, &["C-]", "1", key]);
        assert_eq!((selected(&app), acted_on(&app, &effects)), (Some(id(1)), None), "{key}");
    }
}

#[test]
fn the_selection_does_not_move_under_a_list() {
    let mut app = running(3);
    let _ = press(&mut app, &[":"]);
    asks(&mut app, 1, now());
    assert_eq!(selected(&app), Some(id(3)));
    let _ = press(&mut app, &["Esc"]);
    assert_eq!(selected(&app), Some(id(1)), "but follows once it is closed");
}

#[test]
fn the_selection_does_not_move_while_a_line_is_written() {
    let mut app = running(3);
    let _ = press(&mut app, &["o"]);
    asks(&mut app, 1, now());
    assert_eq!(selected(&app), Some(id(3)));
    let _ = press(&mut app, &["Esc"]);
    assert_eq!(selected(&app), Some(id(1)), "but follows once that is over, though nothing else happens");
}

/// Writes a text as a filter, and leaves the line.
fn filter(app: &mut App, text: &str) {
    let keys: Vec<String> = text.chars().map(String::from).collect();
    let _ = press(app, &["/"]);
    let _ = press(app, &keys.iter().map(String::as_str).collect::<Vec<_>>());
    let _ = press(app, &["Enter"]);
}

#[test]
fn a_task_found_by_search_or_filter_stays_selected_when_others_begin_to_wait() {
    let by_letter = |app: &mut App| drop(press(app, &["f", "f"]));
    let by_text = |app: &mut App| filter(app, "t02");
    for search in [&by_letter as &dyn Fn(&mut App), &by_text] {
        let mut app = running(4);
        asks(&mut app, 1, now());
        change(&mut app, 2, |task| ended(task, TaskStatus::Failed, Some(101), 0));
        search(&mut app);
        assert_eq!(selected(&app), Some(id(2)));
        change(&mut app, 3, |mut task| {
            task.output.bytes += 1;
            task
        });
        asks(&mut app, 4, now());
        assert_eq!(selected(&app), Some(id(2)), "{}", shown(&app));
        app.mark_drawn();
        let _ = press(&mut app, &["x", "D"]);
        assert!(app.state.view.cleared.contains(&id(2)) && app.layers.is_empty(), "{}", shown(&app));
    }
}

#[test]
fn under_a_filter_without_a_match_nothing_is_selected_until_something_matches() {
    let mut app = running(3);
    let _ = press(&mut app, &["j"]);
    let before = selected(&app);
    asks(&mut app, 1, now());
    filter(&mut app, "t04");
    assert_eq!(selected(&app), None, "{}", shown(&app));
    let effects = press(&mut app, &["s", "S", "x", "Enter"]);
    assert_eq!((acted_on(&app, &effects), app.layers.len()), (None, 0));
    assert!(shown(&app).contains("no task is selected"), "{}", shown(&app));
    let mut again = app.clone();
    let _ = press(&mut again, &["Esc"]);
    assert_eq!(selected(&again), before, "what was selected before");
    asks(&mut app, 2, now());
    assert_eq!(selected(&app), None, "it does not match");
    change(&mut app, 4, |task| task);
    assert_eq!(selected(&app), Some(id(4)));
    app.mark_drawn();
    let effects = press(&mut app, &["s"]);
    assert_eq!(acted_on(&app, &effects), None, "it came by itself");
}

#[test]
fn a_task_that_a_filter_hides_is_selected_by_name_only_with_all_others() {
    let mut app = running(3);
    filter(&mut app, "t02");
    asks(&mut app, 1, now());
    let _ = press(&mut app, &["a", "Enter", "C-]"]);
    assert!(app.state.list.filters.is_empty());
    let says = "all tasks are listed: the filter hid t01";
    assert!(app.state.toasts.list().iter().any(|toast| toast.text == says), "{}", shown(&app));
}

#[test]
fn the_row_that_takes_the_place_of_a_cleared_one_is_selected() {
    let mut app = running(4);
    for number in 1..=3 {
        change(&mut app, number, |task| ended(task, TaskStatus::Failed, Some(101), 0));
    }
    let _ = press(&mut app, &["j"]);
    for next in [2, 1, 4] {
        let effects = press(&mut app, &["D"]);
        assert_eq!(selected(&app), Some(id(next)), "{}", shown(&app));
        let is_dismissed = |task: &Arc<TaskView>| {
            let is_it = |effect: &Effect| matches!(effect, Effect::Ask(Request { subject: Subject::Task(dismissed), act: Act::Dismiss }) if *dismissed == task.id);
            effects.iter().any(is_it)
        };
        let mut left = Snapshot::clone(&app.state.view.snapshot);
        left.tasks.retain(|task| !is_dismissed(task));
        let _ = app.update(Msg::Snapshot(Arc::new(left)));
        assert_eq!(selected(&app), Some(id(next)), "{}", shown(&app));
    }
    let _ = press(&mut app, &["D"]);
    assert!(shown(&app).contains("the task has not ended"), "{}", shown(&app));
}

#[derive(Debug, Clone)]
enum Happening {
    Asks(u32),
    Answered(u32),
    Ends(u32),
    Starts,
    Forgotten(u32),
    Passes(i64),
    Drawn,
    Pressed(&'static str),
}

/// Keys that act on a task; that select one; and that let the selection follow.
const ACTING: [&str; 7] = ["Enter", "Enter", "i", "s", "S", "x", "D"];
const SELECTING: [&str; 9] = ["j", "k", "g", "G", "I", "E", "[", "]", "Space"];
const FILTERING: [&str; 7] = ["fw", "fl", "ff", "fy", "/t02\r", "/t03\r", "/zz\r"];
const LEAVING: [&str; 6] = ["Esc", "C-]", "1", "2", "U", "a"];

fn happening() -> impl Strategy<Value = Happening> {
    let of = |keys: &[&'static str]| prop::sample::select(keys.to_vec()).prop_map(Happening::Pressed);
    prop_oneof![
        2 => (1_u32..6).prop_map(Happening::Asks),
        1 => (1_u32..6).prop_map(Happening::Answered),
        1 => (1_u32..6).prop_map(Happening::Ends),
        1 => Just(Happening::Starts),
        1 => (1_u32..6).prop_map(Happening::Forgotten),
        2 => (1_i64..700).prop_map(Happening::Passes),
        4 => Just(Happening::Drawn),
        3 => of(&ACTING),
        2 => of(&SELECTING),
        1 => of(&FILTERING),
        1 => of(&LEAVING),
    ]
}

/// The key that does the same.
fn same(key: &'static str) -> &'static str {
    if key == "C-]" { "Enter" } else { key }
}

/// Whether a task matches the filters that the keys set.
fn matches(app: &App, task: &TaskId) -> bool {
    let filters = &app.state.list.filters;
    let task = app.state.view.task(task).expect("it is there");
    let is_named = |text: &str| text == format!("t{:02}", task.number);
    filters.state.holds(task) && (filters.text.is_empty() || is_named(&filters.text))
}

/// Presses the keys of a word with no frame between them; returns what they acted on, beside what was typed into or asked.
fn typed(app: &mut App, word: &str) -> Option<TaskId> {
    let (was_in, had_layers) = (app.state.focus.mode.task().cloned(), !app.layers.is_empty());
    let cleared = app.state.view.cleared.clone();
    let effects = match word.strip_suffix("\r") {
        _ if word.len() > 1 && !word.starts_with(['f', '/']) || word.len() == 1 => blindly(app, word),
        text => {
            let letters = text.unwrap_or(word).chars().map(String::from);
            let keys: Vec<String> = letters.chain(text.map(|_| "Enter".to_owned())).collect();
            keys.iter().flat_map(|key| blindly(app, key)).collect()
        }
    };
    if had_layers {
        return None;
    }
    let cleared = app.state.view.cleared.iter().find(|task| !cleared.contains(*task));
    acted_on(app, &effects).filter(|task| was_in.as_ref() != Some(task)).or_else(|| cleared.cloned())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// A key acts on the task that was selected in the frame that the terminal had, or does nothing and says so; what was
    /// selected for the user stays selected whatever happens; and no filter has a task selected that it hides.
    #[test]
    fn a_key_acts_on_the_task_that_the_screen_showed_selected_or_says_so(
        happenings in prop::collection::vec(happening(), 1..60),
    ) {
        let mut app = running(3);
        // The selected task in the last frame and since when; whether it came to be selected by itself; the one that must
        // stay selected; and the key that was refused last.
        let (mut frame, mut since) = (marked(&app), now());
        let (mut came, mut held) = (false, None);
        let mut refused: Option<(&'static str, Option<TaskId>)> = None;
        for happening in happenings {
            let before = selected(&app);
            let is_live = |app: &App, number| app.state.view.task(&id(number)).is_some_and(|task| task.ended.is_none());
            let mut key = None;
            match happening {
                Happening::Asks(number) if is_live(&app, number) => {
                    let since = app.state.clock.now;
                    asks(&mut app, number, since);
                }
                Happening::Answered(number) if is_live(&app, number) => {
                    change(&mut app, number, |task| TaskView { waiting: None, ..task });
                }
                Happening::Ends(number) if is_live(&app, number) => {
                    change(&mut app, number, |task| ended(task, TaskStatus::Failed, Some(101), 0));
                }
                Happening::Forgotten(number) if !is_live(&app, number) => {
                    let mut next = Snapshot::clone(&app.state.view.snapshot);
                    next.tasks.retain(|task| task.number != number);
                    let _ = app.update(Msg::Snapshot(Arc::new(next)));
                }
                Happening::Starts => {
                    let newest = app.state.view.snapshot.tasks.iter().map(|task| task.number).max();
                    change(&mut app, newest.unwrap_or_default() + 1, |task| TaskView { tty: true, ..task });
                }
                Happening::Passes(ms) => pass(&mut app, ms),
                Happening::Drawn => {
                    app.mark_drawn();
                    if frame != marked(&app) {
                        (frame, since) = (marked(&app), app.state.clock.now);
                    }
                }
                // Typed into a task that has ended, the letters of a filter are keys of the screens.
                Happening::Pressed(word) if FILTERING.contains(&word) && !matches!(app.state.focus.mode, Mode::Observe) => {}
                Happening::Pressed(pressed) => key = Some(pressed),
                Happening::Asks(_) | Happening::Answered(_) | Happening::Ends(_) | Happening::Forgotten(_) => {}
            }
            if let Some(key) = key {
                let is_command = app.layers.is_empty() && matches!(app.state.focus.mode, Mode::Observe);
                let chooses = key == "Enter" && matches!(app.layers.last(), Some(Layer::Attention(_)));
                let acted = typed(&mut app, key);
                // It was refused, or typed blindly after one that was.
                let is_blind = app.state.toasts.list().iter().any(|toast| toast.text.contains("press again"));
                if let Some(acted) = &acted {
                    let is_seen = app.state.clock.now.duration_since(since) >= SignedDuration::from_secs(1);
                    let is_again = refused == Some((same(key), Some(acted.clone())));
                    prop_assert_eq!(frame.as_ref(), Some(acted), "{} acted on it", key);
                    prop_assert!(is_seen || is_again || !came, "{key} acted on {acted}");
                } else if is_command && key != "Enter" && ACTING.contains(&key) {
                    prop_assert!(!app.state.toasts.list().is_empty(), "{key} says why it does nothing");
                }
                refused = Some((same(key), selected(&app)));
                let may = ["I", "E", "Space"].contains(&key);
                let is_named = match key {
                    "I" => app.state.selected_task().is_some_and(|task| task.waiting.is_some()),
                    "E" => app.state.selected_task().is_some_and(|task| task.ended.is_some()),
                    _ => false,
                };
                let moves = SELECTING.contains(&key) && (!may || is_named || selected(&app) != before);
                let selects = is_command && !is_blind && (moves || FILTERING.contains(&key));
                if acted.is_some() || chooses || selects {
                    (came, held) = (false, selected(&app));
                } else if selected(&app) != before || LEAVING.contains(&key) {
                    (came, held) = (came && selected(&app) == before, None);
                }
            } else {
                let is_there = held.as_ref().is_some_and(|task| app.state.view.task(task).is_some());
                prop_assert!(!is_there || selected(&app) == held, "{:?} moved to {:?}", held, selected(&app));
                if selected(&app) != before {
                    (came, held) = (true, None);
                }
            }
            if let Some(task) = selected(&app).filter(|task| Some(task) != before.as_ref()) {
                prop_assert!(matches(&app, &task) || app.state.focus.screen != Screen::Tasks, "{task} is hidden");
            }
        }
    }
}
