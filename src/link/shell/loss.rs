//! The message for a command whose caller did not learn of its end in the usual way: one of three sentences, the same
//! for every caller.

use std::fmt;

/// What is known of such a command. Its caller exits with 75 (`EX_TEMPFAIL`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Loss {
    /// It had started and was ended, for this reason.
    Ended(String),
    /// It had started. It may have ended by itself just before.
    Begun,
    /// It was requested, and nothing more is known.
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
