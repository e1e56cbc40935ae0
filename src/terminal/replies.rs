//! The terminal's replies to a program's queries: constants and the cursor position, never anything a program
//! could have set (docs/contract.md#terminal-queries). Other queries get no reply.

use super::modes::Cursor;

/// Primary device attributes: a VT220 with colour.
pub(super) const PRIMARY_ATTRIBUTES: &[u8] = b"\x1b[?62;22c";
/// Secondary device attributes: a VT220, version 10, so that no program expects the extensions of a specific
/// terminal.
pub(super) const SECONDARY_ATTRIBUTES: &[u8] = b"\x1b[>1;10;0c";
/// The name of the terminal (XTVERSION).
pub(super) const VERSION: &[u8] = b"\x1bP>|pilothouse\x1b\\";
/// Device status: OK.
pub(super) const STATUS: &[u8] = b"\x1b[0n";

/// Returns the reply to an OSC that queries a colour: fixed colours, light on dark.
pub(super) fn color(osc: &[u8]) -> Option<&'static [u8]> {
    match osc {
        b"10;?" => Some(b"\x1b]10;rgb:d0d0/d0d0/d0d0\x1b\\"),
        b"11;?" => Some(b"\x1b]11;rgb:1010/1010/1010\x1b\\"),
        _ => None,
    }
}

/// Returns the cursor position report; `top` is the row that counts as the first.
pub(super) fn cursor(cursor: Cursor, top: u16) -> Vec<u8> {
    format!("\x1b[{};{}R", cursor.row.saturating_sub(top) + 1, cursor.col + 1).into_bytes()
}

/// Returns the report of a mode (DECRQM); the marker is `?` for private modes, 0 for ANSI modes.
pub(super) fn mode(marker: u8, mode: u16, set: bool) -> Vec<u8> {
    let marker = if marker == b'?' { "?" } else { "" };
    format!("\x1b[{marker}{mode};{}$y", if set { 1 } else { 2 }).into_bytes()
}
