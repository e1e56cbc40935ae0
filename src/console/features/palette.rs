//! The palette and other lists to choose from: their items, and what choosing one does.

use serde_json::json;

use crate::console::effect::Effect;
use crate::console::keys::{Action, Context};
use crate::console::state::State;
use crate::console::state::availability::Availability;
use crate::console::state::choice::Choice;
use crate::console::state::focus::Screen;
use crate::console::state::names::alias;
use crate::console::text::visible;
use crate::console::widgets::chooser::{Chooser, Item, Kind};

/// Maximum number of calls listed, newest first.
const MOST_CALLS: usize = 200;

/// Agents that can be started, with the word that starts each.
const AGENTS: [(&str, &str); 4] =
    [("claude", "Claude Code"), ("codex", "Codex"), ("gemini", "Gemini CLI"), ("opencode", "opencode")];

impl State {
    pub(in crate::console) fn palette_items(
        &self,
        layouts: Vec<Item>,
        availability: Availability<'_>,
    ) -> Vec<Item> {
        let actions = Action::ALL.iter().filter(|action| !matches!(action, Action::Palette | Action::Choose));
        let mut items: Vec<Item> = actions.map(|action| self.action_item(*action, availability)).collect();
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
        items
            .extend(layouts.into_iter().map(|item| Item { label: format!("layout {}", item.label), ..item }));
        items.extend(agent_items(availability));
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

    fn action_item(&self, action: Action, availability: Availability<'_>) -> Item {
        let keymap = &self.setup.keymap;
        let here = keymap.key(self.view_context(), action);
        let anywhere = || Context::ALL.iter().find_map(|context| keymap.key(*context, action));
        Item {
            key: here.or_else(anywhere).unwrap_or_default(),
            same: action.equivalent().to_owned(),
            aliases: action.old_name().map(str::to_owned).into_iter().collect(),
            also: action.synonyms(),
            obstacle: availability(action).err().map(|why| why.to_string()),
            ..Item::new(action.name(), action.about(), Choice::Action(action))
        }
    }

    pub(in crate::console) fn theme_items(&self) -> Vec<Item> {
        let themes = self.setup.theme_set.themes.list().iter();
        let items = themes.map(|listed| {
            Item::new(listed.name.clone(), listed.file.about.clone(), Choice::Theme(listed.name.clone()))
        });
        items.collect()
    }

    /// Returns the list of themes, which previews the selected theme.
    pub(in crate::console) fn themes(&self) -> Chooser {
        let active = self.setup.theme_set.active.clone();
        let mut chooser = Chooser::new(Kind::Themes(active.clone()), self.theme_items());
        chooser.select(&Choice::Theme(active));
        chooser
    }

    /// Returns the list of messages, newest first.
    pub(in crate::console) fn messages(&self) -> Chooser {
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
        Chooser::new(Kind::Messages, items.collect())
    }

    /// Runs this program as a task, to be used in its pane.
    pub(in crate::console) fn beside(&mut self, args: &str) {
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

/// Returns the agents that can be started in a pane, with the commands of their own shell redirected
/// here.
fn agent_items(availability: Availability<'_>) -> impl Iterator<Item = Item> {
    let obstacle = availability(Action::Start).err().map(|why| why.to_string());
    AGENTS.into_iter().map(move |(word, name)| {
        let about = format!("{name} in a pane, the commands of its own shell as tasks");
        let cmd = format!("pilothouse {word}");
        let item = Item::new(format!("start {word}"), about, Choice::Run(cmd.clone()));
        Item { obstacle: obstacle.clone(), same: cmd, also: "agent run", ..item }
    })
}
