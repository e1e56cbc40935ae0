//! Messages from the user to an agent: the recipients, the line they are typed in, and what happens once they
//! are sent.

use tui_input::Input as Editor;

use crate::console::effect::Effect;
use crate::console::keys::{Action, KeyContext};
use crate::console::state::{State, alias, centred, owner, stop_of};
use crate::console::text::{piece, visible};
use crate::console::theme::Role;
use crate::console::widgets::{DIALOG_COLUMNS, Painter};
use crate::link::Request;
use crate::model::TaskView;
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
    /// What is done once it is sent, and a description of that.
    then: Option<(Effect, String)>,
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
    /// Opens the dialog with `label` or the current agent first; `then` is carried out once the message is
    /// sent. Says so if there is nobody to tell.
    pub(in crate::console) fn open(
        state: &mut State,
        label: Option<String>,
        then: Option<(Effect, String)>,
    ) -> Option<Self> {
        let to = state.agents_to_tell(label);
        if to.is_empty() {
            state.say("no agent is connected that could be told");
            return None;
        }
        Some(Self { to, at: 0, editor: Editor::default(), then })
    }

    /// Opens it from the stop dialog: the owner of the task is told why.
    pub(in crate::console) fn open_with_stop(state: &mut State, task: &TaskView, kill: bool) -> Option<Self> {
        let how = if kill { "killed" } else { "stopped: TERM, then KILL" };
        let then = (stop_of(&task.id, kill), format!("Then {} is {how}.", alias(task)));
        Self::open(state, owner(&task.started_by), Some(then))
    }

    /// Goes to the previous or next recipient.
    pub(in crate::console) fn point(&mut self, is_up: bool) {
        self.at = match is_up {
            true => self.at.checked_sub(1).unwrap_or(self.choices() - 1),
            false => (self.at + 1) % self.choices(),
        };
    }

    /// Sends what is written; tells whether it was sent.
    pub(in crate::console) fn send(&self, state: &mut State) -> bool {
        let text = self.editor.value().trim().to_owned();
        let chars = text.chars().count();
        if text.is_empty() || chars > WORDS_CHARS {
            let why = if text.is_empty() { "nothing is written" } else { "too long: shorten it" };
            state.say(why);
            return false;
        }
        let to = self.recipients().to_vec();
        let then = self.then.clone().map(|(effect, _)| effect);
        state.say(way_of_words(state, &to, then.is_some()).said(&to));
        let tell = |agent| Effect::Ask(Request::Tell { agent, text: text.clone() });
        state.effects.extend(to.into_iter().map(tell).chain(then));
        true
    }
}

/// How a message reaches its readers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MessageDelivery {
    /// With the next answer to a call.
    Answer,
    /// On the standard error of the command that is stopped with it.
    StoppedCommand,
    /// On the standard error of the next command that fails, is stopped or is denied.
    Stderr,
    /// Different for several readers.
    Several,
}

impl MessageDelivery {
    /// Describes it before the message is sent.
    fn promise(self) -> &'static str {
        match self {
            Self::Answer => "It goes with the next answer to a call, as your words.",
            Self::StoppedCommand => "It ends the command's standard error, as your words.",
            Self::Stderr => "Its next command that fails, is stopped or denied says it.",
            Self::Several => "With the next answer; else a command that fails says it.",
        }
    }

    /// Describes it once the message is sent.
    fn said(self, to: &[String]) -> String {
        let who = to.iter().map(|label| visible::one_line(label).into_owned()).collect::<Vec<_>>().join(", ");
        match self {
            Self::Answer => format!("{who} will read it with the next answer"),
            Self::StoppedCommand => format!("{who} will read it at the end of the command's output"),
            Self::Stderr => format!("kept for {who} until a command of it fails, is stopped or denied"),
            Self::Several => format!("kept for {who}: for the next answer, else a command that fails"),
        }
    }
}

/// Returns how a message reaches these agents; `stops` tells whether a command of the first is stopped with it.
fn way_of_words(state: &State, to: &[String], stops: bool) -> MessageDelivery {
    let agents = &state.view.snapshot.agents;
    let by_shell = |label: &String| agents.iter().any(|agent| agent.label == *label && agent.by_shell);
    match to.iter().filter(|label| by_shell(label)).count() {
        0 => MessageDelivery::Answer,
        1 if to.len() == 1 && stops => MessageDelivery::StoppedCommand,
        many if many == to.len() => MessageDelivery::Stderr,
        _ => MessageDelivery::Several,
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
    let way = way_of_words(painter.state, dialog.recipients(), dialog.then.is_some());
    rows.push(vec![piece(way.promise(), Role::Faint)]);
    rows.extend(dialog.then.iter().map(|(_, text)| vec![piece(text.clone(), Role::Text)]));
    let send = if dialog.then.is_some() { "send, then stop" } else { "send" };
    let mut keys = vec![(Action::Send, send), (Action::Leave, "cancel")];
    keys.extend((dialog.choices() > 1).then_some((Action::Down, "to whom")));
    let mut foot = painter.keys(KeyContext::Tell, &keys);
    let chars = dialog.editor.value().chars().count();
    let role = if chars > WORDS_CHARS { Role::Failed } else { Role::Faint };
    foot.push(piece(format!("   {chars}/{WORDS_CHARS}"), role));
    rows.extend([Vec::new(), foot]);
    let area = centred(painter.size(), DIALOG_COLUMNS, rows.len(), 1);
    let title = format!("tell {}", visible::one_line(dialog.choice(dialog.at)));
    let inside = painter.boxed(area, &title);
    painter.list(inside, rows, |_, row| (row, false));
    let label = [painter.prompt()];
    painter.editor(inside, u16::try_from(line).unwrap_or(0), &label, &dialog.editor, false, true);
}
