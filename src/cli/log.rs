//! The log of this process: a file in the state folder, with secrets masked, safe to print. Nothing is ever logged to
//! the terminal or standard output.

use std::io::{self, Write};
use std::path::Path;
use std::sync::Mutex;

use color_eyre::eyre::{Result, WrapErr};
use tracing_subscriber::EnvFilter;

use crate::envelope::{SafeText, mask};
use crate::files::{self, FileAccess};
use crate::link::private_folder;

/// The size above which the log is truncated, in bytes.
const MAX_BYTES: u64 = 4 << 20;
/// The log filter unless `PILOTHOUSE_LOG` overrides it.
const DEFAULT: &str = "pilothouse=info,warn";

/// Writes traces to `logs/pilothouse.log` in the state folder.
pub(super) fn start(state: &Path) -> Result<()> {
    // Some systems make homes writable by a group; nobody else may write here.
    private_folder(state, 0o002)?;
    let folder = state.join("logs");
    files::create_folder(&folder).wrap_err("create the folder for logs")?;
    let path = folder.join("pilothouse.log");
    let opened = files::open_or_create(&path, FileAccess::Append).and_then(|file| {
        if file.metadata()?.len() > MAX_BYTES {
            file.set_len(0)?;
        }
        Ok(file)
    });
    let file = opened.wrap_err_with(|| format!("open the log {}", path.display()))?;
    let asked = std::env::var("PILOTHOUSE_LOG").unwrap_or_else(|_| DEFAULT.to_owned());
    let filter = EnvFilter::try_new(&asked).wrap_err_with(|| format!("read PILOTHOUSE_LOG={asked}"))?;
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(false)
        .with_writer(Mutex::new(MaskedWriter(file)))
        .init();
    Ok(())
}

/// Masks secrets and makes hidden characters visible. The subscriber writes each event in a single call, and would report a
/// failure on standard error, which may be a file on the same full disk: then it panics. So an event that cannot be written
/// is lost.
struct MaskedWriter<W>(W);

impl<W: Write> Write for MaskedWriter<W> {
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        let event_text = String::from_utf8_lossy(event);
        let _ = self.0.write_all(SafeText::lines(&mask(&event_text)).as_bytes());
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let _ = self.0.flush();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn a_log_on_a_full_disk_is_no_error() {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("opened");
        assert_eq!(MaskedWriter(full).write(b"an event").expect("no error"), 8);
    }

    #[derive(Clone, Default)]
    struct Sink(Arc<Mutex<Vec<u8>>>);

    impl Write for Sink {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().expect("sink").write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn an_event_of_the_log_is_masked() {
        let sink = Sink::default();
        let writer = Mutex::new(MaskedWriter(sink.clone()));
        let subscriber = tracing_subscriber::fmt().with_ansi(false).with_writer(writer).finish();
        tracing::subscriber::with_default(subscriber, || {
            tracing::warn!(cmd = "API_TOKEN=hunter2 run --password hunter2", "it did not start");
        });
        let logged = String::from_utf8(sink.0.lock().expect("sink").clone()).expect("text");
        assert!(logged.contains("API_TOKEN=[masked]") && logged.ends_with('\n'), "{logged}");
        assert!(!logged.contains("hunter2"), "{logged}");
    }
}
