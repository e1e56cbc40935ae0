//! The available themes: the built-in ones, and the user's own files beside the settings.

use std::fs;
use std::path::Path;

use super::roles::ThemeFile;
use crate::config::{Fault, Faults, Source, THEMES_FOLDER, nearest, read_own};

/// The built-in themes, in the order they are offered.
pub const BUILT_IN: [(&str, &str); 7] = [
    ("default", include_str!("../../../themes/default.toml")),
    ("dark", include_str!("../../../themes/dark.toml")),
    ("light", include_str!("../../../themes/light.toml")),
    ("high-contrast", include_str!("../../../themes/high-contrast.toml")),
    ("deuteranopia", include_str!("../../../themes/deuteranopia.toml")),
    ("tritanopia", include_str!("../../../themes/tritanopia.toml")),
    ("mono", include_str!("../../../themes/mono.toml")),
];
/// Maximum number of the user's own theme files that are read.
const MOST_OWN: usize = 64;

#[derive(Debug, Clone, PartialEq)]
pub struct NamedTheme {
    pub name: String,
    /// The contents of its file.
    pub file: ThemeFile,
    /// Whether it is one of the user's own files.
    pub is_own: bool,
}

/// The available themes.
#[derive(Debug, Clone, PartialEq)]
pub struct Themes(Vec<NamedTheme>);

impl Default for Themes {
    fn default() -> Self {
        let base = ThemeFile::built_in();
        let listed = BUILT_IN.iter().map(|(name, text)| {
            let source = Source { name: format!("themes/{name}.toml"), text: (*text).to_owned() };
            let file = base.over(&source).expect("the embedded themes parse: a test reads them");
            NamedTheme { name: (*name).to_owned(), file, is_own: false }
        });
        Self(listed.collect())
    }
}

impl Themes {
    /// Reads the built-in themes and those in the settings folder; also returns the files that were read, and
    /// the errors in others.
    pub fn read(config: &Path) -> (Self, Vec<String>, Vec<Fault>) {
        let mut themes = Self::default();
        let (mut files, mut faults) = (Vec::new(), Vec::new());
        // Without a folder there are no own themes.
        let folder = fs::read_dir(config.join(THEMES_FOLDER)).into_iter().flatten().flatten();
        let mut paths: Vec<_> = folder.map(|entry| entry.path()).collect();
        paths.retain(|path| path.extension().is_some_and(|ending| ending == "toml"));
        paths.sort();
        for path in paths.into_iter().take(MOST_OWN) {
            let Some(name) = path.file_stem().and_then(|name| name.to_str()) else { continue };
            match read_own(&path) {
                Ok(None) => {}
                Ok(Some(source)) => match themes.add(name, &source) {
                    Ok(()) => files.push(source.name),
                    Err(Faults(wrong)) => faults.extend(wrong),
                },
                Err(fault) => faults.push(fault),
            }
        }
        (themes, files, faults)
    }

    /// Adds a theme of the user's, on top of the built-in one of the same name or else of the default.
    fn add(&mut self, name: &str, source: &Source) -> Result<(), Faults> {
        let base = self.find(name).or_else(|| self.0.first()).map(|listed| listed.file.clone());
        let file = base.unwrap_or_default().over(source)?;
        let listed = NamedTheme { name: name.to_owned(), file, is_own: true };
        match self.0.iter_mut().find(|listed| listed.name == name) {
            Some(there) => *there = listed,
            None => self.0.push(listed),
        }
        Ok(())
    }

    /// Returns all themes.
    pub fn list(&self) -> &[NamedTheme] {
        &self.0
    }

    /// Returns the theme with a given name.
    pub fn find(&self, name: &str) -> Option<&NamedTheme> {
        self.0.iter().find(|listed| listed.name == name)
    }

    /// Returns the name that was probably meant.
    pub fn near(&self, name: &str) -> Option<&str> {
        nearest(name, self.0.iter().map(|listed| listed.name.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::theme::colour::{Backdrop, LEGIBLE, Rgb, XTERM, contrast};
    use crate::console::theme::{Colours, Role};

    const VGA: [Rgb; 16] = [
        (0, 0, 0),
        (170, 0, 0),
        (0, 170, 0),
        (170, 85, 0),
        (0, 0, 170),
        (170, 0, 170),
        (0, 170, 170),
        (170, 170, 170),
        (85, 85, 85),
        (255, 85, 85),
        (85, 255, 85),
        (255, 255, 85),
        (85, 85, 255),
        (255, 85, 255),
        (85, 255, 255),
        (255, 255, 255),
    ];
    const TANGO: [Rgb; 16] = [
        (46, 52, 54),
        (204, 0, 0),
        (78, 154, 6),
        (196, 160, 0),
        (52, 101, 164),
        (117, 80, 123),
        (6, 152, 154),
        (211, 215, 207),
        (85, 87, 83),
        (239, 41, 41),
        (138, 226, 52),
        (252, 233, 79),
        (114, 159, 207),
        (173, 127, 168),
        (52, 226, 226),
        (238, 238, 236),
    ];
    const CAMPBELL: [Rgb; 16] = [
        (12, 12, 12),
        (197, 15, 31),
        (19, 161, 14),
        (193, 156, 0),
        (0, 55, 218),
        (136, 23, 152),
        (58, 150, 221),
        (204, 204, 204),
        (118, 118, 118),
        (231, 72, 86),
        (22, 198, 12),
        (249, 241, 165),
        (59, 120, 255),
        (180, 0, 158),
        (97, 214, 214),
        (242, 242, 242),
    ];
    const SOLARIZED: [Rgb; 16] = [
        (7, 54, 66),
        (220, 50, 47),
        (133, 153, 0),
        (181, 137, 0),
        (38, 139, 210),
        (211, 54, 130),
        (42, 161, 152),
        (238, 232, 213),
        (0, 43, 54),
        (203, 75, 22),
        (88, 110, 117),
        (101, 123, 131),
        (131, 148, 150),
        (108, 113, 196),
        (147, 161, 161),
        (253, 246, 227),
    ];
    const BLACK: Rgb = (0, 0, 0);
    const WHITE: Rgb = (255, 255, 255);
    const SOLARIZED_LIGHT: Rgb = (253, 246, 227);
    const VS_CODE_DARK: Rgb = (30, 30, 30);

    #[test]
    fn a_theme_with_colours_of_its_own_can_be_read_on_what_it_is_for() {
        for listed in Themes::default().list().iter().skip(1) {
            for on in &listed.file.on {
                let backgrounds: &[Rgb] = match on.as_str() {
                    "dark" if listed.name == "high-contrast" => &[BLACK],
                    "dark" => &[BLACK, VS_CODE_DARK],
                    "light" => &[WHITE, SOLARIZED_LIGHT],
                    other => panic!("{}: {other} is no background", listed.name),
                };
                for &background in backgrounds {
                    let backdrop = Backdrop { background, palette: XTERM };
                    for (role, found) in listed.file.contrasts(&backdrop) {
                        let (name, role) = (&listed.name, role.name());
                        assert!(found >= LEGIBLE, "{name}: {role} has {found:.2} on {background:?}");
                    }
                }
            }
            assert!(!listed.file.on.is_empty() && !listed.file.about.is_empty(), "{}", listed.name);
        }
    }

    #[test]
    fn the_default_theme_uses_only_readable_colours_on_a_terminal_that_reports_its_own() {
        let default = Themes::default().find("default").expect("there").file.clone();
        let mut kept = 0;
        for (background, palettes) in [
            (BLACK, &[XTERM, VGA, TANGO, CAMPBELL][..]),
            (WHITE, &[XTERM, VGA, TANGO, CAMPBELL]),
            (SOLARIZED_LIGHT, &[SOLARIZED]),
        ] {
            for &palette in palettes {
                let theme = default.theme(Colours::Named, false, Some(&Backdrop { background, palette }));
                for &role in Role::ALL {
                    let Some(colour) = theme.style(role).fg else { continue };
                    let index =
                        (0..16).find(|index| crate::console::theme::colour::sixteen(*index) == colour);
                    let rgb = palette[usize::from(index.expect("one of the sixteen"))];
                    let found = contrast(rgb, background);
                    assert!(found >= LEGIBLE, "{}: {found:.2} on {background:?}", role.name());
                    kept += 1;
                }
            }
        }
        assert!(kept > 40, "colours are used where they can be: {kept}");
        let unread = Backdrop { background: SOLARIZED_LIGHT, palette: SOLARIZED };
        let theme = default.theme(Colours::Named, false, Some(&unread));
        let told = theme.style(Role::Failed).add_modifier;
        assert!(
            told.contains(ratatui::style::Modifier::BOLD),
            "what loses its colour stands out in another way"
        );
    }

    #[test]
    fn states_stay_apart_in_every_theme_at_every_level() {
        use crate::console::theme::colour::Level;
        use ratatui::style::Color;
        const STATES: [Role; 8] = [
            Role::Queued,
            Role::Running,
            Role::Waiting,
            Role::Cancelling,
            Role::Completed,
            Role::Failed,
            Role::Interrupted,
            Role::Capped,
        ];
        const GREYS: [Color; 5] = [Color::Black, Color::DarkGray, Color::Gray, Color::White, Color::Reset];
        for listed in Themes::default().list() {
            for (level, colours) in [
                (Level::None, Colours::None),
                (Level::Sixteen, Colours::Sixteen),
                (Level::Many, Colours::Named),
                (Level::True, Colours::Named),
            ] {
                let theme = listed.file.theme(colours, false, None);
                let look = |role: Role| {
                    let style = theme.style(role);
                    (style.fg.map(|colour| level.map(colour)), style.add_modifier)
                };
                let about = |role: Role| format!("{} at {level:?}: {}", listed.name, role.name());
                for (at, &one) in STATES.iter().enumerate() {
                    for &other in &STATES[at + 1..] {
                        // Without colour, a glyph and a word distinguish running from completed.
                        let is_told = [one, other] == [Role::Running, Role::Completed];
                        let needs_colour = colours != Colours::None && listed.name != "mono";
                        let differ = look(one) != look(other) || (is_told && !needs_colour);
                        assert!(differ, "{} looks like {}", about(one), other.name());
                    }
                }
                if colours == Colours::None || listed.name == "mono" {
                    continue;
                }
                let colour = |role: Role| look(role).0;
                for (one, other) in [
                    (Role::Failed, Role::Waiting),
                    (Role::Failed, Role::Running),
                    (Role::Waiting, Role::Running),
                ] {
                    assert_ne!(
                        colour(one),
                        colour(other),
                        "{} has the colour of {}",
                        about(one),
                        other.name()
                    );
                }
                let agents = [Role::Agent1, Role::Agent2, Role::Agent3, Role::Agent4];
                for (at, &agent) in agents.iter().enumerate() {
                    for &other in STATES.iter().chain(&agents[at + 1..]) {
                        assert_ne!(look(agent), look(other), "{} looks like {}", about(agent), other.name());
                    }
                }
                let failed = colour(Role::Failed).expect("a colour");
                assert!(!GREYS.contains(&failed), "{} is grey", about(Role::Failed));
            }
        }
    }

    /// The block and the border of what is typed into have a word and a heavy line of their own; where there are
    /// colours, they have one of those too.
    #[test]
    fn the_input_role_has_a_look_of_its_own_in_every_theme_at_every_level() {
        use crate::console::theme::colour::Level;
        for listed in Themes::default().list() {
            for (level, colours) in [
                (Level::Sixteen, Colours::Sixteen),
                (Level::Many, Colours::Named),
                (Level::True, Colours::Named),
            ] {
                let theme = listed.file.theme(colours, false, None);
                let colour = |role: Role| theme.style(role).fg.map(|colour| level.map(colour));
                let input = colour(Role::Input);
                for other in [Role::Text, Role::Mode, Role::Rule, Role::Waiting, Role::Failed] {
                    let differ = input != colour(other) || listed.name == "mono";
                    assert!(differ, "{} at {level:?}: input has the colour of {}", listed.name, other.name());
                }
            }
            for glyphs in [false, true].map(|ascii| listed.file.theme(Colours::None, ascii, None).glyphs) {
                assert_ne!(glyphs.heavy[0], glyphs.rules[0], "{}: without colour, by its line", listed.name);
            }
        }
    }

    #[test]
    fn a_persons_theme_is_read_from_its_file() {
        let home = tempfile::tempdir().expect("temp dir");
        let folder = home.path().join(THEMES_FOLDER);
        fs::create_dir(&folder).expect("made");
        fs::write(folder.join("mine.toml"), "about = \"Mine\"\n[roles]\nrunning = { fg = \"#00ff00\" }\n")
            .expect("written");
        fs::write(folder.join("bad.toml"), "[roles]\nrun = {}\n").expect("written");
        let (themes, files, faults) = Themes::read(home.path());
        assert_eq!(themes.list().len(), BUILT_IN.len() + 1);
        assert!(themes.find("mine").expect("there").is_own);
        assert_eq!((files.len(), faults.len()), (1, 1));
        assert!(
            faults[0].to_string().contains("bad.toml:2: roles.run: there is no such role"),
            "{}",
            faults[0]
        );
        assert_eq!(themes.near("drak"), Some("dark"));
    }
}
