//! The list of tasks filtered: by state, by who started them.

use std::sync::Arc;

use pilothouse::console::keys::action::Action;
use pilothouse::console::msg::Msg;
use pilothouse::console::state::listing::filter::Filter;
use pilothouse::model::TaskView;

use crate::console_fixture::{console, empty, obstacle, press, shown, snapshot};

#[test]
fn the_list_shows_some_tasks_and_all_again() {
    for size in [(80, 24), (120, 40)] {
        let mut app = console(snapshot(), size);
        let all = app.state.tasks().len();
        for (letter, filter) in [
            ("w", Filter::Waiting),
            ("l", Filter::Live),
            ("f", Filter::Failed),
            ("y", Filter::Yours),
            ("g", Filter::Agents),
        ] {
            let _ = press(&mut app, &["f", letter]);
            assert_eq!(app.state.list.filters.state, filter, "{letter}");
            assert!(app.state.tasks().iter().all(|task| filter.holds(task)), "{filter:?}");
            assert!(app.state.selected_task().is_some_and(|task| filter.holds(task)), "{filter:?}");
            let says = format!("{}  {} of {all}", filter.word(), app.state.tasks().len());
            assert!(shown(&app).contains(&says), "{says}\n{}", shown(&app));
        }
        let _ = press(&mut app, &["f", "f"]);
        insta::assert_snapshot!(format!("filtered_{}x{}", size.0, size.1), shown(&app));
        let _ = press(&mut app, &["3"]);
        assert_eq!(obstacle(&app, Action::ArrangeList).as_deref(), Some("on the screen of all tasks only"));
        assert_eq!(app.state.tasks().len(), all, "elsewhere nothing is hidden");
        let _ = press(&mut app, &["1", "Esc"]);
        assert_eq!((app.state.list.filters.state, app.state.tasks().len()), (Filter::All, all));
    }
    let app = console(empty(), (80, 24));
    assert_eq!(obstacle(&app, Action::Filter).as_deref(), Some("there are no tasks"));
}

#[test]
fn a_selected_task_stays_listed_when_the_filter_holds_no_more_for_it() {
    let mut app = console(snapshot(), (80, 24));
    let _ = press(&mut app, &["f", "w"]);
    assert_eq!(app.state.list.filters.state, Filter::Waiting);
    let id = app.state.selected_task().expect("a waiter").id.clone();
    let mut after = snapshot();
    for task in &mut after.tasks {
        *task = Arc::new(TaskView { waiting: None, held: None, ..(**task).clone() });
    }
    let _ = app.update(Msg::Snapshot(Arc::new(after)));
    assert_eq!(app.state.tasks().iter().map(|task| task.id.clone()).collect::<Vec<_>>(), [id]);
    assert!(shown(&app).contains("waiting  0 of"), "{}", shown(&app));
}
