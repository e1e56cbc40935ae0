//! The marks and lines of the chrome, in two sets. No emoji, nothing that needs a special font.

/// The glyphs of the chrome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Glyphs {
    /// Queued, running, waiting, cancelling or cancelled, completed, failed, interrupted, capped.
    pub states: [&'static str; 8],
    /// Mark of the selected row.
    pub selected: &'static str,
    /// Connected, gone.
    pub link: [&'static str; 2],
    /// Horizontal and vertical rule.
    pub rules: [&'static str; 2],
    /// Corners of a dialog: top left, top right, bottom left, bottom right.
    pub corners: [&'static str; 4],
    /// More to the left, more to the right.
    pub more: [&'static str; 2],
    /// Text that was cut ends in this.
    pub cut: &'static str,
    /// Between facts on one line.
    pub dot: &'static str,
    /// Levels of a graph, lowest first.
    pub levels: [&'static str; 8],
}

/// The usual ones. Some are two columns wide where text is Chinese, Japanese or Korean.
pub(in crate::console) const UNICODE: Glyphs = Glyphs {
    states: ["◌", "●", "◐", "■", "✓", "✗", "!", "▲"],
    selected: "▸",
    link: ["●", "○"],
    rules: ["─", "│"],
    corners: ["┌", "┐", "└", "┘"],
    more: ["‹", "›"],
    cut: "…",
    dot: "·",
    levels: ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"],
};

/// Those that every terminal has.
pub(in crate::console) const ASCII: Glyphs = Glyphs {
    states: [".", "*", "?", "#", "+", "x", "!", "^"],
    selected: ">",
    link: ["*", "o"],
    rules: ["-", "|"],
    corners: ["+", "+", "+", "+"],
    more: ["<", ">"],
    cut: "~",
    dot: "-",
    levels: [".", ".", ":", "-", "=", "+", "*", "#"],
};
