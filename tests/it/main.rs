//! The integration tests: one binary, a module per front.

mod support;
