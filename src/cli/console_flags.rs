//! The flags of a console: its appearance for one session, overriding the settings; and its key bindings, for
//! scripts.

use std::ffi::OsStr;
use std::path::Path;

use clap::builder::{PossibleValue, PossibleValuesParser, StringValueParser, TypedValueParser};
use clap::{Arg, ArgAction, ArgMatches, Command as Clap};
use serde::de::DeserializeOwned;

use crate::config::{FILE, Faults, KEYS_FILE, LoadedSettings, read_own};
use crate::console::keys::keymap::{KeyContext, Keymap};
use crate::console::theme::UiFlags;
use crate::console::theme::list::BUILT_IN;
use crate::dispatch::KeyRow;

/// Parses the name of a theme: accepts any name, since there may be custom themes, and suggests the built-in ones.
#[derive(Debug, Clone, Copy)]
struct ThemeName;

impl TypedValueParser for ThemeName {
    type Value = String;

    fn parse_ref(&self, clap: &Clap, arg: Option<&Arg>, given: &OsStr) -> Result<Self::Value, clap::Error> {
        StringValueParser::new().parse_ref(clap, arg, given)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(BUILT_IN.iter().map(|(name, _)| PossibleValue::new(*name))))
    }
}

/// Adds the flags to a command that opens a console.
pub(super) fn declare(clap: Clap) -> Clap {
    let switch = |name: &'static str, help: &'static str| {
        Arg::new(name).long(name).help(help).action(ArgAction::SetTrue)
    };
    let words = |name: &'static str, help: &'static str, words: &'static [&'static str]| {
        Arg::new(name).long(name).help(help).value_parser(PossibleValuesParser::new(words))
    };
    let theme = Arg::new("theme").long("theme").value_name("NAME").value_parser(ThemeName);
    clap.arg(theme.help("Use this theme for this session"))
        .arg(words("color-level", "Use this many colours, also in panes", &["0", "16", "256", "true"]))
        .arg(words(
            "mouse",
            "Use the mouse for nothing, only for the wheel, or for everything",
            &["off", "wheel", "full"],
        ))
        .arg(switch("no-motion", "Turn off motion"))
        .arg(switch("no-clock", "Hide the clock"))
        .arg(switch("ascii", "Draw with ASCII alone"))
        .arg(switch("accessible", "Read and write plain lines, for screen readers, CI and dumb terminals"))
}

/// Returns the flags, given before or after the command's name.
pub(super) fn flags(matches: &ArgMatches) -> UiFlags {
    let inner = matches.subcommand().map(|(_, inner)| inner);
    let levels = [Some(matches), inner];
    let text = |name: &str| {
        let given = |matches: &&ArgMatches| matches.try_get_one::<String>(name).ok().flatten().cloned();
        levels.iter().rev().flatten().find_map(given)
    };
    let is_set = |name: &str| {
        let given = |matches: &&ArgMatches| matches.try_get_one::<bool>(name).ok().flatten() == Some(&true);
        levels.iter().flatten().any(given)
    };
    UiFlags {
        theme: text("theme"),
        color: text("color-level").and_then(setting),
        mouse: text("mouse").and_then(setting),
        no_motion: is_set("no-motion"),
        no_clock: is_set("no-clock"),
        ascii: is_set("ascii"),
        accessible: is_set("accessible"),
    }
}

/// Parses a value spelled as in `config.toml`.
fn setting<T: DeserializeOwned>(word: String) -> Option<T> {
    serde_json::from_value(word.into()).ok()
}

/// Returns the effective key bindings: the preset, overridden by the user's file.
pub(super) fn keys(config: &Path) -> Result<Vec<KeyRow>, Faults> {
    let path = config.join(FILE);
    let source = read_own(&path).map_err(|fault| Faults(vec![fault]))?;
    let preset = LoadedSettings::of(source.as_ref(), &path)?.settings.console.keys;
    let own = read_own(&config.join(KEYS_FILE)).map_err(|fault| Faults(vec![fault]))?;
    let (keymap, default) = (Keymap::of(&preset, own.as_ref())?, Keymap::built_in());
    let rows = KeyContext::ALL.iter().flat_map(|&context| {
        let usual = default.own(context);
        let keys_of = move |action| {
            usual.iter().find(|(own, _)| *own == action).map(|(_, keys)| keys.clone()).unwrap_or_default()
        };
        keymap.own(context).into_iter().map(move |(action, keys)| KeyRow {
            context: context.name().to_owned(),
            action: action.name().to_owned(),
            about: action.about().to_owned(),
            keys,
            default: keys_of(action),
        })
    });
    Ok(rows.collect())
}
