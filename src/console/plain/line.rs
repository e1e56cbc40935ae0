//! One line of output: who did something, and what. Whatever its parts contain, it is printed as a single
//! line that shows all of it.

use std::fmt;

use crate::envelope::{Actor, SafeText};

use crate::console::text::visible;

/// A line of output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlainLine {
    /// Somebody did something, or something happened by itself.
    Event {
        /// Who did it.
        by: Actor,
        /// What happened.
        text: String,
    },
    /// A line of a task's output.
    Output {
        /// The task's short name.
        task: String,
        /// The text of the line.
        text: String,
    },
    /// A reply to the user's input.
    Reply(String),
}

impl PlainLine {
    /// Creates a line about what somebody did.
    pub fn by(by: &Actor, text: impl Into<String>) -> Self {
        Self::Event { by: by.clone(), text: text.into() }
    }

    /// Creates a line about something that happened by itself.
    pub fn system(text: impl Into<String>) -> Self {
        Self::by(&Actor::System, text)
    }

    /// Creates a reply to the user.
    pub fn reply(text: impl Into<String>) -> Self {
        Self::Reply(text.into())
    }
}

impl PlainLine {
    /// Returns it as printed.
    pub fn safe_text(&self) -> SafeText {
        SafeText::line(&self.to_string())
    }
}

impl fmt::Display for PlainLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Event { by, text } => {
                write!(f, "{}: {}", visible::one_line(&actor_name(by)), visible::one_line(text))
            }
            Self::Output { task, text } => write!(f, "{task}: {}", visible::in_text(text)),
            Self::Reply(text) => f.write_str(&visible::one_line(text)),
        }
    }
}

/// Returns the displayed name of an actor.
pub fn actor_name(actor: &Actor) -> String {
    match actor {
        Actor::Agent(label) => format!("agent {label}"),
        Actor::Cli => "script".to_owned(),
        Actor::Operator => "operator".to_owned(),
        Actor::System => "system".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn a_plain_line_holds_no_control_characters(text in "\\PC*|.*", label in "\\PC*|.*") {
            let lines = [
                PlainLine::by(&Actor::Agent(label), text.clone()),
                PlainLine::Output { task: "t01".into(), text: text.clone() },
                PlainLine::reply(text),
            ];
            for line in lines {
                proptest::prop_assert!(!line.to_string().chars().any(char::is_control), "{line}");
            }
        }
    }
}
