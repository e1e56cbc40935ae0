//! The roles that views name instead of colours, and the theme files that give each its style.

use std::collections::BTreeMap;

use ratatui::style::{Color, Modifier, Style};

use super::colour::{Backdrop, LEGIBLE, Rgb, contrast, sixteen};
use crate::config::{Fault, Faults, Node, Source, SourceEntry, nearest};

const DEFAULT: &str = include_str!("../../../themes/default.toml");

/// The role of a text on screen. To add one, name it here and give it a style in `themes/default.toml`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "kebab-case")]
#[expect(missing_docs, reason = "the names say it; themes/default.toml shows it")]
pub enum Role {
    Text,
    Strong,
    Faint,
    Accent,
    Title,
    Rule,
    Mode,
    Input,
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
    Agent1,
    Agent2,
    Agent3,
    Agent4,
}

impl Role {
    /// All roles.
    pub const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;

    /// Returns its name in a theme.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// Which colours the chrome uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colours {
    /// The theme's colours.
    Named,
    /// The theme's colours for terminals with only sixteen.
    Sixteen,
    /// None: bold, reverse and underline only (NO_COLOR).
    None,
}

/// The contents of a theme file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ThemeFile {
    /// A one-line description.
    pub about: String,
    /// The backgrounds it is designed for: `dark`, `light`.
    pub on: Vec<String>,
    roles: BTreeMap<Role, RoleStyle>,
    plain: BTreeMap<Role, RoleStyle>,
}

/// The style of a role.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct RoleStyle {
    paint: Option<Paint>,
    /// Its colour on terminals with only sixteen.
    few: Option<Paint>,
    flags: Modifier,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Paint {
    /// The terminal's default colour.
    Default,
    /// One of the sixteen named colours.
    Named(u8),
    Rgb(Rgb),
}

/// A theme: the styles by role, and the glyphs.
#[derive(Debug, Clone)]
pub struct Theme {
    styles: BTreeMap<Role, Style>,
    /// The glyphs of the chrome.
    pub glyphs: Glyphs,
}

impl Theme {
    /// Returns the default theme.
    pub fn built_in(colours: Colours, ascii: bool) -> Self {
        ThemeFile::built_in().theme(colours, ascii, None)
    }

    /// Returns the style of a role.
    pub fn style(&self, role: Role) -> Style {
        self.styles.get(&role).copied().unwrap_or_default()
    }
}

impl ThemeFile {
    /// Returns the contents of the default theme's file.
    pub fn built_in() -> Self {
        let source = Source { name: "themes/default.toml".into(), text: DEFAULT.into() };
        Self::default().over(&source).expect("the embedded theme parses: a test reads it")
    }

    /// Reads a theme file; roles it does not name keep their current style.
    ///
    /// # Errors
    /// When it is not valid TOML, or has an unknown role, colour or key.
    pub fn over(&self, source: &Source) -> Result<Self, Faults> {
        let entries = source.entries().map_err(|fault| Faults(vec![fault]))?;
        let mut file = Self { about: String::new(), on: Vec::new(), ..self.clone() };
        let mut faults = Vec::new();
        for entry in &entries {
            match (entry.key.as_str(), &entry.node) {
                ("about", Node::Text(text)) => file.about.clone_from(text),
                ("on", Node::List(items)) => {
                    let words = items.iter().filter_map(|(_, item)| match item {
                        Node::Text(text) => Some(text.clone()),
                        _ => None,
                    });
                    file.on = words.collect();
                }
                ("roles", Node::Table(rows)) => {
                    read_roles(source, "roles", rows, &mut file.roles, &mut faults)
                }
                ("plain", Node::Table(rows)) => {
                    read_roles(source, "plain", rows, &mut file.plain, &mut faults)
                }
                ("about" | "on" | "roles" | "plain", _) => {
                    faults.push(source.fault(entry.line, &entry.key, "another kind of value belongs here"));
                }
                (other, _) => {
                    let near = nearest(other, ["about", "on", "roles", "plain"].into_iter());
                    let fault = source.fault(entry.line, other, "there is no such key");
                    faults.push(Fault { near: near.map(str::to_owned), ..fault });
                }
            }
        }
        if faults.is_empty() { Ok(file) } else { Err(Faults(faults)) }
    }

    /// Builds the theme: without colours if so requested, and without any that would be illegible on the
    /// backdrop, if that is known.
    pub fn theme(&self, colours: Colours, ascii: bool, backdrop: Option<&Backdrop>) -> Theme {
        let style = |(role, style): (&Role, &RoleStyle)| {
            let plain =
                || self.plain.get(role).copied().unwrap_or(RoleStyle { paint: None, few: None, ..*style });
            let style = match colours {
                Colours::Sixteen => RoleStyle { paint: style.few.or(style.paint), ..*style },
                Colours::Named | Colours::None => *style,
            };
            let style = match (colours, backdrop) {
                (Colours::None, _) => plain(),
                (_, Some(backdrop)) => style.legible(backdrop).unwrap_or_else(plain),
                (_, None) => style,
            };
            (*role, style.style(colours))
        };
        let glyphs = if ascii { ASCII } else { UNICODE };
        Theme { styles: self.roles.iter().map(style).collect(), glyphs }
    }

    /// Returns the contrast with a backdrop for every role that has a colour.
    pub fn contrasts(&self, backdrop: &Backdrop) -> Vec<(Role, f64)> {
        let rows = self.roles.iter().filter_map(|(role, style)| {
            let paint = style.paint?.rgb(&backdrop.palette)?;
            Some((*role, contrast(paint, backdrop.background)))
        });
        rows.collect()
    }
}

impl Paint {
    fn rgb(self, palette: &[Rgb; 16]) -> Option<Rgb> {
        match self {
            Self::Default => None,
            Self::Named(index) => palette.get(usize::from(index)).copied(),
            Self::Rgb(rgb) => Some(rgb),
        }
    }
}

impl RoleStyle {
    /// Returns the style with its colour or the brighter or darker variant, whichever is legible.
    fn legible(self, backdrop: &Backdrop) -> Option<Self> {
        let Some(paint) = self.paint else { return Some(self) };
        let sister = match paint {
            Paint::Named(index @ 0..=7) => Some(Paint::Named(index + 8)),
            Paint::Named(index @ 8..=15) => Some(Paint::Named(index - 8)),
            _ => None,
        };
        let reads = |paint: &Paint| {
            let rgb = paint.rgb(&backdrop.palette);
            rgb.is_none_or(|rgb| contrast(rgb, backdrop.background) >= LEGIBLE)
        };
        let paint = [Some(paint), sister].into_iter().flatten().find(reads)?;
        Some(Self { paint: Some(paint), ..self })
    }

    fn style(self, colours: Colours) -> Style {
        let style = Style::new().add_modifier(self.flags);
        let colour = match self.paint.filter(|_| colours != Colours::None) {
            None => return style,
            Some(Paint::Default) => Color::Reset,
            Some(Paint::Named(index)) => sixteen(index),
            Some(Paint::Rgb((red, green, blue))) => Color::Rgb(red, green, blue),
        };
        style.fg(colour)
    }
}

fn read_roles(
    source: &Source,
    table: &str,
    rows: &[SourceEntry],
    into: &mut BTreeMap<Role, RoleStyle>,
    faults: &mut Vec<Fault>,
) {
    for row in rows {
        let path = format!("{table}.{}", row.key);
        let Some(&role) = Role::ALL.iter().find(|role| role.name() == row.key) else {
            let near = nearest(&row.key, Role::ALL.iter().map(|role| role.name())).map(str::to_owned);
            faults.push(Fault { near, ..source.fault(row.line, &path, "there is no such role") });
            continue;
        };
        match style(source, &path, row) {
            Ok(style) => drop(into.insert(role, style)),
            Err(fault) => faults.push(fault),
        }
    }
}

fn style(source: &Source, path: &str, row: &SourceEntry) -> Result<RoleStyle, Fault> {
    let Node::Table(parts) = &row.node else {
        return Err(source.fault(
            row.line,
            path,
            "a table belongs here, e.g. { fg = \"cyan\", bold = true }",
        ));
    };
    let mut style = RoleStyle::default();
    for part in parts {
        let flag = match part.key.as_str() {
            "bold" => Modifier::BOLD,
            "dim" => Modifier::DIM,
            "reverse" => Modifier::REVERSED,
            "underline" => Modifier::UNDERLINED,
            "fg" | "fg16" => {
                let Node::Text(name) = &part.node else {
                    return Err(source.fault(part.line, path, "a colour is written as text"));
                };
                let paint = paint(source, path, part.line, name)?;
                match (part.key.as_str(), paint) {
                    ("fg16", Paint::Rgb(_)) => {
                        let what = "`fg16` is one of the 16 names, or `default`";
                        return Err(source.fault(part.line, path, what));
                    }
                    ("fg16", _) => style.few = Some(paint),
                    _ => style.paint = Some(paint),
                }
                continue;
            }
            other => {
                let known = ["fg", "fg16", "bold", "dim", "reverse", "underline"].into_iter();
                let fault = source.fault(part.line, &format!("{path}.{other}"), "there is no such key");
                return Err(Fault { near: nearest(other, known).map(str::to_owned), ..fault });
            }
        };
        match part.node {
            Node::Flag(on) => style.flags.set(flag, on),
            _ => return Err(source.fault(part.line, path, "it is true or false")),
        }
    }
    Ok(style)
}

/// The names of the sixteen colours, in numerical order.
const NAMES: [&str; 16] = [
    "black",
    "red",
    "green",
    "yellow",
    "blue",
    "magenta",
    "cyan",
    "white",
    "bright-black",
    "bright-red",
    "bright-green",
    "bright-yellow",
    "bright-blue",
    "bright-magenta",
    "bright-cyan",
    "bright-white",
];

fn paint(source: &Source, path: &str, line: usize, name: &str) -> Result<Paint, Fault> {
    if name == "default" {
        return Ok(Paint::Default);
    }
    if let Some(index) = (0..).zip(NAMES).find_map(|(index, own)| (own == name).then_some(index)) {
        return Ok(Paint::Named(index));
    }
    let hex =
        name.strip_prefix('#').filter(|hex| hex.len() == 6 && hex.bytes().all(|b| b.is_ascii_hexdigit()));
    if let Some(number) = hex.and_then(|hex| u32::from_str_radix(hex, 16).ok()) {
        let [_, red, green, blue] = number.to_be_bytes();
        return Ok(Paint::Rgb((red, green, blue)));
    }
    let near = nearest(name, NAMES.into_iter().chain(["default"])).map(str::to_owned);
    let what = format!("`{name}` is no colour: write one of the 16 names, `default` or `#rrggbb`");
    Err(Fault { near, ..source.fault(line, path, what) })
}

/// The glyphs of the chrome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Glyphs {
    /// The states: queued, running, waiting, cancelling or cancelled, completed, failed, interrupted, capped.
    pub states: [&'static str; 8],
    /// The mark of the selected row.
    pub selected: &'static str,
    /// Connected and disconnected.
    pub link: [&'static str; 2],
    /// Horizontal and vertical rules.
    pub rules: [&'static str; 2],
    /// The same around what is typed into.
    pub heavy: [&'static str; 2],
    /// The corners of a dialog: top left, top right, bottom left, bottom right.
    pub corners: [&'static str; 4],
    /// Continues to the left, and to the right.
    pub more: [&'static str; 2],
    /// The end of a text that was cut.
    pub cut: &'static str,
    /// The separator between facts on one line.
    pub dot: &'static str,
    /// The levels of a graph, lowest first.
    pub levels: [&'static str; 8],
}

/// The default glyphs. Some are two columns wide in Chinese, Japanese or Korean locales.
pub(in crate::console) const UNICODE: Glyphs = Glyphs {
    states: ["◌", "●", "◐", "■", "✓", "✗", "!", "▲"],
    selected: "▸",
    link: ["●", "○"],
    rules: ["─", "│"],
    heavy: ["━", "┃"],
    corners: ["┌", "┐", "└", "┘"],
    more: ["‹", "›"],
    cut: "…",
    dot: "·",
    levels: ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"],
};

/// Glyphs available on every terminal.
pub(in crate::console) const ASCII: Glyphs = Glyphs {
    states: [".", "*", "?", "#", "+", "x", "!", "^"],
    selected: ">",
    link: ["*", "o"],
    rules: ["-", "|"],
    heavy: ["=", "|"],
    corners: ["+", "+", "+", "+"],
    more: ["<", ">"],
    cut: "~",
    dot: "-",
    levels: [".", ".", ":", "-", "=", "+", "*", "#"],
};

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
    fn the_default_theme_names_every_role() {
        let file = ThemeFile::built_in();
        for role in Role::ALL {
            assert!(file.roles.contains_key(role), "{}", role.name());
        }
    }

    #[test]
    fn a_fault_has_its_line_and_the_nearest_name() {
        let cases = [
            (
                "[roles]\nrunnning = { fg = \"green\" }\n",
                "t.toml:2: roles.runnning: there is no such role; did you mean `running`?",
            ),
            (
                "[roles]\ntext = { fg = \"gren\" }\n",
                "t.toml:2: roles.text: `gren` is no colour: write one of the 16 names, `default` or `#rrggbb`; did you mean `green`?",
            ),
            (
                "[roles]\ntext = { bolt = true }\n",
                "t.toml:2: roles.text.bolt: there is no such key; did you mean `bold`?",
            ),
            ("\n[rolls]\n", "t.toml:2: rolls: there is no such key; did you mean `roles`?"),
        ];
        for (text, expected) in cases {
            let source = Source { name: "t.toml".into(), text: text.into() };
            let faults = ThemeFile::built_in().over(&source).expect_err("refused");
            assert_eq!(faults.to_string(), expected);
        }
        let own = Source { name: "t.toml".into(), text: "[roles]\nrunning = { fg = \"#102030\" }\n".into() };
        let theme = ThemeFile::built_in().over(&own).expect("reads").theme(Colours::Named, false, None);
        assert_eq!(theme.style(Role::Running).fg, Some(Color::Rgb(0x10, 0x20, 0x30)));
        assert_eq!(theme.style(Role::Failed).fg, Some(Color::Red), "as in the default theme");
    }
}
