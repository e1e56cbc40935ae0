//! `pilothouse config edit`: opens the settings in the user's editor and checks them afterwards.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::Path;
use std::process::{Command, ExitCode};

use color_eyre::eyre::{Result, WrapErr, eyre};

use super::print;
use super::program_start::ProgramStart;
use crate::config::{FILE, LoadedSettings};
use crate::dispatch::Code;
use crate::envelope::SafeText;
use crate::files::{self, Links};

/// The contents of a new file: every key with its default, commented out.
const TEMPLATE: &str = include_str!("../../assets/config.toml");
/// The longest file of settings that is compared.
const MOST_BYTES: u64 = 1 << 20;
/// The default editor, if neither variable is set.
const USUAL: &str = "vi";

/// Opens the editor, waits for it to exit, and reports faults in the file.
pub(super) fn run(start: &ProgramStart) -> Result<ExitCode> {
    let path = start.places.config_dir.join(FILE);
    if !io::stdin().is_terminal() {
        print::say(format_args!("an editor needs a terminal; the file is {}", path.display()))?;
        return Ok(ExitCode::from(Code::Precondition.exit_code()));
    }
    create(&path)?;
    let read = || files::read(&path, Links::Followed, MOST_BYTES);
    let before = read().wrap_err_with(|| format!("read {}", path.display()))?;
    let editor = ["VISUAL", "EDITOR"].into_iter().find_map(|name| std::env::var(name).ok());
    let editor = editor.filter(|editor| !editor.trim().is_empty()).unwrap_or_else(|| USUAL.to_owned());
    // Uses a shell, as git does: the variable may contain arguments. The path is passed as a separate argument.
    let ended = Command::new("/bin/sh")
        .args(["-c", &format!("{editor} \"$@\""), "editor"])
        .arg(&path)
        .status()
        .wrap_err_with(|| format!("start the editor {editor}"))?;
    if !ended.success() {
        return Err(eyre!("the editor {editor} ended with {ended}"));
    }
    tell(start, &path, &before)
}

fn create(path: &Path) -> Result<()> {
    let folder = path.parent().unwrap_or(path);
    files::create_folder(folder).wrap_err_with(|| format!("create the folder {}", folder.display()))?;
    match files::create_new(path) {
        Ok(mut file) => file.write_all(TEMPLATE.as_bytes()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
    .wrap_err_with(|| format!("create {}", path.display()))
}

fn tell(start: &ProgramStart, path: &Path, before: &[u8]) -> Result<ExitCode> {
    if let Err(faults) = LoadedSettings::read(&start.places.config_dir, &start.places.workspace) {
        print::err(&SafeText::lines(&faults.to_string()))?;
        print::say("the settings are not in effect until that is corrected")?;
        return Ok(ExitCode::from(2));
    }
    let changed = files::read(path, Links::Followed, MOST_BYTES).is_ok_and(|after| after != before);
    let said = if changed {
        "in effect: for consoles and approval rules at once, the rest when a runtime starts"
    } else {
        "unchanged"
    };
    print::say(format_args!("{} {said}", path.display()))?;
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Settings, Source};
    use std::fs;

    fn without_marks(text: &str) -> String {
        // Settings are `# key = value` or `# [table]`; prose is `## …`.
        let line = |line: &str| line.strip_prefix("# ").unwrap_or(line).to_owned();
        text.lines().filter(|text| !text.starts_with("##")).map(line).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn the_file_that_is_made_says_the_defaults_and_all_of_them() {
        let whole = Source { name: "assets/config.toml".into(), text: without_marks(TEMPLATE) };
        let loaded =
            LoadedSettings::of(Some(&whole), Path::new(FILE)).unwrap_or_else(|faults| panic!("{faults}"));
        assert_eq!(loaded.settings, Settings::default());
        for (key, _, origin) in loaded.values() {
            assert_ne!(origin, crate::config::Origin::Default, "{key} is not in assets/config.toml");
        }
        let quiet = Source { name: "assets/config.toml".into(), text: TEMPLATE.into() };
        let loaded = LoadedSettings::of(Some(&quiet), Path::new(FILE)).expect("reads");
        assert!(loaded.values().iter().all(|(.., origin)| *origin == crate::config::Origin::Default));
    }

    #[test]
    fn a_file_is_made_once_and_only_for_its_owner() {
        use std::os::unix::fs::PermissionsExt as _;
        let home = tempfile::tempdir().expect("temp dir");
        let path = home.path().join("new/config.toml");
        create(&path).expect("made");
        assert_eq!(path.metadata().expect("facts").permissions().mode() & 0o777, 0o600);
        fs::write(&path, "# mine\n").expect("written");
        create(&path).expect("kept");
        assert_eq!(fs::read_to_string(&path).expect("read"), "# mine\n");
    }
}
