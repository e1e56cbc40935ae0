//! Messages from the user to an agent: the recipients, the line they are typed in, and what happens once they
//! are sent.

use tui_input::Input as Editor;

use crate::envelope::Actor;
use crate::link::Request;
use crate::model::TaskView;
use crate::runtime::WORDS_CHARS;
use crate::terminal::KeyPress;

use super::dialog::DIALOG_COLUMNS;
use super::layout::centred;
use super::{App, Layer, Painter, Screen, alias};
use crate::console::keys::{Action, Context};
use crate::console::msg::Effect;
use crate::console::text::{column, piece, visible};
use crate::console::theme::Role;

/// Maximum number of agents listed at once.
const MOST_SHOWN: usize = 6;

/// The dialog for telling an agent something.
#[derive(Debug, Clone)]
pub struct Tell {
    /// The labels of possible recipients, the most likely first.
    to: Vec<String>,
    /// The index of the highlighted recipient; one beyond the last means all of them.
    at: usize,
    /// The text being typed.
    pub editor: Editor,
    /// What is done once it is sent, and a description of that.
    then: Option<(Effect, String)>,
}

impl Tell {
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

impl App {
    /// Opens the dialog with `label` or the current agent first; `then` is carried out once the message is
    /// sent.
    pub(super) fn open_tell(&mut self, label: Option<String>, then: Option<(Effect, String)>) {
        let to = self.agents_to_tell(label);
        if to.is_empty() {
            return self.say("no agent is connected that could be told");
        }
        self.open(Layer::Tell(Box::new(Tell { to, at: 0, editor: Editor::default(), then })));
    }

    /// Opens it from the stop dialog: the owner of the task is told why.
    pub(super) fn stop_and_tell(&mut self, task: &TaskView, kill: bool) {
        let how = if kill { "killed" } else { "stopped: TERM, then KILL" };
        let then = (super::stop::stop_of(&task.id, kill), format!("Then {} is {how}.", alias(task)));
        self.open_tell(owner(&task.started_by), Some(then));
    }

    /// Returns the possible recipients: `nearest` or the current agent, followed by the other connected
    /// agents.
    fn agents_to_tell(&self, nearest: Option<String>) -> Vec<String> {
        let agents = &self.view.snapshot.agents;
        let nearest = nearest.or_else(|| self.agent_at_hand());
        let nearest = nearest.filter(|label| agents.iter().any(|agent| agent.label == *label));
        let connected = agents.iter().filter(|agent| agent.connected).map(|agent| agent.label.clone());
        let others: Vec<String> = connected.filter(|label| Some(label) != nearest.as_ref()).collect();
        nearest.into_iter().chain(others).collect()
    }

    /// Tells whether there is any recipient.
    pub(super) fn has_agent(&self) -> bool {
        !self.agents_to_tell(None).is_empty()
    }

    /// Returns the agent whose task or call is selected.
    fn agent_at_hand(&self) -> Option<String> {
        if self.screen == Screen::Receipts {
            let calls = &self.view.snapshot.calls;
            let call = self.calls.selected.and_then(|seq| calls.iter().find(|call| call.seq == seq));
            return call.or(calls.last()).and_then(|call| owner(&call.actor));
        }
        self.at_hand().and_then(|task| owner(&task.started_by))
    }

    /// Handles a key while a message is being typed.
    pub(super) fn tell_key(&mut self, key: KeyPress, action: Option<Action>) -> bool {
        let Some(Layer::Tell(dialog)) = self.layers.last_mut() else { return false };
        match action {
            Some(Action::Send) => self.send_words(),
            Some(Action::Leave) => {
                self.layers.pop();
            }
            Some(Action::Up) => dialog.at = dialog.at.checked_sub(1).unwrap_or(dialog.choices() - 1),
            Some(Action::Down) => dialog.at = (dialog.at + 1) % dialog.choices(),
            _ => self.edit_key(key),
        }
        true
    }

    /// Sends the message, and carries out what follows. A blank or overlong message stays open for editing.
    fn send_words(&mut self) {
        let Some(Layer::Tell(dialog)) = self.layers.last() else { return };
        let text = dialog.editor.value().trim().to_owned();
        let chars = text.chars().count();
        if text.is_empty() || chars > WORDS_CHARS {
            let why = if text.is_empty() { "nothing is written" } else { "too long: shorten it" };
            return self.say(why);
        }
        let to = dialog.recipients().to_vec();
        let then = dialog.then.clone().map(|(effect, _)| effect);
        self.layers.pop();
        self.say(self.way_of_words(&to, then.is_some()).said(&to));
        let tell = |agent| Effect::Ask(Request::Tell { agent, text: text.clone() });
        self.effects.extend(to.into_iter().map(tell).chain(then));
    }
}

/// How a message reaches its readers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WayOfWords {
    /// With the next answer to a call.
    Answer,
    /// On the standard error of the command that is stopped with it.
    StoppedCommand,
    /// On the standard error of the next command that fails, is stopped or is denied.
    Stderr,
    /// Different for several readers.
    Several,
}

impl WayOfWords {
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

impl App {
    /// Returns how a message reaches these agents; `stops` tells whether a command of the first is stopped with it.
    fn way_of_words(&self, to: &[String], stops: bool) -> WayOfWords {
        let agents = &self.view.snapshot.agents;
        let by_shell = |label: &String| agents.iter().any(|agent| agent.label == *label && agent.by_shell);
        match to.iter().filter(|label| by_shell(label)).count() {
            0 => WayOfWords::Answer,
            1 if to.len() == 1 && stops => WayOfWords::StoppedCommand,
            many if many == to.len() => WayOfWords::Stderr,
            _ => WayOfWords::Several,
        }
    }
}

/// Returns the label of an agent.
pub(super) fn owner(actor: &Actor) -> Option<String> {
    match actor {
        Actor::Agent(label) => Some(label.clone()),
        _ => None,
    }
}

pub(super) fn draw(painter: &mut Painter<'_>, dialog: &Tell) {
    let dots = painter.glyphs().cut;
    let room = usize::from(DIALOG_COLUMNS).saturating_sub(8);
    let mut rows = Vec::new();
    if dialog.choices() > 1 {
        let top = (dialog.at + 1).saturating_sub(MOST_SHOWN);
        for at in (0..dialog.choices()).skip(top).take(MOST_SHOWN) {
            let is_chosen = at == dialog.at;
            let role = if is_chosen { Role::Strong } else { Role::Text };
            let mark = piece(format!("{} ", painter.marker(is_chosen)), Role::Accent);
            rows.push(vec![mark, piece(column(&visible::one_line(dialog.choice(at)), room, dots), role)]);
        }
        rows.push(Vec::new());
    }
    let line = rows.len();
    rows.push(Vec::new());
    rows.push(Vec::new());
    let way = painter.app.way_of_words(dialog.recipients(), dialog.then.is_some());
    rows.push(vec![piece(way.promise(), Role::Faint)]);
    rows.extend(dialog.then.iter().map(|(_, text)| vec![piece(text.clone(), Role::Text)]));
    let send = if dialog.then.is_some() { "send, then stop" } else { "send" };
    let mut keys = vec![(Action::Send, send), (Action::Leave, "cancel")];
    keys.extend((dialog.choices() > 1).then_some((Action::Down, "to whom")));
    let mut foot = painter.keys(Context::Tell, &keys);
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
