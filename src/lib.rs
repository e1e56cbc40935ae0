//! Pilothouse: the operator's console for coding agents.
//!
//! One program that holds an execution runtime (it runs commands for an agent and keeps the long ones as managed tasks)
//! and shows it live to a person in the terminal. The modules are layers, from top to bottom: each imports only from
//! those below it (`docs/architecture.md`, tested by `tests/it/architecture/`).
//!
//! - [`cli`]: arguments and environment; puts everything below together.
//! - `console`: the terminal UI, on a screen or in plain lines.
//! - [`agent`]: the MCP server, and the stdio shim that agents start.
//! - [`dispatch`]: the registry of commands, `exec`, and the response that scripts get.
//! - [`link`]: the runtime's two sockets, both sides; how a console sees a runtime.
//! - [`prose`]: `.prose` programs, from text to a run that can be resumed.
//! - [`tools`]: the tools of agents: input, run, result, receipt.
//! - [`runtime`]: tasks, from a request to their end: supervisor, driver, output, approvals, questions.
//! - [`facts`]: what happens, as typed values.
//! - [`journal`]: the record, a chain of hashed lines on disk.
//! - [`process`]: starting commands and ending their process trees.
//! - [`terminal`]: bytes to screens and text, keys to bytes.
//! - [`envelope`]: canonical envelopes, errors, previews, masking, safe text.
//! - [`config`], [`clock`], [`paths`], [`files`]: settings, time, places, private files.

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

pub mod facts;

pub mod journal;

pub mod process;

pub mod terminal;

pub mod envelope;

pub mod clock;
pub mod config;
pub mod files;
pub mod paths;
