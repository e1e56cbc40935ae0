//! What leads an agent's shell here, in the user's data folder: symbolic links by which agents call this program (or the
//! smaller `pilothouse-shell`, where that is beside it) as their shell, and the file that a bash reads first (`BASH_ENV`).
//! An agent may give its model the name of its shell, so each link is named after the shell it represents and recognised
//! by its folder.

use std::ffi::OsStr;
use std::io::{self, Write as _};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::files;
use crate::paths::shells_dir;

/// The prefix of the names of links in any other folder.
pub const SHELL_PREFIX: &str = "pilothouse-";
/// The program for agents' shells alone, beside the whole one.
pub const SHELL_PROGRAM: &str = "pilothouse-shell";
/// The end of the path of the folder with links for agents that are configured with a shell.
const TOLD: &str = "pilothouse/shells/told";
/// The file that a bash below a started agent reads first, and the one that it reads for what may be the agent's own.
const BASH_FILES: [(&str, &str); 2] =
    [(BASH_ENV_NAME, include_str!("bash-env.sh")), ("bash-call", include_str!("bash-call.sh"))];
const BASH_ENV_NAME: &str = "bash-env";
/// The end of the path of that file.
const BASH_ENV: &str = "pilothouse/shells/bash-env";
/// The longest of these files that is compared with what it should be.
const MOST_BYTES: u64 = 64 << 10;
/// The shells that links represent.
pub const SHELLS: [&str; 2] = ["bash", "zsh"];

/// The folder of these links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellLinks(PathBuf);

impl ShellLinks {
    /// Returns the links of this user; `None` if the user has no data folder.
    #[must_use]
    pub fn of_user() -> Option<Self> {
        shells_dir().map(Self)
    }

    /// Returns the links in a folder.
    #[must_use]
    pub fn within(folder: PathBuf) -> Self {
        Self(folder)
    }

    /// Creates the links to a program, or to the one for shells beside it, and the files for bash, or updates them.
    ///
    /// # Errors
    /// If one of them cannot be created.
    pub fn make(&self, program: &Path) -> io::Result<()> {
        let small = program.with_file_name(SHELL_PROGRAM);
        let program = if small.is_file() { &small } else { program };
        for link in SHELLS.iter().map(|shell| self.of(shell)) {
            if std::fs::read_link(&link).is_ok_and(|named| named == program) {
                continue;
            }
            files::create_folder(link.parent().unwrap_or(&link))?;
            // An agent may be starting a command through the old link: replace it atomically, so that it is never
            // missing.
            let fresh = files::beside(&link);
            symlink(program, &fresh)?;
            std::fs::rename(&fresh, &link)?;
        }
        for (name, text) in BASH_FILES {
            let path = self.0.join(name);
            if !files::read_text(&path, files::OWN, MOST_BYTES).is_ok_and(|known| known == text) {
                files::replace(&path, |file| file.write_all(text.as_bytes()))?;
            }
        }
        Ok(())
    }

    /// Returns the value of `BASH_ENV` for an agent.
    #[must_use]
    pub fn bash_env(&self) -> PathBuf {
        self.0.join(BASH_ENV_NAME)
    }

    /// Returns the link that represents a shell.
    #[must_use]
    pub fn of(&self, shell: &str) -> PathBuf {
        self.0.join("told").join(shell)
    }

    /// Returns the link for a user with this login shell.
    #[must_use]
    pub fn for_shell(&self, own: Option<&Path>) -> PathBuf {
        self.of(own.and_then(kind_of_shell).unwrap_or("bash"))
    }
}

/// Returns the whole program, given the path of this one.
#[must_use]
pub fn whole_program(own: PathBuf) -> PathBuf {
    if own.ends_with(SHELL_PROGRAM) { own.with_file_name("pilothouse") } else { own }
}

/// Tells whether a path names this program as an agent's shell.
#[must_use]
pub fn is_shell_link(path: &Path) -> bool {
    let is_prefixed = |name: &OsStr| name.as_encoded_bytes().starts_with(SHELL_PREFIX.as_bytes());
    path.file_name().is_some_and(is_prefixed) || path.parent().is_some_and(|folder| folder.ends_with(TOLD))
}

/// Tells whether a value of `BASH_ENV` is our own.
#[must_use]
pub fn is_own_bash_env(value: &Path) -> bool {
    value.ends_with(BASH_ENV)
}

/// Returns which of the represented shells a path names; `None` for a link to this program.
#[must_use]
pub fn kind_of_shell(shell: &Path) -> Option<&'static str> {
    let name = shell.file_name().filter(|_| !is_shell_link(shell))?;
    SHELLS.into_iter().find(|known| name == *known)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn links_name_this_program_and_are_replaced_when_they_name_another() {
        let dir = tempfile::tempdir().expect("temp dir");
        let links = ShellLinks::within(dir.path().join("pilothouse/shells"));
        for program in ["/opt/old", "/opt/new", "/opt/new"] {
            links.make(Path::new(program)).expect("made");
            for link in [links.of("bash"), links.of("zsh")] {
                assert_eq!(std::fs::read_link(&link).expect("a link"), Path::new(program));
            }
        }
        let (whole, small) = (dir.path().join("pilothouse"), dir.path().join(SHELL_PROGRAM));
        std::fs::write(&small, "").expect("written");
        links.make(&whole).expect("made");
        assert_eq!(std::fs::read_link(links.of("bash")).expect("a link"), small);
        assert_eq!([small, whole.clone()].map(whole_program), [whole.clone(), whole]);
        let file = links.bash_env();
        assert!(is_own_bash_env(&file) && !is_own_bash_env(Path::new("/h/bash-env")));
        let mode = |path: &Path| path.metadata().expect("there").permissions().mode() & 0o777;
        assert_eq!((mode(&file), mode(file.parent().expect("a folder"))), (0o600, 0o700));
        // Whatever somebody put there is replaced, and what a link leads to is left alone.
        let mine = dir.path().join("mine");
        std::fs::write(&mine, "mine").expect("written");
        std::fs::remove_file(&file).expect("removed");
        symlink(&mine, &file).expect("a link");
        links.make(Path::new("/opt/new")).expect("made");
        assert_eq!(std::fs::read_to_string(&file).expect("text"), BASH_FILES[0].1);
        assert!(!file.is_symlink() && std::fs::read_to_string(&mine).expect("text") == "mine");
        assert_eq!(links.for_shell(Some(Path::new("/usr/bin/zsh"))), links.of("zsh"));
        assert_eq!(links.for_shell(Some(Path::new("/usr/bin/fish"))), links.of("bash"));
    }

    #[test]
    fn a_shell_link_has_the_name_of_its_shell_and_is_recognised_by_its_folder() {
        let links = ShellLinks::within("/d/pilothouse/shells".into());
        assert_eq!(links.of("zsh").file_name(), Some(OsStr::new("zsh")));
        for (path, is_link) in
            [(links.of("bash"), true), ("/x/pilothouse-zsh".into(), true), ("/bin/bash".into(), false)]
        {
            assert_eq!(is_shell_link(&path), is_link, "{}", path.display());
        }
        assert_eq!(kind_of_shell(&links.of("bash")), None);
        assert_eq!(kind_of_shell(Path::new("/bin/bash")), Some("bash"));
    }
}
