//! Changes one setting in the person's file and leaves every other letter of it as it is.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::load::{FILE, Loaded};
use super::source::{Entry, Node, Source};

/// Why a setting was not kept.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be used as it is, or not changed in a simple way.
    #[error("{0}")]
    Text(String),
    /// The file cannot be written.
    #[error("write {path}")]
    Write {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

/// Keeps a theme for the consoles to come.
///
/// # Errors
/// When the file is unusable, says it in a form that is not changed here, or cannot be written.
pub fn save_theme(config: &Path, name: &str) -> Result<(), Error> {
    let path = config.join(FILE);
    let source = super::read_own(&path).map_err(|fault| Error::Text(fault.to_string()))?;
    let source = source.unwrap_or_else(|| Source { name: path.display().to_string(), text: String::new() });
    let text = with_theme(&source, name).ok_or_else(|| {
        Error::Text(format!("change it by hand: theme = \"{name}\" under [console] in {}", path.display()))
    })?;
    write(&path, &text).map_err(|source| Error::Write { path, source })
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
    // A link into a folder of dotfiles stays one.
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let folder = path.parent().unwrap_or(&path);
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let next = folder.join(format!(".{FILE}.{}", std::process::id()));
    let mut file = fs::File::options().write(true).create(true).truncate(true).mode(0o600).open(&next)?;
    io::Write::write_all(&mut file, text.as_bytes())?;
    file.sync_all()?;
    fs::rename(next, path)
}

/// Returns the text with the theme in it; none where that takes a person.
fn with_theme(source: &Source, name: &str) -> Option<String> {
    let entries = source.entries().ok()?;
    let console = entries.iter().find(|entry| entry.key == "console");
    let theme = console.and_then(|console| inner(console)?.iter().find(|entry| entry.key == "theme"));
    let mut lines: Vec<String> = source.text.lines().map(str::to_owned).collect();
    let row = format!("theme = \"{name}\"");
    match (console, theme) {
        (_, Some(theme)) => {
            let line = lines.get_mut(theme.line.checked_sub(1)?)?;
            let start = line.find("theme")?;
            let (before, old) = line.split_at(start);
            let simple = before.trim().is_empty() || before.trim() == "console.";
            let rest = old.strip_prefix("theme")?.trim_start().strip_prefix('=')?.trim_start();
            let quoted = rest.strip_prefix('"').and_then(|rest| rest.split_once('"'));
            let (_, comment) = quoted.filter(|(_, after)| {
                simple && after.trim_start().starts_with('#') || after.trim().is_empty()
            })?;
            *line = format!("{before}{row}{comment}");
        }
        (Some(console), None) => {
            let header = lines.get(console.line.checked_sub(1)?)?;
            if header.trim() != "[console]" && !header.trim().starts_with("[console] #") {
                return None;
            }
            lines.insert(console.line, row);
        }
        (None, None) => lines.extend([String::new(), "[console]".to_owned(), row]),
    }
    let text = lines.join("\n").trim_start_matches('\n').to_owned() + "\n";
    let changed = Source { text, ..source.clone() };
    let loaded = Loaded::of(Some(&changed), Path::new(FILE)).ok()?;
    (loaded.settings.console.theme == name).then_some(changed.text)
}

fn inner(entry: &Entry) -> Option<&[Entry]> {
    match &entry.node {
        Node::Table(inner) => Some(inner),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(text: &str) -> Option<String> {
        with_theme(&Source { name: FILE.into(), text: text.into() }, "dark")
    }

    #[test]
    fn only_the_theme_changes() {
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
