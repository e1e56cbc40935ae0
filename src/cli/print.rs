//! Standard output and standard error of the command line. Nothing else in `cli` writes to them, and they accept only
//! safe text: the type system rules out a `String` from a command, an agent or a file.

use std::fmt::Display;
use std::io::{self, IsTerminal as _, Write as _};

use crate::envelope::SafeText;
use crate::files::{self, FileAccess, Links};

/// Returns whether standard output is a terminal.
pub(super) fn is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// Writes lines to standard output; writes nothing for empty text.
pub(super) fn out(text: &SafeText) -> io::Result<()> {
    write_out(text.trim_end_matches('\n').as_bytes())
}

/// Writes data to standard output unchanged, for a file or another program; to a terminal as safe text.
pub(super) fn data(text: &str) -> io::Result<()> {
    let text = text.trim_end_matches('\n');
    if is_terminal() {
        write_out(SafeText::with_colours(text).as_bytes())
    } else {
        write_out(text.as_bytes())
    }
}

/// Copies a file to standard output, or to standard error, byte for byte.
pub(super) fn copy(file: &std::path::Path, to_stderr: bool) -> io::Result<()> {
    let mut file = files::open(file, Links::NoneIn(3), FileAccess::Read)?;
    if to_stderr {
        return io::copy(&mut file, &mut io::stderr().lock()).map(drop);
    }
    let mut out = io::stdout().lock();
    io::copy(&mut file, &mut out)?;
    out.flush()
}

/// Writes a command's output unchanged to standard output or to standard error.
pub(super) fn bytes(bytes: &[u8], to_stderr: bool) -> io::Result<()> {
    if to_stderr {
        return io::stderr().write_all(bytes);
    }
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()
}

/// Prints a message on standard error, prefixed with the program's name.
pub(super) fn say(text: impl Display) -> io::Result<()> {
    err(&message(text))
}

/// Returns a message prefixed with the program's name.
pub(super) fn message(text: impl Display) -> SafeText {
    SafeText::lines(&format!("pilothouse: {text}"))
}

/// Writes lines to standard error.
pub(super) fn err(text: &SafeText) -> io::Result<()> {
    writeln!(io::stderr().lock(), "{}", text.trim_end_matches('\n'))
}

fn write_out(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if !bytes.is_empty() {
        out.write_all(bytes)?;
        out.write_all(b"\n")?;
    }
    out.flush()
}
