//! How a command ends, what it reads and prints, and whether the shell goes on after it.

/// The most bytes of what a command prints; more is not known.
pub(crate) const MOST_OUTPUT: usize = 1 << 20;

/// How a command ends, as far as that is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Success,
    Failure,
    /// Success, if nothing unexpected happens.
    Likely,
    Unknown,
}

impl Outcome {
    /// Returns it behind a `!`.
    pub(crate) fn negation(self) -> Self {
        match self {
            Self::Success => Self::Failure,
            Self::Failure => Self::Success,
            Self::Likely | Self::Unknown => Self::Unknown,
        }
    }

    /// Returns how both end together.
    pub(crate) fn worse(self, other: Self) -> Self {
        let order = [Self::Failure, Self::Unknown, Self::Likely];
        order.into_iter().find(|one| [self, other].contains(one)).unwrap_or(Self::Success)
    }
}

/// Whether the shell goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flow {
    On,
    Break,
    Continue,
    Return,
    Exit,
}

/// What became of a command: how it ends, and what it prints, if that is known.
#[derive(Debug, Clone)]
pub(crate) struct CommandEnd {
    pub(crate) outcome: Outcome,
    pub(crate) output: Option<String>,
}

impl CommandEnd {
    pub(crate) fn silent(outcome: Outcome) -> Self {
        Self { outcome, output: Some(String::new()) }
    }

    pub(crate) fn unknown() -> Self {
        Self { outcome: Outcome::Unknown, output: None }
    }

    pub(crate) fn with_output(outcome: Outcome, output: impl Into<Option<String>>) -> Self {
        Self { outcome, output: output.into().filter(|output| output.len() <= MOST_OUTPUT) }
    }
}

/// What a command reads, if that is known, and otherwise what it comes from.
pub(crate) type Input = Result<String, String>;

/// Returns what two commands in a row are together.
pub(crate) fn combine(first: CommandEnd, second: CommandEnd) -> CommandEnd {
    let output = first.output.zip(second.output).map(|(first, second)| first + &second);
    CommandEnd::with_output(second.outcome, output)
}
