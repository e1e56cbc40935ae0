//! The editor of git where nobody can edit: it leaves a file as it is. If the command itself names an editor, that one
//! runs: in git's parameters, in `VISUAL` or in `EDITOR`, in this order. What was there before the command began is not
//! its word: a person's `EDITOR=vim` would only fail without a terminal. Pure.
//!
//! It is a shell script in a variable, not a file: no path leads to it, so it works whatever becomes of ours.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;

/// The variable that git reads, and its value; a message of git that quotes it stays short.
pub(super) const GIT_EDITOR: (&str, &str) = ("GIT_EDITOR", r#"sh -c "$PILOTHOUSE_EDITOR" editor"#);
/// The variable with the script, which begins with the digests of what was there before the command.
pub(super) const SCRIPT: &str = "PILOTHOUSE_EDITOR";
/// The variable with what a login shell's profile made of `VISUAL` and `EDITOR`.
pub(super) const PROFILE: &str = "PILOTHOUSE_PROFILE";

/// The beginning of the variables and of git's own in which it takes parameters.
const PARAMETERS: &[u8] = b"GIT_CONFIG_";
/// How much of a digest is kept, in hexadecimal digits.
const DIGITS: usize = 16;

/// The script after its first line. Without `sha256sum`, everything counts as it was.
const BODY: &str = r#"s() { n=$(printf %s "$1" | sha256sum | cut -c 1-16); [ -z "$n" ] || [ "$n" = "$2" ]; }
s "$(env | LC_ALL=C grep -a ^GIT_CONFIG_ | LC_ALL=C sort)" "$g" || case $(git config --show-scope core.editor) in
command*) e=$(git config core.editor) ;;
esac
[ -n "$e" ] || s "$VISUAL" "$v" || [ "$VISUAL" = "${f%%|*}" ] || e=$VISUAL
[ -n "$e" ] || s "$EDITOR" "$o" || [ "$EDITOR" = "${f#*|}" ] || e=$EDITOR
[ -z "$e" ] || eval "$e \"\$@\"""#;

/// Returns the script for a command that begins with these variables.
pub(super) fn script(env: &[(OsString, OsString)]) -> String {
    let value =
        |name: &str| env.iter().find(|(own, _)| own == name).map_or(OsStr::new(""), |(_, value)| value);
    let [visual, editor] = ["VISUAL", "EDITOR"].map(|name| digest(value(name).as_bytes()));
    let parameters = digest(&parameters(env));
    format!("v={visual} o={editor} g={parameters} e= f=${PROFILE}\n{BODY}")
}

/// Returns what the script makes of git's parameters: the lines of `env` that begin like one, sorted.
fn parameters(env: &[(OsString, OsString)]) -> Vec<u8> {
    let text: Vec<Vec<u8>> =
        env.iter().map(|(name, value)| [name.as_bytes(), b"=", value.as_bytes()].concat()).collect();
    let lines = text.iter().flat_map(|text| text.split(|byte| *byte == b'\n'));
    let mut lines: Vec<&[u8]> = lines.filter(|line| line.starts_with(PARAMETERS)).collect();
    lines.sort_unstable();
    lines.join(&b'\n')
}

fn digest(bytes: &[u8]) -> String {
    let mut digits = crate::files::digest(bytes);
    digits.truncate(DIGITS);
    digits
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    fn env(variables: &[(&str, &str)]) -> Vec<(OsString, OsString)> {
        variables.iter().map(|(name, value)| (name.into(), value.into())).collect()
    }

    #[test]
    fn the_script_holds_digests_no_values_and_no_path_of_ours() {
        let text = script(&env(&[("EDITOR", "vim"), ("VISUAL", "hunter2"), ("GIT_CONFIG_COUNT", "0")]));
        assert!(!text.contains("hunter2") && !text.contains("vim") && !text.contains("pilothouse"), "{text}");
        assert!(!text.contains('/'), "{text}");
    }

    /// What the command says, over what was there: which editor runs.
    #[test]
    fn f56_an_editor_named_by_the_command_wins_and_one_from_before_does_not_run() {
        let at_start =
            [("VISUAL", "echo old visual"), ("EDITOR", "echo old editor"), ("GIT_CONFIG_COUNT", "0")];
        type Variables = &'static [(&'static str, &'static str)];
        let cases: [(&str, Variables, &str); 7] = [
            ("nothing", &[], ""),
            ("EDITOR", &[("EDITOR", "echo new")], "new a file\n"),
            ("VISUAL before EDITOR", &[("EDITOR", "echo new"), ("VISUAL", "echo v")], "v a file\n"),
            ("words", &[("EDITOR", "printf '%s,'")], "a file,"),
            (
                "core.editor",
                &[
                    ("GIT_CONFIG_COUNT", "1"),
                    ("GIT_CONFIG_KEY_0", "core.editor"),
                    ("GIT_CONFIG_VALUE_0", "echo c"),
                ],
                "c a file\n",
            ),
            (
                "another parameter",
                &[("GIT_CONFIG_COUNT", "1"), ("GIT_CONFIG_KEY_0", "user.name"), ("GIT_CONFIG_VALUE_0", "x")],
                "",
            ),
            ("a profile", &[("EDITOR", "echo new"), (PROFILE, "echo old visual|echo new")], ""),
        ];
        let home = tempfile::tempdir().expect("temp dir");
        for (what, said, expected) in cases {
            let path = std::env::var_os("PATH").expect("PATH");
            let mut git = Command::new("sh");
            git.args(["-c", &format!("{} \"$@\"", GIT_EDITOR.1), "git", "a file"])
                .current_dir(&home)
                .env_clear();
            git.env("PATH", path).env("HOME", home.path()).env(SCRIPT, script(&env(&at_start)));
            let output = git.envs(at_start).envs(said.iter().copied()).output().expect("runs");
            assert!(output.status.success(), "{what}: {}", String::from_utf8_lossy(&output.stderr));
            assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{what}");
        }
    }
}
