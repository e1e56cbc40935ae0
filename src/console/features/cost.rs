//! What a task's command would cost if it were run now: asked of the runtime, and shown in sentences.

use crate::console::effect::{Effect, FeatureReply};
use crate::console::state::State;
use crate::console::text::document::WrappedText;
use crate::console::text::reading::{ReaderText, ReaderView};
use crate::console::text::{piece, visible};
use crate::console::theme::Role;
use crate::console::widgets::sentences;
use crate::envelope::TaskId;
use crate::link::Act;

/// Asks what the current task's command would cost now. Of one that waits for the person, that is known already.
pub(in crate::console) fn ask(state: &State) -> Option<FeatureReply> {
    let task = state.at_hand()?.id.clone();
    let held = state.view.snapshot.gate.held.iter().find(|held| held.task.as_ref() == Some(&task));
    Some(match held.and_then(|held| held.cost.commands.first()) {
        Some(said) => reader(state, &task, said),
        None => FeatureReply::Do(Effect::Ask(Act::Cost.on(task))),
    })
}

/// Shows what the runtime has answered.
pub(in crate::console) fn reader(state: &State, task: &TaskId, said: &[String]) -> FeatureReply {
    let name = state.name_of(task);
    let cmd = state.view.task(task).map(|task| visible::masked_line(&task.cmd)).unwrap_or_default();
    let mut lines = vec![vec![piece(cmd, Role::Strong)], Vec::new()];
    lines.extend(sentences::lines(said));
    lines.extend([
        Vec::new(),
        vec![piece("nothing was run; it is what the text tells, not a promise", Role::Faint)],
    ]);
    FeatureReply::Read(Box::new(ReaderView {
        title: format!("what {name} would cost, run now"),
        facts: Vec::new(),
        text: ReaderText::new(WrappedText::new(lines)),
        parts: Vec::new(),
        begin: usize::MAX,
        part: "",
    }))
}
