//! The files that programs are read from.

use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;

use crate::dispatch::context::{Context, Host};
use crate::dispatch::response::Failure;
use crate::prose::Source;

/// Reads a program; `-` is standard input. Inside, why it cannot be read.
///
/// # Errors
/// When there is no working directory, or reading panicked.
pub(super) async fn read(cx: &Context, file: &str) -> Result<Result<Source, String>, Failure> {
    let host = cx.host.clone();
    let path = host.cwd()?.join(file);
    let name = file.to_owned();
    let reading = tokio::task::spawn_blocking(move || fetch(&host, &name, path)).await;
    reading.map_err(|error| Failure::internal(&error))
}

fn fetch(host: &Arc<dyn Host>, name: &str, path: PathBuf) -> Result<Source, String> {
    let limit = Source::LIMIT_BYTES as u64;
    let bytes = if name == "-" {
        host.standard_input(limit).map_err(|failure| failure.text())?
    } else {
        let mut bytes = Vec::new();
        let read = File::open(path).and_then(|open| open.take(limit + 1).read_to_end(&mut bytes));
        read.map_err(|error| error.to_string())?;
        bytes
    };
    let text = String::from_utf8(bytes).map_err(|error| {
        format!("it is not UTF-8: the byte {} begins no character", error.utf8_error().valid_up_to() + 1)
    })?;
    Source::new(name, &text).map_err(|error| error.to_string())
}
