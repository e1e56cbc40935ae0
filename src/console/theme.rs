//! What each role looks like. Read from themes/default.toml; views name roles, never colours.

use std::collections::BTreeMap;

use ratatui::style::{Color, Modifier, Style};
use serde::Deserialize;

const DEFAULT: &str = include_str!("../../themes/default.toml");

/// A part that text on screen can play.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the names say it; themes/default.toml shows it")]
pub enum Role {
    Text,
    Strong,
    Faint,
    Accent,
    Title,
    Rule,
    Mode,
    Selected,
    Key,
    Queued,
    Running,
    Waiting,
    Cancelling,
    Completed,
    Failed,
    Cancelled,
    Interrupted,
    Capped,
    Name,
    Literal,
    Graph,
}

/// Whether the chrome uses colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colours {
    /// The 16 named ones.
    Named,
    /// None: bold, reverse and underline only (NO_COLOR).
    None,
}

/// The glyphs of the chrome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Glyphs {
    /// Queued, running, waiting, cancelling or cancelled, completed, failed, interrupted, capped.
    pub states: [&'static str; 8],
    /// Mark of the selected row.
    pub selected: &'static str,
    /// Connected, gone.
    pub link: [&'static str; 2],
    /// Horizontal and vertical rule.
    pub rules: [&'static str; 2],
    /// Corners of a dialog: top left, top right, bottom left, bottom right.
    pub corners: [&'static str; 4],
    /// More to the left, more to the right.
    pub more: [&'static str; 2],
    /// Text that was cut ends in this.
    pub cut: &'static str,
    /// Between facts on one line.
    pub dot: &'static str,
    /// Levels of a graph, lowest first.
    pub levels: [&'static str; 8],
}

const UNICODE: Glyphs = Glyphs {
    states: ["◌", "●", "◐", "■", "✓", "✗", "!", "▲"],
    selected: "▸",
    link: ["●", "○"],
    rules: ["─", "│"],
    corners: ["┌", "┐", "└", "┘"],
    more: ["‹", "›"],
    cut: "…",
    dot: "·",
    levels: ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"],
};

const ASCII: Glyphs = Glyphs {
    states: [".", "*", "?", "#", "+", "x", "!", "^"],
    selected: ">",
    link: ["*", "o"],
    rules: ["-", "|"],
    corners: ["+", "+", "+", "+"],
    more: ["<", ">"],
    cut: "~",
    dot: "-",
    levels: [".", ".", ":", "-", "=", "+", "*", "#"],
};

/// A theme that does not parse.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Not TOML, or not a theme.
    #[error("read the theme")]
    Parse(#[from] toml::de::Error),
    /// A colour that is none of the 16 names.
    #[error("read the theme: `{name}` is none of the 16 colour names")]
    Colour {
        /// The name as written.
        name: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    roles: BTreeMap<Role, Look>,
    plain: BTreeMap<Role, Look>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct Look {
    fg: Option<String>,
    bold: bool,
    dim: bool,
    reverse: bool,
    underline: bool,
}

/// Styles by role, and the glyphs.
#[derive(Debug, Clone)]
pub struct Theme {
    styles: BTreeMap<Role, Style>,
    /// The glyphs of the chrome.
    pub glyphs: Glyphs,
}

impl Theme {
    /// Returns the default theme.
    #[must_use]
    pub fn built_in(colours: Colours, ascii: bool) -> Self {
        Self::parse(DEFAULT, colours, ascii).expect("the embedded theme parses: a test reads it")
    }

    /// Reads a theme.
    ///
    /// # Errors
    /// When the text is no theme or names an unknown colour.
    pub fn parse(text: &str, colours: Colours, ascii: bool) -> Result<Self, Error> {
        let file: File = toml::from_str(text)?;
        let mut styles = BTreeMap::new();
        for (role, look) in file.roles {
            styles.insert(role, look.style(colours)?);
        }
        if colours == Colours::None {
            for (role, look) in file.plain {
                styles.insert(role, look.style(colours)?);
            }
        }
        Ok(Self { styles, glyphs: if ascii { ASCII } else { UNICODE } })
    }

    /// Returns the style of a role.
    #[must_use]
    pub fn style(&self, role: Role) -> Style {
        self.styles.get(&role).copied().unwrap_or_default()
    }
}

impl Look {
    fn style(&self, colours: Colours) -> Result<Style, Error> {
        let mut style = Style::new();
        if let Some(name) = &self.fg {
            let colour = named(name).ok_or_else(|| Error::Colour { name: name.clone() })?;
            if colours == Colours::Named {
                style = style.fg(colour);
            }
        }
        let flags = [
            (self.bold, Modifier::BOLD),
            (self.dim, Modifier::DIM),
            (self.reverse, Modifier::REVERSED),
            (self.underline, Modifier::UNDERLINED),
        ];
        Ok(flags.iter().filter(|(on, _)| *on).fold(style, |style, (_, flag)| style.add_modifier(*flag)))
    }
}

fn named(name: &str) -> Option<Color> {
    Some(match name {
        "default" => Color::Reset,
        "black" => Color::Black,
        "red" => Color::Red,
        "green" => Color::Green,
        "yellow" => Color::Yellow,
        "blue" => Color::Blue,
        "magenta" => Color::Magenta,
        "cyan" => Color::Cyan,
        "white" => Color::Gray,
        "bright-black" => Color::DarkGray,
        "bright-red" => Color::LightRed,
        "bright-green" => Color::LightGreen,
        "bright-yellow" => Color::LightYellow,
        "bright-blue" => Color::LightBlue,
        "bright-magenta" => Color::LightMagenta,
        "bright-cyan" => Color::LightCyan,
        "bright-white" => Color::White,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_colour_every_role_is_bold_reverse_underline_or_plain() {
        let theme = Theme::built_in(Colours::None, false);
        for (role, style) in &theme.styles {
            assert_eq!((style.fg, style.bg), (None, None), "{role:?}");
        }
        assert!(theme.style(Role::Waiting).add_modifier.contains(Modifier::UNDERLINED));
    }

    #[test]
    fn a_colour_outside_the_sixteen_is_refused() {
        let text = "[roles]\ntext = { fg = \"#102030\" }\n[plain]\n";
        assert!(matches!(Theme::parse(text, Colours::Named, false), Err(Error::Colour { .. })));
    }
}
