//! Switches between the primary and the alternate screen.

/// Returns where the last complete switch in some output begins, and whether it is to the alternate screen.
pub fn last_switch(output: &[u8]) -> Option<(usize, bool)> {
    memchr::memrchr_iter(0x1b, output).find_map(|at| Some((at, switch(output.get(at..)?)?)))
}

/// Tells whether the sequence that output begins with is a switch to the alternate screen, or back.
pub(super) fn switch(output: &[u8]) -> Option<bool> {
    let mode = output.strip_prefix(b"\x1b[?")?;
    let rest = [&b"1049"[..], b"1047", b"47"].iter().find_map(|number| mode.strip_prefix(*number))?;
    match rest.first() {
        Some(b'h') => Some(true),
        Some(b'l') => Some(false),
        _ => None,
    }
}
