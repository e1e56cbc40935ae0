//! Key bindings: which key does what, and where. Read from assets/keymap.toml, a preset and the user's own
//! file; never hard-wired in a view.

use std::collections::BTreeMap;

use crate::config::{Fault, Faults, Node, Source, SourceEntry, nearest};
use crate::terminal::{Key, KeyPress};

use super::action::Action;

const DEFAULT: &str = include_str!("../../../assets/keymap.toml");
/// The presets other than the default, as changes to it.
const PRESETS: [(&str, &str); 3] = [
    ("vim", include_str!("../../../assets/keys/vim.toml")),
    ("emacs", include_str!("../../../assets/keys/emacs.toml")),
    ("plain", include_str!("../../../assets/keys/plain.toml")),
];
/// The name of the preset that changes nothing.
const NO_PRESET: &str = "default";

macro_rules! contexts {
    ($($name:ident $about:literal)*) => {
        /// A place in which keys have their own meaning.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        #[derive(strum::IntoStaticStr, strum::VariantArray)]
        #[strum(serialize_all = "kebab-case")]
        pub enum KeyContext {
            $(#[doc = $about] $name,)*
        }

        impl KeyContext {
            /// All contexts.
            pub const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;

            /// Returns its name in a keymap.
            pub fn name(self) -> &'static str {
                self.into()
            }

            /// Returns what it is.
            pub fn about(self) -> &'static str {
                match self { $(Self::$name => $about,)* }
            }
        }
    };
}

contexts! {
    Observe "Everywhere outside of typing and dialogs."
    Tasks "The task list and its panes."
    Focus "One task, full size."
    Receipts "The calls."
    Text "A text that takes the screen: a comparison."
    Replay "A task played again."
    Metrics "The counters."
    Program "A program."
    Attention "What waits for the person."
    Left "What an agent left running."
    Gate "The dialog of a gate."
    YesNo "The dialog of a yes or no."
    Choice "The dialog of a choice."
    Answer "The dialog of a text."
    InFlight "The dialog of a command in doubt."
    Reason "The note to an answer."
    Settled "A dialog that is only read: details, a question that is no longer open."
    Input "Typing into a task."
    Line "The one-line composer."
    Start "The prompt for a command."
    Search "The line to search for."
    Copy "Selecting text to copy."
    Stop "The stop dialog."
    Restart "The question before a running task is restarted."
    Signal "The signal dialog."
    Quit "The quit dialog."
    Paste "The question before a paste."
    Undo "The question before what differs is undone."
    Held "The card of a call that waits for the operator."
    Note "The note of a denial."
    Tell "Words for an agent."
    List "A list narrowed by typing: palette, themes, messages."
}

impl KeyContext {
    /// Tells whether the keys of `observe` apply here too.
    fn adds_to_observe(self) -> bool {
        matches!(self, Self::Tasks | Self::Focus | Self::Receipts | Self::Metrics | Self::Program)
            || matches!(self, Self::Text | Self::Replay)
    }

    /// Tells whether text is typed here, so that no character can be a key binding.
    fn is_written_in(self) -> bool {
        use KeyContext::{Answer, Line, List, Note, Reason, Search, Start, Tell};
        matches!(self, Line | Start | Search | Note | List | Answer | Reason | Tell)
    }
}

/// The keys of an action, and where they are defined.
#[derive(Debug, Clone, PartialEq, Eq)]
struct KeyBinding {
    keys: Vec<KeyPress>,
    /// The index of the source, and the line in it.
    place: (usize, usize),
}

/// The key bindings by context and action.
#[derive(Debug, Clone)]
pub struct Keymap {
    bindings: BTreeMap<KeyContext, BTreeMap<Action, KeyBinding>>,
    /// Whether arrow keys are spelled out in words, because the arrow symbols are not ASCII.
    is_ascii: bool,
}

impl Keymap {
    /// Returns the default keymap.
    pub fn built_in() -> Self {
        Self::of_sources(&[default_source()]).expect("the embedded keymap parses: a test reads it")
    }

    /// Reads a preset with the user's file on top.
    ///
    /// # Errors
    /// When there is no such preset, or the file has an unknown context, action or key, or binds one twice.
    pub fn of(preset: &str, own: Option<&Source>) -> Result<Self, Faults> {
        let mut sources = vec![default_source()];
        match PRESETS.into_iter().find(|(name, _)| *name == preset) {
            Some((name, text)) => sources.push(asset(&format!("assets/keys/{name}.toml"), text)),
            None if preset == NO_PRESET => {}
            None => {
                let settings = asset("config.toml", "");
                let known = PRESETS.into_iter().map(|(name, _)| name).chain([NO_PRESET]);
                let near = nearest(preset, known).map(str::to_owned);
                let fault = settings.fault(None, "console.keys", format!("there is no preset `{preset}`"));
                return Err(Faults(vec![Fault { near, ..fault }]));
            }
        }
        sources.extend(own.cloned());
        Self::of_sources(&sources)
    }

    /// Reads sources, each on top of the previous ones: an action has the keys of the last source that names
    /// it.
    ///
    /// # Errors
    /// When one names an unknown context, action or key, or when a key ends up with two meanings.
    pub fn of_sources(sources: &[Source]) -> Result<Self, Faults> {
        let mut keymap = Self { bindings: BTreeMap::new(), is_ascii: false };
        let mut faults = Vec::new();
        for (at, source) in sources.iter().enumerate() {
            match source.entries() {
                Ok(entries) => keymap.lay_over(at, source, &entries, &mut faults),
                Err(fault) => faults.push(fault),
            }
        }
        if faults.is_empty() {
            keymap.check(sources, &mut faults);
        }
        if faults.is_empty() { Ok(keymap) } else { Err(Faults(faults)) }
    }

    fn lay_over(&mut self, at: usize, source: &Source, entries: &[SourceEntry], faults: &mut Vec<Fault>) {
        for entry in entries {
            let Some(&context) = KeyContext::ALL.iter().find(|context| context.name() == entry.key) else {
                let near = nearest(&entry.key, KeyContext::ALL.iter().map(|context| context.name()));
                let fault = source.fault(entry.line, &entry.key, "there is no such context");
                faults.push(Fault { near: near.map(str::to_owned), ..fault });
                continue;
            };
            let Node::Table(actions) = &entry.node else {
                faults.push(source.fault(entry.line, &entry.key, "a table of actions belongs here"));
                continue;
            };
            for entry in actions {
                match binding(source, context, entry, at) {
                    Ok((action, binding)) => {
                        self.bindings.entry(context).or_default().insert(action, binding);
                    }
                    Err(fault) => faults.push(fault),
                }
            }
        }
    }

    fn check(&self, sources: &[Source], faults: &mut Vec<Fault>) {
        for &context in self.bindings.keys() {
            let mut seen: Vec<(KeyPress, KeyContext, Action, &KeyBinding)> = Vec::new();
            for (from, action, binding) in self.chain(context) {
                for &key in &binding.keys {
                    let Some((_, other, first, earlier)) = seen.iter().find(|(own, ..)| *own == key) else {
                        seen.push((key, from, action, binding));
                        continue;
                    };
                    // A conflict between two rows of `observe` is reported only once, there.
                    if context != KeyContext::Observe
                        && from == KeyContext::Observe
                        && *other == KeyContext::Observe
                    {
                        continue;
                    }
                    let sides = [(*other, *first, earlier.place), (from, action, binding.place)];
                    faults.push(conflict(sources, key, sides));
                }
            }
        }
        let leaves = self.key(KeyContext::Input, Action::Leave);
        if leaves.is_none() {
            let source = sources.last().cloned().unwrap_or_else(default_source);
            let what = "there would be no way out of typing: give it a key";
            faults.push(source.fault(None, "input.leave", what));
        }
    }

    fn chain(&self, context: KeyContext) -> impl Iterator<Item = (KeyContext, Action, &KeyBinding)> {
        let shared = context.adds_to_observe().then_some(KeyContext::Observe);
        let contexts = [Some(context), shared].into_iter().flatten();
        contexts.flat_map(|context| {
            let actions = self.bindings.get(&context).into_iter().flatten();
            actions.map(move |(action, binding)| (context, *action, binding))
        })
    }

    fn keys(&self, context: KeyContext) -> impl Iterator<Item = (Action, KeyPress)> {
        let rows = self.chain(context);
        rows.flat_map(|(_, action, binding)| binding.keys.iter().map(move |key| (action, *key)))
    }

    /// Returns what `key` does in `context`.
    pub fn action(&self, context: KeyContext, key: KeyPress) -> Option<Action> {
        let bound_to = |key| self.keys(context).find(|(_, bound)| *bound == key).map(|(action, _)| action);
        // What most terminals cannot tell apart means the same, unless it is bound by itself.
        bound_to(key).or_else(|| bound_to(key.undistinct()))
    }

    /// Returns the name of the first key bound to `action` in `context`.
    pub fn key(&self, context: KeyContext, action: Action) -> Option<String> {
        self.keys(context).find(|(bound, _)| *bound == action).map(|(_, key)| self.key_name(key))
    }

    /// Returns all actions of `context` with the names of their keys, in the order of help.
    pub fn list(&self, context: KeyContext) -> Vec<(Action, Vec<String>)> {
        let mut found: BTreeMap<Action, Vec<String>> = BTreeMap::new();
        for (action, key) in self.keys(context) {
            found.entry(action).or_default().push(self.key_name(key));
        }
        found.into_iter().collect()
    }

    /// Sets whether key names use only ASCII.
    pub fn spell_out(&mut self, is_ascii: bool) {
        self.is_ascii = is_ascii;
    }

    /// Returns the name of a key as this keymap spells it.
    pub fn key_name(&self, key: KeyPress) -> String {
        let name = name(key);
        if !self.is_ascii {
            return name;
        }
        let words = [("↑", "Up"), ("↓", "Down"), ("←", "Left"), ("→", "Right")];
        words.into_iter().fold(name, |name, (sign, word)| name.replace(sign, word))
    }

    /// Returns the keys that a context defines itself, without those of `observe`.
    pub fn own(&self, context: KeyContext) -> Vec<(Action, Vec<String>)> {
        let rows = self.bindings.get(&context).into_iter().flatten();
        let spelled = |binding: &KeyBinding| binding.keys.iter().map(|key| self.key_name(*key)).collect();
        rows.map(|(action, binding)| (*action, spelled(binding))).collect()
    }
}

fn default_source() -> Source {
    asset("assets/keymap.toml", DEFAULT)
}

fn asset(name: &str, text: &str) -> Source {
    Source { name: name.to_owned(), text: text.to_owned() }
}

/// Parses one row: `action = ["key", …]`.
fn binding(
    source: &Source,
    context: KeyContext,
    entry: &SourceEntry,
    at: usize,
) -> Result<(Action, KeyBinding), Fault> {
    let path = format!("{}.{}", context.name(), entry.key);
    let Ok(action) = entry.key.parse::<Action>() else {
        let near = nearest(&entry.key, Action::ALL.iter().map(|action| action.name())).map(str::to_owned);
        return Err(Fault { near, ..source.fault(entry.line, &path, "there is no such action") });
    };
    let Node::List(items) = &entry.node else {
        return Err(source.fault(entry.line, &path, "a list of keys belongs here, e.g. [\"s\", \"F9\"]"));
    };
    let mut keys = Vec::new();
    for (line, item) in items {
        let Node::Text(text) = item else {
            return Err(source.fault(*line, &path, "a key is written as text"));
        };
        let key = KeyPress::parse(text).map_err(|unknown| source.fault(*line, &path, unknown.to_string()))?;
        let is_letter = matches!(key.key, Key::Char(_)) && !key.ctrl && !key.alt;
        if is_letter && context.is_written_in() {
            let what = format!("`{text}` is written here and can be no key: put C- or M- before it");
            return Err(source.fault(*line, &path, what));
        }
        keys.push(key);
    }
    Ok((action, KeyBinding { keys, place: (at, entry.line) }))
}

/// Builds the error for a key with two meanings, at the later of the two rows.
fn conflict(sources: &[Source], key: KeyPress, sides: [(KeyContext, Action, (usize, usize)); 2]) -> Fault {
    let [first, second] = sides;
    let (early, late) = if first.2 > second.2 { (second, first) } else { (first, second) };
    let row = |(context, action, _): (KeyContext, Action, _)| format!("{}.{}", context.name(), action.name());
    let file = |(source, line): (usize, usize)| {
        let name = sources.get(source).map_or("", |source| source.name.as_str());
        format!("{name}:{line}")
    };
    let what = format!("`{}` already means {} ({})", name(key), row(early), file(early.2));
    let (source, line) = late.2;
    sources.get(source).map_or_else(
        || asset("", "").fault(line, &row(late), what.clone()),
        |source| source.fault(line, &row(late), what.clone()),
    )
}

/// Returns the conventional name of a key: `Ctrl-]`, `PgUp`, `G`.
pub fn name(press: KeyPress) -> String {
    let mut text = String::new();
    for (on, prefix) in [(press.ctrl, "Ctrl-"), (press.alt, "Alt-"), (press.shift, "Shift-")] {
        if on {
            text.push_str(prefix);
        }
    }
    match press.key {
        Key::Char(' ') => text.push_str("Space"),
        Key::Char(c) => text.push(c),
        Key::PageUp => text.push_str("PgUp"),
        Key::PageDown => text.push_str("PgDn"),
        Key::BackTab => text.push_str("Shift-Tab"),
        Key::Up => text.push('↑'),
        Key::Down => text.push('↓'),
        Key::Left => text.push('←'),
        Key::Right => text.push('→'),
        Key::F(number) => text.push_str(&format!("F{number}")),
        other => text.push_str(&format!("{other:?}")),
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn over(own: &str) -> Result<Keymap, String> {
        let own = asset("keys.toml", own);
        Keymap::of("default", Some(&own)).map_err(|faults| faults.to_string())
    }

    #[test]
    fn the_embedded_keymap_parses_and_has_no_conflict() {
        let keymap = Keymap::built_in();
        let leave = KeyPress::parse("C-]").expect("a key");
        assert_eq!(keymap.action(KeyContext::Input, leave), Some(Action::Leave));
        assert_eq!(keymap.key(KeyContext::Input, Action::Leave).as_deref(), Some("Ctrl-]"));
    }

    #[test]
    fn every_preset_parses_and_leaves_no_action_without_a_key() {
        let built_in = Keymap::built_in();
        for preset in ["default", "vim", "emacs", "plain"] {
            let keymap = Keymap::of(preset, None).unwrap_or_else(|faults| panic!("{preset}: {faults}"));
            for &context in KeyContext::ALL {
                for (action, _) in built_in.own(context) {
                    assert!(keymap.key(context, action).is_some(), "{preset}: {} {action:?}", context.name());
                }
            }
        }
    }

    #[test]
    fn the_preset_plain_needs_no_letter_with_control_or_alt() {
        let keymap = Keymap::of("plain", None).expect("reads");
        for &context in KeyContext::ALL {
            for (action, _) in keymap.own(context) {
                let simple = keymap.keys(context).any(|(own, key)| own == action && !key.ctrl && !key.alt);
                let is_newline = action == Action::Newline;
                assert!(simple || is_newline, "{} {action:?}", context.name());
            }
        }
    }

    #[test]
    fn a_key_with_two_meanings_is_refused_also_across_observe() {
        assert_eq!(
            over("[tasks]\n# mine\nstop = [\"x\"]\n").expect_err("a conflict"),
            format!(
                "keys.toml:3: tasks.stop: `x` already means tasks.signal (assets/keymap.toml:{})",
                row("tasks", "signal")
            )
        );
        let shadow = over("[focus]\nstop = [\"q\"]\n").expect_err("a conflict");
        assert!(shadow.starts_with("keys.toml:2: focus.stop: `q` already means observe.quit ("), "{shadow}");
        let moved = over("[tasks]\nstop = [\"x\"]\nsignal = [\"X\"]\n").expect("no conflict");
        assert_eq!(moved.key(KeyContext::Tasks, Action::Stop).as_deref(), Some("x"));
        assert_eq!(moved.key(KeyContext::Focus, Action::Stop).as_deref(), Some("s"), "its own context alone");
        let freed =
            over("[observe]\nquit = [\"Q\"]\n[tasks]\nstop = [\"q\"]\n[focus]\nzoom = []\n").expect("none");
        assert_eq!(freed.key(KeyContext::Focus, Action::Zoom), None);
    }

    fn row(context: &str, action: &str) -> usize {
        let mut lines = DEFAULT.lines().enumerate().skip_while(|(_, line)| *line != format!("[{context}]"));
        lines.find(|(_, line)| line.starts_with(&format!("{action} ="))).map_or(0, |(at, _)| at + 1)
    }

    #[test]
    fn an_unknown_key_action_or_context_is_named_with_its_line_and_the_nearest() {
        let cases = [
            ("[tasks]\nstop = [\"Hyper-s\"]\n", "keys.toml:2: tasks.stop: unknown key \"Hyper-s\""),
            (
                "[tasks]\nsotp = [\"s\"]\n",
                "keys.toml:2: tasks.sotp: there is no such action; did you mean `stop`?",
            ),
            (
                "\n[reciepts]\nup = [\"k\"]\n",
                "keys.toml:2: reciepts: there is no such context; did you mean `receipts`?",
            ),
            ("[line]\nsend = [\"x\"]\n", "keys.toml:2: line.send: `x` is written here"),
            ("[tasks]\nstop = \"s\"\n", "keys.toml:2: tasks.stop: a list of keys belongs here"),
            ("[input]\nleave = []\n", "keys.toml: input.leave: there would be no way out"),
        ];
        for (text, expected) in cases {
            let fault = over(text).expect_err("refused");
            assert!(fault.starts_with(expected), "{fault}");
        }
        let preset = Keymap::of("vi", None).expect_err("no preset").to_string();
        assert_eq!(preset, "config.toml: console.keys: there is no preset `vi`; did you mean `vim`?");
    }

    #[test]
    fn every_action_has_a_key_or_is_reached_by_name() {
        use Action::*;
        let by_name = [Messages, Themes, EditSettings, ExportMetrics];
        let by_name = [&by_name[..], &[ShareSvg, ScreenshotHtml, ScreenshotText, ScreenshotAnsi]].concat();
        let keymap = Keymap::built_in();
        for action in Action::ALL {
            let bound = keymap.bindings.values().any(|actions| actions.contains_key(action));
            assert!(bound || by_name.contains(action), "{action:?} has no key");
        }
    }
}
