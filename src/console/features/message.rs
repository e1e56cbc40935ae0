//! Messages from the user to an agent: the recipients, the line they are typed in, and what happens once they
//! are sent.

use std::sync::Arc;

use tui_input::Input as Editor;

use crate::console::effect::{Effect, FeatureReply};
use crate::console::keys::{Action, KeyContext};
use crate::console::state::delivery::MessageDelivery;
use crate::console::state::{State, alias, over_screen, owner, stop_of};
use crate::console::text::{piece, visible};
use crate::console::theme::Role;
use crate::console::widgets::{DIALOG_COLUMNS, Painter};
use crate::link::Act;
use crate::model::{Subject, TaskView};
use crate::runtime::WORDS_CHARS;

/// Maximum number of agents listed at once.
const MOST_SHOWN: usize = 6;

/// The dialog for telling an agent something.
#[derive(Debug, Clone)]
pub struct MessageDialog {
    /// The labels of possible recipients, the most likely first.
    to: Vec<String>,
    /// The index of the highlighted recipient; one beyond the last means all of them.
    at: usize,
    /// The text being typed.
    pub editor: Editor,
    /// The task that is stopped once it is sent, whether at once, and a description of that.
    then: Option<(Arc<TaskView>, bool, String)>,
}

impl MessageDialog {
    /// Returns the labels of the recipients.
    fn recipients(&self) -> &[String] {
        self.to.get(self.at..=self.at).unwrap_or(&self.to)
    }

    /// Returns the number of choices: each agent, plus all of them if there are several.
    fn choices(&self) -> usize {
        if self.to.len() > 1 { self.to.len() + 1 } else { 1 }
    }

    /// Returns the text of a choice.
    fn choice(&self, at: usize) -> &str {
        self.to.get(at).map_or("all of them", String::as_str)
    }
}

impl MessageDialog {
    /// Opens the dialog with `label` or the current agent first. Says so if there is nobody to tell.
    pub(in crate::console) fn open(state: &State, label: Option<String>) -> Option<Self> {
        let to = state.agents_to_tell(label);
        (!to.is_empty()).then(|| Self { to, at: 0, editor: Editor::default(), then: None })
    }

    /// Opens it from the stop dialog: the owner of the task is told why.
    pub(in crate::console) fn open_with_stop(state: &State, task: Arc<TaskView>, kill: bool) -> Option<Self> {
        let how = if kill { "killed" } else { "stopped: TERM, then KILL" };
        let text = format!("Then {} is {how}.", alias(&task));
        let dialog = Self::open(state, owner(&task.started_by))?;
        Some(Self { then: Some((task, kill, text)), ..dialog })
    }

    /// Returns how the message reaches its recipients.
    fn delivery(&self, state: &State) -> MessageDelivery {
        let stopped = self.then.as_ref().map(|(task, ..)| &**task);
        MessageDelivery::of(&state.view.snapshot, self.recipients(), stopped)
    }

    /// Goes to the previous or next recipient.
    pub(in crate::console) fn point(&mut self, is_up: bool) {
        self.at = match is_up {
            true => self.at.checked_sub(1).unwrap_or(self.choices() - 1),
            false => (self.at + 1) % self.choices(),
        };
    }

    /// Sends what is written; tells whether it was sent.
    pub(in crate::console) fn send(&self, state: &State) -> Result<Vec<FeatureReply>, &'static str> {
        let text = self.editor.value().trim().to_owned();
        let chars = text.chars().count();
        if text.is_empty() || chars > WORDS_CHARS {
            return Err(if text.is_empty() { "nothing is written" } else { "too long: shorten it" });
        }
        let to = self.recipients().to_vec();
        let then = self.then.as_ref().map(|(task, kill, _)| stop_of(&task.id, *kill));
        let said = FeatureReply::Say(self.delivery(state).confirmation(&to));
        let tell = |agent| Effect::Ask(Act::Tell(text.clone()).on(Subject::Agent(agent)));
        Ok(to.into_iter().map(tell).chain(then).map(FeatureReply::Do).chain([said]).collect())
    }
}

pub(in crate::console) fn draw(painter: &mut Painter<'_>, dialog: &MessageDialog) {
    let mut rows = Vec::new();
    if dialog.choices() > 1 {
        let labels = (0..dialog.choices()).map(|at| dialog.choice(at));
        rows.extend(painter.choices(labels, Some(dialog.at), MOST_SHOWN));
        rows.push(Vec::new());
    }
    let line = rows.len();
    rows.push(Vec::new());
    rows.push(Vec::new());
    rows.push(vec![piece(dialog.delivery(painter.state).promise(), Role::Faint)]);
    rows.extend(dialog.then.iter().map(|(.., text)| vec![piece(text.clone(), Role::Text)]));
    let send = if dialog.then.is_some() { "send, then stop" } else { "send" };
    let mut keys = vec![(Action::Send, send), (Action::Leave, "cancel")];
    keys.extend((dialog.choices() > 1).then_some((Action::Down, "to whom")));
    let mut foot = painter.keys(KeyContext::Tell, &keys);
    let chars = dialog.editor.value().chars().count();
    let role = if chars > WORDS_CHARS { Role::Failed } else { Role::Faint };
    foot.push(piece(format!("   {chars}/{WORDS_CHARS}"), role));
    rows.extend([Vec::new(), foot]);
    let area = over_screen(painter.size(), DIALOG_COLUMNS, rows.len(), 1);
    let title = format!("tell {}", visible::one_line(dialog.choice(dialog.at)));
    let inside = painter.draw_box(area, &title);
    painter.list(inside, rows, |_, row| (row, false));
    let label = [painter.prompt()];
    painter.editor(inside, u16::try_from(line).unwrap_or(0), &label, &dialog.editor, false, true);
}
