//! The input to a session's command: its task as one text, the same in files, and the facts in variables.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::{Value, json};

use crate::agents::PermissionLine;
use crate::model::{AnswerValue, QuestionKind};

/// The maximum size of a value included in the task text, in bytes; the whole value is in its file.
const INLINE_BYTES: usize = 64 << 10;
/// The maximum size of a variable, in bytes: more might not fit into a program's environment.
const VARIABLE_BYTES: usize = 32 << 10;

/// The agent that a session is with.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct BriefAgent {
    /// Its name in the program; none in a session without one.
    pub name: Option<String>,
    pub model: Option<String>,
    /// Its prompt, filled in.
    pub prompt: Option<String>,
    /// What it may do.
    pub permissions: Vec<PermissionLine>,
    /// The skills it has.
    pub skills: Vec<String>,
}

/// A value that accompanies a task.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ContextValue {
    pub name: String,
    /// How it was created, in a few words; may be empty.
    pub made: String,
    /// The command that printed it, if one did, secrets masked.
    pub command: Option<String>,
    /// The whole value.
    pub value: String,
}

/// What a command is asked to do.
#[derive(Debug, Clone, PartialEq)]
pub struct Brief {
    /// The agent to act as.
    pub agent: BriefAgent,
    /// The task, or the question.
    pub task: String,
    /// The kind of answer expected.
    pub wants: QuestionKind,
    /// The agent's memory.
    pub memory: Option<String>,
    /// The values that accompany it.
    pub context: Vec<ContextValue>,
}

impl ContextValue {
    /// Returns what is known about the value besides its text.
    fn facts(&self, at: usize) -> Value {
        let Self { name, made, command, .. } = self;
        json!({ "file": context_file(at, self), "name": name, "made": made, "command": command })
    }
}

impl Brief {
    /// Returns the text for the command, whose files are in `folder`.
    pub fn text(&self, folder: &Path) -> String {
        let mut text = String::new();
        if let Some(prompt) = &self.agent.prompt {
            let _ = writeln!(text, "{}\n", prompt.trim());
        }
        let _ = writeln!(text, "{}", self.task.trim());
        if !self.agent.skills.is_empty() {
            let _ = writeln!(text, "\nUse these skills: {}.", self.agent.skills.join(", "));
        }
        if let Some(memory) = &self.memory {
            let _ = writeln!(text, "\n# What you remember of earlier sessions\n\n{}", memory.trim_end());
        }
        if !self.context.is_empty() {
            text.push_str("\n# Context\n");
        }
        for (at, given) in self.context.iter().enumerate() {
            let made = if given.made.is_empty() { String::new() } else { format!(" ({})", given.made) };
            let _ = writeln!(text, "\n## {}{made}\n", given.name);
            if let Some(command) = &given.command {
                let _ = writeln!(text, "Printed by: {command}\n");
            }
            let cut = beginning(&given.value, INLINE_BYTES);
            let _ = writeln!(text, "{}", cut.trim_end());
            if cut.len() < given.value.len() {
                let file = folder.join(context_file(at, given));
                let _ = writeln!(
                    text,
                    "\n[{} more bytes; whole in {}]",
                    given.value.len() - cut.len(),
                    file.display()
                );
            }
        }
        text.push_str(&match &self.wants {
            QuestionKind::YesNo { .. } => {
                "\n# Answer\n\nIs this so: yes or no? Answer with this one word alone.\n".to_owned()
            }
            QuestionKind::Choice { labels } => {
                let labels: Vec<String> = labels.iter().map(|label| format!("- {label}\n")).collect();
                format!(
                    "\n# Answer\n\nChoose one of these and answer with its words alone:\n\n{}",
                    labels.concat()
                )
            }
            _ => String::new(),
        });
        text
    }

    /// Returns the files of a session other than the task, by their names in its folder.
    pub fn files(&self) -> Vec<(PathBuf, String)> {
        let agent = serde_json::to_string_pretty(&self.agent).unwrap_or_default();
        let context = self.context.iter().enumerate();
        let context = context.map(|(at, given)| (context_file(at, given), given.value.clone()));
        let facts: Vec<_> = self.context.iter().enumerate().map(|(at, given)| given.facts(at)).collect();
        let facts = serde_json::to_string_pretty(&facts).unwrap_or_default();
        let about = [(PathBuf::from("agent.json"), agent), (PathBuf::from("context.json"), facts)];
        about.into_iter().chain(context).collect()
    }

    /// Returns the variables for the command. Anything too long for a variable is only in the files.
    pub fn variables(&self, folder: &Path) -> Vec<(String, String)> {
        let agent = &self.agent;
        let context = self.context.iter().enumerate();
        let context: Vec<String> =
            context.map(|(at, given)| folder.join(context_file(at, given)).display().to_string()).collect();
        let permissions = match agent.permissions.as_slice() {
            [] => None,
            all => Some(all.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")),
        };
        let list = |all: &[String]| (!all.is_empty()).then(|| all.join("\n"));
        let told = [
            ("DIR", Some(folder.display().to_string())),
            ("AGENT", agent.name.clone()),
            ("MODEL", agent.model.clone()),
            ("PROMPT", agent.prompt.clone()),
            ("PERMISSIONS", permissions),
            ("SKILLS", list(&agent.skills)),
            ("CONTEXT", list(&context)),
        ];
        let fits = |text: &String| text.len() <= VARIABLE_BYTES && !text.contains('\0');
        told.into_iter()
            .filter_map(|(name, value)| Some((format!("PILOTHOUSE_SESSION_{name}"), value.filter(fits)?)))
            .collect()
    }

    /// Parses an answer; `None` if it is not exactly of the expected kind.
    pub fn read(&self, answer: &str) -> Option<AnswerValue> {
        let word = answer.trim();
        match &self.wants {
            QuestionKind::Text { .. } => Some(AnswerValue::Text(answer.to_owned())),
            QuestionKind::YesNo { .. } if word.eq_ignore_ascii_case("yes") => Some(AnswerValue::Yes),
            QuestionKind::YesNo { .. } if word.eq_ignore_ascii_case("no") => Some(AnswerValue::No),
            QuestionKind::Choice { labels } => labels
                .iter()
                .find(|label| label.trim() == word)
                .map(|label| AnswerValue::Choice(label.clone())),
            _ => None,
        }
    }
}

fn context_file(at: usize, given: &ContextValue) -> PathBuf {
    let plain = |c: char| if c.is_alphanumeric() || c == '-' || c == '_' { c } else { '-' };
    let name: String = given.name.chars().take(64).map(plain).collect();
    PathBuf::from(format!("context/{:02}-{name}.md", at + 1))
}

fn beginning(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::PermissionRule;

    fn brief(wants: QuestionKind) -> Brief {
        Brief {
            agent: BriefAgent {
                name: Some("critic".into()),
                model: Some("opus".into()),
                prompt: Some("You are strict.\n".into()),
                permissions: vec![PermissionLine { kind: "bash".into(), rule: PermissionRule::Deny }],
                skills: vec!["web".into(), "pdf".into()],
            },
            task: "Say what is wrong.".into(),
            wants,
            memory: Some("It was late.".into()),
            context: vec![
                ContextValue {
                    name: "log".into(),
                    made: "exit code 1".into(),
                    command: Some("make".into()),
                    value: "two failed\n".into(),
                },
                ContextValue {
                    name: "a/b".into(),
                    made: String::new(),
                    command: None,
                    value: "é".repeat(INLINE_BYTES),
                },
            ],
        }
    }

    #[test]
    fn the_task_holds_what_is_known_and_names_what_is_cut() {
        let text = brief(QuestionKind::Text { masked: false }).text(Path::new("/r/sessions/001"));
        assert!(
            text.starts_with("You are strict.\n\nSay what is wrong.\n\nUse these skills: web, pdf.\n"),
            "{text}"
        );
        assert!(
            text.contains("It was late.\n\n# Context\n\n## log (exit code 1)\n\nPrinted by: make\n\ntwo failed\n\n## a/b\n"),
            "{text}"
        );
        assert!(text.ends_with("[65536 more bytes; whole in /r/sessions/001/context/02-a-b.md]\n"));
        let variables = brief(QuestionKind::InFlight).variables(Path::new("/d"));
        let value = |name: &str| {
            let name = format!("PILOTHOUSE_SESSION_{name}");
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
        };
        assert_eq!(value("AGENT"), Some("critic"));
        assert_eq!(value("PERMISSIONS"), Some("bash: deny"));
        assert_eq!(value("CONTEXT"), Some("/d/context/01-log.md\n/d/context/02-a-b.md"));
        let files = brief(QuestionKind::InFlight).files();
        assert_eq!(files.len(), 4);
        assert!(files[1].1.contains("\"made\": \"exit code 1\""), "{}", files[1].1);
        assert!(files[0].1.contains("\"name\": \"critic\""), "{}", files[0].1);
    }

    #[test]
    fn yes_no_and_labels_are_read_to_the_letter() {
        let yes_no = brief(QuestionKind::YesNo { yes: String::new(), no: String::new() });
        for (answer, read) in [
            ("yes", Some(AnswerValue::Yes)),
            (" No\n", Some(AnswerValue::No)),
            ("yes.", None),
            ("Yes, it is", None),
            ("true", None),
            ("", None),
        ] {
            assert_eq!(yes_no.read(answer), read, "{answer:?}");
        }
        let choice = brief(QuestionKind::Choice { labels: vec!["ship it".into(), "wait".into()] });
        assert_eq!(choice.read("ship it\n"), Some(AnswerValue::Choice("ship it".into())));
        assert_eq!(choice.read("Ship it"), None);
        assert_eq!(choice.read("1"), None);
    }
}
