//! Pure: bytes -> screen and transcript, keys -> bytes, query replies. No file, no clock, no thread.

mod size;

pub use size::Size;
