//! Programs as clients of an MCP server: how they identify themselves, and how much they pass to their model.

/// A limit on, or the size of, text in every unit that clients count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    /// Characters (Unicode scalars).
    pub chars: usize,
    /// UTF-8 bytes.
    pub bytes: usize,
    pub lines: usize,
}

/// The maximum length of a receipt for an unknown client, in characters.
pub const RECEIPT_CHARS: usize = 40_000;

impl Room {
    /// Returns room for `chars` characters, in any number of bytes and lines.
    pub const fn chars(chars: usize) -> Self {
        Self { chars, bytes: usize::MAX, lines: usize::MAX }
    }
}

/// What is known about a client. Verify it with the real program (`.ci/long agents`, tests/agents).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct McpClient {
    /// The prefix of the name by which it identifies itself.
    pub name: &'static str,
    /// The label of its agent.
    pub label: &'static str,
    /// How much of a receipt it passes on without truncating it.
    pub room: Room,
    /// Whether an error may include the envelope in `_meta`, because the client does not show that to its model.
    pub hides_meta_of_errors: bool,
    /// What it truncates, for people.
    pub(super) cuts: &'static str,
    /// Which tools it does not show its model at once, for people.
    pub(super) defers: &'static str,
}

impl McpClient {
    pub(super) const fn new(name: &'static str, label: &'static str) -> Self {
        let room = Room::chars(RECEIPT_CHARS);
        Self { name, label, room, hides_meta_of_errors: true, cuts: "nothing", defers: "no tool" }
    }

    /// Describes what it truncates and defers, and the maximum size of its receipts.
    pub fn about(&self) -> String {
        let Room { chars, bytes, lines } = self.room;
        let bytes = if bytes == usize::MAX { String::new() } else { format!(", {} KB", bytes / 1_000) };
        let lines = if lines == usize::MAX { String::new() } else { format!(", {lines} lines") };
        format!(
            "it cuts {}, and defers {}; a receipt for it has at most {chars} characters{bytes}{lines}",
            self.cuts, self.defers
        )
    }
}
