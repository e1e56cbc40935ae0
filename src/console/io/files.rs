//! Files exported by the user: always new, readable only by them, never overwriting anything.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::Arc;

use crate::files;
use crate::model::{CallRecord, TaskView};
use crate::runtime::{ExportForm, OutputExport};
use crate::terminal::Palette;

use crate::console::msg::Msg;
use crate::console::state::FileName;

/// How many names are tried before giving up.
const MOST_NAMES: usize = 1_000;

/// Writes a new file into a folder; returns the name it was given.
///
/// # Errors
/// When it cannot be written; no file is left behind then.
pub(in crate::console) fn keep(folder: &Path, file: &FileName, text: &str) -> io::Result<String> {
    for taken in 0..MOST_NAMES {
        let name = file.attempt(taken);
        let path = folder.join(&name);
        // `create_new` does not follow symlinks, so nothing is written through one that exists there.
        match files::create_new(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
            Ok(mut new) => {
                if let Err(error) = new.write_all(text.as_bytes()) {
                    // Half a file is worse than none; the write error matters more than a failure to remove
                    // it.
                    let _ = fs::remove_file(&path);
                    return Err(error);
                }
                return Ok(name);
            }
        }
    }
    Err(io::Error::new(io::ErrorKind::AlreadyExists, format!("{MOST_NAMES} files of that name are there")))
}

/// A task to be exported to a file.
pub(in crate::console) struct Made {
    pub(in crate::console) task: Arc<TaskView>,
    pub(in crate::console) form: ExportForm,
    pub(in crate::console) palette: Palette,
    pub(in crate::console) file: FileName,
    /// The calls that typed into it.
    pub(in crate::console) inputs: Vec<u64>,
}

impl Made {
    /// Produces the text of the file. Blocking: takes as long as reading the log.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub(in crate::console) fn make(&self, records: &[Arc<CallRecord>]) -> io::Result<String> {
        let typed = records.iter().filter_map(|record| record.typed_text()).collect();
        let Self { task, form, palette, .. } = self;
        let export = OutputExport {
            task,
            events: &task.events,
            typed,
            rows: OutputExport::ROWS,
            palette: palette.clone(),
        };
        export.make(*form)
    }
}

/// Writes a file and reports the result.
pub(in crate::console) fn save(folder: Option<&Path>, file: &FileName, text: io::Result<String>) -> Msg {
    let Some(folder) = folder else { return Msg::Failed("there is no folder to write into".to_owned()) };
    let made = if folder.is_dir() { Ok(()) } else { files::create_folder(folder) };
    match made.and(text).and_then(|text| keep(folder, file, &text)) {
        Ok(name) => Msg::FileWritten { folder: folder.display().to_string(), name },
        Err(error) => Msg::Failed(format!("write {} in {}: {error}", file.attempt(0), folder.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    #[test]
    fn a_file_is_new_private_and_never_another_ones() {
        let home = tempfile::tempdir().expect("temp dir");
        let file = FileName::of("t07", "txt");
        let other = home.path().join("other");
        symlink(&other, home.path().join("pilothouse-t07.txt")).expect("a link");
        assert_eq!(keep(home.path(), &file, "one").expect("kept"), "pilothouse-t07-2.txt");
        assert_eq!(keep(home.path(), &file, "two").expect("kept"), "pilothouse-t07-3.txt");
        assert!(!other.exists(), "nothing is written through a link");
        let kept = home.path().join("pilothouse-t07-2.txt");
        assert_eq!(fs::read_to_string(&kept).expect("read"), "one");
        assert_eq!(kept.metadata().expect("there").permissions().mode() & 0o777, 0o600);
        assert!(keep(&home.path().join("gone"), &file, "x").is_err());
    }
}
