//! What is selected on the receipts screen.

use crate::console::state::finding::TextSearch;

/// The columns of the receipts screen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Column {
    #[default]
    Calls,
    /// The receipt of the selected call.
    Receipt,
    /// Its canonical envelope.
    Envelope,
}

impl Column {
    /// Returns the column of the other text.
    pub(crate) fn opposite(self) -> Self {
        if self == Self::Envelope { Self::Receipt } else { Self::Envelope }
    }
}

/// Which calls are listed, by who let them be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum RulingFilter {
    #[default]
    All,
    /// Those about which nobody was asked, made or refused.
    #[strum(serialize = "nobody was asked")]
    Unasked,
    /// Those that an agent refused by itself.
    #[strum(serialize = "refused by the agent")]
    Refused,
    /// Those that the person allowed or denied, here or in the agent.
    #[strum(serialize = "you were asked")]
    Asked,
}

impl RulingFilter {
    /// Returns the word for it.
    pub fn word(self) -> &'static str {
        self.into()
    }
}

/// The receipts screen, and the receipt beside a task.
#[derive(Debug, Clone, Default)]
pub struct Calls {
    /// The selected call; if none, the newest is shown.
    pub selected: Option<u64>,
    /// First item shown.
    pub top: usize,
    /// The column keys act on.
    pub column: Column,
    /// The budget for the texts, in characters of the envelope; if none, they are shown in full.
    pub budget: Option<u64>,
    /// The text to filter the list of calls by; empty if all are listed.
    pub filter: String,
    /// Which calls are listed, by who let them be made.
    pub ruling: RulingFilter,
    /// The oldest call of the row of polls that is unfolded.
    pub unfolded: Option<u64>,
    /// The search in the current text.
    pub finding: Option<TextSearch>,
}
