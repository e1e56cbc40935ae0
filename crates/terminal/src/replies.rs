//! The terminal's replies to a program's queries: constants, and facts about the terminal, never text that a program
//! could have set (docs/contract.md#terminal-queries). Other queries get no reply.

use super::host_terminal::DefaultColours;
use super::modes::Cursor;
use super::size::Size;

/// Primary device attributes: a VT220 with colour.
pub(super) const PRIMARY_ATTRIBUTES: &[u8] = b"\x1b[?62;22c";
/// Secondary device attributes: a VT220, version 10, so that no program expects the extensions of a specific
/// terminal.
pub(super) const SECONDARY_ATTRIBUTES: &[u8] = b"\x1b[>1;10;0c";
/// The name of the terminal (XTVERSION).
pub(super) const VERSION: &[u8] = b"\x1bP>|pilothouse\x1b\\";
/// Device status: OK.
pub(super) const STATUS: &[u8] = b"\x1b[0n";

/// Returns the reply to an OSC that queries a colour: of text without one, or of its background. It ends as the query
/// did: some programs read up to a BEL.
pub(super) fn color(osc: &[u8], colours: DefaultColours, by_bell: bool) -> Option<Vec<u8>> {
    let (number, (r, g, b)) = match osc {
        b"10;?" => (10, colours.foreground),
        b"11;?" => (11, colours.background),
        _ => return None,
    };
    let end = if by_bell { "\x07" } else { "\x1b\\" };
    Some(format!("\x1b]{number};rgb:{r:02x}{r:02x}/{g:02x}{g:02x}/{b:02x}{b:02x}{end}").into_bytes())
}

/// Returns the reply to the query for the theme: dark or light, by the default colours.
pub(super) fn theme(colours: DefaultColours) -> &'static [u8] {
    let brightness = |(r, g, b): (u8, u8, u8)| 3 * u32::from(r) + 6 * u32::from(g) + u32::from(b);
    match brightness(colours.background) < brightness(colours.foreground) {
        true => b"\x1b[?997;1n",
        false => b"\x1b[?997;2n",
    }
}

/// Returns the reply to the query for the size in characters.
pub(super) fn size(size: Size) -> Vec<u8> {
    format!("\x1b[8;{};{}t", size.rows(), size.cols()).into_bytes()
}

/// Returns the cursor position report; `top` is the row that counts as the first.
pub(super) fn cursor(cursor: Cursor, top: u16) -> Vec<u8> {
    format!("\x1b[{};{}R", cursor.row.saturating_sub(top) + 1, cursor.col + 1).into_bytes()
}

/// What a terminal says of a mode (DECRQM).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ModeReport {
    /// It does not know the mode.
    Unknown = 0,
    Set = 1,
    Reset = 2,
    /// It knows the mode and never sets it.
    Refused = 4,
}

impl From<bool> for ModeReport {
    fn from(is_set: bool) -> Self {
        if is_set { Self::Set } else { Self::Reset }
    }
}

/// Returns the report of a mode; the marker is `?` for private modes, 0 for ANSI modes.
pub(super) fn mode(marker: u8, mode: u16, report: ModeReport) -> Vec<u8> {
    let marker = if marker == b'?' { "?" } else { "" };
    format!("\x1b[{marker}{mode};{}$y", report as u8).into_bytes()
}
