//! On-screen terms that newcomers cannot know, each explained in a line next to it until it has been used or
//! has been visible for two minutes; that it is known is remembered.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

/// How long after it is opened a console shows hints.
pub(in crate::console) const HINTED: SignedDuration = SignedDuration::from_mins(2);

/// A term that is explained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum Term {
    /// Above the text of a call.
    Receipt,
    /// Beside the receipt.
    Envelope,
    /// On the status line, in input mode.
    Input,
    /// In the timeline.
    Lease,
    /// On the card of a call.
    Held,
    /// On the metrics screen.
    Trips,
    /// Beside the source of a program.
    Values,
    /// On the card of a gate.
    Gate,
}

/// Terms on screen that are not known yet, and since when they have been visible.
#[derive(Debug, Clone, Default)]
pub struct Terms {
    pub(in crate::console) met: BTreeMap<Term, Timestamp>,
}

impl Term {
    pub(in crate::console) fn text(self) -> &'static str {
        match self {
            Self::Receipt => "what the agent was given",
            Self::Envelope => "the whole answer",
            Self::Input => "agents only read while you type, and a while after",
            Self::Lease => "only who has it types",
            Self::Held => "held: it runs only if you approve; the agent waits",
            Self::Trips => "trips saved: answers not waited for, as a batch is one call",
            Self::Values => "what its steps gave",
            Self::Gate => "gate: the program waits here until a person decides",
        }
    }

    /// Returns the name it is remembered by, distinct from all action names.
    pub(in crate::console) fn name(self) -> &'static str {
        match self {
            Self::Receipt => "word receipt",
            Self::Envelope => "word envelope",
            Self::Input => "word input",
            Self::Lease => "word lease",
            Self::Held => "word held",
            Self::Trips => "word trips",
            Self::Values => "word values",
            Self::Gate => "word gate",
        }
    }
}
