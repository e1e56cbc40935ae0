//! Where the program was started, and which program it is.

use std::path::{Path, PathBuf};

use color_eyre::eyre::{Result, WrapErr};

use super::surroundings::surroundings;
use crate::link::{Access, Holder};
use crate::paths::Places;

/// Where the program was started, and which program it is.
#[derive(Clone)]
pub(super) struct ProgramStart {
    /// The working directory.
    pub(super) cwd: PathBuf,
    /// The workspace's file locations.
    pub(super) places: Places,
    /// This program, for starting it again.
    pub(super) program: PathBuf,
    /// The console's appearance.
    #[cfg(feature = "console")]
    pub(super) flags: crate::console::theme::UiFlags,
}

impl ProgramStart {
    /// Returns the workspace's file locations; those of the runtime that serves it, if there is one.
    pub(super) fn served_places(&self) -> Places {
        Holder::of(&self.places).places(&self.places)
    }

    /// Returns the folders in which a runtime of this workspace may have its sockets, whatever its environment
    /// variables were.
    pub(super) fn runtime_dirs(&self) -> Vec<PathBuf> {
        let Places { id, state_dir, .. } = &self.places;
        let around = surroundings();
        let of_user = around.user_dir.map(|folder| folder.join("pilothouse").join(id));
        let mut all = vec![self.places.runtime_dir.clone(), state_dir.join("run").join(id)];
        all.extend(around.home.map(|home| home.join(".local/state/pilothouse/run").join(id)));
        all.extend(of_user);
        all.extend(Holder::of(&self.places).address().map(|address| address.runtime.clone()));
        all.sort();
        all.dedup();
        all
    }

    /// Returns how to reach the workspace's runtime.
    pub(super) fn access(&self) -> Access {
        Access { places: self.places.clone(), program: self.program.clone(), outlives_logout: false }
    }

    /// Returns the same as if the program had been started in another directory.
    ///
    /// # Errors
    /// If there is no such directory.
    pub(super) fn moved_to(&self, directory: &Path) -> Result<Self> {
        let cwd = self.cwd.join(directory);
        Ok(Self { places: places_of(&cwd)?, cwd, ..self.clone() })
    }

    pub(super) fn find() -> Result<Self> {
        let cwd = std::env::current_dir().wrap_err("find the working directory")?;
        let places = places_of(&cwd)?;
        let program = std::env::current_exe().wrap_err("find this program")?;
        Ok(Self {
            cwd,
            places,
            program,
            #[cfg(feature = "console")]
            flags: crate::console::theme::UiFlags::default(),
        })
    }
}

/// Returns the file locations of the workspace that a directory is in.
///
/// # Errors
/// If there is no such directory, or the user has no home.
pub(super) fn places_of(directory: &Path) -> Result<Places, crate::paths::Error> {
    Places::find(directory, &surroundings())
}
