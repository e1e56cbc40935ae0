//! How a program's own shell is reached, and how its calls are recognised.

use std::borrow::Cow;
use std::path::Path;
use std::time::Duration;

use super::config_file::ShellSetting;

/// What is known about a program's own shell. Every form was observed with the real program (tests/corpus/shell).
#[derive(Debug, Clone, Copy)]
pub struct OwnShell {
    /// What leads it here.
    pub redirect: ShellRedirect,
    /// The setting in its own configuration that names its shell.
    pub setting: Option<ShellSetting>,
    /// The variables that it sets for the processes it starts.
    pub marks: EnvironmentMarks,
    /// Returns whether a script is one that it runs for itself, not for its model.
    pub is_probe: fn(&[u8]) -> bool,
    /// Returns what the model wrote, out of the script that the program wraps it in; `None` for any other form.
    pub unwrap: fn(&str) -> Option<Cow<'_, str>>,
    /// The words of which one has to be in the file name of a shell; empty if it takes any.
    pub accepted_names: &'static [&'static str],
    /// How long it waits for a command to start, if it has a limit of its own.
    pub patience: Option<Duration>,
    /// Whether it waits for ever for a shell that a signal ended.
    pub misses_signals: bool,
    /// How it is started with a scripted model, if that was tried.
    pub trial: Option<Trial>,
}

impl OwnShell {
    /// Returns what holds for a program whose shell is bash, called with the model's script as it is, and that passes
    /// `BASH_ENV` on.
    pub(super) const fn bash(marks: EnvironmentMarks) -> Self {
        Self {
            redirect: ShellRedirect::BashEnv { arguments: &[], has_input: false },
            setting: None,
            marks,
            is_probe: |_| false,
            unwrap: as_written,
            accepted_names: &[],
            patience: None,
            misses_signals: false,
            trial: None,
        }
    }
}

/// What leads a program's shell here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShellRedirect {
    /// A variable that names the shell.
    Variable(&'static str),
    /// The file that every non-interactive bash reads first (`BASH_ENV`), which leads the calls of the program itself
    /// here.
    BashEnv {
        /// The program's arguments without which it keeps the variable from its shell.
        arguments: &'static [&'static str],
        /// Whether its model's commands may have an input. If not, a call with one is a hook.
        has_input: bool,
    },
    /// Only a file of its own, for all its sessions.
    OwnFile {
        /// What to do first.
        unless: &'static str,
    },
}

/// Variables that a program sets for the processes it starts.
#[derive(Debug, Clone, Copy)]
pub struct EnvironmentMarks {
    /// The one that tells the program; empty if it sets none.
    pub program: &'static str,
    /// The one that is set for its model's commands only, if it distinguishes these.
    pub for_model: Option<&'static str>,
    /// The one with the id of its session.
    pub session: Option<&'static str>,
    /// The one with the number of its process.
    pub pid: Option<&'static str>,
}

impl EnvironmentMarks {
    /// Returns the marks of a program that sets one variable.
    pub(super) const fn of_program(program: &'static str) -> Self {
        Self { program, for_model: None, session: None, pid: None }
    }
}

/// How to start a program with a scripted model in place of its own.
#[derive(Debug, Clone, Copy)]
pub struct Trial {
    /// The names of its shell tool.
    pub tools: &'static [&'static str],
    /// Returns its arguments for a single prompt.
    pub arguments: fn(ScriptedModel<'_>) -> Vec<String>,
    /// How its screen is started with a prompt, if that is known.
    pub screen: Option<TrialScreen>,
    /// Variables that would lead to another model.
    pub unset: &'static [&'static str],
    /// Returns the variables that lead it to the model.
    pub variables: fn(ScriptedModel<'_>) -> Vec<(&'static str, String)>,
    /// A file that leads it to the model, if no variable or argument does.
    pub settings: Option<TrialFile>,
}

/// A file with settings for one trial.
#[derive(Debug, Clone, Copy)]
pub struct TrialFile {
    /// How its name ends.
    pub ending: &'static str,
    /// The variable that names it, if no argument does.
    pub variable: Option<&'static str>,
    /// Returns its text.
    pub text: fn(ScriptedModel<'_>) -> String,
}

/// How to start a program in its screen, which begins with a prompt.
#[derive(Debug, Clone, Copy)]
pub struct TrialScreen {
    /// Returns its arguments.
    pub arguments: fn(ScriptedModel<'_>) -> Vec<String>,
    /// What it may ask before it reads the prompt.
    pub questions: &'static [ScreenQuestion],
    /// The setting by which it runs commands on a terminal of its own, if it does.
    pub own_terminal: Option<&'static str>,
}

/// A question on a program's screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScreenQuestion {
    /// A part of it, on one row.
    pub shows: &'static str,
    /// The keys that answer it, where the answer holds for this session alone; otherwise it is its user's to answer.
    pub keys: Option<&'static str>,
}

impl TrialScreen {
    /// Returns a screen that asks nothing and runs commands as for a single prompt.
    pub(super) const fn new(arguments: fn(ScriptedModel<'_>) -> Vec<String>) -> Self {
        Self { arguments, questions: &[], own_terminal: None }
    }
}

impl Trial {
    /// Returns what its screen may ask.
    #[must_use]
    pub fn questions(&self) -> &'static [ScreenQuestion] {
        self.screen.map_or(&[], |screen| screen.questions)
    }
}

/// A model on loopback that follows a script.
#[derive(Debug, Clone, Copy)]
pub struct ScriptedModel<'a> {
    /// Its address, without a path.
    pub url: &'a str,
    pub prompt: &'a str,
    /// Where the program is started.
    pub workspace: &'a Path,
    /// The path of the trial's file, if it has one.
    pub file: &'a Path,
}

/// Returns a script as it is: the program wraps nothing.
pub(super) fn as_written(script: &str) -> Option<Cow<'_, str>> {
    Some(script.into())
}

/// Returns whether a shell takes a word literally.
pub(super) fn is_plain_word(word: &str) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+,:@%=".contains(c);
    !word.is_empty() && word.chars().all(is_plain)
}

/// Returns words as arguments.
pub(super) fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}
