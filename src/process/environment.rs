//! The environment and the shell of a command. Pure: all variables are passed in.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

use super::editor;
use crate::envelope::TaskId;

/// The variable that marks every process of a task.
pub const TASK_ID: &str = "PILOTHOUSE_TASK_ID";
/// The variable that says what a task holds: `agent` for a pane in which an agent runs.
pub const TASK_KIND: &str = "PILOTHOUSE_TASK_KIND";
/// The value for a task that does not hold an agent: whatever it starts belongs to it.
pub const COMMAND: &str = "command";
/// Size limit of an environment that a caller can pass in, in bytes.
pub const MAX_BYTES: usize = 2 << 20;

/// Variables whose value a shell executes as code, whatever it was asked to do.
const HOOKS: [&str; 3] = ["BASH_ENV", "ENV", "PROMPT_COMMAND"];
const LOADER_PREFIX: &[u8] = b"LD_";

const PAGERS: [(&str, &str); 3] = [("PAGER", "cat"), ("GIT_PAGER", "cat"), ("GH_PAGER", "cat")];
/// On pipes nobody would see a prompt.
const UNATTENDED: [(&str, &str); 4] = [
    ("TERM", "dumb"),
    editor::GIT_EDITOR,
    ("GIT_TERMINAL_PROMPT", "0"),
    ("DEBIAN_FRONTEND", "noninteractive"),
];
/// The variable from which gpg knows where to ask.
const GPG_TTY: &str = "GPG_TTY";
/// Those of these variables that keep a program from asking on a terminal beside its streams.
const KEEP_FROM_ASKING: [&str; 2] = ["GIT_TERMINAL_PROMPT", "DEBIAN_FRONTEND"];
const ON_TERMINAL: [(&str, &str); 2] = [("TERM", "xterm-256color"), ("TERM_PROGRAM", "pilothouse")];
/// Variables that describe the terminal of the caller, and beginnings of such; a command with a terminal has another.
const OF_TERMINAL: [&str; 9] = [
    "COLUMNS",
    "LINES",
    "TERM_PROGRAM_VERSION",
    "TERM_SESSION_ID",
    "TERMINFO",
    "VTE_VERSION",
    "WINDOWID",
    "LC_TERMINAL",
    "LC_TERMINAL_VERSION",
];
const OF_TERMINAL_PROGRAM: [&[u8]; 7] =
    [b"KITTY_", b"WT_", b"ALACRITTY_", b"GHOSTTY_", b"ITERM_", b"KONSOLE_", b"XTERM_"];

/// The terminal that a command has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Terminals {
    None,
    /// Its streams are a terminal.
    Own,
    /// A terminal beside its streams.
    Aside,
}

/// The environment that a caller's commands inherit. Held only in memory; values are never shown or recorded.
#[derive(Clone, PartialEq, Eq)]
pub struct Environment {
    variables: Arc<Vec<(OsString, OsString)>>,
    umask: Option<u32>,
}

static OWN: OnceLock<Environment> = OnceLock::new();

impl Environment {
    /// Creates an environment from variables and a file mode creation mask; a mask of `None` leaves that to the
    /// runtime.
    pub fn new(variables: Vec<(OsString, OsString)>, umask: Option<u32>) -> Self {
        Self { variables: Arc::new(variables), umask }
    }

    /// Parses variables in the format of `/proc/PID/environ`: `NAME=value`, each terminated by a NUL. Entries without
    /// a name or `=` are left out.
    pub fn parse(bytes: &[u8], umask: Option<u32>) -> Self {
        let variable = |text: &[u8]| {
            let at = text.iter().position(|byte| *byte == b'=').filter(|at| *at > 0)?;
            let os = |bytes: &[u8]| OsStr::from_bytes(bytes).to_owned();
            Some((os(text.get(..at)?), os(text.get(at + 1..)?)))
        };
        Self::new(bytes.split(|byte| *byte == 0).filter_map(variable).collect(), umask)
    }

    /// Reads the environment that a process was started with. Blocks, but for no disk.
    pub fn of_process(pid: u32) -> Option<Self> {
        std::fs::read(format!("/proc/{pid}/environ")).ok().map(|bytes| Self::parse(&bytes, None))
    }

    /// Encodes its variables in the format that [`Environment::parse`] reads.
    pub fn to_bytes(&self) -> Vec<u8> {
        let parts =
            |(name, value): &(OsString, OsString)| [name.as_bytes(), b"=", value.as_bytes(), b"\0"].concat();
        self.iter().flat_map(parts).collect()
    }

    /// Sets this as the environment of this process; called once, where the environment is read.
    pub fn announce(self) {
        // An earlier call has read the same environment.
        let _ = OWN.set(self);
    }

    /// Returns the environment of this process, if it was announced.
    pub fn own() -> Option<Self> {
        OWN.get().cloned()
    }

    /// Returns a weak reference, to test whether the environment is still held.
    #[cfg(test)]
    pub(crate) fn downgrade(&self) -> std::sync::Weak<Vec<(OsString, OsString)>> {
        Arc::downgrade(&self.variables)
    }

    /// Returns its variables.
    pub fn iter(&self) -> impl Iterator<Item = &(OsString, OsString)> {
        self.variables.iter()
    }

    /// Returns the file mode creation mask, if the caller specified one.
    pub fn umask(&self) -> Option<u32> {
        self.umask
    }

    /// Returns the value of a variable.
    pub fn get(&self, name: &str) -> Option<&OsStr> {
        self.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_os_str())
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} variables", self.variables.len())
    }
}

/// An OS string sent between two processes: as text if it is valid UTF-8, otherwise as bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum OsText<'a> {
    Text(Cow<'a, str>),
    Bytes(Cow<'a, [u8]>),
}

impl From<OsString> for OsText<'_> {
    fn from(word: OsString) -> Self {
        match word.into_string() {
            Ok(text) => Self::Text(text.into()),
            Err(word) => Self::Bytes(word.into_vec().into()),
        }
    }
}

impl<'a> OsText<'a> {
    pub(super) fn of(word: &'a (impl AsRef<OsStr> + ?Sized)) -> Self {
        let word = word.as_ref();
        match word.to_str() {
            Some(text) => Self::Text(text.into()),
            None => Self::Bytes(word.as_bytes().into()),
        }
    }

    pub(super) fn to_os(&self) -> OsString {
        match self {
            Self::Text(text) => text.as_ref().into(),
            Self::Bytes(bytes) => OsStr::from_bytes(bytes).to_owned(),
        }
    }

    pub(super) fn into_os(self) -> OsString {
        match self {
            Self::Text(text) => text.into_owned().into(),
            Self::Bytes(bytes) => OsString::from_vec(bytes.into_owned()),
        }
    }
}

/// Returns the environment of a task: `base` without loader variables and shell hooks, plus variables that keep
/// programs from waiting for a person, those of the settings, and the task's id.
pub fn for_task(
    base: impl Iterator<Item = (OsString, OsString)>,
    terminals: Terminals,
    task_id: &TaskId,
    settings: &BTreeMap<String, String>,
    keeps: impl Fn(&str) -> bool,
) -> Vec<(OsString, OsString)> {
    let fixed: Vec<(&str, &str)> = match terminals {
        Terminals::Own => ON_TERMINAL.to_vec(),
        Terminals::None => UNATTENDED.to_vec(),
        Terminals::Aside => {
            UNATTENDED.into_iter().filter(|(name, _)| !KEEP_FROM_ASKING.contains(name)).collect()
        }
    };
    let own = settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let own: Vec<_> = own.filter(|(name, _)| *name != TASK_ID).collect();
    let usual = fixed.iter().chain(&PAGERS).copied();
    let usual = usual.filter(|(name, _)| !settings.contains_key(*name));
    let set: Vec<(&str, &str)> =
        usual.chain(own.iter().copied()).chain([(TASK_ID, task_id.as_str())]).collect();
    let is_kept = |name: &OsStr| {
        let is_set = set.iter().any(|(own, _)| name == *own);
        let is_of_other =
            terminals == Terminals::Own && is_of_terminal(name) && !name.to_str().is_some_and(&keeps);
        // Those of the editor belong to the task that the caller runs in.
        is_inherited(name) && !is_set && !is_of_other && name != editor::SCRIPT && name != editor::PROFILE
    };
    let kept = base.filter(|(name, _)| is_kept(name));
    let mut env: Vec<_> = kept.chain(set.iter().map(|(name, value)| (name.into(), value.into()))).collect();
    if set.contains(&editor::GIT_EDITOR) {
        let script = editor::script(&env);
        env.push((editor::SCRIPT.into(), script.into()));
    }
    env
}

/// Sets the terminal to ask on: gpg's helper does not run in the command's session, and finds its terminal only
/// through this variable.
pub fn ask_at(env: &mut Vec<(OsString, OsString)>, terminal: &Path) {
    env.retain(|(name, _)| name != GPG_TTY);
    env.push((GPG_TTY.into(), terminal.into()));
}

/// Returns the environment of a program's command: `base` without loader variables and shell hooks, plus the task's
/// id. The program may rely on everything the person has set.
pub fn for_step(
    base: impl Iterator<Item = (OsString, OsString)>,
    task_id: &TaskId,
    own: &[(String, String)],
) -> Vec<(OsString, OsString)> {
    let is_own = |name: &OsStr| own.iter().any(|(own, _)| name == own.as_str());
    let is_kept = |name: &OsStr| is_inherited(name) && name != TASK_ID && !is_own(name);
    let own = own.iter().map(|(name, value)| (name.into(), value.into()));
    base.filter(|(name, _)| is_kept(name))
        .chain(own)
        .chain([(TASK_ID.into(), task_id.as_str().into())])
        .collect()
}

/// Returns the environment of a command from an agent's own shell: its caller's whole environment, plus the task's id
/// and kind.
pub fn for_native(
    base: impl Iterator<Item = (OsString, OsString)>,
    task_id: &TaskId,
) -> Vec<(OsString, OsString)> {
    base.filter(|(name, _)| name != TASK_ID && name != TASK_KIND)
        .chain([(TASK_ID.into(), task_id.as_str().into()), (TASK_KIND.into(), COMMAND.into())])
        .collect()
}

/// Tells whether a command inherits a variable from its caller. The kind of the caller's task says nothing about the
/// command's own.
fn is_inherited(name: &OsStr) -> bool {
    let is_hook = HOOKS.iter().any(|hook| name == *hook) || is_for_loader(name);
    !is_hook && name != TASK_KIND
}

/// Tells whether a variable describes the terminal that its holder runs in.
fn is_of_terminal(name: &OsStr) -> bool {
    OF_TERMINAL.iter().any(|own| name == *own)
        || OF_TERMINAL_PROGRAM.iter().any(|start| name.as_bytes().starts_with(start))
}

/// Tells whether a variable is read by the dynamic loader.
pub(super) fn is_for_loader(name: &OsStr) -> bool {
    name.as_bytes().starts_with(LOADER_PREFIX)
}

/// Returns the paths where a program may be, in the order of `PATH`.
pub(crate) fn on_path(program: &OsStr, path: Option<&OsStr>) -> impl Iterator<Item = PathBuf> {
    std::env::split_paths(path.unwrap_or(OsStr::new("/usr/bin:/bin"))).map(move |folder| folder.join(program))
}

/// Returns the shell of a program's commands: the first bash on `path`, or else sh.
pub fn step_shell(path: Option<&OsStr>) -> PathBuf {
    let mut found = on_path(OsStr::new("bash"), path);
    found.find(|bash| bash.is_absolute() && bash.is_file()).unwrap_or_else(|| PathBuf::from("/bin/sh"))
}

/// Returns the shell: as requested, or `$SHELL` if its file name is bash, zsh or sh, or else `/bin/sh`.
pub fn choose_shell(asked: Option<&str>, env_shell: Option<&OsStr>) -> PathBuf {
    if let Some(asked) = asked {
        return PathBuf::from(asked);
    }
    let is_known = |shell: &&OsStr| {
        let name = Path::new(shell).file_name();
        ["bash", "zsh", "sh"].iter().any(|known| name == Some(OsStr::new(known)))
    };
    env_shell.filter(is_known).map_or_else(|| PathBuf::from("/bin/sh"), PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_environment_is_handed_over_byte_for_byte_and_never_shown() {
        let odd = OsString::from_vec((1..=255).collect());
        let variables =
            vec![("API_TOKEN".into(), "hunter2".into()), ("ODD".into(), odd), ("E".into(), "".into())];
        let own = Environment::new(variables, Some(0o027));
        assert_eq!(format!("{own:?}"), "3 variables");
        assert_eq!(Environment::parse(&own.to_bytes(), Some(0o027)), own);
        assert_eq!(own.get("API_TOKEN"), Some(OsStr::new("hunter2")));
    }

    #[test]
    fn an_entry_that_is_no_variable_is_left_out_of_the_environment() {
        let read = Environment::parse(b"A=1\0NOTHING\0=x\0\0B==\n\0C=cut", None);
        let expected = [("A", "1"), ("B", "=\n"), ("C", "cut")];
        assert_eq!(
            read,
            Environment::new(expected.map(|(name, value)| (name.into(), value.into())).into(), None)
        );
        assert_eq!(Environment::parse(b"", None), Environment::new(Vec::new(), None));
    }

    #[test]
    fn a_variable_need_not_be_utf8() {
        let all = OsString::from_vec((0..=255).collect());
        let json = serde_json::to_string(&OsText::of(&all)).expect("serialises");
        assert_eq!(serde_json::from_str::<OsText<'_>>(&json).expect("reads back").into_os(), all);
        assert!(serde_json::from_str::<OsText<'_>>("[256]").is_err());
    }

    fn task() -> TaskId {
        TaskId::from_random([1; 8])
    }

    fn environment(base: &[(&str, &str)], tty: bool) -> Vec<(String, String)> {
        let base = base.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let text = |os: OsString| os.into_string().expect("UTF-8");
        let terminals = if tty { Terminals::Own } else { Terminals::None };
        for_task(base, terminals, &task(), &BTreeMap::new(), |name| name == "KITTY_WINDOW_ID")
            .into_iter()
            .map(|(name, value)| (text(name), text(value)))
            .collect()
    }

    fn value<'a>(environment: &'a [(String, String)], name: &str) -> Option<&'a str> {
        let mut found = environment.iter().filter(|(own, _)| own == name);
        let first = found.next().map(|(_, value)| value.as_str());
        assert!(found.next().is_none(), "{name} stands twice");
        first
    }

    #[test]
    fn a_command_with_a_terminal_is_not_told_of_another_one() {
        let base = [
            ("COLUMNS", "50"),
            ("LINES", "9"),
            ("TERM", "foot"),
            ("TERM_PROGRAM", "vscode"),
            ("KITTY_PID", "7"),
            ("KITTY_WINDOW_ID", "1"),
            ("WT_SESSION", "x"),
            ("TERMINFO", "/x"),
            ("COLORTERM", "truecolor"),
        ];
        let with = environment(&base, true);
        for gone in ["COLUMNS", "LINES", "KITTY_PID", "WT_SESSION", "TERMINFO"] {
            assert_eq!(
                (value(&with, gone), value(&environment(&base, false), gone).is_some()),
                (None, true),
                "{gone}"
            );
        }
        assert_eq!(value(&with, "TERM_PROGRAM"), Some("pilothouse"));
        assert_eq!(value(&with, "KITTY_WINDOW_ID"), Some("1"), "the settings keep it");
        assert_eq!(value(&with, "COLORTERM"), Some("truecolor"));
    }

    #[test]
    fn loader_variables_and_shell_hooks_are_dropped_and_the_rest_is_kept() {
        let base = [
            ("LD_PRELOAD", "/evil.so"),
            ("LD_LIBRARY_PATH", "/x"),
            ("BASH_ENV", "x"),
            ("ENV", "x"),
            ("PROMPT_COMMAND", "x"),
            (TASK_KIND, "agent"),
            ("HOME", "/home/ada"),
            ("ENVIRONMENT", "test"),
            ("API_TOKEN", "t"),
        ];
        let environment = environment(&base, false);
        for gone in ["LD_PRELOAD", "LD_LIBRARY_PATH", "BASH_ENV", "ENV", "PROMPT_COMMAND", TASK_KIND] {
            assert_eq!(value(&environment, gone), None, "{gone}");
        }
        assert_eq!(value(&environment, "HOME"), Some("/home/ada"));
        assert_eq!(value(&environment, "ENVIRONMENT"), Some("test"));
        assert_eq!(value(&environment, "API_TOKEN"), Some("t"));
    }

    #[test]
    fn a_command_on_pipes_is_told_that_nobody_is_there() {
        let environment = environment(&[("TERM", "xterm-kitty"), ("PAGER", "less")], false);
        let expected = [
            ("TERM", "dumb"),
            ("PAGER", "cat"),
            ("GIT_PAGER", "cat"),
            ("GH_PAGER", "cat"),
            editor::GIT_EDITOR,
            ("GIT_TERMINAL_PROMPT", "0"),
            ("DEBIAN_FRONTEND", "noninteractive"),
            (TASK_ID, "task_11111111"),
        ];
        for (name, expected) in expected {
            assert_eq!(value(&environment, name), Some(expected), "{name}");
        }
        assert!(value(&environment, editor::SCRIPT).is_some());
        assert_eq!(
            value(&environment, "NO_COLOR"),
            None,
            "it would contradict a command that asks for colour"
        );
    }

    #[test]
    fn colour_and_editor_are_as_the_caller_and_the_settings_say() {
        let inherited =
            environment(&[("NO_COLOR", "1"), (editor::SCRIPT, "outer"), (editor::PROFILE, "outer")], false);
        assert_eq!(value(&inherited, "NO_COLOR"), Some("1"));
        assert_ne!(value(&inherited, editor::SCRIPT), Some("outer"));
        assert_eq!(value(&inherited, editor::PROFILE), None);
        let settings = BTreeMap::from([("GIT_EDITOR".to_owned(), "ed".to_owned())]);
        let made = for_task(std::iter::empty(), Terminals::None, &task(), &settings, |_| false);
        assert!(made.contains(&("GIT_EDITOR".into(), "ed".into())));
        assert!(!made.iter().any(|(name, _)| name == editor::SCRIPT));
    }

    #[test]
    fn a_command_on_a_terminal_keeps_colour_and_prompts() {
        let environment = environment(&[("TERM", "xterm-kitty"), (TASK_ID, "task_of_outside")], true);
        assert_eq!(value(&environment, "TERM"), Some("xterm-256color"));
        assert_eq!(value(&environment, "GIT_PAGER"), Some("cat"));
        assert_eq!(value(&environment, TASK_ID), Some("task_11111111"));
        for absent in ["GIT_TERMINAL_PROMPT", "DEBIAN_FRONTEND", "GIT_EDITOR", editor::SCRIPT] {
            assert_eq!(value(&environment, absent), None, "{absent}");
        }
    }

    #[test]
    fn a_programs_command_gets_what_the_person_has_set() {
        let base =
            [("TERM", "xterm-kitty"), ("PAGER", "less"), ("LD_PRELOAD", "/x"), ("ENV", "x"), (TASK_ID, "o")];
        let base = base.map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let expected = [("TERM", "xterm-kitty"), ("PAGER", "less"), (TASK_ID, "task_11111111")];
        assert_eq!(
            for_step(base.into_iter(), &task(), &[]),
            expected.map(|(name, value)| (name.into(), value.into()))
        );
    }

    #[test]
    fn a_programs_shell_is_bash_where_there_is_one() {
        let dir = tempfile::tempdir().expect("temp dir");
        let path = OsString::from(dir.path());
        assert_eq!(step_shell(Some(&path)), Path::new("/bin/sh"));
        std::fs::write(dir.path().join("bash"), "").expect("writes");
        assert_eq!(step_shell(Some(&path)), dir.path().join("bash"));
    }

    #[test]
    fn variables_from_the_settings_win_but_not_over_the_id_of_the_task() {
        let base = [("PAGER", "less"), ("EDITOR", "vi")];
        let base = base.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let own = [("PAGER", "more"), ("LD_LIBRARY_PATH", "/opt/lib"), (TASK_ID, "mine")];
        let own = own.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let text = |os: OsString| os.into_string().expect("UTF-8");
        let made = for_task(base, Terminals::None, &task(), &own, |_| false);
        let made: Vec<_> = made.into_iter().map(|(name, value)| (text(name), text(value))).collect();
        assert_eq!(value(&made, "PAGER"), Some("more"));
        assert_eq!(value(&made, "LD_LIBRARY_PATH"), Some("/opt/lib"));
        assert_eq!(value(&made, "EDITOR"), Some("vi"));
        assert_eq!(value(&made, TASK_ID), Some("task_11111111"));
    }

    #[test]
    fn the_shell_is_the_asked_one_else_a_known_one_else_bin_sh() {
        let shell = |asked, env: Option<&str>| choose_shell(asked, env.map(OsStr::new));
        assert_eq!(shell(Some("/opt/fish"), Some("/bin/bash")), Path::new("/opt/fish"));
        for known in ["/bin/bash", "/usr/bin/zsh", "/bin/sh"] {
            assert_eq!(shell(None, Some(known)), Path::new(known));
        }
        for other in [Some("/usr/bin/fish"), Some("/opt/bash/bin/nu"), Some("bash2"), Some(""), None] {
            assert_eq!(shell(None, other), Path::new("/bin/sh"), "{other:?}");
        }
    }
}
