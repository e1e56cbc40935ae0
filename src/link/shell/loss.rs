//! What is said of a command whose end its caller did not hear of as usual: one of three sentences, the same for every caller.

use std::fmt;

/// What is known of such a command. Its caller exits with 75 (EX_TEMPFAIL).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Loss {
    /// It had begun and was ended; why.
    Ended(String),
    /// It had begun. It may have come to its end by itself just before.
    Begun,
    /// It was asked for, and nothing was heard of it.
    Unknown,
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ended(why) => write!(f, "this command had begun; it was {why}"),
            Self::Begun => {
                f.write_str("this command had begun; it runs no more, and how it ended cannot be known")
            }
            Self::Unknown => f.write_str("the runtime ended; whether this command had begun cannot be known"),
        }
    }
}
