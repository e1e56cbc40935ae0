//! Presets: the programs known to answer sessions, and how to start each.

use crate::agents::{AgentProgram, PermissionLine, Permissions, SessionPreset};
use crate::consequence::rule_words::quote;

/// The variable that contains the path of the task file.
pub const TASK: &str = "PILOTHOUSE_SESSION_TASK";
/// The variable that contains the path of the permissions file, for a program that takes one.
pub const POLICY: &str = "PILOTHOUSE_SESSION_POLICY";

/// The parameters for starting a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SessionParameters<'a> {
    /// The model, by the program's own name for it.
    pub model: Option<&'a str>,
    /// The program's own session to resume.
    pub resume: Option<&'a str>,
    /// What the agent may do.
    pub permissions: &'a [PermissionLine],
    /// Whether a program without a preset gets the task as its last argument.
    pub task_as_argument: bool,
}

/// How to start a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionCommand {
    /// The shell command line.
    pub line: String,
    /// Variables in addition to those of every session.
    pub variables: Vec<(&'static str, String)>,
    /// The text of a file with permissions.
    pub policy: Option<String>,
    /// Permissions that are not enforced, as written.
    pub unenforced: Vec<String>,
}

/// Returns what is known about the program of a command, by its file name.
pub(super) fn find_preset(words: &[String]) -> Option<&'static SessionPreset> {
    let program = words.first()?;
    let name = program.rsplit('/').next().unwrap_or(program);
    let known = AgentProgram::ALL.iter().find(|agent| agent.profile().programs.contains(&name))?;
    known.profile().session.as_ref()
}

/// Returns a command, with the default arguments if only its program is named.
pub fn full_command(words: &[String]) -> Vec<String> {
    match (find_preset(words), words) {
        (Some(preset), [program]) => {
            let usual = preset.arguments.iter().map(|word| (*word).to_owned());
            std::iter::once(program.clone()).chain(usual).collect()
        }
        _ => words.to_vec(),
    }
}

/// Returns whether a known program was told to print JSON.
pub(super) fn prints_json(words: &[String]) -> bool {
    let says = |word: &String| {
        matches!(word.as_str(), "json" | "stream-json" | "--json")
            || word.ends_with("=json")
            || word.ends_with("=stream-json")
    };
    words.iter().any(says)
}

/// Returns how to start a command for a session.
pub fn start_command(words: &[String], of: SessionParameters<'_>) -> SessionCommand {
    let mut words = full_command(words);
    let preset = find_preset(&words);
    let enforced = Permissions(of.permissions).enforcement(preset);
    let has =
        |flags: &[&str]| words.iter().any(|word| flags.contains(&word.split('=').next().unwrap_or(word)));
    let model = of.model.filter(|_| preset.is_some_and(|preset| preset.takes_models) && !has(&["--model"]));
    words.extend(model.into_iter().flat_map(|model| ["--model".to_owned(), model.to_owned()]));
    words.extend(enforced.arguments);
    if let (Some(preset), Some(session)) = (preset, of.resume) {
        let (before, after) = preset.resume;
        words.extend([before, &[session], after].concat().into_iter().map(str::to_owned));
    }
    let mut line = words.iter().map(|word| quote(word)).collect::<Vec<_>>().join(" ");
    if enforced.policy.is_some() {
        line.push_str(&format!(" --policy \"${POLICY}\""));
    }
    line.push_str(&match (preset, of.task_as_argument) {
        (None, true) => format!(" \"$(cat \"${TASK}\")\""),
        _ => format!(" <\"${TASK}\""),
    });
    SessionCommand {
        line,
        variables: enforced.variables,
        policy: enforced.policy,
        unenforced: enforced.unenforced,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::PermissionRule;

    fn line(words: &[&str], of: SessionParameters<'_>) -> String {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        start_command(&words, of).line
    }

    #[test]
    fn a_program_alone_gets_its_usual_arguments() {
        let plain = SessionParameters::default();
        for (words, expected) in [
            (&["claude"][..], "claude -p --output-format json"),
            (&["/opt/bin/codex"], "/opt/bin/codex exec --json --skip-git-repo-check"),
            (&["gemini"], "gemini --output-format json"),
            (&["opencode"], "opencode run --format json"),
            (&["claude", "-p", "--verbose"], "claude -p --verbose"),
            (&["./mine", "a b"], "./mine 'a b'"),
        ] {
            assert_eq!(line(words, plain), format!("{expected} <\"$PILOTHOUSE_SESSION_TASK\""));
        }
        let argument = SessionParameters { task_as_argument: true, ..plain };
        assert_eq!(line(&["mine"], argument), "mine \"$(cat \"$PILOTHOUSE_SESSION_TASK\")\"");
    }

    #[test]
    fn model_session_and_permissions_follow() {
        let deny = [PermissionLine { kind: "bash".into(), rule: PermissionRule::Deny }];
        let of = SessionParameters {
            model: Some("opus"),
            resume: Some("s-1"),
            permissions: &deny,
            ..SessionParameters::default()
        };
        assert_eq!(
            line(&["claude"], of),
            "claude -p --output-format json --model opus --permission-mode default --disallowedTools=Bash,Monitor,mcp__pilothouse \
             --resume s-1 <\"$PILOTHOUSE_SESSION_TASK\""
        );
        assert!(
            line(&["claude", "-p", "--model", "x"], of).starts_with("claude -p --model x --permission-mode")
        );
        assert!(line(&["codex"], of).ends_with("=false resume s-1 - <\"$PILOTHOUSE_SESSION_TASK\""));
        assert!(line(&["gemini"], of).contains(" --resume s-1 --policy \"$PILOTHOUSE_SESSION_POLICY\" <"));
        assert_eq!(line(&["mine"], of), "mine <\"$PILOTHOUSE_SESSION_TASK\"");
    }
}
