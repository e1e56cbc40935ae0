//! The role of each cell on every screen and dialog, at 80x24, and what the roles look like in each theme at each
//! colour level. A changed screen changes only its own snapshot; a changed theme changes only the table of roles.

use std::collections::HashMap;
use std::fmt::Write as _;

use pilothouse::console::app::App;
use pilothouse::console::theme::colour::Level;
use pilothouse::console::theme::{Colours, Role, Theme, ThemeSet};
use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};

use crate::console_fixture::draw;
use crate::console_looks::all;

type Style = (Color, Color, Modifier);

const THEMES: [&str; 7] = ["default", "dark", "light", "high-contrast", "deuteranopia", "tritanopia", "mono"];
const LEVELS: [(&str, Level, Colours); 3] = [
    ("16", Level::Sixteen, Colours::Sixteen),
    ("256", Level::Many, Colours::Named),
    ("true", Level::True, Colours::Named),
];
/// Modifiers added to a role: the selected row, a match, a matching letter.
const MARKS: [(&str, Modifier); 4] = [
    ("", Modifier::empty()),
    ("+bold", Modifier::BOLD),
    ("+underlined", Modifier::UNDERLINED),
    ("+reversed", Modifier::REVERSED),
];

fn looks() -> impl Iterator<Item = (&'static str, (&'static str, Level, Colours))> {
    THEMES.into_iter().flat_map(|theme| LEVELS.into_iter().map(move |level| (theme, level)))
}

/// A cell as a terminal of this colour level shows it.
fn seen(level: Level, cell: &Cell) -> Style {
    (level.map(cell.fg), level.map(cell.bg), cell.modifier)
}

/// Each theme at each colour level.
fn themes() -> Vec<(Level, Theme)> {
    let mut set = ThemeSet::default();
    let theme = |(name, (_, level, colours)): (&str, (&str, Level, Colours))| {
        set.colours = colours;
        (level, set.theme(name))
    };
    looks().map(theme).collect()
}

/// What a role looks like in every theme, at every colour level.
fn everywhere(themes: &[(Level, Theme)], role: Role, mark: Modifier) -> Vec<Style> {
    let style = |(level, theme): &(Level, Theme)| {
        let mut cell = Cell::default();
        cell.set_style(theme.style(role));
        cell.modifier.insert(mark);
        seen(*level, &cell)
    };
    themes.iter().map(style).collect()
}

fn dressed(app: &App, theme: &Theme) -> Buffer {
    let mut app = app.clone();
    app.state.setup.theme = theme.clone();
    draw(&app).0
}

/// Names for what a cell looks like everywhere: a role, with or without a modifier; the first one if several look the same.
fn names(themes: &[(Level, Theme)]) -> HashMap<Vec<Style>, String> {
    let mut names = HashMap::new();
    for (word, mark) in MARKS {
        for role in Role::ALL {
            names.entry(everywhere(themes, *role, mark)).or_insert_with(|| format!("{}{word}", role.name()));
        }
    }
    names
}

fn told(style: Style) -> String {
    let colour = |colour: Color| match colour {
        Color::Reset => "-".to_owned(),
        Color::Rgb(red, green, blue) => format!("#{red:02x}{green:02x}{blue:02x}"),
        Color::Indexed(index) => index.to_string(),
        named => format!("{named:?}").to_lowercase(),
    };
    let (fg, bg, modifier) = style;
    let mut text = colour(fg);
    if bg != Color::Reset {
        let _ = write!(text, " on {}", colour(bg));
    }
    for (name, flag) in [
        ("bold", Modifier::BOLD),
        ("dim", Modifier::DIM),
        ("reversed", Modifier::REVERSED),
        ("underlined", Modifier::UNDERLINED),
    ] {
        if modifier.contains(flag) {
            let _ = write!(text, " {name}");
        }
    }
    text
}

#[test]
fn the_look_of_each_role_in_each_theme_and_level_matches_the_snapshot() {
    let themes = themes();
    let mut out = String::new();
    for theme in THEMES {
        let _ = writeln!(out, "{theme:<14} {:<26} {:<26} true", "16", "256");
        for role in Role::ALL {
            let styles: Vec<String> = looks()
                .zip(everywhere(&themes, *role, Modifier::empty()))
                .filter(|((of, _), _)| *of == theme)
                .map(|(_, style)| told(style))
                .collect();
            let row = format!("  {:<12} {:<26} {:<26} {}", role.name(), styles[0], styles[1], styles[2]);
            let _ = writeln!(out, "{}", row.trim_end());
        }
    }
    insta::assert_snapshot!("roles", out);
}

/// A letter per cell for its role, a dot for the terminal's own colours; and what the letters mean.
fn picture(app: &App, themes: &[(Level, Theme)], names: &HashMap<Vec<Style>, String>) -> String {
    let buffers: Vec<(Level, Buffer)> =
        themes.iter().map(|(level, theme)| (*level, dressed(app, theme))).collect();
    let (columns, rows) = app.state.outer.size;
    let mut letters: Vec<(String, char)> = Vec::new();
    let mut out = String::new();
    for y in 0..rows {
        let mut row = String::new();
        for x in 0..columns {
            let styles: Vec<Style> =
                buffers.iter().map(|(level, buffer)| seen(*level, &buffer[(x, y)])).collect();
            if styles.iter().all(|style| *style == (Color::Reset, Color::Reset, Modifier::empty())) {
                row.push('.');
                continue;
            }
            // Anything that is no role is a program's own colour, or a mix of roles: described as in the default theme.
            let name = names.get(&styles).cloned().unwrap_or_else(|| format!("= {}", told(styles[2])));
            let known = letters.iter().find(|(known, _)| *known == name).map(|(_, letter)| *letter);
            row.push(known.unwrap_or_else(|| {
                let letter = ('a'..='z').chain('A'..='Z').nth(letters.len()).expect("few styles");
                letters.push((name, letter));
                letter
            }));
        }
        let _ = writeln!(out, "{}", row.trim_end_matches('.'));
    }
    for (name, letter) in letters {
        let _ = writeln!(out, "{letter} {name}");
    }
    out
}

#[test]
fn every_screen_and_dialog_has_these_roles_in_every_theme() {
    let themes = themes();
    let names = names(&themes);
    for (name, scene) in all() {
        insta::assert_snapshot!(format!("roles_{name}"), picture(&scene((80, 24)), &themes, &names));
    }
}
