//! What can be kept as a file: a task, the answer to a call, the screen itself; and what the file is called.

use crate::envelope::TaskId;
use crate::runtime::Form;

/// Something to keep, and as what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Export {
    /// What a task wrote.
    Task(TaskId, Form),
    /// The canonical envelope of a call, as JSON on one line.
    Envelope(u64),
    /// The receipt of a call, byte for byte.
    Receipt(u64),
    /// The items of a batch, a line of JSON each.
    Items(u64),
    /// The counters, as JSON.
    Metrics,
    /// The whole console, as it is drawn.
    Screen(Shot),
}

/// What a picture of the console is made as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shot {
    /// A picture.
    Svg,
    /// A page for a browser.
    Html,
    /// Text alone.
    Text,
    /// Text with the sequences for its colours.
    Ansi,
}

impl Shot {
    /// All of them, in the order menus show them.
    pub const ALL: [Self; 4] = [Self::Svg, Self::Html, Self::Text, Self::Ansi];

    /// Returns the word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Svg => "svg",
            Self::Html => "html",
            Self::Text => "text",
            Self::Ansi => "ansi",
        }
    }

    /// Returns what the name of a file in this form ends with.
    #[must_use]
    pub fn extension(self) -> &'static str {
        match self {
            Self::Text => "txt",
            other => other.word(),
        }
    }
}

/// A name for a file: a number comes between its halves when it is taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileName {
    /// Up to the ending.
    pub stem: String,
    /// The ending, without its dot.
    pub extension: &'static str,
}

impl FileName {
    /// Names something of this program after what it is of: `pilothouse-t07.txt`.
    #[must_use]
    pub fn of(what: &str, extension: &'static str) -> Self {
        Self { stem: format!("pilothouse-{what}"), extension }
    }

    /// Returns the name to try after so many that were taken.
    #[must_use]
    pub fn attempt(&self, taken: usize) -> String {
        let Self { stem, extension } = self;
        match taken {
            0 => format!("{stem}.{extension}"),
            taken => format!("{stem}-{}.{extension}", taken + 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_taken_gets_a_number() {
        let name = FileName::of("t07", "v2.cast");
        assert_eq!(name.attempt(0), "pilothouse-t07.v2.cast");
        assert_eq!(name.attempt(1), "pilothouse-t07-2.v2.cast");
    }
}
