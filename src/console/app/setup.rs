//! What a console is told from outside: settings, terminal, runtime.

use std::path::PathBuf;

use jiff::tz::TimeZone;

use super::super::keys::keymap::Keymap;
use super::super::looks::theme::Theme;
use super::super::looks::{Taste, Wardrobe};

/// What comes from outside: settings, terminal, runtime.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The looks.
    pub theme: Theme,
    /// The keys.
    pub keymap: Keymap,
    /// The themes there are, and which is worn.
    pub wardrobe: Wardrobe,
    /// How the console behaves.
    pub taste: Taste,
    /// This very program, to start beside a task.
    pub program: Option<PathBuf>,
    /// For local times.
    pub zone: TimeZone,
    /// The program runs as root.
    pub is_root: bool,
    /// The runtime is another process and can go on without this console.
    pub is_remote: bool,
    /// It was opened to show a program that ends with it, wherever the runtime is.
    pub shows_run: bool,
    /// The recording that is looked at; nothing can be done to it.
    pub recording: Option<String>,
}
