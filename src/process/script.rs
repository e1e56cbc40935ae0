//! What a shell is given around a command.
//!
//! The command of a program's `exec` is a script: a shell without profiles sources it from a file in memory and reports
//! the directory it ended in. The text may be of any length, and a `cd` in it affects the next command. The command of a
//! login shell is preceded by one that restores the caller's `PATH`.

use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use super::editor::PROFILE;
use crate::files::{self, Links};

/// The descriptor of a text that a command finds as a file: dash supports only those of one digit.
pub(super) const TEXT_DESCRIPTOR: i32 = 9;
/// The file with the directory the command ended in.
const REPORT: &str = "cwd";
/// The longest report that is read; no path is longer.
const REPORT_BYTES: u64 = 8 << 10;

/// Returns the path under which a shell finds such a text.
#[must_use]
pub fn text_path() -> String {
    format!("/proc/self/fd/{TEXT_DESCRIPTOR}")
}

/// Returns the command for the shell to run in a task's folder, and the text of a program's command as it finds it.
#[must_use]
pub fn sourcing(folder: &Path, cmd: &str) -> (String, String) {
    // Without a final line feed, a here-document on the last line would not be closed.
    (wrapper(&folder.join(REPORT)), format!("{cmd}\n"))
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
    let path = PathBuf::from(std::ffi::OsString::from_vec(path.to_vec()));
    (path.is_absolute() && path.is_dir()).then_some(path)
}

/// Returns the command for a login shell, with the folders of the caller's `PATH` put first again, whatever the
/// profile did to them, and with note of the editors that the profile chose (`editor`). The prefix is on the
/// first line, so that line numbers reported by the shell remain correct.
/// For a shell with another syntax, or a `PATH` that is not text, the profile's `PATH` is left unchanged.
pub fn with_callers_path(cmd: String, shell: &Path, path: Option<&OsStr>) -> String {
    match path.and_then(OsStr::to_str).filter(|path| is_posix(shell) && !path.is_empty()) {
        Some(path) => format!(
            "PATH={}\"${{PATH:+:$PATH}}\"; export {PROFILE}=\"${{VISUAL-}}|${{EDITOR-}}\"; {cmd}",
            quote(path.as_bytes())
        ),
        None => cmd,
    }
}

/// Tells by its file name whether a shell has POSIX syntax and options.
pub(super) fn is_posix(shell: &Path) -> bool {
    let name = shell.file_name().and_then(OsStr::to_str);
    matches!(name, Some("bash" | "zsh" | "sh" | "dash" | "ash" | "ksh" | "mksh"))
}

/// Sources the command and reports the directory twice: in the EXIT trap, for a command that leaves by `exit` or by
/// `set -e`, and right after it, for one that sets its own trap. Uses `>|` because the command may have set
/// `noclobber`. The exit status is the command's.
fn wrapper(report: &Path) -> String {
    let report = format!("{{ command pwd -P; }} >|{} 2>/dev/null || :", quote(report.as_os_str().as_bytes()));
    let on_exit = quote(report.as_bytes());
    let text = text_path();
    format!("trap {on_exit} EXIT\n. {text}\n__pilothouse_status=$?\n{report}\nexit $__pilothouse_status")
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
    fn the_wrapper_reports_before_and_after_and_keeps_the_status() {
        let text = wrapper(Path::new("/t/cwd"));
        assert_eq!(
            text,
            "trap '{ command pwd -P; } >|'\\''/t/cwd'\\'' 2>/dev/null || :' EXIT\n\
             . /proc/self/fd/9\n\
             __pilothouse_status=$?\n\
             { command pwd -P; } >|'/t/cwd' 2>/dev/null || :\n\
             exit $__pilothouse_status"
        );
    }

    #[test]
    fn a_message_of_the_shell_about_a_command_begins_with_the_name_of_the_shell() {
        let file = "/proc/self/fd/9:";
        let printed = format!("{file} line 1: x: not found\nsee {file} y\n{file} line 2: z");
        let named = with_shells_name(printed, Path::new("/usr/bin/bash"));
        assert_eq!(named, format!("bash: line 1: x: not found\nsee {file} y\nbash: line 2: z"));
    }

    #[test]
    fn a_login_shell_gets_its_callers_path_back_where_it_can() {
        let text = |shell: &str, path: &[u8]| {
            with_callers_path("make".into(), Path::new(shell), Some(OsStr::from_bytes(path)))
        };
        assert_eq!(
            text("/bin/zsh", b"/a b:/it's"),
            r#"PATH='/a b:/it'\''s'"${PATH:+:$PATH}"; export PILOTHOUSE_PROFILE="${VISUAL-}|${EDITOR-}"; make"#
        );
        for (shell, path) in [("/usr/bin/fish", &b"/a"[..]), ("sh", b""), ("sh", b"/\xff")] {
            assert_eq!(text(shell, path), "make");
        }
        assert_eq!(with_callers_path("make".into(), Path::new("sh"), None), "make");
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
