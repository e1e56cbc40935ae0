//! Why an action is not available now.

use std::fmt;

use crate::console::keys::Action;

/// Why an action would do nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Obstacle {
    /// It belongs to another part of the console; says where.
    Elsewhere(&'static str),
    /// Recordings cannot be changed.
    Recording,
    /// The connection to the runtime was lost.
    Lost,
    /// The connection to its place was lost.
    Place,
    /// Something it needs is missing.
    Missing(&'static str),
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Elsewhere(text) | Self::Missing(text) => text,
            Self::Recording => "a recording is only looked at",
            Self::Lost => "the runtime went away",
            Self::Place => "its place is not attached now",
        })
    }
}

/// Tells whether an action is available now, or why not.
pub type Availability<'a> = &'a dyn Fn(Action) -> Result<(), Obstacle>;
