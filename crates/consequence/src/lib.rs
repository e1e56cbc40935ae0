//! What a shell command would delete, overwrite or discard: text, environment and folder, with a view of the files,
//! become facts, and what cannot be known. Nothing is run and nothing is changed.

// Tests beside the crate and in it share a file.
#[cfg(test)]
extern crate self as pilothouse_consequence;

mod arithmetic;
mod braces;
mod branch;
mod changes;
mod command_end;
mod commands;
mod compound;
mod consequence;
mod expansion;
mod fields;
mod glob;
mod guard;
mod interpreter;
mod lists;
mod look;
mod names;
mod parameter;
mod pattern;
mod request;
pub mod rule_words;
mod shell_state;
mod shell_test;
mod simple_command;
#[cfg(test)]
mod tests;
mod words;

pub use self::consequence::{Class, Consequence, Fact, FactKind};
pub use self::interpreter::compute;
pub use self::look::{FileKind, FileStat, GitFiles, GitRefs, Look, Unseen};
pub use self::request::ConsequenceRequest;

/// The stack that [`compute`] needs: its caller runs it on a thread that has as much.
pub const STACK: usize = 8 << 20;
