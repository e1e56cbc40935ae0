//! What can be exported, in which format, and the names of the files.

use crate::envelope::TaskId;
use crate::runtime::ExportForm;

/// Something to export, and its format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExportKind {
    /// The output of a task.
    Task(TaskId, ExportForm),
    /// The canonical envelope of a call, as JSON on one line.
    Envelope(u64),
    /// The receipt of a call, byte for byte.
    Receipt(u64),
    /// The items of a batch, as one line of JSON each.
    Items(u64),
    /// The current call with all that others need to understand it.
    Share(ShareForm),
    /// The metrics, as JSON.
    Metrics,
    /// The whole console as drawn.
    Screen(Shot),
}

/// The format in which a call is shared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShareForm {
    /// A web page.
    Html,
    /// A picture.
    Svg,
}

impl ShareForm {
    /// Returns the file extension for this format.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Svg => "svg",
        }
    }
}

/// The format of a screenshot of the console.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum Shot {
    /// A picture.
    Svg,
    /// A web page.
    Html,
    /// Plain text.
    Text,
    /// Text with ANSI colour sequences.
    Ansi,
}

impl Shot {
    /// Returns the word for it.
    pub fn word(self) -> &'static str {
        self.into()
    }

    /// Returns the file extension for this format.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Text => "txt",
            other => other.word(),
        }
    }
}

/// A file name; if it is taken, a number is inserted before the extension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileName {
    /// Everything before the extension.
    pub stem: String,
    /// The extension, without its dot.
    pub extension: &'static str,
}

impl FileName {
    /// Builds a file name from what the file contains: `pilothouse-t07.txt`.
    pub fn of(what: &str, extension: &'static str) -> Self {
        Self { stem: format!("pilothouse-{what}"), extension }
    }

    /// Returns the name to try after this many names were taken.
    pub fn attempt(&self, taken: usize) -> String {
        let Self { stem, extension } = self;
        match taken {
            0 => format!("{stem}.{extension}"),
            taken => format!("{stem}-{}.{extension}", taken + 1),
        }
    }
}
