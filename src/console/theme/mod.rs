//! Theme, keys and behaviour of the console, as determined by the settings files, the flags and the terminal.
//! A file that cannot be used is reported, and its settings keep their defaults.

pub mod colour;
pub mod list;
pub mod roles;

use std::path::{Path, PathBuf};

use super::keys::keymap::Keymap;
use crate::config::{
    ColorSetting, ConsoleSettings, FILE, Fault, Faults, GlyphSet, KEYS_FILE, LoadedSettings, Mouse,
    OnAgentEnd, Settings, Source, read_own,
};
use crate::terminal::Palette;
use crate::terminal::host_terminal::HostTerminal;
use colour::{Backdrop, Level, contrast};
use list::Themes;
pub use roles::{Colours, Glyphs, Role, Theme, ThemeFile};

/// The theme used on a light background if none was chosen.
const LIGHT: &str = "light";

/// Command-line flags, which override the settings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UiFlags {
    /// `--theme`.
    pub theme: Option<String>,
    /// `--color-level`.
    pub color: Option<ColorSetting>,
    /// `--mouse`.
    pub mouse: Option<Mouse>,
    /// `--no-motion`.
    pub no_motion: bool,
    /// `--no-clock`.
    pub no_clock: bool,
    /// `--ascii`.
    pub ascii: bool,
    /// `--accessible`.
    pub accessible: bool,
}

/// What is known about the terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capabilities {
    /// `NO_COLOR`, or `CLICOLOR=0`.
    pub no_color: bool,
    /// The number of colours it claims to support.
    pub level: Level,
    /// Whether the glyphs of the chrome are two columns wide, according to the locale or as measured.
    pub is_wide: bool,
    /// Its colours, if it reported them.
    pub backdrop: Option<Backdrop>,
    /// Whether its background is light, if it reported that.
    pub is_light: Option<bool>,
    /// Whether it answers queries.
    pub answers: bool,
    /// Its columns and rows if it says none.
    pub usual_size: (u16, u16),
}

/// The effective preferences of a console.
#[derive(Debug, Clone)]
pub struct Preferences {
    pub theme: Theme,
    /// The key bindings.
    pub keymap: Keymap,
    /// The available themes, and which one is active.
    pub theme_set: ThemeSet,
    /// All other settings.
    pub ui: UiSettings,
}

/// The available themes, and what is needed to build one.
#[derive(Debug, Clone, PartialEq)]
pub struct ThemeSet {
    pub themes: Themes,
    /// The name of the active theme.
    pub active: String,
    /// Which colours the chrome uses.
    pub colours: Colours,
    /// Whether the chrome uses only ASCII.
    pub ascii: bool,
    /// The terminal's colours, if it reported them.
    pub backdrop: Option<Backdrop>,
}

/// Settings for the behaviour of the console.
#[derive(Debug, Clone, PartialEq)]
pub struct UiSettings {
    /// The colour level of everything sent to the terminal, including the output of tasks.
    pub level: Level,
    /// The user's settings, as far as the flags and the terminal allow them.
    pub console: ConsoleSettings,
    /// Action on the tasks of an agent that has gone.
    pub on_agent_end: OnAgentEnd,
    /// The user's own keymap file.
    pub keymap: Option<Source>,
}

impl Default for ThemeSet {
    fn default() -> Self {
        let (active, colours) = ("default".to_owned(), Colours::Named);
        Self { themes: Themes::default(), active, colours, ascii: false, backdrop: None }
    }
}

impl ThemeSet {
    /// Builds a theme, or the default one if there is none with that name.
    pub fn theme(&self, name: &str) -> Theme {
        let listed = self.themes.find(name).or_else(|| self.themes.list().first());
        listed.map_or_else(
            || Theme::built_in(self.colours, self.ascii),
            |listed| listed.file.theme(self.colours, self.ascii, self.backdrop.as_ref()),
        )
    }
}

impl ThemeSet {
    /// Returns the palette for exported pages and pictures: light if the terminal's background is or, if
    /// unknown, if the theme is for light backgrounds.
    pub fn paper(&self) -> Palette {
        let is_light = match &self.backdrop {
            Some(backdrop) => {
                contrast((0, 0, 0), backdrop.background) > contrast((255, 255, 255), backdrop.background)
            }
            None => self.themes.find(&self.active).is_some_and(|listed| listed.file.on == ["light"]),
        };
        if is_light { Palette::LIGHT } else { Palette::DARK }
    }
}

impl Default for UiSettings {
    fn default() -> Self {
        // Without settings there is nowhere to remember that a hint was understood, and perhaps no window.
        let console = ConsoleSettings { title: false, hints: false, ..ConsoleSettings::default() };
        Self { level: Level::True, console, on_agent_end: OnAgentEnd::default(), keymap: None }
    }
}

impl Default for Capabilities {
    fn default() -> Self {
        let (no_color, level, is_wide) = (false, Level::True, false);
        let usual_size = (80, 24);
        Self { no_color, level, is_wide, backdrop: None, is_light: None, answers: false, usual_size }
    }
}

impl Capabilities {
    /// Adds what the terminal itself has reported, which is more reliable than the environment.
    #[must_use]
    pub fn learn(self, outer: &HostTerminal) -> Self {
        let backdrop = outer.background.zip(outer.whole_palette());
        Self {
            is_wide: outer.ambiguous_columns.map_or(self.is_wide, |columns| columns > 1),
            backdrop: backdrop
                .map(|(background, palette)| Backdrop { background, palette })
                .or(self.backdrop),
            is_light: outer.is_light().or(self.is_light),
            ..self
        }
    }
}

impl Preferences {
    /// Reads the files in the settings folder; without one, the defaults apply.
    pub fn read(config: Option<&Path>, flags: &UiFlags, capabilities: &Capabilities) -> (Self, Vec<Fault>) {
        let mut faults = Vec::new();
        let (Settings { console: settings, services, .. }, is_chosen) = match config.map(settings) {
            None => (Settings::default(), false),
            Some(Ok(read)) => read,
            Some(Err(Faults(wrong))) => {
                faults.extend(wrong);
                (Settings::default(), false)
            }
        };
        // A terminal's sixteen colours are seldom legible on a light background: if no theme was chosen, the
        // one with colours of its own is used there.
        let is_pale = capabilities.is_light == Some(true) && capabilities.level >= Level::Many;
        let theme = match &flags.theme {
            Some(theme) => theme.clone(),
            None if !is_chosen && is_pale => LIGHT.to_owned(),
            None => settings.theme.clone(),
        };
        let keys = config.map(|config| config.join(KEYS_FILE)).map_or(Ok(None), |path| read_own(&path));
        let keys = keys.unwrap_or_else(|fault| {
            faults.push(fault);
            None
        });
        let mut keymap = Keymap::of(&settings.keys, keys.as_ref()).unwrap_or_else(|Faults(wrong)| {
            faults.extend(wrong);
            Keymap::built_in()
        });
        let theme_set = theme_set(config, (&settings, &theme), flags, capabilities, &mut faults);
        keymap.spell_out(theme_set.ascii);
        let asked = Level::of_setting(flags.color.unwrap_or(settings.color));
        let console = ConsoleSettings {
            mouse: flags.mouse.unwrap_or(settings.mouse),
            motion: settings.motion && !flags.no_motion && !flags.accessible,
            clock: settings.clock && !flags.no_clock,
            title: settings.title && capabilities.answers,
            ..settings
        };
        let level = asked.unwrap_or(capabilities.level.max(Level::Sixteen));
        let ui = UiSettings { level, console, on_agent_end: services.on_agent_end, keymap: keys };
        (Self { theme: theme_set.theme(&theme_set.active), keymap, theme_set, ui }, faults)
    }

    /// Describes what has changed from the previous settings.
    pub fn changes(&self, theme_set: &ThemeSet, ui: &UiSettings) -> Vec<String> {
        let on = |on: bool| if on { "on" } else { "off" };
        let (new, old) = (&self.ui.console, &ui.console);
        let mut changes = Vec::new();
        let mut say = |differs: bool, what: String| {
            if differs {
                changes.push(what);
            }
        };
        say(self.theme_set != *theme_set, format!("theme {}", self.theme_set.active));
        let keys = (&new.keys, &self.ui.keymap) != (&old.keys, &ui.keymap);
        say(keys, format!("keys {}", new.keys));
        say(new.mouse != old.mouse, format!("mouse {:?}", new.mouse).to_lowercase());
        say(new.motion != old.motion, format!("motion {}", on(new.motion)));
        say(new.clock != old.clock, format!("clock {}", on(new.clock)));
        say(self.ui.level != ui.level, format!("colours {:?}", self.ui.level).to_lowercase());
        say(new.bell != old.bell, format!("bell {}", on(new.bell)));
        say(new.notify != old.notify, "notify".to_owned());
        say(new.watch != old.watch, "watch rules".to_owned());
        say(new.title != old.title, format!("title {}", on(new.title)));
        say(new.on_hangup != old.on_hangup, format!("on_hangup {:?}", new.on_hangup).to_lowercase());
        let agent_end = format!("on_agent_end {:?}", self.ui.on_agent_end).to_lowercase();
        say(self.ui.on_agent_end != ui.on_agent_end, agent_end);
        say(new.hints != old.hints, format!("hints {}", on(new.hints)));
        changes
    }
}

/// Reads the settings, and whether they choose a theme.
fn settings(config: &Path) -> Result<(Settings, bool), Faults> {
    let path = config.join(FILE);
    let own = read_own(&path).map_err(|fault| Faults(vec![fault]))?;
    let loaded = LoadedSettings::of(own.as_ref(), &path)?;
    let is_chosen = loaded.origins.contains_key("console.theme");
    Ok((loaded.settings, is_chosen))
}

fn theme_set(
    config: Option<&Path>,
    (settings, wanted): (&ConsoleSettings, &String),
    flags: &UiFlags,
    capabilities: &Capabilities,
    faults: &mut Vec<Fault>,
) -> ThemeSet {
    let themes = config.map_or_else(Themes::default, |config| {
        let (themes, _, wrong) = Themes::read(config);
        faults.extend(wrong);
        themes
    });
    let active = if themes.find(wanted).is_some() { wanted.clone() } else { "default".to_owned() };
    if active != *wanted {
        let file = if flags.theme.is_some() { PathBuf::from("--theme") } else { PathBuf::from(FILE) };
        let source = Source { name: file.display().to_string(), text: String::new() };
        let fault = source.fault(None, "console.theme", format!("there is no theme `{wanted}`"));
        faults.push(Fault { near: themes.near(wanted).map(str::to_owned), ..fault });
    }
    let asked = flags.color.unwrap_or(settings.color);
    let is_plain = asked == ColorSetting::None
        || asked == ColorSetting::Auto && (capabilities.no_color || capabilities.level == Level::None);
    let ascii = match settings.glyphs {
        _ if flags.ascii => true,
        GlyphSet::Auto => capabilities.is_wide,
        GlyphSet::Unicode => false,
        GlyphSet::Ascii => true,
    };
    let colours = match Level::of_setting(asked).unwrap_or(capabilities.level) {
        _ if is_plain => Colours::None,
        Level::None | Level::Sixteen => Colours::Sixteen,
        Level::Many | Level::True => Colours::Named,
    };
    ThemeSet { themes, active, colours, ascii, backdrop: capabilities.backdrop.clone() }
}

/// Checks the keymap and theme files: returns the valid ones, and all errors.
pub fn check(config: &Path) -> (Vec<String>, Vec<Fault>) {
    let (_, mut files, mut faults) = Themes::read(config);
    let preset =
        settings(config).map_or_else(|_| "default".to_owned(), |(settings, _)| settings.console.keys);
    match read_own(&config.join(KEYS_FILE)) {
        Err(fault) => faults.push(fault),
        Ok(own) => match Keymap::of(&preset, own.as_ref()) {
            Ok(_) => files.extend(own.map(|own| own.name)),
            Err(Faults(wrong)) => faults.extend(wrong),
        },
    }
    if let Ok((settings, _)) = settings(config)
        && Themes::read(config).0.find(&settings.console.theme).is_none()
    {
        let (_, wrong) = Preferences::read(Some(config), &UiFlags::default(), &Capabilities::default());
        faults.extend(wrong.into_iter().filter(|fault| fault.key == "console.theme"));
    }
    (files, faults)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(
        files: &[(&str, &str)],
        flags: &UiFlags,
        capabilities: &Capabilities,
    ) -> (Preferences, Vec<String>) {
        let home = tempfile::tempdir().expect("temp dir");
        for (name, text) in files {
            std::fs::write(home.path().join(name), text).expect("written");
        }
        let (looks, faults) = Preferences::read(Some(home.path()), flags, capabilities);
        let prefix = format!("{}/", home.path().display());
        (looks, faults.iter().map(|fault| fault.to_string().replace(&prefix, "")).collect())
    }

    #[test]
    fn a_flag_wins_over_a_setting_and_a_setting_over_the_terminal() {
        let file = [(FILE, "[console]\ntheme = \"dark\"\nmouse = \"off\"\nclock = false\ncolor = \"256\"\n")];
        let (looks, faults) = read(&file, &UiFlags::default(), &Capabilities::default());
        assert_eq!((looks.theme_set.active.as_str(), looks.ui.console.mouse), ("dark", Mouse::Off));
        assert_eq!((looks.ui.level, looks.ui.console.clock, faults.len()), (Level::Many, false, 0));
        let flags = UiFlags {
            theme: Some("mono".into()),
            mouse: Some(Mouse::Full),
            ascii: true,
            ..UiFlags::default()
        };
        let (looks, _) = read(&file, &flags, &Capabilities::default());
        assert_eq!((looks.theme_set.active.as_str(), looks.ui.console.mouse), ("mono", Mouse::Full));
        assert!(looks.theme_set.ascii);
    }

    #[test]
    fn without_colour_the_chrome_is_plain_and_panes_keep_theirs() {
        let capabilities = Capabilities { no_color: true, level: Level::Many, ..Capabilities::default() };
        let (looks, _) = read(&[], &UiFlags::default(), &capabilities);
        assert_eq!((looks.theme_set.colours, looks.ui.level), (Colours::None, Level::Many));
        let flags = UiFlags { color: Some(ColorSetting::None), ..UiFlags::default() };
        let (looks, _) = read(&[], &flags, &capabilities);
        assert_eq!((looks.theme_set.colours, looks.ui.level), (Colours::None, Level::None));
        let flags = UiFlags { color: Some(ColorSetting::True), ..UiFlags::default() };
        let (looks, _) = read(&[], &flags, &capabilities);
        assert_eq!((looks.theme_set.colours, looks.ui.level), (Colours::Named, Level::True));
    }

    #[test]
    fn the_theme_follows_the_answers_of_the_terminal_unless_a_setting_or_a_flag_names_one() {
        let mut outer = HostTerminal { background: Some((253, 246, 227)), ..HostTerminal::default() };
        outer.ambiguous_columns = Some(2);
        let capabilities = Capabilities { level: Level::Many, ..Capabilities::default() }.learn(&outer);
        let active = |files: &[(&str, &str)], flags: &UiFlags, capabilities: &Capabilities| {
            read(files, flags, capabilities).0.theme_set
        };
        let pale = active(&[], &UiFlags::default(), &capabilities);
        assert_eq!((pale.active.as_str(), pale.ascii, pale.backdrop), ("light", true, None));
        let file = [(FILE, "[console]\ntheme = \"default\"\nglyphs = \"unicode\"\n")];
        let chosen = active(&file, &UiFlags::default(), &capabilities);
        assert_eq!((chosen.active.as_str(), chosen.ascii), ("default", false));
        let flags = UiFlags { theme: Some("mono".into()), ..UiFlags::default() };
        assert_eq!(active(&[], &flags, &capabilities).active, "mono");
        let few = Capabilities { level: Level::Sixteen, ..capabilities.clone() };
        assert_eq!(active(&[], &UiFlags::default(), &few).active, "default", "it cannot show its colours");
        outer = HostTerminal {
            background: Some((0, 0, 0)),
            palette: [Some((9, 9, 9)); 16],
            ..HostTerminal::default()
        };
        let dark = active(&[], &UiFlags::default(), &Capabilities::default().learn(&outer));
        assert_eq!(dark.active, "default");
        assert!(dark.backdrop.is_some(), "colours that cannot be told from the background are left out");
    }

    #[test]
    fn an_unusable_setting_is_reported_and_the_others_hold() {
        let files = [
            (FILE, "[console]\ntheme = \"drak\"\nclock = false\n"),
            (KEYS_FILE, "[tasks]\nstop = [\"x\"]\n"),
        ];
        let (looks, faults) = read(&files, &UiFlags::default(), &Capabilities::default());
        assert!(!looks.ui.console.clock);
        assert_eq!(looks.theme_set.active, "default");
        assert!(
            faults[0].starts_with("keys.toml:2: tasks.stop: `x` already means tasks.signal"),
            "{faults:?}"
        );
        assert_eq!(faults[1], "config.toml: console.theme: there is no theme `drak`; did you mean `dark`?");
    }

    #[test]
    fn changed_looks_and_settings_are_named() {
        let (before, _) = read(&[], &UiFlags::default(), &Capabilities::default());
        let file = [(FILE, "[console]\ntheme = \"light\"\nkeys = \"vim\"\nmotion = false\n")];
        let (after, _) = read(&file, &UiFlags::default(), &Capabilities::default());
        let changes = after.changes(&before.theme_set, &before.ui);
        assert_eq!(changes, ["theme light", "keys vim", "motion off"]);
        assert!(after.changes(&after.theme_set, &after.ui).is_empty());
    }
}
