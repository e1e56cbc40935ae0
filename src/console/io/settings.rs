//! The settings of a running console: rereading and saving them, and saving what the console remembers.

use super::driver::Driver;
use super::{kept, tty};
use crate::config::Mouse;
use crate::console::ConsoleError;
use crate::console::effect::Effect;
use crate::console::msg::Msg;
use crate::console::options::ConsoleOptions;
use crate::console::state::{Arrangement, ConsoleMemory};
use crate::console::theme::{Capabilities, Preferences};
use crate::process::FileWatch;
use crate::terminal::host_terminal::HostTerminal;

/// Where settings come from, and when to reread them.
pub(in crate::console) struct Source {
    pub(in crate::console) options: ConsoleOptions,
    pub(in crate::console) capabilities: Capabilities,
    pub(in crate::console) watch: FileWatch,
    /// Whether the terminal can give keys that usually share a code one of their own.
    pub(in crate::console) has_distinct_keys: bool,
}

impl Driver {
    /// Rereads the settings.
    pub(in crate::console) fn reload(&mut self) -> Vec<Effect> {
        let Source { options, capabilities, .. } = &self.source;
        let (preferences, faults) =
            Preferences::read(options.config.as_deref(), &options.flags, capabilities);
        let faults = faults.iter().map(ToString::to_string).collect();
        self.app.update(Msg::Preferences(Box::new(preferences), faults))
    }

    /// Applies what the terminal has answered. Any change is drawn without a message.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub(in crate::console) fn learn(&mut self, outer: &HostTerminal) -> Result<(), ConsoleError> {
        self.source.has_distinct_keys = outer.has_distinct_keys;
        self.set_keys()?;
        let learnt = self.source.capabilities.clone().learn(outer);
        if learnt == self.source.capabilities {
            return Ok(());
        }
        let Source { options, capabilities, .. } = &mut self.source;
        *capabilities = learnt;
        // Errors in the files were reported when they were first read.
        let (preferences, _) = Preferences::read(options.config.as_deref(), &options.flags, capabilities);
        self.app.apply_preferences(preferences);
        Ok(())
    }

    /// Has the terminal tell keys apart, if it can.
    pub(super) fn set_keys(&mut self) -> Result<(), ConsoleError> {
        if !self.source.has_distinct_keys {
            return Ok(());
        }
        tty::distinct_keys(self.display.output()).map_err(ConsoleError::Terminal)
    }

    /// Has the terminal report the mouse as the console wants it now.
    pub(super) fn set_mouse(&mut self) -> Result<(), ConsoleError> {
        let mouse = self.mouse(self.app.state.outer.has_mouse);
        tty::mouse(self.display.output(), mouse).map_err(ConsoleError::Terminal)?;
        self.set_hover()
    }

    /// Has the terminal report each movement of the mouse, if a program wants them.
    pub(super) fn set_hover(&mut self) -> Result<(), ConsoleError> {
        if !self.app.state.outer.hovers {
            return Ok(());
        }
        tty::hover(self.display.output(), true).map_err(ConsoleError::Terminal)
    }

    /// Saves what is remembered. Not essential.
    pub(in crate::console) fn remember(&self, memory: &ConsoleMemory) {
        let written =
            self.source.options.state.as_deref().map(|state| kept::write(&state.join(kept::MEMORY), memory));
        if let Some(Err(error)) = written {
            tracing::warn!(%error, "what the console remembers is not written");
        }
    }

    /// Saves how the console is arranged. Not essential.
    pub(in crate::console) fn keep_arrangement(&self, arrangement: &Arrangement) {
        let is_past = self.app.state.setup.recording.is_some();
        let Some(path) = self.source.options.layout.as_ref().filter(|_| !is_past) else { return };
        if let Err(error) = kept::write(path, arrangement) {
            tracing::warn!(%error, path = %path.display(), "keep the arrangement of the console");
        }
    }

    /// Saves a command for the history of later runs. Not essential.
    pub(in crate::console) fn keep_command(&self, cmd: &str) {
        let written = self.source.options.commands.as_deref().map(|path| kept::add_command(path, cmd));
        if let Some(Err(error)) = written {
            tracing::warn!(%error, "a command is not kept for the next time");
        }
    }

    /// Saves a theme in the settings; from now on it is taken from there and no longer from a flag.
    pub(in crate::console) fn save_theme(&mut self, name: &str) {
        self.source.options.flags.theme = None;
        let Some(config) = self.source.options.config.as_deref() else { return };
        let now = self.clock.now().wall;
        match crate::config::save_theme(config, name) {
            Ok(()) => self.app.state.toasts.say(format!("theme {name}, kept in the settings"), None, now),
            Err(error) => self.app.state.toasts.fail(format!("keep the theme: {error}"), None),
        }
        self.app.state.touch();
    }

    /// Returns how to use the mouse when it is captured: fully, unless the settings say wheel only.
    pub(in crate::console) fn mouse(&self, is_ours: bool) -> Mouse {
        match self.app.state.setup.ui.console.mouse {
            _ if !is_ours => Mouse::Off,
            Mouse::Wheel => Mouse::Wheel,
            Mouse::Full | Mouse::Off => Mouse::Full,
        }
    }
}
