//! The list over the screen: its keys, and what choosing from it does.

use jiff::Timestamp;

use crate::console::app::App;
use crate::console::app::layer::Layer;
use crate::console::effect::{Effect, Leave};
use crate::console::features::{changes, export, palette, tilings};
use crate::console::keys::Action;
use crate::console::state::{ExportKind, ListChoice, SIGNALS, Screen, program_file, signal};
use crate::console::widgets::chooser::page;
use crate::console::widgets::{Chooser, ListKind};
use crate::terminal::{Key, KeyPress};

/// Maximum number of choices remembered.
pub(in crate::console) const MOST_RECENT: usize = 12;

impl App {
    /// Opens the palette, with recently used items first.
    pub(in crate::console) fn open_palette(&mut self) {
        let layouts = tilings::layout_items(&self.state);
        let mut items = palette::palette_items(&self.state, layouts, &|action| self.availability(action));
        let recent = &self.state.memory.recent;
        items.sort_by_key(|item| {
            let used = recent.iter().position(|name| *name == item.label).unwrap_or(usize::MAX);
            (used, item.obstacle.is_some())
        });
        self.open_list(Chooser::new(ListKind::Palette, items));
        self.state.effects.push(Effect::Recordings);
    }

    /// Adds the finished recordings to an open palette.
    pub(in crate::console) fn list_recordings(&mut self, recordings: Vec<(String, Option<Timestamp>)>) {
        let items = palette::recording_items(&self.state, recordings);
        self.open_list_of(&ListKind::Palette).into_iter().for_each(|list| list.add(items.clone()));
    }

    /// Handles a key in a list: letters filter it, other keys move and choose.
    pub(in crate::console) fn list_key(&mut self, key: KeyPress, action: Option<Action>) {
        let page = page(self.state.outer.size.1);
        match action {
            Some(Action::Back) => self.close_list(),
            Some(Action::Choose) => self.choose(),
            Some(action) => {
                if let (Some(Layer::List(chooser)), Some(motion)) = (self.layers.last_mut(), action.motion())
                {
                    chooser.go(motion, page);
                }
                self.preview_theme();
            }
            None if self.closes_help(key) => self.close_list(),
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
        is_plain && chooser.kind.has_letters() && chooser.select_key(&letter.to_string())
    }

    /// Tells whether a key that opened help closes it again: before anything is written in it.
    fn closes_help(&self, key: KeyPress) -> bool {
        let Some(Layer::List(chooser)) = self.layers.last() else { return false };
        let opened = self.state.setup.keymap.action(self.state.view_context(), key) == Some(Action::Help);
        opened && matches!(chooser.kind, ListKind::Help(_)) && chooser.editor.value().is_empty()
    }

    /// Filters the open list by the text typed so far.
    pub(in crate::console) fn filter_list(&mut self) {
        if let Some(Layer::List(chooser)) = self.layers.last_mut() {
            chooser.filter();
            self.preview_theme();
        }
    }

    fn close_list(&mut self) {
        if let Some(Layer::List(chooser)) = self.layers.pop()
            && let ListKind::Themes(before) = chooser.kind
        {
            self.apply_theme(&before);
        }
    }

    /// Previews the selected theme while the list is open.
    fn preview_theme(&mut self) {
        let Some(Layer::List(chooser)) = self.layers.last() else { return };
        if let (ListKind::Themes(_), Some(ListChoice::Theme(name))) =
            (&chooser.kind, chooser.selected_item().map(|item| item.choice.clone()))
        {
            self.apply_theme(&name);
        }
    }

    fn apply_theme(&mut self, name: &str) {
        self.state.setup.theme = self.state.setup.theme_set.theme(name);
        name.clone_into(&mut self.state.setup.theme_set.active);
        // Texts that were laid out with other glyphs must be laid out again.
        self.receipts.sheet = None;
    }

    fn choose(&mut self) {
        let Some(Layer::List(chooser)) = self.layers.last() else { return };
        if let Some(file) =
            program_file(chooser.editor.value().trim()).filter(|_| chooser.kind == ListKind::Palette)
        {
            let file = file.to_owned();
            self.layers.pop();
            return self.state.run_program(&file);
        }
        let Some(item) = chooser.selected_item().cloned() else { return };
        // The list stays open for another choice.
        if item.obstacle.is_some() || item.choice == ListChoice::Nothing {
            let why = item.obstacle.unwrap_or_else(|| "there is nothing to choose in it".to_owned());
            return self.state.decline(why);
        }
        let is_palette = chooser.kind == ListKind::Palette;
        self.layers.pop();
        match item.choice {
            ListChoice::Action(action) => self.act_by_name(action),
            ListChoice::Task(task) => {
                self.state.select(task);
                self.state.show(if self.state.focus.screen == Screen::Focus {
                    Screen::Focus
                } else {
                    Screen::Tasks
                })
            }
            ListChoice::Call(seq) => self.state.go_to_call(seq),
            ListChoice::Recording(name) => self.run_beside(&format!("open {name}")),
            ListChoice::Theme(name) => {
                self.apply_theme(&name);
                self.state.effects.push(Effect::SaveTheme(name));
            }
            ListChoice::Export(ExportKind::Screen(shot)) => self.shoot(shot),
            ListChoice::Export(ExportKind::Share(form)) => self.share(form),
            ListChoice::Export(export) => self.state.effects.extend(export::export(&self.state, export)),
            ListChoice::Filter(filter) => self.state.list_only(filter),
            ListChoice::Whose(whose) => self.state.list_those_of(whose),
            ListChoice::Ruling(ruling) => {
                (self.state.calls.ruling, self.state.calls.selected) = (ruling, None);
            }
            ListChoice::Arranged(choice) => {
                let list = self.state.arrange_list(choice);
                self.open_list(list);
            }
            ListChoice::Layout(pick) => {
                self.state.pick_layout(pick);
                self.state.show(Screen::Tasks);
            }
            ListChoice::Place(at) => self.go_to_place(at),
            ListChoice::Changes(since) => self.state.reply([changes::ask(since)]),
            ListChoice::Run(cmd) => self.run_here(&cmd),
            ListChoice::Only(place) => self.state.show_only(place),
            ListChoice::Open(running) => self.state.effects.push(Effect::OpenPlace(running)),
            ListChoice::Nothing => {}
        };
        if is_palette {
            self.state.remember(|memory| memory.use_now(&item.label, MOST_RECENT));
        }
    }

    /// Performs an action that was chosen by name instead of with a key.
    pub(in crate::console) fn act_by_name(&mut self, action: Action) {
        if let Err(why) = self.availability(action) {
            return self.refuse(action, why);
        }
        match action {
            action if SIGNALS.iter().any(|(known, _)| *known == action) => {
                if self.state.reaches_target(Action::Signal) {
                    let signal = self.state.at_hand().and_then(|task| signal(&task.id, action));
                    self.state.hold();
                    self.state.effects.extend(signal);
                }
            }
            // Asks for confirmation, with the number of tasks, just like the quit key.
            Action::StopAll => self.open(Layer::Quit),
            Action::Detach => self.state.effects.push(Effect::Quit(Leave::Detach)),
            other => self.act(other),
        }
    }
}
