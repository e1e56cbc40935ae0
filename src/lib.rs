//! Pilothouse: the operator's console for coding agents.
//!
//! One program that holds an execution runtime (it runs commands for an agent and keeps the long
//! ones as managed tasks) and shows it live to a person in the terminal. The modules below are
//! layers: each imports only from the ones listed after it. `docs/architecture.md` draws the house
//! and `tests/it/architecture.rs` keeps it so.

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
