//! The I/O edge: the terminal, signals, files and clipboards, and the loop that carries out the effects.

mod agents;
pub(super) mod clipboard;
pub(super) mod display;
pub(super) mod driver;
mod earlier;
pub mod effects;
pub(super) mod files;
pub(super) mod frames;
mod glyphs;
pub(super) mod hook;
pub(super) mod kept;
pub(super) mod keyboard;
pub(super) mod leaving;
mod links;
mod logs;
pub mod output;
pub(super) mod pages;
mod places;
pub(super) mod plain;
mod programs;
mod reads;
pub(super) mod settings;
pub(super) mod signals;
mod stdin;
pub(super) mod stop_request;
mod tmux;
pub mod tty;
