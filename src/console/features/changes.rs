//! What differs in the workspace's tree since a task began, or since an agent's first command: the files, and their
//! lines. It is read from the runtime's ledger, and drawn here: no other program takes part.

use crate::console::effect::{Effect, FeatureReply};
use crate::console::state::{ListChoice, State, actor_name, short_alias};
use crate::console::text::diff::FileDiffs;
use crate::console::text::reading::{ReaderText, ReaderView};
use crate::console::text::{StyledPiece, count, grouped_amount, piece, visible};
use crate::console::theme::Role;
use crate::console::widgets::{Chooser, ListItem, ListKind};
use crate::envelope::Actor;
use crate::link::Act;
use crate::model::{AgentView, ChangedFile, ChangesReport, Subject, TreeChanges};

/// Returns the current task or the agent since whose beginning the tree can be compared; a list if there are several.
pub(in crate::console) fn comparisons(state: &State) -> Result<Chooser, Option<Subject>> {
    let mut items = choices(state);
    match items.len() {
        0 | 1 => Err(items.pop().and_then(|item| match item.choice {
            ListChoice::Changes(since) => Some(since),
            _ => None,
        })),
        _ => Ok(Chooser::new(ListKind::Changes, items)),
    }
}

/// Asks the runtime for what differs since then.
pub(in crate::console) fn ask(since: Subject) -> FeatureReply {
    FeatureReply::Do(Effect::Ask(Act::Changes.on(since)))
}

/// Tells whether there is anything since which the tree could be compared.
pub(in crate::console) fn has_choice(state: &State) -> bool {
    !choices(state).is_empty()
}

fn choices(state: &State) -> Vec<ListItem> {
    let task = state.at_hand().filter(|task| task.started_at.is_some());
    let own = task.map(|task| {
        let known = task.changes.as_ref().map(|changes| format!("since it began: {changes}"));
        let about = known.unwrap_or_else(|| "since it began".to_owned());
        let since = Subject::Task(task.id.clone());
        ListItem::new(short_alias(task), about, ListChoice::Changes(since))
    });
    let item = |agent: &AgentView| {
        let since = Subject::Agent(agent.label.clone());
        let name = visible::one_line(&agent.label).into_owned();
        ListItem::new(name, "since its first command".to_owned(), ListChoice::Changes(since))
    };
    let agents = state.view.snapshot.agents.iter().filter(|agent| agent.first_call.is_some());
    own.into_iter().chain(agents.map(item)).collect()
}

/// Shows what the runtime has answered.
pub(in crate::console) fn show(
    state: &State,
    since: &Subject,
    report: &ChangesReport,
) -> Option<FeatureReply> {
    let since = match since {
        Subject::Task(id) => format!("{} began", state.name_of(id)),
        Subject::Agent(label) => format!("the first command of {}", actor_name(&Actor::Agent(label.clone()))),
        _ => return None,
    };
    let title = format!("what differs in this tree since {since}");
    Some(FeatureReply::Read(Box::new(reader(title, facts(state, report), report))))
}

/// Returns what is to be said of the list as a whole, a line each.
fn facts(state: &State, report: &ChangesReport) -> Vec<StyledPiece> {
    let TreeChanges { by_git, shared_with, together, incomplete, .. } = &report.changes;
    let mut facts = Vec::new();
    facts.extend(incomplete.as_ref().map(|why| piece(visible::one_line(why), Role::Waiting)));
    facts.extend(
        (*by_git > 0).then(|| piece(format!("by git: {}", grouped_amount(*by_git, "file")), Role::Text)),
    );
    let tasks = [state.together(together), state.shared_with(shared_with)];
    facts.extend(tasks.into_iter().flatten().map(|text| piece(text, Role::Text)));
    facts
}

/// Lays out a report: the files first, then the lines of each.
fn reader(title: String, facts: Vec<StyledPiece>, report: &ChangesReport) -> ReaderView {
    let mut diffs = FileDiffs::default();
    facts.into_iter().for_each(|fact| diffs.say(vec![fact]));
    for file in &report.files {
        diffs.say(vec![mark(file), piece(visible::one_line(&file.path), Role::Text)]);
    }
    if report.files.is_empty() {
        diffs.say(vec![piece("nothing differs", Role::Faint)]);
    }
    if report.left_out > 0 {
        diffs.say(vec![piece(format!("and {} more files", count(report.left_out)), Role::Faint)]);
    }
    for file in &report.files {
        diffs.say(Vec::new());
        let mut head = vec![mark(file), piece(visible::one_line(&file.path), Role::Strong)];
        let note = file.note.as_ref();
        head.extend(note.map(|note| piece(format!("  {}", visible::one_line(note)), Role::Faint)));
        diffs.part(head);
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        // Where only one of two texts is known, every line would look new.
        if file.before.is_some() == file.was && file.after.is_some() == file.is {
            diffs.add(&text(&file.before), &text(&file.after));
        }
    }
    let (document, parts) = diffs.finish();
    let facts = vec![piece(report.changes.to_string(), Role::Strong)];
    ReaderView { title, facts, text: ReaderText::new(document), parts, begin: usize::MAX, part: "file" }
}

fn mark(file: &ChangedFile) -> StyledPiece {
    let role = match file.mark() {
        '+' => Role::Running,
        '-' => Role::Failed,
        _ => Role::Waiting,
    };
    piece(format!("{} ", file.mark()), role)
}
