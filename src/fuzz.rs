//! Entry points for the fuzz targets (`tests/fuzz`) into the internal parsers of untrusted bytes. Not part of the
//! program.

pub use crate::agent::fuzz_lines as mcp;
pub use crate::dispatch::exec::fuzz_line as exec_line;
pub use crate::link::fuzz_frames as frames;
