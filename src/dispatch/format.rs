//! The version of what scripts read, and how much they may send.

/// The version of the formats that scripts rely on: response, manifest, lines of `exec`.
pub const SCHEMA_VERSION: &str = "1.0";
/// The key in `meta` for what only this program says.
pub const OWN_KEY: &str = "x-pilothouse";
/// The maximum length of standard input that is read before the first line runs, in bytes.
pub const STDIN_BYTES: usize = 65_536;
/// The variable that overrides [`STDIN_BYTES`].
pub const STDIN_BYTES_VARIABLE: &str = "PILOTHOUSE_MAX_STDIN_BYTES";
