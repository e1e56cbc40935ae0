//! One line for the person: who, and what. Whatever the parts say, it is one line and shows all it contains.

use std::fmt;

use crate::envelope::{Actor, SafeText};

use crate::console::text::visible;

/// A line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// Somebody did something, or something happened.
    Event {
        /// Who.
        by: Actor,
        /// What.
        text: String,
    },
    /// Something that a task wrote.
    Output {
        /// The task's short name.
        task: String,
        /// A line of it.
        text: String,
    },
    /// An answer to what the person wrote.
    Reply(String),
}

impl Line {
    /// Says what somebody did.
    #[must_use]
    pub fn by(by: &Actor, text: impl Into<String>) -> Self {
        Self::Event { by: by.clone(), text: text.into() }
    }

    /// Says what happened by itself.
    #[must_use]
    pub fn system(text: impl Into<String>) -> Self {
        Self::by(&Actor::System, text)
    }

    /// Answers the person.
    #[must_use]
    pub fn reply(text: impl Into<String>) -> Self {
        Self::Reply(text.into())
    }
}

impl Line {
    /// Returns it as it is printed.
    #[must_use]
    pub fn shown(&self) -> SafeText {
        SafeText::line(&self.to_string())
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Event { by, text } => {
                write!(f, "{}: {}", visible::one_line(&who(by)), visible::one_line(text))
            }
            Self::Output { task, text } => write!(f, "{task}: {}", visible::in_text(text)),
            Self::Reply(text) => f.write_str(&visible::one_line(text)),
        }
    }
}

/// Says who somebody is.
#[must_use]
pub fn who(actor: &Actor) -> String {
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
        fn whatever_it_says_a_line_is_one_line_without_controls(text in "\\PC*|.*", label in "\\PC*|.*") {
            let lines = [
                Line::by(&Actor::Agent(label), text.clone()),
                Line::Output { task: "t01".into(), text: text.clone() },
                Line::reply(text),
            ];
            for line in lines {
                proptest::prop_assert!(!line.to_string().chars().any(char::is_control), "{line}");
            }
        }
    }
}
