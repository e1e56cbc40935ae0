//! Whether a task has the size of its pane, and giving it that size.

use serde_json::json;

use crate::console::effect::Effect;
use crate::console::state::{State, layout};
use crate::model::{TaskStatus, TaskView};
use crate::terminal::Size;

pub(in crate::console) fn fits_badly(state: &State, task: &TaskView) -> bool {
    let has_pty = task.tty && task.status == TaskStatus::Running;
    let wanted = state.layout().pane(&task.id).map(layout::Pane::size);
    has_pty && wanted.is_some_and(|wanted| wanted != task.size)
}

pub(in crate::console) fn fit_call(state: &State, task: &TaskView) -> Option<Effect> {
    let size: Size = state.layout().pane(&task.id)?.size();
    let resize = json!({"cols": size.cols(), "rows": size.rows()});
    let input = json!({"task_id": task.id, "resize": resize});
    Some(Effect::call("TaskInput", input))
}
