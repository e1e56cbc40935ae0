//! What an agent left running when it went: listed by name, stopped or kept.

use std::sync::Arc;

use pilothouse::config::OnAgentEnd;
use pilothouse::console::app::App;
use pilothouse::console::app::layer::Layer;
use pilothouse::console::keys::action::Action;
use pilothouse::console::msg::{Effect, Msg};
use pilothouse::console::state::focus::Screen;
use pilothouse::envelope::Actor;
use pilothouse::link::{Act, Request};
use pilothouse::model::{AgentView, Snapshot, TaskStatus, TaskView};

use crate::console_fixture::{ALL_SIZES, console, ended, id, obstacle, press, shown, snapshot, task};

/// Two agents that have gone, one of which left two tasks running, and one that is there.
fn departed() -> Snapshot {
    let of = |label: &str, task: TaskView| TaskView { started_by: Actor::Agent(label.into()), ..task };
    let agent = |label: &str, connected| AgentView {
        label: label.into(),
        connected,
        turns: 2,
        ..AgentView::default()
    };
    let tasks = vec![
        of("claude", task(1, "npm run dev", 900, 3)),
        of("claude", task(2, "cargo watch -x test", 600, 3)),
        of("claude", ended(task(3, "make", 500, 400), TaskStatus::Completed, Some(0), 400)),
        of("codex", task(4, "sleep 600", 300, 3)),
        of("pi", task(5, "python3 -m http.server", 200, 3)),
    ];
    let agents = vec![agent("claude", false), agent("codex", true), agent("pi", false)];
    Snapshot { tasks: tasks.into_iter().map(Arc::new).collect(), agents, notices: Vec::new(), ..snapshot() }
}

fn stopped(effects: &[Effect]) -> usize {
    let is_stop = |effect: &&Effect| matches!(effect, Effect::Ask(Request { act: Act::Call { tool, .. }, .. }) if tool == "TaskStop");
    effects.iter().filter(is_stop).count()
}

/// Opens what the agent that comes first left running.
fn opened(app: &mut App) {
    let _ = press(app, &["a", "Enter"]);
    assert!(matches!(app.layers.last(), Some(Layer::Left(_))), "{}", shown(app));
}

#[test]
fn the_tasks_that_an_agent_left_are_one_entry_and_listed_by_name() {
    for size @ (columns, rows) in ALL_SIZES {
        let mut app = console(departed(), size);
        assert_eq!(app.attention.items(&app.state).len(), 2, "one for each agent that is gone");
        assert_eq!(app.attention.waiting(&app.state), 0, "by default, nothing waits for an answer");
        opened(&mut app);
        let screen = shown(&app);
        for words in ["claude has gone, 2 tasks still running", "npm run dev", "cargo watch -x test"] {
            assert!(screen.contains(words), "{size:?} {words}\n{screen}");
        }
        if columns == 80 {
            insta::assert_snapshot!(format!("left_{columns}x{rows}"), screen);
        }
    }
}

#[test]
fn all_tasks_that_an_agent_left_are_stopped_or_kept_with_one_key() {
    let mut app = console(departed(), (80, 24));
    opened(&mut app);
    assert_eq!(stopped(&press(&mut app, &["s"])), 2, "not the one of another agent, nor what has ended");
    assert!(app.layers.is_empty());

    let mut app = console(departed(), (80, 24));
    opened(&mut app);
    assert!(press(&mut app, &["D"]).is_empty());
    assert_eq!(app.attention.items(&app.state).len(), 1, "decided");
    // Also by its own key, until all is decided.
    let _ = press(&mut app, &["K"]);
    assert!(shown(&app).contains("pi has gone, 1 task still running"), "{}", shown(&app));
    let _ = press(&mut app, &["D"]);
    assert!(app.attention.items(&app.state).is_empty());
    assert!(obstacle(&app, Action::LeftRunning).is_some());
}

#[test]
fn a_single_task_that_an_agent_left_is_stopped_or_opened() {
    let mut app = console(departed(), (80, 24));
    opened(&mut app);
    let done = press(&mut app, &["Down", "Down", "s"]);
    assert_eq!(stopped(&done), 1);
    let names_it = |effect: &Effect| matches!(effect, Effect::Ask(Request { act: Act::Call { input, .. }, .. }) if input["task_id"] == id(2).as_str());
    assert!(done.iter().any(names_it), "{done:?}");
    let _ = press(&mut app, &["Enter"]);
    assert_eq!(app.state.focus.screen, Screen::Focus);
    assert_eq!(app.state.selected_task().map(|task| task.number), Some(2));
}

#[test]
fn a_second_stop_key_after_a_left_task_has_ended_reaches_no_other() {
    let mut app = console(departed(), (80, 24));
    opened(&mut app);
    let _ = press(&mut app, &["Down", "Down", "s"]);
    let mut after = departed();
    after.tasks[1] = Arc::new(ended(after.tasks[1].as_ref().clone(), TaskStatus::Cancelled, None, 0));
    let _ = app.update(Msg::Snapshot(Arc::new(after)));
    assert_eq!(stopped(&press(&mut app, &["s"])), 0, "{}", shown(&app));
    assert!(shown(&app).contains("choose another"), "{}", shown(&app));
    assert_eq!(stopped(&press(&mut app, &["j", "s"])), 1, "the one that is left");
}

#[test]
fn keys_of_the_screens_do_nothing_in_the_list_of_left_tasks() {
    for key in ["E", "K", "S", "x"] {
        let mut app = console(departed(), (80, 24));
        opened(&mut app);
        assert!(press(&mut app, &[key]).is_empty(), "{key}");
        assert!(matches!(app.layers.last(), Some(Layer::Left(_))), "{key}: {}", shown(&app));
    }
}

#[test]
fn an_agent_that_comes_back_has_left_nothing() {
    let mut app = console(departed(), (80, 24));
    opened(&mut app);
    let mut back = departed();
    back.agents[0] = AgentView { connected: true, turns: 3, ..back.agents[0].clone() };
    let _ = app.update(Msg::Snapshot(Arc::new(back)));
    assert!(app.layers.is_empty());
    assert_eq!(app.attention.items(&app.state).len(), 1);
}

#[test]
fn tasks_that_an_agent_left_wait_for_an_answer_if_the_settings_say_so() {
    let mut app = console(departed(), (80, 24));
    app.state.setup.ui.on_agent_end = OnAgentEnd::Ask;
    assert_eq!(app.attention.waiting(&app.state), 2);
}
