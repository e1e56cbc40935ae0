//! Where typed keys and pastes go: into the task, an input line or a dialog.

use tui_input::{Input as Editor, InputRequest};

use crate::console::app::App;
use crate::console::app::layer::Layer;
use crate::console::effect::Effect;
use crate::console::features::approval::card::{Card, CardText};
use crate::console::features::palette;
use crate::console::features::paste::{self, UnsentPaste, line_feeds, size};
use crate::console::keys::{Action, CopyAction, KeyContext};
use crate::console::state::key_target::RESTED;
use crate::console::state::{
    Filters, Layout, MOST_WRITTEN, Mode, Prompt, program_file, start_of, takes_input,
};
use crate::console::widgets::{Chooser, ListKind, text_field};
use crate::envelope::TaskId;
use crate::link::Act;
use crate::model::{MOST_INPUT, TaskView, TypedInput};
use crate::terminal::{Key, KeyPress};

/// Maximum length of a name, a rule, or a text to find or to filter by, in bytes: it is compared with much else as it
/// is written.
pub(in crate::console) const MOST_QUERY: usize = 1 << 10;

impl App {
    pub(in crate::console) fn paste(&mut self, text: String) {
        if self.state.is_leaving {
            return;
        }
        if !self.layers.is_empty() {
            return self.insert(&text);
        }
        match &self.state.focus.mode {
            Mode::Copy(_) => {}
            Mode::Observe => self.state.say("Enter to type into the task, then paste"),
            Mode::Input(task) => {
                let task = task.clone();
                if !self.state.view.task(&task).is_some_and(|task| takes_input(task)) {
                    return;
                }
                if text.len() > MOST_INPUT {
                    return self
                        .state
                        .toasts
                        .fail(paste::refusal(text.len(), "a task takes", MOST_INPUT), None);
                }
                if text.trim_end_matches(['\r', '\n']).contains(['\r', '\n']) {
                    return self.open(Layer::Paste(Box::new(UnsentPaste::new(task, text))));
                }
                self.state.effects.push(Effect::send(task, TypedInput::Paste(text)));
            }
            Mode::Write(..) => self.insert(&text),
        }
    }

    /// Inserts pasted text into the text being written, as one edit.
    fn insert(&mut self, text: &str) {
        let (most, text) = (self.most_written(), text.trim_end_matches(['\r', '\n']));
        let Some(editor) = self.editor() else {
            return self.state.say("a paste is no answer here: press a key");
        };
        if editor.value().len() + text.len() > most {
            return self.state.toasts.fail(paste::refusal(text.len(), "this line holds", most), None);
        }
        let (pasted, cursor) = (line_feeds(text), editor.cursor());
        let mut value = editor.value().to_owned();
        let at = value.char_indices().nth(cursor).map_or(value.len(), |(at, _)| at);
        value.insert_str(at, &pasted);
        *editor = Editor::new(value).with_cursor(cursor + pasted.chars().count());
        self.rewrite_rule();
        self.filter_list();
        self.state.filter_calls();
        self.state.filter_tasks();
        self.state.find_as_written();
    }

    /// Handles a key while a message is being typed.
    fn tell_key(&mut self, key: KeyPress, action: Option<Action>) -> bool {
        let Some(Layer::Tell(dialog)) = self.layers.last_mut() else { return false };
        match action {
            Some(Action::Send) => match dialog.send(&self.state) {
                Ok(replies) => {
                    self.layers.pop();
                    self.state.reply(replies);
                }
                // It stays open for editing.
                Err(why) => self.state.say(why),
            },
            Some(Action::Leave) => drop(self.layers.pop()),
            Some(Action::Up) => dialog.point(true),
            Some(Action::Down) => dialog.point(false),
            _ => self.edit_key(key),
        }
        true
    }

    /// Handles a key while text is being typed on a card; returns false when keys mean actions.
    fn card_key(&mut self, key: KeyPress, action: Option<Action>) -> bool {
        let Some(Layer::Approval(card @ Card { writing: Some(_), .. })) = self.layers.last_mut() else {
            return false;
        };
        match action {
            Some(Action::Send) => self.state.reply(card.send(&self.state)),
            Some(Action::Leave) => (card.writing, card.reading.shown_at) = (None, None),
            _ => self.edit_key(key),
        }
        true
    }

    /// Handles a key while text is being typed in a dialog; returns false when keys mean actions.
    pub(in crate::console) fn type_in_dialog(&mut self, key: KeyPress, action: Option<Action>) -> bool {
        let Some(Layer::Question(dialog)) = self.layers.last() else { return false };
        if !matches!(dialog.context(), KeyContext::Answer | KeyContext::Reason) {
            return false;
        }
        let writes = action.is_none_or(|action| action == Action::Newline);
        if let Some(told) = self.state.refusal_of_question(&dialog.question).filter(|_| writes) {
            self.state.say(told);
            return true;
        }
        let Some(Layer::Question(dialog)) = self.layers.last_mut() else { return false };
        match action {
            Some(Action::Back) if dialog.is_noting => (dialog.is_noting, dialog.is_denying) = (false, false),
            Some(Action::Newline) => self.edit(tui_input::InputRequest::InsertChar('\n')),
            Some(_) => return false,
            None => self.edit_key(key),
        }
        true
    }

    /// Restarts the reading time of a card whose rule was edited.
    fn rewrite_rule(&mut self) {
        if let Some(Layer::Approval(card)) = self.layers.last_mut() {
            card.rewritten();
        }
    }

    /// Returns the maximum length of the text being written, in bytes.
    pub(in crate::console) fn most_written(&self) -> usize {
        match (self.layers.last(), &self.state.focus.mode) {
            (Some(Layer::List(_) | Layer::Approval(Card { writing: Some(CardText::Rule(_)), .. })), _) => {
                MOST_QUERY
            }
            (Some(_), _) | (None, Mode::Write(Prompt::Line(_) | Prompt::Start, _)) => MOST_WRITTEN,
            (None, _) => MOST_QUERY,
        }
    }
}

impl App {
    /// Handles a key while something is being typed; returns false when keys mean actions.
    pub(in crate::console) fn type_key(&mut self, key: KeyPress, action: Option<Action>) -> bool {
        if !self.layers.is_empty() {
            return self.card_key(key, action)
                || self.tell_key(key, action)
                || self.type_in_dialog(key, action);
        }
        match &self.state.focus.mode {
            Mode::Observe => return self.literal_chord(key, action),
            Mode::Copy(_) => match action.and_then(CopyAction::of) {
                Some(action) => self.state.act_in_copy(action),
                None => self.say_unbound(key),
            },
            Mode::Input(task) => self.input_key(&task.clone(), key, action),
            Mode::Write(prompt, _) => self.prompt_key(prompt.clone(), key, action),
        }
        true
    }

    /// Pressing the chord that leaves input mode again sends it to the task: `Ctrl-]` twice is one for the
    /// child.
    fn literal_chord(&mut self, key: KeyPress, action: Option<Action>) -> bool {
        let leaves = self.state.setup.keymap.action(KeyContext::Input, key) == Some(Action::Leave);
        if action != Some(Action::Input) || !leaves {
            return false;
        }
        self.act(Action::Input);
        if let Mode::Input(task) = &self.state.focus.mode {
            self.state.effects.push(Effect::send(task.clone(), TypedInput::Keys(vec![key])));
        }
        true
    }

    fn input_key(&mut self, task: &TaskId, key: KeyPress, action: Option<Action>) {
        let leaves = action == Some(Action::Leave);
        let view = self.state.view.task(task).cloned();
        if let Some(view) = view.as_ref().filter(|task| task.status.is_terminal()) {
            return self.leave_ended(view, leaves);
        }
        if leaves {
            self.state.observe();
            return self.state.let_go();
        }
        if self.state.view.is_lost || !view.is_some_and(|task| takes_input(&task)) {
            return self.state.decline("nothing takes the keys now");
        }
        self.state.thaw();
        self.state.effects.push(Effect::send(task.clone(), TypedInput::Keys(vec![key])));
    }

    /// Handles a key for a task that ended while being typed into: the key is discarded, so that none becomes
    /// a command; the first key after a pause returns to where the task was entered from.
    fn leave_ended(&mut self, task: &TaskView, at_once: bool) {
        let ended = task.ended.as_ref().map_or(task.updated_at, |ended| ended.at);
        let last =
            self.swallowed.replace(self.state.clock.now).map_or(ended, |swallowed| swallowed.max(ended));
        if !at_once && self.state.clock.now.duration_since(last) < RESTED {
            return;
        }
        self.state.observe();
        self.state.let_go();
        if let Some(screen) = self.entered_from.take() {
            self.state.show(screen);
        }
    }

    fn prompt_key(&mut self, prompt: Prompt, key: KeyPress, action: Option<Action>) {
        let has_history = matches!(prompt, Prompt::Line(_) | Prompt::Start);
        match (action, prompt) {
            (Some(Action::Leave), prompt) => self.leave_prompt(&prompt),
            (Some(Action::Raw), Prompt::Line(task)) => self.state.focus.mode = Mode::Input(task),
            (Some(Action::Newline), Prompt::Line(_)) => self.edit(InputRequest::InsertChar('\n')),
            (Some(Action::Send), Prompt::Line(task)) => {
                self.state.send_line(&task);
                self.state.observe();
            }
            (Some(Action::SendOn), Prompt::Line(task)) => self.state.send_line(&task),
            (Some(Action::Send), Prompt::Rename(task)) => {
                let name = self.state.take_written();
                let name = Some(name.trim().to_owned()).filter(|name| !name.is_empty());
                self.state.effects.push(Effect::Ask(Act::Rename(name).on(task)));
            }
            (Some(Action::Send), Prompt::Watch(task)) => {
                let text = self.state.take_written();
                self.watch_for(&task, &text);
            }
            (Some(Action::Run), Prompt::Start) => {
                let cmd = self.state.take_command();
                match program_file(&cmd) {
                    Some(file) => self.state.run_program(file),
                    None if cmd.is_empty() => {}
                    None => self.run_here(&cmd),
                }
            }
            (Some(Action::Find), Prompt::Search(task)) => self.state.find_in_pane(task),
            (Some(Action::Find), Prompt::SearchAll) => {
                let needle = self.state.take_written();
                if !needle.is_empty() {
                    self.state.effects.extend(self.everywhere.search(&self.state.view, needle));
                    self.open_list(Chooser::new(ListKind::Places, Vec::new()));
                }
            }
            (Some(Action::Find), Prompt::Find) => self.start_finding(),
            (Some(Action::Find), Prompt::FilterCalls | Prompt::FilterTasks) => self.state.observe(),
            (_, Prompt::FilterTasks) => self.write_filter_key(key),
            (_, Prompt::FilterCalls) => {
                self.edit_key(key);
                self.state.filter_calls();
            }
            (_, Prompt::Search(_)) => {
                self.edit_key(key);
                self.state.find_as_written();
            }
            // Of several lines written before, unless the input is hidden.
            _ if has_history && self.state.call_back(key) => {}
            _ => self.edit_key(key),
        }
    }

    /// Discards what was typed, and what it had been applied to as it was typed.
    fn leave_prompt(&mut self, prompt: &Prompt) {
        match prompt {
            Prompt::Search(_) => {
                self.state.thaw();
            }
            Prompt::FilterCalls => self.state.calls.filter.clear(),
            Prompt::FilterTasks => {
                self.state.set_filters(Filters { text: String::new(), ..self.state.list.filters.clone() });
            }
            _ => {}
        }
        self.state.observe();
    }

    /// Runs a command in a pane as wide as the screen, which receives the keys.
    pub(in crate::console) fn run_here(&mut self, cmd: &str) {
        self.enters_next = true;
        let place = self.state.composer.start_at.take().or_else(|| self.state.place_at_hand());
        self.state.effects.push(start_of(place, cmd, Some(Layout::alone(&self.state))));
    }

    /// Does the same with this program and these arguments.
    pub(in crate::console) fn run_beside(&mut self, args: &str) {
        if self.state.is_far() {
            return self.state.say("that runs beside a place of this machine only: choose one");
        }
        let cmd = palette::beside(&self.state, args);
        cmd.into_iter().for_each(|cmd| self.run_here(&cmd));
    }

    pub(in crate::console) fn edit_key(&mut self, press: KeyPress) {
        match text_field::request(press) {
            Some(request) => self.edit(request),
            None => self.say_unbound(press),
        }
    }

    pub(in crate::console) fn edit(&mut self, request: InputRequest) {
        let most = self.most_written();
        let Some(editor) = self.editor() else { return };
        if matches!(request, InputRequest::InsertChar(_)) && editor.value().len() >= most {
            return self.state.say(format!("the line is full: it holds {}", size(most)));
        }
        let _ = editor.handle(request);
        self.rewrite_rule();
    }

    pub(in crate::console) fn editor(&mut self) -> Option<&mut Editor> {
        if let Some(layer) = self.layers.last_mut() {
            return match layer {
                Layer::List(chooser) => Some(&mut chooser.editor),
                Layer::Approval(card) => card.writing.as_mut().map(CardText::editor),
                Layer::Question(dialog) => dialog.editor(),
                Layer::Tell(dialog) => Some(&mut dialog.editor),
                _ => None,
            };
        }
        self.state.editor()
    }

    /// Handles a key while the filter is being typed: up and down move through the listed tasks.
    pub(in crate::console) fn write_filter_key(&mut self, press: KeyPress) {
        match press.key {
            Key::Up => self.state.step_task(-1),
            Key::Down => self.state.step_task(1),
            _ => {
                self.edit_key(press);
                self.state.filter_tasks();
            }
        }
    }
}
