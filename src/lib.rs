//! Pilothouse: the operator's console for coding agents.
//!
//! One program that contains an execution runtime (it runs commands for an agent and keeps long-running ones as
//! managed tasks) and a terminal UI that shows it live. The modules are layers, listed top to bottom: each imports
//! only from those below it (`docs/architecture.md`, tested by `tests/it/architecture/`).
//!
//! - [`cli`]: command-line arguments and environment; wires everything below together.
//! - `console`: the terminal UI, full-screen or as plain lines.
//! - [`agent`]: the MCP server, and the stdio shim that agents start.
//! - [`dispatch`]: the command registry, `exec`, and the response format for scripts.
//! - [`link`]: both sides of the runtime's two sockets; how a console sees a runtime.
//! - [`prose`]: `.prose` programs, from source text to a resumable run.
//! - [`tools`]: the tools agents call: input, execution, result, receipt.
//! - [`runtime`]: tasks, from request to end: supervisor, driver, output, approvals, questions.
//! - [`ledger`]: what differs in the workspace's files, by a private folder of git.
//! - [`journal`]: the recording, a hash-chained log of lines on disk.
//! - [`process`]: starting commands and ending their process trees.
//! - [`agents`]: what is known about other people's programs, a file each.
//! - [`model`]: what crosses the walls between layers, as plain data: tasks, calls, questions, what happened.
//! - [`terminal`]: bytes to screens and text, keys to bytes.
//! - [`config`], [`clock`], [`paths`], [`files`]: settings, time, file locations, private files.
//! - [`envelope`]: canonical envelopes, errors, previews, masking, safe text.

pub mod cli;
#[doc(hidden)]
pub mod fuzz;

pub mod agent;
#[cfg(feature = "console")]
pub mod console;
pub mod dispatch;

pub mod link;

pub mod prose;
pub mod tools;

pub mod runtime;

pub mod ledger;

pub use pilothouse_model as model;

pub mod journal;

pub mod process;

pub use pilothouse_terminal as terminal;

pub mod agents;
pub use pilothouse_consequence as consequence;
pub use pilothouse_envelope as envelope;

pub mod clock;
pub mod config;
pub mod files;
pub mod paths;
