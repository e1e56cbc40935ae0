//! Watch rules: what rings in addition to what waits for the person, and how long it stays in the attention list.

use std::sync::Arc;

use jiff::SignedDuration;
use pilothouse::config::WatchRule;
use pilothouse::console::app::App;
use pilothouse::console::features::attention::item::AttentionSubject;
use pilothouse::console::msg::{Effect, Msg};
use pilothouse::console::state::focus::Screen;
use pilothouse::model::{Snapshot, TaskStatus, TaskView};

use crate::console_fixture::{console, ended, id, now, press, select, shown, snapshot};

/// A console whose terminal does not have the focus, with these watch rules.
fn elsewhere(rules: &[&str]) -> App {
    let mut app = console(snapshot(), (80, 24));
    app.state.setup.ui.console.watch =
        rules.iter().map(|rule| toml::from_str::<WatchRule>(rule).expect("a rule")).collect();
    // What is already waiting has already rung.
    let _ = becomes(&mut app, 6, |_| {});
    let _ = app.update(Msg::Focus(false));
    app
}

fn becomes(app: &mut App, number: u32, change: impl FnOnce(&mut TaskView)) -> Vec<Effect> {
    let mut next = Snapshot::clone(&app.state.view.snapshot);
    next.seq += 1;
    change(Arc::make_mut(next.tasks.iter_mut().find(|task| task.id == id(number)).expect("the task")));
    app.update(Msg::Snapshot(Arc::new(next)))
}

fn fails(app: &mut App, number: u32) -> Vec<Effect> {
    becomes(app, number, |task| {
        *task = ended(task.clone(), TaskStatus::Failed, Some(101), 0);
        task.ended.as_mut().expect("an end").at = now();
    })
}

fn rung(effects: &[Effect]) -> Vec<&str> {
    let rung = effects.iter().filter_map(|effect| match effect {
        Effect::Ring(text) => Some(text.as_str()),
        _ => None,
    });
    rung.collect()
}

/// What the rules have added to the attention list.
fn watched(app: &App) -> Vec<String> {
    let is_watched = |item: &pilothouse::console::features::attention::item::AttentionItem| {
        matches!(item.subject, AttentionSubject::Watched(..))
    };
    let all = app.attention.items(&app.state).into_iter().filter(is_watched);
    all.map(|item| format!("{} {}: {}", item.name, item.what, item.said)).collect()
}

#[test]
fn a_build_that_fails_rings_once_and_stands_in_the_list_until_it_was_looked_at() {
    let mut app = elsewhere(&["prefix = \"cargo test\"\nfailed = true"]);
    assert_eq!(watched(&app), Vec::<String>::new(), "what failed before is no news");
    assert_eq!(rung(&fails(&mut app, 6)), ["t06 failed: exit 101: cargo test --workspace"]);
    assert_eq!(rung(&becomes(&mut app, 6, |task| task.updated_at = now())), Vec::<&str>::new());
    let _ = app.update(Msg::Focus(true));
    let _ = press(&mut app, &["a"]);
    assert!(shown(&app).contains("failed: exit 101"), "{}", shown(&app));
    let at = app
        .attention
        .items(&app.state)
        .iter()
        .position(|item| matches!(item.subject, AttentionSubject::Watched(..)))
        .expect("there");
    for _ in 0..at {
        let _ = press(&mut app, &["j"]);
    }
    let _ = press(&mut app, &["Enter"]);
    assert_eq!(
        (app.state.focus.screen, app.state.selected_task().map(|task| task.number)),
        (Screen::Focus, Some(6))
    );
    let _ = press(&mut app, &["1"]);
    assert_eq!(rung(&becomes(&mut app, 6, |task| task.updated_at = now())), Vec::<&str>::new());
    assert_eq!(watched(&app), Vec::<String>::new(), "it does not come back");
}

#[test]
fn opening_a_failed_task_clears_its_watch_alert() {
    let mut app = elsewhere(&["prefix = \"cargo test\"\nfailed = true"]);
    let _ = fails(&mut app, 6);
    let _ = app.update(Msg::Focus(true));
    select(&mut app, 6);
    assert_eq!(watched(&app).len(), 1, "in the list of tasks it is not read");
    let _ = press(&mut app, &["2"]);
    assert_eq!(watched(&app), Vec::<String>::new());
}

#[test]
fn a_rule_rings_for_its_commands_alone() {
    let mut app = elsewhere(&["prefix = \"make\"\nfailed = true"]);
    assert_eq!(rung(&fails(&mut app, 6)), Vec::<&str>::new());
}

#[test]
fn a_task_that_is_silent_for_long_rings_until_it_prints_again() {
    let mut app = elsewhere(&["prefix = \"cargo test\"\nsilence = \"30 s\""]);
    let _ = becomes(&mut app, 6, |task| task.output.last_at = Some(now()));
    let _ = app.update(Msg::Tick(now() + SignedDuration::from_secs(29)));
    assert_eq!(rung(&app.update(Msg::WatchDue)), Vec::<&str>::new());
    let _ = app.update(Msg::Tick(now() + SignedDuration::from_secs(30)));
    assert_eq!(rung(&app.update(Msg::WatchDue)), ["t06 silent for 30 s: cargo test --workspace"]);
    assert_eq!(rung(&app.update(Msg::WatchDue)), Vec::<&str>::new(), "once");
    let later = now() + SignedDuration::from_secs(31);
    let _ = becomes(&mut app, 6, |task| task.output.last_at = Some(later));
    assert_eq!(watched(&app), Vec::<String>::new());
    let _ = app.update(Msg::Tick(later + SignedDuration::from_secs(30)));
    assert_eq!(rung(&app.update(Msg::WatchDue)).len(), 1, "and again for the next silence");
}

/// The reads requested: each with its first byte.
fn reads(effects: &[Effect]) -> Vec<u64> {
    let reads = effects.iter().filter_map(|effect| match effect {
        Effect::ReadWatched { task, from } if task.id == id(6) => Some(*from),
        _ => None,
    });
    reads.collect()
}

#[test]
fn a_pattern_typed_for_a_task_is_looked_for_in_what_it_prints_from_then_on() {
    let mut app = elsewhere(&[]);
    select(&mut app, 6);
    let before = app.state.selected_task().expect("selected").output.bytes;
    let _ = press(&mut app, &["W", "p", "a", "n", "i", "c", "Enter"]);
    assert!(shown(&app).contains("rings when t06: it prints panic"), "{}", shown(&app));
    let wrote = becomes(&mut app, 6, |task| task.output.bytes += 10);
    assert_eq!(reads(&wrote), [before]);
    let wrote = becomes(&mut app, 6, |task| task.output.bytes += 10);
    assert_eq!(reads(&wrote), Vec::<u64>::new(), "one read at a time");
    let read = app.update(Msg::Watched(id(6), String::new(), before));
    assert_eq!(reads(&read), [before], "what came meanwhile");
    let read = app.update(Msg::Watched(id(6), String::new(), before));
    assert_eq!(reads(&read), Vec::<u64>::new(), "half a line is waited for, not read again and again");
    let _ = becomes(&mut app, 6, |task| task.output.bytes += 10);
    let text = "ok\nthread 'main' panicked at src/lib.rs\nok\n";
    let read = app.update(Msg::Watched(id(6), text.to_owned(), before + 30));
    assert_eq!(rung(&read), ["t06 printed: thread 'main' panicked at src/lib.rs"]);
    let _ = press(&mut app, &["W", "Enter"]);
    assert_eq!(reads(&becomes(&mut app, 6, |task| task.output.bytes += 10)), Vec::<u64>::new());
    let _ = press(&mut app, &["W", "(", "Enter"]);
    assert!(shown(&app).contains("no pattern: error: unclosed group"), "{}", shown(&app));
}

fn uses(app: &mut App, cpu_ms: u64) -> Vec<Effect> {
    let tree = Some(pilothouse::process::Usage { cpu_ms, memory_bytes: 1 << 20, processes: 2 });
    app.update(Msg::Usage(vec![pilothouse::runtime::TaskUsage {
        task: id(6),
        tree,
        typed_bytes: 0,
        processes: Vec::new(),
    }]))
}

#[test]
fn a_task_that_is_busy_for_long_rings_until_it_rests() {
    let mut app = elsewhere(&["prefix = \"cargo test\"\ncpu = 90\ncpu_for = \"10 s\""]);
    let _ = press(&mut app, &["3"]);
    let _ = becomes(&mut app, 6, |task| task.output.bytes += 1);
    let _ = app.update(Msg::Tick(now() + SignedDuration::from_secs(1)));
    assert!(app.state.view.usage.next().is_some(), "it is measured though it is not on screen");
    let mut rang = Vec::new();
    for second in 0..=12 {
        let _ = app.update(Msg::Tick(now() + SignedDuration::from_secs(second)));
        rang.push(rung(&uses(&mut app, u64::try_from(second).expect("small") * 950)).len());
        rang.push(rung(&app.update(Msg::WatchDue)).len());
    }
    assert_eq!(rang.iter().sum::<usize>(), 1, "{rang:?}");
    assert_eq!(watched(&app), ["t06 CPU over 90 % 10 s: cargo test --workspace"]);
    let _ = app.update(Msg::Tick(now() + SignedDuration::from_secs(13)));
    let _ = uses(&mut app, 12 * 950 + 100);
    assert_eq!(watched(&app), Vec::<String>::new(), "it rests");
}
