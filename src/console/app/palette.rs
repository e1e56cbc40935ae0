//! The palette and other lists to choose from: their items, and what choosing one does.

use serde_json::json;

use crate::terminal::{Key, KeyPress};

use super::chooser::{Choice, Chooser, Item, Kind, page};
use super::program::program_file;
use super::stop::{SIGNALS, signal};
use super::{App, Layer, Screen, alias};
use crate::console::keys::{Action, Context};
use crate::console::msg::{Effect, Leave};
use crate::console::text::visible;

/// Maximum number of calls listed, newest first.
const MOST_CALLS: usize = 200;
/// Agents that can be started, with the word that starts each.
const AGENTS: [(&str, &str); 4] =
    [("claude", "Claude Code"), ("codex", "Codex"), ("gemini", "Gemini CLI"), ("opencode", "opencode")];
/// Maximum number of choices remembered.
const MOST_RECENT: usize = 12;

impl App {
    /// Opens the palette, with recently used items first.
    pub(super) fn open_palette(&mut self) {
        let mut items = self.palette_items();
        let recent = &self.memory.recent;
        items.sort_by_key(|item| {
            let used = recent.iter().position(|name| *name == item.label).unwrap_or(usize::MAX);
            (used, item.obstacle.is_some())
        });
        self.layers.push(Layer::List(Box::new(Chooser::new(Kind::Palette, items))));
        self.effects.push(Effect::Recordings);
    }

    fn palette_items(&self) -> Vec<Item> {
        let actions = Action::ALL.iter().filter(|action| !matches!(action, Action::Palette | Action::Choose));
        let mut items: Vec<Item> = actions.map(|action| self.action_item(*action)).collect();
        items.extend(self.view.all_tasks().into_iter().map(|task| {
            let what = visible::told(task.cmd.trim());
            let item = Item::new(
                alias(task),
                format!("{}  {what}", task.status.as_str()),
                Choice::Task(task.id.clone()),
            );
            let short = task.place.is_none().then(|| format!("t{}", task.number));
            Item { aliases: [alias(task)].into_iter().chain(short).collect(), ..item }
        }));
        items.extend(
            self.theme_items()
                .into_iter()
                .map(|item| Item { label: format!("theme {}", item.label), ..item }),
        );
        items.extend(
            self.layout_items()
                .into_iter()
                .map(|item| Item { label: format!("layout {}", item.label), ..item }),
        );
        items.extend(self.agent_items());
        items.extend(self.view.newest_calls().take(MOST_CALLS).map(|call| {
            let label = format!("call {}", self.call_name(call.seq));
            let about = format!("{}  {}", call.tool, visible::one_line(&call.summary));
            Item {
                aliases: vec![self.call_name(call.seq), call.seq.to_string()],
                ..Item::new(label, about, Choice::Call(call.seq))
            }
        }));
        items
    }

    fn action_item(&self, action: Action) -> Item {
        let keymap = &self.setup.keymap;
        let here = keymap.key(self.view_context(), action);
        let anywhere = || Context::ALL.iter().find_map(|context| keymap.key(*context, action));
        Item {
            key: here.or_else(anywhere).unwrap_or_default(),
            same: action.equivalent().to_owned(),
            aliases: action.old_name().map(str::to_owned).into_iter().collect(),
            also: action.synonyms(),
            obstacle: self.availability(action).err().map(|why| why.to_string()),
            ..Item::new(action.name(), action.about(), Choice::Action(action))
        }
    }

    /// Returns the agents that can be started in a pane, with the commands of their own shell redirected
    /// here.
    fn agent_items(&self) -> impl Iterator<Item = Item> {
        let obstacle = self.availability(Action::Start).err().map(|why| why.to_string());
        AGENTS.into_iter().map(move |(word, name)| {
            let about = format!("{name} in a pane, the commands of its own shell as tasks");
            let cmd = format!("pilothouse {word}");
            let item = Item::new(format!("start {word}"), about, Choice::Run(cmd.clone()));
            Item { obstacle: obstacle.clone(), same: cmd, also: "agent run", ..item }
        })
    }

    fn theme_items(&self) -> Vec<Item> {
        let themes = self.setup.theme_set.themes.list().iter();
        let items = themes.map(|listed| {
            Item::new(listed.name.clone(), listed.file.about.clone(), Choice::Theme(listed.name.clone()))
        });
        items.collect()
    }

    /// Opens the list of themes, which previews the selected theme.
    pub(super) fn open_themes(&mut self) {
        let active = self.setup.theme_set.active.clone();
        let mut chooser = Chooser::new(Kind::Themes(active.clone()), self.theme_items());
        chooser.select(&Choice::Theme(active));
        self.open(Layer::List(Box::new(chooser)))
    }

    /// Opens the list of messages, newest first.
    pub(super) fn open_messages(&mut self) {
        let zone = self.setup.zone.clone();
        let items = self.toasts.said().iter().rev().map(|said| {
            let choice = said.call.map_or(Choice::Nothing, Choice::Call);
            let call = said.call.map(|seq| format!("  call {}", self.call_name(seq))).unwrap_or_default();
            let what = if said.is_error { "error" } else { "" };
            let key = said.at.map(|at| at.to_zoned(zone.clone()).strftime("%H:%M:%S").to_string());
            Item {
                key: key.unwrap_or_default(),
                ..Item::new(said.text.clone(), format!("{what}{call}"), choice)
            }
        });
        let chooser = Chooser::new(Kind::Messages, items.collect());
        self.open(Layer::List(Box::new(chooser)))
    }

    /// Adds the finished recordings to an open palette.
    pub(super) fn list_recordings(&mut self, names: Vec<String>) {
        if let Some(Layer::List(chooser)) = self.layers.last_mut()
            && chooser.kind == Kind::Palette
        {
            let item = |name: String| {
                Item::new(format!("recording {name}"), "Look at it, read-only", Choice::Recording(name))
            };
            chooser.add(names.into_iter().map(item).collect());
        }
    }

    /// Handles a key in a list: letters filter it, other keys move and choose.
    pub(super) fn list_key(&mut self, key: KeyPress, action: Option<Action>) {
        let page = page(self.size.1);
        match action {
            Some(Action::Back) => self.close_list(),
            Some(Action::Choose) => self.choose(),
            Some(action) => {
                if let Some(Layer::List(chooser)) = self.layers.last_mut() {
                    chooser.go(action, page);
                }
                self.preview_theme();
            }
            None if self.chooses_by_letter(key) => self.choose(),
            None => {
                self.edit_key(key);
                self.filter_list();
            }
        }
    }

    /// Selects the item with this letter in a list of filters; tells whether there is one.
    fn chooses_by_letter(&mut self, key: KeyPress) -> bool {
        let Some(Layer::List(chooser)) = self.layers.last_mut() else { return false };
        let Key::Char(letter) = key.key else { return false };
        let is_plain = !key.ctrl && !key.alt && chooser.editor.value().is_empty();
        let has_letters = matches!(chooser.kind, Kind::Filters | Kind::Listing);
        is_plain && has_letters && chooser.select_key(&letter.to_string())
    }

    /// Filters the open list by the text typed so far.
    pub(super) fn filter_list(&mut self) {
        if let Some(Layer::List(chooser)) = self.layers.last_mut() {
            chooser.filter();
            self.preview_theme();
        }
    }

    fn close_list(&mut self) {
        if let Some(Layer::List(chooser)) = self.layers.pop()
            && let Kind::Themes(before) = chooser.kind
        {
            self.apply_theme(&before);
        }
    }

    /// Previews the selected theme while the list is open.
    fn preview_theme(&mut self) {
        let Some(Layer::List(chooser)) = self.layers.last() else { return };
        if let (Kind::Themes(_), Some(Choice::Theme(name))) =
            (&chooser.kind, chooser.selected().map(|item| item.choice.clone()))
        {
            self.apply_theme(&name);
        }
    }

    fn apply_theme(&mut self, name: &str) {
        self.setup.theme = self.setup.theme_set.theme(name);
        name.clone_into(&mut self.setup.theme_set.active);
        // Texts that were laid out with other glyphs must be laid out again.
        self.calls.sheet = None;
    }

    fn choose(&mut self) {
        let Some(Layer::List(chooser)) = self.layers.last() else { return };
        if let Some(file) =
            program_file(chooser.editor.value().trim()).filter(|_| chooser.kind == Kind::Palette)
        {
            let file = file.to_owned();
            self.layers.pop();
            return self.run_program(&file);
        }
        let Some(item) = chooser.selected().cloned() else { return };
        // The row says why it cannot be chosen; the list stays open for another choice.
        if item.obstacle.is_some() || item.choice == Choice::Nothing {
            return;
        }
        let is_palette = chooser.kind == Kind::Palette;
        self.layers.pop();
        match item.choice {
            Choice::Action(action) => self.act_by_name(action),
            Choice::Task(task) => {
                self.select(task);
                self.show(if self.screen == Screen::Focus { Screen::Focus } else { Screen::Tasks })
            }
            Choice::Call(seq) => self.go_to_call(seq),
            Choice::Recording(name) => self.beside(&format!("open {name}")),
            Choice::Theme(name) => {
                self.apply_theme(&name);
                self.effects.push(Effect::SaveTheme(name));
            }
            Choice::Export(export) => self.export(export),
            Choice::Filter(filter) => self.list_only(filter),
            Choice::Whose(whose) => self.list_those_of(whose),
            Choice::Arranged(choice) => self.arrange_list(choice),
            Choice::Layout(pick) => {
                self.pick_layout(&pick);
                self.show(Screen::Tasks);
            }
            Choice::Place(at) => self.go_to_place(at),
            Choice::Changes(label) => self.show_changes_of(&label),
            Choice::Run(cmd) => self.run_here(&cmd),
            Choice::Only(place) => self.show_only(place),
            Choice::Open(running) => self.effects.push(Effect::OpenPlace(running)),
            Choice::Nothing => {}
        };
        if is_palette {
            self.remember(|memory| memory.use_now(&item.label, MOST_RECENT));
        }
    }

    /// Performs an action that was chosen by name instead of with a key.
    pub(super) fn act_by_name(&mut self, action: Action) {
        if let Err(why) = self.availability(action) {
            self.say(format!("{}: {why}", action.name()));
            return;
        }
        match action {
            action if SIGNALS.iter().any(|(known, _)| *known == action) => {
                let signal = self.at_hand().and_then(|task| signal(&task.id, action));
                self.hold();
                self.effects.extend(signal);
            }
            // Asks for confirmation, with the number of tasks, just like the quit key.
            Action::StopAll => self.open(Layer::Quit),
            Action::Detach => self.effects.push(Effect::Quit(Leave::Detach)),
            other => self.act(other),
        }
    }

    fn go_to_call(&mut self, seq: u64) {
        if !self.view.newest_calls().any(|call| call.seq == seq) {
            self.say(format!("call {} is no longer on the list", self.call_name(seq)));
            return;
        }
        self.calls.filter.clear();
        if !self.newest_calls().any(|call| call.seq == seq) {
            self.show_only(None);
        }
        self.calls.selected = Some(seq);
        self.show(Screen::Receipts)
    }

    /// Runs this program as a task, to be used in its pane.
    pub(super) fn beside(&mut self, args: &str) {
        if self.is_far() {
            return self.say("that runs beside a place of this machine only: choose one");
        }
        let Some(program) = self.setup.program.as_ref() else { return };
        let quoted = program.display().to_string().replace('\'', "'\\''");
        let input = json!({"cmd": format!("'{quoted}' {args}"), "tty": true, "yield_time_ms": 0});
        self.screen = Screen::Focus;
        self.effects.push(Effect::call_at(self.place_at_hand(), "ExecCommand", input));
    }
}
