//! The log of this process: a file in the state folder. Never the terminal, never standard output.

use std::fs::{DirBuilder, File};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Mutex;

use color_eyre::eyre::{Result, WrapErr};
use tracing_subscriber::EnvFilter;

/// The log starts over beyond this size.
const MAX_BYTES: u64 = 4 << 20;
/// What is logged unless `PILOTHOUSE_LOG` says otherwise.
const DEFAULT: &str = "pilothouse=info,warn";

/// Sends what is traced to `logs/pilothouse.log` of the state folder.
pub(super) fn start(state: &Path) -> Result<()> {
    let folder = state.join("logs");
    DirBuilder::new().recursive(true).mode(0o700).create(&folder).wrap_err("create the folder for logs")?;
    let path = folder.join("pilothouse.log");
    let large = path.metadata().is_ok_and(|facts| facts.len() > MAX_BYTES);
    let mut options = File::options();
    options.create(true).mode(0o600).append(!large).write(true).truncate(large);
    let file = options.open(&path).wrap_err_with(|| format!("open the log {}", path.display()))?;
    let asked = std::env::var("PILOTHOUSE_LOG").unwrap_or_else(|_| DEFAULT.to_owned());
    let filter = EnvFilter::try_new(&asked).wrap_err_with(|| format!("read PILOTHOUSE_LOG={asked}"))?;
    tracing_subscriber::fmt().with_env_filter(filter).with_ansi(false).with_writer(Mutex::new(file)).init();
    Ok(())
}
