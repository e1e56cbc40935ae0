//! Ways in for the fuzz targets (`tests/fuzz`) to what reads foreign bytes inside the layers. No part of the program.

pub use crate::agent::fuzz_lines as mcp;
pub use crate::dispatch::exec::fuzz_line as exec_line;
pub use crate::link::fuzz_frames as frames;
