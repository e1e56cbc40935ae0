//! What a shell is, by the name of its file once links are followed, and so what can be put around its command.

use std::ffi::OsStr;
use std::path::Path;

use super::environment::on_path;

/// A kind of shell. The differences were seen with dash 0.5.12, bash 5.2, busybox 1.35, zsh 5.9, yash 2.54, mksh R59, ksh93u+m,
/// posh 0.14, fish 3.6 and rc 1.7.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShellKind {
    /// bash, under its own name: it reads a file before its command (`BASH_ENV`).
    Bash,
    /// POSIX syntax; a trap on EXIT shows in no trace and changes no exit status. bash as `sh` too.
    Trapping,
    /// POSIX syntax; a trap on EXIT is traced, or makes a killed shell a success (mksh: 0, ksh93: the signal's number).
    Posix,
    Fish,
    Rc,
    /// A restricted shell, which may restore neither its directory nor its `PATH`.
    Restricted,
    /// Any other, of which nothing is known.
    Other,
}

impl ShellKind {
    /// Returns the kind of the shell at a path, or of the first of this name in `path`, a value of `PATH`.
    pub fn of(shell: &Path, path: Option<&OsStr>) -> Self {
        let name = shell.file_name().unwrap_or_default();
        let is_bare = shell.parent().is_some_and(|parent| parent.as_os_str().is_empty());
        let found = is_bare.then(|| on_path(name, path).find(|file| file.is_file())).flatten();
        let file = found.as_deref().unwrap_or(shell);
        let real = file.canonicalize().unwrap_or_else(|_| file.to_owned());
        let real = real.file_name().unwrap_or_default().to_string_lossy().into_owned();
        match Self::of_file(&real) {
            _ if name.to_str().is_some_and(is_restricted) => Self::Restricted,
            Self::Bash if name == "sh" => Self::Trapping,
            kind => kind,
        }
    }

    fn of_file(file: &str) -> Self {
        let word = file.split(['-', '.']).next().unwrap_or_default();
        let word = word.trim_end_matches(|c: char| c.is_ascii_digit());
        match word {
            _ if is_restricted(word) => Self::Restricted,
            "bash" => Self::Bash,
            "sh" | "dash" | "ash" | "busybox" | "zsh" | "yash" => Self::Trapping,
            "ksh" | "mksh" | "lksh" | "pdksh" | "oksh" | "posh" => Self::Posix,
            "fish" => Self::Fish,
            "rc" => Self::Rc,
            _ => Self::Other,
        }
    }

    /// Tells whether it has the syntax of POSIX.
    pub fn is_posix(self) -> bool {
        matches!(self, Self::Bash | Self::Trapping | Self::Posix)
    }

    /// Says why it cannot be a login shell for a command, if so.
    pub fn login_obstacle(self) -> Option<&'static str> {
        match self {
            Self::Restricted => {
                Some("a restricted shell cannot restore the directory and PATH after the profile")
            }
            Self::Other => Some(
                "this shell is not known to run a command after a profile; bash, dash, busybox, zsh, yash, ksh, mksh, posh, \
                 fish and rc are",
            ),
            _ => None,
        }
    }
}

fn is_restricted(name: &str) -> bool {
    matches!(name, "rbash" | "rksh" | "rzsh")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_is_known_by_its_file_whatever_link_leads_to_it() {
        let dir = tempfile::tempdir().expect("temp dir");
        for file in ["bash-5.3", "dash", "mksh", "ksh93", "busybox", "fish", "tcsh"] {
            std::fs::write(dir.path().join(file), "").expect("writes");
        }
        let link = |name: &str, file: &str| {
            let link = dir.path().join(name);
            let _ = std::fs::remove_file(&link);
            std::os::unix::fs::symlink(file, &link).expect("links");
            ShellKind::of(&link, None)
        };
        for (name, file, kind) in [
            ("sh", "dash", ShellKind::Trapping),
            ("sh", "bash-5.3", ShellKind::Trapping),
            ("sh", "mksh", ShellKind::Posix),
            ("my-bash", "bash-5.3", ShellKind::Bash),
            ("rbash", "bash-5.3", ShellKind::Restricted),
            ("ksh", "ksh93", ShellKind::Posix),
            ("ash", "busybox", ShellKind::Trapping),
            ("login", "fish", ShellKind::Fish),
            ("bash", "tcsh", ShellKind::Other),
        ] {
            assert_eq!(link(name, file), kind, "{name} -> {file}");
        }
        let path = dir.path().as_os_str();
        assert_eq!(ShellKind::of(Path::new("mksh"), Some(path)), ShellKind::Posix);
        assert_eq!(ShellKind::of(Path::new("/no/such/lksh"), None), ShellKind::Posix);
    }
}
