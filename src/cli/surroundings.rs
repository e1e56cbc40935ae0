//! The parts of the environment that determine file locations, and this user's line in the password file.

use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use crate::paths::Surroundings;
use crate::process;

/// Returns the parts of the environment that determine file locations.
pub(super) fn surroundings() -> Surroundings {
    let folder = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|folder| folder.is_absolute());
    let lock_dir = folder("PILOTHOUSE_LOCK_DIR");
    Surroundings {
        runtime_dir: folder("XDG_RUNTIME_DIR"),
        // A test must leave nothing outside its own folders.
        user_dir: if lock_dir.is_some() { None } else { usual_runtime_dir() },
        lock_dir,
        home: home_on_file().or_else(|| folder("HOME")),
        boot_id: process::boot_id(),
        container: process::container(),
    }
}

/// Returns the folder that `XDG_RUNTIME_DIR` normally names. Many agents start their servers without that variable,
/// and must still find the console's runtime.
fn usual_runtime_dir() -> Option<PathBuf> {
    let me = rustix::process::geteuid().as_raw();
    let dir = PathBuf::from(format!("/run/user/{me}"));
    let facts = dir.symlink_metadata().ok()?;
    (facts.is_dir() && facts.uid() == me && facts.mode() & 0o077 == 0).then_some(dir)
}

/// Returns this user's home according to the password file, regardless of `HOME`.
fn home_on_file() -> Option<PathBuf> {
    password_field(5).map(PathBuf::from).filter(|home| home.is_absolute())
}

/// Returns a field of this user's line in the password file, counted from 0: 0 is the name, 5 the home.
pub(super) fn password_field(number: usize) -> Option<String> {
    let me = rustix::process::geteuid().as_raw().to_string();
    let text = std::fs::read_to_string("/etc/passwd").ok()?;
    text.lines().find_map(|line| {
        let fields: Vec<&str> = line.split(':').collect();
        (fields.get(2) == Some(&me.as_str())).then(|| fields.get(number).map(|field| (*field).to_owned()))?
    })
}
