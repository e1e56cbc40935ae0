//! What a task waits for, and how that is known.

use crate::{InputEvidence, InputNeed, InputWait, RejectionReason};

impl InputNeed {
    /// Says what is wanted: `a password`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Key => "a key",
            Self::Secret => "a password",
            Self::Line => "input",
            Self::Stopped => "SIGCONT",
        }
    }

    /// Says that a task waits for it; less surely where the evidence is weak.
    pub fn clause(self, is_certain: bool) -> String {
        match self {
            Self::Stopped => "stopped".to_owned(),
            need if is_certain => format!("waiting for {}", need.word()),
            need => format!("at a prompt, perhaps waiting for {}", need.word()),
        }
    }
}

impl InputEvidence {
    /// Says how it is known.
    pub fn word(self) -> &'static str {
        match self {
            Self::TtyRead => "reading the terminal",
            Self::TtyPoll => "polling the terminal",
            Self::EchoOff => "hidden input",
            Self::Quiet => "only idle",
            Self::Halted => "until SIGCONT",
            Self::OutOfTurn => "another process group has the terminal",
        }
    }

    /// Says it of a task.
    pub fn clause(self) -> &'static str {
        match self {
            Self::TtyRead => "the kernel shows it reading its terminal",
            Self::TtyPoll => "it waits for its terminal, at what looks like a question: weak",
            Self::EchoOff => "its terminal hides what is typed",
            Self::Quiet => "only that it is idle: weak",
            Self::Halted => "the kernel shows it as stopped; it goes on with SIGCONT",
            Self::OutOfTurn => "the kernel stopped it; another process group has the terminal",
        }
    }
}

impl InputWait {
    /// The word for what may want nothing.
    pub const PROMPT: &str = "at a prompt";

    /// Says how the task stands. Silence alone is weak evidence.
    pub fn word(&self) -> &'static str {
        match self.kind {
            InputNeed::Stopped => "stopped",
            _ if self.is_certain() => "waiting",
            _ => Self::PROMPT,
        }
    }

    /// Says what the task waits for: `waiting for a key`, or at a terminal beside its streams `sudo asks for a password`,
    /// where the program is `of` somebody.
    pub fn clause(&self, of: &str) -> String {
        let Some(program) = &self.program else { return self.kind.clause(self.is_certain()) };
        match self.kind {
            InputNeed::Stopped if self.evidence == InputEvidence::OutOfTurn => {
                format!("{program}{of} waits for its turn at the terminal")
            }
            InputNeed::Stopped => format!("{program}{of} is stopped"),
            need => format!("{program}{of} asks for {}", need.word()),
        }
    }
}

impl RejectionReason {
    /// Says of a task why it took no input.
    pub fn clause(self) -> &'static str {
        match self {
            Self::TaskNotRunning => "is not running",
            Self::InputNotEnabled => "takes no input",
            Self::HeldByOperator => "is driven by the operator",
            Self::InputBacklogged => "has not read what it was sent before",
            Self::InputTooLong => "takes no input of that length",
            Self::TtyRequired => "has no terminal",
            Self::InputClosed => "has a closed input",
            Self::OperatorAnswers => "asks the operator",
        }
    }
}
