//! What a shell is given around a command, so that nothing of it shows.
//!
//! The command of a program's `exec` reports the directory it ended in: a `cd` in it affects the next command. The command
//! of a login shell is preceded by one that takes back what the profile did to the directory, the streams, `PATH`, the mask,
//! the shell's options and its traps, and that marks that the command begins.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use super::editor::PROFILE;
use super::shell_kind::ShellKind;
use crate::files::{self, Links};

/// The descriptor of a text that a command finds as a file: dash supports only those of one digit.
pub(super) const TEXT_DESCRIPTOR: i32 = 9;
/// The descriptors with copies of a login shell's streams, which its profile may redirect.
pub(super) const STREAM_COPIES: [i32; 3] = [6, 7, 8];
/// The longest command that is passed as an argument, in bytes; the kernel allows some more.
const LONGEST: usize = 120 << 10;
/// The variable with the file that bash reads before its command.
const BASH_ENV: &str = "BASH_ENV";
/// The file that is there once the command of a login shell has begun.
const MARK: &str = "begun";
/// The file with the directory the command ended in.
const REPORT: &str = "cwd";
/// The longest report that is read; no path is longer.
const REPORT_BYTES: u64 = 8 << 10;

/// Returns the path under which a shell finds such a text.
#[must_use]
pub fn text_path() -> String {
    format!("/proc/self/fd/{TEXT_DESCRIPTOR}")
}

/// A command with what is put around it.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct WrappedCommand {
    /// The command for the shell.
    pub cmd: String,
    /// The text that the shell finds as a file.
    pub text: Option<String>,
    /// Whether bash reads that file before its command.
    is_read_first: bool,
}

impl WrappedCommand {
    /// Returns a command with nothing around it.
    #[must_use]
    pub fn bare(cmd: String) -> Self {
        Self { cmd, ..Self::default() }
    }

    /// Puts `before` before a command. bash finds it in a file of its own, where it shows in no message about the command;
    /// otherwise it is on the first line, so that the numbers of lines in messages remain correct.
    fn with_prologue(kind: ShellKind, before: &str, cmd: String) -> Self {
        // A longer command is in that file itself.
        match kind {
            ShellKind::Bash if cmd.len() < LONGEST => {
                Self { cmd, text: Some(format!("unset {BASH_ENV}; {before}")), is_read_first: true }
            }
            _ => Self::bare(format!("{before}{cmd}")),
        }
    }

    /// Returns the variable by which bash finds what precedes its command.
    #[must_use]
    pub fn variable(&self) -> Option<(OsString, OsString)> {
        self.is_read_first.then(|| (BASH_ENV.into(), text_path().into()))
    }
}

/// Wraps a program's command in a task's folder.
#[must_use]
pub fn step_command(folder: &Path, kind: ShellKind, cmd: &str) -> WrappedCommand {
    // Without a final line feed, a here-document on the last line would not be closed.
    let text = format!("{cmd}\n");
    let report = report(&folder.join(REPORT));
    let trap = format!("trap {} EXIT", quote(report.as_bytes()));
    let after = format!(
        "\n{{ __pilothouse_status=$?; {report}; (exit $((__pilothouse_status > 256 ? __pilothouse_status - 128 : __pilothouse_status))); }} 2>/dev/null"
    );
    match kind {
        _ if !kind.is_posix() => WrappedCommand::bare(text),
        // Too long for an argument: read from a file, with a report for a command that sets a trap of its own.
        _ if text.len() >= LONGEST => {
            let before = if kind == ShellKind::Posix { String::new() } else { trap };
            WrappedCommand {
                cmd: format!("{before}\n. {}{after}", text_path()),
                text: Some(text),
                is_read_first: false,
            }
        }
        // A trap of its own takes the place of ours.
        ShellKind::Bash | ShellKind::Trapping => {
            let after = if cmd.contains("trap") { &after } else { "" };
            WrappedCommand::with_prologue(kind, &format!("{trap}; "), format!("{text}{after}"))
        }
        // A trace would show what follows.
        _ if cmd.contains("set -") => WrappedCommand::bare(text),
        _ => WrappedCommand::bare(format!("{text}{after}")),
    }
}

/// A place to return to after a login profile.
#[derive(Debug)]
pub struct LoginPlace<'a> {
    /// The task's folder, for the mark.
    pub folder: &'a Path,
    pub workdir: &'a Path,
    /// The caller's `PATH`: its folders come first again.
    pub path: Option<&'a OsStr>,
    /// The caller's mask.
    pub umask: Option<u32>,
}

/// Wraps the command of a login shell. Copies of its streams are open at 6, 7 and 8 when it starts.
/// Limits stay as the profile set them: the kernel does not let them be raised again.
#[must_use]
pub fn login_command(kind: ShellKind, cmd: String, place: &LoginPlace<'_>) -> WrappedCommand {
    let LoginPlace { folder, workdir, path, umask } = place;
    let mark = folder.join(MARK);
    let quote = |word: &OsStr| match kind {
        ShellKind::Fish => format!("'{}'", word.to_string_lossy().replace('\\', r"\\").replace('\'', r"\'")),
        ShellKind::Rc => format!("'{}'", word.to_string_lossy().replace('\'', "''")),
        _ => quote(word.as_bytes()),
    };
    let (mark, workdir) = (quote(mark.as_os_str()), quote(workdir.as_os_str()));
    let path = path.filter(|path| !path.is_empty() && path.to_str().is_some());
    let mask = umask.map(|mask| format!("umask {mask:04o}; ")).unwrap_or_default();
    let before = match kind {
        ShellKind::Fish => {
            let path = path.map(|path| format!("set -gx PATH {} $PATH; ", quote(path))).unwrap_or_default();
            format!("{path}{mask}cd {workdir}; or exit 126; true >{mark}; ")
        }
        ShellKind::Rc => {
            let folders: Vec<String> = path
                .into_iter()
                .flat_map(std::env::split_paths)
                .map(|folder| quote(folder.as_os_str()))
                .collect();
            let path = path.map(|_| format!("path=({} $path); ", folders.join(" "))).unwrap_or_default();
            format!("{path}{mask}cd {workdir} || exit 126; echo -n >{mark}; ")
        }
        _ => {
            // Only these know them; others end for a trap that they do not know.
            let more = if kind == ShellKind::Bash { " ERR DEBUG" } else { "" };
            let [stdin, stdout, stderr] = STREAM_COPIES;
            let streams =
                format!("exec 0<&{stdin} 1>&{stdout} 2>&{stderr} {stdin}<&- {stdout}>&- {stderr}>&-; ");
            let path =
                path.map(|path| format!("PATH={}\"${{PATH:+:$PATH}}\"; ", quote(path))).unwrap_or_default();
            let editors = format!("export {PROFILE}=\"${{VISUAL-}}|${{EDITOR-}}\"; ");
            // A bash that the profile starts finds the same file.
            let only = if kind == ShellKind::Bash { "shopt -q login_shell || return 0; " } else { "" };
            format!(
                "{only}{{ set +euxv; }} 2>/dev/null; trap - EXIT HUP INT QUIT TERM{more}; {streams}{path}{editors}{mask}\
                 cd {workdir} || exit 126; {{ : >|{mark}; }} 2>/dev/null; "
            )
        }
    };
    WrappedCommand::with_prologue(kind, &before, cmd)
}

/// Tells whether the command of a login shell began: its profile may have ended the shell before.
pub fn has_begun(folder: &Path) -> bool {
    folder.join(MARK).exists()
}

/// Returns what a shell printed about a program's command as it prints it about one of its own: with its name instead of
/// the path of the file, `bash: line 1: …`.
pub fn with_shells_name(printed: String, shell: &Path) -> String {
    let file = format!("{}:", text_path());
    if !printed.contains(&file) {
        return printed;
    }
    let name = shell.file_name().unwrap_or_default().to_string_lossy();
    let named = |line: &str| match line.strip_prefix(&file) {
        Some(rest) => format!("{name}:{rest}"),
        None => line.to_owned(),
    };
    printed.split_inclusive('\n').map(named).collect()
}

/// Returns the directory a command ended in, if it was reported. It is not reported if the command was killed,
/// replaced its shell or removed its directory.
pub fn final_directory(folder: &Path) -> Option<PathBuf> {
    let report = files::read(&folder.join(REPORT), Links::NoneIn(3), REPORT_BYTES).ok()?;
    // An incomplete report has no final line feed.
    let path = report.strip_suffix(b"\n")?;
    let path = PathBuf::from(OsString::from_vec(path.to_vec()));
    (path.is_absolute() && path.is_dir()).then_some(path)
}

/// Returns the command that reports the directory. Uses `>|` because the command may have set `noclobber`.
fn report(file: &Path) -> String {
    format!("{{ command pwd -P; }} >|{} 2>/dev/null || :", quote(file.as_os_str().as_bytes()))
}

/// Quotes a word for the shell. A folder whose name is not UTF-8 cannot be written into a command; the replacement
/// matches no file, and the shell reports that.
fn quote(word: &[u8]) -> String {
    format!("'{}'", String::from_utf8_lossy(word).replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_of_the_shell_about_a_command_begins_with_the_name_of_the_shell() {
        let file = "/proc/self/fd/9:";
        let printed = format!("{file} line 1: x: not found\nsee {file} y\n{file} line 2: z");
        let named = with_shells_name(printed, Path::new("/usr/bin/bash"));
        assert_eq!(named, format!("bash: line 1: x: not found\nsee {file} y\nbash: line 2: z"));
    }

    #[test]
    fn half_a_report_and_a_missing_directory_are_no_directory() {
        let dir = tempfile::tempdir().expect("temp dir");
        let report = |text: &str| {
            std::fs::write(dir.path().join(REPORT), text).expect("writes");
            final_directory(dir.path())
        };
        assert_eq!(report("/\n"), Some(PathBuf::from("/")));
        for none in ["/", "", "\n", "tmp\n", "/no/such/place\n"] {
            assert_eq!(report(none), None, "{none:?}");
        }
        let odd = dir.path().join("a'b\nc ");
        std::fs::create_dir(&odd).expect("creates");
        assert_eq!(report(&format!("{}\n", odd.display())), Some(odd));
    }
}
