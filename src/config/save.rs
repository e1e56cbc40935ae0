//! Saves a single setting in the user's file and preserves everything else in it.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use toml_edit::{DocumentMut, Item, Table, Value};

use super::load::{FILE, LoadedSettings};
use super::source::Source;
use crate::files;

/// Why a setting was not saved.
#[derive(Debug, thiserror::Error)]
pub enum SaveError {
    /// The file cannot be used as it is, or cannot be changed in a simple way.
    #[error("{0}")]
    Text(String),
    /// The file cannot be written.
    #[error("write {path}")]
    Write {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

/// Saves the theme with which consoles start.
///
/// # Errors
/// When the file is invalid, has the setting in a form that is not supported here, or cannot be written.
pub fn save_theme(config: &Path, name: &str) -> Result<(), SaveError> {
    let path = config.join(FILE);
    let source = super::read_own(&path).map_err(|fault| SaveError::Text(fault.to_string()))?;
    let source = source.unwrap_or_else(|| Source { name: path.display().to_string(), text: String::new() });
    let text = with_theme(&source, name).ok_or_else(|| {
        SaveError::Text(format!(
            "change it by hand: theme = \"{name}\" under [console] in {}",
            path.display()
        ))
    })?;
    write_own(&path, &text).map_err(|source| SaveError::Write { path, source })
}

/// Replaces the user's file.
///
/// # Errors
/// When it cannot be written; it is then left as it was.
pub fn write_own(path: &Path, text: &str) -> io::Result<()> {
    // A symlink, such as into a folder of dotfiles, is kept.
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    files::create_folder(path.parent().unwrap_or(&path))?;
    files::replace(&path, |file| {
        file.write_all(text.as_bytes())?;
        file.sync_all()
    })
}

/// Returns the text with the theme set, or `None` if it has to be changed by hand.
fn with_theme(source: &Source, name: &str) -> Option<String> {
    let mut document: DocumentMut = source.text.parse().ok()?;
    if !document.contains_key("console") {
        let mut table = Table::new();
        let comments = document.trailing().as_str().unwrap_or_default().trim_end();
        if !comments.is_empty() {
            // Comments at the end of the file stay above the added table.
            table.decor_mut().set_prefix(format!("{comments}\n\n"));
            document.set_trailing("");
        }
        document.insert("console", Item::Table(table));
    }
    let console = document.get_mut("console")?.as_table_mut()?;
    if let Some((mut key, theme)) = console.get_key_value_mut("theme") {
        let old = theme.as_value().filter(|old| old.is_str())?;
        let after = old.decor().suffix().cloned().unwrap_or_default();
        *theme = Item::Value(Value::from(name).decorated(" ", after));
        key.leaf_decor_mut().set_suffix(" ");
    } else {
        console.insert("theme", toml_edit::value(name));
        console.sort_values_by(|a, _, b, _| (a.get() != "theme").cmp(&(b.get() != "theme")));
    }
    let changed = Source { text: document.to_string(), ..source.clone() };
    let loaded = LoadedSettings::of(Some(&changed), Path::new(FILE)).ok()?;
    (loaded.settings.console.theme == name).then_some(changed.text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(text: &str) -> Option<String> {
        with_theme(&Source { name: FILE.into(), text: text.into() }, "dark")
    }

    #[test]
    fn saving_a_theme_changes_only_the_theme() {
        let cases = [
            ("", Some("[console]\ntheme = \"dark\"\n")),
            (
                "# mine\nruntime = \"background\"\n",
                Some("# mine\nruntime = \"background\"\n\n[console]\ntheme = \"dark\"\n"),
            ),
            ("[console]\nclock = false # no\n", Some("[console]\ntheme = \"dark\"\nclock = false # no\n")),
            (
                "[console]\n  theme  =  \"light\"  # by day\n[limits]\ntasks = 3\n",
                Some("[console]\n  theme = \"dark\"  # by day\n[limits]\ntasks = 3\n"),
            ),
            ("console.theme = \"light\"\n", Some("console.theme = \"dark\"\n")),
            ("console = { theme = \"light\" }\n", None),
            ("[console]\ntheme = 3\n", None),
            ("[consol]\n", None),
        ];
        for (text, expected) in cases {
            assert_eq!(kept(text).as_deref(), expected, "{text}");
        }
    }
}
