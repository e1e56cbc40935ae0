//! What somebody wants when they look for a key: the groups of help.

/// A wish that keys fulfil.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, strum::VariantArray)]
pub enum Wish {
    /// To see what there is, and to get there.
    See,
    /// To answer what waits, and to type.
    Answer,
    /// To stop something, or to start it.
    Stop,
    /// To read what was printed and answered, and to keep it.
    Read,
    /// To arrange the screen.
    Arrange,
}

impl Wish {
    /// All wishes, in the order of help.
    pub const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;

    /// Returns its heading.
    pub fn title(self) -> &'static str {
        match self {
            Self::See => "see",
            Self::Answer => "answer",
            Self::Stop => "stop, start",
            Self::Read => "read, keep",
            Self::Arrange => "arrange",
        }
    }
}
