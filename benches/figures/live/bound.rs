//! The lower bound for anything that keeps a record: a row on the same disk, synced, then a shell whose output is
//! read to its end. It is printed beside the figures of starts, to show the machine's share of them.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// Bytes of a row.
const ROW: [u8; 1 << 10] = [b'a'; 1 << 10];

/// The file that the rows are written to.
pub(crate) struct Bound(File);

/// Makes a folder with three files, as each command gets one. This takes longer on an ext4 without a journal where files
/// were deleted lately.
pub(crate) fn make_files(folder: &Path, name: &str) {
    let folder = folder.join(name);
    std::fs::create_dir(&folder).expect("make a folder");
    for file in ["output.log", "output.marks", "exit.json"] {
        File::create_new(folder.join(file)).expect("make a file");
    }
}

impl Bound {
    pub(crate) fn within(folder: &Path) -> Self {
        let file = File::options().create(true).append(true).open(folder.join("bound"));
        Self(file.expect("make the file for the rows"))
    }

    /// Runs `true` with a shell `count` times, one after the other, each after its row.
    pub(crate) fn start(&mut self, shell: &str, count: usize) {
        for _ in 0..count {
            self.0.write_all(&ROW).expect("write a row");
            self.0.sync_data().expect("sync it");
            let mut command = Command::new(shell);
            command.args(["-c", "true"]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
            assert!(command.output().expect("run a shell").status.success());
        }
    }
}
