//! `Handle` methods for the environment that commands inherit.

use std::ffi::OsString;

use super::Handle;
use crate::process::environment::{self, Environment};

impl Handle {
    /// Returns a handle for a caller with its own environment: its commands inherit that environment, with the
    /// changes of the settings, instead of the runtime's.
    pub fn for_caller(&self, environment: &Environment) -> Self {
        let variables = self.shared.env.apply(environment.iter().cloned().collect());
        Self { environment: Environment::new(variables, environment.umask()), ..self.clone() }
    }

    /// Returns a handle for a caller whose commands inherit its environment unchanged.
    pub fn with_exactly(&self, environment: Environment) -> Self {
        Self { environment, ..self.clone() }
    }

    /// Returns a variable that commands inherit.
    pub fn inherited_variable(&self, name: &str) -> Option<OsString> {
        self.environment.get(name).map(ToOwned::to_owned)
    }

    /// Returns the shell that runs the commands of programs. Blocks.
    pub fn step_shell(&self) -> String {
        environment::step_shell(self.environment.get("PATH")).to_string_lossy().into_owned()
    }
}
