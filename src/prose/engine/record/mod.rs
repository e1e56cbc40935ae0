//! A run on disk: its journal, its folder and the files in it, and what they hold of commands and questions.

pub mod binding;
pub mod command_result;
pub mod decision;
pub mod error;
pub mod folder;
pub mod journal;
pub mod state;
